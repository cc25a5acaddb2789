/* run.c - ccsim run CONFIG...: reads the command line, lets the experiment be loaded and either shown or run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/cli/cli.h"
#include "sim/lab/experiment.h"
#include "sim/lab/lab.h"

enum { KEY_SHARD = 256, KEY_FRESH, KEY_DRY_RUN, KEY_NO_PLOT, KEY_HISTORY, WORKERS_MOST = 1024 };

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "write the result files to DIR (default: results/ and the name of the first config)", 0},
    {"jobs", 'j', "N", 0, "use N worker processes (default: one per processor)", 0},
    {"set", CLI_SET, "KEY=VALUE", 0, "replace a value of the config, or an axis: --set workload.hot_rows=4", 0},
    {"seed", CLI_SEED, "N", 0, "replace the experiment's seed", 0},
    {"only", CLI_ONLY, "KEY=VALUE", 0,
     "keep only the points that match: --only algorithm=2pl; --only replication=3 computes "
     "that replication alone",
     0},
    {"shard", KEY_SHARD, "K/N|auto", 0,
     "compute the K-th of N parts of the experiment, for `ccsim merge'; auto: as the launcher says (Slurm, mpirun, Kubernetes)",
     0},
    {"fresh", KEY_FRESH, NULL, 0, "compute again what is known from earlier", 0},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "show what would be run: points, axes and the effective config", 0},
    {"quiet", 'q', NULL, 0, "neither progress nor table", 0},
    {"no-plot", KEY_NO_PLOT, NULL, 0, "draw no figures", 0},
    {"history", KEY_HISTORY, "FILE", 0, "write the history of the run, which must be the only one, to FILE", 0},
    {0}};

struct run_arguments {
    struct cli_config config;
    const char *command, *history;
    int64_t workers, replication;
    struct shard shard;
    bool dry_run, fresh, quiet, no_plot;
};

/* The replication is no axis of the config: it is picked here. */
static void take_only(struct run_arguments *arguments, char *text) {
    static const char replication[] = "replication=";
    if (strncmp(text, replication, sizeof replication - 1) == 0) {
        arguments->replication =
            cli_whole(arguments->command, "--only replication", text + sizeof replication - 1, 1, INT64_MAX);
    } else {
        cli_take_config(&arguments->config, CLI_ONLY, text);
    }
}

static void take_shard(struct run_arguments *arguments, const char *text) {
    struct text source = {0}, error = {0};
    bool automatic = strcmp(text, "auto") == 0;
    if (automatic ? !shard_from_environment(&arguments->shard, &source, &error)
                  : !shard_parse(text, &arguments->shard, &error)) {
        cli_bad_usage(arguments->command, automatic ? "%s" : "--shard: %s", text_string(&error));
    }
    if (automatic) {
        fprintf(stderr, "ccsim: shard %" PRIu32 " of %" PRIu32 ", by %s\n", arguments->shard.number,
                arguments->shard.count, text_string(&source));
    }
    text_free(&source);
    text_free(&error);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct run_arguments *arguments = state->input;
    switch (key) {
    case 'j': arguments->workers = cli_whole(arguments->command, "-j", text, 1, WORKERS_MOST); break;
    case 'q': arguments->quiet = true; break;
    case CLI_ONLY: take_only(arguments, text); break;
    case KEY_DRY_RUN: arguments->dry_run = true; break;
    case KEY_NO_PLOT: arguments->no_plot = true; break;
    case KEY_FRESH: arguments->fresh = true; break;
    case KEY_SHARD: take_shard(arguments, text); break;
    case KEY_HISTORY: arguments->history = cli_named(arguments->command, "--history: the file's", text); break;
    default: return cli_take_config(&arguments->config, key, text);
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "CONFIG...",
    .doc =
        "Runs the experiment that the configs describe (later ones add to and replace what earlier ones say; - is standard "
        "input): a table on standard output; runs.csv, summary.csv, manifest.json and the figures in the results folder."};

static void add_selection(const struct run_arguments *arguments, struct text *out) {
    for (size_t i = 0; i < arguments->config.onlys.count; i++) {
        text_add(out, " --only ");
        text_add_shell_word(out, arguments->config.onlys.items[i]);
    }
}

static void show_plan(const struct experiment *experiment, const struct lab_request *request) {
    const struct experiment_facts *facts = experiment_facts(experiment);
    bool is_one = request->only_replication > 0;
    size_t replications = is_one ? 1 : (size_t)facts->replications;
    size_t most = is_one ? 1 : (size_t)facts->replications_most;
    struct text config = {0}, folder = {0};
    lab_folder(experiment, request, &folder);
    printf("; %s\n; %zu points, %zu replications: %zu runs", facts->title, facts->points, replications,
           facts->points * replications);
    if (most > replications) {
        printf(" and up to %zu more", facts->points * (most - replications));
    }
    printf(", into %s\n; axes: algorithm", text_string(&folder));
    for (size_t i = 0; i < facts->axes; i++) {
        printf(", %s", experiment_axis(experiment, i));
    }
    experiment_echo(experiment, &config);
    printf("\n\n%s", text_string(&config));
    text_free(&config);
    text_free(&folder);
}

static int run_or_show(const struct experiment *experiment, const struct run_arguments *arguments) {
    int64_t replications = experiment_facts(experiment)->replications_most;
    if (arguments->replication > replications) {
        fprintf(stderr, "ccsim: --only replication=%" PRId64 ": there are %" PRId64 "\n", arguments->replication,
                replications);
        return LAB_USAGE;
    }
    if (arguments->shard.count > 0 && (arguments->replication > 0 || arguments->history != NULL)) {
        fprintf(stderr, "ccsim: --shard is a part of the whole experiment: it does not go with %s\n",
                arguments->history != NULL ? "--history" : "--only replication");
        return LAB_USAGE;
    }
    struct text command = {0}, selection = {0};
    cli_add_run(&arguments->config, &command);
    add_selection(arguments, &selection);
    struct lab_request request = {.folder = arguments->config.folder,
                                  .workers = (int)arguments->workers,
                                  .only_replication = arguments->replication,
                                  .shard = arguments->shard,
                                  .fresh = arguments->fresh,
                                  .quiet = arguments->quiet,
                                  .plot = !arguments->no_plot,
                                  .history = arguments->history,
                                  .command = text_string(&command),
                                  .selection = text_string(&selection)};
    int end = LAB_DONE;
    if (arguments->dry_run) {
        show_plan(experiment, &request);
        end = fflush(stdout) == 0 ? LAB_DONE : LAB_INCOMPLETE;
    } else {
        end = (int)lab_run(experiment, &request);
    }
    text_free(&command);
    text_free(&selection);
    return end;
}

int cli_run(int argc, char **argv) {
    struct run_arguments arguments = {.config.command = argv[0], .command = argv[0]};
    cli_parse(&argp, argc, argv, &arguments);
    struct experiment_request request = cli_request(&arguments.config);
    struct text errors = {0};
    struct experiment *experiment = experiment_load(&request, &errors);
    int end = LAB_USAGE;
    if (experiment == NULL) {
        fputs(text_string(&errors), stderr);
    } else {
        end = run_or_show(experiment, &arguments);
    }
    experiment_free(experiment);
    text_free(&errors);
    cli_config_free(&arguments.config);
    return end;
}
