/* test_lock_points.c - where the player finds the lock point, against the lock table of rigorous locking; and random
 * schedules under everything that unlocks before the commit or reads what is dirty, judged as they ran.
 *
 * The naive model of a lock point: play the transaction alone under 2pl; the point is the first step after which its lock
 * table is the final one. From there on 2pl-basic holds what later steps name, 2pl-strict also what was written. */
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/base/option.h"
#include "sim/base/random.h"
#include "sim/cc/cc.h"
#include "sim/exec/player.h"
#include "tests/support/harness.h"

enum { ALONE = 1500, TOGETHER = 1500, STEPS_MAX = 9, ROWS = 4 };

static struct stream stream;

static void open_stream(uint64_t seed) {
    struct stream_key key = {.seed = seed, .purpose = STREAM_TEST};
    stream_open(&stream, &key);
}

static int draw(int count) { return (int)stream_below(&stream, (uint64_t)count); }

static void play_text(struct play *play, struct schedule_book *book, const char *schedule, const char *algorithm,
                      const char *const *settings) {
    const struct cc_ops *ops = cc_find(algorithm);
    struct text error = {0};
    void *options = ops->options != NULL ? mem_new(1, ops->options->size) : NULL;
    if (options != NULL) {
        options_default(ops->options, options);
    }
    for (; settings != NULL && *settings != NULL; settings += 2) {
        assert_true(option_parse(option_find(ops->options, settings[0]), settings[1], options, &error));
    }
    *book = (struct schedule_book){0};
    schedule_parse(book, "test", schedule, strlen(schedule), NULL);
    assert_int_equal(book->mistake_count, 0);
    play_schedule(play, &book->schedules[0], ops, options, true);
    mem_free(options);
}

/* ---- One transaction alone ---- */

static const char row_letters[] = "xyzt";

/* By key only: that a scan takes no new lock cannot be known. */
static int draw_alone(char *out, size_t size) {
    static const char *const forms[] = {"r1(%c)", "r1(%c)",     "s1(%c)",        "u1(%c)",
                                        "w1(%c)", "w1(%c,+=1)", "w1(%c,5,if=3)", "d1(%c)"};
    int count = 1 + draw(STEPS_MAX);
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        char step[32];
        snprintf(step, sizeof step, forms[draw(8)], row_letters[draw(ROWS)]);
        length += (size_t)snprintf(out + length, size - length, "%s ", step);
    }
    snprintf(out + length, size - length, "c1");
    return count;
}

/* The mode held on the row after the step, ' ' if none. */
static char mode_after(const struct play *play, int step, char letter) {
    const struct play_moment *moment = &play->moments[step];
    for (size_t i = 0; i < moment->lock_count; i++) {
        const struct play_lock *lock = &play->locks.items[moment->first_lock + i];
        if (!lock->gap && play->schedule->rows[lock->row].name[0] == letter) {
            return lock->mode[0];
        }
    }
    return ' ';
}

static bool is_named_later(const struct play *play, int step, int count, char letter) {
    for (int i = step + 1; i < count; i++) {
        if (play->schedule->steps[i].text[3] == letter) {
            return true;
        }
    }
    return false;
}

static bool was_written(const struct play *play, int step, char letter) {
    for (int i = 0; i <= step; i++) {
        if (play->schedule->steps[i].text[3] == letter && play->steps[i].has_count && play->steps[i].count > 0) {
            return true;
        }
    }
    return false;
}

static int lock_point(const struct play *rigorous, int count) {
    int point = count - 1;
    for (bool same = true; point > 0 && same; point -= same) {
        for (int row = 0; row < ROWS; row++) {
            same = same && mode_after(rigorous, point - 1, row_letters[row]) ==
                               mode_after(rigorous, count - 1, row_letters[row]);
        }
    }
    return point;
}

static void compare_alone(const char *schedule, int count, const char *algorithm, bool keeps_writes) {
    struct schedule_book books[2];
    struct play rigorous, play;
    play_text(&rigorous, &books[0], schedule, "2pl", NULL);
    play_text(&play, &books[1], schedule, algorithm, NULL);
    int point = lock_point(&rigorous, count);
    for (int step = 0; step < count; step++) {
        for (int row = 0; row < ROWS; row++) {
            char letter = row_letters[row], mode = mode_after(&rigorous, step, letter);
            bool held = step < point || is_named_later(&rigorous, step, count, letter) ||
                        (keeps_writes && was_written(&rigorous, step, letter));
            if (mode_after(&play, step, letter) != (held ? mode : ' ')) {
                fail_msg("%s: %s: wrong lock on %c after step %d", algorithm, schedule, letter, step + 1);
            }
        }
    }
    play_free(&rigorous);
    play_free(&play);
    schedule_book_free(&books[0]);
    schedule_book_free(&books[1]);
}

