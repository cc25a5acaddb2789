/* cycle.c - breadth-first search over (node, state): the state says how many rw edges lie behind, or which edges the
 * walk
 * began and went on with. A shortest closed walk that satisfies a sort is a cycle, if the sorts that it contains have
 * been searched before in vain. */
#include "sim/check/cycle.h"

#include "sim/base/check.h"
#include "sim/check/certifier.h"

struct search {
    struct graph *graph;
    struct node *start;
    enum cycle_sort sort;
    size_t at; /* the visit that is being gone on from */
    bool found;
    struct edge last; /* the one that closes */
};

enum { STATE_FIRST_RW = 2, STATE_LAST_RW = 1, STATE_NONE = -1 };

static bool is_rw(enum edge_kind kind) { return kind >= EDGE_RW; }

static bool is_owed(const struct edge *edge) {
    switch (edge->kind) {
    case EDGE_WW: return true;
    case EDGE_WR: return edge->to->level >= CERTIFIER_RC;
    case EDGE_RW: return edge->from->level == CERTIFIER_RR || edge->from->level == CERTIFIER_SER;
    case EDGE_RW_PREDICATE: break;
    }
    return edge->from->level == CERTIFIER_SER;
}

static bool is_serial(const struct edge *edge) {
    return edge->from->level == CERTIFIER_SER && edge->to->level == CERTIFIER_SER;
}

/* The state after one more edge, or STATE_NONE if the sort forbids it. */
static int step(const struct search *search, int state, const struct edge *edge) {
    enum edge_kind kind = edge->kind;
    switch (search->sort) {
    case CYCLE_OWED: return is_owed(edge) ? 0 : STATE_NONE;
    case CYCLE_SERIAL: return is_serial(edge) ? 0 : STATE_NONE;
    case CYCLE_ANY: return 0;
    case CYCLE_WRITES: return kind == EDGE_WW ? 0 : STATE_NONE;
    case CYCLE_FLOW: return is_rw(kind) ? STATE_NONE : 0;
    case CYCLE_ITEMS: return kind == EDGE_RW_PREDICATE ? STATE_NONE : 0;
    case CYCLE_SINGLE: return !is_rw(kind) ? state : state == 0 ? 1 : STATE_NONE;
    case CYCLE_APART: break;
    case CYCLE_APART_OWED:
        if (is_rw(kind) && edge->from->level < CERTIFIER_SI) {
            return STATE_NONE;
        }
        break;
    }
    if (search->at == 0) {
        return is_rw(kind) ? STATE_FIRST_RW | STATE_LAST_RW : 0;
    }
    if (is_rw(kind) && (state & STATE_LAST_RW) != 0) {
        return STATE_NONE;
    }
    return (state & STATE_FIRST_RW) | (is_rw(kind) ? STATE_LAST_RW : 0);
}

static void visit(void *context, const struct edge *edge) {
    struct search *search = context;
    int before = search->graph->visits.items[search->at].state;
    int state = search->found ? STATE_NONE : step(search, before, edge);
    if (state == STATE_NONE) {
        return;
    }
    if (edge->to == search->start) {
        bool apart = search->sort == CYCLE_APART || search->sort == CYCLE_APART_OWED;
        bool meets = apart && is_rw(edge->kind) && (state & STATE_FIRST_RW) != 0;
        if (!meets) {
            search->found = true;
            search->last = *edge;
        }
        return;
    }
    if (edge->to->marks[state] != search->graph->search) {
        edge->to->marks[state] = search->graph->search;
        struct visit next = {.by = *edge, .parent = search->at, .state = state};
        vector_push(&search->graph->visits, next);
    }
}

static void trace(const struct search *search, struct cycle *cycle) {
    cycle->edges.count = 0;
    vector_push(&cycle->edges, search->last);
    for (size_t at = search->at; at > 0; at = search->graph->visits.items[at].parent) {
        vector_push(&cycle->edges, search->graph->visits.items[at].by);
    }
    for (size_t i = 0, j = cycle->edges.count - 1; i < j; i++, j--) {
        struct edge swap = cycle->edges.items[i];
        cycle->edges.items[i] = cycle->edges.items[j];
        cycle->edges.items[j] = swap;
    }
}

bool cycle_find(struct graph *graph, struct node *start, enum cycle_sort sort, struct cycle *cycle) {
    graph_index(graph);
    graph->search++;
    graph->visits.count = 0;
    struct visit first = {.by = {.to = start}};
    vector_push(&graph->visits, first);
    struct search search = {.graph = graph, .start = start, .sort = sort};
    for (; search.at < graph->visits.count; search.at++) {
        graph_edges(graph, graph->visits.items[search.at].by.to, visit, &search);
        if (search.found) {
            trace(&search, cycle);
            return true;
        }
    }
    return false;
}

enum flaw cycle_classify(struct graph *graph, struct node *start, struct cycle *cycle) {
    static const struct {
        enum cycle_sort sort;
        enum flaw name;
    } stages[] = {{CYCLE_WRITES, FLAW_G0},
                  {CYCLE_FLOW, FLAW_G1C},
                  {CYCLE_SINGLE, FLAW_G_SINGLE},
                  {CYCLE_ITEMS, FLAW_G2_ITEM},
                  {CYCLE_ANY, FLAW_G2}};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        if (cycle_find(graph, start, stages[i].sort, cycle)) {
            return stages[i].name;
        }
    }
    CHECK_MSG(false, "a cycle was found and is gone");
    return FLAW_COUNT;
}

enum flaw cycle_flaw(const struct cycle *cycle) {
    size_t rw = 0, predicates = 0, wr = 0;
    for (size_t i = 0; i < cycle->edges.count; i++) {
        rw += is_rw(cycle->edges.items[i].kind);
        predicates += cycle->edges.items[i].kind == EDGE_RW_PREDICATE;
        wr += cycle->edges.items[i].kind == EDGE_WR;
    }
    if (rw == 0) {
        return wr == 0 ? FLAW_G0 : FLAW_G1C;
    }
    return rw == 1 ? FLAW_G_SINGLE : predicates == 0 ? FLAW_G2_ITEM : FLAW_G2;
}

enum flaw cycle_nickname(const struct cycle *cycle) {
    const struct edge *edges = cycle->edges.items;
    size_t count = cycle->edges.count, rw = 0, ww = 0;
    bool one_row = true;
    for (size_t i = 0; i < count; i++) {
        if (edges[i].kind == EDGE_RW_PREDICATE) {
            return FLAW_PHANTOM;
        }
        rw += edges[i].kind == EDGE_RW;
        ww += edges[i].kind == EDGE_WW;
        one_row = one_row && edges[i].table == edges[0].table && edges[i].key == edges[0].key;
    }
    if (rw == 1 && ww == count - 1 && one_row) {
        return FLAW_LOST_UPDATE;
    }
    return count == 2 && rw == 2 && !one_row ? FLAW_WRITE_SKEW : FLAW_COUNT;
}
