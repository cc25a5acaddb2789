/* edit_form.c - people who edit documents: read one, change it for minutes, save it. What becomes of the edit that somebody
 * else saved meanwhile?
 *
 * A database protects what happens within a transaction, but nobody wants one to stay open while a user thinks. So a web
 * application reads in one transaction and saves in another (transaction = each), and no isolation level sees that they belong
 * together. Four ways to live with that:
 *
 *   none      save, whatever is there now: the last one wins
 *   version   save if the version is the one that was read; else the user is told, reads again and edits again
 *   compare   the same with the content instead of a version: a change that was taken back passes unnoticed (ABA)
 *   lock      read FOR UPDATE and keep the transaction open until the end: the others wait for minutes
 *
 * transaction = whole has one transaction for all of it, the user's time included, as lock has anyway.
 *
 * A document's value is its version x `contents` + its content. An edit changes the content to a different one and the version
 * that was read to the next one; so a document's version is the number of edits that it shows.
 *
 *   kind   what it does                        when
 *   edit   read, the user's time, save         transaction = whole, protection = lock, open systems
 *   read   read; then the user's time          transaction = each
 *   save   save                                the terminal's next transaction
 *
 *   stage    the reply that came    the next step
 *   BEGIN    none                   edit, read: read; save: save
 *   READ     the document           read: commit; edit: the user's time
 *   EDITED   of the user's time     save
 *   SAVED    of the save            commit; roll back if the condition found no document (the terminal begins again with
 *                                   the same one), or where that was drawn
 *
 * Invariant: no edit is silently lost: each that was committed was seen by the next one, so the versions add up to their
 * number. Within one transaction RR suffices, and RC with a lock or a version. From one transaction to another the
 * version suffices at RC; nothing and the content do not suffice at any level. */
#include "sim/base/memory.h"
#include "workloads/program.h"

enum protection { PROTECTION_NONE, PROTECTION_VERSION, PROTECTION_COMPARE, PROTECTION_LOCK };
enum transaction { TRANSACTION_EACH, TRANSACTION_WHOLE };

struct edit_form_options {
    int64_t rows, contents;
    int protection, transaction;
    struct distribution editing;
    double theta, rollback;
};

/* In the order of type_names. */
enum kind { KIND_EDIT, KIND_READ, KIND_SAVE, KIND_COUNT };
enum next { NEXT_ANOTHER, NEXT_SAVE, NEXT_AGAIN };

/* What a user has on the screen between two transactions. */
struct user {
    int64_t seen;
    uint32_t row;
    uint8_t next; /* what to do with it */
};

struct edit_form_state {
    struct edit_form_options options;
    struct table *documents;
    struct zipf zipf;          /* ranks of documents */
    VECTOR(struct user) users; /* by terminal */
    uint64_t edits;            /* that were saved and committed */
};

struct edit_form_arguments {
    int64_t seen; /* of a save: what was read before */
    uint32_t row, terminal;
    uint32_t shift; /* from the content that was read to the new one, less 1 */
    uint8_t kind;
    bool rollback;
};

enum stage { STAGE_BEGIN, STAGE_READ, STAGE_EDITED, STAGE_SAVED };
enum outcome { OUTCOME_OPEN, OUTCOME_CONFLICT, OUTCOME_CANCELLED };

struct edit_form_registers {
    int64_t seen;
    int32_t stage, outcome;
};

static const char *const protection_names[] = {"none", "version", "compare", "lock", NULL};
static const char *const transaction_names[] = {"each", "whole", NULL};

#define FIELD(field) offsetof(struct edit_form_options, field)
static const struct option options[] = {
    {"rows", OPTION_COUNT, FIELD(rows), "100", 1, PROGRAM_ROWS_MAX, NULL, 0, "documents"},
    {"protection", OPTION_CHOICE, FIELD(protection), "none", 0, 0, protection_names, 0,
     "what becomes of an edit that another saved meanwhile: overwritten; found by the version, or by the content that "
     "was read, and then the user edits again; or there is none, because the document stays locked"},
    {"transaction", OPTION_CHOICE, FIELD(transaction), "each", 0, 0, transaction_names, 0,
     "reading and saving are a transaction each (in a closed system), or one transaction is open all the while, as it is "
     "with protection = lock"},
    {"editing", OPTION_DISTRIBUTION, FIELD(editing), "exp(2min)", 0, 0, NULL, 0,
     "how long the user takes from reading to saving"},
    {"contents", OPTION_COUNT, FIELD(contents), "1000", 2, 1e6, NULL, 0,
     "how many different contents a document may have: the fewer, the likelier a change is taken back"},
    {"theta", OPTION_NUMBER, FIELD(theta), "0", 0, ZIPF_THETA_MAX, NULL, 0, "Zipf skew of the documents; 0: uniform"},
    {"rollback", OPTION_SHARE, FIELD(rollback), "0", 0, 0, NULL, 0,
     "share of the edits that the user cancels at their end by rolling back instead of committing"},
};
static const struct option_table option_table = OPTION_TABLE(options, struct edit_form_options);

