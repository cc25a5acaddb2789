/* certifier.c - takes the history in. While an attempt runs, its reads and installs are only noted: an abort costs
 * nothing.
 * What they come to is judged at its end (certifier_commit.c). */
#include "sim/check/certifier.h"

#include <inttypes.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/check/certifier_parts.h"

const char *const certifier_level_names[CERTIFIER_LEVELS] = {"RU", "RC", "RR", "SI", "SER"};

_Static_assert((int)SIGHT_ROW == (int)ACCESS_READ && (int)SIGHT_NO_ROW == (int)ACCESS_ABSENT &&
                   (int)SIGHT_NO_MATCH == (int)ACCESS_PEEK && (int)SIGHT_OWN_VERSION == (int)ACCESS_OWN,
               "one is stored as the other");

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
    struct node *lists[] = {certifier->active.first, certifier->aborted.first, certifier->refused.first};
    for (int i = 0; i < 3; i++) {
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

void certifier_excuse_aborted_reads(struct certifier *certifier) { certifier->excuses_aborted = true; }

/* ---- An attempt under way ---- */

struct node *certifier_begin(struct certifier *certifier, uint64_t id) {
    struct node *node = graph_node(&certifier->graph);
    node->id = id;
    node->level = (uint8_t)certifier->promise;
    node->begin_seq = certifier->seq;
    node->begin_ns = *certifier->now_ns;
    node_list_append(&certifier->active, node);
    certifier->active_count++;
    certifier->latest_id = id;
    if (certifier->record != NULL) {
        recording_line(certifier, "b %" PRIu64, id);
    }
    return node;
}

void certifier_level(struct certifier *certifier, struct node *txn, enum certifier_level level,
                     enum certifier_level holds) {
    CHECK(!txn->has_snapshot && level != certifier->promise);
    txn->level = (uint8_t)level;
    certifier->mixed = true;
    certifier->holds = holds;
    if (certifier->record != NULL) {
        recording_line(certifier, "l %" PRIu64 " %s %s", txn->id, certifier_level_names[level],
                       certifier_level_names[holds]);
    }
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

void certifier_read(struct certifier *certifier, struct node *txn, uint32_t statement,
                    const struct certifier_read *read) {
    uint64_t writer = read->writer;
    bool dirty = read->dirty && note_dirty(certifier, txn, writer);
    if (read->anew) {
        writer = graph_writer_beneath(&certifier->graph, read->table, read->key, read->under);
    }
    txn->reads_dead |= read->dead;
    *vector_add(&txn->accesses) = (struct access){.key = read->key,
                                                  .writer = writer,
                                                  .seq = certifier->seq,
                                                  .statement = statement,
                                                  .number = read->number,
                                                  .table = read->table,
                                                  .kind = read->sight,
                                                  .dirty = dirty,
                                                  .dead = read->dead,
                                                  .kept = read->kept};
    if (certifier->record != NULL) {
        recording_read(certifier, txn, statement, read);
    }
}

/* What is seldom is apart, here and at installs, and by value: then the usual case passes nothing through memory. */
static __attribute__((noinline)) void read_slowly(struct certifier *certifier, struct node *txn, uint32_t statement,
                                                  struct certifier_read read) {
    certifier_read(certifier, txn, statement, &read);
}

void certifier_read_row(struct certifier *certifier, struct node *txn, uint32_t statement, uint16_t table, int64_t key,
                        uint64_t writer, uint32_t number) {
    if (txn->accesses.count == txn->accesses.capacity || certifier->record != NULL) {
        struct certifier_read read = {.key = key, .writer = writer, .number = number, .table = table};
        read_slowly(certifier, txn, statement, read);
        return;
    }
    txn->accesses.items[txn->accesses.count++] = (struct access){.key = key,
                                                                 .writer = writer,
                                                                 .seq = certifier->seq,
                                                                 .statement = statement,
                                                                 .number = number,
                                                                 .table = table,
                                                                 .kind = ACCESS_READ};
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

void certifier_scan(struct certifier *certifier, struct node *txn, uint32_t statement,
                    const struct certifier_scan *scan) {
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
    if (txn->level < CERTIFIER_SI) {
        take_back(txn, mark, false);
    }
    if (certifier->record != NULL) {
        recording_line(certifier, "u %" PRIu64 " %" PRIu32, txn->id, mark);
    }
}

void certifier_back(struct certifier *certifier, struct node *txn, uint32_t mark) {
    take_back(txn, mark, false);
    if (certifier->record != NULL) {
        recording_line(certifier, "g %" PRIu64 " %" PRIu32, txn->id, mark);
    }
}

void certifier_install(struct certifier *certifier, struct node *txn, const struct certifier_install *install) {
    struct install *entry = vector_add(&txn->installs);
    entry->key = install->key;
    entry->writer = txn;
    entry->behind = install->behind;
    entry->under = install->under;
    entry->before = install->before;
    entry->after = install->after;
    entry->number = install->number;
    entry->table = install->table;
    entry->before_absent = install->before_absent;
    entry->after_absent = install->after_absent;
    graph_expect(&certifier->graph, install->table, install->key);
    if (certifier->record != NULL) {
        recording_install(certifier, txn, install);
    }
}

static __attribute__((noinline)) void install_slowly(struct certifier *certifier, struct node *txn,
                                                     struct certifier_install install) {
    certifier_install(certifier, txn, &install);
}

void certifier_install_row(struct certifier *certifier, struct node *txn, uint16_t table, int64_t key, uint64_t behind,
                           int64_t before, int64_t after, uint32_t number) {
    if (txn->installs.count == txn->installs.capacity || certifier->record != NULL) {
        struct certifier_install install = {
            .key = key, .behind = behind, .before = before, .after = after, .number = number, .table = table};
        install_slowly(certifier, txn, install);
        return;
    }
    struct install *entry = &txn->installs.items[txn->installs.count++];
    entry->key = key;
    entry->writer = txn;
    entry->behind = behind;
    entry->under = 0;
    entry->before = before;
    entry->after = after;
    entry->number = number;
    entry->table = table;
    entry->before_absent = entry->after_absent = false;
    graph_expect(&certifier->graph, table, key);
}

/* ---- What came out ---- */

const struct certifier_counts *certifier_counts(const struct certifier *certifier) { return &certifier->counts; }

const char *certifier_witness(const struct certifier *certifier) { return text_string(&certifier->witness); }

size_t certifier_kept(const struct certifier *certifier) {
    size_t kept = certifier->graph.kept + certifier->active_count;
    const struct node *lists[] = {certifier->aborted.first, certifier->refused.first};
    for (int i = 0; i < 2; i++) {
        for (const struct node *node = lists[i]; node != NULL; node = node->next) {
            kept++;
        }
    }
    return kept;
}

uint64_t certifier_dropped(const struct certifier *certifier) { return certifier->graph.dropped; }
