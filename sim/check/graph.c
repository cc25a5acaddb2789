#include "sim/check/graph.h"

#include "sim/base/check.h"

enum { BUCKET_BITS_FIRST = 10, ROW_BUCKETS = 4, SWEEP_LEAST = 512, CLOSED_LEAST = 1024, CLOSED_PER_OPEN = 8 };

void graph_init(struct graph *graph) {
    *graph = (struct graph){.sweep_at = SWEEP_LEAST, .bucket_shift = 64 - BUCKET_BITS_FIRST};
    graph->row_most = graph_bucket_count(graph) / ROW_BUCKETS;
    graph->buckets = mem_new(graph_bucket_count(graph), sizeof(struct install *));
    pool_init(&graph->nodes, sizeof(struct node));
    pool_init(&graph->readers, sizeof(struct reader));
}

static void free_vectors(struct node *node) {
    vector_free(&node->accesses);
    vector_free(&node->installs);
    vector_free(&node->scans);
    vector_free(&node->waiting);
}

void graph_free(struct graph *graph) {
    struct node *lists[] = {graph->committed.first, graph->free_nodes};
    for (int i = 0; i < 2; i++) {
        for (struct node *node = lists[i]; node != NULL; node = node->next) {
            free_vectors(node);
        }
    }
    mem_free(graph->buckets);
    pool_free(&graph->nodes);
    pool_free(&graph->readers);
    vector_free(&graph->visits);
}

/* ---- Nodes ---- */

struct node *graph_node(struct graph *graph) {
    struct node *node = graph->free_nodes;
    if (node == NULL) {
        node = pool_get(&graph->nodes);
        *node = (struct node){0};
        return node;
    }
    graph->free_nodes = node->next;
    node->snapshot_seq = node->seq = 0;
    node->end_ns = 0;
    node->state = NODE_ACTIVE;
    node->held = node->indexed = false;
    node->seen_dirty = node->reads_dirty = node->reads_dead = false;
    node->counted = node->owed = node->broke = false;
    node->has_snapshot = false;
    node->named = 0;
    node->statement_from = 0;
    node->statement_seq = 0;
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

/* Where the newest version of the row is linked, or is to be: then that holds NULL. */
static inline struct install **place_of_row(const struct graph *graph, uint32_t table, int64_t key) {
    struct install **place = graph_bucket(graph, table, key);
    while (*place != NULL && ((*place)->key != key || (*place)->table != table)) {
        place = &(*place)->next_row;
    }
    return place;
}

static void grow_buckets(struct graph *graph) {
    size_t old_count = graph_bucket_count(graph);
    struct install **old = graph->buckets;
    graph->bucket_shift--;
    graph->row_most *= 2;
    graph->buckets = mem_new(old_count * 2, sizeof(struct install *));
    for (size_t i = 0; i < old_count; i++) {
        for (struct install *install = old[i], *next; install != NULL; install = next) {
            next = install->next_row;
            struct install **bucket = graph_bucket(graph, install->table, install->key);
            install->next_row = *bucket;
            *bucket = install;
        }
    }
    mem_free(old);
}

struct install *graph_after(const struct graph *graph, const struct access *access, struct install **seen) {
    struct install *install = *place_of_row(graph, access->table, access->key), *oldest = NULL;
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
static struct install *version_of(struct install *newest, uint64_t writer) {
    struct install *install = newest;
    while (install != NULL && install->writer->id != writer) {
        install = install->older;
    }
    return install;
}

struct install *graph_newest(const struct graph *graph, uint32_t table, int64_t key) {
    return *place_of_row(graph, table, key);
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
    struct install *newest = *place_of_row(graph, table, key);
    if (newest == NULL) {
        return 0;
    }
    const struct install *above = under != 0 ? version_of(newest, under) : NULL;
    return above != NULL ? above->behind : under != 0 ? 0 : newest->writer->id;
}

/* The row has versions already; `place` leads to the newest. */
static bool link_to_others(struct install **place, struct install *install) {
    struct install *newest = *place;
    uint64_t under = install->under;
    install->readers = NULL;
    if (under == 0 && install->behind == 0) {
        install->behind = newest->writer->id;
    }
    struct install *above = under != 0 ? version_of(newest, under) : NULL;
    struct install *below = above != NULL ? above->older : newest;
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
    install->next_row = newest->next_row;
    *place = install;
    return true;
}

bool graph_link(struct graph *graph, struct install *install) {
    struct install **place = place_of_row(graph, install->table, install->key);
    if (*place != NULL) {
        return link_to_others(place, install);
    }
    install->older = install->newer = install->next_row = NULL;
    install->readers = NULL;
    *place = install;
    if (++graph->row_count > graph->row_most) {
        grow_buckets(graph);
    }
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
     * on to nobody, and nothing leads to them.) */
    struct install **place = graph_bucket(graph, install->table, install->key);
    while (*place != install && *place != NULL) {
        place = &(*place)->next_row;
    }
    if (*place == install) {
        *place = install->next_row;
        graph->row_count--;
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

/* Fetches what is needed to forget a node: mostly it is the next to go, and has not been touched for long. */
static inline void expect_to_forget(const struct node *node) {
    const char *installs = (const char *)node->installs.items;
    size_t size = node->installs.count * sizeof *node->installs.items;
    for (size_t at = 0; at < size; at += MEMORY_LINE) {
        __builtin_prefetch(installs + at, 1);
    }
}

static void forget(struct graph *graph, struct node *node) {
    struct install *installs = node->installs.items;
    size_t install_count = node->installs.count;
    for (size_t i = 0; i < install_count; i++) {
        unlink_install(graph, &installs[i]);
    }
    if (node->scans.count > 0) {
        leave_scanners(graph, node);
    }
    if (graph->unindexed == node) {
        graph->unindexed = node->next;
    }
    if (node->next != NULL) {
        expect_to_forget(node->next);
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
