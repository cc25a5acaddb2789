/* test_to.c - timestamp ordering, rule by rule: late reads and writes, waiting for the older, gaps, what is forgotten.
 * Timestamps are by number (support/script.h). */
#include "sim/store/key_order.h"
#include "tests/support/script.h"

static void the_late_are_refused(void **state) {
    (void)state;
    script_expect("to", NULL, "w2(x,2) c2 r1(x) c1", "w2(x,2)=0 c2 k1:ts_late");
    script_expect("to", NULL, "w2(x,2) c2 w1(x,1) c1", "w2(x,2)=0 c2 k1:ts_late");
    script_expect("to", NULL, "r2(x) w1(x,1) c1 c2", "r2(x)=0 k1:ts_late c2");
    script_expect("to", NULL, "r2(x) w1(x,+=1) c1 c2", "r2(x)=0 k1:ts_late c2");
    script_expect("to", NULL, "r2(x) r1(x) w2(x,1) c1 c2", "r2(x)=0 r1(x)=0 w2(x,1)=0 c1 c2");
    script_expect("to", NULL, "d2(x) c2 r1(x) c1", "d2(x)=0 c2 k1:ts_late");
    script_expect("to", NULL, "u2(x) w1(x,1) c1 c2", "u2(x)=0 k1:ts_late c2");
    /* also while the younger writer might still roll back */
    script_expect("to", NULL, "w2(x,2) r1(x) c1 a2", "w2(x,2)=0 k1:ts_late a2");
}

static void the_younger_wait_for_the_older(void **state) {
    (void)state;
    script_expect("to", NULL, "w1(x,1) r2(x) c1 c2", "w1(x,1)=0 r2(x)?1 c1 r2(x)!=1 c2");
    script_expect("to", NULL, "w1(x,1) r2(x) a1 c2", "w1(x,1)=0 r2(x)?1 a1 r2(x)!=0 c2");
    script_expect("to", NULL, "w1(x,1) w2(x,2) w3(x,3) c1 c2 c3",
                  "w1(x,1)=0 w2(x,2)?1 w3(x,3)?1 c1 w2(x,2)!=1 c2 w3(x,3)!=2 c3");
    script_expect("to", NULL, "p1(1) w1(x,1) r2(x) f1(1) c2 c1", "w1(x,1)=0 r2(x)?1 r2(x)!=0 c2 c1");
    script_expect("to", NULL, "w1(x,1) u2(x):nowait u3(1..2):skip c1 c2 c3",
                  "w1(x,1)=0 u2(x):nowait#nowait u3(1..2):skip=2:0 c1 c2 c3");
    /* opposite orders: no deadlock, the older comes late */
    script_expect("to", NULL, "w1(x,1) w2(y,2) w2(x,2) w1(y,1) c1 c2",
                  "w1(x,1)=0 w2(y,2)=0 w2(x,2)?1 k1:ts_late w2(x,2)!=0 c2");
}

static void own_writes_come_first(void **state) {
    (void)state;
    script_expect("to", NULL, "w1(x,1) r1(x) w1(x,2) d1(x) i1(x,5) c1 r2(x) c2",
                  "w1(x,1)=0 r1(x)=1 w1(x,2)=1 d1(x)=2 i1(x,5)=0 c1 r2(x)=5 c2");
}

#define ROWS      "i1(10,0) i1(20,0) c1 "
#define ROWS_DONE "i1(10,0)=0 i1(20,0)=0 c1 "

