/* graph.h - the serialization graph of a run (Adya 1999): what the certifier keeps of the history. Private to check.
 *
 * A node is an attempt: its log of reads, scans and installs while it runs, a vertex of the graph once it has
 * committed.
 * Edges are not stored. The installs of a row form a chain in version order, and the edges out of a node follow from
 * it:
 *   ww   to the writer of the version after one that the node installed
 *   wr   to the readers of a version that it installed
 *   rw   to the writer of the version after one that it read; of a scan, to the writer of a later version that
 *   enters or
 *        leaves the range ("predicate")
 * Readers hang on versions in an index that is brought up to date only when a search needs it: a history in which
 * commit order is serialization order never pays for it.
 *
 * Commits are numbered (seq). An edge to a node that committed earlier points *backward*. All edges that a commit adds
 * touch the node that commits, so a new cycle passes through it and leaves it by a backward edge: no backward edge, no
 * search.
 *
 * What is forgotten. A node is *closed* when every attempt that was running at its commit has ended. Who begins after a
 * node's commit neither reads a version that it superseded nor writes beneath it (the certifier reports a `dead`
 * read as
 * a fault of its own), so a closed node gets no further edge from transactions to come: a new cycle can reach it only
 * along edges that exist, from a node that is not closed. Closed nodes not reachable so are therefore in no new cycle
 * and are forgotten, their versions too; a row of which no version is left is one with an old, certain content.
 * Invariants
 *  1. The nodes stand in commit order. A node with an edge from a later one is `held`.
 *  2. If the first node is closed and not held, no node kept has an edge to it: it goes at once. Otherwise all nodes
 *  are
 *     searched from those that are not closed, each time their number has doubled since.
 *  3. What is forgotten of a chain is its older end: a version's writer leads to the writers of all later ones.
 * Under weak levels and heavy contention backward edges can chain for ever. Then the oldest closed nodes are dropped
 * once
 * there are many more of them than of open ones (graph->dropped counts them): only circles longer than that are
 * missed. */
#ifndef CCSIM_CHECK_GRAPH_H
#define CCSIM_CHECK_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/condition.h"
#include "sim/base/inline.h"
#include "sim/base/memory.h"

enum access_kind {
    ACCESS_READ,   /* a row, by key or matched by a scan */
    ACCESS_ABSENT, /* a key that was not there: a predicate */
    ACCESS_PEEK,   /* visited by a scan and not matched */
    ACCESS_OWN     /* the reader's own version, visited by a scan */
};

/* Plain fields: bit fields cost more than the bytes they save, here and in struct install. */
struct access {
    int64_t key;
    uint64_t writer;            /* of the version seen; 0: the loader */
    uint64_t seq;               /* commits before it was read */
    uint32_t statement, number; /* number: of the version among its writer's */
    uint16_t table;
    uint8_t kind; /* enum access_kind */
    bool dirty;   /* the writer had not committed */
    bool dead;    /* superseded before the reader began */
    bool kept;    /* counts although its statement failed */
    bool pending; /* the reader has committed, the writer has not ended */
    bool gone;    /* what was seen never became a version of the history */
};

struct node;

struct reader {
    struct reader *next;
    struct node *node;
    int64_t key;
};

/* A version that a transaction leaves behind. */
struct install {
    int64_t key; /* what a search for a row looks at comes first */
    uint32_t number;
    uint16_t table;
    bool before_absent, after_absent;
    struct install *older, *newer; /* in version order, among those kept */
    struct install *next_row;      /* of the newest of a row: the newest of the next row of its bucket */
    struct node *writer;
    uint64_t behind; /* writer of the version before it */
    union {
        uint64_t under;         /* until it is linked: writer of the committed one above it; 0: none */
        struct reader *readers; /* from then on */
    };
    int64_t before, after;
};

struct scan {
    int64_t first, last;
    struct condition condition;
    uint64_t start_seq, end_seq;
    size_t from, to; /* its accesses, in ascending order of keys */
    uint32_t statement;
    uint16_t table;
};

/* A committed reader of a version whose writer has not ended. */
struct waiting_reader {
    struct node *node;
    size_t access;
    bool cyclic; /* it was on a cycle before */
};

enum node_state { NODE_ACTIVE, NODE_COMMITTED, NODE_ABORTED };
enum { NODE_MARKS = 4 };

/* What every read touches is a cache line, what a commit touches mostly is the next. */
struct node {
    _Alignas(MEMORY_LINE) uint64_t id;
    uint64_t begin_seq;
    size_t statement_from;
    uint64_t statement_seq;
    VECTOR(struct access) accesses;
    uint8_t state;
    uint8_t level; /* enum certifier_level: what it asked for */
    bool held, indexed;
    bool seen_dirty; /* somebody read a version of it before it ended */
    bool reads_dirty, reads_dead;
    bool has_snapshot;

    VECTOR(struct install) installs;
    uint64_t seq, snapshot_seq;
    struct node *previous, *next; /* in the list of its state */
    uint32_t named;               /* bit set of enum anomaly: what it is counted as */
    bool counted, owed, broke;    /* its commit is among the anomalies, the broken levels, the broken promises */

