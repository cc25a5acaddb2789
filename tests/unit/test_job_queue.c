/* test_job_queue.c - the ways to claim a job, who does what when, crashes, leases, and what the audit finds. The notation is
 * explained in rehearsal.h. A token is number x 2^21 + terminal x 2, odd before a crash. */
#include "tests/support/rehearsal.h"

#include <string.h>

enum { TOKEN_OF_FIRST = (1 << 20 | 1) << 1 };

/* What the table really holds is what was played. */
static struct workload_audit audit_of(struct rehearsal *world) {
    struct table *jobs = &world->store.tables[0];
    jobs->committed_rows = 0;
    for (int64_t key = 1; key <= jobs->rows + REHEARSAL_ROOM; key++) {
        jobs->committed_rows += world->values[key] != REHEARSAL_ABSENT;
    }
    return rehearsal_audit(world);
}

static void expect_sound(struct rehearsal *world) {
    struct workload_audit audit = audit_of(world);
    assert_int_equal(audit.verdict, AUDIT_OK);
    assert_string_equal(text_string(&audit.message), "");
}

static void expect_broken(struct rehearsal *world, enum level level, const char *message) {
    struct workload_audit audit = audit_of(world);
    assert_int_equal(audit.verdict, AUDIT_BROKEN);
    assert_string_equal(text_string(&audit.message), message);
    assert_int_equal(audit.level, level);
    text_free(&audit.message);
}

static const char *play(struct rehearsal *world, uint64_t terminal, uint64_t number) {
    rehearsal_draw(world, terminal, number);
    return rehearsal_run(world);
}

static void expect(struct rehearsal *world, uint64_t terminal, uint64_t number, const char *said) {
    assert_string_equal(play(world, terminal, number), said);
}

static void expect_rest(const struct rehearsal *world, int64_t ms) {
    assert_int_equal(world->rest != NULL ? world->rest->mean_ns : 0, ms * 1000000);
}

/* The times that tell who rests for what. */
#define TIMES        "work_time=1ms lease=2ms post_every=3ms poll=4ms retry_delay=5ms "
#define TIMES_INSIDE "work_time=1ms post_every=3ms poll=4ms retry_delay=5ms "

static void work_inside(void **state) {
    (void)state;
    static const struct {
        const char *settings, *said, *left;
    } trials[] = {
        {"claim=for_update", "u(1..,if=0):1 think d(x) i(1001)! c", "2 2 2 1 0 0"},
        {"claim=skip_locked", "u(1..,if=0):skip:1 think d(x) i(1001)! c", "2 2 2 1 0 0"},
        {"claim=nowait jobs=1", "u(1..,if=0):nowait:1 think d(x) i(2)! c", "2 2 2 1 0 0"},
        {"claim=update_returning", "w(1..,2097154,if=0):1 think d(x) i(1001)! c", "2 2 2 1 0 0"},
        {"claim=optimistic", "q(1..,if=0):1 w(x,2097154,if=0) think d(x) i(1001)! c", "2 2 2 2 1 0 0"},
        {"claim=for_update jobs=0", "u(1..,if=0):1 a", "2 2 2"},
        {"claim=optimistic jobs=0", "q(1..,if=0):1 a", "2 2 2"},
        {"claim=for_update crash=1", "u(1..,if=0):1 think a", "2 2 2 2"},
        {"claim=update_returning crash=100%", "w(1..,2097155,if=0):1 think a", "2 2 2 2"},
    };
    struct rehearsal world;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        rehearsal_open(&world, "job_queue", trials[i].settings);
        expect(&world, 1, 1, trials[i].said);
        assert_string_equal(text_string(&world.left), trials[i].left);
        expect_sound(&world);
        rehearsal_close(&world);
    }
    /* with producers nobody posts another */
    rehearsal_open(&world, "job_queue", "producers=2 jobs=1");
    expect(&world, 3, 1, "u(1..,if=0):1 think d(x)! c");
    assert_string_equal(text_string(&world.left), "1 1 1 0 0");
    expect(&world, 2, 1, "i(2)! c");
    assert_string_equal(text_string(&world.left), "1 0 0");
    expect(&world, 3, 2, "u(1..,if=0):1 think d(x)! c");
    expect(&world, 3, 3, "u(1..,if=0):1 a");
    expect_sound(&world);
    rehearsal_close(&world);
}

static void work_outside(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"claim=for_update work=outside jobs=2", "u(1..,if=0):1 w(x,2097154)! c"},
        {"claim=skip_locked work=outside jobs=2", "u(1..,if=0):skip:1 w(x,2097154)! c"},
        {"claim=nowait work=outside jobs=2", "u(1..,if=0):nowait:1 w(x,2097154)! c"},
        {"claim=update_returning work=outside jobs=2", "w(1..,2097154,if=0):1! c"},
        {"claim=optimistic work=outside jobs=2", "q(1..,if=0):1 w(x,2097154,if=0)! c"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct rehearsal world;
        rehearsal_open(&world, "job_queue", trials[i].options);
        expect(&world, 1, 1, trials[i].expected);
        play(&world, 2, 1);
        play(&world, 2, 2);
        assert_string_equal(text_string(&world.said), "d(x,if%4611686018427387904=2097156) i(3)! c");
        assert_int_equal(world.names[0], 2);
        expect(&world, 1, 2, "d(x,if%4611686018427387904=2097154) i(4)! c");
        assert_int_equal(world.names[0], 1);
        assert_string_equal(text_string(&world.left), "2 1 0 0");
        expect_sound(&world);
        rehearsal_close(&world);
    }
}

