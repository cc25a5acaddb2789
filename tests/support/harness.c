/* harness.c - the assertions that cmocka lacks, and the places where a test finds the program and may write. */
#include "tests/support/harness.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[4096]; /* empty: none was asked for */
static size_t skips;

bool test_long(void) {
    const char *value = getenv("CCSIM_LONG");
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

const char *test_program(void) { return CCSIM_BUILD_DIR "/ccsim"; }

const char *test_directory(void) {
    if (directory[0] == '\0') {
        const char *parent = getenv("TMPDIR");
        snprintf(directory, sizeof directory, "%s/ccsim_test_XXXXXX", parent != NULL ? parent : "/tmp");
        if (mkdtemp(directory) == NULL) {
            perror(directory);
            exit(EXIT_FAILURE);
        }
    }
    return directory;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *position) {
    (void)status;
    (void)kind;
    (void)position;
    return remove(path);
}

void harness_remove_directory(void) {
    if (directory[0] != '\0') {
        nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        directory[0] = '\0';
    }
}

void harness_count_skip(void) { skips++; }

size_t harness_skips(void) { return skips; }

void harness_assert_near(double actual, double expected, double tolerance, const char *expression, const char *file,
                         int line) {
    /* Equal infinities are near although their difference is no number; written so that a NaN fails. */
    if (actual == expected || fabs(actual - expected) <= tolerance) {
        return;
    }
    print_error("%s is %.17g, not within %.6g of %.17g\n", expression, actual, tolerance, expected);
    _fail(file, line);
}

void harness_assert_contains(const char *text, const char *part, const char *expression, const char *file, int line) {
    if (text == NULL || strstr(text, part) == NULL) {
        print_error("%s does not contain \"%s\"; it is:\n%s\n", expression, part, text != NULL ? text : "(null)");
        _fail(file, line);
    }
}
