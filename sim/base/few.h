/* few.h - a few numbers, all different, in the order in which they came.
 *
 * Nearly all that come are new. A filter of 64 bits says so at once: each number sets the bit that its last digits
 * name, and only one whose bit is set already is looked for among the others. */
#ifndef CCSIM_BASE_FEW_H
#define CCSIM_BASE_FEW_H

#include <stdbool.h>
#include <stdint.h>

struct few {
    uint64_t count, filter; /* start at 0 */
};

/* Is the number surely not one of those noted before? Notes it. */
static inline bool few_is_new(struct few *few, uint64_t number) {
    uint64_t bit = UINT64_C(1) << (number % 64), before = few->filter;
    few->filter = before | bit;
    return __builtin_expect((before & bit) == 0, 1);
}

/* Puts the number behind those in `numbers`, whose count grows, if it is not one of them; returns whether it did. */
static inline bool few_add(struct few *few, uint64_t *numbers, uint64_t number) {
    if (!few_is_new(few, number)) {
        for (uint64_t i = 0; i < few->count; i++) {
            if (numbers[i] == number) {
                return false;
            }
        }
    }
    numbers[few->count++] = number;
    return true;
}

#endif
