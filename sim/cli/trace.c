/* trace.c - ccsim trace CONFIG: the timeline of one short run, and who waits for whom at an instant of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/base/option_value.h"
#include "sim/cli/cli.h"
#include "sim/lab/experiment.h"
#include "sim/lab/lab.h"
#include "sim/lab/outfile.h"
#include "sim/lab/picture.h"
#include "sim/lab/pilot.h"
#include "sim/lab/timeline.h"

enum { KEY_FROM = 256, KEY_FOR, KEY_AT, KEY_NO_PLOT, SPANS_MOST = 200000 };

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "write the files to DIR (default: results/ and the name of the first config)", 0},
    {"set", CLI_SET, "KEY=VALUE", 0, "replace a value of the config, or an axis: --set system.terminals=6", 0},
    {"only", CLI_ONLY, "KEY=VALUE", 0, "pick the point, which must be the only one: --only algorithm=2pl", 0},
    {"from", KEY_FROM, "TIME", 0, "begin so long after the beginning of the run (default: the config's warm-up)", 0},
    {"for", KEY_FOR, "TIME", 0, "for so long (default: 100ms)", 0},
    {"at", KEY_AT, "TIME", 0,
     "the instant of the wait-for graph, since the beginning of the run (default: when the most transactions wait)", 0},
    {"no-plot", KEY_NO_PLOT, NULL, 0, "write trace.csv and the scripts, draw no pictures", 0},
    {0}};

struct trace_arguments {
    struct cli_config config;
    const char *command;
    int64_t from_ns, for_ns, at_ns; /* negative: not given */
    bool no_plot;
};

static int64_t duration(const struct trace_arguments *arguments, const char *option, const char *text) {
    struct text error = {0};
    int64_t value_ns;
    if (!option_value_duration(text, &value_ns, &error)) {
        cli_bad_usage(arguments->command, "%s: %s", option, text_string(&error));
    }
    text_free(&error);
    return value_ns;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct trace_arguments *arguments = state->input;
    switch (key) {
    case KEY_FROM: arguments->from_ns = duration(arguments, "--from", text); break;
    case KEY_FOR: arguments->for_ns = duration(arguments, "--for", text); break;
    case KEY_AT: arguments->at_ns = duration(arguments, "--at", text); break;
    case KEY_NO_PLOT: arguments->no_plot = true; break;
    default: return cli_take_config(&arguments->config, key, text);
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "CONFIG...",
    .doc =
        "Looks at a short stretch of one run: trace.csv says what every transaction did when, timeline.svg shows it, "
        "waits.svg shows who waits for whom at one instant; each as png too, and with the script that draws it."};

/* --- The run --- */

/* Once, and again if the instant of the graph is to be found first: the same run, so the same waits. */
static bool look(struct run_spec *spec, struct trace *trace, int64_t at_ns, struct text *error) {
    struct run_result result;
    for (int times = at_ns < 0 ? 2 : 1; times > 0; times--) {
        *trace = (struct trace){.at_ns = at_ns, .spans_max = SPANS_MOST};
        spec->trace = trace;
        run_simulate(spec, &result);
        bool good = result.status == RUN_OK;
        text_add(error, "%s", good ? "" : text_string(&result.message));
        run_result_free(&result);
        if (!good) {
            return false;
        }
        if (at_ns < 0) {
            at_ns = timeline_busiest_ns(trace);
            trace_free(trace);
        }
    }
    if (trace->full) {
        text_add(error, "more than %d spans of time: choose a shorter --for", SPANS_MOST);
    }
    return !trace->full;
}

/* --- The files --- */

static bool write_files(const struct trace *trace, const struct timeline_words *words, const char *folder) {
    struct text csv = {0}, script = {0}, graph = {0};
    timeline_csv(trace, &csv);
    timeline_script(trace, words, &script);
    timeline_graph(trace, words, &graph);
    bool created;
    bool good = outfile_make_folder(folder, &created);
    if (!good) {
        fprintf(stderr, "ccsim: %s: %s\n", folder, strerror(errno));
    }
    good = good && picture_write(folder, "trace.csv", &csv) && picture_write(folder, "timeline.gp", &script) &&
           picture_write(folder, "waits.dot", &graph);
    text_free(&csv);
    text_free(&script);
    text_free(&graph);
    return good;
}

static bool draw(const char *folder, const char *again) {
    static const char *const formats[] = {"svg", "png"};
    bool good = true;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        good = picture_draw(PICTURE_GNUPLOT, folder, "timeline", formats[i], again, stdout) && good;
        good = picture_draw(PICTURE_DOT, folder, "waits", formats[i], again, stdout) && good;
    }
    return good;
}

