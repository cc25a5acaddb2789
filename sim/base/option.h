/* option.h - what a user can set, declared once.
 *
 * A module lists its options in one table: name, type, where the value goes, the default as a user would type it,
 * bounds, choices, help. From the table come the parser, `ccsim help`, docs/OPTIONS.md, the effective configuration in
 * the manifest and the fuzzing dictionary. An option's struct is plain data; options_default fills it from the
 * defaults' own text, so a default can never disagree with its documentation. */
#ifndef CCSIM_BASE_OPTION_H
#define CCSIM_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/distribution.h"
#include "sim/base/text.h"

enum option_type {
    OPTION_BOOL,         /* yes, no                                   -> bool */
    OPTION_COUNT,        /* whole number; `unlimited` if allowed      -> int64_t, OPTION_UNLIMITED */
    OPTION_NUMBER,       /* decimal number                            -> double */
    OPTION_SHARE,        /* 35% or 0.35, within 0..1                  -> double */
    OPTION_SIZE,         /* bytes, KiB, MiB                           -> int64_t */
    OPTION_DURATION,     /* with unit                                 -> int64_t nanoseconds */
    OPTION_DISTRIBUTION, /* a duration or a distribution of durations -> struct distribution */
    OPTION_CHOICE,       /* one of `choices`                          -> int: its index */
    OPTION_TEXT,         /* anything                                  -> char [OPTION_TEXT_SIZE] */
    OPTION_CALL,         /* one of `choices`, some with arguments     -> struct option_call */
    OPTION_PROFILE       /* a rate, or `rate duration, rate duration` -> struct option_profile */
};

#define OPTION_UNLIMITED INT64_MAX
#define OPTION_AUTO      (-1)
enum { OPTION_TEXT_SIZE = 512, OPTION_CALL_ARGUMENTS = 3, OPTION_PROFILE_PARTS = 64 };

/* OPTION_CALL: a choice such as "period(duration)" or "backoff(duration, number, duration)" declares its arguments'
 * types by the words duration, number, count, distribution. One choice may be the bare word "distribution": then any
 * duration or distribution is accepted as well. */
struct option_call {
    int choice;
    int64_t integer[OPTION_CALL_ARGUMENTS]; /* duration (ns) and count arguments, by position */
    double number[OPTION_CALL_ARGUMENTS];   /* number arguments, by position */
    struct distribution distribution;       /* of a distribution argument, or of the bare one */
};

/* OPTION_PROFILE: a Poisson rate that changes at given times; the last part lasts for ever. */
struct option_profile {
    int count; /* 0: not given */
    struct {
        double per_second;
        int64_t duration_ns;
    } part[OPTION_PROFILE_PARTS];
};

enum option_flag {
    OPTION_MAY_BE_UNLIMITED = 1, /* COUNT accepts `unlimited` */
    OPTION_REQUIRED = 2,         /* no default: `fallback` is an example for the documentation */
    OPTION_MAY_BE_NEVER = 8,     /* COUNT accepts `never`: OPTION_UNLIMITED */
    OPTION_MAY_BE_AUTO = 16,     /* DURATION accepts `auto`: OPTION_AUTO */
    OPTION_OPTIONAL = 4          /* no default and may be missing; the struct's zero says so */
};

struct option {
    const char *name;
    enum option_type type;
    size_t offset;        /* of the value in the options' struct */
    const char *fallback; /* the default as typed */
    double min, max;      /* bounds of COUNT, NUMBER, SIZE; of DURATION and DISTRIBUTION's mean in seconds. Both 0: none
                                   but that durations and counts are not negative */
    const char *const *choices; /* NULL-terminated, for CHOICE and CALL */
    unsigned flags;
    const char *help; /* one sentence, its first letter lower-case unless a name */
};

struct option_table {
    const struct option *options;
    size_t count;
    size_t size; /* bytes of the struct */
};
/* An initialiser. */
#define OPTION_TABLE(array, values_type) \
    { (array), sizeof(array) / sizeof(array)[0], sizeof(values_type) }

/* Sets every option that has a default. The struct must be zeroed before. Aborts if a default does not parse: that is
 * a bug in a table. */
void options_default(const struct option_table *table, void *values);

/* Parses `text` into values. On a mistake returns false, leaves the value alone and adds to `error` one sentence
 * without a full stop, such as "`5` has no unit (ns, us, ms, s, min, h)" or "`lrg` is none of wait, period(duration);
 * did you mean ..?". */
bool option_parse(const struct option *option, const char *text, void *values, struct text *error);

/* How a column of a result file spells a value typed as `text`: durations in ms, shares as fractions, sizes in bytes,
 * `unlimited` as inf, all else as typed. `text` must parse. */
void option_column(const struct option *option, const char *text, struct text *out);

/* `digest` (digest.h), with the name and value of every option added. Equal digests: equal values, as good as surely. */
uint64_t option_digest(const struct option_table *table, const void *values, uint64_t digest);

/* The option of that name, or NULL. */
const struct option *option_find(const struct option_table *table, const char *name);

/* The type as documentation names it: "duration", "yes or no", "whole number or unlimited", "wait |
 * period(duration)". */
void option_type_name(const struct option *option, struct text *out);

#endif
