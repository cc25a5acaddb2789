/* smallbank.c - customers with a savings and a checking account: the benchmark of Alomari, Cahill, Fekete, Röhm, "The cost
 * of serializability on platforms that use snapshot isolation", ICDE 2008. Customers go by their number: the look-up of a
 * name, which nobody changes, is left out.
 *
 *   balance            reads both accounts of a customer
 *   deposit_checking   adds to a checking account
 *   transact_savings   reads a savings account, and adds to it or takes from it; refused (rolled back) if it would fall
 *                      below zero
 *   amalgamate         reads both accounts of a customer, empties them, and adds what was there to another's checking account
 *   write_check        reads both accounts of a customer and takes a cheque from the checking account, and 1 more as a
 *                      penalty if they do not cover it
 *
 * A program is a list of statements, five at most (`scripts`); register `at` counts those that were given. A row is packed:
 * the balance above, in the lower COUNT_BITS bits the number of its changes, as statements of account are numbered.
 * Every change adds 1 to that, so who reads a row knows which version it is.
 *
 * Invariants: the accounts hold what the committed transactions put into them; amalgamate writes what was read before, so
 * nobody must write in between (RR). And everybody saw one order of things (SER; with write_check = promote: SI): a cheque
 * may be judged by savings that a transfer has changed meanwhile, since it can be thought to have come before that; but not
 * if somebody was told of a balance with that transfer and without the cheque. This read-only anomaly is what snapshots let
 * pass; books.h finds it. */
#include "workloads/program.h"
#include "workloads/smallbank_books.h"

enum {
    AMOUNT_MAX = 100,
    BALANCE_MAX = 10000,
    COUNT_BITS = 26,
    CUSTOMERS_MAX = 1000000,
    STATEMENTS_MAX = 5,
    UNLUCKY_DRAWS_MAX = 1000
};
#define UNIT (INT64_C(1) << COUNT_BITS) /* of a balance in a row */
enum type { TYPE_BALANCE, TYPE_DEPOSIT, TYPE_TRANSACT, TYPE_AMALGAMATE, TYPE_CHECK, TYPE_COUNT };
enum write_check { WRITE_CHECK_PLAIN, WRITE_CHECK_PROMOTE };
enum { SAVINGS, CHECKING, ACCOUNTS };

struct smallbank_options {
    int64_t customers, balance, hot_customers;
    double hot_fraction;
    int64_t weights[TYPE_COUNT];
    int write_check;
    double rollback;
};

struct smallbank_state {
    struct smallbank_options options;
    struct table *tables[ACCOUNTS];
    uint64_t weight;            /* of all kinds */
    int64_t expected[ACCOUNTS]; /* what the rows add up to, by what was committed */
    struct books books;
};

struct smallbank_arguments {
    uint8_t type;
    int16_t amount;
    bool rollback;
    uint32_t customer[2]; /* from 0; the second one is of amalgamate */
};

struct smallbank_registers {
    int64_t seen[ACCOUNTS]; /* the first customer's rows */
    int64_t at;             /* statements given so far */
};

/* What a program does, statement by statement. */
struct statement {
    bool changes;
    uint8_t account, customer;
};
struct script {
    struct statement statements[STATEMENTS_MAX];
    int count;
};
enum { SCRIPT_CHECK_PROMOTE = TYPE_COUNT };
#define READ(account) \
    { false, (account), 0 }
#define CHANGE(account, customer) \
    { true, (account), (customer) }
static const struct script scripts[] = {
    [TYPE_BALANCE] = {{READ(SAVINGS), READ(CHECKING)}, 2},
    [TYPE_DEPOSIT] = {{CHANGE(CHECKING, 0)}, 1},
    [TYPE_TRANSACT] = {{READ(SAVINGS), CHANGE(SAVINGS, 0)}, 2},
    [TYPE_AMALGAMATE] = {{READ(SAVINGS), READ(CHECKING), CHANGE(SAVINGS, 0), CHANGE(CHECKING, 0), CHANGE(CHECKING, 1)},
                         5},
    [TYPE_CHECK] = {{READ(SAVINGS), READ(CHECKING), CHANGE(CHECKING, 0)}, 3},
    [SCRIPT_CHECK_PROMOTE] = {{READ(SAVINGS), READ(CHECKING), CHANGE(SAVINGS, 0), CHANGE(CHECKING, 0)}, 4},
};

