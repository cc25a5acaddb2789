/* test_smallbank.c - the five programs, by their steps and against a model of the bank that works on plain balances; the
 * books of who was told what; what the audit finds. The notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <inttypes.h>
#include <string.h>

#include "workloads/smallbank_books.h"

#define UNIT INT64_C(67108864) /* of a balance in a row; below it the number of changes */
enum { CUSTOMERS = 6 };

static const char *const weights[] = {"balances", "deposits", "transacts", "amalgamates", "checks"};
static const char *const names[] = {"balance", "deposit_checking", "transact_savings", "amalgamate", "write_check"};

static void open_only(struct rehearsal *world, int type, const char *more) {
    struct text settings = {0};
    text_add(&settings, "customers=6 hot_customers=0 %s", more);
    for (int i = 0; i < 5; i++) {
        text_add(&settings, " %s=%d", weights[i], i == type);
    }
    rehearsal_open(world, "smallbank", text_string(&settings));
    text_free(&settings);
}

/* The first letters of the steps, with the rows. */
static void shape(const char *said, struct text *out) {
    bool inside = false;
    for (; *said != '\0'; said++) {
        inside = (inside || *said == ',') && *said != ')';
        if (!inside) {
            text_add_bytes(out, said, 1);
        }
    }
}

static void steps(void **state) {
    (void)state;
    static const struct {
        int type;
        const char *more, *said, *left;
    } trials[] = {
        {0, "", "r(x) r(y)! c", "2 1 0 0"},
        {1, "", "w(x)! c", "1 0 0"},
        {2, "", "r(x) w(x)! c", "1 1 0 0"},
        {3, "", "r(x) r(y) w(x) w(y) w(z)! c", "3 3 3 2 1 0 0"},
        {4, "", "r(x) r(y) w(y)! c", "2 1 1 0 0"},
        {4, "write_check=promote", "r(x) r(y) w(x) w(y)! c", "2 2 2 1 0 0"},
        {3, "rollback=1", "r(x) r(y) w(x) w(y) w(z)! a", "3 3 3 2 1 0 0"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct rehearsal world;
        struct text said = {0};
        open_only(&world, trials[i].type, trials[i].more);
        shape(rehearsal_next(&world, 1), &said);
        assert_string_equal(text_string(&said), trials[i].said);
        assert_string_equal(text_string(&world.left), trials[i].left);
        assert_int_equal(world.ops->type_of(world.state, world.arguments), trials[i].type);
        assert_string_equal(world.ops->type_name(world.options, (size_t)trials[i].type), names[trials[i].type]);
        assert_int_equal(world.ops->declares(world.state, world.arguments),
                         trials[i].type == 0 ? DECLARES_READ_ONLY : DECLARES_NOTHING);
        text_free(&said);
        rehearsal_close(&world);
    }
}

static int64_t *row(struct rehearsal *world, int table, int64_t customer) {
    return &world->values[rehearsal_place(world, &world->store.tables[table], customer)];
}

/* Balance and number of changes. */
static void expect_row(struct rehearsal *world, int table, int64_t customer, int64_t balance, int64_t count) {
    assert_int_equal(*row(world, table, customer), balance * UNIT + count);
}

/* What a program of that type does to customers who have these balances. Who they are is read off the transcript: a
 * row is known by its place, and checking accounts stand behind the savings. */
static void run_on(struct rehearsal *world, uint64_t number, int64_t savings, int64_t checking, int64_t customer[2]) {
    for (int64_t c = 1; c <= CUSTOMERS; c++) {
        *row(world, 0, c) = savings * UNIT + 7;
        *row(world, 1, c) = checking * UNIT + 9;
    }
    rehearsal_next(world, number);
    int64_t behind = rehearsal_place(world, &world->store.tables[1], 0);
    customer[0] = world->names[0] > behind ? world->names[0] - behind : world->names[0];
    customer[1] = world->names[world->name_count - 1] - behind;
}

static void deposits_and_transfers(void **state) {
    (void)state;
    struct rehearsal world;
    int64_t c[2], least = 0, most = 0, refused = 0;
    open_only(&world, 1, "");
    for (uint64_t n = 1; n <= 2000; n++) {
        run_on(&world, n, 50, -20, c);
        int64_t amount = (*row(&world, 1, c[0]) - 10) / UNIT + 20;
        least = amount < least ? amount : least;
        most = amount > most ? amount : most;
        expect_row(&world, 1, c[0], -20 + amount, 10);
    }
    assert_true(least >= 0 && most == 100);
    rehearsal_close(&world);
    open_only(&world, 2, "");
    least = most = 0;
    for (uint64_t n = 1; n <= 4000; n++) {
        run_on(&world, n, 30, 0, c);
        bool done = rehearsal_ends_with(text_string(&world.said), " c");
        int64_t amount = (*row(&world, 0, c[0]) - 7) / UNIT - 30;
        expect_row(&world, 0, c[0], 30 + amount, done ? 8 : 7);
        assert_true(done == (amount != 0));
        least = amount < least ? amount : least;
        most = amount > most ? amount : most;
        refused += !done;
    }
    assert_true(least == -30 && most == 100); /* nobody falls below zero */
    rehearsal_assert_share(refused, 4000, 0.35);
    rehearsal_close(&world);
}

static void amalgamations(void **state) {
    (void)state;
    struct rehearsal world;
    int64_t c[2];
    open_only(&world, 3, "");
    for (uint64_t n = 1; n <= 500; n++) {
        run_on(&world, n, 30, -50, c);
        assert_int_not_equal(c[0], c[1]);
        expect_row(&world, 0, c[0], 0, 8);
        expect_row(&world, 1, c[0], 0, 10);
        expect_row(&world, 0, c[1], 30, 7);
        expect_row(&world, 1, c[1], -50 - 20, 10);
    }
    rehearsal_close(&world);
}

/* Covered by 40 and 10: cheques up to 50 cost what they say, above 1 more. */
static void cheques(void **state) {
    (void)state;
    for (int promote = 0; promote < 2; promote++) {
        struct rehearsal world;
        int64_t c[2], fifty = 0, over = 0;
        open_only(&world, 4, promote ? "write_check=promote" : "");
        for (uint64_t n = 1; n <= 4000; n++) {
            run_on(&world, n, 40, 10, c);
            int64_t taken = 10 - (*row(&world, 1, c[0]) - 10) / UNIT;
            expect_row(&world, 1, c[0], 10 - taken, 10);
            expect_row(&world, 0, c[0], 40, promote ? 8 : 7);
            assert_true(taken >= 1 && taken <= 101 && taken != 51);
            fifty += taken == 50;
            over += taken > 51;
        }
        rehearsal_assert_share(over, 4000, 0.5);
        rehearsal_assert_share(fifty, 4000, 0.01);
        rehearsal_close(&world);
    }
}

static void draws(void **state) {
    (void)state;
    enum { TRIALS = 20000 };
    struct rehearsal world;
    int64_t type[5] = {0}, hot = 0;
    rehearsal_open(
        &world, "smallbank",
        "customers=50 hot_customers=5 hot_fraction=80% balances=4 deposits=0 transacts=3 amalgamates=2 checks=1");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        rehearsal_next(&world, n);
        type[world.ops->type_of(world.state, world.arguments)]++;
        hot += world.names[0] <= 5;
    }
    rehearsal_assert_share(type[0], TRIALS, 0.4);
    assert_int_equal(type[1], 0);
    rehearsal_assert_share(type[2], TRIALS, 0.3);
    rehearsal_assert_share(type[3], TRIALS, 0.2);
    rehearsal_assert_share(type[4], TRIALS, 0.1);
    rehearsal_assert_share(hot, TRIALS, 0.8);
    rehearsal_close(&world);
    open_only(&world, 3, "hot_customers=1 hot_fraction=1"); /* only one is ever drawn: the one behind is paid */
    assert_true(rehearsal_ends_with(rehearsal_next(&world, 1), " c"));
    assert_int_equal(world.names[0], 1);
    assert_int_equal(world.names[2], rehearsal_place(&world, &world.store.tables[1], 2));
    rehearsal_close(&world);
    static const struct rehearsal_trial refused[] = {
        {"balances=0 deposits=0 transacts=0 amalgamates=0 checks=0",
         "balances, deposits, transacts, amalgamates and checks are all 0: there is nothing to do"},
        {"customers=10 hot_customers=11", "hot_customers = 11 is more than customers = 10"}};
    for (int i = 0; i < 2; i++) {
        assert_false(rehearsal_check(&world, "smallbank", refused[i].options));
        assert_string_equal(text_string(&world.said), refused[i].expected);
        rehearsal_close(&world);
    }
}

