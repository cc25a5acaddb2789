/* 2pl-timeout - rigorous two-phase locking that takes a long wait for a deadlock: who has waited for lock_timeout
 * aborts.
 *
 * No graph, no search; deadlocks last as long as the timeout, and long waits that are no deadlock are cut off too.
 *
 * Invariant: nobody waits longer than lock_timeout.
 * Paper: none; the way of many products. Gray and Reuter (1993), chapter 7, discuss it.
 * Differs from the paper: nothing. */
#include "sim/cc/cc.h"
#include "sim/kit/locking.h"

struct timeout_options {
    int64_t lock_timeout_ns;
    int phantoms;
};

static const struct option options[] = {
    {.name = "lock_timeout",
     .type = OPTION_DURATION,
     .offset = offsetof(struct timeout_options, lock_timeout_ns),
     .fallback = "50ms",
     .help = "a wait that lasts so long aborts the transaction"},
    LOCKING_OPTION_PHANTOMS(struct timeout_options, phantoms),
};
static const struct option_table table = OPTION_TABLE(options, struct timeout_options);

/* The timer belongs to the wait: hints do not start it anew. */
static enum cc_status conflict(struct cc *cc, struct txn *txn) {
    const struct timeout_options *chosen = cc->options;
    if (txn->state != TXN_WAITING) {
        txn_timer(cc, txn, chosen->lock_timeout_ns, 0);
    }
    return CC_WAIT;
}

static void timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    txn_doom(cc, txn, REASON_TIMEOUT);
}

static void start(struct cc *cc) {
    const struct timeout_options *chosen = cc->options;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .waits = true, .conflict = conflict});
}

const struct cc_ops cc_2pl_timeout = {
    .name = "2pl-timeout",
    .summary = "rigorous two-phase locking, long waits abort",
    .paper = "none",
    .levels = LOCKING_LEVELS,
    .level = LEVEL_SER,
    .mixed = LEVEL_SER,
    .timer = timer,
    .options = &table,
    .state_size = sizeof(struct locking),
    .start = start,
    LOCKING_OPS,
};
