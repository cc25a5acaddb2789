/* test_mix_twins.c - what both the built-in workloads and a mix can express is the same run: the same digest, under every
 * algorithm, whatever the form of access, with skew, application time and victims chosen by what is left to do. */
#include <inttypes.h>

#include "sim/cc/cc.h"
#include "sim/exec/spec.h"
#include "tests/support/harness.h"
#include "tests/support/sections.h"

struct twin {
    const char *workload, *options; /* the built-in one */
    const char *mix;
};

#define COUNTERS       "[table counters]\nrows = 50\n[transaction visit]\nlet h = uniform(counters id<=1)\n"
#define TRAINS         "[table trains]\nrows = 3\nvalue = 20\n[transaction buy]\nlet t = uniform(trains)\n"
#define ACCOUNTS(rows) "[table accounts]\nrows = " rows "\nvalue = 1000\n"

static const struct twin twins[] = {
    {"hot_row", "rows=50",
     COUNTERS "let c[7] = uniform(counters id>1)\nsteps = u(counters h) w(counters h, $h+1) each c (r(counters c))"},
    {"hot_row", "rows=50 accesses=5 hot_access=read_write hot_position=last theta=0.9 app_time=2ms",
     COUNTERS "let c[4] = zipf(counters id>1, 0.9)\n"
              "steps = each c (r(counters c)) r(counters h) think(2ms) w(counters h, $h+1)"},
    {"hot_row", "rows=50 accesses=4 hot_access=increment hot_position=middle write_fraction=100% rollback=20%",
     COUNTERS "let c[3] = uniform(counters id>1)\nrollback = 20%\n"
              "steps = w(counters c[1], +=1) w(counters c[2], +=1) w(counters h, +=1) w(counters c[3], +=1)"},
    {"hot_row", "rows=50 hot_rows=0 accesses=6 order=by_key write_fraction=100%",
     "[table counters]\nrows = 50\n[transaction visit]\nlet c[6] = uniform(counters) sorted\n"
     "steps = each c (w(counters c, +=1))"},
    {"bank", "rows=20 audit_fraction=10%",
     ACCOUNTS(
         "20") "[transaction audit]\nweight = 1\nsteps = q(accounts *)\n[transaction transfer]\nweight = 9\n"
               "let a = uniform(accounts)\nlet b = uniform(accounts) not a\nlet n = uniform(1, 100)\nrollback = 0%\n"
               "steps = u(accounts a) u(accounts b) w(accounts a, $a-n) w(accounts b, $b+n)"},
    {"bank", "rows=20 access=read_write theta=0.8 rollback=10% app_time=1ms",
     ACCOUNTS("20") "[transaction transfer]\nlet a = zipf(accounts, 0.8)\nlet b = zipf(accounts, 0.8) not a\n"
                    "let n = uniform(1, 100)\nrollback = 10%\n"
                    "steps = r(accounts a) r(accounts b) think(1ms) w(accounts a, $a-n) w(accounts b, $b+n)"},
    {"bank", "rows=20 access=increment overdraft=refused",
     ACCOUNTS("20") "[transaction transfer]\nlet a = uniform(accounts)\nlet b = uniform(accounts) not a\n"
                    "let n = uniform(1, 100)\n"
                    "steps = w(accounts a, -=n, if>=n) else rollback w(accounts b, +=n)"},
    {"bank", "rows=20 order=by_id overdraft=refused",
     ACCOUNTS("20") "[transaction transfer]\nlet a = uniform(accounts)\nlet b = uniform(accounts) not a\n"
                    "let n = uniform(1, 100)\n"
                    "steps = if(a<b) (u(accounts a) u(accounts b) if($a<n) rollback w(accounts a, $a-n) "
                    "w(accounts b, $b+n)) else (u(accounts b) u(accounts a) if($a<n) rollback w(accounts b, $b+n) "
                    "w(accounts a, $a-n))"},
    {"seats", "trains=3 seats=20 app_time=1ms",
     TRAINS "steps = r(trains t) if($t<1) rollback think(1ms) w(trains t, $t-1)"},
    {"seats", "trains=3 seats=20 booking=conditional app_time=exp(1ms)",
     TRAINS "steps = r(trains t) if($t<1) rollback think(exp(1ms)) w(trains t, -=1, if>=1) else rollback"},
    {"seats", "trains=3 seats=20 booking=for_update", TRAINS "steps = u(trains t) if($t<1) rollback w(trains t, $t-1)"},
};
enum { TWINS = sizeof twins / sizeof twins[0] };

