/* certifier.c - takes the history in, and judges each commit.
 *
 * While an attempt runs, its reads and installs are only noted: an abort costs nothing. At its commit
 *   1. reads of versions that were not committed are resolved: the writer has committed (is that the version it left?),
 *      aborted (G1a), or is still running: then the reader waits on its list and is looked at again when it ends;
 *   2. each read and each install is held against the chain of its row: a newer version there is a backward edge;
 *   3. so is a version that entered a scanned range unseen;
 *   4. with a backward edge cycles through the node are searched, named, and held against the promise;
 *   5. what can be in no new cycle is forgotten. */
#include "sim/check/certifier.h"

#include <inttypes.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/check/certifier_parts.h"

const char *const certifier_level_names[CERTIFIER_LEVELS] = {"RU", "RC", "RR", "SI", "SER"};

_Static_assert((int)SIGHT_ROW == (int)ACCESS_READ && (int)SIGHT_NO_ROW == (int)ACCESS_ABSENT &&
                   (int)SIGHT_NO_MATCH == (int)ACCESS_PEEK && (int)SIGHT_OWN_VERSION == (int)ACCESS_OWN,
               "one is stored as the other");

enum { NUMBER_BITS = 0xffffff };

struct certifier *certifier_new(enum certifier_level promise, const int64_t *now_ns) {
    struct certifier *certifier = mem_new(1, sizeof *certifier);
    certifier->promise = promise;
    certifier->now_ns = now_ns;
    graph_init(&certifier->graph);
    return certifier;
}

void certifier_free(struct certifier *certifier) {
    if (certifier == NULL) {
        return;
    }
    struct node *lists[] = {certifier->active.first, certifier->aborted.first};
    for (int i = 0; i < 2; i++) {
        for (struct node *node = lists[i], *next; node != NULL; node = next) {
            next = node->next;
            graph_recycle(&certifier->graph, node);
        }
    }
    graph_free(&certifier->graph);
    vector_free(&certifier->cycle.edges);
    for (size_t i = 0; i < certifier->tables.count; i++) {
        mem_free(certifier->tables.items[i]);
    }
    vector_free(&certifier->tables);
    text_free(&certifier->witness);
    mem_free(certifier);
}

void certifier_table(struct certifier *certifier, int table, const char *name) {
    while (certifier->tables.count <= (size_t)table) {
        vector_push(&certifier->tables, NULL);
    }
    mem_free(certifier->tables.items[table]);
    certifier->tables.items[table] = mem_string(name);
    if (certifier->record != NULL) {
        recording_table(certifier, table);
    }
}

void certifier_record(struct certifier *certifier, FILE *file) {
    certifier->record = file;
    if (file != NULL) {
        recording_start(certifier);
    }
}

/* ---- An attempt under way ---- */

struct node *certifier_begin(struct certifier *certifier, uint64_t id) {
    struct node *node = graph_node(&certifier->graph);
    node->id = id;
    node->begin_seq = certifier->seq;
    node->begin_ns = *certifier->now_ns;
    node_list_append(&certifier->active, node);
    certifier->active_count++;
    if (certifier->record != NULL) {
        recording_line(certifier, "b %" PRIu64, id);
    }
    return node;
}

void certifier_statement(struct certifier *certifier, struct node *txn, uint32_t statement) {
    if (!txn->has_snapshot) {
        txn->has_snapshot = true;
        txn->snapshot_seq = certifier->seq;
    }
    txn->statement_from = txn->accesses.count;
    txn->statement_seq = certifier->seq;
    if (certifier->record != NULL) {
        recording_line(certifier, "s %" PRIu64 " %" PRIu32, txn->id, statement);
    }
}

static struct node *find_in(const struct node_list *list, uint64_t id) {
    struct node *node = list->first;
    while (node != NULL && node->id != id) {
        node = node->next;
    }
    return node;
}

/* Somebody reads what an attempt under way wrote: its end will matter to him. */
static bool note_dirty(struct certifier *certifier, struct node *txn, uint64_t writer_id) {
    struct node *writer = find_in(&certifier->active, writer_id);
    if (writer == NULL || writer == txn) {
        return false;
    }
    writer->seen_dirty = true;
    txn->reads_dirty = true;
    return true;
}

