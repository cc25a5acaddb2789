/* plan_point.c - the algorithms of an experiment with what holds for each, and the points made from them.
 *
 * Which value an option has for a candidate, first that is there: an axis; the variant's section; the algorithm's
 * section; the option's own section; for restart.delay `adaptive` if the algorithm asks for it; the default. An axis
 * whose key an algorithm's section sets as well would be a lie for that algorithm, and is refused. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/plan.h"
#include "sim/lab/table.h"

static const enum area run_areas[] = {AREA_SYSTEM, AREA_COST, AREA_RESTART, AREA_WORKLOAD, AREA_ALGORITHM};
enum { RUN_AREAS = sizeof run_areas / sizeof run_areas[0] };

/* --- which value holds --- */

/* What an algorithm's section says about the option: its own by its name, others by their full key. */
static const struct setting *section_setting(const struct experiment *plan, const char *section, enum area area,
                                             const char *name) {
    if (section == NULL || area == AREA_ALGORITHM) {
        return section != NULL ? plan_find(plan, section, name) : NULL;
    }
    struct text key = {0};
    text_add(&key, "%s.%s", catalog_section_of(area)->name, name);
    const struct setting *setting = plan_find(plan, section, text_string(&key));
    text_free(&key);
    return setting;
}

const struct setting *plan_override(const struct experiment *plan, const struct candidate *candidate, const char *key) {
    const struct setting *setting =
        candidate->variant_section != NULL ? plan_find(plan, candidate->variant_section, key) : NULL;
    return setting == NULL && candidate->own_section != NULL ? plan_find(plan, candidate->own_section, key) : setting;
}

const struct setting *plan_setting(const struct experiment *plan, const struct candidate *candidate, enum area area,
                                   const struct option *option) {
    const struct setting *setting = section_setting(plan, candidate->variant_section, area, option->name);
    if (setting == NULL) {
        setting = section_setting(plan, candidate->own_section, area, option->name);
    }
    if (setting == NULL && area != AREA_ALGORITHM) {
        setting = plan_find(plan, catalog_section_of(area)->name, option->name);
    }
    return setting;
}

static bool is_same(const char *a, const char *b) { return a != NULL && b != NULL && strcmp(a, b) == 0; }

/* What an algorithm's section says about the option of the axis. */
static const struct setting *axis_setting(const struct experiment *plan, const char *section, const struct axis *axis) {
    const struct target *target = &axis->target;
    if (target->area != AREA_PROGRAM) {
        return section_setting(plan, section, target->area, target->option->name);
    }
    const char *key = target->scope != NULL ? strchr(axis->key, '.') + 1 : axis->key;
    return section != NULL ? plan_find(plan, section, key) : NULL;
}

/* One of its algorithm's section does unless the variant says otherwise. */
bool plan_axis_holds(const struct experiment *plan, const struct axis *axis, const struct candidate *candidate) {
    const struct target *target = &axis->target;
    if (target->area == AREA_EXPERIMENT || target->option == NULL) {
        return false;
    }
    if (target->scope == NULL || is_same(target->scope, candidate->variant_section)) {
        return true;
    }
    return is_same(target->scope, candidate->own_section) &&
           axis_setting(plan, candidate->variant_section, axis) == NULL;
}

static void refuse_override(struct experiment *plan, const struct axis *axis, const char *section) {
    const struct setting *setting = axis_setting(plan, section, axis);
    if (setting != NULL) {
        mistakes_add(&plan->mistakes, setting->place, "[%s] cannot set `%s`: it is an axis of the sweep", section,
                     axis->key);
    }
}

static bool is_first_of_section(const struct experiment *plan, const struct candidate *candidate) {
    const struct candidate *first = plan->candidates.items;
    while (!is_same(first->own_section, candidate->own_section)) {
        first++;
    }
    return first == candidate;
}

/* An axis over all algorithms, which one of them has its own idea of. */
static void check_overrides(struct experiment *plan, const struct axis *axis) {
    for (size_t i = 0; i < plan->candidates.count && axis->target.scope == NULL && axis->target.option != NULL; i++) {
        const struct candidate *candidate = &plan->candidates.items[i];
        refuse_override(plan, axis, candidate->variant_section);
        if (is_first_of_section(plan, candidate)) {
            refuse_override(plan, axis, candidate->own_section);
        }
    }
}

/* An axis that concerns no algorithm of the experiment would run the same points again and again. */
static void check_concerns(struct experiment *plan, const struct axis *axis) {
    bool concerns = axis->target.scope == NULL || axis->target.option == NULL;
    for (size_t i = 0; i < plan->candidates.count && !concerns; i++) {
        concerns = plan_axis_holds(plan, axis, &plan->candidates.items[i]);
    }
    if (!concerns) {
        mistakes_add(&plan->mistakes, axis->place, "the axis `%s` concerns no algorithm of this experiment", axis->key);
    }
}

