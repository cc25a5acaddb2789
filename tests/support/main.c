/* main.c - runs the test groups that make found, each in a process of its own, several at a time.
 *
 *     ccsim_tests [-j N] [-v] [GROUP]...      all groups, or those named (heap, or a part of the path: tests/unit/)
 *
 * A group that passes is one line; one that fails shows all it printed (-v: every group does). The last line is the
 * sum, the exit code 0 or 1: cmocka's own, the number of failures, would be 0 again at 256.
 * A group whose process dies, or whose count does not arrive, counts as failed in all its tests. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "tests/support/harness.h"

enum { GROUP_SECONDS_MAX = 1800 }; /* a group that hangs must not hang the build */

/* What a group's process hands back, in memory that it shares with the runner. */
struct tally {
    bool complete;
    size_t failed, skipped;
};

struct job {
    const struct test_group *group;
    struct tally *tally;
    FILE *output;
    pid_t process;
    double started;
};

struct total {
    size_t passed, failed, skipped;
    bool verbose;
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void die(const char *what) {
    perror(what);
    exit(EXIT_FAILURE);
}

static bool is_named(const struct test_group *group, char **names, int count) {
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], group->name) == 0 || (strchr(names[i], '/') != NULL && strstr(group->path, names[i]))) {
            return true;
        }
    }
    return count == 0;
}

_Noreturn static void run_group(const struct job *job) {
    if (dup2(fileno(job->output), STDOUT_FILENO) < 0 || dup2(fileno(job->output), STDERR_FILENO) < 0) {
        die("dup2");
    }
    alarm(GROUP_SECONDS_MAX);
    check_slow_enable();
    int failed = _cmocka_run_group_tests(job->group->name, job->group->tests, *job->group->count, NULL, NULL);
    job->tally->failed = (size_t)failed;
    job->tally->skipped = harness_skips();
    job->tally->complete = true;
    harness_remove_directory();
    fflush(NULL);
    exit(failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void job_start(struct job *job, const struct test_group *group, struct tally *tally) {
    *job = (struct job){.group = group, .tally = tally, .output = tmpfile(), .started = seconds_now()};
    if (job->output == NULL) {
        die("tmpfile");
    }
    fflush(NULL);
    job->process = fork();
    if (job->process < 0) {
        die("fork");
    }
    if (job->process == 0) {
        run_group(job);
    }
}

static void copy_output(FILE *from) {
    char block[65536];
    rewind(from);
    for (size_t bytes; (bytes = fread(block, 1, sizeof block, from)) > 0;) {
        fwrite(block, 1, bytes, stdout);
    }
}

static void job_finish(struct job *job, int status, struct total *total) {
    size_t count = *job->group->count;
    struct tally tally = *job->tally;
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    if (!tally.complete || (tally.failed == 0 && !clean)) {
        tally = (struct tally){.failed = count > 0 ? count : 1};
    }
    if (tally.failed > 0 || total->verbose) {
        copy_output(job->output);
    }
    fclose(job->output);
    if (WIFSIGNALED(status)) {
        printf("%s: died of signal %d (%s)\n", job->group->path, WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (!job->tally->complete) {
        printf("%s: ended in the middle with exit code %d\n", job->group->path, WEXITSTATUS(status));
    } else if (!clean && job->tally->failed == 0) {
        printf("%s: passed, but ended with exit code %d\n", job->group->path, WEXITSTATUS(status));
    }
    printf("%-4s %s: %zu tests, %zu failures, %.1f s\n", tally.failed > 0 ? "FAIL" : "ok", job->group->path, count,
           tally.failed, seconds_now() - job->started);
    total->failed += tally.failed;
    total->skipped += tally.skipped;
    total->passed += count > tally.failed + tally.skipped ? count - tally.failed - tally.skipped : 0;
    job->group = NULL;
}

/* Waits for one of the running jobs to end. */
static void finish_one(struct job *jobs, size_t width, struct total *total) {
    int status;
    pid_t process;
    do {
        process = wait(&status);
    } while (process < 0 && errno == EINTR);
    for (size_t i = 0; i < width; i++) {
        if (jobs[i].group != NULL && jobs[i].process == process) {
            job_finish(&jobs[i], status, total);
            return;
        }
    }
    die("wait");
}

static struct job *free_job(struct job *jobs, size_t width) {
    for (size_t i = 0; i < width; i++) {
        if (jobs[i].group == NULL) {
            return &jobs[i];
        }
    }
    return NULL;
}

/* The number of groups that fit the names. */
static size_t run_named(struct job *jobs, size_t width, char **names, int count, struct total *total) {
    size_t bytes = (test_groups_count + 1) * sizeof(struct tally);
    struct tally *tallies = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED) {
        die("mmap");
    }
    size_t running = 0, started = 0;
    for (size_t i = 0; i < test_groups_count; i++) {
        if (!is_named(&test_groups[i], names, count)) {
            continue;
        }
        if (running == width) {
            finish_one(jobs, width, total);
            running--;
        }
        job_start(free_job(jobs, width), &test_groups[i], &tallies[i]);
        running++;
        started++;
    }
    for (; running > 0; running--) {
        finish_one(jobs, width, total);
    }
    munmap(tallies, bytes);
    return started;
}

int main(int argc, char **argv) {
    enum { JOBS_MAX = 64 };
    struct job jobs[JOBS_MAX] = {{0}};
    struct total total = {0};
    long width = 1;
    for (int letter; (letter = getopt(argc, argv, "j:v")) != -1;) {
        if (letter == 'j') {
            width = strtol(optarg, NULL, 10);
        } else if (letter == 'v') {
            total.verbose = true;
        } else {
            fprintf(stderr, "usage: %s [-j N] [-v] [GROUP]...\n", argv[0]);
            return 2;
        }
    }
    width = width < 1 ? 1 : width > JOBS_MAX ? JOBS_MAX : width;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (run_named(jobs, (size_t)width, argv + optind, argc - optind, &total) == 0) {
        fprintf(stderr, "%s: no test group of that name\n", argv[0]);
        return 2;
    }
    printf("%zu passed, %zu failed, %zu skipped\n", total.passed, total.failed, total.skipped);
    return total.failed == 0 && total.passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
