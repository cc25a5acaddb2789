#include "sim/kit/lock.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/kit/lock_parts.h"

void lock_table_start(struct cc *cc) {
    pool_init(&cc->locks, sizeof(struct lock));
    pool_init(&cc->queues, sizeof(struct lock_queue));
}

void lock_table_stop(struct cc *cc) {
    pool_free(&cc->locks);
    pool_free(&cc->queues);
}

/* ---- Lists ---- */

static void list_insert(struct lock **first, struct lock **last, struct lock *before, struct lock *lock) {
    lock->next = before;
    lock->previous = before != NULL ? before->previous : (last != NULL ? *last : NULL);
    if (before != NULL) {
        before->previous = lock;
    } else if (last != NULL) {
        *last = lock;
    }
    if (lock->previous != NULL) {
        lock->previous->next = lock;
    } else {
        *first = lock;
    }
}

static void list_remove(struct lock **first, struct lock **last, struct lock *lock) {
    if (lock->previous != NULL) {
        lock->previous->next = lock->next;
    } else {
        *first = lock->next;
    }
    if (lock->next != NULL) {
        lock->next->previous = lock->previous;
    } else if (last != NULL) {
        *last = lock->previous;
    }
}

static struct lock *new_lock(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode) {
    struct lock *lock = lock_new(cc, txn, row, mode);
    lock->upgrades = NULL;
    lock->aside = false;
    lock->placed = 0;
    return lock;
}

static void unhold(struct txn *txn, struct lock *lock) {
    txn->lock_count--;
    if (txn->held == lock) {
        txn->held = lock->held_next;
        return;
    }
    lock->held_previous->held_next = lock->held_next;
    if (lock->held_next != NULL) {
        lock->held_next->held_previous = lock->held_previous;
    }
}

/* One that was given back is empty, and need not be cleared. */
static struct lock_queue *new_queue(struct cc *cc) {
    bool is_used = pool_has_used(&cc->queues);
    struct lock_queue *more = pool_get(&cc->queues);
    if (!is_used) {
        *more = (struct lock_queue){0};
    }
    return more;
}

static struct lock_queue *queue_of(struct cc *cc, struct lock_head *head) {
    struct lock_queue *more = lock_more(head);
    if (more == NULL) {
        more = new_queue(cc);
        more->granted = head->granted;
        head->word = (uintptr_t)more | 1;
        if (cc->knows_sleepers) {
            lock_find_sleepers(cc, head);
        }
    }
    return more;
}

static void drop_queue_if_empty(struct cc *cc, struct lock_head *head) {
    struct lock_queue *more = lock_more(head);
    if (more->first == NULL && more->gaps == NULL && more->inserts_first == NULL && more->oldest == NULL) {
        if (more->sleepers_first != NULL) {
            lock_forget_sleepers(more);
        }
        head->granted = more->granted;
        pool_put(&cc->queues, more);
    }
}

/* ---- Granting ---- */

/* Can `mode` stand beside the granted locks, `own` (may be NULL) not counted? Invariant 1 makes two looks enough. */
static inline bool fits(struct lock_head *head, const struct lock *own, enum lock_mode mode) {
    const struct lock *first = lock_granted(head);
    if (first == own && first != NULL) {
        first = first->next;
    }
    return first == NULL || !lock_conflict(mode, (enum lock_mode)first->mode);
}

/* Puts a lock among the granted where invariant 1 wants it: behind those it does not cover. */
static void place(struct cc *cc, struct lock_head *head, struct lock *lock) {
    lock->placed = ++cc->placements;
    struct lock_queue *more = lock_more(head);
    if (more != NULL && more->oldest != NULL && lock->owner->age < more->oldest->owner->age) {
        more->oldest = lock;
    }
    struct lock *stronger = NULL, *next = lock_granted(head);
    while (next != NULL && lock_joins[lock->mode][next->mode] != lock->mode) {
        stronger = next;
        next = next->next;
    }
    lock->previous = stronger;
    lock->next = next;
    *(stronger != NULL ? &stronger->next : lock_granted_place(head)) = lock;
    if (next != NULL) {
        next->previous = lock;
    }
    if (lock->mode != MODE_X && lock->owner->state == TXN_WAITING) {
        lock_add_sleeper(cc, lock);
    }
}

