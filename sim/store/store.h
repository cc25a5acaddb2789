/* store.h - simulated data: tables of records, each a chain of versions.
 *
 * A row is (id, value): a 64-bit key and a 64-bit value. A table's *dense* keys, first_key .. first_key + rows - 1,
 * live in one
 * array that starts as untouched zero pages: a table of 10^8 rows costs nothing until its rows are used. Other keys
 * are *sparse*: a
 * skip list holds their records in order.
 * A record is the head of its chain, newest version first, followed by the algorithm's private tail (zero when the
 * algorithm has nothing to remember: an absent, unpinned sparse record with a zero tail is forgotten).
 *
 * Invariants
 *  1. A record with no version at all has its table's initial image, committed before time began.
 *  2. stamp 0 means uncommitted; committed stamps grow from older to newer along every chain (what was put or
 *     committed beneath a committed one excepted); the loader's stamp is 1.
 *  3. Uncommitted versions stand above all committed ones (timestamp ordering with Thomas's rule or several versions
 *     excepted, and algorithms that commit over what may be undone); the last of a chain is committed. Where old versions
 *     are not kept, those next to an uncommitted one are, as long as it is there.
 *  4. committed_sum is the sum of the newest committed values of the present rows: audits cost no scan.
 *  5. A version that nobody can see any more is freed: at once in single-version stores, else when no snapshot is as
 *     old as what superseded it (store_purge). In a heap it is dead from then on, and so is every linked version that
 *     was taken back; dead ones stay, as places that are passed, until store_vacuum.
 *  6. In a heap each record's tail ends with the number of versions that take up place there: those of its chain in
 *     which the row is present, and those taken back. */
#ifndef CCSIM_STORE_STORE_H
#define CCSIM_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/inline.h"
#include "sim/base/memory.h"
#include "sim/store/harness.h"

#define STORE_STAMP_LOADER UINT64_C(1)
#define STORE_STAMP_MOST   ((UINT64_C(1) << 40) - 1)

/* As small as can be, since every row that is touched has one: half a cache line. What stands above a version is found
 * from the newest down, near which those stand that are asked for. */
struct version {
    struct version *older;
    int64_t value;   /* 0 if absent */
    uint64_t writer; /* id of the attempt that wrote it; 0: the loader */
    union {
        struct {
            uint64_t stamp : 40;     /* commit order; 0: uncommitted */
            uint64_t statement : 23; /* number of the statement that wrote it (cut to 23 bits) */
            uint64_t absent : 1;     /* the row does not exist in this version */
        };
        uint64_t word; /* all three, to be written at once: version_word() */
    };
};
_Static_assert(sizeof(struct version) == 32, "two to a cache line");

/* Bit-fields are laid from the lowest bit up; store_init checks it. */
#define VERSION_ABSENT (UINT64_C(1) << 63)
static inline uint64_t version_word(uint64_t stamp, uint32_t statement, bool absent) {
    return (stamp & STORE_STAMP_MOST) | (uint64_t)statement << 41 >> 1 | (absent ? VERSION_ABSENT : 0);
}

struct record {
    struct version *newest; /* NULL: untouched, the table's initial image */
    /* the algorithm's tail follows: record_tail() */
};

struct table {
    const char *name;
    int index; /* position in the store */
    int64_t first_key, rows;
    int64_t initial_value;
    bool initially_absent;
    size_t stride; /* bytes of a dense record with its tail */
    char *dense;
    struct key_order *sparse;
    struct record *end;    /* stands behind the last key: the owner of the last gap */
    int64_t committed_sum; /* invariant 4 */
    int64_t committed_rows;
    int64_t *initial_values; /* NULL, or one a dense row (small tables, such as a schedule's) */
};

enum { STORE_TABLES_MAX = 16 };

struct store {
    struct table tables[STORE_TABLES_MAX];
    int table_count;
    size_t record_tail;    /* bytes of the algorithm's tail */
    bool keeps_versions;   /* superseded versions stay until store_purge */
    bool keeps_tombstones; /* so do absent newest versions */
    bool is_heap;          /* dead versions stay until store_vacuum */
    uint64_t stamp;        /* of the latest commit */
    uint64_t purged;       /* every snapshot in use, or yet to come, is at least as new as this stamp */
    size_t version_tail;   /* bytes of the algorithm's tail behind each version */
    struct pool versions;
    uint64_t
        extra_versions; /* stored beyond the newest committed one of each row: the gauge of the multiversion ones */
    struct {
        struct dead *items;
        size_t first, count, capacity; /* a ring */
    } dead;                            /* superseded versions in commit order */
    size_t retired;                    /* of them, in a heap: the first so many are needed by nobody */
    VECTOR(struct dead) debris;        /* in a heap: places of versions that were taken back */
    uint64_t removed;                  /* versions freed by store_purge and store_vacuum so far */
    const struct harness *harness;
};

