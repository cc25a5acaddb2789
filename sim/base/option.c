/* option.c - from a table's row and a text to a field of a struct. option_value.c reads the values; here are the
 * bounds, the profile of rates, and what tables tell about themselves. */
#include "sim/base/option.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/base/option_value.h"

static void add_bound(const struct option *option, double bound, struct text *out) {
    char buffer[32];
    switch (option->type) {
    case OPTION_DURATION:
    case OPTION_CALL:
    case OPTION_DISTRIBUTION: option_value_duration_text(bound, out); break;
    case OPTION_NUMBER: text_add(out, "%s", text_number(buffer, bound)); break;
    default: text_add(out, "%.0f", bound); break;
    }
}

/* Bounds are only there if one of them is not 0; one below the lower bound leaves the upper side open. */
static bool within_bounds(const struct option *option, const char *text, double value, struct text *error) {
    bool bounded = option->min < 0 || option->min > 0 || option->max < 0 || option->max > 0;
    bool open = option->max < option->min;
    if (!bounded || (value >= option->min && (open || value <= option->max))) {
        return true;
    }
    text_add(error, "`%s` is out of bounds (", text);
    add_bound(option, option->min, error);
    if (open) {
        text_add(error, " or more)");
    } else {
        text_add(error, " .. ");
        add_bound(option, option->max, error);
        text_add(error, ")");
    }
    return false;
}

static bool parse_bool(const char *text, void *field, struct text *error) {
    bool yes = strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "no") != 0) {
        text_add(error, "`%s` is neither yes nor no", text);
        return false;
    }
    *(bool *)field = yes;
    return true;
}

/* The word that stands for a value of its own, a count without limit or a duration that is found by itself; or NULL. */
static const char *word_for_itself(const struct option *option) {
    if ((option->flags & OPTION_MAY_BE_NEVER) != 0) {
        return "never";
    }
    if ((option->flags & OPTION_MAY_BE_AUTO) != 0) {
        return "auto";
    }
    return (option->flags & OPTION_MAY_BE_UNLIMITED) != 0 ? "unlimited" : NULL;
}

/* Negative numbers meet the bounds first: they say more than "is negative". */
static bool parse_count(const struct option *option, const char *text, void *field, struct text *error) {
    int64_t value;
    const char *no_limit = word_for_itself(option);
    if (no_limit != NULL && strcmp(text, no_limit) == 0) {
        *(int64_t *)field = OPTION_UNLIMITED;
        return true;
    }
    if (text_parse_integer(text, &value) && !within_bounds(option, text, (double)value, error)) {
        return false;
    }
    if (!option_value_count(text, &value, error)) {
        double number;
        if (no_limit != NULL && !text_parse_number(text, &number)) {
            text_add(error, ", nor `%s`", no_limit);
        }
        return false;
    }
    *(int64_t *)field = value;
    return true;
}

/* Bounds are those of a duration that comes first among the arguments. */
static bool parse_call(const struct option *option, const char *text, void *field, struct text *error) {
    struct option_call call;
    if (!option_value_call(text, option->choices, &call, error)) {
        return false;
    }
    bool has_duration = strstr(option->choices[call.choice], "(duration") != NULL;
    if (has_duration && !within_bounds(option, text, (double)call.integer[0] / 1e9, error)) {
        return false;
    }
    *(struct option_call *)field = call;
    return true;
}

static bool parse_number(const struct option *option, const char *text, void *field, struct text *error) {
    double value;
    if (!option_value_number(text, &value, error) || !within_bounds(option, text, value, error)) {
        return false;
    }
    *(double *)field = value;
    return true;
}

static bool parse_size(const struct option *option, const char *text, void *field, struct text *error) {
    int64_t value;
    if (!option_value_size(text, &value, error) || !within_bounds(option, text, (double)value, error)) {
        return false;
    }
    *(int64_t *)field = value;
    return true;
}

