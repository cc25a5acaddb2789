/* job_queue.c - a queue of jobs in a table: producers insert, workers take the first job that waits and remove it when
 * it is done.
 *
 * The id of a job is the next number of a sequence, so the first by id is the oldest. Its value is 0 while it waits and
 * the token of who claimed it afterwards, a number that no other claim ever has. There are five ways to claim:
 *
 *   for_update        SELECT the first that waits FOR UPDATE; all others queue for the same row
 *   skip_locked       the same with SKIP LOCKED: the first that nobody else holds
 *   nowait            the same with NOWAIT: fails if somebody holds it; the worker rolls back and tries again later
 *   update_returning  UPDATE the first that waits, in one statement that says which it was
 *   optimistic        read the first that waits, then UPDATE it if it still does; else roll back and try again later
 *
 * and two places for the work. Inside the claiming transaction: it holds the row all the while, and who crashes is rolled
 * back by the database, so the job waits again. Outside: the claim commits at once, with the token in the row, and a
 * second transaction removes the job if it still carries the token. Here a crash leaves a job that looks claimed for
 * ever. So claims are leases: one terminal goes round and gives back what is claimed as it was at its last round. It cannot
 * tell the dead from the slow: who takes longer than the lease finds his job taken away, and the work is done twice.
 *
 *   work        claim, work, remove: commit; roll back if there was none, if it was lost to another, or in a crash
 *   claim       claim, mark with the token: commit; then the work, or the crash
 *   finish      remove if the token is there: commit
 *   post        insert: commit
 *   give_back   0 for all that are marked as seen; mark as seen all that are claimed: commit
 *
 *   stage       the reply that came        the next step
 *   BEGIN       none                       the claim; finish: remove; post: insert; give_back: the first of two updates
 *   FOUND       what an optimistic read    update it if it still waits
 *   TAKEN       of the claim               work: its time; claim: mark it, or commit if it is marked
 *   MARKED      of the mark                commit
 *   WORKED      of the work                remove, or roll back in a crash
 *   REMOVED     of the removal             post another job, where there are no producers; else commit
 *   SEEN        of what was given back     mark as seen
 *   END         of the last statement      commit
 *
 * Invariant: every job is done exactly once: those that left the queue were done, and nobody worked on one that another
 * had done. Claims that are locked, or tested as they are written, give that from RC on; nothing protects the job of a
 * worker whose lease ended. */
#include "sim/base/memory.h"
#include "workloads/program.h"

enum claim { CLAIM_FOR_UPDATE, CLAIM_SKIP_LOCKED, CLAIM_NOWAIT, CLAIM_UPDATE_RETURNING, CLAIM_OPTIMISTIC };
enum work { WORK_INSIDE, WORK_OUTSIDE };

struct job_queue_options {
    int64_t jobs, producers;
    int claim, work;
    struct distribution work_time, lease, post_every, poll, retry_delay;
    double crash, post_fraction;
};

/* What a worker's process knows between two transactions. */
struct worker {
    int64_t job; /* claimed, and worked on since; 0: none */
    int64_t token;
};

struct job_queue_state {
    struct job_queue_options options;
    struct store *store;
    struct table *jobs;
    int64_t first_left;            /* of the jobs there were at the start: those before it are gone */
    VECTOR(struct worker) workers; /* by terminal */
    int64_t next_id;
    uint64_t posted, done;
    uint64_t repeated;   /* jobs that were worked on and found to be done, or given back, by another */
    uint64_t taken_away; /* given back while their worker was alive */
};

/* In the order of type_names. */
enum kind { KIND_WORK, KIND_POST, KIND_CLAIM, KIND_FINISH, KIND_GIVE_BACK, KIND_COUNT };

struct job_queue_arguments {
    int64_t token; /* of a claim, or the one that a finish must find */
    int64_t job;   /* of a finish */
    uint32_t terminal;
    uint8_t kind;
    bool crash;
    bool refill; /* who removes a job posts another */
};

enum stage { STAGE_BEGIN, STAGE_FOUND, STAGE_TAKEN, STAGE_MARKED, STAGE_WORKED, STAGE_REMOVED, STAGE_SEEN, STAGE_END };

struct job_queue_registers {
    int64_t job;
    int64_t count; /* of jobs that the transaction removed, or gave back while their worker was alive */
    int32_t stage;
    bool empty; /* it found no job */
};

/* Tokens are odd if their worker is going to crash: for the books alone, which so know what was given back without need.
 * A claim that was seen by give_back is less by SEEN. */
