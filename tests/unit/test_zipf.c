/* test_zipf.c - Zipf draws against the probabilities 1 / (k+1)^theta, summed with libm. */
#include "sim/base/zipf.h"

#include <math.h>

#include "sim/base/memory.h"
#include "tests/support/fit.h"
#include "tests/support/gsl_stream.h"
#include "tests/support/harness.h"

enum { DRAWS = 100000, FEW_DRAWS = 10000, MANY_DRAWS = 1000000, LARGEST = 1000000 };

/* Fills the expected counts of so many draws; returns the mean of the distribution and, in `sd`, its standard deviation. */
static double expect(uint64_t n, double theta, double draws, double *expected, double *sd) {
    double sum = 0, mean = 0, square = 0;
    for (uint64_t k = 0; k < n; k++) {
        expected[k] = pow((double)k + 1, -theta);
        sum += expected[k];
    }
    for (uint64_t k = 0; k < n; k++) {
        mean += (double)k * expected[k] / sum;
        square += (double)k * (double)k * expected[k] / sum;
        expected[k] *= draws / sum;
    }
    *sd = sqrt(square - mean * mean);
    return mean;
}

/* What is drawn when a stream gives these bits first: s[1] is what they come to, turned back; the rest is arbitrary. */
static uint64_t rank_of(const struct zipf *zipf, uint64_t bits) {
    const uint64_t by_9 = UINT64_C(0x8e38e38e38e38e39), by_5 = UINT64_C(0xcccccccccccccccd); /* inverses of 9 and 5 */
    struct stream stream = {{1, random_rotate(bits * by_9, 57) * by_5, 2, 3}};
    return zipf_draw(zipf, &stream);
}

static void check_fit(uint64_t n, double theta, int draws, uint64_t seed) {
    uint64_t *observed = mem_new(n, sizeof *observed);
    double *expected = mem_new(n, sizeof *expected);
    struct stream stream = test_stream(seed);
    struct zipf zipf;
    zipf_init(&zipf, n, theta);
    double sum = 0, sd, mean = expect(n, theta, draws, expected, &sd);
    for (int i = 0; i < draws; i++) {
        uint64_t k = zipf_draw(&zipf, &stream);
        assert_true(k < n);
        observed[k]++;
        sum += (double)k;
    }
    double p = fit_chi_square(observed, expected, n);
    if (p <= FIT_P) {
        print_error("n = %d, theta = %g: p = %g\n", (int)n, theta, p);
    }
    assert_true(p > FIT_P);
    assert_near(sum / draws, mean, 4 * sd / sqrt(draws));
    mem_free(observed);
    mem_free(expected);
}

static void fits_for_every_skew(void **state) {
    (void)state;
    static const double thetas[] = {0.01, 0.999999999, 1.000000001, 2, 3.5};
    for (size_t i = 0; i < sizeof thetas / sizeof thetas[0]; i++) {
        check_fit(10, thetas[i], DRAWS, 100 + i);
        check_fit(1000, thetas[i], DRAWS, 200 + i);
        check_fit(2, thetas[i], DRAWS, 300 + i);
    }
}

/* What workloads use, at a million draws: an error of a thousandth in a probability of a tenth would show. */
static void fits_closely_for_common_skews(void **state) {
    (void)state;
    static const double thetas[] = {0, 0.5, 0.99, 1, 1.2};
    static const uint64_t sizes[] = {10, 1000, LARGEST};
    for (size_t i = 0; i < sizeof thetas / sizeof thetas[0]; i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            check_fit(sizes[s], thetas[i], MANY_DRAWS, 1000 + 10 * i + s);
        }
    }
}

/* Three of four, at a million draws: each is drawn by the weights of those left. */
static void distinct_ranks_fit(void **state) {
    (void)state;
    enum { N = 4, CHOICES = N * N * N };
    static const double thetas[] = {0.5, 1, 1.2};
    for (size_t t = 0; t < sizeof thetas / sizeof thetas[0]; t++) {
        uint64_t counts[CHOICES] = {0}, observed[CHOICES];
        double weights[N], expected[CHOICES], all = 0;
        struct stream stream = test_stream(50 + t);
        struct zipf zipf;
        size_t cells = 0;
        zipf_init(&zipf, N, thetas[t]);
        for (int i = 0; i < MANY_DRAWS; i++) {
            uint64_t ranks[3];
            zipf_distinct(&zipf, &stream, ranks, 3);
            counts[(ranks[0] * N + ranks[1]) * N + ranks[2]]++;
        }
        for (int k = 0; k < N; k++) {
            weights[k] = pow(k + 1, -thetas[t]);
            all += weights[k];
        }
        for (int c = 0; c < CHOICES; c++) {
            int a = c / N / N, b = c / N % N, d = c % N;
            if (a == b || a == d || b == d) {
                assert_int_equal(counts[c], 0);
                continue;
            }
            observed[cells] = counts[c];
            expected[cells++] = MANY_DRAWS * weights[a] / all * weights[b] / (all - weights[a]) * weights[d] /
                                (all - weights[a] - weights[b]);
        }
        assert_int_equal(cells, 24);
        assert_true(fit_chi_square(observed, expected, cells) > FIT_P);
    }
}