/* ---- The books ---- */

/* Savings versions 0 and 1; a cheque that was judged by 0, another that was judged by 1, are checking versions 1 and 2. */
static void contradictions_are_found(void **state) {
    (void)state;
    static const struct {
        struct told told;
        bool contradicts;
    } cases[] = {{{0, 0}, false}, {{0, 1}, false}, {{1, 1}, false}, {{1, 2}, false}, {{1, 0}, true}, {{0, 2}, true}};
    static const struct judged cheques[] = {{1, 0, 1}, {2, 1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int told_at = 0; told_at <= 2; told_at++) { /* before both, between, behind */
            struct books books;
            books_open(&books, 2);
            for (int at = 0; at <= 2; at++) {
                if (at == told_at) {
                    books_tell(&books, 1, cases[i].told);
                }
                if (at < 2) {
                    books_judge(&books, 1, cheques[at]);
                }
            }
            bool known = told_at == 2 || cases[i].told.savings > 0; /* the oldest savings are not kept */
            assert_int_equal(books.contradictions > 0, known && cases[i].contradicts);
            books_close(&books);
        }
    }
}

static void customers_have_books_of_their_own(void **state) {
    (void)state;
    struct books books;
    books_open(&books, 2);
    books_tell(&books, 0, (struct told){5, 0});
    books_judge(&books, 1, (struct judged){1, 0, 1});
    assert_int_equal(books.contradictions, 0);
    books_judge(&books, 0, (struct judged){1, 5, 5}); /* wrote savings 5 itself, which was seen without it */
    assert_int_equal(books.contradictions, 1);
    books_close(&books);
}

