/* wound-wait - rigorous two-phase locking in which only the young wait for the old.
 *
 * A requester wounds (aborts) every younger transaction it would wait for - incompatible holders and waiters ahead -
 * and waits for the older ones. An upgrade that overtakes an older waiter is wounded by it in turn. So every edge of
 * the
 * waits-for graph goes from a younger to an older transaction, but for edges to wounded ones, which are about to
 * end, and
 * to sealed ones, which are past every wait and are never wounded.
 *
 * Invariant: whoever waits is younger than whom it waits for, the wounded and the sealed excepted.
 * Paper: Rosenkrantz, Stearns, Lewis, "System level concurrency control for distributed database systems" (1978).
 * Differs from the paper: queues are FIFO, so waiters ahead count as much as holders; U and next-key locks. */
#include "sim/cc/cc.h"
#include "sim/kit/locking.h"

struct wound_wait_options {
    int phantoms;
};

static const struct option options[] = {
    LOCKING_OPTION_PHANTOMS(struct wound_wait_options, phantoms),
};
static const struct option_table table = OPTION_TABLE(options, struct wound_wait_options);

static bool wound_if_younger(struct cc *cc, const struct txn *txn, struct txn *holder) {
    if (holder->age > txn->age) {
        txn_doom(cc, holder, REASON_WOUNDED);
    }
    return false;
}

/* In the line of a table's predicate locks, which is short. */
static void wound_in_line(struct cc *cc, const struct txn *txn) {
    struct txn_list *list = &cc->search;
    list->count = 0;
    locking_blockers(cc, txn, list, SIZE_MAX);
    for (size_t i = 0; i < list->count; i++) {
        wound_if_younger(cc, txn, list->items[i]);
    }
}

/* Called anew after every hint, because a new gap lock may be a younger one. */
static enum cc_status conflict(struct cc *cc, struct txn *txn) {
    struct txn_list *list = &cc->search;
    list->count = 0;
    lock_overtaken(txn, list);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->age < txn->age) {
            return txn_refuse(txn, REASON_WOUNDED);
        }
    }
    if (txn->predicate_queued != NULL) {
        wound_in_line(cc, txn);
    } else {
        lock_visit_holders(cc, txn, wound_if_younger);
    }
    /* Who waits is younger than everyone ahead of it: behind the first older one there is nobody to wound. */
    const struct lock *ahead = txn->queued != NULL ? lock_live_ahead(txn->queued) : NULL;
    for (; ahead != NULL && ahead->owner->age > txn->age; ahead = lock_live_ahead(ahead)) {
        txn_doom(cc, ahead->owner, REASON_WOUNDED);
    }
    return CC_WAIT;
}

/* A younger one that steps into the gap an older insert waits for is wounded before it has done so: else two scanners
 * could keep it out for ever, each coming back before the other is gone. */
static enum cc_status gap(struct cc *cc, struct txn *txn, struct row *row) {
    (void)cc;
    return lock_gap_is_wanted_by_older(txn, row) ? txn_refuse(txn, REASON_WOUNDED) : CC_OK;
}

static void start(struct cc *cc) {
    const struct wound_wait_options *chosen = cc->options;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .waits = true, .conflict = conflict, .gap = gap});
}

const struct cc_ops cc_wound_wait = {
    .name = "wound-wait",
    .summary = "rigorous two-phase locking, the older requester wounds",
    .paper = "Rosenkrantz, Stearns, Lewis 1978",
    .levels = LOCKING_LEVELS,
    .level = LEVEL_SER,
    .mixed = LEVEL_SER,
    .options = &table,
    .state_size = sizeof(struct locking),
    .start = start,
    LOCKING_OPS,
};
