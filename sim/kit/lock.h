/* lock.h - the lock table: locks on records with a FIFO queue each, and locks on the gaps before them. What is coarser
 * than a record (kit/granule.h) is locked as a record of its own, which announces by the intention modes what is locked
 * beneath it.
 *
 * A record's lock head lives in its tail: the granted locks or, only while it is needed, a queue object for them, waiters
 * and gap locks.
 *
 * Invariants
 *  1. The granted locks stand in order of strength, the strongest first (of two that stand beside each other one covers
 *     the other), so that a grant is one comparison: what can stand beside the first can stand beside all.
 *  2. A request is granted if it is compatible with every granted lock of others and nobody waits before it. Upgrades
 *     stand before new requests, in order of arrival among themselves.
 *  3. A transaction waits for at most one request; what it waits for is granted before it is woken.
 *  4. Gap locks are compatible with each other; only an insert into the gap waits for them. A new gap lock wakes the
 *  inserts
 *     that wait there, so that they look again at whom they wait for.
 * Gray and Reuter, Transaction Processing (1993), chapter 8; next-key locking after Mohan, ARIES/KVL (1990). */
#ifndef CCSIM_KIT_LOCK_H
#define CCSIM_KIT_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/kit/instance.h"
#include "sim/kit/lock_mode.h"

/* What a lock on a record of its own has to say stands on the first cache line, in as few stores as can be; the rest is
 * about others on the record. */
struct lock {
    _Alignas(MEMORY_LINE) struct lock *held_next; /* of its owner, newest first; first here: pool_put_chain */
    struct lock *held_previous;                   /* means nothing in the newest */
    struct lock *next;                            /* among the granted, in the queue, or among the gap locks */
    struct txn *owner;
    struct lock_head *head;
    uint32_t row; /* number in owner->rows */
    uint8_t mode; /* granted, or wanted while it waits */
    bool waits, gap;
    bool sleeps; /* it stands among its record's sleepers, see lock_sleepers.c */
    /* The statement that reached each mode, 0: never; of a gap lock: since[MODE_S]. The first place is anything. */
    uint32_t since[LOCK_DIRECT];
    struct lock *previous; /* means nothing in the first of the granted; begins the second line */
    /* Order of its coming among the granted. Who finds a record free keeps the number of an earlier life, which is
     * smaller than those of all that come beside it. */
    uint64_t placed;
    struct lock *upgrades; /* a waiting upgrade: the granted lock it would strengthen */
    bool aside;            /* a request that left the line, see lock_step_aside */
    struct lock *sleeper_next, *sleeper_previous;
};
_Static_assert(offsetof(struct lock, held_next) == 0, "locks held are chained as a pool wants them");
_Static_assert(offsetof(struct lock, previous) == MEMORY_LINE, "the common case fills one");

/* In the tail of a record: first among the algorithm's bytes there. One word, since there is one for every row of the
 * database: 0, nobody has or wants it; the first granted lock, if nobody waits and there is no gap lock; else the queue
 * object, marked by the lowest bit, which then has the granted ones, too. */
struct lock_head {
    union {
        struct lock *granted;
        uintptr_t word;
    };
};

static inline struct lock_queue *lock_more(const struct lock_head *head) {
    return (head->word & 1) != 0 ? (struct lock_queue *)(head->word - 1) : NULL;
}
/* The first granted lock; where that is noted (it stands first in a queue object). */
static inline struct lock *lock_granted(const struct lock_head *head) {
    return (head->word & 1) != 0 ? *(struct lock *const *)(head->word - 1) : head->granted;
}
static inline struct lock **lock_granted_place(struct lock_head *head) {
    return (head->word & 1) != 0 ? (struct lock **)(head->word - 1) : &head->granted;
}

void lock_table_start(struct cc *cc);
void lock_table_stop(struct cc *cc);

/* The row that a lock is on, as its owner knows it. */
static inline struct row *lock_row(const struct lock *lock) { return &lock->owner->rows.items[lock->row]; }

static inline struct lock_head *lock_head_of(struct record *record) { return (struct lock_head *)record_tail(record); }

/* Its first cache line, but for the list it enters. */
static inline struct lock *lock_new(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode) {
    struct lock *lock = (struct lock *)pool_get(&cc->locks);
    lock->next = NULL;
    lock->owner = txn;
    lock->head = lock_head_of(row->record);
    lock->row = txn_row_number(txn, row);
    lock->mode = (uint8_t)mode;
    lock->waits = lock->gap = lock->sleeps = false;
    lock->since[MODE_NONE] = lock->since[MODE_S] = lock->since[MODE_U] = lock->since[MODE_X] = 0;
    return lock;
}

/* Enters a granted lock into the list of what its owner holds. */
static inline void lock_hold(struct txn *txn, struct lock *lock) {
    lock->held_next = txn->held;
    if (txn->held != NULL) {
        txn->held->held_previous = lock;
    }
    txn->held = lock;
    txn->lock_count++;
}

/* What almost every request meets, a record that nobody has or wants (nor `txn` itself): takes it, in a direct mode. False:
 * it is not so, or no lock is at hand that was used before (so that nothing here is a call). */
