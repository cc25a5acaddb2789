/* tpcc.c - a wholesale supplier: its warehouses with ten districts each, whose customers order, pay and ask. After the
 * Transaction Processing Performance Council's Benchmark C, Standard Specification, Revision 5.11 (2010); clauses are its.
 *
 * Five types of transaction: New-Order takes a number from its district, inserts an order of 5 to 15 lines, and takes
 * each line's item from stock; Payment adds to a warehouse, a district and a customer; Order-Status reads a customer's last
 * order; Delivery takes the oldest order of each district out of the queue and bills it; Stock-Level reads what is in
 * stock of the items that were sold lately. The warehouse's row and the ten districts' are hot: every Payment writes one of
 * each, every New-Order reads the former and writes one of the latter.
 *
 * tpcc.h: the tables, and what shares a row. tpcc_draw.c: the arguments. tpcc_order.c, tpcc_customer.c and
 * tpcc_stock_level.c: the programs, each with its table of stages. tpcc_audit.c: the invariants.
 *
 * Differs from the specification: columns that never change are not stored, and those that nobody reads are left out. At
 * the start each order has 10 lines, and last names, and which customer's an order is, are the same in each district.
 * history has a key, made of the terminal and the transaction's number. Delivery is not deferred: it is one transaction
 * of all ten districts. Amounts are whole dollars. A customer whose last order is from the start has no entry in
 * customer_orders: there is nothing to be found there. Keying and think times lie before a transaction, both those of its
 * type. Nothing is said of response times, the mix is drawn, not dealt. */
#include "workloads/tpcc.h"

#include "sim/store/reason.h"

enum { UNDELIVERED_TENTHS = 3, ITEMS_MIN = 100, CUSTOMERS_MIN = 10 };

static const char *const access_names[] = {"for_update", "read_write", "returning", NULL};
static const char *const order_names[] = {"random", "by_key", NULL};
static const char *const type_names[TPCC_TYPES] = {"new_order", "payment", "order_status", "delivery", "stock_level"};

#define FIELD(field) offsetof(struct tpcc_options, field)
static const struct option options[] = {
    {"warehouses", OPTION_COUNT, FIELD(warehouses), "1", 1, TPCC_WAREHOUSES_MAX, NULL, 0,
     "warehouses, with 10 districts each; terminals belong to one after the other"},
    {"scale", OPTION_SHARE, FIELD(scale), "100%", 0, 0, NULL, 0,
     "share of the specification's 100,000 items, and of the 3,000 customers and orders of a district, that there is (at "
     "least 100 and 10)"},
    {"payment", OPTION_SHARE, FIELD(payment), "43%", 0, 0, NULL, 0,
     "share of Payment; what the four leave is New-Order"},
    {"order_status", OPTION_SHARE, FIELD(order_status), "4%", 0, 0, NULL, 0, "share of Order-Status"},
    {"delivery", OPTION_SHARE, FIELD(delivery), "4%", 0, 0, NULL, 0, "share of Delivery"},
    {"stock_level", OPTION_SHARE, FIELD(stock_level), "4%", 0, 0, NULL, 0, "share of Stock-Level"},
    {"access", OPTION_CHOICE, FIELD(access), "for_update", 0, 0, access_names, 0,
     "how rows are read that will be written: locked; unlocked, as the specification's programs do (locks are upgraded); or "
     "by the statement that writes them"},
    {"order", OPTION_CHOICE, FIELD(order), "random", 0, 0, order_names, 0,
     "of a New-Order's lines: as drawn, or by the stock's key"},
    {"by_name", OPTION_SHARE, FIELD(by_name), "60%", 0, 0, NULL, 0,
     "share of Payment and Order-Status that give a customer's last name, so all of that name are read"},
    {"remote_lines", OPTION_SHARE, FIELD(remote_lines), "1%", 0, 0, NULL, 0,
     "share of order lines that another warehouse supplies, if there is one"},
    {"remote_payments", OPTION_SHARE, FIELD(remote_payments), "15%", 0, 0, NULL, 0,
     "share of payments by another warehouse's customer, if there is one"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "1%", 0, 0, NULL, 0,
     "share of New-Order whose last item does not exist: they roll back"},
    {"keying_time", OPTION_DURATION, FIELD(keying_time_ns), "0", 0, 1e6, NULL, 0,
     "a terminal's time before each New-Order; the other types take their share: specified are 18s, with 3s for Payment and "
     "2s for the rest"},
    {"think_time", OPTION_DURATION, FIELD(think_time_ns), "0", 0, 1e6, NULL, 0,
     "mean of an exponential time besides, at most ten times as long; specified are 12s, with 12s for Payment, 10s for "
     "Order-Status and 5s for the rest"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct tpcc_options);

static bool tpcc_check(const void *values, struct text *error) {
    const struct tpcc_options *o = values;
    double others = o->payment + o->order_status + o->delivery + o->stock_level;
    if (others > 1 + 1e-9) {
        text_add(error, "payment, order_status, delivery and stock_level are more than 100%% together");
        return false;
    }
    return true;
}

/* ---- The tables at the start ---- */

static int64_t scaled(double scale, int64_t full, int64_t least) {
    int64_t count = (int64_t)(scale * (double)full + 0.5);
    return count > least ? count : least;
}

static void add_tables(struct tpcc_state *state, struct store *store) {
    int64_t w = state->options.warehouses, d = w * TPCC_DISTRICTS, c = d * state->customers;
    int64_t district = (state->customers + 1) * TPCC_ORDER_ONE + TPCC_DISTRICT_YTD;
    struct {
        struct table **table;
        const char *name;
        int64_t rows, value;
    } const tables[] = {
        {&state->warehouse, "warehouse", w, TPCC_DISTRICTS * TPCC_DISTRICT_YTD},
        {&state->district, "district", d, district},
        {&state->customer, "customer", c, TPCC_BALANCE},
        {&state->item, "item", state->items, 0},
        {&state->stock, "stock", w * state->items, 0},
        {&state->orders, "orders", c, 0},
        {&state->customer_orders, "customer_orders", 0, 0},
        {&state->new_orders, "new_orders", 0, 0},
        {&state->order_lines, "order_lines", c * TPCC_LOADED_LINES, 0},
        {&state->history, "history", 0, 0},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        *tables[i].table =
            store_add_table(store, tables[i].name, PROGRAM_FIRST_KEY, tables[i].rows, tables[i].value, false);
    }
    for (int64_t i = 0; i < d; i++) {
        for (int64_t order = state->customers - state->undelivered + 1; order <= state->customers; order++) {
            store_set_initial(store, state->new_orders, tpcc_queue_key(i, order), 0, false);
        }
    }
}

static void tpcc_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    struct tpcc_state *state = memory;
    state->options = *(const struct tpcc_options *)values;
    state->store = store;
    state->items = scaled(state->options.scale, TPCC_ITEMS, ITEMS_MIN);
    state->customers = scaled(state->options.scale, TPCC_CUSTOMERS, CUSTOMERS_MIN);
    state->names = scaled(state->options.scale, TPCC_NAMES, state->customers / 3);
    state->undelivered = state->customers * UNDELIVERED_TENTHS / 10;
    tpcc_draw_init(state, stream);
    add_tables(state, store);
}

