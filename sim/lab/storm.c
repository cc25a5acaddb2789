/* storm.c - see the header. A job is one world with one algorithm; what a worker answers is a `struct found`,
 * followed by
 * what is wrong, in words. */
#include "sim/lab/storm.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/progress.h"
#include "sim/lab/storm_world.h"
#include "sim/lab/workers.h"

/* One world in so many runs twice. After so many violations there is no point in going on. A world takes
 * milliseconds. */
enum { REPEATED_ONE_IN = 8, VIOLATIONS_MOST = 20, WORLD_SECONDS_MOST = 60 };
#define WORLDS_ENDLESS (UINT64_C(1) << 40)

struct found {
    bool late; /* time was up: not run */
    bool broken;
    bool repeated;
    uint64_t commits, aborts, anomalies;
};

struct score {
    uint64_t worlds, commits, aborts, anomalies, repeated, violations;
    uint64_t cut_off;              /* worlds of the canary that took too long to certify */
    uint64_t caught, first_caught; /* worlds in which the canary was, and which was the first */
    double first_seconds;
};

struct storm {
    const struct storm_request *request;
    struct timespec began;
    struct score *scores; /* one an algorithm */
    uint64_t violations;
    bool shows_progress, progress_shown;
};

static bool is_canary(const struct cc_ops *algorithm) { return (algorithm->flags & CC_NO_CERTIFICATE) != 0; }

static const struct cc_ops *algorithm_of(const struct storm *storm, size_t job) {
    return storm->request->algorithms[job % storm->request->algorithm_count];
}

static uint64_t world_of(const struct storm *storm, size_t job) {
    uint64_t number = job / storm->request->algorithm_count;
    return (storm->request->world > 0 ? storm->request->world : 1) + number;
}

static double seconds_since_start(const struct storm *storm) { return progress_seconds_since(&storm->began); }

static void add_replay(const struct storm *storm, size_t job, struct text *out) {
    text_add(out, "ccsim storm --seed %" PRIu64 " --world %" PRIu64 " --algorithm %s", storm->request->seed,
             world_of(storm, job), algorithm_of(storm, job)->name);
    char *copy = mem_string(storm->request->settings != NULL ? storm->request->settings : ""), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        text_add(out, " --set ");
        text_add_shell_word(out, word);
    }
    mem_free(copy);
}

/* ---- In a worker: one run ---- */

static void draw_world(const struct storm *storm, size_t job, struct storm_world *world) {
    struct storm_subject subject = {.algorithm = algorithm_of(storm, job),
                                    .settings = storm->request->settings,
                                    .seed = storm->request->seed,
                                    .number = world_of(storm, job)};
    storm_world_draw(world, &subject);
}

/* Each sentence ends its line. */
static void judge(const struct run_spec *spec, const struct run_result *result, struct found *found,
                  struct text *wrong) {
    bool promises = !is_canary(spec->algorithm);
    bool audit_broken = result->audit == RUN_AUDIT_BROKEN && result->audit_promised;
    found->broken = result->promise_broken || audit_broken;
    if (result->promise_broken && promises) {
        text_add(wrong, "breaks what it promises: %s\n", text_string(&result->witness));
    }
    if (audit_broken && promises) {
        text_add(wrong, "breaks the invariant of %s: %s\n", spec->workload->name, text_string(&result->audit_message));
    }
    if (result->status != RUN_OK) {
        text_add(wrong, "did not come to its end: %s\n", text_string(&result->message));
    } else if (!result->quiescent) {
        text_add(wrong, "did not come to its end in %g simulated seconds\n", result->sim_seconds);
    }
}

static uint64_t aborts_of(const struct run_result *result) {
    uint64_t sum = 0;
    for (int i = 0; i < REASON_COUNT; i++) {
        sum += result->aborts_by_reason[i];
    }
    return sum;
}

static void repeat(const struct run_spec *spec, const struct run_result *first, struct text *wrong) {
    struct run_spec again = *spec;
    struct run_result result;
    again.certify = false;
    run_simulate(&again, &result);
    if (result.digest != first->digest || result.events != first->events) {
        text_add(wrong,
                 "is another run when it is repeated: digests %016" PRIx64 " and %016" PRIx64 ", %" PRIu64
                 " and %" PRIu64 " events\n",
                 first->digest, result.digest, first->events, result.events);
    }
    run_result_free(&result);
}

