/* Memory does not grow with the length of a run: a run ten times longer has the same peak, for every algorithm and with
 * rows that come and go. Each run is a process of its own, so that the peak is its own. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cc/cc.h"
#include "tests/support/runs.h"

static long peak_kib(const char *algorithm, const char *workload, const char *settings, int seconds) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct run_result result = run_of(algorithm, workload, "%s warmup=1s duration=%ds", settings, seconds);
        _exit(result.status == RUN_OK && result.commits > 0 ? 0 : 1);
    }
    struct rusage usage;
    int status;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return usage.ru_maxrss;
}

/* The kernel counts resident pages in batches for each processor: a few hundred KiB say nothing. A version or a lock lost
 * at every transaction would be several MiB. */
enum { NOISE_KIB = 768 };

static void expect_flat(const char *algorithm, const char *workload, const char *settings) {
    long brief = peak_kib(algorithm, workload, settings, 30);
    long ten_times_longer = peak_kib(algorithm, workload, settings, 300);
    if (ten_times_longer > brief + NOISE_KIB) {
        fail_msg("%s, %s: %ld KiB, but %ld KiB in a run ten times longer", algorithm, workload, brief,
                 ten_times_longer);
    }
}

static void hot_row_is_flat(void **state) {
    (void)state;
    for (size_t i = 0; i < cc_registry_count; i++) {
        expect_flat(cc_registry[i]->name, "hot_row",
                    "system.terminals=32 system.cpus=8 cost.log_force=1ms restart.delay=exp(2ms) workload.rows=1000 "
                    "workload.write_fraction=0.5");
    }
}

static void bank_is_flat(void **state) {
    (void)state;
    for (size_t i = 0; i < cc_registry_count; i++) {
        expect_flat(
            cc_registry[i]->name, "bank",
            "system.terminals=16 system.cpus=4 cost.cpu_access=exp(1ms) restart.delay=exp(5ms) workload.rows=50 "
            "workload.audit_fraction=0.05");
    }
}

TEST_GROUP(flat_memory, cmocka_unit_test(hot_row_is_flat), cmocka_unit_test(bank_is_flat))
