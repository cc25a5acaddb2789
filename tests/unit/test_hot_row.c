/* test_hot_row.c - the hot row: the steps of each form of access, which rows a transaction gets, and what its audit
 * finds. The notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <stdio.h>
#include <string.h>

static void steps(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"accesses=3", "u(h) w(h,1) r(x) r(y)! c"},
        {"accesses=3 hot_access=read_write", "r(h) w(h,1) r(x) r(y)! c"},
        {"accesses=3 hot_access=increment", "w(h,+=1) r(x) r(y)! c"},
        {"accesses=1", "u(h) w(h,1)! c"},
        {"accesses=1 hot_access=increment", "w(h,+=1)! c"},
        {"accesses=3 hot_position=middle", "r(x) u(h) w(h,1) r(y)! c"},
        {"accesses=4 hot_position=middle", "r(x) r(y) u(h) w(h,1) r(z)! c"},
        {"accesses=3 hot_position=last", "r(x) r(y) u(h) w(h,1)! c"},
        {"accesses=3 hot_position=last hot_access=increment", "r(x) r(y) w(h,+=1)! c"},
        {"accesses=2 app_time=5ms", "u(h) think w(h,1) r(x)! c"},
        {"accesses=2 app_time=exp(5ms) hot_access=read_write hot_position=last", "r(x) r(h) think w(h,1)! c"},
        {"accesses=3 write_fraction=100%", "u(h) w(h,1) w(x,+=1) w(y,+=1)! c"},
        {"accesses=3 order=by_key hot_position=last", "u(h) w(h,1) r(x) r(y)! c"},
        {"accesses=2 rollback=100%", "u(h) w(h,1) r(x)! a"},
    };
    REHEARSAL_TRIALS("hot_row", 1, trials);
    static const struct rehearsal_trial cold[] = {
        {"accesses=3 hot_rows=0", "r(x) r(y) r(z)! c"},
        {"accesses=3 hot_rows=0 write_fraction=1", "w(x,+=1) w(y,+=1) w(z,+=1)! c"},
        {"accesses=2 rows=2 hot_rows=0 hot_access=increment hot_position=last", "r(x) r(y)! c"},
    };
    REHEARSAL_TRIALS("hot_row", 0, cold);
}

/* The value written is the one that was read, plus 1: a restart reads afresh, and a write in between is lost. */
static void writes_what_it_read(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "hot_row", "accesses=1 rows=1");
    world.hot_rows = 1;
    world.values[1] = 41;
    assert_string_equal(rehearsal_next(&world, 1), "u(h) w(h,42)! c");
    assert_string_equal(rehearsal_run(&world), "u(h) w(h,43)! c");
    rehearsal_close(&world);
}

/* Runs transactions and checks what each must be: `accesses` different rows, one of them hot, one last lock. */
static void check_accesses(const char *settings, int accesses, int64_t hot_rows, int transactions) {
    struct rehearsal world;
    rehearsal_open(&world, "hot_row", settings);
    world.hot_rows = 0; /* so that hot rows are named and counted as well */
    for (int n = 1; n <= transactions; n++) {
        const char *said = rehearsal_next(&world, (uint64_t)n);
        assert_true(rehearsal_ends_with(said, "! c"));
        assert_int_equal(world.last_locks, 1);
        assert_int_equal(world.name_count, accesses);
        assert_int_equal(rehearsal_count_of(said, "w("), hot_rows > 0);
        int hot = 0;
        for (int i = 0; i < world.name_count; i++) {
            assert_in_range(world.names[i], 1, world.store.tables[0].rows);
            hot += world.names[i] <= hot_rows;
        }
        assert_int_equal(hot, hot_rows > 0);
    }
    rehearsal_close(&world);
}

