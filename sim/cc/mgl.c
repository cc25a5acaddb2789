/* mgl - multi-granularity locking: rigorous two-phase locking that may lock rows, pages, a table or the whole database.
 *
 * Fine locks let more transactions run side by side, coarse ones cost less: one request instead of thousands. Here each
 * transaction locks at its `granularity` and announces that on all that is coarser, from the database down, so that
 * transactions of different granularity see each other (kit/granule.h). Conversions go before new requests, cycles of
 * waiters across all levels are searched for as in 2pl.
 *
 * Escalation: a transaction that has come to hold `escalation` locks of rows (or pages) in one table asks for a lock on
 * the table instead, strong enough for all of them. It never waits for it: if others stand in the way it goes on with
 * fine locks and asks again every `escalation_retry` locks, as SQL Server does with 5,000 and 1,250.
 *
 * Ranges: the gap before each row of a scan, as in 2pl, unless the lock on a page or table covers it. SKIP LOCKED passes
 * over rows that are locked by themselves or with what contains them, but a scan waits until it may be in the table.
 *
 * Invariants: those of kit/lock.h and kit/granule.h; whoever holds X on a table meets no gap lock of others in it.
 * Paper: Gray, Lorie, Putzolu, Traiger, "Granularity of locks and degrees of consistency in a shared data base" (1976).
 * Differs from the paper: gaps; U locks; escalation; `auto` chooses by what the program says it will access. */
#include "sim/cc/cc.h"
#include "sim/kit/deadlock.h"
#include "sim/kit/granule.h"

struct mgl_options {
    struct deadlock_options deadlock;
    int phantoms;
    int granularity; /* enum granule, or AUTO */
    int64_t escalation, escalation_retry;
};
enum { AUTO = GRANULE_COUNT };

static const char *const granularity_choices[] = {"row", "page", "table", "database", "auto", NULL};

static const struct option options[] = {
    DEADLOCK_OPTIONS(struct mgl_options, deadlock, "youngest"),
    LOCKING_OPTION_PHANTOMS_BY_KEY(struct mgl_options, phantoms),
    {.name = "granularity",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct mgl_options, granularity),
     .fallback = "row",
     .choices = granularity_choices,
     .help = "what transactions lock; auto: a table if they say they will access `escalation` rows, else rows"},
    {.name = "escalation",
     .type = OPTION_COUNT,
     .offset = offsetof(struct mgl_options, escalation),
     .fallback = "5000",
     .max = 1e9,
     .help = "row or page locks of one table at which a lock on the table is tried, without waiting; 0: never"},
    {.name = "escalation_retry",
     .type = OPTION_COUNT,
     .offset = offsetof(struct mgl_options, escalation_retry),
     .fallback = "1250",
     .min = 1,
     .max = 1e9,
     .help = "further locks after which it is tried again"},
};
static const struct option_table table = OPTION_TABLE(options, struct mgl_options);

struct mgl {
    struct locking locking;
    struct granules granules;
};
struct mgl_txn {
    enum granule goal;
    uint32_t pending;                    /* 1 + number of what it waits to lock for the first time */
    uint32_t count[STORE_TABLES_MAX];    /* row or page locks held, by table */
    uint32_t next_try[STORE_TABLES_MAX]; /* how many at the next attempt to escalate; 0: `escalation` */
    /* How far the scan of `statement` has come: `upto` - 1 is the latest key it met. */
    uint32_t statement;
    int64_t upto;
};

static const struct mgl_options *options_of(const struct cc *cc) { return cc->options; }
static struct granules *granules_of(struct cc *cc) { return &((struct mgl *)cc->state)->granules; }
static struct mgl_txn *tail_of(const struct txn *txn) { return txn->tail; }

static enum cc_status conflict(struct cc *cc, struct txn *txn) {
    return deadlock_on_wait(cc, &options_of(cc)->deadlock, txn);
}

static void timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, &options_of(cc)->deadlock, txn);
}

static void start(struct cc *cc) {
    locking_start(cc, (struct locking){.phantoms = options_of(cc)->phantoms, .waits = true, .conflict = conflict});
    granules_start(cc, granules_of(cc));
}

static void stop(struct cc *cc) {
    granules_stop(granules_of(cc));
    locking_stop(cc);
}

