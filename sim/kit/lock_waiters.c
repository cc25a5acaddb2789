/* lock_waiters.c - who waits for a transaction: lock_blockers seen from the other side, from what it holds.
 *
 * Only the queues of its own locks are looked at: the time is that of its locks and of those who wait for them, whoever
 * else waits. */
#include "sim/kit/lock_parts.h"

void lock_overtaken(const struct txn *waiting, struct txn_list *out) {
    const struct lock *request = waiting->queued;
    if (request == NULL || request->upgrades == NULL) {
        return;
    }
    for (struct lock *lock = request->next; lock != NULL; lock = lock->next) {
        txn_list_add(out, lock->owner);
    }
}

bool lock_is_waited_for(const struct txn *txn) {
    for (const struct lock *lock = txn->held; lock != NULL; lock = lock->held_next) {
        const struct lock_queue *more = lock_more(lock->head);
        if (more != NULL && (more->first != NULL || more->inserts_first != NULL)) {
            return true;
        }
    }
    /* an upgrade that overtook others is waited for as well */
    return txn->queued != NULL && txn->queued->next != NULL;
}

/* Appends the owners of the requests, in one queue, that wait for this lock. */
static void add_waiters(const struct lock *lock, const struct lock *request, struct txn_list *out) {
    for (; request != NULL; request = request->next) {
        bool conflicts = lock->gap || lock_conflict((enum lock_mode)request->mode, (enum lock_mode)lock->mode);
        if (conflicts && request->owner != lock->owner) {
            txn_list_add(out, request->owner);
        }
    }
}

void lock_waiters(const struct txn *holder, struct txn_list *out) {
    for (const struct lock *lock = holder->held; lock != NULL; lock = lock->held_next) {
        const struct lock_queue *more = lock_more(lock->head);
        if (more != NULL) {
            add_waiters(lock, lock->gap ? more->inserts_first : more->first, out);
        }
    }
}
