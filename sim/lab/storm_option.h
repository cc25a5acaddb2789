/* storm_option.h - options at random, and as text: what `ccsim storm` needs to draw a world of whatever there is to
 * set,
 * options included that were not thought of here. */
#ifndef CCSIM_LAB_STORM_OPTION_H
#define CCSIM_LAB_STORM_OPTION_H

#include "sim/base/option.h"
#include "sim/base/random.h"

static inline int64_t storm_between(struct stream *stream, int64_t low, int64_t high) {
    return low + (int64_t)stream_below(stream, (uint64_t)(high - low + 1));
}

static inline bool storm_chance(struct stream *stream, double probability) { return stream_unit(stream) < probability; }

/* Adds a small random value as a user would type it: counts near their lower bound, durations of a few milliseconds at
 * most, the bounds of shares more often than chance would. False, and nothing added, for an option that has to be left
 * alone: texts, profiles, and what may be missing. */
bool storm_option_draw(const struct option *option, struct stream *stream, struct text *out);

/* Adds ` PREFIX.name=value` for every option whose value differs from the default; option_parse takes it back. */
void storm_option_tell(const struct option_table *table, const void *values, const char *prefix, struct text *out);

#endif
