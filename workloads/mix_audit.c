/* mix_audit.c - the invariants of a mix: sums, counts and extremes of its tables at the end of a run, as committed,
 * and how many transactions of a kind were committed. */
#include "workloads/mix.h"

#include "sim/store/key_order.h"

struct extremes {
    int64_t min, max;
    bool any;
};

static void note(struct extremes *extremes, const struct table *table, const struct record *record, int64_t key) {
    int64_t value;
    if (committed_value(table, record, key, &value)) {
        extremes->min = !extremes->any || value < extremes->min ? value : extremes->min;
        extremes->max = !extremes->any || value > extremes->max ? value : extremes->max;
        extremes->any = true;
    }
}

static struct extremes find_extremes(const struct table *table) {
    struct extremes extremes = {0};
    for (int64_t i = 0; i < table->rows; i++) {
        note(&extremes, table, dense_record(table, table->first_key + i), table->first_key + i);
    }
    const struct key_node *node = table->sparse != NULL ? key_order_from(table->sparse, INT64_MIN) : NULL;
    for (; node != NULL; node = node->next[0]) {
        note(&extremes, table, node->record, node->key);
    }
    return extremes;
}

/* False: an extreme of nothing. */
static bool measure(const struct table *table, enum mix_measure what, int64_t *value) {
    switch (what) {
    case MIX_SUM: *value = table->committed_sum; return true;
    case MIX_COUNT: *value = table->committed_rows; return true;
    case MIX_COMMITS:
    case MIX_MIN:
    case MIX_MAX: break;
    }
    struct extremes extremes = find_extremes(table);
    *value = what == MIX_MIN ? extremes.min : extremes.max;
    return extremes.any;
}

static void judge(const struct mix_invariant *invariant, const struct store *store, const uint64_t *commits,
                  struct workload_audit *audit) {
    static const char *const signs[] = {[CONDITION_EQ] = "=",  [CONDITION_NE] = "!=", [CONDITION_LT] = "<",
                                        [CONDITION_LE] = "<=", [CONDITION_GT] = ">",  [CONDITION_GE] = ">="};
    int64_t total = 0;
    bool defined = true;
    for (size_t i = 0; i < invariant->term_count; i++) {
        const struct mix_invariant_term *term = &invariant->terms[i];
        int64_t value = 0;
        if (term->measure == MIX_COMMITS) {
            value = (int64_t)commits[term->of];
        } else {
            defined = measure(&store->tables[term->of], term->measure, &value) && defined;
        }
        total += term->sign * value;
    }
    struct condition wanted = {.operator= invariant->operator, .constant = invariant->constant };
    if (defined && !condition_holds(&wanted, 0, total)) {
        audit->verdict = AUDIT_BROKEN;
        text_add(&audit->message, "%s%s: %s is %" PRId64 ", not %s %" PRId64, audit->message.length > 0 ? "; " : "",
                 invariant->name, invariant->text, total, signs[invariant->operator], invariant->constant);
    }
}

void mix_audit(const struct mix *mix, const struct store *store, const uint64_t *commits,
               struct workload_audit *audit) {
    audit->verdict = mix->invariants.count > 0 ? AUDIT_OK : AUDIT_NONE;
    audit->level = mix->level;
    for (size_t i = 0; i < mix->invariants.count; i++) {
        judge(&mix->invariants.items[i], store, commits, audit);
    }
}
