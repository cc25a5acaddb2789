/* axis.c - see axis.h.
 *
 * A number of a range is a decimal: digits x 10^-places, with its unit apart. Sums are exact; products are, too, up to
 * 17 digits, and rounded to 17 beyond. */
#include "sim/lab/axis.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"

__extension__ typedef __int128 wide;

enum { DIGITS_MAX = 17, PLACES_MAX = 17, SHOWN_BYTES = 64, STEPS_MAX = 10 * AXIS_VALUES_MAX };
static const int64_t digits_limit = INT64_C(100000000000000000); /* 10^17 */

struct decimal {
    int64_t digits;
    int places;
};

/* Units of one family are multiples of each other. */
struct unit {
    const char *name;
    int family;
    int64_t factor;
};
enum { FAMILY_PLAIN, FAMILY_TIME, FAMILY_BYTES, FAMILY_PERCENT, FAMILY_RATE };
static const struct unit units[] = {
    {"", FAMILY_PLAIN, 1},
    {"ns", FAMILY_TIME, 1},
    {"us", FAMILY_TIME, 1000},
    {"ms", FAMILY_TIME, 1000000},
    {"s", FAMILY_TIME, 1000000000},
    {"min", FAMILY_TIME, 60000000000},
    {"h", FAMILY_TIME, 3600000000000},
    {"B", FAMILY_BYTES, 1},
    {"KiB", FAMILY_BYTES, 1024},
    {"MiB", FAMILY_BYTES, 1048576},
    {"GiB", FAMILY_BYTES, 1073741824},
    {"%", FAMILY_PERCENT, 1},
    {"/min", FAMILY_RATE, 1},
    {"/s", FAMILY_RATE, 60},
    {"/ms", FAMILY_RATE, 60000},
};

struct quantity {
    struct decimal number;
    const struct unit *unit;
};

struct range {
    struct decimal from, to, step;
    const struct unit *unit;
    bool multiplies;
};

static bool is_blank(char c) { return isspace((unsigned char)c) != 0; }

/* --- decimals --- */

static struct decimal decimal_shorten(struct decimal d) {
    while (d.places > 0 && d.digits % 10 == 0) {
        d.digits /= 10;
        d.places--;
    }
    return d;
}

/* Reads `-12.50`; *end is behind it. False: no number, or one with too many digits. */
static bool decimal_parse(const char *text, struct decimal *out, const char **end) {
    bool negative = *text == '-';
    const char *at = text + (negative ? 1 : 0);
    struct decimal d = {0};
    int digits = 0;
    bool behind_point = false;
    for (; isdigit((unsigned char)*at) || (*at == '.' && !behind_point && isdigit((unsigned char)at[1])); at++) {
        if (*at == '.') {
            behind_point = true;
            continue;
        }
        if (d.digits >= digits_limit / 10 || d.places == PLACES_MAX) {
            return false;
        }
        d.digits = d.digits * 10 + (*at - '0');
        d.places += behind_point ? 1 : 0;
        digits++;
    }
    d.digits = negative ? -d.digits : d.digits;
    *out = decimal_shorten(d);
    *end = at;
    return digits > 0;
}

/* The same number with more places. False if it does not fit. */
static bool decimal_widen(struct decimal *d, int places) {
    for (; d->places < places; d->places++) {
        if (d->digits >= digits_limit / 10 || d->digits <= -digits_limit / 10) {
            return false;
        }
        d->digits *= 10;
    }
    return true;
}

/* Rounded to 17 digits and places, half up; false if whole digits would have to go. */
static bool decimal_multiply(struct decimal a, struct decimal b, struct decimal *out) {
    wide digits = (wide)a.digits * b.digits;
    int places = a.places + b.places;
    while ((digits >= digits_limit && places > 0) || places > PLACES_MAX) {
        digits = (digits + 5) / 10;
        places--;
    }
    if (digits >= digits_limit) {
        return false;
    }
    *out = decimal_shorten((struct decimal){.digits = (int64_t)digits, .places = places});
    return true;
}

/* -1, 0, 1 as a is below, at, above b. */
static int decimal_compare(struct decimal a, struct decimal b) {
    wide left = a.digits, right = b.digits;
    for (int places = a.places; places < b.places; places++) {
        left *= 10;
    }
    for (int places = b.places; places < a.places; places++) {
        right *= 10;
    }
    return left < right ? -1 : left > right;
}

