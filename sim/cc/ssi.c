/* ssi - serializable snapshot isolation: si, and the transactions that could make its history unserializable are
 * refused.
 *
 * Rules. Reads, writes and their conflicts are those of si. Reads leave marks: on the row, or for a scan on its range
 * (scan_marks = table: on the whole table, as a sequential scan does); beyond max_marks rows of a page on the page,
 * beyond half as many pages on the table. Reads of one's own writes leave none; locking reads, the scans of updates and
 * writes that name their row do. Marks outlive the commit, until every transaction that overlapped is gone.
 * A read finds the overlapping writer of the next newer version, a write the overlapping readers of the version it
 * supersedes: edges reader -rw-> writer. Tin -> pivot -> Tout is dangerous if Tout is the first of them to commit; if
 * Tin is declared read-only, or committed without writing, only if Tout had committed before Tin's snapshot.
 *   victim  the pivot, if it is acting; a reader that meets a pivot which can no longer be stopped; else the pivot is
 *           doomed, and dies at its next read of an existing row, its next write, or its commit.
 *   prepare dooms every active P -> me that has an edge from a live transaction, myself included; if P is sealed, I am
 *           refused: of a write skew the second to commit fails.
 * A read-only transaction is safe, and leaves no marks, if none that overlaps and may write commits with an edge to one
 * that had committed before its snapshot; a deferrable one waits for such a snapshot before its first statement.
 * A transaction may ask for less, SI or RC: it runs as under si or mvcc-rc, leaves no marks and is found by nobody's. So
 * the serializable ones are serializable among themselves only: of a cycle through another nothing is known.
 * Two variants know less. variant = commit_order: read-only transactions count like others, and no snapshot is known to
 * be safe, so none is waited for. variant = basic, the algorithm of 2008: two flags, an edge in and an edge out; who has
 * both when it prepares is refused, and who meets a prepared transaction that would have both.
 *
 * Invariants: sim/kit/siread.h.
 * Paper: Cahill, Roehm, Fekete, "Serializable isolation for snapshot databases" (2008), with the refinements of Ports,
 * Grittner, "Serializable snapshot isolation in PostgreSQL" (2012).
 * Differs from the paper: ranges are marked as such, not the pages of an index; the memory for marks is not limited, so
 * committed transactions are never summarized. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/rowlock.h"
#include "sim/kit/siread.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/versions.h"

enum scan_marks { SCAN_RANGE, SCAN_TABLE };
struct ssi_options {
    struct deadlock_options deadlock;
    struct version_options versions;
    int64_t max_marks;
    int scan_marks;
    int variant; /* enum siread_rule */
};

static const char *const scan_marks_choices[] = {"range", "table", NULL};
static const char *const variant_choices[] = {
    [SIREAD_BASIC] = "basic", [SIREAD_COMMIT_ORDER] = "commit_order", [SIREAD_READ_ONLY] = "read_only", NULL};
static const struct option options[] = {
    DEADLOCK_OPTIONS(struct ssi_options, deadlock, "requester"),
    VERSION_OPTIONS(struct ssi_options, versions),
    {.name = "max_marks",
     .type = OPTION_COUNT,
     .offset = offsetof(struct ssi_options, max_marks),
     .fallback = "64",
     .min = 1,
     .max = 1e9,
     .flags = OPTION_MAY_BE_UNLIMITED,
     .help = "rows of a page of 128 that are marked one by one; beyond it the page is, beyond half as many pages the "
             "table"},
    {.name = "scan_marks",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct ssi_options, scan_marks),
     .fallback = "range",
     .choices = scan_marks_choices,
     .help = "what a scan marks as read: its range of keys, or the table, as a sequential scan does"},
    {.name = "variant",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct ssi_options, variant),
     .fallback = "read_only",
     .choices = variant_choices,
     .help = "who is refused: whoever has a read-write conflict in and one out (basic), only if the last of the three "
             "commits first (commit_order), and a reader at the beginning counts only if that was before its snapshot "
             "(read_only)"},
};
static const struct option_table table = OPTION_TABLE(options, struct ssi_options);

struct ssi_txn {
    struct serial *serial;   /* NULL before the first statement */
    uint32_t scan_statement; /* the latest statement whose range is marked */
};

static const struct ssi_options *options_of(const struct cc *cc) { return cc->options; }
static struct ssi_txn *tail_of(const struct txn *txn) { return txn->tail; }

