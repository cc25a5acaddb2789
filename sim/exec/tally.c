/* tally.c - what is counted in the measured window, from the end of the warm-up to the end of the run.
 *
 * Areas (number x time) are exact integers, and so are the pieces of transactions that straddle the window: Little's
 * law in its operational form - the area under the population equals the sum of the times spent in the system - is
 * checked on every run, and so is the utilization law of every station. */
#include "sim/exec/world.h"

#include "sim/base/check.h"
#include "sim/base/digest.h"

static void advance(tally_area *area, int64_t number, int64_t *changed_ns, int64_t now_ns) {
    *area += (tally_area)number * (tally_area)(now_ns - *changed_ns);
    *changed_ns = now_ns;
}

void tally_live(struct world *world, int change) {
    struct tally *tally = &world->tally;
    advance(&tally->live_area, tally->live, &tally->live_changed_ns, world->agenda.now_ns);
    tally->live += change;
}

void tally_blocked(struct world *world, int change) {
    struct tally *tally = &world->tally;
    advance(&tally->blocked_area, tally->blocked, &tally->blocked_changed_ns, world->agenda.now_ns);
    tally->blocked += change;
}

void tally_active(struct world *world, int change) {
    struct tally *tally = &world->tally;
    advance(&tally->active_area, tally->active, &tally->active_changed_ns, world->agenda.now_ns);
    tally->active += change;
}

static void advance_all(struct world *world) {
    tally_live(world, 0);
    tally_blocked(world, 0);
    tally_active(world, 0);
}

/* Keeps the memory of the histograms. */
static void type_clear(struct run_result *type) {
    struct histogram wait = type->wait, response = type->response, rollback_response = type->rollback_response;
    histogram_clear(&wait);
    histogram_clear(&response);
    histogram_clear(&rollback_response);
    *type = (struct run_result){.wait = wait, .response = response, .rollback_response = rollback_response};
}

void tally_start(struct world *world) {
    advance_all(world);
    struct tally before = world->tally;
    int64_t now_ns = world->agenda.now_ns;
    world->tally = (struct tally){.start_ns = now_ns,
                                  .live = before.live,
                                  .live_before = before.live,
                                  .blocked = before.blocked,
                                  .active = before.active,
                                  .live_changed_ns = now_ns,
                                  .blocked_changed_ns = now_ns,
                                  .active_changed_ns = now_ns,
                                  .lock_upgrades_before = world->cc.lock_upgrades,
                                  .escalations_before = world->cc.escalations};
    tally_versions_start(world);
    tally_toll_start(world);
    histogram_clear(&world->result->wait);
    histogram_clear(&world->result->response);
    histogram_clear(&world->result->rollback_response);
    world->result->rollback_response_sum_ns = 0;
    for (size_t i = 0; i < world->result->type_count; i++) {
        type_clear(&world->result->types[i]);
    }
    station_reset(&world->cpu);
    station_reset(&world->latch);
    station_reset(&world->log);
    for (uint64_t i = 0; i < world->disk_count; i++) {
        station_reset(&world->disks[i]);
    }
    for (size_t i = 0; i < world->actor_count; i++) {
        world->actors[i]->cpu_ns = 0;
    }
    if (world->commits_by_terminal != NULL) {
        for (int64_t i = 0; i <= world->spec->system.terminals; i++) {
            world->commits_by_terminal[i] = 0;
        }
    }
}

void tally_outcome(struct world *world, const struct actor *actor, uint64_t outcome) {
    uint64_t digest = world->digest;
    digest = digest_add(digest, (uint64_t)world->agenda.now_ns);
    digest = digest_add(digest, actor->terminal << 32 ^ actor->number);
    digest = digest_add(digest, outcome << 56 ^ actor->fold);
    world->digest = digest;
}

void tally_wait(struct world *world, const struct actor *actor) {
    world->tally.waits++;
    if (actor->type != NULL) {
        actor->type->waits++;
    }
}

static void record_rollback(struct run_result *result, int64_t response_ns) {
    result->rollback_response_sum_ns += (double)response_ns;
    histogram_record(&result->rollback_response, response_ns);
}

void tally_rollback(struct world *world, const struct actor *actor) {
    int64_t response_ns = world->agenda.now_ns - actor->submitted_ns;
    world->tally.rollbacks++;
    record_rollback(world->result, response_ns);
    if (actor->type != NULL) {
        actor->type->rollbacks++;
        record_rollback(actor->type, response_ns);
    }
}

void tally_give_up(struct world *world, const struct actor *actor) {
    world->tally.gave_up++;
    if (actor->type != NULL) {
        actor->type->gave_up++;
    }
}

static void type_commit(const struct actor *actor, int64_t response_ns) {
    struct run_result *type = actor->type;
    type->commits++;
    type->wait_sum_ns += (double)actor->wait_ns;
    type->response_sum_ns += (double)response_ns;
    type->admission_sum_ns += (double)actor->admission_ns;
    histogram_record(&type->wait, actor->wait_ns);
    histogram_record(&type->response, response_ns);
}

void tally_commit(struct world *world, struct actor *actor) {
    struct tally *tally = &world->tally;
    int64_t response_ns = world->agenda.now_ns - actor->submitted_ns;
    tally->commits++;
    tally->wait_sum_ns += (double)actor->wait_ns;
    tally->response_sum_ns += (double)response_ns;
    tally->admission_sum_ns += (double)actor->admission_ns;
    tally->cpu_useful_ns += actor->cpu_ns;
    histogram_record(&world->result->wait, actor->wait_ns);
    histogram_record(&world->result->response, response_ns);
    if (actor->type != NULL) {
        type_commit(actor, response_ns);
    }
    if (world->commits_by_terminal != NULL) {
        world->commits_by_terminal[actor->terminal]++;
    }
    world->response_count++;
    world->response_mean_ns += ((double)response_ns - world->response_mean_ns) / (double)world->response_count;
    tally_versions(world);
    tally_outcome(world, actor, OUTCOME_COMMIT);
}

