/* plan_axes.c - from [sweep], the list of algorithms and --only to the grid.
 *
 * Invariants: every axis is in exactly one dimension; a dimension's axes have equally many values; the number of points
 * is the product of what the dimensions kept. The grid is never written out: a point's number is taken apart. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/plan.h"

enum { SUGGESTION_BYTES = 160, COMPARED_MAX = 3000 };

const struct axis *plan_find_axis(const struct experiment *plan, const char *key) {
    if (strcmp(key, "experiment.algorithm") == 0) {
        key = "algorithm";
    }
    for (size_t i = 0; i < plan->axes.count; i++) {
        if (strcmp(plan->axes.items[i].key, key) == 0) {
            return &plan->axes.items[i];
        }
    }
    return NULL;
}

static void add_axis_names(const struct experiment *plan, struct catalog_names *names) {
    for (size_t i = 0; i < plan->axes.count; i++) {
        vector_push(names, plan->axes.items[i].key);
    }
}

/* --- the values of one axis --- */

static bool algorithm_fits(const struct experiment *plan, const char *name, struct text *error) {
    if (cc_find(name) != NULL || plan_variant(plan, name) != NULL) {
        return true;
    }
    struct catalog_names names = {0};
    char suggestion[SUGGESTION_BYTES];
    catalog_add_algorithms(&names);
    for (size_t i = 0; i < plan->variants.count; i++) {
        vector_push(&names, plan->variants.items[i].name);
    }
    text_suggestion(suggestion, sizeof suggestion, name, names.items, names.count);
    text_add(error, "unknown algorithm `%s`%s", name, suggestion);
    catalog_names_free(&names);
    return false;
}

static bool is_algorithm(const struct axis *axis) { return axis->target.area == AREA_EXPERIMENT; }

/* Of an option of an unknown workload or algorithm any value fits. */
static bool value_fits(const struct experiment *plan, const struct axis *axis, const char *value, struct text *error) {
    if (is_algorithm(axis)) {
        return algorithm_fits(plan, value, error);
    }
    return axis->target.option == NULL || plan_value_fits(axis->target.option, value, error);
}

/* Its cell, or for an algorithm its name: what two values of an axis are compared by. */
static void value_column(const struct axis *axis, const char *value, struct text *out) {
    if (axis->target.option == NULL || is_algorithm(axis)) {
        text_add(out, "%s", value);
    } else {
        option_column(axis->target.option, value, out);
    }
}

static void prefix_key(const struct experiment *plan, const struct axis *axis, struct text *out) {
    bool is_set = axis->place.source >= plan->file_count;
    bool stands_there = is_set || strcmp(axis->key, "algorithm") == 0;
    text_add(out, "%s%s", stands_there ? "" : axis->key, stands_there ? "" : ": ");
}

static void axis_mistake(struct experiment *plan, const struct axis *axis, const struct text *error) {
    struct text prefix = {0};
    prefix_key(plan, axis, &prefix);
    mistakes_add(&plan->mistakes, axis->place, "%s%s", text_string(&prefix), text_string(error));
    text_free(&prefix);
}

/* All wrong values of an algorithm list are told, of others the first. */
static bool check_values(struct experiment *plan, const struct axis *axis) {
    bool good = true;
    for (size_t i = 0; i < axis->values.count && (good || is_algorithm(axis)); i++) {
        struct text error = {0};
        const char *value = axis->values.items[i];
        if (!value_fits(plan, axis, value, &error)) {
            axis_mistake(plan, axis, &error);
            good = false;
        }
        text_free(&error);
    }
    return good;
}

/* The index of a value that is there before it in another spelling, perhaps; count: none. Ranges, which alone are long,
 * have no equals. */
static size_t first_repeated(const struct axis *axis) {
    size_t count = axis->values.count;
    if (count > COMPARED_MAX) {
        return count;
    }
    size_t found = count;
    struct text *cells = mem_new(count, sizeof *cells);
    for (size_t i = 0; i < count; i++) {
        value_column(axis, axis->values.items[i], &cells[i]);
        for (size_t k = 0; k < i && found == count; k++) {
            found = strcmp(text_string(&cells[i]), text_string(&cells[k])) == 0 ? i : count;
        }
    }
    for (size_t i = 0; i < count; i++) {
        text_free(&cells[i]);
    }
    mem_free(cells);
    return found;
}

