/* report.h - the summary as a table that a person reads in a terminal: one line per point. */
#ifndef CCSIM_LAB_REPORT_H
#define CCSIM_LAB_REPORT_H

#include "sim/base/text.h"

/* `summary`: the content of summary.csv, header included; taken apart in place. */
void report_add(char *summary, struct text *out);

#endif
