/* seats.c - the last seats of a train: customers read how many are left, decide, and book one.
 *
 * A row a train: how many seats are left. A customer who sees none left is refused at once; the others take their time
 * (app_time) and then write. Nothing is ever given back, so a run is a sale: once all is sold everybody is refused, and a
 * refusal is a rollback by the program's own wish (metrics `rollbacks` and `rollback_mean_ms` to `_p99_`).
 *
 *   stage     the reply that came    the next step
 *   BEGIN     none                   read the train (for_update: locked)
 *   DECIDE    what is left           roll back if nothing is; else application time if there is any, else write
 *   WRITE     of application time    write: what was read less one; conditional: subtract one if one is left; version: what
 *                                    was read less one if it is still the version that was read
 *   END       of the write           commit (rollback, where that was drawn). If it found no row: conditional: roll back;
 *                                    version: read again
 *
 * Where the version decides, a row is packed: the seats left in the lower VERSION_BITS bits, above them the version, one
 * higher with each booking.
 * Types: customers are `in_time` if no more came to their train before them than it had seats, else `late`: first come,
 * first served would give a seat to all of the former and refuse all of the latter.
 * Invariant: no train is oversold, and the seats left and the bookings add up to those it had. Writing what was read
 * before needs that nobody wrote in between (RR); the other ways need only that nothing uncommitted is overwritten or
 * locked twice (RC). */
#include "workloads/program.h"

#include "sim/base/memory.h"

enum { VERSION_BITS = 20, SEATS_MAX = (1 << VERSION_BITS) - 1, TRAINS_MAX = 1000000 };

enum booking { BOOKING_READ_WRITE, BOOKING_CONDITIONAL, BOOKING_FOR_UPDATE, BOOKING_VERSION };

struct seats_options {
    int64_t trains, seats;
    int booking;
    struct distribution app_time;
    double theta, rollback;
};

struct seats_state {
    struct seats_options options;
    struct table *trains;
    struct zipf zipf; /* ranks of trains */
    int64_t *asked;   /* customers who came to each train so far */
    int64_t *sold;    /* bookings of each that were committed */
    int64_t bookings;
};

struct seats_arguments {
    uint32_t train;
    bool late, rollback;
};

enum stage { STAGE_BEGIN, STAGE_DECIDE, STAGE_WRITE, STAGE_END };

struct seats_registers {
    int64_t seen; /* the train's row */
    int64_t stage;
};

static const char *const booking_names[] = {"read_write", "conditional", "for_update", "version", NULL};

#define FIELD(field) offsetof(struct seats_options, field)
static const struct option options[] = {
    {"trains", OPTION_COUNT, FIELD(trains), "1", 1, TRAINS_MAX, NULL, 0, "trains, each customer wants one of them"},
    {"seats", OPTION_COUNT, FIELD(seats), "100", 1, SEATS_MAX, NULL, 0, "seats of a train, all free at the start"},
    {"booking", OPTION_CHOICE, FIELD(booking), "read_write", 0, 0, booking_names, 0,
     "how a seat is booked: write what was read, less one; subtract one if one is left, in one statement; read locked, "
     "then write; or write if the row still has the version that was read, else read it again"},
    {"app_time", OPTION_DISTRIBUTION, FIELD(app_time), "0", 0, 0, NULL, 0,
     "the customer's time between seeing a free seat and booking it: no CPU of the server, but locks are held"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0, "Zipf skew of the trains; 0: uniform"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the customers who turn back at the end of their booking by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct seats_options);

static void seats_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct seats_state *state = memory;
    state->options = *(const struct seats_options *)values;
    int64_t trains = state->options.trains;
    state->trains = store_add_table(store, "trains", PROGRAM_FIRST_KEY, trains, state->options.seats, false);
    zipf_init(&state->zipf, (uint64_t)trains, state->options.theta);
    state->asked = mem_new((size_t)trains, sizeof *state->asked);
    state->sold = mem_new((size_t)trains, sizeof *state->sold);
}

static void seats_unload(void *memory) {
    struct seats_state *state = memory;
    mem_free(state->asked);
    mem_free(state->sold);
}

static void seats_draw(void *memory, const struct draw *draw, void *values) {
    struct seats_state *state = memory;
    const struct seats_options *o = &state->options;
    struct seats_arguments *a = values;
    a->train = (uint32_t)zipf_draw(&state->zipf, draw->stream);
    a->rollback = stream_chance(draw->stream, o->rollback);
    a->late = state->asked[a->train]++ >= o->seats;
}

static int64_t seats_left(const struct seats_state *state, int64_t row) {
    return state->options.booking == BOOKING_VERSION ? row & SEATS_MAX : row;
}

static void read_train(const struct seats_state *state, const struct seats_arguments *a, struct seats_registers *r,
                       struct step *step) {
    bool locked = state->options.booking == BOOKING_FOR_UPDATE;
    step_select(step, state->trains, a->train + PROGRAM_FIRST_KEY, locked ? LOCKING_UPDATE : LOCKING_NONE);
    r->stage = STAGE_DECIDE;
}

