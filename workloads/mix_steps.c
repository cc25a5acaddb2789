/* mix_steps.c - `steps = ...`: from the notation to instructions.
 *
 *   steps      step step ...
 *   step       statement [as NAME] [else action]   if(tests) action [else action]   each NAME action
 *              think(TIME)   p(NAME)   f(NAME)   expect(tests)   rollback   commit
 *   statement  r(T rows)  u s d: rows or predicate  q(T predicate)  w(T row|predicate, value[, if>=n])  i(T row, value)
 *              with :nowait, :skip, :1
 *   action     (steps)   rollback   commit
 *
 * After a mistake in a step the next one of the outermost level is read all the same, so that all mistakes are told. */
#include "workloads/mix.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/option_value.h"

enum { DEPTH_MAX = 16, SUGGESTION_BYTES = 160 };

/* What the brackets of a statement may hold. */
enum { ROW = 1, ROWS = 2, PREDICATE = 4, VALUE = 8, CHANGE = 16, PATIENCE = 32, LIMIT = 64 };

static const struct {
    char letter;
    enum step_kind kind;
    enum step_locking locking;
    unsigned takes;
} statements[] = {
    {'r', STEP_SELECT, LOCKING_NONE, ROWS},
    {'q', STEP_SELECT, LOCKING_NONE, PREDICATE | LIMIT},
    {'u', STEP_SELECT, LOCKING_UPDATE, ROWS | PREDICATE | PATIENCE | LIMIT},
    {'s', STEP_SELECT, LOCKING_SHARE, ROWS | PREDICATE | PATIENCE | LIMIT},
    {'w', STEP_UPDATE, LOCKING_NONE, ROW | PREDICATE | VALUE | CHANGE},
    {'d', STEP_DELETE, LOCKING_NONE, ROW | PREDICATE},
    {'i', STEP_INSERT, LOCKING_NONE, ROW | VALUE},
};
enum { STATEMENTS = sizeof statements / sizeof statements[0] };

static bool read_steps(struct mix_scope *scope, int depth);

static size_t emit(struct mix_scope *scope, const struct mix_instruction *instruction) {
    vector_push(&scope->type->program, *instruction);
    struct mix_instruction *added = &scope->type->program.items[scope->type->program.count - 1];
    added->loop_count = (uint32_t)scope->round;
    return scope->type->program.count - 1;
}

static size_t emit_code(struct mix_scope *scope, enum mix_code code) {
    return emit(scope, &(struct mix_instruction){.code = code, .found = -1});
}

/* The jump at `from` leads to what comes next. */
static void land(struct mix_scope *scope, size_t from) {
    scope->type->program.items[from].target = (uint32_t)scope->type->program.count;
}

/* ---- Statements ---- */

static bool read_rows(struct mix_scope *scope, struct mix_instruction *statement, bool several) {
    struct mix_reader *reader = scope->reader;
    do {
        if (statement->row_count == MIX_KEYS_MAX) {
            return mix_fail(reader, reader->at, "a statement has at most %d rows", MIX_KEYS_MAX);
        }
        if (!mix_read_sum(scope, &statement->rows[statement->row_count++])) {
            return false;
        }
    } while (several && mix_take(reader, ","));
    return true;
}

/* `5`, `+=n`, `-=n`, `$b+1`, `@b+1`; nothing: the transaction's number. */
static bool read_value(struct mix_scope *scope, struct mix_instruction *statement, unsigned takes) {
    struct mix_reader *reader = scope->reader;
    if (!mix_take(reader, ",")) {
        struct mix_term number = {.kind = MIX_TERM_NUMBER, .sign = 1};
        statement->operand = (struct mix_sum){(uint32_t)scope->type->terms.count, 1};
        vector_push(&scope->type->terms, number);
        return true;
    }
    mix_blanks(reader);
    const char *at = reader->at;
    bool adds = mix_take(reader, "+="), subtracts = !adds && mix_take(reader, "-=");
    if (adds || subtracts) {
        statement->form.value = VALUE_ADD;
        if ((takes & CHANGE) == 0) {
            return mix_fail(reader, at, "a row that is inserted has no value to add to");
        }
        if (!mix_read_sum(scope, &statement->operand)) {
            return false;
        }
        for (uint32_t i = 0; subtracts && i < statement->operand.count; i++) {
            struct mix_term *term = &scope->type->terms.items[statement->operand.first + i];
            term->sign = -term->sign;
        }
        return true;
    }
    return mix_read_value(scope, &statement->operand, &statement->source);
}

