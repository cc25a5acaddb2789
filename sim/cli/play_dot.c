/* play_dot.c - who waited for whom while a schedule was played, as a graph for graphviz: one edge for every wait,
 * with the step that waited; the edges of deadlocks are thick. */
#include <inttypes.h>

#include "sim/cc/cc.h"
#include "sim/cli/play.h"

static void add_name(const char *bytes, struct text *out) {
    for (; *bytes != '\0'; bytes++) {
        text_add(out, "%s%c", *bytes == '"' || *bytes == '\\' ? "\\" : "", *bytes);
    }
}

static void add_edge(int64_t from, int64_t to, const char *label, bool thick, struct text *out) {
    text_add(out, "  T%" PRId64 " -> T%" PRId64 " [label=\"", from, to);
    add_name(label, out);
    text_add(out, "\"%s];\n", thick ? ", style=bold" : "");
}

void play_dot(const struct play *play, struct text *out) {
    const int64_t *txns = play->schedule->txns;
    text_add(out, "digraph \"%s\" {\n  label=\"%s: who waited for whom\";\n", play->algorithm->name,
             play->algorithm->name);
    for (size_t i = 0; i < play->schedule->txn_count; i++) {
        text_add(out, "  T%" PRId64 ";\n", txns[i]);
    }
    for (uint32_t i = 0; i < play->step_count; i++) {
        struct text label = {0};
        play_add_op(play, i, &label);
        for (size_t k = 0; k < play->steps[i].waits_for.count; k++) {
            add_edge(txns[play->step_txns[i]], play->steps[i].waits_for.items[k], text_string(&label), false, out);
        }
        text_free(&label);
    }
    for (size_t i = 0; i < play->events.count; i++) {
        const struct play_event *event = &play->events.items[i];
        for (uint32_t k = 0; event->kind == PLAY_DEADLOCK && k < event->count; k++) {
            uint32_t next = (k + 1) % event->count;
            add_edge(txns[play->cycles.items[event->first + k]], txns[play->cycles.items[event->first + next]],
                     "deadlock", true, out);
        }
    }
    text_add(out, "}\n");
}
