/* hot_row.c - every transaction wants the same row: a counter of visits, a stock level, a sequence in a table.
 *
 * A transaction makes `accesses` accesses to distinct rows. If there are hot rows, one access is to a hot row (uniform
 * among them), which the transaction increments; the others are to cold rows, which it reads or increments in one
 * statement. Hot rows have the lowest keys, cold ones follow, the most wanted first where theta skews them.
 *
 *   register `stage`   the reply that came         the next step
 *   ACCESS             none yet, or of an access   the next access, or commit (rollback, where that was drawn)
 *                      that is over
 *   HOT_READ           the hot row as read         application time if there is any, else write what was read, plus 1
 *   HOT_THOUGHT        of the application's time   write what was read, plus 1
 *
 * The hot row is written as soon as it was read and thought about, wherever in the transaction that is.
 * Invariant: rows start at 0, so their sum is the number of committed increments. A one-statement increment is safe
 * where nothing uncommitted is overwritten (RC); one that writes what was read before needs that nobody wrote in
 * between (SI). */
#include <string.h>

#include "sim/base/few.h"
#include "workloads/program.h"

enum { FEW_ACCESSES = 16, ACCESSES_MAX = 256 };
_Static_assert((int)ACCESSES_MAX <= (int)ZIPF_DISTINCT_MAX, "a transaction's rows are drawn at once");

enum hot_position { POSITION_FIRST, POSITION_MIDDLE, POSITION_LAST, POSITION_RANDOM };
enum hot_access { ACCESS_FOR_UPDATE, ACCESS_READ_WRITE, ACCESS_INCREMENT };
enum order { ORDER_RANDOM, ORDER_BY_KEY };

struct hot_row_options {
    int64_t rows, accesses, hot_rows;
    int hot_position, hot_access;
    struct distribution app_time;
    double write_fraction, theta;
    int order;
    double rollback;
};

struct hot_row_state {
    struct table *counters;
    int32_t last_in_two; /* accesses up to this one take two statements: those to hot rows, but for increments */
    bool all_write;      /* the cold accesses */
    bool draws_more;     /* after the rows */
    bool draws_few;      /* of uniform rows: draw_uniform_few */
    bool sorts_few;      /* sort_few_accesses */
    size_t cold_count;   /* accesses of a transaction to cold rows */
    uint64_t cold_rows;
    uint64_t increments;
    struct hot_row_options options;
    struct zipf cold; /* ranks of the cold rows; set if theta is not 0 */
};

/* An access is key << 1 | write: packed accesses sort by key, and those of hot rows come first. Behind a transaction's
 * last one stands 0, the key of no row. */
enum { NO_ACCESS = 0, ACCESS_WRITES = 1, ACCESS_KEY_SHIFT = 1 };

_Static_assert(PROGRAM_ROWS_MAX < INT32_MAX >> ACCESS_KEY_SHIFT, "a key and a flag fit 31 bits");

struct hot_row_arguments {
    uint16_t writes; /* increments that a commit makes */
    bool rollback;
    int32_t accesses[ACCESSES_MAX + 1];
};

enum stage { STAGE_ACCESS, STAGE_HOT_READ, STAGE_HOT_THOUGHT };

struct hot_row_registers {
    int64_t seen;    /* the hot row's value */
    uint32_t access; /* the number of the access at hand */
    uint32_t stage;
};

static const char *const position_names[] = {"first", "middle", "last", "random", NULL};
static const char *const access_names[] = {"for_update", "read_write", "increment", NULL};
static const char *const order_names[] = {"random", "by_key", NULL};

