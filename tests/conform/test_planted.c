/* test_planted.c - correct algorithms with one fault each, planted on purpose: every one must be caught, by the
 * certifier,
 * by the oracle of what programs were answered, or by a CHECK. A judge that finds nothing here would find nothing
 * anywhere.
 *
 * A fault is a wrapper around one function of the algorithm, or around one callback of its harness. Each plays
 * random worlds
 * in a process of its own, since a CHECK ends it, until it is caught. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cc/cc.h"
#include "sim/kit/lock.h"
#include "sim/kit/locking.h"
#include "sim/kit/snapshot.h"
#include "tests/support/harness.h"
#include "tests/support/wild.h"

enum { WORLDS = 400, SECONDS_MOST = 20 };

static const struct cc_ops *sound; /* the algorithm that is being broken */
static struct harness tapped;      /* its harness, with one callback replaced */
static const struct harness *real_harness;

/* ---- The faults ---- */

/* Validation says no, and the transaction commits all the same. */
static enum cc_status skip_validation(struct cc *cc, struct txn *txn) {
    enum cc_status status = sound->prepare(cc, txn);
    return status == CC_ABORT ? CC_OK : status;
}

/* A plain read is granted beside another's X lock: nobody asks the lock table. */
static enum cc_status grant_s_over_x(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                     enum patience patience, struct version **seen) {
    if (intent != SEE) {
        return sound->read(cc, txn, row, intent, patience, seen);
    }
    *seen = store_newest(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

/* Every fifth wake is lost. */
static void drop_a_waiter(void *world, struct txn *txn) {
    static unsigned wakes;
    if (++wakes % 5 != 0) {
        real_harness->wake(world, txn);
    }
}

/* A read goes one version past the one of its snapshot, if that is kept. */
static enum cc_status read_a_dead_version(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                          enum patience patience, struct version **seen) {
    enum cc_status status = sound->read(cc, txn, row, intent, patience, seen);
    if (status == CC_OK && (*seen)->older != NULL && (*seen)->writer != txn->id) {
        *seen = (*seen)->older;
        row->claimed = false; /* what is written stands where it should */
    }
    return status;
}

/* Locks go with the statement. */
static void release_early(struct cc *cc, struct txn *txn, bool failed) {
    sound->statement_end(cc, txn, failed);
    while (txn->held != NULL) {
        lock_weaken(cc, txn->held, MODE_NONE);
    }
}

/* The write goes ahead under the S or U lock of the read: X is not waited for. */
static enum cc_status forget_an_upgrade(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                        enum patience patience, struct version **base) {
    if (row->lock == NULL || change == PUT_INSERT) {
        return sound->claim(cc, txn, row, change, patience, base);
    }
    *base = store_newest(cc->store, row->table, row->key, row->record);
    return CC_OK;
}

static enum cc_status read_under_s(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                   enum patience patience, struct version **seen) {
    return sound->read(cc, txn, row, intent == SEE_WRITE ? SEE : intent, patience, seen);
}

/* Who was doomed goes on as if nothing had been said, and keeps no lock that would stop the one who doomed it. */
static bool commit_after_doom(void *world, struct txn *txn, int reason) {
    (void)world;
    (void)reason;
    if (txn->state == TXN_SEALED || txn->state == TXN_IDLE) {
        return false;
    }
    return true;
}

/* First updater wins, but the second one is not told. */
static enum cc_status commit_after_refusal(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                           enum patience patience, struct version **base) {
    enum cc_status status = sound->claim(cc, txn, row, change, patience, base);
    if (status == CC_ABORT && txn->reason == REASON_WRITE_CONFLICT && row->lock != NULL) {
        *base = store_newest(cc->store, row->table, row->key, row->record);
        return CC_OK;
    }
    return status;
}

/* Is `wanted` waited for, directly or not, by `from`? */
static bool waits_for(struct cc *cc, struct txn *from, const struct txn *wanted, int depth) {
    struct txn_list list = {0};
    bool found = false;
    if (from->state == TXN_WAITING || from->queued != NULL) {
        cc->blockers(cc, from, &list, SIZE_MAX);
    }
    for (size_t i = 0; i < list.count && !found && depth > 0; i++) {
        found = list.items[i] == wanted || waits_for(cc, list.items[i], wanted, depth - 1);
    }
    mem_free(list.items);
    return found;
}

/* Of a deadlock, somebody who has no part in it is sacrificed. */
static enum cc_status wrong_victim(struct cc *cc, struct txn *txn) {
    if (waits_for(cc, txn, txn, 6)) {
        for (struct txn *other = cc->waiting_first; other != NULL; other = other->wait_next) {
            if (other != txn && !waits_for(cc, other, other, 6) && txn_doom(cc, other, REASON_DEADLOCK)) {
                break;
            }
        }
    }
    return CC_WAIT;
}

static void start_with_wrong_victim(struct cc *cc) {
    locking_start(cc, (struct locking){.phantoms = PHANTOMS_NEXT_KEY, .waits = true, .conflict = wrong_victim});
}

/* A rolled-back savepoint takes along what protected its reads. */
static void forget_reads_on_rollback(struct cc *cc, struct txn *txn, uint32_t mark) {
    lock_rollback(cc, txn, mark, false);
    lock_forget_statement(cc, txn, txn->statement);
}

static enum cc_status leave_gaps_open(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                                      enum patience patience) {
    (void)cc;
    (void)txn;
    (void)range;
    (void)intent;
    (void)patience;
    return CC_OK;
}

/* What is rolled back becomes visible. */
static void publish_on_abort(struct cc *cc, struct txn *txn) {
    txn_publish(txn, cc->store, true);
    txn->writes.count = 0;
    sound->abort(cc, txn);
}

/* A snapshot for each statement instead of one for the transaction. */
static enum cc_status forget_the_snapshot(struct cc *cc, struct txn *txn, enum intent intent) {
    snapshot_close(cc, txn);
    return sound->statement(cc, txn, intent);
}

/* One snapshot for the transaction instead of one for each statement. */
static enum cc_status keep_the_snapshot(struct cc *cc, struct txn *txn, enum intent intent) {
    (void)intent;
    snapshot_open(cc, txn);
    return CC_OK;
}

static void forget_failures_only(struct cc *cc, struct txn *txn, bool failed) {
    if (failed) {
        lock_forget_statement(cc, txn, txn->statement);
    }
}

static void tap(struct cc *cc) {
    real_harness = cc->harness;
    tapped = *real_harness;
    if (sound->start != NULL) {
        sound->start(cc);
    }
    cc->harness = &tapped;
}

static void tap_wake(struct cc *cc) {
    tap(cc);
    tapped.wake = drop_a_waiter;
}

static void tap_doom(struct cc *cc) {
    tap(cc);
    tapped.doom = commit_after_doom;
}

/* ---- The trap ---- */

enum catcher { NOBODY, CERTIFIER, ORACLE, CHECKED };
static const char *const catchers[] = {"nobody", "the certifier", "the oracle", "a CHECK"};

/* In a process of its own; the exit code says who caught it. */
_Noreturn static void play_worlds(const struct cc_ops *broken) {
    alarm(SECONDS_MOST);
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct wild_world world;
        struct run_result result;
        wild_world_draw(&world, broken, seed, NULL);
        world.spec.certify = true;
        wild_world_run(&world, &result);
        if (result.promise_broken) {
            print_message("    world %" PRIu64 ": %s\n", seed, text_string(&result.witness));
            fflush(NULL);
            _exit(CERTIFIER);
        }
        if (world.oracle.mismatches > 0) {
            _exit(ORACLE);
        }
        wild_world_free(&world);
        run_result_free(&result);
    }
    _exit(NOBODY);
}

static enum catcher who_catches(const struct cc_ops *broken, const char *fault) {
    fflush(NULL);
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        signal(SIGABRT, SIG_DFL);
        play_worlds(broken);
    }
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    enum catcher catcher = WIFEXITED(status)                                    ? (enum catcher)WEXITSTATUS(status)
                           : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? CHECKED
                                                                                : NOBODY;
    print_message("%s, %s: caught by %s\n", sound->name, fault, catchers[catcher]);
    return catcher;
}

