/* test_station.c - a station against a naive model that knows no events: whoever is present stands in one line by
 * arrival, the first k of it are served at rate one. What the two must share at every instant: who is served, who is
 * done when, the integrals of busy servers and of the queue, and the service each job got since the reset. */
#include "sim/kernel/station.h"

#include <string.h>

#include "sim/base/random.h"
#include "tests/support/harness.h"

enum { JOBS = 40, DRIVER = JOBS, STEPS = 4000 };

struct line {
    int64_t servers, now_ns, busy_ns, queue_ns, served_ns;
    int count;
    uint32_t who[JOBS];    /* by arrival */
    int64_t left_ns[JOBS]; /* by job */
    int64_t got_ns[JOBS];  /* by job, since the reset */
};

static int64_t line_busy(const struct line *line) { return line->count < line->servers ? line->count : line->servers; }

static void line_advance(struct line *line, int64_t now_ns) {
    int64_t elapsed_ns = now_ns - line->now_ns;
    for (int i = 0; i < line_busy(line); i++) {
        line->left_ns[line->who[i]] -= elapsed_ns;
        line->got_ns[line->who[i]] += elapsed_ns;
        assert_true(line->left_ns[line->who[i]] >= 0);
    }
    line->busy_ns += line_busy(line) * elapsed_ns;
    line->queue_ns += (line->count - line_busy(line)) * elapsed_ns;
    line->now_ns = now_ns;
}

static int line_place(const struct line *line, uint32_t job) {
    int place = 0;
    while (place < line->count && line->who[place] != job) {
        place++;
    }
    return place; /* count: not present */
}

static void line_join(struct line *line, uint32_t job, int64_t service_ns) {
    line->who[line->count++] = job;
    line->left_ns[job] = service_ns;
    line->got_ns[job] = 0;
}

static int64_t line_leave(struct line *line, uint32_t job) {
    int place = line_place(line, job);
    if (place == line->count) {
        return 0;
    }
    line->count--;
    memmove(line->who + place, line->who + place + 1, sizeof line->who[0] * (size_t)(line->count - place));
    line->served_ns += line->got_ns[job];
    return line->got_ns[job];
}

static void line_reset(struct line *line) {
    line->busy_ns = line->queue_ns = line->served_ns = 0;
    memset(line->got_ns, 0, sizeof line->got_ns);
}

struct bench {
    struct agenda agenda;
    struct station station;
    struct station_job job[JOBS];
    struct line line;
    struct stream stream;
    uint64_t service_ns_max, pause_ns_max;
};

static void compare(struct bench *bench) {
    station_settle(&bench->station);
    const struct line *line = &bench->line;
    int64_t in_service_ns = 0;
    for (uint32_t i = 0; i < JOBS; i++) {
        int place = line_place(line, i);
        bool served = place < line_busy(line);
        assert_ptr_equal(bench->job[i].at, place < line->count ? &bench->station : NULL);
        assert_true(bench->job[i].at == NULL || station_serves(&bench->job[i]) == served);
        assert_int_equal(agenda_pending(&bench->agenda, i), served);
        in_service_ns += served ? line->got_ns[i] : 0;
    }
    assert_int_equal(bench->station.busy, line_busy(line));
    assert_int_equal(bench->station.queued, line->count - line_busy(line));
    assert_int_equal(bench->station.busy_ns, line->busy_ns);
    assert_int_equal(bench->station.queue_ns, line->queue_ns);
    assert_int_equal(bench->station.served_ns, line->served_ns);
    assert_int_equal(bench->station.busy_ns, bench->station.served_ns + in_service_ns); /* the utilization law */
}

