/* planner_report.c - the answer for people: one sentence, the table of what was compared, the bottlenecks in order, and of
 * whole numbers the sweep with the law fitted to it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/planner_parts.h"
#include "sim/lab/statistics.h"

enum { SHOWN_DIGITS = 4 };
#define WIDE .1 /* of an edge: an interval that is wider is worth a warning */

/* --- words --- */

static void add_number(double value, struct text *out) {
    char number[32];
    text_add(out, "%s", isnan(value) ? "-" : text_number(number, statistics_round(value, SHOWN_DIGITS)));
}

static void add_percent(double share, struct text *out) {
    if (isnan(share)) {
        text_add(out, "-");
    } else {
        text_add(out, "%.1f%%", 100 * share);
    }
}

void planner_add_value(const struct planner *planner, double value, struct text *out) {
    static const char *const nouns[PLANNER_VARIABLES] = {"transactions a second", "terminals", "admitted at once",
                                                         "CPUs"};
    static const char *const one[PLANNER_VARIABLES] = {"transaction a second", "terminal", "admitted at once", "CPU"};
    add_number(value, out);
    text_add(out, " %s", (value == 1 ? one : nouns)[planner->request->vary]);
}

static double metric_of(const struct answer *answer, const char *name) {
    size_t count;
    const struct metric *all = metrics_all(&count);
    return answer->metrics[metric_find(name) - all];
}

static void add_objectives(const struct planner *planner, struct text *out) {
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        text_add(out, "%s%s", i > 0 ? " and " : "", planner->request->objectives[i].text);
    }
}

/* --- the sentence --- */

/* Does the first carry more than the second? Of CPUs: does it need fewer? Of admission limits: is there more throughput? */
static bool is_better(const struct planner *planner, const struct answer *first, const struct answer *second) {
    double a = first->value, b = second->value;
    if (planner->request->vary == PLANNER_MPL) {
        a = first->rungs[first->peak].throughput;
        b = second->rungs[second->peak].throughput;
    }
    if (a != b) {
        return planner->request->vary == PLANNER_CPUS ? a < b : a > b;
    }
    return metric_of(first, "throughput_tps") > metric_of(second, "throughput_tps");
}

static const struct answer *best_but(const struct planner *planner, const struct answer *except) {
    const struct answer *best = NULL;
    for (size_t i = 0; i < planner->answers.count; i++) {
        const struct answer *answer = &planner->answers.items[i];
        if (answer != except && answer->found && (best == NULL || is_better(planner, answer, best))) {
            best = answer;
        }
    }
    return best;
}

const struct answer *planner_best(const struct planner *planner) { return best_but(planner, NULL); }

/* Of what a system carries, how much more than the config's; of the CPUs it needs, how much more than these the config has:
 * what is below 0 is missing. */
double planner_headroom(const struct planner *planner, const struct answer *answer) {
    if (!answer->found || answer->current <= 0) {
        return (double)NAN;
    }
    bool needed = planner->request->vary == PLANNER_CPUS;
    return (needed ? answer->current / answer->value : answer->value / answer->current) - 1;
}

static void add_interval(const struct planner *planner, const struct answer *answer, struct text *out) {
    if (answer->open_end) {
        text_add(out, " (the search ended there: %s goes on)",
                 planner->request->vary == PLANNER_CPUS ? "--from" : "--to");
    } else if (!planner_is_whole(planner) && planner->facts->replications > 1) {
        text_add(out, " (the edge is at ");
        add_number(answer->estimate, out);
        text_add(out, ", 95%% interval ");
        add_number(answer->low, out);
        text_add(out, " to ");
        add_number(answer->high, out);
        text_add(out, ")");
    } else if (answer->low != answer->high) {
        text_add(out, " (");
        add_number(answer->low, out);
        text_add(out, " to ");
        add_number(answer->high, out);
        text_add(out, " in single replications)");
    }
}

