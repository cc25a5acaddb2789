/* test_tictoc.c - commit timestamps computed from the data (notation: support/script.h). */
#include "tests/support/script.h"

/* z is written at 1 and at 2; a commit at 2 has read x: so x is known to be valid up to 2. */
#define X_LASTS    "w4(z,1) c4 w5(z,2) c5 r3(z) r3(x) c3 "
#define X_LASTS_SO "w4(z,1)=0 c4 w5(z,2)=1 c5 r3(z)=2 r3(x)=0 c3 "

static void who_read_what_was_overwritten_may_come_before(void **state) {
    (void)state;
    script_expect("tictoc", NULL, "r1(x) w2(x,5) c2 r1(z) c1", "r1(x)=0 w2(x,5)=0 c2 r1(z)=0 c1");
    script_expect("tictoc", NULL, X_LASTS "r1(x) w2(x,5) c2 w1(y,1) c1",
                  X_LASTS_SO "r1(x)=0 w2(x,5)=0 c2 w1(y,1)=0 c1");
    script_expect("tictoc", NULL, "r1(x) w2(x,5) c2 w1(y,1) c1", "r1(x)=0 w2(x,5)=0 c2 w1(y,1)=0 k1:validation");
    script_expect("tictoc", NULL, "r2(x) w1(x,1) w2(y,1) c2 c1", "r2(x)=0 w1(x,1)=0 w2(y,1)=0 c2 c1");
    script_expect("tictoc", NULL, "w1(x,1) w2(x,2) c2 c1 r3(x) c3", "w1(x,1)=0 w2(x,2)=0 c2 c1 r3(x)=1 c3");
}

static void no_moment_suits_everything(void **state) {
    (void)state;
    /* write skew, a torn read, and a read that is repeated */
    script_expect("tictoc", NULL, "r1(x) r2(y) w1(y,1) w2(x,1) c1 c2",
                  "r1(x)=0 r2(y)=0 w1(y,1)=0 w2(x,1)=0 c1 k2:validation");
    script_expect("tictoc", NULL, "r1(x) w2(x,5) w2(y,5) c2 r1(y) c1",
                  "r1(x)=0 w2(x,5)=0 w2(y,5)=0 c2 r1(y)=5 k1:validation");
    script_expect("tictoc", NULL, "r1(x) w2(x,5) c2 r1(x) c1", "r1(x)=0 w2(x,5)=0 c2 k1:validation");
    script_expect("tictoc", NULL, X_LASTS "r1(x) w2(x,5) c2 w1(x,+=1) c1",
                  X_LASTS_SO "r1(x)=0 w2(x,5)=0 c2 k1:validation");
    script_expect("tictoc", NULL, X_LASTS "r1(x) w2(x,5) c2 w1(x,1) c1",
                  X_LASTS_SO "r1(x)=0 w2(x,5)=0 c2 w1(x,1)=5 k1:validation");
    /* a blind write depends on the row's being there, and its finding nothing on its not being there */
    script_expect("tictoc", NULL, "w1(x,5) d2(x) c2 c1", "w1(x,5)=0 d2(x)=0 c2 k1:validation");
    script_expect("tictoc", NULL, X_LASTS "r1(x) d2(x) c2 w1(x,5) c1",
                  X_LASTS_SO "r1(x)=0 d2(x)=0 c2 w1(x,5)=- k1:validation");
}

