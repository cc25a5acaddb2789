#include "sim/kit/writelock.h"

static struct writelock_txn *tail_of(const struct txn *txn) { return txn->tail; }
static struct writelock_head *head_of(const struct row *row) { return record_tail(row->record); }

bool writelock_bounds_gap(const struct record *record) {
    return ((const struct writelock_head *)(const void *)(record + 1))->holder != NULL;
}

bool writelock_is_others(const struct txn *txn, struct record *record) {
    const struct txn *holder = writelock_holder(record);
    return holder != NULL && holder != txn;
}

/* ---- Waiting ---- */

static void wait_no_more(struct txn *txn) {
    struct writelock_txn *tail = tail_of(txn);
    if (tail->awaited == NULL) {
        return;
    }
    struct writelock_txn *awaited = tail_of(tail->awaited);
    if (tail->previous != NULL) {
        tail_of(tail->previous)->next = tail->next;
    } else {
        awaited->first_waiter = tail->next;
    }
    if (tail->next != NULL) {
        tail_of(tail->next)->previous = tail->previous;
    } else {
        awaited->last_waiter = tail->previous;
    }
    tail->awaited = tail->next = tail->previous = NULL;
}

static enum cc_status wait_for(struct txn *txn, struct txn *holder) {
    struct writelock_txn *tail = tail_of(txn), *awaited = tail_of(holder);
    if (tail->awaited == holder) {
        return CC_WAIT;
    }
    wait_no_more(txn);
    tail->awaited = holder;
    tail->previous = awaited->last_waiter;
    if (awaited->last_waiter != NULL) {
        tail_of(awaited->last_waiter)->next = txn;
    } else {
        awaited->first_waiter = txn;
    }
    awaited->last_waiter = txn;
    return CC_WAIT;
}

enum cc_status writelock_await(struct txn *txn, struct row *row, enum patience patience) {
    struct txn *holder = head_of(row)->holder;
    if (holder == NULL || holder == txn) {
        wait_no_more(txn);
        return CC_OK;
    }
    if (patience == NOWAIT) {
        return txn_fail(txn, REASON_NOWAIT);
    }
    if (patience == SKIP_LOCKED) {
        return CC_SKIP;
    }
    return wait_for(txn, holder);
}

/* ---- Taking and giving up ---- */

static bool comes_before(const struct row *row, const struct row *other) {
    return row->table->index < other->table->index || (row->table == other->table && row->key < other->key);
}

/* The first row of the write set, in the order of keys, on which another holds the lock. */
static const struct row *first_taken(const struct txn *txn) {
    const struct row *first = NULL;
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        if (writelock_is_others(txn, row->record) && (first == NULL || comes_before(row, first))) {
            first = row;
        }
    }
    return first;
}

enum cc_status writelock_take(struct txn *txn) {
    const struct row *taken = first_taken(txn);
    for (size_t i = 0; i < txn->writes.count; i++) {
        struct row *row = &txn->rows.items[txn->writes.items[i].row];
        if (head_of(row)->holder == NULL && (taken == NULL || comes_before(row, taken))) {
            txn->work.locks++;
            head_of(row)->holder = txn;
        }
    }
    if (taken != NULL) {
        return wait_for(txn, head_of(taken)->holder);
    }
    wait_no_more(txn);
    return CC_OK;
}

void writelock_yield(struct cc *cc, struct txn *txn) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        struct writelock_head *head = head_of(&txn->rows.items[txn->writes.items[i].row]);
        if (head->holder == txn) {
            head->holder = NULL;
        }
    }
    struct writelock_txn *tail = tail_of(txn);
    while (tail->first_waiter != NULL) {
        struct txn *waiter = tail->first_waiter;
        wait_no_more(waiter);
        txn_wake(cc, waiter);
    }
}

void writelock_release(struct cc *cc, struct txn *txn) {
    wait_no_more(txn);
    writelock_yield(cc, txn);
}

void writelock_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    (void)cc;
    if (tail_of(waiting)->awaited != NULL && most > 0) {
        vector_push(out, tail_of(waiting)->awaited);
    }
}
