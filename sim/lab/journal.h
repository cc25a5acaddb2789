/* journal.h - finished runs on disk, a line each, written the moment they finish: what was computed once is not computed
 * again, whatever ended the program.
 *
 * A journal is a part file: `.runs.part` in a results folder, or `runs-K-of-N.part` of one shard of an experiment. A run
 * is found by its key (experiment_run_key), so a journal serves any experiment that has runs in common with it: the same
 * one after an interruption, with more replications, with a longer sweep. It holds the work of one build of the
 * program; another build starts it anew, since nobody knows what differs.
 *
 * Lines: a checksum, then `header` (build, plan, shard, command and config of those who write from here on) or `run` (key,
 * what came out). Each is written by one call, so that only the last one can be torn; a line whose checksum does not fit
 * is passed over. Opening for writing cuts a torn end off. */
#ifndef CCSIM_LAB_JOURNAL_H
#define CCSIM_LAB_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/lab/shard.h"

/* Who writes. */
struct journal_header {
    uint64_t build, plan;
    struct shard shard;
    const char *name, *command, *config; /* of the experiment; what computes all of it; as effective */
};

/* A run that a journal holds: where its outcome stands, still escaped. */
struct journal_run {
    uint64_t key;
    size_t offset, length;
};

struct journal {
    char *path;
    const char *content; /* of the file as it was found: mapped, not copied, however long; NULL: empty */
    size_t length;
    struct journal_header header;      /* the last one found; build 0: there is none */
    struct text name, command, config; /* of that header */
    VECTOR(struct journal_run) runs;   /* ordered by key, each once */
    int descriptor;                    /* -1: only read */
};

/* The name of the part file of a shard. */
void journal_name(struct shard shard, struct text *out);

/* A digest of the program itself. */
uint64_t journal_build(void);

/* Reads a part file. False with a sentence if it cannot be read; a file that is not there holds nothing, which is true. */
bool journal_read(struct journal *journal, const char *path, struct text *error);

/* Adds all part files of a folder, in the order of their names, but the one called `except` (may be NULL). */
struct journals {
    struct journal *items;
    size_t count, capacity;
};
bool journal_read_folder(const char *folder, const char *except, struct journals *journals, struct text *error);

/* Reads the part file and makes it ready for more of the same build; one of another build, or any if `fresh`, starts
 * anew. False with a sentence. Close it in any case. */
bool journal_open(struct journal *journal, const char *path, const struct journal_header *header, bool fresh,
                  struct text *error);

/* Sets `outcome` to what came out of the run of that key; false if there is none. Those added since it was opened are
 * not found. */
bool journal_find(const struct journal *journal, uint64_t key, struct text *outcome);

/* Adds what came out of a run. False with errno set. */
bool journal_add(struct journal *journal, uint64_t key, const char *outcome, size_t length);

/* Nothing was added that is worth keeping: a file that holds no run vanishes. */
void journal_discard(struct journal *journal);

void journal_close(struct journal *journal);

#endif
