/* tictoc - optimistic control whose commit timestamps are computed from the data.
 *
 * Every version carries an interval of logical time: it was written at `written` and is known to be valid up to `valid`.
 * A transaction commits at any moment at which all it read was valid at once and behind everything that is known of the
 * rows it writes. So it may pass although what it read has been overwritten: then it comes before the one that did.
 *
 * Rules
 *  1. A read takes the newest committed version and remembers its interval; while the record is locked it waits (NOWAIT:
 *     fails, SKIP LOCKED: leaves the row out). Who reads a row again and finds another version is refused at once: no
 *     moment suits both. Writes are private.
 *  2. prepare locks the records of the write set in the order of keys (kit/writelock.h). With all of them in hand it
 *     computes the commit timestamp: the least that is not before `written` of anything read and is behind `valid` of
 *     everything it replaces.
 *  3. A row read passes if its interval, as it was read, reaches that far; else its version must still be the newest, and be
 *     known to be valid that far or locked by nobody else: then `valid` is extended up to the commit timestamp.
 *  4. Absence has no version to carry stamps when the store has forgotten the row. So each table has two: the latest
 *     delete, behind which lies whatever relies on a row not being there, and the latest reliance on that, behind which
 *     every insert lies. Scanned ranges are walked again, tombstones included: nothing may have come or gone that the scan
 *     did not see, and no row be locked that it did not meet.
 *  5. locking = wait: a validation that meets a lock keeps those it has; retry: it gives them up and begins anew when
 *     it is woken. Before it waits it looks whether it can still pass at all (the paper's preemptive abort).
 *
 * Invariants: the serial order is that of commit timestamps, of equal ones that of validations; along each chain every
 * version is written after its older one's `valid`. A lock is waited for in the order of keys by those who prepare, and
 * by readers that hold none: no deadlock.
 * Paper: Yu, Pavlo, Sanchez, Devadas, "TicToc: time traveling optimistic concurrency control" (2016).
 * Differs from the paper: validation is one instant and its price comes after; locks last until the log is forced. Ranges are
 * validated by rows, absence by a pair of stamps a table. Locking reads are plain reads; a write that needs nothing of its
 * row depends on its being there only. */
#include "sim/cc/tictoc.h"

#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/validation.h"
#include "sim/kit/writelock.h"

enum locking { LOCKING_WAIT, LOCKING_RETRY };
struct tictoc_options {
    int locking;
};

static const char *const locking_choices[] = {"wait", "retry", NULL};
static const struct option options[] = {
    {.name = "locking",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct tictoc_options, locking),
     .fallback = "wait",
     .choices = locking_choices,
     .help = "a validation that meets a lock keeps those it has while it waits, or gives them up and begins anew"},
};
static const struct option_table table = OPTION_TABLE(options, struct tictoc_options);

/* What is known of the rows of a table that are not there. */
struct absence {
    uint64_t deleted;   /* the latest delete */
    uint64_t relied_on; /* the latest commit that relied on a row not being there, scans included */
};
struct tictoc_state {
    struct absence absence[STORE_TABLES_MAX];
};
struct tictoc_txn {
    struct writelock_txn lock; /* first */
    uint64_t commit_time;
};
/* Behind each version. */
struct interval {
    uint64_t written, valid;
};

static struct tictoc_txn *tail_of(const struct txn *txn) { return txn->tail; }
static struct interval *interval_of(struct version *version) { return version_tail(version); }
static struct absence *absence_of(struct cc *cc, const struct table *of) {
    return &((struct tictoc_state *)cc->state)->absence[of->index];
}
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t tictoc_commit_time(const struct txn *txn) { return tail_of(txn)->commit_time; }

/* ---- row->mark: the version that was read ---- */

/* Its `written`, how much longer it was known to be valid (cut off at the largest number there is room for, as if less
 * were known), and whether it said that the row is not there. */
enum { LENGTH_BITS = 20, WRITTEN_SHIFT = LENGTH_BITS + 1 };
#define LENGTH_MAX ((UINT64_C(1) << LENGTH_BITS) - 1)