static bool parse_duration(const struct option *option, const char *text, void *field, struct text *error) {
    int64_t value;
    const char *word = word_for_itself(option);
    if (word != NULL && strcmp(text, word) == 0) {
        *(int64_t *)field = OPTION_AUTO;
        return true;
    }
    if (!option_value_duration(text, &value, error) || !within_bounds(option, text, (double)value / 1e9, error)) {
        int64_t ns;
        if (word != NULL && !text_parse_duration(text, &ns)) {
            text_add(error, ", nor `%s`", word);
        }
        return false;
    }
    *(int64_t *)field = value;
    return true;
}

static bool parse_distribution(const struct option *option, const char *text, void *field, struct text *error) {
    struct distribution value;
    if (!option_value_distribution(text, &value, error) ||
        !within_bounds(option, text, (double)value.mean_ns / 1e9, error)) {
        return false;
    }
    *(struct distribution *)field = value;
    return true;
}

static bool parse_text(const char *text, void *field, struct text *error) {
    size_t length = strlen(text);
    if (length >= OPTION_TEXT_SIZE) {
        text_add(error, "the text has %zu bytes, more than %d", length, OPTION_TEXT_SIZE - 1);
        return false;
    }
    memset(field, 0, OPTION_TEXT_SIZE); /* equal texts are equal structs */
    memcpy(field, text, length);
    return true;
}

/* One `rate` or `rate duration`. */
static bool parse_profile_part(char *text, struct option_profile *profile, struct text *error) {
    char *rate = text_trim(text);
    char *duration = rate + strcspn(rate, " \t\r\n");
    if (*duration != '\0') {
        *duration++ = '\0';
        duration = text_trim(duration);
    }
    if (profile->count == OPTION_PROFILE_PARTS) {
        text_add(error, "a profile has at most %d rates", OPTION_PROFILE_PARTS);
        return false;
    }
    double per_second;
    int64_t duration_ns = 0;
    if (!option_value_rate(rate, &per_second, error) ||
        (*duration != '\0' && !option_value_duration(duration, &duration_ns, error))) {
        return false;
    }
    if (*duration != '\0' && duration_ns == 0) {
        text_add(error, "`%s %s` lasts no time", rate, duration);
        return false;
    }
    profile->part[profile->count].per_second = per_second;
    profile->part[profile->count].duration_ns = duration_ns;
    profile->count++;
    return true;
}

/* `copy` is the caller's, for cutting. */
static bool parse_profile_parts(char *copy, struct option_profile *profile, struct text *error) {
    bool some = false;
    for (char *next = copy; next != NULL;) {
        char *part = next;
        next = strchr(part, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (!parse_profile_part(part, profile, error)) {
            return false;
        }
        if (next != NULL && profile->part[profile->count - 1].duration_ns == 0) {
            text_add(error, "`%s` needs a duration, for another rate follows (500/s 10s, 100/s)", text_trim(part));
            return false;
        }
        some = some || profile->part[profile->count - 1].per_second > 0;
    }
    if (!some) {
        text_add(error, "a rate of 0 lets nothing arrive");
    }
    return some;
}

static bool parse_profile(const char *text, void *field, struct text *error) {
    struct option_profile *profile = mem_new(1, sizeof *profile);
    char *copy = mem_string(text);
    bool ok = parse_profile_parts(copy, profile, error);
    if (ok) {
        memcpy(field, profile, sizeof *profile);
    }
    mem_free(copy);
    mem_free(profile);
    return ok;
}

static bool parse_trimmed(const struct option *option, const char *text, void *field, struct text *error) {
    if (*text == '\0' && option->type != OPTION_TEXT) {
        text_add(error, "the value is missing");
        return false;
    }
    switch (option->type) {
    case OPTION_BOOL: return parse_bool(text, field, error);
    case OPTION_COUNT: return parse_count(option, text, field, error);
    case OPTION_NUMBER: return parse_number(option, text, field, error);
    case OPTION_SHARE: return option_value_share(text, field, error);
    case OPTION_SIZE: return parse_size(option, text, field, error);
    case OPTION_DURATION: return parse_duration(option, text, field, error);
    case OPTION_DISTRIBUTION: return parse_distribution(option, text, field, error);
    case OPTION_CHOICE: return option_value_choice(text, option->choices, field, error);
    case OPTION_TEXT: return parse_text(text, field, error);
    case OPTION_CALL: return parse_call(option, text, field, error);
    case OPTION_PROFILE: return parse_profile(text, field, error);
    }
    CHECK_MSG(false, "option type %d", (int)option->type);
    return false;
}

bool option_parse(const struct option *option, const char *text, void *values, struct text *error) {
    char *copy = mem_string(text);
    bool ok = parse_trimmed(option, text_trim(copy), (char *)values + option->offset, error);
    mem_free(copy);
    return ok;
}

void options_default(const struct option_table *table, void *values) {
    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        if ((option->flags & (OPTION_REQUIRED | OPTION_OPTIONAL)) != 0) {
            continue;
        }
        struct text error = {0};
        CHECK_MSG(option->fallback != NULL, "%s has no default", option->name);
        bool ok = option_parse(option, option->fallback, values, &error);
        CHECK_MSG(ok, "default of %s: %s", option->name, text_string(&error));
        text_free(&error);
    }
}

