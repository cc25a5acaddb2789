/* test_random.c - the generator against published outputs, the draws against GSL's distribution functions, the
 * logarithm and exponential against libm's 80-bit ones. */
#include "sim/base/random.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "sim/base/memory.h"
#include "tests/support/fit.h"
#include "tests/support/gsl_stream.h"
#include "tests/support/harness.h"

enum { SAMPLE = 200000 };

static double flat(double x, const double *unused) {
    (void)unused;
    return gsl_cdf_flat_P(x, 0, 1);
}

static double exponential(double x, const double *unused) {
    (void)unused;
    return gsl_cdf_exponential_P(x, 1);
}

static double normal(double x, const double *unused) {
    (void)unused;
    return gsl_cdf_ugaussian_P(x);
}

/* Outputs that other implementations of the two published algorithms document for these states. */
static void follows_the_published_generators(void **state) {
    (void)state;
    static const uint64_t expected[] = {UINT64_C(11520),
                                        UINT64_C(0),
                                        UINT64_C(1509978240),
                                        UINT64_C(1215971899390074240),
                                        UINT64_C(1216172134540287360),
                                        UINT64_C(607988272756665600),
                                        UINT64_C(16172922978634559625),
                                        UINT64_C(8476171486693032832),
                                        UINT64_C(10595114339597558777),
                                        UINT64_C(2904607092377533576)};
    struct stream stream = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(stream_bits(&stream), expected[i]);
    }
    uint64_t golden = UINT64_C(0x9e3779b97f4a7c15), seed = 1234567;
    assert_int_equal(random_mix(seed + golden), UINT64_C(6457827717110365317));
    assert_int_equal(random_mix(seed + 2 * golden), UINT64_C(3203168211198807973));
    assert_int_equal(random_mix(seed + 3 * golden), UINT64_C(9817491932198370423));
}

/* Pinned: if one of these changes, every result of every experiment changes. */
static void keeps_its_numbers(void **state) {
    (void)state;
    struct stream stream;
    const struct stream_key key = {.seed = 1, .replication = 2, .purpose = STREAM_THINK, .owner = 3, .number = 4};
    stream_open(&stream, &key);
    assert_int_equal(stream_bits(&stream), UINT64_C(0x66ddd3afecddd265));
    assert_int_equal(stream_bits(&stream), UINT64_C(0xa542b59796b4f542));
    assert_int_equal(stream_below(&stream, 1000000), 14116);
    double sums[3] = {0, 0, 0};
    for (int i = 0; i < 10000; i++) {
        sums[0] += stream_unit(&stream);
        sums[1] += stream_exponential(&stream);
        sums[2] += stream_normal(&stream);
    }
    assert_true(sums[0] == 0x1.35818983c5183p+12);
    assert_true(sums[1] == 0x1.386e1ffdca027p+13);
    assert_true(sums[2] == -0x1.b917e56c21f3ep+7);
}

static void every_word_of_the_key_counts(void **state) {
    (void)state;
    const struct stream_key keys[] = {
        {1, 2, STREAM_THINK, 3, 4},   {2, 2, STREAM_THINK, 3, 4},  {1, 3, STREAM_THINK, 3, 4},
        {1, 2, STREAM_SERVICE, 3, 4}, {1, 2, STREAM_THINK, 4, 4},  {1, 2, STREAM_THINK, 3, 5},
        {2, 1, STREAM_THINK, 3, 4},   {1, 2, STREAM_THINK, 4, 3},  {1, 3, STREAM_THINK, 2, 4},
        {4, 3, STREAM_THINK, 2, 1},   {1, 2, STREAM_SERVICE, 2, 4}};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    uint64_t first[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        struct stream stream, again;
        stream_open(&stream, &keys[i]);
        stream_open_one(&again, stream_family(&keys[i]), keys[i].owner, keys[i].number);
        assert_memory_equal(&stream, &again, sizeof stream);
        first[i] = stream_bits(&stream);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(first[i], first[j]);
        }
    }
}

