/* tpcc_audit.c - the consistency conditions of clause 3.3.2, as far as they say something about what is simulated, over the
 * committed state; and the sums of the rows against the books of what was committed.
 *
 *   condition                                                     clause   level that protects it
 *   W_YTD = sum of D_YTD, in each warehouse                       1        RC: both are added to in one statement
 *   D_NEXT_O_ID - 1 = the last order's number, in each district   2        RC: a number taken twice is a duplicate key
 *   order numbers are dense                                       2        RC
 *   numbers in new_orders are dense, up to the last order         3        RC: what is gone already is delivered by nobody
 *   as many lines as the orders say                               4, 6     RC
 *   sum of W_YTD = sum of H_AMOUNT                                8, 9     RC
 *   sum of C_BALANCE = amounts delivered - sum of H_AMOUNT        10       RC; access = read_write: SI
 *   sum of S_YTD, S_ORDER_CNT = what was ordered                           RC; access = read_write: SI
 *
 * The last two are written from what was read before, as the specification's programs do: if it was read unlocked, they need
 * that nobody wrote in between. Lost updates are counted in the stock. */
#include "workloads/tpcc.h"

static void broken(struct workload_audit *audit, enum level level) {
    if (audit->verdict == AUDIT_BROKEN) {
        text_add(&audit->message, "; ");
        audit->level = audit->level < (int)level ? audit->level : (int)level;
    } else {
        audit->verdict = AUDIT_BROKEN;
        audit->level = (int)level;
    }
}

static void expect(struct workload_audit *audit, enum level level, const char *what, int64_t is, int64_t expected) {
    if (is != expected) {
        broken(audit, level);
        text_add(&audit->message, "%s %" PRId64 " instead of %" PRId64, what, is, expected);
    }
}

static int64_t committed(const struct tpcc_state *state, struct table *table, int64_t key) {
    return store_committed(state->store, table, key, store_record(state->store, table, key))->value;
}

/* ---- Warehouses and districts ---- */

static int64_t district_value(const struct tpcc_state *state, int64_t district) {
    return committed(state, state->district, tpcc_district_key(district));
}

static void audit_warehouses(const struct tpcc_state *state, struct workload_audit *audit) {
    int64_t wrong = 0;
    for (int64_t w = 0; w < state->options.warehouses; w++) {
        int64_t ytd = committed(state, state->warehouse, tpcc_warehouse_key(w)), sum = 0;
        for (int64_t d = 0; d < TPCC_DISTRICTS; d++) {
            sum += tpcc_district_ytd(district_value(state, w * TPCC_DISTRICTS + d));
        }
        if (ytd != sum && wrong++ == 0) {
            broken(audit, LEVEL_RC);
            text_add(&audit->message, "warehouse %" PRId64 " took in %" PRId64 ", its districts %" PRId64 " together",
                     w + 1, ytd, sum);
        }
    }
}

/* The first row with a committed version from `key` on; INT64_MAX: there is none up to `last`. */
static int64_t first_committed(const struct tpcc_state *state, struct table *table, int64_t key, int64_t last) {
    for (;;) {
        struct record *record = store_next(state->store, table, key, NULL, &key);
        if (record == table->end || key > last) {
            return INT64_MAX;
        }
        if (!store_committed(state->store, table, key, record)->absent) {
            return key;
        }
        key++;
    }
}

/* No order has the district's next number or a higher one, and one has the number before it. */
static bool ends_with_next(const struct tpcc_state *state, int64_t district, int64_t next) {
    bool has_last = tpcc_is_loaded(state, next - 1);
    int64_t base = TPCC_NEW + tpcc_queue_key(district, 0), end = TPCC_NEW + tpcc_queue_key(district + 1, 0) - 1;
    int64_t last = has_last ? base : base + next - 1;
    has_last = has_last || first_committed(state, state->orders, last, last) == last;
    return has_last && first_committed(state, state->orders, last + 1, end) == INT64_MAX;
}

