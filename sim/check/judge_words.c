/* judge_words.c - the sentences of verdicts: operations told as steps of the schedule. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sim/check/judge_parts.h"

void judge_add_life(const struct history *history, uint32_t life, struct text *out) {
    const struct history_life *owner = &history->lives[life];
    text_add(out, "T%" PRId64, history->schedule->txns[owner->txn]);
    if (owner->attempt > 1) {
        text_add(out, " (attempt %u)", owner->attempt);
    }
}

void judge_add_step(const struct history *history, uint32_t op, struct text *out) {
    enum { SHOWN_MAX = 200 };
    uint32_t index = history->ops[op].step;
    const struct schedule_step *step = &history->schedule->steps[index];
    text_add(out, "%.*s, step %" PRIu32, step->length < SHOWN_MAX ? (int)step->length : SHOWN_MAX, step->text,
             index + 1);
}

static void add_word(const struct history *history, char what, uint32_t op, struct text *out) {
    const struct schedule *schedule = history->schedule;
    switch (what) {
    case 'T': judge_add_life(history, history->ops[op].life, out); break;
    case 'S': judge_add_step(history, op, out); break;
    case 'R': text_add(out, "%s", schedule->rows[history->ops[op].row].name); break;
    default: text_add(out, "%s", schedule->predicates[history->ops[op].predicate].name); break;
    }
}

void judge_say(const struct history *history, struct text *out, const char *format, ...) {
    va_list operations;
    va_start(operations, format);
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        text_add_bytes(out, format, plain);
        format += plain;
        if (*format == '%') {
            add_word(history, format[1], va_arg(operations, uint32_t), out);
            format += 2;
        }
    }
    va_end(operations);
}
