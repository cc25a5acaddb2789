/* test_program.c - chances that are compared as whole numbers decide like those that are not. */
#include "workloads/program.h"

#include "tests/support/gsl_stream.h"
#include "tests/support/harness.h"

/* The limit is the first multiple of 2^-53 that is not below the probability. */
static void limits_are_exact(void **state) {
    (void)state;
    static const double probabilities[] = {0,   0x1p-1074,     0x1p-60, 0x1p-53, 0x1.8p-53,   0.1, 1.0 / 3,
                                           0.5, 0.5 + 0x1p-53, 0.7,     0.999,   1 - 0x1p-53, 1};
    for (size_t i = 0; i < sizeof probabilities / sizeof probabilities[0]; i++) {
        double p = probabilities[i];
        uint64_t limit = chance_limit(p);
        assert_true((double)limit * 0x1p-53 >= p);
        assert_true(limit == 0 || (double)(limit - 1) * 0x1p-53 < p);
    }
    struct stream stream = test_stream(1), again = stream;
    for (int i = 0; i < 1000; i++) {
        double p = i / 1000.0;
        assert_int_equal(stream_whole(&stream) < chance_limit(p), stream_chance(&again, p));
    }
}

TEST_GROUP(program, cmocka_unit_test(limits_are_exact))
