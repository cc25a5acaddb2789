/* test_tutorial.c - the algorithm that docs/tutorial.md writes, taken from there: it compiles, and it is right. */
#include "tests/support/harness.h"
#include "tests/support/wild.h"

extern const struct cc_ops cc_cautious;

/* A deadlock, a lost wake-up and a wrong answer of any kind end a random world with a failure. */
static void it_holds_in_random_worlds(void **state) {
    (void)state;
    uint64_t seeds = test_long() ? 5000 : 500, commits = 0, refusals = 0, waits = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct wild_world world;
        struct run_result result;
        wild_world_draw(&world, &cc_cautious, seed, NULL);
        wild_world_run(&world, &result);
        assert_false(result.promise_broken);
        assert_int_equal(result.aborts_by_reason[REASON_DEADLOCK], 0);
        commits += result.commits;
        refusals += result.aborts_by_reason[REASON_DEPTH];
        waits += result.waits;
        run_result_free(&result);
        wild_world_free(&world);
    }
    assert_true(commits > 1000 && refusals > 100 && waits > 100);
}

TEST_GROUP(tutorial, cmocka_unit_test(it_holds_in_random_worlds))
