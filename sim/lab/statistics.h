/* statistics.h - what replications say about a mean: average, spread, and the half-width of its confidence interval.
 *
 * Replications are independent, so Student's t applies to their means (Law, Simulation Modeling and Analysis, ch. 9).
 * The quantile comes from GSL and therefore from libm, whose last bit differs between machines: it is rounded to 12
 * significant digits, and everything after it is plain IEEE arithmetic, so results are the same bytes everywhere. */
#ifndef CCSIM_LAB_STATISTICS_H
#define CCSIM_LAB_STATISTICS_H

#include <stddef.h>

/* Not-a-number for no values. */
double statistics_mean(const double *values, size_t count);

/* The sample's standard deviation (divisor count - 1); not-a-number for fewer than two values. */
double statistics_sd(const double *values, size_t count);

/* The 97.5% point of Student's t with that many degrees of freedom (1 or more). */
double statistics_t95(size_t degrees);

/* Half the width of the 95% confidence interval of the mean; not-a-number for fewer than two values. */
double statistics_half_width95(const double *values, size_t count);

/* The correlation of each value with the next (lag 1): for independent ones around -1/count, give or take 2/sqrt(count).
 * Not-a-number for fewer than three values, and if all are equal. */
double statistics_lag1(const double *values, size_t count);

/* How many of the first values a warm-up should take, by MSER (White, Cobb, Spratt, Proceedings of WSC 2000): the values
 * are averaged by `batch` (5: MSER-5), and as many batches are cut off as make the standard error of the mean of the rest,
 * were they independent, least; of equals the fewest. The last quarter is no candidate: few values may agree by chance. The
 * answer is a multiple of `batch`; beyond the middle it says that there are too few values to tell. */
size_t statistics_mser(const double *values, size_t count, size_t batch);

/* Two means compared over runs that faced the same random numbers. What both have in common cancels in the difference of
 * each pair; `narrower` is by how much: half the width of the interval of a difference of independent means (2 count - 2
 * degrees of freedom) over that of the paired ones. The ratio is that of the means, its interval from the linearised
 * residuals (Cochran, Sampling Techniques, ch. 6). Half-widths are not-a-number for fewer than two pairs. */
struct statistics_pair {
    double difference, difference_ci95, ratio, ratio_ci95, narrower;
};
struct statistics_pair statistics_compare(const double *values, const double *base, size_t count);

/* `value` rounded to that many significant decimal digits (1..17). */
double statistics_round(double value, int digits);

#endif
