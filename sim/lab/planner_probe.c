/* planner_probe.c - the runs that the planner looks at, a batch at a time on all processors. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/pilot.h"
#include "sim/lab/planner_parts.h"
#include "sim/lab/workers.h"

enum { MESSAGES_MOST = 20 };

const char *const planner_keys[PLANNER_VARIABLES] = {"system.arrival_rate", "system.terminals", "system.mpl",
                                                     "system.cpus"};

void planner_put(enum planner_variable vary, double value, struct run_spec *spec) {
    struct system_settings *system = &spec->system;
    switch (vary) {
    case PLANNER_ARRIVAL_RATE:
        system->arrival_rate.count = 1;
        system->arrival_rate.part[0].per_second = value;
        return;
    case PLANNER_TERMINALS: system->terminals = (int64_t)value; return;
    case PLANNER_MPL: system->mpl = (int64_t)value; return;
    case PLANNER_CPUS: system->cpus = (int64_t)value; return;
    case PLANNER_VARIABLES: break;
    }
    CHECK_MSG(false, "no such variable");
}

static double number_or_none(int64_t value) { return value == OPTION_UNLIMITED ? 0 : (double)value; }

double planner_value_of(enum planner_variable vary, const struct run_spec *spec) {
    const struct system_settings *system = &spec->system;
    switch (vary) {
    case PLANNER_ARRIVAL_RATE: return system->arrival_rate.count == 1 ? system->arrival_rate.part[0].per_second : 0;
    case PLANNER_TERMINALS: return number_or_none(system->terminals);
    case PLANNER_MPL: return number_or_none(system->mpl);
    case PLANNER_CPUS: return number_or_none(system->cpus);
    case PLANNER_VARIABLES: break;
    }
    return 0;
}

const struct probe *planner_find(const struct planner *planner, size_t point, uint64_t replication, double value) {
    for (size_t i = planner->probes.count; i-- > 0;) {
        const struct probe *probe = &planner->probes.items[i];
        if (probe->point == point && probe->replication == replication && probe->value == value) {
            return probe;
        }
    }
    return NULL;
}

void planner_ask(struct planner *planner, size_t point, uint64_t replication, double value) {
    if (planner_find(planner, point, replication, value) == NULL) {
        struct probe probe = {.point = point, .replication = replication, .value = value};
        vector_push(&planner->probes, probe);
    }
}

/* --- in a worker --- */

/* How many times the longest response time may be exceeded before it is certain that the objective is missed: of an
 * exponential one, whose mean is the limit, 2 in 10^9 are twenty times as long; of one whose p99 is the limit, 1 in 10^10 five
 * times. */
static double patience_of(const char *metric) {
    bool is_tail = strcmp(metric, "response_p99_ms") == 0 || strcmp(metric, "response_max_ms") == 0;
    return is_tail ? 5 : 20;
}

/* No more can be under way in an open system that is to meet the objectives: by Little's law, what arrives within the
 * time that they have patience for (10 s where they are silent), and some. */
static uint64_t live_max(const struct planner *planner, const struct run_spec *spec) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    double patience_ms = 10e3;
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        const struct planner_objective *objective = &planner->request->objectives[i];
        const char *name = metrics[objective->metric].name;
        if (objective->below && strncmp(name, "response_", 9) == 0) {
            patience_ms = fmin(patience_ms, patience_of(name) * objective->limit);
        }
    }
    double rate = planner_value_of(PLANNER_ARRIVAL_RATE, spec);
    return (uint64_t)fmin(200 + rate * patience_ms / 1e3, 1e6);
}

/* Does an objective say how many may give up? */
static bool allows_giving_up(const struct planner *planner) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        if (strcmp(metrics[planner->request->objectives[i].metric].name, "gave_up") == 0) {
            return true;
        }
    }
    return false;
}

/* Not if more than 1% of those that ended gave up, unless an objective speaks of that; nor if the backlog grew by more than
 * 1% of the arrivals and more than chance makes it. */
static bool keeps_up(const struct planner *planner, const struct run_spec *spec, const struct run_result *result) {
    double ended = (double)(result->commits + result->rollbacks + result->gave_up);
    if ((double)result->gave_up > .01 * ended && !allows_giving_up(planner)) {
        return false;
    }
    if (spec->system.terminals > 0) {
        return true;
    }
    double arrivals = planner_value_of(PLANNER_ARRIVAL_RATE, spec) * result->sim_seconds;
    return (double)result->live_change <= .01 * arrivals + 2 * sqrt(arrivals) + 10;
}

void planner_add_selection(const struct planner *planner, size_t point, struct text *out) {
    struct text all = {0}, varied = {0};
    text_add(&varied, " --only %s=", planner_keys[planner->request->vary]);
    experiment_select(planner->experiment, point, &all);
    const char *bytes = text_string(&all), *own = strstr(bytes, text_string(&varied));
    const char *behind = own != NULL ? strstr(own + 1, " --only ") : NULL;
    text_add(out, "%.*s%s", (int)(own != NULL ? own - bytes : (ptrdiff_t)all.length), bytes,
             behind != NULL ? behind : "");
    text_free(&all);
    text_free(&varied);
}

