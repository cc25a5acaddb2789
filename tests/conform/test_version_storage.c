/* test_version_storage.c - what undo and heap keep, and what is passed on the way through it: schedules worked out by hand,
 * closed forms of a long reader beside updates, and random worlds in which nothing that a snapshot needs may go. */
#include "sim/cc/cc.h"
#include "tests/support/runs.h"
#include "tests/support/script.h"

#include <stdio.h>

#define NS_PER_SECOND 1e9

static bool is_multiversion(const struct cc_ops *algorithm) { return (algorithm->flags & CC_KEEPS_VERSIONS) != 0; }

/* ---- Schedules: one row, three updates, and readers ---- */

static const struct {
    const char *algorithm, *settings, *schedule, *said;
    uint64_t walked, rows, longest, scan_walked, removed, stored;
} trials[] = {
    /* A reader walks back past the two versions that came after its snapshot; a later one past none. They go with it. */
    {"si", "versions=undo", "r1(y) w2(x,+=1) c2 w3(x,+=1) c3 r1(x) r4(x) c4 c1",
     "r1(y)=0 w2(x,+=1)=0 c2 w3(x,+=1)=1 c3 r1(x)=0 r4(x)=2 c4 c1", 2, 5, 3, 0, 2, 2},
    /* In the heap the second update passes the first one's old version, and both readers pass two of three. */
    {"si", "versions=heap vacuum=off", "r1(y) w2(x,+=1) c2 w3(x,+=1) c3 r1(x) r4(x) c4 c1",
     "r1(y)=0 w2(x,+=1)=0 c2 w3(x,+=1)=1 c3 r1(x)=0 r4(x)=2 c4 c1", 5, 5, 3, 0, 0, 2},
    /* Nobody holds anything back: undo has nothing to walk past, the heap keeps all until the vacuum at 10 ms. */
    {"si", "versions=undo", "w1(x,+=1) c1 w2(x,+=1) c2 w3(x,+=1) c3 r4(1..2) c4 +9 r5(1..2) c5",
     "w1(x,+=1)=0 c1 w2(x,+=1)=1 c2 w3(x,+=1)=2 c3 r4(1..2)=1:3,2:0 c4 r5(1..2)=1:3,2:0 c5", 0, 7, 1, 0, 3, 0},
    {"si", "versions=heap vacuum=every(10ms)", "w1(x,+=1) c1 w2(x,+=1) c2 w3(x,+=1) c3 r4(1..2) c4 +9 r5(1..2) c5",
     "w1(x,+=1)=0 c1 w2(x,+=1)=1 c2 w3(x,+=1)=2 c3 r4(1..2)=1:3,2:0 c4 r5(1..2)=1:3,2:0 c5", 6, 7, 4, 3, 3, 3},
    /* A vacuum leaves what the reader may still look at, and all that came after. */
    {"si", "versions=heap vacuum=every(10ms)", "w1(x,+=1) c1 r5(y) w2(x,+=1) c2 w3(x,+=1) c3 +9 r5(x) r4(x) c4 c5",
     "w1(x,+=1)=0 c1 r5(y)=0 w2(x,+=1)=1 c2 w3(x,+=1)=2 c3 r5(x)=1 r4(x)=3 c4 c5", 7, 6, 3, 0, 3, 3},
    /* Vacuums come at whole multiples of the period, not so long after something died. */
    {"si", "versions=heap vacuum=every(10ms)", "+5 w1(x,+=1) c1 +4 r2(x) c2", "w1(x,+=1)=0 c1 r2(x)=1 c2", 0, 2, 1, 0,
     1, 1},
    /* What was rolled back, or overwritten by the same transaction, lies about in a heap only, needed by nobody. */
    {"si", "versions=undo", "w1(x,+=1) w1(x,+=1) a1 w2(x,+=1) w2(x,+=1) c2 r3(x) c3",
     "w1(x,+=1)=0 w1(x,+=1)=1 a1 w2(x,+=1)=0 w2(x,+=1)=1 c2 r3(x)=2 c3", 0, 5, 1, 0, 1, 0},
    {"si", "versions=heap vacuum=off", "w1(x,+=1) w1(x,+=1) a1 w2(x,+=1) w2(x,+=1) c2 r3(x) c3",
     "w1(x,+=1)=0 w1(x,+=1)=1 a1 w2(x,+=1)=0 w2(x,+=1)=1 c2 r3(x)=2 c3", 10, 5, 5, 0, 0, 4},
    /* A write that names its row and wants nothing of it comes to the row all the same. */
    {"si", "versions=heap vacuum=off", "w1(x,1) c1 w2(x,2) c2 w3(x,3) c3", "w1(x,1)=0 c1 w2(x,2)=1 c2 w3(x,3)=2 c3", 3,
     3, 3, 0, 0, 3},
    {"si", "versions=undo", "w1(x,1) c1 w2(x,2) c2 w3(x,3) c3", "w1(x,1)=0 c1 w2(x,2)=1 c2 w3(x,3)=2 c3", 0, 3, 1, 0, 3,
     0},
    /* Where writes are private what did not commit was never in the heap. */
    {"si-fcw", "versions=heap vacuum=off", "w1(x,+=1) w1(x,+=1) a1 w2(x,+=1) w2(x,+=1) c2 r3(x) c3",
     "w1(x,+=1)=0 w1(x,+=1)=1 a1 w2(x,+=1)=0 w2(x,+=1)=1 c2 r3(x)=2 c3", 3, 5, 2, 0, 0, 1},
    /* A snapshot for each statement holds nothing back. */
    {"mvcc-rc", "versions=undo", "r1(y) w2(x,+=1) c2 w3(x,+=1) c3 r1(x) c1",
     "r1(y)=0 w2(x,+=1)=0 c2 w3(x,+=1)=1 c3 r1(x)=2 c1", 0, 4, 1, 0, 2, 0},
    /* A deleted row is a place until it is vacuumed, a key that is there no more none. */
    {"ssi", "versions=heap vacuum=every(10ms)", "w1(x,+=1) d1(y) c1 r2(1..3) c2 +9 r3(1..3) c3",
     "w1(x,+=1)=0 d1(y)=0 c1 r2(1..3)=1:1,3:0 c2 r3(1..3)=1:1,3:0 c3", 2, 7, 2, 2, 2, 2},
    /* The older one reads beneath the younger one's version. */
    {"mvto", "versions=undo", "r1(y) w2(x,+=1) c2 r1(x) r3(x) c3 c1", "r1(y)=0 w2(x,+=1)=0 c2 r1(x)=0 r3(x)=1 c3 c1", 1,
     4, 2, 0, 1, 1},
    {"mvto", "versions=heap vacuum=off", "r1(y) w2(x,+=1) c2 r1(x) r3(x) c3 c1",
     "r1(y)=0 w2(x,+=1)=0 c2 r1(x)=0 r3(x)=1 c3 c1", 2, 4, 2, 0, 0, 1},
};

