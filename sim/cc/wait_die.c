/* wait-die - rigorous two-phase locking in which only the old wait for the young.
 *
 * A requester waits if it is older than everyone it would wait for - incompatible holders and waiters ahead - and
 * dies otherwise. An upgrade overtakes waiters, who from then on wait for it too: those younger than it die. So every
 * edge of the waits-for graph goes from an older to a younger transaction, and no cycle can close. Age is that of
 * the first
 * begin: who dies often enough becomes the oldest.
 *
 * Invariant: whoever waits is older than whom it waits for.
 * Paper: Rosenkrantz, Stearns, Lewis, "System level concurrency control for distributed database systems" (1978).
 * Differs from the paper: queues are FIFO, so waiters ahead count as much as holders; U and next-key locks. */
#include "sim/cc/cc.h"
#include "sim/kit/locking.h"

struct wait_die_options {
    int phantoms;
};

static const struct option options[] = {
    LOCKING_OPTION_PHANTOMS(struct wait_die_options, phantoms),
};
static const struct option_table table = OPTION_TABLE(options, struct wait_die_options);

/* In the line of a table's predicate locks, which is short. */
static bool older_stands_ahead(struct cc *cc, const struct txn *txn) {
    struct txn_list *list = &cc->search;
    list->count = 0;
    locking_blockers(cc, txn, list, SIZE_MAX);
    bool older = false;
    for (size_t i = 0; i < list->count; i++) {
        older = older || list->items[i]->age < txn->age;
    }
    return older;
}

/* Called anew after every hint, because a new gap lock may be an older one. */
static enum cc_status conflict(struct cc *cc, struct txn *txn) {
    if (txn->predicate_queued != NULL ? older_stands_ahead(cc, txn) : lock_older_holds(txn)) {
        return txn_refuse(txn, REASON_WAIT_DIE);
    }
    /* Who waits is older than everyone ahead of it: the nearest one speaks for all. */
    const struct lock *ahead = txn->queued != NULL ? lock_live_ahead(txn->queued) : NULL;
    if (ahead != NULL && ahead->owner->age < txn->age) {
        return txn_refuse(txn, REASON_WAIT_DIE);
    }
    struct txn_list *list = &cc->search;
    list->count = 0;
    lock_overtaken(txn, list);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->age > txn->age) {
            txn_doom(cc, list->items[i], REASON_WAIT_DIE);
        }
    }
    return CC_WAIT;
}

static void start(struct cc *cc) {
    const struct wait_die_options *chosen = cc->options;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .waits = true, .conflict = conflict});
}

const struct cc_ops cc_wait_die = {
    .name = "wait-die",
    .summary = "rigorous two-phase locking, the younger requester dies",
    .paper = "Rosenkrantz, Stearns, Lewis 1978",
    .levels = LOCKING_LEVELS,
    .level = LEVEL_SER,
    .mixed = LEVEL_SER,
    .flags = CC_RESTART_ADAPTIVE,
    .options = &table,
    .state_size = sizeof(struct locking),
    .start = start,
    LOCKING_OPS,
};
