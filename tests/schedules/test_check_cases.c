/* test_check_cases.c - schedules with their known classification (check.jsonl, computed by brute force from the
 * definitions): the judge agrees on every field of every one. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "sim/check/history.h"
#include "sim/check/judge.h"
#include "tests/support/harness.h"

enum { CASES = 413 };

static void check_property(const char *text, const json_t *wanted, const char *key, enum judge_answer answer) {
    const json_t *value = json_object_get(wanted, key);
    if (value != NULL && (answer == JUDGE_OPEN || json_is_true(value) != (answer == JUDGE_YES))) {
        print_error("%s: %s is not %s\n", text, key, json_is_true(value) ? "false" : "true");
        fail();
    }
}

static void check_phenomena(const char *text, const json_t *wanted, const struct verdict *verdict) {
    const json_t *list = json_object_get(wanted, "phenomena");
    for (enum anomaly_name name = ANOMALY_P0; name < ANOMALY_G0; name++) {
        bool listed = false;
        for (size_t i = 0; i < json_array_size(list); i++) {
            listed = listed || strcmp(json_string_value(json_array_get(list, i)), anomaly_texts[name].name) == 0;
        }
        if (listed != verdict->anomalies[name].found) {
            print_error("%s: %s %s\n", text, anomaly_texts[name].name, listed ? "not found" : "found");
            fail();
        }
    }
}

static void check_case(const json_t *wanted) {
    static const char *const keys[JUDGE_PROPERTIES] = {
        [JUDGE_CONFLICT_SERIALIZABLE] = "conflict_serializable",
        [JUDGE_VIEW_SERIALIZABLE] = "view_serializable",
        [JUDGE_RECOVERABLE] = "recoverable",
        [JUDGE_CASCADELESS] = "cascadeless",
        [JUDGE_STRICT] = "strict",
        [JUDGE_RIGOROUS] = "rigorous",
    };
    const char *text = json_string_value(json_object_get(wanted, "schedule"));
    struct schedule_book book = {0};
    struct verdict verdict;
    assert_non_null(text);
    schedule_parse(&book, "case", text, strlen(text), NULL);
    assert_int_equal(book.mistake_count, 0);
    assert_int_equal(book.count, 1);
    assert_true(history_order(&book, "case", &book.schedules[0]));
    assert_true(judge(&verdict, &book.schedules[0]));
    for (enum judge_property p = 0; p < JUDGE_PROPERTIES; p++) {
        check_property(text, wanted, keys[p], verdict.properties[p]);
    }
    check_phenomena(text, wanted, &verdict);
    verdict_free(&verdict);
    schedule_book_free(&book);
}

static void all_cases_agree(void **state) {
    (void)state;
    FILE *file = fopen("tests/schedules/check.jsonl", "r");
    assert_non_null(file);
    char line[4096];
    int count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        json_error_t error;
        json_t *wanted = json_loads(line, 0, &error);
        assert_non_null(wanted);
        check_case(wanted);
        json_decref(wanted);
        count++;
    }
    fclose(file);
    assert_int_equal(count, CASES);
}

static void judge_example(const char *text, struct verdict *verdict) {
    struct schedule_book book = {0};
    schedule_parse(&book, "example", text, strlen(text), NULL);
    assert_int_equal(book.mistake_count, 0);
    assert_int_equal(book.count, 1);
    assert_true(judge(verdict, &book.schedules[0]));
    schedule_book_free(&book);
}

/* The manual's example of an anomaly has it, that of a property has it and not the next stronger one. */
static void examples_show_what_they_should(void **state) {
    (void)state;
    struct verdict verdict;
    for (size_t i = 0; i < ANOMALY_COUNT; i++) {
        judge_example(anomaly_texts[i].example, &verdict);
        if (!verdict.anomalies[i].found) {
            print_error("%s is not in %s\n", anomaly_texts[i].name, anomaly_texts[i].example);
            fail();
        }
        verdict_free(&verdict);
    }
    assert_int_equal(property_text_count, JUDGE_PROPERTIES);
    for (enum judge_property p = 0; p < JUDGE_PROPERTIES; p++) {
        judge_example(property_texts[p].example, &verdict);
        assert_int_equal(verdict.properties[p], JUDGE_YES);
        if (p >= JUDGE_RECOVERABLE && p < JUDGE_RIGOROUS) {
            assert_int_equal(verdict.properties[p + 1], JUDGE_NO);
        }
        if (p == JUDGE_VIEW_SERIALIZABLE) {
            assert_int_equal(verdict.properties[JUDGE_CONFLICT_SERIALIZABLE], JUDGE_NO);
        }
        verdict_free(&verdict);
    }
}

/* Adya's list, and it alone: a read depends on the write it saw, a change of what matches on what was left. */
static void anomalies_go_by_versions(void **state) {
    (void)state;
    static const struct {
        const char *text, *anomalies;
    } cases[] = {
        {"r3(x) w1(x) w2(x) r3(x) c1 c3 a2", " G1a"},
        {"r3(x) w1(x) r3(x) c1 c3", " G-single G2-item G2"}, /* it saw T1's */
        {"init x=3\npred P: v>10\nq1(P) w2(x,15) w2(x,3) c2 q1(P) c1", ""},
        {"init x=3\npred P: v>10\nq1(P) w2(x,15) w2(x,12) c2 q1(P) c1", " G-single G2"},
        {"r3(x) w1(x) w2(x) c1 r3(x) c3 a2 r4(x) c4", " G1a"}, /* T4 saw T1's again, T3 did not */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct verdict verdict;
        struct text found = {0};
        judge_example(cases[i].text, &verdict);
        for (enum anomaly_name name = ANOMALY_G0; name < ANOMALY_COUNT; name++) {
            if (verdict.anomalies[name].found) {
                text_add(&found, " %s", anomaly_texts[name].name);
            }
        }
        if (strcmp(text_string(&found), cases[i].anomalies) != 0) {
            print_error("%s: has%s\n", cases[i].text, text_string(&found));
            fail();
        }
        text_free(&found);
        verdict_free(&verdict);
    }
}

TEST_GROUP(check_cases, cmocka_unit_test(all_cases_agree), cmocka_unit_test(examples_show_what_they_should),
           cmocka_unit_test(anomalies_go_by_versions))
