/* doctors.c - doctors on call: each may leave as long as somebody else of the shift stays. The textbook's write skew.
 *
 * A row a doctor, those of a shift side by side: 1 on call, 0 not. All are on call at the start. Who wants to leave reads
 * the roster of the shift and leaves if on it with somebody else; who returns is put on it if not there. What cannot be
 * done is a rollback by the program's own wish: a leave that is refused, a return of one who is there; so every commit
 * changes the roster.
 *
 *   stage     the reply that came    the next step
 *   BEGIN     none                   leave: read the shift; return: put the doctor on call if not there
 *   DECIDE    the shift's doctors    roll back if not on call, or alone; else application time if there is any, else write
 *   WRITE     of application time    take the doctor off call
 *   END       of the write           commit (rollback, where that was drawn, or if there was nothing to change)
 *
 * Invariant: at every commit each shift has somebody on call. Each program keeps it for itself, so it holds in a serial
 * order (SER); two at once that see each other on call and write different rows break it, unless they lock what
 * their decision rests on (access = for_update: RC). It is looked at when a transaction commits, as what it wrote becomes
 * visible; two who leave the same shift read each other's row, so in any serial order the first to leave commits first. */
#include "workloads/program.h"

#include "sim/base/memory.h"

enum { DOCTORS_MAX = 1000, SHIFTS_MAX = 1000000 };

enum access { ACCESS_READ, ACCESS_FOR_UPDATE };

struct doctors_options {
    int64_t shifts, doctors;
    double leave_fraction;
    int access;
    struct distribution app_time;
    double theta, rollback;
};

struct doctors_state {
    struct doctors_options options;
    struct table *doctors;
    struct zipf zipf;   /* ranks of shifts */
    bool *off_call;     /* each doctor, as committed */
    int64_t *absent;    /* doctors of each shift that are not on call */
    uint64_t abandoned; /* times a shift was left with nobody */
    int64_t first;      /* the shift where that happened first */
};

struct doctors_arguments {
    bool leaves, rollback;
    uint32_t shift, doctor; /* from 0, the doctor within the shift */
};

enum stage { STAGE_BEGIN, STAGE_DECIDE, STAGE_WRITE, STAGE_END };

struct doctors_registers {
    int64_t stage;
};

static const char *const access_names[] = {"read", "for_update", NULL};

#define FIELD(field) offsetof(struct doctors_options, field)
static const struct option options[] = {
    {"shifts", OPTION_COUNT, FIELD(shifts), "10", 1, SHIFTS_MAX, NULL, 0, "shifts, each with doctors of its own"},
    {"doctors", OPTION_COUNT, FIELD(doctors), "2", 1, DOCTORS_MAX, NULL, 0, "doctors of a shift"},
    {"leave_fraction", OPTION_SHARE, FIELD(leave_fraction), "50%", 0, 0, NULL, 0,
     "share of the transactions in which a doctor wants to leave; in the others one returns"},
    {"access", OPTION_CHOICE, FIELD(access), "read", 0, 0, access_names, 0,
     "how who wants to leave reads the shift: without locking, or locked for update"},
    {"app_time", OPTION_DISTRIBUTION, FIELD(app_time), "0", 0, 0, NULL, 0,
     "the doctor's time between reading the roster and leaving: no CPU of the server, but locks are held"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0, "Zipf skew of the shifts; 0: uniform"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back at their end by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct doctors_options);

static void doctors_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct doctors_state *state = memory;
    state->options = *(const struct doctors_options *)values;
    int64_t shifts = state->options.shifts, rows = shifts * state->options.doctors;
    state->doctors = store_add_table(store, "doctors", PROGRAM_FIRST_KEY, rows, 1, false);
    zipf_init(&state->zipf, (uint64_t)shifts, state->options.theta);
    state->off_call = mem_new((size_t)rows, sizeof *state->off_call);
    state->absent = mem_new((size_t)shifts, sizeof *state->absent);
}

static void doctors_unload(void *memory) {
    struct doctors_state *state = memory;
    mem_free(state->off_call);
    mem_free(state->absent);
}

static void doctors_draw(void *memory, const struct draw *draw, void *values) {
    const struct doctors_state *state = memory;
    const struct doctors_options *o = &state->options;
    struct doctors_arguments *a = values;
    a->shift = (uint32_t)zipf_draw(&state->zipf, draw->stream);
    a->doctor = (uint32_t)stream_below(draw->stream, (uint64_t)o->doctors);
    a->rollback = stream_chance(draw->stream, o->rollback);
    a->leaves = stream_chance(draw->stream, o->leave_fraction);
}

static int64_t first_of_shift(const struct doctors_state *state, const struct doctors_arguments *a) {
    return PROGRAM_FIRST_KEY + a->shift * state->options.doctors;
}

static void put_on_call(const struct doctors_state *state, const struct doctors_arguments *a, bool on_call,
                        struct doctors_registers *r, struct step *step) {
    step_update(step, state->doctors, first_of_shift(state, a) + a->doctor, VALUE_SET, on_call);
    if (on_call) {
        step->condition = (struct condition){.operator= CONDITION_EQ, .constant = 0};
    }
    step->last_lock = true;
    r->stage = STAGE_END;
}

