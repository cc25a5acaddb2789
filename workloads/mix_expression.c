/* mix_expression.c - what stands in the brackets of a step: sums of variables, of what was read and of counts; tests on
 * them; predicates over the rows of a table. */
#include "workloads/mix.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SUGGESTION_BYTES = 160, TERMS_MAX = 8 };

/* ---- Variables ---- */

static bool unknown_variable(struct mix_scope *scope, const char *at, const char *name) {
    char suggestion[SUGGESTION_BYTES];
    struct mix_type *type = scope->type;
    const char **names = mem_new(type->variables.count + 1, sizeof *names);
    for (size_t i = 0; i < type->variables.count; i++) {
        names[i] = type->variables.items[i].name;
    }
    mix_fail(scope->reader, at, "unknown variable `%s`%s", name,
             text_suggestion(suggestion, sizeof suggestion, name, names, type->variables.count));
    mem_free(names);
    return false;
}

/* `a`, `c[3]`, or, inside an `each`, `c`: its element. Where the term finds it among values of the set's size. */
static bool read_variable(struct mix_scope *scope, int *variable, int64_t *element, bool *of_set) {
    struct mix_reader *reader = scope->reader;
    char name[MIX_NAME_MAX + 1];
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "a variable", name)) {
        return false;
    }
    *variable = mix_find_variable(scope->type, name);
    *element = 0;
    *of_set = false;
    if (*variable < 0) {
        return unknown_variable(scope, at, name);
    }
    size_t count = scope->type->variables.items[*variable].count;
    if (*reader->at == '[') {
        reader->at++;
        const char *number = reader->at;
        if (!mix_integer(reader, "a number of the set", element) || !mix_expect(reader, "]")) {
            return false;
        }
        (*element)--;
        return (*element >= 0 && *element < (int64_t)count) ||
               mix_fail(reader, number, "`%s` has the numbers 1 .. %zu", name, count);
    }
    *of_set = count > 0;
    return count == 0 || count == scope->round ||
           mix_fail(reader, at, "`%s` is a set of %zu: name one, `%s[1]`, or go through all with `each %s (..)`", name,
                    count, name, name);
}

static const struct mix_memory *find_memory(struct mix_scope *scope, int table, int variable, size_t *found) {
    const struct mix_memory *memory = NULL;
    *found = 0;
    for (size_t i = 0; i < scope->memory_count; i++) {
        const struct mix_memory *candidate = &scope->memories[i];
        if (candidate->variable == variable && (table < 0 || candidate->table == table)) {
            memory = candidate;
            ++*found;
        }
    }
    return memory;
}

/* `$a`, or `$account.a` where it was read in several tables. */
static bool read_seen(struct mix_scope *scope, struct mix_term *term) {
    struct mix_reader *reader = scope->reader;
    const char *at = reader->at;
    int table = -1, variable;
    int64_t element;
    bool of_set;
    size_t length = mix_name_length(reader->at), found;
    if (reader->at[length] == '.') {
        if (!mix_table_name(reader, &table)) {
            return false;
        }
        reader->at++;
    }
    if (!read_variable(scope, &variable, &element, &of_set)) {
        return false;
    }
    const struct mix_memory *memory = find_memory(scope, table, variable, &found);
    const char *name = scope->type->variables.items[variable].name;
    if (found == 0 && scope->skipped) {
        reader->failed = true; /* because of a mistake that has been told */
        return false;
    }
    if (found == 0) {
        return mix_fail(reader, at, "no step before this one reads `%s`%s%s", name, table >= 0 ? " in " : "",
                        table >= 0 ? reader->mix->tables.items[table].name : "");
    }
    if (found > 1) {
        return mix_fail(reader, at, "`%s` was read in several tables: write `$%s.%s`", name,
                        reader->mix->tables.items[memory->table].name, name);
    }
    term->kind = of_set ? MIX_TERM_SEEN_OF_SET : MIX_TERM_SEEN;
    term->slot = (uint16_t)(memory->slot + element);
    return true;
}

