/* test_certified.c - every algorithm in random small worlds, held to its promise by the certifier; and the canary,
 * which
 * must be caught. CCSIM_WORLD=seed runs that world alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cc/cc.h"
#include "tests/support/harness.h"
#include "tests/support/runs.h"
#include "tests/support/wild.h"

enum { WORLDS = 300, WORLDS_LONG = 10000 };

struct sum {
    uint64_t commits, anomalies, broken, phantoms;
};

static struct sum run_worlds(const struct cc_ops *algorithm, const char *settings, bool must_hold) {
    struct sum sum = {0};
    const char *only = getenv("CCSIM_WORLD");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL ? first : test_long() ? WORLDS_LONG : WORLDS;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct wild_world world;
        struct run_result result;
        wild_world_draw(&world, algorithm, seed, settings);
        world.spec.certify = true;
        wild_world_run(&world, &result);
        assert_true(result.certified);
        sum.commits += result.commits;
        sum.anomalies += result.anomalies;
        sum.broken += result.promise_broken;
        sum.phantoms += result.anomalies_by_name[FLAW_PHANTOM];
        if (must_hold && result.promise_broken) {
            print_error("%s: %s\n", world.replay, text_string(&result.witness));
        }
        wild_world_free(&world);
        run_result_free(&result);
    }
    print_message("%s: %" PRIu64 " commits, %" PRIu64 " anomalies, %" PRIu64 " worlds with a broken promise\n",
                  algorithm->name, sum.commits, sum.anomalies, sum.broken);
    return sum;
}

static void promises_hold_in_every_world(void **state) {
    (void)state;
    uint64_t broken = 0;
    for (size_t i = 0; i < cc_registry_count; i++) {
        if (strcmp(cc_registry[i]->name, "none") != 0) {
            struct sum sum = run_worlds(cc_registry[i], NULL, true);
            broken += sum.broken;
            assert_true(cc_registry[i]->level != LEVEL_SER || cc_registry[i]->unrecoverable != NULL ||
                        sum.anomalies == 0);
        }
    }
    assert_int_equal(broken, 0);
}

static void the_canary_is_caught_everywhere(void **state) {
    (void)state;
    struct sum sum = run_worlds(cc_find("none"), NULL, false);
    assert_true(getenv("CCSIM_WORLD") != NULL || sum.broken > WORLDS / 2);
}

static void phantoms_are_named(void **state) {
    (void)state;
    struct sum sum = run_worlds(cc_find("2pl"), "phantoms=none", false);
    assert_true(getenv("CCSIM_WORLD") != NULL || sum.phantoms > 0);
    assert_true(sum.anomalies == sum.phantoms); /* and nothing else goes wrong */
}

/* Snapshots allow write skew, and it happens; that is no broken promise. */
static void si_has_write_skews_and_keeps_its_promise(void **state) {
    (void)state;
    struct sum sum = run_worlds(cc_find("si"), NULL, true);
    assert_true(getenv("CCSIM_WORLD") != NULL || sum.anomalies > 0);
}

/* Certification is a spectator. */
static void certifying_changes_nothing(void **state) {
    (void)state;
    const char *settings =
        "system.terminals=16 system.cpus=4 workload.write_fraction=0.5 workload.rows=50 duration=2s certify=%s";
    for (size_t i = 0; i < cc_registry_count; i++) {
        struct run_result without = run_of(cc_registry[i]->name, "hot_row", settings, "no");
        struct run_result with = run_of(cc_registry[i]->name, "hot_row", settings, "yes");
        assert_true(with.certified && !without.certified);
        assert_int_equal(with.digest, without.digest);
        assert_int_equal(with.commits, without.commits);
        run_result_free(&without);
        run_result_free(&with);
    }
}

/* Within the first simulated second, on the workload everybody begins with. */
static void the_canary_is_caught_within_a_second(void **state) {
    (void)state;
    struct run_result result = run_of("none", "hot_row", "system.terminals=16 duration=1s certify=yes");
    assert_true(result.promise_broken &&
                result.anomalies_by_name[FLAW_LOST_UPDATE] + result.anomalies_by_name[FLAW_G0] > 0);
    assert_contains(text_string(&result.witness), "counters 1");
    run_result_free(&result);
}

TEST_GROUP(certified, cmocka_unit_test(promises_hold_in_every_world), cmocka_unit_test(the_canary_is_caught_everywhere),
           cmocka_unit_test(phantoms_are_named), cmocka_unit_test(si_has_write_skews_and_keeps_its_promise),
           cmocka_unit_test(certifying_changes_nothing), cmocka_unit_test(the_canary_is_caught_within_a_second))
