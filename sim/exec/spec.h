/* spec.h - a run specification written by hand: defaults, then `section.key=value` for what differs. For benchmarks,
 * tests and tools that run one simulation; experiments come from configs (lab). */
#ifndef CCSIM_EXEC_SPEC_H
#define CCSIM_EXEC_SPEC_H

#include <stdbool.h>

#include "sim/base/text.h"
#include "sim/exec/run.h"

struct spec {
    struct run_spec run; /* seed 1, replication 1, no warm-up, 1 s; the pointers to options are the spec's own */
    void *algorithm_options, *workload_options;
};

/* Everything at its default (no terminals, no arrivals). False if a name is unknown. Free with spec_close. */
bool spec_open(struct spec *spec, const char *algorithm, const char *workload);
void spec_close(struct spec *spec);

/* Applies blank-separated `system.cpus=4 cost.cpu_access=exp(1ms) workload.rows=10 algorithm.victim=oldest seed=7
 * warmup=10s duration=100s certify=yes`. Values have no blanks. False with a sentence at the first mistake. */
bool spec_set(struct spec *spec, const char *assignments, struct text *error);

#endif
