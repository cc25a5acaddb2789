/* test_report.c - updates and reports: their steps, who makes which, the total, and what the audit finds. The notation
 * is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <string.h>

static const struct report_case {
    const char *settings, *said, *left;
} reports[] = {
    {"rows=5", "q(1..5)! c", "5 0 0"},
    {"rows=5 chunk=unlimited rollback=1", "q(1..5)! a", "5 0 0"},
    {"rows=5 chunk=2", "q(1..2) q(3..4) q(5..5)! c", "5 3 1 0 0"},
    {"rows=6 chunk=3 pause=exp(1s)", "q(1..3) think q(4..6)! c", "6 3 3 0 0"},
    {"rows=4 chunk=1 pause=1ms", "q(1..1) think q(2..2) think q(3..3) think q(4..4)! c", "4 3 3 2 2 1 1 0 0"},
};

static void reports_read_all_in_order(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        struct rehearsal world;
        rehearsal_open(&world, "report", reports[i].settings);
        assert_string_equal(rehearsal_next(&world, 1), reports[i].said);
        assert_string_equal(text_string(&world.left), reports[i].left);
        rehearsal_close(&world);
    }
}

/* Terminal 2 makes updates, the first reporter of none does, too. */
static void updates_move_an_amount(void **state) {
    (void)state;
    struct rehearsal world;
    int64_t most = 0, gains = 0;
    enum { TRIALS = 20000 };
    rehearsal_open(&world, "report", "rows=50");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        int64_t before[51];
        memcpy(before, world.values, sizeof before);
        rehearsal_draw(&world, 2, n);
        const char *said = rehearsal_run(&world);
        assert_string_equal(text_string(&world.left), "2 1 0 0");
        assert_true(strncmp(said, "w(x,+=", 6) == 0 && strstr(said, " w(y,+=") != NULL &&
                    rehearsal_ends_with(said, ")! c"));
        int64_t first = world.names[0], second = world.names[1];
        int64_t gain = world.values[first] - before[first];
        assert_true(1 <= first && first < second && second <= 50);
        assert_int_equal(world.values[second] - before[second], -gain);
        assert_true(gain != 0 && -100 <= gain && gain <= 100);
        gains += gain > 0;
        most += gain == 100 || gain == -100;
        assert_int_equal(rehearsal_sum(&world), 50000);
    }
    rehearsal_assert_share(gains, TRIALS, 0.5);
    rehearsal_assert_share(most, TRIALS, 0.01);
    rehearsal_close(&world);
    rehearsal_open(&world, "report", "reporters=0 rollback=1");
    assert_true(rehearsal_ends_with(rehearsal_next(&world, 1), ")! a"));
    rehearsal_close(&world);
}

static size_t type_of(struct rehearsal *world, uint64_t terminal, uint64_t number) {
    rehearsal_draw(world, terminal, number);
    return world->ops->type_of(world->state, world->arguments);
}

static void who_reports(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "report", "reporters=2 report_fraction=20% theta=0.9 deferrable=yes");
    assert_int_equal(world.ops->type_count(world.options), 2);
    assert_string_equal(world.ops->type_name(world.options, 0), "update");
    assert_string_equal(world.ops->type_name(world.options, 1), "report");
    int64_t arrived = 0;
    for (uint64_t n = 1; n <= 10000; n++) {
        for (uint64_t terminal = 1; terminal <= 3; terminal++) {
            size_t type = type_of(&world, terminal, n);
            assert_int_equal(type, terminal <= 2 ? 1 : 0);
            assert_int_equal(world.ops->declares(world.state, world.arguments),
                             type == 1 ? DECLARES_DEFERRABLE : DECLARES_NOTHING);
        }
        arrived += (int64_t)type_of(&world, 0, n);
    }
    rehearsal_assert_share(arrived, 10000, 0.2);
    rehearsal_close(&world);
    rehearsal_open(&world, "report", "");
    type_of(&world, 1, 1);
    assert_int_equal(world.ops->declares(world.state, world.arguments), DECLARES_READ_ONLY);
    rehearsal_close(&world);
}

static void expect_broken(struct rehearsal *world, enum level level, const char *message) {
    struct workload_audit audit = rehearsal_audit(world);
    assert_int_equal(audit.verdict, AUDIT_BROKEN);
    assert_int_equal(audit.level, level);
    assert_string_equal(text_string(&audit.message), message);
    text_free(&audit.message);
}

static void the_audit_finds_wrong_reports(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "report", "rows=10 chunk=4");
    rehearsal_next(&world, 1);
    assert_int_equal(rehearsal_audit(&world).verdict, AUDIT_OK);
    world.values[9] += 7; /* a report that saw half an update */
    rehearsal_next(&world, 2);
    world.values[9] += 1;
    rehearsal_next(&world, 3);
    expect_broken(&world, LEVEL_SI, "2 of 3 committed reports saw a wrong total, the first one 10007 instead of 10000");
    world.store.tables[0].committed_sum = 9999;
    expect_broken(
        &world, LEVEL_RC,
        "the accounts hold 9999 in all instead of 10000; 2 of 3 committed reports saw a wrong total, the first "
        "one 10007 instead of 10000");
    rehearsal_close(&world);
}

static void senseless_pauses_are_refused(void **state) {
    (void)state;
    struct rehearsal world;
    assert_false(rehearsal_check(&world, "report", "rows=1000 pause=1s"));
    assert_string_equal(text_string(&world.said),
                        "pause has no place with rows = 1000 and no smaller chunk: a report is one statement");
    rehearsal_close(&world);
    assert_true(rehearsal_check(&world, "report", "rows=1001 pause=1s"));
    rehearsal_close(&world);
}

/* A statement that fails makes both roll back, wherever they were. */
static void errors_roll_back(void **state) {
    (void)state;
    for (uint64_t terminal = 1; terminal <= 2; terminal++) {
        struct rehearsal world;
        rehearsal_open(&world, "report", "rows=6 chunk=2 pause=1s");
        rehearsal_draw(&world, terminal, 1);
        int steps = 1 + rehearsal_count_of(rehearsal_run(&world), " ");
        for (world.fail_at = 0; world.fail_at < steps; world.fail_at++) {
            const char *said = rehearsal_run(&world);
            assert_true(rehearsal_ends_with(said, " a"));
            assert_int_equal(rehearsal_count_of(said, " "), world.fail_at + 1);
        }
        rehearsal_close(&world);
    }
}

TEST_GROUP(report, cmocka_unit_test(reports_read_all_in_order), cmocka_unit_test(updates_move_an_amount),
           cmocka_unit_test(who_reports), cmocka_unit_test(the_audit_finds_wrong_reports),
           cmocka_unit_test(senseless_pauses_are_refused), cmocka_unit_test(errors_roll_back))
