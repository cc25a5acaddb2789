/* option_value.c - reading single values, and saying what is wrong with those that cannot be read. */
#include "sim/base/option_value.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

#define DURATION_UNITS "ns, us, ms, s, min, h"
#define RATE_UNITS     "/s, /ms, /min"
enum { ROOM = 8, STAGES_MAX = 1000, CV_MAX = 1000, SUGGESTION_SIZE = 192 };

/* Adds the message and is false, for `return mistake(...)`. */
static bool mistake(struct text *error, const char *text, const char *what) {
    text_add(error, "`%s` %s", text, what);
    return false;
}

static bool starts_number(const char *text) {
    text += strspn(text, " \t");
    text += *text == '-' || *text == '+';
    return isdigit((unsigned char)*text) || *text == '.';
}

bool option_value_count(const char *text, int64_t *value, struct text *error) {
    int64_t count;
    double number;
    if (!text_parse_integer(text, &count)) {
        bool large = text_parse_number(text, &number) && fabs(number) > 0x1p53;
        return mistake(error, text, large ? "is too large" : "is not a whole number");
    }
    if (count < 0) {
        return mistake(error, text, "is negative");
    }
    if (count == OPTION_UNLIMITED) {
        return mistake(error, text, "is too large");
    }
    *value = count;
    return true;
}

bool option_value_number(const char *text, double *value, struct text *error) {
    return text_parse_number(text, value) || mistake(error, text, "is not a number");
}

bool option_value_share(const char *text, double *value, struct text *error) {
    double share;
    if (!text_parse_share(text, &share)) {
        return mistake(error, text, "is not a share (such as 35% or 0.35)");
    }
    if (share < 0 || share > 1) {
        return mistake(error, text, "is out of bounds (0% .. 100%)");
    }
    *value = share;
    return true;
}

bool option_value_size(const char *text, int64_t *bytes, struct text *error) {
    int64_t size;
    if (!text_parse_size(text, &size)) {
        return mistake(error, text, "is not a size (a whole number of B, KiB, MiB, GiB)");
    }
    if (size < 0) {
        return mistake(error, text, "is negative");
    }
    *bytes = size;
    return true;
}

static bool has_duration_unit(const char *text) {
    static const char *const units[] = {"ns", "us", "ms", "s", "min", "h"};
    const char *unit = text + strspn(text, "+-.0123456789eE");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool option_value_duration(const char *text, int64_t *value_ns, struct text *error) {
    int64_t ns;
    double number;
    if (text_parse_duration(text, &ns)) {
        if (ns < 0) {
            return mistake(error, text, "is negative");
        }
        if (ns > OPTION_DURATION_MAX_NS) {
            return mistake(error, text, "is out of bounds (0 or 1ns .. 1000000000s)");
        }
        *value_ns = ns;
        return true;
    }
    if (text_parse_number(text, &number)) {
        return mistake(error, text, "has no unit (" DURATION_UNITS ")");
    }
    if (!starts_number(text)) {
        return mistake(error, text, "is not a duration (such as 250us, 1.5ms, 2s)");
    }
    if (strchr(text, ' ') != NULL) {
        return mistake(error, text, "has a blank in it: a duration is written 2s, not 2 s");
    }
    return mistake(error, text,
                   has_duration_unit(text) ? "is out of bounds (0 or 1ns .. 1000000000s)"
                                           : "has no known unit (" DURATION_UNITS ")");
}

bool option_value_rate(const char *text, double *per_second, struct text *error) {
    double rate;
    if (!text_parse_rate(text, &rate)) {
        bool bare = text_parse_number(text, &rate);
        return mistake(error, text, bare ? "has no unit (" RATE_UNITS ")" : "is not a rate (such as 500/s)");
    }
    if (rate < 0) {
        return mistake(error, text, "is negative");
    }
    if (rate > 1e9) {
        return mistake(error, text, "is out of bounds (0/s .. 1000000000/s)");
    }
    *per_second = rate;
    return true;
}

static bool is_bare_distribution(const char *choice) { return strcmp(choice, "distribution") == 0; }
static bool is_bare_duration(const char *choice) { return strcmp(choice, "duration") == 0; }
static bool is_bare(const char *choice) { return is_bare_distribution(choice) || is_bare_duration(choice); }

void option_value_choices(const char *const *choices, const char *separator, struct text *out) {
    for (int i = 0; choices[i] != NULL; i++) {
        text_add(out, "%s", i > 0 ? separator : "");
        if (is_bare_distribution(choices[i])) {
            text_add(out, "duration%s", separator);
        }
        text_add(out, "%s", choices[i]);
    }
}

void option_value_duration_text(double seconds, struct text *out) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    enum { UNITS = sizeof units / sizeof units[0], SECOND = 2 };
    char buffer[32];
    if (seconds <= 0) {
        text_add(out, "0");
        return;
    }
    int unit = SECOND;
    for (int i = 0; i < UNITS; i++) {
        double number = seconds / units[i].seconds;
        if (fabs(number - round(number)) < 1e-9 * number && round(number) >= 1) {
            unit = i;
            break;
        }
    }
    text_add(out, "%s%s", text_number(buffer, seconds / units[unit].seconds), units[unit].name);
}

