/* test_ycsb.c - the key-value mix: the steps of each kind of request, which rows a transaction gets and how often, and
 * what its audit finds. The notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <stdio.h>
#include <string.h>

static void steps(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"requests=3 read_fraction=1", "r(x) r(y) r(z)! c"},
        {"requests=3 read_fraction=0", "w(x,+=1) w(y,+=1) w(z,+=1)! c"},
        {"requests=2 read_fraction=0 update=read_write", "r(x) w(x,1) r(y) w(y,1)! c"},
        {"requests=2 read_fraction=0 update=blind", "w(x,1) w(y,1)! c"},
        {"requests=2 rows=4 insert_fraction=1", "i(5) i(6)! c"},
        {"requests=2 rows=1 distinct=no scan_fraction=1 scan_length=1", "q(1..1) q(1..1)! c"},
        {"requests=2 rows=1 distinct=no read_fraction=0", "w(x,+=1) w(x,+=1)! c"},
        {"requests=1 rows=1 read_fraction=1 rollback=1", "r(x)! a"},
        {"requests=2 rows=2 read_fraction=1 order=by_key", "r(x) r(y)! c"},
    };
    REHEARSAL_TRIALS("ycsb", 0, trials);
}

/* read_write writes the value it read, plus 1, whatever an earlier attempt saw; blind writes the number of the
 * transaction. */
static void values_written(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "ycsb", "requests=1 rows=1 read_fraction=0 update=read_write");
    world.values[1] = 41;
    assert_string_equal(rehearsal_next(&world, 1), "r(x) w(x,42)! c");
    assert_string_equal(rehearsal_run(&world), "r(x) w(x,43)! c");
    rehearsal_close(&world);
    rehearsal_open(&world, "ycsb", "requests=1 rows=1 read_fraction=0 update=blind");
    assert_string_equal(rehearsal_next(&world, 7), "w(x,7)! c");
    rehearsal_close(&world);
}

/* A sequence: numbers go up behind the last row, also for an attempt after another; what rolls back gives none back. */
static void inserts_follow_the_last_row(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "ycsb", "requests=2 rows=10 insert_fraction=1");
    assert_string_equal(rehearsal_next(&world, 1), "i(11) i(12)! c");
    assert_string_equal(rehearsal_run(&world), "i(13) i(14)! c");
    world.fail_at = 1;
    assert_string_equal(rehearsal_run(&world), "i(15) i(16)! a");
    world.fail_at = REHEARSAL_NEVER;
    assert_string_equal(rehearsal_next(&world, 9), "i(17) i(18)! c");
    rehearsal_close(&world);
    rehearsal_open(&world, "ycsb", "requests=6 rows=10 insert_fraction=50% read_fraction=0 order=by_key");
    for (uint64_t n = 1; n <= 100; n++) {
        const char *said = rehearsal_next(&world, n), *insert = strchr(said, 'i');
        assert_true(insert == NULL || strchr(insert, 'w') == NULL);
        for (int i = 1; i < world.name_count; i++) {
            assert_true(world.names[i - 1] < world.names[i]);
        }
    }
    rehearsal_close(&world);
}

/* Runs transactions and checks what each must be: so many different rows, in order if that is asked for, one last
 * lock. */
static void check_rows(const char *settings, int requests, bool sorted, int transactions) {
    struct rehearsal world;
    rehearsal_open(&world, "ycsb", settings);
    for (int n = 1; n <= transactions; n++) {
        const char *said = rehearsal_next(&world, (uint64_t)n);
        assert_true(rehearsal_ends_with(said, "! c"));
        assert_int_equal(world.last_locks, 1);
        assert_int_equal(world.name_count, requests);
        for (int i = 0; i < world.name_count; i++) {
            assert_in_range(world.names[i], 1, world.store.tables[0].rows);
            assert_true(!sorted || i == 0 || world.names[i - 1] < world.names[i]);
        }
    }
    rehearsal_close(&world);
}

static void rows_are_distinct(void **state) {
    (void)state;
    check_rows("rows=16 requests=16", 16, false, 500);
    check_rows("rows=17 requests=16 theta=0.9", 16, false, 500);
    check_rows("rows=20 requests=16 theta=0.6 order=by_key update=read_write", 16, true, 500);
    check_rows("rows=1000 requests=256 theta=1.2", 256, false, 20);
    check_rows("rows=40 requests=12 order=by_key", 12, true, 500);
}

static bool has_repetition(struct rehearsal *world, int requests) { return world->name_count < requests; }

