/* inline.h - for small functions that every event runs through, and for hints to fetch ahead: inline whatever the compiler
 * thinks. (A function that only fetches ahead has no effect that it knows of: calls that are not inlined would go.) */
#ifndef CCSIM_BASE_INLINE_H
#define CCSIM_BASE_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
