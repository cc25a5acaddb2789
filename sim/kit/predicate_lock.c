#include "sim/kit/predicate_lock.h"

#include "sim/base/check.h"

void predicate_locks_start(struct predicate_locks *locks) { pool_init(&locks->pool, sizeof(struct predicate_lock)); }

void predicate_locks_stop(struct predicate_locks *locks) { pool_free(&locks->pool); }

/* ---- Conflicts ---- */

static bool satisfies(const struct predicate_lock *predicate, int64_t key, struct image image) {
    return !image.absent && condition_holds(&predicate->condition, key, image.value);
}

bool predicate_may_match(const struct predicate_lock *predicate, const struct row *row, const struct version *newest) {
    for (const struct version *version = newest; version != NULL; version = version->older) {
        if (satisfies(predicate, row->key, (struct image){.value = version->value, .absent = version->absent})) {
            return true;
        }
        if (version->stamp != 0) {
            return false;
        }
    }
    return false;
}

static bool conflicts(const struct predicate_lock *a, const struct predicate_lock *b) {
    if (a->is_change == b->is_change || a->owner == b->owner) {
        return false;
    }
    const struct predicate_lock *change = a->is_change ? a : b, *predicate = a->is_change ? b : a;
    int64_t key = change->first;
    if (key < predicate->first || predicate->last < key || !satisfies(predicate, key, change->after)) {
        return false;
    }
    const struct row *row = &change->owner->rows.items[change->row];
    return !predicate_may_match(predicate, row, row->record->newest);
}

static bool is_blocked(const struct predicate_lock *entry) {
    const struct predicate_lock *ahead = entry->previous;
    while (ahead != NULL && !conflicts(ahead, entry)) {
        ahead = ahead->previous;
    }
    return ahead != NULL;
}

/* ---- The line ---- */

static struct predicate_lock *join(struct predicate_locks *locks, struct txn *txn, struct predicate_lock entry) {
    struct predicate_lock *joined = pool_get(&locks->pool);
    int index = entry.table->index;
    entry.owner = txn;
    entry.statement = txn->statement;
    entry.previous = locks->lines[index].last;
    *joined = entry;
    if (entry.previous != NULL) {
        entry.previous->next = joined;
    } else {
        locks->lines[index].first = joined;
    }
    locks->lines[index].last = joined;
    txn->work.locks++;
    return joined;
}

/* A scan that is free now has what it waits for before its owner is woken; a change asks again. */
static void grant(struct cc *cc, struct predicate_lock *entry) {
    struct txn *owner = entry->owner;
    if (!entry->is_change) {
        entry->waits = false;
        entry->held_next = owner->predicates;
        owner->predicates = entry;
        owner->predicate_queued = NULL;
        owner->lock_count++;
    }
    txn_wake(cc, owner);
}

/* Takes the entry out of its line; who waited for it alone is free. */
static void leave(struct cc *cc, struct predicate_locks *locks, struct predicate_lock *entry) {
    int index = entry->table->index;
    struct predicate_lock *behind = entry->next;
    if (entry->previous != NULL) {
        entry->previous->next = entry->next;
    } else {
        locks->lines[index].first = entry->next;
    }
    if (entry->next != NULL) {
        entry->next->previous = entry->previous;
    } else {
        locks->lines[index].last = entry->previous;
    }
    for (; behind != NULL; behind = behind->next) {
        if (behind->waits && conflicts(entry, behind) && !is_blocked(behind)) {
            grant(cc, behind);
        }
    }
    pool_put(&locks->pool, entry);
}

void predicate_lock_cancel(struct cc *cc, struct predicate_locks *locks, struct txn *txn) {
    struct predicate_lock *entry = txn->predicate_queued;
    if (entry != NULL) {
        txn->predicate_queued = NULL;
        leave(cc, locks, entry);
    }
}

void predicate_lock_release(struct cc *cc, struct predicate_locks *locks, struct txn *txn, uint32_t mark) {
    while (txn->predicates != NULL && txn->predicates->statement >= mark) {
        struct predicate_lock *entry = txn->predicates;
        txn->predicates = entry->held_next;
        txn->lock_count--;
        leave(cc, locks, entry);
    }
}

/* ---- Asking ---- */

bool predicate_lock_scan(struct cc *cc, struct predicate_locks *locks, struct txn *txn, const struct range *range) {
    if (predicate_lock_of_statement(txn) != NULL) {
        return true;
    }
    if (txn->predicate_queued != NULL) {
        return false; /* it is granted before it is woken */
    }
    struct predicate_lock *entry =
        join(locks, txn,
             (struct predicate_lock){
                 .table = range->table, .first = range->first, .last = range->last, .condition = range->condition});
    entry->waits = is_blocked(entry);
    if (entry->waits) {
        txn->predicate_queued = entry;
        return false;
    }
    entry->held_next = txn->predicates;
    txn->predicates = entry;
    txn->lock_count++;
    (void)cc;
    return true;
}

bool predicate_lock_change(struct cc *cc, struct predicate_locks *locks, struct txn *txn, const struct row *row,
                           struct image after) {
    struct predicate_lock *entry = txn->predicate_queued;
    if (entry == NULL) {
        struct predicate_lock change = {.table = row->table,
                                        .first = row->key,
                                        .last = row->key,
                                        .is_change = true,
                                        .waits = true,
                                        .row = txn_row_number(txn, row),
                                        .after = after};
        entry = txn->predicate_queued = join(locks, txn, change);
    }
    CHECK(entry->is_change && entry->first == row->key);
    if (is_blocked(entry)) {
        return false;
    }
    predicate_lock_cancel(cc, locks, txn);
    return true;
}

/* ---- Who waits for whom ---- */

static bool has(const struct txn_list *list, size_t begin, const struct txn *txn) {
    for (size_t i = begin; i < list->count; i++) {
        if (list->items[i] == txn) {
            return true;
        }
    }
    return false;
}

void predicate_lock_blockers(const struct txn *waiting, struct txn_list *out, size_t most, bool holders_only) {
    const struct predicate_lock *entry = waiting->predicate_queued;
    size_t begin = out->count;
    if (entry == NULL) {
        return;
    }
    for (struct predicate_lock *ahead = entry->previous; ahead != NULL; ahead = ahead->previous) {
        if (out->count - begin < most && conflicts(ahead, entry) && !(holders_only && ahead->waits) &&
            !has(out, begin, ahead->owner)) {
            vector_push(out, ahead->owner);
        }
    }
}

uint32_t predicate_lock_mark(const struct txn *holder, const struct txn *waiting, uint32_t otherwise) {
    uint32_t mark = otherwise;
    for (struct predicate_lock *ahead = waiting->predicate_queued; ahead != NULL; ahead = ahead->previous) {
        bool blocks = ahead->owner == holder && !ahead->waits && conflicts(ahead, waiting->predicate_queued);
        mark = blocks && ahead->statement < mark ? ahead->statement : mark;
    }
    return mark;
}
