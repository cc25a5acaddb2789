/* plan_check.c - every section and setting of a config by itself: is there such a thing, and does its value fit?
 * What settings mean together is looked at when the grid and the candidates are made. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/plan.h"

enum { SUGGESTION_BYTES = 160 };

const struct variant *plan_variant(const struct experiment *plan, const char *name) {
    for (size_t i = 0; i < plan->variants.count; i++) {
        if (strcmp(plan->variants.items[i].name, name) == 0) {
            return &plan->variants.items[i];
        }
    }
    return NULL;
}

bool plan_value_fits(const struct option *option, const char *value, struct text *error) {
    /* A struct that holds any one value, however far into its own struct the option lies. */
    struct option alone = *option;
    alone.offset = 0;
    union any {
        int64_t integer;
        double number;
        struct distribution distribution;
        struct option_call call;
        struct option_profile profile;
        char text[OPTION_TEXT_SIZE];
    } *any = mem_new(1, sizeof *any);
    bool fits = option_parse(&alone, value, any, error);
    mem_free(any);
    return fits;
}

/* --- sections --- */

static void unknown_section(struct experiment *plan, const struct plan_section *section) {
    struct catalog_names names = {0};
    char suggestion[SUGGESTION_BYTES];
    catalog_add_sections(&names);
    vector_push(&names, "figure NAME");
    vector_push(&names, "algorithm NAME");
    const struct workload_section *own = plan_has_program(plan) ? plan->workload->sections : NULL;
    for (; own != NULL && own->name != NULL; own++) {
        struct text word = {0};
        text_add(&word, own->named ? "%s NAME" : "%s", own->name);
        vector_push(&names.own, word.bytes);
        vector_push(&names, word.bytes);
    }
    struct text header = {0}; /* its name, if it has one, is its own business */
    text_add(&header, "%.*s%s", (int)strcspn(section->header, " "), section->header,
             strchr(section->header, ' ') != NULL ? " NAME" : "");
    text_suggestion(suggestion, sizeof suggestion, text_string(&header), names.items, names.count);
    text_free(&header);
    mistakes_add(&plan->mistakes, section->place, "unknown section [%s]%s", section->header, suggestion);
    catalog_names_free(&names);
}

/* Names of figures are names of files, names of variants stand in keys. */
static bool is_plain_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return name[0] != '\0' && name[strspn(name, letters)] == '\0';
}

static void check_variant(struct experiment *plan, const struct plan_section *section, const char *name) {
    struct catalog_names names = {0};
    char suggestion[SUGGESTION_BYTES];
    const struct setting *type = plan_find(plan, section->header, "type");
    if (cc_find(name) != NULL) {
        mistakes_add(&plan->mistakes, section->place, "[%s]: a variant needs a name of its own, `%s` is taken",
                     section->header, name);
    }
    if (type == NULL && !plan->malformed) {
        mistakes_add(&plan->mistakes, section->place, "[%s] needs `type`, the algorithm that it is a variant of",
                     section->header);
    } else if (type != NULL && cc_find(type->value) == NULL) {
        catalog_add_algorithms(&names);
        text_suggestion(suggestion, sizeof suggestion, type->value, names.items, names.count);
        mistakes_add(&plan->mistakes, type->place, "type: unknown algorithm `%s`%s", type->value, suggestion);
    }
    catalog_names_free(&names);
}

static void check_program_section(struct experiment *plan, const struct plan_section *section) {
    const struct workload_section *kind;
    const struct workload_ops *owner = catalog_program(section->header, &kind);
    if (plan->workload != NULL && plan->workload != owner) {
        mistakes_add(&plan->mistakes, section->place, "[%s] is a section of the workload %s, and this is %s",
                     section->header, owner->name, plan->workload->name);
    }
}

static void check_section(struct experiment *plan, const struct plan_section *section) {
    const char *name;
    enum area area = catalog_area(section->header, &name);
    if (area == AREA_UNKNOWN) {
        unknown_section(plan, section);
    } else if (name != NULL && !is_plain_name(name)) {
        mistakes_add(&plan->mistakes, section->place, "[%s]: a name consists of letters, digits, `_` and `-`",
                     section->header);
    } else if (area == AREA_PROGRAM) {
        check_program_section(plan, section);
    } else if (area == AREA_VARIANT) {
        check_variant(plan, section, name);
    }
}

/* --- settings --- */

/* What an algorithm's section takes: its head, its own options, full keys. */
static bool algorithm_option(const struct experiment *plan, const struct setting *setting, const struct option **option,
                             struct text *error) {
    const char *name = NULL;
    struct target target;
    if (setting->area == AREA_VARIANT && strcmp(setting->key, "type") == 0) {
        *option = &variant_head_options.options[0];
        return true;
    }
    catalog_area(setting->section, &name);
    const struct variant *variant = name != NULL ? plan_variant(plan, name) : NULL;
    const struct cc_ops *ops = variant != NULL ? variant->ops : cc_find(setting->section);
    bool known = plan_algorithm_key(plan, setting->section, ops, setting->key, &target, error);
    *option = known ? target.option : NULL;
    return known;
}

