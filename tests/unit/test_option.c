/* test_option.c - every type of option: what is accepted, and the exact words for what is not. */
#include "sim/base/option.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/memory.h"
#include "tests/support/harness.h"

struct values {
    bool latch;
    int64_t terminals, mpl, seed, grain;
    double theta, scale;
    double share;
    int64_t size, timeout, warmup;
    struct distribution cost, think;
    int order;
    char title[OPTION_TEXT_SIZE];
    struct option_call detect, delay;
    struct option_profile rate;
    int64_t must;
};

static const char *const orders[] = {"random", "by_key", NULL};
static const char *const detections[] = {"wait", "period(duration)", "after(duration)", NULL};
static const char *const delays[] = {"distribution", "adaptive", "backoff(duration, number, duration)", NULL};

static const struct option rows[] = {
    {"latch", OPTION_BOOL, offsetof(struct values, latch), "no", 0, 0, NULL, 0, "one latch for all"},
    {"terminals", OPTION_COUNT, offsetof(struct values, terminals), "16", 1, 1000000, NULL, 0, "clients"},
    {"mpl", OPTION_COUNT, offsetof(struct values, mpl), "unlimited", 1, 1000000, NULL, OPTION_MAY_BE_UNLIMITED, "most"},
    {"seed", OPTION_COUNT, offsetof(struct values, seed), "1", 0, 0, NULL, 0, "seed"},
    {"grain", OPTION_COUNT, offsetof(struct values, grain), "3", 2, 0, NULL, 0, "two or more"},
    {"theta", OPTION_NUMBER, offsetof(struct values, theta), "0", 0, 2.5, NULL, 0, "skew"},
    {"scale", OPTION_NUMBER, offsetof(struct values, scale), "-1", 0, 0, NULL, 0, "any number"},
    {"share", OPTION_SHARE, offsetof(struct values, share), "100%", 0, 0, NULL, 0, "share"},
    {"size", OPTION_SIZE, offsetof(struct values, size), "4KiB", 512, 65536, NULL, 0, "size"},
    {"timeout", OPTION_DURATION, offsetof(struct values, timeout), "50ms", 0.001, 60, NULL, 0, "patience"},
    {"cost", OPTION_DISTRIBUTION, offsetof(struct values, cost), "exp(1ms)", 0, 0, NULL, 0, "cost"},
    {"think", OPTION_DISTRIBUTION, offsetof(struct values, think), "0", 0, 3600, NULL, 0, "think time"},
    {"order", OPTION_CHOICE, offsetof(struct values, order), "by_key", 0, 0, orders, 0, "order"},
    {"title", OPTION_TEXT, offsetof(struct values, title), "a title", 0, 0, NULL, 0, "title"},
    {"detect", OPTION_CALL, offsetof(struct values, detect), "period(1s)", 0, 0, detections, 0, "detection"},
    {"delay", OPTION_CALL, offsetof(struct values, delay), "0", 0, 0, delays, 0, "delay"},
    {"warmup", OPTION_DURATION, offsetof(struct values, warmup), "auto", 0, 60, NULL, OPTION_MAY_BE_AUTO, "warm-up"},
    {"rate", OPTION_PROFILE, offsetof(struct values, rate), "500/s", 0, 0, NULL, OPTION_OPTIONAL, "arrivals"},
    {"must", OPTION_COUNT, offsetof(struct values, must), "7", 0, 0, NULL, OPTION_REQUIRED, "no default"},
};
static const struct option_table table = OPTION_TABLE(rows, struct values);

static void defaults_come_from_their_text(void **state) {
    (void)state;
    struct values values;
    memset(&values, 0, sizeof values);
    options_default(&table, &values);
    assert_false(values.latch);
    assert_int_equal(values.terminals, 16);
    assert_int_equal(values.mpl, OPTION_UNLIMITED);
    assert_int_equal(values.warmup, OPTION_AUTO);
    assert_true(values.scale == -1);
    assert_true(values.share == 1);
    assert_int_equal(values.size, 4096);
    assert_int_equal(values.timeout, 50000000);
    assert_int_equal(values.cost.kind, DISTRIBUTION_EXPONENTIAL);
    assert_int_equal(values.cost.mean_ns, 1000000);
    assert_true(distribution_is_zero(&values.think));
    assert_int_equal(values.order, 1);
    assert_string_equal(values.title, "a title");
    assert_int_equal(values.detect.choice, 1);
    assert_int_equal(values.detect.integer[0], 1000000000);
    assert_int_equal(values.delay.choice, 0);
    assert_true(distribution_is_zero(&values.delay.distribution));
    assert_int_equal(values.rate.count, 0); /* optional: stays zero */
    assert_int_equal(values.must, 0);       /* required: the fallback is an example */
}

