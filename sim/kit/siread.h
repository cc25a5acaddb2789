/* siread.h - what serializable snapshot isolation remembers: who read what, who wrote what, and the rw edges between
 * transactions that overlap.
 *
 * A `serial` is a transaction as others remember it. It outlives the commit until every transaction that overlapped it
 * has ended. Its marks lie on records (read, written or both) and on areas: a range that was scanned, a page or a table
 * to which too many marks were promoted.
 *
 * Edges T -rw-> U: T read a version that U, overlapping, superseded. Dangerous is Tin -rw-> pivot -rw-> Tout if Tout is
 * the first of the three to commit. Moments are those of one clock that goes on at each prepare and each commit; Tout
 * counts as first if it was prepared before the others had committed. That is the whole rule; two weaker ones serve to
 * show what it saves: SIREAD_COMMIT_ORDER knows nothing of read-only transactions, SIREAD_BASIC nothing of the order
 * either: whoever has an edge in and an edge out, whatever became of the other ends, may not commit.
 *
 * Invariants
 *  1. Two transactions with an edge overlap; an edge is in both lists or in none.
 *  2. A mark pins its record; marks of an aborted or forgotten transaction are gone.
 *  3. What a forgotten Tout meant for a pivot stays in the pivot: the earliest moments of those that are gone.
 * Cahill, Roehm, Fekete, "Serializable isolation for snapshot databases" (2008); Ports, Grittner, "Serializable
 * snapshot isolation in PostgreSQL" (2012). */
#ifndef CCSIM_KIT_SIREAD_H
#define CCSIM_KIT_SIREAD_H

#include "sim/kit/instance.h"
#include "sim/kit/lock.h"

enum siread_rule { SIREAD_BASIC, SIREAD_COMMIT_ORDER, SIREAD_READ_ONLY };

struct serial;
struct serial_list {
    struct serial **items;
    size_t count, capacity;
};

/* What one transaction did to one record. */
struct siread {
    struct siread *next, *previous;             /* on the record */
    struct siread *write_next, *write_previous; /* on the record, of those that write */
    struct siread *own_next;                    /* of the transaction */
    struct serial *owner;
    struct table *table;
    struct record *record;
    int64_t key;
    uint64_t stamp; /* of the version read */
    bool reads, writes;
};

/* What one transaction read as a whole: keys first .. last. */
struct siread_area {
    struct siread_area *next, *previous; /* of the table */
    struct siread_area *own_next, *own_previous;
    struct serial *owner;
    int64_t first, last;
    int table;
    bool page; /* a promotion, not a scan */
};

struct siread_page {
    int table;
    int64_t number, rows;
};

/* reader -rw-> writer */
struct siread_edge {
    struct serial *reader, *writer;
    struct siread_edge *in_next, *in_previous;   /* of the writer, in order of their coming */
    struct siread_edge *out_next, *out_previous; /* of the reader, likewise */
};

struct serial {
    struct serial *next, *previous;          /* all that are remembered */
    struct serial *committed_next;           /* in order of commit */
    struct txn *txn;                         /* NULL once it has ended */
    uint64_t id, begun, prepared, committed; /* moments; 0: not yet */
    uint64_t gone_prepared, gone_committed;  /* invariant 3; 0: none */
    bool read_only;                          /* declared, or committed without having written; if the rule asks */
    bool had_in, had_out;                    /* SIREAD_BASIC: there was an edge to it, from it */
    bool wrote, doomed, safe, unsafe;
    bool waits; /* for a safe snapshot */
    struct siread_edge *in_first, *in_last, *out_first, *out_last;
    struct serial_list watches;  /* of a read-only one: who could make its snapshot unsafe */
    struct serial_list watchers; /* the other way round */
    struct siread *marks;
    struct siread_area *areas;
    VECTOR(struct siread_page) pages;
};

struct siread_table {
    struct cc *cc;
    uint64_t clock;
    int64_t max_marks;
    enum siread_rule rule;
    struct serial *first, *committed_first, *committed_last;
    struct serial *free; /* forgotten ones, for the next that begin; with what their lists have grown to */
    struct siread_area *areas[STORE_TABLES_MAX];
    struct pool marks, area_pool, edges;
};

/* The tail of a record begins with it. */
struct siread_record {
    struct lock_head lock;
    struct siread *marks, *write_marks;
};

void siread_start(struct siread_table *table, struct cc *cc, int64_t max_marks, enum siread_rule rule);
void siread_stop(struct siread_table *table);

/* A transaction takes its snapshot. */
struct serial *siread_begin(struct siread_table *table, struct txn *txn);
/* Called for each that is active when read-only `serial` begins: it watches the one that may write. */
void siread_watch(struct serial *serial, struct serial *active);
/* All that have to be watched are: with none to watch the snapshot is safe. */
void siread_settle(struct siread_table *table, struct serial *serial);

/* `txn` reads version `seen` of `row`; false: it must die. */
bool siread_read(struct siread_table *table, struct serial *serial, struct row *row, const struct version *seen);
/* It reads all keys of a range. */
void siread_scan(struct siread_table *table, struct serial *serial, const struct table *of, int64_t first,
                 int64_t last);
/* It is about to supersede version `base` of `row`; false: it must die. */
bool siread_write(struct siread_table *table, struct serial *serial, struct row *row, const struct version *base);
/* False: it must die. */
bool siread_prepare(struct siread_table *table, struct serial *serial);
void siread_commit(struct siread_table *table, struct serial *serial);
void siread_abort(struct siread_table *table, struct serial *serial);
/* Forgets whom nobody overlaps: who committed before the moment `oldest`, when the oldest active snapshot was taken. */
void siread_forget(struct siread_table *table, uint64_t oldest);

#endif