static void drive(struct bench *bench) {
    uint32_t job = (uint32_t)stream_below(&bench->stream, JOBS);
    uint64_t operation = stream_below(&bench->stream, 64);
    if (operation == 0) {
        station_reset(&bench->station);
        line_reset(&bench->line);
    } else if (operation < 16) {
        assert_int_equal(station_leave(&bench->job[job]), line_leave(&bench->line, job));
    } else if (bench->job[job].at == NULL) {
        int64_t service_ns = (int64_t)stream_below(&bench->stream, bench->service_ns_max);
        station_join(&bench->station, &bench->job[job], service_ns);
        line_join(&bench->line, job, service_ns);
    }
    int64_t pause_ns = (int64_t)stream_below(&bench->stream, bench->pause_ns_max);
    agenda_schedule(&bench->agenda, DRIVER, bench->agenda.now_ns + pause_ns);
}

static void bench_run(int64_t servers, uint64_t seed) {
    static struct bench bench;
    memset(&bench, 0, sizeof bench);
    stream_open(&bench.stream, &(struct stream_key){.seed = seed, .purpose = STREAM_TEST});
    bench.service_ns_max = 1 + stream_below(&bench.stream, 2000);
    bench.pause_ns_max = 1 + stream_below(&bench.stream, 200);
    bench.line.servers = servers;
    agenda_init(&bench.agenda, DRIVER + 1);
    station_init(&bench.station, &bench.agenda, servers);
    for (uint32_t i = 0; i < JOBS; i++) {
        bench.job[i].slot = i;
    }
    agenda_schedule(&bench.agenda, DRIVER, 0);
    for (int step = 0; step < STEPS; step++) {
        uint32_t slot = agenda_next(&bench.agenda, INT64_MAX);
        line_advance(&bench.line, bench.agenda.now_ns);
        if (slot == DRIVER) {
            drive(&bench);
        } else {
            assert_int_equal(bench.line.left_ns[slot], 0);
            assert_true(line_place(&bench.line, slot) < line_busy(&bench.line));
            assert_int_equal(station_finish(&bench.job[slot]), line_leave(&bench.line, slot));
        }
        compare(&bench);
    }
    agenda_free(&bench.agenda);
}

static void agrees_with_the_naive_model(void **state) {
    (void)state;
    static const int64_t servers[] = {1, 2, 3, 8, STATION_UNLIMITED};
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        for (uint64_t seed = 1; seed <= (test_long() ? 200 : 12); seed++) {
            bench_run(servers[i], seed);
        }
    }
}

/* Two servers, three jobs of 10, 4 and 5 ns at time 0: 1 ends at 4 and lets 2 in, 2 ends at 9, 0 at 10. Reset at 6:
 * of the services 10, 4 and 5 then 4, 0 and 3 count, and nobody queues any more. */
static void a_small_case_by_hand(void **state) {
    (void)state;
    struct agenda agenda;
    struct station station;
    struct station_job job[3] = {{.slot = 0}, {.slot = 1}, {.slot = 2}};
    static const int64_t service_ns[] = {10, 4, 5};
    agenda_init(&agenda, 3);
    station_init(&station, &agenda, 2);
    for (int i = 0; i < 3; i++) {
        station_join(&station, &job[i], service_ns[i]);
    }
    assert_int_equal(agenda_next(&agenda, INT64_MAX), 1);
    assert_int_equal(station_finish(&job[1]), 4);
    assert_int_equal(agenda_next(&agenda, 6), AGENDA_NONE);
    station_settle(&station);
    assert_int_equal(station.busy_ns, 12);
    assert_int_equal(station.queue_ns, 4);
    assert_int_equal(station.served_ns, 4);
    station_reset(&station);
    assert_int_equal(agenda_next(&agenda, INT64_MAX), 2);
    assert_int_equal(agenda.now_ns, 9);
    assert_int_equal(station_finish(&job[2]), 3);
    assert_int_equal(agenda_next(&agenda, INT64_MAX), 0);
    assert_int_equal(agenda.now_ns, 10);
    assert_int_equal(station_finish(&job[0]), 4);
    station_settle(&station);
    assert_int_equal(station.busy_ns, 7);
    assert_int_equal(station.served_ns, 7);
    assert_int_equal(station.queue_ns, 0);
    assert_int_equal(station_leave(&job[0]), 0); /* nowhere: left alone */
    agenda_free(&agenda);
}

