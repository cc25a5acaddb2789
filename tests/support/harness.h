/* harness.h - what every test file includes, instead of cmocka.h.
 *
 * A file tests/unit/test_heap.c (or conform, schedules, golden) ends with
 *
 *     TEST_GROUP(heap, cmocka_unit_test(pops_in_order), cmocka_unit_test(keeps_ties_in_sequence))
 *
 * and is found by its name: make lists the groups, one program runs them all. Each group runs in a process of its own,
 * so that a failed CHECK costs one group and no test leans on what another group left behind. Tests are started in the
 * root of the source tree. */
#ifndef CCSIM_TESTS_SUPPORT_HARNESS_H
#define CCSIM_TESTS_SUPPORT_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Where the programs under test were built; make says it. */
#ifndef CCSIM_BUILD_DIR
#define CCSIM_BUILD_DIR "build"
#endif

/* The group's name is the file's: test_NAME.c. It must be an identifier. */
#define TEST_GROUP(name, ...)                               \
    extern const struct CMUnitTest name##_tests[];          \
    extern const size_t name##_tests_count;                 \
    const struct CMUnitTest name##_tests[] = {__VA_ARGS__}; \
    const size_t name##_tests_count = sizeof name##_tests / sizeof name##_tests[0];

/* |actual - expected| <= tolerance, in double precision; a NaN is near nothing. */
#define assert_near(actual, expected, tolerance) \
    harness_assert_near((double)(actual), (double)(expected), (double)(tolerance), #actual, __FILE__, __LINE__)

/* `text` has `part` somewhere in it. */
#define assert_contains(text, part) harness_assert_contains((text), (part), #text, __FILE__, __LINE__)

/* Ends the test as skipped and counts it as that. */
#define test_skip() (harness_count_skip(), skip())

/* Is this `make check-long`? Tests that can look at more seeds or longer runs do so then. */
bool test_long(void);

/* The program under test, and an empty directory for this group's files, removed when the group ends. */
const char *test_program(void);
const char *test_directory(void);

void harness_assert_near(double actual, double expected, double tolerance, const char *expression, const char *file,
                         int line);
void harness_assert_contains(const char *text, const char *part, const char *expression, const char *file, int line);
void harness_count_skip(void);
size_t harness_skips(void);          /* tests of this process that were skipped */
void harness_remove_directory(void); /* what test_directory made, if anything */

/* The groups, listed by make from the file names. */
struct test_group {
    const char *path; /* tests/unit/test_heap.c */
    const char *name; /* heap */
    const struct CMUnitTest *tests;
    const size_t *count;
};
extern const struct test_group test_groups[];
extern const size_t test_groups_count;

#endif
