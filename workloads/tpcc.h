/* tpcc.h - what the files of the workload tpcc share: its rows and what is packed into their values, its options, and one
 * transaction. The workload itself is explained in tpcc.c.
 *
 * A row of the specification's schema is one row here, and so one lock: columns that change share a value, columns that
 * never change are functions of the key and take no room, and those that nobody reads are left out.
 *
 *   table            key                          value
 *   warehouse        warehouse                    W_YTD
 *   district         district                     D_NEXT_O_ID << 36 | D_YTD
 *   customer         district, place by name      C_BALANCE
 *   item             item                         none: prices are functions of the key
 *   stock            warehouse, item              S_ORDER_CNT << 32 | S_YTD; S_QUANTITY is a function of both and of S_YTD
 *   orders           district, order              C_ID's place + 1 << 16 | O_OL_CNT << 8 | O_CARRIER_ID
 *   customer_orders  district, customer, -order   O_ID: the index in which a customer's last order is found
 *   new_orders       district, order              none
 *   order_lines      district, order, line        OL_I_ID + 1 << 16 | OL_QUANTITY << 8 | whether OL_DELIVERY_D is set
 *   history          terminal, number             H_AMOUNT
 *
 * Orders there at the start have values of zero, to which only the carrier and the date of delivery are added: their customer,
 * items and amounts are functions of the key. They stand dense in their tables (each has 10 lines), so do not take room
 * before they are used; new ones stand behind them, sparse. Amounts are whole dollars. */
#ifndef CCSIM_WORKLOADS_TPCC_H
#define CCSIM_WORKLOADS_TPCC_H

#include "workloads/program.h"

enum {
    TPCC_DISTRICTS = 10, /* of a warehouse */
    TPCC_ITEMS = 100000,
    TPCC_CUSTOMERS = 3000, /* of a district */
    TPCC_NAMES = 1000,
    TPCC_LINES_MAX = 15,
    TPCC_LINES_MIN = 5,
    TPCC_LOADED_LINES = 10,
    TPCC_LEVEL_ORDERS = 20, /* whose lines a Stock-Level looks at */
    TPCC_SOLD_MAX = TPCC_LEVEL_ORDERS * TPCC_LINES_MAX,
    TPCC_DISTRICT_YTD = 30000,
    TPCC_BALANCE = -10,
    TPCC_STAGES_MAX = 11,
    TPCC_WAREHOUSES_MAX = 10000
};

enum { TPCC_ORDER_BITS = 27, TPCC_LINE_BITS = 4 };
#define TPCC_ORDER_END (INT64_C(1) << TPCC_ORDER_BITS)
#define TPCC_NEW       (INT64_C(1) << 60) /* keys of new orders and lines begin here */
#define TPCC_ORDER_ONE (INT64_C(1) << 36) /* of a district's value: one order more */
#define TPCC_LINE_ONE  (INT64_C(1) << 32) /* of a stock's value: one order line more */
#define TPCC_QUANTITY  8                  /* of an order line's value: the quantity's first bit, */
#define TPCC_REST      16                 /* the item's; of an order's: the customer's */
#define TPCC_BYTE      255

enum tpcc_access { TPCC_FOR_UPDATE, TPCC_READ_WRITE, TPCC_RETURNING };
enum tpcc_order { TPCC_ORDER_RANDOM, TPCC_ORDER_BY_KEY };
enum tpcc_type { TPCC_NEW_ORDER, TPCC_PAYMENT, TPCC_ORDER_STATUS, TPCC_DELIVERY, TPCC_STOCK_LEVEL, TPCC_TYPES };

struct tpcc_options {
    int64_t warehouses;
    double scale, payment, order_status, delivery, stock_level;
    int access, order;
    double by_name, remote_lines, remote_payments, rollback;
    int64_t keying_time_ns, think_time_ns;
};

/* NURand(A, x, x + n - 1) - x of clause 2.1.6; A is one less than a power of two. */
struct nurand {
    uint64_t a, x, n, c;
};
uint64_t nurand_draw(const struct nurand *nurand, struct stream *stream);

struct tpcc_books { /* what was committed */
    uint64_t orders, lines, quantity, paid, deliveries;
    int64_t credited;
};

struct tpcc_state {
    struct tpcc_options options;
    struct table *warehouse, *district, *customer, *item, *stock, *orders, *customer_orders, *new_orders, *order_lines,
        *history;
    struct store *store;
    int64_t items, customers, names; /* customers of a district, each of whom has one order at the start */
    int64_t undelivered;             /* of those orders: the last ones */
    struct nurand draw_item, draw_customer, draw_name;
    uint16_t place_of_id[TPCC_CUSTOMERS]; /* a customer's place, by C_ID - 1; places are in the order of last names */
    uint16_t customer_of_order[TPCC_CUSTOMERS], order_of_customer[TPCC_CUSTOMERS]; /* at the start; from 0, by place */
    uint16_t first_of_name[TPCC_NAMES + 1]; /* the place of the first customer of that name */
    struct tpcc_books books;
};

struct tpcc_line {
    uint32_t item; /* from 0; the number of items: there is no such item */
    uint16_t supplier;
    uint8_t quantity;
};

/* Warehouses, districts (of all warehouses), customers (by place) and items count from 0, orders from 1. */
struct tpcc_arguments {
    uint8_t type, line_count, carrier, threshold;
    bool by_name, fails; /* its last item does not exist */
    uint16_t amount, warehouse;
    uint32_t district, customer_district;
    uint32_t customer; /* its place, or its name */
    int64_t history;   /* key */
    struct tpcc_line lines[TPCC_LINES_MAX];
};