static enum cc_status pivot(struct txn *txn) { return txn_refuse(txn, REASON_SSI_PIVOT); }

static enum cc_status ssi_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static bool is_serializable(const struct txn *txn) { return txn->level == LEVEL_SER; }

/* ---- Snapshots ---- */

static void take_snapshot(struct cc *cc, struct txn *txn) {
    snapshot_open(cc, txn);
    struct serial *serial = siread_begin(cc->state, txn);
    tail_of(txn)->serial = serial;
    if (serial->read_only) {
        for (struct txn *active = cc->snapshot_first; active != NULL; active = active->snapshot_next) {
            if (tail_of(active)->serial != NULL) {
                siread_watch(serial, tail_of(active)->serial);
            }
        }
        siread_settle(cc->state, serial);
    }
}

/* After the snapshot of `txn` has been closed. */
static void forget(struct cc *cc) {
    struct siread_table *marks = cc->state;
    const struct txn *oldest = cc->snapshot_first;
    while (oldest != NULL && tail_of(oldest)->serial == NULL) {
        oldest = oldest->snapshot_next;
    }
    siread_forget(marks, oldest != NULL ? tail_of(oldest)->serial->begun : marks->clock);
}

static void drop_snapshot(struct cc *cc, struct txn *txn) {
    if (tail_of(txn)->serial != NULL) {
        siread_abort(cc->state, tail_of(txn)->serial);
        tail_of(txn)->serial = NULL;
    }
    snapshot_close(cc, txn);
    forget(cc);
}

static enum cc_status ssi_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    struct ssi_txn *tail = tail_of(txn);
    if (!is_serializable(txn)) {
        snapshot_open(cc, txn);
        return CC_OK;
    }
    if (tail->serial == NULL) {
        take_snapshot(cc, txn);
    }
    CHECK(intent != SEE_WRITE || !txn->read_only);
    while (txn->deferrable && tail->serial != NULL && tail->serial->unsafe) {
        drop_snapshot(cc, txn);
        take_snapshot(cc, txn);
    }
    CHECK(tail->serial != NULL);
    tail->serial->waits = txn->deferrable && tail->serial->read_only && !tail->serial->safe;
    return tail->serial->waits ? CC_WAIT : CC_OK;
}

/* ---- Rows ---- */

static enum cc_status ssi_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                                enum patience patience) {
    (void)intent;
    (void)patience;
    struct ssi_txn *tail = tail_of(txn);
    if (is_serializable(txn) && tail->scan_statement != txn->statement) {
        bool whole = options_of(cc)->scan_marks == SCAN_TABLE;
        tail->scan_statement = txn->statement;
        siread_scan(cc->state, tail->serial, range->table, whole ? INT64_MIN : range->first,
                    whole ? INT64_MAX : range->last);
    }
    return CC_OK;
}

static enum cc_status ssi_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    (void)intent;
    (void)patience;
    *seen = snapshot_version(cc, txn, row);
    return !is_serializable(txn) || siread_read(cc->state, tail_of(txn)->serial, row, *seen) ? CC_OK : pivot(txn);
}

/* Has one that committed since the snapshot changed the row? At RC that does not matter. */
static bool changed_since(struct cc *cc, const struct txn *txn, struct row *row) {
    return txn->level != LEVEL_RC && rowlock_changed_since(cc, txn, row);
}

/* The row is about to be claimed for the first time: a write that named it reads it by that. */
static enum cc_status approach(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode,
                               enum patience patience) {
    if (is_serializable(txn) && !siread_read(cc->state, tail_of(txn)->serial, row, snapshot_version(cc, txn, row))) {
        return pivot(txn);
    }
    if (changed_since(cc, txn, row)) {
        return txn_refuse(txn, REASON_WRITE_CONFLICT);
    }
    return rowlock_take(cc, &options_of(cc)->deadlock, txn, row, mode, patience);
}

