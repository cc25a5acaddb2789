/* test_versions.c - schedules of ranges, snapshots and validation, with what exactly must happen (support/script.h). */
#include "tests/support/script.h"

#define MILLISECOND INT64_C(1000000)

/* The keys 10 and 20 beyond the dense 1 .. 6. */
#define ROWS      "i9(10,0) i9(20,0) c9 "
#define ROWS_DONE "i9(10,0)=0 i9(20,0)=0 c9 "

/* ---- Next-key locks ---- */

static void scans_close_their_gaps(void **state) {
    (void)state;
    script_expect("2pl", NULL, ROWS "r1(8..15) i2(12,1) i3(18,1) i4(8,1) i5(25,1) c5 c1 c2 c3 c4",
                  ROWS_DONE "r1(8..15)=10:0 i2(12,1)?1 i3(18,1)?1 i4(8,1)?1 i5(25,1)=0 c5 "
                            "c1 i2(12,1)!=0 i3(18,1)!=0 i4(8,1)!=0 c2 c3 c4");
    /* below the first row met the gap is closed, above the first row behind the range it is open */
    script_expect("2pl", NULL, ROWS "r1(12..15) i2(8,1) i3(22,1) i4(19,1) c2 c3 c1 c4",
                  ROWS_DONE "r1(12..15)=- i2(8,1)=0 i3(22,1)=0 i4(19,1)?1 c2 c3 c1 i4(19,1)!=0 c4");
    script_expect("2pl", "phantoms=none", ROWS "r1(8..15) i2(12,1) c2 c1", ROWS_DONE "r1(8..15)=10:0 i2(12,1)=0 c2 c1");
}

static void the_last_gap_reaches_to_the_end(void **state) {
    (void)state;
    script_expect("2pl", NULL, ROWS "r1(21..30) i2(1000,1) i3(15,1) c3 c1 c2",
                  ROWS_DONE "r1(21..30)=- i2(1000,1)?1 i3(15,1)=0 c3 c1 i2(1000,1)!=0 c2");
}

static void a_gap_outlives_the_row_behind_it(void **state) {
    (void)state;
    script_expect("2pl", NULL, ROWS "r1(12..15) d2(20) c2 i3(18,1) i4(25,1) c4 c1 c3",
                  ROWS_DONE "r1(12..15)=- d2(20)=0 c2 i3(18,1)?1 i4(25,1)=0 c4 c1 i3(18,1)!=0 c3");
    /* the row before it goes: the gap in front of that one is still open */
    script_expect("2pl", NULL, ROWS "r1(12..15) d2(10) c2 i3(12,1) c1 c3",
                  ROWS_DONE "r1(12..15)=- d2(10)=0 c2 i3(12,1)?1 c1 i3(12,1)!=0 c3");
    /* an insert of the deleted key itself */
    script_expect("2pl", NULL, ROWS "r1(12..25) d2(20) c1 c2", ROWS_DONE "r1(12..25)=20:0 d2(20)?1 c1 d2(20)!=0 c2");
}

static void a_split_gap_is_closed_on_both_sides(void **state) {
    (void)state;
    script_expect("2pl", NULL, ROWS "r1(12..15) i1(14,1) i2(13,1) i3(18,1) c1 c2 c3",
                  ROWS_DONE "r1(12..15)=- i1(14,1)=0 i2(13,1)?1 i3(18,1)?1 c1 i2(13,1)!=0 i3(18,1)!=0 c2 c3");
    script_expect("2pl", NULL, ROWS "r1(12..15) r2(12..15) i1(13,1) i2(14,1) c1",
                  ROWS_DONE "r1(12..15)=- r2(12..15)=- i1(13,1)?2 k2:deadlock i1(13,1)!=0 c1");
}

static void scans_of_writes_close_gaps_too(void **state) {
    (void)state;
    script_expect("2pl", NULL, ROWS "w1(8..15,+=1) i2(12,1) c1 c2",
                  ROWS_DONE "w1(8..15,+=1)=10:0 i2(12,1)?1 c1 i2(12,1)!=0 c2");
    script_expect("2pl", NULL, ROWS "d1(8..15) i2(9,1) a1 r2(8..15) c2",
                  ROWS_DONE "d1(8..15)=10:0 i2(9,1)?1 a1 i2(9,1)!=0 r2(8..15)=9:1,10:0 c2");
}

/* ---- Snapshots ---- */

