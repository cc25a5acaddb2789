/* schedule_step.c - the grammar of one step, `w12(x,+=5,if=3)`: read from left to right, each mistake told at the byte
 * where it shows. Blanks are allowed inside the brackets. */
#include "sim/check/schedule_parser.h"

#include <string.h>

#include "sim/base/text.h"

/* What may stand in the brackets of a step, and behind them. */
enum {
    ROWS = 1,       /* row names, */
    ONE_ROW = 2,    /* one only, */
    PREDICATE = 4,  /* or a predicate */
    VALUE = 8,      /* a value */
    CONDITION = 16, /* +=, if= */
    PATIENCE = 32,  /* :nowait, :skip */
    LIMIT = 64,     /* :1, with a predicate */
    SAVEPOINT = 128,
    FLAGS = 256 /* of begin */
};

static const struct {
    char letter;
    enum schedule_kind kind;
    unsigned takes;
} grammar[] = {
    {'b', SCHEDULE_BEGIN, FLAGS},
    {'r', SCHEDULE_READ, ROWS},
    {'w', SCHEDULE_WRITE, ROWS | ONE_ROW | PREDICATE | VALUE | CONDITION},
    {'u', SCHEDULE_UPDATE_LOCK, ROWS | PREDICATE | PATIENCE | LIMIT},
    {'s', SCHEDULE_SHARE_LOCK, ROWS | PREDICATE | PATIENCE | LIMIT},
    {'q', SCHEDULE_QUERY, PREDICATE | LIMIT},
    {'i', SCHEDULE_INSERT, ROWS | ONE_ROW | VALUE},
    {'d', SCHEDULE_DELETE, ROWS | ONE_ROW | PREDICATE},
    {'p', SCHEDULE_SAVEPOINT, SAVEPOINT},
    {'f', SCHEDULE_ROLLBACK_TO, SAVEPOINT},
    {'c', SCHEDULE_COMMIT, 0},
    {'a', SCHEDULE_ROLLBACK, 0},
};
enum { LETTERS = sizeof grammar / sizeof grammar[0] };

/* The step being read. */
struct reading {
    struct schedule_parser *parser;
    struct schedule_step *step;
    char letter;
    unsigned takes;
};

static bool at_char(const struct schedule_parser *parser, char c) {
    return parser->at < parser->end && *parser->at == c;
}

/* `c` and the blanks around it, if it stands here. */
static bool take_char(struct schedule_parser *parser, char c) {
    schedule_skip_blanks(parser);
    if (!at_char(parser, c)) {
        return false;
    }
    parser->at++;
    schedule_skip_blanks(parser);
    return true;
}

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/* Numbers the name that stands here; `what` is expected. */
static bool take_name(struct schedule_parser *parser, const char *what, struct names *names, uint32_t *number) {
    size_t length = schedule_name_length(parser);
    if (length == 0) {
        return schedule_fail(parser, parser->at, "expected %s", what);
    }
    if (length > SCHEDULE_NAME_MAX) {
        return schedule_fail(parser, parser->at, "names have at most %d letters", SCHEDULE_NAME_MAX);
    }
    *number = names_add(names, parser->at, length);
    parser->at += length;
    return true;
}

/* A row at the place read, not a predicate. */
static bool take_row(struct schedule_parser *parser, uint32_t *row) {
    if (parser->at < parser->end && is_upper(*parser->at)) {
        return schedule_fail(parser, parser->at, "expected a row, in lower case");
    }
    return take_name(parser, "a row", &parser->rows, row);
}

/* +N or -N behind `$y` and `@y`, if any. */
static bool take_sum(struct schedule_parser *parser, int64_t *constant) {
    schedule_skip_blanks(parser);
    return !(at_char(parser, '+') || at_char(parser, '-')) || schedule_integer(parser, "what is added", constant);
}

static bool take_reference(struct schedule_parser *parser, enum schedule_form form, struct schedule_value *value) {
    parser->at++;
    value->form = form;
    return take_row(parser, &value->row) && take_sum(parser, &value->constant);
}

static bool take_change(struct reading *reading, struct schedule_value *value) {
    struct schedule_parser *parser = reading->parser;
    int64_t sign = *parser->at == '-' ? -1 : 1;
    if ((reading->takes & CONDITION) == 0) {
        return schedule_fail(parser, parser->at, "a row that is inserted has no value to add to");
    }
    parser->at += 2;
    value->form = SCHEDULE_ADD;
    schedule_skip_blanks(parser);
    bool good = schedule_integer(parser, "what is added", &value->constant);
    value->constant *= sign;
    return good;
}

