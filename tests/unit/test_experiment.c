/* test_experiment.c - configs as plans: which points there are, in which order, and what holds at each. The texts of
 * mistakes are the business of tests/cli/bad_input.bats. */
#include "sim/lab/experiment.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/exec/settings.h"
#include "tests/support/harness.h"
#include "workloads/workload.h"

/* --- helpers --- */

enum { ARGUMENTS_MAX = 8 };

/* The arguments behind the config: those with a leading `!` are --only, the others --set. NULL ends them. */
struct arguments {
    const char *sets[ARGUMENTS_MAX], *onlys[ARGUMENTS_MAX];
    size_t set_count, only_count;
};

static struct arguments sort_arguments(const char *const *list) {
    struct arguments arguments = {0};
    for (; *list != NULL; list++) {
        if (**list == '!') {
            arguments.onlys[arguments.only_count++] = *list + 1;
        } else {
            arguments.sets[arguments.set_count++] = *list;
        }
    }
    return arguments;
}

static const char *write_config(const char *name, const char *config) {
    static char path[2][4200];
    static int turn;
    turn = 1 - turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s.ini", test_directory(), name);
    FILE *file = fopen(path[turn], "w");
    assert_non_null(file);
    fputs(config, file);
    fclose(file);
    return path[turn];
}

static struct experiment *try_files(const char *const *files, size_t count, const char *const *list,
                                    struct text *errors) {
    struct arguments arguments = sort_arguments(list);
    struct experiment_request request = {.files = files,
                                         .file_count = count,
                                         .sets = arguments.sets,
                                         .set_count = arguments.set_count,
                                         .onlys = arguments.onlys,
                                         .only_count = arguments.only_count};
    return experiment_load(&request, errors);
}

static struct experiment *load_files(const char *const *files, size_t count, const char *const *list) {
    struct text errors = {0};
    struct experiment *experiment = try_files(files, count, list, &errors);
    if (experiment == NULL) {
        print_error("%s", text_string(&errors));
    }
    text_free(&errors);
    assert_non_null(experiment);
    return experiment;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__ NULL})
static struct experiment *load(const char *config, const char *const *list) {
    const char *path = write_config("test", config);
    return load_files(&path, 1, list);
}

/* All points: `algorithm|columns` between blanks. */
static const char *points_of(const struct experiment *experiment) {
    static struct text out;
    text_clear(&out);
    for (size_t i = 0; i < experiment_facts(experiment)->points; i++) {
        struct point point;
        experiment_point(experiment, i, &point);
        assert_int_equal(point.number, i);
        text_add(&out, "%s%s|%s", i == 0 ? "" : " ", point.algorithm, text_string(&point.columns));
        point_free(&point);
    }
    return text_string(&out);
}

static void assert_points(const char *config, const char *const *list, const char *expected) {
    struct experiment *experiment = load(config, list);
    assert_string_equal(points_of(experiment), expected);
    experiment_free(experiment);
}

static struct run_spec spec_of(const struct experiment *experiment, size_t number) {
    struct point point;
    experiment_point(experiment, number, &point);
    struct run_spec spec = point.spec;
    spec.algorithm_options = spec.workload_options = NULL; /* they go with the point */
    point_free(&point);
    return spec;
}

static int64_t count_option(const struct point *point, const char *name) {
    const struct option *option = option_find(point->spec.workload->options, name);
    assert_non_null(option);
    int64_t value;
    memcpy(&value, (const char *)point->workload_options + option->offset, sizeof value);
    return value;
}

static int choice_option(const struct point *point, const char *name) {
    const struct option *option = option_find(point->spec.algorithm->options, name);
    assert_non_null(option);
    int value;
    memcpy(&value, (const char *)point->algorithm_options + option->offset, sizeof value);
    return value;
}

#define BASE                          \
    "[experiment]\nalgorithm = 2pl\n" \
    "[system]\nterminals = 4\n"       \
    "[workload]\nname = hot_row\n"

