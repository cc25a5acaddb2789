/* plan.c - ccsim plan CONFIG: reads the objectives and what may vary; the planner does the rest. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/cli/cli.h"
#include "sim/lab/planner.h"

enum { KEY_SLO = 256, KEY_MAX_ABORT_RATE, KEY_VARY, KEY_FROM, KEY_TO, KEY_JSON, WORKERS_MOST = 1024 };

static const struct argp_option options[] = {
    {"slo", KEY_SLO, "OBJECTIVE", 0,
     "what must hold, such as 'response_p99_ms < 50': a metric, < <= > or >=, and a value; several must hold together",
     0},
    {"max-abort-rate", KEY_MAX_ABORT_RATE, "SHARE", 0, "the same as --slo 'abort_rate <= SHARE'", 0},
    {"vary", KEY_VARY, "KEY", 0,
     "system.arrival_rate (the default), system.terminals or system.mpl, of which the highest value is looked for, or "
     "system.cpus, of which the lowest",
     0},
    {"from", KEY_FROM, "VALUE", 0, "the lowest value to be tried", 0},
    {"to", KEY_TO, "VALUE", 0, "the highest value to be tried", 0},
    {"jobs", 'j', "N", 0, "use N worker processes (default: one per processor)", 0},
    {"set", CLI_SET, "KEY=VALUE", 0, "replace a value of the config, or an axis", 0},
    {"seed", CLI_SEED, "N", 0, "replace the experiment's seed", 0},
    {"only", CLI_ONLY, "KEY=VALUE", 0, "keep only the points that match: --only algorithm=2pl", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON object", 0},
    {"quiet", 'q', NULL, 0, "no progress", 0},
    {0}};

struct plan_arguments {
    struct cli_config config;
    VECTOR(struct planner_objective) objectives;
    enum planner_variable vary;
    const char *from, *to, *command;
    int64_t workers;
    bool quiet, json;
};

static void take_objective(struct plan_arguments *arguments, const char *option, const char *words) {
    struct planner_objective objective;
    struct text error = {0};
    if (!planner_objective_parse(words, &objective, &error)) {
        cli_bad_usage(arguments->command, "%s: %s", option, text_string(&error));
    }
    vector_push(&arguments->objectives, objective);
}

static void take_abort_rate(struct plan_arguments *arguments, const char *share) {
    double value;
    if (!text_parse_share(share, &value)) {
        cli_bad_usage(arguments->command, "--max-abort-rate: `%s' is no share such as 5%%", share);
    }
    struct text words = {0};
    text_add(&words, "abort_rate <= %s", share);
    take_objective(arguments, "--max-abort-rate", text_string(&words));
    text_free(&words);
}

static void take_variable(struct plan_arguments *arguments, const char *key) {
    for (int i = 0; i < PLANNER_VARIABLES; i++) {
        if (strcmp(key, planner_keys[i]) == 0) {
            arguments->vary = (enum planner_variable)i;
            return;
        }
    }
    char suggestion[128];
    text_suggestion(suggestion, sizeof suggestion, key, planner_keys, PLANNER_VARIABLES);
    cli_bad_usage(arguments->command, "--vary: `%s' is none of %s, %s, %s, %s%s", key, planner_keys[0], planner_keys[1],
                  planner_keys[2], planner_keys[3], suggestion);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct plan_arguments *arguments = state->input;
    switch (key) {
    case 'j': arguments->workers = cli_whole(arguments->command, "-j", text, 1, WORKERS_MOST); break;
    case 'q': arguments->quiet = true; break;
    case KEY_SLO: take_objective(arguments, "--slo", text); break;
    case KEY_MAX_ABORT_RATE: take_abort_rate(arguments, text); break;
    case KEY_VARY: take_variable(arguments, text); break;
    case KEY_FROM: arguments->from = text; break;
    case KEY_TO: arguments->to = text; break;
    case KEY_JSON: arguments->json = true; break;
    default: return cli_take_config(&arguments->config, key, text);
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "CONFIG...",
    .doc =
        "Finds how much the system that the configs describe carries while it meets the objectives: the highest arrival "
        "rate, number of terminals or admission limit, or the lowest number of CPUs; compares the algorithms and other "
        "axes of its sweep. Says it in a sentence, then in a table: the interval, what limits it, the headroom, the "
        "bottlenecks in order. Every replication is searched by itself, with the same random numbers for all."};

/* A bound of the search: `50/s` or 50 for rates, else a whole number. 0: not given. */
static double bound(const struct plan_arguments *arguments, const char *option, const char *text) {
    double value;
    if (text == NULL) {
        return 0;
    }
    if (arguments->vary != PLANNER_ARRIVAL_RATE) {
        return (double)cli_whole(arguments->command, option, text, 1, 1000000);
    }
    if ((!text_parse_rate(text, &value) && !text_parse_number(text, &value)) || !(value > 0 && value <= 1e9)) {
        cli_bad_usage(arguments->command, "%s: `%s' is no rate such as 50/s", option, text);
    }
    return value;
}

static void check_arguments(const struct plan_arguments *arguments) {
    if (arguments->objectives.count == 0) {
        cli_bad_usage(arguments->command,
                      "what must hold? Say it with --slo, for example --slo 'response_p99_ms < 50'");
    }
    for (size_t i = 0; i < arguments->config.files.count; i++) {
        if (strcmp(arguments->config.files.items[i], "-") == 0) {
            cli_bad_usage(arguments->command, "a plan reads its configs more than once: standard input cannot be one");
        }
    }
}

static int plan(const struct plan_arguments *arguments) {
    struct experiment_request experiment = cli_request(&arguments->config);
    struct text command = {0};
    cli_add_run(&arguments->config, &command); /* what replays one of its runs, but for the value and the selection */
    struct planner_request request = {.experiment = &experiment,
                                      .vary = arguments->vary,
                                      .objectives = arguments->objectives.items,
                                      .objective_count = arguments->objectives.count,
                                      .from = bound(arguments, "--from", arguments->from),
                                      .to = bound(arguments, "--to", arguments->to),
                                      .workers = (int)arguments->workers,
                                      .quiet = arguments->quiet,
                                      .json = arguments->json,
                                      .command = text_string(&command)};
    enum lab_exit end = planner_run(&request);
    text_free(&command);
    return (int)end;
}

int cli_plan(int argc, char **argv) {
    struct plan_arguments arguments = {.config.command = argv[0], .command = argv[0], .vary = PLANNER_ARRIVAL_RATE};
    cli_parse(&argp, argc, argv, &arguments);
    check_arguments(&arguments);
    int end = plan(&arguments);
    for (size_t i = 0; i < arguments.objectives.count; i++) {
        planner_objective_free(&arguments.objectives.items[i]);
    }
    vector_free(&arguments.objectives);
    cli_config_free(&arguments.config);
    return end;
}
