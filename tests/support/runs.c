#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>

struct run_result run_of(const char *algorithm, const char *workload, const char *settings, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, settings);
    vsnprintf(text, sizeof text, settings, arguments);
    va_end(arguments);
    struct spec spec;
    struct text error = {0};
    assert_true(spec_open(&spec, algorithm, workload));
    if (!spec_set(&spec, text, &error)) {
        fail_msg("%s", text_string(&error));
    }
    struct run_result result;
    run_simulate(&spec.run, &result);
    spec_close(&spec);
    text_free(&error);
    return result;
}

double runs_tps(const struct run_result *result) { return (double)result->commits / result->sim_seconds; }

double runs_aborts(const struct run_result *result) {
    uint64_t sum = 0;
    for (int i = 0; i < REASON_COUNT; i++) {
        sum += result->aborts_by_reason[i];
    }
    return (double)sum;
}

void runs_assert_within(double actual, double expected, double share, const char *what) {
    if (!(fabs(actual - expected) <= share * fabs(expected))) {
        fail_msg("%s: %g is not within %g%% of %g", what, actual, share * 100, expected);
    }
}

double runs_ramanujan_q(int n) {
    double sum = 0, term = 1;
    for (int i = 1; i <= n; i++) {
        sum += term;
        term *= (double)(n - i) / n;
    }
    return sum;
}
