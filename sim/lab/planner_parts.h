/* planner_parts.h - what the parts of the planner share.
 *
 * probes   runs that were made: at a point of the experiment, a value of the key that is varied, and a replication.
 * lanes    one for each point and replication: the search for its edge.
 * answers  one for each point: what its lanes found, and what was measured there. */
#ifndef CCSIM_LAB_PLANNER_PARTS_H
#define CCSIM_LAB_PLANNER_PARTS_H

#include "sim/exec/toll.h"
#include "sim/lab/planner.h"
#include "sim/lab/progress.h"
#include "sim/lab/usl.h"

enum { PLANNER_METRICS_MAX = 128, PLANNER_LIMITS_MAX = 8, PLANNER_RUNGS_MAX = 24, PLANNER_POINTS_MAX = 500 };

enum probe_end {
    PROBE_OK,
    PROBE_SATURATED, /* an open system whose backlog grew without end */
    PROBE_REFUSED,   /* it could not go on, by its own doing */
    PROBE_LOST       /* its worker died */
};

/* What a worker answers: plain bytes between a program and its own fork. */
struct probe_outcome {
    enum probe_end end;
    bool broken;                         /* a promise, or an audit that is one */
    bool keeps_up;                       /* the backlog did not grow, and few gave up */
    double metrics[PLANNER_METRICS_MAX]; /* in the order of metrics_all */
    struct toll toll;
};

struct probe {
    size_t point;
    uint64_t replication;
    double value;
    struct probe_outcome outcome;
};

struct lane {
    size_t point;
    uint64_t replication;
    bool done;
    bool has_pass, has_fail;
    double pass, fail; /* the closest to the edge so far */
    double next;       /* to be tried, unless it is done */
};

/* A place where time is lost, per committed transaction; when it is gone, at most so much is gained. */
enum limit_kind { LIMIT_ROWS, LIMIT_ELSEWHERE, LIMIT_STATION, LIMIT_ADMISSION, LIMIT_ABORTS };
struct limit {
    enum limit_kind kind;
    double ms;          /* per commit */
    double utilization; /* of a station; else not-a-number */
    char name[96];      /* "row hot 1 (97% of the waits for rows)", "CPUs", "aborts (validation)" */
};

/* A value at which every replication was tried. */
struct rung {
    double value;
    bool met; /* in every replication */
    double throughput, response_ms;
};

struct answer {
    size_t point;
    char *algorithm;
    struct text place; /* `2pl workload.hot_rows=4` */
    bool found;        /* some value meets the objectives in every replication */
    bool open_end;     /* and no higher (of CPUs: lower) one that was tried fails: the search ended at its bounds */
    double estimate, low, high;          /* of the edge; low = high where there is no interval */
    double value;                        /* to plan with: where the following was measured */
    double lowest;                       /* of whole numbers: the lowest that was seen to meet them */
    double current;                      /* what the config says, 0: nothing, or several values */
    double metrics[PLANNER_METRICS_MAX]; /* means */
    size_t binding;                      /* the objective with the least margin */
    struct limit limits[PLANNER_LIMITS_MAX];
    size_t limit_count;
    struct rung rungs[PLANNER_RUNGS_MAX]; /* of whole numbers */
    size_t rung_count, peak, knee; /* rungs of the most throughput, and of the most throughput per response time */
    struct usl_point sweep[PLANNER_RUNGS_MAX]; /* the same to fit a law to */
    bool fitted;
    struct usl usl;
};

struct planner {
    const struct planner_request *request;
    const struct experiment *experiment; /* with the varied key at `start` */
    const struct experiment_facts *facts;
    double start, least, most; /* rates: where the search begins; the bounds */
    bool nothing_beyond;       /* the bound that the search goes towards is that of the thing itself */
    double rungs[PLANNER_RUNGS_MAX];
    size_t rung_count;
    struct {
        struct probe *items;
        size_t count, capacity;
    } probes;
    struct {
        struct lane *items;
        size_t count, capacity;
    } lanes;
    struct {
        struct answer *items;
        size_t count, capacity;
    } answers;
    size_t first_new, settled; /* the probes from `first_new` on are being computed */
    struct progress progress;
    bool broken, refused, lost;
    size_t messages;
};

static inline bool planner_is_whole(const struct planner *planner) {
    return planner->request->vary != PLANNER_ARRIVAL_RATE;
}

/* --- planner_probe.c --- */

/* Sets the varied key. */
void planner_put(enum planner_variable vary, double value, struct run_spec *spec);
double planner_value_of(enum planner_variable vary, const struct run_spec *spec); /* 0: not given, or a profile */
/* The arguments of --only that select the point, but for the varied key, which has one value there if it is an axis. */
void planner_add_selection(const struct planner *planner, size_t point, struct text *out);
/* Asks for a probe, if there is none yet. */
void planner_ask(struct planner *planner, size_t point, uint64_t replication, double value);
/* Computes what was asked for. LAB_DONE, LAB_INTERRUPTED or LAB_INCOMPLETE. */
enum lab_exit planner_compute(struct planner *planner);
const struct probe *planner_find(const struct planner *planner, size_t point, uint64_t replication, double value);

/* --- planner_objective.c --- */

bool planner_meets(const struct planner *planner, const struct probe_outcome *outcome);
bool objective_holds(const struct planner_objective *objective, double value);
/* How far the value is from the limit, as a share of it; negative: beyond. */
double objective_margin(const struct planner_objective *objective, double value);

/* --- planner_search.c --- */

void planner_open_lanes(struct planner *planner);
/* Asks for what the lanes want to know next; false: all are done. */
bool planner_ask_lanes(struct planner *planner);
/* Takes in what was computed. */
void planner_advance_lanes(struct planner *planner);

/* --- planner_answer.c --- */

void planner_estimate(struct planner *planner,
                      struct answer *answer); /* from the lanes; asks for what is to be shown */
void planner_measure(struct planner *planner, struct answer *answer);

/* --- planner_limit.c --- */

/* Where time is lost at the answer's value, the worst first. */
void planner_find_limits(const struct planner *planner, struct answer *answer);

/* --- planner_report.c, planner_json.c --- */

const struct answer *planner_best(const struct planner *planner); /* NULL: nothing meets the objectives */
void planner_add_value(const struct planner *planner, double value, struct text *out); /* "98.2/s", "12 CPUs" */
double planner_headroom(const struct planner *planner, const struct answer *answer);   /* NAN: compared with nothing */
void planner_add_sentence(const struct planner *planner, struct text *out);
void planner_add_report(const struct planner *planner, struct text *out);
void planner_add_json(const struct planner *planner, struct text *out);

#endif
