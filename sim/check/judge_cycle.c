/* judge_cycle.c - cycles of the conflict graph: Adya's G0, G1c, G-single, G2-item and G2 by their definitions, each
 * with a short cycle as witness; the serial order or the cycle of the verdict.
 *
 * An edge lies on a cycle if and only if both its ends are in one strongly connected component, which settles all but
 * G-single: a cycle with exactly one read-write edge u -> v needs a way from v back to u over the other kinds. Such
 * ways are looked for from 64 edges at once, a bit for each, in one pass over the components of the other kinds. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/check/judge_parts.h"

enum { WORK_MAX = 1000000, BATCH = 64 };

struct search {
    const struct judge_graph *graph;
    unsigned path;
    uint32_t *component;          /* ways stay within one; NULL: none known */
    uint32_t *queue, *stamp, *by; /* by: the edge that led here */
    uint32_t round;
    size_t work;
};

/* The shortest way from the end of `edge` back to its beginning, no longer than `longest` edges; adds it with the edge
 * itself to `cycle` in place of what that holds. */
static bool close_cycle(struct search *search, uint32_t edge, size_t longest, struct judge_cycle *cycle) {
    const struct judge_graph *graph = search->graph;
    uint32_t from = graph->edges[edge].from, start = graph->edges[edge].to;
    size_t head = 0, tail = 0, level_end = 1, length = 1;
    search->round++;
    search->stamp[start] = search->round;
    search->queue[tail++] = start;
    while (head < tail && length < longest && search->stamp[from] != search->round) {
        uint32_t node = search->queue[head++];
        for (size_t e = graph->begin[node]; e < graph->begin[node + 1]; e++) {
            uint32_t to = graph->edges[e].to;
            search->work++;
            if ((graph->edges[e].kind & search->path) == 0 || search->stamp[to] == search->round ||
                search->component[to] != search->component[from]) {
                continue;
            }
            search->stamp[to] = search->round;
            search->by[to] = (uint32_t)e;
            search->queue[tail++] = to;
        }
        if (head == level_end) {
            level_end = tail;
            length++;
        }
    }
    if (search->stamp[from] != search->round) {
        return false;
    }
    cycle->count = 0;
    for (uint32_t node = from; node != start; node = graph->edges[search->by[node]].from) {
        vector_push(cycle, search->by[node]);
    }
    vector_push(cycle, edge);
    return true;
}

/* Edges were collected backwards and end anywhere: turn them round, the smallest transaction first. */
static void straighten(const struct judge_graph *graph, struct judge_cycle *cycle) {
    size_t count = cycle->count, first = 0;
    uint32_t *items = mem_new(count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i] = cycle->items[count - 1 - i];
        first = graph->edges[items[i]].from < graph->edges[items[first]].from ? i : first;
    }
    for (size_t i = 0; i < count; i++) {
        cycle->items[i] = items[(first + i) % count];
    }
    mem_free(items);
}

static void open_search(struct search *search, const struct judge_graph *graph, unsigned path) {
    *search = (struct search){.graph = graph, .path = path};
    search->component = mem_new(graph->node_count, sizeof *search->component);
    search->queue = mem_new(graph->node_count + 1, sizeof *search->queue);
    search->stamp = mem_new(graph->node_count, sizeof *search->stamp);
    search->by = mem_new(graph->node_count, sizeof *search->by);
}

static void close_search(struct search *search) {
    mem_free(search->component);
    mem_free(search->queue);
    mem_free(search->stamp);
    mem_free(search->by);
}

/* Looks for ways back from up to BATCH edges; the first that has one, or HISTORY_NONE. `order`: the nodes, those of a
 * component together, in the direction of the edges. */
