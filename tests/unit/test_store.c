/* test_store.c - the store against naive histories: for each key a plain array of what was committed when. */
#include "sim/store/store.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "sim/store/key_order.h"
#include "tests/support/harness.h"

enum { DENSE = 5, DENSE_FIRST = 10, KEYS = 14, HISTORY = 4096, STEPS = 3000, SEEDS = 8 };

/* Sparse keys on both sides of the dense 10 .. 14, far and near. */
static const int64_t keys[KEYS] = {10, 11, 12, 13, 14, -7000000000, -1, 8, 9, 15, 16, 40, 41, INT64_C(1) << 60};

struct entry {
    uint64_t stamp;
    int64_t value;
    bool absent;
};
struct naive_key {
    struct entry history[HISTORY];
    int count;
    int64_t pending; /* value of the uncommitted version; with `version` */
    bool pending_absent;
    struct version *version; /* uncommitted, and pins the record; NULL: none */
    int debris;              /* of a heap: versions taken back since the last vacuum */
};

struct fixture {
    struct store store;
    struct table *table;
    struct harness harness;
    struct stream stream;
    struct naive_key naive[KEYS];
    uint64_t purged, freed; /* what no snapshot needs, and what of it has gone: in a heap at the last vacuum only */
};

static struct fixture f; /* too large for the stack */

enum storage { SINGLE, TOMBSTONES, UNDO, HEAP };

static void open_fixture(uint64_t seed, enum storage storage) {
    memset(&f, 0, sizeof f);
    struct stream_key key = {.seed = seed, .purpose = STREAM_TEST};
    stream_open(&f.stream, &key);
    store_init(&f.store, 16, &f.harness);
    f.store.keeps_versions = storage >= UNDO;
    f.store.keeps_tombstones = storage >= TOMBSTONES;
    if (storage == HEAP) {
        store_become_heap(&f.store);
    }
    f.table = store_add_table(&f.store, "t", DENSE_FIRST, DENSE, 7, false);
    store_set_initial(&f.store, f.table, 11, 3, false);
    store_set_initial(&f.store, f.table, 12, 0, true);
    for (int i = 0; i < KEYS; i++) {
        bool absent = i >= DENSE || keys[i] == 12;
        f.naive[i].history[0] = (struct entry){1, absent ? 0 : keys[i] == 11 ? 3 : 7, absent};
        f.naive[i].count = 1;
    }
    f.purged = f.freed = 1;
}

/* ---- What must be so ---- */

static const struct entry *last_of(int i) { return &f.naive[i].history[f.naive[i].count - 1]; }

/* Committed versions below the newest one that are still stored. */
static int extra_of(int i) {
    if (!f.store.keeps_versions) {
        return 0;
    }
    int oldest = f.naive[i].count - 1;
    while (f.naive[i].history[oldest].stamp > f.freed) {
        oldest--;
    }
    return f.naive[i].count - 1 - oldest;
}

static bool bounds_gap(int i) { return !last_of(i)->absent || f.naive[i].version != NULL || extra_of(i) > 0; }

/* Whoever looks for the newest committed version passes all others in which the row is there, and what was taken back. */
static void compare_places(int i, struct record *record, const struct version *newest, int extra) {
    const struct naive_key *naive = &f.naive[i];
    int passed = naive->debris + (naive->version != NULL && !naive->pending_absent);
    for (int k = 1; k <= extra; k++) {
        passed += !naive->history[naive->count - 1 - k].absent;
    }
    assert_int_equal(store_bloat(&f.store, record, newest), f.store.is_heap ? passed : 0);
}

static void compare_key(int i) {
    struct record *record = store_record(&f.store, f.table, keys[i]);
    const struct version *newest = store_committed(&f.store, f.table, keys[i], record);
    assert_int_equal(newest->absent, last_of(i)->absent);
    assert_true(newest->absent || newest->value == last_of(i)->value);
    int extra = 0;
    for (const struct version *older = newest->older; older != NULL; older = older->older) {
        extra++;
        const struct entry *entry = &f.naive[i].history[f.naive[i].count - 1 - extra];
        /* a forgotten key comes back as one that was never there: nobody can tell the difference any more */
        bool forgotten = entry->absent && entry->stamp <= f.purged && older->stamp == STORE_STAMP_LOADER;
        assert_true(older->stamp == entry->stamp || forgotten);
        assert_int_equal(older->absent, entry->absent);
        assert_true(older->absent || older->value == entry->value);
    }
    assert_int_equal(extra, extra_of(i));
    compare_places(i, record, newest, extra);
    store_release(&f.store, f.table, keys[i], record);
}