/* Streams of neighbouring keys side by side: their first outputs must look like one generator's. */
static void neighbouring_streams_are_independent(void **state) {
    (void)state;
    double *sample = mem_new(SAMPLE, sizeof *sample);
    uint64_t pairs[16 * 16] = {0};
    unsigned before = 0;
    for (int i = 0; i < SAMPLE; i++) {
        struct stream stream;
        const struct stream_key key = {1, 1, STREAM_PROGRAM, (uint64_t)i / 1000, (uint64_t)i % 1000};
        stream_open(&stream, &key);
        sample[i] = stream_unit(&stream);
        unsigned now = (unsigned)(sample[i] * 16);
        pairs[before * 16 + now]++;
        before = now;
    }
    assert_true(fit_even(pairs, 256) > FIT_P);
    assert_true(fit_ks(sample, SAMPLE, flat, NULL) > FIT_P);
    mem_free(sample);
}

static void units_are_uniform(void **state) {
    (void)state;
    struct stream stream = test_stream(1);
    double *sample = mem_new(SAMPLE, sizeof *sample);
    for (int i = 0; i < SAMPLE; i++) {
        sample[i] = stream_unit(&stream);
        assert_true(sample[i] >= 0 && sample[i] < 1);
    }
    struct moments m = fit_moments(sample, SAMPLE);
    assert_near(m.mean, 0.5, 0.003);
    assert_near(m.variance, 1.0 / 12, 0.001);
    assert_true(fit_ks(sample, SAMPLE, flat, NULL) > FIT_P);
    mem_free(sample);
}

static void below_is_uniform(void **state) {
    (void)state;
    static const uint64_t bounds[] = {1, 2, 3, 7, 10, 64, 1000};
    struct stream stream = test_stream(2);
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        uint64_t counts[1000] = {0};
        for (int i = 0; i < SAMPLE; i++) {
            uint64_t value = stream_below(&stream, bounds[b]);
            assert_true(value < bounds[b]);
            counts[value]++;
        }
        assert_true(bounds[b] == 1 || fit_even(counts, bounds[b]) > FIT_P);
    }
}

/* With a bound of 3 * 2^62, multiplication without rejection would give every third number twice as often as the
 * others: 2^64 outputs over 3/4 as many numbers. */
static void below_rejects_what_would_be_biased(void **state) {
    (void)state;
    struct stream stream = test_stream(3);
    uint64_t counts[3] = {0}, quarters[3] = {0};
    for (int i = 0; i < SAMPLE; i++) {
        uint64_t value = stream_below(&stream, UINT64_C(3) << 62);
        counts[value % 3]++;
        quarters[value >> 62]++;
    }
    assert_true(fit_even(counts, 3) > FIT_P);
    assert_true(fit_even(quarters, 3) > FIT_P);
}

/* The table's defining equations, see random_table.c, in 80-bit arithmetic. */
static void the_ziggurat_is_as_derived(void **state) {
    (void)state;
    const long double r = 7.697117470131049714044628048L, v = (r + 1) * expl(-r);
    long double x = r + 1, next = r;
    for (int i = 0; i < RANDOM_LAYERS; i++) {
        assert_near(random_layers[i].width * 0x1p53, x, 1e-15 * (double)x);
        assert_near((double)random_layers[i].accept, floorl(next / x * 0x1p53L), 1024); /* 1024 is 1e-13 of the width */
        assert_near(random_heights[i + 1], expl(-next), 1e-15);
        if (i + 1 == RANDOM_LAYERS) {
            assert_near(expl(-x) + v / x, 1, 1e-15); /* the last layer ends at the top */
        }
        x = next;
        next = i + 2 < RANDOM_LAYERS ? -logl(expl(-x) + v / x) : 0;
    }
}

