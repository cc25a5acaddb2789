/* distribution.c - durations that may be random. What a draw needs is worked out when the distribution is made. */
#include "sim/base/distribution.h"

#include <math.h>

#include "sim/base/check.h"

/* A mean of nothing is the constant 0, whatever it is called, so that distribution_is_zero knows it. */
struct distribution distribution_constant(int64_t value_ns) {
    CHECK(value_ns >= 0);
    return (struct distribution){
        .kind = DISTRIBUTION_CONSTANT, .mean_ns = value_ns, .mean = (double)value_ns, .takes_time = value_ns > 0};
}

struct distribution distribution_exponential(int64_t mean_ns) {
    struct distribution d = distribution_constant(mean_ns);
    d.kind = mean_ns > 0 ? DISTRIBUTION_EXPONENTIAL : DISTRIBUTION_CONSTANT;
    return d;
}

struct distribution distribution_uniform(int64_t low_ns, int64_t high_ns) {
    CHECK(low_ns >= 0 && low_ns <= high_ns && high_ns < INT64_MAX);
    struct distribution d = distribution_constant(low_ns + (high_ns - low_ns) / 2);
    d.kind = high_ns > 0 ? DISTRIBUTION_UNIFORM : DISTRIBUTION_CONSTANT;
    d.takes_time = high_ns > 0;
    d.low_ns = low_ns;
    d.high_ns = high_ns;
    return d;
}

struct distribution distribution_erlang(int stages, int64_t mean_ns) {
    CHECK(stages >= 1);
    struct distribution d = distribution_constant(mean_ns);
    d.kind = mean_ns > 0 ? DISTRIBUTION_ERLANG : DISTRIBUTION_CONSTANT;
    d.stages = stages;
    return d;
}

/* exp(mu + sigma N) has the mean exp(mu + sigma^2/2) and the squared coefficient of variation exp(sigma^2) - 1. */
struct distribution distribution_lognormal(int64_t mean_ns, double cv) {
    CHECK(cv >= 0 && cv < 1e9);
    struct distribution d = distribution_constant(mean_ns);
    if (mean_ns > 0) {
        double variance = exact_log(1 + cv * cv);
        d.kind = DISTRIBUTION_LOGNORMAL;
        d.mu = exact_log((double)mean_ns) - variance / 2;
        d.sigma = sqrt(variance); /* lint: sqrt, IEEE 754 fixes its last bit */
    }
    return d;
}

int64_t distribution_draw_any(const struct distribution *d, struct stream *stream) {
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT: return d->mean_ns;
    case DISTRIBUTION_EXPONENTIAL: return distribution_rounded(d->mean * stream_exponential(stream));
    case DISTRIBUTION_UNIFORM: return d->low_ns + (int64_t)stream_below(stream, (uint64_t)(d->high_ns - d->low_ns) + 1);
    case DISTRIBUTION_ERLANG: {
        double sum = 0;
        for (int i = 0; i < d->stages; i++) {
            sum += stream_exponential(stream);
        }
        return distribution_rounded((double)d->mean_ns / d->stages * sum);
    }
    case DISTRIBUTION_LOGNORMAL: return distribution_rounded(exact_exp(d->mu + d->sigma * stream_normal(stream)));
    }
    CHECK_MSG(false, "distribution kind %d", (int)d->kind);
    return 0;
}

double distribution_cv2(const struct distribution *d) {
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT: return 0;
    case DISTRIBUTION_EXPONENTIAL: return 1;
    case DISTRIBUTION_UNIFORM: { /* of whole numbers, both ends included */
        double values = (double)(d->high_ns - d->low_ns) + 1, mean = ((double)d->low_ns + (double)d->high_ns) / 2;
        return (values * values - 1) / 12 / (mean * mean);
    }
    case DISTRIBUTION_ERLANG: return 1.0 / d->stages;
    case DISTRIBUTION_LOGNORMAL: return exact_exp(d->sigma * d->sigma) - 1;
    }
    CHECK_MSG(false, "distribution kind %d", (int)d->kind);
    return 0;
}
