/* check.h - assertions that are always on.
 *
 * A failed CHECK is a bug of the program, never a mistake of its user: it prints the expression, the simulated time
 * and the command that replays the run, and aborts. State what must hold wherever it can be stated; a CHECK that costs
 * more than constant time belongs behind CHECK_SLOW, which only test runs switch on (check_slow_enable). */
#ifndef CCSIM_BASE_CHECK_H
#define CCSIM_BASE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK(condition)          ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__, NULL))
#define CHECK_MSG(condition, ...) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__, __VA_ARGS__))
#define CHECK_SLOW(condition) \
    (!check_slow || (condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__, NULL))

extern bool check_slow; /* are the costly checks on? Off unless check_slow_enable() was called. */

void check_slow_enable(void);

/* What a failed CHECK tells besides the expression: the clock of the run (may be NULL) and the command that replays
 * it (copied, cut at 4,095 bytes; may be NULL). Set at the start of each run. */
void check_context(const int64_t *now_ns, const char *replay_command);

/* Prints and aborts. `format` may be NULL. */
_Noreturn void check_failed(const char *expression, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

#endif
