/* histogram.c - a value of e binary digits, e > 11, is counted in the block of 2^(e-1) .. 2^e - 1 under its leading 11
 * digits; smaller ones under themselves, in block 0 (below 1,024) or 1. */
#include "sim/base/histogram.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

enum { BLOCKS = 64, BINS = 1024, BIN_BITS = 10 };

void histogram_clear(struct histogram *histogram) {
    for (int block = 0; block < BLOCKS; block++) {
        if (histogram->counts[block] != NULL) {
            memset(histogram->counts[block], 0, BINS * sizeof *histogram->counts[block]);
        }
    }
    histogram->count = 0;
    histogram->max_ns = 0;
}

void histogram_free(struct histogram *histogram) {
    for (int block = 0; block < BLOCKS; block++) {
        mem_free(histogram->counts[block]);
    }
    *histogram = (struct histogram){0};
}

/* The first of its block; apart, so that the others keep nothing for it. */
static __attribute__((cold, noinline)) void record_first(struct histogram *histogram, int block, int64_t value_ns) {
    histogram->counts[block] = mem_new(BINS, sizeof *histogram->counts[block]);
    histogram_record(histogram, value_ns);
}

void histogram_record(struct histogram *histogram, int64_t value_ns) {
    CHECK(value_ns >= 0);
    uint64_t value = (uint64_t)value_ns;
    int block = 64 - BIN_BITS - __builtin_clzll(value | BINS / 2); /* 0 for all below BINS */
    uint64_t *counts = histogram->counts[block];
    if (__builtin_expect(counts == NULL, 0)) {
        record_first(histogram, block, value_ns);
        return;
    }
    int shift = block > 0 ? block - 1 : 0;
    counts[(value >> shift) % BINS]++;
    histogram->count++;
    if (value_ns > histogram->max_ns) {
        histogram->max_ns = value_ns;
    }
}

static int64_t bin_middle(int block, int bin) {
    if (block == 0) {
        return bin;
    }
    int64_t width = INT64_C(1) << (block - 1);
    return (BINS + (int64_t)bin) * width + (width - 1) / 2;
}

/* The smallest rank that is at least quantile * count; a product a rounding error above a whole number counts as it. */
static uint64_t rank_of(double quantile, uint64_t count) {
    double exact = quantile * (double)count;
    uint64_t rank = (uint64_t)exact;
    if (exact - (double)rank > 1e-12 * exact) {
        rank++;
    }
    return rank < 1 ? 1 : rank > count ? count : rank;
}

int64_t histogram_quantile_ns(const struct histogram *histogram, double quantile) {
    CHECK(quantile >= 0 && quantile <= 1);
    if (histogram->count == 0) {
        return -1;
    }
    uint64_t rank = rank_of(quantile, histogram->count), below = 0;
    for (int block = 0; block < BLOCKS; block++) {
        for (int bin = 0; histogram->counts[block] != NULL && bin < BINS; bin++) {
            below += histogram->counts[block][bin];
            if (below >= rank) {
                int64_t middle = bin_middle(block, bin);
                return middle < histogram->max_ns ? middle : histogram->max_ns;
            }
        }
    }
    CHECK_MSG(false, "the bins do not add up to the count");
    return -1;
}

/* Bins of a block are 64 to a step from the second block on: edges fall between bins. */
static uint64_t block_below(const uint64_t *counts, int64_t bins) {
    uint64_t sum = 0;
    for (int64_t bin = 0; counts != NULL && bin < bins; bin++) {
        sum += counts[bin];
    }
    return sum;
}

uint64_t histogram_below(const struct histogram *histogram, int step, int64_t *edge_ns) {
    enum { PER_OCTAVE = 16 };
    CHECK(step >= 0 && step < HISTOGRAM_STEPS);
    int octave = step / PER_OCTAVE;
    int64_t edge = PER_OCTAVE + step % PER_OCTAVE + 1; /* in sixteenths of the octave, or below 16 ns in ns */
    *edge_ns = octave == 0 ? step + 1 : edge << (octave - 1);
    uint64_t sum = 0;
    for (int block = 0; block < BLOCKS; block++) {
        int64_t width = INT64_C(1) << (block > 0 ? block - 1 : 0), first = block > 0 ? BINS * width : 0;
        if (first >= *edge_ns) {
            break;
        }
        int64_t bins = (*edge_ns - first) / width;
        sum += block_below(histogram->counts[block], bins < BINS ? bins : BINS);
    }
    return sum;
}
