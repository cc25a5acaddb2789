/* wild.c - random programs, and the random worlds they run in. */
#include "tests/support/wild.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "tests/support/watch.h"

enum { ACTIONS_MAX = 8, LIMIT_MAX = 4, VALUES = 4, ATTEMPTS_MAX = 200 };

/* weights[]: by what share of the steps is ... */
enum action_kind {
    ACTION_SELECT_KEY,
    ACTION_SELECT_RANGE,
    ACTION_UPDATE_KEY,
    ACTION_UPDATE_RANGE,
    ACTION_INSERT,
    ACTION_DELETE_KEY,
    ACTION_DELETE_RANGE,
    ACTION_SAVEPOINT,
    ACTION_ROLLBACK_TO,
    ACTION_THINK,
    ACTION_KINDS
};

struct action {
    struct step step;
    bool last_seen; /* a write of what the program read last, plus the operand */
};

struct wild_state {
    struct wild_options options;
    struct store *store;
    struct table *table;
};

struct wild_arguments {
    int count;
    bool rollback;
    struct action actions[ACTIONS_MAX];
};

struct wild_registers {
    int next;
    int64_t last_seen;
    struct oracle_attempt attempt;
};

static int64_t between(struct stream *stream, int64_t low, int64_t high) {
    return low + (int64_t)stream_below(stream, (uint64_t)(high - low + 1));
}

static bool chance(struct stream *stream, double probability) { return stream_unit(stream) < probability; }

/* ---- The workload ---- */

static void wild_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    struct wild_state *state = memory;
    state->options = *(const struct wild_options *)values;
    const struct wild_options *o = &state->options;
    state->store = store;
    state->table = store_add_table(store, "wild", o->dense_first, o->rows, 7, false);
    for (int64_t i = 0; i < o->rows; i++) {
        bool absent = chance(stream, 0.2);
        int64_t value = between(stream, 0, VALUES - 1);
        if (chance(stream, 0.5)) {
            store_set_initial(store, state->table, o->dense_first + i, value, absent);
        } else {
            absent = false;
            value = 7;
        }
        if (!absent) {
            oracle_set(o->oracle, o->dense_first + i, value);
        }
    }
}

static int64_t draw_key(const struct wild_options *o, struct stream *stream) {
    bool hot = chance(stream, o->hot);
    int64_t key = between(stream, o->first_key, o->first_key + o->keys - 1);
    return hot ? o->dense_first : key;
}

static void draw_condition(const struct wild_options *o, struct stream *stream, struct condition *condition) {
    bool wanted = chance(stream, o->conditional);
    struct condition drawn = {.operator=(enum condition_operator) between(stream, CONDITION_EQ, CONDITION_GE),
                              .of_id = chance(stream, 0.25),
                              .modulus = chance(stream, 0.5) ? between(stream, 2, 3) : 0,
                              .constant = between(stream, 0, VALUES)};
    if (wanted) {
        *condition = drawn;
    }
}

static void draw_place(const struct wild_options *o, struct stream *stream, struct step *step) {
    int64_t a = draw_key(o, stream), b = draw_key(o, stream), limit = between(stream, 1, LIMIT_MAX);
    bool limited = chance(stream, o->limited);
    if (!step->scan) {
        step->first = step->last = a;
        return;
    }
    step->first = a < b ? a : b;
    step->last = a < b ? b : a;
    step->limit = limited ? (int)limit : 0;
}

