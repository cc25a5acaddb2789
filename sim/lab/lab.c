/* lab.c - see the header. The caller's process takes rows in and speaks to the user; workers simulate: a job comes in
 * as its number and goes back as the text of its row, so that nothing but text crosses between processes. */
#include "sim/lab/lab.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/lab/manifest.h"
#include "sim/lab/plot.h"
#include "sim/lab/progress.h"
#include "sim/lab/report.h"
#include "sim/lab/results.h"
#include "sim/lab/table.h"
#include "sim/lab/workers.h"
#include "workloads/workload.h"

const char lab_version[] = "0.1.0";

enum { MESSAGES_MOST = 20 };

struct lab {
    const struct experiment *experiment;
    const struct experiment_facts *facts;
    const struct lab_request *request;
    const char *folder;
    char *workload; /* name */
    struct results results;
    struct progress progress;
    size_t settled, messages;
    size_t refused;    /* runs that could not go on, by their own doing */
    bool broken, lost; /* a promise, a worker */
    struct text error; /* of a file: the end of all */
    struct timespec began;
    time_t started;
};

/* What a worker answers: this, the row, those of types.csv, then a sentence for the user. */
struct answer {
    uint32_t row_length, types_length, broken;
};

static int64_t replication_of(const struct lab *lab, size_t job) {
    return lab->request->only_replication > 0 ? lab->request->only_replication
                                              : (int64_t)(job / lab->facts->points) + 1;
}

static size_t point_of(const struct lab *lab, size_t job) { return job % lab->facts->points; }

void lab_add_shell_word(struct text *out, const char *word) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        text_add(out, "%s", word);
        return;
    }
    text_add(out, "'");
    for (const char *p = word; *p != '\0'; p++) {
        text_add_bytes(out, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
    }
    text_add(out, "'");
}

/* The command that computes this run alone, beside the results and not over them. */
static void add_replay(const struct lab *lab, size_t job, struct text *out) {
    text_add(out, "%s", lab->request->command);
    experiment_select(lab->experiment, point_of(lab, job), out);
    text_add(out, " --only replication=%" PRId64 " -o ", replication_of(lab, job));
    lab_add_shell_word(out, lab->folder);
    text_add(out, "/replay");
}

/* The command that computes everything, folder included. */
static void add_command(const struct lab *lab, struct text *out) {
    text_add(out, "%s%s", lab->request->command, lab->request->selection);
    if (lab->request->only_replication > 0) {
        text_add(out, " --only replication=%" PRId64, lab->request->only_replication);
    }
    if (lab->request->folder != NULL) {
        text_add(out, " -o ");
        lab_add_shell_word(out, lab->request->folder);
    }
}

/* What a run broke, each a sentence after the last; false if nothing. */
static bool add_broken(const struct point *point, const struct run_result *result, struct text *out) {
    bool audit = result->audit == RUN_AUDIT_BROKEN && result->audit_promised;
    if (audit) {
        text_add(out, "the audit is broken, against the algorithm's promise: %s", text_string(&result->audit_message));
    }
    if (result->promise_broken) {
        text_add(out, "%sthe algorithm promises %s, and that is broken: %s", audit ? "\n  " : "",
                 level_names[point->spec.algorithm->level], text_string(&result->witness));
    }
    return audit || result->promise_broken;
}

/* The only run writes its history, the others none. */
static FILE *open_history(const struct lab *lab) {
    FILE *file = lab->request->history != NULL ? fopen(lab->request->history, "w") : NULL;
    if (lab->request->history != NULL && file == NULL) {
        fprintf(stderr, "ccsim: %s: %s\n", lab->request->history, strerror(errno));
        _exit(LAB_INCOMPLETE);
    }
    return file;
}

static void close_history(const struct lab *lab, FILE *file) {
    if (file == NULL) {
        return;
    }
    bool good = ferror(file) == 0;
    if (fclose(file) != 0 || !good) {
        fprintf(stderr, "ccsim: %s: %s\n", lab->request->history, strerror(errno));
        _exit(LAB_INCOMPLETE);
    }
}

/* In a worker: one run. */
static void simulate(void *context, size_t job, struct text *out) {
    const struct lab *lab = context;
    struct point point;
    struct run_result result = {0};
    struct text replay = {0}, row = {0}, types = {0}, broken = {0};
    add_replay(lab, job, &replay);
    experiment_point(lab->experiment, point_of(lab, job), &point);
    point.spec.replication = (uint64_t)replication_of(lab, job);
    point.spec.replay = text_string(&replay);
    point.spec.history = open_history(lab);
    run_simulate(&point.spec, &result);
    close_history(lab, point.spec.history);
    struct table_place place = {point.algorithm, point.spec.workload->name, text_string(&point.columns),
                                point.spec.replication, lab->facts->seed};
    if (result.status == RUN_OK) {
        table_runs_row(&place, &result, &row);
        table_types_rows(&place, point.spec.workload, point.workload_options, &result, &types);
    }
    struct answer answer = {(uint32_t)row.length, (uint32_t)types.length,
                            result.status == RUN_OK && add_broken(&point, &result, &broken)};
    text_add_bytes(out, (const char *)&answer, sizeof answer);
    text_add_bytes(out, text_string(&row), row.length);
    text_add_bytes(out, text_string(&types), types.length);
    text_add(out, "%s", text_string(result.status != RUN_OK ? &result.message : &broken));
    text_free(&broken);
    run_result_free(&result);
    point_free(&point);
    text_free(&row);
    text_free(&types);
    text_free(&replay);
}

