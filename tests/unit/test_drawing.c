/* test_drawing.c - what a map says of numbers that can be compared by eye. */
#include "sim/lab/drawing.h"

#include "sim/base/memory.h"
#include "tests/support/harness.h"

enum { WIDTH = 6 };
static const char *const header[WIDTH] = {"algorithm", "workload",       "theta",
                                          "share",     "throughput_tps", "throughput_tps_ci95"};

/* The columns of a real summary: `replications` ends the axes. */
static void draw(const char *const rows[][WIDTH], size_t count, bool lowest, struct text *script, struct text *error,
                 bool expected) {
    static char name[] = "best", title[] = "The best", x[] = "theta", y[] = "share", group[] = "algorithm",
                value[] = "throughput_tps";
    VECTOR(char *) cells = {0};
    for (size_t row = 0; row <= count; row++) {
        for (size_t i = 0; i < WIDTH; i++) {
            if (i == 4) {
                vector_push(&cells, mem_string(row == 0 ? "replications" : "3"));
            }
            vector_push(&cells, mem_string(row == 0 ? header[i] : rows[row - 1][i]));
        }
    }
    struct drawing_data data = {.cells = cells.items, .width = WIDTH + 1, .rows = count + 1};
    struct figure figure = {.kind = FIGURE_MAP,
                            .name = name,
                            .title = title,
                            .x = x,
                            .y = y,
                            .group = group,
                            .value = value,
                            .lowest = lowest,
                            .x_label = x,
                            .y_label = y};
    const struct drawing_format format = {"svg", "svg"};
    assert_true(drawing_script(&figure, &data, &format, script, error) == expected);
    for (size_t i = 0; i < cells.count; i++) {
        mem_free(cells.items[i]);
    }
    vector_free(&cells);
}

static const char *const four_cells[][WIDTH] = {
    {"2pl", "ycsb", "0", "0.5", "100", "1"}, {"2pl", "ycsb", "0.9", "0.5", "10", "1"},
    {"2pl", "ycsb", "0", "1", "100", "3"},   {"2pl", "ycsb", "0.9", "1", "3", "0"},
    {"occ", "ycsb", "0", "0.5", "80", "1"},  {"occ", "ycsb", "0.9", "0.5", "10.2", "0.1"},
    {"occ", "ycsb", "0", "1", "106", "4"},   {"occ", "ycsb", "0.9", "1", "", ""},
    {"si", "ycsb", "0", "0.5", "50", "1"},   {"si", "ycsb", "0.9", "0.5", "500", "1"},
    {"si", "ycsb", "0", "1", "inf", "0"},    {"si", "ycsb", "0.9", "1", "2.9", "0"},
};

/* 100 against 80: a quarter more; 500 against 10.2: many times; 106 +- 4 against 100 +- 3: 6 is more than the root of 25, and
 * what is not finite is nobody's; 3 against 2.9: 3.4%. */
static void the_best_and_its_lead(void **state) {
    (void)state;
    struct text script = {0}, error = {0};
    draw(four_cells, sizeof four_cells / sizeof four_cells[0], false, &script, &error, true);
    assert_contains(text_string(&script), "\n1,1,1,\"2pl\",\"+25%\"\n");
    assert_contains(text_string(&script), "\n2,1,3,\"si\",\"> 10 x\"\n");
    assert_contains(text_string(&script), "\n1,2,2,\"occ\",\"+6.0%\"\n");
    assert_contains(text_string(&script), "\n2,2,1,\"2pl\",\"+3.4%\"\n");
    assert_contains(text_string(&script), "set xtics ('0' 1, '0.9' 2)");
    assert_contains(text_string(&script), "set ytics ('0.5' 1, '1' 2)");
    text_free(&script);
    text_free(&error);
}

/* The same the other way round; 10 +- 1 and 10.2 +- 0.1 cannot be told apart. */
static void the_lowest_may_be_the_best(void **state) {
    (void)state;
    struct text script = {0}, error = {0};
    draw(four_cells, sizeof four_cells / sizeof four_cells[0], true, &script, &error, true);
    assert_contains(text_string(&script), "\n1,1,3,\"si\",\"+60%\"\n");
    assert_contains(text_string(&script), "\n2,1,1,\"2pl\",\"= occ\"\n");
    assert_contains(text_string(&script), "\n2,2,3,\"si\",\"+3.4%\"\n");
    text_free(&script);
    text_free(&error);
}

static void an_axis_left_open(void **state) {
    (void)state;
    static const char *const rows[][WIDTH] = {{"2pl", "bank", "0", "0.5", "100", "1"},
                                              {"2pl", "ycsb", "0", "0.5", "100", "1"}};
    struct text script = {0}, error = {0};
    draw(rows, 2, false, &script, &error, false);
    assert_string_equal(text_string(&error),
                        "[figure best]: a map shows x, y and group, and `workload` varies too: pick "
                        "a value with --only");
    text_free(&script);
    text_free(&error);
}

TEST_GROUP(drawing, cmocka_unit_test(the_best_and_its_lead), cmocka_unit_test(the_lowest_may_be_the_best),
           cmocka_unit_test(an_axis_left_open))