/* Notes the statement that reached a mode: the first one, for a SIX may come of a later intention. */
static inline void note_since(struct lock *lock, enum lock_mode mode, uint32_t statement) {
    uint32_t *since = &lock->since[lock_direct(mode)];
    *since = *since == 0 ? statement : *since;
}

static void unlink_granted(struct lock_head *head, struct lock *lock) {
    struct lock **first = lock_granted_place(head);
    if (*first == lock) {
        *first = lock->next;
        return;
    }
    lock->previous->next = lock->next;
    if (lock->next != NULL) {
        lock->next->previous = lock->previous;
    }
}

static void take_away(struct lock_head *head, struct lock *lock) {
    struct lock_queue *more = lock_more(head);
    if (more != NULL && more->oldest == lock) {
        more->oldest = NULL;
    }
    if (lock->sleeps) {
        lock_remove_sleeper(lock);
    }
    unlink_granted(head, lock);
}

static void strengthen(struct cc *cc, struct lock *lock, enum lock_mode mode) {
    take_away(lock->head, lock);
    lock->mode = (uint8_t)mode;
    note_since(lock, mode, lock->owner->statement);
    place(cc, lock->head, lock);
    cc->lock_upgrades++;
}

/* A request for the record leaves the queue. */
static void dequeue(struct lock_queue *more, struct lock *request) {
    if (request == more->upgrades_last) {
        more->upgrades_last = request->previous; /* an upgrade, or there is none */
    } else if (request == more->aside_last) {
        more->aside_last = request->previous != NULL && request->previous->aside ? request->previous : NULL;
    }
    list_remove(&more->first, &more->last, request);
    more->strong -= !lock_only_reads(request->mode);
}

/* The request has left the queue. */
static void grant(struct cc *cc, struct lock_head *head, struct lock *request) {
    struct txn *owner = request->owner;
    owner->queued = NULL;
    if (request->upgrades != NULL) {
        strengthen(cc, request->upgrades, (enum lock_mode)request->mode);
        pool_put(&cc->locks, request);
    } else {
        request->waits = request->aside = false;
        note_since(request, (enum lock_mode)request->mode, owner->statement);
        place(cc, head, request);
        lock_hold(owner, request);
        lock_row(request)->lock = request;
    }
    txn_wake(cc, owner);
}

/* On a record with a queue object, which goes if nothing is left in it: grants from the front of the queue as long as the
 * front can be granted. */
static void grant_waiters(struct cc *cc, struct lock_head *head) {
    struct lock_queue *more = lock_more(head);
    for (struct lock *request; (request = more->first) != NULL;) {
        if (!fits(head, request->upgrades, (enum lock_mode)request->mode)) {
            break;
        }
        dequeue(more, request);
        grant(cc, head, request);
    }
    drop_queue_if_empty(cc, head);
}

bool lock_acquire(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode) {
    struct lock *own = row->lock;
    if (own != NULL) {
        mode = lock_join((enum lock_mode)own->mode, mode);
        if (mode == (enum lock_mode)own->mode) {
            return true;
        }
    }
    struct lock_head *head = lock_head_of(row->record);
    const struct lock_queue *more = lock_more(head);
    const struct lock *ahead = more != NULL ? more->first : NULL;
    if (own != NULL) {
        /* an upgrade waits only behind other upgrades */
        if ((ahead != NULL && ahead->upgrades != NULL) || !fits(head, own, mode)) {
            return false;
        }
        strengthen(cc, own, mode);
        return true;
    }
    if (ahead != NULL || !fits(head, NULL, mode)) {
        return false;
    }
    struct lock *lock = new_lock(cc, txn, row, mode);
    lock->since[lock_direct(mode)] = txn->statement;
    place(cc, head, lock);
    lock_hold(txn, lock);
    row->lock = lock;
    return true;
}