#define SEEN (INT64_C(1) << 62)
enum { TERMINAL_BITS = 20 };

static const char *const claim_names[] = {"for_update",       "skip_locked", "nowait",
                                          "update_returning", "optimistic",  NULL};
static const char *const work_names[] = {"inside", "outside", NULL};

#define PAUSE_MIN_S  1e-7
#define PAUSE_MAX_S  1e6
#define FIELD(field) offsetof(struct job_queue_options, field)
static const struct option options[] = {
    {"jobs", OPTION_COUNT, FIELD(jobs), "1000", 0, 1e6, NULL, 0, "jobs that wait at the start"},
    {"claim", OPTION_CHOICE, FIELD(claim), "for_update", 0, 0, claim_names, 0,
     "how the first job that waits is taken: locked, waiting for it; the first that is not locked; locked, failing if another "
     "has it; updated in one statement; or read, then updated if it still waits"},
    {"work", OPTION_CHOICE, FIELD(work), "inside", 0, 0, work_names, 0,
     "where the work is done: in the transaction that claimed the job, or (in a closed system) after it, with no "
     "transaction open"},
    {"work_time", OPTION_DISTRIBUTION, FIELD(work_time), "10ms", 0, 0, NULL, 0,
     "the work on a job: no CPU of the server"},
    {"crash", OPTION_SHARE, FIELD(crash), "0", 0, 0, NULL, 0,
     "share of the claims whose worker crashes at the end of its work"},
    {"lease", OPTION_DISTRIBUTION, FIELD(lease), "0", 0, 0, NULL, 0,
     "with work = outside: one terminal goes round this often and gives back what was claimed a round ago and is "
     "not done; 0: nobody does"},
    {"producers", OPTION_COUNT, FIELD(producers), "0", 0, 1e6, NULL, 0,
     "in a closed system: so many terminals, the first ones, post jobs; 0: who removes a job posts another with it, "
     "so that the queue never runs dry"},
    {"post_every", OPTION_DISTRIBUTION, FIELD(post_every), "10ms", PAUSE_MIN_S, PAUSE_MAX_S, NULL, 0,
     "how long a producer takes from one job to the next"},
    {"post_fraction", OPTION_SHARE, FIELD(post_fraction), "50%", 0, 0, NULL, 0,
     "in an open system: share of the transactions that post a job; the others work, inside"},
    {"poll", OPTION_DISTRIBUTION, FIELD(poll), "exp(10ms)", PAUSE_MIN_S, PAUSE_MAX_S, NULL, 0,
     "how long a worker that found no job takes to look again"},
    {"retry_delay", OPTION_DISTRIBUTION, FIELD(retry_delay), "exp(1ms)", PAUSE_MIN_S, PAUSE_MAX_S, NULL, 0,
     "how long a worker whose claim failed, or was lost to another, takes to try again"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct job_queue_options);

static bool job_queue_check(const void *values, struct text *error) {
    const struct job_queue_options *o = values;
    bool leases = !distribution_is_zero(&o->lease);
    if (o->work == WORK_INSIDE && leases) {
        text_add(error, "lease has no place with work = inside: who crashes there is rolled back");
        return false;
    }
    if (o->work == WORK_OUTSIDE && o->crash > 0 && !leases) {
        text_add(error, "crash with work = outside needs a lease: else nobody gives back what was claimed");
        return false;
    }
    return true;
}

static void job_queue_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct job_queue_state *state = memory;
    state->options = *(const struct job_queue_options *)values;
    state->jobs = store_add_table(store, "jobs", PROGRAM_FIRST_KEY, state->options.jobs, 0, false);
    state->store = store;
    state->first_left = PROGRAM_FIRST_KEY;
    state->next_id = PROGRAM_FIRST_KEY + state->options.jobs;
}

static void job_queue_unload(void *memory) {
    struct job_queue_state *state = memory;
    vector_free(&state->workers);
}

/* ---- Who does what ---- */

static struct worker *worker_of(struct job_queue_state *state, uint64_t terminal) {
    while (state->workers.count <= terminal) {
        vector_push(&state->workers, (struct worker){0});
    }
    return &state->workers.items[terminal];
}

static enum kind kind_of_terminal(const struct job_queue_options *o, uint64_t terminal, const struct worker *worker) {
    uint64_t producers = (uint64_t)o->producers;
    if (terminal <= producers) {
        return KIND_POST;
    }
    if (o->work == WORK_INSIDE) {
        return KIND_WORK;
    }
    if (terminal == producers + 1 && !distribution_is_zero(&o->lease)) {
        return KIND_GIVE_BACK;
    }
    return worker->job != 0 ? KIND_FINISH : KIND_CLAIM;
}

