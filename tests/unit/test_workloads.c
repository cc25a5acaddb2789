/* test_workloads.c - what all workloads must keep (the registry, arguments that depend on their stream alone, errors
 * that roll back, senseless options), and the small ones, acl87 and idle. The notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <string.h>

#include "sim/base/memory.h"

static void registry_is_complete(void **state) {
    (void)state;
    assert_true(workload_registry_count >= 4);
    for (size_t i = 0; i < workload_registry_count; i++) {
        const struct workload_ops *ops = workload_registry[i];
        assert_ptr_equal(workload_find(ops->name), ops);
        assert_true(ops->summary != NULL && ops->options != NULL && ops->load != NULL && ops->draw != NULL);
        assert_true(ops->next != NULL && ops->audit != NULL && ops->state_size > 0);
        assert_true(ops->arguments_size > 0 && ops->registers_size > 0);
        struct rehearsal world;
        assert_true(rehearsal_check(&world, ops->name, ""));
        rehearsal_close(&world);
    }
    assert_null(workload_find("hot_rows"));
}

/* The transcript of a transaction, with the keys: what `draw` decided. */
static void describe(struct rehearsal *world, uint64_t terminal, uint64_t number, struct text *out) {
    rehearsal_draw(world, terminal, number);
    text_clear(out);
    text_add(out, "%s", rehearsal_run(world));
    for (int i = 0; i < world->name_count; i++) {
        text_add(out, " %d", (int)world->names[i]);
    }
}

/* Increments in one statement say nothing of what a transaction read, so the transcripts show the arguments alone. */
static const struct rehearsal_trial arguments_trials[] = {
    {"hot_row", "hot_access=increment write_fraction=0.5 rollback=0.5 hot_rows=9 hot_position=random"},
    {"hot_row", "hot_access=increment write_fraction=0.5 theta=0.9 hot_rows=0 rows=500 accesses=30"},
    {"bank", "access=increment audit_fraction=0.1 rollback=0.1"},
    {"bank", "access=increment theta=0.9 order=by_id"},
    {"acl87", "write_probability=0 rollback=0.2"},
    {"report", "rollback=0.1"},
    {"report", "theta=0.9 reporters=0"},
    {"seats", "trains=50 theta=0.5 booking=conditional rollback=0.2"},
    {"doctors", "leave_fraction=0 doctors=30 theta=0.5"},
    {"smallbank", "hot_customers=10 balances=0 amalgamates=0"},
    {"phantom", "sum_fraction=1 groups=100 theta=0.5 rollback=0.2"},
};

static void arguments_depend_on_the_key_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof arguments_trials / sizeof arguments_trials[0]; i++) {
        struct rehearsal one, other;
        struct text first = {0}, second = {0};
        rehearsal_open(&one, arguments_trials[i].options, arguments_trials[i].expected);
        rehearsal_open(&other, arguments_trials[i].options, arguments_trials[i].expected);
        memset(other.arguments, 0xff, other.ops->arguments_size); /* what an earlier transaction left */
        int same = 0;
        for (uint64_t n = 1; n <= 200; n++) {
            describe(&one, 3, n, &first);
            describe(&other, 3, 201 - n, &second);
            describe(&other, 3, n, &second);
            assert_string_equal(text_string(&first), text_string(&second));
            describe(&other, 4, n, &second);
            same += strcmp(text_string(&first), text_string(&second)) == 0;
        }
        assert_true(same < 10);
        text_free(&first);
        text_free(&second);
        rehearsal_close(&one);
        rehearsal_close(&other);
    }
}

static void senseless_options_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *workload, *settings, *message;
    } trials[] = {
        {"hot_row", "hot_rows=5 rows=4", "hot_rows = 5 is more than rows = 4"},
        {"hot_row", "rows=8 accesses=8 hot_rows=2",
         "accesses = 8 needs 7 different cold rows, but rows = 8 and hot_rows = 2 leave 6"},
        {"hot_row", "rows=7 hot_rows=0",
         "accesses = 8 needs 8 different cold rows, but rows = 7 and hot_rows = 0 leave 7"},
        {"hot_row", "hot_access=increment app_time=1ms",
         "app_time has no place with hot_access = increment, which reads and writes in one statement"},
        {"hot_row", "hot_rows=0 app_time=exp(1ms)",
         "app_time has no place with hot_rows = 0: it passes between reading a hot row and writing it"},
        {"bank", "access=increment app_time=1ms",
         "app_time has no place with access = increment, which reads and writes in one statement"},
        {"acl87", "reads_min=13", "reads_min = 13 is more than reads_max = 12"},
        {"acl87", "rows=11", "reads_max = 12 is more than rows = 11: a transaction's pages are distinct"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct rehearsal world;
        assert_false(rehearsal_check(&world, trials[i].workload, trials[i].settings));
        assert_string_equal(text_string(&world.said), trials[i].message);
        rehearsal_close(&world);
    }
}

