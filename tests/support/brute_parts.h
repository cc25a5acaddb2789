/* brute_parts.h - a schedule run on one version of every row, for the definitions of brute.c to look at. */
#ifndef CCSIM_TESTS_SUPPORT_BRUTE_PARTS_H
#define CCSIM_TESTS_SUPPORT_BRUTE_PARTS_H

#include "tests/support/brute.h"

enum { NEVER = 1 << 30, START = -1, UNKNOWN = 1 << 20, ABSENT = UNKNOWN + 1 };

/* `kind`: r, w, q (the scan itself), m (a scan passed the row over because of an unfinished write). `after` of writes
 * is what they leave: a value, UNKNOWN or ABSENT. */
struct op {
    char kind;
    int life, row, seen, after, before;
    int gone;            /* when it was taken back, or NEVER */
    bool by_rollback_to; /* and by f, not by a */
};

struct run {
    const struct brute_schedule *schedule;
    struct op ops[BRUTE_OPS];
    int count;
    int life_txn[BRUTE_LIVES], end[BRUTE_LIVES], first[BRUTE_LIVES], lives;
    bool committed[BRUTE_LIVES];
    int step_of[BRUTE_OPS]; /* the step of an operation */
    int start[BRUTE_ROWS];
    int last_read[BRUTE_LIVES][BRUTE_ROWS];
    int life_now[BRUTE_TXNS + 1];
    int step;
};

/* Runs the schedule, each look at a row a walk back over all operations. */
void brute_run(struct run *run, const struct brute_schedule *schedule);

/* What a write (or START) leaves in the row; which predicates a value matches, as bits. */
int brute_image(const struct run *run, int row, int write);
int brute_match(const struct run *run, int value);

#endif
