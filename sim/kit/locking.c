#include "sim/kit/locking.h"

#include "sim/base/check.h"

const char *const locking_phantoms_choices[] = {"next_key", "none", "predicate", NULL};
const char *const locking_phantoms_by_key_choices[] = {"next_key", "none", NULL};

const enum lock_mode locking_mode_to_see[] = {
    [SEE] = MODE_S, [SEE_SHARE] = MODE_S, [SEE_UPDATE] = MODE_U, [SEE_WRITE] = MODE_X};
const enum lock_mode locking_mode_to_change[] = {
    [LOCK_SHARE] = MODE_S, [LOCK_UPDATE] = MODE_U, [PUT_UPDATE] = MODE_X, [PUT_DELETE] = MODE_X, [PUT_INSERT] = MODE_X};

static struct locking *locking_of(struct cc *cc) { return cc->state; }

void locking_start(struct cc *cc, struct locking how) {
    *locking_of(cc) = how;
    lock_table_start(cc);
    predicate_locks_start(&locking_of(cc)->predicates);
}

void locking_stop(struct cc *cc) {
    lock_table_stop(cc);
    predicate_locks_stop(&locking_of(cc)->predicates);
}

enum cc_status locking_begin(struct cc *cc, struct txn *txn) {
    txn->locks_plainly = txn->level != LEVEL_RU && locking_of(cc)->phantoms != PHANTOMS_PREDICATE;
    return CC_OK;
}

/* Leaves whatever queue it stands in. */
static void cancel(struct cc *cc, struct txn *txn) {
    lock_cancel(cc, txn);
    predicate_lock_cancel(cc, &locking_of(cc)->predicates, txn);
}

/* The request is queued: may it stay there? A refused one leaves the queue. */
static enum cc_status stay(struct cc *cc, struct txn *txn) {
    enum cc_status status = locking_of(cc)->conflict(cc, txn);
    if (status != CC_WAIT) {
        cancel(cc, txn);
    }
    return status;
}

/* It stands in the line of a table: the same, where waiting is allowed at all. */
static enum cc_status stay_in_line(struct cc *cc, struct txn *txn, enum patience patience) {
    if (patience == BLOCK && locking_of(cc)->waits) {
        return stay(cc, txn);
    }
    cancel(cc, txn);
    if (patience == SKIP_LOCKED) {
        return CC_SKIP;
    }
    return patience == NOWAIT ? txn_fail(txn, REASON_NOWAIT) : txn_refuse(txn, locking_of(cc)->reason);
}

/* A lock that the transaction has not got yet. */
static __attribute__((noinline)) enum cc_status take_anew(struct cc *cc, struct txn *txn, struct row *row,
                                                          enum lock_mode mode, enum patience patience) {
    if (txn->queued != NULL) {
        CHECK(txn->queued->head == lock_head_of(row->record)); /* who is queued asks for the same again */
        return stay(cc, txn);
    }
    txn->work.locks++;
    if (lock_acquire(cc, txn, row, mode)) {
        return CC_OK;
    }
    if (patience == NOWAIT) {
        return txn_fail(txn, REASON_NOWAIT);
    }
    if (patience == SKIP_LOCKED) {
        return CC_SKIP;
    }
    if (!locking_of(cc)->waits) {
        return txn_refuse(txn, locking_of(cc)->reason);
    }
    lock_enqueue(cc, txn, row, mode);
    return stay(cc, txn);
}

enum cc_status locking_take(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode,
                            enum patience patience) {
    bool is_held = row->lock != NULL && lock_covers((enum lock_mode)row->lock->mode, mode);
    return is_held ? CC_OK : take_anew(cc, txn, row, mode, patience);
}

/* SKIP LOCKED leaves out rows, not what stands before the scan as a whole. */
static enum cc_status take_predicate(struct cc *cc, struct txn *txn, const struct range *range,
                                     enum patience patience) {
    bool taken = predicate_lock_scan(cc, &locking_of(cc)->predicates, txn, range);
    return taken ? CC_OK : stay_in_line(cc, txn, patience == SKIP_LOCKED ? BLOCK : patience);
}

enum cc_status locking_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                             enum patience patience) {
    const struct locking *how = locking_of(cc);
    if (txn->level == LEVEL_RU && intent != SEE_WRITE) {
        return CC_OK;
    }
    if (how->phantoms == PHANTOMS_PREDICATE) {
        return take_predicate(cc, txn, range, patience);
    }
    if (how->phantoms == PHANTOMS_NONE || range->row->gap != NULL) {
        return CC_OK;
    }
    enum cc_status status = how->gap != NULL ? how->gap(cc, txn, range->row) : CC_OK;
    if (status == CC_OK) {
        txn->work.locks++;
        lock_gap(cc, txn, range->row);
    }
    return status;
}

