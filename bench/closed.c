/* closed.c - the closed locking model of floor_closed.c run by the simulator itself, as a user would have it: the
 * hot_row workload without a hot row, every metric measured.
 * Usage: closed ROWS [ALGORITHM [SETTINGS]]; prints simulated transactions per second of processor time, then, to hold
 * against the model's truth, commits per simulated second, the mean response and events per second of processor time. */
#include <stdio.h>

#include "bench/stopwatch.h"
#include "sim/exec/spec.h"

static bool specify(struct spec *spec, const char *rows, const char *algorithm, const char *settings) {
    struct text all = {0}, error = {0};
    text_add(&all,
             "system.terminals=64 system.cpus=4 cost.cpu_access=exp(1ms) workload.rows=%s workload.accesses=10 "
             "workload.hot_rows=0 workload.write_fraction=1 workload.order=by_key warmup=10s duration=500s %s",
             rows, settings);
    bool good = spec_open(spec, algorithm, "hot_row") && spec_set(spec, text_string(&all), &error);
    if (!good) {
        fprintf(stderr, "closed: %s: %s\n", algorithm, text_string(&error));
    }
    text_free(&all);
    text_free(&error);
    return good;
}

int main(int argc, char **argv) {
    struct spec spec;
    if (!specify(&spec, argc > 1 ? argv[1] : "100000", argc > 2 ? argv[2] : "2pl", argc > 3 ? argv[3] : "")) {
        return 2;
    }
    struct run_result result;
    double before = stopwatch_seconds();
    run_simulate(&spec.run, &result);
    double seconds = stopwatch_seconds() - before;
    /* the warm-up is work too */
    double share = (double)(spec.run.warmup_ns + spec.run.duration_ns) / (double)spec.run.duration_ns;
    printf("%.0f transactions/s; %.1f commits per simulated second, response %.2f ms, %.2f million events/s\n",
           (double)result.commits * share / seconds, (double)result.commits / result.sim_seconds,
           result.response_sum_ns / (double)result.commits / 1e6, (double)result.events / seconds / 1e6);
    run_result_free(&result);
    spec_close(&spec);
    return 0;
}
