/* test_capacity.c - `ccsim plan` against what is known exactly.
 *
 * The hot row under locking is a single server: whoever holds it alone does anything. With Poisson arrivals it is M/G/1
 * with the service S = eight accesses of exp(1 ms) and a log force of 1 ms:
 *   mean        E S = 9 ms, E S^2 = 8 + 81 = 89 ms^2; response E S + L E S^2 / (2 (1 - L E S))  (Pollaczek, Khinchine)
 *   percentile  P(response > t) = C M(h) e^(-h t) for all but small t, where M(h) = e^h (1 - h)^-8 is the transform of S,
 *               h solves L (M(h) - 1) = h, and C = (1 - L E S) / (L M'(h) - 1)  (Cramer, Lundberg)
 * and at most 1 / E S = 111.1 a second. Prices are those of configs/hot_row.ini. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/harness.h"

#define HOT_ROW                                                                                      \
    "[experiment]\nalgorithm = 2pl\nwarmup = 10s\nduration = 200s\nreplications = 5\ncertify = no\n" \
    "[system]\nterminals = 16\ncpus = 8\n[cost]\ncpu_access = exp(1ms)\nlog_force = 1ms\n"           \
    "[workload]\nname = hot_row\n"

static json_t *plan(const char *config, const char *arguments) {
    char path[512], command[1024];
    snprintf(path, sizeof path, "%s/plan.ini", test_directory());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(config, file);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "%s plan %s --json --quiet -j1 %s", test_program(), path, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    json_error_t error;
    json_t *object = json_loadf(pipe, 0, &error);
    int end = pclose(pipe);
    if (object == NULL || end != 0) {
        fail_msg("%s: %s (end %d)", command, error.text, end);
    }
    return object;
}

static const json_t *answer(const json_t *object, size_t number) {
    return json_array_get(json_object_get(object, "answers"), number);
}

static double real(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static const char *worst(const json_t *of, const char *key) {
    return json_string_value(json_object_get(json_array_get(json_object_get(of, "limits"), 0), key));
}

/* --- M/G/1; times in ms, `rate` per ms --- */

static double transform(double h) { return exp(h) * pow(1 - h, -8); }

static double mean_response(double rate) { return 9 + rate * 89 / (2 * (1 - 9 * rate)); }

static double p99_response(double rate) {
    double low = 1e-9, high = .999;
    for (int i = 0; i < 200; i++) {
        double h = (low + high) / 2;
        if (rate * (transform(h) - 1) < h) {
            low = h;
        } else {
            high = h;
        }
    }
    double h = low, slope = transform(h) * (1 + 8 / (1 - h));
    double factor = (1 - 9 * rate) / (rate * slope - 1) * transform(h);
    return log(factor / .01) / h;
}

/* The rate, per second, at which the response has that value. */
static double rate_at(double (*response)(double), double value) {
    double low = .02, high = 1 / 9. - 1e-9;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (response(middle) < value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low * 1e3;
}

static void the_oracle_itself(void **state) {
    (void)state;
    assert_near(rate_at(mean_response, 50), 82 / .827, 1e-6); /* solved by hand */
    assert_near(rate_at(p99_response, 1e6), 111.1, .02);
}

static void carries_what_a_single_server_does(void **state) {
    (void)state;
    const struct {
        const char *objective;
        double rate;
        bool is_long;
    } rows[] = {{"--slo 'response_mean_ms < 50' --from 88/s --to 110/s", rate_at(mean_response, 50), false},
                {"--slo 'response_p99_ms < 100' --from 75/s --to 100/s", rate_at(p99_response, 100), false},
                {"--slo 'response_p99_ms < 1s'", rate_at(p99_response, 1000), true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].is_long && !test_long()) {
            continue;
        }
        json_t *object = plan(HOT_ROW, rows[i].objective);
        const json_t *found = answer(object, 0);
        double edge = real(found, "edge"), low = real(found, "low"), high = real(found, "high");
        if (!(fabs(edge / rows[i].rate - 1) <= .02)) {
            fail_msg("%s: %g, not %g", rows[i].objective, edge, rows[i].rate);
        }
        assert_true(low < edge && edge < high && high / low < 1.1);
        assert_true(real(found, "value") < edge && real(found, "value") > .92 * edge);
        assert_string_equal(worst(found, "kind"), "rows");
        assert_contains(worst(found, "name"), "row 1 of counters (100%");
        assert_contains(json_string_value(json_object_get(object, "sentence")), "wait for row 1 of counters");
        json_decref(object);
    }
}

