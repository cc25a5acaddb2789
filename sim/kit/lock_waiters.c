/* lock_waiters.c - visits to those whom a transaction waits for, and to those who wait for it: lock_blockers seen from the
 * other side, from what it holds.
 *
 * A visit can end the walk, so that a decision which one of a crowd settles is not delayed by the others. For who waits
 * only the queues of the transaction's own locks are looked at: the time is that of its locks and of those who wait for
 * them, whoever else waits. */
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

/* The owners of the requests that wait for this lock, in its record's queue. Behind a reader those who want to read as well
 * do not, and where nobody else is left the walk ends: a queue of readers may be long. */
static bool visit_queue(struct cc *cc, const struct lock *lock, const struct lock_queue *more, lock_visit *visit) {
    size_t left = lock_only_reads(lock->mode) ? more->strong : SIZE_MAX;
    for (const struct lock *request = more->first; request != NULL && left > 0; request = request->next) {
        left -= !lock_only_reads(request->mode);
        bool conflicts = lock_conflict((enum lock_mode)request->mode, (enum lock_mode)lock->mode);
        if (conflicts && request->owner != lock->owner && visit(cc, lock->owner, request->owner)) {
            return true;
        }
    }
    return false;
}

static bool visit_inserts(struct cc *cc, const struct lock *gap, const struct lock_queue *more, lock_visit *visit) {
    for (const struct lock *request = more->inserts_first; request != NULL; request = request->next) {
        if (request->owner != gap->owner && visit(cc, gap->owner, request->owner)) {
            return true;
        }
    }
    return false;
}

bool lock_visit_waiters(struct cc *cc, const struct txn *holder, lock_visit *visit) {
    for (const struct lock *lock = holder->held; lock != NULL; lock = lock->held_next) {
        const struct lock_queue *more = lock_more(lock->head);
        if (more != NULL && (lock->gap ? visit_inserts : visit_queue)(cc, lock, more, visit)) {
            return true;
        }
    }
    return false;
}

/* Those in the way of a request for a record stand first: what can stand beside one can stand beside all behind it. */
bool lock_visit_holders(struct cc *cc, struct txn *waiting, lock_visit *visit) {
    const struct lock *request = waiting->queued;
    const struct lock *lock = request->gap ? lock_more(request->head)->gaps : lock_granted(request->head);
    for (; lock != NULL; lock = lock->next) {
        if (lock->owner == waiting) {
            continue;
        }
        if (!request->gap && !lock_conflict((enum lock_mode)request->mode, (enum lock_mode)lock->mode)) {
            return false;
        }
        if (visit(cc, waiting, lock->owner)) {
            return true;
        }
    }
    return false;
}

bool lock_visit_blockers(struct cc *cc, struct txn *waiting, lock_visit *visit) {
    if (lock_visit_holders(cc, waiting, visit)) {
        return true;
    }
    const struct lock *request = waiting->queued;
    const struct lock *ahead = request->gap ? request : lock_more(request->head)->first;
    for (; ahead != request; ahead = ahead->next) {
        if (visit(cc, waiting, ahead->owner)) {
            return true;
        }
    }
    return false;
}
