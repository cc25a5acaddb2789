/* cycle.h - the shortest cycle through a node, of a given sort, and its name. Private to check. */
#ifndef CCSIM_CHECK_CYCLE_H
#define CCSIM_CHECK_CYCLE_H

#include "sim/check/flaw.h"
#include "sim/check/graph.h"

/* Which cycles are looked for. */
enum cycle_sort {
    CYCLE_ANY,
    CYCLE_WRITES, /* ww only */
    CYCLE_FLOW,   /* ww and wr */
    CYCLE_SINGLE, /* at most one rw, predicate or not */
    CYCLE_ITEMS,  /* no predicate rw */
    CYCLE_APART,  /* no two rw edges next to each other */
    /* of transactions that asked for different levels (certifier.h) */
    CYCLE_OWED,       /* only edges that count for who asked */
    CYCLE_APART_OWED, /* APART, rw edges only from SI and SER */
    CYCLE_SERIAL      /* SER only */
};

struct cycle {
    VECTOR(struct edge) edges;
};

/* The shortest cycle of that sort through `start`, beginning with an edge out of it; false if there is none. */
bool cycle_find(struct graph *graph, struct node *start, enum cycle_sort sort, struct cycle *cycle);

/* Given that a cycle leads through `start`: Adya's name of the simplest, which is left in `cycle`. */
enum flaw cycle_classify(struct graph *graph, struct node *start, struct cycle *cycle);

/* Adya's name of this one cycle. */
enum flaw cycle_flaw(const struct cycle *cycle);

/* The lectures' name that fits the cycle, or FLAW_COUNT. */
enum flaw cycle_nickname(const struct cycle *cycle);

#endif
