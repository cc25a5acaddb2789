/* ycsb.c - a key-value mix: requests that read, update, scan and insert, to rows that may be wanted unequally. After
 * the
 * Yahoo! Cloud Serving Benchmark (Cooper, Silberstein, Tam, Ramakrishnan, Sears, SoCC 2010), put into transactions of
 * several requests as the studies of in-memory concurrency control do (Yu, Bezerra, Pavlo, Devadas, Stonebraker, VLDB
 * 2014). Unlike the benchmark's own generator, the Zipf draw is exact.
 *
 * A transaction makes `requests` requests. Each is a scan or an insert with the shares given; what is left is a read
 * or an
 * update. All but inserts draw their row (scans: the first of 1 .. scan_length keys) from those loaded, the most
 * wanted having the lowest keys. An insert takes the next number of a sequence, behind the last row, and as
 * with a database's sequence a number that was taken is not given back, whatever becomes of the attempt.
 *
 *   register `stage`   the reply that came          the next step
 *   REQUEST            none yet, or of a request    the next request, or commit (rollback, where that was drawn)
 *                      that is over
 *   SEEN               the row to update, as read   write what was read, plus 1 (update = read_write)
 *
 * Invariants: rows start at 0, inserted ones too, so unless updates are blind the sum is the number of committed
 * updates;
 * a one-statement increment is safe where nothing uncommitted is overwritten (RC), writing what was read before needs
 * that nobody wrote in between (SI). The rows are as many as were loaded and inserted. */
#include "workloads/program.h"

enum { REQUESTS_MAX = 256, SCAN_LENGTH_MAX = 10000 };
_Static_assert((int)REQUESTS_MAX <= (int)ZIPF_DISTINCT_MAX, "a transaction's rows are drawn at once");

enum update { UPDATE_INCREMENT, UPDATE_READ_WRITE, UPDATE_BLIND };
enum order { ORDER_RANDOM, ORDER_BY_KEY };

struct ycsb_options {
    int64_t rows, requests;
    double read_fraction;
    int update;
    double scan_fraction;
    int64_t scan_length;
    double insert_fraction, theta;
    bool distinct;
    int order;
    double rollback;
};

/* A request is key << 2 | kind: packed requests sort by key, and inserts, whose key is not known yet, come last. Behind a
 * transaction's last one stands 0, the key of no row. */
enum kind { KIND_READ, KIND_UPDATE, KIND_SCAN, KIND_INSERT };
enum { NO_REQUEST = 0, KIND_BITS = 2, KIND_MASK = (1 << KIND_BITS) - 1 };
#define INSERT_REQUEST UINT32_MAX
_Static_assert((INSERT_REQUEST & KIND_MASK) == KIND_INSERT, "all bits set are an insert behind every key");

/* What a draw must be below to make a scan, an insert if it makes no scan, and another one a read of the rest. */
struct kind_limits {
    uint64_t scan, insert, read;
};

struct ycsb_state {
    struct table *usertable;
    enum kind last_plain;      /* requests of the kinds up to this one are read_or_increment */
    int64_t next_key;          /* the sequence of the inserts */
    uint64_t updates, inserts; /* committed */
    struct kind_limits limits;
    struct ycsb_options options;
    struct zipf zipf; /* ranks of the loaded rows */
};

struct ycsb_arguments {
    uint16_t updates, inserts; /* that a commit makes */
    bool rollback;
    int64_t blind_value;
    uint32_t requests[REQUESTS_MAX + 1];
    uint16_t lengths[REQUESTS_MAX]; /* of scans; the others have none */
};

enum stage { STAGE_REQUEST, STAGE_SEEN };

struct ycsb_registers {
    int64_t seen;     /* the value of the row to be updated */
    uint32_t request; /* the number of the request at hand */
    uint32_t stage;
};

static const char *const update_names[] = {"increment", "read_write", "blind", NULL};
static const char *const order_names[] = {"random", "by_key", NULL};

