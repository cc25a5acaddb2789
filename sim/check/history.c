/* history.c - schedules taken apart (history.h). Work is proportional to the number of operations: touches are found by
 * hashing, writes taken back leave a row's stack only when they come to lie on top. */
#include "sim/check/history.h"

#include <stdlib.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

struct locker {
    uint32_t life;
    bool exclusive;
};
struct row_state {
    uint32_t top; /* newest write; those gone are dropped when looked at */
    struct locker *items;
    size_t count, capacity; /* lives that locked it by u or s, perhaps ended since */
};

struct builder {
    struct history *history;
    struct row_state *rows;
    uint32_t *lives_now; /* of each transaction its current life, or HISTORY_NONE */
    unsigned *attempts;
    uint32_t *slots; /* touches by hash: index + 1 */
    size_t slot_count;
    size_t visits;
    uint32_t step;
};

enum { SLOTS_FIRST = 64, VISITS_MAX = 4 * HISTORY_OPS_MAX };

/* --- values --- */

enum history_match history_match(const struct history *history, uint32_t predicate, uint32_t row,
                                 struct history_image image) {
    const struct condition *condition = &history->schedule->predicates[predicate].condition;
    if (!image.present) {
        return HISTORY_NO;
    }
    if (!image.known && condition->operator!= CONDITION_TRUE && !condition->of_id) {
        return HISTORY_MAYBE;
    }
    return condition_holds(condition, history->schedule->rows[row].id, image.value) ? HISTORY_YES : HISTORY_NO;
}

bool history_changes(const struct history *history, uint32_t predicate, uint32_t row, struct history_image before,
                     struct history_image after) {
    enum history_match old = history_match(history, predicate, row, before);
    return old == HISTORY_MAYBE || old != history_match(history, predicate, row, after);
}

struct history_image history_image_of(const struct history *history, uint32_t row, uint32_t write) {
    return write == HISTORY_NONE ? history->start[row] : history->ops[write].after;
}

/* --- touches --- */

static size_t touch_slot(const struct builder *builder, uint32_t life, uint32_t object) {
    size_t mask = builder->slot_count - 1;
    uint64_t key = ((uint64_t)life << 32 | object) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(key >> 32) & mask;
    for (; builder->slots[at] != 0; at = (at + 1) & mask) {
        const struct history_touch *touch = &builder->history->touches[builder->slots[at] - 1];
        if (touch->life == life && touch->object == object) {
            break;
        }
    }
    return at;
}

static void grow_slots(struct builder *builder) {
    struct history *history = builder->history;
    builder->slot_count = builder->slot_count == 0 ? SLOTS_FIRST : builder->slot_count * 2;
    mem_free(builder->slots);
    builder->slots = mem_new(builder->slot_count, sizeof *builder->slots);
    for (size_t i = 0; i < history->touch_count; i++) {
        builder->slots[touch_slot(builder, history->touches[i].life, history->touches[i].object)] = (uint32_t)i + 1;
    }
}

static uint32_t touch(struct builder *builder, uint32_t life, uint32_t object) {
    struct history *history = builder->history;
    if ((history->touch_count + 1) * 2 > builder->slot_count) {
        grow_slots(builder);
    }
    CHECK(builder->slots != NULL);
    uint32_t *slot = &builder->slots[touch_slot(builder, life, object)];
    if (*slot == 0) {
        if (history->touch_count == history->touch_capacity) {
            history->touches = mem_vector_grow(history->touches, &history->touch_capacity, sizeof *history->touches);
        }
        struct history_life *owner = &history->lives[life];
        history->touches[history->touch_count++] =
            (struct history_touch){.life = life, .object = object, .next_of_life = owner->touches};
        *slot = (uint32_t)history->touch_count;
        owner->touches = *slot - 1;
    }
    return *slot - 1;
}

/* --- operations --- */