#define CATCHES(catcher) (1u << (catcher))

/* Runs a copy of the algorithm, broken by `break_it`; `expected`: who may catch it. */
static void plant(const char *algorithm, const char *fault, void (*break_it)(struct cc_ops *ops), unsigned expected) {
    sound = cc_find(algorithm);
    assert_non_null(sound);
    struct cc_ops broken = *sound;
    break_it(&broken);
    enum catcher catcher = who_catches(&broken, fault);
    if ((expected & 1u << catcher) == 0) {
        fail_msg("%s, %s: caught by %s", algorithm, fault, catchers[catcher]);
    }
}

static void with_no_validation(struct cc_ops *ops) { ops->prepare = skip_validation; }
static void with_s_over_x(struct cc_ops *ops) { ops->read = grant_s_over_x; }
static void with_lost_wakes(struct cc_ops *ops) { ops->start = tap_wake; }
static void with_dead_reads(struct cc_ops *ops) { ops->read = read_a_dead_version; }
static void with_early_release(struct cc_ops *ops) {
    ops->statement_end = release_early;
    ops->silent_levels = 0;
}
static void with_no_upgrade(struct cc_ops *ops) {
    ops->read = read_under_s;
    ops->claim = forget_an_upgrade;
}
static void with_deaf_victims(struct cc_ops *ops) { ops->start = tap_doom; }
static void with_deaf_updaters(struct cc_ops *ops) { ops->claim = commit_after_refusal; }
static void with_wrong_victims(struct cc_ops *ops) { ops->start = start_with_wrong_victim; }
static void with_forgetful_savepoints(struct cc_ops *ops) { ops->rollback = forget_reads_on_rollback; }
static void with_open_gaps(struct cc_ops *ops) { ops->range = leave_gaps_open; }
static void with_visible_aborts(struct cc_ops *ops) { ops->abort = publish_on_abort; }
static void with_lasting_snapshots(struct cc_ops *ops) {
    ops->statement = keep_the_snapshot;
    ops->statement_end = forget_failures_only;
    ops->silent_levels = 0;
}
static void with_moving_snapshots(struct cc_ops *ops) { ops->statement = forget_the_snapshot; }

