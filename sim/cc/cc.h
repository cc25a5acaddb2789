/* cc.h - the contract between the walker and an algorithm of concurrency control.
 *
 * exec walks a transaction; at every point where the algorithm may have a say it calls one of these functions and obeys
 * the answer. An algorithm never advances time, never draws random numbers, never touches statistics: it counts work in
 * txn->work, and the price list turns work into time.
 *
 * One statement:  statement; for each row [range: the gap before it;] read; filter on what was seen, else unmatched;
 * claim; filter again if base is not what was seen, else unmatched; exec links the new version just above base (private
 * ones nowhere yet) in the same instant; then the range of the tail; statement_end.
 * A write by key whose new value and condition need nothing of the row has no read: claim alone.
 * An insert is read(SEE_WRITE), then claim(PUT_INSERT), without a range: claim finds the gap the key falls into.
 * The lock point is the end of the first statement with txn->last_lock that does not fail; where there is none, prepare.
 * One commit:  prepare (last refusal) -> log force -> commit (versions visible, order fixed) -> deferred writes ->
 * release. With CC_EARLY_PUBLISH: prepare -> commit -> log force, and those of all it read from -> deferred writes ->
 * release.
 *
 * Laws (the conformance tests hold every algorithm to them)
 *  1. A call is one instant.
 *  2. WAIT: queue yourself, answer WAIT; the same call is repeated after the wake. A wake is a hint: a repeated call
 *  may
 *     wait or be refused again, and may come unasked. A lock that is queued for is granted before its owner is woken.
 *  3. Who waits has a live blocker or a timer; with none, it is a lost wake-up: a bug. So is a cycle of waiters that
 *     outlives its detection.
 *  4. rollback and abort come once each, before exec unlinks the versions.
 *  5. After prepare's OK nobody but the coordinator ends a transaction.
 *  6. No txn pointer after its end, no version pointer past the instant.
 *  7. What a rolled-back savepoint read still counts at serializable levels; a failed statement's reads do not.
 *  8. What a scan skipped (SKIP LOCKED, LIMIT) is not certified.
 * 10. read hands back own writes first; nothing is decided by an address, a map's order, the wall clock or the
 * locale. */
#ifndef CCSIM_CC_CC_H
#define CCSIM_CC_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/condition.h"
#include "sim/base/option.h"
#include "sim/kit/instance.h"
#include "sim/kit/txn.h"
#include "sim/store/level.h"

enum cc_flag {
    CC_PRIVATE_WRITES = 1,   /* versions are private until published: exec links them nowhere */
    CC_KEEPS_VERSIONS = 2,   /* superseded versions stay as long as a snapshot needs them */
    CC_KEEPS_TOMBSTONES = 4, /* so do absent versions */
    CC_RESTART_ADAPTIVE = 8, /* default of restart.delay is adaptive, else 0 */
    CC_NO_CERTIFICATE = 16,  /* promises nothing that audits could rely on: the canary */
    CC_SKIPS_OBSOLETE =
        32,              /* Thomas's rule: claim may skip, and a version beneath a committed one is never installed */
    CC_LOOKS_AGAIN = 64, /* gaps are open to some: a scan that waited for a row looks again which row is next */
    CC_NEEDS_PLAN = 128, /* programs must tell their footprint */
    CC_EARLY_PUBLISH =
        256, /* the end of prepare is the commit point: versions are published and locks freed before the log
                              force, and the response ends when that of its own and of all it read from are done */
    CC_SHOWS_DIRTY = 512 /* versions may be read and overwritten before they are committed: several stand uncommitted */
};

struct cc_ops {
    const char *name, *summary, *paper;
    unsigned levels;  /* bit set: the levels it can run, 1u << LEVEL_SER */
    enum level level; /* what it promises */
    enum level
        mixed; /* what is left of that when transactions ask for different levels: SI or more; one level: unused */
    unsigned flags;
    /* With these options, does it commit what it read of transactions that may yet roll back? Then that is counted, not
     * forbidden: the level is promised for what was committed alone, and no audit is. NULL: never. */
    bool (*unrecoverable)(const void *options);
    const struct option_table *options;       /* NULL: none */
    size_t state_size, txn_size, record_size; /* private tails, zeroed by exec */
    size_t version_size;                      /* a private tail behind every version, zeroed */
    void (*start)(struct cc *cc);             /* before the first begin; may be NULL */
    void (*stop)(struct cc *cc);              /* frees what start took; may be NULL */
    enum cc_status (*begin)(struct cc *cc, struct txn *txn);
    enum cc_status (*statement)(struct cc *cc, struct txn *txn, enum intent intent); /* may be NULL: always OK */
    /* The gap before range->row, which bounds it; the record itself is read's business. After a wait the row is looked
     * for again: another one may bound the gap then. NULL: gaps are nothing to it. */
    enum cc_status (*range)(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                            enum patience patience);
    /* Hands back the version the transaction sees of the row, uncommitted or absent ones included. Where the answer is
     * OK and what `intent` announces is granted with it, it may set row->claimed: then the claim of an update, a delete or a
     * lock would be answered OK with the same version, and is left out. */
    enum cc_status (*read)(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                           struct version **seen);
    /* The right to change (or to lock) the row; *base is the version that will be replaced. */
    enum cc_status (*claim)(struct cc *cc, struct txn *txn, struct row *row, enum change change, enum patience patience,
                            struct version **base);
    void (*unmatched)(struct cc *cc, struct txn *txn, struct row *row); /* may be NULL */
    void (*statement_end)(struct cc *cc, struct txn *txn, bool failed); /* may be NULL */
    /* Bit set like `levels`: where it is called for statements that failed only, since the others leave nothing to do. */
    unsigned silent_levels;
    void (*rollback)(struct cc *cc, struct txn *txn, uint32_t mark); /* undo from statement `mark` on */
    /* Statements from `mark` on never were: gives back all they took, and leaves the queue. NULL: nobody is sent back. */
    void (*back)(struct cc *cc, struct txn *txn, uint32_t mark);
    enum cc_status (*prepare)(struct cc *cc, struct txn *txn);
    void (*commit)(struct cc *cc, struct txn *txn);
    void (*release)(struct cc *cc, struct txn *txn); /* after the deferred writes; may be NULL */
    void (*abort)(struct cc *cc, struct txn *txn);
    void (*timer)(struct cc *cc, struct txn *txn, int tag); /* may be NULL if no timer is ever set */
    /* Adds to `out` those the waiting transaction waits for, at most `most` of them; recomputed at each call, never
     * stored. */
    void (*blockers)(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most);
    /* Does the algorithm hold something on this record that makes it bound a gap? NULL: never. */
    bool (*bounds_gap)(const struct record *record);
    /* For display: the record that stands for what contains the row, on a level of 1 page, 2 table, 3 database, and the
     * page's number; NULL if nobody met it. NULL: it locks nothing but rows. */
    const struct record *(*granule)(struct cc *cc, const struct table *table, int64_t key, int level, int64_t *page);
};

static inline bool cc_is_unrecoverable(const struct cc_ops *ops, const void *options) {
    return ops->unrecoverable != NULL && ops->unrecoverable(options);
}

/* Every algorithm, in the order `ccsim list` shows. */
extern const struct cc_ops *const cc_registry[];
extern const size_t cc_registry_count;

/* The algorithm of that name, or NULL. */
const struct cc_ops *cc_find(const char *name);

#endif
