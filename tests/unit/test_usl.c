/* test_usl.c - the fit of the universal scalability law: a published data set, data made from the law itself, and what
 * has another shape. */
#include <math.h>

#include "sim/lab/usl.h"
#include "tests/support/harness.h"

/* Throughput of a benchmark on up to 216 processors, and the parameters that an independent fit (gnuplot's) gives. */
static void published_measurements(void **state) {
    (void)state;
    static const struct usl_point points[] = {{1, 64.9},     {18, 995.9},   {36, 1652.4}, {72, 1853.2},
                                              {108, 1828.9}, {144, 1775.0}, {216, 1702.2}};
    struct usl fit;
    assert_true(usl_fit(points, sizeof points / sizeof points[0], &fit));
    assert_near(fit.a, .0277285, 5e-7);
    assert_near(fit.b, .0001044, 5e-8);
    assert_near(fit.c, 89.995, 5e-3);
    double n;
    assert_true(usl_peak(&fit, points, sizeof points / sizeof points[0], &n));
    assert_near(n, 96.5, .05);
    assert_near(usl_at(&fit, n), 1884, .5);
    /* one user alone gets 28% less than the fit says, and the fit says so */
    assert_true(usl_misses(&fit, &points[0]));
    assert_true(!usl_misses(&fit, &points[3]));
    assert_near(fit.miss_most, 89.995 / 64.9 - 1, 1e-3);
    assert_true(fit.a_error > 0 && fit.b_error > 0 && fit.c_error > 0);
}

static double law(double a, double b, double c, double n) { return c * n / (1 + a * (n - 1) + b * n * (n - 1)); }

/* The law's own numbers give its parameters back, whatever they are. */
static void it_gives_back_what_was_put_in(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        double a = .01 * i * i, b = 1e-4 * i, c = 7 + 300 * i;
        struct usl_point points[8];
        for (int k = 0; k < 8; k++) {
            points[k].n = 1 << k;
            points[k].throughput = law(a, b, c, points[k].n);
        }
        struct usl fit;
        assert_true(usl_fit(points, 8, &fit));
        assert_near(fit.a, a, 1e-8);
        assert_near(fit.b, b, 1e-9);
        assert_near(fit.c / c, 1, 1e-8);
        assert_true(fit.miss_most < 1e-6);
        double n;
        if (i > 0) {
            assert_true(usl_peak(&fit, points, 8, &n) == (sqrt((1 - a) / b) <= 128));
        }
    }
}

/* Nothing is said beyond what was measured: rising data have no peak there. */
static void it_does_not_extrapolate(void **state) {
    (void)state;
    struct usl_point points[6];
    for (int k = 0; k < 6; k++) {
        points[k].n = 1 + k;
        points[k].throughput = law(.02, .001, 100, points[k].n); /* would peak at 31 */
    }
    struct usl fit;
    double n;
    assert_true(usl_fit(points, 6, &fit));
    assert_true(!usl_peak(&fit, points, 6, &n));
    assert_near(fit.n_most, 6, 0);
}

static void what_cannot_be_fitted_is_refused(void **state) {
    (void)state;
    static const struct usl_point few[] = {{1, 10}, {2, 19}, {4, 35}, {8, 60}};
    static const struct usl_point nothing[] = {{1, 10}, {2, 0}, {4, 35}, {8, 60}, {16, 70}};
    struct usl fit;
    assert_true(!usl_fit(few, 4, &fit));
    assert_true(!usl_fit(nothing, 5, &fit));
}

/* Optimistic control on 8 CPUs (configs/hot_row.ini): no law of this shape passes through it. */
static void a_collapse_has_another_shape(void **state) {
    (void)state;
    static const struct usl_point points[] = {{1, 111}, {2, 122}, {4, 134}, {8, 148},
                                              {16, 68}, {32, 32}, {64, 16}, {128, 8}};
    struct usl fit;
    int missed = 0;
    assert_true(usl_fit(points, 8, &fit));
    for (int i = 0; i < 8; i++) {
        missed += usl_misses(&fit, &points[i]);
    }
    double n;
    assert_true(missed >= 3);
    assert_true(!usl_peak(&fit, points, 8, &n)); /* it is at 8, not where the fit has it */
}

/* Locking on one row: flat but for noise, of which no peak is made. */
static void noise_is_no_peak(void **state) {
    (void)state;
    static const struct usl_point points[] = {{1, 110.7},  {2, 111.5},  {4, 111.4},  {8, 111},
                                              {16, 111.5}, {32, 111.1}, {64, 110.3}, {128, 111}};
    struct usl fit;
    double n;
    assert_true(usl_fit(points, 8, &fit));
    assert_true(fit.miss_most < .02);
    assert_true(!usl_peak(&fit, points, 8, &n));
}

TEST_GROUP(usl, cmocka_unit_test(published_measurements), cmocka_unit_test(it_gives_back_what_was_put_in),
           cmocka_unit_test(it_does_not_extrapolate), cmocka_unit_test(what_cannot_be_fitted_is_refused),
           cmocka_unit_test(a_collapse_has_another_shape), cmocka_unit_test(noise_is_no_peak))
