#include "sim/check/graph.h"

#include "sim/base/check.h"
#include "sim/base/random.h"

enum { SLOTS_FIRST = 1024, SWEEP_LEAST = 512, CLOSED_LEAST = 1024, CLOSED_PER_OPEN = 8 };

void graph_init(struct graph *graph) {
    *graph = (struct graph){.sweep_at = SWEEP_LEAST, .slot_mask = SLOTS_FIRST - 1};
    graph->slots = mem_new(SLOTS_FIRST, sizeof *graph->slots);
    pool_init(&graph->readers, sizeof(struct reader));
}

static void free_node(struct node *node) {
    vector_free(&node->accesses);
    vector_free(&node->installs);
    vector_free(&node->scans);
    vector_free(&node->waiting);
    mem_free(node);
}

void graph_free(struct graph *graph) {
    struct node *lists[] = {graph->committed.first, graph->free_nodes};
    for (int i = 0; i < 2; i++) {
        for (struct node *node = lists[i], *next; node != NULL; node = next) {
            next = node->next;
            free_node(node);
        }
    }
    mem_free(graph->slots);
    pool_free(&graph->readers);
    vector_free(&graph->visits);
}

/* ---- Nodes ---- */

struct node *graph_node(struct graph *graph) {
    struct node *node = graph->free_nodes;
    if (node == NULL) {
        return mem_new(1, sizeof *node);
    }
    graph->free_nodes = node->next;
    struct node old = *node;
    *node =
        (struct node){.accesses = old.accesses, .installs = old.installs, .scans = old.scans, .waiting = old.waiting};
    node->accesses.count = node->installs.count = node->scans.count = node->waiting.count = 0;
    return node;
}

void graph_recycle(struct graph *graph, struct node *node) {
    node->next = graph->free_nodes;
    graph->free_nodes = node;
}

void node_list_append(struct node_list *list, struct node *node) {
    node->next = NULL;
    node->previous = list->last;
    if (list->last != NULL) {
        list->last->next = node;
    } else {
        list->first = node;
    }
    list->last = node;
}

void node_list_remove(struct node_list *list, struct node *node) {
    if (node->previous != NULL) {
        node->previous->next = node->next;
    } else {
        list->first = node->next;
    }
    if (node->next != NULL) {
        node->next->previous = node->previous;
    } else {
        list->last = node->previous;
    }
}

/* ---- Rows ---- */

static uint32_t hash_of(uint32_t table, int64_t key) { return (uint32_t)random_mix((uint64_t)key * 31 + table); }

static inline struct slot *find_hashed(const struct graph *graph, uint32_t table, int64_t key, uint32_t hash) {
    for (uint32_t at = hash & graph->slot_mask;; at = (at + 1) & graph->slot_mask) {
        struct slot *slot = &graph->slots[at];
        if (slot->newest == NULL || (slot->hash == hash && slot->newest->key == key && slot->newest->table == table)) {
            return slot;
        }
    }
}

static struct slot *find_slot(const struct graph *graph, uint32_t table, int64_t key) {
    return find_hashed(graph, table, key, hash_of(table, key));
}

/* The slot whose newest version is this one, or a free one. */
static struct slot *slot_of(const struct graph *graph, const struct install *install) {
    for (uint32_t at = install->hash & graph->slot_mask;; at = (at + 1) & graph->slot_mask) {
        struct slot *slot = &graph->slots[at];
        if (slot->newest == install || slot->newest == NULL) {
            return slot;
        }
    }
}

static void grow_slots(struct graph *graph) {
    struct slot *old = graph->slots;
    uint32_t old_mask = graph->slot_mask;
    graph->slot_mask = old_mask * 2 + 1;
    graph->slots = mem_new((size_t)graph->slot_mask + 1, sizeof *graph->slots);
    for (uint32_t i = 0; i <= old_mask; i++) {
        if (old[i].newest != NULL) {
            *slot_of(graph, old[i].newest) = old[i];
        }
    }
    mem_free(old);
}

