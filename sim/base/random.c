/* random.c - opening streams, the rarer draws, and logarithm and exponential without libm.
 *
 * Only +, -, *, / and sqrt are used on floating-point numbers: IEEE 754 fixes the last bit of each, and so of every
 * draw. */
#include "sim/base/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/few.h"

static const uint64_t GOLDEN = UINT64_C(0x9e3779b97f4a7c15);

/* Each word of the key passes the mixer before the next joins, so that no two words can trade places. */
uint64_t stream_family(const struct stream_key *key) {
    uint64_t hash = random_mix(key->seed + GOLDEN);
    hash = random_mix((hash ^ key->replication) + GOLDEN);
    return random_mix((hash ^ (uint64_t)key->purpose) + GOLDEN);
}

void stream_open_one(struct stream *stream, uint64_t family, uint64_t owner, uint64_t number) {
    uint64_t hash = random_mix((family ^ owner) + GOLDEN);
    hash = random_mix((hash ^ number) + GOLDEN);
    stream->state[0] = random_mix(hash + GOLDEN); /* never all zero: the mixer maps one word only to 0 */
    stream->state[1] = random_mix(hash + 2 * GOLDEN);
    stream->state[2] = random_mix(hash + 3 * GOLDEN);
    stream->state[3] = random_mix(hash + 4 * GOLDEN);
}

void stream_open(struct stream *stream, const struct stream_key *key) {
    stream_open_one(stream, stream_family(key), key->owner, key->number);
}

/* Right of the part of a layer that is wholly under the curve: in layer 0 the tail, which is the same curve moved by r;
 * else the corner that the curve cuts. */
double random_exponential_edge(struct stream *stream, unsigned layer, uint64_t position) {
    static const double tail = 7.69711747013104972;
    if (layer == 0) {
        return tail + stream_exponential(stream);
    }
    double x = (double)position * random_layers[layer].width;
    double low = random_heights[layer], high = random_heights[layer + 1];
    if (low + stream_unit(stream) * (high - low) < exact_exp(-x)) {
        return x;
    }
    return stream_exponential(stream);
}

double stream_normal(struct stream *stream) {
    double x, square;
    do {
        x = 2 * stream_unit(stream) - 1;
        double y = 2 * stream_unit(stream) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square <= 0);
    return x * sqrt(-2 * exact_log(square) / square); /* lint: sqrt, IEEE 754 fixes its last bit */
}

static void shuffle(struct stream *stream, uint64_t *numbers, uint64_t count) {
    for (uint64_t i = count; i > 1; i--) {
        uint64_t j = stream_below(stream, i);
        uint64_t other = numbers[j];
        numbers[j] = numbers[i - 1];
        numbers[i - 1] = other;
    }
}

static int by_value(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Sorts and drops what is there twice; returns how many are left. */
static uint64_t sort_unique(uint64_t *numbers, uint64_t count) {
    qsort(numbers, count, sizeof *numbers, by_value);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (kept == 0 || numbers[i] != numbers[kept - 1]) {
            numbers[kept++] = numbers[i];
        }
    }
    return kept;
}

/* The stream works on a copy, which stays in registers. */
static void draw_few(struct stream *stream, uint64_t bound, uint64_t *out, uint64_t count) {
    struct stream local = *stream;
    struct few few = {0};
    while (few.count < count) {
        few_add(&few, out, stream_below(&local, bound));
    }
    *stream = local;
}

/* More than half of all numbers, or more than a few. */
static __attribute__((noinline)) void draw_many(struct stream *stream, uint64_t bound, uint64_t *out, uint64_t count) {
    uint64_t taken = 0;
    if (count > bound / 2) {
        for (uint64_t number = 0; taken < count; number++) {
            if (stream_below(stream, bound - number) < count - taken) {
                out[taken++] = number;
            }
        }
    }
    while (taken < count) {
        for (uint64_t i = taken; i < count; i++) {
            out[i] = stream_below(stream, bound);
        }
        taken = sort_unique(out, count);
    }
    shuffle(stream, out, count);
}

