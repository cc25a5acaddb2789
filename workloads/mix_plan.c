/* mix_plan.c - what a transaction of a mix will access, if that is known before it begins: all rows and ranges are named
 * by what was drawn. One named by what a step finds or reads, or by a number of a sequence, makes it unknown. Both
 * branches of a condition count. */
#include "workloads/mix.h"

/* Does the sum depend on nothing but what was drawn? */
static bool is_drawn(const struct mix_type *type, struct mix_sum sum) {
    for (uint32_t i = 0; i < sum.count; i++) {
        enum mix_term_kind kind = type->terms.items[sum.first + i].kind;
        if (kind != MIX_TERM_CONSTANT && kind != MIX_TERM_DRAWN && kind != MIX_TERM_DRAWN_OF_SET &&
            kind != MIX_TERM_ROUND) {
            return false;
        }
    }
    return true;
}

bool mix_tells(const struct mix_type *type) {
    bool tells = true;
    for (size_t at = 0; at < type->program.count; at++) {
        const struct mix_instruction *i = &type->program.items[at];
        for (size_t k = 0; k < i->row_count; k++) {
            tells = tells && is_drawn(type, i->rows[k]);
        }
        tells = tells && is_drawn(type, i->source) && is_drawn(type, i->low) && is_drawn(type, i->high);
    }
    return tells;
}

struct planning {
    const struct mix *mix;
    const struct mix_type *type;
    struct table *const *tables;
    const int64_t *values;
    uint32_t round;
    struct footprint plan;
};

static int64_t value_of(const struct planning *planning, struct mix_sum sum) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < sum.count; i++) {
        const struct mix_term *term = &planning->type->terms.items[sum.first + i];
        uint64_t value = (uint64_t)term->constant;
        if (term->kind == MIX_TERM_ROUND) {
            value = planning->round + UINT64_C(1);
        } else if (term->kind != MIX_TERM_CONSTANT) {
            value = (uint64_t)planning->values[term->slot + (term->kind == MIX_TERM_DRAWN ? 0 : planning->round)];
        }
        total = term->sign > 0 ? total + value : total - value;
    }
    return (int64_t)total;
}

static enum planned_use use_of(const struct step *form) {
    if (form->kind == STEP_SELECT) {
        return form->locking == LOCKING_UPDATE ? PLANNED_LOCK : PLANNED_READ;
    }
    return form->kind == STEP_INSERT ? PLANNED_INSERT : PLANNED_WRITE;
}

/* A row whose id is below 1 is left out when its turn comes. */
static void add_row(struct planning *planning, const struct mix_instruction *i, struct mix_sum row,
                    enum planned_use use) {
    int64_t key = value_of(planning, row);
    if (key >= PROGRAM_FIRST_KEY) {
        footprint_add_row(&planning->plan, planning->tables[i->table], key, use);
    }
}

/* The whole range where the condition is more than one test on what was drawn. */
static void add_range(struct planning *planning, const struct mix_instruction *i) {
    struct planned range = {.table = planning->tables[i->table], .use = use_of(&i->form), .scan = true};
    const struct mix_table *table = &planning->mix->tables.items[i->table];
    range.key = i->low.count > 0 ? value_of(planning, i->low) : PROGRAM_FIRST_KEY;
    range.key = range.key < PROGRAM_FIRST_KEY ? PROGRAM_FIRST_KEY : range.key;
    range.last = i->high.count > 0 ? value_of(planning, i->high) : mix_last_id(table);
    if (i->tests.count == 1 && is_drawn(planning->type, i->tests.items[0].right)) {
        const struct mix_test *test = &i->tests.items[0];
        range.condition = (struct condition){.operator= test->operator,
                                             .of_id = test->of_id,
                                             .modulus = test->modulus,
                                             .constant = value_of(planning, test->right)};
    }
    if (range.key <= range.last) {
        footprint_add(&planning->plan, range);
    }
}

static void add_statement(struct planning *planning, const struct mix_instruction *i) {
    if (i->source.count > 0) {
        add_row(planning, i, i->source, PLANNED_READ);
    }
    for (size_t k = 0; k < i->row_count; k++) {
        add_row(planning, i, i->rows[k], use_of(&i->form));
    }
    if (i->form.scan) {
        add_range(planning, i);
    }
}

size_t mix_plan(const struct mix *mix, const struct mix_type *type, struct table *const *tables, const int64_t *values,
                struct planned *out, size_t most) {
    struct planning planning = {.mix = mix, .type = type, .tables = tables, .values = values};
    planning.plan = (struct footprint){.items = out, .capacity = most};
    if (!type->tells) {
        return PLAN_UNKNOWN;
    }
    for (size_t at = 0; at < type->program.count; at++) {
        const struct mix_instruction *i = &type->program.items[at];
        uint32_t rounds = i->loop_count > 0 ? i->loop_count : 1;
        for (planning.round = 0; i->code == MIX_STATEMENT && planning.round < rounds; planning.round++) {
            add_statement(&planning, i);
        }
    }
    return planning.plan.count;
}
