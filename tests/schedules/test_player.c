/* test_player.c - the rules of playing, one by one: what is put off, who resumes when, what is skipped, when time
 * passes, who begins anew, what each form of value writes, what savepoints keep. The facts are those of facts.h. */
#include "tests/support/harness.h"
#include "tests/support/trial.h"

/* All locks at the first step, for what the schedule has yet to come: where 2pl has a deadlock there is none. */
static void looks_ahead(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"2pl-conservative", "r1(x) w2(y,1) w1(y,2) w2(x,2) c1 c2",
         "2 waits for T1; 2 resumes after 5; 4 runs after 5; ends T1 T2; final x=2 y=1"},
        /* what was rolled back, what comes after the end, and other transactions' rows do not count */
        {"2pl-conservative", "w1(x,1) p1(s) w1(y,1) f1(s) r2(y) w3(z,1) c1 c2 c3",
         "5 waits for T1; 5 resumes after 7; ends T1 T2 T3; final x=1 y=0 z=1"},
        {"2pl-conservative", "w1(x,1) w2(y,@x+1) c1 c2", "2 waits for T1; final x=1 y=2"},
        /* ranges, with what is not there yet */
        {"2pl-conservative", "pred P: id<=9\ninit x=1\nr1(x) i2(y,5) q1(P) c1 c2",
         "2 waits for T1; 3 reads x=1; ends T1 T2"},
        {"2pl-conservative phantoms=none", "pred P: id<=9\ninit x=1\nr1(x) i2(y,5) c2 q1(P) c1",
         "4 reads x=1 y=5; ends T2 T1"},
        {"2pl-conservative", "pred P: id<=9\ninit x=1\ni1(y,5) q2(P) w1(x,2) c1 c2",
         "2 waits for T1; 2 reads x=2 y=5; ends T1 T2"},
    };
    TRIAL_TRY(trials);
}

#define OVER_TEN "pred P: v>=10\ninit x=5 y=20\n"

/* What a scan asks for is locked, no more and no less. */
static void locks_predicates(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"2pl phantoms=next_key", OVER_TEN "q1(P) w2(x,6) c2 c1", "2 waits for T1"},
        {"2pl phantoms=predicate", OVER_TEN "q1(P) w2(x,6) c2 q1(P) c1", "4 reads y=20; ends T2 T1"},
        {"2pl phantoms=predicate", OVER_TEN "q1(P) w2(x,10) c1 c2", "2 waits for T1; 2 resumes after 3; ends T1 T2"},
        {"2pl phantoms=predicate", OVER_TEN "q1(P) w2(y,3) c1 c2", "2 waits for T1"},
        {"2pl phantoms=predicate", OVER_TEN "q1(P) i2(z,9) i3(t,10) c2 c1 c3", "3 waits for T1; ends T2 T1 T3"},
        /* a scan meets what is pending: it waits for rows that match before, after or in between, for no others */
        {"2pl phantoms=predicate", OVER_TEN "w2(x,6) d3(x) q1(P) c1 c2 c3", "3 reads y=20; ends T1 T2 T3"},
        {"2pl phantoms=predicate", OVER_TEN "w2(y,6) q1(P) c2 c1", "2 waits for T2; 2 reads nothing; ends T2 T1"},
        {"2pl phantoms=predicate", OVER_TEN "w2(x,10) p2(s) w2(x,6) q1(P) f2(s) c2 c1",
         "4 waits for T2; 4 reads x=10 y=20; ends T2 T1"},
        /* nobody overtakes a change that waits, and scans that wait are in its way next time */
        {"2pl phantoms=predicate", OVER_TEN "q1(P) w2(x,10) q3(P) w2(x,11) c1 c2 c3",
         "2 waits for T1; 3 waits for T2; 2 resumes after 5; 3 reads x=11 y=20; ends T1 T2 T3"},
        {"2pl phantoms=predicate", OVER_TEN "q1(P) q2(P) i1(z,10) i2(t,10) c1 c2",
         "3 waits for T2; 4 is aborted: deadlock; ends T2 T1"},
        {"wait-die phantoms=predicate", OVER_TEN "b1 q2(P) q1(P) i2(t,10) c1 c2", "4 is aborted: wait_die; ends T2 T1"},
        {"wound-wait phantoms=predicate", OVER_TEN "b1 q2(P) i1(t,10) c1 c2", "T2 is killed by 3: wounded; ends T2 T1"},
        {"no-wait phantoms=predicate", OVER_TEN "q1(P) i2(t,10) c1 c2", "2 is aborted: nowait; ends T2 T1"},
    };
    TRIAL_TRY(trials);
}

