/* test_cascade.c - what becomes of dirty data: cascades, commits that wait, savepoints and statements that fail, under
 * the two that show it, 2pl-basic and raw to; then random worlds that do little else. */
#include "tests/support/script.h"
#include "tests/support/wild.h"

static const char *const both[][2] = {{"2pl-basic", NULL}, {"to", "strict=no"}};

static void expect_both(const char *schedule, const char *expected) {
    for (size_t i = 0; i < 2; i++) {
        script_expect(both[i][0], both[i][1], schedule, expected);
    }
}

static void commits_wait_for_those_read_from(void **state) {
    (void)state;
    expect_both("w1(x,1) r2(x) c2 c1", "w1(x,1)=0 r2(x)=1 c2?1 c1 c2");
    expect_both("w1(x,1) w2(x,2) c2 c1", "w1(x,1)=0 w2(x,2)=1 c2?1 c1 c2");
    /* each for all those it read from, and those for theirs */
    expect_both("w1(x,1) w2(y,2) r3(x) r3(y) c3 c2 c1", "w1(x,1)=0 w2(y,2)=0 r3(x)=1 r3(y)=2 c3?1,2 c2 c1 c3");
    expect_both("w1(x,1) w2(x,+=1) r3(x) c3 c2 c1", "w1(x,1)=0 w2(x,+=1)=1 r3(x)=2 c3?2 c2?1 c1 c2 c3");
    script_expect("2pl-basic", "recoverable=no", "w1(x,1) r2(x) c2 a1 r3(x) c3", "w1(x,1)=0 r2(x)=1 c2 a1 r3(x)=0 c3");
    script_expect("to", "strict=no recoverable=no", "w1(x,1) r2(x) c2 a1 r3(x) c3",
                  "w1(x,1)=0 r2(x)=1 c2 a1 r3(x)=0 c3");
}

static void aborts_cascade(void **state) {
    (void)state;
    expect_both("w1(x,1) r2(x) a1 c2", "w1(x,1)=0 r2(x)=1 a1 k2:cascade");
    expect_both("w1(x,1) r2(x) c2 a1", "w1(x,1)=0 r2(x)=1 c2?1 a1 k2:cascade");
    expect_both("w1(x,1) w2(x,2) a1 c2 r3(x) c3", "w1(x,1)=0 w2(x,2)=1 a1 k2:cascade r3(x)=0 c3");
    /* also of who has read that there is nothing, and of who met a duplicate */
    expect_both("d1(x) r2(x) a1 c2", "d1(x)=0 r2(x)=- a1 k2:cascade");
    expect_both("i1(10,5) r2(8..12) a1 c2", "i1(10,5)=0 r2(8..12)=10:5 a1 k2:cascade");
    expect_both("d1(3) r2(2..4) a1 c2", "d1(3)=0 r2(2..4)=2:0,4:0 a1 k2:cascade");
    expect_both("i1(10,5) i2(10,6) a1 c2", "i1(10,5)=0 i2(10,6)#duplicate a1 k2:cascade");
    /* not of who wrote before, nor of who did not read it */
    expect_both("w1(x,1) w2(x,2) r3(y) a2 c3 c1 r4(x) c4", "w1(x,1)=0 w2(x,2)=1 r3(y)=0 a2 c3 c1 r4(x)=1 c4");
    /* it goes all the way, and out of the middle of the versions */
    expect_both("w1(x,1) w2(x,+=1) w3(x,+=1) w4(x,+=1) a2 c4 c3 c1 r5(x) c5",
                "w1(x,1)=0 w2(x,+=1)=1 w3(x,+=1)=2 w4(x,+=1)=3 a2 k3:cascade k4:cascade c1 r5(x)=1 c5");
}

static void savepoints_take_back_what_was_seen(void **state) {
    (void)state;
    expect_both("p1(1) w1(x,1) r2(x) f1(1) c1 c2", "w1(x,1)=0 r2(x)=1 k2:cascade c1");
    /* what was written before it stands */
    script_expect("to", "strict=no", "w1(x,1) r2(x) p1(1) w1(y,1) f1(1) c1 c2", "w1(x,1)=0 r2(x)=1 w1(y,1)=0 c1 c2");
    /* who took back what it put over another's does not depend on that one any more, who read it does */
    script_expect("to", "strict=no", "w1(x,1) p2(1) w2(x,5) f2(1) a1 c2", "w1(x,1)=0 w2(x,5)=1 a1 c2");
    script_expect("to", "strict=no", "w1(x,1) p2(1) w2(x,+=5) f2(1) a1 c2", "w1(x,1)=0 w2(x,+=5)=1 a1 k2:cascade");
}

