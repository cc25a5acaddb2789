/* report.c - see the header. Numbers of a column share their decimals, so that the eye can compare magnitudes; a blank
 * line stands where the slowest-moving axis moves. */
#include "sim/lab/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/label.h"
#include "sim/lab/table.h"

/* spread: of the number before it; count: a number that is shown only if it is not 0 everywhere */
enum kind { KIND_TEXT, KIND_NUMBER, KIND_SPREAD, KIND_PERCENT, KIND_COUNT };

struct column {
    size_t cell; /* its place in the record */
    char heading[64];
    enum kind kind;
    int decimals, width;
};

struct sheet {
    char **cells; /* row after row */
    size_t width, rows;
    VECTOR(struct column) columns;
};

/* What is shown behind the axes. */
static const struct shown {
    const char *column, *heading;
    enum kind kind;
} shown[] = {
    {"throughput_tps", "commits/s", KIND_NUMBER},
    {"throughput_tps_ci95", "+-", KIND_SPREAD},
    {"abort_rate", "aborted", KIND_PERCENT},
    {"wait_mean_ms", "wait ms", KIND_NUMBER},
    {"response_p50_ms", "response p50", KIND_NUMBER},
    {"response_p99_ms", "p99 ms", KIND_NUMBER},
    {"fairness_jain", "fairness", KIND_NUMBER},
    {"anomalies", "anomalies", KIND_COUNT},
    {"audit", "audit", KIND_TEXT},
};

static const char *cell_of(const struct sheet *sheet, size_t row, size_t cell) {
    return sheet->cells[row * sheet->width + cell];
}

static void sheet_read(struct sheet *sheet, char *summary) {
    size_t records = 0, count;
    for (const char *p = summary; *p != '\0'; p++) {
        records += *p == '\n';
    }
    sheet->width = 1;
    for (const char *p = summary; *p != '\n' && *p != '\0'; p++) {
        sheet->width += *p == ',';
    }
    sheet->cells = mem_new((records + 1) * sheet->width, sizeof(char *));
    for (char *next = summary; next != NULL; sheet->rows++) {
        CHECK(sheet->rows <= records);
        next = table_split(next, sheet->cells + sheet->rows * sheet->width, sheet->width, &count);
        CHECK(count == sheet->width);
    }
}

/* How the column's cells are shown: percentages and numbers alike in the whole column. */
static void column_fit(const struct sheet *sheet, struct column *column) {
    double largest = 0;
    size_t defined = 0;
    for (size_t r = 1; r < sheet->rows; r++) {
        const char *cell = cell_of(sheet, r, column->cell);
        double value = fabs(table_value(cell));
        largest = isfinite(value) && value > largest ? value : largest;
        defined += cell[0] != '\0';
    }
    column->decimals = column->kind == KIND_PERCENT ? 1
                       : largest >= 1e5             ? 0
                       : largest >= 100             ? 1
                       : largest >= 10              ? 2
                                                    : 3;
    if (column->kind == KIND_SPREAD) {
        column->decimals = sheet->columns.items[sheet->columns.count - 1].decimals;
    }
    column->width = defined > 0 ? (int)strlen(column->heading) : 0;
}

static void cell_show(const struct sheet *sheet, size_t row, const struct column *column, struct text *out) {
    const char *cell = cell_of(sheet, row, column->cell);
    double value = table_value(cell);
    if (cell[0] == '\0') {
        text_add(out, "-");
    } else if (column->kind == KIND_TEXT || !isfinite(value)) {
        text_add(out, "%s", strcmp(cell, "inf") == 0 ? "unlimited" : cell);
    } else if (column->kind == KIND_PERCENT) {
        text_add(out, "%.*f%%", column->decimals, 100 * value);
    } else {
        text_add(out, "%.*f", column->decimals, value);
    }
}

static void column_add(struct sheet *sheet, size_t cell, const char *heading, const char *unit, enum kind kind) {
    struct column column = {.cell = cell, .kind = kind};
    snprintf(column.heading, sizeof column.heading, "%s%s%s", heading, unit[0] != '\0' ? " " : "", unit);
    column_fit(sheet, &column);
    if (column.width == 0 && kind != KIND_TEXT) {
        return; /* nothing to show in any row */
    }
    struct text text = {0};
    for (size_t r = 1; r < sheet->rows; r++) {
        text_clear(&text);
        cell_show(sheet, r, &column, &text);
        column.width = column.width > (int)text.length ? column.width : (int)text.length;
    }
    text_free(&text);
    vector_push(&sheet->columns, column);
}

