/* drawing.c - decides how a figure looks and writes its gnuplot script.
 *
 * A curve is a set of rows that agree in the group and in every other axis that varies, the figure's x apart: so a
 * sweep over more axes than the figure shows gives more curves, never a zigzag through unrelated points. Colours are
 * those of Okabe and Ito (Color Universal Design, 2008) without the yellow, which a projector swallows; point and dash
 * types differ as well, for print and for eyes to which the colours do not. */
#include "sim/lab/drawing.h"

#include <math.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/label.h"
#include "sim/lab/table.h"

const char *const drawing_colours[DRAWING_COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#000000"};
static const int point_types[] = {7, 5, 9, 13, 11, 4, 6, 8, 12, 10};
enum { POINT_TYPES = 10, DASH_TYPES = 5, CURVES_EASY = 16, CURVES_MOST = 40, TICS_MOST = 12 };

struct curve {
    size_t row; /* one of its rows: the others agree with it in `keys` */
    struct text label;
};

struct drawing {
    const struct figure *figure;
    const struct drawing_data *data;
    size_t x, y, ci;
    size_t axes_end;     /* columns before it are the algorithm, the workload and the axes */
    size_t metric;       /* of histograms: the column that names what is counted; else the data's width */
    VECTOR(size_t) keys; /* columns whose values tell curves apart; the group first */
    VECTOR(struct curve) curves;
    VECTOR(size_t) x_rows; /* rows in which a value of x first appears */
    bool x_is_number, has_ci;
    double x_min, x_max, y_min, y_max; /* y_max: of the error bars' ends */
};

size_t drawing_column(const struct drawing_data *data, const char *name) {
    size_t column = 0;
    while (column < data->width && strcmp(drawing_cell(data, 0, column), name) != 0) {
        column++;
    }
    return column;
}

void drawing_add_quoted(struct text *out, const char *words) {
    text_add(out, "'");
    for (const char *p = words; *p != '\0'; p++) {
        text_add_bytes(out, *p == '\'' ? "''" : *p == '\n' ? " " : p, *p == '\'' ? 2 : 1);
    }
    text_add(out, "'");
}

bool drawing_varies(const struct drawing_data *data, size_t column) {
    for (size_t r = 2; r < data->rows; r++) {
        if (strcmp(drawing_cell(data, r, column), drawing_cell(data, 1, column)) != 0) {
            return true;
        }
    }
    return false;
}

/* The group, even if it has one value only, then the other axes that vary. */
static void keys_choose(struct drawing *drawing) {
    const struct drawing_data *data = drawing->data;
    size_t group = drawing->figure->group != NULL ? drawing_column(data, drawing->figure->group) : data->width;
    if (group < data->width) {
        vector_push(&drawing->keys, group);
    }
    bool x_is_axis = drawing->x < drawing->axes_end, is_summary = drawing->figure->source == FIGURE_SUMMARY;
    for (size_t i = 0; i < drawing->axes_end && i < data->width; i++) {
        /* along a metric as x, one axis must run within a curve: the innermost */
        bool runs = x_is_axis ? i == drawing->x : is_summary && i + 1 == drawing->axes_end;
        if (i != group && !runs && drawing_varies(data, i)) {
            vector_push(&drawing->keys, i);
        }
    }
}

static bool same_curve(const struct drawing *drawing, size_t row, size_t other) {
    for (size_t k = 0; k < drawing->keys.count; k++) {
        size_t column = drawing->keys.items[k];
        if (strcmp(drawing_cell(drawing->data, row, column), drawing_cell(drawing->data, other, column)) != 0) {
            return false;
        }
    }
    return true;
}

const char *drawing_shown(const char *value) { return strcmp(value, "inf") == 0 ? "unlimited" : value; }

static void curve_label(const struct drawing *drawing, size_t row, struct text *label) {
    for (size_t k = 0; k < drawing->keys.count; k++) {
        size_t column = drawing->keys.items[k];
        const char *name = drawing_cell(drawing->data, 0, column), *value = drawing_cell(drawing->data, row, column);
        text_add(label, "%s", k > 0 ? ", " : "");
        if (strcmp(name, "algorithm") != 0 && strcmp(name, "workload") != 0) {
            text_add(label, "%s ", label_short(name));
        }
        const char *unit = isfinite(table_value(value)) ? label_unit(name, drawing_cell(drawing->data, row, 1)) : "";
        text_add(label, "%s%s%s", drawing_shown(value), unit[0] != '\0' && strcmp(unit, "share") != 0 ? " " : "",
                 strcmp(unit, "share") != 0 ? unit : "");
    }
}

/* Histograms of other things stand in the file as well. */
static bool is_drawn(const struct drawing *drawing, size_t row) {
    return drawing->metric == drawing->data->width ||
           strcmp(drawing_cell(drawing->data, row, drawing->metric), drawing->figure->x) == 0;
}

static void curves_find(struct drawing *drawing) {
    for (size_t r = 1; r < drawing->data->rows; r++) {
        size_t c = is_drawn(drawing, r) ? 0 : SIZE_MAX;
        while (c < drawing->curves.count && !same_curve(drawing, r, drawing->curves.items[c].row)) {
            c++;
        }
        if (c == drawing->curves.count) {
            struct curve curve = {.row = r};
            curve_label(drawing, r, &curve.label);
            vector_push(&drawing->curves, curve);
        }
    }
}

/* Keeps the rows in which a value of x first appears. Of a series or a histogram there may be many, all numbers, and
 * nobody needs them. */
static void x_row_note(struct drawing *drawing, size_t row) {
    const char *cell = drawing_cell(drawing->data, row, drawing->x);
    size_t i = drawing->figure->source == FIGURE_SUMMARY ? 0 : SIZE_MAX;
    while (i < drawing->x_rows.count &&
           strcmp(drawing_cell(drawing->data, drawing->x_rows.items[i], drawing->x), cell) != 0) {
        i++;
    }
    if (i == drawing->x_rows.count) {
        vector_push(&drawing->x_rows, row);
    }
    drawing->x_is_number = drawing->x_is_number && (isfinite(table_value(cell)) || cell[0] == '\0');
}

static void ranges_find(struct drawing *drawing) {
    const struct drawing_data *data = drawing->data;
    drawing->x_is_number = true;
    drawing->x_min = drawing->y_min = (double)INFINITY;
    drawing->x_max = drawing->y_max = -(double)INFINITY;
    for (size_t r = 1; r < data->rows; r++) {
        if (!is_drawn(drawing, r)) {
            continue;
        }
        double x = table_value(drawing_cell(data, r, drawing->x)), y = table_value(drawing_cell(data, r, drawing->y));
        double ci = drawing->ci < data->width ? table_value(drawing_cell(data, r, drawing->ci)) : (double)NAN;
        x_row_note(drawing, r);
        drawing->x_min = x < drawing->x_min ? x : drawing->x_min;
        drawing->x_max = x > drawing->x_max ? x : drawing->x_max;
        bool shows = isfinite(y) && (y > 0 || !drawing->figure->log_y);
        drawing->has_ci = drawing->has_ci || !isnan(ci);
        double top = isnan(ci) ? y : y + ci;
        drawing->y_min = shows && y < drawing->y_min ? y : drawing->y_min;
        drawing->y_max = shows && top > drawing->y_max ? top : drawing->y_max;
    }
}

static const char *x_column(const struct figure *figure) {
    return figure->source == FIGURE_HISTOGRAMS ? "below_ms" : figure->x;
}

static bool has_columns(const struct figure *figure, const struct drawing_data *data, struct text *error) {
    const char *wanted[] = {x_column(figure), figure->y, figure->group, figure->value};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (wanted[i] != NULL && drawing_column(data, wanted[i]) == data->width) {
            char suggestion[256];
            text_suggestion(suggestion, sizeof suggestion, wanted[i], (const char *const *)data->cells, data->width);
            text_add(error, "[figure %s]: %s.csv has no column `%s`%s", figure->name, figure_sources[figure->source],
                     wanted[i], suggestion);
            return false;
        }
    }
    return true;
}

