/* test_edit_form.c - documents that are edited: the steps of each protection, who goes on with what, and what the audit finds. The
 * notation is explained in rehearsal.h; with 10 contents a value is 10 x version + content. */
#include "tests/support/rehearsal.h"

#include <stdlib.h>
#include <string.h>

static const char *play(struct rehearsal *world, uint64_t terminal, uint64_t number) {
    rehearsal_draw(world, terminal, number);
    return rehearsal_run(world);
}

static void whole_transactions(void **state) {
    (void)state;
    static const struct {
        const char *settings, *said, *left;
    } trials[] = {
        {"transaction=whole", "r(x) think w(x,%d)! c", "1 1 1 0 0"},
        {"transaction=whole protection=version", "r(x) think w(x,%d,if=0)! c", "1 1 1 0 0"},
        {"transaction=whole protection=compare", "r(x) think w(x,%d,if%10=0)! c", "1 1 1 0 0"},
        {"transaction=whole protection=lock", "u(x) think w(x,%d)! c", "1 1 1 0 0"},
        {"protection=lock rollback=1", "u(x) think w(x,%d)! a", "1 1 1 0 0"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct rehearsal world;
        struct text settings = {0}, expected = {0};
        text_add(&settings, "%s contents=10 rows=1", trials[i].settings);
        rehearsal_open(&world, "edit_form", text_string(&settings));
        const char *said = play(&world, 1, 1);
        const char *at = strstr(trials[i].said, "%d");
        text_add_bytes(&expected, trials[i].said, (size_t)(at - trials[i].said));
        const char *comma = strchr(said, ',');
        assert_non_null(comma);
        int64_t written = strtol(comma + 1, NULL, 10);
        assert_in_range(written, 11, 19); /* version 1, another content */
        assert_int_equal(world.values[1], rehearsal_ends_with(said, "c") ? written : 0);
        text_add(&expected, "%d%s", (int)written, at + 2);
        assert_string_equal(said, text_string(&expected));
        assert_string_equal(text_string(&world.left), trials[i].left);
        assert_int_equal(world.ops->type_count(world.options), 1);
        text_free(&settings);
        text_free(&expected);
        rehearsal_close(&world);
    }
}

static void expect_begins(struct rehearsal *world, uint64_t terminal, uint64_t number, const char *head) {
    assert_int_equal(strncmp(play(world, terminal, number), head, strlen(head)), 0);
}

static void read_then_save(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "edit_form", "contents=10 rows=1 editing=3s protection=version");
    assert_int_equal(world.ops->type_count(world.options), 3);
    assert_string_equal(world.ops->type_name(world.options, 2), "save");
    expect_begins(&world, 1, 1, "r(x)! c");
    assert_int_equal(world.ops->type_of(world.state, world.arguments), 1);
    assert_int_equal(world.ops->declares(world.state, world.arguments), DECLARES_READ_ONLY);
    assert_string_equal(text_string(&world.left), "1 0 0");
    assert_int_equal(world.rest->mean_ns, INT64_C(3000000000));
    expect_begins(&world, 2, 1, "r(x)! c");
    expect_begins(&world, 2, 2, "w(x,1");
    assert_int_equal(world.ops->type_of(world.state, world.arguments), 2);
    assert_int_equal(world.ops->declares(world.state, world.arguments), DECLARES_NOTHING);
    assert_null(world.rest);
    assert_true(rehearsal_ends_with(text_string(&world.said), ",if=0)! c"));
    play(&world, 1, 2); /* too late: told so, and reads again */
    assert_true(rehearsal_ends_with(text_string(&world.said), ",if=0)! a"));
    expect_begins(&world, 1, 3, "r(x)! c");
    expect_begins(&world, 1, 4, "w(x,2");
    assert_true(rehearsal_ends_with(text_string(&world.said), ")! c"));
    assert_int_equal(world.values[1] / 10, 2);
    /* an arrival of an open system edits in one transaction */
    expect_begins(&world, 0, 1, "r(x) think w(x,3");
    assert_int_equal(world.ops->type_of(world.state, world.arguments), 0);
    rehearsal_close(&world);
}

