/* test_mgl.c - what locks cover, across granules: schedules with what exactly must happen (notation: support/script.h),
 * escalation counted lock by lock, and runs that must be those of 2pl. */
#include <string.h>

#include "sim/base/memory.h"
#include "sim/base/option.h"
#include "sim/kit/granule.h"
#include "tests/support/runs.h"
#include "tests/support/script.h"

#define EXPECT(settings, schedule, expected) script_expect("mgl", (settings), (schedule), (expected))

/* The same with pages of two rows: 1 | 2 3 | 4 5 | 6 7. */
static void expect_on_pages(int line, const char *settings, const char *schedule, const char *expected) {
    struct script script;
    script_open(&script, "mgl", settings, schedule);
    script.spec.system.rows_per_page = 2;
    const char *said = script_run(&script);
    if (strcmp(said, expected) != 0) {
        fail_msg("line %d: %s\n  is:        %s\n  should be: %s", line, schedule, said, expected);
    }
    script_close(&script);
}
#define EXPECT_ON_PAGES(settings, schedule, expected) expect_on_pages(__LINE__, (settings), (schedule), (expected))

/* ---- What a lock of each granularity keeps out ---- */

static void rows_pages_tables_and_all(void **state) {
    (void)state;
    EXPECT(NULL, "w1(2,5) r2(3) w2(4,5) r3(2) c1 c2 c3", "w1(2,5)=0 r2(3)=0 w2(4,5)=0 r3(2)?1 c1 r3(2)!=5 c2 c3");
    EXPECT_ON_PAGES("granularity=page", "w1(2,5) r2(4) r3(3) w4(1,5) c1 c2 c3 c4",
                    "w1(2,5)=0 r2(4)=0 r3(3)?1 w4(1,5)=0 c1 r3(3)!=0 c2 c3 c4");
    EXPECT("granularity=table", "w1(2,5) r2(6) c1 c2", "w1(2,5)=0 r2(6)?1 c1 r2(6)!=0 c2");
    EXPECT("granularity=table", "r1(2) r2(6) w3(1,5) c1 c2 c3", "r1(2)=0 r2(6)=0 w3(1,5)?1,2 c1 c2 w3(1,5)!=0 c3");
    EXPECT("granularity=database", "r1(2) w2(6,5) c1 c2", "r1(2)=0 w2(6,5)?1 c1 w2(6,5)!=0 c2");
}

/* Who says that it will access three rows locks the table, the others lock rows: they meet at the table. */
static void coarse_and_fine_meet_where_both_are_announced(void **state) {
    (void)state;
    static const char coarse[] = "granularity=auto escalation=3";
    EXPECT(coarse, "r1(1) r1(2) w2(6,5) c1 c2", "r1(1)=0 r1(2)=0 w2(6,5)?1 c1 w2(6,5)!=0 c2");
    EXPECT(coarse, "r1(1) r2(6) r1(2) c1 c2", "r1(1)=0 r2(6)=0 r1(2)=0 c1 c2");
    EXPECT(coarse, "w2(6,5) r1(1) r1(2) c2 c1", "w2(6,5)=0 r1(1)?2 c2 r1(1)!=0 r1(2)=0 c1");
    /* an update lock of a row is announced as what it will become */
    EXPECT(coarse, "u2(6) r1(1) r1(2) c2 c1", "u2(6)=0 r1(1)?2 c2 r1(1)!=0 r1(2)=0 c1");
    /* new requests do not overtake a waiting coarse one, conversions do */
    EXPECT(coarse, "r2(5) w1(1,5) r3(6) r1(2) c2 c1 c3",
           "r2(5)=0 w1(1,5)?2 r3(6)?1 c2 w1(1,5)!=0 r1(2)=0 c1 r3(6)!=0 c3");
    EXPECT(coarse, "r2(5) r1(1) w3(4,1) r1(2) c2 c1 c3", "r2(5)=0 r1(1)=0 w3(4,1)?1 r1(2)=0 c2 c1 w3(4,1)!=0 c3");
    EXPECT(coarse, "r2(5) w1(1,5) w2(5,1) c2 r1(2) c1", "r2(5)=0 w1(1,5)?2 w2(5,1)=0 c2 w1(1,5)!=0 r1(2)=0 c1");
}

