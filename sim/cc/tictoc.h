/* tictoc.h - what the tests' oracle has to know of `tictoc`: its serial order. */
#ifndef CCSIM_CC_TICTOC_H
#define CCSIM_CC_TICTOC_H

#include <stdint.h>

struct txn;

/* The commit timestamp of a sealed transaction. Those that share one are in the order of their validations. */
uint64_t tictoc_commit_time(const struct txn *txn);

#endif
