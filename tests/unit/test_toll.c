/* test_toll.c - where time was lost: the sketch of rows against exact counts, and what runs report against closed forms
 * and against their own metrics. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/random.h"
#include "sim/cc/cc.h"
#include "sim/exec/spec.h"
#include "tests/support/runs.h"

/* Few rows: every counter is exact. */
static void few_rows_are_exact(void **state) {
    (void)state;
    struct toll toll = {0};
    for (int64_t i = 0; i < 1000; i++) {
        toll_add(&toll, i % 2 ? "odd" : "even", i % 10, i);
    }
    toll_add(&toll, NULL, 7, 5);
    assert_int_equal(toll.row_count, 10);
    for (int i = 0; i < 10; i++) {
        const struct toll_row *row = &toll.rows[i];
        assert_int_equal(row->waits, 100);
        assert_int_equal(row->waited_ns, 100 * row->key + 10 * 99 * 100 / 2);
        assert_int_equal(row->error_ns, 0);
        assert_string_equal(row->table, row->key % 2 ? "odd" : "even");
    }
    assert_int_equal(toll.elsewhere, 1);
    assert_int_equal(toll.elsewhere_ns, 5);
    assert_int_equal(toll_worst_row(&toll)->key, 9);
}

/* Many rows, with a skew: bounds hold for all that is kept, the sum is exact, and who had more than its share is there. */
static void many_rows_are_bounded(void **state) {
    (void)state;
    enum { KEYS = 500, WAITS = 20000 };
    static int64_t exact[KEYS];
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = 5, .purpose = STREAM_PROGRAM});
    struct toll toll = {0};
    int64_t sum = 0, kept = 0;
    for (int i = 0; i < WAITS; i++) {
        uint64_t key = stream_below(&stream, 1 + stream_below(&stream, KEYS)); /* the low ones more often */
        int64_t waited_ns = (int64_t)stream_below(&stream, 1000) + (key == 3 ? 20000 : 0);
        exact[key] += waited_ns;
        sum += waited_ns;
        toll_add(&toll, "t", (int64_t)key, waited_ns);
    }
    assert_int_equal(toll.row_count, TOLL_ROWS);
    bool seen[KEYS] = {false};
    for (int i = 0; i < TOLL_ROWS; i++) {
        const struct toll_row *row = &toll.rows[i];
        assert_true(!seen[row->key]);
        seen[row->key] = true;
        assert_true(row->waited_ns >= exact[row->key] && row->waited_ns - row->error_ns <= exact[row->key]);
        kept += row->waited_ns;
    }
    assert_int_equal(kept, sum);
    for (int key = 0; key < KEYS; key++) {
        assert_true(exact[key] <= sum / TOLL_ROWS || seen[key]);
    }
    assert_int_equal(toll_worst_row(&toll)->key, 3);
}

/* Two halves put together bound the same sums. */
static void halves_add_up(void **state) {
    (void)state;
    enum { KEYS = 200, WAITS = 10000 };
    static int64_t exact[KEYS];
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = 6, .purpose = STREAM_PROGRAM});
    struct toll halves[2] = {{.delay_ns = 1}, {.delay_ns = 2, .aborted_ns = 3}};
    int64_t sum = 0, kept = 0;
    for (int i = 0; i < WAITS; i++) {
        uint64_t key = stream_below(&stream, 1 + stream_below(&stream, KEYS));
        int64_t waited_ns = (int64_t)stream_below(&stream, 1000);
        exact[key] += waited_ns;
        sum += waited_ns;
        toll_add(&halves[i % 2], "t", (int64_t)key, waited_ns);
    }
    toll_merge(&halves[0], &halves[1]);
    assert_true(halves[0].delay_ns == 3 && halves[0].aborted_ns == 3);
    for (int i = 0; i < halves[0].row_count; i++) {
        const struct toll_row *row = &halves[0].rows[i];
        assert_true(row->waited_ns - row->error_ns <= exact[row->key]);
        kept += row->waited_ns;
    }
    assert_int_equal(kept, sum);
}

static struct run_result asked(const char *algorithm, const char *settings) {
    struct spec spec;
    struct text error = {0};
    assert_true(spec_open(&spec, algorithm, "hot_row"));
    if (!spec_set(&spec, settings, &error)) {
        fail_msg("%s", text_string(&error));
    }
    spec.run.asks_toll = true;
    struct run_result result;
    run_simulate(&spec.run, &result);
    spec_close(&spec);
    text_free(&error);
    return result;
}

#define HOT "system.terminals=16 system.cpus=8 cost.log_force=1ms warmup=1s duration=20s "

