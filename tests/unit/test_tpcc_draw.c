/* test_tpcc_draw.c - what tpcc draws, by which chances, and what there is at the start. */
#include <string.h>

#include "tests/support/fit.h"
#include "tests/support/gsl_stream.h"
#include "tests/support/rehearsal.h"
#include "tests/support/solo.h"
#include "workloads/tpcc.h"

#define ONLY_NEW_ORDER "payment=0 order_status=0 delivery=0 stock_level=0 "
#define ONLY_PAYMENT   "payment=1 order_status=0 delivery=0 stock_level=0 "

/* How often each number is expected in `draws`, by the bits: all values of the small range, which has all combinations of
 * its bits, are ored with a number of the large one, and each bit of that which is not set is a coin. */
static void expect_nurand(const struct nurand *nurand, double draws, double *expected) {
    memset(expected, 0, nurand->n * sizeof *expected);
    for (uint64_t large = nurand->x; large < nurand->x + nurand->n; large++) {
        uint64_t free_bits = nurand->a & ~large, subset = free_bits;
        double each = draws / (double)nurand->n / (double)(UINT64_C(1) << __builtin_popcountll(free_bits));
        do {
            expected[((large | subset) + nurand->c) % nurand->n] += each;
            subset = (subset - 1) & free_bits;
        } while (subset != free_bits);
    }
}

static void nurand_is_exact(void **state) {
    (void)state;
    enum { DRAWS = 1000000, LARGEST = 100000 };
    static const struct nurand trials[] = {
        {255, 0, 1000, 123}, {1023, 1, 3000, 77}, {8191, 1, 100000, 5000}, {1, 1, 10, 1}, {63, 1, 1000, 0}};
    double *expected = mem_new(LARGEST, sizeof *expected);
    uint64_t *observed = mem_new(LARGEST, sizeof *observed);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct stream stream = test_stream(50 + i);
        expect_nurand(&trials[i], DRAWS, expected);
        memset(observed, 0, LARGEST * sizeof *observed);
        for (int draw = 0; draw < DRAWS; draw++) {
            uint64_t k = nurand_draw(&trials[i], &stream);
            assert_true(k < trials[i].n);
            observed[k]++;
        }
        assert_true(fit_chi_square(observed, expected, trials[i].n) > FIT_P);
    }
    mem_free(expected);
    mem_free(observed);
}

struct shares {
    int64_t types[TPCC_TYPES], by_name, fails, remote_payments, lines, remote_lines, quantity;
};

static void count_shares(const struct tpcc_arguments *a, struct shares *s) {
    s->types[a->type]++;
    switch ((enum tpcc_type)a->type) {
    case TPCC_NEW_ORDER:
        s->fails += a->fails;
        s->lines += a->line_count;
        assert_in_range(a->line_count, 5, 15);
        for (int i = 0; i < a->line_count; i++) {
            s->remote_lines += a->lines[i].supplier != a->warehouse;
            s->quantity += a->lines[i].quantity;
            assert_in_range(a->lines[i].quantity, 1, 10);
            assert_in_range(a->lines[i].item, 0, a->fails && i == a->line_count - 1 ? 1000 : 999);
        }
        break;
    case TPCC_PAYMENT:
        s->by_name += a->by_name;
        s->remote_payments += a->customer_district / TPCC_DISTRICTS != a->warehouse;
        assert_in_range(a->amount, 1, 5000);
        assert_true(a->customer_district == a->district || a->customer_district / TPCC_DISTRICTS != a->warehouse);
        break;
    case TPCC_ORDER_STATUS: s->by_name += a->by_name; break;
    case TPCC_DELIVERY: assert_in_range(a->carrier, 1, 10); break;
    case TPCC_STOCK_LEVEL:
    case TPCC_TYPES: assert_in_range(a->threshold, 10, 20); break;
    }
}

