/* solo.h - runs the programs of a workload one transaction at a time against a real store, as a database without
 * concurrency would, and writes down what they do: for workloads of several tables.
 *
 * A transcript: r(stock 7) a read, q(stock 7..9) a scan, u(..) a locked one, w(stock 7 :=5), w(stock 7 +=5), i(..), d(..),
 * r(stock 7,9) several keys, `:1` a limit, t application time, c commit, a rollback, x retry; behind each statement
 * `!` marks the last lock and =2 says how many rows it found, =e that it was answered with an error. */
#ifndef CCSIM_TESTS_SUPPORT_SOLO_H
#define CCSIM_TESTS_SUPPORT_SOLO_H

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/store/reason.h"
#include "sim/store/store.h"
#include "tests/support/harness.h"
#include "workloads/workload.h"

enum { SOLO_STEPS_MAX = 2000, SOLO_NEVER = -1 };

struct solo_undo {
    struct table *table;
    int64_t key, value;
    bool absent;
};

struct solo {
    const struct workload_ops *ops;
    void *options, *state, *arguments, *registers;
    struct store store;
    VECTOR(struct reply_row) found;
    VECTOR(struct solo_undo) undo;
    struct text said, left; /* left: what `remaining` answered, before the first step and after each */
    int fail_at;            /* the step that is answered with an error; SOLO_NEVER */
    enum reason fails_for;
};

/* `settings` is "name=value name=value"; they must be right. */
void solo_open(struct solo *solo, const char *workload, const char *settings);
void solo_close(struct solo *solo);

void solo_draw(struct solo *solo, uint64_t terminal, uint64_t number);
/* Runs the transaction that was drawn; only a commit leaves something behind. The transcript stands until the next run. */
const char *solo_run(struct solo *solo);
const char *solo_next(struct solo *solo, uint64_t number); /* draws terminal 1's and runs it */

/* The row's value; INT64_MIN: there is none. */
int64_t solo_value(struct solo *solo, struct table *table, int64_t key);
/* Writes it, as a committed transaction would; INT64_MIN removes the row. */
void solo_put(struct solo *solo, struct table *table, int64_t key, int64_t value);

void solo_expect_audit(const struct solo *solo, enum workload_verdict verdict, int level, const char *message);

#endif
