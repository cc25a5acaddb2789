/* certifier_commit.c - the end of an attempt: what the certifier finds when it commits, or is rolled back.
 *
 * At a commit
 *   1. reads of versions that were not committed are resolved: the writer has committed (is that the version it left?),
 *      aborted (G1a), or is still running: then the reader waits on its list and is looked at again when it ends;
 *   2. each read and each install is held against the chain of its row: a newer version there is a backward edge;
 *   3. so is a version that entered a scanned range unseen;
 *   4. with a backward edge cycles through the node are searched, named, and held against the promise;
 *   5. what can be in no new cycle is forgotten. */
#include <inttypes.h>

#include "sim/base/check.h"
#include "sim/check/certifier.h"
#include "sim/check/certifier_parts.h"

/* ---- Verdicts ---- */

/* `owed`: it is forbidden to somebody at the level he asked for; `breaks`: and the algorithm promised that. */
static void count(struct certifier *certifier, struct node *node, enum flaw flaw, bool owed, bool breaks) {
    if (flaw != FLAW_COUNT && (node->named & 1u << flaw) == 0) {
        node->named |= 1u << flaw;
        certifier->counts.by_name[flaw]++;
    }
    certifier->counts.anomalies += !node->counted;
    certifier->counts.broken += breaks && !node->broke;
    certifier->counts.broken_levels += owed && !node->owed;
    node->counted = true;
    node->broke |= breaks;
    node->owed |= owed;
}

/* `rolled_back`: what was read is no more; else it was replaced by its own writer. */
static void found_read(struct certifier *certifier, struct node *node, const struct access *access, enum flaw flaw,
                       bool rolled_back) {
    bool breaks = node->level >= CERTIFIER_RC && !(rolled_back && certifier->excuses_aborted);
    count(certifier, node, flaw, breaks, breaks);
    witness_read(certifier, node, access, flaw_texts[flaw].title, breaks);
}

/* A fault that Adya's graph has no edge for. */
static void found_nameless(struct certifier *certifier, struct node *node, const struct access *access,
                           const char *what) {
    count(certifier, node, FLAW_COUNT, true, true);
    witness_read(certifier, node, access, what, true);
}

/* Is the cycle just classified, or another through the same node, forbidden? Leaves that one in certifier->cycle. */
static bool breaks_promise(struct certifier *certifier, struct node *start, enum flaw flaw) {
    switch (certifier->promise) {
    case CERTIFIER_RU: return flaw == FLAW_G0;
    case CERTIFIER_RC: return flaw == FLAW_G0 || flaw == FLAW_G1C;
    case CERTIFIER_RR: return cycle_find(&certifier->graph, start, CYCLE_ITEMS, &certifier->cycle);
    case CERTIFIER_SI: return cycle_find(&certifier->graph, start, CYCLE_APART, &certifier->cycle);
    case CERTIFIER_SER:
    case CERTIFIER_LEVELS: break;
    }
    return true;
}

/* Levels are mixed: is there a cycle that is forbidden to one of its transactions? Of what was promised, one that breaks
 * that comes first. Leaves it in certifier->cycle. */
static bool breaks_level(struct certifier *certifier, struct node *start, bool *promised) {
    struct graph *graph = &certifier->graph;
    struct cycle *cycle = &certifier->cycle;
    if (certifier->holds == CERTIFIER_SI) {
        *promised = cycle_find(graph, start, CYCLE_SERIAL, cycle) || cycle_find(graph, start, CYCLE_APART_OWED, cycle);
        return *promised || cycle_find(graph, start, CYCLE_OWED, cycle);
    }
    return *promised = cycle_find(graph, start, CYCLE_OWED, cycle);
}

static bool search_from(struct certifier *certifier, struct node *closer, struct node *start) {
    struct graph *graph = &certifier->graph;
    if (!cycle_find(graph, start, CYCLE_ANY, &certifier->cycle)) {
        return false;
    }
    enum flaw flaw = cycle_classify(graph, start, &certifier->cycle);
    enum flaw nickname = cycle_nickname(&certifier->cycle);
    bool breaks = false, owed = true;
    if (!certifier->mixed) {
        owed = breaks = breaks_promise(certifier, start, flaw);
    } else {
        owed = breaks_level(certifier, start, &breaks);
    }
    count(certifier, closer, flaw, owed, breaks);
    if (nickname != FLAW_COUNT) {
        count(certifier, closer, nickname, false, false);
    }
    if (certifier->mixed && owed) {
        flaw = cycle_flaw(&certifier->cycle);
    }
    witness_cycle(certifier, closer, flaw, breaks);
    return true;
}

/* ---- Reads of what was not committed ---- */