static void run_job(void *context, size_t job, struct text *answer) {
    struct storm *storm = context;
    struct found found = {.late = seconds_since_start(storm) >= storm->request->seconds};
    struct text wrong = {0}, replay = {0};
    if (!found.late) {
        struct storm_world world;
        struct run_result result;
        alarm(WORLD_SECONDS_MOST); /* who does not end is ended, and reported as lost */
        draw_world(storm, job, &world);
        add_replay(storm, job, &replay);
        world.spec.certify = true;
        world.spec.replay = text_string(&replay);
        run_simulate(&world.spec, &result);
        judge(&world.spec, &result, &found, &wrong);
        found.commits = result.commits;
        found.aborts = aborts_of(&result);
        found.anomalies = result.anomalies;
        found.repeated = world_of(storm, job) % REPEATED_ONE_IN == 0;
        if (found.repeated) {
            repeat(&world.spec, &result, &wrong);
        }
        run_result_free(&result);
        storm_world_free(&world);
        alarm(0);
    }
    text_add_bytes(answer, (const char *)&found, sizeof found);
    text_add(answer, "%s", text_string(&wrong));
    text_free(&wrong);
    text_free(&replay);
}

/* ---- In the caller: what was found ---- */

static void clear_progress(struct storm *storm) {
    if (storm->progress_shown) {
        fprintf(stderr, "\r\033[K");
        storm->progress_shown = false;
    }
}

static void show_progress(void *context) {
    struct storm *storm = context;
    if (storm->shows_progress) {
        uint64_t worlds = storm->scores[storm->request->algorithm_count - 1].worlds;
        fprintf(stderr, "\r\033[K%" PRIu64 " worlds, %.0f s", worlds, seconds_since_start(storm));
        fflush(stderr);
        storm->progress_shown = true;
    }
}

static void report(struct storm *storm, size_t job, const char *wrong) {
    struct text replay = {0};
    storm->violations++;
    storm->scores[job % storm->request->algorithm_count].violations++;
    clear_progress(storm);
    add_replay(storm, job, &replay);
    fprintf(stderr, "world %" PRIu64 ": %s %s  replay: %s\n", world_of(storm, job), algorithm_of(storm, job)->name,
            wrong, text_string(&replay));
    text_free(&replay);
}

static bool take_answer(void *context, size_t job, const char *answer, size_t length) {
    struct storm *storm = context;
    struct score *score = &storm->scores[job % storm->request->algorithm_count];
    struct found found;
    struct text wrong = {0};
    memcpy(&found, answer, sizeof found);
    text_add_bytes(&wrong, answer + sizeof found, length - sizeof found);
    if (!found.late) {
        score->worlds++;
        score->commits += found.commits;
        score->aborts += found.aborts;
        score->anomalies += found.anomalies;
        score->repeated += found.repeated;
        if (found.broken && score->caught++ == 0) {
            score->first_caught = score->worlds;
            score->first_seconds = seconds_since_start(storm);
        }
        if (wrong.length > 0) {
            report(storm, job, text_string(&wrong));
        }
    }
    text_free(&wrong);
    return !found.late && storm->violations < VIOLATIONS_MOST;
}

static void take_loss(void *context, size_t job, int wait_status) {
    struct storm *storm = context;
    struct text wrong = {0};
    int signal_number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    struct score *score = &storm->scores[job % storm->request->algorithm_count];
    score->worlds++;
    if (signal_number == SIGALRM && is_canary(algorithm_of(storm, job))) {
        /* Where nothing is refused everything may depend on everything: its certification has no bound. */
        score->cut_off++;
        return;
    }
    if (signal_number == SIGALRM) {
        text_add(&wrong, "was not done after %d seconds\n", WORLD_SECONDS_MOST);
    } else if (signal_number != 0) {
        text_add(&wrong, "crashed: %s\n", strsignal(signal_number));
    } else {
        text_add(&wrong, "ended its process with code %d\n", WEXITSTATUS(wait_status));
    }
    report(storm, job, text_string(&wrong));
    text_free(&wrong);
}

/* ---- The summary ---- */

static void show_world(const struct storm *storm) {
    for (size_t i = 0; i < storm->request->algorithm_count; i++) {
        struct storm_world world;
        struct text text = {0};
        draw_world(storm, i, &world);
        storm_world_tell(&world, &text);
        printf("%s\n", text_string(&text));
        storm_world_free(&world);
        text_free(&text);
    }
    printf("\n");
    fflush(stdout);
}

