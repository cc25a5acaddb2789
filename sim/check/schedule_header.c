/* schedule_header.c - the header lines of schedules: `init x=10 y=20`, `id x=7`, `pred P: v%3=0`. */
#include "sim/check/schedule_parser.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/text.h"

enum { DECLARED_MAX = 1000 };

void schedule_skip_blanks(struct schedule_parser *parser) {
    while (parser->at < parser->end && schedule_blank(*parser->at)) {
        parser->at++;
    }
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

size_t schedule_name_length(const struct schedule_parser *parser) {
    const char *at = parser->at;
    if (at == parser->end || !(is_lower(*at) || is_upper(*at))) {
        return 0;
    }
    while (at < parser->end && (is_lower(*at) || is_upper(*at) || is_digit(*at) || *at == '_')) {
        at++;
    }
    return (size_t)(at - parser->at);
}

bool schedule_integer(struct schedule_parser *parser, const char *what, int64_t *value) {
    const char *start = parser->at, *at = start;
    bool negative = at < parser->end && *at == '-';
    at += at < parser->end && (*at == '-' || *at == '+');
    if (at == parser->end || !is_digit(*at)) {
        return schedule_fail(parser, start, "expected %s, a whole number", what);
    }
    int64_t sum = 0;
    for (; at < parser->end && is_digit(*at); at++) {
        sum = sum * 10 + (*at - '0');
        if (sum > SCHEDULE_CONSTANT_MAX) {
            return schedule_fail(parser, start, "%s lies between -%" PRId64 " and %" PRId64, what,
                                 SCHEDULE_CONSTANT_MAX, SCHEDULE_CONSTANT_MAX);
        }
    }
    parser->at = at;
    *value = negative ? -sum : sum;
    return true;
}

static bool end_of_header(struct schedule_parser *parser) {
    schedule_skip_blanks(parser);
    return parser->at == parser->end || *parser->at == '#';
}

/* `x=10`, into `settings` if it is new there. */
static bool read_setting(struct schedule_parser *parser, const char *what, struct schedule_setting *setting) {
    const char *start = parser->at;
    size_t length = schedule_name_length(parser);
    if (length == 0 || !is_lower(*start)) {
        return schedule_fail(parser, start, "expected a row and its %s, such as x=10", what);
    }
    if (length > SCHEDULE_NAME_MAX) {
        return schedule_fail(parser, start, "names have at most %d letters", SCHEDULE_NAME_MAX);
    }
    uint32_t number = names_add(&parser->setting_names, start, length);
    *setting = (struct schedule_setting){.name = parser->setting_names.items[number],
                                         .line = parser->line,
                                         .column = (uint32_t)(start - parser->line_start) + 1};
    parser->at += length;
    schedule_skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != '=') {
        return schedule_fail(parser, parser->at, "expected `=' and the %s of %s", what, setting->name);
    }
    parser->at++;
    schedule_skip_blanks(parser);
    if (!schedule_integer(parser, what[0] == 'i' ? "an id" : "a value", &setting->value)) {
        return false;
    }
    if (parser->at < parser->end && !schedule_blank(*parser->at) && *parser->at != ',' && *parser->at != '#') {
        return schedule_fail(parser, parser->at, "expected a blank or `,' after the %s of %s", what, setting->name);
    }
    return true;
}

static void skip_separator(struct schedule_parser *parser) {
    schedule_skip_blanks(parser);
    parser->at += parser->at < parser->end && *parser->at == ',';
}

void schedule_init_line(struct schedule_parser *parser, bool add) {
    struct names seen = {0};
    if (!add && !parser->init_fixed) {
        parser->inits.count = 0;
    }
    for (size_t i = 0; add && i < parser->inits.count; i++) {
        names_add(&seen, parser->inits.items[i].name, strlen(parser->inits.items[i].name));
    }
    parser->with_init = true;
    while (!end_of_header(parser)) {
        struct schedule_setting setting;
        const char *start = parser->at;
        if (!read_setting(parser, "value", &setting)) {
            break;
        }
        size_t before = seen.count;
        names_add(&seen, setting.name, strlen(setting.name));
        if (seen.count == before) {
            schedule_note(parser, start, "%s has a value already", setting.name);
        } else if (!parser->init_fixed) {
            vector_push(&parser->inits, setting);
        }
        skip_separator(parser);
    }
    names_free(&seen);
}

