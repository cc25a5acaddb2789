/* mix_scan.c - the smallest parts of the text of a mix: signs, names, numbers, tables. A mistake is told once for each
 * entry, at the byte where it shows. */
#include "workloads/mix.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUGGESTION_BYTES = 160 };

bool mix_fail(struct mix_reader *reader, const char *at, const char *format, ...) {
    if (reader->failed) {
        return false;
    }
    va_list arguments;
    char sentence[512];
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    reader->failed = reader->complained = true;
    reader->faults->add(reader->faults->context, reader->entry,
                        at != NULL ? (size_t)(at - reader->text) : WORKLOAD_WHOLE, sentence);
    return false;
}

void mix_blanks(struct mix_reader *reader) {
    while (*reader->at == ' ' || *reader->at == '\t') {
        reader->at++;
    }
}

bool mix_sees(struct mix_reader *reader, const char *sign) {
    mix_blanks(reader);
    return strncmp(reader->at, sign, strlen(sign)) == 0;
}

bool mix_take(struct mix_reader *reader, const char *sign) {
    if (!mix_sees(reader, sign)) {
        return false;
    }
    reader->at += strlen(sign);
    return true;
}

bool mix_sees_word(struct mix_reader *reader, const char *word) {
    mix_blanks(reader);
    size_t length = strlen(word);
    return mix_name_length(reader->at) == length && strncmp(reader->at, word, length) == 0;
}

bool mix_take_word(struct mix_reader *reader, const char *word) {
    if (!mix_sees_word(reader, word)) {
        return false;
    }
    reader->at += strlen(word);
    return true;
}

bool mix_expect(struct mix_reader *reader, const char *sign) {
    return mix_take(reader, sign) || mix_fail(reader, reader->at, "expected `%s`", sign);
}

bool mix_is_at_end(struct mix_reader *reader) {
    mix_blanks(reader);
    return *reader->at == '\0';
}

bool mix_at_end(struct mix_reader *reader) {
    return mix_is_at_end(reader) || mix_fail(reader, reader->at, "expected nothing more here");
}

size_t mix_name_length(const char *at) {
    size_t length = 0;
    if (isalpha((unsigned char)*at) || *at == '_') {
        while (isalnum((unsigned char)at[length]) || at[length] == '_') {
            length++;
        }
    }
    return length;
}

bool mix_name(struct mix_reader *reader, const char *what, char name[MIX_NAME_MAX + 1]) {
    mix_blanks(reader);
    size_t length = mix_name_length(reader->at);
    if (length == 0) {
        return mix_fail(reader, reader->at, "expected %s", what);
    }
    if (length > MIX_NAME_MAX) {
        return mix_fail(reader, reader->at, "names have at most %d letters", MIX_NAME_MAX);
    }
    memcpy(name, reader->at, length);
    name[length] = '\0';
    reader->at += length;
    return true;
}

bool mix_integer(struct mix_reader *reader, const char *what, int64_t *value) {
    mix_blanks(reader);
    char *end;
    const char *digits = reader->at + (*reader->at == '-');
    if (!isdigit((unsigned char)*digits)) {
        return mix_fail(reader, reader->at, "expected %s", what);
    }
    errno = 0;
    *value = strtoll(reader->at, &end, 10);
    if (errno != 0 || *value > INT64_C(1000000000000000) || *value < -INT64_C(1000000000000000)) {
        return mix_fail(reader, reader->at, "numbers are within -10^15 .. 10^15");
    }
    if (*end == '.' || mix_name_length(end) > 0) {
        return mix_fail(reader, reader->at, "expected %s", what);
    }
    reader->at = end;
    return true;
}

bool mix_operator(struct mix_reader *reader, enum condition_operator *operator) {
    static const struct {
        const char *sign;
        enum condition_operator operator;
    } operators[] = {{">=", CONDITION_GE}, {"<=", CONDITION_LE}, {"!=", CONDITION_NE},
                     {"=", CONDITION_EQ},  {"<", CONDITION_LT},  {">", CONDITION_GT}};
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (mix_take(reader, operators[i].sign)) {
            *operator= operators[i].operator;
            return true;
        }
    }
    return mix_fail(reader, reader->at, "expected one of = != < <= > >=");
}

bool mix_until_bracket(struct mix_reader *reader, char *buffer, size_t size) {
    size_t length = 0, depth = 0;
    for (; reader->at[length] != '\0' && (depth > 0 || reader->at[length] != ')'); length++) {
        depth += reader->at[length] == '(';
        depth -= reader->at[length] == ')';
    }
    if (reader->at[length] == '\0') {
        return mix_fail(reader, reader->at + length, "expected `)`");
    }
    snprintf(buffer, size, "%.*s", (int)length, reader->at);
    reader->at += length;
    return true;
}

int mix_find_table(const struct mix *mix, const char *name) {
    for (size_t i = 0; i < mix->tables.count; i++) {
        if (strcmp(mix->tables.items[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

bool mix_table_name(struct mix_reader *reader, int *table) {
    char name[MIX_NAME_MAX + 1], suggestion[SUGGESTION_BYTES];
    const char *names[STORE_TABLES_MAX];
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "a table", name)) {
        return false;
    }
    *table = mix_find_table(reader->mix, name);
    for (size_t i = 0; i < reader->mix->tables.count; i++) {
        names[i] = reader->mix->tables.items[i].name;
    }
    return *table >= 0 ||
           mix_fail(reader, at, "unknown table `%s`%s", name,
                    text_suggestion(suggestion, sizeof suggestion, name, names, reader->mix->tables.count));
}