bool mix_remember(struct mix_scope *scope, int table, const struct mix_sum *row, int *slot, bool *of_set) {
    const struct mix_term *term = &scope->type->terms.items[row->first];
    *slot = -1;
    *of_set = false;
    bool is_value = term->kind == MIX_TERM_DRAWN || term->kind == MIX_TERM_DRAWN_OF_SET;
    if (row->count != 1 || (!is_value && term->kind != MIX_TERM_HELD)) {
        return true;
    }
    int variable = -1;
    for (size_t i = 0; i < scope->type->variables.count; i++) {
        const struct mix_variable *candidate = &scope->type->variables.items[i];
        size_t size = candidate->count > 0 ? candidate->count : 1;
        if ((candidate->source < MIX_SEQUENCE) == is_value && term->slot >= candidate->slot &&
            term->slot < candidate->slot + size) {
            variable = (int)i;
        }
    }
    CHECK(variable >= 0);
    size_t found, size = scope->type->variables.items[variable].count;
    const struct mix_memory *memory = find_memory(scope, table, variable, &found);
    if (memory == NULL) {
        size = size > 0 ? size : 1;
        if (scope->type->seen_count + size > MIX_SEEN_MAX) {
            return true; /* too many to be remembered: a `$` of it is refused */
        }
        memory = &scope->memories[scope->memory_count];
        scope->memories[scope->memory_count++] =
            (struct mix_memory){.table = table, .variable = variable, .slot = (uint16_t)scope->type->seen_count};
        scope->type->seen_count += size;
    }
    *of_set = term->kind == MIX_TERM_DRAWN_OF_SET;
    *slot = memory->slot + (is_value ? term->slot - scope->type->variables.items[variable].slot : 0);
    return true;
}

/* ---- Sums ---- */

static bool read_term(struct mix_scope *scope, struct mix_term *term) {
    struct mix_reader *reader = scope->reader;
    int variable;
    int64_t element;
    bool of_set;
    mix_blanks(reader);
    if (isdigit((unsigned char)*reader->at)) {
        term->kind = MIX_TERM_CONSTANT;
        return mix_integer(reader, "a whole number", &term->constant);
    }
    if (mix_take(reader, "$")) {
        return read_seen(scope, term);
    }
    if (mix_take_word(reader, "count")) {
        term->kind = MIX_TERM_COUNT;
        return true;
    }
    if (mix_take_word(reader, "sum")) {
        term->kind = MIX_TERM_SUM;
        scope->type->sums = true;
        return true;
    }
    if (mix_sees_word(reader, "round")) {
        if (scope->round == 0) {
            return mix_fail(reader, reader->at, "`round` is a number inside an `each` only");
        }
        mix_take_word(reader, "round");
        term->kind = MIX_TERM_ROUND;
        return true;
    }
    if (mix_take_word(reader, "number")) {
        term->kind = MIX_TERM_NUMBER;
        return true;
    }
    if (mix_name_length(reader->at) == 0) {
        return mix_fail(reader, reader->at,
                        "expected a number, a variable, or `$` and the variable of a row that was read");
    }
    if (!read_variable(scope, &variable, &element, &of_set)) {
        return false;
    }
    const struct mix_variable *v = &scope->type->variables.items[variable];
    term->kind = v->source >= MIX_SEQUENCE ? MIX_TERM_HELD : of_set ? MIX_TERM_DRAWN_OF_SET : MIX_TERM_DRAWN;
    term->slot = (uint16_t)(v->slot + element);
    return true;
}

/* The terms behind what there is of the sum, each with its sign. */
static bool read_terms(struct mix_scope *scope, struct mix_sum *sum, int sign) {
    struct mix_reader *reader = scope->reader;
    for (;;) {
        struct mix_term term = {.sign = sign};
        if (!read_term(scope, &term)) {
            return false;
        }
        vector_push(&scope->type->terms, term);
        sum->count++;
        if (sum->count > TERMS_MAX) {
            return mix_fail(reader, reader->at, "a sum has at most %d terms", TERMS_MAX);
        }
        if (mix_take(reader, "+")) {
            sign = 1;
        } else if (mix_take(reader, "-")) {
            sign = -1;
        } else {
            return true;
        }
    }
}

bool mix_read_sum(struct mix_scope *scope, struct mix_sum *sum) {
    *sum = (struct mix_sum){.first = (uint32_t)scope->type->terms.count};
    bool negative = mix_take(scope->reader, "-");
    return read_terms(scope, sum, negative ? -1 : 1);
}

