/* ssn - the serial safety net over snapshot isolation: a transaction whose successors end before its predecessors is
 * refused.
 *
 * Commit stamps are given at prepare. Of a transaction T, low(T) is the least of its own stamp and of low(U) of every U,
 * sealed before it, that replaced what T read: T must come before U, and so before all that U comes before. high(T) is the
 * greatest stamp of those that T must come after: who wrote what it read or replaces, and who read what it replaces. If
 * low(T) <= high(T), somebody whom T precedes may precede T: it is refused (exclusion). Else no cycle can close, and
 * none is ever searched.
 *
 * Rules
 *  1. Snapshots, row locks and the first updater's victory are those of si.
 *  2. Each version carries the stamp of its writer, of its latest reader, and low of the one that replaced it. All three are
 *     written when a transaction is sealed, so that it counts as committed from then on.
 *  3. A read adds the writer of its version and, if it was replaced, low of the one who did; a write adds the latest reader.
 *     The test is made at each, on what the reads so far tell, and at prepare on everything.
 *  4. At prepare the scanned ranges are walked again: what came, went or changed since the snapshot was replaced by one
 *     whom the scan precedes. For those to come a mark is left on the range, as on every row found absent; an insert adds
 *     the stamps of the marks that cover its key.
 *  5. When everybody alive began after a mark was left, it is folded into a stamp of its table that counts for all keys; so
 *     are deletes, whose tombstones the store forgets then. That refuses more, never less; it matters only to those
 *     whose low lies before all who live, by way of one that has ended since.
 *
 * Invariants: marks are in the order of their stamps; a deadlock is found and broken as in si; what a rolled-back savepoint
 * read counts.
 * Paper: Wang, Johnson, Fekete, Pandis, "Efficiently making (almost) any concurrency control mechanism serializable" (2017).
 * Differs from the paper: rows read under a failed statement do not count; ranges are watched by rows and marks, not by the
 * nodes of an index; no special treatment of read-mostly transactions. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/rowlock.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/versions.h"

struct ssn_options {
    struct deadlock_options deadlock;
    struct version_options versions;
};

static const struct option options[] = {DEADLOCK_OPTIONS(struct ssn_options, deadlock, "requester"),
                                        VERSION_OPTIONS(struct ssn_options, versions)};
static const struct option_table table = OPTION_TABLE(options, struct ssn_options);

/* Behind each version. */
struct ssn_version {
    uint64_t writer;   /* its stamp */
    uint64_t reader;   /* the latest one's stamp; 0: nobody that counts */
    uint64_t replaced; /* low of who replaced it; 0: nobody sealed */
};

/* At `stamp` somebody relied on none of these keys being there but those it met - or deleted one. */
struct mark {
    const struct table *table;
    int64_t first, last;
    uint64_t stamp;
    bool deletes;
};

/* What the folded marks of a table left. */
struct folded {
    uint64_t relied_on, deleted;
};

struct ssn_state {
    uint64_t clock; /* the latest stamp */
    VECTOR(struct mark) marks;
    size_t first; /* of `marks`: those before it are folded */
    struct folded folded[STORE_TABLES_MAX];
};

/* low and high, as far as the reads tell. */
struct bounds {
    uint64_t low, high;
};
struct ssn_txn {
    uint64_t began; /* the latest stamp when its snapshot was taken */
    struct bounds bounds;
};

static struct ssn_txn *tail_of(const struct txn *txn) { return txn->tail; }
static struct ssn_version *stamps_of(struct version *version) { return version_tail(version); }
static const struct deadlock_options *deadlock_of(const struct cc *cc) {
    return &((const struct ssn_options *)cc->options)->deadlock;
}
static const struct folded *folded_of(const struct cc *cc, const struct table *of) {
    return &((const struct ssn_state *)cc->state)->folded[of->index];
}

/* ---- Bounds ---- */

static void follow(struct bounds *bounds, uint64_t stamp) {
    bounds->high = stamp > bounds->high ? stamp : bounds->high;
}

static bool excludes(const struct bounds *bounds) { return bounds->low <= bounds->high; }

static void add_read(const struct cc *cc, struct bounds *bounds, const struct table *of, struct version *seen) {
    const struct ssn_version *stamps = stamps_of(seen);
    follow(bounds, stamps->writer);
    if (seen->absent) {
        follow(bounds, folded_of(cc, of)->deleted);
    }
    if (stamps->replaced != 0 && stamps->replaced < bounds->low) {
        bounds->low = stamps->replaced;
    }
}

