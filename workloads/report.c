/* report.c - short updates beside a long reader: what an old snapshot holds back, what locks of a reader hold up, and what
 * a report is worth that has neither.
 *
 * An update moves 1 .. 100 from one account to another, different one: two statements, each of which adds to a row, the
 * lower key first, so that updates alone never deadlock. A report adds up all accounts in key order, so many in a
 * statement, with a pause behind each statement but the last: the application's own time, in which it prints, or waits
 * for a network. In a closed system the first `reporters` terminals make nothing but reports, the others updates; in an
 * open one a share of what arrives are reports.
 *
 *   stage        the reply that came     the next step
 *   BEGIN        none                    report: read the first accounts; update: change the first account
 *   READ         some accounts           commit after the last one; else pause if there are pauses; else read on
 *   PAUSE        of the pause            read on
 *   SECOND       of the first change     change the second account
 *   END          of the second change    commit (both: rollback, where that was drawn)
 *
 * Invariants: the total of all accounts never changes: updates add in one statement, so it suffices that nothing
 * uncommitted is overwritten (RC). Every report that commits saw that total: for this it must see one state of all
 * accounts (SI). */
#include "workloads/program.h"

enum { INITIAL_BALANCE = 1000, AMOUNT_MAX = 100 };
enum { TYPE_UPDATE, TYPE_REPORT, TYPE_COUNT };

struct report_options {
    int64_t rows, chunk;
    struct distribution pause;
    int64_t reporters;
    double report_fraction;
    bool deferrable;
    double theta, rollback;
};

struct report_state {
    struct report_options options;
    struct table *accounts;
    struct zipf zipf; /* ranks of accounts */
    int64_t total;
    uint64_t reports, wrong_reports; /* that committed, and of them those that saw another total */
    int64_t wrong_total;             /* what the first of those saw */
};

struct report_arguments {
    bool is_report, rollback;
    int8_t gain; /* of the first account; the second one's loss */
    uint32_t account[2];
};

enum stage { STAGE_BEGIN, STAGE_READ, STAGE_PAUSE, STAGE_SECOND, STAGE_END };

struct report_registers {
    int64_t sum, read; /* accounts read so far, and what they add up to */
    int64_t stage;
};

#define FIELD(field) offsetof(struct report_options, field)
static const struct option options[] = {
    {"rows", OPTION_COUNT, FIELD(rows), "10000", 2, PROGRAM_ROWS_MAX, NULL, 0,
     "accounts, each of which begins with 1000"},
    {"chunk", OPTION_COUNT, FIELD(chunk), "1000", 1, PROGRAM_ROWS_MAX, NULL, OPTION_MAY_BE_UNLIMITED,
     "accounts that a report reads in one statement; unlimited: all of them"},
    {"pause", OPTION_DISTRIBUTION, FIELD(pause), "0", 0, 0, NULL, 0,
     "the application's own time between two statements of a report: it makes the report long"},
    {"reporters", OPTION_COUNT, FIELD(reporters), "1", 0, 1e6, NULL, 0,
     "in a closed system: so many terminals, the first ones, make reports, the others updates"},
    {"report_fraction", OPTION_SHARE, FIELD(report_fraction), "1%", 0, 0, NULL, 0,
     "in an open system: share of the transactions that are reports"},
    {"deferrable", OPTION_BOOL, FIELD(deferrable), "no", 0, 0, NULL, 0,
     "reports declare that they would rather wait for a snapshot that needs no watching"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0,
     "Zipf skew of the accounts that are updated; 0: uniform"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back at their end by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct report_options);

static bool report_check(const void *values, struct text *error) {
    const struct report_options *o = values;
    if (!distribution_is_zero(&o->pause) && o->chunk >= o->rows) {
        text_add(error, "pause has no place with rows = %" PRId64 " and no smaller chunk: a report is one statement",
                 o->rows);
        return false;
    }
    return true;
}

static void report_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct report_state *state = memory;
    state->options = *(const struct report_options *)values;
    int64_t rows = state->options.rows;
    state->accounts = store_add_table(store, "accounts", PROGRAM_FIRST_KEY, rows, INITIAL_BALANCE, false);
    state->total = rows * INITIAL_BALANCE;
    zipf_init(&state->zipf, (uint64_t)rows, state->options.theta);
}

static void report_draw(void *memory, const struct draw *draw, void *values) {
    const struct report_state *state = memory;
    const struct report_options *o = &state->options;
    struct report_arguments *a = values;
    uint64_t pair[2]; /* who pays, who is paid */
    draw_distinct(&state->zipf, draw->stream, pair, 2);
    int amount = (int)(1 + stream_below(draw->stream, AMOUNT_MAX));
    bool payer_first = pair[0] < pair[1];
    a->account[0] = (uint32_t)(pair[!payer_first] + PROGRAM_FIRST_KEY);
    a->account[1] = (uint32_t)(pair[payer_first] + PROGRAM_FIRST_KEY);
    a->gain = (int8_t)(payer_first ? -amount : amount);
    a->rollback = stream_chance(draw->stream, o->rollback);
    bool arrives_as_report = stream_chance(draw->stream, o->report_fraction);
    a->is_report = draw->terminal > 0 ? draw->terminal <= (uint64_t)o->reporters : arrives_as_report;
}

/* The last account of the statement that begins behind the first `read`. */
static int64_t last_of_chunk(const struct report_options *o, int64_t read) {
    return PROGRAM_FIRST_KEY - 1 + (o->rows - read <= o->chunk ? o->rows : read + o->chunk);
}