static inline bool lock_acquire_free(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode) {
    struct lock_head *head = lock_head_of(row->record);
    if (head->word != 0 || !pool_has_used(&cc->locks)) {
        return false;
    }
    struct lock *lock = lock_new(cc, txn, row, mode);
    lock->since[mode] = txn->statement;
    head->granted = row->lock = lock;
    lock_hold(txn, lock);
    return true;
}

/* Takes or strengthens the lock of `row` if that is possible at once; false: it conflicts, and nothing has changed. */
bool lock_acquire(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode);

/* Queues for a lock that could not be acquired; afterwards txn->queued is the request. */
void lock_enqueue(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode);

/* Leaves the queue (nothing happens if it is in none); who can be granted now is. */
void lock_cancel(struct cc *cc, struct txn *txn);

/* Takes the gap before `row`; never waits. */
void lock_gap(struct cc *cc, struct txn *txn, struct row *row);

/* May `txn` insert into the gap before `bound`? True unless others hold it. */
bool lock_gap_is_free(const struct txn *txn, struct row *bound);
/* Does an insert of an older transaction that is not doomed wait for the gap before `row`? */
bool lock_gap_is_wanted_by_older(const struct txn *txn, const struct row *row);
/* Queues an insert behind the gap locks of others. */
void lock_gap_enqueue(struct cc *cc, struct txn *txn, struct row *bound);

/* Weakens a granted lock, to MODE_NONE to release it. */
void lock_weaken(struct cc *cc, struct lock *lock, enum lock_mode mode);
/* All of them, at the end of the attempt: its rows go on pointing at locks that are gone. */
void lock_release_all(struct cc *cc, struct txn *txn);

/* Those who wait for the record leave the line: newcomers queue behind them but, as is shown, not for them. Who left at
 * the same time is granted in the opposite order. Upgrades stay where they are. */
void lock_step_aside(struct cc *cc, struct lock_head *head);

/* The strongest direct mode that the lock had before statement `mark`. */
enum lock_mode lock_before(const struct lock *lock, uint32_t mark);
/* The same, but at least S, as of its first statement, if the lock protects what was read. */
enum lock_mode lock_left(struct lock *lock, uint32_t mark, bool read);

/* Back to what was held before statement `mark`: keeps_reads: reads stay protected by S and gap locks (DESIGN, law
 * 7). */
void lock_rollback(struct cc *cc, struct txn *txn, uint32_t mark, bool keeps_reads);
/* After lock_rollback for a failed statement: drops what only that statement took. */
void lock_forget_statement(struct cc *cc, struct txn *txn, uint32_t statement);

/* Whom the waiting transaction waits for, at most `most`, without repetition: incompatible holders and everyone
 * ahead in
 * the queue; or, `line_only`, holders for the first in line and only those ahead for the rest. */
void lock_blockers(const struct txn *waiting, struct txn_list *out, size_t most, bool line_only);

/* `txn` waits, or is about to: while it does, it is found among those who hold something and wait. The first call, before
 * the first search, makes all who wait known; from then on (cc->knows_sleepers) each wait is to be told. */
void lock_sleep(struct cc *cc, struct txn *txn);
/* lock_blockers as far as they wait themselves, in the same order, without a look at those who do not. */
void lock_sleeping_blockers(const struct txn *waiting, struct txn_list *out);

/* The first part of lock_blockers: those who hold what the request conflicts with. */
void lock_holders(const struct txn *waiting, struct txn_list *out);
/* lock_holders as far as they wait themselves (of a gap: all), like lock_sleeping_blockers. */
void lock_sleeping_holders(const struct txn *waiting, struct txn_list *out);

/* Calls `visit` for one after another until it answers true, and says whether one did; it may doom whom it visits. Visited
 * are, in this order, those in lock_holders or in lock_blockers of a transaction that is queued (there may be repetitions);
 * those, in no order that means anything, among whose lock_holders `holder` is. */
typedef bool lock_visit(struct cc *cc, const struct txn *txn, struct txn *visited);
bool lock_visit_holders(struct cc *cc, struct txn *waiting, lock_visit *visit);
bool lock_visit_blockers(struct cc *cc, struct txn *waiting, lock_visit *visit);
bool lock_visit_waiters(struct cc *cc, const struct txn *holder, lock_visit *visit);

/* Is one of them older than the one who waits? */
bool lock_older_holds(const struct txn *waiting);

/* The nearest request ahead in the queue whose owner is not doomed, or NULL (also for an insert: its queue is no
 * line). */
const struct lock *lock_live_ahead(const struct lock *request);

/* The waiters a just queued upgrade overtook: who now waits for it. */
void lock_overtaken(const struct txn *waiting, struct txn_list *out);

/* Does anybody wait for a lock that `txn` holds? */
bool lock_is_waited_for(const struct txn *txn);

/* cc_ops.bounds_gap of every algorithm with this lock table. */
bool lock_bounds_gap(const struct record *record);

/* Every lock and request on a record, for display: the granted ones, who queues in order, gap locks, inserts that
 * wait. */
void lock_each(const struct record *record, void (*show)(void *user, const struct lock *lock), void *user);

static inline void txn_list_add(struct txn_list *list, struct txn *txn) { vector_push(list, txn); }

#endif
