/* timeline.c - see the header. The gnuplot script reads trace.csv by column names and can be edited and run again. */
#include "sim/lab/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/lab/drawing.h"
#include "sim/lab/picture.h"
#include "sim/lab/table.h"

enum { LANES_DRAWN = 40, MARKS_FIRST = TRACE_COMMIT };

static void add_name(const struct trace_name *name, struct text *out) {
    if (name->terminal > 0) {
        text_add(out, "T%" PRIu64 ".%" PRIu64, name->terminal, name->number);
    } else {
        text_add(out, "T%" PRIu64, name->number);
    }
}

static void add_row(const char *table, int64_t key, struct text *out) {
    if (table != NULL) {
        text_add(out, "%s %" PRId64, table, key);
    }
}

/* ---- trace.csv ---- */

static void add_span(const struct trace *trace, const struct trace_span *span, struct text *out) {
    struct text line = {0}, name = {0}, row = {0}, others = {0};
    add_name(&span->who, &name);
    add_row(span->table, span->key, &row);
    for (size_t i = 0; i < span->count; i++) {
        text_add(&others, i > 0 ? " " : "");
        add_name(&trace->names.items[span->first + i], &others);
    }
    text_add(&line, "%" PRIu32, span->who.lane);
    table_cell(&line, text_string(&name));
    table_cell_number(&line, (double)span->attempt);
    table_cell(&line, trace_words[span->what]);
    text_add(&line, ",%.6f,%.6f", (double)span->from_ns / 1e6, (double)span->to_ns / 1e6);
    table_cell(&line, text_string(&row));
    table_cell(&line, text_string(&others));
    text_add(&line, ",");
    if (span->count > 0) {
        text_add(&line, "%" PRIu32, trace->names.items[span->first].lane);
    }
    table_cell(&line, span->reason != NULL ? span->reason : "");
    text_add(out, "%s\n", text_string(&line));
    text_free(&line);
    text_free(&name);
    text_free(&row);
    text_free(&others);
}

void timeline_csv(const struct trace *trace, struct text *out) {
    text_add(out, "lane,transaction,attempt,what,from_ms,to_ms,on,waits_for,blocker,reason\n");
    for (size_t i = 0; i < trace->spans.count; i++) {
        add_span(trace, &trace->spans.items[i], out);
    }
}

/* ---- The timeline ---- */

/* Colours of Okabe and Ito; heights differ as well, for print and for eyes to which the colours do not. */
static const struct {
    const char *title, *colour;
    double half_height;
} looks[] = {[TRACE_THINK] = {"thinks", "#DDDDDD", 0.03},
             [TRACE_ADMISSION] = {"queued for admission", "#999999", 0.10},
             [TRACE_RUN] = {"runs", "#0072B2", 0.36},
             [TRACE_QUEUE] = {"queued for CPU or disk", "#56B4E9", 0.22},
             [TRACE_WAIT] = {"waits for another", "#D55E00", 0.14},
             [TRACE_CLIENT] = {"application's time", "#E69F00", 0.28},
             [TRACE_LOG] = {"log force", "#009E73", 0.36},
             [TRACE_DELAY] = {"until it restarts", "#CC79A7", 0.06},
             [TRACE_COMMIT] = {"commit", "pointtype 7 pointsize 0.9 linecolor rgb '#009E73'", 0},
             [TRACE_ROLLBACK] = {"rollback", "pointtype 6 pointsize 1 linewidth 2 linecolor rgb '#000000'", 0},
             [TRACE_ABORT] = {"abort", "pointtype 2 pointsize 1.3 linewidth 3.5 linecolor rgb '#000000'", 0}};

static bool occurs(const struct trace *trace, int what) {
    for (size_t i = 0; i < trace->spans.count; i++) {
        if ((int)trace->spans.items[i].what == what) {
            return true;
        }
    }
    return false;
}