static void what_is_undone_counts_as_read(void **state) {
    (void)state;
    script_expect("tictoc", NULL, "p1(1) r1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "r1(x)=0 r2(y)=0 w2(x,7)=0 c2 w1(y,5)=0 k1:validation");
    script_expect("tictoc", NULL, "p1(1) w1(x,5) r1(x) f1(1) w2(x,7) c2 r1(x) c1",
                  "w1(x,5)=0 r1(x)=5 w2(x,7)=0 c2 r1(x)=7 c1");
    script_expect("tictoc", NULL, "i1(x,5) d2(x) c2 w1(y,1) c1",
                  "i1(x,5)#duplicate d2(x)=0 c2 w1(y,1)=0 k1:validation");
}

static void ranges_are_validated_again(void **state) {
    (void)state;
    script_expect("tictoc", NULL, "r1(7..9) i2(8,1) c2 c1", "r1(7..9)=- i2(8,1)=0 c2 k1:validation");
    script_expect("tictoc", NULL, "r1(7..9) i2(8,1) c2 r1(8) c1", "r1(7..9)=- i2(8,1)=0 c2 r1(8)=1 k1:validation");
    script_expect("tictoc", NULL, "r1(1..2) i2(8,1) c2 w1(y,1) c1", "r1(1..2)=1:0,2:0 i2(8,1)=0 c2 w1(y,1)=0 c1");
    /* a row of the range is a row like others: it may be overwritten later */
    script_expect("tictoc", NULL, "r1(1..2) w2(y,1) c2 c1", "r1(1..2)=1:0,2:0 w2(y,1)=0 c2 c1");
    /* a scan lies behind every delete of the table */
    script_expect("tictoc", NULL, "r1(1..2) d2(y) c2 c1", "r1(1..2)=1:0,2:0 d2(y)=0 c2 k1:validation");
    script_expect("tictoc", NULL, "r1(1..2) d2(y) c2 w1(z,1) c1",
                  "r1(1..2)=1:0,2:0 d2(y)=0 c2 w1(z,1)=0 k1:validation");
    /* it is not there any more for a scan that began later */
    script_expect("tictoc", NULL, X_LASTS "r1(6) d2(6) c2 r1(5..6) c1",
                  X_LASTS_SO "r1(6)=0 d2(6)=0 c2 r1(5..6)=5:0 k1:validation");
}

/* T1 replaces x, so it commits at 3. T2 read x before: if it relies on T1 in any way it comes behind it, and fails. */
static void absence_has_its_time_too(void **state) {
    (void)state;
    script_expect("tictoc", NULL, X_LASTS "r2(x) r1(7..9) w1(x,1) c1 i2(8,1) c2",
                  X_LASTS_SO "r2(x)=0 r1(7..9)=- w1(x,1)=0 c1 i2(8,1)=0 k2:validation");
    script_expect("tictoc", NULL, X_LASTS "r2(x) r1(8) w1(x,1) c1 i2(8,1) c2",
                  X_LASTS_SO "r2(x)=0 r1(8)=- w1(x,1)=0 c1 i2(8,1)=0 k2:validation");
    script_expect("tictoc", NULL, X_LASTS "r2(x) d1(6) w1(x,1) c1 r2(5..6) c2",
                  X_LASTS_SO "r2(x)=0 d1(6)=0 w1(x,1)=0 c1 r2(5..6)=5:0 k2:validation");
    script_expect("tictoc", NULL, X_LASTS "r2(x) d1(6) w1(x,1) c1 r2(6) c2",
                  X_LASTS_SO "r2(x)=0 d1(6)=0 w1(x,1)=0 c1 r2(6)=- k2:validation");
    script_expect("tictoc", NULL, X_LASTS "r2(x) w1(x,1) c1 i2(8,1) c2",
                  X_LASTS_SO "r2(x)=0 w1(x,1)=0 c1 i2(8,1)=0 c2");
}

/* T7 precedes T1, which overwrote what it had read; T1 deleted what T2 does not find any more, not even a trace; T2 read what
 * T7 has overwritten since. */
static void absence_is_behind_deletes_that_left_no_trace(void **state) {
    (void)state;
    script_expect("tictoc", NULL,
                  "w4(z,1) c4 w5(z,2) w5(4,2) i5(8,1) c5 r3(4) r3(y) c3 w6(z,3) c6 r8(z) r8(x) c8 "
                  "r7(x) w1(x,1) d1(8) c1 r2(y) r2(4) w7(y,5) c7 r2(8) c2",
                  "w4(z,1)=0 c4 w5(z,2)=1 w5(4,2)=0 i5(8,1)=0 c5 r3(4)=2 r3(y)=0 c3 w6(z,3)=2 c6 r8(z)=3 r8(x)=0 c8 "
                  "r7(x)=0 w1(x,1)=0 d1(8)=1 c1 r2(y)=0 r2(4)=2 w7(y,5)=0 c7 r2(8)=- k2:validation");
}

static const struct script_prices prices = {.log_force_ms = 10};
#define EXPECT_WITH_LOG(settings, schedule, expected) \
    script_expect_priced("tictoc", (settings), &prices, (schedule), (expected))

/* The log force of T1 is under way: its write locks are held. */
static void locks_last_until_the_writes_are_installed(void **state) {
    (void)state;
    EXPECT_WITH_LOG(NULL, "w1(x,1) c1 r2(x) c2", "w1(x,1)=0 r2(x)?1 c1 r2(x)!=1 c2");
    EXPECT_WITH_LOG(NULL, "w1(x,1) c1 u2(x):nowait c2", "w1(x,1)=0 u2(x):nowait#nowait c2 c1");
    EXPECT_WITH_LOG(NULL, "i1(8,1) c1 r2(7..9) c2", "i1(8,1)=0 r2(7..9)?1 c1 r2(7..9)!=8:1 c2");
    EXPECT_WITH_LOG(NULL, "w1(x,1) w2(x,2) c1 c2", "w1(x,1)=0 w2(x,2)=0 c2?1 c1 c2");
    /* what another is about to replace can be read up to now, but not be extended */
    EXPECT_WITH_LOG(NULL, "r2(x) w1(x,1) c1 c2", "r2(x)=0 w1(x,1)=0 c2 c1");
    EXPECT_WITH_LOG(NULL, "r2(x) w1(x,1) w2(y,1) c1 c2", "r2(x)=0 w1(x,1)=0 w2(y,1)=0 k2:validation c1");
    EXPECT_WITH_LOG(NULL, "r2(7..9) i1(8,1) c1 c2", "r2(7..9)=- i1(8,1)=0 k2:validation c1");
    /* who cannot pass any more does not wait to be told */
    EXPECT_WITH_LOG(NULL, "w3(y,1) r2(y) c3 +15 w1(x,1) w2(x,2) c1 c2",
                    "w3(y,1)=0 r2(y)=0 c3 w1(x,1)=0 w2(x,2)=0 k2:validation c1");
    EXPECT_WITH_LOG("locking=wait", "w1(z,1) w2(x,2) w2(z,2) c1 c2 r3(x) c3",
                    "w1(z,1)=0 w2(x,2)=0 w2(z,2)=0 c2?1 r3(x)?2 c1 c2 r3(x)!=2 c3");
    EXPECT_WITH_LOG("locking=retry", "w1(z,1) w2(x,2) w2(z,2) c1 c2 r3(x) c3",
                    "w1(z,1)=0 w2(x,2)=0 w2(z,2)=0 c2?1 r3(x)=0 c3 c1 c2");
}

TEST_GROUP(tictoc, cmocka_unit_test(who_read_what_was_overwritten_may_come_before),
           cmocka_unit_test(no_moment_suits_everything), cmocka_unit_test(what_is_undone_counts_as_read),
           cmocka_unit_test(ranges_are_validated_again), cmocka_unit_test(absence_has_its_time_too),
           cmocka_unit_test(absence_is_behind_deletes_that_left_no_trace),
           cmocka_unit_test(locks_last_until_the_writes_are_installed))