/* A row that the scan's predicate covers and that does not satisfy it, whatever becomes of what is pending: it is seen as
 * it is for everybody else, without a lock. */
static bool passes_over(struct cc *cc, struct txn *txn, const struct row *row, struct version **seen) {
    const struct predicate_lock *predicate = predicate_lock_of_statement(txn);
    if (predicate == NULL ||
        predicate_may_match(predicate, row, store_newest(cc->store, row->table, row->key, row->record))) {
        return false;
    }
    lock_cancel(cc, txn);
    *seen = row->own != NULL ? row->own : store_committed(cc->store, row->table, row->key, row->record);
    return true;
}

/* The record may be locked, by the transaction itself perhaps, or wanted. */
static __attribute__((noinline)) enum cc_status read_busy(struct cc *cc, struct txn *txn, struct row *row,
                                                          enum intent intent, enum patience patience,
                                                          struct version **seen) {
    enum cc_status status = locking_take(cc, txn, row, locking_mode_to_see[intent], patience);
    if (status == CC_OK) {
        row->claimed = intent != SEE;
        *seen = store_newest(cc->store, row->table, row->key, row->record);
    }
    return status;
}

/* It does not lock plainly. */
static __attribute__((noinline)) enum cc_status read_otherwise(struct cc *cc, struct txn *txn, struct row *row,
                                                               enum intent intent, enum patience patience,
                                                               struct version **seen) {
    bool by_predicate = locking_of(cc)->phantoms == PHANTOMS_PREDICATE;
    if (txn->level == LEVEL_RU && intent == SEE) {
        *seen = row->own != NULL ? row->own : store_newest(cc->store, row->table, row->key, row->record);
        return CC_OK;
    }
    if (by_predicate && passes_over(cc, txn, row, seen)) {
        return CC_OK;
    }
    enum cc_status status = read_busy(cc, txn, row, intent, patience, seen);
    if (by_predicate) {
        row->claimed = false; /* the change has yet to pass the predicates */
    }
    return status;
}

/* The first to meet the row at all. */
static __attribute__((noinline)) enum cc_status see_untouched(struct cc *cc, const struct row *row,
                                                              struct version **seen) {
    *seen = store_touch(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

/* Almost every read meets a record that nobody has locked or wants, the asker itself included: that is short work. */
enum cc_status locking_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                            struct version **seen) {
    if (!txn->locks_plainly) {
        return read_otherwise(cc, txn, row, intent, patience, seen);
    }
    if (!lock_acquire_free(cc, txn, row, locking_mode_to_see[intent])) {
        return read_busy(cc, txn, row, intent, patience, seen);
    }
    txn->work.locks++;
    row->claimed = intent != SEE;
    *seen = row->record->newest;
    return *seen != NULL ? CC_OK : see_untouched(cc, row, seen);
}

enum cc_status locking_enter_gap(struct cc *cc, struct txn *txn, struct row *row) {
    uint32_t number = txn_row_number(txn, row);
    int64_t bound_key;
    const struct record *record = store_next(cc->store, row->table, row->key, lock_bounds_gap, &bound_key);
    if (record == row->record) { /* the key bounds a gap already: nothing is split */
        if (!cc->keeps_programs) {
            return CC_OK;
        }
        /* but for one whose insert was undone partway: it may yet lie within a range that was scanned before */
        store_next(cc->store, row->table, row->key + 1, lock_bounds_gap, &bound_key);
    }
    struct row *bound =
        bound_key == INT64_MAX ? txn_row_of_end(txn, row->table) : txn_row(txn, cc->store, row->table, bound_key);
    if (lock_gap_is_free(txn, bound)) {
        lock_cancel(cc, txn);
        if (bound->gap != NULL) { /* the new half is as old as the whole */
            row = &txn->rows.items[number];
            lock_gap(cc, txn, row);
            if (bound->gap->since[MODE_S] < row->gap->since[MODE_S]) {
                row->gap->since[MODE_S] = bound->gap->since[MODE_S];
            }
        }
        return CC_OK;
    }
    if (!locking_of(cc)->waits) {
        return txn_refuse(txn, locking_of(cc)->reason);
    }
    if (txn->queued != NULL && txn->queued->head != lock_head_of(bound->record)) {
        lock_cancel(cc, txn); /* meanwhile another insert split the gap */
    }
    if (txn->queued == NULL) {
        lock_gap_enqueue(cc, txn, bound);
    }
    return stay(cc, txn);
}

/* The change must not touch what others have asked for. An insert waits whatever its patience, as for a gap. */
static enum cc_status pass_predicates(struct cc *cc, struct txn *txn, const struct row *row, enum change change,
                                      enum patience patience, const struct version *base) {
    struct image after = txn_change_result(cc, txn, row, base);
    bool passes = predicate_lock_change(cc, &locking_of(cc)->predicates, txn, row, after);
    return passes ? CC_OK : stay_in_line(cc, txn, change == PUT_INSERT ? BLOCK : patience);
}

enum cc_status locking_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                             enum patience patience, struct version **base) {
    enum cc_status status = locking_take(cc, txn, row, locking_mode_to_change[change], patience);
    const int phantoms = locking_of(cc)->phantoms;
    if (status == CC_OK && change == PUT_INSERT && phantoms == PHANTOMS_NEXT_KEY) {
        uint32_t number = txn_row_number(txn, row);
        status = locking_enter_gap(cc, txn, row);
        row = &txn->rows.items[number];
    }
    if (status != CC_OK) {
        return status;
    }
    *base = store_newest(cc->store, row->table, row->key, row->record);
    if (phantoms == PHANTOMS_PREDICATE && change >= PUT_UPDATE) {
        return pass_predicates(cc, txn, row, change, patience, *base);
    }
    return CC_OK;
}

