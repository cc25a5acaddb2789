/* storm.c - ccsim storm: random small worlds through every algorithm and the checker. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/base/memory.h"
#include "sim/cli/cli.h"
#include "sim/lab/lab.h"
#include "sim/lab/storm.h"
#include "sim/lab/storm_world.h"

enum { KEY_SECONDS = 256, KEY_SEED, KEY_WORLD, KEY_WORLDS, KEY_SET, WORKERS_MOST = 1024, SEED_DIGITS = 1000000 };
#define SECONDS_USUAL 10

struct arguments {
    const char *command;
    VECTOR(const struct cc_ops *) algorithms;
    struct text settings;
    bool has_seed;
    int64_t seed, world, worlds, workers;
    double seconds; /* 0: not given */
};

static int64_t whole(const struct arguments *arguments, const char *what, const char *text, int64_t least,
                     int64_t most) {
    int64_t value;
    if (!text_parse_integer(text, &value) || value < least || value > most) {
        cli_bad_usage(arguments->command, "%s: `%s' is not a whole number of %" PRId64 " .. %" PRId64, what, text,
                      least, most);
    }
    return value;
}

/* Plain seconds, or a duration with its unit. */
static double duration(const struct arguments *arguments, const char *text) {
    double seconds = 0;
    int64_t ns = 0;
    if (text_parse_duration(text, &ns)) {
        seconds = (double)ns / 1e9;
    } else if (!text_parse_number(text, &seconds) || seconds > 1e9) {
        seconds = 0;
    }
    if (!(seconds > 0)) {
        cli_bad_usage(arguments->command, "--seconds: `%s' is no time to storm", text);
    }
    return seconds;
}

static void take_algorithm(struct arguments *arguments, const char *name) {
    const struct cc_ops *algorithm = cc_find(name);
    if (algorithm == NULL) {
        const char **names = mem_new(cc_registry_count, sizeof *names);
        char suggestion[64];
        for (size_t i = 0; i < cc_registry_count; i++) {
            names[i] = cc_registry[i]->name;
        }
        text_suggestion(suggestion, sizeof suggestion, name, names, cc_registry_count);
        mem_free(names);
        cli_bad_usage(arguments->command, "there is no algorithm `%s'%s", name, suggestion);
    }
    for (size_t i = 0; i < arguments->algorithms.count; i++) {
        if (arguments->algorithms.items[i] == algorithm) {
            return;
        }
    }
    vector_push(&arguments->algorithms, algorithm);
}

static void take_algorithms(struct arguments *arguments, const char *list) {
    char *copy = mem_string(list), *rest = copy, *word;
    while ((word = strsep(&rest, ", ")) != NULL) {
        if (word[0] != '\0') {
            take_algorithm(arguments, word);
        }
    }
    mem_free(copy);
}

static void take_setting(struct arguments *arguments, const char *setting) {
    if (strchr(setting, '=') == NULL || strpbrk(setting, " \t\n") != NULL) {
        cli_bad_usage(arguments->command, "--set: `%s' is not KEY=VALUE, without blanks", setting);
    }
    text_add(&arguments->settings, "%s%s", arguments->settings.length > 0 ? " " : "", setting);
}

