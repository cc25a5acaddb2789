/* wild.c - random programs, for `ccsim storm` and for tests: 1 to 8 steps out of everything that a step can be.
 *
 * The table has a few dense keys, among and around them keys that are absent at first. Whatever a program is answered,
 * errors included, it goes on with its next step; so savepoints, failed statements, duplicate keys, rows that come and
 * go, SKIP LOCKED and conditions meet in all combinations.
 *
 * Program counter: the number of steps taken. There is no invariant that such programs keep: what they were shown is
 * judged by the certifier. */
#include "workloads/wild.h"

#include <math.h>

#include "sim/store/level.h"
#include "workloads/program.h"

enum { LIMIT_MAX = 4, SAVEPOINTS = 3, UNTOUCHED_VALUE = 7 };
#define KEYS_MAX 1e6

#define FIELD(name) offsetof(struct wild_options, name)
#define WEIGHT(name, kind, n, what) \
    { name, OPTION_COUNT, FIELD(weights[kind]), n, 0, 1e6, NULL, 0, "weight of " what }
#define CHANCE(name, what) \
    { #name, OPTION_SHARE, FIELD(name), "20%", 0, 0, NULL, 0, "share of " what }
static const char *const level_choices[] = {
    [LEVEL_RU] = "ru", [LEVEL_RC] = "rc", [LEVEL_RR] = "rr", [LEVEL_SI] = "si", [LEVEL_SER] = "ser", NULL};
static const struct option options[] = {
    {"first_key", OPTION_NUMBER, FIELD(first_key), "1", -KEYS_MAX, KEYS_MAX, NULL, 0, "the first key in use"},
    {"keys_before", OPTION_COUNT, FIELD(keys_before), "1", 0, KEYS_MAX, NULL, 0,
     "keys before the rows, absent at first"},
    {"rows", OPTION_COUNT, FIELD(rows), "8", 1, KEYS_MAX, NULL, 0, "rows, a tenth of which is absent at first"},
    {"keys_after", OPTION_COUNT, FIELD(keys_after), "4", 0, KEYS_MAX, NULL, 0, "keys after the rows, absent at first"},
    {"steps_max", OPTION_COUNT, FIELD(steps_max), "8", 1, WILD_STEPS_MAX, NULL, 0, "a program has 1 to so many steps"},
    WEIGHT("select_key", WILD_SELECT_KEY, "4", "SELECT by key among the steps"),
    WEIGHT("select_range", WILD_SELECT_RANGE, "2", "SELECT of a range"),
    WEIGHT("update_key", WILD_UPDATE_KEY, "4", "UPDATE by key"),
    WEIGHT("update_range", WILD_UPDATE_RANGE, "1", "UPDATE of a range"),
    WEIGHT("insert", WILD_INSERT, "1", "INSERT"),
    WEIGHT("delete_key", WILD_DELETE_KEY, "1", "DELETE by key"),
    WEIGHT("delete_range", WILD_DELETE_RANGE, "0", "DELETE of a range"),
    WEIGHT("savepoint", WILD_SAVEPOINT, "1", "setting a savepoint"),
    WEIGHT("rollback_to", WILD_ROLLBACK_TO, "1", "rolling back to a savepoint"),
    WEIGHT("pause", WILD_THINK, "1", "the application's own time"),
    CHANCE(locking, "the SELECTs that are FOR SHARE or FOR UPDATE"),
    CHANCE(impatient, "the statements with NOWAIT or SKIP LOCKED"),
    CHANCE(conditional, "the statements with a condition on their rows"),
    CHANCE(limited, "the range statements with a LIMIT"),
    CHANCE(blind, "the UPDATEs to a constant, which need nothing of the row"),
    CHANCE(last_seen, "the UPDATEs to what the program read last, plus something"),
    CHANCE(rollback, "transactions that end by their own wish instead of committing"),
    CHANCE(hot, "the keys that are the first row"),
    {"think", OPTION_DISTRIBUTION, FIELD(think), "exp(1ms)", 0, 0, NULL, 0, "the application's own time"},
    {"other_level", OPTION_SHARE, FIELD(other_level), "0", 0, 0, NULL, 0,
     "share of the transactions that ask for `level`; the others take what the algorithm gives"},
    {"level", OPTION_CHOICE, FIELD(level), "rc", 0, 0, level_choices, 0, "which level those ask for"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct wild_options);

struct action {
    struct step step;
    bool last_seen; /* a write of what the program read last, plus the operand */
};

struct wild_state {
    struct wild_options options;
    struct table *table;
    int64_t first_key, first_row, last_key;
    uint64_t weight_sum;
};

struct wild_arguments {
    int count;
    bool rollback;
    int level; /* enum level, or LEVEL_OWN */
    struct action actions[WILD_STEPS_MAX];
};

struct wild_registers {
    int next;
    int64_t last_seen;
};

static int64_t between(struct stream *stream, int64_t low, int64_t high) {
    return low + (int64_t)stream_below(stream, (uint64_t)(high - low + 1));
}

static uint64_t weight_sum(const struct wild_options *o) {
    uint64_t sum = 0;
    for (int i = 0; i < WILD_ACTIONS; i++) {
        sum += (uint64_t)o->weights[i];
    }
    return sum;
}

static bool wild_check(const void *values, struct text *error) {
    const struct wild_options *o = values;
    if (o->first_key != floor(o->first_key)) {
        char number[32];
        text_add(error, "first_key = %s is not a whole number", text_number(number, o->first_key));
        return false;
    }
    if (weight_sum(o) == 0) {
        text_add(error, "the weights of all kinds of steps, select_key to pause, are 0");
        return false;
    }
    return true;
}

static void wild_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    struct wild_state *state = memory;
    state->options = *(const struct wild_options *)values;
    const struct wild_options *o = &state->options;
    state->first_key = (int64_t)o->first_key;
    state->first_row = state->first_key + o->keys_before;
    state->last_key = state->first_row + o->rows + o->keys_after - 1;
    state->weight_sum = weight_sum(o);
    state->table = store_add_table(store, "wild", state->first_row, o->rows, UNTOUCHED_VALUE, false);
    for (int64_t i = 0; i < o->rows; i++) {
        bool absent = stream_chance(stream, 0.2);
        int64_t value = between(stream, 0, WILD_VALUES - 1);
        if (stream_chance(stream, 0.5)) {
            store_set_initial(store, state->table, state->first_row + i, value, absent);
        }
    }
}

static int64_t draw_key(const struct wild_state *state, struct stream *stream) {
    bool hot = stream_chance(stream, state->options.hot);
    int64_t key = between(stream, state->first_key, state->last_key);
    return hot ? state->first_row : key;
}

static void draw_condition(const struct wild_options *o, struct stream *stream, struct condition *condition) {
    bool wanted = stream_chance(stream, o->conditional);
    struct condition drawn = {.operator=(enum condition_operator) between(stream, CONDITION_EQ, CONDITION_GE),
                              .of_id = stream_chance(stream, 0.25),
                              .modulus = stream_chance(stream, 0.5) ? between(stream, 2, 3) : 0,
                              .constant = between(stream, 0, WILD_VALUES)};
    if (wanted) {
        *condition = drawn;
    }
}

static void draw_place(const struct wild_state *state, struct stream *stream, struct step *step) {
    int64_t a = draw_key(state, stream), b = draw_key(state, stream), limit = between(stream, 1, LIMIT_MAX);
    bool limited = stream_chance(stream, state->options.limited);
    if (!step->scan) {
        step->first = step->last = a;
        return;
    }
    step->first = a < b ? a : b;
    step->last = a < b ? b : a;
    step->limit = limited ? (int32_t)limit : 0;
}

static void draw_statement(const struct wild_state *state, struct stream *stream, struct action *action) {
    const struct wild_options *o = &state->options;
    struct step *step = &action->step;
    draw_place(state, stream, step);
    draw_condition(o, stream, &step->condition);
    enum step_locking locking = stream_chance(stream, 0.5) ? LOCKING_SHARE : LOCKING_UPDATE;
    enum step_patience patience = stream_chance(stream, 0.5) ? PATIENCE_NOWAIT : PATIENCE_SKIP_LOCKED;
    bool locks = stream_chance(stream, o->locking), impatient = stream_chance(stream, o->impatient);
    bool blind = stream_chance(stream, o->blind);
    if (step->kind == STEP_SELECT) {
        step->locking = locks ? locking : LOCKING_NONE;
    } else {
        action->last_seen = stream_chance(stream, o->last_seen) && step->kind == STEP_UPDATE;
        step->value = blind || action->last_seen || step->kind == STEP_INSERT ? VALUE_SET : VALUE_ADD;
        step->operand = between(stream, 1, WILD_VALUES);
    }
    if (impatient) {
        step->patience = patience;
    }
    if (step->kind == STEP_INSERT) {
        step->condition = (struct condition){0};
        step->patience = step->patience == PATIENCE_SKIP_LOCKED ? PATIENCE_BLOCK : step->patience;
    }
}

/* Which savepoints are set, as the walker sees it: the number of the first statement each undoes, 0 if it is not. */
struct savepoints {
    int statements;
    int marks[SAVEPOINTS];
};

static bool draw_rollback_to(struct savepoints *set, struct stream *stream, struct step *step) {
    int wanted = (int)between(stream, 0, SAVEPOINTS - 1);
    if (set->marks[wanted] == 0) {
        return false;
    }
    step->kind = STEP_ROLLBACK_TO;
    step->savepoint = wanted;
    for (int i = 0; i < SAVEPOINTS; i++) {
        set->marks[i] = set->marks[i] > set->marks[wanted] ? 0 : set->marks[i];
    }
    return true;
}

static enum wild_action draw_kind(const struct wild_state *state, struct stream *stream) {
    uint64_t at = stream_below(stream, state->weight_sum);
    int kind = 0;
    while (at >= (uint64_t)state->options.weights[kind]) {
        at -= (uint64_t)state->options.weights[kind++];
    }
    return (enum wild_action)kind;
}

static void draw_action(const struct wild_state *state, struct stream *stream, struct savepoints *set,
                        struct action *action) {
    static const enum step_kind kinds[] = {
        [WILD_SELECT_KEY] = STEP_SELECT,   [WILD_SELECT_RANGE] = STEP_SELECT, [WILD_UPDATE_KEY] = STEP_UPDATE,
        [WILD_UPDATE_RANGE] = STEP_UPDATE, [WILD_INSERT] = STEP_INSERT,       [WILD_DELETE_KEY] = STEP_DELETE,
        [WILD_DELETE_RANGE] = STEP_DELETE, [WILD_SAVEPOINT] = STEP_SAVEPOINT, [WILD_ROLLBACK_TO] = STEP_ROLLBACK_TO,
        [WILD_THINK] = STEP_THINK};
    enum wild_action kind = draw_kind(state, stream);
    struct step *step = &action->step;
    *action = (struct action){.step = {.kind = kinds[kind], .table = state->table}};
    step->scan = kind == WILD_SELECT_RANGE || kind == WILD_UPDATE_RANGE || kind == WILD_DELETE_RANGE;
    if (kind == WILD_SAVEPOINT || (kind == WILD_ROLLBACK_TO && !draw_rollback_to(set, stream, step))) {
        step->kind = STEP_SAVEPOINT;
        step->savepoint = (int)between(stream, 0, SAVEPOINTS - 1);
        set->marks[step->savepoint] = set->statements + 1;
    } else if (kind == WILD_THINK) {
        step->think = &state->options.think;
    } else if (kind != WILD_ROLLBACK_TO) {
        set->statements++;
        draw_statement(state, stream, action);
    }
}

static void wild_draw(void *memory, const struct draw *draw, void *values) {
    const struct wild_state *state = memory;
    struct wild_arguments *a = values;
    struct savepoints set = {0};
    a->count = (int)between(draw->stream, 1, state->options.steps_max);
    a->rollback = stream_chance(draw->stream, state->options.rollback);
    struct step *last = NULL; /* statement */
    for (int i = 0; i < a->count; i++) {
        struct step *step = &a->actions[i].step;
        draw_action(state, draw->stream, &set, &a->actions[i]);
        last = step->kind <= STEP_INSERT ? step : last;
    }
    if (last != NULL) {
        last->last_lock = true;
    }
    a->level = stream_chance(draw->stream, state->options.other_level) ? state->options.level : LEVEL_OWN;
}

static int wild_isolation(const void *memory, const void *values) {
    (void)memory;
    return ((const struct wild_arguments *)values)->level;
}

static unsigned wild_levels(const void *values) {
    const struct wild_options *o = values;
    return o->other_level > 0 ? 1u << o->level : 0;
}

static void wild_next(void *memory, const void *values, void *registers, const struct reply *reply, struct step *step) {
    (void)memory;
    const struct wild_arguments *a = values;
    struct wild_registers *r = registers;
    if (r->next > 0 && reply->count > 0) {
        r->last_seen = reply->rows[0].value;
    }
    if (r->next == a->count) {
        step_end(step, a->rollback);
        return;
    }
    const struct action *action = &a->actions[r->next++];
    *step = action->step;
    step->operand += action->last_seen ? r->last_seen : 0;
}

static uint64_t wild_remaining(const void *memory, const void *values, const void *registers) {
    (void)memory;
    const struct wild_arguments *a = values;
    const struct wild_registers *r = registers;
    return (uint64_t)(a->count - r->next);
}

/* Nothing that a program reads changes where it goes. */
static size_t wild_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    (void)memory;
    static const enum planned_use uses[] = {[STEP_SELECT] = PLANNED_READ,
                                            [STEP_UPDATE] = PLANNED_WRITE,
                                            [STEP_DELETE] = PLANNED_WRITE,
                                            [STEP_INSERT] = PLANNED_INSERT};
    const struct wild_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    for (int i = 0; i < a->count; i++) {
        const struct step *step = &a->actions[i].step;
        if (step->kind <= STEP_INSERT) {
            struct planned item = {.table = step->table, .key = step->first, .last = step->last, .scan = step->scan};
            item.use = step->kind == STEP_SELECT && step->locking == LOCKING_UPDATE ? PLANNED_LOCK : uses[step->kind];
            item.condition = step->condition;
            footprint_add(&plan, item);
        }
    }
    return plan.count;
}

