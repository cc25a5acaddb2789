/* bank.c - transfers between accounts: the textbook's example of what must be all or nothing.
 *
 * A transfer moves 1 .. 100 from one account to another, different one; a share of the transactions are audits instead,
 * which read all accounts with one statement in key order. Account 1 is the most wanted where theta skews them.
 *
 *   stage        the reply that came   the next step
 *   BEGIN        none                  audit: read all; increment: change the first account; else read the first
 *   READ         the first balance     read the second
 *   DECIDE       the second balance    roll back if the source holds too little and overdrafts are refused; else
 *                                      application time if there is any, else write the first from what was read
 *   WRITE        of application time   write the first from what was read
 *   WRITE_NEXT   of the first write    write the second (roll back if the write was refused: increment only)
 *   AUDIT        all balances          commit (rollback, where that was drawn)
 *   END          of the second write   the same (roll back if the write was refused: increment only)
 *
 * `first` and `second` are source and target in the order they were drawn, or by id.
 * Invariants: the total of all accounts never changes; every audit that commits saw that total. One-statement
 * increments conserve the total where nothing uncommitted is overwritten (RC), writes of what was read before need that
 * nobody wrote in between, and an audit needs to see one state of all accounts (both SI). */
#include "workloads/program.h"

enum { INITIAL_BALANCE = 1000, AMOUNT_MAX = 100, UNLUCKY_DRAWS_MAX = 1000 };

enum order { ORDER_RANDOM, ORDER_BY_ID };
enum access { ACCESS_FOR_UPDATE, ACCESS_READ_WRITE, ACCESS_INCREMENT };
enum overdraft { OVERDRAFT_ALLOWED, OVERDRAFT_REFUSED };

struct bank_options {
    int64_t rows;
    int order, access, overdraft;
    struct distribution app_time;
    double audit_fraction, theta, rollback;
};

struct bank_state {
    struct bank_options options;
    struct table *accounts;
    struct zipf zipf; /* ranks of accounts; set if theta is not 0 */
    int64_t total;
    uint64_t audits, wrong_audits; /* that committed, and of them those that saw another total */
    int64_t wrong_total;           /* what the first of those saw */
};

struct bank_arguments {
    bool is_audit, rollback;
    int8_t amount;
    uint8_t source;      /* which of the two accounts, 0 or 1, pays */
    uint32_t account[2]; /* in the order of access */
};

enum stage { STAGE_BEGIN, STAGE_READ, STAGE_DECIDE, STAGE_WRITE, STAGE_WRITE_NEXT, STAGE_AUDIT, STAGE_END };

struct bank_registers {
    int64_t seen[2]; /* the balances; of an audit, the total and nothing */
    int64_t stage;
};

static const char *const order_names[] = {"random", "by_id", NULL};
static const char *const access_names[] = {"for_update", "read_write", "increment", NULL};
static const char *const overdraft_names[] = {"allowed", "refused", NULL};

#define FIELD(field) offsetof(struct bank_options, field)
static const struct option options[] = {
    {"rows", OPTION_COUNT, FIELD(rows), "1000", 2, PROGRAM_ROWS_MAX, NULL, 0,
     "accounts, each of which begins with 1000"},
    {"order", OPTION_CHOICE, FIELD(order), "random", 0, 0, order_names, 0,
     "in which a transfer accesses its two accounts: the payer's first, or the one with the lower id first"},
    {"access", OPTION_CHOICE, FIELD(access), "for_update", 0, 0, access_names, 0,
     "how: both read locked, then both written from what was read; the same read without locking (locks are upgraded); "
     "or both changed, each in one statement"},
    {"app_time", OPTION_DISTRIBUTION, FIELD(app_time), "0", 0, 0, NULL, 0,
     "the application's own time between reading and writing: no CPU of the server, but locks are held"},
    {"overdraft", OPTION_CHOICE, FIELD(overdraft), "allowed", 0, 0, overdraft_names, 0,
     "may a balance fall below zero; refused: such a transfer rolls back by its own wish"},
    {"audit_fraction", OPTION_SHARE, FIELD(audit_fraction), "0", 0, 0, NULL, 0,
     "share of the transactions that add up all accounts instead"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0, "Zipf skew of the accounts; 0: uniform"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back at their end by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct bank_options);

static bool bank_check(const void *values, struct text *error) {
    const struct bank_options *o = values;
    if (!distribution_is_zero(&o->app_time) && o->access == ACCESS_INCREMENT) {
        text_add(error, "app_time has no place with access = increment, which reads and writes in one statement");
        return false;
    }
    return true;
}

static void bank_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct bank_state *state = memory;
    state->options = *(const struct bank_options *)values;
    int64_t rows = state->options.rows;
    state->accounts = store_add_table(store, "accounts", PROGRAM_FIRST_KEY, rows, INITIAL_BALANCE, false);
    state->total = rows * INITIAL_BALANCE;
    if (state->options.theta > 0) {
        zipf_init(&state->zipf, (uint64_t)rows, state->options.theta);
    }
}

