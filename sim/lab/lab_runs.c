/* lab_runs.c - the runs of an experiment, one by one: known or computed, told to the user where something is amiss.
 *
 * The caller's process takes outcomes in and speaks to the user; workers simulate: a job comes in as its number and goes
 * back as text, so that nothing but text crosses between processes. What a worker sends is in the journal before
 * anything else is done with it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/lab/lab_parts.h"
#include "sim/lab/table.h"
#include "sim/lab/workers.h"
#include "workloads/workload.h"

enum { MESSAGES_MOST = 20 };

static uint64_t replication_of(const struct lab *lab, size_t job) {
    int64_t only = lab->request->only_replication;
    return only > 0 ? (uint64_t)only : job / lab->facts->points + 1;
}

size_t lab_point_of(const struct lab *lab, size_t job) { return job % lab->facts->points; }

int lab_workers(const struct lab *lab) { return lab->request->workers > 0 ? lab->request->workers : workers_default(); }

/* The command that computes this run alone, beside the results and not over them. */
static void add_replay(const struct lab *lab, size_t job, struct text *out) {
    text_add(out, "%s", lab->request->command);
    experiment_select(lab->experiment, lab_point_of(lab, job), out);
    text_add(out, " --only replication=%" PRIu64 " --fresh -o ", replication_of(lab, job));
    text_add_shell_word(out, lab->folder);
    text_add(out, "/replay");
}

void lab_add_command(const struct lab *lab, struct shard shard, struct text *out) {
    text_add(out, "%s%s", lab->request->command, lab->request->selection);
    if (lab->request->only_replication > 0) {
        text_add(out, " --only replication=%" PRId64, lab->request->only_replication);
    }
    if (shard.count > 0) {
        text_add(out, " --shard %" PRIu32 "/%" PRIu32, shard.number, shard.count);
    }
    if (lab->request->folder != NULL) {
        text_add(out, " -o ");
        text_add_shell_word(out, lab->request->folder);
    }
}

/* --- in a worker --- */

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

static struct outcome_part part_of(const struct text *text) {
    return (struct outcome_part){text_string(text), text->length};
}

static void add_outcome(const struct lab *lab, const struct point *point, const struct run_result *result,
                        struct text *out) {
    struct text tables[OUTCOME_TABLES] = {{0}}, broken = {0};
    struct outcome outcome = {.refused = result->status != RUN_OK, .sentence = part_of(&result->message)};
    if (!outcome.refused) {
        table_runs_cells(result, &tables[OUTCOME_RUNS]);
        table_types_cells(point->spec.workload, point->workload_options, result, &tables[OUTCOME_TYPES]);
        table_series_cells(&result->samples, &tables[OUTCOME_SERIES]);
        table_series_cells(&result->batches, &tables[OUTCOME_BATCHES]);
        if (lab->facts->histograms) {
            table_histograms_cells(result, &tables[OUTCOME_HISTOGRAMS]);
        }
        outcome.broken = add_broken(point, result, &broken);
        outcome.sentence = part_of(&broken);
    }
    for (int i = 0; i < OUTCOME_TABLES; i++) {
        outcome.tables[i] = part_of(&tables[i]);
    }
    outcome_add(&outcome, out);
    text_free(&broken);
    for (int i = 0; i < OUTCOME_TABLES; i++) {
        text_free(&tables[i]);
    }
}

/* What the point's pilot said. One that was lost is flown again: the run is lost with it. */
static int64_t warmup_of(const struct lab *lab, const struct point *point) {
    const struct lab_point *known = &lab->points[point->number];
    return known->has_pilot ? known->pilot.warmup_ns : pilot_warmup_ns(&point->spec);
}

