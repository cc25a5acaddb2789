/* mix_variable.c - `let NAME = ...`: what a transaction draws, or takes, before its first step. */
#include "workloads/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/option_value.h"

enum { SUGGESTION_BYTES = 160 };

int mix_find_variable(const struct mix_type *type, const char *name) {
    for (size_t i = 0; i < type->variables.count; i++) {
        if (strcmp(type->variables.items[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

struct mix_variable *mix_add_variable(struct mix_reader *reader, struct mix_type *type, const char *at,
                                      const char *name) {
    static const char *const reserved[] = {"v",  "id",   "count", "sum", "number", "round",
                                           "if", "else", "as",    "not", "each"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcmp(name, reserved[i]) == 0) {
            mix_fail(reader, at, "`%s` is a word of the language; choose another name", name);
            return NULL;
        }
    }
    if (mix_find_variable(type, name) >= 0) {
        mix_fail(reader, at, "`%s` is there already", name);
        return NULL;
    }
    vector_push(&type->variables, ((struct mix_variable){.name = mem_string(name), .table = -1}));
    return &type->variables.items[type->variables.count - 1];
}

/* ---- The ids that rows are drawn from ---- */

static bool read_bound(struct mix_reader *reader, struct mix_variable *variable) {
    enum condition_operator operator;
    int64_t bound;
    if (!mix_take_word(reader, "id")) {
        return mix_fail(reader, reader->at, "expected a test on the id, such as id<=10");
    }
    const char *at = reader->at;
    if (!mix_operator(reader, &operator) || !mix_integer(reader, "an id", &bound)) {
        return false;
    }
    int64_t low = variable->low, high = variable->high;
    switch (operator) {
    case CONDITION_EQ: low = high = bound; break;
    case CONDITION_LT: high = bound - 1; break;
    case CONDITION_LE: high = bound; break;
    case CONDITION_GT: low = bound + 1; break;
    case CONDITION_GE: low = bound; break;
    default: return mix_fail(reader, at, "expected one of = < <= > >=");
    }
    variable->low = low > variable->low ? low : variable->low;
    variable->high = high < variable->high ? high : variable->high;
    return true;
}

/* `T` or `T id>5 & id<=10`. */
static bool read_rows(struct mix_reader *reader, struct mix_variable *variable) {
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_table_name(reader, &variable->table)) {
        return false;
    }
    const struct mix_table *table = &reader->mix->tables.items[variable->table];
    variable->low = PROGRAM_FIRST_KEY;
    variable->high = table->rows;
    if (!mix_sees(reader, ",") && !mix_sees(reader, ")")) {
        do {
            if (!read_bound(reader, variable)) {
                return false;
            }
        } while (mix_take(reader, "&"));
    }
    if (variable->low > variable->high) {
        return mix_fail(reader, at, "no row of %s to draw from: it begins with %" PRId64 " rows", table->name,
                        table->rows);
    }
    return true;
}

static int64_t rows_of(const struct mix_variable *variable) { return variable->high - variable->low + 1; }

/* ---- The kinds of draws, from behind their bracket ---- */

static bool read_uniform(struct mix_reader *reader, struct mix_variable *variable) {
    mix_blanks(reader);
    if (mix_name_length(reader->at) > 0) {
        variable->source = MIX_ROW;
        return read_rows(reader, variable);
    }
    variable->source = MIX_BETWEEN;
    const char *at = reader->at;
    if (!mix_integer(reader, "a table, or the smallest number", &variable->low) || !mix_expect(reader, ",") ||
        !mix_integer(reader, "the largest number", &variable->high)) {
        return false;
    }
    return variable->low <= variable->high || mix_fail(reader, at, "the first number is larger than the second");
}

static bool read_zipf(struct mix_reader *reader, struct mix_variable *variable) {
    char text[64];
    double theta;
    variable->source = MIX_ZIPF;
    if (!read_rows(reader, variable) || !mix_expect(reader, ",")) {
        return false;
    }
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_until_bracket(reader, text, sizeof text)) {
        return false;
    }
    if (!text_parse_number(text, &theta) || theta < 0 || theta > ZIPF_THETA_MAX) {
        return mix_fail(reader, at, "expected a skew, 0 .. %d", ZIPF_THETA_MAX);
    }
    zipf_init(&variable->zipf, (uint64_t)rows_of(variable), theta);
    return true;
}

/* A share up to the next comma or closing bracket. */
static bool read_share(struct mix_reader *reader, double *share) {
    char text[64];
    mix_blanks(reader);
    size_t length = strcspn(reader->at, ",)");
    snprintf(text, sizeof text, "%.*s", (int)length, reader->at);
    if (!text_parse_share(text, share) || *share < 0 || *share > 1) {
        return mix_fail(reader, reader->at, "expected a share, 0%% .. 100%%");
    }
    reader->at += length;
    return true;
}

static bool read_hot(struct mix_reader *reader, struct mix_variable *variable) {
    double rows;
    variable->source = MIX_HOT;
    if (!read_rows(reader, variable) || !mix_expect(reader, ",") || !read_share(reader, &variable->share) ||
        !mix_expect(reader, ",")) {
        return false;
    }
    mix_blanks(reader);
    const char *at = reader->at;
    if (!read_share(reader, &rows)) {
        return false;
    }
    int64_t hot = (int64_t)(rows * (double)rows_of(variable) + 0.5);
    variable->middle = variable->low + hot - 1;
    return (hot >= 1 && hot < rows_of(variable)) ||
           mix_fail(reader, at, "of %" PRId64 " rows that is %" PRId64 ": there must be hot rows and others",
                    rows_of(variable), hot);
}

static bool read_chance(struct mix_reader *reader, struct mix_variable *variable) {
    variable->source = MIX_CHANCE;
    return read_share(reader, &variable->share);
}

static bool read_sequence(struct mix_reader *reader, struct mix_variable *variable) {
    variable->source = MIX_SEQUENCE;
    return mix_table_name(reader, &variable->table);
}

static bool read_last(struct mix_reader *reader, struct mix_variable *variable) {
    variable->source = MIX_LAST;
    return mix_table_name(reader, &variable->table);
}

static const struct {
    const char *word;
    bool (*read)(struct mix_reader *reader, struct mix_variable *variable);
} sources[] = {{"uniform", read_uniform}, {"zipf", read_zipf},         {"hot", read_hot},
               {"chance", read_chance},   {"sequence", read_sequence}, {"last", read_last}};
enum { SOURCES = sizeof sources / sizeof sources[0] };

static bool read_source(struct mix_reader *reader, struct mix_variable *variable) {
    char word[MIX_NAME_MAX + 1], suggestion[SUGGESTION_BYTES];
    const char *words[SOURCES];
    mix_blanks(reader);
    const char *at = reader->at;
    if (mix_name_length(at) == 0) {
        variable->source = MIX_CONSTANT;
        return mix_integer(reader,
                           "uniform(..), zipf(..), hot(..), chance(..), sequence(..), last(..), or a whole number",
                           &variable->low);
    }
    if (!mix_name(reader, "a draw", word)) {
        return false;
    }
    for (size_t i = 0; i < SOURCES; i++) {
        words[i] = sources[i].word;
        if (strcmp(word, sources[i].word) == 0) {
            return mix_expect(reader, "(") && sources[i].read(reader, variable) && mix_expect(reader, ")");
        }
    }
    return mix_fail(reader, at, "unknown draw `%s`%s", word,
                    text_suggestion(suggestion, sizeof suggestion, word, words, SOURCES));
}

/* ---- `not a b`, `sorted` ---- */

static bool is_row_draw(const struct mix_variable *variable) { return variable->source <= MIX_HOT; }

static bool read_excluded(struct mix_reader *reader, const struct mix_type *type, struct mix_variable *variable) {
    char name[MIX_NAME_MAX + 1];
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "the variable whose row it must not be", name)) {
        return false;
    }
    int other = mix_find_variable(type, name);
    const struct mix_variable *excluded = other >= 0 ? &type->variables.items[other] : variable;
    if (excluded == variable || !is_row_draw(excluded) || excluded->table != variable->table || excluded->count > 0) {
        return mix_fail(reader, at, "`%s` is no row of the same table that was drawn before", name);
    }
    if (variable->excluded_count == MIX_EXCLUDED_MAX) {
        return mix_fail(reader, at, "at most %d variables can be excluded", MIX_EXCLUDED_MAX);
    }
    variable->excluded[variable->excluded_count++] = excluded->slot;
    return true;
}

