/* table_series.c - the rows of series.csv and histograms.csv: how one run went, rather than what it came to. */
#include "sim/lab/table.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/statistics.h"

#define NS_PER_MS 1e6
#define NS_PER_S  1e9

/* A piece of the measured window: what happened between two samples. */
struct piece {
    struct run_sample from, to;
};

static double seconds(const struct piece *piece) {
    return (double)(piece->to.time_ns - piece->from.time_ns) / NS_PER_S;
}
static double per_second(const struct piece *piece, double count) { return count / seconds(piece); }
static double per_commit(const struct piece *piece, double sum_ns) {
    uint64_t commits = piece->to.commits - piece->from.commits;
    return commits > 0 ? sum_ns / NS_PER_MS / (double)commits : NAN;
}
static double average(const struct piece *piece, double area_ns) { return area_ns / NS_PER_S / seconds(piece); }

static double time_of(const struct piece *p) { return (double)p->to.time_ns / NS_PER_S; }
static double commits(const struct piece *p) { return (double)(p->to.commits - p->from.commits); }
static double aborts(const struct piece *p) { return (double)(p->to.aborts - p->from.aborts); }
static double rollbacks(const struct piece *p) { return (double)(p->to.rollbacks - p->from.rollbacks); }
static double waits(const struct piece *p) { return (double)(p->to.waits - p->from.waits); }
static double throughput(const struct piece *p) { return per_second(p, commits(p)); }
static double abort_rate(const struct piece *p) { return aborts(p) / (commits(p) + aborts(p)); }
static double response(const struct piece *p) { return per_commit(p, p->to.response_sum_ns - p->from.response_sum_ns); }
static double wait(const struct piece *p) { return per_commit(p, p->to.wait_sum_ns - p->from.wait_sum_ns); }
static double blocked(const struct piece *p) { return average(p, p->to.blocked_area_ns - p->from.blocked_area_ns); }
static double active(const struct piece *p) { return average(p, p->to.active_area_ns - p->from.active_area_ns); }
static double versions(const struct piece *p) { return average(p, p->to.versions_area_ns - p->from.versions_area_ns); }
static double dead(const struct piece *p) {
    return average(p, p->to.versions_dead_area_ns - p->from.versions_dead_area_ns);
}

/* Named as in runs.csv; `time_s` is the end of the piece, counted from the end of the warm-up. */
static const struct column {
    const char *name;
    double (*get)(const struct piece *piece);
    bool adds_up, tells_dependence; /* a sum over the pieces; looked at for what lasts from one to the next */
} columns[] = {
    {"time_s", time_of, false, false},
    {"throughput_tps", throughput, false, true},
    {"commits", commits, true, false},
    {"aborts", aborts, true, false},
    {"rollbacks", rollbacks, true, false},
    {"abort_rate", abort_rate, false, false},
    {"waits", waits, true, false},
    {"wait_mean_ms", wait, false, false},
    {"response_mean_ms", response, false, true},
    {"blocked_mean", blocked, false, false},
    {"active_mean", active, false, false},
    {"versions_mean", versions, false, false},
    {"versions_dead_mean", dead, false, false},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], TIME_COLUMN = 0 };
_Static_assert((int)COLUMNS <= (int)TABLE_BATCH_COLUMNS, "room for all of them");

const char *table_series_column(size_t number) { return number < COLUMNS ? columns[number].name : NULL; }

void table_series_header(const char *const *axes, size_t axis_count, struct text *row) {
    table_place_header(axes, axis_count, row);
    for (size_t i = 0; i < COLUMNS; i++) {
        table_cell(row, columns[i].name);
    }
    text_add(row, "\n");
}

void table_series_cells(const struct run_samples *samples, struct text *lines) {
    struct piece piece = {0};
    for (size_t s = 0; s < samples->count; s++, piece.from = piece.to) {
        struct text row = {0};
        piece.to = samples->items[s];
        for (size_t i = 0; i < COLUMNS; i++) {
            table_cell_number(&row, columns[i].get(&piece));
        }
        text_add(lines, "%s\n", text_string(&row));
        text_free(&row);
    }
}

/* The values of a column, of the batches in which it is defined; returns how many. */
static size_t batch_values(char *const *cells, size_t batches, size_t column, double *values) {
    size_t defined = 0;
    for (size_t b = 0; b < batches; b++) {
        double value = table_value(cells[b * COLUMNS + column]);
        if (!isnan(value)) {
            values[defined++] = value;
        }
    }
    return defined;
}

void table_batches_read(const char *lines, size_t length, struct table_batches *out) {
    char *copy = mem_new(length + 1, 1);
    memcpy(copy, lines, length);
    for (size_t i = 0; i < length; i++) {
        out->count += copy[i] == '\n';
    }
    char **cells = mem_new(out->count * COLUMNS + 1, sizeof *cells);
    double *values = mem_new(out->count + 1, sizeof *values);
    char *next = copy;
    for (size_t b = 0; b < out->count; b++) {
        size_t count;
        next = table_split(next, cells + b * COLUMNS, COLUMNS, &count);
        CHECK(count == COLUMNS && (next != NULL) == (b + 1 < out->count));
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        size_t defined = batch_values(cells, out->count, c, values);
        double half_width = c == TIME_COLUMN ? (double)NAN : statistics_half_width95(values, defined);
        out->half_widths[c] = columns[c].adds_up ? half_width * (double)defined : half_width;
        double lag1 = columns[c].tells_dependence ? statistics_lag1(values, defined) : (double)NAN;
        out->lag1 = lag1 > out->lag1 ? lag1 : out->lag1;
    }
    mem_free(values);
    mem_free(cells);
    mem_free(copy);
}

double table_batches_half_width(const struct table_batches *batches, const char *metric) {
    for (size_t c = 0; c < COLUMNS; c++) {
        if (strcmp(columns[c].name, metric) == 0) {
            return batches->half_widths[c];
        }
    }
    return (double)NAN;
}

void table_histograms_header(const char *const *axes, size_t axis_count, struct text *row) {
    table_place_header(axes, axis_count, row);
    text_add(row, ",metric,below_ms,count,share_below\n");
}

static void histogram_cells(const char *metric, const struct histogram *histogram, struct text *lines) {
    uint64_t before = 0;
    for (int step = 0; step < HISTOGRAM_STEPS && before < histogram->count; step++) {
        int64_t edge_ns;
        uint64_t below = histogram_below(histogram, step, &edge_ns);
        if (below > before) {
            struct text row = {0};
            table_cell(&row, metric);
            table_cell_number(&row, (double)edge_ns / NS_PER_MS);
            table_cell_number(&row, (double)(below - before));
            table_cell_number(&row, (double)below / (double)histogram->count);
            text_add(lines, "%s\n", text_string(&row));
            text_free(&row);
        }
        before = below;
    }
}

void table_histograms_cells(const struct run_result *result, struct text *lines) {
    histogram_cells("response", &result->response, lines);
    histogram_cells("wait", &result->wait, lines);
}