void tally_abort(struct world *world, const struct actor *actor, enum reason reason) {
    world->tally.aborts_by_reason[reason]++;
    if (actor->type != NULL) {
        actor->type->aborts_by_reason[reason]++;
    }
    if (world->toll != NULL) {
        tally_toll_abort(world, actor);
    }
    tally_outcome(world, actor, (uint64_t)reason + ((int)reason < (int)OUTCOME_COMMIT ? 0 : 2));
}

static tally_area piece_ns(const struct world *world, const struct actor *actor) {
    int64_t from_ns = actor->submitted_ns > world->tally.start_ns ? actor->submitted_ns : world->tally.start_ns;
    return (tally_area)(world->agenda.now_ns - from_ns);
}

void tally_end_transaction(struct world *world, const struct actor *actor) {
    world->tally.live_pieces += piece_ns(world, actor);
    tally_live(world, -1);
}

void tally_sample(struct world *world, struct run_samples *samples) {
    const struct tally *tally = &world->tally;
    advance_all(world);
    struct run_sample sample = {.time_ns = world->agenda.now_ns - tally->start_ns,
                                .commits = tally->commits,
                                .rollbacks = tally->rollbacks,
                                .waits = tally->waits,
                                .response_sum_ns = tally->response_sum_ns,
                                .wait_sum_ns = tally->wait_sum_ns,
                                .live_area_ns = (double)tally->live_area,
                                .blocked_area_ns = (double)tally->blocked_area,
                                .active_area_ns = (double)tally->active_area};
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        sample.aborts += tally->aborts_by_reason[reason];
    }
    tally_versions_sample(world, &sample);
    vector_push(samples, sample);
}

/* ---- The end of the run ---- */

static void check_laws(struct world *world) {
    struct tally *tally = &world->tally;
    for (size_t i = 0; i < world->actor_count; i++) {
        if (world->actors[i]->live) {
            tally->live_pieces += piece_ns(world, world->actors[i]);
        }
    }
    CHECK_MSG(tally->live_area == tally->live_pieces, "Little's law does not hold");
    int64_t served_ns = world->cpu.served_ns;
    for (size_t i = 0; i < world->actor_count; i++) {
        const struct station_job *job = &world->actors[i]->job;
        if (job->at == &world->cpu && station_serves(job)) {
            int64_t from_ns = job->start_ns > tally->start_ns ? job->start_ns : tally->start_ns;
            served_ns += world->agenda.now_ns - from_ns;
        }
    }
    station_settle(&world->cpu);
    CHECK_MSG(world->cpu.busy_ns == (station_area)served_ns, "the utilization law does not hold");
}

/* Every transaction is of one type, so the types' counts add up. */
static void finish_types(const struct run_result *result) {
    uint64_t commits = 0, rollbacks = 0, waits = 0;
    for (size_t i = 0; i < result->type_count; i++) {
        struct run_result *type = &result->types[i];
        type->sim_seconds = result->sim_seconds;
        commits += type->commits;
        rollbacks += type->rollbacks;
        waits += type->waits;
    }
    CHECK(result->type_count == 0 ||
          (commits == result->commits && rollbacks == result->rollbacks && waits == result->waits));
}

static void finish_fairness(struct world *world) {
    struct run_result *result = world->result;
    result->terminals = (uint64_t)world->spec->system.terminals;
    for (int64_t i = 1; i <= world->spec->system.terminals; i++) {
        double commits = (double)world->commits_by_terminal[i];
        result->fairness_sum += commits;
        result->fairness_sum_of_squares += commits * commits;
    }
}

void tally_finish(struct world *world) {
    struct run_result *result = world->result;
    const struct tally *tally = &world->tally;
    advance_all(world);
    check_laws(world);
    int64_t window_ns = world->agenda.now_ns - tally->start_ns;
    result->sim_seconds = (double)window_ns / 1e9;
    result->warmup_seconds = (double)world->spec->warmup_ns / 1e9;
    result->live_before = tally->live_before;
    result->live_after = tally->live;
    result->commits = tally->commits;
    result->rollbacks = tally->rollbacks;
    result->gave_up = tally->gave_up;
    result->waits = tally->waits;
    for (int i = 0; i < REASON_COUNT; i++) {
        result->aborts_by_reason[i] = tally->aborts_by_reason[i];
    }
    result->lock_upgrades = world->cc.lock_upgrades - tally->lock_upgrades_before;
    result->escalations = world->cc.escalations - tally->escalations_before;
    result->partial_rollbacks = tally->partial_rollbacks;
    result->statements_kept = tally->statements_kept;
    result->wait_sum_ns = tally->wait_sum_ns;
    result->response_sum_ns = tally->response_sum_ns;
    result->admission_sum_ns = tally->admission_sum_ns;
    result->blocked_area_ns = (double)tally->blocked_area;
    result->active_area_ns = (double)tally->active_area;
    tally_versions_finish(world);
    tally_toll_finish(world);
    result->live_change = tally->live - tally->live_before;
    result->cpus_limited = world->spec->system.cpus != OPTION_UNLIMITED;
    result->cpu_busy_ns = (double)world->cpu.busy_ns;
    result->cpu_useful_ns = (double)tally->cpu_useful_ns;
    result->cpu_capacity_ns = result->cpus_limited ? (double)world->spec->system.cpus * (double)window_ns : 0;
    result->events = world->agenda.handled;
    result->digest = world->digest;
    finish_fairness(world);
    finish_types(result);
}
