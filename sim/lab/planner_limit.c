/* planner_limit.c - the bottlenecks of an answer, the worst first: by the time that they cost a committed transaction.
 *
 * The parts overlap - an aborted attempt had waited, too - so they do not add up to the response time; each says what is
 * lost there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/planner_parts.h"

#define NAMED_FROM .2  /* a row that at least so much of the waiting goes to is named */
#define SHOWN_FROM .01 /* of the mean response: less is not worth mentioning */

/* What the replications at the answer's value lost, all together. */
struct losses {
    struct toll toll;
    double commits, admission_ms, response_ms;
};

static double metric_at(const struct probe *probe, const char *name) {
    size_t count;
    const struct metric *all = metrics_all(&count);
    return probe->outcome.metrics[metric_find(name) - all];
}

static double defined(double value) { return isnan(value) ? 0 : value; }

static void add_up(struct losses *losses, const struct probe *probe) {
    toll_merge(&losses->toll, &probe->outcome.toll);
    double commits = metric_at(probe, "commits");
    losses->commits += commits;
    losses->admission_ms += defined(metric_at(probe, "admission_mean_ms")) * commits;
    losses->response_ms += defined(metric_at(probe, "response_mean_ms")) * commits;
}

static struct limit *add_limit(const struct losses *losses, struct answer *answer, enum limit_kind kind,
                               double lost_ns) {
    CHECK(answer->limit_count < PLANNER_LIMITS_MAX);
    struct limit *limit = &answer->limits[answer->limit_count];
    *limit = (struct limit){.kind = kind, .ms = lost_ns / 1e6 / losses->commits, .utilization = (double)NAN};
    double least_ms = fmax(SHOWN_FROM * losses->response_ms / losses->commits, 1e-3);
    answer->limit_count += limit->ms >= least_ms;
    return limit->ms >= least_ms ? limit : NULL;
}

static void add_rows(const struct losses *losses, struct answer *answer) {
    double rows_ns = 0;
    for (int i = 0; i < losses->toll.row_count; i++) {
        rows_ns += (double)losses->toll.rows[i].waited_ns;
    }
    struct limit *limit = add_limit(losses, answer, LIMIT_ROWS, rows_ns);
    const struct toll_row *row = toll_worst_row(&losses->toll);
    if (limit == NULL) {
        return;
    }
    double share = (double)(row->waited_ns - row->error_ns) / rows_ns;
    if (share >= NAMED_FROM) {
        snprintf(limit->name, sizeof limit->name, "wait for row %lld of %s (%.0f%% of all waits for rows)",
                 (long long)row->key, row->table, 100 * share);
    } else {
        snprintf(limit->name, sizeof limit->name, "wait for rows, none of which stands out");
    }
}

/* The reason that most attempts were aborted for. */
static void add_aborts(const struct losses *losses, struct answer *answer) {
    double lost_ns = (double)losses->toll.aborted_ns + (double)losses->toll.delay_ns;
    struct limit *limit = add_limit(losses, answer, LIMIT_ABORTS, lost_ns);
    if (limit == NULL) {
        return;
    }
    static const char prefix[] = "aborts_";
    size_t count;
    const struct metric *all = metrics_all(&count);
    const char *reason = "";
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(all[i].name, prefix, sizeof prefix - 1) == 0 && answer->metrics[i] > most) {
            most = answer->metrics[i];
            reason = all[i].name + sizeof prefix - 1;
        }
    }
    snprintf(limit->name, sizeof limit->name, "aborts of %s (%s)", answer->algorithm, reason);
}

static void add_stations(const struct losses *losses, struct answer *answer) {
    for (int i = 0; i < TOLL_STATIONS; i++) {
        const struct toll_queue *queue = &losses->toll.stations[i];
        struct limit *limit = queue->limited ? add_limit(losses, answer, LIMIT_STATION, queue->queued_ns) : NULL;
        if (limit != NULL) {
            limit->utilization = queue->busy_ns / queue->capacity_ns;
            snprintf(limit->name, sizeof limit->name, "queue at the %s (%.0f%% busy)", toll_station_names[i],
                     100 * limit->utilization);
        }
    }
}

static int by_loss(const void *left, const void *right) {
    double a = ((const struct limit *)left)->ms, b = ((const struct limit *)right)->ms;
    return (a < b) - (a > b);
}

/* Who looks for an admission limit puts the waiting there on purpose: it is told last. */
static void put_admission_last(struct answer *answer) {
    for (size_t i = 0; i + 1 < answer->limit_count; i++) {
        if (answer->limits[i].kind == LIMIT_ADMISSION) {
            struct limit admission = answer->limits[i];
            answer->limits[i] = answer->limits[i + 1];
            answer->limits[i + 1] = admission;
        }
    }
}

void planner_find_limits(const struct planner *planner, struct answer *answer) {
    struct losses losses = {0};
    for (uint64_t r = 1; r <= (uint64_t)planner->facts->replications; r++) {
        const struct probe *probe = planner_find(planner, answer->point, r, answer->value);
        if (probe->outcome.end == PROBE_OK) {
            add_up(&losses, probe);
        }
    }
    if (losses.commits <= 0) {
        return;
    }
    add_rows(&losses, answer);
    struct limit *limit = add_limit(&losses, answer, LIMIT_ELSEWHERE, (double)losses.toll.elsewhere_ns);
    if (limit != NULL) {
        snprintf(limit->name, sizeof limit->name, "wait for other transactions, not for a row");
    }
    limit = add_limit(&losses, answer, LIMIT_ADMISSION, losses.admission_ms * 1e6);
    if (limit != NULL) {
        snprintf(limit->name, sizeof limit->name, "queue for admission (mpl)");
    }
    add_stations(&losses, answer);
    add_aborts(&losses, answer);
    qsort(answer->limits, answer->limit_count, sizeof answer->limits[0], by_loss);
    if (planner->request->vary == PLANNER_MPL) {
        put_admission_last(answer);
    }
}
