/* plan_program.c - a workload that is written in the config: its sections, as they stand at one point of the grid, are
 * handed to the workload as text, entry by entry, and its complaints are put where the text came from.
 *
 * Which value an entry has, first that is there: an axis; the section of the variant or of the algorithm, by the full
 * key; the section itself. A key that only an axis or an algorithm's section gives is an entry as well. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/plan.h"

/* Where an entry's value comes from: a setting, an axis, or it is a header. */
struct origin {
    const struct plan_section *section;
    const struct setting *setting;
    const struct axis *axis;
};

struct script {
    struct {
        struct workload_entry *items;
        size_t count, capacity;
    } entries;
    struct {
        struct origin *items;
        size_t count, capacity;
    } origins;
};

static void script_free(struct script *script) {
    vector_free(&script->entries);
    vector_free(&script->origins);
}

bool plan_has_program(const struct experiment *plan) {
    return plan->workload != NULL && plan->workload->compile != NULL;
}

/* `transaction.transfer` for [transaction transfer]. */
static void add_dotted(const char *header, struct text *out) {
    size_t word = strcspn(header, " ");
    text_add_bytes(out, header, word);
    header += word;
    header += strspn(header, " ");
    text_add(out, *header != '\0' ? ".%s" : "%s", header);
}

const char *plan_program_section(const struct experiment *plan, const char *name) {
    const char *found = NULL;
    for (size_t i = 0; i < plan->sections.count; i++) {
        const struct plan_section *section = &plan->sections.items[i];
        struct text dotted = {0};
        add_dotted(section->header, &dotted);
        if (section->area == AREA_PROGRAM && strcmp(text_string(&dotted), name) == 0) {
            found = section->header;
        }
        text_free(&dotted);
    }
    return found;
}

/* ---- The entries at a point ---- */

static const struct setting *overriding(const struct experiment *plan, const struct candidate *candidate,
                                        const char *header, const char *key) {
    struct text full = {0};
    add_dotted(header, &full);
    text_add(&full, ".%s", key);
    const struct setting *setting = candidate != NULL ? plan_override(plan, candidate, text_string(&full)) : NULL;
    text_free(&full);
    return setting;
}

/* The axis of that key, if there is one for the candidate. Before there are candidates, any. */
static const struct axis *sweeping(const struct experiment *plan, const struct candidate *candidate, const char *header,
                                   const char *key) {
    for (size_t i = 0; i < plan->axes.count; i++) {
        const struct axis *axis = &plan->axes.items[i];
        const char *dot = strrchr(axis->key, '.');
        if (axis->target.area == AREA_PROGRAM && axis->values.count > 0 && strcmp(axis->target.section, header) == 0 &&
            strcmp(dot + 1, key) == 0 && (candidate == NULL || plan_axis_holds(plan, axis, candidate))) {
            return axis;
        }
    }
    return NULL;
}

static void add_entry(struct script *script, const struct workload_entry *entry, const struct origin *origin) {
    vector_push(&script->entries, *entry);
    vector_push(&script->origins, *origin);
}

static void add_key(const struct experiment *plan, const struct candidate *candidate, const size_t *positions,
                    const char *header, const char *key, const struct setting *setting, struct script *script) {
    const struct setting *override = overriding(plan, candidate, header, key);
    const struct axis *axis = sweeping(plan, candidate, header, key);
    struct origin origin = {.setting = override != NULL ? override : setting, .axis = axis};
    CHECK(axis != NULL || origin.setting != NULL);
    const char *value = axis != NULL ? axis->values.items[positions[axis - plan->axes.items]] : origin.setting->value;
    add_entry(script, &(struct workload_entry){header, key, value}, &origin);
}

static bool has_key(const struct script *script, const char *header, const char *key) {
    for (size_t i = 0; i < script->entries.count; i++) {
        const struct workload_entry *entry = &script->entries.items[i];
        if (entry->key != NULL && strcmp(entry->key, key) == 0 && strcmp(entry->section, header) == 0) {
            return true;
        }
    }
    return false;
}

/* The keys of a section that only an axis or an algorithm's section has. */
static void add_others(const struct experiment *plan, const struct candidate *candidate, const size_t *positions,
                       const char *header, struct script *script) {
    for (size_t i = 0; i < plan->axes.count; i++) {
        const struct axis *axis = &plan->axes.items[i];
        if (axis->target.area == AREA_PROGRAM && strcmp(axis->target.section, header) == 0) {
            const char *key = strrchr(axis->key, '.') + 1;
            if (!has_key(script, header, key) && sweeping(plan, candidate, header, key) != NULL) {
                add_key(plan, candidate, positions, header, key, NULL, script);
            }
        }
    }
    struct text dotted = {0};
    add_dotted(header, &dotted);
    text_add(&dotted, ".");
    for (size_t i = 0; i < plan->settings.count; i++) {
        const char *key = plan->settings.items[i].key;
        if (strncmp(key, text_string(&dotted), dotted.length) == 0) {
            key += dotted.length;
            if (!has_key(script, header, key) && overriding(plan, candidate, header, key) != NULL) {
                add_key(plan, candidate, positions, header, key, NULL, script);
            }
        }
    }
    text_free(&dotted);
}

