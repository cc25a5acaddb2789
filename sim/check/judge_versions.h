/* judge_versions.h - judges what ran over several versions of every row: reads say which version they saw, versions
 * what they stand behind. The serialization graph has an edge from a version's writer to who saw it and to the
 * writer of the next version, and from who saw a version to the writer of the next (Bernstein, Goodman 1983; Adya
 * 2000, predicates included).
 *
 * Strict, rigorous and P0 to P3 speak of one version in its order of time: here they are left open and not looked
 * for. */
#ifndef CCSIM_CHECK_JUDGE_VERSIONS_H
#define CCSIM_CHECK_JUDGE_VERSIONS_H

#include "sim/check/judge.h"

#define VERSIONS_NONE UINT32_MAX /* no life: the row as it was at the start; no predicate */

/* An attempt of a transaction. */
struct versions_life {
    uint32_t txn;     /* of the schedule */
    unsigned attempt; /* 1, 2, ... */
    bool committed, ended;
    uint32_t first, last, end; /* operations; end: VERSIONS_NONE while unfinished */
};

/* A read of a row, or a version installed, in the order of time: its index is its time. */
struct versions_op {
    uint32_t life, row;
    bool write;
    uint32_t other;     /* read: the writer of the version seen; write: of the one it stands behind */
    uint32_t predicate; /* of a read by a scan, else VERSIONS_NONE */
    bool matched;       /* by a scan: the version seen is one of those asked for */
    bool absent;        /* write: the row is not there in this version */
    int64_t value;      /* write */
    uint32_t step;      /* of the schedule, for the witness */
};

struct versions_history {
    const struct schedule *schedule; /* names rows, predicates and steps */
    const struct versions_life *lives;
    size_t life_count;
    const struct versions_op *ops;
    size_t op_count;
};

void judge_versions(struct verdict *verdict, const struct versions_history *input);

#endif