static void rows_may_repeat(void **state) {
    (void)state;
    enum { TRIALS = 20000, ROWS = 50 };
    struct rehearsal world;
    rehearsal_open(&world, "ycsb", "rows=50 requests=2 distinct=no");
    int repetitions = 0;
    for (uint64_t n = 1; n <= TRIALS; n++) {
        rehearsal_next(&world, n);
        repetitions += has_repetition(&world, 2);
    }
    rehearsal_assert_share(repetitions, TRIALS, 1.0 / ROWS);
    rehearsal_close(&world);
}

/* Zipf with theta = 1 over 5 rows: the chance of the k-th is 1 / (k H), H = 1 + 1/2 + ... + 1/5 = 137/60. Both ways of
 * drawing must have it for the first row of a transaction. */
static void rows_are_skewed(void **state) {
    (void)state;
    enum { TRIALS = 40000 };
    static const char *const settings[] = {"rows=5 requests=2 theta=1", "rows=5 requests=2 theta=1 distinct=no"};
    for (int s = 0; s < 2; s++) {
        int64_t row[6] = {0};
        struct rehearsal world;
        rehearsal_open(&world, "ycsb", settings[s]);
        for (uint64_t n = 1; n <= TRIALS; n++) {
            rehearsal_next(&world, n);
            row[world.names[0]]++;
        }
        for (int k = 1; k <= 5; k++) {
            rehearsal_assert_share(row[k], TRIALS, 60.0 / 137 / k);
        }
        rehearsal_close(&world);
    }
}

static void shares(void **state) {
    (void)state;
    enum { TRIALS = 10000, REQUESTS = 8 };
    int64_t reads = 0, writes = 0, scans = 0, inserts = 0, rollbacks = 0;
    struct rehearsal world;
    rehearsal_open(&world, "ycsb",
                   "requests=8 rows=1000 read_fraction=75% scan_fraction=20% insert_fraction=10% rollback=5%");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        const char *said = rehearsal_next(&world, n);
        reads += rehearsal_count_of(said, "r(");
        writes += rehearsal_count_of(said, "w(");
        scans += rehearsal_count_of(said, "q(");
        inserts += rehearsal_count_of(said, "i(");
        rollbacks += rehearsal_ends_with(said, " a");
    }
    assert_int_equal(reads + writes + scans + inserts, TRIALS * REQUESTS);
    rehearsal_assert_share(scans, TRIALS * REQUESTS, .2);
    rehearsal_assert_share(inserts, TRIALS * REQUESTS, .1);
    rehearsal_assert_share(reads, TRIALS * REQUESTS, .7 * .75);
    rehearsal_assert_share(writes, TRIALS * REQUESTS, .7 * .25);
    rehearsal_assert_share(rollbacks, TRIALS, .05);
    rehearsal_close(&world);
}

/* The scans of a transcript, one after another. */
static void scans_of(const char *said, char *scans) {
    for (const char *at = said; (at = strstr(at, "q(")) != NULL; at++) {
        size_t length = strcspn(at, " ");
        memcpy(scans, at, length);
        scans += length;
    }
    *scans = '\0';
}

/* Changing a share changes nothing else: the rows stay, and so does what the other share decides. */
static void shares_are_independent(void **state) {
    (void)state;
    struct rehearsal plain, writing, blind;
    rehearsal_open(&plain, "ycsb", "requests=6 read_fraction=1");
    rehearsal_open(&writing, "ycsb", "requests=6 read_fraction=40% rollback=50%");
    rehearsal_open(&blind, "ycsb", "requests=6 read_fraction=40% scan_length=7");
    for (uint64_t n = 1; n <= 1000; n++) {
        rehearsal_next(&plain, n);
        const char *said = rehearsal_next(&writing, n), *committed = rehearsal_next(&blind, n);
        assert_memory_equal(plain.names, writing.names, 6 * sizeof plain.names[0]);
        assert_memory_equal(said, committed, strlen(said) - 1);
    }
    rehearsal_close(&plain);
    rehearsal_close(&writing);
    rehearsal_close(&blind);
    rehearsal_open(&plain, "ycsb", "requests=6 read_fraction=1 scan_fraction=30%");
    rehearsal_open(&writing, "ycsb", "requests=6 read_fraction=40% update=blind scan_fraction=30%");
    for (uint64_t n = 1; n <= 1000; n++) {
        char scans[2][500];
        scans_of(rehearsal_next(&plain, n), scans[0]);
        scans_of(rehearsal_next(&writing, n), scans[1]);
        assert_string_equal(scans[0], scans[1]);
    }
    rehearsal_close(&plain);
    rehearsal_close(&writing);
}