static void scans_leave_stamps_on_gaps(void **state) {
    (void)state;
    script_expect("to", NULL, ROWS "r3(8..15) i2(12,1) c2 c3", ROWS_DONE "r3(8..15)=10:0 k2:ts_late c3");
    script_expect("to", NULL, ROWS "r3(8..15) i2(18,1) c2 c3", ROWS_DONE "r3(8..15)=10:0 k2:ts_late c3");
    script_expect("to", NULL, ROWS "r3(8..15) i2(25,1) c2 c3", ROWS_DONE "r3(8..15)=10:0 i2(25,1)=0 c2 c3");
    script_expect("to", NULL, ROWS "r3(8..15) i4(12,1) c4 c3", ROWS_DONE "r3(8..15)=10:0 i4(12,1)=0 c4 c3");
    script_expect("to", NULL, ROWS "r3(30..40) i2(1000,1) c2 c3", ROWS_DONE "r3(30..40)=- k2:ts_late c3");
    /* both halves of a gap that was split, the key itself if its insert was rolled back */
    script_expect("to", NULL, ROWS "r3(8..15) i4(14,1) c4 i2(12,1)  c2 c3",
                  ROWS_DONE "r3(8..15)=10:0 i4(14,1)=0 c4 k2:ts_late c3");
    script_expect("to", NULL, ROWS "r3(8..15) i4(14,1) c4 i2(15,1)  c2 c3",
                  ROWS_DONE "r3(8..15)=10:0 i4(14,1)=0 c4 k2:ts_late c3");
    script_expect("to", NULL, ROWS "r3(8..15) i4(14,1) a4 i2(14,1) c2 c3",
                  ROWS_DONE "r3(8..15)=10:0 i4(14,1)=0 a4 k2:ts_late c3");
    /* a phantom from the past: what a scan should have seen is no more */
    script_expect("to", NULL, ROWS "r2(x) d3(10) c3 r2(8..15) c2", ROWS_DONE "r2(x)=0 d3(10)=0 c3 k2:ts_late");
    script_expect("to", NULL, ROWS "i3(12,1) c3 r2(8..15) c2", ROWS_DONE "i3(12,1)=0 c3 k2:ts_late");
    script_expect("to", NULL, ROWS "r3(12) i2(12,1) c2 c3", ROWS_DONE "r3(12)=- k2:ts_late c3");
    script_expect("to", NULL, ROWS "w3(12,1) i2(12,1) c2 c3", ROWS_DONE "w3(12,1)=- k2:ts_late c3");
}

/* While a scan waits, a younger one may enter the gap that it has passed. */
static void scans_that_waited_look_again(void **state) {
    (void)state;
    script_expect("to", NULL, ROWS "w2(10,5) r3(8..15) i4(9,1) c4 c2 c3",
                  ROWS_DONE "w2(10,5)=0 r3(8..15)?2 i4(9,1)=0 c4 c2 k3:ts_late");
}

/* Law 7. */
static void savepoints_keep_what_was_read(void **state) {
    (void)state;
    script_expect("to", NULL, "p2(1) r2(x) f2(1) r1(y) w1(x,7) c1 w2(y,5) c2",
                  "r2(x)=0 r1(y)=0 k1:ts_late w2(y,5)=0 c2");
    script_expect("to", NULL, "p2(1) w2(x,+=5) f2(1) r1(y) w1(x,7) c1 w2(y,5) c2",
                  "w2(x,+=5)=0 r1(y)=0 k1:ts_late w2(y,5)=0 c2");
}

static size_t left; /* sparse records at the end of a run */

static void count_records(struct cc *cc) {
    left = 0;
    for (int i = 0; i < cc->store->table_count; i++) {
        for (struct key_node *node = key_order_from(cc->store->tables[i].sparse, INT64_MIN); node != NULL;
             node = node->next[0]) {
            left++;
        }
    }
    cc_find(cc->ops->name)->stop(cc);
}

static size_t records_left(const char *algorithm, const char *schedule) {
    struct script script;
    script_open(&script, algorithm, NULL, schedule);
    script.spied.stop = count_records;
    script_run(&script);
    script_close(&script);
    return left;
}

/* Stamps go with the last who could come late for them; rows that are there stay. */
static void absent_rows_are_forgotten(void **state) {
    (void)state;
    static const char *const names[] = {"to", "to-thomas", "mvto"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = names[i];
        assert_int_equal(records_left(name, "r1(10) r2(11) i3(12,1) a3 r4(13..15) c4 c1 c2"), 0);
        assert_int_equal(records_left(name, "i1(12,1) c1 d2(12) c2 r3(8..20) r4(12) c4 c3"), 0);
        assert_int_equal(records_left(name, "r1(x) i2(12,1) d2(12) i2(13,1) c2 d3(13) c3 r4(8..20) c4 c1"), 0);
        assert_int_equal(records_left(name, "i1(12,1) c1 r2(1..20) c2"), 1);
    }
}

TEST_GROUP(to, cmocka_unit_test(the_late_are_refused), cmocka_unit_test(the_younger_wait_for_the_older),
           cmocka_unit_test(own_writes_come_first), cmocka_unit_test(scans_leave_stamps_on_gaps),
           cmocka_unit_test(scans_that_waited_look_again), cmocka_unit_test(savepoints_keep_what_was_read),
           cmocka_unit_test(absent_rows_are_forgotten))
