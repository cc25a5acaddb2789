/* test_wild.c - every algorithm in random small worlds: what it answered is judged by an independent oracle, nothing
 * may be left behind, and the same world twice must be the same run.
 *
 * A lost wake-up, a deadlock that nobody finds and a lock that nobody releases end the process by a CHECK of exec, with
 * the seed; CCSIM_WORLD=seed runs that world alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "tests/support/harness.h"
#include "tests/support/wild.h"

enum { WORLDS = 400, WORLDS_LONG = 4000 };

struct outcome {
    uint64_t digest, events, commits, replies, mismatches, worlds_with_mismatches;
    bool whole; /* ran to its end, and left nothing */
};

static uint64_t worlds(void) { return test_long() ? WORLDS_LONG : WORLDS; }

static struct outcome run_world(const struct cc_ops *algorithm, uint64_t seed, const char *settings, bool judged) {
    struct wild_world world;
    struct run_result result;
    wild_world_draw(&world, algorithm, seed, settings);
    wild_world_run(&world, &result);
    struct outcome outcome = {.digest = result.digest,
                              .events = result.events,
                              .commits = result.commits,
                              .replies = world.oracle.replies,
                              .mismatches = world.oracle.mismatches,
                              .whole = result.status == RUN_OK && result.quiescent};
    if ((judged && outcome.mismatches > 0) || !outcome.whole) {
        print_error("%s\n    %s%s\n%s", world.replay,
                    outcome.whole ? "" : "did not come to its end: ", text_string(&result.message),
                    text_string(&world.oracle.first));
    }
    wild_world_free(&world);
    run_result_free(&result);
    return outcome;
}

/* Runs all worlds twice; counts those with an error in *bad. */
static struct outcome run_worlds(const struct cc_ops *algorithm, const char *settings, bool judged, size_t *bad) {
    struct outcome sum = {0};
    const char *only = getenv("CCSIM_WORLD");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL ? first : worlds();
    for (uint64_t seed = first; seed <= last; seed++) {
        struct outcome once = run_world(algorithm, seed, settings, judged);
        struct outcome again = run_world(algorithm, seed, settings, false);
        bool same = once.digest == again.digest && once.events == again.events;
        if (!same) {
            print_error("%s, seed %" PRIu64 ": two runs of one world differ\n", algorithm->name, seed);
        }
        *bad += !same || !once.whole || (judged && once.mismatches > 0);
        sum.commits += once.commits;
        sum.replies += once.replies;
        sum.mismatches += once.mismatches;
        sum.worlds_with_mismatches += once.mismatches > 0;
    }
    print_message("%s %s: %" PRIu64 " commits, %" PRIu64 " replies, %" PRIu64 " mismatches in %" PRIu64 " worlds\n",
                  algorithm->name, settings != NULL ? settings : "", sum.commits, sum.replies, sum.mismatches,
                  sum.worlds_with_mismatches);
    return sum;
}

static bool is_canary(const struct cc_ops *algorithm) { return strcmp(algorithm->name, "none") == 0; }

static void every_algorithm_keeps_its_promise(void **state) {
    (void)state;
    size_t bad = 0;
    for (size_t i = 0; i < cc_registry_count; i++) {
        if (!is_canary(cc_registry[i])) {
            struct outcome sum = run_worlds(cc_registry[i], NULL, true, &bad);
            assert_true(getenv("CCSIM_WORLD") != NULL || sum.commits > 10 * worlds());
        }
    }
    assert_int_equal(bad, 0);
}

/* The oracle must be able to find fault: the algorithm that grants everything is caught in most worlds. */
static void the_canary_is_caught(void **state) {
    (void)state;
    size_t bad = 0;
    struct outcome sum = run_worlds(cc_find("none"), NULL, false, &bad);
    assert_int_equal(bad, 0);
    assert_true(sum.worlds_with_mismatches > worlds() / 3);
}

/* Without gap locks there are phantoms, and the oracle sees them. */
static void phantoms_are_found(void **state) {
    (void)state;
    size_t bad = 0, algorithms = 0;
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct option_table *options = cc_registry[i]->options;
        if (options != NULL && option_find(options, "phantoms") != NULL) {
            struct outcome sum = run_worlds(cc_registry[i], "phantoms=none", false, &bad);
            assert_true(sum.worlds_with_mismatches > 0);
            algorithms++;
        }
    }
    assert_int_equal(bad, 0);
    assert_true(algorithms > 0);
}

/* Another seed is another world; so the digests do depend on what happens. */
static void digests_differ_between_worlds(void **state) {
    (void)state;
    uint64_t digests[20];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        digests[seed - 1] = run_world(cc_find("2pl"), seed, NULL, true).digest;
        for (uint64_t other = 1; other < seed; other++) {
            assert_true(digests[other - 1] != digests[seed - 1]);
        }
    }
}

TEST_GROUP(wild, cmocka_unit_test(every_algorithm_keeps_its_promise), cmocka_unit_test(the_canary_is_caught),
           cmocka_unit_test(phantoms_are_found), cmocka_unit_test(digests_differ_between_worlds))