/* --- bases --- */

static void *area_values(struct run_spec *spec, void *algorithm_options, void *workload_options, enum area area) {
    switch (area) {
    case AREA_SYSTEM: return &spec->system;
    case AREA_COST: return &spec->cost;
    case AREA_RESTART: return &spec->restart;
    case AREA_WORKLOAD: return workload_options;
    case AREA_ALGORITHM: return algorithm_options;
    default: return NULL;
    }
}

/* The text has been looked at before. */
static void parse_known(const struct option *option, const char *text, void *values) {
    struct text error = {0};
    bool fits = option_parse(option, text, values, &error);
    CHECK_MSG(fits, "%s: %s", option->name, text_string(&error));
    text_free(&error);
}

static void fill_area(const struct experiment *plan, struct candidate *candidate, enum area area) {
    const struct option_table *options = catalog_options(area, candidate->ops, plan->workload);
    if (options == NULL) {
        return;
    }
    void *values = area_values(&candidate->spec, candidate->algorithm_options, candidate->workload_options, area);
    options_default(options, values);
    for (size_t i = 0; i < options->count; i++) {
        const struct option *option = &options->options[i];
        const struct setting *setting = plan_setting(plan, candidate, area, option);
        bool is_delay = area == AREA_RESTART && strcmp(option->name, "delay") == 0;
        if (setting != NULL) {
            parse_known(option, setting->value, values);
        } else if (is_delay && (candidate->ops->flags & CC_RESTART_ADAPTIVE) != 0) {
            parse_known(option, "adaptive", values);
        }
    }
}

static void *new_options(const struct option_table *options) {
    return options != NULL ? mem_new(1, options->size) : NULL;
}

static void fill_candidate(const struct experiment *plan, struct candidate *candidate) {
    candidate->algorithm_options = new_options(candidate->ops->options);
    candidate->workload_options = new_options(plan->workload->options);
    candidate->spec = (struct run_spec){
        .algorithm = candidate->ops,
        .workload = plan->workload,
        .seed = (uint64_t)plan->own.seed,
        .replication = 1,
        .warmup_ns = plan->own.warmup_ns,
        .duration_ns = plan->own.duration_ns,
        .certify = plan->own.certify,
        .series_ns = plan->own.series_ns,
        .batches = plan->own.batches,
    };
    for (size_t i = 0; i < RUN_AREAS; i++) {
        fill_area(plan, candidate, run_areas[i]);
    }
}

static struct candidate name_candidate(const struct experiment *plan, const char *name) {
    const struct variant *variant = plan_variant(plan, name);
    const struct cc_ops *ops = variant != NULL ? variant->ops : cc_find(name);
    return (struct candidate){.name = name,
                              .ops = ops,
                              .own_section = ops != NULL ? ops->name : NULL,
                              .variant_section = variant != NULL ? variant->section : NULL};
}

/* --- terminals or arrivals --- */

static bool has_value(const struct experiment *plan, const struct candidate *candidate, const char *name) {
    const struct option *option = option_find(&system_options, name);
    bool given = plan_setting(plan, candidate, AREA_SYSTEM, option) != NULL;
    for (size_t i = 0; i < plan->axes.count && !given; i++) {
        const struct axis *axis = &plan->axes.items[i];
        given = axis->target.option == option && plan_axis_holds(plan, axis, candidate);
    }
    return given;
}

/* True if the candidate's load is sound; the first that is not is told. */
static bool check_load(struct experiment *plan, const struct candidate *candidate) {
    bool closed = has_value(plan, candidate, "terminals"), open = has_value(plan, candidate, "arrival_rate");
    if (closed != open) {
        return true;
    }
    const struct setting *plain = plan_find(plan, "system", "arrival_rate");
    const struct setting *swept = plan_find(plan, "sweep", "system.arrival_rate");
    if (closed) {
        struct place place = swept != NULL ? swept->place : plain != NULL ? plain->place : plan_whole();
        mistakes_add(&plan->mistakes, place,
                     "both system.terminals and system.arrival_rate are given; only one can be");
    } else {
        mistakes_add(&plan->mistakes, plan_whole(), "neither system.terminals nor system.arrival_rate is given");
    }
    return false;
}

/* --- points --- */

static void apply_axis(const struct axis *axis, size_t position, struct point *point) {
    void *values = area_values(&point->spec, point->algorithm_options, point->workload_options, axis->target.area);
    parse_known(axis->target.option, axis->values.items[position], values);
}

static void *copy_options(const void *options, const struct option_table *table) {
    return options != NULL ? memcpy(mem_new(1, table->size), options, table->size) : NULL;
}

