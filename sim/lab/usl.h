/* usl.h - the universal scalability law (Gunther, Guerrilla Capacity Planning, 2007), fitted to a sweep.
 *
 *   X(N) = c N / (1 + a (N - 1) + b N (N - 1))
 *
 * N users (or CPUs) get the throughput X. c is what one would get alone, a what they queue for (Amdahl's serial share),
 * b what they cost one another pairwise. With b = 0 the throughput levels off at c / a, with b > 0 it falls again behind
 * its peak at N = sqrt((1 - a) / b).
 *
 * The law is a shape, not an explanation; where a system does not have the shape - optimistic control rises to the number
 * of CPUs and then drops - the fit is wrong there, and usl_misses says where. Outside of the N that were measured it says
 * nothing: usl_peak does not go beyond them. */
#ifndef CCSIM_LAB_USL_H
#define CCSIM_LAB_USL_H

#include <stdbool.h>
#include <stddef.h>

struct usl_point {
    double n, throughput; /* n >= 1, all different */
};

struct usl {
    double a, b, c;
    double a_error, b_error, c_error; /* standard errors */
    double n_least, n_most;           /* of the points */
    double miss_most;                 /* the largest |measured - fitted| / measured */
};

enum { USL_POINTS_LEAST = 5 };
#define USL_TOLERANCE .05 /* a fit that is further off at a point does not hold there */

/* Least squares by Levenberg and Marquardt. False if there are too few points, or the search does not settle. */
bool usl_fit(const struct usl_point *points, size_t count, struct usl *fit);

double usl_at(const struct usl *fit, double n);

/* Does the fit miss the point? */
bool usl_misses(const struct usl *fit, const struct usl_point *point);

/* Where the fitted throughput is highest. False if that is not among the N that were measured, if the fit misses one of
 * the two points it lies between, or if b is not above 0 by twice its standard error: then nothing is said of a peak. */
bool usl_peak(const struct usl *fit, const struct usl_point *points, size_t count, double *n);

#endif
