/* random.h - random streams, and the draws that reach simulated time or keys.
 *
 * A stream is xoshiro256** seeded through splitmix64 from a *key*: (seed, replication, purpose, owner, number). Streams
 * with different keys are independent for every practical purpose, so a feature that draws more, or less, never
 * shifts what another feature draws: that is what makes random numbers common to all algorithms.
 * No draw uses libm, whose last bit differs between processors; with -ffp-contract=off every result is the same
 * everywhere. Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021). */
#ifndef CCSIM_BASE_RANDOM_H
#define CCSIM_BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/inline.h"

/* Whose draws a stream serves. The numbers are part of the meaning of a seed: append only. */
enum stream_purpose {
    STREAM_PROGRAM = 1, /* arguments of a terminal's n-th transaction (terminal 0: arrivals) */
    STREAM_THINK = 2,   /* think times and the first start of a terminal */
    STREAM_SERVICE = 3, /* CPU, disk and log times, choice of disk, of a terminal's transactions */
    STREAM_RESTART = 4, /* restart delays */
    STREAM_ARRIVAL = 5, /* times between arrivals */
    STREAM_LOAD = 6,    /* initial content */
    STREAM_TEST = 7,
};

struct stream_key {
    uint64_t seed, replication;
    enum stream_purpose purpose;
    uint64_t owner, number;
};

struct stream {
    uint64_t state[4];
};

void stream_open(struct stream *stream, const struct stream_key *key);

/* The same in two steps: what the first three words of a key come to, which streams of one purpose have in common, and
 * the stream of the other two. */
uint64_t stream_family(const struct stream_key *key);
void stream_open_one(struct stream *stream, uint64_t family, uint64_t owner, uint64_t number);

static inline uint64_t random_rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

/* 64 uniform bits. Inline whatever the compiler thinks, and so is the exponential: a call costs as much as the draw. */
ALWAYS_INLINE uint64_t stream_bits(struct stream *stream) {
    uint64_t *s = stream->state;
    uint64_t result = random_rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = random_rotate(s[3], 45);
    return result;
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double stream_unit(struct stream *stream) { return (double)(stream_bits(stream) >> 11) * 0x1p-53; }

__extension__ typedef unsigned __int128 random_wide;

/* Uniform in 0 .. bound-1, exactly (Lemire's rejection, 2019); bound > 0. */
static inline uint64_t stream_below(struct stream *stream, uint64_t bound) {
    random_wide product = (random_wide)stream_bits(stream) * bound;
    if (__builtin_expect((uint64_t)product < bound, 0)) {
        uint64_t threshold = (0 - bound) % bound; /* 2^64 mod bound: so many low halves would count twice */
        while ((uint64_t)product < threshold) {
            product = (random_wide)stream_bits(stream) * bound;
        }
    }
    return (uint64_t)(product >> 64);
}

/* The layers of the ziggurat under exp(-x), see random_table.c. A 53-bit integer below `accept` lies, times `width`,
 * under the curve at any height of the layer. */
enum { RANDOM_LAYERS = 256 };
struct random_layer {
    uint64_t accept;
    double width;
};
extern const struct random_layer random_layers[RANDOM_LAYERS];
extern const double random_heights[RANDOM_LAYERS + 1]; /* of the curve at each layer's right end; the last is the top */
double random_exponential_edge(struct stream *stream, unsigned layer, uint64_t position); /* the other 1.1% of draws */

/* Exponential with mean 1 (ziggurat, Marsaglia and Tsang 2000): 8 bits choose the layer, 53 others the place in it. */
ALWAYS_INLINE double stream_exponential(struct stream *stream) {
    uint64_t bits = stream_bits(stream);
    const struct random_layer *layer = &random_layers[bits % RANDOM_LAYERS];
    uint64_t position = bits >> 11;
    if (__builtin_expect(position < layer->accept, 1)) {
        return (double)position * layer->width;
    }
    return random_exponential_edge(stream, (unsigned)(bits % RANDOM_LAYERS), position);
}

/* Normal with mean 0 and standard deviation 1 (Marsaglia's polar method; the second value of a pair is thrown away, so
 * that a stream has no state but its bits). */
double stream_normal(struct stream *stream);

/* Fills `out` with `count` distinct numbers of 0 .. bound-1, uniform over all ordered choices; count <= bound.
 * Time O(count^2) for small counts, O(count log count) for large ones; never proportional to bound. */
void stream_distinct(struct stream *stream, uint64_t bound, uint64_t *out, uint64_t count);

/* Does it draw so many with stream_below, one after another, and again what is there already? */
static inline bool stream_repeats(uint64_t bound, uint64_t count) { return count <= 64 && count <= bound / 2; }

/* A good 64-bit mixer (splitmix64's finaliser): hashing where no order may be seen. */
static inline uint64_t random_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Natural logarithm (x > 0, finite) and exponential, within 1e-14 relative (in fact a few units of the last place), the
 * same bits on every processor. exact_exp gives infinity above 709.78 and 0 below -745.13. */
double exact_log(double x);
double exact_exp(double x);

#endif
