/* Every price of the list is paid, and once: one terminal alone, a transaction of four increments, all prices one
 * millisecond, so that the response is the number of what is paid for. No path of a statement is cheaper than another. */
#include "tests/support/runs.h"

static void expect_ms(const char *algorithm, const char *prices, double milliseconds) {
    struct run_result result = run_of(algorithm, "hot_row",
                                      "system.terminals=1 system.cpus=1 cost.cpu_access=1ms workload.accesses=4 "
                                      "workload.hot_rows=0 workload.write_fraction=1 workload.rows=100 duration=10s %s",
                                      prices);
    assert_true(result.commits > 100);
    runs_assert_within(result.response_sum_ns / (double)result.commits * 1e-6, milliseconds, 1e-9, prices);
    run_result_free(&result);
}

static void every_price_is_paid_once(void **state) {
    (void)state;
    static const char *const algorithms[] = {"2pl", "lock-rc", "occ", "si", "to"};
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        expect_ms(algorithms[i], "", 4);
        expect_ms(algorithms[i], "cost.cpu_write=1ms", 8);
        expect_ms(algorithms[i], "cost.io_access=1ms", 8);
        expect_ms(algorithms[i], "cost.io_write=1ms", 8);
        expect_ms(algorithms[i], "cost.round_trip=1ms", 9); /* four statements and the commit */
        expect_ms(algorithms[i], "cost.log_force=1ms", 5);
    }
}

static void locks_are_paid_at_the_cpus_or_at_the_latch(void **state) {
    (void)state;
    expect_ms("2pl", "cost.cpu_lock=1ms", 8);
    expect_ms("2pl", "cost.cpu_lock=1ms cost.latch=yes", 8);
    expect_ms("occ", "cost.cpu_validate=1ms", 8); /* the four rows read */
}

/* What is paid for is paid before the next row is asked for: a hot row that comes last is held for its own price and its
 * lock's, 2 ms, and not for what the two cold rows before it cost. */
static void locks_are_paid_as_they_are_taken(void **state) {
    (void)state;
    struct run_result result = run_of("2pl", "hot_row",
                                      "system.terminals=32 system.cpus=unlimited cost.cpu_access=1ms cost.cpu_lock=1ms "
                                      "workload.accesses=3 workload.hot_rows=1 workload.hot_access=increment "
                                      "workload.hot_position=last workload.rows=100000 warmup=1s duration=20s");
    runs_assert_within(runs_tps(&result), 500, .001, "one after another");
    run_result_free(&result);
}

TEST_GROUP(prices, cmocka_unit_test(locks_are_paid_as_they_are_taken), cmocka_unit_test(every_price_is_paid_once),
           cmocka_unit_test(locks_are_paid_at_the_cpus_or_at_the_latch))