static bool parse(const char *name, const char *text, struct values *values, struct text *error) {
    const struct option *option = option_find(&table, name);
    assert_non_null(option);
    return option_parse(option, text, values, error);
}

/* Parses what must be right. */
static struct values parsed(const char *name, const char *text) {
    struct values values;
    struct text error = {0};
    memset(&values, 0, sizeof values);
    if (!parse(name, text, &values, &error)) {
        fail_msg("%s = %s: %s", name, text, text_string(&error));
    }
    assert_int_equal(error.length, 0);
    text_free(&error);
    return values;
}

static void values_are_parsed(void **state) {
    (void)state;
    assert_true(parsed("latch", " yes ").latch);
    assert_int_equal(parsed("terminals", "1000000").terminals, 1000000);
    assert_int_equal(parsed("terminals", "1e3").terminals, 1000);
    assert_int_equal(parsed("mpl", "5").mpl, 5);
    assert_int_equal(parsed("mpl", "unlimited").mpl, OPTION_UNLIMITED);
    assert_int_equal(parsed("seed", "9223372036854775806").seed, INT64_MAX - 1);
    assert_int_equal(parsed("grain", "2").grain, 2);
    assert_true(parsed("theta", "0.99").theta == 0.99);
    assert_true(parsed("share", "35%").share == 0.35);
    assert_int_equal(parsed("size", "64KiB").size, 65536);
    assert_int_equal(parsed("timeout", "1ms").timeout, 1000000);
    assert_int_equal(parsed("timeout", "1min").timeout, 60000000000);
    assert_int_equal(parsed("order", "random").order, 0);
    assert_string_equal(parsed("title", "  Fast, or not?  ").title, "Fast, or not?");
    assert_string_equal(parsed("title", "").title, "");
}

static void distributions_are_parsed(void **state) {
    (void)state;
    struct distribution d = parsed("cost", "5ms").cost;
    assert_int_equal(d.kind, DISTRIBUTION_CONSTANT);
    assert_int_equal(d.mean_ns, 5000000);
    d = parsed("cost", "uniform(1ms, 3ms)").cost;
    assert_int_equal(d.kind, DISTRIBUTION_UNIFORM);
    assert_int_equal(d.low_ns, 1000000);
    assert_int_equal(d.high_ns, 3000000);
    assert_int_equal(d.mean_ns, 2000000);
    d = parsed("cost", "erlang(4, 1ms)").cost;
    assert_int_equal(d.kind, DISTRIBUTION_ERLANG);
    assert_int_equal(d.stages, 4);
    d = parsed("cost", " lognormal( 1ms,0.8 ) ").cost;
    assert_int_equal(d.kind, DISTRIBUTION_LOGNORMAL);
    assert_near(distribution_cv2(&d), 0.64, 1e-12);
    assert_true(distribution_is_zero(&(struct distribution){.kind = DISTRIBUTION_CONSTANT}));
    d = parsed("cost", "exp(0)").cost;
    assert_true(distribution_is_zero(&d));
}

static void calls_are_parsed(void **state) {
    (void)state;
    assert_int_equal(parsed("detect", "wait").detect.choice, 0);
    struct option_call call = parsed("detect", "after(1.5s)").detect;
    assert_int_equal(call.choice, 2);
    assert_int_equal(call.integer[0], 1500000000);
    call = parsed("delay", "backoff(1ms, 2, 100ms)").delay;
    assert_int_equal(call.choice, 2);
    assert_int_equal(call.integer[0], 1000000);
    assert_true(call.number[1] == 2);
    assert_int_equal(call.integer[2], 100000000);
    call = parsed("delay", "exp(2ms)").delay;
    assert_int_equal(call.choice, 0);
    assert_int_equal(call.distribution.kind, DISTRIBUTION_EXPONENTIAL);
    assert_int_equal(parsed("delay", "adaptive").delay.choice, 1);
    assert_int_equal(parsed("delay", "5ms").delay.distribution.mean_ns, 5000000);
}

