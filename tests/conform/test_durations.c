/* test_durations.c - the levels by lock duration: what each keeps out, and that each lets happen what it permits (notation:
 * support/script.h). */
#include "sim/check/flaw.h"
#include "tests/support/runs.h"
#include "tests/support/script.h"

static void dirty_reads_are_for_ru_alone(void **state) {
    (void)state;
    script_expect("lock-ru", NULL, "w1(x,5) r2(x) r2(1..2) a1 r2(x) c2",
                  "w1(x,5)=0 r2(x)=5 r2(1..2)=1:5,2:0 a1 r2(x)=0 c2");
    script_expect("lock-rc", NULL, "w1(x,5) r2(x) a1 c2", "w1(x,5)=0 r2(x)?1 a1 r2(x)!=0 c2");
    script_expect("lock-rr", NULL, "w1(x,5) r2(x) a1 c2", "w1(x,5)=0 r2(x)?1 a1 r2(x)!=0 c2");
}

static void nobody_overwrites_what_is_not_committed(void **state) {
    (void)state;
    static const char *const names[] = {"lock-ru", "lock-rc", "lock-rr"};
    for (size_t i = 0; i < 3; i++) {
        script_expect(names[i], NULL, "w1(x,5) w2(x,7) w1(y,5) c1 w2(y,7) c2",
                      "w1(x,5)=0 w2(x,7)?1 w1(y,5)=0 c1 w2(x,7)!=5 w2(y,7)=5 c2");
        script_expect(names[i], NULL, "w1(x,5) w2(y,7) w1(y,5) w2(x,7) c1",
                      "w1(x,5)=0 w2(y,7)=0 w1(y,5)?2 k2:deadlock w1(y,5)!=0 c1");
        /* a conditional or relative write reads under X */
        script_expect(names[i], NULL, "w1(x,+=5) w2(x,+=7) c1 c2 r3(x) c3",
                      "w1(x,+=5)=0 w2(x,+=7)?1 c1 w2(x,+=7)!=5 c2 r3(x)=12 c3");
    }
}

#define LOST "r1(x) r2(x) w2(x,7) c2 w1(x,5) c1"

