/* tpcc_draw.c - the arguments of the five types of transaction, and what the tables hold at the start that is drawn.
 *
 * The type is drawn first, with one number; what follows depends on it, but not on any share: what a share decides is drawn
 * in any case. NURand is the specification's, clause 2.1.6: bits of a small range are ored into a large one, so that some
 * numbers are wanted more. Its constants are given by `scale`: as many parts of the range as in the specification. */
#include "workloads/tpcc.h"

uint64_t nurand_draw(const struct nurand *nurand, struct stream *stream) {
    uint64_t small = stream_below(stream, nurand->a + 1), large = nurand->x + stream_below(stream, nurand->n);
    return ((small | large) + nurand->c) % nurand->n;
}

/* ---- Once, at the start ---- */

/* The largest constant that is one less than a power of two and no greater part of its range than at full scale. */
static uint64_t scaled(uint64_t a_full, int64_t n, int64_t n_full) {
    uint64_t a = a_full;
    while (a > 1 && a * (uint64_t)n_full > a_full * (uint64_t)n) {
        a /= 2;
    }
    return a;
}

static struct nurand nurand_of(uint64_t a, uint64_t x, int64_t n, int64_t n_full, struct stream *stream) {
    struct nurand nurand = {.a = scaled(a, n, n_full), .x = x, .n = (uint64_t)n};
    nurand.c = stream_below(stream, nurand.a + 1);
    return nurand;
}

static void shuffle(uint16_t *numbers, int64_t count, struct stream *stream) {
    for (int64_t i = 0; i < count; i++) {
        uint64_t j = stream_below(stream, (uint64_t)i + 1);
        numbers[i] = numbers[j];
        numbers[j] = (uint16_t)i;
    }
}

/* Clause 2.1.6.1: the constant of last names as they are drawn differs from that with which they were given by 65 to
 * 119, but not by 96 or 112. */
static bool is_far(uint64_t one, uint64_t other) {
    uint64_t delta = one > other ? one - other : other - one;
    return delta >= 65 && delta <= 119 && delta != 96 && delta != 112;
}

static void draw_constants(struct tpcc_state *state, struct stream *stream) {
    state->draw_item = nurand_of(8191, 1, state->items, TPCC_ITEMS, stream);
    state->draw_customer = nurand_of(1023, 1, state->customers, TPCC_CUSTOMERS, stream);
    state->draw_name = nurand_of(255, 0, state->names, TPCC_NAMES, stream);
}

/* The first customers have a name each, the others names as they come (clause 4.3.3.1); places are in the order of names,
 * and within a name by chance. */
static void give_names(struct tpcc_state *state, struct stream *stream) {
    uint16_t name_of_id[TPCC_CUSTOMERS] = {0}, order[TPCC_CUSTOMERS] = {0};
    for (int64_t id = 0; id < state->customers; id++) {
        name_of_id[id] = (uint16_t)(id < state->names ? (uint64_t)id : nurand_draw(&state->draw_name, stream));
        state->first_of_name[name_of_id[id] + 1]++;
    }
    for (int64_t name = 0; name < state->names; name++) {
        state->first_of_name[name + 1] = (uint16_t)(state->first_of_name[name + 1] + state->first_of_name[name]);
    }
    uint16_t taken[TPCC_NAMES] = {0};
    shuffle(order, state->customers, stream);
    for (int64_t i = 0; i < state->customers; i++) {
        uint16_t name = name_of_id[order[i]];
        state->place_of_id[order[i]] = (uint16_t)(state->first_of_name[name] + taken[name]++);
    }
    while (state->draw_name.a == 255) {
        uint64_t c = stream_below(stream, state->draw_name.a + 1);
        if (is_far(c, state->draw_name.c)) {
            state->draw_name.c = c;
            break;
        }
    }
}

void tpcc_draw_init(struct tpcc_state *state, struct stream *stream) {
    draw_constants(state, stream);
    give_names(state, stream);
    shuffle(state->customer_of_order, state->customers, stream);
    for (int64_t i = 0; i < state->customers; i++) {
        state->order_of_customer[state->customer_of_order[i]] = (uint16_t)i;
    }
}

/* ---- For each transaction ---- */

static enum tpcc_type draw_type(const struct tpcc_options *o, struct stream *stream) {
    double at = stream_unit(stream);
    const double shares[] = {o->payment, o->order_status, o->delivery, o->stock_level};
    for (int i = 0; i < TPCC_TYPES - 1; i++) {
        if (at < shares[i]) {
            return (enum tpcc_type)(i + 1);
        }
        at -= shares[i];
    }
    return TPCC_NEW_ORDER;
}

/* A terminal of a closed system belongs to a warehouse, and to a district of it for Stock-Level alone: the other types
 * draw theirs. Transactions of an open system come from anywhere. */