static void profiles_are_parsed(void **state) {
    (void)state;
    struct option_profile rate = parsed("rate", "0.5/ms").rate;
    assert_int_equal(rate.count, 1);
    assert_true(rate.part[0].per_second == 500);
    rate = parsed("rate", "500/s 10s, 5000/s  60s,\n  0/s 30s").rate;
    assert_int_equal(rate.count, 3);
    assert_true(rate.part[1].per_second == 5000);
    assert_int_equal(rate.part[1].duration_ns, 60000000000);
    assert_true(rate.part[2].per_second == 0);
    assert_int_equal(parsed("rate", "1/s 1s, 2/s").rate.part[1].duration_ns, 0);
}

static const struct {
    const char *name, *text, *message;
} mistakes[] = {
    {"latch", "true", "`true` is neither yes nor no"},
    {"latch", "", "the value is missing"},
    {"terminals", "0", "`0` is out of bounds (1 .. 1000000)"},
    {"terminals", "-3", "`-3` is out of bounds (1 .. 1000000)"},
    {"terminals", "1000000000", "`1000000000` is out of bounds (1 .. 1000000)"},
    {"terminals", "2.5", "`2.5` is not a whole number"},
    {"terminals", "many", "`many` is not a whole number"},
    {"terminals", "unlimited", "`unlimited` is not a whole number"},
    {"terminals", "99999999999999999999", "`99999999999999999999` is too large"},
    {"terminals", "  ", "the value is missing"},
    {"mpl", "unlimitd", "`unlimitd` is not a whole number, nor `unlimited`"},
    {"mpl", "0", "`0` is out of bounds (1 .. 1000000)"},
    {"seed", "-1", "`-1` is negative"},
    {"seed", "9223372036854775807", "`9223372036854775807` is too large"},
    {"grain", "1", "`1` is out of bounds (2 or more)"},
    {"theta", "-0.1", "`-0.1` is out of bounds (0 .. 2.5)"},
    {"theta", "nan", "`nan` is not a number"},
    {"share", "150%", "`150%` is out of bounds (0% .. 100%)"},
    {"share", "-0.1", "`-0.1` is out of bounds (0% .. 100%)"},
    {"share", "half", "`half` is not a share (such as 35% or 0.35)"},
    {"size", "4KB", "`4KB` is not a size (a whole number of B, KiB, MiB, GiB)"},
    {"size", "100", "`100` is out of bounds (512 .. 65536)"},
    {"size", "-5", "`-5` is negative"},
    {"timeout", "5", "`5` has no unit (ns, us, ms, s, min, h)"},
    {"timeout", "5sec", "`5sec` has no known unit (ns, us, ms, s, min, h)"},
    {"timeout", "5 ms", "`5 ms` has a blank in it: a duration is written 2s, not 2 s"},
    {"timeout", "-5ms", "`-5ms` is negative"},
    {"timeout", "0", "`0` is out of bounds (1ms .. 1min)"},
    {"timeout", "2h", "`2h` is out of bounds (1ms .. 1min)"},
    {"warmup", "atuo", "`atuo` is not a duration (such as 250us, 1.5ms, 2s), nor `auto`"},
    {"warmup", "61s", "`61s` is out of bounds (0 .. 1min)"},
    {"timeout", "auto", "`auto` is not a duration (such as 250us, 1.5ms, 2s)"},
    {"timeout", "long", "`long` is not a duration (such as 250us, 1.5ms, 2s)"},
    {"timeout", "1e9h", "`1e9h` is out of bounds (0 or 1ns .. 1000000000s)"},
    {"timeout", "0.1ns", "`0.1ns` is out of bounds (0 or 1ns .. 1000000000s)"},
    {"cost", "5", "`5` has no unit (ns, us, ms, s, min, h)"},
    {"cost", "exp(5)", "`exp(5)`: `5` has no unit (ns, us, ms, s, min, h)"},
    {"cost", "exp(-5ms)", "`exp(-5ms)`: `-5ms` is negative"},
    {"cost", "exp(300000h)", "`exp(300000h)`: `300000h` is out of bounds (0 or 1ns .. 1000000000s)"},
    {"cost", "exp(1ms, 2ms)", "`exp(1ms, 2ms)` has 2 arguments, not 1: exp(duration)"},
    {"cost", "exp", "`exp` has 0 arguments, not 1: exp(duration)"},
    {"cost", "exp(1ms", "`exp(1ms` is not written name or name(argument, ...)"},
    {"cost", "uniform(3ms, 1ms)", "`uniform(3ms, 1ms)` ends before it begins"},
    {"cost", "erlang(0, 1ms)", "`erlang(0, 1ms)`: the number of stages is out of bounds (1 .. 1000)"},
    {"cost", "lognormal(1ms, -1)", "`lognormal(1ms, -1)`: `-1` is negative"},
    {"cost", "lognormal(1ms, 1e6)", "`lognormal(1ms, 1e6)`: the coefficient of variation is out of bounds (0 .. 1000)"},
    {"cost", "expo(1ms)",
     "`expo(1ms)` is none of duration, exp(duration), uniform(duration, duration), "
     "erlang(count, duration), lognormal(duration, number); did you mean exp?"},
    {"think", "exp(2h)", "`exp(2h)` is out of bounds (0 .. 1h)"},
    {"order", "bykey", "`bykey` is none of random, by_key; did you mean by_key?"},
    {"order", "", "the value is missing"},
    {"order", "fastest", "`fastest` is none of random, by_key"},
    {"detect", "lrg", "`lrg` is none of wait, period(duration), after(duration)"},
    {"detect", "perod(1s)", "`perod(1s)` is none of wait, period(duration), after(duration); did you mean period?"},
    {"detect", "wait(1s)", "`wait(1s)` has 1 argument, not 0: wait"},
    {"detect", "period", "`period` has 0 arguments, not 1: period(duration)"},
    {"detect", "period(often)", "`period(often)`: `often` is not a duration (such as 250us, 1.5ms, 2s)"},
    {"detect", "duration", "`duration` is none of wait, period(duration), after(duration)"},
    {"delay", "addaptive",
     "`addaptive` is none of duration, distribution, adaptive, "
     "backoff(duration, number, duration); did you mean adaptive?"},
    {"delay", "distribution",
     "`distribution` is none of duration, distribution, adaptive, "
     "backoff(duration, number, duration)"},
    {"delay", "5", "`5` has no unit (ns, us, ms, s, min, h)"},
    {"delay", "backoff(1ms, x, 1s)", "`backoff(1ms, x, 1s)`: `x` is not a number"},
    {"rate", "500", "`500` has no unit (/s, /ms, /min)"},
    {"rate", "fast", "`fast` is not a rate (such as 500/s)"},
    {"rate", "-5/s", "`-5/s` is negative"},
    {"rate", "1e12/s", "`1e12/s` is out of bounds (0/s .. 1000000000/s)"},
    {"rate", "0/s", "a rate of 0 lets nothing arrive"},
    {"rate", "5/s, 6/s", "`5/s` needs a duration, for another rate follows (500/s 10s, 100/s)"},
    {"rate", "5/s 0s, 6/s", "`5/s 0s` lasts no time"},
    {"rate", "5/s 10, 6/s", "`10` has no unit (ns, us, ms, s, min, h)"},
    {"rate", "5/s 10s,", "`` is not a rate (such as 500/s)"},
};

