/* planner_search.c - the search for the edge, one lane for each point and replication.
 *
 *   rates          from the start, doubled while they meet the objectives, halved while they do not; then the interval
 *                  between the closest two is divided at its geometric mean until it is 0.5% wide.
 *   whole numbers  all rungs of a ladder of powers of two: what is looked for may lie between values that are too small
 *                  and values that are too large (an admission limit), and the ladder is a sweep to fit a law to. Then
 *                  the interval between the last rung that meets the objectives before one that fails, and that
 *                  one, is halved; of CPUs between the last that fails and the first that meets them.
 *
 * Invariant: a lane's `pass` met the objectives, its `fail` did not, and `fail` lies beyond `pass`: above it, of CPUs
 * below. */
#include <math.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/planner_parts.h"
#include "sim/lab/statistics.h"

enum { RATE_DIGITS = 4 };
#define RATE_WIDTH .005 /* of the interval that a rate's edge is left in */

static bool wants_least(const struct planner *planner) { return planner->request->vary == PLANNER_CPUS; }

void planner_open_lanes(struct planner *planner) {
    for (uint64_t replication = 1; replication <= (uint64_t)planner->facts->replications; replication++) {
        for (size_t point = 0; point < planner->facts->points; point++) {
            struct lane lane = {.point = point, .replication = replication, .next = planner->start};
            vector_push(&planner->lanes, lane);
            for (size_t i = 0; i < planner->rung_count; i++) {
                planner_ask(planner, point, replication, planner->rungs[i]);
            }
        }
    }
}

bool planner_ask_lanes(struct planner *planner) {
    bool any = false;
    for (size_t i = 0; i < planner->lanes.count; i++) {
        const struct lane *lane = &planner->lanes.items[i];
        if (!lane->done) {
            planner_ask(planner, lane->point, lane->replication, lane->next);
            any = true;
        }
    }
    return any;
}

/* --- rates --- */

static double round_rate(double rate) { return statistics_round(rate, RATE_DIGITS); }

/* Outwards until both sides are known or a bound is reached. */
static void widen(const struct planner *planner, struct lane *lane) {
    double next = lane->has_pass ? fmin(round_rate(lane->pass * 2), planner->most)
                                 : fmax(round_rate(lane->fail / 2), planner->least);
    lane->done = next == (lane->has_pass ? lane->pass : lane->fail);
    lane->next = next;
}

static void divide_rate(struct lane *lane) {
    double middle = round_rate(sqrt(lane->pass * lane->fail));
    lane->next = middle;
    lane->done = lane->fail / lane->pass <= 1 + RATE_WIDTH || middle <= lane->pass || middle >= lane->fail;
}

/* --- whole numbers --- */

static void divide_whole(struct lane *lane) {
    double middle = floor((lane->pass + lane->fail) / 2);
    lane->next = middle;
    lane->done = fabs(lane->pass - lane->fail) <= 1;
}

static bool meets_at(const struct planner *planner, const struct lane *lane, double value) {
    const struct probe *probe = planner_find(planner, lane->point, lane->replication, value);
    CHECK(probe != NULL);
    return planner_meets(planner, &probe->outcome);
}

/* The first rung that meets the objectives; then, but of CPUs, the last before one that fails again. */
static void climb(const struct planner *planner, struct lane *lane) {
    size_t i = 0, count = planner->rung_count;
    while (i < count && !meets_at(planner, lane, planner->rungs[i])) {
        i++;
    }
    if (i == count) {
        lane->has_fail = lane->done = true;
        lane->fail = planner->rungs[0];
        return;
    }
    lane->has_pass = true;
    lane->pass = planner->rungs[i];
    if (wants_least(planner)) {
        lane->has_fail = i > 0;
        lane->fail = i > 0 ? planner->rungs[i - 1] : 0;
    } else {
        while (i + 1 < count && meets_at(planner, lane, planner->rungs[i + 1])) {
            i++;
        }
        lane->pass = planner->rungs[i];
        lane->has_fail = i + 1 < count;
        lane->fail = lane->has_fail ? planner->rungs[i + 1] : 0;
    }
    lane->done = !lane->has_fail;
}

/* --- both --- */

static void note(const struct planner *planner, struct lane *lane) {
    if (meets_at(planner, lane, lane->next)) {
        lane->has_pass = true;
        lane->pass = lane->next;
    } else {
        lane->has_fail = true;
        lane->fail = lane->next;
    }
}

static void advance(const struct planner *planner, struct lane *lane) {
    bool whole = planner_is_whole(planner);
    if (whole && !lane->has_pass && !lane->has_fail) {
        climb(planner, lane);
    } else {
        note(planner, lane);
    }
    if (lane->done) {
        return;
    }
    if (!lane->has_pass || !lane->has_fail) {
        widen(planner, lane);
        return;
    }
    CHECK(wants_least(planner) ? lane->fail < lane->pass : lane->pass < lane->fail);
    if (whole) {
        divide_whole(lane);
    } else {
        divide_rate(lane);
    }
}

void planner_advance_lanes(struct planner *planner) {
    for (size_t i = 0; i < planner->lanes.count; i++) {
        struct lane *lane = &planner->lanes.items[i];
        if (!lane->done) {
            advance(planner, lane);
        }
    }
}
