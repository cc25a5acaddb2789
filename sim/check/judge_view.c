/* judge_view.c - view-serializability of the committed projection, by exact search over the serial orders.
 *
 * In an equivalent serial order every read sees a write of the same transaction as in the schedule (or the row as it
 * was at the start), the last write of every row is the same, and every scan finds the same rows. A transaction may be
 * placed next if the rows that it reads before writing them were last written by those from whom it read them; what it
 * reads after writing it must be its own in the schedule already. */
#include <string.h>

#include "sim/check/judge_parts.h"

/* Before the transaction runs, `row` must hold a write of the same transaction as `seen`; of scans, see fits(). */
struct need {
    uint32_t row, seen, predicate;
};
struct result {
    uint32_t row, write;
};
struct member {
    VECTOR(struct need) needs;
    VECTOR(struct result) results; /* its last write of each row */
};

struct view {
    const struct history *history;
    struct member members[JUDGE_VIEW_MAX];
    uint32_t *member_of; /* lives */
    size_t count;
    uint32_t *now;  /* of rows: the last write; while collecting, in the schedule; while searching, in the order */
    uint32_t *last; /* of rows, in the whole schedule */
    uint32_t *own;  /* of touches: the transaction's last write so far */
    bool possible;
};

static void need(struct view *view, uint32_t member, struct need wanted) {
    struct member *of = &view->members[member];
    if (of->needs.count > 0 && memcmp(&of->needs.items[of->needs.count - 1], &wanted, sizeof wanted) == 0) {
        return;
    }
    vector_push(&of->needs, wanted);
}

static bool same_writer(const struct history *history, uint32_t a, uint32_t b) {
    return a == b || (a != HISTORY_NONE && b != HISTORY_NONE && history->ops[a].life == history->ops[b].life);
}

static void collect_read(struct view *view, const struct history_op *op, uint32_t member) {
    uint32_t own = view->own[op->touch], seen = view->now[op->row];
    if (own != HISTORY_NONE) {
        view->possible = view->possible && same_writer(view->history, own, seen);
    } else {
        need(view, member, (struct need){.row = op->row, .seen = seen, .predicate = SCHEDULE_NONE});
    }
}

/* Is meeting `offered` as good as meeting `wanted`? A scan must match the row or not, as it did: what it then read is a
 * read of its own. */
static bool fits(const struct view *view, uint32_t row, uint32_t predicate, uint32_t wanted, uint32_t offered) {
    const struct history *history = view->history;
    if (predicate == SCHEDULE_NONE || wanted == offered) {
        return same_writer(history, wanted, offered);
    }
    bool out = history_match(history, predicate, row, history_image_of(history, row, wanted)) == HISTORY_NO;
    return out == (history_match(history, predicate, row, history_image_of(history, row, offered)) == HISTORY_NO);
}

/* `own`: of rows, the scanning transaction's last write. */
static void collect_scan(struct view *view, const struct history_op *op, uint32_t member, const uint32_t *own) {
    for (uint32_t row = 0; row < view->history->schedule->row_count; row++) {
        if (own[row] != HISTORY_NONE) {
            view->possible = view->possible && fits(view, row, op->predicate, view->now[row], own[row]);
        } else {
            need(view, member, (struct need){.row = row, .seen = view->now[row], .predicate = op->predicate});
        }
    }
}

static void collect(struct view *view) {
    const struct history *history = view->history;
    size_t rows = history->schedule->row_count;
    uint32_t *own = mem_new(rows * view->count, sizeof *own);
    memset(own, 0xff, rows * view->count * sizeof *own);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        uint32_t member = view->member_of[op->life];
        if (!history_counts(history, op)) {
            continue;
        }
        if (op->kind == HISTORY_READ) {
            collect_read(view, op, member);
        } else if (op->kind == HISTORY_WRITE) {
            view->now[op->row] = view->own[op->touch] = own[member * rows + op->row] = i;
        } else if (op->kind == HISTORY_SCAN) {
            collect_scan(view, op, member, own + member * rows);
        }
    }
    for (size_t m = 0; m < view->count; m++) {
        for (uint32_t row = 0; row < rows; row++) {
            if (own[m * rows + row] != HISTORY_NONE) {
                vector_push(&view->members[m].results, ((struct result){.row = row, .write = own[m * rows + row]}));
            }
        }
    }
    memcpy(view->last, view->now, rows * sizeof *view->last);
    memset(view->now, 0xff, rows * sizeof *view->now);
    mem_free(own);
}

