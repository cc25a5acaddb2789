/* lock-rc - READ COMMITTED by locks: read locks to the end of the statement, write locks to the end.
 *
 * A read waits for the writer of its row, so it sees what is committed; but once its statement is over others may change
 * the row: reads are not repeatable, and who reads, then writes from what it read, can lose another's update between
 * the two. FOR UPDATE, whose locks are long, is the remedy. Deadlocks are detected.
 *
 * Invariants: those of kit/lock.h and kit/locking.h.
 * Paper: Berenson, Bernstein, Gray, Melton, O'Neil, O'Neil, "A critique of ANSI SQL isolation levels" (1995), table 2.
 * Differs from the paper: predicates are locked as next-key ranges; short is to the end of the statement, so that one
 * statement sees one state of what it has read so far. */
#include "sim/cc/cc.h"
#include "sim/kit/duration.h"

static const struct option options[] = {DEADLOCK_OPTIONS(struct duration_options, deadlock, "youngest"),
                                        DEADLOCK_OPTION_ROLLBACK(struct duration_options, deadlock)};
static const struct option_table table = OPTION_TABLE(options, struct duration_options);

const struct cc_ops cc_lock_rc = {
    .name = "lock-rc",
    .summary = "read locks to the end of the statement",
    .paper = "Berenson et al. 1995",
    .levels = 1u << LEVEL_RC,
    .level = LEVEL_RC,
    .options = &table,
    DURATION_OPS,
};