static uint64_t mark_of(struct version *version) {
    const struct interval *interval = interval_of(version);
    uint64_t length = interval->valid - interval->written;
    length = length < LENGTH_MAX ? length : LENGTH_MAX;
    return interval->written << WRITTEN_SHIFT | length << 1 | version->absent;
}
static uint64_t written_of(const struct row *row) { return row->mark >> WRITTEN_SHIFT; }
static uint64_t valid_of(const struct row *row) { return written_of(row) + (row->mark >> 1 & LENGTH_MAX); }
static bool saw_absence(const struct row *row) { return (row->mark & 1) != 0; }
static bool is_newest(const struct row *row) { return interval_of(row->record->newest)->written == written_of(row); }

/* ---- Reading ---- */

static enum cc_status tictoc_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

/* The snapshot is never read: it keeps the tombstones that the validation of ranges has to meet. */
static enum cc_status tictoc_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status tictoc_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                  enum patience patience, struct version **seen) {
    (void)intent;
    if (row->own != NULL) {
        *seen = row->own;
        return CC_OK;
    }
    enum cc_status status = writelock_await(txn, row, patience);
    if (status != CC_OK) {
        return status;
    }
    struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    if (row->read_statement != 0 && !is_newest(row)) {
        return txn_refuse(txn, REASON_VALIDATION);
    }
    row->mark = mark_of(newest);
    *seen = newest;
    return CC_OK;
}

static enum cc_status tictoc_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                   enum patience patience, struct version **base) {
    (void)change;
    enum cc_status status = row->own != NULL ? CC_OK : writelock_await(txn, row, patience);
    if (status == CC_OK) {
        *base = validation_base(cc, row);
    }
    return status;
}

static void tictoc_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    (void)txn;
    (void)mark;
}

/* ---- Validation ---- */

static uint64_t earliest_for(struct cc *cc, const struct row *row) {
    const struct absence *absence = absence_of(cc, row->table);
    struct version *newest = row->record->newest;
    if (row->own != NULL) {
        uint64_t before = interval_of(newest)->valid;
        return 1 + (newest->absent ? later(before, later(absence->deleted, absence->relied_on)) : before);
    }
    uint64_t at = row->read_statement != 0 ? written_of(row) : 0;
    if (row->note != 0) {
        at = later(at, interval_of(newest)->written);
    }
    bool absent = (row->read_statement != 0 && saw_absence(row)) || (row->note & SEEN_ABSENT) != 0;
    return absent ? later(at, absence->deleted) : at;
}

/* Rule 2. */
static uint64_t commit_time(struct cc *cc, const struct txn *txn) {
    uint64_t at = 0;
    for (size_t i = 0; i < txn->rows.count; i++) {
        at = later(at, earliest_for(cc, &txn->rows.items[i]));
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        at = later(at, absence_of(cc, txn->scans.items[i].table)->deleted);
    }
    return at;
}

/* Was it read as what it is still, or long enough ago? What fails this never passes it again: time only grows. */
static bool may_hold(const struct row *row, uint64_t at) {
    bool lasts = row->own == NULL && !saw_absence(row) && valid_of(row) >= at;
    return row->read_statement == 0 || lasts || is_newest(row);
}

/* Does the newest version hold at the commit timestamp, come what may? */
static bool newest_holds(const struct txn *txn, const struct row *row, uint64_t at) {
    struct version *newest = row->record->newest;
    bool known = !newest->absent && interval_of(newest)->valid >= at;
    return known || !writelock_is_others(txn, row->record);
}

/* Rule 3. */
static bool row_holds(const struct txn *txn, const struct row *row, uint64_t at) {
    if (!may_hold(row, at)) {
        return false;
    }
    if (row->read_statement != 0 && is_newest(row) && !newest_holds(txn, row, at)) {
        return !saw_absence(row) && valid_of(row) >= at;
    }
    if (row->note != 0) {
        enum seen is = row->record->newest->absent ? SEEN_ABSENT : SEEN_PRESENT;
        return row->note == is && newest_holds(txn, row, at);
    }
    return true;
}

static bool has_versions(const struct record *record) { return record->newest != NULL; }

/* Rule 4, for one row of the range: is what the scan met there decided by row_holds, or unchanged? */
static bool scan_covers(struct txn *txn, const struct scan *scan, struct record *record, int64_t key) {
    bool taken = writelock_is_others(txn, record);
    bool changed = record->newest != NULL && record->newest->stamp > scan->stamp;
    if (!taken && !changed) {
        return true;
    }
    const struct row *row = txn_find_row(txn, scan->table, key);
    if (row == NULL || row->read_statement == 0) {
        return false;
    }
    return !changed || row->read_statement == scan->statement;
}

