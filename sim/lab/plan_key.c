/* plan_key.c - the identity of a run: a digest of the algorithm, the workload and every option of both, of the system, the
 * prices and the restart policy, the times, the seed and the replication. Labels (titles, names of variants, figures) and the
 * rest of the grid have no part in it. */
#include "sim/base/digest.h"
#include "sim/base/memory.h"
#include "sim/lab/plan.h"

uint64_t experiment_run_key(const struct experiment *experiment, size_t number, uint64_t replication) {
    struct point point;
    experiment = plan_part(experiment, &number);
    experiment_point(experiment, number, &point);
    const struct run_spec *spec = &point.spec;
    uint64_t key = text_digest(text_digest(0, spec->algorithm->name), spec->workload->name);
    key = option_digest(spec->algorithm->options, spec->algorithm_options, key);
    key = option_digest(spec->workload->options, spec->workload_options, key);
    if (plan_has_program(experiment)) {
        size_t *positions = mem_new(experiment->axes.count, sizeof *positions);
        plan_positions(experiment, number, positions);
        const struct candidate *candidate = &experiment->candidates.items[positions[experiment->algorithm_axis]];
        key = plan_program_digest(experiment, candidate, positions, key);
        mem_free(positions);
    }
    key = option_digest(&system_options, &spec->system, key);
    key = option_digest(&cost_options, &spec->cost, key);
    key = option_digest(&restart_options, &spec->restart, key);
    key = digest_add(digest_add(key, (uint64_t)spec->warmup_ns), (uint64_t)spec->duration_ns);
    key = digest_add(digest_add(key, spec->transactions_max), spec->certify);
    key = digest_add(digest_add(key, (uint64_t)spec->series_ns), experiment->facts.histograms);
    key = digest_add(key, (uint64_t)spec->batches);
    key = digest_add(digest_add(key, spec->seed), replication);
    point_free(&point);
    return key;
}