static void draw_statement(const struct wild_options *o, struct stream *stream, struct action *action) {
    struct step *step = &action->step;
    draw_place(o, stream, step);
    draw_condition(o, stream, &step->condition);
    enum step_locking locking = chance(stream, 0.5) ? LOCKING_SHARE : LOCKING_UPDATE;
    enum step_patience patience = chance(stream, 0.5) ? PATIENCE_NOWAIT : PATIENCE_SKIP_LOCKED;
    bool locks = chance(stream, o->locking), impatient = chance(stream, o->impatient), blind = chance(stream, o->blind);
    if (step->kind == STEP_SELECT) {
        step->locking = locks ? locking : LOCKING_NONE;
    } else {
        action->last_seen = chance(stream, o->last_seen) && step->kind == STEP_UPDATE;
        step->value = blind || action->last_seen || step->kind == STEP_INSERT ? VALUE_SET : VALUE_ADD;
        step->operand = between(stream, 1, VALUES);
    }
    if (impatient) {
        step->patience = patience;
    }
    if (step->kind == STEP_INSERT) {
        step->condition = (struct condition){0};
        step->patience = step->patience == PATIENCE_SKIP_LOCKED ? PATIENCE_BLOCK : step->patience;
    }
}

/* Which savepoints are set, as the walker sees it: the number of the first statement each undoes, 0 if it is not. */
struct savepoints {
    int statements;
    int marks[3];
};

static bool draw_rollback_to(struct savepoints *set, struct stream *stream, struct step *step) {
    int wanted = (int)between(stream, 0, 2);
    if (set->marks[wanted] == 0) {
        return false;
    }
    step->kind = STEP_ROLLBACK_TO;
    step->savepoint = wanted;
    for (int i = 0; i < 3; i++) {
        set->marks[i] = set->marks[i] > set->marks[wanted] ? 0 : set->marks[i];
    }
    return true;
}

static enum action_kind draw_kind(const struct wild_options *o, struct stream *stream) {
    uint64_t sum = 0;
    for (int i = 0; i < ACTION_KINDS; i++) {
        sum += o->weights[i];
    }
    uint64_t at = stream_below(stream, sum);
    int kind = 0;
    while (at >= o->weights[kind]) {
        at -= o->weights[kind++];
    }
    return (enum action_kind)kind;
}

static void draw_action(const struct wild_state *state, struct stream *stream, struct savepoints *set,
                        struct action *action) {
    static const enum step_kind kinds[] = {[ACTION_SELECT_KEY] = STEP_SELECT,       [ACTION_SELECT_RANGE] = STEP_SELECT,
                                           [ACTION_UPDATE_KEY] = STEP_UPDATE,       [ACTION_UPDATE_RANGE] = STEP_UPDATE,
                                           [ACTION_INSERT] = STEP_INSERT,           [ACTION_DELETE_KEY] = STEP_DELETE,
                                           [ACTION_DELETE_RANGE] = STEP_DELETE,     [ACTION_SAVEPOINT] = STEP_SAVEPOINT,
                                           [ACTION_ROLLBACK_TO] = STEP_ROLLBACK_TO, [ACTION_THINK] = STEP_THINK};
    enum action_kind kind = draw_kind(&state->options, stream);
    struct step *step = &action->step;
    *action = (struct action){.step = {.kind = kinds[kind], .table = state->table}};
    step->scan = kind == ACTION_SELECT_RANGE || kind == ACTION_UPDATE_RANGE || kind == ACTION_DELETE_RANGE;
    if (kind == ACTION_SAVEPOINT || (kind == ACTION_ROLLBACK_TO && !draw_rollback_to(set, stream, step))) {
        step->kind = STEP_SAVEPOINT;
        step->savepoint = (int)between(stream, 0, 2);
        set->marks[step->savepoint] = set->statements + 1;
    } else if (kind == ACTION_THINK) {
        step->think = &state->options.think;
    } else if (kind != ACTION_ROLLBACK_TO) {
        set->statements++;
        draw_statement(&state->options, stream, action);
    }
}

static void wild_draw(void *memory, const struct draw *draw, void *values) {
    const struct wild_state *state = memory;
    struct wild_arguments *a = values;
    struct savepoints set = {0};
    a->count = (int)between(draw->stream, 1, (int64_t)state->options.steps_max);
    a->rollback = chance(draw->stream, state->options.rollback);
    for (int i = 0; i < a->count; i++) {
        draw_action(state, draw->stream, &set, &a->actions[i]);
    }
}

