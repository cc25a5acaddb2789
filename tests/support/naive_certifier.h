/* naive_certifier.h - random histories, and a certifier that keeps all of them and follows Adya's definitions word for
 * word: what the online certifier is compared with.
 *
 * A history is a few attempts at a time over a few rows of a simulated store in which a read may see any version that
 * was not superseded before its reader began, committed or not, and a write may go on top of the row's versions or
 * just above one that is not the newest: nothing is protected, so every anomaly occurs. */
#ifndef CCSIM_TESTS_SUPPORT_NAIVE_CERTIFIER_H
#define CCSIM_TESTS_SUPPORT_NAIVE_CERTIFIER_H

#include <stdint.h>

#include "sim/check/certifier.h"

enum naive_kind {
    NAIVE_SINGLE,    /* everybody sees and overwrites the newest version, committed or not */
    NAIVE_COMMITTED, /* reads see the newest committed version */
    NAIVE_SNAPSHOT,  /* reads see the version committed at the first statement */
    NAIVE_ANY,       /* any of the versions that are not dead */
    NAIVE_KINDS
};

/* Plays the history of that seed to `certifier` and to the definitions, whose verdict is left in *counts. */
/* In some histories of level SER the attempts ask for levels of their own. */
void naive_play(struct certifier *certifier, enum certifier_level level, enum naive_kind kind, uint64_t seed,
                struct certifier_counts *counts);

#endif