static const char *const type_names[] = {"balance", "deposit_checking", "transact_savings", "amalgamate",
                                         "write_check"};
static const char *const write_check_names[] = {"plain", "promote", NULL};

#define FIELD(field) offsetof(struct smallbank_options, field)
#define WEIGHT(type, name, does) \
    { name, OPTION_COUNT, FIELD(weights[type]), "1", 0, 1000000, NULL, 0, "weight of the transactions that " does }
static const struct option options[] = {
    {"customers", OPTION_COUNT, FIELD(customers), "18000", 2, CUSTOMERS_MAX, NULL, 0,
     "customers, each with a savings and a checking account"},
    {"balance", OPTION_COUNT, FIELD(balance), "1000", 0, BALANCE_MAX, NULL, 0,
     "of each account at the start; amounts are 1 to 100"},
    {"hot_customers", OPTION_COUNT, FIELD(hot_customers), "1000", 0, CUSTOMERS_MAX, NULL, 0,
     "customers that are wanted more than the others; 0: all alike"},
    {"hot_fraction", OPTION_SHARE, FIELD(hot_fraction), "90%", 0, 0, NULL, 0,
     "share of the draws that draw one of these; the others draw one of the rest"},
    WEIGHT(TYPE_BALANCE, "balances", "read both accounts of a customer"),
    WEIGHT(TYPE_DEPOSIT, "deposits", "add to a checking account"),
    WEIGHT(TYPE_TRANSACT, "transacts", "add to a savings account or take from it"),
    WEIGHT(TYPE_AMALGAMATE, "amalgamates", "move all of a customer's money to another's checking account"),
    WEIGHT(TYPE_CHECK, "checks", "take a cheque from a checking account, with a penalty if not covered by both"),
    {"write_check", OPTION_CHOICE, FIELD(write_check), "plain", 0, 0, write_check_names, 0,
     "promote: a cheque also writes the savings account it was judged by, with the same balance, which makes snapshots "
     "serializable here"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back at their end by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct smallbank_options);

static bool smallbank_check(const void *values, struct text *error) {
    const struct smallbank_options *o = values;
    int64_t weight = 0;
    for (int type = 0; type < TYPE_COUNT; type++) {
        weight += o->weights[type];
    }
    if (weight == 0) {
        text_add(error, "balances, deposits, transacts, amalgamates and checks are all 0: there is nothing to do");
        return false;
    }
    if (o->hot_customers > o->customers) {
        text_add(error, "hot_customers = %" PRId64 " is more than customers = %" PRId64, o->hot_customers,
                 o->customers);
        return false;
    }
    return true;
}

static void smallbank_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    static const char *const names[] = {"savings", "checking"};
    struct smallbank_state *state = memory;
    state->options = *(const struct smallbank_options *)values;
    const struct smallbank_options *o = &state->options;
    for (int i = 0; i < ACCOUNTS; i++) {
        state->tables[i] = store_add_table(store, names[i], PROGRAM_FIRST_KEY, o->customers, o->balance * UNIT, false);
        state->expected[i] = o->customers * o->balance * UNIT;
    }
    for (int type = 0; type < TYPE_COUNT; type++) {
        state->weight += (uint64_t)o->weights[type];
    }
    books_open(&state->books, (size_t)o->customers);
}

static void smallbank_unload(void *memory) { books_close(&((struct smallbank_state *)memory)->books); }

/* ---- Drawing ---- */

static uint32_t draw_customer(const struct smallbank_options *o, struct stream *stream) {
    bool hot = stream_chance(stream, o->hot_fraction);
    if (o->hot_customers == 0 || o->hot_customers == o->customers) {
        return (uint32_t)stream_below(stream, (uint64_t)o->customers);
    }
    return (uint32_t)(hot ? stream_below(stream, (uint64_t)o->hot_customers)
                          : (uint64_t)o->hot_customers +
                                stream_below(stream, (uint64_t)(o->customers - o->hot_customers)));
}

/* Two different ones; where the draw of the second always meets the first, it is the one behind that. */
static void draw_pair(const struct smallbank_options *o, struct stream *stream, uint32_t pair[2]) {
    pair[0] = pair[1] = draw_customer(o, stream);
    for (int i = 0; pair[1] == pair[0] && i < UNLUCKY_DRAWS_MAX; i++) {
        pair[1] = draw_customer(o, stream);
    }
    if (pair[1] == pair[0]) {
        pair[1] = (pair[0] + 1) % (uint32_t)o->customers;
    }
}

