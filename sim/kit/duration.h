/* duration.h - the levels below serializable as a matter of how long locks are held (Berenson et al. 1995, table 2).
 *
 *                  plain reads: rows        their ranges            writes: rows and ranges
 *   SHORT_NONE     no lock, dirty reads     none                    long        READ UNCOMMITTED
 *   SHORT_ALL      short                    short                   long        READ COMMITTED
 *   SHORT_RANGES   long                     short                   long        REPEATABLE READ
 *
 * Short is to the end of the statement, long to the end of the transaction. FOR SHARE and FOR UPDATE ask for the row
 * itself: long at every level; their ranges are those of a read. A write's range and every row it looked at stay locked,
 * matched or not: the paper's long predicate locks of writes.
 * Rolling back to a savepoint gives up what was locked since, the protection of reads included (contract, law 7).
 *
 * Invariant: between two statements no short lock is held. A plain read only takes locks that its transaction did not
 * have, so short locks are the newest it holds, and releasing them looks at no older one.
 *
 * The instance's state begins with struct duration, the transaction's tail with struct duration_txn. */
#ifndef CCSIM_KIT_DURATION_H
#define CCSIM_KIT_DURATION_H

#include "sim/kit/deadlock.h"
#include "sim/kit/locking.h"

enum short_locks { SHORT_NONE, SHORT_ALL, SHORT_RANGES };

struct duration {
    struct locking locking;
    enum short_locks reads;
};
struct duration_txn {
    uint8_t intent; /* enum intent: of the current statement */
    bool open;      /* is it under way? */
};
/* The options that all these schemes have. */
struct duration_options {
    struct deadlock_options deadlock;
};

/* Locks wait, and deadlocks are treated as the options (which begin with struct duration_options) say. */
void duration_start(struct cc *cc, enum short_locks reads);

enum cc_status duration_statement(struct cc *cc, struct txn *txn, enum intent intent);
enum cc_status duration_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                              enum patience patience);
enum cc_status duration_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                             enum patience patience, struct version **seen);
void duration_statement_end(struct cc *cc, struct txn *txn, bool failed);
void duration_rollback(struct cc *cc, struct txn *txn, uint32_t mark);
void duration_timer(struct cc *cc, struct txn *txn, int tag);

/* The fields of a cc_ops that they fill the same way; what is missing is read and claim, start and the names. */
#define DURATION_FRAME                                                                                         \
    .stop = locking_stop, .begin = locking_begin, .statement = duration_statement, .range = duration_range,    \
    .statement_end = duration_statement_end, .rollback = duration_rollback, .prepare = locking_prepare,        \
    .release = locking_release, .abort = locking_abort, .timer = duration_timer, .blockers = locking_blockers, \
    .bounds_gap = lock_bounds_gap
#define DURATION_OPS DURATION_FRAME, .record_size = sizeof(struct lock_head), .commit = locking_commit

#endif
