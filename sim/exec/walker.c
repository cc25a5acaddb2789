/* walker.c - walks a transaction through its algorithm and the resources: the state machine of an actor.
 *
 * A phase's function does what is due now, names the next phase, and returns true to go on in the same instant or
 * false to pause: then an event of the actor's slot, or another transaction's wake, goes on with the phase named. A
 * call
 * that answers WAIT leaves its own phase standing, so that the wake repeats the call.
 *
 *   SUBMIT -> ENTER -> [READY: queued for admission] -> BEGIN -> NEXT
 *   NEXT: asks the program for a step ->
 *     a statement      STATEMENT -> [SOURCE -> its price] -> LOCATE -> [RANGE] -> READ -> [CLAIM] -> LATCH -> DISK
 *     -> CPU
 *                      -> ROW_DONE -> LOCATE ...
 *                      -> STATEMENT_END -> NEXT
 *     think            -> NEXT
 *     savepoint        SAVEPOINT -> NEXT ; ROLLBACK_TO -> NEXT
 *     commit           PREPARE -> LOG -> COMMIT -> DEFERRED -> RELEASE -> SUBMIT (of the terminal's next one); if the
 *                      algorithm publishes early, PREPARE -> COMMIT -> LOG -> DURABLE -> DEFERRED ...
 *     rollback         ROLLBACK -> ROLLED_BACK -> SUBMIT
 *     retry            ABORT, as if it had been refused
 *   sent back, in a wait: BACK -> STATEMENT, the one it goes back to
 *   refused or doomed, anywhere from BEGIN to PREPARE: ABORT -> RESTART -> READMIT -> BEGIN, or SUBMIT if it gives up
 *
 * This file and statement.c are the only places that read a cc_status. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/inline.h"
#include "sim/exec/report.h"
#include "sim/exec/world.h"
#include "sim/kit/lock.h"

/* ---- Waiting ---- */

static void link_waiting(struct cc *cc, struct txn *txn) {
    txn->wait_next = NULL;
    txn->wait_previous = cc->waiting_last;
    if (cc->waiting_last != NULL) {
        cc->waiting_last->wait_next = txn;
    } else {
        cc->waiting_first = txn;
    }
    cc->waiting_last = txn;
}

static void unlink_waiting(struct cc *cc, struct txn *txn) {
    if (txn->wait_previous != NULL) {
        txn->wait_previous->wait_next = txn->wait_next;
    } else {
        cc->waiting_first = txn->wait_next;
    }
    if (txn->wait_next != NULL) {
        txn->wait_next->wait_previous = txn->wait_previous;
    } else {
        cc->waiting_last = txn->wait_previous;
    }
}

/* Law 3: who waits has somebody to wait for, or a timer. */
static void check_has_cause(struct world *world, struct actor *actor) {
    if (actor->wait_event == EVENT_NONE) {
        struct txn_list *list = &world->cc.search;
        list->count = 0;
        world->ops->blockers(&world->cc, &actor->txn, list, 1);
        CHECK_MSG(list->count > 0, "a transaction waits for nobody");
    }
}

static void wait_for_event(struct world *world, struct actor *actor) {
    struct txn *txn = &actor->txn;
    if (txn->state != TXN_WAITING) {
        txn->state = TXN_WAITING;
        actor->wait_since_ns = world->agenda.now_ns;
        tally_wait(world, actor);
        link_waiting(&world->cc, txn);
        if (world->cc.knows_sleepers) {
            lock_sleep(&world->cc, txn);
        }
        tally_blocked(world, 1);
        if (world->toll != NULL) {
            tally_toll_begin(actor);
        }
    }
    actor->wait_event = EVENT_NONE;
    if (actor->timer_ns >= 0) {
        actor->wait_event = EVENT_TIMER;
        agenda_schedule(&world->agenda, txn->slot, actor->timer_ns);
    }
    check_has_cause(world, actor);
}

void walker_end_wait(struct world *world, struct actor *actor) {
    struct txn *txn = &actor->txn;
    if (txn->state == TXN_WAITING) {
        txn->state = TXN_ACTIVE;
        actor->wait_ns += world->agenda.now_ns - actor->wait_since_ns;
        actor->wait_event = EVENT_NONE;
        unlink_waiting(&world->cc, txn);
        tally_blocked(world, -1);
        if (world->toll != NULL) {
            tally_toll_wait(world, actor);
        }
    }
    actor->timer_ns = -1;
}

