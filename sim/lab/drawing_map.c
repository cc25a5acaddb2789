/* drawing_map.c - a map: for each pair of values of two axes, which group is best by a metric, and how far ahead.
 *
 * A cell has the winner's colour and name, and by how much it beats the second best; where the intervals of the two leave
 * open which is the better (their difference is less than the root of the sum of the squared half-widths), it says so
 * instead. Values stand in the order of the sweep at equal distances. The cells are worked out here and stand in the
 * script as a data block. */
#include <math.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/drawing.h"
#include "sim/lab/table.h"

struct map {
    const struct figure *figure;
    const struct drawing_data *data;
    size_t x, y, group, value, ci;
    VECTOR(size_t) x_rows, y_rows, groups; /* rows in which a value first appears */
    bool *wins;                            /* by group: does it win anywhere? */
};

/* The first of `rows` whose cell says the same; one more if there is none. */
static size_t place_of(const struct map *map, const size_t *rows, size_t count, size_t column, size_t row) {
    size_t place = 0;
    while (place < count &&
           strcmp(drawing_cell(map->data, rows[place], column), drawing_cell(map->data, row, column)) != 0) {
        place++;
    }
    return place;
}

static void values_find(struct map *map) {
    for (size_t row = 1; row < map->data->rows; row++) {
        if (place_of(map, map->x_rows.items, map->x_rows.count, map->x, row) == map->x_rows.count) {
            vector_push(&map->x_rows, row);
        }
        if (place_of(map, map->y_rows.items, map->y_rows.count, map->y, row) == map->y_rows.count) {
            vector_push(&map->y_rows, row);
        }
        if (place_of(map, map->groups.items, map->groups.count, map->group, row) == map->groups.count) {
            vector_push(&map->groups, row);
        }
    }
}

/* Another axis that varies would put several rows of a group into one cell. */
static bool is_closed(const struct map *map, struct text *error) {
    size_t axes = drawing_column(map->data, "replications");
    for (size_t i = 0; i < axes && i < map->data->width; i++) {
        if (i != map->x && i != map->y && i != map->group && drawing_varies(map->data, i)) {
            text_add(error, "[figure %s]: a map shows x, y and group, and `%s` varies too: pick a value with --only",
                     map->figure->name, drawing_cell(map->data, 0, i));
            return false;
        }
    }
    return true;
}

static double number_in(const struct map *map, size_t row, size_t column) {
    return column < map->data->width ? table_value(drawing_cell(map->data, row, column)) : (double)NAN;
}

static bool is_better(const struct map *map, size_t row, size_t than) {
    double value = number_in(map, row, map->value), other = number_in(map, than, map->value);
    return map->figure->lowest ? value < other : value > other;
}

/* The best and the second best row of a cell; 0 if there is none. */
static void ranking(const struct map *map, size_t x, size_t y, size_t *best, size_t *second) {
    *best = *second = 0;
    for (size_t row = 1; row < map->data->rows; row++) {
        bool is_here = place_of(map, map->x_rows.items, map->x_rows.count, map->x, row) == x &&
                       place_of(map, map->y_rows.items, map->y_rows.count, map->y, row) == y &&
                       isfinite(number_in(map, row, map->value));
        if (is_here && (*best == 0 || is_better(map, row, *best))) {
            *second = *best;
            *best = row;
        } else if (is_here && (*second == 0 || is_better(map, row, *second))) {
            *second = row;
        }
    }
}

static bool is_tie(const struct map *map, size_t best, size_t second) {
    double ours = number_in(map, best, map->ci), theirs = number_in(map, second, map->ci);
    double apart = fabs(number_in(map, best, map->value) - number_in(map, second, map->value));
    return apart == 0 || (!isnan(ours) && !isnan(theirs) && apart < sqrt(ours * ours + theirs * theirs));
}