    int64_t begin_ns, end_ns;
    VECTOR(struct scan) scans;
    VECTOR(struct waiting_reader) waiting;
    struct node *scan_previous, *scan_next; /* committed nodes with scans */
    uint64_t judged_after;                  /* of a refused one: the latest attempt that had begun when it ended */
    uint64_t marks[NODE_MARKS];             /* of the latest search that came here, by its state */
};

struct node_list {
    struct node *first, *last;
};

enum edge_kind { EDGE_WW, EDGE_WR, EDGE_RW, EDGE_RW_PREDICATE };

struct edge {
    struct node *from, *to;
    enum edge_kind kind;
    uint16_t table;
    int64_t key;
};

/* A node reached by a search. */
struct visit {
    struct edge by;
    size_t parent;
    int state;
};

struct graph {
    /* A hash of the rows that have versions, each as its newest one. There are four times as many buckets as rows: most
     * are empty, so that a look is short and ends as is foreseen. */
    struct install **buckets;
    unsigned bucket_shift;      /* bits of a hash that are not the number of a bucket */
    size_t row_count, row_most; /* with more there are more buckets */
    struct node_list committed;
    struct node_list scanners; /* linked by scan_previous, scan_next */
    size_t kept;               /* committed nodes */
    size_t sweep_at;
    struct node *unindexed; /* the first one whose reads are not in the index */
    uint64_t search;        /* number of the latest one */
    uint64_t dropped;
    struct pool nodes;
    struct node *free_nodes; /* their vectors are kept */
    struct pool readers;
    VECTOR(struct visit) visits;
};

void graph_init(struct graph *graph);
void graph_free(struct graph *graph);

struct node *graph_node(struct graph *graph); /* empty, in no list */
void graph_recycle(struct graph *graph, struct node *node);
void node_list_append(struct node_list *list, struct node *node);
void node_list_remove(struct node_list *list, struct node *node);

/* The version that was seen (NULL: forgotten), and the one after it, or NULL if it is the newest. */
struct install *graph_after(const struct graph *graph, const struct access *access, struct install **seen);

/* The newest version of the row that is kept, or NULL. */
struct install *graph_newest(const struct graph *graph, uint32_t table, int64_t key);
/* Is what was seen above the version of `base`? Forgotten versions are beneath all that are kept. */
bool graph_is_above(const struct graph *graph, const struct access *access, uint64_t base);

/* The writer of the version beneath the one of `under`, or of the newest if that is 0; 0: the loader, or forgotten. */
uint64_t graph_writer_beneath(const struct graph *graph, uint32_t table, int64_t key, uint64_t under);

/* Is the access one that makes edges? */
static inline bool access_counts(const struct access *access) {
    return access->kind <= ACCESS_ABSENT && !access->pending && !access->gone;
}

static inline size_t graph_bucket_count(const struct graph *graph) { return (size_t)1 << (64 - graph->bucket_shift); }
/* Keys mostly come in sequence: multiplied so they are spread evenly (Knuth's Fibonacci hashing). */
static inline struct install **graph_bucket(const struct graph *graph, uint32_t table, int64_t key) {
    uint64_t hash = ((uint64_t)key + ((uint64_t)table << 48)) * UINT64_C(0x9e3779b97f4a7c15);
    return &graph->buckets[hash >> graph->bucket_shift];
}

/* The row's bucket, and what is in it, will be needed soon. */
ALWAYS_INLINE void graph_expect(const struct graph *graph, uint32_t table, int64_t key) {
    __builtin_prefetch(*graph_bucket(graph, table, key), 1);
}
/* Puts a version into its row's chain; one on top of the loader's stands behind the newest. False if others stand
 * above it. */
bool graph_link(struct graph *graph, struct install *install);

/* Takes a committed node in, as the newest. */
void graph_add(struct graph *graph, struct node *node);
/* A reader whose pending access was resolved: to be indexed again. */
void graph_index_late(struct graph *graph, struct node *node, size_t number);

/* Forgets what is in no new cycle. All nodes with seq <= closed_seq are closed. */
void graph_prune(struct graph *graph, uint64_t closed_seq);

/* The edges out of a committed node. `visit` may not change the graph. */
void graph_edges(struct graph *graph, struct node *node, void (*visit)(void *context, const struct edge *edge),
                 void *context);

/* Brings the index of readers up to date: before a search. */
void graph_index(struct graph *graph);

/* ---- predicate.c ---- */
/* The predicate edges out of `node`: what its scans missed; true if there are any. */
bool predicate_edges(struct graph *graph, struct node *node, void (*visit)(void *context, const struct edge *edge),
                     void *context);
/* Scans of others that saw a row leave by a version of `node`. */
void predicate_seen(struct graph *graph, struct node *node, void (*visit)(void *context, const struct edge *edge),
                    void *context);
/* Did a scan of `node` see the row leave by that version? */
bool predicate_saw_leave(const struct node *node, const struct install *install);
/* Would a version, not linked, that stands just above the one of `install->behind` change what a scan of `node` found? */
bool predicate_would_change(const struct graph *graph, const struct node *node, const struct install *install);
/* Does the version change whether the row is in the scan's range? */
bool predicate_changes(const struct scan *scan, const struct install *install);

#endif
