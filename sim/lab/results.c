/* results.c - see the header. */
#include "sim/lab/results.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/manifest.h"
#include "sim/lab/table.h"
#include "workloads/workload.h"

enum slot_state { SLOT_OPEN, SLOT_HELD, SLOT_WRITTEN, SLOT_MISSING };

struct results_slot {
    enum slot_state state;
    uint32_t lengths[OUTCOME_TABLES];
    union {
        char *rows;      /* held until the rows before them are written: of all tables, one after another */
        uint64_t offset; /* written: in runs.csv */
    } at;
};

const char *const results_table_names[OUTCOME_TABLES] = {[OUTCOME_RUNS] = "runs.csv",
                                                         [OUTCOME_TYPES] = "types.csv",
                                                         [OUTCOME_SERIES] = "series.csv",
                                                         [OUTCOME_HISTOGRAMS] = "histograms.csv",
                                                         [OUTCOME_BATCHES] = "batches.csv"};

static bool explain(const char *path, int failure, struct text *error) {
    text_add(error, "%s: %s", path, strerror(failure));
    return false;
}

/* All files, the manifest last. */
enum { FILE_SUMMARY = OUTCOME_TABLES, FILE_COMPARE, FILE_MANIFEST, FILES };
static struct outfile *file_of(struct results *results, int number) {
    return number < OUTCOME_TABLES  ? &results->tables[number]
           : number == FILE_SUMMARY ? &results->summary
           : number == FILE_COMPARE ? &results->compare
                                    : &results->manifest;
}
static const char *file_name(int number) {
    return number < OUTCOME_TABLES  ? results_table_names[number]
           : number == FILE_SUMMARY ? "summary.csv"
           : number == FILE_COMPARE ? "compare.csv"
                                    : "manifest.json";
}

bool results_all_well(struct results *results, struct text *error) {
    for (int i = 0; i < FILES; i++) {
        const struct outfile *file = file_of(results, i);
        if (file->error != 0) {
            return explain(file->path, file->error, error);
        }
    }
    return true;
}

static results_header *const table_headers[OUTCOME_TABLES] = {[OUTCOME_RUNS] = table_runs_header,
                                                              [OUTCOME_TYPES] = table_types_header,
                                                              [OUTCOME_SERIES] = table_series_header,
                                                              [OUTCOME_HISTOGRAMS] = table_histograms_header,
                                                              [OUTCOME_BATCHES] = table_series_header};

void results_add_header(const struct experiment *experiment, results_header *writer, struct text *row) {
    size_t count = experiment_facts(experiment)->axes;
    const char **axes = mem_new(count, sizeof *axes);
    for (size_t i = 0; i < count; i++) {
        axes[i] = experiment_axis(experiment, i);
    }
    writer(axes, count, row);
    mem_free(axes);
}

/* The file, with its header. */
static bool table_open(struct results *results, enum outcome_table table) {
    struct outfile *file = &results->tables[table];
    if (!outfile_open(file, results->folder, results_table_names[table])) {
        return false;
    }
    struct text header = {0};
    results_add_header(results->experiment, table_headers[table], &header);
    bool good = outfile_write(file, header.bytes, header.length);
    text_free(&header);
    return good;
}

size_t results_jobs(const struct experiment *experiment, int64_t only_replication) {
    const struct experiment_facts *facts = experiment_facts(experiment);
    return facts->points * (only_replication > 0 ? 1 : (size_t)facts->replications_most);
}

uint64_t results_replication(const struct results *results, size_t job) {
    return results->only_replication > 0 ? (uint64_t)results->only_replication : job / results->points + 1;
}

bool results_open(struct results *results, const struct experiment *experiment, const char *folder,
                  int64_t only_replication, struct text *error) {
    size_t points = experiment_facts(experiment)->points, jobs = results_jobs(experiment, only_replication);
    *results = (struct results){
        .experiment = experiment,
        .folder = mem_string(folder),
        .folder_lock = -1,
        .only_replication = only_replication,
        .points = points,
        .jobs = jobs,
        .batches = experiment_facts(experiment)->batches > 0 ? mem_new(points, sizeof(struct table_batches)) : NULL,
        .slots = mem_new(jobs, sizeof(struct results_slot))};
    if (!outfile_make_folder(folder, &results->folder_is_new)) {
        return explain(folder, errno, error);
    }
    results->folder_lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (results->folder_lock >= 0 && !outfile_lock(results->folder_lock)) {
        text_add(error, "%s: another ccsim is writing there", folder);
        return false;
    }
    if (!table_open(results, OUTCOME_RUNS) || !outfile_open(&results->summary, folder, "summary.csv") ||
        (experiment_facts(experiment)->compare != NULL && !outfile_open(&results->compare, folder, "compare.csv")) ||
        !outfile_open(&results->manifest, folder, "manifest.json")) {
        return results_all_well(results, error);
    }
    return true;
}

