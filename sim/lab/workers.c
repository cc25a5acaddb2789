/* workers.c - see the header.
 *
 * A worker reads batches (first job, number of jobs) from its order pipe and writes one message per job (job, length,
 * bytes) to its answer pipe; the end of the order pipe is its end. It works through a batch in order, so the job it
 * died in is the first of its batch that has not been answered.
 *
 * Invariants: every job is in exactly one place: not handed out yet (next_job on), in `returned`, in the batch of one
 * worker, or settled. A worker has at most one batch.
 *
 * Signals are let in only while waiting in ppoll, so none is missed between a look at the flag and the wait. */
#include "sim/lab/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

enum { BATCH_MOST = 32, BATCHES_AHEAD = 8, TICK_MS = 200, READ_BYTES = 65536 };

struct batch {
    size_t first, count;
};
struct message_head {
    uint64_t job, length;
};

struct worker {
    pid_t process; /* 0: not running */
    int orders, answers;
    struct batch batch; /* what has not been answered yet */
    struct text inbox;  /* answers read, the last one perhaps in part */
};

struct crew {
    const struct workers_plan *plan;
    struct worker *workers;
    size_t next_job, settled;
    VECTOR(struct batch) returned; /* of workers that died */
    sigset_t waiting_mask;         /* of signals blocked while waiting: the caller's without ours */
    bool stopped;
    int failure; /* errno of the last worker that could not be started */
};

static const int interruptions[] = {SIGINT, SIGTERM, SIGHUP};
enum { INTERRUPTION_COUNT = sizeof interruptions / sizeof interruptions[0] };
static volatile sig_atomic_t interrupted;

