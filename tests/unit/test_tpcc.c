/* test_tpcc.c - the programs of tpcc, step by step. The notation is explained in solo.h. Keys of new rows: an order of district d (from 0) is 2^60 + d 2^27 + its number, a
 * line 2^60 + (d 2^27 + number) 16 + its own; in new_orders d 2^27 + number. With scale = 0 there are 100 items, and 10
 * customers and orders to a district. */
#include "tests/support/solo.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/rehearsal.h"
#include "workloads/tpcc.h"

#define ONLY_NEW_ORDER    "payment=0 order_status=0 delivery=0 stock_level=0 "
#define ONLY_PAYMENT      "payment=1 order_status=0 delivery=0 stock_level=0 "
#define ONLY_ORDER_STATUS "payment=0 order_status=1 delivery=0 stock_level=0 "
#define ONLY_DELIVERY     "payment=0 order_status=0 delivery=1 stock_level=0 "
#define ONLY_STOCK_LEVEL  "payment=0 order_status=0 delivery=0 stock_level=1 "

/* ---- Steps ---- */

static const struct {
    const char *settings, *said, *left;
} first_steps[] = {
    {"scale=0 by_name=0 " ONLY_PAYMENT,
     "w(warehouse 1 +=3186)=1 w(district 6 +=3186)=1 u(customer 51)=1 w(customer 51 :=-3196)=1 "
     "i(history 1099511627777 :=3186)!=1 c",
     "4 3 2 2 1 0 0"},
    {"scale=0 by_name=0 access=read_write " ONLY_PAYMENT,
     "w(warehouse 1 +=3186)=1 w(district 6 +=3186)=1 r(customer 51)=1 w(customer 51 :=-3196)=1 "
     "i(history 1099511627777 :=3186)!=1 c",
     "4 3 2 2 1 0 0"},
    {"scale=0 by_name=0 access=returning " ONLY_PAYMENT,
     "w(warehouse 1 +=3186)=1 w(district 6 +=3186)=1 w(customer 51 +=-3186)=1 i(history 1099511627777 :=3186)!=1 c",
     "4 3 2 1 0 0"},
    {"scale=0 by_name=1 " ONLY_PAYMENT,
     "w(warehouse 1 +=3186)=1 w(district 6 +=3186)=1 u(customer 57..60)=4 w(customer 58 :=-3196)=1 "
     "i(history 1099511627777 :=3186)!=1 c",
     "4 3 2 2 1 0 0"},
    {"scale=0 by_name=1 access=returning " ONLY_PAYMENT,
     "w(warehouse 1 +=3186)=1 w(district 6 +=3186)=1 q(customer 57..60)=4 w(customer 58 +=-3186)=1 "
     "i(history 1099511627777 :=3186)!=1 c",
     "4 3 2 2 1 0 0"},
    {"scale=0 by_name=1 " ONLY_ORDER_STATUS,
     "q(customer 57..60)=4 q(customer_orders 7650410496..7784628223):1=0 r(orders 53)=1 q(order_lines 521..530)!=10 c",
     "13 12 11 10 0 0"},
    {"scale=0 by_name=0 access=read_write " ONLY_ORDER_STATUS,
     "r(customer 51)=1 q(customer_orders 6710886400..6845104127):1=0 r(orders 60)=1 q(order_lines 591..600)!=10 c",
     "13 12 11 10 0 0"},
};

static void steps_by_type(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof first_steps / sizeof first_steps[0]; i++) {
        struct solo solo;
        solo_open(&solo, "tpcc", first_steps[i].settings);
        assert_string_equal(solo_next(&solo, 1), first_steps[i].said);
        assert_string_equal(text_string(&solo.left), first_steps[i].left);
        solo_close(&solo);
    }
}

/* District 6's order 11, of its customer 51: 6 lines. Two of them are of item 67, whose second one finds what the first
 * left. The header's rows are 6, then come 3 to a line. */