static void add_carries(const struct planner *planner, const struct answer *answer, struct text *out) {
    static const char *const verbs[PLANNER_VARIABLES] = {"carries", "serves", "meets the objective with", "needs"};
    text_add(out, "%s %s %s", text_string(&answer->place), verbs[planner->request->vary],
             answer->open_end ? (planner->request->vary == PLANNER_CPUS ? "no more than " : "at least ") : "");
    if (planner->request->vary == PLANNER_MPL && answer->lowest < answer->value) {
        add_number(answer->lowest, out);
        text_add(out, " to ");
    }
    planner_add_value(planner, answer->value, out);
    add_interval(planner, answer, out);
}

static void add_nothing_found(const struct planner *planner, struct text *out) {
    text_add(out, "Nothing that was tried meets ");
    add_objectives(planner, out);
    for (size_t i = 0; i < planner->answers.count; i++) {
        const struct answer *answer = &planner->answers.items[i];
        const struct planner_objective *objective = &planner->request->objectives[answer->binding];
        double value = answer->metrics[objective->metric];
        size_t count;
        text_add(out, "; with ");
        planner_add_value(planner, answer->value, out);
        text_add(out, " %s ", text_string(&answer->place));
        if (isnan(value)) {
            text_add(out, "cannot keep up");
        } else {
            text_add(out, "has %s = ", metrics_all(&count)[objective->metric].name);
            add_number(value, out);
        }
    }
    text_add(out, ".");
}

void planner_add_sentence(const struct planner *planner, struct text *out) {
    const struct answer *best = planner_best(planner);
    if (best == NULL) {
        add_nothing_found(planner, out);
        return;
    }
    add_carries(planner, best, out);
    text_add(out, " with ");
    add_objectives(planner, out);
    if (best->limit_count > 0) {
        text_add(out, "; the limit is the %s, ", best->limits[0].name);
        add_number(best->limits[0].ms, out);
        text_add(out, " ms a commit");
    } else {
        text_add(out, "; nothing queues or waits there");
    }
    if (best->current > 0 && planner->request->vary != PLANNER_CPUS) {
        text_add(out, "; that is %.2f times the %g of the config", best->value / best->current, best->current);
    }
    const struct answer *next = best_but(planner, best);
    if (next != NULL) {
        text_add(out, "; next, ");
        add_carries(planner, next, out);
    } else if (planner->answers.count > 1) {
        text_add(out, "; nothing else meets that");
    }
    text_add(out, ".");
}

/* --- tables --- */

/* Cells row by row; the first row is the heading; the first and last columns lean left. */
struct grid {
    VECTOR(char *) cells;
    size_t width;
};

static struct text *cell(struct text *scratch) {
    text_clear(scratch);
    return scratch;
}

static void grid_add(struct grid *grid, const struct text *content) {
    vector_push(&grid->cells, mem_string(text_string(content)));
}

static void grid_add_words(struct grid *grid, const char *words) { vector_push(&grid->cells, mem_string(words)); }

static void grid_end(struct grid *grid, struct text *out) {
    for (size_t i = 0; i < grid->cells.count; i++) {
        size_t column = i % grid->width, most = 0;
        for (size_t k = column; k < grid->cells.count; k += grid->width) {
            size_t length = strlen(grid->cells.items[k]);
            most = length > most ? length : most;
        }
        bool last = column + 1 == grid->width;
        if (last) {
            text_add(out, "  %s\n", grid->cells.items[i]);
        } else {
            text_add(out, "%s%*s", column > 0 ? "  " : "", column > 0 ? (int)most : -(int)most, grid->cells.items[i]);
        }
    }
    for (size_t i = 0; i < grid->cells.count; i++) {
        mem_free(grid->cells.items[i]);
    }
    vector_free(&grid->cells);
}

static bool is_shown_anyway(const char *metric) {
    return strcmp(metric, "throughput_tps") == 0 || strcmp(metric, "abort_rate") == 0;
}

