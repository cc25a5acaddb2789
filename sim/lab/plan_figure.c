/* plan_figure.c - [figure NAME]: which columns are drawn against which. */
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/plan.h"

enum { SUGGESTION_BYTES = 160 };

struct column_kind {
    bool axes, metrics;
    const char *what;
};

static const struct column_kind abscissa = {true, true, "neither an axis of the sweep nor a metric"};
static const struct column_kind ordinate = {false, true, "no metric"};
static const struct column_kind grouping = {true, false, "no axis of the sweep"};

static bool is_column(const struct experiment *plan, const struct column_kind *kind, const char *name) {
    bool is_workload = kind->axes && strcmp(name, "workload") == 0;
    return is_workload || (kind->axes && plan_find_axis(plan, name) != NULL) ||
           (kind->metrics && metric_find(name) != NULL);
}

static void add_columns(const struct experiment *plan, const struct column_kind *kind, struct catalog_names *names) {
    size_t count = 0;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; kind->axes && i < plan->axes.count; i++) {
        vector_push(names, plan->axes.items[i].key);
    }
    if (kind->axes && plan->workload_names.count > 1) {
        vector_push(names, "workload");
    }
    for (size_t i = 0; kind->metrics && i < count; i++) {
        vector_push(names, metrics[i].name);
    }
}

static void check_column(struct experiment *plan, const char *section, const char *key,
                         const struct column_kind *kind) {
    const struct setting *setting = plan_find(plan, section, key);
    if (setting == NULL || is_column(plan, kind, setting->value)) {
        return;
    }
    struct catalog_names names = {0};
    char suggestion[SUGGESTION_BYTES];
    add_columns(plan, kind, &names);
    text_suggestion(suggestion, sizeof suggestion, setting->value, names.items, names.count);
    mistakes_add(&plan->mistakes, setting->place, "%s: `%s` is %s%s", key, setting->value, kind->what, suggestion);
    catalog_names_free(&names);
}

static char *text_or_null(const char *text) { return text[0] != '\0' ? mem_string(text) : NULL; }

/* An axis has its full key as name whatever the figure calls it. */
static char *column_name(const struct experiment *plan, const char *name) {
    const struct axis *axis = plan_find_axis(plan, name);
    return text_or_null(axis != NULL ? axis->key : name);
}

static void fill(const struct experiment *plan, const char *section, struct figure_settings *settings) {
    options_default(&figure_options, settings);
    for (size_t i = 0; i < figure_options.count; i++) {
        const struct setting *setting = plan_find(plan, section, figure_options.options[i].name);
        struct text error = {0};
        if (setting != NULL) {
            option_parse(&figure_options.options[i], setting->value, settings, &error);
        }
        text_free(&error);
    }
}

static void add_figure(struct experiment *plan, const char *section, const char *name) {
    struct figure_settings *settings = mem_new(1, sizeof *settings);
    fill(plan, section, settings);
    struct figure figure = {
        .name = mem_string(name),
        .title = mem_string(settings->title[0] != '\0' ? settings->title : plan->title),
        .x = column_name(plan, settings->x),
        .y = text_or_null(settings->y),
        .group = column_name(plan, settings->group),
        .log_x = settings->log == FIGURE_LOG_X || settings->log == FIGURE_LOG_XY,
        .log_y = settings->log == FIGURE_LOG_Y || settings->log == FIGURE_LOG_XY,
        .x_label = text_or_null(settings->x_label),
        .y_label = text_or_null(settings->y_label),
    };
    vector_push(&plan->figures, figure);
    mem_free(settings);
}

/* Is its abscissa the axis that --set took away with the load that it belongs to? Then there is nothing to draw. */
static bool lost_its_axis(const struct experiment *plan, const char *section) {
    const struct setting *x = plan_find(plan, section, "x");
    return x != NULL && plan->alternative != NULL && strcmp(x->value, plan->alternative) == 0;
}

static void make_figure(struct experiment *plan, const struct plan_section *section, const char *name) {
    static const char *const required[] = {"x", "y"};
    for (size_t i = 0; i < sizeof required / sizeof required[0] && !plan->malformed; i++) {
        if (plan_find(plan, section->header, required[i]) == NULL) {
            mistakes_add(&plan->mistakes, section->place, "[%s] needs `%s`", section->header, required[i]);
        }
    }
    check_column(plan, section->header, "x", &abscissa);
    check_column(plan, section->header, "y", &ordinate);
    check_column(plan, section->header, "group", &grouping);
    add_figure(plan, section->header, name);
}

void plan_make_figures(struct experiment *plan) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        const struct plan_section *section = &plan->sections.items[i];
        const char *name;
        if (catalog_area(section->header, &name) == AREA_FIGURE && !lost_its_axis(plan, section->header)) {
            make_figure(plan, section, name);
        }
    }
}
