#include "sim/kit/granule.h"

#include "sim/base/check.h"
#include "sim/store/key_order.h"

/* Scratch in row->note while locks are given back: what is still held beneath, what was read beneath without a lock of
 * its own. */
enum { NEEDS_IS = 4, NEEDS_IX = 8, WAS_READ = 16, WAS_KEPT = 32, SCRATCH = NEEDS_IS | NEEDS_IX | WAS_READ | WAS_KEPT };

void granules_start(struct cc *cc, struct granules *granules) {
    table_init(cc->store, &granules->database, 0, 1);
    table_init(cc->store, &granules->tables, 0, STORE_TABLES_MAX);
}

void granules_stop(struct granules *granules) {
    table_free(&granules->database);
    table_free(&granules->tables);
    for (int i = 0; i < STORE_TABLES_MAX; i++) {
        if (granules->pages[i].end != NULL) {
            table_free(&granules->pages[i]);
        }
    }
}

/* ---- What contains what ---- */

int64_t granule_page(const struct cc *cc, int64_t key) {
    int64_t page = key / cc->rows_per_page;
    return page * cc->rows_per_page > key ? page - 1 : page;
}

static struct table *pages_of(struct cc *cc, struct granules *granules, const struct table *table) {
    struct table *pages = &granules->pages[table->index];
    if (pages->end == NULL) {
        int64_t first = granule_page(cc, table->first_key), end = table->first_key + table->rows;
        table_init(cc->store, pages, first, table->rows > 0 ? granule_page(cc, end - 1) - first + 1 : 0);
        pages->index = table->index;
    }
    return pages;
}

static uint32_t meet(struct cc *cc, struct txn *txn, struct table *granules, int64_t key, enum granule level) {
    struct row *row = txn_row(txn, cc->store, granules, key);
    if (row->note == GRANULE_ROW) {
        row->note = (uint8_t)level;
        txn->granule_count++;
    }
    return txn_row_number(txn, row);
}

uint32_t granule_of_table(struct cc *cc, struct granules *granules, struct txn *txn, const struct table *table) {
    return meet(cc, txn, &granules->tables, table->index, GRANULE_TABLE);
}

uint32_t granule_meet_above(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t number) {
    const struct row *row = &txn->rows.items[number];
    uint32_t above;
    if (granule_level(row) == GRANULE_ROW) {
        above = meet(cc, txn, pages_of(cc, granules, row->table), granule_page(cc, row->key), GRANULE_PAGE);
    } else if (granule_level(row) == GRANULE_PAGE) {
        above = granule_of_table(cc, granules, txn, row->table);
    } else {
        CHECK(granule_level(row) == GRANULE_TABLE);
        above = meet(cc, txn, &granules->database, 0, GRANULE_DATABASE);
    }
    txn->rows.items[number].mark = (uint64_t)above + 1;
    return above;
}

const struct record *granule_record(struct cc *cc, struct granules *granules, const struct table *table, int64_t key,
                                    enum granule level, int64_t *page) {
    struct table *pages = &granules->pages[table->index];
    *page = granule_page(cc, key);
    if (level == GRANULE_DATABASE) {
        return store_record(cc->store, &granules->database, 0);
    }
    if (level == GRANULE_TABLE) {
        return store_record(cc->store, &granules->tables, table->index);
    }
    if (pages->end == NULL) {
        return NULL;
    }
    if (table_is_dense(pages, *page)) {
        return store_record(cc->store, pages, *page);
    }
    const struct key_node *node = key_order_find(pages->sparse, *page);
    return node != NULL ? node->record : NULL;
}

/* ---- Locking, from the database down ---- */

enum cc_status granule_lock(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t number,
                            enum granule goal, enum lock_mode mode, enum patience patience) {
    uint32_t path[GRANULE_COUNT];
    enum granule first = granule_level(&txn->rows.items[number]);
    if (granule_grants(&txn->rows.items[number], mode)) {
        return CC_OK;
    }
    path[first] = number;
    for (enum granule level = first; level < GRANULE_DATABASE; level++) {
        path[level + 1] = granule_above(cc, granules, txn, path[level]);
    }
    for (enum granule level = GRANULE_DATABASE;; level--) {
        struct row *row = &txn->rows.items[path[level]];
        if (granule_grants(row, mode)) {
            return CC_OK;
        }
        enum lock_mode wanted = level == goal ? mode : lock_intention(mode);
        bool announced = granule_grants(row, wanted);
        enum cc_status status = announced ? CC_OK : locking_take(cc, txn, row, wanted, patience);
        if (status != CC_OK || level == goal || level == first) {
            return status;
        }
    }
}

/* ---- Many locks for one ---- */

static bool is_inside(const struct lock *lock, const struct row *table) {
    const struct row *row = lock_row(lock);
    return granule_level(row) < GRANULE_TABLE && row->table->index == table->key;
}

