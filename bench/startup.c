/* startup.c - what a run costs before its first event and after its last: runs of one simulated nanosecond, one after
 * another as a worker process makes them. 64 terminals, and a table of ROWS rows.
 * Usage: startup ROWS [ALGORITHM]; prints milliseconds of processor time per run. */
#include <stdio.h>

#include "bench/stopwatch.h"
#include "sim/exec/spec.h"

enum { RUNS = 200 };

int main(int argc, char **argv) {
    struct spec spec;
    struct text settings = {0}, error = {0};
    text_add(&settings, "system.terminals=64 system.cpus=4 duration=1ns workload.rows=%s", argc >= 2 ? argv[1] : "");
    if (!spec_open(&spec, argc >= 3 ? argv[2] : "2pl", "hot_row") || !spec_set(&spec, text_string(&settings), &error)) {
        fprintf(stderr, "usage: startup ROWS [ALGORITHM]; %s\n", text_string(&error));
        return 2;
    }
    double before = stopwatch_seconds();
    for (int i = 0; i < RUNS; i++) {
        struct run_result result;
        run_simulate(&spec.run, &result);
        run_result_free(&result);
    }
    printf("%.4f\n", (stopwatch_seconds() - before) / RUNS * 1e3);
    text_free(&settings);
    spec_close(&spec);
    return 0;
}
