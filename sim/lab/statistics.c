/* statistics.c - means and t intervals, in two passes over the values: replications are few, and the second pass
 * spares the cancellation of sums of squares. */
#include "sim/lab/statistics.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

enum { QUANTILE_DIGITS = 12 };

double statistics_round(double value, int digits) {
    CHECK(digits >= 1 && digits <= 17);
    char buffer[64];
    snprintf(buffer, sizeof buffer, "%.*e", digits - 1, value);
    return strtod(buffer, NULL);
}

double statistics_mean(const double *values, size_t count) {
    if (count == 0) {
        return (double)NAN;
    }
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / (double)count;
}

double statistics_sd(const double *values, size_t count) {
    if (count < 2) {
        return (double)NAN;
    }
    double mean = statistics_mean(values, count), squares = 0, rest = 0;
    for (size_t i = 0; i < count; i++) {
        double deviation = values[i] - mean;
        squares += deviation * deviation;
        rest += deviation; /* what rounding left in the mean */
    }
    double n = (double)count, variance = (squares - rest * rest / n) / (n - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

double statistics_t95(size_t degrees) {
    CHECK(degrees >= 1);
    static size_t last_degrees;
    static double last_quantile;
    if (degrees != last_degrees) {
        last_quantile = statistics_round(gsl_cdf_tdist_Pinv(0.975, (double)degrees), QUANTILE_DIGITS);
        last_degrees = degrees;
    }
    return last_quantile;
}

double statistics_half_width95(const double *values, size_t count) {
    if (count < 2) {
        return (double)NAN;
    }
    return statistics_t95(count - 1) * statistics_sd(values, count) / sqrt((double)count);
}

double statistics_lag1(const double *values, size_t count) {
    double mean = statistics_mean(values, count), products = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        double deviation = values[i] - mean;
        squares += deviation * deviation;
        products += i > 0 ? deviation * (values[i - 1] - mean) : 0;
    }
    return count >= 3 && squares > 0 ? products / squares : (double)NAN;
}

size_t statistics_mser(const double *values, size_t count, size_t batch) {
    CHECK(batch >= 1);
    size_t batches = count / batch, last_candidate = batches - batches / 4, best = 0;
    double mean = 0, squares = 0, least = (double)INFINITY; /* of the batches from here on (Welford's update) */
    for (size_t first = batches; first-- > 0;) {
        double value = statistics_mean(values + first * batch, batch), rest = (double)(batches - first);
        double deviation = value - mean;
        mean += deviation / rest;
        squares += deviation * (value - mean);
        double error = squares / (rest * rest);
        if (first < last_candidate && error <= least) {
            least = error;
            best = first;
        }
    }
    return best * batch;
}

struct statistics_pair statistics_compare(const double *values, const double *base, size_t count) {
    double *differences = mem_new(count, sizeof *differences), *residuals = mem_new(count, sizeof *residuals);
    double mean = statistics_mean(values, count), base_mean = statistics_mean(base, count);
    struct statistics_pair pair = {.ratio = base_mean > 0 || base_mean < 0 ? mean / base_mean : (double)NAN};
    for (size_t i = 0; i < count; i++) {
        differences[i] = values[i] - base[i];
        residuals[i] = (values[i] - pair.ratio * base[i]) / base_mean;
    }
    pair.difference = statistics_mean(differences, count);
    pair.difference_ci95 = statistics_half_width95(differences, count);
    pair.ratio_ci95 = isnan(pair.ratio) ? (double)NAN : statistics_half_width95(residuals, count);
    double sd = statistics_sd(values, count), base_sd = statistics_sd(base, count);
    double unpaired =
        count < 2 ? (double)NAN : statistics_t95(2 * count - 2) * sqrt((sd * sd + base_sd * base_sd) / (double)count);
    pair.narrower = pair.difference_ci95 > 0 ? unpaired / pair.difference_ci95 : (double)NAN;
    mem_free(differences);
    mem_free(residuals);
    return pair;
}
