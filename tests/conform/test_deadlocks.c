/* test_deadlocks.c - when deadlocks are found, who is sacrificed, and the schemes that prevent them. */
#include <stdio.h>
#include <string.h>

#include "tests/support/script.h"

#define MILLISECOND INT64_C(1000000)

/* Who was ended by the algorithm, as digits in order of number; with the seed, and the number of attempts allowed. */
static const char *killed(const char *algorithm, const char *settings, const char *schedule, uint64_t seed) {
    static char digits[SCRIPT_TRANSACTIONS_MAX + 1];
    struct script script;
    script_open(&script, algorithm, settings, schedule);
    script.spec.seed = seed;
    script_run(&script);
    size_t count = 0;
    for (int number = 1; number < SCRIPT_TRANSACTIONS_MAX; number++) {
        if (script.kills[number] > 0) {
            digits[count++] = (char)('0' + number);
        }
    }
    digits[count] = '\0';
    script_close(&script);
    return digits;
}

/* A cycle of three, closed by 2; what stands before and after makes the difference. */
#define CYCLE "w1(x,1) w2(y,1) w3(z,1) w1(y,2) w3(x,2) w2(z,2)"

static void every_rule_picks_its_victim(void **state) {
    (void)state;
    static const struct {
        const char *rule, *schedule, *victim;
    } cases[] = {
        {"victim=youngest", CYCLE " c1 c2 c3", "3"},
        {"victim=oldest", CYCLE " c1 c2 c3", "1"},
        {"victim=requester", CYCLE " c1 c2 c3", "2"},
        {"victim=fewest_locks", "r1(4) r2(5) r2(6) r3(4) r3(5) " CYCLE " c1 c2 c3", "1"},
        {"victim=fewest_locks", "r1(4) r1(5) r2(5) r3(4) r3(5) " CYCLE " c1 c2 c3", "2"},
        {"victim=fewest_locks", "r1(4) r2(5) r3(4) " CYCLE " c1 c2 c3", "3"}, /* the youngest among equals */
        {"victim=fewest_writes", "w1(4,1) r2(5) w3(6,1) " CYCLE " c1 c2 c3", "2"},
        {"victim=fewest_writes", "r1(5) w2(4,1) w3(6,1) " CYCLE " c1 c2 c3", "1"},
        {"victim=least_work", "r1(4) r1(4) r1(4) r2(4) r2(5) r3(5) r3(6) " CYCLE " c1 c2 c3", "1"},
        {"victim=least_remaining", CYCLE " r1(4) r3(4) c1 c2 c3", "2"},
        {"victim=least_remaining", CYCLE " r2(4) r3(4) c1 c2 c3", "1"},
        {"victim=least_remaining", CYCLE " r1(4) r2(4) c1 c2 c3", "3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *who = killed("2pl", cases[i].rule, cases[i].schedule, 1);
        if (strcmp(who, cases[i].victim) != 0) {
            print_error("%s: %s\n    ends %s, not %s\n", cases[i].rule, cases[i].schedule, who, cases[i].victim);
        }
        assert_string_equal(who, cases[i].victim);
    }
}

static void random_victims_depend_on_the_seed_alone(void **state) {
    (void)state;
    int count[4] = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char first[16];
        snprintf(first, sizeof first, "%s", killed("2pl", "victim=random", CYCLE " c1 c2 c3", seed));
        assert_string_equal(killed("2pl", "victim=random", CYCLE " c1 c2 c3", seed), first);
        assert_int_equal(strlen(first), 1);
        count[first[0] - '0']++;
    }
    assert_true(count[1] >= 8 && count[2] >= 8 && count[3] >= 8);
}

static void a_victim_is_spared(void **state) {
    (void)state;
    static const char *const schedule = "r1(x) r2(x) w1(x,1) w2(x,2) r3(x) c2 w3(x,3) c1 c3";
    for (int spared = 0; spared < 2; spared++) {
        struct script script;
        script_open(&script, "2pl", spared ? "victim=oldest spare_after=1" : "victim=oldest", schedule);
        script.spec.restart.max_attempts = 8;
        script_run(&script);
        assert_int_equal(script.kills[1], spared ? 1 : 2);
        assert_int_equal(script.kills[3], spared ? 1 : 0);
        script_close(&script);
    }
}

