/* storm_world.c - see the header. Draws are made whether they are needed or not, so that one world's shape does not
 * depend on the algorithm; what does, comes last. */
#include "sim/lab/storm_world.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/storm_option.h"
#include "workloads/wild.h"

enum { ATTEMPTS_MAX = 200, ATTEMPTS_FEW = 20, TRIES_MAX = 1000, TEXTS = 8 };

/* ---- The system ---- */

static struct distribution draw_price(struct stream *stream, double share_of_zeros, int64_t most_us) {
    bool zero = storm_chance(stream, share_of_zeros);
    int64_t mean_ns = storm_between(stream, 1, most_us) * 1000;
    switch (stream_below(stream, 3)) {
    case 0: return distribution_constant(zero ? 0 : mean_ns);
    case 1: return zero ? distribution_constant(0) : distribution_exponential(mean_ns);
    default: return zero ? distribution_constant(0) : distribution_uniform(0, 2 * mean_ns);
    }
}

static void draw_system(struct run_spec *spec, struct stream *stream) {
    struct system_settings *system = &spec->system;
    options_default(&system_options, system);
    system->terminals = storm_between(stream, 1, 12);
    spec->transactions_max = (uint64_t)storm_between(stream, 5, 40);
    bool open = storm_chance(stream, 0.15);
    double rate = (double)storm_between(stream, 100, 5000);
    if (open) {
        spec->transactions_max *= (uint64_t)system->terminals;
        system->terminals = 0;
        system->arrival_rate.count = 1;
        system->arrival_rate.part[0].per_second = rate;
    }
    system->think_time = draw_price(stream, 0.6, 2000);
    system->start_within_ns = storm_chance(stream, 0.5) ? storm_between(stream, 0, 5000000) : 0;
    int64_t mpl = storm_between(stream, 1, 12), cpus = storm_between(stream, 1, 4), disks = storm_between(stream, 1, 4);
    system->mpl = storm_chance(stream, 0.3) ? mpl : OPTION_UNLIMITED;
    system->cpus = storm_chance(stream, 0.6) ? cpus : OPTION_UNLIMITED;
    system->disks = storm_chance(stream, 0.6) ? disks : OPTION_UNLIMITED;
    system->disk_queues = storm_chance(stream, 0.5) ? DISK_QUEUES_OWN : DISK_QUEUES_SHARED;
    system->io_miss = storm_chance(stream, 0.5) ? 1.0 : stream_unit(stream);
    int64_t devices = storm_between(stream, 1, 2);
    system->log_devices = storm_chance(stream, 0.6) ? devices : OPTION_UNLIMITED;
    system->log_group = storm_chance(stream, 0.5);
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
    cost->latch = storm_chance(stream, 0.3);
    cost->io_access = draw_price(stream, 0.6, 1000);
    cost->log_force = draw_price(stream, 0.5, 1000);
    cost->round_trip = draw_price(stream, 0.5, 500);
    struct distribution io_write = draw_price(stream, 0.0, 1000);
    cost->io_write = storm_chance(stream, 0.1) ? io_write : distribution_constant(0);
}

static bool has_option(const struct cc_ops *algorithm, const char *name) {
    return algorithm->options != NULL && option_find(algorithm->options, name) != NULL;
}

/* Without any delay two that refuse each other again and again would do so for ever: only algorithms that wait do
 * without. Gap locks never wait, so an insert may starve where new scans come all the time: after very many attempts
 * all programs give up. The programs of other workloads are long, many of their worlds one single conflict: they give
 * up early, or such worlds would eat up all the time. */