/* --- values --- */

/* The interface's example, all values being the defaults: given or not, they are the same. */
static const char with_defaults[] =
    "[experiment]\ntitle = T\nalgorithm = 2pl\nseed = 1\nreplications = 5\nwarmup = 20s\nduration = 100s\ncertify = yes\n"
    "series = 0\n"
    "[system]\nterminals = 16\nthink_time = 0\nstart_within = 0\nmpl = unlimited\ncpus = unlimited\ndisks = unlimited\n"
    "rows_per_page = 64\ndisk_queues = own\nio_miss = 100%\nlog_devices = unlimited\nlog_group = no\n"
    "[cost]\ncpu_access = exp(1ms)\ncpu_write = 0\ncpu_lock = 0\ncpu_detect = 0\ncpu_validate = 0\ncpu_hop = 0\n"
    "cpu_abort = 0\nlatch = no\nio_access = 0\nio_write = 0\nlog_force = 0\nround_trip = 0\n"
    "[restart]\ndelay = 0\nmax_attempts = unlimited\nkeeps_slot = yes\n"
    "[workload]\nname = hot_row\nrows = 100000\naccesses = 8\nhot_rows = 1\nhot_position = first\n"
    "hot_access = for_update\napp_time = 0\nwrite_fraction = 0\ntheta = 0\norder = random\n";

static void assert_same_prices(const struct cost_settings *a, const struct cost_settings *b) {
    for (size_t i = 0; i < cost_options.count; i++) {
        const struct option *option = &cost_options.options[i];
        if (option->type == OPTION_DISTRIBUTION) {
            struct distribution of[2];
            memcpy(&of[0], (const char *)a + option->offset, sizeof of[0]);
            memcpy(&of[1], (const char *)b + option->offset, sizeof of[1]);
            assert_int_equal(of[0].kind, of[1].kind);
            assert_int_equal(of[0].mean_ns, of[1].mean_ns);
            assert_int_equal(of[0].takes_time, of[1].takes_time);
        }
    }
    assert_int_equal(a->latch, b->latch);
}

static void defaults_are_those_of_the_interface(void **state) {
    (void)state;
    struct experiment *given = load(with_defaults, LIST());
    struct experiment *silent = load(
        "[experiment]\ntitle = T\nalgorithm = 2pl\n[system]\nterminals = 16\n[workload]\nname = hot_row\n", LIST());
    struct text echo[2] = {{0}, {0}};
    experiment_echo(given, &echo[0]);
    experiment_echo(silent, &echo[1]);
    assert_string_equal(text_string(&echo[0]), text_string(&echo[1]));
    struct run_spec a = spec_of(given, 0), b = spec_of(silent, 0);
    assert_same_prices(&a.cost, &b.cost);
    assert_int_equal(a.system.terminals, 16);
    assert_int_equal(a.system.cpus, OPTION_UNLIMITED);
    assert_int_equal(a.cost.cpu_access.kind, DISTRIBUTION_EXPONENTIAL);
    assert_int_equal(a.cost.cpu_access.mean_ns, 1000000);
    assert_int_equal(b.system.disks, OPTION_UNLIMITED);
    assert_near(b.system.io_miss, 1, 0);
    assert_int_equal(b.restart.delay.choice, RESTART_DISTRIBUTION);
    assert_true(b.restart.keeps_slot);
    assert_int_equal(b.warmup_ns, INT64_C(20000000000));
    assert_int_equal(b.duration_ns, INT64_C(100000000000));
    assert_int_equal(experiment_facts(silent)->replications, 5);
    assert_true(b.certify);
    text_free(&echo[0]);
    text_free(&echo[1]);
    experiment_free(given);
    experiment_free(silent);
}