static void read_on(const struct report_state *state, struct report_registers *r, struct step *step) {
    int64_t last = last_of_chunk(&state->options, r->read);
    *step = (struct step){.kind = STEP_SELECT,
                          .table = state->accounts,
                          .first = PROGRAM_FIRST_KEY + r->read,
                          .last = last,
                          .scan = true};
    r->read = last - PROGRAM_FIRST_KEY + 1;
    step->last_lock = r->read == state->options.rows;
    r->stage = STAGE_READ;
}

static void change_account(const struct report_state *state, const struct report_arguments *a, int which,
                           struct step *step) {
    step_update(step, state->accounts, a->account[which], VALUE_ADD, which == 0 ? a->gain : -a->gain);
    step->last_lock = which == 1;
}

static void report_next(void *memory, const void *values, void *registers, const struct reply *reply,
                        struct step *step) {
    const struct report_state *state = memory;
    const struct report_arguments *a = values;
    struct report_registers *r = registers;
    if (r->stage != STAGE_BEGIN && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN:
        if (a->is_report) {
            read_on(state, r, step);
        } else {
            r->stage = STAGE_SECOND;
            change_account(state, a, 0, step);
        }
        break;
    case STAGE_READ:
        r->sum += reply_sum(reply);
        if (r->read == state->options.rows) {
            step_end(step, a->rollback);
        } else if (!distribution_is_zero(&state->options.pause)) {
            r->stage = STAGE_PAUSE;
            step_think(step, &state->options.pause);
        } else {
            read_on(state, r, step);
        }
        break;
    case STAGE_PAUSE: read_on(state, r, step); break;
    case STAGE_SECOND:
        r->stage = STAGE_END;
        change_account(state, a, 1, step);
        break;
    case STAGE_END: step_end(step, a->rollback); break;
    }
}

static uint64_t report_remaining(const void *memory, const void *values, const void *registers) {
    const struct report_state *state = memory;
    const struct report_arguments *a = values;
    const struct report_registers *r = registers;
    if (a->is_report) {
        return (uint64_t)(state->options.rows - r->read);
    }
    return r->stage == STAGE_BEGIN ? 2 : r->stage == STAGE_SECOND ? 1 : 0;
}

static enum declaration report_declares(const void *memory, const void *values) {
    const struct report_state *state = memory;
    const struct report_arguments *a = values;
    return !a->is_report ? DECLARES_NOTHING : state->options.deferrable ? DECLARES_DEFERRABLE : DECLARES_READ_ONLY;
}

static size_t report_type_count(const void *values) {
    (void)values;
    return TYPE_COUNT;
}

static const char *report_type_name(const void *values, size_t type) {
    (void)values;
    return type == TYPE_REPORT ? "report" : "update";
}

static size_t report_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct report_arguments *)values)->is_report ? TYPE_REPORT : TYPE_UPDATE;
}

static size_t report_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct report_state *state = memory;
    const struct report_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    for (int64_t read = 0, last; a->is_report && read < state->options.rows; read = last - PROGRAM_FIRST_KEY + 1) {
        last = last_of_chunk(&state->options, read);
        footprint_add(
            &plan,
            (struct planned){.table = state->accounts, .key = PROGRAM_FIRST_KEY + read, .last = last, .scan = true});
    }
    for (int i = 0; !a->is_report && i < 2; i++) {
        footprint_add_row(&plan, state->accounts, a->account[i], PLANNED_WRITE);
    }
    return plan.count;
}

static void report_committed(void *memory, const void *values, const void *registers) {
    struct report_state *state = memory;
    const struct report_arguments *a = values;
    const struct report_registers *r = registers;
    if (!a->is_report) {
        return;
    }
    state->reports++;
    if (r->sum != state->total) {
        if (state->wrong_reports == 0) {
            state->wrong_total = r->sum;
        }
        state->wrong_reports++;
    }
}

static void report_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct report_state *state = memory;
    int64_t held = state->accounts->committed_sum;
    audit->verdict = AUDIT_OK;
    audit->level = LEVEL_SI;
    if (held != state->total) {
        audit->verdict = AUDIT_BROKEN;
        audit->level = LEVEL_RC;
        text_add(&audit->message, "the accounts hold %" PRId64 " in all instead of %" PRId64, held, state->total);
    }
    if (state->wrong_reports > 0) {
        audit->verdict = AUDIT_BROKEN;
        text_add(&audit->message,
                 "%s%" PRIu64 " of %" PRIu64 " committed reports saw a wrong total, the first one %" PRId64
                 " instead of %" PRId64,
                 held != state->total ? "; " : "", state->wrong_reports, state->reports, state->wrong_total,
                 state->total);
    }
}

const struct workload_ops workload_report = {
    .name = "report",
    .summary = "short updates beside a long report that adds up all rows",
    .options = &option_table,
    .state_size = sizeof(struct report_state),
    .arguments_size = sizeof(struct report_arguments),
    .registers_size = sizeof(struct report_registers),
    .check = report_check,
    .load = report_load,
    .draw = report_draw,
    .next = report_next,
    .remaining = report_remaining,
    .tells_last_lock = true,
    .declares = report_declares,
    .type_count = report_type_count,
    .type_name = report_type_name,
    .type_of = report_type_of,
    .plan = report_plan,
    .committed = report_committed,
    .audit = report_audit,
};