bool plan_point(const struct experiment *plan, const size_t *positions, struct point *point, struct text *error) {
    const struct candidate *candidate = &plan->candidates.items[positions[plan->algorithm_axis]];
    *point = (struct point){.spec = candidate->spec, .algorithm = candidate->name};
    point->algorithm_options = copy_options(candidate->algorithm_options, candidate->ops->options);
    point->workload_options = copy_options(candidate->workload_options, plan->workload->options);
    point->spec.algorithm_options = point->algorithm_options;
    point->spec.workload_options = point->workload_options;
    for (size_t i = 0; i < plan->axes.count; i++) {
        const struct axis *axis = &plan->axes.items[i];
        if (axis->target.area != AREA_PROGRAM && plan_axis_holds(plan, axis, candidate)) {
            apply_axis(axis, positions[i], point);
        }
    }
    return !plan_has_program(plan) || plan_program(plan, candidate, positions, point->workload_options, error);
}

static void add_columns(const struct experiment *plan, const size_t *positions, struct text *out) {
    struct text cell = {0};
    bool first = true;
    for (size_t i = 0; i < plan->axes.count; i++) {
        const struct axis *axis = &plan->axes.items[i];
        if (i == plan->algorithm_axis) {
            continue;
        }
        text_clear(&cell);
        option_column(axis->target.option, axis->values.items[positions[i]], &cell);
        text_add(out, "%s", first ? "" : ",");
        table_quoted(out, text_string(&cell));
        first = false;
    }
    text_free(&cell);
}

void experiment_point(const struct experiment *experiment, size_t number, struct point *point) {
    size_t of_all = number;
    experiment = plan_part(experiment, &number);
    size_t *positions = mem_new(experiment->axes.count, sizeof *positions);
    plan_positions(experiment, number, positions);
    struct text error = {0};
    bool sound = plan_point(experiment, positions, point, &error);
    CHECK_MSG(sound, "%s", text_string(&error));
    text_free(&error);
    point->number = of_all;
    add_columns(experiment, positions, &point->columns);
    mem_free(positions);
}

void point_free(struct point *point) {
    text_free(&point->columns);
    if (point->workload_options != NULL && point->spec.workload->discard != NULL) {
        point->spec.workload->discard(point->workload_options);
    }
    mem_free(point->algorithm_options);
    mem_free(point->workload_options);
    *point = (struct point){0};
}

/* KEY=VALUE, as a shell takes it. */
static void add_argument(const char *before, const char *key, const char *value, struct text *out) {
    struct text word = {0};
    text_add(&word, "%s=%s", key, value);
    text_add(out, "%s", before);
    text_add_shell_word(out, text_string(&word));
    text_free(&word);
}

static void add_point(const struct experiment *experiment, size_t number, const char *before, struct text *out) {
    experiment = plan_part(experiment, &number);
    if (experiment->workload_names.count > 1) {
        add_argument(before, "workload.name", experiment->workload->name, out);
    }
    size_t *positions = mem_new(experiment->axes.count, sizeof *positions);
    plan_positions(experiment, number, positions);
    for (size_t i = 0; i < experiment->axes.count; i++) {
        const struct axis *axis = &experiment->axes.items[i];
        add_argument(before, axis->key, axis->values.items[positions[i]], out);
    }
    mem_free(positions);
}

void experiment_select(const struct experiment *experiment, size_t number, struct text *out) {
    add_point(experiment, number, " --only ", out);
}

void experiment_tell(const struct experiment *experiment, size_t number, struct text *out) {
    add_point(experiment, number, " ", out);
}

/* --- all of it --- */

/* Unknown names have been told; nothing is made of them. */
static void name_candidates(struct experiment *plan, const struct axis *algorithms) {
    for (size_t i = 0; algorithms != NULL && i < algorithms->values.count; i++) {
        struct candidate candidate = name_candidate(plan, algorithms->values.items[i]);
        if (candidate.ops != NULL) {
            vector_push(&plan->candidates, candidate);
        }
    }
}

static void check_loads(struct experiment *plan) {
    static const struct candidate any = {0};
    bool sound = plan->candidates.count > 0 || check_load(plan, &any);
    for (size_t i = 0; i < plan->candidates.count && sound; i++) {
        sound = check_load(plan, &plan->candidates.items[i]);
    }
}

void plan_make_candidates(struct experiment *plan) {
    name_candidates(plan, plan_find_axis(plan, "algorithm"));
    for (size_t i = 0; i < plan->axes.count && plan->candidates.count > 0; i++) {
        check_overrides(plan, &plan->axes.items[i]);
        check_concerns(plan, &plan->axes.items[i]);
    }
    if (!plan->malformed) {
        check_loads(plan);
    }
    if (plan->mistakes.count > 0) {
        return;
    }
    for (size_t i = 0; i < plan->candidates.count; i++) {
        fill_candidate(plan, &plan->candidates.items[i]);
    }
    plan_check_workload(plan);
}
