/* level.h - isolation levels, weakest first: what a transaction asks for and what an algorithm promises. */
#ifndef CCSIM_STORE_LEVEL_H
#define CCSIM_STORE_LEVEL_H

#include "sim/base/text.h"

enum level { LEVEL_RU, LEVEL_RC, LEVEL_RR, LEVEL_SI, LEVEL_SER, LEVEL_COUNT };
enum { LEVEL_OWN = -1 }; /* asks for what the algorithm gives */

/* "RU", "RC", ... */
extern const char *const level_names[LEVEL_COUNT];

/* Adds the names of a bit set of levels: "RC, SI, SER". */
void level_list(unsigned levels, struct text *out);
/* The level of that name, in either case; LEVEL_COUNT if there is none. */
enum level level_find(const char *name);

#endif