/* Who leaves the server hands it on in the same instant; who leaves the middle of the queue only closes the gap. */
static void leaving_frees_the_server_and_closes_the_queue(void **state) {
    (void)state;
    struct agenda agenda;
    struct station station;
    struct station_job job[4] = {{.slot = 0}, {.slot = 1}, {.slot = 2}, {.slot = 3}};
    agenda_init(&agenda, 4);
    station_init(&station, &agenda, 1);
    for (int i = 0; i < 4; i++) {
        station_join(&station, &job[i], 100);
    }
    assert_int_equal(agenda_next(&agenda, 30), AGENDA_NONE);
    assert_int_equal(station_leave(&job[2]), 0);
    assert_int_equal(station_leave(&job[0]), 30);
    assert_false(agenda_pending(&agenda, 0));
    assert_true(station_serves(&job[1]));
    assert_int_equal(agenda_next(&agenda, INT64_MAX), 1);
    assert_int_equal(agenda.now_ns, 130);
    assert_int_equal(station_finish(&job[1]), 100);
    assert_int_equal(agenda_next(&agenda, INT64_MAX), 3);
    assert_int_equal(station_finish(&job[3]), 100);
    assert_int_equal(station.busy, 0);
    assert_null(station.first);
    station_settle(&station);
    assert_int_equal(station.busy_ns, 230);
    agenda_free(&agenda);
}

static void unlimited_servers_are_a_pure_delay(void **state) {
    (void)state;
    struct agenda agenda;
    struct station station;
    static struct station_job job[1000];
    memset(job, 0, sizeof job);
    agenda_init(&agenda, 1000);
    station_init(&station, &agenda, STATION_UNLIMITED);
    for (uint32_t i = 0; i < 1000; i++) {
        job[i].slot = i;
        station_join(&station, &job[i], 1000 - i);
    }
    for (uint32_t i = 1000; i-- > 0;) {
        assert_int_equal(agenda_next(&agenda, INT64_MAX), i);
        assert_int_equal(agenda.now_ns, 1000 - i);
        assert_int_equal(station_finish(&job[i]), 1000 - i);
    }
    station_settle(&station);
    assert_int_equal(station.queue_ns, 0);
    assert_int_equal(station.busy_ns, 500500); /* 1 + 2 + ... + 1000 */
    agenda_free(&agenda);
}

/* Six jobs on three servers, so late that the sums of starts pass 64 bits: the integrals are as they would be at 0. */
static void late_sums_carry(void **state) {
    (void)state;
    struct agenda agenda;
    struct station station;
    struct station_job job[6];
    memset(job, 0, sizeof job);
    agenda_init(&agenda, 6);
    station_init(&station, &agenda, 3);
    agenda_schedule(&agenda, 0, INT64_MAX - 1000);
    assert_int_equal(agenda_pop(&agenda, INT64_MAX), 0);
    for (uint32_t i = 0; i < 6; i++) {
        job[i].slot = i;
        station_join(&station, &job[i], 100);
    }
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(agenda_next(&agenda, INT64_MAX), i);
        assert_int_equal(station_finish(&job[i]), 100);
    }
    station_settle(&station);
    assert_true(station.busy_ns == 600 && station.queue_ns == 300); /* in all their bits */
    assert_int_equal(station.busy, 0);
    assert_int_equal(station.queued, 0);
    agenda_free(&agenda);
}

TEST_GROUP(station, cmocka_unit_test(agrees_with_the_naive_model), cmocka_unit_test(a_small_case_by_hand),
           cmocka_unit_test(leaving_frees_the_server_and_closes_the_queue),
           cmocka_unit_test(unlimited_servers_are_a_pure_delay), cmocka_unit_test(late_sums_carry))
