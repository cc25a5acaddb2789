/* player_workload.c - the programs of a played schedule: each hands out the written step it was given and holds in
 * between. A written step becomes a statement here: its rows as keys or a scan, its value as far as the program
 * knows it.
 *
 * A predicate on ids is a range of keys, as an index on the key would serve it; any other scans the whole table. */
#include "sim/base/check.h"
#include "sim/exec/player_parts.h"

struct player_arguments {
    uint32_t txn;
};
struct player_registers {
    bool in_hand;  /* a step was handed out: */
    uint32_t step; /* this one */
};

static struct player *player_of(const void *state) { return *(struct player *const *)state; }

/* ---- The table ---- */

static void load(void *state, const void *options, struct store *store, struct stream *stream) {
    (void)stream;
    struct player *player = *(struct player *const *)options;
    *(struct player **)state = player;
    player->table = store_add_table(store, "rows", 1, 0, 0, true);
    for (size_t i = 0; i < player->schedule->row_count; i++) {
        const struct schedule_row *row = &player->schedule->rows[i];
        if (row->present) {
            store_set_initial(store, player->table, row->id, row->value, false);
        }
    }
}

static void draw(void *state, const struct draw *draw, void *arguments) {
    (void)state;
    ((struct player_arguments *)arguments)->txn = (uint32_t)draw->number - 1;
}

/* ---- Steps ---- */

static int64_t last_read(const struct player_txn *txn, uint32_t row) {
    for (size_t i = 0; i < txn->last_reads.count; i++) {
        if (txn->last_reads.items[i].row == row) {
            return txn->last_reads.items[i].value;
        }
    }
    return 0;
}

static void set_value(struct player *player, uint32_t number, const struct schedule_value *value, struct step *step) {
    struct player_txn *txn = &player->txns[number];
    step->value = value->form == SCHEDULE_ADD ? VALUE_ADD : VALUE_SET;
    step->operand = value->constant;
    switch (value->form) {
    case SCHEDULE_ANY:
        if (player->play->steps[txn->current].any_value == 0) { /* else it was done before, and undone */
            player->play->steps[txn->current].any_value = 100 * player->schedule->txns[number] + ++txn->any_writes;
        }
        step->operand = player->play->steps[txn->current].any_value;
        break;
    case SCHEDULE_LAST_READ: step->operand += last_read(txn, value->row); break;
    case SCHEDULE_INSIDE:
        player->extras[number].reads_source = true;
        player->extras[number].source = player->schedule->rows[value->row].id;
        break;
    case SCHEDULE_CONSTANT:
    case SCHEDULE_ADD: break;
    }
}

static void set_range(const struct condition *condition, struct step *step) {
    step->scan = true;
    step->first = INT64_MIN;
    step->last = INT64_MAX - 1;
    if (!condition->of_id || condition->modulus > 0) {
        return;
    }
    switch (condition->operator) {
    case CONDITION_EQ: step->first = step->last = condition->constant; break;
    case CONDITION_LT: step->last = condition->constant - 1; break;
    case CONDITION_LE: step->last = condition->constant; break;
    case CONDITION_GT: step->first = condition->constant + 1; break;
    case CONDITION_GE: step->first = condition->constant; break;
    case CONDITION_NE:
    case CONDITION_TRUE: break;
    }
}

static void set_rows(struct player *player, uint32_t number, const struct schedule_step *written, struct step *step) {
    struct step_extra *extra = &player->extras[number];
    struct condition expected = {.operator= CONDITION_EQ, .constant = written->expected};
    step->table = player->table;
    step->limit = (int32_t)written->limit;
    if (written->predicate != SCHEDULE_NONE) {
        step->condition = player->schedule->predicates[written->predicate].condition;
        set_range(&step->condition, step);
        extra->also = written->conditional ? expected : extra->also;
        return;
    }
    if (written->conditional) {
        step->condition = expected;
    }
    extra->keys = &player->keys[written->first_row];
    extra->key_count = written->row_count;
    step->first = step->last = extra->keys[0];
}

