/* mix_plan.c - which rows a transaction of a mix will access, if that is known before it begins: every row is named by
 * what was drawn. A scan, a row that a step finds, one named by what was read, or an insert make it unknown. Both
 * branches of a condition count. */
#include "workloads/mix.h"

#include <stdlib.h>

enum { PLANNED_MAX = 1024 };

/* False: it depends on more than what was drawn. */
static bool row_of(const struct mix_type *type, const int64_t *values, struct mix_sum row, uint32_t round,
                   int64_t *key) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < row.count; i++) {
        const struct mix_term *term = &type->terms.items[row.first + i];
        uint64_t value = (uint64_t)term->constant;
        if (term->kind == MIX_TERM_DRAWN || term->kind == MIX_TERM_DRAWN_OF_SET) {
            value = (uint64_t)values[term->slot + (term->kind == MIX_TERM_DRAWN_OF_SET ? round : 0)];
        } else if (term->kind != MIX_TERM_CONSTANT) {
            return false;
        }
        total = term->sign > 0 ? total + value : total - value;
    }
    *key = (int64_t)total;
    return true;
}

static enum planned_use use_of(const struct step *form) {
    if (form->kind != STEP_SELECT) {
        return PLANNED_WRITE;
    }
    return form->locking != LOCKING_NONE ? PLANNED_LOCK : PLANNED_READ;
}

struct footprint {
    struct planned rows[PLANNED_MAX];
    size_t count;
};

static bool add(struct footprint *footprint, struct table *table, int64_t key, enum planned_use use) {
    if (key < PROGRAM_FIRST_KEY) {
        return true; /* left out */
    }
    if (footprint->count == PLANNED_MAX) {
        return false;
    }
    footprint->rows[footprint->count++] = (struct planned){table, key, use};
    return true;
}

/* False: unknown. */
static bool add_statement(struct footprint *footprint, const struct mix_type *type, struct table *const *tables,
                          const int64_t *values, const struct mix_instruction *i) {
    if (i->form.scan || i->form.kind == STEP_INSERT) {
        return false;
    }
    bool known = true;
    for (uint32_t round = 0; round == 0 || round < i->loop_count; round++) {
        int64_t key;
        for (size_t k = 0; known && k < i->row_count; k++) {
            known = row_of(type, values, i->rows[k], round, &key) &&
                    add(footprint, tables[i->table], key, use_of(&i->form));
        }
        if (known && i->source.count > 0) {
            known = row_of(type, values, i->source, round, &key) && add(footprint, tables[i->table], key, PLANNED_READ);
        }
    }
    return known;
}

/* By table and key; the strongest use first. */
static int by_place(const void *a, const void *b) {
    const struct planned *x = a, *y = b;
    if (x->table->index != y->table->index) {
        return x->table->index < y->table->index ? -1 : 1;
    }
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->use < y->use) - (x->use > y->use);
}

size_t mix_plan(const struct mix_type *type, struct table *const *tables, const int64_t *values, struct planned *out,
                size_t most) {
    struct footprint footprint = {.count = 0};
    for (size_t at = 0; at < type->program.count; at++) {
        const struct mix_instruction *i = &type->program.items[at];
        if (i->code == MIX_STATEMENT && !add_statement(&footprint, type, tables, values, i)) {
            return PLAN_UNKNOWN;
        }
    }
    qsort(footprint.rows, footprint.count, sizeof footprint.rows[0], by_place);
    size_t count = 0;
    for (size_t i = 0; i < footprint.count; i++) {
        const struct planned *row = &footprint.rows[i];
        if (i == 0 || row->table != row[-1].table || row->key != row[-1].key) {
            if (count < most) {
                out[count] = *row;
            }
            count++;
        }
    }
    return count;
}