static void compare_order(void) {
    int64_t from = INT64_MIN;
    for (int steps = 0;; steps++) {
        int64_t expected = INT64_MAX, found;
        for (int i = 0; i < KEYS; i++) {
            if (keys[i] >= from && keys[i] < expected && bounds_gap(i)) {
                expected = keys[i];
            }
        }
        const struct record *record = store_next(&f.store, f.table, from, NULL, &found);
        assert_int_equal(found, expected);
        assert_int_equal(record == f.table->end, expected == INT64_MAX);
        if (expected == INT64_MAX) {
            break;
        }
        from = found + 1;
    }
}

static void compare(void) {
    int64_t sum = 0, rows = 0;
    uint64_t extra = 0, dead = 0;
    for (int i = 0; i < KEYS; i++) {
        for (int k = f.naive[i].count - 1; f.naive[i].history[k].stamp > f.freed; k--) {
            dead += f.naive[i].history[k].stamp <= f.purged;
        }
        dead += (uint64_t)f.naive[i].debris;
        extra += (uint64_t)f.naive[i].debris;
        sum += last_of(i)->absent ? 0 : last_of(i)->value;
        rows += !last_of(i)->absent;
        extra += (uint64_t)extra_of(i);
    }
    compare_order();
    for (int i = 0; i < KEYS; i++) {
        compare_key(i);
    }
    assert_int_equal(f.table->committed_sum, sum);
    assert_int_equal(f.table->committed_rows, rows);
    assert_int_equal(f.store.extra_versions, extra);
    assert_int_equal(store_dead(&f.store), f.store.is_heap ? dead : 0);
}

/* ---- Random changes ---- */

static void write_as(int i, int64_t value, bool absent) {
    struct naive_key *naive = &f.naive[i];
    struct record *record = store_record(&f.store, f.table, keys[i]);
    naive->pending = value;
    naive->pending_absent = absent;
    naive->version = store_new_version(&f.store, 77, 1, naive->pending, naive->pending_absent);
    store_link(&f.store, record, naive->version, store_newest(&f.store, f.table, keys[i], record));
    assert_ptr_equal(record->newest, naive->version);
}

static void write_key(int i) {
    int64_t value = (int64_t)stream_below(&f.stream, 100);
    write_as(i, value, stream_below(&f.stream, 3) == 0);
}

static void end_write(int i, bool commits) {
    struct naive_key *naive = &f.naive[i];
    struct record *record = store_record(&f.store, f.table, keys[i]);
    if (commits) {
        uint64_t stamp = ++f.store.stamp;
        store_install(&f.store, f.table, keys[i], record, naive->version, stamp);
        assert_true(naive->count < HISTORY);
        naive->history[naive->count++] = (struct entry){stamp, naive->pending, naive->pending_absent};
    } else {
        naive->debris += f.store.is_heap && !naive->pending_absent;
        store_discard(&f.store, f.table, keys[i], record, naive->version);
    }
    naive->version = NULL;
    store_release(&f.store, f.table, keys[i], record);
    store_release(&f.store, f.table, keys[i], record); /* write_as's */
}

static void purge(void) {
    f.purged += stream_below(&f.stream, f.store.stamp - f.purged + 1);
    store_purge(&f.store, f.purged);
    f.freed = f.store.is_heap ? f.freed : f.purged;
}

static void vacuum(void) {
    store_vacuum(&f.store);
    f.freed = f.purged;
    for (int i = 0; i < KEYS; i++) {
        f.naive[i].debris = 0;
    }
}

static void run(uint64_t seed, enum storage storage) {
    open_fixture(seed, storage);
    for (int step = 0; step < STEPS; step++) {
        int i = (int)stream_below(&f.stream, KEYS);
        if (f.naive[i].version == NULL) {
            write_key(i);
        } else {
            end_write(i, stream_below(&f.stream, 4) > 0);
        }
        if (stream_below(&f.stream, 8) == 0 && storage != SINGLE) {
            purge();
        }
        if (storage == HEAP && stream_below(&f.stream, 32) == 0) {
            vacuum();
        }
        compare();
    }
    /* In the end everything sparse goes: nothing of it may be left. */
    for (int i = 0; i < KEYS; i++) {
        if (f.naive[i].version != NULL) {
            end_write(i, false);
        }
        write_as(i, 0, true);
        end_write(i, true);
    }
    f.purged = f.store.stamp;
    store_purge(&f.store, f.purged);
    vacuum();
    compare();
    assert_int_equal(f.store.extra_versions, 0);
    assert_null(key_order_from(f.table->sparse, INT64_MIN));
    store_free(&f.store);
}