bool mix_read_value(struct mix_scope *scope, struct mix_sum *sum, struct mix_sum *source) {
    *source = (struct mix_sum){0};
    if (!mix_take(scope->reader, "@")) {
        return mix_read_sum(scope, sum);
    }
    source->first = (uint32_t)scope->type->terms.count;
    struct mix_term row = {.sign = 1};
    if (!read_term(scope, &row)) {
        return false;
    }
    vector_push(&scope->type->terms, row);
    source->count = 1;
    *sum = (struct mix_sum){.first = (uint32_t)scope->type->terms.count};
    bool plus = mix_take(scope->reader, "+"), minus = !plus && mix_take(scope->reader, "-");
    return !(plus || minus) || read_terms(scope, sum, plus ? 1 : -1);
}

/* ---- Tests ---- */

static bool add_test(struct mix_reader *reader, struct mix_tests *tests, const struct mix_test *test) {
    if (tests->count == MIX_TESTS_MAX) {
        return mix_fail(reader, reader->at, "at most %d tests can be joined", MIX_TESTS_MAX);
    }
    tests->items[tests->count++] = *test;
    return true;
}

bool mix_read_tests(struct mix_scope *scope, struct mix_tests *tests) {
    struct mix_reader *reader = scope->reader;
    do {
        struct mix_test test = {0};
        if (!mix_read_sum(scope, &test.left) || !mix_operator(reader, &test.operator) ||
            !mix_read_sum(scope, &test.right) || !add_test(reader, tests, &test)) {
            return false;
        }
    } while (mix_take(reader, "&"));
    return true;
}

/* ---- Predicates ---- */

bool mix_sees_predicate(struct mix_reader *reader) {
    mix_blanks(reader);
    size_t length = mix_name_length(reader->at);
    bool is_column = (length == 1 && reader->at[0] == 'v') || (length == 2 && strncmp(reader->at, "id", 2) == 0);
    return *reader->at == '*' || is_column;
}

/* A test on the id bounds the scan, if it can. */
static bool bound(struct mix_scope *scope, struct mix_instruction *statement, const struct mix_test *test,
                  const char *at) {
    struct mix_reader *reader = scope->reader;
    bool low = test->operator== CONDITION_GE || test->operator== CONDITION_EQ;
    bool high = test->operator== CONDITION_LE || test->operator== CONDITION_EQ;
    if (!low && !high) {
        return mix_fail(reader, at, "ids are tested with = <= >=, or by their remainder (id%%2=0)");
    }
    if ((low && statement->low.count > 0) || (high && statement->high.count > 0)) {
        return mix_fail(reader, at, "the ids are bounded on this side already");
    }
    statement->low = low ? test->right : statement->low;
    statement->high = high ? test->right : statement->high;
    return true;
}

static bool read_row_test(struct mix_scope *scope, struct mix_instruction *statement) {
    struct mix_reader *reader = scope->reader;
    struct mix_test test = {0};
    mix_blanks(reader);
    const char *at = reader->at;
    test.of_id = mix_take_word(reader, "id");
    if (!test.of_id && !mix_take_word(reader, "v")) {
        return mix_fail(reader, at, "expected a test on the value v or the id of a row");
    }
    if (mix_take(reader, "%")) {
        const char *number = reader->at;
        if (!mix_integer(reader, "a divisor", &test.modulus)) {
            return false;
        }
        if (test.modulus < 1) {
            return mix_fail(reader, number, "a divisor is 1 or more");
        }
    }
    if (!mix_operator(reader, &test.operator) || !mix_read_sum(scope, &test.right)) {
        return false;
    }
    if (test.of_id && test.modulus == 0) {
        return bound(scope, statement, &test, at);
    }
    if (statement->tests.count == 2) {
        return mix_fail(reader, at, "a statement has at most two tests besides bounds of the id");
    }
    return add_test(reader, &statement->tests, &test);
}

bool mix_read_predicate(struct mix_scope *scope, struct mix_instruction *statement) {
    struct mix_reader *reader = scope->reader;
    if (mix_take(reader, "*")) {
        return true;
    }
    do {
        if (!read_row_test(scope, statement)) {
            return false;
        }
    } while (mix_take(reader, "&"));
    return true;
}
