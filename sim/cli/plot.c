/* plot.c - ccsim plot DIR: draws a results folder's figures again, from the files in it. */
#include "sim/lab/plot.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/cli/cli.h"

static const struct argp_option options[] = {{"format", 'f', "svg|png|pdf", 0, "what to draw (default: svg)", 0}, {0}};

struct plot_arguments {
    const char *folder, *format, *command;
};

static void take_format(struct plot_arguments *arguments, const char *text) {
    size_t count = 0;
    while (plot_formats[count] != NULL) {
        if (strcmp(plot_formats[count], text) == 0) {
            arguments->format = plot_formats[count];
            return;
        }
        count++;
    }
    char suggestion[64];
    cli_bad_usage(arguments->command, "--format: `%s' is none of svg, png, pdf%s", text,
                  text_suggestion(suggestion, sizeof suggestion, text, plot_formats, count));
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct plot_arguments *arguments = state->input;
    switch (key) {
    case 'f': take_format(arguments, text); break;
    case ARGP_KEY_ARG:
        if (arguments->folder != NULL) {
            cli_bad_usage(arguments->command, "one folder at a time: %s or %s", arguments->folder, text);
        }
        arguments->folder = text;
        break;
    case ARGP_KEY_NO_ARGS: cli_bad_usage(arguments->command, "no results folder given");
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "DIR",
    .doc =
        "Draws the figures that the experiment's config named, from summary.csv and manifest.json in DIR. Beside each figure "
        "stays the gnuplot script that drew it, for editing."};

int cli_plot(int argc, char **argv) {
    struct plot_arguments arguments = {.format = plot_formats[0], .command = argv[0]};
    cli_parse(&argp, argc, argv, &arguments);
    enum lab_exit drawn = plot_folder(arguments.folder, arguments.format, stdout);
    return drawn != LAB_DONE ? (int)drawn : (int)plot_completeness(arguments.folder);
}
