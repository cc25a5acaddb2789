/* test_lock.c - the lock table against a naive one: a matrix of modes and plain arrays for the queues, in which every
 * question is answered by looking at everything. After each random operation both must agree on who holds what, who
 * waits in which order and for whom, and who was woken. */
#include "sim/kit/lock.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "tests/support/gray.h"
#include "tests/support/harness.h"

enum { TXNS = 6, KEYS = 4, STEPS = 4000, SEEDS = 20 };

/* ---- The naive lock table ---- */

struct request {
    int txn;
    enum lock_mode mode;
};
struct naive_record {
    enum lock_mode held[TXNS];
    struct request queue[TXNS]; /* upgrades: those whose transaction holds a lock already */
    int queued;
    uint32_t gap[TXNS]; /* the statement that took it, 0: not held */
    int inserts[TXNS];  /* who waits for the gap */
    int insert_count;
    uint32_t since[TXNS][MODE_COUNT];
};
struct naive {
    struct naive_record records[KEYS];
    int waits_at[TXNS]; /* record, or -1 */
    bool waits_for_gap[TXNS];
    bool woken[TXNS]; /* since the latest comparison */
};

struct fixture {
    struct store store;
    struct table *table;
    struct harness harness;
    struct cc cc;
    struct txn txns[TXNS];
    bool woken[TXNS];
    struct naive naive;
    struct stream stream;
    bool coarse; /* all modes, else those of records */
};

static void on_wake(void *world, struct txn *txn) {
    struct fixture *fixture = world;
    fixture->woken[txn - fixture->txns] = true;
}

static bool naive_fits(const struct naive_record *record, int txn, enum lock_mode mode) {
    for (int other = 0; other < TXNS; other++) {
        if (other != txn && !gray_beside(mode, record->held[other])) {
            return false;
        }
    }
    return true;
}

static void naive_hold(struct fixture *f, struct naive_record *record, int txn, enum lock_mode mode) {
    record->held[txn] = mode;
    record->since[txn][mode] = f->txns[txn].statement;
}

static bool naive_acquire(struct fixture *f, int txn, int key, enum lock_mode mode) {
    struct naive_record *record = &f->naive.records[key];
    if (gray_covers(record->held[txn], mode)) {
        return true;
    }
    mode = gray_join(record->held[txn], mode);
    bool first_is_upgrade = record->queued > 0 && record->held[record->queue[0].txn] != MODE_NONE;
    bool line = record->held[txn] != MODE_NONE ? first_is_upgrade : record->queued > 0;
    if (line || !naive_fits(record, txn, mode)) {
        return false;
    }
    naive_hold(f, record, txn, mode);
    return true;
}

static void naive_enqueue(struct fixture *f, int txn, int key, enum lock_mode mode) {
    struct naive_record *record = &f->naive.records[key];
    int at = record->queued;
    if (record->held[txn] != MODE_NONE) {
        at = 0;
        while (at < record->queued && record->held[record->queue[at].txn] != MODE_NONE) {
            at++;
        }
    }
    memmove(&record->queue[at + 1], &record->queue[at], (size_t)(record->queued - at) * sizeof record->queue[0]);
    record->queue[at] = (struct request){txn, gray_join(record->held[txn], mode)};
    record->queued++;
    f->naive.waits_at[txn] = key;
    f->naive.waits_for_gap[txn] = false;
}

static void naive_remove(struct naive_record *record, int at) {
    record->queued--;
    memmove(&record->queue[at], &record->queue[at + 1], (size_t)(record->queued - at) * sizeof record->queue[0]);
}

static void naive_grant(struct fixture *f, int key) {
    struct naive_record *record = &f->naive.records[key];
    while (record->queued > 0 && naive_fits(record, record->queue[0].txn, record->queue[0].mode)) {
        struct request first = record->queue[0];
        naive_remove(record, 0);
        naive_hold(f, record, first.txn, first.mode);
        f->naive.waits_at[first.txn] = -1;
        f->naive.woken[first.txn] = true;
    }
}

