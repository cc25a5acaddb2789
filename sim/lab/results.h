/* results.h - the result files of one experiment while it runs: rows come in any order, runs.csv gets them in theirs.
 *
 * Jobs are numbered as the rows are ordered: replication by replication, then point. A row that comes early waits in
 * memory until those before it are written, so the bytes do not depend on how many workers there are. Of a written row
 * only its place is kept: the summary reads the rows of a point back from the file, which is all it needs.
 *
 * types.csv is there if a run has several types of transactions. All files are finished under temporary names before the
 * first of them is renamed: a full disk leaves the folder as it was. */
#ifndef CCSIM_LAB_RESULTS_H
#define CCSIM_LAB_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/text.h"
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
    size_t points, jobs, first_unwritten, finished;
    struct results_slot *slots;            /* by job */
    struct outfile tables[OUTCOME_TABLES]; /* but runs.csv: opened when the first of its rows is written */
    struct outfile summary, manifest;
    struct text report; /* the summary as far as the table on the terminal shows it */
};
enum { RESULTS_REPORT_POINTS = 1000 };

/* Makes the folder if need be and tries it out. False with a sentence if it cannot be written to. Close it in any
 * case. `only_replication`: all jobs are of that one; 0: of all. */
bool results_open(struct results *results, const struct experiment *experiment, const char *folder,
                  int64_t only_replication, struct text *error);

/* How many jobs there are, and which replication a job is of. */
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

/* Nothing more will come: the summary is written; report holds it. False if something cannot be read or written. */
bool results_summarize(struct results *results, struct text *error);

/* Puts the files in place, `manifest` with this content. */
bool results_commit(struct results *results, const struct text *manifest, struct text *error);

/* An interrupted experiment does not replace a complete one but goes into a folder `interrupted` in its folder. */
bool results_step_aside(struct results *results, struct text *error);

/* Frees; what was not committed vanishes, and so does a folder made for it. */
void results_close(struct results *results);

#endif
