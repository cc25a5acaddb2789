#include "sim/kit/duration.h"

static const struct deadlock_options *deadlock_of(const struct cc *cc) {
    return &((const struct duration_options *)cc->options)->deadlock;
}

static enum cc_status conflict(struct cc *cc, struct txn *txn) { return deadlock_on_wait(cc, deadlock_of(cc), txn); }

void duration_timer(struct cc *cc, struct txn *txn, int tag) {
    (void)tag;
    deadlock_on_timer(cc, deadlock_of(cc), txn);
}

void duration_start(struct cc *cc) {
    locking_start(cc, (struct locking){.phantoms = PHANTOMS_NEXT_KEY, .waits = true, .conflict = conflict});
    cc->keeps_programs = deadlock_of(cc)->rollback == ROLLBACK_PARTIAL;
}