static void failed_statements_read_nothing(void **state) {
    (void)state;
    /* T2 has seen T1's x when it meets T3's lock on z */
    script_expect("2pl-basic", NULL, "u3(z) w1(x,1) u2(1..3):nowait a1 c2 w3(y,1) c3",
                  "u3(z)=0 w1(x,1)=0 u2(1..3):nowait#nowait a1 c2 w3(y,1)=0 c3");
    script_expect("2pl-basic", NULL, "u3(z) w1(x,1) r2(x) u2(1..3):nowait a1 c2 w3(y,1) c3",
                  "u3(z)=0 w1(x,1)=0 r2(x)=1 u2(1..3):nowait#nowait a1 k2:cascade w3(y,1)=0 c3");
}

/* In the raw form nobody rewrites, or reads again, what a younger one has seen or overwritten. */
static void raw_timestamps_are_kept(void **state) {
    (void)state;
    script_expect("to", "strict=no", "w2(x,2) r1(x) c1 c2", "w2(x,2)=0 k1:ts_late c2");
    script_expect("to", "strict=no", "w2(x,2) w1(x,1) c1 c2", "w2(x,2)=0 k1:ts_late c2");
    script_expect("to", "strict=no", "w1(x,1) r2(x) w1(x,5) c1 c2", "w1(x,1)=0 r2(x)=1 k1:ts_late k2:cascade");
    script_expect("to", "strict=no", "w1(x,1) w2(x,2) r1(x) c1 c2", "w1(x,1)=0 w2(x,2)=1 k1:ts_late k2:cascade");
    script_expect("to", "strict=no", "w1(x,1) r1(x) w1(x,2) r2(x) r1(x) c1 c2",
                  "w1(x,1)=0 r1(x)=1 w1(x,2)=1 r2(x)=2 r1(x)=2 c1 c2");
    script_expect("to", "strict=no", "r2(8..12) i1(10,1) c1 c2", "r2(8..12)=- k1:ts_late c2");
}

/* The next transaction of T1's terminal begins in the instant in which T2 has to go: it waits for what is about to vanish
 * instead of depending on it. */
static void the_doomed_are_waited_for(void **state) {
    (void)state;
    static const char *const expected[] = {
        "w1(x,1)=0 w2(x,2)=1 a1 w1(x,1)?2 k2:cascade w2(x,2)?1 w1(x,1)!=0 a1 w2(x,2)!=0 c2",
        "w1(x,1)=0 w2(x,2)=1 a1 w1(x,1)?2 k2:cascade w2(x,2)=0 k1:ts_late c2"};
    for (size_t i = 0; i < 2; i++) {
        struct script script;
        script_open(&script, both[i][0], both[i][1], "w1(x,1) w2(x,2) a1 c2");
        script.spec.transactions_max = 2;
        assert_string_equal(script_run(&script), expected[i]);
        script_close(&script);
    }
}