static void adaptive_restarts_where_algorithms_ask_for_them(void **state) {
    (void)state;
    struct experiment *silent = load(BASE, LIST("algorithm=2pl no-wait wait-die", ));
    for (size_t i = 0; i < 3; i++) {
        struct run_spec spec = spec_of(silent, i);
        bool asks = (spec.algorithm->flags & CC_RESTART_ADAPTIVE) != 0;
        assert_int_equal(asks, i > 0);
        assert_int_equal(spec.restart.delay.choice, asks ? RESTART_ADAPTIVE : RESTART_DISTRIBUTION);
    }
    experiment_free(silent);
    struct experiment *given = load(BASE "[restart]\ndelay = 2ms\n", LIST("algorithm=no-wait", ));
    assert_int_equal(spec_of(given, 0).restart.delay.choice, RESTART_DISTRIBUTION);
    assert_int_equal(spec_of(given, 0).restart.delay.distribution.mean_ns, 2000000);
    experiment_free(given);
    struct experiment *swept = load(BASE "[sweep]\nrestart.delay = 0 adaptive\n", LIST("algorithm=no-wait", ));
    assert_int_equal(spec_of(swept, 0).restart.delay.choice, RESTART_DISTRIBUTION);
    assert_int_equal(spec_of(swept, 1).restart.delay.choice, RESTART_ADAPTIVE);
    experiment_free(swept);
}

static void sections_of_algorithms_hold_for_them_alone(void **state) {
    (void)state;
    struct experiment *experiment = load(BASE "[2pl]\nvictim = oldest\nrestart.delay = 1ms\nworkload.hot_rows = 3\n"
                                              "[algorithm heir]\ntype = 2pl\nrestart.delay = 5ms\n"
                                              "[algorithm rebel]\ntype = 2pl\nvictim = requester\n",
                                         LIST("algorithm=2pl heir rebel si", ));
    static const struct {
        const char *name, *type;
        int victim;
        int64_t delay_ns, hot_rows;
    } expected[] = {{"2pl", "2pl", 1, 1000000, 3},
                    {"heir", "2pl", 1, 5000000, 3},
                    {"rebel", "2pl", 2, 1000000, 3},
                    {"si", "si", 2, 0, 1}};
    for (size_t i = 0; i < 4; i++) {
        struct point point;
        experiment_point(experiment, i, &point);
        assert_string_equal(point.algorithm, expected[i].name);
        assert_string_equal(point.spec.algorithm->name, expected[i].type);
        assert_int_equal(choice_option(&point, "victim"), expected[i].victim);
        assert_int_equal(point.spec.restart.delay.distribution.mean_ns, expected[i].delay_ns);
        assert_int_equal(count_option(&point, "hot_rows"), expected[i].hot_rows);
        assert_ptr_equal(point.spec.algorithm_options, point.algorithm_options);
        assert_ptr_equal(point.spec.workload_options, point.workload_options);
        point_free(&point);
    }
    experiment_free(experiment);
}

/* As in the configs of Agrawal, Carey and Livny's model. */
static void a_variant_may_be_called_as_a_section_is(void **state) {
    (void)state;
    struct experiment *experiment = load(
        BASE "[algorithm restart]\ntype = no-wait\nrestart.delay = 5ms\n"
             "phantoms = none\ncost.cpu_lock = 1ms\n",
        LIST("algorithm=2pl restart", "restart.delay=3ms", "restart.cost.cpu_lock=2ms", "restart.phantoms=next_key", ));
    struct run_spec plain = spec_of(experiment, 0), variant = spec_of(experiment, 1);
    assert_int_equal(plain.restart.delay.distribution.mean_ns, 3000000);
    assert_int_equal(variant.restart.delay.distribution.mean_ns, 5000000);
    assert_int_equal(plain.cost.cpu_lock.mean_ns, 0);
    assert_int_equal(variant.cost.cpu_lock.mean_ns, 2000000);
    struct point point;
    experiment_point(experiment, 1, &point);
    assert_string_equal(point.algorithm, "restart");
    assert_string_equal(point.spec.algorithm->name, "no-wait");
    point_free(&point);
    experiment_free(experiment);
}

