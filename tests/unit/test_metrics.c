/* test_metrics.c - every metric from raw counts worked out by hand, and where each is undefined. */
#include "tests/support/harness.h"

#include <math.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/lab/metrics.h"

static double metric(const char *name, const struct run_result *result) {
    const struct metric *found = metric_find(name);
    assert_non_null(found);
    return found->get(result, found->argument);
}

/* 10 s, 200 commits, 50 aborts of two kinds, two CPUs. */
static struct run_result sample(void) {
    struct run_result result = {.sim_seconds = 10,
                                .commits = 200,
                                .rollbacks = 7,
                                .gave_up = 3,
                                .waits = 120,
                                .lock_upgrades = 4,
                                .escalations = 2,
                                .wait_sum_ns = 4e8,
                                .response_sum_ns = 2e9,
                                .admission_sum_ns = 1e8,
                                .rollback_response_sum_ns = 2.1e8,
                                .blocked_area_ns = 5e9,
                                .active_area_ns = 2.5e10,
                                .cpus_limited = true,
                                .cpu_busy_ns = 1.5e10,
                                .cpu_useful_ns = 1e10,
                                .cpu_capacity_ns = 2e10,
                                .fairness_sum = 200,
                                .fairness_sum_of_squares = 12000,
                                .terminals = 4,
                                .versions_area_ns = 3e10,
                                .versions_max = 9,
                                .versions_dead_area_ns = 1e10,
                                .versions_dead_max = 4,
                                .versions_walked = 50,
                                .version_rows = 100,
                                .scan_versions_walked = 30,
                                .scan_version_rows = 20,
                                .chain_length_max = 8,
                                .versions_removed = 60,
                                .vacuums = 3,
                                .lost_updates_known = true,
                                .lost_updates = 5};
    result.aborts_by_reason[REASON_DEADLOCK] = 20;
    result.aborts_by_reason[REASON_VALIDATION] = 30;
    return result;
}

static void values_from_counts(void **state) {
    (void)state;
    struct run_result result = sample();
    static const struct {
        const char *name;
        double value;
    } expected[] = {{"throughput_tps", 20},
                    {"commits", 200},
                    {"aborts", 50},
                    {"rollbacks", 7},
                    {"abort_rate", 0.2},
                    {"restarts_per_commit", 0.25},
                    {"wait_mean_ms", 2},
                    {"response_mean_ms", 10},
                    {"admission_mean_ms", 0.5},
                    {"rollback_mean_ms", 30},
                    {"waits", 120},
                    {"lost_updates", 5},
                    {"blocked_mean", 0.5},
                    {"active_mean", 2.5},
                    {"cpu_utilization", 0.75},
                    {"cpu_useful", 0.5},
                    {"fairness_jain", 40000.0 / 48000},
                    {"gave_up", 3},
                    {"aborts_deadlock", 20},
                    {"aborts_validation", 30},
                    {"aborts_nowait", 0},
                    {"deadlocks", 20},
                    {"lock_upgrades", 4},
                    {"escalations", 2},
                    {"versions_mean", 3},
                    {"versions_max", 9},
                    {"versions_dead_mean", 1},
                    {"versions_dead_max", 4},
                    {"versions_walked", 50},
                    {"chain_length_mean", 1.5},
                    {"chain_length_max", 8},
                    {"chain_length_scan_mean", 2.5},
                    {"versions_removed", 60},
                    {"vacuums", 3}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_near(metric(expected[i].name, &result), expected[i].value, 1e-12);
    }
}

static void percentiles_are_in_milliseconds(void **state) {
    (void)state;
    struct run_result result = sample();
    for (int i = 1; i <= 100; i++) {
        histogram_record(&result.response, i * INT64_C(1000000));
        histogram_record(&result.wait, i * INT64_C(2000000));
        histogram_record(&result.rollback_response, i * INT64_C(3000000));
    }
    assert_near(metric("response_p50_ms", &result), 50, 0.05);
    assert_near(metric("response_p95_ms", &result), 95, 0.095);
    assert_near(metric("response_p99_ms", &result), 99, 0.099);
    assert_near(metric("response_max_ms", &result), 100, 0);
    assert_near(metric("wait_p50_ms", &result), 100, 0.1);
    assert_near(metric("wait_p95_ms", &result), 190, 0.19);
    assert_near(metric("wait_p99_ms", &result), 198, 0.198);
    assert_near(metric("rollback_p50_ms", &result), 150, 0.15);
    assert_near(metric("rollback_p99_ms", &result), 297, 0.297);
    histogram_free(&result.response);
    histogram_free(&result.wait);
    histogram_free(&result.rollback_response);
}