/* Frees a slot; those that had been pushed on by it move back. */
static void remove_slot(struct graph *graph, struct slot *slot) {
    uint32_t mask = graph->slot_mask, hole = (uint32_t)(slot - graph->slots);
    for (uint32_t at = (hole + 1) & mask; graph->slots[at].newest != NULL; at = (at + 1) & mask) {
        if (((at - graph->slots[at].hash) & mask) >= ((at - hole) & mask)) {
            graph->slots[hole] = graph->slots[at];
            hole = at;
        }
    }
    graph->slots[hole].newest = NULL;
    graph->slot_count--;
}

struct install *graph_after(const struct graph *graph, const struct access *access, struct install **seen) {
    const struct slot *slot = find_slot(graph, access->table, access->key);
    struct install *install = slot->newest, *oldest = NULL;
    *seen = NULL;
    for (; install != NULL; install = install->older) {
        if (install->writer->id == access->writer) {
            *seen = install;
            return install->newer;
        }
        if (install->behind == access->writer) {
            *seen = install->older != NULL && install->older->writer->id == access->writer ? install->older : NULL;
            return install;
        }
        oldest = install;
    }
    return oldest; /* what was seen is older still */
}

/* The version that another is to stand beneath; NULL if none is kept. */
static struct install *version_of(const struct slot *slot, uint64_t writer) {
    struct install *install = slot->newest;
    while (install != NULL && install->writer->id != writer) {
        install = install->older;
    }
    return install;
}

struct install *graph_newest(const struct graph *graph, uint32_t table, int64_t key) {
    return find_slot(graph, table, key)->newest;
}

bool graph_is_above(const struct graph *graph, const struct access *access, uint64_t base) {
    struct install *seen;
    graph_after(graph, access, &seen);
    if (seen == NULL || access->writer == base) {
        return false;
    }
    for (const struct install *above = seen->newer; above != NULL; above = above->newer) {
        if (above->writer->id == base) {
            return false;
        }
    }
    return true;
}

uint64_t graph_writer_beneath(const struct graph *graph, uint32_t table, int64_t key, uint64_t under) {
    const struct slot *slot = find_slot(graph, table, key);
    if (slot->newest == NULL) {
        return 0;
    }
    const struct install *above = under != 0 ? version_of(slot, under) : NULL;
    return above != NULL ? above->behind : under != 0 ? 0 : slot->newest->writer->id;
}

void graph_expect(const struct graph *graph, struct install *install) {
    install->hash = hash_of(install->table, install->key);
    __builtin_prefetch(&graph->slots[install->hash & graph->slot_mask], 1);
}

bool graph_link(struct graph *graph, struct install *install) {
    struct slot *slot = find_hashed(graph, install->table, install->key, install->hash);
    uint64_t under = install->under;
    install->older = install->newer = NULL;
    install->readers = NULL;
    if (slot->newest == NULL) {
        *slot = (struct slot){.newest = install, .hash = install->hash};
        if (++graph->slot_count * 2 > graph->slot_mask) {
            grow_slots(graph);
        }
        return true;
    }
    if (under == 0 && install->behind == 0) {
        install->behind = slot->newest->writer->id;
    }
    struct install *above = under != 0 ? version_of(slot, under) : NULL;
    struct install *below = above != NULL ? above->older : slot->newest;
    install->older = below;
    install->newer = above;
    if (below != NULL) {
        below->newer = install;
    }
    if (above != NULL) {
        above->older = install;
        above->behind = install->writer->id;
        return false;
    }
    slot->newest = install;
    return true;
}

