/* access.h - what every access does, written in small functions and compiled as one: from the end of a statement to the price
 * of the next one's row. For statement.c, which has the phases and all that is rarer, and for the main loop in run.c.
 *
 * read, filter, claim and link of one row happen in one instant unless one of them waits; then the row is paid for, then
 * comes the next. One path serves SELECT, locking reads, UPDATE, DELETE and INSERT, by key and by range. A write by key
 * that needs nothing of the row ("blind") is claimed without being read; a read that granted what it announced
 * (row->claimed) needs no claim. */
#ifndef CCSIM_EXEC_ACCESS_H
#define CCSIM_EXEC_ACCESS_H

#include "sim/base/digest.h"
#include "sim/base/inline.h"
#include "sim/exec/report.h"
#include "sim/exec/world.h"

/* What is known of the statement at hand, so that it need not be asked at each turn; always a constant. The same functions
 * are compiled for each. */
enum known {
    KNOWN_NOTHING,
    KNOWN_STEP, /* actor->plain */
    KNOWN_PLAIN /* and world->is_plain */
};

/* ---- What is rarer: statement.c ---- */

bool statement_begin_several(struct world *world, struct actor *actor);
/* The next step is a plain one in another world, another statement, or something else. */
bool statement_next_plain(struct world *world, struct actor *actor);
bool statement_next_any(struct world *world, struct actor *actor);
bool statement_next_other(struct world *world, struct actor *actor);
bool statement_matches(const struct step *step, const struct row *row, const struct version *version);
/* What the algorithm answered lets the statement not go on with its row: it waits, fails, aborts. */
bool statement_pass_over_read(struct world *world, struct actor *actor, enum cc_status status,
                              const struct version *seen);
bool statement_pass_over_claim(struct world *world, struct actor *actor);
bool statement_leave_out(struct world *world, struct actor *actor);      /* SKIP LOCKED */
bool statement_leave_unwanted(struct world *world, struct actor *actor); /* it does not match, or is there already */
bool statement_any_row_done(struct world *world, struct actor *actor);

/* ---- The statement ---- */

ALWAYS_INLINE struct row *row_of(struct actor *actor) { return &actor->txn.rows.items[actor->row]; }

ALWAYS_INLINE enum intent intent_of(const struct step *step, enum known known) {
    static const enum intent intents[] = {
        [LOCKING_NONE] = SEE, [LOCKING_SHARE] = SEE_SHARE, [LOCKING_UPDATE] = SEE_UPDATE};
    if (known != KNOWN_NOTHING) {
        return step->kind == STEP_SELECT ? SEE : SEE_WRITE;
    }
    return step->kind == STEP_SELECT ? intents[step->locking] : SEE_WRITE;
}

static inline enum change change_of(const struct step *step) {
    switch (step->kind) {
    case STEP_UPDATE: return PUT_UPDATE;
    case STEP_DELETE: return PUT_DELETE;
    case STEP_INSERT: return PUT_INSERT;
    default: return step->locking == LOCKING_SHARE ? LOCK_SHARE : LOCK_UPDATE;
    }
}

static inline enum patience patience_of(const struct step *step) {
    _Static_assert((int)PATIENCE_BLOCK == (int)BLOCK && (int)PATIENCE_NOWAIT == (int)NOWAIT &&
                       (int)PATIENCE_SKIP_LOCKED == (int)SKIP_LOCKED,
                   "programs and algorithms count patience alike");
    return (enum patience)step->patience;
}

/* A write by key whose value and condition need nothing of the row. */
ALWAYS_INLINE bool is_blind(const struct step *step) {
    if (step->kind != STEP_DELETE && (step->kind != STEP_UPDATE || step->value != VALUE_SET)) {
        return false;
    }
    return !step->scan && (step->condition.operator== CONDITION_TRUE || step->condition.of_id);
}

/* A SELECT without lock, or an UPDATE that adds, of one row by key, which asks nothing else and waits if it must. (Each field
 * for itself: a word of several that were just written one by one has to wait until they are in the cache.) */