bool walker_passes_slowly(struct world *world, struct actor *actor, enum cc_status status) {
    switch (status) {
    case CC_WAIT: wait_for_event(world, actor); return false;
    case CC_ABORT:
        actor->phase = PHASE_ABORT; /* ends the wait, if there was one */
        return false;
    case CC_ERROR:
        walker_end_wait(world, actor);
        statement_fail(world, actor);
        return false;
    case CC_OK:
    case CC_SKIP: break;
    }
    walker_end_wait(world, actor);
    return true;
}

/* ---- Attempts ---- */

static void declare(const struct world *world, struct actor *actor) {
    const struct workload_ops *workload = world->spec->workload;
    enum declaration said = workload->declares(world->workload_state, actor->arguments);
    actor->txn.read_only = said != DECLARES_NOTHING;
    actor->txn.deferrable = said == DECLARES_DEFERRABLE;
}

/* False: the algorithm cannot run it. */
static bool ask_for_level(struct world *world, struct actor *actor) {
    int asked = world->spec->workload->isolation(world->workload_state, actor->arguments);
    enum level level = asked == LEVEL_OWN ? world->ops->level : (enum level)asked;
    actor->txn.level = (uint8_t)level;
    world->weakest = level < world->weakest ? level : world->weakest;
    return (world->ops->levels & 1u << actor->txn.level) != 0;
}

static void stop_for_level(struct world *world, const struct actor *actor) {
    struct text sentence = {0};
    text_add(&sentence, "a transaction asks for %s, which %s cannot run: it runs ", level_names[actor->txn.level],
             world->ops->name);
    level_list(world->ops->levels, &sentence);
    world_stop(world, RUN_NO_SUCH_LEVEL, text_string(&sentence));
    text_free(&sentence);
}

void walker_start_attempt(struct world *world, struct actor *actor) {
    struct txn *txn = &actor->txn;
    CHECK(txn->state == TXN_IDLE && txn->rows.count == 0);
    txn->id = (++world->serial << 24) | txn->slot;
    txn->first_attempt = actor->attempts == 0;
    if (txn->first_attempt) {
        txn->age = ++world->age;
        txn->victim_count = 0;
    }
    actor->attempts++;
    txn->state = TXN_ACTIVE;
    txn->doomed = txn->plan_lost = false;
    txn->reason = REASON_NONE;
    txn->statement = 0;
    txn->backs = 0;
    txn->back_to = 0;
    actor->checkpoints.count = 0;
    memset(txn->tail, 0, world->ops->txn_size);
    memset(actor->registers, 0, world->spec->workload->registers_size);
    memset(actor->savepoints, 0, sizeof actor->savepoints);
    actor->attempt_start_ns = world->agenda.now_ns;
    actor->cpu_ns = 0;
    actor->fold = 0;
    actor->read_from.count = 0;
    actor->reply = (struct reply){0};
    actor->phase = PHASE_BEGIN;
    if (world->spec->workload->declares != NULL) {
        declare(world, actor);
    }
    if (world->spec->workload->isolation != NULL && !ask_for_level(world, actor)) {
        stop_for_level(world, actor);
    }
    txn->ends_silently = world->ops->statement_end == NULL || (world->ops->silent_levels & 1u << txn->level) != 0;
    report_begin(world, actor);
}

static bool phase_ready(struct world *world, struct actor *actor) {
    walker_start_attempt(world, actor);
    return true;
}

static bool phase_begin(struct world *world, struct actor *actor) {
    enum cc_status status = world->ops->begin(&world->cc, &actor->txn);
    if (!walker_passes(world, actor, status)) {
        return walker_goes_on(actor);
    }
    actor->phase = PHASE_NEXT;
    return true;
}

/* ---- Steps ---- */

static bool phase_savepoint(struct world *world, struct actor *actor) {
    (void)world;
    CHECK(actor->step.savepoint >= 0 && actor->step.savepoint < STEP_SAVEPOINTS_MAX);
    actor->savepoints[actor->step.savepoint] = actor->txn.statement + 1;
    actor->reply = (struct reply){0};
    actor->phase = PHASE_NEXT;
    return true;
}