#define FIELD(field) offsetof(struct ycsb_options, field)
static const struct option options[] = {
    {"rows", OPTION_COUNT, FIELD(rows), "100000", 1, PROGRAM_ROWS_MAX, NULL, 0, "rows at the start"},
    {"requests", OPTION_COUNT, FIELD(requests), "16", 1, REQUESTS_MAX, NULL, 0, "requests of a transaction"},
    {"read_fraction", OPTION_SHARE, FIELD(read_fraction), "50%", 0, 0, NULL, 0,
     "share of reads among the requests that neither scan nor insert; the others update"},
    {"update", OPTION_CHOICE, FIELD(update), "increment", 0, 0, update_names, 0,
     "how a row is updated: read and written in one statement; read, then written by a second one (locks are upgraded); or "
     "overwritten unread"},
    {"scan_fraction", OPTION_SHARE, FIELD(scan_fraction), "0", 0, 0, NULL, 0,
     "share of the requests that read a range"},
    {"scan_length", OPTION_COUNT, FIELD(scan_length), "100", 1, SCAN_LENGTH_MAX, NULL, 0,
     "keys of the longest scan; each spans 1 to so many, uniformly"},
    {"insert_fraction", OPTION_SHARE, FIELD(insert_fraction), "0", 0, 0, NULL, 0,
     "share of the requests that insert a row behind the last one; only scans read it again"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0, "Zipf skew of the rows; 0: uniform"},
    {"distinct", OPTION_BOOL, FIELD(distinct), "yes", 0, 0, NULL, 0,
     "no row is drawn twice in a transaction (scans: no range begins where another request is)"},
    {"order", OPTION_CHOICE, FIELD(order), "random", 0, 0, order_names, 0,
     "order of a transaction's requests: random, or by key, inserts last"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the transactions that roll back at their end by their own wish instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct ycsb_options);

static bool ycsb_check(const void *values, struct text *error) {
    const struct ycsb_options *o = values;
    if (o->distinct && o->requests > o->rows) {
        text_add(error, "requests = %" PRId64 " is more than rows = %" PRId64 ", but distinct = yes", o->requests,
                 o->rows);
        return false;
    }
    if (o->scan_fraction + o->insert_fraction > 1) {
        text_add(error, "scan_fraction and insert_fraction are more than 100%% together");
        return false;
    }
    return true;
}

static void ycsb_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct ycsb_state *state = memory;
    state->options = *(const struct ycsb_options *)values;
    int64_t rows = state->options.rows;
    state->usertable = store_add_table(store, "usertable", PROGRAM_FIRST_KEY, rows, 0, false);
    state->next_key = PROGRAM_FIRST_KEY + rows;
    zipf_init(&state->zipf, (uint64_t)rows, state->options.theta);
    const struct ycsb_options *o = &state->options;
    state->last_plain = o->update == UPDATE_INCREMENT ? KIND_UPDATE : KIND_READ;
    state->limits = (struct kind_limits){.scan = chance_limit(o->scan_fraction),
                                         .insert = chance_limit(o->scan_fraction + o->insert_fraction),
                                         .read = chance_limit(o->read_fraction)};
}

/* ---- Drawing ---- */

static void draw_ranks(const struct ycsb_state *state, struct stream *stream, uint64_t *ranks, size_t count) {
    if (!state->options.distinct) {
        for (size_t i = 0; i < count; i++) {
            ranks[i] = zipf_draw(&state->zipf, stream);
        }
    } else {
        draw_distinct(&state->zipf, stream, ranks, count);
    }
}

/* A scan or an insert. */
static enum kind special_kind(const struct kind_limits *limits, uint64_t special) {
    return special < limits->scan ? KIND_SCAN : KIND_INSERT;
}

static void sort_requests(uint32_t *requests, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint32_t request = requests[i];
        size_t j = i;
        for (; j > 0 && requests[j - 1] > request; j--) {
            requests[j] = requests[j - 1];
        }
        requests[j] = request;
    }
}

static enum kind request_kind(uint32_t request) { return (enum kind)(request & KIND_MASK); }
static int64_t request_key(uint32_t request) { return request >> KIND_BITS; }