ALWAYS_INLINE bool is_plain(const struct step *step) {
    bool narrowed = step->patience != PATIENCE_BLOCK || step->scan ||
                    step->condition.operator!= CONDITION_TRUE || step->extra != NULL;
    if (step->kind == STEP_UPDATE) {
        return !narrowed && step->value == VALUE_ADD;
    }
    return !narrowed && step->kind == STEP_SELECT && step->locking == LOCKING_NONE;
}

/* The row becomes the current one. */
ALWAYS_INLINE struct row *meet_row(struct world *world, struct actor *actor, int64_t key) {
    struct row *row = txn_row(&actor->txn, &world->store, actor->step.table, key);
    actor->row = txn_row_number(&actor->txn, row);
    actor->row_first_visit = !row->visited;
    actor->row_written = false;
    return row;
}

/* ---- One row ---- */

/* An insert wants no row, all else one that matches. */
ALWAYS_INLINE bool is_wanted(const struct step *step, const struct row *row, const struct version *version,
                             enum known known) {
    if (known != KNOWN_NOTHING) {
        return !version->absent;
    }
    if (step->kind == STEP_INSERT || version->absent) {
        return step->kind == STEP_INSERT && version->absent;
    }
    return (step->condition.operator== CONDITION_TRUE && step->extra == NULL) || statement_matches(step, row, version);
}

ALWAYS_INLINE void reply_row(struct actor *actor, int64_t key, int64_t value, int64_t after, enum known known) {
    bool only = known != KNOWN_NOTHING || actor->reply.rows != NULL;
    struct reply_row *place = only ? &actor->only_row : vector_add(&actor->reply_rows);
    *place = (struct reply_row){.key = key, .value = value};
    actor->reply.count++;
    uint64_t row = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)value;
    actor->fold = digest_add(actor->fold, row * UINT64_C(0xd1342543de82ef95) + (uint64_t)after);
}

/* The CPU part of the current row's price. */
ALWAYS_INLINE bool pay_cpu(struct world *world, struct actor *actor, enum known known) {
    const struct cost_settings *cost = &world->spec->cost;
    int64_t service_ns = known == KNOWN_PLAIN ? 0 : price_work(world, actor);
    if (actor->row_first_visit) {
        service_ns += price_draw(actor, &cost->cpu_access);
    }
    if (known != KNOWN_PLAIN && actor->row_written && !world->write_is_free) {
        service_ns += price_write(world, actor);
    }
    actor->phase = PHASE_ROW_DONE;
    return price_cpu(world, actor, service_ns);
}

/* Nobody looks at `visited` before the price is paid, and now the row is at hand. */
ALWAYS_INLINE bool pay_row(struct world *world, struct actor *actor, struct row *row, enum known known) {
    row->visited = true;
    if (known == KNOWN_PLAIN || world->row_is_cpu_only) {
        return pay_cpu(world, actor, known);
    }
    actor->phase = PHASE_LATCH;
    return true;
}

ALWAYS_INLINE void note_read(struct world *world, struct actor *actor, struct row *row, const struct version *seen,
                             enum known known) {
    actor->seen_writer = seen->writer;
    if (known != KNOWN_PLAIN) {
        durable_read(world, actor, seen);
    }
    if (row->read_statement == 0 && seen->writer != actor->txn.id) {
        row->read_statement = actor->txn.statement;
    }
}

/* Which of the row's versions it is has been found out, since the algorithm had passed `before`. In a heap all the
 * others are in the way; else it has counted those it passed. */
static inline void note_walk(struct world *world, struct actor *actor, uint32_t before, const struct version *found) {
    if (world->store.keeps_versions) {
        struct work *work = &actor->txn.work;
        work->hops += store_bloat(&world->store, row_of(actor)->record, found);
        tally_walk(world, work->hops - before, actor->step.scan);
    }
}

