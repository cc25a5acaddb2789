/* plan_read.c - from files and --set to a plan's settings.
 *
 * A later file replaces what an earlier one set. --set replaces what the files set: an axis stays an axis, though
 * perhaps of one value; several values make an axis of a key that was none. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/ini.h"
#include "sim/lab/plan.h"

enum { SUGGESTION_BYTES = 160 };

struct place plan_whole(void) {
    return (struct place){.source = 0, .line = 0};
}

struct setting *plan_find(const struct experiment *plan, const char *section, const char *key) {
    for (size_t i = 0; i < plan->settings.count; i++) {
        struct setting *setting = &plan->settings.items[i];
        if (strcmp(setting->key, key) == 0 && strcmp(setting->section, section) == 0) {
            return setting;
        }
    }
    return NULL;
}

static void replace(char **old, const char *text) {
    mem_free(*old);
    *old = mem_string(text);
}

struct setting *plan_put(struct experiment *plan, const char *section, const char *key, const char *value,
                         struct place place) {
    struct setting *setting = plan_find(plan, section, key);
    if (setting != NULL) {
        replace(&setting->value, value);
        setting->place = place;
        setting->pieces.count = 0;
        return setting;
    }
    const char *name;
    struct setting added = {.area = catalog_area(section, &name),
                            .section = mem_string(section),
                            .key = mem_string(key),
                            .value = mem_string(value),
                            .place = place};
    vector_push(&plan->settings, added);
    return &plan->settings.items[plan->settings.count - 1];
}

void plan_drop(struct experiment *plan, struct setting *setting) {
    size_t index = (size_t)(setting - plan->settings.items);
    mem_free(setting->section);
    mem_free(setting->key);
    mem_free(setting->value);
    vector_free(&setting->pieces);
    memmove(setting, setting + 1, (plan->settings.count - index - 1) * sizeof *setting);
    plan->settings.count--;
}

/* --- files --- */

static void add_section(struct experiment *plan, const char *header, struct place place) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        if (strcmp(plan->sections.items[i].header, header) == 0) {
            return;
        }
    }
    const char *name;
    vector_push(
        &plan->sections,
        ((struct plan_section){.area = catalog_area(header, &name), .header = mem_string(header), .place = place}));
}

/* The algorithm's axis has one name only. */
static const char *canonical_key(const char *section, const char *key) {
    bool is_long = strcmp(section, "sweep") == 0 && strcmp(key, "experiment.algorithm") == 0;
    return is_long ? "algorithm" : key;
}

static void take_entry(struct experiment *plan, const struct ini *ini, const struct ini_entry *entry, size_t source) {
    const char *section = ini->sections.items[entry->section].name;
    const char *key = canonical_key(section, entry->key);
    struct place place = {.source = source, .line = entry->line};
    const struct setting *old = plan_find(plan, section, key);
    if (old != NULL && old->place.source == source) { /* two spellings of one key; the same one is ini.c's business */
        mistakes_add(&plan->mistakes, place, "`%s` is an axis already, since line %zu", entry->key, old->place.line);
        return;
    }
    struct setting *setting = plan_put(plan, section, key, entry->value, place);
    for (size_t i = 0; i < entry->pieces.count; i++) {
        vector_push(&setting->pieces, entry->pieces.items[i]);
    }
}

static void read_file(struct experiment *plan, const struct experiment_request *request, size_t source) {
    struct ini ini = {0};
    size_t before = plan->mistakes.count;
    if (request->text == NULL) {
        ini_read(&ini, request->files[source], source, &plan->mistakes);
    } else {
        ini_read_text(&ini, request->text, source, &plan->mistakes);
    }
    plan->malformed = plan->malformed || plan->mistakes.count > before;
    for (size_t i = 0; i < ini.sections.count; i++) {
        const struct ini_section *section = &ini.sections.items[i];
        if (section->name[0] != '\0') {
            add_section(plan, section->name, (struct place){.source = source, .line = section->line});
        }
    }
    for (size_t i = 0; i < ini.entries.count; i++) {
        if (ini.sections.items[ini.entries.items[i].section].name[0] != '\0') {
            take_entry(plan, &ini, &ini.entries.items[i], source);
        }
    }
    ini_free(&ini);
}

/* --- keys --- */

