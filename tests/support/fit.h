/* fit.h - does a sample come from a distribution? The tests draw with fixed seeds, so a p-value is a fixed number: they
 * assert that it is above FIT_P, which the right code passes once and for all. There are about a hundred p-values, so
 * one of 0.01 or 0.001 among them is nothing to wonder at; below FIT_P something is wrong. */
#ifndef CCSIM_TESTS_SUPPORT_FIT_H
#define CCSIM_TESTS_SUPPORT_FIT_H

#include <stddef.h>
#include <stdint.h>

#define FIT_P 1e-4

/* Pearson's chi-square: the p-value of `observed` counts against `expected` ones (of the same sum). Neighbours are
 * put together until each cell expects at least 5. */
double fit_chi_square(const uint64_t *observed, const double *expected, size_t cells);

/* The same with equal expectations. */
double fit_even(const uint64_t *observed, size_t cells);

/* Kolmogorov and Smirnov: the p-value of a sample, which gets sorted, against a continuous distribution. */
double fit_ks(double *sample, size_t count, double (*cdf)(double x, const double *parameters),
              const double *parameters);

/* The first four moments of a sample: mean, variance, skewness, kurtosis (3 for a normal one). */
struct moments {
    double mean, variance, skewness, kurtosis;
};
struct moments fit_moments(const double *sample, size_t count);

#endif
