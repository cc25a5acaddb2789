/* table_compare.c - the rows of compare.csv: what another algorithm makes of the same transactions. All algorithms face the
 * same random numbers, replication by replication; so runs are paired, and the luck that both had drops out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/metrics.h"
#include "sim/lab/statistics.h"
#include "sim/lab/table.h"

static const char *const compared[] = {"throughput_tps",   "abort_rate",      "wait_mean_ms",
                                       "response_mean_ms", "response_p95_ms", "response_p99_ms"};
static const char *const endings[] = {"difference", "difference_ci95", "ratio", "ratio_ci95", "narrower"};
enum { COMPARED = sizeof compared / sizeof compared[0], ENDINGS = sizeof endings / sizeof endings[0] };

void table_compare_header(const char *const *axes, size_t axis_count, struct text *row) {
    table_cell(row, "algorithm");
    table_cell(row, "workload");
    for (size_t i = 0; i < axis_count; i++) {
        table_cell(row, axes[i]);
    }
    text_add(row, ",compared_to,pairs");
    for (size_t m = 0; m < COMPARED; m++) {
        for (size_t e = 0; e < ENDINGS; e++) {
            text_add(row, ",%s_%s", compared[m], endings[e]);
        }
    }
    text_add(row, "\n");
}

/* Runs of two points, those of one replication next to each other. */
struct pairs {
    struct table_run *runs, *base;
    size_t count;
    double *values, *base_values;
};

static uint64_t replication_of(const struct table_run *run) {
    return strtoull(run->cells[TABLE_RUN_REPLICATION], NULL, 10);
}

/* Both are ordered by replication. */
static void pairs_make(struct pairs *pairs, const char *const *runs, size_t count, const char *const *base_runs,
                       size_t base_count) {
    *pairs = (struct pairs){.runs = mem_new(count, sizeof *pairs->runs), .base = mem_new(count, sizeof *pairs->base)};
    for (size_t i = 0, k = 0; i < count && k < base_count;) {
        struct table_run run = table_run_read(runs[i]), base = table_run_read(base_runs[k]);
        uint64_t replication = replication_of(&run), its = replication_of(&base);
        i += replication <= its;
        k += its <= replication;
        if (replication == its) {
            pairs->runs[pairs->count] = run;
            pairs->base[pairs->count++] = base;
        } else {
            table_run_free(&run);
            table_run_free(&base);
        }
    }
    pairs->values = mem_new(pairs->count, sizeof *pairs->values);
    pairs->base_values = mem_new(pairs->count, sizeof *pairs->base_values);
}

static void pairs_free(struct pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) {
        table_run_free(&pairs->runs[i]);
        table_run_free(&pairs->base[i]);
    }
    mem_free(pairs->runs);
    mem_free(pairs->base);
    mem_free(pairs->values);
    mem_free(pairs->base_values);
}

static void metric_cells(const struct pairs *pairs, const char *metric, struct text *row) {
    size_t cell = TABLE_RUN_METRICS + metric_number(metric), defined = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        double value = table_value(pairs->runs[i].cells[cell]), base = table_value(pairs->base[i].cells[cell]);
        if (!isnan(value) && !isnan(base)) {
            pairs->values[defined] = value;
            pairs->base_values[defined++] = base;
        }
    }
    struct statistics_pair pair = statistics_compare(pairs->values, pairs->base_values, defined);
    const double cells[ENDINGS] = {pair.difference, pair.difference_ci95, pair.ratio, pair.ratio_ci95, pair.narrower};
    for (size_t e = 0; e < ENDINGS; e++) {
        table_cell_number(row, cells[e]);
    }
}

bool table_compare_row(const char *const *runs, size_t count, const char *base, const char *const *base_runs,
                       size_t base_count, struct text *row) {
    struct pairs pairs;
    pairs_make(&pairs, runs, count, base_runs, base_count);
    bool any = pairs.count > 0;
    if (any) {
        text_add(row, "%s", pairs.runs[0].bytes);
        table_cell(row, base);
        text_add(row, ",%zu", pairs.count);
        for (size_t m = 0; m < COMPARED; m++) {
            metric_cells(&pairs, compared[m], row);
        }
        text_add(row, "\n");
    }
    pairs_free(&pairs);
    return any;
}

void table_compare_read(const char *row, struct statistics_pair *throughput) {
    double cells[ENDINGS];
    const char *from = row + strlen(row);
    for (size_t commas = 0; commas < (size_t)COMPARED * ENDINGS; commas += *from == ',') {
        CHECK(from > row);
        from--;
    }
    for (size_t e = 0; e < ENDINGS; e++) {
        struct text cell = {0};
        size_t length = strcspn(++from, ",\n");
        text_add_bytes(&cell, from, length);
        cells[e] = table_value(text_string(&cell));
        from += length;
        text_free(&cell);
    }
    *throughput = (struct statistics_pair){cells[0], cells[1], cells[2], cells[3], cells[4]};
}
