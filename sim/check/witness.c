/* witness.c - the first fault of a run in words: the transactions of the cycle, the rows, the edges, the times. */
#include <inttypes.h>

#include "sim/check/certifier_parts.h"

/* The first broken promise is kept, and before there is one the first anomaly. */
static bool is_wanted(struct certifier *certifier, bool breaks) {
    if (certifier->witness_breaks || (!breaks && certifier->witness.length > 0)) {
        return false;
    }
    certifier->witness_breaks = breaks;
    text_clear(&certifier->witness);
    return true;
}

static void add_row(struct certifier *certifier, unsigned table, int64_t key) {
    const char *name = table < certifier->tables.count ? certifier->tables.items[table] : NULL;
    if (name != NULL) {
        text_add(&certifier->witness, "%s %" PRId64, name, key);
    } else {
        text_add(&certifier->witness, "row %" PRId64 " of table %u", key, table);
    }
}

static void add_time(struct text *text, int64_t time_ns) {
    char number[32];
    text_add(text, "%s ms", text_number(number, (double)time_ns / 1e6));
}

static void add_span(struct certifier *certifier, const struct node *node) {
    struct text *text = &certifier->witness;
    text_add(text, "\n  T%" PRIu64 " began at ", node->id);
    add_time(text, node->begin_ns);
    text_add(text, " and committed at ");
    add_time(text, node->end_ns);
    if (certifier->mixed) {
        text_add(text, "; it asked for %s", certifier_level_names[node->level]);
    }
}

static void add_edge(struct certifier *certifier, const struct edge *edge) {
    static const char *const arrows[] = {
        [EDGE_WW] = "ww", [EDGE_WR] = "wr", [EDGE_RW] = "rw", [EDGE_RW_PREDICATE] = "rw"};
    static const char *const verbs[] = {[EDGE_WW] = "wrote over its version of",
                                        [EDGE_WR] = "read what it left of",
                                        [EDGE_RW] = "wrote over what it had read of",
                                        [EDGE_RW_PREDICATE] = "changed the range it had read, by"};
    text_add(&certifier->witness, "\n  T%" PRIu64 " -%s-> T%" PRIu64 ": T%" PRIu64 " %s ", edge->from->id,
             arrows[edge->kind], edge->to->id, edge->to->id, verbs[edge->kind]);
    add_row(certifier, edge->table, edge->key);
}

void witness_cycle(struct certifier *certifier, const struct node *closer, enum flaw flaw, bool breaks) {
    if (!is_wanted(certifier, breaks)) {
        return;
    }
    struct text *text = &certifier->witness;
    const struct cycle *cycle = &certifier->cycle;
    enum flaw nickname = cycle_nickname(cycle);
    text_add(text, "%s", flaw_texts[flaw].title);
    if (nickname != FLAW_COUNT) {
        text_add(text, " (%s)", flaw_texts[nickname].name);
    }
    text_add(text, "; T%" PRIu64 " closed it", closer->id);
    for (size_t i = 0; i < cycle->edges.count; i++) {
        add_edge(certifier, &cycle->edges.items[i]);
    }
    for (size_t i = 0; i < cycle->edges.count; i++) {
        add_span(certifier, cycle->edges.items[i].from);
    }
}

void witness_read(struct certifier *certifier, const struct node *reader, const struct access *access, const char *what,
                  bool breaks) {
    if (!is_wanted(certifier, breaks)) {
        return;
    }
    struct text *text = &certifier->witness;
    text_add(text, "%s\n  T%" PRIu64 " met T%" PRIu64 "'s version of ", what, reader->id, access->writer);
    add_row(certifier, access->table, access->key);
    add_span(certifier, reader);
}
