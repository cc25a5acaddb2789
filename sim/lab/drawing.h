/* drawing.h - the gnuplot script of one figure. */
#ifndef CCSIM_LAB_DRAWING_H
#define CCSIM_LAB_DRAWING_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/text.h"
#include "sim/lab/experiment.h"

/* The content of the figure's source, summary.csv for example, taken apart. */
struct drawing_data {
    char **cells; /* row after row, the header first */
    size_t width, rows;
};

/* In which format, and what gnuplot calls it. */
struct drawing_format {
    const char *ending, *terminal;
};

/* Adds the script; false, with a sentence, if the figure names a column that is not there. It reads the source and
 * writes NAME.ending, unless the variable `picture` says otherwise; both in the directory gnuplot runs in. */
bool drawing_script(const struct figure *figure, const struct drawing_data *data, const struct drawing_format *format,
                    struct text *script, struct text *error);

#endif