static void steps_of_a_new_order(void **state) {
    (void)state;
    static const char header[] = "r(warehouse 1)=1 r(customer 51)=1 %s=1 i(orders 1152921505277935627 :=67072)=1 "
                                 "i(new_orders 671088651 :=0)=1 i(customer_orders 6845104116 :=11)=1 ";
    static const char *const trials[][4] = {
        {"for_update", "u(district 6)=1 w(district 6 +=68719476736)",
         "u(stock 67)=1 w(stock 67 :=8589934603)=1 i(order_lines 1152921515344265397 :=4392192)!=1 c",
         "24 23 22 22 21 20 19 18 17 17 16 15 14 14 13 12 11 11 10 9 8 8 7 6 5 5 4 3 2 2 1 0 0"},
        {"read_write", "r(district 6)=1 w(district 6 +=68719476736)",
         "r(stock 67)=1 w(stock 67 :=8589934603)=1 i(order_lines 1152921515344265397 :=4392192)!=1 c",
         "24 23 22 22 21 20 19 18 17 17 16 15 14 14 13 12 11 11 10 9 8 8 7 6 5 5 4 3 2 2 1 0 0"},
        {"returning", "w(district 6 +=68719476736)",
         "w(stock 67 +=4294967301)=1 i(order_lines 1152921515344265397 :=4392192)!=1 c",
         "24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0 0"},
    };
    for (size_t i = 0; i < 3; i++) {
        struct solo solo;
        struct text settings = {0}, expected = {0};
        text_add(&settings, ONLY_NEW_ORDER "scale=0 rollback=0 access=%s", trials[i][0]);
        solo_open(&solo, "tpcc", text_string(&settings));
        const char *said = solo_next(&solo, 1), *place = strstr(header, "%s");
        text_add_bytes(&expected, header, (size_t)(place - header));
        text_add(&expected, "%s%sr(item 69)=1 ", trials[i][1], place + 2);
        assert_memory_equal(said, text_string(&expected), expected.length);
        assert_true(rehearsal_ends_with(said, trials[i][2]));
        assert_int_equal(rehearsal_count_of(said, "i(order_lines "), 6);
        assert_string_equal(text_string(&solo.left), trials[i][3]);
        text_free(&settings);
        text_free(&expected);
        solo_close(&solo);
    }
}

/* The last item does not exist, in any order of lines; nothing of the order is left. */
static void rolled_back_orders(void **state) {
    (void)state;
    static const char *const settings[] = {"scale=0 rollback=1 " ONLY_NEW_ORDER,
                                           "scale=0 rollback=1 order=by_key access=returning " ONLY_NEW_ORDER};
    for (size_t i = 0; i < 2; i++) {
        struct solo solo;
        solo_open(&solo, "tpcc", settings[i]);
        const struct tpcc_state *tpcc = solo.state;
        for (uint64_t n = 1; n <= 50; n++) {
            assert_true(rehearsal_ends_with(solo_next(&solo, n), " r(item 101)=0 a"));
        }
        assert_int_equal(tpcc->orders->committed_rows, 100);
        assert_int_equal(tpcc->stock->committed_sum, 0);
        assert_int_equal(solo_value(&solo, tpcc->district, 6), 11 * TPCC_ORDER_ONE + TPCC_DISTRICT_YTD);
        solo_close(&solo);
    }
}

static void steps_of_a_delivery(void **state) {
    (void)state;
    static const char *const trials[][3] = {
        {"for_update",
         "u(new_orders 0..134217727):1=1 d(new_orders 8)=1 u(orders 8)=1 w(orders 8 +=8)=1 "
         "w(order_lines 71..80 +=1)=10 w(customer 3 +=47334)=1 u(new_orders 134217728..268435455):1=1 ",
         "130 130 129 129 128 118 117 117 "},
        {"read_write",
         "q(new_orders 0..134217727):1=1 d(new_orders 8)=1 r(orders 8)=1 w(orders 8 +=8)=1 "
         "w(order_lines 71..80 +=1)=10 w(customer 3 +=47334)=1 q(new_orders 134217728..268435455):1=1 ",
         "130 130 129 129 128 118 117 117 "},
        {"returning",
         "d(new_orders 0..134217727):1=1 w(orders 8 +=8)=1 w(order_lines 71..80 +=1)=10 w(customer 3 +=47334)=1 "
         "d(new_orders 134217728..268435455):1=1 ",
         "130 130 128 118 117 117 "},
    };
    for (size_t i = 0; i < 3; i++) {
        struct solo solo;
        struct text settings = {0};
        text_add(&settings, ONLY_DELIVERY "scale=0 access=%s", trials[i][0]);
        solo_open(&solo, "tpcc", text_string(&settings));
        const char *said = solo_next(&solo, 1);
        assert_memory_equal(said, trials[i][1], strlen(trials[i][1]));
        assert_memory_equal(text_string(&solo.left), trials[i][2], strlen(trials[i][2]));
        assert_true(rehearsal_ends_with(said, ")!=1 c") && rehearsal_count_of(said, "!") == 1);
        assert_int_equal(rehearsal_count_of(said, "w(customer "), TPCC_DISTRICTS);
        solo_next(&solo, 2);
        solo_next(&solo, 3); /* all 3 of each district are delivered */
        said = solo_next(&solo, 4);
        assert_int_equal(rehearsal_count_of(said, "):1=0"), TPCC_DISTRICTS);
        assert_int_equal(rehearsal_count_of(said, " "), 2 * TPCC_DISTRICTS); /* nothing else */
        text_free(&settings);
        solo_close(&solo);
    }
}