static void shares_are_as_specified(void **state) {
    (void)state;
    enum { TRIALS = 40000, WAREHOUSES = 5 };
    struct shares s = {0};
    struct solo solo;
    solo_open(&solo, "tpcc", "scale=1% warehouses=5 rollback=1% stock_level=4%");
    const struct tpcc_arguments *a = solo.arguments;
    for (uint64_t n = 1; n <= TRIALS; n++) {
        uint64_t terminal = 1 + n % 60;
        solo_draw(&solo, terminal, n);
        count_shares(a, &s);
        assert_int_equal(a->warehouse, (terminal - 1) % WAREHOUSES);
        assert_int_equal(a->district / TPCC_DISTRICTS, a->warehouse);
        assert_true(a->type != TPCC_STOCK_LEVEL ||
                    a->district % TPCC_DISTRICTS == (terminal - 1) / WAREHOUSES % TPCC_DISTRICTS);
    }
    static const double expected[] = {.45, .43, .04, .04, .04};
    for (int type = 0; type < TPCC_TYPES; type++) {
        rehearsal_assert_share(s.types[type], TRIALS, expected[type]);
    }
    rehearsal_assert_share(s.by_name, s.types[TPCC_PAYMENT] + s.types[TPCC_ORDER_STATUS], .6);
    rehearsal_assert_share(s.fails, s.types[TPCC_NEW_ORDER], .01);
    rehearsal_assert_share(s.remote_payments, s.types[TPCC_PAYMENT], .15);
    rehearsal_assert_share(s.remote_lines, s.lines, .01);
    assert_near((double)s.lines / (double)s.types[TPCC_NEW_ORDER], 10, .15);
    assert_near((double)s.quantity / (double)s.lines, 5.5, .05);
    int64_t at_first = 0;
    for (uint64_t n = 1; n <= 10000; n++) {
        solo_draw(&solo, 0, n);
        at_first += a->warehouse == 0;
    }
    rehearsal_assert_share(at_first, 10000, 1.0 / WAREHOUSES);
    solo_close(&solo);
}

/* A share changes nothing but what it decides: not the customer, nor the lines. */
static void arguments_depend_on_the_key_alone(void **state) {
    (void)state;
    struct solo one, other;
    solo_open(&one, "tpcc", "scale=2% warehouses=3 by_name=0 remote_lines=0");
    solo_open(&other, "tpcc", "scale=2% warehouses=3 by_name=0 remote_lines=0 remote_payments=1 rollback=0");
    memset(other.arguments, 0xff, other.ops->arguments_size); /* what an earlier transaction left */
    for (uint64_t n = 1; n <= 300; n++) {
        solo_draw(&one, 3, n);
        solo_draw(&other, 3, n);
        const struct tpcc_arguments *a = one.arguments, *b = other.arguments;
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->district, b->district);
        if (a->type == TPCC_NEW_ORDER && !a->fails) {
            assert_int_equal(a->customer, b->customer);
            for (int i = 0; i < a->line_count; i++) {
                assert_int_equal(a->lines[i].item, b->lines[i].item);
                assert_int_equal(a->lines[i].quantity, b->lines[i].quantity);
            }
        } else if (a->type == TPCC_PAYMENT) {
            assert_true(a->customer == b->customer && a->amount == b->amount && a->history == b->history);
            assert_true(b->customer_district / TPCC_DISTRICTS != b->warehouse);
        }
        solo_draw(&other, 4, n);
    }
    solo_close(&one);
    solo_close(&other);
}

/* With order = by_key the same lines, by warehouse and item. */
static void lines_are_sorted(void **state) {
    (void)state;
    struct solo drawn, sorted;
    solo_open(&drawn, "tpcc", "scale=1% warehouses=3 remote_lines=50% rollback=0 " ONLY_NEW_ORDER);
    solo_open(&sorted, "tpcc", "scale=1% warehouses=3 remote_lines=50% rollback=0 order=by_key " ONLY_NEW_ORDER);
    for (uint64_t n = 1; n <= 200; n++) {
        solo_draw(&drawn, 1, n);
        solo_draw(&sorted, 1, n);
        const struct tpcc_arguments *a = drawn.arguments, *b = sorted.arguments;
        int64_t sum = 0, previous = -1;
        for (int i = 0; i < a->line_count; i++) {
            int64_t key = tpcc_stock_key(sorted.state, b->lines[i].supplier, b->lines[i].item);
            assert_true(key >= previous);
            previous = key;
            sum += tpcc_stock_key(drawn.state, a->lines[i].supplier, a->lines[i].item) * a->lines[i].quantity -
                   key * b->lines[i].quantity;
        }
        assert_int_equal(sum, 0);
        assert_int_equal(a->line_count, b->line_count);
    }
    solo_close(&drawn);
    solo_close(&sorted);
}

/* In the specification's seconds; the exponential ones have their mean, less what is cut off: 1 - e^-10. */
static void terminals_pause(void **state) {
    (void)state;
    static const double keying[] = {18, 3, 2, 2, 2}, thinking[] = {12, 12, 10, 5, 5};
    enum { TRIALS = 20000 };
    struct solo solo;
    solo_open(&solo, "tpcc", "scale=0 keying_time=18s think_time=12s");
    struct stream stream = test_stream(3);
    for (int type = 0; type < TPCC_TYPES; type++) {
        struct tpcc_arguments *a = solo.arguments;
        double sum = 0, most = 0;
        a->type = (uint8_t)type;
        for (int i = 0; i < TRIALS; i++) {
            double seconds = (double)solo.ops->pause(solo.state, a, &stream) / 1e9 - keying[type];
            assert_true(seconds >= 0);
            sum += seconds;
            most = seconds > most ? seconds : most;
        }
        assert_near(sum / TRIALS, thinking[type], 5 * thinking[type] / 141);
        assert_true(most <= 10 * thinking[type]);
    }
    solo_close(&solo);
}