static const char *const systems[] = {
    "system.terminals=8 system.cpus=4 cost.log_force=1ms restart.delay=adaptive duration=400ms certify=yes",
    "system.terminals=6 cost.cpu_access=1ms cost.cpu_lock=100us restart.delay=adaptive duration=300ms "
    "algorithm.victim=least_remaining",
};

static void set(struct spec *spec, const char *settings) {
    struct text error = {0};
    if (!spec_set(spec, settings, &error)) {
        fail_msg("%s: %s", settings, text_string(&error));
    }
    text_free(&error);
}

/* `rows=5 theta=1` becomes `workload.rows=5 workload.theta=1`. */
static void set_workload(struct spec *spec, const char *options) {
    struct text text = {0};
    text_add(&text, "workload.");
    for (const char *at = options; *at != '\0'; at++) {
        text_add_bytes(&text, at, 1);
        text_add(&text, "%s", *at == ' ' ? "workload." : "");
    }
    set(spec, text_string(&text));
    text_free(&text);
}

static struct run_result run_twin(const char *algorithm, const struct twin *twin, const char *system, bool as_mix) {
    struct spec spec;
    struct run_result result;
    const char *workload = as_mix ? "mix" : twin->workload;
    assert_true(spec_open(&spec, algorithm, workload));
    set(&spec, system);
    if (as_mix) {
        sections_compile(spec.run.workload, spec.workload_options, twin->mix);
    } else {
        set_workload(&spec, twin->options);
    }
    run_simulate(&spec.run, &result);
    assert_int_equal(result.status, RUN_OK);
    if (as_mix) {
        spec.run.workload->discard(spec.workload_options);
    }
    spec_close(&spec);
    return result;
}

static void twins_have_one_digest(void **state) {
    (void)state;
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *ops = cc_registry[i];
        bool chooses = ops->options != NULL && option_find(ops->options, "victim") != NULL;
        for (size_t k = 0; k < TWINS * (chooses ? 2 : 1); k++) {
            const struct twin *twin = &twins[k % TWINS];
            struct run_result own = run_twin(ops->name, twin, systems[k / TWINS], false);
            struct run_result mix = run_twin(ops->name, twin, systems[k / TWINS], true);
            if (own.digest != mix.digest || own.commits != mix.commits || own.events != mix.events) {
                fail_msg("%s, %s %s: digests %016" PRIx64 " and %016" PRIx64 ", %d and %d commits", ops->name,
                         twin->workload, twin->options, own.digest, mix.digest, (int)own.commits, (int)mix.commits);
            }
            assert_true(own.commits > 5);
            run_result_free(&own);
            run_result_free(&mix);
        }
    }
}

/* A kind's own policy counts, not that of [restart]. */
static void kinds_give_up_by_their_own_policy(void **state) {
    (void)state;
    struct spec spec;
    struct run_result result;
    assert_true(spec_open(&spec, "no-wait", "mix"));
    set(&spec, "system.terminals=8 restart.delay=adaptive duration=2s restart.max_attempts=2");
    sections_compile(spec.run.workload, spec.workload_options,
                     "[table t]\nrows = 3\n[transaction once]\nmax_attempts = 1\nsteps = w(t 1, +=1) w(t 2, +=1)\n"
                     "[transaction again]\nmax_attempts = unlimited\ndelay = 3ms\nsteps = w(t 2, +=1) w(t 1, +=1)\n"
                     "[transaction twice]\nsteps = w(t 2, +=1) w(t 1, +=1)");
    run_simulate(&spec.run, &result);
    assert_int_equal(result.type_count, 3);
    const struct run_result *once = &result.types[0], *again = &result.types[1], *twice = &result.types[2];
    assert_true(once->aborts_by_reason[REASON_NOWAIT] > 50);
    assert_int_equal(once->gave_up, once->aborts_by_reason[REASON_NOWAIT]);
    assert_true(again->aborts_by_reason[REASON_NOWAIT] > 50);
    assert_int_equal(again->gave_up, 0);
    /* Attempts that were aborted in the first instant fall before the window. */
    assert_true(twice->gave_up > 50 && twice->gave_up * 2 <= twice->aborts_by_reason[REASON_NOWAIT] + 8);
    assert_int_equal(once->commits + again->commits + twice->commits, result.commits);
    spec.run.workload->discard(spec.workload_options);
    spec_close(&spec);
    run_result_free(&result);
}

TEST_GROUP(mix_twins, cmocka_unit_test(twins_have_one_digest), cmocka_unit_test(kinds_give_up_by_their_own_policy))