/* A victim goes back to the lock that closes the cycle, keeps what it had before, and does the rest again. */
static void goes_back_partway(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"2pl", "w1(x,1) w2(z,5) w2(y,1) w1(y,2) w2(x,2) r3(z) c1 c2 c3", "5 is aborted: deadlock; ends T2 T1 T3"},
        {"2pl rollback=partial", "w1(x,1) w2(z,5) w2(y,1) w1(y,2) w2(x,2) r3(z) c1 c2 c3",
         "4 resumes after 5; 6 waits for T2; 3 runs after 5; 3 waits for T1; 3 resumes after 7; 5 runs after 7; 6 reads z=5; "
         "ends T1 T2 T3; final x=2 z=5 y=1"},
        /* values are those of the program as it was: $y is 0 again, any value the same */
        {"2pl rollback=partial", "w1(x,1) w2(z,5) r2(y) w2(t,$y+1) w2(y,7) r2(y) w2(v) w1(t,4) w2(x,2) c1 c2",
         "8 resumes after 9; 4 waits for T1; 4 resumes after 10; ends T1 T2; final x=2 z=5 y=7 t=1 v=201"},
        /* nothing to be kept */
        {"2pl rollback=partial", "w1(x,1) w2(y,1) w1(y,2) w2(x,2) c1 c2", "4 is aborted: deadlock; ends T2 T1"},
        /* an upgrade that closes the cycle: the S lock is what the other waits for */
        {"2pl rollback=partial", "r1(x) r2(z) r2(x) w1(x,1) w2(x,2) c1 c2",
         "3 runs after 5; 3 waits for T1; 3 reads x=1; ends T1 T2; final x=2 z=0"},
        /* only what the other waits for: the S lock that came before the X lock stays */
        {"2pl rollback=partial", "w1(x,1) r2(t) r2(z) r2(y) w2(y,5) r3(y) w3(x,9) w1(t,1) c1 c2 c3", "ends T2 T1 T3"},
        {"2pl rollback=partial", "w1(x,1) r2(t) r2(y) w2(y,5) r1(y) r2(x) w3(y,9) c1 c2 c3",
         "4 runs after 6; 3 reads y=0; 5 reads y=0; 7 waits for T1, T2; ends T1 T2 T3; final x=1 t=0 y=9"},
        /* savepoints from before stand */
        {"2pl rollback=partial", "w1(x,1) w2(z,5) p2(s) w2(y,1) w1(y,2) w2(x,2) f2(s) c1 c2",
         "4 runs after 6; 7 runs after 8; ends T1 T2; final x=1 z=5 y=2"},
        /* a key whose insert was undone bounds gaps, and lies in what the victim scanned before */
        {"2pl rollback=partial",
         "pred R: id>=6\ninit x=1 t=2\nid v=7\nw1(x,1) w2(t,5) q2(R) i2(v,2) r1(v) i4(v,4) w2(x,9) c1 c4 c2",
         "5 reads nothing; 6 is aborted: deadlock; 4 changes 1; ends T1 T4 T2; final x=9 t=5 v=2"},
        /* and so does what lies before it */
        {"2pl rollback=partial",
         "pred R: id>=6\ninit x=1 t=2\nid v=7\nid u=6\nw1(x,1) w2(t,5) q2(R) i2(v,2) q1(R) w2(x,9) i1(u,3) c1 c2",
         "5 waits for T2; 5 reads nothing; 7 waits for T2; 7 resumes after 7; 3 reads u=3; ends T1 T2; final x=9 t=5 v=2 u=3"},
        /* the gap that an insert waits for */
        {"2pl rollback=partial", "pred Q: id>=2\ninit x=1 y=2\nw1(x,5) w2(y,5) q2(Q) i1(z,1) w2(x,7) c1 c2",
         "4 resumes after 5; 3 runs after 5; 3 waits for T1; 3 reads y=5 z=1; ends T1 T2; final x=7 y=5 z=1"},
    };
    TRIAL_TRY(trials);
}