static uint32_t add(struct builder *builder, enum history_kind kind, uint32_t life, uint32_t row, uint32_t predicate) {
    struct history *history = builder->history;
    if (history->op_count == history->op_capacity) {
        history->ops = mem_vector_grow(history->ops, &history->op_capacity, sizeof *history->ops);
    }
    uint32_t index = (uint32_t)history->op_count++;
    history->ops[index] = (struct history_op){.kind = (uint8_t)kind,
                                              .life = life,
                                              .row = row,
                                              .predicate = predicate,
                                              .step = builder->step,
                                              .seen = HISTORY_NONE,
                                              .gone = HISTORY_NONE,
                                              .chain = HISTORY_NONE,
                                              .touch = HISTORY_NONE};
    struct history_life *owner = &history->lives[life];
    if (owner->first == HISTORY_NONE) {
        owner->first = index;
    }
    owner->last = index;
    return index;
}

static uint32_t top_of(struct builder *builder, uint32_t row) {
    const struct history *history = builder->history;
    uint32_t *top = &builder->rows[row].top;
    while (*top != HISTORY_NONE && history->ops[*top].gone != HISTORY_NONE) {
        *top = history->ops[*top].seen;
    }
    return *top;
}

static struct history_image current(struct builder *builder, uint32_t row) {
    return history_image_of(builder->history, row, top_of(builder, row));
}

/* `returned`: the program gets to see the value, so that $x is it. */
static struct history_image read_row(struct builder *builder, uint32_t life, uint32_t row, uint32_t predicate,
                                     bool returned) {
    struct history *history = builder->history;
    uint32_t top = top_of(builder, row), op = add(builder, HISTORY_READ, life, row, predicate);
    uint32_t index = touch(builder, life, row);
    history->ops[op].seen = top;
    history->ops[op].touch = index;
    struct history_image image = history_image_of(history, row, top);
    if (returned) {
        history->touches[index].last_read = image;
    }
    return image;
}

static void write_row(struct builder *builder, uint32_t life, uint32_t row, uint32_t predicate,
                      struct history_image after) {
    struct history *history = builder->history;
    uint32_t top = top_of(builder, row), op = add(builder, HISTORY_WRITE, life, row, predicate);
    uint32_t index = touch(builder, life, row);
    struct history_life *owner = &history->lives[life];
    history->ops[op].seen = top;
    history->ops[op].touch = index;
    history->ops[op].after = after;
    history->ops[op].chain = owner->last_write;
    owner->last_write = op;
    builder->rows[row].top = op;
}

/* Takes back the life's writes that came after step `since` (all with `whole`); op is the undo or end. */
static void take_back(struct builder *builder, uint32_t life, uint32_t op, uint32_t since, bool whole) {
    struct history *history = builder->history;
    struct history_life *owner = &history->lives[life];
    uint32_t list = HISTORY_NONE;
    while (owner->last_write != HISTORY_NONE && (whole || history->ops[owner->last_write].step > since)) {
        struct history_op *write = &history->ops[owner->last_write];
        uint32_t before = write->chain;
        write->gone = op;
        write->chain = list;
        list = owner->last_write;
        owner->last_write = before;
    }
    history->ops[op].chain = list;
}

/* --- locks, for NOWAIT and SKIP LOCKED --- */

/* Does another unfinished transaction keep this one from locking the row? */
static bool is_held(struct builder *builder, uint32_t life, uint32_t row, bool exclusive) {
    const struct history *history = builder->history;
    struct row_state *state = &builder->rows[row];
    uint32_t top = top_of(builder, row);
    if (top != HISTORY_NONE && history->ops[top].life != life &&
        history->lives[history->ops[top].life].state == HISTORY_ACTIVE) {
        return true;
    }
    size_t kept = 0;
    bool held = false;
    builder->visits += state->count;
    for (size_t i = 0; i < state->count; i++) {
        struct locker locker = state->items[i];
        if (history->lives[locker.life].state == HISTORY_ACTIVE) {
            state->items[kept++] = locker;
            held = held || (locker.life != life && (locker.exclusive || exclusive));
        }
    }
    state->count = kept;
    return held;
}

static void lock(struct builder *builder, uint32_t life, uint32_t row, bool exclusive) {
    struct row_state *state = &builder->rows[row];
    CHECK(state->count == 0 || state->items != NULL);
    struct locker *last = state->count > 0 ? &state->items[state->count - 1] : NULL;
    if (last != NULL && last->life == life && (last->exclusive || !exclusive)) {
        return;
    }
    vector_push(state, ((struct locker){.life = life, .exclusive = exclusive}));
}

