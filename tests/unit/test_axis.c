/* test_axis.c - lists and ranges, against values written out by hand and, for steps, against a naive model in
 * integers. */
#include "sim/lab/axis.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/harness.h"

/* The values, between blanks; of a mistake, its sentence between angle brackets. */
static const char *expand(const char *text) {
    static struct text out;
    struct axis_values values = {0};
    struct text error = {0};
    text_clear(&out);
    if (axis_parse(text, &values, &error)) {
        assert_int_equal(values.total, values.count);
        for (size_t i = 0; i < values.count; i++) {
            text_add(&out, "%s%s", i == 0 ? "" : " ", values.items[i]);
        }
    } else {
        text_add(&out, "<%s>", text_string(&error));
    }
    text_free(&error);
    axis_free(&values);
    return text_string(&out);
}

struct example {
    const char *text, *values;
};

static void check_all(const struct example *examples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(expand(examples[i].text), examples[i].values);
    }
}
#define CHECK_ALL(examples) check_all((examples), sizeof(examples) / sizeof(examples)[0])

static void lists_split_outside_of_brackets(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"2pl occ si", "2pl occ si"},
        {"  2pl,occ ,\tsi  ", "2pl occ si"},
        {"exp(1ms) uniform(1ms, 3ms)", "exp(1ms) uniform(1ms, 3ms)"},
        {"a(b(c, d) e)f g", "a(b(c, d) e)f g"},
        {"1", "1"},
        {"unlimited 8", "unlimited 8"},
        {"1 4..16 *2 100", "1 4 8 16 100"},
    };
    CHECK_ALL(examples);
}

static void ranges_multiply(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"1..128 *2", "1 2 4 8 16 32 64 128"},
        {"1..100 *3", "1 3 9 27 81"},
        {"1..8*2", "1 2 4 8"},
        {"1..8 * 2", "1 2 4 8"},
        {"5..5 *2", "5"},
        {"0.1..100 *10", "0.1 1 10 100"},
        {"1..4 *1.5", "1 1.5 2.25 3.375"},
        {"1ms..1s *10", "1ms 10ms 100ms 1000ms"},
        {"1KiB..1MiB *32", "1KiB 32KiB 1024KiB"},
        {"100/s..800/s *2", "100/s 200/s 400/s 800/s"},
    };
    CHECK_ALL(examples);
}

/* 1.1^17 = 11^17 / 10^17 = 5.05447028499293771 has 18 digits: the last is rounded away. 5.0544702849929377 x 1.1 =
 * 5.55991731349223147, rounded up. */
static void products_are_rounded_to_17_digits(void **state) {
    (void)state;
    struct axis_values values = {0};
    struct text error = {0};
    assert_true(axis_parse("1..6 *1.1", &values, &error));
    assert_int_equal(values.count, 19);
    assert_string_equal(values.items[16], "4.5949729863572161");
    assert_string_equal(values.items[17], "5.0544702849929377");
    assert_string_equal(values.items[18], "5.5599173134922315");
    axis_free(&values);
    text_free(&error);
}

static void ranges_add_without_drift(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"0..1 +0.1", "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"},
        {"10ms..50ms +10ms", "10ms 20ms 30ms 40ms 50ms"},
        {"0..50% +25%", "0% 25% 50%"},
        {"0..2ms +1ms", "0ms 1ms 2ms"},
        {"1s..2s +500ms", "1000ms 1500ms 2000ms"},
        {"500us..2ms +500us", "500us 1000us 1500us 2000us"},
        {"0.25..1.1 +.25", "0.25 0.5 0.75 1"},
        {"-1..1 +0.5", "-1 -0.5 0 0.5 1"},
        {"1..10 +4", "1 5 9"},
        {"7..7 +1", "7"},
    };
    CHECK_ALL(examples);
}

static void no_step_drifts(void **state) {
    (void)state;
    struct axis_values values = {0};
    struct text error = {0};
    assert_true(axis_parse("0..10 +0.001", &values, &error));
    assert_int_equal(values.count, 10001);
    for (int i = 0; i <= 10000; i++) {
        char expected[32];
        double value = -1;
        snprintf(expected, sizeof expected, "%d.%03d", i / 1000, i % 1000);
        assert_true(text_parse_number(values.items[i], &value));
        assert_true(value == (double)i / 1000.0 || strcmp(values.items[i], expected) == 0);
        assert_true(strlen(values.items[i]) <= strlen(expected));
    }
    axis_free(&values);
    text_free(&error);
}

static void mistakes_have_sentences(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"", "<there is no value>"},
        {" , ", "<there is no value>"},
        {"1..8", "<the range `1..8` has no step, such as +1 or *2>"},
        {"1..8 16", "<the range `1..8` has no step, such as +1 or *2>"},
        {"8..1 +1", "<the range `8..1 +1` is empty: it begins above its end>"},
        {"1..8 +0", "<the step of the range `1..8 +0` must be above 0>"},
        {"1..8 +-1", "<the step of the range `1..8 +-1` must be above 0>"},
        {"1..8 *1", "<the factor of the range `1..8 *1` must be above 1>"},
        {"1..8 *0.5", "<the factor of the range `1..8 *0.5` must be above 1>"},
        {"0..8 *2", "<the range `0..8 *2` multiplies, so it must begin above 0>"},
        {"1ms..8 +1ms", "<the units of the range `1ms..8 +1ms` do not go together>"},
        {"1ms..8KiB +1ms", "<the units of the range `1ms..8KiB +1ms` do not go together>"},
        {"1ms..8ms *2ms", "<the factor of the range `1ms..8ms *2ms` must be a number without a unit>"},
        {"1..8 *", "<`` in a range is not a number of at most 17 digits>"},
        {"..8 +1", "<`` in a range is not a number of at most 17 digits>"},
        {"1..8x +1", "<`8x` in a range has an unknown unit `x`>"},
        {"1..123456789012345678 *2", "<`123456789012345678` in a range is not a number of at most 17 digits>"},
        {"0..10000000000000000 +0.001",
         "<the range `0..10000000000000000 +0.001` needs numbers of more than 17 digits>"},
        {"1000000h..2000000h +1ns", "<the range `1000000h..2000000h +1ns` needs numbers of more than 17 digits>"},
    };
    CHECK_ALL(examples);
}

static uint64_t total_of(const char *text) {
    struct axis_values values = {0};
    struct text error = {0};
    assert_true(axis_parse(text, &values, &error));
    assert_true(values.count <= AXIS_VALUES_MAX);
    uint64_t total = values.total;
    axis_free(&values);
    text_free(&error);
    return total;
}

static void long_ranges_are_counted_not_kept(void **state) {
    (void)state;
    assert_int_equal(total_of("1..10000000 +1"), 10000000);
    assert_int_equal(total_of("0..10000000000000 +1"), UINT64_C(10000000000001));
    assert_int_equal(total_of("1..1000000 +1"), 1000000);
    assert_int_equal(total_of("0..1000000 +1"), 1000001);
}

TEST_GROUP(axis, cmocka_unit_test(lists_split_outside_of_brackets), cmocka_unit_test(ranges_multiply),
           cmocka_unit_test(products_are_rounded_to_17_digits), cmocka_unit_test(ranges_add_without_drift),
           cmocka_unit_test(no_step_drifts), cmocka_unit_test(mistakes_have_sentences),
           cmocka_unit_test(long_ranges_are_counted_not_kept))
