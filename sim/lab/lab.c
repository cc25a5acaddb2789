/* lab.c - see the header. An experiment from its beginning to its files; the runs themselves are lab_runs.c's. */
#include "sim/lab/lab.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/lab/lab_parts.h"
#include "sim/lab/manifest.h"
#include "sim/lab/plot.h"
#include "sim/lab/report.h"
#include "workloads/workload.h"

const char lab_version[] = "0.1.0";

static enum lab_exit cannot_write(const struct lab *lab) {
    struct text command = {0};
    if (lab->request->again != NULL) {
        text_add(&command, "%s", lab->request->again);
    } else {
        lab_add_command(lab, lab->request->shard, &command);
    }
    fprintf(stderr, "ccsim: %s; ", text_string(&lab->error));
    if (lab->known + lab->computed > 0 && lab->journal.descriptor >= 0) {
        fprintf(stderr, "the %zu of %zu runs that had finished are kept in %s", lab->known + lab->computed,
                lab->known + lab->todo.count, lab->journal.path);
    } else {
        fprintf(stderr, "nothing was written");
    }
    fprintf(stderr, ". When that is solved: %s\n", text_string(&command));
    text_free(&command);
    return LAB_INCOMPLETE;
}

static bool commit(struct lab *lab) {
    struct text command = {0}, content = {0};
    lab_add_command(lab, (struct shard){0}, &command);
    struct manifest manifest = {.experiment = lab->experiment,
                                .workload = lab->workload,
                                .command = text_string(&command),
                                .runs = lab->known + lab->todo.count,
                                .runs_finished = lab->results.finished,
                                .runs_refused = lab->refused,
                                .workers = lab_workers(lab),
                                .started = lab->started,
                                .wall_seconds = progress_seconds_since(&lab->began),
                                .figure_format = lab->request->plot ? plot_formats[0] : NULL};
    for (int i = 0; i < OUTCOME_TABLES; i++) {
        manifest.tables[i] = results_have(&lab->results, (enum outcome_table)i);
    }
    manifest.compared = lab->facts->compare != NULL;
    manifest_add(&manifest, &content);
    bool good = results_commit(&lab->results, &content, &lab->error);
    text_free(&content);
    text_free(&command);
    return good;
}

/* `5 replications of 100 s after 20 s of warm-up, seed 1` */
static void print_method(const struct lab *lab) {
    const struct experiment_facts *facts = lab->facts;
    uint32_t least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < facts->points; i++) {
        least = lab->points[i].wanted < least ? lab->points[i].wanted : least;
        most = lab->points[i].wanted > most ? lab->points[i].wanted : most;
    }
    char duration[32], warmup[32];
    text_number(duration, (double)facts->duration_ns / 1e9);
    text_number(warmup, (double)facts->warmup_ns / 1e9);
    printf("%s\n%s, ", facts->title, lab->workload);
    if (least < most) {
        printf("%" PRIu32 " to ", least);
    }
    printf("%" PRIu32 " replication%s of %s s after ", most, most == 1 ? "" : "s", duration);
    if (facts->warmup_ns == OPTION_AUTO) {
        printf("a warm-up as pilots found it");
    } else {
        printf("%s s of warm-up", warmup);
    }
    printf(", seed %" PRIu64 "%s%s\n\n", facts->seed,
           most > 1 || facts->batches > 0 ? "; +- half the 95% confidence interval" : "",
           most == 1 && facts->batches > 0 ? ", from batches" : "");
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* What common random numbers were good for. */
static void print_narrower(struct lab *lab) {
    double *factors = lab->results.narrower.items;
    size_t count = lab->results.narrower.count;
    if (count > 0) {
        qsort(factors, count, sizeof *factors, by_value);
        double median = factors[count / 2];
        printf("against %s: throughput, pair by pair, as all face the same transactions; %s (half-widths of unpaired "
               "means: %.3g times those, the median of %zu points)\n\n",
               lab->facts->compare, median > 1 ? "that narrows the intervals" : "here that gains nothing", median,
               count);
    }
}

static void print_files(const struct lab *lab) {
    for (int i = 0; i < OUTCOME_TABLES; i++) {
        if (results_have(&lab->results, (enum outcome_table)i)) {
            printf("%s/%s\n", lab->folder, results_table_names[i]);
        }
    }
    if (lab->facts->compare != NULL) {
        printf("%s/compare.csv\n", lab->folder);
    }
    printf("%s/summary.csv\n%s/manifest.json\n", lab->folder, lab->folder);
}

static enum lab_exit table_print(struct lab *lab) {
    struct text table = {0};
    print_method(lab);
    report_add(lab->results.report.bytes, &table);
    fputs(text_string(&table), stdout);
    text_free(&table);
    if (lab->facts->points > RESULTS_REPORT_POINTS) {
        printf("... and %zu points more\n", lab->facts->points - RESULTS_REPORT_POINTS);
    }
    printf("\n");
    print_narrower(lab);
    print_files(lab);
    advice_print(&lab->results.advice, lab->experiment, stderr);
    if (fflush(stdout) != 0 && errno != EPIPE) {
        fprintf(stderr, "ccsim: standard output: %s; the files are in %s\n", strerror(errno), lab->folder);
        return LAB_INCOMPLETE;
    }
    return LAB_DONE;
}

