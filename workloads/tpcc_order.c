/* tpcc_order.c - the two types that write orders: New-Order and Delivery, clauses 2.4 and 2.7 of the specification, in the
 * order of statements of its sample programs. */
#include "workloads/tpcc.h"

/* What is read to be written later is locked, or not, as `access` says. */
static enum step_locking locking_of(const struct tpcc_run *run) {
    return run->state->options.access == TPCC_FOR_UPDATE ? LOCKING_UPDATE : LOCKING_NONE;
}

static bool is_returning(const struct tpcc_run *run) { return run->state->options.access == TPCC_RETURNING; }

static void insert(const struct tpcc_run *run, struct table *table, int64_t key, int64_t value) {
    step_update(run->step, table, key, VALUE_SET, value);
    run->step->kind = STEP_INSERT;
}

/* ---- New-Order ----
 *
 *   stage       the reply that came       the next step
 *   BEGIN       none                      read the warehouse (its tax; the row that Payments write)
 *   WAREHOUSE   of it                     read the customer
 *   CUSTOMER    of it                     read the district (RETURNING: count it up, and go on as below COUNTED)
 *   DISTRICT    the number of the order   count it up
 *   COUNTED     of that                   insert the order
 *   ORDER       of that                   insert it into new_orders
 *   QUEUED      of that                   insert it into the customer's index
 *   LINE        of that, or of the last   read the next item; commit if there is none
 *   ITEM        the item                  roll back if there is no such item; read its stock (RETURNING: write it)
 *   STOCK       what is in stock          write what is left, from what was read
 *   STOCKED     of that                   insert the line; then LINE */
enum new_order_stage {
    NEW_BEGIN,
    NEW_WAREHOUSE,
    NEW_CUSTOMER,
    NEW_DISTRICT,
    NEW_COUNTED,
    NEW_ORDER,
    NEW_QUEUED,
    NEW_LINE,
    NEW_ITEM,
    NEW_STOCK,
    NEW_STOCKED
};

static const struct tpcc_line *line_of(const struct tpcc_run *run) { return &run->a->lines[run->r->at]; }

static int64_t stock_key(const struct tpcc_run *run) {
    return tpcc_stock_key(run->state, line_of(run)->supplier, line_of(run)->item);
}

static void read_district(const struct tpcc_run *run) {
    int64_t key = tpcc_district_key(run->a->district);
    if (is_returning(run)) {
        run->r->stage = NEW_COUNTED;
        step_update(run->step, run->state->district, key, VALUE_ADD, TPCC_ORDER_ONE);
    } else {
        run->r->stage = NEW_DISTRICT;
        step_select(run->step, run->state->district, key, locking_of(run));
    }
}

static void take_number(const struct tpcc_run *run) {
    run->r->order = tpcc_next_order(reply_value(run->reply));
    CHECK_MSG(run->r->order < TPCC_ORDER_END, "a district has run out of order numbers");
}

static void insert_order(const struct tpcc_run *run) {
    const struct tpcc_arguments *a = run->a;
    int64_t value = (int64_t)(a->customer + 1) << TPCC_REST | (int64_t)a->line_count << TPCC_QUANTITY;
    run->r->stage = NEW_ORDER;
    insert(run, run->state->orders, tpcc_order_key(run->state, a->district, run->r->order), value);
}

static void read_item(const struct tpcc_run *run) {
    if (run->r->at == run->a->line_count) {
        step_end(run->step, false);
        return;
    }
    run->r->stage = NEW_ITEM;
    step_select(run->step, run->state->item, tpcc_item_key(line_of(run)->item), LOCKING_NONE);
}

static void read_stock(const struct tpcc_run *run) {
    if (run->reply->count == 0) {
        step_end(run->step, true);
    } else if (is_returning(run)) {
        run->r->stage = NEW_STOCKED;
        step_update(run->step, run->state->stock, stock_key(run), VALUE_ADD, TPCC_LINE_ONE + line_of(run)->quantity);
    } else {
        run->r->stage = NEW_STOCK;
        step_select(run->step, run->state->stock, stock_key(run), locking_of(run));
    }
}

