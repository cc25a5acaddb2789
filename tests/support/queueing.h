/* queueing.h - the models of queueing theory, run by the kernel itself: what the tests hold against closed forms.
 *
 * One unit of time is the mean service of an open queue; it is QUEUEING_UNIT_NS of simulated time. Every run checks
 * two laws exactly, to the nanosecond, with the pieces of the customers that straddle the window's ends counted:
 *   Little       the customers' times in a station, added up one by one = the integral of how many are there;
 *   utilization  the services they got, added up one by one = the integral of the busy servers. */
#ifndef CCSIM_TESTS_SUPPORT_QUEUEING_H
#define CCSIM_TESTS_SUPPORT_QUEUEING_H

#include <stdint.h>

#include "sim/base/histogram.h"
#include "sim/base/random.h"
#include "sim/kernel/station.h"

#define QUEUEING_UNIT_NS 1e6

/* A service time of squared coefficient of variation `cv2`: 0 constant, 1 exponential, above 1 hyperexponential with
 * two branches of equal load (balanced means). */
int64_t queueing_service_ns(struct stream *stream, double mean_ns, double cv2);

/* Poisson arrivals, `servers` servers, mean service one unit, `offered` = arrivals per unit. */
struct queueing_open {
    int64_t servers;
    double offered, cv2;
    int64_t customers; /* measured, after a tenth as many to warm up */
};

struct queueing_open_result {
    double response, queueing; /* means, in units */
    double waited;             /* share of customers that had to queue */
    double p99;                /* of the response, in units */
};

struct queueing_open_result queueing_open_run(const struct queueing_open *model, uint64_t seed, uint64_t replication);

/* A fixed number of customers go from station 0 to one of the others, chosen at random, and back; services are
 * exponential. */
enum { QUEUEING_STATIONS = 3 };

struct queueing_closed {
    int64_t customers;
    int stations;
    int64_t servers[QUEUEING_STATIONS]; /* or STATION_UNLIMITED */
    double mean[QUEUEING_STATIONS];     /* in units */
    double duration;                    /* measured, in units, after a tenth of it to warm up */
};

struct queueing_closed_result {
    double throughput; /* visits that ended at the stations but 0, per unit */
    double response;   /* mean time of such a visit */
};

struct queueing_closed_result queueing_closed_run(const struct queueing_closed *model, uint64_t seed,
                                                  uint64_t replication);

/* One number of each of independent replications. */
struct queueing_sample {
    int64_t count;
    double mean, squares; /* sum of squared deviations from the mean */
};

void queueing_sample_add(struct queueing_sample *sample, double value);
double queueing_sample_error(const struct queueing_sample *sample); /* standard error of the mean */

/* 20 replications of a model; the open one measures `customers` in all of them together. */
struct queueing_open_samples {
    struct queueing_sample response, queueing, waited, p99;
};

struct queueing_open_samples queueing_open_sample(int64_t servers, double offered, double cv2, int64_t customers);
void queueing_closed_sample(const struct queueing_closed *model, struct queueing_sample *throughput,
                            struct queueing_sample *response);

/* Fails unless the mean lies within 3.5 standard errors of `expected` and within 2% of it, and the standard error is at
 * most 1% of it, so that a pass says something. */
void queueing_expect(const char *row, const struct queueing_sample *sample, double expected);

#endif