static error_t take(int key, char *text, struct argp_state *state) {
    struct arguments *arguments = state->input;
    switch (key) {
    case 'a': take_algorithms(arguments, text); return 0;
    case 'j': arguments->workers = whole(arguments, "--jobs", text, 1, WORKERS_MOST); return 0;
    case KEY_SECONDS: arguments->seconds = duration(arguments, text); return 0;
    case KEY_SEED:
        arguments->seed = whole(arguments, "--seed", text, 0, INT64_MAX);
        arguments->has_seed = true;
        return 0;
    case KEY_WORLD: arguments->world = whole(arguments, "--world", text, 1, INT64_MAX / 2); return 0;
    case KEY_WORLDS: arguments->worlds = whole(arguments, "--worlds", text, 1, 1000000000); return 0;
    case KEY_SET: take_setting(arguments, text); return 0;
    case ARGP_KEY_ARG: cli_bad_usage(arguments->command, "`%s' is one argument too many", text);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option storm_options[] = {
    {"seconds", KEY_SECONDS, "N", 0, "for so long (default: 10, or as long as --worlds takes)", 0},
    {"worlds", KEY_WORLDS, "N", 0, "so many worlds", 0},
    {"seed", KEY_SEED, "N", 0, "which worlds; without it others every time", 0},
    {"world", KEY_WORLD, "N", 0, "only the N-th world of the seed, and what it is", 0},
    {"algorithm", 'a', "NAME,...", 0, "these algorithms (default: all)", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "an option of the algorithms that have it, in every world", 0},
    {"jobs", 'j', "N", 0, "worker processes (default: one per processor)", 0},
    {0},
};
static const struct argp parser = {
    .options = storm_options,
    .parser = take,
    .args_doc = "",
    .doc =
        "Puts every algorithm through random small worlds: terminals, CPUs, disks, log, admission, prices, restarts, the "
        "algorithm's options, the workload and its options, all drawn. Every run is certified and audited, has to come to its "
        "end and to leave nothing behind; one in eight is run again and has to be the same."
        "\v"
        "A violation is reported on standard error with the command that replays that world alone; then the exit code is 1. The "
        "algorithm none, which grants everything, breaks what it promises in almost every world: it is a violation if it is not "
        "caught in any."};

/* Every setting must mean something to some algorithm, and its value must be one. */
static void check_settings(const struct arguments *arguments) {
    size_t words = 0, fewest_unknown = SIZE_MAX;
    for (const char *at = text_string(&arguments->settings); *at != '\0'; at++) {
        words += *at == '=';
    }
    for (size_t i = 0; words > 0 && i < arguments->algorithms.count; i++) {
        const struct option_table *table = arguments->algorithms.items[i]->options;
        void *values = mem_new(1, table != NULL ? table->size : 1);
        struct text error = {0};
        size_t unknown = 0;
        if (!storm_set(table, text_string(&arguments->settings), values, &unknown, &error)) {
            cli_bad_usage(arguments->command, "--set: %s", text_string(&error));
        }
        fewest_unknown = unknown < fewest_unknown ? unknown : fewest_unknown;
        mem_free(values);
    }
    if (words > 0 && fewest_unknown > 0) {
        cli_bad_usage(arguments->command, "--set: no algorithm here has all of `%s'",
                      text_string(&arguments->settings));
    }
}

static double seconds_of(const struct arguments *arguments) {
    bool bounded = arguments->world > 0 || arguments->worlds > 0;
    return arguments->seconds > 0 ? arguments->seconds : bounded ? (double)INFINITY : SECONDS_USUAL;
}

int cli_storm(int argc, char **argv) {
    struct arguments arguments = {.command = argv[0]};
    cli_parse(&parser, argc, argv, &arguments);
    if (arguments.world > 0 && !arguments.has_seed) {
        cli_bad_usage(arguments.command, "--world needs --seed: which storm's world?");
    }
    bool all = arguments.algorithms.count == 0;
    for (size_t i = 0; all && i < cc_registry_count; i++) {
        vector_push(&arguments.algorithms, cc_registry[i]);
    }
    check_settings(&arguments);
    struct storm_request request = {.algorithms = arguments.algorithms.items,
                                    .algorithm_count = arguments.algorithms.count,
                                    .settings = text_string(&arguments.settings),
                                    .seed = arguments.has_seed ? (uint64_t)arguments.seed
                                                               : (uint64_t)time(NULL) % SEED_DIGITS,
                                    .world = (uint64_t)arguments.world,
                                    .worlds_most = (uint64_t)arguments.worlds,
                                    .seconds = seconds_of(&arguments),
                                    .workers = (int)arguments.workers};
    enum lab_exit end = storm_run(&request);
    vector_free(&arguments.algorithms);
    text_free(&arguments.settings);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "ccsim storm: cannot write: %s\n", strerror(errno));
        return LAB_INCOMPLETE;
    }
    return (int)end;
}
