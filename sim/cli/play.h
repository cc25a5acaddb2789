/* play.h - how a played schedule is shown: as a table, as JSON, as a graph. Private to play*.c. */
#ifndef CCSIM_CLI_PLAY_H
#define CCSIM_CLI_PLAY_H

#include <jansson.h>

#include "sim/base/text.h"
#include "sim/exec/player.h"

/* One column a transaction, one line a step; `locks`: the lock table after each step. */
void play_table(const struct play *play, bool locks, struct text *out);
/* One line an algorithm. */
void play_comparison(const struct play *plays, size_t count, struct text *out);
/* Who waited for whom, for graphviz. */
void play_dot(const struct play *play, struct text *out);
json_t *play_json(const struct play *play, bool locks);

/* The op of a step as written, "c1" for an implied commit. */
void play_add_op(const struct play *play, uint32_t step, struct text *out);
/* "x=1 y=2": the rows that are there in the end, by id as written; "nothing" if none is. */
void play_add_final(const struct play *play, struct text *out);
/* "page 3": the granule that a coarser lock is on. */
void play_add_granule(const struct play_lock *lock, struct text *out);
/* "x: T1 X (queue: T2 X) | gap before y: T1" */
void play_add_locks(const struct play *play, const struct play_moment *moment, struct text *out);

#endif
