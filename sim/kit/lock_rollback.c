/* lock_rollback.c - what is left of the locks when statements are undone. */
#include "sim/kit/lock.h"

enum lock_mode lock_before(const struct lock *lock, uint32_t mark) {
    for (int mode = MODE_X; mode > MODE_NONE; mode--) {
        if (lock->since[mode] != 0 && lock->since[mode] < mark) {
            return (enum lock_mode)mode;
        }
    }
    return MODE_NONE;
}

enum lock_mode lock_left(struct lock *lock, uint32_t mark, bool read) {
    enum lock_mode mode = lock_before(lock, mark);
    if (!read || mode != MODE_NONE) {
        return mode;
    }
    for (int reached = MODE_X; reached > MODE_S && lock->since[MODE_S] == 0; reached--) {
        lock->since[MODE_S] = lock->since[reached];
    }
    return MODE_S;
}

void lock_rollback(struct cc *cc, struct txn *txn, uint32_t mark, bool keeps_reads) {
    struct lock *next;
    for (struct lock *lock = txn->held; lock != NULL; lock = next) {
        next = lock->held_next;
        if (lock->gap) {
            if (!keeps_reads && lock->since[MODE_S] >= mark) {
                lock_weaken(cc, lock, MODE_NONE);
            }
            continue;
        }
        bool read = lock_row(lock)->read_statement != 0 || lock->mode == MODE_S;
        enum lock_mode mode = lock_left(lock, mark, keeps_reads && read);
        if (mode != (enum lock_mode)lock->mode) {
            lock_weaken(cc, lock, mode);
        }
    }
}

void lock_forget_statement(struct cc *cc, struct txn *txn, uint32_t statement) {
    struct lock *next;
    for (struct lock *lock = txn->held; lock != NULL; lock = next) {
        next = lock->held_next;
        if (lock_before(lock, statement) == MODE_NONE && !lock_row(lock)->kept) {
            lock_weaken(cc, lock, MODE_NONE);
        }
    }
}