static void passes_what_is_in_the_way(void **state) {
    (void)state;
    bool good = true;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct script script;
        char schedule[256];
        snprintf(schedule, sizeof schedule, "+1 %s", trials[i].schedule); /* counting begins behind the start */
        script_open(&script, trials[i].algorithm, trials[i].settings, schedule);
        assert_string_equal(script_run(&script), trials[i].said);
        const struct run_result *result = &script.result;
        const uint64_t expected[] = {trials[i].walked,      trials[i].rows,    trials[i].longest,
                                     trials[i].scan_walked, trials[i].removed, trials[i].stored};
        const uint64_t counted[] = {result->versions_walked,      result->version_rows,     result->chain_length_max,
                                    result->scan_versions_walked, result->versions_removed, result->versions_max};
        for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
            if (counted[k] != expected[k]) {
                good = false;
                print_error("%s %s %s: number %zu is %d, not %d\n", trials[i].algorithm, trials[i].settings,
                            trials[i].schedule, k, (int)counted[k], (int)expected[k]);
            }
        }
        script_close(&script);
    }
    assert_true(good);
}
/* The vacuum and the periodic search for deadlocks, each at its own time: the search comes 10 ms after the first wait. */
static void timers_keep_apart(void **state) {
    (void)state;
    static const char *const vacuums[] = {"every(3ms)", "every(50ms)", "off"};
    for (size_t i = 0; i < sizeof vacuums / sizeof vacuums[0]; i++) {
        struct script script;
        char settings[128];
        snprintf(settings, sizeof settings, "detect=period(10ms) versions=heap vacuum=%s", vacuums[i]);
        script_open(&script, "si", settings, "w4(z,1) c4 w2(x,1) w3(y,1) w2(y,2) w3(x,2) +30 c2 r1(z) c1");
        assert_string_equal(script_run(&script), "w4(z,1)=0 c4 w2(x,1)=0 w3(y,1)=0 w2(y,2)?3 w3(x,2)?2 k3:deadlock "
                                                 "w2(y,2)!=0 c2 r1(z)=1 c1");
        assert_int_equal(script.killed_ns[3], 14000000);
        assert_int_equal(script.result.versions_removed, i == 2 ? 0 : 4);
        script_close(&script);
    }
}