static void wild_next(void *memory, const void *values, void *registers, const struct reply *reply, struct step *step) {
    const struct wild_state *state = memory;
    const struct wild_arguments *a = values;
    struct wild_registers *r = registers;
    if (r->next > 0) {
        oracle_answer(state->options.oracle, &r->attempt, reply);
        r->last_seen = reply->count > 0 ? reply->rows[0].value : r->last_seen;
    }
    if (r->next == a->count) {
        *step = (struct step){.kind = a->rollback ? STEP_ROLLBACK : STEP_COMMIT};
        return;
    }
    const struct action *action = &a->actions[r->next++];
    *step = action->step;
    step->operand += action->last_seen ? r->last_seen : 0;
    oracle_ask(state->options.oracle, &r->attempt, step);
}

static uint64_t wild_remaining(const void *memory, const void *values, const void *registers) {
    (void)memory;
    const struct wild_arguments *a = values;
    const struct wild_registers *r = registers;
    return (uint64_t)(a->count - r->next);
}

static void wild_committed(void *memory, const void *values, const void *registers) {
    (void)values;
    const struct wild_state *state = memory;
    const struct wild_registers *r = registers;
    oracle_commit(state->options.oracle, &r->attempt);
}

static void wild_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    const struct wild_state *state = memory;
    CHECK(store == state->store);
    oracle_compare(state->options.oracle, state->store, state->table);
    audit->verdict = AUDIT_NONE;
}

const struct workload_ops workload_wild = {
    .name = "wild",
    .summary = "random programs, for tests",
    .state_size = sizeof(struct wild_state),
    .arguments_size = sizeof(struct wild_arguments),
    .registers_size = sizeof(struct wild_registers),
    .load = wild_load,
    .draw = wild_draw,
    .next = wild_next,
    .remaining = wild_remaining,
    .committed = wild_committed,
    .audit = wild_audit,
};

/* ---- Worlds ---- */

static struct distribution draw_price(struct stream *stream, double share_of_zeros, int64_t most_us) {
    bool zero = chance(stream, share_of_zeros);
    int64_t mean_ns = between(stream, 1, most_us) * 1000;
    switch (stream_below(stream, 3)) {
    case 0: return distribution_constant(zero ? 0 : mean_ns);
    case 1: return zero ? distribution_constant(0) : distribution_exponential(mean_ns);
    default: return zero ? distribution_constant(0) : distribution_uniform(0, 2 * mean_ns);
    }
}

static void draw_system(struct run_spec *spec, struct stream *stream) {
    struct system_settings *system = &spec->system;
    options_default(&system_options, system);
    system->terminals = between(stream, 1, 12);
    spec->transactions_max = (uint64_t)between(stream, 5, 40);
    bool open = chance(stream, 0.15);
    double rate = (double)between(stream, 100, 5000);
    if (open) {
        spec->transactions_max *= (uint64_t)system->terminals;
        system->terminals = 0;
        system->arrival_rate.count = 1;
        system->arrival_rate.part[0].per_second = rate;
    }
    system->think_time = draw_price(stream, 0.6, 2000);
    system->start_within_ns = chance(stream, 0.5) ? between(stream, 0, 5000000) : 0;
    int64_t mpl = between(stream, 1, 12), cpus = between(stream, 1, 4), disks = between(stream, 1, 4);
    system->mpl = chance(stream, 0.3) ? mpl : OPTION_UNLIMITED;
    system->cpus = chance(stream, 0.6) ? cpus : OPTION_UNLIMITED;
    system->disks = chance(stream, 0.6) ? disks : OPTION_UNLIMITED;
    system->disk_queues = chance(stream, 0.5) ? DISK_QUEUES_OWN : DISK_QUEUES_SHARED;
    system->io_miss = chance(stream, 0.5) ? 1.0 : stream_unit(stream);
    int64_t devices = between(stream, 1, 2);
    system->log_devices = chance(stream, 0.6) ? devices : OPTION_UNLIMITED;
    system->log_group = chance(stream, 0.5);
}

