/* test_text.c - strings, numbers, units, calls, nearest names. */
#include "sim/base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/random.h"
#include "tests/support/gsl_stream.h"
#include "tests/support/harness.h"

static void text_grows(void **state) {
    (void)state;
    struct text text = {0};
    assert_string_equal(text_string(&text), "");
    text_clear(&text);
    for (int i = 0; i < 1000; i++) {
        text_add(&text, "%d,", i % 10);
        text_add_bytes(&text, "xyz", 1);
    }
    assert_int_equal(text.length, 3000);
    assert_int_equal(strlen(text.bytes), 3000);
    assert_memory_equal(text.bytes, "0,x1,x2,x", 9);
    text_clear(&text);
    assert_string_equal(text_string(&text), "");
    text_add_bytes(&text, "", 0);
    text_add(&text, "%s", "");
    assert_string_equal(text.bytes, "");
    text_free(&text);
}

static const struct {
    double value;
    const char *spelled;
} numbers[] = {
    {0, "0"},
    {-0.0, "0"},
    {1, "1"},
    {-1.5, "-1.5"},
    {100000, "100000"},
    {0.1, "0.1"},
    {1.0 / 3, "0.333333333"},
    {2.0 / 3, "0.666666667"},
    {123456789, "123456789"},
    {123456789.6, "123456790"},
    {999999999, "999999999"},
    {1e9, "1e+09"},
    {1234567890123, "1.23456789e+12"},
    {1e-4, "0.0001"},
    {1.23456789012e-5, "0.0000123456789"},
    {9.9999999999e-5, "0.0001"},
    {1e-5, "0.00001"},
    {2e-6, "2e-06"},
    {-3e-5, "-0.00003"},
    {INFINITY, "inf"},
    {-INFINITY, "-inf"},
    {NAN, ""},
};

static void numbers_are_spelled(void **state) {
    (void)state;
    char buffer[32];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_string_equal(text_number(buffer, numbers[i].value), numbers[i].spelled);
    }
}

/* What is spelled reads as the same number to nine digits, and never takes more room than a cell of a table should. */
static void numbers_can_be_read_back(void **state) {
    (void)state;
    struct stream stream = test_stream(1);
    char buffer[32];
    for (int i = 0; i < 20000; i++) {
        double value = (stream_unit(&stream) - 0.5) * pow(10, (double)stream_below(&stream, 40) - 20), read;
        assert_true(text_parse_number(text_number(buffer, value), &read));
        assert_near(read, value, 5.001e-9 * fabs(value));
        assert_true(strlen(buffer) <= 18);
        assert_true(fabs(value) < 1e-5 || fabs(value) >= 999999999 || strchr(buffer, 'e') == NULL);
    }
}

static void a_decimal_comma_changes_nothing(void **state) {
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR", "ru_RU.UTF-8"};
    char buffer[32];
    double value;
    const char *found = NULL;
    for (size_t i = 0; i < sizeof locales / sizeof locales[0] && found == NULL; i++) {
        found = setlocale(LC_NUMERIC, locales[i]); /* lint: setlocale, to see that it does not matter */
    }
    if (found == NULL) {
        test_skip();
    }
    assert_string_equal(text_number(buffer, 1.5), "1.5");
    assert_string_equal(text_number(buffer, 1.5e-5), "0.000015");
    assert_true(text_parse_number("2.5", &value) && value == 2.5);
    assert_false(text_parse_number("2,5", &value));
    setlocale(LC_NUMERIC, "C"); /* lint: setlocale, the way back */
}

static void integers_are_parsed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {" 42\t", 42},
                {"-7", -7},
                {"+7", 7},
                {"007", 7},
                {"1e6", 1000000},
                {"2.5e3", 2500},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",     " ",    "x",   "1.5", "5.0", "1 2",   "0x10", "9223372036854775808",
                                      "1e30", "1e-3", "--1", "1e",  "5x",  "1,000", "inf",  "e5"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value;
        assert_true(text_parse_integer(good[i].text, &value));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = 123;
        assert_false(text_parse_integer(bad[i], &value));
        assert_int_equal(value, 123);
    }
}

static void decimals_are_parsed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0.1", 0.1},        {".5", 0.5},  {"5.", 5},
                {" -1e-3 ", -0.001}, {"1E5", 1e5}, {"0.30000000000000004", 0.1 + 0.2}};
    static const char *const bad[] = {"",      ".",  "-",    "nan",   "inf",  "0x1p3",
                                      "1e999", "1e", "1..2", "1.2.3", "1 e5", "5%"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(text_parse_number(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(text_parse_number(bad[i], &value));
    }
}

static void durations_are_parsed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"0", 0},
                {"0.0", 0},
                {"0s", 0},
                {"1ns", 1},
                {"250us", 250000},
                {"1.5ms", 1500000},
                {"1.1ms", 1100000},
                {"2s", 2000000000},
                {"3min", 180000000000},
                {"1h", 3600000000000},
                {" 5ms ", 5000000},
                {"-5ms", -5000000},
                {"1e3ms", 1000000000},
                {"0.7ns", 1},
                {"2562047h", 2562047 * INT64_C(3600000000000)}};
    static const char *const bad[] = {"",    "5",     "ms",       "5 ms",   "5msx", "5m",
                                      "5MS", "0.1ns", "2562048h", "1e300h", "inf",  "5ms 3"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t ns;
        assert_true(text_parse_duration(good[i].text, &ns));
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ns = 77;
        assert_false(text_parse_duration(bad[i], &ns));
        assert_int_equal(ns, 77);
    }
}

