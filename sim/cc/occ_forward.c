/* occ_forward - optimistic concurrency control validated forward, against those that still run.
 *
 * Transactions read the newest committed versions without locks and write privately. One that ends is validated against
 * the read sets of all that are active: who has read a row it wrote, or scanned a range it wrote into, would have to
 * come before it, and does not know yet whether it will. `resolve` says who gives way:
 *   kill   the readers are aborted: who comes to its end first wins;
 *   die    the one that is validated is aborted, and the readers go on.
 * From its validation until its writes are installed (the log force lies between), readers of its write set wait, or they
 * would read what is about to be replaced after the moment at which readers were looked for; so does a validation that
 * wrote the same rows. A transaction that has not written commits without any test.
 *
 * Invariants: the serial order is that of the validations; what a sealed transaction will install nobody active has read;
 * only sealed ones are waited for, and they never wait: no deadlock.
 * Paper: Haerder, "Observations on optimistic concurrency control schemes" (1984), forward-oriented validation.
 * Differs from the paper: several may be between validation and write phase at once; a write that needs nothing of its
 * row depends on its being there only. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"

enum resolve { RESOLVE_KILL, RESOLVE_DIE };
struct forward_options {
    int resolve;
};

static const char *const resolve_choices[] = {"kill", "die", NULL};
static const struct option options[] = {
    {.name = "resolve",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct forward_options, resolve),
     .fallback = "kill",
     .choices = resolve_choices,
     .help = "who gives way if an active transaction has read what is to be committed: the reader, or the committer"},
};
static const struct option_table table = OPTION_TABLE(options, struct forward_options);

/* row->note: a write without a read depends on whether the row is there. */
enum { DEPENDS_ON_PRESENCE = 1 };

/* Those between begin and end, in order of beginning. */
struct forward_state {
    struct txn *first, *last;
};
struct forward_txn {
    struct txn *next, *previous;
    struct txn *awaited; /* the sealed transaction it waits for, or NULL */
};
/* In the tail of a record: the sealed transaction that is about to install a version of it. */
struct forward_head {
    struct txn *installer;
};

static struct forward_txn *tail_of(const struct txn *txn) { return txn->tail; }
static struct forward_head *head_of(struct record *record) { return record_tail(record); }

static enum cc_status forward_begin(struct cc *cc, struct txn *txn) {
    struct forward_state *state = cc->state;
    tail_of(txn)->previous = state->last;
    if (state->last != NULL) {
        tail_of(state->last)->next = txn;
    } else {
        state->first = txn;
    }
    state->last = txn;
    return CC_OK;
}

static void leave(struct cc *cc, struct txn *txn) {
    struct forward_state *state = cc->state;
    struct forward_txn *tail = tail_of(txn);
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
}

static enum cc_status forward_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)cc;
    (void)txn;
    (void)intent;
    return CC_OK;
}

/* ---- Waiting for a write phase ---- */

static enum cc_status await(struct txn *txn, struct txn *installer, enum patience patience) {
    tail_of(txn)->awaited = NULL;
    if (installer == NULL) {
        return CC_OK;
    }
    if (patience == NOWAIT) {
        return txn_fail(txn, REASON_NOWAIT);
    }
    if (patience == SKIP_LOCKED) {
        return CC_SKIP;
    }
    tail_of(txn)->awaited = installer;
    return CC_WAIT;
}

static bool writes_into(const struct txn *txn, const struct table *written, int64_t first, int64_t last) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        if (row->table == written && row->key >= first && row->key <= last) {
            return true;
        }
    }
    return false;
}

/* A row that is about to be inserted cannot be met yet: the whole range waits. */
static enum cc_status forward_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                                    enum patience patience) {
    (void)intent;
    (void)patience;
    const struct forward_state *state = cc->state;
    struct txn *other = state->first;
    while (other != NULL &&
           (other->state != TXN_SEALED || !writes_into(other, range->table, range->first, range->last))) {
        other = tail_of(other)->next;
    }
    return await(txn, other, BLOCK);
}

static enum cc_status forward_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                   enum patience patience, struct version **seen) {
    (void)intent;
    enum cc_status status = await(txn, head_of(row->record)->installer, patience);
    if (status == CC_OK) {
        *seen = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
    }
    return status;
}

static enum cc_status forward_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                    enum patience patience, struct version **base) {
    (void)change;
    enum cc_status status = await(txn, head_of(row->record)->installer, patience);
    if (status == CC_OK) {
        *base = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
        row->note |= row->own == NULL ? DEPENDS_ON_PRESENCE : 0;
    }
    return status;
}

