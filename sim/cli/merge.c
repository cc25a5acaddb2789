/* merge.c - ccsim merge DIR...: joins the shards of one experiment. */
#include <string.h>

#include "sim/base/memory.h"
#include "sim/cli/cli.h"
#include "sim/lab/lab.h"

enum { KEY_NO_PLOT = 256 };

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0,
     "write the result files to DIR (default: the only DIR given, or results/ and the name of the config)", 0},
    {"quiet", 'q', NULL, 0, "no table", 0},
    {"no-plot", KEY_NO_PLOT, NULL, 0, "draw no figures", 0},
    {0}};

struct merge_arguments {
    VECTOR(const char *) folders;
    const char *folder, *command;
    bool quiet, no_plot;
};

static error_t parse(int key, char *text, struct argp_state *state) {
    struct merge_arguments *arguments = state->input;
    switch (key) {
    case 'o': arguments->folder = cli_named(arguments->command, "-o: the folder's", text); break;
    case 'q': arguments->quiet = true; break;
    case KEY_NO_PLOT: arguments->no_plot = true; break;
    case ARGP_KEY_ARG: vector_push(&arguments->folders, text); break;
    case ARGP_KEY_NO_ARGS: cli_bad_usage(arguments->command, "no folder given");
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "DIR...",
    .doc =
        "Joins the shards of one experiment, computed by `ccsim run --shard K/N', from the part files in the folders: checks "
        "that they are of the same plan and that no run is missing, then writes what `ccsim run' would have written. If a "
        "run is missing, says which shard to run again, and exits with 3."};

int cli_merge(int argc, char **argv) {
    struct merge_arguments arguments = {.command = argv[0]};
    cli_parse(&argp, argc, argv, &arguments);
    struct merge_request request = {.folders = arguments.folders.items,
                                    .folder_count = arguments.folders.count,
                                    .folder = arguments.folder,
                                    .quiet = arguments.quiet,
                                    .plot = !arguments.no_plot};
    enum lab_exit end = lab_merge(&request);
    vector_free(&arguments.folders);
    return (int)end;
}
