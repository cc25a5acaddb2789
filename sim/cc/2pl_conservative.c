/* 2pl-conservative - two-phase locking that takes all locks before the first step: no deadlock, and no abort.
 *
 * At its begin a transaction asks for its footprint and walks it in order of table and key, taking each lock in the
 * strongest mode that it will need there; where one conflicts it waits, holding those before. Then it runs, and gives
 * everything back at its end. Ranges are walked row by row. What the program does not want in the end stays locked.
 *
 * Gaps, with phantoms = next_key: a range takes, besides each row it meets, the gap before it; where it ends, and at each
 * key of its own that it will name, it cuts the gap, so that no gap lock reaches beyond the place where its owner
 * stands. Who cuts a gap leaves both parts locked by all who had the whole. An insert cuts the gap at its key and waits
 * until nobody else holds what is behind the cut; later scans meet its key and wait there.
 *
 * Invariants
 *  1. A transaction that waits at a key holds nothing at or behind that key, but for the gaps up to it: whom it waits
 *     for waits further on, or runs. So there is no cycle, and nobody searches.
 *  2. After its begin a transaction meets nothing that it has not locked: a row that became visible in a range of its own
 *     since then is absent for everybody, because its gap is locked.
 * Paper: Bernstein, Hadzilacos, Goodman, "Concurrency Control and Recovery in Database Systems" (1987), section 3.5.
 * Differs from the paper: there a scheduler grants all of a transaction's locks at once or none; here they are taken one
 * by one, in one order for all. With phantoms = none a scan may meet rows that came after the begin; they are locked when
 * they are met, and so is everything by a program that cannot tell its footprint (configs refuse those): such waits
 * may close cycles, which are searched for as in 2pl. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/deadlock.h"
#include "sim/kit/locking.h"

struct conservative_options {
    int phantoms;
};

/* Where the walk stops: a key, and what is wanted there. */
struct stop {
    struct table *table;
    int64_t key;
    bool gap, insert;
    enum lock_mode mode; /* of the record; MODE_NONE: only the gap before it */
};

/* How far the walk has come: the items before `first` lie behind it, and so do the keys before `position` of the table of
 * that item. A stop at which it waits stands: what others do meanwhile may put a nearer one behind it. */
struct conservative_txn {
    size_t first;
    int64_t position;
    struct stop stop;
    bool under_way, stopped;
    bool planned; /* the program told its footprint */
};

static const struct option options[] = {
    LOCKING_OPTION_PHANTOMS_BY_KEY(struct conservative_options, phantoms), /* what will be written is not known */
};
static const struct option_table table = OPTION_TABLE(options, struct conservative_options);

static struct conservative_txn *tail_of(const struct txn *txn) { return txn->tail; }
static bool locks_gaps(const struct cc *cc) {
    return ((const struct locking *)cc->state)->phantoms == PHANTOMS_NEXT_KEY;
}

/* May waits close cycles? */
static bool is_searched(const struct cc *cc, const struct txn *txn) {
    return !locks_gaps(cc) || !tail_of(txn)->planned;
}

static enum cc_status conflict(struct cc *cc, struct txn *txn) {
    static const struct deadlock_options found_at_once = {
        .detect = {.choice = DETECT_WAIT}, .victim = VICTIM_YOUNGEST, .spare_after = OPTION_UNLIMITED};
    return is_searched(cc, txn) ? deadlock_on_wait(cc, &found_at_once, txn) : CC_WAIT;
}

/* ---- Where the walk goes ---- */

/* The last key at which the item has anything to lock: of a range's gaps, the one behind its last key. */
static int64_t end_of(const struct cc *cc, const struct planned *item) {
    return item->scan ? item->last + locks_gaps(cc) : item->key;
}

/* The first stop of the item at or behind `from`; false if it has none. */
static bool stop_of(const struct cc *cc, const struct planned *item, int64_t from, int64_t *stop) {
    int64_t begin = from > item->key ? from : item->key;
    if (begin > end_of(cc, item)) {
        return false;
    }
    *stop = begin;
    if (item->scan && begin <= item->last) {
        store_next(cc->store, item->table, begin, lock_bounds_gap, stop);
    }
    bool beyond = *stop > item->last && item->scan;
    *stop = beyond ? item->last + 1 : *stop;
    return !beyond || locks_gaps(cc);
}

