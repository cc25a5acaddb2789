/* fuzz_schedule.c - libFuzzer feeds texts to the parser of schedules and what it takes to the judge. Whatever comes,
 * the places of mistakes lie in the text and properties that imply each other do. */
#include <stddef.h>
#include <stdint.h>

#include "sim/base/check.h"
#include "sim/check/history.h"
#include "sim/check/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(int64_t from, int64_t to, const char *steps, void *user) {
    (void)from;
    (void)to;
    (void)steps;
    (void)user;
}

static bool yes(const struct verdict *verdict, enum judge_property property) {
    return verdict->properties[property] == JUDGE_YES;
}

static void judge_one(const struct schedule *schedule) {
    struct verdict verdict;
    if (!judge(&verdict, schedule)) {
        return;
    }
    CHECK(!yes(&verdict, JUDGE_RIGOROUS) || yes(&verdict, JUDGE_STRICT));
    CHECK(!yes(&verdict, JUDGE_STRICT) || yes(&verdict, JUDGE_CASCADELESS));
    CHECK(!yes(&verdict, JUDGE_CASCADELESS) || yes(&verdict, JUDGE_RECOVERABLE));
    CHECK(!yes(&verdict, JUDGE_CONFLICT_SERIALIZABLE) || verdict.properties[JUDGE_VIEW_SERIALIZABLE] != JUDGE_NO);
    CHECK(yes(&verdict, JUDGE_CONFLICT_SERIALIZABLE) ==
          !(verdict.anomalies[ANOMALY_G1C].found || verdict.anomalies[ANOMALY_G2].found));
    judge_each_conflict(schedule, ignore, NULL);
    verdict_free(&verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct schedule_book book = {0};
    schedule_parse(&book, "fuzz", (const char *)data, size, NULL);
    for (size_t i = 0; i < book.mistake_count; i++) {
        CHECK(book.mistakes[i].line >= 1 && book.mistakes[i].column >= 1);
        CHECK(book.mistakes[i].line <= size + 1 && book.mistakes[i].column <= size + 1);
    }
    for (size_t i = 0; i < book.count && book.mistake_count == 0; i++) {
        if (history_order(&book, "fuzz", &book.schedules[i])) {
            judge_one(&book.schedules[i]);
        }
    }
    schedule_book_free(&book);
    return 0;
}