/* `, if>=3` */
static bool read_condition(struct mix_scope *scope, struct mix_instruction *statement, unsigned takes) {
    struct mix_reader *reader = scope->reader;
    if (!mix_take(reader, ",")) {
        return true;
    }
    struct mix_test test = {0};
    const char *at = reader->at;
    if ((takes & CHANGE) == 0 || !mix_take_word(reader, "if")) {
        return mix_fail(reader, at, (takes & CHANGE) != 0 ? "expected a condition, such as if=3" : "expected `)`");
    }
    if (!mix_operator(reader, &test.operator) || !mix_read_sum(scope, &test.right)) {
        return false;
    }
    if (statement->tests.count == 2) {
        return mix_fail(reader, at, "a statement has at most two tests besides bounds of the id");
    }
    statement->tests.items[statement->tests.count++] = test;
    return true;
}

static bool read_target(struct mix_scope *scope, struct mix_instruction *statement, unsigned takes) {
    struct mix_reader *reader = scope->reader;
    bool scans = mix_sees_predicate(reader);
    const char *at = reader->at;
    if (scans && (takes & PREDICATE) == 0) {
        return mix_fail(reader, at, "expected a row, not a predicate");
    }
    if (!scans && (takes & (ROW | ROWS)) == 0) {
        return mix_fail(reader, at, "expected a predicate, such as *, v=0 or id<=2");
    }
    statement->form.scan = scans;
    return scans ? mix_read_predicate(scope, statement) : read_rows(scope, statement, (takes & ROWS) != 0);
}

/* `:nowait`, `:skip`, `:1` */
static bool read_modifiers(struct mix_scope *scope, struct mix_instruction *statement, unsigned takes) {
    struct mix_reader *reader = scope->reader;
    while (*reader->at == ':') {
        const char *at = ++reader->at;
        bool nowait = mix_take_word(reader, "nowait"), skip = !nowait && mix_take_word(reader, "skip");
        if (nowait || skip) {
            statement->form.patience = nowait ? PATIENCE_NOWAIT : PATIENCE_SKIP_LOCKED;
            if ((takes & PATIENCE) == 0) {
                return mix_fail(reader, at, "only u and s can be told not to wait");
            }
            continue;
        }
        int64_t limit;
        if (!isdigit((unsigned char)*at)) {
            return mix_fail(reader, at, "expected nowait, skip, or a limit of rows");
        }
        if (!mix_integer(reader, "a limit of rows", &limit)) {
            return false;
        }
        if ((takes & LIMIT) == 0 || !statement->form.scan || limit < 1 || limit > INT32_MAX) {
            return mix_fail(reader, at, "a limit is 1 or more, and of a predicate that q, u or s read");
        }
        statement->form.limit = (int32_t)limit;
    }
    return true;
}

static bool remember_rows(struct mix_scope *scope, struct mix_instruction *statement) {
    for (size_t i = 0; i < statement->row_count; i++) {
        statement->seen[i] = -1;
        if (statement->form.kind == STEP_SELECT && !mix_remember(scope, statement->table, &statement->rows[i],
                                                                 &statement->seen[i], &statement->seen_of_set[i])) {
            return false;
        }
    }
    return true;
}

