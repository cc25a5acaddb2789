/* test_wait_depth.c - chains of waiters stay one deep, and who is cut out of a deeper one (notation: support/script.h). */
#include "tests/support/script.h"

static void one_may_wait_for_who_runs(void **state) {
    (void)state;
    script_expect("wait-depth", NULL, "w1(x,1) r2(x) c1 c2", "w1(x,1)=0 r2(x)?1 c1 r2(x)!=1 c2");
    /* those behind in the queue wait for the same holder */
    script_expect("wait-depth", NULL, "w1(x,1) w2(x,2) w3(x,3) w1(y,1) c1 c2 c3",
                  "w1(x,1)=0 w2(x,2)?1 w3(x,3)?1,2 w1(y,1)=0 c1 w2(x,2)!=1 c2 w3(x,3)!=2 c3");
}

/* T3 would wait for T2, which waits for T1. */
static void a_holder_that_waits_is_cut_out_unless_it_is_longest(void **state) {
    (void)state;
    script_expect("wait-depth", NULL, "w1(x,1) r1(z) w2(y,2) w2(x,2) w3(y,3) c3 c1",
                  "w1(x,1)=0 r1(z)=0 w2(y,2)=0 w2(x,2)?1 w3(y,3)?2 k2:depth w3(y,3)!=0 c3 c1");
    script_expect("wait-depth", NULL, "w1(x,1) w2(y,2) w2(x,2) w3(y,3) c1 c2",
                  "w1(x,1)=0 w2(y,2)=0 w2(x,2)?1 k3:depth c1 w2(x,2)!=1 c2");
    script_expect("wait-depth", "priority=running", "w1(x,1) w2(y,2) w2(x,2) w3(y,3) c3 c1",
                  "w1(x,1)=0 w2(y,2)=0 w2(x,2)?1 w3(y,3)?2 k2:depth w3(y,3)!=0 c3 c1");
}

/* T3 waits for T2, which would wait for T1. */
static void who_is_waited_for_may_not_wait_unless_it_is_longest(void **state) {
    (void)state;
    script_expect("wait-depth", NULL, "w1(x,1) r1(z) w2(y,2) w3(y,3) w2(x,2) c3 c1",
                  "w1(x,1)=0 r1(z)=0 w2(y,2)=0 w3(y,3)?2 k2:depth w3(y,3)!=0 c3 c1");
    script_expect("wait-depth", NULL, "w1(x,1) w2(y,2) w3(y,3) w2(x,2) c2 c3",
                  "w1(x,1)=0 w2(y,2)=0 w3(y,3)?2 w2(x,2)?1 k1:depth w2(x,2)!=0 c2 w3(y,3)!=2 c3");
    script_expect("wait-depth", "priority=running", "w1(x,1) w2(y,2) w3(y,3) w2(x,2) c3 c1",
                  "w1(x,1)=0 w2(y,2)=0 w3(y,3)?2 k2:depth w3(y,3)!=0 c3 c1");
}

/* A lock that stands beside the request is not waited for. */
static void only_who_is_really_waited_for_counts(void **state) {
    (void)state;
    script_expect("wait-depth", NULL, "r1(x) w2(y,2) u3(x) w4(x,4) w3(y,3) c1 c2 a3 c4",
                  "r1(x)=0 w2(y,2)=0 u3(x)=0 w4(x,4)?1,3 w3(y,3)?2 k2:depth w3(y,3)!=0 c1 a3 w4(x,4)!=0 c4");
    script_expect("wait-depth", NULL, "u1(x) r2(x) u3(x) w4(y,4) r2(z) r2(y) c4 c2 c1 c3",
                  "u1(x)=0 r2(x)=0 u3(x)?1 w4(y,4)=0 r2(z)=0 r2(y)?4 c4 r2(y)!=4 c2 c1 u3(x)!=0 c3");
}

/* No cycle can close: opposite transfers, conversions, inserts into each other's gaps. */
static void there_is_no_deadlock(void **state) {
    (void)state;
    static const char *const schedules[] = {
        "w1(x,1) w2(y,2) w1(y,1) w2(x,2) c1 c2",   "r1(x) r2(x) w1(x,1) w2(x,2) c1 c2",
        "r1(z) r1(x) r2(x) w2(x,2) u1(x) c1 c2",   "r1(y) r2(x) w3(x,1) w4(y,1) r1(x) r2(y) c3 c1 c2",
        "r1(7..9) r2(7..9) i1(8,1) i2(9,1) c1 c2", "w1(x,1) w2(y,2) w3(z,3) w1(y,1) w2(z,2) w3(x,3) c1 c2 c3"};
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
        static const char *const settings[] = {"priority=length", "priority=running"};
        for (size_t j = 0; j < 2; j++) {
            struct script script;
            script_open(&script, "wait-depth", settings[j], schedules[i]);
            script_run(&script);
            assert_contains(text_string(&script.said), ":depth");
            bool any = script.committed_ns[1] >= 0 || script.committed_ns[2] >= 0 || script.committed_ns[3] >= 0;
            assert_true(any);
            script_close(&script);
        }
    }
}

TEST_GROUP(wait_depth, cmocka_unit_test(one_may_wait_for_who_runs),
           cmocka_unit_test(a_holder_that_waits_is_cut_out_unless_it_is_longest),
           cmocka_unit_test(who_is_waited_for_may_not_wait_unless_it_is_longest),
           cmocka_unit_test(only_who_is_really_waited_for_counts), cmocka_unit_test(there_is_no_deadlock))
