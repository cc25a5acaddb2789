/* test_mixed.c - transactions that ask for different levels in one run. Under locking who asks for more keeps it; under
 * ssi serializable transactions are so among themselves only. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/cc/cc.h"
#include "tests/support/harness.h"
#include "tests/support/trial.h"
#include "tests/support/wild.h"

enum { WORLDS = 60, WORLDS_LONG = 3000 };

struct sum {
    uint64_t commits, anomalies, levels_broken;
};

/* Random worlds in which about half of the transactions ask for that level. What is promised holds. */
static struct sum run_worlds(const struct cc_ops *algorithm, enum level level) {
    struct sum sum = {0};
    for (uint64_t seed = 1; seed <= (test_long() ? WORLDS_LONG : WORLDS); seed++) {
        struct wild_world world;
        struct run_result result;
        wild_world_draw(&world, algorithm, seed, algorithm->mixed == LEVEL_SER ? "phantoms=next_key" : NULL);
        wild_world_mix(&world, level, 0.5);
        world.spec.certify = true;
        wild_world_run(&world, &result);
        if (result.promise_broken) {
            fail_msg("%s with %s: %s\n%s", algorithm->name, level_names[level], world.replay,
                     text_string(&result.witness));
        }
        sum.commits += result.commits;
        sum.anomalies += result.anomalies;
        sum.levels_broken += result.levels_broken;
        wild_world_free(&world);
        run_result_free(&result);
    }
    print_message("%s with %s: %" PRIu64 " commits, %" PRIu64 " anomalies, %" PRIu64 " broken levels\n",
                  algorithm->name, level_names[level], sum.commits, sum.anomalies, sum.levels_broken);
    assert_true(sum.commits > 0);
    return sum;
}

static void everybody_gets_his_level_under_locking(void **state) {
    (void)state;
    uint64_t anomalies[LEVEL_COUNT] = {0};
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *algorithm = cc_registry[i];
        for (int level = 0; level < LEVEL_SER && algorithm->mixed == LEVEL_SER; level++) {
            if ((algorithm->levels & 1u << level) != 0) {
                struct sum sum = run_worlds(algorithm, (enum level)level);
                assert_int_equal(sum.levels_broken, 0);
                anomalies[level] += sum.anomalies;
            }
        }
    }
    assert_true(anomalies[LEVEL_RU] > 100 && anomalies[LEVEL_RC] > 100); /* the weak ones paid for it themselves */
    assert_true(anomalies[LEVEL_RR] > 0);
}

static void ssi_loses_the_guarantee(void **state) {
    (void)state;
    const struct cc_ops *ssi = cc_find("ssi");
    assert_true(run_worlds(ssi, LEVEL_SI).levels_broken > 0);
    assert_true(run_worlds(ssi, LEVEL_RC).levels_broken > 0);
}

/* ---- Schedules ---- */

struct case_of {
    const char *algorithm, *schedule, *facts;
    bool breaks; /* the level of somebody */
};

static void play_cases(const struct case_of *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct trial trial = {cases[i].algorithm, cases[i].schedule, cases[i].facts};
        struct trial_play played;
        trial_try(&trial, 1);
        trial_open(&played, cases[i].algorithm, cases[i].schedule);
        assert_false(played.play.promise_broken);
        if (played.play.levels_broken != cases[i].breaks) {
            fail_msg("%s: %s\n%s", cases[i].algorithm, cases[i].schedule, text_string(&played.play.witness));
        }
        trial_close(&played);
    }
}

#define LATE_SUM "r2(y) w1(y,1) c1 r3(y) r3(x) c3 w2(x,1) c2"

/* T2 and T3 are serializable. T3 saw what T1 wrote and T2 did not, T3 did not see what T2 wrote: no order will do. With
 * T1 serializable too, T2 is a pivot and dies. */
static void an_si_transaction_breaks_serializable_ones(void **state) {
    (void)state;
    static const struct case_of cases[] = {
        {"ssi", "b1 b2 " LATE_SUM, "9 is aborted: ssi_pivot; T1 commits; T3 commits", false},
        {"ssi", "b1:si b2 " LATE_SUM, "T1 commits; T2 commits; T3 commits; 7 reads x=0", true},
        {"ssi", "b1:rc b2 " LATE_SUM, "T1 commits; T2 commits; T3 commits", true},
        {"ssi", "b1:si b2:si " LATE_SUM, "T1 commits; T2 commits; T3 commits", false},
        /* write skew with one who did not ask to be kept from it is his own affair */
        {"ssi", "b1:si r1(x) r2(y) w1(y,1) w2(x,1) c1 c2", "T1 commits; T2 commits; found A5B", false},
        {"2pl", "b1:ru b2 " LATE_SUM, "4 waits for T2; T2 commits; T1 commits; T3 commits", false}};
    play_cases(cases, sizeof cases / sizeof cases[0]);
}

