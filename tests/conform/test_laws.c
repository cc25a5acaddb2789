/* test_laws.c - the laws of locking, one schedule each, with what exactly must happen (notation: support/script.h). */
#include "tests/support/script.h"

static void readers_do_not_overtake_a_writer(void **state) {
    (void)state;
    script_expect("2pl", NULL, "r1(x) w2(x,5) r3(x) c1 c2 c3",
                  "r1(x)=0 w2(x,5)?1 r3(x)?2 c1 w2(x,5)!=0 c2 r3(x)!=5 c3");
    /* neither when the writer gives up: then those behind it go on */
    script_expect("2pl-timeout", "lock_timeout=4ms", "r1(x) w2(x,5) r3(x) +10 c1 c3",
                  "r1(x)=0 w2(x,5)?1 r3(x)?2 k2:timeout r3(x)!=0 c1 c3");
}

static void u_stands_beside_s_but_not_beside_u(void **state) {
    (void)state;
    script_expect("2pl", NULL, "r1(x) u2(x) u3(x) r4(x) c1 c2 c3 c4",
                  "r1(x)=0 u2(x)=0 u3(x)?2 r4(x)?3 c1 c2 u3(x)!=0 r4(x)!=0 c3 c4");
    script_expect("2pl", NULL, "u1(x) r2(x) s3(x) w1(x,5) c2 c3 c1",
                  "u1(x)=0 r2(x)=0 s3(x)=0 w1(x,5)?2,3 c2 c3 w1(x,5)!=0 c1");
}

static void x_stands_alone(void **state) {
    (void)state;
    script_expect("2pl", NULL, "w1(x,5) r2(x) u3(x) w4(x,6) r5(y) a1 c2 c3 c4 c5",
                  "w1(x,5)=0 r2(x)?1 u3(x)?1,2 w4(x,6)?1,2,3 r5(y)=0 a1 r2(x)!=0 u3(x)!=0 c2 c3 w4(x,6)!=0 c4 c5");
}

static void upgrades_go_before_new_requests(void **state) {
    (void)state;
    script_expect("2pl", NULL, "r1(x) r2(x) w3(x,5) w1(x,7) c2 c1 c3",
                  "r1(x)=0 r2(x)=0 w3(x,5)?1,2 w1(x,7)?2 c2 w1(x,7)!=0 c1 w3(x,5)!=7 c3");
}

static void conversions_deadlock_and_for_update_cures_it(void **state) {
    (void)state;
    script_expect("2pl", NULL, "r1(x) r2(x) w1(x,5) w2(x,7) c1 c2",
                  "r1(x)=0 r2(x)=0 w1(x,5)?2 k2:deadlock w1(x,5)!=0 c1");
    script_expect("2pl", NULL, "u1(x) u2(x) w1(x,5) c1 w2(x,7) c2",
                  "u1(x)=0 u2(x)?1 w1(x,5)=0 c1 u2(x)!=5 w2(x,7)=5 c2");
}

/* Locks are held to the end, those of readers too. */
static void locks_are_held_to_the_end(void **state) {
    (void)state;
    script_expect("2pl", NULL, "r1(x) r1(y) w1(z,1) w2(x,5) c1 w3(z,2) c2 c3",
                  "r1(x)=0 r1(y)=0 w1(z,1)=0 w2(x,5)?1 c1 w2(x,5)!=0 w3(z,2)=1 c2 c3");
    /* rows that do not match stay locked as well */
    script_expect("2pl", NULL, "d1(x) d1(x) r2(x) a1 c2", "d1(x)=0 d1(x)=- r2(x)?1 a1 r2(x)!=0 c2");
}

/* The commit point is at 1 ms, the deferred write of the row lasts until 11 ms. */
static void locks_outlast_the_deferred_writes(void **state) {
    (void)state;
    static const char *const algorithms[] = {"2pl", "2pl-timeout", "wound-wait", "si"};
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        struct script script;
        script_open(&script, algorithms[i], NULL, "w1(x,1) c1 w2(x,2) c2");
        script.spec.cost.io_write = distribution_constant(10000000);
        assert_string_equal(script_run(&script), "w1(x,1)=0 c1 w2(x,2)?1 w2(x,2)!=1 c2");
        assert_int_equal(script.committed_ns[1], 1000000);
        assert_int_equal(script.committed_ns[2], 11000000);
        script_close(&script);
    }
}

