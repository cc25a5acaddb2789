/* si - snapshot isolation, first updater wins.
 *
 * Every read sees the versions committed when the transaction took its snapshot, at its first statement. A write, a
 * locking read or an insert locks the row; if the row changed since the snapshot the transaction aborts at once, if
 * another is changing it, it waits in FIFO order for that one's end: commit means abort, abort means the row is free.
 * Reads never wait. A cycle of waiting writers is a deadlock, by default at the cost of the one that closes it.
 *
 * Invariants: a row has at most one uncommitted version, its lock holder's; every version an open snapshot sees is
 * kept.
 * Paper: Berenson, Bernstein, Gray, Melton, O'Neil, O'Neil, "A critique of ANSI SQL isolation levels" (1995); first
 * updater wins as in PostgreSQL.
 * Differs from the paper: conflicts are found at the write, not at commit; the snapshot is taken by the first
 * statement. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/rowlock.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/versions.h"

struct si_options {
    struct deadlock_options deadlock;
    struct version_options versions;
};

static const struct option options[] = {DEADLOCK_OPTIONS(struct si_options, deadlock, "requester"),
                                        VERSION_OPTIONS(struct si_options, versions)};
static const struct option_table table = OPTION_TABLE(options, struct si_options);

static const struct deadlock_options *deadlock_of(const struct cc *cc) {
    return &((const struct si_options *)cc->options)->deadlock;
}

static void si_start(struct cc *cc) {
    rowlock_start(cc);
    versions_start(cc, &((const struct si_options *)cc->options)->versions);
}

static enum cc_status si_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static enum cc_status si_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status si_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                              enum patience patience, struct version **seen) {
    (void)intent;
    (void)patience;
    *seen = snapshot_version(cc, txn, row);
    return CC_OK;
}

static enum cc_status si_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                               enum patience patience, struct version **base) {
    return rowlock_claim(cc, deadlock_of(cc), txn, row, change, patience, base);
}

static void si_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        lock_forget_statement(cc, txn, txn->statement);
    }
}

static void si_rollback(struct cc *cc, struct txn *txn, uint32_t mark) { lock_rollback(cc, txn, mark, false); }

static enum cc_status si_prepare(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static void si_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, false);
    snapshot_close(cc, txn);
}

static void si_release(struct cc *cc, struct txn *txn) { lock_release_all(cc, txn); }

static void si_abort(struct cc *cc, struct txn *txn) {
    lock_cancel(cc, txn);
    lock_release_all(cc, txn);
    snapshot_close(cc, txn);
}

static void si_timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, deadlock_of(cc), txn);
}

const struct cc_ops cc_si = {
    .name = "si",
    .summary = "snapshot isolation, first updater wins",
    .paper = "Berenson et al. 1995",
    .levels = 1u << LEVEL_SI,
    .level = LEVEL_SI,
    .flags = CC_KEEPS_VERSIONS | CC_KEEPS_TOMBSTONES,
    .options = &table,
    .state_size = 1,
    .record_size = sizeof(struct lock_head),
    .start = si_start,
    .stop = lock_table_stop,
    .begin = si_begin,
    .statement = si_statement,
    .read = si_read,
    .claim = si_claim,
    .statement_end = si_statement_end,
    .rollback = si_rollback,
    .prepare = si_prepare,
    .commit = si_commit,
    .release = si_release,
    .abort = si_abort,
    .timer = si_timer,
    .blockers = rowlock_blockers,
    .bounds_gap = lock_bounds_gap,
};