static void waits_and_wakes(void **state) {
    (void)state;
    static const struct trial trials[] = {
        /* put-off steps run when the wait is over, before the next step */
        {"2pl", "w1(x,1) w2(x,2) r2(y) c2 c1 r3(x) c3",
         "2 waits for T1; 2 resumes after 5; 3 runs after 5; 4 runs after 5; 6 reads x=2; ends T1 T2 T3"},
        /* all waiting calls first, in the order they began to wait; then what was put off, as written */
        {"2pl", "w1(x,1) w1(y,1) r3(y) r2(x) w2(z,+=2) w3(z,+=3) c1 c3 c2",
         "3 resumes after 7; 4 resumes after 7; 5 runs after 7; 6 waits for T2; 6 resumes after 9; "
         "8 runs after 9; ends T1 T2 T3"},
        /* the first to wait is the first to have z, whatever the order in which the locks are given back */
        {"2pl", "w1(y,1) w1(x,1) u3(y,z) u2(x,z) c1 c3 c2", "3 resumes after 5; 4 resumes after 6; ends T1 T3 T2"},
        /* a put-off step frees others in turn */
        {"2pl", "w1(x,1) w2(y,1) w2(x,2) c2 w3(y,3) c1 c3",
         "3 waits for T1; 5 waits for T2; 5 resumes after 6; 4 runs after 6; ends T1 T2 T3"},
        /* never resumed: nobody ends */
        {"2pl", "w1(x,1) w2(x,2) r2(y) c3",
         "2 waits for T1; 2 never resumes; 3 never runs; T1 is unfinished; T2 is unfinished"},
        /* the holders and everyone ahead in the queue */
        {"2pl", "r1(x) r2(x) w3(x,1) r4(x) w5(x,2) c3",
         "3 waits for T1, T2; 4 waits for T3; 5 waits for T1, T2, T3, T4"},
        {"si", "w1(x,1) w2(x,2) w3(x,3) c1 c2 c3",
         "2 waits for T1; 3 waits for T2; 2 is aborted: write_conflict; ends T1 T2 T3"},
        /* one statement over a list: waits in the middle of it */
        {"2pl", "w1(y,5) r2(x,y) w3(x,1) c1 c2 c3",
         "2 waits for T1; 3 waits for T2; 2 reads x=0 y=5; 3 resumes after 5"},
        {"none", "w1(x,1) r2(x) c2 a1", "2 reads x=1; found G1a; T1 rolls back; final x=0"},
    };
    TRIAL_TRY(trials);
}

static void ends(void **state) {
    (void)state;
    static const struct trial trials[] = {
        /* an aborted one skips until it begins anew, one that has ended skips all */
        {"no-wait", "w1(x,1) w2(x,2) r2(y) c2 b2 w2(y,2) c2 c1",
         "2 is aborted: nowait; 3 is skipped; 4 is skipped; T2 commits; final x=1 y=2"},
        {"none", "w1(x,1) c1 r1(x) c2", "3 is skipped; ends T1 T2"},
        {"none", "w1(x,1) a1 a1 c2", "T1 rolls back; 3 is skipped; final x=0"},
        /* what it read before it was aborted is forgotten */
        {"no-wait", "init x=1 y=5 z=0\nw1(z,1) r2(y) w2(z,1) c1 b2 w2(x,$y+1) c2",
         "3 is aborted: nowait; final x=1 y=5 z=1"},
        /* age is kept: T2 is older than T3 when it begins anew */
        {"wait-die", "b1 w1(x,1) b2 w2(x,2) b3 w3(y,3) b2 w2(y,2) c3 c2 c1",
         "4 is aborted: wait_die; 8 waits for T3; 8 resumes after 9; T2 commits; final x=1 y=2"},
        /* aborted while in no step; while waiting */
        {"wound-wait", "b1 w2(x,2) w1(x,1) r2(y) c1",
         "T2 is killed by 3: wounded; 4 is skipped; T2 is aborted; 3 waits for T2; 3 resumes after 3"},
        {"2pl victim=oldest", "w1(x,1) w2(y,2) w1(y,1) w2(x,2) c2",
         "deadlock T2 T1; 3 is aborted: deadlock; 4 waits for T1; 4 resumes after 4"},
        /* nobody ends: all commit after the last step, in the order of their last steps */
        {"2pl", "r2(x) w1(y,1) r2(y)",
         "3 waits for T1; 3 resumes after 4; ends T1 T2; 3 reads y=1; serial order T1 T2"},
        {"si", "r1(x) w2(x,2)", "ends T1 T2; serial order T1 T2"},
        {"none", "r1(x) w2(x,2) c1", "T2 is unfinished; final x=0; serial order T1"},
    };
    TRIAL_TRY(trials);
}

