/* queueing.c - open and closed queueing models over struct agenda and struct station. */
#include "tests/support/queueing.h"

#include <math.h>

#include "sim/base/memory.h"
#include "tests/support/harness.h"

enum { REPLICATIONS = 20, SEED = 1 };

struct customer {
    struct station_job job;
    int64_t arrived_ns; /* at the present station */
};

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t exponential_ns(struct stream *stream, double mean_ns) {
    return (int64_t)(mean_ns * stream_exponential(stream) + 0.5);
}

int64_t queueing_service_ns(struct stream *stream, double mean_ns, double cv2) {
    if (cv2 == 0) {
        return (int64_t)(mean_ns + 0.5);
    }
    if (cv2 == 1) {
        return exponential_ns(stream, mean_ns);
    }
    double often = (1 + sqrt((cv2 - 1) / (cv2 + 1))) / 2;
    double branch = stream_unit(stream) < often ? often : 1 - often;
    return exponential_ns(stream, mean_ns / (2 * branch));
}

/* What has been added up over the customers of one station since its reset. */
struct ledger {
    int64_t residence_ns, service_ns;
};

static void ledger_finish(struct ledger *ledger, struct customer *customer) {
    const struct station *station = customer->job.at;
    ledger->residence_ns += station->agenda->now_ns - later(customer->arrived_ns, station->reset_ns);
    ledger->service_ns += station_finish(&customer->job);
}

/* The pieces of a customer that is still there when the run ends. */
static void ledger_straddle(struct ledger *ledger, const struct customer *customer) {
    const struct station *station = customer->job.at;
    int64_t now_ns = station->agenda->now_ns;
    ledger->residence_ns += now_ns - later(customer->arrived_ns, station->reset_ns);
    if (station_serves(&customer->job)) {
        ledger->service_ns += now_ns - later(customer->job.start_ns, station->reset_ns);
    }
}

static void ledger_check(const struct ledger *ledger, struct station *station) {
    station_settle(station);
    assert_int_equal(ledger->residence_ns, station->busy_ns + station->queue_ns);
    assert_int_equal(ledger->service_ns, station->busy_ns);
}

enum { ARRIVAL = 0 }; /* slot of the arrivals; the customer at index i of `all` has slot i + 1 */

struct open_world {
    const struct queueing_open *model;
    struct agenda agenda;
    struct station station;
    struct stream arrivals, services;
    struct pool pool;
    VECTOR(struct customer *) all;
    VECTOR(struct customer *) idle;
    struct ledger ledger;
    struct histogram responses;
    int64_t response_ns, service_ns, waited;
};

static void open_arrive(struct open_world *world) {
    double gap_ns = QUEUEING_UNIT_NS / world->model->offered;
    agenda_schedule(&world->agenda, ARRIVAL, world->agenda.now_ns + exponential_ns(&world->arrivals, gap_ns));
    struct customer *customer;
    if (world->idle.count > 0) {
        customer = world->idle.items[--world->idle.count];
    } else {
        customer = pool_get(&world->pool);
        vector_push(&world->all, customer);
        customer->job = (struct station_job){.slot = (uint32_t)world->all.count};
        agenda_reserve(&world->agenda, customer->job.slot + 1);
    }
    customer->arrived_ns = world->agenda.now_ns;
    station_join(&world->station, &customer->job,
                 queueing_service_ns(&world->services, QUEUEING_UNIT_NS, world->model->cv2));
}

static void open_depart(struct open_world *world, struct customer *customer) {
    ledger_finish(&world->ledger, customer);
    int64_t response_ns = world->agenda.now_ns - customer->arrived_ns;
    histogram_record(&world->responses, response_ns);
    world->response_ns += response_ns;
    world->service_ns += customer->job.service_ns;
    world->waited += response_ns > customer->job.service_ns;
    vector_push(&world->idle, customer);
}

