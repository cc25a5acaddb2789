/* table.c - see the header. Only the cells before `replication` may be quoted, and a row's last cells are always the
 * metrics, audit and digest: so a run row is read from its end, without taking its quotes apart. */
#include "sim/lab/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/statistics.h"
#include "workloads/workload.h"

static const char *const audit_words[] = {[RUN_AUDIT_NONE] = "", [RUN_AUDIT_OK] = "ok", [RUN_AUDIT_BROKEN] = "broken"};

static void separate(struct text *row) {
    if (row->length > 0) {
        text_add_bytes(row, ",", 1);
    }
}

void table_quoted(struct text *row, const char *cell) {
    if (strpbrk(cell, ",\"\r\n") == NULL) {
        text_add_bytes(row, cell, strlen(cell));
        return;
    }
    text_add_bytes(row, "\"", 1);
    for (const char *p = cell; *p != '\0'; p++) {
        text_add_bytes(row, "\"\"", *p == '"' ? 2 : 0);
        text_add_bytes(row, p, *p == '"' ? 0 : 1);
    }
    text_add_bytes(row, "\"", 1);
}

void table_cell(struct text *row, const char *cell) {
    separate(row);
    table_quoted(row, cell);
}

void table_cell_number(struct text *row, double value) {
    char buffer[32];
    separate(row);
    text_number(buffer, value);
    text_add_bytes(row, buffer, strlen(buffer));
}

static void cell_whole(struct text *row, uint64_t value) {
    separate(row);
    text_add(row, "%" PRIu64, value);
}

static void cell_digest(struct text *row, uint64_t digest) {
    separate(row);
    text_add(row, "%016" PRIx64, digest);
}

static void header_start(const char *const *axes, size_t axis_count, struct text *row) {
    table_cell(row, "algorithm");
    table_cell(row, "workload");
    for (size_t i = 0; i < axis_count; i++) {
        table_cell(row, axes[i]);
    }
}

void table_place_header(const char *const *axes, size_t axis_count, struct text *row) {
    header_start(axes, axis_count, row);
    text_add(row, ",replication,seed");
}

void table_runs_header(const char *const *axes, size_t axis_count, struct text *row) {
    table_place_header(axes, axis_count, row);
    text_add(row, ",sim_seconds");
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; i < count; i++) {
        table_cell(row, metrics[i].name);
    }
    text_add(row, ",audit,digest\n");
}

void table_summary_header(const char *const *axes, size_t axis_count, struct text *row) {
    header_start(axes, axis_count, row);
    text_add(row, ",replications,seed,sim_seconds");
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; i < count; i++) {
        text_add(row, ",%s,%s_ci95", metrics[i].name, metrics[i].name);
    }
    text_add(row, ",audit,digest\n");
}

void table_types_header(const char *const *axes, size_t axis_count, struct text *row) {
    table_place_header(axes, axis_count, row);
    text_add(row, ",sim_seconds,type");
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (metrics[i].by_type) {
            table_cell(row, metrics[i].name);
        }
    }
    text_add(row, "\n");
}

void table_place_cells(const struct table_place *place, struct text *row) {
    table_cell(row, place->algorithm);
    table_cell(row, place->workload);
    if (place->columns[0] != '\0') {
        text_add(row, ",%s", place->columns);
    }
    cell_whole(row, place->replication);
    cell_whole(row, place->seed);
}

void table_add_lines(const struct text *place, const char *lines, size_t length, struct text *out) {
    const char *end = lines + length;
    for (const char *line = lines, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        CHECK(next != NULL);
        next++;
        text_add_bytes(out, place->bytes, place->length);
        text_add_bytes(out, ",", 1);
        text_add_bytes(out, line, (size_t)(next - line));
    }
}

void table_types_cells(const struct workload_ops *workload, const void *options, const struct run_result *result,
                       struct text *lines) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t type = 0; type < result->type_count; type++) {
        struct text row = {0};
        table_cell_number(&row, result->sim_seconds);
        table_cell(&row, workload->type_name(options, type));
        for (size_t i = 0; i < count; i++) {
            if (metrics[i].by_type) {
                table_cell_number(&row, metrics[i].get(&result->types[type], metrics[i].argument));
            }
        }
        text_add(lines, "%s\n", text_string(&row));
        text_free(&row);
    }
}

void table_runs_cells(const struct run_result *result, struct text *row) {
    table_cell_number(row, result->sim_seconds);
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; i < count; i++) {
        table_cell_number(row, metrics[i].get(result, metrics[i].argument));
    }
    table_cell(row, audit_words[result->audit]);
    cell_digest(row, result->digest);
    text_add_bytes(row, "\n", 1);
}

enum { CELLS_BESIDE_METRICS = TABLE_RUN_METRICS + 2 };

