/* brute.h - a reference for the judge of schedules, written from the definitions (docs/MODEL.md) word for word: loops
 * over all pairs, triples and quadruples of operations, all cycles, all permutations. It shares no code with what it
 * checks; fit for a handful of transactions. */
#ifndef CCSIM_TESTS_SUPPORT_BRUTE_H
#define CCSIM_TESTS_SUPPORT_BRUTE_H

#include <stdbool.h>

enum { BRUTE_STEPS = 24, BRUTE_TXNS = 6, BRUTE_ROWS = 4, BRUTE_LIVES = 12, BRUTE_OPS = 400 };

/* Numbered as they are named in verdicts: P0 P1 P2 P3 P4 A5A A5B G0 G1a G1b G1c G-single G2-item G2. */
enum {
    BRUTE_P0,
    BRUTE_P1,
    BRUTE_P2,
    BRUTE_P3,
    BRUTE_P4,
    BRUTE_A5A,
    BRUTE_A5B,
    BRUTE_G0,
    BRUTE_G1A,
    BRUTE_G1B,
    BRUTE_G1C,
    BRUTE_G_SINGLE,
    BRUTE_G2_ITEM,
    BRUTE_G2,
    BRUTE_ANOMALIES
};

/* One step: `kind` is its letter. */
struct brute_step {
    char kind;
    int txn;
    int row;   /* or -1: the predicate */
    char form; /* of w and i: '.' any value, '=' constant, '+' added, '$' last read, '@' read inside */
    int constant, source;
    bool conditional;
    int expected;
    int target; /* of f: the step of its savepoint */
};

/* The predicate: the value is at least `threshold`. */
struct brute_schedule {
    struct brute_step steps[BRUTE_STEPS];
    int step_count, txn_count, row_count, threshold;
    bool with_init;
    bool present[BRUTE_ROWS];
    int value[BRUTE_ROWS];
};

struct brute_verdict {
    bool conflict_serializable, view_serializable, recoverable, cascadeless, strict, rigorous;
    bool anomalies[BRUTE_ANOMALIES];
    bool broken[5];                      /* RU RC RR SI SER */
    int order[BRUTE_TXNS], order_count;  /* the first serial order, if there is one */
    bool before[BRUTE_TXNS][BRUTE_TXNS]; /* conflicts of committed transactions */
};

void brute_judge(const struct brute_schedule *schedule, struct brute_verdict *verdict);

#endif