static void rows_are_distinct(void **state) {
    (void)state;
    check_accesses("rows=9 accesses=8", 8, 1, 1000);
    check_accesses("rows=8 accesses=8", 8, 1, 1000);
    check_accesses("rows=20 accesses=8 hot_rows=13 hot_position=random", 8, 13, 1000);
    check_accesses("rows=8 accesses=8 hot_rows=0 order=by_key", 8, 0, 1000);
    check_accesses("rows=30 accesses=10 theta=0.99", 10, 1, 1000);
    check_accesses("rows=16 accesses=16 theta=1 hot_rows=0", 16, 0, 300);
    check_accesses("rows=40 accesses=40 theta=1.2", 40, 1, 100);
    check_accesses("rows=12 accesses=12 theta=10", 12, 1, 20); /* the last ranks come once in 10^10 draws */
    check_accesses("rows=300 accesses=256 theta=0.8 hot_rows=3", 256, 3, 20);
    check_accesses("rows=10000000 accesses=256", 256, 1, 20);
}

static void check_sorted(const char *settings, int accesses, uint64_t transactions) {
    struct rehearsal world;
    rehearsal_open(&world, "hot_row", settings);
    for (uint64_t n = 1; n <= transactions; n++) {
        rehearsal_next(&world, n);
        assert_int_equal(world.name_count, accesses);
        for (int k = 1; k < world.name_count; k++) {
            assert_true(world.names[k - 1] < world.names[k]);
        }
    }
    rehearsal_close(&world);
}

static void by_key_is_sorted(void **state) {
    (void)state;
    static const char *const settings[] = {"accesses=20 rows=50 order=by_key hot_rows=7 write_fraction=0",
                                           "accesses=20 rows=50 order=by_key hot_rows=0 theta=0.9"};
    for (int i = 0; i < 2; i++) {
        check_sorted(settings[i], 20, 300);
    }
    for (int accesses = 1; accesses <= 17; accesses++) {
        char few[80];
        snprintf(few, sizeof few, "accesses=%d rows=40 order=by_key hot_rows=2 write_fraction=50%%", accesses);
        check_sorted(few, accesses, 100);
    }
}

static void positions_and_rows_are_uniform(void **state) {
    (void)state;
    enum { ACCESSES = 5, HOT = 4, TRIALS = 40000 };
    int64_t at[ACCESSES] = {0}, row[HOT + 1] = {0};
    struct rehearsal world;
    rehearsal_open(&world, "hot_row", "rows=100 accesses=5 hot_rows=4 hot_position=random");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        rehearsal_next(&world, n);
        for (int i = 0; i < ACCESSES; i++) {
            if (world.names[i] <= HOT) {
                at[i]++;
                row[world.names[i]]++;
            }
        }
    }
    for (int i = 0; i < ACCESSES; i++) {
        rehearsal_assert_share(at[i], TRIALS, 1.0 / ACCESSES);
    }
    for (int i = 1; i <= HOT; i++) {
        rehearsal_assert_share(row[i], TRIALS, 1.0 / HOT);
    }
    rehearsal_close(&world);
}

/* Zipf with theta = 1 over 5 rows: the chance of the k-th is 1 / (k H), H = 1 + 1/2 + ... + 1/5 = 137/60. */
static void cold_rows_are_skewed(void **state) {
    (void)state;
    enum { TRIALS = 40000 };
    int64_t row[7] = {0};
    struct rehearsal world;
    rehearsal_open(&world, "hot_row", "rows=6 accesses=2 theta=1");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        rehearsal_next(&world, n);
        row[world.names[1]]++;
    }
    assert_int_equal(row[1], 0); /* the hot one */
    for (int k = 1; k <= 5; k++) {
        rehearsal_assert_share(row[k + 1], TRIALS, 60.0 / 137 / k);
    }
    rehearsal_close(&world);
}

