/* stopwatch.h - processor time for the benchmarks: the machine may be shared, so the wall clock says less. */
#ifndef CCSIM_BENCH_STOPWATCH_H
#define CCSIM_BENCH_STOPWATCH_H

#include <time.h>

static inline double stopwatch_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
