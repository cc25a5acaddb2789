/* wild.c - the workload `wild` with a witness: each statement and its reply go to the oracle.
 *
 * Where transactions are serialized in the order of their validations, the order in which they were sealed, one that is
 * sealed later may commit earlier: commits are held back until those sealed before have committed. Where the order is that
 * of lock points all is judged at the end. */
#include "tests/support/wild.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/cc/tictoc.h"
#include "sim/exec/world.h"
#include "tests/support/watch.h"
#include "workloads/wild.h"

_Static_assert((int)STORM_WILD_KEYS <= (int)ORACLE_KEYS, "the oracle has a cell for every key");
_Static_assert((int)WILD_STEPS_MAX <= (int)ORACLE_STATEMENTS_MAX, "and room for every step");

/* The state, the registers: ours before those of `wild`. */
struct witness_state {
    struct oracle *oracle;
    struct store *store;
    struct table *table;
    alignas(max_align_t) char inner[];
};
struct witness_registers {
    struct oracle_attempt attempt;
    bool begun;
    bool has_lock_point;
    uint64_t sealed; /* how many were sealed up to this one */
    uint64_t time;   /* its commit timestamp, where that is computed */
    alignas(max_align_t) char inner[];
};
struct witness_options {
    struct wild_options inner;
    struct oracle *oracle;
};

static void witness_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    struct witness_state *state = memory;
    const struct witness_options *options = values;
    state->oracle = options->oracle;
    state->store = store;
    workload_wild.load(state->inner, &options->inner, store, stream);
    state->table = &store->tables[0];
    int64_t key;
    struct record *record = store_next(store, state->table, options->oracle->first_key, NULL, &key);
    for (; record != state->table->end; record = store_next(store, state->table, key + 1, NULL, &key)) {
        const struct version *version = store_committed(store, state->table, key, record);
        if (!version->absent) {
            oracle_set(state->oracle, key, version->value);
        }
    }
}

static void witness_draw(void *memory, const struct draw *draw, void *arguments) {
    workload_wild.draw(((struct witness_state *)memory)->inner, draw, arguments);
}

static void witness_next(void *memory, const void *arguments, void *registers, const struct reply *reply,
                         struct step *step) {
    struct witness_state *state = memory;
    struct witness_registers *r = registers;
    if (r->begun) {
        oracle_answer(state->oracle, &r->attempt, reply);
    } else {
        oracle_begin(state->oracle, &r->attempt);
    }
    r->begun = true;
    workload_wild.next(state->inner, arguments, r->inner, reply, step);
    if (step->kind != STEP_COMMIT && step->kind != STEP_ROLLBACK) {
        oracle_ask(state->oracle, &r->attempt, step);
    }
}

static uint64_t witness_remaining(const void *memory, const void *arguments, const void *registers) {
    return workload_wild.remaining(((const struct witness_state *)memory)->inner, arguments,
                                   ((const struct witness_registers *)registers)->inner);
}

static size_t witness_plan(const void *memory, const void *arguments, struct planned *out, size_t most) {
    return workload_wild.plan(((const struct witness_state *)memory)->inner, arguments, out, most);
}

static enum declaration witness_declares(const void *memory, const void *arguments) {
    return workload_wild.declares(((const struct witness_state *)memory)->inner, arguments);
}

static int witness_isolation(const void *memory, const void *arguments) {
    return workload_wild.isolation(((const struct witness_state *)memory)->inner, arguments);
}

/* ---- The order of sealing ---- */

struct held_back {
    struct oracle_attempt attempt;
    uint64_t sealed;
};
static VECTOR(struct held_back) held_back;
static uint64_t seals;
static bool by_seals; /* else commits are judged as they come, */
static bool by_time;  /* or at the end, by commit timestamp */
static uint64_t lock_points;
static const struct cc_ops *watched;

