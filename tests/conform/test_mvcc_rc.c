/* test_mvcc_rc.c - the rules of mvcc-rc, a schedule each, with what exactly must happen (notation: support/script.h). */
#include "tests/support/script.h"

static void expect(const char *schedule, const char *expected) { script_expect("mvcc-rc", NULL, schedule, expected); }

static void a_snapshot_lasts_one_statement(void **state) {
    (void)state;
    expect("r1(x) w2(x,5) r1(x) c2 r1(x) c1", "r1(x)=0 w2(x,5)=0 r1(x)=0 c2 r1(x)=5 c1");
    expect("w1(x,5) r2(x) r1(x) c1 r2(x) c2", "w1(x,5)=0 r2(x)=0 r1(x)=5 c1 r2(x)=5 c2");
    expect("r1(7..9) i2(8,1) c2 r1(7..9) c1", "r1(7..9)=- i2(8,1)=0 c2 r1(7..9)=8:1 c1");
}

static void who_waited_takes_the_newest_version(void **state) {
    (void)state;
    expect("w1(x,5) w2(x,+=1) c1 c2 r3(x) c3", "w1(x,5)=0 w2(x,+=1)?1 c1 w2(x,+=1)!=5 c2 r3(x)=6 c3");
    expect("w1(x,5) w2(x,+=1) a1 c2 r3(x) c3", "w1(x,5)=0 w2(x,+=1)?1 a1 w2(x,+=1)!=0 c2 r3(x)=1 c3");
    expect("w1(x,5) u2(x) c1 c2", "w1(x,5)=0 u2(x)?1 c1 u2(x)!=5 c2");
    expect("w1(x,5) s2(x) s3(x) c1 c2 c3", "w1(x,5)=0 s2(x)?1 s3(x)?2 c1 s2(x)!=5 s3(x)!=5 c2 c3");
    expect("r2(y) w1(x,5) c1 w2(x,+=1) c2", "r2(y)=0 w1(x,5)=0 c1 w2(x,+=1)=5 c2");
}

/* The lost update this level permits: both read 0, both write what they computed from it. */
static void updates_can_be_lost(void **state) {
    (void)state;
    expect("r1(x) r2(x) w1(x,1) w2(x,2) c1 c2 r3(x) c3",
           "r1(x)=0 r2(x)=0 w1(x,1)=0 w2(x,2)?1 c1 w2(x,2)!=1 c2 r3(x)=2 c3");
}

static void a_deleted_row_is_no_row(void **state) {
    (void)state;
    expect("d1(x) w2(x,+=1) c1 c2", "d1(x)=0 w2(x,+=1)?1 c1 w2(x,+=1)!=- c2");
    expect("d1(x) w2(x,7) c1 c2", "d1(x)=0 w2(x,7)?1 c1 w2(x,7)!=- c2");
    expect("d1(x) u2(1..3) c1 c2", "d1(x)=0 u2(1..3)?1 c1 u2(1..3)!=2:0,3:0 c2");
    /* what only now exists is not found */
    expect("w1(x,5) i1(8,1) w2(1..9,+=1) c1 r2(8) c2",
           "w1(x,5)=0 i1(8,1)=0 w2(1..9,+=1)?1 c1 w2(1..9,+=1)!=1:5,2:0,3:0,4:0,5:0,6:0 r2(8)=1 c2");
}

/* The row it passed over is not kept locked: 3 gets it at once. */
static void what_is_passed_over_is_free(void **state) {
    (void)state;
    expect("d1(x) w2(x,+=1) c1 i3(x,3) c3 c2", "d1(x)=0 w2(x,+=1)?1 c1 w2(x,+=1)!=- i3(x,3)=0 c3 c2");
    expect("w2(8,5) i3(8,3) c3 c2", "w2(8,5)=- i3(8,3)=0 c3 c2");
}

