/* planner_json.c - the answer as one JSON object: the sentence, what was asked, and for each point what was found. */
#include <jansson.h>
#include <math.h>

#include "sim/base/check.h"
#include "sim/lab/metrics.h"
#include "sim/lab/planner_parts.h"
#include "sim/lab/statistics.h"

enum { JSON_DIGITS = 9 };

static json_t *number(double value) {
    return isfinite(value) ? json_real(statistics_round(value, JSON_DIGITS)) : json_null();
}

static json_t *string(const struct text *text) { return json_string(text_string(text)); }

static json_t *metrics_of(const struct answer *answer) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        json_object_set_new(object, metrics[i].name, number(answer->metrics[i]));
    }
    return object;
}

static json_t *limits_of(const struct answer *answer) {
    static const char *const kinds[] = {[LIMIT_ROWS] = "rows",
                                        [LIMIT_ELSEWHERE] = "waits",
                                        [LIMIT_STATION] = "station",
                                        [LIMIT_ADMISSION] = "admission",
                                        [LIMIT_ABORTS] = "aborts"};
    json_t *list = json_array();
    for (size_t i = 0; i < answer->limit_count; i++) {
        const struct limit *limit = &answer->limits[i];
        json_t *object = json_object();
        json_object_set_new(object, "kind", json_string(kinds[limit->kind]));
        json_object_set_new(object, "name", json_string(limit->name));
        json_object_set_new(object, "ms_per_commit", number(limit->ms));
        json_object_set_new(object, "utilization", number(limit->utilization));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *rungs_of(const struct answer *answer) {
    json_t *list = json_array();
    for (size_t i = 0; i < answer->rung_count; i++) {
        const struct rung *rung = &answer->rungs[i];
        json_t *object = json_object();
        json_object_set_new(object, "value", number(rung->value));
        json_object_set_new(object, "met", json_boolean(rung->met));
        json_object_set_new(object, "throughput_tps", number(rung->throughput));
        json_object_set_new(object, "response_mean_ms", number(rung->response_ms));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *law_of(const struct answer *answer) {
    if (!answer->fitted) {
        return json_null();
    }
    const struct usl *usl = &answer->usl;
    json_t *object = json_object(), *missed = json_array();
    for (size_t i = 0; i < answer->rung_count; i++) {
        if (usl_misses(usl, &answer->sweep[i])) {
            json_array_append_new(missed, number(answer->sweep[i].n));
        }
    }
    const double values[] = {usl->a, usl->b, usl->c, usl->a_error, usl->b_error, usl->c_error, usl->miss_most};
    static const char *const names[] = {"a", "b", "c", "a_error", "b_error", "c_error", "miss_most"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        json_object_set_new(object, names[i], number(values[i]));
    }
    double peak;
    bool has_peak = usl_peak(usl, answer->sweep, answer->rung_count, &peak);
    json_object_set_new(object, "peak", has_peak ? number(peak) : json_null());
    json_object_set_new(object, "peak_throughput_tps", has_peak ? number(usl_at(usl, peak)) : json_null());
    json_object_set_new(object, "does_not_hold_at", missed);
    return object;
}

static json_t *answer_of(const struct planner *planner, const struct answer *answer) {
    json_t *object = json_object();
    json_object_set_new(object, "place", string(&answer->place));
    json_object_set_new(object, "algorithm", json_string(answer->algorithm));
    json_object_set_new(object, "found", json_boolean(answer->found));
    json_object_set_new(object, "search_ended", json_boolean(answer->open_end));
    json_object_set_new(object, "value", answer->found ? number(answer->value) : json_null());
    json_object_set_new(object, "edge", answer->found ? number(answer->estimate) : json_null());
    json_object_set_new(object, "low", answer->found ? number(answer->low) : json_null());
    json_object_set_new(object, "high", answer->found ? number(answer->high) : json_null());
    json_object_set_new(object, "measured_at", number(answer->value));
    json_object_set_new(object, "headroom", number(planner_headroom(planner, answer)));
    json_object_set_new(object, "binding", json_string(planner->request->objectives[answer->binding].text));
    json_object_set_new(object, "metrics", metrics_of(answer));
    json_object_set_new(object, "limits", limits_of(answer));
    json_object_set_new(object, "sweep", rungs_of(answer));
    if (answer->rung_count > 0) {
        json_object_set_new(object, "peak", number(answer->rungs[answer->peak].value));
        json_object_set_new(object, "knee", number(answer->rungs[answer->knee].value));
    }
    json_object_set_new(object, "scalability_law", law_of(answer));
    return object;
}

static int add_written(const char *bytes, size_t count, void *out) {
    text_add_bytes(out, bytes, count);
    return 0;
}

void planner_add_json(const struct planner *planner, struct text *out) {
    struct text sentence = {0};
    planner_add_sentence(planner, &sentence);
    json_t *object = json_object(), *objectives = json_array(), *answers = json_array();
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        json_array_append_new(objectives, json_string(planner->request->objectives[i].text));
    }
    for (size_t i = 0; i < planner->answers.count; i++) {
        json_array_append_new(answers, answer_of(planner, &planner->answers.items[i]));
    }
    const struct answer *best = planner_best(planner);
    json_object_set_new(object, "sentence", string(&sentence));
    json_object_set_new(object, "varied", json_string(planner_keys[planner->request->vary]));
    json_object_set_new(object, "from", number(planner->least));
    json_object_set_new(object, "to", number(planner->most));
    json_object_set_new(object, "objectives", objectives);
    json_object_set_new(object, "best", best != NULL ? string(&best->place) : json_null());
    json_object_set_new(object, "answers", answers);
    CHECK(json_dump_callback(object, add_written, out, JSON_REAL_PRECISION(JSON_DIGITS)) == 0);
    text_add(out, "\n");
    json_decref(object);
    text_free(&sentence);
}