/* ` as NAME`: the row found, and its value under `$NAME`. */
static bool read_binding(struct mix_scope *scope, struct mix_instruction *statement) {
    struct mix_reader *reader = scope->reader;
    char name[MIX_NAME_MAX + 1];
    if (!mix_take_word(reader, "as")) {
        return true;
    }
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "a name for the row", name)) {
        return false;
    }
    if (statement->form.kind != STEP_SELECT || !statement->form.scan) {
        return mix_fail(reader, at, "only a row that q, u or s find by a predicate gets a name");
    }
    struct mix_variable *variable = mix_add_variable(reader, scope->type, at, name);
    if (variable == NULL) {
        return false;
    }
    *variable = (struct mix_variable){.name = variable->name,
                                      .source = MIX_FOUND,
                                      .table = statement->table,
                                      .slot = (uint16_t)scope->type->held_count++};
    if (scope->type->held_count > MIX_HELD_MAX) {
        return mix_fail(reader, at, "a transaction has at most %d sequences and found rows", MIX_HELD_MAX);
    }
    statement->found = variable->slot;
    struct mix_sum row = {(uint32_t)scope->type->terms.count, 1};
    vector_push(&scope->type->terms, ((struct mix_term){MIX_TERM_HELD, variable->slot, 1, 0}));
    return mix_remember(scope, statement->table, &row, &statement->seen[0], &statement->seen_of_set[0]);
}

static bool read_statement(struct mix_scope *scope, size_t kind) {
    struct mix_reader *reader = scope->reader;
    unsigned takes = statements[kind].takes;
    struct mix_instruction statement = {.code = MIX_STATEMENT,
                                        .found = -1,
                                        .seen = {-1},
                                        .form = {.kind = statements[kind].kind, .locking = statements[kind].locking}};
    bool good =
        mix_expect(reader, "(") && mix_table_name(reader, &statement.table) && read_target(scope, &statement, takes) &&
        ((takes & VALUE) == 0 || read_value(scope, &statement, takes)) &&
        ((takes & CHANGE) == 0 || read_condition(scope, &statement, takes)) && mix_expect(reader, ")") &&
        read_modifiers(scope, &statement, takes) && remember_rows(scope, &statement) && read_binding(scope, &statement);
    if (good) {
        reader->mix->tables.items[statement.table].grows |= statement.form.kind == STEP_INSERT;
        scope->type->writes |= statement.form.kind != STEP_SELECT || statement.form.locking != LOCKING_NONE;
        emit(scope, &statement);
    }
    return good;
}

/* ---- The other steps ---- */

static bool read_think(struct mix_scope *scope) {
    struct mix_reader *reader = scope->reader;
    struct mix_instruction think = {.code = MIX_THINK, .found = -1};
    struct text error = {0};
    char buffer[128];
    if (!mix_expect(reader, "(")) {
        return false;
    }
    mix_blanks(reader);
    const char *at = reader->at;
    bool good = mix_until_bracket(reader, buffer, sizeof buffer) && mix_expect(reader, ")");
    if (good && !option_value_distribution(buffer, &think.think, &error)) {
        good = mix_fail(reader, at, "%s", text_string(&error));
    }
    text_free(&error);
    if (good) {
        emit(scope, &think);
    }
    return good;
}

static bool read_savepoint(struct mix_scope *scope, enum mix_code code) {
    struct mix_reader *reader = scope->reader;
    char name[MIX_NAME_MAX + 1];
    if (!mix_expect(reader, "(")) {
        return false;
    }
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "the name of a savepoint", name) || !mix_expect(reader, ")")) {
        return false;
    }
    size_t number = 0;
    while (number < scope->savepoint_count && strcmp(scope->savepoints[number].name, name) != 0) {
        number++;
    }
    if (code == MIX_ROLLBACK_TO && number == scope->savepoint_count) {
        return mix_fail(reader, at, "no savepoint `%s` is set on every way that leads here", name);
    }
    if (number == STEP_SAVEPOINTS_MAX) {
        return mix_fail(reader, at, "a transaction has at most %d savepoints", STEP_SAVEPOINTS_MAX);
    }
    if (number == scope->savepoint_count) {
        snprintf(scope->savepoints[scope->savepoint_count++].name, MIX_NAME_MAX + 1, "%s", name);
    }
    emit(scope, &(struct mix_instruction){.code = code, .found = -1, .savepoint = (int)number});
    return true;
}