static const struct install *install_of(const struct node *writer, const struct access *access) {
    for (size_t i = 0; i < writer->installs.count; i++) {
        const struct install *install = &writer->installs.items[i];
        if (install->key == access->key && install->table == access->table) {
            return install;
        }
    }
    return NULL;
}

/* The writer has committed: is what was read what it left behind? */
static void settle(struct certifier *certifier, struct node *reader, struct access *access, const struct node *writer) {
    const struct install *install = install_of(writer, access);
    access->pending = false;
    if (install == NULL || install->number != access->number) {
        access->gone = true;
        bool rolled_back = install == NULL || install->number < access->number;
        found_read(certifier, reader, access, install == NULL ? FLAW_G1A : FLAW_G1B, rolled_back);
    }
}

static struct node *committed_since(const struct certifier *certifier, uint64_t seq, uint64_t id) {
    struct node *node = certifier->graph.committed.last;
    while (node != NULL && node->seq > seq && node->id != id) {
        node = node->previous;
    }
    return node != NULL && node->id == id ? node : NULL;
}

static void resolve_dirty(struct certifier *certifier, struct node *node) {
    bool unrecoverable = false;
    for (size_t i = 0; i < node->accesses.count; i++) {
        struct access *access = &node->accesses.items[i];
        if (!access->dirty) {
            continue;
        }
        struct node *writer = find_in(&certifier->active, access->writer);
        if (writer != NULL) {
            struct waiting_reader waiting = {.node = node, .access = i};
            access->pending = unrecoverable = true;
            vector_push(&writer->waiting, waiting);
        } else if ((writer = committed_since(certifier, node->begin_seq, access->writer)) != NULL) {
            settle(certifier, node, access, writer);
        } else {
            CHECK(find_in(&certifier->aborted, access->writer) != NULL);
            access->gone = true;
            found_read(certifier, node, access, FLAW_G1A, true);
        }
    }
    certifier->counts.unrecoverable += unrecoverable;
}

/* ---- Commit ---- */

struct backward {
    struct certifier *certifier;
    bool any;
};

static void hold(void *context, const struct edge *edge) {
    struct backward *backward = context;
    edge->to->held = true;
    backward->any = true;
}

/* A read against the chain of its row; true if there is a backward edge. */
static bool match_read(struct certifier *certifier, struct node *node, const struct access *access) {
    struct install *seen, *after = graph_after(&certifier->graph, access, &seen);
    if (after != NULL) {
        after->writer->held = true;
    }
    if (node->level == CERTIFIER_SI && seen != NULL && seen->writer->seq > node->snapshot_seq) {
        found_nameless(certifier, node, access, "it read what was committed after its snapshot");
    }
    return after != NULL;
}

/* The reads against the chains; true if there are backward edges. Did the reader itself write the next version, on top
 * of all that are committed? Then there is nothing to look up: what the snapshot is due is seen when its version is
 * linked. Reads and installs mostly come in the same order. */
static bool match_reads(struct certifier *certifier, struct node *node) {
    bool backward = false;
    const struct access *accesses = node->accesses.items;
    const struct install *installs = node->installs.items;
    size_t access_count = node->accesses.count, install_count = node->installs.count, next = 0;
    for (size_t i = 0; i < access_count; i++) {
        const struct access *access = &accesses[i];
        if (!access_counts(access)) {
            continue;
        }
        if (next < install_count && installs[next].key == access->key && installs[next].table == access->table) {
            const struct install *own = &installs[next++];
            if (own->behind == access->writer && own->under == 0) {
                continue;
            }
        }
        backward |= match_read(certifier, node, access);
    }
    return backward;
}

static void match_overwritten(struct certifier *certifier, struct node *node, const struct install *install) {
    if (install->older != NULL && install->older->writer->seq > node->snapshot_seq) {
        struct access replaced = {.key = install->key, .table = install->table, .writer = install->older->writer->id};
        found_nameless(certifier, node, &replaced, "it overwrote what was committed after its snapshot");
    }
}

static bool link_installs(struct certifier *certifier, struct node *node) {
    bool backward = false;
    struct install *installs = node->installs.items;
    size_t install_count = node->installs.count;
    for (size_t i = 0; i < install_count; i++) {
        struct install *install = &installs[i];
        if (!graph_link(&certifier->graph, install)) {
            install->newer->writer->held = true;
            backward = true;
        }
        if (node->level == CERTIFIER_SI) {
            match_overwritten(certifier, node, install);
        }
    }
    return backward;
}

static void match_dead(struct certifier *certifier, struct node *node) {
    for (size_t i = 0; i < node->accesses.count; i++) {
        const struct access *access = &node->accesses.items[i];
        if (access->dead && node->level >= CERTIFIER_RR) {
            found_nameless(certifier, node, access, "it read a version that had been replaced before it began");
        }
    }
}

