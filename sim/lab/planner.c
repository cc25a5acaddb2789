/* planner.c - see the header: sets the search up, lets lanes and workers take turns, and has the answer told. */
#include "sim/lab/planner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/planner_parts.h"
#include "sim/lab/statistics.h"

enum {
    TERMINALS_TO = 128,
    CPUS_TO = 64,
    COMMITS_MOST = 2000000, /* of a run: no rate is tried that makes more */
    COMMITS_LEAST = 100     /* nor one that makes fewer in the measured window */
};

/* --- what is searched --- */

/* The largest number that is tried unless another is asked for: twice what the config has, and at least a usual one. */
static double most_whole(const struct planner *planner, const struct run_spec *spec, double terminals) {
    enum planner_variable vary = planner->request->vary;
    double current = planner_value_of(vary, spec);
    double usual = vary == PLANNER_CPUS ? (double)CPUS_TO : (double)TERMINALS_TO;
    if (vary == PLANNER_MPL && terminals > 0) {
        return terminals; /* a larger one admits no more */
    }
    return fmax(usual, 2 * current);
}

static void make_rungs(struct planner *planner) {
    for (double rung = planner->least; rung < planner->most && planner->rung_count < PLANNER_RUNGS_MAX - 1; rung *= 2) {
        planner->rungs[planner->rung_count++] = rung;
    }
    planner->rungs[planner->rung_count++] = planner->most;
}

/* `terminals`: that all points have; 0: an open system, or several numbers. */
static void set_bounds(struct planner *planner, const struct run_spec *spec, double terminals) {
    const struct planner_request *request = planner->request;
    if (planner_is_whole(planner)) {
        planner->least = request->from > 0 ? request->from : 1;
        planner->most = request->to > 0 ? request->to : most_whole(planner, spec, terminals);
        planner->start = planner->least;
        planner->nothing_beyond = (request->vary == PLANNER_CPUS && planner->least == 1) ||
                                  (request->vary == PLANNER_MPL && planner->most == terminals);
        return;
    }
    bool is_auto = planner->facts->warmup_ns == OPTION_AUTO; /* about as long as the duration, at most */
    double window_s = (double)planner->facts->duration_ns / 1e9,
           whole_s = window_s + (is_auto ? window_s : (double)planner->facts->warmup_ns / 1e9);
    double current = planner_value_of(PLANNER_ARRIVAL_RATE, spec);
    planner->least = request->from > 0 ? request->from : statistics_round(COMMITS_LEAST / window_s, 2);
    planner->most = request->to > 0 ? request->to : fmax(statistics_round(COMMITS_MOST / whole_s, 2), planner->least);
    planner->start = fmin(fmax(current > 0 ? current : planner->least, planner->least), planner->most);
}

static bool bounds_are_sound(const struct planner *planner) {
    const char *key = planner_keys[planner->request->vary];
    if (planner->least > planner->most) {
        fprintf(stderr, "ccsim: %s: from %g to %g is nothing\n", key, planner->least, planner->most);
        return false;
    }
    const double values[2] = {planner->least, planner->most};
    for (int i = 0; i < 2 && planner_is_whole(planner); i++) {
        if (values[i] != floor(values[i]) || values[i] > 1e6) {
            fprintf(stderr, "ccsim: %s: %g is not a whole number from 1 to 1000000\n", key, values[i]);
            return false;
        }
    }
    return true;
}

/* --- the experiment, with the key set to a value --- */

static struct experiment *load(const struct experiment_request *request, const char *extra_set) {
    const char **sets = mem_new(request->set_count + 1, sizeof *sets);
    for (size_t i = 0; i < request->set_count; i++) {
        sets[i] = request->sets[i];
    }
    struct experiment_request own = *request;
    own.sets = sets;
    own.set_count = request->set_count + (extra_set != NULL);
    sets[request->set_count] = extra_set;
    struct text errors = {0};
    struct experiment *experiment = experiment_load(&own, &errors);
    fputs(text_string(&errors), stderr);
    text_free(&errors);
    mem_free(sets);
    return experiment;
}

/* What the config itself says of the key: 0 if nothing, or not the same at every point. */
static double current_value(const struct experiment *experiment, enum planner_variable vary) {
    double current = 0;
    for (size_t i = 0; i < experiment_facts(experiment)->points && i < PLANNER_POINTS_MAX; i++) {
        struct point point;
        experiment_point(experiment, i, &point);
        double value = planner_value_of(vary, &point.spec);
        point_free(&point);
        if (i > 0 && value != current) {
            return 0;
        }
        current = value;
    }
    return current;
}

/* `2pl workload.hot_rows=4`: the arguments of --only, those of the algorithm by its name alone. */
static void add_place(const struct planner *planner, size_t point, struct text *out) {
    static const char only[] = " --only ", algorithm[] = "algorithm=";
    struct text selection = {0};
    planner_add_selection(planner, point, &selection);
    const char *rest = text_string(&selection);
    while (*rest != '\0') {
        CHECK(strncmp(rest, only, sizeof only - 1) == 0);
        rest += sizeof only - 1;
        rest += strncmp(rest, algorithm, sizeof algorithm - 1) == 0 ? sizeof algorithm - 1 : 0;
        const char *next = strstr(rest, only);
        size_t length = next != NULL ? (size_t)(next - rest) : strlen(rest);
        text_add(out, "%s%.*s", out->length > 0 ? " " : "", (int)length, rest);
        rest += length;
    }
    text_free(&selection);
}

