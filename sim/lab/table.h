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

/* Adds `cell` (quoted if it needs it), with a comma before it unless the row is still empty. */
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

/* A line for each piece of the measured window, under the time of its end, if the run was sampled; and one for each step of
 * the histograms of response and wait that anything was counted in. */
void table_series_header(const char *const *axes, size_t axis_count, struct text *row);
void table_series_cells(const struct run_result *result, struct text *lines);
void table_histograms_header(const char *const *axes, size_t axis_count, struct text *row);
void table_histograms_cells(const struct run_result *result, struct text *lines);

/* `runs`: rows of one point, ordered by replication, `count` >= 1 of them. Each metric is averaged over the rows in
 * which it is defined; the half-width needs two. */
void table_summary_header(const char *const *axes, size_t axis_count, struct text *row);
void table_summary_row(const char *const *runs, size_t count, struct text *row);

/* Takes a record apart in place: cells unquoted and terminated. Returns what follows the record, or NULL if it was the
 * last; `*count` is set to the number of cells, of which the first `room` are stored. */
char *table_split(char *record, char **cells, size_t room, size_t *count);

/* A cell as a number: not-a-number if it is empty or no number, infinity for `inf`. */
double table_value(const char *cell);

#endif
