/* outcome.h - what came out of one run, as text: how workers answer, and what a journal keeps.
 *
 * The rows are cells from sim_seconds on: a run does not know where in which experiment it stands, so another experiment
 * with the same run can use them. */
#ifndef CCSIM_LAB_OUTCOME_H
#define CCSIM_LAB_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/text.h"

/* The result files with rows of single runs. */
enum outcome_table { OUTCOME_RUNS, OUTCOME_TYPES, OUTCOME_SERIES, OUTCOME_HISTOGRAMS, OUTCOME_BATCHES, OUTCOME_TABLES };

struct outcome_part {
    const char *bytes;
    size_t length;
};

struct outcome {
    bool refused; /* it could not go on, by its own doing, and would not if run again: no rows */
    bool broken;  /* a promise or an audit */
    struct outcome_part tables[OUTCOME_TABLES];
    struct outcome_part sentence; /* what was refused or broken */
};

void outcome_add(const struct outcome *outcome, struct text *out);

/* Parts point into the bytes. False if they are no outcome. */
bool outcome_read(const char *bytes, size_t length, struct outcome *outcome);

#endif
