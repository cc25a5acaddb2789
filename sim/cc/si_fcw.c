/* si-fcw - snapshot isolation, first committer wins.
 *
 * Rules. Reads come from the snapshot, taken by the first statement, and never wait. Writes are private until the
 * commit, so that two transactions may both write a row; the first of them to prepare wins. At prepare a transaction is
 * refused if a row it wrote or read FOR UPDATE or FOR SHARE was changed by one that committed since the snapshot, or is
 * being changed by one that is prepared already: a sealed transaction counts as committed. Nobody ever waits.
 *
 * A record's tail counts the sealed transactions that will change it and those that read it with a lock. A writer is
 * refused beside either, so that what a locking read relied on holds up to the commit.
 *
 * Invariants: at most one sealed transaction will change a record; the counts are zero while nobody is sealed.
 * Paper: Berenson et al., "A critique of ANSI SQL isolation levels" (1995).
 * Differs from the paper: the snapshot is taken by the first statement, not at begin; NOWAIT and SKIP LOCKED find
 * nothing locked. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/snapshot.h"
#include "sim/kit/versions.h"

struct fcw_options {
    struct version_options versions;
};

static const struct option options[] = {VERSION_OPTIONS(struct fcw_options, versions)};
static const struct option_table table = OPTION_TABLE(options, struct fcw_options);

/* In the tail of a record: how many sealed transactions ... */
struct fcw_record {
    uint32_t writers; /* ... change it */
    uint32_t lockers; /* ... only read it with a lock */
};

static struct fcw_record *tail_of(const struct row *row) { return record_tail(row->record); }

static void fcw_start(struct cc *cc) { versions_start(cc, &((const struct fcw_options *)cc->options)->versions); }

static enum cc_status fcw_begin(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

static enum cc_status fcw_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static enum cc_status fcw_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    (void)patience;
    *seen = snapshot_version(cc, txn, row);
    /* a claim would add nothing, but for the steps to an older version, or to note that the row was locked */
    row->claimed = intent == SEE_WRITE && (row->own != NULL || *seen == row->record->newest);
    return CC_OK;
}

/* row->mark: the statement that first read the row with a lock, 0 if none did. */
static enum cc_status fcw_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    (void)patience;
    bool locks_only = change == LOCK_SHARE || change == LOCK_UPDATE;
    if (locks_only && row->mark == 0) {
        row->mark = txn->statement;
    }
    *base = snapshot_version(cc, txn, row);
    return CC_OK;
}

static void fcw_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    (void)cc;
    for (size_t i = 0; i < txn->rows.count; i++) {
        struct row *row = &txn->rows.items[i];
        if (row->mark >= mark) {
            row->mark = 0;
        }
    }
}

static bool lost(struct cc *cc, const struct txn *txn, const struct row *row) {
    const struct fcw_record *tail = tail_of(row);
    const struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    return newest->stamp > txn->snapshot || tail->writers > 0 || (row->own != NULL && tail->lockers > 0);
}

/* Adds `sign` to the counts of the rows written and locked. */
static void seal(struct txn *txn, int sign) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        struct row *row = &txn->rows.items[i];
        if (row->own != NULL) {
            tail_of(row)->writers += (uint32_t)sign;
        } else if (row->mark != 0) {
            tail_of(row)->lockers += (uint32_t)sign;
        }
    }
}

static enum cc_status fcw_prepare(struct cc *cc, struct txn *txn) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if (row->own != NULL || row->mark != 0) {
            txn->work.validated++;
            if (lost(cc, txn, row)) {
                return txn_refuse(txn, REASON_WRITE_CONFLICT);
            }
        }
    }
    seal(txn, 1);
    return CC_OK;
}

static void fcw_commit(struct cc *cc, struct txn *txn) {
    seal(txn, -1);
    txn_publish(txn, cc->store, true);
    snapshot_close(cc, txn);
}

static void fcw_abort(struct cc *cc, struct txn *txn) { snapshot_close(cc, txn); }

static void fcw_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    (void)waiting;
    (void)out;
    (void)most;
}

const struct cc_ops cc_si_fcw = {
    .name = "si-fcw",
    .summary = "snapshot isolation, first committer wins",
    .paper = "Berenson et al. 1995",
    .levels = 1u << LEVEL_SI,
    .level = LEVEL_SI,
    .flags = CC_PRIVATE_WRITES | CC_KEEPS_VERSIONS | CC_KEEPS_TOMBSTONES,
    .options = &table,
    .record_size = sizeof(struct fcw_record),
    .start = fcw_start,
    .begin = fcw_begin,
    .statement = fcw_statement,
    .read = fcw_read,
    .claim = fcw_claim,
    .rollback = fcw_rollback,
    .prepare = fcw_prepare,
    .commit = fcw_commit,
    .abort = fcw_abort,
    .blockers = fcw_blockers,
};
