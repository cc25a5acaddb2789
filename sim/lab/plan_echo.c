/* plan_echo.c - the effective configuration as a config: read again, it is the same plan, points and all.
 *
 * Every option of [experiment], [system], [cost], [restart] and [workload] has a line; what has no value stands in a
 * comment. Algorithms' sections, where given, list what they change, and below that, as comments, the algorithm's
 * other options
 * with their defaults. An axis that --only cut down is written as the list of what is left. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/plan.h"

enum { KEY_WIDTH = 14, LINE_WIDTH = 110 };

/* The value, broken at blanks into indented lines. */
static void add_wrapped(struct text *out, const char *value, size_t column) {
    while (*value != '\0') {
        size_t word = strcspn(value, " ");
        if (column + word > LINE_WIDTH && column > 4) {
            text_add(out, "\n   ");
            column = 4;
        }
        text_add(out, " %.*s", (int)word, value);
        column += word + 1;
        value += word;
        value += strspn(value, " ");
    }
    text_add(out, "\n");
}

static void add_line(struct text *out, const char *key, const char *value) {
    text_add(out, "%-*s =", KEY_WIDTH, key);
    size_t width = strlen(key) > KEY_WIDTH ? strlen(key) : KEY_WIDTH;
    add_wrapped(out, value, width + 2);
}

static const char *default_of(const struct option *option) {
    return (option->flags & (OPTION_REQUIRED | OPTION_OPTIONAL)) != 0 ? NULL : option->fallback;
}

static void add_options(const struct experiment *plan, const char *section, const struct option_table *options,
                        struct text *out) {
    for (size_t i = 0; options != NULL && i < options->count; i++) {
        const struct option *option = &options->options[i];
        const struct setting *setting = plan_find(plan, section, option->name);
        const char *value = setting != NULL ? setting->value : default_of(option);
        if (value != NULL) {
            add_line(out, option->name, value);
        } else {
            text_add(out, "; %s is not given\n", option->name);
        }
    }
}

static void add_header(const char *header, struct text *out) {
    text_add(out, "%s[%s]\n", out->length > 0 ? "\n" : "", header);
}

static bool is_cut(const struct experiment *plan, const struct dimension *dimension) {
    return dimension->kept.count < plan->axes.items[dimension->axes.items[0]].values.count;
}

/* As typed, or what --only left of it. */
static void axis_value(const struct experiment *plan, const struct axis *axis, const struct dimension *dimension,
                       struct text *out) {
    if (!is_cut(plan, dimension)) {
        text_add(out, "%s", axis->text);
        return;
    }
    for (size_t i = 0; i < dimension->kept.count; i++) {
        text_add(out, "%s%s", i == 0 ? "" : " ", axis->values.items[dimension->kept.items[i]]);
    }
}

static const struct dimension *dimension_of(const struct experiment *plan, size_t axis) {
    for (size_t i = 0; i < plan->dimensions.count; i++) {
        const struct dimension *dimension = &plan->dimensions.items[i];
        for (size_t k = 0; k < dimension->axes.count; k++) {
            if (dimension->axes.items[k] == axis) {
                return dimension;
            }
        }
    }
    return NULL;
}

static void add_axis(const struct experiment *plan, size_t axis, struct text *out) {
    struct text value = {0};
    axis_value(plan, &plan->axes.items[axis], dimension_of(plan, axis), &value);
    add_line(out, plan->axes.items[axis].key, text_string(&value));
    text_free(&value);
}

static bool algorithm_is_swept(const struct experiment *plan) { return plan_find(plan, "sweep", "algorithm") != NULL; }

/* The algorithms stand where they were given. */
static void add_experiment(const struct experiment *plan, struct text *out) {
    struct option_table before = experiment_options, behind = experiment_options;
    before.count = 1; /* title */
    behind.options += 2;
    behind.count -= 2;
    add_header("experiment", out);
    add_options(plan, "experiment", &before, out);
    if (!algorithm_is_swept(plan)) {
        add_axis(plan, plan->algorithm_axis, out);
    }
    add_options(plan, "experiment", &behind, out);
}

static void add_sweep(const struct experiment *plan, struct text *out) {
    const struct setting *zip = plan_find(plan, "sweep", "zip");
    bool swept = algorithm_is_swept(plan);
    if (plan->axes.count == 1 && !swept) {
        return;
    }
    add_header("sweep", out);
    for (size_t i = 0; i < plan->axes.count; i++) {
        if (i != plan->algorithm_axis || swept) {
            add_axis(plan, i, out);
        }
    }
    if (zip != NULL) {
        add_line(out, "zip", zip->value);
    }
}

/* What a section of the files says, as it says it. */
static void add_given(const struct experiment *plan, const char *section, struct text *out) {
    for (size_t i = 0; i < plan->settings.count; i++) {
        const struct setting *setting = &plan->settings.items[i];
        if (strcmp(setting->section, section) == 0) {
            add_line(out, setting->key, setting->value);
        }
    }
}