/* --- the grid --- */

static void the_first_axis_is_the_outermost(void **state) {
    (void)state;
    assert_points(BASE, LIST(), "2pl|");
    assert_points(BASE "[sweep]\nsystem.terminals = 1 2\nworkload.hot_rows = 1 4\n", LIST(),
                  "2pl|1,1 2pl|1,4 2pl|2,1 2pl|2,4");
    assert_points("[experiment]\nalgorithm = 2pl occ\n[system]\nterminals = 4\n[workload]\nname = hot_row\n"
                  "[sweep]\nworkload.hot_rows = 1 4\n",
                  LIST(), "2pl|1 2pl|4 occ|1 occ|4");
    assert_points(BASE "[sweep]\nworkload.hot_rows = 1 4\nalgorithm = 2pl occ\n", LIST(), "2pl|1 occ|1 2pl|4 occ|4");
}

static void axes_are_named_without_the_algorithm(void **state) {
    (void)state;
    struct experiment *experiment =
        load(BASE "[sweep]\nsystem.cpus = 1 unlimited\nalgorithm = 2pl occ\nworkload.write_fraction = 0 50%\n", LIST());
    assert_int_equal(experiment_facts(experiment)->axes, 2);
    assert_string_equal(experiment_axis(experiment, 0), "system.cpus");
    assert_string_equal(experiment_axis(experiment, 1), "workload.write_fraction");
    assert_string_equal(points_of(experiment),
                        "2pl|1,0 2pl|1,0.5 occ|1,0 occ|1,0.5 2pl|inf,0 2pl|inf,0.5 occ|inf,0 occ|inf,0.5");
    experiment_free(experiment);
}

static void cells_are_spelled_and_quoted(void **state) {
    (void)state;
    assert_points(BASE "[sweep]\nsystem.think_time = 250us exp(1ms) uniform(1ms, 3ms)\n", LIST(),
                  "2pl|0.25 2pl|exp(1ms) 2pl|\"uniform(1ms, 3ms)\"");
}

static void zipped_axes_step_together(void **state) {
    (void)state;
    static const char config[] =
        BASE "[sweep]\nsystem.terminals = 1 2 4\nworkload.hot_rows = 7 9\nsystem.cpus = 10 20 40\n"
             "zip = system.terminals system.cpus\n";
    assert_points(config, LIST(), "2pl|1,7,10 2pl|1,9,10 2pl|2,7,20 2pl|2,9,20 2pl|4,7,40 2pl|4,9,40");
    assert_points(config, LIST("!system.cpus=40 10", "!workload.hot_rows=9", ), "2pl|1,9,10 2pl|4,9,40");
    assert_points(BASE "[sweep]\nalgorithm = 2pl occ\nworkload.hot_rows = 7 9\nzip = algorithm workload.hot_rows\n",
                  LIST(), "2pl|7 occ|9");
}

static void values_of_axes_arrive(void **state) {
    (void)state;
    struct experiment *experiment =
        load(BASE "[sweep]\n2pl.victim = youngest oldest\nno-wait.restart.delay = 1ms 2ms\n",
             LIST("algorithm=2pl no-wait", ));
    assert_int_equal(experiment_facts(experiment)->points, 8);
    for (size_t i = 0; i < 8; i++) {
        struct point point;
        experiment_point(experiment, i, &point);
        bool is_2pl = i < 4;
        assert_int_equal(point.spec.restart.delay.distribution.mean_ns, is_2pl ? 0 : i % 2 == 0 ? 1000000 : 2000000);
        if (is_2pl) {
            assert_int_equal(choice_option(&point, "victim"), i / 2);
        }
        point_free(&point);
    }
    experiment_free(experiment);
}

/* --- the command line, several files --- */