static void naive_cancel(struct fixture *f, int txn) {
    int key = f->naive.waits_at[txn];
    if (key < 0) {
        return;
    }
    struct naive_record *record = &f->naive.records[key];
    f->naive.waits_at[txn] = -1;
    if (f->naive.waits_for_gap[txn]) {
        int at = 0;
        while (record->inserts[at] != txn) {
            at++;
        }
        record->insert_count--;
        memmove(&record->inserts[at], &record->inserts[at + 1], (size_t)(record->insert_count - at) * sizeof(int));
        return;
    }
    int at = 0;
    while (record->queue[at].txn != txn) {
        at++;
    }
    naive_remove(record, at);
    naive_grant(f, key);
}

static void naive_weaken(struct fixture *f, int txn, int key, enum lock_mode mode) {
    struct naive_record *record = &f->naive.records[key];
    record->held[txn] = mode;
    for (int above = (int)mode + 1; above < MODE_COUNT; above++) {
        record->since[txn][above] = 0;
    }
    naive_grant(f, key);
}

static void naive_wake_inserts(struct fixture *f, int key, int but) {
    const struct naive_record *record = &f->naive.records[key];
    for (int i = 0; i < record->insert_count; i++) {
        if (record->inserts[i] != but) {
            f->naive.woken[record->inserts[i]] = true;
        }
    }
}

static void naive_release_gap(struct fixture *f, int txn, int key) {
    f->naive.records[key].gap[txn] = 0;
    naive_wake_inserts(f, key, -1);
}

static void naive_rollback(struct fixture *f, int txn, uint32_t mark, bool keeps_reads, const bool *read) {
    for (int key = 0; key < KEYS; key++) {
        struct naive_record *record = &f->naive.records[key];
        if (!keeps_reads && record->gap[txn] >= mark) {
            naive_release_gap(f, txn, key);
        }
        enum lock_mode before = MODE_NONE;
        for (int mode = MODE_S; mode < MODE_COUNT; mode++) {
            if (record->since[txn][mode] != 0 && record->since[txn][mode] < mark) {
                before = (enum lock_mode)mode;
            }
        }
        enum lock_mode held = record->held[txn];
        if (keeps_reads && before == MODE_NONE && held != MODE_NONE && (read[key] || held == MODE_S)) {
            before = MODE_S;
            record->since[txn][MODE_S] =
                record->since[txn][MODE_S] != 0 ? record->since[txn][MODE_S] : record->since[txn][held];
        }
        if (before < held) {
            naive_weaken(f, txn, key, before);
        }
    }
}

/* Bit set of whom the transaction waits for. */
static unsigned naive_blockers(const struct fixture *f, int txn, bool line_only) {
    int key = f->naive.waits_at[txn];
    unsigned set = 0;
    if (key < 0) {
        return 0;
    }
    const struct naive_record *record = &f->naive.records[key];
    if (f->naive.waits_for_gap[txn]) {
        for (int other = 0; other < TXNS; other++) {
            set |= other != txn && record->gap[other] != 0 ? 1u << other : 0;
        }
        return set;
    }
    int at = 0;
    while (record->queue[at].txn != txn) {
        set |= 1u << record->queue[at++].txn;
    }
    for (int other = 0; other < TXNS && (!line_only || at == 0); other++) {
        set |= other != txn && !gray_beside(record->queue[at].mode, record->held[other]) ? 1u << other : 0;
    }
    return set;
}

/* ---- Comparing ---- */

static unsigned set_of(const struct fixture *f, const struct txn_list *list) {
    unsigned set = 0;
    for (size_t i = 0; i < list->count; i++) {
        unsigned bit = 1u << (list->items[i] - f->txns);
        assert_false(set & bit); /* nobody is named twice */
        set |= bit;
    }
    return set;
}

