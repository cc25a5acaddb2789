/* table.h - the rows of runs.csv, summary.csv and types.csv: RFC 4180 cells, one text per row.
 *
 *   runs.csv     algorithm, workload, the other axes, replication, seed, sim_seconds, metrics, audit, digest
 *   types.csv    algorithm, workload, the other axes, replication, seed, sim_seconds, type, the metrics by type;
 *                one row for each type of transaction of a run whose workload has several
 *   series.csv, histograms.csv   the same places, then the columns of table_series.c
 *   summary.csv  the same with `replications` instead of replication, and a _ci95 behind each metric
 *
 * A summary row is computed from the text of the run rows, not from the numbers behind them: what is read back from a
 * file gives the same bytes as what has just been computed. A row ends with '\n'. */
#ifndef CCSIM_LAB_TABLE_H
#define CCSIM_LAB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text.h"
#include "sim/exec/run.h"
#include "sim/lab/statistics.h"

/* Adds `cell`, quoted if it needs it. */
void table_quoted(struct text *row, const char *cell);
/* The same, with a comma before it unless the row is still empty. */
void table_cell(struct text *row, const char *cell);
void table_cell_number(struct text *row, double value); /* as text_number; not-a-number gives an empty cell */

/* Where a run stands in the table. */
struct table_place {
    const char *algorithm, *workload;
    const char *columns; /* cells of the axes, quoted and comma-separated; "" if there are none */
    uint64_t replication, seed;
};
/* The cells that say so: those before sim_seconds. */
void table_place_header(const char *const *axes, size_t axis_count, struct text *row);
void table_place_cells(const struct table_place *place, struct text *row);
/* Adds each of the `length` bytes' lines with `place` before it. */
void table_add_lines(const struct text *place, const char *lines, size_t length, struct text *out);

/* The cells of a run from sim_seconds on: the run itself, wherever it stands. */
void table_runs_header(const char *const *axes, size_t axis_count, struct text *row);
void table_runs_cells(const struct run_result *result, struct text *row);

void table_types_header(const char *const *axes, size_t axis_count, struct text *row);
/* A line for each type; none if there is one type only. `options` are the workload's. */
void table_types_cells(const struct workload_ops *workload, const void *options, const struct run_result *result,
                       struct text *lines);

/* A line for each piece of the measured window that `samples` end, under the time of its end, if the run was sampled; and one for each step of
 * the histograms of response and wait that anything was counted in. */
void table_series_header(const char *const *axes, size_t axis_count, struct text *row);
void table_series_cells(const struct run_samples *samples, struct text *lines);
void table_histograms_header(const char *const *axes, size_t axis_count, struct text *row);
void table_histograms_cells(const struct run_result *result, struct text *lines);

const char *table_series_column(size_t number); /* from time_s on; NULL behind the last */

/* What the batches of one run, lines as table_series_cells makes them, say of its means: the half-widths of their 95%
 * confidence intervals as if the batches were independent, and the correlation from batch to batch of the throughput or the
 * response time, whichever is larger, which tells whether they are (Law and Kelton's batch means). */
enum { TABLE_BATCH_COLUMNS = 16 };
struct table_batches {
    size_t count;
    double half_widths[TABLE_BATCH_COLUMNS], lag1;
};
void table_batches_read(const char *lines, size_t length, struct table_batches *out); /* `out` zeroed before */
/* Not-a-number for a metric that batches do not give. */
double table_batches_half_width(const struct table_batches *batches, const char *metric);

/* A row of runs.csv, its last cells taken apart. */
struct table_run {
    char *bytes;  /* a copy; cells are terminated in it: what stands before `replication` is its beginning */
    char **cells; /* replication, seed, sim_seconds, the metrics, audit, digest */
};
enum { TABLE_RUN_REPLICATION, TABLE_RUN_SEED, TABLE_RUN_SIM_SECONDS, TABLE_RUN_METRICS };
struct table_run table_run_read(const char *text);
void table_run_free(struct table_run *run);
/* The metric of that number in the cells of a run from sim_seconds on. */
double table_runs_metric(const char *cells, size_t length, size_t metric);

/* `runs`: rows of one point, ordered by replication, `count` >= 1 of them. Each metric is averaged over the rows in
 * which it is defined; the half-width needs two, or else comes from `batches` (NULL: there are none). */
void table_summary_header(const char *const *axes, size_t axis_count, struct text *row);
void table_summary_row(const char *const *runs, size_t count, const struct table_batches *batches, struct text *row);

/* A row of compare.csv: a point's runs against those of its base, replication by replication; those that only one of them
 * has are left out. False, and no row, if there are none. `base` is its algorithm. */
void table_compare_header(const char *const *axes, size_t axis_count, struct text *row);
bool table_compare_row(const char *const *runs, size_t count, const char *base, const char *const *base_runs,
                       size_t base_count, struct text *row);

/* What such a row says of the throughput. */
void table_compare_read(const char *row, struct statistics_pair *throughput);

/* Takes a record apart in place: cells unquoted and terminated. Returns what follows the record, or NULL if it was the
 * last; `*count` is set to the number of cells, of which the first `room` are stored. */
char *table_split(char *record, char **cells, size_t room, size_t *count);

/* A cell as a number: not-a-number if it is empty or no number, infinity for `inf`. */
double table_value(const char *cell);

#endif
