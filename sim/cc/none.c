/* none - grants everything, and promises serializability all the same: the canary that audits and checkers must catch.
 *
 * Reads see the newest version, committed or not; writes go on top of it; nothing waits, nothing is refused.
 * Differs from the paper: there is none; Adya (1999) calls what is left below even PL-1. */
#include "sim/cc/cc.h"

static enum cc_status grant(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static enum cc_status none_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    return grant(cc, txn);
}

static enum cc_status none_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                enum patience patience, struct version **seen) {
    (void)txn;
    (void)intent;
    (void)patience;
    *seen = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

static enum cc_status none_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                 enum patience patience, struct version **base) {
    (void)txn;
    (void)change;
    (void)patience;
    *base = store_newest(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

static void none_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    (void)txn;
    (void)mark;
}

static void none_commit(struct cc *cc, struct txn *txn) { txn_publish(txn, cc->store, false); }

static void none_abort(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
}

static void none_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    (void)waiting;
    (void)out;
    (void)most;
}

const struct cc_ops cc_none = {
    .name = "none",
    .summary = "grants everything: the canary that must be caught",
    .paper = "none",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_NO_CERTIFICATE,
    .begin = grant,
    .statement = none_statement,
    .read = none_read,
    .claim = none_claim,
    .rollback = none_rollback,
    .prepare = grant,
    .commit = none_commit,
    .abort = none_abort,
    .blockers = none_blockers,
};