static void unlink_install(struct graph *graph, struct install *install) {
    for (struct reader *reader = install->readers, *next; reader != NULL; reader = next) {
        next = reader->next;
        pool_put(&graph->readers, reader);
    }
    if (install->older != NULL) {
        install->older->newer = install->newer;
    }
    if (install->newer != NULL) {
        install->newer->older = install->older;
        return;
    }
    /* The newest version is forgotten, so the row is. (If older ones are kept, which had been put beneath it, they lead
     * on to nobody.) */
    struct slot *slot = slot_of(graph, install);
    if (slot->newest == install) {
        remove_slot(graph, slot);
    }
}

/* ---- The index of readers ---- */

static void index_access(struct graph *graph, struct node *node, const struct access *access, const struct scan *scan) {
    struct install *seen;
    graph_after(graph, access, &seen);
    if (seen == NULL || seen->writer == node || (scan != NULL && !predicate_changes(scan, seen))) {
        return;
    }
    struct reader *reader = pool_get(&graph->readers);
    *reader = (struct reader){.next = seen->readers, .node = node, .key = access->key};
    seen->readers = reader;
}

static void index_node(struct graph *graph, struct node *node) {
    for (size_t i = 0; i < node->accesses.count; i++) {
        if (access_counts(&node->accesses.items[i])) {
            index_access(graph, node, &node->accesses.items[i], NULL);
        }
    }
    for (size_t i = 0; i < node->scans.count; i++) {
        const struct scan *scan = &node->scans.items[i];
        for (size_t j = scan->from; j < scan->to; j++) {
            const struct access *access = &node->accesses.items[j];
            if (access->kind == ACCESS_PEEK && !access->pending && !access->gone) {
                index_access(graph, node, access, scan);
            }
        }
    }
    node->indexed = true;
}

void graph_index(struct graph *graph) {
    for (struct node *node = graph->unindexed; node != NULL; node = node->next) {
        index_node(graph, node);
    }
    graph->unindexed = NULL;
}

void graph_index_late(struct graph *graph, struct node *node, size_t number) {
    const struct access *access = &node->accesses.items[number];
    if (!node->indexed) {
        return;
    }
    if (access_counts(access)) {
        index_access(graph, node, access, NULL);
        return;
    }
    for (size_t i = 0; i < node->scans.count; i++) {
        const struct scan *scan = &node->scans.items[i];
        if (access->kind == ACCESS_PEEK && scan->from <= number && number < scan->to) {
            index_access(graph, node, access, scan);
        }
    }
}

/* ---- Committed nodes ---- */

void graph_add(struct graph *graph, struct node *node) {
    node_list_append(&graph->committed, node);
    graph->kept++;
    if (graph->unindexed == NULL) {
        graph->unindexed = node;
    }
    if (node->scans.count > 0) {
        node->scan_next = NULL;
        node->scan_previous = graph->scanners.last;
        if (graph->scanners.last != NULL) {
            graph->scanners.last->scan_next = node;
        } else {
            graph->scanners.first = node;
        }
        graph->scanners.last = node;
    }
}

static void leave_scanners(struct graph *graph, struct node *node) {
    if (node->scan_previous != NULL) {
        node->scan_previous->scan_next = node->scan_next;
    } else {
        graph->scanners.first = node->scan_next;
    }
    if (node->scan_next != NULL) {
        node->scan_next->scan_previous = node->scan_previous;
    } else {
        graph->scanners.last = node->scan_previous;
    }
}

static void forget(struct graph *graph, struct node *node) {
    for (size_t i = 0; i < node->installs.count; i++) {
        unlink_install(graph, &node->installs.items[i]);
    }
    if (node->scans.count > 0) {
        leave_scanners(graph, node);
    }
    if (graph->unindexed == node) {
        graph->unindexed = node->next;
    }
    node_list_remove(&graph->committed, node);
    graph->kept--;
    graph_recycle(graph, node);
}