#define FIELD(field) offsetof(struct hot_row_options, field)
static const struct option options[] = {
    {"rows", OPTION_COUNT, FIELD(rows), "100000", 1, PROGRAM_ROWS_MAX, NULL, 0,
     "rows in all; those of one transaction are distinct"},
    {"accesses", OPTION_COUNT, FIELD(accesses), "8", 1, ACCESSES_MAX, NULL, 0,
     "accesses of a transaction, the hot one included"},
    {"hot_rows", OPTION_COUNT, FIELD(hot_rows), "1", 0, PROGRAM_ROWS_MAX, NULL, 0,
     "hot rows, of which each transaction increments one; 0: every access is to any of all rows"},
    {"hot_position", OPTION_CHOICE, FIELD(hot_position), "first", 0, 0, position_names, 0,
     "which of the accesses is the hot one; with order = by_key it is the first whatever this says"},
    {"hot_access", OPTION_CHOICE, FIELD(hot_access), "for_update", 0, 0, access_names, 0,
     "how the hot row is incremented: read locked and then written, read and then written (locks are upgraded), or in "
     "one statement"},
    {"app_time", OPTION_DISTRIBUTION, FIELD(app_time), "0", 0, 0, NULL, 0,
     "the application's own time between reading the hot row and writing it: no CPU of the server, but locks are held"},
    {"write_fraction", OPTION_SHARE, FIELD(write_fraction), "0", 0, 0, NULL, 0,
     "share of the cold accesses that increment their row in one statement; the others read"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0,
     "Zipf skew of the cold accesses; 0: uniform"},
    {"order", OPTION_CHOICE, FIELD(order), "random", 0, 0, order_names, 0,
     "order of a transaction's accesses: random, or by key, hot rows having the lowest keys"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct hot_row_options);

static bool hot_row_check(const void *values, struct text *error) {
    const struct hot_row_options *o = values;
    int64_t cold_accesses = o->accesses - (o->hot_rows > 0);
    if (o->hot_rows > o->rows) {
        text_add(error, "hot_rows = %" PRId64 " is more than rows = %" PRId64, o->hot_rows, o->rows);
        return false;
    }
    if (cold_accesses > o->rows - o->hot_rows) {
        text_add(error,
                 "accesses = %" PRId64 " needs %" PRId64 " different cold rows, but rows = %" PRId64
                 " and hot_rows = %" PRId64 " leave %" PRId64,
                 o->accesses, cold_accesses, o->rows, o->hot_rows, o->rows - o->hot_rows);
        return false;
    }
    if (!distribution_is_zero(&o->app_time) && o->hot_access == ACCESS_INCREMENT) {
        text_add(error, "app_time has no place with hot_access = increment, which reads and writes in one statement");
        return false;
    }
    if (!distribution_is_zero(&o->app_time) && o->hot_rows == 0) {
        text_add(error, "app_time has no place with hot_rows = 0: it passes between reading a hot row and writing it");
        return false;
    }
    return true;
}

static int32_t access_pack(uint64_t row, bool writes) {
    return (int32_t)(row + PROGRAM_FIRST_KEY) << ACCESS_KEY_SHIFT | writes;
}

static int64_t access_key(int32_t access) { return (uint32_t)access >> ACCESS_KEY_SHIFT; }

/* What every draw would ask the options. */
static void plan_draws(struct hot_row_state *state) {
    const struct hot_row_options *o = &state->options;
    bool some_write = o->write_fraction > 0 && o->write_fraction < 1;
    state->all_write = o->write_fraction >= 1;
    state->draws_more = o->rollback > 0 || some_write || (o->hot_rows > 0 && o->hot_position == POSITION_RANDOM);
    state->cold_count = (size_t)o->accesses - (o->hot_rows > 0);
    state->cold_rows = (uint64_t)(o->rows - o->hot_rows);
    state->draws_few = o->theta <= 0 && stream_repeats(state->cold_rows, state->cold_count);
    state->sorts_few = o->order == ORDER_BY_KEY && o->accesses <= FEW_ACCESSES;
}

static void hot_row_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct hot_row_state *state = memory;
    state->options = *(const struct hot_row_options *)values;
    state->counters = store_add_table(store, "counters", PROGRAM_FIRST_KEY, state->options.rows, 0, false);
    bool in_two = state->options.hot_rows > 0 && state->options.hot_access != ACCESS_INCREMENT;
    state->last_in_two = in_two ? access_pack((uint64_t)state->options.hot_rows - 1, true) : NO_ACCESS;
    plan_draws(state);
    if (state->options.theta > 0 && state->cold_rows > 0) {
        zipf_init(&state->cold, state->cold_rows, state->options.theta);
    }
}

/* Puts the hot access where it belongs among the cold ones, which keep their order. */
static void place_hot_access(const struct hot_row_options *o, struct stream *stream, int32_t *accesses, int32_t hot) {
    size_t count = (size_t)o->accesses, position = 0;
    switch ((enum hot_position)o->hot_position) {
    case POSITION_FIRST: position = 0; break;
    case POSITION_MIDDLE: position = count / 2; break;
    case POSITION_LAST: position = count - 1; break;
    case POSITION_RANDOM: position = (size_t)stream_below(stream, count); break;
    }
    memmove(accesses + position + 1, accesses + position, (count - 1 - position) * sizeof *accesses);
    accesses[position] = hot;
}

/* Four numbers that are compared at once. */
typedef int32_t four_accesses __attribute__((vector_size(16)));
_Static_assert(FEW_ACCESSES == 16, "four times four are compared with each");

/* All are different, so an access's place is the number of smaller ones. For a few that is quicker than to compare and
 * move: nothing in it is a guess for the processor. There is room for FEW_ACCESSES in both, whatever their count. */