static bool take_value(struct reading *reading, struct schedule_value *value) {
    struct schedule_parser *parser = reading->parser;
    char first = parser->at < parser->end ? *parser->at : ')',
         second = parser->end - parser->at > 1 ? parser->at[1] : ')';
    if (first == '$') {
        return take_reference(parser, SCHEDULE_LAST_READ, value);
    }
    if (first == '@') {
        return take_reference(parser, SCHEDULE_INSIDE, value);
    }
    if ((first == '+' || first == '-') && second == '=') {
        return take_change(reading, value);
    }
    size_t length = schedule_name_length(parser);
    if (length > 0) {
        int shown = length < SCHEDULE_NAME_MAX ? (int)length : SCHEDULE_NAME_MAX;
        return schedule_fail(parser, parser->at,
                             "expected a value; what was last read of %.*s is $%.*s, what it has now @%.*s", shown,
                             parser->at, shown, parser->at, shown, parser->at);
    }
    value->form = SCHEDULE_CONSTANT;
    return schedule_integer(parser, "a value", &value->constant);
}

static bool at_condition(const struct schedule_parser *parser) {
    const char *at = parser->at;
    if (parser->end - at < 2 || at[0] != 'i' || at[1] != 'f') {
        return false;
    }
    for (at += 2; at < parser->end && schedule_blank(*at);) {
        at++;
    }
    return at < parser->end && *at == '=';
}

static bool take_condition(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    if ((reading->takes & CONDITION) == 0) {
        return schedule_fail(parser, parser->at, "only writes, `w', have a condition");
    }
    parser->at += 2;
    (void)take_char(parser, '=');
    reading->step->conditional = true;
    return schedule_integer(parser, "the value that if= compares with", &reading->step->expected);
}

/* What follows the row of a write or insert: `,value`, `,if=value`, both or nothing. */
static bool take_values(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    bool more = take_char(parser, ',');
    if (more && !at_condition(parser)) {
        if (!take_value(reading, &reading->step->value)) {
            return false;
        }
        more = take_char(parser, ',');
    }
    if (more && !at_condition(parser)) {
        return schedule_fail(parser, parser->at,
                             (reading->takes & CONDITION) != 0 ? "expected if= and a value, or `)'"
                                                               : "expected `)' after the value");
    }
    return !more || take_condition(reading);
}

static bool is_listed(const struct reading *reading, uint32_t row) {
    const struct schedule_parser *parser = reading->parser;
    for (uint32_t i = 0; i < reading->step->row_count; i++) {
        if (parser->row_list.items[reading->step->first_row + i] == row) {
            return true;
        }
    }
    return false;
}

enum { ROWS_OF_STEP_MAX = 100 };

static bool take_rows(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    do {
        const char *start = parser->at;
        uint32_t row;
        if (!take_row(parser, &row)) {
            return false;
        }
        if (is_listed(reading, row)) {
            return schedule_fail(parser, start, "%s stands here twice", parser->rows.items[row]);
        }
        if (reading->step->row_count == ROWS_OF_STEP_MAX) {
            return schedule_fail(parser, start, "a step has at most %d rows", ROWS_OF_STEP_MAX);
        }
        vector_push(&parser->row_list, row);
        reading->step->row_count++;
    } while ((reading->takes & ONE_ROW) == 0 && take_char(parser, ','));
    return true;
}

/* A row where only a predicate may stand, or the other way round. */
static bool refuse_name(struct reading *reading, bool predicate) {
    struct schedule_parser *parser = reading->parser;
    size_t length = schedule_name_length(parser);
    int shown = length < SCHEDULE_NAME_MAX ? (int)length : SCHEDULE_NAME_MAX;
    const char *name = parser->at;
    const char *number = parser->txns.items[reading->step->txn];
    if (!predicate) {
        return schedule_fail(parser, name, "%.*s is a row, and q asks with a predicate; did you mean r%s(%.*s)?", shown,
                             name, number, shown, name);
    }
    if (reading->letter == 'r') {
        return schedule_fail(parser, name, "%.*s is a predicate, and r reads rows by name; did you mean q%s(%.*s)?",
                             shown, name, number, shown, name);
    }
    return schedule_fail(parser, name, "%.*s is a predicate, and i inserts a row by name", shown, name);
}

