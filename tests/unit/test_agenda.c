/* test_agenda.c - the agenda against a naive model: an array of slots that is searched for the least (time, urgent
 * first, order) at every pop. Random worlds differ in size, in how often events tie and in which operations prevail. */
#include "sim/kernel/agenda.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/random.h"
#include "tests/support/harness.h"

enum { MODEL_SLOTS = 700, OPERATIONS = 6000 };

struct model_event {
    bool pending, ordinary;
    int64_t time_ns;
    uint64_t order;
};

struct model {
    struct model_event event[MODEL_SLOTS];
    int64_t now_ns;
    uint64_t order;
};

static void model_schedule(struct model *model, uint32_t slot, int64_t time_ns, bool ordinary) {
    model->event[slot] = (struct model_event){true, ordinary, time_ns, model->order++};
}

static bool model_before(const struct model_event *a, const struct model_event *b) {
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns;
    }
    return a->ordinary != b->ordinary ? b->ordinary : a->order < b->order;
}

static uint32_t model_next(const struct model *model) {
    uint32_t best = AGENDA_NONE;
    for (uint32_t slot = 0; slot < MODEL_SLOTS; slot++) {
        const struct model_event *event = &model->event[slot];
        if (event->pending && (best == AGENDA_NONE || model_before(event, &model->event[best]))) {
            best = slot;
        }
    }
    return best;
}

static uint32_t model_pop(struct model *model, int64_t limit_ns) {
    uint32_t best = model_next(model);
    if (best == AGENDA_NONE) {
        return best;
    }
    if (model->event[best].time_ns > limit_ns) {
        model->now_ns = limit_ns;
        return AGENDA_NONE;
    }
    model->now_ns = model->event[best].time_ns;
    model->event[best].pending = false;
    return best;
}

/* The shape of a random world: slots in use at the start and in the end, the spread of times (small: many ties), and
 * how often, out of 16, each operation comes; the rest are pops. */
struct world {
    uint32_t slots, slots_end;
    uint64_t spread_ns;
    unsigned schedule, urgent, cancel, limited;
};

static struct world world_draw(struct stream *stream) {
    struct world world;
    world.slots = 1 + (uint32_t)stream_below(stream, stream_below(stream, 2) == 0 ? 8 : 300);
    world.slots_end = world.slots + (uint32_t)stream_below(stream, 300);
    world.spread_ns = stream_below(stream, 2) == 0 ? 4 : 1000000;
    world.schedule = 3 + (unsigned)stream_below(stream, 4);
    world.urgent = (unsigned)stream_below(stream, 3);
    world.cancel = (unsigned)stream_below(stream, 3);
    world.limited = (unsigned)stream_below(stream, 3);
    return world;
}

/* The event comes; then it is taken out, with somebody in its place or not, or its slot is scheduled anew. */
static void step_pop(struct agenda *agenda, struct model *model, struct stream *stream, uint64_t spread_ns,
                     bool limited) {
    int64_t limit_ns = limited ? model->now_ns + (int64_t)stream_below(stream, spread_ns) : INT64_MAX;
    uint32_t expected = model_pop(model, limit_ns);
    uint64_t what = stream_below(stream, 5);
    assert_int_equal(what == 0 ? agenda_pop(agenda, limit_ns) : agenda_next(agenda, limit_ns), expected);
    assert_int_equal(agenda->now_ns, model->now_ns);
    if (expected == AGENDA_NONE || what == 0) {
        return;
    }
    assert_int_equal(agenda_foresee(agenda, expected), model_next(model));
    int64_t time_ns = model->now_ns + (int64_t)stream_below(stream, spread_ns);
    uint32_t slot = (uint32_t)stream_below(stream, agenda->slots < MODEL_SLOTS ? agenda->slots : MODEL_SLOTS);
    if (what == 1 && slot != expected && !model->event[slot].pending) {
        agenda_hand_over(agenda, expected, slot, time_ns);
        model_schedule(model, slot, time_ns, true);
        return;
    }
    if (what < 4) {
        agenda_take_out(agenda, expected);
    }
    if (what > 2) { /* the hold operation */
        agenda_schedule(agenda, expected, time_ns);
        model_schedule(model, expected, time_ns, true);
    }
}