static void sort_few_accesses(const int32_t *accesses, size_t count, int32_t *sorted) {
    int32_t places[FEW_ACCESSES];
    four_accesses fours[4], first = {0}, second = {0}, third = {0}, fourth = {0}; /* the places, by fours */
    memcpy(fours, accesses, sizeof fours);
    for (size_t i = 0; i < count; i++) {
        first -= fours[0] > accesses[i]; /* -1 where it is so */
        second -= fours[1] > accesses[i];
        third -= fours[2] > accesses[i];
    }
    for (size_t i = 0; count > 12 && i < count; i++) {
        fourth -= fours[3] > accesses[i];
    }
    memcpy(places, (four_accesses[4]){first, second, third, fourth}, sizeof places);
    for (size_t i = 0; i < count; i++) {
        sorted[places[i]] = accesses[i];
    }
}

static void sort_many_accesses(int32_t *accesses, size_t count) {
    for (size_t i = 1; i < count; i++) {
        int32_t access = accesses[i];
        size_t j = i;
        for (; j > 0 && accesses[j - 1] > access; j--) {
            accesses[j] = accesses[j - 1];
        }
        accesses[j] = access;
    }
}

static bool has_access(const int32_t *accesses, size_t count, int32_t access) {
    size_t i = 0;
    while (i < count && accesses[i] != access) {
        i++;
    }
    return i < count;
}

/* Accesses to the cold rows that stream_distinct would draw, all in one go. */
static void draw_uniform_few(const struct hot_row_state *state, struct stream *stream, int32_t *accesses) {
    const struct table *counters = state->counters;
    uint64_t hot_rows = (uint64_t)state->options.hot_rows, cold_rows = state->cold_rows;
    size_t count = state->cold_count;
    int32_t first = access_pack(hot_rows, state->all_write);
    struct stream local = *stream; /* stays in registers */
    struct few few = {0};
    while (few.count < count) {
        uint64_t rank = stream_below(&local, cold_rows);
        int32_t access = first + (int32_t)(rank << ACCESS_KEY_SHIFT);
        store_expect_dense(counters, hot_rows + rank);
        if (few_is_new(&few, rank) || !has_access(accesses, few.count, access)) {
            accesses[few.count++] = access;
        }
    }
    *stream = local;
}

/* Accesses to any number of cold rows, uniform or not. */
static __attribute__((noinline)) void draw_any_cold(const struct hot_row_state *state, struct stream *stream,
                                                    int32_t *accesses) {
    uint64_t ranks[ACCESSES_MAX], hot_rows = (uint64_t)state->options.hot_rows;
    if (state->options.theta > 0 && state->cold_count > 0) {
        zipf_distinct(&state->cold, stream, ranks, state->cold_count);
    } else {
        stream_distinct(stream, state->cold_rows, ranks, state->cold_count);
    }
    for (size_t i = 0; i < state->cold_count; i++) {
        accesses[i] = access_pack(hot_rows + ranks[i], state->all_write);
        store_expect_dense(state->counters, hot_rows + ranks[i]);
    }
}

/* Makes some of the accesses write, if they do not all do, and returns how many. */
static int32_t draw_writes(struct stream *stream, double fraction, int32_t *accesses, size_t count) {
    uint64_t limit = chance_limit(fraction);
    struct stream local = *stream; /* stays in registers */
    int32_t writes = 0;
    for (size_t i = 0; i < count; i++) {
        bool write = stream_whole(&local) < limit;
        accesses[i] |= write;
        writes += write;
    }
    *stream = local;
    return writes;
}

/* The accesses in the order drawn, the hot one in its place. What is drawn or not, or more or less often, comes after the
 * rows: they are the same whatever the shares. */
static void draw_accesses(const struct hot_row_state *state, struct stream *stream, struct hot_row_arguments *a,
                          int32_t *accesses) {
    const struct hot_row_options *o = &state->options;
    bool has_hot = o->hot_rows > 0;
    uint64_t hot_row = has_hot ? stream_below(stream, (uint64_t)o->hot_rows) : 0;
    if (__builtin_expect(state->draws_few, 1)) {
        draw_uniform_few(state, stream, accesses);
    } else {
        draw_any_cold(state, stream, accesses);
    }
    int32_t writes = state->all_write ? (int32_t)state->cold_count : 0;
    a->rollback = false;
    if (state->draws_more) {
        a->rollback = stream_chance(stream, o->rollback);
        writes = draw_writes(stream, o->write_fraction, accesses, state->cold_count);
    }
    a->writes = (uint16_t)(has_hot + writes);
    if (has_hot) {
        store_expect_dense(state->counters, hot_row);
        place_hot_access(o, stream, accesses, access_pack(hot_row, true));
    }
}