static bool take_object(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    if ((reading->takes & SAVEPOINT) != 0) {
        return take_name(parser, "the savepoint's name", &parser->savepoints, &reading->step->savepoint);
    }
    bool predicate = parser->at < parser->end && is_upper(*parser->at);
    bool name = schedule_name_length(parser) > 0;
    if (name && (reading->takes & (predicate ? PREDICATE : ROWS)) == 0) {
        return refuse_name(reading, predicate);
    }
    if (!predicate && (reading->takes & ROWS) != 0) {
        return take_rows(reading);
    }
    return take_name(parser, "a predicate, in upper case", &parser->predicates, &reading->step->predicate);
}

static bool take_brackets(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    if (!at_char(parser, '(')) {
        return schedule_fail(parser, parser->at, "expected `(' after %c%s", reading->letter,
                             parser->txns.items[reading->step->txn]);
    }
    parser->at++;
    schedule_skip_blanks(parser);
    if (!take_object(reading) || ((reading->takes & VALUE) != 0 && !take_values(reading))) {
        return false;
    }
    schedule_skip_blanks(parser);
    if (!at_char(parser, ')')) {
        bool list = reading->step->row_count > 0 && (reading->takes & ONE_ROW) == 0;
        bool value = (reading->takes & VALUE) != 0 && reading->step->value.form == SCHEDULE_ANY;
        return schedule_fail(parser, parser->at, list || value ? "expected `,' or `)'" : "expected `)'");
    }
    parser->at++;
    return true;
}

/* --- what follows: flags --- */

static bool refuse_flag(struct reading *reading, const char *start) {
    static const char *const of_begin[] = {"ro", "deferrable", "immediate", "ru", "rc", "rr", "si", "ser"};
    static const char *const of_locks[] = {"nowait", "skip"};
    struct schedule_parser *parser = reading->parser;
    bool begin = (reading->takes & FLAGS) != 0;
    struct text word = {0};
    char suggestion[64];
    while (parser->at < parser->end && !schedule_blank(*parser->at) && *parser->at != ':' &&
           word.length < SCHEDULE_NAME_MAX) {
        text_add_bytes(&word, parser->at++, 1);
    }
    text_suggestion(suggestion, sizeof suggestion, text_string(&word), begin ? of_begin : of_locks,
                    begin ? sizeof of_begin / sizeof of_begin[0] : 2);
    if ((reading->takes & (FLAGS | PATIENCE)) == 0) {
        schedule_note(parser, start, "`%s' is no limit, a number", text_string(&word));
    } else {
        schedule_note(parser, start, "`%s' is none of %s%s", text_string(&word),
                      begin ? "ro, deferrable, immediate, ru, rc, rr, si, ser" : "nowait, skip or a limit", suggestion);
    }
    text_free(&word);
    return false;
}

static bool take_limit(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    const char *start = parser->at;
    int64_t limit = 0;
    if (reading->step->predicate == SCHEDULE_NONE) {
        return schedule_fail(parser, start, "a limit needs a predicate: which rows are asked for by name is plain");
    }
    if (reading->step->limit > 0) {
        return schedule_fail(parser, start, "there is a limit already");
    }
    if (!schedule_integer(parser, "the limit", &limit)) {
        return false;
    }
    if (limit < 1 || limit > SCHEDULE_NUMBER_MAX) {
        return schedule_fail(parser, start, "a limit is a number from 1 to %d", SCHEDULE_NUMBER_MAX);
    }
    reading->step->limit = (uint32_t)limit;
    return true;
}

/* The level of b1:rc, + 1; 0: it is none. */
static uint8_t level_of(const struct reading *reading, const char *start, size_t length) {
    static const char *const names[] = {"ru", "rc", "rr", "si", "ser"};
    for (size_t i = 0; (reading->takes & FLAGS) != 0 && i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], start, length) == 0) {
            return (uint8_t)(i + 1);
        }
    }
    return 0;
}

