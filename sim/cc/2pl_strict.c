/* 2pl-strict - strict two-phase locking: what was read is free again at the lock point, what was written at the end.
 *
 * As `2pl`, but S and U locks, and those on gaps, go when the transaction has its last lock and has used the row for the
 * last time; X locks stay until the deferred writes are done. So nobody sees or overwrites what may be undone: no
 * cascades. An X under which nothing was written is only a read lock and goes as such.
 *
 * Invariants: those of kit/lockpoint.h and kit/lock.h. Serialized in the order of lock points: of two that conflict by a
 * read the reader may be the one that commits later.
 * Paper: Bernstein, Hadzilacos, Goodman, "Concurrency control and recovery in database systems" (1987), section 3.2.
 * Differs from the paper: ranges are protected by next-key locks; a program may say where its lock point is, else it is at
 * prepare. */
#include "sim/cc/cc.h"
#include "sim/kit/lockpoint.h"

static const struct option options[] = {LOCKPOINT_OPTIONS};
static const struct option_table table = OPTION_TABLE(options, struct lockpoint_options);

static void start(struct cc *cc) { lockpoint_start(cc, true); }

const struct cc_ops cc_2pl_strict = {
    .name = "2pl-strict",
    .summary = "two-phase locking, reads unlocked at the lock point",
    .paper = "Bernstein, Hadzilacos, Goodman 1987",
    .options = &table,
    .state_size = sizeof(struct lockpoint),
    .txn_size = sizeof(struct lockpoint_txn),
    .start = start,
    .stop = locking_stop,
    .read = lockpoint_read,
    .claim = lockpoint_claim,
    .statement_end = lockpoint_statement_end,
    .rollback = lockpoint_rollback,
    .prepare = lockpoint_prepare,
    .commit = locking_commit,
    .abort = locking_abort,
    .blockers = locking_blockers,
    LOCKPOINT_OPS,
};