static void note_interruption(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

static bool write_all(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* False at the end of the pipe. */
static bool read_all(int descriptor, char *bytes, size_t count) {
    while (count > 0) {
        ssize_t got = read(descriptor, bytes, count);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        bytes += got > 0 ? got : 0;
        count -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static _Noreturn void worker_main(const struct workers_plan *plan, int orders, int answers) {
    struct batch batch;
    struct text answer = {0};
    while (read_all(orders, (char *)&batch, sizeof batch)) {
        for (size_t job = batch.first; job < batch.first + batch.count; job++) {
            text_clear(&answer);
            struct message_head head = {.job = job};
            text_add_bytes(&answer, (const char *)&head, sizeof head);
            plan->run(plan->context, job, &answer);
            head.length = answer.length - sizeof head;
            memcpy(answer.bytes, &head, sizeof head);
            if (!write_all(answers, answer.bytes, answer.length)) {
                _exit(0); /* nobody listens any more */
            }
        }
    }
    _exit(0);
}

/* In the new process: it ends with its parent, and leaves the terminal's interrupt to it. */
static void worker_settle_in(struct crew *crew, const struct worker *self, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(0);
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &crew->waiting_mask, NULL);
    for (int i = 0; i < crew->plan->workers; i++) { /* others' pipes would keep them from ending */
        const struct worker *other = &crew->workers[i];
        if (other != self && other->process != 0) {
            close(other->orders);
            close(other->answers);
        }
    }
}

/* A worker that cannot be started stays not running; crew->failure says why. */
static void worker_start(struct crew *crew, struct worker *worker) {
    int orders[2], answers[2];
    if (pipe2(orders, O_CLOEXEC) != 0) {
        crew->failure = errno;
        return;
    }
    if (pipe2(answers, O_CLOEXEC) != 0) {
        crew->failure = errno;
        close(orders[0]);
        close(orders[1]);
        return;
    }
    fflush(NULL);
    pid_t parent = getpid(), process = fork();
    if (process == 0) {
        worker_settle_in(crew, worker, parent);
        close(orders[1]);
        close(answers[0]);
        worker_main(crew->plan, orders[0], answers[1]);
    }
    int failure = process < 0 ? errno : 0;
    close(orders[0]);
    close(answers[1]);
    if (failure != 0) {
        crew->failure = failure;
        close(orders[1]);
        close(answers[0]);
        return;
    }
    worker->process = process;
    worker->orders = orders[1];
    worker->answers = answers[0];
    worker->batch = (struct batch){0};
    text_clear(&worker->inbox);
}

/* Closes the pipes, waits for the end and returns its status. */
static int worker_end(struct worker *worker) {
    int status = 0;
    close(worker->orders);
    close(worker->answers);
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR) {}
    worker->process = 0;
    return status;
}

/* What to hand out next: small batches towards the end, so that no worker has much left while others have nothing. */
static struct batch next_batch(struct crew *crew) {
    if (crew->returned.count > 0) {
        return crew->returned.items[--crew->returned.count];
    }
    size_t left = crew->plan->jobs - crew->next_job;
    size_t fair = left / ((size_t)crew->plan->workers * BATCHES_AHEAD);
    size_t count = fair < 1 ? 1 : fair > BATCH_MOST ? BATCH_MOST : fair;
    struct batch batch = {crew->next_job, count < left ? count : left};
    crew->next_job += batch.count;
    return batch;
}

static bool has_work(const struct crew *crew) { return crew->returned.count > 0 || crew->next_job < crew->plan->jobs; }

/* An idle worker gets a batch. If it is dead already, its pipe breaks and the poll will tell. */
static void give_orders(struct crew *crew, struct worker *worker) {
    if (worker->process != 0 && worker->batch.count == 0 && has_work(crew)) {
        worker->batch = next_batch(crew);
        write_all(worker->orders, (const char *)&worker->batch, sizeof worker->batch);
    }
}

/* Hands complete messages over. */
static void take_answers(struct crew *crew, struct worker *worker) {
    size_t at = 0;
    struct message_head head;
    while (!crew->stopped && worker->inbox.length - at >= sizeof head) {
        memcpy(&head, worker->inbox.bytes + at, sizeof head);
        if (worker->inbox.length - at - sizeof head < head.length) {
            break;
        }
        CHECK(worker->batch.count > 0 && head.job == worker->batch.first);
        worker->batch.first++;
        worker->batch.count--;
        crew->settled++;
        crew->stopped =
            !crew->plan->done(crew->plan->context, head.job, worker->inbox.bytes + at + sizeof head, head.length);
        at += sizeof head + head.length;
    }
    memmove(worker->inbox.bytes, worker->inbox.bytes + at, worker->inbox.length - at + 1);
    worker->inbox.length -= at;
}

/* The answer pipe has ended: the job it was at is lost, the rest of its batch goes to others. */
static void replace_dead(struct crew *crew, struct worker *worker) {
    int status = worker_end(worker);
    if (worker->batch.count > 0) {
        size_t job = worker->batch.first;
        if (worker->batch.count > 1) {
            vector_push(&crew->returned, ((struct batch){job + 1, worker->batch.count - 1}));
        }
        worker->batch.count = 0;
        crew->settled++;
        crew->plan->lost(crew->plan->context, job, status);
    }
    if (has_work(crew)) {
        worker_start(crew, worker);
    }
}

static void listen_to(struct crew *crew, struct worker *worker) {
    char chunk[READ_BYTES];
    ssize_t got = read(worker->answers, chunk, sizeof chunk);
    if (got > 0) {
        text_add_bytes(&worker->inbox, chunk, (size_t)got);
        take_answers(crew, worker);
    } else if (got == 0 || errno != EINTR) {
        replace_dead(crew, worker);
    }
}

/* Hands out, waits, takes in, until nothing is left, or no worker. */
static void work(struct crew *crew) {
    int workers = crew->plan->workers;
    struct pollfd *ears = mem_new((size_t)workers, sizeof *ears);
    bool able = true;
    while (able && !interrupted && !crew->stopped && crew->settled < crew->plan->jobs) {
        able = false;
        for (int i = 0; i < workers; i++) {
            give_orders(crew, &crew->workers[i]);
            bool alive = crew->workers[i].process != 0;
            ears[i] = (struct pollfd){.fd = alive ? crew->workers[i].answers : -1, .events = POLLIN};
            able = able || alive;
        }
        struct timespec patience = {.tv_nsec = TICK_MS * 1000000L};
        int ready = able ? ppoll(ears, (nfds_t)workers, &patience, &crew->waiting_mask) : 0;
        for (int i = 0; ready > 0 && i < workers; i++) {
            if (ears[i].revents != 0) {
                listen_to(crew, &crew->workers[i]);
            }
        }
        if (crew->plan->tick != NULL) {
            crew->plan->tick(crew->plan->context);
        }
    }
    mem_free(ears);
}

/* What a dead worker had answered. */
static void hear_out(struct crew *crew, struct worker *worker) {
    char chunk[READ_BYTES];
    ssize_t got;
    while (!crew->stopped && ((got = read(worker->answers, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR))) {
        text_add_bytes(&worker->inbox, chunk, got > 0 ? (size_t)got : 0);
        take_answers(crew, worker);
    }
}

static void dismiss(struct crew *crew, bool at_once) {
    for (int i = 0; i < crew->plan->workers; i++) {
        if (crew->workers[i].process != 0) {
            if (at_once) {
                kill(crew->workers[i].process, SIGKILL);
                hear_out(crew, &crew->workers[i]);
            }
            worker_end(&crew->workers[i]);
        }
        text_free(&crew->workers[i].inbox);
    }
    mem_free(crew->workers);
    vector_free(&crew->returned);
}

struct signal_state {
    struct sigaction interruptions[INTERRUPTION_COUNT], broken_pipe;
    sigset_t mask;
};

static void signals_take(struct signal_state *before, sigset_t *waiting_mask) {
    sigset_t ours;
    sigemptyset(&ours);
    struct sigaction noting = {.sa_handler = note_interruption}, ignoring = {.sa_handler = SIG_IGN};
    for (int i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaddset(&ours, interruptions[i]);
        sigaction(interruptions[i], NULL, &before->interruptions[i]);
    }
    interrupted = 0;
    sigprocmask(SIG_BLOCK, &ours, &before->mask);
    *waiting_mask = before->mask;
    for (int i = 0; i < INTERRUPTION_COUNT; i++) {
        sigdelset(waiting_mask, interruptions[i]);
        bool nohup = interruptions[i] == SIGHUP && before->interruptions[i].sa_handler == SIG_IGN;
        if (!nohup) {
            sigaction(interruptions[i], &noting, NULL);
        }
    }
    sigaction(SIGPIPE, &ignoring, &before->broken_pipe);
}

static void signals_give_back(const struct signal_state *before) {
    for (int i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaction(interruptions[i], &before->interruptions[i], NULL);
    }
    sigaction(SIGPIPE, &before->broken_pipe, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

enum workers_end workers_run(const struct workers_plan *plan) {
    CHECK(plan->workers >= 1);
    struct crew crew = {.plan = plan, .workers = mem_new((size_t)plan->workers, sizeof(struct worker))};
    struct signal_state before;
    signals_take(&before, &crew.waiting_mask);
    for (int i = 0; crew.failure == 0 && i < plan->workers && (size_t)i < plan->jobs; i++) {
        worker_start(&crew, &crew.workers[i]); /* fewer workers will do */
    }
    work(&crew);
    dismiss(&crew, interrupted || crew.stopped);
    enum workers_end end = crew.stopped                 ? WORKERS_STOPPED
                           : crew.settled == plan->jobs ? WORKERS_DONE
                           : interrupted                ? WORKERS_INTERRUPTED
                                                        : WORKERS_NO_PROCESS;
    signals_give_back(&before);
    errno = crew.failure;
    return end;
}

int workers_default(void) {
    cpu_set_t allowed;
    int count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    return count > 0 ? count : 1;
}
