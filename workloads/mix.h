/* mix.h - transactions that are written in the config, as they are once they have been read: what mix_read.c,
 * mix_variable.c and mix_steps.c make of the text, and mix.c runs. docs/MIX.md is the language.
 *
 * A kind of transaction is a list of instructions with forward jumps; only MIX_AGAIN goes back, to the start of its
 * `each`. Values live in three places: what was drawn (arguments, kept over restarts), what an attempt took or found
 * (`held`), and what it last read of a row (`seen`). An expression is a sum of signed terms, each of which names one
 * such place.
 *
 * Invariants: a program ends with MIX_COMMIT or MIX_ROLLBACK; every term refers to a place that the program has; a
 * savepoint is set before it is rolled back to. They are checked when the text is read, and hold for ever after. */
#ifndef CCSIM_WORKLOADS_MIX_H
#define CCSIM_WORKLOADS_MIX_H

#include "sim/base/memory.h"
#include "workloads/program.h"

enum {
    MIX_TYPES_MAX = 32,
    MIX_VALUES_MAX = 128, /* drawn values of a transaction; a set counts its rows */
    MIX_HELD_MAX = 16,
    MIX_SEEN_MAX = 64,
    MIX_STEPS_MAX = 4096,
    MIX_KEYS_MAX = 8, /* rows of one statement */
    MIX_TESTS_MAX = 4,
    MIX_EXCLUDED_MAX = 4,
    MIX_NAME_MAX = 32
};

struct mix_table {
    char *name;
    int64_t rows, value;
    bool grows; /* some step inserts: rows may stand behind the last one */
};

/* Where a scan without bounds ends. */
static inline int64_t mix_last_id(const struct mix_table *table) { return table->grows ? INT64_MAX : table->rows; }

/* ---- Values ---- */

enum mix_term_kind {
    MIX_TERM_CONSTANT,
    MIX_TERM_DRAWN,        /* slot of the arguments */
    MIX_TERM_DRAWN_OF_SET, /* the one whose turn it is in `each` */
    MIX_TERM_HELD,
    MIX_TERM_SEEN,
    MIX_TERM_SEEN_OF_SET,
    MIX_TERM_COUNT, /* rows of the latest statement */
    MIX_TERM_SUM,   /* of their values */
    MIX_TERM_ROUND, /* of the loop it stands in, from 1 */
    MIX_TERM_NUMBER /* the transaction's own */
};
struct mix_term {
    enum mix_term_kind kind;
    uint16_t slot;
    int sign;
    int64_t constant;
};
struct mix_sum { /* terms of the type, `count` of them from `first`; none: there is no such value */
    uint32_t first, count;
};

enum mix_source {
    MIX_ROW,      /* uniform over the ids low .. high of a table */
    MIX_ZIPF,     /* skewed, the same */
    MIX_HOT,      /* `share` of the draws to the first ids, up to `middle` */
    MIX_BETWEEN,  /* a number low .. high */
    MIX_CHANCE,   /* 1 with the chance of `share`, else 0 */
    MIX_CONSTANT, /* low */
    MIX_SEQUENCE, /* held: the next number of a table's sequence, taken by every attempt */
    MIX_LAST,     /* held: the last number taken of it */
    MIX_FOUND     /* held: the row that a step found (`as`) */
};
struct mix_variable {
    char *name;
    enum mix_source source;
    int table;     /* of a row; -1: a number */
    size_t count;  /* of a set; 0: no set */
    uint16_t slot; /* of the arguments, or held */
    int64_t low, high, middle;
    double share;
    struct zipf zipf;
    bool sorted;
    uint16_t excluded[MIX_EXCLUDED_MAX]; /* slots whose rows it must not be */
    size_t excluded_count;
};

/* ---- Programs ---- */

struct mix_test { /* left OPERATOR right; in a predicate the left side is the row */
    struct mix_sum left, right;
    enum condition_operator operator;
    bool of_id;
    int64_t modulus;
};
struct mix_tests {
    struct mix_test items[MIX_TESTS_MAX];
    size_t count;
};