static void table_write(struct results *results, enum outcome_table table, const char *rows, size_t length) {
    struct outfile *file = &results->tables[table];
    if (length > 0 && (file->path != NULL || table_open(results, table)) && file->error == 0) {
        outfile_write(file, rows, length);
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
            char *rows = slot->at.rows, *next = rows;
            slot->at.offset = results->tables[OUTCOME_RUNS].size;
            slot->state = SLOT_WRITTEN;
            for (int i = 0; i < OUTCOME_TABLES; i++) {
                table_write(results, (enum outcome_table)i, next, slot->lengths[i]);
                next += slot->lengths[i];
            }
            mem_free(rows);
        }
    }
}

/* Where the job stands: the first cells of its rows. */
static void place_add(const struct results *results, size_t job, struct text *place) {
    struct point point;
    experiment_point(results->experiment, job % results->points, &point);
    table_place_cells(&(struct table_place){point.algorithm, point.spec.workload->name, text_string(&point.columns),
                                            results_replication(results, job),
                                            experiment_facts(results->experiment)->seed},
                      place);
    point_free(&point);
}

bool results_row(struct results *results, size_t job, const struct outcome *outcome, struct text *error) {
    CHECK(results->slots[job].state == SLOT_OPEN);
    struct results_slot slot = {.state = SLOT_HELD};
    struct text place = {0}, rows = {0};
    size_t before = 0;
    place_add(results, job, &place);
    for (int i = 0; i < OUTCOME_TABLES; i++, before = rows.length) {
        table_add_lines(&place, outcome->tables[i].bytes, outcome->tables[i].length, &rows);
        CHECK(rows.length - before <= UINT32_MAX);
        slot.lengths[i] = (uint32_t)(rows.length - before);
    }
    const struct outcome_part *batches = &outcome->tables[OUTCOME_BATCHES];
    if (results->batches != NULL && batches->length > 0) {
        table_batches_read(batches->bytes, batches->length, &results->batches[job % results->points]);
    }
    slot.at.rows = rows.bytes;
    results->slots[job] = slot;
    results->finished++;
    text_free(&place);
    rows_write(results, false);
    return results_all_well(results, error);
}

void results_missing(struct results *results, size_t job) {
    CHECK(results->slots[job].state == SLOT_OPEN);
    results->slots[job].state = SLOT_MISSING;
    rows_write(results, false);
}

size_t results_rows_of_point(struct results *results, size_t point, char **rows) {
    size_t count = 0;
    for (size_t job = point; job < results->jobs; job += results->points) {
        const struct results_slot *slot = &results->slots[job];
        if (slot->state == SLOT_WRITTEN) {
            char *row = mem_new(slot->lengths[OUTCOME_RUNS] + (size_t)1, 1);
            rows[count++] = row;
            if (!outfile_read(&results->tables[OUTCOME_RUNS], slot->at.offset, row, slot->lengths[OUTCOME_RUNS])) {
                mem_free(rows[--count]);
            }
        }
    }
    return count;
}

void results_write_all(struct results *results) { rows_write(results, true); }

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
    for (int i = 0; i < FILES; i++) {
        if (file_of(results, i)->path != NULL) {
            outfile_redirect(file_of(results, i), text_string(&folder), file_name(i));
        }
    }
    mem_free(results->folder);
    results->folder = folder.bytes;
    return good;
}

/* The file takes its name; where there is none, one of an earlier experiment goes. */
static bool file_commit(struct results *results, int number) {
    if (file_of(results, number)->path != NULL) {
        return outfile_commit(file_of(results, number));
    }
    struct text path = {0};
    text_add(&path, "%s/%s", results->folder, file_name(number));
    unlink(text_string(&path));
    text_free(&path);
    return true;
}

bool results_commit(struct results *results, const struct text *manifest, struct text *error) {
    outfile_write(&results->manifest, text_string(manifest), manifest->length);
    bool good = true;
    for (int i = 0; i < FILES && good; i++) {
        good = file_of(results, i)->path == NULL || outfile_finish(file_of(results, i));
    }
    for (int i = 0; i < FILES && good; i++) {
        good = file_commit(results, i);
    }
    results->folder_is_new = results->folder_is_new && !good;
    return good || results_all_well(results, error);
}

void results_close(struct results *results) {
    for (size_t job = results->first_unwritten; job < results->jobs; job++) {
        if (results->slots[job].state == SLOT_HELD) {
            mem_free(results->slots[job].at.rows);
        }
    }
    for (int i = 0; i < FILES; i++) {
        outfile_close(file_of(results, i));
    }
    if (results->folder_is_new) {
        rmdir(results->folder); /* keeps what somebody else has put there meanwhile */
    }
    if (results->folder_lock >= 0) {
        close(results->folder_lock);
    }
    text_free(&results->report);
    mem_free(results->folder);
    mem_free(results->batches);
    vector_free(&results->narrower);
    mem_free(results->slots);
}
