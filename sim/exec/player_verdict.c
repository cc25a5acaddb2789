/* player_verdict.c - what ran, written down as a schedule again, and the verdict on it.
 *
 * An algorithm that writes in place is judged by the order in which its steps took effect: what it protects between
 * the parts of a step, a wait in the middle of a list of rows, cannot have changed meanwhile; where it has changed, as
 * timestamp ordering allows, the versions are judged. One that writes at the commit (CC_PRIVATE_WRITES) likewise, with its writes moved there. One that keeps versions is judged by the
 * versions that were read and installed. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/check/judge_versions.h"
#include "sim/exec/player_parts.h"

struct account {
    struct player *player;
    struct text *ran;
    uint32_t count;    /* steps in it */
    uint32_t *of_step; /* the place in `ran` of each step played, or PLAY_NONE */
    bool *begun;       /* of transactions */
    bool *was_aborted; /* the next step begins anew */
    bool any_end;
};

static int64_t number_at(const struct account *account, uint32_t txn) { return account->player->schedule->txns[txn]; }

static const char *row_name(const struct account *account, uint32_t row) {
    return account->player->schedule->rows[row].name;
}

/* ---- Writing it down ---- */

static void separate(struct account *account) { text_add(account->ran, "%s", account->count++ > 0 ? " " : ""); }

/* A transaction that was aborted needs its `b` to live again. */
static void live(struct account *account, uint32_t txn) {
    if (account->was_aborted[txn]) {
        separate(account);
        text_add(account->ran, "b%" PRId64, number_at(account, txn));
    }
    account->was_aborted[txn] = false;
    account->begun[txn] = true;
}

/* The step as written, without flags: they have had their effect. */
static void add_written(struct account *account, uint32_t step) {
    const struct schedule_step *written = &account->player->schedule->steps[step];
    size_t length = written->length;
    while (length > 0 && written->text[length - 1] != ')') {
        length--;
    }
    separate(account);
    text_add_bytes(account->ran, written->text, length);
}

static void add_read(struct account *account, uint32_t txn, uint32_t row) {
    separate(account);
    text_add(account->ran, "r%" PRId64 "(%s)", number_at(account, txn), row_name(account, row));
}

static void add_end(struct account *account, uint32_t txn, bool committed) {
    live(account, txn);
    separate(account);
    text_add(account->ran, "%c%" PRId64, committed ? 'c' : 'a', number_at(account, txn));
    account->begun[txn] = false;
    account->was_aborted[txn] = !committed;
    account->any_end = true;
}

/* Without any end a schedule counts as committed: here it is not. */
static void close_account(struct account *account) {
    for (uint32_t i = 0; i < account->player->schedule->txn_count && !account->any_end; i++) {
        if (account->begun[i]) {
            separate(account);
            text_add(account->ran, "a%" PRId64, number_at(account, i));
        }
    }
}

/* ---- Step by step, where writes are in place ---- */

/* A write that found no row to change has only read, if it looked at the row at all: w1(x,5) and d1(x) do not. */
static void add_idle_write(struct account *account, uint32_t index, uint32_t txn) {
    const struct schedule *schedule = account->player->schedule;
    const struct schedule_step *written = &schedule->steps[index];
    if (written->predicate == SCHEDULE_NONE) {
        if (written->conditional || written->value.form == SCHEDULE_ADD) {
            add_read(account, txn, schedule->row_list[written->first_row]);
        }
    } else {
        separate(account);
        text_add(account->ran, "q%" PRId64 "(%s)", number_at(account, txn),
                 schedule->predicates[written->predicate].name);
    }
}

/* Any value is the one that was written. */
static void add_any_write(struct account *account, uint32_t index) {
    const struct schedule_step *written = &account->player->schedule->steps[index];
    size_t head = 0; /* up to the end of the row or predicate */
    while (written->text[head] != ',' && written->text[head] != ')') {
        head++;
    }
    separate(account);
    text_add_bytes(account->ran, written->text, head);
    text_add(account->ran, ",%" PRId64, account->player->play->steps[index].any_value);
    text_add_bytes(account->ran, &written->text[head], written->length - head);
}

