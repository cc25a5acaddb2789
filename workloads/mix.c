/* mix.c - the user's own transactions: written in the config (docs/MIX.md), read by mix_read.c, run here.
 *
 * draw    draws the variables of all kinds of transaction, in the order of the file, and each kind's own rollback behind
 *         its variables; last it is decided by weight which kind it is. So neither a weight nor a share changes any
 *         other draw, and two points of a sweep differ in that alone.
 * next    runs instructions up to the next step. A statement whose row is not there to be named (`as` found none, or an
 *         id below 1) is left out, and counts as one that found nothing. One that fails (NOWAIT, a lock timeout, a
 *         duplicate) takes its `else`; with none, the program rolls back.
 * Sequences are those of a database: every attempt takes its numbers when it begins, and none is given back.
 *
 * Without a config (in storms and tests) a small mix of everything is run. */
#include "workloads/mix.h"

#include <string.h>

struct mix_options {
    struct mix *mix; /* NULL: the example */
};

struct mix_state {
    const struct mix *mix;
    struct table *tables[STORE_TABLES_MAX];
    int64_t sequences[STORE_TABLES_MAX]; /* the last number taken */
    int64_t *scratch;                    /* the values of all types, while they are drawn */
    uint64_t unexpected, expecting;      /* commits whose expectation did not hold; that had one */
    int64_t surprise[2];                 /* left and right side of the first */
    uint64_t commits[MIX_TYPES_MAX];
};

struct mix_arguments {
    uint16_t type;
    bool rollback;
    uint64_t number;
    int64_t values[MIX_VALUES_MAX];
};

struct mix_registers {
    uint16_t at;    /* the next instruction */
    uint16_t round; /* of the loop, from 0 */
    bool begun, ended;
    bool awaits; /* the reply is of the instruction before `at` */
    bool expects, surprised;
    uint16_t named; /* held slots that have a value, by bits */
    int64_t count, sum;
    int64_t surprise[2];
    int64_t held[MIX_HELD_MAX], seen[MIX_SEEN_MAX];
    int64_t keys[MIX_KEYS_MAX];
    struct step_extra extra; /* of the statement under way */
};

static const struct option_table option_table = {NULL, 0, sizeof(struct mix_options)};

/* ---- The example ---- */

static const struct workload_entry example[] = {
    {"table account", NULL, NULL},
    {"table account", "rows", "6"},
    {"table account", "value", "100"},
    {"table job", NULL, NULL},
    {"table job", "rows", "3"},
    {"transaction transfer", NULL, NULL},
    {"transaction transfer", "weight", "4"},
    {"transaction transfer", "let a", "zipf(account, 0.9)"},
    {"transaction transfer", "let b", "uniform(account) not a"},
    {"transaction transfer", "let n", "uniform(1, 50)"},
    {"transaction transfer", "steps", "w(account a, -=n, if>=n) else rollback think(exp(1ms)) w(account b, +=n)"},
    {"transaction move", NULL, NULL},
    {"transaction move", "weight", "3"},
    {"transaction move", "rollback", "10%"},
    {"transaction move", "let a[2]", "uniform(account)"},
    {"transaction move", "steps",
     "u(account a[1]) r(account a[2]) if($a[1]>=5) (w(account a[1], $a[1]-5) w(account a[2], $a[2]+5)) else rollback"},
    {"transaction post", NULL, NULL},
    {"transaction post", "let n", "sequence(job)"},
    {"transaction post", "steps", "p(s) i(job n, 0) w(job n, +=1) f(s) i(job n, 0)"},
    {"transaction work", NULL, NULL},
    {"transaction work", "let a[3]", "uniform(account) sorted"},
    {"transaction work", "steps",
     "u(job v=0):skip:1 as j else commit each a (s(account a):nowait else (r(account a))) d(job j)"},
    {"transaction audit", NULL, NULL},
    {"transaction audit", "steps", "q(account *) expect(sum=600) w(job v%2=1 & id<=9, @5+1)"},
    {"invariant", NULL, NULL},
    {"invariant", "total", "sum(account) constant"},
    {"invariant", "jobs", "count(job) - commits(post) <= 3"},
};

static void example_fault(void *context, size_t entry, size_t at, const char *sentence) {
    (void)context;
    CHECK_MSG(false, "the example, entry %zu, byte %zu: %s", entry, at, sentence);
}

