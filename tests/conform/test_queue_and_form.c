/* test_queue_and_form.c - the job queue and edited documents under every algorithm: sound wherever the level that protects them is
 * promised, and broken where nothing does. */
#include "sim/cc/cc.h"
#include "tests/support/runs.h"

static struct run_result small_run(const struct cc_ops *algorithm, const char *workload, const char *settings) {
    return run_of(
        algorithm->name, workload,
        "system.terminals=7 system.cpus=3 cost.cpu_access=exp(100us) cost.log_force=200us restart.delay=exp(1ms) "
        "certify=yes duration=400ms %s",
        settings);
}

static bool promises(const struct cc_ops *algorithm, const struct run_result *result) {
    return result->audit_promised && (algorithm->flags & CC_NO_CERTIFICATE) == 0;
}

/* Every algorithm; says whether none, the canary, was caught. */
static bool run_all(const char *workload, const char *settings, enum level protects) {
    bool caught = false;
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *algorithm = cc_registry[i];
        struct run_result result = small_run(algorithm, workload, settings);
        bool canary = (algorithm->flags & CC_NO_CERTIFICATE) != 0, broken = result.audit == RUN_AUDIT_BROKEN;
        caught |= canary && broken;
        if (!canary && (result.promise_broken || (broken && algorithm->level >= protects) || result.status != RUN_OK ||
                        result.commits < 3)) {
            fail_msg("%s, %s %s, %d commits: %s%s%s", algorithm->name, workload, settings, (int)result.commits,
                     text_string(&result.message), text_string(&result.audit_message), text_string(&result.witness));
        }
        assert_false(broken && promises(algorithm, &result));
        run_result_free(&result);
    }
    return caught;
}

#define QUEUE "workload.jobs=20 workload.work_time=exp(500us) workload.crash=20% "

/* RC protects them all. The canary grants a lock to everybody, so who locks is caught; inside one transaction its own dirty data
 * keep two updates apart. */
static void jobs_are_done_once(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        bool caught;
    } trials[] = {
        {QUEUE "workload.claim=for_update", true},
        {QUEUE "workload.claim=skip_locked", true},
        {QUEUE "workload.claim=nowait workload.producers=2 workload.post_every=1ms", true},
        {QUEUE "workload.claim=update_returning", false},
        {QUEUE "workload.claim=optimistic workload.producers=3 workload.post_every=500us", false},
        {QUEUE "workload.work=outside workload.lease=100ms workload.claim=for_update", true},
        {QUEUE "workload.work=outside workload.lease=100ms workload.claim=skip_locked", true},
        {QUEUE "workload.work=outside workload.lease=100ms workload.claim=nowait", true},
        {QUEUE "workload.work=outside workload.lease=100ms workload.claim=update_returning", false},
        {QUEUE "workload.work=outside workload.lease=100ms workload.claim=optimistic", false},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        bool caught = run_all("job_queue", trials[i].settings, LEVEL_RC);
        assert_true(caught || !trials[i].caught);
    }
}

#define FORM "workload.rows=3 workload.editing=exp(3ms) workload.contents=3 workload.rollback=10% "

static void edits_are_kept_where_they_are_protected(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        enum level protects;
        bool caught;
    } trials[] = {
        {FORM "workload.transaction=whole", LEVEL_RR, true},
        {FORM "workload.transaction=whole workload.protection=compare", LEVEL_RR, true},
        {FORM "workload.transaction=whole workload.protection=version", LEVEL_RC, false},
        {FORM "workload.protection=lock", LEVEL_RC, true},
        {FORM "workload.protection=version", LEVEL_RC, false},
        {FORM "workload.protection=none", LEVEL_COUNT, true},
        {FORM "workload.protection=compare", LEVEL_COUNT, true},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        bool caught = run_all("edit_form", trials[i].settings, trials[i].protects);
        assert_true(caught || !trials[i].caught);
    }
}

/* Below the level that protects them, edits are lost; and where reading and saving are two transactions, at every level. */
static void edits_are_lost_below(void **state) {
    (void)state;
    static const char *const weak[] = {"lock-ru", "lock-rc", "mvcc-rc"};
    static const char *const settings[] = {FORM "workload.transaction=whole",
                                           FORM "workload.transaction=whole workload.protection=compare"};
    for (size_t i = 0; i < 6; i++) {
        struct run_result result = small_run(cc_find(weak[i / 2]), "edit_form", settings[i % 2]);
        assert_int_equal(result.audit, RUN_AUDIT_BROKEN);
        assert_true(result.lost_updates > 0);
        run_result_free(&result);
    }
    for (size_t i = 0; i < cc_registry_count; i++) {
        struct run_result result = small_run(cc_registry[i], "edit_form", FORM);
        assert_int_equal(result.audit, RUN_AUDIT_BROKEN);
        run_result_free(&result);
    }
}

TEST_GROUP(queue_and_form, cmocka_unit_test(jobs_are_done_once),
           cmocka_unit_test(edits_are_kept_where_they_are_protected), cmocka_unit_test(edits_are_lost_below))
