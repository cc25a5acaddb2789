/* cascade.h - dirty data and its price: who has read or overwritten what another has not committed yet.
 *
 * Such a one depends on the writer: if the writer aborts, or takes the version back (a savepoint), it is doomed, and so
 * are those that depend on it. With `recoverable` it may not commit before the writer has; without, it may, and what it
 * has read may turn out never to have been.
 *
 * A version of a writer that is doomed already would be gone in this instant: it is waited for instead.
 *
 * Invariants
 *  1. There is one link for each version that a dependent has read or overwritten, between live transactions, in the lists
 *     of both; both are in the order of linking.
 *  2. Dependence has no cycles: with locks it follows the order of lock points (the writer was beyond its own when the
 *     dependent got its lock, and so before the dependent's), with timestamps that of begin. So has waiting at the commit:
 *     those who wait there wait for none but those who are earlier in that order, and these wait for nothing else.
 *  3. Uncommitted versions of several transactions stand on one another; they leave in any order.
 * Bernstein, Hadzilacos, Goodman, "Concurrency control and recovery in database systems" (1987), sections 1.2 and 2.4.
 * The transaction's tail has a struct cascade_txn somewhere. */
#ifndef CCSIM_KIT_CASCADE_H
#define CCSIM_KIT_CASCADE_H

#include "sim/base/option.h"
#include "sim/kit/instance.h"

struct cascade {
    struct pool links;
    bool recoverable;
    size_t tail_offset; /* of struct cascade_txn in the transaction's tail */
};

struct cascade_list {
    struct cascade_link *first, *last;
};
struct cascade_txn {
    struct cascade_list writers;    /* whom it depends on */
    struct cascade_list dependents; /* who depends on it */
    struct cascade_link *awaited;   /* the end of a doomed writer that it waits for */
};

enum cascade_how { CASCADE_READ, CASCADE_OVERWRITE };

#define CASCADE_OPTION_RECOVERABLE(struct_type, member, when)                                                        \
    {                                                                                                                \
        .name = "recoverable", .type = OPTION_BOOL, .offset = offsetof(struct_type, member), .fallback = "yes",      \
        .help = when "a commit waits for those whose uncommitted rows were read or overwritten; no: it may turn out" \
                     " to have read what was rolled back"                                                            \
    }

void cascade_start(struct cascade *cascade, bool recoverable, size_t tail_offset);
void cascade_stop(struct cascade *cascade);

/* `txn` is about to read or overwrite `version`, the newest of `row`. CC_OK, noting the dependence if it is another's and
 * not committed; CC_WAIT if its writer is doomed; then CC_ERROR or CC_SKIP, as patience asks. */
enum cc_status cascade_meet(struct cc *cc, struct cascade *cascade, struct txn *txn, const struct row *row,
                            const struct version *version, enum cascade_how how, enum patience patience);

/* Part of cc_ops.statement_end for a statement that failed: what it read does not count, but for a duplicate key. */
void cascade_forget_statement(struct cascade *cascade, struct txn *txn);
/* Part of cc_ops.rollback: those who saw what goes are doomed; what `txn` overwrote since is as it was. */
void cascade_rollback(struct cc *cc, struct cascade *cascade, struct txn *txn, uint32_t mark);
/* May it commit now? CC_OK, or CC_WAIT. */
enum cc_status cascade_prepare(const struct cascade *cascade, const struct txn *txn);
void cascade_commit(struct cc *cc, struct cascade *cascade, struct txn *txn);
void cascade_abort(struct cc *cc, struct cascade *cascade, struct txn *txn);

/* Whom `waiting`, which waits for no lock, waits for; at most `most`, without repetition. */
void cascade_blockers(const struct cascade *cascade, const struct txn *waiting, struct txn_list *out, size_t most);

#endif