static void check_repeats(struct experiment *plan, const struct axis *axis) {
    size_t repeated = first_repeated(axis);
    if (repeated < axis->values.count) {
        struct text error = {0};
        text_add(&error, "the value `%s` comes twice", axis->values.items[repeated]);
        axis_mistake(plan, axis, &error);
        text_free(&error);
    }
}

/* --- axes --- */

static void add_axis(struct experiment *plan, const char *key, const char *text, struct place place,
                     const struct target *target) {
    struct axis axis = {.key = mem_string(key), .target = *target, .text = text, .place = place};
    struct text error = {0};
    if (!axis_parse(text, &axis.values, &error)) {
        axis_mistake(plan, &axis, &error);
    } else if (check_values(plan, &axis)) {
        check_repeats(plan, &axis);
    }
    text_free(&error);
    axis.keeps = mem_new(axis.values.count, sizeof *axis.keeps);
    vector_push(&plan->axes, axis);
}

static bool is_algorithm_key(const char *key) { return strcmp(key, "algorithm") == 0; }

static void add_swept_key(struct experiment *plan, const struct setting *setting) {
    struct target target;
    struct text error = {0};
    if (!plan_key(plan, setting->key, &target, &error)) {
        mistakes_add(&plan->mistakes, setting->place, "%s", text_string(&error));
    } else if (!is_algorithm_key(setting->key) && !target_may_differ(&target)) {
        mistakes_add(&plan->mistakes, setting->place, "`%s` cannot be swept", setting->key);
    } else {
        add_axis(plan, setting->key, setting->value, setting->place, &target);
    }
    text_free(&error);
}

/* [experiment]'s list of algorithms is the outermost axis, unless [sweep] has one. */
static void add_algorithms(struct experiment *plan) {
    const struct setting *listed = plan_find(plan, "experiment", "algorithm");
    const struct setting *swept = plan_find(plan, "sweep", "algorithm");
    if (listed == NULL) {
        return;
    }
    if (swept == NULL) {
        struct target target = {.area = AREA_EXPERIMENT};
        add_axis(plan, "algorithm", listed->value, listed->place, &target);
        return;
    }
    struct axis_values values = {0};
    struct text error = {0};
    if (axis_parse(listed->value, &values, &error) && values.total > 1) {
        mistakes_add(&plan->mistakes, swept->place, "`algorithm` is an axis already: [experiment] has a list of them");
    }
    axis_free(&values);
    text_free(&error);
}

static void add_axes(struct experiment *plan) {
    add_algorithms(plan);
    for (size_t i = 0; i < plan->settings.count; i++) {
        const struct setting *setting = &plan->settings.items[i];
        if (setting->area == AREA_SWEEP && strcmp(setting->key, "zip") != 0) {
            add_swept_key(plan, setting);
        }
    }
    for (size_t i = 0; i < plan->axes.count; i++) {
        if (is_algorithm_key(plan->axes.items[i].key)) {
            plan->algorithm_axis = i;
        }
    }
}

/* --- dimensions --- */

static void unknown_axis(struct experiment *plan, struct place place, const char *prefix, const char *key) {
    struct catalog_names names = {0};
    char suggestion[SUGGESTION_BYTES];
    add_axis_names(plan, &names);
    text_suggestion(suggestion, sizeof suggestion, key, names.items, names.count);
    struct text list = {0};
    for (size_t i = 0; i < names.count && suggestion[0] == '\0'; i++) {
        text_add(&list, "%s%s", i == 0 ? "; the axes are " : ", ", names.items[i]);
    }
    mistakes_add(&plan->mistakes, place, "%s`%s` is no axis of the sweep%s%s", prefix, key, suggestion,
                 text_string(&list));
    text_free(&list);
    catalog_names_free(&names);
}

