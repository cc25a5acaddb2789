/* lab_parts.h - what the parts of lab share: one experiment under way.
 *
 * A job is a run of the plan: replication by replication, then point. Its outcome is either found in a journal or
 * computed by a worker; both go the same way (lab_settle). */
#ifndef CCSIM_LAB_LAB_PARTS_H
#define CCSIM_LAB_LAB_PARTS_H

#include <time.h>

#include "sim/lab/journal.h"
#include "sim/lab/lab.h"
#include "sim/lab/progress.h"
#include "sim/lab/results.h"
#include "sim/lab/workers.h"

struct lab {
    const struct experiment *experiment;
    const struct experiment_facts *facts;
    const struct lab_request *request;
    const char *folder;
    char *workload;         /* name */
    struct results results; /* of a shard: not open */
    struct journal journal; /* that finished runs are added to */
    struct journals others; /* where finished runs are looked for as well */
    struct {
        size_t *items;
        size_t count, capacity;
    } todo;         /* the jobs that are to be computed */
    uint64_t *keys; /* of all jobs */
    struct progress progress;
    size_t jobs, known, computed; /* in all; found in a journal; computed now, for better or worse */
    size_t messages;
    size_t refused;    /* runs that could not go on, by their own doing */
    bool broken, lost; /* a promise, a worker */
    struct text error; /* of a file: the end of all */
    struct timespec began;
    time_t started;
};

/* --- lab.c --- */

/* The experiment's results from what has been settled: files, table and figures. */
enum lab_exit lab_conclude(struct lab *lab);
enum lab_exit lab_draw(const struct lab *lab, enum lab_exit end);
void lab_begin(struct lab *lab, const struct experiment *experiment, const struct lab_request *request);
void lab_end(struct lab *lab);

/* --- lab_runs.c --- */

/* The keys of all jobs, and what the journals hold of them; the rest of those that are wanted is to be done. `shards`:
 * the shard of each job, of which only request->shard is wanted; NULL: all are. False if a file cannot be written. */
bool lab_look_up(struct lab *lab, const uint32_t *shards);

/* Computes what is to be done. */
enum workers_end lab_compute(struct lab *lab);
int lab_workers(const struct lab *lab);

/* The command that computes everything, folder included, as far as `shard` goes (of 0: as the request says). */
void lab_add_command(const struct lab *lab, struct shard shard, struct text *out);

#endif
