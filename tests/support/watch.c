/* watch.c - wrappers around every function of an algorithm, with one small state machine a transaction. */
#include "tests/support/watch.h"

#include "sim/base/check.h"
#include "sim/exec/world.h"

enum stage { STAGE_NONE, STAGE_BEGUN, STAGE_STATEMENT, STAGE_SEALED, STAGE_COMMITTED };
enum { SLOTS = 4096 };

static const struct cc_ops *watched;
static struct cc_ops wrapper;
static bool prompt; /* no cycle of waiters may outlive the call that closes it */
static uint8_t stages[SLOTS];

static uint8_t *stage_of(const struct txn *txn) {
    CHECK(txn->slot < SLOTS);
    return &stages[txn->slot];
}

/* ---- Law 3: no cycle ---- */

static bool contains(const struct txn_list *list, const struct txn *txn) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == txn) {
            return true;
        }
    }
    return false;
}

/* One that was hinted repeats its call in this instant, and may die by it. */
static bool stays_waiting(struct txn *txn) {
    return txn->state == TXN_WAITING && !txn->doomed && actor_of(txn)->wait_event != EVENT_WAKE;
}

static void check_no_cycle(struct cc *cc, struct txn *start) {
    struct txn_list found = {0}, next = {0};
    vector_push(&found, start);
    for (size_t at = 0; at < found.count; at++) {
        next.count = 0;
        watched->blockers(cc, found.items[at], &next, SIZE_MAX);
        for (size_t i = 0; i < next.count; i++) {
            struct txn *blocker = next.items[i];
            CHECK_MSG(blocker != start, "a cycle of waiters is not broken");
            if (stays_waiting(blocker) && !contains(&found, blocker)) {
                vector_push(&found, blocker);
            }
        }
    }
    mem_free(found.items);
    mem_free(next.items);
}

static enum cc_status after(struct cc *cc, struct txn *txn, enum cc_status status) {
    if (status == CC_ABORT) {
        CHECK_MSG(txn->reason != REASON_NONE, "refused without a reason");
    }
    if (status == CC_WAIT && prompt && !txn->doomed) {
        check_no_cycle(cc, txn);
    }
    return status;
}

/* ---- The calls ---- */

static enum cc_status watch_begin(struct cc *cc, struct txn *txn) {
    bool again = txn->state == TXN_WAITING;
    CHECK(*stage_of(txn) == (again ? STAGE_BEGUN : STAGE_NONE) && txn->state != TXN_IDLE);
    *stage_of(txn) = STAGE_BEGUN; /* one that waits at its begin may be aborted */
    return after(cc, txn, watched->begin(cc, txn));
}

static enum cc_status watch_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    CHECK(*stage_of(txn) == STAGE_BEGUN);
    enum cc_status status = after(cc, txn, watched->statement != NULL ? watched->statement(cc, txn, intent) : CC_OK);
    if (status == CC_OK) {
        *stage_of(txn) = STAGE_STATEMENT;
    }
    return status;
}

static enum cc_status watch_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                                  enum patience patience) {
    CHECK(*stage_of(txn) == STAGE_STATEMENT && range->first <= range->last);
    CHECK(range->tail == (range->row->key > range->last || range->row->record == range->table->end));
    return after(cc, txn, watched->range(cc, txn, range, intent, patience));
}

static enum cc_status watch_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                 enum patience patience, struct version **seen) {
    CHECK(*stage_of(txn) == STAGE_STATEMENT);
    const struct version *own = row->own;
    enum cc_status status = after(cc, txn, watched->read(cc, txn, row, intent, patience, seen));
    CHECK_MSG(status != CC_OK || own == NULL || *seen == own, "an own write was not handed back");
    CHECK_MSG(status != CC_WAIT || patience == BLOCK, "waits for a record in spite of NOWAIT or SKIP LOCKED");
    CHECK(status != CC_SKIP || patience == SKIP_LOCKED);
    CHECK(status != CC_ERROR || patience == NOWAIT);
    return status;
}

static enum cc_status watch_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                  enum patience patience, struct version **base) {
    CHECK(*stage_of(txn) == STAGE_STATEMENT);
    enum cc_status status = after(cc, txn, watched->claim(cc, txn, row, change, patience, base));
    CHECK_MSG(status != CC_WAIT || patience == BLOCK || change == PUT_INSERT, "waits for a record in spite of NOWAIT");
    CHECK(status != CC_SKIP || patience == SKIP_LOCKED || (watched->flags & CC_SKIPS_OBSOLETE) != 0);
    CHECK(status != CC_ERROR || patience == NOWAIT);
    return status;
}

