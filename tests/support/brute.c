/* brute.c - see brute.h: every definition is a loop over what brute_run made of the schedule. */
#include "tests/support/brute.h"

#include <string.h>

#include "sim/base/check.h"
#include "tests/support/brute_parts.h"

/* --- phenomena --- */

static bool unfinished(const struct run *run, int life, int at) { return run->end[life] > at; }

static bool kept(const struct op *op) { return op->gone == NEVER || !op->by_rollback_to; }

static void judge_pair(const struct run *run, int i, int k, struct brute_verdict *verdict) {
    const struct op *a = &run->ops[i], *b = &run->ops[k];
    if (a->life == b->life || !unfinished(run, a->life, k)) {
        return;
    }
    if (a->kind == 'w' && a->gone > k && a->row == b->row) {
        verdict->anomalies[BRUTE_P0] |= b->kind == 'w';
        verdict->anomalies[BRUTE_P1] |= b->kind == 'r' || b->kind == 'm';
        verdict->strict = verdict->strict && b->kind != 'w' && b->kind != 'r';
    }
    verdict->anomalies[BRUTE_P2] |= a->kind == 'r' && b->kind == 'w' && a->row == b->row;
    verdict->anomalies[BRUTE_P3] |=
        a->kind == 'q' && b->kind == 'w' && (brute_match(run, b->before) != 0 || brute_match(run, b->after) != 0);
}

static bool is(const struct op *op, char kind, int life, int row) {
    return op->kind == kind && op->life == life && op->row == row && kept(op);
}

static void judge_lost_update(const struct run *run, int i, struct brute_verdict *verdict) {
    const struct op *a = &run->ops[i];
    for (int k = i + 1; k < run->count && a->kind == 'r' && run->committed[a->life]; k++) {
        const struct op *b = &run->ops[k];
        for (int m = k + 1; m < run->count && b->life != a->life && is(b, 'w', b->life, a->row); m++) {
            verdict->anomalies[BRUTE_P4] |= is(&run->ops[m], 'w', a->life, a->row);
        }
    }
}

/* r1(x) w2(x) w2(y) c2 r1(y), the two writes in either order. */
static void judge_read_skew(const struct run *run, int i, struct brute_verdict *verdict) {
    const struct op *a = &run->ops[i];
    for (int k = i + 1; k < run->count && a->kind == 'r'; k++) {
        const struct op *b = &run->ops[k];
        if (b->life == a->life || !is(b, 'w', b->life, a->row) || !run->committed[b->life]) {
            continue;
        }
        for (int m = i + 1; m < run->end[b->life]; m++) {
            int y = run->ops[m].row;
            if (y == a->row || !is(&run->ops[m], 'w', b->life, y)) {
                continue;
            }
            for (int n = run->end[b->life] + 1; n < run->count; n++) {
                verdict->anomalies[BRUTE_A5A] |= is(&run->ops[n], 'r', a->life, y);
            }
        }
    }
}

/* r1(x) r2(y), then w1(y) and w2(x). */
static void judge_write_skew(const struct run *run, int i, struct brute_verdict *verdict) {
    const struct op *a = &run->ops[i];
    for (int k = i + 1; k < run->count && a->kind == 'r' && run->committed[a->life]; k++) {
        const struct op *b = &run->ops[k];
        bool wrote_y = false, wrote_x = false;
        if (b->kind != 'r' || b->row == a->row || b->life == a->life || !run->committed[b->life]) {
            continue;
        }
        for (int m = k + 1; m < run->count; m++) {
            wrote_y |= is(&run->ops[m], 'w', a->life, b->row);
            wrote_x |= is(&run->ops[m], 'w', b->life, a->row);
        }
        verdict->anomalies[BRUTE_A5B] |= wrote_x && wrote_y;
    }
}

/* --- who read from whom --- */

static bool counts(const struct run *run, int i) {
    const struct op *op = &run->ops[i];
    return run->committed[op->life] && (op->kind != 'w' || op->gone == NEVER);
}

