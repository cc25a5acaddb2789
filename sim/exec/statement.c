/* statement.c - the phases of one statement: row by row through range, read, filter, claim and filter again; and what
 * comes between two of them, the program's next step.
 *
 * read, filter, claim and link of one row happen in one instant unless one of them waits; then the row is paid for, then
 * comes the next. One path serves SELECT, locking reads, UPDATE, DELETE and INSERT, by key and by range. A write by key
 * that needs nothing of the row ("blind") is claimed without being read; a read that granted what it announced
 * (row->claimed) needs no claim. */
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/exec/report.h"
#include "sim/exec/world.h"

/* What every access does is written in small functions and compiled as one: from the end of a statement to the price of
 * the next one's row, so that nothing is saved and fetched again on the way. */
#define HOT inline __attribute__((always_inline))

/* What is known of the statement at hand, so that it need not be asked at each turn; always a constant. The same functions
 * are compiled for each. */
enum known {
    NOTHING,
    PLAIN_STEP, /* actor->plain */
    PLAIN_WORLD /* and world->is_plain */
};

static struct row *row_of(struct actor *actor) { return &actor->txn.rows.items[actor->row]; }

static HOT enum intent intent_of(const struct step *step, enum known known) {
    static const enum intent intents[] = {
        [LOCKING_NONE] = SEE, [LOCKING_SHARE] = SEE_SHARE, [LOCKING_UPDATE] = SEE_UPDATE};
    if (known != NOTHING) {
        return step->kind == STEP_SELECT ? SEE : SEE_WRITE;
    }
    return step->kind == STEP_SELECT ? intents[step->locking] : SEE_WRITE;
}

static enum change change_of(const struct step *step) {
    switch (step->kind) {
    case STEP_UPDATE: return PUT_UPDATE;
    case STEP_DELETE: return PUT_DELETE;
    case STEP_INSERT: return PUT_INSERT;
    default: return step->locking == LOCKING_SHARE ? LOCK_SHARE : LOCK_UPDATE;
    }
}

static enum patience patience_of(const struct step *step) {
    _Static_assert((int)PATIENCE_BLOCK == (int)BLOCK && (int)PATIENCE_NOWAIT == (int)NOWAIT &&
                       (int)PATIENCE_SKIP_LOCKED == (int)SKIP_LOCKED,
                   "programs and algorithms count patience alike");
    return (enum patience)step->patience;
}

/* A write by key whose value and condition need nothing of the row. */
static HOT bool is_blind(const struct step *step) {
    if (step->kind != STEP_DELETE && (step->kind != STEP_UPDATE || step->value != VALUE_SET)) {
        return false;
    }
    return !step->scan && (step->condition.operator== CONDITION_TRUE || step->condition.of_id);
}

/* A SELECT without lock, or an UPDATE that adds, of one row by key, which asks nothing else and waits if it must. (One
 * word for four: what is told together is compared together.) */
static HOT bool is_plain(const struct step *step) {
    const uint32_t select = STEP_SELECT, add = (uint32_t)STEP_UPDATE | (uint32_t)VALUE_ADD << 24;
    uint32_t word = (uint32_t)step->kind | (uint32_t)step->locking << 8 | (uint32_t)step->patience << 16 |
                    (uint32_t)step->value << 24;
    bool narrowed = step->scan || step->condition.operator!= CONDITION_TRUE || step->extra != NULL;
    return (word == select || word == add) && !narrowed;
}

/* ---- The first row, and the source ---- */

/* The row becomes the current one. */
static HOT struct row *meet_row(struct world *world, struct actor *actor, int64_t key) {
    struct row *row = txn_row(&actor->txn, &world->store, actor->step.table, key);
    actor->row = txn_row_number(&actor->txn, row);
    actor->row_first_visit = !row->visited;
    actor->row_written = false;
    return row;
}

static bool begin_extra(struct world *world, struct actor *actor) {
    actor->key_index = 0;
    if (actor->step.extra->reads_source) {
        meet_row(world, actor, actor->step.extra->source);
        actor->phase = PHASE_SOURCE;
    }
    return true;
}

