/* test_objective.c - the objectives of a plan: how they are read, and what they say of a value. */
#include <math.h>

#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/planner_parts.h"
#include "tests/support/harness.h"

static struct planner_objective read_good(const char *words) {
    struct planner_objective objective;
    struct text error = {0};
    if (!planner_objective_parse(words, &objective, &error)) {
        fail_msg("%s", text_string(&error));
    }
    return objective;
}

static void good_ones_are_read(void **state) {
    (void)state;
    static const struct {
        const char *words, *told, *metric;
        double limit;
    } rows[] = {{"response_p99_ms < 50", "response_p99_ms < 50", "response_p99_ms", 50},
                {" response_p99_ms<=1.5s ", "response_p99_ms <= 1500", "response_p99_ms", 1500},
                {"response_mean_ms < 50ms", "response_mean_ms < 50", "response_mean_ms", 50},
                {"abort_rate <= 5%", "abort_rate <= 0.05", "abort_rate", .05},
                {"throughput_tps >= 100/s", "throughput_tps >= 100", "throughput_tps", 100},
                {"fairness_jain > 0.9", "fairness_jain > 0.9", "fairness_jain", .9}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct planner_objective objective = read_good(rows[i].words);
        size_t count;
        assert_string_equal(objective.text, rows[i].told);
        assert_string_equal(metrics_all(&count)[objective.metric].name, rows[i].metric);
        assert_near(objective.limit, rows[i].limit, 1e-12);
        planner_objective_free(&objective);
    }
}

static void bad_ones_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *words, *part;
    } rows[] = {{"response_p99 < 50", "did you mean response_p99_ms?"},
                {"response_p99_ms = 50", "no < or >"},
                {"response_p99_ms < 5%", "no value of response_p99_ms (ms)"},
                {"abort_rate < 5ms", "no value of abort_rate (share)"},
                {"abort_rate < 5", "`5' is more than 100%; a share is written 5%"},
                {"fairness_jain > high", "`high' is no value of fairness_jain"},
                {"response_p99_ms <", "`' is no value"},
                {"response_p99_ms < inf", "`inf' is no value"},
                {"< 5", "no metric `'"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct planner_objective objective;
        struct text error = {0};
        assert_true(!planner_objective_parse(rows[i].words, &objective, &error));
        assert_contains(text_string(&error), rows[i].part);
        text_free(&error);
    }
}

static void limits_are_strict_or_not(void **state) {
    (void)state;
    static const struct {
        const char *words;
        bool at, above, below;
    } rows[] = {{"abort_rate < 0.5", false, false, true},
                {"abort_rate <= 0.5", true, false, true},
                {"abort_rate > 0.5", false, true, false},
                {"abort_rate >= 0.5", true, true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct planner_objective objective = read_good(rows[i].words);
        assert_true(objective_holds(&objective, .5) == rows[i].at);
        assert_true(objective_holds(&objective, .6) == rows[i].above);
        assert_true(objective_holds(&objective, .4) == rows[i].below);
        assert_true(!objective_holds(&objective, (double)NAN));
        assert_near(objective_margin(&objective, .6), rows[i].above ? .2 : -.2, 1e-12);
        planner_objective_free(&objective);
    }
}

/* An objective holds of a run only if the run came to its end and its backlog did not grow. */
static void a_backlog_meets_nothing(void **state) {
    (void)state;
    struct planner_objective objective = read_good("abort_rate < 0.5");
    struct planner_request request = {.objectives = &objective, .objective_count = 1};
    struct planner planner = {.request = &request};
    struct probe_outcome outcome = {.end = PROBE_OK, .keeps_up = true};
    assert_true(planner_meets(&planner, &outcome));
    outcome.keeps_up = false;
    assert_true(!planner_meets(&planner, &outcome));
    outcome.keeps_up = true;
    for (int end = PROBE_SATURATED; end <= PROBE_LOST; end++) {
        outcome.end = (enum probe_end)end;
        assert_true(!planner_meets(&planner, &outcome));
    }
    planner_objective_free(&objective);
}

TEST_GROUP(objective, cmocka_unit_test(good_ones_are_read), cmocka_unit_test(bad_ones_are_explained),
           cmocka_unit_test(limits_are_strict_or_not), cmocka_unit_test(a_backlog_meets_nothing))