void store_init(struct store *store, size_t record_tail, const struct harness *harness);
void store_free(struct store *store);

/* Gives every version a tail of the algorithm's, zero at first; before the first version is made. */
void store_widen_versions(struct store *store, size_t version_tail);

/* Dead versions stay until store_vacuum; before the first table is made. */
void store_become_heap(struct store *store);

/* A table of dense keys first_key .. first_key + rows - 1, all with `initial_value` (or absent). The name must
 * outlive it. */
struct table *store_add_table(struct store *store, const char *name, int64_t first_key, int64_t rows,
                              int64_t initial_value, bool absent);
/* A table beside those of the store, of absent rows: for records that carry nothing but an algorithm's tail. */
void table_init(const struct store *store, struct table *table, int64_t first_key, int64_t rows);
void table_free(struct table *table);
/* Gives one row an initial value of its own, or makes it absent; before the run only. */
void store_set_initial(struct store *store, struct table *table, int64_t key, int64_t value, bool absent);

static inline void *record_tail(struct record *record) { return record + 1; }
static inline void *version_tail(struct version *version) { return version + 1; }

/* The record of a key; a sparse key not met before gets one (absent), pinned until record_unpin. */
struct record *store_record_sparse(struct store *store, struct table *table, int64_t key);
static inline bool table_is_dense(const struct table *table, int64_t key) {
    return (uint64_t)key - (uint64_t)table->first_key < (uint64_t)table->rows;
}
static inline struct record *store_dense_record(const struct table *table, int64_t key) {
    return (struct record *)(void *)(table->dense + (size_t)(key - table->first_key) * table->stride);
}
static inline struct record *store_record(struct store *store, struct table *table, int64_t key) {
    return table_is_dense(table, key) ? store_dense_record(table, key) : store_record_sparse(store, table, key);
}

/* Hints that cost nothing if they are wrong: a record will be used soon (it may lie across two cache lines); a record
 * hinted at before will be used next. (Inline whatever the compiler thinks: a function that only fetches ahead has no
 * effect that it knows of, and its calls would go.) */
ALWAYS_INLINE void store_expect_dense(const struct table *table, uint64_t place) { /* counted from 0 */
    const char *record = table->dense + place * table->stride;
    __builtin_prefetch(record, 1);
    __builtin_prefetch(record + table->stride - 1, 1);
}
ALWAYS_INLINE void store_expect(const struct table *table, int64_t key) {
    if (table_is_dense(table, key)) {
        store_expect_dense(table, (uint64_t)key - (uint64_t)table->first_key);
    }
}
ALWAYS_INLINE void store_expect_next(const struct table *table, int64_t key) {
    if (table_is_dense(table, key)) {
        __builtin_prefetch(store_dense_record(table, key)->newest, 1);
    }
}

/* Each store_record of a sparse key must be matched by one store_release. Forgets the record if nothing is left of
 * it. */
void store_release_sparse(struct store *store, struct table *table, int64_t key, struct record *record);
static inline void store_release(struct store *store, struct table *table, int64_t key, struct record *record) {
    if (!table_is_dense(table, key)) {
        store_release_sparse(store, table, key, record);
    }
}

/* The first record with key >= `key` that bounds a gap: present in some version, uncommitted ones included, or for
 * which
 * `is_bound` says so (may be NULL). Sets *found; returns table->end, *found = INT64_MAX, if there is none. Does not
 * pin. */
struct record *store_next(struct store *store, struct table *table, int64_t key,
                          bool (*is_bound)(const struct record *), int64_t *found);

/* The newest version, committed or not; makes an untouched record's first one. */
struct version *store_touch(struct store *store, struct table *table, int64_t key, struct record *record);
static inline struct version *store_newest(struct store *store, struct table *table, int64_t key,
                                           struct record *record) {
    return record->newest != NULL ? record->newest : store_touch(store, table, key, record);
}

