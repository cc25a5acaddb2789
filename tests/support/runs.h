/* runs.h - one simulation run in a test: names, settings, result; a mistake in the settings fails the test. */
#ifndef CCSIM_TESTS_SUPPORT_RUNS_H
#define CCSIM_TESTS_SUPPORT_RUNS_H

#include "sim/exec/spec.h"
#include "tests/support/harness.h"

/* Free with run_result_free. `settings` as in spec_set. */
struct run_result run_of(const char *algorithm, const char *workload, const char *settings, ...)
    __attribute__((format(printf, 3, 4)));

double runs_tps(const struct run_result *result);
double runs_aborts(const struct run_result *result); /* all reasons */

/* |actual - expected| <= share of expected. */
void runs_assert_within(double actual, double expected, double share, const char *what);

/* Ramanujan's Q(N) = 1 + (N-1)/N + (N-1)(N-2)/N^2 + ...: of N who each want the same row for an exponential time, how many
 * come to the end of it for one that finds it unchanged. */
double runs_ramanujan_q(int n);

#endif
