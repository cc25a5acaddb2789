/* world.c - building a world, its actors, and the services the algorithms call (store/harness.h). */
#include "sim/exec/world.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/exec/report.h"
#include "sim/kit/versions.h"

/* ---- The harness ---- */

static void harness_wake(void *context, struct txn *txn) {
    struct world *world = context;
    struct actor *actor = actor_of(txn);
    if (txn->state != TXN_WAITING || txn->doomed || actor->wait_event == EVENT_WAKE) {
        return;
    }
    actor->wait_event = EVENT_WAKE;
    agenda_schedule(&world->agenda, txn->slot, world->agenda.now_ns);
}

static bool harness_doom(void *context, struct txn *txn, int reason) {
    struct world *world = context;
    if (txn->state == TXN_IDLE || txn->state == TXN_SEALED) {
        return false;
    }
    if (txn->doomed && txn->back_to == 0) {
        return true;
    }
    struct actor *actor = actor_of(txn);
    txn->doomed = true;
    txn->back_to = 0;
    txn->reason = (uint8_t)reason;
    station_leave(&actor->job);
    agenda_schedule_urgent(&world->agenda, txn->slot);
    actor->phase = PHASE_ABORT;
    return true;
}

static void harness_back(void *context, struct txn *txn, uint32_t mark) {
    struct world *world = context;
    struct actor *actor = actor_of(txn);
    CHECK((txn->state == TXN_ACTIVE || txn->state == TXN_WAITING) && !txn->doomed && actor->job.at == NULL);
    txn->doomed = true;
    txn->back_to = mark;
    agenda_schedule_urgent(&world->agenda, txn->slot);
    actor->phase = PHASE_BACK;
}

/* One slot serves all timers of the algorithm's own: it is set for the first that is due. */
static int first_timer(const struct world *world) {
    int first = 0;
    for (int i = 1; i < TIMER_COUNT; i++) {
        first = world->timer_due_ns[i] < world->timer_due_ns[first] ? i : first;
    }
    return first;
}

static void schedule_timers(struct world *world) {
    int64_t due_ns = world->timer_due_ns[first_timer(world)];
    if (due_ns != INT64_MAX) {
        agenda_schedule(&world->agenda, SLOT_ALGORITHM, due_ns);
    }
}

void world_timer(struct world *world) {
    int timer = first_timer(world);
    CHECK(world->timer_due_ns[timer] == world->agenda.now_ns);
    world->timer_due_ns[timer] = INT64_MAX;
    schedule_timers(world);
    if (timer == TIMER_VACUUM) {
        versions_vacuum(&world->cc);
        tally_versions(world);
    } else {
        world->ops->timer(&world->cc, NULL, timer);
    }
}

static void harness_timer(void *context, struct txn *txn, int64_t delay_ns, int tag) {
    struct world *world = context;
    int64_t due_ns = world->agenda.now_ns + delay_ns;
    if (txn == NULL) {
        world->timer_due_ns[tag] = due_ns;
        schedule_timers(world);
    } else {
        actor_of(txn)->timer_ns = due_ns; /* scheduled when the wait begins */
        actor_of(txn)->timer_tag = tag;
    }
}

static struct txn *harness_find(void *context, uint64_t id) {
    struct world *world = context;
    uint32_t index = (uint32_t)(id & (AGENDA_SLOTS_MAX - 1)) - SLOT_ACTORS;
    struct txn *txn = index < world->actor_count ? &world->actors[index]->txn : NULL;
    return txn != NULL && txn->id == id && txn->state != TXN_IDLE ? txn : NULL;
}

static uint64_t harness_remaining(void *context, const struct txn *txn) {
    struct world *world = context;
    const struct actor *actor = (const struct actor *)(const void *)txn;
    const struct workload_ops *workload = world->spec->workload;
    return workload->remaining != NULL ? workload->remaining(world->workload_state, actor->arguments, actor->registers)
                                       : UINT64_MAX;
}

static const struct footprint *harness_plan_uses(void *context, const struct txn *txn) {
    struct world *world = context;
    const struct actor *actor = (const struct actor *)(const void *)txn;
    const struct workload_ops *workload = world->spec->workload;
    struct footprint *plan = &world->plan;
    if (workload->plan == NULL) {
        return NULL;
    }
    plan->count = workload->plan(world->workload_state, actor->arguments, plan->items, plan->capacity);
    if (plan->count == PLAN_UNKNOWN) {
        return NULL;
    }
    if (plan->count > plan->capacity) {
        plan->capacity = plan->count;
        plan->items = mem_resize(plan->items, plan->capacity, sizeof *plan->items);
        workload->plan(world->workload_state, actor->arguments, plan->items, plan->capacity);
    }
    footprint_arrange(plan);
    return plan;
}

