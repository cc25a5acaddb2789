/* judge_versions.c - the serialization graph of versions, and what follows from it. See judge_versions.h.
 *
 * The versions of a row stand in one chain, each behind the one it names; a version's place in it is what reads are
 * compared by. The graph goes to the same search for orders and cycles that judges written schedules. */
#include "sim/check/judge_versions.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/check/judge_parts.h"

struct chain {
    uint32_t *items; /* operations that write, in version order */
    size_t count, capacity;
};

struct versions {
    const struct versions_history *input;
    struct verdict *verdict;
    struct chain *chains; /* of rows */
    uint32_t *places;     /* of operations: place of the version written, or seen, in the chain, from 1; 0: the start */
    struct history history; /* for the words */
    struct judge_graph graph;
};

static const struct versions_op *op_at(const struct versions *versions, uint32_t index) {
    return &versions->input->ops[index];
}

static const struct versions_life *life_at(const struct versions *versions, uint32_t life) {
    return &versions->input->lives[life];
}

/* ---- Chains ---- */

/* The place of a life's version of a row, from 1; 0: of what was there at the start. */
static uint32_t place_of(const struct versions *versions, uint32_t row, uint32_t life) {
    const struct chain *chain = &versions->chains[row];
    for (size_t i = chain->count; i-- > 0;) {
        if (op_at(versions, chain->items[i])->life == life) {
            return (uint32_t)i + 1;
        }
    }
    return 0;
}

static void build_chains(struct versions *versions) {
    versions->chains = mem_new(versions->input->schedule->row_count, sizeof *versions->chains);
    versions->places = mem_new(versions->input->op_count, sizeof *versions->places);
    for (uint32_t i = 0; i < versions->input->op_count; i++) {
        const struct versions_op *op = op_at(versions, i);
        if (op->write && life_at(versions, op->life)->committed) {
            struct chain *chain = &versions->chains[op->row];
            size_t place = op->other == VERSIONS_NONE ? 0 : place_of(versions, op->row, op->other);
            vector_push(chain, i);
            memmove(&chain->items[place + 1], &chain->items[place], (chain->count - 1 - place) * sizeof *chain->items);
            chain->items[place] = i;
        }
    }
    for (size_t row = 0; row < versions->input->schedule->row_count; row++) {
        for (uint32_t i = 0; i < versions->chains[row].count; i++) {
            versions->places[versions->chains[row].items[i]] = i + 1;
        }
    }
    for (uint32_t i = 0; i < versions->input->op_count; i++) {
        const struct versions_op *op = op_at(versions, i);
        if (!op->write && op->other != VERSIONS_NONE) {
            versions->places[i] = place_of(versions, op->row, op->other);
        }
    }
}

/* Does the version at that place (0: the start) belong to what the predicate asks for? */
static bool belongs(const struct versions *versions, uint32_t row, uint32_t place, uint32_t predicate) {
    const struct schedule_row *start = &versions->input->schedule->rows[row];
    bool present = start->present;
    int64_t value = start->value;
    if (place > 0) {
        const struct versions_op *op = op_at(versions, versions->chains[row].items[place - 1]);
        present = !op->absent;
        value = op->value;
    }
    return present && condition_holds(&versions->input->schedule->predicates[predicate].condition, start->id, value);
}

/* ---- The graph ---- */

static void add_edge(struct versions *versions, uint32_t first, uint32_t second, uint32_t kind) {
    struct judge_graph *graph = &versions->graph;
    uint32_t from = op_at(versions, first)->life, to = op_at(versions, second)->life;
    if (from == to) {
        return;
    }
    if (graph->edge_count == graph->edge_capacity) {
        graph->edges = mem_vector_grow(graph->edges, &graph->edge_capacity, sizeof *graph->edges);
    }
    graph->edges[graph->edge_count++] = (struct judge_edge){
        .from = graph->nodes[from], .to = graph->nodes[to], .kind = kind, .first = first, .second = second};
}

