/* manual.h - the reference manual, made from the tables that the program itself runs on, so that it cannot be stale:
 * entries for `ccsim help`, and the pages docs/OPTIONS.md and docs/METRICS.md. */
#ifndef CCSIM_LAB_MANUAL_H
#define CCSIM_LAB_MANUAL_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/option.h"
#include "sim/base/text.h"
#include "sim/lab/catalog.h"

/* What the checker finds in a history, under the names of the columns anomalies_<name>, and the phenomena of written
 * schedules. */
struct anomaly {
    const char *name, *sentence;
};
extern const struct anomaly manual_anomalies[];
extern const size_t manual_anomaly_count;

/* One option and where it stands. */
struct manual_option {
    const char *section; /* "system", "2pl"; of variants and figures "algorithm NAME", "figure NAME" */
    const char *owner;   /* the workload whose option it is, or NULL */
    const struct option *option;
};
/* Calls `visit` for every option there is, in the order of the manual. */
void manual_each_option(void (*visit)(const struct manual_option *option, void *user), void *user);

/* "transaction NAME"; stands until the next call. */
const char *manual_section_title(const struct workload_section *section);

/* `section.key`. */
void manual_key(const struct manual_option *option, struct text *out);
/* "exp(1ms)", "none, for example 16", "required, for example 2pl". */
void manual_default(const struct option *option, struct text *out);

/* Adds the entries of all things of that name: options (with or without their section), sections, algorithms,
 * workloads, metrics, reasons, anomalies. False: there is none. */
bool manual_entry(const char *word, struct text *out);
/* Every name that has an entry. */
void manual_names(struct catalog_names *names);

void manual_options_markdown(struct text *out);
void manual_metrics_markdown(struct text *out);

#endif
