/* writelock.h - the short write locks of optimistic schemes: taken at prepare on the whole write set, given up when the
 * writes are installed.
 *
 * They are taken in the order of keys. Who meets another's lock waits for its holder: a validation, holding those of
 * its locks that come before; or a reader, holding nothing. The holder's end wakes all who wait for it, in the order in
 * which they came, and they look again: like spinning, without the CPU it takes.
 *
 * Invariants
 *  1. Who waits holds only locks that come before the one it waits for, so no cycle can close.
 *  2. Locks are held between the first call of prepare and the end of the attempt only; a record's tail is zero else. */
#ifndef CCSIM_KIT_WRITELOCK_H
#define CCSIM_KIT_WRITELOCK_H

#include "sim/kit/instance.h"

/* The record's tail begins with it. */
struct writelock_head {
    struct txn *holder;
};

/* The transaction's tail begins with it. */
struct writelock_txn {
    struct txn *awaited;                    /* the holder it waits for, or NULL */
    struct txn *next, *previous;            /* among those who wait for the same */
    struct txn *first_waiter, *last_waiter; /* who wait for it */
};

static inline struct txn *writelock_holder(struct record *record) {
    return ((struct writelock_head *)record_tail(record))->holder;
}

/* cc_ops.bounds_gap: scans meet the rows that are about to be inserted. */
bool writelock_bounds_gap(const struct record *record);

/* Does another hold the lock on the record? */
bool writelock_is_others(const struct txn *txn, struct record *record);

/* Before the row is read or claimed: waits, as its patience allows, while another holds its lock. */
enum cc_status writelock_await(struct txn *txn, struct row *row, enum patience patience);

/* Takes the locks of the write set, in the order of keys; WAIT: to be called again. */
enum cc_status writelock_take(struct txn *txn);

/* Gives up the locks it has, but goes on waiting; those who waited for it look again. */
void writelock_yield(struct cc *cc, struct txn *txn);

/* Gives up the locks of the write set; those who waited for them look again. The transaction itself waits no more. */
void writelock_release(struct cc *cc, struct txn *txn);

/* cc_ops.blockers. */
void writelock_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most);

#endif
