/* plot.c - see the header. The pictures themselves are picture.c's. */
#include "sim/lab/plot.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/drawing.h"
#include "sim/lab/manifest.h"
#include "sim/lab/outfile.h"
#include "sim/lab/picture.h"
#include "sim/lab/table.h"

const char *const plot_formats[] = {"svg", "png", "pdf", NULL};

/* A file of the folder, read when the first figure wants it. */
struct data {
    char *content;
    struct drawing_data parts;
};

static bool data_load(struct data *data, const char *folder, enum figure_source source) {
    if (data->content != NULL) {
        return true;
    }
    struct text path = {0};
    text_add(&path, "%s/%s.csv", folder, figure_sources[source]);
    *data = (struct data){.content = outfile_load(text_string(&path))};
    bool good = data->content != NULL;
    if (!good) {
        fprintf(stderr, "ccsim: %s: %s\n", text_string(&path), strerror(errno));
    }
    VECTOR(char *) cells = {0};
    for (char *next = data->content; good && next != NULL; data->parts.rows++) {
        char *record[2048];
        size_t count;
        next = table_split(next, record, sizeof record / sizeof record[0], &count);
        data->parts.width = data->parts.rows == 0 ? count : data->parts.width;
        good = count == data->parts.width && count <= sizeof record / sizeof record[0];
        for (size_t i = 0; good && i < count; i++) {
            vector_push(&cells, record[i]);
        }
        if (!good) {
            fprintf(stderr, "ccsim: %s: record %zu has %zu cells, its header has %zu\n", text_string(&path),
                    data->parts.rows + 1, count, data->parts.width);
        }
    }
    data->parts.cells = cells.items;
    if (good && data->parts.rows < 2) {
        fprintf(stderr, "ccsim: %s has no rows\n", text_string(&path));
        good = false;
    }
    text_free(&path);
    return good;
}

static void data_free(struct data *data) {
    mem_free(data->parts.cells);
    mem_free(data->content);
}

static enum lab_exit figure_draw(const struct figure *figure, const struct drawing_data *data, const char *folder,
                                 const struct drawing_format *format, FILE *list) {
    struct text script = {0}, error = {0};
    enum lab_exit end = LAB_USAGE;
    if (!drawing_script(figure, data, format, &script, &error)) {
        fprintf(stderr, "ccsim: %s\n", text_string(&error));
    } else {
        struct text script_name = {0}, again = {0};
        text_add(&script_name, "%s.gp", figure->name);
        text_add(&again, "ccsim plot %s", folder);
        bool good = picture_write(folder, text_string(&script_name), &script) &&
                    picture_draw(PICTURE_GNUPLOT, folder, figure->name, format->ending, text_string(&again), list);
        end = good ? LAB_DONE : LAB_INCOMPLETE;
        text_free(&script_name);
        text_free(&again);
    }
    text_free(&script);
    text_free(&error);
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
    struct data data[FIGURE_SOURCES] = {0};
    struct text error = {0};
    enum lab_exit end = LAB_DONE;
    if (!manifest_read_figures(folder, &plan, &error)) {
        fprintf(stderr, "ccsim: %s\n", text_string(&error));
        end = LAB_INCOMPLETE;
    }
    for (size_t i = 0; end != LAB_INCOMPLETE && i < plan.count; i++) {
        enum figure_source source = plan.figures[i].source;
        enum lab_exit its_end = LAB_INCOMPLETE;
        if (data_load(&data[source], folder, source)) {
            its_end = figure_draw(&plan.figures[i], &data[source].parts, folder,
                                  &picture_formats[format_number(format)], list);
        }
        end = its_end > end ? its_end : end;
    }
    for (int source = 0; source < FIGURE_SOURCES; source++) {
        data_free(&data[source]);
    }
    manifest_figures_free(&plan);
    text_free(&error);
    return end;
}

enum lab_exit plot_completeness(const char *folder) {
    struct manifest_figures plan;
    struct text error = {0};
    bool missing = manifest_read_figures(folder, &plan, &error) && plan.runs_finished + plan.runs_refused < plan.runs;
    if (missing) {
        fprintf(stderr, "ccsim: %s holds %zu of %zu runs; to compute them all: %s\n", folder, plan.runs_finished,
                plan.runs, plan.command != NULL ? plan.command : "ccsim run");
    }
    manifest_figures_free(&plan);
    text_free(&error);
    return missing ? LAB_INCOMPLETE : LAB_DONE;
}
