/* experiment.c - makes a plan, part by part (plan.h), and tells what is in it. */
#include "sim/lab/experiment.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/plan.h"

/* The first file's name without directories and ending. */
static char *stem_of(const char *path) {
    if (strcmp(path, "-") == 0) {
        return mem_string("stdin");
    }
    const char *slash = strrchr(path, '/');
    char *stem = mem_string(slash != NULL ? slash + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot != NULL && dot != stem) {
        *dot = '\0';
    }
    return stem;
}

static void free_axes(struct experiment *plan) {
    for (size_t i = 0; i < plan->axes.count; i++) {
        mem_free(plan->axes.items[i].key);
        mem_free(plan->axes.items[i].keeps);
        axis_free(&plan->axes.items[i].values);
    }
    for (size_t i = 0; i < plan->dimensions.count; i++) {
        vector_free(&plan->dimensions.items[i].axes);
        vector_free(&plan->dimensions.items[i].kept);
    }
    vector_free(&plan->axes);
    vector_free(&plan->dimensions);
}

static void free_settings(struct experiment *plan) {
    for (size_t i = 0; i < plan->settings.count; i++) {
        mem_free(plan->settings.items[i].section);
        mem_free(plan->settings.items[i].key);
        mem_free(plan->settings.items[i].value);
        vector_free(&plan->settings.items[i].pieces);
    }
    for (size_t i = 0; i < plan->sections.count; i++) {
        mem_free(plan->sections.items[i].header);
    }
    for (size_t i = 0; i < plan->sources.count; i++) {
        mem_free(plan->sources.items[i]);
    }
    vector_free(&plan->settings);
    vector_free(&plan->sections);
    vector_free(&plan->sources);
    vector_free(&plan->variants);
}

static void free_results(struct experiment *plan) {
    for (size_t i = 0; i < plan->candidates.count; i++) {
        mem_free(plan->candidates.items[i].algorithm_options);
        mem_free(plan->candidates.items[i].workload_options);
    }
    for (size_t i = 0; i < plan->figures.count; i++) {
        const struct figure *figure = &plan->figures.items[i];
        char *const strings[] = {figure->name,  figure->title, figure->x,       figure->y,
                                 figure->group, figure->value, figure->x_label, figure->y_label};
        for (size_t k = 0; k < sizeof strings / sizeof strings[0]; k++) {
            mem_free(strings[k]);
        }
    }
    vector_free(&plan->candidates);
    vector_free(&plan->figures);
}

void experiment_free(struct experiment *experiment) {
    if (experiment == NULL) {
        return;
    }
    free_results(experiment);
    free_axes(experiment);
    free_settings(experiment);
    for (size_t i = 0; i < experiment->workload_names.count; i++) {
        mem_free(experiment->workload_names.items[i]);
    }
    vector_free(&experiment->workload_names);
    for (size_t i = 0; i < experiment->others.count; i++) {
        experiment_free(experiment->others.items[i]);
    }
    vector_free(&experiment->others);
    mistakes_free(&experiment->mistakes);
    mem_free(experiment->title);
    mem_free(experiment->stem);
    mem_free(experiment);
}

/* Of all plans together; the rest is the same in each. */
static void state_facts(struct experiment *plan) {
    size_t points = plan->points;
    for (size_t i = 0; i < plan->others.count; i++) {
        points += plan->others.items[i]->points;
    }
    plan->facts = (struct experiment_facts){
        .title = plan->title,
        .stem = plan->stem,
        .seed = (uint64_t)plan->own.seed,
        .replications = plan->own.replications,
        .replications_most = plan_replications_most(plan),
        .precision = plan->own.precision,
        .precision_metric = metric_number(plan->own.precision_of),
        .batches = plan->own.batches,
        .compare = plan_compares(plan) ? plan->own.compare : NULL,
        .warmup_ns = plan->own.warmup_ns,
        .duration_ns = plan->own.duration_ns,
        .certify = plan->own.certify,
        .histograms = plan->own.histograms,
        .points = points,
        .workloads = plan->others.count + 1,
        .axes = plan->axes.count - 1,
        .figures = plan->figures.items,
        .figure_count = plan->figures.count,
    };
}

/* The plan for one of several workloads (NULL: the first); NULL if there are mistakes. */
static struct experiment *load_one(const struct experiment_request *request, const char *workload,
                                   struct text *errors) {
    struct experiment *plan = mem_new(1, sizeof *plan);
    plan_read(plan, request, workload);
    plan_check_sections(plan);
    plan->stem = stem_of(request->files[0]);
    plan->title = mem_string(plan->own.title[0] != '\0' ? plan->own.title : plan->stem);
    plan_make_axes(plan, request);
    plan_check_program(plan);
    plan_make_figures(plan);
    plan_make_candidates(plan);
    plan_check_method(plan);
    if (plan->mistakes.count > 0) {
        mistakes_print(&plan->mistakes, (const char *const *)plan->sources.items, errors);
        experiment_free(plan);
        return NULL;
    }
    return plan;
}

/* Adds the plans for the other workloads. False if there are mistakes in one. */
static bool load_others(struct experiment *plan, const struct experiment_request *request, struct text *errors) {
    bool good = true;
    for (size_t i = 1; i < plan->workload_names.count && good; i++) {
        struct experiment *other = load_one(request, plan->workload_names.items[i], errors);
        good = other != NULL;
        if (good) {
            vector_push(&plan->others, other);
        }
    }
    return good;
}

struct experiment *experiment_load(const struct experiment_request *request, struct text *errors) {
    struct experiment *plan = load_one(request, NULL, errors);
    if (plan == NULL || !load_others(plan, request, errors)) {
        experiment_free(plan);
        return NULL;
    }
    state_facts(plan);
    if (plan->facts.points > EXPERIMENT_POINTS_MAX / (size_t)plan->facts.replications_most) {
        text_add(errors,
                 "%s: all workloads together have %zu points; with %" PRId64
                 " replications each that is more than %d runs\n",
                 plan->sources.items[0], plan->facts.points, plan->facts.replications_most, EXPERIMENT_POINTS_MAX);
        experiment_free(plan);
        return NULL;
    }
    return plan;
}

const struct experiment_facts *experiment_facts(const struct experiment *experiment) { return &experiment->facts; }

const char *experiment_workload(const struct experiment *experiment, size_t number) {
    CHECK(number < experiment->facts.workloads);
    return number == 0 ? experiment->workload->name : experiment->others.items[number - 1]->workload->name;
}

const char *experiment_axis(const struct experiment *experiment, size_t axis) {
    CHECK(axis < experiment->facts.axes);
    size_t index = axis < experiment->algorithm_axis ? axis : axis + 1;
    return experiment->axes.items[index].key;
}
