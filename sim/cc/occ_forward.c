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
 * Each record counts the active that may rely on it, and the scanners are counted too: so a validation that meets none
 * of them knows at once what a look at every active transaction would tell it.
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

/* row->note, a set: a write without a read depends on whether the row is there; the record counts this attempt. */
enum { DEPENDS_ON_PRESENCE = 1, IS_COUNTED = 2 };

/* Those between begin and end, in order of beginning; how many of them are active, scan among the active, are sealed. */
struct forward_state {
    struct txn *first, *last;
    uint32_t active, scanners, sealed;
};
struct forward_txn {
    struct txn *next, *previous;
    struct txn *awaited; /* the sealed transaction it waits for, or NULL */
    bool scans;          /* is it counted as a scanner? */
    bool withdrawn;      /* it is active no more */
};
/* In the tail of a record: the sealed transaction that is about to install a version of it; how many of the active have
 * met it (who relies on it is one of them). */
struct forward_head {
    struct txn *installer;
    uint32_t dependents;
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
    state->active++;
    return CC_OK;
}

/* ---- Who may rely on what ---- */

static void count_dependent(struct row *row) {
    if ((row->note & IS_COUNTED) == 0) {
        row->note |= IS_COUNTED;
        head_of(row->record)->dependents++;
    }
}

/* In the instant in which exec has noted a scan it asks for its range or for the row of its source. */
static void count_scanner(struct forward_state *state, struct txn *txn) {
    if (txn->scans.count > 0 && !tail_of(txn)->scans) {
        tail_of(txn)->scans = true;
        state->scanners++;
    }
}

/* Validated, doomed or at its end: what it relies on is in nobody's way any more. */
static void withdraw(struct forward_state *state, struct txn *txn) {
    if (tail_of(txn)->withdrawn) {
        return;
    }
    tail_of(txn)->withdrawn = true;
    state->active--;
    state->scanners -= tail_of(txn)->scans;
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if ((row->note & IS_COUNTED) != 0) {
            CHECK(head_of(row->record)->dependents > 0);
            head_of(row->record)->dependents--;
        }
    }
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
    CHECK(state->first != NULL || (state->active == 0 && state->scanners == 0 && state->sealed == 0));
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
    struct forward_state *state = cc->state;
    count_scanner(state, txn);
    struct txn *other = state->sealed > 0 ? state->first : NULL;
    while (other != NULL &&
           (other->state != TXN_SEALED || !writes_into(other, range->table, range->first, range->last))) {
        other = tail_of(other)->next;
    }
    return await(txn, other, BLOCK);
}

static enum cc_status forward_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                   enum patience patience, struct version **seen) {
    (void)intent;
    count_scanner(cc->state, txn);
    enum cc_status status = await(txn, head_of(row->record)->installer, patience);
    if (status == CC_OK) {
        count_dependent(row);
        *seen = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
    }
    return status;
}

static enum cc_status forward_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                    enum patience patience, struct version **base) {
    (void)change;
    enum cc_status status = await(txn, head_of(row->record)->installer, patience);
    if (status == CC_OK) {
        count_dependent(row);
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

static bool has_dependents(const struct txn *txn, size_t write) {
    return head_of(txn->rows.items[txn->writes.items[write].row].record)->dependents > 0;
}

/* Where the rows that it wrote and others have met show in the filters of those. */
static uint64_t filter_of_contested(const struct txn *txn) {
    uint64_t bits = 0;
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        bits |= has_dependents(txn, i) ? UINT64_C(1) << txn_filter_place(row->table, row->key) : 0;
    }
    return bits;
}

/* Its price is that of holding one written row after another against the reader. */
static bool is_in_the_way(struct cc *cc, struct txn *txn, uint64_t contested, struct txn *reader) {
    size_t compared = (reader->row_filter & contested) != 0 || reader->scans.count > 0 ? 0 : txn->writes.count;
    bool relies = false;
    CHECK(reader->scans.count == 0 || tail_of(reader)->scans);
    for (; compared < txn->writes.count && !relies; compared++) {
        bool may_rely = has_dependents(txn, compared) || reader->scans.count > 0;
        relies = may_rely && relies_on(cc, reader, &txn->rows.items[txn->writes.items[compared].row]);
    }
    txn->work.validated += (uint32_t)compared;
    return relies;
}

/* False: it gives way itself. */
static bool validate(struct cc *cc, struct txn *txn) {
    const struct forward_options *chosen = cc->options;
    struct forward_state *state = cc->state;
    uint64_t contested = filter_of_contested(txn);
    if (contested == 0 && state->scanners == 0) {
        txn->work.validated += (uint32_t)txn->writes.count * state->active;
        return true;
    }
    for (struct txn *reader = state->first; reader != NULL; reader = tail_of(reader)->next) {
        if (tail_of(reader)->withdrawn || !is_in_the_way(cc, txn, contested, reader)) {
            continue;
        }
        if (chosen->resolve == RESOLVE_DIE) {
            return false;
        }
        txn_doom(cc, reader, REASON_VALIDATION);
        withdraw(state, reader);
    }
    return true;
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
    struct forward_state *state = cc->state;
    if (await(txn, other_installer(txn), BLOCK) == CC_WAIT) {
        return CC_WAIT;
    }
    withdraw(state, txn);
    if (txn->writes.count > 0 && !validate(cc, txn)) {
        return txn_refuse(txn, REASON_VALIDATION);
    }
    set_installer(txn, txn);
    state->sealed++;
    return CC_OK;
}

static void forward_commit(struct cc *cc, struct txn *txn) {
    ((struct forward_state *)cc->state)->sealed--;
    set_installer(txn, NULL);
    txn_publish(txn, cc->store, true);
    leave(cc, txn);
    for (struct txn *waiter = cc->waiting_first; waiter != NULL; waiter = waiter->wait_next) {
        if (tail_of(waiter)->awaited == txn) {
            txn_wake(cc, waiter);
        }
    }
}

static void forward_abort(struct cc *cc, struct txn *txn) {
    withdraw(cc->state, txn);
    leave(cc, txn);
}

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
