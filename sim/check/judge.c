/* judge.c - the whole verdict, the levels, and the conflict graph for showing (judge.h). */
#include "sim/check/judge.h"

#include <stdlib.h>
#include <string.h>

#include "sim/check/judge_parts.h"

const char *const judge_level_names[JUDGE_LEVELS] = {"ru", "rc", "rr", "si", "ser"};

static void break_level(struct verdict *verdict, enum judge_level level, const char *what, const char *witness) {
    struct judge_finding *broken = &verdict->broken[level];
    if (!broken->found) {
        broken->found = true;
        text_add(&broken->witness, "%s: %s", what, witness);
    }
}

/* What a snapshot taken at the first read or write cannot let through: an edge from one that had not committed then.
 * Cycles without two adjacent read-write edges need such an edge. */
static void judge_snapshots(const struct judge_graph *graph, struct verdict *verdict) {
    const struct history *history = graph->history;
    for (size_t i = 0; i < graph->edge_count && !verdict->broken[JUDGE_SI].found; i++) {
        const struct judge_edge *edge = &graph->edges[i];
        const struct history_life *from = &history->lives[graph->lives[edge->from]];
        const struct history_life *to = &history->lives[graph->lives[edge->to]];
        if ((edge->kind & JUDGE_DEPENDENCY) != 0 && from->end > to->first) {
            struct text witness = {0};
            judge_say(history, &witness, edge->kind == JUDGE_WR ? "%T saw (%S)" : "%T overwrote (%S)", edge->second,
                      edge->second);
            judge_say(history, &witness, " what %T wrote (%S), which had not committed when %T took its snapshot (%S)",
                      edge->first, edge->first, to->first, to->first);
            break_level(verdict, JUDGE_SI, "outside the snapshot", text_string(&witness));
            text_free(&witness);
        }
    }
}

void judge_levels(const struct judge_graph *graph, struct verdict *verdict) {
    /* The weakest level that forbids it; the stronger ones do too. */
    static const struct {
        enum anomaly_name name;
        enum judge_level from;
        bool si;
    } forbidden[] = {
        {ANOMALY_G0, JUDGE_RU, true},  {ANOMALY_G1A, JUDGE_RC, true},      {ANOMALY_G1B, JUDGE_RC, true},
        {ANOMALY_G1C, JUDGE_RC, true}, {ANOMALY_G2_ITEM, JUDGE_RR, false}, {ANOMALY_G2, JUDGE_SER, false},
    };
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        const struct judge_finding *finding = &verdict->anomalies[forbidden[i].name];
        for (enum judge_level level = forbidden[i].from; finding->found && level < JUDGE_LEVELS; level++) {
            if (level != JUDGE_SI || forbidden[i].si) {
                break_level(verdict, level, anomaly_texts[forbidden[i].name].name, text_string(&finding->witness));
            }
        }
    }
    judge_snapshots(graph, verdict);
}

static void count_lives(const struct history *history, struct verdict *verdict) {
    for (size_t i = 0; i < history->life_count; i++) {
        verdict->committed += history->lives[i].state == HISTORY_COMMITTED;
        verdict->rolled_back += history->lives[i].state == HISTORY_ABORTED;
        verdict->unfinished += history->lives[i].state == HISTORY_ACTIVE;
    }
}

bool judge(struct verdict *verdict, const struct schedule *schedule) {
    struct history history;
    struct judge_graph graph;
    *verdict = (struct verdict){0};
    if (!history_build(&history, schedule)) {
        history_free(&history);
        return false;
    }
    count_lives(&history, verdict);
    judge_graph_build(&graph, &history);
    verdict->members = mem_new(graph.node_count, sizeof *verdict->members);
    for (size_t i = 0; i < graph.node_count; i++) {
        verdict->members[i] = schedule->txns[history.lives[graph.lives[i]].txn];
    }
    judge_sweep(&history, verdict);
    judge_skews(&history, verdict);
    judge_cycles(&graph, verdict);
    judge_view(&history, verdict);
    judge_levels(&graph, verdict);
    judge_graph_free(&graph);
    history_free(&history);
    return true;
}