/* U on a coarse granule lets readers in and no other writer. */
static void update_locks_are_had_at_every_level(void **state) {
    (void)state;
    EXPECT("granularity=table", "u1(1) r2(6) u3(5) c1 c2 c3", "u1(1)=0 r2(6)=0 u3(5)?1 c1 u3(5)!=0 c2 c3");
    EXPECT("granularity=table", "u1(1) r2(6) w1(1,5) c2 c1", "u1(1)=0 r2(6)=0 w1(1,5)?2 c2 w1(1,5)!=0 c1");
    EXPECT("granularity=table", "r1(1) r2(2) w1(1,5) w2(2,5) c1",
           "r1(1)=0 r2(2)=0 w1(1,5)?2 k2:deadlock w1(1,5)!=0 c1");
}

static void patience(void **state) {
    (void)state;
    EXPECT_ON_PAGES("granularity=page", "w1(1,5) u2(1..6):skip:1 c1 c2", "w1(1,5)=0 u2(1..6):skip:1=2:0 c1 c2");
    EXPECT_ON_PAGES("granularity=page", "w1(2,5) u2(1..6):skip c1 c2", "w1(2,5)=0 u2(1..6):skip=1:0,4:0,5:0,6:0 c1 c2");
    EXPECT("granularity=table", "w1(1,5) u2(6):skip u3(6):nowait c1 c2 c3",
           "w1(1,5)=0 u2(6):skip=- u3(6):nowait#nowait c1 c2 c3");
    /* a scan waits until it may be in the table */
    EXPECT("granularity=table", "w1(1,5) u2(1..2):skip c1 c2",
           "w1(1,5)=0 u2(1..2):skip?1 c1 u2(1..2):skip!=1:5,2:0 c2");
    EXPECT("granularity=table", "w1(1,5) u2(1..2):nowait w3(3,1) c1 c3 c2",
           "w1(1,5)=0 u2(1..2):nowait#nowait w3(3,1)?1 c1 w3(3,1)!=0 c3 c2");
}

static void ranges(void **state) {
    (void)state;
    EXPECT(NULL, "r1(5..9) i2(8,1) c1 c2", "r1(5..9)=5:0,6:0 i2(8,1)?1 c1 i2(8,1)!=0 c2");
    EXPECT(NULL, "r1(2..3) i2(8,1) c1 c2", "r1(2..3)=2:0,3:0 i2(8,1)=0 c1 c2");
    EXPECT("granularity=table", "r1(2..3) i2(8,1) c1 c2", "r1(2..3)=2:0,3:0 i2(8,1)?1 c1 i2(8,1)!=0 c2");
    /* a page's lock is on all its keys, 6 and 7; the gap behind it is locked with the end */
    EXPECT_ON_PAGES("granularity=page", "r1(6) i2(7,1) c1 c2", "r1(6)=0 i2(7,1)?1 c1 i2(7,1)!=0 c2");
    EXPECT_ON_PAGES("granularity=page", "r1(6) i2(8,1) c1 c2", "r1(6)=0 i2(8,1)=0 c1 c2");
    EXPECT_ON_PAGES("granularity=page", "r1(6..9) i2(8,1) c1 c2", "r1(6..9)=6:0 i2(8,1)?1 c1 i2(8,1)!=0 c2");
    EXPECT_ON_PAGES("granularity=page", "d2(2) d2(3) c2 r1(1..4) i3(3,1) c1 c3",
                    "d2(2)=0 d2(3)=0 c2 r1(1..4)=1:0,4:0 i3(3,1)?1 c1 i3(3,1)!=0 c3");
    /* no page that was passed over covers anything: 5 is in the gap before 6 */
    EXPECT_ON_PAGES("granularity=page", "d1(5) c1 w4(4,5) u2(3..5):skip c4 i3(5,1) c3 c2",
                    "d1(5)=0 c1 w4(4,5)=0 u2(3..5):skip=3:0 c4 i3(5,1)?2 c2 i3(5,1)!=0 c3");
    EXPECT("phantoms=none", "r1(5..9) i2(8,1) c1 c2", "r1(5..9)=5:0,6:0 i2(8,1)=0 c1 c2");
}

/* T2 has SIX on the table and waits for T1's row; T1 waits for T2's table. */
static void deadlocks_across_levels_are_found(void **state) {
    (void)state;
    EXPECT("escalation=2", "r1(6) r2(1) r2(2) w2(1,5) w1(6,1) w2(6,2) c1 c2",
           "r1(6)=0 r2(1)=0 r2(2)=0 w2(1,5)=0 w1(6,1)?2 k2:deadlock w1(6,1)!=0 c1");
    EXPECT("escalation=2 victim=oldest", "r1(6) r2(1) r2(2) w2(1,5) w1(6,1) w2(6,2) c1 c2",
           "r1(6)=0 r2(1)=0 r2(2)=0 w2(1,5)=0 w1(6,1)?2 w2(6,2)?1 k1:deadlock w2(6,2)!=0 c2");
}