/* The lock point of a script is its last statement: what was read is free, what was written only in the basic form. */
static void locks_go_at_the_lock_point(void **state) {
    (void)state;
    script_expect("2pl", NULL, "r1(y) w1(x,1) w2(y,2) c2 c1", "r1(y)=0 w1(x,1)=0 w2(y,2)?1 c1 w2(y,2)!=0 c2");
    script_expect("2pl-strict", NULL, "r1(y) w2(y,2) w1(x,1) r3(x) c2 c1 c3",
                  "r1(y)=0 w2(y,2)?1 w1(x,1)=0 w2(y,2)!=0 r3(x)?1 c2 c1 r3(x)!=1 c3");
    script_expect("2pl-basic", NULL, "r1(y) w2(y,2) w1(x,1) r3(x) c2 c1 c3",
                  "r1(y)=0 w2(y,2)?1 w1(x,1)=0 w2(y,2)!=0 r3(x)=1 c2 c1 c3");
    /* gaps too */
    script_expect("2pl-strict", NULL, "r1(8..9) w1(x,1) i2(8,1) c2 c1", "r1(8..9)=- w1(x,1)=0 i2(8,1)=0 c2 c1");
    /* an X under which nothing was written, or nothing is left, only protects a read */
    script_expect("2pl-strict", NULL, "d1(x) c1 w2(x,+=1) r2(y) w3(x,5) c3 c2",
                  "d1(x)=0 c1 w2(x,+=1)=- r2(y)=0 w3(x,5)=- c3 c2");
    script_expect("2pl-strict", NULL, "p1(1) w1(x,1) f1(1) w2(x,2) c2 c1", "w1(x,1)=0 w2(x,2)=0 c2 c1");
    script_expect("2pl-strict", NULL, "w1(x,1) p1(1) w1(y,1) f1(1) w2(y,2) r3(x) c2 c1 c3",
                  "w1(x,1)=0 w1(y,1)=0 w2(y,2)=0 r3(x)?1 c2 c1 r3(x)!=1 c3");
    /* after a failed statement nobody knows the plan: the lock point is prepare */
    script_expect("2pl-basic", NULL, "w3(z,1) u1(z):nowait w1(x,1) r2(x) c1 c2 c3",
                  "w3(z,1)=0 u1(z):nowait=1 w1(x,1)=0 r2(x)=1 c1?3 c2?1 c3 c1 c2");
    script_expect("2pl-basic", NULL, "u3(z) u1(z):nowait w1(x,1) r2(x) w3(y,1) c1 c2 c3",
                  "u3(z)=0 u1(z):nowait#nowait w1(x,1)=0 r2(x)?1 w3(y,1)=0 c1 r2(x)!=1 c2 c3");
}

/* ---- Random worlds ---- */

enum { WORLDS = 60, WORLDS_LONG = 5000 };

struct sum {
    uint64_t cascades, aborted_reads, unrecoverable, broken, mismatches, replies;
};

static struct sum run_worlds(const char *algorithm, const char *settings) {
    struct sum sum = {0};
    for (uint64_t seed = 1; seed <= (test_long() ? WORLDS_LONG : WORLDS); seed++) {
        struct wild_world world;
        struct run_result result;
        wild_world_draw(&world, cc_find(algorithm), seed, settings);
        world.spec.certify = true;
        wild_world_run(&world, &result);
        assert_true(result.status == RUN_OK && result.quiescent);
        sum.cascades += result.aborts_by_reason[REASON_CASCADE];
        sum.aborted_reads += result.anomalies_by_name[FLAW_G1A];
        sum.unrecoverable += result.unrecoverable;
        sum.broken += result.promise_broken;
        sum.mismatches += world.oracle.mismatches;
        sum.replies += world.oracle.replies;
        if (result.promise_broken) {
            print_error("%s: %s\n", world.replay, text_string(&result.witness));
        }
        wild_world_free(&world);
        run_result_free(&result);
    }
    print_message("%s %s: %d cascades, %d aborted reads, %d unrecoverable\n", algorithm, settings, (int)sum.cascades,
                  (int)sum.aborted_reads, (int)sum.unrecoverable);
    return sum;
}

/* Not recoverable: reads of what was rolled back are counted, and break nothing; nothing else goes wrong. */
static void promises_hold_with_dirty_data(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sum yes = run_worlds(both[i][0], i == 0 ? "recoverable=yes" : "strict=no recoverable=yes");
        struct sum no = run_worlds(both[i][0], i == 0 ? "recoverable=no" : "strict=no recoverable=no");
        assert_true(yes.cascades > 0 && no.cascades > 0);
        assert_true(yes.aborted_reads == 0 && yes.unrecoverable == 0 && yes.replies > 0 && yes.mismatches == 0);
        assert_true(no.aborted_reads > 0 && no.unrecoverable >= no.aborted_reads);
        assert_true(yes.broken == 0 && no.broken == 0);
    }
    struct sum strict = run_worlds("to", "strict=yes");
    assert_true(strict.cascades == 0 && strict.unrecoverable == 0);
}

TEST_GROUP(cascade, cmocka_unit_test(commits_wait_for_those_read_from), cmocka_unit_test(aborts_cascade),
           cmocka_unit_test(savepoints_take_back_what_was_seen), cmocka_unit_test(failed_statements_read_nothing),
           cmocka_unit_test(raw_timestamps_are_kept), cmocka_unit_test(the_doomed_are_waited_for),
           cmocka_unit_test(locks_go_at_the_lock_point), cmocka_unit_test(promises_hold_with_dirty_data))
