/* test_ssn.c - who would come before one that ended before another it comes behind is refused (notation:
 * support/script.h). */
#include "tests/support/script.h"

#include <string.h>

#define MILLISECOND INT64_C(1000000)

static void circles_are_not_closed(void **state) {
    (void)state;
    script_expect("ssn", NULL, "r1(x) r2(y) w1(y,1) w2(x,1) c1 c2",
                  "r1(x)=0 r2(y)=0 w1(y,1)=0 w2(x,1)=0 c1 k2:exclusion");
    script_expect("ssn", NULL, "r1(x) r2(y) w1(y,1) c1 w2(x,1) c2",
                  "r1(x)=0 r2(y)=0 w1(y,1)=0 c1 w2(x,1)=0 k2:exclusion");
    /* the anomaly of the reader, whether it ends before the last one or is the last one */
    script_expect("ssn", NULL, "r1(x) r1(y) w2(y,2) c2 r3(x) r3(y) c3 w1(x,1) c1",
                  "r1(x)=0 r1(y)=0 w2(y,2)=0 c2 r3(x)=0 r3(y)=2 c3 w1(x,1)=0 k1:exclusion");
    script_expect("ssn", NULL, "r2(z) w1(z,1) c1 r3(z) w2(x,1) c2 r3(x) c3",
                  "r2(z)=0 w1(z,1)=0 c1 r3(z)=1 w2(x,1)=0 c2 k3:exclusion");
    /* a row named by a write, a locking read, a savepoint that was rolled back */
    script_expect("ssn", NULL, "s1(x) r2(y) w1(y,1) c1 w2(x,1) c2",
                  "s1(x)=0 r2(y)=0 w1(y,1)=0 c1 w2(x,1)=0 k2:exclusion");
    script_expect("ssn", NULL, "p1(1) r1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "r1(x)=0 r2(y)=0 w2(x,7)=0 c2 w1(y,5)=0 k1:exclusion");
    script_expect("ssn", NULL, "i1(x,5) r2(y) d2(x) c2 w1(y,1) c1",
                  "i1(x,5)#duplicate r2(y)=0 d2(x)=0 c2 w1(y,1)=0 k1:exclusion");
}

static void what_is_in_no_circle_passes(void **state) {
    (void)state;
    /* a pivot, with the one behind it the first to commit: T1 T2 T3 */
    script_expect("ssn", NULL, "r2(y) w3(y,1) c3 r1(x) w2(x,1) c2 c1", "r2(y)=0 w3(y,1)=0 c3 r1(x)=0 w2(x,1)=0 c2 c1");
    script_expect("ssn", NULL, "r1(x) w2(x,1) c2 r1(y) w1(z,1) c1", "r1(x)=0 w2(x,1)=0 c2 r1(y)=0 w1(z,1)=0 c1");
    /* what was undone is not written; what failed was not read */
    script_expect("ssn", NULL, "r1(x) r2(y) w1(y,1) c1 p2(1) w2(z,1) f2(1) c2",
                  "r1(x)=0 r2(y)=0 w1(y,1)=0 c1 w2(z,1)=0 c2");
    script_expect("ssn", NULL, "r2(z) w1(z,1) c1 w5(4,9) u3(3..4):nowait w2(x,1) c2 r3(x) c3 c5",
                  "r2(z)=0 w1(z,1)=0 c1 w5(4,9)=0 u3(3..4):nowait#nowait w2(x,1)=0 c2 r3(x)=0 c3 c5");
}

static void the_first_updater_wins(void **state) {
    (void)state;
    script_expect("ssn", NULL, "w1(x,1) w2(x,2) c1 c2", "w1(x,1)=0 w2(x,2)?1 c1 k2:write_conflict");
    script_expect("ssn", NULL, "r2(y) w1(x,1) c1 w2(x,2) c2", "r2(y)=0 w1(x,1)=0 c1 k2:write_conflict");
    script_expect("ssn", NULL, "w1(x,5) u2(x):nowait r2(x) c1 c2", "w1(x,5)=0 u2(x):nowait#nowait r2(x)=0 c1 c2");
    script_expect("ssn", NULL, "w1(x,5) u2(1..3):skip c1 c2", "w1(x,5)=0 u2(1..3):skip=2:0,3:0 c1 c2");
}

static void ranges_count(void **state) {
    (void)state;
    script_expect("ssn", NULL, "r1(7..9) r2(x) w1(x,1) c1 i2(8,1) c2",
                  "r1(7..9)=- r2(x)=0 w1(x,1)=0 c1 i2(8,1)=0 k2:exclusion");
    script_expect("ssn", NULL, "r1(8) r2(x) w1(x,1) c1 i2(8,1) c2",
                  "r1(8)=- r2(x)=0 w1(x,1)=0 c1 i2(8,1)=0 k2:exclusion");
    script_expect("ssn", NULL, "r1(7..9) r2(x) w1(x,1) i2(8,1) c2 c1",
                  "r1(7..9)=- r2(x)=0 w1(x,1)=0 i2(8,1)=0 c2 k1:exclusion");
    script_expect("ssn", NULL, "r1(5..6) r2(x) w1(x,1) d2(6) c1 c2",
                  "r1(5..6)=5:0,6:0 r2(x)=0 w1(x,1)=0 d2(6)=0 c1 k2:exclusion");
    script_expect("ssn", NULL, "r1(5..6) r2(x) w1(x,1) d2(6) c2 c1",
                  "r1(5..6)=5:0,6:0 r2(x)=0 w1(x,1)=0 d2(6)=0 c2 k1:exclusion");
    script_expect("ssn", NULL, "r1(4..6) r2(x) w1(x,1) c1 i2(8,1) c2",
                  "r1(4..6)=4:0,5:0,6:0 r2(x)=0 w1(x,1)=0 c1 i2(8,1)=0 c2");
}

/* T4 precedes T1, which overwrote what it had read; T3, which began when T1 and T2 had ended, precedes T4. When T4 is gone
 * nobody is left who is as old as T1 and T2. */
static void marks_outlast_those_who_overlapped(void **state) {
    (void)state;
    script_expect("ssn", NULL, "r4(x) w1(x,1) c1 r2(x) r2(7..9) c2 r3(y) w4(y,1) c4 i3(8,1) c3",
                  "r4(x)=0 w1(x,1)=0 c1 r2(x)=1 r2(7..9)=- c2 r3(y)=0 w4(y,1)=0 c4 i3(8,1)=0 k3:exclusion");
    script_expect("ssn", NULL, "i5(8,1) c5 r4(x) w1(x,1) d1(8) c1 r3(y) w4(y,1) c4 r3(7..9) c3",
                  "i5(8,1)=0 c5 r4(x)=0 w1(x,1)=0 d1(8)=1 c1 r3(y)=0 w4(y,1)=0 c4 r3(7..9)=- k3:exclusion");
    script_expect("ssn", NULL, "i5(8,1) c5 r4(x) w1(x,1) d1(8) c1 r3(y) w4(y,1) c4 r3(8) c3",
                  "i5(8,1)=0 c5 r4(x)=0 w1(x,1)=0 d1(8)=1 c1 r3(y)=0 w4(y,1)=0 c4 r3(8)=- k3:exclusion");
    script_expect("ssn", NULL, "r4(x) w1(x,1) c1 r2(x) c2 r3(y) w4(y,1) c4 i3(8,1) c3",
                  "r4(x)=0 w1(x,1)=0 c1 r2(x)=1 c2 r3(y)=0 w4(y,1)=0 c4 i3(8,1)=0 c3");
}

/* The log force of T1 is under way. */
static void a_sealed_transaction_counts_as_committed(void **state) {
    (void)state;
    static const struct {
        const char *schedule, *expected;
    } cases[] = {
        {"r1(x) r2(y) w1(y,1) w2(x,1) c1 c2", "r1(x)=0 r2(y)=0 w1(y,1)=0 w2(x,1)=0 k2:exclusion c1"},
        {"r1(7..9) r2(x) w1(x,1) i2(8,1) c2 c1", "r1(7..9)=- r2(x)=0 w1(x,1)=0 i2(8,1)=0 k1:exclusion c2"},
        {"r1(7..9) r2(x) w1(x,1) c1 i2(8,1) c2", "r1(7..9)=- r2(x)=0 w1(x,1)=0 i2(8,1)=0 k2:exclusion c1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script script;
        script_open(&script, "ssn", NULL, cases[i].schedule);
        script.spec.cost.log_force = distribution_constant(10 * MILLISECOND);
        assert_string_equal(script_run(&script), cases[i].expected);
        script_close(&script);
    }
}

TEST_GROUP(ssn, cmocka_unit_test(circles_are_not_closed), cmocka_unit_test(what_is_in_no_circle_passes),
           cmocka_unit_test(the_first_updater_wins), cmocka_unit_test(ranges_count),
           cmocka_unit_test(marks_outlast_those_who_overlapped),
           cmocka_unit_test(a_sealed_transaction_counts_as_committed))