static HOT bool claim_row(struct world *world, struct actor *actor, struct row *row);
static HOT bool read_row(struct world *world, struct actor *actor, struct row *row, enum known known);

/* The row of a statement by key, or of the next of its keys, and its first call. */
static HOT bool locate_row(struct world *world, struct actor *actor, enum known known) {
    struct row *row = meet_row(world, actor, actor->step.first);
    actor->blind = known == NOTHING && is_blind(&actor->step);
    if (actor->blind) {
        actor->phase = PHASE_CLAIM;
        return claim_row(world, actor, row);
    }
    actor->phase = PHASE_READ;
    return read_row(world, actor, row, known);
}

/* A statement on one row, for which the reply has its place. */
static HOT bool begin_row(struct world *world, struct actor *actor, enum known known) {
    actor->reply = (struct reply){.rows = &actor->only_row};
    return locate_row(world, actor, known);
}

/* A scan, a list of keys, a source: the rows are still to be found. */
static bool begin_several(struct world *world, struct actor *actor) {
    const struct step *step = &actor->step;
    actor->reply = (struct reply){0};
    actor->reply_rows.count = 0;
    actor->cursor = step->first;
    actor->tail = false;
    if (step->scan) {
        struct scan scan = {.table = step->table,
                            .first = step->first,
                            .last = step->last,
                            .stamp = world->store.stamp,
                            .statement = actor->txn.statement};
        vector_push(&actor->txn.scans, scan);
    }
    actor->phase = PHASE_LOCATE;
    return step->extra == NULL || begin_extra(world, actor);
}

static HOT bool begin_statement(struct world *world, struct actor *actor, enum known known) {
    const struct step *step = &actor->step;
    struct txn *txn = &actor->txn;
    txn->intent = (uint8_t)intent_of(step, known);
    txn->in_statement = true;
    if (known == PLAIN_WORLD) {
        return begin_row(world, actor, known);
    }
    if (world->ops->statement != NULL &&
        !walker_passes(world, actor, world->ops->statement(&world->cc, txn, (enum intent)txn->intent))) {
        return walker_goes_on(actor);
    }
    report_statement(world, actor);
    bool one_row = known != NOTHING || (step->extra == NULL && !step->scan);
    return one_row ? begin_row(world, actor, known) : begin_several(world, actor);
}

/* After a round trip, or where the attempt was sent back to. */
bool statement_begin(struct world *world, struct actor *actor) {
    actor->plain = is_plain(&actor->step);
    return begin_statement(world, actor, actor->plain ? PLAIN_STEP : NOTHING);
}

/* ---- The program's next step ---- */

static const uint8_t phase_of_step[] = {
    [STEP_THINK] = PHASE_NEXT,     [STEP_SAVEPOINT] = PHASE_SAVEPOINT, [STEP_ROLLBACK_TO] = PHASE_ROLLBACK_TO,
    [STEP_COMMIT] = PHASE_PREPARE, [STEP_ROLLBACK] = PHASE_ROLLBACK,   [STEP_RETRY] = PHASE_ABORT,
    [STEP_HOLD] = PHASE_NEXT};