static void watch_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    CHECK(*stage_of(txn) == STAGE_STATEMENT);
    *stage_of(txn) = STAGE_BEGUN;
    if (watched->statement_end != NULL) {
        watched->statement_end(cc, txn, failed);
    }
}

/* The versions that are about to go are still there: each row's newest own one is the newest of its writes. */
static void check_versions_are_there(const struct txn *txn) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct write *write = &txn->writes.items[i];
        const struct row *row = &txn->rows.items[write->row];
        CHECK(row->own != NULL && write->version->writer == txn->id && write->version->stamp == 0);
        if ((watched->flags & CC_PRIVATE_WRITES) == 0) {
            CHECK(row->record->newest != NULL);
        }
    }
}

static void watch_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    bool in_statement = *stage_of(txn) == STAGE_STATEMENT;
    CHECK(in_statement ? mark == txn->statement : *stage_of(txn) == STAGE_BEGUN && mark <= txn->statement + 1);
    check_versions_are_there(txn);
    watched->rollback(cc, txn, mark);
}

/* From inside a statement, which does not end, but begins anew. */
static void watch_back(struct cc *cc, struct txn *txn, uint32_t mark) {
    CHECK(*stage_of(txn) == STAGE_STATEMENT && mark >= 1 && mark <= txn->statement);
    check_versions_are_there(txn);
    watched->back(cc, txn, mark);
    *stage_of(txn) = STAGE_BEGUN;
}

static enum cc_status watch_prepare(struct cc *cc, struct txn *txn) {
    CHECK(*stage_of(txn) == STAGE_BEGUN);
    enum cc_status status = after(cc, txn, watched->prepare(cc, txn));
    if (status == CC_OK) {
        CHECK(!txn->doomed);
        *stage_of(txn) = STAGE_SEALED;
    }
    return status;
}

static void watch_commit(struct cc *cc, struct txn *txn) {
    CHECK(*stage_of(txn) == STAGE_SEALED && txn->state == TXN_SEALED && !txn->doomed);
    check_versions_are_there(txn);
    *stage_of(txn) = STAGE_COMMITTED;
    watched->commit(cc, txn);
}

static void watch_release(struct cc *cc, struct txn *txn) {
    CHECK(*stage_of(txn) == STAGE_COMMITTED);
    *stage_of(txn) = STAGE_NONE;
    if (watched->release != NULL) {
        watched->release(cc, txn);
    }
    CHECK(txn->held == NULL && txn->queued == NULL);
}

static void watch_abort(struct cc *cc, struct txn *txn) {
    CHECK_MSG(*stage_of(txn) == STAGE_BEGUN || *stage_of(txn) == STAGE_STATEMENT,
              "aborted twice, or after prepare's OK");
    check_versions_are_there(txn);
    *stage_of(txn) = STAGE_NONE;
    watched->abort(cc, txn);
    CHECK(txn->held == NULL && txn->queued == NULL);
}

static void watch_timer(struct cc *cc, struct txn *txn, int tag) {
    CHECK(txn == NULL || (txn->state == TXN_WAITING && !txn->doomed));
    watched->timer(cc, txn, tag);
}

/* Does the algorithm leave no cycle behind? Not if it looks for them later, or lets them time out. */
static bool is_prompt(const struct cc_ops *algorithm, const void *options) {
    if (algorithm->options == NULL) {
        return true;
    }
    const struct option *detect = option_find(algorithm->options, "detect");
    if (detect != NULL) {
        const void *value = (const char *)options + detect->offset;
        return ((const struct option_call *)value)->choice == 0;
    }
    return option_find(algorithm->options, "lock_timeout") == NULL;
}

const struct cc_ops *watch_algorithm(const struct cc_ops *algorithm, const void *options) {
    watched = algorithm;
    prompt = is_prompt(algorithm, options);
    for (size_t i = 0; i < SLOTS; i++) {
        stages[i] = STAGE_NONE;
    }
    wrapper = *algorithm;
    wrapper.begin = watch_begin;
    wrapper.statement = watch_statement;
    wrapper.range = algorithm->range != NULL ? watch_range : NULL;
    wrapper.read = watch_read;
    wrapper.claim = watch_claim;
    wrapper.statement_end = watch_statement_end;
    wrapper.silent_levels = 0;
    wrapper.rollback = watch_rollback;
    wrapper.back = algorithm->back != NULL ? watch_back : NULL;
    wrapper.prepare = watch_prepare;
    wrapper.commit = watch_commit;
    wrapper.release = watch_release;
    wrapper.abort = watch_abort;
    wrapper.timer = algorithm->timer != NULL ? watch_timer : NULL;
    return &wrapper;
}
