#include "sim/base/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool check_slow;

static const int64_t *context_now_ns;
static char context_replay[4096];

void check_slow_enable(void) { check_slow = true; }

void check_context(const int64_t *now_ns, const char *replay_command) {
    context_now_ns = now_ns;
    snprintf(context_replay, sizeof context_replay, "%s", replay_command != NULL ? replay_command : "");
}

void check_failed(const char *expression, const char *file, int line, const char *format, ...) {
    fprintf(stderr, "%s:%d: this must hold and does not: %s\n", file, line, expression);
    if (format != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputc('\n', stderr);
    }
    if (context_now_ns != NULL) {
        fprintf(stderr, "at simulated time %" PRId64 " ns\n", *context_now_ns);
    }
    if (context_replay[0] != '\0') {
        fprintf(stderr, "replay: %s\n", context_replay);
    }
    fflush(stderr);
    abort();
}
