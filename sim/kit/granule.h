/* granule.h - locks on what is coarser than a row: its page, its table, the database.
 *
 * A granule is locked like a record and lives in the same lock table: it is a record of a table that only this file
 * knows, and the transaction knows it as one more row. Whoever locks a granule announces it on all that contain it, from
 * the database down: IS for S, IX for U and X. So a lock on a granule protects all that lies beneath it, and a conflict
 * between a coarse lock and a fine one shows where both are announced.
 *
 * A page holds the keys page * rows_per_page and up, whether rows with these keys exist or not: a page's lock protects
 * that range of keys against inserts.
 *
 * Invariants
 *  1. Whoever holds a lock on a row or page holds at least its intention on all that contains it; whoever holds a gap,
 *     at least IS on its table.
 *  2. A lock is older than those beneath it. They are released newest first, hence bottom-up.
 *
 * In struct row: `mark` is 1 + the number of the granule above, 0 not looked for yet; `note` is the level, and scratch.
 * Gray, Lorie, Putzolu, Traiger, "Granularity of locks and degrees of consistency in a shared data base" (1976). */
#ifndef CCSIM_KIT_GRANULE_H
#define CCSIM_KIT_GRANULE_H

#include "sim/kit/locking.h"

enum granule { GRANULE_ROW, GRANULE_PAGE, GRANULE_TABLE, GRANULE_DATABASE, GRANULE_COUNT };

struct granules {
    struct table database, tables, pages[STORE_TABLES_MAX]; /* pages of a table: from its first use on */
};

void granules_start(struct cc *cc, struct granules *granules);
void granules_stop(struct granules *granules);

/* Numbers in txn->rows: of the table's granule; of the granule that directly contains the row, page or table `number`. */
uint32_t granule_of_table(struct cc *cc, struct granules *granules, struct txn *txn, const struct table *table);
uint32_t granule_meet_above(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t number);
static inline uint32_t granule_above(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t number) {
    uint64_t known = txn->rows.items[number].mark;
    return known != 0 ? (uint32_t)known - 1 : granule_meet_above(cc, granules, txn, number);
}
int64_t granule_page(const struct cc *cc, int64_t key);

/* The record of the granule on that level above a row, for display; NULL if nobody met it. */
const struct record *granule_record(struct cc *cc, struct granules *granules, const struct table *table, int64_t key,
                                    enum granule level, int64_t *page);

static inline enum granule granule_level(const struct row *row) { return (enum granule)(row->note & 3); }

/* Does the transaction's lock on that row or granule, if there is one, give the right to do `mode` on all of it? */
static inline bool granule_grants(const struct row *row, enum lock_mode mode) {
    return row->lock != NULL && lock_covers((enum lock_mode)row->lock->mode, mode);
}

/* Locks `number`, or what contains it on level `goal`, in `mode`, and announces it above; nothing more is asked for where
 * a coarser lock grants it already. If `number` is coarser than `goal`, it is only announced. May wait, at any level if
 * `patience` lets it; to be called again after the wake. */
enum cc_status granule_lock(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t number,
                            enum granule goal, enum lock_mode mode, enum patience patience);

/* Replaces all that `txn` has locked in the table of that granule by one lock on it; false if that cannot be had at once. */
bool granule_escalate(struct cc *cc, struct txn *txn, uint32_t number);

/* Gives up what statements from `mark` on locked, but not what protects what they read (contract, law 7). */
void granules_rollback(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t mark);
/* After it for a failed statement: drops what only that statement took. */
void granules_forget(struct cc *cc, struct granules *granules, struct txn *txn, uint32_t statement);

#endif
