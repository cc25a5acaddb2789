/* script.c - plays written schedules through the walker and writes down what happens. */
#include "tests/support/script.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/exec/world.h"
#include "tests/support/wild.h"

#define MILLISECOND INT64_C(1000000)

struct script_state {
    struct script *script;
    struct store *store;
    struct table *table;
    struct distribution pause[SCRIPT_TRANSACTIONS_MAX];
};
struct script_arguments {
    uint64_t number; /* of the transaction */
};
struct script_registers {
    int token;   /* the next one to look at */
    int asked;   /* token + 1 of the step whose reply comes next, 0: none */
    bool paused; /* the reply that comes is that of a pause */
};

/* The schedule that is being played: the spies know no other way to it. */
static struct script *playing;

/* ---- Reading a token ---- */

static int owner_of(const char *token) { return token[0] == '+' ? 0 : (int)strtol(token + 1, NULL, 10); }

static int64_t read_key(const char **at) {
    if (isalpha((unsigned char)**at)) {
        return *(*at)++ - 'x' + 1;
    }
    char *end;
    int64_t key = strtoll(*at, &end, 10);
    *at = end;
    return key;
}

static void read_value(const char *at, struct step *step) {
    if (*at == ',') {
        bool adds = strncmp(at, ",+=", 3) == 0;
        step->value = adds ? VALUE_ADD : VALUE_SET;
        step->operand = strtoll(at + (adds ? 3 : 1), NULL, 10);
    }
}

static void read_suffix(const char *token, struct step *step) {
    const char *suffix = strchr(token, ':');
    if (suffix == NULL) {
        return;
    }
    if (strcmp(suffix, ":nowait") == 0) {
        step->patience = PATIENCE_NOWAIT;
    } else if (strncmp(suffix, ":skip", 5) == 0) {
        step->patience = PATIENCE_SKIP_LOCKED;
        step->limit = suffix[5] == ':' ? (int)strtol(suffix + 6, NULL, 10) : 0;
    } else {
        step->limit = (int)strtol(suffix + 1, NULL, 10);
    }
}

static enum step_kind kind_of(char letter) {
    static const struct {
        char letter;
        enum step_kind kind;
    } kinds[] = {{'r', STEP_SELECT}, {'u', STEP_SELECT},  {'s', STEP_SELECT},    {'w', STEP_UPDATE},
                 {'i', STEP_INSERT}, {'d', STEP_DELETE},  {'p', STEP_SAVEPOINT}, {'f', STEP_ROLLBACK_TO},
                 {'c', STEP_COMMIT}, {'a', STEP_ROLLBACK}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].letter == letter) {
            return kinds[i].kind;
        }
    }
    check_failed("a token's letter", __FILE__, __LINE__, "no step begins with %c", letter);
}

static void read_token(const char *token, struct table *table, struct step *step) {
    *step = (struct step){.kind = kind_of(token[0]), .table = table};
    step->locking = token[0] == 'u' ? LOCKING_UPDATE : token[0] == 's' ? LOCKING_SHARE : LOCKING_NONE;
    const char *at = strchr(token, '(');
    if (at == NULL) {
        return;
    }
    at++;
    if (step->kind > STEP_INSERT) {
        step->savepoint = (int)strtol(at, NULL, 10);
        return;
    }
    step->first = step->last = read_key(&at);
    if (strncmp(at, "..", 2) == 0) {
        at += 2;
        step->last = read_key(&at);
        step->scan = true;
    }
    read_value(at, step);
    read_suffix(token, step);
}

/* ---- Writing down ---- */

static int64_t now_ns(const struct store *store) {
    return ((const struct world *)store->harness->world)->agenda.now_ns;
}

static void say(const char *what, const char *mark) {
    text_add(&playing->said, "%s%s%s", playing->said.length > 0 ? " " : "", what, mark);
}

static const char *token_under_way(const struct txn *txn) {
    const struct script_registers *r = actor_of((struct txn *)(uintptr_t)txn)->registers;
    return r->asked > 0 ? playing->tokens[r->asked - 1] : "?";
}

static int number_of(const struct txn *txn) { return (int)actor_of((struct txn *)(uintptr_t)txn)->terminal; }

static void say_rows(const struct reply *reply, bool scan) {
    text_add(&playing->said, reply->count > 0 ? "=" : "=-");
    for (int64_t i = 0; i < reply->count; i++) {
        text_add(&playing->said, i > 0 ? "," : "");
        if (scan) {
            text_add(&playing->said, "%" PRId64 ":", reply->rows[i].key);
        }
        text_add(&playing->said, "%" PRId64, reply->rows[i].value);
    }
}

static bool has_waited(const char *token) {
    char mark[40];
    snprintf(mark, sizeof mark, "%s?", token);
    return strstr(text_string(&playing->said), mark) != NULL;
}

