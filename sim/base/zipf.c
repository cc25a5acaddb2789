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
 * device gives both: the error of rounding w = 1 + t cancels in log(w) / (w - 1). */
#include "sim/base/zipf.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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
}

/* Does the point of H's range that was rounded to this rank fall into the part that weighs h(rank)? */
static bool is_within(const struct zipf *zipf, double u, double rank) {
    return u >= integral(zipf->theta, rank + 0.5) - weight(zipf->theta, rank);
}

/* Draws one point. Returns its rank from 1, or 0 if the point misses. */
static inline uint64_t draw_point(const struct zipf *zipf, struct stream *stream) {
    double u = zipf->last + stream_unit(stream) * zipf->range;
    double x = smaller(integral_inverse(zipf->theta, u), (double)(int64_t)zipf->n);
    int64_t k = (int64_t)(x + 0.5);
    k = k < 1 ? 1 : k;
    double rank = (double)k;
    return rank - x <= zipf->sure || is_within(zipf, u, rank) ? (uint64_t)k : 0;
}

/* Apart from the first draw, which nearly always hits: a loop around it would keep too much for the next round. */
static __attribute__((noinline)) uint64_t draw_hit(const struct zipf *zipf, struct stream *stream) {
    uint64_t rank = 0;
    while (rank == 0) {
        rank = draw_point(zipf, stream);
    }
    return rank;
}

uint64_t zipf_draw(const struct zipf *zipf, struct stream *stream) {
    if (zipf->theta <= 0) {
        return stream_below(stream, zipf->n);
    }
    uint64_t rank = draw_point(zipf, stream);
    return (rank > 0 ? rank : draw_hit(zipf, stream)) - 1;
}

/* ---- Distinct ranks ---- */

enum { FEW = 16, SLOTS = 2 * ZIPF_DISTINCT_MAX, UNLUCKY_DRAWS_MAX = 1000 };

/* The ranks drawn so far: a list, and if they will be more than a FEW an open hash table of them too. */
struct rank_set {
    uint64_t *ranks;
    struct few few; /* its count is that of the list in any case */
    bool hashed;
    uint64_t slots[SLOTS]; /* rank + 1; used only if hashed */
};

/* Returns false if the rank is there already. */
static bool rank_add(struct rank_set *set, uint64_t rank) {
    if (!set->hashed) {
        return few_add(&set->few, set->ranks, rank);
    }
    size_t slot = random_mix(rank) % SLOTS;
    while (set->slots[slot] != 0) {
        if (set->slots[slot] == rank + 1) {
            return false;
        }
        slot = (slot + 1) % SLOTS;
    }
    set->slots[slot] = rank + 1;
    set->ranks[set->few.count++] = rank;
    return true;
}

/* A rank that is not there yet. Where skew has left next to no weight, the most wanted one left is taken, which is what
 * an endless search would nearly always find. */
static void add_new_rank(const struct zipf *zipf, struct stream *stream, struct rank_set *set) {
    for (int i = 0; i < UNLUCKY_DRAWS_MAX; i++) {
        if (rank_add(set, zipf_draw(zipf, stream))) {
            return;
        }
    }
    for (uint64_t rank = 0; !rank_add(set, rank);) {
        rank++;
    }
}

void zipf_distinct(const struct zipf *zipf, struct stream *stream, uint64_t *ranks, size_t count) {
    CHECK(count <= ZIPF_DISTINCT_MAX && count <= zipf->n);
    struct rank_set set;
    set.ranks = ranks;
    set.few = (struct few){0};
    set.hashed = count > FEW;
    if (set.hashed) {
        memset(set.slots, 0, sizeof set.slots);
    }
    while (set.few.count < count) {
        add_new_rank(zipf, stream, &set);
    }
}
