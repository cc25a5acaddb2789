/* mvcc-rc - read committed over versions: a snapshot for each statement.
 *
 * Rules. A statement reads as of the moment it began, and never waits to read. A write locks its row until the end of
 * the transaction; so does a locking read. Writes and locking reads look for their rows in the statement's snapshot and
 * lock only what matches there; then they take the row's newest version, which one that committed meanwhile may have
 * left, and test their condition again on it. A row that is gone or no longer matches is passed over and not kept
 * locked; a row that only now matches is not found. A deadlock is found on waiting.
 *
 * Waiters on a row are first come, first served, as long as its version stays. When a change of it commits, the first in
 * line gets the row; the others then wait side by side for that one's end, outside of the line: newcomers come after
 * them, and of those who left the line together the last goes first. So it was measured on a real engine, where all of
 * them run for the new version at once.
 *
 * Invariants: an uncommitted version belongs to the holder of the row's X lock, and is the newest of its row; a
 * snapshot is open during a statement only.
 * Paper: Berenson et al., "A critique of ANSI SQL isolation levels" (1995), "Oracle read consistency"; the second test
 * of the condition as in PostgreSQL.
 * Differs from the paper: rows are locked one by one as the statement comes to them, and a statement whose row was
 * changed goes on with the new version of that row instead of being started again. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/rowlock.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/versions.h"

struct mvcc_rc_options {
    struct deadlock_options deadlock;
    struct version_options versions;
};

static const struct option options[] = {DEADLOCK_OPTIONS(struct mvcc_rc_options, deadlock, "requester"),
                                        VERSION_OPTIONS(struct mvcc_rc_options, versions)};
static const struct option_table table = OPTION_TABLE(options, struct mvcc_rc_options);

static const struct deadlock_options *deadlock_of(const struct cc *cc) {
    return &((const struct mvcc_rc_options *)cc->options)->deadlock;
}

static void mvcc_rc_start(struct cc *cc) {
    rowlock_start(cc);
    versions_start(cc, &((const struct mvcc_rc_options *)cc->options)->versions);
}

static enum cc_status mvcc_rc_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static enum cc_status mvcc_rc_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    CHECK(txn->snapshot == 0);
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status mvcc_rc_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                   enum patience patience, struct version **seen) {
    (void)intent;
    (void)patience;
    *seen = snapshot_version(cc, txn, row);
    return CC_OK;
}

static enum cc_status mvcc_rc_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                    enum patience patience, struct version **base) {
    enum lock_mode mode = change == LOCK_SHARE ? MODE_S : MODE_X;
    if (row->lock == NULL || row->lock->mode < mode) {
        enum cc_status status = rowlock_take(cc, deadlock_of(cc), txn, row, mode, patience);
        if (status != CC_OK) {
            return status;
        }
    }
    *base = store_newest(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

static void mvcc_rc_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        lock_forget_statement(cc, txn, txn->statement);
    }
    snapshot_close(cc, txn);
}

static void mvcc_rc_rollback(struct cc *cc, struct txn *txn, uint32_t mark) { lock_rollback(cc, txn, mark, false); }

static enum cc_status mvcc_rc_prepare(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static void mvcc_rc_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, false);
    snapshot_close(cc, txn);
}

/* Who waited for a row that has changed goes after its new version, and the line dissolves. */
static void mvcc_rc_release(struct cc *cc, struct txn *txn) {
    if (!lock_is_waited_for(txn)) {
        lock_release_all(cc, txn);
    }
    while (txn->held != NULL) {
        struct lock_head *head = txn->held->head;
        bool changed = txn->rows.items[txn->held->row].own != NULL;
        lock_weaken(cc, txn->held, MODE_NONE);
        if (changed && lock_more(head) != NULL) {
            lock_step_aside(cc, head);
        }
    }
}

static void mvcc_rc_abort(struct cc *cc, struct txn *txn) {
    lock_cancel(cc, txn);
    lock_release_all(cc, txn);
    snapshot_close(cc, txn);
}

static void mvcc_rc_timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, deadlock_of(cc), txn);
}

const struct cc_ops cc_mvcc_rc = {
    .name = "mvcc-rc",
    .summary = "read committed: a snapshot for each statement, writes on the newest version",
    .paper = "Berenson et al. 1995",
    .levels = 1u << LEVEL_RC,
    .level = LEVEL_RC,
    .flags = CC_KEEPS_VERSIONS | CC_KEEPS_TOMBSTONES,
    .options = &table,
    .state_size = 1,
    .record_size = sizeof(struct lock_head),
    .start = mvcc_rc_start,
    .stop = lock_table_stop,
    .begin = mvcc_rc_begin,
    .statement = mvcc_rc_statement,
    .read = mvcc_rc_read,
    .claim = mvcc_rc_claim,
    .unmatched = rowlock_give_back,
    .statement_end = mvcc_rc_statement_end,
    .rollback = mvcc_rc_rollback,
    .prepare = mvcc_rc_prepare,
    .commit = mvcc_rc_commit,
    .release = mvcc_rc_release,
    .abort = mvcc_rc_abort,
    .timer = mvcc_rc_timer,
    .blockers = rowlock_blockers,
    .bounds_gap = lock_bounds_gap,
};