/* Puts the axis of that key into the zip's dimension. */
static void zip_axis(struct experiment *plan, const struct setting *zip, struct dimension *dimension, const char *key) {
    const struct axis *axis = plan_find_axis(plan, key);
    if (axis == NULL) {
        unknown_axis(plan, zip->place, "zip: ", key);
        return;
    }
    size_t index = (size_t)(axis - plan->axes.items);
    for (size_t i = 0; i < dimension->axes.count; i++) {
        if (dimension->axes.items[i] == index) {
            mistakes_add(&plan->mistakes, zip->place, "zip: `%s` comes twice", key);
            return;
        }
    }
    const struct axis *first = dimension->axes.count > 0 ? &plan->axes.items[dimension->axes.items[0]] : axis;
    if (axis->values.total != first->values.total) {
        mistakes_add(&plan->mistakes, zip->place, "zip: %s has %" PRIu64 " values, but %s has %" PRIu64, first->key,
                     first->values.total, axis->key, axis->values.total);
        return;
    }
    vector_push(&dimension->axes, index);
}

static void make_zip(struct experiment *plan, struct dimension *dimension) {
    const struct setting *zip = plan_find(plan, "sweep", "zip");
    struct axis_values keys = {0};
    struct text error = {0};
    if (zip == NULL) {
        return;
    }
    if (!axis_parse(zip->value, &keys, &error) || keys.count < 2) {
        mistakes_add(&plan->mistakes, zip->place, "zip: needs at least two keys of [sweep]");
    }
    for (size_t i = 0; i < keys.count && keys.count > 1; i++) {
        zip_axis(plan, zip, dimension, keys.items[i]);
    }
    axis_free(&keys);
    text_free(&error);
}

/* The zipped axes stand where the first of them stands. */
static void add_dimensions(struct experiment *plan) {
    struct dimension zipped = {0};
    make_zip(plan, &zipped);
    bool placed = false;
    for (size_t i = 0; i < plan->axes.count; i++) {
        bool is_zipped = false;
        for (size_t k = 0; k < zipped.axes.count; k++) {
            is_zipped = is_zipped || zipped.axes.items[k] == i;
        }
        if (!is_zipped) {
            struct dimension alone = {0};
            vector_push(&alone.axes, i);
            vector_push(&plan->dimensions, alone);
        } else if (!placed) {
            vector_push(&plan->dimensions, zipped);
            placed = true;
        }
    }
    if (!placed) {
        vector_free(&zipped.axes);
    }
}

/* --- --only --- */

/* Marks the values that are spelled, or mean, what `value` says. */
static bool keep_value(struct axis *axis, const char *value) {
    struct text wanted = {0}, cell = {0};
    bool some = false;
    value_column(axis, value, &wanted);
    for (size_t i = 0; i < axis->values.count; i++) {
        text_clear(&cell);
        value_column(axis, axis->values.items[i], &cell);
        if (strcmp(text_string(&cell), text_string(&wanted)) == 0) {
            axis->keeps[i] = some = true;
        }
    }
    text_free(&wanted);
    text_free(&cell);
    return some;
}

/* One value, or several; false with a sentence: one of them is none of the axis. */
static bool keep_values(const struct experiment *plan, struct axis *axis, const char *text, struct text *error) {
    struct axis_values values = {0};
    const struct option *option = is_algorithm(axis) ? NULL : axis->target.option;
    bool good = true;
    if (option != NULL && plan_value_fits(option, text, error)) {
        vector_push(&values, mem_string(text));
    } else {
        text_clear(error);
        good = axis_parse(text, &values, error);
    }
    for (size_t i = 0; i < values.count && good; i++) {
        const char *value = values.items[i];
        good = value_fits(plan, axis, value, error);
        if (good && !keep_value(axis, value)) {
            text_add(error, "matches nothing: `%s` is no value of the axis %s", value, axis->key);
            good = false;
        }
    }
    axis_free(&values);
    return good;
}