static void world_step(const struct world *world, struct agenda *agenda, struct model *model, struct stream *stream,
                       uint32_t slots) {
    uint32_t slot = (uint32_t)stream_below(stream, slots);
    unsigned operation = (unsigned)stream_below(stream, 16);
    if (operation < world->schedule) {
        int64_t time_ns = model->now_ns + (int64_t)stream_below(stream, world->spread_ns);
        agenda_schedule(agenda, slot, time_ns);
        model_schedule(model, slot, time_ns, true);
    } else if ((operation -= world->schedule) < world->urgent) {
        agenda_schedule_urgent(agenda, slot);
        model_schedule(model, slot, model->now_ns, false);
    } else if ((operation -= world->urgent) < world->cancel) {
        agenda_cancel(agenda, slot);
        model->event[slot].pending = false;
    } else {
        step_pop(agenda, model, stream, world->spread_ns, operation - world->cancel < world->limited);
    }
    assert_int_equal(agenda_pending(agenda, slot), model->event[slot].pending);
}

static void world_run(uint64_t seed) {
    static struct model model;
    memset(&model, 0, sizeof model);
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = seed, .purpose = STREAM_TEST});
    struct world world = world_draw(&stream);
    struct agenda agenda;
    agenda_init(&agenda, world.slots);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t slots = world.slots + (world.slots_end - world.slots) * i / OPERATIONS;
        world_step(&world, &agenda, &model, &stream, slots);
    }
    for (uint32_t slot = 0; slot < MODEL_SLOTS; slot++) {
        assert_int_equal(agenda_pending(&agenda, slot), model.event[slot].pending);
    }
    agenda_free(&agenda);
}

static void agrees_with_the_naive_model(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (test_long() ? 1000 : 60); seed++) {
        world_run(seed);
    }
}

static void events_of_one_instant_keep_their_order(void **state) {
    (void)state;
    struct agenda agenda;
    agenda_init(&agenda, 8);
    agenda_schedule(&agenda, 5, 0);
    agenda_schedule(&agenda, 3, 0);
    agenda_schedule_urgent(&agenda, 6);
    agenda_schedule_urgent(&agenda, 1);
    agenda_schedule(&agenda, 5, 0); /* anew: it goes behind 3 */
    const uint32_t order[] = {6, 1, 3, 5, AGENDA_NONE};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_int_equal(agenda_pop(&agenda, 0), order[i]);
    }
    assert_int_equal(agenda.handled, 4);
    agenda_free(&agenda);
}

/* An urgent event overtakes the key that the popped slot has left behind; nothing may get lost by that. */
static void urgent_events_overtake_the_popped_slot(void **state) {
    (void)state;
    struct agenda agenda;
    agenda_init(&agenda, 4);
    agenda_schedule(&agenda, 0, 10);
    agenda_schedule(&agenda, 1, 10);
    assert_int_equal(agenda_pop(&agenda, INT64_MAX), 0);
    agenda_schedule_urgent(&agenda, 2);
    agenda_schedule_urgent(&agenda, 3);
    agenda_cancel(&agenda, 2);
    agenda_schedule_urgent(&agenda, 0); /* the popped slot itself */
    const uint32_t order[] = {3, 0, 1, AGENDA_NONE};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_int_equal(agenda_pop(&agenda, INT64_MAX), order[i]);
    }
    agenda_free(&agenda);
}

static void stops_at_the_limit_and_goes_on(void **state) {
    (void)state;
    struct agenda agenda;
    agenda_init(&agenda, 0);
    assert_int_equal(agenda_pop(&agenda, 50), AGENDA_NONE);
    assert_int_equal(agenda.now_ns, 0); /* nothing pending: the clock stays */
    assert_false(agenda_any(&agenda));
    agenda_schedule(&agenda, 7, 100);
    assert_int_equal(agenda_pop(&agenda, 99), AGENDA_NONE);
    assert_int_equal(agenda.now_ns, 99);
    assert_true(agenda_any(&agenda));
    assert_true(agenda_pending(&agenda, 7));
    assert_int_equal(agenda_pop(&agenda, 100), 7); /* the limit itself is inside */
    assert_false(agenda_pending(&agenda, 7));
    agenda_schedule(&agenda, 7, INT64_MAX); /* the last instant there is */
    assert_int_equal(agenda_pop(&agenda, INT64_MAX - 1), AGENDA_NONE);
    assert_int_equal(agenda_pop(&agenda, INT64_MAX), 7);
    assert_int_equal(agenda_pop(&agenda, INT64_MAX), AGENDA_NONE);
    assert_false(agenda_any(&agenda));
    agenda_free(&agenda);
}

