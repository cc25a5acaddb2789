/* 2pl-basic - two-phase locking as the textbooks begin with it: serializable, and no more.
 *
 * As `2pl`, but from the lock point on every lock goes as soon as its row has been used for the last time, X too, long
 * before the commit. So others read and overwrite what may be undone; if it is, they go with it, and those that saw
 * something of theirs. With recoverable = yes a commit waits for those whose rows were read or overwritten; with no, it
 * does not, and what it has read may turn out never to have been (G1a).
 *
 * Invariants: those of kit/lockpoint.h and kit/cascade.h. Nobody has anything of its own in a row that it does not hold
 * X on and may still use: so nobody rewrites what others have seen.
 * Paper: Eswaran, Gray, Lorie, Traiger (1976); recoverability and cascades: Bernstein, Hadzilacos, Goodman, "Concurrency
 * control and recovery in database systems" (1987), sections 1.2 and 3.2.
 * Differs from the paper: ranges are protected by next-key locks; who overwrote what is undone goes too; a program may say
 * where its lock point is, else it is at prepare. */
#include "sim/cc/cc.h"
#include "sim/kit/cascade.h"
#include "sim/kit/lockpoint.h"

struct two_phase_basic_options {
    struct lockpoint_options lockpoint; /* first */
    bool recoverable;
};
struct two_phase_basic {
    struct lockpoint lockpoint; /* first */
    struct cascade cascade;
};
struct two_phase_basic_txn {
    struct lockpoint_txn lockpoint; /* first */
    struct cascade_txn cascade;
};

static const struct option options[] = {
    LOCKPOINT_OPTIONS,
    CASCADE_OPTION_RECOVERABLE(struct two_phase_basic_options, recoverable, ""),
};
static const struct option_table table = OPTION_TABLE(options, struct two_phase_basic_options);

static struct cascade *cascade_of(const struct cc *cc) { return &((struct two_phase_basic *)cc->state)->cascade; }

static void start(struct cc *cc) {
    const struct two_phase_basic_options *chosen = cc->options;
    lockpoint_start(cc, false);
    cascade_start(cascade_of(cc), chosen->recoverable, offsetof(struct two_phase_basic_txn, cascade));
}

static void stop(struct cc *cc) {
    cascade_stop(cascade_of(cc));
    locking_stop(cc);
}

static bool is_unrecoverable(const void *chosen) {
    return !((const struct two_phase_basic_options *)chosen)->recoverable;
}

static enum cc_status basic_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                 enum patience patience, struct version **seen) {
    enum cc_status status = lockpoint_read(cc, txn, row, intent, patience, seen);
    row->claimed = false; /* claim looks at whose version it replaces */
    return status == CC_OK ? cascade_meet(cc, cascade_of(cc), txn, row, *seen, CASCADE_READ, patience) : status;
}

static enum cc_status basic_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                  enum patience patience, struct version **base) {
    uint32_t number = txn_row_number(txn, row);
    enum cc_status status = lockpoint_claim(cc, txn, row, change, patience, base);
    row = &txn->rows.items[number];
    return status == CC_OK ? cascade_meet(cc, cascade_of(cc), txn, row, *base, CASCADE_OVERWRITE, patience) : status;
}

static void basic_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        cascade_forget_statement(cascade_of(cc), txn);
    }
    lockpoint_statement_end(cc, txn, failed);
}

static void basic_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    cascade_rollback(cc, cascade_of(cc), txn, mark);
    lockpoint_rollback(cc, txn, mark);
}

static enum cc_status basic_prepare(struct cc *cc, struct txn *txn) {
    lockpoint_prepare(cc, txn);
    return cascade_prepare(cascade_of(cc), txn);
}

static void basic_commit(struct cc *cc, struct txn *txn) {
    locking_commit(cc, txn);
    cascade_commit(cc, cascade_of(cc), txn);
}

static void basic_abort(struct cc *cc, struct txn *txn) {
    cascade_abort(cc, cascade_of(cc), txn);
    locking_abort(cc, txn);
}

static void basic_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    if (waiting->queued != NULL || waiting->predicate_queued != NULL) {
        locking_blockers(cc, waiting, out, most);
    } else {
        cascade_blockers(cascade_of(cc), waiting, out, most);
    }
}

const struct cc_ops cc_2pl_basic = {
    .name = "2pl-basic",
    .summary = "two-phase locking, everything unlocked from the lock point on: dirty reads, cascades",
    .paper = "Eswaran, Gray, Lorie, Traiger 1976",
    .flags = CC_SHOWS_DIRTY,
    .unrecoverable = is_unrecoverable,
    .options = &table,
    .state_size = sizeof(struct two_phase_basic),
    .txn_size = sizeof(struct two_phase_basic_txn),
    .start = start,
    .stop = stop,
    .read = basic_read,
    .claim = basic_claim,
    .statement_end = basic_statement_end,
    .rollback = basic_rollback,
    .prepare = basic_prepare,
    .commit = basic_commit,
    .abort = basic_abort,
    .blockers = basic_blockers,
    LOCKPOINT_OPS,
};
