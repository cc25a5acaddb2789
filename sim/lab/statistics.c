/* statistics.c - means and t intervals, in two passes over the values: replications are few, and the second pass
 * spares the cancellation of sums of squares. */
#include "sim/lab/statistics.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/check.h"

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