static void simulate(void *context, size_t number, struct text *out) {
    const struct lab *lab = context;
    size_t job = lab->todo.items[lab->round.first + number];
    struct point point;
    struct run_result result = {0};
    struct text replay = {0};
    add_replay(lab, job, &replay);
    experiment_point(lab->experiment, lab_point_of(lab, job), &point);
    point.spec.replication = replication_of(lab, job);
    point.spec.replay = text_string(&replay);
    point.spec.warmup_ns = warmup_of(lab, &point);
    point.spec.history = open_history(lab);
    run_simulate(&point.spec, &result);
    close_history(lab, point.spec.history);
    add_outcome(lab, &point, &result, out);
    run_result_free(&result);
    point_free(&point);
    text_free(&replay);
}

/* --- in the caller --- */

/* `ccsim: algorithm=occ system.terminals=8 replication=2: `; false if there have been enough of them. */
static bool message_begin(struct lab *lab, size_t job) {
    lab->messages++;
    if (lab->messages > MESSAGES_MOST) {
        return false;
    }
    struct text words = {0};
    experiment_tell(lab->experiment, lab_point_of(lab, job), &words);
    progress_clear(&lab->progress);
    fprintf(stderr, "ccsim:%s", text_string(&words));
    fprintf(stderr, " replication=%" PRIu64 ": ", replication_of(lab, job));
    text_free(&words);
    return true;
}

static void message_replay(const struct lab *lab, size_t job) {
    struct text replay = {0};
    add_replay(lab, job, &replay);
    fprintf(stderr, "  replay: %s\n", text_string(&replay));
    text_free(&replay);
}

static bool is_open(const struct results *results) { return results->slots != NULL; }

/* What came out of the job, known or computed. False if it cannot be written. */
static bool settle(struct lab *lab, size_t job, const struct outcome *outcome) {
    if ((outcome->broken || outcome->refused) && message_begin(lab, job)) {
        fprintf(stderr, "%.*s\n", (int)outcome->sentence.length, outcome->sentence.bytes);
        if (outcome->broken) {
            message_replay(lab, job);
        }
    }
    lab->broken = lab->broken || outcome->broken;
    lab->refused += outcome->refused;
    lab->points[lab_point_of(lab, job)].settled++;
    if (lab->values != NULL) {
        const struct outcome_part *cells = &outcome->tables[OUTCOME_RUNS];
        size_t metric = lab->facts->precision_metric;
        lab->values[job] = outcome->refused ? (double)NAN : table_runs_metric(cells->bytes, cells->length, metric);
    }
    if (!is_open(&lab->results)) {
        return true;
    }
    if (!outcome->refused) {
        return results_row(&lab->results, job, outcome, &lab->error);
    }
    results_missing(&lab->results, job);
    return true;
}

static bool run_done(void *context, size_t number, const char *bytes, size_t length) {
    struct lab *lab = context;
    size_t job = lab->todo.items[lab->round.first + number];
    struct outcome outcome;
    CHECK(outcome_read(bytes, length, &outcome));
    if (!lab_keep(lab, lab->keys[job], bytes, length)) {
        return false;
    }
    lab->computed++;
    return settle(lab, job, &outcome);
}

static void run_lost(void *context, size_t number, int wait_status) {
    struct lab *lab = context;
    size_t job = lab->todo.items[lab->round.first + number];
    lab->computed++;
    lab->lost = true;
    if (is_open(&lab->results)) {
        results_missing(&lab->results, job);
    }
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
    progress_show(&lab->progress, lab->computed - lab->round.computed_before);
}

static bool find_in(const struct journal *journal, uint64_t key, struct text *found, struct outcome *outcome) {
    return journal_find(journal, key, found) && outcome_read(found->bytes, found->length, outcome);
}

bool lab_keep(struct lab *lab, uint64_t key, const char *bytes, size_t length) {
    if (!journal_add(&lab->journal, key, bytes, length)) {
        text_add(&lab->error, "%s: %s", lab->journal.path, strerror(errno));
        return false;
    }
    return true;
}

