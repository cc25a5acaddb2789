/* lockpoint.h - two-phase locking that gives locks back before the end: the growing phase ends at the lock point, where
 * the last new lock was obtained; from then on locks may go.
 *
 * The lock point is the end of the statement with txn->last_lock, if it does not fail; at the latest it is prepare. From
 * there on a lock goes at the end of each statement, and when a savepoint is rolled back to, unless the row will be used
 * again (harness uses_again) or, where that is chosen, the transaction wrote it: then it stays to the end. An X under
 * which nothing was written only protects a read, and goes like one.
 *
 * Invariants
 *  1. After the lock point no lock is asked for. So the order of lock points serializes, though that of commits may not.
 *  2. Who is beyond its lock point never waits for a lock.
 *
 * The instance's state begins with struct lockpoint, the transaction's tail with struct lockpoint_txn. */
#ifndef CCSIM_KIT_LOCKPOINT_H
#define CCSIM_KIT_LOCKPOINT_H

#include "sim/kit/deadlock.h"
#include "sim/kit/locking.h"

struct lockpoint {
    struct locking locking;
    bool keeps_writes; /* X on rows written stays to the end */
};
struct lockpoint_txn {
    bool told; /* that it has taken its last lock */
    bool reached;
};
/* The options of such a scheme begin with it. */
struct lockpoint_options {
    struct deadlock_options deadlock;
    int phantoms;
};

/* The rows of its option table. */
#define LOCKPOINT_OPTIONS                                             \
    DEADLOCK_OPTIONS(struct lockpoint_options, deadlock, "youngest"), \
        LOCKING_OPTION_PHANTOMS(struct lockpoint_options, phantoms)

/* Locks wait; deadlocks and phantoms are treated as the options (which begin with struct lockpoint_options) say. */
void lockpoint_start(struct cc *cc, bool keeps_writes);

enum cc_status lockpoint_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                               enum patience patience);
enum cc_status lockpoint_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                              enum patience patience, struct version **seen);
enum cc_status lockpoint_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                               enum patience patience, struct version **base);
void lockpoint_statement_end(struct cc *cc, struct txn *txn, bool failed);
void lockpoint_rollback(struct cc *cc, struct txn *txn, uint32_t mark);
enum cc_status lockpoint_prepare(struct cc *cc, struct txn *txn);
void lockpoint_timer(struct cc *cc, struct txn *txn, int tag);

/* The fields of a cc_ops that all of them fill the same way. */
#define LOCKPOINT_OPS                                                                                               \
    .levels = 1u << LEVEL_SER, .level = LEVEL_SER, .record_size = sizeof(struct lock_head), .begin = locking_begin, \
    .range = lockpoint_range, .release = locking_release, .timer = lockpoint_timer, .bounds_gap = lock_bounds_gap

#endif