static enum cc_status ssi_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    enum lock_mode mode = change == LOCK_SHARE ? MODE_S : MODE_X;
    if (txn->queued != NULL) {
        return rowlock_take(cc, &options_of(cc)->deadlock, txn, row, mode, patience);
    }
    if (row->lock == NULL || row->lock->mode < mode) {
        enum cc_status status = approach(cc, txn, row, mode, patience);
        if (status != CC_OK) {
            return status;
        }
    } else if (row->own == NULL && changed_since(cc, txn, row)) { /* granted after a wait, too late */
        return txn_refuse(txn, REASON_WRITE_CONFLICT);
    }
    *base = store_newest(cc->store, row->table, row->key, row->record);
    if (!is_serializable(txn)) {
        return CC_OK;
    }
    bool writes = change == PUT_INSERT ? (*base)->absent : mode == MODE_X && change != LOCK_UPDATE && !(*base)->absent;
    if (writes && !siread_write(cc->state, tail_of(txn)->serial, row, *base)) {
        return pivot(txn);
    }
    return CC_OK;
}

static void ssi_unmatched(struct cc *cc, struct txn *txn, struct row *row) {
    if (txn->level == LEVEL_RC) {
        rowlock_give_back(cc, txn, row);
    }
}

static void ssi_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        lock_forget_statement(cc, txn, txn->statement);
    }
    if (txn->level == LEVEL_RC) {
        snapshot_close(cc, txn);
    }
}

/* Marks and edges stay: what was undone still counts. */
static void ssi_rollback(struct cc *cc, struct txn *txn, uint32_t mark) { lock_rollback(cc, txn, mark, false); }

/* ---- Ends ---- */

static enum cc_status ssi_prepare(struct cc *cc, struct txn *txn) {
    struct serial *serial = tail_of(txn)->serial;
    return serial == NULL || siread_prepare(cc->state, serial) ? CC_OK : pivot(txn);
}

static void ssi_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, false);
    if (tail_of(txn)->serial != NULL) {
        siread_commit(cc->state, tail_of(txn)->serial);
    }
    snapshot_close(cc, txn);
    forget(cc);
}

static void ssi_release(struct cc *cc, struct txn *txn) { lock_release_all(cc, txn); }

static void ssi_abort(struct cc *cc, struct txn *txn) {
    lock_cancel(cc, txn);
    lock_release_all(cc, txn);
    drop_snapshot(cc, txn);
}

static void ssi_timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, &options_of(cc)->deadlock, txn);
}

/* Those whose end a deferrable transaction waits for. */
static bool add_watched(const struct txn *waiting, struct txn_list *out, size_t most) {
    const struct serial *serial = tail_of(waiting)->serial;
    if (serial == NULL || !serial->waits) {
        return false;
    }
    for (size_t i = 0; i < serial->watches.count && i < most; i++) {
        txn_list_add(out, serial->watches.items[i]->txn);
    }
    return true;
}

/* What is shown: the writer for the first in line, those ahead in line for the rest. */
static void ssi_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    if (!add_watched(waiting, out, most)) {
        lock_blockers(waiting, out, most, true);
    }
}

/* What is searched: whoever is behind another in line waits for the writer as well. */
static void all_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    if (!add_watched(waiting, out, most)) {
        lock_blockers(waiting, out, most, false);
    }
}

static void ssi_start(struct cc *cc) {
    lock_table_start(cc);
    siread_start(cc->state, cc, options_of(cc)->max_marks, (enum siread_rule)options_of(cc)->variant);
    versions_start(cc, &options_of(cc)->versions);
    cc->blockers = all_blockers;
}

static void ssi_stop(struct cc *cc) {
    siread_stop(cc->state);
    lock_table_stop(cc);
}

const struct cc_ops cc_ssi = {
    .name = "ssi",
    .summary = "serializable snapshot isolation: pivots of dangerous structures are refused",
    .paper = "Cahill, Roehm, Fekete 2008",
    .levels = 1u << LEVEL_RC | 1u << LEVEL_SI | 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .mixed = LEVEL_SI,
    .flags = CC_KEEPS_VERSIONS | CC_KEEPS_TOMBSTONES,
    .options = &table,
    .state_size = sizeof(struct siread_table),
    .txn_size = sizeof(struct ssi_txn),
    .record_size = sizeof(struct siread_record),
    .start = ssi_start,
    .stop = ssi_stop,
    .begin = ssi_begin,
    .statement = ssi_statement,
    .range = ssi_range,
    .read = ssi_read,
    .claim = ssi_claim,
    .unmatched = ssi_unmatched,
    .statement_end = ssi_statement_end,
    .rollback = ssi_rollback,
    .prepare = ssi_prepare,
    .commit = ssi_commit,
    .release = ssi_release,
    .abort = ssi_abort,
    .timer = ssi_timer,
    .blockers = ssi_blockers,
    .bounds_gap = lock_bounds_gap,
};
