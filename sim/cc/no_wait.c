/* no-wait - rigorous two-phase locking that never waits: a request that conflicts aborts its transaction.
 *
 * No wait, hence no deadlock; the price is restarts, which need a delay to be of use (restart.delay, adaptive unless
 * set): called immediate-restart by Agrawal, Carey and Livny.
 *
 * Invariant: no request is ever queued.
 * Paper: Tay, Goodman, Suri, "Locking performance in centralized databases" (1985).
 * Differs from the paper: U locks and next-key locks as in 2pl. */
#include "sim/cc/cc.h"
#include "sim/kit/locking.h"

struct no_wait_options {
    int phantoms;
};

static const struct option options[] = {
    LOCKING_OPTION_PHANTOMS(struct no_wait_options, phantoms),
};
static const struct option_table table = OPTION_TABLE(options, struct no_wait_options);

static void start(struct cc *cc) {
    const struct no_wait_options *chosen = cc->options;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .reason = REASON_NOWAIT});
}

const struct cc_ops cc_no_wait = {
    .name = "no-wait",
    .summary = "rigorous two-phase locking, a conflict aborts at once",
    .paper = "Tay, Goodman, Suri 1985",
    .levels = LOCKING_LEVELS,
    .level = LEVEL_SER,
    .mixed = LEVEL_SER,
    .flags = CC_RESTART_ADAPTIVE,
    .options = &table,
    .state_size = sizeof(struct locking),
    .start = start,
    LOCKING_OPS,
};
