#include "sim/store/store.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/store/key_order.h"

/* What the commit with `stamp` left behind: the versions beneath `version`, or an absent newest one. */
struct dead {
    struct table *table;
    int64_t key;
    struct version *version; /* stays until this entry is dealt with, see remove_first; NULL: nothing is beneath it */
    uint64_t stamp;
};

/* At the end of a record's tail in a heap. */
struct heap_mark {
    uint64_t places;
};

void store_init(struct store *store, size_t record_tail_size, const struct harness *harness) {
    *store = (struct store){.record_tail = (record_tail_size + 7) / 8 * 8,
                            .stamp = STORE_STAMP_LOADER,
                            .purged = STORE_STAMP_LOADER,
                            .harness = harness};
    pool_init(&store->versions, sizeof(struct version));
    struct version laid = {.word = version_word(5, 3, true)};
    CHECK(laid.stamp == 5 && laid.statement == 3 && laid.absent);
}

void store_widen_versions(struct store *store, size_t version_tail) {
    store->version_tail = (version_tail + 7) / 8 * 8;
    pool_free(&store->versions);
    pool_init(&store->versions, sizeof(struct version) + store->version_tail);
}

void table_init(const struct store *store, struct table *table, int64_t first_key, int64_t rows) {
    size_t stride = sizeof(struct record) + store->record_tail;
    CHECK(rows >= 0);
    *table = (struct table){.first_key = first_key,
                            .rows = rows,
                            .initially_absent = true,
                            .stride = stride,
                            .dense = mem_map((size_t)rows, stride),
                            .sparse = key_order_new(stride),
                            .end = mem_new(1, stride)};
}

void table_free(struct table *table) {
    mem_unmap(table->dense, (size_t)table->rows, table->stride);
    mem_free(table->end);
    mem_free(table->initial_values);
    key_order_free(table->sparse);
}

void store_become_heap(struct store *store) {
    CHECK(store->table_count == 0 && !store->is_heap);
    store->is_heap = true;
    store->record_tail += sizeof(struct heap_mark);
}

void store_free(struct store *store) {
    for (int i = 0; i < store->table_count; i++) {
        table_free(&store->tables[i]);
    }
    pool_free(&store->versions);
    mem_free(store->dead.items);
    vector_free(&store->debris);
}

struct table *store_add_table(struct store *store, const char *name, int64_t first_key, int64_t rows,
                              int64_t initial_value, bool absent) {
    CHECK(store->table_count < STORE_TABLES_MAX);
    struct table *table = &store->tables[store->table_count];
    table_init(store, table, first_key, rows);
    table->name = name;
    table->index = store->table_count++;
    table->initial_value = initial_value;
    table->initially_absent = absent;
    table->committed_sum = absent ? 0 : initial_value * rows;
    table->committed_rows = absent ? 0 : rows;
    return table;
}

/* ---- Places in a heap ---- */

static uint64_t *places_of(const struct store *store, struct record *record) {
    char *end = (char *)record_tail(record) + store->record_tail;
    return &((struct heap_mark *)(void *)(end - sizeof(struct heap_mark)))->places;
}

static void take_place(const struct store *store, struct record *record, const struct version *version) {
    if (store->is_heap && !version->absent) {
        ++*places_of(store, record);
    }
}

static inline void free_place(const struct store *store, struct record *record, const struct version *version) {
    if (store->is_heap && !version->absent) {
        CHECK(*places_of(store, record) > 0);
        --*places_of(store, record);
    }
}

uint32_t store_bloat(const struct store *store, struct record *record, const struct version *found) {
    if (!store->is_heap) {
        return 0;
    }
    bool is_linked = found->stamp != 0 || found->older != NULL;
    return (uint32_t)(*places_of(store, record) - (is_linked && !found->absent));
}

void store_set_initial(struct store *store, struct table *table, int64_t key, int64_t value, bool absent) {
    struct record *record = store_record(store, table, key);
    struct version *version = store_newest(store, table, key, record);
    CHECK(version->writer == 0 && version->older == NULL);
    table_add_to_sum(table, version->absent ? 0 : version->value, absent ? 0 : value);
    table->committed_rows += (absent ? 0 : 1) - (version->absent ? 0 : 1);
    free_place(store, record, version);
    version->value = absent ? 0 : value;
    version->absent = absent;
    take_place(store, record, version);
    store_release(store, table, key, record);
}

/* ---- Records ---- */

struct record *store_record_sparse(struct store *store, struct table *table, int64_t key) {
    (void)store;
    struct key_node *node = key_order_find(table->sparse, key);
    if (node == NULL) {
        node = key_order_insert(table->sparse, key);
    }
    node->pins++;
    return node->record;
}

static bool only_absent(const struct record *record) {
    const struct version *newest = record->newest;
    return newest == NULL || (newest->absent && newest->stamp != 0 && newest->older == NULL);
}

