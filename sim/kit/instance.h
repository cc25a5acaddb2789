/* instance.h - one running instance of an algorithm, the words of its contract, and the services it may call. */
#ifndef CCSIM_KIT_INSTANCE_H
#define CCSIM_KIT_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/condition.h"
#include "sim/kit/txn.h"
#include "sim/store/footprint.h"
#include "sim/store/store.h"

enum cc_status {
    CC_OK,
    CC_WAIT,  /* queued: repeat this call after a wake */
    CC_SKIP,  /* leave this row out: SKIP LOCKED, Thomas's rule */
    CC_ERROR, /* the statement fails, the transaction lives: NOWAIT, a duplicate key */
    CC_ABORT  /* the attempt ends; txn->reason says why */
};
enum intent { SEE, SEE_SHARE, SEE_UPDATE, SEE_WRITE }; /* what will be claimed if the row qualifies */
enum change { LOCK_SHARE, LOCK_UPDATE, PUT_UPDATE, PUT_DELETE, PUT_INSERT };
enum patience { BLOCK, NOWAIT, SKIP_LOCKED };

/* A scan of keys first .. last, standing before `row`, which bounds a gap (row->tail: it lies behind the last key). */
struct range {
    struct table *table;
    int64_t first, last;
    struct condition condition;
    struct row *row;
    bool tail; /* the row lies behind `last`: the end of the scan */
};

struct txn_list {
    struct txn **items;
    size_t count, capacity;
};

/* A transaction on the path of a depth-first search: which of its blockers, in the scratch list, are still to be
 * seen. */
struct search_frame {
    struct txn *txn;
    size_t next, end;
};

struct cc_ops;

struct cc {
    const struct cc_ops *ops;
    struct store *store;
    const struct harness *harness;
    const void *options;
    void *state;                                /* ops->state_size bytes */
    int64_t rows_per_page;                      /* page of a row: its key / rows_per_page */
    uint64_t seed;                              /* for decisions "by hash of seed and id" */
    struct txn *waiting_first, *waiting_last;   /* in order of beginning to wait; kept by exec */
    struct txn *snapshot_first, *snapshot_last; /* open snapshots, oldest first */
    struct txn_list search;                     /* scratch of the deadlock searches */
    VECTOR(struct search_frame) frames;
    struct txn_list condemned;
    uint64_t search_count;
    uint64_t lock_upgrades, escalations; /* counters of the run, read by exec */
    struct pool locks, queues;           /* the lock table's */
    uint64_t placements;                 /* locks granted so far, upgrades included */
    bool knows_sleepers;                 /* records with a queue know which of their holders wait */
    bool follows_sleepers;               /* a search is under way to which other blockers are nothing */
    bool keeps_programs;                 /* set by start(): transactions may be sent back */
    bool detection_set;                  /* is the timer of periodic deadlock detection running? */
    bool vacuum_set;                     /* is that of the next vacuum? */
    int64_t vacuum_period_ns;            /* 0: there are none */
    uint64_t vacuums;                    /* a counter of the run, too */
    /* The edges that deadlock searches follow: ops->blockers, unless start() says otherwise. */
    void (*blockers)(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most);
};

/* Refuse the asker: `return txn_refuse(txn, REASON_DEADLOCK);` */
static inline enum cc_status txn_refuse(struct txn *txn, enum reason reason) {
    txn->reason = (uint8_t)reason;
    return CC_ABORT;
}
static inline enum cc_status txn_fail(struct txn *txn, enum reason reason) {
    txn->reason = (uint8_t)reason;
    return CC_ERROR;
}
static inline void txn_wake(struct cc *cc, struct txn *txn) { cc->harness->wake(cc->harness->world, txn); }
static inline bool txn_doom(struct cc *cc, struct txn *txn, enum reason reason) {
    return cc->harness->doom(cc->harness->world, txn, (int)reason);
}
static inline void txn_back(struct cc *cc, struct txn *txn, uint32_t mark) {
    cc->harness->back(cc->harness->world, txn, mark);
}
static inline void txn_timer(struct cc *cc, struct txn *txn, int64_t delay_ns, int tag) {
    cc->harness->timer(cc->harness->world, txn, delay_ns, tag);
}
/* What the change that is being claimed would make of the row. */
static inline struct image txn_change_result(struct cc *cc, const struct txn *txn, const struct row *row,
                                             const struct version *base) {
    return cc->harness->change_result(cc->harness->world, txn, row, base);
}
/* What the transaction will access, in order; NULL: its program cannot tell. Good until the next call. */
static inline const struct footprint *txn_plan(struct cc *cc, const struct txn *txn) {
    return cc->harness->plan_uses(cc->harness->world, txn);
}
/* The live attempt of that id, or NULL if it has ended. */
static inline struct txn *txn_find(struct cc *cc, uint64_t id) { return cc->harness->find(cc->harness->world, id); }

#endif