bool granule_escalate(struct cc *cc, struct txn *txn, uint32_t number) {
    struct row *table = &txn->rows.items[number];
    uint32_t since[LOCK_DIRECT] = {
        0}; /* the first statement for each mode, so that rollbacks see what they would have */
    enum lock_mode mode = MODE_NONE;
    for (const struct lock *lock = txn->held; lock != NULL; lock = lock->held_next) {
        for (int reached = MODE_S; reached < LOCK_DIRECT && is_inside(lock, table); reached++) {
            if (lock->since[reached] != 0) {
                bool first = since[reached] == 0 || lock->since[reached] < since[reached];
                since[reached] = first ? lock->since[reached] : since[reached];
                mode = lock_join(mode, (enum lock_mode)reached);
            }
        }
    }
    txn->work.locks++;
    if (!lock_acquire(cc, txn, table, mode)) {
        return false;
    }
    struct lock *next, *coarse = table->lock;
    for (struct lock *lock = txn->held; lock != NULL; lock = next) {
        next = lock->held_next;
        if (is_inside(lock, table)) {
            lock_weaken(cc, lock, MODE_NONE);
        }
    }
    for (int reached = MODE_S; reached < LOCK_DIRECT; reached++) {
        if (since[reached] != 0 && (coarse->since[reached] == 0 || since[reached] < coarse->since[reached])) {
            coarse->since[reached] = since[reached];
        }
    }
    enum lock_mode direct = lock_before(coarse, UINT32_MAX); /* nothing is left beneath to announce */
    if (direct != (enum lock_mode)coarse->mode) {
        lock_weaken(cc, coarse, direct);
    }
    return true;
}

/* ---- Giving back ----
 * One pass over the locks, newest first: each is met after all that lie beneath it (invariant 2) and told by them what
 * it has to go on announcing. */

/* Tells all that contains a row that it was read there under their lock alone. */
static void note_reads(struct txn *txn) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        const struct row *row = &txn->rows.items[i];
        if (granule_level(row) != GRANULE_ROW || row->lock != NULL || row->mark == 0) {
            continue;
        }
        unsigned notes = (row->read_statement != 0 ? WAS_READ : 0) | (row->kept ? WAS_KEPT : 0);
        while (row->mark != 0) {
            struct row *above = &txn->rows.items[row->mark - 1];
            above->note |= (uint8_t)notes;
            row = above;
        }
    }
}

static void announce(struct cc *cc, struct granules *granules, struct txn *txn, const struct lock *lock) {
    uint32_t number = lock->row;
    if (granule_level(&txn->rows.items[number]) == GRANULE_DATABASE) {
        return;
    }
    uint32_t above = lock->gap ? granule_of_table(cc, granules, txn, txn->rows.items[number].table)
                               : granule_above(cc, granules, txn, number);
    bool writes = !lock->gap && lock_intention((enum lock_mode)lock->mode) == MODE_IX;
    txn->rows.items[above].note |= writes ? NEEDS_IX : NEEDS_IS;
}

/* What is left of the right to the granule or row itself after a rollback to `mark`. */
static enum lock_mode left(struct lock *lock, uint32_t mark) {
    const struct row *row = lock_row(lock);
    if (lock->gap) {
        return MODE_S;
    }
    bool reads = lock_covers((enum lock_mode)lock->mode, MODE_S) &&
                 (row->read_statement != 0 || (row->note & WAS_READ) != 0 || lock->mode == MODE_S);
    return lock_left(lock, mark, reads);
}

/* The same after the statement `mark` failed. */
static enum lock_mode left_by_failure(struct lock *lock, uint32_t mark) {
    const struct row *row = lock_row(lock);
    bool kept = row->kept || (row->note & WAS_KEPT) != 0;
    bool stays = lock_before(lock, mark) != MODE_NONE || kept;
    return stays ? lock_before(lock, UINT32_MAX) : MODE_NONE;
}

static void give_back(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t mark,
                      enum lock_mode (*left_of)(struct lock *lock, uint32_t mark)) {
    note_reads(txn);
    struct lock *next;
    for (struct lock *lock = txn->held; lock != NULL; lock = next) {
        next = lock->held_next;
        struct row *row = lock_row(lock);
        enum lock_mode intention = MODE_NONE;
        if (granule_level(row) != GRANULE_ROW) {
            intention = (row->note & NEEDS_IX) != 0 ? MODE_IX : (row->note & NEEDS_IS) != 0 ? MODE_IS : MODE_NONE;
        }
        enum lock_mode mode = lock_join(left_of(lock, mark), intention);
        bool goes = mode == MODE_NONE;
        if (mode != (enum lock_mode)lock->mode) {
            lock_weaken(cc, lock, mode);
        }
        if (!goes) {
            announce(cc, granules, txn, lock);
        }
    }
    for (size_t i = 0; i < txn->rows.count; i++) {
        txn->rows.items[i].note &= (uint8_t) ~(unsigned)SCRATCH;
    }
}

void granules_rollback(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t mark) {
    give_back(cc, granules, txn, mark, left);
}

void granules_forget(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t statement) {
    give_back(cc, granules, txn, statement, left_by_failure);
}