static size_t cell_named(const struct sheet *sheet, const char *name) {
    size_t cell = 0;
    while (cell < sheet->width && strcmp(cell_of(sheet, 0, cell), name) != 0) {
        cell++;
    }
    return cell;
}

static size_t moves(const struct sheet *sheet, size_t cell) {
    size_t count = 0;
    for (size_t r = 2; r < sheet->rows; r++) {
        count += strcmp(cell_of(sheet, r, cell), cell_of(sheet, r - 1, cell)) != 0;
    }
    return count;
}

static bool any_counted(const struct sheet *sheet, size_t cell) {
    for (size_t r = 1; r < sheet->rows; r++) {
        if (table_value(cell_of(sheet, r, cell)) > 0) {
            return true;
        }
    }
    return false;
}

/* algorithm, workload, then the axes up to `replications`. */
static void columns_choose(struct sheet *sheet) {
    size_t end = cell_named(sheet, "replications");
    CHECK(end >= 2 && end < sheet->width);
    column_add(sheet, 0, "algorithm", "", KIND_TEXT);
    if (moves(sheet, 1) > 0) {
        column_add(sheet, 1, "workload", "", KIND_TEXT);
    }
    for (size_t i = 2; i < end; i++) {
        const char *name = cell_of(sheet, 0, i), *workload = cell_of(sheet, sheet->rows > 1 ? 1 : 0, 1);
        column_add(sheet, i, label_short(name), label_unit(name, workload), KIND_TEXT);
    }
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        size_t cell = cell_named(sheet, shown[i].column);
        CHECK(cell < sheet->width);
        if (shown[i].kind == KIND_COUNT && !any_counted(sheet, cell)) {
            continue;
        }
        column_add(sheet, cell, shown[i].heading, "", shown[i].kind);
    }
    for (size_t cell = cell_named(sheet, "digest") + 1; cell < sheet->width; cell++) {
        column_add(sheet, cell, cell_of(sheet, 0, cell), "", KIND_TEXT);
    }
}

/* The cell at whose changes a blank line stands, or the sheet's width: groups have two rows at least on average. */
static size_t cell_of_groups(const struct sheet *sheet) {
    size_t end = cell_named(sheet, "replications"), best = sheet->width, least = sheet->rows;
    for (size_t i = 0; i < end; i++) {
        size_t count = moves(sheet, i);
        if (count > 0 && count < least && 2 * (count + 1) <= sheet->rows - 1) {
            least = count;
            best = i;
        }
    }
    return best;
}

/* Numbers to the right, words to the left; the last column is not filled up. */
static void add_padded(const char *cell, const struct column *column, bool left, bool last, struct text *out) {
    text_add(out, "%*s%s", left ? 0 : column->width - (int)strlen(cell), "", cell);
    if (left && !last) {
        text_add(out, "%*s", column->width - (int)strlen(cell), "");
    }
    text_add(out, last ? "\n" : "  ");
}

static bool is_words(const struct sheet *sheet, const struct column *column) {
    for (size_t r = 1; r < sheet->rows; r++) {
        const char *cell = cell_of(sheet, r, column->cell);
        if (cell[0] != '\0' && isnan(table_value(cell))) {
            return true;
        }
    }
    return column->kind == KIND_TEXT && column->cell == 0;
}

static void rows_show(const struct sheet *sheet, struct text *out) {
    size_t groups = cell_of_groups(sheet), columns = sheet->columns.count;
    bool *words = mem_new(columns, sizeof *words);
    for (size_t c = 0; c < columns; c++) {
        words[c] = is_words(sheet, &sheet->columns.items[c]);
    }
    struct text cell = {0};
    for (size_t r = 0; r < sheet->rows; r++) {
        bool new_group =
            groups < sheet->width && r >= 2 && strcmp(cell_of(sheet, r, groups), cell_of(sheet, r - 1, groups)) != 0;
        text_add(out, new_group ? "\n" : "");
        for (size_t c = 0; c < columns; c++) {
            const struct column *column = &sheet->columns.items[c];
            text_clear(&cell);
            if (r == 0) {
                text_add(&cell, "%s", column->heading);
            } else {
                cell_show(sheet, r, column, &cell);
            }
            add_padded(text_string(&cell), column, words[c], c + 1 == columns, out);
        }
    }
    text_free(&cell);
    mem_free(words);
}

void report_add(char *summary, struct text *out) {
    struct sheet sheet = {0};
    sheet_read(&sheet, summary);
    columns_choose(&sheet);
    rows_show(&sheet, out);
    vector_free(&sheet.columns);
    mem_free(sheet.cells);
}
