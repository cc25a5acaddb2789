/* test_mvto.c - multiversion timestamp ordering: which version is seen, which write comes too late, what is kept.
 * Timestamps are by number (support/script.h). */
#include "tests/support/script.h"

static void reads_are_never_refused(void **state) {
    (void)state;
    script_expect("mvto", NULL, "w2(x,2) r1(x) c2 r1(x) c1", "w2(x,2)=0 r1(x)=0 c2 r1(x)=0 c1");
    script_expect("mvto", NULL, "w2(x,2) c2 w3(x,3) c3 w4(x,4) r1(x) c1 r5(x) c4 c5",
                  "w2(x,2)=0 c2 w3(x,3)=2 c3 w4(x,4)=3 r1(x)=0 c1 r5(x)?4 c4 r5(x)!=4 c5");
    script_expect("mvto", NULL, "d2(x) i2(8,2) c2 r1(x) r1(1..9) c1",
                  "d2(x)=0 i2(8,2)=0 c2 r1(x)=0 r1(1..9)=1:0,2:0,3:0,4:0,5:0,6:0 c1");
}

static void readers_wait_for_the_version_they_should_see(void **state) {
    (void)state;
    script_expect("mvto", NULL, "w1(x,1) r2(x) c1 c2", "w1(x,1)=0 r2(x)?1 c1 r2(x)!=1 c2");
    script_expect("mvto", NULL, "w1(x,1) r2(x) a1 c2", "w1(x,1)=0 r2(x)?1 a1 r2(x)!=0 c2");
    script_expect("mvto", NULL, "w1(x,1) w3(y,3) r2(x) r2(y) c1 r2(y) c2 c3",
                  "w1(x,1)=0 w3(y,3)=0 r2(x)?1 c1 r2(x)!=1 r2(y)=0 r2(y)=0 c2 c3");
    script_expect("mvto", NULL, "w1(x,1) u2(x):nowait u3(1..2):skip c1 c2 c3",
                  "w1(x,1)=0 u2(x):nowait#nowait u3(1..2):skip=2:0 c1 c2 c3");
    script_expect("mvto", NULL, "w3(x,3) w1(x,1) r2(x) c3 c1 c2", "w3(x,3)=0 w1(x,1)=0 r2(x)?1 c3 c1 r2(x)!=1 c2");
}

static void a_write_is_late_if_a_younger_one_read_what_it_replaces(void **state) {
    (void)state;
    script_expect("mvto", NULL, "r2(x) w1(x,1) c1 c2", "r2(x)=0 k1:ts_late c2");
    script_expect("mvto", NULL, "r2(x) w1(x,+=1) c1 c2", "r2(x)=0 k1:ts_late c2");
    /* the younger one read another version */
    script_expect("mvto", NULL, "w2(x,2) c2 r3(x) c3 w1(x,1) c1 r4(x) c4",
                  "w2(x,2)=0 c2 r3(x)=2 c3 w1(x,1)=0 c1 r4(x)=2 c4");
    script_expect("mvto", NULL, "w2(x,2) w1(x,1) c2 a1 r3(x) c3", "w2(x,2)=0 w1(x,1)=0 c2 a1 r3(x)=2 c3");
    script_expect("mvto", NULL, "w2(x,2) w1(x,1) c1 a2 r3(x) c3", "w2(x,2)=0 w1(x,1)=0 c1 a2 r3(x)=1 c3");
    script_expect("mvto", NULL, "w1(y,1) w3(x,3) c3 w2(x,+=2) c2 c1", "w1(y,1)=0 w3(x,3)=0 c3 w2(x,+=2)=0 c2 c1");
    script_expect("mvto", NULL, "r1(x) r2(x) w2(x,2) w1(x,1) c1 c2", "r1(x)=0 r2(x)=0 w2(x,2)=0 k1:ts_late c2");
    /* a write by key relies on its row being there, or not */
    script_expect("mvto", NULL, "w2(x,2) c2 d1(x) c1", "w2(x,2)=0 c2 k1:ts_late");
    script_expect("mvto", NULL, "w2(x,2) c2 d1(1..1) c1", "w2(x,2)=0 c2 k1:ts_late");
    script_expect("mvto", NULL, "w2(10,2) i1(10,1) c1 c2", "w2(10,2)=- k1:ts_late c2");
    /* write skew */
    script_expect("mvto", NULL, "r1(x) r1(y) r2(x) r2(y) w1(x,1) w2(y,1) c1 c2",
                  "r1(x)=0 r1(y)=0 r2(x)=0 r2(y)=0 k1:ts_late w2(y,1)=0 c2");
}