static void begin(const struct doctors_state *state, const struct doctors_arguments *a, struct doctors_registers *r,
                  struct step *step) {
    if (!a->leaves) {
        put_on_call(state, a, true, r, step);
        return;
    }
    bool locked = state->options.access == ACCESS_FOR_UPDATE;
    step_select(step, state->doctors, first_of_shift(state, a), locked ? LOCKING_UPDATE : LOCKING_NONE);
    step->last += state->options.doctors - 1;
    step->scan = true;
    r->stage = STAGE_DECIDE;
}

/* Is the doctor on call, and not alone? */
static bool may_leave(const struct doctors_state *state, const struct doctors_arguments *a, const struct reply *reply) {
    int64_t key = first_of_shift(state, a) + a->doctor;
    bool on_call = false;
    for (int64_t i = 0; i < reply->count; i++) {
        on_call |= reply->rows[i].key == key && reply->rows[i].value == 1;
    }
    return on_call && reply_sum(reply) > 1;
}

static void decide(const struct doctors_state *state, const struct doctors_arguments *a, struct doctors_registers *r,
                   const struct reply *reply, struct step *step) {
    if (!may_leave(state, a, reply)) {
        step_end(step, true);
    } else if (!distribution_is_zero(&state->options.app_time)) {
        r->stage = STAGE_WRITE;
        step_think(step, &state->options.app_time);
    } else {
        put_on_call(state, a, false, r, step);
    }
}

static void doctors_next(void *memory, const void *values, void *registers, const struct reply *reply,
                         struct step *step) {
    const struct doctors_state *state = memory;
    const struct doctors_arguments *a = values;
    struct doctors_registers *r = registers;
    if (r->stage != STAGE_BEGIN && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN: begin(state, a, r, step); break;
    case STAGE_DECIDE: decide(state, a, r, reply, step); break;
    case STAGE_WRITE: put_on_call(state, a, false, r, step); break;
    case STAGE_END: step_end(step, a->rollback || reply->count == 0); break;
    }
}

static uint64_t doctors_remaining(const void *memory, const void *values, const void *registers) {
    const struct doctors_state *state = memory;
    const struct doctors_arguments *a = values;
    switch ((enum stage)((const struct doctors_registers *)registers)->stage) {
    case STAGE_BEGIN: return a->leaves ? (uint64_t)state->options.doctors : 1;
    case STAGE_DECIDE:
    case STAGE_WRITE: return 1;
    case STAGE_END: break;
    }
    return 0;
}

enum type { TYPE_LEAVE, TYPE_RETURN, TYPE_COUNT };
static const char *const type_names[] = {"leave", "return"};

static size_t doctors_type_count(const void *values) {
    (void)values;
    return TYPE_COUNT;
}

static const char *doctors_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t doctors_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct doctors_arguments *)values)->leaves ? TYPE_LEAVE : TYPE_RETURN;
}

static size_t doctors_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct doctors_state *state = memory;
    const struct doctors_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    int64_t first = first_of_shift(state, a);
    if (a->leaves) {
        bool locked = state->options.access == ACCESS_FOR_UPDATE;
        footprint_add(&plan, (struct planned){.table = state->doctors,
                                              .key = first,
                                              .last = first + state->options.doctors - 1,
                                              .scan = true,
                                              .use = locked ? PLANNED_LOCK : PLANNED_READ});
    }
    footprint_add_row(&plan, state->doctors, first + a->doctor, PLANNED_WRITE);
    return plan.count;
}

static void doctors_committed(void *memory, const void *values, const void *registers) {
    (void)registers;
    struct doctors_state *state = memory;
    const struct doctors_arguments *a = values;
    int64_t doctors = state->options.doctors;
    bool *off_call = &state->off_call[a->shift * doctors + a->doctor];
    state->absent[a->shift] += a->leaves - *off_call;
    *off_call = a->leaves;
    if (a->leaves && state->absent[a->shift] == doctors) {
        state->first = state->abandoned == 0 ? a->shift : state->first;
        state->abandoned++;
    }
}

static void doctors_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct doctors_state *state = memory;
    audit->level = state->options.access == ACCESS_FOR_UPDATE ? LEVEL_RC : LEVEL_SER;
    audit->verdict = state->abandoned == 0 ? AUDIT_OK : AUDIT_BROKEN;
    if (state->abandoned > 0) {
        text_add(&audit->message, "%" PRIu64 " times a shift was left with nobody on call, shift %" PRId64 " first",
                 state->abandoned, state->first + 1);
    }
}

const struct workload_ops workload_doctors = {
    .name = "doctors",
    .summary = "doctors who leave if somebody else of their shift stays on call, and return",
    .options = &option_table,
    .state_size = sizeof(struct doctors_state),
    .arguments_size = sizeof(struct doctors_arguments),
    .registers_size = sizeof(struct doctors_registers),
    .load = doctors_load,
    .draw = doctors_draw,
    .next = doctors_next,
    .remaining = doctors_remaining,
    .type_count = doctors_type_count,
    .type_name = doctors_type_name,
    .type_of = doctors_type_of,
    .plan = doctors_plan,
    .tells_last_lock = true,
    .committed = doctors_committed,
    .audit = doctors_audit,
    .unload = doctors_unload,
};
