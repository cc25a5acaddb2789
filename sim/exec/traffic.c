/* traffic.c - where transactions come from and where they go: terminals, arrivals, admission, restarts.
 *
 * Admission: at most `mpl` transactions hold a slot; the others queue in FIFO order. A restarting transaction keeps its
 * slot through its delay, or gives it up and goes to the back of the queue (keeps_slot = no). */
#include "sim/exec/world.h"

#include "sim/base/check.h"

enum { STILL_MOST = 1000 }; /* restarts, or whole transactions, of one actor in one instant */

static void open_streams(struct world *world, struct actor *actor, uint64_t owner, uint64_t number) {
    struct stream_key key = {
        .seed = world->spec->seed, .replication = world->spec->replication, .owner = owner, .number = number};
    key.purpose = STREAM_SERVICE;
    stream_open(&actor->service, &key);
    key.purpose = STREAM_RESTART;
    stream_open(&actor->restart, &key);
    key.purpose = STREAM_THINK;
    stream_open(&actor->think, &key);
}

/* Does the source of transactions dry up with its number-th one? */
static bool is_the_last(const struct world *world, uint64_t number) {
    return world->spec->transactions_max > 0 && number >= world->spec->transactions_max;
}

/* ---- Arrivals of an open system: Poisson, at the rate of the profile's current part ---- */

static double current_rate(const struct world *world) {
    return world->spec->system.arrival_rate.part[world->arrivals.part].per_second;
}

/* Where a part's end cuts a gap, the rest is drawn anew at the next part's rate: the process has no memory. */
static void schedule_arrival(struct world *world) {
    const struct option_profile *profile = &world->spec->system.arrival_rate;
    int64_t from_ns = world->agenda.now_ns;
    for (;;) {
        bool last = world->arrivals.part == profile->count - 1;
        double rate = current_rate(world);
        int64_t at_ns = INT64_MAX;
        if (rate > 0) {
            double gap_ns = stream_exponential(&world->arrivals.stream) * 1e9 / rate;
            at_ns = gap_ns < 9e18 ? from_ns + (int64_t)(gap_ns + 0.5) : INT64_MAX;
        }
        if (last || at_ns <= world->arrivals.part_end_ns) {
            if (at_ns != INT64_MAX) {
                agenda_schedule(&world->agenda, SLOT_ARRIVAL, at_ns);
            }
            return;
        }
        from_ns = world->arrivals.part_end_ns;
        world->arrivals.part++;
        world->arrivals.part_end_ns += profile->part[world->arrivals.part].duration_ns;
    }
}

void traffic_arrival(struct world *world) {
    uint64_t live_max = world->spec->live_max;
    bool too_many = live_max > 0 && world->tally.live >= (int64_t)live_max;
    struct actor *actor = too_many ? NULL : world_actor(world);
    if (actor == NULL) {
        world_stop(
            world, RUN_TOO_MANY_LIVE,
            too_many
                ? "more transactions are under way than are allowed for: the arrival rate is beyond what the system can carry"
                : "more than a million transactions are under way: the arrival rate is beyond what the system can carry");
        return;
    }
    actor->terminal = 0;
    actor->number = world->arrivals.number++;
    if (!is_the_last(world, world->arrivals.number)) {
        schedule_arrival(world);
    }
    open_streams(world, actor, 0, actor->number + 1);
    actor->phase = PHASE_SUBMIT;
    walker_run(world, actor);
}

void traffic_start(struct world *world) {
    const struct system_settings *system = &world->spec->system;
    if (system->terminals == 0) {
        struct stream_key key = {
            .seed = world->spec->seed, .replication = world->spec->replication, .purpose = STREAM_ARRIVAL};
        stream_open(&world->arrivals.stream, &key);
        world->arrivals.part_end_ns = system->arrival_rate.part[0].duration_ns;
        schedule_arrival(world);
        return;
    }
    for (int64_t terminal = 1; terminal <= system->terminals; terminal++) {
        struct actor *actor = world_actor(world);
        actor->terminal = (uint64_t)terminal;
        open_streams(world, actor, actor->terminal, 0);
        int64_t start_ns = 0;
        if (system->start_within_ns > 0) {
            start_ns = (int64_t)stream_below(&actor->think, (uint64_t)system->start_within_ns);
        }
        actor->phase = PHASE_SUBMIT;
        agenda_schedule(&world->agenda, actor->txn.slot, start_ns);
    }
}

