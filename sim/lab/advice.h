/* advice.h - what a result is not good for, and what to do about it: warnings over all points of an experiment, each kind
 * once, with the worst of its points. */
#ifndef CCSIM_LAB_ADVICE_H
#define CCSIM_LAB_ADVICE_H

#include <stddef.h>
#include <stdio.h>

#include "sim/lab/experiment.h"
#include "sim/lab/table.h"

enum advice_kind {
    ADVICE_WIDE,       /* an interval is wider than was asked for, or than a tenth of the mean */
    ADVICE_UNSETTLED,  /* a pilot did not find the end of the warm-up; worst: the longest pilot, in seconds */
    ADVICE_DRIFT,      /* the second half of the time is unlike the first */
    ADVICE_SATURATED,  /* an open system gets more than it does */
    ADVICE_CORRELATED, /* batches are too short to be independent */
    ADVICE_KINDS
};

struct advice {
    struct {
        size_t points, worst_point;
        double worst;        /* what makes it the worst: the larger */
        double remedy;       /* of the worst: how many replications, or arrivals per second */
        size_t replications; /* of the worst */
    } kinds[ADVICE_KINDS];
};

/* Looks at a row of summary.csv; `batches`: NULL unless the intervals come from them. */
void advice_look(struct advice *advice, const struct experiment_facts *facts, size_t point, const char *summary_row,
                 const struct table_batches *batches);
void advice_unsettled(struct advice *advice, size_t point, double pilot_seconds);

/* A sentence for each kind that there is. */
void advice_print(const struct advice *advice, const struct experiment *experiment, FILE *out);

/* Is half the width of the interval small enough for a relative precision? A half-width of g / (1 + g) of the estimated
 * mean is one of at most g of the true one, if the interval covers it (Law, Simulation Modeling and Analysis, 9.4). */
bool advice_is_precise(double mean, double half_width, double precision);
/* How many replications it would take, as far as so many can tell; infinity if the mean is 0. */
double advice_replications(double mean, double half_width, size_t replications, double precision);

#endif
