/* rowlock.h - the row locks of the multiversion algorithms: only writers, locking reads and inserts take them, waiters
 * stand in FIFO order, and a cycle of waiters is a deadlock. What a waiter shows is the holder if it is the first in
 * line, else those ahead; what a deadlock search follows is all of them, for whoever is behind another waits for the
 * holder too. */
#ifndef CCSIM_KIT_ROWLOCK_H
#define CCSIM_KIT_ROWLOCK_H

#include "sim/kit/deadlock.h"
#include "sim/kit/lock.h"

/* cc_ops.start: the lock table, and the edges of deadlock searches. */
void rowlock_start(struct cc *cc);

/* Takes the row's lock, or waits for it: to be called again, as claim is, after a wake. */
enum cc_status rowlock_take(struct cc *cc, const struct deadlock_options *options, struct txn *txn, struct row *row,
                            enum lock_mode mode, enum patience patience);

/* Has one that committed since the transaction's snapshot changed the row? */
bool rowlock_changed_since(struct cc *cc, const struct txn *txn, struct row *row);

/* cc_ops.claim where the first updater wins: refused (write_conflict) if the row changed since the snapshot, by a commit
 * before the lock or by the one that was waited for. */
enum cc_status rowlock_claim(struct cc *cc, const struct deadlock_options *options, struct txn *txn, struct row *row,
                             enum change change, enum patience patience, struct version **base);

/* READ COMMITTED: gives back what this statement locked of a row that it then passed over. */
void rowlock_give_back(struct cc *cc, struct txn *txn, struct row *row);

/* cc_ops.blockers. */
void rowlock_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most);

#endif
