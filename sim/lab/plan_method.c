/* plan_method.c - what [experiment] says of replications, batches, comparisons and series, as a whole. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/lab/metrics.h"
#include "sim/lab/plan.h"

enum { PIECES_MOST = 100000, BATCHES_LEAST = 10, SUGGESTION_BYTES = 160 };

int64_t plan_replications_most(const struct experiment *plan) {
    return plan->own.precision > 0 ? plan->own.replications_max : plan->own.replications;
}

/* The setting of that key, or of the whole file if it has its default. */
static struct place place_of(const struct experiment *plan, const char *key) {
    const struct setting *setting = plan_find(plan, "experiment", key);
    return setting != NULL ? setting->place : plan_whole();
}

/* A series is held in memory while its run lasts. */
static void check_series(struct experiment *plan) {
    int64_t piece_ns = plan->own.series_ns;
    if (piece_ns > 0 && plan->own.duration_ns / piece_ns > PIECES_MOST) {
        mistakes_add(&plan->mistakes, place_of(plan, "series"),
                     "series: these are %" PRId64 " pieces a run, at most %d are possible",
                     plan->own.duration_ns / piece_ns, PIECES_MOST);
    }
}

static void check_precision(struct experiment *plan) {
    const struct experiment_settings *own = &plan->own;
    if (metric_find(own->precision_of) == NULL) {
        size_t count;
        const struct metric *metrics = metrics_all(&count);
        struct catalog_names names = {0};
        char suggestion[SUGGESTION_BYTES];
        for (size_t i = 0; i < count; i++) {
            vector_push(&names, metrics[i].name);
        }
        text_suggestion(suggestion, sizeof suggestion, own->precision_of, names.items, names.count);
        mistakes_add(&plan->mistakes, place_of(plan, "precision_of"), "precision_of: `%s` is no metric%s",
                     own->precision_of, suggestion);
        catalog_names_free(&names);
    }
    if (own->precision > 0 && own->replications < 2) {
        mistakes_add(&plan->mistakes, place_of(plan, "precision"),
                     "precision: an interval needs replications = 2 at least to begin with; 5 or more serve well");
    } else if (own->precision > 0 && own->replications_max < own->replications) {
        mistakes_add(&plan->mistakes, place_of(plan, "replications_max"),
                     "replications_max: %" PRId64 " are fewer than the %" PRId64 " replications to begin with",
                     own->replications_max, own->replications);
    }
}

static void check_batches(struct experiment *plan) {
    const struct experiment_settings *own = &plan->own;
    if (own->batches > 0 && own->batches < BATCHES_LEAST) {
        mistakes_add(&plan->mistakes, place_of(plan, "batches"),
                     "batches: fewer than %d say nothing; 20 to 30 serve well", BATCHES_LEAST);
    } else if (own->batches > 0 && own->replications > 1) {
        mistakes_add(&plan->mistakes, place_of(plan, "batches"),
                     "batches: with %" PRId64 " replications these give the intervals; batches need replications = 1",
                     own->replications);
    } else if (own->batches > 0 && own->duration_ns < own->batches) {
        mistakes_add(&plan->mistakes, place_of(plan, "batches"),
                     "batches: the duration cannot be divided into %" PRId64 " parts", own->batches);
    }
}

/* The position among the algorithms of the one compared with; their number if there is none. */
static size_t base_position(const struct experiment *plan) {
    const struct axis_values *algorithms = &plan->axes.items[plan->algorithm_axis].values;
    size_t position = 0;
    while (position < algorithms->count && strcmp(algorithms->items[position], plan->own.compare) != 0) {
        position++;
    }
    return position;
}

/* The dimension of the algorithms, and how far apart in it points lie that differ in nothing else. */
static const struct dimension *algorithms_of(const struct experiment *plan, size_t *stride) {
    *stride = 1;
    for (size_t i = plan->dimensions.count; i-- > 0;) {
        const struct dimension *dimension = &plan->dimensions.items[i];
        for (size_t k = 0; k < dimension->axes.count; k++) {
            if (dimension->axes.items[k] == plan->algorithm_axis) {
                return dimension;
            }
        }
        *stride *= dimension->kept.count;
    }
    CHECK(false);
    return NULL;
}

/* Where the base stands among what --only has kept; the number of those if it is not there. */
static size_t base_kept(const struct experiment *plan, const struct dimension *dimension) {
    size_t position = base_position(plan), kept = 0;
    while (kept < dimension->kept.count && dimension->kept.items[kept] != position) {
        kept++;
    }
    return kept;
}

bool plan_compares(const struct experiment *plan) {
    size_t stride;
    const struct dimension *dimension = algorithms_of(plan, &stride);
    return plan->own.compare[0] != '\0' && base_kept(plan, dimension) < dimension->kept.count;
}

bool experiment_compared_to(const struct experiment *experiment, size_t number, size_t *base) {
    size_t stride, of_all = number;
    const struct experiment *part = plan_part(experiment, &number);
    const struct dimension *dimension = algorithms_of(part, &stride);
    size_t here = number / stride % dimension->kept.count, there = base_kept(part, dimension);
    CHECK(there < dimension->kept.count);
    *base = of_all + there * stride - here * stride;
    return here != there;
}

static void check_compare(struct experiment *plan) {
    const struct axis_values *algorithms = &plan->axes.items[plan->algorithm_axis].values;
    const char *name = plan->own.compare;
    size_t stride;
    if (name[0] == '\0' || plan->mistakes.count > 0) {
        return;
    }
    if (base_position(plan) == algorithms->count) {
        char suggestion[SUGGESTION_BYTES];
        text_suggestion(suggestion, sizeof suggestion, name, (const char *const *)algorithms->items, algorithms->count);
        mistakes_add(&plan->mistakes, place_of(plan, "compare"),
                     "compare: `%s` is none of the algorithms of the sweep%s", name, suggestion);
    } else if (algorithms_of(plan, &stride)->axes.count > 1) {
        mistakes_add(&plan->mistakes, place_of(plan, "compare"),
                     "compare: the algorithm is zipped with another axis, so no two of them meet at one point");
    }
}

void plan_check_method(struct experiment *plan) {
    check_series(plan);
    check_precision(plan);
    check_batches(plan);
    check_compare(plan);
}
