/* outfile.h - files that appear whole or not at all: written under a temporary name in the same folder, forced to disk,
 * then renamed. Until outfile_commit the old file of that name is untouched. */
#ifndef CCSIM_LAB_OUTFILE_H
#define CCSIM_LAB_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text.h"

struct outfile {
    char *path, *temporary; /* NULL: not open */
    int descriptor;
    uint64_t size; /* bytes written, what is still in the buffer included */
    struct text buffer;
    int error; /* errno of the first failure; later writes do nothing */
};

/* False if it cannot be created; the reason is in `error`. */
bool outfile_open(struct outfile *file, const char *folder, const char *name);
bool outfile_write(struct outfile *file, const char *bytes, size_t count);

/* Reads back what was written, in whole; false on an error. */
bool outfile_read(struct outfile *file, uint64_t offset, char *bytes, size_t count);

/* Everything on disk under the temporary name. */
bool outfile_finish(struct outfile *file);

/* After outfile_finish: gives the file its name. The folder's entry is forced to disk too. */
bool outfile_commit(struct outfile *file);

/* Before outfile_commit: it will appear under another name, on the same file system. */
void outfile_redirect(struct outfile *file, const char *folder, const char *name);

/* Frees; what was not committed vanishes. */
void outfile_close(struct outfile *file);

/* Locks the open file or folder for this program, waiting a moment: workers of a program that was killed need one to end.
 * False if another program has it. */
bool outfile_lock(int descriptor);

/* Makes the folder and those above it. `created` says whether the last one is new. False with errno set on failure. */
bool outfile_make_folder(const char *folder, bool *created);

/* The whole file, terminated, to be freed with mem_free; NULL with errno set on failure. */
char *outfile_load(const char *path);

#endif