static void set_replaces_values_and_axes(void **state) {
    (void)state;
    static const char config[] = BASE "[sweep]\nworkload.hot_rows = 1 2\n";
    assert_points(config, LIST("workload.hot_rows=8", ), "2pl|8");
    assert_points(config, LIST("workload.hot_rows=8..32 *2", ), "2pl|8 2pl|16 2pl|32");
    assert_points(config, LIST("system.cpus=1 2", ), "2pl|1,1 2pl|1,2 2pl|2,1 2pl|2,2");
    assert_points(config, LIST("algorithm=occ si", ), "occ|1 occ|2 si|1 si|2");
    assert_points(config, LIST("experiment.algorithm=occ", ), "occ|1 occ|2");
    assert_points(BASE "[sweep]\nalgorithm = 2pl occ\n", LIST("algorithm=si", ), "si|");
    struct experiment *experiment = load(config, LIST("system.terminals=9", "cost.log_force=1ms", "experiment.seed=77",
                                                      "experiment.title=two words", "system.terminals=10", ));
    assert_int_equal(spec_of(experiment, 0).system.terminals, 10);
    assert_int_equal(spec_of(experiment, 1).cost.log_force.mean_ns, 1000000);
    assert_int_equal(spec_of(experiment, 1).seed, 77);
    assert_string_equal(experiment_facts(experiment)->title, "two words");
    experiment_free(experiment);
}

static void set_of_arrivals_takes_the_terminals_away(void **state) {
    (void)state;
    struct experiment *experiment = load(BASE "[sweep]\nsystem.terminals = 1 2\n"
                                              "[figure f]\nx = system.terminals\ny = throughput_tps\n",
                                         LIST("system.arrival_rate=500/s 10s, 100/s", ));
    struct run_spec spec = spec_of(experiment, 0);
    assert_int_equal(experiment_facts(experiment)->points, 1);
    assert_int_equal(experiment_facts(experiment)->figure_count, 0);
    assert_int_equal(spec.system.terminals, 0);
    assert_int_equal(spec.system.arrival_rate.count, 2);
    experiment_free(experiment);
}

static void only_keeps_what_matches(void **state) {
    (void)state;
    static const char config[] =
        BASE "[sweep]\nalgorithm = 2pl occ si\nsystem.think_time = 0 1ms 2ms uniform(1ms, 3ms)\n";
    assert_points(config, LIST("!algorithm=occ", "!system.think_time=1000us", ), "occ|1");
    assert_points(config, LIST("!algorithm=si 2pl", "!system.think_time=2ms, 0", ), "2pl|0 2pl|2 si|0 si|2");
    assert_points(config, LIST("!algorithm=si", "!algorithm=2pl", "!system.think_time=0", ), "2pl|0 si|0");
    assert_points(config, LIST("!algorithm=si", "!system.think_time=uniform(1ms, 3ms)", ), "si|\"uniform(1ms, 3ms)\"");
    assert_points(config, LIST("!experiment.algorithm=si", "!system.think_time=0..2ms +1ms", ), "si|0 si|1 si|2");
}

static void a_seed_given_apart_counts(void **state) {
    (void)state;
    const char *path = write_config("test", BASE);
    struct experiment_request request = {.files = &path, .file_count = 1, .has_seed = true, .seed = 99};
    struct text errors = {0}, echo = {0};
    struct experiment *experiment = experiment_load(&request, &errors);
    assert_non_null(experiment);
    assert_int_equal(experiment_facts(experiment)->seed, 99);
    assert_int_equal(spec_of(experiment, 0).seed, 99);
    experiment_echo(experiment, &echo);
    assert_contains(text_string(&echo), "\nseed           = 99\n");
    experiment_free(experiment);
    text_free(&errors);
    text_free(&echo);
}

