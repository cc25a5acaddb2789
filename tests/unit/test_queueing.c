/* test_queueing.c - the kernel against queueing theory. Every row is 20 replications with fixed seeds (see
 * queueing_expect for what is near enough). Numbers that need more than some 10^7 customers for that (here a 0) are in
 * tests/long/test_coverage.c. The expected values are written down and checked against their formulas as well:
 *   M/M/1          response 1/(1-r), exponential, hence p99 = ln 100/(1-r)
 *   M/M/c          Erlang C; queueing time C/(c-a)
 *   M/G/1          Pollaczek and Khinchin: queueing time r(1+cv^2)/(2(1-r))
 *   machine repair birth and death
 *   central server mean value analysis (Reiser and Lavenberg 1980) */
#include "tests/support/queueing.h"

#include <math.h>

#include "tests/support/harness.h"

static void one_exponential_server(void **state) {
    (void)state;
    static const struct {
        double load, response, p99;
        int64_t customers;
    } rows[] = {
        {.5, 2, 9.2103, 1000000},
        {.7, 3.3333, 15.3506, 3000000},
        {.8, 5, 23.0259, 7000000},
        {.9, 10, 0, 9000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_near(rows[i].response, 1 / (1 - rows[i].load), 5e-5);
        struct queueing_open_samples samples = queueing_open_sample(1, rows[i].load, 1, rows[i].customers);
        queueing_expect("M/M/1 response", &samples.response, rows[i].response);
        if (rows[i].p99 > 0) {
            assert_near(rows[i].p99, log(100) / (1 - rows[i].load), 5e-5);
            queueing_expect("M/M/1 p99", &samples.p99, rows[i].p99);
        }
    }
}

/* From Erlang B by its recursion. */
static double erlang_c(int64_t servers, double offered) {
    double b = 1;
    for (int64_t k = 1; k <= servers; k++) {
        b = offered * b / ((double)k + offered * b);
    }
    double load = offered / (double)servers;
    return b / (1 - load + load * b);
}

static void many_exponential_servers(void **state) {
    (void)state;
    static const struct {
        int64_t servers;
        double offered, waited, queueing;
        int64_t customers;
    } rows[] = {
        {2, 1.6, .711111, 1.777778, 3000000}, {4, 3.2, .596432, .745541, 3000000}, {8, 6.4, .457645, .286028, 4000000},
        {10, 9, .668732, .668732, 14000000},  {32, 28.8, .458197, 0, 4000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double c = erlang_c(rows[i].servers, rows[i].offered);
        assert_near(rows[i].waited, c, 5e-7);
        struct queueing_open_samples samples =
            queueing_open_sample(rows[i].servers, rows[i].offered, 1, rows[i].customers);
        queueing_expect("M/M/c share that queues", &samples.waited, rows[i].waited);
        if (rows[i].queueing > 0) {
            assert_near(rows[i].queueing, c / ((double)rows[i].servers - rows[i].offered), 5e-7);
            queueing_expect("M/M/c queueing time", &samples.queueing, rows[i].queueing);
        }
    }
}

static void one_general_server(void **state) {
    (void)state;
    static const struct {
        double cv2, load, queueing;
        int64_t customers;
    } rows[] = {
        {0, .5, .5, 300000},   {0, .8, 2, 2000000},  {0, .9, 4.5, 6000000},
        {4, .5, 2.5, 2000000}, {4, .8, 10, 8000000}, {4, .9, 22.5, 24000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_near(rows[i].queueing, rows[i].load * (1 + rows[i].cv2) / (2 * (1 - rows[i].load)), 1e-9);
        struct queueing_open_samples samples = queueing_open_sample(1, rows[i].load, rows[i].cv2, rows[i].customers);
        queueing_expect(rows[i].cv2 == 0 ? "M/D/1" : "M/G/1", &samples.queueing, rows[i].queueing);
    }
}

/* The chain of how many machines are broken; its throughput. Mean repair 1. */
static double machine_repair(int machines, double think, int repairers) {
    double weight = 1, total = 0, flow = 0;
    for (int broken = 0; broken <= machines; broken++) {
        double rate = broken < repairers ? broken : repairers;
        total += weight;
        flow += weight * rate;
        weight *= (machines - broken) / think / (broken + 1 < repairers ? broken + 1 : repairers);
    }
    return flow / total;
}

static void machines_under_repair(void **state) {
    (void)state;
    static const struct {
        int machines, repairers;
        double throughput, response;
    } rows[] = {
        {10, 1, .785418, 2.732079},
        {20, 1, .998131, 10.037451},
        {20, 2, 1.654791, 2.086122},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double throughput = machine_repair(rows[i].machines, 10, rows[i].repairers);
        assert_near(rows[i].throughput, throughput, 5e-7);
        assert_near(rows[i].response, rows[i].machines / throughput - 10, 5e-7);
        const struct queueing_closed model = {.customers = rows[i].machines,
                                              .stations = 2,
                                              .servers = {STATION_UNLIMITED, rows[i].repairers},
                                              .mean = {10, 1},
                                              .duration = 30000};
        struct queueing_sample x, r;
        queueing_closed_sample(&model, &x, &r);
        queueing_expect("machine repair throughput", &x, rows[i].throughput);
        queueing_expect("machine repair response", &r, rows[i].response);
        /* N = X(R+Z) */
        assert_near(x.mean * (r.mean + 10), rows[i].machines, 3.5 * (r.mean + 10) * queueing_sample_error(&x));
    }
}

/* Mean value analysis of three single servers by their demands. */
static double central_server(int customers) {
    static const double demand[] = {.15, .175, .175};
    double queue[3] = {0}, throughput = 0;
    for (int n = 1; n <= customers; n++) {
        double response[3], total = 0;
        for (int i = 0; i < 3; i++) {
            response[i] = demand[i] * (1 + queue[i]);
            total += response[i];
        }
        throughput = n / total;
        for (int i = 0; i < 3; i++) {
            queue[i] = throughput * response[i];
        }
    }
    return throughput;
}

static void the_central_server(void **state) {
    (void)state;
    static const struct {
        int customers;
        double throughput;
    } rows[] = {
        {1, 2.00000}, {2, 2.99625}, {5, 4.26512}, {10, 4.94950}, {20, 5.35396}, {50, 5.58736}, {200, 5.68498},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_near(rows[i].throughput, central_server(rows[i].customers), 5e-6);
        /* Each disk serves every other visit, for 0.35 s: .175 s a cycle. */
        const struct queueing_closed model = {.customers = rows[i].customers,
                                              .stations = 3,
                                              .servers = {1, 1, 1},
                                              .mean = {.15, .35, .35},
                                              .duration = 10000};
        struct queueing_sample x, r;
        queueing_closed_sample(&model, &x, &r);
        queueing_expect("central server throughput", &x, rows[i].throughput);
    }
}

TEST_GROUP(queueing, cmocka_unit_test(one_exponential_server), cmocka_unit_test(many_exponential_servers),
           cmocka_unit_test(one_general_server), cmocka_unit_test(machines_under_repair),
           cmocka_unit_test(the_central_server))