static const struct option *find_in(const struct option_table *head, const struct option_table *options,
                                    const char *key) {
    const struct option *option = head != NULL ? option_find(head, key) : NULL;
    return option != NULL || options == NULL ? option : option_find(options, key);
}

static void unknown_in_section(const struct setting *setting, const struct option_table *head,
                               const struct option_table *options, struct text *error) {
    struct catalog_names names = {0};
    struct text owner = {0};
    char suggestion[SUGGESTION_BYTES];
    catalog_owner(setting->key, &owner);
    if (owner.length == 0) {
        catalog_add_options(&names, head);
        catalog_add_options(&names, options);
        text_add(&owner, "%s", text_suggestion(suggestion, sizeof suggestion, setting->key, names.items, names.count));
    }
    text_add(error, "unknown key `%s` in [%s]%s", setting->key, setting->section, text_string(&owner));
    text_free(&owner);
    catalog_names_free(&names);
}

/* The option that the setting sets; NULL without a mistake if nothing is known of it. */
static bool setting_option(const struct experiment *plan, const struct setting *setting, const struct option **option,
                           struct text *error) {
    if (setting->area == AREA_ALGORITHM || setting->area == AREA_VARIANT) {
        return algorithm_option(plan, setting, option, error);
    }
    const struct option_table *head = setting->area == AREA_WORKLOAD ? &workload_head_options : NULL;
    const struct option_table *options = catalog_options(setting->area, NULL, plan->workload);
    *option = find_in(head, options, setting->key);
    if (*option != NULL || (setting->area == AREA_WORKLOAD && plan->workload == NULL)) {
        return true;
    }
    unknown_in_section(setting, head, options, error);
    return false;
}

/* What the type of an option does not say. */
static void check_served(const struct setting *setting, const struct option *option, struct text *error) {
    struct catalog_names names = {0};
    char suggestion[SUGGESTION_BYTES];
    if (option == &workload_head_options.options[0] && workload_find(setting->value) == NULL) {
        catalog_add_workloads(&names);
        text_suggestion(suggestion, sizeof suggestion, setting->value, names.items, names.count);
        text_add(error, "unknown workload `%s`%s", setting->value, suggestion);
    }
    catalog_names_free(&names);
}

static void check_setting(struct experiment *plan, const struct setting *setting) {
    const struct option *option;
    struct text error = {0};
    bool is_set = setting->place.source >= plan->file_count; /* its key is in the place already */
    if (!setting_option(plan, setting, &option, &error)) {
        mistakes_add(&plan->mistakes, setting->place, "%s", text_string(&error));
    } else if (setting->value[0] == '\0') {
        text_add(&error, "the value is missing");
    } else if (option != NULL && plan_value_fits(option, setting->value, &error)) {
        check_served(setting, option, &error);
    }
    if (option != NULL && error.length > 0) {
        mistakes_add(&plan->mistakes, setting->place, "%s%s%s", is_set ? "" : setting->key, is_set ? "" : ": ",
                     text_string(&error));
    }
    text_free(&error);
}

/* --- what is missing --- */

/* The place of a section, or of the first file if it is not there. */
static struct place section_place(const struct experiment *plan, const char *header, bool *found) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        if (strcmp(plan->sections.items[i].header, header) == 0) {
            *found = true;
            return plan->sections.items[i].place;
        }
    }
    *found = false;
    return plan_whole();
}

static void report_missing(struct experiment *plan, const char *header, const char *needs) {
    bool found;
    struct place place = section_place(plan, header, &found);
    if (found) {
        mistakes_add(&plan->mistakes, place, "[%s] needs %s", header, needs);
    } else {
        mistakes_add(&plan->mistakes, place, "the section [%s] is missing; it needs %s", header, needs);
    }
}

static bool is_given(const struct experiment *plan, const char *section, const char *key, const char *full) {
    return plan_find(plan, section, key) != NULL || plan_find(plan, "sweep", full) != NULL;
}

static void check_presence(struct experiment *plan) {
    if (!is_given(plan, "experiment", "algorithm", "algorithm")) {
        report_missing(plan, "experiment", "`algorithm`, unless [sweep] has it");
    }
    if (plan_find(plan, "workload", "name") == NULL) {
        report_missing(plan, "workload", "`name`");
    }
}

/* [experiment] as a struct; what does not fit keeps its default. */
static void fill_own(struct experiment *plan) {
    options_default(&experiment_options, &plan->own);
    for (size_t i = 0; i < experiment_options.count; i++) {
        const struct option *option = &experiment_options.options[i];
        const struct setting *setting = plan_find(plan, "experiment", option->name);
        struct text error = {0};
        if (setting != NULL) {
            option_parse(option, setting->value, &plan->own, &error);
        }
        text_free(&error);
    }
}

void plan_check_sections(struct experiment *plan) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        check_section(plan, &plan->sections.items[i]);
    }
    for (size_t i = 0; i < plan->settings.count; i++) {
        const struct setting *setting = &plan->settings.items[i];
        if (setting->area != AREA_SWEEP && setting->area != AREA_PROGRAM && setting->area != AREA_UNKNOWN) {
            check_setting(plan, setting);
        }
    }
    if (!plan->malformed) {
        check_presence(plan);
    }
    fill_own(plan);
}
