/* statement.c - the phases of one statement: row by row through range, read, filter, claim and filter again; and what
 * comes between two of them, the program's next step. What every access does stands in access.h. */
#include "sim/base/check.h"
#include "sim/exec/access.h"

/* ---- The first row, and the source ---- */

static bool begin_extra(struct world *world, struct actor *actor) {
    actor->key_index = 0;
    if (actor->step.extra->reads_source) {
        meet_row(world, actor, actor->step.extra->source);
        actor->phase = PHASE_SOURCE;
    }
    return true;
}

/* A scan, a list of keys, a source: the rows are still to be found. */
bool statement_begin_several(struct world *world, struct actor *actor) {
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

/* After a round trip, or where the attempt was sent back to. */
bool statement_begin(struct world *world, struct actor *actor) {
    actor->plain = is_plain(&actor->step);
    return begin_statement(world, actor, actor->plain ? KNOWN_STEP : KNOWN_NOTHING);
}

/* ---- The program's next step ---- */

static const uint8_t phase_of_step[] = {
    [STEP_THINK] = PHASE_NEXT,     [STEP_SAVEPOINT] = PHASE_SAVEPOINT, [STEP_ROLLBACK_TO] = PHASE_ROLLBACK_TO,
    [STEP_COMMIT] = PHASE_PREPARE, [STEP_ROLLBACK] = PHASE_ROLLBACK,   [STEP_RETRY] = PHASE_ABORT,
    [STEP_HOLD] = PHASE_NEXT};

/* In functions of their own, so that each has the registers to itself. */
__attribute__((noinline)) bool statement_next_plain(struct world *world, struct actor *actor) {
    return next_statement(world, actor, KNOWN_STEP);
}

__attribute__((noinline)) bool statement_next_any(struct world *world, struct actor *actor) {
    return next_statement(world, actor, KNOWN_NOTHING);
}

__attribute__((noinline)) bool statement_next_other(struct world *world, struct actor *actor) {
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
        return locate_row(world, actor, KNOWN_NOTHING);
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
    enum intent intent = (enum intent)actor->txn.intent;
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

bool statement_matches(const struct step *step, const struct row *row, const struct version *version) {
    return condition_holds(&step->condition, row->key, version->value) &&
           (step->extra == NULL || condition_holds(&step->extra->also, row->key, version->value));
}

bool statement_pay(struct world *world, struct actor *actor) { return pay_cpu(world, actor, KNOWN_NOTHING); }

bool statement_leave_out(struct world *world, struct actor *actor) {
    report_skip(world, actor, row_of(actor));
    return pay_row(world, actor, row_of(actor), KNOWN_NOTHING);
}

static bool leave_unmatched(struct world *world, struct actor *actor) {
    if (world->ops->unmatched != NULL) {
        world->ops->unmatched(&world->cc, &actor->txn, row_of(actor));
    }
    return pay_row(world, actor, row_of(actor), KNOWN_NOTHING);
}

static bool fail_duplicate(struct world *world, struct actor *actor) {
    row_of(actor)->kept = true;
    actor->txn.reason = REASON_DUPLICATE;
    statement_fail(world, actor);
    return true;
}

bool statement_leave_unwanted(struct world *world, struct actor *actor) {
    return actor->step.kind == STEP_INSERT ? fail_duplicate(world, actor) : leave_unmatched(world, actor);
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
    note_read(world, actor, row_of(actor), seen, KNOWN_NOTHING);
    report_source(world, actor, row_of(actor), seen);
    actor->step.operand += seen->absent ? 0 : seen->value;
    actor->at_source = true;
    return pay_row(world, actor, row_of(actor), KNOWN_NOTHING);
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
        struct image after = changed(step, base, KNOWN_NOTHING);
        report_refused_change_now(world, actor, row, base, after.value, after.absent);
    }
}

/* A change that its filter refuses leaves the row as it is. */
struct image statement_result(void *world, const struct txn *txn, const struct row *row, const struct version *base) {
    (void)world;
    const struct step *step = &((const struct actor *)(const void *)txn)->step;
    return is_wanted(step, row, base, KNOWN_NOTHING) ? changed(step, base, KNOWN_NOTHING)
                                                     : (struct image){.value = base->value, .absent = base->absent};
}

bool statement_pass_over_claim(struct world *world, struct actor *actor) {
    tell_refused_change(world, actor);
    return walker_goes_on(actor);
}

bool statement_claim(struct world *world, struct actor *actor) { return claim_row(world, actor, row_of(actor)); }

bool statement_pass_over_read(struct world *world, struct actor *actor, enum cc_status status,
                              const struct version *seen) {
    if (status == CC_WAIT && actor->step.scan && actor->phase == PHASE_READ &&
        (world->ops->flags & CC_LOOKS_AGAIN) != 0) {
        actor->phase = PHASE_LOCATE;
    }
    report_refused_read(world, actor, row_of(actor), seen);
    return walker_goes_on(actor);
}

bool statement_read(struct world *world, struct actor *actor) {
    return read_row(world, actor, row_of(actor), KNOWN_NOTHING);
}

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

__attribute__((noinline)) bool statement_any_row_done(struct world *world, struct actor *actor) {
    bool one_row = actor->step.extra == NULL && !actor->step.scan;
    return one_row ? end_statement(world, actor, KNOWN_NOTHING) : go_on_to_next_row(world, actor);
}

bool statement_row_done(struct world *world, struct actor *actor) { return row_done(world, actor); }

/* ---- The end of a statement ---- */

bool statement_end(struct world *world, struct actor *actor) { return end_statement(world, actor, KNOWN_NOTHING); }

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
