/* plot.c - decides how a figure looks, writes its gnuplot script and runs it.
 *
 * A curve is a set of rows that agree in the group and in every other axis that varies, the figure's x apart: so a sweep over
 * more axes than the figure shows gives more curves, never a zigzag through unrelated points. Colours are those of Okabe
 * and Ito (Color Universal Design, 2008) without the yellow, which a projector swallows; point and dash types differ as
 * well, for print and for eyes to which the colours do not. */
#include "sim/lab/plot.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/label.h"
#include "sim/lab/manifest.h"
#include "sim/lab/outfile.h"
#include "sim/lab/table.h"

const char *const plot_formats[] = {"svg", "png", "pdf", NULL};

static const char *const terminals[] = {
    "svg size 1280,800 dynamic font \"Helvetica,20\" noenhanced dashlength 0.7 background rgb \"white\"",
    "pngcairo size 1280,800 font \"Sans,20\" noenhanced dashlength 0.7 background rgb \"white\" linewidth 1.2",
    "pdfcairo size 12.8in,8in font \"Sans,20\" noenhanced dashlength 0.7 linewidth 1.5"};

static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
static const int point_types[] = {7, 5, 9, 13, 11, 4, 6, 8, 12, 10};
enum { COLOURS = 7, POINT_TYPES = 10, DASH_TYPES = 5, CURVES_MOST = 40, TICS_MOST = 12 };

struct data {
    char *content;
    char **cells; /* row after row, the header first */
    size_t width, rows;
};

struct curve {
    size_t row;        /* one of its rows: the others agree with it in `keys` */
    struct text label;
};

struct drawing {
    const struct figure *figure;
    const struct data *data;
    size_t x, y, ci;
    VECTOR(size_t) keys;         /* columns whose values tell curves apart; the group first */
    VECTOR(struct curve) curves;
    VECTOR(size_t) x_rows;       /* rows in which a value of x first appears */
    bool x_is_number, has_ci;
    double x_min, x_max, y_min, y_max; /* y_max: of the error bars' ends */
};

static const char *cell_of(const struct data *data, size_t row, size_t column) {
    return data->cells[row * data->width + column];
}

static size_t column_named(const struct data *data, const char *name) {
    size_t column = 0;
    while (column < data->width && strcmp(cell_of(data, 0, column), name) != 0) {
        column++;
    }
    return column;
}

static bool data_load(struct data *data, const char *folder) {
    struct text path = {0};
    text_add(&path, "%s/summary.csv", folder);
    *data = (struct data){.content = outfile_load(text_string(&path))};
    bool good = data->content != NULL;
    if (!good) {
        fprintf(stderr, "ccsim: %s: %s\n", text_string(&path), strerror(errno));
    }
    VECTOR(char *) cells = {0};
    for (char *next = data->content; good && next != NULL; data->rows++) {
        char *record[2048];
        size_t count;
        next = table_split(next, record, sizeof record / sizeof record[0], &count);
        data->width = data->rows == 0 ? count : data->width;
        good = count == data->width && count <= sizeof record / sizeof record[0];
        for (size_t i = 0; good && i < count; i++) {
            vector_push(&cells, record[i]);
        }
        if (!good) {
            fprintf(stderr, "ccsim: %s: record %zu has %zu cells, its header has %zu\n", text_string(&path), data->rows + 1,
                    count, data->width);
        }
    }
    data->cells = cells.items;
    if (good && data->rows < 2) {
        fprintf(stderr, "ccsim: %s has no rows\n", text_string(&path));
        good = false;
    }
    text_free(&path);
    return good;
}

static void data_free(struct data *data) {
    mem_free(data->cells);
    mem_free(data->content);
}

/* A string as gnuplot's single quotes hold it. */
static void add_quoted(struct text *out, const char *words) {
    text_add(out, "'");
    for (const char *p = words; *p != '\0'; p++) {
        text_add_bytes(out, *p == '\'' ? "''" : *p == '\n' ? " " : p, *p == '\'' ? 2 : 1);
    }
    text_add(out, "'");
}

static bool varies(const struct data *data, size_t column) {
    for (size_t r = 2; r < data->rows; r++) {
        if (strcmp(cell_of(data, r, column), cell_of(data, 1, column)) != 0) {
            return true;
        }
    }
    return false;
}

/* The group, even if it has one value only, then the other axes that vary. */
static void keys_choose(struct drawing *drawing) {
    const struct data *data = drawing->data;
    size_t group = drawing->figure->group != NULL ? column_named(data, drawing->figure->group) : data->width;
    if (group < data->width) {
        vector_push(&drawing->keys, group);
    }
    bool x_is_axis = drawing->x < column_named(data, "replications");
    for (size_t i = 0; i < column_named(data, "replications") && i < data->width; i++) {
        /* along a metric as x, one axis must run within a curve: the innermost */
        bool runs = x_is_axis ? i == drawing->x : i + 1 == column_named(data, "replications");
        if (i != group && !runs && varies(data, i)) {
            vector_push(&drawing->keys, i);
        }
    }
}