static void exponentials_fit(void **state) {
    (void)state;
    enum { CELLS = 400, DRAWS = 5 * SAMPLE };
    struct stream stream = test_stream(4);
    double *sample = mem_new(DRAWS, sizeof *sample);
    uint64_t counts[CELLS] = {0}, tail = 0;
    for (int i = 0; i < DRAWS; i++) {
        sample[i] = stream_exponential(&stream);
        assert_true(sample[i] >= 0);
        counts[(int)(gsl_cdf_exponential_P(sample[i], 1) * CELLS * (1 - 1e-15))]++;
        tail += sample[i] > 7.69711747013105;
    }
    struct moments m = fit_moments(sample, DRAWS);
    assert_near(m.mean, 1, 0.004); /* 4 standard errors */
    assert_near(m.variance, 1, 0.012);
    assert_near(m.skewness, 2, 0.05);
    assert_near(m.kurtosis, 9, 0.6);
    assert_near((double)tail, DRAWS * 4.5414e-4, 4 * sqrt(DRAWS * 4.5414e-4)); /* exp(-r): the tail is drawn apart */
    assert_true(fit_even(counts, CELLS) > FIT_P);
    assert_true(fit_ks(sample, DRAWS, exponential, NULL) > FIT_P);
    mem_free(sample);
}

static void normals_fit(void **state) {
    (void)state;
    struct stream stream = test_stream(5);
    double *sample = mem_new(SAMPLE, sizeof *sample);
    for (int i = 0; i < SAMPLE; i++) {
        sample[i] = stream_normal(&stream);
    }
    struct moments m = fit_moments(sample, SAMPLE);
    assert_near(m.mean, 0, 0.009);
    assert_near(m.variance, 1, 0.013);
    assert_near(m.skewness, 0, 0.022);
    assert_near(m.kurtosis, 3, 0.044);
    assert_true(fit_ks(sample, SAMPLE, normal, NULL) > FIT_P);
    mem_free(sample);
}

/* GSL's own algorithms on the same bits: that the streams are good enough for somebody else's methods too. */
static void serves_gsl(void **state) {
    (void)state;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_stream);
    gsl_rng_set(generator, 6);
    struct stream stream = test_stream(6);
    assert_true(gsl_rng_uniform(generator) == stream_unit(&stream));
    double *sample = mem_new(SAMPLE, sizeof *sample);
    for (int i = 0; i < SAMPLE; i++) {
        sample[i] = gsl_ran_exponential(generator, 1);
    }
    assert_true(fit_ks(sample, SAMPLE, exponential, NULL) > FIT_P);
    for (int i = 0; i < SAMPLE; i++) {
        sample[i] = gsl_ran_gaussian_ziggurat(generator, 1);
    }
    assert_true(fit_ks(sample, SAMPLE, normal, NULL) > FIT_P);
    gsl_rng_free(generator);
    mem_free(sample);
}

/* Every ordered choice is equally likely: 2 of 4 (drawn again when met) and 3 of 5 (walked over). */
static void small_choices_are_uniform(void **state) {
    (void)state;
    static const struct {
        uint64_t bound, count, cells, choices;
    } cases[] = {{4, 2, 16, 12}, {5, 3, 125, 60}, {3, 3, 27, 6}};
    struct stream stream = test_stream(7);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        uint64_t counts[125] = {0}, seen[125], kinds = 0;
        for (int i = 0; i < SAMPLE; i++) {
            uint64_t out[3], cell = 0;
            stream_distinct(&stream, cases[c].bound, out, cases[c].count);
            for (uint64_t j = 0; j < cases[c].count; j++) {
                cell = cell * cases[c].bound + out[j];
            }
            counts[cell]++;
        }
        for (uint64_t cell = 0; cell < cases[c].cells; cell++) {
            if (counts[cell] > 0) {
                seen[kinds++] = counts[cell];
            }
        }
        assert_int_equal(kinds, cases[c].choices);
        assert_true(fit_even(seen, kinds) > FIT_P);
    }
}

/* Many of many more (found by sorting): each distinct, each number as often as the others, at each place. */
static void large_choices_are_uniform(void **state) {
    (void)state;
    enum { BOUND = 300, COUNT = 100, TIMES = 3000 };
    struct stream stream = test_stream(8);
    uint64_t counts[BOUND] = {0}, first[BOUND] = {0}, last[BOUND] = {0};
    for (int i = 0; i < TIMES; i++) {
        uint64_t out[COUNT];
        bool there[BOUND] = {false};
        stream_distinct(&stream, BOUND, out, COUNT);
        for (int j = 0; j < COUNT; j++) {
            assert_true(out[j] < BOUND && !there[out[j]]);
            there[out[j]] = true;
            counts[out[j]]++;
        }
        first[out[0]]++;
        last[out[COUNT - 1]]++;
    }
    assert_true(fit_even(first, BOUND) > FIT_P);
    assert_true(fit_even(last, BOUND) > FIT_P);
    assert_true(fit_even(counts, BOUND) > FIT_P);
    uint64_t huge[200];
    stream_distinct(&stream, UINT64_MAX, huge, 200);
    stream_distinct(&stream, 0, huge, 0);
}

