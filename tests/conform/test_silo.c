/* test_silo.c - locks for the length of a validation, and answers that wait for the log of others (notation:
 * support/script.h). */
#include "tests/support/script.h"

#include <string.h>

#define MILLISECOND INT64_C(1000000)

static void what_was_read_must_be_the_same_version(void **state) {
    (void)state;
    script_expect("silo", NULL, "r2(x) w1(x,1) w2(y,1) c1 c2", "r2(x)=0 w1(x,1)=0 w2(y,1)=0 c1 k2:validation");
    script_expect("silo", NULL, "r1(y) w2(x,5) c2 r1(x) c1", "r1(y)=0 w2(x,5)=0 c2 r1(x)=5 c1");
    script_expect("silo", NULL, "r1(x) w2(x,5) c2 r1(x) c1", "r1(x)=0 w2(x,5)=0 c2 r1(x)=5 k1:validation");
    script_expect("silo", NULL, "r2(x) w1(x,1) w2(y,1) c2 c1", "r2(x)=0 w1(x,1)=0 w2(y,1)=0 c2 c1");
    script_expect("silo", NULL, "w1(x,1) w2(x,2) c2 c1 r3(x) c3", "w1(x,1)=0 w2(x,2)=0 c2 c1 r3(x)=1 c3");
    script_expect("silo", NULL, "w1(x,5) d2(x) c2 c1", "w1(x,5)=0 d2(x)=0 c2 k1:validation");
    script_expect("silo", NULL, "w1(x,5) r1(x) c1", "w1(x,5)=0 r1(x)=5 c1");
}

