/* wild.h - what the programs of the workload `wild` look like, for those who draw its options themselves. */
#ifndef CCSIM_WORKLOADS_WILD_H
#define CCSIM_WORKLOADS_WILD_H

#include "workloads/workload.h"

enum { WILD_STEPS_MAX = 8, WILD_VALUES = 4 };

/* The kinds of a program's steps. */
enum wild_action {
    WILD_SELECT_KEY,
    WILD_SELECT_RANGE,
    WILD_UPDATE_KEY,
    WILD_UPDATE_RANGE,
    WILD_INSERT,
    WILD_DELETE_KEY,
    WILD_DELETE_RANGE,
    WILD_SAVEPOINT,
    WILD_ROLLBACK_TO,
    WILD_THINK,
    WILD_ACTIONS
};

struct wild_options {
    /* Keys in use: some that are absent at first, `rows` of which a tenth is absent, and some more that are absent. */
    double first_key; /* whole; may be negative */
    int64_t keys_before, rows, keys_after;
    int64_t steps_max;
    int64_t weights[WILD_ACTIONS]; /* not all 0 */
    double locking, impatient, conditional, limited, blind, last_seen, rollback, hot;
    struct distribution think;
    double other_level; /* share of the transactions that ask for `level` */
    int level;          /* enum level */
};

extern const struct workload_ops workload_wild;

#endif
