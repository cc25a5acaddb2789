/* test_ssi.c - the rules of ssi: who is refused in which schedule, read-only and deferrable transactions, promotion of
 * marks, and every interleaving of two and of three transactions in write skew. Facts: support/facts.h. */
#include <stdio.h>
#include <string.h>

#include "tests/support/harness.h"
#include "tests/support/script.h"
#include "tests/support/trial.h"

static void of_a_write_skew_the_second_to_commit_fails(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"ssi", "r1(x) r1(y) r2(x) r2(y) w1(x,1) w2(y,1) c1 c2", "8 is aborted: ssi_pivot; T1 commits"},
        {"ssi", "r1(x) r1(y) r2(x) r2(y) w1(x,1) w2(y,1) c2 c1", "8 is aborted: ssi_pivot; T2 commits"},
        {"ssi", "init x=1 y=1\nr1(x) r2(y) w1(y,1) w2(x,2) c1 r2(z) c2", "6 reads nothing; 7 is aborted: ssi_pivot"},
        {"ssi", "init x=1 y=1 z=1\nr1(x) r2(y) w1(y,1) w2(x,2) c1 r2(z) c2", "6 is aborted: ssi_pivot"},
        {"ssi", "r1(y) r2(y) w2(x,1) c2 r1(x) w1(y,2) c1", "6 is aborted: ssi_pivot"},
        /* a single edge is no danger */
        {"ssi", "r1(x) r2(y) w2(x,1) c2 w1(z,1) c1", "T1 commits; T2 commits; serial order T1 T2"}};
    TRIAL_TRY(trials);
}

static void what_a_savepoint_undid_still_counts(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"ssi", "r1(x) p1(s) w1(x,5) f1(s) r2(y) w2(x,9) c2 w1(y,7) c1", "8 is aborted: ssi_pivot"},
        {"ssi", "p1(s) r1(x) f1(s) r2(y) w2(x,7) c2 w1(y,5) c1", "7 is aborted: ssi_pivot"},
        {"ssi", "p1(s) w1(x,5) f1(s) r2(y) w2(x,7) c2 w1(y,5) c1", "7 is aborted: ssi_pivot"}};
    TRIAL_TRY(trials);
}

#define ANOMALY "r2(x) r2(y) r1(y) w1(y,20) c1 r3(x) r3(y) c3 w2(x,-11) c2"

static void readers_count_if_the_first_committed_before_them(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"ssi", "init x=0 y=0\n" ANOMALY, "9 is aborted: ssi_pivot; T3 commits"},
        {"ssi", "init x=0 y=0\nr2(x) r2(y) r1(y) w1(y,20) c1 b3:ro r3(x) r3(y) c3 w2(x,-11) c2",
         "10 is aborted: ssi_pivot; T3 commits"},
        /* its snapshot is older than T1's commit: no harm, if it says that it will not write, or has ended so */
        {"ssi", "init x=0 y=0\nb3:ro r3(z) r2(x) r2(y) r1(y) w1(y,20) c1 r3(x) w2(x,-11) c2 c3",
         "T2 commits; T3 commits"},
        {"ssi", "init x=0 y=0\nr3(z) r2(x) r2(y) r1(y) w1(y,20) c1 r3(x) c3 w2(x,-11) c2", "T2 commits; T3 commits"},
        {"ssi", "init x=0 y=0\nr3(z) r2(x) r2(y) r1(y) w1(y,20) c1 r3(x) w2(x,-11) c2 c3", "8 is aborted: ssi_pivot"},
        /* a reader that meets a committed pivot */
        {"ssi", "init x=0 y=0 z=0\nr1(z) r2(y) w3(y,2) c3 w2(x,1) c2 r1(x) c1", "7 is aborted: ssi_pivot"},
        {"ssi", "init x=0 y=0 z=0\nb1:ro r1(z) r2(y) w3(y,2) c3 w2(x,1) c2 r1(x) c1", "T1 commits; T2 commits"}};
    TRIAL_TRY(trials);
}