static bool harness_uses_again(void *context, const struct txn *txn, const struct row *row) {
    struct world *world = context;
    const struct actor *actor = (const struct actor *)(const void *)txn;
    const struct workload_ops *workload = world->spec->workload;
    return workload->uses_again != NULL &&
           workload->uses_again(world->workload_state, actor->arguments, actor->registers, row->table, row->key);
}

static int64_t harness_now(void *memory) { return ((const struct world *)memory)->agenda.now_ns; }

/* ---- Actors ---- */

static size_t aligned(size_t size) { return (size + 15) / 16 * 16; }

/* Whole cache lines, an odd number of them: the same field of many actors spreads over all sets of a cache. */
static size_t odd_lines(size_t size) { return ((size + MEMORY_LINE - 1) / MEMORY_LINE | 1) * MEMORY_LINE; }

static struct actor *new_actor(struct world *world) {
    if (world->actor_count >= SYSTEM_TERMINALS_MAX) {
        return NULL;
    }
    if (world->actor_count == world->actor_capacity) {
        world->actors = mem_vector_grow(world->actors, &world->actor_capacity, sizeof *world->actors);
    }
    const struct workload_ops *workload = world->spec->workload;
    char *block = memset(pool_get(&world->actor_pool), 0, world->actor_size);
    struct actor *actor = (struct actor *)(void *)block;
    actor->txn.tail = block + aligned(sizeof *actor);
    actor->registers = block + world->registers_at;
    actor->arguments = block + world->registers_at + aligned(workload->registers_size);
    actor->txn.slot = (uint32_t)world->actor_count + SLOT_ACTORS;
    actor->txn.level = (uint8_t)world->ops->level;
    actor->job.slot = actor->txn.slot;
    actor->timer_ns = -1;
    agenda_reserve(&world->agenda, actor->txn.slot + 1);
    world->actors[world->actor_count++] = actor;
    return actor;
}

struct actor *world_actor(struct world *world) {
    struct actor *actor = world->free_actors;
    if (actor == NULL) {
        return new_actor(world);
    }
    world->free_actors = actor->ready_next;
    return actor;
}

void world_release_actor(struct world *world, struct actor *actor) {
    actor->ready_next = world->free_actors;
    world->free_actors = actor;
}

static void free_actor(struct actor *actor) {
    txn_free(&actor->txn);
    vector_free(&actor->reply_rows);
    vector_free(&actor->read_from);
    checkpoint_free(actor);
}

/* ---- Building ---- */

static void init_prices(struct world *world) {
    const struct cost_settings *cost = &world->spec->cost;
    world->work_is_free = distribution_is_zero(&cost->cpu_lock) && distribution_is_zero(&cost->cpu_detect) &&
                          distribution_is_zero(&cost->cpu_validate) && distribution_is_zero(&cost->cpu_hop);
    world->round_trip_is_free = distribution_is_zero(&cost->round_trip);
    world->write_is_free = distribution_is_zero(&cost->cpu_write);
    world->row_is_cpu_only = !cost->latch && distribution_is_zero(&cost->io_access);
}

/* When all else is known. */
static void init_plainness(struct world *world) {
    const unsigned elsewhere = CC_KEEPS_VERSIONS | CC_PRIVATE_WRITES | CC_EARLY_PUBLISH;
    world->is_plain = world->work_is_free && world->write_is_free && world->round_trip_is_free &&
                      world->row_is_cpu_only && !world->cc.keeps_programs && (world->ops->flags & elsewhere) == 0 &&
                      world->ops->statement == NULL;
}

static void init_stations(struct world *world) {
    const struct system_settings *system = &world->spec->system;
    station_init(&world->cpu, &world->agenda, system->cpus);
    station_init(&world->latch, &world->agenda, 1);
    station_init(&world->log, &world->agenda, system->log_devices);
    bool own_queues = system->disks != OPTION_UNLIMITED && system->disk_queues == DISK_QUEUES_OWN;
    world->disk_count = own_queues ? (uint64_t)system->disks : 1;
    world->disks = mem_new(world->disk_count, sizeof *world->disks);
    for (uint64_t i = 0; i < world->disk_count; i++) {
        station_init(&world->disks[i], &world->agenda, own_queues ? 1 : system->disks);
    }
}