/* A few are those of drawing one after another and leaving out what came before. */
static void small_choices_leave_out_repetitions(void **state) {
    (void)state;
    enum { COUNT = 64 };
    for (uint64_t bound = 2 * COUNT; bound < 6 * COUNT; bound++) {
        struct stream stream = test_stream(11 + bound), again = stream;
        uint64_t out[COUNT];
        stream_distinct(&stream, bound, out, COUNT);
        for (int i = 0; i < COUNT; i++) {
            uint64_t number;
            bool there;
            do {
                number = stream_below(&again, bound);
                there = false;
                for (int before = 0; before < i; before++) {
                    there = there || out[before] == number;
                }
            } while (there);
            assert_int_equal(out[i], number);
        }
        assert_int_equal(stream_bits(&stream), stream_bits(&again));
    }
}

static void log_is_exact(void **state) {
    (void)state;
    struct stream stream = test_stream(9);
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        double x = i % 3 == 0   ? ldexp(1 + stream_unit(&stream), (int)stream_below(&stream, 2000) - 1000)
                   : i % 3 == 1 ? 0.5 + stream_unit(&stream)
                                : 1 + ldexp(stream_unit(&stream) - 0.5, -(int)stream_below(&stream, 50));
        if (x != 1) {
            long double truth = logl(x);
            worst = fmax(worst, (double)fabsl((exact_log(x) - truth) / truth));
        }
    }
    assert_true(worst < 4.5e-16); /* two units of the last place */
    assert_true(exact_log(1) == 0);
    assert_near(exact_log(DBL_MIN / 1024), logl(DBL_MIN / 1024), 2e-13);
    assert_near(exact_log(0x1p-1074), logl(0x1p-1074L), 2e-13);
    assert_near(exact_log(DBL_MAX), logl(DBL_MAX), 2e-13);
}

static void exp_is_exact(void **state) {
    (void)state;
    struct stream stream = test_stream(10);
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        double x = i % 2 == 0 ? (stream_unit(&stream) - 0.5) * 1400 : ldexp(stream_unit(&stream) - 0.5, -(i % 60));
        long double truth = expl(x);
        worst = fmax(worst, (double)fabsl((exact_exp(x) - truth) / truth));
    }
    assert_true(worst < 3.4e-16);
    assert_true(exact_exp(0) == 1);
    assert_true(isinf(exact_exp(710)) && exact_exp(709.78) < DBL_MAX);
    assert_true(exact_exp(-746) == 0 && exact_exp(-745.1) > 0);
    assert_near(exact_exp(-740) / expl(-740), 1, 1e-2); /* subnormal: few digits are left */
    for (int e = -1000; e <= 1000; e += 37) {
        assert_near(exact_log(exact_exp(e * 0.7)), e * 0.7, 2e-13);
    }
}

TEST_GROUP(random, cmocka_unit_test(follows_the_published_generators), cmocka_unit_test(keeps_its_numbers),
           cmocka_unit_test(every_word_of_the_key_counts), cmocka_unit_test(neighbouring_streams_are_independent),
           cmocka_unit_test(units_are_uniform), cmocka_unit_test(below_is_uniform),
           cmocka_unit_test(below_rejects_what_would_be_biased), cmocka_unit_test(the_ziggurat_is_as_derived),
           cmocka_unit_test(exponentials_fit), cmocka_unit_test(normals_fit), cmocka_unit_test(serves_gsl),
           cmocka_unit_test(small_choices_are_uniform), cmocka_unit_test(large_choices_are_uniform),
           cmocka_unit_test(small_choices_leave_out_repetitions), cmocka_unit_test(log_is_exact),
           cmocka_unit_test(exp_is_exact))
