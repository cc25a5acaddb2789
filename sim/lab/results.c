/* results.c - see the header. */
#include "sim/lab/results.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/manifest.h"
#include "sim/lab/table.h"

enum slot_state { SLOT_OPEN, SLOT_HELD, SLOT_WRITTEN, SLOT_MISSING };

struct results_slot {
    enum slot_state state;
    uint32_t length, types_length;
    union {
        char *row;       /* held until the rows before it are written; those of types.csv follow it */
        uint64_t offset; /* written: in runs.csv */
    } at;
};

static bool explain(const char *path, int failure, struct text *error) {
    text_add(error, "%s: %s", path, strerror(failure));
    return false;
}

/* The sentence about the first file that failed; true if none has. */
static bool all_well(struct results *results, struct text *error) {
    struct outfile *files[] = {&results->runs, &results->types, &results->summary, &results->manifest};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i]->error != 0) {
            return explain(files[i]->path, files[i]->error, error);
        }
    }
    return true;
}

typedef void header_writer(const char *const *axes, size_t axis_count, struct text *row);

static void header_add(const struct experiment *experiment, header_writer *writer, struct text *row) {
    size_t count = experiment_facts(experiment)->axes;
    const char **axes = mem_new(count, sizeof *axes);
    for (size_t i = 0; i < count; i++) {
        axes[i] = experiment_axis(experiment, i);
    }
    writer(axes, count, row);
    mem_free(axes);
}