static void init_algorithm(struct world *world) {
    const struct cc_ops *ops = world->ops;
    world->cc = (struct cc){.ops = ops,
                            .store = &world->store,
                            .harness = &world->harness,
                            .options = world->spec->algorithm_options,
                            .state = mem_new(1, ops->state_size),
                            .rows_per_page = world->spec->system.rows_per_page,
                            .seed = world->spec->seed,
                            .blockers = ops->blockers};
    if (ops->start != NULL) {
        ops->start(&world->cc);
    }
}

static void init_workload(struct world *world) {
    const struct workload_ops *workload = world->spec->workload;
    struct stream stream;
    struct stream_key key = {
        .seed = world->spec->seed, .replication = world->spec->replication, .purpose = STREAM_LOAD};
    stream_open(&stream, &key);
    world->workload_state = mem_new(1, workload->state_size);
    world->workload_next = workload->next;
    key.purpose = STREAM_PROGRAM;
    world->program_streams = stream_family(&key);
    workload->load(world->workload_state, world->spec->workload_options, &world->store, &stream);
}

static void init_types(struct world *world) {
    const struct workload_ops *workload = world->spec->workload;
    struct run_result *result = world->result;
    size_t count = workload->type_count != NULL ? workload->type_count(world->spec->workload_options) : 1;
    if (count > 1) {
        result->types = mem_new(count, sizeof *result->types);
        result->type_count = count;
    }
}

void world_init(struct world *world, const struct run_spec *spec, struct run_result *result) {
    *world = (struct world){.spec = spec, .result = result, .ops = spec->algorithm, .weakest = spec->algorithm->level};
    const struct workload_ops *workload = spec->workload;
    bool closed = spec->system.terminals > 0;
    for (int i = 0; i < TIMER_COUNT; i++) {
        world->timer_due_ns[i] = INT64_MAX;
    }
    agenda_init(&world->agenda, SLOT_ACTORS + (closed ? (uint32_t)spec->system.terminals : 64));
    check_context(&world->agenda.now_ns, spec->replay);
    world->harness = (struct harness){.world = world,
                                      .wake = harness_wake,
                                      .doom = harness_doom,
                                      .back = harness_back,
                                      .timer = harness_timer,
                                      .find = harness_find,
                                      .remaining = harness_remaining,
                                      .plan_uses = harness_plan_uses,
                                      .uses_again = harness_uses_again,
                                      .change_result = statement_result,
                                      .now = harness_now};
    store_init(&world->store, world->ops->record_size, &world->harness);
    if (world->ops->version_size > 0) {
        store_widen_versions(&world->store, world->ops->version_size);
    }
    world->store.keeps_versions = (world->ops->flags & CC_KEEPS_VERSIONS) != 0;
    world->store.keeps_tombstones = (world->ops->flags & CC_KEEPS_TOMBSTONES) != 0;
    world->registers_at = aligned(sizeof(struct actor)) + aligned(world->ops->txn_size);
    world->actor_size =
        odd_lines(world->registers_at + aligned(workload->registers_size) + aligned(workload->arguments_size));
    pool_init(&world->actor_pool, world->actor_size);
    init_prices(world);
    init_stations(world);
    init_algorithm(world);
    init_workload(world);
    init_types(world);
    if (spec->asks_toll) {
        world->toll = result->toll = mem_new(1, sizeof *result->toll);
    }
    report_open(world);
    init_plainness(world);
    if (closed) {
        world->commits_by_terminal = mem_new((size_t)spec->system.terminals + 1, sizeof *world->commits_by_terminal);
    }
}

void world_free(struct world *world) {
    for (size_t i = 0; i < world->actor_count; i++) {
        free_actor(world->actors[i]);
    }
    mem_free(world->actors);
    pool_free(&world->actor_pool);
    if (world->spec->workload->unload != NULL) {
        world->spec->workload->unload(world->workload_state);
    }
    mem_free(world->workload_state);
    if (world->ops->stop != NULL) {
        world->ops->stop(&world->cc);
    }
    mem_free(world->cc.state);
    mem_free(world->cc.search.items);
    mem_free(world->cc.frames.items);
    mem_free(world->cc.condemned.items);
    vector_free(&world->plan);
    store_free(&world->store);
    mem_free(world->disks);
    mem_free(world->commits_by_terminal);
    agenda_free(&world->agenda);
    check_context(NULL, NULL);
}

void world_stop(struct world *world, enum run_status status, const char *sentence) {
    if (!world->stopped) {
        world->stopped = true;
        world->result->status = status;
        text_add(&world->result->message, "%s", sentence);
    }
}