/* Places are 1 more than they are, so that a value of zero is an order from the start. */
int64_t tpcc_order_customer(const struct tpcc_state *state, int64_t order, int64_t value) {
    int64_t place = (value >> TPCC_REST) - 1;
    CHECK(place < state->customers && (place >= 0 || tpcc_is_loaded(state, order)));
    return place >= 0 ? place : state->customer_of_order[order - 1];
}

int64_t tpcc_line_item(const struct tpcc_state *state, int64_t key, int64_t value) {
    int64_t item = (value >> TPCC_REST) - 1;
    return item >= 0 ? item : tpcc_fixed(key, 3, state->items);
}

/* Of what was delivered before the start the amounts are nothing, of the other orders from then anything (4.3.3.1). */
int64_t tpcc_line_amount(const struct tpcc_state *state, int64_t order, int64_t key, int64_t value) {
    if (!tpcc_is_loaded(state, order)) {
        return tpcc_price((value >> TPCC_REST) - 1) * (value >> TPCC_QUANTITY & TPCC_BYTE);
    }
    return order > state->customers - state->undelivered ? 1 + tpcc_fixed(key, 4, 9999) : 0;
}

/* ---- The programs ---- */

/* Clause 5.2.5.7: a type's times, in the proportions of the specification's seconds. */
static int64_t tpcc_pause(const void *memory, const void *values, struct stream *think) {
    static const int64_t keying[TPCC_TYPES] = {18, 3, 2, 2, 2}, thinking[TPCC_TYPES] = {12, 12, 10, 5, 5};
    const struct tpcc_options *o = &((const struct tpcc_state *)memory)->options;
    enum tpcc_type type = ((const struct tpcc_arguments *)values)->type;
    int64_t pause_ns = o->keying_time_ns * keying[type] / keying[TPCC_NEW_ORDER];
    if (o->think_time_ns > 0) {
        double units = stream_exponential(think);
        int64_t mean_ns = o->think_time_ns * thinking[type] / thinking[TPCC_NEW_ORDER];
        pause_ns += (int64_t)((units < 10 ? units : 10) * (double)mean_ns + 0.5);
    }
    return pause_ns;
}

