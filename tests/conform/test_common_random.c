/* test_common_random.c - what must not depend on the algorithm, on the number of CPUs, or on the names of the rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "tests/support/harness.h"
#include "tests/support/wild.h"

/* ---- hot_row, with its draws written down ---- */

enum { TERMINALS = 8, NUMBERS = 400 };

static const struct workload_ops *watched;
static uint64_t drawn[TERMINALS + 1][NUMBERS + 1]; /* hash of the arguments, by terminal and number */
static uint64_t draws;
static int64_t key_shift;

static void watch_draw(void *state, const struct draw *draw, void *arguments) {
    watched->draw(state, draw, arguments);
    uint64_t hash = 1;
    const unsigned char *bytes = arguments;
    for (size_t i = 0; i < watched->arguments_size; i++) {
        hash = digest_add(hash, bytes[i]);
    }
    CHECK(draw->terminal <= TERMINALS);
    if (draw->number <= NUMBERS) {
        assert_int_equal(drawn[draw->terminal][draw->number], 0); /* each is drawn once */
        drawn[draw->terminal][draw->number] = hash;
    }
    draws++;
}

/* Other keys for the same rows: the table of the workload begins `key_shift` higher. */
static void shift_load(void *state, const void *options, struct store *store, struct stream *stream) {
    watched->load(state, options, store, stream);
    store->tables[0].first_key += key_shift;
}

static void shift_next(void *state, const void *arguments, void *registers, const struct reply *reply,
                       struct step *step) {
    watched->next(state, arguments, registers, reply, step);
    step->first += key_shift;
    step->last += key_shift;
}

static size_t shift_plan(const void *state, const void *arguments, struct planned *out, size_t most) {
    size_t count = watched->plan(state, arguments, out, most);
    for (size_t i = 0; count != PLAN_UNKNOWN && i < count && i < most; i++) {
        out[i].key += key_shift;
        out[i].last += key_shift;
    }
    return count;
}

struct trial {
    const char *algorithm;
    const char *hot_row; /* options of the workload */
    int64_t cpus, shift;
    bool fixed; /* constant prices */
};

static void set_hot_row(void *values, const char *settings) {
    const struct cc_ops hot_row = {.name = "hot_row", .options = workload_find("hot_row")->options};
    wild_set_options(&hot_row, values, 1024, settings);
}

static void run_trial(const struct trial *trial, struct run_result *result) {
    static uint64_t options[128], algorithm_options[64];
    watched = workload_find("hot_row");
    struct workload_ops ops = *watched;
    ops.draw = watch_draw;
    ops.load = shift_load;
    ops.next = shift_next;
    ops.plan = shift_plan;
    key_shift = trial->shift;
    draws = 0;
    memset(drawn, 0, sizeof drawn);
    struct run_spec spec = {.algorithm = cc_find(trial->algorithm), .workload = &ops, .workload_options = options};
    set_hot_row(options, trial->hot_row);
    wild_set_options(spec.algorithm, algorithm_options, sizeof algorithm_options, NULL);
    spec.algorithm_options = algorithm_options;
    options_default(&system_options, &spec.system);
    options_default(&cost_options, &spec.cost);
    options_default(&restart_options, &spec.restart);
    spec.restart.delay.choice = RESTART_ADAPTIVE;
    spec.system.terminals = TERMINALS;
    spec.system.cpus = trial->cpus;
    if (trial->fixed) {
        spec.cost.cpu_access = distribution_constant(1000000);
    }
    spec.seed = spec.replication = 1;
    spec.duration_ns = INT64_C(2000000000);
    run_simulate(&spec, result);
    assert_int_equal(result->status, RUN_OK);
}

static uint64_t hash_of_row(uint64_t terminal, uint64_t numbers) {
    uint64_t hash = 1;
    for (uint64_t number = 1; number <= numbers; number++) {
        assert_true(drawn[terminal][number] != 0);
        hash = digest_add(hash, drawn[terminal][number]);
    }
    return hash;
}

/* ---- The tests ---- */

static void every_algorithm_faces_the_same_transactions(void **state) {
    (void)state;
    enum { COMPARED = 12 };
    static const char *const settings =
        "rows=200 accesses=4 write_fraction=0.5 theta=0.8 hot_position=random rollback=0.1";
    uint64_t expected[TERMINALS + 1] = {0};
    for (size_t i = 0; i < cc_registry_count; i++) {
        struct run_result result;
        run_trial(&(struct trial){cc_registry[i]->name, settings, 2 + (int64_t)i % 3, 0, false}, &result);
        assert_true(draws > TERMINALS * COMPARED);
        for (uint64_t terminal = 1; terminal <= TERMINALS; terminal++) {
            uint64_t hash = hash_of_row(terminal, COMPARED);
            assert_true(i == 0 || hash == expected[terminal]);
            expected[terminal] = hash;
            for (uint64_t other = 1; other < terminal; other++) { /* and the terminals differ from each other */
                assert_true(expected[other] != hash);
            }
        }
        run_result_free(&result);
    }
}

static uint64_t commits_with(const char *algorithm, const char *settings, int64_t cpus, bool fixed) {
    struct run_result result;
    run_trial(&(struct trial){algorithm, settings, cpus, 0, fixed}, &result);
    uint64_t commits = result.commits;
    run_result_free(&result);
    return commits;
}

/* Without conflicts there is nothing that waiting for a CPU could be good for. */
static void more_cpus_never_mean_fewer_commits(void **state) {
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        uint64_t before = 0, one = 0;
        for (int64_t cpus = 1; cpus <= 9; cpus++) {
            uint64_t commits =
                commits_with("2pl", "rows=100000 hot_rows=0 accesses=4", cpus == 9 ? OPTION_UNLIMITED : cpus, fixed);
            assert_true(commits + (fixed ? 0 : 2) >=
                        before); /* a commit or two at the very end may come a moment later */
            one = cpus == 1 ? commits : one;
            before = commits;
        }
        assert_true(before > 6 * one);
    }
}

/* Keys are names. (occ and si, too: nothing may depend on what a row is called.) */
static void the_names_of_the_rows_do_not_matter(void **state) {
    (void)state;
    static const int64_t shifts[] = {1000, -500, INT64_C(1) << 40};
    for (size_t i = 0; i < cc_registry_count; i++) {
        struct trial trial = {cc_registry[i]->name, "rows=50 accesses=5 write_fraction=0.5 hot_access=read_write", 3, 0,
                              false};
        struct run_result expected;
        run_trial(&trial, &expected);
        assert_true(expected.commits > 20);
        for (size_t j = 0; j < sizeof shifts / sizeof shifts[0]; j++) {
            struct run_result result;
            trial.shift = shifts[j];
            run_trial(&trial, &result);
            assert_int_equal(result.commits, expected.commits);
            assert_int_equal(result.waits, expected.waits);
            assert_int_equal(result.events, expected.events);
            assert_int_equal(result.rollbacks, expected.rollbacks);
            assert_memory_equal(result.aborts_by_reason, expected.aborts_by_reason, sizeof result.aborts_by_reason);
            assert_true(result.response_sum_ns == expected.response_sum_ns);
            assert_true(result.digest != expected.digest); /* the rows that were seen are other ones */
            run_result_free(&result);
        }
        run_result_free(&expected);
    }
}

TEST_GROUP(common_random, cmocka_unit_test(every_algorithm_faces_the_same_transactions),
           cmocka_unit_test(more_cpus_never_mean_fewer_commits), cmocka_unit_test(the_names_of_the_rows_do_not_matter))