static enum lab_exit end_of(const struct lab *lab) {
    return lab->lost ? LAB_INCOMPLETE : lab->broken ? LAB_BROKEN : lab->refused > 0 ? LAB_USAGE : LAB_DONE;
}

enum lab_exit lab_conclude(struct lab *lab) {
    enum lab_exit end = end_of(lab);
    if (lab->results.finished == 0) {
        fprintf(stderr, "ccsim: no run came to its end; nothing was written\n");
        return end;
    }
    if (!results_summarize(&lab->results, &lab->error) || !commit(lab)) {
        return cannot_write(lab);
    }
    if (!lab->request->quiet && table_print(lab) != LAB_DONE) {
        end = LAB_INCOMPLETE;
    }
    return end;
}

/* Interrupted: what had finished is in the journal, and in the files unless they hold a complete experiment. */
static enum lab_exit keep_finished(struct lab *lab) {
    if (lab->known + lab->computed == 0) {
        fprintf(stderr, "ccsim: interrupted before a run had finished; nothing was written\n");
        return LAB_INTERRUPTED;
    }
    if (lab->results.finished > 0 && (!results_summarize(&lab->results, &lab->error) ||
                                      !results_step_aside(&lab->results, &lab->error) || !commit(lab))) {
        return cannot_write(lab);
    }
    struct text command = {0};
    lab_add_command(lab, lab->request->shard, &command);
    fprintf(stderr, "ccsim: interrupted; the %zu of %zu runs that had finished are in %s. To compute the others: %s\n",
            lab->known + lab->computed, lab->known + lab->todo.count,
            lab->results.finished > 0 ? lab->results.folder : lab->journal.path, text_string(&command));
    text_free(&command);
    return LAB_INTERRUPTED;
}

/* A shard is a journal and no more; the table is merge's. */
static enum lab_exit conclude_shard(const struct lab *lab) {
    struct shard shard = lab->request->shard;
    if (!lab->request->quiet) {
        struct text folder = {0};
        text_add_shell_word(&folder, lab->folder);
        printf("shard %" PRIu32 " of %" PRIu32 ": its %zu", shard.number, shard.count, lab->known + lab->todo.count);
        if (lab->values == NULL) { /* else nobody knows yet how many there will be */
            printf(" of %zu", lab->jobs);
        }
        printf(" runs are in %s\nwhen all shards are done: ccsim merge %s\n", lab->journal.path, text_string(&folder));
        text_free(&folder);
    }
    return end_of(lab);
}

static enum lab_exit run_all(struct lab *lab) {
    if (lab->known > 0) {
        fprintf(stderr, "ccsim: %zu of %zu runs are known from %s%s\n", lab->known, lab->known + lab->todo.count,
                lab->folder, lab->request->fresh ? "" : " (--fresh computes them again)");
    }
    switch (lab_compute(lab)) {
    case WORKERS_DONE: return lab->request->shard.count > 0 ? conclude_shard(lab) : lab_conclude(lab);
    case WORKERS_INTERRUPTED: return keep_finished(lab);
    case WORKERS_STOPPED: return cannot_write(lab);
    case WORKERS_NO_PROCESS: break;
    }
    text_add(&lab->error, "cannot start a worker process: %s", strerror(errno));
    return cannot_write(lab);
}

enum lab_exit lab_draw(const struct lab *lab, enum lab_exit end) {
    if (!lab->request->plot || lab->facts->figure_count == 0 || lab->results.finished == 0 || end == LAB_INTERRUPTED ||
        lab->error.length > 0) {
        return end;
    }
    enum lab_exit drawn = plot_folder(lab->folder, plot_formats[0], lab->request->quiet ? NULL : stdout);
    return drawn == LAB_INCOMPLETE || (drawn != LAB_DONE && end == LAB_DONE) ? drawn : end;
}

/* The name of the workload, or of all. */
static char *workload_of(const struct experiment *experiment) {
    struct text names = {0};
    for (size_t i = 0; i < experiment_facts(experiment)->workloads; i++) {
        text_add(&names, "%s%s", i > 0 ? ", " : "", experiment_workload(experiment, i));
    }
    return names.bytes;
}

void lab_folder(const struct experiment *experiment, const struct lab_request *request, struct text *out) {
    if (request->folder != NULL) {
        text_add(out, "%s", request->folder);
    } else {
        text_add(out, "results/%s", experiment_facts(experiment)->stem);
    }
    while (out->length > 1 && out->bytes[out->length - 1] == '/') {
        out->bytes[--out->length] = '\0';
    }
}

