/* test_histogram.c - quantiles against a sorted array. */
#include "sim/base/histogram.h"

#include <gsl/gsl_sort.h>
#include <math.h>

#include "sim/base/random.h"
#include "tests/support/gsl_stream.h"
#include "tests/support/harness.h"

static void nothing_has_no_quantile(void **state) {
    (void)state;
    struct histogram histogram = {0};
    assert_int_equal(histogram_quantile_ns(&histogram, 0.5), -1);
    histogram_record(&histogram, 7);
    histogram_clear(&histogram);
    assert_int_equal(histogram_quantile_ns(&histogram, 0.5), -1);
    assert_int_equal(histogram.max_ns, 0);
    histogram_free(&histogram);
}

/* Below 2,048 each value has a bin of its own. */
static void small_values_are_exact(void **state) {
    (void)state;
    for (int64_t value = 0; value < 2048; value++) {
        struct histogram histogram = {0};
        histogram_record(&histogram, value);
        histogram_record(&histogram, 5000);
        assert_int_equal(histogram_quantile_ns(&histogram, 0.5), value);
        histogram_free(&histogram);
    }
}

static void check_single(int64_t value) {
    struct histogram histogram = {0};
    histogram_record(&histogram, value);
    assert_int_equal(histogram_quantile_ns(&histogram, 0.5), histogram_quantile_ns(&histogram, 1));
    assert_true(histogram_quantile_ns(&histogram, 1) <= value);
    assert_near((double)histogram_quantile_ns(&histogram, 1), (double)value, 0.001 * (double)value);
    histogram_record(&histogram, INT64_MAX);
    assert_near((double)histogram_quantile_ns(&histogram, 0.5), (double)value, 0.0005 * (double)value + 1e-9);
    histogram_free(&histogram);
}

static void holds_at_the_edges_of_powers(void **state) {
    (void)state;
    for (int power = 0; power < 63; power++) {
        int64_t edge = INT64_C(1) << power;
        check_single(edge - 1);
        check_single(edge);
        check_single(edge + 1);
    }
    check_single(INT64_MAX);
}

/* Nearest rank: the value of rank ceil(q n) in order, within half a bin of 1/1024 (0.05%). */
static void agrees_with_sorting(void **state) {
    (void)state;
    enum { COUNT = 10007 };
    static const double quantiles[] = {0, 0.001, 0.07, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
    static double values[COUNT];
    struct stream stream = test_stream(1);
    struct histogram histogram = {0};
    for (int round = 0; round < 3; round++) {
        histogram_clear(&histogram);
        for (int i = 0; i < COUNT; i++) {
            int64_t value = (int64_t)(stream_exponential(&stream) * exp(5.0 * round + stream_unit(&stream) * 10));
            values[i] = (double)value;
            histogram_record(&histogram, value);
        }
        gsl_sort(values, 1, COUNT);
        for (size_t q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++) {
            int rank = (int)ceil(quantiles[q] * COUNT);
            double truth = values[rank > 0 ? rank - 1 : 0];
            assert_near((double)histogram_quantile_ns(&histogram, quantiles[q]), truth, 0.0005 * truth);
        }
        assert_int_equal(histogram.count, COUNT);
        assert_int_equal(histogram.max_ns, (int64_t)values[COUNT - 1]);
    }
    histogram_free(&histogram);
}

/* 0.07 * 100 is 7.000000000000001 in binary; the 7% quantile of 1 .. 100 is 7 all the same. */
static void rank_is_not_moved_by_rounding(void **state) {
    (void)state;
    struct histogram histogram = {0};
    for (int value = 1; value <= 100; value++) {
        histogram_record(&histogram, value);
    }
    for (int percent = 1; percent <= 100; percent++) {
        assert_int_equal(histogram_quantile_ns(&histogram, percent / 100.0), percent);
    }
    histogram_free(&histogram);
}

static void memory_is_that_of_the_powers_met(void **state) {
    (void)state;
    struct histogram histogram = {0};
    for (int i = 0; i < 100000; i++) {
        histogram_record(&histogram, 4096 + i % 4096);
    }
    int blocks = 0;
    for (int i = 0; i < 64; i++) {
        blocks += histogram.counts[i] != NULL;
    }
    assert_int_equal(blocks, 1);
    histogram_free(&histogram);
}

/* Edges grow without a gap, each step a sixteenth of an octave at most, and what is below them is what was recorded below
 * them. */
static void steps_are_drawn_without_loss(void **state) {
    (void)state;
    enum { VALUES = 3000 };
    static int64_t values[VALUES];
    struct histogram histogram = {0};
    for (int i = 0; i < VALUES; i++) {
        values[i] = (int64_t)exp(0.014 * i) - 1; /* up to 1.7e18 ns */
        histogram_record(&histogram, values[i]);
    }
    int64_t before = 0, edge_ns;
    for (int step = 0; step < HISTOGRAM_STEPS; step++) {
        uint64_t below = histogram_below(&histogram, step, &edge_ns), expected = 0;
        for (int i = 0; i < VALUES; i++) {
            expected += values[i] < edge_ns;
        }
        assert_int_equal(below, expected);
        assert_true(edge_ns > before && (before < 16 || (double)edge_ns <= (double)before * 17 / 16));
        before = edge_ns;
    }
    assert_int_equal(histogram_below(&histogram, HISTOGRAM_STEPS - 1, &edge_ns), VALUES);
    histogram_free(&histogram);
}

TEST_GROUP(histogram, cmocka_unit_test(nothing_has_no_quantile), cmocka_unit_test(small_values_are_exact),
           cmocka_unit_test(holds_at_the_edges_of_powers), cmocka_unit_test(agrees_with_sorting),
           cmocka_unit_test(rank_is_not_moved_by_rounding), cmocka_unit_test(memory_is_that_of_the_powers_met),
           cmocka_unit_test(steps_are_drawn_without_loss))