static bool same_curve(const struct drawing *drawing, size_t row, size_t other) {
    for (size_t k = 0; k < drawing->keys.count; k++) {
        size_t column = drawing->keys.items[k];
        if (strcmp(cell_of(drawing->data, row, column), cell_of(drawing->data, other, column)) != 0) {
            return false;
        }
    }
    return true;
}

static void curve_label(const struct drawing *drawing, size_t row, struct text *label) {
    for (size_t k = 0; k < drawing->keys.count; k++) {
        size_t column = drawing->keys.items[k];
        const char *name = cell_of(drawing->data, 0, column), *value = cell_of(drawing->data, row, column);
        text_add(label, "%s", k > 0 ? ", " : "");
        if (strcmp(name, "algorithm") != 0 && strcmp(name, "workload") != 0) {
            text_add(label, "%s ", label_short(name));
        }
        text_add(label, "%s", value);
    }
}

static void curves_find(struct drawing *drawing) {
    for (size_t r = 1; r < drawing->data->rows; r++) {
        size_t c = 0;
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

static void ranges_find(struct drawing *drawing) {
    const struct data *data = drawing->data;
    drawing->x_is_number = true;
    drawing->x_min = drawing->y_min = (double)INFINITY;
    drawing->x_max = drawing->y_max = -(double)INFINITY;
    for (size_t r = 1; r < data->rows; r++) {
        const char *x_cell = cell_of(data, r, drawing->x);
        double x = table_value(x_cell), y = table_value(cell_of(data, r, drawing->y));
        double ci = drawing->ci < data->width ? table_value(cell_of(data, r, drawing->ci)) : (double)NAN;
        size_t i = 0;
        while (i < drawing->x_rows.count && strcmp(cell_of(data, drawing->x_rows.items[i], drawing->x), x_cell) != 0) {
            i++;
        }
        if (i == drawing->x_rows.count) {
            vector_push(&drawing->x_rows, r);
        }
        drawing->x_is_number = drawing->x_is_number && (isfinite(x) || x_cell[0] == '\0');
        drawing->x_min = x < drawing->x_min ? x : drawing->x_min;
        drawing->x_max = x > drawing->x_max ? x : drawing->x_max;
        bool shows = isfinite(y) && (y > 0 || !drawing->figure->log_y);
        drawing->has_ci = drawing->has_ci || !isnan(ci);
        double top = isnan(ci) ? y : y + ci;
        drawing->y_min = shows && y < drawing->y_min ? y : drawing->y_min;
        drawing->y_max = shows && top > drawing->y_max ? top : drawing->y_max;
    }
}

static bool drawing_make(struct drawing *drawing, const struct figure *figure, const struct data *data) {
    *drawing = (struct drawing){.figure = figure, .data = data};
    const char *wanted[] = {figure->x, figure->y, figure->group};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (wanted[i] != NULL && column_named(data, wanted[i]) == data->width) {
            char suggestion[256];
            text_suggestion(suggestion, sizeof suggestion, wanted[i], (const char *const *)data->cells, data->width);
            fprintf(stderr, "ccsim: [figure %s]: summary.csv has no column `%s`%s\n", figure->name, wanted[i], suggestion);
            return false;
        }
    }
    struct text ci = {0};
    text_add(&ci, "%s_ci95", figure->y);
    drawing->x = column_named(data, figure->x);
    drawing->y = column_named(data, figure->y);
    drawing->ci = column_named(data, text_string(&ci));
    text_free(&ci);
    keys_choose(drawing);
    curves_find(drawing);
    ranges_find(drawing);
    return true;
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
        if (!is_power_of_two(table_value(cell_of(drawing->data, drawing->x_rows.items[i], drawing->x)))) {
            return 10;
        }
    }
    return 2;
}

/* Tick labels in plain digits, at powers of the base. */
static void add_log_tics(struct text *out, const char *axis, int base, double low, double high) {
    int first = (int)floor(log2(low) / log2(base)), last = (int)ceil(log2(high) / log2(base));
    int stride = 1 + (last - first) / TICS_MOST;
    text_add(out, "set logscale %s %d\nset %stics (", axis, base, axis);
    for (int power = first; power <= last; power += stride) {
        char number[32];
        double value = pow(base, power);
        text_number(number, value);
        text_add(out, "%s'%s' %s", power == first ? "" : ", ", number, number);
    }
    text_add(out, ")\n");
}

