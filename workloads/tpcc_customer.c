/* tpcc_customer.c - the two types that begin with a customer, who gives a number or only a last name: Payment and
 * Order-Status, clauses 2.5 and 2.6 of the specification, in the order of statements of its sample programs. */
#include "workloads/tpcc.h"

/* By name all customers of that name are read, which stand together, and the middle one is meant. */
static void read_customer(const struct tpcc_run *run, enum step_locking locking) {
    const struct tpcc_state *state = run->state;
    const struct tpcc_arguments *a = run->a;
    int64_t first = a->by_name ? state->first_of_name[a->customer] : (int64_t)a->customer;
    step_select(run->step, state->customer, tpcc_customer_key(state, a->customer_district, first), locking);
    if (a->by_name) {
        int64_t last = state->first_of_name[a->customer + 1] - 1;
        run->step->scan = true;
        run->step->last = tpcc_customer_key(state, a->customer_district, last);
    }
}

static void take_customer(const struct tpcc_run *run) {
    const struct reply *reply = run->reply;
    CHECK(reply->count > 0);
    const struct reply_row *row = &reply->rows[(reply->count - 1) / 2];
    run->r->customer = (uint32_t)(row->key - tpcc_customer_key(run->state, run->a->customer_district, 0));
    run->r->seen = row->value;
}

/* ---- Payment ----
 *
 *   stage       the reply that came       the next step
 *   BEGIN       none                      add to the warehouse
 *   WAREHOUSE   of that                   add to the district
 *   DISTRICT    of that                   read the customer (RETURNING, by number: subtract from the balance; then PAID)
 *   CUSTOMER    the balance               write it less the amount, from what was read (RETURNING: subtract)
 *   PAID        of that                   insert a row of history
 *   END         of that                   commit */
enum payment_stage { PAYMENT_BEGIN, PAYMENT_WAREHOUSE, PAYMENT_DISTRICT, PAYMENT_CUSTOMER, PAYMENT_PAID, PAYMENT_END };

static void pay(const struct tpcc_run *run, int64_t place, bool from_seen) {
    const struct tpcc_arguments *a = run->a;
    int64_t key = tpcc_customer_key(run->state, a->customer_district, place);
    run->r->stage = PAYMENT_PAID;
    step_update(run->step, run->state->customer, key, from_seen ? VALUE_SET : VALUE_ADD,
                (from_seen ? run->r->seen : 0) - a->amount);
}

void tpcc_payment(const struct tpcc_run *run) {
    const struct tpcc_arguments *a = run->a;
    const struct tpcc_state *state = run->state;
    struct tpcc_registers *r = run->r;
    int access = state->options.access;
    switch ((enum payment_stage)r->stage) {
    case PAYMENT_BEGIN:
        r->stage = PAYMENT_WAREHOUSE;
        step_update(run->step, state->warehouse, tpcc_warehouse_key(a->warehouse), VALUE_ADD, a->amount);
        break;
    case PAYMENT_WAREHOUSE:
        r->stage = PAYMENT_DISTRICT;
        step_update(run->step, state->district, tpcc_district_key(a->district), VALUE_ADD, a->amount);
        break;
    case PAYMENT_DISTRICT:
        if (access == TPCC_RETURNING && !a->by_name) {
            pay(run, a->customer, false);
        } else {
            r->stage = PAYMENT_CUSTOMER;
            read_customer(run, access == TPCC_FOR_UPDATE ? LOCKING_UPDATE : LOCKING_NONE);
        }
        break;
    case PAYMENT_CUSTOMER:
        take_customer(run);
        pay(run, r->customer, access != TPCC_RETURNING);
        break;
    case PAYMENT_PAID:
        r->stage = PAYMENT_END;
        step_update(run->step, state->history, a->history, VALUE_SET, a->amount);
        run->step->kind = STEP_INSERT;
        run->step->last_lock = true;
        break;
    case PAYMENT_END: step_end(run->step, false); break;
    }
}

size_t tpcc_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct tpcc_state *state = memory;
    const struct tpcc_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    if (a->type != TPCC_PAYMENT) {
        return PLAN_UNKNOWN;
    }
    int64_t place = a->customer;
    footprint_add_row(&plan, state->warehouse, tpcc_warehouse_key(a->warehouse), PLANNED_WRITE);
    footprint_add_row(&plan, state->district, tpcc_district_key(a->district), PLANNED_WRITE);
    if (a->by_name) {
        int64_t first = state->first_of_name[a->customer], last = state->first_of_name[a->customer + 1] - 1;
        bool locked = state->options.access == TPCC_FOR_UPDATE;
        place = (first + last) / 2;
        footprint_add(&plan, (struct planned){.table = state->customer,
                                              .key = tpcc_customer_key(state, a->customer_district, first),
                                              .last = tpcc_customer_key(state, a->customer_district, last),
                                              .use = locked ? PLANNED_LOCK : PLANNED_READ,
                                              .scan = true});
    }
    footprint_add_row(&plan, state->customer, tpcc_customer_key(state, a->customer_district, place), PLANNED_WRITE);
    footprint_add_row(&plan, state->history, a->history, PLANNED_INSERT);
    return plan.count;
}

/* ---- Order-Status ----
 *
 *   stage      the reply that came       the next step
 *   BEGIN      none                      read the customer
 *   CUSTOMER   who it is                 read the first entry of that customer's orders: the last one
 *   LAST       its number; if none was   read the order
 *              made since the start,
 *              the one of the start
 *   ORDER      the order                 read its lines
 *   LINES      of that                   commit */
enum status_stage { STATUS_BEGIN, STATUS_CUSTOMER, STATUS_LAST, STATUS_ORDER, STATUS_LINES };

static void find_last_order(const struct tpcc_run *run) {
    const struct tpcc_state *state = run->state;
    take_customer(run);
    run->r->stage = STATUS_LAST;
    *run->step =
        (struct step){.kind = STEP_SELECT,
                      .table = state->customer_orders,
                      .first = tpcc_index_key(state, run->a->customer_district, run->r->customer, TPCC_ORDER_END - 1),
                      .last = tpcc_index_key(state, run->a->customer_district, run->r->customer, 0),
                      .scan = true,
                      .limit = 1};
}

static void read_lines(const struct tpcc_run *run) {
    int64_t first = tpcc_line_key(run->state, run->a->customer_district, run->r->order, 0);
    run->r->stage = STATUS_LINES;
    *run->step = (struct step){.kind = STEP_SELECT,
                               .table = run->state->order_lines,
                               .first = first,
                               .last = first + tpcc_last_line(run->state, run->r->order),
                               .scan = true,
                               .last_lock = true};
}

void tpcc_order_status(const struct tpcc_run *run) {
    const struct tpcc_state *state = run->state;
    struct tpcc_registers *r = run->r;
    switch ((enum status_stage)r->stage) {
    case STATUS_BEGIN:
        r->stage = STATUS_CUSTOMER;
        read_customer(run, LOCKING_NONE);
        break;
    case STATUS_CUSTOMER: find_last_order(run); break;
    case STATUS_LAST:
        r->order = run->reply->count > 0 ? run->reply->rows[0].value : 1 + state->order_of_customer[r->customer];
        r->stage = STATUS_ORDER;
        step_select(run->step, state->orders, tpcc_order_key(state, run->a->customer_district, r->order), LOCKING_NONE);
        break;
    case STATUS_ORDER: read_lines(run); break;
    case STATUS_LINES: step_end(run->step, false); break;
    }
}
