/* plot.c - see the header. gnuplot runs in the results folder, draws under a temporary name, and the picture is
 * renamed when it is whole. */
#include "sim/lab/plot.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/drawing.h"
#include "sim/lab/manifest.h"
#include "sim/lab/outfile.h"
#include "sim/lab/table.h"

const char *const plot_formats[] = {"svg", "png", "pdf", NULL};

static const struct drawing_format formats[] = {
    {"svg", "svg size 1280,800 dynamic font \"Helvetica,20\" noenhanced dashlength 0.7 background rgb \"white\""},
    {"png", "pngcairo size 1280,800 font \"Sans,20\" noenhanced dashlength 0.7 background rgb \"white\" linewidth 1.2"},
    {"pdf", "pdfcairo size 12.8in,8in font \"Sans,20\" noenhanced dashlength 0.7 linewidth 1.5"}};

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
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
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
        fprintf(stderr, "ccsim: gnuplot is not installed (Debian: apt-get install gnuplot-nox); then: ccsim plot %s\n",
                folder);
    } else if (!good) {
        fprintf(stderr, "ccsim: gnuplot could not draw %s/%s; then: ccsim plot %s\n", folder, text_string(&script),
                folder);
    }
    unlink(text_string(&temporary));
    text_free(&script);
    text_free(&assignment);
    text_free(&temporary);
    text_free(&picture);
    return good;
}

static enum lab_exit figure_draw(const struct figure *figure, const struct drawing_data *data, const char *folder,
                                 const struct drawing_format *format, FILE *list) {
    struct text script = {0}, error = {0};
    enum lab_exit end = LAB_USAGE;
    if (!drawing_script(figure, data, format, &script, &error)) {
        fprintf(stderr, "ccsim: %s\n", text_string(&error));
    } else {
        bool good =
            script_write(folder, figure->name, &script) && picture_draw(folder, figure->name, format->ending, list);
        end = good ? LAB_DONE : LAB_INCOMPLETE;
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
            its_end = figure_draw(&plan.figures[i], &data[source].parts, folder, &formats[format_number(format)], list);
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