/* --- statements --- */

static struct history_image sum(struct history_image image, int64_t constant) {
    image.known = image.known && image.present;
    image.value = image.known ? image.value + constant : 0;
    image.present = true;
    return image;
}

/* What a write puts into the row, after reading what it must. */
static struct history_image value_of(struct builder *builder, uint32_t life, const struct schedule_step *step,
                                     uint32_t row) {
    const struct schedule_value *value = &step->value;
    switch (value->form) {
    case SCHEDULE_CONSTANT: return (struct history_image){.value = value->constant, .present = true, .known = true};
    case SCHEDULE_ADD: return sum(current(builder, row), value->constant);
    case SCHEDULE_INSIDE: return sum(read_row(builder, life, value->row, SCHEDULE_NONE, false), value->constant);
    case SCHEDULE_LAST_READ: {
        uint32_t index = touch(builder, life, value->row);
        return sum(builder->history->touches[index].last_read, value->constant); /* not known if nothing was read */
    }
    case SCHEDULE_ANY: break;
    }
    return (struct history_image){.present = true};
}

static void change_row(struct builder *builder, uint32_t life, const struct schedule_step *step, uint32_t row) {
    if (step->kind == SCHEDULE_DELETE) {
        write_row(builder, life, row, step->predicate, (struct history_image){.known = true});
        return;
    }
    if (step->value.form == SCHEDULE_ADD || step->conditional) {
        struct history_image now = step->predicate == SCHEDULE_NONE ? read_row(builder, life, row, SCHEDULE_NONE, false)
                                                                    : current(builder, row);
        if (step->conditional && now.known && !(now.present && now.value == step->expected)) {
            return;
        }
    }
    struct history_image after = value_of(builder, life, step, row);
    write_row(builder, life, row, step->predicate, after);
}

/* One row of a statement; false: it was passed over. */
static bool visit(struct builder *builder, uint32_t life, const struct schedule_step *step, uint32_t row) {
    bool locks = step->kind == SCHEDULE_UPDATE_LOCK || step->kind == SCHEDULE_SHARE_LOCK;
    bool exclusive = step->kind == SCHEDULE_UPDATE_LOCK;
    if (locks) {
        if ((step->nowait || step->skip) && is_held(builder, life, row, exclusive)) {
            return false;
        }
        lock(builder, life, row, exclusive);
    }
    if (locks || step->kind == SCHEDULE_READ || step->kind == SCHEDULE_QUERY) {
        read_row(builder, life, row, step->predicate, true);
        return true;
    }
    if (step->predicate != SCHEDULE_NONE) {
        read_row(builder, life, row, step->predicate, false);
    }
    change_row(builder, life, step, row);
    return true;
}

/* The row as it would be without the unfinished transaction that wrote it last. */
static void miss(struct builder *builder, uint32_t life, uint32_t predicate, uint32_t row) {
    struct history *history = builder->history;
    uint32_t top = top_of(builder, row), below = top;
    uint32_t writer = top == HISTORY_NONE ? life : history->ops[top].life;
    if (writer == life || history->lives[writer].state != HISTORY_ACTIVE) {
        return;
    }
    while (below != HISTORY_NONE && (history->ops[below].gone != HISTORY_NONE || history->ops[below].life == writer)) {
        below = history->ops[below].seen;
        builder->visits++;
    }
    if (history_match(history, predicate, row, history_image_of(history, row, below)) != HISTORY_NO) {
        uint32_t op = add(builder, HISTORY_MISS, life, row, predicate);
        history->ops[op].seen = top;
    }
}