void certifier_read(struct certifier *certifier, struct node *txn, uint32_t statement, const struct certifier_read *read) {
    bool dirty = read->dirty && note_dirty(certifier, txn, read->writer);
    uint64_t writer = read->writer;
    if (read->anew) {
        writer = graph_writer_beneath(&certifier->graph, read->table, read->key, read->under);
    }
    txn->reads_dead |= read->dead;
    if (txn->accesses.count == txn->accesses.capacity) {
        txn->accesses.items =
            mem_vector_grow(txn->accesses.items, &txn->accesses.capacity, sizeof *txn->accesses.items);
    }
    txn->accesses.items[txn->accesses.count++] = (struct access){.key = read->key,
                                                                 .writer = writer,
                                                                 .seq = certifier->seq & 0xffffffffffff,
                                                                 .table = read->table,
                                                                 .statement = statement,
                                                                 .number = read->number & NUMBER_BITS,
                                                                 .kind = read->sight & 7u,
                                                                 .dirty = dirty,
                                                                 .dead = read->dead,
                                                                 .kept = read->kept};
    if (certifier->record != NULL) {
        recording_read(certifier, txn, statement, read);
    }
}

/* The reads of the statement that belong to its scan: the last ones, in ascending order of their keys. */
static size_t scan_from(const struct node *txn, unsigned table) {
    const struct access *accesses = txn->accesses.items;
    size_t from = txn->accesses.count;
    while (from > txn->statement_from && accesses[from - 1].table == table &&
           (from == txn->accesses.count || accesses[from - 1].key <= accesses[from].key)) {
        from--;
    }
    return from;
}

void certifier_scan(struct certifier *certifier, struct node *txn, uint32_t statement, const struct certifier_scan *scan) {
    struct scan entry = {.first = scan->first,
                         .last = scan->last,
                         .condition = scan->condition,
                         .start_seq = txn->statement_seq,
                         .end_seq = certifier->seq,
                         .from = scan_from(txn, scan->table),
                         .to = txn->accesses.count,
                         .statement = statement,
                         .table = scan->table};
    vector_push(&txn->scans, entry);
    if (certifier->record != NULL) {
        recording_scan(certifier, txn, statement, scan);
    }
}

void certifier_skip(struct certifier *certifier, struct node *txn, int table, int64_t key) {
    if (certifier->record != NULL) {
        recording_line(certifier, "k %" PRIu64 " %d %" PRId64, txn->id, table, key);
    }
}

/* Takes back the reads of `statement` and later ones, but for those kept. */
static void take_back(struct node *txn, uint32_t statement, bool keeps) {
    size_t from = txn->accesses.count;
    while (from > 0 && txn->accesses.items[from - 1].statement >= statement) {
        from--;
    }
    size_t left = from;
    for (size_t i = from; i < txn->accesses.count; i++) {
        if (keeps && txn->accesses.items[i].kept) {
            txn->accesses.items[left++] = txn->accesses.items[i];
        }
    }
    txn->accesses.count = left;
    while (txn->scans.count > 0 && txn->scans.items[txn->scans.count - 1].statement >= statement) {
        txn->scans.count--;
    }
}

void certifier_fail(struct certifier *certifier, struct node *txn, uint32_t statement) {
    take_back(txn, statement, true);
    if (certifier->record != NULL) {
        recording_line(certifier, "f %" PRIu64 " %" PRIu32, txn->id, statement);
    }
}

void certifier_rollback(struct certifier *certifier, struct node *txn, uint32_t mark) {
    if (certifier->promise < CERTIFIER_SI) {
        take_back(txn, mark, false);
    }
    if (certifier->record != NULL) {
        recording_line(certifier, "u %" PRIu64 " %" PRIu32, txn->id, mark);
    }
}