static void add_plots(const struct trace *trace, struct text *out) {
    const char *separator = "plot ";
    for (int what = 0; what < TRACE_WHAT_COUNT; what++) {
        if (!occurs(trace, what)) {
            continue;
        }
        text_add(out, "%s'trace.csv' using (is('%s') ? ", separator, trace_words[what]);
        if (what < MARKS_FIRST) {
            text_add(
                out,
                "column('from_ms') : NaN):(column('lane')):(column('from_ms')):(column('to_ms')):(column('lane') - "
                "%g):(column('lane') + %g) with boxxyerror fillstyle solid noborder linecolor rgb '%s'",
                looks[what].half_height, looks[what].half_height, looks[what].colour);
        } else {
            text_add(out, "column('to_ms') : NaN):(column('lane')%s) with points %s",
                     what == TRACE_ABORT ? "" : " - 0.36", looks[what].colour);
        }
        text_add(out, " title ");
        drawing_add_quoted(out, looks[what].title);
        separator = ", \\\n    ";
    }
    if (occurs(trace, TRACE_WAIT)) {
        text_add(out,
                 "%s'trace.csv' using (is('wait') && strlen(strcol('blocker')) > 0 ? column('from_ms') : "
                 "NaN):(column('lane')):(0):(column('blocker') - column('lane')) with vectors head size screen "
                 "0.006,20 filled linecolor rgb '#777777' linewidth 0.8 title 'for whom'",
                 separator);
    }
    text_add(out, "\n");
}

void timeline_script(const struct trace *trace, const struct timeline_words *words, struct text *out) {
    uint32_t lanes = trace->lanes < LANES_DRAWN ? trace->lanes : LANES_DRAWN;
    struct text title = {0};
    text_add(&title, "%s: %s", words->title, words->algorithm);
    if (lanes < trace->lanes) {
        text_add(&title, " (the first %" PRIu32 " of %" PRIu32 ")", lanes, trace->lanes);
    }
    text_add(out,
             "# Draws timeline.svg from trace.csv; edit it and run: gnuplot timeline.gp\n"
             "if (!exists('picture')) picture = 'timeline.svg'\n"
             "if (strstrt(picture, '.png') > 0) {\n    set terminal %s\n} else {\n    set terminal %s\n}\n"
             "set output picture\n",
             picture_formats[1].terminal, picture_formats[0].terminal);
    text_add(out, "set datafile separator comma\nset datafile missing NaN\nset title ");
    drawing_add_quoted(out, text_string(&title));
    text_add(out, " font ',24'\nset xlabel 'simulated time (ms)'\nset ylabel '%s'\n",
             trace->spans.count > 0 && trace->spans.items[0].who.terminal > 0 ? "terminal" : "place");
    text_add(out, "set xrange [%.6f:%.6f]\nset format x '%%.10g'\n", (double)trace->from_ns / 1e6,
             (double)trace->to_ns / 1e6);
    text_add(out, "set yrange [%" PRIu32 ".6:0.4]\nset ytics %d\n", lanes, lanes > 20 ? 5 : 1);
    text_add(out, "set border 3 linewidth 1.5\nset tics nomirror\nset bmargin 6.5\n"
                  "set key below center horizontal Left reverse samplen 2 font ',16'\n");
    if (trace->at_ns >= 0) {
        text_add(out, "set arrow from %.6f, graph 0 to %.6f, graph 1 nohead dashtype 2 linecolor rgb '#000000'\n",
                 (double)trace->at_ns / 1e6, (double)trace->at_ns / 1e6);
    }
    text_add(out, "is(word) = strcol('what') eq word && column('lane') <= %" PRIu32 "\n", lanes);
    add_plots(trace, out);
    text_free(&title);
}

/* ---- The wait-for graph ---- */

/* Can `from` come to `goal` along the edges? `seen` is by lane; edges of one waiter stand together. */
static bool reaches(const struct trace *trace, uint32_t from, uint32_t goal, bool *seen) {
    if (from == goal) {
        return true;
    }
    VECTOR(uint32_t) todo = {0};
    vector_push(&todo, from);
    bool found = false;
    while (todo.count > 0 && !found) {
        uint32_t lane = todo.items[--todo.count];
        for (size_t i = 0; i < trace->edges.count && !found && !seen[lane]; i++) {
            if (trace->edges.items[i].from.lane == lane) {
                found = trace->edges.items[i].to.lane == goal;
                vector_push(&todo, trace->edges.items[i].to.lane);
            }
        }
        seen[lane] = true;
    }
    vector_free(&todo);
    return found;
}

static bool on_cycle(const struct trace *trace, const struct trace_edge *edge, uint32_t lanes) {
    bool *seen = mem_new(lanes + 1, sizeof *seen);
    bool found = reaches(trace, edge->to.lane, edge->from.lane, seen);
    mem_free(seen);
    return found;
}