/* Forgets a sparse record of which nothing is left: no attempt, no image, nothing the algorithm remembers. */
static void forget_if_empty(struct store *store, struct table *table, struct key_node *node) {
    static const char zeros[64];
    CHECK(store->record_tail <= sizeof zeros);
    struct record *record = node->record;
    if (node->pins > 0 || !only_absent(record) || memcmp(record_tail(record), zeros, store->record_tail) != 0) {
        return;
    }
    if (record->newest != NULL) {
        pool_put(&store->versions, record->newest);
    }
    key_order_remove(table->sparse, node);
}

void store_release_sparse(struct store *store, struct table *table, int64_t key, struct record *record) {
    if (record == table->end) {
        return;
    }
    struct key_node *node = key_order_find(table->sparse, key);
    CHECK(node != NULL && node->record == record && node->pins > 0);
    node->pins--;
    /* A tombstone that somebody may still have to see goes in store_purge. */
    if (record->newest == NULL || !store->keeps_tombstones || record->newest->stamp <= store->purged) {
        forget_if_empty(store, table, node);
    }
}

/* Does the record stand between two gaps? */
static bool bounds_gap(const struct table *table, const struct record *record, bool dense,
                       bool (*bounds)(const struct record *)) {
    if (record->newest == NULL ? dense && !table->initially_absent : !only_absent(record)) {
        return true;
    }
    return bounds != NULL && bounds(record);
}

struct record *store_next(struct store *store, struct table *table, int64_t key,
                          bool (*is_bound)(const struct record *), int64_t *found) {
    (void)store;
    int64_t last = table->first_key + table->rows - 1;
    struct key_node *node = key_order_from(table->sparse, key);
    while (node != NULL && !bounds_gap(table, node->record, false, is_bound)) {
        node = node->next[0];
    }
    for (int64_t k = key > table->first_key ? key : table->first_key; k <= last; k++) {
        if (node != NULL && node->key < k) {
            break;
        }
        struct record *record =
            (struct record *)(void *)(table->dense + (size_t)(k - table->first_key) * table->stride);
        if (bounds_gap(table, record, true, is_bound)) {
            *found = k;
            return record;
        }
    }
    *found = node != NULL ? node->key : INT64_MAX;
    return node != NULL ? node->record : table->end;
}

/* ---- Versions ---- */

struct version *store_touch(struct store *store, struct table *table, int64_t key, struct record *record) {
    if (record->newest == NULL) {
        bool absent = !table_is_dense(table, key) || table->initially_absent;
        struct version *version = store_new_version(store, 0, 0, absent ? 0 : table->initial_value, absent);
        version->stamp = STORE_STAMP_LOADER;
        record->newest = version;
        take_place(store, record, version);
    }
    return record->newest;
}

struct version *store_committed(struct store *store, struct table *table, int64_t key, struct record *record) {
    struct version *version = store_newest(store, table, key, record);
    while (version->stamp == 0) {
        version = version->older;
    }
    return version;
}

struct version *store_above(const struct record *record, const struct version *version) {
    struct version *above = NULL, *at = record->newest;
    for (; at != NULL && at != version; at = at->older) {
        above = at;
    }
    return at != NULL ? above : NULL;
}

struct version *store_committed_above(const struct record *record, const struct version *version) {
    struct version *above = NULL, *at = record->newest;
    for (; at != NULL && at != version; at = at->older) {
        above = at->stamp != 0 ? at : above;
    }
    return at != NULL ? above : NULL;
}

void store_link_slowly(struct store *store, struct record *record, struct version *version, struct version *base) {
    take_place(store, record, version);
    struct version *above = store_above(record, base);
    version->older = base;
    *(above != NULL ? &above->older : &record->newest) = version;
}

static void unlink_version(struct record *record, struct version *version) {
    struct version *above = store_above(record, version);
    if (above != NULL) {
        above->older = version->older;
    } else if (record->newest == version) {
        record->newest = version->older;
    }
}

static bool is_committed(const struct version *version) { return version == NULL || version->stamp != 0; }

/* In a store without old versions: frees what the newest committed version has superseded. What stands next to an
 * uncommitted version stays until that is gone too: that one will be installed between its neighbours. */
static void collapse(struct store *store, struct record *record) {
    struct version *above = record->newest;
    while (above->stamp == 0) {
        above = above->older;
    }
    for (struct version *older, *next = above->older; next != NULL; next = older) {
        older = next->older;
        if (next->stamp != 0 && is_committed(above) && is_committed(older)) {
            above->older = older;
            pool_put(&store->versions, next);
        } else {
            above = next;
        }
    }
}

bool store_is_obsolete(const struct store *store, const struct record *record, const struct version *version) {
    return record->newest != version && !store->keeps_versions && store_committed_above(record, version) != NULL;
}

