/* test_intervals.c - what is said of a run's accuracy, against queues whose means are known: the intervals of batch means
 * cover them as often as they say, the warm-up that a pilot finds takes the bias of an empty start away, and common random
 * numbers narrow comparisons.
 *
 * M/M/1 is one access a transaction on one CPU, Poisson arrivals. The central server is a closed system of terminals that
 * visit a CPU once and one of two disks; product form, so mean value analysis (Reiser, Lavenberg, JACM 1980) is exact. */
#include <math.h>
#include <stdio.h>

#include "sim/base/memory.h"
#include "sim/exec/spec.h"
#include "sim/lab/pilot.h"
#include "sim/lab/statistics.h"
#include "sim/lab/table.h"
#include "tests/support/harness.h"

enum { BATCHES = 20 };

static struct spec spec_of(const char *algorithm, const char *settings) {
    struct spec spec;
    struct text error = {0};
    assert_true(spec_open(&spec, algorithm, "hot_row"));
    bool good = spec_set(&spec, "workload.rows=1000 workload.accesses=1 workload.hot_rows=0 system.cpus=1", &error) &&
                spec_set(&spec, settings, &error);
    assert_string_equal(text_string(&error), "");
    assert_true(good);
    return spec;
}

/* Does the interval of the run's batch means hold the truth? */
static bool batches_cover(const struct run_spec *run, const char *metric, double truth) {
    struct run_result result;
    struct text lines = {0};
    struct table_batches batches = {0};
    run_simulate(run, &result);
    table_series_cells(&result.batches, &lines);
    table_batches_read(text_string(&lines), lines.length, &batches);
    bool is_throughput = metric[0] == 't';
    double commits = (double)result.commits;
    double mean = is_throughput ? commits / result.sim_seconds : result.response_sum_ns / 1e6 / commits;
    double half_width = table_batches_half_width(&batches, metric);
    assert_int_equal(batches.count, BATCHES);
    assert_true(half_width > 0);
    text_free(&lines);
    run_result_free(&result);
    return fabs(mean - truth) <= half_width;
}

static int covered(const char *settings, const char *metric, double truth, uint64_t seeds) {
    struct spec spec = spec_of("none", settings);
    int count = 0;
    spec.run.batches = BATCHES;
    for (spec.run.seed = 1; spec.run.seed <= seeds; spec.run.seed++) {
        count += batches_cover(&spec.run, metric, truth);
    }
    spec_close(&spec);
    printf("%s: %d of %d\n", metric, count, (int)seeds);
    return count;
}

/* By mean value analysis: `customers` between a CPU and two disks, each visited every second time; seconds. */
static double central_server_tps(int customers, double cpu_s, double disk_s) {
    double cpu_queue = 0, disk_queue = 0, tps = 0;
    for (int n = 1; n <= customers; n++) {
        double cpu = cpu_s * (1 + cpu_queue), disk = disk_s * (1 + disk_queue);
        tps = n / (cpu + disk);
        cpu_queue = tps * cpu;
        disk_queue = tps / 2 * disk;
    }
    return tps;
}

/* 1 ms of service at 80% is 5 ms of response. Batches of 2,500 customers, many times the some 100 that depend on one
 * another. */
static void batch_means_cover_the_response_of_one_server(void **state) {
    (void)state;
    if (!test_long()) {
        test_skip();
    }
    assert_in_range(covered("system.arrival_rate=800/s warmup=2s duration=62500ms", "response_mean_ms", 5, 1000), 930,
                    970);
}

static void batch_means_cover_the_throughput_of_the_central_server(void **state) {
    (void)state;
    if (!test_long()) {
        test_skip();
    }
    assert_in_range(covered("system.terminals=8 system.disks=2 cost.io_access=exp(2ms) warmup=1s duration=20s",
                            "throughput_tps", central_server_tps(8, .001, .002), 1000),
                    930, 970);
}

/* A few of each every day, at loads that forget faster; 150 of them cover 95%, give or take 3 x 1.8%. */
static void batch_means_cover(void **state) {
    (void)state;
    assert_in_range(covered("system.arrival_rate=500/s warmup=100ms duration=10s", "response_mean_ms", 2, 150), 134,
                    150);
    assert_in_range(covered("system.terminals=4 system.disks=2 cost.io_access=exp(2ms) warmup=100ms duration=8s",
                            "throughput_tps", central_server_tps(4, .001, .002), 150),
                    134, 150);
}

static double response_of(const struct run_spec *run) {
    struct run_result result;
    run_simulate(run, &result);
    double response = result.response_sum_ns / 1e6 / (double)result.commits;
    run_result_free(&result);
    return response;
}

static double throughput_of(const struct run_spec *run) {
    struct run_result result;
    run_simulate(run, &result);
    double tps = (double)result.commits / result.sim_seconds;
    run_result_free(&result);
    return tps;
}

/* The same runs with and without the warm-up that a pilot of each seed finds. */
struct bias {
    double from_start, after_pilot, from_start_ci95, after_pilot_ci95;
};

