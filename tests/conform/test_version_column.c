/* test_version_column.c - writes that are conditional on what was read, and what each kind of token lets pass (notation:
 * support/script.h; a token of a schedule is due a millisecond after the one before it). */
#include "sim/check/flaw.h"
#include "tests/support/runs.h"
#include "tests/support/script.h"

#define LOST "r1(x) r2(x) w2(x,7) c2 w1(x,5) c1"

static void a_write_needs_the_version_that_was_read(void **state) {
    (void)state;
    script_expect("version-column", NULL, LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 k1:validation");
    script_expect("version-column", NULL, "r1(x) d2(x) c2 w1(x,5) c1", "r1(x)=0 d2(x)=0 c2 k1:validation");
    script_expect("version-column", NULL, "r1(x) w2(x,7) w1(x,5) c2 c1",
                  "r1(x)=0 w2(x,7)=0 w1(x,5)?2 c2 k1:validation");
    script_expect("version-column", NULL, "r1(x) w2(x,7) w1(x,5) a2 c1",
                  "r1(x)=0 w2(x,7)=0 w1(x,5)?2 a2 w1(x,5)!=0 c1");
    script_expect("version-column", NULL, "r1(1..3) w2(y,7) c2 d1(y) c1",
                  "r1(1..3)=1:0,2:0,3:0 w2(y,7)=0 c2 k1:validation");
    /* also where the write itself reads the row once more */
    script_expect("version-column", NULL, "r1(x) w2(x,7) c2 w1(x,+=5) c1", "r1(x)=0 w2(x,7)=0 c2 k1:validation");
    /* the first read counts, and what it wrote itself it may write again */
    script_expect("version-column", NULL, "r1(x) w2(x,7) c2 r1(x) w1(x,5) c1",
                  "r1(x)=0 w2(x,7)=0 c2 r1(x)=7 k1:validation");
    script_expect("version-column", NULL, "r1(x) w1(x,5) w1(x,6) r1(x) c1", "r1(x)=0 w1(x,5)=0 w1(x,6)=5 r1(x)=6 c1");
    script_expect("version-column", NULL, "r1(8) i2(8,1) d2(8) c2 i1(8,2) c1",
                  "r1(8)=- i2(8,1)=0 d2(8)=1 c2 i1(8,2)=0 c1");
}

static void what_was_not_read_is_no_condition(void **state) {
    (void)state;
    script_expect("version-column", NULL, "r1(y) w2(x,7) c2 w1(x,5) c1", "r1(y)=0 w2(x,7)=0 c2 w1(x,5)=7 c1");
    script_expect("version-column", NULL, "r1(y) w2(x,7) c2 w1(x,+=5) c1 r3(x) c3",
                  "r1(y)=0 w2(x,7)=0 c2 w1(x,+=5)=7 c1 r3(x)=12 c3");
}

/* Read committed underneath: rows that are only read are not validated. */
static void what_is_only_read_is_not_validated(void **state) {
    (void)state;
    script_expect("version-column", NULL, "r1(x) r1(y) r2(x) r2(y) w1(x,1) w2(y,1) c1 c2",
                  "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 w1(x,1)=0 w2(y,1)=0 c1 c2");
    script_expect("version-column", NULL, "r1(x) w2(x,7) c2 r1(x) c1", "r1(x)=0 w2(x,7)=0 c2 r1(x)=7 c1");
    script_expect("version-column", NULL, "w1(x,5) r2(x) a1 c2", "w1(x,5)=0 r2(x)?1 a1 r2(x)!=0 c2");
}

static void a_coarse_time_lets_two_edits_within_its_grain_pass(void **state) {
    (void)state;
    script_expect("version-column", "token=timestamp(1s)", LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 w1(x,5)=7 c1");
    script_expect("version-column", "token=timestamp(1ms)", LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 k1:validation");
    /* c2 is at 3 ms: the grains of 2 ms differ, those of 4 ms do not */
    script_expect("version-column", "token=timestamp(2ms)", LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 k1:validation");
    script_expect("version-column", "token=timestamp(4ms)", LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 w1(x,5)=7 c1");
}

#define ABA "r1(x) w2(x,7) c2 w3(x,0) c3 w1(x,5) c1"

static void a_value_does_not_tell_that_it_came_back(void **state) {
    (void)state;
    script_expect("version-column", "token=value", LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 k1:validation");
    script_expect("version-column", "token=value", ABA, "r1(x)=0 w2(x,7)=0 c2 w3(x,0)=7 c3 w1(x,5)=0 c1");
    script_expect("version-column", "token=version", ABA, "r1(x)=0 w2(x,7)=0 c2 w3(x,0)=7 c3 k1:validation");
}

static uint64_t lost_updates(const char *token) {
    struct run_result result = run_of("version-column", "hot_row",
                                      "system.terminals=16 workload.hot_access=read_write workload.app_time=1ms "
                                      "restart.delay=1ms duration=3s certify=yes algorithm.token=%s",
                                      token);
    uint64_t lost = result.anomalies_by_name[FLAW_LOST_UPDATE];
    assert_true(result.certified && !result.promise_broken && result.commits > 100);
    run_result_free(&result);
    return lost;
}

static void the_hot_row_loses_updates_within_a_grain_alone(void **state) {
    (void)state;
    assert_int_equal(lost_updates("version"), 0);
    assert_int_equal(lost_updates("value"), 0); /* counters only grow */
    assert_true(lost_updates("timestamp(1s)") > 0);
}

TEST_GROUP(version_column, cmocka_unit_test(a_write_needs_the_version_that_was_read),
           cmocka_unit_test(what_was_not_read_is_no_condition), cmocka_unit_test(what_is_only_read_is_not_validated),
           cmocka_unit_test(a_coarse_time_lets_two_edits_within_its_grain_pass),
           cmocka_unit_test(a_value_does_not_tell_that_it_came_back),
           cmocka_unit_test(the_hot_row_loses_updates_within_a_grain_alone))
