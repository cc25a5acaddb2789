/* oracle.c - replays committed transactions in a naive database and compares the replies. */
#include "tests/support/oracle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/store/reason.h"

/* What the transaction that is replayed sees and has done. */
struct view {
    struct oracle_state state;
    bool written[ORACLE_KEYS], locked[ORACLE_KEYS];
};

void oracle_init(struct oracle *oracle, enum oracle_kind kind, int64_t first_key) {
    *oracle = (struct oracle){.kind = kind, .first_key = first_key, .sees_blind = true};
}

void oracle_free(struct oracle *oracle) {
    vector_free(&oracle->states);
    vector_free(&oracle->pending);
    text_free(&oracle->first);
}

static size_t cell_of(const struct oracle *oracle, int64_t key) {
    CHECK(key >= oracle->first_key && key < oracle->first_key + ORACLE_KEYS);
    return (size_t)(key - oracle->first_key);
}

void oracle_set(struct oracle *oracle, int64_t key, int64_t value) {
    oracle->now.cells[cell_of(oracle, key)] = (struct oracle_cell){.value = value, .present = true};
}

/* ---- Writing down ---- */

void oracle_begin(struct oracle *oracle, struct oracle_attempt *attempt) { attempt->number = ++oracle->attempts; }

void oracle_ask(const struct oracle *oracle, struct oracle_attempt *attempt, const struct step *step) {
    CHECK(attempt->count < ORACLE_STATEMENTS_MAX);
    attempt->statements[attempt->count++] = (struct oracle_statement){.step = *step, .commits_asked = oracle->commits};
    if (!attempt->asked && step->kind <= STEP_INSERT) {
        attempt->asked = true;
        attempt->commits_asked = oracle->commits;
    }
}

void oracle_answer(const struct oracle *oracle, struct oracle_attempt *attempt, const struct reply *reply) {
    struct oracle_statement *statement = &attempt->statements[attempt->count - 1];
    if (statement->step.kind > STEP_INSERT) {
        return;
    }
    if (!attempt->answered) {
        attempt->answered = true;
        attempt->commits_answered = oracle->commits;
    }
    CHECK(reply->count >= 0 && reply->count <= ORACLE_KEYS);
    statement->commits_answered = oracle->commits;
    statement->status = reply->status;
    statement->reason = reply->reason;
    statement->count = reply->count;
    if (reply->count > 0) {
        memcpy(statement->rows, reply->rows, (size_t)reply->count * sizeof *statement->rows);
    }
}

/* ---- Replaying ---- */

static bool is_blind(const struct step *step) {
    bool unconditional = step->condition.operator== CONDITION_TRUE || step->condition.of_id;
    return !step->scan && unconditional &&
           (step->kind == STEP_DELETE || (step->kind == STEP_UPDATE && step->value == VALUE_SET));
}

/* Is this reply's next row, number `got`, the one that the matching cell calls for? */
static bool row_fits(const struct oracle *oracle, const struct oracle_statement *statement, int64_t got, int64_t key,
                     int64_t value) {
    if (got >= statement->count || statement->rows[got].key != key) {
        return false;
    }
    return statement->rows[got].value == value || (!oracle->sees_blind && is_blind(&statement->step));
}

/* Do the rows of the reply fit the state? All that match, in key order; SKIP LOCKED may leave some out. */
static bool rows_fit(const struct oracle *oracle, const struct oracle_statement *statement, const struct view *view) {
    const struct step *step = &statement->step;
    bool may_skip = step->patience == PATIENCE_SKIP_LOCKED || (oracle->leaves_out && is_blind(step));
    int64_t got = 0;
    for (int64_t key = step->first; key <= step->last; key++) {
        const struct oracle_cell *cell = &view->state.cells[cell_of(oracle, key)];
        bool full = step->scan && step->limit > 0 && got == step->limit;
        if (full || !cell->present || !condition_holds(&step->condition, key, cell->value)) {
            continue;
        }
        if (row_fits(oracle, statement, got, key, cell->value)) {
            got++;
        } else if (!may_skip) {
            return false;
        }
    }
    return got == statement->count;
}