/* `only` is cut in place. */
static void take_only(struct experiment *plan, char *only, struct place place) {
    char *equals = strchr(only, '=');
    if (equals == NULL) {
        mistakes_add(&plan->mistakes, place, "there is no `=`: expected KEY=VALUE");
        return;
    }
    *equals = '\0';
    const char *key = text_trim(only);
    const struct axis *found = plan_find_axis(plan, key);
    struct text error = {0};
    if (found == NULL && plan->workload_names.count > 1 &&
        (strcmp(key, "workload.name") == 0 || strcmp(key, "workload") == 0)) {
        if (!plan_keep_workload(plan, equals + 1, &error)) {
            mistakes_add(&plan->mistakes, place, "%s", text_string(&error));
        }
        text_free(&error);
        return;
    }
    if (found == NULL) {
        unknown_axis(plan, place, "", key);
        return;
    }
    struct axis *axis = &plan->axes.items[found - plan->axes.items];
    axis->restricted = true;
    if (!keep_values(plan, axis, text_trim(equals + 1), &error)) {
        mistakes_add(&plan->mistakes, place, "%s", text_string(&error));
    }
    text_free(&error);
}

static void take_onlys(struct experiment *plan, const struct experiment_request *request) {
    for (size_t i = 0; i < request->only_count; i++) {
        char *copy = mem_string(request->onlys[i]);
        take_only(plan, copy, (struct place){.source = plan->file_count + request->set_count + i});
        mem_free(copy);
    }
}

/* Which positions every axis of the dimension keeps. */
static void keep_positions(struct experiment *plan, struct dimension *dimension) {
    size_t count = plan->axes.items[dimension->axes.items[0]].values.count;
    for (size_t position = 0; position < count; position++) {
        bool keeps = true;
        for (size_t k = 0; k < dimension->axes.count; k++) {
            const struct axis *axis = &plan->axes.items[dimension->axes.items[k]];
            keeps = keeps && (!axis->restricted || axis->keeps[position]);
        }
        if (keeps) {
            vector_push(&dimension->kept, position);
        }
    }
}

/* --- the count --- */

static uint64_t multiply(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/* How many points there are. An axis too long to be kept counts in full. */
static uint64_t count_points(const struct experiment *plan) {
    uint64_t points = 1;
    for (size_t i = 0; i < plan->dimensions.count; i++) {
        const struct dimension *dimension = &plan->dimensions.items[i];
        const struct axis *axis = &plan->axes.items[dimension->axes.items[0]];
        bool whole = axis->values.total == axis->values.count;
        points = multiply(points, whole ? dimension->kept.count : axis->values.total);
    }
    return points;
}

static struct place sweep_place(const struct experiment *plan) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        if (plan->sections.items[i].area == AREA_SWEEP) {
            return plan->sections.items[i].place;
        }
    }
    return plan_whole();
}

static void check_count(struct experiment *plan) {
    int64_t replications = plan_replications_most(plan);
    uint64_t points = count_points(plan);
    uint64_t runs = multiply(points, (uint64_t)replications);
    if (points == 0) {
        mistakes_add(&plan->mistakes, plan_whole(), "--only leaves no point of the sweep");
    } else if (runs > EXPERIMENT_POINTS_MAX) {
        mistakes_add(&plan->mistakes, sweep_place(plan),
                     "the sweep has %" PRIu64 " points; with %" PRId64 " replications each that is more than %d runs",
                     points, replications, EXPERIMENT_POINTS_MAX);
    }
    plan->points = plan->left_out ? 0 : (size_t)points;
}

void plan_make_axes(struct experiment *plan, const struct experiment_request *request) {
    size_t before = plan->mistakes.count;
    add_axes(plan);
    add_dimensions(plan);
    take_onlys(plan, request);
    for (size_t i = 0; i < plan->dimensions.count; i++) {
        keep_positions(plan, &plan->dimensions.items[i]);
    }
    if (plan->mistakes.count == before) {
        check_count(plan);
    }
}

void plan_positions(const struct experiment *plan, size_t number, size_t *positions) {
    CHECK(number < plan->points);
    for (size_t i = plan->dimensions.count; i-- > 0;) {
        const struct dimension *dimension = &plan->dimensions.items[i];
        size_t position = dimension->kept.items[number % dimension->kept.count];
        number /= dimension->kept.count;
        for (size_t k = 0; k < dimension->axes.count; k++) {
            positions[dimension->axes.items[k]] = position;
        }
    }
}
