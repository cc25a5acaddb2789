/* to-thomas - timestamp ordering with Thomas's write rule.
 *
 * As `to`, but a write by key that needs nothing of its row may come late for writes, though not for reads. It is left
 * out if the younger write is committed, and then changes no row; it is put beneath the younger one if that is not, and
 * stands if that one aborts. If the younger one commits first, it is left out at the commit.
 *
 * Invariants, beside those of `to`
 *  1. The versions of a row are in order of timestamps; uncommitted ones may be of several transactions.
 *  2. A write by key that found its row there relies on that: no delete is put beneath it.
 * Paper: Thomas, "A majority consensus approach to concurrency control for multiple copy databases" (1979).
 * Differs from the paper: strict, so an obsolete write may still be needed, as long as the younger one can abort. */
#include "sim/cc/to.h"

static enum cc_status thomas_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                   enum patience patience, struct version **base) {
    *base = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
    if (!to_is_settled(row, change)) {
        if (timestamp_mark_of(row->record)->read > txn->id) {
            return txn_refuse(txn, REASON_TS_LATE);
        }
        for (; (*base)->writer > txn->id; *base = (*base)->older) {
            if ((*base)->stamp != 0) {
                return CC_SKIP;
            }
        }
        enum cc_status status = to_take(cc, txn, row, change, patience, *base);
        if (status != CC_OK) {
            return status;
        }
    }
    if (change == PUT_DELETE && *base != row->record->newest) {
        return txn_refuse(txn, REASON_TS_LATE); /* invariant 2 */
    }
    return CC_OK;
}

/* Leaves out what a younger one has overwritten and committed meanwhile. */
static void drop_obsolete(struct cc *cc, struct txn *txn) {
    size_t kept = 0;
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct write *write = &txn->writes.items[i];
        struct row *row = &txn->rows.items[write->row];
        bool last = write->version == row->own;
        if (!store_is_obsolete(cc->store, row->record, write->version)) {
            txn->writes.items[kept++] = *write;
            continue;
        }
        row->own = last ? NULL : row->own;
        store_discard(cc->store, row->table, row->key, row->record, write->version);
    }
    txn->writes.count = kept;
}

static void thomas_commit(struct cc *cc, struct txn *txn) {
    drop_obsolete(cc, txn);
    to_commit(cc, txn);
}

const struct cc_ops cc_to_thomas = {
    .name = "to-thomas",
    .summary = "strict timestamp ordering with Thomas's write rule",
    .paper = "Thomas 1979",
    .flags = CC_SKIPS_OBSOLETE | CC_LOOKS_AGAIN,
    .state_size = sizeof(struct timestamp_state),
    .txn_size = sizeof(struct timestamp_txn),
    .stop = timestamp_stop,
    .read = to_read,
    .claim = thomas_claim,
    .rollback = timestamp_rollback,
    .prepare = timestamp_prepare,
    .commit = thomas_commit,
    .abort = timestamp_end,
    .blockers = timestamp_blockers,
    TO_OPS,
};