/* ---- Closed forms: updates at a rate beside a reader of an age ----
 *
 * Terminal 1 reads 1,000 rows in 10 statements with a second between them: its snapshot grows 9 s old, statement i reads at
 * i seconds. 100 other terminals change two rows each, at about 1,000 updates a second, r = 2,000 changes or 2 a row. */

#define READER                                                                                                           \
    "warmup=20s duration=50s system.terminals=101 system.think_time=exp(100ms) cost.cpu_access=10us workload.rows=1000 " \
    "workload.chunk=100 workload.pause=1s"
enum { ROWS = 1000, AGE_S = 9 };

/* Row changes a second. The reader's commits are too few to count. */
static double changes_per_second(const struct run_result *result) { return 2 * runs_tps(result); }

static double mean_of(double area_ns, const struct run_result *result) {
    return area_ns / NS_PER_SECOND / result->sim_seconds;
}

static double scan_chain(const struct run_result *result) {
    return 1 + (double)result->scan_versions_walked / (double)result->scan_version_rows;
}

static double chain_of_updates(const struct run_result *result) {
    return 1 + (double)(result->versions_walked - result->scan_versions_walked) /
                   (double)(result->version_rows - result->scan_version_rows);
}

/* Held back: from 0 to r x age, again and again. Statement i walks back past r / rows x i, the last one 9/9 of it. */
static void undo_holds_back_what_the_reader_may_see(void **state) {
    (void)state;
    static const char *const algorithms[] = {"si", "si-fcw", "ssi", "ssn"};
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        struct run_result result = run_of(algorithms[i], "report", READER);
        double rate = changes_per_second(&result);
        runs_assert_within(rate, 2000, 0.02, "changes a second");
        runs_assert_within((double)result.versions_max, rate * AGE_S, 0.03, "versions at most");
        runs_assert_within(mean_of(result.versions_area_ns, &result), rate * AGE_S / 2, 0.06, "versions in the mean");
        runs_assert_within(scan_chain(&result), 1 + rate / ROWS * (AGE_S / 2.0), 0.03, "the chain of the report");
        runs_assert_within(chain_of_updates(&result), 1, 0.001, "the chain of updates");
        assert_int_equal(result.versions_dead_max, 0);
        assert_int_equal(result.vacuums, 0);
        assert_int_equal(result.audit, RUN_AUDIT_OK);
        run_result_free(&result);
    }
}

/* A snapshot for each statement holds nothing back, and the report is wrong. */
static void statements_hold_nothing_back(void **state) {
    (void)state;
    struct run_result result = run_of("mvcc-rc", "report", READER);
    assert_in_range(result.versions_max, 1, 200);
    assert_int_equal(result.audit, RUN_AUDIT_BROKEN);
    assert_false(result.audit_promised);
    run_result_free(&result);
}

/* Nobody reads for long: what lies about grows from 0 to r x period between two vacuums, all of it dead, and each who comes
 * to a row passes the row's share. */