static void smallbank_draw(void *memory, const struct draw *draw, void *values) {
    const struct smallbank_state *state = memory;
    const struct smallbank_options *o = &state->options;
    struct smallbank_arguments *a = values;
    draw_pair(o, draw->stream, a->customer);
    int amount = (int)(1 + stream_below(draw->stream, AMOUNT_MAX));
    bool takes = stream_chance(draw->stream, 0.5);
    a->rollback = stream_chance(draw->stream, o->rollback);
    int64_t at = (int64_t)(stream_unit(draw->stream) * (double)state->weight);
    a->type = 0;
    for (; at >= o->weights[a->type]; a->type++) {
        at -= o->weights[a->type];
    }
    a->amount = (int16_t)(a->type == TYPE_TRANSACT && takes ? -amount : amount);
}

/* ---- Running ---- */

static int64_t row_count(int64_t row) { return row & (UNIT - 1); }
static int64_t row_balance(int64_t row) { return (row - row_count(row)) / UNIT; }

static const struct script *script_of(const struct smallbank_state *state, const struct smallbank_arguments *a) {
    bool promote = a->type == TYPE_CHECK && state->options.write_check == WRITE_CHECK_PROMOTE;
    return &scripts[promote ? (int)SCRIPT_CHECK_PROMOTE : a->type];
}

static int64_t seen_total(const struct smallbank_registers *r) {
    return row_balance(r->seen[SAVINGS]) + row_balance(r->seen[CHECKING]);
}

/* What the statement adds to its account's row: the amount, and 1 to the number of changes. */
static int64_t row_gain(const struct smallbank_arguments *a, const struct smallbank_registers *r,
                        const struct statement *s) {
    int64_t gain = 0;
    switch ((enum type)a->type) {
    case TYPE_BALANCE: break;
    case TYPE_DEPOSIT:
    case TYPE_TRANSACT: gain = a->amount; break;
    case TYPE_AMALGAMATE: gain = s->customer == 1 ? seen_total(r) : -row_balance(r->seen[s->account]); break;
    case TYPE_CHECK: gain = s->account == SAVINGS ? 0 : -a->amount - (seen_total(r) < a->amount); break;
    case TYPE_COUNT: CHECK(false);
    }
    return gain * UNIT + 1;
}

/* Amalgamate empties an account, whatever is in it by now; all else adds to what it finds. */
static void give(const struct smallbank_state *state, const struct smallbank_arguments *a,
                 const struct smallbank_registers *r, const struct statement *s, struct step *step) {
    struct table *table = state->tables[s->account];
    int64_t key = a->customer[s->customer] + PROGRAM_FIRST_KEY;
    if (!s->changes) {
        step_select(step, table, key, LOCKING_NONE);
    } else if (a->type == TYPE_AMALGAMATE && s->customer == 0) {
        step_update(step, table, key, VALUE_SET, r->seen[s->account] + row_gain(a, r, s));
    } else {
        step_update(step, table, key, VALUE_ADD, row_gain(a, r, s));
    }
}

static void smallbank_next(void *memory, const void *values, void *registers, const struct reply *reply,
                           struct step *step) {
    const struct smallbank_state *state = memory;
    const struct smallbank_arguments *a = values;
    struct smallbank_registers *r = registers;
    const struct script *script = script_of(state, a);
    const struct statement *before = r->at > 0 ? &script->statements[r->at - 1] : NULL;
    if (before != NULL && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    if (before != NULL && !before->changes) {
        r->seen[before->account] = reply_value(reply);
    }
    bool refused = a->type == TYPE_TRANSACT && r->at == 1 && row_balance(r->seen[SAVINGS]) + a->amount < 0;
    if (refused || r->at == script->count) {
        step_end(step, refused || a->rollback);
        return;
    }
    give(state, a, r, &script->statements[r->at], step);
    r->at++;
    step->last_lock = r->at == script->count;
}

/* The rows of the statements to come, each once. */
static uint64_t smallbank_remaining(const void *memory, const void *values, const void *registers) {
    const struct smallbank_state *state = memory;
    const struct smallbank_arguments *a = values;
    const struct script *script = script_of(state, a);
    unsigned rows = 0;
    for (int64_t i = ((const struct smallbank_registers *)registers)->at; i < script->count; i++) {
        rows |= 1u << (script->statements[i].account + 2 * script->statements[i].customer);
    }
    return (uint64_t)__builtin_popcount(rows);
}

static enum declaration smallbank_declares(const void *memory, const void *values) {
    (void)memory;
    return ((const struct smallbank_arguments *)values)->type == TYPE_BALANCE ? DECLARES_READ_ONLY : DECLARES_NOTHING;
}

static size_t smallbank_type_count(const void *values) {
    (void)values;
    return TYPE_COUNT;
}

static const char *smallbank_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t smallbank_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct smallbank_arguments *)values)->type;
}