static void nowait_fails_the_statement_alone(void **state) {
    (void)state;
    script_expect("2pl", NULL, "w1(x,5) u2(x):nowait r2(y) c1 u2(x):nowait c2",
                  "w1(x,5)=0 u2(x):nowait#nowait r2(y)=0 c1 u2(x):nowait=5 c2");
    /* what the failed statement had locked is free again */
    script_expect("2pl", NULL, "w1(z,5) u2(1..3):nowait w3(x,1) c3 c1 c2",
                  "w1(z,5)=0 u2(1..3):nowait#nowait w3(x,1)=0 c3 c1 c2");
    script_expect("2pl", NULL, "w1(z,5) r2(1..3):nowait w3(x,1) c3 c1 c2",
                  "w1(z,5)=0 r2(1..3):nowait#nowait w3(x,1)=0 c3 c1 c2");
    script_expect("2pl", NULL, "i1(10,5) r2(8..12):nowait i3(8,1) c3 c1 c2",
                  "i1(10,5)=0 r2(8..12):nowait#nowait i3(8,1)=0 c3 c1 c2");
    /* but what was locked before it stays */
    script_expect("2pl", NULL, "w1(z,5) r2(x) u2(1..3):nowait w3(x,1) c2 c3 c1",
                  "w1(z,5)=0 r2(x)=0 u2(1..3):nowait#nowait w3(x,1)?2 c2 w3(x,1)!=0 c3 c1");
    script_expect("si", NULL, "w1(x,5) u2(x):nowait r2(x) c1 c2", "w1(x,5)=0 u2(x):nowait#nowait r2(x)=0 c1 c2");
}

static void skip_locked_leaves_rows_out(void **state) {
    (void)state;
    script_expect("2pl", NULL, "w1(x,5) u2(1..3):skip u3(1..6):skip:1 c1 c2 c3",
                  "w1(x,5)=0 u2(1..3):skip=2:0,3:0 u3(1..6):skip:1=4:0 c1 c2 c3");
    script_expect("si", NULL, "w1(x,5) u2(1..3):skip u3(1..6):skip:1 c1 c2 c3",
                  "w1(x,5)=0 u2(1..3):skip=2:0,3:0 u3(1..6):skip:1=4:0 c1 c2 c3");
}

static void duplicates_are_errors_and_reads(void **state) {
    (void)state;
    script_expect("2pl", NULL, "i1(x,5) d2(x) c1 c2", "i1(x,5)#duplicate d2(x)?1 c1 d2(x)!=0 c2");
    script_expect("2pl", NULL, "i1(10,1) i2(10,2) c1 c2", "i1(10,1)=0 i2(10,2)?1 c1 i2(10,2)!#duplicate c2");
    script_expect("2pl", NULL, "i1(10,1) i2(10,2) a1 c2 r3(10) c3",
                  "i1(10,1)=0 i2(10,2)?1 a1 i2(10,2)!=0 c2 r3(10)=2 c3");
    script_expect("2pl", NULL, "d1(x) i1(x,3) r1(x) c1 r2(x) c2", "d1(x)=0 i1(x,3)=0 r1(x)=3 c1 r2(x)=3 c2");
    script_expect("si", NULL, "i1(10,1) i2(10,2) c1 c2", "i1(10,1)=0 i2(10,2)?1 c1 k2:write_conflict");
    script_expect("si", NULL, "i1(10,1) i2(10,2) a1 c2", "i1(10,1)=0 i2(10,2)?1 a1 i2(10,2)!=0 c2");
    script_expect("occ", NULL, "i1(x,5) d2(x) c2 c1", "i1(x,5)#duplicate d2(x)=0 c2 k1:validation");
    script_expect("occ", NULL, "i1(10,1) i2(10,2) c1 c2", "i1(10,1)=0 i2(10,2)=0 c1 k2:validation");
}

