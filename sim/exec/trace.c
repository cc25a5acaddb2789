/* trace.c - see the header. A span opens where an actor pauses and closes where it goes on; what it is follows from the
 * phase that comes next, and from the station the actor is at. */
#include "sim/exec/trace.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/exec/world.h"

const char *const trace_words[TRACE_WHAT_COUNT] = {"think", "admission", "run",    "queue",    "wait", "client",
                                                   "log",   "delay",     "commit", "rollback", "abort"};

static struct trace_name name_of(const struct actor *actor) {
    return (struct trace_name){
        .terminal = actor->terminal, .number = actor->number, .lane = actor->txn.slot - SLOT_ACTORS + 1};
}

static struct trace_open *lane_of(struct trace *trace, const struct actor *actor) {
    size_t index = actor->txn.slot - SLOT_ACTORS;
    while (trace->open.count <= index) {
        vector_push(&trace->open, (struct trace_open){0});
    }
    return &trace->open.items[index];
}

/* Tables die with the run: their names are kept. */
static const char *table_name(struct trace *trace, const char *name) {
    for (size_t i = 0; i < trace->tables.count; i++) {
        if (strcmp(trace->tables.items[i], name) == 0) {
            return trace->tables.items[i];
        }
    }
    vector_push(&trace->tables, mem_string(name));
    return trace->tables.items[trace->tables.count - 1];
}

/* A mark has no length, a span must have. */
static void add(struct trace *trace, const struct trace_span *span) {
    if (span->to_ns == span->from_ns && span->what < TRACE_COMMIT) {
        return;
    }
    if (trace->spans.count >= trace->spans_max) {
        trace->full = true;
        return;
    }
    trace->lanes = span->who.lane > trace->lanes ? span->who.lane : trace->lanes;
    vector_push(&trace->spans, *span);
}

/* A queue that was left for a server in the meantime gives two spans. */
static void close_span(struct trace *trace, const struct actor *actor, int64_t now_ns) {
    struct trace_open *open = lane_of(trace, actor);
    if (!open->open) {
        return;
    }
    struct trace_span span = open->span;
    if (open->queued && actor->job.start_ns != open->start_before_ns) {
        span.to_ns = actor->job.start_ns;
        add(trace, &span);
        span.what = TRACE_RUN;
        span.from_ns = actor->job.start_ns;
    }
    span.to_ns = now_ns;
    add(trace, &span);
    open->open = false;
}

/* The waiting actor's row, if it is one that it waits for. */
static const struct row *row_of(const struct actor *actor) {
    bool has_row = actor->phase == PHASE_SOURCE || actor->phase == PHASE_RANGE || actor->phase == PHASE_READ ||
                   actor->phase == PHASE_CLAIM;
    return has_row && actor->row < actor->txn.rows.count ? &actor->txn.rows.items[actor->row] : NULL;
}

static const struct txn_list *blockers_of(struct world *world, const struct actor *actor) {
    struct txn_list *list = &world->cc.search;
    list->count = 0;
    world->ops->blockers(&world->cc, &actor->txn, list, TRACE_BLOCKERS_MOST);
    return list;
}

static enum trace_what state_of(const struct world *world, const struct actor *actor) {
    bool to_log = actor->phase == (world_publishes_early(world) ? PHASE_DURABLE : PHASE_COMMIT);
    if (!actor->live) {
        return TRACE_THINK;
    }
    if (actor->txn.state == TXN_WAITING) {
        return TRACE_WAIT;
    }
    if (actor->phase == PHASE_READY) {
        return TRACE_ADMISSION;
    }
    if (actor->phase == PHASE_READMIT) {
        return TRACE_DELAY;
    }
    if (to_log) {
        return TRACE_LOG;
    }
    return actor->job.at == NULL ? TRACE_CLIENT : station_serves(&actor->job) ? TRACE_RUN : TRACE_QUEUE;
}

static void add_wait(struct world *world, const struct actor *actor, struct trace_span *span) {
    struct trace *trace = world->trace;
    const struct row *row = row_of(actor);
    const struct txn_list *list = blockers_of(world, actor);
    span->first = trace->names.count;
    span->count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        vector_push(&trace->names, name_of(actor_of(list->items[i])));
    }
    world->cc.search.count = 0;
    if (row != NULL) {
        span->table = table_name(trace, row->table->name);
        span->key = row->key;
    }
}

void trace_start(struct world *world) {
    world->trace = world->spec->trace;
    world->trace->from_ns = world->agenda.now_ns;
    for (size_t i = 0; i < world->actor_count; i++) {
        trace_pauses(world, world->actors[i]);
    }
}

void trace_goes_on(struct world *world, struct actor *actor) { close_span(world->trace, actor, world->agenda.now_ns); }

void trace_pauses(struct world *world, struct actor *actor) {
    struct trace_open *open = lane_of(world->trace, actor);
    if (world->stopped || (!actor->live && actor->terminal == 0)) {
        return;
    }
    open->span = (struct trace_span){.who = name_of(actor),
                                     .what = state_of(world, actor),
                                     .attempt = actor->live ? actor->attempts : 0,
                                     .from_ns = world->agenda.now_ns};
    if (open->span.what == TRACE_WAIT) {
        add_wait(world, actor, &open->span);
    }
    open->open = true;
    open->queued = open->span.what == TRACE_QUEUE;
    open->start_before_ns = actor->job.start_ns;
}

void trace_ends(struct world *world, const struct actor *actor, enum trace_what what, const char *reason) {
    struct trace_span mark = {.who = name_of(actor),
                              .what = what,
                              .attempt = actor->attempts,
                              .from_ns = world->agenda.now_ns,
                              .to_ns = world->agenda.now_ns,
                              .reason = reason};
    add(world->trace, &mark);
}

void trace_graph(struct world *world) {
    struct trace *trace = world->trace;
    for (const struct txn *txn = world->cc.waiting_first; txn != NULL; txn = txn->wait_next) {
        const struct actor *actor = (const struct actor *)(const void *)txn;
        const struct row *row = row_of(actor);
        const struct txn_list *list = blockers_of(world, actor);
        for (size_t i = 0; i < list->count; i++) {
            struct trace_edge edge = {.from = name_of(actor), .to = name_of(actor_of(list->items[i]))};
            if (row != NULL) {
                edge.table = table_name(trace, row->table->name);
                edge.key = row->key;
            }
            vector_push(&trace->edges, edge);
        }
    }
    world->cc.search.count = 0;
}

void trace_finish(struct world *world) {
    for (size_t i = 0; i < world->trace->open.count; i++) {
        close_span(world->trace, world->actors[i], world->agenda.now_ns);
    }
    world->trace->to_ns = world->agenda.now_ns;
}

void trace_free(struct trace *trace) {
    for (size_t i = 0; i < trace->tables.count; i++) {
        mem_free(trace->tables.items[i]);
    }
    vector_free(&trace->tables);
    vector_free(&trace->spans);
    vector_free(&trace->names);
    vector_free(&trace->edges);
    vector_free(&trace->open);
}
