/* judge.h - judges a written schedule as it stands: one version of every row, steps in their order.
 *
 * Serializability is that of the committed projection: steps of transactions that did not commit, and writes that were
 * taken back, make no edges. Definitions: docs/MODEL.md. All but view-serializability takes time nearly linear in the
 * number of steps; view-serializability is an exact search and is left open above JUDGE_VIEW_MAX transactions. */
#ifndef CCSIM_CHECK_JUDGE_H
#define CCSIM_CHECK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text.h"
#include "sim/check/anomaly.h"
#include "sim/check/schedule.h"

enum { JUDGE_VIEW_MAX = 8 };

enum judge_property {
    JUDGE_CONFLICT_SERIALIZABLE,
    JUDGE_VIEW_SERIALIZABLE,
    JUDGE_RECOVERABLE,
    JUDGE_CASCADELESS,
    JUDGE_STRICT,
    JUDGE_RIGOROUS,
    JUDGE_PROPERTIES
};

/* Isolation levels, weakest first. */
enum judge_level { JUDGE_RU, JUDGE_RC, JUDGE_RR, JUDGE_SI, JUDGE_SER, JUDGE_LEVELS };
extern const char *const judge_level_names[JUDGE_LEVELS]; /* "ru", ... */

enum judge_answer { JUDGE_NO, JUDGE_YES, JUDGE_OPEN };

struct judge_finding {
    bool found;
    struct text witness; /* a sentence */
};

struct verdict {
    enum judge_answer properties[JUDGE_PROPERTIES];
    struct text reasons[JUDGE_PROPERTIES]; /* a sentence, whatever the answer */
    struct judge_finding anomalies[ANOMALY_COUNT];
    struct judge_finding broken[JUDGE_LEVELS]; /* found: the schedule is not what the level allows */
    int64_t *order;                            /* transactions: a serial order, or the cycle */
    size_t order_count;
    int64_t *members;                          /* the committed transactions, the smallest number first */
    size_t committed, rolled_back, unfinished; /* transactions; an attempt that was rolled back counts as one */
};

/* Judges; false: the schedule's predicates visit too many rows, see HISTORY_OPS_MAX. */
bool judge(struct verdict *verdict, const struct schedule *schedule);
void verdict_free(struct verdict *verdict);

/* The conflict graph, every pair of conflicting transactions once: calls `visit` with the two numbers, in order, and
 * the steps that conflict. Of a schedule with more than JUDGE_PAIRS_MAX operations only neighbours in conflict are
 * told: the others follow from them. */
enum { JUDGE_PAIRS_MAX = 500 };
void judge_each_conflict(const struct schedule *schedule,
                         void (*visit)(int64_t from, int64_t to, const char *steps, void *user), void *user);

#endif
