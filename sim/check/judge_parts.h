/* judge_parts.h - what the files of the judge share. Private to judge*.c. */
#ifndef CCSIM_CHECK_JUDGE_PARTS_H
#define CCSIM_CHECK_JUDGE_PARTS_H

#include "sim/base/memory.h"
#include "sim/check/history.h"
#include "sim/check/judge.h"

/* Kinds of edges of the conflict graph, as bits. */
enum {
    JUDGE_WW = 1,           /* overwrote */
    JUDGE_WR = 2,           /* read what was written, or looked after a change of what matches */
    JUDGE_RW = 4,           /* overwrote what was read */
    JUDGE_PREDICATE_RW = 8, /* changed what matches after it was looked at */
    JUDGE_STEPS = 16, /* the steps conflict, but no version was seen, or changed what matches: not one of Adya's */
    JUDGE_DEPENDENCY = JUDGE_WW | JUDGE_WR,
    JUDGE_ITEMS = JUDGE_DEPENDENCY | JUDGE_RW,
    JUDGE_ALL = JUDGE_ITEMS | JUDGE_PREDICATE_RW, /* Adya's */
    JUDGE_CONFLICTS = JUDGE_ALL | JUDGE_STEPS
};

struct judge_edge {
    uint32_t from, to; /* nodes */
    uint32_t kind;
    uint32_t first, second; /* the operations */
};

/* Direct conflicts of the committed projection, one of a kind for each two transactions: a read or write with the last
 * write before it, a write with the reads since then. Every conflict of two transactions is a path of these, of the
 * same kinds but that w-w edges come in: so orders, cycles and Adya's anomalies are those of the full graph. Conflicts
 * that Adya's graph lacks are of the kind JUDGE_STEPS; his edges are conflicts or paths of them. Nodes are the committed
 * lives, by number. */
struct judge_graph {
    const struct history *history;
    uint32_t *lives; /* of nodes */
    uint32_t *nodes; /* of lives, or HISTORY_NONE */
    size_t node_count;
    struct judge_edge *edges; /* by `from` */
    size_t edge_count, edge_capacity;
    size_t *begin; /* node_count + 1 places in edges */
};

void judge_graph_build(struct judge_graph *graph, const struct history *history);
void judge_graph_free(struct judge_graph *graph);
/* The smallest number first wherever free; false if there is a cycle. `order` has room for all nodes. */
bool judge_graph_order(const struct judge_graph *graph, uint32_t *order);
/* Strongly connected components over the kinds of `mask`, numbered against the direction of the edges. */
uint32_t judge_graph_components(const struct judge_graph *graph, unsigned mask, uint32_t *component);

/* A cycle of edges: VECTOR of indices into the graph's edges. */
struct judge_cycle {
    uint32_t *items;
    size_t count, capacity;
};
/* A shortest cycle (of those looked at, in large graphs) through an edge of a kind in `need`, else of kinds in `path`.
 * False if there is none. */
bool judge_cycle_find(const struct judge_graph *graph, unsigned need, unsigned path, struct judge_cycle *cycle);
/* "T1 read x (...) before T2 wrote it (...); ..." */
void judge_cycle_text(const struct judge_graph *graph, const struct judge_cycle *cycle, struct text *out);

/* Each sets its part of the verdict. */
void judge_sweep(const struct history *history,
                 struct verdict *verdict); /* P0-P3, recoverable ... rigorous, G1a, G1b */
void judge_skews(const struct history *history, struct verdict *verdict);    /* P4, A5A, A5B */
void judge_cycles(const struct judge_graph *graph, struct verdict *verdict); /* G0, G1c, G-single, G2-item, G2, order */
void judge_view(const struct history *history, struct verdict *verdict);
void judge_levels(const struct judge_graph *graph, struct verdict *verdict);

/* --- words --- */

/* "T2", "T2 (attempt 2)". */
void judge_add_life(const struct history *history, uint32_t life, struct text *out);
/* "r2(x), step 4". */
void judge_add_step(const struct history *history, uint32_t op, struct text *out);
/* Adds the format with, in place of: %T the life of the next operation, %S its step, %R its row, %P its predicate.
 * Every one takes an operation's index. */
void judge_say(const struct history *history, struct text *out, const char *format, ...);
/* The same for an anomaly, the first time it is found. */
#define judge_found(history, verdict, name, ...)                                  \
    do {                                                                          \
        if (!(verdict)->anomalies[name].found) {                                  \
            (verdict)->anomalies[name].found = true;                              \
            judge_say(history, &(verdict)->anomalies[name].witness, __VA_ARGS__); \
        }                                                                         \
    } while (0)

#endif