static int name_width(const struct storm_request *request) {
    int width = (int)sizeof "algorithm" - 1;
    for (size_t i = 0; i < request->algorithm_count; i++) {
        int length = (int)strlen(request->algorithms[i]->name);
        width = length > width ? length : width;
    }
    return width;
}

static void show_summary(const struct storm *storm) {
    const struct storm_request *request = storm->request;
    int width = name_width(request);
    uint64_t repeated = 0;
    printf("%-*s  promises  worlds  transactions    aborts  anomalies  violations\n", width, "algorithm");
    for (size_t i = 0; i < request->algorithm_count; i++) {
        const struct score *score = &storm->scores[i];
        const struct cc_ops *algorithm = request->algorithms[i];
        printf("%-*s  %-8s  %6" PRIu64 "  %12" PRIu64 "  %8" PRIu64 "  %9" PRIu64 "  %10" PRIu64 "\n", width,
               algorithm->name, is_canary(algorithm) ? "nothing" : level_names[algorithm->level], score->worlds,
               score->commits, score->aborts, score->anomalies, score->violations);
        repeated += score->repeated;
    }
    printf("\n%" PRIu64 " violations in %.1f s; %" PRIu64 " runs were repeated\n", storm->violations,
           seconds_since_start(storm), repeated);
    if (storm->violations >= VIOLATIONS_MOST) {
        printf("stopped early: that is enough to look at\n");
    }
}

/* False if a canary sang in no world. A single world need not be one that shows. */
static bool show_canaries(const struct storm *storm) {
    const struct storm_request *request = storm->request;
    bool good = true;
    for (size_t i = 0; i < request->algorithm_count; i++) {
        const struct score *score = &storm->scores[i];
        if (!is_canary(request->algorithms[i]) || score->worlds == 0) {
            continue;
        }
        const char *name = request->algorithms[i]->name;
        if (score->cut_off > 0) {
            printf("%s was cut off after %d s in %" PRIu64 " worlds\n", name, WORLD_SECONDS_MOST, score->cut_off);
        }
        if (score->caught > 0) {
            printf("%s, which must be caught, was: in %" PRIu64 " of %" PRIu64 " worlds, first in number %" PRIu64
                   ", after %.2f s\n",
                   name, score->caught, score->worlds, score->first_caught, score->first_seconds);
        } else if (request->world == 0) {
            printf("%s, which must be caught, was NOT: in none of %" PRIu64 " worlds\n", name, score->worlds);
            good = false;
        }
    }
    return good;
}

static enum lab_exit exit_code(enum workers_end end, bool good) {
    return end == WORKERS_INTERRUPTED  ? LAB_INTERRUPTED
           : end == WORKERS_NO_PROCESS ? LAB_INCOMPLETE
           : good                      ? LAB_DONE
                                       : LAB_BROKEN;
}

enum lab_exit storm_run(const struct storm_request *request) {
    CHECK(request->algorithm_count > 0);
    struct storm storm = {.request = request, .shows_progress = isatty(STDERR_FILENO)};
    uint64_t worlds = request->world > 0 ? 1 : request->worlds_most > 0 ? request->worlds_most : WORLDS_ENDLESS;
    storm.scores = mem_new(request->algorithm_count, sizeof *storm.scores);
    clock_gettime(CLOCK_MONOTONIC, &storm.began);
    if (request->world > 0) {
        show_world(&storm);
    } else {
        printf("seed %" PRIu64 "\n\n", request->seed);
        fflush(stdout);
    }
    struct workers_plan plan = {.jobs = (size_t)(worlds < WORLDS_ENDLESS ? worlds : WORLDS_ENDLESS) *
                                        request->algorithm_count,
                                .workers = request->workers > 0 ? request->workers : workers_default(),
                                .context = &storm,
                                .run = run_job,
                                .done = take_answer,
                                .lost = take_loss,
                                .tick = show_progress};
    enum workers_end end = workers_run(&plan);
    clear_progress(&storm);
    if (end == WORKERS_NO_PROCESS) {
        fprintf(stderr, "ccsim storm: cannot start a process\n");
    }
    show_summary(&storm);
    bool caught = show_canaries(&storm);
    mem_free(storm.scores);
    return exit_code(end, caught && storm.violations == 0);
}
