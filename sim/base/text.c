/* text.c - strings. Numbers are read and written by the rules of the C locale whatever locale the process has set: a
 * decimal comma in a result file or a config would be another language. */
#include "sim/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/memory.h"

#define BLANKS " \t\r\n"

/* Room for `count` more bytes and the terminator. */
static void reserve(struct text *text, size_t count) {
    size_t needed = text->length + count + 1;
    if (needed > text->capacity) {
        size_t doubled = text->capacity * 2;
        text->capacity = needed > doubled ? needed : doubled;
        text->bytes = mem_resize(text->bytes, text->capacity, 1);
    }
}

void text_add(struct text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int count = vsnprintf(NULL, 0, format, arguments);
    CHECK(count >= 0);
    reserve(text, (size_t)count);
    vsnprintf(text->bytes + text->length, (size_t)count + 1, format, again);
    text->length += (size_t)count;
    va_end(again);
    va_end(arguments);
}

void text_add_bytes(struct text *text, const char *bytes, size_t count) {
    reserve(text, count);
    if (count > 0) {
        memcpy(text->bytes + text->length, bytes, count);
    }
    text->length += count;
    text->bytes[text->length] = '\0';
}

void text_add_shell_word(struct text *text, const char *word) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        text_add(text, "%s", word);
        return;
    }
    text_add(text, "'");
    for (const char *p = word; *p != '\0'; p++) {
        text_add_bytes(text, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
    }
    text_add(text, "'");
}

void text_clear(struct text *text) {
    text->length = 0;
    if (text->bytes != NULL) {
        text->bytes[0] = '\0';
    }
}

void text_free(struct text *text) {
    mem_free(text->bytes);
    *text = (struct text){0};
}

const char *text_string(const struct text *text) { return text->bytes != NULL ? text->bytes : ""; }

/* Whatever stands where the C locale has its point, be it one byte or several, becomes a point. */
static void point_only(char *number) {
    char *to = number;
    for (const char *from = number; *from != '\0'; from++) {
        if (strchr("+-0123456789einfa", *from) != NULL) {
            *to++ = *from;
        } else if (to == number || to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
}

static void drop_trailing_zeros(char *number) {
    char *end = number + strlen(number);
    while (end[-1] == '0') {
        *--end = '\0';
    }
}

char *text_number(char *buffer, double value) {
    enum { SIZE = 32 };
    buffer[0] = '\0';
    if (isnan(value)) {
        return buffer;
    }
    double size = fabs(value);
    if (size >= 1e-5 && size < 1e-4) { /* where %g takes an exponent; the first of nine digits is the fifth decimal */
        snprintf(buffer, SIZE, "%.13f", value);
        drop_trailing_zeros(buffer);
    } else {
        snprintf(buffer, SIZE, "%.9g", value + 0.0); /* + 0.0: no minus zero */
    }
    point_only(buffer);
    return buffer;
}

/* Reads [+-] digits [. digits] [e [+-] digits] with at least one digit before the exponent: no hexadecimal, "inf" or
 * "nan", which strtod would take. Returns what follows, or NULL if there is no number or none that fits a double. */
static const char *scan_number(const char *text, double *value) {
    static locale_t c_locale;
    if (c_locale == (locale_t)0) {
        c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        CHECK(c_locale != (locale_t)0);
    }
    const char *p = text + (*text == '+' || *text == '-');
    size_t whole = strspn(p, "0123456789"), fraction = 0;
    p += whole;
    if (*p == '.') {
        fraction = strspn(p + 1, "0123456789");
        p += 1 + fraction;
    }
    if (whole + fraction == 0) {
        return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        const char *digits = p + 1 + (p[1] == '+' || p[1] == '-');
        size_t count = strspn(digits, "0123456789");
        p = count > 0 ? digits + count : p;
    }
    char *end;
    *value = strtod_l(text, &end, c_locale);
    return end == p && isfinite(*value) ? p : NULL;
}

static const char *skip_blanks(const char *text) { return text + strspn(text, BLANKS); }

static bool at_end(const char *text) { return *skip_blanks(text) == '\0'; }

bool text_parse_number(const char *text, double *value) {
    double number;
    const char *rest = scan_number(skip_blanks(text), &number);
    if (rest == NULL || !at_end(rest)) {
        return false;
    }
    *value = number;
    return true;
}

/* Digits are taken exactly; a form with an exponent (1e6) if it is a whole number that a double holds exactly. */
bool text_parse_integer(const char *text, int64_t *value) {
    const char *start = skip_blanks(text);
    const char *digits = start + (*start == '+' || *start == '-');
    size_t count = strspn(digits, "0123456789");
    if (count > 0 && at_end(digits + count)) {
        errno = 0;
        long long number = strtoll(start, NULL, 10);
        if (errno != 0) {
            return false;
        }
        *value = number;
        return true;
    }
    double number;
    if (strpbrk(start, "eE") == NULL || !text_parse_number(start, &number) || fabs(number) > 0x1p53 ||
        number != trunc(number)) {
        return false;
    }
    *value = (int64_t)number;
    return true;
}

struct unit {
    const char *name;
    double factor;
};

/* The number before the unit and the unit's factor; false if the unit is none of `units`, "" standing for no unit. */
static bool parse_with_unit(const char *text, const struct unit *units, size_t count, double *number, double *factor) {
    const char *rest = scan_number(skip_blanks(text), number);
    if (rest == NULL) {
        return false;
    }
    size_t length = strcspn(rest, BLANKS);
    if (!at_end(rest + length)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, rest, length) == 0) {
            *factor = units[i].factor;
            return true;
        }
    }
    return false;
}
#define UNITS(array) (array), sizeof(array) / sizeof(array)[0]