/* The number that a New-Order took may have been used meanwhile, if it was read unprotected: that is tried again. */
static bool is_worth_a_retry(const struct tpcc_arguments *a, const struct reply *reply) {
    return a->type == TPCC_NEW_ORDER && reply->reason == REASON_DUPLICATE;
}

static void tpcc_next(void *memory, const void *values, void *registers, const struct reply *reply, struct step *step) {
    static void (*const programs[TPCC_TYPES])(const struct tpcc_run *) = {
        tpcc_new_order, tpcc_payment, tpcc_order_status, tpcc_delivery, tpcc_stock_level};
    struct tpcc_run run = {.state = memory, .a = values, .r = registers, .reply = reply, .step = step};
    if (reply != NULL && reply->status == REPLY_ERROR) {
        step_end(step, true);
        step->kind = is_worth_a_retry(run.a, reply) ? STEP_RETRY : STEP_ROLLBACK;
    } else {
        programs[run.a->type](&run);
    }
}

/* By stage; of a New-Order and a Delivery without the lines and districts to come. A row counts until it is written.
 * What a program does not know yet is taken to be as usual: one row to a name, ten lines to an order, other items in each
 * line. */
static const uint16_t rows_left[TPCC_TYPES][TPCC_STAGES_MAX] = {
    [TPCC_NEW_ORDER] = {9, 8, 7, 7, 6, 5, 4, 3, 2, 2, 1},
    [TPCC_PAYMENT] = {4, 3, 2, 2, 1},
    [TPCC_ORDER_STATUS] = {13, 12, 11, 10},
    [TPCC_DELIVERY] = {13, 13, 12, 12, 11, 1},
    [TPCC_STOCK_LEVEL] = {401, 400, 300, 200},
};

static uint64_t tpcc_remaining(const void *memory, const void *values, const void *registers) {
    (void)memory;
    const struct tpcc_arguments *a = values;
    const struct tpcc_registers *r = registers;
    int64_t left = rows_left[a->type][r->stage];
    if (a->type == TPCC_NEW_ORDER) {
        left += 3 * (a->line_count - 1 - r->at);
    } else if (a->type == TPCC_DELIVERY) {
        left += 13 * (TPCC_DISTRICTS - 1 - r->at);
    }
    return (uint64_t)left;
}

static enum declaration tpcc_declares(const void *memory, const void *values) {
    (void)memory;
    enum tpcc_type type = ((const struct tpcc_arguments *)values)->type;
    return type == TPCC_ORDER_STATUS || type == TPCC_STOCK_LEVEL ? DECLARES_READ_ONLY : DECLARES_NOTHING;
}

static size_t tpcc_type_count(const void *values) {
    (void)values;
    return TPCC_TYPES;
}

static const char *tpcc_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t tpcc_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct tpcc_arguments *)values)->type;
}

static bool tpcc_plans(const void *values) { return ((const struct tpcc_options *)values)->payment >= 1; }

static void tpcc_committed(void *memory, const void *values, const void *registers) {
    struct tpcc_books *books = &((struct tpcc_state *)memory)->books;
    const struct tpcc_arguments *a = values;
    const struct tpcc_registers *r = registers;
    switch ((enum tpcc_type)a->type) {
    case TPCC_NEW_ORDER:
        books->orders++;
        books->lines += a->line_count;
        for (int i = 0; i < a->line_count; i++) {
            books->quantity += a->lines[i].quantity;
        }
        break;
    case TPCC_PAYMENT:
        books->paid += a->amount;
        CHECK_MSG(books->paid < TPCC_ORDER_ONE / 2, "a district's D_YTD has run out of room");
        break;
    case TPCC_DELIVERY:
        books->deliveries += r->deliveries;
        books->credited += r->credited;
        break;
    case TPCC_ORDER_STATUS:
    case TPCC_STOCK_LEVEL:
    case TPCC_TYPES: break;
    }
}

const struct workload_ops workload_tpcc = {
    .name = "tpcc",
    .summary = "orders, payments and deliveries of a wholesale supplier: TPC-C's five types of transaction",
    .options = &option_table,
    .state_size = sizeof(struct tpcc_state),
    .arguments_size = sizeof(struct tpcc_arguments),
    .registers_size = sizeof(struct tpcc_registers),
    .check = tpcc_check,
    .load = tpcc_load,
    .draw = tpcc_draw,
    .pause = tpcc_pause,
    .next = tpcc_next,
    .remaining = tpcc_remaining,
    .tells_last_lock = true,
    .declares = tpcc_declares,
    .type_count = tpcc_type_count,
    .type_name = tpcc_type_name,
    .type_of = tpcc_type_of,
    .plan = tpcc_plan,
    .plans = tpcc_plans,
    .committed = tpcc_committed,
    .audit = tpcc_audit,
};
