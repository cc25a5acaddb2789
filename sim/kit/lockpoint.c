#include "sim/kit/lockpoint.h"

#include "sim/base/check.h"

static struct lockpoint *lockpoint_of(const struct cc *cc) { return cc->state; }
static struct lockpoint_txn *tail_of(const struct txn *txn) { return txn->tail; }

static const struct deadlock_options *deadlock_of(const struct cc *cc) {
    return &((const struct lockpoint_options *)cc->options)->deadlock;
}

static enum cc_status conflict(struct cc *cc, struct txn *txn) { return deadlock_on_wait(cc, deadlock_of(cc), txn); }

void lockpoint_timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, deadlock_of(cc), txn);
}

void lockpoint_start(struct cc *cc, bool keeps_writes) {
    const struct lockpoint_options *chosen = cc->options;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .waits = true, .conflict = conflict});
    lockpoint_of(cc)->keeps_writes = keeps_writes;
}

/* ---- Growing ---- */

/* Every request is counted as work: so it is seen whether one was made. */
static enum cc_status check_grows(const struct txn *txn, uint32_t requests, enum cc_status status) {
    CHECK_MSG(!tail_of(txn)->reached || txn->work.locks == requests, "a lock is asked for after the lock point");
    return status;
}

enum cc_status lockpoint_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                               enum patience patience) {
    uint32_t requests = txn->work.locks;
    return check_grows(txn, requests, locking_range(cc, txn, range, intent, patience));
}

enum cc_status lockpoint_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                              enum patience patience, struct version **seen) {
    uint32_t requests = txn->work.locks;
    return check_grows(txn, requests, locking_read(cc, txn, row, intent, patience, seen));
}

enum cc_status lockpoint_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                               enum patience patience, struct version **base) {
    uint32_t requests = txn->work.locks;
    return check_grows(txn, requests, locking_claim(cc, txn, row, change, patience, base));
}

/* ---- Shrinking ---- */

static bool is_still_needed(struct cc *cc, const struct txn *txn, const struct lock *lock) {
    const struct row *row = &txn->rows.items[lock->row];
    if (lock->gap) {
        return false;
    }
    bool written = lock->mode == MODE_X && row->own != NULL;
    return (written && lockpoint_of(cc)->keeps_writes) || cc->harness->uses_again(cc->harness->world, txn, row);
}

static void shrink(struct cc *cc, struct txn *txn) {
    struct lock *next;
    for (struct lock *lock = txn->held; lock != NULL; lock = next) {
        next = lock->held_next;
        if (!is_still_needed(cc, txn, lock)) {
            lock_weaken(cc, lock, MODE_NONE);
        }
    }
}

/* With predicate locks each change asks anew, though its row is locked: it is the last one where no row is used again. */
static bool may_ask_again(struct cc *cc, const struct txn *txn) {
    bool asks = false;
    if (((const struct lockpoint_options *)cc->options)->phantoms == PHANTOMS_PREDICATE) {
        for (const struct lock *lock = txn->held; lock != NULL && !asks; lock = lock->held_next) {
            asks = cc->harness->uses_again(cc->harness->world, txn, &txn->rows.items[lock->row]);
        }
    }
    return asks;
}

void lockpoint_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    struct lockpoint_txn *tail = tail_of(txn);
    locking_statement_end(cc, txn, failed);
    tail->told = tail->told || (txn->last_lock && !failed);
    tail->reached = tail->reached || (tail->told && !may_ask_again(cc, txn));
    if (tail->reached) {
        shrink(cc, txn);
    }
}

void lockpoint_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    locking_rollback(cc, txn, mark);
    if (tail_of(txn)->reached) {
        shrink(cc, txn);
    }
}

enum cc_status lockpoint_prepare(struct cc *cc, struct txn *txn) {
    tail_of(txn)->reached = true;
    shrink(cc, txn);
    return CC_OK;
}
