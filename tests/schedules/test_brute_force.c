/* test_brute_force.c - the judge against the reference of tests/support/brute.h on random schedules of every step the
 * notation has but LIMIT and SKIP LOCKED: all properties, phenomena, anomalies, levels, the serial order, and that a
 * cycle is one. */
#include <stdio.h>
#include <string.h>

#include "sim/base/random.h"
#include "sim/check/judge.h"
#include "tests/support/brute.h"
#include "tests/support/harness.h"

enum { TEXT_BYTES = 1024 };

/* What a transaction may do next. */
struct life {
    bool begun, ended, may_begin_anew;
    int savepoint; /* the step of its newest, or -1 */
};

struct generator {
    struct stream *stream;
    struct brute_schedule *schedule;
    struct life lives[BRUTE_TXNS + 1];
    bool plain; /* reads and writes alone */
    bool ends;
};

static int below(struct generator *generator, int bound) {
    return (int)stream_below(generator->stream, (uint64_t)bound);
}

static void choose_value(struct generator *generator, struct brute_step *step) {
    const char *forms = step->kind == 'i' ? ".==$@" : ".===++$@";
    step->form = forms[below(generator, (int)strlen(forms))];
    step->constant =
        step->form == '+' || step->form == '$' || step->form == '@' ? 1 + below(generator, 3) : below(generator, 6);
    step->source = below(generator, generator->schedule->row_count);
    step->conditional = step->kind == 'w' && below(generator, 6) == 0;
    step->expected = below(generator, 4);
}

static void choose_kind(struct generator *generator, struct brute_step *step) {
    struct life *life = &generator->lives[step->txn];
    int chance = below(generator, 100);
    if (generator->ends && chance < 16) {
        step->kind = chance < 12 ? 'c' : 'a';
    } else if (generator->plain) {
        step->kind = chance < 58 ? 'r' : 'w';
    } else if (chance < 22) {
        step->kind = life->savepoint >= 0 ? 'f' : 'p';
    } else {
        step->kind = "rrrruswwwwwiddqqq"[below(generator, 17)];
    }
    bool may_scan = strchr("usdw", step->kind) != NULL && !generator->plain;
    step->row = step->kind == 'q' || (may_scan && below(generator, 5) == 0)
                    ? -1
                    : below(generator, generator->schedule->row_count);
    step->form = '.';
    if (!generator->plain && strchr("wi", step->kind) != NULL) {
        choose_value(generator, step);
    }
}

static bool choose_step(struct generator *generator, struct brute_step *step, int index) {
    *step = (struct brute_step){.txn = 1 + below(generator, generator->schedule->txn_count)};
    struct life *life = &generator->lives[step->txn];
    if (life->ended && !(life->may_begin_anew && below(generator, 4) == 0)) {
        return false;
    }
    if (life->ended) {
        *life = (struct life){.begun = true, .savepoint = -1};
        step->kind = 'b';
        return true;
    }
    if (!life->begun) {
        life->savepoint = -1;
        life->begun = true;
    }
    choose_kind(generator, step);
    if (step->kind == 'p') {
        life->savepoint = index;
    } else if (step->kind == 'f') {
        step->target = life->savepoint;
    } else if (step->kind == 'c' || step->kind == 'a') {
        life->ended = true;
        life->may_begin_anew = step->kind == 'a';
    }
    return true;
}

static void generate(struct stream *stream, bool plain, struct brute_schedule *schedule) {
    struct generator generator = {.stream = stream, .schedule = schedule, .plain = plain};
    *schedule = (struct brute_schedule){.row_count = 1 + below(&generator, 3),
                                        .txn_count = 1 + below(&generator, 5),
                                        .threshold = below(&generator, 5),
                                        .with_init = below(&generator, 2) == 0};
    generator.ends = below(&generator, 4) > 0;
    for (int row = 0; row < schedule->row_count; row++) {
        schedule->present[row] = below(&generator, 3) > 0;
        schedule->value[row] = below(&generator, 6);
    }
    int steps = 2 + below(&generator, BRUTE_STEPS - 3);
    for (int tries = 0; tries < 60 && schedule->step_count < steps; tries++) {
        schedule->step_count += choose_step(&generator, &schedule->steps[schedule->step_count], schedule->step_count);
    }
}

/* --- as text --- */

static int add_object(char *at, size_t room, const struct brute_step *step) {
    return snprintf(at, room, "(%c", step->row < 0 ? 'P' : "xyz"[step->row]);
}

static int add_value(char *at, size_t room, const struct brute_step *step) {
    int length = 0;
    switch (step->form) {
    case '=': length = snprintf(at, room, ",%d", step->constant); break;
    case '+': length = snprintf(at, room, ",+=%d", step->constant); break;
    case '$':
    case '@': length = snprintf(at, room, ",%c%c+%d", step->form, "xyz"[step->source], step -> constant); break;
    default: break;
    }
    if (step->conditional) {
        length += snprintf(at + length, room - (size_t)length, ",if=%d", step->expected);
    }
    return length;
}

