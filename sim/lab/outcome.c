/* outcome.c - see the header. `ok|broken|refused LENGTH LENGTH ... LENGTH:`, then the tables and the sentence. */
#include "sim/lab/outcome.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = OUTCOME_TABLES + 1 };

void outcome_add(const struct outcome *outcome, struct text *out) {
    text_add(out, "%s", outcome->refused ? "refused" : outcome->broken ? "broken" : "ok");
    for (int i = 0; i < OUTCOME_TABLES; i++) {
        text_add(out, " %zu", outcome->tables[i].length);
    }
    text_add(out, " %zu:", outcome->sentence.length);
    for (int i = 0; i < OUTCOME_TABLES; i++) {
        text_add_bytes(out, outcome->tables[i].bytes, outcome->tables[i].length);
    }
    text_add_bytes(out, outcome->sentence.bytes, outcome->sentence.length);
}

/* Takes `word` off the front. */
static bool take_word(const char **at, const char *end, const char *word) {
    size_t length = strlen(word);
    bool found = (size_t)(end - *at) > length && memcmp(*at, word, length) == 0;
    *at += found ? length : 0;
    return found;
}

static bool take_length(const char **at, const char *end, size_t *length) {
    const char *digits = *at;
    *length = 0;
    while (*at < end && **at >= '0' && **at <= '9' && *at - digits < 18) {
        *length = *length * 10 + (size_t)(*(*at)++ - '0');
    }
    return *at > digits;
}

bool outcome_read(const char *bytes, size_t length, struct outcome *outcome) {
    const char *at = bytes, *end = bytes + length;
    *outcome = (struct outcome){0};
    outcome->refused = take_word(&at, end, "refused");
    outcome->broken = !outcome->refused && take_word(&at, end, "broken");
    if (!outcome->refused && !outcome->broken && !take_word(&at, end, "ok")) {
        return false;
    }
    struct outcome_part *parts[PARTS];
    for (int i = 0; i < PARTS; i++) {
        parts[i] = i < OUTCOME_TABLES ? &outcome->tables[i] : &outcome->sentence;
        if (!take_word(&at, end, " ") || !take_length(&at, end, &parts[i]->length)) {
            return false;
        }
    }
    if (at == end || *at++ != ':') {
        return false;
    }
    for (int i = 0; i < PARTS; i++) {
        if ((size_t)(end - at) < parts[i]->length) {
            return false;
        }
        parts[i]->bytes = at;
        at += parts[i]->length;
    }
    return at == end;
}