/* Those who are on a cycle already have been counted: what their read adds is not looked for. */
static void note_cyclic(struct certifier *certifier, struct node *node) {
    for (size_t i = 0; i < node->waiting.count; i++) {
        struct waiting_reader *waiting = &node->waiting.items[i];
        waiting->cyclic = cycle_find(&certifier->graph, waiting->node, CYCLE_ANY, &certifier->cycle);
    }
}

/* Committed transactions had read this one's versions before. */
static bool settle_readers(struct certifier *certifier, struct node *node) {
    bool any = false;
    for (size_t i = 0; i < node->waiting.count; i++) {
        struct waiting_reader *waiting = &node->waiting.items[i];
        struct access *access = &waiting->node->accesses.items[waiting->access];
        settle(certifier, waiting->node, access, node);
        if (!access->gone) {
            struct install *seen, *after = graph_after(&certifier->graph, access, &seen);
            graph_index_late(&certifier->graph, waiting->node, waiting->access);
            waiting->node->held = true;
            if (after != NULL) {
                after->writer->held = true;
            }
            any = true;
        }
    }
    return any;
}

static void search(struct certifier *certifier, struct node *node) {
    bool found = search_from(certifier, node, node);
    for (size_t i = 0; !found && i < node->waiting.count; i++) {
        found = !node->waiting.items[i].cyclic && search_from(certifier, node, node->waiting.items[i].node);
    }
}

static void prune(struct certifier *certifier) {
    uint64_t closed_seq = certifier->active.first != NULL ? certifier->active.first->begin_seq : certifier->seq;
    if (certifier->refused.first != NULL) {
        needless_judge(certifier);
    }
    if (certifier->refused.first != NULL && certifier->refused_begin_seq < closed_seq) {
        closed_seq = certifier->refused_begin_seq;
    }
    graph_prune(&certifier->graph, closed_seq);
    for (struct node *node; (node = certifier->aborted.first) != NULL && node->seq <= closed_seq;) {
        node_list_remove(&certifier->aborted, node);
        graph_recycle(&certifier->graph, node);
    }
}

void certifier_commit(struct certifier *certifier, struct node *txn) {
    if (certifier->record != NULL) {
        recording_line(certifier, "c %" PRIu64, txn->id);
    }
    node_list_remove(&certifier->active, txn);
    certifier->active_count--;
    certifier->counts.commits++;
    txn->seq = ++certifier->seq;
    txn->end_ns = *certifier->now_ns;
    txn->state = NODE_COMMITTED;
    if (txn->reads_dirty) {
        resolve_dirty(certifier, txn);
    }
    if (txn->reads_dead) {
        match_dead(certifier, txn);
    }
    if (txn->waiting.count > 0) {
        note_cyclic(certifier, txn);
    }
    bool backward = match_reads(certifier, txn);
    backward |= link_installs(certifier, txn);
    graph_add(&certifier->graph, txn);
    if (txn->waiting.count > 0) {
        backward |= settle_readers(certifier, txn);
    }
    if (txn->scans.count > 0) {
        struct backward predicates = {.certifier = certifier};
        predicate_edges(&certifier->graph, txn, hold, &predicates);
        backward |= predicates.any;
    }
    if (backward) {
        search(certifier, txn);
    }
    txn->waiting.count = 0;
    prune(certifier);
}

static void leave_active(struct certifier *certifier, struct node *txn) {
    if (certifier->record != NULL) {
        recording_line(certifier, "a %" PRIu64, txn->id);
    }
    node_list_remove(&certifier->active, txn);
    certifier->active_count--;
    for (size_t i = 0; i < txn->waiting.count; i++) {
        struct node *reader = txn->waiting.items[i].node;
        struct access *access = &reader->accesses.items[txn->waiting.items[i].access];
        access->pending = false;
        access->gone = true;
        found_read(certifier, reader, access, FLAW_G1A, true);
    }
}

void certifier_refuse(struct certifier *certifier, struct node *txn) {
    if (txn->seen_dirty) {
        txn->installs.count = 0;
        certifier_abort(certifier, txn);
        return;
    }
    leave_active(certifier, txn);
    needless_keep(certifier, txn);
    prune(certifier);
}

void certifier_abort(struct certifier *certifier, struct node *txn) {
    leave_active(certifier, txn);
    if (txn->installs.count > 0) {
        struct access first = {
            .key = txn->installs.items[0].key, .table = txn->installs.items[0].table, .writer = txn->id};
        txn->end_ns = *certifier->now_ns;
        found_nameless(certifier, txn, &first, "it published what was then rolled back");
    }
    if (txn->seen_dirty) {
        txn->seq = ++certifier->seq;
        txn->end_ns = *certifier->now_ns;
        txn->state = NODE_ABORTED;
        node_list_append(&certifier->aborted, txn);
    } else {
        graph_recycle(&certifier->graph, txn);
    }
    prune(certifier);
}