static void the_first_updater_wins(void **state) {
    (void)state;
    script_expect("si", NULL, "r2(x) w1(x,1) w2(x,2) c1 c2", "r2(x)=0 w1(x,1)=0 w2(x,2)?1 c1 k2:write_conflict");
    script_expect("si", NULL, "r2(x) w1(x,1) w2(x,2) a1 c2", "r2(x)=0 w1(x,1)=0 w2(x,2)?1 a1 w2(x,2)!=0 c2");
    script_expect("si", NULL, "r2(y) w1(x,1) c1 w2(x,2) c2", "r2(y)=0 w1(x,1)=0 c1 k2:write_conflict");
    script_expect("si", NULL, "r2(y) w1(x,1) c1 u2(x) c2", "r2(y)=0 w1(x,1)=0 c1 k2:write_conflict");
    script_expect("si", NULL, "r2(y) d1(x) c1 w2(x,2) c2", "r2(y)=0 d1(x)=0 c1 k2:write_conflict");
}

static void writers_queue_in_order(void **state) {
    (void)state;
    script_expect("si", NULL, "w1(x,1) w2(x,2) w3(x,3) a1 c2",
                  "w1(x,1)=0 w2(x,2)?1 w3(x,3)?2 a1 w2(x,2)!=0 c2 k3:write_conflict");
}

static void the_snapshot_is_taken_by_the_first_statement(void **state) {
    (void)state;
    script_expect("si", NULL, "p1(1) w2(x,5) c2 r1(x) c1", "w2(x,5)=0 c2 r1(x)=5 c1");
    script_expect("si", NULL, "r1(y) w2(x,5) c2 r1(x) r1(1..2) c1", "r1(y)=0 w2(x,5)=0 c2 r1(x)=0 r1(1..2)=1:0,2:0 c1");
    script_expect("si", NULL, "r1(y) d2(x) i2(8,1) c2 r1(1..9) c1",
                  "r1(y)=0 d2(x)=0 i2(8,1)=0 c2 r1(1..9)=1:0,2:0,3:0,4:0,5:0,6:0 c1");
}

static void readers_never_wait_for_writers(void **state) {
    (void)state;
    script_expect("si", NULL, "w1(x,5) r2(x) r1(x) c1 r2(x) c2", "w1(x,5)=0 r2(x)=0 r1(x)=5 c1 r2(x)=0 c2");
    script_expect("si", NULL, "w1(x,5) w1(x,6) p1(1) w1(x,7) f1(1) r1(x) c1 r2(x) c2",
                  "w1(x,5)=0 w1(x,6)=5 w1(x,7)=6 r1(x)=6 c1 r2(x)=6 c2");
}

#define SKEW "r1(x) r1(y) r2(x) r2(y) w1(x,1) w2(y,1) c1 c2"

static void write_skew_is_for_snapshots_alone(void **state) {
    (void)state;
    script_expect("si", NULL, SKEW, "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 w1(x,1)=0 w2(y,1)=0 c1 c2");
    script_expect("2pl", NULL, SKEW, "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 w1(x,1)?2 k2:deadlock w1(x,1)!=0 c1");
    script_expect("occ", NULL, SKEW, "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 w1(x,1)=0 w2(y,1)=0 c1 k2:validation");
}

/* ---- Validation ---- */

static void scans_are_validated(void **state) {
    (void)state;
    static const char *const checks[] = {"check=start", "check=version"};
    for (size_t i = 0; i < 2; i++) {
        const char *check = checks[i];
        script_expect("occ", check, "r1(3..9) i2(8,1) c2 w1(x,1) c1",
                      "r1(3..9)=3:0,4:0,5:0,6:0 i2(8,1)=0 c2 w1(x,1)=0 k1:validation");
        script_expect("occ", check, "r1(5..9) d2(6) c2 w1(x,1) c1",
                      "r1(5..9)=5:0,6:0 d2(6)=0 c2 w1(x,1)=0 k1:validation");
        script_expect("occ", check, "r1(5..9) i2(10,1) c2 w1(x,1) c1", "r1(5..9)=5:0,6:0 i2(10,1)=0 c2 w1(x,1)=0 c1");
        /* the second scan sees what the first did not: that is a phantom */
        script_expect("occ", check, "r1(7..9) i2(8,1) c2 r1(7..9) c1",
                      "r1(7..9)=- i2(8,1)=0 c2 r1(7..9)=8:1 k1:validation");
        script_expect("occ", check, "r1(7..9) i2(8,1) c2 r1(8) c1", "r1(7..9)=- i2(8,1)=0 c2 r1(8)=1 k1:validation");
    }
}