/* All that waits waits for the hot row, which the worst row's counter has to the nanosecond; to ask changes nothing. */
static void the_hot_row_is_named(void **state) {
    (void)state;
    struct run_result result = asked("2pl", HOT), plain = run_of("2pl", "hot_row", HOT);
    assert_true(result.digest == plain.digest);
    assert_null(plain.toll);
    const struct toll_row *row = toll_worst_row(result.toll);
    assert_int_equal(row->key, 1);
    assert_int_equal(row->error_ns, 0);
    assert_true((double)row->waited_ns > .99 * result.blocked_area_ns);
    assert_true(result.toll->aborted_ns == 0 && result.toll->delay_ns == 0);
    const struct toll_queue *cpu = &result.toll->stations[TOLL_CPU];
    assert_true(cpu->limited && cpu->busy_ns == result.cpu_busy_ns && cpu->capacity_ns == result.cpu_capacity_ns);
    assert_true(!result.toll->stations[TOLL_LOG].limited);
    /* a force of 1 ms per commit */
    assert_near(result.toll->stations[TOLL_LOG].busy_ns / (double)result.commits, 1e6, 2e3);
    run_result_free(&result);
    run_result_free(&plain);
}

/* Optimists wait for the critical section, which is no row; without think time and restart delay somebody is always in
 * an attempt: those that were aborted and those that committed fill the time of all terminals. */
static void optimists_lose_attempts(void **state) {
    (void)state;
    struct run_result result = asked("occ", HOT);
    assert_int_equal(result.toll->row_count, 0);
    assert_true((double)result.toll->elsewhere_ns == result.blocked_area_ns);
    double all_ns = 16 * 20e9, lost_ns = (double)result.toll->aborted_ns;
    assert_true(lost_ns > .5 * all_ns && lost_ns < result.active_area_ns);
    assert_near(result.response_sum_ns / all_ns, 1, .02); /* straddlers */
    run_result_free(&result);
}

/* One log device, a queue: its utilization is that of the force, X times S. Restart delays are counted as drawn. */
static void stations_obey_the_utilization_law(void **state) {
    (void)state;
    struct run_result result = asked(
        "no-wait", "system.terminals=20 system.log_devices=1 system.disks=2 cost.io_access=1ms cost.log_force=5ms "
                   "restart.delay=10ms warmup=1s duration=20s workload.rows=1000 workload.hot_rows=0 "
                   "workload.write_fraction=1");
    const struct toll_queue *log = &result.toll->stations[TOLL_LOG], *disks = &result.toll->stations[TOLL_DISK];
    assert_near(log->busy_ns / log->capacity_ns, runs_tps(&result) * 5e-3, .01);
    assert_true(log->limited && disks->limited && disks->capacity_ns == 2 * log->capacity_ns);
    assert_true(result.toll->aborted_ns > 0);
    assert_true((double)result.toll->delay_ns == runs_aborts(&result) * 10e6);
    run_result_free(&result);
}

/* Under every algorithm the waits add up to the time blocked: the run itself checks it. */
static void waits_add_up_everywhere(void **state) {
    (void)state;
    uint64_t waits = 0, elsewhere = 0;
    for (size_t i = 0; i < cc_registry_count; i++) {
        struct run_result result = asked(
            cc_registry[i]->name, "system.terminals=12 system.cpus=4 cost.log_force=1ms restart.delay=2ms warmup=200ms "
                                  "duration=2s workload.rows=40 workload.hot_rows=3 workload.write_fraction=0.5 "
                                  "workload.accesses=4");
        assert_int_equal(result.status, RUN_OK);
        waits += result.waits;
        elsewhere += result.toll->elsewhere;
        run_result_free(&result);
    }
    assert_true(waits > 1000 && elsewhere > 100 && elsewhere < waits);
}

/* Beyond what the row carries the backlog grows until the run is given up; below it does not. */
static void a_backlog_ends_the_run(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct spec spec;
        struct text error = {0};
        assert_true(spec_open(&spec, "2pl", "hot_row"));
        assert_true(spec_set(&spec,
                             i == 0 ? "system.arrival_rate=200/s warmup=1s duration=50s"
                                    : "system.arrival_rate=90/s warmup=1s duration=50s",
                             &error));
        spec.run.live_max = 500;
        struct run_result result;
        run_simulate(&spec.run, &result);
        assert_int_equal(result.status, i == 0 ? RUN_TOO_MANY_LIVE : RUN_OK);
        assert_true(i == 0 || (result.live_change > -200 && result.live_change < 200));
        run_result_free(&result);
        spec_close(&spec);
    }
}

TEST_GROUP(toll, cmocka_unit_test(few_rows_are_exact), cmocka_unit_test(many_rows_are_bounded),
           cmocka_unit_test(halves_add_up), cmocka_unit_test(the_hot_row_is_named),
           cmocka_unit_test(optimists_lose_attempts), cmocka_unit_test(stations_obey_the_utilization_law),
           cmocka_unit_test(waits_add_up_everywhere), cmocka_unit_test(a_backlog_ends_the_run))