/* Law 7. */
static void savepoints_keep_what_protects_reads(void **state) {
    (void)state;
    script_expect("2pl", NULL, "p1(1) r1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "r1(x)=0 r2(y)=0 w2(x,7)?1 w1(y,5)?2 k2:deadlock w1(y,5)!=0 c1");
    script_expect("2pl", NULL, "p1(1) w1(x,+=5) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "w1(x,+=5)=0 r2(y)=0 w2(x,7)?1 w1(y,5)?2 k2:deadlock w1(y,5)!=0 c1");
    script_expect("occ", NULL, "p1(1) w1(x,+=5) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
                  "w1(x,+=5)=0 r2(y)=0 w2(x,7)=0 c2 w1(y,5)=0 k1:validation");
    /* the right to write goes: what was read becomes S, what was not goes, an upgrade returns to what it was */
    script_expect("2pl", NULL, "p1(1) w1(x,+=5) f1(1) r2(x) c2 c1", "w1(x,+=5)=0 r2(x)=0 c2 c1");
    script_expect("2pl", NULL, "p1(1) w1(x,5) f1(1) w2(x,7) c2 c1", "w1(x,5)=0 w2(x,7)=0 c2 c1");
    script_expect("2pl", NULL, "r1(x) p1(1) w1(x,5) f1(1) r2(x) w3(x,1) c1 c2 c3",
                  "r1(x)=0 w1(x,5)=0 r2(x)=0 w3(x,1)?1,2 c1 c2 w3(x,1)!=0 c3");
    script_expect("2pl", NULL, "u1(x) p1(1) w1(x,5) f1(1) r2(x) u3(x) c1 c2 c3",
                  "u1(x)=0 w1(x,5)=0 r2(x)=0 u3(x)?1 c1 u3(x)!=0 c2 c3");
    /* who waited for the X that became S goes on */
    script_expect("2pl", NULL, "p1(1) w1(x,+=5) r2(x) f1(1) c1 c2", "w1(x,+=5)=0 r2(x)?1 r2(x)!=0 c1 c2");
    /* scans too: the gap stays closed */
    script_expect("2pl", NULL, "p1(1) r1(8..9) f1(1) i2(8,1) c1 c2", "r1(8..9)=- i2(8,1)?1 c1 i2(8,1)!=0 c2");
}

/* No serializable algorithm lets both commit. */
static void savepoints_hide_no_read(void **state) {
    (void)state;
    static const char *const schedules[] = {
        "p1(1) r1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1", "p1(1) w1(x,+=5) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1",
        "p1(1) u1(x) f1(1) r2(y) w2(x,7) c2 w1(y,5) c1", "p1(1) i1(x,1) f1(1) r2(y) d2(x) c2 w1(y,5) c1",
        "p1(1) r1(7..9) f1(1) r2(y) i2(8,7) c2 w1(y,5) c1"};
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *algorithm = cc_registry[i];
        for (size_t j = 0; j < sizeof schedules / sizeof schedules[0]; j++) {
            struct script script;
            script_open(&script, algorithm->name, NULL, schedules[j]);
            script_run(&script);
            bool both = script.committed_ns[1] >= 0 && script.committed_ns[2] >= 0;
            bool may_not = algorithm->level == LEVEL_SER && algorithm != cc_find("none");
            if (both && may_not) {
                print_error("%s lets both commit: %s\n", algorithm->name, text_string(&script.said));
            }
            assert_false(both && may_not);
            /* the schedules do conflict */
            assert_true(algorithm != cc_find("none") || both);
            script_close(&script);
        }
    }
}

static void restarts_keep_their_age(void **state) {
    (void)state;
    for (size_t i = 0; i < cc_registry_count; i++) {
        struct script script;
        script_open(&script, cc_registry[i]->name, NULL, "r2(x) r1(x) r3(x) w2(x,1) w1(x,2) w3(x,3) c1 c2 c3");
        script.spec.restart.max_attempts = 8;
        script.spec.restart.delay.distribution = distribution_constant(1000000);
        script_run(&script);
        int kills = 0;
        for (int number = 1; number <= 3; number++) {
            assert_int_equal(script.ages[number][0], number);
            for (int attempt = 1; attempt <= script.kills[number] && attempt < 8; attempt++) {
                assert_int_equal(script.ages[number][attempt], number);
            }
            kills += script.kills[number];
        }
        assert_true(kills > 0 || cc_registry[i] == cc_find("none") || cc_registry[i]->level <= LEVEL_RC);
        script_close(&script);
    }
}

/* What is said beside the usual, of one row by key, is heard: patience, a condition, a blind value, an absent row. */
static void no_word_of_a_statement_is_lost(void **state) {
    (void)state;
    const char *algorithms[] = {"2pl", "wait-die", "lock-rr"};
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        script_expect(algorithms[i], NULL, "w1(x,+=5) w2(x,+=1):nowait w2(x,+=1):skip w2(y,+=2) c1 w2(x,+=1) c2",
                      "w1(x,+=5)=0 w2(x,+=1):nowait#nowait w2(x,+=1):skip=- w2(y,+=2)=0 c1 w2(x,+=1)=5 c2");
        script_expect(algorithms[i], NULL, "w1(x,+=5) w1(x,3) w1(x,+=1) d1(x) w1(x,+=1) w1(9,+=1) c1 r2(x) c2",
                      "w1(x,+=5)=0 w1(x,3)=5 w1(x,+=1)=3 d1(x)=4 w1(x,+=1)=- w1(9,+=1)=- c1 r2(x)=- c2");
    }
}

TEST_GROUP(laws, cmocka_unit_test(readers_do_not_overtake_a_writer),
           cmocka_unit_test(u_stands_beside_s_but_not_beside_u), cmocka_unit_test(x_stands_alone),
           cmocka_unit_test(upgrades_go_before_new_requests),
           cmocka_unit_test(conversions_deadlock_and_for_update_cures_it), cmocka_unit_test(locks_are_held_to_the_end),
           cmocka_unit_test(locks_outlast_the_deferred_writes), cmocka_unit_test(nowait_fails_the_statement_alone),
           cmocka_unit_test(skip_locked_leaves_rows_out), cmocka_unit_test(duplicates_are_errors_and_reads),
           cmocka_unit_test(savepoints_keep_what_protects_reads), cmocka_unit_test(savepoints_hide_no_read),
           cmocka_unit_test(restarts_keep_their_age), cmocka_unit_test(no_word_of_a_statement_is_lost))
