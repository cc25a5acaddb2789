/* metrics.h - every metric, declared once: column name with its unit, help, how it is computed from a run's raw
 * counts. The table gives the CSV header, docs/METRICS.md and `ccsim list metrics`. A metric that is not defined for a
 * run is not-a-number: an empty cell. */
#ifndef CCSIM_LAB_METRICS_H
#define CCSIM_LAB_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/text.h"
#include "sim/exec/run.h"

struct metric {
    const char *name; /* column */
    const char *unit; /* for axis labels: "commits/s", "ms", "" */
    const char *help;
    double (*get)(const struct run_result *result, int argument);
    int argument; /* of the getter: a reason, a percentile */
    bool by_type; /* defined for each kind of transaction too: a column of types.csv */
};

/* All numeric metrics in column order; the abort reasons are among them. `audit` and `digest` follow as text
 * columns. */
const struct metric *metrics_all(size_t *number);
const struct metric *metric_find(const char *name);
size_t metric_number(const char *name); /* in metrics_all; it must be one */

#endif
