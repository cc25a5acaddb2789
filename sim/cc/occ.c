/* occ - optimistic concurrency control with serial validation.
 *
 * Transactions read the newest committed versions without locks and write privately. At the end each enters the
 * critical
 * section, in FIFO order, and is validated: it passes if nothing it read was overwritten by one that committed since
 * its start (check = start, the paper's rule) or since the read itself (check = version). Validation, log force and the
 * installing of its writes are one critical section: the next one validates when they are done.
 *
 * "Read set against the write sets of all that committed since my start" is asked the other way round: each item read
 * carries the stamp of the latest commit that wrote it, which must not be newer than the start. That is the same
 * test at
 * a cost that depends on the read set alone. Scans are validated by walking the range again, tombstones included.
 *
 * Invariants: at most one transaction is between its validation and its commit; stamps are given in validation order.
 * Paper: Kung, Robinson, "On optimistic methods for concurrency control" (1981), serial validation.
 * Differs from the paper: a transaction starts with its first statement. Locking reads are plain reads. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/snapshot.h"

/* row->note, a set: how writes without a read met the row. That is all such a write depends on. */
enum seen { SEEN_ABSENT = 1, SEEN_PRESENT = 2 };

enum check { CHECK_START, CHECK_VERSION };
struct occ_options {
    int check;
};

static const char *const check_choices[] = {"start", "version", NULL};
static const struct option options[] = {
    {.name = "check",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct occ_options, check),
     .fallback = "start",
     .choices = check_choices,
     .help = "what must not be overwritten: anything read, since the transaction's start or since it was read"},
};
static const struct option_table table = OPTION_TABLE(options, struct occ_options);

/* The critical section: who is in it, and who queues for it. */
struct occ_state {
    struct txn *inside;
    struct txn *first, *last;
};
struct occ_txn {
    struct txn *next, *previous;
    bool queued;
};

static struct occ_txn *tail_of(const struct txn *txn) { return txn->tail; }

static enum cc_status occ_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static enum cc_status occ_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status occ_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    (void)txn;
    (void)intent;
    (void)patience;
    struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    if (row->mark == 0) {
        row->mark = newest->stamp;
    }
    *seen = row->own != NULL ? row->own : newest;
    return CC_OK;
}

static enum cc_status occ_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    (void)txn;
    (void)change;
    (void)patience;
    if (row->own == NULL) {
        bool absent = store_newest(cc->store, row->table, row->key, row->record)->absent;
        row->note |= absent ? SEEN_ABSENT : SEEN_PRESENT;
    }
    *base = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

static void occ_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    (void)txn;
    (void)mark;
}

/* ---- The critical section ---- */

static bool enter(struct occ_state *state, struct txn *txn) {
    struct occ_txn *tail = tail_of(txn);
    if (state->inside == NULL || state->inside == txn) {
        state->inside = txn;
        return true;
    }
    if (!tail->queued) {
        tail->queued = true;
        tail->previous = state->last;
        if (state->last != NULL) {
            tail_of(state->last)->next = txn;
        } else {
            state->first = txn;
        }
        state->last = txn;
    }
    return false;
}

static void leave_queue(struct occ_state *state, struct txn *txn) {
    struct occ_txn *tail = tail_of(txn);
    if (!tail->queued) {
        return;
    }
    if (tail->previous != NULL) {
        tail_of(tail->previous)->next = tail->next;
    } else {
        state->first = tail->next;
    }
    if (tail->next != NULL) {
        tail_of(tail->next)->previous = tail->previous;
    } else {
        state->last = tail->previous;
    }
    *tail = (struct occ_txn){0};
}

/* Hands the critical section to the first in the queue, if `txn` was inside. */
static void leave(struct cc *cc, struct txn *txn) {
    struct occ_state *state = cc->state;
    leave_queue(state, txn);
    if (state->inside == txn) {
        struct txn *next = state->first;
        state->inside = next;
        if (next != NULL) {
            leave_queue(state, next);
            txn_wake(cc, next);
        }
    }
}

/* ---- Validation ---- */

static bool row_is_current(struct cc *cc, const struct txn *txn, const struct row *row) {
    uint64_t stamp = row->record->newest->stamp;
    const struct occ_options *chosen = cc->options;
    return chosen->check == CHECK_START ? stamp <= txn->snapshot : stamp == row->mark;
}

static bool has_versions(const struct record *record) { return record->newest != NULL; }

/* Did anything in the range change that the row-wise validation does not cover? */
static bool scan_is_current(struct cc *cc, struct txn *txn, const struct scan *scan) {
    const struct occ_options *chosen = cc->options;
    uint64_t since = chosen->check == CHECK_START ? txn->snapshot : scan->stamp;
    int64_t key;
    struct record *record = store_next(cc->store, scan->table, scan->first, has_versions, &key);
    while (record != scan->table->end && key <= scan->last) {
        txn->work.validated++;
        const struct version *newest = record->newest;
        if (newest != NULL && newest->stamp > since) {
            const struct row *row = txn_find_row(txn, scan->table, key);
            if (chosen->check == CHECK_START || row == NULL || row->read_statement != scan->statement ||
                row->mark != newest->stamp) {
                return false;
            }
        }
        if (key == INT64_MAX) {
            break;
        }
        record = store_next(cc->store, scan->table, key + 1, has_versions, &key);
    }
    return true;
}

static bool is_valid(struct cc *cc, struct txn *txn) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if (row->read_statement != 0) {
            txn->work.validated++;
            if (!row_is_current(cc, txn, row)) {
                return false;
            }
        }
        if (row->note != 0 && row->note != (row->record->newest->absent ? SEEN_ABSENT : SEEN_PRESENT)) {
            return false;
        }
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        if (!scan_is_current(cc, txn, &txn->scans.items[i])) {
            return false;
        }
    }
    return true;
}

static enum cc_status occ_prepare(struct cc *cc, struct txn *txn) {
    if (!enter(cc->state, txn)) {
        return CC_WAIT;
    }
    return is_valid(cc, txn) ? CC_OK : txn_refuse(txn, REASON_VALIDATION);
}

static void occ_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, true);
    leave(cc, txn);
    snapshot_close(cc, txn);
}

static void occ_abort(struct cc *cc, struct txn *txn) {
    leave(cc, txn);
    snapshot_close(cc, txn);
}

static void occ_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    const struct occ_state *state = cc->state;
    if (!tail_of(waiting)->queued) {
        return;
    }
    size_t limit = most > SIZE_MAX - out->count ? SIZE_MAX : out->count + most;
    if (out->count < limit) {
        vector_push(out, state->inside);
    }
    for (struct txn *ahead = state->first; ahead != waiting && out->count < limit; ahead = tail_of(ahead)->next) {
        vector_push(out, ahead);
    }
}

const struct cc_ops cc_occ = {
    .name = "occ",
    .summary = "optimistic, serial validation against what committed since",
    .paper = "Kung, Robinson 1981",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_PRIVATE_WRITES | CC_KEEPS_TOMBSTONES,
    .options = &table,
    .state_size = sizeof(struct occ_state),
    .txn_size = sizeof(struct occ_txn),
    .begin = occ_begin,
    .statement = occ_statement,
    .read = occ_read,
    .claim = occ_claim,
    .rollback = occ_rollback,
    .prepare = occ_prepare,
    .commit = occ_commit,
    .abort = occ_abort,
    .blockers = occ_blockers,
};