/* What a scan meets is judged unless it may leave matching rows out: LIMIT, SKIP LOCKED. */
static void scan(struct builder *builder, uint32_t life, const struct schedule_step *step) {
    struct history *history = builder->history;
    bool whole = step->limit == 0 && !step->skip && !step->nowait;
    uint32_t obtained = 0;
    if (whole) {
        uint32_t op = add(builder, HISTORY_SCAN, life, SCHEDULE_NONE, step->predicate);
        uint32_t index = touch(builder, life, (uint32_t)history->schedule->row_count + step->predicate);
        history->ops[op].touch = index;
    }
    builder->visits += history->schedule->row_count;
    for (size_t i = 0; i < history->schedule->row_count && (step->limit == 0 || obtained < step->limit); i++) {
        uint32_t row = history->by_id[i];
        if (history_match(history, step->predicate, row, current(builder, row)) != HISTORY_NO) {
            obtained += visit(builder, life, step, row);
        } else if (whole) {
            miss(builder, life, step->predicate, row);
        }
    }
}

/* --- lives --- */

static uint32_t open_life(struct builder *builder, uint32_t txn) {
    struct history *history = builder->history;
    if (builder->lives_now[txn] == HISTORY_NONE) {
        if (history->life_count == history->life_capacity) {
            history->lives = mem_vector_grow(history->lives, &history->life_capacity, sizeof *history->lives);
        }
        history->lives[history->life_count] = (struct history_life){.txn = txn,
                                                                    .attempt = ++builder->attempts[txn],
                                                                    .first = HISTORY_NONE,
                                                                    .last = HISTORY_NONE,
                                                                    .end = HISTORY_NONE,
                                                                    .last_write = HISTORY_NONE,
                                                                    .touches = HISTORY_NONE};
        builder->lives_now[txn] = (uint32_t)history->life_count++;
    }
    return builder->lives_now[txn];
}

static void end_life(struct builder *builder, uint32_t life, enum history_state state) {
    struct history *history = builder->history;
    uint32_t op = add(builder, HISTORY_END, life, SCHEDULE_NONE, SCHEDULE_NONE);
    history->lives[life].end = op;
    history->lives[life].state = state;
    builder->lives_now[history->lives[life].txn] = HISTORY_NONE;
    if (state == HISTORY_ABORTED) {
        take_back(builder, life, op, 0, true);
    }
}

static void build_step(struct builder *builder, const struct schedule_step *step) {
    const struct schedule *schedule = builder->history->schedule;
    uint32_t life = open_life(builder, step->txn);
    builder->history->lives[life].last_step = builder->step;
    switch (step->kind) {
    case SCHEDULE_BEGIN:
    case SCHEDULE_SAVEPOINT: return;
    case SCHEDULE_COMMIT: end_life(builder, life, HISTORY_COMMITTED); return;
    case SCHEDULE_ROLLBACK: end_life(builder, life, HISTORY_ABORTED); return;
    case SCHEDULE_ROLLBACK_TO: {
        uint32_t op = add(builder, HISTORY_UNDO, life, SCHEDULE_NONE, SCHEDULE_NONE);
        take_back(builder, life, op, step->target, false);
        return;
    }
    default: break;
    }
    if (step->predicate != SCHEDULE_NONE) {
        scan(builder, life, step);
        return;
    }
    for (uint32_t i = 0; i < step->row_count; i++) {
        visit(builder, life, step, schedule->row_list[step->first_row + i]);
    }
}

/* --- the whole --- */

static int compare_ids(const void *a, const void *b, void *user) {
    const struct schedule_row *rows = user;
    int64_t left = rows[*(const uint32_t *)a].id, right = rows[*(const uint32_t *)b].id;
    return (left > right) - (left < right);
}

