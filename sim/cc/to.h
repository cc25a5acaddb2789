/* to.h - what `to` and `to-thomas` share: all but what becomes of a late write. */
#ifndef CCSIM_CC_TO_H
#define CCSIM_CC_TO_H

#include "sim/cc/cc.h"
#include "sim/kit/timestamp.h"

bool to_bounds_gap(const struct record *record);
enum cc_status to_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                       struct version **seen);
void to_commit(struct cc *cc, struct txn *txn);

/* A row of its own, or one that is only to be locked, has passed read already. */
bool to_is_settled(const struct row *row, enum change change);
/* The right to stand above `base`, the newest version that is not younger. */
enum cc_status to_take(struct cc *cc, struct txn *txn, struct row *row, enum change change, enum patience patience,
                       const struct version *base);

/* All fields of a cc_ops that both fill the same way. */
#define TO_OPS                                                                                   \
    .levels = 1u << LEVEL_SER, .level = LEVEL_SER, .record_size = sizeof(struct timestamp_mark), \
    .begin = timestamp_begin, .statement = timestamp_statement, .range = timestamp_range, .bounds_gap = to_bounds_gap

#endif
