/* storm.h - random small worlds (storm_world.h) through every algorithm, on several processes, until time is up.
 *
 * Each run is certified and audited, must come to its end and leave nothing behind; some are repeated without the
 * certifier and must come out the same. A run that fails a CHECK, or does not end, costs that run alone. What is
 * found is
 * reported with the command that replays that world alone. An algorithm that promises nothing (the canary) must be
 * caught at least once. */
#ifndef CCSIM_LAB_STORM_H
#define CCSIM_LAB_STORM_H

#include <stddef.h>
#include <stdint.h>

#include "sim/cc/cc.h"
#include "sim/lab/lab.h"

struct storm_request {
    const struct cc_ops *const *algorithms; /* at least one */
    size_t algorithm_count;
    const char *settings; /* options of the algorithms, "name=value name=value", the others are random; may be NULL */
    uint64_t seed;
    uint64_t world;       /* only this one; 0: from the first on */
    uint64_t worlds_most; /* 0: no bound */
    double seconds;       /* of wall-clock time; infinite: no bound */
    int workers;          /* 0: one a processor */
};

/* Violations go to stderr as they are found, the summary to stdout. */
enum lab_exit storm_run(const struct storm_request *request);

#endif