enum mix_code {
    MIX_STATEMENT,
    MIX_THINK,
    MIX_SAVEPOINT,
    MIX_ROLLBACK_TO,
    MIX_IF,     /* go to `target` unless all tests hold */
    MIX_ELSE,   /* go to `target` if the latest statement found a row */
    MIX_JUMP,   /* go to `target` */
    MIX_EACH,   /* the first round of a loop, which ends at `target` */
    MIX_AGAIN,  /* the next round, from `target` on, if there is one */
    MIX_EXPECT, /* notes if a test does not hold */
    MIX_COMMIT,
    MIX_ROLLBACK
};
enum mix_last { MIX_NOT_LAST, MIX_IS_LAST, MIX_LAST_IN_LAST_ROUND };

struct mix_instruction {
    enum mix_code code;
    uint32_t target;
    uint32_t loop_count;    /* rounds of the loop that it belongs to; 0: none */
    struct mix_tests tests; /* IF, EXPECT; of a statement, those on the row's value */
    struct distribution think;
    int savepoint;
    /* a statement */
    struct step form; /* all that does not change */
    int table;
    struct mix_sum rows[MIX_KEYS_MAX];
    int seen[MIX_KEYS_MAX]; /* where the value goes; -1: nowhere */
    bool seen_of_set[MIX_KEYS_MAX];
    size_t row_count; /* 0: a predicate */
    struct mix_sum low, high, operand, source;
    int found; /* held slot of the first row it finds; -1: none */
    enum mix_last last;
    /* rows still to be accessed from here on: of the current round, and beside it */
    uint32_t left_round, left_per_round;
    uint64_t left_beside;
};

struct mix_type {
    char *name;
    double weight, rollback;
    bool draws_rollback;
    int isolation; /* enum level, or LEVEL_OWN */
    enum declaration declares;
    struct retry retry;
    struct option_call delay;
    bool has_delay;
    VECTOR(struct mix_variable) variables;
    VECTOR(struct mix_term) terms;
    VECTOR(struct mix_instruction) program;
    size_t value_count, held_count, seen_count;
    bool tells;  /* its footprint is known when it begins */
    bool sums;   /* some expression uses `sum` */
    bool writes; /* or locks */
};

/* ---- Invariants ---- */

enum mix_measure { MIX_SUM, MIX_COUNT, MIX_MIN, MIX_MAX, MIX_COMMITS };
struct mix_invariant_term {
    enum mix_measure measure;
    int of; /* table; of COMMITS: type */
    int sign;
};
struct mix_invariant {
    char *name, *text; /* text: what was written left of the relation */
    struct mix_invariant_term terms[MIX_TESTS_MAX];
    size_t term_count;
    enum condition_operator operator;
    int64_t constant; /* of `constant`: as the tables begin */
};

struct mix {
    VECTOR(struct mix_table) tables;
    VECTOR(struct mix_type) types;
    VECTOR(struct mix_invariant) invariants;
    int level; /* that the invariants need */
    double weight;
    size_t value_count; /* of all types together */
};

/* ---- Reading ---- */

/* The text of one entry, from left to right. The first mistake ends it. */
struct mix_reader {
    const struct workload_faults *faults;
    struct mix *mix;
    size_t entry;
    const char *text, *at;
    bool failed;
    bool complained; /* of any entry so far */
};

