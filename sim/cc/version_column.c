/* version-column - optimistic locking as applications do it, over READ COMMITTED.
 *
 * The application reads a row with its token (a version number, the time of the last change, or the values themselves)
 * and writes it with UPDATE ... WHERE token = what it read. If somebody changed the row in between, 0 rows match: it
 * starts again. The database below is lock-rc: read locks to the end of the statement, write locks to the end.
 *   version      counted up by every change: nothing passes unnoticed, no update is lost;
 *   timestamp    the time of the change in whole grains: two edits within one grain look alike, and one may be lost;
 *   value        the old value: an edit that was taken back (ABA) passes.
 * The token is that of the first read of the row in the attempt; what it wrote itself it may write again. A write of a
 * row that was not read before, an increment in one statement say, is conditional on nothing and needs not be.
 *
 * Invariants: those of kit/locking.h; with token = version, the version replaced is the one read first.
 * Paper: none; the habit of applications and object-relational mappers. Kung and Robinson (1981) is its ancestor: this
 * validates each row written, at the time of the write, and no row that was only read.
 * Differs from the paper: there is none. Of an absent row nothing but its absence can be compared. Times are those of
 * commits; where time stands still, in a schedule that is played, all edits fall within one grain. */
#include "sim/cc/cc.h"
#include "sim/kit/duration.h"

enum token { TOKEN_VERSION, TOKEN_TIMESTAMP, TOKEN_VALUE };
struct version_options {
    struct duration_options duration;
    struct option_call token;
};

static const char *const token_choices[] = {"version", "timestamp(duration)", "value", NULL};
static const struct option options[] = {
    {.name = "token",
     .type = OPTION_CALL,
     .offset = offsetof(struct version_options, token),
     .fallback = "version",
     .choices = token_choices,
     .help =
         "what a write compares with what was read: a counter, the time of the last change in grains, or the value"},
    DEADLOCK_OPTIONS(struct version_options, duration.deadlock, "youngest"),
};
static const struct option_table table = OPTION_TABLE(options, struct version_options);

/* row->note: what the token, row->mark, was read of. */
enum noted { NOTED_ABSENT = 1, NOTED_PRESENT = 2 };

struct version_head {
    struct lock_head lock;
    int64_t changed_ns; /* by the latest commit; 0 of an absent row */
};

static struct version_head *head_of(struct record *record) { return record_tail(record); }

static uint64_t token_of(struct cc *cc, struct record *record, const struct version *version) {
    const struct option_call *token = &((const struct version_options *)cc->options)->token;
    if (version->absent) {
        return 0;
    }
    switch (token->choice) {
    case TOKEN_TIMESTAMP:
        return (uint64_t)(head_of(record)->changed_ns / (token->integer[0] > 0 ? token->integer[0] : 1));
    case TOKEN_VALUE: return (uint64_t)version->value;
    default: return version->stamp;
    }
}

static enum noted noted_of(const struct version *version) { return version->absent ? NOTED_ABSENT : NOTED_PRESENT; }

static enum cc_status version_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                   enum patience patience, struct version **seen) {
    enum cc_status status = locking_read(cc, txn, row, intent, patience, seen);
    row->claimed = false; /* claim has the last word */
    if (status == CC_OK && row->own == NULL && row->note == 0) {
        row->note = (uint8_t)noted_of(*seen);
        row->mark = token_of(cc, row->record, *seen);
    }
    return status;
}

/* Under X the newest version is the committed one. */
static bool is_as_read(struct cc *cc, const struct row *row, const struct version *base) {
    return row->note == 0 || (row->note == noted_of(base) && row->mark == token_of(cc, row->record, base));
}

static enum cc_status version_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                    enum patience patience, struct version **base) {
    uint32_t number = txn_row_number(txn, row);
    enum cc_status status = locking_claim(cc, txn, row, change, patience, base);
    row = &txn->rows.items[number];
    bool writes = change != LOCK_SHARE && change != LOCK_UPDATE;
    if (status == CC_OK && writes && row->own == NULL && !is_as_read(cc, row, *base)) {
        return txn_refuse(txn, REASON_VALIDATION);
    }
    return status;
}

static void version_commit(struct cc *cc, struct txn *txn) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        head_of(row->record)->changed_ns = row->own->absent ? 0 : cc->harness->now(cc->harness->world);
    }
    locking_commit(cc, txn);
}

const struct cc_ops cc_version_column = {
    .name = "version-column",
    .summary = "optimistic locking as applications do it, over read committed",
    .paper = "none",
    .levels = 1u << LEVEL_RC,
    .level = LEVEL_RC,
    .options = &table,
    .record_size = sizeof(struct version_head),
    .state_size = sizeof(struct locking),
    .start = duration_start,
    .stop = locking_stop,
    .begin = locking_begin,
    .range = locking_range,
    .read = version_read,
    .claim = version_claim,
    .statement_end = locking_statement_end,
    .rollback = locking_rollback,
    .prepare = locking_prepare,
    .commit = version_commit,
    .release = locking_release,
    .abort = locking_abort,
    .timer = duration_timer,
    .blockers = locking_blockers,
    .bounds_gap = lock_bounds_gap,
};
