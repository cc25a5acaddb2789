/* to - timestamp ordering: every conflict in the order of begin.
 *
 * A transaction's timestamp is that of its attempt, a new one at each restart. A read is refused (ts_late) if the row was
 * written by a younger transaction, a write if it was written or read by a younger one. Scans leave a read stamp on every
 * row they meet and on the gap before it, and an insert into a gap that a younger one scanned is refused. Strict: a read
 * or a write of a row whose uncommitted writer is older waits for that one's end; so nobody sees what may be undone.
 *
 * Invariants
 *  1. Only the younger wait for the older: no deadlock.
 *  2. The serial order is that of timestamps. A write by key that found no row has read that there is none.
 *  3. Who deleted a row stays known, and its record stays where scans meet it, until everybody alive is younger.
 * Paper: Bernstein, Goodman, "Timestamp-based algorithms for concurrency control in distributed database systems" (1980).
 * Differs from the paper: strict by waiting in place of buffered prewrites; a younger uncommitted writer refuses a read
 * at once; gaps have read stamps. The raw form, with cascades, is not offered. */
#include "sim/cc/to.h"

bool to_bounds_gap(const struct record *record) {
    const struct timestamp_mark *mark = (const struct timestamp_mark *)(const void *)(record + 1);
    return (mark->gap | mark->erased) != 0;
}

static void stamp_read(struct txn *txn, struct row *row) {
    struct timestamp_mark *mark = timestamp_mark_of(row->record);
    mark->read = timestamp_max(mark->read, txn->id);
}

enum cc_status to_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                       struct version **seen) {
    (void)intent;
    if (row->own != NULL) {
        *seen = row->own;
        return CC_OK;
    }
    struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    if (newest->writer > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE);
    }
    if (newest->stamp == 0) {
        return timestamp_wait(cc, txn, newest, patience);
    }
    stamp_read(txn, row);
    *seen = newest;
    return CC_OK;
}

bool to_is_settled(const struct row *row, enum change change) {
    return row->own != NULL || change == LOCK_SHARE || change == LOCK_UPDATE;
}

enum cc_status to_take(struct cc *cc, struct txn *txn, struct row *row, enum change change, enum patience patience,
                       const struct version *base) {
    if (base->stamp == 0) {
        return timestamp_wait(cc, txn, base, patience);
    }
    if (change == PUT_INSERT) {
        return timestamp_enter_gap(cc, txn, row, to_bounds_gap);
    }
    if (base->absent) {
        stamp_read(txn, row);
    }
    return CC_OK;
}

static enum cc_status to_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                               enum patience patience, struct version **base) {
    *base = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
    if (to_is_settled(row, change)) {
        return CC_OK;
    }
    if (timestamp_mark_of(row->record)->read > txn->id || (*base)->writer > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE);
    }
    return to_take(cc, txn, row, change, patience, *base);
}

void to_commit(struct cc *cc, struct txn *txn) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        struct row *row = &txn->rows.items[txn->writes.items[i].row];
        if (row->own->absent) {
            timestamp_mark_of(row->record)->erased = txn->id;
        }
    }
    txn_publish(txn, cc->store, false);
    timestamp_end(cc, txn);
}

const struct cc_ops cc_to = {
    .name = "to",
    .summary = "strict timestamp ordering",
    .paper = "Bernstein, Goodman 1980",
    .flags = CC_LOOKS_AGAIN,
    .claim = to_claim,
    .commit = to_commit,
    TO_OPS,
};