static uint32_t first_with_way(const struct judge_graph *graph, const uint32_t *component, const uint32_t *order,
                               const uint32_t *edges, size_t count, uint64_t *reached) {
    memset(reached, 0, graph->node_count * sizeof *reached); /* of components */
    for (size_t i = 0; i < count; i++) {
        reached[component[graph->edges[edges[i]].to]] |= UINT64_C(1) << i;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        uint32_t node = order[i];
        uint64_t bits = reached[component[node]];
        for (size_t e = graph->begin[node]; bits != 0 && e < graph->begin[node + 1]; e++) {
            if ((graph->edges[e].kind & JUDGE_DEPENDENCY) != 0) {
                reached[component[graph->edges[e].to]] |= bits;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        if ((reached[component[graph->edges[edges[i]].from]] >> i & 1) != 0) {
            return edges[i];
        }
    }
    return HISTORY_NONE;
}

/* Nodes in the direction of the edges: components are numbered against it. */
static void sort_by_component(const struct judge_graph *graph, const uint32_t *component, uint32_t count,
                              uint32_t *order) {
    size_t *begin = mem_new((size_t)count + 1, sizeof *begin);
    for (size_t i = 0; i < graph->node_count; i++) {
        begin[count - component[i]]++;
    }
    for (size_t i = 1; i <= count; i++) {
        begin[i] += begin[i - 1];
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        order[begin[count - 1 - component[i]]++] = i;
    }
    mem_free(begin);
}

/* An edge of a kind in `need` with a way back over dependencies, or HISTORY_NONE. */
static uint32_t find_single(const struct judge_graph *graph, unsigned need, const uint32_t *whole) {
    uint32_t *component = mem_new(graph->node_count, sizeof *component),
             *order = mem_new(graph->node_count, sizeof *order);
    uint64_t *reached = mem_new(graph->node_count, sizeof *reached);
    uint32_t batch[BATCH], found = HISTORY_NONE;
    size_t count = 0;
    uint32_t components = judge_graph_components(graph, JUDGE_DEPENDENCY, component);
    sort_by_component(graph, component, components, order);
    for (uint32_t e = 0; e < graph->edge_count && found == HISTORY_NONE; e++) {
        if ((graph->edges[e].kind & need) != 0 && whole[graph->edges[e].from] == whole[graph->edges[e].to]) {
            batch[count++] = e;
        }
        if (count == BATCH) {
            found = first_with_way(graph, component, order, batch, count, reached);
            count = 0;
        }
    }
    if (found == HISTORY_NONE && count > 0) {
        found = first_with_way(graph, component, order, batch, count, reached);
    }
    mem_free(component);
    mem_free(order);
    mem_free(reached);
    return found;
}

bool judge_cycle_find(const struct judge_graph *graph, unsigned need, unsigned path, struct judge_cycle *cycle) {
    struct search search;
    bool single = (need & path) == 0;
    uint32_t start = 0;
    cycle->count = 0;
    open_search(&search, graph, path);
    judge_graph_components(graph, need | path, search.component);
    if (single) {
        start = find_single(graph, need, search.component);
    }
    for (uint32_t e = start; e < graph->edge_count && cycle->count != 2; e++) {
        const struct judge_edge *edge = &graph->edges[e];
        if ((edge->kind & need) != 0 && search.component[edge->from] == search.component[edge->to]) {
            close_cycle(&search, e, cycle->count > 0 ? cycle->count : SIZE_MAX, cycle);
        }
        if (cycle->count > 0 && search.work > WORK_MAX) {
            break;
        }
    }
    close_search(&search);
    if (cycle->count > 0) {
        straighten(graph, cycle);
    }
    return cycle->count > 0;
}

/* --- words --- */

static void add_edge_text(const struct judge_graph *graph, const struct judge_edge *edge, struct text *out) {
    const struct history *history = graph->history;
    uint32_t a = edge->first, b = edge->second;
    switch (edge->kind) {
    case JUDGE_WW: judge_say(history, out, "%T wrote %R (%S) before %T did (%S)", a, a, a, b, b); break;
    case JUDGE_RW: judge_say(history, out, "%T read %R (%S) before %T wrote it (%S)", a, a, a, b, b); break;
    default:
        if (edge->kind == JUDGE_PREDICATE_RW || history->ops[a].kind == HISTORY_SCAN) {
            judge_say(history, out, "%T looked for %P (%S) before %T changed with %R what matches (%S)", a, a, a, b, b,
                      b);
        } else if (history->ops[b].kind == HISTORY_SCAN) {
            judge_say(history, out, "%T changed with %R what matches %P (%S) before %T looked (%S)", a, a, b, a, b, b);
        } else {
            judge_say(history, out, "%T wrote %R (%S) before %T read it (%S)", a, a, a, b, b);
        }
    }
}

void judge_cycle_text(const struct judge_graph *graph, const struct judge_cycle *cycle, struct text *out) {
    enum { SHOWN_MAX = 12 };
    for (size_t i = 0; i < cycle->count && i < SHOWN_MAX; i++) {
        text_add(out, i > 0 ? "; " : "");
        add_edge_text(graph, &graph->edges[cycle->items[i]], out);
    }
    if (cycle->count > SHOWN_MAX) {
        text_add(out, "; and so on, %zu transactions in all", cycle->count);
    }
}

/* --- verdicts --- */

static void set_order(const struct judge_graph *graph, struct verdict *verdict) {
    const struct history *history = graph->history;
    uint32_t *order = mem_new(graph->node_count, sizeof *order);
    struct judge_cycle cycle = {0};
    struct text *reason = &verdict->reasons[JUDGE_CONFLICT_SERIALIZABLE];
    bool good = judge_graph_order(graph, order);
    verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] = good ? JUDGE_YES : JUDGE_NO;
    verdict->order_count = graph->node_count;
    if (good) {
        text_add(reason, "the conflict graph has no cycle");
    } else {
        bool found = judge_cycle_find(graph, JUDGE_CONFLICTS, JUDGE_CONFLICTS, &cycle);
        CHECK(found);
        verdict->order_count = cycle.count;
        judge_cycle_text(graph, &cycle, reason);
    }
    verdict->order = mem_new(verdict->order_count, sizeof *verdict->order);
    for (size_t i = 0; i < verdict->order_count; i++) {
        uint32_t node = good ? order[i] : graph->edges[cycle.items[i]].from;
        verdict->order[i] = history->schedule->txns[history->lives[graph->lives[node]].txn];
    }
    vector_free(&cycle);
    mem_free(order);
}

void judge_cycles(const struct judge_graph *graph, struct verdict *verdict) {
    static const struct {
        enum anomaly_name name;
        unsigned need, path; /* an edge of these kinds, the others of those */
    } kinds[] = {
        {ANOMALY_G0, JUDGE_WW, JUDGE_WW},
        {ANOMALY_G1C, JUDGE_DEPENDENCY, JUDGE_DEPENDENCY},
        {ANOMALY_G_SINGLE, JUDGE_RW | JUDGE_PREDICATE_RW, JUDGE_DEPENDENCY},
        {ANOMALY_G2_ITEM, JUDGE_RW, JUDGE_ITEMS},
        {ANOMALY_G2, JUDGE_RW | JUDGE_PREDICATE_RW, JUDGE_ALL},
    };
    set_order(graph, verdict);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct judge_cycle cycle = {0};
        struct judge_finding *finding = &verdict->anomalies[kinds[i].name];
        if (verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_NO &&
            judge_cycle_find(graph, kinds[i].need, kinds[i].path, &cycle)) {
            finding->found = true;
            judge_cycle_text(graph, &cycle, &finding->witness);
        }
        vector_free(&cycle);
    }
}
