/* test_long_run.c - one run of 10^9 accesses: it finishes, and has the same peak of memory as one of a hundredth of
 * that.
 * Each run is a process of its own, so that the peak is its own. 4 CPUs that serve an access in 1 ms on average, always
 * busy, make 4,000 accesses a simulated second. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/runs.h"

enum { ACCESSES = 10, SECONDS = 260000, MORE_KIB_MAX = 256 };

/* Exits with 0 if the run came to its end with so many accesses and nothing lost. */
static int run_for(int seconds, double accesses_least) {
    struct run_result result = run_of("2pl", "hot_row",
                                      "system.terminals=64 system.cpus=4 cost.cpu_access=exp(1ms) workload.rows=10000 "
                                      "workload.accesses=%d workload.hot_rows=0 workload.write_fraction=1 "
                                      "workload.order=by_key warmup=1s duration=%ds",
                                      ACCESSES, seconds);
    bool good =
        result.status == RUN_OK && result.audit == RUN_AUDIT_OK && (double)result.commits * ACCESSES >= accesses_least;
    run_result_free(&result);
    return good ? 0 : 1;
}

static long peak_kib(int seconds, double accesses_least) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(run_for(seconds, accesses_least));
    }
    struct rusage usage;
    int status;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return usage.ru_maxrss;
}

static void a_billion_accesses(void **state) {
    (void)state;
    if (!test_long()) {
        test_skip();
    }
    long brief = peak_kib(SECONDS / 100, 1e7), full = peak_kib(SECONDS, 1e9);
    if (full > brief + MORE_KIB_MAX) {
        fail_msg("%ld KiB, but %ld KiB in a run a hundred times longer", brief, full);
    }
}

TEST_GROUP(long_run, cmocka_unit_test(a_billion_accesses))
