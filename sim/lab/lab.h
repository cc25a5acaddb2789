/* lab.h - runs an experiment: every point, every replication, on all cores; leaves a folder of result files and says on
 * the terminal what came out. */
#ifndef CCSIM_LAB_LAB_H
#define CCSIM_LAB_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/lab/experiment.h"
#include "sim/lab/shard.h"

extern const char lab_version[];

/* Exit codes of the program, see docs and `ccsim --help`. When several apply: interrupted, then incomplete, then
 * broken, then usage. */
enum lab_exit { LAB_DONE = 0, LAB_BROKEN = 1, LAB_USAGE = 2, LAB_INCOMPLETE = 3, LAB_INTERRUPTED = 130 };

struct lab_request {
    const char *folder;       /* NULL: results/<stem> */
    int workers;              /* 0: one per processor */
    int64_t only_replication; /* 0: all */
    struct shard shard;       /* of 0: the whole experiment */
    bool fresh;               /* whatever was computed before is computed again */
    bool quiet;               /* neither progress nor table */
    bool plot;                /* draw the figures */
    const char *command;      /* as typed, without --only, -o and -j: the start of replay commands */
    const char *again;        /* the command that finishes what failed; NULL: `command` and what belongs to it */
    const char *history;      /* NULL, or the file to which the only run's history goes */
    const char *selection;    /* the --only arguments, a blank before each; "" if there are none */
};

/* Prints messages on stderr, the table on stdout; returns the exit code.
 *
 * Every run is kept in a journal from the moment it finishes, and what is in a journal of the folder is not computed
 * again. runs.csv and its like appear when everything is there: until then the old ones are untouched. An interrupted
 * experiment writes them from what had finished; beside complete results of an earlier time they are put into a folder
 * `interrupted` of their own. A shard leaves its journal only, for lab_merge. */
enum lab_exit lab_run(const struct experiment *experiment, const struct lab_request *request);

/* Joins the shards of one experiment, whose journals lie in these folders: files, table and figures as lab_run makes
 * them. What is missing is named with the command that computes it. `folder`: NULL: the only one of `folders`, or
 * results/<stem>. */
struct merge_request {
    const char *const *folders;
    size_t folder_count;
    const char *folder;
    bool quiet, plot;
};
enum lab_exit lab_merge(const struct merge_request *request);

/* The folder that lab_run writes to. */
void lab_folder(const struct experiment *experiment, const struct lab_request *request, struct text *out);

#endif
