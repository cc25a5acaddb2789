/* player.h - plays a written schedule: feeds its steps to an algorithm one after another, without time.
 *
 * The walker and the algorithm are those of timed runs; only the harness differs. Nothing costs anything, so a step
 * is over when its call returns, or it waits. The rules:
 *   - A transaction begins with its first step. A step of a transaction that waits is put off.
 *   - After each step all waiting calls that it freed resume, in the order they began to wait; then the steps put
 *     off of those who wait no more, in written order; only then the next step is given.
 *   - When one is rolled back to an earlier step of its own, its steps from that one on are put off. What is told of a
 *     step is how it went last.
 *   - An aborted transaction skips its steps until it begins anew (same age); one that has ended skips them all.
 *   - What programs know of their future (last_lock, uses_again, remaining) is read off the schedule, up to the
 *     transaction's next c or a; rows only, as that a scan or an insert takes no new lock cannot be known.
 *   - Time stands still. Timers (lock timeouts, delayed deadlock detection) fire in order when no step is left that
 *     could be given.
 *   - If no transaction has an end, each commits after all written steps, in the order of their last steps: these
 *     commits are steps too, numbered on behind the written ones.
 * A write of `any value` (w1(x)) writes 100 times the transaction's number plus 1, 2, ... for its first, second, ...
 * such write. What $y takes of a row that the transaction has not read, or @y of one that is absent, is 0. */
#ifndef CCSIM_EXEC_PLAYER_H
#define CCSIM_EXEC_PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/check/judge.h"
#include "sim/check/schedule.h"
#include "sim/store/reason.h"

struct cc_ops;

#define PLAY_NONE UINT32_MAX

enum play_outcome {
    PLAY_OK,
    PLAY_ABORT,
    PLAY_ERROR, /* the statement failed, the transaction lives */
    PLAY_WAIT,  /* never resumed, or stands behind a step that was not */
    PLAY_SKIP,
    PLAY_OUTCOMES
};
extern const char *const play_outcome_names[PLAY_OUTCOMES];

struct play_row {
    uint32_t row; /* of the schedule */
    int64_t value;
};

struct play_step {
    uint8_t outcome; /* enum play_outcome */
    uint8_t reason;  /* enum reason, of abort and error */
    bool waited, has_rows, has_count;
    VECTOR(uint32_t) waits_for; /* transactions, by number */
    uint32_t resumed_after;     /* step during which the wait ended, or PLAY_NONE */
    uint32_t ran_after;         /* of a step put off: the step after which it ran, or PLAY_NONE */
    VECTOR(struct play_row) rows;
    int64_t count;
    int64_t any_value; /* what a write of any value wrote */
};

enum play_end_kind { PLAY_COMMIT, PLAY_ROLLBACK, PLAY_ABORTED };
extern const char *const play_end_names[];
struct play_end {
    uint32_t txn;
    enum play_end_kind kind;
};

/* Aborted while it was in no step. */
struct play_kill {
    uint32_t txn, step;
    enum reason reason;
};

/* What happened, in order: the lines of a table. */
enum play_event_kind {
    PLAY_DONE,    /* a step was given and is over */
    PLAY_WAITS,   /* it waits */
    PLAY_PUT_OFF, /* its transaction waits */
    PLAY_RESUMED, /* a waiting one is over */
    PLAY_LATE,    /* one put off was given and is over */
    PLAY_LATE_WAITS,
    PLAY_KILLED,
    PLAY_BACK,     /* rolled back to where it began `step`, to go on from there */
    PLAY_UNDONE,   /* a step that was over, and has to be done again */
    PLAY_DEADLOCK, /* a cycle of waiting transactions was found */
    PLAY_TIMER     /* no step was left that could be given: time passes */
};
struct play_event {
    enum play_event_kind kind;
    uint32_t during;       /* the step given last */
    uint32_t step;         /* what it is about, or PLAY_NONE */
    uint32_t txn;          /* or PLAY_NONE */
    uint32_t reason;       /* of PLAY_KILLED */
    uint32_t first, count; /* of PLAY_DEADLOCK: its transactions in `cycles` */
};

/* One line of the lock table after a step. */
struct play_lock {
    uint32_t row; /* of the schedule, or PLAY_NONE: behind the last */
    uint32_t txn;
    const char *mode; /* S, U, X; coarser: IS, IX, SIX too */
    bool waits, gap;
    uint8_t level; /* 0: of the row; else of the page, the table or the database that contains it */
    int64_t page;
};
struct play_moment {
    size_t first_lock, lock_count;
};

struct play_final {
    bool present;
    int64_t value;
};

struct play {
    const struct schedule *schedule;
    const struct cc_ops *algorithm;
    struct play_step *steps; /* the written ones, then the implied commits */
    size_t step_count, written_count;
    uint32_t *step_txns;          /* of each step */
    VECTOR(struct play_end) ends; /* in order; those of one instant by number */
    VECTOR(struct play_kill) killed;
    VECTOR(struct play_event) events;
    VECTOR(uint32_t) cycles;
    VECTOR(struct play_lock) locks;
    struct play_moment *moments; /* after each step, if they were asked for */
    bool has_locks;              /* are there lock tables to show? */
    struct play_final *final;    /* of each row of the schedule */
    /* What ran, in the order of its effects: steps put off where they ran, refused ones left out, and, for
     * algorithms that write when they commit, writes at the commit. Algorithms of one version are judged by it, the
     * others by the versions that were read. */
    struct text ran;
    struct verdict verdict;
    bool judged; /* false: there was too much to judge */
    /* What the certifier of runs says of it (check/certifier.h). */
    bool mixed; /* somebody asked for another level than the algorithm's own */
    bool promise_broken, levels_broken;
    uint64_t false_positives;
    struct text witness;
};

/* Plays the schedule. `options`: the algorithm's, filled; NULL if it has none. `locks`: note the lock table after each
 * step. Free with play_free. */
void play_schedule(struct play *play, const struct schedule *schedule, const struct cc_ops *algorithm,
                   const void *options, bool locks);
void play_free(struct play *play);

/* The first begin that asks for a level which the algorithm cannot run, or NULL. */
const struct schedule_step *play_cannot_run(const struct schedule *schedule, const struct cc_ops *algorithm);

/* Is the algorithm one of those that keep several versions of a row? Then some verdicts make no sense. */
bool play_is_multiversion(const struct cc_ops *algorithm);

#endif
