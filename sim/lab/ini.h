/* ini.h - a config file as a list of sections and entries with their line numbers.
 *
 * The grammar is libinih's: `[section]`, `key = value`, comments from `;` after a blank and from `#` or `;` at the
 * start
 * of a line, a value that goes on in indented lines (joined here by one blank). libinih takes its lines from a reader;
 * ours counts them and notices what the library would pass over in silence: lines it would split, bytes that are no
 * text, lines without `=`, keys given twice. */
#ifndef CCSIM_LAB_INI_H
#define CCSIM_LAB_INI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/lab/mistakes.h"

enum {
    INI_LINE_BYTES = 198, /* the longest line that libinih takes whole */
    INI_NAME_BYTES = 49,  /* and the longest name */
    INI_LINES_MAX = 10000
};

struct ini_section {
    char *name;
    size_t line;
};

/* Where a value's bytes come from: those from `offset` on stand in that line, the first in that column (from 1). */
struct ini_piece {
    size_t offset, line, column;
};
struct ini_pieces {
    struct ini_piece *items;
    size_t count, capacity;
};

struct ini_entry {
    size_t section; /* number of the section header it stands under; a section may have several headers */
    char *key, *value;
    size_t line;
    struct ini_pieces pieces;
};

struct ini {
    struct {
        struct ini_section *items;
        size_t count, capacity;
    } sections;
    struct {
        struct ini_entry *items;
        size_t count, capacity;
    } entries;
};

/* Reads the file, "-" being standard input, into the zeroed `ini`. Mistakes are reported as those of `source`; what is
 * well-formed is there all the same. */
void ini_read(struct ini *ini, const char *path, size_t source, struct mistakes *mistakes);
void ini_read_stream(struct ini *ini, FILE *stream, size_t source, struct mistakes *mistakes);
void ini_read_text(struct ini *ini, const char *text, size_t source, struct mistakes *mistakes);
void ini_free(struct ini *ini);

#endif
