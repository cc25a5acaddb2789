/* test_tpcc_runs.c - tpcc under every algorithm, small: the audit and the certifier hold at and above the levels that are
 * promised, and break below; numbers taken twice are tried again; terminals pause; and what snapshots do to rows. */
#include <string.h>

#include "sim/cc/cc.h"
#include "tests/support/runs.h"

/* One warehouse with 100 items: all meet at its row, and at those of ten districts. */
#define SMALL                                                                                                        \
    "workload.scale=0 system.terminals=8 system.cpus=4 cost.cpu_access=exp(1ms) restart.delay=exp(5ms) certify=yes " \
    "duration=3s "

static uint64_t new_orders(const struct run_result *result) {
    return result->types[0].commits + result->types[0].rollbacks;
}

static void expect_promise(const char *algorithm, const char *settings) {
    struct run_result result = run_of(algorithm, "tpcc", SMALL "%s", settings);
    if (result.promise_broken || (result.audit == RUN_AUDIT_BROKEN && result.audit_promised)) {
        fail_msg("%s, %s: %s %s", algorithm, settings, text_string(&result.audit_message),
                 text_string(&result.witness));
    }
    assert_int_equal(result.status, RUN_OK);
    assert_true(result.commits > 20);
    run_result_free(&result);
}

static void promises_hold_everywhere(void **state) {
    (void)state;
    static const char *const settings[] = {"workload.access=for_update workload.warehouses=2 workload.delivery=10%",
                                           "workload.access=read_write workload.order=by_key",
                                           "workload.access=returning workload.stock_level=10%"};
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *algorithm = cc_registry[i];
        if ((algorithm->flags & CC_NEEDS_PLAN) != 0) {
            expect_promise(algorithm->name, "workload.payment=1 workload.order_status=0 workload.delivery=0 "
                                            "workload.stock_level=0 workload.warehouses=2");
        } else if (strcmp(algorithm->name, "none") != 0) {
            for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
                expect_promise(algorithm->name, settings[k]);
            }
        }
    }
    expect_promise("2pl", "workload.delivery=10% algorithm.rollback=partial");
    expect_promise("ssi", "workload.stock_level=20% algorithm.versions=heap");
}

/* Balances and stock are written from what was read: with no more than read committed, updates of them are lost, unless
 * the rows are locked, or read by the statement that writes them. */
static void audits_break_below_their_level(void **state) {
    (void)state;
    static const char *const weak[] = {"lock-rc", "mvcc-rc"};
    for (size_t i = 0; i < sizeof weak / sizeof weak[0]; i++) {
        struct run_result unlocked = run_of(weak[i], "tpcc", SMALL "workload.access=read_write");
        struct run_result in_one = run_of(weak[i], "tpcc", SMALL "workload.access=returning");
        assert_int_equal(unlocked.audit, RUN_AUDIT_BROKEN);
        assert_false(unlocked.audit_promised);
        assert_true(unlocked.lost_updates_known && unlocked.lost_updates > 0);
        assert_int_equal(in_one.audit, RUN_AUDIT_OK);
        assert_int_equal(in_one.lost_updates, 0);
        run_result_free(&unlocked);
        run_result_free(&in_one);
    }
    struct run_result result = run_of("none", "tpcc", SMALL);
    assert_true(result.promise_broken && result.audit == RUN_AUDIT_BROKEN && result.audit_promised);
    run_result_free(&result);
}

/* Where a number may be read that another has used, the New-Order tries again: only the specified ones roll back. */
static void used_numbers_are_tried_again(void **state) {
    (void)state;
    static const char *const optimistic[] = {"occ", "silo", "tictoc"};
    for (size_t i = 0; i < sizeof optimistic / sizeof optimistic[0]; i++) {
        struct run_result result = run_of(optimistic[i], "tpcc", SMALL "workload.rollback=0 workload.payment=0");
        assert_true(result.aborts_by_reason[REASON_DUPLICATE] > 5);
        assert_int_equal(result.rollbacks, 0);
        assert_int_equal(result.audit, RUN_AUDIT_OK);
        run_result_free(&result);
    }
}

/* Nobody waits for a CPU, and hardly anybody for a row: each of N terminals makes a transaction in its pause and its
 * response, so N / (pause + response) a second. The mean pause is .45 x 30 s + .43 x 15 s + .04 x (12 + 7 + 7) s = 20.99 s. */
static void terminals_pause_between_transactions(void **state) {
    (void)state;
    struct run_result result =
        run_of("2pl", "tpcc",
               "workload.scale=1%% workload.warehouses=20 system.terminals=200 cost.cpu_access=1ms warmup=200s "
               "duration=1000s workload.keying_time=18s workload.think_time=12s");
    double response_s = result.response_sum_ns / 1e9 / (double)result.commits;
    runs_assert_within(runs_tps(&result), 200 / (20.99 + response_s), 0.02, "commits a second");
    runs_assert_within((double)new_orders(&result), (double)(result.commits + result.rollbacks) * .45, 0.05,
                       "New-Orders");
    assert_int_equal(result.audit, RUN_AUDIT_OK);
    run_result_free(&result);
}

/* Snapshot isolation serializes TPC-C if columns are told apart (Fekete et al. 2005). Rows are not: a New-Order that reads
 * the tax of a warehouse to which a Payment adds is in the way of a Stock-Level that sees the second, not the first. */
static void snapshots_of_rows_are_not_serializable(void **state) {
    (void)state;
    struct run_result si = run_of("si", "tpcc", SMALL "duration=10s workload.stock_level=10%%");
    struct run_result ssi = run_of("ssi", "tpcc", SMALL "duration=10s workload.stock_level=10%%");
    assert_true(si.anomalies > 0 && si.anomalies == si.anomalies_by_name[FLAW_G2_ITEM] && !si.promise_broken);
    assert_int_equal(ssi.anomalies, 0);
    assert_int_equal(si.audit, RUN_AUDIT_OK);
    run_result_free(&si);
    run_result_free(&ssi);
}

TEST_GROUP(tpcc_runs, cmocka_unit_test(promises_hold_everywhere), cmocka_unit_test(audits_break_below_their_level),
           cmocka_unit_test(used_numbers_are_tried_again), cmocka_unit_test(terminals_pause_between_transactions),
           cmocka_unit_test(snapshots_of_rows_are_not_serializable))