/* ---- Rollbacks (law 7) ---- */

static void rollbacks_leave_what_protects_reads(void **state) {
    (void)state;
    static const char *const all[] = {"granularity=row", "granularity=page", "granularity=table",
                                      "granularity=database"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        /* nothing was read: nothing is left, at no level */
        EXPECT(all[i], "p1(1) w1(1,5) f1(1) w2(1,7) c2 c1", "w1(1,5)=0 w2(1,7)=0 c2 c1");
        /* what was read stays readable to others, and no more */
        EXPECT(all[i], "p1(1) w1(1,+=5) f1(1) r2(1) w3(1,7) c2 c1 c3",
               "w1(1,+=5)=0 r2(1)=0 w3(1,7)?1,2 c2 c1 w3(1,7)!=0 c3");
        EXPECT(all[i], "p1(1) u1(1) f1(1) u2(1) w3(1,7) c2 c1 c3", "u1(1)=0 u2(1)=0 w3(1,7)?1,2 c2 c1 w3(1,7)!=0 c3");
        /* what was written before the savepoint stays locked */
        EXPECT(all[i], "w1(1,5) p1(1) w1(1,6) f1(1) r2(1) c1 c2", "w1(1,5)=0 w1(1,6)=5 r2(1)?1 c1 r2(1)!=5 c2");
        /* the range of a write is a read, whatever it found */
        EXPECT(all[i], "p1(1) d1(8..9) f1(1) r2(1) c2 i3(8,1) c1 c3",
               "d1(8..9)=- r2(1)=0 c2 i3(8,1)?1 c1 i3(8,1)!=0 c3");
        /* a failed statement leaves nothing, but for the key it met */
        EXPECT(all[i], "i1(1,5) r2(1) w3(1,7) c2 c1 c3", "i1(1,5)#duplicate r2(1)=0 w3(1,7)?1,2 c2 c1 w3(1,7)!=0 c3");
    }
}

static void rollbacks_give_the_announcements_back(void **state) {
    (void)state;
    /* T1's IX on the table is gone with its X on the row, so T2 may have S on the table; its IS stays with its S */
    static const char coarse[] = "granularity=auto escalation=4";
    EXPECT(coarse, "p1(1) w1(6,5) f1(1) r2(1) r2(2) r2(3) c2 c1", "w1(6,5)=0 r2(1)=0 r2(2)=0 r2(3)=0 c2 c1");
    EXPECT(coarse, "w1(6,5) r2(1) r2(2) r2(3) c1 c2", "w1(6,5)=0 r2(1)?1 c1 r2(1)!=0 r2(2)=0 r2(3)=0 c2");
    EXPECT(coarse, "p1(1) w1(6,+=5) f1(1) w2(1,1) r2(2) r2(3) c1 c2",
           "w1(6,+=5)=0 w2(1,1)?1 c1 w2(1,1)!=0 r2(2)=0 r2(3)=0 c2");
}

/* T1 read nothing of page 2 but that there is no 5: that stays true. */
static void rollbacks_leave_the_ranges_of_pages(void **state) {
    (void)state;
    EXPECT_ON_PAGES("granularity=page", "d2(5) c2 p1(1) w1(4,5) d1(4..5) f1(1) i3(5,1) c1 c3",
                    "d2(5)=0 c2 w1(4,5)=0 d1(4..5)=4:5 i3(5,1)?1 c1 i3(5,1)!=0 c3");
}

/* The lock that replaced others is, for a rollback, as old as they were. */
static void rollbacks_see_through_escalation(void **state) {
    (void)state;
    EXPECT("escalation=2", "w1(1,5) p1(1) w1(2,6) f1(1) r2(6) c1 c2", "w1(1,5)=0 w1(2,6)=0 r2(6)?1 c1 r2(6)!=0 c2");
    EXPECT("escalation=2", "r1(1) p1(1) w1(2,6) f1(1) r2(6) w3(6,1) c2 c1 c3",
           "r1(1)=0 w1(2,6)=0 r2(6)=0 w3(6,1)?1 c2 c1 w3(6,1)!=0 c3");
    EXPECT("escalation=2", "p1(1) w1(1,5) w1(2,6) f1(1) w2(1,7) c2 c1", "w1(1,5)=0 w1(2,6)=0 w2(1,7)=0 c2 c1");
    EXPECT("escalation=2", "r1(5..9) p1(1) w1(1,6) f1(1) i2(8,1) c1 c2",
           "r1(5..9)=5:0,6:0 w1(1,6)=0 i2(8,1)?1 c1 i2(8,1)!=0 c2");
}

