/* test_job_queue_formulas.c - closed forms of the job queue, work s = 10 ms, and of edited documents. All CPUs are free, so that
 * nothing but the claims is in anybody's way. */
#include "tests/support/runs.h"

static struct run_result queue(const char *algorithm, const char *claim, int workers, const char *more) {
    return run_of(algorithm, "job_queue",
                  "system.terminals=%d workload.claim=%s workload.jobs=300 cost.cpu_access=0 warmup=1s duration=4s "
                  "restart.delay=0 %s",
                  workers, claim, more);
}

static void expect_jobs(struct run_result result, double jobs_per_s, double tolerance, const char *what) {
    runs_assert_within(runs_tps(&result), jobs_per_s, tolerance, what);
    assert_int_equal(result.audit, RUN_AUDIT_OK);
    run_result_free(&result);
}

/* Whoever must have the first job waits until it is done: 1/s. So does who reads it and then finds it updated. */
static void blocking_claims_pass_one_job_at_a_time(void **state) {
    (void)state;
    static const char *const claims[] = {"for_update", "update_returning", "optimistic"};
    static const char *const algorithms[] = {"mvcc-rc", "lock-rc", "2pl", "si"};
    for (size_t c = 0; c < 3; c++) {
        for (size_t a = 0; a < 4; a++) {
            for (int n = 1; n <= 32; n *= 32) {
                expect_jobs(queue(algorithms[a], claims[c], n, ""), 100, .005, claims[c]);
            }
        }
    }
}

static void skip_locked_gives_each_worker_his_own(void **state) {
    (void)state;
    static const char *const algorithms[] = {"mvcc-rc", "lock-rc", "2pl", "si"};
    for (size_t a = 0; a < 4; a++) {
        for (int n = 1; n <= 32; n *= 32) {
            expect_jobs(queue(algorithms[a], "skip_locked", n, ""), n * 100, .005, algorithms[a]);
        }
    }
}

/* Between two jobs all N look for one, each after exp(1 ms): 1/(s + 1 ms/N), just under 1/s. */
static void nowait_loses_the_time_to_look_again(void **state) {
    (void)state;
    for (int n = 1; n <= 32; n *= 4) {
        expect_jobs(queue("mvcc-rc", "nowait", n,
                          "system.think_time=exp(1ms) workload.retry_delay=100ns warmup=10s duration=60s"),
                    1000 / (10 + 1. / n), .01, "nowait");
    }
}

/* The job of a worker that crashes is taken by the next: a share c of the time was for nothing. */
static void crashes_cost_their_share(void **state) {
    (void)state;
    const char *crash = "workload.crash=20% duration=30s";
    expect_jobs(queue("mvcc-rc", "for_update", 8, crash), 80, .05, "for_update");
    expect_jobs(queue("mvcc-rc", "update_returning", 8, crash), 80, .05, "update_returning");
    expect_jobs(queue("mvcc-rc", "skip_locked", 8, crash), 640, .02, "skip_locked");
}

/* Work outside: who claims holds the job for no more than a log force f = 1 ms. Blocking claims pass one in f; and what
 * does not wait for that carries N/(s + 2 f), a force for the claim and one for the removal. */
static void short_claims(void **state) {
    (void)state;
    enum { FINISH = 3 };
    static const struct {
        const char *claim;
        int workers;
        double jobs;
    } cases[] = {{"for_update", 4, 4 / .012},
                 {"for_update", 32, 1000},
                 {"update_returning", 32, 1000},
                 {"skip_locked", 4, 4 / .012},
                 {"skip_locked", 32, 32 / .012}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_result result = queue("mvcc-rc", cases[i].claim, cases[i].workers,
                                         "workload.work=outside cost.log_force=1ms system.start_within=12ms");
        double jobs = (double)result.types[FINISH].commits / result.sim_seconds;
        runs_assert_within(jobs, cases[i].jobs, .01, cases[i].claim);
        assert_int_equal(result.audit, RUN_AUDIT_OK);
        run_result_free(&result);
    }
}

/* A lease much longer than the work gives back what crashes left, and nothing else. */
static void leases_lose_no_job(void **state) {
    (void)state;
    enum { CLAIM = 2, FINISH = 3 };
    struct run_result result = queue("mvcc-rc", "skip_locked", 9,
                                     "workload.work=outside workload.crash=20% workload.lease=200ms duration=20s");
    runs_assert_within((double)result.types[FINISH].commits, .8 * (double)result.types[CLAIM].commits, .02, "crashes");
    expect_jobs(result, 8 * 100 * 1.8, .02, "claims and removals");
    /* too short: work is done twice, which no level prevents */
    struct run_result hasty = queue("2pl", "skip_locked", 9, "workload.work=outside workload.lease=6ms");
    assert_int_equal(hasty.audit, RUN_AUDIT_BROKEN);
    assert_false(hasty.audit_promised);
    run_result_free(&hasty);
}

/* ---- Documents: one of them, N users who take exp(d) each ---- */

static struct run_result edit(const char *algorithm, int users, const char *more) {
    return run_of(algorithm, "edit_form",
                  "system.terminals=%d workload.rows=1 workload.editing=exp(100s) cost.cpu_access=0 "
                  "warmup=1h duration=200h %s",
                  users, more);
}

/* Nothing: N/d saves, all but 1 in N of them lost, whatever the level. Version: N/(Q(N) d), Q - 1 conflicts each, as with
 * snapshots (hot_row). Lock: 1/d. */
static void edits(void **state) {
    (void)state;
    enum { SAVE = 2 };
    static const char *const algorithms[] = {"mvcc-rc", "2pl", "si"};
    for (int n = 2; n <= 8; n *= 4) {
        for (size_t a = 0; a < 3; a++) {
            struct run_result none = edit(algorithms[a], n, "");
            double saves = (double)none.types[SAVE].commits;
            runs_assert_within(saves / none.sim_seconds, n / 100., .02, "none");
            runs_assert_within((double)none.lost_updates / (saves * 201 / 200), 1 - 1. / n, .02, "lost");
            assert_int_equal(none.audit, RUN_AUDIT_BROKEN);
            assert_false(none.audit_promised);
            run_result_free(&none);
            struct run_result version = edit(algorithms[a], n, "workload.protection=version");
            const struct run_result *save = &version.types[SAVE];
            runs_assert_within((double)save->commits / version.sim_seconds, n / runs_ramanujan_q(n) / 100, .03,
                               "version");
            runs_assert_within((double)save->rollbacks / (double)save->commits, runs_ramanujan_q(n) - 1, .05,
                               "conflicts");
            assert_int_equal(version.audit, RUN_AUDIT_OK);
            run_result_free(&version);
        }
        struct run_result lock = edit("mvcc-rc", n, "workload.protection=lock");
        runs_assert_within(runs_tps(&lock), .01, .03, "lock");
        assert_int_equal(lock.audit, RUN_AUDIT_OK);
        run_result_free(&lock);
    }
}

TEST_GROUP(job_queue_formulas, cmocka_unit_test(blocking_claims_pass_one_job_at_a_time),
           cmocka_unit_test(skip_locked_gives_each_worker_his_own),
           cmocka_unit_test(nowait_loses_the_time_to_look_again), cmocka_unit_test(crashes_cost_their_share),
           cmocka_unit_test(short_claims), cmocka_unit_test(leases_lose_no_job), cmocka_unit_test(edits))
