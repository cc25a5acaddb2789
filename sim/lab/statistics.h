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

/* `value` rounded to that many significant decimal digits (1..17). */
double statistics_round(double value, int digits);

#endif
