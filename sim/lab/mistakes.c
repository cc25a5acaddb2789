/* mistakes.c - see mistakes.h. Sorting is by insertion: a config has few mistakes, and equal places keep their
 * order. */
#include "sim/lab/mistakes.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

/* A file in which every line is wrong has said enough by then. */
enum { MISTAKES_MAX = 1000 };

void mistakes_add(struct mistakes *mistakes, struct place place, const char *format, ...) {
    if (mistakes->count == MISTAKES_MAX) {
        return;
    }
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    CHECK(length >= 0);
    char *sentence = mem_new((size_t)length + 1, 1);
    vsnprintf(sentence, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    vector_push(mistakes, ((struct mistake){.place = place, .sentence = sentence}));
}

static bool stands_before(struct place a, struct place b) {
    if (a.source != b.source) {
        return a.source < b.source;
    }
    if (a.line != b.line) {
        return a.line != 0 && (b.line == 0 || a.line < b.line);
    }
    return a.column < b.column;
}

static void sort(struct mistakes *mistakes) {
    for (size_t i = 1; i < mistakes->count; i++) {
        struct mistake moving = mistakes->items[i];
        size_t at = i;
        for (; at > 0 && stands_before(moving.place, mistakes->items[at - 1].place); at--) {
            mistakes->items[at] = mistakes->items[at - 1];
        }
        mistakes->items[at] = moving;
    }
}

void mistakes_print(struct mistakes *mistakes, const char *const *names, struct text *out) {
    sort(mistakes);
    for (size_t i = 0; i < mistakes->count; i++) {
        const struct mistake *mistake = &mistakes->items[i];
        const struct place *place = &mistake->place;
        text_add(out, "%s", names[place->source]);
        if (place->line != 0) {
            text_add(out, ":%zu", place->line);
        }
        if (place->column != 0) {
            text_add(out, place->line != 0 ? ":%zu" : ": byte %zu", place->column);
        }
        text_add(out, ": %s\n", mistake->sentence);
    }
}

void mistakes_free(struct mistakes *mistakes) {
    for (size_t i = 0; i < mistakes->count; i++) {
        mem_free(mistakes->items[i].sentence);
    }
    vector_free(mistakes);
}