static void every_cycle_through_the_wait_is_broken(void **state) {
    (void)state;
    script_expect("2pl", NULL, "w1(y,1) r2(x) r3(x) r2(y) r3(y) w1(x,5) c1",
                  "w1(y,1)=0 r2(x)=0 r3(x)=0 r2(y)?1 r3(y)?1,2 w1(x,5)?2,3 k3:deadlock k2:deadlock w1(x,5)!=0 c1");
    /* no cycle, no victim */
    script_expect("2pl", NULL, "w1(x,1) w2(y,1) w2(x,2) w3(y,2) c1 c2 c3",
                  "w1(x,1)=0 w2(y,1)=0 w2(x,2)?1 w3(y,2)?2 c1 w2(x,2)!=1 c2 w3(y,2)!=1 c3");
}

static void expect_kill_at(const char *algorithm, const char *settings, const char *schedule, int number,
                           int64_t at_ms) {
    struct script script;
    script_open(&script, algorithm, settings, schedule);
    script_run(&script);
    if (script.killed_ns[number] != at_ms * MILLISECOND) {
        print_error("%s %s: %s\n", algorithm, settings, text_string(&script.said));
    }
    assert_int_equal(script.killed_ns[number], at_ms * MILLISECOND);
    script_close(&script);
}

static void cycles_are_found_when_the_option_says(void **state) {
    (void)state;
    static const char *const schedule = "r1(x) r2(x) w1(x,5) w2(x,7) c1 c2"; /* waits from 2 ms, a cycle from 3 ms */
    expect_kill_at("2pl", "detect=wait", schedule, 2, 3);
    expect_kill_at("2pl", "detect=period(10ms)", schedule, 2, 12);
    expect_kill_at("2pl", "detect=after(10ms)", schedule, 2, 12);
    expect_kill_at("2pl", "detect=after(10ms) victim=requester", schedule, 1, 12);
    expect_kill_at("2pl", "detect=period(10ms) victim=requester", schedule, 2, 12);
    /* the period goes on as long as somebody waits: the cycle here closes at 15 ms */
    expect_kill_at("2pl", "detect=period(10ms)", "r1(x) r2(x) w1(x,5) +12 w2(x,7) c1 c2", 2, 22);
    /* 1 waits from 2 ms, found no cycle at 12 ms; 2 closes it at 15 ms and looks at 25 ms */
    expect_kill_at("2pl", "detect=after(10ms)", "r1(x) r2(x) w1(x,5) +12 w2(x,7) c1 c2", 2, 25);
    expect_kill_at("si", "detect=after(10ms)", "w1(x,1) w2(y,1) w1(y,2) w2(x,2) c1 c2", 1, 12);
    expect_kill_at("si", NULL, "w1(x,1) w2(y,1) w1(y,2) w2(x,2) c1 c2", 2, 3);
    expect_kill_at("si", "victim=oldest", "w1(x,1) w2(y,1) w1(y,2) w2(x,2) c1 c2", 1, 3);
}

static void timeouts_are_exact(void **state) {
    (void)state;
    expect_kill_at("2pl-timeout", "lock_timeout=10ms", "w1(x,1) w2(x,2) +50 c1 c2", 2, 11);
    expect_kill_at("2pl-timeout", "lock_timeout=10ms", "r1(x) r2(x) w1(x,5) w2(x,7) c1 c2", 1, 12);
    assert_string_equal(killed("2pl-timeout", "lock_timeout=10ms", "w1(x,1) w2(x,2) +8 c1 c2", 1), "");
}

/* An insert that waits moves to another gap: a new edge, although its wait began long ago. Here it closes a cycle. */
static void a_moved_insert_closes_a_cycle(void **state) {
    (void)state;
    static const char *const schedule = "w1(1,5) r2(10..20) i1(15,1) +9 i2(18,1) r3(10..12) r3(1) +9 c2 c1 c3";
    static const char *const settings[] = {"detect=wait", "detect=period(2ms)", "detect=after(2ms)",
                                           "detect=after(50ms)"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        assert_string_equal(killed("2pl", settings[i], schedule, 1), "3");
    }
}

