/* test_statistics.c - means, spreads and t intervals against tables and by coverage. */
#include "tests/support/harness.h"

#include <math.h>

#include "sim/lab/statistics.h"

/* Eight values with mean 40/8 and squared deviations 9+1+1+1+0+0+4+16 = 32. */
static const double eight[] = {2, 4, 4, 4, 5, 5, 7, 9};

static void mean_and_sd(void **state) {
    (void)state;
    assert_near(statistics_mean(eight, 8), 5, 0);
    assert_near(statistics_sd(eight, 8), sqrt(32.0 / 7), 1e-15);
}

static void sd_does_not_suffer_from_a_large_mean(void **state) {
    (void)state;
    double far[8];
    for (int i = 0; i < 8; i++) {
        far[i] = 1e9 + eight[i];
    }
    assert_near(statistics_sd(far, 8), sqrt(32.0 / 7), 1e-9);
}

static void equal_values_have_no_spread(void **state) {
    (void)state;
    double same[] = {0.1, 0.1, 0.1};
    assert_near(statistics_sd(same, 3), 0, 1e-16);
    assert_near(statistics_half_width95(same, 3), 0, 1e-15);
}

static void too_few_values_are_undefined(void **state) {
    (void)state;
    assert_true(isnan(statistics_mean(eight, 0)));
    assert_near(statistics_mean(eight, 1), 2, 0);
    assert_true(isnan(statistics_sd(eight, 1)));
    assert_true(isnan(statistics_half_width95(eight, 0)));
    assert_true(isnan(statistics_half_width95(eight, 1)));
}

/* Any table of Student's t, two-sided 95%. */
static void quantiles_are_those_of_the_tables(void **state) {
    (void)state;
    static const struct {
        size_t degrees;
        double quantile;
    } table[] = {{1, 12.7062}, {2, 4.30265}, {4, 2.77645}, {9, 2.26216}, {19, 2.09302}, {100, 1.98397}, {4, 2.77645}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_near(statistics_t95(table[i].degrees), table[i].quantile, 5e-6 * table[i].quantile);
    }
}

/* With one degree of freedom t is Cauchy: the quantile is tan(0.475 pi). */
static void quantile_is_rounded_to_twelve_digits(void **state) {
    (void)state;
    double exact = tan(0.475 * acos(-1));
    assert_near(statistics_t95(1), exact, 1e-10);
    assert_true(statistics_t95(1) == 12.7062047362);
}

/* t(7 degrees) = 2.36462; 2.36462 * sqrt(32/7) / sqrt(8) = 1.78749. */
static void half_width(void **state) {
    (void)state;
    assert_near(statistics_half_width95(eight, 8), 1.78749, 1e-5);
}

static void rounds_to_significant_digits(void **state) {
    (void)state;
    assert_true(statistics_round(1.0 / 3, 3) == 0.333);
    assert_true(statistics_round(-123456.0, 2) == -120000.0);
    assert_true(statistics_round(0, 5) == 0);
}

/* A normal deviate to the precision needed here: twelve uniforms less their mean. */
static double deviate(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Of 4,000 intervals of five replications 95% cover the mean; the standard error of that share is 0.35%. */
static void interval_covers_the_mean(void **state) {
    (void)state;
    enum { TRIALS = 4000, REPLICATIONS = 5 };
    uint64_t seed = 1;
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double values[REPLICATIONS];
        for (int i = 0; i < REPLICATIONS; i++) {
            values[i] = 10 + deviate(&seed);
        }
        double mean = statistics_mean(values, REPLICATIONS), half = statistics_half_width95(values, REPLICATIONS);
        covered += mean - half <= 10 && 10 <= mean + half;
    }
    assert_near((double)covered / TRIALS, 0.95, 0.014);
}

TEST_GROUP(statistics, cmocka_unit_test(mean_and_sd), cmocka_unit_test(sd_does_not_suffer_from_a_large_mean),
           cmocka_unit_test(equal_values_have_no_spread), cmocka_unit_test(too_few_values_are_undefined),
           cmocka_unit_test(quantiles_are_those_of_the_tables), cmocka_unit_test(quantile_is_rounded_to_twelve_digits),
           cmocka_unit_test(half_width), cmocka_unit_test(rounds_to_significant_digits),
           cmocka_unit_test(interval_covers_the_mean))