const struct option *option_find(const struct option_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->options[i].name, name) == 0) {
            return &table->options[i];
        }
    }
    return NULL;
}

/* A plain duration is a number of milliseconds where a distribution may stand, too: so a sweep over it can be drawn. */
static bool add_milliseconds(const char *text, struct text *out) {
    char buffer[32];
    int64_t ns;
    if (!text_parse_duration(text, &ns)) {
        return false;
    }
    text_add(out, "%s", text_number(buffer, (double)ns / 1e6));
    return true;
}

static void column_trimmed(const struct option *option, const char *text, struct text *out) {
    char buffer[32];
    double share;
    int64_t bytes;
    switch (option->type) {
    case OPTION_DURATION:
    case OPTION_DISTRIBUTION:
    case OPTION_CALL:
        if (add_milliseconds(text, out)) {
            return;
        }
        CHECK(option->type != OPTION_DURATION || word_for_itself(option) != NULL);
        break;
    case OPTION_SHARE:
        CHECK(text_parse_share(text, &share));
        text_add(out, "%s", text_number(buffer, share));
        return;
    case OPTION_SIZE:
        CHECK(text_parse_size(text, &bytes));
        text_add(out, "%" PRId64, bytes);
        return;
    case OPTION_COUNT: {
        const char *no_limit = word_for_itself(option);
        text_add(out, "%s", no_limit != NULL && strcmp(text, no_limit) == 0 ? "inf" : text);
        return;
    }
    case OPTION_PROFILE: /* a rate that stays the same is a number: per second */
        text_add(out, "%s", text_parse_rate(text, &share) ? text_number(buffer, share) : text);
        return;
    default: break;
    }
    text_add(out, "%s", text);
}

void option_column(const struct option *option, const char *text, struct text *out) {
    char *copy = mem_string(text);
    column_trimmed(option, text_trim(copy), out);
    mem_free(copy);
}

void option_type_name(const struct option *option, struct text *out) {
    static const char *const names[] = {
        [OPTION_BOOL] = "yes or no",
        [OPTION_COUNT] = "whole number",
        [OPTION_NUMBER] = "number",
        [OPTION_SHARE] = "share",
        [OPTION_SIZE] = "size",
        [OPTION_DURATION] = "duration",
        [OPTION_DISTRIBUTION] = "duration or distribution",
        [OPTION_TEXT] = "text",
        [OPTION_PROFILE] = "rate or profile of rates",
    };
    if (option->type == OPTION_CHOICE || option->type == OPTION_CALL) {
        option_value_choices(option->choices, " | ", out);
        return;
    }
    const char *no_limit = word_for_itself(option);
    text_add(out, "%s%s%s", names[option->type], no_limit != NULL ? " or " : "", no_limit != NULL ? no_limit : "");
}
