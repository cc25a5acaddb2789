/* planner_objective.c - objectives: read, and held against what came out. */
#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/planner_parts.h"

static size_t metric_named(const char *name, struct text *error) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    const char *names[PLANNER_METRICS_MAX];
    CHECK(count <= PLANNER_METRICS_MAX);
    for (size_t i = 0; i < count; i++) {
        names[i] = metrics[i].name;
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    char suggestion[128];
    text_add(error, "there is no metric `%s'%s", name,
             text_suggestion(suggestion, sizeof suggestion, name, names, count));
    return count;
}

/* As the metric has it: 50 and 50ms, 0.05 and 5%, 100 and 100/s. */
static bool parse_limit(const char *words, const char *unit, double *limit) {
    int64_t duration_ns;
    if (text_parse_number(words, limit)) {
        return isfinite(*limit);
    }
    if (strcmp(unit, "ms") == 0 && text_parse_duration(words, &duration_ns)) {
        *limit = (double)duration_ns / 1e6;
        return true;
    }
    return (strcmp(unit, "share") == 0 && text_parse_share(words, limit)) ||
           (strcmp(unit, "commits/s") == 0 && text_parse_rate(words, limit));
}

static bool parse_parts(char *words, struct planner_objective *objective, struct text *error) {
    char *sign = strpbrk(words, "<>");
    if (sign == NULL) {
        text_add(error, "there is no < or > in it; an objective is like `response_p99_ms < 50'");
        return false;
    }
    objective->below = *sign == '<';
    objective->strict = sign[1] != '=';
    char *limit = text_trim(sign + (objective->strict ? 1 : 2));
    *sign = '\0';
    const char *name = text_trim(words);
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    objective->metric = metric_named(name, error);
    if (objective->metric == count) {
        return false;
    }
    const char *unit = metrics[objective->metric].unit;
    if (!parse_limit(limit, unit, &objective->limit)) {
        bool known = strcmp(unit, "ms") == 0 || strcmp(unit, "share") == 0 || strcmp(unit, "commits/s") == 0;
        text_add(error, "`%s' is no value of %s%s%s%s", limit, name, known ? " (" : "", known ? unit : "",
                 known ? ")" : "");
        return false;
    }
    if (strcmp(unit, "share") == 0 && objective->limit > 1) {
        text_add(error, "`%s' is more than 100%%; a share is written 5%% or 0.05", limit);
        return false;
    }
    char number[32];
    struct text told = {0};
    text_add(&told, "%s %c%s %s", name, objective->below ? '<' : '>', objective->strict ? "" : "=",
             text_number(number, objective->limit));
    objective->text = told.bytes;
    return true;
}

bool planner_objective_parse(const char *words, struct planner_objective *objective, struct text *error) {
    *objective = (struct planner_objective){0};
    char *copy = mem_string(words);
    struct text reason = {0};
    bool good = parse_parts(copy, objective, &reason);
    if (!good) {
        text_add(error, "`%s': %s", words, text_string(&reason));
    }
    text_free(&reason);
    mem_free(copy);
    return good;
}

void planner_objective_free(struct planner_objective *objective) { mem_free(objective->text); }

/* What is not defined, such as a percentile of no commits, meets no objective. */
bool objective_holds(const struct planner_objective *objective, double value) {
    if (objective->below) {
        return objective->strict ? value < objective->limit : value <= objective->limit;
    }
    return objective->strict ? value > objective->limit : value >= objective->limit;
}

double objective_margin(const struct planner_objective *objective, double value) {
    double scale = fabs(objective->limit) > 0 ? fabs(objective->limit) : 1;
    return (objective->below ? objective->limit - value : value - objective->limit) / scale;
}

bool planner_meets(const struct planner *planner, const struct probe_outcome *outcome) {
    bool good = outcome->end == PROBE_OK && outcome->keeps_up;
    for (size_t i = 0; i < planner->request->objective_count && good; i++) {
        const struct planner_objective *objective = &planner->request->objectives[i];
        good = objective_holds(objective, outcome->metrics[objective->metric]);
    }
    return good;
}