static void vacuum_bounds_the_heap(void **state) {
    (void)state;
    for (size_t i = 0; i < cc_registry_count; i++) {
        if (!is_multiversion(cc_registry[i])) {
            continue;
        }
        struct run_result result = run_of(cc_registry[i]->name, "report",
                                          READER " workload.reporters=0 algorithm.versions=heap "
                                                 "algorithm.vacuum=every(5s)");
        double rate = changes_per_second(&result);
        runs_assert_within((double)result.versions_max, rate * 5, 0.03, "versions at most");
        runs_assert_within((double)result.versions_dead_max, rate * 5, 0.03, "dead versions at most");
        runs_assert_within(mean_of(result.versions_dead_area_ns, &result), rate * 5 / 2, 0.03, "dead in the mean");
        runs_assert_within(chain_of_updates(&result), 1 + rate * 5 / 2 / ROWS, 0.03, "the chain of updates");
        assert_int_equal(result.vacuums, 10);
        runs_assert_within((double)result.versions_removed, rate * result.sim_seconds, 0.03, "removed");
        run_result_free(&result);
    }
}

/* A vacuum that comes while the reader is at work leaves all that changed since it began: at most r x (age + period) is
 * there, and more than the reader alone would hold back. Updates pass it, too. */
static void a_reader_holds_vacuum_back(void **state) {
    (void)state;
    struct run_result result = run_of("si", "report", READER " algorithm.versions=heap algorithm.vacuum=every(2s)");
    double rate = changes_per_second(&result), most = (double)result.versions_max;
    assert_true(most > rate * AGE_S * 1.02 && most < rate * (AGE_S + 2) * 1.03);
    assert_true(chain_of_updates(&result) > 1 + rate / ROWS * (AGE_S / 2.0));
    assert_true((double)result.versions_dead_max < rate * (AGE_S + 2) * 1.03);
    assert_int_equal(result.audit, RUN_AUDIT_OK);
    run_result_free(&result);
}

/* Every change that was ever committed is still there, and so is every one that was rolled back. */
static void without_vacuum_the_heap_grows(void **state) {
    (void)state;
    for (int seconds = 10; seconds <= 20; seconds += 10) {
        struct run_result result = run_of(
            "si", "report", READER " warmup=0s duration=%ds algorithm.versions=heap algorithm.vacuum=off", seconds);
        runs_assert_within((double)result.versions_max, 2000.0 * seconds, 0.03, "versions at the end");
        assert_true(result.versions_max >= 2 * (result.commits - 2));
        assert_int_equal(result.versions_removed, 0);
        assert_int_equal(result.vacuums, 0);
        run_result_free(&result);
    }
}

/* ---- Nothing but the price differs ---- */

static void expect_only_the_price(const char *algorithm) {
    static const char *const heaps[] = {"every(3ms)", "off"};
    static const char world[] =
        "duration=5s system.terminals=8 system.cpus=2 cost.cpu_access=exp(1ms) workload.rows=20 "
        "workload.access=read_write workload.audit_fraction=0.05 restart.delay=exp(1ms) "
        "certify=yes";
    struct run_result undo = run_of(algorithm, "bank", "%s", world);
    for (int k = 0; k < 2; k++) {
        struct run_result heap =
            run_of(algorithm, "bank", "%s algorithm.versions=heap algorithm.vacuum=%s", world, heaps[k]);
        struct run_result paid = run_of(
            algorithm, "bank", "%s algorithm.versions=heap algorithm.vacuum=%s cost.cpu_hop=100us", world, heaps[k]);
        assert_true(heap.digest == undo.digest);
        assert_true(paid.digest != undo.digest);
        assert_false(heap.promise_broken || paid.promise_broken);
        run_result_free(&heap);
        run_result_free(&paid);
    }
    run_result_free(&undo);
}

static void storage_costs_hops_and_changes_nothing_else(void **state) {
    (void)state;
    int count = 0;
    for (size_t i = 0; i < cc_registry_count; i++) {
        if (is_multiversion(cc_registry[i])) {
            expect_only_the_price(cc_registry[i]->name);
            count++;
        }
    }
    assert_true(count >= 6);
}

TEST_GROUP(version_storage, cmocka_unit_test(passes_what_is_in_the_way), cmocka_unit_test(timers_keep_apart),
           cmocka_unit_test(undo_holds_back_what_the_reader_may_see), cmocka_unit_test(statements_hold_nothing_back),
           cmocka_unit_test(vacuum_bounds_the_heap), cmocka_unit_test(a_reader_holds_vacuum_back),
           cmocka_unit_test(without_vacuum_the_heap_grows),
           cmocka_unit_test(storage_costs_hops_and_changes_nothing_else))