/* What is wanted at the stop, of all the items that reach it. */
static void gather(const struct cc *cc, const struct footprint *plan, size_t first, struct stop *stop) {
    static const enum lock_mode modes[] = {
        [PLANNED_READ] = MODE_S, [PLANNED_LOCK] = MODE_U, [PLANNED_WRITE] = MODE_X, [PLANNED_INSERT] = MODE_X};
    for (size_t i = first; i < plan->count; i++) {
        const struct planned *item = &plan->items[i];
        if (item->table != stop->table || item->key > stop->key) {
            return;
        }
        bool inside = stop->key <= (item->scan ? item->last : item->key);
        stop->gap |= item->scan && stop->key <= end_of(cc, item) && locks_gaps(cc);
        stop->insert |= inside && item->use == PLANNED_INSERT && locks_gaps(cc);
        if (inside && modes[item->use] > stop->mode) {
            stop->mode = modes[item->use];
        }
    }
}

/* The next stop of the walk; false if it is over. */
static bool find_stop(const struct cc *cc, const struct footprint *plan, struct conservative_txn *walk) {
    struct stop *stop = &walk->stop;
    while (walk->first < plan->count) {
        struct table *at = plan->items[walk->first].table;
        bool found = false;
        *stop = (struct stop){.table = at};
        size_t i = walk->first;
        for (; i < plan->count && plan->items[i].table == at && !(found && plan->items[i].key > stop->key); i++) {
            int64_t key;
            bool live = stop_of(cc, &plan->items[i], walk->position, &key);
            if (live && (!found || key < stop->key)) {
                stop->key = key;
            } else if (!live && i == walk->first) {
                walk->first++;
            }
            found |= live;
        }
        if (found) {
            gather(cc, plan, walk->first, stop);
            return true;
        }
        walk->first = i; /* the next table's */
        walk->position = INT64_MIN;
    }
    return false;
}

/* ---- What it does there ---- */

static void add_holder(void *context, const struct lock *lock) {
    if (lock->gap && !lock->waits) {
        txn_list_add(context, lock->owner);
    }
}

/* Takes the gap before the row. If that cuts a gap in two, who holds it holds both parts. */
static void take_gap(struct cc *cc, struct txn *txn, const struct stop *stop, struct row *row) {
    uint32_t number = txn_row_number(txn, row);
    int64_t key;
    struct record *bound = store_next(cc->store, stop->table, stop->key, lock_bounds_gap, &key);
    if (row->gap != NULL) {
        return;
    }
    if (bound != row->record) {
        struct txn_list *holders = &cc->search;
        holders->count = 0;
        lock_each(bound, add_holder, holders);
        for (size_t i = 0; i < holders->count; i++) {
            struct txn *holder = holders->items[i];
            lock_gap(cc, holder, txn_row(holder, cc->store, stop->table, stop->key));
        }
    }
    txn->work.locks++;
    lock_gap(cc, txn, &txn->rows.items[number]);
}

/* An insert, which has cut its gap: waits until the part behind it is nobody else's. */
static enum cc_status await_gap(struct cc *cc, struct txn *txn, const struct stop *stop) {
    int64_t key;
    store_next(cc->store, stop->table, stop->key + 1, lock_bounds_gap, &key);
    struct row *bound = key == INT64_MAX ? txn_row_of_end(txn, stop->table) : txn_row(txn, cc->store, stop->table, key);
    bool is_free = lock_gap_is_free(txn, bound);
    if (txn->queued != NULL && (is_free || txn->queued->head != lock_head_of(bound->record))) {
        lock_cancel(cc, txn);
    }
    if (!is_free && txn->queued == NULL) {
        lock_gap_enqueue(cc, txn, bound);
    }
    return is_free ? CC_OK : CC_WAIT;
}