static struct lock_head *head_of(struct fixture *f, int key) {
    return lock_head_of(store_record(&f->store, f->table, key));
}

static void compare_holders(struct fixture *f, int key) {
    const struct naive_record *record = &f->naive.records[key];
    unsigned held = 0;
    for (const struct lock *lock = lock_granted(head_of(f, key)); lock != NULL; lock = lock->next) {
        int txn = (int)(lock->owner - f->txns);
        assert_int_equal(lock->mode, record->held[txn]);
        bool sorted = lock->next == NULL || gray_covers((enum lock_mode)lock->mode, (enum lock_mode)lock->next->mode);
        assert_true(sorted); /* invariant 1 */
        held |= 1u << txn;
    }
    for (int txn = 0; txn < TXNS; txn++) {
        assert_int_equal((held >> txn) & 1, record->held[txn] != MODE_NONE);
        const struct row *row = txn_find_row(&f->txns[txn], f->table, key);
        assert_int_equal(row != NULL && row->gap != NULL, record->gap[txn] != 0);
        assert_int_equal(row != NULL && row->lock != NULL, record->held[txn] != MODE_NONE);
        bool free = true;
        for (int other = 0; other < TXNS; other++) {
            free = free && (other == txn || record->gap[other] == 0);
        }
        assert_int_equal(lock_gap_is_free(&f->txns[txn], txn_row(&f->txns[txn], &f->store, f->table, key)), free);
    }
}

static void compare_waiters(struct fixture *f, int key) {
    const struct naive_record *record = &f->naive.records[key];
    const struct lock *previous = NULL;
    for (int i = 0; i < record->queued; i++) {
        const struct lock *request = f->txns[record->queue[i].txn].queued;
        assert_non_null(request);
        assert_ptr_equal(request->previous, previous);
        assert_int_equal(request->mode, record->queue[i].mode);
        assert_int_equal(request->upgrades != NULL, record->held[record->queue[i].txn] != MODE_NONE);
        previous = request;
    }
    assert_true(previous == NULL || previous->next == NULL);
}

static void compare_waits(struct fixture *f) {
    struct txn_list list = {0};
    unsigned waited_for = 0;
    for (int txn = 0; txn < TXNS; txn++) {
        assert_int_equal(f->txns[txn].queued != NULL, f->naive.waits_at[txn] >= 0);
        for (int line_only = 0; line_only < 2; line_only++) {
            list.count = 0;
            lock_blockers(&f->txns[txn], &list, SIZE_MAX, line_only);
            assert_int_equal(set_of(f, &list), naive_blockers(f, txn, line_only));
            size_t all = list.count;
            list.count = 0;
            lock_blockers(&f->txns[txn], &list, 1, line_only);
            assert_int_equal(list.count, all > 0);
        }
        if (f->txns[txn].queued != NULL) {
            list.count = 0;
            lock_holders(&f->txns[txn], &list);
            assert_int_equal(lock_older_holds(&f->txns[txn]), (set_of(f, &list) & ((1u << txn) - 1)) != 0);
        }
        waited_for |= naive_blockers(f, txn, false);
    }
    for (int txn = 0; txn < TXNS; txn++) { /* never overlooks a waiter */
        assert_true(lock_is_waited_for(&f->txns[txn]) || !((waited_for >> txn) & 1));
    }
    mem_free(list.items);
}

static const struct txn *first_txn;
static unsigned visited;

static bool note_visit(struct cc *cc, const struct txn *txn, struct txn *other) {
    (void)cc;
    assert_true(other != txn);
    visited |= 1u << (other - first_txn);
    return false;
}

static bool stop_at_once(struct cc *cc, const struct txn *txn, struct txn *other) {
    note_visit(cc, txn, other);
    return true;
}

