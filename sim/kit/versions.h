/* versions.h - where the algorithms that keep old versions keep them, and when those go: an option of theirs.
 *
 * undo   The newest version stands in its row's place, older ones behind it, newest first: a reader walks back to the one
 *        it sees, and each version it passes is a hop. What no open snapshot needs is purged at once. (InnoDB, Oracle.)
 * heap   The versions of a row stand side by side: whoever looks the row up passes all but the one he is looking for, and
 *        each is a hop. What no open snapshot needs is dead, and so is what was taken back, but it stays and is passed
 *        until the next vacuum. (PostgreSQL.)
 * In both a version that an open snapshot may have to see stays, and with it, since only the oldest snapshot counts, all
 * that came after. Vacuums come at whole multiples of their period; neither they nor purges take any of the CPUs.
 *
 * Invariant: while anything stored is old and vacuums are on, the next vacuum is set, or no snapshot was closed since. */
#ifndef CCSIM_KIT_VERSIONS_H
#define CCSIM_KIT_VERSIONS_H

#include "sim/base/option.h"
#include "sim/kit/instance.h"

enum versions { VERSIONS_UNDO, VERSIONS_HEAP };
enum vacuum { VACUUM_EVERY, VACUUM_OFF };

struct version_options {
    int versions;
    struct option_call vacuum;
};

extern const char *const versions_choices[], *const versions_vacuum_choices[];

/* The rows of an option table for the `struct version_options` `member` of `struct_type`. */
#define VERSION_OPTIONS(struct_type, member)                                                                           \
    {.name = "versions",                                                                                               \
     .type = OPTION_CHOICE,                                                                                            \
     .offset = offsetof(struct_type, member.versions),                                                                 \
     .fallback = "undo",                                                                                               \
     .choices = versions_choices,                                                                                      \
     .help = "where old versions are: behind the newest, purged as soon as no snapshot needs them; or beside it in a " \
             "heap, dead ones in everybody's way until they are vacuumed"},                                            \
    {                                                                                                                  \
        .name = "vacuum", .type = OPTION_CALL, .offset = offsetof(struct_type, member.vacuum),                         \
        .fallback = "every(30s)", .min = 1e-6, .choices = versions_vacuum_choices,                                     \
        .help = "of a heap: when dead versions are removed; off: never"                                                \
    }

/* cc_ops.start, or part of it. */
void versions_start(struct cc *cc, const struct version_options *options);

/* What no open snapshot needs any more goes, or is left to the next vacuum. After one was closed. */
void versions_settle(struct cc *cc);

/* The time of TIMER_VACUUM has come. */
void versions_vacuum(struct cc *cc);

/* A reader has walked back past so many. In a heap it is not the walk that counts: exec counts what was passed. */
static inline void versions_walked(struct cc *cc, struct txn *txn, uint32_t passed) {
    if (!cc->store->is_heap) {
        txn->work.hops += passed;
    }
}

#endif