static enum cc_status take_record(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode) {
    if (row->lock != NULL && row->lock->mode >= mode) {
        return CC_OK;
    }
    if (txn->queued != NULL) {
        return CC_WAIT;
    }
    txn->work.locks++;
    if (lock_acquire(cc, txn, row, mode)) {
        return CC_OK;
    }
    lock_enqueue(cc, txn, row, mode);
    return CC_WAIT;
}

static enum cc_status take_stop(struct cc *cc, struct txn *txn, const struct stop *stop) {
    struct row *row =
        stop->key == INT64_MAX ? txn_row_of_end(txn, stop->table) : txn_row(txn, cc->store, stop->table, stop->key);
    uint32_t number = txn_row_number(txn, row);
    if (stop->gap || stop->insert) {
        take_gap(cc, txn, stop, row);
    }
    enum cc_status status = CC_OK;
    if (stop->mode != MODE_NONE) {
        status = take_record(cc, txn, &txn->rows.items[number], stop->mode);
    }
    if (status == CC_OK && stop->insert) {
        status = await_gap(cc, txn, stop);
    }
    return status;
}

/* Behind the stop. */
static void walk_on(const struct footprint *plan, struct conservative_txn *walk) {
    walk->stopped = false;
    if (walk->stop.key < INT64_MAX) {
        walk->position = walk->stop.key + 1;
        return;
    }
    while (walk->first < plan->count && plan->items[walk->first].table == walk->stop.table) {
        walk->first++;
    }
    walk->position = INT64_MIN;
}

/* Repeated after each wake: goes on where it stood. */
static enum cc_status begin(struct cc *cc, struct txn *txn) {
    struct conservative_txn *walk = tail_of(txn);
    const struct footprint *plan = txn_plan(cc, txn);
    if (!walk->under_way) {
        *walk = (struct conservative_txn){.under_way = true, .position = INT64_MIN, .planned = plan != NULL};
    }
    while (plan != NULL && (walk->stopped || find_stop(cc, plan, walk))) {
        walk->stopped = true;
        if (take_stop(cc, txn, &walk->stop) == CC_WAIT) {
            return conflict(cc, txn);
        }
        walk_on(plan, walk);
    }
    return CC_OK;
}

/* ---- The rest is that of the other schemes, but that one that planned gives nothing back early: its locks belong to no
 * statement ---- */

static enum cc_status read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                           struct version **seen) {
    if (is_searched(cc, txn) || row->lock != NULL) {
        return locking_read(cc, txn, row, intent, patience, seen);
    }
    *seen = store_newest(cc->store, row->table, row->key, row->record);
    CHECK((*seen)->absent && (*seen)->stamp != 0); /* invariant 2 */
    return CC_OK;
}

static void statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (!tail_of(txn)->planned) {
        locking_statement_end(cc, txn, failed);
    }
}

static void rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    if (!tail_of(txn)->planned) {
        locking_rollback(cc, txn, mark);
    }
}

static void start(struct cc *cc) {
    const struct conservative_options *chosen = cc->options;
    locking_start(cc, (struct locking){.phantoms = chosen->phantoms, .waits = true, .conflict = conflict});
}

const struct cc_ops cc_2pl_conservative = {
    .name = "2pl-conservative",
    .summary = "two-phase locking, all locks before the first step, in key order",
    .paper = "Bernstein, Hadzilacos, Goodman 1987",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .flags = CC_NEEDS_PLAN,
    .options = &table,
    .state_size = sizeof(struct locking),
    .txn_size = sizeof(struct conservative_txn),
    .record_size = sizeof(struct lock_head),
    .start = start,
    .stop = locking_stop,
    .begin = begin,
    .range = locking_range,
    .read = read,
    .claim = locking_claim,
    .statement_end = statement_end,
    .rollback = rollback,
    .prepare = locking_prepare,
    .commit = locking_commit,
    .release = locking_release,
    .abort = locking_abort,
    .blockers = locking_blockers,
    .bounds_gap = lock_bounds_gap,
};