static void insert_line(const struct tpcc_run *run) {
    const struct tpcc_line *line = line_of(run);
    int64_t value = (int64_t)(line->item + 1) << TPCC_REST | (int64_t)line->quantity << TPCC_QUANTITY;
    int64_t key = tpcc_line_key(run->state, run->a->district, run->r->order, run->r->at);
    run->r->stage = NEW_LINE;
    insert(run, run->state->order_lines, key, value);
    run->step->last_lock = ++run->r->at == run->a->line_count;
}

void tpcc_new_order(const struct tpcc_run *run) {
    const struct tpcc_arguments *a = run->a;
    struct tpcc_state *state = run->state;
    struct tpcc_registers *r = run->r;
    switch ((enum new_order_stage)r->stage) {
    case NEW_BEGIN:
        r->stage = NEW_WAREHOUSE;
        step_select(run->step, state->warehouse, tpcc_warehouse_key(a->warehouse), LOCKING_NONE);
        break;
    case NEW_WAREHOUSE:
        r->stage = NEW_CUSTOMER;
        step_select(run->step, state->customer, tpcc_customer_key(state, a->district, a->customer), LOCKING_NONE);
        break;
    case NEW_CUSTOMER: read_district(run); break;
    case NEW_DISTRICT:
        take_number(run);
        r->stage = NEW_COUNTED;
        step_update(run->step, state->district, tpcc_district_key(a->district), VALUE_ADD, TPCC_ORDER_ONE);
        break;
    case NEW_COUNTED:
        if (is_returning(run)) {
            take_number(run);
        }
        insert_order(run);
        break;
    case NEW_ORDER:
        r->stage = NEW_QUEUED;
        insert(run, state->new_orders, tpcc_queue_key(a->district, r->order), 0);
        break;
    case NEW_QUEUED:
        r->stage = NEW_LINE;
        insert(run, state->customer_orders, tpcc_index_key(state, a->district, a->customer, r->order), r->order);
        break;
    case NEW_LINE: read_item(run); break;
    case NEW_ITEM: read_stock(run); break;
    case NEW_STOCK:
        r->seen = reply_value(run->reply);
        r->stage = NEW_STOCKED;
        step_update(run->step, state->stock, stock_key(run), VALUE_SET,
                    r->seen + TPCC_LINE_ONE + line_of(run)->quantity);
        break;
    case NEW_STOCKED: insert_line(run); break;
    }
}

/* ---- Delivery: the oldest order of each of the warehouse's districts ----
 *
 *   stage      the reply that came          the next step
 *   BEGIN      none, or the last            find the district's oldest in new_orders; commit after the last district
 *   FOUND      its number                   delete it there; if there is none, BEGIN with the next district. (RETURNING:
 *                                           the one it deleted; go on as below DELETED)
 *   DELETED    of that                      read the order (RETURNING: write its carrier); another was faster: BEGIN
 *   ORDER      its customer                 write its carrier
 *   CARRIER    of that                      write the date of delivery into its lines; there is no such order: BEGIN
 *   LINES      their amounts                add them to the customer's balance; then BEGIN */
enum delivery_stage {
    DELIVERY_BEGIN,
    DELIVERY_FOUND,
    DELIVERY_DELETED,
    DELIVERY_ORDER,
    DELIVERY_CARRIER,
    DELIVERY_LINES
};

static int64_t delivery_district(const struct tpcc_run *run) {
    return (int64_t)run->a->warehouse * TPCC_DISTRICTS + run->r->at;
}