static void edit_form_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct edit_form_state *state = memory;
    state->options = *(const struct edit_form_options *)values;
    state->documents = store_add_table(store, "documents", PROGRAM_FIRST_KEY, state->options.rows, 0, false);
    zipf_init(&state->zipf, (uint64_t)state->options.rows, state->options.theta);
}

static void edit_form_unload(void *memory) {
    struct edit_form_state *state = memory;
    vector_free(&state->users);
}

static bool is_whole(const struct edit_form_options *o) {
    return o->transaction == TRANSACTION_WHOLE || o->protection == PROTECTION_LOCK;
}

static struct user *user_of(struct edit_form_state *state, uint64_t terminal) {
    while (state->users.count <= terminal) {
        vector_push(&state->users, (struct user){0});
    }
    return &state->users.items[terminal];
}

static void edit_form_draw(void *memory, const struct draw *draw, void *values) {
    struct edit_form_state *state = memory;
    const struct edit_form_options *o = &state->options;
    struct edit_form_arguments *a = values;
    const struct user *user = user_of(state, draw->terminal);
    uint64_t rank;
    draw_distinct(&state->zipf, draw->stream, &rank, 1);
    a->shift = (uint32_t)stream_below(draw->stream, (uint64_t)o->contents - 1);
    a->rollback = stream_chance(draw->stream, o->rollback);
    a->terminal = (uint32_t)draw->terminal;
    a->row = user->next == NEXT_ANOTHER ? (uint32_t)(rank + PROGRAM_FIRST_KEY) : user->row;
    a->seen = user->seen;
    a->kind = draw->terminal == 0 || is_whole(o) ? KIND_EDIT : user->next == NEXT_SAVE ? KIND_SAVE : KIND_READ;
}

/* ---- The program ---- */

static void read_document(const struct edit_form_state *state, const struct edit_form_arguments *a,
                          struct edit_form_registers *r, struct step *step) {
    bool locked = state->options.protection == PROTECTION_LOCK;
    step_select(step, state->documents, a->row, locked ? LOCKING_UPDATE : LOCKING_NONE);
    step->last_lock = a->kind == KIND_READ;
    r->stage = STAGE_READ;
}

static void save_document(const struct edit_form_state *state, const struct edit_form_arguments *a,
                          struct edit_form_registers *r, struct step *step) {
    const struct edit_form_options *o = &state->options;
    int64_t version = r->seen / o->contents, content = r->seen % o->contents;
    step_update(step, state->documents, a->row, VALUE_SET,
                (version + 1) * o->contents + (content + 1 + a->shift) % o->contents);
    if (o->protection == PROTECTION_VERSION) {
        step->condition = (struct condition){.operator= CONDITION_EQ, .constant = r->seen};
    } else if (o->protection == PROTECTION_COMPARE) {
        step->condition = (struct condition){.operator= CONDITION_EQ, .modulus = o->contents, .constant = content};
    }
    step->last_lock = true;
    r->stage = STAGE_SAVED;
}

static void end_save(const struct edit_form_arguments *a, struct edit_form_registers *r, bool found,
                     struct step *step) {
    r->outcome = !found ? OUTCOME_CONFLICT : a->rollback ? OUTCOME_CANCELLED : OUTCOME_OPEN;
    step_end(step, r->outcome != OUTCOME_OPEN);
}

static void edit_form_next(void *memory, const void *values, void *registers, const struct reply *reply,
                           struct step *step) {
    const struct edit_form_state *state = memory;
    const struct edit_form_arguments *a = values;
    struct edit_form_registers *r = registers;
    if (r->stage != STAGE_BEGIN && reply->status == REPLY_ERROR) {
        r->outcome = OUTCOME_OPEN;
        step_end(step, true);
        return;
    }
    switch ((enum stage)r->stage) {
    case STAGE_BEGIN:
        if (a->kind == KIND_SAVE) {
            r->seen = a->seen;
            save_document(state, a, r, step);
        } else {
            read_document(state, a, r, step);
        }
        break;
    case STAGE_READ:
        r->seen = reply_value(reply);
        if (a->kind == KIND_READ) {
            step_end(step, false);
        } else {
            r->stage = STAGE_EDITED;
            step_think(step, &state->options.editing);
        }
        break;
    case STAGE_EDITED: save_document(state, a, r, step); break;
    case STAGE_SAVED: end_save(a, r, reply->count > 0, step); break;
    }
}

static uint64_t edit_form_remaining(const void *memory, const void *values, const void *registers) {
    (void)memory;
    const struct edit_form_arguments *a = values;
    const struct edit_form_registers *r = registers;
    return r->stage == STAGE_BEGIN || (a->kind == KIND_EDIT && r->stage != STAGE_SAVED);
}