static void judge_source(const struct run *run, int i, struct brute_verdict *verdict) {
    const struct op *a = &run->ops[i];
    if ((a->kind != 'r' && a->kind != 'm') || a->seen == START || run->ops[a->seen].life == a->life) {
        return;
    }
    const struct op *write = &run->ops[a->seen];
    bool dirty = unfinished(run, write->life, i);
    verdict->cascadeless = verdict->cascadeless && !dirty;
    verdict->strict = verdict->strict && !(a->kind == 'm' && dirty);
    if (!run->committed[a->life]) {
        return;
    }
    verdict->anomalies[BRUTE_G1A] |= write->gone != NEVER || !run->committed[write->life];
    if (!run->committed[write->life] || write->gone != NEVER || run->end[write->life] > run->end[a->life]) {
        verdict->recoverable = false;
    }
    for (int k = a->seen + 1; k < run->count && counts(run, a->seen); k++) {
        verdict->anomalies[BRUTE_G1B] |= counts(run, k) && is(&run->ops[k], 'w', write->life, write->row);
    }
}

/* --- the committed projection --- */

/* What stands in the row before operation `at`, of those that count. */
static int stands(const struct run *run, int row, int at) {
    int write = START;
    for (int i = 0; i < at; i++) {
        write = run->ops[i].kind == 'w' && run->ops[i].row == row && counts(run, i) ? i : write;
    }
    return write;
}

static bool changes_match(const struct run *run, int i) {
    const struct op *op = &run->ops[i];
    int old = brute_match(run, brute_image(run, op->row, stands(run, op->row, i))), new = brute_match(run, op->after);
    return old == 2 || new == 2 || old != new;
}

static bool conflict(const struct run *run, int i, int k) {
    const struct op *a = &run->ops[i], *b = &run->ops[k];
    if (a->life == b->life || !counts(run, i) || !counts(run, k)) {
        return false;
    }
    if (a->kind == 'q' || b->kind == 'q') {
        return (a->kind == 'w' && changes_match(run, i)) || (b->kind == 'w' && changes_match(run, k));
    }
    bool items = strchr("rw", a->kind) != NULL && strchr("rw", b->kind) != NULL;
    return items && a->row == b->row && (a->kind == 'w' || b->kind == 'w');
}

/* Adya's direct edges between committed lives, one matrix for each kind. */
enum { WW, WR, RW, PREDICATE_RW, KINDS };
struct edges {
    bool of[KINDS][BRUTE_LIVES][BRUTE_LIVES];
};

/* Is the write the one that its transaction leaves in the row? */
static bool is_final(const struct run *run, int i) {
    const struct op *op = &run->ops[i];
    bool final = op->kind == 'w' && counts(run, i);
    for (int later = i + 1; later < run->count; later++) {
        final = final && !(counts(run, later) && is(&run->ops[later], 'w', op->life, op->row));
    }
    return final;
}

/* Does what the writer leaves in the row match as the version before did not, or the other way round? */
static bool leaves_changed(const struct run *run, int i) {
    int row = run->ops[i].row, final = i, before;
    while (!(run->ops[final].life == run->ops[i].life && run->ops[final].row == row && is_final(run, final))) {
        final++; /* it is this write, or a later one */
    }
    for (before = final - 1; before >= 0 && !(run->ops[before].row == row && is_final(run, before)); before--) {}
    int old = brute_match(run, brute_image(run, row, before)), new = brute_match(run, run->ops[final].after);
    return old == 2 || old != new;
}

static bool is_write_of(const struct run *run, int i, int row, bool changing) {
    return run->ops[i].kind == 'w' && run->ops[i].row == row && counts(run, i) &&
           (!changing || (changes_match(run, i) && leaves_changed(run, i)));
}

/* What stood in the row at that time, whoever wrote it: is it part of the projection? */
static bool saw_what_counts(const struct run *run, int row, int at) {
    int write = START;
    for (int i = 0; i < at; i++) {
        write = run->ops[i].kind == 'w' && run->ops[i].row == row && run->ops[i].gone > at ? i : write;
    }
    return write == START || counts(run, write);
}

/* The last such write before `at` or the first behind it, or -1. */
static int neighbour(const struct run *run, int at, int row, bool changing, int direction) {
    for (int i = at + direction; i >= 0 && i < run->count; i += direction) {
        if (is_write_of(run, i, row, changing)) {
            return i;
        }
    }
    return -1;
}

static void set_edge(const struct run *run, struct edges *edges, int kind, int from, int to) {
    if (from >= 0 && to >= 0 && run->ops[from].life != run->ops[to].life) {
        edges->of[kind][run->ops[from].life][run->ops[to].life] = true;
    }
}