static void who_does_what(void **state) {
    (void)state;
    struct rehearsal world;
    int64_t posts = 0;
    rehearsal_open(&world, "job_queue", "producers=2 work=outside lease=1s post_fraction=30% jobs=5");
    static const char *const names[] = {"work", "post", "claim", "finish", "give_back"};
    assert_int_equal(world.ops->type_count(world.options), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(world.ops->type_name(world.options, i), names[i]);
    }
    static const size_t types[] = {1, 1, 4, 2, 2};
    for (uint64_t terminal = 1; terminal <= 5; terminal++) {
        rehearsal_draw(&world, terminal, 1);
        assert_int_equal(world.ops->type_of(world.state, world.arguments), types[terminal - 1]);
    }
    play(&world, 5, 1);
    rehearsal_draw(&world, 5, 2);
    assert_int_equal(world.ops->type_of(world.state, world.arguments), 3);
    for (uint64_t n = 1; n <= 10000; n++) {
        rehearsal_draw(&world, 0, n);
        size_t type = world.ops->type_of(world.state, world.arguments);
        assert_true(type == 0 || type == 1);
        posts += type == 1;
    }
    rehearsal_assert_share(posts, 10000, 0.3);
    rehearsal_close(&world);
    rehearsal_open(&world, "job_queue", "producers=1");
    assert_int_equal(world.ops->type_count(world.options), 2);
    rehearsal_close(&world);
}

static void who_rests_for_what(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "job_queue", TIMES_INSIDE "producers=1 jobs=1 claim=nowait");
    play(&world, 1, 1);
    expect_rest(&world, 3);
    play(&world, 2, 1);
    expect_rest(&world, 0);
    world.fail_at = 0; /* the row is locked */
    expect(&world, 2, 2, "u(1..,if=0):nowait:1 a");
    expect_rest(&world, 5);
    world.fail_at = REHEARSAL_NEVER;
    play(&world, 2, 3);
    expect(&world, 2, 4, "u(1..,if=0):nowait:1 a");
    expect_rest(&world, 4);
    rehearsal_close(&world);
    rehearsal_open(&world, "job_queue", TIMES "jobs=1 claim=skip_locked work=outside");
    play(&world, 1, 1);
    expect_rest(&world, 2);
    play(&world, 2, 1);
    expect_rest(&world, 1);
    play(&world, 3, 1);
    expect_rest(&world, 4);
    play(&world, 2, 2);
    expect_rest(&world, 0);
    rehearsal_close(&world);
    rehearsal_open(&world, "job_queue", TIMES_INSIDE "crash=1");
    play(&world, 1, 1);
    expect_rest(&world, 0);
    rehearsal_close(&world);
}

/* Somebody else's update came between the reading and the writing of an optimistic claim. */
static void an_optimistic_claim_can_be_lost(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "job_queue", TIMES_INSIDE "claim=optimistic");
    struct step step;
    struct reply reply = {.status = REPLY_OK, .count = 1, .rows = &(struct reply_row){.key = 7}};
    rehearsal_draw(&world, 1, 1);
    world.ops->next(world.state, world.arguments, world.registers, NULL, &step);
    world.ops->next(world.state, world.arguments, world.registers, &reply, &step);
    assert_int_equal(step.first, 7);
    reply.count = 0;
    world.ops->next(world.state, world.arguments, world.registers, &reply, &step);
    assert_int_equal(step.kind, STEP_ROLLBACK);
    world.rest = world.ops->ended(world.state, world.arguments, world.registers, false);
    expect_rest(&world, 5);
    rehearsal_close(&world);
}

/* A round marks what it finds claimed, the next one gives back what is still marked. */
static void leases_give_back_what_a_crash_left(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "job_queue", TIMES "work=outside claim=update_returning jobs=2 crash=1");
    static const char *const round = "w(1..,0,if<0) w(1..,+=-4611686018427387904,if>0)! c";
    expect(&world, 2, 1, "w(1..,2097157,if=0):1! c");
    expect_rest(&world, 1);
    expect(&world, 2, 2, "w(1..,4194309,if=0):1! c"); /* it does not know what it had claimed */
    expect(&world, 1, 1, round);
    assert_int_equal(world.values[1], 2097157 - (INT64_C(1) << 62));
    expect(&world, 2, 3, "w(1..,6291461,if=0):1! a");
    expect(&world, 1, 2, round);
    assert_int_equal(world.values[1], 0);
    assert_int_equal(world.values[2], 0);
    assert_string_equal(text_string(&world.left), "4 2 0 0");
    expect_sound(&world);
    rehearsal_close(&world);
}

