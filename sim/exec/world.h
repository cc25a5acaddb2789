/* world.h - one run's world: resources, data, algorithm, workload, and the actors that walk transactions through them.
 * Private to exec.
 *
 * An actor is a terminal (closed system) or a place for one arrival (open system). It owns one slot of the agenda, and
 * that is enough: at any time it is thinking, queued or served at one station, delayed, or waiting for another
 * transaction, perhaps with a timer; a wake or a doom takes the place of whatever was pending. */
#ifndef CCSIM_EXEC_WORLD_H
#define CCSIM_EXEC_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/inline.h"
#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/check/certifier.h"
#include "sim/exec/run.h"
#include "sim/exec/trace.h"
#include "sim/kernel/agenda.h"
#include "sim/kernel/station.h"
#include "sim/kit/txn.h"
#include "workloads/workload.h"

/* Where an actor stands; the walker's table of functions is indexed by it. See walker.c. */
enum phase {
    PHASE_SUBMIT,
    PHASE_ENTER,
    PHASE_READY,
    PHASE_BEGIN,
    PHASE_NEXT,
    PHASE_STATEMENT,
    PHASE_SOURCE,
    PHASE_LOCATE,
    PHASE_RANGE,
    PHASE_READ,
    PHASE_CLAIM,
    PHASE_LATCH,
    PHASE_DISK,
    PHASE_CPU,
    PHASE_ROW_DONE,
    PHASE_STATEMENT_END,
    PHASE_SAVEPOINT,
    PHASE_ROLLBACK_TO,
    PHASE_PREPARE,
    PHASE_LOG,
    PHASE_COMMIT,
    PHASE_DURABLE,
    PHASE_DEFERRED,
    PHASE_RELEASE,
    PHASE_ROLLBACK,
    PHASE_ROLLED_BACK,
    PHASE_BACK,
    PHASE_ABORT,
    PHASE_RESTART,
    PHASE_READMIT,
    PHASE_COUNT
};

/* What the slot's pending event is to a waiting transaction. */
enum wait_event { EVENT_NONE, EVENT_WAKE, EVENT_TIMER };

/* What an attempt was when it began a statement: checkpoint.c. */
struct checkpoint {
    uint32_t statement, rows;
    uint64_t fold;
    struct step step;
    uint32_t savepoints[STEP_SAVEPOINTS_MAX];
};

/* What every access touches stands first, behind what it touches of the transaction. */
struct actor {
    struct txn txn; /* first: a txn pointer is an actor pointer */
    struct station_job job;
    uint8_t phase;      /* enum phase: what comes next */
    uint8_t wait_event; /* enum wait_event */
    bool live;          /* submitted, not ended */
    bool admitted;      /* holds an admission slot */
    bool row_written, row_first_visit;
    bool blind;       /* the statement needs nothing of its row, see statement.c */
    bool plain;       /* nor asks it more than the usual */
    bool leads_force; /* its event is the end of a group force */
    uint32_t row;     /* number of the current row in txn.rows */
    bool tail;        /* the current row only ends the scan */
    bool at_source;   /* the current row is step.extra's source */
    struct step step;
    struct reply reply;
    struct reply_row only_row;           /* the reply's, where the statement is on one row; else */
    VECTOR(struct reply_row) reply_rows; /* these */
    uint64_t seen_writer;                /* of the version of the current row that was read last */
    uint64_t fold;                       /* running hash of what the attempt saw and wrote */
    int64_t cpu_ns;                      /* CPU the attempt got inside the measured window */
    struct stream service;
    void *arguments, *registers;
    /* the statement, where it is of several rows */
    int64_t cursor;    /* next key of a scan */
    int64_t key_index; /* of step.extra's keys */
    /* the transaction */
    uint64_t terminal, number;
    struct run_result *type;                       /* its kind's counts; NULL where there is one kind */
    int64_t submitted_ns, admission_ns, queued_ns; /* admission: time spent queued so far; queued: since when */
    int64_t wait_ns, wait_since_ns;
    uint64_t attempts;
    const char *wait_table; /* of the row that it waits for, where that is counted; NULL: it is no row */
    int64_t wait_key;
    /* the attempt */
    int64_t attempt_start_ns;
    size_t deferred;                          /* writes whose disk is paid */
    uint32_t savepoints[STEP_SAVEPOINTS_MAX]; /* first statement undone by rolling back to it; 0: not set */
    VECTOR(struct checkpoint) checkpoints;    /* of each statement not undone, where they are kept */
    char *kept_registers;                     /* the same of the program's registers */
    /* the wait: a timer that survives hints */
    int64_t timer_ns;
    int timer_tag;
    /* loops in which no time passes: restarts of a transaction, transactions of a terminal */
    uint32_t still_restarts, still_transactions;
    int64_t still_ns;
    struct stream think, restart;
    struct actor *ready_next; /* in the admission queue, or among the free actors of an open system */
    /* early publication: durable.c */
    VECTOR(uint64_t) read_from;                        /* ids of those it read from, as far as they had not answered */
    struct actor *published_next, *published_previous; /* among the published that have not answered */
    struct actor *dependent_first, *dependent_next;    /* who waits for its answer; among those who wait for the same */
    /* what report.c knows of the attempt, if the run is certified */
    struct node *reported;
    uint64_t begin_stamp; /* of the latest commit when it began */
    bool scan_incomplete; /* the statement left something out */
};