/* "+12%", or "= occ". */
static void add_lead(const struct map *map, size_t best, size_t second, struct text *out) {
    if (second == 0) {
        text_add(out, " ");
    } else if (is_tie(map, best, second)) {
        text_add(out, "= %s", drawing_shown(drawing_cell(map->data, second, map->group)));
    } else {
        double high = number_in(map, map->figure->lowest ? second : best, map->value);
        double low = number_in(map, map->figure->lowest ? best : second, map->value);
        double lead = (high / low - 1) * 100;
        if (lead > 900 || !(low > 0)) {
            text_add(out, "> 10 x");
        } else {
            text_add(out, lead < 9.95 ? "+%.1f%%" : "+%.0f%%", lead);
        }
    }
}

static void add_cells(const struct map *map, struct text *out) {
    text_add(out, "# x, y, number of the best group, its name, by how much\n$cells << END\n");
    for (size_t y = 0; y < map->y_rows.count; y++) {
        for (size_t x = 0; x < map->x_rows.count; x++) {
            size_t best, second;
            ranking(map, x, y, &best, &second);
            if (best > 0) {
                size_t group = place_of(map, map->groups.items, map->groups.count, map->group, best);
                map->wins[group] = true;
                text_add(out, "%zu,%zu,%zu,\"%s\",\"", x + 1, y + 1, group + 1,
                         drawing_shown(drawing_cell(map->data, best, map->group)));
                add_lead(map, best, second, out);
                text_add(out, "\"\n");
            }
        }
    }
    text_add(out, "END\n");
}

static void add_tics(const struct map *map, const char *axis, const size_t *rows, size_t count, size_t column,
                     struct text *out) {
    text_add(out, "set %stics (", axis);
    for (size_t i = 0; i < count; i++) {
        text_add(out, i > 0 ? ", " : "");
        drawing_add_quoted(out, drawing_shown(drawing_cell(map->data, rows[i], column)));
        text_add(out, " %zu", i + 1);
    }
    text_add(out, ") scale 0\nset %srange [0.5:%zu.5]\n", axis, count);
}

static void add_plots(const struct map *map, struct text *out) {
    text_add(out, "plot ");
    for (size_t i = 0; i < map->groups.count; i++) {
        if (map->wins[i]) {
            text_add(
                out,
                "$cells using ($3 == %zu ? $1 : NaN):2:($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5) with boxxyerror "
                "fillstyle solid 0.45 border linecolor rgb 'white' fillcolor rgb '%s' title ",
                i + 1, drawing_colours[i % DRAWING_COLOURS]);
            drawing_add_quoted(out, drawing_shown(drawing_cell(map->data, map->groups.items[i], map->group)));
            text_add(out, ", \\\n    ");
        }
    }
    int size = map->x_rows.count > 7 ? 12 : 15;
    text_add(out,
             "$cells using 1:2:4 with labels offset 0,0.6 font ',%d' notitle, \\\n"
             "    $cells using 1:2:5 with labels offset 0,-0.7 font ',%d' notitle\n",
             size, size - 2);
}

bool drawing_map(const struct figure *figure, const struct drawing_data *data, const struct drawing_format *format,
                 struct text *script, struct text *error) {
    struct text ci = {0};
    text_add(&ci, "%s_ci95", figure->value);
    struct map map = {.figure = figure,
                      .data = data,
                      .x = drawing_column(data, figure->x),
                      .y = drawing_column(data, figure->y),
                      .group = drawing_column(data, figure->group),
                      .value = drawing_column(data, figure->value),
                      .ci = drawing_column(data, text_string(&ci))};
    text_free(&ci);
    bool good = is_closed(&map, error);
    if (good) {
        values_find(&map);
        map.wins = mem_new(map.groups.count, sizeof *map.wins);
        drawing_head(figure, figure->title, format, script);
        text_add(script, "set key outside right top vertical Left reverse samplen 1.5 spacing 1.6\n");
        add_cells(&map, script);
        add_tics(&map, "x", map.x_rows.items, map.x_rows.count, map.x, script);
        add_tics(&map, "y", map.y_rows.items, map.y_rows.count, map.y, script);
        add_plots(&map, script);
    }
    vector_free(&map.x_rows);
    vector_free(&map.y_rows);
    vector_free(&map.groups);
    mem_free(map.wins);
    return good;
}
