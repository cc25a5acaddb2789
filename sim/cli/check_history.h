/* check_history.h - ccsim check of a history file: what the certifier of the run said, said again. */
#ifndef CCSIM_CLI_CHECK_HISTORY_H
#define CCSIM_CLI_CHECK_HISTORY_H

#include <stdbool.h>

#include "sim/base/text.h"

/* Does the text begin as history files do? */
bool check_is_history(const struct text *text);

/* Judges it and prints what came out; `required`: the level it must have (an index of certifier_level_names), or -1.
 * Returns
 * the exit code: 1 if it breaks that level or, with -1, the one that its algorithm promised. */
int check_history(const char *source, const struct text *text, int required, bool as_json);

#endif
