/* results.h - the result files of one experiment while it runs: rows come in any order, runs.csv gets them in theirs.
 *
 * Jobs are numbered as the rows are ordered: replication by replication, then point. A row that comes early waits in
 * memory until those before it are written, so the bytes do not depend on how many workers there are. Of a written row
 * only its place is kept: the summary reads the rows of a point back from the file, which is all it needs.
 *
 * Where replications are added as they are needed there are slots for as many as there may be; those that are not needed
 * stay empty.
 *
 * types.csv is there if a run has several types of transactions. All files are finished under temporary names before the
 * first of them is renamed: a full disk leaves the folder as it was. */
#ifndef CCSIM_LAB_RESULTS_H
#define CCSIM_LAB_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/lab/advice.h"
#include "sim/lab/experiment.h"
#include "sim/lab/outcome.h"
#include "sim/lab/outfile.h"

struct results_slot;

struct results {
    const struct experiment *experiment;
    char *folder;
    bool folder_is_new;
    int folder_lock; /* descriptor: one program writes at a time */
    int64_t only_replication;
    size_t points, jobs, first_unwritten, finished; /* jobs: that there may be */
    struct results_slot *slots;                     /* by job */
    struct outfile tables[OUTCOME_TABLES];          /* but runs.csv: opened when the first of its rows is written */
    struct outfile summary, compare, manifest;      /* compare: opened where something is compared */
    struct table_batches *batches;                  /* by point, if any are asked for; count 0: none are known */
    struct advice advice;
    VECTOR(double) narrower; /* by how much pairing narrows the interval of the throughput, by compared point */
    struct text report;      /* the summary as far as the table on the terminal shows it */
};
enum { RESULTS_REPORT_POINTS = 1000 };

/* Makes the folder if need be and tries it out. False with a sentence if it cannot be written to. Close it in any
 * case. `only_replication`: all jobs are of that one; 0: of all. */
bool results_open(struct results *results, const struct experiment *experiment, const char *folder,
                  int64_t only_replication, struct text *error);

/* How many jobs there may be, and which replication a job is of. */
size_t results_jobs(const struct experiment *experiment, int64_t only_replication);
uint64_t results_replication(const struct results *results, size_t job);

/* The job's rows, or that there will be none. False with a sentence if they cannot be written. */
bool results_row(struct results *results, size_t job, const struct outcome *outcome, struct text *error);
void results_missing(struct results *results, size_t job);

/* The names of the files with rows of runs; is there one? */
extern const char *const results_table_names[OUTCOME_TABLES];
static inline bool results_have(const struct results *results, enum outcome_table table) {
    return results->tables[table].path != NULL;
}

/* The rows of a point, read back into `rows` (each to be freed), in the order of their replications; returns how many. */
size_t results_rows_of_point(struct results *results, size_t point, char **rows);
/* Writes what waits for rows that will not come. */
void results_write_all(struct results *results);
/* Adds the header of a table that has the axes of the experiment. */
typedef void results_header(const char *const *axes, size_t axis_count, struct text *row);
void results_add_header(const struct experiment *experiment, results_header *writer, struct text *row);
/* The sentence about the first file that failed; true if none has. */
bool results_all_well(struct results *results, struct text *error);

/* Nothing more will come: the summary is written; report holds it, advice what
 * is to be said of it. False if something cannot be read or written. (results_summary.c) */
bool results_summarize(struct results *results, struct text *error);

/* Puts the files in place, `manifest` with this content. */
bool results_commit(struct results *results, const struct text *manifest, struct text *error);

/* An interrupted experiment does not replace a complete one but goes into a folder `interrupted` in its folder. */
bool results_step_aside(struct results *results, struct text *error);

/* Frees; what was not committed vanishes, and so does a folder made for it. */
void results_close(struct results *results);

#endif
