/* lab_rounds.c - how long and how often each point is run, where that is found out on the way.
 *
 * Pilots come first, one for each point (pilot.h); what they found is in the journal as runs are. Then rounds: to begin
 * with each point has `replications`; a point whose interval is still too wide gets as many more as its spread so far
 * predicts, at least one and at most as many again, until `replications_max`. Few big steps instead of many small ones:
 * each look at the interval is another chance to stop by luck, and workers idle at the end of each round. The decision
 * uses the numbers of the rows as they are written, so that it is the same when they are read again. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/lab_parts.h"

/* --- shards --- */

bool lab_deals_points(const struct lab *lab) {
    return lab->facts->precision > 0 || lab->facts->warmup_ns == OPTION_AUTO;
}

uint32_t *lab_deal(const struct lab *lab, uint32_t count) {
    return shard_deal(lab_deals_points(lab) ? lab->facts->points : lab->jobs, count);
}

uint32_t lab_shard_of(const struct lab *lab, const uint32_t *shards, size_t job) {
    return shards[lab_deals_points(lab) ? lab_point_of(lab, job) : job];
}

/* --- pilots --- */

static uint64_t pilot_key(const struct lab *lab, size_t point) { return experiment_run_key(lab->experiment, point, 0); }

static bool take_pilot(struct lab *lab, size_t point, const struct outcome *outcome) {
    struct lab_point *it = &lab->points[point];
    it->has_pilot = pilot_read(outcome->sentence.bytes, outcome->sentence.length, &it->pilot);
    if (it->has_pilot && !it->pilot.settled) {
        advice_unsettled(&lab->results.advice, point, (double)it->pilot.length_ns / 1e9);
    }
    return it->has_pilot;
}

void lab_find_pilots(struct lab *lab) {
    struct text found = {0};
    struct outcome outcome;
    for (size_t point = 0; point < lab->facts->points && lab->facts->warmup_ns == OPTION_AUTO; point++) {
        if (lab->points[point].is_mine && lab_find(lab, pilot_key(lab, point), &found, &outcome)) {
            take_pilot(lab, point, &outcome);
        }
    }
    text_free(&found);
}

static void fly(void *context, size_t number, struct text *out) {
    const struct lab *lab = context;
    struct point point;
    struct pilot pilot;
    struct text words = {0};
    experiment_point(lab->experiment, lab->round.points[number], &point);
    pilot_run(&point.spec, &pilot);
    pilot_add(&pilot, &words);
    outcome_add(&(struct outcome){.sentence = {text_string(&words), words.length}}, out);
    text_free(&words);
    point_free(&point);
}

static bool pilot_landed(void *context, size_t number, const char *bytes, size_t length) {
    struct lab *lab = context;
    size_t point = lab->round.points[number];
    struct outcome outcome;
    CHECK(outcome_read(bytes, length, &outcome) && take_pilot(lab, point, &outcome));
    return lab_keep(lab, pilot_key(lab, point), bytes, length);
}

/* The point's runs fly their own, and will be lost as it was: that is told then. */
static void pilot_lost(void *context, size_t number, int wait_status) {
    (void)context;
    (void)number;
    (void)wait_status;
}

enum workers_end lab_fly_pilots(struct lab *lab) {
    if (lab->facts->warmup_ns != OPTION_AUTO) {
        return WORKERS_DONE;
    }
    VECTOR(size_t) points = {0};
    bool *met = mem_new(lab->facts->points, sizeof *met);
    for (size_t i = 0; i < lab->todo.count; i++) {
        size_t point = lab_point_of(lab, lab->todo.items[i]);
        if (!met[point] && !lab->points[point].has_pilot) {
            vector_push(&points, point);
        }
        met[point] = true;
    }
    mem_free(met);
    lab->round.points = points.items;
    lab->round.count = points.count;
    enum workers_end end = points.count > 0 ? lab_work(lab, fly, pilot_landed, pilot_lost) : WORKERS_DONE;
    vector_free(&points);
    lab->round.points = NULL;
    return end;
}

/* --- precision --- */

/* How many replications the point should have, judged by those it has. */
static uint32_t wanted_of(const struct lab *lab, size_t point) {
    const struct experiment_facts *facts = lab->facts;
    uint32_t has = lab->points[point].wanted;
    double *values = mem_new(has, sizeof *values);
    size_t defined = 0;
    for (size_t r = 0; r < has; r++) {
        double value = lab->values[r * facts->points + point];
        if (!isnan(value)) {
            values[defined++] = value;
        }
    }
    double mean = statistics_mean(values, defined), half_width = statistics_half_width95(values, defined);
    mem_free(values);
    if (defined == 0 || (defined > 1 && advice_is_precise(mean, half_width, facts->precision))) {
        return has;
    }
    double needed = defined > 1 ? advice_replications(mean, half_width, has, facts->precision) : 2.0 * has;
    double most = facts->replications_most < 2 * (int64_t)has ? (double)facts->replications_most : 2.0 * has;
    needed = needed > has + 1.0 ? needed : has + 1.0;
    return (uint32_t)(needed < most ? needed : most);
}

bool lab_extend(struct lab *lab, bool *more) {
    bool good = true;
    *more = false;
    for (size_t point = 0; point < lab->facts->points && lab->values != NULL && good; point++) {
        struct lab_point *it = &lab->points[point];
        uint32_t before = it->wanted;
        if (!it->is_mine || it->settled < it->wanted) {
            continue;
        }
        it->wanted = wanted_of(lab, point);
        *more = *more || it->wanted > before;
        for (size_t r = before; r < it->wanted && good; r++) {
            good = lab_want(lab, r * lab->facts->points + point);
        }
    }
    return good;
}
