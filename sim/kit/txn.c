#include "sim/kit/txn.h"

#include <string.h>

#include "sim/base/check.h"

static inline uint32_t index_place(const struct txn *txn, const struct table *table, int64_t key) {
    uint64_t hash = ((uint64_t)key * 32 + (uint64_t)(unsigned)table->index) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32) & (txn->row_index_size - 1);
}

/* ---- The index: row number + 1 at the hash, 0 where free ---- */

static void index_add(struct txn *txn, uint32_t number) {
    const struct row *row = &txn->rows.items[number];
    uint32_t at = index_place(txn, row->table, row->key);
    while (txn->row_index[at] != 0) {
        at = (at + 1) & (txn->row_index_size - 1);
    }
    txn->row_index[at] = number + 1;
}

static void index_rebuild(struct txn *txn) {
    uint32_t wanted = 64;
    while (wanted < txn->rows.count * 4) {
        wanted *= 2;
    }
    if (wanted > txn->row_index_size) {
        txn->row_index = mem_resize(txn->row_index, wanted, sizeof *txn->row_index);
        txn->row_index_size = wanted;
    }
    memset(txn->row_index, 0, txn->row_index_size * sizeof *txn->row_index);
    for (uint32_t i = 0; i < txn->rows.count; i++) {
        index_add(txn, i);
    }
}

struct row *txn_search_row(struct txn *txn, const struct table *table, int64_t key) {
    if (txn->rows.count <= TXN_INDEX_FROM) {
        for (size_t i = 0; i < txn->rows.count; i++) {
            struct row *row = &txn->rows.items[i];
            if (row->key == key && row->table == table) {
                return row;
            }
        }
        return NULL;
    }
    uint32_t at = index_place(txn, table, key);
    for (; txn->row_index[at] != 0; at = (at + 1) & (txn->row_index_size - 1)) {
        struct row *row = &txn->rows.items[txn->row_index[at] - 1];
        if (row->key == key && row->table == table) {
            return row;
        }
    }
    return NULL;
}

void txn_index_last(struct txn *txn) {
    uint32_t count = (uint32_t)txn->rows.count;
    if (count == TXN_INDEX_FROM + 1 || count * 2 > txn->row_index_size) {
        index_rebuild(txn);
    } else {
        index_add(txn, count - 1);
    }
}

struct row *txn_row_of_end(struct txn *txn, struct table *table) {
    struct row *row = txn_find_row(txn, table, INT64_MAX);
    if (row != NULL) {
        return row;
    }
    txn->row_filter |= UINT64_C(1) << txn_filter_place(table, INT64_MAX);
    txn->has_sparse = true;
    return txn_add_row(txn, table, INT64_MAX, table->end);
}

/* ---- Writes ---- */

static void drop_version(struct store *store, const struct row *row, struct version *version, bool private_writes) {
    if (private_writes) {
        pool_put(&store->versions, version);
    } else {
        store_discard(store, row->table, row->key, row->record, version);
    }
}

void txn_undo(struct txn *txn, struct store *store, uint32_t mark, bool private_writes) {
    while (txn->writes.count > 0) {
        struct write *write = &txn->writes.items[txn->writes.count - 1];
        if (write->version->statement < (mark & 0x7fffff)) {
            break;
        }
        struct row *row = &txn->rows.items[write->row];
        CHECK(row->own == write->version);
        row->own = write->before;
        drop_version(store, row, write->version, private_writes);
        txn->writes.count--;
    }
}

/* Is it the last one of its row? */
static inline bool is_last(const struct row *row, const struct write *write) { return row->own == write->version; }

static void publish_each(struct txn *txn, struct store *store, bool private_writes, uint64_t stamp) {
    const struct harness *harness = store->harness;
    bool is_watched = harness->installing != NULL;
    for (size_t i = 0; i < txn->writes.count; i++) { /* these lie anywhere */
        const struct write *write = &txn->writes.items[i];
        __builtin_prefetch(write->version->older, 1);
        __builtin_prefetch(txn->rows.items[write->row].lock, 1);
    }
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct write *write = &txn->writes.items[i];
        const struct row *row = &txn->rows.items[write->row];
        if (!is_last(row, write)) {
            drop_version(store, row, write->version, private_writes);
            continue;
        }
        if (private_writes) {
            struct version *base = store_newest(store, row->table, row->key, row->record);
            store_link(store, row->record, row->own, base);
        }
        if (is_watched) {
            harness->installing(harness->world, txn, row);
        }
        store_install(store, row->table, row->key, row->record, row->own, stamp);
    }
}

/* The usual case, for speed: linked versions that nobody watches, and of each row only the newest is kept. */
static void publish_alone(const struct txn *txn, struct store *store, uint64_t stamp) {
    const struct write *write = txn->writes.items, *end = write + txn->writes.count;
    const struct row *rows = txn->rows.items;
    for (; write < end; write++) {
        const struct row *row = &rows[write->row];
        __builtin_prefetch(row->lock, 1); /* it goes next */
        if (is_last(row, write)) {
            store_install_alone(store, row->table, row->key, row->record, write->version, stamp);
        } else {
            drop_version(store, row, write->version, false);
        }
    }
}

/* Only the last version of each row is installed; the attempt's earlier ones, which come before it, leave the chain. */
void txn_publish(struct txn *txn, struct store *store, bool private_writes) {
    if (txn->writes.count == 0) {
        return;
    }
    uint64_t stamp = ++store->stamp;
    CHECK(stamp <= STORE_STAMP_MOST);
    if (private_writes || store->keeps_versions || store->harness->installing != NULL) {
        publish_each(txn, store, private_writes, stamp);
    } else {
        publish_alone(txn, store, stamp);
    }
}

static void release_rows(struct txn *txn, struct store *store) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        store_release(store, row->table, row->key, row->record);
    }
}

void txn_clear(struct txn *txn, struct store *store) {
    CHECK(txn->held == NULL);
    if (txn->has_sparse) {
        release_rows(txn, store);
    }
    txn->rows.count = 0;
    txn->granule_count = 0;
    txn->writes.count = 0;
    txn->has_sparse = false;
    txn->scans.count = 0;
    txn->row_filter = 0;
}

void txn_free(struct txn *txn) {
    vector_free(&txn->rows);
    vector_free(&txn->writes);
    vector_free(&txn->scans);
    mem_free(txn->row_index);
}
