/* test_memory.c - blocks, pools and vectors. */
#include "sim/base/memory.h"

#include <string.h>

#include "tests/support/harness.h"

struct object {
    uint64_t words[5];
};

static void blocks_are_zeroed_and_never_null(void **state) {
    (void)state;
    unsigned char *block = mem_new(1000, 3);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(block[i], 0);
    }
    mem_free(block);
    void *nothing = mem_new(0, 8);
    assert_non_null(nothing);
    nothing = mem_resize(nothing, 0, 8);
    assert_non_null(nothing);
    mem_free(nothing);
    mem_free(NULL);
}

static void resizing_keeps_content(void **state) {
    (void)state;
    uint64_t *numbers = mem_new(4, sizeof *numbers);
    numbers[3] = 7;
    numbers = mem_resize(numbers, 100000, sizeof *numbers);
    assert_int_equal(numbers[3], 7);
    mem_free(numbers);
    char *copy = mem_string("a string");
    assert_string_equal(copy, "a string");
    mem_free(copy);
}

/* Objects overlap nobody, whatever the slab they come from. */
static void pool_hands_out_distinct_objects(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    struct pool pool;
    pool_init(&pool, sizeof(struct object));
    static struct object *objects[COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        objects[i] = pool_get(&pool);
        assert_int_equal((uintptr_t)objects[i] % 8, 0);
        memset(objects[i], 0xff, sizeof *objects[i]);
        objects[i]->words[0] = objects[i]->words[4] = i;
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(objects[i]->words[0], i);
        assert_int_equal(objects[i]->words[4], i);
    }
    pool_free(&pool);
}

/* Slabs grow to one huge page, header included: an object costs its own size and next to nothing. */
static void large_pools_waste_nothing(void **state) {
    (void)state;
    enum { COUNT = 200000, SIZE = 32, HUGE = 2 << 20 };
    struct pool pool;
    pool_init(&pool, SIZE);
    for (int i = 0; i < COUNT; i++) {
        char *object = pool_get(&pool);
        memset(object, i, SIZE);
    }
    size_t slab = (size_t)(pool.end - (char *)pool.slabs);
    assert_in_range(slab, HUGE - SIZE, HUGE);
    assert_int_equal((uintptr_t)pool.slabs % HUGE, 0);
    pool_free(&pool);
}

/* Last in, first out, and no new memory while old is free. */
static void pool_reuses_the_warmest(void **state) {
    (void)state;
    struct pool pool;
    pool_init(&pool, sizeof(struct object));
    struct object *first = pool_get(&pool), *second = pool_get(&pool);
    pool_put(&pool, first);
    pool_put(&pool, second);
    assert_ptr_equal(pool_get(&pool), second);
    assert_ptr_equal(pool_get(&pool), first);
    struct object *third = pool_get(&pool);
    pool_put(&pool, third);
    *(void **)(void *)second = first;
    pool_put_chain(&pool, second, first); /* before those that were put back earlier */
    assert_ptr_equal(pool_get(&pool), second);
    assert_ptr_equal(pool_get(&pool), first);
    assert_ptr_equal(pool_get(&pool), third);
    void *slabs = pool.slabs;
    for (int i = 0; i < 100000; i++) {
        struct object *object = pool_get(&pool);
        pool_put(&pool, object);
    }
    assert_ptr_equal(pool.slabs, slabs);
    pool_free(&pool);
    assert_null(pool.slabs);
    assert_non_null(pool_get(&pool)); /* an emptied pool serves again */
    pool_free(&pool);
}

static void pool_rounds_sizes_up(void **state) {
    (void)state;
    struct pool pool;
    pool_init(&pool, 9);
    char *a = pool_get(&pool), *b = pool_get(&pool);
    assert_int_equal(b - a, 16);
    assert_int_equal((uintptr_t)a % 16, 0);
    pool_free(&pool);
}

static void vector_grows_and_keeps_its_capacity(void **state) {
    (void)state;
    VECTOR(int) numbers = {0};
    for (int i = 0; i < 1000; i++) {
        vector_push(&numbers, i * i);
    }
    assert_int_equal(numbers.count, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(numbers.items[i], i * i);
    }
    int *items = numbers.items;
    numbers.count = 0;
    for (int i = 0; i < 1000; i++) {
        vector_push(&numbers, i);
    }
    assert_ptr_equal(numbers.items, items);
    vector_free(&numbers);
    assert_int_equal(numbers.capacity, 0);
}

TEST_GROUP(memory, cmocka_unit_test(blocks_are_zeroed_and_never_null), cmocka_unit_test(resizing_keeps_content),
           cmocka_unit_test(pool_hands_out_distinct_objects), cmocka_unit_test(large_pools_waste_nothing),
           cmocka_unit_test(pool_reuses_the_warmest), cmocka_unit_test(pool_rounds_sizes_up),
           cmocka_unit_test(vector_grows_and_keeps_its_capacity))