/* To the nearest nanosecond; what is not nothing but would round to it is refused. */
bool text_parse_duration(const char *text, int64_t *value_ns) {
    static const struct unit units[] = {{"ns", 1},     {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
                                        {"min", 60e9}, {"h", 3600e9}, {"", 0}};
    double number, factor;
    if (!parse_with_unit(text, UNITS(units), &number, &factor) || (factor <= 0 && number != 0)) {
        return false;
    }
    double ns = round(number * factor);
    if (fabs(ns) >= 0x1p63 || (ns == 0 && number != 0)) {
        return false;
    }
    *value_ns = (int64_t)ns;
    return true;
}

bool text_parse_share(const char *text, double *value) {
    static const struct unit units[] = {{"%", 100}, {"", 1}};
    double number, divisor;
    if (!parse_with_unit(text, UNITS(units), &number, &divisor)) {
        return false;
    }
    *value = number / divisor;
    return true;
}

bool text_parse_size(const char *text, int64_t *bytes) {
    static const struct unit units[] = {{"", 1}, {"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
    double number, factor;
    if (!parse_with_unit(text, UNITS(units), &number, &factor)) {
        return false;
    }
    double size = number * factor;
    if (fabs(size) > 0x1p53 || size != trunc(size)) {
        return false;
    }
    *bytes = (int64_t)size;
    return true;
}

bool text_parse_rate(const char *text, double *per_second) {
    static const struct unit units[] = {{"/s", 1}, {"/ms", 1e3}, {"/min", 1.0 / 60}};
    double number, factor;
    if (!parse_with_unit(text, UNITS(units), &number, &factor) || !isfinite(number * factor)) {
        return false;
    }
    *per_second = factor < 1 ? number / 60 : number * factor;
    return true;
}

char *text_trim(char *text) {
    text += strspn(text, BLANKS);
    char *end = text + strlen(text);
    while (end > text && strchr(BLANKS, end[-1]) != NULL) {
        *--end = '\0';
    }
    return text;
}

/* Where the argument that begins at `text` ends: at a comma or bracket outside of any brackets of its own; or NULL. */
static char *argument_end(char *text) {
    int depth = 0;
    for (char *p = text; *p != '\0'; p++) {
        if (depth == 0 && (*p == ',' || *p == ')')) {
            return p;
        }
        depth += (*p == '(') - (*p == ')');
    }
    return NULL;
}

int text_split_call(char *text, char **name, char **arguments, int room) {
    *name = text_trim(text);
    char *open = strchr(*name, '(');
    if (open == NULL) {
        return strchr(*name, ')') == NULL ? 0 : -1;
    }
    *open = '\0';
    *name = text_trim(*name);
    char *start = open + 1;
    for (int count = 0; count < room; count++) {
        char *end = argument_end(start);
        if (end == NULL) {
            return -1;
        }
        char stop = *end;
        *end = '\0';
        arguments[count] = text_trim(start);
        if (arguments[count][0] == '\0') {
            return -1;
        }
        start = end + 1;
        if (stop == ')') {
            return *start == '\0' ? count + 1 : -1;
        }
    }
    return -1;
}

enum { WORD_LENGTH_MAX = 127 };

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static bool same_letter(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* How many letters must be put in, taken out, changed or swapped with their neighbour (no part edited twice); `b` has
 * at most WORD_LENGTH_MAX of them. Three rows of the usual table: a swap looks back to the row before the last. */
static size_t distance(const char *a, const char *b) {
    size_t rows[3][WORD_LENGTH_MAX + 1];
    size_t width = strlen(b);
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= width; j++) {
        last[j] = before[j] = j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = smallest(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
                row[j] = smallest(row[j], before[j - 2] + 1, row[j]);
            }
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[width];
}

/* Near enough: a third of the longer word's letters, rounded, may be wrong. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    size_t best = SIZE_MAX, length = strlen(word);
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > WORD_LENGTH_MAX) {
            continue;
        }
        size_t longer = length > other ? length : other;
        size_t errors = distance(word, candidates[i]);
        if (errors <= (longer + 1) / 3 && errors < best) {
            best = errors;
            nearest = candidates[i];
        }
    }
    return nearest;
}

const char *text_suggestion(char *buffer, size_t size, const char *word, const char *const *candidates, size_t count) {
    const char *nearest = text_nearest(word, candidates, count);
    CHECK(size > 0);
    buffer[0] = '\0';
    if (nearest != NULL) {
        snprintf(buffer, size, "; did you mean %s?", nearest);
    }
    return buffer;
}

uint64_t text_digest(uint64_t digest, const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        digest = digest_add(digest, (unsigned char)*at);
    }
    return digest_add(digest, UINT64_MAX);
}