static void spell(const struct brute_schedule *schedule, char *text) {
    char *at = text, *end = text + TEXT_BYTES;
    at += snprintf(at, (size_t)(end - at), "P: v>=%d\n%s", schedule->threshold, schedule->with_init ? "init" : "");
    for (int row = 0; row < schedule->row_count && schedule->with_init; row++) {
        if (schedule->present[row]) {
            at += snprintf(at, (size_t)(end - at), " %c=%d", "xyz"[row], schedule -> value[row]);
        }
    }
    at += snprintf(at, (size_t)(end - at), "%s", schedule->with_init ? "\n" : "");
    for (int i = 0; i < schedule->step_count; i++) {
        const struct brute_step *step = &schedule->steps[i];
        at += snprintf(at, (size_t)(end - at), "%s%c%d", i > 0 ? " " : "", step->kind, step->txn);
        if (strchr("pf", step->kind) != NULL) {
            at += snprintf(at, (size_t)(end - at), "(s)");
        } else if (strchr("bca", step->kind) == NULL) {
            at += add_object(at, (size_t)(end - at), step);
            at += add_value(at, (size_t)(end - at), step);
            at += snprintf(at, (size_t)(end - at), ")");
        }
    }
    assert_true(at < end);
}

/* The reference knows all its rows and meets them as x y z; a row that no step names is not in the text's tables. */
static void name_all_rows(struct brute_schedule *schedule) {
    bool named[BRUTE_ROWS] = {false};
    for (int i = 0; i < schedule->step_count; i++) {
        const struct brute_step *step = &schedule->steps[i];
        if (step->row >= 0 && strchr("bcapf", step->kind) == NULL) {
            named[step->row] = true;
        }
        if (step->form == '$' || step->form == '@') {
            named[step->source] = true;
        }
    }
    for (int row = 0; row < schedule->row_count; row++) {
        if (!named[row] && !schedule->with_init) {
            schedule->with_init = true;
            for (int other = 0; other < schedule->row_count; other++) {
                schedule->present[other] = true;
                schedule->value[other] = 0;
            }
        }
    }
}

/* --- comparing --- */

static void differ(const char *text, const char *what, bool wanted) {
    print_error("%s\n%s: the reference says %s\n", text, what, wanted ? "yes" : "no");
    fail();
}

static void compare(const char *text, const struct brute_verdict *wanted, const struct verdict *verdict) {
    const bool properties[JUDGE_PROPERTIES] = {wanted->conflict_serializable,
                                               wanted->view_serializable,
                                               wanted->recoverable,
                                               wanted->cascadeless,
                                               wanted->strict,
                                               wanted->rigorous};
    for (size_t i = 0; i < JUDGE_PROPERTIES; i++) {
        if ((verdict->properties[i] == JUDGE_YES) != properties[i]) {
            differ(text, property_texts[i].name, properties[i]);
        }
    }
    for (size_t i = 0; i < ANOMALY_COUNT; i++) {
        if (verdict->anomalies[i].found != wanted->anomalies[i]) {
            differ(text, anomaly_texts[i].name, wanted->anomalies[i]);
        }
    }
    for (size_t i = 0; i < JUDGE_LEVELS; i++) {
        if (verdict->broken[i].found != wanted->broken[i]) {
            differ(text, judge_level_names[i], !wanted->broken[i]);
        }
    }
}

static void compare_order(const char *text, const struct brute_verdict *wanted, const struct verdict *verdict) {
    size_t count = verdict->order_count;
    bool same = !wanted->conflict_serializable || count == (size_t)wanted->order_count;
    for (size_t i = 0; i < count && same; i++) {
        if (wanted->conflict_serializable) {
            same = verdict->order[i] == wanted->order[i];
        } else {
            same = wanted->before[verdict->order[i] - 1][verdict->order[(i + 1) % count] - 1];
        }
    }
    if (!same || (!wanted->conflict_serializable && count < 2)) {
        differ(text, "the order or cycle", false);
    }
}

static void compare_one(struct stream *stream, bool plain, size_t *serializable) {
    struct brute_schedule schedule;
    struct brute_verdict wanted;
    struct schedule_book book = {0};
    struct verdict verdict;
    char text[TEXT_BYTES];
    generate(stream, plain, &schedule);
    name_all_rows(&schedule);
    spell(&schedule, text);
    if (schedule.step_count == 0) {
        return;
    }
    schedule_parse(&book, "random", text, strlen(text), NULL);
    if (book.mistake_count > 0 || book.count != 1) {
        print_error("%s\n%s\n", text, book.mistake_count > 0 ? book.mistakes[0].sentence : "not one schedule");
        fail();
    }
    brute_judge(&schedule, &wanted);
    assert_true(judge(&verdict, &book.schedules[0]));
    compare(text, &wanted, &verdict);
    compare_order(text, &wanted, &verdict);
    *serializable += wanted.conflict_serializable;
    verdict_free(&verdict);
    schedule_book_free(&book);
}

static void compare_many(uint64_t owner, bool plain) {
    struct stream stream;
    struct stream_key key = {.seed = 1, .purpose = STREAM_TEST, .owner = owner};
    size_t serializable = 0, count = test_long() ? 50000 : 10000;
    stream_open(&stream, &key);
    for (size_t i = 0; i < count; i++) {
        compare_one(&stream, plain, &serializable);
    }
    assert_in_range(serializable, count / 10, count - count / 10); /* both kinds were met */
}

static void reads_and_writes_agree(void **state) {
    (void)state;
    compare_many(1, true);
}

static void every_kind_of_step_agrees(void **state) {
    (void)state;
    compare_many(2, false);
}

TEST_GROUP(brute_force, cmocka_unit_test(reads_and_writes_agree), cmocka_unit_test(every_kind_of_step_agrees))
