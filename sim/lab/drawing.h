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

/* ---- What the kinds of figures share ---- */

enum { DRAWING_COLOURS = 7 };
extern const char *const drawing_colours[DRAWING_COLOURS];

static inline const char *drawing_cell(const struct drawing_data *data, size_t row, size_t column) {
    return data->cells[row * data->width + column];
}
/* data->width if there is no such column. */
size_t drawing_column(const struct drawing_data *data, const char *name);
bool drawing_varies(const struct drawing_data *data, size_t column);
/* Files say inf where people say unlimited. */
const char *drawing_shown(const char *value);
/* Adds a string as gnuplot's single quotes hold it. */
void drawing_add_quoted(struct text *out, const char *words);
/* Terminal, output, title, labels, frame. */
void drawing_head(const struct figure *figure, const char *title, const struct drawing_format *format,
                  struct text *out);

/* drawing_map.c: a map, all of whose columns are there. False, with a sentence, if an axis is left open. */
bool drawing_map(const struct figure *figure, const struct drawing_data *data, const struct drawing_format *format,
                 struct text *script, struct text *error);

#endif
