/* test_lectures.c - the lecture schedules of configs/schedules/: each opens with its question, and plays as its
 * comments say. An expectation stands below the schedule it is about (facts.h has the sentences):
 *
 *     # expect 2pl detect=after(1s): 4 waits for T1; T2 is aborted; final x=1 */
#include "tests/support/facts.h"
#include "tests/support/harness.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/base/option.h"
#include "sim/cc/cc.h"

static char *read_file(const char *path) {
    struct text text = {0};
    char buffer[4096];
    size_t count;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0) {
        text_add_bytes(&text, buffer, count);
    }
    fclose(file);
    return text.bytes;
}

/* `2pl victim=oldest`: the algorithm, with its options set. */
static const struct cc_ops *open_algorithm(char *words, void **options, const char *where) {
    char *rest = words, *word = strsep(&rest, " ");
    const struct cc_ops *algorithm = cc_find(word);
    if (algorithm == NULL) {
        fail_msg("%s: there is no algorithm `%s'", where, word);
        return NULL;
    }
    *options = algorithm->options != NULL ? mem_new(1, algorithm->options->size) : NULL;
    if (*options != NULL) {
        options_default(algorithm->options, *options);
    }
    while ((word = strsep(&rest, " ")) != NULL) {
        struct text error = {0};
        char *equals = strchr(word, '=');
        const struct option *option = NULL;
        if (equals != NULL && algorithm->options != NULL) {
            *equals = '\0';
            option = option_find(algorithm->options, word);
        }
        if (option == NULL || !option_parse(option, equals + 1, *options, &error)) {
            fail_msg("%s: `%s' is no option of %s", where, word, algorithm->name);
        }
    }
    return algorithm;
}

/* What begins with the same word. */
static void print_alike(const struct text *facts, const char *fact) {
    size_t length = strcspn(fact, " ");
    for (const char *line = text_string(facts); *line != '\0'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, fact, length) == 0 && line[length] == ' ') {
            print_error("    but: %.*s\n", (int)strcspn(line, "\n"), line);
        }
    }
}

/* One line of expectations; how many there were, and how many of them wrong. */
static size_t check_line(char *line, const struct schedule *schedule, const char *where, size_t *wrong) {
    char *colon = strstr(line, ": ");
    assert_non_null(colon);
    *colon = '\0';
    void *options = NULL;
    const struct cc_ops *algorithm = open_algorithm(line, &options, where);
    struct play play;
    struct text facts = {0};
    size_t count = 0;
    play_schedule(&play, schedule, algorithm, options, true);
    facts_add(&play, &facts);
    for (char *rest = colon + 2, *fact; (fact = strsep(&rest, ";")) != NULL; count++) {
        fact = text_trim(fact);
        if (!facts_have(&facts, fact)) {
            print_error("%s: %s: not so: %s\n", where, algorithm->name, fact);
            print_alike(&facts, fact);
            *wrong += 1;
        }
    }
    text_free(&facts);
    play_free(&play);
    mem_free(options);
    return count;
}

static const char expect[] = "# expect ";

static size_t check_file(const char *path, size_t *wrong) {
    struct schedule_book book = {0};
    char *text = read_file(path), *rest = text, *line;
    size_t at = 0, expected = 0;
    uint32_t number = 0, last = 0;
    schedule_parse(&book, path, text, strlen(text), NULL);
    if (book.mistake_count > 0) {
        fail_msg("%s:%u:%u: %s", path, book.mistakes[0].line, book.mistakes[0].column, book.mistakes[0].sentence);
    }
    assert_true(strncmp(text, "# ", 2) == 0);
    assert_non_null(strchr(text, '?')); /* the question it asks */
    while ((line = strsep(&rest, "\n")) != NULL) {
        number++;
        while (at + 1 < book.count && book.schedules[at + 1].line <= number) {
            at++;
        }
        if (strncmp(line, expect, strlen(expect)) == 0) {
            char where[300];
            snprintf(where, sizeof where, "%s:%u", path, number);
            assert_true(book.schedules[at].line < number);
            assert_true(last == book.schedules[at].line || at == 0 ||
                        last == book.schedules[at - 1].line); /* none left out */
            last = book.schedules[at].line;
            expected += check_line(line + strlen(expect), &book.schedules[at], where, wrong);
        }
    }
    assert_int_equal(last, book.schedules[book.count - 1].line);
    schedule_book_free(&book);
    mem_free(text);
    return expected;
}

static void play_as_expected(void **state) {
    (void)state;
    glob_t found;
    size_t expected = 0, wrong = 0;
    assert_int_equal(glob("configs/schedules/*.txt", 0, NULL, &found), 0);
    assert_in_range(found.gl_pathc, 12, 1000);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        expected += check_file(found.gl_pathv[i], &wrong);
    }
    assert_int_equal(wrong, 0);
    assert_in_range(expected, 100, 100000);
    globfree(&found);
}

TEST_GROUP(lectures, cmocka_unit_test(play_as_expected))
