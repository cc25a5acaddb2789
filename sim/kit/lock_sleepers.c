/* lock_sleepers.c - which of those who hold a lock wait themselves: the only ones that a search for deadlocks can go on
 * from.
 *
 * A crowd of readers may hold what one of them wants to write, and hardly any of them waits for anything. So a record
 * with a queue lists the granted locks whose owners wait, the sleepers, in the order of the granted locks: a search
 * finds the same transactions in the same order as by a look at every holder, and looks at no others. Beside X stands
 * nobody: it is looked at itself, and never listed.
 *
 * Invariants (since the first call of lock_sleep: who never searches pays nothing)
 *  1. Where there is a queue object, every granted lock but X whose owner waits is among the sleepers. Others may be: an
 *     owner that goes on leaves its locks there until a search passes them, so that each is taken out once.
 *  2. The granted locks, and so the sleepers, stand in order of strength and, where that is equal, the latest first. */
#include "sim/base/check.h"
#include "sim/kit/lock_parts.h"

/* Modes that can be held beside each other, by strength; those that cannot never meet in one list. */
static const uint8_t strength[MODE_COUNT] = {
    [MODE_IS] = 1, [MODE_S] = 2, [MODE_IX] = 2, [MODE_U] = 3, [MODE_SIX] = 4, [MODE_X] = 5};

static bool stands_before(const struct lock *a, const struct lock *b) {
    return a->mode != b->mode ? strength[a->mode] > strength[b->mode] : a->placed > b->placed;
}

void lock_add_sleeper(struct cc *cc, struct lock *lock) {
    struct lock_queue *more = lock_more(lock->head);
    if (!cc->knows_sleepers || more == NULL || lock->sleeps || lock->mode == MODE_X) {
        return;
    }
    struct lock *next = more->sleepers_first;
    if (more->sleepers_last != NULL && stands_before(more->sleepers_last, lock)) {
        next = NULL;
    }
    while (next != NULL && stands_before(next, lock)) {
        next = next->sleeper_next;
    }
    struct lock *previous = next != NULL ? next->sleeper_previous : more->sleepers_last;
    lock->sleeper_next = next;
    lock->sleeper_previous = previous;
    *(previous != NULL ? &previous->sleeper_next : &more->sleepers_first) = lock;
    *(next != NULL ? &next->sleeper_previous : &more->sleepers_last) = lock;
    lock->sleeps = true;
}

void lock_remove_sleeper(struct lock *lock) {
    struct lock_queue *more = lock_more(lock->head);
    CHECK(more != NULL && lock->sleeps);
    struct lock *next = lock->sleeper_next, *previous = lock->sleeper_previous;
    *(previous != NULL ? &previous->sleeper_next : &more->sleepers_first) = next;
    *(next != NULL ? &next->sleeper_previous : &more->sleepers_last) = previous;
    lock->sleeps = false;
}

void lock_find_sleepers(struct cc *cc, struct lock_head *head) {
    for (struct lock *lock = cc->knows_sleepers ? lock_granted(head) : NULL; lock != NULL; lock = lock->next) {
        if (lock->owner->state == TXN_WAITING) {
            lock_add_sleeper(cc, lock);
        }
    }
}

void lock_forget_sleepers(struct lock_queue *more) {
    while (more->sleepers_first != NULL) {
        lock_remove_sleeper(more->sleepers_first);
    }
}

static void add_locks(struct cc *cc, struct txn *txn) {
    for (struct lock *lock = txn->held; lock != NULL; lock = lock->held_next) {
        if (lock->mode != MODE_X && !lock->gap) { /* X needs no look at its record */
            lock_add_sleeper(cc, lock);
        }
    }
}

void lock_sleep(struct cc *cc, struct txn *txn) {
    struct txn *waiting = cc->knows_sleepers ? NULL : cc->waiting_first;
    cc->knows_sleepers = true;
    for (; waiting != NULL; waiting = waiting->wait_next) {
        add_locks(cc, waiting);
    }
    add_locks(cc, txn);
}

/* Appends those who hold what the request, for a record, conflicts with and wait themselves. */
static void add_sleepers(const struct lock *request, struct txn_list *out) {
    const struct lock *first = lock_granted(request->head);
    if (first != NULL && first->mode == MODE_X) {
        if (first->owner->state == TXN_WAITING && first->owner != request->owner) {
            txn_list_add(out, first->owner);
        }
        return;
    }
    for (struct lock *next, *lock = lock_more(request->head)->sleepers_first; lock != NULL; lock = next) {
        next = lock->sleeper_next;
        if (lock->owner->state != TXN_WAITING) {
            lock_remove_sleeper(lock);
        } else if (lock->owner != request->owner &&
                   lock_conflict((enum lock_mode)request->mode, (enum lock_mode)lock->mode)) {
            txn_list_add(out, lock->owner);
        }
    }
}

void lock_sleeping_holders(const struct txn *waiting, struct txn_list *out) {
    if (waiting->queued->gap) {
        lock_holders(waiting, out);
    } else {
        add_sleepers(waiting->queued, out);
    }
}

void lock_sleeping_blockers(const struct txn *waiting, struct txn_list *out) {
    const struct lock *request = waiting->queued;
    if (request == NULL || request->gap) {
        lock_blockers(waiting, out, SIZE_MAX, false);
        return;
    }
    add_sleepers(request, out);
    const enum lock_mode wanted = (enum lock_mode)request->mode;
    for (const struct lock *ahead = lock_more(request->head)->first; ahead != request; ahead = ahead->next) {
        const struct lock *held = ahead->upgrades;
        bool added = held != NULL && held->sleeps && lock_conflict(wanted, (enum lock_mode)held->mode);
        if (!added) {
            txn_list_add(out, ahead->owner);
        }
    }
}