static void add_heading(const struct planner *planner, struct grid *grid) {
    static const char *const before[] = {"plan with", "edge", "95% interval", "headroom", "commits/s"};
    static const char *const behind[] = {"aborted", "CPU busy", "CPU useful", "limit"};
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    grid_add_words(grid, "");
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        bool whole = i == 2 && planner_is_whole(planner);
        grid_add_words(grid, whole ? "replications" : before[i]);
    }
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        const char *name = metrics[planner->request->objectives[i].metric].name;
        if (!is_shown_anyway(name)) {
            grid_add_words(grid, name);
        }
    }
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        grid_add_words(grid, behind[i]);
    }
    grid->width = grid->cells.count;
}

static void add_edge(const struct planner *planner, const struct answer *answer, struct grid *grid,
                     struct text *scratch) {
    add_number(answer->found ? answer->value : (double)NAN, cell(scratch));
    grid_add(grid, scratch);
    cell(scratch);
    if (answer->found) {
        text_add(scratch, "%s", !answer->open_end ? "" : planner->request->vary == PLANNER_CPUS ? "<= " : ">= ");
    }
    add_number(answer->found ? answer->estimate : (double)NAN, scratch);
    grid_add(grid, scratch);
    cell(scratch);
    if (answer->found && !answer->open_end && (planner_is_whole(planner) || planner->facts->replications > 1)) {
        add_number(answer->low, scratch);
        text_add(scratch, " .. ");
        add_number(answer->high, scratch);
    } else {
        text_add(scratch, "-");
    }
    grid_add(grid, scratch);
    double headroom = planner_headroom(planner, answer);
    cell(scratch);
    if (!isnan(headroom)) {
        text_add(scratch, "%+.0f%%", 100 * headroom);
    } else {
        text_add(scratch, "-");
    }
    grid_add(grid, scratch);
}

static void add_row(const struct planner *planner, const struct answer *answer, struct grid *grid) {
    struct text scratch = {0};
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    grid_add(grid, &answer->place);
    add_edge(planner, answer, grid, &scratch);
    add_number(metric_of(answer, "throughput_tps"), cell(&scratch));
    grid_add(grid, &scratch);
    for (size_t i = 0; i < planner->request->objective_count; i++) {
        size_t metric = planner->request->objectives[i].metric;
        if (!is_shown_anyway(metrics[metric].name)) {
            add_number(answer->metrics[metric], cell(&scratch));
            grid_add(grid, &scratch);
        }
    }
    static const char *const shares[] = {"abort_rate", "cpu_utilization", "cpu_useful"};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        add_percent(metric_of(answer, shares[i]), cell(&scratch));
        grid_add(grid, &scratch);
    }
    bool named = answer->found && answer->limit_count > 0;
    grid_add_words(grid, named ? answer->limits[0].name : answer->found ? "none" : "not met even there");
    text_free(&scratch);
}

/* Of what is too uncertain to plan with. */
static void add_warning(const struct planner *planner, struct text *out) {
    for (size_t i = 0; i < planner->answers.count; i++) {
        const struct answer *answer = &planner->answers.items[i];
        if (answer->found && !planner_is_whole(planner) && answer->high - answer->low > WIDE * answer->estimate) {
            text_add(out,
                     "\nThe interval of %s is wider than %.0f%%: more replications or longer runs narrow it, such as "
                     "--set experiment.replications=%" PRId64 ".\n",
                     text_string(&answer->place), 100 * WIDE, 2 * planner->facts->replications);
            return;
        }
    }
}

static void add_limits(const struct answer *answer, struct text *out) {
    text_add(out, "  %s: ", text_string(&answer->place));
    for (size_t i = 0; i < answer->limit_count; i++) {
        text_add(out, "%s%s ", i > 0 ? "; " : "", answer->limits[i].name);
        add_number(answer->limits[i].ms, out);
        text_add(out, " ms");
    }
    text_add(out, "%s\n", answer->limit_count == 0 ? "nothing queues or waits" : "");
}

/* --- the sweep and its law --- */

/* Without the last bits of a zero. */
static double tidy(double value) { return fabs(value) < 1e-9 ? 0 : value; }