static void add_marks(const struct cc *cc, struct bounds *bounds, const struct row *row) {
    const struct ssn_state *state = cc->state;
    follow(bounds, folded_of(cc, row->table)->relied_on);
    follow(bounds, folded_of(cc, row->table)->deleted);
    for (size_t i = state->marks.count; i > state->first; i--) {
        const struct mark *mark = &state->marks.items[i - 1];
        if (!mark->deletes && mark->table == row->table && row->key >= mark->first && row->key <= mark->last) {
            follow(bounds, mark->stamp);
            return; /* those before it are older */
        }
    }
}

static void add_write(const struct cc *cc, struct bounds *bounds, const struct row *row, struct version *base) {
    follow(bounds, stamps_of(base)->writer);
    follow(bounds, stamps_of(base)->reader);
    if (base->absent) {
        add_marks(cc, bounds, row);
    }
}

/* The version that the snapshot shows; the own ones, and others' uncommitted ones, stand above it. */
static struct version *visible(const struct txn *txn, const struct record *record) {
    struct version *version = record->newest;
    while (version->stamp == 0 || version->stamp > txn->snapshot) {
        version = version->older;
        CHECK(version != NULL);
    }
    return version;
}

/* A write by key that reads nothing finds its row there, or not: that is a read. row->mark: the first statement that
 * claimed the row and did not fail. */
static bool is_read(const struct row *row) { return row->read_statement != 0 || row->mark != 0; }

static struct bounds bounds_of_reads(const struct cc *cc, const struct txn *txn) {
    struct bounds bounds = {.low = UINT64_MAX};
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if (is_read(row)) {
            add_read(cc, &bounds, row->table, visible(txn, row->record));
        }
    }
    return bounds;
}

/* ---- Statements ---- */

static enum cc_status ssn_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    tail_of(txn)->bounds.low = UINT64_MAX;
    return CC_OK;
}

static enum cc_status ssn_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    if (txn->snapshot == 0) {
        tail_of(txn)->began = ((const struct ssn_state *)cc->state)->clock;
    }
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status test(struct txn *txn) {
    return excludes(&tail_of(txn)->bounds) ? txn_refuse(txn, REASON_EXCLUSION) : CC_OK;
}

static enum cc_status ssn_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    (void)intent;
    (void)patience;
    *seen = snapshot_version(cc, txn, row);
    if (row->own != NULL) {
        return CC_OK;
    }
    add_read(cc, &tail_of(txn)->bounds, row->table, *seen);
    return test(txn);
}

static enum cc_status ssn_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    enum cc_status status = rowlock_claim(cc, deadlock_of(cc), txn, row, change, patience, base);
    if (status != CC_OK || row->own != NULL) {
        return status;
    }
    row->mark = row->mark != 0 ? row->mark : txn->statement;
    struct bounds *bounds = &tail_of(txn)->bounds;
    add_read(cc, bounds, row->table, *base);
    struct bounds with_write = *bounds;
    bool locks = change == LOCK_SHARE || change == LOCK_UPDATE;
    if (!locks && (change == PUT_INSERT) == (*base)->absent) {
        add_write(cc, &with_write, row, *base);
    }
    return excludes(&with_write) ? txn_refuse(txn, REASON_EXCLUSION) : CC_OK;
}

static void ssn_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        lock_forget_statement(cc, txn, txn->statement);
        for (size_t i = 0; i < txn->rows.count; i++) {
            struct row *row = &txn->rows.items[i];
            row->mark = row->mark == txn->statement ? 0 : row->mark;
        }
        tail_of(txn)->bounds = bounds_of_reads(cc, txn);
    }
}

static void ssn_rollback(struct cc *cc, struct txn *txn, uint32_t mark) { lock_rollback(cc, txn, mark, false); }

/* ---- Prepare ---- */

static bool has_versions(const struct record *record) { return record->newest != NULL; }

static void add_scan(struct cc *cc, struct txn *txn, struct bounds *bounds, const struct scan *scan) {
    int64_t key;
    struct record *record = store_next(cc->store, scan->table, scan->first, has_versions, &key);
    follow(bounds, folded_of(cc, scan->table)->deleted);
    while (record != scan->table->end && key <= scan->last) {
        txn->work.validated++;
        if (record->newest != NULL) {
            add_read(cc, bounds, scan->table, visible(txn, record));
        }
        if (key == INT64_MAX) {
            break;
        }
        record = store_next(cc->store, scan->table, key + 1, has_versions, &key);
    }
}

static struct version *replaced_by(const struct row *row) {
    struct version *version = row->own->older;
    while (version->stamp == 0) { /* the attempt's own older ones */
        version = version->older;
    }
    return version;
}

