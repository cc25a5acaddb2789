/* occ - optimistic concurrency control with serial validation.
 *
 * Transactions read the newest committed versions without locks and write privately. At the end each enters the
 * critical
 * section, in FIFO order, and is validated: it passes if nothing it read was overwritten by one that committed since
 * its start (check = start, the paper's rule) or since the read itself (check = version). Validation, log force and the
 * installing of its writes are one critical section: the next one validates when they are done.
 *
 * How the read set is held against what was committed since: kit/validation.h.
 *
 * Invariants: at most one transaction is between its validation and its commit; stamps are given in validation order.
 * Paper: Kung, Robinson, "On optimistic methods for concurrency control" (1981), serial validation.
 * Differs from the paper: a transaction starts with its first statement. Locking reads are plain reads. */
#include "sim/cc/cc.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/validation.h"

enum check { CHECK_START, CHECK_VERSION };
struct occ_options {
    int check;
};

static const char *const check_choices[] = {"start", "version", NULL};
static const struct option options[] = {
    {.name = "check",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct occ_options, check),
     .fallback = "start",
     .choices = check_choices,
     .help = "what must not be overwritten: anything read, since the transaction's start or since it was read"},
};
static const struct option_table table = OPTION_TABLE(options, struct occ_options);

/* The critical section: who is in it, and who queues for it. */
struct occ_state {
    struct txn *inside;
    struct txn *first, *last;
};
struct occ_txn {
    struct txn *next, *previous;
    bool queued;
};

static struct occ_txn *tail_of(const struct txn *txn) { return txn->tail; }

static enum cc_status occ_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static enum cc_status occ_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status occ_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    (void)txn;
    (void)intent;
    (void)patience;
    *seen = validation_read(cc, row);
    row->claimed = true; /* a claim would add nothing to what the read is validated for */
    return CC_OK;
}

static enum cc_status occ_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    (void)txn;
    (void)change;
    (void)patience;
    *base = validation_base(cc, row);
    return CC_OK;
}

static void occ_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    (void)txn;
    (void)mark;
}

/* ---- The critical section ---- */

static bool enter(struct occ_state *state, struct txn *txn) {
    struct occ_txn *tail = tail_of(txn);
    if (state->inside == NULL || state->inside == txn) {
        state->inside = txn;
        return true;
    }
    if (!tail->queued) {
        tail->queued = true;
        tail->previous = state->last;
        if (state->last != NULL) {
            tail_of(state->last)->next = txn;
        } else {
            state->first = txn;
        }
        state->last = txn;
    }
    return false;
}

static void leave_queue(struct occ_state *state, struct txn *txn) {
    struct occ_txn *tail = tail_of(txn);
    if (!tail->queued) {
        return;
    }
    if (tail->previous != NULL) {
        tail_of(tail->previous)->next = tail->next;
    } else {
        state->first = tail->next;
    }
    if (tail->next != NULL) {
        tail_of(tail->next)->previous = tail->previous;
    } else {
        state->last = tail->previous;
    }
    *tail = (struct occ_txn){0};
}

/* Hands the critical section to the first in the queue, if `txn` was inside. */
static void leave(struct cc *cc, struct txn *txn) {
    struct occ_state *state = cc->state;
    leave_queue(state, txn);
    if (state->inside == txn) {
        struct txn *next = state->first;
        state->inside = next;
        if (next != NULL) {
            leave_queue(state, next);
            txn_wake(cc, next);
        }
    }
}

/* ---- Validation ---- */

static enum cc_status occ_prepare(struct cc *cc, struct txn *txn) {
    if (!enter(cc->state, txn)) {
        return CC_WAIT;
    }
    const struct occ_options *chosen = cc->options;
    return validation_passes(cc, txn, chosen->check == CHECK_VERSION, NULL) ? CC_OK
                                                                            : txn_refuse(txn, REASON_VALIDATION);
}

static void occ_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, true);
    leave(cc, txn);
    snapshot_close(cc, txn);
}

static void occ_abort(struct cc *cc, struct txn *txn) {
    leave(cc, txn);
    snapshot_close(cc, txn);
}

static void occ_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    const struct occ_state *state = cc->state;
    if (!tail_of(waiting)->queued) {
        return;
    }
    size_t limit = most > SIZE_MAX - out->count ? SIZE_MAX : out->count + most;
    if (out->count < limit) {
        vector_push(out, state->inside);
    }
    for (struct txn *ahead = state->first; ahead != waiting && out->count < limit; ahead = tail_of(ahead)->next) {
        vector_push(out, ahead);
    }
}

const struct cc_ops cc_occ = {
    .name = "occ",
    .summary = "optimistic, serial validation against what committed since",
    .paper = "Kung, Robinson 1981",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_PRIVATE_WRITES | CC_KEEPS_TOMBSTONES,
    .options = &table,
    .state_size = sizeof(struct occ_state),
    .txn_size = sizeof(struct occ_txn),
    .begin = occ_begin,
    .statement = occ_statement,
    .read = occ_read,
    .claim = occ_claim,
    .rollback = occ_rollback,
    .prepare = occ_prepare,
    .commit = occ_commit,
    .abort = occ_abort,
    .blockers = occ_blockers,
};
