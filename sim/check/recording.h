/* recording.h - history files: a run's history as text, one event a line (docs/HISTORY.md), and their judgement. */
#ifndef CCSIM_CHECK_RECORDING_H
#define CCSIM_CHECK_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/text.h"
#include "sim/check/certifier.h"

/* The first line of every history file: what begins with it is one. */
extern const char recording_magic[];

extern const char recording_sights[];           /* by enum certifier_sight */
extern const char *const recording_operators[]; /* by enum condition_operator */

struct recording_verdict {
    enum certifier_level level; /* what the history was held to */
    struct certifier_counts counts;
    struct text witness;
    uint64_t attempts, aborts, unfinished;
};

/* Judges the history that `file` holds, the magic line included. `level`: hold it to that, or to the level that the
 * file names
 * (CERTIFIER_LEVELS). False, with `source:line: sentence` in *error, if it is no history. */
bool certifier_judge_history(FILE *file, const char *source, enum certifier_level level,
                             struct recording_verdict *verdict, struct text *error);
void recording_verdict_free(struct recording_verdict *verdict);

#endif
