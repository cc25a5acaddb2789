/* tally_versions.c - what is counted of old versions in the measured window: how many there are, how many of them are
 * dead, and how many are passed on the way to the one that is looked for. */
#include "sim/exec/world.h"

#include "sim/base/check.h"

static void change(struct version_gauge *gauge, uint64_t number, int64_t now_ns) {
    gauge->area += (tally_area)gauge->number * (tally_area)(now_ns - gauge->changed_ns);
    gauge->changed_ns = now_ns;
    gauge->number = number;
    gauge->most = number > gauge->most ? number : gauge->most;
}

void tally_versions(struct world *world) {
    struct version_tally *tally = &world->versions;
    uint64_t stored = world->store.extra_versions, dead = store_dead(&world->store);
    if (stored != tally->stored.number || dead != tally->dead.number) {
        change(&tally->stored, stored, world->agenda.now_ns);
        change(&tally->dead, dead, world->agenda.now_ns);
    }
}

void tally_walk(struct world *world, uint32_t passed, bool is_scan) {
    struct version_tally *tally = &world->versions;
    tally->walked += passed;
    tally->rows++;
    tally->passed_most = passed > tally->passed_most ? passed : tally->passed_most;
    if (is_scan) {
        tally->scan_walked += passed;
        tally->scan_rows++;
    }
}

void tally_versions_start(struct world *world) {
    int64_t now_ns = world->agenda.now_ns;
    uint64_t stored = world->versions.stored.number, dead = world->versions.dead.number;
    world->versions = (struct version_tally){.stored = {.number = stored, .most = stored, .changed_ns = now_ns},
                                             .dead = {.number = dead, .most = dead, .changed_ns = now_ns},
                                             .removed_before = world->store.removed,
                                             .vacuums_before = world->cc.vacuums};
}

static void advance(struct world *world) {
    change(&world->versions.stored, world->versions.stored.number, world->agenda.now_ns);
    change(&world->versions.dead, world->versions.dead.number, world->agenda.now_ns);
}

void tally_versions_sample(struct world *world, struct run_sample *sample) {
    advance(world);
    sample->versions_area_ns = (double)world->versions.stored.area;
    sample->versions_dead_area_ns = (double)world->versions.dead.area;
}

void tally_versions_finish(struct world *world) {
    const struct version_tally *tally = &world->versions;
    struct run_result *result = world->result;
    advance(world);
    result->versions_area_ns = (double)tally->stored.area;
    result->versions_max = tally->stored.most;
    result->versions_dead_area_ns = (double)tally->dead.area;
    result->versions_dead_max = tally->dead.most;
    result->versions_walked = tally->walked;
    result->version_rows = tally->rows;
    result->chain_length_max = tally->rows > 0 ? (uint64_t)tally->passed_most + 1 : 0;
    result->scan_versions_walked = tally->scan_walked;
    result->scan_version_rows = tally->scan_rows;
    result->versions_removed = world->store.removed - tally->removed_before;
    result->vacuums = world->cc.vacuums - tally->vacuums_before;
}