static void open_run_until(struct open_world *world, uint64_t departures) {
    while (world->responses.count < departures) {
        uint32_t slot = agenda_next(&world->agenda, INT64_MAX);
        if (slot == ARRIVAL) {
            open_arrive(world);
        } else {
            open_depart(world, world->all.items[slot - 1]);
        }
    }
}

static void open_reset(struct open_world *world) {
    station_settle(&world->station);
    station_reset(&world->station);
    histogram_clear(&world->responses);
    world->ledger = (struct ledger){0};
    world->response_ns = world->service_ns = world->waited = 0;
}

static struct queueing_open_result open_result(struct open_world *world) {
    for (size_t i = 0; i < world->all.count; i++) {
        if (world->all.items[i]->job.at != NULL) {
            ledger_straddle(&world->ledger, world->all.items[i]);
        }
    }
    ledger_check(&world->ledger, &world->station);
    double count = (double)world->responses.count;
    return (struct queueing_open_result){
        .response = (double)world->response_ns / count / QUEUEING_UNIT_NS,
        .queueing = (double)(world->response_ns - world->service_ns) / count / QUEUEING_UNIT_NS,
        .waited = (double)world->waited / count,
        .p99 = (double)histogram_quantile_ns(&world->responses, 0.99) / QUEUEING_UNIT_NS,
    };
}

static struct stream stream_of(uint64_t seed, uint64_t replication, uint64_t number) {
    struct stream stream;
    stream_open(&stream, &(struct stream_key){seed, replication, STREAM_TEST, 0, number});
    return stream;
}

struct queueing_open_result queueing_open_run(const struct queueing_open *model, uint64_t seed, uint64_t replication) {
    struct open_world world = {
        .model = model, .arrivals = stream_of(seed, replication, 1), .services = stream_of(seed, replication, 2)};
    pool_init(&world.pool, sizeof(struct customer));
    agenda_init(&world.agenda, 64);
    station_init(&world.station, &world.agenda, model->servers);
    agenda_schedule(&world.agenda, ARRIVAL, 0);
    open_run_until(&world, (uint64_t)model->customers / 10);
    open_reset(&world);
    open_run_until(&world, (uint64_t)model->customers);
    struct queueing_open_result result = open_result(&world);
    vector_free(&world.all);
    vector_free(&world.idle);
    pool_free(&world.pool);
    histogram_free(&world.responses);
    agenda_free(&world.agenda);
    return result;
}

struct closed_world {
    const struct queueing_closed *model;
    struct agenda agenda;
    struct station station[QUEUEING_STATIONS];
    struct ledger ledger[QUEUEING_STATIONS];
    struct customer *customer; /* the index is the slot */
    struct stream stream;
    int64_t visits, response_ns;
};

static void closed_join(struct closed_world *world, struct customer *customer, int station) {
    customer->arrived_ns = world->agenda.now_ns;
    station_join(&world->station[station], &customer->job,
                 exponential_ns(&world->stream, QUEUEING_UNIT_NS * world->model->mean[station]));
}

static void closed_run_until(struct closed_world *world, double time) {
    int64_t limit_ns = (int64_t)(time * QUEUEING_UNIT_NS);
    uint64_t others = (uint64_t)world->model->stations - 1;
    for (uint32_t slot; (slot = agenda_next(&world->agenda, limit_ns)) != AGENDA_NONE;) {
        struct customer *customer = &world->customer[slot];
        int from = (int)(customer->job.at - world->station);
        ledger_finish(&world->ledger[from], customer);
        if (from == 0) {
            closed_join(world, customer, 1 + (int)stream_below(&world->stream, others));
        } else {
            world->visits++;
            world->response_ns += world->agenda.now_ns - customer->arrived_ns;
            closed_join(world, customer, 0);
        }
    }
}

static void closed_reset(struct closed_world *world) {
    for (int i = 0; i < world->model->stations; i++) {
        station_reset(&world->station[i]);
        world->ledger[i] = (struct ledger){0};
    }
    world->visits = world->response_ns = 0;
}