__extension__ typedef unsigned __int128 tally_area; /* number x nanoseconds */

/* What is counted between the end of the warm-up and the end of the run. */
struct tally {
    uint64_t commits, rollbacks, gave_up, waits;
    uint64_t aborts_by_reason[REASON_COUNT];
    double wait_sum_ns, response_sum_ns, admission_sum_ns;
    int64_t start_ns;
    int64_t cpu_useful_ns;
    uint64_t lock_upgrades_before, escalations_before;
    uint64_t partial_rollbacks, statements_kept;
    /* number x time: population (submitted, not ended), blocked, active */
    int64_t live, blocked, active, live_before;
    tally_area live_area, live_pieces, blocked_area, active_area;
    int64_t live_changed_ns, blocked_changed_ns, active_changed_ns;
};

/* The same of old versions; see tally_versions.c. */
struct version_gauge {
    uint64_t number, most;
    int64_t changed_ns;
    tally_area area;
};
struct version_tally {
    struct version_gauge stored, dead; /* beyond one a row; of them, those that nobody needs */
    uint64_t walked, rows;             /* versions passed, while so many rows were looked up */
    uint64_t scan_walked, scan_rows;   /* of them, by scans */
    uint32_t passed_most;              /* for one row */
    uint64_t removed_before, vacuums_before;
};

struct world {
    const struct run_spec *spec;
    struct run_result *result;
    struct agenda agenda;
    struct station cpu, latch, log;
    struct station *disks;
    bool work_is_free;  /* no price on what algorithms do */
    bool write_is_free; /* nor on what is written */
    bool round_trip_is_free;
    bool row_is_cpu_only; /* a row costs neither latch nor disk */
    /* All this; and nobody keeps programs, the algorithm writes in place, keeps one version of a row, and has
     * nothing to do with the beginning of a statement. */
    bool is_plain;
    uint64_t disk_count; /* stations */
    struct log_group {
        struct actor *first, *last; /* who waits for the next force */
        int64_t forces;             /* under way */
    } log_group;
    struct store store;
    struct harness harness;
    struct cc cc;
    const struct cc_ops *ops;
    enum level weakest;          /* that has been asked for */
    struct certifier *certifier; /* NULL: the run is not certified */
    struct trace *trace;         /* NULL: the run is not traced, or not yet */
    struct certifier_counts before_window;
    void *workload_state;
    uint64_t program_streams; /* stream_family() of the arguments */
    void (*workload_next)(void *, const void *, void *, const struct reply *, struct step *); /* of spec->workload */
    struct footprint plan; /* the footprint asked for last */
    struct actor **actors; /* by slot - SLOT_ACTORS */
    size_t actor_count, actor_capacity;
    size_t actor_size, registers_at; /* bytes; where the program's registers, and then its arguments, lie in them */
    struct pool actor_pool;
    struct actor *free_actors;
    struct actor *ready_first, *ready_last;
    struct actor *published_first, *published_last; /* have not answered yet, in order of publication */
    int64_t admitted;
    uint64_t serial, age; /* of attempts, of transactions */
    uint64_t *commits_by_terminal;
    struct {
        struct stream stream;
        uint64_t number;
        int part;
        int64_t part_end_ns;
    } arrivals;
    double response_mean_ns; /* of all committed so far, warm-up included: adaptive restart delay */
    uint64_t response_count;
    struct tally tally;
    struct version_tally versions;
    struct toll *toll; /* of the result; NULL: nobody asks */
    uint64_t digest;
    int64_t timer_due_ns[TIMER_COUNT]; /* the algorithm's own timers, which share a slot; INT64_MAX: not set */
    bool stopped;
};

