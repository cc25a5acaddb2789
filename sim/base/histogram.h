/* histogram.h - durations in bins of constant relative width (HDR style): 1,024 bins per power of two, so a quantile
 * is within 0.1% of a recorded value; exact below 2,048 ns. A record costs a shift and an increment. The memory is that
 * of the powers of two met so far, not of the number of values. */
#ifndef CCSIM_BASE_HISTOGRAM_H
#define CCSIM_BASE_HISTOGRAM_H

#include <stdint.h>

struct histogram {
    uint64_t *counts[64]; /* one block of bins per power of two, allocated when first met */
    uint64_t count;
    int64_t max_ns;
};

void histogram_clear(struct histogram *histogram); /* keeps the memory */
void histogram_free(struct histogram *histogram);
void histogram_record(struct histogram *histogram, int64_t value_ns); /* value >= 0 */

/* The value below or at which `quantile` (0..1) of the records lie (nearest rank, the middle of its bin, never above
 * the
 * maximum); -1 if there is none. */
int64_t histogram_quantile_ns(const struct histogram *histogram, double quantile);

/* The records by bins of a sixteenth of an octave, for drawing: how many are below the upper edge of bin `step`, which is
 * put into `edge_ns`. Bins count from 0; the edges of those up to 32 ns are whole nanoseconds. */
enum { HISTOGRAM_STEPS = 16 * 58 };
uint64_t histogram_below(const struct histogram *histogram, int step, int64_t *edge_ns);

#endif
