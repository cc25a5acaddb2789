#include "sim/store/footprint.h"

#include "sim/store/store.h"

static bool stands_before(const struct planned *a, const struct planned *b) {
    if (a->table != b->table) {
        return a->table->index < b->table->index;
    }
    return a->key != b->key ? a->key < b->key : a->scan && (!b->scan || a->last < b->last);
}

static bool is_same_condition(struct condition a, struct condition b) {
    bool same_kind = a.operator== b.operator;
    return same_kind && a.of_id == b.of_id && a.modulus == b.modulus && a.constant == b.constant;
}

static bool is_same(const struct planned *a, const struct planned *b) {
    bool same_place = a->table == b->table && a->key == b->key && a->scan == b->scan;
    return same_place && (!a->scan || (a->last == b->last && is_same_condition(a->condition, b->condition)));
}

/* Programs name their rows nearly in order, or few of them: insertion, which keeps equals as they were added. */
static void sort(struct planned *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct planned item = items[i];
        size_t at = i;
        for (; at > 0 && stands_before(&item, &items[at - 1]); at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

void footprint_arrange(struct footprint *plan) {
    struct planned *items = plan->items;
    size_t kept = 0;
    sort(items, plan->count);
    for (size_t i = 0; i < plan->count; i++) {
        struct planned *last = kept > 0 ? &items[kept - 1] : NULL;
        if (last != NULL && is_same(last, &items[i])) {
            last->use = items[i].use > last->use ? items[i].use : last->use;
        } else {
            items[kept++] = items[i];
        }
    }
    plan->count = kept;
}
