/* distribution.h - a duration that may be random: `5ms`, `exp(1ms)`, `uniform(1ms, 3ms)`, `erlang(4, 1ms)`,
 * `lognormal(1ms, 0.8)` (mean, coefficient of variation). Times are integer nanoseconds, never negative. */
#ifndef CCSIM_BASE_DISTRIBUTION_H
#define CCSIM_BASE_DISTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/inline.h"
#include "sim/base/random.h"

enum distribution_kind {
    DISTRIBUTION_CONSTANT,
    DISTRIBUTION_EXPONENTIAL,
    DISTRIBUTION_UNIFORM,
    DISTRIBUTION_ERLANG,
    DISTRIBUTION_LOGNORMAL
} __attribute__((packed));

struct distribution {
    enum distribution_kind kind;
    bool takes_time;         /* false: every draw is 0 */
    int stages;              /* erlang */
    int64_t mean_ns;         /* also the value of a constant; erlang: of the sum of all stages */
    int64_t low_ns, high_ns; /* uniform: both ends included */
    double mu, sigma;        /* lognormal: of the logarithm of nanoseconds */
    double mean;             /* mean_ns as a number, which an exponential draw multiplies by */
};

struct distribution distribution_constant(int64_t value_ns);
struct distribution distribution_exponential(int64_t mean_ns);
struct distribution distribution_uniform(int64_t low_ns, int64_t high_ns);
struct distribution distribution_erlang(int stages, int64_t mean_ns);
struct distribution distribution_lognormal(int64_t mean_ns, double cv);

static inline bool distribution_is_zero(const struct distribution *d) { return !d->takes_time; }

/* Draws end at 2^60 ns, 36 years: sums of a few stay clear of the end of time. */
static inline int64_t distribution_rounded(double ns) {
    static const double longest = 0x1p60;
    return (int64_t)((ns < longest ? ns : longest) + 0.5);
}

/* One duration; a constant draws nothing from the stream. Rounded to the nearest nanosecond. */
int64_t distribution_draw_any(const struct distribution *d, struct stream *stream);
ALWAYS_INLINE int64_t distribution_draw(const struct distribution *d, struct stream *stream) {
    if (d->kind == DISTRIBUTION_EXPONENTIAL) {
        return distribution_rounded(d->mean * stream_exponential(stream));
    }
    return d->kind == DISTRIBUTION_CONSTANT ? d->mean_ns : distribution_draw_any(d, stream);
}

/* Its coefficient of variation squared (variance / mean^2); 0 for a mean of 0. */
double distribution_cv2(const struct distribution *d);

#endif
