/* rehearsal.c - the loop that plays the database for a workload's programs, and the checks on what they did. */
#include "tests/support/rehearsal.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/condition.h"
#include "sim/base/memory.h"

bool rehearsal_check(struct rehearsal *rehearsal, const char *workload, const char *settings) {
    memset(rehearsal, 0, sizeof *rehearsal);
    rehearsal->fail_at = REHEARSAL_NEVER;
    rehearsal->ops = workload_find(workload);
    assert_non_null(rehearsal->ops);
    const struct option_table *table = rehearsal->ops->options;
    rehearsal->options = mem_new(1, table->size);
    options_default(table, rehearsal->options);
    char *copy = mem_string(settings), *rest = copy;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (*word != '\0') {
            char *value = strchr(word, '=');
            assert_non_null(value);
            *value++ = '\0';
            const struct option *option = option_find(table, word);
            assert_non_null(option);
            assert_true(option_parse(option, value, rehearsal->options, &rehearsal->said));
        }
    }
    mem_free(copy);
    return rehearsal->ops->check == NULL || rehearsal->ops->check(rehearsal->options, &rehearsal->said);
}

int64_t rehearsal_place(const struct rehearsal *rehearsal, const struct table *table, int64_t key) {
    int64_t place = key;
    for (const struct table *before = rehearsal->store.tables; before < table; before++) {
        place += before->rows + REHEARSAL_ROOM;
    }
    return place;
}

static void load_values(struct rehearsal *rehearsal) {
    const struct table *tables = rehearsal->store.tables, *end = tables + rehearsal->store.table_count;
    size_t places = (size_t)rehearsal_place(rehearsal, end, 0);
    rehearsal->values = mem_new(places + 1, sizeof *rehearsal->values);
    rehearsal->rows = mem_new(places + 1, sizeof *rehearsal->rows);
    for (const struct table *table = tables; table < end; table++) {
        assert_int_equal(table->first_key, 1);
        for (int64_t key = 1; key <= table->rows + REHEARSAL_ROOM; key++) {
            rehearsal->values[rehearsal_place(rehearsal, table, key)] =
                key <= table->rows ? table->initial_value : REHEARSAL_ABSENT;
        }
    }
}

void rehearsal_open(struct rehearsal *rehearsal, const char *workload, const char *settings) {
    assert_true(rehearsal_check(rehearsal, workload, settings));
    rehearsal->state = mem_new(1, rehearsal->ops->state_size);
    rehearsal->arguments = mem_new(1, rehearsal->ops->arguments_size);
    rehearsal->registers = mem_new(1, rehearsal->ops->registers_size);
    store_init(&rehearsal->store, 0, NULL);
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = 1, .purpose = STREAM_LOAD});
    rehearsal->ops->load(rehearsal->state, rehearsal->options, &rehearsal->store, &stream);
    load_values(rehearsal);
}

void rehearsal_close(struct rehearsal *rehearsal) {
    if (rehearsal->state != NULL) {
        if (rehearsal->ops->unload != NULL) {
            rehearsal->ops->unload(rehearsal->state);
        }
        store_free(&rehearsal->store);
    }
    mem_free(rehearsal->values);
    mem_free(rehearsal->rows);
    mem_free(rehearsal->options);
    mem_free(rehearsal->state);
    mem_free(rehearsal->arguments);
    mem_free(rehearsal->registers);
    text_free(&rehearsal->said);
    text_free(&rehearsal->left);
}

void rehearsal_draw(struct rehearsal *rehearsal, uint64_t terminal, uint64_t number) {
    struct stream stream;
    rehearsal->terminal = terminal;
    stream_open(&stream, &(struct stream_key){1, 1, STREAM_PROGRAM, terminal, number});
    rehearsal->ops->draw(rehearsal->state, &(struct draw){&stream, terminal, number}, rehearsal->arguments);
}

