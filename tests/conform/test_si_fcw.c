/* test_si_fcw.c - the rules of si-fcw, a schedule each, with what exactly must happen (notation: support/script.h). */
#include "tests/support/script.h"

#define MILLISECOND INT64_C(1000000)

static void expect(const char *schedule, const char *expected) { script_expect("si-fcw", NULL, schedule, expected); }

static void the_first_committer_wins(void **state) {
    (void)state;
    expect("w1(x,1) w2(x,2) c2 c1 r3(x) c3", "w1(x,1)=0 w2(x,2)=0 c2 k1:write_conflict r3(x)=2 c3");
    expect("w1(x,1) w2(x,2) a1 c2", "w1(x,1)=0 w2(x,2)=0 a1 c2");
    expect("r2(y) w1(x,1) c1 w2(x,2) w2(y,3) c2", "r2(y)=0 w1(x,1)=0 c1 w2(x,2)=0 w2(y,3)=0 k2:write_conflict");
    expect("w1(x,1) c1 w2(x,2) c2", "w1(x,1)=0 c1 w2(x,2)=1 c2");
    expect("d1(x) w2(x,2) c1 c2", "d1(x)=0 w2(x,2)=0 c1 k2:write_conflict");
    expect("i1(10,1) i2(10,2) c1 c2", "i1(10,1)=0 i2(10,2)=0 c1 k2:write_conflict");
}

static void the_snapshot_is_taken_by_the_first_statement(void **state) {
    (void)state;
    expect("p1(1) w2(x,5) c2 r1(x) c1", "w2(x,5)=0 c2 r1(x)=5 c1");
    expect("r1(y) w2(x,5) i2(8,1) c2 r1(x) r1(7..9) c1", "r1(y)=0 w2(x,5)=0 i2(8,1)=0 c2 r1(x)=0 r1(7..9)=- c1");
    expect("w1(x,5) i1(8,1) r1(1..9) r2(8) c1 c2",
           "w1(x,5)=0 i1(8,1)=0 r1(1..9)=1:5,2:0,3:0,4:0,5:0,6:0,8:1 r2(8)=- c1 c2");
}

static void locking_reads_are_validated_like_writes(void **state) {
    (void)state;
    expect("u1(x) w2(x,2) c2 c1", "u1(x)=0 w2(x,2)=0 c2 k1:write_conflict");
    expect("s1(x) w2(x,2) c2 c1", "s1(x)=0 w2(x,2)=0 c2 k1:write_conflict");
    expect("u1(x) w2(x,2) c1 c2", "u1(x)=0 w2(x,2)=0 c1 c2");
    expect("r1(x) w2(x,2) c2 c1", "r1(x)=0 w2(x,2)=0 c2 c1");
    /* FOR UPDATE of what the other writes prevents the skew */
    expect("u1(x) u2(y) w1(y,1) w2(x,1) c1 c2", "u1(x)=0 u2(y)=0 w1(y,1)=0 w2(x,1)=0 c1 k2:write_conflict");
}

static void write_skew_passes(void **state) {
    (void)state;
    expect("r1(x) r1(y) r2(x) r2(y) w1(x,1) w2(y,1) c1 c2",
           "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 w1(x,1)=0 w2(y,1)=0 c1 c2");
}

static void what_was_undone_is_not_validated(void **state) {
    (void)state;
    expect("p1(1) w1(x,1) f1(1) w2(x,2) c2 w1(y,1) c1", "w1(x,1)=0 w2(x,2)=0 c2 w1(y,1)=0 c1");
    expect("p1(1) u1(x) f1(1) w2(x,2) c2 w1(y,1) c1", "u1(x)=0 w2(x,2)=0 c2 w1(y,1)=0 c1");
    expect("u1(x) p1(1) u1(x) f1(1) w2(x,2) c2 w1(y,1) c1", "u1(x)=0 u1(x)=0 w2(x,2)=0 c2 w1(y,1)=0 k1:write_conflict");
}

static void expect_with_slow_log(const char *schedule, const char *expected) {
    struct script script;
    script_open(&script, "si-fcw", NULL, schedule);
    script.spec.cost.log_force = distribution_constant(10 * MILLISECOND);
    assert_string_equal(script_run(&script), expected);
    script_close(&script);
}

/* 1 is prepared at 2 ms and committed at 12 ms. */
static void a_sealed_transaction_counts_as_committed(void **state) {
    (void)state;
    expect_with_slow_log("w1(x,1) w2(x,2) c1 c2", "w1(x,1)=0 w2(x,2)=0 k2:write_conflict c1");
    expect_with_slow_log("w1(x,1) u2(x) c1 c2", "w1(x,1)=0 u2(x)=0 k2:write_conflict c1");
    expect_with_slow_log("u1(x) w1(y,1) w2(x,2) c1 c2", "u1(x)=0 w1(y,1)=0 w2(x,2)=0 k2:write_conflict c1");
    expect_with_slow_log("u1(x) w1(y,1) u2(x) c1 c2", "u1(x)=0 w1(y,1)=0 u2(x)=0 c2 c1");
    expect_with_slow_log("w1(x,1) c1 r2(x) +20 r3(x) c2 c3", "w1(x,1)=0 r2(x)=0 c1 r3(x)=1 c2 c3");
}

TEST_GROUP(si_fcw, cmocka_unit_test(the_first_committer_wins),
           cmocka_unit_test(the_snapshot_is_taken_by_the_first_statement),
           cmocka_unit_test(locking_reads_are_validated_like_writes), cmocka_unit_test(write_skew_passes),
           cmocka_unit_test(what_was_undone_is_not_validated),
           cmocka_unit_test(a_sealed_transaction_counts_as_committed))