/* Of the programs that write nothing, by their first key, one in two says so, one in four would rather wait. */
static enum declaration wild_declares(const void *memory, const void *values) {
    (void)memory;
    static const enum declaration declarations[] = {DECLARES_NOTHING, DECLARES_READ_ONLY, DECLARES_NOTHING,
                                                    DECLARES_DEFERRABLE};
    const struct wild_arguments *a = values;
    for (int i = 0; i < a->count; i++) {
        enum step_kind kind = a->actions[i].step.kind;
        if (kind == STEP_UPDATE || kind == STEP_DELETE || kind == STEP_INSERT) {
            return DECLARES_NOTHING;
        }
    }
    return declarations[(uint64_t)a->actions[0].step.first % 4];
}

static void wild_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)memory;
    (void)store;
    audit->verdict = AUDIT_NONE;
}

const struct workload_ops workload_wild = {
    .name = "wild",
    .summary = "random programs of everything that a step can be, for storm and for testing",
    .options = &option_table,
    .state_size = sizeof(struct wild_state),
    .arguments_size = sizeof(struct wild_arguments),
    .registers_size = sizeof(struct wild_registers),
    .check = wild_check,
    .load = wild_load,
    .draw = wild_draw,
    .next = wild_next,
    .remaining = wild_remaining,
    .plan = wild_plan,
    .tells_last_lock = true,
    .declares = wild_declares,
    .isolation = wild_isolation,
    .levels = wild_levels,
    .audit = wild_audit,
};
