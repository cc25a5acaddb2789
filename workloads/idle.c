/* idle.c - transactions that touch no data: the null workload, for testing everything that is not concurrency control.
 *
 * A transaction thinks `statements` times, then commits. With `statements = 0` it begins and commits, nothing else:
 * give the terminals a think time then, or no simulated time ever passes. There is nothing to audit. */
#include "workloads/program.h"

struct idle_options {
    int64_t statements;
    struct distribution think;
    double rollback;
};

struct idle_state {
    struct idle_options options;
};

struct idle_arguments {
    bool rollback;
};

struct idle_registers {
    int64_t done;
};

#define FIELD(field) offsetof(struct idle_options, field)
static const struct option options[] = {
    {"statements", OPTION_COUNT, FIELD(statements), "0", 0, 1e9, NULL, 0,
     "steps of a transaction, each of which only thinks"},
    {"think", OPTION_DISTRIBUTION, FIELD(think), "0", 0, 0, NULL, 0, "duration of each of them"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct idle_options);

static void idle_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)store;
    (void)stream;
    struct idle_state *state = memory;
    state->options = *(const struct idle_options *)values;
}

static void idle_draw(void *memory, const struct draw *draw, void *values) {
    const struct idle_state *state = memory;
    struct idle_arguments *a = values;
    a->rollback = stream_chance(draw->stream, state->options.rollback);
}

static void idle_next(void *memory, const void *values, void *registers, const struct reply *reply, struct step *step) {
    (void)reply;
    const struct idle_state *state = memory;
    const struct idle_arguments *a = values;
    struct idle_registers *r = registers;
    if (r->done < state->options.statements) {
        r->done++;
        step_think(step, &state->options.think);
    } else {
        step_end(step, a->rollback);
    }
}

static uint64_t idle_remaining(const void *memory, const void *values, const void *registers) {
    (void)memory;
    (void)values;
    (void)registers;
    return 0;
}

static size_t idle_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    (void)memory;
    (void)values;
    (void)out;
    (void)most;
    return 0;
}

static void idle_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)memory;
    (void)store;
    audit->verdict = AUDIT_NONE;
}

const struct workload_ops workload_idle = {
    .name = "idle",
    .summary = "transactions that touch no data: the null workload, for testing",
    .options = &option_table,
    .state_size = sizeof(struct idle_state),
    .arguments_size = sizeof(struct idle_arguments),
    .registers_size = sizeof(struct idle_registers),
    .load = idle_load,
    .draw = idle_draw,
    .next = idle_next,
    .remaining = idle_remaining,
    .plan = idle_plan,
    .audit = idle_audit,
};
