/* test_tpcc_audit.c - what tpcc leaves behind: every row of it against the specification's consistency conditions (clause
 * 3.3.2), after transactions one by one; and each way in which its audit can break. */
#include <inttypes.h>

#include "sim/store/level.h"
#include "tests/support/solo.h"
#include "workloads/tpcc.h"

/* ---- Row by row ---- */

struct found { /* of a district's rows */
    int64_t orders, queued, first_queued, delivered_amount;
};

/* Its lines are as many as it says (condition 6), all delivered or none; what they come to. */
static int64_t check_lines(struct solo *solo, int64_t district, int64_t order, bool delivered) {
    const struct tpcc_state *tpcc = solo->state;
    int64_t amount = 0, lines = 0, value = solo_value(solo, tpcc->orders, tpcc_order_key(tpcc, district, order));
    for (int64_t line = 0; line <= tpcc_last_line(tpcc, order); line++) {
        int64_t key = tpcc_line_key(tpcc, district, order, line), row = solo_value(solo, tpcc->order_lines, key);
        if (row != INT64_MIN) {
            lines++;
            amount += tpcc_line_amount(tpcc, order, key, row);
            assert_int_equal(row & TPCC_BYTE, delivered && order > tpcc->customers - tpcc->undelivered);
            assert_in_range(tpcc_line_item(tpcc, key, row), 0, tpcc->items - 1);
        }
    }
    assert_int_equal(lines, order <= tpcc->customers ? TPCC_LOADED_LINES : value >> TPCC_QUANTITY & TPCC_BYTE);
    return amount;
}

/* An order is in new_orders until it has a carrier (conditions 5 and 7), and there from the first to the last (3). */
static struct found check_orders(struct solo *solo, int64_t district) {
    const struct tpcc_state *tpcc = solo->state;
    struct found found = {0};
    int64_t delivered_at_first = tpcc->customers - tpcc->undelivered;
    for (int64_t order = 1;; order++) {
        int64_t value = solo_value(solo, tpcc->orders, tpcc_order_key(tpcc, district, order));
        bool queued = solo_value(solo, tpcc->new_orders, tpcc_queue_key(district, order)) != INT64_MIN;
        if (value == INT64_MIN) {
            assert_false(queued);
            return found;
        }
        bool has_carrier = (value & TPCC_BYTE) > 0 || order <= delivered_at_first;
        assert_int_equal(queued, !has_carrier);
        assert_true(queued || found.queued == 0);
        found.orders++;
        found.queued += queued;
        int64_t amount = check_lines(solo, district, order, has_carrier);
        found.delivered_amount += has_carrier ? amount : 0;
    }
}

static int64_t sum_of(struct solo *solo, struct table *table, int64_t first, int64_t count) {
    int64_t sum = 0;
    for (int64_t key = first; key < first + count; key++) {
        sum += solo_value(solo, table, key);
    }
    return sum;
}

static int64_t history_sum(struct solo *solo, uint64_t transactions) {
    const struct tpcc_state *tpcc = solo->state;
    int64_t sum = 0;
    for (uint64_t n = 1; n <= transactions; n++) {
        int64_t amount = solo_value(solo, tpcc->history, INT64_C(1) << 40 | (int64_t)n);
        sum += amount != INT64_MIN ? amount : 0;
    }
    return sum;
}

static void check_everything(struct solo *solo, uint64_t transactions) {
    const struct tpcc_state *tpcc = solo->state;
    int64_t delivered = 0, paid = history_sum(solo, transactions), warehouses = tpcc->options.warehouses;
    for (int64_t d = 0; d < warehouses * TPCC_DISTRICTS; d++) {
        struct found found = check_orders(solo, d);
        int64_t value = solo_value(solo, tpcc->district, tpcc_district_key(d));
        assert_int_equal(tpcc_next_order(value), found.orders + 1); /* condition 2 */
        delivered += found.delivered_amount;
    }
    for (int64_t w = 0; w < warehouses; w++) { /* condition 1 */
        int64_t districts = sum_of(solo, tpcc->district, 1 + w * TPCC_DISTRICTS, TPCC_DISTRICTS);
        assert_int_equal(solo_value(solo, tpcc->warehouse, 1 + w), tpcc_district_ytd(districts));
    }
    int64_t customers = warehouses * TPCC_DISTRICTS * tpcc->customers; /* conditions 8 to 10 */
    assert_int_equal(sum_of(solo, tpcc->customer, 1, customers), customers * TPCC_BALANCE + delivered - paid);
    assert_int_equal(sum_of(solo, tpcc->warehouse, 1, warehouses), warehouses * 300000 + paid);
    assert_int_equal(tpcc->history->committed_sum, paid);
}