static void find_oldest(const struct tpcc_run *run) {
    if (run->r->at == TPCC_DISTRICTS) {
        step_end(run->step, false);
        return;
    }
    int64_t district = delivery_district(run);
    bool returning = is_returning(run);
    run->r->stage = DELIVERY_FOUND;
    *run->step = (struct step){.kind = returning ? STEP_DELETE : STEP_SELECT,
                               .locking = returning ? LOCKING_NONE : locking_of(run),
                               .table = run->state->new_orders,
                               .first = tpcc_queue_key(district, 0),
                               .last = tpcc_queue_key(district + 1, 0) - 1,
                               .scan = true,
                               .limit = 1};
}

static void next_district(const struct tpcc_run *run) {
    run->r->at++;
    find_oldest(run);
}

static void read_order(const struct tpcc_run *run) {
    int64_t key = tpcc_order_key(run->state, delivery_district(run), run->r->order);
    if (is_returning(run)) {
        run->r->stage = DELIVERY_CARRIER;
        step_update(run->step, run->state->orders, key, VALUE_ADD, run->a->carrier);
    } else {
        run->r->stage = DELIVERY_ORDER;
        step_select(run->step, run->state->orders, key, locking_of(run));
    }
}

static void find_and_delete(const struct tpcc_run *run) {
    if (run->reply->count == 0) {
        next_district(run);
        return;
    }
    run->r->order = run->reply->rows[0].key - tpcc_queue_key(delivery_district(run), 0);
    if (is_returning(run)) {
        read_order(run);
        return;
    }
    run->r->stage = DELIVERY_DELETED;
    *run->step = (struct step){.kind = STEP_DELETE,
                               .table = run->state->new_orders,
                               .first = run->reply->rows[0].key,
                               .last = run->reply->rows[0].key};
}

static void take_customer(const struct tpcc_run *run) {
    run->r->customer = (uint32_t)tpcc_order_customer(run->state, run->r->order, reply_value(run->reply));
}

static void deliver_lines(const struct tpcc_run *run) {
    int64_t first = tpcc_line_key(run->state, delivery_district(run), run->r->order, 0);
    run->r->stage = DELIVERY_LINES;
    *run->step = (struct step){.kind = STEP_UPDATE,
                               .value = VALUE_ADD,
                               .operand = 1,
                               .table = run->state->order_lines,
                               .first = first,
                               .last = first + tpcc_last_line(run->state, run->r->order),
                               .scan = true};
}

static void credit_customer(const struct tpcc_run *run) {
    int64_t amount = 0, key = tpcc_customer_key(run->state, delivery_district(run), run->r->customer);
    for (int64_t i = 0; i < run->reply->count; i++) {
        const struct reply_row *row = &run->reply->rows[i];
        amount += tpcc_line_amount(run->state, run->r->order, row->key, row->value);
    }
    run->r->credited += amount;
    run->r->deliveries++;
    run->r->stage = DELIVERY_BEGIN;
    step_update(run->step, run->state->customer, key, VALUE_ADD, amount);
    run->step->last_lock = ++run->r->at == TPCC_DISTRICTS;
}

void tpcc_delivery(const struct tpcc_run *run) {
    struct tpcc_registers *r = run->r;
    switch ((enum delivery_stage)r->stage) {
    case DELIVERY_BEGIN: find_oldest(run); break;
    case DELIVERY_FOUND: find_and_delete(run); break;
    case DELIVERY_DELETED:
        if (run->reply->count == 0) {
            next_district(run);
        } else {
            read_order(run);
        }
        break;
    case DELIVERY_ORDER:
        if (run->reply->count == 0) {
            next_district(run);
            break;
        }
        r->stage = DELIVERY_CARRIER;
        take_customer(run);
        step_update(run->step, run->state->orders, tpcc_order_key(run->state, delivery_district(run), r->order),
                    VALUE_ADD, run->a->carrier);
        break;
    case DELIVERY_CARRIER:
        if (run->reply->count == 0) {
            next_district(run);
            break;
        }
        if (is_returning(run)) {
            take_customer(run);
        }
        deliver_lines(run);
        break;
    case DELIVERY_LINES: credit_customer(run); break;
    }
}