static bool phase_rollback_to(struct world *world, struct actor *actor) {
    uint32_t mark = actor->savepoints[actor->step.savepoint];
    CHECK_MSG(mark > 0, "rolls back to a savepoint that is not set");
    world->ops->rollback(&world->cc, &actor->txn, mark);
    report_rollback(world, actor, mark);
    txn_undo(&actor->txn, &world->store, mark, world_is_private(world));
    for (int i = 0; i < STEP_SAVEPOINTS_MAX; i++) {
        if (actor->savepoints[i] > mark) {
            actor->savepoints[i] = 0; /* set after it: gone with it */
        }
    }
    actor->reply = (struct reply){0};
    actor->phase = PHASE_NEXT;
    return price_cpu(world, actor, price_work(world, actor) + price_draw(actor, &world->spec->cost.cpu_abort));
}

/* ---- The price of a row: latch, then disk, then CPU ---- */

static bool phase_latch(struct world *world, struct actor *actor) {
    actor->phase = PHASE_DISK;
    return price_latch(world, actor);
}

static bool phase_disk(struct world *world, struct actor *actor) {
    const struct run_spec *spec = world->spec;
    actor->phase = PHASE_CPU;
    if (!actor->row_first_visit || distribution_is_zero(&spec->cost.io_access)) {
        return true;
    }
    if (spec->system.io_miss < 1.0 && stream_unit(&actor->service) >= spec->system.io_miss) {
        return true;
    }
    return price_disk(world, actor, &spec->cost.io_access);
}

/* ---- Commit ---- */

static void note_end(struct world *world, const struct actor *actor, enum trace_what what, const char *reason) {
    if (world->trace != NULL) {
        trace_ends(world, actor, what, reason);
    }
}

static bool phase_prepare(struct world *world, struct actor *actor) {
    enum cc_status status = world->ops->prepare(&world->cc, &actor->txn);
    if (!walker_passes(world, actor, status)) {
        return walker_goes_on(actor);
    }
    actor->txn.state = TXN_SEALED;
    actor->phase = world_publishes_early(world) ? PHASE_COMMIT : PHASE_LOG;
    return price_cpu(world, actor, price_work(world, actor));
}

static bool phase_log(struct world *world, struct actor *actor) {
    actor->phase = world_publishes_early(world) ? PHASE_DURABLE : PHASE_COMMIT;
    return actor->txn.writes.count == 0 || price_log(world, actor);
}

static bool phase_commit(struct world *world, struct actor *actor) {
    world->ops->commit(&world->cc, &actor->txn);
    report_commit(world, actor);
    if (world->spec->workload->committed != NULL) {
        world->spec->workload->committed(world->workload_state, actor->arguments, actor->registers);
    }
    actor->deferred = 0;
    actor->phase = PHASE_DEFERRED;
    if (world_publishes_early(world)) {
        durable_publish(world, actor);
        actor->phase = PHASE_LOG;
    }
    return true;
}

/* One disk write for each row written, one after another. */
static bool phase_deferred(struct world *world, struct actor *actor) {
    const struct distribution *io_write = &world->spec->cost.io_write;
    struct txn *txn = &actor->txn;
    while (!distribution_is_zero(io_write) && actor->deferred < txn->writes.count) {
        const struct write *write = &txn->writes.items[actor->deferred++];
        if (write->version == txn->rows.items[write->row].own && !price_disk(world, actor, io_write)) {
            return false;
        }
    }
    actor->phase = PHASE_RELEASE;
    return true;
}

static bool phase_release(struct world *world, struct actor *actor) {
    if (world->ops->release != NULL) {
        world->ops->release(&world->cc, &actor->txn);
    }
    tally_commit(world, actor);
    note_end(world, actor, TRACE_COMMIT, NULL);
    txn_clear(&actor->txn, &world->store);
    actor->txn.state = TXN_IDLE;
    if (world_publishes_early(world)) {
        durable_answer(world, actor);
    }
    return traffic_finish(world, actor, true);
}

/* ---- The other ends ---- */

static void undo_attempt(struct world *world, struct actor *actor) {
    struct txn *txn = &actor->txn;
    walker_end_wait(world, actor);
    world->ops->abort(&world->cc, txn);
    report_abort(world, actor);
    txn_undo(txn, &world->store, 0, world_is_private(world));
    txn_clear(txn, &world->store);
    tally_versions(world);
    txn->state = TXN_IDLE;
    txn->doomed = false;
}

static bool phase_rollback(struct world *world, struct actor *actor) {
    undo_attempt(world, actor);
    actor->phase = PHASE_ROLLED_BACK;
    return price_cpu(world, actor, price_work(world, actor) + price_draw(actor, &world->spec->cost.cpu_abort));
}