static bool read_rest(struct mix_reader *reader, const struct mix_type *type, struct mix_variable *variable) {
    const char *at = reader->at;
    while (mix_take_word(reader, "not")) {
        do {
            if (!is_row_draw(variable)) {
                return mix_fail(reader, at, "only a row can be told not to be another");
            }
            if (!read_excluded(reader, type, variable)) {
                return false;
            }
            mix_blanks(reader);
        } while (mix_name_length(reader->at) > 0 && !mix_sees_word(reader, "sorted"));
    }
    if (mix_take_word(reader, "sorted")) {
        variable->sorted = true;
        if (variable->count == 0) {
            return mix_fail(reader, reader->at, "only a set can be sorted");
        }
    }
    if (is_row_draw(variable)) {
        int64_t wanted = (int64_t)(variable->count > 0 ? variable->count : 1) + (int64_t)variable->excluded_count;
        if (wanted > rows_of(variable)) {
            return mix_fail(reader, reader->text, "%" PRId64 " different rows are wanted of %" PRId64, wanted,
                            rows_of(variable));
        }
    }
    return true;
}

static bool place(struct mix_reader *reader, struct mix_type *type, struct mix_variable *variable) {
    if (variable->source >= MIX_SEQUENCE) {
        if (variable->count > 0) {
            return mix_fail(reader, reader->text, "a set cannot be taken from a sequence");
        }
        variable->slot = (uint16_t)type->held_count++;
        return type->held_count <= MIX_HELD_MAX ||
               mix_fail(reader, reader->text, "a transaction has at most %d sequences and found rows", MIX_HELD_MAX);
    }
    variable->slot = (uint16_t)type->value_count;
    type->value_count += variable->count > 0 ? variable->count : 1;
    return type->value_count <= MIX_VALUES_MAX ||
           mix_fail(reader, reader->text, "a transaction draws at most %d values", MIX_VALUES_MAX);
}

