/* test_audits.c - every workload under every algorithm that can run it: its audit holds under those that promise the level
 * that protects it, and under those that promise less it breaks: which, is told one by one. */
#include <inttypes.h>
#include <string.h>

#include "sim/cc/cc.h"
#include "tests/support/harness.h"
#include "tests/support/runs.h"
#include "workloads/workload.h"

#define SYSTEM                                                                                              \
    "system.terminals=12 system.cpus=6 cost.cpu_access=exp(1ms) cost.log_force=1ms restart.delay=exp(1ms) " \
    "duration=600ms "

struct world {
    const char *workload, *settings;
    enum level level;   /* protects the audit */
    const char *broken; /* those that promise less and break it, in the order of the registry */
};

static const struct world worlds[] = {
    {"hot_row", "workload.rows=20", LEVEL_RC, "none"},
    {"hot_row", "workload.rows=20 workload.hot_access=read_write", LEVEL_RR, "none lock-rc lock-ru mvcc-rc"},
    {"hot_row", "workload.rows=20 workload.hot_access=increment", LEVEL_RC, "none"},
    {"bank", "workload.rows=20 workload.access=read_write", LEVEL_RR, "none lock-rc lock-ru mvcc-rc"},
    {"bank", "workload.rows=10 workload.access=increment workload.audit_fraction=30%", LEVEL_SI, "none lock-ru"},
    {"acl87", "workload.rows=20", LEVEL_RR, "none lock-rc lock-ru mvcc-rc"},
    {"ycsb", "workload.rows=50 workload.requests=6 workload.update=read_write", LEVEL_RR,
     "none lock-rc lock-ru mvcc-rc"},
    {"report", "workload.rows=30 workload.chunk=10 workload.pause=1ms", LEVEL_SI,
     "none lock-rc lock-ru version-column mvcc-rc"},
    {"seats", "workload.trains=4 workload.seats=20 workload.app_time=3ms", LEVEL_RR, "none lock-rc lock-ru mvcc-rc"},
    {"seats", "workload.trains=4 workload.seats=20 workload.app_time=3ms workload.booking=conditional", LEVEL_RC, ""},
    {"seats", "workload.trains=4 workload.seats=20 workload.app_time=3ms workload.booking=for_update", LEVEL_RC,
     "none"},
    {"seats", "workload.trains=4 workload.seats=20 workload.app_time=3ms workload.booking=version", LEVEL_RC, ""},
    {"doctors", "workload.shifts=3 workload.app_time=1ms", LEVEL_SER,
     "none lock-rc lock-ru version-column si si-fcw mvcc-rc"},
    {"doctors", "workload.shifts=3 workload.app_time=1ms workload.access=for_update", LEVEL_RC, "none"},
    {"smallbank", "workload.customers=10 workload.hot_customers=0 duration=3s", LEVEL_SER,
     "none lock-rc lock-ru version-column si si-fcw mvcc-rc"},
    {"smallbank", "workload.customers=10 workload.hot_customers=0 workload.write_check=promote duration=3s", LEVEL_SI,
     "none lock-rc lock-ru mvcc-rc"},
    {"phantom", "workload.groups=2 workload.keys=6 workload.pause=2ms", LEVEL_SI,
     "none lock-rr lock-rc lock-ru version-column mvcc-rc"},
    {"tpcc", "workload.scale=0 duration=2s", LEVEL_RC, "none"},
    {"tpcc", "workload.scale=0 workload.access=read_write duration=2s", LEVEL_RR, "none lock-rc lock-ru mvcc-rc"},
    {"tpcc", "workload.scale=0 workload.access=returning duration=2s", LEVEL_RC, "none"},
};

static bool can_run(const struct cc_ops *algorithm, const struct world *world) {
    struct spec spec;
    struct text error = {0};
    if ((algorithm->flags & CC_NEEDS_PLAN) == 0) {
        return true;
    }
    assert_true(spec_open(&spec, algorithm->name, world->workload));
    assert_true(spec_set(&spec, world->settings, &error));
    bool plans = workload_plans(spec.run.workload, spec.run.workload_options);
    spec_close(&spec);
    text_free(&error);
    return plans;
}

/* Is it broken under those that are named, and no others? */
static bool check_world(const struct world *world) {
    struct text broken = {0};
    size_t held = 0;
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *algorithm = cc_registry[i];
        if (!can_run(algorithm, world)) {
            continue;
        }
        struct run_result result = run_of(algorithm->name, world->workload, SYSTEM "%s", world->settings);
        bool is_broken = result.audit == RUN_AUDIT_BROKEN, canary = strcmp(algorithm->name, "none") == 0;
        if (result.status != RUN_OK || result.commits == 0 || result.audit == RUN_AUDIT_NONE) {
            fail_msg("%s under %s, %s: %s", world->workload, algorithm->name, world->settings,
                     text_string(&result.message));
        }
        if (is_broken && !canary && (result.audit_promised || algorithm->level >= world->level)) {
            fail_msg("%s under %s, %s: %s", world->workload, algorithm->name, world->settings,
                     text_string(&result.audit_message));
        }
        if (is_broken) {
            text_add(&broken, "%s%s", broken.length > 0 ? " " : "", algorithm->name);
        }
        held += !is_broken;
        run_result_free(&result);
    }
    bool as_told = strcmp(text_string(&broken), world->broken) == 0;
    if (!as_told) {
        print_error("%s, %s: broken under %s\n", world->workload, world->settings, text_string(&broken));
    }
    assert_true(held > 10);
    text_free(&broken);
    return as_told;
}

static void audits_hold_where_they_are_protected(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        wrong += !check_world(&worlds[i]);
    }
    assert_int_equal(wrong, 0);
}

/* Doctors who are alone are refused after one access of 1 ms, behind those who came before: with 4 terminals on 2 CPUs after
 * 2 ms. */
static void refusals_are_timed(void **state) {
    (void)state;
    struct run_result result = run_of("2pl", "doctors",
                                      "system.terminals=4 system.cpus=2 cost.cpu_access=1ms warmup=500ms duration=1s "
                                      "workload.shifts=100 workload.doctors=1 workload.leave_fraction=100%%");
    assert_int_equal(result.commits, 0);
    assert_int_equal(result.rollbacks, 2000);
    assert_int_equal(result.rollback_response.count, 2000);
    assert_int_equal(result.rollback_response.max_ns, 2000000);
    assert_near(result.rollback_response_sum_ns, 2000 * 2e6, 0);
    assert_int_equal(result.types[0].rollback_response.count, 2000);
    assert_near(result.types[0].rollback_response_sum_ns, 2000 * 2e6, 0);
    assert_int_equal(result.types[1].rollbacks, 0);
    run_result_free(&result);
}

TEST_GROUP(audits, cmocka_unit_test(audits_hold_where_they_are_protected), cmocka_unit_test(refusals_are_timed))
