/* predicate.c - the edges that scans make: which version of each row of its range a scan saw, visited or not.
 *
 * A row that the scan visited is among its accesses, with the version it saw. A row it did not visit was absent for
 * everybody at the instant the scan passed its place: that is when the next visited key was read, or the scan ended. */
#include "sim/check/graph.h"

static bool member(const struct scan *scan, int64_t key, int64_t value, bool absent) {
    return !absent && condition_holds(&scan->condition, key, value);
}

bool predicate_changes(const struct scan *scan, const struct install *install) {
    return member(scan, install->key, install->before, install->before_absent) !=
           member(scan, install->key, install->after, install->after_absent);
}

static bool in_range(const struct scan *scan, const struct install *install) {
    return install->table == scan->table && scan->first <= install->key && install->key <= scan->last;
}

/* The number of the scan's first access with a key >= `key`. */
static size_t place_of(const struct node *node, const struct scan *scan, int64_t key) {
    size_t low = scan->from, high = scan->to;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->accesses.items[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

enum passing { PASSING_VISITED, PASSING_OLDER, PASSING_SEEN, PASSING_MISSED };

/* What the version of the row was to the scan when it passed: what it saw, older or newer than that. A version that is
 * put beneath others later is older. */
static enum passing passing_of(const struct node *node, const struct scan *scan, const struct install *install) {
    size_t place = place_of(node, scan, install->key);
    if (place < scan->to && node->accesses.items[place].key == install->key) {
        return PASSING_VISITED;
    }
    uint64_t passed = place < scan->to ? node->accesses.items[place].seq : scan->end_seq;
    for (const struct install *newer = install->newer; newer != NULL; newer = newer->newer) {
        if (newer->writer->seq <= passed) {
            return PASSING_OLDER;
        }
    }
    /* There in time, and present: then it cannot be what was seen. */
    return install->writer->seq > passed || !install->after_absent ? PASSING_MISSED : PASSING_SEEN;
}

/* Of a visited row that did not match: the first later version that changes that. */
static bool edge_of_peek(const struct graph *graph, struct node *node, const struct scan *scan,
                         const struct access *access, void (*visit)(void *context, const struct edge *edge),
                         void *context) {
    struct install *seen, *after = graph_after(graph, access, &seen);
    while (after != NULL && (after->writer == node || !predicate_changes(scan, after))) {
        after = after->newer;
    }
    if (after == NULL) {
        return false;
    }
    struct edge edge = {
        .from = node, .to = after->writer, .kind = EDGE_RW_PREDICATE, .table = scan->table, .key = access->key};
    visit(context, &edge);
    return true;
}

/* Of rows not visited: only what was installed since the scan began can have been missed. */
static bool edges_of_missed(const struct graph *graph, struct node *node, const struct scan *scan,
                            void (*visit)(void *context, const struct edge *edge), void *context) {
    bool any = false;
    for (struct node *other = graph->committed.last; other != NULL && other->seq > scan->start_seq;
         other = other->previous) {
        for (size_t i = 0; other != node && i < other->installs.count; i++) {
            const struct install *install = &other->installs.items[i];
            if (!in_range(scan, install) || !predicate_changes(scan, install) ||
                passing_of(node, scan, install) != PASSING_MISSED) {
                continue;
            }
            struct edge edge = {
                .from = node, .to = other, .kind = EDGE_RW_PREDICATE, .table = scan->table, .key = install->key};
            visit(context, &edge);
            any = true;
        }
    }
    return any;
}

bool predicate_edges(struct graph *graph, struct node *node, void (*visit)(void *context, const struct edge *edge),
                     void *context) {
    bool any = false;
    for (size_t i = 0; i < node->scans.count; i++) {
        const struct scan *scan = &node->scans.items[i];
        for (size_t j = scan->from; j < scan->to; j++) {
            const struct access *access = &node->accesses.items[j];
            if (access->kind == ACCESS_PEEK && !access->pending && !access->gone) {
                any |= edge_of_peek(graph, node, scan, access, visit, context);
            }
        }
        any |= edges_of_missed(graph, node, scan, visit, context);
    }
    return any;
}

/* Is it the version by which the row left what the scan saw? */
static bool left_by(const struct node *scanner, const struct scan *scan, const struct install *install) {
    return in_range(scan, install) && install->after_absent && predicate_changes(scan, install) &&
           passing_of(scanner, scan, install) == PASSING_SEEN;
}

bool predicate_saw_leave(const struct node *node, const struct install *install) {
    for (size_t i = 0; i < node->scans.count; i++) {
        if (left_by(node, &node->scans.items[i], install)) {
            return true;
        }
    }
    return false;
}

/* What the scan saw of the version's row: its own, or one above that on which the version would stand? */
static bool saw_newer(const struct graph *graph, const struct node *node, const struct scan *scan,
                      const struct install *install) {
    size_t place = place_of(node, scan, install->key);
    const struct access *access = place < scan->to ? &node->accesses.items[place] : NULL;
    if (access != NULL && access->key == install->key) {
        return access->kind == ACCESS_OWN || access->pending || access->gone ||
               graph_is_above(graph, access, install->behind);
    }
    uint64_t passed = access != NULL ? access->seq : scan->end_seq;
    const struct install *above = graph_newest(graph, install->table, install->key);
    while (above != NULL && above->writer->id != install->behind && above->writer->seq > passed) {
        above = above->older;
    }
    return above != NULL && above->writer->id != install->behind;
}

bool predicate_would_change(const struct graph *graph, const struct node *node, const struct install *install) {
    for (size_t i = 0; i < node->scans.count; i++) {
        const struct scan *scan = &node->scans.items[i];
        if (in_range(scan, install) && predicate_changes(scan, install) && !saw_newer(graph, node, scan, install)) {
            return true;
        }
    }
    return false;
}

/* The number of the first version by which a row leaves its table, or how many there are: few remove anything. */
static size_t first_leaving(const struct node *node) {
    size_t number = 0;
    while (number < node->installs.count && !node->installs.items[number].after_absent) {
        number++;
    }
    return number;
}

void predicate_seen(struct graph *graph, struct node *node, void (*visit)(void *context, const struct edge *edge),
                    void *context) {
    size_t first = first_leaving(node);
    if (first == node->installs.count) {
        return;
    }
    for (struct node *scanner = graph->scanners.first; scanner != NULL; scanner = scanner->scan_next) {
        for (size_t i = 0; scanner != node && i < scanner->scans.count; i++) {
            const struct scan *scan = &scanner->scans.items[i];
            for (size_t j = first; j < node->installs.count; j++) {
                const struct install *install = &node->installs.items[j];
                if (left_by(scanner, scan, install)) {
                    struct edge edge = {
                        .from = node, .to = scanner, .kind = EDGE_WR, .table = scan->table, .key = install->key};
                    visit(context, &edge);
                }
            }
        }
    }
}
