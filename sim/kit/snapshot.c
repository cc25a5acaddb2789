#include "sim/kit/snapshot.h"

#include "sim/base/check.h"
#include "sim/kit/versions.h"

void snapshot_open(struct cc *cc, struct txn *txn) {
    if (txn->snapshot != 0) {
        return;
    }
    txn->snapshot = cc->store->stamp;
    txn->snapshot_next = NULL;
    txn->snapshot_previous = cc->snapshot_last;
    if (cc->snapshot_last != NULL) {
        cc->snapshot_last->snapshot_next = txn;
    } else {
        cc->snapshot_first = txn;
    }
    cc->snapshot_last = txn;
}

void snapshot_close(struct cc *cc, struct txn *txn) {
    if (txn->snapshot != 0) {
        if (txn->snapshot_previous != NULL) {
            txn->snapshot_previous->snapshot_next = txn->snapshot_next;
        } else {
            cc->snapshot_first = txn->snapshot_next;
        }
        if (txn->snapshot_next != NULL) {
            txn->snapshot_next->snapshot_previous = txn->snapshot_previous;
        } else {
            cc->snapshot_last = txn->snapshot_previous;
        }
        txn->snapshot = 0;
    }
    versions_settle(cc);
}

struct version *snapshot_version(struct cc *cc, struct txn *txn, struct row *row) {
    if (row->own != NULL) {
        return row->own;
    }
    struct version *version = store_newest(cc->store, row->table, row->key, row->record);
    uint32_t passed = 0;
    while (version->stamp == 0 || version->stamp > txn->snapshot) {
        passed++;
        version = version->older;
        CHECK(version != NULL);
    }
    versions_walked(cc, txn, passed);
    return version;
}
