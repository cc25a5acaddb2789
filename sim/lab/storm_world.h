/* storm_world.h - random small worlds: how many terminals (or an open system), CPUs, disks, prices, admission, log,
 * restarts, the algorithm's options, the workload and its options. A seed and a number are a world; every algorithm
 * gets
 * the same one, as far as its options go. */
#ifndef CCSIM_LAB_STORM_WORLD_H
#define CCSIM_LAB_STORM_WORLD_H

#include "sim/cc/cc.h"
#include "sim/exec/run.h"
#include "workloads/workload.h"

/* Keys that a world of `wild` uses, at most. */
enum { STORM_WILD_KEYS = 24 };

struct storm_subject {
    const struct cc_ops *algorithm;
    const struct workload_ops *workload; /* NULL: drawn; wild half of the time */
    const char *settings;  /* "name=value name=value": options of the algorithm that are not random; NULL: none */
    uint64_t seed, number; /* the number counts from 1 */
};

struct storm_world {
    struct run_spec spec; /* certify, history and replay are the caller's business */
    void *algorithm_options, *workload_options;
};

void storm_world_draw(struct storm_world *world, const struct storm_subject *subject);
void storm_world_free(struct storm_world *world);

/* What it is, on one line: the settings that are not the defaults, as sim/exec/spec.h takes them. */
void storm_world_tell(const struct storm_world *world, struct text *out);

/* Sets what `settings` says of the options of `table`, and leaves the rest alone. False with a sentence at a value that
 * cannot be read or a word without `=`; `unknown`, if not NULL, counts the words that the table does not know. */
bool storm_set(const struct option_table *table, const char *settings, void *values, size_t *unknown,
               struct text *error);

#endif