/* From who saw a version to who wrote the next one; its own does not count. */
static void overwritten(struct versions *versions, uint32_t read) {
    const struct versions_op *op = op_at(versions, read);
    const struct chain *chain = &versions->chains[op->row];
    for (size_t i = versions->places[read]; i < chain->count; i++) {
        if (op_at(versions, chain->items[i])->life != op->life) {
            add_edge(versions, read, chain->items[i], JUDGE_RW);
            return;
        }
    }
}

/* A scan passed the row by: who made it so, and who changed that later. */
static void passed_by(struct versions *versions, uint32_t read) {
    const struct versions_op *op = op_at(versions, read);
    const struct chain *chain = &versions->chains[op->row];
    for (uint32_t place = versions->places[read]; place > 0; place--) {
        if (belongs(versions, op->row, place - 1, op->predicate)) {
            add_edge(versions, chain->items[place - 1], read, JUDGE_WR);
            break;
        }
    }
    for (uint32_t place = versions->places[read]; place < chain->count; place++) {
        if (op_at(versions, chain->items[place])->life != op->life &&
            belongs(versions, op->row, place + 1, op->predicate)) {
            add_edge(versions, read, chain->items[place], JUDGE_PREDICATE_RW);
            return;
        }
    }
}

static void follow_read(struct versions *versions, uint32_t read) {
    const struct versions_op *op = op_at(versions, read);
    if (op->predicate != VERSIONS_NONE && !op->matched) {
        passed_by(versions, read);
        return;
    }
    if (versions->places[read] > 0) {
        add_edge(versions, versions->chains[op->row].items[versions->places[read] - 1], read, JUDGE_WR);
    }
    overwritten(versions, read);
}

struct numbered {
    int64_t number;
    uint32_t life;
};

