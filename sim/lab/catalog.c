/* catalog.c - see catalog.h. The fixed sections are one table; the rest comes from the registries. */
#include "sim/lab/catalog.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/exec/settings.h"
#include "sim/lab/experiment.h"

#define SECONDS_MAX 1e8 /* three years; nanoseconds in 63 bits reach far beyond */

static const struct option experiment_rows[] = {
    {"title", OPTION_TEXT, offsetof(struct experiment_settings, title), "The hot row, locking against optimistic", 0, 0,
     NULL, OPTION_OPTIONAL, "what the experiment is about, in a few words: the heading of its figures"},
    {"algorithm", OPTION_TEXT, offsetof(struct experiment_settings, algorithm), "2pl", 0, 0, NULL, OPTION_REQUIRED,
     "the algorithm of concurrency control, or several: then it is the outermost axis, unless [sweep] has it"},
    {"seed", OPTION_COUNT, offsetof(struct experiment_settings, seed), "1", 0, 0, NULL, 0,
     "where all randomness comes from: the same seed, the same results"},
    {"replications", OPTION_COUNT, offsetof(struct experiment_settings, replications), "5", 1, 1e6, NULL, 0,
     "independent runs of each point, with the same transactions for every algorithm"},
    {"precision", OPTION_SHARE, offsetof(struct experiment_settings, precision), "0%", 0, 0, NULL, 0,
     "with 2%: replications are added to each point until the 95% interval says that the mean is no further off than that; "
     "0%: as many as replications says"},
    {"precision_of", OPTION_TEXT, offsetof(struct experiment_settings, precision_of), "throughput_tps", 0, 0, NULL, 0,
     "the metric that is meant"},
    {"replications_max", OPTION_COUNT, offsetof(struct experiment_settings, replications_max), "100", 2, 1e6, NULL, 0,
     "where adding replications ends, precise or not"},
    {"batches", OPTION_COUNT, offsetof(struct experiment_settings, batches), "0", 0, 1000, NULL, 0,
     "with replications = 1: so many parts (20 to 30 serve well) of the one run give the confidence intervals, and are "
     "written to batches.csv; 0: none"},
    {"warmup", OPTION_DURATION, offsetof(struct experiment_settings, warmup_ns), "20s", 0, SECONDS_MAX, NULL,
     OPTION_MAY_BE_AUTO,
     "simulated time before anything is counted; auto: for each point what MSER-5 finds in pilot runs"},
    {"duration", OPTION_DURATION, offsetof(struct experiment_settings, duration_ns), "100s", 1e-6, SECONDS_MAX, NULL, 0,
     "simulated time that is counted, after the warm-up"},
    {"compare", OPTION_TEXT, offsetof(struct experiment_settings, compare), "2pl", 0, 0, NULL, OPTION_OPTIONAL,
     "the algorithm that the others are compared with, replication by replication, in compare.csv"},
    {"certify", OPTION_BOOL, offsetof(struct experiment_settings, certify), "yes", 0, 0, NULL, 0,
     "hold every run to what its algorithm promises"},
    {"series", OPTION_DURATION, offsetof(struct experiment_settings, series_ns), "0", 0, SECONDS_MAX, NULL, 0,
     "write series.csv too: the metrics of each piece of the measured time, so long; 0: do not"},
    {"histograms", OPTION_BOOL, offsetof(struct experiment_settings, histograms), "no", 0, 0, NULL, 0,
     "write histograms.csv too: how many transactions had which response time and wait"},
};

static const struct option workload_head_rows[] = {
    {"name", OPTION_TEXT, offsetof(struct named_settings, name), "hot_row", 0, 0, NULL, OPTION_REQUIRED,
     "the workload; its own options stand beside. Or several: then each has its options in [workload NAME], and they are "
     "the outermost axis"},
};

static const struct option variant_head_rows[] = {
    {"type", OPTION_TEXT, offsetof(struct named_settings, name), "2pl", 0, 0, NULL, OPTION_REQUIRED,
     "the algorithm that this is a variant of; what its own section says holds here too"},
};

const char *const figure_sources[] = {"summary", "series", "histograms", NULL};
static const char *const log_choices[] = {"none", "x", "y", "xy", NULL};

