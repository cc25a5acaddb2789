/* axis.h - the values of a sweep, as typed: `2pl occ si`, `1..128 *2`, `0..1 +0.1`, `10ms..50ms +10ms`, or a mixture.
 *
 * Values are separated by blanks or commas outside of brackets. A range is `FROM..TO +STEP` or `FROM..TO *FACTOR`; it
 * ends at the last value that is not above TO. Its values are computed in decimal, digit by digit, so that the fourth
 * value of `0..1 +0.1` is 0.3. The numbers of a range carry the unit that the values shall have; where units differ
 * (`500us..2ms +500us`), all are counted in the smallest of them. */
#ifndef CCSIM_LAB_AXIS_H
#define CCSIM_LAB_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text.h"

enum { AXIS_VALUES_MAX = 1000000 }; /* more values are counted, but not kept */

struct axis_values {
    char **items;
    size_t count, capacity; /* of the values kept */
    uint64_t total;         /* of all values, if the range were written out */
};

/* Fills the zeroed `values`; false with a sentence in `error` if `text` is no list of values. */
bool axis_parse(const char *text, struct axis_values *values, struct text *error);
void axis_free(struct axis_values *values);

#endif