static void every_row_is_consistent(void **state) {
    (void)state;
    static const char *const settings[] = {"scale=0.5% warehouses=2 delivery=8% rollback=5%",
                                           "scale=0 access=read_write delivery=5% order_status=20% order=by_key",
                                           "scale=0 access=returning warehouses=3 delivery=15% by_name=0"};
    enum { TRANSACTIONS = 1500 };
    for (int i = 0; i < 3; i++) {
        struct solo solo;
        solo_open(&solo, "tpcc", settings[i]);
        for (uint64_t n = 1; n <= TRANSACTIONS; n++) {
            solo_next(&solo, n);
            if (n == 100 || n == TRANSACTIONS) {
                check_everything(&solo, n);
            }
        }
        solo_expect_audit(&solo, AUDIT_OK, i == 1 ? LEVEL_SI : LEVEL_RC, "");
        const struct tpcc_state *tpcc = solo.state;
        assert_true(tpcc->books.orders > 400 && tpcc->books.deliveries > 300 && tpcc->books.paid > 0);
        solo_close(&solo);
    }
}

/* ---- What the audit finds ---- */

static void open_and_run(struct solo *solo, const char *settings) {
    solo_open(solo, "tpcc", settings);
    for (uint64_t n = 1; n <= 100; n++) {
        solo_next(solo, n);
    }
}

static void add(struct solo *solo, struct table *table, int64_t key, int64_t amount) {
    solo_put(solo, table, key, solo_value(solo, table, key) + amount);
}

static void audit_compares_warehouses_and_districts(void **state) {
    (void)state;
    struct solo solo;
    open_and_run(&solo, "scale=0 warehouses=2 payment=0");
    const struct tpcc_state *tpcc = solo.state;
    add(&solo, tpcc->district, 13, 7);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC, "warehouse 2 took in 300000, its districts 300007 together");
    add(&solo, tpcc->district, 14, -7);
    solo_expect_audit(&solo, AUDIT_OK, LEVEL_RC, "");
    add(&solo, tpcc->district, 1, 5);
    add(&solo, tpcc->district, 11, 5);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC, "warehouse 1 took in 300000, its districts 300005 together");
    add(&solo, tpcc->warehouse, 1, 5);
    add(&solo, tpcc->warehouse, 2, 5);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC, "the warehouses took in 600010 instead of 600000");
    solo_put(&solo, tpcc->history, 99, 10);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC,
                      "history adds up to 10 instead of 0; the warehouses took in 600010 instead of 600000");
    solo_close(&solo);
}