static void updates_are_lost_below_repeatable_read(void **state) {
    (void)state;
    script_expect("lock-ru", NULL, LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 w1(x,5)=7 c1");
    script_expect("lock-rc", NULL, LOST, "r1(x)=0 r2(x)=0 w2(x,7)=0 c2 w1(x,5)=7 c1");
    script_expect("lock-rr", NULL, LOST, "r1(x)=0 r2(x)=0 w2(x,7)?1 w1(x,5)?2 k2:deadlock w1(x,5)!=0 c1");
    /* the remedy: locks that were asked for are long */
    script_expect("lock-rc", NULL, "u1(x) u2(x) w1(x,5) c1 w2(x,7) c2",
                  "u1(x)=0 u2(x)?1 w1(x,5)=0 c1 u2(x)!=5 w2(x,7)=5 c2");
    script_expect("lock-ru", NULL, "s1(x) w2(x,7) r1(x) c1 c2", "s1(x)=0 w2(x,7)?1 r1(x)=0 c1 w2(x,7)!=0 c2");
    script_expect("lock-rc", NULL, "s1(x) r1(x) w2(x,7) c1 c2", "s1(x)=0 r1(x)=0 w2(x,7)?1 c1 w2(x,7)!=0 c2");
}

static void rows_read_are_locked_as_long_as_the_level_says(void **state) {
    (void)state;
    script_expect("lock-rc", NULL, "r1(x) w2(x,7) c2 r1(x) c1", "r1(x)=0 w2(x,7)=0 c2 r1(x)=7 c1");
    script_expect("lock-rr", NULL, "r1(x) w2(x,7) r1(x) c1 c2", "r1(x)=0 w2(x,7)?1 r1(x)=0 c1 w2(x,7)!=0 c2");
    script_expect("lock-rr", NULL, "r1(1..2) w2(x,7) c1 c2", "r1(1..2)=1:0,2:0 w2(x,7)?1 c1 w2(x,7)!=0 c2");
    /* the row somebody waits for is free at once when the statement that read it ends: here it waits for z */
    script_expect("lock-rc", NULL, "w3(z,1) r1(1..3) w2(x,7) c3 c2 c1",
                  "w3(z,1)=0 r1(1..3)?3 w2(x,7)?1 c3 r1(1..3)!=1:0,2:0,3:1 w2(x,7)!=0 c2 c1");
}

static void phantoms_are_for_all_three(void **state) {
    (void)state;
    static const char *const names[] = {"lock-ru", "lock-rc", "lock-rr"};
    for (size_t i = 0; i < 3; i++) {
        script_expect(names[i], NULL, "r1(7..9) i2(8,1) c2 r1(7..9) c1", "r1(7..9)=- i2(8,1)=0 c2 r1(7..9)=8:1 c1");
        /* but not for a write: its range is locked to the end */
        script_expect(names[i], NULL, "w1(6..9,+=1) i2(8,1) c1 c2", "w1(6..9,+=1)=6:0 i2(8,1)?1 c1 i2(8,1)!=0 c2");
    }
    /* during the scan the range is locked; without read locks it is not */
    script_expect("lock-rr", NULL, "i4(20,0) c4 w3(20,1) r1(15..20) i2(17,1) c3 c2 c1",
                  "i4(20,0)=0 c4 w3(20,1)=0 r1(15..20)?3 i2(17,1)?1 c3 r1(15..20)!=20:1 i2(17,1)!=0 c2 c1");
    script_expect("lock-ru", NULL, "i4(20,0) c4 w3(20,1) r1(15..20) i2(17,1) c3 c2 c1",
                  "i4(20,0)=0 c4 w3(20,1)=0 r1(15..20)=20:1 i2(17,1)=0 c3 c2 c1");
}

static void write_skew_needs_rows_that_stay_locked(void **state) {
    (void)state;
    static const char skew[] = "r1(x) r1(y) r2(x) r2(y) w1(x,1) w2(y,1) c1 c2";
    script_expect("lock-rc", NULL, skew, "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 w1(x,1)=0 w2(y,1)=0 c1 c2");
    script_expect("lock-rr", NULL, skew, "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 w1(x,1)?2 k2:deadlock w1(x,1)!=0 c1");
}

static void savepoints_drop_the_protection_of_reads(void **state) {
    (void)state;
    script_expect("lock-rr", NULL, "p1(1) r1(x) f1(1) w2(x,7) c2 r1(x) c1", "r1(x)=0 w2(x,7)=0 c2 r1(x)=7 c1");
    script_expect("lock-rr", NULL, "p1(1) w1(x,+=5) f1(1) w2(x,7) c2 c1", "w1(x,+=5)=0 w2(x,7)=0 c2 c1");
    script_expect("lock-rr", NULL, "r1(x) p1(1) w1(x,5) f1(1) r2(x) w3(x,7) c2 c1 c3",
                  "r1(x)=0 w1(x,5)=0 r2(x)=0 w3(x,7)?1,2 c2 c1 w3(x,7)!=0 c3");
    script_expect("lock-rc", NULL, "p1(1) u1(x) f1(1) w2(x,7) c2 c1", "u1(x)=0 w2(x,7)=0 c2 c1");
    /* a duplicate key that was met is a row that was read */
    script_expect("lock-rr", NULL, "i1(x,5) d2(x) c1 c2", "i1(x,5)#duplicate d2(x)?1 c1 d2(x)!=0 c2");
    script_expect("lock-rc", NULL, "i1(x,5) d2(x) c2 c1", "i1(x,5)#duplicate d2(x)=0 c2 c1");
}

static uint64_t lost_updates(const char *algorithm) {
    struct run_result result = run_of(algorithm, "hot_row",
                                      "system.terminals=16 workload.hot_access=read_write workload.app_time=1ms "
                                      "duration=2s certify=yes");
    uint64_t lost = result.anomalies_by_name[FLAW_LOST_UPDATE];
    assert_true(result.certified && !result.promise_broken && result.commits > 100);
    run_result_free(&result);
    return lost;
}

static void the_hot_row_loses_updates_below_repeatable_read(void **state) {
    (void)state;
    assert_true(lost_updates("lock-ru") > 0);
    assert_true(lost_updates("lock-rc") > 0);
    assert_int_equal(lost_updates("lock-rr"), 0);
}

TEST_GROUP(durations, cmocka_unit_test(dirty_reads_are_for_ru_alone),
           cmocka_unit_test(nobody_overwrites_what_is_not_committed),
           cmocka_unit_test(updates_are_lost_below_repeatable_read),
           cmocka_unit_test(rows_read_are_locked_as_long_as_the_level_says),
           cmocka_unit_test(phantoms_are_for_all_three), cmocka_unit_test(write_skew_needs_rows_that_stay_locked),
           cmocka_unit_test(savepoints_drop_the_protection_of_reads),
           cmocka_unit_test(the_hot_row_loses_updates_below_repeatable_read))
