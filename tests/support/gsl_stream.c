/* gsl_stream.c - the four functions GSL wants of a generator. */
#include "tests/support/gsl_stream.h"

struct stream test_stream(uint64_t seed) {
    struct stream stream;
    const struct stream_key key = {.seed = seed, .replication = 1, .purpose = STREAM_TEST};
    stream_open(&stream, &key);
    return stream;
}

static void set(void *state, unsigned long seed) { *(struct stream *)state = test_stream(seed); }

static unsigned long get(void *state) { return stream_bits(state); }

static double get_double(void *state) { return stream_unit(state); }

static const gsl_rng_type type = {.name = "ccsim_stream",
                                  .max = UINT64_MAX,
                                  .min = 0,
                                  .size = sizeof(struct stream),
                                  .set = set,
                                  .get = get,
                                  .get_double = get_double};
const gsl_rng_type *const gsl_rng_stream = &type;