void lock_enqueue(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode) {
    CHECK(txn->queued == NULL);
    struct lock *request = new_lock(cc, txn, row, mode);
    struct lock_queue *more = queue_of(cc, request->head);
    request->waits = true;
    request->upgrades = row->lock;
    struct lock *before = NULL;
    if (request->upgrades != NULL) {
        request->mode = lock_joins[request->upgrades->mode][mode];
        before = more->upgrades_last != NULL ? more->upgrades_last->next : more->first;
        more->upgrades_last = request;
    }
    list_insert(&more->first, &more->last, before, request);
    more->strong += !lock_only_reads(request->mode);
    txn->queued = request;
}

void lock_cancel(struct cc *cc, struct txn *txn) {
    struct lock *request = txn->queued;
    if (request == NULL) {
        return;
    }
    struct lock_head *head = request->head;
    struct lock_queue *more = lock_more(head);
    if (request->gap) {
        list_remove(&more->inserts_first, &more->inserts_last, request);
    } else {
        dequeue(more, request);
    }
    txn->queued = NULL;
    pool_put(&cc->locks, request);
    grant_waiters(cc, head);
}

/* ---- Gaps ---- */

static void wake_inserts(struct cc *cc, const struct lock_head *head, const struct txn *but) {
    for (struct lock *request = lock_more(head)->inserts_first; request != NULL; request = request->next) {
        if (request->owner != but) {
            txn_wake(cc, request->owner);
        }
    }
}

void lock_gap(struct cc *cc, struct txn *txn, struct row *row) {
    if (row->gap != NULL) {
        return;
    }
    struct lock *lock = new_lock(cc, txn, row, MODE_S);
    struct lock_queue *more = queue_of(cc, lock->head);
    lock->gap = true;
    lock->since[MODE_S] = txn->statement;
    list_insert(&more->gaps, NULL, more->gaps, lock);
    lock_hold(txn, lock);
    row->gap = lock;
    wake_inserts(cc, lock->head, txn);
}

bool lock_gap_is_free(const struct txn *txn, struct row *bound) {
    const struct lock_queue *more = lock_more(lock_head_of(bound->record));
    for (const struct lock *lock = more != NULL ? more->gaps : NULL; lock != NULL; lock = lock->next) {
        if (lock->owner != txn) {
            return false;
        }
    }
    return true;
}

bool lock_gap_is_wanted_by_older(const struct txn *txn, const struct row *row) {
    const struct lock_queue *more = lock_more(lock_head_of(row->record));
    const struct lock *insert = more != NULL ? more->inserts_first : NULL;
    while (insert != NULL && (insert->owner->doomed || insert->owner->age >= txn->age)) {
        insert = insert->next;
    }
    return insert != NULL;
}

void lock_gap_enqueue(struct cc *cc, struct txn *txn, struct row *bound) {
    CHECK(txn->queued == NULL);
    struct lock *request = new_lock(cc, txn, bound, MODE_X);
    struct lock_queue *more = queue_of(cc, request->head);
    request->waits = request->gap = true;
    list_insert(&more->inserts_first, &more->inserts_last, NULL, request);
    txn->queued = request;
}

/* ---- Giving back ---- */

static void release_gap(struct cc *cc, struct lock *lock) {
    struct lock_head *head = lock->head;
    list_remove(&lock_more(head)->gaps, NULL, lock);
    lock_row(lock)->gap = NULL;
    unhold(lock->owner, lock);
    pool_put(&cc->locks, lock);
    wake_inserts(cc, head, NULL);
    drop_queue_if_empty(cc, head);
}

