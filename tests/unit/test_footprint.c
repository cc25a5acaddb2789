/* test_footprint.c - footprints put in order; that programs keep to theirs is checked wherever they are rehearsed
 * (rehearsal.c). */
#include "sim/store/footprint.h"
#include "sim/store/store.h"
#include "tests/support/harness.h"
#include "tests/support/rehearsal.h"

static void is_arranged(void **state) {
    (void)state;
    struct store store;
    store_init(&store, 0, NULL);
    struct table *first = store_add_table(&store, "first", 1, 9, 0, false);
    struct table *second = store_add_table(&store, "second", 1, 9, 0, false);
    struct planned items[8] = {{0}};
    struct footprint footprint = {.items = items, .capacity = 8};
    footprint_add_row(&footprint, second, 1, PLANNED_READ);
    footprint_add_row(&footprint, first, 5, PLANNED_READ);
    footprint_add_row(&footprint, first, 3, PLANNED_LOCK);
    footprint_add(&footprint, (struct planned){.table = first, .key = 3, .last = 7, .scan = true});
    footprint_add_row(&footprint, first, 5, PLANNED_WRITE);
    footprint_add_row(&footprint, first, 5, PLANNED_READ);
    footprint_add(&footprint, (struct planned){.table = first, .key = 3, .last = 4, .scan = true});
    footprint_arrange(&footprint);
    assert_int_equal(footprint.count, 5);
    assert_true(items[0].scan && items[0].last == 4 && items[1].scan && items[1].last == 7);
    assert_true(items[2].key == 3 && !items[2].scan && items[2].use == PLANNED_LOCK);
    assert_true(items[3].key == 5 && items[3].use == PLANNED_WRITE);
    assert_true(items[4].table == second && items[4].key == 1);
    store_free(&store);
}

static void counts_beyond_its_room(void **state) {
    (void)state;
    struct planned item;
    struct footprint footprint = {.items = &item, .capacity = 1};
    footprint_add_row(&footprint, NULL, 7, PLANNED_READ);
    footprint_add_row(&footprint, NULL, 8, PLANNED_READ);
    assert_int_equal(footprint.count, 2);
    assert_int_equal(item.key, 7);
}

/* Who can tell, by the options. */
static void workloads_can_tell(void **state) {
    (void)state;
    static const struct {
        const char *workload, *options;
        bool tells;
    } cases[] = {
        {"hot_row", "write_fraction=0.5", true}, {"bank", "audit_fraction=0.5", true},   {"acl87", "", true},
        {"ycsb", "scan_fraction=0.5", true},     {"ycsb", "insert_fraction=0.5", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rehearsal world;
        rehearsal_open(&world, cases[i].workload, cases[i].options);
        assert_int_equal(workload_plans(world.ops, world.options), cases[i].tells);
        for (uint64_t n = 1; n <= 50; n++) {
            rehearsal_next(&world, n);
            assert_true(!cases[i].tells || world.tells);
        }
        rehearsal_close(&world);
    }
}

TEST_GROUP(footprint, cmocka_unit_test(is_arranged), cmocka_unit_test(counts_beyond_its_room),
           cmocka_unit_test(workloads_can_tell))