/* A program that cannot tell what it will access locks rows, and escalates. */
static enum granule choose(struct cc *cc, const struct txn *txn) {
    uint64_t footprint = cc->harness->remaining(cc->harness->world, txn);
    int64_t many = options_of(cc)->escalation;
    return many > 0 && footprint >= (uint64_t)many && footprint != UINT64_MAX ? GRANULE_TABLE : GRANULE_ROW;
}

static enum cc_status begin(struct cc *cc, struct txn *txn) {
    int granularity = options_of(cc)->granularity;
    tail_of(txn)->goal = granularity == AUTO ? choose(cc, txn) : (enum granule)granularity;
    return CC_OK;
}

/* ---- Escalation ---- */

/* Does it lock tables, or all of them, to begin with? */
static bool is_whole(const struct mgl_txn *tail) { return tail->goal >= GRANULE_TABLE; }

/* One more lock of a row or page is held. */
static void count_lock(struct cc *cc, struct txn *txn, const struct table *of) {
    const struct mgl_options *chosen = options_of(cc);
    uint32_t *count = &tail_of(txn)->count[of->index], *next = &tail_of(txn)->next_try[of->index];
    ++*count;
    if (chosen->escalation == 0 || *count < (*next != 0 ? *next : (uint64_t)chosen->escalation)) {
        return;
    }
    if (granule_escalate(cc, txn, granule_of_table(cc, granules_of(cc), txn, of))) {
        cc->escalations++;
        *count = *next = 0;
    } else {
        *next = *count + (uint32_t)chosen->escalation_retry;
    }
}

/* What a rollback has left. */
static void count_again(const struct cc *cc, struct txn *txn) {
    struct mgl_txn *tail = tail_of(txn);
    for (int i = 0; i < STORE_TABLES_MAX; i++) {
        tail->count[i] = 0;
    }
    for (const struct lock *lock = txn->held; lock != NULL; lock = lock->held_next) {
        const struct row *row = lock_row(lock);
        tail->count[row->table->index] += granule_level(row) == tail->goal && !lock->gap ? 1 : 0;
    }
    for (int i = 0; i < STORE_TABLES_MAX; i++) {
        tail->next_try[i] = (int64_t)tail->count[i] < options_of(cc)->escalation ? 0 : tail->next_try[i];
    }
}

/* ---- Locking ---- */

/* Locks the row, or what contains it. */
static enum cc_status lock_for(struct cc *cc, struct txn *txn, uint32_t number, enum lock_mode mode,
                               enum patience patience) {
    struct mgl_txn *tail = tail_of(txn);
    struct granules *granules = granules_of(cc);
    uint32_t fine = tail->goal == GRANULE_PAGE && granule_level(&txn->rows.items[number]) == GRANULE_ROW
                        ? granule_above(cc, granules, txn, number)
                        : number;
    bool fresh = txn->rows.items[fine].lock == NULL || tail->pending == fine + 1;
    enum cc_status status = granule_lock(cc, granules, txn, fine, tail->goal, mode, patience);
    tail->pending = status == CC_WAIT && fresh ? fine + 1 : 0;
    const struct row *row = &txn->rows.items[fine];
    if (status == CC_OK && fresh && row->lock != NULL && granule_level(row) == tail->goal && !is_whole(tail)) {
        count_lock(cc, txn, row->table);
    }
    return status;
}

static enum cc_status mgl_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    uint32_t number = txn_row_number(txn, row);
    enum cc_status status = lock_for(cc, txn, number, locking_mode_to_see[intent], patience);
    if (status == CC_OK) {
        row = &txn->rows.items[number];
        *seen = store_newest(cc->store, row->table, row->key, row->record);
    }
    return status;
}

static enum cc_status mgl_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    uint32_t number = txn_row_number(txn, row);
    enum cc_status status = lock_for(cc, txn, number, locking_mode_to_change[change], patience);
    if (status == CC_OK && change == PUT_INSERT && options_of(cc)->phantoms != PHANTOMS_NONE) {
        uint32_t whole = granule_of_table(cc, granules_of(cc), txn, txn->rows.items[number].table);
        uint32_t database = granule_above(cc, granules_of(cc), txn, whole);
        if (!granule_grants(&txn->rows.items[whole], MODE_X) && !granule_grants(&txn->rows.items[database], MODE_X)) {
            status = locking_enter_gap(cc, txn, &txn->rows.items[number]);
        }
    }
    if (status == CC_OK) {
        row = &txn->rows.items[number];
        *base = store_newest(cc->store, row->table, row->key, row->record);
    }
    return status;
}

