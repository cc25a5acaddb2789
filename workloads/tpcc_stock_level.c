/* tpcc_stock_level.c - Stock-Level, clause 2.8 of the specification: of how many of the items sold by the last 20 orders
 * of a district is there less than a threshold in stock? The specification joins lines and stock in one statement; here the
 * lines are one statement and the stock of all their items the next one.
 *
 *   stage      the reply that came       the next step
 *   BEGIN      none                      read the district
 *   DISTRICT   the next order's number   read the lines of the 20 before it: those of orders from the start, if there are any
 *   OLD        lines                     read those of the orders that were made since, if there are any
 *   LINES      lines                     read the stock of their items, in one statement; commit if there are none
 *   READ       what is in stock          commit */
#include "workloads/tpcc.h"

enum stock_stage { STOCK_BEGIN, STOCK_DISTRICT, STOCK_OLD, STOCK_LINES, STOCK_READ };

static int64_t first_order(const struct tpcc_registers *r) {
    return r->order > TPCC_LEVEL_ORDERS ? r->order - TPCC_LEVEL_ORDERS : 1;
}

/* The lines of orders `first` .. `last`, all of them loaded or none. */
static void read_lines(const struct tpcc_run *run, int64_t first, int64_t last) {
    *run->step =
        (struct step){.kind = STEP_SELECT,
                      .table = run->state->order_lines,
                      .first = tpcc_line_key(run->state, run->a->district, first, 0),
                      .last = tpcc_line_key(run->state, run->a->district, last, 0) + tpcc_last_line(run->state, last),
                      .scan = true};
}

static void read_new_lines(const struct tpcc_run *run) {
    int64_t first = first_order(run->r), loaded = run->state->customers;
    run->r->stage = STOCK_LINES;
    read_lines(run, first > loaded ? first : loaded + 1, run->r->order - 1);
}

static void read_old_lines(const struct tpcc_run *run) {
    int64_t loaded = run->state->customers;
    run->r->order = tpcc_next_order(reply_value(run->reply));
    bool only_old = run->r->order - 1 <= loaded;
    run->r->stage = only_old ? STOCK_LINES : STOCK_OLD;
    if (first_order(run->r) > loaded) {
        read_new_lines(run);
    } else {
        read_lines(run, first_order(run->r), only_old ? run->r->order - 1 : loaded);
    }
}

static void note_sold(const struct tpcc_run *run) {
    struct tpcc_registers *r = run->r;
    for (int64_t i = 0; i < run->reply->count; i++) {
        const struct reply_row *row = &run->reply->rows[i];
        int64_t item = tpcc_line_item(run->state, row->key, row->value);
        CHECK(r->sold_count < TPCC_SOLD_MAX);
        r->sold[r->sold_count++] = tpcc_stock_key(run->state, run->a->warehouse, item);
    }
}

/* Shell's sort, by the gaps of Ciura (2001); then each key once. */
static void arrange(int64_t *keys, uint16_t *count) {
    static const int gaps[] = {132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        for (int i = gaps[g]; i < *count; i++) {
            int64_t key = keys[i];
            int j = i;
            for (; j >= gaps[g] && keys[j - gaps[g]] > key; j -= gaps[g]) {
                keys[j] = keys[j - gaps[g]];
            }
            keys[j] = key;
        }
    }
    uint16_t kept = 0;
    for (int i = 0; i < *count; i++) {
        if (kept == 0 || keys[i] != keys[kept - 1]) {
            keys[kept++] = keys[i];
        }
    }
    *count = kept;
}

static void read_stock(const struct tpcc_run *run) {
    struct tpcc_registers *r = run->r;
    arrange(r->sold, &r->sold_count);
    if (r->sold_count == 0) {
        step_end(run->step, false);
        return;
    }
    r->stage = STOCK_READ;
    r->extra = (struct step_extra){.keys = r->sold, .key_count = r->sold_count};
    step_select(run->step, run->state->stock, r->sold[0], LOCKING_NONE);
    run->step->extra = &r->extra;
    run->step->last_lock = true;
}

static void count_low(const struct tpcc_run *run) {
    for (int64_t i = 0; i < run->reply->count; i++) {
        const struct reply_row *row = &run->reply->rows[i];
        run->r->low = (uint16_t)(run->r->low + (tpcc_quantity(row->key, row->value) < run->a->threshold));
    }
    step_end(run->step, false);
}

void tpcc_stock_level(const struct tpcc_run *run) {
    struct tpcc_registers *r = run->r;
    switch ((enum stock_stage)r->stage) {
    case STOCK_BEGIN:
        r->stage = STOCK_DISTRICT;
        step_select(run->step, run->state->district, tpcc_district_key(run->a->district), LOCKING_NONE);
        break;
    case STOCK_DISTRICT: read_old_lines(run); break;
    case STOCK_OLD:
        note_sold(run);
        read_new_lines(run);
        break;
    case STOCK_LINES:
        note_sold(run);
        read_stock(run);
        break;
    case STOCK_READ: count_low(run); break;
    }
}