static void job_queue_draw(void *memory, const struct draw *draw, void *values) {
    struct job_queue_state *state = memory;
    const struct job_queue_options *o = &state->options;
    struct job_queue_arguments *a = values;
    bool arrives_to_post = stream_chance(draw->stream, o->post_fraction);
    bool crash = stream_chance(draw->stream, o->crash);
    const struct worker *worker = worker_of(state, draw->terminal);
    enum kind kind = draw->terminal > 0 ? kind_of_terminal(o, draw->terminal, worker)
                     : arrives_to_post  ? KIND_POST
                                        : KIND_WORK;
    CHECK(draw->terminal < UINT64_C(1) << TERMINAL_BITS);
    a->terminal = (uint32_t)draw->terminal;
    a->kind = (uint8_t)kind;
    a->crash = crash && (kind == KIND_WORK || kind == KIND_CLAIM);
    a->refill = draw->terminal > 0 && o->producers == 0;
    a->job = kind == KIND_FINISH ? worker->job : 0;
    a->token = kind == KIND_FINISH ? worker->token
                                   : (int64_t)((draw->number << TERMINAL_BITS | draw->terminal) << 1 | a->crash);
}

/* ---- Their statements ---- */

static const struct condition waits = {.operator= CONDITION_EQ, .constant = 0};

/* The first id that is in the table, for whomever: there a scan in the order of ids begins, as the index does. */
static int64_t find_head(struct job_queue_state *state) {
    int64_t head, behind = PROGRAM_FIRST_KEY + state->options.jobs;
    store_next(state->store, state->jobs, state->first_left, NULL, &head);
    state->first_left = head < behind ? head : behind; /* a job that is yet to come may stand before others */
    return head != INT64_MAX ? head : state->first_left;
}

static void step_all(struct step *step, struct job_queue_state *state, enum step_kind kind,
                     struct condition condition) {
    *step = (struct step){.kind = kind,
                          .table = state->jobs,
                          .first = find_head(state),
                          .last = INT64_MAX,
                          .scan = true,
                          .condition = condition};
}

/* The first job that waits. */
static void claim_first(struct job_queue_state *state, const struct job_queue_arguments *a,
                        struct job_queue_registers *r, struct step *step) {
    static const enum step_patience patiences[] = {[CLAIM_FOR_UPDATE] = PATIENCE_BLOCK,
                                                   [CLAIM_SKIP_LOCKED] = PATIENCE_SKIP_LOCKED,
                                                   [CLAIM_NOWAIT] = PATIENCE_NOWAIT,
                                                   [CLAIM_UPDATE_RETURNING] = PATIENCE_BLOCK,
                                                   [CLAIM_OPTIMISTIC] = PATIENCE_BLOCK};
    enum claim claim = (enum claim)state->options.claim;
    step_all(step, state, claim == CLAIM_UPDATE_RETURNING ? STEP_UPDATE : STEP_SELECT, waits);
    step->limit = 1;
    step->patience = patiences[claim];
    r->stage = claim == CLAIM_OPTIMISTIC ? STAGE_FOUND : STAGE_TAKEN;
    if (claim == CLAIM_UPDATE_RETURNING) {
        step->operand = a->token;
        step->last_lock = a->kind == KIND_CLAIM;
    } else if (claim != CLAIM_OPTIMISTIC) {
        step->locking = LOCKING_UPDATE;
    }
}

static void mark(const struct job_queue_state *state, const struct job_queue_arguments *a,
                 const struct job_queue_registers *r, struct step *step) {
    step_update(step, state->jobs, r->job, VALUE_SET, a->token);
    step->last_lock = a->kind == KIND_CLAIM;
}

static void remove_job(const struct job_queue_state *state, const struct job_queue_arguments *a,
                       struct job_queue_registers *r, struct step *step) {
    r->stage = STAGE_REMOVED;
    *step = (struct step){
        .kind = STEP_DELETE, .table = state->jobs, .first = r->job, .last = r->job, .last_lock = !a->refill};
    if (a->kind == KIND_FINISH) { /* seen or not */
        step->condition = (struct condition){.operator= CONDITION_EQ, .modulus = SEEN, .constant = a->token};
    }
}

