/* timestamp.h - what the schemes of timestamp ordering share: who waits for whom, and how long stamps are kept.
 *
 * A transaction's timestamp is the id of its attempt: new at each restart, growing in order of begin. The write stamp
 * of a version is its writer. Reads leave stamps in the record's tail: on the row, and on the gap before it for scans.
 *
 * Invariants
 *  1. Who waits is younger than the one it waits for: no cycle can close.
 *  2. A stamp matters only to transactions older than it. So those on a row that is absent are wiped as soon as everybody
 *     alive is younger, and the store can forget the row: a queue of rows in the order in which attempts met them and
 *     ended, whose head goes when the oldest living transaction is younger than the attempt that put it there.
 *  3. A record with a stamp on its gap goes on bounding it: of two gaps the stamps never have to be united. */
#ifndef CCSIM_KIT_TIMESTAMP_H
#define CCSIM_KIT_TIMESTAMP_H

#include "sim/kit/instance.h"

/* A row whose stamps are to be wiped once all who live are younger than `id`. */
struct timestamp_stale {
    struct table *table;
    int64_t key;
    uint64_t id;
};

/* The instance's state begins with it. */
struct timestamp_state {
    VECTOR(struct timestamp_stale) stale;
    size_t first; /* of `stale`: the head of the queue */
};

/* The transaction's tail begins with it. */
struct timestamp_txn {
    struct txn *waits_for, *first_waiter;
    struct txn *next, *previous; /* among those who wait for the same */
};

/* The record's tail. */
struct timestamp_mark {
    uint64_t read;   /* the youngest that read the row */
    uint64_t gap;    /* the youngest that scanned the gap before it */
    uint64_t erased; /* who deleted it: where no old version tells */
};

static inline struct timestamp_mark *timestamp_mark_of(struct record *record) {
    return (struct timestamp_mark *)record_tail(record);
}
static inline uint64_t timestamp_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* cc_ops.begin */
enum cc_status timestamp_begin(struct cc *cc, struct txn *txn);
/* cc_ops.stop */
void timestamp_stop(struct cc *cc);

/* `txn` has to wait for the older writer of `version`, which is not committed: as its patience allows. */
enum cc_status timestamp_wait(struct cc *cc, struct txn *txn, const struct version *version, enum patience patience);
/* Those who wait for `txn` look again. */
void timestamp_wake(struct cc *cc, struct txn *txn);
/* At commit (after publishing) and abort: it waits no more, nobody waits for it, old stamps go. */
void timestamp_end(struct cc *cc, struct txn *txn);

/* cc_ops.range: a scan leaves its stamp on the gap. */
enum cc_status timestamp_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                               enum patience patience);
/* An insert of `row`: refused if a younger one scanned the gap it falls into; else the gap's stamp covers both halves.
 * `bounds_gap` is the algorithm's. */
enum cc_status timestamp_enter_gap(struct cc *cc, struct txn *txn, struct row *row,
                                   bool (*bounds_gap)(const struct record *));

void timestamp_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most);

/* The parts of cc_ops at which timestamps make no difference. */
enum cc_status timestamp_statement(struct cc *cc, struct txn *txn, enum intent intent);
enum cc_status timestamp_prepare(struct cc *cc, struct txn *txn);
void timestamp_rollback(struct cc *cc, struct txn *txn, uint32_t mark);

#endif
