/* test_distribution.c - random durations against GSL's distribution functions. */
#include "sim/base/distribution.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "sim/base/memory.h"
#include "tests/support/fit.h"
#include "tests/support/gsl_stream.h"
#include "tests/support/harness.h"

enum { SAMPLE = 50000 };
#define MEAN 1e9 /* so long that rounding to nanoseconds does not show */

static double exponential(double x, const double *mean) { return gsl_cdf_exponential_P(x, *mean); }
static double flat(double x, const double *ends) { return gsl_cdf_flat_P(x, ends[0], ends[1]); }
static double gamma_cdf(double x, const double *shape) { return gsl_cdf_gamma_P(x, shape[0], shape[1]); }
static double lognormal(double x, const double *mu_sigma) { return gsl_cdf_lognormal_P(x, mu_sigma[0], mu_sigma[1]); }

static void check(struct distribution d, uint64_t seed, double mean, double cv2,
                  double (*cdf)(double x, const double *parameters), const double *parameters) {
    struct stream stream = test_stream(seed);
    double *sample = mem_new(SAMPLE, sizeof *sample);
    for (int i = 0; i < SAMPLE; i++) {
        int64_t ns = distribution_draw(&d, &stream);
        assert_true(ns >= 0);
        sample[i] = (double)ns;
    }
    struct moments m = fit_moments(sample, SAMPLE);
    assert_near(m.mean, mean, 4 * sqrt(m.variance / SAMPLE));
    assert_near(distribution_cv2(&d), cv2, 1e-12);
    double cv2_error = sqrt((m.kurtosis - 1 + 4 * cv2) / SAMPLE) * cv2;
    assert_near(m.variance / (m.mean * m.mean), cv2, 4 * cv2_error);
    assert_true(fit_ks(sample, SAMPLE, cdf, parameters) > FIT_P);
    mem_free(sample);
}

static void constants_draw_nothing(void **state) {
    (void)state;
    struct stream stream = test_stream(1), before = stream;
    struct distribution d = distribution_constant(5);
    assert_int_equal(distribution_draw(&d, &stream), 5);
    assert_memory_equal(&stream, &before, sizeof stream);
    assert_true(distribution_cv2(&d) == 0);
    assert_false(distribution_is_zero(&d));
}

static void nothing_on_average_is_nothing(void **state) {
    (void)state;
    struct distribution zeros[] = {distribution_constant(0), distribution_exponential(0), distribution_uniform(0, 0),
                                   distribution_erlang(3, 0), distribution_lognormal(0, 1)};
    struct stream stream = test_stream(1);
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
        assert_true(distribution_is_zero(&zeros[i]));
        assert_int_equal(distribution_draw(&zeros[i], &stream), 0);
        assert_true(distribution_cv2(&zeros[i]) == 0);
    }
    struct distribution at_most_one = distribution_uniform(0, 1); /* whose mean is rounded to 0 */
    assert_false(distribution_is_zero(&at_most_one));
}

static void exponential_fits(void **state) {
    (void)state;
    check(distribution_exponential((int64_t)MEAN), 2, MEAN, 1, exponential, (const double[]){MEAN});
}

static void uniform_fits(void **state) {
    (void)state;
    /* n = 10^9 + 1 whole numbers: variance (n^2 - 1) / 12 */
    check(distribution_uniform(1000000000, 2000000000), 3, 1.5e9, (1e9 + 2) * 1e9 / 12 / (1.5e9 * 1.5e9), flat,
          (const double[]){1e9, 2e9 + 1});
}

static void erlang_fits(void **state) {
    (void)state;
    check(distribution_erlang(1, (int64_t)MEAN), 4, MEAN, 1, exponential, (const double[]){MEAN});
    check(distribution_erlang(4, (int64_t)MEAN), 5, MEAN, 0.25, gamma_cdf, (const double[]){4, MEAN / 4});
}

/* Mean m and cv c: sigma^2 = log(1 + c^2), mu = log m - sigma^2/2. */
static void lognormal_fits(void **state) {
    (void)state;
    double sigma2 = log(1 + 0.8 * 0.8);
    check(distribution_lognormal((int64_t)MEAN, 0.8), 6, MEAN, 0.64, lognormal,
          (const double[]){log(MEAN) - sigma2 / 2, sqrt(sigma2)});
    struct distribution certain = distribution_lognormal(1000, 0);
    struct stream stream = test_stream(7);
    assert_int_equal(distribution_draw(&certain, &stream), 1000);
}

/* Whole numbers 1, 2, 3: variance 2/3, mean 2, so cv^2 = 1/6. */
static void uniform_includes_both_ends(void **state) {
    (void)state;
    struct distribution d = distribution_uniform(1, 3);
    struct stream stream = test_stream(8);
    uint64_t counts[3] = {0};
    for (int i = 0; i < SAMPLE; i++) {
        int64_t ns = distribution_draw(&d, &stream);
        assert_in_range(ns, 1, 3);
        counts[ns - 1]++;
    }
    assert_true(fit_even(counts, 3) > FIT_P);
    assert_near(distribution_cv2(&d), 1.0 / 6, 1e-15);
    struct distribution single = distribution_uniform(7, 7);
    assert_int_equal(distribution_draw(&single, &stream), 7);
}

/* Rounding to the nearest: P(0) = P(X < 1/2) = 1 - exp(-1/6) for a mean of 3, P(k) the mass of k-1/2 .. k+1/2. */
static void rounds_to_the_nearest(void **state) {
    (void)state;
    enum { CELLS = 40 };
    struct distribution d = distribution_exponential(3);
    struct stream stream = test_stream(9);
    uint64_t counts[CELLS] = {0};
    double expected[CELLS];
    for (int i = 0; i < SAMPLE; i++) {
        int64_t ns = distribution_draw(&d, &stream);
        counts[ns < CELLS ? ns : CELLS - 1]++;
    }
    for (int k = 0; k < CELLS; k++) {
        double below = k > 0 ? exp(-(k - 0.5) / 3) : 1, above = k < CELLS - 1 ? exp(-(k + 0.5) / 3) : 0;
        expected[k] = SAMPLE * (below - above);
    }
    assert_true(fit_chi_square(counts, expected, CELLS) > FIT_P);
}

static void never_passes_the_end_of_time(void **state) {
    (void)state;
    struct distribution d = distribution_exponential(INT64_C(1) << 61);
    struct stream stream = test_stream(10);
    for (int i = 0; i < 1000; i++) {
        assert_in_range(distribution_draw(&d, &stream), 0, UINT64_C(1) << 60);
    }
}

TEST_GROUP(distribution, cmocka_unit_test(constants_draw_nothing), cmocka_unit_test(nothing_on_average_is_nothing),
           cmocka_unit_test(exponential_fits), cmocka_unit_test(uniform_fits), cmocka_unit_test(erlang_fits),
           cmocka_unit_test(lognormal_fits), cmocka_unit_test(uniform_includes_both_ends),
           cmocka_unit_test(rounds_to_the_nearest), cmocka_unit_test(never_passes_the_end_of_time))
