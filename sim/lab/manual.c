/* manual.c - the entries of the manual (manual.h): one function for each kind of thing, all tried for a word. */
#include "sim/lab/manual.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/base/memory.h"
#include "sim/check/anomaly.h"
#include "sim/lab/metrics.h"
#include "sim/store/level.h"
#include "sim/store/reason.h"

/* G0 to G2: Adya, Liskov, O'Neil, Generalized Isolation Level Definitions, ICDE 2000. P0 to A5B: Berenson et al., A
 * Critique of ANSI SQL Isolation Levels, SIGMOD 1995. */
const struct anomaly manual_anomalies[] = {
    {"g0", "dirty write: a cycle of write-write dependencies alone"},
    {"g1a", "aborted read: a committed transaction read what an aborted one wrote"},
    {"g1b", "intermediate read: a committed transaction read a version that its writer replaced later"},
    {"g1c", "circular information flow: a cycle of write-write and write-read dependencies"},
    {"g_single", "a cycle with exactly one read-write dependency (read skew, lost update)"},
    {"g2_item", "a cycle with read-write dependencies on items (write skew)"},
    {"g2", "a cycle with read-write dependencies, predicates included (phantoms)"},
    {"lost_update", "two transactions read a row, both write it, and the first write is overwritten unseen"},
    {"write_skew", "two transactions each read what the other writes, and write different rows"},
    {"phantom", "a condition matched rows that a concurrent transaction added, removed or changed"},
    {"P0", "dirty write: w1[x] .. w2[x] before T1 ends"},
    {"P1", "dirty read: w1[x] .. r2[x] before T1 ends"},
    {"P2", "fuzzy read: r1[x] .. w2[x] before T1 ends"},
    {"P3", "phantom: r1[P] .. w2[a row in P] before T1 ends"},
    {"P4", "lost update: r1[x] .. w2[x] .. w1[x] .. c1"},
    {"A5A", "read skew: r1[x] .. w2[x] .. w2[y] .. c2 .. r1[y]"},
    {"A5B", "write skew: r1[x] .. r2[y] .. w1[y] .. w2[x], and both commit"},
};
const size_t manual_anomaly_count = sizeof manual_anomalies / sizeof manual_anomalies[0];

/* --- options --- */

static void each_of(const char *section, const char *owner, const struct option_table *table,
                    void (*visit)(const struct manual_option *option, void *user), void *user) {
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        struct manual_option option = {.section = section, .owner = owner, .option = &table->options[i]};
        visit(&option, user);
    }
}

const char *manual_section_title(const struct workload_section *section) {
    static char title[64];
    snprintf(title, sizeof title, section->named ? "%s NAME" : "%s", section->name);
    return title;
}

void manual_each_option(void (*visit)(const struct manual_option *option, void *user), void *user) {
    for (size_t i = 0; i < catalog_section_count; i++) {
        each_of(catalog_sections[i].name, NULL, catalog_sections[i].options, visit, user);
    }
    for (size_t i = 0; i < workload_registry_count; i++) {
        each_of("workload", workload_registry[i]->name, workload_registry[i]->options, visit, user);
    }
    for (size_t i = 0; i < cc_registry_count; i++) {
        each_of(cc_registry[i]->name, NULL, cc_registry[i]->options, visit, user);
    }
    for (size_t i = 0; i < workload_registry_count; i++) {
        const struct workload_section *section = workload_registry[i]->sections;
        for (; section != NULL && section->name != NULL; section++) {
            each_of(manual_section_title(section), NULL, section->options, visit, user);
        }
    }
    each_of("algorithm NAME", NULL, &variant_head_options, visit, user);
    each_of("figure NAME", NULL, &figure_options, visit, user);
}

void manual_key(const struct manual_option *option, struct text *out) {
    text_add(out, "%s.%s", option->section, option->option->name);
}

void manual_default(const struct option *option, struct text *out) {
    const char *prefix = (option->flags & OPTION_REQUIRED) != 0   ? "required, for example "
                         : (option->flags & OPTION_OPTIONAL) != 0 ? "none, for example "
                                                                  : "";
    text_add(out, "%s%s", prefix, option->fallback);
}

