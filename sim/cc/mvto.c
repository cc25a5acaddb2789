/* mvto - multiversion timestamp ordering: reads are never refused.
 *
 * A transaction's timestamp is that of its attempt, a new one at each restart. It reads the newest version that is not
 * younger than itself, and waits for its writer's end if that version is not committed. It writes just above that
 * version, also beneath younger ones; the write is refused (ts_late) if a younger transaction read that version. Scans
 * leave a read stamp on the version of every row they meet and on the gap before it; an insert into a gap that a younger
 * one scanned is refused.
 *
 * Invariants
 *  1. Every chain of versions is in order of timestamps; the serial order is that of timestamps.
 *  2. Only the younger wait for the older: no deadlock.
 *  3. A version is kept until everybody alive began after the next one was committed: nobody else can have to see it.
 *  4. A write by key that found its row there relies on that: no delete is put beneath it. One that found none has read
 *     that there is none.
 * Paper: Reed, "Naming and synchronization in a decentralized computer system" (1978); Bernstein, Goodman,
 * "Multiversion concurrency control - theory and algorithms" (1983).
 * Differs from the paper: uncommitted versions are waited for, so that no cascade can come; gaps have read stamps. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/timestamp.h"
#include "sim/kit/versions.h"

struct mvto_options {
    struct version_options versions;
};

static const struct option options[] = {VERSION_OPTIONS(struct mvto_options, versions)};
static const struct option_table table = OPTION_TABLE(options, struct mvto_options);

/* Behind each version. */
struct version_mark {
    uint64_t read; /* the youngest that read it */
};

static void mvto_start(struct cc *cc) { versions_start(cc, &((const struct mvto_options *)cc->options)->versions); }

static bool mvto_bounds_gap(const struct record *record) {
    return ((const struct timestamp_mark *)(const void *)(record + 1))->gap != 0;
}

static struct version_mark *version_mark_of(struct version *version) { return version_tail(version); }

/* The record remembers the youngest reader of all versions, so that it stays when a version with a stamp would go. */
static void stamp_read(struct txn *txn, struct row *row, struct version *version) {
    struct timestamp_mark *mark = timestamp_mark_of(row->record);
    mark->read = timestamp_max(mark->read, txn->id);
    version_mark_of(version)->read = timestamp_max(version_mark_of(version)->read, txn->id);
}

static struct version *visible(struct cc *cc, struct txn *txn, const struct row *row) {
    struct version *version = store_newest(cc->store, row->table, row->key, row->record);
    uint32_t passed = 0;
    while (version->writer > txn->id) {
        passed++;
        version = version->older;
        CHECK(version != NULL);
    }
    versions_walked(cc, txn, passed);
    return version;
}

static enum cc_status mvto_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                enum patience patience, struct version **seen) {
    (void)intent;
    if (row->own != NULL) {
        *seen = row->own;
        return CC_OK;
    }
    struct version *version = visible(cc, txn, row);
    if (version->stamp == 0) {
        return timestamp_wait(cc, txn, version, patience);
    }
    stamp_read(txn, row, version);
    /* no younger one read it, and none wrote: it may be written, too */
    row->claimed = version_mark_of(version)->read == txn->id && version == row->record->newest;
    *seen = version;
    return CC_OK;
}

/* A row not written yet is to be changed: above `base`. */
static enum cc_status take(struct cc *cc, struct txn *txn, struct row *row, enum change change, enum patience patience,
                           struct version *base) {
    if (base->stamp == 0) {
        return timestamp_wait(cc, txn, base, patience);
    }
    if (version_mark_of(base)->read > txn->id) {
        return txn_refuse(txn, REASON_TS_LATE);
    }
    if (change == PUT_INSERT) {
        return timestamp_enter_gap(cc, txn, row, mvto_bounds_gap);
    }
    if (base->absent) {
        stamp_read(txn, row, base);
    }
    return CC_OK;
}

static enum cc_status mvto_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                 enum patience patience, struct version **base) {
    *base = row->own != NULL ? row->own : visible(cc, txn, row);
    if (change == LOCK_SHARE || change == LOCK_UPDATE) {
        return CC_OK; /* has been read just now */
    }
    if (row->own == NULL) {
        enum cc_status status = take(cc, txn, row, change, patience, *base);
        if (status != CC_OK) {
            return status;
        }
    }
    if (change == PUT_DELETE && *base != row->record->newest) {
        return txn_refuse(txn, REASON_TS_LATE); /* invariant 4 */
    }
    return CC_OK;
}

static void mvto_commit(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, false);
    timestamp_end(cc, txn);
}

/* Its versions may stand beneath committed ones: they go before the old versions that its end sets free. */
static void mvto_abort(struct cc *cc, struct txn *txn) {
    txn_undo(txn, cc->store, 0, false);
    timestamp_end(cc, txn);
}

const struct cc_ops cc_mvto = {
    .name = "mvto",
    .summary = "multiversion timestamp ordering",
    .paper = "Reed 1978",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_KEEPS_VERSIONS | CC_KEEPS_TOMBSTONES | CC_LOOKS_AGAIN,
    .options = &table,
    .state_size = sizeof(struct timestamp_state),
    .txn_size = sizeof(struct timestamp_txn),
    .record_size = sizeof(struct timestamp_mark),
    .version_size = sizeof(struct version_mark),
    .start = mvto_start,
    .stop = timestamp_stop,
    .begin = timestamp_begin,
    .statement = timestamp_statement,
    .range = timestamp_range,
    .read = mvto_read,
    .claim = mvto_claim,
    .rollback = timestamp_rollback,
    .prepare = timestamp_prepare,
    .commit = mvto_commit,
    .abort = mvto_abort,
    .blockers = timestamp_blockers,
    .bounds_gap = mvto_bounds_gap,
};