/* Read once, and kept as long as the process lives. */
static const struct mix *mix_of(const struct mix_options *options) {
    static const struct mix *read;
    if (options->mix != NULL) {
        return options->mix;
    }
    if (read == NULL) {
        read = mix_read(example, sizeof example / sizeof example[0], &(struct workload_faults){.add = example_fault});
    }
    return read;
}

static bool mix_compile(void *values, const struct workload_entry *entries, size_t count,
                        const struct workload_faults *faults) {
    struct mix_options *options = values;
    options->mix = mix_read(entries, count, faults);
    return options->mix != NULL;
}

static void mix_discard(void *values) { mix_free(((struct mix_options *)values)->mix); }

static void mix_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct mix_state *state = memory;
    state->mix = mix_of(values);
    for (size_t i = 0; i < state->mix->tables.count; i++) {
        const struct mix_table *table = &state->mix->tables.items[i];
        state->tables[i] = store_add_table(store, table->name, PROGRAM_FIRST_KEY, table->rows, table->value, false);
        state->sequences[i] = table->rows;
    }
    state->scratch = mem_new(state->mix->value_count + 1, sizeof *state->scratch);
}

static void mix_unload(void *memory) { mem_free(((struct mix_state *)memory)->scratch); }

/* ---- Drawing ---- */

static void expect_rows(const struct mix_state *state, const struct mix_type *type, const int64_t *values) {
    for (size_t i = 0; i < type->variables.count; i++) {
        const struct mix_variable *variable = &type->variables.items[i];
        size_t count = variable->count > 0 ? variable->count : 1;
        for (size_t k = 0; variable->source <= MIX_HOT && k < count; k++) {
            store_expect(state->tables[variable->table], values[variable->slot + k]);
        }
    }
}

static void mix_draw(void *memory, const struct draw *draw, void *arguments) {
    const struct mix_state *state = memory;
    const struct mix *mix = state->mix;
    struct mix_arguments *a = arguments;
    int64_t *place = state->scratch;
    bool rollbacks[MIX_TYPES_MAX] = {false};
    for (size_t i = 0; i < mix->types.count; i++) {
        const struct mix_type *type = &mix->types.items[i];
        mix_draw_values(type, draw->stream, place);
        rollbacks[i] = type->draws_rollback && stream_chance(draw->stream, type->rollback);
        place += type->value_count;
    }
    a->type = (uint16_t)mix_draw_type(mix, draw->stream);
    a->rollback = rollbacks[a->type];
    a->number = draw->number;
    place = state->scratch;
    for (size_t i = 0; i < a->type; i++) {
        place += mix->types.items[i].value_count;
    }
    memcpy(a->values, place, mix->types.items[a->type].value_count * sizeof *place);
    expect_rows(state, &mix->types.items[a->type], a->values);
}

/* ---- Values ---- */

struct running {
    const struct mix_state *state;
    const struct mix_type *type;
    const struct mix_arguments *a;
    struct mix_registers *r;
};

static int64_t term_value(const struct running *running, const struct mix_term *term) {
    const struct mix_registers *r = running->r;
    switch (term->kind) {
    case MIX_TERM_CONSTANT: break;
    case MIX_TERM_DRAWN: return running->a->values[term->slot];
    case MIX_TERM_DRAWN_OF_SET: return running->a->values[term->slot + r->round];
    case MIX_TERM_HELD: return r->held[term->slot];
    case MIX_TERM_SEEN: return r->seen[term->slot];
    case MIX_TERM_SEEN_OF_SET: return r->seen[term->slot + r->round];
    case MIX_TERM_COUNT: return r->count;
    case MIX_TERM_SUM: return r->sum;
    case MIX_TERM_ROUND: return r->round + INT64_C(1);
    case MIX_TERM_NUMBER: return (int64_t)running->a->number;
    }
    return term->constant;
}

/* Wraps around, as machines do, where a user's numbers are absurd. */
static int64_t value_of(const struct running *running, struct mix_sum sum) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < sum.count; i++) {
        const struct mix_term *term = &running->type->terms.items[sum.first + i];
        uint64_t value = (uint64_t)term_value(running, term);
        total = term->sign > 0 ? total + value : total - value;
    }
    return (int64_t)total;
}

/* Does every row in the sum have a name? One that no step found has none. */
static bool has_value(const struct running *running, struct mix_sum sum) {
    for (uint32_t i = 0; i < sum.count; i++) {
        const struct mix_term *term = &running->type->terms.items[sum.first + i];
        if (term->kind == MIX_TERM_HELD && (running->r->named >> term->slot & 1) == 0) {
            return false;
        }
    }
    return true;
}