/* mix_scan.c. Those that return false have told why, but for those that take or see. */
bool mix_fail(struct mix_reader *reader, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void mix_blanks(struct mix_reader *reader);
bool mix_sees(struct mix_reader *reader, const char *sign);
bool mix_take(struct mix_reader *reader, const char *sign);
bool mix_sees_word(struct mix_reader *reader, const char *word);
bool mix_take_word(struct mix_reader *reader, const char *word);
bool mix_expect(struct mix_reader *reader, const char *sign);
bool mix_is_at_end(struct mix_reader *reader);
bool mix_at_end(struct mix_reader *reader);
size_t mix_name_length(const char *at);
bool mix_name(struct mix_reader *reader, const char *what, char name[MIX_NAME_MAX + 1]);
bool mix_integer(struct mix_reader *reader, const char *what, int64_t *value);
bool mix_operator(struct mix_reader *reader, enum condition_operator *operator);
/* What stands up to the bracket that closes here, for a parser of values. */
bool mix_until_bracket(struct mix_reader *reader, char *buffer, size_t size);
bool mix_table_name(struct mix_reader *reader, int *table);
int mix_find_table(const struct mix *mix, const char *name);

/* mix_variable.c */
/* `key`: what follows `let `. */
void mix_read_variable(struct mix_reader *reader, struct mix_type *type, const char *key);
int mix_find_variable(const struct mix_type *type, const char *name);
/* Adds a variable with this name, if it is a good one and not taken. */
struct mix_variable *mix_add_variable(struct mix_reader *reader, struct mix_type *type, const char *at,
                                      const char *name);

/* What a step may refer to, where it stands. */
struct mix_scope {
    struct mix_reader *reader;
    struct mix_type *type;
    size_t round; /* of the loop it is in; 0: in none */
    bool skipped; /* a faulty step was passed over: what it would have read is not known */
    struct {
        char name[MIX_NAME_MAX + 1];
    } savepoints[STEP_SAVEPOINTS_MAX]; /* set on every way that leads here */
    size_t savepoint_count, savepoint_number;
    struct mix_memory { /* rows whose values are remembered */
        int table;
        int variable;
        uint16_t slot;
    } memories[MIX_SEEN_MAX];
    size_t memory_count;
};

/* mix_expression.c */
bool mix_read_sum(struct mix_scope *scope, struct mix_sum *sum);
/* A value that is written: may begin with `@row`, which is read in the statement. */
bool mix_read_value(struct mix_scope *scope, struct mix_sum *sum, struct mix_sum *source);
/* `$a>=1 & count=0` */
bool mix_read_tests(struct mix_scope *scope, struct mix_tests *tests);
/* `*`, `v%3=0 & id<=b` */
bool mix_read_predicate(struct mix_scope *scope, struct mix_instruction *statement);
bool mix_sees_predicate(struct mix_reader *reader);
/* Where the value of the row that the sum names is kept from now on; -1 if it is no variable. */
bool mix_remember(struct mix_scope *scope, int table, const struct mix_sum *row, int *slot, bool *of_set);

/* mix_steps.c */
void mix_read_steps(struct mix_reader *reader, struct mix_type *type);

/* mix_flow.c: what follows from the instructions alone: which statement is the last, how much is left. */
void mix_complete(const struct mix *mix, struct mix_type *type);

/* mix_read.c */
extern const struct workload_section mix_sections[];
const struct option *mix_section_option(const char *section, const char *key);
/* NULL if there were mistakes, all of which are told. */
struct mix *mix_read(const struct workload_entry *entries, size_t count, const struct workload_faults *faults);
void mix_free(struct mix *mix);

/* mix_draw.c: the values of a kind, and which kind it is. */
void mix_draw_values(const struct mix_type *type, struct stream *stream, int64_t *values);
size_t mix_draw_type(const struct mix *mix, struct stream *stream);

/* mix_plan.c: can the kind tell what it will access, and what that is, as workload_ops.plan. `tables` are the run's. */
bool mix_tells(const struct mix_type *type);
size_t mix_plan(const struct mix *mix, const struct mix_type *type, struct table *const *tables, const int64_t *values,
                struct planned *out, size_t most);

/* mix_audit.c */
/* `commits` by type. */
void mix_audit(const struct mix *mix, const struct store *store, const uint64_t *commits, struct workload_audit *audit);

#endif
