/* advice.c - see the header. Significance first (an interval must exclude what is harmless), then size: what is certain
 * but tiny is nobody's problem. */
#include "sim/lab/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"

#define WIDE_SHARE      0.1  /* of the mean: where no precision was asked for */
#define DRIFT_SHARE     0.05 /* between the halves */
#define SATURATED_SHARE 0.02 /* of what arrives */
enum { SATURATED_BACKLOG = 10 };

bool advice_is_precise(double mean, double half_width, double precision) {
    return half_width <= precision / (1 + precision) * fabs(mean);
}

double advice_replications(double mean, double half_width, size_t replications, double precision) {
    double wanted = precision / (1 + precision) * fabs(mean);
    double factor = half_width / wanted;
    return wanted > 0 ? ceil((double)replications * factor * factor) : (double)INFINITY;
}

static void note(struct advice *advice, enum advice_kind kind, size_t point, double badness, double remedy,
                 size_t replications) {
    bool worst = advice->kinds[kind].points == 0 || badness > advice->kinds[kind].worst;
    advice->kinds[kind].points++;
    if (worst) {
        advice->kinds[kind].worst = badness;
        advice->kinds[kind].worst_point = point;
        advice->kinds[kind].remedy = remedy;
        advice->kinds[kind].replications = replications;
    }
}

void advice_unsettled(struct advice *advice, size_t point, double pilot_seconds) {
    note(advice, ADVICE_UNSETTLED, point, pilot_seconds, 0, 0);
}

/* The numbers of a summary row. */
struct looked_at {
    char *copy, **cells; /* from `replications` on */
};

struct estimate {
    double mean, half_width;
};

enum { CELL_REPLICATIONS, CELL_SEED, CELL_SIM_SECONDS, CELLS_BEFORE, CELLS_BEHIND = 2 };

static void open_row(struct looked_at *row, const char *summary_row) {
    size_t metric_count;
    metrics_all(&metric_count);
    size_t count = CELLS_BEFORE + 2 * metric_count + CELLS_BEHIND;
    *row = (struct looked_at){mem_string(summary_row), mem_new(count, sizeof *row->cells)};
    char *end = row->copy + strlen(row->copy);
    *--end = '\0';
    for (size_t i = count; i-- > 0;) {
        while (end[-1] != ',') {
            CHECK(end > row->copy + 1);
            end--;
        }
        row->cells[i] = end;
        *--end = '\0';
    }
}

static void close_row(struct looked_at *row) {
    mem_free(row->cells);
    mem_free(row->copy);
}

static struct estimate estimate_of(const struct looked_at *row, size_t metric) {
    char *const *cells = row->cells + CELLS_BEFORE + 2 * metric;
    return (struct estimate){table_value(cells[0]), table_value(cells[1])};
}

static void look_at_width(struct advice *advice, const struct experiment_facts *facts, size_t point,
                          const struct looked_at *row, size_t replications) {
    struct estimate it = estimate_of(row, facts->precision_metric);
    double precision = facts->precision > 0 ? facts->precision : WIDE_SHARE;
    if (!isnan(it.half_width) && !advice_is_precise(it.mean, it.half_width, precision)) {
        note(advice, ADVICE_WIDE, point, it.half_width / fabs(it.mean),
             advice_replications(it.mean, it.half_width, replications, precision), replications);
    }
}

/* The relative error of a half is sqrt(2) that of the whole, and of the difference of two twice that of the whole. */
static bool look_at_drift(struct advice *advice, size_t point, const struct looked_at *row, size_t replications) {
    struct estimate drift = estimate_of(row, metric_number("drift"));
    struct estimate throughput = estimate_of(row, metric_number("throughput_tps"));
    double half_width = replications > 1 ? drift.half_width : 2 * throughput.half_width / throughput.mean;
    bool drifts = fabs(drift.mean) > DRIFT_SHARE && fabs(drift.mean) > half_width;
    if (drifts) {
        note(advice, ADVICE_DRIFT, point, fabs(drift.mean), 0, replications);
    }
    return drifts;
}

static void look_at_backlog(struct advice *advice, size_t point, const struct looked_at *row, size_t replications) {
    struct estimate growth = estimate_of(row, metric_number("backlog_growth_tps"));
    double arrivals = estimate_of(row, metric_number("throughput_tps")).mean + growth.mean;
    bool is_certain = replications == 1 || growth.mean > growth.half_width;
    double backlog = growth.mean * table_value(row->cells[CELL_SIM_SECONDS]);
    if (is_certain && growth.mean > SATURATED_SHARE * arrivals && backlog > SATURATED_BACKLOG) {
        note(advice, ADVICE_SATURATED, point, growth.mean, arrivals, replications);
    }
}

