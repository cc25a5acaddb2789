/* test_to_thomas.c - Thomas's write rule: what may come late, and what stands if the younger one rolls back.
 * Timestamps are by number (support/script.h). */
#include "tests/support/script.h"

static void late_writes_are_left_out(void **state) {
    (void)state;
    script_expect("to-thomas", NULL, "w2(x,2) c2 w1(x,1) c1 r3(x) c3", "w2(x,2)=0 c2 w1(x,1)=- c1 r3(x)=2 c3");
    script_expect("to-thomas", NULL, "d2(x) c2 w1(x,1) c1 r3(x) c3", "d2(x)=0 c2 w1(x,1)=- c1 r3(x)=- c3");
    /* left out is not written: the transaction cannot read it */
    script_expect("to-thomas", NULL, "w2(x,2) c2 w1(x,1) r1(x) c1", "w2(x,2)=0 c2 w1(x,1)=- k1:ts_late");
}

static void late_writes_stand_beneath(void **state) {
    (void)state;
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) c1 a2 r3(x) c3", "w2(x,2)=0 w1(x,1)=0 c1 a2 r3(x)=1 c3");
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) c1 c2 r3(x) c3", "w2(x,2)=0 w1(x,1)=0 c1 c2 r3(x)=2 c3");
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) c2 c1 r3(x) c3", "w2(x,2)=0 w1(x,1)=0 c2 c1 r3(x)=2 c3");
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) a1 a2 r3(x) c3", "w2(x,2)=0 w1(x,1)=0 a1 a2 r3(x)=0 c3");
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) a2 a1 r3(x) c3", "w2(x,2)=0 w1(x,1)=0 a2 a1 r3(x)=0 c3");
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) w1(x,7) r1(x) c2 w1(x,8) r1(x) c1 r3(x) c3",
                  "w2(x,2)=0 w1(x,1)=0 w1(x,7)=1 r1(x)=7 c2 w1(x,8)=7 r1(x)=8 c1 r3(x)=2 c3");
    script_expect("to-thomas", NULL, "w3(x,3) w2(x,2) w1(x,1) c2 a3 c1 r4(x) c4",
                  "w3(x,3)=0 w2(x,2)=0 w1(x,1)=0 c2 a3 c1 r4(x)=2 c4");
    script_expect("to-thomas", NULL, "w3(x,3) w1(x,1) w2(x,2) a1 c2 a3 r4(x) c4",
                  "w3(x,3)=0 w1(x,1)=0 w2(x,2)?1 a1 w2(x,2)!=0 c2 a3 r4(x)=2 c4");
}

/* Who waits for the youngest goes on waiting for the next one beneath. */
static void readers_wait_for_all_beneath(void **state) {
    (void)state;
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) r3(x) a2 c1 c3", "w2(x,2)=0 w1(x,1)=0 r3(x)?2 a2 c1 r3(x)!=1 c3");
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) r3(x) c2 c3 c1", "w2(x,2)=0 w1(x,1)=0 r3(x)?2 c2 r3(x)!=2 c3 c1");
}

static void what_was_read_still_forbids(void **state) {
    (void)state;
    script_expect("to-thomas", NULL, "r2(x) w1(x,1) c1 c2", "r2(x)=0 k1:ts_late c2");
    script_expect("to-thomas", NULL, "r2(x) w1(x,+=1) c1 c2", "r2(x)=0 k1:ts_late c2");
    script_expect("to-thomas", NULL, "w2(x,+=2) c2 w1(x,1) c1", "w2(x,+=2)=0 c2 k1:ts_late");
    script_expect("to-thomas", NULL, "w2(x,2) c2 w1(x,+=1) c1", "w2(x,2)=0 c2 k1:ts_late");
    script_expect("to-thomas", NULL, "w2(x,2) r1(x) c1 c2", "w2(x,2)=0 k1:ts_late c2");
    script_expect("to-thomas", NULL, "w2(x,2) w1(1..1,1) c1 c2", "w2(x,2)=0 k1:ts_late c2");
    /* the younger one found its row there */
    script_expect("to-thomas", NULL, "w2(x,2) d1(x) c1 c2", "w2(x,2)=0 k1:ts_late c2");
    script_expect("to-thomas", NULL, "w2(x,2) w1(x,1) d1(x) c1 c2", "w2(x,2)=0 w1(x,1)=0 k1:ts_late c2");
    script_expect("to-thomas", NULL, "w2(10,2) i1(10,1) c1 c2", "w2(10,2)=- k1:ts_late c2");
}

TEST_GROUP(to_thomas, cmocka_unit_test(late_writes_are_left_out), cmocka_unit_test(late_writes_stand_beneath),
           cmocka_unit_test(readers_wait_for_all_beneath), cmocka_unit_test(what_was_read_still_forbids))
