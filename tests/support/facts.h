/* facts.h - what a played schedule says, in short sentences, of which the lecture schedules' expectations are made.
 *
 *   4 waits for T1, T3      4 resumes after 6     4 runs after 6 (put off till then)    4 never resumes    4 never runs
 *   4 reads x=1 y=2         4 reads nothing       4 changes 1      4 fails: nowait       4 is aborted: deadlock
 *   4 is skipped            T2 is killed by 4: wounded
 *   T1 commits, T1 rolls back, T1 is aborted, T1 is unfinished        ends T2 T1         deadlock T1 T2
 *   final x=1 y=2           after 4: x: T1 S, T2 S (queue: T3 X)
 *   serial order T1 T2      not serializable: T1 T2    not serializable but view-serializable
 *   found P4                no P4                      recoverable, not cascadeless, not strict, rigorous
 * Steps are numbered from 1, as in the table of `ccsim play`. */
#ifndef CCSIM_TESTS_SUPPORT_FACTS_H
#define CCSIM_TESTS_SUPPORT_FACTS_H

#include <stdbool.h>

#include "sim/base/text.h"
#include "sim/exec/player.h"

/* Adds every fact, a line each. */
void facts_add(const struct play *play, struct text *out);
/* Is `fact` one of the lines? */
bool facts_have(const struct text *facts, const char *fact);

#endif
