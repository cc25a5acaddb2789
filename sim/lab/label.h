/* label.h - what a column of a result file is called where people read it: `response_p99_ms` is "response p99 (ms)",
 * `system.think_time` is "think time (ms)". Units come from the tables of metrics and options. */
#ifndef CCSIM_LAB_LABEL_H
#define CCSIM_LAB_LABEL_H

#include "sim/base/text.h"

/* The unit of an axis (`section.key`; `workload` tells whose options [workload] holds) or a metric, "" if it has
 * none. */
const char *label_unit(const char *column, const char *workload);

void label_add(const char *column, const char *workload, struct text *out);

/* The axis without its section. */
const char *label_short(const char *column);

#endif
