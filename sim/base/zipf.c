/* zipf.c - rejection-inversion: Hormann and Derflinger, "Rejection-inversion to generate variates from monotone
 * discrete distributions" (1996).
 *
 * Let h(x) = x^-theta and H its integral from 1. A uniform point of H's range, carried back through H, gives an x
 * distributed as the continuous h; rounded to k it is taken if it falls into a part of k's interval that weighs exactly
 * h(k). Since h is convex, H(k+1/2) - H(k-1/2) is at least h(k), so there is such a part, and few points miss it. Ranks
 * count from 1 inside this file.
 *
 * With q = 1 - theta, H(x) = (x^q - 1) / q, which is log x for q = 0 and loses all digits near it. Both H and its
 * inverse therefore go through expm1(t)/t and log1p(t)/t, which are smooth at 0; theta = 1 is no special case. Kahan's
 * device gives both: the error of rounding w = 1 + t cancels in log(w) / (w - 1).
 *
 * Nearly every draw does without all that. The range is cut into equal parts, in each of which a cubic polynomial comes
 * close to x; how close is known from the fourth derivative. Where the nearest whole number, and that it is taken, are
 * certain for all that is so close, they are what the computation above would give. The rest is left to it, so that
 * the parts decide what a draw costs, but never what it is. */
#include "sim/base/zipf.h"

#include <math.h>

#include "sim/base/check.h"
#include "sim/base/few.h"

/* log(1 + t) / t */
static double log1p_by(double t) {
    double w = 1 + t, d = w - 1;
    return d == 0 ? 1 : exact_log(w) / d;
}

/* (exp(t) - 1) / t */
static double expm1_by(double t) {
    double w = exact_exp(t), d = w - 1;
    return d == 0 ? 1 : d / (d > -0.5 && d < 1 ? exact_log(w) : t);
}

static double weight(double theta, double x) { return exact_exp(-theta * exact_log(x)); }

static double integral(double theta, double x) {
    double log_x = exact_log(x);
    return log_x * expm1_by((1 - theta) * log_x);
}

/* Infinite where u is as far as H goes for theta > 1, or beyond: the far end of the range may round to there. */
static inline double integral_inverse(double theta, double u) {
    double t = (1 - theta) * u;
    return t <= -1 ? HUGE_VAL : exact_exp(u * log1p_by(t));
}

static double smaller(double a, double b) { return a < b ? a : b; }

/* Does the point of H's range that was rounded to this rank fall into the part that weighs h(rank)? */
static bool is_within(const struct zipf *zipf, double u, double rank) {
    return u >= integral(zipf->theta, rank + 0.5) - weight(zipf->theta, rank);
}

static double point_of(const struct zipf *zipf, double unit) { return zipf->last + unit * zipf->range; }

/* The rank from 1 of the point that these 53 bits choose, or 0 if it misses. */
static __attribute__((noinline)) uint64_t exact_rank(const struct zipf *zipf, uint64_t whole) {
    double u = point_of(zipf, (double)whole * 0x1p-53);
    double x = smaller(integral_inverse(zipf->theta, u), (double)(int64_t)zipf->n);
    int64_t k = (int64_t)(x + 0.5);
    k = k < 1 ? 1 : k;
    double rank = (double)k;
    return rank - x <= zipf->sure || is_within(zipf, u, rank) ? (uint64_t)k : 0;
}

/* ---- The parts ---- */

/* A part is chosen by the upper bits of a draw's 53, the place in it by these. */
enum { PLACE_BITS = 53 - ZIPF_PART_BITS };
#define PLACES (UINT64_C(1) << PLACE_BITS)

/* How far from x the polynomial may be. With x' = x^theta the fourth derivative is
 * theta (2 theta - 1) (3 theta - 2) x^(4 theta - 3), greatest at one end. A cubic through four points, each a third of
 * the part from the next, misses by at most that times third^4 / 24. What rounding does to u, here and in exact_rank,
 * is below 2^-50 of what it is made of, and x' times that in x; the logarithm and the polynomial lose less than 1e-11
 * of x. All that is doubled. */
static double part_error(const struct zipf *zipf, double far, double near) {
    double theta = zipf->theta, third = zipf->range / ZIPF_PARTS / 3;
    double power = 3 - 4 * theta, constant = theta * (2 * theta - 1) * (3 * theta - 2);
    double steepest = fabs(constant) * (weight(power, far) + weight(power, near));
    double rounding = (1 + fabs(zipf->last) + fabs(zipf->range)) * 0x1p-50;
    return 2 * (steepest * third * third * third * third / 24 + rounding * weight(-theta, far) + 1e-11 * far);
}

/* From the far end of the part to the near one. Where the polynomial is of no use, and where x runs away, as it does at
 * the far end of a steep skew, no number is certain. */
