/* test_doctors.c - doctors on call: who leaves and who is refused, what is drawn, and when a shift counts as abandoned. The
 * notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <string.h>

static void steps(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"shifts=1 leave_fraction=1", "q(1..2) w(x,0)! c"},
        {"shifts=1 leave_fraction=1 app_time=1s doctors=5", "q(1..5) think w(x,0)! c"},
        {"shifts=1 leave_fraction=1 access=for_update rollback=1", "u(1..2) w(x,0)! a"},
        {"shifts=1 leave_fraction=1 doctors=1 app_time=1s", "q(1..1) a"},
        {"leave_fraction=0", "w(x,1,if=0)! a"},
    };
    REHEARSAL_TRIALS("doctors", 0, trials);
}

/* One after another each request is granted or refused as the roster says, and somebody always stays. */
static void someone_stays(void **state) {
    (void)state;
    enum { DOCTORS = 3, SHIFTS = 2 };
    static const char *const accesses[] = {"access=read shifts=2 doctors=3", "access=for_update shifts=2 doctors=3"};
    for (int i = 0; i < 2; i++) {
        struct rehearsal world;
        int64_t leaves = 0, returns = 0, alone = 0;
        rehearsal_open(&world, "doctors", accesses[i]);
        for (uint64_t n = 1; n <= 5000; n++) {
            int64_t before[1 + DOCTORS * SHIFTS];
            memcpy(before, world.values, sizeof before);
            const char *said = rehearsal_next(&world, n);
            bool leave = said[0] != 'w', done = rehearsal_ends_with(said, " c");
            assert_int_equal(world.ops->type_of(world.state, world.arguments), leave ? 0 : 1);
            assert_string_equal(text_string(&world.left), !leave ? "1 0 0" : done ? "3 1 0 0" : "3 1 1");
            for (int64_t key = 1; key <= DOCTORS * SHIFTS; key++) {
                bool changed = world.values[key] != before[key];
                assert_true(!changed || (done && key == world.names[0] && world.values[key] == !leave));
            }
            assert_int_equal(memcmp(before, world.values, sizeof before) != 0, done);
            for (int64_t shift = 0; shift < SHIFTS; shift++) {
                int64_t on_call = 0;
                for (int64_t doctor = 0; doctor < DOCTORS; doctor++) {
                    on_call += world.values[1 + shift * DOCTORS + doctor];
                }
                assert_true(on_call >= 1);
                alone += on_call == 1;
            }
            leaves += leave && done;
            returns += !leave && done;
        }
        assert_true(leaves > 500 && returns > 500 && alone > 500);
        struct workload_audit audit = rehearsal_audit(&world);
        assert_int_equal(audit.verdict, AUDIT_OK);
        assert_int_equal(audit.level, i == 0 ? LEVEL_SER : LEVEL_RC);
        rehearsal_close(&world);
    }
}

/* Who wants to leave sees everybody on call. */
static int64_t leave_unseen(struct rehearsal *world, uint64_t number) {
    world->values[1] = world->values[2] = 1;
    assert_true(rehearsal_ends_with(rehearsal_next(world, number), " c"));
    return world->names[0];
}

/* The books are those of the commits, not what the programs saw. */
static void abandoned_shifts_are_counted(void **state) {
    (void)state;
    struct rehearsal world;
    uint64_t n = 2;
    rehearsal_open(&world, "doctors", "shifts=1 leave_fraction=1");
    int64_t first = leave_unseen(&world, 1);
    assert_int_equal(rehearsal_audit(&world).verdict, AUDIT_OK);
    while (leave_unseen(&world, n) == first) {
        assert_int_equal(rehearsal_audit(&world).verdict, AUDIT_OK);
        n++;
    }
    struct workload_audit audit = rehearsal_audit(&world);
    assert_int_equal(audit.verdict, AUDIT_BROKEN);
    assert_int_equal(audit.level, LEVEL_SER);
    assert_string_equal(text_string(&audit.message), "1 times a shift was left with nobody on call, shift 1 first");
    text_free(&audit.message);
    rehearsal_close(&world);
}

/* A statement that fails makes the program roll back; a refusal is not failed twice. */
static void errors_roll_back(void **state) {
    (void)state;
    for (int leave = 0; leave < 2; leave++) {
        for (int at = 0; at <= 1 + 2 * leave; at++) {
            struct rehearsal world;
            rehearsal_open(&world, "doctors", leave ? "leave_fraction=1 app_time=1ms" : "leave_fraction=0");
            memset(&world.values[1], 0, leave ? 0 : 20 * sizeof *world.values);
            world.fail_at = at;
            const char *said = rehearsal_next(&world, 1);
            assert_true(rehearsal_ends_with(said, " a"));
            assert_int_equal(rehearsal_count_of(said, " "), at + 1);
            rehearsal_close(&world);
        }
    }
}

static void draws(void **state) {
    (void)state;
    enum { TRIALS = 20000 };
    struct rehearsal world;
    int64_t first = 0, leaves = 0, second_doctor = 0;
    rehearsal_open(&world, "doctors", "shifts=3 theta=1 leave_fraction=30% doctors=4 rollback=1");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        bool leave = rehearsal_next(&world, n)[0] != 'w';
        int64_t key = world.names[0];
        first += key <= 4;
        second_doctor += key % 4 == 2;
        leaves += leave;
    }
    rehearsal_assert_share(first, TRIALS, 6.0 / 11);
    rehearsal_assert_share(second_doctor, TRIALS, 0.25);
    rehearsal_assert_share(leaves, TRIALS, 0.3);
    assert_int_equal(world.ops->type_count(world.options), 2);
    assert_string_equal(world.ops->type_name(world.options, 0), "leave");
    assert_string_equal(world.ops->type_name(world.options, 1), "return");
    rehearsal_close(&world);
}

TEST_GROUP(doctors, cmocka_unit_test(steps), cmocka_unit_test(someone_stays),
           cmocka_unit_test(abandoned_shifts_are_counted), cmocka_unit_test(errors_roll_back), cmocka_unit_test(draws))