static void decimal_print(struct decimal d, const char *unit, char *buffer, size_t size) {
    d = decimal_shorten(d);
    uint64_t digits = d.digits < 0 ? (uint64_t)-d.digits : (uint64_t)d.digits;
    uint64_t scale = 1;
    for (int i = 0; i < d.places; i++) {
        scale *= 10;
    }
    const char *sign = d.digits < 0 ? "-" : "";
    if (d.places == 0) {
        snprintf(buffer, size, "%s%" PRIu64 "%s", sign, digits, unit);
    } else {
        snprintf(buffer, size, "%s%" PRIu64 ".%0*" PRIu64 "%s", sign, digits / scale, d.places, digits % scale, unit);
    }
}

/* --- quantities with units --- */

static const struct unit *unit_find(const char *name) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static bool quantity_parse(const char *text, struct quantity *out, struct text *error) {
    const char *end = text;
    if (!decimal_parse(text, &out->number, &end)) {
        text_add(error, "`%s` in a range is not a number of at most %d digits", text, DIGITS_MAX);
        return false;
    }
    out->unit = unit_find(end);
    if (out->unit == NULL) {
        text_add(error, "`%s` in a range has an unknown unit `%s`", text, end);
        return false;
    }
    return true;
}

/* Zero needs no unit: it takes the others'. */
static bool is_bare_zero(const struct quantity *q) { return q->number.digits == 0 && q->unit->family == FAMILY_PLAIN; }

/* The smallest unit among the quantities; NULL: they do not go together. */
static const struct unit *common_unit(const struct quantity *quantities, size_t count) {
    const struct unit *unit = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct unit *other = quantities[i].unit;
        if (is_bare_zero(&quantities[i])) {
            continue;
        }
        if (unit != NULL && unit->family != other->family) {
            return NULL;
        }
        unit = unit == NULL || other->factor < unit->factor ? other : unit;
    }
    return unit != NULL ? unit : &units[0];
}

/* Counts the quantity in another unit of its family, which is not larger. */
static bool quantity_convert(struct quantity *q, const struct unit *unit) {
    if (is_bare_zero(q)) {
        return true;
    }
    struct decimal factor = {.digits = q->unit->factor / unit->factor};
    return decimal_multiply(q->number, factor, &q->number) && q->number.digits > -digits_limit;
}

/* --- ranges --- */

static bool too_many_digits(struct text *error, const char *text) {
    text_add(error, "the range `%s` needs numbers of more than %d digits", text, DIGITS_MAX);
    return false;
}

/* What must hold between the three numbers. */
static bool range_check(const struct range *range, const char *text, struct text *error) {
    if (decimal_compare(range->from, range->to) > 0) {
        text_add(error, "the range `%s` is empty: it begins above its end", text);
    } else if (!range->multiplies && range->step.digits <= 0) {
        text_add(error, "the step of the range `%s` must be above 0", text);
    } else if (range->multiplies && decimal_compare(range->step, (struct decimal){.digits = 1}) <= 0) {
        text_add(error, "the factor of the range `%s` must be above 1", text);
    } else if (range->multiplies && range->from.digits <= 0) {
        text_add(error, "the range `%s` multiplies, so it must begin above 0", text);
    } else {
        return true;
    }
    return false;
}

/* `from`, `to` and `step` are cut out of `text`, which is for messages. */
static bool range_make(const char *text, const char *from, const char *to, const char *step, struct range *range,
                       struct text *error) {
    struct quantity q[3];
    range->multiplies = step[0] == '*';
    if (!quantity_parse(from, &q[0], error) || !quantity_parse(to, &q[1], error) ||
        !quantity_parse(step + 1, &q[2], error)) {
        return false;
    }
    if (range->multiplies && q[2].unit->family != FAMILY_PLAIN) {
        text_add(error, "the factor of the range `%s` must be a number without a unit", text);
        return false;
    }
    size_t with_unit = range->multiplies ? 2 : 3;
    range->unit = common_unit(q, with_unit);
    if (range->unit == NULL) {
        text_add(error, "the units of the range `%s` do not go together", text);
        return false;
    }
    for (size_t i = 0; i < with_unit; i++) {
        if (!quantity_convert(&q[i], range->unit)) {
            return too_many_digits(error, text);
        }
    }
    range->from = q[0].number;
    range->to = q[1].number;
    range->step = q[2].number;
    return range_check(range, text, error);
}

static void keep(struct axis_values *values, const char *text) {
    values->total++;
    if (values->count < AXIS_VALUES_MAX) {
        vector_push(values, mem_string(text));
    }
}

