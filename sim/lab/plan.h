/* plan.h - the inside of an experiment: what the files and the command line said, and what came out of it.
 *
 * settings   every key as given, one place each: `section`, `key`, `value`. The keys of [sweep] are settings as well.
 * variants   [algorithm NAME] sections.
 * axes       what is swept. The algorithm is always one of them, even if it has one value only.
 * dimensions of the grid, the first the outermost: one axis each, or the axes that are zipped. A point's number,
 *            written in the mixed radix of the dimensions' counts, gives a position in every axis.
 * candidates the algorithms of the experiment: one for each value of the algorithm axis, with a base from which its
 *            points are made by putting in the axes' values.
 *
 * The parts are made in this order, each from those before it; mistakes are collected on the way. Only a plan without
 * mistakes has candidates. */
#ifndef CCSIM_LAB_PLAN_H
#define CCSIM_LAB_PLAN_H

#include "sim/lab/axis.h"
#include "sim/lab/catalog.h"
#include "sim/lab/experiment.h"
#include "sim/lab/ini.h"
#include "sim/lab/mistakes.h"

struct setting {
    enum area area;
    char *section, *key, *value;
    struct place place;
    struct ini_pieces pieces; /* of the value, if it stands in a file */
};

struct plan_section {
    enum area area;
    char *header;
    struct place place;
};

struct variant {
    const char *name;         /* lives in the header */
    const char *section;      /* "algorithm NAME" */
    const struct cc_ops *ops; /* NULL: its type is missing or unknown */
};

/* What a full key means. */
struct target {
    const char *section;         /* of PROGRAM: the section of the workload, "transaction transfer"; else NULL */
    enum area area;              /* of the option: SYSTEM, COST, RESTART, WORKLOAD, PROGRAM, EXPERIMENT or
                                    ALGORITHM */
    const struct option *option; /* NULL: an option of a workload or algorithm that is itself unknown */
    const char *scope;           /* the section of the one algorithm that it concerns; NULL: all */
};

struct axis {
    char *key;            /* column name */
    struct target target; /* of `algorithm`: AREA_EXPERIMENT */
    const char *text;     /* as typed */
    struct axis_values values;
    bool *keeps;     /* by value: does --only keep it? */
    bool restricted; /* did --only name the axis? */
    struct place place;
};

struct dimension {
    struct {
        size_t *items;
        size_t count, capacity;
    } axes;
    struct {
        size_t *items;
        size_t count, capacity;
    } kept; /* positions that --only kept */
};

struct candidate {
    const char *name;
    const struct cc_ops *ops;
    const char *own_section;     /* the algorithm's: "2pl" */
    const char *variant_section; /* "algorithm NAME"; NULL: no variant */
    bool told_of_levels;         /* that it cannot run those asked for */
    struct run_spec spec;
    void *algorithm_options, *workload_options; /* NULL: it has none */
};

struct experiment {
    struct {
        char **items;
        size_t count, capacity;
    } sources; /* names of the files, then of the arguments */
    size_t file_count;
    struct mistakes mistakes;
    bool malformed; /* a file is not even well-formed: what seems to be missing may stand in a line that was dropped */
    struct {
        struct setting *items;
        size_t count, capacity;
    } settings;
    struct {
        struct plan_section *items;
        size_t count, capacity;
    } sections;
    struct {
        struct variant *items;
        size_t count, capacity;
    } variants;
    const struct workload_ops *workload;
    struct {
        char **items;
        size_t count, capacity;
    } workload_names; /* of all of the experiment, of which `workload` is one */
    bool left_out;    /* by --only: none of its points counts */
    size_t points;    /* its own; facts.points are those of all */
    struct {
        struct experiment **items;
        size_t count, capacity;
    } others;                /* plans for the workloads behind this one */
    const char *alternative; /* of terminals and arrival_rate, the one that --set of the other took away */
    struct {
        struct axis *items;
        size_t count, capacity;
    } axes;
    struct {
        struct dimension *items;
        size_t count, capacity;
    } dimensions;
    size_t algorithm_axis;
    struct {
        struct candidate *items;
        size_t count, capacity;
    } candidates;
    struct experiment_settings own; /* [experiment] */
    bool has_seed;                  /* the seed was given apart */
    struct {
        struct figure *items;
        size_t count, capacity;
    } figures;
    char *title, *stem;
    struct experiment_facts facts;
};