static bool insert_fits(const struct oracle *oracle, const struct oracle_statement *statement,
                        const struct view *view) {
    bool present = view->state.cells[cell_of(oracle, statement->step.first)].present;
    if (statement->status == REPLY_ERROR && statement->reason == REASON_DUPLICATE) {
        return present;
    }
    return !present && statement->count == 1 && statement->rows[0].key == statement->step.first &&
           statement->rows[0].value == 0;
}

static bool reply_fits(const struct oracle *oracle, const struct oracle_statement *statement, const struct view *view) {
    if (statement->status == REPLY_ERROR && statement->reason == REASON_NOWAIT) {
        return statement->step.patience == PATIENCE_NOWAIT && statement->count == 0;
    }
    if (statement->step.kind == STEP_INSERT) {
        return insert_fits(oracle, statement, view);
    }
    return statement->status == REPLY_OK && rows_fit(oracle, statement, view);
}

static void apply(const struct oracle *oracle, const struct oracle_statement *statement, struct view *view) {
    const struct step *step = &statement->step;
    for (int64_t i = 0; i < statement->count; i++) {
        size_t at = cell_of(oracle, statement->rows[i].key);
        struct oracle_cell *cell = &view->state.cells[at];
        if (step->kind == STEP_SELECT) {
            view->locked[at] = view->locked[at] || step->locking != LOCKING_NONE;
            continue;
        }
        view->written[at] = true;
        cell->value =
            step->value == VALUE_ADD && step->kind != STEP_INSERT ? cell->value + step->operand : step->operand;
        cell->present = step->kind != STEP_DELETE;
    }
}

/* Does a later ROLLBACK TO undo statement `at`? */
static bool is_undone(const struct oracle_attempt *attempt, int at) {
    for (int i = at + 1; i < attempt->count; i++) {
        if (attempt->statements[i].step.kind == STEP_ROLLBACK_TO) {
            int savepoint = attempt->statements[i].step.savepoint;
            int set = i - 1;
            while (attempt->statements[set].step.kind != STEP_SAVEPOINT ||
                   attempt->statements[set].step.savepoint != savepoint) {
                set--;
            }
            if (set < at) {
                return true;
            }
        }
    }
    return false;
}

/* What a blind write that was undone found is nothing the transaction relies on: it read nothing. */
static bool is_certified(const struct oracle_attempt *attempt, int at) {
    return !is_blind(&attempt->statements[at].step) || !is_undone(attempt, at);
}

/* ORACLE_STATEMENT, a plain SELECT: does a state of its time explain it, with the transaction's own writes on top? */
static bool some_state_fits(const struct oracle *oracle, const struct oracle_statement *statement,
                            const struct view *view) {
    for (uint64_t number = statement->commits_asked; number <= statement->commits_answered; number++) {
        struct view then = {.state = number == oracle->commits ? oracle->now : oracle->states.items[number]};
        for (size_t i = 0; i < ORACLE_KEYS; i++) {
            then.state.cells[i] = view->written[i] ? view->state.cells[i] : then.state.cells[i];
        }
        if (rows_fit(oracle, statement, &then)) {
            return true;
        }
    }
    return false;
}

/* And what it wrote or locked: since then nobody else can have changed those rows. */
static bool rows_are_kept(const struct oracle *oracle, const struct oracle_statement *statement,
                          const struct view *view) {
    bool fits = true;
    for (int64_t i = 0; i < statement->count; i++) {
        const struct reply_row *row = &statement->rows[i];
        const struct oracle_cell *cell = &view->state.cells[cell_of(oracle, row->key)];
        bool inserts = statement->step.kind == STEP_INSERT;
        fits = fits && cell->present == !inserts &&
               (inserts ||
                (cell->value == row->value && condition_holds(&statement->step.condition, row->key, row->value)));
    }
    return fits;
}

static bool statement_fits(const struct oracle *oracle, const struct oracle_attempt *attempt, int at,
                           const struct view *view) {
    const struct oracle_statement *statement = &attempt->statements[at];
    if (oracle->kind != ORACLE_STATEMENT) {
        return !is_certified(attempt, at) || reply_fits(oracle, statement, view);
    }
    if (statement->step.kind == STEP_SELECT && statement->step.locking == LOCKING_NONE) {
        return some_state_fits(oracle, statement, view);
    }
    return is_undone(attempt, at) || rows_are_kept(oracle, statement, view);
}