static void time_passes(void **state) {
    (void)state;
    static const struct trial trials[] = {
        /* not before every step that can be given has been given */
        {"2pl-timeout", "w1(x,1) w2(x,2) r3(y) c1 c2 c3", "2 resumes after 4; T2 commits; final x=2 y=0"},
        {"2pl-timeout", "w1(x,1) w2(x,2) c3", "2 is aborted: timeout; 2 resumes after 3; T1 is unfinished"},
        /* everyone waits: at once; the first to wait is the first to give up */
        {"2pl-timeout", "w1(x,1) w2(y,2) w1(y,1) w2(x,2) c1 c2",
         "3 is aborted: timeout; 3 resumes after 4; 4 resumes after 4; 5 is skipped; T2 commits"},
        {"2pl detect=after(1s)", "w1(x,1) w2(y,2) w1(y,1) w2(x,2) c1 c2",
         "3 resumes after 4; 4 is aborted: deadlock; T1 commits"},
        {"2pl detect=period(1s)", "w1(x,1) w2(y,2) w1(y,1) w2(x,2) c1 c2",
         "4 is aborted: deadlock; T1 commits; final x=1 y=1"},
        {"2pl detect=period(1s)", "w1(x,1) w2(x,2) c3", "2 never resumes"},
        {"2pl detect=after(1s)", "w1(x,1) w2(x,2) r3(x) c4", "2 never resumes; 3 never resumes"},
    };
    TRIAL_TRY(trials);
}

static void values(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"2pl", "init x=3 y=4\nw1(x,+=5) w1(y,-=1) r1(x,y) c1", "3 reads x=8 y=3; final x=8 y=3"},
        {"2pl", "init x=3 y=4\nr1(y) w2(z,1) w1(y,9) w1(x,$y+1) c1 c2", "final x=5 y=9; 2 changes 0"}, /* read 4 */
        {"2pl", "init x=3 y=4\nw1(y,9) w1(x,@y+1) c1", "final x=10 y=9"},
        {"2pl", "init x=3\nw1(x,@y+1) w1(x,$x+1) c1", "final x=1"}, /* absent, never read: 0 */
        {"2pl", "init x=3\nw1(x,5,if=3) w1(x,6,if=3) c1", "1 changes 1; 2 changes 0; final x=5"},
        {"2pl", "w1(x) w12(y) w1(x) c1 c12", "final x=102 y=1201"},
        {"2pl", "init x=3\ni1(x,5) i1(y,6) d1(x) i1(x,7) c1",
         "1 fails: duplicate; 2 changes 1; 3 changes 1; 4 changes 1; final x=7 y=6"},
        {"occ", "init x=3\ni1(x,5) d1(x) r1(x) i1(x,7) c1", "1 fails: duplicate; 3 reads nothing; final x=7"},
        {"2pl", "init x=0 y=3 z=4\npred P: v%3=0\nq1(P) w1(P,+=10) d1(P) c1",
         "1 reads x=0 y=3; 2 changes 2; 3 changes 0; final x=10 y=13 z=4"},
        {"2pl", "init x=0 y=3 z=6\npred P: v%3=0\nw1(P,7,if=3) c1", "1 changes 1; final x=0 y=7 z=6"},
        {"si", "init x=1 y=2 z=3\npred Q: id<=2\nq1(Q) w2(z,9) d1(Q) c1 c2", "1 reads x=1 y=2; 3 changes 2; final z=9"},
        /* the source is read before the row is claimed, by the statement's snapshot; under locking it is locked */
        {"2pl", "init x=1 y=2\nw1(y,5) w2(x,@y+1) w3(x,9) c1 c2 c3",
         "2 waits for T1; 3 changes 1; 2 resumes after 6; final x=6 y=5; serial order T1 T3 T2"},
        {"si", "init x=1 y=2\nw1(y,5) w2(x,@y+1) c1 c2", "2 changes 1; final x=3 y=5; serial order T2 T1"},
        {"occ", "init x=1 y=2\nw2(x,@y+1) w1(y,5) c1 c2", "4 is aborted: validation; final x=1 y=5"},
    };
    TRIAL_TRY(trials);
}