static void say_reply(const char *token, const struct reply *reply) {
    struct step step;
    read_token(token, NULL, &step);
    if (step.kind > STEP_INSERT) {
        return;
    }
    say(token, has_waited(token) ? "!" : "");
    if (reply->status == REPLY_ERROR) {
        text_add(&playing->said, "#%s", reason_texts[reply->reason].name);
    } else {
        say_rows(reply, step.scan);
    }
}

/* The next token of the transaction from number `from` on, or token_count. */
static int next_token(const struct script *script, int from, uint64_t number) {
    while (from < script->token_count && owner_of(script->tokens[from]) != (int)number) {
        from++;
    }
    return from;
}

/* ---- Spies ---- */

static void note_wait(struct cc *cc, const struct txn *txn, enum cc_status status, enum txn_state before) {
    if (status != CC_WAIT || before == TXN_WAITING) {
        return;
    }
    struct txn_list list = {0};
    cc->ops->blockers(cc, txn, &list, SIZE_MAX);
    say(token_under_way(txn), "?");
    bool comma = false;
    for (int number = 1; number < SCRIPT_TRANSACTIONS_MAX; number++) {
        for (size_t i = 0; i < list.count; i++) {
            if (number_of(list.items[i]) == number) {
                text_add(&playing->said, "%s%d", comma ? "," : "", number);
                comma = true;
                break;
            }
        }
    }
    mem_free(list.items);
}

static enum cc_status spy_begin(struct cc *cc, struct txn *txn) {
    int number = number_of(txn);
    if (playing->kills[number] < 8) {
        playing->ages[number][playing->kills[number]] = txn->age;
    }
    return playing->algorithm->begin(cc, txn);
}

static enum cc_status spy_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                                enum patience patience) {
    enum txn_state before = (enum txn_state)txn->state;
    enum cc_status status = playing->algorithm->range(cc, txn, range, intent, patience);
    note_wait(cc, txn, status, before);
    return status;
}

static enum cc_status spy_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                               enum patience patience, struct version **seen) {
    enum txn_state before = (enum txn_state)txn->state;
    enum cc_status status = playing->algorithm->read(cc, txn, row, intent, patience, seen);
    note_wait(cc, txn, status, before);
    return status;
}

static enum cc_status spy_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                enum patience patience, struct version **base) {
    enum txn_state before = (enum txn_state)txn->state;
    enum cc_status status = playing->algorithm->claim(cc, txn, row, change, patience, base);
    note_wait(cc, txn, status, before);
    return status;
}

static enum cc_status spy_prepare(struct cc *cc, struct txn *txn) {
    enum txn_state before = (enum txn_state)txn->state;
    enum cc_status status = playing->algorithm->prepare(cc, txn);
    note_wait(cc, txn, status, before);
    return status;
}

static void spy_commit(struct cc *cc, struct txn *txn) {
    say(token_under_way(txn), "");
    playing->committed_ns[number_of(txn)] = now_ns(cc->store);
    playing->algorithm->commit(cc, txn);
}

static void spy_abort(struct cc *cc, struct txn *txn) {
    int number = number_of(txn);
    char what[64];
    if (actor_of(txn)->phase == PHASE_ABORT) {
        snprintf(what, sizeof what, "k%d:%s", number, reason_texts[txn->reason].name);
        playing->killed_ns[number] = now_ns(cc->store);
        playing->kills[number]++;
    } else {
        snprintf(what, sizeof what, "a%d", number);
    }
    if (next_token(playing, 0, (uint64_t)number) < playing->token_count) {
        say(what, "");
    }
    playing->algorithm->abort(cc, txn);
}

/* ---- The workload ---- */

static void script_load(void *memory, const void *values, struct store *store, struct stream *stream) {
    (void)stream;
    struct script_state *state = memory;
    state->script = *(struct script *const *)values;
    state->store = store;
    state->table = store_add_table(store, "script", 1, 6, 0, false);
}

static void script_draw(void *memory, const struct draw *draw, void *values) {
    (void)memory;
    ((struct script_arguments *)values)->number = draw->terminal;
}

/* Where no statement follows, no lock can. */
static bool is_last_statement(const struct script *script, int from, uint64_t number) {
    for (int i = from; i < script->token_count; i++) {
        if (owner_of(script->tokens[i]) == (int)number && strchr("rswuid", script->tokens[i][0]) != NULL) {
            return false;
        }
    }
    return true;
}

static void script_next(void *memory, const void *values, void *registers, const struct reply *reply,
                        struct step *step) {
    struct script_state *state = memory;
    const struct script_arguments *a = values;
    struct script_registers *r = registers;
    struct script *script = state->script;
    if (r->asked > 0 && !r->paused) {
        say_reply(script->tokens[r->asked - 1], reply);
    }
    r->token = next_token(script, r->token, a->number);
    bool over = r->token == script->token_count;
    int64_t pause_ns = (over ? script->over_ns : script->due_ns[r->token]) - now_ns(state->store);
    r->paused = pause_ns > 0;
    if (r->paused) {
        state->pause[a->number] = distribution_constant(pause_ns);
        *step = (struct step){.kind = STEP_THINK, .think = &state->pause[a->number]};
    } else if (over) {
        *step = (struct step){.kind = STEP_ROLLBACK};
    } else {
        read_token(script->tokens[r->token], state->table, step);
        r->asked = ++r->token;
        step->last_lock = is_last_statement(script, r->token, a->number);
    }
}

