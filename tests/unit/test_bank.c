/* test_bank.c - transfers and audits: the steps of each form of access, refused overdrafts, the total, and what the
 * audit finds. The notation is explained in rehearsal.h. */
#include "tests/support/rehearsal.h"

#include <string.h>

/* Every transfer in all its forms; the seed's first one moves a known amount. */
static void steps(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "bank", "access=increment");
    rehearsal_next(&world, 1);
    int64_t paid = 1000 - world.values[world.names[0]];
    assert_in_range(paid, 1, 100);
    rehearsal_close(&world);
    static const struct rehearsal_trial formats[] = {
        {"", "u(x) u(y) w(x,%d) w(y,%d)! c"},
        {"app_time=1ms", "u(x) u(y) think w(x,%d) w(y,%d)! c"},
        {"access=read_write", "r(x) r(y) w(x,%d) w(y,%d)! c"},
        {"access=read_write app_time=1ms overdraft=refused", "r(x) r(y) think w(x,%d) w(y,%d)! c"},
        {"rollback=1", "u(x) u(y) w(x,%d) w(y,%d)! a"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct text expected = {0};
        const char *first = strstr(formats[i].expected, "%d"), *second = strstr(first + 2, "%d");
        text_add_bytes(&expected, formats[i].expected, (size_t)(first - formats[i].expected));
        text_add(&expected, "%d", (int)(1000 - paid));
        text_add_bytes(&expected, first + 2, (size_t)(second - first - 2));
        text_add(&expected, "%d%s", (int)(1000 + paid), second + 2);
        rehearsal_open(&world, "bank", formats[i].options);
        assert_string_equal(rehearsal_next(&world, 1), text_string(&expected));
        rehearsal_close(&world);
        text_free(&expected);
    }
    static const struct rehearsal_trial audits[] = {{"audit_fraction=100%", "q(1..1000)! c"},
                                                    {"audit_fraction=1 rows=2 rollback=1", "q(1..2)! a"}};
    REHEARSAL_TRIALS("bank", 0, audits);
}

/* Accounts that hold nothing: every transfer is refused. By id, a source with the higher id is reached second. */
static void refuses_overdrafts(void **state) {
    (void)state;
    static const char *const settings[] = {"overdraft=refused", "overdraft=refused access=read_write app_time=1s",
                                           "overdraft=refused access=increment",
                                           "overdraft=refused access=increment order=by_id"};
    for (size_t i = 0; i < 4; i++) {
        struct rehearsal world;
        int second = 0;
        rehearsal_open(&world, "bank", settings[i]);
        for (uint64_t n = 1; n <= 200; n++) {
            memset(world.values, 0, 1001 * sizeof *world.values);
            const char *said = rehearsal_next(&world, n);
            assert_true(rehearsal_ends_with(said, " a"));
            assert_int_equal(rehearsal_count_of(said, ",if>="), i >= 2);
            assert_int_equal(rehearsal_count_of(said, "think"), 0);
            second += strstr(said, "w(y,+=-") != NULL;
        }
        assert_true(i == 3 ? second > 50 && second < 150 : second == 0);
        rehearsal_close(&world);
    }
}

/* One after another, transfers conserve the total under every option, and no balance falls below zero if refused. */
static void conserves_the_total(void **state) {
    (void)state;
    static const char *const accesses[] = {"for_update", "read_write", "increment"};
    for (int i = 0; i < 12; i++) {
        struct text settings = {0};
        text_add(&settings, "rows=5 audit_fraction=0.2 access=%s order=%s overdraft=%s theta=%s", accesses[i % 3],
                 i % 2 == 0 ? "random" : "by_id", i < 6 ? "refused" : "allowed", i % 4 == 0 ? "1.5" : "0");
        struct rehearsal world;
        rehearsal_open(&world, "bank", text_string(&settings));
        int64_t poorest = 0;
        for (uint64_t n = 1; n <= 5000; n++) {
            rehearsal_next(&world, n);
            assert_int_equal(rehearsal_sum(&world), 5000);
            for (int64_t key = 1; key <= 5; key++) {
                poorest = world.values[key] < poorest ? world.values[key] : poorest;
            }
        }
        assert_true(i < 6 ? poorest == 0 : poorest < 0);
        struct workload_audit audit = rehearsal_audit(&world);
        assert_int_equal(audit.verdict, AUDIT_OK);
        assert_false(audit.lost_updates_known);
        rehearsal_close(&world);
        text_free(&settings);
    }
}

