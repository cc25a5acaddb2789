/* plan_several.c - an experiment over several workloads: `name = bank doctors seats`, or `workload.name` in [sweep].
 *
 * Workloads differ in their options, so they are no axis like others: the experiment is a plan for each, one after the
 * other, all made from the same files; in the order of the points the workload is the outermost. A plan reads [workload]
 * and its own [workload NAME] as one section and passes over those of the others. The first plan that --only leaves stands
 * for all of them towards the outside, with the rest in `others`. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/plan.h"

static const char prefix[] = "workload ";

/* What follows `workload` in a header, or NULL. */
static const char *name_in(const char *header) {
    if (strncmp(header, prefix, sizeof prefix - 1) != 0) {
        return NULL;
    }
    header += sizeof prefix - 1;
    return header + strspn(header, " ");
}

static void split(const char *value, struct experiment *plan) {
    char *copy = mem_string(value), *rest = NULL;
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        vector_push(&plan->workload_names, mem_string(word));
    }
    mem_free(copy);
}

static bool is_among(const struct experiment *plan, const char *name) {
    for (size_t i = 0; i < plan->workload_names.count; i++) {
        if (strcmp(plan->workload_names.items[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void check_names(struct experiment *plan, struct place place) {
    for (size_t i = 0; i < plan->workload_names.count; i++) {
        const char *name = plan->workload_names.items[i];
        const struct workload_ops *workload = workload_find(name);
        if (plan->workload_names.count > 1 && workload != NULL && workload->compile != NULL) {
            mistakes_add(&plan->mistakes, place, "%s is written in the config and cannot be one of several workloads",
                         name);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(name, plan->workload_names.items[k]) == 0) {
                mistakes_add(&plan->mistakes, place, "the workload %s is there twice", name);
            }
        }
    }
}

/* [workload NAME] of the plan's own workload is read as [workload], with precedence; those of the others are dropped. */
static void merge_sections(struct experiment *plan, const char *own) {
    for (size_t i = plan->settings.count; i-- > 0;) {
        struct setting *setting = &plan->settings.items[i];
        const char *name = name_in(setting->section);
        if (name == NULL || workload_find(name) == NULL) {
            continue;
        }
        if (strcmp(name, own) == 0) {
            char *key = mem_string(setting->key), *value = mem_string(setting->value);
            struct place place = setting->place;
            plan_put(plan, "workload", key, value, place);
            mem_free(key);
            mem_free(value);
            setting = &plan->settings.items[i];
        }
        plan_drop(plan, setting);
    }
    size_t kept = 0;
    for (size_t i = 0; i < plan->sections.count; i++) {
        struct plan_section *section = &plan->sections.items[i];
        const char *name = name_in(section->header);
        if (name != NULL && workload_find(name) != NULL) {
            mem_free(section->header);
        } else {
            plan->sections.items[kept++] = *section;
        }
    }
    plan->sections.count = kept;
}

void plan_choose_workload(struct experiment *plan, const char *chosen) {
    struct setting *swept = plan_find(plan, "sweep", "workload.name");
    if (swept != NULL) {
        char *value = mem_string(swept->value);
        struct place place = swept->place;
        plan_drop(plan, swept);
        plan_put(plan, "workload", "name", value, place);
        mem_free(value);
    }
    struct setting *setting = plan_find(plan, "workload", "name");
    if (setting == NULL) {
        return;
    }
    split(setting->value, plan);
    check_names(plan, setting->place);
    if (plan->workload_names.count > 0) {
        const char *own = chosen != NULL ? chosen : plan->workload_names.items[0];
        mem_free(setting->value);
        setting->value = mem_string(own);
        merge_sections(plan, own);
        plan->workload = workload_find(own);
    }
}

bool plan_keep_workload(struct experiment *plan, const char *values, struct text *error) {
    char *copy = mem_string(values), *rest = NULL;
    const char *own = plan_find(plan, "workload", "name") != NULL ? plan_find(plan, "workload", "name")->value : "";
    bool good = true;
    plan->left_out = true;
    for (const char *word = strtok_r(copy, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        if (!is_among(plan, word)) {
            text_add(error, "matches nothing: `%s` is not among the workloads of this experiment", word);
            good = false;
            break;
        }
        plan->left_out = plan->left_out && strcmp(word, own) != 0;
    }
    mem_free(copy);
    return good;
}

const struct experiment *plan_part(const struct experiment *plan, size_t *number) {
    if (*number < plan->points) {
        return plan;
    }
    *number -= plan->points;
    for (size_t i = 0; i < plan->others.count; i++) {
        if (*number < plan->others.items[i]->points) {
            return plan->others.items[i];
        }
        *number -= plan->others.items[i]->points;
    }
    CHECK_MSG(false, "the experiment has no such point");
    return NULL;
}