static void post(struct job_queue_state *state, struct job_queue_registers *r, struct step *step) {
    r->stage = STAGE_END;
    step_update(step, state->jobs, state->next_id++, VALUE_SET, 0);
    step->kind = STEP_INSERT;
    step->last_lock = true;
}

static void give_back(struct job_queue_state *state, struct job_queue_registers *r, struct step *step) {
    r->stage = STAGE_SEEN;
    step_all(step, state, STEP_UPDATE, (struct condition){.operator= CONDITION_LT, .constant = 0});
}

static void mark_as_seen(struct job_queue_state *state, struct job_queue_registers *r, struct step *step) {
    r->stage = STAGE_END;
    step_all(step, state, STEP_UPDATE, (struct condition){.operator= CONDITION_GT, .constant = 0});
    step->value = VALUE_ADD;
    step->operand = -SEEN;
    step->last_lock = true;
}

/* ---- The program ---- */

static void begin(struct job_queue_state *state, const struct job_queue_arguments *a, struct job_queue_registers *r,
                  struct step *step) {
    switch ((enum kind)a->kind) {
    case KIND_WORK:
    case KIND_CLAIM: claim_first(state, a, r, step); break;
    case KIND_FINISH:
        r->job = a->job;
        remove_job(state, a, r, step);
        break;
    case KIND_POST: post(state, r, step); break;
    case KIND_GIVE_BACK: give_back(state, r, step); break;
    case KIND_COUNT: CHECK_MSG(false, "no kind of transaction");
    }
}

/* The job is this worker's. */
static void taken(const struct job_queue_state *state, const struct job_queue_arguments *a,
                  struct job_queue_registers *r, struct step *step) {
    bool is_marked = state->options.claim == CLAIM_UPDATE_RETURNING || state->options.claim == CLAIM_OPTIMISTIC;
    if (a->kind == KIND_WORK) {
        r->stage = STAGE_WORKED;
        step_think(step, &state->options.work_time);
    } else if (is_marked) {
        step_end(step, false);
    } else {
        r->stage = STAGE_MARKED;
        mark(state, a, r, step);
    }
}

/* Of those it gave back, the jobs whose worker was alive. */
static int64_t count_alive(const struct reply *reply) {
    int64_t alive = 0;
    for (int64_t i = 0; i < reply->count; i++) {
        alive += (reply->rows[i].value & 1) == 0;
    }
    return alive;
}

static void job_queue_next(void *memory, const void *values, void *registers, const struct reply *reply,
                           struct step *step) {
    struct job_queue_state *state = memory;
    const struct job_queue_arguments *a = values;
    struct job_queue_registers *r = registers;
    if (r->stage != STAGE_BEGIN && reply->status == REPLY_ERROR) {
        step_end(step, true);
        return;
    }
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN: begin(state, a, r, step); break;
    case STAGE_FOUND:
        if (reply->count == 0) {
            r->empty = true;
            step_end(step, true);
            break;
        }
        r->job = reply->rows[0].key;
        r->stage = STAGE_TAKEN;
        mark(state, a, r, step);
        step->condition = waits;
        break;
    case STAGE_TAKEN:
        if (reply->count == 0) { /* the optimistic claim came too late, the others found nothing */
            r->empty = r->job == 0;
            step_end(step, true);
            break;
        }
        r->job = reply->rows[0].key;
        taken(state, a, r, step);
        break;
    case STAGE_MARKED: step_end(step, reply->count == 0); break;
    case STAGE_WORKED:
        if (a->crash) {
            step_end(step, true);
        } else {
            remove_job(state, a, r, step);
        }
        break;
    case STAGE_REMOVED:
        r->count = reply->count;
        if (a->refill && r->count > 0) {
            post(state, r, step);
        } else {
            step_end(step, false);
        }
        break;
    case STAGE_SEEN:
        r->count = count_alive(reply);
        mark_as_seen(state, r, step);
        break;
    case STAGE_END: step_end(step, false); break;
    }
}

/* A job counts until it is removed, or marked for good; the rounds of give_back count all that are there. */
static uint64_t job_queue_remaining(const void *memory, const void *values, const void *registers) {
    const struct job_queue_state *state = memory;
    const struct job_queue_arguments *a = values;
    const struct job_queue_registers *r = registers;
    bool begins = r->stage == STAGE_BEGIN;
    switch ((enum kind)a->kind) {
    case KIND_WORK:
    case KIND_FINISH: return r->stage == STAGE_END ? 0 : r->stage == STAGE_REMOVED ? a->refill : 1U + a->refill;
    case KIND_CLAIM: return begins || r->stage == STAGE_FOUND || r->stage == STAGE_TAKEN;
    case KIND_POST: return begins;
    case KIND_GIVE_BACK:
        return begins                   ? 2 * (uint64_t)state->jobs->committed_rows
               : r->stage == STAGE_SEEN ? (uint64_t)state->jobs->committed_rows
                                        : 0;
    case KIND_COUNT: break;
    }
    return 0;
}