static void mistakes_are_worded(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct values values, before;
        struct text error = {0};
        memset(&values, 0x5a, sizeof values);
        memcpy(&before, &values, sizeof before);
        assert_false(parse(mistakes[i].name, mistakes[i].text, &values, &error));
        assert_string_equal(text_string(&error), mistakes[i].message);
        assert_memory_equal(&values, &before, sizeof values);
        text_free(&error);
    }
}

static void long_input_is_refused(void **state) {
    (void)state;
    struct values values;
    struct text error = {0}, profile = {0};
    char title[OPTION_TEXT_SIZE + 1];
    memset(title, 'x', sizeof title);
    title[OPTION_TEXT_SIZE] = '\0';
    assert_false(parse("title", title, &values, &error));
    assert_string_equal(text_string(&error), "the text has 512 bytes, more than 511");
    title[OPTION_TEXT_SIZE - 1] = '\0';
    assert_true(parse("title", title, &values, &error));
    for (int i = 0; i <= OPTION_PROFILE_PARTS; i++) {
        text_add(&profile, "%s1/s 1s", i > 0 ? ", " : "");
    }
    text_clear(&error);
    assert_false(parse("rate", text_string(&profile), &values, &error));
    assert_string_equal(text_string(&error), "a profile has at most 64 rates");
    text_free(&profile);
    text_free(&error);
}

