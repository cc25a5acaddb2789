/* phantom.c - a range that is added up twice in a transaction, while others insert into it and delete from it.
 *
 * The keys of a table make groups side by side. Every key has a row at the start; deletes and inserts name a key at
 * random, so in the long run as many are there as the shares of both allow. A delete of a row that is not there, and an
 * insert of one that is, are rollbacks by the program's own wish.
 *
 *   stage     the reply that came    the next step
 *   BEGIN     none                   sum: add up a group; insert, delete: do it
 *   AGAIN     a group's rows         commit after the last time; else pause if there are pauses; else add up again
 *   PAUSE     of the pause           add up again
 *   END       of the change          commit (all: rollback, where that was drawn); roll back if there was no row to delete
 *
 * Invariant: all sums that a committed transaction made of its group are equal. Locks on the rows that were read do not
 * suffice for it: what was not there yet must be kept out, by a snapshot (SI) or by locking the range (SER). */
#include "workloads/program.h"

enum { REPEATS_MAX = 100, VALUE_MAX = 100, GROUP_MAX = 10000, GROUPS_MAX = 100000 };
enum { TYPE_SUM, TYPE_INSERT, TYPE_DELETE, TYPE_COUNT };

struct phantom_options {
    int64_t groups, keys, repeats;
    struct distribution pause;
    double sum_fraction, insert_fraction, theta, rollback;
};

struct phantom_state {
    struct phantom_options options;
    struct table *items;
    struct zipf zipf;            /* ranks of groups */
    uint64_t sums, changed_sums; /* that committed, and of them those whose sums differed */
};

struct phantom_arguments {
    uint8_t type, value; /* of the row to insert */
    bool rollback;
    uint32_t group, item; /* from 0 */
};

enum stage { STAGE_BEGIN, STAGE_AGAIN, STAGE_PAUSE, STAGE_END };

struct phantom_registers {
    int64_t sum, rows; /* of the first time */
    int32_t times;     /* that the group was added up, the statement at hand included */
    bool changed;
    uint8_t stage;
};

#define FIELD(field) offsetof(struct phantom_options, field)
static const struct option options[] = {
    {"groups", OPTION_COUNT, FIELD(groups), "10", 1, GROUPS_MAX, NULL, 0,
     "groups of neighbouring keys: what a sum adds up"},
    {"keys", OPTION_COUNT, FIELD(keys), "20", 1, GROUP_MAX, NULL, 0, "keys of a group, all with a row at the start"},
    {"repeats", OPTION_COUNT, FIELD(repeats), "2", 1, REPEATS_MAX, NULL, 0,
     "times that a sum's transaction adds up its group"},
    {"pause", OPTION_DISTRIBUTION, FIELD(pause), "0", 0, 0, NULL, 0,
     "the application's own time between two of these times: no CPU of the server, but locks and snapshots are held"},
    {"sum_fraction", OPTION_SHARE, FIELD(sum_fraction), "50%", 0, 0, NULL, 0,
     "share of the transactions that add up a group; the others insert or delete a row"},
    {"insert_fraction", OPTION_SHARE, FIELD(insert_fraction), "50%", 0, 0, NULL, 0,
     "share of inserts among these; the others delete"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0, "Zipf skew of the groups; 0: uniform"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back at their end by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct phantom_options);

static bool phantom_check(const void *values, struct text *error) {
    const struct phantom_options *o = values;
    if (!distribution_is_zero(&o->pause) && o->repeats == 1) {
        text_add(error, "pause has no place with repeats = 1: it passes between two sums");
        return false;
    }
    return true;
}

static void phantom_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct phantom_state *state = memory;
    state->options = *(const struct phantom_options *)values;
    const struct phantom_options *o = &state->options;
    state->items = store_add_table(store, "items", PROGRAM_FIRST_KEY, o->groups * o->keys, VALUE_MAX / 2, false);
    zipf_init(&state->zipf, (uint64_t)o->groups, o->theta);
}

static void phantom_draw(void *memory, const struct draw *draw, void *values) {
    const struct phantom_state *state = memory;
    const struct phantom_options *o = &state->options;
    struct phantom_arguments *a = values;
    a->group = (uint32_t)zipf_draw(&state->zipf, draw->stream);
    a->item = (uint32_t)stream_below(draw->stream, (uint64_t)o->keys);
    a->value = (uint8_t)(1 + stream_below(draw->stream, VALUE_MAX));
    a->rollback = stream_chance(draw->stream, o->rollback);
    bool sums = stream_chance(draw->stream, o->sum_fraction);
    bool inserts = stream_chance(draw->stream, o->insert_fraction);
    a->type = sums ? TYPE_SUM : inserts ? TYPE_INSERT : TYPE_DELETE;
}

static int64_t first_of_group(const struct phantom_state *state, const struct phantom_arguments *a) {
    return PROGRAM_FIRST_KEY + a->group * state->options.keys;
}