static void shares(void **state) {
    (void)state;
    enum { TRIALS = 20000 };
    struct rehearsal plain, writing, shared;
    rehearsal_open(&plain, "hot_row", "accesses=4 hot_access=increment");
    rehearsal_open(&writing, "hot_row", "accesses=4 hot_access=increment write_fraction=30%");
    rehearsal_open(&shared, "hot_row", "accesses=4 hot_access=increment write_fraction=30% rollback=10%");
    int64_t writes = 0, rollbacks = 0;
    for (uint64_t n = 1; n <= TRIALS; n++) {
        rehearsal_next(&plain, n);
        const char *committing = rehearsal_next(&writing, n), *said = rehearsal_next(&shared, n);
        writes += rehearsal_count_of(said, "+=1") - 1;
        rollbacks += rehearsal_ends_with(said, " a");
        assert_memory_equal(plain.names, shared.names, 4 * sizeof plain.names[0]); /* the rows are the same, */
        assert_int_equal(strlen(said), strlen(committing));                        /* and what is written of them */
        assert_memory_equal(said, committing, strlen(said) - 1);
    }
    rehearsal_assert_share(writes, 3 * TRIALS, 0.3);
    rehearsal_assert_share(rollbacks, TRIALS, 0.1);
    rehearsal_close(&plain);
    rehearsal_close(&writing);
    rehearsal_close(&shared);
}

/* The place of the hot access is drawn after the writes, be they none, some or all. */
static void shares_do_not_move_the_hot_access(void **state) {
    (void)state;
    static const char *const settings[] = {"accesses=6 hot_position=random",
                                           "accesses=6 hot_position=random write_fraction=30%",
                                           "accesses=6 hot_position=random write_fraction=1"};
    struct rehearsal worlds[3];
    for (int i = 0; i < 3; i++) {
        rehearsal_open(&worlds[i], "hot_row", settings[i]);
    }
    for (uint64_t n = 1; n <= 100; n++) {
        for (int i = 0; i < 3; i++) {
            rehearsal_next(&worlds[i], n);
            assert_memory_equal(worlds[0].names, worlds[i].names, 6 * sizeof worlds[0].names[0]);
        }
    }
    for (int i = 0; i < 3; i++) {
        rehearsal_close(&worlds[i]);
    }
}

static void audit_counts_lost_updates(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "hot_row", "accesses=3 write_fraction=1");
    rehearsal_expect_audit(&world, 0, AUDIT_OK, LEVEL_SI, 0, "");
    for (uint64_t n = 1; n <= 10; n++) {
        rehearsal_next(&world, n);
    }
    assert_int_equal(rehearsal_sum(&world), 30);
    rehearsal_expect_audit(&world, 30, AUDIT_OK, LEVEL_SI, 0, "");
    rehearsal_expect_audit(&world, 23, AUDIT_BROKEN, LEVEL_SI, 7,
                           "7 of 30 committed increments were lost: the rows of counters add up to 23");
    rehearsal_expect_audit(&world, 31, AUDIT_BROKEN, LEVEL_SI, 0,
                           "the rows of counters add up to 31, 1 more than the 30 increments that were committed");
    rehearsal_close(&world);
    rehearsal_open(&world, "hot_row", "accesses=1 hot_access=increment");
    rehearsal_next(&world, 1);
    rehearsal_expect_audit(&world, 1, AUDIT_OK, LEVEL_RC, 0, "");
    rehearsal_close(&world);
    rehearsal_open(&world, "hot_row", "accesses=4 write_fraction=1 rollback=1"); /* what rolls back is not counted */
    rehearsal_next(&world, 1);
    rehearsal_expect_audit(&world, 0, AUDIT_OK, LEVEL_SI, 0, "");
    rehearsal_close(&world);
}

TEST_GROUP(hot_row, cmocka_unit_test(steps), cmocka_unit_test(writes_what_it_read), cmocka_unit_test(rows_are_distinct),
           cmocka_unit_test(by_key_is_sorted), cmocka_unit_test(positions_and_rows_are_uniform),
           cmocka_unit_test(cold_rows_are_skewed), cmocka_unit_test(shares),
           cmocka_unit_test(shares_do_not_move_the_hot_access), cmocka_unit_test(audit_counts_lost_updates))
