/* run.c - one run from start to finish: warm-up, measured window, audit. */
#include "sim/exec/run.h"

#include "sim/base/check.h"
#include "sim/base/inline.h"
#include "sim/exec/access.h"
#include "sim/exec/report.h"
#include "sim/exec/world.h"

static __attribute__((noinline)) void handle_other(struct world *world, uint32_t slot) {
    agenda_take_out(&world->agenda, slot);
    if (slot == SLOT_ARRIVAL) {
        traffic_arrival(world);
    } else {
        world_timer(world);
    }
}

/* ---- Fetching ahead ---- */

/* Of 64 terminals no two in a row are in the first-level cache any more, of 10,000 not even in the second: who begins its
 * service is fetched, since its end will come soon. Where so many are pending that it will not, the next is foreseen. */
enum { FORESEE_FROM = 512 };

/* What every access touches of an actor, and of its program. */
ALWAYS_INLINE void fetch_actor(const struct world *world, const struct actor *actor) {
    const size_t from = offsetof(struct actor, txn.id) / MEMORY_LINE * MEMORY_LINE, to = offsetof(struct actor, cursor);
    const char *block = (const char *)actor, *program = block + world->registers_at;
#pragma GCC unroll 8
    for (size_t at = from; at < to; at += MEMORY_LINE) {
        __builtin_prefetch(block + at, 1);
    }
    __builtin_prefetch(program, 1);
    __builtin_prefetch(program + MEMORY_LINE);
}

/* What that leads to: the place of its next row, its newest lock; where it takes no more locks, all that it gives back. */
ALWAYS_INLINE void fetch_rest(const struct actor *actor) {
    const struct txn *txn = &actor->txn;
    if (!txn->last_lock) {
        __builtin_prefetch(txn->held, 1);
        __builtin_prefetch(txn->rows.items + txn->rows.count, 1);
        return;
    }
    for (size_t i = 0; i < txn->rows.count; i++) {
        __builtin_prefetch(txn->rows.items[i].lock, 1);
        __builtin_prefetch(txn->rows.items[i].record, 1);
    }
}

/* The actor whose event has come was fetched one event ago; now what that leads to is, and the next one. */
static __attribute__((noinline)) void look_ahead(const struct world *world, uint32_t slot) {
    if (slot >= SLOT_ACTORS) {
        fetch_rest(world->actors[slot - SLOT_ACTORS]);
    }
    uint32_t next = agenda_foresee(&world->agenda, slot);
    if (next != AGENDA_NONE && next >= SLOT_ACTORS) {
        fetch_actor(world, world->actors[next - SLOT_ACTORS]);
    }
}

/* An event of an actor. Most are the end of a service at the CPUs that paid for a row. */
ALWAYS_INLINE void handle(struct world *world, struct actor *actor) {
    if (actor->job.at != &world->cpu || world->trace != NULL) {
        walker_event(world, actor);
        return;
    }
    const char *next = (const char *)world->cpu.first;
    if (next != NULL) {
        fetch_actor(world, (const struct actor *)(const void *)(next - offsetof(struct actor, job)));
    }
    actor->cpu_ns += station_finish_at(&world->cpu, &world->agenda, &actor->job);
    bool goes_on = actor->phase != PHASE_ROW_DONE || row_done(world, actor);
    if (goes_on && !world->stopped) {
        walker_run(world, actor);
    }
}

/* Handles every event up to and at `limit_ns`. */
static void run_until(struct world *world, int64_t limit_ns) {
    uint32_t slot;
    while (!world->stopped && (slot = agenda_next(&world->agenda, limit_ns)) != AGENDA_NONE) {
        if (world->agenda.span >= FORESEE_FROM) {
            look_ahead(world, slot);
        }
        if (slot >= SLOT_ACTORS) {
            handle(world, world->actors[(size_t)slot - SLOT_ACTORS]);
        } else {
            handle_other(world, slot);
        }
    }
    if (!world->stopped && world->agenda.now_ns < limit_ns) {
        world->agenda.now_ns = limit_ns; /* nothing is pending any more: time passes all the same */
    }
    /* The agenda is not empty as long as anybody can go on: whoever waits with nothing pending was forgotten. */
    bool dry = !world->stopped && !agenda_any(&world->agenda);
    CHECK_MSG(!dry || world->cc.waiting_first == NULL, "the event queue ran dry while a transaction waits");
}

/* All transactions have ended: nothing of them may be left anywhere. */
static void check_quiescent(struct world *world) {
    CHECK(world->tally.live == 0 && world->admitted == 0 && world->ready_first == NULL);
    CHECK(world->cc.waiting_first == NULL && world->cc.snapshot_first == NULL);
    CHECK(world->cpu.busy == 0 && world->cpu.queued == 0);
    for (size_t i = 0; i < world->actor_count; i++) {
        const struct txn *txn = &world->actors[i]->txn;
        CHECK(txn->state == TXN_IDLE && txn->held == NULL && txn->queued == NULL && txn->lock_count == 0);
    }
    if (world->ops->flags & CC_KEEPS_VERSIONS) {
        store_vacuum(&world->store);
        CHECK(world->store.extra_versions == 0);
    }
}