static bool scan_holds(struct cc *cc, struct txn *txn, const struct scan *scan) {
    int64_t key;
    struct record *record = store_next(cc->store, scan->table, scan->first, has_versions, &key);
    while (record != scan->table->end && key <= scan->last) {
        txn->work.validated++;
        if (!scan_covers(txn, scan, record, key)) {
            return false;
        }
        if (key == INT64_MAX) {
            break;
        }
        record = store_next(cc->store, scan->table, key + 1, has_versions, &key);
    }
    return true;
}

static bool all_hold(struct cc *cc, struct txn *txn, uint64_t at) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        txn->work.validated += txn->rows.items[i].read_statement != 0;
        if (!row_holds(txn, &txn->rows.items[i], at)) {
            return false;
        }
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        if (!scan_holds(cc, txn, &txn->scans.items[i])) {
            return false;
        }
    }
    return true;
}

static bool is_hopeless(struct cc *cc, const struct txn *txn) {
    uint64_t at = commit_time(cc, txn);
    for (size_t i = 0; i < txn->rows.count; i++) {
        if (!may_hold(&txn->rows.items[i], at)) {
            return true;
        }
    }
    return false;
}

/* What it relied on stays as it was up to its commit timestamp. */
static void extend(struct cc *cc, const struct txn *txn, uint64_t at) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if (row->own != NULL || (row->read_statement == 0 && row->note == 0)) {
            continue;
        }
        struct version *newest = row->record->newest;
        if (newest->absent) {
            absence_of(cc, row->table)->relied_on = later(absence_of(cc, row->table)->relied_on, at);
        } else if (row->note != 0 || is_newest(row)) {
            interval_of(newest)->valid = later(interval_of(newest)->valid, at);
        }
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        struct absence *absence = absence_of(cc, txn->scans.items[i].table);
        absence->relied_on = later(absence->relied_on, at);
    }
}

static enum cc_status tictoc_prepare(struct cc *cc, struct txn *txn) {
    const struct tictoc_options *chosen = cc->options;
    if (writelock_take(txn) == CC_WAIT) {
        if (is_hopeless(cc, txn)) {
            return txn_refuse(txn, REASON_VALIDATION);
        }
        if (chosen->locking == LOCKING_RETRY) {
            writelock_yield(cc, txn);
        }
        return CC_WAIT;
    }
    uint64_t at = commit_time(cc, txn);
    CHECK(at >> (64 - WRITTEN_SHIFT) == 0);
    if (!all_hold(cc, txn, at)) {
        return txn_refuse(txn, REASON_VALIDATION);
    }
    extend(cc, txn, at);
    tail_of(txn)->commit_time = at;
    return CC_OK;
}

/* ---- The end ---- */

static void tictoc_commit(struct cc *cc, struct txn *txn) {
    uint64_t at = tail_of(txn)->commit_time;
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        struct absence *absence = absence_of(cc, row->table);
        CHECK(interval_of(row->record->newest)->valid < at);
        *interval_of(row->own) = (struct interval){.written = at, .valid = at};
        absence->deleted = row->own->absent ? later(absence->deleted, at) : absence->deleted;
    }
    txn_publish(txn, cc->store, true);
    writelock_release(cc, txn);
    snapshot_close(cc, txn);
}

static void tictoc_abort(struct cc *cc, struct txn *txn) {
    writelock_release(cc, txn);
    snapshot_close(cc, txn);
}

const struct cc_ops cc_tictoc = {
    .name = "tictoc",
    .summary = "optimistic, commit timestamps computed from the data",
    .paper = "Yu, Pavlo, Sanchez, Devadas 2016",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_PRIVATE_WRITES | CC_KEEPS_TOMBSTONES | CC_LOOKS_AGAIN,
    .options = &table,
    .state_size = sizeof(struct tictoc_state),
    .txn_size = sizeof(struct tictoc_txn),
    .record_size = sizeof(struct writelock_head),
    .version_size = sizeof(struct interval),
    .begin = tictoc_begin,
    .statement = tictoc_statement,
    .read = tictoc_read,
    .claim = tictoc_claim,
    .rollback = tictoc_rollback,
    .prepare = tictoc_prepare,
    .commit = tictoc_commit,
    .abort = tictoc_abort,
    .blockers = writelock_blockers,
    .bounds_gap = writelock_bounds_gap,
};