static void draw_cost(struct run_spec *spec, struct stream *stream) {
    struct cost_settings *cost = &spec->cost;
    options_default(&cost_options, cost);
    cost->cpu_access = draw_price(stream, 0.3, 500);
    cost->cpu_write = draw_price(stream, 0.7, 200);
    cost->cpu_lock = draw_price(stream, 0.7, 100);
    cost->cpu_detect = draw_price(stream, 0.7, 5); /* periodic searches visit many */
    cost->cpu_validate = draw_price(stream, 0.7, 100);
    cost->cpu_hop = draw_price(stream, 0.7, 100);
    cost->cpu_abort = draw_price(stream, 0.7, 300);
    cost->latch = chance(stream, 0.3);
    cost->io_access = draw_price(stream, 0.6, 1000);
    cost->log_force = draw_price(stream, 0.5, 1000);
    cost->round_trip = draw_price(stream, 0.5, 500);
    struct distribution io_write = draw_price(stream, 0.0, 1000);
    cost->io_write = chance(stream, 0.1) ? io_write : distribution_constant(0);
}

/* Without any delay two that refuse each other again and again would do so for ever: only algorithms that wait do
 * without. Gap locks never wait, so an insert may starve where new scans come all the time: after very many attempts
 * all programs give up. */
static void draw_restart(struct run_spec *spec, struct stream *stream) {
    struct restart_settings *restart = &spec->restart;
    options_default(&restart_options, restart);
    bool needs_delay =
        (spec->algorithm->flags & CC_RESTART_ADAPTIVE) != 0 || strcmp(spec->algorithm->name, "2pl-timeout") == 0;
    bool zero = chance(stream, 0.4), adaptive = chance(stream, 0.3);
    int64_t mean_us = between(stream, 100, 3000), attempts = between(stream, 1, 5);
    restart->delay =
        (struct option_call){.choice = RESTART_DISTRIBUTION, .distribution = distribution_exponential(mean_us * 1000)};
    if (zero && !needs_delay) {
        restart->delay.distribution = distribution_constant(0);
    } else if (adaptive && !needs_delay) {
        restart->delay.choice = RESTART_ADAPTIVE;
    }
    restart->max_attempts = chance(stream, 0.2) ? attempts : ATTEMPTS_MAX;
    restart->keeps_slot = chance(stream, 0.5);
}

static void draw_programs(struct wild_options *o, struct stream *stream) {
    o->rows = between(stream, 2, 12);
    o->first_key = between(stream, -5, 100);
    o->dense_first = o->first_key + between(stream, 0, 3);
    o->keys = chance(stream, 0.3) ? o->dense_first - o->first_key + o->rows
                                  : between(stream, o->dense_first - o->first_key + o->rows, ORACLE_KEYS);
    o->steps_max = (uint64_t)between(stream, 1, ACTIONS_MAX);
    for (int i = 0; i < ACTION_KINDS; i++) {
        o->weights[i] = chance(stream, 0.35) ? 0 : stream_below(stream, 10);
    }
    o->weights[ACTION_SELECT_KEY] += 1;
    o->weights[ACTION_UPDATE_KEY] += 1;
    double *const shares[] = {&o->locking, &o->impatient, &o->conditional, &o->limited,
                              &o->blind,   &o->last_seen, &o->rollback,    &o->hot};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        bool none = chance(stream, 0.3);
        double share = stream_unit(stream);
        *shares[i] = none ? 0 : share;
    }
    o->rollback *= 0.3;
    o->impatient *= 0.5;
    o->think = draw_price(stream, 0.3, 1000);
}

