/* occ_parallel - optimistic concurrency control with parallel validation.
 *
 * As in occ, transactions read the newest committed versions and write privately; but validation does not wait for the
 * write phases of others. One that ends takes down who is between validation and the end of its write phase, the active
 * set, and passes if
 *   nothing it read was overwritten by one that committed since its start, and
 *   nobody in the active set writes what it read or writes itself.
 * Then it joins the active set until its writes are installed. Log forces overlap: commits are not capped at one at a
 * time. The price is that it fails for what an active one has not even installed yet.
 *
 * Invariants: the serial order is that of the validations; the write sets of the active set are disjoint, so installing
 * them in any order leaves the same; nobody waits.
 * Paper: Kung, Robinson, "On optimistic methods for concurrency control" (1981), section 5.
 * Differs from the paper: a validation is one instant, so that the active set holds none that may still fail. A
 * transaction starts with its first statement. Locking reads are plain reads. */
#include "sim/cc/cc.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/validation.h"

/* The active set: validated, not yet installed. */
struct parallel_state {
    struct txn *first, *last;
};
struct parallel_txn {
    struct txn *next, *previous;
};
/* In the tail of a record: who of the active set writes it. */
struct parallel_head {
    struct txn *writer;
};

static struct parallel_txn *tail_of(const struct txn *txn) { return txn->tail; }
static struct parallel_head *head_of(struct record *record) { return record_tail(record); }

static enum cc_status parallel_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static enum cc_status parallel_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status parallel_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                    enum patience patience, struct version **seen) {
    (void)txn;
    (void)intent;
    (void)patience;
    *seen = validation_read(cc, row);
    row->claimed = true; /* a claim would add nothing to what the read is validated for */
    return CC_OK;
}

static enum cc_status parallel_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                     enum patience patience, struct version **base) {
    (void)txn;
    (void)change;
    (void)patience;
    *base = validation_base(cc, row);
    return CC_OK;
}

static void parallel_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    (void)txn;
    (void)mark;
}

/* ---- The active set ---- */

static void set_writer(const struct txn *txn, struct txn *writer) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        head_of(txn->rows.items[txn->writes.items[i].row].record)->writer = writer;
    }
}

static void join(struct parallel_state *state, struct txn *txn) {
    struct parallel_txn *tail = tail_of(txn);
    tail->previous = state->last;
    if (state->last != NULL) {
        tail_of(state->last)->next = txn;
    } else {
        state->first = txn;
    }
    state->last = txn;
    set_writer(txn, txn);
}

static void leave(struct parallel_state *state, struct txn *txn) {
    struct parallel_txn *tail = tail_of(txn);
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
    set_writer(txn, NULL);
}

static bool writes_into(const struct txn *txn, const struct scan *scan) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        if (row->table == scan->table && row->key >= scan->first && row->key <= scan->last) {
            return true;
        }
    }
    return false;
}

/* Does one of the active set write what `txn` has read or written? */
static bool meets_the_active(const struct parallel_state *state, struct txn *txn) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        bool counts = row->read_statement != 0 || row->note != 0 || row->own != NULL;
        if (counts && head_of(row->record)->writer != NULL) {
            return true;
        }
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        for (const struct txn *active = state->first; active != NULL; active = tail_of(active)->next) {
            txn->work.validated++;
            if (writes_into(active, &txn->scans.items[i])) {
                return true;
            }
        }
    }
    return false;
}

static enum cc_status parallel_prepare(struct cc *cc, struct txn *txn) {
    if (!validation_passes(cc, txn, false, NULL) || meets_the_active(cc->state, txn)) {
        return txn_refuse(txn, REASON_VALIDATION);
    }
    join(cc->state, txn);
    return CC_OK;
}

static void parallel_commit(struct cc *cc, struct txn *txn) {
    leave(cc->state, txn);
    txn_publish(txn, cc->store, true);
    snapshot_close(cc, txn);
}

static void parallel_abort(struct cc *cc, struct txn *txn) { snapshot_close(cc, txn); }

static void parallel_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    (void)waiting;
    (void)out;
    (void)most;
}

const struct cc_ops cc_occ_parallel = {
    .name = "occ-parallel",
    .summary = "optimistic, parallel validation with the active set",
    .paper = "Kung, Robinson 1981",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_PRIVATE_WRITES | CC_KEEPS_TOMBSTONES | CC_RESTART_ADAPTIVE,
    .state_size = sizeof(struct parallel_state),
    .txn_size = sizeof(struct parallel_txn),
    .record_size = sizeof(struct parallel_head),
    .begin = parallel_begin,
    .statement = parallel_statement,
    .read = parallel_read,
    .claim = parallel_claim,
    .rollback = parallel_rollback,
    .prepare = parallel_prepare,
    .commit = parallel_commit,
    .abort = parallel_abort,
    .blockers = parallel_blockers,
};