/* Nothing happened; then what an order leaves is taken away, or added, bit by bit. */
static void audit_counts_orders(void **state) {
    (void)state;
    struct solo solo;
    solo_open(&solo, "tpcc", "scale=0");
    const struct tpcc_state *tpcc = solo.state;
    int64_t order = tpcc_order_key(tpcc, 3, 11);
    add(&solo, tpcc->district, 4, TPCC_ORDER_ONE);
    solo_expect_audit(
        &solo, AUDIT_BROKEN, LEVEL_RC,
        "the next order of district 4 of warehouse 1 is 12, which is not the one behind its last; orders "
        "are 100 where the districts count 101; 30 orders are to be delivered, from the first to the last "
        "they are 31");
    solo_put(&solo, tpcc->orders, order, 0);
    solo_expect_audit(
        &solo, AUDIT_BROKEN, LEVEL_RC,
        "30 orders are to be delivered, from the first to the last they are 31; orders are 101 instead of "
        "100");
    solo_put(&solo, tpcc->new_orders, tpcc_queue_key(3, 11), 0);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC,
                      "orders are 101 instead of 100; orders to be delivered are 31 instead of 30");
    solo_put(&solo, tpcc->orders, order + 1, 0); /* one too many, one too few */
    solo_put(&solo, tpcc->orders, 99, INT64_MIN);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC,
                      "the next order of district 4 of warehouse 1 is 12, which is not the one behind its last; orders "
                      "are 101 instead of 100; orders to be delivered are 31 instead of 30");
    solo_close(&solo);
    open_and_run(&solo, "scale=0 delivery=0 payment=0 rollback=0");
    tpcc = solo.state;
    int64_t key = tpcc_line_key(tpcc, 2, 11, 1), lines = tpcc->order_lines->committed_rows;
    struct text expected = {0};
    solo_put(&solo, tpcc->order_lines, key, INT64_MIN);
    text_add(&expected, "order lines are %" PRId64 " instead of %" PRId64, lines - 1, lines);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC, text_string(&expected));
    text_free(&expected);
    solo_close(&solo);
}

/* A number missing among those to be delivered, and one delivered twice. */
static void audit_follows_deliveries(void **state) {
    (void)state;
    struct solo solo;
    open_and_run(&solo, "scale=0 payment=0 delivery=2%");
    const struct tpcc_state *tpcc = solo.state;
    int64_t queued = tpcc->new_orders->committed_rows;
    int64_t last = tpcc_next_order(solo_value(&solo, tpcc->district, 1)) - 1;
    struct text expected = {0};
    solo_put(&solo, tpcc->new_orders, tpcc_queue_key(0, last), INT64_MIN);
    text_add(&expected,
             "%" PRId64 " orders are to be delivered, from the first to the last they are %" PRId64
             "; orders to be delivered are %" PRId64 " instead of %" PRId64,
             queued - 1, queued, queued - 1, queued);
    solo_expect_audit(&solo, AUDIT_BROKEN, LEVEL_RC, text_string(&expected));
    text_free(&expected);
    solo_close(&solo);
}

static void audit_finds_lost_updates(void **state) {
    (void)state;
    static const char *const accesses[] = {"scale=0 access=read_write", "scale=0 access=returning", "scale=0"};
    for (int i = 0; i < 3; i++) {
        struct solo solo;
        solo_open(&solo, "tpcc", accesses[i]);
        struct tpcc_state *tpcc = solo.state;
        int level = i == 0 ? LEVEL_SI : LEVEL_RC;
        tpcc->books.credited = 25;
        solo_expect_audit(&solo, AUDIT_BROKEN, level, "the customers' balances add up to -1000 instead of -975");
        add(&solo, tpcc->customer, 17, 25);
        solo_expect_audit(&solo, AUDIT_OK, level, "");
        solo_put(&solo, tpcc->stock, 5, 3 * TPCC_LINE_ONE + 20);
        tpcc->books.quantity = 31;
        tpcc->books.lines = 5;
        tpcc->order_lines->committed_rows += 5;
        solo_expect_audit(&solo, AUDIT_BROKEN, level, "the stock has seen 3 orders of 20 pieces instead of 5 of 31");
        struct workload_audit audit = {0};
        solo.ops->audit(solo.state, &solo.store, &audit);
        assert_true(audit.lost_updates_known && audit.lost_updates == 2);
        text_free(&audit.message);
        add(&solo, tpcc->warehouse, 1, 1); /* the weakest level of what is broken */
        solo.ops->audit(solo.state, &solo.store, &audit);
        assert_int_equal(audit.level, LEVEL_RC);
        text_free(&audit.message);
        solo_close(&solo);
    }
}

TEST_GROUP(tpcc_audit, cmocka_unit_test(every_row_is_consistent),
           cmocka_unit_test(audit_compares_warehouses_and_districts), cmocka_unit_test(audit_counts_orders),
           cmocka_unit_test(audit_follows_deliveries), cmocka_unit_test(audit_finds_lost_updates))
