/* txn.h - an attempt of a transaction as the mechanisms see it.
 *
 * One struct serves a transaction's attempts one after another: the id is the attempt's, the age the transaction's. Ids
 * outlive the attempt (versions and histories carry them), pointers do not: txn_find turns an id into the live attempt
 * or NULL.
 *
 * States, set by exec only:
 *   IDLE -> ACTIVE (begin) <-> WAITING (a call answered WAIT) ; ACTIVE -> SEALED (prepare answered OK) -> IDLE (commit,
 *   release) ; ACTIVE or WAITING -> IDLE (abort). `doomed` may be set in ACTIVE and WAITING only.
 *
 * `rows` are the rows this attempt met, in order of first meeting: each with what the attempt did to it and, for the
 * algorithms, the lock it holds there. `writes` are its versions in order of writing. */
#ifndef CCSIM_KIT_TXN_H
#define CCSIM_KIT_TXN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/memory.h"
#include "sim/store/level.h"
#include "sim/store/reason.h"
#include "sim/store/store.h"

enum txn_state { TXN_IDLE, TXN_ACTIVE, TXN_WAITING, TXN_SEALED };

struct lock;
struct predicate_lock;
struct cc;

/* A row as one attempt knows it. Pointers to it are good within one call only (the array may move). */
struct row {
    struct record *record;
    struct table *table;
    int64_t key;
    struct version *own;     /* the newest version this attempt wrote of it, or NULL */
    struct lock *lock;       /* held on the record, by the lock table */
    struct lock *gap;        /* held on the gap before it */
    uint64_t mark;           /* the algorithm's: a stamp, an index */
    uint32_t read_statement; /* number of the first statement that read it, 0: none */
    uint8_t note;            /* the algorithm's: a flag */
    bool visited;            /* its access was paid for */
    bool kept;               /* a duplicate key was met here: its read counts though the statement failed */
    bool claimed;            /* set by cc_ops.read: what the statement announced is granted, see cc.h */
};
_Static_assert(sizeof(struct row) == 64, "every access fills one");

/* One version written by an attempt, of its row of that number. */
struct write {
    struct version *version;
    struct version *before; /* the attempt's own version of the row until then, or NULL */
    uint32_t row;
};

/* A range that was scanned by statement `statement`, which began when the latest commit had `stamp`. */
struct scan {
    struct table *table;
    int64_t first, last;
    uint64_t stamp;
    uint32_t statement;
};

/* What the algorithm did, for the price list to turn into time; exec charges and zeroes it. */
struct work {
    uint32_t locks, searched, validated, hops;
};

/* What every access touches stands last, beside what the walker has of it (exec/world.h): few cache lines in a row. */
struct txn {
    uint64_t age;          /* order of the transaction's first begin; kept over restarts, smaller is older */
    uint32_t victim_count; /* times it was a deadlock victim, over all attempts */
    uint32_t back_to;      /* doomed, but only to go back: the first statement undone; 0: none */
    uint32_t backs;        /* times this attempt was sent back */
    bool condemned;        /* chosen as a victim by the search under way, which may yet spare it */
    bool first_attempt;
    bool read_only;         /* its program said that it will write nothing */
    bool deferrable;        /* and that it can wait for a snapshot that needs no watching */
    bool overdue;           /* its present wait has outlasted the delay of deadlock detection */
    uint32_t granule_count; /* how many of `rows` stand for granules of locking, not for rows */
    uint64_t search_mark;   /* of the latest search that visited it */
    struct txn *search_parent;
    struct txn *wait_next, *wait_previous; /* the algorithm's waiting transactions, in order of beginning to wait */
    struct predicate_lock *predicates, *predicate_queued; /* its predicate locks, the one it waits for */
    VECTOR(struct scan) scans;                            /* what it scanned, in order */
    void *tail;                                           /* the algorithm's txn_size bytes, zeroed at each begin */
    struct txn *snapshot_next, *snapshot_previous;        /* open snapshots, oldest first */
    uint64_t snapshot;                                    /* stamp it reads as of; 0: none taken */
    uint32_t *row_index;                                  /* open addressing over rows, once there are many */
    uint32_t row_index_size;
    uint32_t lock_count;
    uint64_t id;        /* of the attempt: serial << 24 | slot, never used again */
    uint32_t slot;      /* of its events */
    uint32_t statement; /* number of the current statement, from 1 */
    uint8_t state;      /* enum txn_state */
    bool doomed;
    uint8_t reason;     /* enum reason: why it was refused or doomed */
    uint8_t level;      /* enum level asked for */
    uint8_t intent;     /* enum intent: of the current statement; set by exec */
    bool in_statement;  /* is it under way? set by exec */
    bool ends_silently; /* cc_ops.statement_end is called for statements that failed only; set by exec */
    bool last_lock;     /* the statement takes its last new lock, as far as its program can tell; set by exec */
    bool plan_lost;     /* a statement failed: what its program told of its future counts no more */
    bool has_sparse;    /* some row has a sparse key, or may have one */
    bool locks_plainly; /* a read takes the lock of its row first, whatever it reads (locking.c) */
    struct work work;
    struct lock *held;   /* its locks, newest first (lock table) */
    struct lock *queued; /* the request it waits for, or NULL */
    VECTOR(struct row) rows;
    uint64_t row_filter; /* bit txn_filter_place set: that row may have been met */
    VECTOR(struct write) writes;
};