static void draw_home(const struct tpcc_state *state, const struct draw *draw, struct tpcc_arguments *a) {
    uint64_t warehouses = (uint64_t)state->options.warehouses;
    uint64_t warehouse = stream_below(draw->stream, warehouses), district = stream_below(draw->stream, TPCC_DISTRICTS);
    if (draw->terminal > 0) {
        warehouse = (draw->terminal - 1) % warehouses;
        district = a->type == TPCC_STOCK_LEVEL ? (draw->terminal - 1) / warehouses % TPCC_DISTRICTS : district;
    }
    a->warehouse = (uint16_t)warehouse;
    a->district = (uint32_t)(warehouse * TPCC_DISTRICTS + district);
}

/* Another warehouse with the given probability, if there is one. */
static uint64_t draw_warehouse(const struct tpcc_state *state, const struct tpcc_arguments *a, double remote,
                               struct stream *stream) {
    uint64_t warehouses = (uint64_t)state->options.warehouses;
    bool is_remote = stream_chance(stream, remote);
    uint64_t step = warehouses > 1 ? 1 + stream_below(stream, warehouses - 1) : 0;
    uint64_t warehouse = a->warehouse + (is_remote ? step : 0);
    return warehouse < warehouses ? warehouse : warehouse - warehouses;
}

static uint32_t draw_place(const struct tpcc_state *state, struct stream *stream) {
    return state->place_of_id[nurand_draw(&state->draw_customer, stream)];
}

static void draw_customer(const struct tpcc_state *state, struct stream *stream, struct tpcc_arguments *a) {
    uint32_t place = draw_place(state, stream), name = (uint32_t)nurand_draw(&state->draw_name, stream);
    a->by_name = stream_chance(stream, state->options.by_name);
    a->customer = a->by_name ? name : place;
}

static void sort_lines(struct tpcc_line *lines, int count) {
    for (int i = 1; i < count; i++) {
        struct tpcc_line line = lines[i];
        int j = i;
        for (; j > 0 && (lines[j - 1].supplier > line.supplier ||
                         (lines[j - 1].supplier == line.supplier && lines[j - 1].item > line.item));
             j--) {
            lines[j] = lines[j - 1];
        }
        lines[j] = line;
    }
}

static void draw_new_order(const struct tpcc_state *state, struct stream *stream, struct tpcc_arguments *a) {
    a->customer = draw_place(state, stream);
    a->fails = stream_chance(stream, state->options.rollback);
    a->line_count = (uint8_t)(TPCC_LINES_MIN + stream_below(stream, TPCC_LINES_MAX - TPCC_LINES_MIN + 1));
    for (int i = 0; i < a->line_count; i++) {
        struct tpcc_line *line = &a->lines[i];
        line->item = (uint32_t)nurand_draw(&state->draw_item, stream);
        line->supplier = (uint16_t)draw_warehouse(state, a, state->options.remote_lines, stream);
        line->quantity = (uint8_t)(1 + stream_below(stream, 10));
        store_expect(state->stock, tpcc_stock_key(state, line->supplier, line->item));
    }
    int sorted = a->fails ? a->line_count - 1 : a->line_count;
    if (state->options.order == TPCC_ORDER_BY_KEY) {
        sort_lines(a->lines, sorted);
    }
    if (a->fails) {
        a->lines[sorted].item = (uint32_t)state->items;
    }
}

static void draw_payment(const struct tpcc_state *state, const struct draw *draw, struct tpcc_arguments *a) {
    struct stream *stream = draw->stream;
    draw_customer(state, stream, a);
    a->amount = (uint16_t)(1 + stream_below(stream, 5000));
    uint64_t warehouse = draw_warehouse(state, a, state->options.remote_payments, stream);
    uint64_t district = stream_below(stream, TPCC_DISTRICTS);
    a->customer_district = warehouse == a->warehouse ? a->district : (uint32_t)(warehouse * TPCC_DISTRICTS + district);
    a->history = (int64_t)(draw->terminal << 40 | draw->number);
}

void tpcc_draw(void *memory, const struct draw *draw, void *values) {
    const struct tpcc_state *state = memory;
    struct tpcc_arguments *a = values;
    a->type = (uint8_t)draw_type(&state->options, draw->stream);
    draw_home(state, draw, a);
    a->customer_district = a->district;
    switch ((enum tpcc_type)a->type) {
    case TPCC_NEW_ORDER: draw_new_order(state, draw->stream, a); break;
    case TPCC_PAYMENT: draw_payment(state, draw, a); break;
    case TPCC_ORDER_STATUS: draw_customer(state, draw->stream, a); break;
    case TPCC_DELIVERY: a->carrier = (uint8_t)(1 + stream_below(draw->stream, 10)); break;
    case TPCC_STOCK_LEVEL: a->threshold = (uint8_t)(10 + stream_below(draw->stream, 11)); break;
    case TPCC_TYPES: break;
    }
}