static void checks_look_back_as_far_as_the_option_says(void **state) {
    (void)state;
    script_expect("occ", "check=start", "r1(y) w2(x,5) c2 r1(x) c1", "r1(y)=0 w2(x,5)=0 c2 r1(x)=5 k1:validation");
    script_expect("occ", "check=version", "r1(y) w2(x,5) c2 r1(x) c1", "r1(y)=0 w2(x,5)=0 c2 r1(x)=5 c1");
    script_expect("occ", "check=version", "r1(x) w2(x,5) c2 r1(x) c1", "r1(x)=0 w2(x,5)=0 c2 r1(x)=5 k1:validation");
    /* two blind writes: nobody has read anything */
    script_expect("occ", NULL, "w1(x,1) w2(x,2) c2 c1 r3(x) c3", "w1(x,1)=0 w2(x,2)=0 c2 c1 r3(x)=1 c3");
}

/* Whether a blind write found its row is something it relies on: no serial order brings x back, or keeps 8. */
static void blind_writes_rely_on_the_row_being_there(void **state) {
    (void)state;
    script_expect("occ", NULL, "w1(x,5) d2(x) c2 c1", "w1(x,5)=0 d2(x)=0 c2 k1:validation");
    script_expect("occ", NULL, "d1(8) i2(8,1) c2 w1(y,1) c1", "d1(8)=- i2(8,1)=0 c2 w1(y,1)=0 k1:validation");
    script_expect("occ", NULL, "d1(x) d2(x) c2 c1", "d1(x)=0 d2(x)=0 c2 k1:validation");
    /* the row came and went: the two replies contradict each other */
    script_expect("occ", "check=version", "w1(8,5) i2(8,2) c2 w1(8,3) d3(8) c3 c1",
                  "w1(8,5)=- i2(8,2)=0 c2 w1(8,3)=2 d3(8)=2 c3 k1:validation");
}

/* Validation, log force and installing are one critical section, entered in order of arrival. */
static void validation_is_first_come_first_served(void **state) {
    (void)state;
    struct script script;
    script_open(&script, "occ", NULL, "w1(1,1) w2(2,1) w3(3,1) w4(4,1) c1 c3 c2 c4");
    script.spec.cost.log_force = distribution_constant(10 * MILLISECOND);
    assert_string_equal(script_run(&script),
                        "w1(1,1)=0 w2(2,1)=0 w3(3,1)=0 w4(4,1)=0 c3?1 c2?1,3 c4?1,2,3 c1 c3 c2 c4");
    assert_int_equal(script.committed_ns[1], 14 * MILLISECOND);
    assert_int_equal(script.committed_ns[3], 24 * MILLISECOND);
    assert_int_equal(script.committed_ns[2], 34 * MILLISECOND);
    assert_int_equal(script.committed_ns[4], 44 * MILLISECOND);
    script_close(&script);
}

/* A transaction that is validated while another writes would miss its writes: it waits, and then fails. */
static void who_waits_for_validation_sees_what_came_before(void **state) {
    (void)state;
    struct script script;
    script_open(&script, "occ", NULL, "r2(x) w1(x,1) w2(y,1) c1 c2");
    script.spec.cost.log_force = distribution_constant(10 * MILLISECOND);
    assert_string_equal(script_run(&script), "r2(x)=0 w1(x,1)=0 w2(y,1)=0 c2?1 c1 k2:validation");
    script_close(&script);
}

/* ---- The canary ---- */

static void the_canary_grants_everything(void **state) {
    (void)state;
    script_expect("none", NULL, "w1(x,1) r2(x) w2(x,2) c2 a1", "w1(x,1)=0 r2(x)=1 w2(x,2)=1 c2 a1");
    script_expect("none", NULL, "w1(x,1) w2(x,2) w1(x,3) a1 r2(x) c2", "w1(x,1)=0 w2(x,2)=1 w1(x,3)=2 a1 r2(x)=2 c2");
}

TEST_GROUP(versions, cmocka_unit_test(scans_close_their_gaps), cmocka_unit_test(the_last_gap_reaches_to_the_end),
           cmocka_unit_test(a_gap_outlives_the_row_behind_it), cmocka_unit_test(a_split_gap_is_closed_on_both_sides),
           cmocka_unit_test(scans_of_writes_close_gaps_too), cmocka_unit_test(the_first_updater_wins),
           cmocka_unit_test(writers_queue_in_order), cmocka_unit_test(the_snapshot_is_taken_by_the_first_statement),
           cmocka_unit_test(readers_never_wait_for_writers), cmocka_unit_test(write_skew_is_for_snapshots_alone),
           cmocka_unit_test(scans_are_validated), cmocka_unit_test(checks_look_back_as_far_as_the_option_says),
           cmocka_unit_test(blind_writes_rely_on_the_row_being_there),
           cmocka_unit_test(validation_is_first_come_first_served),
           cmocka_unit_test(who_waits_for_validation_sees_what_came_before),
           cmocka_unit_test(the_canary_grants_everything))
