/* to - timestamp ordering: every conflict in the order of begin.
 *
 * A transaction's timestamp is that of its attempt, a new one at each restart. A read is refused (ts_late) if the row was
 * written by a younger transaction, a write if it was written or read by a younger one. Scans leave a read stamp on every
 * row they meet and on the gap before it, and an insert into a gap that a younger one scanned is refused.
 *   strict = yes   a read or a write of a row whose uncommitted writer is older waits for that one's end; so nobody sees
 *                  what may be undone
 *   strict = no    the raw form: it does not wait, and depends on that writer; if it rolls back, so does everybody who
 *                  depends on it. With recoverable = yes a commit waits for those it depends on; with no, it does not, and
 *                  what it has read may turn out never to have been (G1a)
 *
 * Invariants
 *  1. Only the younger wait for the older: no deadlock.
 *  2. The serial order is that of timestamps. A write by key that found no row has read that there is none.
 *  3. Raw: a row's versions are in order of timestamps. Who has written a row may not write it again once a younger one
 *     has read or overwritten it: so nobody rewrites what others have seen.
 *  4. Who deleted a row stays known, and its record stays where scans meet it, until everybody alive is younger.
 * Paper: Bernstein, Goodman, "Timestamp-based algorithms for concurrency control in distributed database systems" (1980).
 * Differs from the paper: strict by waiting in place of buffered prewrites; a younger uncommitted writer refuses a read
 * at once; gaps have read stamps; in the raw form who overwrote what is undone goes too. */
#include "sim/cc/to.h"

#include "sim/kit/cascade.h"

struct to_options {
    bool strict, recoverable;
};
struct to_state {
    struct timestamp_state timestamp; /* first */
    struct cascade cascade;
};
struct to_txn {
    struct timestamp_txn timestamp; /* first */
    struct cascade_txn cascade;     /* of the raw form */
};

static const struct option options[] = {
    {.name = "strict",
     .type = OPTION_BOOL,
     .offset = offsetof(struct to_options, strict),
     .fallback = "yes",
     .help = "rows of older transactions that have not committed are waited for; no: they are read and overwritten"},
    CASCADE_OPTION_RECOVERABLE(struct to_options, recoverable, "with strict = no: "),
};
static const struct option_table table = OPTION_TABLE(options, struct to_options);

bool to_bounds_gap(const struct record *record) {
    const struct timestamp_mark *mark = (const struct timestamp_mark *)(const void *)(record + 1);
    return (mark->gap | mark->erased) != 0;
}

static void stamp_read(struct txn *txn, struct row *row) {
    struct timestamp_mark *mark = timestamp_mark_of(row->record);
    mark->read = timestamp_max(mark->read, txn->id);
}

enum cc_status to_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                       struct version **seen) {
    (void)intent;
    if (row->own != NULL) {
        *seen = row->own;
        return CC_OK;
    }
    struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    if (newest->writer > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE);
    }
    if (newest->stamp == 0) {
        return timestamp_wait(cc, txn, newest, patience);
    }
    stamp_read(txn, row);
    row->claimed = timestamp_mark_of(row->record)->read == txn->id; /* no younger one read it: it may be written, too */
    *seen = newest;
    return CC_OK;
}

bool to_is_settled(const struct row *row, enum change change) {
    return row->own != NULL || change == LOCK_SHARE || change == LOCK_UPDATE;
}

/* Nothing stands against a version above `base` but, if the key is new, those who have scanned the gap it falls into. */
static enum cc_status enter(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                            const struct version *base) {
    if (change == PUT_INSERT) {
        return timestamp_enter_gap(cc, txn, row, to_bounds_gap);
    }
    if (base->absent) {
        stamp_read(txn, row);
    }
    return CC_OK;
}

enum cc_status to_take(struct cc *cc, struct txn *txn, struct row *row, enum change change, enum patience patience,
                       const struct version *base) {
    return base->stamp == 0 ? timestamp_wait(cc, txn, base, patience) : enter(cc, txn, row, change, base);
}

static enum cc_status strict_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                   enum patience patience, struct version **base) {
    *base = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
    if (to_is_settled(row, change)) {
        return CC_OK;
    }
    if (timestamp_mark_of(row->record)->read > txn->id || (*base)->writer > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE);
    }
    return to_take(cc, txn, row, change, patience, *base);
}