static void add_statement(struct account *account, uint32_t index, uint32_t txn) {
    const struct schedule_step *written = &account->player->schedule->steps[index];
    const struct play_step *step = &account->player->play->steps[index];
    bool puts = written->kind == SCHEDULE_WRITE || written->kind == SCHEDULE_INSERT;
    if (step->has_count && step->count == 0) {
        add_idle_write(account, index, txn);
        return;
    }
    if (puts && written->value.form == SCHEDULE_ANY) {
        add_any_write(account, index);
        return;
    }
    if (written->limit == 0 && !written->skip) {
        add_written(account, index);
        return;
    }
    for (size_t i = 0; i < step->rows.count; i++) { /* what was left out is as if it had not been asked for */
        add_read(account, txn, step->rows.items[i].row);
    }
}

static void add_good_step(struct account *account, uint32_t index, uint32_t txn) {
    enum schedule_kind kind = SCHEDULE_COMMIT;
    if (index < account->player->schedule->step_count) {
        kind = account->player->schedule->steps[index].kind;
    }
    switch (kind) {
    case SCHEDULE_BEGIN:
        if (!account->begun[txn]) {
            account->was_aborted[txn] = true;
            live(account, txn);
        }
        break;
    case SCHEDULE_COMMIT: add_end(account, txn, true); break;
    case SCHEDULE_ROLLBACK: add_end(account, txn, false); break;
    default: live(account, txn); add_statement(account, index, txn);
    }
}

static void add_event(struct account *account, const struct play_event *event) {
    if (event->kind == PLAY_KILLED) {
        add_end(account, event->txn, false);
        return;
    }
    if (event->kind != PLAY_DONE && event->kind != PLAY_RESUMED && event->kind != PLAY_LATE) {
        return;
    }
    const struct play_step *step = &account->player->play->steps[event->step];
    uint32_t before = account->count;
    if (step->outcome == PLAY_OK) {
        add_good_step(account, event->step, event->txn);
    } else if (step->outcome == PLAY_ABORT) {
        add_end(account, event->txn, false);
    } else if (step->outcome == PLAY_ERROR && step->reason == REASON_DUPLICATE) { /* it has read what is there */
        const struct schedule *schedule = account->player->schedule;
        live(account, event->txn);
        add_read(account, event->txn, schedule->row_list[schedule->steps[event->step].first_row]);
    }
    if (account->count > before) {
        account->of_step[event->step] = account->count - 1;
    }
}

/* ---- By what was read, and installed at the commit, where writes are private ---- */

static void add_install(struct account *account, const struct trace_event *event, bool *present) {
    uint32_t txn = account->player->lives.items[event->life].txn;
    char letter = event->absent ? 'd' : present[event->row] ? 'w' : 'i';
    live(account, txn);
    separate(account);
    text_add(account->ran, "%c%" PRId64 "(%s", letter, number_at(account, txn), row_name(account, event->row));
    bool told = event->value <= SCHEDULE_CONSTANT_MAX && event->value >= -SCHEDULE_CONSTANT_MAX;
    if (!event->absent && told) {
        text_add(account->ran, ",%" PRId64, event->value);
    }
    text_add(account->ran, ")");
    present[event->row] = !event->absent;
}

static void add_trace_read(struct account *account, size_t index) {
    const struct trace_event *event = &account->player->trace.items[index], *last = index > 0 ? event - 1 : NULL;
    uint32_t txn = account->player->lives.items[event->life].txn;
    live(account, txn);
    if (!event->scan) {
        add_read(account, txn, event->row);
    } else if (last == NULL || !last->scan || last->life != event->life || last->statement != event->statement) {
        const struct schedule *schedule = account->player->schedule;
        separate(account);
        text_add(account->ran, "q%" PRId64 "(%s)", number_at(account, txn),
                 schedule->predicates[schedule->steps[event->step].predicate].name);
    }
}