static void later_files_replace_and_add(void **state) {
    (void)state;
    const char *files[2];
    files[0] = write_config("first", BASE "[sweep]\nworkload.hot_rows = 1 2\n");
    files[1] = write_config("second", "[system]\nterminals = 7\ncpus = 3\n[sweep]\nworkload.hot_rows = 5\n");
    struct experiment *experiment = load_files(files, 2, LIST());
    assert_string_equal(points_of(experiment), "2pl|5");
    assert_string_equal(experiment_facts(experiment)->stem, "first");
    assert_string_equal(experiment_facts(experiment)->title, "first");
    assert_int_equal(spec_of(experiment, 0).system.terminals, 7);
    assert_int_equal(spec_of(experiment, 0).system.cpus, 3);
    experiment_free(experiment);
}

/* --- echo and selection --- */

static const char rich[] =
    "[experiment]\ntitle = Rich\nreplications = 3\n[system]\nterminals = 16\n[cost]\ncpu_access = uniform(1ms, 3ms)\n"
    "[workload]\nname = hot_row\nhot_rows = 4\n[2pl]\nvictim = oldest\nrestart.delay = backoff(1ms, 2, 1s)\n"
    "[algorithm slow]\ntype = no-wait\ncost.cpu_lock = 1ms\n"
    "[sweep]\nsystem.terminals = 1..128 *2\nalgorithm = 2pl no-wait slow\nsystem.think_time = exp(1ms) uniform(1ms, 2ms)\n"
    "workload.theta = 0..1 +0.5\nsystem.cpus = 1..8 +1\nzip = system.terminals system.cpus\n"
    "[figure throughput]\nx = system.terminals\ny = throughput_tps\ngroup = algorithm\nlog = x\n"
    "[figure other]\ntitle = Other\nx = workload.theta\ny = abort_rate\nlog = xy\nx_label = skew\n";

/* The echo of the plan, and the same of the plan that the echo makes. */
static void assert_echo_is_the_plan(const char *const *list) {
    struct text first = {0}, second = {0}, points = {0};
    struct experiment *experiment = load(rich, list);
    experiment_echo(experiment, &first);
    text_add(&points, "%s", points_of(experiment));
    experiment_free(experiment);
    struct experiment *again = load(text_string(&first), LIST());
    experiment_echo(again, &second);
    assert_string_equal(text_string(&first), text_string(&second));
    assert_string_equal(points_of(again), text_string(&points));
    assert_int_equal(experiment_facts(again)->figure_count, 2);
    experiment_free(again);
    text_free(&first);
    text_free(&second);
    text_free(&points);
}

static void the_echo_is_the_plan(void **state) {
    (void)state;
    assert_echo_is_the_plan(LIST());
    assert_echo_is_the_plan(LIST("!algorithm=slow", ));
    assert_echo_is_the_plan(LIST("!system.cpus=3 4", "!workload.theta=0.5", ));
    assert_echo_is_the_plan(
        LIST("system.mpl=1..120 +1", "experiment.replications=1", "!system.cpus=3 4", "!system.mpl=1..110 +1", ));
}

/* Whatever the point, its --only arguments select it alone. */
static void a_selection_is_one_point(void **state) {
    (void)state;
    struct experiment *experiment = load(rich, LIST());
    size_t points = experiment_facts(experiment)->points;
    assert_int_equal(points, 8 * 3 * 2 * 3);
    for (size_t i = 0; i < points; i += 7) {
        struct point point, alone;
        struct text arguments = {0};
        char *onlys[ARGUMENTS_MAX + 1] = {0};
        size_t count = 0;
        experiment_point(experiment, i, &point);
        experiment_select(experiment, i, &arguments);
        for (char *at = arguments.bytes; (at = strstr(at, " --only ")) != NULL; count++) {
            *at = '\0';
            at += strlen(" --only ");
            char *begin = at + strspn(at, "'");
            begin[-1] = '!';
            onlys[count] = begin;
        }
        for (size_t k = 0; k < count; k++) {
            size_t length = strlen(onlys[k]);
            onlys[k][length - (onlys[k][length - 1] == '\'')] = '\0';
            onlys[k]--;
        }
        struct experiment *one = load(rich, (const char *const *)onlys);
        assert_int_equal(experiment_facts(one)->points, 1);
        experiment_point(one, 0, &alone);
        assert_string_equal(alone.algorithm, point.algorithm);
        assert_string_equal(text_string(&alone.columns), text_string(&point.columns));
        point_free(&point);
        point_free(&alone);
        text_free(&arguments);
        experiment_free(one);
    }
    experiment_free(experiment);
}