static void drawing_make(struct drawing *drawing, const struct figure *figure, const struct drawing_data *data) {
    *drawing = (struct drawing){.figure = figure, .data = data};
    struct text ci = {0};
    text_add(&ci, "%s_ci95", figure->y);
    drawing->axes_end = drawing_column(data, figure->source == FIGURE_SUMMARY ? "replications" : "replication");
    drawing->metric = figure->source == FIGURE_HISTOGRAMS ? drawing_column(data, "metric") : data->width;
    drawing->x = drawing_column(data, x_column(figure));
    drawing->y = drawing_column(data, figure->y);
    drawing->ci = drawing_column(data, text_string(&ci));
    text_free(&ci);
    keys_choose(drawing);
    curves_find(drawing);
    ranges_find(drawing);
}

static void drawing_free(struct drawing *drawing) {
    for (size_t i = 0; i < drawing->curves.count; i++) {
        text_free(&drawing->curves.items[i].label);
    }
    vector_free(&drawing->curves);
    vector_free(&drawing->keys);
    vector_free(&drawing->x_rows);
}

static bool is_power_of_two(double value) {
    int exponent;
    return value > 0 && frexp(value, &exponent) == 0.5;
}

/* 2 if all values of x are powers of two, else 10. */
static int log_base_of_x(const struct drawing *drawing) {
    for (size_t i = 0; i < drawing->x_rows.count; i++) {
        if (!is_power_of_two(table_value(drawing_cell(drawing->data, drawing->x_rows.items[i], drawing->x)))) {
            return 10;
        }
    }
    return drawing->x_rows.count > 0 ? 2 : 10;
}

