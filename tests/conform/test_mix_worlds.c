/* test_mix_worlds.c - random mixes in random small worlds through every algorithm: certified, to their end, the same when
 * repeated, and sound as long as the algorithm promises the level that protects what they declare. */
#include <inttypes.h>

#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/lab/storm_world.h"
#include "tests/support/harness.h"
#include "tests/support/sections.h"

enum { WORLDS = 12, WORLDS_LONG = 400, STEPS_MOST = 4, TYPES_MOST = 3 };

/* Steps that may stand anywhere, in any order, more than once. Whatever they move between rows of t, they conserve. */
static const char *const moves[] = {
    "w(t a, -=n) w(t b, +=n)",
    "u(t a) u(t b) w(t a, $a-n) w(t b, $b+n)",
    "u(t a, b) if($a>=n) (w(t a, $a-n) w(t b, $b+n))",
    "r(t a) r(t b) w(t b, $b+1) w(t a, $a-1)",
    "w(t a, -=n, if>=n) else rollback w(t b, +=n)",
    "p(s) w(t a, 0) d(j v=1) f(s)",
};
static const char *const others[] = {
    "r(t a, b)",
    "q(t v%2=0 & id<=b)",
    "each c (s(t c))",
    "each c (if(c>a) (r(t c)) else (u(t c):skip))",
    "i(j k, n) else (think(100us))",
    "d(j v<=n & id<=6)",
    "u(j v%2=1):skip:1 else (think(exp(300us)))",
    "u(j id>=2):nowait:1 else (i(j 9, 0) else commit)",
    "w(j v=n, @1+1)",
    "think(exp(500us))",
    "w(j id>=k-3, +=1)",
};
enum { MOVES = sizeof moves / sizeof moves[0], OTHERS = sizeof others / sizeof others[0] };

static uint64_t below(struct stream *stream, uint64_t bound) { return stream_below(stream, bound); }

static void write_type(struct stream *stream, uint64_t number, struct text *out) {
    text_add(out,
             "[transaction x%d]\nweight = %d\nrollback = %d%%\nlet a = %s\nlet b = uniform(t) not a\n"
             "let c[3] = uniform(t)%s\nlet n = uniform(1, 4)\nlet k = sequence(j)\nsteps =",
             (int)number, (int)below(stream, 4) + 1, (int)below(stream, 3) * 10,
             below(stream, 2) == 0 ? "uniform(t)" : "zipf(t, 1.2)", below(stream, 2) == 0 ? " sorted" : "");
    uint64_t steps = below(stream, STEPS_MOST) + 1;
    for (uint64_t i = 0; i < steps; i++) {
        text_add(out, " %s", below(stream, 2) == 0 ? moves[below(stream, MOVES)] : others[below(stream, OTHERS)]);
    }
    text_add(out, "\n");
}

static void write_mix(uint64_t seed, struct text *out) {
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = seed, .purpose = STREAM_TEST, .owner = 77});
    text_add(out, "[table t]\nrows = %d\nvalue = 3\n[table j]\nrows = %d\n", (int)below(&stream, 6) + 4,
             (int)below(&stream, 5));
    uint64_t types = below(&stream, TYPES_MOST) + 1;
    for (uint64_t i = 0; i < types; i++) {
        write_type(&stream, i, out);
    }
    text_add(out, "[transaction audit]\nsteps = q(t *) expect(sum-count-count-count=0)\n");
    text_add(out, "[invariant]\nlevel = si\ntotal = sum(t) constant\n");
}

/* Did the algorithm break what it promises? */
static bool check_world(const struct cc_ops *algorithm, uint64_t seed) {
    bool broken = false;
    struct storm_world world;
    struct storm_subject subject = {
        .algorithm = algorithm, .workload = workload_find("mix"), .seed = 5, .number = seed};
    struct text text = {0};
    struct run_result result, again;
    storm_world_draw(&world, &subject);
    if (world.spec.workload == subject.workload) { /* one that needs footprints had no use for it */
        write_mix(seed, &text);
        sections_compile(subject.workload, world.workload_options, text_string(&text));
        world.spec.certify = true;
        run_simulate(&world.spec, &result);
        world.spec.certify = false;
        run_simulate(&world.spec, &again);
        broken = result.promise_broken || (result.audit == RUN_AUDIT_BROKEN && result.audit_promised);
        if (result.status != RUN_OK || !result.quiescent || result.digest != again.digest ||
            (broken && algorithm != cc_find("none"))) {
            fail_msg("%s, world %" PRIu64 ": %s%s%s\n%s", algorithm->name, seed, text_string(&result.message),
                     text_string(&result.witness), text_string(&result.audit_message), text_string(&text));
        }
        subject.workload->discard(world.workload_options);
        run_result_free(&result);
        run_result_free(&again);
    }
    text_free(&text);
    storm_world_free(&world);
    return broken;
}

/* But for the canary, which must be caught. */
static void every_algorithm_keeps_its_promise(void **state) {
    (void)state;
    size_t broken = 0, worlds = test_long() ? WORLDS_LONG : WORLDS;
    for (size_t i = 0; i < cc_registry_count; i++) {
        for (uint64_t seed = 1; seed <= worlds; seed++) {
            broken += check_world(cc_registry[i], seed);
        }
    }
    print_message("the canary was caught in %zu of %zu worlds\n", broken, worlds);
    assert_true(broken > worlds / 4);
}

TEST_GROUP(mix_worlds, cmocka_unit_test(every_algorithm_keeps_its_promise))