static void grows_without_losing_events(void **state) {
    (void)state;
    enum { COUNT = 70000 }; /* the tree fills more than a huge page */
    struct agenda agenda;
    agenda_init(&agenda, 1);
    for (uint32_t slot = 0; slot < COUNT; slot++) {
        agenda_schedule(&agenda, slot, COUNT - slot);
    }
    agenda_reserve(&agenda, 3); /* never shrinks */
    for (uint32_t slot = COUNT; slot-- > 0;) {
        assert_int_equal(agenda_pop(&agenda, INT64_MAX), slot);
    }
    agenda_free(&agenda);
}

/* A match is as long as the logarithm of what is pending, whatever was pending before and however slots change. */
static void spans_no_more_than_what_is_pending(void **state) {
    (void)state;
    enum { SLOTS = 1000, LEFT = 4 };
    struct agenda agenda;
    agenda_init(&agenda, SLOTS);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        agenda_schedule(&agenda, slot, slot);
    }
    assert_int_equal(agenda.span, 1024);
    for (uint32_t slot = 0; slot < SLOTS - LEFT; slot++) {
        assert_int_equal(agenda_pop(&agenda, INT64_MAX), slot);
    }
    for (uint32_t slot = 0; slot < SLOTS - LEFT; slot++) { /* another slot takes the place of the popped one */
        uint32_t popped = agenda_pop(&agenda, INT64_MAX);
        assert_int_equal(popped, (SLOTS - LEFT + slot) % SLOTS);
        agenda_schedule(&agenda, slot, SLOTS + slot);
        assert_int_equal(agenda.used, LEFT);
        assert_int_equal(agenda.span, LEFT);
    }
    agenda_free(&agenda);
}

static void schedule_in_the_past(struct agenda *agenda) { agenda_schedule(agenda, 0, agenda->now_ns - 1); }
static void schedule_beyond_the_last_slot(struct agenda *agenda) { agenda_schedule(agenda, AGENDA_SLOTS_MAX, 200); }
static void hand_over_what_is_not_there(struct agenda *agenda) { agenda_hand_over(agenda, 0, 1, 200); }
static void hand_over_to_one_with_an_event_pending(struct agenda *agenda) {
    agenda_schedule(agenda, 0, 200);
    agenda_hand_over(agenda, 0, 1, 300);
}
static void hand_over_in_the_past(struct agenda *agenda) { agenda_hand_over(agenda, 1, 0, agenda->now_ns - 1); }
static void pop_with_a_limit_in_the_past(struct agenda *agenda) { agenda_pop(agenda, agenda->now_ns - 1); }
static void schedule_after_the_last_order(struct agenda *agenda) {
    agenda->next += ((UINT64_C(1) << 39) - 3) << 24; /* two were scheduled before */
    agenda_schedule(agenda, 0, 200);                 /* the last one that fits */
    if (agenda_pop(agenda, INT64_MAX) == 1) {        /* slot 1 was scheduled before */
        agenda_schedule(agenda, 0, 300);
    }
}

static bool aborts(void (*misuse)(struct agenda *)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(EXIT_FAILURE);
        }
        struct agenda agenda;
        agenda_init(&agenda, 2);
        agenda_schedule(&agenda, 0, 100);
        agenda_pop(&agenda, INT64_MAX);
        agenda_schedule(&agenda, 1, 150); /* in the popped one's place */
        misuse(&agenda);
        _exit(EXIT_SUCCESS);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void misuse_is_caught(void **state) {
    (void)state;
    assert_true(aborts(schedule_in_the_past));
    assert_true(aborts(schedule_beyond_the_last_slot));
    assert_true(aborts(hand_over_what_is_not_there));
    assert_true(aborts(hand_over_to_one_with_an_event_pending));
    assert_true(aborts(hand_over_in_the_past));
    assert_true(aborts(pop_with_a_limit_in_the_past));
    assert_true(aborts(schedule_after_the_last_order));
}

TEST_GROUP(agenda, cmocka_unit_test(agrees_with_the_naive_model),
           cmocka_unit_test(events_of_one_instant_keep_their_order),
           cmocka_unit_test(urgent_events_overtake_the_popped_slot), cmocka_unit_test(stops_at_the_limit_and_goes_on),
           cmocka_unit_test(grows_without_losing_events), cmocka_unit_test(spans_no_more_than_what_is_pending),
           cmocka_unit_test(misuse_is_caught))
