/* storm_option.c - see the header. */
#include "sim/lab/storm_option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/base/option_value.h"

/* ---- Drawing ---- */

/* Small ones more often than large ones: the largest, too, is drawn. */
static int64_t draw_count(const struct option *option, struct stream *stream) {
    int64_t low = (int64_t)option->min, span = INT64_C(1) << stream_below(stream, 7);
    int64_t high = option->max > 0 && option->max < (double)(low + span) ? (int64_t)option->max : low + span;
    return storm_between(stream, low, high);
}

static void draw_duration(struct stream *stream, struct text *out) {
    int64_t mean_us = storm_between(stream, 1, INT64_C(10) << stream_below(stream, 9));
    text_add(out, "%" PRId64 "us", mean_us);
}

static void draw_distribution(bool may_be_zero, struct stream *stream, struct text *out) {
    static const char *const calls[] = {"", "exp(", "uniform(0, ", "erlang(3, "};
    uint64_t call = stream_below(stream, sizeof calls / sizeof calls[0]);
    if (storm_chance(stream, 0.4) && may_be_zero) {
        text_add(out, "0");
        return;
    }
    text_add(out, "%s", calls[call]);
    draw_duration(stream, out);
    text_add(out, "%s", call > 0 ? ")" : "");
}

/* A number within bounds, the lower one often: most numbers are off at it. */
static double draw_number(const struct option *option, struct stream *stream) {
    double low = option->min, high = option->max > option->min ? option->max : option->min + 1;
    bool lowest = storm_chance(stream, 0.3);
    double part = (double)stream_below(stream, 1001) / 1000;
    return lowest ? low : low + part * (high - low);
}

static double draw_share(struct stream *stream) {
    double kind = stream_unit(stream), part = (double)stream_below(stream, 1001) / 1000;
    return kind < 0.3 ? 0 : kind < 0.4 ? 1 : part;
}

static void add_number(double value, struct text *out) {
    char number[32];
    text_add(out, "%s", text_number(number, value));
}

/* `kind` is what the choice declares: duration, number, count, distribution. */
static void draw_argument(const char *kind, struct stream *stream, struct text *out) {
    if (strcmp(kind, "duration") == 0) {
        draw_duration(stream, out);
    } else if (strcmp(kind, "distribution") == 0) {
        draw_distribution(true, stream, out);
    } else {
        text_add(out, "%" PRId64, storm_between(stream, 1, 8));
    }
}

static const char *draw_choice(const struct option *option, struct stream *stream) {
    size_t count = 0;
    while (option->choices[count] != NULL) {
        count++;
    }
    const char *choice = option->choices[stream_below(stream, count)];
    CHECK(choice != NULL);
    return choice;
}

static void draw_call(const struct option *option, struct stream *stream, struct text *out) {
    enum { ROOM = 128 };
    char copy[ROOM], *name, *kinds[OPTION_CALL_ARGUMENTS];
    const char *choice = draw_choice(option, stream);
    if (strcmp(choice, "duration") == 0 || strcmp(choice, "distribution") == 0) {
        draw_argument(choice, stream, out);
        return;
    }
    CHECK(strlen(choice) < sizeof copy);
    snprintf(copy, sizeof copy, "%s", choice);
    int arguments = text_split_call(copy, &name, kinds, OPTION_CALL_ARGUMENTS);
    text_add(out, "%s", name);
    for (int i = 0; i < arguments; i++) {
        text_add(out, "%s", i == 0 ? "(" : ", ");
        draw_argument(kinds[i], stream, out);
    }
    text_add(out, "%s", arguments > 0 ? ")" : "");
}

bool storm_option_draw(const struct option *option, struct stream *stream, struct text *out) {
    bool without_end = storm_chance(stream, 0.5);
    if (option->flags & OPTION_OPTIONAL) {
        return false;
    }
    if (without_end && (option->flags & (OPTION_MAY_BE_UNLIMITED | OPTION_MAY_BE_NEVER)) != 0) {
        text_add(out, "%s", option->flags & OPTION_MAY_BE_NEVER ? "never" : "unlimited");
        return true;
    }
    switch (option->type) {
    case OPTION_BOOL: text_add(out, "%s", storm_chance(stream, 0.5) ? "yes" : "no"); return true;
    case OPTION_COUNT:
    case OPTION_SIZE: text_add(out, "%" PRId64, draw_count(option, stream)); return true;
    case OPTION_NUMBER: add_number(draw_number(option, stream), out); return true;
    case OPTION_SHARE: add_number(draw_share(stream), out); return true;
    case OPTION_DURATION: draw_duration(stream, out); return true;
    case OPTION_DISTRIBUTION: draw_distribution(option->min <= 0, stream, out); return true;
    case OPTION_CHOICE: text_add(out, "%s", draw_choice(option, stream)); return true;
    case OPTION_CALL: draw_call(option, stream, out); return true;
    case OPTION_TEXT:
    case OPTION_PROFILE: return false;
    }
    return false;
}