static void columns_are_plain_numbers(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *column;
    } cases[] = {{"timeout", "50ms", "50"},
                 {"timeout", "250us", "0.25"},
                 {"timeout", "1min", "60000"},
                 {"share", "35%", "0.35"},
                 {"size", "4KiB", "4096"},
                 {"mpl", "unlimited", "inf"},
                 {"mpl", "10", "10"},
                 {"cost", "exp(1ms)", "exp(1ms)"},
                 {"cost", "2ms", "2"},
                 {"cost", "0", "0"},
                 {"delay", "adaptive", "adaptive"},
                 {"delay", "5ms", "5"},
                 {"order", "by_key", "by_key"},
                 {"latch", "yes", "yes"},
                 {"theta", "0.99", "0.99"},
                 {"rate", "500/s", "500"},
                 {"rate", "0.1/ms", "100"},
                 {"detect", " period(1s) ", "period(1s)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text out = {0};
        option_column(option_find(&table, cases[i].name), cases[i].text, &out);
        assert_string_equal(text_string(&out), cases[i].column);
        text_free(&out);
    }
}

static void types_have_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *type;
    } cases[] = {{"latch", "yes or no"},
                 {"terminals", "whole number"},
                 {"mpl", "whole number or unlimited"},
                 {"theta", "number"},
                 {"share", "share"},
                 {"size", "size"},
                 {"timeout", "duration"},
                 {"warmup", "duration or auto"},
                 {"cost", "duration or distribution"},
                 {"order", "random | by_key"},
                 {"title", "text"},
                 {"detect", "wait | period(duration) | after(duration)"},
                 {"delay", "duration | distribution | adaptive | backoff(duration, number, duration)"},
                 {"rate", "rate or profile of rates"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text out = {0};
        option_type_name(option_find(&table, cases[i].name), &out);
        assert_string_equal(text_string(&out), cases[i].type);
        text_free(&out);
    }
}

static void names_are_found(void **state) {
    (void)state;
    assert_ptr_equal(option_find(&table, "latch"), &rows[0]);
    assert_null(option_find(&table, "Latch"));
    assert_null(option_find(&table, ""));
}

/* A default that does not parse is a bug: in a process of its own, options_default must abort. */
static void a_wrong_default_is_a_bug(void **state) {
    (void)state;
    static const struct option wrong[] = {
        {"latch", OPTION_BOOL, offsetof(struct values, latch), "perhaps", 0, 0, NULL, 0, "one latch for all"}};
    static const struct option_table wrong_table = OPTION_TABLE(wrong, struct values);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct values values;
        signal(SIGABRT, SIG_DFL);
        fclose(stderr);
        memset(&values, 0, sizeof values);
        options_default(&wrong_table, &values);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST_GROUP(option, cmocka_unit_test(defaults_come_from_their_text), cmocka_unit_test(values_are_parsed),
           cmocka_unit_test(distributions_are_parsed), cmocka_unit_test(calls_are_parsed),
           cmocka_unit_test(profiles_are_parsed), cmocka_unit_test(mistakes_are_worded),
           cmocka_unit_test(long_input_is_refused), cmocka_unit_test(columns_are_plain_numbers),
           cmocka_unit_test(types_have_names), cmocka_unit_test(names_are_found),
           cmocka_unit_test(a_wrong_default_is_a_bug))