/* What is delivered is the oldest; another was faster between the two statements: the district is passed over. */
static void deliveries_look_at_what_they_find(void **state) {
    (void)state;
    struct solo solo;
    solo_open(&solo, "tpcc", "scale=0 access=read_write " ONLY_DELIVERY);
    const struct tpcc_state *tpcc = solo.state;
    solo_put(&solo, tpcc->new_orders, 8, INT64_MIN);
    assert_non_null(strstr(solo_next(&solo, 1), "d(new_orders 9)=1 r(orders 9)=1 "));
    struct tpcc_registers r = {.stage = 2, .order = 9}; /* DELETED */
    struct step step;
    solo.ops->next(solo.state, solo.arguments, &r, &(struct reply){.count = 0}, &step);
    assert_true(step.kind == STEP_SELECT && step.table == tpcc->new_orders && r.at == 1);
    for (uint8_t stage = 3; stage <= 4; stage++) { /* ORDER, CARRIER: there is no such order */
        r = (struct tpcc_registers){.stage = stage, .order = 9, .at = 9};
        solo.ops->next(solo.state, solo.arguments, &r, &(struct reply){.count = 0}, &step);
        assert_true(step.kind == STEP_COMMIT && r.deliveries == 0);
    }
    solo_close(&solo);
}

/* The keys of a statement of several, as a transcript says them: the first, and whether they rise. */
static int64_t keys_of(const char *said, int64_t *count) {
    int64_t first = strtoll(said, NULL, 10), last = first;
    for (*count = 1; (said = strpbrk(said, ",)")) != NULL && *said == ','; ++*count) {
        int64_t key = strtoll(++said, NULL, 10);
        assert_true(key > last);
        last = key;
    }
    return first;
}

/* District 1's last 20 orders: those of the start, 100 lines, until there are new ones, then both, then new ones alone. */
static void stock_levels_look_at_twenty_orders(void **state) {
    (void)state;
    struct solo solo;
    solo_open(&solo, "tpcc", "scale=0 rollback=0 stock_level=50% delivery=0 payment=0 order_status=0");
    const struct tpcc_state *tpcc = solo.state;
    int both = 0, only_new = 0;
    for (uint64_t n = 1; n <= 1000; n++) {
        int64_t orders = tpcc_next_order(solo_value(&solo, tpcc->district, 1)) - 1, old = 0, count = 0;
        const char *said = solo_next(&solo, n), *stock = strstr(said, "r(stock ");
        if (strncmp(said, "r(district", 10) != 0) {
            continue;
        }
        old = orders > 20 ? 30 - orders : 10; /* of the 10 orders that were there */
        old = old < 0 ? 0 : old;
        struct text expected = {0};
        text_add(&expected, "r(district 1)=1 q(order_lines ");
        if (old > 0) {
            text_add(&expected, "%d..100)=%d ", (int)(101 - 10 * old), (int)(10 * old));
        }
        both += old > 0 && orders > 10;
        only_new += old == 0;
        assert_memory_equal(said, text_string(&expected), expected.length);
        assert_int_equal(rehearsal_count_of(said, "q(order_lines "), old > 0 && orders > 10 ? 2 : 1);
        assert_in_range(keys_of(stock + 8, &count), 1, 100);
        struct text end = {0};
        text_add(&end, ")!=%d c", (int)count); /* each of the keys is a row */
        assert_true(rehearsal_ends_with(said, text_string(&end)));
        text_free(&end);
        text_free(&expected);
    }
    assert_true(both > 3 && only_new > 100);
    solo_close(&solo);
}