static void figures_are_what_the_config_says(void **state) {
    (void)state;
    struct experiment *experiment = load(rich, LIST());
    const struct experiment_facts *facts = experiment_facts(experiment);
    assert_int_equal(facts->figure_count, 2);
    const struct figure *first = &facts->figures[0], *second = &facts->figures[1];
    assert_string_equal(first->name, "throughput");
    assert_string_equal(first->title, "Rich");
    assert_string_equal(first->x, "system.terminals");
    assert_string_equal(first->group, "algorithm");
    assert_true(first->log_x && !first->log_y && first->x_label == NULL);
    assert_string_equal(second->title, "Other");
    assert_null(second->group);
    assert_true(second->log_x && second->log_y);
    assert_string_equal(second->x_label, "skew");
    experiment_free(experiment);
}

static void large_grids_are_not_written_out(void **state) {
    (void)state;
    struct experiment *experiment =
        load(BASE "[sweep]\nworkload.rows = 1000..101999 +1\nsystem.mpl = 1 2\n", LIST("experiment.replications=4", ));
    assert_int_equal(experiment_facts(experiment)->points, 202000);
    struct point point;
    experiment_point(experiment, 201999, &point);
    assert_string_equal(text_string(&point.columns), "101999,2");
    assert_int_equal(count_option(&point, "rows"), 101999);
    point_free(&point);
    experiment_free(experiment);
}

/* Configs made of pieces of others, cut anywhere: never a crash, and a reason for each refusal. */
static void torn_configs_are_refused_with_a_reason(void **state) {
    (void)state;
    size_t length = sizeof rich - 1;
    for (size_t cut = 0; cut < length; cut += 3) {
        for (size_t gap = 1; gap < 40; gap += 13) {
            struct text torn = {0}, errors = {0};
            size_t behind = cut + gap < length ? cut + gap : length;
            text_add(&torn, "%.*s%s", (int)cut, rich, rich + behind);
            const char *path = write_config("torn", text_string(&torn));
            struct experiment *experiment = try_files(&path, 1, LIST(), &errors);
            assert_true((experiment == NULL) == (errors.length > 0));
            experiment_free(experiment);
            text_free(&torn);
            text_free(&errors);
        }
    }
}

TEST_GROUP(experiment, cmocka_unit_test(defaults_are_those_of_the_interface),
           cmocka_unit_test(adaptive_restarts_where_algorithms_ask_for_them),
           cmocka_unit_test(sections_of_algorithms_hold_for_them_alone),
           cmocka_unit_test(a_variant_may_be_called_as_a_section_is), cmocka_unit_test(the_first_axis_is_the_outermost),
           cmocka_unit_test(axes_are_named_without_the_algorithm), cmocka_unit_test(cells_are_spelled_and_quoted),
           cmocka_unit_test(zipped_axes_step_together), cmocka_unit_test(values_of_axes_arrive),
           cmocka_unit_test(set_replaces_values_and_axes), cmocka_unit_test(set_of_arrivals_takes_the_terminals_away),
           cmocka_unit_test(only_keeps_what_matches), cmocka_unit_test(a_seed_given_apart_counts),
           cmocka_unit_test(later_files_replace_and_add), cmocka_unit_test(the_echo_is_the_plan),
           cmocka_unit_test(a_selection_is_one_point), cmocka_unit_test(figures_are_what_the_config_says),
           cmocka_unit_test(large_grids_are_not_written_out), cmocka_unit_test(torn_configs_are_refused_with_a_reason))