static const struct {
    enum step_kind kind;
    enum step_locking locking;
} forms[SCHEDULE_KINDS] = {
    [SCHEDULE_READ] = {STEP_SELECT, LOCKING_NONE},
    [SCHEDULE_QUERY] = {STEP_SELECT, LOCKING_NONE},
    [SCHEDULE_UPDATE_LOCK] = {STEP_SELECT, LOCKING_UPDATE},
    [SCHEDULE_SHARE_LOCK] = {STEP_SELECT, LOCKING_SHARE},
    [SCHEDULE_WRITE] = {STEP_UPDATE, LOCKING_NONE},
    [SCHEDULE_INSERT] = {STEP_INSERT, LOCKING_NONE},
    [SCHEDULE_DELETE] = {STEP_DELETE, LOCKING_NONE},
    [SCHEDULE_SAVEPOINT] = {STEP_SAVEPOINT, LOCKING_NONE},
    [SCHEDULE_ROLLBACK_TO] = {STEP_ROLLBACK_TO, LOCKING_NONE},
    [SCHEDULE_COMMIT] = {STEP_COMMIT, LOCKING_NONE},
    [SCHEDULE_ROLLBACK] = {STEP_ROLLBACK, LOCKING_NONE},
};

/* ---- The lock point: looking ahead in the schedule ---- */

/* Modes by strength: 0 nothing, then those of a read, of FOR UPDATE, of a write. */
static int mode_of(const struct schedule *schedule, const struct schedule_step *step, uint32_t row) {
    static const int modes[SCHEDULE_KINDS] = {
        [SCHEDULE_READ] = 1,  [SCHEDULE_SHARE_LOCK] = 1, [SCHEDULE_UPDATE_LOCK] = 2,
        [SCHEDULE_WRITE] = 3, [SCHEDULE_INSERT] = 3,     [SCHEDULE_DELETE] = 3};
    int mode = modes[step->kind] > 0 && step->value.form == SCHEDULE_INSIDE && step->value.row == row;
    for (uint32_t i = 0; i < step->row_count; i++) {
        mode = schedule->row_list[step->first_row + i] == row ? modes[step->kind] : mode;
    }
    return mode;
}

/* The strongest mode in which the attempt holds the row after step `last`, so far as that is certain: what it may have
 * skipped, and what was locked since a savepoint that it rolled back to, is not. */
static int held_mode(const struct player *player, uint32_t number, uint32_t last, uint32_t row) {
    const struct schedule *schedule = player->schedule;
    int mode = 0;
    for (uint32_t i = player->txns[number].first_step; i <= last; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        if (step->txn == number) {
            int its = step->skip ? 0 : mode_of(schedule, step, row);
            mode = step->kind == SCHEDULE_ROLLBACK_TO ? 0 : its > mode ? its : mode;
        }
    }
    return mode;
}

static bool is_statement(enum schedule_kind kind) { return forms[kind].kind <= STEP_INSERT && kind != SCHEDULE_BEGIN; }

/* Does step `later` need a lock that is not held after step `last`? */
static bool needs_new_lock(const struct player *player, uint32_t number, uint32_t last, uint32_t later) {
    const struct schedule *schedule = player->schedule;
    const struct schedule_step *step = &schedule->steps[later];
    bool needs = step->predicate != SCHEDULE_NONE || step->kind == SCHEDULE_INSERT;
    for (uint32_t i = 0; i < step->row_count && !needs; i++) {
        uint32_t row = schedule->row_list[step->first_row + i];
        needs = held_mode(player, number, last, row) < mode_of(schedule, step, row);
    }
    return needs || (step->value.form == SCHEDULE_INSIDE && held_mode(player, number, last, step->value.row) == 0);
}

static bool ends(enum schedule_kind kind) { return kind == SCHEDULE_COMMIT || kind == SCHEDULE_ROLLBACK; }

static bool is_last_lock(const struct player *player, uint32_t number, uint32_t index) {
    const struct schedule *schedule = player->schedule;
    bool went_back = false;
    for (uint32_t i = index + 1; i < schedule->step_count; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        if (step->txn != number) {
            continue;
        }
        if (ends(step->kind)) {
            break;
        }
        went_back = went_back || step->kind == SCHEDULE_ROLLBACK_TO;
        if (is_statement(step->kind) && (went_back || needs_new_lock(player, number, index, i))) {
            return false;
        }
    }
    return true;
}

