/* test_storm.c - random options are ones that can be set; random worlds are what they tell, the same for all
 * algorithms,
 * of all workloads and shapes. */
#include "sim/lab/storm_world.h"

#include <string.h>

#include "sim/exec/settings.h"
#include "sim/exec/spec.h"
#include "sim/lab/storm_option.h"
#include "tests/support/harness.h"
#include "workloads/wild.h"

static void draw_all(const struct option_table *table, struct stream *stream) {
    void *values = mem_new(1, table->size);
    for (size_t i = 0; i < table->count; i++) {
        struct text value = {0}, error = {0};
        if (storm_option_draw(&table->options[i], stream, &value)) {
            if (!option_parse(&table->options[i], text_string(&value), values, &error)) {
                fail_msg("%s = %s: %s", table->options[i].name, text_string(&value), text_string(&error));
            }
        }
        text_free(&value);
        text_free(&error);
    }
    mem_free(values);
}

static void drawn_values_can_be_set(void **state) {
    (void)state;
    struct stream stream;
    struct stream_key key = {.seed = 1, .purpose = STREAM_TEST};
    stream_open(&stream, &key);
    for (int round = 0; round < 200; round++) {
        draw_all(&system_options, &stream);
        draw_all(&cost_options, &stream);
        draw_all(&restart_options, &stream);
        for (size_t i = 0; i < workload_registry_count; i++) {
            draw_all(workload_registry[i]->options, &stream);
        }
        for (size_t i = 0; i < cc_registry_count; i++) {
            if (cc_registry[i]->options != NULL) {
                draw_all(cc_registry[i]->options, &stream);
            }
        }
    }
}

static void draw(struct storm_world *world, const char *algorithm, uint64_t number) {
    struct storm_subject subject = {.algorithm = cc_find(algorithm), .seed = 9, .number = number};
    storm_world_draw(world, &subject);
}

/* All but what depends on the algorithm: its options, and the levels that it can mix. */
static void tell_shape(struct storm_world *world, struct text *out) {
    if (world->spec.workload == &workload_wild) {
        struct wild_options *options = world->workload_options;
        options->level = 0;
        options->other_level = 0;
    }
    text_clear(out);
    text_add(out, "%s %d", world->spec.workload->name, (int)world->spec.transactions_max);
    storm_option_tell(&system_options, &world->spec.system, "system", out);
    storm_option_tell(&cost_options, &world->spec.cost, "cost", out);
    storm_option_tell(world->spec.workload->options, world->workload_options, "workload", out);
}

/* But for one that needs footprints, where the programs cannot tell them. */
static void every_algorithm_gets_the_same_world(void **state) {
    (void)state;
    struct text before = {0}, shape = {0}, other = {0};
    for (uint64_t number = 1; number <= 50; number++) {
        struct storm_world world;
        draw(&world, "2pl", number);
        tell_shape(&world, &shape);
        bool plans = workload_plans(world.spec.workload, world.workload_options);
        storm_world_free(&world);
        assert_string_not_equal(text_string(&shape), text_string(&before));
        for (size_t i = 0; i < cc_registry_count; i++) {
            if ((cc_registry[i]->flags & CC_NEEDS_PLAN) != 0 && !plans) {
                continue;
            }
            draw(&world, cc_registry[i]->name, number);
            tell_shape(&world, &other);
            storm_world_free(&world);
            assert_string_equal(text_string(&other), text_string(&shape));
        }
        text_clear(&before);
        text_add(&before, "%s", text_string(&shape));
    }
    text_free(&before);
    text_free(&shape);
    text_free(&other);
}

static void every_workload_has_worlds(void **state) {
    (void)state;
    size_t counts[64] = {0}, worlds = 800, open = 0, limited = 0;
    assert_true(workload_registry_count <= 64);
    for (uint64_t number = 1; number <= worlds; number++) {
        struct storm_world world;
        draw(&world, "occ", number);
        for (size_t i = 0; i < workload_registry_count; i++) {
            counts[i] += workload_registry[i] == world.spec.workload;
        }
        open += world.spec.system.terminals == 0;
        limited += world.spec.system.mpl != OPTION_UNLIMITED;
        storm_world_free(&world);
    }
    for (size_t i = 0; i < workload_registry_count; i++) {
        assert_true(counts[i] > 10);
        assert_true(workload_registry[i] != &workload_wild || counts[i] > worlds * 2 / 5);
    }
    assert_in_range(open, 40, 240);
    assert_in_range(limited, 120, 400);
}

/* What a world tells can be set again, and is the same world then. */
static void worlds_are_what_they_tell(void **state) {
    (void)state;
    for (uint64_t number = 1; number <= 60; number++) {
        struct storm_world world;
        struct spec spec;
        struct text told = {0}, again = {0}, error = {0};
        draw(&world, "2pl", number);
        storm_world_tell(&world, &told);
        assert_true(spec_open(&spec, "2pl", world.spec.workload->name));
        const char *settings = strchr(text_string(&told), ';') + 1;
        if (!spec_set(&spec, settings, &error)) {
            fail_msg("%s: %s", settings, text_string(&error));
        }
        spec.run.transactions_max = world.spec.transactions_max;
        struct storm_world copy = {
            .spec = spec.run, .algorithm_options = spec.algorithm_options, .workload_options = spec.workload_options};
        storm_world_tell(&copy, &again);
        assert_string_equal(text_string(&again), text_string(&told));
        spec_close(&spec);
        storm_world_free(&world);
        text_free(&told);
        text_free(&again);
        text_free(&error);
    }
}

static void settings_are_kept_and_mistakes_are_told(void **state) {
    (void)state;
    struct storm_subject subject = {.algorithm = cc_find("2pl"), .settings = "phantoms=none victim=oldest", .seed = 1};
    for (subject.number = 1; subject.number <= 20; subject.number++) {
        struct storm_world world;
        struct text told = {0};
        storm_world_draw(&world, &subject);
        storm_world_tell(&world, &told);
        assert_contains(text_string(&told), "algorithm.phantoms=none");
        assert_contains(text_string(&told), "algorithm.victim=oldest");
        text_free(&told);
        storm_world_free(&world);
    }
    const struct option_table *table = cc_find("2pl")->options;
    void *values = mem_new(1, table->size);
    struct text error = {0};
    size_t unknown = 0;
    assert_true(storm_set(table, "victims=oldest victim=oldest", values, &unknown, &error));
    assert_int_equal(unknown, 1);
    assert_false(storm_set(table, "victim", values, NULL, &error));
    assert_string_equal(text_string(&error), "`victim' has no `='");
    text_clear(&error);
    assert_false(storm_set(table, "victim=eldest", values, NULL, &error));
    assert_contains(text_string(&error), "eldest");
    text_free(&error);
    mem_free(values);
}

TEST_GROUP(storm, cmocka_unit_test(drawn_values_can_be_set), cmocka_unit_test(every_algorithm_gets_the_same_world),
           cmocka_unit_test(every_workload_has_worlds), cmocka_unit_test(worlds_are_what_they_tell),
           cmocka_unit_test(settings_are_kept_and_mistakes_are_told))
