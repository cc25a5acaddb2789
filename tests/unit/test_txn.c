/* test_txn.c - an attempt's rows and writes: rows are found again however many there are, and writing, undoing to a
 * mark and publishing come out as in a naive list of writes, in stores with linked and with private versions. */
#include "sim/kit/txn.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/random.h"
#include "sim/store/key_order.h"
#include "tests/support/harness.h"

enum { KEYS = 8, STATEMENTS = 12, ROUNDS = 400 };

static uint64_t installs;

static void on_installing(void *world, struct txn *txn, const struct row *row) {
    (void)world;
    assert_int_equal(row->own->writer, txn->id);
    assert_true(row->own->older->writer != txn->id);
    installs++;
}

static void rows_are_found_again(void **state) {
    (void)state;
    struct harness harness = {0};
    struct store store;
    struct txn txn = {.id = 1};
    store_init(&store, 8, &harness);
    struct table *a = store_add_table(&store, "a", 1, 1000, 0, false);
    struct table *b = store_add_table(&store, "b", 1, 10, 0, false);
    for (int round = 0; round < 3; round++) {
        for (int64_t i = 0; i < 300; i++) {
            int64_t key = (i * 37) % 300;
            struct table *table = i % 2 == 0 ? a : b;
            assert_null(txn_find_row(&txn, table, key));
            assert_int_equal(txn_row_number(&txn, txn_row(&txn, &store, table, key)), i);
            for (int64_t j = 0; j <= i; j += 7) { /* those before are where they were */
                const struct row *row = txn_row(&txn, &store, j % 2 == 0 ? a : b, (j * 37) % 300);
                assert_int_equal(txn_row_number(&txn, row), j);
                assert_ptr_equal(row, txn_find_row(&txn, row->table, row->key));
            }
        }
        assert_ptr_equal(txn_row_of_end(&txn, a)->record, a->end);
        assert_ptr_equal(txn_row_of_end(&txn, b)->record, b->end);
        assert_int_equal(txn.rows.count, 302);
        assert_ptr_equal(txn_row_of_end(&txn, a), &txn.rows.items[300]);
        txn_clear(&txn, &store);
        assert_int_equal(txn.rows.count, 0);
        assert_null(key_order_from(b->sparse, INT64_MIN)); /* unpinned, and nothing was in them */
    }
    txn_free(&txn);
    store_free(&store);
}

struct written {
    int64_t value;
    bool absent;
    uint32_t statement;
    int key;
};

/* The last of the naive writes to the key, or NULL. */
static const struct written *last_write(const struct written *writes, size_t count, int key) {
    for (size_t i = count; i > 0; i--) {
        if (writes[i - 1].key == key) {
            return &writes[i - 1];
        }
    }
    return NULL;
}

static void compare_own(struct txn *txn, struct store *store, struct table *table, const struct written *writes,
                        size_t count) {
    assert_int_equal(txn->writes.count, count);
    for (int key = 0; key < KEYS; key++) {
        const struct version *own = txn_row(txn, store, table, key)->own;
        const struct written *expected = last_write(writes, count, key);
        assert_int_equal(own != NULL, expected != NULL);
        if (own != NULL) {
            assert_int_equal(own->value, expected->absent ? 0 : expected->value);
            assert_int_equal(own->absent, expected->absent);
            assert_int_equal(own->statement, expected->statement);
            assert_int_equal(own->writer, txn->id);
        }
    }
}

/* One attempt of random writes and undos, published or undone at the end; `content` is what must be committed. */
static void run_attempt(struct store *store, struct table *table, struct stream *stream, struct txn *txn,
                        bool private_writes, struct written *content) {
    struct written writes[STATEMENTS * 2];
    size_t count = 0;
    for (txn->statement = 1; txn->statement <= STATEMENTS; txn->statement++) {
        for (uint64_t n = stream_below(stream, 3); n > 0; n--) {
            int key = (int)stream_below(stream, KEYS);
            int64_t value = (int64_t)stream_below(stream, 100);
            struct written write = {.absent = stream_below(stream, 4) == 0, .statement = txn->statement, .key = key};
            write.value = write.absent ? 0 : value; /* a row that is not there has no value */
            struct row *row = txn_row(txn, store, table, key);
            struct version *base = private_writes ? NULL : store_newest(store, table, key, row->record);
            txn_write(txn, store, row, base, value, write.absent);
            writes[count++] = write;
        }
        if (stream_below(stream, 5) == 0) {
            uint32_t mark = (uint32_t)(1 + stream_below(stream, txn->statement));
            txn_undo(txn, store, mark, private_writes);
            while (count > 0 && writes[count - 1].statement >= mark) {
                count--;
            }
        }
        compare_own(txn, store, table, writes, count);
    }
    if (stream_below(stream, 3) == 0) {
        txn_undo(txn, store, 0, private_writes);
        compare_own(txn, store, table, writes, 0);
    } else {
        uint64_t before = installs, expected = 0;
        for (int key = 0; key < KEYS; key++) {
            const struct written *write = last_write(writes, count, key);
            expected += write != NULL;
            content[key] = write != NULL ? *write : content[key];
        }
        txn_publish(txn, store, private_writes);
        assert_int_equal(installs - before, expected);
    }
    txn_clear(txn, store);
}

static void run_attempts(bool private_writes) {
    struct harness harness = {.installing = on_installing};
    struct store store;
    struct txn txn = {0};
    struct written content[KEYS] = {{0}};
    struct stream stream;
    struct stream_key stream_key = {.seed = 1 + private_writes, .purpose = STREAM_TEST};
    stream_open(&stream, &stream_key);
    store_init(&store, 8, &harness);
    struct table *table = store_add_table(&store, "t", 0, KEYS / 2, 0, false); /* the other half is sparse */
    for (int key = KEYS / 2; key < KEYS; key++) {
        content[key].absent = true;
    }
    for (int round = 0; round < ROUNDS; round++) {
        txn.id = (uint64_t)round + 1;
        run_attempt(&store, table, &stream, &txn, private_writes, content);
        for (int key = 0; key < KEYS; key++) {
            struct record *record = store_record(&store, table, key);
            const struct version *version = store_committed(&store, table, key, record);
            assert_ptr_equal(record->newest, version);
            assert_null(version->older);
            assert_int_equal(version->absent, content[key].absent);
            assert_true(version->absent || version->value == content[key].value);
            store_release(&store, table, key, record);
        }
    }
    txn_free(&txn);
    store_free(&store);
}

static void linked_writes_agree(void **state) {
    (void)state;
    run_attempts(false);
}

static void private_writes_agree(void **state) {
    (void)state;
    run_attempts(true);
}

TEST_GROUP(txn, cmocka_unit_test(rows_are_found_again), cmocka_unit_test(linked_writes_agree),
           cmocka_unit_test(private_writes_agree))
