/* test_occ_forward.c - validation against the read sets of the active (notation: support/script.h). */
#include "tests/support/script.h"

#define MILLISECOND INT64_C(1000000)

/* T2 has read x; T1 commits a write of it. */
static void readers_or_writer_give_way(void **state) {
    (void)state;
    script_expect("occ-forward", "resolve=kill", "r2(x) w1(x,1) w2(y,1) c1 c2",
                  "r2(x)=0 w1(x,1)=0 w2(y,1)=0 c1 k2:validation");
    script_expect("occ-forward", "resolve=die", "r2(x) w1(x,1) w2(y,1) c1 c2",
                  "r2(x)=0 w1(x,1)=0 w2(y,1)=0 k1:validation c2");
    /* who reads only gives way as well */
    script_expect("occ-forward", "resolve=kill", "r2(x) w1(x,1) c1 r2(y) c2", "r2(x)=0 w1(x,1)=0 c1 k2:validation");
    script_expect("occ-forward", "resolve=die", "r2(x) w1(x,1) c1 r2(y) c2",
                  "r2(x)=0 w1(x,1)=0 k1:validation r2(y)=0 c2");
    /* all of them */
    script_expect("occ-forward", NULL, "r2(x) r3(1..2) w1(x,1) r4(z) c1 c4",
                  "r2(x)=0 r3(1..2)=1:0,2:0 w1(x,1)=0 r4(z)=0 c1 k2:validation k3:validation c4");
}

static void nobody_is_in_the_way_who_has_not_read(void **state) {
    (void)state;
    static const char *const settings[] = {"resolve=kill", "resolve=die"};
    for (size_t i = 0; i < 2; i++) {
        /* what was read is committed already, or will be read after */
        script_expect("occ-forward", settings[i], "w1(x,1) r2(y) c1 r2(x) c2", "w1(x,1)=0 r2(y)=0 c1 r2(x)=1 c2");
        script_expect("occ-forward", settings[i], "r1(x) w2(y,2) c1 c2", "r1(x)=0 w2(y,2)=0 c1 c2");
        /* two blind writes */
        script_expect("occ-forward", settings[i], "w1(x,1) w2(x,2) c2 c1 r3(x) c3",
                      "w1(x,1)=0 w2(x,2)=0 c2 c1 r3(x)=1 c3");
        /* who rolls back is validated against nobody */
        script_expect("occ-forward", settings[i], "r2(x) w1(x,1) a1 c2", "r2(x)=0 w1(x,1)=0 a1 c2");
    }
}

static void ranges_are_read_too(void **state) {
    (void)state;
    script_expect("occ-forward", NULL, "r1(7..9) i2(8,1) c2 w1(x,1) c1", "r1(7..9)=- i2(8,1)=0 c2 k1:validation");
    script_expect("occ-forward", NULL, "r1(5..9) d2(6) c2 c1", "r1(5..9)=5:0,6:0 d2(6)=0 c2 k1:validation");
    script_expect("occ-forward", NULL, "r1(5..9) i2(10,1) c2 c1", "r1(5..9)=5:0,6:0 i2(10,1)=0 c2 c1");
    script_expect("occ-forward", "resolve=die", "r1(7..9) i2(8,1) c2 c1", "r1(7..9)=- i2(8,1)=0 k2:validation c1");
}

static void blind_writes_rely_on_the_row_being_there(void **state) {
    (void)state;
    script_expect("occ-forward", NULL, "w1(x,5) d2(x) c2 c1", "w1(x,5)=0 d2(x)=0 c2 k1:validation");
    script_expect("occ-forward", NULL, "d1(8) i2(8,1) c2 w1(y,1) c1", "d1(8)=- i2(8,1)=0 c2 k1:validation");
    script_expect("occ-forward", NULL, "i1(10,1) i2(10,2) c1 c2", "i1(10,1)=0 i2(10,2)=0 c1 k2:validation");
}