static size_t smallbank_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct smallbank_state *state = memory;
    const struct smallbank_arguments *a = values;
    const struct script *script = script_of(state, a);
    struct footprint plan = {.items = out, .capacity = most};
    for (int i = 0; i < script->count; i++) {
        const struct statement *s = &script->statements[i];
        footprint_add_row(&plan, state->tables[s->account], a->customer[s->customer] + PROGRAM_FIRST_KEY,
                          s->changes ? PLANNED_WRITE : PLANNED_READ);
    }
    return plan.count;
}

/* ---- The books ---- */

static void keep_order(struct smallbank_state *state, const struct smallbank_arguments *a,
                       const struct smallbank_registers *r) {
    uint32_t savings = (uint32_t)row_count(r->seen[SAVINGS]), checking = (uint32_t)row_count(r->seen[CHECKING]);
    if (a->type == TYPE_BALANCE) {
        books_tell(&state->books, a->customer[0], (struct told){savings, checking});
    } else if (a->type == TYPE_AMALGAMATE || a->type == TYPE_CHECK) {
        bool writes_savings = script_of(state, a) != &scripts[TYPE_CHECK];
        struct judged judged = {checking + 1, savings + writes_savings, savings + 1};
        books_judge(&state->books, a->customer[0], judged);
    }
}

static void smallbank_committed(void *memory, const void *values, const void *registers) {
    struct smallbank_state *state = memory;
    const struct smallbank_arguments *a = values;
    const struct smallbank_registers *r = registers;
    const struct script *script = script_of(state, a);
    for (int i = 0; i < script->count; i++) {
        const struct statement *s = &script->statements[i];
        state->expected[s->account] += s->changes ? row_gain(a, r, s) : 0;
    }
    keep_order(state, a, r);
}

static void smallbank_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct smallbank_state *state = memory;
    int64_t off[ACCOUNTS];
    for (int i = 0; i < ACCOUNTS; i++) {
        off[i] = state->tables[i]->committed_sum - state->expected[i];
    }
    bool promote = state->options.write_check == WRITE_CHECK_PROMOTE;
    audit->verdict = AUDIT_OK;
    audit->level = promote ? LEVEL_SI : LEVEL_SER;
    if (state->books.contradictions > 0) {
        audit->verdict = AUDIT_BROKEN;
        text_add(&audit->message,
                 "%" PRIu64
                 " times a cheque and the balances that were told contradict each other: no order explains both",
                 state->books.contradictions);
    }
    if (off[SAVINGS] != 0 || off[CHECKING] != 0) {
        text_add(&audit->message,
                 "%sthe savings accounts hold %" PRId64 " more than was put into them, the checking accounts %" PRId64,
                 audit->verdict == AUDIT_BROKEN ? "; " : "", row_balance(off[SAVINGS]), row_balance(off[CHECKING]));
        audit->verdict = AUDIT_BROKEN;
        audit->level = LEVEL_RR;
    }
}

const struct workload_ops workload_smallbank = {
    .name = "smallbank",
    .summary = "customers with savings and checking accounts: five kinds of short transactions",
    .options = &option_table,
    .state_size = sizeof(struct smallbank_state),
    .arguments_size = sizeof(struct smallbank_arguments),
    .registers_size = sizeof(struct smallbank_registers),
    .check = smallbank_check,
    .load = smallbank_load,
    .draw = smallbank_draw,
    .next = smallbank_next,
    .remaining = smallbank_remaining,
    .declares = smallbank_declares,
    .type_count = smallbank_type_count,
    .type_name = smallbank_type_name,
    .type_of = smallbank_type_of,
    .plan = smallbank_plan,
    .tells_last_lock = true,
    .committed = smallbank_committed,
    .audit = smallbank_audit,
    .unload = smallbank_unload,
};