static void own_writes_come_first(void **state) {
    (void)state;
    script_expect("mvto", NULL, "w2(x,2) w1(x,1) r1(x) w1(x,7) r1(x) c2 r1(x) c1 r3(x) c3",
                  "w2(x,2)=0 w1(x,1)=0 r1(x)=1 w1(x,7)=1 r1(x)=7 c2 r1(x)=7 c1 r3(x)=2 c3");
    script_expect("mvto", NULL, "p1(1) w1(x,1) r2(x) f1(1) c2 c1", "w1(x,1)=0 r2(x)?1 r2(x)!=0 c2 c1");
}

#define ROWS      "i1(10,0) i1(20,0) c1 "
#define ROWS_DONE "i1(10,0)=0 i1(20,0)=0 c1 "

static void scans_leave_stamps_on_gaps(void **state) {
    (void)state;
    script_expect("mvto", NULL, ROWS "r3(8..15) i2(12,1) c2 c3", ROWS_DONE "r3(8..15)=10:0 k2:ts_late c3");
    script_expect("mvto", NULL, ROWS "r3(8..15) i2(25,1) c2 c3", ROWS_DONE "r3(8..15)=10:0 i2(25,1)=0 c2 c3");
    script_expect("mvto", NULL, ROWS "r3(8..15) i4(14,1) c4 i2(12,1) c2 r3(8..15) c3",
                  ROWS_DONE "r3(8..15)=10:0 i4(14,1)=0 c4 k2:ts_late r3(8..15)=10:0 c3");
    script_expect("mvto", NULL, ROWS "r3(8..15) i4(14,1) a4 i2(14,1) c2 c3",
                  ROWS_DONE "r3(8..15)=10:0 i4(14,1)=0 a4 k2:ts_late c3");
    script_expect("mvto", NULL, ROWS "d3(10) c3 i4(12,1) c4 r2(8..15) c2 r5(8..15) c5",
                  ROWS_DONE "d3(10)=0 c3 i4(12,1)=0 c4 r2(8..15)=10:0 c2 r5(8..15)=12:1 c5");
    script_expect("mvto", NULL, ROWS "d2(20) c2 r4(20) c4 i3(20,1) c3", ROWS_DONE "d2(20)=0 c2 r4(20)=- c4 k3:ts_late");
    script_expect("mvto", NULL, ROWS "w2(10,5) r3(8..15) i4(9,1) c4 c2 c3",
                  ROWS_DONE "w2(10,5)=0 r3(8..15)?2 i4(9,1)=0 c4 c2 r3(8..15)!=10:5 c3");
}

/* Law 7. */
static void savepoints_keep_what_was_read(void **state) {
    (void)state;
    script_expect("mvto", NULL, "p2(1) w2(x,+=5) f2(1) r1(y) w1(x,7) c1 w2(y,5) c2",
                  "w2(x,+=5)=0 r1(y)=0 k1:ts_late w2(y,5)=0 c2");
}

TEST_GROUP(mvto, cmocka_unit_test(reads_are_never_refused),
           cmocka_unit_test(readers_wait_for_the_version_they_should_see),
           cmocka_unit_test(a_write_is_late_if_a_younger_one_read_what_it_replaces),
           cmocka_unit_test(own_writes_come_first), cmocka_unit_test(scans_leave_stamps_on_gaps),
           cmocka_unit_test(savepoints_keep_what_was_read))