/* Interruptions wait, except while workers run, so that none falls between two renames. */
static void interruptions_hold(sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, before);
}

/* A history is of one run, and told by its certifier. */
static bool history_is_possible(const struct experiment_facts *facts, const struct lab_request *request) {
    size_t runs = facts->points * (request->only_replication > 0 ? 1 : (size_t)facts->replications_most);
    if (request->history != NULL && runs != 1) {
        fprintf(stderr,
                "ccsim: --history is for one run, and here are %zu: pick one with --only, for example --only "
                "replication=1\n",
                runs);
    } else if (request->history != NULL && !facts->certify) {
        fprintf(stderr, "ccsim: --history needs certify = yes\n");
    } else {
        return true;
    }
    return false;
}

/* The other part files of the folder: of shards, or of the whole. Those of another build are none of ours. */
static bool read_others(struct lab *lab) {
    struct text own = {0};
    journal_name(lab->request->shard, &own);
    bool good = journal_read_folder(lab->folder, text_string(&own), &lab->others, &lab->error);
    for (size_t i = 0; i < lab->others.count; i++) {
        struct journal *other = &lab->others.items[i];
        other->runs.count = other->header.build == journal_build() ? other->runs.count : 0;
    }
    text_free(&own);
    return good;
}

/* The journal that this program writes, and those it may look into. */
static bool open_journals(struct lab *lab) {
    struct text path = {0}, config = {0}, command = {0};
    experiment_echo(lab->experiment, &config);
    text_add(&command, "%s%s", lab->request->command, lab->request->selection);
    struct journal_header header = {.build = journal_build(),
                                    .plan = text_digest(0, text_string(&config)),
                                    .shard = lab->request->shard,
                                    .name = lab->facts->stem,
                                    .command = text_string(&command),
                                    .config = text_string(&config)};
    text_add(&path, "%s/", lab->folder);
    journal_name(lab->request->shard, &path);
    bool good = journal_open(&lab->journal, text_string(&path), &header, lab->request->fresh, &lab->error) &&
                (lab->request->fresh || read_others(lab));
    text_free(&path);
    text_free(&config);
    text_free(&command);
    return good;
}

/* A shard writes its own file only; others may be at work beside it. */
static bool open_shard(struct lab *lab) {
    bool created;
    if (!outfile_make_folder(lab->folder, &created)) {
        text_add(&lab->error, "%s: %s", lab->folder, strerror(errno));
        return false;
    }
    return true;
}

static bool open_all(struct lab *lab) {
    bool whole = lab->request->shard.count == 0;
    return (whole
                ? results_open(&lab->results, lab->experiment, lab->folder, lab->request->only_replication, &lab->error)
                : open_shard(lab)) &&
           open_journals(lab);
}

void lab_begin(struct lab *lab, const struct experiment *experiment, const struct lab_request *request) {
    *lab = (struct lab){.experiment = experiment,
                        .facts = experiment_facts(experiment),
                        .request = request,
                        .workload = workload_of(experiment),
                        .journal = {.descriptor = -1},
                        .results = {.folder_lock = -1},
                        .jobs = results_jobs(experiment, request->only_replication),
                        .started = time(NULL)};
    clock_gettime(CLOCK_MONOTONIC, &lab->began);
}

void lab_end(struct lab *lab) {
    if (lab->known + lab->computed == 0) {
        journal_discard(&lab->journal);
    }
    journal_close(&lab->journal);
    for (size_t i = 0; i < lab->others.count; i++) {
        journal_close(&lab->others.items[i]);
    }
    vector_free(&lab->others);
    vector_free(&lab->todo);
    results_close(&lab->results);
    text_free(&lab->error);
    mem_free(lab->keys);
    mem_free(lab->points);
    mem_free(lab->values);
    mem_free(lab->workload);
}

static enum lab_exit look_up_and_run(struct lab *lab) {
    struct shard shard = lab->request->shard;
    uint32_t *shards = shard.count > 0 ? lab_deal(lab, shard.count) : NULL;
    enum lab_exit end = open_all(lab) && lab_look_up(lab, shards) ? run_all(lab) : cannot_write(lab);
    mem_free(shards);
    return end;
}

enum lab_exit lab_run(const struct experiment *experiment, const struct lab_request *request) {
    if (!history_is_possible(experiment_facts(experiment), request)) {
        return LAB_USAGE;
    }
    struct text folder = {0};
    lab_folder(experiment, request, &folder);
    struct lab lab;
    lab_begin(&lab, experiment, request);
    lab.folder = text_string(&folder);
    signal(SIGXFSZ, SIG_IGN); /* a file too large is an error of write, as a full disk is */
    sigset_t before;
    interruptions_hold(&before);
    enum lab_exit end = look_up_and_run(&lab);
    sigprocmask(SIG_SETMASK, &before, NULL);
    end = lab_draw(&lab, end);
    lab_end(&lab);
    text_free(&folder);
    return end;
}