static void the_certifier_catches_what_breaks_isolation(void **state) {
    (void)state;
    plant("occ", "validation is skipped", with_no_validation, CATCHES(CERTIFIER));
    plant("2pl", "S is granted over X", with_s_over_x, CATCHES(CERTIFIER));
    plant("si", "dead versions are read", with_dead_reads, CATCHES(CERTIFIER));
    plant("2pl", "locks are released early", with_early_release, CATCHES(CERTIFIER) | CATCHES(CHECKED));
    plant("2pl", "upgrades are forgotten", with_no_upgrade, CATCHES(CERTIFIER) | CATCHES(CHECKED));
    plant("si", "the second updater commits", with_deaf_updaters, CATCHES(CERTIFIER));
    plant("2pl", "savepoints forget their reads", with_forgetful_savepoints, CATCHES(CERTIFIER));
    plant("2pl", "gaps are left open", with_open_gaps, CATCHES(CERTIFIER));
    plant("to", "gaps are left open", with_open_gaps, CATCHES(CERTIFIER) | CATCHES(ORACLE));
    plant("mvto", "gaps are left open", with_open_gaps, CATCHES(CERTIFIER) | CATCHES(ORACLE));
    plant("mvto", "dead versions are read", with_dead_reads, CATCHES(CERTIFIER) | CATCHES(ORACLE));
    plant("to-thomas", "gaps are left open", with_open_gaps, CATCHES(CERTIFIER) | CATCHES(ORACLE));
    plant("occ", "what is rolled back is visible", with_visible_aborts, CATCHES(CERTIFIER));
    plant("si", "the snapshot moves", with_moving_snapshots, CATCHES(CERTIFIER));
    plant("si-fcw", "validation is skipped", with_no_validation, CATCHES(CERTIFIER));
    plant("ssi", "the doomed commit", with_no_validation, CATCHES(CERTIFIER));
    plant("ssi", "scans leave no marks", with_open_gaps, CATCHES(CERTIFIER));
}

static void the_oracle_catches_what_the_level_permits(void **state) {
    (void)state;
    plant("mvcc-rc", "the snapshot stays", with_lasting_snapshots, CATCHES(ORACLE));
    plant("mvcc-rc", "locks are released early", with_early_release,
          CATCHES(ORACLE) | CATCHES(CERTIFIER) | CATCHES(CHECKED));
}

static void checks_catch_what_breaks_progress(void **state) {
    (void)state;
    plant("2pl", "a wake is lost", with_lost_wakes, CATCHES(CHECKED));
    plant("to", "a wake is lost", with_lost_wakes, CATCHES(CHECKED));
    plant("wound-wait", "the wounded go on", with_deaf_victims, CATCHES(CERTIFIER) | CATCHES(CHECKED));
    plant("2pl", "the victim is not of the cycle", with_wrong_victims, CATCHES(CHECKED));
}

/* The trap itself: what is not broken is not caught. */
static void leave_alone(struct cc_ops *ops) { (void)ops; }

static void nothing_is_caught_where_nothing_is_broken(void **state) {
    (void)state;
    static const char *const names[] = {"2pl", "wound-wait", "si", "mvcc-rc", "si-fcw", "ssi"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        plant(names[i], "nothing", leave_alone, CATCHES(NOBODY));
    }
}

TEST_GROUP(planted, cmocka_unit_test(the_certifier_catches_what_breaks_isolation),
           cmocka_unit_test(the_oracle_catches_what_the_level_permits),
           cmocka_unit_test(checks_catch_what_breaks_progress),
           cmocka_unit_test(nothing_is_caught_where_nothing_is_broken))