static void release(struct cc *cc, struct lock *lock) {
    if (lock->gap) {
        release_gap(cc, lock);
        return;
    }
    struct lock_head *head = lock->head;
    take_away(head, lock);
    lock_row(lock)->lock = NULL;
    unhold(lock->owner, lock);
    pool_put(&cc->locks, lock);
    if (lock_more(head) != NULL) {
        grant_waiters(cc, head);
    }
}

void lock_weaken(struct cc *cc, struct lock *lock, enum lock_mode mode) {
    if (mode == MODE_NONE) {
        release(cc, lock);
        return;
    }
    struct lock_head *head = lock->head;
    CHECK(!lock->gap && mode != (enum lock_mode)lock->mode && lock_covers((enum lock_mode)lock->mode, mode));
    take_away(head, lock);
    for (int above = (int)lock_direct(mode) + 1; above < LOCK_DIRECT; above++) {
        lock->since[above] = 0;
    }
    lock->mode = (uint8_t)mode;
    place(cc, head, lock);
    if (lock_more(head) != NULL) {
        grant_waiters(cc, head);
    }
}

/* Those that nobody waits for stay in the list of what is held and go to the pool as one chain. */
void lock_release_all(struct cc *cc, struct txn *txn) {
    struct lock *last = NULL; /* of those that stay so long */
    uint32_t count = 0;
    for (struct lock *next, *lock = txn->held; lock != NULL; lock = next) {
        next = lock->held_next;
        if (lock->head->granted == lock) { /* first of the granted ones, and there is no queue object */
            lock->head->granted = lock->next;
        } else if (lock_more(lock->head) == NULL) {
            unlink_granted(lock->head, lock);
        } else {
            release(cc, lock);
            continue;
        }
        last = lock;
        count++;
    }
    if (last != NULL) {
        pool_put_chain(&cc->locks, txn->held, last);
        txn->held = NULL;
        txn->lock_count -= count;
    }
}

void lock_step_aside(struct cc *cc, struct lock_head *head) {
    struct lock_queue *more = lock_more(head);
    const struct lock *stays = more->aside_last != NULL ? more->aside_last : more->upgrades_last;
    struct lock *place = stays != NULL ? stays->next : more->first; /* the first that leaves now */
    if (place != NULL) {
        more->aside_last = place;
    }
    for (struct lock *next, *request = place; request != NULL; request = next) {
        next = request->next;
        request->aside = true;
        if (request != place) {
            list_remove(&more->first, &more->last, request);
            list_insert(&more->first, &more->last, place, request);
            place = request;
        }
    }
    grant_waiters(cc, head);
}

/* ---- Who waits for whom ---- */

/* A transaction appears once among the holders and once among the waiters; an upgrade's owner may be both. */
static void add_once(struct txn_list *out, struct txn *txn, size_t begin) {
    for (size_t i = begin; i < out->count; i++) {
        if (out->items[i] == txn) {
            return;
        }
    }
    txn_list_add(out, txn);
}

/* They stand first: what can stand beside one can stand beside all behind it. */
static void add_holders(const struct lock *request, struct txn_list *out, size_t limit) {
    for (const struct lock *lock = lock_granted(request->head); lock != NULL && out->count < limit; lock = lock->next) {
        if (lock->owner == request->owner) {
            continue;
        }
        if (!lock_conflict((enum lock_mode)request->mode, (enum lock_mode)lock->mode)) {
            return;
        }
        txn_list_add(out, lock->owner);
    }
}

static void gap_blockers(const struct lock *request, struct txn_list *out, size_t limit) {
    for (struct lock *lock = lock_more(request->head)->gaps; lock != NULL && out->count < limit; lock = lock->next) {
        if (lock->owner != request->owner) {
            txn_list_add(out, lock->owner);
        }
    }
}

