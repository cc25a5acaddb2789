/* test_occ_parallel.c - validation that does not wait for the write phases of others (notation: support/script.h). */
#include "tests/support/script.h"

#define MILLISECOND INT64_C(1000000)

static void what_committed_since_the_start_counts(void **state) {
    (void)state;
    script_expect("occ-parallel", NULL, "r2(x) w1(x,1) w2(y,1) c1 c2", "r2(x)=0 w1(x,1)=0 w2(y,1)=0 c1 k2:validation");
    script_expect("occ-parallel", NULL, "r1(y) w2(x,5) c2 r1(x) c1", "r1(y)=0 w2(x,5)=0 c2 r1(x)=5 k1:validation");
    script_expect("occ-parallel", NULL, "r2(x) w1(x,1) w2(y,1) c2 c1", "r2(x)=0 w1(x,1)=0 w2(y,1)=0 c2 c1");
    script_expect("occ-parallel", NULL, "w1(x,1) w2(x,2) c2 c1 r3(x) c3", "w1(x,1)=0 w2(x,2)=0 c2 c1 r3(x)=1 c3");
    script_expect("occ-parallel", NULL, "r1(7..9) i2(8,1) c2 w1(x,1) c1",
                  "r1(7..9)=- i2(8,1)=0 c2 w1(x,1)=0 k1:validation");
    script_expect("occ-parallel", NULL, "w1(x,5) d2(x) c2 c1", "w1(x,5)=0 d2(x)=0 c2 k1:validation");
    script_expect("occ-parallel", NULL, "p1(1) r1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "r1(x)=0 r2(y)=0 w2(x,7)=0 c2 w1(y,5)=0 k1:validation");
}

static const struct script_prices prices = {.log_force_ms = 10};
#define EXPECT_WITH_LOG(schedule, expected) script_expect_priced("occ-parallel", NULL, &prices, (schedule), (expected))

/* The log force of T1 is under way when T2 is validated. */
static void the_active_set_must_write_nothing_that_was_read_or_written(void **state) {
    (void)state;
    EXPECT_WITH_LOG("r2(x) w1(x,1) w2(y,1) c1 c2", "r2(x)=0 w1(x,1)=0 w2(y,1)=0 k2:validation c1");
    EXPECT_WITH_LOG("w1(x,1) c1 r2(x) c2", "w1(x,1)=0 r2(x)=0 k2:validation c1");
    EXPECT_WITH_LOG("w1(x,1) w2(x,2) c1 c2", "w1(x,1)=0 w2(x,2)=0 k2:validation c1");
    EXPECT_WITH_LOG("i1(8,1) c1 r2(7..9) c2", "i1(8,1)=0 r2(7..9)=- k2:validation c1");
    EXPECT_WITH_LOG("d1(x) c1 r2(1..2) c2", "d1(x)=0 r2(1..2)=1:0,2:0 k2:validation c1");
    EXPECT_WITH_LOG("i1(8,1) c1 w2(8,5) c2", "i1(8,1)=0 w2(8,5)=- k2:validation c1");
    /* it may have read what is written now: it comes before */
    EXPECT_WITH_LOG("r1(x) w1(y,1) w2(x,2) c1 c2", "r1(x)=0 w1(y,1)=0 w2(x,2)=0 c1 c2");
    EXPECT_WITH_LOG("w1(x,1) r2(y) w2(z,1) c1 c2", "w1(x,1)=0 r2(y)=0 w2(z,1)=0 c1 c2");
}

static void write_phases_overlap(void **state) {
    (void)state;
    struct script script;
    script_open(&script, "occ-parallel", NULL, "w1(1,1) w2(2,1) w3(3,1) c1 c3 c2");
    script.spec.cost.log_force = distribution_constant(10 * MILLISECOND);
    assert_string_equal(script_run(&script), "w1(1,1)=0 w2(2,1)=0 w3(3,1)=0 c1 c3 c2");
    assert_int_equal(script.committed_ns[1], 13 * MILLISECOND);
    assert_int_equal(script.committed_ns[3], 14 * MILLISECOND);
    assert_int_equal(script.committed_ns[2], 15 * MILLISECOND);
    script_close(&script);
}

TEST_GROUP(occ_parallel, cmocka_unit_test(what_committed_since_the_start_counts),
           cmocka_unit_test(the_active_set_must_write_nothing_that_was_read_or_written),
           cmocka_unit_test(write_phases_overlap))