struct table_run table_run_read(const char *text) {
    size_t cell_count;
    metrics_all(&cell_count);
    cell_count += CELLS_BESIDE_METRICS;
    struct table_run row = {mem_string(text), mem_new(cell_count, sizeof(char *))};
    char *end = row.bytes + strlen(row.bytes);
    CHECK(end > row.bytes && end[-1] == '\n');
    *--end = '\0';
    for (size_t i = cell_count; i-- > 0;) {
        while (end > row.bytes && end[-1] != ',') {
            end--;
        }
        CHECK(end > row.bytes);
        row.cells[i] = end;
        *--end = '\0';
    }
    return row;
}

void table_run_free(struct table_run *run) {
    mem_free(run->bytes);
    mem_free(run->cells);
}

double table_runs_metric(const char *cells, size_t length, size_t metric) {
    const char *from = cells, *end = cells + length;
    for (size_t i = 0; i <= metric; i++) { /* past sim_seconds and those before it: no cell is quoted */
        from = memchr(from, ',', (size_t)(end - from));
        CHECK(from != NULL);
        from++;
    }
    struct text cell = {0};
    text_add_bytes(&cell, from, strcspn(from, ",\n"));
    double value = table_value(text_string(&cell));
    text_free(&cell);
    return value;
}

static int audit_of(const char *word) {
    int audit = RUN_AUDIT_BROKEN;
    while (audit > RUN_AUDIT_NONE && strcmp(word, audit_words[audit]) != 0) {
        audit--;
    }
    return audit;
}

/* The mean over the rows in which column `cell` is defined; its half-width if wanted. */
static double mean_of(const struct table_run *rows, size_t count, size_t cell, double *values, double *half_width) {
    size_t defined = 0;
    for (size_t r = 0; r < count; r++) {
        double value = table_value(rows[r].cells[cell]);
        if (!isnan(value)) {
            values[defined++] = value;
        }
    }
    if (half_width != NULL) {
        *half_width = statistics_half_width95(values, defined);
    }
    return statistics_mean(values, defined);
}

/* Each metric and its half-width. */
static void metric_cells(const struct table_run *rows, size_t count, const struct table_batches *batches,
                         struct text *row) {
    size_t metric_count;
    const struct metric *metrics = metrics_all(&metric_count);
    double *values = mem_new(count, sizeof *values);
    for (size_t i = 0; i < metric_count; i++) {
        double half_width;
        table_cell_number(row, mean_of(rows, count, TABLE_RUN_METRICS + i, values, &half_width));
        bool from_batches = count == 1 && batches != NULL;
        table_cell_number(row, from_batches ? table_batches_half_width(batches, metrics[i].name) : half_width);
    }
    mem_free(values);
}

void table_summary_row(const char *const *runs, size_t count, const struct table_batches *batches, struct text *row) {
    CHECK(count >= 1);
    size_t metric_count;
    metrics_all(&metric_count);
    size_t cell_count = metric_count + CELLS_BESIDE_METRICS;
    struct table_run *rows = mem_new(count, sizeof *rows);
    double *values = mem_new(count, sizeof *values);
    int audit = RUN_AUDIT_NONE;
    uint64_t digest = 0;
    for (size_t r = 0; r < count; r++) {
        rows[r] = table_run_read(runs[r]);
        int its_audit = audit_of(rows[r].cells[cell_count - 2]);
        audit = its_audit > audit ? its_audit : audit;
        digest = digest_add(digest, strtoull(rows[r].cells[cell_count - 1], NULL, 16));
    }
    text_add(row, "%s,%zu,%s", rows[0].bytes, count, rows[0].cells[TABLE_RUN_SEED]);
    table_cell_number(row, mean_of(rows, count, TABLE_RUN_SIM_SECONDS, values, NULL));
    metric_cells(rows, count, batches, row);
    table_cell(row, audit_words[audit]);
    cell_digest(row, digest);
    text_add_bytes(row, "\n", 1);
    for (size_t r = 0; r < count; r++) {
        table_run_free(&rows[r]);
    }
    mem_free(rows);
    mem_free(values);
}

/* Unquotes the cell at `from` in place; returns the separator that ends it (',', '\n' or the terminator). */
static char *cell_end(char *from) {
    if (*from != '"') {
        return from + strcspn(from, ",\r\n");
    }
    char *to = from;
    for (char *p = from + 1; *p != '\0'; p++) {
        if (*p == '"' && *++p != '"') {
            *to = '\0';
            return p;
        }
        *to++ = *p;
    }
    *to = '\0'; /* never closed: the rest is the cell */
    return to;
}

char *table_split(char *record, char **cells, size_t room, size_t *count) {
    *count = 0;
    for (char *from = record;;) {
        char *end = cell_end(from);
        char separator = *end;
        *end = '\0';
        if (*count < room) {
            cells[*count] = from;
        }
        ++*count;
        if (separator != ',') {
            end += separator == '\r' && end[1] == '\n' ? 1 : 0;
            return separator == '\0' || end[1] == '\0' ? NULL : end + 1;
        }
        from = end + 1;
    }
}

double table_value(const char *cell) {
    double value;
    if (strcmp(cell, "inf") == 0) {
        return (double)INFINITY;
    }
    return text_parse_number(cell, &value) ? value : (double)NAN;
}