/* Also tells the sides of the test that decided. */
static bool tests_hold(const struct running *running, const struct mix_tests *tests, int64_t sides[2]) {
    for (size_t i = 0; i < tests->count; i++) {
        const struct mix_test *test = &tests->items[i];
        sides[0] = value_of(running, test->left);
        sides[1] = value_of(running, test->right);
        struct condition condition = {.operator= test->operator, .constant = sides[1] };
        if (!condition_holds(&condition, 0, sides[0])) {
            return false;
        }
    }
    return true;
}

/* ---- Statements ---- */

static struct condition condition_of(const struct running *running, const struct mix_test *test) {
    return (struct condition){.operator= test->operator,
                              .of_id = test->of_id,
                              .modulus = test->modulus,
                              .constant = value_of(running, test->right)};
}

static void set_range(const struct running *running, const struct mix_instruction *i, struct step *step) {
    const struct mix_table *table = &running->state->mix->tables.items[i->table];
    step->first = i->low.count > 0 ? value_of(running, i->low) : PROGRAM_FIRST_KEY;
    step->last = i->high.count > 0 ? value_of(running, i->high) : mix_last_id(table);
    step->first = step->first < PROGRAM_FIRST_KEY ? PROGRAM_FIRST_KEY : step->first;
}

/* The rows that have an id; false: there is none. */
static bool set_keys(const struct running *running, const struct mix_instruction *i, struct step *step) {
    struct mix_registers *r = running->r;
    int64_t count = 0;
    for (size_t k = 0; k < i->row_count; k++) {
        int64_t key = value_of(running, i->rows[k]);
        if (has_value(running, i->rows[k]) && key >= PROGRAM_FIRST_KEY) {
            r->keys[count++] = key;
        }
    }
    step->first = step->last = r->keys[0];
    if (i->row_count > 1) {
        r->extra = (struct step_extra){.keys = r->keys, .key_count = count};
        step->extra = &r->extra;
    }
    return count > 0;
}

static struct step_extra *extra_of(const struct running *running, struct step *step) {
    if (step->extra == NULL) {
        running->r->extra = (struct step_extra){0};
        step->extra = &running->r->extra;
    }
    return &running->r->extra;
}

static bool is_last(const struct running *running, const struct mix_instruction *i) {
    return i->last == MIX_IS_LAST ||
           (i->last == MIX_LAST_IN_LAST_ROUND && running->r->round + UINT32_C(1) == i->loop_count);
}

/* False: it is left out, and found nothing. */
static bool set_statement(const struct running *running, const struct mix_instruction *i, struct step *step) {
    *step = i->form;
    step->table = running->state->tables[i->table];
    step->last_lock = is_last(running, i);
    if (i->form.scan) {
        set_range(running, i, step);
        if (step->first > step->last || !has_value(running, i->low) || !has_value(running, i->high)) {
            return false;
        }
    } else if (!set_keys(running, i, step)) {
        return false;
    }
    step->operand = value_of(running, i->operand);
    if (i->source.count > 0) {
        if (!has_value(running, i->source) || value_of(running, i->source) < PROGRAM_FIRST_KEY) {
            return false;
        }
        struct step_extra *extra = extra_of(running, step);
        extra->reads_source = true;
        extra->source = value_of(running, i->source);
    }
    if (i->tests.count > 0) {
        step->condition = condition_of(running, &i->tests.items[0]);
    }
    if (i->tests.count > 1) {
        extra_of(running, step)->also = condition_of(running, &i->tests.items[1]);
    }
    return true;
}

static int64_t value_in_reply(const struct reply *reply, int64_t key) {
    for (int64_t i = 0; i < reply->count; i++) {
        if (reply->rows[i].key == key) {
            return reply->rows[i].value;
        }
    }
    return 0;
}

/* What the statement found goes where the program looks for it; an absent row has the value 0. */
static void take_reply(const struct running *running, const struct mix_instruction *i, const struct reply *reply) {
    struct mix_registers *r = running->r;
    r->count = reply->count;
    r->sum = 0;
    for (int64_t k = 0; running->type->sums && i->form.kind != STEP_INSERT && k < reply->count; k++) {
        r->sum += reply->rows[k].value;
    }
    for (size_t k = 0; k < i->row_count; k++) {
        if (i->seen[k] >= 0) {
            int slot = i->seen[k] + (i->seen_of_set[k] ? r->round : 0);
            r->seen[slot] = value_in_reply(reply, value_of(running, i->rows[k]));
        }
    }
    if (i->found >= 0) {
        bool any = reply->count > 0;
        r->named = (uint16_t)((r->named & ~(1U << i->found)) | (unsigned)any << i->found);
        r->held[i->found] = any ? reply->rows[0].key : 0;
        if (i->seen[0] >= 0) {
            r->seen[i->seen[0]] = any ? reply->rows[0].value : 0;
        }
    }
}