static bool read_tests_of(struct mix_scope *scope, enum mix_code code) {
    struct mix_instruction test = {.code = code, .found = -1};
    if (!mix_expect(scope->reader, "(") || !mix_read_tests(scope, &test.tests) || !mix_expect(scope->reader, ")")) {
        return false;
    }
    emit(scope, &test);
    return true;
}

/* A savepoint that is set inside is none outside. */
static bool read_action(struct mix_scope *scope, int depth) {
    struct mix_reader *reader = scope->reader;
    size_t savepoints = scope->savepoint_count;
    if (mix_take_word(reader, "rollback")) {
        emit_code(scope, MIX_ROLLBACK);
        return true;
    }
    if (mix_take_word(reader, "commit")) {
        emit_code(scope, MIX_COMMIT);
        return true;
    }
    if (!mix_sees(reader, "(")) {
        return mix_fail(reader, reader->at, "expected `rollback`, `commit`, or steps in brackets");
    }
    if (depth == DEPTH_MAX) {
        return mix_fail(reader, reader->at, "brackets are nested at most %d deep", DEPTH_MAX);
    }
    bool good = mix_expect(reader, "(") && read_steps(scope, depth + 1) && mix_expect(reader, ")");
    scope->savepoint_count = savepoints;
    return good;
}

/* What happens if the statement just read found nothing. */
static bool read_else(struct mix_scope *scope, int depth) {
    if (!mix_take_word(scope->reader, "else")) {
        return true;
    }
    size_t branch = emit_code(scope, MIX_ELSE);
    bool good = read_action(scope, depth);
    land(scope, branch);
    return good;
}

static bool read_if(struct mix_scope *scope, int depth) {
    if (!read_tests_of(scope, MIX_IF)) {
        return false;
    }
    size_t branch = scope->type->program.count - 1;
    bool good = read_action(scope, depth);
    if (!good || !mix_take_word(scope->reader, "else")) {
        land(scope, branch);
        return good;
    }
    size_t past = emit_code(scope, MIX_JUMP);
    land(scope, branch);
    good = read_action(scope, depth);
    land(scope, past);
    return good;
}

static bool read_each(struct mix_scope *scope, int depth) {
    struct mix_reader *reader = scope->reader;
    char name[MIX_NAME_MAX + 1];
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "a set", name)) {
        return false;
    }
    int variable = mix_find_variable(scope->type, name);
    size_t count = variable >= 0 ? scope->type->variables.items[variable].count : 0;
    if (count == 0) {
        return mix_fail(reader, at, "`%s` is no set: `let %s[3] = ..` would make it one", name, name);
    }
    if (scope->round > 0) {
        return mix_fail(reader, at, "there is no `each` within an `each`");
    }
    scope->round = count;
    size_t loop = emit_code(scope, MIX_EACH);
    bool good = read_action(scope, depth);
    size_t again = emit_code(scope, MIX_AGAIN);
    scope->type->program.items[again].target = (uint32_t)loop + 1;
    scope->round = 0;
    land(scope, loop);
    return good;
}

/* ---- One step after another ---- */

static bool unknown_step(struct mix_scope *scope, const char *at, const char *word) {
    static const char *const words[] = {"rollback", "commit", "think", "if", "each", "expect"};
    char suggestion[SUGGESTION_BYTES];
    const char *meant = text_suggestion(suggestion, sizeof suggestion, word, words, sizeof words / sizeof words[0]);
    return mix_fail(scope->reader, at, "unknown step `%s`%s", word,
                    meant[0] != '\0' ? meant : "; steps are r w u s q i d p f think if each expect rollback commit");
}