static void single_version_store_agrees(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(seed, SINGLE);
    }
}

static void store_with_tombstones_agrees(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(seed, TOMBSTONES);
    }
}

static void multiversion_store_agrees(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(seed, UNDO);
    }
}

static void heap_agrees(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(seed, HEAP);
    }
}

/* A record of which the algorithm remembers something is not forgotten, and neither is a pinned one. */
static void what_is_remembered_stays(void **state) {
    (void)state;
    open_fixture(1, SINGLE);
    struct record *record = store_record(&f.store, f.table, 100);
    assert_ptr_equal(store_record(&f.store, f.table, 100), record);
    store_release(&f.store, f.table, 100, record);
    assert_non_null(key_order_find(f.table->sparse, 100));
    *(char *)record_tail(record) = 1;
    store_release(&f.store, f.table, 100, record);
    assert_non_null(key_order_find(f.table->sparse, 100));
    assert_ptr_equal(store_record(&f.store, f.table, 100), record);
    *(char *)record_tail(record) = 0;
    store_release(&f.store, f.table, 100, record);
    assert_null(key_order_find(f.table->sparse, 100));
    store_free(&f.store);
}

/* ---- Uncommitted versions on one another, against a list in which nothing is ever freed ---- */

enum { STACK_MAX = 40 };

struct stacked {
    struct version *version; /* NULL: discarded */
    int64_t value;
    uint64_t writer; /* 0: the loader */
    bool committed;
};
static struct stacked stack[STACK_MAX]; /* oldest first */
static int stack_count;
static int64_t sum_before;

static bool is_uncommitted(const struct stacked *stacked) { return stacked->version != NULL && !stacked->committed; }

/* The writer of the nearest committed one from `at` on, in steps of `step`; UINT64_MAX: none. */
static uint64_t nearest_committed(int at, int step) {
    while (at >= 0 && at < stack_count && !stack[at].committed) {
        at += step;
    }
    return at >= 0 && at < stack_count ? stack[at].writer : UINT64_MAX;
}

static void compare_neighbours(const struct record *record, int at) {
    const struct version *below = stack[at].version->older, *above = store_above(record, stack[at].version);
    while (below->stamp == 0) {
        below = below->older;
    }
    while (above != NULL && above->stamp == 0) {
        above = store_above(record, above);
    }
    assert_ptr_equal(above, store_committed_above(record, stack[at].version));
    assert_int_equal(below->writer, nearest_committed(at, -1));
    assert_int_equal(above != NULL ? above->writer : UINT64_MAX, nearest_committed(at, 1));
}

static void compare_stack(struct record *record) {
    const struct version *version = record->newest;
    int newest = stack_count - 1;
    for (int i = stack_count - 1; i >= 0; i--) {
        if (is_uncommitted(&stack[i])) {
            while (version->stamp != 0) {
                version = version->older;
            }
            assert_ptr_equal(version, stack[i].version);
            version = version->older;
            compare_neighbours(record, i);
        }
    }
    for (; version != NULL; version = version->older) {
        assert_true(version->stamp != 0);
    }
    while (!stack[newest].committed) {
        newest--;
    }
    assert_int_equal(store_committed(&f.store, f.table, f.table->first_key, record)->writer, stack[newest].writer);
    assert_int_equal(f.table->committed_sum - sum_before, stack[newest].value - stack[0].value);
}

static void end_stacked(struct record *record, int at, bool commits) {
    if (commits) {
        stack[at].committed = true;
        store_install(&f.store, f.table, f.table->first_key, record, stack[at].version, ++f.store.stamp);
    } else {
        store_discard(&f.store, f.table, f.table->first_key, record, stack[at].version);
        stack[at].version = NULL;
    }
}

