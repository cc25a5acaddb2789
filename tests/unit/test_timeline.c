/* test_timeline.c - timelines that can be worked out by hand, and the files made of them. */
#include "sim/lab/timeline.h"

#include <string.h>

#include "sim/exec/spec.h"
#include "tests/support/harness.h"

/* One hot row; each transaction takes 1 ms of CPU and 1 ms of log. */
static void look(const char *settings, struct trace *trace) {
    struct spec spec;
    struct text error = {0};
    struct run_result result;
    assert_true(spec_open(&spec, "2pl", "hot_row"));
    assert_true(spec_set(&spec, "workload.rows=4 workload.accesses=1 cost.cpu_access=1ms cost.log_force=1ms", &error));
    assert_true(spec_set(&spec, settings, &error));
    spec.run.trace = trace;
    run_simulate(&spec.run, &result);
    assert_int_equal(result.status, RUN_OK);
    run_result_free(&result);
    spec_close(&spec);
    text_free(&error);
}

/* The second terminal waits for the first, and then they take turns. */
static void two_take_turns_at_a_row(void **state) {
    (void)state;
    struct trace trace = {.at_ns = 1500000, .spans_max = 100};
    struct text csv = {0}, graph = {0};
    look("system.terminals=2 duration=4ms", &trace);
    timeline_csv(&trace, &csv);
    assert_string_equal(text_string(&csv), "lane,transaction,attempt,what,from_ms,to_ms,on,waits_for,blocker,reason\n"
                                           "1,T1.1,1,run,0.000000,1.000000,,,,\n"
                                           "1,T1.1,1,log,1.000000,2.000000,,,,\n"
                                           "1,T1.1,1,commit,2.000000,2.000000,,,,\n"
                                           "2,T2.1,1,wait,0.000000,2.000000,counters 1,T1.1,1,\n"
                                           "2,T2.1,1,run,2.000000,3.000000,,,,\n"
                                           "2,T2.1,1,log,3.000000,4.000000,,,,\n"
                                           "2,T2.1,1,commit,4.000000,4.000000,,,,\n"
                                           "1,T1.2,1,wait,2.000000,4.000000,counters 1,T2.1,2,\n");
    timeline_graph(&trace, &(struct timeline_words){"Turns", "2pl"}, &graph);
    assert_contains(text_string(&graph), "at 1.5 ms");
    assert_contains(text_string(&graph), "\"T2.1\" -> \"T1.1\" [label=\"counters 1\"]");
    assert_int_equal(trace.edges.count, 1);
    text_free(&csv);
    text_free(&graph);
    trace_free(&trace);
}

/* One CPU, another row for each: who comes second queues for a millisecond. */
static void a_queue_is_no_wait(void **state) {
    (void)state;
    struct trace trace = {.at_ns = -1, .spans_max = 100};
    look("system.terminals=2 system.cpus=1 workload.hot_rows=0 cost.log_force=0 workload.rows=1000000 duration=3ms",
         &trace);
    double queued_ns = 0, ran_ns = 0;
    for (size_t i = 0; i < trace.spans.count; i++) {
        const struct trace_span *span = &trace.spans.items[i];
        assert_true(span->what != TRACE_WAIT);
        queued_ns += span->what == TRACE_QUEUE ? (double)(span->to_ns - span->from_ns) : 0;
        ran_ns += span->what == TRACE_RUN ? (double)(span->to_ns - span->from_ns) : 0;
    }
    assert_true(ran_ns == 3e6 && queued_ns == 3e6);
    assert_true(timeline_busiest_ns(&trace) == 1500000); /* nobody waits: the middle */
    trace_free(&trace);
}

static void the_window_begins_late(void **state) {
    (void)state;
    struct trace trace = {.at_ns = -1, .spans_max = 100};
    look("system.terminals=1 warmup=2500us duration=1ms", &trace);
    assert_int_equal(trace.spans.count, 2);
    assert_int_equal(trace.spans.items[0].what, TRACE_RUN);
    assert_true(trace.spans.items[0].from_ns == 2500000 && trace.spans.items[0].to_ns == 3000000);
    assert_true(trace.spans.items[1].what == TRACE_LOG && trace.spans.items[1].to_ns == 3500000);
    trace_free(&trace);
}

static void too_many_spans_are_said(void **state) {
    (void)state;
    struct trace trace = {.at_ns = -1, .spans_max = 3};
    look("system.terminals=2 duration=4ms", &trace);
    assert_true(trace.full && trace.spans.count == 3);
    trace_free(&trace);
}

/* Two wait for each other; a third, behind them, is on no cycle. */
static void a_cycle_is_thick(void **state) {
    (void)state;
    struct trace trace = {.at_ns = 0};
    struct text graph = {0};
    const struct trace_name a = {1, 7, 1}, b = {2, 8, 2}, c = {3, 9, 3};
    vector_push(&trace.edges, ((struct trace_edge){a, b, "rows", 1}));
    vector_push(&trace.edges, ((struct trace_edge){b, a, "rows", 2}));
    vector_push(&trace.edges, ((struct trace_edge){c, a, "rows", 1}));
    for (int lane = 0; lane < 3; lane++) {
        vector_push(&trace.open, (struct trace_open){0});
    }
    timeline_graph(&trace, &(struct timeline_words){"A \"cycle\"", "2pl"}, &graph);
    assert_contains(text_string(&graph), "A \\\"cycle\\\"");
    assert_contains(text_string(&graph), "\"T1.7\" -> \"T2.8\" [label=\"rows 1\", style=bold");
    assert_contains(text_string(&graph), "\"T2.8\" -> \"T1.7\" [label=\"rows 2\", style=bold");
    assert_contains(text_string(&graph), "\"T3.9\" -> \"T1.7\" [label=\"rows 1\"];");
    text_free(&graph);
    trace_free(&trace);
}

/* Three waits, of which two overlap from 3 to 4. */
static void the_busiest_instant(void **state) {
    (void)state;
    static const int64_t waits[][2] = {{1, 4}, {3, 9}, {9, 12}};
    struct trace trace = {.from_ns = 0, .to_ns = 20};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        vector_push(&trace.spans,
                    ((struct trace_span){.what = TRACE_WAIT, .from_ns = waits[i][0] * 2, .to_ns = waits[i][1] * 2}));
    }
    assert_int_equal(timeline_busiest_ns(&trace), 7);
    trace_free(&trace);
}

TEST_GROUP(timeline, cmocka_unit_test(two_take_turns_at_a_row), cmocka_unit_test(a_queue_is_no_wait),
           cmocka_unit_test(the_window_begins_late), cmocka_unit_test(too_many_spans_are_said),
           cmocka_unit_test(a_cycle_is_thick), cmocka_unit_test(the_busiest_instant))