void verdict_free(struct verdict *verdict) {
    for (size_t i = 0; i < JUDGE_PROPERTIES; i++) {
        text_free(&verdict->reasons[i]);
    }
    for (size_t i = 0; i < ANOMALY_COUNT; i++) {
        text_free(&verdict->anomalies[i].witness);
    }
    for (size_t i = 0; i < JUDGE_LEVELS; i++) {
        text_free(&verdict->broken[i].witness);
    }
    mem_free(verdict->order);
    mem_free(verdict->members);
    *verdict = (struct verdict){0};
}

/* --- the conflict graph, for showing --- */

struct pair {
    uint32_t from, to, first, second;
};
struct pairs {
    struct pair *items;
    size_t count, capacity;
};

static void add_pair(const struct judge_graph *graph, uint32_t first, uint32_t second, struct pairs *pairs) {
    const struct history *history = graph->history;
    vector_push(pairs, ((struct pair){.from = graph->nodes[history->ops[first].life],
                                      .to = graph->nodes[history->ops[second].life],
                                      .first = first,
                                      .second = second}));
}

static bool conflict(const struct history *history, const struct history_op *a, const struct history_op *b) {
    bool rows = a->kind <= HISTORY_WRITE && b->kind <= HISTORY_WRITE;
    return a->life != b->life && rows && a->row == b->row && (a->kind == HISTORY_WRITE || b->kind == HISTORY_WRITE) &&
           history_counts(history, a) && history_counts(history, b);
}

static void pair_all(const struct judge_graph *graph, struct pairs *pairs) {
    const struct history *history = graph->history;
    for (uint32_t a = 0; a < history->op_count; a++) {
        for (uint32_t b = a + 1; b < history->op_count; b++) {
            if (conflict(history, &history->ops[a], &history->ops[b])) {
                add_pair(graph, a, b, pairs);
            }
        }
    }
}

static int by_pair(const void *a, const void *b) {
    const struct pair *left = a, *right = b;
    const uint32_t keys[][2] = {
        {left->from, right->from}, {left->to, right->to}, {left->first, right->first}, {left->second, right->second}};
    for (size_t i = 0; i < 4; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static void tell_pairs(const struct judge_graph *graph, const struct pairs *pairs,
                       void (*visit)(int64_t from, int64_t to, const char *steps, void *user), void *user) {
    enum { SHOWN_MAX = 4 };
    const struct history *history = graph->history;
    for (size_t i = 0; i < pairs->count;) {
        const struct pair *pair = &pairs->items[i];
        struct text steps = {0};
        size_t told = 0, end = i;
        for (; end < pairs->count && pairs->items[end].from == pair->from && pairs->items[end].to == pair->to; end++) {
            const struct schedule_step *first = &history->schedule->steps[history->ops[pairs->items[end].first].step];
            const struct schedule_step *second = &history->schedule->steps[history->ops[pairs->items[end].second].step];
            if (told++ < SHOWN_MAX) {
                text_add(&steps, "%s%.*s before %.*s", told > 1 ? ", " : "", (int)first->length, first->text,
                         (int)second->length, second->text);
            }
        }
        text_add(&steps, told > SHOWN_MAX ? ", ..." : "");
        visit(history->schedule->txns[history->lives[graph->lives[pair->from]].txn],
              history->schedule->txns[history->lives[graph->lives[pair->to]].txn], text_string(&steps), user);
        text_free(&steps);
        i = end;
    }
}

void judge_each_conflict(const struct schedule *schedule,
                         void (*visit)(int64_t from, int64_t to, const char *steps, void *user), void *user) {
    struct history history;
    struct judge_graph graph;
    struct pairs pairs = {0};
    if (!history_build(&history, schedule)) {
        history_free(&history);
        return;
    }
    judge_graph_build(&graph, &history);
    bool few = history.op_count <= JUDGE_PAIRS_MAX;
    if (few) {
        pair_all(&graph, &pairs);
    }
    for (size_t i = 0; i < graph.edge_count; i++) {
        const struct history_op *a = &history.ops[graph.edges[i].first], *b = &history.ops[graph.edges[i].second];
        if (!few || !conflict(&history, a, b)) { /* the others are among the pairs already */
            add_pair(&graph, graph.edges[i].first, graph.edges[i].second, &pairs);
        }
    }
    if (pairs.count > 0) {
        qsort(pairs.items, pairs.count, sizeof *pairs.items, by_pair);
    }
    tell_pairs(&graph, &pairs, visit, user);
    vector_free(&pairs);
    judge_graph_free(&graph);
    history_free(&history);
}