static enum declaration edit_form_declares(const void *memory, const void *values) {
    (void)memory;
    const struct edit_form_arguments *a = values;
    return a->kind == KIND_READ ? DECLARES_READ_ONLY : DECLARES_NOTHING;
}

static size_t edit_form_plan(const void *memory, const void *values, struct planned *out, size_t most) {
    const struct edit_form_state *state = memory;
    const struct edit_form_arguments *a = values;
    struct footprint plan = {.items = out, .capacity = most};
    footprint_add_row(&plan, state->documents, a->row, a->kind == KIND_READ ? PLANNED_READ : PLANNED_WRITE);
    return plan.count;
}

/* ---- Types ---- */

static const char *const type_names[KIND_COUNT] = {"edit", "read", "save"};

static size_t edit_form_type_count(const void *values) { return is_whole(values) ? KIND_EDIT + 1 : KIND_COUNT; }

static const char *edit_form_type_name(const void *values, size_t type) {
    (void)values;
    return type_names[type];
}

static size_t edit_form_type_of(const void *memory, const void *values) {
    (void)memory;
    return ((const struct edit_form_arguments *)values)->kind;
}

/* ---- The books ---- */

static void edit_form_committed(void *memory, const void *values, const void *registers) {
    (void)registers;
    struct edit_form_state *state = memory;
    const struct edit_form_arguments *a = values;
    state->edits += a->kind != KIND_READ;
}

/* Who was told of a conflict begins again with the same document; who could not save, for another reason, tries again. */
static const struct distribution *edit_form_ended(void *memory, const void *values, const void *registers,
                                                  bool committed) {
    struct edit_form_state *state = memory;
    const struct edit_form_arguments *a = values;
    const struct edit_form_registers *r = registers;
    struct user *user = user_of(state, a->terminal);
    bool over = committed || r->outcome == OUTCOME_CANCELLED;
    user->row = a->row;
    if (a->kind == KIND_READ && committed) {
        user->seen = r->seen;
        user->next = NEXT_SAVE;
        return &state->options.editing;
    }
    if (over) {
        user->next = NEXT_ANOTHER;
    } else if (a->kind != KIND_SAVE || r->outcome == OUTCOME_CONFLICT) {
        user->next = NEXT_AGAIN;
    }
    return NULL;
}

static enum level level_that_protects(const struct edit_form_options *o) {
    switch ((enum protection)o->protection) {
    case PROTECTION_VERSION:
    case PROTECTION_LOCK: break;
    case PROTECTION_NONE:
    case PROTECTION_COMPARE: return is_whole(o) ? LEVEL_RR : LEVEL_COUNT;
    }
    return LEVEL_RC;
}

static int64_t add_up_versions(const struct edit_form_state *state) {
    int64_t versions = 0;
    for (int64_t key = PROGRAM_FIRST_KEY; key < PROGRAM_FIRST_KEY + state->options.rows; key++) {
        int64_t value;
        bool present = committed_value(state->documents, dense_record(state->documents, key), key, &value);
        CHECK(present);
        versions += value / state->options.contents;
    }
    return versions;
}

static void edit_form_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)store;
    const struct edit_form_state *state = memory;
    int64_t missing = (int64_t)state->edits - add_up_versions(state);
    audit->verdict = missing == 0 ? AUDIT_OK : AUDIT_BROKEN;
    audit->level = LEVEL_RC;
    audit->lost_updates_known = true;
    if (missing > 0) {
        audit->level = (int)level_that_protects(&state->options);
        audit->lost_updates = (uint64_t)missing;
        text_add(&audit->message,
                 "%" PRId64 " of %" PRIu64 " saved edits were lost: others saved without having seen them", missing,
                 state->edits);
    } else if (missing < 0) {
        text_add(&audit->message, "the documents show %" PRId64 " edits more than the %" PRIu64 " that were saved",
                 -missing, state->edits);
    }
}

const struct workload_ops workload_edit_form = {
    .name = "edit_form",
    .summary = "documents that are read, edited for minutes, and saved",
    .options = &option_table,
    .state_size = sizeof(struct edit_form_state),
    .arguments_size = sizeof(struct edit_form_arguments),
    .registers_size = sizeof(struct edit_form_registers),
    .load = edit_form_load,
    .draw = edit_form_draw,
    .next = edit_form_next,
    .remaining = edit_form_remaining,
    .declares = edit_form_declares,
    .type_count = edit_form_type_count,
    .type_name = edit_form_type_name,
    .type_of = edit_form_type_of,
    .plan = edit_form_plan,
    .tells_last_lock = true,
    .committed = edit_form_committed,
    .ended = edit_form_ended,
    .audit = edit_form_audit,
    .unload = edit_form_unload,
};
