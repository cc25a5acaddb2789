/* test_play_cases.c - schedules that were run on a real multiversion engine, with what came of every step (play.jsonl):
 * those of algorithms that exist play to the same outcome, step by step. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/cli/play.h"
#include "tests/support/harness.h"

enum { CASES = 501, CASES_PLAYED = 501 };

static void parse(const json_t *wanted, struct schedule_book *book) {
    const char *text = json_string_value(json_object_get(wanted, "schedule")), *name;
    struct text init = {0};
    const char *inits[1];
    struct schedule_header header = {.inits = inits, .init_count = 1};
    json_t *value;
    json_object_foreach(json_object_get(wanted, "init"), name, value) {
        text_add(&init, "%s%s=%lld", init.length > 0 ? "," : "", name, (long long)json_integer_value(value));
    }
    inits[0] = text_string(&init);
    schedule_parse(book, "case", text, strlen(text), &header);
    text_free(&init);
    assert_int_equal(book->mistake_count, 0);
    assert_int_equal(book->count, 1);
}

static bool differs(const json_t *wanted, const json_t *got, const char *name, const char *what) {
    if (json_equal(wanted, got)) {
        return false;
    }
    char *left = json_dumps(wanted, JSON_ENCODE_ANY), *right = json_dumps(got, JSON_ENCODE_ANY);
    print_error("%s: %s is %s, not %s\n", name, what, right, left);
    free(left);
    free(right);
    return true;
}

/* Serializable by values is what the case says; the verdict's conflicts may be stricter, never laxer. */
static bool check_verdict(const json_t *wanted, const struct play *play, const char *name) {
    bool by_values = json_is_true(json_object_get(wanted, "serializable"));
    const enum judge_answer *properties = play->verdict.properties;
    bool lax = properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES && !by_values;
    bool strict = properties[JUDGE_VIEW_SERIALIZABLE] == JUDGE_NO && by_values;
    if (!play->judged || lax || strict) {
        print_error("%s: the verdict is wrong\n", name);
        return true;
    }
    return false;
}

static size_t check_case(const json_t *wanted, const struct cc_ops *algorithm) {
    const char *name = json_string_value(json_object_get(wanted, "name"));
    const json_t *steps = json_object_get(wanted, "steps");
    struct schedule_book book = {0};
    struct play play;
    void *options = algorithm->options != NULL ? mem_new(1, algorithm->options->size) : NULL;
    size_t wrong = 0;
    if (options != NULL) {
        options_default(algorithm->options, options);
    }
    parse(wanted, &book);
    play_schedule(&play, &book.schedules[0], algorithm, options, false);
    json_t *got = play_json(&play, false);
    const json_t *played = json_object_get(got, "steps");
    assert_int_equal(json_array_size(played), json_array_size(steps));
    for (size_t i = 0; i < json_array_size(steps); i++) {
        char what[32];
        snprintf(what, sizeof what, "step %zu", i);
        wrong += differs(json_array_get(steps, i), json_array_get(played, i), name, what);
    }
    wrong += differs(json_object_get(wanted, "ends"), json_object_get(got, "ends"), name, "ends");
    wrong += differs(json_object_get(wanted, "final"), json_object_get(got, "final"), name, "final");
    wrong += check_verdict(wanted, &play, name);
    json_decref(got);
    play_free(&play);
    schedule_book_free(&book);
    mem_free(options);
    return wrong;
}

static void all_cases_play(void **state) {
    (void)state;
    FILE *file = fopen("tests/schedules/play.jsonl", "r");
    char line[16384];
    size_t wrong = 0, cases = 0, played = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        json_error_t error;
        json_t *wanted = json_loads(line, 0, &error);
        assert_non_null(wanted);
        const struct cc_ops *algorithm = cc_find(json_string_value(json_object_get(wanted, "algorithm")));
        if (algorithm != NULL) {
            wrong += check_case(wanted, algorithm);
            played++;
        }
        json_decref(wanted);
        cases++;
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_int_equal(cases, CASES);
    assert_in_range(played, CASES_PLAYED, CASES);
}

TEST_GROUP(play_cases, cmocka_unit_test(all_cases_play))