/* The store's sums, which nobody keeps here. */
static void add_up(struct rehearsal *world) {
    for (int i = 0; i < 2; i++) {
        struct table *table = &world->store.tables[i];
        table->committed_sum = 0;
        for (int64_t c = 1; c <= table->rows; c++) {
            table->committed_sum += *row(world, i, c);
        }
    }
}

static void audit_finds_what_is_missing(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "smallbank", "customers=10 hot_customers=2 balance=100");
    for (uint64_t n = 1; n <= 500; n++) {
        rehearsal_next(&world, n);
    }
    add_up(&world);
    struct workload_audit audit = rehearsal_audit(&world);
    assert_int_equal(audit.verdict, AUDIT_OK);
    assert_int_equal(audit.level, LEVEL_SER);
    world.store.tables[0].committed_sum -= 3 * UNIT;
    audit = rehearsal_audit(&world);
    assert_int_equal(audit.verdict, AUDIT_BROKEN);
    assert_int_equal(audit.level, LEVEL_RR);
    assert_string_equal(text_string(&audit.message),
                        "the savings accounts hold -3 more than was put into them, the checking accounts 0");
    text_free(&audit.message);
    rehearsal_close(&world);
}

/* A cheque, then somebody is told of savings that it was not judged by, but not of the cheque. */
static void audit_finds_the_anomaly(void **state) {
    (void)state;
    for (int promote = 0; promote < 2; promote++) {
        struct rehearsal cheque, balance;
        rehearsal_open(
            &cheque, "smallbank",
            promote ? "customers=2 hot_customers=1 hot_fraction=1 balances=0 deposits=0 transacts=0 amalgamates=0 "
                      "write_check=promote"
                    : "customers=2 hot_customers=1 hot_fraction=1 balances=0 deposits=0 transacts=0 amalgamates=0");
        rehearsal_next(&cheque, 1);
        add_up(&cheque);
        assert_int_equal(rehearsal_audit(&cheque).level, promote ? LEVEL_SI : LEVEL_SER);
        rehearsal_open(&balance, "smallbank",
                       "customers=2 hot_customers=1 hot_fraction=1 deposits=0 transacts=0 amalgamates=0 checks=0");
        *row(&balance, 0, 1) += UNIT + 1;
        rehearsal_next(&balance, 1);
        cheque.ops->committed(cheque.state, balance.arguments, balance.registers);
        struct workload_audit audit = rehearsal_audit(&cheque);
        assert_int_equal(audit.verdict, AUDIT_BROKEN);
        assert_non_null(strstr(text_string(&audit.message),
                               "1 times a cheque and the balances that were told contradict each other"));
        text_free(&audit.message);
        rehearsal_close(&cheque);
        rehearsal_close(&balance);
    }
}

TEST_GROUP(smallbank, cmocka_unit_test(steps), cmocka_unit_test(deposits_and_transfers),
           cmocka_unit_test(amalgamations), cmocka_unit_test(cheques), cmocka_unit_test(draws),
           cmocka_unit_test(contradictions_are_found), cmocka_unit_test(customers_have_books_of_their_own),
           cmocka_unit_test(audit_finds_what_is_missing), cmocka_unit_test(audit_finds_the_anomaly))
