/* zipf.h - Zipf's distribution over 0 .. n-1: the chance of k is proportional to 1 / (k+1)^theta, so 0 is the most
 * wanted. Exact for every theta from 0 (uniform) through 1 and beyond, in constant time and memory whatever n. */
#ifndef CCSIM_BASE_ZIPF_H
#define CCSIM_BASE_ZIPF_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/random.h"

/* One of the equal parts of the range: a polynomial through the points in it, and how far from its whole number such a
 * point may be for the number to be certain. */
enum { ZIPF_PART_BITS = 7, ZIPF_PARTS = 1 << ZIPF_PART_BITS };
struct zipf_part {
    double term[4];
    double certain;
};

struct zipf {
    uint64_t n;
    double theta;
    double last, range; /* the integral that is inverted: its value at the far end, and from there to the near one */
    double sure;        /* a point at most so far left of its whole number is accepted unseen */
    struct zipf_part parts[ZIPF_PARTS]; /* set if theta is not 0 */
};

/* 0 < n <= 2^52, 0 <= theta <= ZIPF_THETA_MAX. */
enum { ZIPF_THETA_MAX = 10 };
void zipf_init(struct zipf *zipf, uint64_t n, double theta);

uint64_t zipf_draw(const struct zipf *zipf, struct stream *stream);

/* `count` different ranks, in the order drawn: one taken already is drawn again, which is drawing by the weights of
 * those left. count <= n, count <= ZIPF_DISTINCT_MAX. */
enum { ZIPF_DISTINCT_MAX = 512 };
void zipf_distinct(const struct zipf *zipf, struct stream *stream, uint64_t *ranks, size_t count);

#endif
