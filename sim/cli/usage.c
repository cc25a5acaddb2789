/* usage.c - the commands, and what all of them do with bad usage. */
#include "sim/cli/cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/lab/lab.h"

const struct cli_command cli_commands[] = {
    {"run", cli_run, "run an experiment: table, CSV files, figures"},
    {"merge", cli_merge, "join the shards of one experiment"},
    {"plot", cli_plot, "draw the figures of a results folder again"},
    {"plan", cli_plan, "capacity planning: how much is carried while an objective is met"},
    {"trace", cli_trace, "the timeline of one short run, and who waits for whom"},
    {"play", cli_play, "feed a written schedule to algorithms, step by step"},
    {"check", cli_check, "judge a written schedule: serializable, recoverable, anomalies, with reasons"},
    {"storm", cli_storm, "random small worlds through every algorithm and the checker"},
    {"list", cli_list, "algorithms, workloads, metrics, options, reasons: one line each"},
    {"help", cli_help, "the manual entry of a command, key, algorithm, workload or metric"},
};
const size_t cli_command_count = sizeof cli_commands / sizeof cli_commands[0];

_Noreturn void cli_bad_usage(const char *command, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s: ", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry `%s --help' for more information.\n", command);
    exit(LAB_USAGE);
}

int64_t cli_whole(const char *command, const char *option, const char *text, int64_t low, int64_t high) {
    int64_t value;
    if (!text_parse_integer(text, &value) || value < low || value > high) {
        cli_bad_usage(command, "%s: `%s' is not a whole number from %" PRId64 " to %" PRId64, option, text, low, high);
    }
    return value;
}

static bool is_end(const struct argp_option *option) {
    return option == NULL || (option->name == NULL && option->key == 0);
}

static bool is_option(const struct argp_option *option, const char *name, size_t length) {
    return option->name != NULL && strncmp(option->name, name, length) == 0; /* getopt accepts what is unambiguous */
}

/* The option that `name` (up to `=`) may mean, or NULL. */
static const struct argp_option *option_meant(const struct argp *argp, const char *name, size_t length) {
    for (const struct argp_option *o = argp->options; !is_end(o); o++) {
        if (is_option(o, name, length)) {
            return o;
        }
    }
    static const struct argp_option everywhere[] = {{.name = "help"}, {.name = "usage"}, {.name = "version"}};
    for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++) {
        if (is_option(&everywhere[i], name, length)) {
            return &everywhere[i];
        }
    }
    return NULL;
}

static _Noreturn void unknown_option(const struct argp *argp, const char *command, const char *name, size_t length) {
    enum { OPTIONS_MOST = 64 };
    const char *names[OPTIONS_MOST] = {"help", "version"};
    size_t count = 2;
    for (const struct argp_option *o = argp->options; !is_end(o); o++) {
        if (o->name != NULL) {
            CHECK(count < OPTIONS_MOST);
            names[count++] = o->name;
        }
    }
    char word[OPTIONS_MOST];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
    const char *nearest = text_nearest(word, names, count);
    cli_bad_usage(command, "there is no option `--%s'%s%s%s", word, nearest != NULL ? "; did you mean --" : "",
                  nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *input) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) == 0) {
            const char *name = argv[i] + 2;
            size_t length = strcspn(name, "=");
            const struct argp_option *option = option_meant(argp, name, length);
            if (option == NULL) {
                unknown_option(argp, argv[0], name, length);
            }
            i += option->arg != NULL && name[length] == '\0'; /* what follows is its argument */
        }
    }
    if (argp_parse(argp, argc, argv, 0, NULL, input) != 0) {
        exit(LAB_USAGE);
    }
}