/* ---- At the start ---- */

static void start_is_as_specified(void **state) {
    (void)state;
    static const struct {
        const char *table;
        int64_t rows;
    } tables[] = {{"warehouse", 2},        {"district", 20},  {"customer", 60000},    {"item", 100000},
                  {"stock", 200000},       {"orders", 60000}, {"customer_orders", 0}, {"new_orders", 18000},
                  {"order_lines", 600000}, {"history", 0}};
    struct solo solo;
    solo_open(&solo, "tpcc", "warehouses=2");
    const struct tpcc_state *tpcc = solo.state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        assert_string_equal(solo.store.tables[i].name, tables[i].table);
        assert_int_equal(solo.store.tables[i].committed_rows, tables[i].rows);
    }
    assert_true(tpcc->draw_item.a == 8191 && tpcc->draw_customer.a == 1023 && tpcc->draw_name.a == 255);
    assert_int_equal(tpcc->first_of_name[1000], 3000);
    bool is_place[3000] = {0};
    for (int i = 0; i < 3000; i++) {
        is_place[tpcc->place_of_id[i]] = true;
        assert_int_equal(tpcc->order_of_customer[tpcc->customer_of_order[i]], i);
        assert_true(i >= 1000 || (tpcc->place_of_id[i] >= tpcc->first_of_name[i] &&
                                  tpcc->place_of_id[i] < tpcc->first_of_name[i + 1])); /* name i is customer i's */
    }
    for (int i = 0; i < 3000; i++) {
        assert_true(is_place[i]);
    }
    solo_close(&solo);
    solo_open(&solo, "tpcc", "scale=1%");
    tpcc = solo.state;
    assert_true(tpcc->items == 1000 && tpcc->customers == 30 && tpcc->names == 10 && tpcc->undelivered == 9);
    assert_true(tpcc->draw_item.a == 63 && tpcc->draw_customer.a == 7 && tpcc->draw_name.a == 1);
    solo_close(&solo);
}

/* A Payment knows what it will do, and does it. */
static void payments_tell_their_footprint(void **state) {
    (void)state;
    struct rehearsal world;
    assert_true(rehearsal_check(&world, "tpcc", ONLY_PAYMENT));
    assert_true(workload_plans(world.ops, world.options));
    rehearsal_close(&world);
    assert_true(rehearsal_check(&world, "tpcc", ""));
    assert_false(workload_plans(world.ops, world.options));
    rehearsal_close(&world);
    static const char letters[] = {
        [PLANNED_READ] = 'q', [PLANNED_LOCK] = 'u', [PLANNED_WRITE] = 'w', [PLANNED_INSERT] = 'i'};
    static const char *const accesses[] = {"for_update", "read_write", "returning"};
    for (int i = 0; i < 3; i++) {
        struct solo solo;
        struct text settings = {0};
        text_add(&settings, ONLY_PAYMENT "scale=1%% warehouses=2 access=%s", accesses[i]);
        solo_open(&solo, "tpcc", text_string(&settings));
        for (uint64_t n = 1; n <= 100; n++) {
            struct planned items[8];
            const char *said = solo_next(&solo, n);
            size_t count = solo.ops->plan(solo.state, solo.arguments, items, 8);
            assert_int_equal(count, ((const struct tpcc_arguments *)solo.arguments)->by_name ? 5 : 4);
            for (size_t k = 0; k < count; k++) {
                struct text part = {0};
                text_add(&part, "%c(%s %lld%s", letters[items[k].use], items[k].table->name, (long long)items[k].key,
                         items[k].scan ? ".." : " ");
                assert_contains(said, text_string(&part));
                text_free(&part);
            }
        }
        text_free(&settings);
        solo_close(&solo);
    }
}

static void senseless_options_are_refused(void **state) {
    (void)state;
    struct rehearsal world;
    assert_false(rehearsal_check(&world, "tpcc", "payment=90% delivery=5% stock_level=5%"));
    assert_string_equal(text_string(&world.said),
                        "payment, order_status, delivery and stock_level are more than 100% together");
    rehearsal_close(&world);
    assert_true(rehearsal_check(&world, "tpcc", "payment=88%"));
    rehearsal_close(&world);
}

TEST_GROUP(tpcc_draw, cmocka_unit_test(nurand_is_exact), cmocka_unit_test(shares_are_as_specified),
           cmocka_unit_test(arguments_depend_on_the_key_alone), cmocka_unit_test(lines_are_sorted),
           cmocka_unit_test(terminals_pause), cmocka_unit_test(start_is_as_specified),
           cmocka_unit_test(payments_tell_their_footprint), cmocka_unit_test(senseless_options_are_refused))
