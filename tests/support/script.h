/* script.h - written schedules with exact expectations: each step at its own millisecond, what happened as one line.
 *
 * A schedule is tokens separated by blanks; token k is due at k milliseconds (from 0). Nothing else costs time, so that
 * the interleaving is the written order; a step of a transaction that waits is put off to the end of its wait. Ages
 * are by number: all transactions are there from the start. `+5` lets 5 ms pass.
 *   r1(x) u1(x) s1(x)         read, FOR UPDATE, FOR SHARE        x y z are the keys 1 2 3, others are numbers
 *   r1(2..9) u1(2..9) ...     the same by range
 *   w1(x,5) w1(x,+=5)         blind write, increment; by range too
 *   i1(10,5) d1(x) d1(2..9)   insert, delete
 *   p1(s) f1(s)               savepoint s (a digit), roll back to it
 *   c1 a1                     commit, roll back; without either a transaction rolls back when all is over
 *   :nowait :skip :3          behind a statement: NOWAIT, SKIP LOCKED, LIMIT 3
 * The table has the keys 1 .. 6, all 0.
 *
 * The line that comes back, in order of what happened:
 *   r1(x)=0          a reply, with the values of the rows read or changed; w1(x,5)=0 changed a row that was 0;
 *   r1(1..3)=1:0,2:0 by range, with keys; "-" for no rows
 *   w2(x,5)?1,3      the step began to wait, for the transactions named (in order of number)
 *   w2(x,5)!=0       a reply after waiting
 *   u1(x)#nowait     the statement failed
 *   c1 a1            ended;  k2:deadlock  ended by the algorithm */
#ifndef CCSIM_TESTS_SUPPORT_SCRIPT_H
#define CCSIM_TESTS_SUPPORT_SCRIPT_H

#include "sim/cc/cc.h"
#include "sim/exec/run.h"
#include "tests/support/harness.h"

enum { SCRIPT_TOKENS_MAX = 64, SCRIPT_TRANSACTIONS_MAX = 10 };

struct script {
    struct run_spec spec; /* may be changed between script_open and script_run */
    struct cc_ops spied;  /* the algorithm, with calls written down */
    const struct cc_ops *algorithm;
    uint64_t algorithm_options[64];
    struct run_result result;
    /* the schedule */
    int token_count, transactions;
    char tokens[SCRIPT_TOKENS_MAX][32];
    int64_t due_ns[SCRIPT_TOKENS_MAX];
    int64_t over_ns;
    /* what happened */
    struct text said;
    int64_t committed_ns[SCRIPT_TRANSACTIONS_MAX], killed_ns[SCRIPT_TRANSACTIONS_MAX]; /* -1: never */
    int kills[SCRIPT_TRANSACTIONS_MAX];
    uint64_t ages[SCRIPT_TRANSACTIONS_MAX][8]; /* of each attempt */
    struct table *table;
};

extern const struct workload_ops workload_script;

/* `settings`: NULL or options of the algorithm, "name=value name=value". */
void script_open(struct script *script, const char *algorithm, const char *settings, const char *schedule);
const char *script_run(struct script *script);
void script_close(struct script *script);

/* What costs time after all: a log force, a price for each item validated. */
struct script_prices {
    int log_force_ms, validate_ms;
};

/* The schedule must come out exactly like this. `prices`: NULL, nothing costs time. */
void script_expect_at(const char *file, int line, const char *algorithm, const char *settings,
                      const struct script_prices *prices, const char *schedule, const char *expected);
#define script_expect(algorithm, settings, schedule, expected) \
    script_expect_at(__FILE__, __LINE__, (algorithm), (settings), NULL, (schedule), (expected))
#define script_expect_priced(algorithm, settings, prices, schedule, expected) \
    script_expect_at(__FILE__, __LINE__, (algorithm), (settings), (prices), (schedule), (expected))

#endif
