/* wait-depth - rigorous two-phase locking in which nobody waits for one who waits: wait-depth limit 1.
 *
 * A request that conflicts waits only while every chain of waiters stays one deep. It would grow to two in two ways, and
 * the one in the middle of the chain decides how it is cut:
 *   a requester whose own locks are waited for: it is refused, unless it is at least as long as all who wait for it and
 *     all it would wait for, those ahead in the queue included: then the latter are aborted in its favour;
 *   a requester that meets a holder who waits: the holder is aborted, unless it is at least as long as the requester and
 *     all it waits for: then the requester is refused.
 * Length is the number of locks held, the work that an abort would waste; one that is committing counts as longest and
 * is never aborted. With priority = running the one in the middle is always aborted: who runs goes before who waits.
 *
 * Invariants: no transaction waits for a lock held by a live one that waits; so there is no deadlock, and no search.
 * Who is waited for by nobody may stand in a queue: those ahead of it wait for holders who run.
 * Paper: Franaszek, Robinson, Thomasian, "Concurrency control for high contention environments" (1992), WDL(1).
 * Differs from the paper: length is counted in locks; insertions into gaps wait for the holders of the gap. */
#include "sim/cc/cc.h"
#include "sim/kit/locking.h"

enum priority { PRIORITY_LENGTH, PRIORITY_RUNNING };
struct depth_options {
    int priority;
    int phantoms;
};

static const char *const priority_choices[] = {"length", "running", NULL};
static const struct option options[] = {
    {.name = "priority",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct depth_options, priority),
     .fallback = "length",
     .choices = priority_choices,
     .help =
         "who goes on when a chain of waiters gets too deep: the transaction with more locks, or the one that runs"},
    LOCKING_OPTION_PHANTOMS(struct depth_options, phantoms),
};
static const struct option_table table = OPTION_TABLE(options, struct depth_options);

static uint32_t length_of(const struct txn *txn) { return txn->state == TXN_SEALED ? UINT32_MAX : txn->lock_count; }

static bool is_live(struct cc *cc, const struct txn *txn, struct txn *other) {
    (void)cc;
    (void)txn;
    return !other->doomed;
}

/* Does the other one keep `txn` from being at least as long as everyone? */
static bool is_longer(struct cc *cc, const struct txn *txn, struct txn *other) {
    (void)cc;
    return !other->doomed && length_of(other) > length_of(txn);
}

static bool doom_live(struct cc *cc, const struct txn *txn, struct txn *other) {
    (void)txn;
    if (!other->doomed) {
        txn_doom(cc, other, REASON_DEPTH);
    }
    return false;
}

static bool who_runs_goes_first(const struct cc *cc) {
    return ((const struct depth_options *)cc->options)->priority == PRIORITY_RUNNING;
}

/* A waiter that stands in the line of a table: does it wait for `txn`? */
static bool waits_in_line_for(struct cc *cc, const struct txn *waiter, const struct txn *txn) {
    struct txn_list *list = &cc->search;
    size_t begin = list->count;
    locking_holders(waiter, list);
    bool waits = false;
    for (size_t i = begin; i < list->count; i++) {
        waits |= list->items[i] == txn;
    }
    list->count = begin;
    return waits;
}

/* Is one who waits for a lock that `txn` holds as asked for? */
static bool any_waiter(struct cc *cc, const struct txn *txn, lock_visit *is_it) {
    bool found = lock_visit_waiters(cc, txn, is_it);
    struct txn *waiter = predicate_lock_may_block(txn) ? cc->waiting_first : NULL;
    for (; waiter != NULL && !found; waiter = waiter->wait_next) {
        found = waiter->predicate_queued != NULL && waiter != txn && is_it(cc, txn, waiter) &&
                waits_in_line_for(cc, waiter, txn);
    }
    return found;
}

/* Calls `visit` for those whom it waits for, or the holders among them, until it answers true. */
static bool visit_blockers(struct cc *cc, struct txn *waiting, lock_visit *visit, bool holders_only) {
    if (waiting->predicate_queued == NULL) {
        return holders_only ? lock_visit_holders(cc, waiting, visit) : lock_visit_blockers(cc, waiting, visit);
    }
    struct txn_list *list = &cc->search; /* a table's line is short */
    size_t begin = list->count;
    if (holders_only) {
        locking_holders(waiting, list);
    } else {
        locking_blockers(cc, waiting, list, SIZE_MAX);
    }
    bool found = false;
    for (size_t i = begin; i < list->count && !found; i++) {
        found = visit(cc, waiting, list->items[i]);
    }
    list->count = begin;
    return found;
}

/* Somebody waits for the requester. In a crowd one who is longer is soon met, and then nobody else is looked at; if there
 * is none, the crowd is doomed. */
static enum cc_status decide_between_waiters_and_blockers(struct cc *cc, struct txn *txn) {
    if (who_runs_goes_first(cc) || any_waiter(cc, txn, is_longer) || visit_blockers(cc, txn, is_longer, false)) {
        return txn_refuse(txn, REASON_DEPTH);
    }
    visit_blockers(cc, txn, doom_live, false);
    return CC_WAIT;
}

/* The holder waits. */
static enum cc_status decide_about_holder(struct cc *cc, struct txn *txn, struct txn *holder) {
    if (!who_runs_goes_first(cc) && !is_longer(cc, holder, txn) && !visit_blockers(cc, holder, is_longer, true)) {
        return txn_refuse(txn, REASON_DEPTH);
    }
    txn_doom(cc, holder, REASON_DEPTH);
    return CC_WAIT;
}

/* The holders that matter are those who wait: in a crowd of readers hardly anyone. */
static void find_waiting_holders(struct cc *cc, const struct txn *txn) {
    struct txn_list *list = &cc->search;
    list->count = 0;
    if (txn->predicate_queued != NULL) {
        locking_holders(txn, list);
    } else {
        lock_sleeping_holders(txn, list);
    }
}

static enum cc_status conflict(struct cc *cc, struct txn *txn) {
    if (txn->state != TXN_WAITING) {
        lock_sleep(cc, txn);
    }
    if (any_waiter(cc, txn, is_live)) {
        return decide_between_waiters_and_blockers(cc, txn);
    }
    find_waiting_holders(cc, txn);
    struct txn_list *list = &cc->search;
    size_t holders = list->count;
    enum cc_status status = CC_WAIT;
    for (size_t i = 0; i < holders && status == CC_WAIT; i++) {
        struct txn *holder = list->items[i];
        if (locking_is_queued(holder) && !holder->doomed) {
            status = decide_about_holder(cc, txn, holder);
        }
    }
    return status;
}

static void start(struct cc *cc) {
    const struct depth_options *chosen = cc->options;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .waits = true, .conflict = conflict});
}

const struct cc_ops cc_wait_depth = {
    .name = "wait-depth",
    .summary = "rigorous two-phase locking, nobody waits for one who waits",
    .paper = "Franaszek, Robinson, Thomasian 1992",
    .levels = LOCKING_LEVELS,
    .level = LEVEL_SER,
    .mixed = LEVEL_SER,
    .flags = CC_RESTART_ADAPTIVE,
    .options = &table,
    .state_size = sizeof(struct locking),
    .start = start,
    LOCKING_OPS,
};
