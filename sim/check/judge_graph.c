/* judge_graph.c - the conflict graph of the committed projection (judge_parts.h), its orders and its components.
 *
 * Rows: a read follows the last write; a write follows the last write and the reads since then. Predicates: a write
 * that changes what matches P follows the scans of P since the last such write of the same row, and a scan of P
 * follows the last such write of each row: the earlier ones come before through the row's own writes.
 *
 * Adya's graph is of versions: a read that saw a write which is not part of the projection does not depend on the one
 * before it, and a transaction that leaves a row matching as the version before it did has changed nothing, whatever it
 * did in between. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/check/judge_parts.h"

struct reader {
    uint32_t node, op;
};
struct row_now {
    uint32_t write; /* last, or HISTORY_NONE */
    uint32_t top;   /* what stands in the row, of the projection or not; those gone are dropped when looked at */
    struct reader *items;
    size_t count, capacity; /* reads since then, one of a transaction in a row */
};
/* A predicate and a row. */
struct change {
    uint32_t write;  /* the last that changed whether the row matches, or HISTORY_NONE */
    uint32_t linked; /* so many of the predicate's scans come before it */
    /* The same of changes by transactions that left it changed. */
    uint32_t lasting, lasting_linked;
};
/* What a transaction leaves in a row. */
struct version {
    uint32_t write, before; /* before: of the transaction whose version stands beneath, or HISTORY_NONE */
};
struct predicate_now {
    struct change *changes; /* of rows; NULL: never scanned */
    struct reader *items;
    size_t count, capacity; /* scans */
};
struct building {
    struct judge_graph *graph;
    const struct history *history;
    struct row_now *rows;
    struct predicate_now *predicates;
    struct version *versions; /* of touches */
    uint32_t *scanned;
    size_t scanned_count;
    uint64_t *known; /* the edges, a hash: transactions and kind; 0: free */
    size_t known_count, known_size;
};

static uint64_t *known_slot(const struct building *building, uint64_t key) {
    size_t mask = building->known_size - 1, at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (building->known[at] != 0 && building->known[at] != key) {
        at = (at + 1) & mask;
    }
    return &building->known[at];
}

static void grow_known(struct building *building) {
    uint64_t *old = building->known;
    size_t size = building->known_size;
    building->known_size = size == 0 ? 1024 : size * 2;
    building->known = mem_new(building->known_size, sizeof *building->known);
    for (size_t i = 0; i < size; i++) {
        if (old[i] != 0) {
            *known_slot(building, old[i]) = old[i];
        }
    }
    mem_free(old);
}

/* Of two transactions one edge of a kind is enough: the first. */
static bool is_new(struct building *building, uint64_t from, uint64_t to, uint64_t kind) {
    if (building->known_count * 2 >= building->known_size) {
        grow_known(building);
    }
    uint64_t key = (from << 29 | to) << 5 | kind; /* nodes are far below 2^29, kinds are not 0 */
    uint64_t *slot = known_slot(building, key);
    bool new = *slot == 0;
    *slot = key;
    building->known_count += new;
    return new;
}

static void add_edge(struct building *building, uint32_t first, uint32_t second, uint32_t kind) {
    struct judge_graph *graph = building->graph;
    const struct history *history = building->history;
    uint32_t from = graph->nodes[history->ops[first].life], to = graph->nodes[history->ops[second].life];
    if (from == to || !is_new(building, from, to, kind)) {
        return;
    }
    if (graph->edge_count == graph->edge_capacity) {
        graph->edges = mem_vector_grow(graph->edges, &graph->edge_capacity, sizeof *graph->edges);
    }
    graph->edges[graph->edge_count++] =
        (struct judge_edge){.from = from, .to = to, .kind = kind, .first = first, .second = second};
}

static void follow_read(struct building *building, uint32_t index) {
    const struct history_op *op = &building->history->ops[index];
    struct row_now *row = &building->rows[op->row];
    uint32_t node = building->graph->nodes[op->life];
    if (row->write != HISTORY_NONE) {
        add_edge(building, row->write, index, op->seen == row->write ? JUDGE_WR : JUDGE_STEPS);
    }
    if (row->count == 0 || row->items[row->count - 1].node != node) {
        vector_push(row, ((struct reader){.node = node, .op = index}));
    }
}