static void find_edges(const struct run *run, struct edges *edges) {
    memset(edges, 0, sizeof *edges);
    for (int i = 0; i < run->count; i++) {
        int row = run->ops[i].row;
        if (!counts(run, i)) {
            continue;
        }
        switch (run->ops[i].kind) {
        case 'w': set_edge(run, edges, WW, neighbour(run, i, row, false, -1), i); break;
        case 'r':
            set_edge(run, edges, WR, run->ops[i].seen != START && counts(run, run->ops[i].seen) ? run->ops[i].seen : -1,
                     i);
            set_edge(run, edges, RW, i, neighbour(run, i, row, false, 1));
            break;
        case 'q':
            for (int each = 0; each < run->schedule->row_count; each++) {
                set_edge(run, edges, WR, saw_what_counts(run, each, i) ? neighbour(run, i, each, true, -1) : -1, i);
                set_edge(run, edges, PREDICATE_RW, i, neighbour(run, i, each, true, 1));
            }
            break;
        default: break;
        }
    }
}

/* What a cycle through the lives of `path` can be made of: every choice of an edge for each pair of neighbours. */
struct walk {
    const struct edges *edges;
    int path[BRUTE_LIVES], kinds[BRUTE_LIVES], length;
    struct brute_verdict *verdict;
};

static void judge_cycle(struct walk *walk) {
    int of[KINDS] = {0};
    bool adjacent = false;
    for (int i = 0; i < walk->length; i++) {
        of[walk->kinds[i]]++;
        adjacent |= walk->kinds[i] >= RW && walk->kinds[(i + 1) % walk->length] >= RW;
    }
    int dependencies = of[WW] + of[WR], anti = walk->length - dependencies;
    bool *anomalies = walk->verdict->anomalies;
    anomalies[BRUTE_G0] |= of[WW] == walk->length;
    anomalies[BRUTE_G1C] |= dependencies == walk->length;
    anomalies[BRUTE_G_SINGLE] |= anti == 1;
    anomalies[BRUTE_G2_ITEM] |= of[RW] > 0 && of[PREDICATE_RW] == 0;
    anomalies[BRUTE_G2] |= anti > 0;
    walk->verdict->broken[3] |= !adjacent;
}

static void choose_edges(struct walk *walk, int at) {
    if (at == walk->length) {
        judge_cycle(walk);
        return;
    }
    for (walk->kinds[at] = 0; walk->kinds[at] < KINDS; walk->kinds[at]++) {
        if (walk->edges->of[walk->kinds[at]][walk->path[at]][walk->path[(at + 1) % walk->length]]) {
            choose_edges(walk, at + 1);
        }
    }
}

/* Every cycle once for each place to begin: harmless. */
static void extend(struct walk *walk, int lives) {
    for (int next = 0; next < lives; next++) {
        bool used = false, edge = walk->length == 0;
        for (int i = 0; i < walk->length; i++) {
            used |= walk->path[i] == next;
        }
        for (int kind = 0; kind < KINDS && walk->length > 0; kind++) {
            edge |= walk->edges->of[kind][walk->path[walk->length - 1]][next];
        }
        if (!used && edge) {
            walk->path[walk->length++] = next;
            choose_edges(walk, 0);
            extend(walk, lives);
            walk->length--;
        }
    }
}

/* --- permutations --- */

static bool respects(const struct run *run, const int *lives, int count) {
    int place[BRUTE_LIVES] = {0};
    for (int i = 0; i < count; i++) {
        place[lives[i]] = i;
    }
    for (int i = 0; i < run->count; i++) {
        for (int k = i + 1; k < run->count; k++) {
            if (conflict(run, i, k) && place[run->ops[i].life] > place[run->ops[k].life]) {
                return false;
            }
        }
    }
    return true;
}

static int writer(const struct run *run, int write) { return write == START ? START : run->ops[write].life; }