/* Two draws for each whatever the shares are. */
static void draw_requests(const struct ycsb_state *state, struct stream *stream, struct ycsb_arguments *a) {
    const struct ycsb_options *o = &state->options;
    const struct table *usertable = state->usertable;
    const struct kind_limits limits = state->limits;
    size_t count = (size_t)o->requests;
    uint64_t ranks[REQUESTS_MAX];
    draw_ranks(state, stream, ranks, count);
    a->rollback = stream_chance(stream, o->rollback);
    struct stream local = *stream; /* stays in registers */
    uint32_t updates = 0, inserts = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t special = stream_whole(&local);
        bool updating = stream_whole(&local) >= limits.read;
        enum kind kind = updating ? KIND_UPDATE : KIND_READ;
        if (__builtin_expect(special < limits.insert, 0)) {
            kind = special_kind(&limits, special);
            updating = false;
        }
        store_expect_dense(usertable, ranks[i]);
        uint32_t request = (uint32_t)(ranks[i] + PROGRAM_FIRST_KEY) << KIND_BITS | kind;
        a->requests[i] = kind == KIND_INSERT ? INSERT_REQUEST : request;
        updates += updating;
        inserts += kind == KIND_INSERT;
    }
    *stream = local;
    a->requests[count] = NO_REQUEST;
    a->updates = (uint16_t)updates;
    a->inserts = (uint16_t)inserts;
}

/* Rows first, then what the shares decide, last the lengths, which only scans draw. */
static void ycsb_draw(void *memory, const struct draw *draw, void *values) {
    const struct ycsb_state *state = memory;
    const struct ycsb_options *o = &state->options;
    struct ycsb_arguments *a = values;
    size_t count = (size_t)o->requests;
    draw_requests(state, draw->stream, a);
    a->blind_value = (int64_t)draw->number;
    if (o->order == ORDER_BY_KEY) {
        sort_requests(a->requests, count);
    }
    for (size_t i = 0; o->scan_fraction > 0 && i < count; i++) {
        if (request_kind(a->requests[i]) == KIND_SCAN) {
            a->lengths[i] = (uint16_t)(1 + stream_below(draw->stream, (uint64_t)o->scan_length));
        }
    }
}

/* ---- Running ---- */

/* The request is over with this statement; the last one takes the last lock. */
static inline void finish_request(const struct table *usertable, const struct ycsb_arguments *a,
                                  struct ycsb_registers *r, struct step *step) {
    uint32_t next = a->requests[++r->request];
    step->last_lock = next == NO_REQUEST;
    store_expect_next(usertable, request_key(next)); /* of no row, or an insert: no hint */
}

static void begin_range_or_insert(struct ycsb_state *state, const struct ycsb_arguments *a, struct ycsb_registers *r,
                                  struct step *step) {
    int64_t key = request_key(a->requests[r->request]);
    if (request_kind(a->requests[r->request]) == KIND_SCAN) {
        step_select(step, state->usertable, key, LOCKING_NONE);
        step->scan = true;
        step->last = key + a->lengths[r->request] - 1;
    } else {
        step_update(step, state->usertable, state->next_key++, VALUE_SET, 0);
        step->kind = STEP_INSERT;
    }
    finish_request(state->usertable, a, r, step);
}

/* An update of two statements, or one that overwrites. */
static void next_of_update(const struct ycsb_state *state, const struct ycsb_arguments *a, struct ycsb_registers *r,
                           const struct reply *reply, struct step *step) {
    int64_t key = request_key(a->requests[r->request]);
    if (r->stage == STAGE_SEEN) {
        r->seen = reply_value(reply);
        r->stage = STAGE_REQUEST;
        step_update(step, state->usertable, key, VALUE_SET, r->seen + 1);
        finish_request(state->usertable, a, r, step);
    } else if (state->options.update == UPDATE_BLIND) {
        step_update(step, state->usertable, key, VALUE_SET, a->blind_value);
        finish_request(state->usertable, a, r, step);
    } else {
        step_select(step, state->usertable, key, LOCKING_NONE);
        r->stage = STAGE_SEEN;
    }
}

