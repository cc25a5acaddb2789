/* shard.h - an experiment in several parts, for several machines: which shard computes which run.
 *
 * Runs are dealt out in a hashed order: with every N-th run in the order of the rows, a shard could get one algorithm
 * only, and the shard with the slowest would keep all waiting. Every shard deals alike, from the number of runs. */
#ifndef CCSIM_LAB_SHARD_H
#define CCSIM_LAB_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text.h"

/* Shard `number` of `count`, from 1; 0 of 0: all of the experiment. */
struct shard {
    uint32_t number, count;
};
enum { SHARDS_MAX = 100000 };

/* "3/8". False with a sentence. */
bool shard_parse(const char *words, struct shard *shard, struct text *error);

/* From what the launcher (Slurm, mpirun, Kubernetes) left in the environment; `source` says from which variables.
 * False with a sentence if there is none, or if what is there makes no sense. */
bool shard_from_environment(struct shard *shard, struct text *source, struct text *error);

/* The shard of every job, 1 .. count; to be freed with mem_free. */
uint32_t *shard_deal(size_t jobs, uint32_t count);

#endif
