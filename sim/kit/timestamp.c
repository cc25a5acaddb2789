#include "sim/kit/timestamp.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/kit/snapshot.h"

static struct timestamp_txn *tail_of(const struct txn *txn) { return txn->tail; }

enum cc_status timestamp_begin(struct cc *cc, struct txn *txn) {
    snapshot_open(cc, txn); /* the list of snapshots is that of the living, in order of begin */
    return CC_OK;
}

enum cc_status timestamp_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)cc;
    (void)txn;
    (void)intent;
    return CC_OK;
}

enum cc_status timestamp_prepare(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

void timestamp_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)mark;
    timestamp_wake(cc, txn);
}

void timestamp_stop(struct cc *cc) {
    struct timestamp_state *state = cc->state;
    vector_free(&state->stale);
}

/* ---- Waiting ---- */

static void stop_waiting(struct txn *txn) {
    struct timestamp_txn *tail = tail_of(txn);
    if (tail->waits_for == NULL) {
        return;
    }
    if (tail->previous != NULL) {
        tail_of(tail->previous)->next = tail->next;
    } else {
        tail_of(tail->waits_for)->first_waiter = tail->next;
    }
    if (tail->next != NULL) {
        tail_of(tail->next)->previous = tail->previous;
    }
    tail->waits_for = tail->next = tail->previous = NULL;
}

enum cc_status timestamp_wait(struct cc *cc, struct txn *txn, const struct version *version, enum patience patience) {
    if (patience != BLOCK) {
        return patience == NOWAIT ? txn_fail(txn, REASON_NOWAIT) : CC_SKIP;
    }
    struct txn *writer = txn_find(cc, version->writer);
    CHECK(writer != NULL && writer->id < txn->id); /* invariant 1 */
    struct timestamp_txn *tail = tail_of(txn), *its = tail_of(writer);
    if (tail->waits_for != writer) {
        stop_waiting(txn);
        tail->waits_for = writer;
        tail->next = its->first_waiter;
        if (its->first_waiter != NULL) {
            tail_of(its->first_waiter)->previous = txn;
        }
        its->first_waiter = txn;
    }
    return CC_WAIT;
}

void timestamp_wake(struct cc *cc, struct txn *txn) {
    struct txn *last = tail_of(txn)->first_waiter;
    while (last != NULL && tail_of(last)->next != NULL) {
        last = tail_of(last)->next;
    }
    for (struct txn *waiter = last; waiter != NULL;) { /* in order of beginning to wait */
        struct txn *next = tail_of(waiter)->previous;
        stop_waiting(waiter);
        txn_wake(cc, waiter);
        waiter = next;
    }
}

void timestamp_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    if (tail_of(waiting)->waits_for != NULL && most > 0) {
        vector_push(out, tail_of(waiting)->waits_for);
    }
}

/* ---- Stamps that nobody needs any more ---- */

static bool is_absent(const struct row *row) {
    const struct version *version = row->record->newest;
    while (version != NULL && version->stamp == 0) {
        version = version->older;
    }
    return version != NULL ? version->absent : row->table->initially_absent || !table_is_dense(row->table, row->key);
}

static bool has_stamps(struct record *record) {
    const struct timestamp_mark *mark = timestamp_mark_of(record);
    return (mark->read | mark->gap | mark->erased) != 0;
}

/* Rows that are there do not need it: who deletes them will have met them too. */
static void note_stale(struct timestamp_state *state, const struct txn *txn) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if (row->record != row->table->end && is_absent(row) && has_stamps(row->record)) {
            struct timestamp_stale stale = {.table = row->table, .key = row->key, .id = txn->id};
            vector_push(&state->stale, stale);
        }
    }
}

static void wipe(struct cc *cc, const struct timestamp_stale *stale, uint64_t oldest) {
    struct record *record = store_record(cc->store, stale->table, stale->key);
    struct timestamp_mark *mark = timestamp_mark_of(record);
    mark->read = mark->read < oldest ? 0 : mark->read;
    mark->gap = mark->gap < oldest ? 0 : mark->gap;
    mark->erased = mark->erased < oldest ? 0 : mark->erased;
    store_release(cc->store, stale->table, stale->key, record);
}

static void wipe_stale(struct cc *cc, struct timestamp_state *state) {
    uint64_t oldest = cc->snapshot_first != NULL ? cc->snapshot_first->id : UINT64_MAX;
    while (state->first < state->stale.count && state->stale.items[state->first].id < oldest) {
        wipe(cc, &state->stale.items[state->first++], oldest);
    }
    if (state->first * 2 >= state->stale.count) { /* at constant cost for each entry */
        state->stale.count -= state->first;
        if (state->stale.count > 0) {
            memmove(state->stale.items, state->stale.items + state->first,
                    state->stale.count * sizeof *state->stale.items);
        }
        state->first = 0;
    }
}

void timestamp_end(struct cc *cc, struct txn *txn) {
    struct timestamp_state *state = cc->state;
    stop_waiting(txn);
    timestamp_wake(cc, txn);
    note_stale(state, txn);
    snapshot_close(cc, txn);
    wipe_stale(cc, state);
}

/* ---- Gaps ---- */

enum cc_status timestamp_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                               enum patience patience) {
    (void)cc;
    (void)intent;
    (void)patience;
    struct timestamp_mark *mark = timestamp_mark_of(range->row->record);
    mark->gap = timestamp_max(mark->gap, txn->id);
    return CC_OK;
}

enum cc_status timestamp_enter_gap(struct cc *cc, struct txn *txn, struct row *row,
                                   bool (*bounds_gap)(const struct record *)) {
    int64_t bound_key;
    struct record *bound = store_next(cc->store, row->table, row->key, bounds_gap, &bound_key);
    if (bound == row->record) {
        return CC_OK; /* the key bounds a gap already: scans meet it */
    }
    uint64_t scanned = timestamp_mark_of(bound)->gap;
    if (scanned > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE);
    }
    struct timestamp_mark *mark = timestamp_mark_of(row->record);
    mark->gap = timestamp_max(mark->gap, scanned);
    return CC_OK;
}