/* What an algorithm's options may be set to at random; those it does not have are passed over. */
static const struct {
    const char *name, *texts[8];
} option_texts[] = {
    {"detect", {"wait", "wait", "wait", "period(5ms)", "period(20ms)", "after(1ms)", "after(7ms)", "after(0)"}},
    {"victim",
     {"youngest", "oldest", "requester", "fewest_locks", "fewest_writes", "least_work", "least_remaining", "random"}},
    {"spare_after", {"never", "never", "never", "never", "1", "2", "3", "3"}},
    {"check", {"start", "version", "start", "version", "start", "version", "start", "version"}},
    {"lock_timeout", {"1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "50ms", "3ms"}},
};

static void set_option(const struct cc_ops *algorithm, void *values, const char *name, const char *value) {
    const struct option *option = option_find(algorithm->options, name);
    struct text error = {0};
    if (option != NULL) {
        CHECK_MSG(option_parse(option, value, values, &error), "%s", text_string(&error));
    }
    text_free(&error);
}

void wild_set_options(const struct cc_ops *algorithm, void *values, size_t size, const char *settings) {
    if (algorithm->options == NULL) {
        return;
    }
    CHECK(algorithm->options->size <= size);
    memset(values, 0, size);
    options_default(algorithm->options, values);
    char copy[256];
    snprintf(copy, sizeof copy, "%s", settings != NULL ? settings : "");
    char *rest;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        CHECK(value != NULL);
        *value = '\0';
        CHECK_MSG(option_find(algorithm->options, word) != NULL, "%s has no option %s", algorithm->name, word);
        set_option(algorithm, values, word, value + 1);
    }
}

static void draw_options(struct wild_world *world, struct stream *stream, const char *settings) {
    const struct cc_ops *algorithm = world->spec.algorithm;
    wild_set_options(algorithm, world->algorithm_options, sizeof world->algorithm_options, settings);
    for (size_t i = 0; i < sizeof option_texts / sizeof option_texts[0]; i++) {
        uint64_t at = stream_below(stream, 8);
        if (algorithm->options != NULL && (settings == NULL || strstr(settings, option_texts[i].name) == NULL)) {
            set_option(algorithm, world->algorithm_options, option_texts[i].name, option_texts[i].texts[at]);
        }
    }
    world->spec.algorithm_options = world->algorithm_options;
}

/* Which truth the algorithm owes. */
static enum oracle_kind kind_of(const struct cc_ops *algorithm) {
    return algorithm->level == LEVEL_SER  ? ORACLE_COMMIT_ORDER
           : algorithm->level == LEVEL_SI ? ORACLE_SNAPSHOT
                                          : ORACLE_OFF;
}

void wild_world_draw(struct wild_world *world, const struct cc_ops *algorithm, uint64_t seed, const char *settings) {
    *world = (struct wild_world){.spec = {.algorithm = algorithm, .workload = &workload_wild, .seed = seed}};
    struct stream stream;
    struct stream_key key = {.seed = seed, .purpose = STREAM_TEST};
    stream_open(&stream, &key);
    struct run_spec *spec = &world->spec;
    spec->replication = 1;
    spec->duration_ns = INT64_C(100000) * 1000000000; /* long after the last event */
    draw_programs(&world->options, &stream);
    draw_system(spec, &stream);
    draw_cost(spec, &stream);
    draw_restart(spec, &stream);
    draw_options(world, &stream, settings);
    bool deferred = !distribution_is_zero(&spec->cost.io_write);
    world->options.kind =
        deferred ? ORACLE_OFF : kind_of(algorithm); /* `committed` comes after the commit point then */
    world->options.sees_blind = (algorithm->flags & CC_PRIVATE_WRITES) == 0;
    snprintf(world->replay, sizeof world->replay, "CCSIM_WORLD=%" PRIu64 " ccsim_tests -v wild (%s, %s)", seed,
             algorithm->name, settings != NULL ? settings : "random options");
    spec->replay = world->replay;
}

void wild_world_run(struct wild_world *world, struct run_result *result) {
    oracle_init(&world->oracle, world->options.kind, world->options.first_key);
    world->oracle.sees_blind = world->options.sees_blind;
    world->options.oracle = &world->oracle;
    world->spec.workload_options = &world->options;
    struct run_spec spec = world->spec;
    spec.algorithm = watch_algorithm(world->spec.algorithm, world->algorithm_options);
    run_simulate(&spec, result);
}

void wild_world_free(struct wild_world *world) { oracle_free(&world->oracle); }