/* Where a version has changed the row is read again, so that its write may not be the last. */
static void write_train(const struct seats_state *state, const struct seats_arguments *a, struct seats_registers *r,
                        struct step *step) {
    int64_t key = a->train + PROGRAM_FIRST_KEY;
    r->stage = STAGE_END;
    switch ((enum booking)state->options.booking) {
    case BOOKING_READ_WRITE:
    case BOOKING_FOR_UPDATE:
        step_update(step, state->trains, key, VALUE_SET, r->seen - 1);
        step->last_lock = true;
        break;
    case BOOKING_CONDITIONAL:
        step_update(step, state->trains, key, VALUE_ADD, -1);
        step->condition = (struct condition){.operator= CONDITION_GE, .constant = 1};
        step->last_lock = true;
        break;
    case BOOKING_VERSION:
        step_update(step, state->trains, key, VALUE_SET, r->seen - 1 + (INT64_C(1) << VERSION_BITS));
        step->condition = (struct condition){.operator= CONDITION_EQ, .constant = r->seen};
        break;
    }
}

static void decide(const struct seats_state *state, const struct seats_arguments *a, struct seats_registers *r,
                   struct step *step) {
    if (seats_left(state, r->seen) < 1) {
        step_end(step, true);
    } else if (!distribution_is_zero(&state->options.app_time)) {
        r->stage = STAGE_WRITE;
        step_think(step, &state->options.app_time);
    } else {
        write_train(state, a, r, step);
    }
}

static void seats_next(void *memory, const void *values, void *registers, const struct reply *reply,
                       struct step *step) {
    const struct seats_state *state = memory;
    const struct seats_arguments *a = values;
    struct seats_registers *r = registers;
    if (r->stage != STAGE_BEGIN && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN: read_train(state, a, r, step); break;
    case STAGE_DECIDE:
        r->seen = reply_value(reply);
        decide(state, a, r, step);
        break;
    case STAGE_WRITE: write_train(state, a, r, step); break;
    case STAGE_END:
        if (reply->count == 0 && state->options.booking == BOOKING_VERSION) {
            read_train(state, a, r, step);
        } else {
            step_end(step, a->rollback || reply->count == 0);
        }
        break;
    }
}

static uint64_t seats_remaining(const void *memory, const void *values, const void *registers) {
    (void)memory;
    (void)values;
    return ((const struct seats_registers *)registers)->stage != STAGE_END;
}

static size_t seats_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct seats_state *state = memory;
    const struct seats_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    footprint_add_row(&plan, state->trains, a->train + PROGRAM_FIRST_KEY, PLANNED_WRITE);
    return plan.count;
}

enum type { TYPE_IN_TIME, TYPE_LATE, TYPE_COUNT };
static const char *const type_names[] = {"in_time", "late"};

static size_t seats_type_count(const void *values) {
    (void)values;
    return TYPE_COUNT;
}

static const char *seats_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t seats_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct seats_arguments *)values)->late ? TYPE_LATE : TYPE_IN_TIME;
}

static void seats_committed(void *memory, const void *values, const void *registers) {
    (void)registers;
    struct seats_state *state = memory;
    const struct seats_arguments *a = values;
    state->sold[a->train]++;
    state->bookings++;
}

static void seats_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct seats_state *state = memory;
    const struct seats_options *o = &state->options;
    bool versions = o->booking == BOOKING_VERSION;
    int64_t each = versions ? (INT64_C(1) << VERSION_BITS) - 1 : -1, oversold = 0, trains = 0;
    for (int64_t i = 0; i < o->trains; i++) {
        oversold += state->sold[i] > o->seats ? state->sold[i] - o->seats : 0;
        trains += state->sold[i] > o->seats;
    }
    int64_t off = (state->trains->committed_sum - o->trains * o->seats) / each; /* bookings that the rows know of */
    audit->verdict = oversold == 0 && off == state->bookings ? AUDIT_OK : AUDIT_BROKEN;
    audit->level = o->booking == BOOKING_READ_WRITE ? LEVEL_RR : LEVEL_RC;
    audit->lost_updates_known = true;
    audit->lost_updates = off < state->bookings ? (uint64_t)(state->bookings - off) : 0;
    if (oversold > 0) {
        text_add(&audit->message, "%" PRId64 " of %" PRId64 " trains sold %" PRId64 " seats more than they have",
                 trains, o->trains, oversold);
    }
    if (off != state->bookings) {
        text_add(&audit->message, "%s%" PRId64 " bookings were committed, but %" PRId64 " seats are taken",
                 oversold > 0 ? "; " : "", state->bookings, off);
    }
}

const struct workload_ops workload_seats = {
    .name = "seats",
    .summary = "the last seats of a train: read what is left, decide, book",
    .options = &option_table,
    .state_size = sizeof(struct seats_state),
    .arguments_size = sizeof(struct seats_arguments),
    .registers_size = sizeof(struct seats_registers),
    .load = seats_load,
    .draw = seats_draw,
    .next = seats_next,
    .remaining = seats_remaining,
    .type_count = seats_type_count,
    .type_name = seats_type_name,
    .type_of = seats_type_of,
    .plan = seats_plan,
    .tells_last_lock = true,
    .committed = seats_committed,
    .audit = seats_audit,
    .unload = seats_unload,
};