static void add_command(const struct trace_arguments *arguments, int argc, char **argv, struct text *out) {
    text_add(out, "%s", arguments->command);
    for (int i = 1; i < argc; i++) {
        text_add(out, " ");
        text_add_shell_word(out, argv[i]);
    }
}

/* --- The point --- */

static int trace_point(const struct experiment *experiment, const struct trace_arguments *arguments,
                       const char *again) {
    struct point point;
    struct text error = {0}, folder = {0};
    struct trace trace = {0};
    lab_folder(experiment, &(struct lab_request){.folder = arguments->config.folder}, &folder);
    experiment_point(experiment, 0, &point);
    point.spec.replication = 1;
    point.spec.replay = again;
    point.spec.certify = false;
    point.spec.series_ns = 0;
    point.spec.warmup_ns = arguments->from_ns >= 0 ? arguments->from_ns : pilot_warmup_ns(&point.spec);
    point.spec.duration_ns = arguments->for_ns;
    struct timeline_words words = {.title = experiment_facts(experiment)->title, .algorithm = point.algorithm};
    int end = LAB_DONE;
    if (arguments->at_ns >= 0 &&
        (arguments->at_ns < point.spec.warmup_ns || arguments->at_ns > point.spec.warmup_ns + point.spec.duration_ns)) {
        fprintf(stderr, "ccsim: --at is not between --from and the end, %.10g ms and %.10g ms\n",
                (double)point.spec.warmup_ns / 1e6, (double)(point.spec.warmup_ns + point.spec.duration_ns) / 1e6);
        end = LAB_USAGE;
    } else if (!look(&point.spec, &trace, arguments->at_ns, &error)) {
        fprintf(stderr, "ccsim: %s\n", text_string(&error));
        end = LAB_USAGE;
    } else if (!write_files(&trace, &words, text_string(&folder))) {
        end = LAB_INCOMPLETE;
    } else {
        printf("%s/trace.csv\n", text_string(&folder));
        end = arguments->no_plot || draw(text_string(&folder), again) ? LAB_DONE : LAB_INCOMPLETE;
    }
    trace_free(&trace);
    point_free(&point);
    text_free(&error);
    text_free(&folder);
    return end;
}

/* More points than one: says how to pick one, by the axes' keys. */
static int too_many(const struct experiment *experiment) {
    const struct experiment_facts *facts = experiment_facts(experiment);
    struct text select = {0};
    experiment_select(experiment, 0, &select);
    fprintf(stderr, "ccsim: a trace is of one run, and here are %zu points: pick one, for example%s\n", facts->points,
            text_string(&select));
    text_free(&select);
    return LAB_USAGE;
}

int cli_trace(int argc, char **argv) {
    struct trace_arguments arguments = {
        .config.command = argv[0], .command = argv[0], .from_ns = -1, .for_ns = 100000000, .at_ns = -1};
    struct text errors = {0}, again = {0};
    cli_parse(&argp, argc, argv, &arguments);
    if (arguments.for_ns == 0) {
        cli_bad_usage(arguments.command, "--for: 0 is no time to look at");
    }
    add_command(&arguments, argc, argv, &again);
    struct experiment_request request = cli_request(&arguments.config);
    struct experiment *experiment = experiment_load(&request, &errors);
    int end = LAB_USAGE;
    if (experiment == NULL) {
        fputs(text_string(&errors), stderr);
    } else if (experiment_facts(experiment)->points != 1) {
        end = too_many(experiment);
    } else {
        end = trace_point(experiment, &arguments, text_string(&again));
    }
    experiment_free(experiment);
    text_free(&errors);
    text_free(&again);
    cli_config_free(&arguments.config);
    return end;
}
