/* lock-rr - REPEATABLE READ by locks: rows read stay locked to the end, ranges only to the end of the statement.
 *
 * S on every row a read looks at, X on what is written, both to the end; the gaps of a scan are given back when its
 * statement ends, so that a row inserted afterwards is a phantom for the next scan. Rows read cannot change: no lost
 * update, no write skew on rows. Deadlocks are detected.
 *
 * Invariants: those of kit/lock.h and kit/locking.h.
 * Paper: Berenson, Bernstein, Gray, Melton, O'Neil, O'Neil, "A critique of ANSI SQL isolation levels" (1995), table 2.
 * Differs from the paper: predicates are locked as next-key ranges, a scan's unmatched rows as rows; short is to the end
 * of the statement; FOR UPDATE takes U. */
#include "sim/cc/cc.h"
#include "sim/kit/duration.h"

static const struct option options[] = {DEADLOCK_OPTIONS(struct duration_options, deadlock, "youngest"),
                                        DEADLOCK_OPTION_ROLLBACK(struct duration_options, deadlock)};
static const struct option_table table = OPTION_TABLE(options, struct duration_options);

const struct cc_ops cc_lock_rr = {
    .name = "lock-rr",
    .summary = "long locks on rows, short ones on ranges",
    .paper = "Berenson et al. 1995",
    .levels = 1u << LEVEL_RR,
    .level = LEVEL_RR,
    .options = &table,
    DURATION_OPS,
};