/* Numbers are unique: if none is too high and they are as many as the highest one says, none is missing. */
static void audit_numbers(const struct tpcc_state *state, struct workload_audit *audit) {
    int64_t wrong = 0, orders = 0, queued = 0;
    for (int64_t i = 0; i < state->options.warehouses * TPCC_DISTRICTS; i++) {
        int64_t next = tpcc_next_order(district_value(state, i));
        int64_t base = tpcc_queue_key(i, 0);
        int64_t first = first_committed(state, state->new_orders, base, base + TPCC_ORDER_END - 1);
        orders += next - 1;
        queued += first == INT64_MAX ? 0 : next - (first - base);
        if (!ends_with_next(state, i, next) && wrong++ == 0) {
            broken(audit, LEVEL_RC);
            text_add(&audit->message,
                     "the next order of district %" PRId64 " of warehouse %" PRId64 " is %" PRId64
                     ", which is not the one behind its last",
                     i % TPCC_DISTRICTS + 1, i / TPCC_DISTRICTS + 1, next);
        }
    }
    if (state->orders->committed_rows != orders) {
        broken(audit, LEVEL_RC);
        text_add(&audit->message, "orders are %" PRId64 " where the districts count %" PRId64,
                 state->orders->committed_rows, orders);
    }
    if (state->new_orders->committed_rows != queued) {
        broken(audit, LEVEL_RC);
        text_add(&audit->message,
                 "%" PRId64 " orders are to be delivered, from the first to the last they are %" PRId64,
                 state->new_orders->committed_rows, queued);
    }
}

/* ---- Sums against the books ---- */

static void audit_rows(const struct tpcc_state *state, struct workload_audit *audit) {
    const struct tpcc_books *books = &state->books;
    int64_t districts = state->options.warehouses * TPCC_DISTRICTS, loaded = districts * state->customers;
    expect(audit, LEVEL_RC, "orders are", state->orders->committed_rows, loaded + (int64_t)books->orders);
    expect(audit, LEVEL_RC, "order lines are", state->order_lines->committed_rows,
           loaded * TPCC_LOADED_LINES + (int64_t)books->lines);
    expect(audit, LEVEL_RC, "orders to be delivered are", state->new_orders->committed_rows,
           districts * state->undelivered + (int64_t)books->orders - (int64_t)books->deliveries);
    expect(audit, LEVEL_RC, "history adds up to", state->history->committed_sum, (int64_t)books->paid);
    expect(audit, LEVEL_RC, "the warehouses took in", state->warehouse->committed_sum,
           districts * TPCC_DISTRICT_YTD + (int64_t)books->paid);
}

static void audit_stock(const struct tpcc_state *state, enum level level, struct workload_audit *audit) {
    int64_t expected = (int64_t)(state->books.lines * TPCC_LINE_ONE + state->books.quantity),
            missing = expected - state->stock->committed_sum;
    audit->lost_updates_known = true;
    audit->lost_updates = missing > 0 ? (uint64_t)(missing / TPCC_LINE_ONE) : 0;
    if (missing != 0) {
        broken(audit, level);
        text_add(&audit->message,
                 "the stock has seen %" PRId64 " orders of %" PRId64 " pieces instead of %" PRId64 " of %" PRId64,
                 state->stock->committed_sum / TPCC_LINE_ONE, state->stock->committed_sum % TPCC_LINE_ONE,
                 expected / TPCC_LINE_ONE, expected % TPCC_LINE_ONE);
    }
}

void tpcc_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    const struct tpcc_state *state = memory;
    const struct tpcc_books *books = &state->books;
    enum level level = state->options.access == TPCC_READ_WRITE ? LEVEL_SI : LEVEL_RC;
    CHECK(store == state->store);
    audit->verdict = AUDIT_OK;
    audit->level = (int)level;
    audit_warehouses(state, audit);
    audit_numbers(state, audit);
    audit_rows(state, audit);
    int64_t customers = state->options.warehouses * TPCC_DISTRICTS * state->customers;
    expect(audit, level, "the customers' balances add up to", state->customer->committed_sum,
           customers * TPCC_BALANCE + books->credited - (int64_t)books->paid);
    audit_stock(state, level, audit);
}