static void draw_restart(struct run_spec *spec, struct stream *stream) {
    struct restart_settings *restart = &spec->restart;
    options_default(&restart_options, restart);
    bool needs_delay =
        (spec->algorithm->flags & CC_RESTART_ADAPTIVE) != 0 || has_option(spec->algorithm, "lock_timeout");
    bool zero = storm_chance(stream, 0.4), adaptive = storm_chance(stream, 0.3);
    int64_t mean_us = storm_between(stream, 100, 3000), attempts = storm_between(stream, 1, 5);
    restart->delay =
        (struct option_call){.choice = RESTART_DISTRIBUTION, .distribution = distribution_exponential(mean_us * 1000)};
    if (zero && !needs_delay) {
        restart->delay.distribution = distribution_constant(0);
    } else if (adaptive && !needs_delay) {
        restart->delay.choice = RESTART_ADAPTIVE;
    }
    restart->max_attempts = storm_chance(stream, 0.2)          ? attempts
                            : spec->workload == &workload_wild ? ATTEMPTS_MAX
                                                               : ATTEMPTS_FEW;
    restart->keeps_slot = storm_chance(stream, 0.5);
}

/* ---- The workload ---- */

static void draw_wild(struct wild_options *o, struct stream *stream) {
    o->rows = storm_between(stream, 2, 12);
    o->first_key = (double)storm_between(stream, -5, 100);
    o->keys_before = storm_between(stream, 0, 3);
    o->keys_after =
        storm_chance(stream, 0.3) ? 0 : storm_between(stream, 0, STORM_WILD_KEYS - o->keys_before - o->rows);
    o->steps_max = storm_between(stream, 1, WILD_STEPS_MAX);
    for (int i = 0; i < WILD_ACTIONS; i++) {
        o->weights[i] = storm_chance(stream, 0.35) ? 0 : storm_between(stream, 0, 9);
    }
    o->weights[WILD_SELECT_KEY] += 1;
    o->weights[WILD_UPDATE_KEY] += 1;
    double *const shares[] = {&o->locking, &o->impatient, &o->conditional, &o->limited,
                              &o->blind,   &o->last_seen, &o->rollback,    &o->hot};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        bool none = storm_chance(stream, 0.3);
        double share = stream_unit(stream);
        *shares[i] = none ? 0 : share;
    }
    o->rollback *= 0.3;
    o->impatient *= 0.5;
    o->think = draw_price(stream, 0.3, 1000);
}

static void set_drawn(const struct option *option, struct stream *stream, void *values) {
    struct text value = {0}, error = {0};
    if (storm_option_draw(option, stream, &value)) {
        CHECK_MSG(option_parse(option, text_string(&value), values, &error), "%s = %s: %s", option->name,
                  text_string(&value), text_string(&error));
    }
    text_free(&value);
    text_free(&error);
}

/* Whatever the table offers, until it makes sense together. False if that was not to be. */
static bool draw_any(const struct run_spec *spec, struct stream *stream, void *values) {
    const struct workload_ops *workload = spec->workload;
    const struct option_table *table = workload->options;
    bool must_plan = (spec->algorithm->flags & CC_NEEDS_PLAN) != 0;
    bool good = false;
    for (int tries = 0; !good && tries < TRIES_MAX; tries++) {
        struct text error = {0};
        memset(values, 0, table->size);
        options_default(table, values);
        for (size_t i = 0; i < table->count; i++) {
            set_drawn(&table->options[i], stream, values);
        }
        good = workload->check == NULL || workload->check(values, &error);
        good = good && (!must_plan || workload_plans(workload, values));
        text_free(&error);
    }
    return good;
}

/* Half of the worlds run `wild`; the other workloads share the rest. */
static const struct workload_ops *draw_workload(const struct storm_subject *subject) {
    struct stream stream;
    struct stream_key key = {.seed = subject->seed, .replication = subject->number, .purpose = STREAM_TEST, .owner = 1};
    stream_open(&stream, &key);
    bool wild = storm_chance(&stream, 0.5);
    uint64_t at = stream_below(&stream, workload_registry_count);
    return subject->workload != NULL ? subject->workload : wild ? &workload_wild : workload_registry[at];
}

