#include "sim/kit/validation.h"

struct version *validation_read(struct cc *cc, struct row *row) {
    struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    if (row->read_statement == 0) {
        row->mark = newest->stamp;
    }
    return row->own != NULL ? row->own : newest;
}

struct version *validation_base(struct cc *cc, struct row *row) {
    if (row->own != NULL) {
        return row->own;
    }
    struct version *newest = store_newest(cc->store, row->table, row->key, row->record);
    row->note |= newest->absent ? SEEN_ABSENT : SEEN_PRESENT;
    return newest;
}

static bool row_is_current(const struct txn *txn, const struct row *row, bool by_version) {
    uint64_t stamp = row->record->newest->stamp;
    return by_version ? stamp == row->mark : stamp <= txn->snapshot;
}

static bool has_versions(const struct record *record) { return record->newest != NULL; }

static bool row_passes(const struct txn *txn, const struct row *row, bool by_version,
                       bool (*is_others)(const struct txn *, struct record *)) {
    if (row->read_statement != 0 && !row_is_current(txn, row, by_version)) {
        return false;
    }
    if (row->note != 0 && row->note != (row->record->newest->absent ? SEEN_ABSENT : SEEN_PRESENT)) {
        return false;
    }
    bool counts = row->read_statement != 0 || row->note != 0;
    return !counts || is_others == NULL || !is_others(txn, row->record);
}

/* Did anything in the range change that the row-wise validation does not cover? */
static bool scan_is_current(struct cc *cc, struct txn *txn, const struct scan *scan, bool by_version,
                            bool (*is_others)(const struct txn *, struct record *)) {
    uint64_t since = by_version ? scan->stamp : txn->snapshot;
    int64_t key;
    struct record *record = store_next(cc->store, scan->table, scan->first, has_versions, &key);
    while (record != scan->table->end && key <= scan->last) {
        txn->work.validated++;
        const struct version *newest = record->newest;
        if (is_others != NULL && is_others(txn, record)) {
            return false;
        }
        if (newest != NULL && newest->stamp > since) {
            const struct row *row = txn_find_row(txn, scan->table, key);
            if (!by_version || row == NULL || row->read_statement != scan->statement || row->mark != newest->stamp) {
                return false;
            }
        }
        if (key == INT64_MAX) {
            break;
        }
        record = store_next(cc->store, scan->table, key + 1, has_versions, &key);
    }
    return true;
}

bool validation_passes(struct cc *cc, struct txn *txn, bool by_version,
                       bool (*is_others)(const struct txn *, struct record *)) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        txn->work.validated += row->read_statement != 0;
        if (!row_passes(txn, row, by_version, is_others)) {
            return false;
        }
    }
    for (size_t i = 0; i < txn->scans.count; i++) {
        if (!scan_is_current(cc, txn, &txn->scans.items[i], by_version, is_others)) {
            return false;
        }
    }
    return true;
}