enum { SLOT_ALGORITHM, SLOT_ARRIVAL, SLOT_ACTORS };

static inline struct actor *actor_of(struct txn *txn) { return (struct actor *)(void *)txn; }
/* The rows of the reply, as far as the statement has come. */
static inline const struct reply_row *actor_reply_rows(const struct actor *actor) {
    return actor->reply.rows != NULL ? actor->reply.rows : actor->reply_rows.items;
}
static inline uint32_t world_slot(const struct actor *actor) { return actor->txn.slot; }

/* Are versions linked nowhere before they are published? */
static inline bool world_is_private(const struct world *world) { return (world->ops->flags & CC_PRIVATE_WRITES) != 0; }

/* Is the end of prepare the commit point? Then the log is forced behind it. */
static inline bool world_publishes_early(const struct world *world) {
    return (world->ops->flags & CC_EARLY_PUBLISH) != 0;
}

/* ---- world.c: building, actors, the harness ---- */
void world_init(struct world *world, const struct run_spec *spec, struct run_result *result);
void world_free(struct world *world);
struct actor *world_actor(struct world *world); /* a free one (open system) or a new one; NULL: too many live */
void world_release_actor(struct world *world, struct actor *actor);
void world_timer(struct world *world); /* the event of the algorithm's own timers */
void world_stop(struct world *world, enum run_status status, const char *sentence);

/* ---- walker.c ---- */
/* A new attempt: the next phase is its begin. */
void walker_start_attempt(struct world *world, struct actor *actor);
/* Goes on with an actor whose event has come, or who may begin, until it pauses. */
void walker_run(struct world *world, struct actor *actor);
/* The event of an actor's slot, which has come and is still in its place. */
void walker_event(struct world *world, struct actor *actor);
/* What cc answered: true if it was OK or SKIP; else the actor pauses, its statement fails, or it aborts. */
bool walker_passes_slowly(struct world *world, struct actor *actor, enum cc_status status);
static inline bool walker_passes(struct world *world, struct actor *actor, enum cc_status status) {
    return (status == CC_OK && actor->txn.state == TXN_ACTIVE) || walker_passes_slowly(world, actor, status);
}
/* After an answer that did not pass: does the actor go on at once? A waiting one pauses. */
static inline bool walker_goes_on(const struct actor *actor) {
    return actor->txn.state != TXN_WAITING || actor->phase == PHASE_ABORT;
}
/* Ends a wait, if the actor waits. */
void walker_end_wait(struct world *world, struct actor *actor);

/* ---- statement.c: phases of a statement ---- */
/* Asks the program for a step; where no time passes before that, goes on with it at once. */
bool statement_next(struct world *world, struct actor *actor);
bool statement_begin(struct world *world, struct actor *actor);
bool statement_source(struct world *world, struct actor *actor);
bool statement_locate(struct world *world, struct actor *actor);
bool statement_range(struct world *world, struct actor *actor);
bool statement_read(struct world *world, struct actor *actor);
bool statement_claim(struct world *world, struct actor *actor);
bool statement_pay(struct world *world, struct actor *actor); /* the CPU part of the current row's price */
bool statement_row_done(struct world *world, struct actor *actor);
bool statement_end(struct world *world, struct actor *actor);
/* harness.change_result */
struct image statement_result(void *world, const struct txn *txn, const struct row *row, const struct version *base);
void statement_fail(struct world *world, struct actor *actor);