/* Two different accounts. Under skew, drawing again until the second differs is drawing by the weights of the others;
 * if these have next to none, it is the most wanted of them. */
static void draw_pair(const struct bank_state *state, struct stream *stream, uint64_t pair[2]) {
    if (state->options.theta <= 0) {
        stream_distinct(stream, (uint64_t)state->options.rows, pair, 2);
        return;
    }
    pair[0] = zipf_draw(&state->zipf, stream);
    for (int i = 0; i < UNLUCKY_DRAWS_MAX; i++) {
        pair[1] = zipf_draw(&state->zipf, stream);
        if (pair[1] != pair[0]) {
            return;
        }
    }
    pair[1] = pair[0] == 0;
}

static void bank_draw(void *memory, const struct draw *draw, void *values) {
    const struct bank_state *state = memory;
    const struct bank_options *o = &state->options;
    struct bank_arguments *a = values;
    uint64_t pair[2]; /* source, target */
    draw_pair(state, draw->stream, pair);
    a->amount = (int8_t)(1 + stream_below(draw->stream, AMOUNT_MAX));
    a->rollback = stream_chance(draw->stream, o->rollback);
    a->is_audit = stream_chance(draw->stream, o->audit_fraction);
    a->source = o->order == ORDER_BY_ID && pair[0] > pair[1];
    for (int i = 0; i < 2; i++) {
        a->account[i] = (uint32_t)(pair[i ^ a->source] + PROGRAM_FIRST_KEY);
    }
}

/* What the transfer adds to account number `which` of the two. */
static int64_t account_gain(const struct bank_arguments *a, int which) {
    return which == a->source ? -a->amount : a->amount;
}

static void read_account(const struct bank_state *state, const struct bank_arguments *a, int which, struct step *step) {
    bool locked = state->options.access == ACCESS_FOR_UPDATE;
    step_select(step, state->accounts, a->account[which], locked ? LOCKING_UPDATE : LOCKING_NONE);
}

static void write_account(const struct bank_state *state, const struct bank_arguments *a,
                          const struct bank_registers *r, int which, struct step *step) {
    int64_t gain = account_gain(a, which);
    if (state->options.access == ACCESS_INCREMENT) {
        step_update(step, state->accounts, a->account[which], VALUE_ADD, gain);
        if (state->options.overdraft == OVERDRAFT_REFUSED && which == a->source) {
            step->condition = (struct condition){.operator= CONDITION_GE, .constant = a->amount};
        }
    } else {
        step_update(step, state->accounts, a->account[which], VALUE_SET, r->seen[which] + gain);
    }
    step->last_lock = which == 1;
}

static void begin(const struct bank_state *state, const struct bank_arguments *a, struct bank_registers *r,
                  struct step *step) {
    if (a->is_audit) {
        r->stage = STAGE_AUDIT;
        *step = (struct step){.kind = STEP_SELECT,
                              .table = state->accounts,
                              .first = PROGRAM_FIRST_KEY,
                              .last = PROGRAM_FIRST_KEY + state->options.rows - 1,
                              .scan = true,
                              .last_lock = true};
    } else if (state->options.access == ACCESS_INCREMENT) {
        r->stage = STAGE_WRITE_NEXT;
        write_account(state, a, r, 0, step);
    } else {
        r->stage = STAGE_READ;
        read_account(state, a, 0, step);
    }
}

/* Both balances are known. */
static void decide(const struct bank_state *state, const struct bank_arguments *a, struct bank_registers *r,
                   struct step *step) {
    const struct bank_options *o = &state->options;
    if (o->overdraft == OVERDRAFT_REFUSED && r->seen[a->source] < a->amount) {
        step_end(step, true);
    } else if (!distribution_is_zero(&o->app_time)) {
        r->stage = STAGE_WRITE;
        step_think(step, &o->app_time);
    } else {
        r->stage = STAGE_WRITE_NEXT;
        write_account(state, a, r, 0, step);
    }
}

/* Did the update that just ended leave the source alone because it holds too little? Only a condition does that. */
static bool was_refused(const struct bank_state *state, const struct bank_arguments *a, int which,
                        const struct reply *reply) {
    return state->options.access == ACCESS_INCREMENT && state->options.overdraft == OVERDRAFT_REFUSED &&
           which == a->source && reply->count == 0;
}

