/* price.c - the price list: turns what happened into time at a resource.
 *
 * Every function here either starts a service - the actor's phase already names what comes after it - and returns
 * false, or finds nothing to pay and returns true, so that the walker goes on in the same instant. */
#include "sim/base/check.h"
#include "sim/exec/world.h"

static int64_t draw_many(struct actor *actor, const struct distribution *price, uint32_t count) {
    if (count == 0 || distribution_is_zero(price)) {
        return 0;
    }
    if (price->kind == DISTRIBUTION_CONSTANT) {
        return price->mean_ns * count;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += distribution_draw(price, &actor->service);
    }
    return sum;
}

static bool serve(struct station *station, struct actor *actor, int64_t service_ns) {
    if (service_ns == 0) {
        return true;
    }
    station_join(station, &actor->job, service_ns);
    return false;
}

bool price_delay(struct world *world, struct actor *actor, int64_t delay_ns) {
    if (delay_ns == 0) {
        return true;
    }
    agenda_schedule(&world->agenda, actor->txn.slot, world->agenda.now_ns + delay_ns);
    return false;
}

bool price_disk(struct world *world, struct actor *actor, const struct distribution *service) {
    if (distribution_is_zero(service)) {
        return true;
    }
    uint64_t disk = world->disk_count > 1 ? stream_below(&actor->service, world->disk_count) : 0;
    return serve(&world->disks[disk], actor, distribution_draw(service, &actor->service));
}

/* What passes the latch costs CPU nowhere else. */
bool price_latch(struct world *world, struct actor *actor) {
    const struct cost_settings *cost = &world->spec->cost;
    if (!cost->latch) {
        return true;
    }
    struct work *work = &actor->txn.work;
    int64_t service_ns =
        draw_many(actor, &cost->cpu_lock, work->locks) + draw_many(actor, &cost->cpu_detect, work->searched);
    work->locks = work->searched = 0;
    return serve(&world->latch, actor, service_ns);
}

int64_t price_work_done(struct world *world, struct actor *actor) {
    const struct cost_settings *cost = &world->spec->cost;
    struct work work = actor->txn.work;
    actor->txn.work = (struct work){0};
    return draw_many(actor, &cost->cpu_lock, work.locks) + draw_many(actor, &cost->cpu_detect, work.searched) +
           draw_many(actor, &cost->cpu_validate, work.validated) + draw_many(actor, &cost->cpu_hop, work.hops);
}

__attribute__((noinline)) int64_t price_write(struct world *world, struct actor *actor) {
    return price_draw(actor, &world->spec->cost.cpu_write);
}

/* ---- The log ---- */

/* A force that carries everyone who waits for it: the first of them lends it his slot. */
static void start_group_force(struct world *world) {
    struct log_group *group = &world->log_group;
    struct actor *leader = group->first;
    group->first = group->last = NULL;
    group->forces++;
    leader->leads_force = true;
    int64_t service_ns = price_draw(leader, &world->spec->cost.log_force);
    agenda_schedule(&world->agenda, leader->txn.slot, world->agenda.now_ns + service_ns);
}

bool price_log(struct world *world, struct actor *actor) {
    const struct system_settings *system = &world->spec->system;
    if (distribution_is_zero(&world->spec->cost.log_force)) {
        return true;
    }
    if (!system->log_group || system->log_devices == OPTION_UNLIMITED) {
        return serve(&world->log, actor, price_draw(actor, &world->spec->cost.log_force));
    }
    struct log_group *group = &world->log_group;
    actor->ready_next = NULL;
    if (group->last != NULL) {
        group->last->ready_next = actor;
    } else {
        group->first = actor;
    }
    group->last = actor;
    if (group->forces < system->log_devices) {
        start_group_force(world);
    }
    return false;
}

/* The event of an actor that comes from the log: a group's leader takes the others with him. */
void price_log_done(struct world *world, struct actor *actor) {
    const struct system_settings *system = &world->spec->system;
    if (!system->log_group || system->log_devices == OPTION_UNLIMITED || !actor->leads_force) {
        return;
    }
    actor->leads_force = false;
    world->log_group.forces--;
    struct actor *next;
    for (struct actor *member = actor->ready_next; member != NULL; member = next) {
        next = member->ready_next;
        agenda_schedule(&world->agenda, member->txn.slot, world->agenda.now_ns);
    }
    if (world->log_group.first != NULL) {
        start_group_force(world);
    }
}
