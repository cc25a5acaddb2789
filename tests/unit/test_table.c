/* test_table.c - rows of the result files: quoting, headers, the summary of rows, the table on the terminal. */
#include "tests/support/harness.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/digest.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/report.h"
#include "sim/lab/table.h"

enum { CELLS_MOST = 256 };

static void cells_are_quoted_where_needed(void **state) {
    (void)state;
    static const struct {
        const char *cell, *written;
    } cases[] = {{"2pl", "2pl"},
                 {"exp(1ms)", "exp(1ms)"},
                 {"uniform(1ms, 3ms)", "\"uniform(1ms, 3ms)\""},
                 {"say \"x\"", "\"say \"\"x\"\"\""},
                 {"two\nlines", "\"two\nlines\""},
                 {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text row = {0};
        table_cell(&row, "a");
        table_cell(&row, cases[i].cell);
        assert_string_equal(row.bytes + 2, cases[i].written);
        assert_memory_equal(row.bytes, "a,", 2);
        char *cells[2];
        size_t count;
        assert_null(table_split(row.bytes, cells, 2, &count));
        assert_int_equal(count, 2);
        assert_string_equal(cells[1], cases[i].cell);
        text_free(&row);
    }
}

static void split_goes_from_record_to_record(void **state) {
    (void)state;
    char content[] = "a,b\r\n\"x,1\",\n,\"\"\n";
    char *cells[3];
    size_t count;
    char *next = table_split(content, cells, 3, &count);
    assert_int_equal(count, 2);
    assert_string_equal(cells[1], "b");
    next = table_split(next, cells, 3, &count);
    assert_int_equal(count, 2);
    assert_string_equal(cells[0], "x,1");
    assert_string_equal(cells[1], "");
    assert_null(table_split(next, cells, 3, &count));
    assert_int_equal(count, 2);
    assert_string_equal(cells[0], "");
}

static void values_of_cells(void **state) {
    (void)state;
    assert_near(table_value("1.5"), 1.5, 0);
    assert_true(isnan(table_value("")));
    assert_true(isnan(table_value("ok")));
    assert_true(isinf(table_value("inf")));
}

static const char *const axes[] = {"system.terminals", "cost.cpu_access"};

/* The run of a replication: 10 s, that many commits. */
static void add_run(struct text *row, uint64_t replication, uint64_t commits, uint64_t aborts, enum run_audit audit) {
    struct run_result result = {.sim_seconds = 10, .commits = commits, .audit = audit, .digest = 0xabc + replication};
    result.aborts_by_reason[REASON_NOWAIT] = aborts;
    struct table_place place = {"fast, 2pl", "hot_row", "8,\"uniform(1ms, 3ms)\"", replication, 42};
    struct text before = {0}, cells = {0};
    table_place_cells(&place, &before);
    table_runs_cells(&result, &cells);
    table_add_lines(&before, cells.bytes, cells.length, row);
    text_free(&before);
    text_free(&cells);
}

/* Cell `column` of a row under a header; the text is freed with text_free(&copies). */
static const char *cell(const struct text *header, const struct text *row, const char *column, struct text copies[2]) {
    char *names[CELLS_MOST], *cells[CELLS_MOST];
    size_t name_count, cell_count;
    for (int i = 0; i < 2; i++) {
        text_clear(&copies[i]);
        text_add(&copies[i], "%s", text_string(i == 0 ? header : row));
    }
    assert_null(table_split(copies[0].bytes, names, CELLS_MOST, &name_count));
    assert_null(table_split(copies[1].bytes, cells, CELLS_MOST, &cell_count));
    assert_int_equal(name_count, cell_count);
    for (size_t i = 0; i < name_count; i++) {
        if (strcmp(names[i], column) == 0) {
            return cells[i];
        }
    }
    fail_msg("no column %s", column);
    return "";
}

static void run_rows_fit_their_header(void **state) {
    (void)state;
    struct text header = {0}, row = {0}, copies[2] = {{0}, {0}};
    table_runs_header(axes, 2, &header);
    static const char start[] =
        "algorithm,workload,system.terminals,cost.cpu_access,replication,seed,sim_seconds,throughput_tps,";
    assert_memory_equal(header.bytes, start, strlen(start));
    static const char end[] = ",audit,digest\n";
    assert_string_equal(header.bytes + header.length - strlen(end), end);
    add_run(&row, 3, 200, 0, RUN_AUDIT_OK);
    assert_string_equal(cell(&header, &row, "algorithm", copies), "fast, 2pl");
    assert_string_equal(cell(&header, &row, "workload", copies), "hot_row");
    assert_string_equal(cell(&header, &row, "system.terminals", copies), "8");
    assert_string_equal(cell(&header, &row, "cost.cpu_access", copies), "uniform(1ms, 3ms)");
    assert_string_equal(cell(&header, &row, "replication", copies), "3");
    assert_string_equal(cell(&header, &row, "seed", copies), "42");
    assert_string_equal(cell(&header, &row, "sim_seconds", copies), "10");
    assert_string_equal(cell(&header, &row, "throughput_tps", copies), "20");
    assert_string_equal(cell(&header, &row, "wait_p50_ms", copies), "");
    assert_string_equal(cell(&header, &row, "anomalies", copies), "");
    assert_string_equal(cell(&header, &row, "audit", copies), "ok");
    assert_string_equal(cell(&header, &row, "digest", copies), "0000000000000abf");
    text_free(&header);
    text_free(&row);
    text_free(&copies[0]);
    text_free(&copies[1]);
}

/* Throughputs 10, 20, 30: mean 20, sd 10, half-width 4.30265273 * 10 / sqrt(3) = 24.8413771. */
static void summary_of_three_runs(void **state) {
    (void)state;
    struct text header = {0}, rows[3] = {{0}, {0}, {0}}, summary = {0}, copies[2] = {{0}, {0}};
    const char *texts[3];
    uint64_t digest = 0;
    for (uint64_t r = 0; r < 3; r++) {
        add_run(&rows[r], r + 1, 100 * (r + 1), 0, r == 1 ? RUN_AUDIT_BROKEN : RUN_AUDIT_OK);
        texts[r] = rows[r].bytes;
        digest = digest_add(digest, 0xabc + r + 1);
    }
    table_summary_header(axes, 2, &header);
    table_summary_row(texts, 3, NULL, &summary);
    assert_string_equal(cell(&header, &summary, "algorithm", copies), "fast, 2pl");
    assert_string_equal(cell(&header, &summary, "cost.cpu_access", copies), "uniform(1ms, 3ms)");
    assert_string_equal(cell(&header, &summary, "replications", copies), "3");
    assert_string_equal(cell(&header, &summary, "seed", copies), "42");
    assert_string_equal(cell(&header, &summary, "throughput_tps", copies), "20");
    assert_string_equal(cell(&header, &summary, "throughput_tps_ci95", copies), "24.8413771");
    assert_string_equal(cell(&header, &summary, "gave_up_ci95", copies), "0");
    assert_string_equal(cell(&header, &summary, "wait_p50_ms", copies), "");
    assert_string_equal(cell(&header, &summary, "wait_p50_ms_ci95", copies), "");
    assert_string_equal(cell(&header, &summary, "audit", copies), "broken");
    char expected[32];
    snprintf(expected, sizeof expected, "%016" PRIx64, digest);
    assert_string_equal(cell(&header, &summary, "digest", copies), expected);
    for (int r = 0; r < 3; r++) {
        text_free(&rows[r]);
    }
    text_free(&header);
    text_free(&summary);
    text_free(&copies[0]);
    text_free(&copies[1]);
}

static void one_run_has_no_interval(void **state) {
    (void)state;
    struct text header = {0}, row = {0}, summary = {0}, copies[2] = {{0}, {0}};
    add_run(&row, 1, 100, 0, RUN_AUDIT_NONE);
    table_summary_header(axes, 2, &header);
    table_summary_row((const char *const[]){row.bytes}, 1, NULL, &summary);
    assert_string_equal(cell(&header, &summary, "throughput_tps", copies), "10");
    assert_string_equal(cell(&header, &summary, "throughput_tps_ci95", copies), "");
    assert_string_equal(cell(&header, &summary, "audit", copies), "");
    text_free(&header);
    text_free(&row);
    text_free(&summary);
    text_free(&copies[0]);
    text_free(&copies[1]);
}

/* The abort rate is undefined in the run where nothing happened: the mean is that of the other. */
static void undefined_values_are_left_out_of_the_mean(void **state) {
    (void)state;
    struct text header = {0}, first = {0}, second = {0}, summary = {0}, copies[2] = {{0}, {0}};
    add_run(&first, 1, 0, 0, RUN_AUDIT_NONE);
    add_run(&second, 2, 30, 10, RUN_AUDIT_OK);
    table_summary_header(axes, 2, &header);
    table_summary_row((const char *const[]){first.bytes, second.bytes}, 2, NULL, &summary);
    assert_string_equal(cell(&header, &summary, "abort_rate", copies), "0.25");
    assert_string_equal(cell(&header, &summary, "abort_rate_ci95", copies), "");
    assert_string_equal(cell(&header, &summary, "commits", copies), "15");
    assert_string_equal(cell(&header, &summary, "audit", copies), "ok");
    text_free(&header);
    text_free(&first);
    text_free(&second);
    text_free(&summary);
    text_free(&copies[0]);
    text_free(&copies[1]);
}

static void report_shows_a_line_per_point(void **state) {
    (void)state;
    struct text row = {0}, summary = {0}, report = {0};
    table_summary_header(axes, 2, &summary);
    add_run(&row, 1, 1000, 250, RUN_AUDIT_BROKEN);
    table_summary_row((const char *const[]){row.bytes}, 1, NULL, &summary);
    report_add(summary.bytes, &report);
    assert_contains(report.bytes, "algorithm");
    assert_contains(report.bytes, "terminals");
    assert_contains(report.bytes, "fast, 2pl");
    assert_contains(report.bytes, "100.0");
    assert_contains(report.bytes, "20.0%");
    assert_contains(report.bytes, "broken\n");
    assert_null(strstr(report.bytes, "+-")); /* one replication: nothing to show there */
    text_free(&row);
    text_free(&summary);
    text_free(&report);
}

TEST_GROUP(table, cmocka_unit_test(cells_are_quoted_where_needed), cmocka_unit_test(split_goes_from_record_to_record),
           cmocka_unit_test(values_of_cells), cmocka_unit_test(run_rows_fit_their_header),
           cmocka_unit_test(summary_of_three_runs), cmocka_unit_test(one_run_has_no_interval),
           cmocka_unit_test(undefined_values_are_left_out_of_the_mean), cmocka_unit_test(report_shows_a_line_per_point))