static void safe_snapshots_leave_no_marks(void **state) {
    (void)state;
    static const struct trial trials[] = {
        /* nobody beside it: T3's read of x cannot make T2 a pivot's victim */
        {"ssi", "b3:ro r3(x) r1(y) w1(y,20) c1 r2(y) w2(x,1) c2 c3", "T1 commits; T2 commits; T3 commits"},
        /* deferrable: T2 may make the snapshot unsafe, so its end is waited for */
        {"ssi", "init x=0 y=0\nr2(x) r2(y) r1(y) w1(y,20) c1 b3:deferrable r3(x) r3(y) w2(x,-11) c2 c3",
         "7 waits for T2; 7 resumes after 10; 7 reads x=-11; 8 reads y=20; T2 commits; T3 commits"},
        {"ssi", "init x=0 y=0\nr2(x) b3:deferrable r3(x) w2(x,1) c2 c3",
         "3 waits for T2; 3 resumes after 5; 3 reads x=0"},
        {"ssi", "init x=0 y=0\nr2(x) b3:deferrable r3(x) w2(x,1) a2 c3", "3 resumes after 5; T3 commits"},
        {"ssi", "b3:deferrable r3(x) w2(x,1) c2 c3", "T3 commits; 2 reads x=0"},
        /* one that writes all the same is not taken at its word */
        {"ssi", "b1:ro r1(x) r2(y) w1(y,1) w2(x,2) c1 c2", "7 is aborted: ssi_pivot"}};
    TRIAL_TRY(trials);
}

static void own_writes_leave_no_marks(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"ssi", "i1(x,1) r1(x) c1 r2(x) c2", "T1 commits; T2 commits"},
        {"ssi", "init x=0 y=0 z=0\nw1(x,1) w1(x,2) r1(x) r2(y) w2(z,1) c1 c2", "T1 commits; T2 commits"},
        /* first updater wins before anything else */
        {"ssi", "init x=0 y=0\nr2(y) w1(x,1) c1 w2(x,2) c2", "4 is aborted: write_conflict"},
        {"ssi", "init x=0\nw1(x,1) w2(x,2) c1 c2", "2 waits for T1; 2 is aborted: write_conflict"}};
    TRIAL_TRY(trials);
}

/* Scans: the range is marked, absent keys included; with scan_marks = table, the table. */
static void scans_mark_what_they_cover(void **state) {
    (void)state;
    script_expect("ssi", NULL, "r1(7..9) r2(x) i2(8,1) w1(x,1) c2 c1",
                  "r1(7..9)=- r2(x)=0 i2(8,1)=0 w1(x,1)=0 c2 k1:ssi_pivot");
    script_expect("ssi", NULL, "r1(7..9) r2(x) i2(10,1) w1(x,1) c2 c1",
                  "r1(7..9)=- r2(x)=0 i2(10,1)=0 w1(x,1)=0 c2 c1");
    script_expect("ssi", "scan_marks=table", "r1(7..9) r2(x) i2(10,1) w1(x,1) c2 c1",
                  "r1(7..9)=- r2(x)=0 i2(10,1)=0 w1(x,1)=0 c2 k1:ssi_pivot");
    script_expect("ssi", NULL, "d1(5..6) r2(x) i2(8,1) w1(x,1) c2 c1",
                  "d1(5..6)=5:0,6:0 r2(x)=0 i2(8,1)=0 w1(x,1)=0 c2 c1");
    script_expect("ssi", NULL, "d1(5..9) r2(x) i2(8,1) w1(x,1) c2 c1",
                  "d1(5..9)=5:0,6:0 r2(x)=0 i2(8,1)=0 w1(x,1)=0 c2 k1:ssi_pivot");
    /* a duplicate key is a read of the row it met */
    script_expect("ssi", NULL, "i1(x,5) r2(y) d2(x) w1(y,1) c2 c1",
                  "i1(x,5)#duplicate r2(y)=0 d2(x)=0 w1(y,1)=0 c2 k1:ssi_pivot");
}