bool lab_find(struct lab *lab, uint64_t key, struct text *found, struct outcome *outcome) {
    if (find_in(&lab->journal, key, found, outcome)) {
        return true;
    }
    for (size_t i = 0; i < lab->others.count; i++) {
        if (find_in(&lab->others.items[i], key, found, outcome)) {
            /* a shard's file holds all of the shard: it may be merged without the other */
            return lab->request->shard.count == 0 || lab_keep(lab, key, found->bytes, found->length);
        }
    }
    return false;
}

bool lab_want(struct lab *lab, size_t job) {
    struct text found = {0};
    struct outcome outcome;
    bool good = true;
    lab->keys[job] = experiment_run_key(lab->experiment, lab_point_of(lab, job), replication_of(lab, job));
    if (lab->request->history == NULL && lab_find(lab, lab->keys[job], &found, &outcome)) {
        lab->known++;
        good = settle(lab, job, &outcome);
    } else {
        vector_push(&lab->todo, job);
    }
    text_free(&found);
    return good;
}

bool lab_look_up(struct lab *lab, const uint32_t *shards) {
    size_t points = lab->facts->points;
    bool is_one = lab->request->only_replication > 0, good = true, more = true;
    size_t jobs = is_one ? points : points * (size_t)lab->facts->replications;
    lab->keys = mem_new(lab->jobs, sizeof *lab->keys);
    lab->points = mem_new(points, sizeof *lab->points);
    lab->values = lab->facts->precision > 0 && !is_one ? mem_new(lab->jobs, sizeof *lab->values) : NULL;
    for (size_t job = 0; job < jobs; job++) {
        bool is_mine = shards == NULL || lab_shard_of(lab, shards, job) == lab->request->shard.number;
        struct lab_point *point = &lab->points[lab_point_of(lab, job)];
        point->is_mine = point->is_mine || is_mine;
        point->wanted += is_mine;
    }
    lab_find_pilots(lab);
    for (size_t job = 0; job < jobs && good; job++) {
        if (shards == NULL || lab_shard_of(lab, shards, job) == lab->request->shard.number) {
            good = lab_want(lab, job);
        }
    }
    while (good && more) {
        good = lab_extend(lab, &more);
    }
    return good;
}

enum workers_end lab_work(struct lab *lab, void (*run)(void *context, size_t number, struct text *answer),
                          bool (*done)(void *context, size_t number, const char *answer, size_t length),
                          void (*lost)(void *context, size_t number, int wait_status)) {
    struct workers_plan plan = {.jobs = lab->round.count,
                                .workers = lab_workers(lab),
                                .context = lab,
                                .run = run,
                                .done = done,
                                .lost = lost,
                                .tick = run_tick};
    lab->round.computed_before = lab->computed;
    progress_start(&lab->progress, plan.jobs, lab->request->quiet);
    enum workers_end end = workers_run(&plan);
    int failure = errno;
    progress_clear(&lab->progress);
    errno = failure;
    return end;
}

/* Round after round. */
static enum workers_end compute_rounds(struct lab *lab) {
    enum workers_end end = lab_fly_pilots(lab);
    lab->round.first = 0;
    while (end == WORKERS_DONE && lab->round.first < lab->todo.count) {
        bool more = true;
        lab->round.count = lab->todo.count - lab->round.first;
        end = lab_work(lab, simulate, run_done, run_lost);
        lab->round.first = lab->todo.count;
        while (end == WORKERS_DONE && more && lab->todo.count == lab->round.first) {
            end = lab_extend(lab, &more) ? WORKERS_DONE : WORKERS_STOPPED;
        }
    }
    return end;
}

enum workers_end lab_compute(struct lab *lab) {
    enum workers_end end = compute_rounds(lab);
    int failure = errno;
    if (lab->messages > MESSAGES_MOST) {
        fprintf(stderr, "ccsim: ... and %zu messages more\n", lab->messages - MESSAGES_MOST);
    }
    errno = failure;
    return end;
}
