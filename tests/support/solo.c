#include "tests/support/solo.h"

#include <string.h>

#include "sim/base/condition.h"

void solo_open(struct solo *solo, const char *workload, const char *settings) {
    *solo = (struct solo){.ops = workload_find(workload), .fail_at = SOLO_NEVER, .fails_for = REASON_TIMEOUT};
    assert_non_null(solo->ops);
    solo->options = mem_new(1, solo->ops->options->size);
    options_default(solo->ops->options, solo->options);
    char *copy = mem_string(settings), *rest = copy;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(word, '=');
        if (value != NULL) {
            *value++ = '\0';
            const struct option *option = option_find(solo->ops->options, word);
            assert_non_null(option);
            assert_true(option_parse(option, value, solo->options, &solo->said));
        }
    }
    mem_free(copy);
    assert_true(solo->ops->check == NULL || solo->ops->check(solo->options, &solo->said));
    solo->state = mem_new(1, solo->ops->state_size);
    solo->arguments = mem_new(1, solo->ops->arguments_size);
    solo->registers = mem_new(1, solo->ops->registers_size);
    store_init(&solo->store, 0, NULL);
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = 1, .purpose = STREAM_LOAD});
    solo->ops->load(solo->state, solo->options, &solo->store, &stream);
}

void solo_close(struct solo *solo) {
    if (solo->ops->unload != NULL) {
        solo->ops->unload(solo->state);
    }
    store_free(&solo->store);
    vector_free(&solo->found);
    vector_free(&solo->undo);
    text_free(&solo->said);
    text_free(&solo->left);
    mem_free(solo->options);
    mem_free(solo->state);
    mem_free(solo->arguments);
    mem_free(solo->registers);
}

/* ---- The database ---- */

int64_t solo_value(struct solo *solo, struct table *table, int64_t key) {
    struct record *record = store_record(&solo->store, table, key);
    const struct version *version = store_committed(&solo->store, table, key, record);
    int64_t value = version->absent ? INT64_MIN : version->value;
    store_release(&solo->store, table, key, record);
    return value;
}

void solo_put(struct solo *solo, struct table *table, int64_t key, int64_t value) {
    struct record *record = store_record(&solo->store, table, key);
    struct version *base = store_newest(&solo->store, table, key, record);
    bool absent = value == INT64_MIN;
    struct version *version = store_new_version(&solo->store, 1, 1, absent ? 0 : value, absent);
    store_link(&solo->store, record, version, base);
    store_install(&solo->store, table, key, record, version, ++solo->store.stamp);
    store_release(&solo->store, table, key, record);
}

static void change(struct solo *solo, const struct step *step, int64_t key, int64_t before) {
    struct solo_undo undo = {.table = step->table, .key = key, .value = before};
    vector_push(&solo->undo, undo);
    int64_t after = step->value == VALUE_ADD ? before + step->operand : step->operand;
    solo_put(solo, step->table, key, step->kind == STEP_DELETE ? INT64_MIN : after);
}

static void play_row(struct solo *solo, const struct step *step, int64_t key) {
    int64_t value = solo_value(solo, step->table, key);
    if (value != INT64_MIN && condition_holds(&step->condition, key, value)) {
        struct reply_row row = {.key = key, .value = value};
        vector_push(&solo->found, row);
        if (step->kind != STEP_SELECT) {
            change(solo, step, key, value);
        }
    }
}

static void play_scan(struct solo *solo, const struct step *step) {
    int64_t key = step->first;
    for (;;) {
        const struct record *record = store_next(&solo->store, step->table, key, NULL, &key);
        bool enough = step->limit > 0 && solo->found.count == (size_t)step->limit;
        if (enough || record == step->table->end || key > step->last) {
            return;
        }
        play_row(solo, step, key++);
    }
}

/* False: a duplicate key. */
static bool play(struct solo *solo, const struct step *step) {
    solo->found.count = 0;
    if (step->kind == STEP_INSERT) {
        if (solo_value(solo, step->table, step->first) != INT64_MIN) {
            return false;
        }
        change(solo, step, step->first, INT64_MIN);
    } else if (step->scan) {
        play_scan(solo, step);
    } else if (step->extra != NULL && step->extra->keys != NULL) {
        assert_int_equal(step->first, step->extra->keys[0]);
        for (int64_t i = 0; i < step->extra->key_count; i++) {
            play_row(solo, step, step->extra->keys[i]);
        }
    } else {
        assert_int_equal(step->first, step->last);
        play_row(solo, step, step->first);
    }
    return true;
}

/* ---- The transcript ---- */

static char letter_of(const struct step *step) {
    switch (step->kind) {
    case STEP_UPDATE: return 'w';
    case STEP_DELETE: return 'd';
    case STEP_INSERT: return 'i';
    default: return step->locking == LOCKING_UPDATE ? 'u' : step->scan ? 'q' : 'r';
    }
}