static void rollbacks_leave_fewer_to_count(void **state) {
    (void)state;
    EXPECT("escalation=3", "p1(1) w1(1,1) w1(2,1) f1(1) w1(3,1) w1(4,1) r2(6) c1 c2",
           "w1(1,1)=0 w1(2,1)=0 w1(3,1)=0 w1(4,1)=0 r2(6)=0 c1 c2");
    EXPECT("escalation=3", "w1(1,1) w1(2,1) w1(3,1) r2(6) c1 c2",
           "w1(1,1)=0 w1(2,1)=0 w1(3,1)=0 r2(6)?1 c1 r2(6)!=0 c2");
}

/* U locks become U on the table, beside which there is room for S. */
static void update_locks_escalate_to_update(void **state) {
    (void)state;
    EXPECT("escalation=2", "u1(1) u1(2) r2(3) r2(4) u3(5) w1(6,1) c2 c1 c3",
           "u1(1)=0 u1(2)=0 r2(3)=0 r2(4)=0 u3(5)?1,2 w1(6,1)?2 c2 w1(6,1)!=0 c1 u3(5)!=0 c3");
}

/* ---- Escalation, lock by lock ---- */

enum { ROWS = 20000 };

struct desk {
    struct store store;
    struct table *table;
    struct harness harness;
    struct cc cc;
    struct txn txns[2];
    void *options;
};

static void no_wake(void *world, struct txn *txn) {
    (void)world;
    (void)txn;
}

static void open_desk(struct desk *desk, const struct cc_ops *ops) {
    *desk = (struct desk){.harness = {.wake = no_wake}};
    store_init(&desk->store, ops->record_size, &desk->harness);
    desk->table = store_add_table(&desk->store, "rows", 0, ROWS, 0, false);
    desk->options = mem_new(1, ops->options->size);
    options_default(ops->options, desk->options);
    desk->cc = (struct cc){.ops = ops,
                           .store = &desk->store,
                           .harness = &desk->harness,
                           .options = desk->options,
                           .state = mem_new(1, ops->state_size),
                           .rows_per_page = 64};
    ops->start(&desk->cc);
    for (int i = 0; i < 2; i++) {
        desk->txns[i] = (struct txn){.id = (uint64_t)i + 1, .statement = 1, .tail = mem_new(1, ops->txn_size)};
        assert_int_equal(ops->begin(&desk->cc, &desk->txns[i]), CC_OK);
    }
}

static void close_desk(struct desk *desk) {
    for (int i = 0; i < 2; i++) {
        desk->cc.ops->release(&desk->cc, &desk->txns[i]);
        txn_clear(&desk->txns[i], &desk->store);
        txn_free(&desk->txns[i]);
        mem_free(desk->txns[i].tail);
    }
    desk->cc.ops->stop(&desk->cc);
    mem_free(desk->cc.state);
    mem_free(desk->options);
    store_free(&desk->store);
}

/* Locks a row; how many requests that took. */
static uint32_t lock_row_of(struct desk *desk, int txn, int64_t key, enum intent intent) {
    struct version *seen;
    struct row *row = txn_row(&desk->txns[txn], &desk->store, desk->table, key);
    uint32_t before = desk->txns[txn].work.locks;
    assert_int_equal(desk->cc.ops->read(&desk->cc, &desk->txns[txn], row, intent, BLOCK, &seen), CC_OK);
    return desk->txns[txn].work.locks - before;
}

static void at_5000_locks_the_table(void **state) {
    (void)state;
    const struct cc_ops *mgl = cc_find("mgl");
    for (int writes = 0; writes < 2; writes++) {
        struct desk desk;
        open_desk(&desk, mgl);
        enum intent intent = writes ? SEE_WRITE : SEE;
        uint32_t requests = 0;
        for (int64_t key = 0; key < 4999; key++) {
            requests += lock_row_of(&desk, 0, key, intent);
        }
        assert_int_equal(desk.cc.escalations, 0);
        assert_int_equal(requests, 4999 + 79 + 2); /* rows, pages, the table and the database */
        assert_int_equal(desk.txns[0].lock_count, requests);
        assert_int_equal(lock_row_of(&desk, 0, 4999, intent), 2); /* the row, then the table */
        assert_int_equal(desk.cc.escalations, 1);
        assert_int_equal(desk.txns[0].lock_count, 2);
        assert_int_equal(desk.txns[0].held->mode, writes ? MODE_X : MODE_S);
        for (int64_t key = 0; key < ROWS; key++) {
            assert_int_equal(lock_row_of(&desk, 0, key, intent), 0);
        }
        close_desk(&desk);
    }
}