/* Whole numbers whose answer is exact. */
static void whole_numbers_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *kind;
        double value;
    } rows[] = {
        /* N terminals take turns: a response is N x 9 ms */
        {"--vary system.terminals --slo 'response_mean_ms < 50'", "rows", 5},
        /* all that are admitted stay so */
        {"--vary system.mpl --slo 'active_mean <= 11'", "rows", 11},
        /* twelve terminals that never meet keep twelve CPUs busy: half of 24 */
        {"--vary system.cpus --slo 'cpu_utilization <= 50%' --set system.terminals=12 --set workload.hot_rows=0 "
         "--set cost.log_force=0",
         NULL, 24},
        /* and queue at fewer: three rounds of 8 ms at four CPUs */
        {"--vary system.cpus --slo 'response_mean_ms < 25' --set system.terminals=12 --set workload.hot_rows=0 "
         "--set cost.log_force=0",
         "station", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments,
                 "%s --set experiment.replications=2 --set experiment.duration=15s --set experiment.warmup=1s",
                 rows[i].arguments);
        json_t *object = plan(HOT_ROW, arguments);
        const json_t *found = answer(object, 0);
        assert_near(real(found, "value"), rows[i].value, 0);
        assert_near(real(found, "low"), rows[i].value, 0);
        assert_true(json_is_false(json_object_get(found, "search_ended")));
        if (rows[i].kind != NULL) {
            assert_string_equal(worst(found, "kind"), rows[i].kind);
        } else {
            assert_int_equal(json_array_size(json_object_get(found, "limits")), 0);
        }
        json_decref(object);
    }
}

#define SHORT "--set experiment.replications=2 --set experiment.duration=10s --set experiment.warmup=1s "

/* What it does not know it does not say. */
static void bounds_are_told(void **state) {
    (void)state;
    json_t *object = plan(HOT_ROW, SHORT "--slo 'response_mean_ms < 500' --from 10/s --to 40/s");
    assert_true(json_is_true(json_object_get(answer(object, 0), "search_ended")));
    assert_near(real(answer(object, 0), "value"), 40, 0);
    assert_contains(json_string_value(json_object_get(object, "sentence")), "at least 40 transactions a second");
    json_decref(object);
    object = plan(HOT_ROW, SHORT "--slo 'response_mean_ms < 5' --from 10/s --to 40/s");
    assert_true(json_is_false(json_object_get(answer(object, 0), "found")));
    assert_true(json_is_null(json_object_get(answer(object, 0), "value")));
    assert_true(json_is_null(json_object_get(object, "best")));
    assert_contains(json_string_value(json_object_get(object, "sentence")), "Nothing that was tried meets");
    json_decref(object);
}

/* An objective that says nothing of time is met only as far as the system keeps up: 111 a second. */
static void a_growing_backlog_is_no_capacity(void **state) {
    (void)state;
    json_t *object = plan(HOT_ROW, SHORT "--max-abort-rate 5% --set experiment.duration=100s");
    assert_near(real(answer(object, 0), "edge"), 111.1, 111.1 * .04);
    json_decref(object);
}

/* Optimistic control is limited by what it aborts, a small connection pool by its own size; today's rate is compared. */
static void limits_are_named(void **state) {
    (void)state;
    json_t *object =
        plan(HOT_ROW, SHORT "--slo 'response_mean_ms < 100' --set algorithm=occ --set system.arrival_rate=20/s");
    const json_t *found = answer(object, 0);
    assert_string_equal(worst(found, "kind"), "aborts");
    assert_contains(worst(found, "name"), "occ (validation)");
    assert_near(real(found, "headroom"), real(found, "value") / 20 - 1, 1e-6);
    json_decref(object);
    object = plan(HOT_ROW, SHORT "--slo 'response_mean_ms < 100' --set system.mpl=1 --set workload.hot_rows=0");
    assert_string_equal(worst(answer(object, 0), "kind"), "admission");
    json_decref(object);
}

TEST_GROUP(capacity, cmocka_unit_test(the_oracle_itself), cmocka_unit_test(carries_what_a_single_server_does),
           cmocka_unit_test(whole_numbers_are_exact), cmocka_unit_test(bounds_are_told),
           cmocka_unit_test(a_growing_backlog_is_no_capacity), cmocka_unit_test(limits_are_named))
