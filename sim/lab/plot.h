/* plot.h - figures from a results folder, through gnuplot.
 *
 * Everything comes from the folder: what to draw from manifest.json, the numbers from summary.csv. Each figure's script
 * stays beside it: it reads summary.csv by column names and can be edited and run again by hand. */
#ifndef CCSIM_LAB_PLOT_H
#define CCSIM_LAB_PLOT_H

#include <stdio.h>

#include "sim/lab/lab.h"

extern const char *const plot_formats[]; /* NULL-terminated; the first is the default */

/* Draws all figures; names the pictures on `list` (NULL: does not), one a line; messages go to stderr. LAB_USAGE if a
 * figure names a column that is not there; LAB_INCOMPLETE if a file cannot be read or written, or gnuplot fails. */
enum lab_exit plot_folder(const char *folder, const char *format, FILE *list);

/* LAB_INCOMPLETE, and the command that completes them, if results are missing from the folder. */
enum lab_exit plot_completeness(const char *folder);

#endif