static void keep_decimal(struct axis_values *values, struct decimal number, const struct unit *unit) {
    char shown[SHOWN_BYTES];
    decimal_print(number, unit->name, shown, sizeof shown);
    keep(values, shown);
}

/* from, from + step, ..: the count is known at once, however many there are. */
static bool expand_sum(const struct range *range, const char *text, struct axis_values *values, struct text *error) {
    struct decimal from = range->from, to = range->to, step = range->step;
    int places = from.places > step.places ? from.places : step.places;
    places = to.places > places ? to.places : places;
    if (!decimal_widen(&from, places) || !decimal_widen(&to, places) || !decimal_widen(&step, places)) {
        return too_many_digits(error, text);
    }
    uint64_t steps = (uint64_t)(to.digits - from.digits) / (uint64_t)step.digits;
    uint64_t kept = steps < AXIS_VALUES_MAX ? steps : AXIS_VALUES_MAX;
    for (uint64_t i = 0; i <= kept; i++) {
        keep_decimal(values, (struct decimal){.digits = from.digits + (int64_t)i * step.digits, .places = places},
                     range->unit);
    }
    values->total += steps - kept;
    return true;
}

/* from, from x factor, .. */
static bool expand_product(const struct range *range, const char *text, struct axis_values *values,
                           struct text *error) {
    struct decimal number = range->from;
    for (uint64_t i = 0; i < STEPS_MAX && decimal_compare(number, range->to) <= 0; i++) {
        struct decimal next;
        keep_decimal(values, number, range->unit);
        if (!decimal_multiply(number, range->step, &next) || decimal_compare(next, number) <= 0) {
            return too_many_digits(error, text);
        }
        number = next;
    }
    return true;
}

/* --- lists --- */

/* Cuts the next value off *rest, in place: up to a blank or comma outside of brackets. NULL at the end. */
static char *next_token(char **rest) {
    char *at = *rest;
    while (is_blank(*at) || *at == ',') {
        at++;
    }
    if (*at == '\0') {
        return NULL;
    }
    char *token = at;
    int depth = 0;
    for (; *at != '\0' && (depth > 0 || !(is_blank(*at) || *at == ',')); at++) {
        depth += *at == '(' ? 1 : *at == ')' && depth > 0 ? -1 : 0;
    }
    *rest = *at == '\0' ? at : at + 1;
    *at = '\0';
    return token;
}

/* The step that follows a range: `*2`, `* 2`, or what is glued to its end (`1..8*2`). */
static bool take_step(char *to, char **rest, char *step, size_t size) {
    char *glued = strpbrk(to, "*+");
    if (glued != NULL) {
        snprintf(step, size, "%s", glued);
        *glued = '\0';
        return true;
    }
    while (is_blank(**rest)) {
        (*rest)++;
    }
    if (**rest != '*' && **rest != '+') {
        return false;
    }
    char *token = next_token(rest);
    char *number = token[1] == '\0' ? next_token(rest) : token + 1;
    snprintf(step, size, "%c%s", token[0], number != NULL ? number : "");
    return true;
}

static bool expand_range(char *token, char *dots, char **rest, struct axis_values *values, struct text *error) {
    char step[SHOWN_BYTES];
    *dots = '\0';
    char *to = dots + 2;
    if (!take_step(to, rest, step, sizeof step)) {
        text_add(error, "the range `%s..%s` has no step, such as +1 or *2", token, to);
        return false;
    }
    struct text shown = {0};
    struct range range;
    text_add(&shown, "%s..%s %s", token, to, step);
    bool good = range_make(text_string(&shown), token, to, step, &range, error) &&
                (range.multiplies ? expand_product : expand_sum)(&range, text_string(&shown), values, error);
    text_free(&shown);
    return good;
}

static bool parse_tokens(char *text, struct axis_values *values, struct text *error) {
    char *rest = text;
    for (char *token; (token = next_token(&rest)) != NULL;) {
        char *dots = strchr(token, '(') == NULL ? strstr(token, "..") : NULL;
        if (dots == NULL) {
            keep(values, token);
        } else if (!expand_range(token, dots, &rest, values, error)) {
            return false;
        }
    }
    if (values->total == 0) {
        text_add(error, "there is no value");
        return false;
    }
    return true;
}

bool axis_parse(const char *text, struct axis_values *values, struct text *error) {
    char *copy = mem_string(text);
    bool good = parse_tokens(copy, values, error);
    mem_free(copy);
    return good;
}

void axis_free(struct axis_values *values) {
    for (size_t i = 0; i < values->count; i++) {
        mem_free(values->items[i]);
    }
    vector_free(values);
    values->total = 0;
}