static const char *const kind_choices[] = {"curves", "map", NULL};

static const struct option figure_rows[] = {
    {"title", OPTION_TEXT, offsetof(struct figure_settings, title), "Throughput", 0, 0, NULL, OPTION_OPTIONAL,
     "the heading, the experiment's title if there is none"},
    {"source", OPTION_CHOICE, offsetof(struct figure_settings, source), "summary", 0, 0, figure_sources, 0,
     "summary: means; series: over the time, where series is not 0; histograms: what share took at most so long, where "
     "histograms = yes"},
    {"x", OPTION_TEXT, offsetof(struct figure_settings, x), "system.terminals", 0, 0, NULL, OPTION_OPTIONAL,
     "the column along the abscissa: an axis of the sweep, or a metric; of a series always time_s; of histograms, response "
     "or wait"},
    {"y", OPTION_TEXT, offsetof(struct figure_settings, y), "throughput_tps", 0, 0, NULL, OPTION_OPTIONAL,
     "the metric that is drawn, with its confidence interval; of histograms none; of a map, the axis of the sweep along the "
     "ordinate"},
    {"kind", OPTION_CHOICE, offsetof(struct figure_settings, kind), "curves", 0, 0, kind_choices, 0,
     "curves, or a map: a cell for each pair of x and y, with the group that is best there and by how much"},
    {"value", OPTION_TEXT, offsetof(struct figure_settings, value), "throughput_tps", 0, 0, NULL, 0,
     "of a map: the metric by which the best is found"},
    {"lowest", OPTION_BOOL, offsetof(struct figure_settings, lowest), "no", 0, 0, NULL, 0,
     "of a map: the lowest value is the best"},
    {"group", OPTION_TEXT, offsetof(struct figure_settings, group), "algorithm", 0, 0, NULL, OPTION_OPTIONAL,
     "one curve for each value of this axis"},
    {"log", OPTION_CHOICE, offsetof(struct figure_settings, log), "none", 0, 0, log_choices, 0,
     "which axes are logarithmic"},
    {"x_label", OPTION_TEXT, offsetof(struct figure_settings, x_label), "terminals", 0, 0, NULL, OPTION_OPTIONAL,
     "what is written at the abscissa"},
    {"y_label", OPTION_TEXT, offsetof(struct figure_settings, y_label), "commits/s", 0, 0, NULL, OPTION_OPTIONAL,
     "what is written at the ordinate"},
};

#define TABLE(rows, type) \
    { (rows), sizeof(rows) / sizeof(rows)[0], sizeof(type) }
const struct option_table experiment_options = TABLE(experiment_rows, struct experiment_settings);
const struct option_table workload_head_options = TABLE(workload_head_rows, struct named_settings);
const struct option_table variant_head_options = TABLE(variant_head_rows, struct named_settings);
const struct option_table figure_options = TABLE(figure_rows, struct figure_settings);

const struct catalog_section catalog_sections[] = {
    {"experiment", AREA_EXPERIMENT, &experiment_options, "what is run, how long and how often"},
    {"system", AREA_SYSTEM, &system_options, "terminals or arrivals, and the hardware"},
    {"cost", AREA_COST, &cost_options, "the price list: what each piece of work costs"},
    {"restart", AREA_RESTART, &restart_options, "what follows an abort by the system"},
    {"workload", AREA_WORKLOAD, &workload_head_options, "what the application does"},
    {"sweep", AREA_SWEEP, NULL,
     "the axes: full keys with lists or ranges of values, the first the outermost; zip = KEY KEY steps axes together"},
};
const size_t catalog_section_count = sizeof catalog_sections / sizeof catalog_sections[0];

const struct catalog_section *catalog_section_of(enum area area) {
    for (size_t i = 0; i < catalog_section_count; i++) {
        if (catalog_sections[i].area == area) {
            return &catalog_sections[i];
        }
    }
    return NULL;
}

/* What follows `word` and a blank, or NULL. */
static const char *named_after(const char *header, const char *word) {
    size_t length = strlen(word);
    if (strncmp(header, word, length) != 0 || header[length] != ' ') {
        return NULL;
    }
    const char *name = header + length;
    return name + strspn(name, " \t");
}