static void bank_next(void *memory, const void *values, void *registers, const struct reply *reply, struct step *step) {
    const struct bank_state *state = memory;
    const struct bank_arguments *a = values;
    struct bank_registers *r = registers;
    if (r->stage != STAGE_BEGIN && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN: begin(state, a, r, step); break;
    case STAGE_READ:
        r->seen[0] = reply_value(reply);
        r->stage = STAGE_DECIDE;
        read_account(state, a, 1, step);
        break;
    case STAGE_DECIDE:
        r->seen[1] = reply_value(reply);
        decide(state, a, r, step);
        break;
    case STAGE_WRITE:
        r->stage = STAGE_WRITE_NEXT;
        write_account(state, a, r, 0, step);
        break;
    case STAGE_WRITE_NEXT:
        if (was_refused(state, a, 0, reply)) {
            step_end(step, true);
            break;
        }
        r->stage = STAGE_END;
        write_account(state, a, r, 1, step);
        break;
    case STAGE_AUDIT:
        r->seen[0] = reply_sum(reply);
        step_end(step, a->rollback);
        break;
    case STAGE_END: step_end(step, a->rollback || was_refused(state, a, 1, reply)); break;
    }
}

static uint64_t bank_remaining(const void *memory, const void *values, const void *registers) {
    const struct bank_state *state = memory;
    const struct bank_arguments *a = values;
    const struct bank_registers *r = registers;
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN: return a->is_audit ? (uint64_t)state->options.rows : 2;
    case STAGE_READ:
    case STAGE_DECIDE:
    case STAGE_WRITE: return 2;
    case STAGE_WRITE_NEXT: return 1;
    case STAGE_AUDIT:
    case STAGE_END: break;
    }
    return 0;
}

enum type { TYPE_TRANSFER, TYPE_AUDIT };
static const char *const type_names[] = {"transfer", "audit"};

static size_t bank_type_count(const void *values) {
    return ((const struct bank_options *)values)->audit_fraction > 0 ? 2 : 1;
}

static const char *bank_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t bank_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct bank_arguments *)values)->is_audit ? TYPE_AUDIT : TYPE_TRANSFER;
}

static size_t bank_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct bank_state *state = memory;
    const struct bank_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    if (a->is_audit) {
        footprint_add(&plan, (struct planned){.table = state->accounts,
                                              .key = PROGRAM_FIRST_KEY,
                                              .last = PROGRAM_FIRST_KEY + state->options.rows - 1,
                                              .scan = true});
        return plan.count;
    }
    for (int i = 0; i < 2; i++) {
        footprint_add_row(&plan, state->accounts, a->account[i], PLANNED_WRITE);
    }
    return plan.count;
}

static void bank_committed(void *memory, const void *values, const void *registers) {
    struct bank_state *state = memory;
    const struct bank_arguments *a = values;
    const struct bank_registers *r = registers;
    if (!a->is_audit) {
        return;
    }
    state->audits++;
    if (r->seen[0] != state->total) {
        if (state->wrong_audits == 0) {
            state->wrong_total = r->seen[0];
        }
        state->wrong_audits++;
    }
}

static void bank_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct bank_state *state = memory;
    int64_t held = state->accounts->committed_sum;
    audit->verdict = AUDIT_OK;
    audit->level = LEVEL_SI;
    if (held != state->total) {
        audit->verdict = AUDIT_BROKEN;
        audit->level = state->options.access == ACCESS_INCREMENT ? LEVEL_RC : LEVEL_SI;
        text_add(&audit->message, "the accounts hold %" PRId64 " in all instead of %" PRId64, held, state->total);
    }
    if (state->wrong_audits > 0) {
        audit->verdict = AUDIT_BROKEN;
        text_add(&audit->message,
                 "%s%" PRIu64 " of %" PRIu64 " committed audits saw a wrong total, the first one %" PRId64
                 " instead of %" PRId64,
                 held != state->total ? "; " : "", state->wrong_audits, state->audits, state->wrong_total,
                 state->total);
    }
}

const struct workload_ops workload_bank = {
    .name = "bank",
    .summary = "transfers between accounts, and audits that add all of them up",
    .options = &option_table,
    .state_size = sizeof(struct bank_state),
    .arguments_size = sizeof(struct bank_arguments),
    .registers_size = sizeof(struct bank_registers),
    .check = bank_check,
    .load = bank_load,
    .draw = bank_draw,
    .next = bank_next,
    .remaining = bank_remaining,
    .type_count = bank_type_count,
    .type_name = bank_type_name,
    .type_of = bank_type_of,
    .plan = bank_plan,
    .tells_last_lock = true,
    .committed = bank_committed,
    .audit = bank_audit,
};