void certifier_install(struct certifier *certifier, struct node *txn, const struct certifier_install *install) {
    (void)certifier;
    struct install entry = {.key = install->key,
                            .writer = txn,
                            .behind = install->behind,
                            .under = install->under,
                            .before = install->before,
                            .after = install->after,
                            .number = install->number & NUMBER_BITS,
                            .table = install->table,
                            .before_absent = install->before_absent,
                            .after_absent = install->after_absent};
    graph_expect(&certifier->graph, &entry);
    vector_push(&txn->installs, entry);
    if (certifier->record != NULL) {
        recording_install(certifier, txn, install);
    }
}

/* ---- Verdicts ---- */

static void count(struct certifier *certifier, struct node *node, enum flaw flaw, bool breaks) {
    if (flaw != FLAW_COUNT && (node->named & 1u << flaw) == 0) {
        node->named |= 1u << flaw;
        certifier->counts.by_name[flaw]++;
    }
    certifier->counts.anomalies += !node->counted;
    certifier->counts.broken += breaks && !node->broke;
    node->counted = true;
    node->broke |= breaks;
}

static void found_read(struct certifier *certifier, struct node *node, const struct access *access, enum flaw flaw) {
    bool breaks = certifier->promise >= CERTIFIER_RC;
    count(certifier, node, flaw, breaks);
    witness_read(certifier, node, access, flaw_texts[flaw].title, breaks);
}