/* The newest committed version. */
struct version *store_committed(struct store *store, struct table *table, int64_t key, struct record *record);

/* A new uncommitted version, linked nowhere yet. */
static inline struct version *store_new_version(struct store *store, uint64_t writer, uint32_t statement, int64_t value,
                                                bool absent) {
    uint64_t word = version_word(0, statement, false);
    struct version *version = pool_get(&store->versions);
    if (__builtin_expect(absent, false)) {
        value = 0;
        word |= VERSION_ABSENT;
    }
    version->older = NULL;
    version->value = value;
    version->writer = writer;
    version->word = word;
    if (store->version_tail > 0) {
        memset(version + 1, 0, store->version_tail);
    }
    return version;
}

/* The version just above this one in its record's chain, or the nearest committed one above; NULL: there is none, or it is
 * linked nowhere. Takes time for each that stands above. */
struct version *store_above(const struct record *record, const struct version *version);
struct version *store_committed_above(const struct record *record, const struct version *version);

/* Links `version` just above `base` (a version of that record). */
void store_link_slowly(struct store *store, struct record *record, struct version *version, struct version *base);
static inline void store_link(struct store *store, struct record *record, struct version *version,
                              struct version *base) {
    if (record->newest != base || store->is_heap) {
        store_link_slowly(store, record, version, base);
        return;
    }
    version->older = base;
    record->newest = version;
}

/* Unlinks and frees a linked version that was never committed; in a heap its place stays taken. */
void store_discard(struct store *store, struct table *table, int64_t key, struct record *record,
                   struct version *version);

/* Commits one version that is linked with `stamp` (at most STORE_STAMP_MOST); what it supersedes goes, or is kept for
 * snapshots. */
void store_install_slowly(struct store *store, struct table *table, int64_t key, struct record *record,
                          struct version *version, uint64_t stamp);

/* Sums are modulo 2^64: on the way to a sum that fits they may not. */
static inline void table_add_to_sum(struct table *table, int64_t before, int64_t after) {
    table->committed_sum = (int64_t)((uint64_t)table->committed_sum + (uint64_t)after - (uint64_t)before);
}

/* The same where old versions are not kept. Mostly the only uncommitted version takes the place of the only committed one
 * (what is alone below it is: invariant 3). */
static inline void store_install_alone(struct store *store, struct table *table, int64_t key, struct record *record,
                                       struct version *version, uint64_t stamp) {
    struct version *superseded = version->older;
    uint64_t word = version->word;
    bool is_pending = (word & (STORE_STAMP_MOST | VERSION_ABSENT)) == 0; /* uncommitted, and present */
    if (!is_pending || record->newest != version || superseded->older != NULL) {
        store_install_slowly(store, table, key, record, version, stamp);
        return;
    }
    version->word = word | stamp;
    version->older = NULL;
    table_add_to_sum(table, superseded->value, version->value);
    if (superseded->absent) {
        table->committed_rows++;
    }
    pool_put(&store->versions, superseded);
}
static inline void store_install(struct store *store, struct table *table, int64_t key, struct record *record,
                                 struct version *version, uint64_t stamp) {
    if (store->keeps_versions) {
        store_install_slowly(store, table, key, record, version, stamp);
    } else {
        store_install_alone(store, table, key, record, version, stamp);
    }
}

/* Does a committed version stand above this one, in a store that keeps no old versions? Then it is of no use. */
bool store_is_obsolete(const struct store *store, const struct record *record, const struct version *version);

/* No snapshot needs what was superseded at or before `oldest`, the stamp of the oldest snapshot in use: frees it, or in
 * a heap leaves it to store_vacuum. */
void store_purge(struct store *store, uint64_t oldest);

/* Frees all that is dead in a heap. */
void store_vacuum(struct store *store);

/* Versions needed by nobody that take up place nevertheless. */
static inline uint64_t store_dead(const struct store *store) { return store->retired + store->debris.count; }
/* Is anything stored beyond the newest committed versions, needed or not? */
static inline bool store_has_old(const struct store *store) { return store->dead.count + store->debris.count > 0; }

/* Places in the heap that are passed on the way to `found`, a version of that record: all the others. Not in a heap:
 * 0. */
uint32_t store_bloat(const struct store *store, struct record *record, const struct version *found);

#endif
