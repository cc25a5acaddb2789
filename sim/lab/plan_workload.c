/* plan_workload.c - do the workload's options make sense together, everywhere in the grid?
 *
 * The workload itself is asked, before anything runs. Few combinations are all tried; of many, each dimension's values
 * by themselves: the work stays within the number of values. */
#include "sim/base/memory.h"
#include "sim/lab/plan.h"

enum { WORKLOADS_CHECKED_MAX = 2000 };

/* May the workload's options differ along the dimension? Along the algorithms they may if a section says so, and which
 * levels can be asked for does. */
static bool varies_workload(const struct experiment *plan, const struct dimension *dimension) {
    for (size_t k = 0; k < dimension->axes.count; k++) {
        enum area area = plan->axes.items[dimension->axes.items[k]].target.area;
        if (area == AREA_WORKLOAD || area == AREA_PROGRAM ||
            (area == AREA_EXPERIMENT && dimension->kept.count <= WORKLOADS_CHECKED_MAX)) {
            return true;
        }
    }
    return false;
}

/* Says where in the grid it is, by the workload's axes. */
static void add_where(const struct experiment *plan, const size_t *positions, struct text *out) {
    const char *separator = " (with ";
    for (size_t i = 0; i < plan->axes.count; i++) {
        const struct axis *axis = &plan->axes.items[i];
        if (axis->target.area == AREA_WORKLOAD || axis->target.area == AREA_PROGRAM) {
            text_add(out, "%s%s = %s", separator, axis->key, axis->values.items[positions[i]]);
            separator = ", ";
        }
    }
    text_add(out, "%s", separator[0] == ',' ? ")" : "");
}

static void add_planning_workloads(struct text *out) {
    const char *separator = "";
    for (size_t i = 0; i < workload_registry_count; i++) {
        if (workload_registry[i]->plan != NULL) {
            text_add(out, "%s%s%s", separator, workload_registry[i]->name,
                     workload_registry[i]->plans != NULL ? " (with some options)" : "");
            separator = ", ";
        }
    }
}

/* An algorithm that needs footprints, programs that cannot tell theirs. */
static bool tells_enough(const struct experiment *plan, const struct point *point, struct text *error) {
    const struct run_spec *spec = &point->spec;
    if ((spec->algorithm->flags & CC_NEEDS_PLAN) == 0 || workload_plans(plan->workload, spec->workload_options)) {
        return true;
    }
    text_add(error, "its programs cannot tell beforehand what they will access%s, as %s needs; those that can: ",
             plan->workload->plan != NULL ? " with these options" : "", spec->algorithm->name);
    add_planning_workloads(error);
    return false;
}

static void tell_mistake(struct experiment *plan, const size_t *positions, struct text *error) {
    add_where(plan, positions, error);
    const struct setting *name = plan_find(plan, "workload", "name");
    mistakes_add(&plan->mistakes, name->place, "workload %s: %s", plan->workload->name, text_string(error));
}

/* Can the algorithm run transactions at the levels that they ask for? Each algorithm that cannot is told of once. */
static void check_levels(struct experiment *plan, const size_t *positions, const struct point *point) {
    struct candidate *candidate = &plan->candidates.items[positions[plan->algorithm_axis]];
    unsigned missing = plan->workload->levels(point->workload_options) & ~candidate->ops->levels;
    if (missing == 0 || candidate->told_of_levels) {
        return;
    }
    struct text error = {0};
    candidate->told_of_levels = true;
    text_add(&error, "some transactions ask for ");
    level_list(missing, &error);
    text_add(&error, ", which %s cannot run; it can run ", candidate->name);
    level_list(candidate->ops->levels, &error);
    tell_mistake(plan, positions, &error);
    text_free(&error);
}

static bool check_workload_at(struct experiment *plan, const size_t *positions) {
    struct point point;
    struct text error = {0};
    bool sound = plan_point(plan, positions, &point, &error);
    sound = sound && (plan->workload->check == NULL || plan->workload->check(point.workload_options, &error));
    sound = sound && tells_enough(plan, &point, &error);
    if (!sound) {
        tell_mistake(plan, positions, &error);
    } else if (plan->workload->levels != NULL) {
        check_levels(plan, positions, &point);
    }
    text_free(&error);
    point_free(&point);
    return sound;
}

static void place_dimension(const struct dimension *dimension, size_t index, size_t *positions) {
    for (size_t k = 0; k < dimension->axes.count; k++) {
        positions[dimension->axes.items[k]] = dimension->kept.items[index];
    }
}

/* Every combination along the dimensions that matter, up to the first that makes no sense. */
static void check_combinations(struct experiment *plan, size_t combinations, size_t *positions) {
    for (size_t number = 0; number < combinations; number++) {
        size_t rest = number;
        for (size_t i = 0; i < plan->dimensions.count; i++) {
            const struct dimension *dimension = &plan->dimensions.items[i];
            if (varies_workload(plan, dimension)) {
                place_dimension(dimension, rest % dimension->kept.count, positions);
                rest /= dimension->kept.count;
            }
        }
        if (!check_workload_at(plan, positions)) {
            return;
        }
    }
}

/* Too many combinations: each dimension by itself, the others at their first value. */
static void check_one_by_one(struct experiment *plan, size_t *positions) {
    for (size_t i = 0; i < plan->dimensions.count; i++) {
        const struct dimension *dimension = &plan->dimensions.items[i];
        for (size_t k = 0; k < dimension->kept.count && varies_workload(plan, dimension); k++) {
            place_dimension(dimension, k, positions);
            if (!check_workload_at(plan, positions)) {
                return;
            }
        }
        place_dimension(dimension, 0, positions);
    }
}

void plan_check_workload(struct experiment *plan) {
    size_t combinations = 1;
    size_t *positions = mem_new(plan->axes.count, sizeof *positions);
    for (size_t i = 0; i < plan->dimensions.count; i++) {
        const struct dimension *dimension = &plan->dimensions.items[i];
        place_dimension(dimension, 0, positions);
        combinations *= varies_workload(plan, dimension) ? dimension->kept.count : 1; /* bounded by the points */
    }
    if (combinations <= WORKLOADS_CHECKED_MAX) {
        check_combinations(plan, combinations, positions);
    } else {
        check_one_by_one(plan, positions);
    }
    mem_free(positions);
}