/* The victim stands between the two of a shorter cycle that was hidden behind it: 3 -> 4 -> 1 -> 3, and 3 -> 1 once
 * 4 is gone. */
static void a_cycle_behind_the_victim_is_broken_too(void **state) {
    (void)state;
    static const char *const schedule = "w1(x,1) w3(y,3) w4(x,4) w3(x,5) w1(y,6) c1 c3 c4";
    static const char *const settings[] = {"victim=youngest", "victim=youngest detect=period(2ms)",
                                           "victim=youngest detect=after(2ms)"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct script script;
        script_open(&script, "si", settings[i], schedule);
        script_run(&script);
        assert_true(script.committed_ns[1] >= 0);
        script_close(&script);
        script_open(&script, "2pl", settings[i], schedule);
        script_run(&script);
        assert_true(script.committed_ns[1] >= 0);
        script_close(&script);
    }
}

/* ---- Prevention ---- */

/* In both traps a test against holders alone lets a cycle of waiters form in which nobody dies. */
static void the_age_test_counts_those_ahead(void **state) {
    (void)state;
    script_expect("wait-die", NULL, "w3(y,3) r2(x) w1(x,1) r3(x) w2(y,2) c2 c1",
                  "w3(y,3)=0 r2(x)=0 w1(x,1)?2 k3:wait_die w2(y,2)=0 c2 w1(x,1)!=0 c1");
    script_expect("wound-wait", NULL, "w1(y,1) r2(x) w3(x,3) r1(x) w2(y,2) c1 c2",
                  "w1(y,1)=0 r2(x)=0 w3(x,3)?2 r1(x)?3 k3:wounded r1(x)!=0 w2(y,2)?1 c1 w2(y,2)!=1 c2");
}

static void the_young_die_and_the_old_wait(void **state) {
    (void)state;
    script_expect("wait-die", NULL, "w2(x,2) w1(x,1) w3(x,3) c2 c1",
                  "w2(x,2)=0 w1(x,1)?2 k3:wait_die c2 w1(x,1)!=2 c1");
    /* an upgrade overtakes an older waiter, who may wait, and a younger one, who may not */
    script_expect("wait-die", NULL, "r2(x) r3(x) w1(x,1) w2(x,2) c3 c2 c1",
                  "r2(x)=0 r3(x)=0 w1(x,1)?2,3 w2(x,2)?3 c3 w2(x,2)!=0 c2 w1(x,1)!=2 c1");
    script_expect("wait-die", NULL, "r1(x) r4(x) w3(x,3) w1(x,1) c4 c1",
                  "r1(x)=0 r4(x)=0 k3:wait_die w1(x,1)?4 c4 w1(x,1)!=0 c1");
    script_expect("wait-die", NULL, "r3(x) r4(x) w2(x,2) w1(x,1) c3 c4 c2 c1",
                  "r3(x)=0 r4(x)=0 w2(x,2)?3,4 w1(x,1)?2,3,4 c3 c4 w2(x,2)!=0 c2 w1(x,1)!=2 c1");
}

/* Beside a U another U waits, not for the S that stands there too: until that S wants to be an X before it. */
static void an_upgrade_is_held_against_those_it_overtakes(void **state) {
    (void)state;
    script_expect("wait-die", NULL, "u4(x) r1(x) u2(x) w1(x,1) c4 c1",
                  "u4(x)=0 r1(x)=0 u2(x)?4 w1(x,1)?4 k2:wait_die c4 w1(x,1)!=0 c1");
    script_expect("wait-die", NULL, "u4(x) r2(x) u1(x) w2(x,1) c4 c2 c1",
                  "u4(x)=0 r2(x)=0 u1(x)?4 w2(x,1)?4 c4 w2(x,1)!=0 c2 u1(x)!=1 c1");
    script_expect("wound-wait", NULL, "u1(x) r4(x) u2(x) w4(x,1) c1 c2",
                  "u1(x)=0 r4(x)=0 u2(x)?1 k4:wounded c1 u2(x)!=0 c2");
    script_expect("wound-wait", NULL, "u1(x) r2(x) u4(x) w2(x,1) c1 c2 c4",
                  "u1(x)=0 r2(x)=0 u4(x)?1 w2(x,1)?1 c1 w2(x,1)!=0 c2 u4(x)!=1 c4");
}