/* Two marks are one too many: the page is marked, and with it the row that T1 never read. */
static void marks_are_promoted(void **state) {
    (void)state;
    const char *schedule = "r1(1) r1(2) r2(5) w2(4,1) w1(5,1) c2 c1";
    script_expect("ssi", "max_marks=2", schedule, "r1(1)=0 r1(2)=0 r2(5)=0 w2(4,1)=0 w1(5,1)=0 c2 c1");
    script_expect("ssi", "max_marks=1", schedule, "r1(1)=0 r1(2)=0 r2(5)=0 w2(4,1)=0 w1(5,1)=0 c2 k1:ssi_pivot");
    /* max_marks = 2: the second page marked makes it the table */
    const char *far = "r1(1) r1(2) r1(3) r1(200) r1(201) %sr2(5) i2(999,1) w1(5,1) c2 c1";
    char text[160];
    snprintf(text, sizeof text, far, "");
    script_expect("ssi", "max_marks=2", text,
                  "r1(1)=0 r1(2)=0 r1(3)=0 r1(200)=- r1(201)=- r2(5)=0 i2(999,1)=0 w1(5,1)=0 c2 c1");
    snprintf(text, sizeof text, far, "r1(202) ");
    script_expect(
        "ssi", "max_marks=2", text,
        "r1(1)=0 r1(2)=0 r1(3)=0 r1(200)=- r1(201)=- r1(202)=- r2(5)=0 i2(999,1)=0 w1(5,1)=0 c2 k1:ssi_pivot");
}

/* ---- Every interleaving ---- */

struct tally {
    const char *algorithm;
    size_t pivots, needless; /* needless: by the certifier */
};

static size_t count_pivots(const struct play *play) {
    size_t count = 0;
    for (size_t i = 0; i < play->step_count; i++) {
        count += play->steps[i].outcome == PLAY_ABORT && play->steps[i].reason == REASON_SSI_PIVOT;
    }
    return count;
}

static bool is_serializable(const char *algorithm, const char *schedule) {
    struct trial_play trial;
    trial_open(&trial, algorithm, schedule);
    bool serializable = trial.play.verdict.properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES;
    trial_close(&trial);
    return serializable;
}

/* Nothing unserializable commits. Where si alone would have been serializable the certifier must find every refusal
 * needless, elsewhere at least one that was not - but basic also refuses both of two of which one would have done. */
static void judge_refusals(void *context, const char *schedule) {
    struct tally *tally = context;
    struct trial_play trial;
    trial_open(&trial, tally->algorithm, schedule);
    size_t pivots = count_pivots(&trial.play), needless = trial.play.false_positives;
    if (trial.play.verdict.properties[JUDGE_CONFLICT_SERIALIZABLE] != JUDGE_YES || trial.play.promise_broken) {
        fail_msg("%s: not serializable: %s", tally->algorithm, schedule);
    }
    trial_close(&trial);
    bool spares_one = strcmp(tally->algorithm, "ssi variant=basic") != 0,
         serializable = is_serializable("si", schedule);
    assert_true(serializable || pivots > 0);
    if (serializable ? needless != pivots : needless >= pivots && spares_one) {
        fail_msg("%s: %zu refused, %zu of them needlessly, %s under si: %s", tally->algorithm, pivots, needless,
                 serializable ? "serializable" : "not", schedule);
    }
    tally->pivots += pivots;
    tally->needless += needless;
}

/* How many refusals are needless, in all interleavings. */
static size_t count_needless(const struct weave *weave, const char *algorithm, size_t schedules) {
    struct tally tally = {.algorithm = algorithm};
    assert_int_equal(weave_all(weave, judge_refusals, &tally), schedules);
    print_message("%s: %zu schedules, %zu refusals, %zu needless\n", algorithm, schedules, tally.pivots,
                  tally.needless);
    return tally.needless;
}