/* Nothing was found: there was nothing to look for, or the statement failed. */
static void take_nothing(struct mix_registers *r, const struct mix_instruction *i) {
    r->count = r->sum = 0;
    if (i->found >= 0) {
        r->named = (uint16_t)(r->named & ~(1U << i->found));
    }
}

/* ---- The program ---- */

static void begin(struct mix_state *state, const struct running *running) {
    struct mix_registers *r = running->r;
    r->begun = true;
    for (size_t i = 0; i < running->type->variables.count; i++) {
        const struct mix_variable *variable = &running->type->variables.items[i];
        if (variable->source == MIX_SEQUENCE || variable->source == MIX_LAST) {
            state->sequences[variable->table] += variable->source == MIX_SEQUENCE;
            r->held[variable->slot] = state->sequences[variable->table];
            r->named = (uint16_t)(r->named | 1U << variable->slot);
        }
    }
}

/* Does the program go on after the reply to the statement before `at`? */
static bool resume(const struct running *running, const struct reply *reply) {
    struct mix_registers *r = running->r;
    r->awaits = false;
    const struct mix_instruction *i = &running->type->program.items[r->at - 1];
    if (reply->status == REPLY_OK) {
        take_reply(running, i, reply);
        return true;
    }
    take_nothing(r, i);
    return running->type->program.items[r->at].code == MIX_ELSE;
}

static void expect(const struct running *running, const struct mix_instruction *i) {
    struct mix_registers *r = running->r;
    int64_t sides[2];
    r->expects = true;
    if (!tests_hold(running, &i->tests, sides) && !r->surprised) {
        r->surprised = true;
        memcpy(r->surprise, sides, sizeof sides);
    }
}

/* Where an instruction that is no step leads. */
static void follow(const struct running *running, const struct mix_instruction *i) {
    struct mix_registers *r = running->r;
    int64_t sides[2];
    bool jumps = false;
    switch (i->code) {
    case MIX_IF: jumps = !tests_hold(running, &i->tests, sides); break;
    case MIX_ELSE: jumps = r->count > 0; break;
    case MIX_JUMP: jumps = true; break;
    case MIX_EACH: r->round = 0; break;
    case MIX_AGAIN:
        jumps = r->round + UINT32_C(1) < i->loop_count;
        r->round = (uint16_t)(jumps ? r->round + 1 : 0);
        break;
    case MIX_EXPECT: expect(running, i); break;
    default: break;
    }
    r->at = (uint16_t)(jumps ? i->target : r->at + UINT32_C(1));
}

static void end(struct mix_registers *r, bool rollback, struct step *step) {
    r->ended = true;
    step_end(step, rollback);
}

/* True if the instruction is a step, which is filled in. */
static bool perform(const struct running *running, const struct mix_instruction *i, struct step *step) {
    struct mix_registers *r = running->r;
    switch (i->code) {
    case MIX_STATEMENT:
        r->at++;
        if (!set_statement(running, i, step)) {
            take_nothing(r, i);
            return false;
        }
        r->awaits = true;
        return true;
    case MIX_THINK:
        r->at++;
        step_think(step, &i->think);
        return !distribution_is_zero(&i->think);
    case MIX_SAVEPOINT:
    case MIX_ROLLBACK_TO:
        r->at++;
        *step = (struct step){.kind = i->code == MIX_SAVEPOINT ? STEP_SAVEPOINT : STEP_ROLLBACK_TO,
                              .savepoint = i->savepoint};
        return true;
    case MIX_COMMIT: end(r, running->a->rollback, step); return true;
    case MIX_ROLLBACK: end(r, true, step); return true;
    default: follow(running, i); return false;
    }
}

static void mix_next(void *memory, const void *arguments, void *registers, const struct reply *reply,
                     struct step *step) {
    struct mix_state *state = memory;
    const struct mix_arguments *a = arguments;
    struct mix_registers *r = registers;
    struct running running = {state, &state->mix->types.items[a->type], a, r};
    if (!r->begun) {
        begin(state, &running);
    } else if (r->ended || (r->awaits && !resume(&running, reply))) {
        end(r, true, step);
        return;
    }
    while (!perform(&running, &running.type->program.items[r->at], step)) {
        CHECK(r->at < running.type->program.count);
    }
}