/* The sections in which the workload is written. */
static void add_program(const struct experiment *plan, struct text *out) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        if (plan->sections.items[i].area == AREA_PROGRAM) {
            add_header(plan->sections.items[i].header, out);
            add_given(plan, plan->sections.items[i].header, out);
        }
    }
}

static void add_variants(const struct experiment *plan, struct text *out) {
    for (size_t i = 0; i < plan->variants.count; i++) {
        add_header(plan->variants.items[i].section, out);
        add_given(plan, plan->variants.items[i].section, out);
    }
}

static bool takes_part(const struct experiment *plan, const struct cc_ops *ops) {
    for (size_t i = 0; i < plan->candidates.count; i++) {
        if (plan->candidates.items[i].ops == ops) {
            return true;
        }
    }
    return false;
}

static bool has_settings(const struct experiment *plan, const char *section) {
    for (size_t i = 0; i < plan->settings.count; i++) {
        if (strcmp(plan->settings.items[i].section, section) == 0) {
            return true;
        }
    }
    return false;
}

static void add_delay(const struct experiment *plan, const struct cc_ops *ops, struct text *out) {
    const struct candidate candidate = {.ops = ops, .own_section = ops->name};
    const struct option *delay = option_find(&restart_options, "delay");
    bool swept = plan_find_axis(plan, "restart.delay") != NULL;
    if ((ops->flags & CC_RESTART_ADAPTIVE) != 0 && !swept &&
        plan_setting(plan, &candidate, AREA_RESTART, delay) == NULL) {
        add_line(out, "restart.delay", "adaptive");
    }
}

/* The sections of the algorithms that take part, with every option, and of those that the files mention. */
static void add_algorithms(const struct experiment *plan, struct text *out) {
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *ops = cc_registry[i];
        struct text section = {0};
        if (takes_part(plan, ops)) {
            add_options(plan, ops->name, ops->options, &section);
            add_delay(plan, ops, &section);
        }
        for (size_t k = 0; k < plan->settings.count; k++) {
            const struct setting *setting = &plan->settings.items[k];
            bool is_own = ops->options != NULL && option_find(ops->options, setting->key) != NULL;
            if (strcmp(setting->section, ops->name) == 0 && !(takes_part(plan, ops) && is_own)) {
                add_line(&section, setting->key, setting->value);
            }
        }
        if (section.length > 0 || has_settings(plan, ops->name)) {
            add_header(ops->name, out);
            text_add(out, "%s", text_string(&section));
        }
        text_free(&section);
    }
}

static void add_figures(const struct experiment *plan, struct text *out) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        const struct plan_section *section = &plan->sections.items[i];
        for (size_t k = 0; section->area == AREA_FIGURE && k < plan->figures.count; k++) {
            const char *name;
            catalog_area(section->header, &name);
            if (strcmp(plan->figures.items[k].name, name) == 0) {
                add_header(section->header, out);
                add_given(plan, section->header, out);
            }
        }
    }
}

/* One workload, or several with a section each. */
static void add_workloads(const struct experiment *plan, struct text *out) {
    add_header("workload", out);
    if (plan->workload_names.count <= 1) {
        add_options(plan, "workload", &workload_head_options, out);
        add_options(plan, "workload", plan->workload->options, out);
        return;
    }
    struct text names = {0};
    for (size_t i = 0; i <= plan->others.count; i++) {
        const struct experiment *part = i == 0 ? plan : plan->others.items[i - 1];
        if (!part->left_out) {
            text_add(&names, "%s%s", names.length > 0 ? " " : "", part->workload->name);
        }
    }
    add_line(out, "name", text_string(&names));
    text_free(&names);
    for (size_t i = 0; i <= plan->others.count; i++) {
        const struct experiment *part = i == 0 ? plan : plan->others.items[i - 1];
        if (!part->left_out) {
            text_add(out, "\n[workload %s]\n", part->workload->name);
            add_options(part, "workload", part->workload->options, out);
        }
    }
}

void experiment_echo(const struct experiment *experiment, struct text *out) {
    static const enum area areas[] = {AREA_SYSTEM, AREA_COST, AREA_RESTART};
    struct text echo = {0};
    add_experiment(experiment, &echo);
    for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
        const struct catalog_section *section = catalog_section_of(areas[i]);
        add_header(section->name, &echo);
        add_options(experiment, section->name, section->options, &echo);
    }
    add_workloads(experiment, &echo);
    add_program(experiment, &echo);
    add_algorithms(experiment, &echo);
    add_variants(experiment, &echo);
    add_sweep(experiment, &echo);
    add_figures(experiment, &echo);
    text_add(out, "%s", text_string(&echo));
    text_free(&echo);
}