/* The usual request first. */
static void ycsb_next(void *memory, const void *values, void *registers, const struct reply *reply, struct step *step) {
    struct ycsb_state *state = memory;
    const struct ycsb_arguments *a = values;
    struct ycsb_registers *r = registers;
    struct table *usertable = state->usertable;
    uint32_t request = a->requests[r->request];
    enum kind kind = request_kind(request);
    if (__builtin_expect(reply->status == REPLY_ERROR, 0)) {
        step_end(step, true);
    } else if (__builtin_expect(request == NO_REQUEST, 0)) {
        step_end(step, a->rollback);
    } else if (__builtin_expect(kind <= state->last_plain, 1)) {
        step_read_or_increment(step, usertable, request_key(request), kind == KIND_UPDATE);
        finish_request(usertable, a, r, step);
    } else if (kind == KIND_UPDATE) {
        next_of_update(state, a, r, reply, step);
    } else {
        begin_range_or_insert(state, a, r, step);
    }
}

/* A row counts until it is written, a scan for all the keys it spans. */
static uint64_t ycsb_remaining(const void *memory, const void *values, const void *registers) {
    const struct ycsb_state *state = memory;
    const struct ycsb_arguments *a = values;
    const struct ycsb_registers *r = registers;
    uint64_t rows = 0;
    for (int64_t i = r->request; i < state->options.requests; i++) {
        rows += request_kind(a->requests[i]) == KIND_SCAN ? a->lengths[i] : 1;
    }
    return rows;
}

static bool ycsb_plans(const void *values) { return ((const struct ycsb_options *)values)->insert_fraction == 0; }

/* The number that an insert will take is not known before it is taken. */
static size_t ycsb_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct ycsb_state *state = memory;
    const struct ycsb_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    for (int64_t i = 0; i < state->options.requests; i++) {
        struct planned item = {.table = state->usertable, .key = request_key(a->requests[i])};
        item.last = item.key;
        switch (request_kind(a->requests[i])) {
        case KIND_READ: break;
        case KIND_UPDATE: item.use = PLANNED_WRITE; break;
        case KIND_SCAN:
            item.scan = true;
            item.last += a->lengths[i] - 1;
            break;
        case KIND_INSERT: return PLAN_UNKNOWN;
        }
        footprint_add(&plan, item);
    }
    return plan.count;
}

static void ycsb_committed(void *memory, const void *values, const void *registers) {
    (void)registers;
    struct ycsb_state *state = memory;
    const struct ycsb_arguments *a = values;
    state->updates += a->updates;
    state->inserts += a->inserts;
}

static void ycsb_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct ycsb_state *state = memory;
    const struct ycsb_options *o = &state->options;
    audit->verdict = AUDIT_OK;
    audit->level = LEVEL_RC;
    if (o->update != UPDATE_BLIND) {
        audit_increments(audit, state->usertable, state->updates, o->update == UPDATE_INCREMENT ? LEVEL_RC : LEVEL_SI);
    }
    int64_t expected = o->rows + (int64_t)state->inserts, rows = state->usertable->committed_rows;
    if (rows != expected) {
        audit->verdict = AUDIT_BROKEN;
        audit->level = LEVEL_RC;
        text_add(&audit->message, "%susertable has %" PRId64 " rows instead of %" PRId64,
                 audit->message.length > 0 ? "; " : "", rows, expected);
    }
}

const struct workload_ops workload_ycsb = {
    .name = "ycsb",
    .summary = "requests that read, update, scan and insert, to rows that may be wanted unequally",
    .options = &option_table,
    .state_size = sizeof(struct ycsb_state),
    .arguments_size = sizeof(struct ycsb_arguments),
    .registers_size = sizeof(struct ycsb_registers),
    .check = ycsb_check,
    .load = ycsb_load,
    .draw = ycsb_draw,
    .next = ycsb_next,
    .remaining = ycsb_remaining,
    .plan = ycsb_plan,
    .plans = ycsb_plans,
    .tells_last_lock = true,
    .committed = ycsb_committed,
    .audit = ycsb_audit,
};
