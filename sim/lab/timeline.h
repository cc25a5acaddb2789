/* timeline.h - what a traced run (sim/exec/trace.h) leaves for people: trace.csv, a timeline through gnuplot, and the
 * wait-for graph at one instant through graphviz.
 *
 *   trace.csv      a line for each span and each end of an attempt: lane, transaction, attempt, what, from_ms, to_ms, on (the
 *                  row waited for), waits_for (the transactions, as the wait began), blocker (the lane of the first), reason
 *   timeline.gp    draws trace.csv: a lane for each terminal, a colour for each state; svg and png beside it
 *   waits.dot      who waits for whom at the instant, cycles thick; svg and png beside it */
#ifndef CCSIM_LAB_TIMELINE_H
#define CCSIM_LAB_TIMELINE_H

#include <stdint.h>

#include "sim/base/text.h"
#include "sim/exec/trace.h"

/* What the three are called by people: the experiment's title and the algorithm. */
struct timeline_words {
    const char *title, *algorithm;
};

void timeline_csv(const struct trace *trace, struct text *out);
void timeline_script(const struct trace *trace, const struct timeline_words *words, struct text *out);
void timeline_graph(const struct trace *trace, const struct timeline_words *words, struct text *out);

/* The middle of the first stretch in which the most transactions wait; the middle of the window if none ever does. */
int64_t timeline_busiest_ns(const struct trace *trace);

#endif