static void a_short_lease_doubles_the_work(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "job_queue", TIMES "work=outside claim=update_returning jobs=1");
    play(&world, 2, 1);
    play(&world, 1, 1); /* seen: that does not keep it from being finished */
    expect(&world, 2, 2, "d(x,if%4611686018427387904=2097156) i(2)! c");
    play(&world, 1, 2);
    play(&world, 2, 3);
    play(&world, 1, 3);
    expect_sound(&world);
    play(&world, 1, 4); /* taken away */
    play(&world, 3, 1);
    expect(&world, 2, 4, "d(x,if%4611686018427387904=6291460) c");
    expect_broken(&world, LEVEL_COUNT, "1 jobs were worked on twice: their lease ended before their work did");
    expect(&world, 3, 2, "d(x,if%4611686018427387904=2097158) i(3)! c");
    expect_broken(&world, LEVEL_COUNT, "1 jobs were worked on twice: their lease ended before their work did");
    play(&world, 3, 3);
    world.values[3] = REHEARSAL_ABSENT; /* two workers for one job, by no lease */
    play(&world, 3, 4);
    expect_broken(&world, LEVEL_RC, "3 jobs left the queue, but 2 were done; 2 jobs were worked on twice");
    rehearsal_close(&world);
}

static void the_audit_finds_what_is_wrong(void **state) {
    (void)state;
    struct rehearsal world;
    rehearsal_open(&world, "job_queue", "jobs=3 producers=1 claim=skip_locked");
    play(&world, 2, 1);
    expect_sound(&world);
    world.values[3] = REHEARSAL_ABSENT;
    expect_broken(&world, LEVEL_RC, "2 jobs left the queue, but 1 were done");
    world.values[3] = 0;
    play(&world, 2, 2);
    world.values[2] = 0; /* the removal was undone by another's rollback */
    expect_broken(&world, LEVEL_RC, "1 jobs left the queue, but 2 were done");
    rehearsal_close(&world);
    /* the second of two who hold the same job removes nothing */
    rehearsal_open(&world, "job_queue", "jobs=3");
    struct step step;
    struct reply reply = {.status = REPLY_OK, .count = 1, .rows = &(struct reply_row){.key = 1}};
    rehearsal_draw(&world, 1, 1);
    for (int i = 0; i < 3; i++) {
        world.ops->next(world.state, world.arguments, world.registers, i > 0 ? &reply : NULL, &step);
    }
    assert_int_equal(step.kind, STEP_DELETE);
    reply.count = 0;
    world.ops->next(world.state, world.arguments, world.registers, &reply, &step);
    assert_int_equal(step.kind, STEP_COMMIT); /* and posts no other */
    world.ops->committed(world.state, world.arguments, world.registers);
    expect_broken(&world, LEVEL_RC, "1 jobs were worked on twice");
    rehearsal_close(&world);
}

static void senseless_leases_are_refused(void **state) {
    (void)state;
    static const struct rehearsal_trial trials[] = {
        {"lease=1s", "lease has no place with work = inside: who crashes there is rolled back"},
        {"work=outside crash=1%", "crash with work = outside needs a lease: else nobody gives back what was claimed"},
    };
    struct rehearsal world;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        assert_false(rehearsal_check(&world, "job_queue", trials[i].options));
        assert_string_equal(text_string(&world.said), trials[i].expected);
        rehearsal_close(&world);
    }
    assert_true(rehearsal_check(&world, "job_queue", "work=outside crash=1% lease=1ms"));
    rehearsal_close(&world);
}

/* A statement that fails, the commit included, makes the program roll back, wherever it was; a worker then still has the job
 * it has worked on. */
static void errors_roll_back(void **state) {
    (void)state;
    static const char *const settings[] = {
        "claim=optimistic", "claim=nowait",         "work=outside claim=for_update", "work=outside claim=optimistic",
        "producers=1",      "work=outside lease=1s"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct rehearsal world;
        rehearsal_open(&world, "job_queue", settings[i]);
        for (uint64_t n = 1; n <= 4; n++) {
            for (int fail_at = 0;; fail_at++) {
                rehearsal_draw(&world, 1, n);
                world.fail_at = fail_at;
                const char *said = rehearsal_run(&world);
                if (rehearsal_ends_with(said, " c")) {
                    break;
                }
                assert_true(rehearsal_ends_with(said, " a"));
                assert_int_equal(rehearsal_count_of(said, " "), fail_at + 1);
                expect_sound(&world);
            }
        }
        rehearsal_close(&world);
    }
}

TEST_GROUP(job_queue, cmocka_unit_test(work_inside), cmocka_unit_test(work_outside), cmocka_unit_test(who_does_what),
           cmocka_unit_test(who_rests_for_what), cmocka_unit_test(an_optimistic_claim_can_be_lost),
           cmocka_unit_test(leases_give_back_what_a_crash_left), cmocka_unit_test(a_short_lease_doubles_the_work),
           cmocka_unit_test(the_audit_finds_what_is_wrong), cmocka_unit_test(senseless_leases_are_refused),
           cmocka_unit_test(errors_roll_back))
