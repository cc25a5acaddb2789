/* mix_flow.c - what follows from a program as it stands: which statement takes the last new lock, and how many rows are
 * still to be accessed after each step.
 *
 * A statement is the last if no other can be reached from it; one inside an `each` is, in the last round, if none can be
 * reached but by going round. What is left counts every row once, however often it is accessed, and takes the longer
 * way at each branch: both branches count. A row that is the same in every round of a loop counts until the round's last
 * access to it. */
#include "workloads/mix.h"

#include <string.h>

static bool reaches(const struct mix_instruction *program, const bool *reach, size_t at) {
    const struct mix_instruction *i = &program[at];
    switch (i->code) {
    case MIX_STATEMENT: return true;
    case MIX_JUMP: return reach[i->target];
    case MIX_IF:
    case MIX_ELSE:
    case MIX_EACH: return reach[at + 1] || reach[i->target];
    case MIX_COMMIT:
    case MIX_ROLLBACK: return false;
    case MIX_THINK:
    case MIX_SAVEPOINT:
    case MIX_ROLLBACK_TO:
    case MIX_AGAIN:
    case MIX_EXPECT: break;
    }
    return reach[at + 1];
}

static void find_last(struct mix_type *type) {
    size_t count = type->program.count;
    bool *reach = mem_new(count + 1, sizeof *reach);
    for (size_t at = count; at-- > 0;) {
        struct mix_instruction *i = &type->program.items[at];
        reach[at] = reaches(type->program.items, reach, at);
        bool last = i->code == MIX_STATEMENT && !reach[at + 1];
        i->last = !last ? MIX_NOT_LAST : i->loop_count > 0 ? MIX_LAST_IN_LAST_ROUND : MIX_IS_LAST;
    }
    mem_free(reach);
}

/* ---- What is left ---- */

static bool same_terms(const struct mix_type *type, struct mix_sum a, struct mix_sum b) {
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++) {
        const struct mix_term *x = &type->terms.items[a.first + i], *y = &type->terms.items[b.first + i];
        same = x->kind == y->kind && x->slot == y->slot && x->sign == y->sign && x->constant == y->constant;
    }
    return same;
}

static bool turns(const struct mix_type *type, struct mix_sum row) {
    bool any = false;
    for (uint32_t i = 0; i < row.count; i++) {
        enum mix_term_kind kind = type->terms.items[row.first + i].kind;
        any = any || kind == MIX_TERM_DRAWN_OF_SET || kind == MIX_TERM_ROUND;
    }
    return any;
}

/* Is the row accessed by a later statement, up to `end`? */
static bool comes_again(const struct mix_type *type, size_t at, size_t end, int table, struct mix_sum row) {
    for (size_t k = at + 1; k < end; k++) {
        const struct mix_instruction *other = &type->program.items[k];
        for (size_t i = 0; other->code == MIX_STATEMENT && other->table == table && i < other->row_count; i++) {
            if (same_terms(type, row, other->rows[i])) {
                return true;
            }
        }
    }
    return false;
}

/* The rows that are accessed here for the last time: those that are others in every round, and the rest. */
static void count_rows(const struct mix *mix, const struct mix_type *type, size_t at, size_t loop_end,
                       uint32_t *turning, uint64_t *others) {
    const struct mix_instruction *i = &type->program.items[at];
    *turning = 0;
    *others = i->code == MIX_STATEMENT && i->form.scan ? (uint64_t)mix->tables.items[i->table].rows : 0;
    for (size_t k = 0; i->code == MIX_STATEMENT && k < i->row_count; k++) {
        bool in_round = i->loop_count > 0 && turns(type, i->rows[k]);
        if (!comes_again(type, at, in_round ? loop_end : type->program.count, i->table, i->rows[k])) {
            *turning += in_round;
            *others += !in_round;
        }
    }
}

static size_t end_of_loop(const struct mix_type *type, size_t at) {
    size_t end = at;
    while (type->program.items[at].loop_count > 0 && type->program.items[end].code != MIX_AGAIN) {
        end++;
    }
    return end;
}

/* From the end: of the round, and beside it. At the start of a loop its rounds become part of what is beside. */
static void find_left(const struct mix *mix, struct mix_type *type) {
    uint32_t round = 0;
    uint64_t beside = 0;
    for (size_t at = type->program.count; at-- > 0;) {
        struct mix_instruction *i = &type->program.items[at];
        uint32_t turning;
        uint64_t others;
        count_rows(mix, type, at, end_of_loop(type, at), &turning, &others);
        round += turning;
        beside += others;
        i->left_round = round;
        i->left_beside = beside;
        if (i->code == MIX_EACH) {
            for (size_t k = at; k == at || type->program.items[k - 1].code != MIX_AGAIN; k++) {
                type->program.items[k].left_per_round = round;
            }
            beside += (uint64_t)round * i->loop_count;
            i->left_round = round = 0;
            i->left_per_round = 0;
            i->left_beside = beside;
        }
    }
}

void mix_complete(const struct mix *mix, struct mix_type *type) {
    find_last(type);
    find_left(mix, type);
}
