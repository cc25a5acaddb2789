/* experiment.h - a config file as a plan: a grid of points, each a complete specification of runs.
 *
 * experiment_load reads one or more INI files (later ones add to and replace what earlier ones set), applies --set and
 * --only, and checks every point it can before anything runs: all mistakes are reported at once, each as
 * `file:line: what is wrong; did you mean ...?`. The grid is never expanded in memory: a point is computed from its
 * number when asked for. Axes: the first the outermost; `zip` steps axes together. */
#ifndef CCSIM_LAB_EXPERIMENT_H
#define CCSIM_LAB_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/exec/run.h"

struct experiment; /* opaque: what the files said */

/* Where its numbers come from. */
enum figure_source {
    FIGURE_SUMMARY,    /* summary.csv: a mean against an axis or another mean, with its interval */
    FIGURE_SERIES,     /* series.csv: a metric against time_s, averaged over the replications */
    FIGURE_HISTOGRAMS, /* histograms.csv: which share of all transactions took at most so long */
    FIGURE_SOURCES
};
extern const char *const figure_sources[]; /* their names, NULL-terminated */

enum figure_kind { FIGURE_CURVES, FIGURE_MAP };

struct figure {
    enum figure_kind kind;
    char *name, *title; /* title: the experiment's unless given */
    enum figure_source source;
    char *x, *y, *group; /* column names of the source; but x of a histogram is its metric. group may be NULL */
    char *value;         /* of a map, of which y is an axis: the metric; else NULL */
    bool lowest;         /* is the lowest value the best? */
    bool log_x, log_y;
    char *x_label, *y_label; /* NULL: from the option's or metric's help */
};

struct experiment_facts {
    const char *title, *stem; /* stem of the first config's name: the results folder */
    uint64_t seed;
    int64_t replications;      /* of each point; to begin with, where a precision is asked for */
    int64_t replications_most; /* the same otherwise */
    double precision;          /* relative half-width; 0: none is asked for */
    size_t precision_metric;   /* its number in metrics_all */
    int64_t batches;           /* 0: none */
    int64_t warmup_ns;         /* or OPTION_AUTO: a pilot tells, which is known by replication 0 */
    int64_t duration_ns;
    const char *compare; /* the algorithm that the others are compared with; NULL: none, or none that takes part */
    bool certify;
    bool histograms;  /* those of single runs are wanted */
    size_t points;    /* after --only */
    size_t workloads; /* of which each has its share of the points, one after the other */
    size_t axes;      /* columns between `workload` and `replication`, `algorithm` not among them */
    const struct figure *figures;
    size_t figure_count;
};

struct experiment_request {
    const char *const *files; /* "-": standard input */
    size_t file_count;
    const char *text;        /* not NULL: what the only file says, which is not looked for then */
    const char *const *sets; /* "KEY=VALUE" */
    size_t set_count;
    const char *const *onlys;
    size_t only_count;
    bool has_seed;
    uint64_t seed;
};
enum { EXPERIMENT_POINTS_MAX = 1000000 }; /* points x replications; more is refused with the count */

/* NULL with all messages, one a line, in `errors`. */
struct experiment *experiment_load(const struct experiment_request *request, struct text *errors);
void experiment_free(struct experiment *experiment);
const struct experiment_facts *experiment_facts(const struct experiment *experiment);

/* The name of a workload, counted from 0. */
const char *experiment_workload(const struct experiment *experiment, size_t number);

/* The key of axis number `axis` as a column name ("system.terminals"). */
const char *experiment_axis(const struct experiment *experiment, size_t axis);

/* A point's run specification (replication 1; the caller sets replication and replay) and what its columns say. The
 * options structs belong to the
 * point: free with point_free. */
struct point {
    size_t number;
    struct run_spec spec;
    const char *algorithm; /* the name in the config: a variant's own */
    struct text columns;   /* CSV cells of the axes, comma-separated, already quoted; empty if there are none */
    void *algorithm_options, *workload_options;
};
void experiment_point(const struct experiment *experiment, size_t number, struct point *point);
void point_free(struct point *point);

/* The point that differs in the algorithm alone, which is the one that the others are compared with (there must be one).
 * False if the point is itself one of that algorithm. */
bool experiment_compared_to(const struct experiment *experiment, size_t number, size_t *base);

/* What identifies a run among all that this build of the program can make: everything its outcome depends on, and
 * nothing else. A point keeps its key when the grid around it changes. */
uint64_t experiment_run_key(const struct experiment *experiment, size_t number, uint64_t replication);

/* The effective configuration as INI, every option with its value: for the manifest and --dry-run. */
void experiment_echo(const struct experiment *experiment, struct text *out);

/* The number of the point as --only arguments that select it alone, for replay commands: ` --only a=b --only c=d`. */
void experiment_select(const struct experiment *experiment, size_t number, struct text *out);
/* The same for people: ` a=b c=d`. */
void experiment_tell(const struct experiment *experiment, size_t number, struct text *out);

#endif