static void locks_go_when_they_may(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ALONE; seed++) {
        char schedule[STEPS_MAX * 20];
        open_stream(seed);
        int count = draw_alone(schedule, sizeof schedule);
        compare_alone(schedule, count, "2pl-basic", false);
        compare_alone(schedule, count, "2pl-strict", true);
    }
}

/* ---- Several together ---- */

static void add_step(struct text *out, int number) {
    static const char *const forms[] = {"r%d(%c)",    "r%d(%c)", "u%d(%c)", "w%d(%c)", "w%d(%c)", "w%d(%c,+=1)",
                                        "w%d(%c,@x)", "d%d(%c)", "i%d(%c)", "q%d(P)",  "w%d(P,2)"};
    char step[32];
    snprintf(step, sizeof step, forms[draw(11)], number, row_letters[draw(ROWS)]);
    text_add(out, " %s", step);
}

static void draw_together(struct text *out) {
    bool back[4] = {false};
    text_add(out, "init x=1 y=2 z=3\npred P: id<=2\n");
    for (int i = 4 + draw(14); i > 0; i--) {
        int number = 1 + draw(3);
        if (draw(8) > 0) {
            add_step(out, number);
        } else if (!back[number]) {
            back[number] = true;
            text_add(out, " p%d(s)", number);
        } else {
            text_add(out, " f%d(s)", number);
        }
    }
    for (int number = 1; number <= 3; number++) {
        text_add(out, " r%d(t) %c%d", number, draw(3) > 0 ? 'c' : 'a', number);
    }
}

struct subject {
    const char *algorithm, *settings[5];
    bool recoverable, strict;
};
struct sums {
    size_t dirty, cascades, unrecoverable;
};

static void judge_play(const struct play *play, const struct subject *subject, const char *schedule,
                       struct sums *sums) {
    const enum judge_answer *properties = play->verdict.properties;
    if (!play->judged) {
        return;
    }
    bool good = properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES &&
                (!subject->recoverable || properties[JUDGE_RECOVERABLE] == JUDGE_YES) &&
                (!subject->strict || properties[JUDGE_STRICT] == JUDGE_YES);
    if (!good) {
        fail_msg("%s: %s\nran as %s", subject->algorithm, schedule, text_string(&play->ran));
    }
    sums->dirty += properties[JUDGE_CASCADELESS] == JUDGE_NO;
    sums->unrecoverable += properties[JUDGE_RECOVERABLE] == JUDGE_NO;
    for (size_t i = 0; i < play->killed.count; i++) {
        sums->cascades += play->killed.items[i].reason == REASON_CASCADE;
    }
}

static struct sums play_together(const struct subject *subject) {
    struct sums sums = {0};
    for (uint64_t seed = 1; seed <= TOGETHER; seed++) {
        struct schedule_book book;
        struct play play;
        struct text schedule = {0};
        open_stream(seed);
        draw_together(&schedule);
        play_text(&play, &book, text_string(&schedule), subject->algorithm, subject->settings);
        judge_play(&play, subject, text_string(&schedule), &sums);
        play_free(&play);
        schedule_book_free(&book);
        text_free(&schedule);
    }
    return sums;
}

/* What was committed is serializable, whatever the algorithm shows on the way. */
static void what_ran_is_what_was_promised(void **state) {
    (void)state;
    static const struct subject subjects[] = {
        {"2pl-strict", {NULL}, true, true},
        {"2pl-basic", {NULL}, true, false},
        {"2pl-basic", {"recoverable", "no", NULL}, false, false},
        {"2pl-strict", {"phantoms", "predicate", NULL}, true, true},
        {"2pl-basic", {"phantoms", "predicate", NULL}, true, false},
        {"to", {"strict", "no", NULL}, true, false},
        {"to", {"strict", "no", "recoverable", "no", NULL}, false, false},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        const struct subject *subject = &subjects[i];
        struct sums sums = play_together(subject);
        print_message("%s %s: %zu with dirty reads, %zu cascades, %zu unrecoverable\n", subject->algorithm,
                      subject->settings[0] != NULL ? subject->settings[0] : "", sums.dirty, sums.cascades,
                      sums.unrecoverable);
        assert_true(subject->strict == (sums.dirty == 0) && subject->strict == (sums.cascades == 0));
        assert_true(subject->recoverable == (sums.unrecoverable == 0));
    }
}

TEST_GROUP(lock_points, cmocka_unit_test(locks_go_when_they_may), cmocka_unit_test(what_ran_is_what_was_promised))