/* ---- Telling ---- */

static void tell_distribution(const struct distribution *d, struct text *out) {
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT: text_add(out, "%" PRId64 "ns", d->mean_ns); return;
    case DISTRIBUTION_EXPONENTIAL: text_add(out, "exp(%" PRId64 "ns)", d->mean_ns); return;
    case DISTRIBUTION_UNIFORM: text_add(out, "uniform(%" PRId64 "ns,%" PRId64 "ns)", d->low_ns, d->high_ns); return;
    case DISTRIBUTION_ERLANG: text_add(out, "erlang(%d,%" PRId64 "ns)", d->stages, d->mean_ns); return;
    case DISTRIBUTION_LOGNORMAL: break; /* is not drawn */
    }
    text_add(out, "lognormal");
}

static void tell_call(const struct option *option, const struct option_call *call, struct text *out) {
    enum { ROOM = 128 };
    char copy[ROOM], *name, *kinds[OPTION_CALL_ARGUMENTS];
    snprintf(copy, sizeof copy, "%s", option->choices[call->choice]);
    if (strcmp(copy, "distribution") == 0) {
        tell_distribution(&call->distribution, out);
        return;
    }
    if (strcmp(copy, "duration") == 0) {
        text_add(out, "%" PRId64 "ns", call->integer[0]);
        return;
    }
    int arguments = text_split_call(copy, &name, kinds, OPTION_CALL_ARGUMENTS);
    text_add(out, "%s", name);
    for (int i = 0; i < arguments; i++) {
        text_add(out, "%s", i == 0 ? "(" : ",");
        if (strcmp(kinds[i], "number") == 0) {
            add_number(call->number[i], out);
        } else {
            text_add(out, "%" PRId64 "%s", call->integer[i], strcmp(kinds[i], "duration") == 0 ? "ns" : "");
        }
    }
    text_add(out, "%s", arguments > 0 ? ")" : "");
}

static void tell_profile(const struct option_profile *profile, struct text *out) {
    for (int i = 0; i < profile->count; i++) {
        text_add(out, "%s", i > 0 ? "," : "");
        add_number(profile->part[i].per_second, out);
        text_add(out, "/s");
    }
}

static void tell_value(const struct option *option, const void *value, struct text *out) {
    int64_t integer = 0;
    double number = 0;
    switch (option->type) {
    case OPTION_BOOL: text_add(out, "%s", *(const bool *)value ? "yes" : "no"); return;
    case OPTION_COUNT:
    case OPTION_SIZE:
    case OPTION_DURATION: memcpy(&integer, value, sizeof integer); break;
    case OPTION_NUMBER:
    case OPTION_SHARE:
        memcpy(&number, value, sizeof number);
        add_number(number, out);
        return;
    case OPTION_DISTRIBUTION: tell_distribution(value, out); return;
    case OPTION_CHOICE: text_add(out, "%s", option->choices[*(const int *)value]); return;
    case OPTION_CALL: tell_call(option, value, out); return;
    case OPTION_TEXT: text_add(out, "%s", (const char *)value); return;
    case OPTION_PROFILE: tell_profile(value, out); return;
    }
    if (integer == OPTION_UNLIMITED) {
        text_add(out, "%s", option->flags & OPTION_MAY_BE_NEVER ? "never" : "unlimited");
    } else {
        text_add(out, "%" PRId64 "%s", integer, option->type == OPTION_DURATION ? "ns" : "");
    }
}

void storm_option_tell(const struct option_table *table, const void *values, const char *prefix, struct text *out) {
    if (table == NULL) {
        return;
    }
    void *usual = mem_new(1, table->size);
    struct text was = {0}, is = {0};
    options_default(table, usual);
    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        text_clear(&was);
        text_clear(&is);
        tell_value(option, (const char *)usual + option->offset, &was);
        tell_value(option, (const char *)values + option->offset, &is);
        if (strcmp(text_string(&was), text_string(&is)) != 0) {
            text_add(out, " %s.%s=%s", prefix, option->name, text_string(&is));
        }
    }
    text_free(&was);
    text_free(&is);
    mem_free(usual);
}
