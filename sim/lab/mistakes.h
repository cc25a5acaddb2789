/* mistakes.h - what is wrong with the user's input, collected, so that all of it is reported at once.
 *
 * A mistake stands at a place: a line of a file, a file as a whole, or an argument of the command line. They are
 * printed sorted by file and line, those of a file as a whole behind its lines, those of arguments last, in the order
 * in which they were found. */
#ifndef CCSIM_LAB_MISTAKES_H
#define CCSIM_LAB_MISTAKES_H

#include <stddef.h>

#include "sim/base/text.h"

/* `source` numbers the files and, behind them, the arguments; `line` 0: the source as a whole. */
struct place {
    size_t source;
    size_t line;
    size_t column; /* from 1; 0: the line as a whole */
};

struct mistake {
    struct place place;
    char *sentence;
};

struct mistakes {
    struct mistake *items;
    size_t count, capacity;
};

void mistakes_add(struct mistakes *mistakes, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One a line, `NAME:LINE: sentence`, `NAME:LINE:COLUMN: sentence` or `NAME: sentence`, where NAME is names[source]. Sorts the mistakes. */
void mistakes_print(struct mistakes *mistakes, const char *const *names, struct text *out);

void mistakes_free(struct mistakes *mistakes);

#endif