/* May the transaction come next, after those of the set `placed`? Not after one whose write must remain. */
static bool can_run(const struct view *view, const struct member *member, unsigned placed) {
    const struct history *history = view->history;
    for (size_t i = 0; i < member->results.count; i++) {
        uint32_t last = view->last[member->results.items[i].row];
        if ((placed >> view->member_of[history->ops[last].life] & 1) != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < member->needs.count; i++) {
        const struct need *wanted = &member->needs.items[i];
        if (!fits(view, wanted->row, wanted->predicate, wanted->seen, view->now[wanted->row])) {
            return false;
        }
    }
    return true;
}

static void exchange(struct view *view, struct member *member) {
    for (size_t i = 0; i < member->results.count; i++) {
        struct result *result = &member->results.items[i];
        uint32_t before = view->now[result->row];
        view->now[result->row] = result->write;
        result->write = before;
    }
}

/* Tries to place the transactions not yet in `placed`, a set, behind those that are; depth at most JUDGE_VIEW_MAX. */
static bool place(struct view *view, unsigned placed, uint32_t *order, size_t depth) {
    if (depth == view->count) {
        return true; /* each row has its last write: nobody who wrote it came after that one's transaction */
    }
    for (uint32_t m = 0; m < view->count; m++) {
        struct member *member = &view->members[m];
        if ((placed >> m & 1) != 0 || !can_run(view, member, placed)) {
            continue;
        }
        exchange(view, member);
        order[depth] = m;
        bool found = place(view, placed | 1U << m, order, depth + 1);
        exchange(view, member); /* back */
        if (found) {
            return true;
        }
    }
    return false;
}

static void say_order(const struct view *view, const uint32_t *order, struct text *out) {
    text_add(out, view->count > 1 ? "in the serial order" : "nothing but");
    for (size_t i = 0; i < view->count; i++) {
        for (uint32_t life = 0; life < view->history->life_count; life++) {
            if (view->member_of[life] == order[i]) {
                text_add(out, " ");
                judge_add_life(view->history, life, out);
            }
        }
    }
    text_add(out, view->count > 1 ? " every read is from the same transaction and every row last written by the same"
                                  : " committed");
}

static void search_orders(struct view *view, struct verdict *verdict) {
    uint32_t order[JUDGE_VIEW_MAX];
    struct text *reason = &verdict->reasons[JUDGE_VIEW_SERIALIZABLE];
    bool found = view->possible && place(view, 0, order, 0);
    verdict->properties[JUDGE_VIEW_SERIALIZABLE] = found ? JUDGE_YES : JUDGE_NO;
    if (!found) {
        text_add(
            reason,
            "in no serial order of the committed transactions is every read from the same transaction and every row last "
            "written by the same");
    } else if (view->count == 0) {
        text_add(reason, "nothing committed");
    } else {
        say_order(view, order, reason);
    }
}

void judge_view(const struct history *history, struct verdict *verdict) {
    struct view view = {.history = history, .possible = true};
    size_t rows = history->schedule->row_count;
    if (verdict->committed > JUDGE_VIEW_MAX) {
        verdict->properties[JUDGE_VIEW_SERIALIZABLE] = JUDGE_OPEN;
        text_add(&verdict->reasons[JUDGE_VIEW_SERIALIZABLE],
                 "not looked for: more than %d transactions committed, and the search is over all their orders",
                 JUDGE_VIEW_MAX);
        return;
    }
    view.member_of = mem_new(history->life_count, sizeof *view.member_of);
    view.now = mem_new(rows, sizeof *view.now);
    view.last = mem_new(rows, sizeof *view.last);
    view.own = mem_new(history->touch_count, sizeof *view.own);
    for (size_t i = 0; i < history->life_count; i++) {
        bool counts = history->lives[i].state == HISTORY_COMMITTED;
        view.member_of[i] = counts ? (uint32_t)view.count++ : HISTORY_NONE;
    }
    memset(view.now, 0xff, rows * sizeof *view.now);
    memset(view.own, 0xff, history->touch_count * sizeof *view.own);
    collect(&view);
    search_orders(&view, verdict);
    for (size_t m = 0; m < view.count; m++) {
        vector_free(&view.members[m].needs);
        vector_free(&view.members[m].results);
    }
    mem_free(view.member_of);
    mem_free(view.now);
    mem_free(view.last);
    mem_free(view.own);
}