static bool take_flag(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    struct schedule_step *step = reading->step;
    const struct {
        const char *name;
        unsigned needs;
        bool *flag;
    } flags[] = {{"ro", FLAGS, &step->read_only},
                 {"deferrable", FLAGS, &step->deferrable},
                 {"immediate", FLAGS, &step->immediate},
                 {"nowait", PATIENCE, &step->nowait},
                 {"skip", PATIENCE, &step->skip}};
    const char *start = parser->at;
    size_t length = schedule_name_length(parser);
    if ((reading->takes & LIMIT) != 0 && start < parser->end && *start >= '0' && *start <= '9') {
        return take_limit(reading);
    }
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if ((reading->takes & flags[i].needs) != 0 && strlen(flags[i].name) == length &&
            memcmp(flags[i].name, start, length) == 0) {
            if (*flags[i].flag) {
                return schedule_fail(parser, start, "%s stands here already", flags[i].name);
            }
            *flags[i].flag = true;
            parser->at += length;
            return true;
        }
    }
    uint8_t level = level_of(reading, start, length);
    if (level == 0) {
        return refuse_flag(reading, start);
    }
    if (step->level != 0) {
        return schedule_fail(parser, start, "there is a level already");
    }
    step->level = level;
    parser->at += length;
    return true;
}

static bool take_flags(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    struct schedule_step *step = reading->step;
    while ((reading->takes & (FLAGS | PATIENCE | LIMIT)) != 0 && at_char(parser, ':')) {
        const char *start = ++parser->at;
        if (!take_flag(reading)) {
            return false;
        }
        if (step->nowait && step->skip) {
            return schedule_fail(parser, start, "nowait and skip exclude each other");
        }
        if (step->immediate && (step->read_only || step->deferrable)) {
            return schedule_fail(parser, start,
                                 "immediate is for a transaction that writes, ro and deferrable for one that does not");
        }
    }
    step->read_only = step->read_only || step->deferrable;
    return true;
}

/* --- the whole step --- */

static bool take_letter(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    char letter = *parser->at, lower = is_upper(letter) ? (char)(letter - 'A' + 'a') : letter;
    for (size_t i = 0; i < LETTERS; i++) {
        if (grammar[i].letter == letter) {
            reading->letter = letter;
            reading->takes = grammar[i].takes;
            reading->step->kind = grammar[i].kind;
            parser->at++;
            return true;
        }
        if (grammar[i].letter == lower) {
            return schedule_fail(parser, parser->at, "`%c' begins no step; did you mean %c?", letter, lower);
        }
    }
    if (letter <= ' ' || letter > '~') {
        return schedule_fail(parser, parser->at, "no step begins with this byte, 0x%02x",
                             (unsigned)(unsigned char)letter);
    }
    return schedule_fail(parser, parser->at, "`%c' begins no step: a step begins with one of b r w u s q i d p f c a",
                         letter);
}

static bool take_number(struct reading *reading) {
    struct schedule_parser *parser = reading->parser;
    const char *start = parser->at;
    int64_t number = 0;
    while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9') {
        number = number * 10 + (*parser->at++ - '0');
        if (number > SCHEDULE_NUMBER_MAX) {
            return schedule_fail(parser, start, "a transaction's number is at most %d", SCHEDULE_NUMBER_MAX);
        }
    }
    if (parser->at == start) {
        return schedule_fail(parser, start, "expected the number of a transaction after `%c'", reading->letter);
    }
    while (*start == '0' && start + 1 < parser->at) { /* T01 is T1 */
        start++;
    }
    reading->step->txn = names_add(&parser->txns, start, (size_t)(parser->at - start));
    return true;
}

bool schedule_read_step(struct schedule_parser *parser) {
    const char *start = parser->at;
    struct schedule_step step = {.first_row = (uint32_t)parser->row_list.count,
                                 .predicate = SCHEDULE_NONE,
                                 .value.row = SCHEDULE_NONE,
                                 .savepoint = SCHEDULE_NONE,
                                 .target = SCHEDULE_NONE,
                                 .text = start,
                                 .line = parser->line,
                                 .column = (uint32_t)(start - parser->line_start) + 1};
    struct reading reading = {.parser = parser, .step = &step};
    bool good = take_letter(&reading) && take_number(&reading);
    bool brackets = (reading.takes & (ROWS | PREDICATE | SAVEPOINT)) != 0;
    if (!good || (brackets && !take_brackets(&reading)) || !take_flags(&reading)) {
        return false;
    }
    if (parser->at < parser->end && !schedule_blank(*parser->at)) {
        return schedule_fail(parser, parser->at, "expected a blank after %.*s",
                             parser->at - start < SCHEDULE_NAME_MAX ? (int)(parser->at - start) : SCHEDULE_NAME_MAX,
                             start);
    }
    step.length = (uint32_t)(parser->at - start);
    vector_push(&parser->steps, step);
    return true;
}