/* Without an init line every row is there with value 0, but those whose first change inserts them. */
static void set_start(struct history *history) {
    const struct schedule *schedule = history->schedule;
    bool *changed = mem_new(schedule->row_count, sizeof *changed);
    for (size_t i = 0; i < schedule->row_count; i++) {
        history->start[i] = (struct history_image){
            .present = schedule->rows[i].present, .known = true, .value = schedule->rows[i].value};
        history->by_id[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < schedule->step_count && !schedule->with_init; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        bool writes = step->kind == SCHEDULE_WRITE || step->kind == SCHEDULE_DELETE || step->kind == SCHEDULE_INSERT;
        if (writes && step->row_count == 1) {
            uint32_t row = schedule->row_list[step->first_row];
            if (!changed[row] && step->kind == SCHEDULE_INSERT) {
                history->start[row] = (struct history_image){.known = true};
            }
            changed[row] = true;
        }
    }
    mem_free(changed);
    if (schedule->row_count > 0) {
        qsort_r(history->by_id, schedule->row_count, sizeof *history->by_id, compare_ids, schedule->rows);
    }
}

/* Where nobody has a c or an a, all commit at the end in the order of their last steps. */
static void commit_all(struct builder *builder) {
    struct history *history = builder->history;
    const struct schedule *schedule = history->schedule;
    history->commits_at_end = true;
    for (uint32_t i = 0; i < schedule->step_count; i++) {
        uint32_t life = builder->lives_now[schedule->steps[i].txn];
        if (history->lives[life].last_step == i) {
            builder->step = i;
            end_life(builder, life, HISTORY_COMMITTED);
            builder->lives_now[schedule->steps[i].txn] = life;
        }
    }
}

static void free_builder(struct builder *builder) {
    for (size_t i = 0; i < builder->history->schedule->row_count; i++) {
        mem_free(builder->rows[i].items);
    }
    mem_free(builder->rows);
    mem_free(builder->lives_now);
    mem_free(builder->attempts);
    mem_free(builder->slots);
}

bool history_build(struct history *history, const struct schedule *schedule) {
    *history = (struct history){.schedule = schedule};
    struct builder builder = {.history = history};
    bool ends = false, fits = true;
    history->start = mem_new(schedule->row_count, sizeof *history->start);
    history->by_id = mem_new(schedule->row_count, sizeof *history->by_id);
    set_start(history);
    builder.rows = mem_new(schedule->row_count, sizeof *builder.rows);
    builder.lives_now = mem_new(schedule->txn_count, sizeof *builder.lives_now);
    builder.attempts = mem_new(schedule->txn_count, sizeof *builder.attempts);
    for (size_t i = 0; i < schedule->row_count; i++) {
        builder.rows[i].top = HISTORY_NONE;
    }
    for (size_t i = 0; i < schedule->txn_count; i++) {
        builder.lives_now[i] = HISTORY_NONE;
    }
    for (size_t i = 0; i < schedule->step_count && fits; i++) {
        builder.step = (uint32_t)i;
        ends = ends || schedule->steps[i].kind == SCHEDULE_COMMIT || schedule->steps[i].kind == SCHEDULE_ROLLBACK;
        build_step(&builder, &schedule->steps[i]);
        fits = history->op_count <= HISTORY_OPS_MAX && builder.visits <= VISITS_MAX;
    }
    if (fits && !ends) {
        commit_all(&builder);
    }
    free_builder(&builder);
    return fits;
}

void history_free(struct history *history) {
    mem_free(history->ops);
    mem_free(history->lives);
    mem_free(history->touches);
    mem_free(history->start);
    mem_free(history->by_id);
    *history = (struct history){0};
}

bool history_order(struct schedule_book *book, const char *source, const struct schedule *schedule) {
    enum { NEW, RUNNING, DONE, ROLLED_BACK, TOLD }; /* told: once is enough */
    char *states = mem_new(schedule->txn_count, 1);
    size_t before = book->mistake_count;
    for (size_t i = 0; i < schedule->step_count; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        char *state = &states[step->txn];
        long long number = (long long)schedule->txns[step->txn];
        bool begins = step->kind == SCHEDULE_BEGIN;
        if (*state == DONE) {
            schedule_mistake(book, source, step->line, step->column,
                             "T%lld has committed: what follows needs another number", number);
        } else if (*state == ROLLED_BACK && !begins) {
            schedule_mistake(book, source, step->line, step->column,
                             "T%lld has been rolled back: to begin it anew write b%lld", number, number);
        } else if (*state == RUNNING && begins) {
            schedule_mistake(book, source, step->line, step->column, "T%lld has begun already", number);
        } else if (*state != TOLD) {
            *state = step->kind == SCHEDULE_COMMIT ? DONE : step->kind == SCHEDULE_ROLLBACK ? ROLLED_BACK : RUNNING;
            continue;
        }
        *state = TOLD;
    }
    mem_free(states);
    return book->mistake_count == before;
}