void advice_look(struct advice *advice, const struct experiment_facts *facts, size_t point, const char *summary_row,
                 const struct table_batches *batches) {
    struct looked_at row;
    open_row(&row, summary_row);
    size_t replications = (size_t)strtoull(row.cells[CELL_REPLICATIONS], NULL, 10);
    look_at_width(advice, facts, point, &row, replications);
    if (!look_at_drift(advice, point, &row, replications)) { /* else it may be filling up still */
        look_at_backlog(advice, point, &row, replications);
    }
    if (batches != NULL && batches->count > 0 && batches->lag1 > 2 / sqrt((double)batches->count)) {
        note(advice, ADVICE_CORRELATED, point, batches->lag1, 0, 1);
    }
    close_row(&row);
}

/* `ccsim: warning: 3 of 42 points WHAT; the worst is algorithm=occ system.terminals=8, ` */
static void print_start(const struct advice *advice, enum advice_kind kind, const struct experiment *experiment,
                        const char *what, FILE *out) {
    size_t points = experiment_facts(experiment)->points, count = advice->kinds[kind].points;
    struct text words = {0};
    experiment_tell(experiment, advice->kinds[kind].worst_point, &words);
    fprintf(out, "ccsim: warning: %zu of %zu point%s %s", count, points, points == 1 ? "" : "s", what);
    if (points > 1) {
        fprintf(out, ", %s%s", count > 1 ? "most of all" : "which is", text_string(&words));
    }
    text_free(&words);
}

static void print_wide(const struct advice *advice, const struct experiment *experiment, FILE *out) {
    const struct experiment_facts *facts = experiment_facts(experiment);
    size_t count;
    double precision = facts->precision > 0 ? facts->precision : WIDE_SHARE;
    char what[160], asked[32];
    text_number(asked, 100 * precision);
    snprintf(what, sizeof what, "cannot tell %s to within %s%%", metrics_all(&count)[facts->precision_metric].name,
             asked);
    print_start(advice, ADVICE_WIDE, experiment, what, out);
    fprintf(out, " (+-%.3g%%): ", 100 * advice->kinds[ADVICE_WIDE].worst);
    double needed = advice->kinds[ADVICE_WIDE].remedy;
    if (facts->batches > 0) {
        fprintf(out, "a duration %.3g times as long would", needed);
    } else if (isfinite(needed)) {
        fprintf(out, "about %.0f replications would, or %.3g times the duration", needed,
                ceil(10 * needed / (double)advice->kinds[ADVICE_WIDE].replications) / 10);
        if (facts->precision > 0) {
            fprintf(out, "; replications_max = %" PRId64 " was the limit", facts->replications_most);
        }
    } else {
        fprintf(out, "its mean is 0");
    }
    fprintf(out, "\n");
}

void advice_print(const struct advice *advice, const struct experiment *experiment, FILE *out) {
    if (advice->kinds[ADVICE_WIDE].points > 0) {
        print_wide(advice, experiment, out);
    }
    if (advice->kinds[ADVICE_UNSETTLED].points > 0) {
        print_start(advice, ADVICE_UNSETTLED, experiment, "did not settle down", out);
        fprintf(out,
                ": the pilot of %.9g s saw no end of the warm-up, and half of that had to serve; is there one? Look at "
                "series.csv (series = 1s), and give a longer duration or a warmup by hand\n",
                advice->kinds[ADVICE_UNSETTLED].worst);
    }
    if (advice->kinds[ADVICE_SATURATED].points > 0) {
        print_start(advice, ADVICE_SATURATED, experiment, "got more than could be done", out);
        fprintf(out,
                ": of %.4g transactions a second %.3g stayed behind, so the response time is a matter of how long one "
                "looks; lower system.arrival_rate or find what limits it\n",
                advice->kinds[ADVICE_SATURATED].remedy, advice->kinds[ADVICE_SATURATED].worst);
    }
    if (advice->kinds[ADVICE_DRIFT].points > 0) {
        print_start(advice, ADVICE_DRIFT, experiment, "had not settled down", out);
        fprintf(
            out,
            ": commits of the two halves of the time differ by %.3g%%; a longer warmup is needed (auto finds one), or a "
            "longer duration if it keeps wandering\n",
            100 * advice->kinds[ADVICE_DRIFT].worst);
    }
    if (advice->kinds[ADVICE_CORRELATED].points > 0) {
        print_start(advice, ADVICE_CORRELATED, experiment, "had batches that depend on one another", out);
        fprintf(out,
                " (correlation %.2f from one to the next): their intervals are too narrow; a longer duration or fewer "
                "batches make them longer, replications do without\n",
                advice->kinds[ADVICE_CORRELATED].worst);
    }
}