static void add_trace(struct account *account) {
    const struct player *player = account->player;
    bool *present = mem_new(player->schedule->row_count, sizeof *present);
    for (size_t i = 0; i < player->schedule->row_count; i++) {
        present[i] = player->schedule->rows[i].present;
    }
    for (size_t i = 0; i < player->trace.count; i++) {
        const struct trace_event *event = &player->trace.items[i];
        switch (event->kind) {
        case TRACE_READ:
            if (!event->dropped) {
                add_trace_read(account, i);
            }
            break;
        case TRACE_INSTALL: add_install(account, event, present); break;
        case TRACE_END: add_end(account, player->lives.items[event->life].txn, event->committed); break;
        case TRACE_OWN:
        case TRACE_WRITE:
        case TRACE_REREAD: break;
        }
    }
    mem_free(present);
}

/* ---- Reading it back ---- */

/* Rows and predicates are what they are in the schedule that was played. */
static void equip(const struct player *player, struct schedule *schedule, uint32_t *rows) {
    const struct schedule *played = player->schedule;
    for (size_t i = 0; i < played->row_count; i++) {
        rows[i] = PLAY_NONE;
    }
    for (uint32_t i = 0; i < schedule->row_count; i++) {
        uint32_t k = 0;
        while (strcmp(played->rows[k].name, schedule->rows[i].name) != 0) {
            k++;
        }
        schedule->rows[i].id = played->rows[k].id;
        schedule->rows[i].present = played->rows[k].present;
        schedule->rows[i].value = played->rows[k].value;
        rows[k] = i;
    }
    for (size_t i = 0; i < schedule->predicate_count; i++) {
        size_t k = 0;
        while (strcmp(played->predicates[k].name, schedule->predicates[i].name) != 0) {
            k++;
        }
        schedule->predicates[i].declared = played->predicates[k].declared;
        schedule->predicates[i].condition = played->predicates[k].condition;
    }
    schedule->with_init = played->with_init;
}

/* ---- Versions ---- */

struct version_account {
    const struct account *account;
    const struct schedule *schedule; /* what ran */
    const uint32_t *rows;            /* its rows, of those of the schedule played */
    VECTOR(struct versions_op) ops;
    struct versions_life *lives;
};

static uint32_t find_txn(const struct schedule *schedule, int64_t number) {
    for (uint32_t i = 0; i < schedule->txn_count; i++) {
        if (schedule->txns[i] == number) {
            return i;
        }
    }
    return PLAY_NONE;
}

static uint32_t find_predicate(const struct schedule *schedule, const char *name) {
    for (uint32_t i = 0; i < schedule->predicate_count; i++) {
        if (strcmp(schedule->predicates[i].name, name) == 0) {
            return i;
        }
    }
    return PLAY_NONE;
}

static void add_op(struct version_account *versions, const struct trace_event *event) {
    const struct account *account = versions->account;
    uint32_t step = event->step != PLAY_NONE ? account->of_step[event->step] : PLAY_NONE;
    uint32_t row = versions->rows[event->row];
    if (event->dropped || row == PLAY_NONE || step == PLAY_NONE) { /* no row that anybody names, a step of no effect */
        return;
    }
    struct versions_op op = {.life = event->life,
                             .row = row,
                             .write = event->kind == TRACE_INSTALL,
                             .other = event->other,
                             .predicate = VERSIONS_NONE,
                             .matched = event->matched,
                             .absent = event->absent,
                             .value = event->value,
                             .step = step};
    if (event->scan) {
        const struct schedule *played = account->player->schedule;
        uint32_t predicate = played->steps[event->step].predicate;
        op.predicate = find_predicate(versions->schedule, played->predicates[predicate].name);
    }
    struct versions_life *life = &versions->lives[event->life];
    uint32_t index = (uint32_t)versions->ops.count;
    life->first = life->first == VERSIONS_NONE ? index : life->first;
    life->last = index;
    vector_push(&versions->ops, op);
}