static struct bias bias_of(const char *settings, double (*measure)(const struct run_spec *run), size_t seeds) {
    struct spec spec = spec_of("none", settings);
    double *from_start = mem_new(seeds, sizeof *from_start), *after_pilot = mem_new(seeds, sizeof *after_pilot);
    for (size_t i = 0; i < seeds; i++) {
        struct pilot pilot;
        spec.run.seed = i + 1;
        pilot_run(&spec.run, &pilot);
        assert_true(pilot.warmup_ns <= pilot.length_ns / 2);
        spec.run.warmup_ns = 0;
        from_start[i] = measure(&spec.run);
        spec.run.warmup_ns = pilot.warmup_ns;
        after_pilot[i] = measure(&spec.run);
    }
    struct bias bias = {statistics_mean(from_start, seeds), statistics_mean(after_pilot, seeds),
                        statistics_half_width95(from_start, seeds), statistics_half_width95(after_pilot, seeds)};
    printf("from the start %.2f +- %.2f, after the pilot's warm-up %.2f +- %.2f\n", bias.from_start,
           bias.from_start_ci95, bias.after_pilot, bias.after_pilot_ci95);
    mem_free(from_start);
    mem_free(after_pilot);
    spec_close(&spec);
    return bias;
}

/* 800 terminals that think for a second and start within the first five. In the end they do 800 / 1.001 s, as long as four
 * CPUs are enough for a load of 0.8; over the first ten seconds 15% less: those who have started do as much each, and each
 * first transaction comes without a think time, so 800 (1 + (5 - 2.5) + 5) = 6,800 in ten seconds. */
static void a_pilot_takes_the_bias_of_a_slow_start_away(void **state) {
    (void)state;
    double settled = 800 / 1.001;
    struct bias bias = bias_of("system.terminals=800 system.cpus=4 system.think_time=exp(1s) system.start_within=5s "
                               "duration=10s",
                               throughput_of, 10);
    assert_true(fabs(bias.from_start - 680) < 10);
    assert_true(fabs(bias.after_pilot - settled) < 0.01 * settled);
}

/* A point that gets more than it can do never settles down; one with nothing to settle needs no warm-up. */
static void a_pilot_knows_its_limits(void **state) {
    (void)state;
    struct pilot pilot, again;
    struct text words = {0};
    struct spec spec = spec_of("none", "system.arrival_rate=2000/s duration=500ms");
    pilot_run(&spec.run, &pilot);
    assert_false(pilot.settled);
    assert_int_equal(pilot.length_ns, INT64_C(2000000000));
    assert_int_equal(pilot.warmup_ns, INT64_C(1000000000));
    pilot_add(&pilot, &words);
    assert_true(pilot_read(text_string(&words), words.length, &again));
    assert_memory_equal(&again, &pilot, sizeof pilot);
    assert_false(pilot_read("12 x settled", 12, &again));
    assert_false(pilot_read("5 4 settled", 11, &again));
    assert_false(pilot_read("", 0, &again));
    spec_close(&spec);
    spec = spec_of("none", "system.terminals=1 cost.cpu_access=1ms duration=1s");
    pilot_run(&spec.run, &pilot);
    assert_true(pilot.settled && pilot.warmup_ns == 0 && pilot.length_ns == INT64_C(1000000000));
    spec_close(&spec);
    text_free(&words);
}

/* A CPU at a load of 80% and few conflicts: the spread is that of the queue for the CPU, which is the same for both. */
static void common_random_numbers_narrow_a_comparison(void **state) {
    (void)state;
    enum { REPLICATIONS = 20 };
    static const char *const names[] = {"2pl", "occ"};
    double values[2][REPLICATIONS];
    for (int a = 0; a < 2; a++) {
        struct spec spec = spec_of(names[a], "workload.accesses=8 workload.rows=2000 workload.write_fraction=10% "
                                             "system.arrival_rate=95/s warmup=2s duration=8s");
        for (int r = 0; r < REPLICATIONS; r++) {
            spec.run.replication = (uint64_t)r + 1;
            values[a][r] = response_of(&spec.run);
        }
        spec_close(&spec);
    }
    struct statistics_pair pair = statistics_compare(values[1], values[0], REPLICATIONS);
    printf("occ against 2pl: %+.3f +- %.3f ms, %.1f times narrower\n", pair.difference, pair.difference_ci95,
           pair.narrower);
    assert_true(pair.narrower > 1.5);
}

TEST_GROUP(intervals, cmocka_unit_test(batch_means_cover_the_response_of_one_server),
           cmocka_unit_test(batch_means_cover_the_throughput_of_the_central_server),
           cmocka_unit_test(batch_means_cover), cmocka_unit_test(a_pilot_takes_the_bias_of_a_slow_start_away),
           cmocka_unit_test(a_pilot_knows_its_limits), cmocka_unit_test(common_random_numbers_narrow_a_comparison))