static void draw_programs(struct storm_world *world, struct stream *stream) {
    struct run_spec *spec = &world->spec;
    world->workload_options = mem_new(1, spec->workload->options->size);
    if (spec->workload != &workload_wild && !draw_any(spec, stream, world->workload_options)) {
        mem_free(world->workload_options);
        spec->workload = &workload_wild;
        world->workload_options = mem_new(1, spec->workload->options->size);
    }
    if (spec->workload == &workload_wild) {
        draw_wild(world->workload_options, stream);
    }
    spec->workload_options = world->workload_options;
}

/* ---- The algorithm's options ---- */

/* What they may be set to: where chance knows too little. `kept`: what is promised depends on it. */
static const struct {
    const char *name, *texts[TEXTS];
    bool kept;
} known[] = {
    {"detect",
     {"wait", "wait", "wait", "period(5ms)", "period(20ms)", "after(1ms)", "after(7ms)", "after(1us)"},
     false},
    {"victim",
     {"youngest", "oldest", "requester", "fewest_locks", "fewest_writes", "least_work", "least_remaining", "random"},
     false},
    {"spare_after", {"never", "never", "never", "never", "1", "2", "3", "3"}, false},
    {"check", {"start", "version", "start", "version", "start", "version", "start", "version"}, false},
    {"lock_timeout", {"1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "50ms", "3ms"}, false},
    {"token",
     {"version", "version", "version", "timestamp(1s)", "timestamp(1ms)", "timestamp(5ms)", "value", "value"},
     false},
    {"versions", {"undo", "undo", "undo", "undo", "heap", "heap", "heap", "heap"}, false},
    /* never off: where each restart leaves debris and each version passed costs, there may be no end */
    {"vacuum",
     {"every(1s)", "every(100ms)", "every(1ms)", "every(2ms)", "every(7ms)", "every(50us)", "every(20ms)",
      "every(30s)"},
     false},
    {"phantoms", {NULL}, true},
    {"granularity", {"row", "row", "row", "page", "page", "table", "database", "auto"}, false},
    {"escalation", {"0", "1", "2", "3", "4", "6", "10", "5000"}, false},
    {"escalation_retry", {"1", "1", "2", "2", "3", "5", "8", "1250"}, false},
};
enum { KNOWN = sizeof known / sizeof known[0] };

/* Is there a word NAME=... ? */
static bool is_set(const char *settings, const char *name) {
    size_t length = strlen(name);
    for (const char *at = settings; at != NULL && *at != '\0'; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            return true;
        }
    }
    return false;
}

static bool is_known(const char *name) {
    for (size_t i = 0; i < KNOWN; i++) {
        if (strcmp(name, known[i].name) == 0) {
            return true;
        }
    }
    return false;
}

static void set_known(const struct option *option, const char *value, void *values) {
    struct text error = {0};
    CHECK_MSG(option_parse(option, value, values, &error), "%s", text_string(&error));
    text_free(&error);
}

static bool has_choice(const struct option *option, const char *name) {
    const char *const *choice = option->choices;
    while (*choice != NULL && strcmp(*choice, name) != 0) {
        choice++;
    }
    return *choice != NULL;
}

static void draw_algorithm(struct storm_world *world, struct stream *stream, const char *settings) {
    const struct option_table *table = world->spec.algorithm->options;
    if (table == NULL) {
        return;
    }
    void *values = world->algorithm_options = mem_new(1, table->size);
    options_default(table, values);
    for (size_t i = 0; i < KNOWN; i++) {
        const struct option *option = option_find(table, known[i].name);
        if (!known[i].kept) {
            uint64_t at = stream_below(stream, TEXTS);
            if (option != NULL) {
                set_known(option, known[i].texts[at], values);
            }
        }
    }
    const struct option *phantoms = option_find(table, "phantoms");
    if (phantoms != NULL && storm_chance(stream, 0.4) && has_choice(phantoms, "predicate")) {
        set_known(phantoms, "predicate", values);
    }
    for (size_t i = 0; i < table->count; i++) {
        if (!is_known(table->options[i].name) && !is_set(settings, table->options[i].name)) {
            set_drawn(&table->options[i], stream, values);
        }
    }
    struct text error = {0};
    CHECK_MSG(storm_set(table, settings, values, NULL, &error), "%s", text_string(&error));
    text_free(&error);
    world->spec.algorithm_options = values;
}

/* One world in three that can mixes levels. */
static void draw_levels(struct storm_world *world, const struct storm_subject *subject) {
    struct stream stream;
    struct stream_key key = {.seed = subject->seed, .replication = subject->number, .purpose = STREAM_TEST, .owner = 2};
    const struct cc_ops *algorithm = subject->algorithm;
    unsigned others = algorithm->levels & ~(1u << algorithm->level);
    stream_open(&stream, &key);
    if (world->spec.workload != &workload_wild || others == 0 || !storm_chance(&stream, 0.33)) {
        return;
    }
    struct wild_options *options = world->workload_options;
    do {
        options->level = (int)storm_between(&stream, 0, LEVEL_COUNT - 1);
    } while ((others & 1u << options->level) == 0);
    options->other_level = stream_unit(&stream);
}

bool storm_set(const struct option_table *table, const char *settings, void *values, size_t *unknown,
               struct text *error) {
    char *copy = mem_string(settings != NULL ? settings : ""), *rest = NULL;
    bool good = true;
    for (char *word = strtok_r(copy, " ", &rest); good && word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (value == NULL) {
            text_add(error, "`%s' has no `='", word);
            good = false;
            break;
        }
        *value = '\0';
        const struct option *option = table != NULL ? option_find(table, word) : NULL;
        if (option != NULL) {
            good = option_parse(option, value + 1, values, error);
        } else if (unknown != NULL) {
            ++*unknown;
        }
    }
    mem_free(copy);
    return good;
}

/* ---- All together ---- */

void storm_world_draw(struct storm_world *world, const struct storm_subject *subject) {
    *world = (struct storm_world){0};
    struct run_spec *spec = &world->spec;
    struct stream stream;
    struct stream_key key = {.seed = subject->seed, .replication = subject->number - 1, .purpose = STREAM_TEST};
    CHECK(subject->number >= 1);
    stream_open(&stream, &key);
    spec->algorithm = subject->algorithm;
    spec->workload = draw_workload(subject);
    spec->seed = subject->seed;
    spec->replication = subject->number;
    spec->duration_ns = INT64_C(100000) * 1000000000; /* long after the last event */
    draw_programs(world, &stream);
    draw_system(spec, &stream);
    spec->system.rows_per_page = INT64_C(1) << random_mix(subject->seed ^ (uint64_t)subject->number) % 7;
    draw_cost(spec, &stream);
    draw_restart(spec, &stream);
    draw_algorithm(world, &stream, subject->settings);
    draw_levels(world, subject);
}

void storm_world_free(struct storm_world *world) {
    mem_free(world->algorithm_options);
    mem_free(world->workload_options);
}

void storm_world_tell(const struct storm_world *world, struct text *out) {
    const struct run_spec *spec = &world->spec;
    text_add(out, "%s on %s, %llu transactions%s;", spec->algorithm->name, spec->workload->name,
             (unsigned long long)spec->transactions_max, spec->system.terminals > 0 ? " a terminal" : "");
    storm_option_tell(&system_options, &spec->system, "system", out);
    storm_option_tell(&cost_options, &spec->cost, "cost", out);
    storm_option_tell(&restart_options, &spec->restart, "restart", out);
    storm_option_tell(spec->workload->options, spec->workload_options, "workload", out);
    storm_option_tell(spec->algorithm->options, spec->algorithm_options, "algorithm", out);
}