static void remaining_rows_are_counted(void **state) {
    (void)state;
    static const struct {
        const char *workload, *settings, *said, *left;
    } trials[] = {
        {"hot_row", "accesses=3 hot_position=middle app_time=1s", "r(x) u(y) think w(y,1) r(z)! c", "3 2 2 2 1 0 0"},
        {"hot_row", "accesses=2 hot_access=increment", "w(x,+=1) r(y)! c", "2 1 0 0"},
        {"bank", "audit_fraction=1 rows=7", "q(1..7)! c", "7 0 0"},
        {"acl87", "reads_min=2 reads_max=2 write_probability=0", "r(x) r(y)! c", "2 1 0 0"},
        {"acl87", "reads_min=2 reads_max=2 write_probability=1", "r(x) r(y) w(x,1) w(y,1)! c", "2 2 2 1 0 0"},
        {"idle", "statements=1", "think c", "0 0 0"},
    };
    struct rehearsal world;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        rehearsal_open(&world, trials[i].workload, trials[i].settings);
        assert_string_equal(rehearsal_next(&world, 1), trials[i].said);
        assert_string_equal(text_string(&world.left), trials[i].left);
        rehearsal_close(&world);
    }
    static const char *const transfers[][2] = {{"app_time=1s", "2 2 2 2 1 0 0"}, {"access=increment", "2 1 0 0"}};
    for (int i = 0; i < 2; i++) {
        rehearsal_open(&world, "bank", transfers[i][0]);
        rehearsal_next(&world, 1);
        assert_string_equal(text_string(&world.left), transfers[i][1]);
        rehearsal_close(&world);
    }
}

/* A statement that fails, the commit included, makes the program roll back, wherever it was. */
static void errors_roll_back(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"hot_row", "accesses=3 hot_position=middle write_fraction=0.5 app_time=1ms"},
        {"hot_row", "accesses=3 hot_access=increment"},
        {"bank", "app_time=1ms"},
        {"bank", "access=increment overdraft=refused"},
        {"bank", "audit_fraction=1 rows=5"},
        {"acl87", ""},
        {"seats", "app_time=1ms"},
        {"smallbank", ""},
        {"phantom", "sum_fraction=1 pause=1ms"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct rehearsal world;
        rehearsal_open(&world, trials[i].options, trials[i].expected);
        for (uint64_t n = 1; n <= 20; n++) {
            int steps = 1 + rehearsal_count_of(rehearsal_next(&world, n), " ");
            for (world.fail_at = 0; world.fail_at < steps; world.fail_at++) {
                const char *said = rehearsal_run(&world);
                assert_true(rehearsal_ends_with(said, " a"));
                assert_int_equal(rehearsal_count_of(said, " "), world.fail_at + 1);
            }
            world.fail_at = REHEARSAL_NEVER;
        }
        rehearsal_close(&world);
    }
}

static void acl87_steps(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"reads_min=3 reads_max=3 write_probability=0", "r(x) r(y) r(z)! c"},
        {"reads_min=3 reads_max=3 write_probability=1", "r(x) r(y) r(z) w(x,1) w(y,1) w(z,1)! c"},
        {"reads_min=1 reads_max=1 write_probability=1 rollback=1", "r(x) w(x,1)! a"},
    };
    REHEARSAL_TRIALS("acl87", 0, trials);
}

static void acl87_draws(void **state) {
    (void)state;
    enum { TRIALS = 30000 };
    int64_t sizes[13] = {0}, reads = 0, writes = 0, in_order = 0;
    struct rehearsal world;
    rehearsal_open(&world, "acl87", "");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        const char *said = rehearsal_next(&world, n);
        assert_int_equal(world.last_locks, 1);
        assert_true(rehearsal_ends_with(said, "! c"));
        assert_int_equal(world.name_count,
                         rehearsal_count_of(said, "r(")); /* all distinct, none written that was not read */
        assert_true(world.name_count >= 4 && world.name_count <= 12);
        sizes[world.name_count]++;
        reads += world.name_count;
        writes += rehearsal_count_of(said, "w(");
        in_order += rehearsal_count_of(said, "w(") == 0 || strstr(strstr(said, "w("), "r(") == NULL;
    }
    for (int size = 4; size <= 12; size++) {
        rehearsal_assert_share(sizes[size], TRIALS, 1.0 / 9);
    }
    rehearsal_assert_share(writes, reads, 0.25);
    assert_int_equal(in_order, TRIALS);
    assert_int_equal(rehearsal_sum(&world), writes);
    rehearsal_expect_audit(&world, writes, AUDIT_OK, LEVEL_SI, 0, "");
    struct text message = {0};
    text_add(&message, "2 of %d committed increments were lost: the rows of pages add up to %d", (int)writes,
             (int)writes - 2);
    rehearsal_expect_audit(&world, writes - 2, AUDIT_BROKEN, LEVEL_SI, 2, text_string(&message));
    text_free(&message);
    rehearsal_close(&world);
}

static void idle_steps(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"", "c"}, {"statements=3 think=exp(1ms)", "think think think c"}, {"statements=1 rollback=1", "think a"}};
    REHEARSAL_TRIALS("idle", 0, trials);
    struct rehearsal world;
    rehearsal_open(&world, "idle", "");
    assert_int_equal(world.store.table_count, 0);
    assert_int_equal(rehearsal_audit(&world).verdict, AUDIT_NONE);
    rehearsal_close(&world);
}

TEST_GROUP(workloads, cmocka_unit_test(registry_is_complete), cmocka_unit_test(arguments_depend_on_the_key_alone),
           cmocka_unit_test(senseless_options_are_refused), cmocka_unit_test(remaining_rows_are_counted),
           cmocka_unit_test(errors_roll_back), cmocka_unit_test(acl87_steps), cmocka_unit_test(acl87_draws),
           cmocka_unit_test(idle_steps))