struct tpcc_registers {
    int64_t seen;      /* the value of a row to be written */
    int64_t order;     /* at hand */
    int64_t credited;  /* to customers, all orders together */
    uint32_t customer; /* place */
    uint8_t stage, at; /* of the type; the line, or the district of a Delivery */
    uint8_t deliveries;
    uint16_t sold_count, low; /* items sold lately, and those of them that are short */
    struct step_extra extra;
    int64_t sold[TPCC_SOLD_MAX]; /* keys of their stock, in order without repetition */
};

/* One transaction's next step, by its type: stage 0 is its beginning. A statement has not failed. */
struct tpcc_run {
    struct tpcc_state *state;
    const struct tpcc_arguments *a;
    struct tpcc_registers *r;
    const struct reply *reply; /* none at stage 0 */
    struct step *step;
};
void tpcc_new_order(const struct tpcc_run *run);
void tpcc_payment(const struct tpcc_run *run);
void tpcc_order_status(const struct tpcc_run *run);
void tpcc_delivery(const struct tpcc_run *run);
void tpcc_stock_level(const struct tpcc_run *run);

/* A Payment's footprint; the others come to know theirs on the way. */
size_t tpcc_plan(const void *memory, const void *values, struct planned *out, size_t most);

void tpcc_draw_init(struct tpcc_state *state, struct stream *stream);
void tpcc_draw(void *memory, const struct draw *draw, void *values);
void tpcc_audit(const void *memory, const struct store *store, struct workload_audit *audit);

/* ---- Keys ---- */

static inline int64_t tpcc_warehouse_key(int64_t warehouse) { return PROGRAM_FIRST_KEY + warehouse; }
static inline int64_t tpcc_district_key(int64_t district) { return PROGRAM_FIRST_KEY + district; }
static inline int64_t tpcc_item_key(int64_t item) { return PROGRAM_FIRST_KEY + item; }
static inline int64_t tpcc_customer_key(const struct tpcc_state *state, int64_t district, int64_t place) {
    return PROGRAM_FIRST_KEY + district * state->customers + place;
}
static inline int64_t tpcc_stock_key(const struct tpcc_state *state, int64_t warehouse, int64_t item) {
    return PROGRAM_FIRST_KEY + warehouse * state->items + item;
}
static inline bool tpcc_is_loaded(const struct tpcc_state *state, int64_t order) { return order <= state->customers; }
/* A new order's key in new_orders, where loaded ones are no exception; elsewhere TPCC_NEW higher. */
static inline int64_t tpcc_queue_key(int64_t district, int64_t order) { return district << TPCC_ORDER_BITS | order; }
static inline int64_t tpcc_order_key(const struct tpcc_state *state, int64_t district, int64_t order) {
    return tpcc_is_loaded(state, order) ? PROGRAM_FIRST_KEY + district * state->customers + order - 1
                                        : TPCC_NEW + tpcc_queue_key(district, order);
}
static inline int64_t tpcc_line_key(const struct tpcc_state *state, int64_t district, int64_t order, int64_t line) {
    return tpcc_is_loaded(state, order)
               ? PROGRAM_FIRST_KEY + (district * state->customers + order - 1) * TPCC_LOADED_LINES + line
               : TPCC_NEW + (tpcc_queue_key(district, order) << TPCC_LINE_BITS) + line;
}
static inline int64_t tpcc_last_line(const struct tpcc_state *state, int64_t order) {
    return tpcc_is_loaded(state, order) ? TPCC_LOADED_LINES - 1 : (1 << TPCC_LINE_BITS) - 1;
}
/* A customer's latest order comes first. */
static inline int64_t tpcc_index_key(const struct tpcc_state *state, int64_t district, int64_t place, int64_t order) {
    return ((district * state->customers + place) << TPCC_ORDER_BITS) + (TPCC_ORDER_END - 1 - order);
}

/* ---- What follows from a key and a value ---- */

/* 0 .. n-1, and always the same: what the specification draws once and for all. */
static inline int64_t tpcc_fixed(int64_t key, uint64_t salt, int64_t n) {
    return (int64_t)(random_mix((uint64_t)key ^ random_mix(salt)) % (uint64_t)n);
}
static inline int64_t tpcc_price(int64_t item) { return 1 + tpcc_fixed(item, 1, 100); }

/* S_QUANTITY begins with 10 .. 100, loses what is ordered, and gets 91 more where it would fall below 10: so it is what
 * was ordered in all, modulo 91. */
static inline int64_t tpcc_quantity(int64_t key, int64_t stock) {
    int64_t ytd = stock & (TPCC_LINE_ONE - 1);
    return 10 + ((tpcc_fixed(key, 2, 91) - ytd) % 91 + 91) % 91;
}

static inline int64_t tpcc_next_order(int64_t district) { return district / TPCC_ORDER_ONE; }
static inline int64_t tpcc_district_ytd(int64_t district) { return district % TPCC_ORDER_ONE; }

int64_t tpcc_order_customer(const struct tpcc_state *state, int64_t order, int64_t value);
int64_t tpcc_line_item(const struct tpcc_state *state, int64_t key, int64_t value);
int64_t tpcc_line_amount(const struct tpcc_state *state, int64_t order, int64_t key, int64_t value);

#endif