/* ---- durable.c: early publication ---- */
void durable_read_now(struct world *world, struct actor *actor, const struct version *seen);
void durable_scan_now(struct world *world, struct actor *actor);
/* What it depends on: a version it saw, or would replace; its scan, which is over. */
static inline void durable_read(struct world *world, struct actor *actor, const struct version *seen) {
    if (world_publishes_early(world)) {
        durable_read_now(world, actor, seen);
    }
}
static inline void durable_scan(struct world *world, struct actor *actor) {
    if (world_publishes_early(world) && actor->step.scan) {
        durable_scan_now(world, actor);
    }
}
void durable_publish(struct world *world, struct actor *actor);
/* The phase between log force and deferred writes: false while it waits for another's answer. */
bool durable_wait(struct world *world, struct actor *actor);
void durable_answer(struct world *world, struct actor *actor);

/* ---- checkpoint.c ---- */
void checkpoint_take(struct world *world, struct actor *actor);
void checkpoint_free(struct actor *actor);
bool phase_back(struct world *world, struct actor *actor);

/* ---- price.c: the price list. Each starts the service and returns false, or returns true if there is nothing to
 * pay. ---- */
bool price_disk(struct world *world, struct actor *actor, const struct distribution *service);
bool price_latch(struct world *world, struct actor *actor);
ALWAYS_INLINE bool price_cpu(struct world *world, struct actor *actor, int64_t service_ns) {
    if (service_ns == 0) {
        return true;
    }
    station_join_at(&world->cpu, &world->agenda, &actor->job, service_ns);
    return false;
}
bool price_log(struct world *world, struct actor *actor);
bool price_delay(struct world *world, struct actor *actor, int64_t delay_ns);
ALWAYS_INLINE int64_t price_draw(struct actor *actor, const struct distribution *price) {
    return distribution_draw(price, &actor->service);
}
int64_t price_work_done(struct world *world, struct actor *actor);
/* Draws, and zeroes, what the algorithm did, where that costs anything. */
static inline int64_t price_work(struct world *world, struct actor *actor) {
    return world->work_is_free ? 0 : price_work_done(world, actor);
}
int64_t price_write(struct world *world, struct actor *actor); /* draws what a row costs that is written */
void price_log_done(struct world *world, struct actor *actor);

/* ---- traffic.c: terminals, arrivals, admission, restarts ---- */
void traffic_start(struct world *world);
void traffic_arrival(struct world *world);
bool traffic_submit(struct world *world, struct actor *actor);
bool traffic_enter(struct world *world, struct actor *actor);
bool traffic_readmit(struct world *world, struct actor *actor);
bool traffic_restart(struct world *world, struct actor *actor);
bool traffic_finish(struct world *world, struct actor *actor, bool committed);
void traffic_leave(struct world *world, struct actor *actor); /* gives up the admission slot */

/* ---- tally.c ---- */
void tally_start(struct world *world); /* the end of the warm-up */
void tally_live(struct world *world, int change);
void tally_blocked(struct world *world, int change);
void tally_active(struct world *world, int change);
void tally_end_transaction(struct world *world, const struct actor *actor);
void tally_commit(struct world *world, struct actor *actor);
void tally_abort(struct world *world, const struct actor *actor, enum reason reason);
void tally_wait(struct world *world, const struct actor *actor);
void tally_rollback(struct world *world, const struct actor *actor);
void tally_give_up(struct world *world, const struct actor *actor);
/* How an attempt ended, as the digest has it: a reason, or one of these. Reasons that came later stand behind them, so
 * that the digests of old runs stay what they were. */
enum outcome { OUTCOME_COMMIT = 14, OUTCOME_ROLLBACK };
void tally_outcome(struct world *world, const struct actor *actor, uint64_t outcome);
void tally_sample(struct world *world, struct run_samples *samples); /* appends the present */
void tally_finish(struct world *world);

/* ---- tally_versions.c ---- */
void tally_versions(struct world *world); /* their number may have changed */
void tally_walk(struct world *world, uint32_t passed, bool is_scan);
void tally_versions_sample(struct world *world, struct run_sample *sample);
void tally_versions_start(struct world *world);
void tally_versions_finish(struct world *world);

/* ---- tally_toll.c: where world->toll is not NULL ---- */
void tally_toll_begin(struct actor *actor);                           /* it begins to wait */
void tally_toll_wait(struct world *world, const struct actor *actor); /* its wait is over */
void tally_toll_abort(struct world *world, const struct actor *actor);
void tally_toll_start(struct world *world);
void tally_toll_finish(struct world *world);

#endif
