/* run.h - one simulation run: a pure function of its specification.
 *
 * run_simulate builds the world that the specification describes, lets it run through warm-up and duration, asks the
 * workload for its audit and fills the result with raw counts, from which lab's metrics table computes what is shown.
 * Same specification, same result, on every machine. */
#ifndef CCSIM_EXEC_RUN_H
#define CCSIM_EXEC_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/histogram.h"
#include "sim/base/text.h"
#include "sim/check/flaw.h"
#include "sim/exec/settings.h"
#include "sim/exec/toll.h"
#include "sim/store/reason.h"

struct cc_ops;
struct trace;
struct workload_ops;

struct run_spec {
    const struct cc_ops *algorithm;
    const void *algorithm_options; /* the algorithm's options struct, filled; NULL if it has none */
    const struct workload_ops *workload;
    const void *workload_options;
    struct system_settings system;
    struct cost_settings cost;
    struct restart_settings restart;
    uint64_t seed, replication; /* replication counts from 1 */
    int64_t warmup_ns, duration_ns;
    int64_t series_ns; /* the measured window is sampled every so often, and at its end; 0: not */
    int64_t
        batches; /* and apart from that at the ends of so many equal parts (of which the last gets what rounding left) */
    /* A terminal, or an open system's arrivals, end after so many; 0: never. What is left must be quiescent. */
    uint64_t transactions_max;
    /* An open system that so many transactions are under way in has failed, and the run ends there; 0: at what can be
     * live at once. */
    uint64_t live_max;
    bool asks_toll; /* fill result->toll */
    bool certify;
    FILE *history; /* of a certified run: everything that happens is written there (docs/HISTORY.md); may be NULL */
    struct trace *trace; /* filled with what happens in the measured window (trace.h); may be NULL */
    const char *replay;  /* the command that replays this run, for messages of bugs; may be NULL */
};

/* The state of affairs at an instant of the measured window: counts since its beginning, areas likewise. */
struct run_sample {
    int64_t time_ns; /* since the end of the warm-up */
    uint64_t commits, rollbacks, aborts, waits;
    double response_sum_ns, wait_sum_ns;
    double live_area_ns; /* submitted, not ended */
    double blocked_area_ns, active_area_ns, versions_area_ns, versions_dead_area_ns;
};
struct run_samples {
    struct run_sample *items;
    size_t count, capacity;
};

enum run_status {
    RUN_OK,
    RUN_STUCK_RESTARTING, /* a transaction restarted 1,000 times while no time passed: restart.delay must not be 0 */
    RUN_NO_SUCH_LEVEL,    /* a transaction asked for a level that the algorithm cannot run */
    RUN_TOO_MANY_LIVE     /* an open system's backlog outgrew what can be live at once */
};

enum run_audit { RUN_AUDIT_NONE, RUN_AUDIT_OK, RUN_AUDIT_BROKEN };

/* Everything counts what happened after the warm-up, except `digest` and what the audit says. */
struct run_result {
    enum run_status status;
    struct text message; /* a sentence for the user if status is not RUN_OK */
    double sim_seconds, warmup_seconds;
    uint64_t commits_first_half;     /* of the measured window */
    int64_t live_before, live_after; /* transactions in the system at its beginning and end */
    uint64_t commits, rollbacks, gave_up;
    uint64_t aborts_by_reason[REASON_COUNT]; /* attempts aborted by the system */
    uint64_t waits, lock_upgrades, escalations;
    uint64_t partial_rollbacks, statements_kept; /* by deadlock victims; what these kept, all together */
    struct histogram wait, response;             /* per committed transaction, all attempts */
    double wait_sum_ns, response_sum_ns, admission_sum_ns;
    struct histogram rollback_response; /* per transaction that rolled back by its own wish, all attempts */
    double rollback_response_sum_ns;
    double blocked_area_ns, active_area_ns; /* number x time */
    bool cpus_limited;
    double cpu_busy_ns, cpu_useful_ns, cpu_capacity_ns; /* capacity: CPUs x duration */
    double fairness_sum, fairness_sum_of_squares;       /* of the commits of each terminal */
    uint64_t terminals;                                 /* 0 in open systems */
    double versions_area_ns;                            /* number of stored versions beyond one a row x time */
    uint64_t versions_max;
    double versions_dead_area_ns; /* of them, those that no snapshot needs */
    uint64_t versions_dead_max;
    uint64_t versions_walked, version_rows;           /* versions passed, while so many rows were looked up */
    uint64_t scan_versions_walked, scan_version_rows; /* of them, by scans */
    uint64_t chain_length_max;                        /* versions met for one row */
    uint64_t versions_removed, vacuums;
    bool lost_updates_known;
    uint64_t lost_updates;
    enum run_audit audit;
    bool certified;     /* the following hold */
    uint64_t anomalies; /* commits with any of these */
    uint64_t anomalies_by_name[FLAW_COUNT];
    uint64_t levels_broken;    /* commits that broke the level of somebody */
    uint64_t false_positives;  /* refused for fear of a cycle that would not have been */
    uint64_t unrecoverable;    /* commits with a read from one that was still under way */
    bool promise_broken;       /* at any time, warm-up included */
    struct text witness;       /* of the first broken promise; if there is none, of the first anomaly */
    bool audit_promised;       /* is a broken audit a broken promise of the algorithm? */
    struct text audit_message; /* why it is broken */
    uint64_t events;           /* handled, warm-up included: for the benchmark */
    uint64_t digest;
    /* Of each kind of transaction, where a workload has several, what the metrics by type need; else NULL. */
    struct run_result *types;
    size_t type_count;
    struct run_samples samples, batches; /* of series_ns; of `batches` */
    struct toll *toll;                   /* where time was lost, if the specification asks for it; else NULL */
    int64_t live_change;                 /* transactions under way, at the end more than at the end of the warm-up */
    bool quiescent;                      /* every transaction has ended and left nothing behind (transactions_max) */
};

/* `result` is overwritten; free it with run_result_free. Never returns half a result: a bug aborts the process. */
void run_simulate(const struct run_spec *spec, struct run_result *result);
void run_result_free(struct run_result *result);

#endif
