#include "sim/kit/rowlock.h"

static void all_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    lock_blockers(waiting, out, most, false);
}

void rowlock_start(struct cc *cc) {
    lock_table_start(cc);
    cc->blockers = all_blockers;
}

static enum cc_status wait_in_line(struct cc *cc, const struct deadlock_options *options, struct txn *txn) {
    enum cc_status status = deadlock_on_wait(cc, options, txn);
    if (status != CC_WAIT) {
        lock_cancel(cc, txn);
    }
    return status;
}

static __attribute__((noinline)) enum cc_status take_slowly(struct cc *cc, const struct deadlock_options *options,
                                                            struct txn *txn, struct row *row, enum lock_mode mode,
                                                            enum patience patience) {
    if (txn->queued != NULL) {
        return wait_in_line(cc, options, txn);
    }
    txn->work.locks++;
    if (lock_acquire(cc, txn, row, mode)) {
        return CC_OK;
    }
    if (patience == NOWAIT) {
        return txn_fail(txn, REASON_NOWAIT);
    }
    if (patience == SKIP_LOCKED) {
        return CC_SKIP;
    }
    lock_enqueue(cc, txn, row, mode);
    return wait_in_line(cc, options, txn);
}

enum cc_status rowlock_take(struct cc *cc, const struct deadlock_options *options, struct txn *txn, struct row *row,
                            enum lock_mode mode, enum patience patience) {
    if (txn->queued != NULL || !lock_acquire_free(cc, txn, row, mode)) {
        return take_slowly(cc, options, txn, row, mode, patience);
    }
    txn->work.locks++;
    return CC_OK;
}

bool rowlock_changed_since(struct cc *cc, const struct txn *txn, struct row *row) {
    return store_committed(cc->store, row->table, row->key, row->record)->stamp > txn->snapshot;
}

enum cc_status rowlock_claim(struct cc *cc, const struct deadlock_options *options, struct txn *txn, struct row *row,
                             enum change change, enum patience patience, struct version **base) {
    enum lock_mode mode = change == LOCK_SHARE ? MODE_S : MODE_X;
    bool held = row->lock != NULL && row->lock->mode >= mode;
    if (!held) {
        if (rowlock_changed_since(cc, txn, row)) {
            return txn_refuse(txn, REASON_WRITE_CONFLICT);
        }
        enum cc_status status = rowlock_take(cc, options, txn, row, mode, patience);
        if (status != CC_OK) {
            return status;
        }
    } else if (row->own == NULL && rowlock_changed_since(cc, txn, row)) { /* granted after a wait, too late */
        return txn_refuse(txn, REASON_WRITE_CONFLICT);
    }
    *base = store_newest(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

void rowlock_give_back(struct cc *cc, struct txn *txn, struct row *row) {
    struct lock *lock = row->lock;
    if (lock == NULL || row->own != NULL || lock->since[lock->mode] != txn->statement) {
        return;
    }
    bool shared = lock->mode == MODE_X && lock->since[MODE_S] != 0 && lock->since[MODE_S] < txn->statement;
    lock_weaken(cc, lock, shared ? MODE_S : MODE_NONE);
}

void rowlock_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    lock_blockers(waiting, out, most, true);
}