/* Replays the attempt in `view`, to the end in any case; the number of the first statement whose reply does not fit,
 * from 0, or -1. */
static int replay(const struct oracle *oracle, const struct oracle_attempt *attempt, struct view *view) {
    struct view saved[STEP_SAVEPOINTS_MAX];
    int wrong = -1;
    for (int i = 0; i < attempt->count; i++) {
        const struct oracle_statement *statement = &attempt->statements[i];
        if (statement->step.kind == STEP_SAVEPOINT) {
            saved[statement->step.savepoint] = *view;
        } else if (statement->step.kind == STEP_ROLLBACK_TO) {
            *view = saved[statement->step.savepoint];
        } else if (statement->step.kind <= STEP_INSERT) {
            if (wrong < 0 && !statement_fits(oracle, attempt, i, view)) {
                wrong = i;
            }
            apply(oracle, statement, view);
        }
    }
    return wrong;
}

/* ---- Judging ---- */

static void say_rows(struct text *out, const struct oracle_statement *statement) {
    for (int64_t i = 0; i < statement->count; i++) {
        text_add(out, " %" PRId64 "=%" PRId64, statement->rows[i].key, statement->rows[i].value);
    }
}

static void say_statement(struct text *out, const struct oracle_statement *statement) {
    static const char *const kinds[] = {"SELECT",    "UPDATE",      "DELETE", "INSERT",  "THINK",
                                        "SAVEPOINT", "ROLLBACK TO", "COMMIT", "ROLLBACK"};
    static const char *const lockings[] = {"", " FOR SHARE", " FOR UPDATE"};
    static const char *const patiences[] = {"", " NOWAIT", " SKIP LOCKED"};
    const struct step *step = &statement->step;
    text_add(out, "    %s", kinds[step->kind]);
    if (step->kind > STEP_INSERT) {
        text_add(out, " %d\n", step->savepoint);
        return;
    }
    text_add(out, " %" PRId64, step->first);
    if (step->scan) {
        text_add(out, "..%" PRId64 " limit %" PRId64, step->last, (int64_t)step->limit);
    }
    if (step->condition.operator!= CONDITION_TRUE) {
        text_add(out, " if %s operator %d mod %" PRId64 " %" PRId64, step->condition.of_id ? "id" : "v",
                 (int)step->condition.operator, step->condition.modulus, step->condition.constant);
    }
    if (step->kind != STEP_SELECT && step->kind != STEP_DELETE) {
        text_add(out, " %s%" PRId64, step->value == VALUE_ADD ? "+=" : ":=", step->operand);
    }
    text_add(out, "%s%s ->", lockings[step->locking], patiences[step->patience]);
    if (statement->status == REPLY_ERROR) {
        text_add(out, " error %s", reason_texts[statement->reason].name);
    }
    say_rows(out, statement);
    text_add(out, "\n");
}

static void say_mismatch(struct oracle *oracle, const struct oracle_attempt *attempt, int wrong, const char *what) {
    if (oracle->mismatches++ > 0) {
        return;
    }
    text_add(&oracle->first, "commit %" PRIu64 ", statement %d: %s\n", oracle->commits + 1, wrong + 1, what);
    for (int i = 0; i < attempt->count; i++) {
        say_statement(&oracle->first, &attempt->statements[i]);
    }
    text_add(&oracle->first, "    the state was");
    for (int64_t i = 0; i < ORACLE_KEYS; i++) {
        if (oracle->now.cells[i].present) {
            text_add(&oracle->first, " %" PRId64 "=%" PRId64, oracle->first_key + i, oracle->now.cells[i].value);
        }
    }
    text_add(&oracle->first, "\n");
}

/* Was anything it wrote or locked changed after state `number`? */
static bool was_overtaken(const struct oracle *oracle, const struct view *view, uint64_t number) {
    for (size_t i = 0; i < ORACLE_KEYS; i++) {
        if ((view->written[i] || view->locked[i]) && oracle->changed[i] > number) {
            return true;
        }
    }
    return false;
}