static void add_x_axis(const struct drawing *drawing, struct text *out) {
    char low[32], high[32];
    if (!drawing->x_is_number) {
        text_add(out, "set xtics (");
        for (size_t i = 0; i < drawing->x_rows.count; i++) {
            text_add(out, i > 0 ? ", " : "");
            add_quoted(out, cell_of(drawing->data, drawing->x_rows.items[i], drawing->x));
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
        add_log_tics(out, "x", log_base_of_x(drawing), drawing->x_min, drawing->x_max);
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

static void add_settings(const struct drawing *drawing, size_t format, struct text *out) {
    const struct figure *figure = drawing->figure;
    text_add(out, "# Draws %s.%s from summary.csv; edit it and run: gnuplot %s.gp\n", figure->name, plot_formats[format],
             figure->name);
    text_add(out, "set terminal %s\n", terminals[format]);
    text_add(out, "if (!exists('picture')) picture = '%s.%s'\nset output picture\n", figure->name, plot_formats[format]);
    text_add(out, "set datafile separator comma\nset datafile missing NaN\n");
    text_add(out, "set title ");
    add_quoted(out, figure->title);
    text_add(out, " font ',24'\nset xlabel ");
    add_quoted(out, figure->x_label);
    text_add(out, "\nset ylabel ");
    add_quoted(out, figure->y_label);
    text_add(out, "\nset border 3 linewidth 1.5\nset tics nomirror\nset grid linecolor rgb '#DDDDDD' linetype 1\n");
    text_add(out, "set key outside right top vertical Left reverse samplen 3 spacing 1.4\n");
    text_add(out, "set errorbars 0.7\n");
    add_x_axis(drawing, out);
    add_y_axis(drawing, out);
}

/* `x` and `y` of a row as gnuplot's expressions. */
static void add_functions(const struct drawing *drawing, struct text *out) {
    const struct figure *figure = drawing->figure;
    text_add(out, "number(name) = strlen(strcol(name)) > 0 ? column(name) : NaN\n");
    text_add(out, "x_of(row) = ");
    for (size_t i = 0; !drawing->x_is_number && i < drawing->x_rows.count; i++) {
        text_add(out, "strcol('%s') eq ", figure->x);
        add_quoted(out, cell_of(drawing->data, drawing->x_rows.items[i], drawing->x));
        text_add(out, " ? %zu : ", i + 1);
    }
    text_add(out, drawing->x_is_number ? "number('%s')\n" : "NaN\n", figure->x);
    text_add(out, "y_of(row) = number('%s')\n", figure->y);
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
        text_add(out, "%sstrcol('%s') eq ", k > 0 ? " && " : "", cell_of(drawing->data, 0, column));
        add_quoted(out, cell_of(drawing->data, row, column));
    }
    text_add(out, drawing->keys.count == 0 ? "1" : "");
}

static void add_curves(const struct drawing *drawing, struct text *out) {
    bool lines = drawing->x_is_number;
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
        text_add(out, "%s 'summary.csv' using (in_%zu(0) ? x_of(0) : NaN):(y_of(0))", i > 0 ? ", \\\n    " : "", i + 1);
        text_add(out, drawing->has_ci ? ":(low(0)):(high(0)) with %s" : " with %s",
                 drawing->has_ci ? (lines ? "yerrorlines" : "yerrorbars") : (lines ? "linespoints" : "points"));
        text_add(out, " linecolor rgb '%s' linewidth 2.5 dashtype %zu pointtype %d pointsize 1.5", colours[i % COLOURS],
                 i % DASH_TYPES + 1, point_types[i % POINT_TYPES]);
        text_add(out, curve->label.length > 0 ? " title " : " notitle");
        if (curve->label.length > 0) {
            add_quoted(out, text_string(&curve->label));
        }
    }
    text_add(out, "\n");
}

static void path_of(struct text *path, const char *folder, const char *name, const char *ending) {
    text_clear(path);
    text_add(path, "%s/%s.%s", folder, name, ending);
}

static bool script_write(const char *folder, const char *name, const struct text *script) {
    struct text file_name = {0};
    text_add(&file_name, "%s.gp", name);
    struct outfile file;
    bool good = outfile_open(&file, folder, text_string(&file_name)) &&
                outfile_write(&file, script->bytes, script->length) && outfile_finish(&file) && outfile_commit(&file);
    if (!good) {
        fprintf(stderr, "ccsim: %s: %s\n", file.path, strerror(file.error));
    }
    outfile_close(&file);
    text_free(&file_name);
    return good;
}

enum { STATUS_NOT_FOUND = 127 };

/* Runs the script in its folder; the exit status, or -1. */
static int gnuplot(const char *folder, const char *script, const char *assignment) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) == 0) {
            execlp("gnuplot", "gnuplot", "-e", assignment, script, (char *)NULL);
        }
        _exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_FOUND - 1);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* gnuplot does not notice a full disk: does the picture end as such pictures end? */