const struct workload_ops *catalog_program(const char *header, const struct workload_section **section) {
    for (size_t i = 0; i < workload_registry_count; i++) {
        *section = workload_registry[i]->sections;
        for (; *section != NULL && (*section)->name != NULL; ++*section) {
            bool is_it = (*section)->named ? named_after(header, (*section)->name) != NULL
                                           : strcmp(header, (*section)->name) == 0;
            if (is_it) {
                return workload_registry[i];
            }
        }
    }
    *section = NULL;
    return NULL;
}

enum area catalog_area(const char *header, const char **name) {
    *name = NULL;
    for (size_t i = 0; i < catalog_section_count; i++) {
        if (strcmp(catalog_sections[i].name, header) == 0) {
            return catalog_sections[i].area;
        }
    }
    if ((*name = named_after(header, "figure")) != NULL) {
        return AREA_FIGURE;
    }
    if ((*name = named_after(header, "algorithm")) != NULL) {
        return AREA_VARIANT;
    }
    const struct workload_section *section;
    if (catalog_program(header, &section) != NULL) {
        return AREA_PROGRAM;
    }
    return cc_find(header) != NULL ? AREA_ALGORITHM : AREA_UNKNOWN;
}

const struct option_table *catalog_options(enum area area, const struct cc_ops *algorithm,
                                           const struct workload_ops *workload) {
    switch (area) {
    case AREA_EXPERIMENT:
    case AREA_SYSTEM:
    case AREA_COST:
    case AREA_RESTART: return catalog_section_of(area)->options;
    case AREA_WORKLOAD: return workload != NULL ? workload->options : NULL;
    case AREA_ALGORITHM:
    case AREA_VARIANT: return algorithm != NULL ? algorithm->options : NULL;
    case AREA_FIGURE: return &figure_options;
    case AREA_PROGRAM:
    case AREA_SWEEP:
    case AREA_UNKNOWN: break;
    }
    return NULL;
}

void catalog_add_sections(struct catalog_names *names) {
    for (size_t i = 0; i < catalog_section_count; i++) {
        vector_push(names, catalog_sections[i].name);
    }
    catalog_add_algorithms(names);
}

void catalog_add_algorithms(struct catalog_names *names) {
    for (size_t i = 0; i < cc_registry_count; i++) {
        vector_push(names, cc_registry[i]->name);
    }
}

void catalog_add_workloads(struct catalog_names *names) {
    for (size_t i = 0; i < workload_registry_count; i++) {
        vector_push(names, workload_registry[i]->name);
    }
}

void catalog_add_options(struct catalog_names *names, const struct option_table *options) {
    for (size_t i = 0; options != NULL && i < options->count; i++) {
        vector_push(names, options->options[i].name);
    }
}

void catalog_add_keys(struct catalog_names *names, const char *section, const struct option_table *options) {
    for (size_t i = 0; options != NULL && i < options->count; i++) {
        struct text key = {0};
        text_add(&key, "%s.%s", section, options->options[i].name);
        vector_push(&names->own, key.bytes);
        vector_push(names, key.bytes);
    }
}

void catalog_names_free(struct catalog_names *names) {
    for (size_t i = 0; i < names->own.count; i++) {
        mem_free(names->own.items[i]);
    }
    vector_free(&names->own);
    vector_free(names);
}

static bool has_option(const struct option_table *options, const char *key) {
    return options != NULL && option_find(options, key) != NULL;
}

void catalog_owner(const char *key, struct text *out) {
    for (size_t i = 0; i < catalog_section_count; i++) {
        if (has_option(catalog_sections[i].options, key)) {
            text_add(out, "; it belongs to [%s]", catalog_sections[i].name);
            return;
        }
    }
    const char *separator = "; it is an option of ";
    for (size_t i = 0; i < workload_registry_count; i++) {
        if (has_option(workload_registry[i]->options, key)) {
            text_add(out, "%sthe workload %s", separator, workload_registry[i]->name);
            separator = ", ";
        }
    }
    for (size_t i = 0; i < cc_registry_count; i++) {
        if (has_option(cc_registry[i]->options, key)) {
            text_add(out, "%sthe algorithm %s", separator, cc_registry[i]->name);
            separator = ", ";
        }
    }
}