/* Tick labels in plain digits: at the powers of the base, thinned out if there are many; with few decades also at 2
 * and 5, and at every digit within less than one. */
static void add_log_tics(struct text *out, const char *axis, int base, double low, double high) {
    static const int digits[] = {1, 2, 5, 3, 4, 6, 7, 8, 9};
    int digit_count = base != 10 || high / low > 200 ? 1 : high / low > 8 ? 3 : 9;
    double start = log2(low) / log2(base);
    int first = (int)(digit_count == 1 ? ceil(start) : floor(start)), last = (int)floor(log2(high) / log2(base));
    int stride = 1 + (last - first) / TICS_MOST;
    const char *separator = "";
    text_add(out, "set logscale %s %d\nset %stics (", axis, base, axis);
    for (int power = first; power <= last; power += stride) {
        for (int digit = 0; digit < digit_count; digit++) {
            char number[32];
            text_number(number, digits[digit] * pow(base, power));
            text_add(out, "%s'%s' %s", separator, number, number);
            separator = ", ";
        }
    }
    text_add(out, ")\n");
}

static void add_x_axis(const struct drawing *drawing, struct text *out) {
    char low[32], high[32];
    if (!drawing->x_is_number) {
        text_add(out, "set xtics (");
        for (size_t i = 0; i < drawing->x_rows.count; i++) {
            text_add(out, i > 0 ? ", " : "");
            drawing_add_quoted(out, drawing_shown(drawing_cell(drawing->data, drawing->x_rows.items[i], drawing->x)));
            text_add(out, " %zu", i + 1);
        }
        text_add(out, ")\nset xrange [0.5:%zu.5]\n", drawing->x_rows.count);
        return;
    }
    double margin = drawing->x_max > drawing->x_min ? 0.03 * (drawing->x_max - drawing->x_min) : 0.5;
    double from = drawing->x_min - margin, to = drawing->x_max + margin;
    if (drawing->figure->log_x && drawing->x_min > 0) {
        double factor = drawing->x_max > drawing->x_min ? pow(drawing->x_max / drawing->x_min, 0.03) : 1.5;
        from = drawing->x_min / factor;
        to = drawing->x_max * factor;
        add_log_tics(out, "x", log_base_of_x(drawing), from, to);
    }
    text_add(out, "set xrange [%s:%s]\n", text_number(low, from), text_number(high, to));
}

