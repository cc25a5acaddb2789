/* test_workers.c - the pool of processes: every job answered once, deaths, refusals to go on, interruptions. */
#include "tests/support/harness.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/lab/workers.h"

enum { JOBS = 500 };

struct tally {
    int done[JOBS], lost[JOBS];
    int done_count, lost_count, stop_after, last_status;
    size_t fatal_every, interrupts_at; /* 0: never */
    pid_t caller;
};

/* The job's number squared, in a message as long as the job's number. */
static void square(void *context, size_t job, struct text *answer) {
    const struct tally *tally = context;
    if (tally->fatal_every > 0 && job % tally->fatal_every == tally->fatal_every - 1) {
        _exit(7);
    }
    if (tally->interrupts_at > 0 && job == tally->interrupts_at) {
        kill(tally->caller, SIGINT);
        sleep(60);
    }
    text_add(answer, "%zu ", job * job);
    for (size_t i = 0; i < job; i++) {
        text_add(answer, "x");
    }
}

static bool count_done(void *context, size_t job, const char *answer, size_t length) {
    struct tally *tally = context;
    struct text copy = {0};
    text_add_bytes(&copy, answer, length);
    assert_int_equal(strtoull(copy.bytes, NULL, 10), job * job);
    assert_int_equal(strlen(strchr(copy.bytes, ' ') + 1), job);
    text_free(&copy);
    tally->done[job]++;
    return ++tally->done_count != tally->stop_after;
}

static void count_lost(void *context, size_t job, int wait_status) {
    struct tally *tally = context;
    tally->lost[job]++;
    tally->lost_count++;
    tally->last_status = wait_status;
}

static enum workers_end run(struct tally *tally, size_t jobs, int workers) {
    tally->caller = getpid();
    struct workers_plan plan = {
        .jobs = jobs, .workers = workers, .context = tally, .run = square, .done = count_done, .lost = count_lost};
    return workers_run(&plan);
}

static void every_job_is_done_once(void **state) {
    (void)state;
    static const int workers[] = {1, 2, 7};
    for (size_t w = 0; w < sizeof workers / sizeof workers[0]; w++) {
        struct tally tally = {0};
        assert_int_equal(run(&tally, JOBS, workers[w]), WORKERS_DONE);
        for (int job = 0; job < JOBS; job++) {
            assert_int_equal(tally.done[job], 1);
        }
        assert_int_equal(tally.lost_count, 0);
    }
}

static void fewer_jobs_than_workers(void **state) {
    (void)state;
    struct tally tally = {0};
    assert_int_equal(run(&tally, 2, 8), WORKERS_DONE);
    assert_int_equal(tally.done_count, 2);
}

static void a_death_costs_one_job(void **state) {
    (void)state;
    for (int workers = 1; workers <= 3; workers++) {
        struct tally tally = {.fatal_every = 50};
        assert_int_equal(run(&tally, JOBS, workers), WORKERS_DONE);
        for (int job = 0; job < JOBS; job++) {
            assert_int_equal(tally.lost[job], job % 50 == 49);
            assert_int_equal(tally.done[job], job % 50 != 49);
        }
        assert_true(WIFEXITED(tally.last_status));
        assert_int_equal(WEXITSTATUS(tally.last_status), 7);
    }
}

static void all_may_die(void **state) {
    (void)state;
    struct tally tally = {.fatal_every = 1};
    assert_int_equal(run(&tally, 20, 2), WORKERS_DONE);
    assert_int_equal(tally.lost_count, 20);
}

static void the_caller_may_stop(void **state) {
    (void)state;
    struct tally tally = {.stop_after = 10};
    assert_int_equal(run(&tally, JOBS, 2), WORKERS_STOPPED);
    assert_int_equal(tally.done_count, 10);
}

static void an_interruption_keeps_what_is_done(void **state) {
    (void)state;
    struct tally tally = {.interrupts_at = 400};
    assert_int_equal(run(&tally, JOBS, 1), WORKERS_INTERRUPTED);
    assert_int_equal(tally.done_count, 400);
    for (int job = 0; job < 400; job++) {
        assert_int_equal(tally.done[job], 1);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
}

static void signals_are_as_before(void **state) {
    (void)state;
    struct sigaction before, after;
    sigaction(SIGINT, NULL, &before);
    struct tally tally = {0};
    run(&tally, 5, 2);
    sigaction(SIGINT, NULL, &after);
    assert_ptr_equal(before.sa_handler, after.sa_handler);
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
}

TEST_GROUP(workers, cmocka_unit_test(every_job_is_done_once), cmocka_unit_test(fewer_jobs_than_workers),
           cmocka_unit_test(a_death_costs_one_job), cmocka_unit_test(all_may_die),
           cmocka_unit_test(the_caller_may_stop), cmocka_unit_test(an_interruption_keeps_what_is_done),
           cmocka_unit_test(signals_are_as_before))
