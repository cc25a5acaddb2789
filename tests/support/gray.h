/* gray.h - the modes of locks from first principles: what each lets its owner do and what it makes impossible for others
 * is written down as rights, and compatibility, strength and joins follow from them by looking at everything. */
#ifndef CCSIM_TESTS_SUPPORT_GRAY_H
#define CCSIM_TESTS_SUPPORT_GRAY_H

#include <stdbool.h>

#include "sim/kit/lock_mode.h"

/* Can two transactions use all the rights of the two modes at once and still be isolated? */
bool gray_beside(enum lock_mode a, enum lock_mode b);
/* Does whoever holds `strong` keep out all whom `weak` keeps out? */
bool gray_covers(enum lock_mode strong, enum lock_mode weak);
/* The mode that covers both and is covered by all that do; MODE_COUNT if there is no such. */
enum lock_mode gray_join(enum lock_mode a, enum lock_mode b);

#endif