static void each_level_reads_as_it_asked(void **state) {
    (void)state;
    static const struct case_of cases[] = {
        {"2pl", "b1:ru w2(x,5) r1(x) a2 c1", "3 reads x=5; T1 commits; T2 rolls back", false},
        {"2pl", "b1:rc w2(x,5) r1(x) a2 c1", "3 waits for T2; 3 reads x=0; T1 commits", false},
        {"2pl", "b1:rc r1(x) w2(x,5) c2 r1(x) c1", "2 reads x=0; 5 reads x=5; T1 commits; T2 commits", false},
        {"2pl", "b1:rr r1(x) w2(x,5) c2 r1(x) c1", "3 waits for T1; 5 reads x=0; T1 commits; T2 commits", false},
        {"2pl", "init x=0\nb1:rr q1(P) i2(z,5) c2 q1(P) c1", "3 changes 1; T1 commits; T2 commits", false},
        {"2pl", "init x=0\nb1:ser q1(P) i2(z,5) c2 q1(P) c1", "3 waits for T1; T1 commits; T2 commits", false},
        {"no-wait", "b1:rc r1(x) w2(x,5) c2 r1(x) c1", "5 reads x=5; T1 commits; T2 commits", false},
        {"wait-die", "b1:rc r1(x) w2(x,5) c2 r1(x) c1", "5 reads x=5; T1 commits; T2 commits", false},
        {"ssi", "b1:si r1(x) w2(x,5) c2 r1(x) c1", "5 reads x=0; T1 commits; T2 commits", false},
        {"ssi", "b1:rc r1(x) w2(x,5) c2 r1(x) c1", "5 reads x=5; T1 commits; T2 commits", false},
        {"ssi", "b1:rc w2(x,5) w1(x,+=1) c2 c1", "3 waits for T2; T1 commits; T2 commits; final x=6", false},
        {"ssi", "b1:si w2(x,5) w1(x,+=1) c2 c1", "3 is aborted: write_conflict; T2 commits; final x=5", false}};
    play_cases(cases, sizeof cases / sizeof cases[0]);
}

/* ---- By values: in every interleaving a serializable reader sees one state, whatever its writers asked for ---- */

static const char *const lockers[] = {"2pl", "no-wait", "wait-die", "wound-wait", "wait-depth"};

static int64_t row_sum(const struct play_step *step) {
    int64_t sum = 0;
    for (size_t i = 0; i < step->rows.count; i++) {
        sum += step->rows.items[i].value;
    }
    return sum;
}

static void judge_sums(void *context, const char *schedule) {
    struct trial_play trial;
    trial_open(&trial, context, schedule);
    assert_false(trial.play.levels_broken);
    for (size_t i = 0; i < trial.play.ends.count; i++) {
        const struct play_end *end = &trial.play.ends.items[i];
        for (size_t k = 0; k < trial.play.step_count && end->kind == PLAY_COMMIT; k++) {
            const struct play_step *step = &trial.play.steps[k];
            bool reads = trial.play.step_txns[k] == end->txn && step->rows.count == 2;
            if (reads && row_sum(step) != 20) {
                fail_msg("%s: a sum of %" PRId64 ": %s", (const char *)context, row_sum(step), schedule);
            }
        }
    }
    trial_close(&trial);
}

static void serializable_readers_see_one_state(void **state) {
    (void)state;
    static const struct weave transfers = {
        .header = "init x=10 y=10",
        .steps = {{"b1:ru", "w1(x,-=3)", "w1(y,+=3)", "c1"}, {"b2:ser", "r2(x,y)", "r2(x,y)", "c2"}},
        .txns = 2,
        .length = 4};
    static const struct weave writers = {
        .header = "init x=10 y=10",
        .steps = {{"w1(x,-=3)", "w1(y,+=3)", "c1"}, {"b2:rc", "w2(y,-=5)", "w2(x,+=5)"}, {"r3(x,y)", "r3(x,y)", "c3"}},
        .txns = 3,
        .length = 3};
    for (size_t i = 0; i < sizeof lockers / sizeof lockers[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s", lockers[i]);
        assert_int_equal(weave_all(&transfers, judge_sums, name), 70);
        assert_int_equal(weave_all(&writers, judge_sums, name), 1680);
    }
}

TEST_GROUP(mixed, cmocka_unit_test(everybody_gets_his_level_under_locking), cmocka_unit_test(ssi_loses_the_guarantee),
           cmocka_unit_test(an_si_transaction_breaks_serializable_ones), cmocka_unit_test(each_level_reads_as_it_asked),
           cmocka_unit_test(serializable_readers_see_one_state))
