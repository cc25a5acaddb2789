/* lab_parts.h - what the parts of lab share: one experiment under way.
 *
 * A job is a run of the plan: replication by replication, then point. Its outcome is either found in a journal or
 * computed by a worker; both go the same way (settle, in lab_runs.c).
 *
 * How many replications a point gets is decided from its rows alone (lab_rounds.c), whoever computed them and in which
 * order, so it is decided alike by a run that was interrupted, by shards and by merging them; for that, and for its pilot
 * run, all of a point belongs to one shard. */
#ifndef CCSIM_LAB_LAB_PARTS_H
#define CCSIM_LAB_LAB_PARTS_H

#include <time.h>

#include "sim/lab/journal.h"
#include "sim/lab/lab.h"
#include "sim/lab/pilot.h"
#include "sim/lab/progress.h"
#include "sim/lab/results.h"
#include "sim/lab/workers.h"

struct lab_point {
    uint32_t wanted, settled; /* replications, the first so many: asked for; come out, one way or the other */
    bool is_mine;             /* not another shard's */
    bool has_pilot;
    struct pilot pilot;
};

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
    } todo;                   /* the jobs that are to be computed */
    uint64_t *keys;           /* of all jobs that were looked up */
    struct lab_point *points; /* of the experiment */
    double *values;           /* by job: of the metric whose precision is asked for; NULL if none is */
    struct {
        size_t first, count, computed_before;
        size_t *points; /* of a round of pilots: the points; else NULL */
    } round;            /* what the workers are at, of todo */
    struct progress progress;
    size_t jobs, known, computed; /* that there may be; found in a journal; computed now, for better or worse */
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

/* What the journals hold of the pilots, and of the jobs that are wanted; the rest of those is to be done. `shards`: by job,
 * or by point (lab_deals_points), of which only request->shard is wanted; NULL: all are. False if a file cannot be
 * written. */
bool lab_look_up(struct lab *lab, const uint32_t *shards);

/* Wants the job: looks it up, or puts it on the list. False if a file cannot be written. */
bool lab_want(struct lab *lab, size_t job);

/* Computes what is on the list and what follows from it, until nothing does. */
enum workers_end lab_compute(struct lab *lab);
int lab_workers(const struct lab *lab);
size_t lab_point_of(const struct lab *lab, size_t job);

/* Has the worker process `run` the jobs of the round. */
enum workers_end lab_work(struct lab *lab, void (*run)(void *context, size_t number, struct text *answer),
                          bool (*done)(void *context, size_t number, const char *answer, size_t length),
                          void (*lost)(void *context, size_t number, int wait_status));

/* Is the outcome of that key in a journal? It points into `found`. What a shard finds elsewhere it keeps. */
bool lab_find(struct lab *lab, uint64_t key, struct text *found, struct outcome *outcome);
/* Adds an outcome to the journal. False, with lab->error set, if it cannot be written. */
bool lab_keep(struct lab *lab, uint64_t key, const char *bytes, size_t length);

/* --- lab_rounds.c: warmup = auto, precision --- */

/* Are points dealt to the shards, rather than jobs? */
bool lab_deals_points(const struct lab *lab);
uint32_t *lab_deal(const struct lab *lab, uint32_t count);
uint32_t lab_shard_of(const struct lab *lab, const uint32_t *shards, size_t job);

/* The pilots of these shards that are known; the others, computed. */
void lab_find_pilots(struct lab *lab);
enum workers_end lab_fly_pilots(struct lab *lab);

/* Wants more replications where the precision asks for them and those wanted so far have come out; `*more`: has any been
 * added to the list? False if a file cannot be written. */
bool lab_extend(struct lab *lab, bool *more);

/* The command that computes everything, folder included, as far as `shard` goes (of 0: as the request says). */
void lab_add_command(const struct lab *lab, struct shard shard, struct text *out);

#endif
