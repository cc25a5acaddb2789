/* wild.h - random transactions in random worlds, judged by the oracle.
 *
 * `wild` is a workload for tests alone: programs of 1 to 8 steps out of everything a step can be, over a table of a few
 * dense keys among sparse ones that are absent at first. A world is a run_spec of random shape: how many terminals (or
 * an open system), CPUs, disks, prices, admission, log, restarts, the algorithm's options, and the mix of the programs.
 * A seed is a world; the same seed gives every algorithm the same one, as far as its options go. */
#ifndef CCSIM_TESTS_SUPPORT_WILD_H
#define CCSIM_TESTS_SUPPORT_WILD_H

#include "sim/cc/cc.h"
#include "sim/exec/run.h"
#include "tests/support/oracle.h"

/* What a world's programs look like; shares are of 0..1. */
struct wild_options {
    enum oracle_kind kind;
    bool sees_blind;
    int64_t first_key, dense_first, rows, keys; /* keys in use: first_key .. first_key + keys - 1 */
    uint64_t weights[10];                       /* of the kinds of action, see wild.c */
    uint64_t steps_max;
    double locking, impatient, conditional, limited, blind, last_seen, rollback, hot;
    struct distribution think;
    struct oracle *oracle; /* overwritten at the start of the run; freed by wild_world_free */
};

struct wild_world {
    struct run_spec spec;
    struct wild_options options;
    struct oracle oracle;
    uint64_t algorithm_options[64];
    char replay[128];
};

extern const struct workload_ops workload_wild;

/* The world of that seed. `settings` is NULL or "name=value name=value": algorithm's options that are not random. */
void wild_world_draw(struct wild_world *world, const struct cc_ops *algorithm, uint64_t seed, const char *settings);
/* Runs it; frees nothing but what the run took. */
void wild_world_run(struct wild_world *world, struct run_result *result);
void wild_world_free(struct wild_world *world);

/* Sets options of an algorithm from "name=value name=value", the others to their defaults. */
void wild_set_options(const struct cc_ops *algorithm, void *values, size_t size, const char *settings);

#endif