/* A point for each answer; false if one of them has the key set otherwise, where --set does not reach. */
static bool open_answers(struct planner *planner, double current) {
    for (size_t i = 0; i < planner->facts->points; i++) {
        struct point point;
        experiment_point(planner->experiment, i, &point);
        bool varies = planner_value_of(planner->request->vary, &point.spec) == planner->start;
        struct answer answer = {.point = i, .algorithm = mem_string(point.algorithm), .current = current};
        add_place(planner, i, &answer.place);
        point_free(&point);
        vector_push(&planner->answers, answer);
        if (!varies) {
            fprintf(stderr, "ccsim: %s has a value of its own at %s: it cannot be varied there\n",
                    planner_keys[planner->request->vary], text_string(&answer.place));
            return false;
        }
    }
    return true;
}

/* --- the search --- */

/* An objective whose metric is empty though transactions committed can never be met. False, and told, if there is one. */
static bool objectives_are_defined(const struct planner *planner) {
    size_t count, commits = 0;
    const struct metric *metrics = metrics_all(&count);
    while (strcmp(metrics[commits].name, "commits") != 0) {
        commits++;
    }
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        const struct planner_objective *objective = &planner->request->objectives[i];
        for (size_t k = 0; k < planner->probes.count; k++) {
            const struct probe_outcome *outcome = &planner->probes.items[k].outcome;
            if (outcome->end == PROBE_OK && outcome->metrics[commits] > 0 &&
                isnan(outcome->metrics[objective->metric])) {
                fprintf(stderr, "ccsim: `%s': %s is not defined here: %s\n", objective->text,
                        metrics[objective->metric].name, metrics[objective->metric].help);
                return false;
            }
        }
    }
    return true;
}

static enum lab_exit search(struct planner *planner) {
    planner_open_lanes(planner);
    while (planner_ask_lanes(planner)) {
        enum lab_exit end = planner_compute(planner);
        if (end != LAB_DONE || !objectives_are_defined(planner)) {
            return end != LAB_DONE ? end : LAB_USAGE;
        }
        planner_advance_lanes(planner);
    }
    for (size_t i = 0; i < planner->answers.count; i++) {
        planner_estimate(planner, &planner->answers.items[i]);
    }
    enum lab_exit end = planner_compute(planner);
    for (size_t i = 0; i < planner->answers.count && end == LAB_DONE; i++) {
        planner_measure(planner, &planner->answers.items[i]);
    }
    return end;
}

static enum lab_exit tell(const struct planner *planner) {
    struct text out = {0};
    if (planner->request->json) {
        planner_add_json(planner, &out);
    } else {
        planner_add_report(planner, &out);
    }
    fputs(text_string(&out), stdout);
    text_free(&out);
    if (fflush(stdout) != 0 && errno != EPIPE) {
        fprintf(stderr, "ccsim: standard output: %s\n", strerror(errno));
        return LAB_INCOMPLETE;
    }
    return planner->lost ? LAB_INCOMPLETE : planner->broken ? LAB_BROKEN : planner->refused ? LAB_USAGE : LAB_DONE;
}

static void free_parts(struct planner *planner) {
    for (size_t i = 0; i < planner->answers.count; i++) {
        mem_free(planner->answers.items[i].algorithm);
        text_free(&planner->answers.items[i].place);
    }
    vector_free(&planner->answers);
    vector_free(&planner->lanes);
    vector_free(&planner->probes);
}

static enum lab_exit search_and_tell(struct planner *planner, double current) {
    enum lab_exit end = LAB_USAGE;
    if (planner->facts->points > PLANNER_POINTS_MAX) {
        fprintf(stderr, "ccsim: these are %zu plans in one; at most %d are made: pick some with --only\n",
                planner->facts->points, PLANNER_POINTS_MAX);
    } else if (open_answers(planner, current)) {
        end = search(planner);
        end = end == LAB_DONE ? tell(planner) : end;
    }
    free_parts(planner);
    return end;
}

enum lab_exit planner_run(const struct planner_request *request) {
    struct planner planner = {.request = request};
    struct experiment *plain = load(request->experiment, NULL);
    if (plain == NULL) {
        return LAB_USAGE;
    }
    double current = current_value(plain, request->vary);
    struct point point;
    experiment_point(plain, 0, &point);
    planner.facts = experiment_facts(plain);
    set_bounds(&planner, &point.spec, current_value(plain, PLANNER_TERMINALS));
    point_free(&point);
    bool sound = bounds_are_sound(&planner);
    experiment_free(plain);
    if (!sound) {
        return LAB_USAGE;
    }
    if (planner_is_whole(&planner)) {
        make_rungs(&planner);
    }
    char number[32];
    struct text set = {0};
    text_add(&set, "%s=%s%s", planner_keys[request->vary], text_number(number, planner.start),
             planner_is_whole(&planner) ? "" : "/s");
    struct experiment *experiment = load(request->experiment, text_string(&set));
    text_free(&set);
    if (experiment == NULL) {
        return LAB_USAGE;
    }
    planner.experiment = experiment;
    planner.facts = experiment_facts(experiment);
    enum lab_exit end = search_and_tell(&planner, current);
    experiment_free(experiment);
    return end;
}