/* S_QUANTITY as clause 2.4.2.2 has it: 91 are added where it would fall below 10; Stock-Level counts what is short. */
static void quantities_follow_the_rule(void **state) {
    (void)state;
    int64_t low = 0;
    for (int64_t key = 1; key <= 1000; key++) {
        int64_t quantity = tpcc_quantity(key, 0), stock = 0;
        assert_in_range(quantity, 10, 100);
        low += quantity < 15;
        for (int64_t i = 0; i < 100; i++) {
            int64_t ordered = 1 + (key * 7 + i * 3) % 10;
            quantity = quantity - ordered >= 10 ? quantity - ordered : quantity - ordered + 91;
            stock += TPCC_LINE_ONE + ordered;
            assert_int_equal(tpcc_quantity(key, stock), quantity);
        }
    }
    rehearsal_assert_share(low, 1000, 5.0 / 91);
    struct solo solo;
    solo_open(&solo, "tpcc", "scale=0 " ONLY_STOCK_LEVEL);
    for (uint64_t n = 1; n <= 20; n++) {
        int64_t count = 0, expected = 0;
        const char *said = solo_next(&solo, n);
        const struct tpcc_registers *r = solo.registers;
        const struct tpcc_arguments *a = solo.arguments;
        keys_of(strstr(said, "r(stock ") + 8, &count);
        for (int64_t i = 0; i < count; i++) {
            expected += tpcc_quantity(r->sold[i], 0) < a->threshold;
        }
        assert_int_equal(r->low, expected);
    }
    solo_close(&solo);
}

/* After a new order, it is the customer's last one. */
static void the_last_order_is_found(void **state) {
    (void)state;
    struct solo solo;
    solo_open(&solo, "tpcc", "scale=0 rollback=0 by_name=0 order_status=50% payment=0 delivery=0 stock_level=0");
    const struct tpcc_state *tpcc = solo.state;
    int64_t last[100];
    int found = 0;
    for (int64_t i = 0; i < 100; i++) {
        last[i] = 1 + tpcc->order_of_customer[i % 10];
    }
    for (uint64_t n = 1; n <= 500; n++) {
        const char *said = solo_next(&solo, n);
        const struct tpcc_arguments *a = solo.arguments;
        const struct tpcc_registers *r = solo.registers;
        int64_t *of_customer = &last[a->district * 10 + a->customer];
        if (a->type == TPCC_NEW_ORDER) {
            *of_customer = r->order;
        } else {
            struct text expected = {0};
            int64_t key = tpcc_order_key(tpcc, a->district, *of_customer);
            text_add(&expected, " r(orders %lld)=1 ", (long long)key);
            assert_contains(said, text_string(&expected));
            found += *of_customer > 10;
            text_free(&expected);
        }
    }
    assert_true(found > 100);
    solo_close(&solo);
}

/* ---- Errors ---- */

/* A statement that fails, the commit included, makes the program roll back, wherever it was; a New-Order whose number was
 * used tries again. */
static void errors_roll_back(void **state) {
    (void)state;
    struct solo solo;
    int commits = 0;
    solo_open(&solo, "tpcc", "scale=0 rollback=0 payment=20% order_status=20% delivery=20% stock_level=20%");
    for (uint64_t n = 1; n <= 40; n++) {
        solo_draw(&solo, 1, n);
        const struct tpcc_arguments *a = solo.arguments;
        for (solo.fail_at = 0;; solo.fail_at++) {
            solo.fails_for = solo.fail_at % 2 == 0 ? REASON_TIMEOUT : REASON_DUPLICATE;
            bool retries = solo.fails_for == REASON_DUPLICATE && a->type == TPCC_NEW_ORDER;
            const char *said = solo_run(&solo);
            if (rehearsal_ends_with(said, " c")) {
                break;
            }
            commits += strstr(said, " c ") != NULL;
            assert_true(rehearsal_ends_with(said, retries ? " x" : " a"));
        }
    }
    assert_int_equal(commits, 40);
    solo_close(&solo);
    solo_open(&solo, "tpcc", "scale=0 rollback=0 " ONLY_NEW_ORDER);
    const struct tpcc_state *tpcc = solo.state;
    solo_put(&solo, tpcc->orders, tpcc_order_key(tpcc, 5, 11), 0);
    assert_true(rehearsal_ends_with(solo_next(&solo, 1), "i(orders 1152921505277935627 :=67072)=e x"));
    solo_close(&solo);
}

TEST_GROUP(tpcc, cmocka_unit_test(steps_by_type), cmocka_unit_test(steps_of_a_new_order),
           cmocka_unit_test(rolled_back_orders), cmocka_unit_test(steps_of_a_delivery),
           cmocka_unit_test(deliveries_look_at_what_they_find), cmocka_unit_test(stock_levels_look_at_twenty_orders),
           cmocka_unit_test(quantities_follow_the_rule), cmocka_unit_test(the_last_order_is_found),
           cmocka_unit_test(errors_roll_back))
