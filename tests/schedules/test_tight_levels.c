/* test_tight_levels.c - every level below serializable is tight: a schedule for each anomaly that an algorithm of that
 * level permits, by name, and
 * what stronger ones do with it. */
#include "sim/cc/cc.h"
#include "tests/support/harness.h"
#include "tests/support/trial.h"

#define DIRTY_READ   "init x=0\nw1(x,5) r2(x) a1 c2"
#define LOST_UPDATE  "init x=10\nr1(x) r2(x) w2(x,$x+1) c2 w1(x,$x+1) c1"
#define READ_SKEW    "init x=5 y=5\nr1(x) w2(x,0) w2(y,10) c2 r1(y) c1"
#define WRITE_SKEW   "init x=1 y=1\nr1(x,y) r2(x,y) w1(x,0) w2(y,0) c1 c2"
#define PHANTOM_SCAN "pred P: v>0\ninit x=1\nq1(P) i2(z,5) c2 q1(P) c1"
#define READER       "init x=0 y=0\nr2(x) r2(y) r1(y) w1(y,20) c1 r3(x) r3(y) c3 w2(x,-11) c2"
#define DIRTY_WRITE  "init x=0 y=0\nw1(x,1) w2(x,2) w2(y,2) c2 w1(y,1) c1"

static void dirty_reads_under_read_uncommitted_only(void **state) {
    (void)state;
    static const struct trial trials[] = {{"lock-ru", DIRTY_READ, "2 reads x=5; T2 commits; found G1a; found P1"},
                                          {"lock-rc", DIRTY_READ, "2 waits for T1; 2 reads x=0; no G1a"},
                                          {"mvcc-rc", DIRTY_READ, "2 reads x=0; T2 commits; no G1a"},
                                          {"lock-ru", DIRTY_WRITE, "2 waits for T1; no G0"}};
    TRIAL_TRY(trials);
}

static void lost_updates_under_read_committed(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"lock-ru", LOST_UPDATE, "T1 commits; T2 commits; final x=11; found P4; found G-single"},
        {"lock-rc", LOST_UPDATE, "T1 commits; T2 commits; final x=11; found P4; found G-single"},
        {"mvcc-rc", LOST_UPDATE, "T1 commits; T2 commits; final x=11; found P4; found G-single"},
        {"version-column", LOST_UPDATE, "5 is aborted: validation; final x=11; no P4"},
        {"lock-rr", LOST_UPDATE, "final x=11; no P4; no G-single"},
        {"si", LOST_UPDATE, "5 is aborted: write_conflict; final x=11; no P4"},
        {"si-fcw", LOST_UPDATE, "6 is aborted: write_conflict; final x=11; no P4"}};
    TRIAL_TRY(trials);
}

static void read_skew_under_read_committed(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"lock-ru", READ_SKEW, "1 reads x=5; 5 reads y=10; found A5A; found G-single"},
        {"lock-rc", READ_SKEW, "1 reads x=5; 5 reads y=10; found A5A; found G-single"},
        {"mvcc-rc", READ_SKEW, "1 reads x=5; 5 reads y=10; found A5A; found G-single"},
        {"version-column", READ_SKEW, "1 reads x=5; 5 reads y=10; found A5A; found G-single"},
        {"lock-rr", READ_SKEW, "2 waits for T1; 5 reads y=5; no A5A; no G-single"},
        {"si", READ_SKEW, "5 reads y=5; T1 commits; T2 commits; no A5A; no G-single"}};
    TRIAL_TRY(trials);
}

static void write_skew_under_snapshots(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"lock-rc", WRITE_SKEW, "T1 commits; T2 commits; final x=0 y=0; found A5B; found G2-item"},
        {"version-column", WRITE_SKEW, "T1 commits; T2 commits; final x=0 y=0; found A5B; found G2-item"},
        {"si", WRITE_SKEW, "T1 commits; T2 commits; final x=0 y=0; found A5B; found G2-item; no G-single"},
        {"si-fcw", WRITE_SKEW, "T1 commits; T2 commits; final x=0 y=0; found A5B; found G2-item; no G-single"},
        {"lock-rr", WRITE_SKEW, "4 is aborted: deadlock; T1 commits; final x=0 y=1; no A5B; no G2-item"},
        {"ssi", WRITE_SKEW, "6 is aborted: ssi_pivot; T1 commits; final x=0 y=1; no A5B"}};
    TRIAL_TRY(trials);
}

static void phantoms_under_repeatable_read(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"lock-rr", PHANTOM_SCAN, "1 reads x=1; 4 reads x=1 z=5; found P3; found G2; no G2-item"},
        {"lock-rc", PHANTOM_SCAN, "4 reads x=1 z=5; found P3; found G2"},
        {"2pl", PHANTOM_SCAN, "2 waits for T1; 4 reads x=1; no P3; no G2"},
        {"si", PHANTOM_SCAN, "4 reads x=1; T1 commits; T2 commits; no G2"}};
    TRIAL_TRY(trials);
}

/* Three transactions, each pair of which could be serialized; the one that only reads makes the circle. */
static void a_reader_unmasks_snapshots(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"si", READER, "T1 commits; T2 commits; T3 commits; 6 reads x=0; 7 reads y=20; found G2-item; no G-single"},
        {"si-fcw", READER, "T1 commits; T2 commits; T3 commits; 7 reads y=20; found G2-item; no G-single"},
        {"ssi", READER, "9 is aborted: ssi_pivot; T1 commits; T3 commits"},
        {"2pl", READER, "no G2-item"}};
    TRIAL_TRY(trials);
}

/* And every level that an algorithm gives is among those that were shown: a new one needs its schedule here. */
static void no_weak_algorithm_is_left_out(void **state) {
    (void)state;
    static const char *const shown[] = {"lock-ru", "lock-rc", "mvcc-rc", "version-column", "lock-rr", "si", "si-fcw"};
    for (size_t i = 0; i < cc_registry_count; i++) {
        bool found = cc_registry[i]->level == LEVEL_SER;
        for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++) {
            found = found || cc_find(shown[k]) == cc_registry[i];
        }
        if (!found) {
            fail_msg("%s: which anomaly does it permit?", cc_registry[i]->name);
        }
    }
}

TEST_GROUP(tight_levels, cmocka_unit_test(dirty_reads_under_read_uncommitted_only),
           cmocka_unit_test(lost_updates_under_read_committed), cmocka_unit_test(read_skew_under_read_committed),
           cmocka_unit_test(write_skew_under_snapshots), cmocka_unit_test(phantoms_under_repeatable_read),
           cmocka_unit_test(a_reader_unmasks_snapshots), cmocka_unit_test(no_weak_algorithm_is_left_out))
