/* fit.c - goodness of fit on top of GSL. */
#include "tests/support/fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "sim/base/memory.h"

double fit_chi_square(const uint64_t *observed, const double *expected, size_t cells) {
    enum { EXPECTED_MIN = 5 };
    double statistic = 0, seen = 0, wanted = 0, rest = 0;
    size_t used = 0;
    for (size_t i = 0; i < cells; i++) {
        rest += expected[i];
    }
    for (size_t i = 0; i < cells; i++) {
        seen += (double)observed[i];
        wanted += expected[i];
        rest -= expected[i];
        if ((wanted >= EXPECTED_MIN && rest >= EXPECTED_MIN) || i + 1 == cells) {
            statistic += (seen - wanted) * (seen - wanted) / wanted;
            seen = wanted = 0;
            used++;
        }
    }
    return gsl_cdf_chisq_Q(statistic, (double)(used - 1));
}

double fit_even(const uint64_t *observed, size_t cells) {
    double *expected = mem_new(cells, sizeof *expected), sum = 0;
    for (size_t i = 0; i < cells; i++) {
        sum += (double)observed[i];
    }
    for (size_t i = 0; i < cells; i++) {
        expected[i] = sum / (double)cells;
    }
    double p = fit_chi_square(observed, expected, cells);
    mem_free(expected);
    return p;
}

/* Kolmogorov's limit distribution with Stephens' correction for a finite sample. */
double fit_ks(double *sample, size_t count, double (*cdf)(double x, const double *parameters),
              const double *parameters) {
    double n = (double)count, distance = 0, p = 0;
    gsl_sort(sample, 1, count);
    for (size_t i = 0; i < count; i++) {
        double f = cdf(sample[i], parameters);
        distance = fmax(distance, fmax(f - (double)i / n, (double)(i + 1) / n - f));
    }
    double lambda = (sqrt(n) + 0.12 + 0.11 / sqrt(n)) * distance;
    if (lambda < 0.3) {
        return 1; /* where the series below converges slowly, p is above .99999 */
    }
    for (int j = 1; j <= 100; j++) {
        p += (j % 2 == 1 ? 2 : -2) * exp(-2 * j * j * lambda * lambda);
    }
    return p;
}

struct moments fit_moments(const double *sample, size_t count) {
    struct moments m = {.mean = gsl_stats_mean(sample, 1, count), .variance = gsl_stats_variance(sample, 1, count)};
    double sd = sqrt(m.variance);
    m.skewness = gsl_stats_skew_m_sd(sample, 1, count, m.mean, sd);
    m.kurtosis = gsl_stats_kurtosis_m_sd(sample, 1, count, m.mean, sd) + 3;
    return m;
}