bool target_may_differ(const struct target *target) {
    switch (target->area) {
    case AREA_SYSTEM:
    case AREA_COST:
    case AREA_RESTART:
    case AREA_ALGORITHM: return true;
    case AREA_PROGRAM: return strcmp(target->option->name, "steps") != 0;
    case AREA_WORKLOAD:
        return target->option == NULL || option_find(&workload_head_options, target->option->name) == NULL;
    default: return false;
    }
}

/* Every full key there is, for suggestions. */
static void add_all_keys(const struct experiment *plan, struct catalog_names *names) {
    vector_push(names, "algorithm");
    for (size_t i = 0; i < catalog_section_count; i++) {
        catalog_add_keys(names, catalog_sections[i].name, catalog_sections[i].options);
    }
    if (plan->workload != NULL) {
        catalog_add_keys(names, "workload", plan->workload->options);
    }
    for (size_t i = 0; i < plan->sections.count; i++) {
        const struct workload_section *kind;
        const char *header = plan->sections.items[i].header;
        if (catalog_program(header, &kind) == plan->workload && kind != NULL) {
            struct text name = {0};
            text_add(&name, "%s%s%s", kind->name, kind->named ? "." : "",
                     kind->named ? header + strlen(kind->name) + strspn(header + strlen(kind->name), " ") : "");
            catalog_add_keys(names, text_string(&name), kind->options);
            text_free(&name);
        }
    }
    for (size_t i = 0; i < cc_registry_count; i++) {
        catalog_add_keys(names, cc_registry[i]->name, cc_registry[i]->options);
    }
}

/* Is what stands before the dot a section? Then the key alone is wrong, and its owner is what helps. */
static bool names_section(const struct experiment *plan, const char *key) {
    const char *ignored, *dot = strchr(key, '.');
    char section[INI_LINE_BYTES + 1];
    if (dot == NULL || dot - key > INI_LINE_BYTES) {
        return dot == NULL;
    }
    snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
    return catalog_area(section, &ignored) != AREA_UNKNOWN || plan_variant(plan, section) != NULL;
}

static bool unknown_key(const struct experiment *plan, const char *key, struct text *error) {
    struct catalog_names names = {0};
    struct text owner = {0};
    char suggestion[SUGGESTION_BYTES];
    const char *dot = strrchr(key, '.');
    if (names_section(plan, key)) {
        catalog_owner(dot != NULL ? dot + 1 : key, &owner);
    }
    add_all_keys(plan, &names);
    text_suggestion(suggestion, sizeof suggestion, key, names.items, names.count);
    text_add(error, "unknown key `%s`%s%s", key, owner.length > 0 ? text_string(&owner) : suggestion,
             dot == NULL ? " (a key is written section.key)" : "");
    text_free(&owner);
    catalog_names_free(&names);
    return false;
}

/* [workload]: the head, then the workload's own. Of an unknown workload every key may be. */
static bool workload_key(const struct experiment *plan, const char *key, struct target *target) {
    const struct option_table *options = catalog_options(AREA_WORKLOAD, NULL, plan->workload);
    target->option = option_find(&workload_head_options, key);
    if (target->option == NULL && options != NULL) {
        target->option = option_find(options, key);
    }
    return target->option != NULL || plan->workload == NULL;
}

bool plan_algorithm_key(const struct experiment *plan, const char *scope, const struct cc_ops *ops, const char *key,
                        struct target *target, struct text *error) {
    *target = (struct target){.area = AREA_ALGORITHM, .scope = scope};
    if (strchr(key, '.') == NULL) {
        target->option = ops != NULL && ops->options != NULL ? option_find(ops->options, key) : NULL;
        if (target->option != NULL || ops == NULL) {
            return true;
        }
        struct text full = {0};
        text_add(&full, "%s.%s", ops->name, key);
        unknown_key(plan, text_string(&full), error);
        text_free(&full);
        return false;
    }
    if (!plan_key(plan, key, target, error)) {
        return false;
    }
    if (target->scope != NULL || !target_may_differ(target)) {
        text_add(error, "`%s` cannot differ between algorithms", key);
        return false;
    }
    target->scope = scope;
    return true;
}