static const char *row_name(struct rehearsal *rehearsal, const struct step *step) {
    static const char *const names[] = {"x", "y", "z", "s", "t", "v"};
    int64_t key = rehearsal_place(rehearsal, step->table, step->first);
    if (key <= rehearsal->hot_rows) {
        return "h";
    }
    int i = 0;
    while (i < rehearsal->name_count && rehearsal->names[i] != key) {
        i++;
    }
    if (i == rehearsal->name_count) {
        assert_true(i < REHEARSAL_NAMES_MAX);
        rehearsal->names[rehearsal->name_count++] = key;
    }
    return (size_t)i < sizeof names / sizeof names[0] ? names[i] : "more";
}

static void say_rows(struct rehearsal *rehearsal, const struct step *step) {
    if (!step->scan) {
        text_add(&rehearsal->said, "%s", row_name(rehearsal, step));
        return;
    }
    text_add(&rehearsal->said, "%" PRId64 "..", step->first);
    if (step->last != INT64_MAX) {
        text_add(&rehearsal->said, "%" PRId64, step->last);
    }
}

static void say_condition(struct rehearsal *rehearsal, const struct condition *condition) {
    static const char *const signs[] = {
        [CONDITION_EQ] = "=", [CONDITION_LT] = "<", [CONDITION_GT] = ">", [CONDITION_GE] = ">="};
    if (condition->operator== CONDITION_TRUE) {
        return;
    }
    assert_false(condition->of_id);
    text_add(&rehearsal->said, ",if");
    if (condition->modulus > 0) {
        text_add(&rehearsal->said, "%%%" PRId64, condition->modulus);
    }
    text_add(&rehearsal->said, "%s%" PRId64, signs[condition->operator], condition->constant);
}

static const char *verb_of(const struct step *step) {
    switch (step->kind) {
    case STEP_UPDATE: return "w";
    case STEP_DELETE: return "d";
    default: return step->locking == LOCKING_UPDATE ? "u" : step->scan ? "q" : "r";
    }
}

static void say_statement(struct rehearsal *rehearsal, const struct step *step) {
    static const char *const patiences[] = {
        [PATIENCE_BLOCK] = "", [PATIENCE_NOWAIT] = ":nowait", [PATIENCE_SKIP_LOCKED] = ":skip"};
    text_add(&rehearsal->said, "%s(", verb_of(step));
    say_rows(rehearsal, step);
    if (step->kind == STEP_UPDATE) {
        text_add(&rehearsal->said, ",%s%" PRId64, step->value == VALUE_ADD ? "+=" : "", step->operand);
    }
    say_condition(rehearsal, &step->condition);
    text_add(&rehearsal->said, ")%s", patiences[step->patience]);
    if (step->limit > 0) {
        text_add(&rehearsal->said, ":%d", (int)step->limit);
    }
}

static void say_step(struct rehearsal *rehearsal, const struct step *step) {
    text_add(&rehearsal->said, "%s", rehearsal->said.length > 0 ? " " : "");
    switch (step->kind) {
    case STEP_SELECT:
    case STEP_UPDATE:
    case STEP_DELETE: say_statement(rehearsal, step); break;
    case STEP_INSERT: text_add(&rehearsal->said, "i(%d)", (int)step->first); break;
    case STEP_THINK: text_add(&rehearsal->said, "think"); break;
    case STEP_COMMIT: text_add(&rehearsal->said, "c"); break;
    case STEP_ROLLBACK: text_add(&rehearsal->said, "a"); break;
    default: fail_msg("a step of kind %d", (int)step->kind);
    }
    text_add(&rehearsal->said, "%s", step->last_lock ? "!" : "");
}

static void say_left(struct rehearsal *rehearsal) {
    uint64_t left = rehearsal->ops->remaining(rehearsal->state, rehearsal->arguments, rehearsal->registers);
    text_add(&rehearsal->left, "%s%d", rehearsal->left.length > 0 ? " " : "", (int)left);
}

static void put_value(struct rehearsal *rehearsal, int64_t key, int64_t value) {
    rehearsal->undo[rehearsal->undo_count++] = (struct reply_row){key, rehearsal->values[key]};
    rehearsal->values[key] = value;
}

