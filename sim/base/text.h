/* text.h - strings: a growing buffer, numbers as the result files spell them, units, and the nearest valid name. */
#ifndef CCSIM_BASE_TEXT_H
#define CCSIM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string; {0} is the empty one. `bytes` is always terminated once something was added. */
struct text {
    char *bytes;
    size_t length, capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t count);
/* Adds a word as a shell takes it: in single quotes if it needs them. */
void text_add_shell_word(struct text *text, const char *word);
void text_clear(struct text *text);
void text_free(struct text *text);
const char *text_string(const struct text *text); /* "" if nothing was added */

/* `value` with at most 9 significant digits, '.' as decimal point whatever the locale, no exponent between 1e-5 and
 * 1e9, "inf" for infinity and "" for not-a-number; `buffer` holds at least 32 bytes and is returned. */
char *text_number(char *buffer, double value);

/* Parse the whole of `text` (blanks around it allowed); false if it is not such a thing. Durations need a unit (ns us
 * ms s min h), except 0; shares are `35%` or 0.35; sizes take B, KiB, MiB, GiB or none; rates `500/s` (also /ms, /min).
 * Numbers are decimal, with an optional exponent. A value that does not fit is false too. */
bool text_parse_integer(const char *text, int64_t *value);
bool text_parse_number(const char *text, double *value);
bool text_parse_duration(const char *text, int64_t *value_ns);
bool text_parse_share(const char *text, double *value);
bool text_parse_size(const char *text, int64_t *bytes);
bool text_parse_rate(const char *text, double *per_second);

/* `digest` (digest.h), with the string and its end added. */
uint64_t text_digest(uint64_t digest, const char *text);

/* Splits `name(a, b)` in place into its name and arguments (blanks trimmed); plain `name` has none. Returns the number
 * of arguments, or -1 for unbalanced brackets, an empty argument or more than `room`. */
int text_split_call(char *text, char **name, char **arguments, int room);

/* Trims blanks at both ends in place and returns the first non-blank. */
char *text_trim(char *text);

/* The candidate nearest to `word` by edit distance (transpositions count one; upper and lower case alike), the first of
 * several; NULL if none is near enough to be meant: more than a third of the letters differ. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

/* "; did you mean NAME?" or "" - the tail of every message about an unknown name. The result lives in `buffer`. */
const char *text_suggestion(char *buffer, size_t size, const char *word, const char *const *candidates, size_t count);

#endif
