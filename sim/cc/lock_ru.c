/* lock-ru - READ UNCOMMITTED by locks: plain reads take no locks at all, write locks are held to the end.
 *
 * A read sees the newest version, committed or not, and never waits: dirty reads. Writers lock, so that nobody overwrites
 * what is not committed (no G0), and a rollback restores what was there. A statement that writes sees the rows it writes
 * under X: an increment in one statement loses nothing, a value read before does. Deadlocks are detected.
 *
 * Invariants: those of kit/lock.h and kit/locking.h.
 * Paper: Berenson, Bernstein, Gray, Melton, O'Neil, O'Neil, "A critique of ANSI SQL isolation levels" (1995), table 2.
 * Differs from the paper: predicates of writes are locked as next-key ranges; the transactions may write, which the
 * standard leaves to the other levels. */
#include "sim/cc/cc.h"
#include "sim/kit/duration.h"

static const struct option options[] = {DEADLOCK_OPTIONS(struct duration_options, deadlock, "youngest"),
                                        DEADLOCK_OPTION_ROLLBACK(struct duration_options, deadlock)};
static const struct option_table table = OPTION_TABLE(options, struct duration_options);

const struct cc_ops cc_lock_ru = {
    .name = "lock-ru",
    .summary = "reads without locks, write locks to the end",
    .paper = "Berenson et al. 1995",
    .levels = 1u << LEVEL_RU,
    .level = LEVEL_RU,
    .options = &table,
    DURATION_OPS,
};