static void add_y_axis(const struct drawing *drawing, struct text *out) {
    bool known = drawing->y_max >= drawing->y_min;
    if (drawing->figure->log_y && known) {
        double from = drawing->y_min / 1.3, to = drawing->y_max * 1.3;
        char low[32], high[32];
        add_log_tics(out, "y", 10, from, to);
        text_add(out, "set yrange [%s:%s]\n", text_number(low, from), text_number(high, to));
        return;
    }
    char high[32];
    double top = known && drawing->y_max > 0 ? 1.05 * drawing->y_max : 1;
    bool negative = known && drawing->y_min < 0;
    text_add(out, "set yrange [%s:%s]\n", negative ? "*" : "0", text_number(high, top));
    text_add(out, "set format y '%s'\n", known && drawing->y_max >= 1e4 ? "%.0f" : "%g");
}

void drawing_head(const struct figure *figure, const char *title, const struct drawing_format *format,
                  struct text *out) {
    text_add(out, "# Draws %s.%s from %s.csv; edit it and run: gnuplot %s.gp\n", figure->name, format->ending,
             figure_sources[figure->source], figure->name);
    text_add(out, "set terminal %s\n", format->terminal);
    text_add(out, "if (!exists('picture')) picture = '%s.%s'\nset output picture\n", figure->name, format->ending);
    text_add(out, "set datafile separator comma\nset datafile missing NaN\nset datafile columnheaders\n");
    text_add(out, "set title ");
    drawing_add_quoted(out, title);
    text_add(out, " font ',24'\nset xlabel ");
    drawing_add_quoted(out, figure->x_label);
    text_add(out, "\nset ylabel ");
    drawing_add_quoted(out, figure->y_label);
    text_add(out, "\nset border 3 linewidth 1.5\nset tics nomirror\n");
}

static void add_settings(const struct drawing *drawing, const struct drawing_format *format, struct text *out) {
    struct text title = {0};
    text_add(&title, "%s", drawing->figure->title);
    if (drawing->curves.count > CURVES_MOST) {
        text_add(&title, " (the first %d of %zu curves)", CURVES_MOST, drawing->curves.count);
    }
    drawing_head(drawing->figure, text_string(&title), format, out);
    text_free(&title);
    bool crowded = drawing->curves.count > CURVES_EASY;
    text_add(out, "set grid linecolor rgb '#DDDDDD' linetype 1\n");
    text_add(out, "set key outside right top vertical Left reverse samplen 3 %s\n",
             crowded ? "spacing 0.9 font ',12'" : "spacing 1.4");
    text_add(out, "set errorbars 0.7\n");
    add_x_axis(drawing, out);
    add_y_axis(drawing, out);
}

/* Does the column say what it says in `row`? gnuplot's strcol ends a quoted cell at its first comma: where there is one, the
 * lines that say the same are named by their numbers. */
static void add_same(const struct drawing_data *data, size_t column, size_t row, struct text *out) {
    const char *cell = drawing_cell(data, row, column);
    if (strpbrk(cell, ",\"") == NULL) {
        text_add(out, "strcol('%s') eq ", drawing_cell(data, 0, column));
        drawing_add_quoted(out, cell);
        return;
    }
    text_add(out, "strstrt(' ");
    for (size_t other = 1; other < data->rows; other++) {
        if (strcmp(drawing_cell(data, other, column), cell) == 0) {
            text_add(out, "%zu ", other - 1);
        }
    }
    text_add(out, "', sprintf(' %%d ', int(column(0)))) > 0");
}

/* `x` and `y` of a row as gnuplot's expressions. */
static void add_functions(const struct drawing *drawing, struct text *out) {
    const struct figure *figure = drawing->figure;
    text_add(out, "number(name) = strlen(strcol(name)) > 0 ? column(name) : NaN\n");
    text_add(out, "x_of(row) = ");
    for (size_t i = 0; !drawing->x_is_number && i < drawing->x_rows.count; i++) {
        add_same(drawing->data, drawing->x, drawing->x_rows.items[i], out);
        text_add(out, " ? %zu : ", i + 1);
    }
    text_add(out, drawing->x_is_number ? "number('%s')\n" : "NaN\n", drawing_cell(drawing->data, 0, drawing->x));
    text_add(out, "y_of(row) = number('%s')\n", figure->source == FIGURE_HISTOGRAMS ? "count" : figure->y);
    if (drawing->has_ci) {
        char low[32];
        text_add(out, "half(row) = strlen(strcol('%s_ci95')) > 0 ? column('%s_ci95') : 0\n", figure->y, figure->y);
        text_add(out, "high(row) = y_of(row) + half(row)\nlow(row) = y_of(row) - half(row)");
        if (figure->log_y && drawing->y_max >= drawing->y_min) {
            text_number(low, drawing->y_min / 1.3);
            text_add(out, " > %s ? y_of(row) - half(row) : %s", low, low);
        }
        text_add(out, "\n");
    }
}

