/* progress.c - see the header. */
#include "sim/lab/progress.h"

#include <stdio.h>
#include <unistd.h>

#define SHOW_EVERY_SECONDS 0.2

double progress_seconds_since(const struct timespec *began) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) / 1e9;
}

void progress_start(struct progress *progress, size_t total, bool quiet) {
    *progress = (struct progress){.on = !quiet && isatty(STDERR_FILENO), .total = total};
    clock_gettime(CLOCK_MONOTONIC, &progress->began);
}

static void print_duration(double seconds) {
    if (seconds < 60) {
        fprintf(stderr, "%.0f s", seconds);
    } else if (seconds < 3600) {
        fprintf(stderr, "%d min %02d s", (int)seconds / 60, (int)seconds % 60);
    } else {
        fprintf(stderr, "%d h %02d min", (int)(seconds / 3600), (int)(seconds / 60) % 60);
    }
}

void progress_show(struct progress *progress, size_t settled) {
    if (!progress->on || (progress->shown && progress_seconds_since(&progress->last) < SHOW_EVERY_SECONDS)) {
        return;
    }
    double seconds = progress_seconds_since(&progress->began);
    fprintf(stderr, "\r\033[K%zu of %zu runs (%zu%%)", settled, progress->total, 100 * settled / progress->total);
    if (settled > 0) {
        fprintf(stderr, ", about ");
        print_duration(seconds / (double)settled * (double)(progress->total - settled));
        fprintf(stderr, " to go");
    }
    fflush(stderr);
    clock_gettime(CLOCK_MONOTONIC, &progress->last);
    progress->shown = true;
}

void progress_clear(struct progress *progress) {
    if (progress->shown) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
        progress->shown = false;
    }
}
