/* option_value.h - single values as a user types them: the parts of option_parse that need no table. Each function
 * returns false and adds to `error` one sentence without a full stop that quotes the mistake; else it sets the value.
 * Blanks around a value do not matter. */
#ifndef CCSIM_BASE_OPTION_VALUE_H
#define CCSIM_BASE_OPTION_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/distribution.h"
#include "sim/base/option.h"
#include "sim/base/text.h"

/* No duration is longer, 31 years: sums of several fit 64 bits of nanoseconds. */
#define OPTION_DURATION_MAX_NS INT64_C(1000000000000000000)

bool option_value_count(const char *text, int64_t *value, struct text *error); /* 0 .. OPTION_UNLIMITED - 1 */
bool option_value_number(const char *text, double *value, struct text *error);
bool option_value_share(const char *text, double *value, struct text *error);
bool option_value_size(const char *text, int64_t *bytes, struct text *error);
bool option_value_duration(const char *text, int64_t *value_ns, struct text *error); /* 0 .. OPTION_DURATION_MAX_NS */
bool option_value_rate(const char *text, double *per_second, struct text *error);    /* 0 .. 10^9 */
bool option_value_distribution(const char *text, struct distribution *value, struct text *error);

/* The index of the choice that `text` is. */
bool option_value_choice(const char *text, const char *const *choices, int *value, struct text *error);

/* One of `choices` with its arguments, see struct option_call. A choice that is the bare word `distribution`, or
 * `duration`, stands for any value of that kind (a duration goes to integer[0]). */
bool option_value_call(const char *text, const char *const *choices, struct option_call *value, struct text *error);

/* "wait, period(duration)": the choices with `separator` between them. */
void option_value_choices(const char *const *choices, const char *separator, struct text *out);

/* A duration as one would type it: in the largest unit that needs no decimals; in seconds if all do. */
void option_value_duration_text(double seconds, struct text *out);

#endif
