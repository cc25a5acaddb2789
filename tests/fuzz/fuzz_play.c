/* fuzz_play.c - libFuzzer: whatever parses as schedules plays to the end under every algorithm, keeps the algorithm's
 * promise, and plays the same way twice. */
#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/base/option.h"
#include "sim/cc/cc.h"
#include "sim/exec/player.h"

enum { SIZE_MAX_PLAYED = 600 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_play(const struct play *play) {
    bool serializable = play->verdict.properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES;
    bool promised = play->algorithm->level == LEVEL_SER && play->algorithm != cc_find("none");
    CHECK(!play->judged || !promised || serializable);
}

static bool ends_alike(const struct play *a, const struct play *b) {
    bool alike = a->ends.count == b->ends.count && a->events.count == b->events.count;
    for (size_t i = 0; alike && i < a->ends.count; i++) {
        alike = a->ends.items[i].txn == b->ends.items[i].txn && a->ends.items[i].kind == b->ends.items[i].kind;
    }
    return alike;
}

static void play_all(const struct schedule *schedule) {
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *algorithm = cc_registry[i];
        void *options = NULL;
        struct play once, again;
        if (algorithm->options != NULL) {
            options = mem_new(1, algorithm->options->size);
            options_default(algorithm->options, options);
        }
        play_schedule(&once, schedule, algorithm, options, true);
        play_schedule(&again, schedule, algorithm, options, false);
        check_play(&once);
        CHECK(ends_alike(&once, &again));
        play_free(&once);
        play_free(&again);
        mem_free(options);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct schedule_book book = {0};
    if (size > SIZE_MAX_PLAYED) {
        return 0;
    }
    schedule_parse(&book, "fuzz", (const char *)data, size, NULL);
    for (size_t i = 0; book.mistake_count == 0 && i < book.count; i++) {
        play_all(&book.schedules[i]);
    }
    schedule_book_free(&book);
    return 0;
}
