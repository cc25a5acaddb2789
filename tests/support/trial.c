#include "tests/support/trial.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/base/option.h"
#include "sim/cc/cc.h"
#include "tests/support/facts.h"
#include "tests/support/harness.h"

static void *open_options(const struct cc_ops *algorithm, char *setting) {
    void *options = algorithm->options != NULL ? mem_new(1, algorithm->options->size) : NULL;
    if (options != NULL) {
        options_default(algorithm->options, options);
    }
    if (setting != NULL) {
        struct text error = {0};
        char *equals = strchr(setting, '=');
        assert_non_null(equals);
        *equals = '\0';
        assert_true(option_parse(option_find(algorithm->options, setting), equals + 1, options, &error));
    }
    return options;
}

void trial_open(struct trial_play *trial, const char *algorithm, const char *schedule) {
    char name[64], *setting = name;
    snprintf(name, sizeof name, "%s", algorithm);
    const struct cc_ops *ops = cc_find(strsep(&setting, " "));
    assert_non_null(ops);
    *trial = (struct trial_play){.options = open_options(ops, setting)};
    schedule_parse(&trial->book, "trial", schedule, strlen(schedule), NULL);
    assert_int_equal(trial->book.mistake_count, 0);
    play_schedule(&trial->play, &trial->book.schedules[0], ops, trial->options, true);
}

void trial_close(struct trial_play *trial) {
    play_free(&trial->play);
    schedule_book_free(&trial->book);
    mem_free(trial->options);
}

void trial_try(const struct trial *trials, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct trial_play trial;
        struct text facts = {0};
        char wanted[1024];
        snprintf(wanted, sizeof wanted, "%s", trials[i].facts);
        trial_open(&trial, trials[i].algorithm, trials[i].schedule);
        facts_add(&trial.play, &facts);
        for (char *rest = wanted, *fact; (fact = strsep(&rest, ";")) != NULL;) {
            if (!facts_have(&facts, text_trim(fact))) {
                fail_msg("%s: %s: not so: %s\n%s", trials[i].algorithm, trials[i].schedule, fact, text_string(&facts));
            }
        }
        text_free(&facts);
        trial_close(&trial);
    }
}

struct weaving {
    const struct weave *weave;
    void (*see)(void *context, const char *schedule);
    void *context;
    int next[WEAVE_TXNS_MAX];
    size_t schedules;
    char text[512];
};

static void weave_on(struct weaving *weaving) {
    size_t length = strlen(weaving->text);
    bool whole = true;
    for (int i = 0; i < weaving->weave->txns; i++) {
        if (weaving->next[i] < weaving->weave->length) {
            const char *step = weaving->weave->steps[i][weaving->next[i]++];
            whole = false;
            snprintf(&weaving->text[length], sizeof weaving->text - length, "%s ", step);
            weave_on(weaving);
            weaving->text[length] = '\0';
            weaving->next[i]--;
        }
    }
    if (whole) {
        weaving->schedules++;
        weaving->see(weaving->context, weaving->text);
    }
}

size_t weave_all(const struct weave *weave, void (*see)(void *context, const char *schedule), void *context) {
    struct weaving weaving = {.weave = weave, .see = see, .context = context};
    if (weave->header != NULL) {
        snprintf(weaving.text, sizeof weaving.text, "%s\n", weave->header);
    }
    weave_on(&weaving);
    return weaving.schedules;
}