/* A fault that Adya's graph has no edge for. */
static void found_nameless(struct certifier *certifier, struct node *node, const struct access *access, const char *what) {
    count(certifier, node, FLAW_COUNT, true);
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

static bool search_from(struct certifier *certifier, struct node *closer, struct node *start) {
    struct graph *graph = &certifier->graph;
    if (!cycle_find(graph, start, CYCLE_ANY, &certifier->cycle)) {
        return false;
    }
    enum flaw flaw = cycle_classify(graph, start, &certifier->cycle);
    enum flaw nickname = cycle_nickname(&certifier->cycle);
    bool breaks = breaks_promise(certifier, start, flaw);
    count(certifier, closer, flaw, breaks);
    if (nickname != FLAW_COUNT) {
        count(certifier, closer, nickname, false);
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
        found_read(certifier, reader, access, install == NULL ? FLAW_G1A : FLAW_G1B);
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
    for (size_t i = 0; i < node->accesses.count; i++) {
        struct access *access = &node->accesses.items[i];
        if (!access->dirty) {
            continue;
        }
        struct node *writer = find_in(&certifier->active, access->writer);
        if (writer != NULL) {
            struct waiting_reader waiting = {.node = node, .access = i};
            access->pending = true;
            vector_push(&writer->waiting, waiting);
        } else if ((writer = committed_since(certifier, node->begin_seq, access->writer)) != NULL) {
            settle(certifier, node, access, writer);
        } else {
            CHECK(find_in(&certifier->aborted, access->writer) != NULL);
            access->gone = true;
            found_read(certifier, node, access, FLAW_G1A);
        }
    }
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

/* Did the reader itself write the next version, on top of all that are committed? Then there is nothing to look up. Reads
 * and installs mostly come in the same order: *next is where to look. */
static bool overwrote_itself(const struct node *node, const struct access *access, size_t *next) {
    if (*next == node->installs.count) {
        return false;
    }
    const struct install *install = &node->installs.items[*next];
    if (install->key != access->key || install->table != access->table) {
        return false;
    }
    ++*next;
    return install->behind == access->writer && install->under == 0;
}

/* The reads against the chains; true if there are backward edges. */
static bool match_reads(struct certifier *certifier, struct node *node) {
    bool backward = false, snapshot = certifier->promise == CERTIFIER_SI;
    size_t next = 0;
    for (size_t i = 0; i < node->accesses.count; i++) {
        const struct access *access = &node->accesses.items[i];
        if (!access_counts(access) || (overwrote_itself(node, access, &next) && !snapshot)) {
            continue;
        }
        struct install *seen, *after = graph_after(&certifier->graph, access, &seen);
        if (after != NULL) {
            after->writer->held = true;
            backward = true;
        }
        if (snapshot && seen != NULL && seen->writer->seq > node->snapshot_seq) {
            found_nameless(certifier, node, access, "it read what was committed after its snapshot");
        }
    }
    return backward;
}

static void match_overwritten(struct certifier *certifier, struct node *node, const struct install *install) {
    if (install->older != NULL && install->older->writer->seq > node->snapshot_seq) {
        struct access replaced = {
            .key = install->key, .table = install->table, .writer = install->older->writer->id};
        found_nameless(certifier, node, &replaced, "it overwrote what was committed after its snapshot");
    }
}

static bool link_installs(struct certifier *certifier, struct node *node) {
    bool backward = false;
    for (size_t i = 0; i < node->installs.count; i++) {
        struct install *install = &node->installs.items[i];
        if (!graph_link(&certifier->graph, install)) {
            install->newer->writer->held = true;
            backward = true;
        }
        if (certifier->promise == CERTIFIER_SI) {
            match_overwritten(certifier, node, install);
        }
    }
    return backward;
}

static void match_dead(struct certifier *certifier, struct node *node) {
    for (size_t i = 0; i < node->accesses.count; i++) {
        const struct access *access = &node->accesses.items[i];
        if (access->dead && certifier->promise >= CERTIFIER_RR) {
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
    graph_prune(&certifier->graph, closed_seq);
    for (struct node *node; (node = certifier->aborted.first) != NULL && node->seq <= closed_seq;) {
        node_list_remove(&certifier->aborted, node);
        graph_recycle(&certifier->graph, node);
    }
}

void certifier_commit(struct certifier *certifier, struct node *node) {
    if (certifier->record != NULL) {
        recording_line(certifier, "c %" PRIu64, node->id);
    }
    node_list_remove(&certifier->active, node);
    certifier->active_count--;
    certifier->counts.commits++;
    node->seq = ++certifier->seq;
    node->end_ns = *certifier->now_ns;
    node->state = NODE_COMMITTED;
    if (node->reads_dirty) {
        resolve_dirty(certifier, node);
    }
    if (node->reads_dead) {
        match_dead(certifier, node);
    }
    if (node->waiting.count > 0) {
        note_cyclic(certifier, node);
    }
    bool backward = match_reads(certifier, node);
    backward |= link_installs(certifier, node);
    graph_add(&certifier->graph, node);
    if (node->waiting.count > 0) {
        backward |= settle_readers(certifier, node);
    }
    if (node->scans.count > 0) {
        struct backward predicates = {.certifier = certifier};
        predicate_edges(&certifier->graph, node, hold, &predicates);
        backward |= predicates.any;
    }
    if (backward) {
        search(certifier, node);
    }
    node->waiting.count = 0;
    prune(certifier);
}

void certifier_abort(struct certifier *certifier, struct node *node) {
    if (certifier->record != NULL) {
        recording_line(certifier, "a %" PRIu64, node->id);
    }
    node_list_remove(&certifier->active, node);
    certifier->active_count--;
    for (size_t i = 0; i < node->waiting.count; i++) {
        struct node *reader = node->waiting.items[i].node;
        struct access *access = &reader->accesses.items[node->waiting.items[i].access];
        access->pending = false;
        access->gone = true;
        found_read(certifier, reader, access, FLAW_G1A);
    }
    if (node->installs.count > 0) {
        struct access first = {.key = node->installs.items[0].key, .table = node->installs.items[0].table, .writer = node->id};
        node->end_ns = *certifier->now_ns;
        found_nameless(certifier, node, &first, "it published what was then rolled back");
    }
    if (node->seen_dirty) {
        node->seq = ++certifier->seq;
        node->end_ns = *certifier->now_ns;
        node->state = NODE_ABORTED;
        node_list_append(&certifier->aborted, node);
    } else {
        graph_recycle(&certifier->graph, node);
    }
    prune(certifier);
}

/* ---- What came out ---- */

const struct certifier_counts *certifier_counts(const struct certifier *certifier) { return &certifier->counts; }

const char *certifier_witness(const struct certifier *certifier) { return text_string(&certifier->witness); }

size_t certifier_kept(const struct certifier *certifier) {
    size_t kept = certifier->graph.kept + certifier->active_count;
    for (const struct node *node = certifier->aborted.first; node != NULL; node = node->next) {
        kept++;
    }
    return kept;
}

uint64_t certifier_dropped(const struct certifier *certifier) { return certifier->graph.dropped; }