/* Plays one statement: what it read, before it changed it. */
static void play_statement(struct rehearsal *rehearsal, const struct step *step, struct reply *reply) {
    int64_t end = step->table->rows + REHEARSAL_ROOM;
    int64_t last = step->last == INT64_MAX ? end : step->last;
    assert_in_range(last, step->first, end);
    if (step->kind == STEP_INSERT) {
        int64_t place = rehearsal_place(rehearsal, step->table, step->first);
        reply->count = rehearsal->values[place] == REHEARSAL_ABSENT;
        reply->status = reply->count == 1 ? REPLY_OK : REPLY_ERROR;
        if (reply->count == 1) {
            put_value(rehearsal, place, step->operand);
        }
        return;
    }
    for (int64_t key = step->first; key <= last && (step->limit == 0 || reply->count < step->limit); key++) {
        int64_t place = rehearsal_place(rehearsal, step->table, key), value = rehearsal->values[place];
        if (value == REHEARSAL_ABSENT || !condition_holds(&step->condition, key, value)) {
            continue;
        }
        rehearsal->rows[reply->count++] = (struct reply_row){key, value};
        if (step->kind == STEP_UPDATE) {
            put_value(rehearsal, place, step->value == VALUE_ADD ? value + step->operand : step->operand);
        } else if (step->kind == STEP_DELETE) {
            put_value(rehearsal, place, REHEARSAL_ABSENT);
        }
    }
}

static void play_end(struct rehearsal *rehearsal, enum step_kind kind) {
    const struct workload_ops *ops = rehearsal->ops;
    bool commits = kind == STEP_COMMIT;
    if (commits && ops->committed != NULL) {
        ops->committed(rehearsal->state, rehearsal->arguments, rehearsal->registers);
    }
    if (ops->ended != NULL && rehearsal->terminal > 0) {
        rehearsal->rest = ops->ended(rehearsal->state, rehearsal->arguments, rehearsal->registers, commits);
    }
    for (int i = rehearsal->undo_count; kind == STEP_ROLLBACK && i > 0; i--) {
        rehearsal->values[rehearsal->undo[i - 1].key] = rehearsal->undo[i - 1].value;
    }
}

/* ---- The footprint that the program told ---- */

static void ask_footprint(struct rehearsal *rehearsal) {
    const struct workload_ops *ops = rehearsal->ops;
    struct planned *items = rehearsal->planned;
    size_t count = PLAN_UNKNOWN;
    rehearsal->footprint = (struct footprint){0};
    if (ops->plan != NULL) {
        count = ops->plan(rehearsal->state, rehearsal->arguments, items, REHEARSAL_STEPS_MAX);
        assert_true(count == PLAN_UNKNOWN || count == ops->plan(rehearsal->state, rehearsal->arguments, NULL, 0));
    }
    assert_true(count != PLAN_UNKNOWN || !workload_plans(ops, rehearsal->options));
    rehearsal->tells = count != PLAN_UNKNOWN;
    if (rehearsal->tells) {
        assert_in_range(count, 0, REHEARSAL_STEPS_MAX);
        rehearsal->footprint = (struct footprint){.items = items, .count = count, .capacity = count};
        footprint_arrange(&rehearsal->footprint);
        memset(rehearsal->used, 0, sizeof rehearsal->used);
    }
}

/* The statement is one of those planned, and nothing stronger. */
static void use_footprint(struct rehearsal *rehearsal, const struct step *step) {
    enum planned_use use = step->kind == STEP_INSERT         ? PLANNED_INSERT
                           : step->kind == STEP_UPDATE       ? PLANNED_WRITE
                           : step->kind == STEP_DELETE       ? PLANNED_WRITE
                           : step->locking == LOCKING_UPDATE ? PLANNED_LOCK
                                                             : PLANNED_READ;
    size_t at = 0;
    for (; rehearsal->tells && at < rehearsal->footprint.count; at++) {
        const struct planned *item = &rehearsal->footprint.items[at];
        if (item->table == step->table && item->key == step->first && item->scan == step->scan && item->use >= use &&
            (!item->scan || item->last == step->last)) {
            break;
        }
    }
    assert_true(!rehearsal->tells || at < rehearsal->footprint.count);
    rehearsal->used[at] = rehearsal->used[at] > (int)use ? rehearsal->used[at] : (int)use + 1;
}