/* A new version just above that one, if it is still there to be named, else on top of all. */
static void put_above(struct record *record, int at) {
    struct version *base =
        is_uncommitted(&stack[at]) ? stack[at].version : store_newest(&f.store, f.table, f.table->first_key, record);
    at = is_uncommitted(&stack[at]) ? at + 1 : stack_count;
    memmove(&stack[at + 1], &stack[at], (size_t)(stack_count - at) * sizeof stack[0]);
    stack[at] = (struct stacked){.writer = (uint64_t)stack_count, .value = (int64_t)stream_below(&f.stream, 100)};
    stack[at].version = store_new_version(&f.store, stack[at].writer, 1, stack[at].value, false);
    store_link(&f.store, record, stack[at].version, base);
    stack_count++;
}

static void stack_versions(uint64_t seed) {
    open_fixture(seed, SINGLE);
    struct record *record = store_record(&f.store, f.table, f.table->first_key);
    stack[0] = (struct stacked){.value = f.table->initial_value, .committed = true};
    sum_before = f.table->committed_sum;
    for (stack_count = 1; stack_count < STACK_MAX;) {
        int at = (int)stream_below(&f.stream, (uint64_t)stack_count);
        if (is_uncommitted(&stack[at])) {
            end_stacked(record, at, stream_below(&f.stream, 2) == 0);
        } else {
            put_above(record, (int)stream_below(&f.stream, (uint64_t)stack_count));
        }
        compare_stack(record);
    }
    for (int i = 0; i < stack_count; i++) {
        if (is_uncommitted(&stack[i])) {
            end_stacked(record, i, stream_below(&f.stream, 2) == 0);
        }
    }
    compare_stack(record);
    assert_true(record->newest->stamp != 0 && record->newest->older == NULL);
    store_free(&f.store);
}

static void stacked_versions_leave_in_any_order(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        stack_versions(seed);
    }
}

/* ---- Versions committed beneath committed ones, as by multiversion timestamp ordering ---- */

enum { WRITERS_MAX = 60 };

/* In order of begin, which is the order of their versions. */
struct placed {
    struct version *version; /* NULL: not written yet, taken back, or freed */
    uint64_t begin, stamp;   /* of the latest commit when it began; its own, 0: not ended */
    bool over;
};
static struct placed placed[WRITERS_MAX];
static int placed_count;

/* Nobody under way began before this commit. */
static uint64_t oldest_begin(void) {
    uint64_t oldest = f.store.stamp;
    for (int i = placed_count - 1; i > 0; i--) {
        oldest = placed[i].over ? oldest : placed[i].begin;
    }
    return oldest;
}

static void write_beneath_the_younger(struct record *record, int at) {
    int below = at - 1;
    while (placed[below].version == NULL) {
        below--;
    }
    placed[at].version = store_new_version(&f.store, (uint64_t)at, 1, at, false);
    store_link(&f.store, record, placed[at].version, placed[below].version);
}

static void end_placed(struct record *record, int at, bool commits) {
    struct version *version = placed[at].version;
    placed[at].over = true;
    if (commits && version != NULL) {
        placed[at].stamp = ++f.store.stamp;
        store_install(&f.store, f.table, f.table->first_key, record, version, placed[at].stamp);
    } else if (version != NULL) {
        store_discard(&f.store, f.table, f.table->first_key, record, version);
        placed[at].version = NULL;
    }
}

/* All beneath the first version that was committed at or before that. */
static void forget_placed(uint64_t oldest) {
    int at = placed_count - 1;
    while (placed[at].version == NULL || placed[at].stamp == 0 || placed[at].stamp > oldest) {
        at--;
    }
    while (--at >= 0) {
        placed[at].version = NULL;
    }
}

static void compare_placed(const struct record *record) {
    const struct version *version = record->newest;
    uint64_t committed = 0;
    for (int i = placed_count - 1; i >= 0; i--) {
        if (placed[i].version != NULL) {
            assert_ptr_equal(version, placed[i].version);
            committed += placed[i].stamp != 0;
            version = version->older;
        }
    }
    assert_null(version);
    assert_int_equal(f.store.extra_versions - f.store.debris.count, committed - 1);
}