/* Is the row in the predicate, or not, because of the writer, when all is done? */
static bool lasts(const struct building *building, uint32_t predicate, const struct history_op *op) {
    const struct history *history = building->history;
    const struct version *version = &building->versions[op->touch];
    return history_changes(history, predicate, op->row, history_image_of(history, op->row, version->before),
                           history->ops[version->write].after);
}

static void change(struct building *building, uint32_t predicate, uint32_t index) {
    const struct history_op *op = &building->history->ops[index];
    struct predicate_now *now = &building->predicates[predicate];
    struct change *changed = &now->changes[op->row];
    bool lasting = lasts(building, predicate, op);
    for (; lasting && changed->lasting_linked < now->count; changed->lasting_linked++) {
        add_edge(building, now->items[changed->lasting_linked].op, index, JUDGE_PREDICATE_RW);
    }
    for (; changed->linked < now->count; changed->linked++) {
        if (!lasting) {
            add_edge(building, now->items[changed->linked].op, index, JUDGE_STEPS);
        }
    }
    changed->write = index;
    changed->lasting = lasting ? index : changed->lasting;
}

static void follow_change(struct building *building, uint32_t index) {
    const struct history *history = building->history;
    const struct history_op *op = &history->ops[index];
    struct history_image before = history_image_of(history, op->row, building->rows[op->row].write);
    for (size_t i = 0; i < building->scanned_count; i++) {
        if (history_changes(history, building->scanned[i], op->row, before, op->after)) {
            change(building, building->scanned[i], index);
        }
    }
}

static void follow_write(struct building *building, uint32_t index) {
    struct row_now *row = &building->rows[building->history->ops[index].row];
    follow_change(building, index);
    if (row->write != HISTORY_NONE) {
        add_edge(building, row->write, index, JUDGE_WW);
    }
    for (size_t i = 0; i < row->count; i++) {
        add_edge(building, row->items[i].op, index, JUDGE_RW);
    }
    row->count = 0;
    row->write = index;
}

/* Does a write of the projection stand in the row at that time, or what was there at the start? */
static bool stands_for_good(struct building *building, size_t row, uint32_t time) {
    const struct history *history = building->history;
    uint32_t *top = &building->rows[row].top;
    while (*top != HISTORY_NONE && history->ops[*top].gone <= time) { /* HISTORY_NONE is later than all */
        *top = history->ops[*top].seen;
    }
    return *top == HISTORY_NONE || history_counts(history, &history->ops[*top]);
}

static void follow_scan(struct building *building, uint32_t index) {
    const struct history_op *op = &building->history->ops[index];
    struct predicate_now *now = &building->predicates[op->predicate];
    size_t rows = building->history->schedule->row_count;
    for (size_t i = 0; i < rows; i++) {
        const struct change *changed = &now->changes[i];
        bool seen = stands_for_good(building, i, index);
        if (seen && changed->lasting != HISTORY_NONE) {
            add_edge(building, changed->lasting, index, JUDGE_WR);
        }
        if (changed->write != HISTORY_NONE && !(seen && changed->write == changed->lasting)) {
            add_edge(building, changed->write, index, JUDGE_STEPS);
        }
    }
    vector_push(now, ((struct reader){.node = building->graph->nodes[op->life], .op = index}));
}

/* The last write of each transaction and row, and the one of another that stands beneath it in the end. */
static void find_versions(struct building *building) {
    const struct history *history = building->history;
    uint32_t *newest = mem_new(history->schedule->row_count, sizeof *newest);
    building->versions = mem_new(history->touch_count, sizeof *building->versions);
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (history->ops[i].kind == HISTORY_WRITE && history_counts(history, &history->ops[i])) {
            building->versions[history->ops[i].touch].write = i;
        }
    }
    for (size_t i = 0; i < history->schedule->row_count; i++) {
        newest[i] = HISTORY_NONE;
    }
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        if (op->kind == HISTORY_WRITE && history_counts(history, op) && building->versions[op->touch].write == i) {
            building->versions[op->touch].before = newest[op->row];
            newest[op->row] = i;
        }
    }
    mem_free(newest);
}