/* Another writer of the table stands in the way: asked at 5,000, 6,250, 7,500, and so on; never waited for. */
static void asks_again_every_1250_locks(void **state) {
    (void)state;
    struct desk desk;
    open_desk(&desk, cc_find("mgl"));
    lock_row_of(&desk, 1, ROWS - 1, SEE_WRITE);
    lock_row_of(&desk, 0, 0, SEE);
    for (int64_t held = 2; held <= 10000; held++) {
        int64_t key = held - 1;
        bool asks = held >= 5000 && (held - 5000) % 1250 == 0;
        if (held == 8000) {
            desk.cc.ops->release(&desk.cc, &desk.txns[1]);
        }
        uint32_t expected = held > 8750 ? 0 : 1u + (key % 64 == 0) + asks;
        assert_int_equal(lock_row_of(&desk, 0, key, SEE), expected);
        assert_int_equal(desk.cc.escalations, held >= 8750);
    }
    assert_int_equal(desk.txns[0].lock_count, 2);
    close_desk(&desk);
}

/* ---- Against 2pl ---- */

/* As long as locks cost nothing and nobody locks anything coarse, nobody can tell the difference. */
static void without_coarse_locks_it_is_2pl(void **state) {
    (void)state;
    static const char *const workloads[][2] = {
        {"hot_row",
         "workload.hot_access=read_write workload.write_fraction=50% workload.rows=60 system.rows_per_page=3"},
        {"bank", "workload.rows=20 workload.audit_fraction=20% workload.access=read_write algorithm.victim=least_work"},
        {"ycsb", "workload.rows=50 workload.scan_fraction=30% workload.scan_length=9 workload.insert_fraction=10%"}};
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        struct run_result results[2];
        for (int mgl = 0; mgl < 2; mgl++) {
            results[mgl] =
                run_of(mgl ? "mgl" : "2pl", workloads[i][0],
                       "system.terminals=8 system.cpus=4 cost.cpu_detect=10us duration=20s %s", workloads[i][1]);
        }
        assert_true(results[0].commits > 100 && results[0].waits > 100);
        assert_int_equal(results[0].commits, results[1].commits);
        assert_int_equal(results[0].digest, results[1].digest);
        run_result_free(&results[0]);
        run_result_free(&results[1]);
    }
}

/* One terminal, 3,000 rows of 1 ms each, read by a scan; the requests cost 0.1 ms. */
static void every_level_is_charged(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        double requests;
    } trials[] = {{"algorithm.escalation=0",
                   2 + 47 + 3000 + 3001}, /* keys 1 .. 3000: 47 pages; each row and its gap, the end's */
                  {"algorithm.escalation=1000", 2 + 16 + 1000 + 1000 + 1},
                  {"algorithm.granularity=page", 2 + 47}, /* no gap: there is no key between the rows */
                  {"algorithm.granularity=table", 2},
                  {"algorithm.granularity=database", 1},
                  {"algorithm.granularity=auto algorithm.escalation=3000", 2},
                  {"algorithm.granularity=auto algorithm.escalation=3001", 2 + 47 + 3000 + 3001}};
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct run_result result = run_of("mgl", "bank",
                                          "system.terminals=1 workload.rows=3000 workload.audit_fraction=100%% "
                                          "cost.cpu_access=1ms cost.cpu_lock=100us duration=40s warmup=1s %s",
                                          trials[i].settings);
        double seconds = 3 + trials[i].requests * 1e-4;
        runs_assert_within(result.response_sum_ns / (double)result.commits * 1e-9, seconds, 1e-9, trials[i].settings);
        run_result_free(&result);
    }
}

TEST_GROUP(mgl, cmocka_unit_test(rows_pages_tables_and_all),
           cmocka_unit_test(coarse_and_fine_meet_where_both_are_announced),
           cmocka_unit_test(update_locks_are_had_at_every_level), cmocka_unit_test(patience), cmocka_unit_test(ranges),
           cmocka_unit_test(deadlocks_across_levels_are_found), cmocka_unit_test(rollbacks_leave_what_protects_reads),
           cmocka_unit_test(rollbacks_give_the_announcements_back),
           cmocka_unit_test(rollbacks_leave_the_ranges_of_pages), cmocka_unit_test(rollbacks_see_through_escalation),
           cmocka_unit_test(rollbacks_leave_fewer_to_count), cmocka_unit_test(update_locks_escalate_to_update),
           cmocka_unit_test(at_5000_locks_the_table), cmocka_unit_test(asks_again_every_1250_locks),
           cmocka_unit_test(without_coarse_locks_it_is_2pl), cmocka_unit_test(every_level_is_charged))