/* However many: the ranks are those of drawing one after another and leaving out what came before. */
static void distinct_ranks_leave_out_repetitions(void **state) {
    (void)state;
    static const size_t counts[] = {1, 5, 16, 17, 60, ZIPF_DISTINCT_MAX};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct stream stream = test_stream(60 + c), again = stream;
        struct zipf zipf;
        uint64_t ranks[ZIPF_DISTINCT_MAX];
        zipf_init(&zipf, 5 * ZIPF_DISTINCT_MAX, 0.9);
        zipf_distinct(&zipf, &stream, ranks, counts[c]);
        for (size_t i = 0; i < counts[c]; i++) {
            bool taken = true;
            while (taken) {
                uint64_t rank = zipf_draw(&zipf, &again);
                taken = false;
                for (size_t before = 0; before < i; before++) {
                    taken = taken || ranks[before] == rank;
                }
                assert_true(taken || rank == ranks[i]);
            }
        }
        assert_int_equal(stream_bits(&stream), stream_bits(&again));
    }
}

/* YCSB's approximation gives 131.8 - 1 here. */
static void mean_rank_is_exact(void **state) {
    (void)state;
    enum { N = 1000 };
    double expected[N], sd, mean = expect(N, 0.99, DRAWS, expected, &sd);
    assert_near(mean, 136.2, 0.3);
    struct stream stream = test_stream(1);
    struct zipf zipf;
    zipf_init(&zipf, N, 0.99);
    double sum = 0;
    for (int i = 0; i < 10 * DRAWS; i++) {
        sum += (double)zipf_draw(&zipf, &stream);
    }
    assert_near(sum / (10 * DRAWS), mean, 4 * sd / sqrt(10 * DRAWS));
}

/* Nothing to choose from, steep skews, as many items as allowed: always in range, and the first item as often as its
 * share says (zeta(2) = pi^2/6; for theta = 10 it is 1/1.000994575). */
static void holds_at_the_extremes(void **state) {
    (void)state;
    static const double thetas[] = {0, 0.5, 1, 2, ZIPF_THETA_MAX};
    static const uint64_t sizes[] = {1, 2, 1000000, UINT64_C(1) << 52};
    for (size_t t = 0; t < sizeof thetas / sizeof thetas[0]; t++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            struct stream stream = test_stream(t * 10 + s);
            struct zipf zipf;
            zipf_init(&zipf, sizes[s], thetas[t]);
            int first = 0;
            for (int i = 0; i < FEW_DRAWS; i++) {
                uint64_t k = zipf_draw(&zipf, &stream);
                assert_true(k < sizes[s]);
                first += k == 0;
            }
            if (sizes[s] == 1) {
                assert_int_equal(first, FEW_DRAWS);
            } else if (sizes[s] >= 1000000 && thetas[t] >= 2) {
                double share = thetas[t] > 2 ? 1 / 1.000994575 : 6 / (M_PI * M_PI);
                assert_near(first, share * FEW_DRAWS, 4 * sqrt(FEW_DRAWS * share * (1 - share)));
            }
        }
    }
}

/* Shares must be right far out too: the upper half of n = 10^9 items under theta = 1 has log 2 / (log n + gamma). */
static void weighs_the_far_half_right(void **state) {
    (void)state;
    const uint64_t n = 1000000000;
    struct stream stream = test_stream(2);
    struct zipf zipf;
    zipf_init(&zipf, n, 1);
    int far = 0;
    for (int i = 0; i < DRAWS; i++) {
        far += zipf_draw(&zipf, &stream) >= n / 2;
    }
    double share = log(2) / (log((double)n) + 0.5772156649);
    assert_near(far, share * DRAWS, 4 * sqrt(DRAWS * share * (1 - share)));
}

/* Rounding of 1 - theta must not show: a theta that differs from 1 by 10^-13 draws what 1 draws, but for a draw on the
 * very border of two numbers. */
static void is_smooth_at_one(void **state) {
    (void)state;
    struct stream stream = test_stream(4), below_stream = stream, above_stream = stream;
    struct zipf one, below, above;
    zipf_init(&one, 1000000, 1);
    zipf_init(&below, 1000000, 1 - 1e-13);
    zipf_init(&above, 1000000, 1 + 1e-13);
    int different = 0;
    for (int i = 0; i < FEW_DRAWS; i++) {
        uint64_t k = zipf_draw(&one, &stream);
        different += zipf_draw(&below, &below_stream) != k;
        different += zipf_draw(&above, &above_stream) != k;
    }
    assert_in_range(different, 0, 2);
}

