/* test_trace.c - a traced run is the same run, and its spans add up to what the run counted: in random worlds, under
 * every algorithm. */
#include <string.h>

#include "sim/exec/trace.h"
#include "tests/support/harness.h"
#include "tests/support/wild.h"

enum { SEEDS = 4, SPANS_MOST = 2000000 };

static struct run_result run_traced(const struct cc_ops *ops, uint64_t seed, struct trace *trace) {
    struct wild_world world;
    struct run_result result;
    wild_world_draw(&world, ops, seed, NULL);
    world.spec.trace = trace;
    wild_world_run(&world, &result);
    wild_world_free(&world);
    return result;
}

/* A lane's spans follow each other; a terminal is always somewhere. */
static void check_lanes(const struct trace *trace, bool is_closed) {
    int64_t *ends_ns = mem_new(trace->lanes + 1, sizeof *ends_ns);
    for (uint32_t lane = 0; lane <= trace->lanes; lane++) {
        ends_ns[lane] = trace->from_ns;
    }
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct trace_span *span = &trace->spans.items[i];
        int64_t *end_ns = &ends_ns[span->who.lane];
        bool is_mark = span->what >= TRACE_COMMIT;
        assert_true(is_mark ? span->from_ns == span->to_ns : span->from_ns < span->to_ns);
        assert_true(is_closed ? span->from_ns == *end_ns : span->from_ns >= *end_ns);
        assert_true(span->to_ns <= trace->to_ns);
        *end_ns = span->to_ns;
    }
    for (uint32_t lane = 1; is_closed && lane <= trace->lanes; lane++) {
        assert_true(ends_ns[lane] == trace->to_ns);
    }
    mem_free(ends_ns);
}

static uint64_t marks(const struct trace *trace, enum trace_what what) {
    uint64_t count = 0;
    for (size_t i = 0; i < trace->spans.count; i++) {
        count += trace->spans.items[i].what == what;
    }
    return count;
}

static double length_ns(const struct trace *trace, enum trace_what what) {
    double sum_ns = 0;
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct trace_span *span = &trace->spans.items[i];
        sum_ns += span->what == what ? (double)(span->to_ns - span->from_ns) : 0;
    }
    return sum_ns;
}

static void check_sums(const struct trace *trace, const struct run_result *result) {
    uint64_t aborts = 0;
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        aborts += result->aborts_by_reason[reason];
    }
    assert_true(marks(trace, TRACE_COMMIT) == result->commits);
    assert_true(marks(trace, TRACE_ROLLBACK) == result->rollbacks);
    assert_true(marks(trace, TRACE_ABORT) == aborts);
    assert_true(length_ns(trace, TRACE_WAIT) == result->blocked_area_ns);
}

static void a_traced_run_is_the_same_run(void **state) {
    (void)state;
    uint64_t waits = 0;
    for (size_t i = 0; i < cc_registry_count; i++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct trace trace = {.at_ns = -1, .spans_max = SPANS_MOST};
            struct run_result plain = run_traced(cc_registry[i], seed, NULL);
            struct run_result traced = run_traced(cc_registry[i], seed, &trace);
            assert_int_equal(plain.status, traced.status);
            assert_true(plain.digest == traced.digest && plain.events == traced.events);
            if (traced.status == RUN_OK) {
                check_lanes(&trace, traced.terminals > 0);
                check_sums(&trace, &traced);
            }
            waits += marks(&trace, TRACE_WAIT);
            trace_free(&trace);
            run_result_free(&plain);
            run_result_free(&traced);
        }
    }
    assert_true(waits > 1000);
}

TEST_GROUP(trace, cmocka_unit_test(a_traced_run_is_the_same_run))
