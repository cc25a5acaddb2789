/* 2pl - rigorous two-phase locking with deadlock detection.
 *
 * S, U and X locks, FIFO queues that nobody overtakes but upgrades, all locks held to the end. Waiting is unlimited, so
 * cycles can form: they are searched for on every wait, periodically, or when a wait has lasted long (`detect`), and
 * the `victim` rule says who of a cycle is aborted.
 *
 * Invariants: those of kit/lock.h; with detect = wait no cycle of live waiters outlasts the instant that closed it.
 * Paper: Eswaran, Gray, Lorie, Traiger, "The notions of consistency and predicate locks in a database system" (1976);
 * the U mode and upgrades after Gray and Reuter (1993).
 * Differs from the paper: ranges are protected by next-key locks unless phantoms = predicate; then a predicate meets the
 * images of one row instead of other predicates (kit/predicate_lock.h). */
#include "sim/cc/cc.h"
#include "sim/kit/deadlock.h"
#include "sim/kit/locking.h"

struct two_phase_options {
    struct deadlock_options deadlock;
    int phantoms;
};

static const struct option options[] = {
    DEADLOCK_OPTIONS(struct two_phase_options, deadlock, "youngest"),
    DEADLOCK_OPTION_ROLLBACK(struct two_phase_options, deadlock),
    LOCKING_OPTION_PHANTOMS(struct two_phase_options, phantoms),
};
static const struct option_table table = OPTION_TABLE(options, struct two_phase_options);

static const struct deadlock_options *deadlock_of(const struct cc *cc) {
    return &((const struct two_phase_options *)cc->options)->deadlock;
}

static enum cc_status conflict(struct cc *cc, struct txn *txn) { return deadlock_on_wait(cc, deadlock_of(cc), txn); }

static void timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, deadlock_of(cc), txn);
}

static void start(struct cc *cc) {
    const struct two_phase_options *chosen = cc->options;
    cc->keeps_programs = chosen->deadlock.rollback == ROLLBACK_PARTIAL;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .waits = true, .conflict = conflict});
}

const struct cc_ops cc_2pl = {
    .name = "2pl",
    .summary = "rigorous two-phase locking, deadlocks detected",
    .paper = "Eswaran, Gray, Lorie, Traiger 1976",
    .levels = LOCKING_LEVELS,
    .level = LEVEL_SER,
    .mixed = LEVEL_SER,
    .options = &table,
    .state_size = sizeof(struct locking),
    .start = start,
    .timer = timer,
    LOCKING_OPS,
};