static enum cc_status prepare(struct cc *cc, struct txn *txn) {
    enum cc_status status = watched->prepare(cc, txn);
    if (status == CC_OK) {
        struct witness_registers *r = actor_of(txn)->registers;
        r->sealed = ++seals;
        r->time = by_time ? tictoc_commit_time(txn) : 0;
    }
    return status;
}

static void reach_lock_point(struct txn *txn) {
    struct witness_registers *r = actor_of(txn)->registers;
    if (!r->has_lock_point) {
        r->has_lock_point = true;
        r->attempt.number = ++lock_points;
    }
}

static void statement_end_by_lock_point(struct cc *cc, struct txn *txn, bool failed) {
    if (txn->last_lock && !failed) {
        reach_lock_point(txn);
    }
    watched->statement_end(cc, txn, failed);
}

static enum cc_status prepare_by_lock_point(struct cc *cc, struct txn *txn) {
    reach_lock_point(txn);
    return watched->prepare(cc, txn);
}

static bool judge_next(struct oracle *oracle) {
    for (size_t i = 0; i < held_back.count; i++) {
        if (held_back.items[i].sealed == oracle->commits + 1) {
            oracle_commit(oracle, &held_back.items[i].attempt);
            held_back.items[i] = held_back.items[--held_back.count];
            return true;
        }
    }
    return false;
}

static void witness_committed(void *memory, const void *arguments, const void *registers) {
    (void)arguments;
    const struct witness_state *state = memory;
    const struct witness_registers *r = registers;
    if (by_time) {
        struct oracle_attempt attempt = r->attempt;
        attempt.number = r->time << 32 | r->sealed;
        oracle_commit(state->oracle, &attempt);
        return;
    }
    if (!by_seals) {
        oracle_commit(state->oracle, &r->attempt);
        return;
    }
    struct held_back last = {.attempt = r->attempt, .sealed = r->sealed};
    vector_push(&held_back, last);
    while (judge_next(state->oracle)) {}
}

static void witness_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    const struct witness_state *state = memory;
    CHECK(store == state->store && held_back.count == 0);
    oracle_compare(state->oracle, state->store, state->table);
    audit->verdict = AUDIT_NONE;
}

