/* level.h - isolation levels, weakest first: what a transaction asks for and what an algorithm promises. */
#ifndef CCSIM_STORE_LEVEL_H
#define CCSIM_STORE_LEVEL_H

enum level { LEVEL_RU, LEVEL_RC, LEVEL_RR, LEVEL_SI, LEVEL_SER, LEVEL_COUNT };
enum { LEVEL_OWN = -1 }; /* asks for what the algorithm gives */

/* "RU", "RC", ... */
extern const char *const level_names[LEVEL_COUNT];

#endif
