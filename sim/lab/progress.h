/* progress.h - one line on stderr that says how far the runs are and when they will be done; only where stderr is a
 * terminal. */
#ifndef CCSIM_LAB_PROGRESS_H
#define CCSIM_LAB_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct progress {
    bool on, shown; /* is there a line to be cleared? */
    size_t total;
    struct timespec began, last;
};

void progress_start(struct progress *progress, size_t total, bool quiet);
void progress_show(struct progress *progress, size_t settled); /* at most five times a second */
void progress_clear(struct progress *progress);                /* before anything else is printed */

/* Seconds since `began` on the clock that only goes forward. */
double progress_seconds_since(const struct timespec *began);

#endif