static bool uses_again(const void *state, const void *arguments, const void *registers, const struct table *table,
                       int64_t key) {
    (void)registers;
    (void)table;
    const struct player *player = player_of(state);
    const struct schedule *schedule = player->schedule;
    uint32_t number = ((const struct player_arguments *)arguments)->txn;
    uint32_t row = player_row(player, key);
    bool found = false;
    for (size_t i = (size_t)player->txns[number].current + 1; i < schedule->step_count && !found; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        if (step->txn == number && ends(step->kind)) {
            break;
        }
        found = step->txn == number && mode_of(schedule, step, row) > 0;
    }
    return found;
}

static void set_step(struct player *player, uint32_t number, uint32_t index, struct step *step) {
    if (index >= player->schedule->step_count) { /* an implied commit */
        *step = (struct step){.kind = STEP_COMMIT};
        return;
    }
    const struct schedule_step *written = &player->schedule->steps[index];
    *step = (struct step){.kind = forms[written->kind].kind, .locking = forms[written->kind].locking};
    if (step->kind == STEP_ROLLBACK_TO) { /* one place serves all savepoints: marks says where each goes back to */
        player->txns[number].actor->savepoints[0] = player->marks[written->target];
    }
    if (step->kind > STEP_INSERT) {
        return;
    }
    player->extras[number] = (struct step_extra){0};
    step->extra = &player->extras[number];
    step->patience = written->nowait ? PATIENCE_NOWAIT : written->skip ? PATIENCE_SKIP_LOCKED : PATIENCE_BLOCK;
    step->last_lock = is_last_lock(player, number, index);
    set_rows(player, number, written, step);
    if (step->kind == STEP_UPDATE || step->kind == STEP_INSERT) {
        set_value(player, number, &written->value, step);
    }
}

static bool is_begin(const struct player *player, uint32_t step) {
    return step < player->schedule->step_count && player->schedule->steps[step].kind == SCHEDULE_BEGIN;
}

static void next(void *state, const void *arguments, void *memory, const struct reply *reply, struct step *step) {
    struct player *player = player_of(state);
    uint32_t number = ((const struct player_arguments *)arguments)->txn;
    struct player_txn *txn = &player->txns[number];
    struct player_registers *registers = memory;
    if (registers->in_hand || is_begin(player, txn->current)) {
        registers->in_hand = false;
        player_step_over(player, number, reply);
    }
    if (txn->given == PLAY_NONE) {
        *step = (struct step){.kind = STEP_HOLD};
        return;
    }
    set_step(player, number, txn->given, step);
    registers->step = txn->given;
    txn->given = PLAY_NONE;
    registers->in_hand = true;
}

static bool writes(const struct schedule *schedule, uint32_t number) {
    bool found = false;
    for (size_t i = 0; i < schedule->step_count && !found; i++) {
        enum schedule_kind kind = schedule->steps[i].kind;
        found = schedule->steps[i].txn == number &&
                (kind == SCHEDULE_WRITE || kind == SCHEDULE_INSERT || kind == SCHEDULE_DELETE);
    }
    return found;
}

static void restored(void *state, const void *arguments, void *memory, struct step *step) {
    struct player_registers *registers = memory;
    player_sent_back(player_of(state), ((const struct player_arguments *)arguments)->txn, registers->step);
    registers->in_hand = false;
    *step = (struct step){.kind = STEP_HOLD};
}

/* One that is written `b1:ro` and writes all the same is not taken at its word. */
static enum declaration declares(const void *state, const void *arguments) {
    const struct player *player = player_of(state);
    uint32_t number = ((const struct player_arguments *)arguments)->txn;
    uint32_t current = player->txns[number].current;
    if (!is_begin(player, current) || !player->schedule->steps[current].read_only || writes(player->schedule, number)) {
        return DECLARES_NOTHING;
    }
    return player->schedule->steps[current].deferrable ? DECLARES_DEFERRABLE : DECLARES_READ_ONLY;
}

/* What an algorithm cannot run counts as not asked for: play_cannot_run tells. */
static int isolation(const void *state, const void *arguments) {
    const struct player *player = player_of(state);
    uint32_t current = player->txns[((const struct player_arguments *)arguments)->txn].current;
    int level = is_begin(player, current) ? player->schedule->steps[current].level - 1 : LEVEL_OWN;
    return level >= 0 && (player->ops.levels & 1u << level) != 0 ? level : LEVEL_OWN;
}

