/* report.h - reports the history of a run to its certifier, if it has one: what the walker and the store do, one line
 * each. Private to exec. */
#ifndef CCSIM_EXEC_REPORT_H
#define CCSIM_EXEC_REPORT_H

#include "sim/exec/world.h"

/* The certifier of a run that wants one, and the way the store reports installs. After the workload has loaded. */
void report_open(struct world *world);
void report_measure(struct world *world); /* the end of the warm-up: what came before is not counted */
void report_close(struct world *world);   /* into the result */

void report_begin_now(struct world *world, struct actor *actor);
void report_statement_now(struct world *world, struct actor *actor);
void report_read_now(struct world *world, struct actor *actor, const struct row *row, const struct version *seen,
                     bool wanted);
void report_source_now(struct world *world, struct actor *actor, const struct row *row, const struct version *seen);
void report_refused_read_now(struct world *world, struct actor *actor, const struct row *row,
                             const struct version *seen);
void report_refused_change_now(struct world *world, struct actor *actor, const struct row *row,
                               const struct version *base, int64_t value, bool absent);
void report_skip_now(struct world *world, struct actor *actor, const struct row *row);
void report_scan_now(struct world *world, struct actor *actor);
void report_fail_now(struct world *world, struct actor *actor);
void report_rollback_now(struct world *world, struct actor *actor, uint32_t mark);
void report_back_now(struct world *world, struct actor *actor, uint32_t mark);
void report_commit_now(struct world *world, struct actor *actor);
void report_abort_now(struct world *world, struct actor *actor);

static inline void report_begin(struct world *world, struct actor *actor) {
    if (world->certifier != NULL) {
        report_begin_now(world, actor);
    }
}

static inline void report_statement(struct world *world, struct actor *actor) {
    if (world->certifier != NULL) {
        report_statement_now(world, actor);
    }
}

/* A version that read or claim handed back; does the statement want the row? */
static inline void report_read(struct world *world, struct actor *actor, const struct row *row,
                               const struct version *seen, bool wanted) {
    if (world->certifier != NULL) {
        report_read_now(world, actor, row, seen, wanted);
    }
}

/* Is the attempt that has just been refused one to be judged: would it have closed a cycle? */
static inline bool report_judges(const struct world *world, const struct actor *actor) {
    return world->certifier != NULL && (actor->txn.reason == REASON_SSI_PIVOT || actor->txn.reason == REASON_EXCLUSION);
}

/* It was refused as it was about to read `seen`, or to replace `base`: that counts as done. */
static inline void report_refused_read(struct world *world, struct actor *actor, const struct row *row,
                                       const struct version *seen) {
    if (report_judges(world, actor) && seen != NULL) {
        report_refused_read_now(world, actor, row, seen);
    }
}

static inline void report_source(struct world *world, struct actor *actor, const struct row *row,
                                 const struct version *seen) {
    if (world->certifier != NULL) {
        report_source_now(world, actor, row, seen);
    }
}

/* The row is left out: SKIP LOCKED, or Thomas's rule. */
static inline void report_skip(struct world *world, struct actor *actor, const struct row *row) {
    if (world->certifier != NULL) {
        report_skip_now(world, actor, row);
    }
}

/* The statement is over; if it was a scan that left nothing out, that is told. */
static inline void report_scan(struct world *world, struct actor *actor) {
    if (world->certifier != NULL && actor->step.scan) {
        report_scan_now(world, actor);
    }
}

static inline void report_fail(struct world *world, struct actor *actor) {
    if (world->certifier != NULL) {
        report_fail_now(world, actor);
    }
}

static inline void report_rollback(struct world *world, struct actor *actor, uint32_t mark) {
    if (world->certifier != NULL) {
        report_rollback_now(world, actor, mark);
    }
}

static inline void report_back(struct world *world, struct actor *actor, uint32_t mark) {
    if (world->certifier != NULL) {
        report_back_now(world, actor, mark);
    }
}

static inline void report_commit(struct world *world, struct actor *actor) {
    if (world->certifier != NULL) {
        report_commit_now(world, actor);
    }
}

static inline void report_abort(struct world *world, struct actor *actor) {
    if (world->certifier != NULL) {
        report_abort_now(world, actor);
    }
}

#endif
