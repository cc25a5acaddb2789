/* test_conservative.c - all locks before the first step: nobody waits once it has begun, nobody is aborted, and a row
 * is held from the begin on, whenever it is used. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "tests/support/harness.h"
#include "tests/support/runs.h"
#include "tests/support/wild.h"

enum { WORLDS = 150, WORLDS_LONG = 2000 };

/* ---- Where it waits: in random worlds, with scans and inserts ---- */

static const struct cc_ops *inner;
static uint64_t begins_waited, calls;

static enum cc_status never_waits(enum cc_status status) {
    CHECK_MSG(status == CC_OK, "not every lock was taken at the begin");
    calls++;
    return status;
}

static enum cc_status begin(struct cc *cc, struct txn *txn) {
    enum cc_status status = inner->begin(cc, txn);
    CHECK(status == CC_OK || status == CC_WAIT);
    begins_waited += status == CC_WAIT;
    txn->work.searched = 0;
    return status;
}

static enum cc_status range(struct cc *cc, struct txn *txn, const struct range *where, enum intent intent,
                            enum patience patience) {
    uint32_t locks = txn->lock_count;
    enum cc_status status = never_waits(inner->range(cc, txn, where, intent, patience));
    CHECK(txn->lock_count == locks);
    return status;
}

static enum cc_status read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                           struct version **seen) {
    uint32_t locks = txn->lock_count;
    enum cc_status status = never_waits(inner->read(cc, txn, row, intent, patience, seen));
    CHECK(txn->lock_count == locks);
    return status;
}

static enum cc_status claim(struct cc *cc, struct txn *txn, struct row *row, enum change change, enum patience patience,
                            struct version **base) {
    uint32_t locks = txn->lock_count;
    enum cc_status status = never_waits(inner->claim(cc, txn, row, change, patience, base));
    CHECK(txn->lock_count == locks);
    return status;
}

static void waits_at_its_begin_only(void **state) {
    (void)state;
    struct cc_ops spied = *cc_find("2pl-conservative");
    inner = cc_find("2pl-conservative");
    spied.begin = begin;
    spied.range = range;
    spied.read = read;
    spied.claim = claim;
    for (uint64_t seed = 1; seed <= (test_long() ? WORLDS_LONG : WORLDS); seed++) {
        struct wild_world world;
        struct run_result result;
        wild_world_draw(&world, &spied, seed, NULL);
        wild_world_run(&world, &result);
        assert_true(result.status == RUN_OK && result.quiescent);
        for (int reason = 0; reason < REASON_COUNT; reason++) {
            assert_int_equal(result.aborts_by_reason[reason], 0);
        }
        assert_int_equal(world.oracle.mismatches, 0);
        wild_world_free(&world);
        run_result_free(&result);
    }
    assert_true(begins_waited > WORLDS && calls > 100 * WORLDS);
}

/* ---- How long it holds: the hot row of eight accesses of 1 ms, used first or last ---- */

static void holds_from_the_begin_on(void **state) {
    (void)state;
    static const char *const positions[] = {"first", "last", "random"};
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        struct run_result result = run_of("2pl-conservative", "hot_row",
                                          "system.terminals=16 cost.cpu_access=1ms workload.hot_position=%s warmup=1s "
                                          "duration=20s",
                                          positions[i]);
        runs_assert_within(runs_tps(&result), 125, 0.001, positions[i]);
        assert_true(runs_aborts(&result) == 0);
        run_result_free(&result);
    }
}

TEST_GROUP(conservative, cmocka_unit_test(waits_at_its_begin_only), cmocka_unit_test(holds_from_the_begin_on))