static void what_is_undone_counts_as_read(void **state) {
    (void)state;
    script_expect("silo", NULL, "p1(1) r1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "r1(x)=0 r2(y)=0 w2(x,7)=0 c2 w1(y,5)=0 k1:validation");
    /* an own version is not a version of the others: the first of those that was read is the one that counts */
    script_expect("silo", NULL, "p1(1) w1(x,5) r1(x) f1(1) w2(x,7) c2 r1(x) c1",
                  "w1(x,5)=0 r1(x)=5 w2(x,7)=0 c2 r1(x)=7 c1");
    script_expect("silo", NULL, "i1(x,5) d2(x) c2 c1", "i1(x,5)#duplicate d2(x)=0 c2 k1:validation");
}

static void ranges_are_validated_again(void **state) {
    (void)state;
    script_expect("silo", NULL, "r1(7..9) i2(8,1) c2 w1(x,1) c1", "r1(7..9)=- i2(8,1)=0 c2 w1(x,1)=0 k1:validation");
    script_expect("silo", NULL, "r1(1..2) d2(y) c2 w1(z,1) c1", "r1(1..2)=1:0,2:0 d2(y)=0 c2 w1(z,1)=0 k1:validation");
    script_expect("silo", NULL, "r1(1..2) w2(y,1) c2 w1(z,1) c1",
                  "r1(1..2)=1:0,2:0 w2(y,1)=0 c2 w1(z,1)=0 k1:validation");
    script_expect("silo", NULL, "r1(1..2) d2(z) i2(8,1) c2 w1(6,1) c1",
                  "r1(1..2)=1:0,2:0 d2(z)=0 i2(8,1)=0 c2 w1(6,1)=0 c1");
}

static const struct script_prices prices = {.validate_ms = 10};
#define EXPECT_PRICED(schedule, expected) script_expect_priced("silo", NULL, &prices, (schedule), (expected))

/* The validation of T1 takes 10 ms for each row it has read; its write locks are held all the while. */
static void readers_wait_for_a_validation(void **state) {
    (void)state;
    EXPECT_PRICED("r1(y) w1(x,1) c1 r2(x) c2", "r1(y)=0 w1(x,1)=0 r2(x)?1 c1 r2(x)!=1 c2");
    EXPECT_PRICED("r1(y) w1(x,1) c1 r2(y) c2", "r1(y)=0 w1(x,1)=0 r2(y)=0 c1 c2");
    EXPECT_PRICED("r1(y) w1(x,1) c1 u2(x):nowait c2", "r1(y)=0 w1(x,1)=0 u2(x):nowait#nowait c2 c1");
    EXPECT_PRICED("r1(y) w1(x,1) c1 u2(1..2):skip c2", "r1(y)=0 w1(x,1)=0 u2(1..2):skip=2:0 k2:validation c1");
    EXPECT_PRICED("r1(y) w1(x,1) c1 w2(x,2) c2 r3(x) c3",
                  "r1(y)=0 w1(x,1)=0 w2(x,2)?1 r3(x)?1 c1 w2(x,2)!=1 c2 r3(x)!=2 c3");
    /* rows that are about to be inserted are met by scans */
    EXPECT_PRICED("r1(y) i1(8,1) c1 r2(7..9) c2", "r1(y)=0 i1(8,1)=0 r2(7..9)?1 c1 r2(7..9)!=8:1 c2");
}

static void a_lock_of_another_fails_the_validation(void **state) {
    (void)state;
    EXPECT_PRICED("r1(y) w1(x,1) r2(x) w2(z,1) c1 c2", "r1(y)=0 w1(x,1)=0 r2(x)=0 w2(z,1)=0 k2:validation c1");
    EXPECT_PRICED("r1(y) i1(8,1) r2(7..9) w2(z,1) c1 c2", "r1(y)=0 i1(8,1)=0 r2(7..9)=- w2(z,1)=0 k2:validation c1");
    EXPECT_PRICED("r1(y) w1(x,1) r2(z) w2(y,1) c1 c2", "r1(y)=0 w1(x,1)=0 r2(z)=0 w2(y,1)=0 c1 c2");
}

/* T2 holds y, but not yet 5, while it waits for z. */
static void locks_are_taken_in_the_order_of_keys(void **state) {
    (void)state;
    EXPECT_PRICED("r1(6) w1(z,1) w2(z,2) w2(y,2) w2(5,2) c1 c2 r3(y) r4(5) c3 c4",
                  "r1(6)=0 w1(z,1)=0 w2(z,2)=0 w2(y,2)=0 w2(5,2)=0 c2?1 r3(y)?2 r4(5)=0 c1 c2 r3(y)!=2 c4 c3");
}

struct timed {
    const char *schedule;
    int64_t responses_ms; /* the sum of all response times: each transaction is there from the start */
};

/* The force of a log takes 10 ms; the commit point comes before it. */
static void answers_wait_for_the_log_of_those_read_from(void **state) {
    (void)state;
    static const struct timed cases[] = {
        {"w1(x,1) c1", 11},
        {"w1(x,1) c1 r2(y) c2", 11 + 3},
        {"w1(x,1) c1 r2(x) c2", 11 + 11},
        {"w1(x,1) c1 w2(x,2) c2", 11 + 13},
        {"w1(x,1) c1 w2(x,2) c2 r3(x) r3(6) c3", 11 + 13 + 13},
        {"d1(x) c1 r2(1..2) c2", 11 + 11}, /* what is not there any more was read too */
        {"d1(x) c1 r2(2..3) c2", 11 + 3},
        {"w1(x,1) c1 r2(x) a2", 11 + 3}, /* who rolls back promises nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script script;
        script_open(&script, "silo", NULL, cases[i].schedule);
        script.spec.cost.log_force = distribution_constant(10 * MILLISECOND);
        script_run(&script);
        assert_int_equal(script.committed_ns[1], 1 * MILLISECOND);
        double sum = script.result.response_sum_ns;
        if (strstr(cases[i].schedule, "a2") != NULL) {
            sum += 3e6;
        }
        if ((int64_t)sum != cases[i].responses_ms * MILLISECOND) {
            print_error("%s: %.0f ms\n", cases[i].schedule, sum / 1e6);
            fail();
        }
        script_close(&script);
    }
}

TEST_GROUP(silo, cmocka_unit_test(what_was_read_must_be_the_same_version),
           cmocka_unit_test(what_is_undone_counts_as_read), cmocka_unit_test(ranges_are_validated_again),
           cmocka_unit_test(readers_wait_for_a_validation), cmocka_unit_test(a_lock_of_another_fails_the_validation),
           cmocka_unit_test(locks_are_taken_in_the_order_of_keys),
           cmocka_unit_test(answers_wait_for_the_log_of_those_read_from))