/* Is its serial order that of begin? Then what a blind write replaced may not be known yet, but with `to`. */
static bool is_by_timestamp(const struct cc_ops *algorithm) {
    static const char *const names[] = {"to", "to-thomas", "mvto"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(algorithm->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Is its serial order that of timestamps which only the validation gives? */
static bool is_by_commit_time(const struct cc_ops *algorithm) { return strcmp(algorithm->name, "tictoc") == 0; }

static bool is_ordered_by_lock_points(const struct cc_ops *algorithm) {
    return strcmp(algorithm->name, "2pl-strict") == 0 || strcmp(algorithm->name, "2pl-basic") == 0;
}

/* Which truth the algorithm owes. */
static enum oracle_kind kind_of(const struct cc_ops *algorithm, const void *options) {
    if (cc_is_unrecoverable(algorithm, options)) {
        return ORACLE_OFF;
    }
    if (algorithm->level == LEVEL_SI || strcmp(algorithm->name, "ssi") == 0 || strcmp(algorithm->name, "ssn") == 0) {
        return ORACLE_SNAPSHOT;
    }
    if (strcmp(algorithm->name, "mvcc-rc") == 0) {
        return ORACLE_STATEMENT;
    }
    if (is_by_timestamp(algorithm) || is_by_commit_time(algorithm) || is_ordered_by_lock_points(algorithm)) {
        return ORACLE_TIMESTAMP;
    }
    return algorithm->level == LEVEL_SER ? ORACLE_COMMIT_ORDER : ORACLE_OFF;
}

/* Is the serial order that of the validations, with the log force behind them not in one critical section? */
static bool is_ordered_by_seals(const struct cc_ops *algorithm) {
    static const char *const names[] = {"occ-forward", "occ-parallel", "silo"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        found |= strcmp(algorithm->name, names[i]) == 0;
    }
    return found;
}

void wild_world_draw(struct wild_world *world, const struct cc_ops *algorithm, uint64_t seed, const char *settings) {
    *world = (struct wild_world){0};
    struct storm_subject subject = {
        .algorithm = algorithm, .workload = &workload_wild, .settings = settings, .seed = seed, .number = 1};
    storm_world_draw(&world->drawn, &subject);
    world->spec = world->drawn.spec;
    ((struct wild_options *)world->drawn.workload_options)->other_level = 0; /* the oracle knows one level at a time */
    bool deferred = !distribution_is_zero(&world->spec.cost.io_write);
    world->kind =
        deferred
            ? ORACLE_OFF
            : kind_of(algorithm, world->drawn.algorithm_options); /* `committed` comes after the commit point then */
    snprintf(world->replay, sizeof world->replay, "CCSIM_WORLD=%" PRIu64 " ccsim_tests -v wild (%s, %s)", seed,
             algorithm->name, settings != NULL ? settings : "random options");
    world->spec.replay = world->replay;
}

void wild_world_mix(struct wild_world *world, enum level level, double share) {
    struct wild_options *options = world->drawn.workload_options;
    options->level = (int)level;
    options->other_level = share;
    world->kind = ORACLE_OFF;
}

void wild_world_run(struct wild_world *world, struct run_result *result) {
    struct witness_options options = {.inner = *(const struct wild_options *)world->drawn.workload_options,
                                      .oracle = &world->oracle};
    struct workload_ops witness = workload_wild;
    witness.state_size += sizeof(struct witness_state);
    witness.registers_size += sizeof(struct witness_registers);
    witness.load = witness_load;
    witness.draw = witness_draw;
    witness.next = witness_next;
    witness.remaining = witness_remaining;
    witness.plan = witness_plan;
    witness.declares = witness_declares;
    witness.isolation = witness_isolation;
    witness.committed = witness_committed;
    witness.audit = witness_audit;
    oracle_init(&world->oracle, world->kind, (int64_t)options.inner.first_key);
    unsigned flags = world->spec.algorithm->flags;
    bool writes_beneath =
        is_by_timestamp(world->spec.algorithm) && (flags & (CC_KEEPS_VERSIONS | CC_SKIPS_OBSOLETE)) != 0;
    world->oracle.sees_blind = (flags & CC_PRIVATE_WRITES) == 0 && !writes_beneath;
    world->oracle.leaves_out = (flags & CC_SKIPS_OBSOLETE) != 0;
    struct run_spec spec = world->spec;
    spec.workload = &witness;
    spec.workload_options = &options;
    spec.algorithm = watch_algorithm(world->spec.algorithm, world->drawn.algorithm_options);
    struct cc_ops ordered = *spec.algorithm;
    watched = spec.algorithm;
    by_seals = is_ordered_by_seals(spec.algorithm);
    by_time = is_by_commit_time(spec.algorithm);
    seals = lock_points = 0;
    if (by_seals || by_time) {
        ordered.prepare = prepare;
        spec.algorithm = &ordered;
    } else if (is_ordered_by_lock_points(watched)) {
        ordered.prepare = prepare_by_lock_point;
        ordered.statement_end = statement_end_by_lock_point;
        spec.algorithm = &ordered;
    }
    run_simulate(&spec, result);
    vector_free(&held_back);
}

void wild_world_free(struct wild_world *world) {
    oracle_free(&world->oracle);
    storm_world_free(&world->drawn);
}

void wild_set_options(const struct cc_ops *algorithm, void *values, size_t size, const char *settings) {
    if (algorithm->options == NULL) {
        return;
    }
    struct text error = {0};
    size_t unknown = 0;
    CHECK(algorithm->options->size <= size);
    memset(values, 0, size);
    options_default(algorithm->options, values);
    CHECK_MSG(storm_set(algorithm->options, settings, values, &unknown, &error), "%s", text_string(&error));
    CHECK_MSG(unknown == 0, "%s has no such option: %s", algorithm->name, settings);
    text_free(&error);
}