static struct bounds bounds_of(struct cc *cc, struct txn *txn) {
    struct bounds bounds = bounds_of_reads(cc, txn);
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        txn->work.validated += is_read(row) || row->own != NULL;
        if (row->own != NULL) {
            add_write(cc, &bounds, row, replaced_by(row));
        }
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        add_scan(cc, txn, &bounds, &txn->scans.items[i]);
    }
    return bounds;
}

static void leave_mark(struct ssn_state *state, const struct table *of, int64_t first, int64_t last, bool deletes) {
    struct mark mark = {.table = of, .first = first, .last = last, .stamp = state->clock, .deletes = deletes};
    vector_push(&state->marks, mark);
}

/* What others have to know of it, from now on. */
static void leave_stamps(struct ssn_state *state, const struct txn *txn, uint64_t low) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if (is_read(row)) {
            struct version *seen = visible(txn, row->record);
            stamps_of(seen)->reader = state->clock;
            if (seen->absent) {
                leave_mark(state, row->table, row->key, row->key, false);
            }
        }
        if (row->own != NULL) {
            *stamps_of(row->own) = (struct ssn_version){.writer = state->clock, .reader = state->clock};
            stamps_of(replaced_by(row))->replaced = low;
            if (row->own->absent) {
                leave_mark(state, row->table, row->key, row->key, true);
            }
        }
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        const struct scan *scan = &txn->scans.items[i];
        leave_mark(state, scan->table, scan->first, scan->last, false);
    }
}

static enum cc_status ssn_prepare(struct cc *cc, struct txn *txn) {
    struct ssn_state *state = cc->state;
    struct bounds bounds = bounds_of(cc, txn);
    uint64_t own = state->clock + 1;
    bounds.low = bounds.low < own ? bounds.low : own;
    if (excludes(&bounds)) {
        return txn_refuse(txn, REASON_EXCLUSION);
    }
    state->clock = own;
    leave_stamps(state, txn, bounds.low);
    return CC_OK;
}

/* ---- The end ---- */

/* Rule 5; the room of what is folded is used again. */
static void fold(struct cc *cc) {
    struct ssn_state *state = cc->state;
    uint64_t oldest = cc->snapshot_first != NULL ? tail_of(cc->snapshot_first)->began : state->clock;
    while (state->first < state->marks.count && state->marks.items[state->first].stamp <= oldest) {
        const struct mark *mark = &state->marks.items[state->first++];
        struct folded *folded = &state->folded[mark->table->index];
        uint64_t *stamp = mark->deletes ? &folded->deleted : &folded->relied_on;
        *stamp = mark->stamp > *stamp ? mark->stamp : *stamp;
    }
    if (state->first * 2 > state->marks.count) {
        state->marks.count -= state->first;
        for (size_t i = 0; i < state->marks.count; i++) {
            state->marks.items[i] = state->marks.items[state->first + i];
        }
        state->first = 0;
    }
}

static void ssn_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, false);
    snapshot_close(cc, txn);
    fold(cc);
}

static void ssn_release(struct cc *cc, struct txn *txn) { lock_release_all(cc, txn); }

static void ssn_abort(struct cc *cc, struct txn *txn) {
    lock_cancel(cc, txn);
    lock_release_all(cc, txn);
    snapshot_close(cc, txn);
    fold(cc);
}

static void ssn_timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, deadlock_of(cc), txn);
}

static void ssn_start(struct cc *cc) {
    rowlock_start(cc);
    versions_start(cc, &((const struct ssn_options *)cc->options)->versions);
}

static void ssn_stop(struct cc *cc) {
    vector_free(&((struct ssn_state *)cc->state)->marks);
    lock_table_stop(cc);
}

const struct cc_ops cc_ssn = {
    .name = "ssn",
    .summary = "serializable by the serial safety net over snapshot isolation",
    .paper = "Wang, Johnson, Fekete, Pandis 2017",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_KEEPS_VERSIONS | CC_KEEPS_TOMBSTONES,
    .options = &table,
    .state_size = sizeof(struct ssn_state),
    .txn_size = sizeof(struct ssn_txn),
    .record_size = sizeof(struct lock_head),
    .version_size = sizeof(struct ssn_version),
    .start = ssn_start,
    .stop = ssn_stop,
    .begin = ssn_begin,
    .statement = ssn_statement,
    .read = ssn_read,
    .claim = ssn_claim,
    .statement_end = ssn_statement_end,
    .rollback = ssn_rollback,
    .prepare = ssn_prepare,
    .commit = ssn_commit,
    .release = ssn_release,
    .abort = ssn_abort,
    .timer = ssn_timer,
    .blockers = rowlock_blockers,
    .bounds_gap = lock_bounds_gap,
};