/* `*ends`: nothing can come behind it. */
static bool read_step(struct mix_scope *scope, int depth, bool *ends) {
    struct mix_reader *reader = scope->reader;
    char word[MIX_NAME_MAX + 1];
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "a step", word)) {
        return false;
    }
    *ends = strcmp(word, "rollback") == 0 || strcmp(word, "commit") == 0;
    if (*ends) {
        emit_code(scope, word[0] == 'r' ? MIX_ROLLBACK : MIX_COMMIT);
        return true;
    }
    if (scope->type->program.count >= MIX_STEPS_MAX) {
        return mix_fail(reader, at, "a transaction has at most %d steps", MIX_STEPS_MAX);
    }
    for (size_t i = 0; i < STATEMENTS && word[1] == '\0'; i++) {
        if (word[0] == statements[i].letter) {
            return read_statement(scope, i) && read_else(scope, depth);
        }
    }
    if (strcmp(word, "if") == 0) {
        return read_if(scope, depth);
    }
    if (strcmp(word, "each") == 0) {
        return read_each(scope, depth);
    }
    if (strcmp(word, "think") == 0) {
        return read_think(scope);
    }
    if (strcmp(word, "expect") == 0) {
        return read_tests_of(scope, MIX_EXPECT);
    }
    if (strcmp(word, "p") == 0 || strcmp(word, "f") == 0) {
        return read_savepoint(scope, word[0] == 'p' ? MIX_SAVEPOINT : MIX_ROLLBACK_TO);
    }
    return unknown_step(scope, at, word);
}

/* Does a step begin here, by the look of it? */
static bool looks_like_step(const char *at) {
    static const char *const words[] = {"rollback", "commit", "think", "if", "each", "expect"};
    size_t length = mix_name_length(at);
    bool is_step = length == 1 && strchr("rwusqidpf", *at) != NULL && at[1] == '(';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        is_step = is_step || (length == strlen(words[i]) && strncmp(at, words[i], length) == 0);
    }
    return is_step;
}

/* Goes on with the next step of the outermost level. */
static void skip_step(struct mix_reader *reader, const char *from) {
    int depth = 0;
    const char *previous = from;
    reader->failed = false;
    for (reader->at = from + 1; *reader->at != '\0'; reader->at++) {
        bool begins = depth == 0 && reader->at[-1] == ' ' && *reader->at != ' ';
        bool belongs = strncmp(previous, "else ", 5) == 0 || strncmp(previous, "if(", 3) == 0;
        if (begins && !belongs && looks_like_step(reader->at)) {
            return;
        }
        previous = begins ? reader->at : previous;
        depth += *reader->at == '(';
        depth -= *reader->at == ')';
    }
}

static bool read_steps(struct mix_scope *scope, int depth) {
    struct mix_reader *reader = scope->reader;
    bool ends = false, good = true;
    mix_blanks(reader);
    if (*reader->at == ')' && depth > 0) {
        return mix_fail(reader, reader->at, "there is no step in the brackets");
    }
    while (!mix_is_at_end(reader) && (depth == 0 || *reader->at != ')')) {
        const char *from = reader->at;
        if (ends) {
            return mix_fail(reader, from, "this step is never reached: the transaction has ended before it");
        }
        if (!read_step(scope, depth, &ends)) {
            good = false;
            if (depth > 0) {
                return false;
            }
            skip_step(reader, from);
            scope->skipped = true;
        }
    }
    return good;
}

void mix_read_steps(struct mix_reader *reader, struct mix_type *type) {
    struct mix_scope scope = {.reader = reader, .type = type};
    if (mix_is_at_end(reader)) {
        mix_fail(reader, reader->at, "there is no step");
        return;
    }
    read_steps(&scope, 0);
    emit_code(&scope, MIX_COMMIT);
}