/* The forms of a distribution, as choices with arguments. */
static const char *const distribution_forms[] = {"duration",
                                                 "exp(duration)",
                                                 "uniform(duration, duration)",
                                                 "erlang(count, duration)",
                                                 "lognormal(duration, number)",
                                                 NULL};
enum distribution_form { FORM_CONSTANT, FORM_EXPONENTIAL, FORM_UNIFORM, FORM_ERLANG, FORM_LOGNORMAL };

/* A choice cut into its name and the words that declare its arguments. */
struct form {
    char text[128];
    char *name;
    char *words[ROOM];
    int count;
};

static void form_read(struct form *form, const char *choice) {
    size_t length = strlen(choice);
    CHECK(length < sizeof form->text);
    memcpy(form->text, choice, length + 1);
    form->count = text_split_call(form->text, &form->name, form->words, ROOM);
    CHECK_MSG(form->count >= 0 && form->count <= OPTION_CALL_ARGUMENTS, "choice %s", choice);
}

/* The choice named `name`, or -1. */
static int form_find(const char *const *choices, const char *name, struct form *form) {
    for (int i = 0; choices[i] != NULL; i++) {
        form_read(form, choices[i]);
        if (!is_bare(choices[i]) && strcmp(form->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static void add_names(const char *const *choices, struct form *forms, const char **names, size_t *count, size_t room) {
    for (int i = 0; choices[i] != NULL; i++) {
        if (!is_bare(choices[i])) {
            CHECK(*count < room);
            form_read(&forms[*count], choices[i]);
            names[*count] = forms[*count].name;
            (*count)++;
        }
    }
}

/* "`lrg` is none of wait, period(duration); did you mean ..?" */
static bool none_of(const char *text, const char *name, const char *const *choices, struct text *error) {
    enum { NAMES_MAX = 32 };
    struct form forms[NAMES_MAX];
    const char *names[NAMES_MAX];
    size_t count = 0;
    add_names(choices, forms, names, &count, NAMES_MAX);
    for (int i = 0; choices[i] != NULL; i++) {
        if (is_bare_distribution(choices[i])) {
            add_names(distribution_forms, forms, names, &count, NAMES_MAX);
        }
    }
    char suggestion[SUGGESTION_SIZE];
    text_add(error, "`%s` is none of ", text);
    option_value_choices(choices, ", ", error);
    text_add(error, "%s", text_suggestion(suggestion, sizeof suggestion, name, names, count));
    return false;
}

bool option_value_choice(const char *text, const char *const *choices, int *value, struct text *error) {
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            *value = i;
            return true;
        }
    }
    char suggestion[SUGGESTION_SIZE];
    size_t count = 0;
    while (choices[count] != NULL) {
        count++;
    }
    text_add(error, "`%s` is none of ", text);
    option_value_choices(choices, ", ", error);
    text_add(error, "%s", text_suggestion(suggestion, sizeof suggestion, text, choices, count));
    return false;
}

static bool read_argument(const char *word, const char *text, int position, struct option_call *call,
                          struct text *error) {
    if (strcmp(word, "duration") == 0) {
        return option_value_duration(text, &call->integer[position], error);
    }
    if (strcmp(word, "count") == 0) {
        return option_value_count(text, &call->integer[position], error);
    }
    if (strcmp(word, "number") == 0) {
        return option_value_number(text, &call->number[position], error) &&
               (call->number[position] >= 0 || mistake(error, text, "is negative"));
    }
    CHECK_MSG(strcmp(word, "distribution") == 0, "argument type %s", word);
    return option_value_distribution(text, &call->distribution, error);
}

static bool read_arguments(const char *text, const char *choice, const struct form *form, char **arguments, int count,
                           struct option_call *call, struct text *error) {
    if (count != form->count) {
        text_add(error, "`%s` has %d argument%s, not %d: %s", text, count, count == 1 ? "" : "s", form->count, choice);
        return false;
    }
    struct text inner = {0};
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        ok = read_argument(form->words[i], arguments[i], i, call, &inner);
    }
    if (!ok) {
        text_add(error, "`%s`: %s", text, text_string(&inner));
    }
    text_free(&inner);
    return ok;
}

/* A value for a bare choice, if `text` looks like one: `*found` says so. */
static bool read_bare(const char *text, const char *name, const char *const *choices, struct option_call *call,
                      bool *found, struct text *error) {
    struct form form;
    bool number = starts_number(text);
    *found = false;
    for (int i = 0; choices[i] != NULL && !*found; i++) {
        call->choice = i;
        if (is_bare_duration(choices[i]) && number) {
            *found = true;
            return option_value_duration(text, &call->integer[0], error);
        }
        if (is_bare_distribution(choices[i]) && (number || form_find(distribution_forms, name, &form) >= 0)) {
            *found = true;
            return option_value_distribution(text, &call->distribution, error);
        }
    }
    return false;
}

/* `copy` is the caller's, for cutting. */
static bool read_call(const char *text, char *copy, const char *const *choices, struct option_call *call,
                      struct text *error) {
    char *name, *arguments[ROOM];
    struct form form;
    int count = text_split_call(copy, &name, arguments, ROOM);
    if (count < 0) {
        return mistake(error, text, "is not written name or name(argument, ...)");
    }
    int choice = form_find(choices, name, &form);
    if (choice >= 0) {
        call->choice = choice;
        return read_arguments(text, choices[choice], &form, arguments, count, call, error);
    }
    bool found;
    bool ok = read_bare(text, name, choices, call, &found, error);
    return found ? ok : none_of(text, name, choices, error);
}

bool option_value_call(const char *text, const char *const *choices, struct option_call *value, struct text *error) {
    char *copy = mem_string(text);
    struct option_call call = {0};
    bool ok = read_call(text, copy, choices, &call, error);
    mem_free(copy);
    if (ok) {
        *value = call;
    }
    return ok;
}

bool option_value_distribution(const char *text, struct distribution *value, struct text *error) {
    struct option_call call;
    if (!option_value_call(text, distribution_forms, &call, error)) {
        return false;
    }
    switch ((enum distribution_form)call.choice) {
    case FORM_CONSTANT: *value = distribution_constant(call.integer[0]); break;
    case FORM_EXPONENTIAL: *value = distribution_exponential(call.integer[0]); break;
    case FORM_UNIFORM:
        if (call.integer[0] > call.integer[1]) {
            return mistake(error, text, "ends before it begins");
        }
        *value = distribution_uniform(call.integer[0], call.integer[1]);
        break;
    case FORM_ERLANG:
        if (call.integer[0] < 1 || call.integer[0] > STAGES_MAX) {
            text_add(error, "`%s`: the number of stages is out of bounds (1 .. %d)", text, STAGES_MAX);
            return false;
        }
        *value = distribution_erlang((int)call.integer[0], call.integer[1]);
        break;
    case FORM_LOGNORMAL:
        if (call.number[1] > CV_MAX) {
            text_add(error, "`%s`: the coefficient of variation is out of bounds (0 .. %d)", text, CV_MAX);
            return false;
        }
        *value = distribution_lognormal(call.integer[0], call.number[1]);
        break;
    }
    return true;
}
