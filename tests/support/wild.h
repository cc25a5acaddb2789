/* wild.h - random worlds (sim/lab/storm_world.h) judged by the oracle besides.
 *
 * The programs are those of the workload `wild`; what they ask for and are answered is written down for the oracle,
 * and every call to the algorithm is watched (watch.h). A seed is a world, the first of that seed's storm; the same
 * seed
 * gives every algorithm the same one, as far as its options go. */
#ifndef CCSIM_TESTS_SUPPORT_WILD_H
#define CCSIM_TESTS_SUPPORT_WILD_H

#include "sim/cc/cc.h"
#include "sim/exec/run.h"
#include "sim/lab/storm_world.h"
#include "tests/support/oracle.h"

struct wild_world {
    struct run_spec spec;
    struct storm_world drawn; /* owns the options */
    struct oracle oracle;
    enum oracle_kind kind;
    char replay[128];
};

/* The world of that seed. `settings` is NULL or "name=value name=value": algorithm's options that are not random. */
void wild_world_draw(struct wild_world *world, const struct cc_ops *algorithm, uint64_t seed, const char *settings);
/* That share of its transactions asks for another level; then the oracle has no say. */
void wild_world_mix(struct wild_world *world, enum level level, double share);
/* Runs it; frees nothing but what the run took. */
void wild_world_run(struct wild_world *world, struct run_result *result);
void wild_world_free(struct wild_world *world);

/* Sets options of an algorithm from "name=value name=value", the others to their defaults. */
void wild_set_options(const struct cc_ops *algorithm, void *values, size_t size, const char *settings);

#endif