static unsigned holders_of(struct fixture *f, int txn, lock_visit *visit) {
    visited = 0;
    bool ended = lock_visit_holders(&f->cc, &f->txns[txn], visit);
    assert_int_equal(ended, visit == stop_at_once && visited != 0);
    return visited;
}

/* Visits find those who are listed, and a waiter's holders find it. */
static void compare_visits(struct fixture *f) {
    unsigned holders[TXNS] = {0};
    struct txn_list list = {0};
    first_txn = f->txns;
    for (int txn = 0; txn < TXNS; txn++) {
        if (f->txns[txn].queued != NULL) {
            list.count = 0;
            lock_holders(&f->txns[txn], &list);
            holders[txn] = holders_of(f, txn, note_visit);
            assert_int_equal(holders[txn], set_of(f, &list));
            unsigned stopped = holders_of(f, txn, stop_at_once);
            assert_int_equal(stopped, list.count > 0 ? 1u << (list.items[0] - f->txns) : 0);
            visited = 0;
            assert_false(lock_visit_blockers(&f->cc, &f->txns[txn], note_visit));
            assert_int_equal(visited, naive_blockers(f, txn, false));
        }
    }
    for (int holder = 0; holder < TXNS; holder++) {
        visited = 0;
        assert_false(lock_visit_waiters(&f->cc, &f->txns[holder], note_visit));
        for (int txn = 0; txn < TXNS; txn++) {
            assert_int_equal(visited >> txn & 1, holders[txn] >> holder & 1);
        }
    }
    mem_free(list.items);
}

static void compare(struct fixture *f) {
    for (int key = 0; key < KEYS; key++) {
        compare_holders(f, key);
        compare_waiters(f, key);
        bool has_gaps = false;
        for (int txn = 0; txn < TXNS; txn++) {
            has_gaps = has_gaps || f->naive.records[key].gap[txn] != 0;
        }
        assert_int_equal(lock_bounds_gap(store_record(&f->store, f->table, key)), has_gaps);
    }
    compare_waits(f);
    compare_visits(f);
    for (int txn = 0; txn < TXNS; txn++) {
        int count = 0, listed = 0;
        for (int key = 0; key < KEYS; key++) {
            count += (f->naive.records[key].held[txn] != MODE_NONE) + (f->naive.records[key].gap[txn] != 0);
        }
        for (const struct lock *lock = f->txns[txn].held; lock != NULL; lock = lock->held_next) {
            listed++;
        }
        assert_int_equal(f->txns[txn].lock_count, count);
        assert_int_equal(listed, count);
        assert_int_equal(f->woken[txn], f->naive.woken[txn]);
        f->woken[txn] = f->naive.woken[txn] = false;
    }
}

/* ---- Random operations ---- */

static struct row *row_at(struct fixture *f, int txn, int key) {
    return txn_row(&f->txns[txn], &f->store, f->table, key);
}

static void try_lock(struct fixture *f, int txn, int key) {
    enum lock_mode mode = (enum lock_mode)(1 + stream_below(&f->stream, f->coarse ? MODE_COUNT - 1 : MODE_X));
    bool queues = stream_below(&f->stream, 4) > 0;
    bool expected = naive_acquire(f, txn, key, mode);
    assert_int_equal(lock_acquire(&f->cc, &f->txns[txn], row_at(f, txn, key), mode), expected);
    if (expected || !queues) {
        return;
    }
    lock_enqueue(&f->cc, &f->txns[txn], row_at(f, txn, key), mode);
    const struct naive_record *record = &f->naive.records[key];
    unsigned overtaken = 0;
    for (int i = 0; i < record->queued; i++) {
        overtaken |= record->held[txn] != MODE_NONE && record->held[record->queue[i].txn] == MODE_NONE
                         ? 1u << record->queue[i].txn
                         : 0;
    }
    naive_enqueue(f, txn, key, mode);
    struct txn_list list = {0};
    lock_overtaken(&f->txns[txn], &list);
    assert_int_equal(set_of(f, &list), overtaken);
    mem_free(list.items);
}