/* Every predicate that a committed transaction scans; writes before the scan count too. */
static void prepare_predicates(struct building *building) {
    const struct history *history = building->history;
    size_t rows = history->schedule->row_count;
    for (size_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        if (op->kind != HISTORY_SCAN || !history_counts(history, op) ||
            building->predicates[op->predicate].changes != NULL) {
            continue;
        }
        struct change *changes = mem_new(rows, sizeof *changes);
        for (size_t k = 0; k < rows; k++) {
            changes[k].write = changes[k].lasting = HISTORY_NONE;
        }
        building->predicates[op->predicate].changes = changes;
        building->scanned[building->scanned_count++] = op->predicate;
    }
}

struct numbered {
    int64_t number;
    uint32_t life;
};

static int by_number(const void *a, const void *b) {
    const struct numbered *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static void number_nodes(struct judge_graph *graph) {
    const struct history *history = graph->history;
    struct numbered *sorted = mem_new(history->life_count, sizeof *sorted);
    graph->nodes = mem_new(history->life_count, sizeof *graph->nodes);
    graph->lives = mem_new(history->life_count, sizeof *graph->lives);
    for (uint32_t i = 0; i < history->life_count; i++) {
        graph->nodes[i] = HISTORY_NONE;
        if (history->lives[i].state == HISTORY_COMMITTED) {
            sorted[graph->node_count++] =
                (struct numbered){.number = history->schedule->txns[history->lives[i].txn], .life = i};
        }
    }
    qsort(sorted, graph->node_count, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->lives[i] = sorted[i].life;
        graph->nodes[sorted[i].life] = i;
    }
    mem_free(sorted);
}

/* Counting sort by `from`. */
static void sort_edges(struct judge_graph *graph) {
    struct judge_edge *sorted = mem_new(graph->edge_count, sizeof *sorted);
    graph->begin = mem_new(graph->node_count + 2, sizeof *graph->begin);
    for (size_t i = 0; i < graph->edge_count; i++) {
        graph->begin[graph->edges[i].from + 2]++;
    }
    for (size_t i = 2; i < graph->node_count + 2; i++) {
        graph->begin[i] += graph->begin[i - 1];
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        sorted[graph->begin[graph->edges[i].from + 1]++] = graph->edges[i];
    }
    mem_free(graph->edges);
    graph->edges = sorted;
}

void judge_graph_build(struct judge_graph *graph, const struct history *history) {
    const struct schedule *schedule = history->schedule;
    *graph = (struct judge_graph){.history = history};
    struct building building = {.graph = graph, .history = history};
    number_nodes(graph);
    building.rows = mem_new(schedule->row_count, sizeof *building.rows);
    building.predicates = mem_new(schedule->predicate_count, sizeof *building.predicates);
    building.scanned = mem_new(schedule->predicate_count, sizeof *building.scanned);
    prepare_predicates(&building);
    for (size_t i = 0; i < schedule->row_count; i++) {
        building.rows[i].write = building.rows[i].top = HISTORY_NONE;
    }
    find_versions(&building);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        if (op->kind == HISTORY_WRITE) {
            building.rows[op->row].top = i;
        }
        if (!history_counts(history, op)) {
            continue;
        }
        switch ((enum history_kind)op->kind) {
        case HISTORY_READ: follow_read(&building, i); break;
        case HISTORY_WRITE: follow_write(&building, i); break;
        case HISTORY_SCAN: follow_scan(&building, i); break;
        default: break;
        }
    }
    sort_edges(graph);
    for (size_t i = 0; i < schedule->row_count; i++) {
        mem_free(building.rows[i].items);
    }
    for (size_t i = 0; i < schedule->predicate_count; i++) {
        mem_free(building.predicates[i].items);
        mem_free(building.predicates[i].changes);
    }
    mem_free(building.rows);
    mem_free(building.predicates);
    mem_free(building.scanned);
    mem_free(building.versions);
    mem_free(building.known);
}

void judge_graph_free(struct judge_graph *graph) {
    mem_free(graph->lives);
    mem_free(graph->nodes);
    mem_free(graph->edges);
    mem_free(graph->begin);
    *graph = (struct judge_graph){0};
}

/* --- a serial order --- */

