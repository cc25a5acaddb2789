/* lock_mode.h - the modes of locks: which may be held at once, and which covers which.
 *
 *           beside                 S is the right to read all of the locked thing, X to write all of it; U is S with the
 *     IS    IS IX S U SIX          promise to write, which only one can give; the intention modes IS and IX announce S,
 *     IX    IS IX                  or U and X, on parts of it; SIX is S and IX in one.
 *     S     IS S U
 *     U     IS S                   A mode covers another if it stands beside no more. That makes a lattice,
 *     SIX   IS                         NONE < IS < IX < SIX < X   and   IS < S < U < SIX,
 *     X     nothing                in which every two modes have a weakest one that covers both: IX and S join in SIX.
 *
 * Gray, Lorie, Putzolu, Traiger, "Granularity of locks and degrees of consistency in a shared data base" (1976). Differs
 * from the paper: U, there asymmetric in later books, lets readers in beside it and stands between S and SIX. */
#ifndef CCSIM_KIT_LOCK_MODE_H
#define CCSIM_KIT_LOCK_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* Those of records first; the intention modes are about what lies beneath. */
enum lock_mode { MODE_NONE, MODE_S, MODE_U, MODE_X, MODE_IS, MODE_IX, MODE_SIX, MODE_COUNT };
enum { LOCK_DIRECT = MODE_X + 1 }; /* modes that say something about the locked thing itself */

extern const char *const lock_mode_names[MODE_COUNT];

/* Bit m of lock_conflicts[mode]: the mode cannot stand beside m. */
extern const uint8_t lock_conflicts[MODE_COUNT];
extern const uint8_t lock_joins[MODE_COUNT][MODE_COUNT], lock_directs[MODE_COUNT];

static inline bool lock_conflict(enum lock_mode a, enum lock_mode b) { return (lock_conflicts[a] >> b & 1) != 0; }

/* The weakest mode that covers both. */
static inline enum lock_mode lock_join(enum lock_mode a, enum lock_mode b) { return (enum lock_mode)lock_joins[a][b]; }

static inline bool lock_covers(enum lock_mode strong, enum lock_mode weak) { return lock_join(strong, weak) == strong; }

/* What a mode says about the locked thing itself. */
static inline enum lock_mode lock_direct(enum lock_mode mode) { return (enum lock_mode)lock_directs[mode]; }

/* The mode that announces, on what contains it, a lock of that mode. */
static inline enum lock_mode lock_intention(enum lock_mode mode) {
    return mode == MODE_NONE ? MODE_NONE : mode == MODE_S || mode == MODE_IS ? MODE_IS : MODE_IX;
}

#endif