void to_commit(struct cc *cc, struct txn *txn) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        struct row *row = &txn->rows.items[txn->writes.items[i].row];
        if (row->own->absent) {
            timestamp_mark_of(row->record)->erased = txn->id;
        }
    }
    txn_publish(txn, cc->store, false);
    timestamp_end(cc, txn);
}

/* ---- The raw form ---- */

static struct cascade *cascade_of(const struct cc *cc) { return &((struct to_state *)cc->state)->cascade; }
static bool is_strict(const struct cc *cc) { return ((const struct to_options *)cc->options)->strict; }

static bool is_unrecoverable(const void *chosen) {
    const struct to_options *o = chosen;
    return !o->strict && !o->recoverable;
}

static enum cc_status raw_read(struct cc *cc, struct txn *txn, struct row *row, enum patience patience,
                               struct version **seen) {
    *seen = store_newest(cc->store, row->table, row->key, row->record);
    if ((*seen)->writer > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE); /* even if what it wrote itself stands beneath */
    }
    enum cc_status status = cascade_meet(cc, cascade_of(cc), txn, row, *seen, CASCADE_READ, patience);
    if (status == CC_OK && row->own == NULL) {
        stamp_read(txn, row);
    }
    return status;
}

static enum cc_status raw_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    *base = store_newest(cc->store, row->table, row->key, row->record);
    if (change == LOCK_SHARE || change == LOCK_UPDATE) {
        return CC_OK; /* it has passed read already */
    }
    if (timestamp_mark_of(row->record)->read > txn->id || (*base)->writer > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE);
    }
    if (row->own != NULL) {
        return CC_OK;
    }
    enum cascade_how how = (*base)->absent ? CASCADE_READ : CASCADE_OVERWRITE;
    enum cc_status status = cascade_meet(cc, cascade_of(cc), txn, row, *base, how, patience);
    return status == CC_OK ? enter(cc, txn, row, change, *base) : status;
}

/* ---- Both ---- */

static enum cc_status read_row(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    return is_strict(cc) ? to_read(cc, txn, row, intent, patience, seen) : raw_read(cc, txn, row, patience, seen);
}

static enum cc_status claim_row(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    return is_strict(cc) ? strict_claim(cc, txn, row, change, patience, base)
                         : raw_claim(cc, txn, row, change, patience, base);
}

static void start(struct cc *cc) {
    const struct to_options *chosen = cc->options;
    cascade_start(cascade_of(cc), chosen->recoverable, offsetof(struct to_txn, cascade));
}

static void stop(struct cc *cc) {
    cascade_stop(cascade_of(cc));
    timestamp_stop(cc);
}

static void statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        cascade_forget_statement(cascade_of(cc), txn);
    }
}

static void rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    cascade_rollback(cc, cascade_of(cc), txn, mark);
    timestamp_rollback(cc, txn, mark);
}

static enum cc_status prepare(struct cc *cc, struct txn *txn) { return cascade_prepare(cascade_of(cc), txn); }

static void commit(struct cc *cc, struct txn *txn) {
    to_commit(cc, txn);
    cascade_commit(cc, cascade_of(cc), txn);
}

static void abort_attempt(struct cc *cc, struct txn *txn) {
    cascade_abort(cc, cascade_of(cc), txn);
    timestamp_end(cc, txn);
}

static void blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    timestamp_blockers(cc, waiting, out, most);
    if (!is_strict(cc)) {
        cascade_blockers(cascade_of(cc), waiting, out, most);
    }
}

const struct cc_ops cc_to = {
    .name = "to",
    .summary = "timestamp ordering, strict or raw",
    .paper = "Bernstein, Goodman 1980",
    .flags = CC_LOOKS_AGAIN | CC_SHOWS_DIRTY,
    .unrecoverable = is_unrecoverable,
    .options = &table,
    .state_size = sizeof(struct to_state),
    .txn_size = sizeof(struct to_txn),
    .start = start,
    .stop = stop,
    .read = read_row,
    .claim = claim_row,
    .statement_end = statement_end,
    .rollback = rollback,
    .prepare = prepare,
    .commit = commit,
    .abort = abort_attempt,
    .blockers = blockers,
    TO_OPS,
};
