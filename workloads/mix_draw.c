/* mix_draw.c - the draws of a mix: rows, sets of different rows, numbers, and which kind of transaction it is. Rows are
 * drawn as the built-in workloads draw theirs, so that the same transactions come of the same stream. */
#include "workloads/mix.h"

#include <stdlib.h>

enum { UNLUCKY_DRAWS_MAX = 1000 };

static int64_t draw_one(const struct mix_variable *variable, struct stream *stream) {
    uint64_t rows = (uint64_t)(variable->high - variable->low) + 1;
    switch (variable->source) {
    case MIX_ROW:
    case MIX_BETWEEN: return variable->low + (int64_t)stream_below(stream, rows);
    case MIX_ZIPF: return variable->low + (int64_t)zipf_draw(&variable->zipf, stream);
    case MIX_HOT: {
        bool hot = stream_chance(stream, variable->share);
        int64_t low = hot ? variable->low : variable->middle + 1, high = hot ? variable->middle : variable->high;
        return low + (int64_t)stream_below(stream, (uint64_t)(high - low) + 1);
    }
    case MIX_CHANCE: return stream_chance(stream, variable->share);
    case MIX_CONSTANT:
    case MIX_SEQUENCE:
    case MIX_LAST:
    case MIX_FOUND: break;
    }
    return variable->low;
}

static bool is_taken(const struct mix_variable *variable, const int64_t *values, size_t drawn, int64_t row) {
    for (size_t i = 0; i < drawn; i++) {
        if (values[variable->slot + i] == row) {
            return true;
        }
    }
    for (size_t i = 0; i < variable->excluded_count; i++) {
        if (values[variable->excluded[i]] == row) {
            return true;
        }
    }
    return false;
}

/* A row that is none of those before: drawn again until it is, which is drawing by the weights of those left; where these
 * have next to none, it is the first of them. */
static int64_t draw_new(const struct mix_variable *variable, struct stream *stream, const int64_t *values,
                        size_t drawn) {
    for (int i = 0; i < UNLUCKY_DRAWS_MAX; i++) {
        int64_t row = draw_one(variable, stream);
        if (!is_taken(variable, values, drawn, row)) {
            return row;
        }
    }
    int64_t row = variable->low;
    while (is_taken(variable, values, drawn, row)) {
        row++;
    }
    return row;
}

static int by_value(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A set without further wishes is drawn as the other workloads draw theirs. */
static void draw_set(const struct mix_variable *variable, struct stream *stream, int64_t *values) {
    uint64_t ranks[MIX_VALUES_MAX];
    uint64_t rows = (uint64_t)(variable->high - variable->low) + 1;
    if (variable->source == MIX_ROW && variable->excluded_count == 0) {
        stream_distinct(stream, rows, ranks, variable->count);
        for (size_t i = 0; i < variable->count; i++) {
            values[variable->slot + i] = variable->low + (int64_t)ranks[i];
        }
    } else {
        bool distinct = variable->source <= MIX_HOT;
        for (size_t i = 0; i < variable->count; i++) {
            values[variable->slot + i] = distinct ? draw_new(variable, stream, values, i) : draw_one(variable, stream);
        }
    }
    if (variable->sorted) {
        qsort(values + variable->slot, variable->count, sizeof *values, by_value);
    }
}

void mix_draw_values(const struct mix_type *type, struct stream *stream, int64_t *values) {
    for (size_t i = 0; i < type->variables.count; i++) {
        const struct mix_variable *variable = &type->variables.items[i];
        if (variable->source >= MIX_SEQUENCE) {
            continue;
        }
        if (variable->count > 0) {
            draw_set(variable, stream, values);
        } else if (variable->excluded_count > 0) {
            values[variable->slot] = draw_new(variable, stream, values, 0);
        } else {
            values[variable->slot] = draw_one(variable, stream);
        }
    }
}

size_t mix_draw_type(const struct mix *mix, struct stream *stream) {
    double point = stream_unit(stream) * mix->weight, sum = 0;
    size_t last = 0;
    for (size_t i = 0; i < mix->types.count; i++) {
        sum += mix->types.items[i].weight;
        last = mix->types.items[i].weight > 0 ? i : last;
        if (point < sum) {
            return i;
        }
    }
    return last; /* the sum was rounded */
}