static void duplicates_are_seen_after_the_wait(void **state) {
    (void)state;
    expect("i1(10,1) i2(10,2) c1 c2", "i1(10,1)=0 i2(10,2)?1 c1 i2(10,2)!#duplicate c2");
    expect("i1(10,1) i2(10,2) a1 c2 r3(10) c3", "i1(10,1)=0 i2(10,2)?1 a1 i2(10,2)!=0 c2 r3(10)=2 c3");
}

static void patience_is_up_to_the_statement(void **state) {
    (void)state;
    expect("w1(x,5) u2(x):nowait r2(x) c1 c2", "w1(x,5)=0 u2(x):nowait#nowait r2(x)=0 c1 c2");
    expect("w1(x,5) u2(1..3):skip u3(1..6):skip:1 c1 c2 c3",
           "w1(x,5)=0 u2(1..3):skip=2:0,3:0 u3(1..6):skip:1=4:0 c1 c2 c3");
}

static void savepoints_give_locks_back(void **state) {
    (void)state;
    expect("p1(1) w1(x,5) f1(1) w2(x,7) c2 r1(x) c1", "w1(x,5)=0 w2(x,7)=0 c2 r1(x)=7 c1");
    expect("w1(x,5) p1(1) w1(x,6) f1(1) w2(x,+=1) c1 c2", "w1(x,5)=0 w1(x,6)=5 w2(x,+=1)?1 c1 w2(x,+=1)!=5 c2");
}

static void waiters_queue_while_the_version_stays(void **state) {
    (void)state;
    expect("w1(x,1) w2(x,2) w3(x,3) w4(x,4) a1 c2 c3 c4",
           "w1(x,1)=0 w2(x,2)?1 w3(x,3)?2 w4(x,4)?2,3 a1 w2(x,2)!=0 c2 w3(x,3)!=2 c3 w4(x,4)!=3 c4");
    expect("u1(x) w2(x,2) w3(x,3) w4(x,4) c1 a2 c3 c4",
           "u1(x)=0 w2(x,2)?1 w3(x,3)?2 w4(x,4)?2,3 c1 w2(x,2)!=0 a2 w3(x,3)!=0 c3 w4(x,4)!=3 c4");
}

static void a_committed_change_dissolves_the_line(void **state) {
    (void)state;
    expect("w1(x,1) w2(x,2) w3(x,3) w4(x,4) c1 w5(x,5) c2 c4 c3 c5",
           "w1(x,1)=0 w2(x,2)?1 w3(x,3)?2 w4(x,4)?2,3 c1 w2(x,2)!=1 w5(x,5)?2 c2 w4(x,4)!=2 c4 w3(x,3)!=4 c3 "
           "w5(x,5)!=3 c5");
    /* shared requests that come to the front are granted with it */
    expect("w1(x,1) s2(x) w3(x,3) s4(x) c1 c2 c4 c3",
           "w1(x,1)=0 s2(x)?1 w3(x,3)?2 s4(x)?2,3 c1 s2(x)!=1 s4(x)!=1 c2 c4 "
           "w3(x,3)!=1 c3");
}

static void deadlocks_cost_the_requester(void **state) {
    (void)state;
    expect("w1(x,1) w2(y,1) w1(y,2) w2(x,2) c1 c2", "w1(x,1)=0 w2(y,1)=0 w1(y,2)?2 k2:deadlock w1(y,2)!=0 c1");
}

TEST_GROUP(mvcc_rc, cmocka_unit_test(a_snapshot_lasts_one_statement),
           cmocka_unit_test(who_waited_takes_the_newest_version), cmocka_unit_test(updates_can_be_lost),
           cmocka_unit_test(a_deleted_row_is_no_row), cmocka_unit_test(what_is_passed_over_is_free),
           cmocka_unit_test(duplicates_are_seen_after_the_wait), cmocka_unit_test(patience_is_up_to_the_statement),
           cmocka_unit_test(savepoints_give_locks_back), cmocka_unit_test(waiters_queue_while_the_version_stays),
           cmocka_unit_test(a_committed_change_dissolves_the_line), cmocka_unit_test(deadlocks_cost_the_requester))
