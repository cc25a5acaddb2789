/* silo - optimistic control with a version word a record and write locks for the length of a validation.
 *
 * Rules
 *  1. A read takes the newest committed version and remembers its version word, the stamp of the commit that made it;
 *     while the record is locked it waits (NOWAIT: fails, SKIP LOCKED: leaves the row out). Writes are private.
 *  2. prepare locks the records of the write set in the order of keys, waiting for those that are taken, and with all of
 *     them in hand it validates: each record read must still have the version word it was read with and be locked by
 *     nobody else. A sealed transaction so counts as committed: what it locks it will overwrite.
 *  3. Scanned ranges are walked again, tombstones included: nothing may have come, gone or changed that the scan did not
 *     read as it is now, and nothing in them be locked, rows about to be inserted included.
 *  4. When validation has been paid for (cpu_validate: the locks are held all the while) the writes are installed with
 *     the next stamp and the locks are given up: before the log is forced. The transaction answers when its own force
 *     and those of all it read from are done (exec/durable.c), as Silo's epochs make it.
 *
 * Invariants: the serial order is that of the validations, those of a write set being in one order with all that conflict;
 * a lock is waited for in the order of keys by those who prepare, and by readers that hold none: no deadlock (kit/writelock.h).
 * Paper: Tu, Zheng, Kohler, Liskov, Madden, "Speedy transactions in multicore in-memory databases" (2013).
 * Differs from the paper: all that is compared is compared in the instant in which the last lock is had; its price, the
 * time for which the locks are held, comes after. Who meets a lock waits and is woken instead of spinning. Epochs
 * are replaced by what they are for: each waits for the forces it depends on, not for everyone's. Ranges are
 * re-validated by rows, not by the nodes of an index. Locking reads are plain reads; a write that needs nothing of its row
 * depends on its being there only. */
#include "sim/cc/cc.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/validation.h"
#include "sim/kit/writelock.h"

static enum cc_status silo_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

/* The snapshot is never read: it keeps the tombstones that the validation of ranges has to meet. */
static enum cc_status silo_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status silo_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                enum patience patience, struct version **seen) {
    (void)intent;
    enum cc_status status = row->own != NULL ? CC_OK : writelock_await(txn, row, patience);
    if (status == CC_OK) {
        *seen = validation_read(cc, row);
    }
    return status;
}

static enum cc_status silo_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                 enum patience patience, struct version **base) {
    (void)change;
    enum cc_status status = row->own != NULL ? CC_OK : writelock_await(txn, row, patience);
    if (status == CC_OK) {
        *base = validation_base(cc, row);
    }
    return status;
}

static void silo_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    (void)txn;
    (void)mark;
}

static enum cc_status silo_prepare(struct cc *cc, struct txn *txn) {
    if (writelock_take(txn) == CC_WAIT) {
        return CC_WAIT;
    }
    return validation_passes(cc, txn, true, writelock_is_others) ? CC_OK : txn_refuse(txn, REASON_VALIDATION);
}

static void silo_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, true);
    writelock_release(cc, txn);
    snapshot_close(cc, txn);
}

static void silo_abort(struct cc *cc, struct txn *txn) {
    writelock_release(cc, txn);
    snapshot_close(cc, txn);
}

const struct cc_ops cc_silo = {
    .name = "silo",
    .summary = "optimistic, write locks during validation, published before the log force",
    .paper = "Tu, Zheng, Kohler, Liskov, Madden 2013",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_PRIVATE_WRITES | CC_KEEPS_TOMBSTONES | CC_LOOKS_AGAIN | CC_EARLY_PUBLISH,
    .state_size = 1,
    .txn_size = sizeof(struct writelock_txn),
    .record_size = sizeof(struct writelock_head),
    .begin = silo_begin,
    .statement = silo_statement,
    .read = silo_read,
    .claim = silo_claim,
    .rollback = silo_rollback,
    .prepare = silo_prepare,
    .commit = silo_commit,
    .abort = silo_abort,
    .blockers = writelock_blockers,
    .bounds_gap = writelock_bounds_gap,
};