static const struct weave of_two = {
    .steps = {{"b1", "r1(x)", "r1(y)", "w1(x,1)", "c1"}, {"b2", "r2(x)", "r2(y)", "w2(y,2)", "c2"}},
    .txns = 2,
    .length = 5};
static const struct weave of_three = {
    .steps = {{"r1(x)", "w1(y,1)", "c1"}, {"r2(y)", "w2(z,2)", "c2"}, {"r3(z)", "w3(x,3)", "c3"}},
    .txns = 3,
    .length = 3};

/* The third only reads: what it makes dangerous, commit order alone takes for worse than it is. */
static const struct weave with_a_reader = {
    .steps = {{"r1(y)", "w1(y,1)", "c1"}, {"r2(y)", "w2(x,2)", "c2"}, {"r3(x)", "r3(y)", "c3"}},
    .txns = 3,
    .length = 3};
/* Nothing in common but the page. */
static const struct weave apart = {
    .steps = {{"r1(x)", "r1(y)", "w1(z,1)", "c1"}, {"r2(u)", "r2(v)", "w2(w,2)", "c2"}}, .txns = 2, .length = 4};

static void the_variants_differ_in_what_they_refuse_needlessly(void **state) {
    (void)state;
    size_t basic = count_needless(&of_two, "ssi variant=basic", 252),
           order = count_needless(&of_two, "ssi variant=commit_order", 252),
           whole = count_needless(&of_two, "ssi variant=read_only", 252);
    assert_int_equal(whole, 0);
    assert_true(whole <= order && order <= basic);
    basic = count_needless(&of_three, "ssi variant=basic", 1680);
    order = count_needless(&of_three, "ssi variant=commit_order", 1680);
    whole = count_needless(&of_three, "ssi variant=read_only", 1680);
    assert_true(whole <= order && order < basic);
    basic = count_needless(&with_a_reader, "ssi variant=basic", 1680);
    order = count_needless(&with_a_reader, "ssi variant=commit_order", 1680);
    whole = count_needless(&with_a_reader, "ssi variant=read_only", 1680);
    assert_true(whole < order && order < basic);
}

static void promotion_refuses_more(void **state) {
    (void)state;
    assert_int_equal(count_needless(&apart, "ssi max_marks=2", 70), 0);
    assert_true(count_needless(&apart, "ssi max_marks=1", 70) > 0);
}

/* The room of those who are forgotten, one of them doomed, is that of T3, T4 and T5, who have nothing to do with them. */
static void what_is_forgotten_leaves_no_trace(void **state) {
    (void)state;
    script_expect(
        "ssi", NULL, "r1(x) r2(y) w1(y,1) w2(x,1) c1 c2 r3(4) r4(5) r5(6) w3(4,1) w4(5,1) w5(6,1) c3 c4 c5",
        "r1(x)=0 r2(y)=0 w1(y,1)=0 w2(x,1)=0 c1 k2:ssi_pivot r3(4)=0 r4(5)=0 r5(6)=0 w3(4,1)=0 w4(5,1)=0 w5(6,1)=0 c3 c4 c5");
}

TEST_GROUP(ssi, cmocka_unit_test(of_a_write_skew_the_second_to_commit_fails),
           cmocka_unit_test(what_a_savepoint_undid_still_counts),
           cmocka_unit_test(readers_count_if_the_first_committed_before_them),
           cmocka_unit_test(safe_snapshots_leave_no_marks), cmocka_unit_test(own_writes_leave_no_marks),
           cmocka_unit_test(scans_mark_what_they_cover), cmocka_unit_test(marks_are_promoted),
           cmocka_unit_test(the_variants_differ_in_what_they_refuse_needlessly),
           cmocka_unit_test(promotion_refuses_more), cmocka_unit_test(what_is_forgotten_leaves_no_trace))