/* All that was planned was done. */
static void end_footprint(const struct rehearsal *rehearsal) {
    for (size_t i = 0; i < rehearsal->footprint.count; i++) {
        assert_int_equal(rehearsal->used[i], rehearsal->footprint.items[i].use + 1);
    }
}

const char *rehearsal_run(struct rehearsal *rehearsal) {
    struct reply reply = {.status = REPLY_OK};
    struct step step;
    text_clear(&rehearsal->said);
    text_clear(&rehearsal->left);
    rehearsal->name_count = rehearsal->undo_count = 0;
    rehearsal->last_locks = 0;
    memset(rehearsal->registers, 0, rehearsal->ops->registers_size);
    ask_footprint(rehearsal);
    say_left(rehearsal);
    for (int count = 0;; count++) {
        assert_true(count < REHEARSAL_STEPS_MAX);
        memset(&step, 0xa5, sizeof step); /* programs fill every field */
        rehearsal->ops->next(rehearsal->state, rehearsal->arguments, rehearsal->registers, &reply, &step);
        say_step(rehearsal, &step);
        say_left(rehearsal);
        assert_true(rehearsal->last_locks == 0 || step.kind > STEP_INSERT); /* none uses its rows again */
        rehearsal->last_locks += step.last_lock;
        reply = (struct reply){.status = count == rehearsal->fail_at ? REPLY_ERROR : REPLY_OK, .rows = rehearsal->rows};
        if (step.kind == STEP_ROLLBACK || (step.kind == STEP_COMMIT && count != rehearsal->fail_at)) {
            break;
        }
        if (step.kind != STEP_THINK && step.kind != STEP_COMMIT && count != rehearsal->fail_at) {
            use_footprint(rehearsal, &step);
            play_statement(rehearsal, &step, &reply);
        }
    }
    if (step.kind == STEP_COMMIT) {
        end_footprint(rehearsal);
    }
    play_end(rehearsal, step.kind);
    return text_string(&rehearsal->said);
}

const char *rehearsal_next(struct rehearsal *rehearsal, uint64_t number) {
    rehearsal_draw(rehearsal, 1, number);
    return rehearsal_run(rehearsal);
}

int64_t rehearsal_sum(const struct rehearsal *rehearsal) {
    int64_t sum = 0;
    for (int64_t key = 1; key <= rehearsal->store.tables[0].rows; key++) {
        sum += rehearsal->values[key];
    }
    return sum;
}

bool rehearsal_ends_with(const char *text, const char *tail) {
    size_t length = strlen(text), tail_length = strlen(tail);
    return length >= tail_length && strcmp(text + length - tail_length, tail) == 0;
}

int rehearsal_count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
        count++;
    }
    return count;
}

void rehearsal_trials(const char *workload, int64_t hot_rows, const struct rehearsal_trial *trials, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct rehearsal rehearsal;
        rehearsal_open(&rehearsal, workload, trials[i].options);
        rehearsal.hot_rows = hot_rows;
        assert_string_equal(rehearsal_next(&rehearsal, 1), trials[i].expected);
        rehearsal_close(&rehearsal);
    }
}

void rehearsal_assert_share(int64_t hits, int64_t trials, double share) {
    double mean = (double)trials * share, variance = mean * (1 - share);
    double distance = (double)hits - mean;
    if (distance * distance > 25 * variance) {
        fail_msg("%d of %d, where %.1f were expected", (int)hits, (int)trials, mean);
    }
}

struct workload_audit rehearsal_audit(const struct rehearsal *rehearsal) {
    struct workload_audit audit = {0};
    rehearsal->ops->audit(rehearsal->state, &rehearsal->store, &audit);
    return audit;
}

void rehearsal_expect_audit(struct rehearsal *rehearsal, int64_t sum, enum workload_verdict verdict, enum level level,
                            uint64_t lost, const char *message) {
    rehearsal->store.tables[0].committed_sum = sum;
    struct workload_audit audit = rehearsal_audit(rehearsal);
    assert_int_equal(audit.verdict, verdict);
    assert_int_equal(audit.level, level);
    assert_true(audit.lost_updates_known);
    assert_int_equal(audit.lost_updates, lost);
    assert_string_equal(text_string(&audit.message), message);
    text_free(&audit.message);
}