/* `ccsim: algorithm=occ system.terminals=8 replication=2: `; false if there have been enough of them. */
static bool message_begin(struct lab *lab, size_t job) {
    lab->messages++;
    if (lab->messages > MESSAGES_MOST) {
        return false;
    }
    static const char only[] = " --only";
    struct text selection = {0};
    experiment_select(lab->experiment, point_of(lab, job), &selection);
    progress_clear(&lab->progress);
    fprintf(stderr, "ccsim:");
    for (const char *rest = text_string(&selection); *rest != '\0';) {
        if (strncmp(rest, only, sizeof only - 1) == 0) {
            rest += sizeof only - 1;
        } else {
            fputc(*rest++, stderr);
        }
    }
    fprintf(stderr, " replication=%" PRId64 ": ", replication_of(lab, job));
    text_free(&selection);
    return true;
}

static void message_replay(const struct lab *lab, size_t job) {
    struct text replay = {0};
    add_replay(lab, job, &replay);
    fprintf(stderr, "  replay: %s\n", text_string(&replay));
    text_free(&replay);
}

static bool run_done(void *context, size_t job, const char *bytes, size_t length) {
    struct lab *lab = context;
    struct answer answer;
    CHECK(length >= sizeof answer);
    memcpy(&answer, bytes, sizeof answer);
    const char *row = bytes + sizeof answer, *types = row + answer.row_length, *sentence = types + answer.types_length;
    CHECK(bytes + length >= sentence);
    int sentence_length = (int)(bytes + length - sentence);
    lab->settled++;
    if (answer.broken) {
        lab->broken = true;
        if (message_begin(lab, job)) {
            fprintf(stderr, "%.*s\n", sentence_length, sentence);
            message_replay(lab, job);
        }
    }
    if (answer.row_length > 0) {
        struct results_job rows = {row, types, answer.row_length, answer.types_length};
        return results_row(&lab->results, job, &rows, &lab->error);
    }
    lab->refused++;
    results_missing(&lab->results, job);
    if (message_begin(lab, job)) {
        fprintf(stderr, "%.*s\n", sentence_length, sentence);
    }
    return true;
}

static void run_lost(void *context, size_t job, int wait_status) {
    struct lab *lab = context;
    lab->settled++;
    lab->lost = true;
    results_missing(&lab->results, job);
    if (message_begin(lab, job)) {
        if (WIFSIGNALED(wait_status)) {
            fprintf(stderr, "its worker crashed (signal %d, %s); the other runs go on\n", WTERMSIG(wait_status),
                    strsignal(WTERMSIG(wait_status)));
        } else {
            fprintf(stderr, "its worker ended with exit code %d; the other runs go on\n", WEXITSTATUS(wait_status));
        }
        message_replay(lab, job);
    }
}

static void run_tick(void *context) {
    struct lab *lab = context;
    progress_show(&lab->progress, lab->settled);
}

static enum lab_exit cannot_write(const struct lab *lab) {
    struct text command = {0};
    add_command(lab, &command);
    fprintf(stderr, "ccsim: %s; nothing was written. When that is solved: %s\n", text_string(&lab->error),
            text_string(&command));
    text_free(&command);
    return LAB_INCOMPLETE;
}

static int workers_of(const struct lab *lab) {
    return lab->request->workers > 0 ? lab->request->workers : workers_default();
}

static bool commit(struct lab *lab) {
    struct text command = {0}, content = {0};
    add_command(lab, &command);
    struct manifest manifest = {.experiment = lab->experiment,
                                .workload = lab->workload,
                                .command = text_string(&command),
                                .runs = lab->results.jobs,
                                .runs_finished = lab->results.finished,
                                .runs_refused = lab->refused,
                                .has_types = results_have_types(&lab->results),
                                .workers = workers_of(lab),
                                .started = lab->started,
                                .wall_seconds = progress_seconds_since(&lab->began),
                                .figure_format = lab->request->plot ? plot_formats[0] : NULL};
    manifest_add(&manifest, &content);
    bool good = results_commit(&lab->results, &content, &lab->error);
    text_free(&content);
    text_free(&command);
    return good;
}

