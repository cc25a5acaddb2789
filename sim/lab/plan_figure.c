/* plan_figure.c - [figure NAME]: which columns are drawn against which. */
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/plan.h"
#include "sim/lab/table.h"

enum { SUGGESTION_BYTES = 160 };

/* The names that a figure's key may have. */
struct column_kind {
    bool axes, metrics, pieces; /* of the sweep; of runs; of a series, time_s apart */
    const char *const *others;  /* NULL-terminated, or NULL */
    const char *what;
};

static const char *const measured[] = {"response", "wait", NULL}, *const time_only[] = {"time_s", NULL};
static const struct column_kind abscissae[] = {
    [FIGURE_SUMMARY] = {true, true, false, NULL, "neither an axis of the sweep nor a metric"},
    [FIGURE_SERIES] = {false, false, false, time_only, "not time_s, as it is for a series"},
    [FIGURE_HISTOGRAMS] = {false, false, false, measured, "neither response nor wait: only they have histograms"}};
static const struct column_kind ordinates[] = {
    [FIGURE_SUMMARY] = {false, true, false, NULL, "no metric"},
    [FIGURE_SERIES] = {false, false, true, NULL, "no column of series.csv"},
    [FIGURE_HISTOGRAMS] = {false, false, false, NULL, "one too many: of histograms the share is drawn"}};
static const struct column_kind value_of_map = {false, true, false, NULL, "no metric"};
static const struct column_kind an_axis = {true, false, false, NULL, "no axis of the sweep"};

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
    for (size_t i = 1; kind->pieces && table_series_column(i) != NULL; i++) {
        vector_push(names, table_series_column(i));
    }
    for (const char *const *other = kind->others; other != NULL && *other != NULL; other++) {
        vector_push(names, *other);
    }
}

/* An axis may go by other names as well. */
static bool is_column(const struct experiment *plan, const struct column_kind *kind, const char *name) {
    struct catalog_names names = {0};
    bool is_one = kind->axes && (strcmp(name, "workload") == 0 || plan_find_axis(plan, name) != NULL);
    add_columns(plan, kind, &names);
    for (size_t i = 0; i < names.count; i++) {
        is_one = is_one || strcmp(names.items[i], name) == 0;
    }
    catalog_names_free(&names);
    return is_one;
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

/* What the source leaves no choice about, where nothing is said of it. */
static void complete(char *value, const char *otherwise) {
    if (value[0] == '\0') {
        snprintf(value, OPTION_TEXT_SIZE, "%s", otherwise);
    }
}

static void complete_all(struct figure_settings *settings) {
    bool of_wait = strcmp(settings->x, "wait") == 0;
    if (settings->source == FIGURE_SERIES) {
        complete(settings->x, "time_s");
        complete(settings->x_label, "time (s)");
    } else if (settings->source == FIGURE_HISTOGRAMS) {
        complete(settings->x, "response");
        complete(settings->y, "share_below");
        complete(settings->x_label, of_wait ? "time blocked by concurrency control (ms)" : "response time (ms)");
        complete(settings->y_label, "share of transactions that took at most so long");
    }
}

static void add_figure(struct experiment *plan, const char *name, const struct figure_settings *settings) {
    bool is_map = settings->kind == FIGURE_MAP;
    bool is_summary = settings->source == FIGURE_SUMMARY;
    struct figure figure = {
        .kind = (enum figure_kind)settings->kind,
        .name = mem_string(name),
        .title = mem_string(settings->title[0] != '\0' ? settings->title : plan->title),
        .source = (enum figure_source)settings->source,
        .x = is_summary ? column_name(plan, settings->x) : text_or_null(settings->x),
        .y = is_map ? column_name(plan, settings->y) : text_or_null(settings->y),
        .group = column_name(plan, settings->group),
        .value = is_map ? mem_string(settings->value) : NULL,
        .lowest = is_map && settings->lowest,
        .log_x = settings->log == FIGURE_LOG_X || settings->log == FIGURE_LOG_XY,
        .log_y = settings->log == FIGURE_LOG_Y || settings->log == FIGURE_LOG_XY,
        .x_label = text_or_null(settings->x_label),
        .y_label = text_or_null(settings->y_label),
    };
    vector_push(&plan->figures, figure);
}

/* Is its abscissa the axis that --set took away with the load that it belongs to? Then there is nothing to draw. */
static bool lost_its_axis(const struct experiment *plan, const char *section) {
    const struct setting *x = plan_find(plan, section, "x");
    return x != NULL && plan->alternative != NULL && strcmp(x->value, plan->alternative) == 0;
}

static void check_given(struct experiment *plan, const struct plan_section *section, const char *key, bool needs) {
    if (needs && !plan->malformed && plan_find(plan, section->header, key) == NULL) {
        mistakes_add(&plan->mistakes, section->place, "[%s] needs `%s`", section->header, key);
    }
}

/* The files that it is drawn from must be written. */
static void check_source(struct experiment *plan, const char *section, int source) {
    const struct setting *setting = plan_find(plan, section, "source");
    if ((source == FIGURE_SERIES && plan->own.series_ns == 0) ||
        (source == FIGURE_HISTOGRAMS && !plan->own.histograms)) {
        mistakes_add(&plan->mistakes, setting->place, "source: there is no %s.csv without experiment.%s",
                     figure_sources[source], source == FIGURE_SERIES ? "series (such as 1s)" : "histograms = yes");
    }
}

static void make_figure(struct experiment *plan, const struct plan_section *section, const char *name) {
    struct figure_settings *settings = mem_new(1, sizeof *settings);
    fill(plan, section->header, settings);
    bool is_map = settings->kind == FIGURE_MAP;
    if (is_map && settings->source != FIGURE_SUMMARY) {
        mistakes_add(&plan->mistakes, section->place, "[%s]: a map is drawn from the summary", section->header);
    }
    check_given(plan, section, "x", settings->source == FIGURE_SUMMARY);
    check_given(plan, section, "y", settings->source != FIGURE_HISTOGRAMS);
    check_given(plan, section, "group", is_map);
    check_column(plan, section->header, "x", is_map ? &an_axis : &abscissae[settings->source]);
    check_column(plan, section->header, "y", is_map ? &an_axis : &ordinates[settings->source]);
    check_column(plan, section->header, "group", &an_axis);
    check_column(plan, section->header, "value", &value_of_map);
    check_source(plan, section->header, settings->source);
    complete_all(settings);
    add_figure(plan, name, settings);
    mem_free(settings);
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