static void the_old_wound_and_the_young_wait(void **state) {
    (void)state;
    script_expect("wound-wait", NULL, "w2(x,2) w1(x,1) c1", "w2(x,2)=0 w1(x,1)?2 k2:wounded w1(x,1)!=0 c1");
    script_expect("wound-wait", NULL, "w1(x,1) w2(x,2) c1 c2", "w1(x,1)=0 w2(x,2)?1 c1 w2(x,2)!=1 c2");
    script_expect("wound-wait", NULL, "w2(x,2) w3(x,3) w1(x,1) c1",
                  "w2(x,2)=0 w3(x,3)?2 w1(x,1)?2,3 k2:wounded k3:wounded w1(x,1)!=0 c1");
}

/* A transaction past its last refusal is not wounded: here it forces the log from 1 ms to 11 ms. */
static void the_sealed_are_not_wounded(void **state) {
    (void)state;
    struct script script;
    script_open(&script, "wound-wait", NULL, "w2(x,2) c2 w1(x,1) +20 c1");
    script.spec.cost.log_force = distribution_constant(10 * MILLISECOND);
    assert_string_equal(script_run(&script), "w2(x,2)=0 w1(x,1)?2 c2 w1(x,1)!=2 c1");
    assert_int_equal(script.committed_ns[2], 11 * MILLISECOND);
    script_close(&script);
}

/* The wounded one comes again at once: those it kept waiting must be served first, or nothing ever moves. */
static void the_wounded_let_the_old_go_first(void **state) {
    (void)state;
    struct script script;
    script_open(&script, "wound-wait", NULL, "r2(8..15) i1(12,1) c1 c2");
    script.spec.restart.max_attempts = OPTION_UNLIMITED;
    assert_string_equal(script_run(&script),
                        "r2(8..15)=- i1(12,1)?2 k2:wounded i1(12,1)!=0 r2(8..15)?1 c1 r2(8..15)!=12:1 c2");
    script_close(&script);
}

static void no_wait_never_waits(void **state) {
    (void)state;
    script_expect("no-wait", NULL, "r1(x) r2(x) w2(x,1) c1", "r1(x)=0 r2(x)=0 k2:nowait c1");
    script_expect("no-wait", NULL, "r1(8..9) i2(8,1) c1", "r1(8..9)=- k2:nowait c1");
    script_expect("no-wait", NULL, "w1(x,1) u2(x):nowait u2(1..2):skip c2 c1",
                  "w1(x,1)=0 u2(x):nowait#nowait u2(1..2):skip=2:0 c2 c1");
}

TEST_GROUP(deadlocks, cmocka_unit_test(every_rule_picks_its_victim),
           cmocka_unit_test(random_victims_depend_on_the_seed_alone), cmocka_unit_test(a_victim_is_spared),
           cmocka_unit_test(every_cycle_through_the_wait_is_broken),
           cmocka_unit_test(cycles_are_found_when_the_option_says), cmocka_unit_test(timeouts_are_exact),
           cmocka_unit_test(the_age_test_counts_those_ahead), cmocka_unit_test(the_young_die_and_the_old_wait),
           cmocka_unit_test(an_upgrade_is_held_against_those_it_overtakes),
           cmocka_unit_test(the_old_wound_and_the_young_wait), cmocka_unit_test(the_sealed_are_not_wounded),
           cmocka_unit_test(no_wait_never_waits), cmocka_unit_test(a_moved_insert_closes_a_cycle),
           cmocka_unit_test(a_cycle_behind_the_victim_is_broken_too),
           cmocka_unit_test(the_wounded_let_the_old_go_first))