static void add_law(const struct answer *answer, struct text *out) {
    const struct usl *usl = &answer->usl;
    text_add(out, "  %s: most throughput, ", text_string(&answer->place));
    add_number(answer->rungs[answer->peak].throughput, out);
    text_add(out, "/s, at %g; knee at %g; ", answer->rungs[answer->peak].value, answer->rungs[answer->knee].value);
    if (!answer->fitted) {
        text_add(out, "no law can be fitted to %zu values\n", answer->rung_count);
        return;
    }
    text_add(out, "X(N) = %.4g N / (1 + %.4g (N - 1) + %.4g N (N - 1))", usl->c, tidy(usl->a), tidy(usl->b));
    const char *before = ", which does not hold at N =";
    for (size_t i = 0; i < answer->rung_count; i++) {
        if (usl_misses(usl, &answer->sweep[i])) {
            text_add(out, "%s %g", before, answer->sweep[i].n);
            before = "";
        }
    }
    double peak;
    text_add(out, " (off by up to %.0f%%)", 100 * usl->miss_most);
    if (usl_peak(usl, answer->sweep, answer->rung_count, &peak)) {
        text_add(out, "; by the law the peak is %.4g at N = %.3g\n", usl_at(usl, peak), peak);
    } else {
        text_add(out, "; it shows no peak among the N = %g .. %g that were tried\n", usl->n_least, usl->n_most);
    }
}

static void add_sweep(const struct planner *planner, struct text *out) {
    struct grid grid = {.width = planner->answers.count + 2};
    struct text scratch = {0};
    text_add(out, "\nCommits/s over %s (* meets the objective), and the universal scalability law:\n",
             planner_keys[planner->request->vary]);
    grid_add_words(&grid, "");
    for (size_t i = 0; i < planner->answers.count; i++) {
        grid_add(&grid, &planner->answers.items[i].place);
    }
    grid_add_words(&grid, "");
    for (size_t r = 0; r < planner->rung_count; r++) {
        text_add(cell(&scratch), "%8g", planner->rungs[r]);
        grid_add(&grid, &scratch);
        for (size_t i = 0; i < planner->answers.count; i++) {
            const struct rung *rung = &planner->answers.items[i].rungs[r];
            add_number(rung->throughput, cell(&scratch));
            text_add(&scratch, "%s", rung->met ? " *" : "  ");
            grid_add(&grid, &scratch);
        }
        grid_add_words(&grid, "");
    }
    grid_end(&grid, out);
    for (size_t i = 0; i < planner->answers.count; i++) {
        add_law(&planner->answers.items[i], out);
    }
    text_free(&scratch);
}

void planner_add_report(const struct planner *planner, struct text *out) {
    const struct experiment_facts *facts = planner->facts;
    char warmup[64] = "a warm-up as pilots find it";
    if (facts->warmup_ns != OPTION_AUTO) {
        snprintf(warmup, sizeof warmup, "%g s of warm-up", (double)facts->warmup_ns / 1e9);
    }
    planner_add_sentence(planner, out);
    text_add(out, "\n\n%s\nvaried: %s, %g to %g; %" PRId64 " replication%s of %g s after %s, seed %" PRIu64 "%s\n\n",
             facts->title, planner_keys[planner->request->vary], planner->least, planner->most, facts->replications,
             facts->replications == 1 ? "" : "s", (double)facts->duration_ns / 1e9, warmup, facts->seed,
             facts->replications == 1 ? "; no interval from one replication: --set experiment.replications=5" : "");
    struct grid grid = {0};
    add_heading(planner, &grid);
    for (size_t i = 0; i < planner->answers.count; i++) {
        add_row(planner, &planner->answers.items[i], &grid);
    }
    grid_end(&grid, out);
    add_warning(planner, out);
    text_add(out, "\nTime lost a commit where one would plan, the worst first (the parts overlap):\n");
    for (size_t i = 0; i < planner->answers.count; i++) {
        add_limits(&planner->answers.items[i], out);
    }
    if (planner_is_whole(planner)) {
        add_sweep(planner, out);
    }
}