/* ---- Ranges ---- */

static void note_range(struct row *granule, uint32_t statement) {
    granule->read_statement = granule->read_statement != 0 ? granule->read_statement : statement;
}

/* Is what the scan must see of the gap on one page, and that page locked? */
static bool page_covers(struct cc *cc, struct txn *txn, const struct range *range, uint32_t number) {
    struct mgl_txn *tail = tail_of(txn);
    const struct row *row = &txn->rows.items[number];
    int64_t low = tail->statement == txn->statement ? tail->upto : range->first;
    int64_t high = row->key < range->last ? row->key : range->last;
    if (tail->goal != GRANULE_PAGE || (low <= high && granule_page(cc, low) != granule_page(cc, high))) {
        return false;
    }
    if (low > high) {
        return true; /* there is no key between */
    }
    struct table *pages = &granules_of(cc)->pages[range->table->index];
    struct row *page = pages->end != NULL ? txn_find_row(txn, pages, granule_page(cc, high)) : NULL;
    if (page == NULL || !granule_grants(page, MODE_S)) {
        return false;
    }
    note_range(page, txn->statement);
    return true;
}

static enum cc_status mgl_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                                enum patience patience) {
    struct mgl_txn *tail = tail_of(txn);
    struct granules *granules = granules_of(cc);
    if (options_of(cc)->phantoms == PHANTOMS_NONE) {
        return CC_OK;
    }
    uint32_t number = txn_row_number(txn, range->row);
    uint32_t whole = granule_of_table(cc, granules, txn, range->table);
    enum lock_mode mode = locking_mode_to_see[intent];
    enum cc_status status = lock_for(cc, txn, whole, mode, patience == SKIP_LOCKED ? BLOCK : patience);
    if (status == CC_OK && tail->goal == GRANULE_PAGE && !range->tail) {
        status = lock_for(cc, txn, number, mode, patience);
    }
    if (status != CC_OK && status != CC_SKIP) {
        return status;
    }
    struct row *above = &txn->rows.items[whole];
    if (!granule_grants(above, MODE_S)) {
        above = &txn->rows.items[granule_above(cc, granules, txn, whole)];
    }
    if (granule_grants(above, MODE_S)) {
        note_range(above, txn->statement);
    } else if (!page_covers(cc, txn, range, number)) {
        struct range gap = *range;
        gap.row = &txn->rows.items[number];
        status = locking_range(cc, txn, &gap, intent, patience);
    } else {
        status = CC_OK;
    }
    tail->statement = txn->statement;
    tail->upto = range->tail ? range->last : txn->rows.items[number].key + 1;
    return status;
}

/* ---- Giving back ---- */

static void mgl_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        granules_forget(cc, granules_of(cc), txn, txn->statement);
        count_again(cc, txn);
    }
}

static void mgl_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    granules_rollback(cc, granules_of(cc), txn, mark);
    count_again(cc, txn);
}

static const struct record *mgl_granule(struct cc *cc, const struct table *of, int64_t key, int level, int64_t *page) {
    return granule_record(cc, granules_of(cc), of, key, (enum granule)level, page);
}

const struct cc_ops cc_mgl = {
    .name = "mgl",
    .summary = "locks on rows, pages, tables or all, announced above; escalation",
    .paper = "Gray, Lorie, Putzolu, Traiger 1976",
    .levels = 1u << LEVEL_SER,
    .level = LEVEL_SER,
    .options = &table,
    .state_size = sizeof(struct mgl),
    .txn_size = sizeof(struct mgl_txn),
    .record_size = sizeof(struct lock_head),
    .start = start,
    .stop = stop,
    .begin = begin,
    .range = mgl_range,
    .read = mgl_read,
    .claim = mgl_claim,
    .statement_end = mgl_statement_end,
    .rollback = mgl_rollback,
    .prepare = locking_prepare,
    .commit = locking_commit,
    .release = locking_release,
    .abort = locking_abort,
    .timer = timer,
    .blockers = locking_blockers,
    .bounds_gap = lock_bounds_gap,
    .granule = mgl_granule,
};