void store_discard(struct store *store, struct table *table, int64_t key, struct record *record,
                   struct version *version) {
    CHECK(version->stamp == 0);
    struct version *above = store->keeps_versions ? NULL : store_committed_above(record, version);
    unlink_version(record, version);
    if (store->is_heap && !version->absent) {
        struct dead place = {.table = table, .key = key};
        vector_push(&store->debris, place);
        store->extra_versions++;
    }
    pool_put(&store->versions, version);
    if (above != NULL) {
        collapse(store, record);
    }
}

static void note_dead(struct store *store, struct dead entry) {
    if (store->dead.count == store->dead.capacity) {
        size_t old = store->dead.capacity;
        size_t capacity = old == 0 ? 64 : old * 2;
        store->dead.items = mem_resize(store->dead.items, capacity, sizeof *store->dead.items);
        /* the part that had wrapped round moves behind the rest */
        memcpy(store->dead.items + old, store->dead.items, store->dead.first * sizeof *store->dead.items);
        store->dead.capacity = capacity;
    }
    store->dead.items[(store->dead.first + store->dead.count++) & (store->dead.capacity - 1)] = entry;
}

static inline void account(struct table *table, const struct version *superseded, const struct version *version) {
    table_add_to_sum(table, superseded->value, version->value);
    table->committed_rows += (int64_t)superseded->absent - (int64_t)version->absent;
}

void store_install_slowly(struct store *store, struct table *table, int64_t key, struct record *record,
                          struct version *version, uint64_t stamp) {
    CHECK(version->stamp == 0 && version->older != NULL);
    struct version *above = store_committed_above(record, version);
    version->stamp = stamp & STORE_STAMP_MOST;
    if (above != NULL && !store->keeps_versions) { /* obsolete at once: one above it was committed first */
        collapse(store, record);
        return;
    }
    struct version *superseded = version->older;
    while (superseded->stamp == 0) {
        superseded = superseded->older;
    }
    if (above == NULL) {
        account(table, superseded, version);
    }
    if (store->keeps_versions || (store->keeps_tombstones && version->absent)) {
        store->extra_versions += store->keeps_versions;
        bool superseding = store->keeps_versions && above == NULL;
        note_dead(store, (struct dead){table, key, superseding ? version : NULL, stamp});
    }
    if (!store->keeps_versions) {
        collapse(store, record);
    }
}

/* The record of an entry's key if it is still there; *node: its node if the key is sparse. */
static struct record *find_again(const struct dead *entry, struct key_node **node) {
    *node = NULL;
    if (table_is_dense(entry->table, entry->key)) {
        return store_dense_record(entry->table, entry->key);
    }
    *node = key_order_find(entry->table->sparse, entry->key);
    return *node != NULL ? (*node)->record : NULL;
}

/* Frees what stands below a version that every snapshot can see. */
static void trim(struct store *store, struct record *record, struct version *version) {
    struct version *garbage = version->older;
    version->older = NULL;
    while (garbage != NULL) {
        struct version *next = garbage->older;
        CHECK(garbage->stamp != 0);
        free_place(store, record, garbage);
        pool_put(&store->versions, garbage);
        store->extra_versions--;
        store->removed++;
        garbage = next;
    }
}

/* The first entry of the ring, which no snapshot is older than. Entries come in order of commit, so that a version which
 * superseded others goes after its own entry: with that of a version above it, committed later. One committed beneath a
 * committed one goes earlier, with that one's entry; its own has nothing to free. So nothing is searched for: a hot row
 * whose thousands of versions are all still needed but the oldest costs no more than any other. */
static void remove_first(struct store *store) {
    struct dead entry = store->dead.items[store->dead.first];
    store->dead.first = (store->dead.first + 1) & (store->dead.capacity - 1);
    store->dead.count--;
    struct key_node *node;
    struct record *record = find_again(&entry, &node);
    if (entry.version != NULL) {
        trim(store, record, entry.version);
    }
    if (node != NULL && record->newest != NULL) { /* else an earlier entry of the same key ended it */
        forget_if_empty(store, entry.table, node);
    }
}

void store_purge(struct store *store, uint64_t oldest) {
    store->purged = oldest;
    const size_t mask = store->dead.capacity - 1;
    if (store->is_heap) {
        while (store->retired < store->dead.count &&
               store->dead.items[(store->dead.first + store->retired) & mask].stamp <= oldest) {
            store->retired++;
        }
        return;
    }
    while (store->dead.count > 0 && store->dead.items[store->dead.first].stamp <= oldest) {
        remove_first(store);
    }
}

void store_vacuum(struct store *store) {
    for (; store->retired > 0; store->retired--) {
        remove_first(store);
    }
    for (size_t i = 0; i < store->debris.count; i++) {
        struct dead place = store->debris.items[i];
        struct key_node *node;
        struct record *record = find_again(&place, &node);
        CHECK(record != NULL && *places_of(store, record) > 0); /* a taken place keeps its record */
        --*places_of(store, record);
        store->extra_versions--;
        store->removed++;
        if (node != NULL) {
            forget_if_empty(store, place.table, node);
        }
    }
    store->debris.count = 0;
}
