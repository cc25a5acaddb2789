/* validation.h - backward validation: is what a transaction has read still what is committed?
 *
 * "Read set against the write sets of all that committed since my start" is asked the other way round: each item read
 * carries the stamp of the latest commit that wrote it, which must not be newer than the start. That is the same test at
 * a cost that depends on the read set alone. Scans are validated by walking the range again, tombstones included. */
#ifndef CCSIM_KIT_VALIDATION_H
#define CCSIM_KIT_VALIDATION_H

#include "sim/kit/instance.h"

/* row->note, a set: how writes without a read met the row. That is all such a write depends on. */
enum seen { SEEN_ABSENT = 1, SEEN_PRESENT = 2 };

/* Reads the newest committed version, or one's own; row->mark keeps the stamp of the first one whose reading counts. */
struct version *validation_read(struct cc *cc, struct row *row);
/* What a private write would replace; notes whether it is there. */
struct version *validation_base(struct cc *cc, struct row *row);

/* Was nothing that `txn` relies on overwritten since its start, or, `by_version`, since it was read? And does nobody else
 * hold what it relies on, to overwrite it: `is_others` says who does; NULL: there are no such locks. */
bool validation_passes(struct cc *cc, struct txn *txn, bool by_version,
                       bool (*is_others)(const struct txn *, struct record *));

#endif
