/* run.c - one simulation, timed: any algorithm on any workload with any settings, run as a user would have it, every
 * metric measured.
 * Usage: run ALGORITHM WORKLOAD 'SETTINGS'...; settings as in sim/exec/spec.h. Prints, each per second of processor
 * time,
 * simulated transactions (those of the warm-up included) and thousands of events; then, to hold against a
 * model's truth, commits per simulated second, the mean response in ms, aborts per commit; and the seconds it took. */
#include <stdio.h>

#include "bench/stopwatch.h"
#include "sim/cc/cc.h"
#include "sim/exec/spec.h"

static bool specify(struct spec *spec, int count, char **words) {
    if (count < 2 || !spec_open(spec, words[0], words[1])) {
        fprintf(stderr, "usage: run ALGORITHM WORKLOAD 'SETTINGS'...\n");
        return false;
    }
    struct text error = {0};
    bool adaptive = (spec->run.algorithm->flags & CC_RESTART_ADAPTIVE) != 0;
    bool good = !adaptive || spec_set(spec, "restart.delay=adaptive", &error);
    for (int i = 2; i < count && good; i++) {
        good = spec_set(spec, words[i], &error);
    }
    if (!good) {
        fprintf(stderr, "run: %s\n", text_string(&error));
    }
    text_free(&error);
    return good;
}

static double aborts(const struct run_result *result) {
    uint64_t sum = 0;
    for (int i = 0; i < REASON_COUNT; i++) {
        sum += result->aborts_by_reason[i];
    }
    return (double)sum;
}

static void print_result(const struct run_spec *run, const struct run_result *result, double seconds) {
    double share = (double)(run->warmup_ns + run->duration_ns) / (double)run->duration_ns;
    double commits = (double)result->commits;
    printf("%.0f %.0f %.2f %.3f %.3f %.3f\n", commits * share / seconds, (double)result->events / seconds / 1e3,
           commits / result->sim_seconds, result->response_sum_ns / commits / 1e6, aborts(result) / commits, seconds);
}

int main(int argc, char **argv) {
    struct spec spec;
    if (!specify(&spec, argc - 1, argv + 1)) {
        return 2;
    }
    struct run_result result;
    double before = stopwatch_seconds();
    run_simulate(&spec.run, &result);
    double seconds = stopwatch_seconds() - before;
    bool good = result.status == RUN_OK;
    if (good) {
        print_result(&spec.run, &result, seconds);
    } else {
        fprintf(stderr, "run: %s\n", text_string(&result.message));
    }
    run_result_free(&result);
    spec_close(&spec);
    return good ? 0 : 1;
}