/* A node that is dropped although others lead to it leaves their versions' lists of readers. */
static void leave_readers(struct graph *graph, struct node *node) {
    for (size_t i = 0; node->indexed && i < node->accesses.count; i++) {
        struct install *seen;
        graph_after(graph, &node->accesses.items[i], &seen);
        for (struct reader **link = seen != NULL ? &seen->readers : NULL; link != NULL && *link != NULL;) {
            struct reader *reader = *link;
            if (reader->node == node) {
                *link = reader->next;
                pool_put(&graph->readers, reader);
            } else {
                link = &reader->next;
            }
        }
    }
}

static void mark(void *context, const struct edge *edge) {
    struct graph *graph = context;
    if (edge->to->marks[0] != graph->search) {
        edge->to->marks[0] = graph->search;
        struct visit visit = {.by = *edge};
        vector_push(&graph->visits, visit);
    }
}

/* Keeps the nodes that are not closed and those that they lead to. */
static void sweep(struct graph *graph, uint64_t closed_seq) {
    graph_index(graph);
    graph->search++;
    graph->visits.count = 0;
    size_t open = 0;
    for (struct node *node = graph->committed.last; node != NULL && node->seq > closed_seq; node = node->previous) {
        struct edge here = {.to = node};
        mark(graph, &here);
        open++;
    }
    for (size_t i = 0; i < graph->visits.count; i++) {
        graph_edges(graph, graph->visits.items[i].by.to, mark, graph);
    }
    struct node *next;
    for (struct node *node = graph->committed.first; node != NULL && node->seq <= closed_seq; node = next) {
        next = node->next;
        if (node->marks[0] != graph->search) {
            forget(graph, node);
        }
    }
    size_t closed_most = open * CLOSED_PER_OPEN > CLOSED_LEAST ? open * CLOSED_PER_OPEN : CLOSED_LEAST;
    while (graph->kept - open > closed_most) {
        struct node *oldest = graph->committed.first;
        CHECK(oldest != NULL);
        leave_readers(graph, oldest);
        forget(graph, oldest);
        graph->dropped++;
    }
    graph->sweep_at = graph->kept * 2 > SWEEP_LEAST ? graph->kept * 2 : SWEEP_LEAST;
}

void graph_prune(struct graph *graph, uint64_t closed_seq) {
    struct node *first;
    while ((first = graph->committed.first) != NULL && first->seq <= closed_seq && !first->held) {
        forget(graph, first);
    }
    if (graph->kept > graph->sweep_at) {
        sweep(graph, closed_seq);
    }
}

/* ---- Edges ---- */

static void edges_of_install(struct install *install, void (*visit)(void *context, const struct edge *edge),
                             void *context) {
    struct edge edge = {.from = install->writer, .table = install->table, .key = install->key};
    if (install->newer != NULL && install->newer->writer != install->writer) {
        edge.to = install->newer->writer;
        edge.kind = EDGE_WW;
        visit(context, &edge);
    }
    for (const struct reader *reader = install->readers; reader != NULL; reader = reader->next) {
        edge.to = reader->node;
        edge.kind = EDGE_WR;
        visit(context, &edge);
    }
}

void graph_edges(struct graph *graph, struct node *node, void (*visit)(void *context, const struct edge *edge),
                 void *context) {
    for (size_t i = 0; i < node->installs.count; i++) {
        edges_of_install(&node->installs.items[i], visit, context);
    }
    for (size_t i = 0; i < node->accesses.count; i++) {
        const struct access *access = &node->accesses.items[i];
        struct install *seen, *after = access_counts(access) ? graph_after(graph, access, &seen) : NULL;
        if (after != NULL && after->writer != node) {
            struct edge edge = {.from = node,
                                .to = after->writer,
                                .kind = access->kind == ACCESS_READ ? EDGE_RW : EDGE_RW_PREDICATE,
                                .table = access->table,
                                .key = access->key};
            visit(context, &edge);
        }
    }
    predicate_edges(graph, node, visit, context);
    predicate_seen(graph, node, visit, context);
}