static void add_condition(const struct drawing *drawing, size_t row, struct text *out) {
    for (size_t k = 0; k < drawing->keys.count; k++) {
        size_t column = drawing->keys.items[k];
        text_add(out, k > 0 ? " && " : "");
        add_same(drawing->data, column, row, out);
    }
    text_add(out, drawing->keys.count == 0 ? "1" : "");
    if (drawing->metric < drawing->data->width) {
        text_add(out, " && strcol('metric') eq '%s'", drawing->figure->x);
    }
}

/* A series is averaged where replications meet at one time; histograms are added up and made shares of all. */
static void add_style(const struct drawing *drawing, struct text *out) {
    static const char *const smooth[] = {NULL, " smooth unique with lines", " smooth cnormal with lines"};
    bool lines = drawing->x_is_number;
    if (drawing->figure->source != FIGURE_SUMMARY) {
        text_add(out, "%s", smooth[drawing->figure->source]);
    } else if (drawing->has_ci) {
        text_add(out, ":(low(0)):(high(0)) with %s", lines ? "yerrorlines" : "yerrorbars");
    } else {
        text_add(out, " with %s", lines ? "linespoints" : "points");
    }
}

static void add_curves(const struct drawing *drawing, struct text *out) {
    bool lines = drawing->x_is_number;
    char number[32];
    size_t count = drawing->curves.count < CURVES_MOST ? drawing->curves.count : CURVES_MOST;
    for (size_t i = 0; i < count; i++) {
        const struct curve *curve = &drawing->curves.items[i];
        text_add(out, "in_%zu(row) = ", i + 1);
        add_condition(drawing, curve->row, out);
        text_add(out, "\n");
    }
    text_add(out, "plot");
    for (size_t i = 0; i < count; i++) {
        const struct curve *curve = &drawing->curves.items[i];
        double aside = lines ? 0 : 0.6 * ((double)i + 0.5) / (double)count - 0.3; /* words along x: side by side */
        text_add(out, "%s '%s.csv' using (in_%zu(0) ? x_of(0) + %s : NaN):(y_of(0))", i > 0 ? ", \\\n    " : "",
                 figure_sources[drawing->figure->source], i + 1, text_number(number, aside));
        add_style(drawing, out);
        double under = count > 1 ? 1 - (double)i / (double)(count - 1) : 0; /* shows around what covers it */
        text_add(out, " linecolor rgb '%s' linewidth %.1f dashtype %zu", drawing_colours[i % DRAWING_COLOURS],
                 2.5 + 2.5 * under, i % DASH_TYPES + 1);
        if (drawing->figure->source == FIGURE_SUMMARY) {
            text_add(out, " pointtype %d pointsize %.1f", point_types[i % POINT_TYPES], 1.3 + under);
        }
        text_add(out, curve->label.length > 0 ? " title " : " notitle");
        if (curve->label.length > 0) {
            drawing_add_quoted(out, text_string(&curve->label));
        }
    }
    text_add(out, "\n");
}

static void curves_script(const struct figure *figure, const struct drawing_data *data,
                          const struct drawing_format *format, struct text *script) {
    struct drawing drawing;
    drawing_make(&drawing, figure, data);
    add_settings(&drawing, format, script);
    add_functions(&drawing, script);
    add_curves(&drawing, script);
    drawing_free(&drawing);
}

bool drawing_script(const struct figure *figure, const struct drawing_data *data, const struct drawing_format *format,
                    struct text *script, struct text *error) {
    if (!has_columns(figure, data, error)) {
        return false;
    }
    if (figure->kind == FIGURE_MAP) {
        return drawing_map(figure, data, format, script, error);
    }
    curves_script(figure, data, format, script);
    return true;
}