/* A scan spans 1 to scan_length keys from a drawn row on, all alike likely, and may reach behind the last row. */
static void scans(void **state) {
    (void)state;
    enum { TRIALS = 20000, LENGTH = 4, ROWS = 3 };
    int64_t lengths[LENGTH + 1] = {0}, beyond = 0;
    struct rehearsal world;
    rehearsal_open(&world, "ycsb", "requests=1 rows=3 scan_fraction=1 scan_length=4");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        int first, last;
        assert_int_equal(sscanf(rehearsal_next(&world, n), "q(%d..%d)! c", &first, &last), 2);
        assert_in_range(first, 1, ROWS);
        assert_in_range(last - first + 1, 1, LENGTH);
        lengths[last - first + 1]++;
        beyond += last > ROWS;
    }
    for (int length = 1; length <= LENGTH; length++) {
        rehearsal_assert_share(lengths[length], TRIALS, 1.0 / LENGTH);
    }
    rehearsal_assert_share(beyond, TRIALS, (1 + 2 + 3) / 12.0);
    rehearsal_close(&world);
}

static void audit_counts_lost_updates(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "ycsb", "requests=3 read_fraction=0 update=read_write");
    rehearsal_expect_audit(&world, 0, AUDIT_OK, LEVEL_SI, 0, "");
    for (uint64_t n = 1; n <= 10; n++) {
        rehearsal_next(&world, n);
    }
    assert_int_equal(rehearsal_sum(&world), 30);
    rehearsal_expect_audit(&world, 30, AUDIT_OK, LEVEL_SI, 0, "");
    rehearsal_expect_audit(&world, 23, AUDIT_BROKEN, LEVEL_SI, 7,
                           "7 of 30 committed increments were lost: the rows of usertable add up to 23");
    rehearsal_close(&world);
    rehearsal_open(&world, "ycsb", "requests=4 read_fraction=0");
    rehearsal_next(&world, 1);
    rehearsal_expect_audit(&world, 4, AUDIT_OK, LEVEL_RC, 0, "");
    rehearsal_expect_audit(&world, 5, AUDIT_BROKEN, LEVEL_RC, 0,
                           "the rows of usertable add up to 5, 1 more than the 4 increments that were committed");
    rehearsal_close(&world);
    rehearsal_open(&world, "ycsb", "requests=4 read_fraction=0 rollback=1"); /* what rolls back is not counted */
    rehearsal_next(&world, 1);
    rehearsal_expect_audit(&world, 0, AUDIT_OK, LEVEL_RC, 0, "");
    rehearsal_close(&world);
}

static void expect_row_audit(struct rehearsal *world, int64_t rows, enum workload_verdict verdict,
                             const char *message) {
    world->store.tables[0].committed_rows = rows;
    struct workload_audit audit = rehearsal_audit(world);
    assert_int_equal(audit.verdict, verdict);
    assert_int_equal(audit.level, LEVEL_RC);
    assert_string_equal(text_string(&audit.message), message);
    text_free(&audit.message);
}

static void audit_counts_rows(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "ycsb", "requests=3 rows=100 insert_fraction=1 update=blind");
    rehearsal_next(&world, 1);
    rehearsal_next(&world, 2);
    expect_row_audit(&world, 106, AUDIT_OK, "");
    expect_row_audit(&world, 105, AUDIT_BROKEN, "usertable has 105 rows instead of 106");
    struct workload_audit audit = rehearsal_audit(&world);
    assert_false(audit.lost_updates_known); /* blind writes are no increments */
    text_free(&audit.message);
    rehearsal_close(&world);
    rehearsal_open(&world, "ycsb", "requests=1 rows=100 read_fraction=0");
    rehearsal_next(&world, 1);
    expect_row_audit(&world, 101, AUDIT_BROKEN,
                     "1 of 1 committed increments were lost: the rows of usertable add up to 0; "
                     "usertable has 101 rows instead of 100");
    rehearsal_close(&world);
}

static void senseless_options_are_refused(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"rows=15", "requests = 16 is more than rows = 15, but distinct = yes"},
        {"scan_fraction=60% insert_fraction=50%", "scan_fraction and insert_fraction are more than 100% together"},
    };
    struct rehearsal world;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        assert_false(rehearsal_check(&world, "ycsb", trials[i].options));
        assert_string_equal(text_string(&world.said), trials[i].expected);
        rehearsal_close(&world);
    }
    assert_true(rehearsal_check(&world, "ycsb", "rows=15 distinct=no scan_fraction=60% insert_fraction=40%"));
    rehearsal_close(&world);
}