/* Runs the operations that count in the serial order: the same sources, the same matches, the same last writers. */
static bool views_equally(const struct run *run, const int *lives, int count) {
    int now[BRUTE_ROWS];
    for (int row = 0; row < BRUTE_ROWS; row++) {
        now[row] = START;
    }
    for (int each = 0; each < count; each++) {
        for (int i = 0; i < run->count; i++) {
            const struct op *op = &run->ops[i];
            if (op->life != lives[each] || !counts(run, i)) {
                continue;
            }
            if (op->kind == 'w') {
                now[op->row] = i;
            } else if (op->kind == 'r' && writer(run, now[op->row]) != writer(run, stands(run, op->row, i))) {
                return false;
            }
            for (int row = 0; row < run->schedule->row_count && op->kind == 'q'; row++) {
                bool in = brute_match(run, brute_image(run, row, now[row])) != 0;
                if (in != (brute_match(run, brute_image(run, row, stands(run, row, i))) != 0)) {
                    return false;
                }
            }
        }
    }
    for (int row = 0; row < run->schedule->row_count; row++) {
        if (writer(run, now[row]) != writer(run, stands(run, row, run->count))) {
            return false;
        }
    }
    return true;
}

/* The next permutation in the order of the transactions' numbers; false after the last. */
static bool permute(const struct run *run, int *lives, int count) {
    int i = count - 2, k = count - 1;
    while (i >= 0 && run->life_txn[lives[i]] > run->life_txn[lives[i + 1]]) {
        i--;
    }
    if (i < 0) {
        return false;
    }
    while (run->life_txn[lives[k]] < run->life_txn[lives[i]]) {
        k--;
    }
    int swap = lives[i];
    lives[i] = lives[k];
    lives[k] = swap;
    for (int low = i + 1, high = count - 1; low < high; low++, high--) {
        swap = lives[low];
        lives[low] = lives[high];
        lives[high] = swap;
    }
    return true;
}

static void judge_orders(const struct run *run, struct brute_verdict *verdict) {
    int lives[BRUTE_LIVES], count = 0;
    for (int txn = 1; txn <= run->schedule->txn_count; txn++) {
        for (int life = 0; life < run->lives; life++) {
            if (run->life_txn[life] == txn && run->committed[life]) {
                lives[count++] = life;
            }
        }
    }
    do {
        if (!verdict->conflict_serializable && respects(run, lives, count)) {
            verdict->conflict_serializable = true;
            verdict->order_count = count;
            for (int i = 0; i < count; i++) {
                verdict->order[i] = run->life_txn[lives[i]];
            }
        }
        verdict->view_serializable = verdict->view_serializable || views_equally(run, lives, count);
    } while (permute(run, lives, count));
}

/* --- levels --- */

static void judge_levels(const struct run *run, const struct edges *edges, struct brute_verdict *verdict) {
    const bool *found = verdict->anomalies;
    bool g1 = found[BRUTE_G1A] || found[BRUTE_G1B] || found[BRUTE_G1C];
    verdict->broken[0] = found[BRUTE_G0];
    verdict->broken[1] = found[BRUTE_G0] || g1;
    verdict->broken[2] = verdict->broken[1] || found[BRUTE_G2_ITEM];
    verdict->broken[3] = verdict->broken[3] || verdict->broken[1];
    verdict->broken[4] = verdict->broken[1] || found[BRUTE_G2];
    for (int a = 0; a < run->lives; a++) {
        for (int b = 0; b < run->lives; b++) {
            bool dependency = edges->of[WW][a][b] || edges->of[WR][a][b];
            verdict->broken[3] |= dependency && run->end[a] > run->first[b];
        }
    }
}

void brute_judge(const struct brute_schedule *schedule, struct brute_verdict *verdict) {
    static struct run run;
    static struct edges edges;
    *verdict = (struct brute_verdict){.recoverable = true, .cascadeless = true, .strict = true};
    brute_run(&run, schedule);
    for (int i = 0; i < run.count; i++) {
        judge_lost_update(&run, i, verdict);
        judge_read_skew(&run, i, verdict);
        judge_write_skew(&run, i, verdict);
        judge_source(&run, i, verdict);
        for (int k = i + 1; k < run.count; k++) {
            judge_pair(&run, i, k, verdict);
            if (conflict(&run, i, k)) {
                verdict->before[run.life_txn[run.ops[i].life] - 1][run.life_txn[run.ops[k].life] - 1] = true;
            }
        }
    }
    verdict->rigorous = verdict->strict && !verdict->anomalies[BRUTE_P2];
    find_edges(&run, &edges);
    struct walk walk = {.edges = &edges, .verdict = verdict};
    extend(&walk, run.lives);
    judge_orders(&run, verdict);
    judge_levels(&run, &edges, verdict);
}
