/* test_partial_rollback.c - rollback = partial: a deadlock victim keeps what it did before it took the lock that closed the
 * cycle, and nothing of what it did since. The oracle judges what programs are answered, before and after. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/exec/world.h"
#include "sim/kit/lock.h"
#include "tests/support/harness.h"
#include "tests/support/runs.h"
#include "tests/support/wild.h"

enum { WORLDS = 60, WORLDS_LONG = 2000 };

/* ---- Random worlds ---- */

static const struct cc_ops *inner;
static uint64_t backs;

/* Whoever waited for the victim because of what it held in the cycle waits for it no more; what is older it keeps. */
static void back(struct cc *cc, struct txn *txn, uint32_t mark) {
    uint32_t kept = 0;
    for (const struct lock *lock = txn->held; lock != NULL; lock = lock->held_next) {
        bool older = false;
        for (int mode = MODE_NONE + 1; mode < LOCK_DIRECT; mode++) {
            older |= lock->since[mode] != 0 && lock->since[mode] < mark;
        }
        kept += older;
    }
    CHECK(txn->doomed && mark > 1);
    inner->back(cc, txn, mark);
    CHECK(txn->queued == NULL && txn->predicate_queued == NULL);
    uint32_t locks = 0;
    for (const struct lock *lock = txn->held; lock != NULL; lock = lock->held_next) {
        for (int mode = MODE_NONE + 1; mode < LOCK_DIRECT; mode++) {
            CHECK(lock->since[mode] < mark);
        }
        locks++;
    }
    CHECK(locks == kept && txn->backs < 10);
    backs++;
}

static uint64_t backs_in_worlds(const char *algorithm, const char *settings) {
    struct cc_ops spied = *cc_find(algorithm);
    inner = cc_find(algorithm);
    spied.back = back;
    backs = 0;
    for (uint64_t seed = 1; seed <= (test_long() ? WORLDS_LONG : WORLDS); seed++) {
        struct wild_world world;
        struct run_result result, again;
        wild_world_draw(&world, &spied, seed, settings);
        uint64_t before = backs;
        wild_world_run(&world, &result);
        assert_true(result.status == RUN_OK && result.quiescent);
        assert_int_equal(result.partial_rollbacks, backs - before);
        assert_true(result.statements_kept >= result.partial_rollbacks);
        assert_int_equal(world.oracle.mismatches, 0);
        oracle_free(&world.oracle);
        wild_world_run(&world, &again);
        assert_true(again.digest == result.digest);
        wild_world_free(&world);
        run_result_free(&result);
        run_result_free(&again);
    }
    return backs;
}

static void goes_back_to_the_lock(void **state) {
    (void)state;
    assert_true(backs_in_worlds("2pl", "rollback=partial phantoms=next_key") > 2 * WORLDS);
    assert_true(backs_in_worlds("2pl", "rollback=partial phantoms=predicate") > WORLDS);
    assert_true(backs_in_worlds("lock-rr", "rollback=partial") > WORLDS);
    assert_true(backs_in_worlds("lock-rc", "rollback=partial") > WORLDS / 4);
    assert_int_equal(backs_in_worlds("2pl", "rollback=whole"), 0);
}

/* ---- The work that is saved ---- */

/* The same deadlocks, eight statements a transaction: less is done twice, so more gets done. */
static void saves_work(void **state) {
    (void)state;
    struct run_result whole, partial;
    static const char *const settings =
        "algorithm.rollback=%s system.terminals=20 system.cpus=4 cost.cpu_access=1ms workload.rows=150 workload.hot_rows=0 "
        "workload.accesses=12 workload.write_fraction=1 restart.delay=0 certify=yes duration=20s";
    whole = run_of("2pl", "hot_row", settings, "whole");
    partial = run_of("2pl", "hot_row", settings, "partial");
    double whole_useful = whole.cpu_useful_ns / whole.cpu_busy_ns, useful = partial.cpu_useful_ns / partial.cpu_busy_ns;
    print_message(
        "useful share of the CPU: %.3f whole, %.3f partial; %d and %d aborts, %d sent back, keeping %.2f statements\n",
        whole_useful, useful, (int)runs_aborts(&whole), (int)runs_aborts(&partial), (int)partial.partial_rollbacks,
        (double)partial.statements_kept / (double)partial.partial_rollbacks);
    assert_true(!whole.promise_broken && !partial.promise_broken);
    assert_true(whole.audit == RUN_AUDIT_OK && partial.audit == RUN_AUDIT_OK);
    assert_true(whole.partial_rollbacks == 0 && whole.statements_kept == 0 && partial.partial_rollbacks > 100);
    assert_true(runs_aborts(&partial) < runs_aborts(&whole) / 2);
    assert_true(runs_tps(&partial) > runs_tps(&whole));
    run_result_free(&whole);
    run_result_free(&partial);
}

TEST_GROUP(partial_rollback, cmocka_unit_test(goes_back_to_the_lock), cmocka_unit_test(saves_work))