static struct zipf_part make_part(const struct zipf *zipf, int number) {
    struct zipf_part part = {.certain = -1};
    double x[4];
    for (int i = 0; i < 4; i++) {
        double u = point_of(zipf, (number + i / 3.0) / ZIPF_PARTS);
        x[i] = integral_inverse(zipf->theta, u);
        if (!(x[i] > 0.25 && x[i] < 0x1p40)) {
            return part;
        }
    }
    double certain = smaller(zipf->sure, 0.5) - part_error(zipf, x[0], x[3]);
    if (!(certain > 0)) {
        return part;
    }
    /* the differences of the four, first, second and third */
    double first = x[1] - x[0], second = x[2] - x[1] - first, third = x[3] - x[2] - (x[2] - x[1]) - second;
    double scale = 3.0 / (double)PLACES; /* differences of thirds, by places */
    part.term[0] = x[0];
    part.term[1] = (first - second / 2 + third / 3) * scale;
    part.term[2] = (second - third) / 2 * scale * scale;
    part.term[3] = third / 6 * scale * scale * scale;
    part.certain = certain;
    return part;
}

static void make_parts(struct zipf *zipf) {
    for (int i = 0; i < ZIPF_PARTS; i++) {
        zipf->parts[i] = make_part(zipf, i);
    }
}

/* The rank that exact_rank would give, if it is certain. */
static inline bool find_rank(const struct zipf *zipf, uint64_t whole, uint64_t *rank) {
    const struct zipf_part *part = &zipf->parts[whole >> PLACE_BITS];
    double place = (double)(int64_t)(whole % PLACES);
    double x = part->term[0] + place * (part->term[1] + place * (part->term[2] + place * part->term[3]));
    int64_t k = (int64_t)(x + 0.5);
    *rank = (uint64_t)k;
    return fabs((double)k - x) <= part->certain;
}

/* From 0; theta > 0. */
static inline uint64_t draw_skewed(const struct zipf *zipf, struct stream *stream) {
    for (;;) {
        uint64_t whole = stream_bits(stream) >> 11, rank;
        if (__builtin_expect(find_rank(zipf, whole, &rank), 1)) {
            return rank - 1;
        }
        rank = exact_rank(zipf, whole);
        if (rank > 0) {
            return rank - 1;
        }
    }
}

uint64_t zipf_draw(const struct zipf *zipf, struct stream *stream) {
    return zipf->theta > 0 ? draw_skewed(zipf, stream) : stream_below(stream, zipf->n);
}

void zipf_init(struct zipf *zipf, uint64_t n, double theta) {
    CHECK(n > 0 && n <= UINT64_C(1) << 52);
    CHECK(theta >= 0 && theta <= ZIPF_THETA_MAX);
    double last = integral(theta, (double)n + 0.5);
    *zipf = (struct zipf){
        .n = n,
        .theta = theta,
        .last = last,
        .range = integral(theta, 1.5) - 1 - last,
        .sure = 2 - smaller(integral_inverse(theta, integral(theta, 2.5) - weight(theta, 2)), 3),
    };
    if (theta > 0) {
        make_parts(zipf);
    }
}

/* ---- Distinct ranks ---- */

enum { FEW = 16, SLOTS = 2 * ZIPF_DISTINCT_MAX, UNLUCKY_DRAWS_MAX = 1000 };

/* Where skew has left next to no weight, so that this many draws in a row gave nothing new, the most wanted rank left is
 * taken, which is what an endless search would nearly always find. */
static inline bool is_hopeless(int *unlucky, bool found) {
    *unlucky = found ? 0 : *unlucky + 1;
    return __builtin_expect(*unlucky == UNLUCKY_DRAWS_MAX, 0);
}

/* theta > 0 */
static void draw_few(const struct zipf *zipf, struct stream *stream, uint64_t *ranks, size_t count) {
    struct stream local = *stream; /* stays in registers */
    struct few few = {0};
    int unlucky = 0;
    while (few.count < count) {
        bool found = few_add(&few, ranks, draw_skewed(zipf, &local));
        if (is_hopeless(&unlucky, found)) {
            for (uint64_t rank = 0; !few_add(&few, ranks, rank);) {
                rank++;
            }
            unlucky = 0;
        }
    }
    *stream = local;
}

/* The ranks drawn so far, in a list and in an open hash table. */
struct rank_set {
    uint64_t *ranks;
    size_t count;
    uint64_t slots[SLOTS]; /* rank + 1 */
};

/* Returns false if the rank is there already. */
static bool rank_add(struct rank_set *set, uint64_t rank) {
    size_t slot = random_mix(rank) % SLOTS;
    while (set->slots[slot] != 0) {
        if (set->slots[slot] == rank + 1) {
            return false;
        }
        slot = (slot + 1) % SLOTS;
    }
    set->slots[slot] = rank + 1;
    set->ranks[set->count++] = rank;
    return true;
}

static void draw_many(const struct zipf *zipf, struct stream *stream, uint64_t *ranks, size_t count) {
    struct rank_set set = {.ranks = ranks};
    int unlucky = 0;
    while (set.count < count) {
        bool found = rank_add(&set, zipf_draw(zipf, stream));
        if (is_hopeless(&unlucky, found)) {
            for (uint64_t rank = 0; !rank_add(&set, rank);) {
                rank++;
            }
            unlucky = 0;
        }
    }
}

void zipf_distinct(const struct zipf *zipf, struct stream *stream, uint64_t *ranks, size_t count) {
    CHECK(count <= ZIPF_DISTINCT_MAX && count <= zipf->n);
    if (count <= FEW && zipf->theta > 0) {
        draw_few(zipf, stream, ranks, count);
    } else {
        draw_many(zipf, stream, ranks, count);
    }
}