static inline uint32_t txn_row_number(const struct txn *txn, const struct row *row) {
    return (uint32_t)(row - txn->rows.items);
}

/* The number of the bit of row_filter that a row sets: of few rows, hardly any two share one. */
static inline unsigned txn_filter_place(const struct table *table, int64_t key) {
    return (unsigned)(((uint64_t)key + (uint64_t)(unsigned)table->index) % 64);
}
static inline bool txn_may_have_met(const struct txn *txn, const struct table *table, int64_t key) {
    return (txn->row_filter >> txn_filter_place(table, key) & 1) != 0;
}

/* The row of that key if this attempt met it, else NULL. */
struct row *txn_search_row(struct txn *txn, const struct table *table, int64_t key);
static inline struct row *txn_find_row(struct txn *txn, const struct table *table, int64_t key) {
    return txn_may_have_met(txn, table, key) ? txn_search_row(txn, table, key) : NULL;
}

/* Rows beyond which a hash index is kept. */
enum { TXN_INDEX_FROM = 24 };
void txn_index_last(struct txn *txn);

/* A row not met before. */
static inline struct row *txn_add_row(struct txn *txn, struct table *table, int64_t key, struct record *record) {
    struct row *row = vector_add(&txn->rows);
    *row = (struct row){.record = record, .table = table, .key = key};
    if (txn->rows.count > TXN_INDEX_FROM) {
        txn_index_last(txn);
    }
    return row;
}

/* The row of that key, added on first meeting (and its record pinned). */
static inline struct row *txn_row(struct txn *txn, struct store *store, struct table *table, int64_t key) {
    struct row *met = txn_find_row(txn, table, key);
    if (met != NULL) {
        return met;
    }
    txn->row_filter |= UINT64_C(1) << txn_filter_place(table, key);
    struct record *record = NULL;
    if (table_is_dense(table, key)) {
        record = store_dense_record(table, key);
    } else {
        record = store_record_sparse(store, table, key);
        txn->has_sparse = true;
    }
    return txn_add_row(txn, table, key, record);
}
/* The row behind the table's last key (key INT64_MAX), which owns the last gap. */
struct row *txn_row_of_end(struct txn *txn, struct table *table);

/* Notes a new version of `row`: links it above base, or keeps it private (base NULL), and lists it. */
static inline void txn_write(struct txn *txn, struct store *store, struct row *row, struct version *base, int64_t value,
                             bool absent) {
    struct version *version = store_new_version(store, txn->id, txn->statement, value, absent);
    if (base != NULL) {
        store_link(store, row->record, version, base);
    }
    *vector_add(&txn->writes) = (struct write){.version = version, .before = row->own, .row = txn_row_number(txn, row)};
    row->own = version;
}

/* Unlinks and frees the versions of statement `mark` and later, newest first. */
void txn_undo(struct txn *txn, struct store *store, uint32_t mark, bool private_writes);

/* Publishes the writes with a new stamp, private ones above the newest committed; reports each row's last version. */
void txn_publish(struct txn *txn, struct store *store, bool private_writes);

/* Forgets rows and writes: at the end of an attempt. */
void txn_clear(struct txn *txn, struct store *store);
void txn_free(struct txn *txn);

#endif
