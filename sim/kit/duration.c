#include "sim/kit/duration.h"

static const struct duration *duration_of(const struct cc *cc) { return cc->state; }
static struct duration_txn *tail_of(const struct txn *txn) { return txn->tail; }

static const struct deadlock_options *deadlock_of(const struct cc *cc) {
    return &((const struct duration_options *)cc->options)->deadlock;
}

static enum cc_status conflict(struct cc *cc, struct txn *txn) { return deadlock_on_wait(cc, deadlock_of(cc), txn); }

void duration_timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, deadlock_of(cc), txn);
}

void duration_start(struct cc *cc, enum short_locks reads) {
    locking_start(cc, (struct locking){.phantoms = PHANTOMS_NEXT_KEY, .waits = true, .conflict = conflict});
    ((struct duration *)cc->state)->reads = reads;
}

enum cc_status duration_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)cc;
    *tail_of(txn) = (struct duration_txn){.intent = (uint8_t)intent, .open = true};
    return CC_OK;
}

enum cc_status duration_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                              enum patience patience) {
    if (duration_of(cc)->reads == SHORT_NONE && intent != SEE_WRITE) {
        return CC_OK;
    }
    return locking_range(cc, txn, range, intent, patience);
}

enum cc_status duration_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                             enum patience patience, struct version **seen) {
    if (duration_of(cc)->reads == SHORT_NONE && intent == SEE) {
        *seen = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
        return CC_OK;
    }
    return locking_read(cc, txn, row, intent, patience, seen);
}

static bool is_older(const struct lock *lock, uint32_t statement) {
    for (int mode = MODE_S; mode < MODE_COUNT; mode++) {
        if (lock->since[mode] != 0 && lock->since[mode] < statement) {
            return true;
        }
    }
    return false;
}

/* A row locked S in a statement that is no FOR SHARE was read plainly: by it, or as the source of what it writes. */
static bool is_short(const struct cc *cc, enum intent intent, const struct lock *lock) {
    if (lock->gap) {
        return intent != SEE_WRITE;
    }
    return duration_of(cc)->reads == SHORT_ALL && lock->mode == MODE_S && intent != SEE_SHARE;
}

void duration_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    struct duration_txn *tail = tail_of(txn);
    locking_statement_end(cc, txn, failed);
    struct lock *next;
    for (struct lock *lock = txn->held; lock != NULL && !is_older(lock, txn->statement); lock = next) {
        next = lock->held_next;
        if (is_short(cc, (enum intent)tail->intent, lock)) {
            lock_weaken(cc, lock, MODE_NONE);
        }
    }
    tail->open = false;
}

/* A statement that failed keeps the duplicate key it met, where reads are kept at all; a savepoint keeps nothing. */
void duration_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    lock_rollback(cc, txn, mark, tail_of(txn)->open && duration_of(cc)->reads == SHORT_RANGES);
}