bool results_open(struct results *results, const struct experiment *experiment, const char *folder, size_t jobs,
                  struct text *error) {
    size_t points = experiment_facts(experiment)->points;
    CHECK(points > 0 && jobs % points == 0);
    *results = (struct results){.experiment = experiment,
                                .folder = mem_string(folder),
                                .folder_lock = -1,
                                .points = points,
                                .jobs = jobs,
                                .slots = mem_new(jobs, sizeof(struct results_slot))};
    if (!outfile_make_folder(folder, &results->folder_is_new)) {
        return explain(folder, errno, error);
    }
    results->folder_lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (results->folder_lock >= 0 && flock(results->folder_lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        text_add(error, "%s: another ccsim is writing there", folder);
        return false;
    }
    if (!outfile_open(&results->runs, folder, "runs.csv") || !outfile_open(&results->summary, folder, "summary.csv") ||
        !outfile_open(&results->manifest, folder, "manifest.json")) {
        return all_well(results, error);
    }
    struct text header = {0};
    header_add(experiment, table_runs_header, &header);
    outfile_write(&results->runs, header.bytes, header.length);
    text_free(&header);
    return true;
}

static void types_write(struct results *results, const char *rows, size_t length) {
    if (length > 0 && results->types.path == NULL && outfile_open(&results->types, results->folder, "types.csv")) {
        struct text header = {0};
        header_add(results->experiment, table_types_header, &header);
        outfile_write(&results->types, header.bytes, header.length);
        text_free(&header);
    }
    if (length > 0 && results->types.error == 0) {
        outfile_write(&results->types, rows, length);
    }
}

/* Writes what can be: up to the first job that is still open, or past it if nothing more will come. */
static void rows_write(struct results *results, bool past_open) {
    for (; results->first_unwritten < results->jobs; results->first_unwritten++) {
        struct results_slot *slot = &results->slots[results->first_unwritten];
        if (slot->state == SLOT_OPEN && !past_open) {
            return;
        }
        if (slot->state == SLOT_HELD) {
            char *row = slot->at.row;
            slot->at.offset = results->runs.size;
            slot->state = SLOT_WRITTEN;
            outfile_write(&results->runs, row, slot->length);
            types_write(results, row + slot->length, slot->types_length);
            mem_free(row);
        }
    }
}

bool results_row(struct results *results, size_t job, const struct results_job *rows, struct text *error) {
    CHECK(results->slots[job].state == SLOT_OPEN && rows->row_length <= UINT32_MAX && rows->types_length <= UINT32_MAX);
    struct text copy = {0};
    text_add_bytes(&copy, rows->row, rows->row_length);
    text_add_bytes(&copy, rows->types, rows->types_length);
    results->slots[job] = (struct results_slot){.state = SLOT_HELD,
                                                .length = (uint32_t)rows->row_length,
                                                .types_length = (uint32_t)rows->types_length,
                                                .at.row = copy.bytes};
    results->finished++;
    rows_write(results, false);
    return all_well(results, error);
}

void results_missing(struct results *results, size_t job) {
    CHECK(results->slots[job].state == SLOT_OPEN);
    results->slots[job].state = SLOT_MISSING;
    rows_write(results, false);
}

/* The rows of a point, read back into `rows`, in the order of their replications; returns how many. */
static size_t rows_of_point(struct results *results, size_t point, char **rows) {
    size_t count = 0;
    for (size_t job = point; job < results->jobs; job += results->points) {
        const struct results_slot *slot = &results->slots[job];
        if (slot->state == SLOT_WRITTEN) {
            char *row = mem_new(slot->length + (size_t)1, 1);
            rows[count++] = row;
            if (!outfile_read(&results->runs, slot->at.offset, row, slot->length)) {
                mem_free(rows[--count]);
            }
        }
    }
    return count;
}

bool results_summarize(struct results *results, struct text *error) {
    rows_write(results, true);
    char **rows = mem_new(results->jobs / results->points, sizeof *rows);
    struct text row = {0};
    header_add(results->experiment, table_summary_header, &row);
    outfile_write(&results->summary, row.bytes, row.length);
    text_add_bytes(&results->report, row.bytes, row.length);
    for (size_t point = 0; point < results->points && results->runs.error == 0; point++) {
        size_t count = rows_of_point(results, point, rows);
        text_clear(&row);
        if (count > 0) {
            table_summary_row((const char *const *)rows, count, &row);
            outfile_write(&results->summary, row.bytes, row.length);
            text_add_bytes(&results->report, row.bytes, point < RESULTS_REPORT_POINTS ? row.length : 0);
        }
        for (size_t i = 0; i < count; i++) {
            mem_free(rows[i]);
        }
    }
    text_free(&row);
    mem_free(rows);
    return all_well(results, error);
}

bool results_step_aside(struct results *results, struct text *error) {
    if (!manifest_folder_is_complete(results->folder)) {
        return true;
    }
    struct text folder = {0};
    text_add(&folder, "%s/interrupted", results->folder);
    bool created, good = outfile_make_folder(text_string(&folder), &created);
    if (!good) {
        explain(text_string(&folder), errno, error);
    }
    outfile_redirect(&results->runs, text_string(&folder), "runs.csv");
    if (results->types.path != NULL) {
        outfile_redirect(&results->types, text_string(&folder), "types.csv");
    }
    outfile_redirect(&results->summary, text_string(&folder), "summary.csv");
    outfile_redirect(&results->manifest, text_string(&folder), "manifest.json");
    mem_free(results->folder);
    results->folder = folder.bytes;
    return good;
}

/* types.csv takes its name, or one of an earlier experiment goes. */
static bool types_commit(struct results *results) {
    if (results->types.path != NULL) {
        return outfile_commit(&results->types);
    }
    struct text path = {0};
    text_add(&path, "%s/types.csv", results->folder);
    unlink(text_string(&path));
    text_free(&path);
    return true;
}

bool results_commit(struct results *results, const struct text *manifest, struct text *error) {
    outfile_write(&results->manifest, text_string(manifest), manifest->length);
    bool types_done = results->types.path == NULL || outfile_finish(&results->types);
    if (!outfile_finish(&results->runs) || !types_done || !outfile_finish(&results->summary) ||
        !outfile_finish(&results->manifest) || !types_commit(results) || !outfile_commit(&results->runs) ||
        !outfile_commit(&results->summary) || !outfile_commit(&results->manifest)) {
        return all_well(results, error);
    }
    results->folder_is_new = false;
    return true;
}

void results_close(struct results *results) {
    for (size_t job = results->first_unwritten; job < results->jobs; job++) {
        if (results->slots[job].state == SLOT_HELD) {
            mem_free(results->slots[job].at.row);
        }
    }
    outfile_close(&results->runs);
    outfile_close(&results->types);
    outfile_close(&results->summary);
    outfile_close(&results->manifest);
    if (results->folder_is_new) {
        rmdir(results->folder); /* keeps what somebody else has put there meanwhile */
    }
    if (results->folder_lock >= 0) {
        close(results->folder_lock);
    }
    text_free(&results->report);
    mem_free(results->folder);
    mem_free(results->slots);
}
