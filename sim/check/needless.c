/* needless.c - refusals that no cycle demanded.
 *
 * A refused attempt is kept until everybody it overlapped has ended. Then it is put beside those that committed as if it
 * had committed at the instant it was refused: it read what it read, and its versions are the newest of their rows at
 * that instant. If no cycle leads through it the refusal was needless, a false positive.
 *   into it  wr and ww from the writers of what it read and would have replaced; rw from those who read a row that it
 *            would have changed, or scanned a range that it would have changed, on a snapshot older than its end
 *   out of it  rw to those who wrote over what it read. What others wrote later on rows of its own does not count: had it
 *            committed they would have built on that, or been refused.
 * Who began after its end is no overlap, but may be on the way round.
 *
 * Nothing is linked: its edges are computed from both sides when it is judged. Until then it counts as running, so what
 * its edges lead to is not forgotten (graph.h), and memory stays bounded by concurrency. */
#include "sim/check/certifier.h"
#include "sim/check/certifier_parts.h"

void certifier_would_install(struct certifier *certifier, struct node *txn, const struct certifier_install *install) {
    struct install entry = {.key = install->key,
                            .writer = txn,
                            .behind = install->behind,
                            .before = install->before,
                            .after = install->after,
                            .table = install->table,
                            .before_absent = install->before_absent,
                            .after_absent = install->after_absent};
    if (install->behind == 0 && install->before_absent) {
        entry.behind = graph_writer_beneath(&certifier->graph, install->table, install->key, 0);
    }
    vector_push(&txn->installs, entry);
}

void needless_keep(struct certifier *certifier, struct node *node) {
    for (size_t i = 0; i < node->accesses.count; i++) {
        node->accesses.items[i].gone |= node->accesses.items[i].dirty;
    }
    node->state = NODE_ABORTED;
    node->seq = ++certifier->seq;
    node->judged_after = certifier->latest_id;
    if (certifier->refused.first == NULL || node->begin_seq < certifier->refused_begin_seq) {
        certifier->refused_begin_seq = node->begin_seq;
    }
    node_list_append(&certifier->refused, node);
}

/* ---- Edges ---- */

static const struct install *own_of(const struct node *node, uint32_t table, int64_t key) {
    for (size_t i = 0; i < node->installs.count; i++) {
        if (node->installs.items[i].key == key && node->installs.items[i].table == table) {
            return &node->installs.items[i];
        }
    }
    return NULL;
}

/* Did a scan of the refused one pass over the row because of that version? */
static bool passed_over(const struct node *refused, size_t number, const struct install *install) {
    for (size_t i = 0; i < refused->scans.count; i++) {
        const struct scan *scan = &refused->scans.items[i];
        if (scan->from <= number && number < scan->to && predicate_changes(scan, install)) {
            return true;
        }
    }
    return false;
}

static bool saw(const struct node *refused, const struct install *install) {
    for (size_t i = 0; i < refused->accesses.count; i++) {
        const struct access *access = &refused->accesses.items[i];
        if (access->writer != install->writer->id || access->key != install->key || access->table != install->table) {
            continue;
        }
        if (access_counts(access) ||
            (access->kind == ACCESS_PEEK && !access->gone && passed_over(refused, i, install))) {
            return true;
        }
    }
    return predicate_saw_leave(refused, install);
}

static bool is_built_on(const struct node *refused, const struct install *install) {
    for (size_t i = 0; i < refused->installs.count; i++) {
        const struct install *own = &refused->installs.items[i];
        if (own->behind == install->writer->id && own->key == install->key && own->table == install->table) {
            return true;
        }
    }
    return false;
}

/* rw: would the refused one have changed what the node read? */
static bool is_overwritten(const struct graph *graph, const struct node *node, const struct node *refused) {
    for (size_t i = 0; i < node->accesses.count; i++) {
        const struct access *access = &node->accesses.items[i];
        const struct install *own = own_of(refused, access->table, access->key);
        if (own != NULL && access_counts(access) && !graph_is_above(graph, access, own->behind)) {
            return true;
        }
    }
    for (size_t i = 0; i < refused->installs.count; i++) {
        if (predicate_would_change(graph, node, &refused->installs.items[i])) {
            return true;
        }
    }
    return false;
}

static bool leads_to(const struct graph *graph, const struct node *node, const struct node *refused) {
    for (size_t i = 0; i < node->installs.count; i++) {
        if (saw(refused, &node->installs.items[i]) || is_built_on(refused, &node->installs.items[i])) {
            return true;
        }
    }
    return node->has_snapshot && node->snapshot_seq < refused->seq && is_overwritten(graph, node, refused);
}

/* ---- The search ---- */

struct search {
    struct graph *graph;
    const struct node *refused;
};

static void reach(void *context, const struct edge *edge) {
    struct search *search = context;
    bool own = edge->from == search->refused && own_of(search->refused, edge->table, edge->key) != NULL;
    if (!own && edge->to->marks[0] != search->graph->search) {
        edge->to->marks[0] = search->graph->search;
        struct visit visit = {.by = *edge};
        vector_push(&search->graph->visits, visit);
    }
}

static bool is_on_cycle(struct graph *graph, struct node *refused) {
    struct search search = {.graph = graph, .refused = refused};
    graph_index(graph);
    graph->search++;
    graph->visits.count = 0;
    graph_edges(graph, refused, reach, &search);
    for (size_t i = 0; i < graph->visits.count; i++) {
        struct node *node = graph->visits.items[i].by.to;
        if (leads_to(graph, node, refused)) {
            return true;
        }
        graph_edges(graph, node, reach, &search);
    }
    return false;
}

void needless_judge(struct certifier *certifier) {
    struct node *node;
    bool any = false;
    while ((node = certifier->refused.first) != NULL &&
           (certifier->active.first == NULL || certifier->active.first->id > node->judged_after)) {
        certifier->counts.false_positives += !is_on_cycle(&certifier->graph, node);
        node_list_remove(&certifier->refused, node);
        graph_recycle(&certifier->graph, node);
        any = true;
    }
    if (any && certifier->refused.first != NULL) {
        certifier->refused_begin_seq = certifier->refused.first->begin_seq;
        for (node = certifier->refused.first; node != NULL; node = node->next) {
            certifier->refused_begin_seq =
                node->begin_seq < certifier->refused_begin_seq ? node->begin_seq : certifier->refused_begin_seq;
        }
    }
}