/* ---- Ends of statements ---- */

/* A row locked S in a statement that is no FOR SHARE was read plainly: by it, or as the source of what it writes. */
static bool is_short(const struct txn *txn, const struct lock *lock) {
    if (lock->gap) {
        return txn->intent != SEE_WRITE;
    }
    return txn->level == LEVEL_RC && lock->mode == MODE_S && txn->intent != SEE_SHARE;
}

static void release_short(struct cc *cc, struct txn *txn) {
    struct lock *next;
    if (txn->intent != SEE_WRITE) {
        predicate_lock_release(cc, &locking_of(cc)->predicates, txn, txn->statement);
    }
    for (struct lock *lock = txn->held; lock != NULL && lock_before(lock, txn->statement) == MODE_NONE; lock = next) {
        next = lock->held_next;
        if (is_short(txn, lock)) {
            lock_weaken(cc, lock, MODE_NONE);
        }
    }
}

static __attribute__((noinline)) void give_back_short(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        lock_forget_statement(cc, txn, txn->statement);
        predicate_lock_release(cc, &locking_of(cc)->predicates, txn, txn->statement);
    }
    if (txn->level != LEVEL_SER) {
        release_short(cc, txn);
    }
}

void locking_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    if (failed || txn->level != LEVEL_SER) {
        give_back_short(cc, txn, failed);
    }
}

/* Below SER a savepoint keeps nothing; a statement that failed keeps the duplicate key it met, where rows read are kept
 * at all. */
void locking_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    bool keeps_reads = txn->level == LEVEL_SER || (txn->level == LEVEL_RR && txn->in_statement);
    lock_rollback(cc, txn, mark, keeps_reads);
    if (!keeps_reads) {
        predicate_lock_release(cc, &locking_of(cc)->predicates, txn, mark);
    }
}

void locking_back(struct cc *cc, struct txn *txn, uint32_t mark) {
    cancel(cc, txn);
    lock_rollback(cc, txn, mark, false);
    predicate_lock_release(cc, &locking_of(cc)->predicates, txn, mark);
}

enum cc_status locking_prepare(struct cc *cc, struct txn *txn) {
    (void)cc;
    (void)txn;
    return CC_OK;
}

void locking_commit(struct cc *cc, struct txn *txn) { txn_publish(txn, cc->store, false); }

void locking_release(struct cc *cc, struct txn *txn) {
    lock_release_all(cc, txn);
    predicate_lock_release(cc, &locking_of(cc)->predicates, txn, 0);
}

void locking_abort(struct cc *cc, struct txn *txn) {
    cancel(cc, txn);
    locking_release(cc, txn);
}

void locking_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most) {
    if (waiting->predicate_queued != NULL) {
        predicate_lock_blockers(waiting, out, most, false);
    } else if (cc->follows_sleepers) {
        lock_sleeping_blockers(waiting, out);
    } else {
        lock_blockers(waiting, out, most, false);
    }
}

void locking_holders(const struct txn *waiting, struct txn_list *out) {
    if (waiting->predicate_queued != NULL) {
        predicate_lock_blockers(waiting, out, SIZE_MAX, true);
    } else {
        lock_holders(waiting, out);
    }
}