/* The last one takes the last lock: a row that came or went behind the group may have moved the gap to be locked. */
static void add_up(const struct phantom_state *state, const struct phantom_arguments *a, struct phantom_registers *r,
                   struct step *step) {
    step_select(step, state->items, first_of_group(state, a), LOCKING_NONE);
    step->last += state->options.keys - 1;
    step->scan = true;
    r->times++;
    step->last_lock = r->times == state->options.repeats;
    r->stage = STAGE_AGAIN;
}

static void begin(const struct phantom_state *state, const struct phantom_arguments *a, struct phantom_registers *r,
                  struct step *step) {
    if (a->type == TYPE_SUM) {
        add_up(state, a, r, step);
        return;
    }
    step_update(step, state->items, first_of_group(state, a) + a->item, VALUE_SET, a->value);
    step->kind = a->type == TYPE_INSERT ? STEP_INSERT : STEP_DELETE;
    step->last_lock = true;
    r->stage = STAGE_END;
}

static void see_sum(struct phantom_registers *r, const struct reply *reply) {
    int64_t sum = reply_sum(reply);
    if (r->times == 1) {
        r->sum = sum;
        r->rows = reply->count;
    } else if (sum != r->sum || reply->count != r->rows) {
        r->changed = true;
    }
}

static void phantom_next(void *memory, const void *values, void *registers, const struct reply *reply,
                         struct step *step) {
    const struct phantom_state *state = memory;
    const struct phantom_arguments *a = values;
    struct phantom_registers *r = registers;
    if (r->stage != STAGE_BEGIN && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN: begin(state, a, r, step); break;
    case STAGE_AGAIN:
        see_sum(r, reply);
        if (r->times == state->options.repeats) {
            step_end(step, a->rollback);
        } else if (!distribution_is_zero(&state->options.pause)) {
            r->stage = STAGE_PAUSE;
            step_think(step, &state->options.pause);
        } else {
            add_up(state, a, r, step);
        }
        break;
    case STAGE_PAUSE: add_up(state, a, r, step); break;
    case STAGE_END: step_end(step, a->rollback || reply->count == 0); break;
    }
}

static uint64_t phantom_remaining(const void *memory, const void *values, const void *registers) {
    const struct phantom_state *state = memory;
    const struct phantom_arguments *a = values;
    const struct phantom_registers *r = registers;
    if (a->type == TYPE_SUM) {
        return (uint64_t)((state->options.repeats - r->times) * state->options.keys);
    }
    return r->stage == STAGE_BEGIN;
}

static enum declaration phantom_declares(const void *memory, const void *values) {
    (void)memory;
    return ((const struct phantom_arguments *)values)->type == TYPE_SUM ? DECLARES_READ_ONLY : DECLARES_NOTHING;
}

static const char *const type_names[] = {"sum", "insert", "delete"};

static size_t phantom_type_count(const void *values) {
    (void)values;
    return TYPE_COUNT;
}

static const char *phantom_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t phantom_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct phantom_arguments *)values)->type;
}

static size_t phantom_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct phantom_state *state = memory;
    const struct phantom_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    int64_t first = first_of_group(state, a);
    if (a->type == TYPE_SUM) {
        footprint_add(&plan,
                      (struct planned){
                          .table = state->items, .key = first, .last = first + state->options.keys - 1, .scan = true});
    } else {
        footprint_add_row(&plan, state->items, first + a->item,
                          a->type == TYPE_INSERT ? PLANNED_INSERT : PLANNED_WRITE);
    }
    return plan.count;
}

static void phantom_committed(void *memory, const void *values, const void *registers) {
    struct phantom_state *state = memory;
    const struct phantom_arguments *a = values;
    const struct phantom_registers *r = registers;
    state->sums += a->type == TYPE_SUM;
    state->changed_sums += r->changed;
}

static void phantom_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct phantom_state *state = memory;
    audit->level = LEVEL_SI;
    audit->verdict = state->changed_sums == 0 ? AUDIT_OK : AUDIT_BROKEN;
    if (state->changed_sums > 0) {
        text_add(&audit->message, "%" PRIu64 " of %" PRIu64 " committed sums had changed when they were repeated",
                 state->changed_sums, state->sums);
    }
}

const struct workload_ops workload_phantom = {
    .name = "phantom",
    .summary = "sums of a range that are repeated, beside inserts into it and deletes from it",
    .options = &option_table,
    .state_size = sizeof(struct phantom_state),
    .arguments_size = sizeof(struct phantom_arguments),
    .registers_size = sizeof(struct phantom_registers),
    .check = phantom_check,
    .load = phantom_load,
    .draw = phantom_draw,
    .next = phantom_next,
    .remaining = phantom_remaining,
    .declares = phantom_declares,
    .type_count = phantom_type_count,
    .type_name = phantom_type_name,
    .type_of = phantom_type_of,
    .plan = phantom_plan,
    .tells_last_lock = true,
    .committed = phantom_committed,
    .audit = phantom_audit,
};
