/* duration.h - the levels below serializable as algorithms of their own: every transaction holds its locks as long as that
 * level wants (locking.h), waits, and deadlocks are detected. */
#ifndef CCSIM_KIT_DURATION_H
#define CCSIM_KIT_DURATION_H

#include "sim/kit/deadlock.h"
#include "sim/kit/locking.h"

/* The options that all these schemes have. */
struct duration_options {
    struct deadlock_options deadlock;
};

/* Locks wait, and deadlocks are treated as the options (which begin with struct duration_options) say. */
void duration_start(struct cc *cc);
void duration_timer(struct cc *cc, struct txn *txn, int tag);

/* The fields of a cc_ops that they fill the same way; what is missing is the level and the names. */
#define DURATION_OPS .state_size = sizeof(struct locking), .start = duration_start, .timer = duration_timer, LOCKING_OPS

#endif