static void try_gap(struct fixture *f, int txn, int key) {
    struct row *row = row_at(f, txn, key);
    struct naive_record *record = &f->naive.records[key];
    if (stream_below(&f->stream, 2) == 0) {
        lock_gap(&f->cc, &f->txns[txn], row);
        if (record->gap[txn] == 0) {
            record->gap[txn] = f->txns[txn].statement;
            naive_wake_inserts(f, key, txn);
        }
    } else if (!lock_gap_is_free(&f->txns[txn], row)) {
        lock_gap_enqueue(&f->cc, &f->txns[txn], row);
        record->inserts[record->insert_count++] = txn;
        f->naive.waits_at[txn] = key;
        f->naive.waits_for_gap[txn] = true;
    }
}

static void end_txn(struct fixture *f, int txn) {
    naive_cancel(f, txn);
    lock_cancel(&f->cc, &f->txns[txn]);
    for (int key = 0; key < KEYS; key++) {
        struct naive_record *record = &f->naive.records[key];
        if (record->gap[txn] != 0) {
            naive_release_gap(f, txn, key);
        }
        if (record->held[txn] != MODE_NONE) {
            naive_weaken(f, txn, key, MODE_NONE);
        }
    }
    lock_release_all(&f->cc, &f->txns[txn]);
    txn_clear(&f->txns[txn], &f->store);
    f->txns[txn].statement = 1;
}

static void roll_back(struct fixture *f, int txn) {
    uint32_t mark = (uint32_t)(1 + stream_below(&f->stream, f->txns[txn].statement));
    bool keeps_reads = stream_below(&f->stream, 2) == 0;
    bool read[KEYS];
    for (int key = 0; key < KEYS; key++) {
        read[key] = stream_below(&f->stream, 2) == 0;
        row_at(f, txn, key)->read_statement = read[key];
    }
    naive_rollback(f, txn, mark, keeps_reads, read);
    lock_rollback(&f->cc, &f->txns[txn], mark, keeps_reads);
}

static void weaken(struct fixture *f, int txn, int key) {
    struct row *row = row_at(f, txn, key);
    if (row->lock != NULL) {
        enum lock_mode mode = MODE_NONE, held = (enum lock_mode)row->lock->mode;
        do {
            mode = (enum lock_mode)stream_below(&f->stream, MODE_COUNT);
        } while (mode == held || !gray_covers(held, mode) || (!f->coarse && mode > MODE_X));
        naive_weaken(f, txn, key, mode);
        lock_weaken(&f->cc, row->lock, mode);
    }
}

static void random_step(struct fixture *f) {
    int txn = (int)stream_below(&f->stream, TXNS), key = (int)stream_below(&f->stream, KEYS);
    uint64_t what = stream_below(&f->stream, 100);
    if (f->naive.waits_at[txn] >= 0) {
        if (what < 15) {
            end_txn(f, txn);
        } else if (what < 30) {
            naive_cancel(f, txn);
            lock_cancel(&f->cc, &f->txns[txn]);
        }
        return;
    }
    f->txns[txn].statement++;
    if (what < 60) {
        try_lock(f, txn, key);
    } else if (what < 75) {
        try_gap(f, txn, key);
    } else if (what < 82) {
        weaken(f, txn, key);
    } else if (what < 90 && !f->coarse) {
        roll_back(f, txn);
    } else {
        end_txn(f, txn);
    }
}

static void open_fixture(struct fixture *f, uint64_t seed) {
    *f = (struct fixture){0};
    struct stream_key key = {.seed = seed, .purpose = STREAM_TEST};
    stream_open(&f->stream, &key);
    f->harness = (struct harness){.world = f, .wake = on_wake};
    store_init(&f->store, sizeof(struct lock_head), &f->harness);
    f->table = store_add_table(&f->store, "locks", 0, KEYS, 0, false);
    f->cc = (struct cc){.store = &f->store, .harness = &f->harness};
    lock_table_start(&f->cc);
    for (int txn = 0; txn < TXNS; txn++) {
        f->txns[txn].id = f->txns[txn].age = (uint64_t)txn + 1;
        f->txns[txn].statement = 1;
        f->naive.waits_at[txn] = -1;
    }
}