static void say_statement(struct solo *solo, const struct step *step) {
    struct text *said = &solo->said;
    text_add(said, "%c(%s %lld", letter_of(step), step->table->name, (long long)step->first);
    if (step->scan) {
        text_add(said, "..%lld", (long long)step->last);
    }
    for (int64_t i = 1; step->extra != NULL && i < step->extra->key_count; i++) {
        text_add(said, ",%lld", (long long)step->extra->keys[i]);
    }
    if (step->kind == STEP_UPDATE || step->kind == STEP_INSERT) {
        text_add(said, " %s%lld", step->value == VALUE_ADD ? "+=" : ":=", (long long)step->operand);
    }
    text_add(said, ")");
    if (step->limit > 0) {
        text_add(said, ":%d", (int)step->limit);
    }
    text_add(said, "%s", step->last_lock ? "!" : "");
}

static void say_left(struct solo *solo) {
    uint64_t left = solo->ops->remaining(solo->state, solo->arguments, solo->registers);
    text_add(&solo->left, "%s%d", solo->left.length > 0 ? " " : "", (int)left);
}

/* ---- Transactions ---- */

void solo_draw(struct solo *solo, uint64_t terminal, uint64_t number) {
    struct stream stream;
    stream_open(&stream, &(struct stream_key){1, 1, STREAM_PROGRAM, terminal, number});
    solo->ops->draw(solo->state, &(struct draw){&stream, terminal, number}, solo->arguments);
}

static void play_statement(struct solo *solo, const struct step *step, bool fails, struct reply *reply) {
    say_statement(solo, step);
    *reply = (struct reply){.status = REPLY_ERROR, .reason = (int)solo->fails_for};
    if (!fails && play(solo, step)) {
        int64_t count = step->kind == STEP_INSERT ? 1 : (int64_t)solo->found.count;
        *reply = (struct reply){.status = REPLY_OK, .count = count, .rows = solo->found.items};
        text_add(&solo->said, "=%lld", (long long)count);
    } else {
        reply->reason = fails ? reply->reason : (int)REASON_DUPLICATE;
        text_add(&solo->said, "=e");
    }
}

/* False: it is over. */
static bool play_end(struct solo *solo, enum step_kind kind, bool fails, struct reply *reply) {
    text_add(&solo->said, "%s", kind == STEP_COMMIT ? "c" : kind == STEP_RETRY ? "x" : "a");
    *reply = (struct reply){.status = REPLY_ERROR, .reason = (int)solo->fails_for};
    if (kind == STEP_COMMIT && !fails && solo->ops->committed != NULL) {
        solo->ops->committed(solo->state, solo->arguments, solo->registers);
    }
    for (size_t i = solo->undo.count; kind != STEP_COMMIT && i > 0; i--) {
        const struct solo_undo *undo = &solo->undo.items[i - 1];
        solo_put(solo, undo->table, undo->key, undo->value);
    }
    return kind == STEP_COMMIT && fails;
}

const char *solo_run(struct solo *solo) {
    struct reply reply = {.status = REPLY_OK};
    struct step step;
    bool goes_on = true, had_last_lock = false;
    text_clear(&solo->said);
    text_clear(&solo->left);
    solo->undo.count = 0;
    memset(solo->registers, 0, solo->ops->registers_size);
    say_left(solo);
    for (int i = 0; goes_on; i++) {
        assert_true(i < SOLO_STEPS_MAX);
        memset(&step, 0xa5, sizeof step); /* programs fill every field */
        solo->ops->next(solo->state, solo->arguments, solo->registers, &reply, &step);
        say_left(solo);
        text_add(&solo->said, "%s", i > 0 ? " " : "");
        if (step.kind <= STEP_INSERT) {
            assert_false(had_last_lock); /* no statement follows that one */
            had_last_lock = step.last_lock;
            play_statement(solo, &step, i == solo->fail_at, &reply);
        } else if (step.kind == STEP_THINK) {
            text_add(&solo->said, "t");
            reply = (struct reply){.status = REPLY_OK};
        } else {
            goes_on = play_end(solo, step.kind, i == solo->fail_at, &reply);
        }
    }
    return text_string(&solo->said);
}

const char *solo_next(struct solo *solo, uint64_t number) {
    solo_draw(solo, 1, number);
    return solo_run(solo);
}

void solo_expect_audit(const struct solo *solo, enum workload_verdict verdict, int level, const char *message) {
    struct workload_audit audit = {0};
    solo->ops->audit(solo->state, &solo->store, &audit);
    assert_string_equal(text_string(&audit.message), message);
    assert_int_equal(audit.verdict, verdict);
    assert_int_equal(audit.level, level);
    text_free(&audit.message);
}