/* Where the statement costs no round trip, it begins at once. */
static HOT bool next_statement(struct world *world, struct actor *actor, enum known known) {
    struct txn *txn = &actor->txn;
    txn->statement++;
    txn->last_lock = actor->step.last_lock && !txn->plan_lost;
    if (known == PLAIN_WORLD) {
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

/* In functions of their own, so that each has the registers to itself. */
static __attribute__((noinline)) bool next_plain(struct world *world, struct actor *actor) {
    return next_statement(world, actor, PLAIN_STEP);
}

static __attribute__((noinline)) bool next_any(struct world *world, struct actor *actor) {
    return next_statement(world, actor, NOTHING);
}

static __attribute__((noinline)) bool next_other(struct world *world, struct actor *actor) {
    struct step *step = &actor->step;
    actor->phase = phase_of_step[step->kind];
    if (step->kind == STEP_THINK) {
        return price_delay(world, actor, price_draw(actor, step->think));
    }
    if (step->kind == STEP_HOLD) {
        return false;
    }
    if (step->kind == STEP_RETRY) {
        CHECK(actor->reply.status == REPLY_ERROR);
        actor->txn.reason = (uint8_t)actor->reply.reason;
    }
    return price_delay(world, actor, price_draw(actor, &world->spec->cost.round_trip));
}

static HOT bool next_step(struct world *world, struct actor *actor) {
    struct step *step = &actor->step;
    world->workload_next(world->workload_state, actor->arguments, actor->registers, &actor->reply, step);
    actor->plain = is_plain(step);
    if (actor->plain) {
        return world->is_plain ? next_statement(world, actor, PLAIN_WORLD) : next_plain(world, actor);
    }
    return step->kind <= STEP_INSERT ? next_any(world, actor) : next_other(world, actor);
}

bool statement_next(struct world *world, struct actor *actor) { return next_step(world, actor); }

/* ---- Which row is next ---- */

/* Private versions are linked nowhere: the smallest key in cursor .. `before` - 1 that the attempt itself inserted. */
static int64_t own_private_key(const struct actor *actor, int64_t before) {
    for (size_t i = 0; i < actor->txn.writes.count; i++) {
        const struct row *row = &actor->txn.rows.items[actor->txn.writes.items[i].row];
        if (row->table == actor->step.table && row->key >= actor->cursor && row->key < before) {
            before = row->key;
        }
    }
    return before;
}

bool statement_locate(struct world *world, struct actor *actor) {
    const struct step *step = &actor->step;
    if (!step->scan) {
        return locate_row(world, actor, NOTHING);
    }
    actor->blind = false;
    int64_t key;
    struct record *record = store_next(&world->store, step->table, actor->cursor, world->ops->bounds_gap, &key);
    if (world_is_private(world)) {
        int64_t own = own_private_key(actor, key);
        record = own < key ? NULL : record;
        key = own;
    }
    actor->tail = record == step->table->end || key > step->last;
    if (actor->tail && world->ops->range == NULL) {
        actor->phase = PHASE_STATEMENT_END;
        return true;
    }
    if (record == step->table->end) {
        actor->row = txn_row_number(&actor->txn, txn_row_of_end(&actor->txn, step->table));
    } else {
        meet_row(world, actor, key);
    }
    actor->phase = world->ops->range != NULL ? PHASE_RANGE : PHASE_READ;
    return true;
}

bool statement_range(struct world *world, struct actor *actor) {
    const struct step *step = &actor->step;
    struct range range = {.table = step->table,
                          .first = step->first,
                          .last = step->last,
                          .condition = step->condition,
                          .row = row_of(actor),
                          .tail = actor->tail};
    enum intent intent = intent_of(step, NOTHING);
    enum cc_status status = world->ops->range(&world->cc, &actor->txn, &range, intent, patience_of(step));
    if (!walker_passes(world, actor, status)) {
        if (status == CC_WAIT && actor->phase == PHASE_RANGE) {
            actor->phase = PHASE_LOCATE; /* what it waits for may come to lie before the row */
        }
        return walker_goes_on(actor);
    }
    actor->phase = actor->tail ? PHASE_STATEMENT_END : PHASE_READ;
    return true;
}

/* ---- One row ---- */

static bool matches_conditions(const struct step *step, const struct row *row, const struct version *version) {
    return condition_holds(&step->condition, row->key, version->value) &&
           (step->extra == NULL || condition_holds(&step->extra->also, row->key, version->value));
}

/* An insert wants no row, all else one that matches. */
static HOT bool is_wanted(const struct step *step, const struct row *row, const struct version *version,
                          enum known known) {
    if (known != NOTHING) {
        return !version->absent;
    }
    if (step->kind == STEP_INSERT || version->absent) {
        return step->kind == STEP_INSERT && version->absent;
    }
    return (step->condition.operator== CONDITION_TRUE && step->extra == NULL) || matches_conditions(step, row, version);
}

static HOT void reply_row(struct actor *actor, int64_t key, int64_t value, int64_t after, enum known known) {
    bool only = known != NOTHING || actor->reply.rows != NULL;
    struct reply_row *place = only ? &actor->only_row : vector_add(&actor->reply_rows);
    *place = (struct reply_row){.key = key, .value = value};
    actor->reply.count++;
    uint64_t row = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)value;
    actor->fold = digest_add(actor->fold, row * UINT64_C(0xd1342543de82ef95) + (uint64_t)after);
}

static __attribute__((noinline)) int64_t draw_write(struct world *world, struct actor *actor) {
    return price_draw(actor, &world->spec->cost.cpu_write);
}

/* The CPU part of the current row's price. */
static HOT bool pay_cpu(struct world *world, struct actor *actor, enum known known) {
    const struct cost_settings *cost = &world->spec->cost;
    int64_t service_ns = known == PLAIN_WORLD ? 0 : price_work(world, actor);
    if (actor->row_first_visit) {
        service_ns += price_draw(actor, &cost->cpu_access);
    }
    if (known != PLAIN_WORLD && actor->row_written && !world->write_is_free) {
        service_ns += draw_write(world, actor);
    }
    actor->phase = PHASE_ROW_DONE;
    return price_cpu(world, actor, service_ns);
}

bool statement_pay(struct world *world, struct actor *actor) { return pay_cpu(world, actor, NOTHING); }

/* Nobody looks at `visited` before the price is paid, and now the row is at hand. */
static HOT bool pay_row(struct world *world, struct actor *actor, struct row *row, enum known known) {
    row->visited = true;
    if (known == PLAIN_WORLD || world->row_is_cpu_only) {
        return pay_cpu(world, actor, known);
    }
    actor->phase = PHASE_LATCH;
    return true;
}

static bool leave_out(struct world *world, struct actor *actor) {
    report_skip(world, actor, row_of(actor));
    return pay_row(world, actor, row_of(actor), NOTHING);
}

static bool leave_unmatched(struct world *world, struct actor *actor) {
    if (world->ops->unmatched != NULL) {
        world->ops->unmatched(&world->cc, &actor->txn, row_of(actor));
    }
    return pay_row(world, actor, row_of(actor), NOTHING);
}

static bool fail_duplicate(struct world *world, struct actor *actor) {
    row_of(actor)->kept = true;
    actor->txn.reason = REASON_DUPLICATE;
    statement_fail(world, actor);
    return true;
}

static bool leave_unwanted(struct world *world, struct actor *actor) {
    return actor->step.kind == STEP_INSERT ? fail_duplicate(world, actor) : leave_unmatched(world, actor);
}

static HOT void note_read(struct world *world, struct actor *actor, struct row *row, const struct version *seen,
                          enum known known) {
    actor->seen_writer = seen->writer;
    if (known != PLAIN_WORLD) {
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

/* The row whose value the statement takes: read before any row is claimed. */
bool statement_source(struct world *world, struct actor *actor) {
    struct version *seen = NULL;
    uint32_t hops = actor->txn.work.hops;
    enum cc_status status = world->ops->read(&world->cc, &actor->txn, row_of(actor), SEE, BLOCK, &seen);
    if (!walker_passes(world, actor, status)) {
        report_refused_read(world, actor, row_of(actor), seen);
        return walker_goes_on(actor);
    }
    note_walk(world, actor, hops, seen);
    note_read(world, actor, row_of(actor), seen, NOTHING);
    report_source(world, actor, row_of(actor), seen);
    actor->step.operand += seen->absent ? 0 : seen->value;
    actor->at_source = true;
    return pay_row(world, actor, row_of(actor), NOTHING);
}

static HOT struct image changed(const struct step *step, const struct version *base, enum known known) {
    if (known != NOTHING) {
        return (struct image){.value = base->value + step->operand, .absent = false};
    }
    int64_t before = step->value == VALUE_ADD && !base->absent ? base->value : 0;
    bool deleted = step->kind == STEP_DELETE;
    return (struct image){.value = deleted ? 0 : before + step->operand, .absent = deleted};
}

/* A refused claim: what it would have changed. */
static void tell_refused_change(struct world *world, struct actor *actor) {
    const struct step *step = &actor->step;
    struct row *row = row_of(actor);
    if (!report_judges(world, actor) || step->kind == STEP_SELECT) {
        return;
    }
    const struct version *base = store_committed(&world->store, row->table, row->key, row->record);
    if (base->absent == (step->kind == STEP_INSERT)) {
        struct image after = changed(step, base, NOTHING);
        report_refused_change_now(world, actor, row, base, after.value, after.absent);
    }
}

/* A change that its filter refuses leaves the row as it is. */
struct image statement_result(void *world, const struct txn *txn, const struct row *row, const struct version *base) {
    (void)world;
    const struct step *step = &((const struct actor *)(const void *)txn)->step;
    return is_wanted(step, row, base, NOTHING) ? changed(step, base, NOTHING)
                                               : (struct image){.value = base->value, .absent = base->absent};
}

static HOT void change_row(struct world *world, struct actor *actor, struct row *row, struct version *base,
                           enum known known) {
    struct image after = changed(&actor->step, base, known);
    int64_t before = known == NOTHING && base->absent ? 0 : base->value;
    reply_row(actor, row->key, before, after.absent ? INT64_MIN : after.value, known);
    bool is_private = known != PLAIN_WORLD && world_is_private(world);
    txn_write(&actor->txn, &world->store, row, is_private ? NULL : base, after.value, after.absent);
    actor->row_written = true;
}

/* The row qualifies, and is granted. */
static HOT bool use_row(struct world *world, struct actor *actor, struct row *row, struct version *base,
                        enum known known) {
    if (actor->step.kind == STEP_SELECT) {
        reply_row(actor, row->key, base->value, base->value, known);
    } else {
        change_row(world, actor, row, base, known);
    }
    return pay_row(world, actor, row, known);
}

static bool pass_over_claim(struct world *world, struct actor *actor) {
    tell_refused_change(world, actor);
    return walker_goes_on(actor);
}

/* The usual sequel of a read, and the first call of a blind statement. */
static HOT bool claim_row(struct world *world, struct actor *actor, struct row *row) {
    const struct step *step = &actor->step;
    struct version *base = NULL;
    uint32_t hops = actor->txn.work.hops;
    enum cc_status status = world->ops->claim(&world->cc, &actor->txn, row, change_of(step), patience_of(step), &base);
    if (!walker_passes(world, actor, status)) {
        return pass_over_claim(world, actor);
    }
    if (status == CC_SKIP) {
        return leave_out(world, actor);
    }
    row = row_of(actor);
    durable_read(world, actor, base);
    bool blind = actor->blind, fresh = !blind && base->writer != actor->seen_writer;
    bool wanted = !(blind || fresh) || is_wanted(step, row, base, NOTHING);
    if (blind) {
        note_walk(world, actor, hops, base);
    }
    if (fresh) {
        report_read(world, actor, row, base, wanted);
    }
    return wanted ? use_row(world, actor, row, base, NOTHING) : leave_unwanted(world, actor);
}

bool statement_claim(struct world *world, struct actor *actor) { return claim_row(world, actor, row_of(actor)); }

static __attribute__((noinline)) bool pass_over_read(struct world *world, struct actor *actor, enum cc_status status,
                                                     const struct version *seen) {
    if (status == CC_WAIT && actor->step.scan && actor->phase == PHASE_READ &&
        (world->ops->flags & CC_LOOKS_AGAIN) != 0) {
        actor->phase = PHASE_LOCATE;
    }
    report_refused_read(world, actor, row_of(actor), seen);
    return walker_goes_on(actor);
}

/* Does what was read need no claim? */
static HOT bool is_granted(const struct step *step, const struct row *row, enum known known) {
    if (known != NOTHING) {
        return row->claimed || step->kind == STEP_SELECT;
    }
    return (row->claimed && step->kind != STEP_INSERT) || (step->kind == STEP_SELECT && step->locking == LOCKING_NONE);
}

static HOT bool read_row(struct world *world, struct actor *actor, struct row *row, enum known known) {
    const struct step *step = &actor->step;
    struct version *seen = NULL;
    uint32_t hops = actor->txn.work.hops;
    enum patience patience = known != NOTHING ? BLOCK : patience_of(step);
    row->claimed = false;
    enum cc_status status = world->ops->read(&world->cc, &actor->txn, row, intent_of(step, known), patience, &seen);
    if (!walker_passes(world, actor, status)) {
        return pass_over_read(world, actor, status, seen);
    }
    if (status == CC_SKIP) {
        return leave_out(world, actor);
    }
    row = row_of(actor);
    note_read(world, actor, row, seen, known);
    bool wanted = is_wanted(step, row, seen, known);
    if (known != PLAIN_WORLD) {
        note_walk(world, actor, hops, seen);
        report_read(world, actor, row, seen, wanted);
    }
    if (!wanted) {
        return leave_unwanted(world, actor);
    }
    if (is_granted(step, row, known)) {
        return use_row(world, actor, row, seen, known);
    }
    actor->phase = PHASE_CLAIM;
    return statement_claim(world, actor);
}

bool statement_read(struct world *world, struct actor *actor) { return read_row(world, actor, row_of(actor), NOTHING); }

/* ---- From one row to the next ---- */

/* From the source to the first row, from one key of a list to the next. */
static bool goes_on_with_extra(struct actor *actor) {
    struct step *step = &actor->step;
    actor->phase = PHASE_LOCATE;
    if (actor->at_source) {
        actor->at_source = false;
        return true;
    }
    if (step->extra->keys == NULL || ++actor->key_index >= step->extra->key_count) {
        return false;
    }
    step->first = step->last = step->extra->keys[actor->key_index];
    return true;
}

static HOT bool end_statement(struct world *world, struct actor *actor, enum known known) {
    struct txn *txn = &actor->txn;
    if (!txn->ends_silently) {
        world->ops->statement_end(&world->cc, txn, false);
    }
    txn->in_statement = false;
    if (known == NOTHING && actor->step.scan) {
        report_scan(world, actor);
        durable_scan(world, actor);
    }
    if (known == NOTHING) {
        actor->reply.rows = actor_reply_rows(actor);
    }
    actor->phase = PHASE_NEXT;
    return next_step(world, actor);
}

static bool go_on_to_next_row(struct world *world, struct actor *actor) {
    const struct step *step = &actor->step;
    const struct row *row = row_of(actor);
    if (step->extra != NULL && goes_on_with_extra(actor)) {
        return true;
    }
    bool enough = step->limit > 0 && actor->reply.count >= step->limit;
    if (!step->scan || enough || row->key == INT64_MAX) {
        return statement_end(world, actor);
    }
    actor->cursor = row->key + 1;
    actor->phase = PHASE_LOCATE;
    return true;
}

static __attribute__((noinline)) bool any_row_done(struct world *world, struct actor *actor) {
    bool one_row = actor->step.extra == NULL && !actor->step.scan;
    return one_row ? end_statement(world, actor, NOTHING) : go_on_to_next_row(world, actor);
}

bool statement_row_done(struct world *world, struct actor *actor) {
    return actor->plain ? end_statement(world, actor, PLAIN_STEP) : any_row_done(world, actor);
}

/* ---- The end of a statement ---- */

bool statement_end(struct world *world, struct actor *actor) { return end_statement(world, actor, NOTHING); }

/* A failed statement is a rollback to its start, and what it read does not count - but for a duplicate key it met. */
void statement_fail(struct world *world, struct actor *actor) {
    struct txn *txn = &actor->txn;
    for (size_t i = 0; i < txn->rows.count; i++) {
        struct row *row = &txn->rows.items[i];
        if (row->read_statement == txn->statement && !row->kept) {
            row->read_statement = 0;
        }
    }
    while (txn->scans.count > 0 && txn->scans.items[txn->scans.count - 1].statement == txn->statement) {
        txn->scans.count--;
    }
    world->ops->rollback(&world->cc, txn, txn->statement);
    report_fail(world, actor);
    txn_undo(txn, &world->store, txn->statement, world_is_private(world));
    if (world->ops->statement_end != NULL) {
        world->ops->statement_end(&world->cc, txn, true);
    }
    txn->in_statement = false;
    actor->reply = (struct reply){.status = REPLY_ERROR, .reason = txn->reason};
    actor->fold = digest_add(actor->fold, txn->reason);
    txn->reason = REASON_NONE;
    txn->plan_lost = true;
    actor->phase = PHASE_NEXT;
}