static int by_number(const void *a, const void *b) {
    const struct numbered *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static void number_nodes(struct versions *versions) {
    struct judge_graph *graph = &versions->graph;
    size_t count = versions->input->life_count;
    struct numbered *sorted = mem_new(count, sizeof *sorted);
    graph->nodes = mem_new(count, sizeof *graph->nodes);
    graph->lives = mem_new(count, sizeof *graph->lives);
    for (uint32_t i = 0; i < count; i++) {
        const struct versions_life *life = life_at(versions, i);
        graph->nodes[i] = HISTORY_NONE;
        if (life->committed) {
            sorted[graph->node_count++] =
                (struct numbered){.number = versions->input->schedule->txns[life->txn], .life = i};
        }
    }
    qsort(sorted, graph->node_count, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->lives[i] = sorted[i].life;
        graph->nodes[sorted[i].life] = i;
    }
    mem_free(sorted);
}

static int by_from(const void *a, const void *b) {
    const struct judge_edge *left = a, *right = b;
    if (left->from != right->from) {
        return left->from < right->from ? -1 : 1;
    }
    return left->first != right->first ? (left->first < right->first ? -1 : 1)
                                       : (left->second > right->second) - (left->second < right->second);
}

static void build_graph(struct versions *versions) {
    struct judge_graph *graph = &versions->graph;
    graph->history = &versions->history;
    number_nodes(versions);
    for (uint32_t i = 0; i < versions->input->op_count; i++) {
        const struct versions_op *op = op_at(versions, i);
        if (!life_at(versions, op->life)->committed) {
            continue;
        }
        if (!op->write) {
            follow_read(versions, i);
        } else if (versions->places[i] > 1) {
            add_edge(versions, versions->chains[op->row].items[versions->places[i] - 2], i, JUDGE_WW);
        }
    }
    if (graph->edge_count > 0) {
        qsort(graph->edges, graph->edge_count, sizeof *graph->edges, by_from);
    }
    graph->begin = mem_new(graph->node_count + 2, sizeof *graph->begin);
    for (size_t i = 0; i < graph->edge_count; i++) {
        graph->begin[graph->edges[i].from + 1]++;
    }
    for (size_t i = 1; i < graph->node_count + 2; i++) {
        graph->begin[i] += graph->begin[i - 1];
    }
}

/* What the words of the verdict need to know of operations and lives. */
static void build_history(struct versions *versions) {
    const struct versions_history *input = versions->input;
    struct history *history = &versions->history;
    *history =
        (struct history){.schedule = input->schedule, .op_count = input->op_count, .life_count = input->life_count};
    history->ops = mem_new(input->op_count, sizeof *history->ops);
    history->lives = mem_new(input->life_count, sizeof *history->lives);
    for (size_t i = 0; i < input->op_count; i++) {
        const struct versions_op *op = &input->ops[i];
        bool scan = !op->write && op->predicate != VERSIONS_NONE && !op->matched;
        history->ops[i] = (struct history_op){.kind = op->write ? HISTORY_WRITE
                                                      : scan    ? HISTORY_SCAN
                                                                : HISTORY_READ,
                                              .life = op->life,
                                              .row = op->row,
                                              .predicate = op->predicate,
                                              .step = op->step,
                                              .gone = HISTORY_NONE};
    }
    for (size_t i = 0; i < input->life_count; i++) {
        const struct versions_life *life = &input->lives[i];
        history->lives[i] = (struct history_life){.txn = life->txn,
                                                  .attempt = life->attempt,
                                                  .state = life->committed ? HISTORY_COMMITTED
                                                           : life->ended   ? HISTORY_ABORTED
                                                                           : HISTORY_ACTIVE,
                                                  .first = life->first,
                                                  .last = life->last,
                                                  .end = life->end};
        versions->verdict->committed += life->committed;
        versions->verdict->rolled_back += life->ended && !life->committed;
        versions->verdict->unfinished += !life->ended;
    }
}

/* ---- Reads of what was not committed ---- */

static void set(struct versions *versions, enum judge_property property, bool good, const char *why) {
    struct verdict *verdict = versions->verdict;
    if (verdict->properties[property] != JUDGE_NO || verdict->reasons[property].length == 0) {
        verdict->properties[property] = good ? JUDGE_YES : JUDGE_NO;
        text_clear(&verdict->reasons[property]);
        text_add(&verdict->reasons[property], "%s", why);
    }
}

static void judge_dirt(struct versions *versions) {
    set(versions, JUDGE_RECOVERABLE, true, "who committed saw only what had been committed before");
    set(versions, JUDGE_CASCADELESS, true, "every read saw a committed version");
    for (uint32_t i = 0; i < versions->input->op_count; i++) {
        const struct versions_op *op = op_at(versions, i);
        if (op->write || op->other == VERSIONS_NONE) {
            continue;
        }
        const struct versions_life *writer = life_at(versions, op->other), *reader = life_at(versions, op->life);
        struct text words = {0};
        if (!writer->committed || writer->end > i) {
            judge_say(&versions->history, &words, "%T saw a version of %R (%S) that was not committed", i, i, i);
            set(versions, JUDGE_CASCADELESS, false, text_string(&words));
        }
        if (reader->committed && (!writer->committed || writer->end > reader->end)) {
            text_add(&words, ", and committed before its writer did");
            set(versions, JUDGE_RECOVERABLE, false, text_string(&words));
            if (!writer->committed) {
                judge_found(&versions->history, versions->verdict, ANOMALY_G1A,
                            writer->ended
                                ? "%T saw a version of %R (%S) whose writer was rolled back"
                                : "%T saw a version of %R (%S) whose writer never ended and is taken as rolled "
                                  "back",
                            i, i, i);
            }
        }
        text_free(&words);
    }
    const char *one = "a notion of single versions: here readers and writers of a row have versions of their own";
    text_add(&versions->verdict->reasons[JUDGE_STRICT], "%s", one);
    text_add(&versions->verdict->reasons[JUDGE_RIGOROUS], "%s", one);
    versions->verdict->properties[JUDGE_STRICT] = versions->verdict->properties[JUDGE_RIGOROUS] = JUDGE_OPEN;
}

/* ---- Lost update and skews ---- */

/* The life's first read of an operation in `ops`, its own write of a row: the operation or VERSIONS_NONE. */
static uint32_t write_of(const struct versions *versions, uint32_t life, uint32_t row) {
    uint32_t place = place_of(versions, row, life);
    return place > 0 ? versions->chains[row].items[place - 1] : VERSIONS_NONE;
}

/* T1 saw a version of x, another wrote the next, T1 wrote one behind that. */
static void find_lost_update(struct versions *versions, uint32_t read) {
    const struct versions_op *op = op_at(versions, read);
    uint32_t own = place_of(versions, op->row, op->life);
    uint32_t next = versions->places[read] + 1;
    if (own > next) {
        uint32_t other = versions->chains[op->row].items[next - 1], mine = write_of(versions, op->life, op->row);
        judge_found(&versions->history, versions->verdict, ANOMALY_P4,
                    "%T read %R (%S), %T wrote it (%S), and %T overwrote that (%S) without having seen it", read, read,
                    read, other, other, mine, mine);
    }
}

static bool are_concurrent(const struct versions *versions, uint32_t a, uint32_t b) {
    const struct versions_life *left = life_at(versions, a), *right = life_at(versions, b);
    return left->first < right->end && right->first < left->end;
}

/* `read` saw x from before `other` wrote it. Did the reader see what `other` wrote of y? Or write y, from before which
 * `other` saw it? */
static void find_skews(struct versions *versions, uint32_t read, uint32_t other) {
    const struct versions_op *first = op_at(versions, read), *written = op_at(versions, other);
    for (uint32_t i = 0; i < versions->input->op_count; i++) {
        const struct versions_op *op = op_at(versions, i);
        if (op->write || op->row == first->row) {
            continue;
        }
        if (op->life == first->life && i > read) {
            uint32_t place = place_of(versions, op->row, written->life);
            if (place > 0 && versions->places[i] >= place) {
                judge_found(&versions->history, versions->verdict, ANOMALY_A5A,
                            "%T read %R (%S) from before and %R (%S) from after %T wrote both", read, read, read, i, i,
                            other);
            }
        } else if (op->life == written->life && life_at(versions, first->life)->committed) {
            uint32_t place = place_of(versions, op->row, first->life);
            if (place > versions->places[i]) {
                uint32_t mine = versions->chains[op->row].items[place - 1];
                judge_found(
                    &versions->history, versions->verdict, ANOMALY_A5B,
                    "%T read %R (%S) and wrote %R (%S), %T read %R (%S) and wrote %R (%S): neither saw what the "
                    "other wrote",
                    read, read, read, mine, mine, i, i, i, other, other);
            }
        }
    }
}

static void judge_skew(struct versions *versions) {
    for (uint32_t i = 0; i < versions->input->op_count; i++) {
        const struct versions_op *op = op_at(versions, i);
        if (op->write || (op->predicate != VERSIONS_NONE && !op->matched)) {
            continue;
        }
        const struct chain *chain = &versions->chains[op->row];
        find_lost_update(versions, i);
        for (size_t k = versions->places[i]; k < chain->count; k++) {
            uint32_t other = op_at(versions, chain->items[k])->life;
            if (other != op->life && are_concurrent(versions, op->life, other)) {
                find_skews(versions, i, chain->items[k]);
            }
        }
    }
}

/* ---- View ---- */

/* A serial order of the committed in which every read sees a version of the same writer (a scan: one that belongs or
 * not, as it did) and every row ends with the same writer's. */
struct view {
    const struct versions *versions;
    uint32_t order[JUDGE_VIEW_MAX];
    bool used[JUDGE_VIEW_MAX];
    uint32_t *now; /* of rows: the place of the version that stands there in the serial order */
};

static bool read_fits(const struct view *view, uint32_t read) {
    const struct versions_op *op = op_at(view->versions, read);
    uint32_t now = view->now[op->row], seen = view->versions->places[read];
    if (op->predicate != VERSIONS_NONE && !op->matched) {
        return !belongs(view->versions, op->row, now, op->predicate);
    }
    return now == seen;
}

/* Does the life see the same as it did? Its reads are of others' versions, so they come before its own writes. */
static bool life_fits(const struct view *view, uint32_t life) {
    for (uint32_t i = 0; i < view->versions->input->op_count; i++) {
        const struct versions_op *op = op_at(view->versions, i);
        if (op->life == life && !op->write && !read_fits(view, i)) {
            return false;
        }
    }
    return true;
}

static bool rows_fit(const struct view *view) {
    for (size_t row = 0; row < view->versions->input->schedule->row_count; row++) {
        if (view->now[row] != view->versions->chains[row].count) {
            return false;
        }
    }
    return true;
}

static bool place_next(struct view *view, size_t placed) {
    const struct judge_graph *graph = &view->versions->graph;
    size_t rows = view->versions->input->schedule->row_count;
    if (placed == graph->node_count) {
        return rows_fit(view);
    }
    uint32_t *before = mem_new(rows, sizeof *before);
    bool found = false;
    if (rows > 0) {
        memcpy(before, view->now, rows * sizeof *before);
    }
    for (uint32_t node = 0; node < graph->node_count && !found; node++) {
        if (view->used[node] || !life_fits(view, graph->lives[node])) {
            continue;
        }
        view->used[node] = true;
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t place = place_of(view->versions, row, graph->lives[node]);
            view->now[row] = place > 0 ? place : view->now[row];
        }
        found = place_next(view, placed + 1);
        view->used[node] = false;
        memcpy(view->now, before, rows * sizeof *before);
    }
    mem_free(before);
    return found;
}

