/* results_summary.c - what is made of all runs of each point: summary.csv, compare.csv, the table's text, the advice. */
#include <math.h>

#include "sim/lab/results.h"
#include "sim/lab/table.h"

/* The rows of one point, in memory. */
struct rows {
    char **items;
    size_t count;
};

static struct rows rows_load(struct results *results, size_t point) {
    struct rows rows = {.items = mem_new(results->jobs / results->points, sizeof *rows.items)};
    rows.count = results_rows_of_point(results, point, rows.items);
    return rows;
}

static void rows_free(struct rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        mem_free(rows->items[i]);
    }
    mem_free(rows->items);
}

/* `+12.3% +-0.8%`: by how much its throughput differs. */
static void add_difference(const char *row, struct text *words, struct results *results) {
    struct statistics_pair pair;
    table_compare_read(row, &pair);
    if (!isnan(pair.ratio)) {
        text_add(words, "%+.1f%%", 100 * (pair.ratio - 1));
    }
    if (!isnan(pair.ratio_ci95)) {
        text_add(words, " +-%.1f%%", 100 * pair.ratio_ci95);
    }
    if (!isnan(pair.narrower)) {
        vector_push(&results->narrower, pair.narrower);
    }
}

/* Writes the point's row of compare.csv; `words`: what the table says of it. */
static void compare(struct results *results, size_t point, const struct rows *rows, struct text *words) {
    size_t base;
    if (!experiment_compared_to(results->experiment, point, &base)) {
        return;
    }
    struct rows base_rows = rows_load(results, base);
    struct text row = {0};
    if (table_compare_row((const char *const *)rows->items, rows->count, experiment_facts(results->experiment)->compare,
                          (const char *const *)base_rows.items, base_rows.count, &row)) {
        outfile_write(&results->compare, row.bytes, row.length);
        add_difference(text_string(&row), words, results);
    }
    text_free(&row);
    rows_free(&base_rows);
}

/* The table on the terminal has a column more than the file, if algorithms are compared. */
static void report_line(struct results *results, const struct text *row, const char *words) {
    text_add_bytes(&results->report, row->bytes, row->length);
    if (experiment_facts(results->experiment)->compare != NULL) {
        struct text cell = {0};
        table_cell(&cell, words);
        results->report.bytes[--results->report.length] = '\0'; /* the line's end */
        text_add(&results->report, ",%s\n", text_string(&cell));
        text_free(&cell);
    }
}

static void header_write(struct results *results) {
    const char *base = experiment_facts(results->experiment)->compare;
    struct text row = {0}, words = {0};
    results_add_header(results->experiment, table_summary_header, &row);
    outfile_write(&results->summary, row.bytes, row.length);
    text_add(&words, "against %s", base != NULL ? base : "");
    report_line(results, &row, text_string(&words));
    if (base != NULL) {
        text_clear(&row);
        results_add_header(results->experiment, table_compare_header, &row);
        outfile_write(&results->compare, row.bytes, row.length);
    }
    text_free(&row);
    text_free(&words);
}

static void point_write(struct results *results, size_t point, const struct rows *rows) {
    const struct table_batches *batches =
        results->batches != NULL && results->batches[point].count > 0 ? &results->batches[point] : NULL;
    const struct experiment_facts *facts = experiment_facts(results->experiment);
    struct text row = {0}, words = {0};
    table_summary_row((const char *const *)rows->items, rows->count, batches, &row);
    outfile_write(&results->summary, row.bytes, row.length);
    advice_look(&results->advice, facts, point, text_string(&row), batches);
    if (facts->compare != NULL) {
        compare(results, point, rows, &words);
    }
    if (point < RESULTS_REPORT_POINTS) {
        report_line(results, &row, text_string(&words));
    }
    text_free(&row);
    text_free(&words);
}

bool results_summarize(struct results *results, struct text *error) {
    results_write_all(results);
    header_write(results);
    for (size_t point = 0; point < results->points && results->tables[OUTCOME_RUNS].error == 0; point++) {
        struct rows rows = rows_load(results, point);
        if (rows.count > 0) {
            point_write(results, point, &rows);
        }
        rows_free(&rows);
    }
    return results_all_well(results, error);
}