/* `name` is what follows `let `: `a`, or `c[7]`. Its own mistakes are told of the entry as a whole. */
static bool split_name(struct mix_reader *reader, const char *key, char name[MIX_NAME_MAX + 1], size_t *count) {
    int64_t size = 0;
    struct mix_reader inner = {
        .faults = reader->faults, .mix = reader->mix, .entry = reader->entry, .at = key, .text = key};
    mix_blanks(&inner);
    size_t length = mix_name_length(inner.at);
    bool good = length > 0 && length <= MIX_NAME_MAX;
    if (good) {
        snprintf(name, MIX_NAME_MAX + 1, "%.*s", (int)length, inner.at);
        inner.at += length;
        if (*inner.at == '[') {
            char *end;
            size = strtoll(inner.at + 1, &end, 10);
            good = *end == ']' && size >= 1 && size <= MIX_VALUES_MAX;
            inner.at = *end == ']' ? end + 1 : end;
        }
        good = good && *inner.at == '\0';
    }
    *count = (size_t)size;
    return good || mix_fail(reader, NULL, "`let %s`: expected `let NAME`, or `let NAME[COUNT]` with a count of 1 .. %d",
                            key, MIX_VALUES_MAX);
}

void mix_read_variable(struct mix_reader *reader, struct mix_type *type, const char *key) {
    char name[MIX_NAME_MAX + 1];
    size_t count;
    if (!split_name(reader, key, name, &count)) {
        return;
    }
    struct mix_variable *variable = mix_add_variable(reader, type, NULL, name);
    if (variable == NULL) {
        return;
    }
    variable->count = count;
    if (read_source(reader, variable) && read_rest(reader, type, variable)) {
        mix_at_end(reader);
    }
    place(reader, type, variable); /* a faulty one, too: else the steps would take it for another */
}
