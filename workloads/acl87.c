/* acl87.c - the workload of a classic study: transactions that read a few pages and then write some of them.
 *
 * A transaction reads `reads_min` .. `reads_max` different pages, uniform over the database; each page read is written
 * with `write_probability`. All reads come first, then the writes, so a lock taken for reading must be upgraded. With
 * configs/acl87_*.ini (closed terminals, an admission limit, disk and CPU per page, writes to disk after the commit
 * point) this is the model of Agrawal, Carey and Livny, "Concurrency control performance modeling: alternatives and
 * implications", ACM TODS 12(4), 1987.
 *
 *   register `at`                     the next step
 *   below the number of reads         read that page
 *   from there on, at = reads + i     write page i if it is to be written, else look at the next; then commit
 *
 * Differs from the paper: it says nothing of values. Here a write stores what was read plus 1, so that a lost update is
 * seen: pages start at 0, and their sum must be the number of committed writes. */
#include "workloads/program.h"

enum { READS_LIMIT = 64 };

struct acl87_options {
    int64_t rows, reads_min, reads_max;
    double write_probability, rollback;
};

struct acl87_state {
    struct acl87_options options;
    struct table *pages;
    uint64_t increments;
};

/* An access is key << 1 | write. */
struct acl87_arguments {
    uint8_t reads, writes;
    uint8_t writes_end; /* 1 + the index of the last page to be written; 0: none is */
    bool rollback;
    uint32_t accesses[READS_LIMIT];
};

struct acl87_registers {
    uint64_t at;
    int64_t seen[READS_LIMIT];
};

#define FIELD(field) offsetof(struct acl87_options, field)
static const struct option options[] = {
    {"rows", OPTION_COUNT, FIELD(rows), "1000", 1, PROGRAM_ROWS_MAX, NULL, 0, "pages of the database"},
    {"reads_min", OPTION_COUNT, FIELD(reads_min), "4", 1, READS_LIMIT, NULL, 0, "pages a transaction reads, at least"},
    {"reads_max", OPTION_COUNT, FIELD(reads_max), "12", 1, READS_LIMIT, NULL, 0,
     "and at most; uniform between the two"},
    {"write_probability", OPTION_SHARE, FIELD(write_probability), "25%", 0, 0, NULL, 0,
     "with which a page that was read is written, after all reads"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct acl87_options);

static bool acl87_check(const void *values, struct text *error) {
    const struct acl87_options *o = values;
    if (o->reads_min > o->reads_max) {
        text_add(error, "reads_min = %" PRId64 " is more than reads_max = %" PRId64, o->reads_min, o->reads_max);
        return false;
    }
    if (o->reads_max > o->rows) {
        text_add(error, "reads_max = %" PRId64 " is more than rows = %" PRId64 ": a transaction's pages are distinct",
                 o->reads_max, o->rows);
        return false;
    }
    return true;
}

static void acl87_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct acl87_state *state = memory;
    state->options = *(const struct acl87_options *)values;
    state->pages = store_add_table(store, "pages", PROGRAM_FIRST_KEY, state->options.rows, 0, false);
}

static void acl87_draw(void *memory, const struct draw *draw, void *values) {
    const struct acl87_state *state = memory;
    const struct acl87_options *o = &state->options;
    struct acl87_arguments *a = values;
    uint64_t rows[READS_LIMIT];
    uint64_t reads = (uint64_t)o->reads_min + stream_below(draw->stream, (uint64_t)(o->reads_max - o->reads_min + 1));
    stream_distinct(draw->stream, (uint64_t)o->rows, rows, reads);
    a->rollback = stream_chance(draw->stream, o->rollback);
    a->reads = (uint8_t)reads;
    a->writes = a->writes_end = 0;
    for (size_t i = 0; i < reads; i++) {
        bool writes = stream_chance(draw->stream, o->write_probability);
        a->accesses[i] = (uint32_t)(rows[i] + PROGRAM_FIRST_KEY) << 1 | writes;
        if (writes) {
            a->writes++;
            a->writes_end = (uint8_t)(i + 1);
        }
    }
}

static int64_t access_key(uint32_t access) { return access >> 1; }
static bool access_writes(uint32_t access) { return (access & 1) != 0; }

/* Skips the pages that are only read; false if no write is left. */
static bool next_write(const struct acl87_state *state, const struct acl87_arguments *a, struct acl87_registers *r,
                       struct step *step) {
    while (r->at - a->reads < a->writes_end) {
        uint64_t i = r->at++ - a->reads;
        if (access_writes(a->accesses[i])) {
            step_update(step, state->pages, access_key(a->accesses[i]), VALUE_SET, r->seen[i] + 1);
            step->last_lock = i + 1 == a->writes_end;
            return true;
        }
    }
    return false;
}

static void acl87_next(void *memory, const void *values, void *registers, const struct reply *reply,
                       struct step *step) {
    const struct acl87_state *state = memory;
    const struct acl87_arguments *a = values;
    struct acl87_registers *r = registers;
    if (r->at > 0 && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    if (r->at > 0 && r->at <= a->reads) {
        r->seen[r->at - 1] = reply_value(reply);
    }
    if (r->at < a->reads) {
        step_select(step, state->pages, access_key(a->accesses[r->at]), LOCKING_NONE);
        r->at++;
        step->last_lock = r->at == a->reads && a->writes == 0;
    } else if (!next_write(state, a, r, step)) {
        step_end(step, a->rollback);
    }
}

/* Pages not read yet, and those read that are still to be written. */
static uint64_t acl87_remaining(const void *memory, const void *values, const void *registers) {
    (void)memory;
    const struct acl87_arguments *a = values;
    const struct acl87_registers *r = registers;
    uint64_t remaining = 0;
    for (size_t i = 0; i < a->reads; i++) {
        remaining += i >= r->at || (access_writes(a->accesses[i]) && a->reads + i >= r->at);
    }
    return remaining;
}

static size_t acl87_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct acl87_state *state = memory;
    const struct acl87_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    for (size_t i = 0; i < a->reads; i++) {
        bool writes = access_writes(a->accesses[i]);
        footprint_add_row(&plan, state->pages, access_key(a->accesses[i]), writes ? PLANNED_WRITE : PLANNED_READ);
    }
    return plan.count;
}

static void acl87_committed(void *memory, const void *values, const void *registers) {
    (void)registers;
    struct acl87_state *state = memory;
    state->increments += ((const struct acl87_arguments *)values)->writes;
}

static void acl87_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct acl87_state *state = memory;
    audit_increments(audit, state->pages, state->increments, LEVEL_SI);
}

const struct workload_ops workload_acl87 = {
    .name = "acl87",
    .summary = "reads of a few pages, then writes of some of them: the model of Agrawal, Carey and Livny, 1987",
    .options = &option_table,
    .state_size = sizeof(struct acl87_state),
    .arguments_size = sizeof(struct acl87_arguments),
    .registers_size = sizeof(struct acl87_registers),
    .check = acl87_check,
    .load = acl87_load,
    .draw = acl87_draw,
    .next = acl87_next,
    .remaining = acl87_remaining,
    .plan = acl87_plan,
    .tells_last_lock = true,
    .committed = acl87_committed,
    .audit = acl87_audit,
};