static uint64_t mix_remaining(const void *memory, const void *arguments, const void *registers) {
    const struct mix_state *state = memory;
    const struct mix_arguments *a = arguments;
    const struct mix_registers *r = registers;
    const struct mix_instruction *i = &state->mix->types.items[a->type].program.items[r->at];
    uint64_t rounds_behind = i->loop_count > 0 ? i->loop_count - r->round - UINT64_C(1) : 0;
    return r->ended ? 0 : i->left_beside + i->left_round + rounds_behind * i->left_per_round;
}

/* ---- What exec asks ---- */

static size_t mix_footprint(const void *memory, const void *arguments, struct planned *out, size_t most) {
    const struct mix_state *state = memory;
    const struct mix_arguments *a = arguments;
    return mix_plan(state->mix, &state->mix->types.items[a->type], state->tables, a->values, out, most);
}

static bool mix_plans(const void *values) {
    const struct mix *mix = mix_of(values);
    bool all = true;
    for (size_t i = 0; i < mix->types.count; i++) {
        all = all && mix->types.items[i].tells;
    }
    return all;
}

static const struct mix_type *type_at(const void *memory, const void *arguments) {
    const struct mix_state *state = memory;
    return &state->mix->types.items[((const struct mix_arguments *)arguments)->type];
}

static enum declaration mix_declares(const void *memory, const void *arguments) {
    return type_at(memory, arguments)->declares;
}

static int mix_isolation(const void *memory, const void *arguments) { return type_at(memory, arguments)->isolation; }

static const struct retry *mix_retry(const void *memory, const void *arguments) {
    return &type_at(memory, arguments)->retry;
}

static unsigned mix_levels(const void *values) {
    const struct mix *mix = mix_of(values);
    unsigned levels = 0;
    for (size_t i = 0; i < mix->types.count; i++) {
        int level = mix->types.items[i].isolation;
        levels |= level != LEVEL_OWN ? 1u << level : 0;
    }
    return levels;
}

static size_t mix_type_count(const void *values) { return mix_of(values)->types.count; }

static const char *mix_type_name(const void *values, size_t type) { return mix_of(values)->types.items[type].name; }

static size_t mix_type_of(const void *memory, const void *arguments) {
    (void)memory;
    return ((const struct mix_arguments *)arguments)->type;
}

static void mix_committed(void *memory, const void *arguments, const void *registers) {
    struct mix_state *state = memory;
    const struct mix_registers *r = registers;
    state->commits[((const struct mix_arguments *)arguments)->type]++;
    state->expecting += r->expects;
    if (r->surprised && state->unexpected++ == 0) {
        memcpy(state->surprise, r->surprise, sizeof state->surprise);
    }
}

static void mix_audit_all(const void *memory, const struct store *store, struct workload_audit *audit) {
    const struct mix_state *state = memory;
    mix_audit(state->mix, store, state->commits, audit);
    if (state->expecting > 0 && audit->verdict == AUDIT_NONE) {
        audit->verdict = AUDIT_OK;
    }
    if (state->unexpected > 0) {
        text_add(&audit->message,
                 "%s%" PRIu64 " of %" PRIu64 " commits did not see what they expected, the first one %" PRId64
                 " against %" PRId64,
                 audit->message.length > 0 ? "; " : "", state->unexpected, state->expecting, state->surprise[0],
                 state->surprise[1]);
        audit->verdict = AUDIT_BROKEN;
    }
}

const struct workload_ops workload_mix = {
    .name = "mix",
    .summary =
        "transactions written in the config, in sections [table NAME], [transaction NAME] and [invariant]: docs/MIX.md",
    .options = &option_table,
    .state_size = sizeof(struct mix_state),
    .arguments_size = sizeof(struct mix_arguments),
    .registers_size = sizeof(struct mix_registers),
    .load = mix_load,
    .draw = mix_draw,
    .next = mix_next,
    .remaining = mix_remaining,
    .tells_last_lock = true,
    .plan = mix_footprint,
    .plans = mix_plans,
    .declares = mix_declares,
    .isolation = mix_isolation,
    .levels = mix_levels,
    .retry = mix_retry,
    .type_count = mix_type_count,
    .type_name = mix_type_name,
    .type_of = mix_type_of,
    .committed = mix_committed,
    .audit = mix_audit_all,
    .unload = mix_unload,
    .sections = mix_sections,
    .section_option = mix_section_option,
    .compile = mix_compile,
    .discard = mix_discard,
};