/* Who could not save begins again with the same document; who saved, or gave up, takes another. */
static void who_goes_on_with_what(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "edit_form", "rows=1000000 protection=version");
    play(&world, 1, 1);
    int64_t document = world.names[0];
    world.values[document] += 1000;
    play(&world, 1, 2);
    assert_int_equal(world.names[0], document);
    play(&world, 1, 3);
    assert_int_equal(world.names[0], document);
    world.fail_at = 0; /* a lock timeout: the save is tried again */
    expect_begins(&world, 1, 4, "w(x,2");
    world.fail_at = REHEARSAL_NEVER;
    expect_begins(&world, 1, 5, "w(x,2");
    assert_int_equal(world.names[0], document);
    play(&world, 1, 6);
    assert_true(world.names[0] != document);
    rehearsal_close(&world);
    rehearsal_open(&world, "edit_form", "rows=1000000 rollback=1");
    play(&world, 1, 1);
    document = world.names[0];
    play(&world, 1, 2);
    assert_true(rehearsal_ends_with(text_string(&world.said), "! a"));
    play(&world, 1, 3);
    assert_true(world.names[0] != document);
    rehearsal_close(&world);
    rehearsal_open(&world, "edit_form", "rows=1000000 transaction=whole");
    world.fail_at = 2;
    play(&world, 1, 1);
    document = world.names[0];
    world.fail_at = REHEARSAL_NEVER;
    play(&world, 1, 2);
    assert_int_equal(world.names[0], document);
    rehearsal_close(&world);
}

/* The new content is any other, all alike. */
static void contents(void **state) {
    (void)state;
    enum { TRIALS = 20000 };
    struct rehearsal world;
    int64_t counts[5] = {0};
    rehearsal_open(&world, "edit_form", "contents=5 rows=1 transaction=whole");
    for (uint64_t n = 1; n <= TRIALS; n++) {
        int64_t before = world.values[1];
        play(&world, 1, n);
        assert_int_equal(world.values[1] / 5, n);
        counts[(world.values[1] + 5 - before % 5) % 5]++;
    }
    assert_int_equal(counts[0], 0);
    for (int i = 1; i < 5; i++) {
        rehearsal_assert_share(counts[i], TRIALS, 0.25);
    }
    rehearsal_close(&world);
}

/* The table holds `value` in its one row. */
static struct workload_audit audit_with(struct rehearsal *world, int64_t value) {
    struct table *documents = &world->store.tables[0];
    store_set_initial(&world->store, documents, 1, value, false);
    return rehearsal_audit(world);
}

static void the_audit_finds_lost_edits(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        int level;
    } trials[] = {
        {"transaction=each protection=none", LEVEL_COUNT},    {"transaction=whole protection=none", LEVEL_RR},
        {"transaction=each protection=compare", LEVEL_COUNT}, {"transaction=whole protection=compare", LEVEL_RR},
        {"transaction=each protection=version", LEVEL_RC},    {"transaction=whole protection=version", LEVEL_RC},
        {"transaction=each protection=lock", LEVEL_RC},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct rehearsal world;
        struct text settings = {0};
        text_add(&settings, "%s contents=10 rows=1", trials[i].settings);
        rehearsal_open(&world, "edit_form", text_string(&settings));
        for (uint64_t n = 1; world.values[1] / 10 < 5; n++) {
            play(&world, 1, n);
        }
        struct workload_audit audit = audit_with(&world, world.values[1]);
        assert_int_equal(audit.verdict, AUDIT_OK);
        assert_true(audit.lost_updates_known && audit.lost_updates == 0);
        audit = audit_with(&world, 39);
        assert_int_equal(audit.verdict, AUDIT_BROKEN);
        assert_int_equal(audit.level, trials[i].level);
        assert_int_equal(audit.lost_updates, 2);
        assert_string_equal(text_string(&audit.message),
                            "2 of 5 saved edits were lost: others saved without having seen them");
        text_free(&audit.message);
        audit = audit_with(&world, 60);
        assert_int_equal(audit.verdict, AUDIT_BROKEN);
        assert_int_equal(audit.level, LEVEL_RC);
        assert_int_equal(audit.lost_updates, 0);
        assert_string_equal(text_string(&audit.message), "the documents show 1 edits more than the 5 that were saved");
        text_free(&audit.message);
        text_free(&settings);
        rehearsal_close(&world);
    }
}

TEST_GROUP(edit_form, cmocka_unit_test(whole_transactions), cmocka_unit_test(read_then_save),
           cmocka_unit_test(who_goes_on_with_what), cmocka_unit_test(contents),
           cmocka_unit_test(the_audit_finds_lost_edits))
