/* test_predicate_locks.c - phantoms = predicate: exact in both directions, FIFO, seen by the deadlock search, under every
 * scheme. The oracle and the certifier say that there are no phantoms; here a naive list of what is being asked for
 * says that nobody waits without cause, and nobody passes with one. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/kit/locking.h"
#include "tests/support/harness.h"
#include "tests/support/wild.h"

enum { WORLDS = 40, WORLDS_LONG = 1000 };

static const char *const schemes[] = {"2pl", "2pl-timeout", "no-wait", "wait-die", "wound-wait", "wait-depth"};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

/* ---- The model: every scan of every live attempt, from its first call on ---- */

struct asked {
    uint64_t id;
    uint32_t statement;
    const struct table *table;
    int64_t first, last;
    struct condition condition;
    bool granted;
};
static VECTOR(struct asked) list;
static const struct cc_ops *inner;
static uint64_t changes_waited, changes_passed, reads_waited;

static void forget(const struct txn *txn, uint32_t from) {
    size_t kept = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].id != txn->id || list.items[i].statement < from) {
            list.items[kept++] = list.items[i];
        }
    }
    list.count = kept;
}

static bool wants(const struct asked *scan, int64_t key, struct image image) {
    return scan->first <= key && key <= scan->last && !image.absent &&
           condition_holds(&scan->condition, key, image.value);
}

/* Would the scan want one of the row's versions, down to the committed one? */
static bool may_want(const struct asked *scan, const struct row *row) {
    bool may = false, committed = false;
    for (const struct version *at = row->record->newest; at != NULL && !committed; at = at->older) {
        may |= wants(scan, row->key, (struct image){.value = at->value, .absent = at->absent});
        committed = at->stamp != 0;
    }
    return may;
}

/* Does another ask, perhaps in vain so far, for what the row is about to become, and not for what it is? */
static bool somebody_minds(const struct txn *txn, const struct row *row, struct image after, bool granted) {
    bool found = false;
    for (size_t i = 0; i < list.count; i++) {
        const struct asked *scan = &list.items[i];
        found |= scan->id != txn->id && scan->table == row->table && scan->granted >= granted &&
                 wants(scan, row->key, after) && !may_want(scan, row);
    }
    return found;
}

static enum cc_status range(struct cc *cc, struct txn *txn, const struct range *where, enum intent intent,
                            enum patience patience) {
    forget(txn, txn->statement);
    struct asked scan = {txn->id, txn->statement, where->table, where->first, where->last, where->condition, false};
    enum cc_status status = inner->range(cc, txn, where, intent, patience);
    scan.granted = status == CC_OK;
    if (status == CC_OK || status == CC_WAIT) {
        vector_push(&list, scan);
    }
    return status;
}

/* A scan waits only for rows that may come to match. */
static enum cc_status read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                           struct version **seen) {
    uint32_t number = txn_row_number(txn, row);
    enum cc_status status = inner->read(cc, txn, row, intent, patience, seen);
    row = &txn->rows.items[number];
    for (size_t i = 0; i < list.count && status == CC_WAIT; i++) {
        const struct asked *scan = &list.items[i];
        if (scan->id == txn->id && scan->statement == txn->statement) {
            CHECK_MSG(may_want(scan, row), "a scan waits for a row that it will not want");
            reads_waited++;
        }
    }
    return status;
}

/* An upgrade of the own row's lock may be what it waits for; the line of the table is only looked at with the lock. */
static enum cc_status claim(struct cc *cc, struct txn *txn, struct row *row, enum change change, enum patience patience,
                            struct version **base) {
    uint32_t number = txn_row_number(txn, row);
    enum cc_status status = inner->claim(cc, txn, row, change, patience, base);
    row = &txn->rows.items[number];
    bool in_line = txn->predicate_queued != NULL;
    if (change < PUT_UPDATE || (status == CC_WAIT ? !in_line : status != CC_OK)) {
        return status;
    }
    const struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    struct image after = txn_change_result(cc, txn, row, newest);
    if (status == CC_WAIT) {
        CHECK_MSG(somebody_minds(txn, row, after, false), "waits although nobody asks for the row");
        changes_waited++;
    } else {
        CHECK_MSG(!somebody_minds(txn, row, after, true), "changes a row that another has asked for");
        changes_passed++;
    }
    return status;
}

static void statement_end(struct cc *cc, struct txn *txn, bool failed) {
    bool is_short = txn->level != LEVEL_SER && txn->intent != SEE_WRITE;
    inner->statement_end(cc, txn, failed);
    if (failed || is_short) {
        forget(txn, txn->statement);
    }
}

/* At SER what was asked for before a rollback counts. */
static void rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    if (txn->level != LEVEL_SER) {
        forget(txn, mark);
    }
    inner->rollback(cc, txn, mark);
}

static void back(struct cc *cc, struct txn *txn, uint32_t mark) {
    forget(txn, mark);
    inner->back(cc, txn, mark);
}

static void release(struct cc *cc, struct txn *txn) {
    forget(txn, 0);
    inner->release(cc, txn);
}

static void give_up(struct cc *cc, struct txn *txn) {
    forget(txn, 0);
    inner->abort(cc, txn);
}

/* ---- Random worlds ---- */

static uint64_t waits_of(const struct cc_ops *algorithm, const struct cc_ops *spied, uint64_t seed,
                         const char *settings) {
    struct wild_world world;
    struct run_result result;
    wild_world_draw(&world, algorithm, seed, settings);
    world.spec.algorithm = spied;
    wild_world_run(&world, &result);
    assert_true(result.status == RUN_OK && result.quiescent);
    assert_int_equal(world.oracle.mismatches, 0);
    uint64_t waits = result.waits;
    wild_world_free(&world);
    run_result_free(&result);
    return waits;
}

static void is_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < SCHEMES; i++) {
        uint64_t by_predicate = 0, by_key = 0;
        struct cc_ops spied = *cc_find(schemes[i]);
        inner = cc_find(schemes[i]);
        spied.range = range;
        spied.read = read;
        spied.claim = claim;
        spied.statement_end = statement_end;
        spied.silent_levels = 0;
        spied.rollback = rollback;
        spied.back = back;
        spied.release = release;
        spied.abort = give_up;
        for (uint64_t seed = 1; seed <= (test_long() ? WORLDS_LONG : WORLDS); seed++) {
            by_predicate += waits_of(inner, &spied, seed, "phantoms=predicate");
            by_key += waits_of(inner, inner, seed, "phantoms=next_key");
            assert_int_equal(list.count, 0);
        }
        print_message("%s: %d waits for predicates and rows, %d for next keys\n", schemes[i], (int)by_predicate,
                      (int)by_key);
        assert_true(by_predicate < by_key || by_key == 0);
    }
    assert_true(changes_waited > WORLDS && reads_waited > WORLDS && changes_passed > 100 * WORLDS);
    vector_free(&list);
}

TEST_GROUP(predicate_locks, cmocka_unit_test(is_exact))