static void shares_sizes_and_rates_are_parsed(void **state) {
    (void)state;
    double value;
    int64_t bytes;
    assert_true(text_parse_share("35%", &value) && value == 0.35);
    assert_true(text_parse_share("0.35", &value) && value == 0.35);
    assert_true(text_parse_share("12.5%", &value) && value == 0.125);
    assert_false(text_parse_share("35 %", &value));
    assert_false(text_parse_share("%", &value));
    assert_true(text_parse_size("4KiB", &bytes) && bytes == 4096);
    assert_true(text_parse_size("1.5KiB", &bytes) && bytes == 1536);
    assert_true(text_parse_size("100", &bytes) && bytes == 100);
    assert_true(text_parse_size("100B", &bytes) && bytes == 100);
    assert_true(text_parse_size("2MiB", &bytes) && bytes == 2097152);
    assert_true(text_parse_size("1GiB", &bytes) && bytes == 1073741824);
    assert_false(text_parse_size("4KB", &bytes));
    assert_false(text_parse_size("0.3B", &bytes));
    assert_false(text_parse_size("1e30GiB", &bytes));
    assert_true(text_parse_rate("500/s", &value) && value == 500);
    assert_true(text_parse_rate("0.5/ms", &value) && value == 500);
    assert_true(text_parse_rate("90/min", &value) && value == 1.5);
    assert_false(text_parse_rate("500", &value));
    assert_false(text_parse_rate("500 /s", &value));
    assert_false(text_parse_rate("1e308/ms", &value));
}

/* Splits and writes the parts as name|argument|argument, or "error". */
static const char *split(const char *text, int room) {
    static char joined[256];
    char copy[128], *name, *arguments[8];
    snprintf(copy, sizeof copy, "%s", text);
    int count = text_split_call(copy, &name, arguments, room);
    if (count < 0) {
        return "error";
    }
    size_t used = (size_t)snprintf(joined, sizeof joined, "%s", name);
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(joined + used, sizeof joined - used, "|%s", arguments[i]);
    }
    return joined;
}

static void calls_are_split(void **state) {
    (void)state;
    assert_string_equal(split("wait", 3), "wait");
    assert_string_equal(split("  wait ", 3), "wait");
    assert_string_equal(split("period(1s)", 3), "period|1s");
    assert_string_equal(split(" backoff ( 1ms ,2, 3 s ) ", 3), "backoff|1ms|2|3 s");
    assert_string_equal(split("f(exp(1ms), uniform(1, 2))", 3), "f|exp(1ms)|uniform(1, 2)");
    static const char *const bad[] = {"f(",    "f(1",    "f)",      "f(1))",      "f()",   "f(1,)",
                                      "f(,1)", "f(1) x", "f(1)(2)", "f(a,b,c,d)", "f((1)", "f(1,2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_string_equal(split(bad[i], 3), "error");
    }
    assert_string_equal(split("f(1)", 0), "error");
}

static void blanks_are_trimmed(void **state) {
    (void)state;
    char blanks[] = " \t\n ", word[] = "  two words\r\n", none[] = "";
    assert_string_equal(text_trim(blanks), "");
    assert_string_equal(text_trim(word), "two words");
    assert_string_equal(text_trim(none), "");
}

static void the_nearest_name_is_found(void **state) {
    (void)state;
    static const char *const names[] = {"2pl", "no-wait", "wait-die",  "wound-wait",
                                        "occ", "si",      "terminals", "think_time"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {{"2pl", "2pl"},
                 {"2lp", "2pl"},
                 {"2PL", "2pl"},
                 {"nowait", "no-wait"},
                 {"no_wait", "no-wait"},
                 {"wait-dei", "wait-die"},
                 {"woundwait", "wound-wait"},
                 {"terminal", "terminals"},
                 {"treminals", "terminals"},
                 {"thinktime", "think_time"},
                 {"ock", "occ"},
                 {"s", "si"},
                 {"turbines", NULL},
                 {"x", NULL},
                 {"", NULL},
                 {"database", NULL},
                 {"zz", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *nearest = text_nearest(cases[i].word, names, sizeof names / sizeof names[0]);
        if (cases[i].nearest == NULL) {
            assert_null(nearest);
        } else {
            assert_non_null(nearest);
            assert_string_equal(nearest, cases[i].nearest);
        }
    }
    static const char *const twins[] = {"rowa", "rowb"};
    assert_string_equal(text_nearest("rowc", twins, 2), "rowa");
    char endless[5000];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_null(text_nearest(endless, names, sizeof names / sizeof names[0]));
    const char *const endless_names[] = {endless, "2pl"};
    assert_string_equal(text_nearest("2lp", endless_names, 2), "2pl");
    assert_null(text_nearest("2pl", names, 0));
}

static void suggestions_are_worded(void **state) {
    (void)state;
    static const char *const names[] = {"occ"};
    char buffer[64], tiny[8];
    assert_string_equal(text_suggestion(buffer, sizeof buffer, "coc", names, 1), "; did you mean occ?");
    assert_string_equal(text_suggestion(buffer, sizeof buffer, "serial", names, 1), "");
    assert_string_equal(text_suggestion(tiny, sizeof tiny, "coc", names, 1), "; did y");
}

TEST_GROUP(text, cmocka_unit_test(text_grows), cmocka_unit_test(numbers_are_spelled),
           cmocka_unit_test(numbers_can_be_read_back), cmocka_unit_test(a_decimal_comma_changes_nothing),
           cmocka_unit_test(integers_are_parsed), cmocka_unit_test(decimals_are_parsed),
           cmocka_unit_test(durations_are_parsed), cmocka_unit_test(shares_sizes_and_rates_are_parsed),
           cmocka_unit_test(calls_are_split), cmocka_unit_test(blanks_are_trimmed),
           cmocka_unit_test(the_nearest_name_is_found), cmocka_unit_test(suggestions_are_worded))