/* Three ways, none of which needs memory. More than half of all numbers: walk over them, taking each with the chance
 * that makes every set equally likely (Knuth's algorithm S), then shuffle. A few: draw again what is there already.
 * Many: the same with repeats found by sorting, which loses the order, and a shuffle to give it back. */
void stream_distinct(struct stream *stream, uint64_t bound, uint64_t *out, uint64_t count) {
    CHECK(count <= bound);
    if (stream_repeats(bound, count)) {
        draw_few(stream, bound, out, count);
    } else {
        draw_many(stream, bound, out, count);
    }
}

/* The upper part of each split has so few digits that a multiple of it by a whole number is exact. */
static const double LN2_HIGH = 0x1.62e42fefa0000p-1, LN2_LOW = 0x1.cf79abc9e3b3ap-40;
static const double LN2_16TH_HIGH = 0x1.62e42fefa0000p-5, LN2_16TH_LOW = 0x1.cf79abc9e3b3ap-44;
static const double SIXTEEN_BY_LN2 = 0x1.71547652b82fep+4;

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...) with s = (m-1)/(m+1),
 * |s| < .1716: eleven terms of the series reach 2^-57. Even and odd ones are summed apart, for the processor to do both
 * at once. */
double exact_log(double x) {
    CHECK(x > 0 && x <= DBL_MAX);
    int64_t exponent = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        exponent = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t above = bits - UINT64_C(0x3fe6a09e667f3bcd); /* beyond sqrt(1/2): its top bits count powers of two */
    int64_t power = (int64_t)above >> 52;
    bits -= (uint64_t)power << 52;
    exponent += power;
    double m;
    memcpy(&m, &bits, sizeof m);
    double f = m - 1, s = f / (2 + f), z = s * s, zz = z * z;
    double even = 1.0 / 5 + zz * (1.0 / 9 + zz * (1.0 / 13 + zz * (1.0 / 17 + zz * (1.0 / 21))));
    double odd = 1.0 / 3 + zz * (1.0 / 7 + zz * (1.0 / 11 + zz * (1.0 / 15 + zz * (1.0 / 19))));
    double tail = s * z * (odd + z * even);
    double e = (double)exponent;
    return e * LN2_HIGH + (2 * s + (2 * tail + e * LN2_LOW));
}

/* 2^power, a normal number. */
static double power_of_two(int64_t power) {
    uint64_t bits = (uint64_t)(1023 + power) << 52;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* x = (16 k + j) log(2)/16 + r with |r| < .0217: exp x = 2^k 2^(j/16) exp r, and seven terms of the series of exp r
 * reach 2^-59. Gives k, and the rest, near 1 to 2. */
static inline double exp_split(double x, int64_t *k) {
    static const double sixteenths[16] = {
        0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
        0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
        0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
        0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
    };
    int64_t n = (int64_t)(x * SIXTEEN_BY_LN2 + (x < 0 ? -0.5 : 0.5));
    double r = (x - (double)n * LN2_16TH_HIGH) - (double)n * LN2_16TH_LOW;
    double rr = r * r;
    double third = 0.5 + r * (1.0 / 6), fifth = 1.0 / 24 + r * (1.0 / 120), seventh = 1.0 / 720 + r * (1.0 / 5040);
    double series = r + rr * (third + rr * (fifth + rr * seventh));
    double base = sixteenths[n & 15];
    *k = n >> 4;
    return base + base * series;
}

/* Where 2^k, or the result, may leave the range of one exponent; it is applied in two halves. */
static double exp_edge(double x) {
    CHECK(x == x);
    if (x > 709.782712893384) {
        return HUGE_VAL;
    }
    if (x < -745.1332191019412) {
        return 0;
    }
    int64_t k;
    double result = exp_split(x, &k);
    return result * power_of_two(k / 2) * power_of_two(k - k / 2);
}

double exact_exp(double x) {
    if (!(x > -708 && x < 709)) {
        return exp_edge(x);
    }
    int64_t k;
    double result = exp_split(x, &k);
    return result * power_of_two(k);
}