static void forward_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    (void)txn;
    (void)mark;
}

/* ---- Validation ---- */

static bool scanned(const struct txn *txn, const struct row *written) {
    for (size_t i = 0; i < txn->scans.count; i++) {
        const struct scan *scan = &txn->scans.items[i];
        if (scan->table == written->table && written->key >= scan->first && written->key <= scan->last) {
            return true;
        }
    }
    return false;
}

/* Would installing `written` change what `reader` relies on? */
static bool relies_on(struct cc *cc, struct txn *reader, const struct row *written) {
    const struct row *row = txn_find_row(reader, written->table, written->key);
    if (row != NULL && row->read_statement != 0) {
        return true;
    }
    if (row != NULL && (row->note & DEPENDS_ON_PRESENCE) != 0) {
        bool absent = store_newest(cc->store, row->table, row->key, row->record)->absent;
        if (absent != written->own->absent) {
            return true;
        }
    }
    return scanned(reader, written);
}

/* Where the rows that it wrote show in the filter of who has met them. */
static uint64_t filter_of_writes(const struct txn *txn) {
    uint64_t bits = 0;
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        bits |= txn_filter_bit(txn_row_hash(row->table, row->key));
    }
    return bits;
}

static bool is_in_the_way(struct cc *cc, struct txn *txn, uint64_t written, struct txn *reader) {
    if (reader == txn || reader->doomed || reader->state == TXN_SEALED) {
        return false;
    }
    if ((reader->row_filter & written) == 0 && reader->scans.count == 0) {
        txn->work.validated += (uint32_t)txn->writes.count;
        return false;
    }
    for (size_t i = 0; i < txn->writes.count; i++) {
        txn->work.validated++;
        if (relies_on(cc, reader, &txn->rows.items[txn->writes.items[i].row])) {
            return true;
        }
    }
    return false;
}

static struct txn *other_installer(const struct txn *txn) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        struct txn *installer = head_of(txn->rows.items[txn->writes.items[i].row].record)->installer;
        if (installer != NULL) {
            return installer;
        }
    }
    return NULL;
}

static void set_installer(const struct txn *txn, struct txn *installer) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        head_of(txn->rows.items[txn->writes.items[i].row].record)->installer = installer;
    }
}

static enum cc_status forward_prepare(struct cc *cc, struct txn *txn) {
    const struct forward_options *chosen = cc->options;
    const struct forward_state *state = cc->state;
    if (await(txn, other_installer(txn), BLOCK) == CC_WAIT) {
        return CC_WAIT;
    }
    uint64_t written = filter_of_writes(txn);
    for (struct txn *reader = state->first; reader != NULL; reader = tail_of(reader)->next) {
        if (is_in_the_way(cc, txn, written, reader)) {
            if (chosen->resolve == RESOLVE_DIE) {
                return txn_refuse(txn, REASON_VALIDATION);
            }
            txn_doom(cc, reader, REASON_VALIDATION);
        }
    }
    set_installer(txn, txn);
    return CC_OK;
}

static void forward_commit(struct cc *cc, struct txn *txn) {
    set_installer(txn, NULL);
    txn_publish(txn, cc->store, true);
    leave(cc, txn);
    for (struct txn *waiter = cc->waiting_first; waiter != NULL; waiter = waiter->wait_next) {
        if (tail_of(waiter)->awaited == txn) {
            txn_wake(cc, waiter);
        }
    }
}

static void forward_abort(struct cc *cc, struct txn *txn) { leave(cc, txn); }

static void forward_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    if (tail_of(waiting)->awaited != NULL && most > 0) {
        vector_push(out, tail_of(waiting)->awaited);
    }
}

const struct cc_ops cc_occ_forward = {
    .name = "occ-forward",
    .summary = "optimistic, validated against the read sets of the active",
    .paper = "Haerder 1984",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_PRIVATE_WRITES | CC_RESTART_ADAPTIVE,
    .options = &table,
    .state_size = sizeof(struct forward_state),
    .txn_size = sizeof(struct forward_txn),
    .record_size = sizeof(struct forward_head),
    .begin = forward_begin,
    .statement = forward_statement,
    .range = forward_range,
    .read = forward_read,
    .claim = forward_claim,
    .rollback = forward_rollback,
    .prepare = forward_prepare,
    .commit = forward_commit,
    .abort = forward_abort,
    .blockers = forward_blockers,
};
