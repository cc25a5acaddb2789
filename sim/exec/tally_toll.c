/* tally_toll.c - what a run that is asked for it counts of its losses: toll.h. */
#include "sim/base/check.h"
#include "sim/exec/world.h"

/* The part of the time since `from_ns` that lies in the measured window. */
static int64_t measured_ns(const struct world *world, int64_t from_ns) {
    int64_t start_ns = from_ns > world->tally.start_ns ? from_ns : world->tally.start_ns;
    return world->agenda.now_ns - start_ns;
}

void tally_toll_begin(struct actor *actor) {
    bool at_row = actor->phase == PHASE_SOURCE || actor->phase == PHASE_RANGE || actor->phase == PHASE_READ ||
                  actor->phase == PHASE_CLAIM;
    const struct row *row = at_row && actor->row < actor->txn.rows.count ? &actor->txn.rows.items[actor->row] : NULL;
    actor->wait_table = row != NULL ? row->table->name : NULL;
    actor->wait_key = row != NULL ? row->key : 0;
}

void tally_toll_wait(struct world *world, const struct actor *actor) {
    toll_add(world->toll, actor->wait_table, actor->wait_key, measured_ns(world, actor->wait_since_ns));
}

void tally_toll_abort(struct world *world, const struct actor *actor) {
    world->toll->aborted_ns += measured_ns(world, actor->attempt_start_ns);
}

void tally_toll_start(struct world *world) {
    if (world->toll != NULL) {
        *world->toll = (struct toll){0};
    }
}

static void add_station(struct toll_queue *queue, struct station *station, double window_ns) {
    station_settle(station);
    queue->busy_ns += (double)station->busy_ns;
    if (station->servers != STATION_UNLIMITED) {
        queue->limited = true;
        queue->queued_ns += (double)station->queue_ns;
        queue->capacity_ns += (double)station->servers * window_ns;
    }
}

/* The invariant of toll.h. */
static void check_sum(const struct world *world) {
    const struct toll *toll = world->toll;
    tally_area sum = (tally_area)toll->elsewhere_ns;
    for (int i = 0; i < toll->row_count; i++) {
        sum += (uint64_t)toll->rows[i].waited_ns;
    }
    CHECK_MSG(sum == world->tally.blocked_area, "the waits do not add up to the time blocked");
}

void tally_toll_finish(struct world *world) {
    struct toll *toll = world->toll;
    if (toll == NULL) {
        return;
    }
    for (const struct txn *txn = world->cc.waiting_first; txn != NULL; txn = txn->wait_next) {
        tally_toll_wait(world, (const struct actor *)(const void *)txn);
    }
    check_sum(world);
    double window_ns = (double)(world->agenda.now_ns - world->tally.start_ns);
    add_station(&toll->stations[TOLL_CPU], &world->cpu, window_ns);
    add_station(&toll->stations[TOLL_LATCH], &world->latch, window_ns);
    bool queues_at_log = !world->spec->system.log_group || world->spec->system.log_devices == OPTION_UNLIMITED;
    if (queues_at_log) {
        add_station(&toll->stations[TOLL_LOG], &world->log, window_ns);
    }
    for (uint64_t i = 0; i < world->disk_count; i++) {
        add_station(&toll->stations[TOLL_DISK], &world->disks[i], window_ns);
    }
}
