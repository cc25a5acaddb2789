/* judge_skew.c - lost update, read skew and write skew: P4, A5A and A5B (Berenson et al. 1995, as docs/MODEL.md has
 * them).
 *
 * P4 is found row by row: the first write of another behind a transaction's first read must lie before its own last
 * write. For the skews, pairs of transactions are looked at, but only such as overlap and meet on a row in the way the
 * definition asks for: T2 wrote, inside the life of T1, a row that T1 had read (A5A), or read, inside the life of T1, a
 * row that T1 wrote later (A5B; of two such transactions the one that read first plays T1). */
#include <string.h>

#include "sim/check/judge_parts.h"

/* Of a touch: operations, HISTORY_NONE where there is none. Writes taken back to a savepoint do not count. */
struct span {
    uint32_t first_read, last_read, last_write;
};

/* Operations by row. */
struct rows {
    uint32_t *ops;
    size_t *begin;
};

struct skew {
    const struct history *history;
    struct verdict *verdict;
    struct span *spans;
    struct rows all_writes;    /* of P4 */
    struct rows reads, writes; /* of the skews: only those that can be part of one */
    bool *is_read;             /* rows that anyone reads */
    uint32_t *overwrites;      /* of lives: how many of those they write */
    uint32_t *touch_of;        /* of rows: the touch of the transaction looked at, or HISTORY_NONE */
    uint32_t *met;             /* of lives: the last that was compared with it, + 1 */
};

static bool kept(const struct history *history, const struct history_op *op) {
    return op->gone == HISTORY_NONE || history->ops[op->gone].kind == HISTORY_END;
}

static bool committed(const struct history *history, uint32_t life) {
    return history->lives[life].state == HISTORY_COMMITTED;
}

/* The writes of a read skew are of a transaction that commits and writes two rows that are read, the first reads of a
 * write skew of one that commits and writes such a row beside the one that it reads. */
static bool can_skew(const struct skew *skew, const struct history_op *op) {
    uint32_t rows = skew->overwrites[op->life];
    bool writes_it = skew->is_read[op->row] && skew->spans[op->touch].last_write != HISTORY_NONE;
    return committed(skew->history, op->life) && (op->kind == HISTORY_WRITE ? rows > 1 : rows > (writes_it ? 1U : 0U));
}

static bool listed(const struct skew *skew, const struct history_op *op, enum history_kind kind, bool all) {
    return op->kind == kind && kept(skew->history, op) && (all || can_skew(skew, op));
}

static void collect(const struct skew *skew, enum history_kind kind, bool all, struct rows *rows) {
    const struct history *history = skew->history;
    size_t count = history->schedule->row_count;
    rows->begin = mem_new(count + 2, sizeof *rows->begin);
    for (size_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        if (listed(skew, op, kind, all)) {
            rows->begin[op->row + 2]++;
        }
    }
    for (size_t i = 2; i < count + 2; i++) {
        rows->begin[i] += rows->begin[i - 1];
    }
    rows->ops = mem_new(rows->begin[count + 1], sizeof *rows->ops);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        if (listed(skew, op, kind, all)) {
            rows->ops[rows->begin[op->row + 1]++] = i;
        }
    }
}

static void find_spans(struct skew *skew) {
    const struct history *history = skew->history;
    for (size_t i = 0; i < history->touch_count; i++) {
        skew->spans[i] = (struct span){HISTORY_NONE, HISTORY_NONE, HISTORY_NONE};
    }
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        if (op->kind == HISTORY_READ) {
            struct span *span = &skew->spans[op->touch];
            span->first_read = span->first_read == HISTORY_NONE ? i : span->first_read;
            span->last_read = i;
        } else if (op->kind == HISTORY_WRITE && kept(history, op)) {
            skew->spans[op->touch].last_write = i;
        }
    }
}

static void find_overwrites(struct skew *skew) {
    const struct history *history = skew->history;
    for (size_t t = 0; t < history->touch_count; t++) {
        if (skew->spans[t].first_read != HISTORY_NONE) {
            skew->is_read[history->touches[t].object] = true;
        }
    }
    for (size_t t = 0; t < history->touch_count; t++) {
        if (skew->spans[t].last_write != HISTORY_NONE && skew->is_read[history->touches[t].object]) {
            skew->overwrites[history->touches[t].life]++;
        }
    }
}