/* Instants of the measured window at which something is looked at. */
struct marks {
    int64_t middle_ns, end_ns;
    int64_t series_ns, batch_ns; /* the next ones; past the end: none */
    int64_t batches;             /* done */
};

static int64_t marks_next(const struct marks *marks, int64_t now_ns) {
    int64_t next_ns = now_ns < marks->middle_ns ? marks->middle_ns : marks->end_ns;
    next_ns = marks->series_ns < next_ns ? marks->series_ns : next_ns;
    return marks->batch_ns < next_ns ? marks->batch_ns : next_ns;
}

static void marks_meet(struct world *world, struct marks *marks) {
    const struct run_spec *spec = world->spec;
    int64_t now_ns = world->agenda.now_ns;
    if (now_ns == marks->middle_ns) {
        world->result->commits_first_half = world->tally.commits;
    }
    if (spec->series_ns > 0 && (now_ns == marks->series_ns || now_ns == marks->end_ns)) {
        tally_sample(world, &world->result->samples);
        marks->series_ns = now_ns + spec->series_ns;
    }
    if (spec->batches > 0 && (now_ns == marks->batch_ns || now_ns == marks->end_ns)) {
        tally_sample(world, &world->result->batches);
        marks->batches++;
        marks->batch_ns =
            marks->batches + 1 < spec->batches ? now_ns + spec->duration_ns / spec->batches : marks->end_ns;
    }
}

/* The same, with a look at who waits for whom at the instant that a trace asks for. */
static void run_and_look(struct world *world, int64_t limit_ns) {
    const struct trace *trace = world->trace;
    if (trace != NULL && trace->at_ns >= world->agenda.now_ns && trace->at_ns < limit_ns) {
        run_until(world, trace->at_ns);
        trace_graph(world);
    }
    run_until(world, limit_ns);
}

/* The measured window, in pieces where it is looked at: where a piece ends changes nothing of what happens. */
static void run_window(struct world *world) {
    const struct run_spec *spec = world->spec;
    int64_t start_ns = spec->warmup_ns, end_ns = start_ns + spec->duration_ns;
    struct marks marks = {.middle_ns = start_ns + spec->duration_ns / 2,
                          .end_ns = end_ns,
                          .series_ns = spec->series_ns > 0 ? start_ns + spec->series_ns : end_ns,
                          .batch_ns = spec->batches > 1 ? start_ns + spec->duration_ns / spec->batches : end_ns};
    while (!world->stopped && world->agenda.now_ns < end_ns) {
        run_and_look(world, marks_next(&marks, world->agenda.now_ns));
        if (!world->stopped) {
            marks_meet(world, &marks);
        }
    }
}

static void audit(struct world *world) {
    struct run_result *result = world->result;
    struct workload_audit audit = {0};
    world->spec->workload->audit(world->workload_state, &world->store, &audit);
    result->lost_updates_known = audit.lost_updates_known;
    result->lost_updates = audit.lost_updates;
    result->audit = (enum run_audit)audit.verdict;
    result->audit_promised = /* to all, and nobody asked for less */
        (int)world->weakest >= audit.level && !cc_is_unrecoverable(world->ops, world->spec->algorithm_options);
    text_add(&result->audit_message, "%s", text_string(&audit.message));
    text_free(&audit.message);
}

void run_simulate(const struct run_spec *spec, struct run_result *result) {
    *result = (struct run_result){0};
    CHECK(spec->warmup_ns >= 0);
    struct world *world = mem_new(1, sizeof *world);
    world_init(world, spec, result);
    traffic_start(world);
    run_until(world, spec->warmup_ns);
    tally_start(world);
    report_measure(world);
    if (spec->trace != NULL) {
        trace_start(world);
    }
    run_window(world);
    if (world->trace != NULL) {
        trace_finish(world);
    }
    tally_finish(world);
    report_close(world);
    if (spec->transactions_max > 0 && !agenda_any(&world->agenda)) {
        check_quiescent(world);
        result->quiescent = true;
    }
    if (result->status == RUN_OK) {
        audit(world);
    }
    world_free(world);
    mem_free(world);
}

void run_result_free(struct run_result *result) {
    text_free(&result->message);
    text_free(&result->audit_message);
    text_free(&result->witness);
    histogram_free(&result->wait);
    histogram_free(&result->response);
    histogram_free(&result->rollback_response);
    for (size_t i = 0; i < result->type_count; i++) {
        run_result_free(&result->types[i]);
    }
    vector_free(&result->samples);
    vector_free(&result->batches);
    mem_free(result->toll);
    mem_free(result->types);
}
