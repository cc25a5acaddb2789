/* manifest.h - manifest.json, beside the CSV files: how they came about, and all that `ccsim plot` needs to know of the
 * config. What varies from run to run (time, host) stands here and nowhere else. */
#ifndef CCSIM_LAB_MANIFEST_H
#define CCSIM_LAB_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "sim/base/text.h"
#include "sim/lab/experiment.h"
#include "sim/lab/outcome.h"

struct manifest {
    const struct experiment *experiment;
    const char *workload, *command;           /* the command that replays it */
    size_t runs, runs_finished, runs_refused; /* refused: could not go on, and would not if run again */
    bool tables[OUTCOME_TABLES];              /* of runs.csv and its like: which there are */
    bool compared;                            /* compare.csv */
    int workers;
    time_t started;
    double wall_seconds;
    const char *figure_format; /* NULL: no figures are drawn */
};

void manifest_add(const struct manifest *manifest, struct text *out);

/* Does the folder hold the results of an experiment of which no run is missing, unless it was refused? */
bool manifest_folder_is_complete(const char *folder);

/* The figures that a manifest names, for `ccsim plot`. */
struct manifest_figures {
    struct figure *figures; /* labels are always set */
    size_t count;
    size_t runs, runs_finished, runs_refused;
    char *command;
};

/* False, with a sentence, if there is no manifest or it does not read as one. */
bool manifest_read_figures(const char *folder, struct manifest_figures *out, struct text *error);
void manifest_figures_free(struct manifest_figures *figures);

#endif
