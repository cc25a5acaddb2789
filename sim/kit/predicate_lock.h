/* predicate_lock.h - locks on what a scan asked for: the rows of a range that satisfy a condition, those not yet there
 * included.
 *
 * A table has one line of entries in order of arrival: predicates that scans hold, predicates that wait, changes that
 * wait. A change that was granted leaves the line: from then on its version speaks for it, under the X lock on its row.
 * A predicate and a change are in conflict if the change makes a row of the range satisfy the condition that no version
 * of it satisfies yet, committed or pending. If one does, the row itself is between them: a scan locks what matches or may
 * come to match, so it either has its lock, or waits for the one that is changing it, and will see the change. Predicates
 * never conflict with each other, nor do changes.
 *
 * Invariants
 *  1. An entry waits exactly if another transaction's entry before it, granted or not, is in conflict with it: nobody
 *     overtakes, so that scans cannot starve a change.
 *  2. A transaction waits for one entry at most (txn->predicate_queued), and then for no lock.
 * Eswaran, Gray, Lorie, Traiger, "The notions of consistency and predicate locks in a database system" (1976). There
 * whether two predicates can have a row in common is the hard question; here a change is one row with its two images. */
#ifndef CCSIM_KIT_PREDICATE_LOCK_H
#define CCSIM_KIT_PREDICATE_LOCK_H

#include "sim/kit/instance.h"

struct predicate_lock {
    struct predicate_lock *next, *previous; /* in the table's line */
    struct predicate_lock *held_next;       /* of its owner, newest first */
    struct txn *owner;
    const struct table *table;
    bool waits, is_change;
    uint32_t statement; /* that asked for it */
    int64_t first, last;
    struct condition condition;
    uint32_t row;       /* of a change: its number in owner->rows; its key is `first` */
    struct image after; /* and what becomes of it */
};

struct predicate_locks {
    struct pool pool;
    struct {
        struct predicate_lock *first, *last;
    } lines[STORE_TABLES_MAX];
};

void predicate_locks_start(struct predicate_locks *locks);
void predicate_locks_stop(struct predicate_locks *locks);

/* Does the present statement hold the predicate of its scan? NULL: it does not. */
static inline const struct predicate_lock *predicate_lock_of_statement(const struct txn *txn) {
    const struct predicate_lock *newest = txn->predicates;
    return newest != NULL && newest->statement == txn->statement ? newest : NULL;
}

/* Takes the predicate of a scan, or queues for it (again, after a hint); false: it waits. */
bool predicate_lock_scan(struct cc *cc, struct predicate_locks *locks, struct txn *txn, const struct range *range);

/* May the row, which is locked X, become so? Queues if not; false: it waits. Once it may, nothing is kept. */
bool predicate_lock_change(struct cc *cc, struct predicate_locks *locks, struct txn *txn, const struct row *row,
                           struct image after);

/* Leaves the line, if it stands in one. */
void predicate_lock_cancel(struct cc *cc, struct predicate_locks *locks, struct txn *txn);

/* Gives back what statement `mark` and later ones took; 0: everything. */
void predicate_lock_release(struct cc *cc, struct predicate_locks *locks, struct txn *txn, uint32_t mark);

/* Adds whom the waiting transaction waits for, at most `most`, without repetition: those who hold what is in conflict
 * with it and, unless `holders_only`, those before it in the line. */
void predicate_lock_blockers(const struct txn *waiting, struct txn_list *out, size_t most, bool holders_only);

/* May somebody wait for it in the line of a table? The lines are not looked through. */
static inline bool predicate_lock_may_block(const struct txn *txn) {
    return txn->predicates != NULL || txn->predicate_queued != NULL;
}

/* The statement that asked for the oldest predicate of `holder` for which `waiting` waits; `otherwise` if there is none. */
uint32_t predicate_lock_mark(const struct txn *holder, const struct txn *waiting, uint32_t otherwise);

/* Could a version of the row that is visible, or pending, satisfy the condition? If none does, whatever becomes of the
 * pending ones, a scan need not wait for them. */
bool predicate_may_match(const struct predicate_lock *predicate, const struct row *row, const struct version *newest);

#endif