static void judge_trace(const struct account *account, const struct schedule *schedule, const uint32_t *rows) {
    struct player *player = account->player;
    size_t life_count = player->lives.count;
    struct version_account versions = {.account = account, .schedule = schedule, .rows = rows};
    versions.lives = mem_new(life_count, sizeof *versions.lives);
    for (size_t i = 0; i < life_count; i++) {
        int64_t number = player->schedule->txns[player->lives.items[i].txn];
        versions.lives[i] = (struct versions_life){.txn = find_txn(schedule, number),
                                                   .attempt = player->lives.items[i].attempt,
                                                   .first = VERSIONS_NONE,
                                                   .last = VERSIONS_NONE,
                                                   .end = VERSIONS_NONE};
    }
    for (size_t i = 0; i < player->trace.count; i++) {
        const struct trace_event *event = &player->trace.items[i];
        if (event->kind == TRACE_READ || event->kind == TRACE_INSTALL) {
            add_op(&versions, event);
        } else if (event->kind == TRACE_END) {
            versions.lives[event->life].ended = true;
            versions.lives[event->life].committed = event->committed;
            versions.lives[event->life].end = (uint32_t)versions.ops.count;
        }
    }
    struct versions_history history = {.schedule = schedule,
                                       .lives = versions.lives,
                                       .life_count = life_count,
                                       .ops = versions.ops.items,
                                       .op_count = versions.ops.count};
    judge_versions(&player->play->verdict, &history);
    player->play->judged = true;
    vector_free(&versions.ops);
    mem_free(versions.lives);
}

/* ---- Steps that are no instant ---- */

/* Between the events, both of one statement: did another one write a row that the statement had read? `first` is the
 * statement's first event. */
static bool is_overtaken(const struct player *player, size_t first, size_t before, size_t after) {
    const struct trace_event *trace = player->trace.items;
    for (size_t i = before + 1; i < after; i++) {
        for (size_t k = first; k <= before && trace[i].kind == TRACE_WRITE; k++) {
            if (trace[k].life == trace[before].life && trace[k].kind == TRACE_READ && trace[k].row == trace[i].row) {
                return true;
            }
        }
    }
    return false;
}

/* Was a row that a step had read changed before the step was over? */
static bool has_overtaken_step(const struct player *player) {
    struct span {
        size_t first, last; /* events of the life's latest statement, from 1 */
    } *spans = mem_new(player->lives.count, sizeof *spans);
    bool found = false;
    for (size_t i = 0; i < player->trace.count && !found; i++) {
        const struct trace_event *event = &player->trace.items[i];
        if (event->kind > TRACE_WRITE) {
            continue;
        }
        struct span *span = &spans[event->life];
        if (span->last == 0 || player->trace.items[span->last - 1].statement != event->statement) {
            span->first = i + 1;
        } else if (span->last < i) {
            found = is_overtaken(player, span->first - 1, span->last - 1, i);
        }
        span->last = i + 1;
    }
    mem_free(spans);
    return found;
}

/* ---- All of it ---- */

static void judge_account(struct account *account) {
    struct player *player = account->player;
    struct schedule_book book = {0};
    uint32_t *rows = mem_new(player->schedule->row_count, sizeof *rows);
    schedule_parse(&book, "what ran", text_string(account->ran), account->ran->length, NULL);
    CHECK(book.mistake_count == 0 && book.count == 1);
    equip(player, &book.schedules[0], rows);
    const struct cc_ops *algorithm = player->play->algorithm;
    bool overtaken = algorithm->level == LEVEL_SER && has_overtaken_step(player);
    if (play_is_multiversion(algorithm) || overtaken) {
        judge_trace(account, &book.schedules[0], rows);
    } else {
        player->play->judged = judge(&player->play->verdict, &book.schedules[0]);
    }
    schedule_book_free(&book);
    mem_free(rows);
}

void player_judge(struct player *player) {
    struct play *play = player->play;
    size_t txns = player->schedule->txn_count;
    bool private_writes = (player->ops.flags & CC_PRIVATE_WRITES) != 0 && !play_is_multiversion(play->algorithm);
    struct account account = {.player = player, .ran = &play->ran};
    account.of_step = mem_new(play->step_count, sizeof *account.of_step);
    account.begun = mem_new(txns, sizeof *account.begun);
    account.was_aborted = mem_new(txns, sizeof *account.was_aborted);
    for (size_t i = 0; i < play->step_count; i++) {
        account.of_step[i] = PLAY_NONE;
    }
    if (private_writes) {
        add_trace(&account);
    } else {
        for (size_t i = 0; i < play->events.count; i++) {
            add_event(&account, &play->events.items[i]);
        }
    }
    close_account(&account);
    if (account.count > 0) {
        judge_account(&account);
    }
    mem_free(account.of_step);
    mem_free(account.begun);
    mem_free(account.was_aborted);
}
