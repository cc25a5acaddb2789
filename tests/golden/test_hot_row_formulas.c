/* The hot row: closed forms with an application time d between reading and writing it, and the numbers of
 * configs/hot_row.ini. All with prompt retry on the same row. */
#include "tests/support/runs.h"

static struct run_result hot(const char *algorithm, int terminals, const char *more) {
    return run_of(
        algorithm, "hot_row",
        "system.terminals=%d workload.accesses=1 workload.rows=100 cost.cpu_access=0 warmup=20s duration=400s %s",
        terminals, more);
}

static void expect(struct run_result result, double tps, double aborts_per_commit, double tolerance, const char *what) {
    runs_assert_within(runs_tps(&result), tps, tolerance, what);
    assert_near(runs_aborts(&result) / (double)result.commits, aborts_per_commit,
                tolerance * (aborts_per_commit + .01));
    run_result_free(&result);
}

/* Read for update, think d, write, commit: 1/d whatever the number of clients. */
static void locking_carries_one_at_a_time(void **state) {
    (void)state;
    static const char *const schemes[] = {"2pl", "wound-wait"};
    for (size_t i = 0; i < 2; i++) {
        for (int n = 1; n <= 64; n *= 8) {
            expect(hot(schemes[i], n, "workload.app_time=10ms"), 100, 0, .005, schemes[i]);
        }
    }
}

/* H rows chosen uniformly, exponential d: (H/s) N/(N+H-1); fixed d up to 17% more. */
static void locking_over_several_rows(void **state) {
    (void)state;
    expect(hot("2pl", 8, "workload.hot_rows=4 workload.app_time=exp(10ms)"), 400. * 8 / 11, 0, .02, "four rows");
    struct run_result fixed = hot("2pl", 8, "workload.hot_rows=4 workload.app_time=10ms");
    double ratio = runs_tps(&fixed) / (400. * 8 / 11);
    assert_true(ratio >= 1 && ratio <= 1.17);
    run_result_free(&fixed);
}

/* First updater or committer wins, fixed d: one of N commits every d, the others abort. */
static void optimism_wastes_all_but_one(void **state) {
    (void)state;
    expect(hot("si", 10, "workload.app_time=10ms"), 100, 9, .005, "si, for update");
    expect(hot("si", 10, "workload.app_time=10ms workload.hot_access=read_write"), 100, 9, .005, "si, read then write");
    expect(hot("occ", 10, "workload.app_time=10ms"), 100, 9, .005, "occ");
    /* H rows, starts spread: (N-1)/H aborts per commit */
    expect(hot("si", 10,
               "workload.app_time=10ms workload.hot_access=read_write workload.hot_rows=3 "
               "system.start_within=1s"),
           300. * 10 / 12, 3, .05, "si, three rows");
}

/* Exponential d, read then write: who holds a current snapshot is memoryless; the number of ends until a commit is that
 * of the birthday problem: N/(Q s) commits/s, Q-1 aborts each. */
static void optimism_with_exponential_times(void **state) {
    (void)state;
    for (int n = 2; n <= 32; n *= 4) {
        double q = runs_ramanujan_q(n);
        expect(hot("si", n, "workload.app_time=exp(10ms) workload.hot_access=read_write"), n / q * 100, q - 1, .03,
               "si");
        expect(hot("occ", n, "workload.app_time=exp(10ms) workload.hot_access=read_write"), n / q * 100, q - 1, .03,
               "occ");
    }
}

/* All read under S, then all want X: N-1 deadlocks per commit. */
static void conversion_deadlocks(void **state) {
    (void)state;
    double harmonic = 0;
    for (int i = 1; i <= 10; i++) {
        harmonic += 1. / i;
    }
    expect(hot("2pl", 10, "workload.app_time=10ms workload.hot_access=read_write"), 100, 9, .005, "fixed");
    expect(hot("2pl", 10, "workload.app_time=exp(10ms) workload.hot_access=read_write"), 100 / harmonic, 9, .03,
           "exponential");
}

/* Nobody protects: of N concurrent increments one counts. */
static void no_protection_loses_all_but_one(void **state) {
    (void)state;
    for (int n = 2; n <= 32; n *= 4) {
        struct run_result result = hot("none", n, "workload.app_time=exp(10ms) workload.hot_access=read_write");
        double committed = (double)result.commits * 420 / 400; /* the audit counts the warm-up too */
        runs_assert_within((double)result.lost_updates / committed, 1 - 1. / n, .03, "lost");
        assert_int_equal(result.audit, RUN_AUDIT_BROKEN);
        run_result_free(&result);
    }
}

/* configs/hot_row.ini: 8 CPUs, 8 accesses of exp(1 ms), the first the hot row, log force 1 ms. Locking: 1/(8 x 1 ms + 1
 * ms) at every N; serial validation falls like C/N once N exceeds the CPUs. */
static void the_collapse(void **state) {
    (void)state;
    static const double occ_tps[] = {122, 134, 148, 68, 32, 16, 8};
    const char *more = "system.cpus=8 cost.log_force=1ms warmup=20s";
    for (int n = 1, i = -1; n <= 128; n *= 2, i++) {
        struct run_result locking = run_of("2pl", "hot_row", "system.terminals=%d %s duration=2000s", n, more);
        runs_assert_within(runs_tps(&locking), 111.1, .01, "2pl");
        run_result_free(&locking);
        if (i >= 0) {
            struct run_result optimistic = run_of("occ", "hot_row", "system.terminals=%d %s duration=200s", n, more);
            runs_assert_within(runs_tps(&optimistic), occ_tps[i], .05, "occ");
            run_result_free(&optimistic);
        }
    }
}

/* On unlimited CPUs the wasted work is missed by nobody. */
static void no_collapse_without_a_limit(void **state) {
    (void)state;
    struct run_result result =
        run_of("occ", "hot_row", "system.terminals=128 cost.log_force=1ms warmup=20s duration=20s");
    assert_true(runs_tps(&result) > 111.1);
    run_result_free(&result);
}

TEST_GROUP(hot_row_formulas, cmocka_unit_test(locking_carries_one_at_a_time),
           cmocka_unit_test(locking_over_several_rows), cmocka_unit_test(optimism_wastes_all_but_one),
           cmocka_unit_test(optimism_with_exponential_times), cmocka_unit_test(conversion_deadlocks),
           cmocka_unit_test(no_protection_loses_all_but_one), cmocka_unit_test(the_collapse),
           cmocka_unit_test(no_collapse_without_a_limit))