static void judge_snapshot(struct oracle *oracle, const struct oracle_attempt *attempt, struct view *view) {
    bool overtaken = false;
    int wrong = -1;
    for (uint64_t number = attempt->commits_asked; number <= attempt->commits_answered; number++) {
        *view = (struct view){.state = number == oracle->commits ? oracle->now : oracle->states.items[number]};
        wrong = replay(oracle, attempt, view);
        if (wrong < 0 && !was_overtaken(oracle, view, number)) {
            return;
        }
        overtaken = overtaken || wrong < 0;
    }
    say_mismatch(oracle, attempt, wrong,
                 overtaken ? "a row it wrote was changed since its snapshot" : "no snapshot explains the replies");
}

static void judge(struct oracle *oracle, const struct oracle_attempt *attempt) {
    struct view view = {.state = oracle->now};
    if (oracle->kind == ORACLE_SNAPSHOT) {
        judge_snapshot(oracle, attempt, &view);
    } else {
        int wrong = replay(oracle, attempt, &view);
        if (wrong >= 0 && oracle->kind != ORACLE_OFF) {
            say_mismatch(oracle, attempt, wrong, "the state that the commits before it left explains no such reply");
            say_mismatch(oracle, attempt, wrong, "the state that those before it left explains no such reply");
        }
    }
    oracle->replies += (uint64_t)attempt->count;
    vector_push(&oracle->states, oracle->now);
    oracle->commits++;
    for (size_t i = 0; i < ORACLE_KEYS; i++) {
        if (view.written[i]) {
            oracle->now.cells[i] = view.state.cells[i];
            oracle->changed[i] = oracle->commits;
        }
    }
}

void oracle_commit(struct oracle *oracle, const struct oracle_attempt *attempt) {
    if (oracle->kind == ORACLE_TIMESTAMP) {
        vector_push(&oracle->pending, *attempt);
    } else {
        judge(oracle, attempt);
    }
}

static int by_number(const void *a, const void *b) {
    uint64_t first = ((const struct oracle_attempt *)a)->number, second = ((const struct oracle_attempt *)b)->number;
    return first < second ? -1 : first > second;
}

static void judge_pending(struct oracle *oracle) {
    if (oracle->pending.count > 0) {
        qsort(oracle->pending.items, oracle->pending.count, sizeof *oracle->pending.items, by_number);
    }
    for (size_t i = 0; i < oracle->pending.count; i++) {
        judge(oracle, &oracle->pending.items[i]);
    }
    oracle->pending.count = 0;
}

void oracle_compare(struct oracle *oracle, struct store *store, struct table *table) {
    judge_pending(oracle);
    struct oracle_state found = {0};
    int64_t sum = 0, rows = 0, key;
    struct record *record = store_next(store, table, oracle->first_key, NULL, &key);
    for (; record != table->end; record = store_next(store, table, key + 1, NULL, &key)) {
        const struct version *version = store_committed(store, table, key, record);
        if (!version->absent) {
            found.cells[cell_of(oracle, key)] = (struct oracle_cell){.value = version->value, .present = true};
            sum += version->value;
            rows++;
        }
    }
    for (size_t i = 0; i < ORACLE_KEYS && oracle->kind != ORACLE_OFF; i++) {
        const struct oracle_cell *truth = &oracle->now.cells[i], *cell = &found.cells[i];
        if (truth->present != cell->present || (truth->present && truth->value != cell->value)) {
            if (oracle->mismatches++ == 0) {
                text_add(&oracle->first, "at the end key %" PRId64 " is %s %" PRId64 ", not %s %" PRId64 "\n",
                         oracle->first_key + (int64_t)i, cell->present ? "present" : "absent", cell->value,
                         truth->present ? "present" : "absent", truth->value);
            }
        }
    }
    if ((sum != table->committed_sum || rows != table->committed_rows) && oracle->mismatches++ == 0) {
        text_add(&oracle->first,
                 "committed_sum %" PRId64 " and committed_rows %" PRId64 " are not %" PRId64 " and %" PRId64 "\n",
                 table->committed_sum, table->committed_rows, sum, rows);
    }
}