/* ---- Admission ---- */

/* Takes a slot, or queues for one; true if the attempt can begin. */
static bool admit(struct world *world, struct actor *actor) {
    if (world->spec->system.mpl == OPTION_UNLIMITED || world->admitted < world->spec->system.mpl) {
        world->admitted++;
        actor->admitted = true;
        tally_active(world, 1);
        walker_start_attempt(world, actor);
        return true;
    }
    actor->queued_ns = world->agenda.now_ns;
    actor->ready_next = NULL;
    if (world->ready_last != NULL) {
        world->ready_last->ready_next = actor;
    } else {
        world->ready_first = actor;
    }
    world->ready_last = actor;
    actor->phase = PHASE_READY;
    return false;
}

/* The slot passes to the first in the queue, who begins as an event of this instant. */
void traffic_leave(struct world *world, struct actor *actor) {
    CHECK(actor->admitted);
    actor->admitted = false;
    struct actor *next = world->ready_first;
    if (next == NULL) {
        world->admitted--;
        tally_active(world, -1);
        return;
    }
    world->ready_first = next->ready_next;
    if (world->ready_first == NULL) {
        world->ready_last = NULL;
    }
    next->admitted = true;
    next->admission_ns += world->agenda.now_ns - next->queued_ns;
    agenda_schedule(&world->agenda, next->txn.slot, world->agenda.now_ns);
}

/* ---- Transactions ---- */

static void draw_arguments(struct world *world, struct actor *actor) {
    struct stream stream;
    stream_open_one(&stream, world->program_streams, actor->terminal, actor->number);
    struct draw draw = {.stream = &stream, .terminal = actor->terminal, .number = actor->number};
    const struct workload_ops *workload = world->spec->workload;
    workload->draw(world->workload_state, &draw, actor->arguments);
    if (world->result->types != NULL) {
        size_t type = workload->type_of(world->workload_state, actor->arguments);
        CHECK(type < world->result->type_count);
        actor->type = &world->result->types[type];
    }
}

bool traffic_submit(struct world *world, struct actor *actor) {
    int64_t now_ns = world->agenda.now_ns;
    if (actor->terminal > 0 && is_the_last(world, actor->number)) {
        return false;
    }
    if (actor->still_ns != now_ns) {
        actor->still_ns = now_ns;
        actor->still_transactions = 0;
    } else if (actor->terminal > 0 && ++actor->still_transactions > STILL_MOST) {
        world_stop(world, RUN_STUCK_RESTARTING,
                   "a terminal ran 1,000 transactions while no time passed: nothing in them costs time; set think_time "
                   "or a price such as cost.cpu_access");
        return false;
    }
    actor->number++;
    draw_arguments(world, actor);
    actor->phase = PHASE_ENTER;
    const struct workload_ops *workload = world->spec->workload;
    if (workload->pause != NULL && actor->terminal > 0) {
        return price_delay(world, actor, workload->pause(world->workload_state, actor->arguments, &actor->think));
    }
    return traffic_enter(world, actor);
}

bool traffic_enter(struct world *world, struct actor *actor) {
    actor->submitted_ns = world->agenda.now_ns;
    actor->live = true;
    actor->wait_ns = actor->admission_ns = 0;
    actor->attempts = 0;
    actor->still_restarts = 0;
    tally_live(world, 1);
    return admit(world, actor);
}

/* Between two transactions of a terminal: what all think, and what the workload has to do. */
static int64_t rest_ns(struct world *world, struct actor *actor, bool committed) {
    const struct distribution *think = &world->spec->system.think_time;
    const struct workload_ops *workload = world->spec->workload;
    int64_t delay_ns = distribution_is_zero(think) ? 0 : distribution_draw(think, &actor->think);
    const struct distribution *rest = NULL;
    if (workload->ended != NULL) {
        rest = workload->ended(world->workload_state, actor->arguments, actor->registers, committed);
    }
    return rest == NULL || distribution_is_zero(rest) ? delay_ns : delay_ns + distribution_draw(rest, &actor->think);
}