/* ---- Types ---- */

static const char *const type_names[KIND_COUNT] = {"work", "post", "claim", "finish", "give_back"};

static size_t job_queue_type_count(const void *values) {
    return ((const struct job_queue_options *)values)->work == WORK_INSIDE ? KIND_POST + 1 : KIND_COUNT;
}

static const char *job_queue_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t job_queue_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct job_queue_arguments *)values)->kind;
}

/* ---- The books ---- */

static void job_queue_committed(void *memory, const void *values, const void *registers) {
    struct job_queue_state *state = memory;
    const struct job_queue_arguments *a = values;
    const struct job_queue_registers *r = registers;
    if (a->kind == KIND_WORK || a->kind == KIND_FINISH) {
        state->done += r->count > 0;
        state->repeated += r->count == 0;
        state->posted += a->refill && r->count > 0;
    }
    state->posted += a->kind == KIND_POST;
    state->taken_away += a->kind == KIND_GIVE_BACK ? (uint64_t)r->count : 0;
}

/* A worker that crashes leaves no memory of what it claimed; the next one begins anew. */
static const struct distribution *end_claim(struct job_queue_state *state, const struct job_queue_arguments *a,
                                            const struct job_queue_registers *r) {
    *worker_of(state, a->terminal) = (struct worker){.job = a->crash ? 0 : r->job, .token = a->token};
    return &state->options.work_time;
}

static const struct distribution *job_queue_ended(void *memory, const void *values, const void *registers,
                                                  bool committed) {
    struct job_queue_state *state = memory;
    const struct job_queue_arguments *a = values;
    const struct job_queue_registers *r = registers;
    if (a->kind == KIND_POST) {
        return &state->options.post_every;
    }
    if (a->kind == KIND_GIVE_BACK) {
        return &state->options.lease;
    }
    if (a->kind == KIND_CLAIM && committed) {
        return end_claim(state, a, r);
    }
    if (a->kind == KIND_FINISH && committed) {
        worker_of(state, a->terminal)->job = 0;
    }
    if (committed || r->stage == STAGE_WORKED) { /* done, or crashed */
        return NULL;
    }
    return r->empty ? &state->options.poll : &state->options.retry_delay;
}

static void job_queue_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct job_queue_state *state = memory;
    int64_t removed = state->options.jobs + (int64_t)state->posted - state->jobs->committed_rows;
    audit->verdict = AUDIT_OK;
    audit->level = LEVEL_RC;
    if (removed != (int64_t)state->done) {
        audit->verdict = AUDIT_BROKEN;
        text_add(&audit->message, "%" PRId64 " jobs left the queue, but %" PRIu64 " were done", removed, state->done);
    }
    if (state->repeated > 0) {
        bool by_lease = audit->verdict == AUDIT_OK && state->repeated <= state->taken_away;
        audit->verdict = AUDIT_BROKEN;
        audit->level = by_lease ? LEVEL_COUNT : LEVEL_RC; /* no level keeps a lease from ending */
        text_add(&audit->message, "%s%" PRIu64 " jobs were worked on twice%s", audit->message.length > 0 ? "; " : "",
                 state->repeated, by_lease ? ": their lease ended before their work did" : "");
    }
}

const struct workload_ops workload_job_queue = {
    .name = "job_queue",
    .summary = "a queue of jobs in a table: some insert, some take the first, work and remove it",
    .options = &option_table,
    .state_size = sizeof(struct job_queue_state),
    .arguments_size = sizeof(struct job_queue_arguments),
    .registers_size = sizeof(struct job_queue_registers),
    .check = job_queue_check,
    .load = job_queue_load,
    .draw = job_queue_draw,
    .next = job_queue_next,
    .remaining = job_queue_remaining,
    .type_count = job_queue_type_count,
    .type_name = job_queue_type_name,
    .type_of = job_queue_type_of,
    .tells_last_lock = true,
    .committed = job_queue_committed,
    .ended = job_queue_ended,
    .audit = job_queue_audit,
    .unload = job_queue_unload,
};