/* Statements still to come. */
static uint64_t script_remaining(const void *memory, const void *values, const void *registers) {
    const struct script_state *state = memory;
    const struct script_arguments *a = values;
    const struct script_registers *r = registers;
    uint64_t count = 0;
    for (int i = r->token; i < state->script->token_count; i++) {
        count += owner_of(state->script->tokens[i]) == (int)a->number;
    }
    return count;
}

static void script_audit(const void *memory, const struct store *store, struct workload_audit *audit) {
    (void)memory;
    (void)store;
    audit->verdict = AUDIT_NONE;
}

const struct workload_ops workload_script = {
    .name = "script",
    .summary = "written schedules, for tests",
    .state_size = sizeof(struct script_state),
    .arguments_size = sizeof(struct script_arguments),
    .registers_size = sizeof(struct script_registers),
    .load = script_load,
    .draw = script_draw,
    .next = script_next,
    .remaining = script_remaining,
    .audit = script_audit,
};

/* ---- Playing ---- */

static void read_schedule(struct script *script, const char *schedule) {
    char copy[2048];
    CHECK((size_t)snprintf(copy, sizeof copy, "%s", schedule) < sizeof copy);
    int64_t due_ns = 0;
    char *rest;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        CHECK(script->token_count < SCRIPT_TOKENS_MAX && strlen(word) < sizeof script->tokens[0]);
        if (word[0] == '+') {
            due_ns += strtoll(word + 1, NULL, 10) * MILLISECOND;
            continue;
        }
        snprintf(script->tokens[script->token_count], sizeof script->tokens[0], "%s", word);
        script->due_ns[script->token_count++] = due_ns;
        due_ns += MILLISECOND;
        int owner = owner_of(word);
        CHECK(owner > 0 && owner < SCRIPT_TRANSACTIONS_MAX);
        script->transactions = owner > script->transactions ? owner : script->transactions;
    }
    script->over_ns = due_ns + 1000 * MILLISECOND;
}

static void set_spies(struct script *script) {
    script->spied = *script->algorithm;
    script->spied.begin = spy_begin;
    script->spied.range = script->algorithm->range != NULL ? spy_range : NULL;
    script->spied.read = spy_read;
    script->spied.claim = spy_claim;
    script->spied.prepare = spy_prepare;
    script->spied.commit = spy_commit;
    script->spied.abort = spy_abort;
}

void script_open(struct script *script, const char *algorithm, const char *settings, const char *schedule) {
    *script = (struct script){.algorithm = cc_find(algorithm)};
    CHECK(script->algorithm != NULL);
    read_schedule(script, schedule);
    set_spies(script);
    for (int i = 0; i < SCRIPT_TRANSACTIONS_MAX; i++) {
        script->committed_ns[i] = script->killed_ns[i] = -1;
    }
    wild_set_options(script->algorithm, script->algorithm_options, sizeof script->algorithm_options, settings);
    struct run_spec *spec = &script->spec;
    options_default(&system_options, &spec->system);
    options_default(&cost_options, &spec->cost);
    options_default(&restart_options, &spec->restart);
    spec->cost.cpu_access = distribution_constant(0);
    spec->system.terminals = script->transactions;
    spec->restart.max_attempts = 1;
    spec->transactions_max = 1;
    spec->seed = spec->replication = 1;
    spec->duration_ns = script->over_ns + 1000 * MILLISECOND;
    spec->workload = &workload_script;
    spec->replay = schedule;
}

const char *script_run(struct script *script) {
    script->spec.algorithm = &script->spied;
    script->spec.algorithm_options = script->algorithm_options;
    playing = script;
    script->spec.workload_options = &playing;
    run_simulate(&script->spec, &script->result);
    playing = NULL;
    assert_int_equal(script->result.status, RUN_OK);
    assert_true(script->result.quiescent);
    return text_string(&script->said);
}

void script_close(struct script *script) {
    text_free(&script->said);
    run_result_free(&script->result);
}

void script_expect_at(const char *file, int line, const char *algorithm, const char *settings,
                      const struct script_prices *prices, const char *schedule, const char *expected) {
    static const int64_t millisecond_ns = 1000000;
    struct script script;
    script_open(&script, algorithm, settings, schedule);
    if (prices != NULL) {
        script.spec.cost.log_force = distribution_constant(prices->log_force_ms * millisecond_ns);
        script.spec.cost.cpu_validate = distribution_constant(prices->validate_ms * millisecond_ns);
    }
    const char *said = script_run(&script);
    if (strcmp(said, expected) != 0) {
        print_error("%s %s: %s\n    gives    %s\n    expected %s\n", algorithm, settings != NULL ? settings : "",
                    schedule, said, expected);
        _fail(file, line);
    }
    script_close(&script);
}