/* The place in the row's list of its first operation after `op`. */
static size_t place_after(const struct rows *rows, uint32_t row, uint32_t op) {
    size_t low = rows->begin[row], high = rows->begin[row + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->ops[middle] > op) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* --- P4 --- */

static void find_lost_updates(struct skew *skew) {
    const struct history *history = skew->history;
    const struct rows *writes = &skew->all_writes;
    size_t rows = history->schedule->row_count;
    size_t *next = mem_new(writes->begin[rows], sizeof *next); /* place of the next write of another life */
    for (size_t row = 0; row < rows; row++) {
        for (size_t at = writes->begin[row + 1]; at-- > writes->begin[row];) {
            bool last = at + 1 == writes->begin[row + 1];
            bool same = !last && history->ops[writes->ops[at]].life == history->ops[writes->ops[at + 1]].life;
            next[at] = same ? next[at + 1] : at + 1;
        }
    }
    for (size_t t = 0; t < history->touch_count && !skew->verdict->anomalies[ANOMALY_P4].found; t++) {
        const struct span *span = &skew->spans[t];
        uint32_t life = history->touches[t].life, row = history->touches[t].object;
        if (span->first_read == HISTORY_NONE || span->last_write == HISTORY_NONE || !committed(history, life)) {
            continue;
        }
        size_t at = place_after(writes, row, span->first_read);
        if (at < writes->begin[row + 1] && history->ops[writes->ops[at]].life == life) {
            at = next[at];
        }
        if (at < writes->begin[row + 1] && writes->ops[at] < span->last_write) {
            uint32_t lost = writes->ops[at];
            judge_found(history, skew->verdict, ANOMALY_P4,
                        "%T read %R (%S), %T wrote it (%S), and %T overwrote that (%S)", span->first_read, lost,
                        span->first_read, lost, lost, span->last_write, span->last_write);
        }
    }
    mem_free(next);
}

/* --- pairs --- */

/* The rows of one transaction, for looking up those of others. */
static void look_at(struct skew *skew, uint32_t life, bool on) {
    const struct history *history = skew->history;
    for (uint32_t t = history->lives[life].touches; t != HISTORY_NONE; t = history->touches[t].next_of_life) {
        if (history->touches[t].object < history->schedule->row_count) {
            skew->touch_of[history->touches[t].object] = on ? t : HISTORY_NONE;
        }
    }
}

static bool meet(struct skew *skew, uint32_t life, uint32_t second) {
    bool anew = skew->met[second] != life + 1;
    skew->met[second] = life + 1;
    return anew && second != life && committed(skew->history, second);
}

/* The touch of the life looked at on the row of another's touch, or NULL. */
static const struct span *span_opposite(const struct skew *skew, uint32_t touch) {
    uint32_t object = skew->history->touches[touch].object;
    bool row = object < skew->history->schedule->row_count;
    return row && skew->touch_of[object] != HISTORY_NONE ? &skew->spans[skew->touch_of[object]] : NULL;
}

static bool both(uint32_t a, uint32_t b) { return a != HISTORY_NONE && b != HISTORY_NONE; }

/* r1(x), then `second` writes x and y and commits, then r1(y): x is the one read first but y. */
static bool read_skew(struct skew *skew, uint32_t second) {
    const struct history *history = skew->history;
    uint32_t end = history->lives[second].end, best[2] = {HISTORY_NONE, HISTORY_NONE};
    for (uint32_t t = history->lives[second].touches; t != HISTORY_NONE; t = history->touches[t].next_of_life) {
        const struct span *mine = span_opposite(skew, t), *its = &skew->spans[t];
        if (mine != NULL && both(mine->first_read, its->last_write) && mine->first_read < its->last_write) {
            if (best[0] == HISTORY_NONE || mine->first_read < span_opposite(skew, best[0])->first_read) {
                best[1] = best[0];
                best[0] = t;
            } else if (best[1] == HISTORY_NONE || mine->first_read < span_opposite(skew, best[1])->first_read) {
                best[1] = t;
            }
        }
    }
    for (uint32_t t = history->lives[second].touches; t != HISTORY_NONE; t = history->touches[t].next_of_life) {
        const struct span *mine = span_opposite(skew, t), *its = &skew->spans[t];
        uint32_t other = best[0] == t ? best[1] : best[0];
        if (mine == NULL || other == HISTORY_NONE || !both(mine->last_read, its->last_write) || mine->last_read < end) {
            continue;
        }
        const struct span *x = span_opposite(skew, other);
        if (x->first_read < its->last_write) {
            judge_found(history, skew->verdict, ANOMALY_A5A,
                        "%T read %R (%S), then %T wrote it (%S) and %R (%S) and committed, then %T read that (%S)",
                        x->first_read, x->first_read, x->first_read, skew->spans[other].last_write,
                        skew->spans[other].last_write, its->last_write, its->last_write, mine->last_read,
                        mine->last_read);
            return true;
        }
    }
    return false;
}

static void find_read_skews(struct skew *skew, uint32_t life) {
    const struct history *history = skew->history;
    uint32_t last = 0, rows = 0;
    for (uint32_t t = history->lives[life].touches; t != HISTORY_NONE; t = history->touches[t].next_of_life) {
        bool read = skew->spans[t].last_read != HISTORY_NONE;
        rows += read;
        last = read && skew->spans[t].last_read > last ? skew->spans[t].last_read : last;
    }
    for (uint32_t t = history->lives[life].touches; t != HISTORY_NONE && rows > 1;
         t = history->touches[t].next_of_life) {
        uint32_t row = history->touches[t].object, first = skew->spans[t].first_read;
        if (first == HISTORY_NONE) {
            continue;
        }
        for (size_t at = place_after(&skew->writes, row, first);
             at < skew->writes.begin[row + 1] && skew->writes.ops[at] < last; at++) {
            uint32_t second = history->ops[skew->writes.ops[at]].life;
            if (history->lives[second].end < last && meet(skew, life, second) && read_skew(skew, second)) {
                return;
            }
        }
    }
}

/* r1(x) and r2(y), then w1(y) and w2(x): `t` is the touch of `second` on y. */
static bool write_skew_on(struct skew *skew, uint32_t second, uint32_t y) {
    const struct history *history = skew->history;
    const struct span *mine_y = span_opposite(skew, y), *its_y = &skew->spans[y];
    if (mine_y == NULL || !both(mine_y->last_write, its_y->first_read) || mine_y->last_write < its_y->first_read) {
        return false;
    }
    for (uint32_t x = history->lives[second].touches; x != HISTORY_NONE; x = history->touches[x].next_of_life) {
        const struct span *mine = span_opposite(skew, x), *its = &skew->spans[x];
        if (x == y || mine == NULL || !both(mine->first_read, its->last_write)) {
            continue;
        }
        uint32_t reads = mine->first_read > its_y->first_read ? mine->first_read : its_y->first_read;
        if (reads < mine_y->last_write && reads < its->last_write) {
            judge_found(history, skew->verdict, ANOMALY_A5B,
                        "%T read %R (%S) and %T read %R (%S), then %T wrote %R (%S) and %T wrote %R (%S)",
                        mine->first_read, mine->first_read, mine->first_read, its_y->first_read, its_y->first_read,
                        its_y->first_read, mine_y->last_write, mine_y->last_write, mine_y->last_write, its->last_write,
                        its->last_write, its->last_write);
            return true;
        }
    }
    return false;
}

static bool write_skew(struct skew *skew, uint32_t second) {
    const struct history *history = skew->history;
    for (uint32_t t = history->lives[second].touches; t != HISTORY_NONE; t = history->touches[t].next_of_life) {
        if (write_skew_on(skew, second, t)) {
            return true;
        }
    }
    return false;
}

static void find_write_skews(struct skew *skew, uint32_t life) {
    const struct history *history = skew->history;
    if (!committed(history, life)) {
        return;
    }
    for (uint32_t t = history->lives[life].touches; t != HISTORY_NONE; t = history->touches[t].next_of_life) {
        uint32_t row = history->touches[t].object, last = skew->spans[t].last_write;
        if (last == HISTORY_NONE) {
            continue;
        }
        for (size_t at = place_after(&skew->reads, row, history->lives[life].first);
             at < skew->reads.begin[row + 1] && skew->reads.ops[at] < last; at++) {
            uint32_t second = history->ops[skew->reads.ops[at]].life;
            if (meet(skew, life, second) && write_skew(skew, second)) {
                return;
            }
        }
    }
}

static void each_life(struct skew *skew, enum anomaly_name name, void (*find)(struct skew *skew, uint32_t life)) {
    const struct history *history = skew->history;
    memset(skew->met, 0, history->life_count * sizeof *skew->met);
    for (uint32_t life = 0; life < history->life_count && !skew->verdict->anomalies[name].found; life++) {
        look_at(skew, life, true);
        find(skew, life);
        look_at(skew, life, false);
    }
}

void judge_skews(const struct history *history, struct verdict *verdict) {
    struct skew skew = {.history = history, .verdict = verdict};
    size_t rows = history->schedule->row_count;
    skew.spans = mem_new(history->touch_count, sizeof *skew.spans);
    skew.touch_of = mem_new(rows, sizeof *skew.touch_of);
    skew.met = mem_new(history->life_count, sizeof *skew.met);
    for (size_t i = 0; i < rows; i++) {
        skew.touch_of[i] = HISTORY_NONE;
    }
    skew.is_read = mem_new(rows, sizeof *skew.is_read);
    skew.overwrites = mem_new(history->life_count, sizeof *skew.overwrites);
    find_spans(&skew);
    find_overwrites(&skew);
    collect(&skew, HISTORY_WRITE, true, &skew.all_writes);
    collect(&skew, HISTORY_READ, false, &skew.reads);
    collect(&skew, HISTORY_WRITE, false, &skew.writes);
    find_lost_updates(&skew);
    each_life(&skew, ANOMALY_A5A, find_read_skews);
    each_life(&skew, ANOMALY_A5B, find_write_skews);
    mem_free(skew.spans);
    mem_free(skew.touch_of);
    mem_free(skew.met);
    mem_free(skew.is_read);
    mem_free(skew.overwrites);
    mem_free(skew.all_writes.ops);
    mem_free(skew.all_writes.begin);
    mem_free(skew.reads.ops);
    mem_free(skew.reads.begin);
    mem_free(skew.writes.ops);
    mem_free(skew.writes.begin);
}