static void write_script(const struct experiment *plan, const struct candidate *candidate, const size_t *positions,
                         struct script *script) {
    for (size_t i = 0; i < plan->sections.count; i++) {
        const struct plan_section *section = &plan->sections.items[i];
        const struct workload_section *kind;
        if (section->area != AREA_PROGRAM || catalog_program(section->header, &kind) != plan->workload) {
            continue;
        }
        add_entry(script, &(struct workload_entry){section->header, NULL, NULL}, &(struct origin){.section = section});
        for (size_t k = 0; k < plan->settings.count; k++) {
            const struct setting *setting = &plan->settings.items[k];
            if (strcmp(setting->section, section->header) == 0) {
                add_key(plan, candidate, positions, section->header, setting->key, setting, script);
            }
        }
        add_others(plan, candidate, positions, section->header, script);
    }
}

/* ---- Mistakes ---- */

struct complaints {
    struct experiment *plan;
    const struct script *script;
};

/* Where a byte of the setting's value stands. */
static struct place place_of(const struct setting *setting, size_t at) {
    struct place place = setting->place;
    if (at == WORKLOAD_WHOLE) {
        return place;
    }
    place.column = at + 1;
    for (size_t i = 0; i < setting->pieces.count && setting->pieces.items[i].offset <= at; i++) {
        const struct ini_piece *piece = &setting->pieces.items[i];
        place.line = piece->line;
        place.column = piece->column + at - piece->offset;
    }
    return place;
}

static void complain(void *context, size_t entry, size_t at, const char *sentence) {
    const struct complaints *complaints = context;
    struct experiment *plan = complaints->plan;
    if (entry == WORKLOAD_NO_ENTRY) {
        mistakes_add(&plan->mistakes, plan_find(plan, "workload", "name")->place, "%s", sentence);
        return;
    }
    const struct origin *origin = &complaints->script->origins.items[entry];
    if (origin->axis != NULL) {
        mistakes_add(&plan->mistakes, origin->axis->place, "%s: %s", origin->axis->key, sentence);
    } else if (origin->section != NULL) {
        mistakes_add(&plan->mistakes, origin->section->place, "%s", sentence);
    } else {
        mistakes_add(&plan->mistakes, place_of(origin->setting, at), "%s", sentence);
    }
}

void plan_check_program(struct experiment *plan) {
    if (!plan_has_program(plan)) {
        return;
    }
    struct script script = {0};
    size_t *positions = mem_new(plan->axes.count + 1, sizeof *positions);
    void *options = mem_new(1, plan->workload->options->size);
    write_script(plan, NULL, positions, &script);
    struct complaints complaints = {plan, &script};
    struct workload_faults faults = {&complaints, complain};
    if (plan->workload->compile(options, script.entries.items, script.entries.count, &faults)) {
        plan->workload->discard(options);
    }
    mem_free(options);
    mem_free(positions);
    script_free(&script);
}

struct first_fault {
    const struct script *script;
    struct text *error;
};

static void keep_first(void *context, size_t entry, size_t at, const char *sentence) {
    const struct first_fault *first = context;
    (void)at;
    if (first->error->length == 0) {
        const struct workload_entry *about = entry != WORKLOAD_NO_ENTRY ? &first->script->entries.items[entry] : NULL;
        if (about != NULL) {
            text_add(first->error, "[%s] %s%s", about->section, about->key != NULL ? about->key : "",
                     about->key != NULL ? ": " : "");
        }
        text_add(first->error, "%s", sentence);
    }
}

bool plan_program(const struct experiment *plan, const struct candidate *candidate, const size_t *positions,
                  void *options, struct text *error) {
    struct script script = {0};
    write_script(plan, candidate, positions, &script);
    struct first_fault first = {&script, error};
    struct workload_faults faults = {&first, keep_first};
    bool good = plan->workload->compile(options, script.entries.items, script.entries.count, &faults);
    script_free(&script);
    return good;
}

uint64_t plan_program_digest(const struct experiment *plan, const struct candidate *candidate, const size_t *positions,
                             uint64_t digest) {
    struct script script = {0};
    write_script(plan, candidate, positions, &script);
    for (size_t i = 0; i < script.entries.count; i++) {
        const struct workload_entry *entry = &script.entries.items[i];
        digest = text_digest(digest, entry->section);
        digest = text_digest(digest, entry->key != NULL ? entry->key : "");
        digest = text_digest(digest, entry->value != NULL ? entry->value : "");
    }
    script_free(&script);
    return digest;
}