static void draws(void **state) {
    (void)state;
    enum { TRIALS = 40000 };
    struct rehearsal world, ordered, skewed;
    rehearsal_open(&world, "bank", "access=increment rows=50 audit_fraction=10%");
    rehearsal_open(&ordered, "bank", "access=increment rows=50 audit_fraction=10% order=by_id");
    rehearsal_open(&skewed, "bank", "access=increment rows=5 theta=1");
    int64_t audits = 0, most = 0, rising = 0, first_is_one = 0;
    for (uint64_t n = 1; n <= TRIALS; n++) {
        world.values[1] = 0;
        const char *said = rehearsal_next(&world, n);
        bool is_audit = said[0] == 'q';
        assert_int_equal(rehearsal_next(&ordered, n)[0] == 'q', is_audit);
        audits += is_audit;
        if (!is_audit) {
            assert_int_equal(world.name_count, 2);
            rising += world.names[0] < world.names[1];
            assert_true(ordered.names[0] < ordered.names[1]);
            assert_int_equal(world.names[0] + world.names[1], ordered.names[0] + ordered.names[1]);
            most += strstr(said, "+=100)") != NULL;
        }
        rehearsal_next(&skewed, n);
        assert_int_equal(skewed.name_count, 2);
        first_is_one += skewed.names[0] == 1;
    }
    rehearsal_assert_share(audits, TRIALS, 0.1);
    rehearsal_assert_share(rising, TRIALS - audits, 0.5);
    rehearsal_assert_share(most, TRIALS - audits, 0.01);
    rehearsal_assert_share(first_is_one, TRIALS, 60.0 / 137); /* as above */
    rehearsal_close(&world);
    rehearsal_close(&ordered);
    rehearsal_close(&skewed);
}

static void expect_bank_audit(struct rehearsal *world, enum level level, const char *message) {
    struct workload_audit audit = rehearsal_audit(world);
    assert_int_equal(audit.verdict, AUDIT_BROKEN);
    assert_int_equal(audit.level, level);
    assert_string_equal(text_string(&audit.message), message);
    text_free(&audit.message);
}

static void audit_finds_what_is_missing(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "bank", "rows=10 audit_fraction=1 access=increment");
    rehearsal_next(&world, 1);
    assert_int_equal(rehearsal_audit(&world).verdict, AUDIT_OK);
    world.values[3] -= 7; /* an audit in the middle of a transfer */
    rehearsal_next(&world, 2);
    world.values[3] -= 1;
    rehearsal_next(&world, 3);
    expect_bank_audit(&world, LEVEL_SI,
                      "2 of 3 committed audits saw a wrong total, the first one 9993 instead of 10000");
    world.store.tables[0].committed_sum = 10001;
    expect_bank_audit(&world, LEVEL_RC,
                      "the accounts hold 10001 in all instead of 10000; 2 of 3 committed audits saw a wrong total, the "
                      "first one 9993 instead of 10000");
    rehearsal_close(&world);
    rehearsal_open(&world, "bank", "rows=10");
    world.store.tables[0].committed_sum = 9000;
    expect_bank_audit(&world, LEVEL_SI, "the accounts hold 9000 in all instead of 10000");
    rehearsal_close(&world);
    rehearsal_open(&world, "bank",
                   "rows=10 audit_fraction=1 rollback=1"); /* an audit that does not commit saw nothing */
    world.values[3] = 0;
    rehearsal_next(&world, 1);
    assert_int_equal(rehearsal_audit(&world).verdict, AUDIT_OK);
    rehearsal_close(&world);
}

TEST_GROUP(bank, cmocka_unit_test(steps), cmocka_unit_test(refuses_overdrafts), cmocka_unit_test(conserves_the_total),
           cmocka_unit_test(draws), cmocka_unit_test(audit_finds_what_is_missing))