ALWAYS_INLINE struct image changed(const struct step *step, const struct version *base, enum known known) {
    if (known != KNOWN_NOTHING) {
        return (struct image){.value = base->value + step->operand, .absent = false};
    }
    int64_t before = step->value == VALUE_ADD && !base->absent ? base->value : 0;
    bool deleted = step->kind == STEP_DELETE;
    return (struct image){.value = deleted ? 0 : before + step->operand, .absent = deleted};
}

ALWAYS_INLINE void change_row(struct world *world, struct actor *actor, struct row *row, struct version *base,
                              enum known known) {
    struct image after = changed(&actor->step, base, known);
    int64_t before = known == KNOWN_NOTHING && base->absent ? 0 : base->value;
    reply_row(actor, row->key, before, after.absent ? INT64_MIN : after.value, known);
    bool is_private = known != KNOWN_PLAIN && world_is_private(world);
    txn_write(&actor->txn, &world->store, row, is_private ? NULL : base, after.value, after.absent);
    actor->row_written = true;
}

/* The row qualifies, and is granted. */
ALWAYS_INLINE bool use_row(struct world *world, struct actor *actor, struct row *row, struct version *base,
                           enum known known) {
    if (actor->step.kind == STEP_SELECT) {
        reply_row(actor, row->key, base->value, base->value, known);
    } else {
        change_row(world, actor, row, base, known);
    }
    return pay_row(world, actor, row, known);
}

/* The usual sequel of a read, and the first call of a blind statement. */
ALWAYS_INLINE bool claim_row(struct world *world, struct actor *actor, struct row *row) {
    const struct step *step = &actor->step;
    struct version *base = NULL;
    uint32_t hops = actor->txn.work.hops;
    enum cc_status status = world->ops->claim(&world->cc, &actor->txn, row, change_of(step), patience_of(step), &base);
    if (!walker_passes(world, actor, status)) {
        return statement_pass_over_claim(world, actor);
    }
    if (status == CC_SKIP) {
        return statement_leave_out(world, actor);
    }
    row = row_of(actor);
    durable_read(world, actor, base);
    bool blind = actor->blind, fresh = !blind && base->writer != actor->seen_writer;
    bool wanted = !(blind || fresh) || is_wanted(step, row, base, KNOWN_NOTHING);
    if (blind) {
        note_walk(world, actor, hops, base);
    }
    if (fresh) {
        report_read(world, actor, row, base, wanted);
    }
    return wanted ? use_row(world, actor, row, base, KNOWN_NOTHING) : statement_leave_unwanted(world, actor);
}

/* A plain statement that has just begun is active. */
ALWAYS_INLINE bool passes(struct world *world, struct actor *actor, enum cc_status status, enum known known) {
    return (known == KNOWN_PLAIN && status == CC_OK) || walker_passes(world, actor, status);
}

/* Does what was read need no claim? */
ALWAYS_INLINE bool is_granted(const struct step *step, const struct row *row, enum known known) {
    if (known != KNOWN_NOTHING) {
        return row->claimed || step->kind == STEP_SELECT;
    }
    return (row->claimed && step->kind != STEP_INSERT) || (step->kind == STEP_SELECT && step->locking == LOCKING_NONE);
}

ALWAYS_INLINE bool read_row(struct world *world, struct actor *actor, struct row *row, enum known known) {
    const struct step *step = &actor->step;
    struct version *seen = NULL;
    uint32_t hops = actor->txn.work.hops;
    enum patience patience = known != KNOWN_NOTHING ? BLOCK : patience_of(step);
    enum intent intent = (enum intent)actor->txn.intent;
    row->claimed = false;
    enum cc_status status = world->ops->read(&world->cc, &actor->txn, row, intent, patience, &seen);
    if (!passes(world, actor, status, known)) {
        return statement_pass_over_read(world, actor, status, seen);
    }
    if (status == CC_SKIP) {
        return statement_leave_out(world, actor);
    }
    row = row_of(actor);
    note_read(world, actor, row, seen, known);
    bool wanted = is_wanted(step, row, seen, known);
    if (known != KNOWN_PLAIN) {
        note_walk(world, actor, hops, seen);
    }
    report_read(world, actor, row, seen, wanted);
    if (!wanted) {
        return statement_leave_unwanted(world, actor);
    }
    if (is_granted(step, row, known)) {
        return use_row(world, actor, row, seen, known);
    }
    actor->phase = PHASE_CLAIM;
    return statement_claim(world, actor);
}