static void add_replay(const struct planner *planner, const struct probe *probe, struct text *out) {
    char number[32];
    text_add(out, "%s --set %s=%s%s", planner->request->command, planner_keys[planner->request->vary],
             text_number(number, probe->value), planner_is_whole(planner) ? "" : "/s");
    planner_add_selection(planner, probe->point, out);
    text_add(out, " --only replication=%" PRIu64, probe->replication);
}

static void summarize(const struct planner *planner, const struct run_spec *spec, const struct run_result *result,
                      struct probe_outcome *outcome) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    CHECK(count <= PLANNER_METRICS_MAX);
    outcome->end = result->status == RUN_OK              ? PROBE_OK
                   : result->status == RUN_TOO_MANY_LIVE ? PROBE_SATURATED
                                                         : PROBE_REFUSED;
    outcome->broken = outcome->end == PROBE_OK &&
                      ((result->audit == RUN_AUDIT_BROKEN && result->audit_promised) || result->promise_broken);
    outcome->keeps_up = keeps_up(planner, spec, result);
    for (size_t i = 0; i < count; i++) {
        outcome->metrics[i] = metrics[i].get(result, metrics[i].argument);
    }
    outcome->toll = *result->toll;
}

/* The outcome, then the sentence of what was refused or broken. */
static void simulate(void *context, size_t job, struct text *out) {
    const struct planner *planner = context;
    const struct probe *probe = &planner->probes.items[planner->first_new + job];
    struct text replay = {0};
    struct point point;
    add_replay(planner, probe, &replay);
    experiment_point(planner->experiment, probe->point, &point);
    planner_put(planner->request->vary, probe->value, &point.spec);
    point.spec.replication = probe->replication;
    point.spec.replay = text_string(&replay);
    point.spec.asks_toll = true;
    point.spec.live_max = point.spec.system.terminals > 0 ? 0 : live_max(planner, &point.spec);
    point.spec.warmup_ns = pilot_warmup_ns(&point.spec);
    struct run_result result;
    struct probe_outcome outcome = {0};
    run_simulate(&point.spec, &result);
    summarize(planner, &point.spec, &result, &outcome);
    text_add_bytes(out, (const char *)&outcome, sizeof outcome);
    const struct text *sentence = outcome.end == PROBE_REFUSED              ? &result.message
                                  : outcome.broken && result.promise_broken ? &result.witness
                                                                            : &result.audit_message;
    text_add(out, "%s", outcome.broken || outcome.end == PROBE_REFUSED ? text_string(sentence) : "");
    run_result_free(&result);
    point_free(&point);
    text_free(&replay);
}

/* --- in the caller --- */

static void tell(struct planner *planner, const struct probe *probe, const char *sentence, size_t length) {
    if (++planner->messages > MESSAGES_MOST) {
        return;
    }
    struct text replay = {0};
    add_replay(planner, probe, &replay);
    progress_clear(&planner->progress);
    fprintf(stderr, "ccsim: %.*s\n  replay: %s\n", (int)length, sentence, text_string(&replay));
    text_free(&replay);
}

static bool done(void *context, size_t job, const char *answer, size_t length) {
    struct planner *planner = context;
    struct probe *probe = &planner->probes.items[planner->first_new + job];
    CHECK(length >= sizeof probe->outcome);
    memcpy(&probe->outcome, answer, sizeof probe->outcome);
    planner->broken = planner->broken || probe->outcome.broken;
    planner->refused = planner->refused || probe->outcome.end == PROBE_REFUSED;
    if (length > sizeof probe->outcome) {
        tell(planner, probe, answer + sizeof probe->outcome, length - sizeof probe->outcome);
    }
    planner->settled++;
    return true;
}

static void lost(void *context, size_t job, int wait_status) {
    struct planner *planner = context;
    struct probe *probe = &planner->probes.items[planner->first_new + job];
    (void)wait_status;
    static const char sentence[] = "a worker crashed; the other runs go on";
    probe->outcome.end = PROBE_LOST;
    planner->lost = true;
    tell(planner, probe, sentence, sizeof sentence - 1);
    planner->settled++;
}

static void tick(void *context) {
    struct planner *planner = context;
    progress_show(&planner->progress, planner->settled);
}

enum lab_exit planner_compute(struct planner *planner) {
    int workers = planner->request->workers > 0 ? planner->request->workers : workers_default();
    struct workers_plan plan = {.jobs = planner->probes.count - planner->first_new,
                                .workers = workers,
                                .context = planner,
                                .run = simulate,
                                .done = done,
                                .lost = lost,
                                .tick = tick};
    if (plan.jobs == 0) {
        return LAB_DONE;
    }
    planner->settled = 0;
    progress_start(&planner->progress, plan.jobs, planner->request->quiet);
    enum workers_end end = workers_run(&plan);
    int failure = errno;
    progress_clear(&planner->progress);
    planner->first_new = planner->probes.count;
    switch (end) {
    case WORKERS_DONE: return LAB_DONE;
    case WORKERS_INTERRUPTED:
    case WORKERS_STOPPED: break;
    case WORKERS_NO_PROCESS:
        fprintf(stderr, "ccsim: cannot start a worker process: %s\n", strerror(failure));
        return LAB_INCOMPLETE;
    }
    fprintf(stderr, "ccsim: interrupted; a plan has no answer before its end\n");
    return LAB_INTERRUPTED;
}