/* A heap of nodes, the smallest on top. */
static void heap_push(uint32_t *heap, size_t *count, uint32_t node) {
    size_t at = (*count)++;
    for (; at > 0 && heap[(at - 1) / 2] > node; at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = node;
}

static uint32_t heap_pop(uint32_t *heap, size_t *count) {
    uint32_t top = heap[0], moving = heap[--*count];
    size_t at = 0;
    for (size_t child = 1; child < *count; child = at * 2 + 1) {
        child += child + 1 < *count && heap[child + 1] < heap[child];
        if (heap[child] >= moving) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
    return top;
}

bool judge_graph_order(const struct judge_graph *graph, uint32_t *order) {
    size_t *missing = mem_new(graph->node_count, sizeof *missing), count = 0, placed = 0;
    uint32_t *heap = mem_new(graph->node_count + 1, sizeof *heap);
    for (size_t i = 0; i < graph->edge_count; i++) {
        missing[graph->edges[i].to]++;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (missing[i] == 0) {
            heap_push(heap, &count, i);
        }
    }
    while (count > 0) {
        uint32_t node = heap_pop(heap, &count);
        order[placed++] = node;
        for (size_t e = graph->begin[node]; e < graph->begin[node + 1]; e++) {
            if (--missing[graph->edges[e].to] == 0) {
                heap_push(heap, &count, graph->edges[e].to);
            }
        }
    }
    mem_free(missing);
    mem_free(heap);
    return placed == graph->node_count;
}

/* --- components: Tarjan 1972, without recursion --- */

struct tarjan {
    uint32_t *number, *low, *stack, *path;
    size_t *next;
    size_t stack_count, path_count;
    uint32_t numbered, components;
};

static void enter(struct tarjan *tarjan, const struct judge_graph *graph, uint32_t node) {
    tarjan->number[node] = tarjan->low[node] = ++tarjan->numbered;
    tarjan->next[node] = graph->begin[node];
    tarjan->stack[tarjan->stack_count++] = node;
    tarjan->path[tarjan->path_count++] = node;
}

static void leave(struct tarjan *tarjan, uint32_t node, uint32_t *component) {
    tarjan->path_count--;
    if (tarjan->path_count > 0) {
        uint32_t above = tarjan->path[tarjan->path_count - 1];
        tarjan->low[above] = tarjan->low[node] < tarjan->low[above] ? tarjan->low[node] : tarjan->low[above];
    }
    if (tarjan->low[node] == tarjan->number[node]) {
        uint32_t member;
        do {
            member = tarjan->stack[--tarjan->stack_count];
            component[member] = tarjan->components;
        } while (member != node);
        tarjan->components++;
    }
}

uint32_t judge_graph_components(const struct judge_graph *graph, unsigned mask, uint32_t *component) {
    size_t count = graph->node_count;
    struct tarjan tarjan = {.number = mem_new(count, sizeof *tarjan.number),
                            .low = mem_new(count, sizeof *tarjan.low),
                            .stack = mem_new(count, sizeof *tarjan.stack),
                            .path = mem_new(count, sizeof *tarjan.path),
                            .next = mem_new(count, sizeof *tarjan.next)};
    for (size_t i = 0; i < count; i++) {
        component[i] = HISTORY_NONE;
    }
    for (uint32_t root = 0; root < count; root++) {
        if (tarjan.number[root] == 0) {
            enter(&tarjan, graph, root);
        }
        while (tarjan.path_count > 0) {
            uint32_t node = tarjan.path[tarjan.path_count - 1];
            if (tarjan.next[node] == graph->begin[node + 1]) {
                leave(&tarjan, node, component);
                continue;
            }
            const struct judge_edge *edge = &graph->edges[tarjan.next[node]++];
            if ((edge->kind & mask) == 0) {
                continue;
            }
            if (tarjan.number[edge->to] == 0) {
                enter(&tarjan, graph, edge->to);
            } else if (component[edge->to] == HISTORY_NONE && tarjan.number[edge->to] < tarjan.low[node]) {
                tarjan.low[node] = tarjan.number[edge->to];
            }
        }
    }
    mem_free(tarjan.number);
    mem_free(tarjan.low);
    mem_free(tarjan.stack);
    mem_free(tarjan.path);
    mem_free(tarjan.next);
    return tarjan.components;
}