static void hot_row_draw(void *memory, const struct draw *draw, void *values) {
    const struct hot_row_state *state = memory;
    struct hot_row_arguments *a = values;
    size_t count = (size_t)state->options.accesses;
    int32_t drawn[FEW_ACCESSES];
    draw_accesses(state, draw->stream, a, state->sorts_few ? drawn : a->accesses);
    if (state->sorts_few) {
        sort_few_accesses(drawn, count, a->accesses);
    } else if (state->options.order == ORDER_BY_KEY) {
        sort_many_accesses(a->accesses, count);
    }
    a->accesses[count] = NO_ACCESS;
}

static int64_t key_at_hand(const struct hot_row_arguments *a, const struct hot_row_registers *r) {
    return access_key(a->accesses[r->access]);
}

/* The access is over with this statement; the last one takes the last lock. */
static inline void finish_access(const struct table *counters, const struct hot_row_arguments *a,
                                 struct hot_row_registers *r, struct step *step) {
    int32_t next = a->accesses[++r->access];
    step->last_lock = next == NO_ACCESS;
    store_expect_next(counters, access_key(next)); /* of no row: no hint */
}

/* An access of two statements to a hot row: it is read, perhaps thought about, and written. */
static void next_in_two(const struct hot_row_state *state, const struct hot_row_arguments *a,
                        struct hot_row_registers *r, const struct reply *reply, struct step *step) {
    if (r->stage == STAGE_ACCESS) {
        bool locked = state->options.hot_access == ACCESS_FOR_UPDATE;
        step_select(step, state->counters, key_at_hand(a, r), locked ? LOCKING_UPDATE : LOCKING_NONE);
        r->stage = STAGE_HOT_READ;
        return;
    }
    if (r->stage == STAGE_HOT_READ) {
        r->seen = reply_value(reply);
        r->stage = STAGE_HOT_THOUGHT;
        if (!distribution_is_zero(&state->options.app_time)) {
            step_think(step, &state->options.app_time);
            return;
        }
    }
    step_update(step, state->counters, key_at_hand(a, r), VALUE_SET, r->seen + 1);
    r->stage = STAGE_ACCESS;
    finish_access(state->counters, a, r, step);
}

/* Most accesses take one statement. */
static void hot_row_next(void *memory, const void *values, void *registers, const struct reply *reply,
                         struct step *step) {
    const struct hot_row_state *state = memory;
    const struct hot_row_arguments *a = values;
    struct hot_row_registers *r = registers;
    struct table *counters = state->counters;
    int32_t access = a->accesses[r->access];
    if (__builtin_expect(reply->status == REPLY_ERROR, 0)) {
        step_end(step, true);
    } else if (__builtin_expect(access > state->last_in_two, 1)) {
        step_read_or_increment(step, counters, access_key(access), (access & ACCESS_WRITES) != 0);
        finish_access(counters, a, r, step);
    } else if (access == NO_ACCESS) {
        step_end(step, a->rollback);
    } else {
        next_in_two(state, a, r, reply, step);
    }
}

/* The hot row counts until it is written. */
static uint64_t hot_row_remaining(const void *memory, const void *values, const void *registers) {
    (void)values;
    const struct hot_row_state *state = memory;
    const struct hot_row_registers *r = registers;
    return (uint64_t)state->options.accesses - r->access;
}

static size_t hot_row_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct hot_row_state *state = memory;
    const struct hot_row_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    for (int64_t i = 0; i < state->options.accesses; i++) {
        bool writes = (a->accesses[i] & ACCESS_WRITES) != 0;
        footprint_add_row(&plan, state->counters, access_key(a->accesses[i]), writes ? PLANNED_WRITE : PLANNED_READ);
    }
    return plan.count;
}

static void hot_row_committed(void *memory, const void *values, const void *registers) {
    (void)registers;
    struct hot_row_state *state = memory;
    state->increments += ((const struct hot_row_arguments *)values)->writes;
}

static void hot_row_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct hot_row_state *state = memory;
    bool in_one_statement = state->options.hot_rows == 0 || state->options.hot_access == ACCESS_INCREMENT;
    audit_increments(audit, state->counters, state->increments, in_one_statement ? LEVEL_RC : LEVEL_SI);
}

const struct workload_ops workload_hot_row = {
    .name = "hot_row",
    .summary = "transactions of several accesses, one of them to a row that all want",
    .options = &option_table,
    .state_size = sizeof(struct hot_row_state),
    .arguments_size = sizeof(struct hot_row_arguments),
    .registers_size = sizeof(struct hot_row_registers),
    .check = hot_row_check,
    .load = hot_row_load,
    .draw = hot_row_draw,
    .next = hot_row_next,
    .remaining = hot_row_remaining,
    .plan = hot_row_plan,
    .tells_last_lock = true,
    .committed = hot_row_committed,
    .audit = hot_row_audit,
};