static enum lab_exit table_print(struct lab *lab) {
    const struct experiment_facts *facts = lab->facts;
    size_t replications = lab->results.jobs / facts->points;
    char duration[32], warmup[32];
    text_number(duration, (double)facts->duration_ns / 1e9);
    text_number(warmup, (double)facts->warmup_ns / 1e9);
    printf("%s\n%s, %zu replication%s of %s s after %s s of warm-up, seed %" PRIu64 "%s\n\n", facts->title,
           lab->workload, replications, replications == 1 ? "" : "s", duration, warmup, facts->seed,
           replications > 1 ? "; +- half the 95% confidence interval" : "");
    struct text table = {0};
    report_add(lab->results.report.bytes, &table);
    fputs(text_string(&table), stdout);
    text_free(&table);
    if (facts->points > RESULTS_REPORT_POINTS) {
        printf("... and %zu points more\n", facts->points - RESULTS_REPORT_POINTS);
    }
    printf("\n%s/runs.csv\n%s/summary.csv\n", lab->folder, lab->folder);
    if (results_have_types(&lab->results)) {
        printf("%s/types.csv\n", lab->folder);
    }
    printf("%s/manifest.json\n", lab->folder);
    if (fflush(stdout) != 0 && errno != EPIPE) {
        fprintf(stderr, "ccsim: standard output: %s; the files are in %s\n", strerror(errno), lab->folder);
        return LAB_INCOMPLETE;
    }
    return LAB_DONE;
}

/* All that could be run has been run. */
static enum lab_exit conclude(struct lab *lab) {
    enum lab_exit end = lab->lost ? LAB_INCOMPLETE : lab->broken ? LAB_BROKEN : lab->refused > 0 ? LAB_USAGE : LAB_DONE;
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

static enum lab_exit keep_finished(struct lab *lab) {
    if (lab->results.finished == 0) {
        fprintf(stderr, "ccsim: interrupted before a run had finished; nothing was written\n");
        return LAB_INTERRUPTED;
    }
    if (!results_summarize(&lab->results, &lab->error) || !results_step_aside(&lab->results, &lab->error) ||
        !commit(lab)) {
        return cannot_write(lab);
    }
    struct text command = {0};
    add_command(lab, &command);
    fprintf(stderr, "ccsim: interrupted; the %zu of %zu runs that had finished are in %s. To compute them all: %s\n",
            lab->results.finished, lab->results.jobs, lab->results.folder, text_string(&command));
    text_free(&command);
    return LAB_INTERRUPTED;
}

static enum lab_exit run_all(struct lab *lab) {
    struct workers_plan plan = {.jobs = lab->results.jobs,
                                .workers = workers_of(lab),
                                .context = lab,
                                .run = simulate,
                                .done = run_done,
                                .lost = run_lost,
                                .tick = run_tick};
    progress_start(&lab->progress, plan.jobs, lab->request->quiet);
    enum workers_end workers_end = workers_run(&plan);
    int failure = errno;
    progress_clear(&lab->progress);
    if (lab->messages > MESSAGES_MOST) {
        fprintf(stderr, "ccsim: ... and %zu messages more\n", lab->messages - MESSAGES_MOST);
    }
    switch (workers_end) {
    case WORKERS_DONE: return conclude(lab);
    case WORKERS_INTERRUPTED: return keep_finished(lab);
    case WORKERS_STOPPED: return cannot_write(lab);
    case WORKERS_NO_PROCESS: break;
    }
    text_add(&lab->error, "cannot start a worker process: %s", strerror(failure));
    return cannot_write(lab);
}

static bool drawable(const struct lab *lab, enum lab_exit end) {
    return lab->request->plot && lab->facts->figure_count > 0 && lab->results.finished > 0 && end != LAB_INTERRUPTED &&
           lab->error.length == 0;
}

static char *workload_of(const struct experiment *experiment) {
    struct point point;
    experiment_point(experiment, 0, &point);
    char *name = mem_string(point.spec.workload->name);
    point_free(&point);
    return name;
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
    size_t runs = facts->points * (request->only_replication > 0 ? 1 : (size_t)facts->replications);
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

enum lab_exit lab_run(const struct experiment *experiment, const struct lab_request *request) {
    const struct experiment_facts *facts = experiment_facts(experiment);
    if (!history_is_possible(facts, request)) {
        return LAB_USAGE;
    }
    struct text folder = {0};
    lab_folder(experiment, request, &folder);
    struct lab lab = {.experiment = experiment,
                      .facts = facts,
                      .request = request,
                      .folder = text_string(&folder),
                      .workload = workload_of(experiment),
                      .started = time(NULL)};
    clock_gettime(CLOCK_MONOTONIC, &lab.began);
    signal(SIGXFSZ, SIG_IGN); /* a file too large is an error of write, as a full disk is */
    sigset_t before;
    interruptions_hold(&before);
    size_t jobs = facts->points * (request->only_replication > 0 ? 1 : (size_t)facts->replications);
    bool opened = results_open(&lab.results, experiment, lab.folder, jobs, &lab.error);
    enum lab_exit end = opened ? run_all(&lab) : cannot_write(&lab);
    bool draws = drawable(&lab, end);
    results_close(&lab.results);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (draws) {
        enum lab_exit drawn = plot_folder(lab.folder, plot_formats[0], request->quiet ? NULL : stdout);
        end = drawn == LAB_INCOMPLETE || (drawn != LAB_DONE && end == LAB_DONE) ? drawn : end;
    }
    text_free(&lab.error);
    text_free(&folder);
    mem_free(lab.workload);
    return end;
}
