/* trial.h - schedules played in tests: what must hold of one, in facts (facts.h); and every interleaving of a few
 * transactions. */
#ifndef CCSIM_TESTS_SUPPORT_TRIAL_H
#define CCSIM_TESTS_SUPPORT_TRIAL_H

#include <stddef.h>

#include "sim/exec/player.h"

/* `algorithm`: a name, perhaps with one option: "2pl victim=oldest". Facts are separated by `;`. */
struct trial {
    const char *algorithm, *schedule, *facts;
};

void trial_try(const struct trial *trials, size_t count);
#define TRIAL_TRY(trials) trial_try((trials), sizeof(trials) / sizeof(trials)[0])

/* Plays one; free with trial_close. */
struct trial_play {
    struct play play;
    struct schedule_book book;
    void *options;
};
void trial_open(struct trial_play *trial, const char *algorithm, const char *schedule);
void trial_close(struct trial_play *trial);

enum { WEAVE_STEPS_MAX = 5, WEAVE_TXNS_MAX = 3 };
struct weave {
    const char *header; /* lines before the steps, or NULL */
    const char *steps[WEAVE_TXNS_MAX][WEAVE_STEPS_MAX];
    int txns, length; /* steps of each */
};

/* Hands out every interleaving once; returns how many there were. */
size_t weave_all(const struct weave *weave, void (*see)(void *context, const char *schedule), void *context);

#endif
