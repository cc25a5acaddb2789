/* test_coverage.c - what takes too long for every day: the numbers of test_queueing.c that need the most customers, and
 * the coverage of confidence intervals. The 95% t interval over 10 replications must cover the closed form in 93-97%
 * of 1,000 experiments, which an honest interval does with a chance of 99.6% (the share's standard error is 0.7%). */
#include <math.h>

#include "tests/support/harness.h"
#include "tests/support/queueing.h"

enum { EXPERIMENTS = 1000, REPLICATIONS = 10 };

static const double T_975_9 = 2.262157; /* Student's t, 9 degrees of freedom, 97.5% */

static void heavy_rows(void **state) {
    (void)state;
    if (!test_long()) {
        test_skip();
    }
    struct queueing_open_samples samples = queueing_open_sample(1, .9, 1, 60000000);
    queueing_expect("M/M/1 at .9, response", &samples.response, 10);
    queueing_expect("M/M/1 at .9, p99", &samples.p99, 46.0517);
    samples = queueing_open_sample(1, .95, 1, 160000000);
    queueing_expect("M/M/1 at .95, response", &samples.response, 20);
    queueing_expect("M/M/1 at .95, p99", &samples.p99, 92.1034);
    samples = queueing_open_sample(32, 28.8, 1, 60000000);
    queueing_expect("M/M/32 share that queues", &samples.waited, .458197);
    queueing_expect("M/M/32 queueing time", &samples.queueing, .143186);
}

static bool covers(const struct queueing_sample *sample, double truth) {
    return fabs(sample->mean - truth) <= T_975_9 * queueing_sample_error(sample);
}

static void intervals_cover_the_response_of_one_server(void **state) {
    (void)state;
    if (!test_long()) {
        test_skip();
    }
    const struct queueing_open model = {.servers = 1, .offered = .8, .cv2 = 1, .customers = 20000};
    int covered = 0;
    for (uint64_t seed = 1; seed <= EXPERIMENTS; seed++) {
        struct queueing_sample sample = {0};
        for (uint64_t replication = 0; replication < REPLICATIONS; replication++) {
            queueing_sample_add(&sample, queueing_open_run(&model, seed, replication).response);
        }
        covered += covers(&sample, 5);
    }
    assert_in_range(covered, EXPERIMENTS * 93 / 100, EXPERIMENTS * 97 / 100);
}

static void intervals_cover_the_throughput_of_the_central_server(void **state) {
    (void)state;
    if (!test_long()) {
        test_skip();
    }
    const struct queueing_closed model = {
        .customers = 10, .stations = 3, .servers = {1, 1, 1}, .mean = {.15, .35, .35}, .duration = 1000};
    int covered = 0;
    for (uint64_t seed = 1; seed <= EXPERIMENTS; seed++) {
        struct queueing_sample sample = {0};
        for (uint64_t replication = 0; replication < REPLICATIONS; replication++) {
            queueing_sample_add(&sample, queueing_closed_run(&model, seed, replication).throughput);
        }
        covered += covers(&sample, 4.94950);
    }
    assert_in_range(covered, EXPERIMENTS * 93 / 100, EXPERIMENTS * 97 / 100);
}

TEST_GROUP(coverage, cmocka_unit_test(heavy_rows), cmocka_unit_test(intervals_cover_the_response_of_one_server),
           cmocka_unit_test(intervals_cover_the_throughput_of_the_central_server))