static void savepoints_forget_no_read(void **state) {
    (void)state;
    script_expect("occ-forward", NULL, "p1(1) r1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "r1(x)=0 r2(y)=0 w2(x,7)=0 c2 k1:validation");
    script_expect("occ-forward", NULL, "p1(1) w1(x,+=5) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "w1(x,+=5)=0 r2(y)=0 w2(x,7)=0 c2 k1:validation");
    /* what is rolled back is not written */
    script_expect("occ-forward", NULL, "p1(1) w1(x,5) f1(1) r2(x) c1 c2", "w1(x,5)=0 r2(x)=0 c1 c2");
}

static const char *with_log(struct script *script, const char *schedule) {
    script_open(script, "occ-forward", NULL, schedule);
    script->spec.cost.log_force = distribution_constant(10 * MILLISECOND);
    return script_run(script);
}

/* The log force of T1 lasts from 1 to 11 ms. */
static void readers_of_the_write_set_wait_for_the_write_phase(void **state) {
    (void)state;
    struct script script;
    assert_string_equal(
        with_log(&script, "w1(x,1) c1 r2(y) r2(x) r3(1..2) w4(x,4) u5(x):nowait u6(1..3):skip"),
        "w1(x,1)=0 r2(y)=0 r2(x)?1 r3(1..2)?1 w4(x,4)?1 u5(x):nowait#nowait u6(1..3):skip?1 c1 r2(x)!=1 "
        "r3(1..2)!=1:1,2:0 w4(x,4)!=1 u6(1..3):skip!=1:1,2:0,3:0 a5 a2 a3 a4 a6");
    script_close(&script);
    /* a row that will be inserted */
    assert_string_equal(with_log(&script, "i1(8,1) c1 r2(7..9) r3(1..2) r4(8) c2 c4"),
                        "i1(8,1)=0 r2(7..9)?1 r3(1..2)=1:0,2:0 r4(8)?1 c1 r2(7..9)!=8:1 c2 r4(8)!=1 c4 a3");
    script_close(&script);
}

/* Log forces overlap; who wrote the same row waits, and installs after the one validated before. */
static void write_phases_overlap_but_not_on_one_row(void **state) {
    (void)state;
    struct script script;
    assert_string_equal(with_log(&script, "w1(x,1) w2(y,2) w3(x,3) c1 c2 c3"),
                        "w1(x,1)=0 w2(y,2)=0 w3(x,3)=0 c3?1 c1 c2 c3");
    assert_int_equal(script.committed_ns[1], 13 * MILLISECOND);
    assert_int_equal(script.committed_ns[2], 14 * MILLISECOND);
    assert_int_equal(script.committed_ns[3], 23 * MILLISECOND);
    script_close(&script);
}

/* Every row it wrote is held against every active transaction until one is found that relies on it: 1 ms each. */
static void every_comparison_has_its_price(void **state) {
    (void)state;
    static const struct {
        const char *schedule, *expected;
        int64_t committed_ms;
    } cases[] = {
        /* two rows, two others */
        {"r2(x) r3(y) w1(z,1) w1(4,1) c1 a2 a3", "r2(x)=0 r3(y)=0 w1(z,1)=0 w1(4,1)=0 a2 a3 c1", 4 + 4},
        /* the first row decides about T2, neither about T3 */
        {"r2(x) r3(y) w1(x,1) w1(4,1) c1 +9 a3", "r2(x)=0 r3(y)=0 w1(x,1)=0 w1(4,1)=0 k2:validation c1 a3", 4 + 3},
        /* the second row decides about the scanner */
        {"r2(3..4) w1(x,1) w1(4,1) c1 +9 a2", "r2(3..4)=3:0,4:0 w1(x,1)=0 w1(4,1)=0 k2:validation c1", 3 + 2},
        /* neither who has ended nor who is sealed is compared */
        {"r2(x) r3(y) a2 w4(4,1) c4 w1(z,1) c1 +9 a3", "r2(x)=0 r3(y)=0 a2 w4(4,1)=0 w1(z,1)=0 c4 c1 a3", 6 + 1},
        /* a duplicate key is a read of the row it met */
        {"r2(x) i2(y,1) w1(y,1) c1 +9 a2", "r2(x)=0 i2(y,1)#duplicate w1(y,1)=0 k2:validation c1", 3 + 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script script;
        script_open(&script, "occ-forward", NULL, cases[i].schedule);
        script.spec.cost.cpu_validate = distribution_constant(MILLISECOND);
        assert_string_equal(script_run(&script), cases[i].expected);
        assert_int_equal(script.committed_ns[1], cases[i].committed_ms * MILLISECOND);
        script_close(&script);
    }
}

TEST_GROUP(occ_forward, cmocka_unit_test(readers_or_writer_give_way),
           cmocka_unit_test(nobody_is_in_the_way_who_has_not_read), cmocka_unit_test(ranges_are_read_too),
           cmocka_unit_test(blind_writes_rely_on_the_row_being_there), cmocka_unit_test(savepoints_forget_no_read),
           cmocka_unit_test(readers_of_the_write_set_wait_for_the_write_phase),
           cmocka_unit_test(write_phases_overlap_but_not_on_one_row), cmocka_unit_test(every_comparison_has_its_price))
