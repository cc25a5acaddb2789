/* gsl_stream.h - a stream of sim/base/random.h as a generator of GSL, for GSL's own distributions to draw on. */
#ifndef CCSIM_TESTS_SUPPORT_GSL_STREAM_H
#define CCSIM_TESTS_SUPPORT_GSL_STREAM_H

#include <gsl/gsl_rng.h>

#include "sim/base/random.h"

/* gsl_rng_set(generator, seed) opens the stream that test_stream(seed) opens. */
extern const gsl_rng_type *const gsl_rng_stream;

/* The stream of tests with that seed. */
struct stream test_stream(uint64_t seed);

#endif
