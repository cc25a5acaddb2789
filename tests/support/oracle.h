/* oracle.h - an independent judge of what a run answered: a naive database, an array of cells, in which one transaction
 * runs at a time.
 *
 * A workload writes down every statement of an attempt with its reply; when the attempt commits it is replayed here.
 *   ORACLE_COMMIT_ORDER  the state all commits so far have left must give the same replies: the serial order is that
 *                        of the commits (rigorous locking, serial validation);
 *   ORACLE_SNAPSHOT      the state at one moment between the asking for the first statement and its reply must, and
 *                        nothing the transaction wrote or locked may have been changed after it (no lost update);
 *   ORACLE_STATEMENT     each SELECT must be explained by the state at one moment between its being asked for and its
 *                        reply, under the transaction's own writes; the rows it wrote or locked must at its commit
 *                        still be as they were replied (read committed);
 *   ORACLE_TIMESTAMP     the serial order is that of begin: all is judged at the end, in that order;
 *   ORACLE_OFF           nothing is judged.
 * A reply of SKIP LOCKED may leave rows out; LIMIT cuts the matching rows off, in key order. A failed statement has no
 * effect, a duplicate key must be there; what a savepoint undoes is undone, but what was read inside must be right (a
 * write that needs nothing of its row reads nothing). */
#ifndef CCSIM_TESTS_SUPPORT_ORACLE_H
#define CCSIM_TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text.h"
#include "sim/store/store.h"
#include "workloads/workload.h"

enum { ORACLE_KEYS = 24, ORACLE_STATEMENTS_MAX = 16 };
enum oracle_kind { ORACLE_OFF, ORACLE_COMMIT_ORDER, ORACLE_SNAPSHOT, ORACLE_STATEMENT, ORACLE_TIMESTAMP };

struct oracle_cell {
    int64_t value;
    bool present;
};
struct oracle_state {
    struct oracle_cell cells[ORACLE_KEYS];
};

/* A step and what came back; of savepoints the step alone. */
struct oracle_statement {
    struct step step;
    enum reply_status status;
    int reason;
    int64_t count;
    uint64_t commits_asked, commits_answered;
    struct reply_row rows[ORACLE_KEYS];
};

/* Zero is an attempt that has not begun. */
struct oracle_attempt {
    int count;
    bool asked, answered;
    uint64_t number;                          /* in order of begin, from 1 */
    uint64_t commits_asked, commits_answered; /* when the first statement was asked for, and when its reply came */
    struct oracle_statement statements[ORACLE_STATEMENTS_MAX];
};

struct oracle {
    enum oracle_kind kind;
    bool sees_blind;   /* is the old value of a row written unread certified, or only that the row was there? */
    bool leaves_out;   /* may a row written unread be left out, for an obsolete write? */
    int64_t first_key; /* of cell 0 */
    uint64_t attempts;
    VECTOR(struct oracle_attempt) pending; /* committed, to be judged at the end */
    uint64_t commits;
    struct oracle_state now;
    VECTOR(struct oracle_state) states; /* after so many commits */
    uint64_t changed[ORACLE_KEYS];      /* number of the latest commit that wrote the key */
    uint64_t replies;                   /* judged */
    uint64_t mismatches;                /* transactions that no state explains, and errors of the final content */
    struct text first;                  /* mismatch */
};

void oracle_init(struct oracle *oracle, enum oracle_kind kind, int64_t first_key);
void oracle_free(struct oracle *oracle);
/* The initial content; before the first commit. */
void oracle_set(struct oracle *oracle, int64_t key, int64_t value);

/* The attempt begins. */
void oracle_begin(struct oracle *oracle, struct oracle_attempt *attempt);
/* The attempt asks for `step`; `reply` answers the step asked for before. */
void oracle_ask(const struct oracle *oracle, struct oracle_attempt *attempt, const struct step *step);
void oracle_answer(const struct oracle *oracle, struct oracle_attempt *attempt, const struct reply *reply);

/* The attempt has committed: it is judged, and its writes are part of the truth. */
void oracle_commit(struct oracle *oracle, const struct oracle_attempt *attempt);

/* The committed content of the table must be the truth. */
void oracle_compare(struct oracle *oracle, struct store *store, struct table *table);

#endif
