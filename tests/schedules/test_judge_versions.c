/* test_judge_versions.c - verdicts on histories of versions written by hand: what no present algorithm brings about.
 * The rows are x and y, steps stand for themselves; an operation is a read of another's version or a version put
 * behind one. */
#include <string.h>

#include "sim/check/judge_versions.h"
#include "tests/support/harness.h"

enum { START = -1, X = 0, Y = 1, LIVES_MAX = 4 };

static struct versions_op read_of(uint32_t life, uint32_t row, int writer) {
    return (struct versions_op){
        .life = life, .row = row, .other = (uint32_t)writer, .predicate = VERSIONS_NONE, .matched = true};
}

static struct versions_op version_of(uint32_t life, uint32_t row, int behind) {
    return (struct versions_op){
        .life = life, .row = row, .write = true, .other = (uint32_t)behind, .predicate = VERSIONS_NONE};
}

/* Transactions T1, T2, ... are lives 0, 1, ...; `ends` are the operations before which they end, in the same order. */
static void judge_ops(struct verdict *verdict, const struct versions_op *ops, size_t count, size_t lives,
                      const uint32_t *ends, const bool *committed) {
    static const char text[] = "w1(x) w2(y) w3(x) w4(y)";
    struct schedule_book book = {0};
    struct versions_life all[LIVES_MAX];
    struct versions_op copies[16];
    schedule_parse(&book, "rows", text, strlen(text), NULL);
    for (uint32_t i = 0; i < lives; i++) {
        all[i] = (struct versions_life){.txn = i,
                                        .attempt = 1,
                                        .committed = committed[i],
                                        .ended = ends[i] != VERSIONS_NONE,
                                        .first = VERSIONS_NONE,
                                        .end = ends[i]};
    }
    for (uint32_t i = 0; i < count; i++) {
        struct versions_life *life = &all[ops[i].life];
        copies[i] = ops[i];
        copies[i].step = ops[i].life;
        life->first = life->first == VERSIONS_NONE ? i : life->first;
        life->last = i;
    }
    struct versions_history history = {
        .schedule = &book.schedules[0], .lives = all, .life_count = lives, .ops = copies, .op_count = count};
    judge_versions(verdict, &history);
    schedule_book_free(&book);
}

static const bool all_commit[LIVES_MAX] = {true, true, true, true};

/* T2 installs its version of x first, T1 then puts an older one beneath it: the order of versions is T1, T2. */
static void order_of_versions_is_not_that_of_time(void **state) {
    (void)state;
    struct verdict verdict;
    const struct versions_op ops[] = {version_of(1, X, START), version_of(0, X, START), read_of(2, X, 1)};
    const uint32_t ends[] = {2, 1, 3};
    judge_ops(&verdict, ops, 3, 3, ends, all_commit);
    assert_int_equal(verdict.properties[JUDGE_CONFLICT_SERIALIZABLE], JUDGE_YES);
    assert_int_equal(verdict.order_count, 3);
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(verdict.order[i], i + 1);
    }
    verdict_free(&verdict);
}

/* T1 sees a version of x that T2 has not committed: T2 ends after T1, or is rolled back. */
static void dirty_reads(void **state) {
    (void)state;
    const struct versions_op ops[] = {version_of(1, X, START), read_of(0, X, 1), version_of(1, Y, START)};
    static const struct {
        uint32_t ends[2];
        bool committed[2], cascadeless, recoverable, g1a;
    } trials[] = {
        {{3, 1}, {true, true}, true, true, false},
        {{3, 2}, {true, true}, false, true, false},
        {{2, 3}, {true, true}, false, false, false},
        {{2, 3}, {true, false}, false, false, true},
        {{3, 2}, {false, false}, false, true, false},
        {{2, VERSIONS_NONE}, {true, false}, false, false, true}, /* it never ends */
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct verdict verdict;
        judge_ops(&verdict, ops, 3, 2, trials[i].ends, trials[i].committed);
        assert_int_equal(verdict.properties[JUDGE_CASCADELESS] == JUDGE_YES, trials[i].cascadeless);
        assert_int_equal(verdict.properties[JUDGE_RECOVERABLE] == JUDGE_YES, trials[i].recoverable);
        assert_int_equal(verdict.anomalies[ANOMALY_G1A].found, trials[i].g1a);
        assert_int_equal(verdict.properties[JUDGE_STRICT], JUDGE_OPEN);
        verdict_free(&verdict);
    }
}

/* T1 saw x at the start, T2 installed the next version, T1 one behind that: lost update. */
static void lost_update(void **state) {
    (void)state;
    struct verdict verdict;
    const struct versions_op ops[] = {read_of(0, X, START), version_of(1, X, START), version_of(0, X, 1)};
    const uint32_t ends[] = {3, 2};
    judge_ops(&verdict, ops, 3, 2, ends, all_commit);
    assert_true(verdict.anomalies[ANOMALY_P4].found);
    assert_true(verdict.anomalies[ANOMALY_G_SINGLE].found);
    assert_int_equal(verdict.properties[JUDGE_VIEW_SERIALIZABLE], JUDGE_NO);
    verdict_free(&verdict);
}

/* T1 saw x from before and y from after T2: read skew. */
static void read_skew(void **state) {
    (void)state;
    struct verdict verdict;
    const struct versions_op ops[] = {read_of(0, X, START), version_of(1, X, START), version_of(1, Y, START),
                                      read_of(0, Y, 1)};
    const uint32_t ends[] = {4, 3};
    judge_ops(&verdict, ops, 4, 2, ends, all_commit);
    assert_true(verdict.anomalies[ANOMALY_A5A].found);
    assert_false(verdict.anomalies[ANOMALY_A5B].found);
    assert_false(verdict.anomalies[ANOMALY_P4].found);
    verdict_free(&verdict);
}

/* Blind writes: the order of the versions of x makes a cycle, but what T2 wrote nobody saw, and T3 overwrote all: the
 * serial order T1 T2 T3 has the same reads and the same last version. */
static void view_serializable_only(void **state) {
    (void)state;
    struct verdict verdict;
    /* T1 saw the start of x; then T2 wrote it, T1 behind it, T3 behind both. */
    const struct versions_op ops[] = {read_of(0, X, START), version_of(1, X, START), version_of(0, X, 1),
                                      version_of(2, X, 0)};
    const uint32_t ends[] = {3, 2, 4};
    judge_ops(&verdict, ops, 4, 3, ends, all_commit);
    assert_int_equal(verdict.properties[JUDGE_CONFLICT_SERIALIZABLE], JUDGE_NO);
    assert_int_equal(verdict.properties[JUDGE_VIEW_SERIALIZABLE], JUDGE_YES);
    verdict_free(&verdict);
}

TEST_GROUP(judge_versions, cmocka_unit_test(order_of_versions_is_not_that_of_time), cmocka_unit_test(dirty_reads),
           cmocka_unit_test(lost_update), cmocka_unit_test(read_skew), cmocka_unit_test(view_serializable_only))