static void remaining_rows_are_counted(void **state) {
    (void)state;
    static const struct {
        const char *settings, *said, *left;
    } trials[] = {
        {"requests=2 read_fraction=0 update=read_write", "r(x) w(x,1) r(y) w(y,1)! c", "2 2 1 1 0 0"},
        {"requests=2 rows=9 insert_fraction=1", "i(10) i(11)! c", "2 1 0 0"},
    };
    struct rehearsal world;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        rehearsal_open(&world, "ycsb", trials[i].settings);
        assert_string_equal(rehearsal_next(&world, 1), trials[i].said);
        assert_string_equal(text_string(&world.left), trials[i].left);
        rehearsal_close(&world);
    }
    rehearsal_open(&world, "ycsb", "requests=1 scan_fraction=1");
    for (uint64_t n = 1; n <= 100; n++) {
        int first, last, left;
        assert_int_equal(sscanf(rehearsal_next(&world, n), "q(%d..%d)", &first, &last), 2);
        assert_int_equal(sscanf(text_string(&world.left), "%d 0 0", &left), 1);
        assert_int_equal(left, last - first + 1);
    }
    rehearsal_close(&world);
}

/* A statement that fails, the commit included, makes the program roll back, wherever it was. */
static void errors_roll_back(void **state) {
    (void)state;
    static const char *const settings[] = {
        "requests=4 read_fraction=30% update=read_write rows=200 scan_fraction=20% insert_fraction=20%",
        "requests=4 theta=0.9 update=blind"};
    for (int i = 0; i < 2; i++) {
        struct rehearsal world;
        rehearsal_open(&world, "ycsb", settings[i]);
        for (uint64_t n = 1; n <= 20; n++) {
            int count = 1 + rehearsal_count_of(rehearsal_next(&world, n), " ");
            for (world.fail_at = 0; world.fail_at < count; world.fail_at++) {
                const char *said = rehearsal_run(&world);
                assert_true(rehearsal_ends_with(said, " a"));
                assert_int_equal(rehearsal_count_of(said, " "), world.fail_at + 1);
            }
            world.fail_at = REHEARSAL_NEVER;
        }
        rehearsal_close(&world);
    }
}

/* The arguments depend on the stream alone: neither on what was drawn before nor on what an earlier one left. */
static void arguments_depend_on_the_key_alone(void **state) {
    (void)state;
    static const char *const settings[] = {"scan_fraction=30% read_fraction=50% theta=0.6",
                                           "requests=40 theta=0.9 order=by_key scan_fraction=10% distinct=no"};
    for (int i = 0; i < 2; i++) {
        struct rehearsal one, other;
        rehearsal_open(&one, "ycsb", settings[i]);
        rehearsal_open(&other, "ycsb", settings[i]);
        memset(other.arguments, 0xff, other.ops->arguments_size);
        int same = 0;
        for (uint64_t n = 1; n <= 200; n++) {
            const char *said = rehearsal_next(&one, n);
            rehearsal_next(&other, 201 - n);
            assert_string_equal(rehearsal_next(&other, n), said);
            assert_int_equal(one.name_count, other.name_count);
            assert_memory_equal(one.names, other.names, (size_t)one.name_count * sizeof one.names[0]);
            rehearsal_draw(&other, 2, n);
            same += strcmp(rehearsal_run(&other), said) == 0;
        }
        assert_true(same < 10);
        rehearsal_close(&one);
        rehearsal_close(&other);
    }
}

TEST_GROUP(ycsb, cmocka_unit_test(steps), cmocka_unit_test(values_written),
           cmocka_unit_test(inserts_follow_the_last_row), cmocka_unit_test(rows_are_distinct),
           cmocka_unit_test(rows_may_repeat), cmocka_unit_test(rows_are_skewed), cmocka_unit_test(shares),
           cmocka_unit_test(shares_are_independent), cmocka_unit_test(scans),
           cmocka_unit_test(audit_counts_lost_updates), cmocka_unit_test(audit_counts_rows),
           cmocka_unit_test(senseless_options_are_refused), cmocka_unit_test(remaining_rows_are_counted),
           cmocka_unit_test(errors_roll_back), cmocka_unit_test(arguments_depend_on_the_key_alone))