static bool phase_rolled_back(struct world *world, struct actor *actor) {
    tally_outcome(world, actor, OUTCOME_ROLLBACK);
    tally_rollback(world, actor);
    note_end(world, actor, TRACE_ROLLBACK, NULL);
    return traffic_finish(world, actor, false);
}

static bool phase_abort(struct world *world, struct actor *actor) {
    enum reason reason = (enum reason)actor->txn.reason;
    CHECK(reason != REASON_NONE);
    undo_attempt(world, actor);
    tally_abort(world, actor, reason);
    note_end(world, actor, TRACE_ABORT, reason_texts[reason].name);
    actor->phase = PHASE_RESTART;
    return price_cpu(world, actor, price_work(world, actor) + price_draw(actor, &world->spec->cost.cpu_abort));
}

static bool (*const phases[PHASE_COUNT])(struct world *, struct actor *) = {
    [PHASE_SUBMIT] = traffic_submit,
    [PHASE_ENTER] = traffic_enter,
    [PHASE_READY] = phase_ready,
    [PHASE_BEGIN] = phase_begin,
    [PHASE_NEXT] = statement_next,
    [PHASE_STATEMENT] = statement_begin,
    [PHASE_SOURCE] = statement_source,
    [PHASE_LOCATE] = statement_locate,
    [PHASE_RANGE] = statement_range,
    [PHASE_READ] = statement_read,
    [PHASE_CLAIM] = statement_claim,
    [PHASE_LATCH] = phase_latch,
    [PHASE_DISK] = phase_disk,
    [PHASE_CPU] = statement_pay,
    [PHASE_ROW_DONE] = statement_row_done,
    [PHASE_STATEMENT_END] = statement_end,
    [PHASE_SAVEPOINT] = phase_savepoint,
    [PHASE_ROLLBACK_TO] = phase_rollback_to,
    [PHASE_PREPARE] = phase_prepare,
    [PHASE_LOG] = phase_log,
    [PHASE_COMMIT] = phase_commit,
    [PHASE_DURABLE] = durable_wait,
    [PHASE_DEFERRED] = phase_deferred,
    [PHASE_RELEASE] = phase_release,
    [PHASE_ROLLBACK] = phase_rollback,
    [PHASE_ROLLED_BACK] = phase_rolled_back,
    [PHASE_BACK] = phase_back,
    [PHASE_ABORT] = phase_abort,
    [PHASE_RESTART] = traffic_restart,
    [PHASE_READMIT] = traffic_readmit,
};

/* Inline where it goes on from an event: that is once an access. */
ALWAYS_INLINE void walk(struct world *world, struct actor *actor) {
    while (phases[actor->phase](world, actor)) {
        if (world->stopped) {
            return;
        }
    }
}

static void walk_traced(struct world *world, struct actor *actor) {
    trace_goes_on(world, actor);
    walk(world, actor);
    trace_pauses(world, actor);
}

ALWAYS_INLINE void go_on(struct world *world, struct actor *actor) {
    if (world->trace == NULL) {
        walk(world, actor);
    } else {
        walk_traced(world, actor);
    }
}

void walker_run(struct world *world, struct actor *actor) { go_on(world, actor); }

/* An event that is not the end of a service at the CPUs; returns whether the actor goes on. Out of the way, for the sake of
 * the registers. */
static __attribute__((noinline)) bool meet_event(struct world *world, struct actor *actor) {
    struct txn *txn = &actor->txn;
    if (actor->job.at != NULL) {
        station_finish(&actor->job);
        return true;
    }
    agenda_take_out(&world->agenda, txn->slot);
    if (actor->leads_force) {
        price_log_done(world, actor);
    } else if (txn->state == TXN_WAITING && !txn->doomed && actor->wait_event == EVENT_TIMER) {
        actor->wait_event = EVENT_NONE;
        actor->timer_ns = -1;
        world->ops->timer(&world->cc, txn, actor->timer_tag);
        if (!txn->doomed && actor->wait_event == EVENT_NONE) {
            check_has_cause(world, actor);
        }
        return false;
    }
    return true;
}

void walker_event(struct world *world, struct actor *actor) {
    if (actor->job.at == &world->cpu) {
        actor->cpu_ns += station_finish_at(&world->cpu, &world->agenda, &actor->job);
    } else if (!meet_event(world, actor)) {
        return;
    }
    go_on(world, actor);
}