static void add_node(const struct trace_name *name, bool waits, struct text *out) {
    struct text word = {0};
    add_name(name, &word);
    text_add(out, "  \"%s\"%s;\n", text_string(&word),
             waits ? " [style=filled, fillcolor=\"#F6C7A6\"]" : " [style=\"filled,bold\", fillcolor=\"#A6CEE3\"]");
    text_free(&word);
}

/* Every transaction once: those that wait in the order in which they began, then those waited for that do not. */
static void add_nodes(const struct trace *trace, uint32_t lanes, struct text *out) {
    char *state = mem_new(lanes + 1, 1);
    for (size_t i = 0; i < trace->edges.count; i++) {
        const struct trace_name *from = &trace->edges.items[i].from;
        if (state[from->lane] == 0) {
            state[from->lane] = 1;
            add_node(from, true, out);
        }
    }
    for (size_t i = 0; i < trace->edges.count; i++) {
        const struct trace_name *to = &trace->edges.items[i].to;
        if (state[to->lane] == 0) {
            state[to->lane] = 1;
            add_node(to, false, out);
        }
    }
    mem_free(state);
}

static void add_edge(const struct trace *trace, const struct trace_edge *edge, uint32_t lanes, struct text *out) {
    struct text from = {0}, to = {0}, row = {0};
    add_name(&edge->from, &from);
    add_name(&edge->to, &to);
    add_row(edge->table, edge->key, &row);
    text_add(out, "  \"%s\" -> \"%s\" [label=\"%s\"%s];\n", text_string(&from), text_string(&to), text_string(&row),
             on_cycle(trace, edge, lanes) ? ", style=bold, color=\"#D55E00\", penwidth=4" : "");
    text_free(&from);
    text_free(&to);
    text_free(&row);
}

static void add_escaped(const char *bytes, struct text *out) {
    for (; *bytes != '\0'; bytes++) {
        text_add(out, "%s%c", *bytes == '"' || *bytes == '\\' ? "\\" : "", *bytes);
    }
}

void timeline_graph(const struct trace *trace, const struct timeline_words *words, struct text *out) {
    uint32_t lanes = (uint32_t)trace->open.count;
    text_add(out, "digraph waits {\n  label=\"");
    add_escaped(words->title, out);
    text_add(out, "\\n%s, at %.10g ms: who waits for whom%s\";\n", words->algorithm, (double)trace->at_ns / 1e6,
             trace->edges.count > 0 ? "" : " - nobody");
    text_add(out, "  labelloc=t; fontname=Helvetica; fontsize=16; rankdir=LR;\n"
                  "  node [fontname=Helvetica]; edge [fontname=Helvetica, fontsize=11];\n");
    add_nodes(trace, lanes, out);
    for (size_t i = 0; i < trace->edges.count; i++) {
        add_edge(trace, &trace->edges.items[i], lanes, out);
    }
    text_add(out, "}\n");
}

/* ---- The busiest instant ---- */

struct change {
    int64_t at_ns;
    int by;
};

static int compare(const void *left, const void *right) {
    const struct change *a = left, *b = right;
    return a->at_ns != b->at_ns ? (a->at_ns < b->at_ns ? -1 : 1) : a->by - b->by;
}

int64_t timeline_busiest_ns(const struct trace *trace) {
    VECTOR(struct change) changes = {0};
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct trace_span *span = &trace->spans.items[i];
        if (span->what == TRACE_WAIT) {
            vector_push(&changes, ((struct change){span->from_ns, 1}));
            vector_push(&changes, ((struct change){span->to_ns, -1}));
        }
    }
    if (changes.count > 0) {
        qsort(changes.items, changes.count, sizeof *changes.items, compare);
    }
    int64_t best_ns = trace->from_ns + (trace->to_ns - trace->from_ns) / 2;
    int waiting = 0, most = 0;
    for (size_t i = 0; i + 1 < changes.count; i++) {
        waiting += changes.items[i].by;
        if (waiting > most) {
            most = waiting;
            best_ns = changes.items[i].at_ns + (changes.items[i + 1].at_ns - changes.items[i].at_ns) / 2;
        }
    }
    vector_free(&changes);
    return best_ns;
}