static void judge_view_of(struct versions *versions) {
    struct verdict *verdict = versions->verdict;
    struct text *reason = &verdict->reasons[JUDGE_VIEW_SERIALIZABLE];
    if (verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES) {
        verdict->properties[JUDGE_VIEW_SERIALIZABLE] = JUDGE_YES;
        text_add(reason, "it is conflict-serializable");
        return;
    }
    if (versions->graph.node_count > JUDGE_VIEW_MAX) {
        verdict->properties[JUDGE_VIEW_SERIALIZABLE] = JUDGE_OPEN;
        text_add(reason, "not looked at with more than %d transactions", JUDGE_VIEW_MAX);
        return;
    }
    struct view view = {.versions = versions};
    view.now = mem_new(versions->input->schedule->row_count + 1, sizeof *view.now);
    bool found = place_next(&view, 0);
    verdict->properties[JUDGE_VIEW_SERIALIZABLE] = found ? JUDGE_YES : JUDGE_NO;
    text_add(reason, found ? "a serial order has the same reads and the same last writes"
                           : "no serial order has the same reads and the same last writes");
    mem_free(view.now);
}

/* ---- All of it ---- */

void judge_versions(struct verdict *verdict, const struct versions_history *input) {
    struct versions versions = {.input = input, .verdict = verdict};
    *verdict = (struct verdict){0};
    build_history(&versions);
    build_chains(&versions);
    build_graph(&versions);
    verdict->members = mem_new(versions.graph.node_count, sizeof *verdict->members);
    for (size_t i = 0; i < versions.graph.node_count; i++) {
        verdict->members[i] = input->schedule->txns[input->lives[versions.graph.lives[i]].txn];
    }
    judge_dirt(&versions);
    judge_skew(&versions);
    judge_cycles(&versions.graph, verdict);
    judge_view_of(&versions);
    judge_levels(&versions.graph, verdict);
    for (size_t i = 0; i < input->schedule->row_count; i++) {
        vector_free(&versions.chains[i]);
    }
    judge_graph_free(&versions.graph);
    mem_free(versions.chains);
    mem_free(versions.places);
    mem_free(versions.history.ops);
    mem_free(versions.history.lives);
}
