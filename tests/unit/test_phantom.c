/* test_phantom.c - repeated sums beside inserts and deletes: their steps, what is drawn, and when a sum has changed. The
 * notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <stdlib.h>

static const struct phantom_case {
    const char *settings, *said, *left;
} sums[] = {
    {"groups=1 sum_fraction=1", "q(1..20) q(1..20)! c", "40 20 0 0"},
    {"groups=1 keys=3 sum_fraction=1 repeats=1", "q(1..3)! c", "3 0 0"},
    {"groups=1 keys=2 sum_fraction=1 pause=exp(1ms) repeats=3 rollback=1", "q(1..2) think q(1..2) think q(1..2)! a",
     "6 4 4 2 2 0 0"},
    {"groups=1 keys=1 sum_fraction=0 insert_fraction=0", "d(x)! c", "1 0 0"},
    {"groups=1 keys=1 sum_fraction=0 insert_fraction=1", "i(1)! a", "1 0 0"},
};

static void steps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        struct rehearsal world;
        rehearsal_open(&world, "phantom", sums[i].settings);
        assert_string_equal(rehearsal_next(&world, 1), sums[i].said);
        assert_string_equal(text_string(&world.left), sums[i].left);
        rehearsal_close(&world);
    }
}

/* What is there is as the inserts and deletes that committed left it. */
static void rows_come_and_go(void **state) {
    (void)state;
    struct rehearsal world;
    int64_t done[2] = {0}, refused[2] = {0};
    rehearsal_open(&world, "phantom", "groups=4 keys=5");
    for (uint64_t n = 1; n <= 5000; n++) {
        bool before[21] = {false};
        for (int key = 1; key <= 20; key++) {
            before[key] = world.values[key] != REHEARSAL_ABSENT;
        }
        const char *said = rehearsal_next(&world, n);
        size_t type = world.ops->type_of(world.state, world.arguments);
        assert_int_equal(type, said[0] == 'q' ? 0 : said[0] == 'i' ? 1 : 2);
        assert_int_equal(world.ops->declares(world.state, world.arguments),
                         type == 0 ? DECLARES_READ_ONLY : DECLARES_NOTHING);
        if (type > 0) {
            int64_t key = type == 1 ? strtol(said + 2, NULL, 10) : world.names[0];
            assert_true(1 <= key && key <= 20);
            assert_int_equal(rehearsal_ends_with(said, " c"), before[key] == (type == 2));
            assert_int_equal(world.values[key] != REHEARSAL_ABSENT, type == 1);
            assert_true(type == 2 || before[key] || (1 <= world.values[key] && world.values[key] <= 100));
            done[type - 1] += rehearsal_ends_with(said, " c");
            refused[type - 1] += rehearsal_ends_with(said, " a");
        }
    }
    assert_true(done[0] > 400 && done[1] > 400 && refused[0] > 400 && refused[1] > 400);
    assert_int_equal(rehearsal_audit(&world).verdict, AUDIT_OK);
    rehearsal_close(&world);
}

/* Sums of a transaction, each of so many rows of 50, the first of which is 1 lower each time if `drifts`: is it found that
 * they differ? */
static void expect_changed(const char *settings, const int64_t *counts, int times, bool drifts, bool commits,
                           bool changed) {
    struct rehearsal world;
    struct step step;
    struct reply_row rows[4] = {{1, 50}, {2, 50}, {3, 50}, {4, 50}};
    rehearsal_open(&world, "phantom", settings);
    rehearsal_draw(&world, 1, 1);
    world.ops->next(world.state, world.arguments, world.registers, NULL, &step);
    for (int i = 0; i < times; i++) {
        struct reply reply = {.count = counts[i], .rows = rows};
        rows[0].value -= drifts;
        world.ops->next(world.state, world.arguments, world.registers, &reply, &step);
    }
    assert_int_equal(step.kind, STEP_COMMIT);
    if (commits) {
        world.ops->committed(world.state, world.arguments, world.registers);
    }
    struct workload_audit audit = rehearsal_audit(&world);
    assert_int_equal(audit.verdict, changed ? AUDIT_BROKEN : AUDIT_OK);
    assert_int_equal(audit.level, LEVEL_SI);
    assert_string_equal(text_string(&audit.message),
                        changed ? "1 of 1 committed sums had changed when they were repeated" : "");
    text_free(&audit.message);
    rehearsal_close(&world);
}

static void audit_finds_changed_sums(void **state) {
    (void)state;
    static const int64_t same[] = {3, 3, 3}, more[] = {3, 4, 4}, back[] = {3, 2, 3}, late[] = {3, 3, 2};
    static const char settings[] = "groups=1 keys=4 sum_fraction=1 repeats=3";
    expect_changed(settings, same, 3, false, true, false);
    expect_changed(settings, same, 3, true, true, true);
    expect_changed(settings, more, 3, false, true, true);
    expect_changed(settings, back, 3, false, true, true);
    expect_changed(settings, late, 3, false, true, true);
    expect_changed(settings, late, 3, false, false, false); /* who does not commit saw nothing */
    expect_changed("groups=1 keys=4 sum_fraction=1 repeats=1", same, 1, false, true, false);
}

static void shares(void **state) {
    (void)state;
    enum { TRIALS = 20000 };
    struct rehearsal world;
    int64_t type[3] = {0};
    rehearsal_open(&world, "phantom", "sum_fraction=20% insert_fraction=25% keys=1 rollback=1");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        rehearsal_draw(&world, 1, n);
        type[world.ops->type_of(world.state, world.arguments)]++;
    }
    rehearsal_assert_share(type[0], TRIALS, 0.2);
    rehearsal_assert_share(type[1], TRIALS, 0.2);
    assert_int_equal(world.ops->type_count(world.options), 3);
    assert_string_equal(world.ops->type_name(world.options, 2), "delete");
    rehearsal_close(&world);
    assert_false(rehearsal_check(&world, "phantom", "pause=1ms repeats=1"));
    assert_string_equal(text_string(&world.said), "pause has no place with repeats = 1: it passes between two sums");
    rehearsal_close(&world);
}

TEST_GROUP(phantom, cmocka_unit_test(steps), cmocka_unit_test(rows_come_and_go),
           cmocka_unit_test(audit_finds_changed_sums), cmocka_unit_test(shares))
