/* test_seats.c - the last seats of a train: the steps of each way to book, who comes in time, and what the audit finds.
 * The notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#define VERSION (1 << 20) /* of a packed row */

static void steps(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"", "r(x) w(x,99)! c"},
        {"app_time=1s", "r(x) think w(x,99)! c"},
        {"booking=conditional", "r(x) w(x,+=-1,if>=1)! c"},
        {"booking=conditional app_time=exp(1s)", "r(x) think w(x,+=-1,if>=1)! c"},
        {"booking=for_update app_time=1s seats=7", "u(x) think w(x,6)! c"},
        {"booking=version seats=5", "r(x) w(x,1048580,if=5) c"},
        {"rollback=1", "r(x) w(x,99)! a"},
    };
    REHEARSAL_TRIALS("seats", 0, trials);
}

static void open_one(struct rehearsal *world, const char *booking, const char *more) {
    struct text settings = {0};
    text_add(&settings, "seats=3 booking=%s %s", booking, more);
    rehearsal_open(world, "seats", text_string(&settings));
    text_free(&settings);
}

static const char *const bookings[] = {"read_write", "conditional", "for_update", "version"};

/* One after another: three are served, the fourth is refused at once, and nothing is missing. */
static void sells_what_there_is(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct rehearsal world;
        open_one(&world, bookings[i], "app_time=1s");
        for (uint64_t n = 1; n <= 6; n++) {
            const char *said = rehearsal_next(&world, n);
            assert_true(rehearsal_ends_with(said, n <= 3 ? " c" : ") a"));
            assert_int_equal(rehearsal_count_of(said, "think"), n <= 3);
            assert_int_equal(world.ops->type_of(world.state, world.arguments), n > 3);
        }
        assert_int_equal(world.values[1], i == 3 ? 3 * VERSION : 0);
        rehearsal_expect_audit(&world, world.values[1], AUDIT_OK, i == 0 ? LEVEL_RR : LEVEL_RC, 0, "");
        rehearsal_close(&world);
    }
}

static void feed(struct rehearsal *world, const struct reply *reply, struct step *step) {
    world->ops->next(world->state, world->arguments, world->registers, reply, step);
}

static struct reply reply_of(struct reply_row *row, int64_t value, int64_t count) {
    *row = (struct reply_row){1, value};
    return (struct reply){.count = count, .rows = row};
}

/* The seat that was seen is gone by the time of the write: only conditional and version notice. */
static void the_seat_goes_in_between(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct rehearsal world;
        struct step step;
        struct reply_row row;
        open_one(&world, bookings[i], "");
        rehearsal_draw(&world, 1, 1);
        feed(&world, NULL, &step);
        struct reply reply = reply_of(&row, 1, 1);
        feed(&world, &reply, &step);
        assert_int_equal(step.kind, STEP_UPDATE);
        assert_int_equal(world.ops->remaining(world.state, world.arguments, world.registers), 0);
        reply = reply_of(&row, VERSION, i == 1 || i == 3 ? 0 : 1);
        feed(&world, &reply, &step);
        assert_int_equal(step.kind, i == 1 ? STEP_ROLLBACK : i == 3 ? STEP_SELECT : STEP_COMMIT);
        if (i == 3) { /* the row is read again, now nothing is left */
            assert_int_equal(world.ops->remaining(world.state, world.arguments, world.registers), 1);
            reply = reply_of(&row, VERSION, 1);
            feed(&world, &reply, &step);
            assert_int_equal(step.kind, STEP_ROLLBACK);
        }
        rehearsal_close(&world);
    }
}

static void audit_counts_what_was_oversold(void **state) {
    (void)state;
    for (int i = 0; i < 4; i += 3) {
        struct rehearsal world;
        open_one(&world, bookings[i], "trains=2 theta=9");
        for (uint64_t n = 1; n <= 5; n++) {
            rehearsal_draw(&world, 1, n);
            world.ops->committed(world.state, world.arguments, world.registers);
        }
        int64_t booked = i == 3 ? VERSION - 1 : -1; /* what each adds to its row */
        rehearsal_expect_audit(&world, 6 + 3 * booked, AUDIT_BROKEN, i == 3 ? LEVEL_RC : LEVEL_RR, 2,
                               "1 of 2 trains sold 2 seats more than they have; 5 bookings were committed, but 3 seats "
                               "are taken");
        rehearsal_close(&world);
        open_one(&world, bookings[i], "");
        rehearsal_expect_audit(&world, 3 + booked, AUDIT_BROKEN, i == 3 ? LEVEL_RC : LEVEL_RR, 0,
                               "0 bookings were committed, but 1 seats are taken");
        rehearsal_close(&world);
    }
}

/* Zipf with theta = 1 over 3 trains: 6/11 want the first. Each train has a queue of its own. */
static void draws(void **state) {
    (void)state;
    enum { TRIALS = 20000 };
    struct rehearsal world;
    int64_t first = 0, rollbacks = 0, in_time = 0;
    rehearsal_open(&world, "seats", "trains=3 theta=1 rollback=10% seats=2000");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        world.values[1] = world.values[2] = world.values[3] = 2000;
        const char *said = rehearsal_next(&world, n);
        first += world.names[0] == 1;
        rollbacks += rehearsal_ends_with(said, " a");
        in_time += world.ops->type_of(world.state, world.arguments) == 0;
    }
    rehearsal_assert_share(first, TRIALS, 6.0 / 11);
    rehearsal_assert_share(rollbacks, TRIALS, 0.1);
    assert_int_equal(in_time, 3 * 2000);
    assert_int_equal(world.ops->type_count(world.options), 2);
    assert_string_equal(world.ops->type_name(world.options, 0), "in_time");
    assert_string_equal(world.ops->type_name(world.options, 1), "late");
    rehearsal_close(&world);
}

TEST_GROUP(seats, cmocka_unit_test(steps), cmocka_unit_test(sells_what_there_is),
           cmocka_unit_test(the_seat_goes_in_between), cmocka_unit_test(audit_counts_what_was_oversold),
           cmocka_unit_test(draws))