/* What a rolled-back savepoint read still counts at serializable levels. */
static void savepoints(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"2pl", "w1(x,1) p1(s) w1(x,2) p1(t) w1(y,3) f1(s) r1(x) c1", "7 reads x=1; final x=1 y=0"},
        {"2pl", "p1(s) p1(s) w1(x,1) f1(s) w1(y,2) f1(s) c1", "final x=0 y=0"},
        {"2pl", "p1(s) r1(x) f1(s) r2(y) w2(x,7) c2 w1(y,5) c1",
         "5 waits for T1; 7 waits for T2; T2 is aborted; T1 commits"},
        {"2pl", "p1(s) w1(x,+=5) f1(s) r2(y) w2(x,7) c2 w1(y,5) c1", "5 waits for T1; T2 is aborted; T1 commits"},
        {"occ", "p1(s) r1(x) f1(s) r2(y) w2(x,7) c2 w1(y,5) c1", "8 is aborted: validation; T2 commits"},
        {"2pl", "p1(s) w1(x,5) f1(s) w2(x,7) c2 c1", "4 changes 1; final x=7"},
        {"si", "w1(x,1) p1(s) w1(x,2) f1(s) c1", "final x=1"},
        {"occ", "w1(x,1) p1(s) w1(x,2) f1(s) r1(x) c1", "5 reads x=1; final x=1"},
    };
    TRIAL_TRY(trials);
}

static void locking_reads(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"2pl", "pred A: true\nu1(x) u2(x):nowait u2(y) c1 c2", "2 fails: nowait; 3 reads y=0; T2 commits"},
        {"2pl", "u1(x) u2(x):skip s2(x) c1 c2", "2 reads nothing; 3 reads x=0"},
        {"2pl", "init x=0 y=0\nu1(A):1 u2(A):skip c1 c2", "1 reads x=0; 2 reads y=0"},
        {"2pl", "s1(x) s2(x) u3(x) r4(x) c1 c2 c3 c4", "3 reads x=0; 4 reads x=0; after 3: x: T3 U, T2 S, T1 S"},
        {"2pl", "init x=0\nq1(A) i2(y,1) c1 c2",
         "2 waits for T1; after 2: x: T1 S | gap before x: T1 | y: T2 X | gap before the end: T1 (queue: T2)"},
    };
    TRIAL_TRY(trials);
}

static void verdicts(void **state) {
    (void)state;
    static const struct trial trials[] = {
        /* versions: the reader of the old one comes first, whenever it commits */
        {"si", "w1(x,1) c1 r2(x) w3(x,3) c3 r2(x) w2(y,2) c2 r4(x,y) c4", "serial order T1 T2 T3 T4"},
        /* deleted, forgotten by the store, inserted again: still one chain */
        {"si", "init x=1\nd1(x) c1 r2(x) c2 i3(x,3) c3 r4(x) c4",
         "serial order T1 T2 T3 T4; final x=3; 3 reads nothing"},
        {"si", "init x=1\nr9(y) d1(x) c1 i3(x,3) c3 r9(x) c9", "6 reads x=1; serial order T9 T1 T3"},
        {"si", "init x=1\npred P: v>=5\nq1(P) w2(x,7) c2 w1(y,1) c1", "serial order T1 T2"},
        {"si", "init x=1 y=1\npred P: v>=5\nq1(P) q2(P) w1(x,7) w2(y,7) c1 c2",
         "not serializable: T1 T2; found G2; no G2-item"},
        {"none", "w1(x,1) w2(x,2) w2(y,2) c2 w1(y,1) c1", "found P0; found G0; not serializable: T1 T2"},
        /* what SKIP LOCKED passed over was not read */
        {"si", "init x=0 y=0\npred A: true\nr1(y) u1(x) u2(A):skip w1(x,1) c1 w2(y,1) c2",
         "3 reads y=0; serial order T1 T2"},
        /* nor what a failed statement read, nor what an insert met that was taken back */
        {"si", "r1(z) u1(x) u2(y,x):nowait w1(y,1) c1 w2(z,1) c2", "3 fails: nowait; serial order T1 T2"},
        {"si", "init y=0\np1(s) i1(z,1) f1(s) r2(y) i2(z,2) c2 w1(y,1) c1", "serial order T2 T1; final y=1 z=2"},
        /* a write that found nothing is none */
        {"2pl", "init y=0\npred A: true\nw2(x,5) q1(A) w1(y,1) c1 r2(y) c2", "1 changes 0; serial order T1 T2; no P1"},
        {"2pl", "init y=0\nw1(x,5) w2(x,6) c1 c2", "2 waits for T1; 2 changes 0; final y=0; serial order T1 T2"},
    };
    TRIAL_TRY(trials);
}

TEST_GROUP(player, cmocka_unit_test(goes_back_partway), cmocka_unit_test(locks_predicates),
           cmocka_unit_test(looks_ahead), cmocka_unit_test(waits_and_wakes), cmocka_unit_test(ends),
           cmocka_unit_test(time_passes), cmocka_unit_test(values), cmocka_unit_test(savepoints),
           cmocka_unit_test(locking_reads), cmocka_unit_test(verdicts))