/* Paragraphs are indented and wrapped to a terminal's width. */
static void add_paragraph(const char *words, struct text *out) {
    enum { WIDTH = 78, INDENT = 4 };
    size_t column = 0;
    for (const char *at = words; *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (column == 0 || column + 1 + length > WIDTH) {
            text_add(out, "%s%*s%.*s", column == 0 ? "" : "\n", INDENT, "", (int)length, at);
            column = INDENT + length;
        } else {
            text_add(out, " %.*s", (int)length, at);
            column += 1 + length;
        }
        at += length;
        at += strspn(at, " ");
    }
    text_add(out, "\n");
}

/* Without an exponent. */
static void show_bound(char *buffer, size_t size, double bound) {
    if (bound >= 1e6) {
        snprintf(buffer, size, "%.0f", bound);
    } else {
        text_number(buffer, bound);
    }
}

static void add_bounds(const struct option *option, struct text *out) {
    char low[32], high[32];
    bool bounded = option->min < 0 || option->min > 0 || option->max < 0 || option->max > 0;
    const char *unit = option->type == OPTION_DURATION || option->type == OPTION_DISTRIBUTION ? "s" : "";
    if (!bounded) {
        return;
    }
    show_bound(low, sizeof low, option->min);
    show_bound(high, sizeof high, option->max);
    if (option->max < option->min) {
        text_add(out, "; %s%s or more", low, unit);
    } else {
        text_add(out, "; %s%s .. %s%s", low, unit, high, unit);
    }
}

static void add_option_entry(const struct manual_option *entry, struct text *out) {
    struct text line = {0};
    manual_key(entry, out);
    if (entry->owner != NULL) {
        text_add(out, " (of the workload %s)", entry->owner);
    }
    text_add(out, "\n");
    option_type_name(entry->option, &line);
    add_bounds(entry->option, &line);
    text_add(&line, "; default: ");
    manual_default(entry->option, &line);
    add_paragraph(text_string(&line), out);
    add_paragraph(entry->option->help, out);
    text_free(&line);
}

struct search {
    const char *word;
    struct text *out;
};

static void visit_option(const struct manual_option *entry, void *user) {
    const struct search *search = user;
    struct text key = {0};
    manual_key(entry, &key);
    if (strcmp(search->word, text_string(&key)) == 0 || strcmp(search->word, entry->option->name) == 0) {
        add_option_entry(entry, search->out);
    }
    text_free(&key);
}

static void find_options(const char *word, struct text *out) {
    struct search search = {.word = word, .out = out};
    manual_each_option(visit_option, &search);
}

/* --- everything else --- */

static void add_table(const char *section, const char *owner, const struct option_table *table, struct text *out) {
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        struct manual_option entry = {.section = section, .owner = owner, .option = &table->options[i]};
        text_add(out, "\n");
        add_option_entry(&entry, out);
    }
}

static void find_sections(const char *word, struct text *out) {
    for (size_t i = 0; i < catalog_section_count; i++) {
        const struct catalog_section *section = &catalog_sections[i];
        if (strcmp(word, section->name) == 0) {
            text_add(out, "[%s]\n", section->name);
            add_paragraph(section->help, out);
            add_table(section->name, NULL, section->options, out);
        }
    }
}

static void find_algorithms(const char *word, struct text *out) {
    const struct cc_ops *ops = cc_find(word);
    if (ops == NULL) {
        return;
    }
    struct text promise = {0};
    text_add(out, "%s, an algorithm of concurrency control\n", ops->name);
    add_paragraph(ops->summary, out);
    text_add(&promise, "It promises %s%s.", level_names[ops->level],
             ops->unrecoverable != NULL ? ", and without recoverability only for what was committed" : "");
    add_paragraph(text_string(&promise), out);
    if (ops->paper != NULL) {
        add_paragraph(ops->paper, out);
    }
    add_table(ops->name, NULL, ops->options, out);
    text_free(&promise);
}

/* The sections in which the workload is written: that of this name, or all (NULL). */
static void add_own_sections(const struct workload_ops *ops, const char *name, struct text *out) {
    for (const struct workload_section *section = ops->sections; section != NULL && section->name != NULL; section++) {
        if (name == NULL || strcmp(name, section->name) == 0) {
            text_add(out, "%s[%s]\n", name == NULL ? "\n" : "", manual_section_title(section));
            add_paragraph(section->help, out);
            add_table(manual_section_title(section), NULL, section->options, out);
        }
    }
}