static void place_versions(uint64_t seed, enum storage storage) {
    open_fixture(seed, storage);
    struct record *record = store_record(&f.store, f.table, f.table->first_key);
    struct version *loaded = store_newest(&f.store, f.table, f.table->first_key, record);
    placed[0] = (struct placed){.version = loaded, .stamp = STORE_STAMP_LOADER, .over = true};
    for (placed_count = 1; placed_count < WRITERS_MAX;) {
        int at = (int)stream_below(&f.stream, (uint64_t)placed_count + 1);
        if (at == placed_count) {
            placed[placed_count++] = (struct placed){.begin = f.store.stamp};
        } else if (!placed[at].over && placed[at].version == NULL && stream_below(&f.stream, 8) > 0) {
            write_beneath_the_younger(record, at);
        } else if (!placed[at].over) {
            end_placed(record, at, stream_below(&f.stream, 4) > 0);
            store_purge(&f.store, oldest_begin());
        }
        if (storage == UNDO || stream_below(&f.stream, 8) == 0) {
            store_vacuum(&f.store);
            forget_placed(f.store.purged);
        }
        compare_placed(record);
    }
    store_free(&f.store);
}

static void versions_beneath_committed_ones_go_with_them(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS * 4; seed++) {
        place_versions(seed, UNDO);
        place_versions(seed, HEAP);
    }
}

/* A hot row in a crowd has as many versions as there are snapshots. What the oldest of them needed goes without a look at
 * the newer ones: here they cannot be reached from the newest. */
static void old_versions_go_without_a_walk(void **state) {
    (void)state;
    open_fixture(1, UNDO);
    struct record *record = store_record(&f.store, f.table, f.table->first_key);
    struct version *versions[5] = {store_newest(&f.store, f.table, f.table->first_key, record)};
    for (int i = 1; i < 5; i++) {
        versions[i] = store_new_version(&f.store, 1, 1, i, false);
        store_link(&f.store, record, versions[i], versions[i - 1]);
        store_install(&f.store, f.table, f.table->first_key, record, versions[i], ++f.store.stamp);
    }
    versions[4]->older = NULL;
    store_purge(&f.store, versions[2]->stamp);
    assert_int_equal(f.store.extra_versions, 2);
    assert_int_equal(f.store.removed, 2);
    assert_null(versions[2]->older);
    versions[4]->older = versions[3];
    store_purge(&f.store, f.store.stamp);
    assert_int_equal(f.store.extra_versions, 0);
    store_free(&f.store);
}

/* ---- The order of keys against a sorted array ---- */

enum { ORDER_KEYS = 500 };

static void keys_are_in_order(void **state) {
    (void)state;
    struct stream stream;
    struct stream_key stream_key = {.seed = 1, .purpose = STREAM_TEST};
    stream_open(&stream, &stream_key);
    struct key_order *order = key_order_new(16);
    bool present[ORDER_KEYS] = {false};
    for (int step = 0; step < 20000; step++) {
        int64_t key = (int64_t)stream_below(&stream, ORDER_KEYS);
        struct key_node *node = key_order_find(order, key * 3 - 700);
        assert_int_equal(node != NULL, present[key]);
        if (node == NULL) {
            assert_int_equal(key_order_insert(order, key * 3 - 700)->key, key * 3 - 700);
        } else {
            key_order_remove(order, node);
        }
        present[key] = !present[key];
        int64_t from = (int64_t)stream_below(&stream, ORDER_KEYS), next = from;
        while (next < ORDER_KEYS && !present[next]) {
            next++;
        }
        node = key_order_from(order, from * 3 - 700 - (int64_t)stream_below(&stream, 3));
        assert_int_equal(node != NULL, next < ORDER_KEYS);
        assert_true(node == NULL || node->key == next * 3 - 700);
    }
    int64_t at = 0;
    for (const struct key_node *node = key_order_from(order, INT64_MIN); node != NULL; node = node->next[0], at++) {
        while (!present[at]) {
            at++;
        }
        assert_int_equal(node->key, at * 3 - 700);
    }
    key_order_free(order);
}

TEST_GROUP(store, cmocka_unit_test(single_version_store_agrees), cmocka_unit_test(store_with_tombstones_agrees),
           cmocka_unit_test(multiversion_store_agrees), cmocka_unit_test(heap_agrees),
           cmocka_unit_test(what_is_remembered_stays), cmocka_unit_test(versions_beneath_committed_ones_go_with_them),
           cmocka_unit_test(old_versions_go_without_a_walk), cmocka_unit_test(stacked_versions_leave_in_any_order),
           cmocka_unit_test(keys_are_in_order))