static bool is_whole(const char *path, const char *format) {
    const char *ending = strcmp(format, "svg") == 0 ? "</svg>" : strcmp(format, "png") == 0 ? "IEND" : "%%EOF";
    enum { TAIL = 64 };
    char tail[TAIL + 1] = "";
    FILE *file = fopen(path, "rb");
    bool good = file != NULL && fseek(file, -(long)TAIL, SEEK_END) == 0 && fread(tail, 1, TAIL, file) == TAIL;
    if (file != NULL) {
        fclose(file);
    }
    return good && memmem(tail, TAIL, ending, strlen(ending)) != NULL;
}

/* The picture appears whole or not at all, as every file. */
static bool picture_draw(const char *folder, const char *name, const char *format, FILE *list) {
    struct text script = {0}, assignment = {0}, temporary = {0}, picture = {0};
    text_add(&script, "%s.gp", name);
    text_add(&assignment, "picture = '%s.%s.tmp'", name, format);
    path_of(&picture, folder, name, format);
    text_add(&temporary, "%s.tmp", text_string(&picture));
    int status = gnuplot(folder, text_string(&script), text_string(&assignment));
    bool good = status == 0 && is_whole(text_string(&temporary), format) &&
                rename(text_string(&temporary), text_string(&picture)) == 0;
    if (good && list != NULL) {
        fprintf(list, "%s\n", text_string(&picture));
    } else if (status == STATUS_NOT_FOUND) {
        fprintf(stderr, "ccsim: gnuplot is not installed (Debian: apt-get install gnuplot-nox); then: ccsim plot %s\n", folder);
    } else if (!good) {
        fprintf(stderr, "ccsim: gnuplot could not draw %s/%s; then: ccsim plot %s\n", folder, text_string(&script), folder);
    }
    unlink(text_string(&temporary));
    text_free(&script);
    text_free(&assignment);
    text_free(&temporary);
    text_free(&picture);
    return good;
}

static enum lab_exit figure_draw(const struct figure *figure, const struct data *data, const char *folder, size_t format,
                                 FILE *list) {
    struct drawing drawing;
    enum lab_exit end = LAB_USAGE;
    if (drawing_make(&drawing, figure, data)) {
        if (drawing.curves.count > CURVES_MOST) {
            fprintf(stderr, "ccsim: [figure %s]: %zu curves; only the first %d are drawn\n", figure->name,
                    drawing.curves.count, CURVES_MOST);
        }
        struct text script = {0};
        add_settings(&drawing, format, &script);
        add_functions(&drawing, &script);
        add_curves(&drawing, &script);
        bool good = script_write(folder, figure->name, &script) &&
                    picture_draw(folder, figure->name, plot_formats[format], list);
        end = good ? LAB_DONE : LAB_INCOMPLETE;
        text_free(&script);
    }
    drawing_free(&drawing);
    return end;
}

static size_t format_number(const char *format) {
    size_t number = 0;
    while (plot_formats[number] != NULL && strcmp(plot_formats[number], format) != 0) {
        number++;
    }
    CHECK(plot_formats[number] != NULL);
    return number;
}

enum lab_exit plot_folder(const char *folder, const char *format, FILE *list) {
    struct manifest_figures plan;
    struct data data = {0};
    struct text error = {0};
    enum lab_exit end = LAB_DONE;
    if (!manifest_read_figures(folder, &plan, &error)) {
        fprintf(stderr, "ccsim: %s\n", text_string(&error));
        end = LAB_INCOMPLETE;
    } else if (plan.count > 0 && !data_load(&data, folder)) {
        end = LAB_INCOMPLETE;
    }
    for (size_t i = 0; data.rows > 1 && end != LAB_INCOMPLETE && i < plan.count; i++) {
        enum lab_exit its_end = figure_draw(&plan.figures[i], &data, folder, format_number(format), list);
        end = its_end > end ? its_end : end;
    }
    data_free(&data);
    manifest_figures_free(&plan);
    text_free(&error);
    return end;
}

enum lab_exit plot_completeness(const char *folder) {
    struct manifest_figures plan;
    struct text error = {0};
    bool missing = manifest_read_figures(folder, &plan, &error) && plan.runs_finished + plan.runs_refused < plan.runs;
    if (missing) {
        fprintf(stderr, "ccsim: %s holds %zu of %zu runs; to compute them all: %s\n", folder, plan.runs_finished, plan.runs,
                plan.command != NULL ? plan.command : "ccsim run");
    }
    manifest_figures_free(&plan);
    text_free(&error);
    return missing ? LAB_INCOMPLETE : LAB_DONE;
}
