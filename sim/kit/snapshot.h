/* snapshot.h - what a transaction sees as of a moment: the newest versions committed at or before its stamp.
 *
 * Open snapshots form a list, oldest first, because they are taken in stamp order; its head bounds what may be purged.
 * Invariant: every version that an open snapshot can see is still in its chain. */
#ifndef CCSIM_KIT_SNAPSHOT_H
#define CCSIM_KIT_SNAPSHOT_H

#include "sim/kit/instance.h"

/* Takes a snapshot of now, if the transaction has none. */
void snapshot_open(struct cc *cc, struct txn *txn);
/* Gives it up (none: nothing happens) and frees the versions nobody can see any more. */
void snapshot_close(struct cc *cc, struct txn *txn);

/* The version of `row` that the transaction sees: its own newest one, else the snapshot's. Counts versions passed. */
struct version *snapshot_version(struct cc *cc, struct txn *txn, struct row *row);

#endif