/* --- plan_read.c: files and --set --- */

/* `workload`: the one of several that this plan is for; NULL: the first. */
void plan_read(struct experiment *plan, const struct experiment_request *request, const char *workload);
/* Sets the key, replacing what is there. */
struct setting *plan_put(struct experiment *plan, const char *section, const char *key, const char *value,
                         struct place place);
void plan_drop(struct experiment *plan, struct setting *setting);
struct setting *plan_find(const struct experiment *plan, const char *section, const char *key);

/* What the full key means; false with a sentence that says why it means nothing. */
bool plan_key(const struct experiment *plan, const char *key, struct target *target, struct text *error);
/* The same for a key of the section `scope` of one algorithm: its own option (`victim`), or the full key of one that
 * differs for it (`restart.delay`). `ops` is NULL where the algorithm is unknown. */
bool plan_algorithm_key(const struct experiment *plan, const char *scope, const struct cc_ops *ops, const char *key,
                        struct target *target, struct text *error);
/* May the key differ from point to point, or from algorithm to algorithm? */
bool target_may_differ(const struct target *target);
struct place plan_whole(void); /* of the first file */

/* --- plan_several.c: several workloads --- */

/* Finds out which workloads there are, and makes one of them (NULL: the first) the plan's own. */
void plan_choose_workload(struct experiment *plan, const char *chosen);
/* --only workload.name: left out, if its workload is not among these. False with a sentence. */
bool plan_keep_workload(struct experiment *plan, const char *values, struct text *error);
/* The plan that the point belongs to, where its number is `number`. */
const struct experiment *plan_part(const struct experiment *plan, size_t *number);

/* --- plan_check.c: sections and settings one by one --- */

void plan_check_sections(struct experiment *plan);
/* Parses a value of the option into a struct that is thrown away. */
bool plan_value_fits(const struct option *option, const char *value, struct text *error);
const struct variant *plan_variant(const struct experiment *plan, const char *name);

/* --- plan_axes.c: the grid --- */

void plan_make_axes(struct experiment *plan, const struct experiment_request *request);
/* The place of every axis at a point: `positions` has one entry per axis. */
void plan_positions(const struct experiment *plan, size_t number, size_t *positions);
const struct axis *plan_find_axis(const struct experiment *plan, const char *key);

/* --- plan_point.c: candidates and points --- */

void plan_make_candidates(struct experiment *plan);
/* Does the axis concern the candidate? */
bool plan_axis_holds(const struct experiment *plan, const struct axis *axis, const struct candidate *candidate);
/* What the candidate's sections say about a full key, or NULL. */
const struct setting *plan_override(const struct experiment *plan, const struct candidate *candidate, const char *key);
/* The setting that holds for the candidate, or NULL: the default. Axes are not looked at. */
const struct setting *plan_setting(const struct experiment *plan, const struct candidate *candidate, enum area area,
                                   const struct option *option);

/* The point at these positions, but for its number and columns. False with a sentence if a workload that is written in
 * the config makes no sense there; free the point all the same. */
bool plan_point(const struct experiment *plan, const size_t *positions, struct point *point, struct text *error);

/* --- plan_workload.c --- */

void plan_check_workload(struct experiment *plan);

/* --- plan_program.c: a workload that is written in the config --- */

bool plan_has_program(const struct experiment *plan);
/* The header of the section with this name in keys, `transaction.transfer`; NULL: there is none. */
const char *plan_program_section(const struct experiment *plan, const char *name);
/* Reads the sections, as they are at the first point of the grid, and tells every mistake. */
void plan_check_program(struct experiment *plan);
/* Fills the options of the point, which belong to it. False with a sentence if the program makes no sense there. */
bool plan_program(const struct experiment *plan, const struct candidate *candidate, const size_t *positions,
                  void *options, struct text *error);
/* `digest` (digest.h), with all entries at the point added. */
uint64_t plan_program_digest(const struct experiment *plan, const struct candidate *candidate, const size_t *positions,
                             uint64_t digest);

/* --- plan_method.c: how results are made of runs --- */

void plan_check_method(struct experiment *plan);
int64_t plan_replications_most(const struct experiment *plan);
/* Does the algorithm take part that the others are compared with? --only may have dropped it. */
bool plan_compares(const struct experiment *plan);

/* --- plan_figure.c --- */

void plan_make_figures(struct experiment *plan);

#endif
