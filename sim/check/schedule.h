/* schedule.h - written schedules: what `ccsim check` judges and `ccsim play` plays, parsed.
 *
 * A text holds lines: `# comment`, header lines (`init x=10 y=20`, `pred P: v>=10` or short `P: v>=10`, `id x=7`) and
 * schedules, one a line; a line that begins with a blank goes on with the schedule above it. A header line holds for
 * the schedules below it, until another `init` (or `pred` of the same name, `id` of the same row) replaces it.
 *
 * Everything is numbered: rows, predicates, transactions and savepoint names are indices into the schedule's tables,
 * in order of first appearance. All mistakes of a text are collected; with any there are no schedules to use. */
#ifndef CCSIM_CHECK_SCHEDULE_H
#define CCSIM_CHECK_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/condition.h"

/* Bounds with a message. Constants and steps are bounded so that no sum of the former leaves int64_t. */
enum {
    SCHEDULE_STEPS_MAX = 1000000,
    SCHEDULE_NAME_MAX = 64,
    SCHEDULE_NUMBER_MAX = 999999999,
    SCHEDULE_MISTAKES_MAX = 1000
};
#define SCHEDULE_CONSTANT_MAX INT64_C(1000000000000)
#define SCHEDULE_NONE         UINT32_MAX /* no row, predicate or savepoint */

enum schedule_kind {
    SCHEDULE_BEGIN,       /* b1 */
    SCHEDULE_READ,        /* r1(x,y) */
    SCHEDULE_WRITE,       /* w1(x,5) w1(P,5): update */
    SCHEDULE_UPDATE_LOCK, /* u1(x) u1(P): SELECT ... FOR UPDATE */
    SCHEDULE_SHARE_LOCK,  /* s1(x) s1(P): SELECT ... FOR SHARE */
    SCHEDULE_QUERY,       /* q1(P): SELECT ... WHERE P */
    SCHEDULE_INSERT,      /* i1(z,5) */
    SCHEDULE_DELETE,      /* d1(x) d1(P) */
    SCHEDULE_SAVEPOINT,   /* p1(s) */
    SCHEDULE_ROLLBACK_TO, /* f1(s) */
    SCHEDULE_COMMIT,      /* c1 */
    SCHEDULE_ROLLBACK,    /* a1 */
    SCHEDULE_KINDS
};

/* What a write or insert puts into its row. */
enum schedule_form {
    SCHEDULE_ANY,       /* w1(x): nothing is said about the value */
    SCHEDULE_CONSTANT,  /* w1(x,5): constant */
    SCHEDULE_ADD,       /* w1(x,+=5) w1(x,-=5): the row's current value + constant, in one statement */
    SCHEDULE_LAST_READ, /* w1(x,$y+1): what this transaction last read of row `row`, + constant */
    SCHEDULE_INSIDE,    /* w1(x,@y+1): what row `row` has, read inside the statement, + constant */
};

struct schedule_value {
    enum schedule_form form;
    uint32_t row; /* of SCHEDULE_LAST_READ and SCHEDULE_INSIDE, else SCHEDULE_NONE */
    int64_t constant;
};

struct schedule_step {
    enum schedule_kind kind;
    uint32_t txn;                  /* index into txns */
    uint32_t first_row, row_count; /* its rows: row_list[first_row ...]; 0 with a predicate, and where there are none */
    uint32_t predicate;            /* or SCHEDULE_NONE */
    struct schedule_value value;   /* of writes and inserts */
    bool conditional;              /* if=: only where the current value is `expected` */
    int64_t expected;
    bool nowait, skip;                     /* u and s: NOWAIT, SKIP LOCKED */
    uint32_t limit;                        /* q, u, s with a predicate: LIMIT; 0: none */
    bool read_only, deferrable, immediate; /* b; deferrable implies read_only */
    uint8_t level;                         /* b: enum certifier_level + 1, what it asks for; 0: nothing is said */
    uint32_t savepoint;                    /* p and f: index into savepoints, the names */
    uint32_t target;                       /* f: the index of the p step that it goes back to */
    const char *text;                      /* as written, `length` bytes, not terminated */
    uint32_t length;
    uint32_t line, column; /* from 1; a column is a byte */
};

struct schedule_row {
    char *name;
    int64_t id;
    bool present; /* at the start; without `init` every row named is, with value 0 */
    int64_t value;
};

struct schedule_predicate {
    char *name;
    bool declared; /* else it matches every row */
    struct condition condition;
};

struct schedule {
    struct schedule_row *rows;
    size_t row_count;
    struct schedule_predicate *predicates;
    size_t predicate_count;
    int64_t *txns; /* the number of each: r12(x) is of transaction 12 */
    size_t txn_count;
    char **savepoints;
    size_t savepoint_count;
    uint32_t *row_list;
    struct schedule_step *steps;
    size_t step_count;
    bool with_init; /* an init line or --init says which rows are there */
    uint32_t line;  /* where it begins */
};

struct schedule_mistake {
    const char *source;
    uint32_t line, column;
    char *sentence;
};

/* What was read from one or several texts. {0} is the empty one. */
struct schedule_book {
    struct schedule *schedules; /* in order; not to be used while there are mistakes */
    size_t count, capacity;
    struct schedule_mistake *mistakes;
    size_t mistake_count, mistake_capacity;
    char **texts; /* copies of what was parsed: the steps point into them */
    size_t text_count, text_capacity;
};

/* Header lines from the command line; they replace those of the texts (a predicate or a row by its name). */
struct schedule_header {
    const char *const *inits; /* "x=10,y=20" */
    size_t init_count;
    const char *const *predicates; /* "P: v%3=0" */
    size_t predicate_count;
};

/* Parses `size` bytes and adds the schedules, or the mistakes, to the book. `source` names the text in messages and
 * outlives the book; the text is copied. `header` may be NULL; its mistakes are told as those of `--init`, `--pred`. */
void schedule_parse(struct schedule_book *book, const char *source, const char *text, size_t size,
                    const struct schedule_header *header);
void schedule_book_free(struct schedule_book *book);

/* Adds a mistake; the step's place is where it stands. Beyond SCHEDULE_MISTAKES_MAX none are added. */
void schedule_mistake(struct schedule_book *book, const char *source, uint32_t line, uint32_t column,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Does the text look like a schedule rather than like the name of a file: has it a bracket or a blank, is it empty, or
 * one word that begins as a step does: c1, r1, b1:ro? */
bool schedule_looks_like(const char *text);

#endif
