/* lab.h - runs an experiment: every point, every replication, on all cores; leaves a folder of result files and says on
 * the terminal what came out. */
#ifndef CCSIM_LAB_LAB_H
#define CCSIM_LAB_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/lab/experiment.h"

extern const char lab_version[];

/* Exit codes of the program, see docs and `ccsim --help`. When several apply: interrupted, then incomplete, then
 * broken, then usage. */
enum lab_exit { LAB_DONE = 0, LAB_BROKEN = 1, LAB_USAGE = 2, LAB_INCOMPLETE = 3, LAB_INTERRUPTED = 130 };

struct lab_request {
    const char *folder;       /* NULL: results/<stem> */
    int workers;              /* 0: one per processor */
    int64_t only_replication; /* 0: all */
    bool quiet;               /* neither progress nor table */
    bool plot;                /* draw the figures */
    const char *command;      /* as typed, without --only, -o and -j: the start of replay commands */
    const char *history;      /* NULL, or the file to which the only run's history goes */
    const char *selection;    /* the --only arguments, a blank before each; "" if there are none */
};

/* Prints messages on stderr, the table on stdout; returns the exit code.
 *
 * Files appear when everything has been computed: until then the old ones are untouched. An interrupted experiment
 * keeps what had finished; beside complete results of an earlier time it is put into a folder `interrupted` of its
 * own. */
enum lab_exit lab_run(const struct experiment *experiment, const struct lab_request *request);

/* Adds a word as a shell takes it: in single quotes if it needs them. */
void lab_add_shell_word(struct text *out, const char *word);

/* The folder that lab_run writes to. */
void lab_folder(const struct experiment *experiment, const struct lab_request *request, struct text *out);

#endif
