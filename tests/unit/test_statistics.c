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

/* 1 2 3 4: deviations -1.5 -0.5 0.5 1.5, products 0.75 - 0.25 + 0.75 = 1.25, squares 5. */
static void lag_one_correlation(void **state) {
    (void)state;
    static const double rising[] = {1, 2, 3, 4}, turning[] = {1, -1, 1, -1}, same[] = {7, 7, 7};
    assert_near(statistics_lag1(rising, 4), 0.25, 1e-15);
    assert_near(statistics_lag1(turning, 4), -0.75, 1e-15);
    assert_true(isnan(statistics_lag1(same, 3)));
    assert_true(isnan(statistics_lag1(rising, 2)));
}

enum { SERIES = 1000 };

/* The definition, word by word: for every cut the mean of what is left, then its squares. */
static size_t naive_mser(const double *values, size_t count, size_t batch) {
    double means[SERIES];
    size_t batches = count / batch, best = 0;
    for (size_t b = 0; b < batches; b++) {
        means[b] = 0;
        for (size_t i = 0; i < batch; i++) {
            means[b] += values[b * batch + i] / (double)batch;
        }
    }
    double least = (double)INFINITY;
    for (size_t cut = 0; cut < batches - batches / 4; cut++) {
        double mean = 0, squares = 0, left = (double)(batches - cut);
        for (size_t b = cut; b < batches; b++) {
            mean += means[b] / left;
        }
        for (size_t b = cut; b < batches; b++) {
            squares += (means[b] - mean) * (means[b] - mean);
        }
        if (squares / left / left < least) {
            least = squares / left / left;
            best = cut;
        }
    }
    return best * batch;
}

/* Rising to 100 with a time constant of `tau` values, and noise around that. */
static void fill_rising(double *values, size_t count, double tau, double noise, uint64_t *seed) {
    for (size_t i = 0; i < count; i++) {
        values[i] = 100 * (1 - exp(-(double)i / tau)) + noise * deviate(seed);
    }
}

static void mser_is_its_definition(void **state) {
    (void)state;
    uint64_t seed = 3;
    double values[SERIES];
    for (int trial = 0; trial < 200; trial++) {
        size_t count = 20 + (size_t)trial * (SERIES - 20) / 200, batch = 1 + (size_t)trial % 7;
        fill_rising(values, count, 1 + trial, 1 + trial % 30, &seed);
        assert_int_equal(statistics_mser(values, count, batch), naive_mser(values, count, batch));
    }
}

static void mser_cuts_the_rise_and_little_more(void **state) {
    (void)state;
    uint64_t seed = 4;
    double values[SERIES];
    double cut = 0;
    for (int trial = 0; trial < 100; trial++) {
        fill_rising(values, SERIES, 10, 5, &seed);
        size_t its_cut = statistics_mser(values, SERIES, 5);
        assert_in_range(its_cut, 20, SERIES / 2); /* after 20 values 13.5 are missing still, of a noise of 5 */
        cut += (double)its_cut / 100;
    }
    assert_in_range((int)cut, 25, 120);
    fill_rising(values, SERIES, 1e-9, 0, &seed);
    assert_int_equal(statistics_mser(values + 1, SERIES - 1, 5), 0); /* constant: nothing to cut */
    fill_rising(values, SERIES, SERIES, 1, &seed);
    assert_true(statistics_mser(values, SERIES, 5) > SERIES / 2); /* rises to the end: there is no telling */
}

/* Differences 1 2 3: mean 2, sd 1; the values' sds are 11 and 10; t(2) = 4.30265, t(4) = 2.77645. */
static void a_pair(void **state) {
    (void)state;
    static const double values[] = {11, 22, 33}, base[] = {10, 20, 30};
    struct statistics_pair pair = statistics_compare(values, base, 3);
    assert_near(pair.difference, 2, 1e-12);
    assert_near(pair.difference_ci95, 4.30265 / sqrt(3), 1e-5);
    assert_near(pair.ratio, 1.1, 1e-12);
    assert_near(pair.ratio_ci95, 0, 1e-12); /* each is its base times 1.1 */
    assert_near(pair.narrower, 2.77645 * sqrt(221) / 4.30265, 1e-4);
    pair = statistics_compare(values, base, 1);
    assert_near(pair.difference, 1, 0);
    assert_true(isnan(pair.difference_ci95) && isnan(pair.ratio_ci95) && isnan(pair.narrower));
}

/* Values and base share a deviate of sd 10 and have one of sd 1 each: the intervals of the difference (sd sqrt 2) and of
 * the ratio cover, and are narrower by about sqrt(202 / 2) = 10, less what t costs. */
static void paired_intervals_cover_and_are_narrower(void **state) {
    (void)state;
    enum { TRIALS = 4000, PAIRS = 10 };
    uint64_t seed = 5;
    int covered = 0, ratio_covered = 0;
    double narrower = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double values[PAIRS], base[PAIRS];
        for (int i = 0; i < PAIRS; i++) {
            double common = 10 * deviate(&seed);
            values[i] = 220 + common + deviate(&seed);
            base[i] = 200 + common + deviate(&seed);
        }
        struct statistics_pair pair = statistics_compare(values, base, PAIRS);
        covered += fabs(pair.difference - 20) <= pair.difference_ci95;
        ratio_covered += fabs(pair.ratio - 1.1) <= pair.ratio_ci95;
        narrower += pair.narrower / TRIALS;
    }
    assert_near((double)covered / TRIALS, 0.95, 0.014);
    assert_near((double)ratio_covered / TRIALS, 0.95, 0.014);
    assert_near(narrower, 10 * 2.101 / 2.262, 1);
}

TEST_GROUP(statistics, cmocka_unit_test(mean_and_sd), cmocka_unit_test(sd_does_not_suffer_from_a_large_mean),
           cmocka_unit_test(equal_values_have_no_spread), cmocka_unit_test(too_few_values_are_undefined),
           cmocka_unit_test(quantiles_are_those_of_the_tables), cmocka_unit_test(quantile_is_rounded_to_twelve_digits),
           cmocka_unit_test(half_width), cmocka_unit_test(rounds_to_significant_digits),
           cmocka_unit_test(interval_covers_the_mean), cmocka_unit_test(lag_one_correlation),
           cmocka_unit_test(mser_is_its_definition), cmocka_unit_test(mser_cuts_the_rise_and_little_more),
           cmocka_unit_test(a_pair), cmocka_unit_test(paired_intervals_cover_and_are_narrower))