/* A key of one of the fixed sections. False without a sentence: it is none of theirs. */
static bool fixed_key(const struct experiment *plan, enum area area, const char *rest, struct target *target) {
    *target = (struct target){.area = area};
    if (area == AREA_WORKLOAD) {
        return workload_key(plan, rest, target);
    }
    bool is_fixed = area == AREA_EXPERIMENT || area == AREA_SYSTEM || area == AREA_COST || area == AREA_RESTART;
    target->option = is_fixed ? option_find(catalog_options(area, NULL, NULL), rest) : NULL;
    return target->option != NULL;
}

/* `transaction.transfer.weight`. False without a sentence: it is no key of a section that the workload has. */
static bool program_key(const struct experiment *plan, const char *key, struct target *target) {
    const char *dot = strrchr(key, '.');
    char section[INI_LINE_BYTES + 1], word[INI_LINE_BYTES + 1];
    if (!plan_has_program(plan) || dot == NULL || dot - key > INI_LINE_BYTES) {
        return false;
    }
    snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(section, "."), section);
    const char *header = plan_program_section(plan, section);
    const struct option *option = header != NULL ? plan->workload->section_option(word, dot + 1) : NULL;
    *target = (struct target){.area = AREA_PROGRAM, .option = option, .section = header};
    return option != NULL;
}

/* A variant may be called as a section is (`restart`): then its keys are those that the section does not have. */
bool plan_key(const struct experiment *plan, const char *key, struct target *target, struct text *error) {
    if (program_key(plan, key, target)) {
        return true;
    }
    *target = (struct target){.area = AREA_UNKNOWN};
    if (strcmp(key, "algorithm") == 0) {
        key = "experiment.algorithm";
    }
    const char *name, *dot = strchr(key, '.');
    char section[INI_LINE_BYTES + 1];
    if (dot == NULL || dot - key > INI_LINE_BYTES) {
        return unknown_key(plan, key, error);
    }
    snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
    const struct variant *variant = plan_variant(plan, section);
    const struct cc_ops *ops = cc_find(section);
    if (fixed_key(plan, catalog_area(section, &name), dot + 1, target)) {
        return true;
    }
    if (variant != NULL) {
        return plan_algorithm_key(plan, variant->section, variant->ops, dot + 1, target, error);
    }
    return ops != NULL ? plan_algorithm_key(plan, ops->name, ops, dot + 1, target, error)
                       : unknown_key(plan, key, error);
}

/* --- --set --- */

/* Several values where one is no value of the option by itself. */
static bool is_list(const struct option *option, const char *value) {
    struct text error = {0};
    struct axis_values values = {0};
    bool fits = plan_value_fits(option, value, &error);
    bool several = !fits && axis_parse(value, &values, &error) && values.total > 1;
    bool is_range = !fits && strstr(value, "..") != NULL;
    axis_free(&values);
    text_free(&error);
    return several || is_range;
}

/* Where the key stands in a file: `section` and `key` point into `full` or to what outlives it. */
static void split_key(const struct target *target, const char *full, const char **section, const char **key) {
    const char *dot = target->section != NULL && target->scope == NULL ? strrchr(full, '.') : strchr(full, '.');
    *section = target->scope != NULL     ? target->scope
               : target->section != NULL ? target->section
                                         : catalog_section_of(target->area)->name;
    *key = dot != NULL ? dot + 1 : full;
}

/* terminals and arrival_rate exclude each other: --set of one takes the other away. */
static void drop_alternative(struct experiment *plan, const char *key) {
    static const char *const pair[2] = {"system.terminals", "system.arrival_rate"};
    const char *other = strcmp(key, pair[0]) == 0 ? pair[1] : strcmp(key, pair[1]) == 0 ? pair[0] : NULL;
    if (other == NULL) {
        return;
    }
    struct setting *plain = plan_find(plan, "system", strchr(other, '.') + 1);
    if (plain != NULL && plain->place.source < plan->file_count) {
        plan_drop(plan, plain);
    }
    struct setting *swept = plan_find(plan, "sweep", other);
    if (swept != NULL && swept->place.source < plan->file_count) {
        plan_drop(plan, swept);
        plan->alternative = other;
    }
}