static void nothing_happened(void **state) {
    (void)state;
    struct run_result result = {.sim_seconds = 10};
    static const char *const undefined[] = {
        "abort_rate",        "restarts_per_commit", "wait_mean_ms",          "wait_p50_ms",       "wait_p99_ms",
        "response_mean_ms",  "response_p99_ms",     "response_max_ms",       "admission_mean_ms", "lost_updates",
        "cpu_utilization",   "cpu_useful",          "rollback_mean_ms",      "rollback_p99_ms",   "fairness_jain",
        "chain_length_mean", "chain_length_max",    "chain_length_scan_mean"};
    for (size_t i = 0; i < sizeof undefined / sizeof undefined[0]; i++) {
        assert_true(isnan(metric(undefined[i], &result)));
    }
    assert_near(metric("throughput_tps", &result), 0, 0);
    assert_near(metric("blocked_mean", &result), 0, 0);
}

static void unlimited_cpus_have_no_utilization(void **state) {
    (void)state;
    struct run_result result = sample();
    result.cpus_limited = false;
    assert_true(isnan(metric("cpu_utilization", &result)));
    assert_true(isnan(metric("cpu_useful", &result)));
}

static void open_systems_have_no_fairness(void **state) {
    (void)state;
    struct run_result result = sample();
    result.terminals = 0;
    assert_true(isnan(metric("fairness_jain", &result)));
}

static void only_aborts_and_no_commit(void **state) {
    (void)state;
    struct run_result result = {.sim_seconds = 1};
    result.aborts_by_reason[REASON_NOWAIT] = 10;
    assert_near(metric("abort_rate", &result), 1, 0);
    assert_true(isnan(metric("restarts_per_commit", &result)));
}

static void anomalies_are_empty_without_a_certificate(void **state) {
    (void)state;
    struct run_result result = sample();
    static const char *const names[] = {
        "anomalies",          "anomalies_g0",      "anomalies_g1a", "anomalies_g1b",         "anomalies_g1c",
        "anomalies_g_single", "anomalies_g2_item", "anomalies_g2",  "anomalies_lost_update", "anomalies_write_skew",
        "anomalies_phantom"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(isnan(metric(names[i], &result)));
    }
}

/* One column per reason, in the order of the reasons, with the reason's own name: they add up to aborts. */
static void every_reason_has_its_column(void **state) {
    (void)state;
    struct run_result result = {.sim_seconds = 1};
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        result.aborts_by_reason[reason] = reason == REASON_NONE ? 0 : UINT64_C(1) << reason;
    }
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    double sum = 0;
    int next_reason = REASON_NONE + 1;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(metrics[i].name, "aborts_", 7) == 0) {
            assert_string_equal(metrics[i].name + 7, reason_texts[next_reason].name);
            assert_near(metrics[i].get(&result, metrics[i].argument), (double)(UINT64_C(1) << next_reason), 0);
            assert_contains(metrics[i].help, reason_texts[next_reason].sentence);
            sum += metrics[i].get(&result, metrics[i].argument);
            next_reason++;
        }
    }
    assert_int_equal(next_reason, REASON_COUNT);
    assert_near(sum, metric("aborts", &result), 0);
}

static void names_are_unique_and_explained(void **state) {
    (void)state;
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(metric_find(metrics[i].name), &metrics[i]);
        assert_true(strlen(metrics[i].help) > 5);
        assert_non_null(metrics[i].unit);
    }
    assert_null(metric_find("throughput"));
}

/* Scripts address columns by position at their own risk, but the order of the manual is kept. */
static void order_of_the_manual(void **state) {
    (void)state;
    static const char *const order[] = {
        "throughput_tps",      "commits",         "aborts",          "rollbacks",       "abort_rate",
        "restarts_per_commit", "wait_mean_ms",    "wait_p50_ms",     "wait_p95_ms",     "wait_p99_ms",
        "response_mean_ms",    "response_p50_ms", "response_p95_ms", "response_p99_ms", "response_max_ms",
        "admission_mean_ms",   "waits",           "lost_updates",    "blocked_mean",    "active_mean",
        "cpu_utilization",     "cpu_useful",      "fairness_jain",   "gave_up",         "aborts_deadlock"};
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    assert_true(count > sizeof order / sizeof order[0]);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_string_equal(metrics[i].name, order[i]);
    }
}

TEST_GROUP(metrics, cmocka_unit_test(values_from_counts), cmocka_unit_test(percentiles_are_in_milliseconds),
           cmocka_unit_test(nothing_happened), cmocka_unit_test(unlimited_cpus_have_no_utilization),
           cmocka_unit_test(open_systems_have_no_fairness), cmocka_unit_test(only_aborts_and_no_commit),
           cmocka_unit_test(anomalies_are_empty_without_a_certificate), cmocka_unit_test(every_reason_has_its_column),
           cmocka_unit_test(names_are_unique_and_explained), cmocka_unit_test(order_of_the_manual))
