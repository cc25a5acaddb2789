/* planner_answer.c - from the lanes of a point to its answer, and what is measured there. */
#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/planner_parts.h"
#include "sim/lab/statistics.h"

/* Of a rate: the t interval of the lanes' edges. A lane whose search ended at the upper bound counts as that: the answer is
 * open then. */
static void estimate_rate(const double *edges, size_t count, struct answer *answer) {
    double half_width = count > 1 ? statistics_half_width95(edges, count) : 0;
    answer->estimate = statistics_mean(edges, count);
    answer->low = fmax(answer->estimate - half_width, 0);
    answer->high = answer->estimate + half_width;
}

/* Of a whole number: from the lowest to the highest edge of a lane. */
static void estimate_whole(const double *edges, size_t count, struct answer *answer) {
    answer->low = answer->high = edges[0];
    for (size_t i = 1; i < count; i++) {
        answer->low = fmin(answer->low, edges[i]);
        answer->high = fmax(answer->high, edges[i]);
    }
    answer->estimate = answer->value;
}

void planner_estimate(struct planner *planner, struct answer *answer) {
    bool whole = planner_is_whole(planner);
    bool least = planner->request->vary == PLANNER_CPUS;
    size_t count = 0, replications = (size_t)planner->facts->replications;
    double *edges = mem_new(replications, sizeof *edges);
    answer->found = true;
    for (size_t i = 0; i < planner->lanes.count; i++) {
        const struct lane *lane = &planner->lanes.items[i];
        if (lane->point != answer->point) {
            continue;
        }
        CHECK(lane->done && count < replications);
        answer->found = answer->found && lane->has_pass;
        answer->open_end = answer->open_end || (!lane->has_fail && !planner->nothing_beyond);
        bool is_safer = count == 0 || (least ? lane->pass > answer->value : lane->pass < answer->value);
        answer->value = is_safer ? lane->pass : answer->value; /* what met the objectives in all of them */
        edges[count++] = whole || !lane->has_fail ? lane->pass : sqrt(lane->pass * lane->fail);
    }
    if (answer->found && whole) {
        estimate_whole(edges, count, answer);
    } else if (answer->found) {
        estimate_rate(edges, count, answer);
    }
    if (!answer->found) {
        answer->value = whole ? planner->rungs[least ? planner->rung_count - 1 : 0] : planner->least;
    }
    for (uint64_t replication = 1; replication <= replications; replication++) {
        planner_ask(planner, answer->point, replication, answer->value);
    }
    mem_free(edges);
}

/* Means over the replications in which a metric is defined. */
static void measure_metrics(const struct planner *planner, struct answer *answer) {
    size_t metric_count, replications = (size_t)planner->facts->replications;
    metrics_all(&metric_count);
    double *values = mem_new(replications, sizeof *values);
    for (size_t m = 0; m < metric_count; m++) {
        size_t count = 0;
        for (size_t r = 1; r <= replications; r++) {
            const struct probe *probe = planner_find(planner, answer->point, r, answer->value);
            if (probe->outcome.end == PROBE_OK && !isnan(probe->outcome.metrics[m])) {
                values[count++] = probe->outcome.metrics[m];
            }
        }
        answer->metrics[m] = statistics_mean(values, count);
    }
    mem_free(values);
}

static void find_binding(const struct planner *planner, struct answer *answer) {
    double least = (double)INFINITY;
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        const struct planner_objective *objective = &planner->request->objectives[i];
        double margin = objective_margin(objective, answer->metrics[objective->metric]);
        if (isnan(margin) || margin < least) {
            least = isnan(margin) ? -(double)INFINITY : margin;
            answer->binding = i;
        }
    }
}

static struct rung rung_of(const struct planner *planner, size_t point, double value) {
    struct rung rung = {.value = value, .met = true};
    size_t throughput = metric_number("throughput_tps"), response = metric_number("response_mean_ms"), count = 0;
    for (size_t r = 1; r <= (size_t)planner->facts->replications; r++) {
        const struct probe *probe = planner_find(planner, point, r, value);
        rung.met = rung.met && planner_meets(planner, &probe->outcome);
        if (probe->outcome.end == PROBE_OK) {
            rung.throughput += probe->outcome.metrics[throughput];
            rung.response_ms += probe->outcome.metrics[response];
            count++;
        }
    }
    rung.throughput = count > 0 ? rung.throughput / (double)count : (double)NAN;
    rung.response_ms = count > 0 ? rung.response_ms / (double)count : (double)NAN;
    return rung;
}

static double power(const struct rung *rung) { return rung->throughput / rung->response_ms; }

static void measure_rungs(const struct planner *planner, struct answer *answer) {
    answer->rung_count = planner->rung_count;
    for (size_t i = 0; i < planner->rung_count; i++) {
        struct rung *rungs = answer->rungs;
        rungs[i] = rung_of(planner, answer->point, planner->rungs[i]);
        answer->sweep[i] = (struct usl_point){rungs[i].value, rungs[i].throughput};
        answer->peak = rungs[i].throughput > rungs[answer->peak].throughput ? i : answer->peak;
        answer->knee = power(&rungs[i]) > power(&rungs[answer->knee]) ? i : answer->knee;
    }
    answer->fitted = planner->rung_count > 0 && usl_fit(answer->sweep, planner->rung_count, &answer->usl);
    answer->lowest = answer->value;
    for (size_t i = planner->rung_count; i-- > 0;) {
        if (answer->rungs[i].met && answer->rungs[i].value < answer->lowest) {
            answer->lowest = answer->rungs[i].value;
        }
    }
}

void planner_measure(struct planner *planner, struct answer *answer) {
    measure_metrics(planner, answer);
    find_binding(planner, answer);
    measure_rungs(planner, answer);
    planner_find_limits(planner, answer);
}