static void set_key(struct experiment *plan, const char *full, const char *value, struct place place) {
    struct target target;
    struct text error = {0};
    const char *section, *key;
    if (!plan_key(plan, full, &target, &error)) {
        mistakes_add(&plan->mistakes, place, "%s", text_string(&error));
        text_free(&error);
        return;
    }
    text_free(&error);
    const char *column = strcmp(full, "experiment.algorithm") == 0 ? "algorithm" : full;
    bool is_algorithm = strcmp(column, "algorithm") == 0;
    bool sweeps = plan_find(plan, "sweep", column) != NULL ||
                  (!is_algorithm && target.option != NULL && is_list(target.option, value));
    split_key(&target, full, &section, &key);
    plan_put(plan, sweeps ? "sweep" : section, sweeps ? column : key, value, place);
    drop_alternative(plan, full);
}

/* What a config could not hold either. */
static bool set_is_sound(const char *value, struct text *error) {
    for (const char *at = value; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            text_add(error, "the value has a control character");
            return false;
        }
        if (*at == ';' && (at == value || at[-1] == ' ')) {
            text_add(error, "a value cannot have a `;` after a blank: a comment would start there");
            return false;
        }
    }
    return true;
}

/* `set` is cut in place. The workload's name is set apart, before all others, for the keys depend on it. */
static void take_set(struct experiment *plan, char *set, struct place place, bool names_workload) {
    struct text error = {0};
    char *equals = strchr(set, '=');
    if (equals != NULL) {
        *equals = '\0';
    }
    char *key = text_trim(set);
    if ((strcmp(key, "workload.name") == 0) == names_workload) {
        char *value = equals != NULL ? text_trim(equals + 1) : NULL;
        if (key[0] == '\0') {
            mistakes_add(&plan->mistakes, place, "there is no key: expected KEY=VALUE");
        } else if (value == NULL) {
            mistakes_add(&plan->mistakes, place, "there is no `=`: expected KEY=VALUE");
        } else if (!set_is_sound(value, &error)) {
            mistakes_add(&plan->mistakes, place, "%s", text_string(&error));
        } else {
            set_key(plan, key, value, place);
        }
    }
    text_free(&error);
}

static void take_sets(struct experiment *plan, const struct experiment_request *request, bool names_workload) {
    for (size_t i = 0; i < request->set_count; i++) {
        char *copy = mem_string(request->sets[i]);
        take_set(plan, copy, (struct place){.source = plan->file_count + i}, names_workload);
        mem_free(copy);
    }
}

static void take_seed(struct experiment *plan, const struct experiment_request *request) {
    if (!request->has_seed) {
        return;
    }
    struct text value = {0};
    struct place place = {.source = plan->sources.count - 1};
    text_add(&value, "%" PRIu64, request->seed);
    plan_put(plan, "experiment", "seed", text_string(&value), place);
    text_free(&value);
}

/* --- all of it --- */

static void add_source(struct experiment *plan, const char *prefix, const char *name) {
    struct text source = {0};
    text_add(&source, "%s%s", prefix, name);
    vector_push(&plan->sources, source.bytes);
}

static void name_sources(struct experiment *plan, const struct experiment_request *request) {
    for (size_t i = 0; i < request->file_count; i++) {
        bool is_stdin = strcmp(request->files[i], "-") == 0;
        add_source(plan, "", is_stdin ? "standard input" : request->files[i]);
    }
    plan->file_count = request->file_count;
    for (size_t i = 0; i < request->set_count; i++) {
        add_source(plan, "--set ", request->sets[i]);
    }
    for (size_t i = 0; i < request->only_count; i++) {
        add_source(plan, "--only ", request->onlys[i]);
    }
    add_source(plan, "--seed", "");
}

static void find_variants(struct experiment *plan) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        const struct plan_section *section = &plan->sections.items[i];
        const char *name;
        if (catalog_area(section->header, &name) == AREA_VARIANT) {
            const struct setting *type = plan_find(plan, section->header, "type");
            vector_push(&plan->variants, ((struct variant){.name = name,
                                                           .section = section->header,
                                                           .ops = type != NULL ? cc_find(type->value) : NULL}));
        }
    }
}

void plan_read(struct experiment *plan, const struct experiment_request *request, const char *workload) {
    CHECK(request->file_count > 0);
    name_sources(plan, request);
    for (size_t i = 0; i < request->file_count; i++) {
        read_file(plan, request, i);
    }
    find_variants(plan);
    take_sets(plan, request, true);
    plan_choose_workload(plan, workload);
    take_sets(plan, request, false);
    take_seed(plan, request);
}