static void find_workloads(const char *word, struct text *out) {
    const struct workload_ops *ops = workload_find(word);
    if (ops != NULL) {
        text_add(out, "%s, a workload\n", ops->name);
        add_paragraph(ops->summary, out);
        add_paragraph(ops->tells_last_lock
                          ? "Its programs say which statement takes their last lock."
                          : "Its programs do not say which statement takes their last lock: they reach "
                            "the lock point when they commit.",
                      out);
        add_table("workload", ops->name, ops->options, out);
        add_own_sections(ops, NULL, out);
    }
}

static void find_own_sections(const char *word, struct text *out) {
    for (size_t i = 0; i < workload_registry_count; i++) {
        add_own_sections(workload_registry[i], word, out);
    }
}

static void find_metrics(const char *word, struct text *out) {
    const struct metric *metric = metric_find(word);
    if (metric != NULL) {
        text_add(out, "%s, a metric%s%s\n", metric->name, metric->unit[0] != '\0' ? " in " : "", metric->unit);
        add_paragraph(metric->help, out);
    }
}

static void find_reasons(const char *word, struct text *out) {
    for (size_t i = 0; i < REASON_COUNT; i++) {
        if (strcmp(word, reason_texts[i].name) == 0) {
            text_add(out, "%s, a reason of an abort\n", reason_texts[i].name);
            add_paragraph(reason_texts[i].sentence, out);
        }
    }
}

/* G-single is g_single, p4 is P4. */
static bool is_anomaly(const char *word, const char *name) {
    for (; *word != '\0' && *name != '\0'; word++, name++) {
        bool hyphens = strchr("-_", *word) != NULL && strchr("-_", *name) != NULL;
        if (strncasecmp(word, name, 1) != 0 && !hyphens) {
            return false;
        }
    }
    return *word == *name;
}

/* What schedules are judged by, with an example to try. */
static void add_judged(const struct anomaly_text *judged, struct text *out) {
    struct text example = {0};
    text_add(out, "%s, %s\n", judged->name, judged->title);
    add_paragraph(judged->paragraph, out);
    text_add(&example, "Example: ccsim check '%s'", judged->example);
    add_paragraph(text_string(&example), out);
    text_free(&example);
}

static void find_anomalies(const char *word, struct text *out) {
    size_t before = out->length;
    for (size_t i = 0; i < ANOMALY_COUNT; i++) {
        if (is_anomaly(word, anomaly_texts[i].name)) {
            add_judged(&anomaly_texts[i], out);
        }
    }
    for (size_t i = 0; i < property_text_count; i++) {
        if (is_anomaly(word, property_texts[i].name)) {
            add_judged(&property_texts[i], out);
        }
    }
    for (size_t i = 0; i < manual_anomaly_count && out->length == before; i++) {
        if (is_anomaly(word, manual_anomalies[i].name)) {
            text_add(out, "%s, an anomaly\n", manual_anomalies[i].name);
            add_paragraph(manual_anomalies[i].sentence, out);
        }
    }
}

bool manual_entry(const char *word, struct text *out) {
    static void (*const find[])(const char *word, struct text *out) = {
        find_sections, find_own_sections, find_algorithms, find_workloads,
        find_options,  find_metrics,      find_reasons,    find_anomalies,
    };
    size_t before = out->length;
    for (size_t i = 0; i < sizeof find / sizeof find[0]; i++) {
        struct text entry = {0};
        find[i](word, &entry);
        text_add(out, "%s%s", entry.length > 0 && out->length > before ? "\n" : "", text_string(&entry));
        text_free(&entry);
    }
    return out->length > before;
}

static void add_option_names(const struct manual_option *entry, void *user) {
    struct catalog_names *names = user;
    struct text key = {0};
    manual_key(entry, &key);
    vector_push(&names->own, key.bytes);
    vector_push(names, key.bytes);
    vector_push(names, entry->option->name);
}

void manual_names(struct catalog_names *names) {
    size_t metrics_count;
    const struct metric *metrics = metrics_all(&metrics_count);
    catalog_add_sections(names);
    catalog_add_workloads(names);
    manual_each_option(add_option_names, names);
    for (size_t i = 0; i < metrics_count; i++) {
        vector_push(names, metrics[i].name);
    }
    for (size_t i = 0; i < REASON_COUNT; i++) {
        vector_push(names, reason_texts[i].name);
    }
    for (size_t i = 0; i < manual_anomaly_count; i++) {
        vector_push(names, manual_anomalies[i].name);
    }
    for (size_t i = 0; i < property_text_count; i++) {
        vector_push(names, property_texts[i].name);
    }
}
