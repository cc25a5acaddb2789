/* catalog.h - every section and key that a config may have.
 *
 * A full key is `section.key`: "system.cpus", "workload.rows", "2pl.victim", "fast.victim" for a variant [algorithm
 * fast];
 * `algorithm` is short for "experiment.algorithm". An algorithm's section takes the algorithm's own options and, by
 * their full names, all keys that may differ between algorithms. */
#ifndef CCSIM_LAB_CATALOG_H
#define CCSIM_LAB_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/option.h"
#include "sim/cc/cc.h"
#include "workloads/workload.h"

/* [experiment] */
struct experiment_settings {
    char title[OPTION_TEXT_SIZE];
    char algorithm[OPTION_TEXT_SIZE]; /* names; checked by the experiment */
    int64_t seed, replications;
    double precision; /* 0: none */
    char precision_of[OPTION_TEXT_SIZE];
    int64_t replications_max;
    int64_t batches;   /* 0: none */
    int64_t warmup_ns; /* or OPTION_AUTO */
    int64_t duration_ns;
    char compare[OPTION_TEXT_SIZE];
    bool certify;
    int64_t series_ns;
    bool histograms;
};

/* What [workload] and [algorithm NAME] have besides the options of the one they name. */
struct named_settings {
    char name[OPTION_TEXT_SIZE];
};

/* [figure NAME] */
struct figure_settings {
    char title[OPTION_TEXT_SIZE], x[OPTION_TEXT_SIZE], y[OPTION_TEXT_SIZE], group[OPTION_TEXT_SIZE];
    int kind;                     /* enum figure_kind */
    char value[OPTION_TEXT_SIZE]; /* of a map */
    bool lowest;
    int log;    /* enum figure_log */
    int source; /* enum figure_source */
    char x_label[OPTION_TEXT_SIZE], y_label[OPTION_TEXT_SIZE];
};
enum figure_log { FIGURE_LOG_NONE, FIGURE_LOG_X, FIGURE_LOG_Y, FIGURE_LOG_XY };

extern const struct option_table experiment_options, workload_head_options, variant_head_options, figure_options;

enum area {
    AREA_EXPERIMENT,
    AREA_SYSTEM,
    AREA_COST,
    AREA_RESTART,
    AREA_WORKLOAD,
    AREA_SWEEP,
    AREA_FIGURE,    /* [figure NAME] */
    AREA_ALGORITHM, /* the section of an algorithm of the registry */
    AREA_VARIANT,   /* [algorithm NAME] */
    AREA_PROGRAM,   /* a section in which a workload is written: [table NAME] */
    AREA_UNKNOWN
};

/* The sections with fixed names, in the order of the manual; [workload] has its head's options here. */
struct catalog_section {
    const char *name;
    enum area area;
    const struct option_table *options;
    const char *help;
};
extern const struct catalog_section catalog_sections[];
extern const size_t catalog_section_count;
const struct catalog_section *catalog_section_of(enum area area);

/* Which kind of section a header names; *name: what follows "figure " or "algorithm ", else NULL. */
enum area catalog_area(const char *header, const char **name);

/* The workload with sections of that kind (`table NAME`), and what it says of them; NULL: none has. */
const struct workload_ops *catalog_program(const char *header, const struct workload_section **section);

/* The options of a config's section. [workload]'s are those of `workload`, its head apart (NULL: none yet). */
const struct option_table *catalog_options(enum area area, const struct cc_ops *algorithm,
                                           const struct workload_ops *workload);

/* Names to suggest from. Grow the list with catalog_add_*, free it with vector_free; the strings of catalog_add_keys
 * live until then in `own`, freed by catalog_names_free. */
struct catalog_names {
    const char **items;
    size_t count, capacity;
    struct {
        char **items;
        size_t count, capacity;
    } own;
};
void catalog_add_sections(struct catalog_names *names);
void catalog_add_algorithms(struct catalog_names *names);
void catalog_add_workloads(struct catalog_names *names);
void catalog_add_options(struct catalog_names *names, const struct option_table *options); /* `cpus` */
void catalog_add_keys(struct catalog_names *names, const char *section,
                      const struct option_table *options); /* `system.cpus` */
void catalog_names_free(struct catalog_names *names);

/* Where an unknown key belongs, as the end of a sentence: "; it belongs to [system]", "; it is an option of the
 * workload bank" or "". */
void catalog_owner(const char *key, struct text *out);

#endif