static void close_fixture(struct fixture *f) {
    for (int txn = 0; txn < TXNS; txn++) {
        end_txn(f, txn);
    }
    for (int key = 0; key < KEYS; key++) {
        assert_int_equal(head_of(f, key)->word, 0);
    }
    for (int txn = 0; txn < TXNS; txn++) {
        txn_free(&f->txns[txn]);
    }
    lock_table_stop(&f->cc);
    store_free(&f->store);
}

static void agrees_with_the_naive_one(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        f.coarse = seed % 2 == 0;
        for (int i = 0; i < STEPS; i++) {
            random_step(&f);
            compare(&f);
        }
        close_fixture(&f);
    }
}

/* Who has left the line goes before those who leave it later, also when the last of them has gone. */
static void who_left_the_line_earlier_goes_first(void **state) {
    (void)state;
    static const int order[] = {3, 2, 5, 4};
    struct fixture f;
    open_fixture(&f, 1);
    assert_true(lock_acquire(&f.cc, &f.txns[0], row_at(&f, 0, 0), MODE_X));
    for (int txn = 1; txn <= 5; txn++) {
        if (txn == 4) {
            lock_step_aside(&f.cc, head_of(&f, 0));
            lock_cancel(&f.cc, &f.txns[1]);
        }
        lock_enqueue(&f.cc, &f.txns[txn], row_at(&f, txn, 0), MODE_X);
    }
    lock_step_aside(&f.cc, head_of(&f, 0));
    int holder = 0;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        lock_release_all(&f.cc, &f.txns[holder]);
        holder = order[i];
        assert_ptr_equal(lock_granted(head_of(&f, 0))->owner, &f.txns[holder]);
    }
    lock_release_all(&f.cc, &f.txns[holder]);
    close_fixture(&f);
}

static int mode_held(const struct row *row) { return row->lock != NULL ? row->lock->mode : MODE_NONE; }

/* A statement that failed leaves no lock that it took, but for the duplicate key it met. */
static void failed_statements_leave_nothing(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, 1);
    struct txn *txn = &f.txns[0];
    assert_true(lock_acquire(&f.cc, txn, row_at(&f, 0, 0), MODE_S));
    lock_gap(&f.cc, txn, row_at(&f, 0, 0));
    txn->statement = 2;
    assert_true(lock_acquire(&f.cc, txn, row_at(&f, 0, 0), MODE_X));
    assert_true(lock_acquire(&f.cc, txn, row_at(&f, 0, 1), MODE_X));
    assert_true(lock_acquire(&f.cc, txn, row_at(&f, 0, 2), MODE_X));
    lock_gap(&f.cc, txn, row_at(&f, 0, 1));
    row_at(&f, 0, 2)->kept = true;
    row_at(&f, 0, 2)->read_statement = 2;
    lock_rollback(&f.cc, txn, 2, true);
    lock_forget_statement(&f.cc, txn, 2);
    assert_int_equal(mode_held(row_at(&f, 0, 0)), MODE_S);
    assert_non_null(row_at(&f, 0, 0)->gap);
    assert_null(row_at(&f, 0, 1)->lock);
    assert_null(row_at(&f, 0, 1)->gap);
    assert_int_equal(mode_held(row_at(&f, 0, 2)), MODE_S);
    lock_release_all(&f.cc, txn);
    close_fixture(&f);
}

TEST_GROUP(lock, cmocka_unit_test(agrees_with_the_naive_one), cmocka_unit_test(failed_statements_leave_nothing),
           cmocka_unit_test(who_left_the_line_earlier_goes_first))
