/* workers.h - many jobs on several processes.
 *
 * The caller's process forks workers and hands out jobs over pipes, a batch at a time; each finished job comes back as
 * one message of bytes, in whatever order it finishes. One worker takes the same path as many. A worker that dies
 * takes only the job it was at with it: the rest of its batch goes to the others, and a new worker replaces it. An
 * interruption (SIGINT, SIGTERM, SIGHUP) ends the workers and is reported; what had finished has been handed over. */
#ifndef CCSIM_LAB_WORKERS_H
#define CCSIM_LAB_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/text.h"

struct workers_plan {
    size_t jobs; /* numbered from 0 */
    int workers; /* processes, at least 1 */
    void *context;
    void (*run)(void *context, size_t job, struct text *answer); /* in a worker */
    bool (*done)(void *context, size_t job, const char *answer,
                 size_t length);                              /* in the caller; false stops everything */
    void (*lost)(void *context, size_t job, int wait_status); /* in the caller: the worker died in it */
    void (*tick)(void *context); /* in the caller, after answers and several times a second; may be NULL */
};

enum workers_end {
    WORKERS_DONE, /* each job was either done or lost */
    WORKERS_INTERRUPTED,
    WORKERS_STOPPED,   /* `done` said so */
    WORKERS_NO_PROCESS /* not even one worker could be started: errno says why */
};

enum workers_end workers_run(const struct workers_plan *plan);

/* The number of processors this process may use. */
int workers_default(void);

#endif