/* A stream whose next output is 0 asks for the far end of the range, which for a steep skew rounds to infinity. */
static void survives_the_far_end(void **state) {
    (void)state;
    static const double thetas[] = {0.5, 1, 2, ZIPF_THETA_MAX};
    for (size_t i = 0; i < sizeof thetas / sizeof thetas[0]; i++) {
        struct stream stream = {{1, 0, 1, 1}};
        struct zipf zipf;
        zipf_init(&zipf, UINT64_C(1) << 52, thetas[i]);
        assert_true(zipf_draw(&zipf, &stream) < UINT64_C(1) << 52);
    }
}

/* The polynomials of the parts decide what a draw costs, never what it is: without them (no number is certain) the same
 * ranks come of the same bits. Where they ought to be of use they are, and where x runs away they are not. */
static void parts_change_no_rank(void **state) {
    (void)state;
    static const double thetas[] = {0.01, 0.3, 0.5,      0.6, 2.0 / 3, 0.75, 0.9,
                                    0.99, 1,   1.000001, 1.2, 2,       3.5,  ZIPF_THETA_MAX};
    static const uint64_t sizes[] = {1, 2, 3, 10, 1000, 100000, 1000000000, UINT64_C(1) << 52};
    for (size_t t = 0; t < sizeof thetas / sizeof thetas[0]; t++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            struct stream stream = test_stream(70 + t), again = stream;
            struct zipf zipf, bare;
            zipf_init(&zipf, sizes[s], thetas[t]);
            bare = zipf;
            int certain = 0;
            for (int i = 0; i < ZIPF_PARTS; i++) {
                certain += zipf.parts[i].certain > 0.4;
                bare.parts[i].certain = -1;
            }
            assert_true(certain >= (thetas[t] < 1 && sizes[s] <= 100000 ? ZIPF_PARTS - 2 : 0));
            for (int i = 0; i < DRAWS; i++) {
                assert_int_equal(zipf_draw(&zipf, &stream), zipf_draw(&bare, &again));
            }
        }
    }
}

/* The borders of numbers are where a part could go wrong: 53 bits just before and behind each change of rank. */
static void parts_change_no_border(void **state) {
    (void)state;
    static const double thetas[] = {0.3, 0.6, 0.99, 1.2, 3.5};
    for (size_t t = 0; t < sizeof thetas / sizeof thetas[0]; t++) {
        struct zipf zipf, bare;
        zipf_init(&zipf, 100000, thetas[t]);
        bare = zipf;
        for (int i = 0; i < ZIPF_PARTS; i++) {
            bare.parts[i].certain = -1;
        }
        struct stream stream = test_stream(90 + t);
        for (int i = 0; i < FEW_DRAWS / 10; i++) {
            uint64_t low = stream_bits(&stream), high = low + (UINT64_C(1) << 53);
            for (int step = 0; high - low > 1 && step < 64; step++) { /* to a border between the two */
                uint64_t middle = low + (high - low) / 2;
                bool same = rank_of(&bare, middle) == rank_of(&bare, low);
                low = same ? middle : low;
                high = same ? high : middle;
            }
            for (int away = 0; away < 40; away++) {
                uint64_t distance = (UINT64_C(1) << away) << 11;
                assert_int_equal(rank_of(&zipf, low - distance), rank_of(&bare, low - distance));
                assert_int_equal(rank_of(&zipf, low + distance), rank_of(&bare, low + distance));
            }
        }
    }
}

static void keeps_its_numbers(void **state) {
    (void)state;
    struct stream stream = test_stream(3);
    struct zipf zipf;
    zipf_init(&zipf, 1000000, 0.9);
    uint64_t sum = 0;
    for (int i = 0; i < 10000; i++) {
        sum = sum * 31 + zipf_draw(&zipf, &stream);
    }
    assert_int_equal(sum, UINT64_C(0x80bd6f26aafb225));
}

TEST_GROUP(zipf, cmocka_unit_test(fits_for_every_skew), cmocka_unit_test(fits_closely_for_common_skews),
           cmocka_unit_test(distinct_ranks_fit), cmocka_unit_test(distinct_ranks_leave_out_repetitions),
           cmocka_unit_test(mean_rank_is_exact), cmocka_unit_test(holds_at_the_extremes),
           cmocka_unit_test(weighs_the_far_half_right), cmocka_unit_test(is_smooth_at_one),
           cmocka_unit_test(survives_the_far_end), cmocka_unit_test(parts_change_no_rank),
           cmocka_unit_test(parts_change_no_border), cmocka_unit_test(keeps_its_numbers))
