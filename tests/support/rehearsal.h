/* rehearsal.h - runs the programs of a workload one transaction at a time against an array of values, as a database
 * without concurrency would, and writes down what they do.
 *
 * A transcript: r(x) a read, u(x) a locked one, q(1..9) and u(1..9) scans (no end: to the last key), w(x,5) and w(x,+=5)
 * writes, d(x) a delete, if>=5 their condition (if%7=5: of the remainder), :nowait, :skip and :1 what else was said of a
 * scan, i(9) an insert by its key, think, c commit, a rollback; `!` marks the last lock. Rows are named h if hot, else x, y, z, ...
 * in order of appearance. The tables stand one behind the other: a row is known by its place, which in the first table is
 * its key. */
#ifndef CCSIM_TESTS_SUPPORT_REHEARSAL_H
#define CCSIM_TESTS_SUPPORT_REHEARSAL_H

#include "sim/base/text.h"
#include "sim/store/level.h"
#include "sim/store/store.h"
#include "tests/support/harness.h"
#include "workloads/workload.h"

enum { REHEARSAL_STEPS_MAX = 1000, REHEARSAL_NAMES_MAX = 300, REHEARSAL_NEVER = -1 };
enum { REHEARSAL_ROOM = 20000 }; /* keys behind the last row that inserts and scans may reach */
#define REHEARSAL_ABSENT INT64_MIN

struct rehearsal {
    const struct workload_ops *ops;
    void *options, *state, *arguments, *registers;
    struct store store;
    int64_t hot_rows; /* keys up to here are called h */
    int64_t *values;  /* of the played database, by place; REHEARSAL_ABSENT: no row */
    struct reply_row *rows, undo[REHEARSAL_STEPS_MAX];
    int undo_count;
    struct text said; /* the transcript of the latest transaction */
    struct text left; /* the rows it still meant to access: before the first step, and after each */
    int64_t names[REHEARSAL_NAMES_MAX];
    int name_count;
    int64_t last_locks;
    struct footprint footprint; /* that it told, arranged: its statements are in it and, at a commit, all of it */
    struct planned planned[REHEARSAL_STEPS_MAX];
    int used[REHEARSAL_STEPS_MAX + 1]; /* 1 + the strongest use of each item */
    bool tells;
    uint64_t terminal;
    const struct distribution *rest; /* what the terminal does after the latest transaction; NULL: nothing */
    int fail_at;                     /* the step that is answered with an error; REHEARSAL_NEVER */
};

struct rehearsal_trial {
    const char *options, *expected;
};

/* `settings` is "name=value name=value". False if the options' check refuses them, with its message in `said`; nothing
 * is loaded in either case. */
bool rehearsal_check(struct rehearsal *rehearsal, const char *workload, const char *settings);
/* Options that must be right, and the tables loaded. */
void rehearsal_open(struct rehearsal *rehearsal, const char *workload, const char *settings);
void rehearsal_close(struct rehearsal *rehearsal); /* after either */

void rehearsal_draw(struct rehearsal *rehearsal, uint64_t terminal, uint64_t number);
/* The place of a row of that table. */
int64_t rehearsal_place(const struct rehearsal *rehearsal, const struct table *table, int64_t key);
/* Runs the transaction that was drawn; a rollback undoes its writes, a commit is told to the workload. The transcript
 * stands until the next run. */
const char *rehearsal_run(struct rehearsal *rehearsal);
/* Draws and runs terminal 1's transaction of that number. */
const char *rehearsal_next(struct rehearsal *rehearsal, uint64_t number);

int64_t rehearsal_sum(const struct rehearsal *rehearsal); /* of the first table's values */
/* The workload's audit of its (untouched) store. */
struct workload_audit rehearsal_audit(const struct rehearsal *rehearsal);
/* The same as if the store's rows added up to `sum`; it must count lost updates and come out like this. */
void rehearsal_expect_audit(struct rehearsal *rehearsal, int64_t sum, enum workload_verdict verdict, enum level level,
                            uint64_t lost, const char *message);

/* The first transaction under each trial's options must read as expected. */
void rehearsal_trials(const char *workload, int64_t hot_rows, const struct rehearsal_trial *trials, size_t count);
#define REHEARSAL_TRIALS(workload, hot_rows, trials) \
    rehearsal_trials((workload), (hot_rows), (trials), sizeof(trials) / sizeof(trials)[0])

bool rehearsal_ends_with(const char *text, const char *tail);
int rehearsal_count_of(const char *text, const char *part);
/* A count of `hits` lies within five standard deviations of a binomial one (one false alarm in 10^6). */
void rehearsal_assert_share(int64_t hits, int64_t trials, double share);

#endif