/* Those ahead in the queue; from `begin` on the list has holders. */
static void add_queue(const struct lock *request, struct txn_list *out, size_t limit, size_t begin) {
    size_t holders = out->count;
    for (struct lock *lock = lock_more(request->head)->first; lock != request && out->count < limit;
         lock = lock->next) {
        if (lock->upgrades != NULL && holders > begin) {
            add_once(out, lock->owner, begin);
        } else {
            txn_list_add(out, lock->owner);
        }
    }
}

static void blockers_in_line(const struct lock *request, struct txn_list *out, size_t limit) {
    size_t begin = out->count;
    bool behind_line = request->aside || (request->previous != NULL && request->previous->aside);
    if (behind_line || request->previous == NULL) {
        add_holders(request, out, limit);
    }
    if (!behind_line || out->count == begin) {
        add_queue(request, out, limit, begin);
    }
}

void lock_blockers(const struct txn *waiting, struct txn_list *out, size_t most, bool line_only) {
    const struct lock *request = waiting->queued;
    if (request == NULL) {
        return;
    }
    size_t begin = out->count, limit = most > SIZE_MAX - begin ? SIZE_MAX : begin + most;
    if (request->gap) {
        gap_blockers(request, out, limit);
    } else if (line_only) {
        blockers_in_line(request, out, limit);
    } else {
        add_holders(request, out, limit);
        if (out->count < limit) {
            add_queue(request, out, limit, begin);
        }
    }
}

void lock_holders(const struct txn *waiting, struct txn_list *out) {
    if (waiting->queued->gap) {
        gap_blockers(waiting->queued, out, SIZE_MAX);
    } else {
        add_holders(waiting->queued, out, SIZE_MAX);
    }
}

/* Looked for only when the one that was known has gone: in a crowd of readers that is once for each that gets through,
 * however many ask in between. */
static const struct lock *oldest_of(const struct lock_head *head) {
    struct lock **oldest = &lock_more(head)->oldest;
    for (struct lock *lock = *oldest == NULL ? lock_granted(head) : NULL; lock != NULL; lock = lock->next) {
        *oldest = *oldest == NULL || lock->owner->age < (*oldest)->owner->age ? lock : *oldest;
    }
    return *oldest;
}

/* Those in the way of a weaker mode stand first: what can stand beside one can stand beside all behind it. */
bool lock_older_holds(const struct txn *waiting) {
    const struct lock *request = waiting->queued;
    if (!request->gap && request->mode == MODE_X) {
        return oldest_of(request->head)->owner->age < waiting->age;
    }
    const struct lock *lock = request->gap ? lock_more(request->head)->gaps : lock_granted(request->head);
    bool conflicts = true, older = false;
    for (; lock != NULL && conflicts && !older; lock = lock->next) {
        conflicts = request->gap || lock_conflict((enum lock_mode)request->mode, (enum lock_mode)lock->mode);
        older = conflicts && lock->owner->age < waiting->age;
    }
    return older;
}

const struct lock *lock_live_ahead(const struct lock *request) {
    const struct lock *ahead = request->gap ? NULL : request->previous;
    while (ahead != NULL && ahead->owner->doomed) {
        ahead = ahead->previous;
    }
    return ahead;
}

bool lock_bounds_gap(const struct record *record) {
    const struct lock_head *head = (const struct lock_head *)(const void *)(record + 1);
    return lock_more(head) != NULL && lock_more(head)->gaps != NULL;
}

static void show_list(const struct lock *first, void (*show)(void *user, const struct lock *lock), void *user) {
    for (const struct lock *lock = first; lock != NULL; lock = lock->next) {
        show(user, lock);
    }
}

void lock_each(const struct record *record, void (*show)(void *user, const struct lock *lock), void *user) {
    const struct lock_head *head = (const struct lock_head *)(const void *)(record + 1);
    show_list(lock_granted(head), show, user);
    if (lock_more(head) != NULL) {
        show_list(lock_more(head)->first, show, user);
        show_list(lock_more(head)->gaps, show, user);
        show_list(lock_more(head)->inserts_first, show, user);
    }
}
