/* certifier_parts.h - what the files of the certifier share. Private to check. */
#ifndef CCSIM_CHECK_CERTIFIER_PARTS_H
#define CCSIM_CHECK_CERTIFIER_PARTS_H

#include "sim/check/certifier.h"
#include "sim/check/cycle.h"
#include "sim/check/graph.h"

struct certifier {
    enum certifier_level promise;
    bool mixed;                 /* somebody asked for another level */
    enum certifier_level holds; /* then: what is left of the promise */
    bool excuses_aborted; /* reads of what was rolled back break nothing */
    const int64_t *now_ns;
    uint64_t seq; /* of the latest commit, or of an abort that left something to remember */
    struct graph graph;
    struct node_list active;    /* in order of beginning */
    struct node_list aborted;   /* those of whom somebody read something, until all who could have are gone */
    struct node_list refused;   /* those to be judged when all whom they overlapped have ended; in order of ending */
    uint64_t refused_begin_seq; /* the smallest of them */
    uint64_t latest_id;         /* of the attempts that have begun */
    size_t active_count;
    struct certifier_counts counts;
    struct cycle cycle;
    VECTOR(char *) tables;
    FILE *record;
    int64_t recorded_ns;
    struct text witness;
    bool witness_breaks; /* the witness is of a broken promise */
};

static inline struct node *find_in(const struct node_list *list, uint64_t id) {
    struct node *node = list->first;
    while (node != NULL && node->id != id) {
        node = node->next;
    }
    return node;
}

/* ---- witness.c: what went wrong, in words; kept if it is the first of its sort ---- */
void witness_cycle(struct certifier *certifier, const struct node *closer, enum flaw flaw, bool breaks);
void witness_read(struct certifier *certifier, const struct node *reader, const struct access *access, const char *what,
                  bool breaks);

/* ---- needless.c: refusals that no cycle demanded ---- */
/* The attempt was refused: it is judged later. */
void needless_keep(struct certifier *certifier, struct node *node);
/* An attempt has ended: judges those that overlap nobody under way any more. Before anything is forgotten. */
void needless_judge(struct certifier *certifier);

/* ---- recording.c: the history file ---- */
void recording_start(struct certifier *certifier);
void recording_table(struct certifier *certifier, int table);
void recording_line(struct certifier *certifier, const char *format, ...) __attribute__((format(printf, 2, 3)));
void recording_read(struct certifier *certifier, const struct node *txn, uint32_t statement,
                    const struct certifier_read *read);
void recording_scan(struct certifier *certifier, const struct node *txn, uint32_t statement,
                    const struct certifier_scan *scan);
void recording_install(struct certifier *certifier, const struct node *txn, const struct certifier_install *install);

#endif