static struct queueing_closed_result closed_result(struct closed_world *world) {
    for (int64_t i = 0; i < world->model->customers; i++) {
        const struct customer *customer = &world->customer[i];
        ledger_straddle(&world->ledger[customer->job.at - world->station], customer);
    }
    int64_t present_ns = 0, window_ns = world->agenda.now_ns - world->station[0].reset_ns;
    for (int i = 0; i < world->model->stations; i++) {
        ledger_check(&world->ledger[i], &world->station[i]);
        present_ns += world->ledger[i].residence_ns;
    }
    assert_int_equal(present_ns, world->model->customers * window_ns); /* nobody is ever between two stations */
    return (struct queueing_closed_result){
        .throughput = (double)world->visits / ((double)window_ns / QUEUEING_UNIT_NS),
        .response = (double)world->response_ns / (double)world->visits / QUEUEING_UNIT_NS,
    };
}

struct queueing_closed_result queueing_closed_run(const struct queueing_closed *model, uint64_t seed,
                                                  uint64_t replication) {
    struct closed_world world = {.model = model, .stream = stream_of(seed, replication, 3)};
    world.customer = mem_new((size_t)model->customers, sizeof *world.customer);
    agenda_init(&world.agenda, (uint32_t)model->customers);
    for (int i = 0; i < model->stations; i++) {
        station_init(&world.station[i], &world.agenda, model->servers[i]);
    }
    for (int64_t i = 0; i < model->customers; i++) {
        world.customer[i].job.slot = (uint32_t)i;
        closed_join(&world, &world.customer[i], 0);
    }
    closed_run_until(&world, 0.1 * model->duration);
    closed_reset(&world);
    closed_run_until(&world, 1.1 * model->duration);
    struct queueing_closed_result result = closed_result(&world);
    mem_free(world.customer);
    agenda_free(&world.agenda);
    return result;
}

void queueing_sample_add(struct queueing_sample *sample, double value) {
    double deviation = value - sample->mean;
    sample->count++;
    sample->mean += deviation / (double)sample->count;
    sample->squares += deviation * (value - sample->mean);
}

double queueing_sample_error(const struct queueing_sample *sample) {
    return sqrt(sample->squares / (double)(sample->count - 1) / (double)sample->count);
}

struct queueing_open_samples queueing_open_sample(int64_t servers, double offered, double cv2, int64_t customers) {
    const struct queueing_open model = {servers, offered, cv2, customers / REPLICATIONS};
    struct queueing_open_samples samples = {0};
    for (uint64_t replication = 0; replication < REPLICATIONS; replication++) {
        struct queueing_open_result result = queueing_open_run(&model, SEED, replication);
        queueing_sample_add(&samples.response, result.response);
        queueing_sample_add(&samples.queueing, result.queueing);
        queueing_sample_add(&samples.waited, result.waited);
        queueing_sample_add(&samples.p99, result.p99);
    }
    return samples;
}

void queueing_closed_sample(const struct queueing_closed *model, struct queueing_sample *throughput,
                            struct queueing_sample *response) {
    *throughput = *response = (struct queueing_sample){0};
    for (uint64_t replication = 0; replication < REPLICATIONS; replication++) {
        struct queueing_closed_result result = queueing_closed_run(model, SEED, replication);
        queueing_sample_add(throughput, result.throughput);
        queueing_sample_add(response, result.response);
    }
}

void queueing_expect(const char *row, const struct queueing_sample *sample, double expected) {
    double error = queueing_sample_error(sample);
    if (error > 0.01 * expected) {
        fail_msg("%s: the standard error %.4g is more than 1%% of %g", row, error, expected);
    }
    if (!(fabs(sample->mean - expected) <= fmin(3.5 * error, 0.02 * expected))) {
        fail_msg("%s: %.6g +- %.2g, expected %.6g", row, sample->mean, error, expected);
    }
}
