/* picture.h - pictures through programs of their own: gnuplot for figures, graphviz's dot for graphs. A program runs in
 * the folder, where its script stays, and draws under a temporary name: the picture appears whole or not at all. */
#ifndef CCSIM_LAB_PICTURE_H
#define CCSIM_LAB_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/text.h"
#include "sim/lab/drawing.h"

enum picture_program { PICTURE_GNUPLOT, PICTURE_DOT };

/* gnuplot's terminals, in the order of plot_formats. */
extern const struct drawing_format picture_formats[];

/* The file, whole or not at all; false with a message on stderr. */
bool picture_write(const char *folder, const char *file_name, const struct text *content);

/* Draws NAME.format from NAME.gp or NAME.dot; says so on `list` (NULL: does not). False with a message on stderr that ends
 * with the command `again`. */
bool picture_draw(enum picture_program program, const char *folder, const char *name, const char *format,
                  const char *again, FILE *list);

#endif
