/* planner.h - capacity planning: how much of something a system carries while it meets an objective.
 *
 * One key of [system] is varied: the arrival rate, the number of terminals, the admission limit (a connection pool's
 * size) - of which the highest value that meets the objectives is looked for - or the number of CPUs, of which the
 * lowest. Everything else is as the config says; the algorithms and the other axes of its sweep are compared.
 *
 * Every replication is searched by itself: from a value that meets the objectives and one that does not, the interval
 * between them is halved. The replications have independent streams, the same for every value and every algorithm
 * (common random numbers), so that each gives an independent estimate of the edge: Student's t gives the interval of a
 * rate. The value to plan with is the one that met the objectives in every replication; what is shown of it was measured
 * there.
 *
 * An open system must also keep up: a backlog that grows is a failed objective. So is giving up (restart.max_attempts) by
 * more than one in a hundred transactions, unless an objective speaks of gave_up. Where the search comes to its bounds
 * before it finds an edge it says so: nothing is extrapolated. */
#ifndef CCSIM_LAB_PLANNER_H
#define CCSIM_LAB_PLANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/text.h"
#include "sim/lab/experiment.h"
#include "sim/lab/lab.h"

enum planner_variable { PLANNER_ARRIVAL_RATE, PLANNER_TERMINALS, PLANNER_MPL, PLANNER_CPUS, PLANNER_VARIABLES };
extern const char *const planner_keys[PLANNER_VARIABLES]; /* "system.arrival_rate" */

/* `METRIC < VALUE`, or with <=, >, >=; the value as the metric has it (ms, a share), or with a unit: 50ms, 5%, 100/s. */
struct planner_objective {
    size_t metric; /* index in metrics_all */
    bool below, strict;
    double limit;
    char *text; /* as it is told */
};
/* False with a sentence. Free with planner_objective_free. */
bool planner_objective_parse(const char *words, struct planner_objective *objective, struct text *error);
void planner_objective_free(struct planner_objective *objective);

struct planner_request {
    const struct experiment_request *experiment; /* without the key that is varied */
    enum planner_variable vary;
    const struct planner_objective *objectives;
    size_t objective_count;
    double from, to; /* bounds of the search; 0: the planner's own */
    int workers;     /* 0: one per processor */
    bool quiet, json;
    const char *command; /* `ccsim run` and what is needed to replay a run, without --only */
};

/* Prints the answer on stdout, messages on stderr. LAB_DONE if there is an answer, "nothing meets the objectives"
 * included. */
enum lab_exit planner_run(const struct planner_request *request);

#endif