void schedule_id_line(struct schedule_parser *parser) {
    while (!end_of_header(parser)) {
        struct schedule_setting setting;
        if (!read_setting(parser, "id", &setting)) {
            return;
        }
        uint32_t number = names_find(&parser->setting_names, setting.name, strlen(setting.name));
        while (parser->ids.count <= number) {
            vector_push(&parser->ids, ((struct schedule_setting){0}));
        }
        parser->ids.items[number] = setting;
        skip_separator(parser);
    }
}

static const struct {
    const char *text;
    enum condition_operator operator;
} operators[] = {
    {"==", CONDITION_EQ}, {"!=", CONDITION_NE}, {"<>", CONDITION_NE}, {"<=", CONDITION_LE},
    {">=", CONDITION_GE}, {"=", CONDITION_EQ},  {"<", CONDITION_LT},  {">", CONDITION_GT},
};

static bool read_operator(struct schedule_parser *parser, struct condition *condition) {
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t length = strlen(operators[i].text);
        if ((size_t)(parser->end - parser->at) >= length && memcmp(parser->at, operators[i].text, length) == 0) {
            condition->operator= operators[i].operator;
            parser->at += length;
            return true;
        }
    }
    return schedule_fail(parser, parser->at, "expected a comparison: = != < <= > >=");
}

/* `v` or `id`, `% 3`, comparison, constant; or `true`. */
static bool read_condition(struct schedule_parser *parser, struct condition *condition) {
    static const char *const subjects[] = {"v", "id", "true"};
    const char *start = parser->at;
    size_t length = schedule_name_length(parser);
    struct text word = {0};
    text_add_bytes(&word, start, length);
    parser->at += length;
    bool is_true = strcmp(text_string(&word), "true") == 0;
    *condition = (struct condition){.operator= CONDITION_TRUE, .of_id = strcmp(text_string(&word), "id") == 0};
    bool known = is_true || condition->of_id || strcmp(text_string(&word), "v") == 0;
    if (!known) {
        char suggestion[64];
        text_suggestion(suggestion, sizeof suggestion, text_string(&word), subjects, 3);
        schedule_note(parser, start, "expected v (the value), id or true%s", length > 0 ? suggestion : "");
    }
    text_free(&word);
    if (!known || is_true) {
        return known;
    }
    schedule_skip_blanks(parser);
    if (parser->at < parser->end && *parser->at == '%') {
        parser->at++;
        schedule_skip_blanks(parser);
        start = parser->at;
        if (!schedule_integer(parser, "the divisor", &condition->modulus)) {
            return false;
        }
        if (condition->modulus < 1) {
            return schedule_fail(parser, start, "the divisor is at least 1");
        }
        schedule_skip_blanks(parser);
    }
    if (!read_operator(parser, condition)) {
        return false;
    }
    schedule_skip_blanks(parser);
    return schedule_integer(parser, "the constant to compare with", &condition->constant);
}

/* Replaces the predicate of that name; what the command line fixed stays. */
static void declare(struct schedule_parser *parser, const struct schedule_predicate *predicate) {
    for (size_t i = 0; i < parser->declared.count; i++) {
        if (parser->declared.items[i].name == predicate->name) {
            if (i >= parser->declared_fixed) {
                parser->declared.items[i] = *predicate;
            }
            return;
        }
    }
    if (parser->declared.count == DECLARED_MAX) {
        schedule_note(parser, parser->line_start, "at most %d predicates can be declared", DECLARED_MAX);
        return;
    }
    vector_push(&parser->declared, *predicate);
}

void schedule_predicate_line(struct schedule_parser *parser) {
    schedule_skip_blanks(parser);
    const char *start = parser->at;
    size_t length = schedule_name_length(parser);
    struct schedule_predicate predicate = {.declared = true};
    if (length == 0 || !is_upper(*start)) {
        schedule_note(parser, start, "expected a predicate's name in upper case, such as P: v>=10");
        return;
    }
    if (length > SCHEDULE_NAME_MAX) {
        schedule_note(parser, start, "names have at most %d letters", SCHEDULE_NAME_MAX);
        return;
    }
    uint32_t number = names_add(&parser->setting_names, start, length);
    predicate.name = parser->setting_names.items[number];
    parser->at += length;
    schedule_skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != ':') {
        schedule_note(parser, parser->at, "expected `:' after the predicate's name");
        return;
    }
    parser->at++;
    schedule_skip_blanks(parser);
    if (!read_condition(parser, &predicate.condition)) {
        return;
    }
    if (!end_of_header(parser)) {
        schedule_note(parser, parser->at, "nothing may follow the condition of %s", predicate.name);
        return;
    }
    declare(parser, &predicate);
}
