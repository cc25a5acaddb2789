/* test_lock_mode.c - the tables of lock modes against the rights that the modes stand for (support/gray.h). */
#include "sim/kit/lock_mode.h"

#include "tests/support/gray.h"
#include "tests/support/harness.h"

static void conflicts_and_joins_are_those_of_the_rights(void **state) {
    (void)state;
    for (int i = MODE_NONE; i < MODE_COUNT; i++) {
        for (int j = MODE_NONE; j < MODE_COUNT; j++) {
            enum lock_mode a = (enum lock_mode)i, b = (enum lock_mode)j;
            assert_int_equal(lock_conflict(a, b), !gray_beside(a, b));
            assert_int_equal(lock_covers(a, b), gray_covers(a, b));
            assert_int_equal(lock_join(a, b), gray_join(a, b));
        }
    }
}

/* Table 1 of Gray et al. (1976), as printed, in the order IS IX S SIX X; U has no row there. */
static void the_published_matrix(void **state) {
    (void)state;
    static const enum lock_mode order[] = {MODE_IS, MODE_IX, MODE_S, MODE_SIX, MODE_X};
    static const char *const printed[] = {"yyyyn", "yynnn", "ynynn", "ynnnn", "nnnnn"};
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            assert_int_equal(lock_conflict(order[i], order[j]), printed[i][j] == 'n');
        }
    }
}

/* Of two that stand beside each other one covers the other: what the order of granted locks rests on. */
static void who_stand_together_are_comparable(void **state) {
    (void)state;
    for (int i = MODE_NONE; i < MODE_COUNT; i++) {
        for (int j = MODE_NONE; j < MODE_COUNT; j++) {
            enum lock_mode a = (enum lock_mode)i, b = (enum lock_mode)j;
            assert_true(lock_conflict(a, b) || lock_covers(a, b) || lock_covers(b, a));
        }
    }
}

/* What is announced above conflicts above wherever coarse locks would conflict with the fine one. */
static void intentions_meet_coarse_locks(void **state) {
    (void)state;
    static const enum lock_mode direct[] = {MODE_S, MODE_U, MODE_X};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            bool meet = lock_conflict(direct[i], direct[j]);
            assert_true(!meet || lock_conflict(direct[i], lock_intention(direct[j])) || direct[i] == MODE_S);
            assert_true(!meet || lock_conflict(lock_intention(direct[i]), direct[j]) || direct[j] == MODE_S);
        }
        assert_int_equal(lock_direct(direct[i]), direct[i]);
    }
    assert_true(lock_conflict(MODE_S, lock_intention(MODE_X)));
    assert_int_equal(lock_intention(MODE_IS), MODE_IS);
    assert_int_equal(lock_intention(MODE_SIX), MODE_IX);
    assert_int_equal(lock_direct(MODE_SIX), MODE_S);
    assert_int_equal(lock_direct(MODE_IX), MODE_NONE);
}

TEST_GROUP(lock_mode, cmocka_unit_test(conflicts_and_joins_are_those_of_the_rights),
           cmocka_unit_test(the_published_matrix), cmocka_unit_test(who_stand_together_are_comparable),
           cmocka_unit_test(intentions_meet_coarse_locks))
