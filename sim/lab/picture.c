/* picture.c - see the header. */
#include "sim/lab/picture.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/lab/outfile.h"

const struct drawing_format picture_formats[] = {
    {"svg", "svg size 1280,800 dynamic font \"Helvetica,20\" noenhanced dashlength 0.7 background rgb \"white\""},
    {"png", "pngcairo size 1280,800 font \"Sans,20\" noenhanced dashlength 0.7 background rgb \"white\" linewidth 1.2"},
    {"pdf", "pdfcairo size 12.8in,8in font \"Sans,20\" noenhanced dashlength 0.7 linewidth 1.5"}};

static const struct {
    const char *name, *ending, *package;
} programs[] = {[PICTURE_GNUPLOT] = {"gnuplot", "gp", "gnuplot-nox"}, [PICTURE_DOT] = {"dot", "dot", "graphviz"}};

bool picture_write(const char *folder, const char *file_name, const struct text *content) {
    struct outfile file;
    bool good = outfile_open(&file, folder, file_name) && outfile_write(&file, content->bytes, content->length) &&
                outfile_finish(&file) && outfile_commit(&file);
    if (!good) {
        fprintf(stderr, "ccsim: %s: %s\n", file.path, strerror(file.error));
    }
    outfile_close(&file);
    return good;
}

enum { STATUS_NOT_FOUND = 127 };

static void execute(enum picture_program program, const char *script, const char *format, const char *temporary) {
    struct text argument = {0};
    if (program == PICTURE_GNUPLOT) {
        text_add(&argument, "picture = '%s'", temporary);
        execlp("gnuplot", "gnuplot", "-e", text_string(&argument), script, (char *)NULL);
    } else {
        text_add(&argument, "-T%s", format);
        execlp("dot", "dot", text_string(&argument), "-o", temporary, script, (char *)NULL);
    }
}

/* Runs the script in its folder; the exit status, or -1. */
static int run(enum picture_program program, const char *folder, const char *script, const char *format,
               const char *temporary) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) == 0) {
            execute(program, script, format, temporary);
        }
        _exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_FOUND - 1);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Not every program notices a full disk: does the picture end as such pictures end? */
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

bool picture_draw(enum picture_program program, const char *folder, const char *name, const char *format,
                  const char *again, FILE *list) {
    struct text script = {0}, temporary = {0}, picture = {0}, unfinished = {0};
    text_add(&script, "%s.%s", name, programs[program].ending);
    text_add(&temporary, "%s.%s.tmp", name, format);
    text_add(&picture, "%s/%s.%s", folder, name, format);
    text_add(&unfinished, "%s/%s", folder, text_string(&temporary));
    int status = run(program, folder, text_string(&script), format, text_string(&temporary));
    bool good = status == 0 && is_whole(text_string(&unfinished), format) &&
                rename(text_string(&unfinished), text_string(&picture)) == 0;
    if (good && list != NULL) {
        fprintf(list, "%s\n", text_string(&picture));
    } else if (status == STATUS_NOT_FOUND) {
        fprintf(stderr, "ccsim: %s is not installed (Debian: apt-get install %s); then: %s\n", programs[program].name,
                programs[program].package, again);
    } else if (!good) {
        fprintf(stderr, "ccsim: %s could not draw %s/%s; then: %s\n", programs[program].name, folder,
                text_string(&script), again);
    }
    unlink(text_string(&unfinished));
    text_free(&script);
    text_free(&temporary);
    text_free(&picture);
    text_free(&unfinished);
    return good;
}