/* ---- From statement to statement ---- */

/* The row of a statement by key, or of the next of its keys, and its first call. */
ALWAYS_INLINE bool locate_row(struct world *world, struct actor *actor, enum known known) {
    struct row *row = meet_row(world, actor, actor->step.first);
    actor->blind = known == KNOWN_NOTHING && is_blind(&actor->step);
    if (actor->blind) {
        actor->phase = PHASE_CLAIM;
        return claim_row(world, actor, row);
    }
    actor->phase = PHASE_READ;
    return read_row(world, actor, row, known);
}

/* A statement on one row, for which the reply has its place. */
ALWAYS_INLINE bool begin_row(struct world *world, struct actor *actor, enum known known) {
    actor->reply = (struct reply){.rows = &actor->only_row};
    return locate_row(world, actor, known);
}

ALWAYS_INLINE bool begin_statement(struct world *world, struct actor *actor, enum known known) {
    const struct step *step = &actor->step;
    struct txn *txn = &actor->txn;
    txn->intent = (uint8_t)intent_of(step, known);
    txn->in_statement = true;
    if (known != KNOWN_PLAIN && world->ops->statement != NULL &&
        !walker_passes(world, actor, world->ops->statement(&world->cc, txn, (enum intent)txn->intent))) {
        return walker_goes_on(actor);
    }
    report_statement(world, actor);
    bool one_row = known != KNOWN_NOTHING || (step->extra == NULL && !step->scan);
    return one_row ? begin_row(world, actor, known) : statement_begin_several(world, actor);
}

/* Where the statement costs no round trip, it begins at once. */
ALWAYS_INLINE bool next_statement(struct world *world, struct actor *actor, enum known known) {
    struct txn *txn = &actor->txn;
    txn->statement++;
    txn->last_lock = actor->step.last_lock && !txn->plan_lost;
    if (known == KNOWN_PLAIN) {
        return begin_statement(world, actor, known);
    }
    actor->phase = PHASE_STATEMENT;
    if (world->cc.keeps_programs) {
        checkpoint_take(world, actor);
    }
    if (world->round_trip_is_free) {
        return begin_statement(world, actor, known);
    }
    return price_delay(world, actor, price_draw(actor, &world->spec->cost.round_trip));
}

ALWAYS_INLINE bool next_step(struct world *world, struct actor *actor) {
    struct step *step = &actor->step;
    world->workload_next(world->workload_state, actor->arguments, actor->registers, &actor->reply, step);
    actor->plain = is_plain(step);
    if (actor->plain) {
        return world->is_plain ? next_statement(world, actor, KNOWN_PLAIN) : statement_next_plain(world, actor);
    }
    return step->kind <= STEP_INSERT ? statement_next_any(world, actor) : statement_next_other(world, actor);
}

ALWAYS_INLINE bool end_statement(struct world *world, struct actor *actor, enum known known) {
    struct txn *txn = &actor->txn;
    if (!txn->ends_silently) {
        world->ops->statement_end(&world->cc, txn, false);
    }
    txn->in_statement = false;
    if (known == KNOWN_NOTHING && actor->step.scan) {
        report_scan(world, actor);
        durable_scan(world, actor);
    }
    if (known == KNOWN_NOTHING) {
        actor->reply.rows = actor_reply_rows(actor);
    }
    actor->phase = PHASE_NEXT;
    return next_step(world, actor);
}

/* The row at hand is paid for. */
ALWAYS_INLINE bool row_done(struct world *world, struct actor *actor) {
    return actor->plain ? end_statement(world, actor, KNOWN_STEP) : statement_any_row_done(world, actor);
}

#endif