bool traffic_finish(struct world *world, struct actor *actor, bool committed) {
    tally_end_transaction(world, actor);
    actor->live = false;
    traffic_leave(world, actor);
    if (actor->terminal == 0) {
        world_release_actor(world, actor);
        return false;
    }
    actor->phase = PHASE_SUBMIT;
    return price_delay(world, actor, rest_ns(world, actor, committed));
}

/* ---- Restarts ---- */

static int64_t adaptive_delay_ns(struct world *world, struct actor *actor) {
    double mean_ns = world->response_mean_ns > 0 ? world->response_mean_ns : 10e6;
    return (int64_t)(stream_exponential(&actor->restart) * mean_ns + 0.5);
}

/* Uniform up to base * factor^(restarts before this one), at most cap. */
static int64_t backoff_delay_ns(const struct option_call *delay, struct actor *actor) {
    double limit_ns = (double)delay->integer[0];
    double cap_ns = (double)delay->integer[2];
    for (uint64_t i = 1; i < actor->attempts && limit_ns < cap_ns; i++) {
        limit_ns *= delay->number[1];
    }
    limit_ns = limit_ns < cap_ns ? limit_ns : cap_ns;
    return (int64_t)stream_below(&actor->restart, (uint64_t)limit_ns + 1);
}

/* How the transaction's own kind is tried again; NULL: as all are. */
static const struct retry *own_retry(const struct world *world, const struct actor *actor) {
    const struct workload_ops *workload = world->spec->workload;
    return workload->retry != NULL ? workload->retry(world->workload_state, actor->arguments) : NULL;
}

static int64_t restart_delay_ns(struct world *world, struct actor *actor, const struct retry *own) {
    const struct option_call *delay = own != NULL && own->delay != NULL ? own->delay : &world->spec->restart.delay;
    switch ((enum restart_delay)delay->choice) {
    case RESTART_ADAPTIVE: return adaptive_delay_ns(world, actor);
    case RESTART_BACKOFF: return backoff_delay_ns(delay, actor);
    case RESTART_DISTRIBUTION: break;
    }
    return distribution_is_zero(&delay->distribution) ? 0 : distribution_draw(&delay->distribution, &actor->restart);
}

bool traffic_restart(struct world *world, struct actor *actor) {
    const struct restart_settings *restart = &world->spec->restart;
    const struct retry *own = own_retry(world, actor);
    int64_t attempts_max = own != NULL && own->max_attempts > 0 ? own->max_attempts : restart->max_attempts;
    if (actor->attempts >= (uint64_t)attempts_max) {
        tally_give_up(world, actor);
        return traffic_finish(world, actor, false);
    }
    int64_t delay_ns = restart_delay_ns(world, actor, own);
    if (world->toll != NULL) {
        world->toll->delay_ns += delay_ns;
    }
    bool moved = delay_ns > 0 || actor->attempt_start_ns != world->agenda.now_ns;
    actor->still_restarts = moved ? 0 : actor->still_restarts + 1;
    if (actor->still_restarts >= STILL_MOST) {
        world_stop(
            world, RUN_STUCK_RESTARTING,
            "a transaction restarted 1,000 times while no time passed: set restart.delay (adaptive, or a duration)");
        return false;
    }
    if (!restart->keeps_slot) {
        traffic_leave(world, actor);
    }
    /* Even without delay it is an event of its own: those whom the abort woke go first. */
    actor->phase = PHASE_READMIT;
    agenda_schedule(&world->agenda, actor->txn.slot, world->agenda.now_ns + delay_ns);
    return false;
}

bool traffic_readmit(struct world *world, struct actor *actor) {
    if (!actor->admitted) {
        return admit(world, actor);
    }
    walker_start_attempt(world, actor);
    return true;
}