const struct schedule_step *play_cannot_run(const struct schedule *schedule, const struct cc_ops *algorithm) {
    for (size_t i = 0; i < schedule->step_count; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        if (step->level != 0 && (algorithm->levels & 1u << (step->level - 1)) == 0) {
            return step;
        }
    }
    return NULL;
}

/* Rows named by the steps that are left; a predicate counts as all of them. */
static uint64_t remaining(const void *state, const void *arguments, const void *registers) {
    (void)registers;
    const struct player *player = player_of(state);
    const struct schedule *schedule = player->schedule;
    uint32_t number = ((const struct player_arguments *)arguments)->txn;
    uint32_t from = player->txns[number].current;
    uint64_t count = 0;
    for (size_t i = from; i < schedule->step_count; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        if (step->txn == number) {
            count += step->predicate != SCHEDULE_NONE ? schedule->row_count : step->row_count;
        }
    }
    return count;
}

/* Where the transaction that begins with step `from` ends. */
static size_t end_of(const struct schedule *schedule, size_t from) {
    size_t end = from;
    for (bool over = false; end < schedule->step_count && !over; end++) {
        const struct schedule_step *step = &schedule->steps[end];
        over = step->txn == schedule->steps[from].txn &&
               (step->kind == SCHEDULE_COMMIT || step->kind == SCHEDULE_ROLLBACK);
    }
    return end;
}

static enum planned_use use_of(const struct schedule_step *step) {
    switch (step->kind) {
    case SCHEDULE_UPDATE_LOCK: return PLANNED_LOCK;
    case SCHEDULE_WRITE:
    case SCHEDULE_DELETE: return PLANNED_WRITE;
    case SCHEDULE_INSERT: return PLANNED_INSERT;
    default: return PLANNED_READ;
    }
}

static void plan_step(const struct player *player, const struct schedule_step *written, struct footprint *out) {
    const struct schedule *schedule = player->schedule;
    if (written->value.form == SCHEDULE_INSIDE) {
        footprint_add_row(out, player->table, schedule->rows[written->value.row].id, PLANNED_READ);
    }
    if (written->predicate != SCHEDULE_NONE) {
        struct planned item = {.table = player->table, .scan = true, .use = use_of(written)};
        struct step range = {0};
        item.condition = schedule->predicates[written->predicate].condition;
        set_range(&item.condition, &range);
        item.key = range.first;
        item.last = range.last;
        footprint_add(out, item);
    }
    for (uint32_t i = 0; i < written->row_count; i++) {
        footprint_add_row(out, player->table, player->keys[written->first_row + i], use_of(written));
    }
}

/* Looks ahead in the written schedule. */
static size_t footprint(const void *state, const void *arguments, struct planned *out, size_t most) {
    const struct player *player = player_of(state);
    const struct schedule *schedule = player->schedule;
    uint32_t number = ((const struct player_arguments *)arguments)->txn;
    size_t from = player->txns[number].current;
    struct footprint plan = {.items = out, .capacity = most};
    for (size_t i = from, end = end_of(schedule, from); i < end; i++) {
        if (schedule->steps[i].txn == number) {
            plan_step(player, &schedule->steps[i], &plan);
        }
    }
    return plan.count;
}

static void committed(void *state, const void *arguments, const void *registers) {
    (void)registers;
    player_committed(player_of(state), ((const struct player_arguments *)arguments)->txn);
}

static void audit(const void *state, const struct store *store, struct workload_audit *result) {
    (void)state;
    (void)store;
    result->verdict = AUDIT_NONE;
}

const struct workload_ops player_workload = {
    .name = "play",
    .summary = "a written schedule, step by step",
    .state_size = sizeof(struct player *),
    .arguments_size = sizeof(struct player_arguments),
    .registers_size = sizeof(struct player_registers),
    .load = load,
    .draw = draw,
    .next = next,
    .remaining = remaining,
    .plan = footprint,
    .uses_again = uses_again,
    .tells_last_lock = true,
    .declares = declares,
    .isolation = isolation,
    .restored = restored,
    .committed = committed,
    .audit = audit,
};
