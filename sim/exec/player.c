/* player.c - the schedule player's harness: gives the steps, resumes who was freed, and notes what came out. See
 * player.h.
 *
 * The walker pauses where it would in a timed run: at a wait, or when the program holds. Wakes and dooms are lists
 * here instead of events; only timers are in the agenda, and nobody asks for them before no step can be given.
 *
 * Invariants
 *  1. A live transaction has a step under way exactly while its actor waits, or inside a call.
 *  2. Once a step has been followed up, only transactions that wait have steps put off. */
#include "sim/exec/player.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/base/check.h"
#include "sim/exec/player_parts.h"
#include "sim/exec/report.h"
#include "sim/kit/lock.h"

const char *const play_outcome_names[PLAY_OUTCOMES] = {"ok", "abort", "error", "wait", "skip"};
const char *const play_end_names[] = {"commit", "rollback", "abort"};

bool play_is_multiversion(const struct cc_ops *algorithm) {
    return (algorithm->flags & (CC_KEEPS_VERSIONS | CC_SKIPS_OBSOLETE)) != 0;
}

static void note(struct player *player, enum play_event_kind kind, uint32_t step, uint32_t txn) {
    struct play_event event = {.kind = kind, .during = player->now, .step = step, .txn = txn};
    vector_push(&player->play->events, event);
}

/* ---- What came out of a step ---- */

static enum schedule_kind kind_of(const struct player *player, uint32_t step) {
    return step < player->schedule->step_count ? player->schedule->steps[step].kind : SCHEDULE_COMMIT;
}

/* The step under way is over, one way or another. */
static struct play_step *close_step(struct player *player, uint32_t number, enum play_outcome outcome) {
    struct player_txn *txn = &player->txns[number];
    struct play_step *step = &player->play->steps[txn->current];
    enum play_event_kind event = step->ran_after != PLAY_NONE ? PLAY_LATE : PLAY_DONE;
    step->outcome = (uint8_t)outcome;
    if (step->waited) {
        step->resumed_after = player->now;
        event = PLAY_RESUMED;
    }
    note(player, event, txn->current, number);
    txn->current = PLAY_NONE;
    return step;
}

static void remember_read(struct player_txn *txn, struct play_row read) {
    for (size_t i = 0; i < txn->last_reads.count; i++) {
        if (txn->last_reads.items[i].row == read.row) {
            txn->last_reads.items[i].value = read.value;
            return;
        }
    }
    vector_push(&txn->last_reads, read);
}

static void take_rows(struct player *player, uint32_t number, struct play_step *step, const struct reply *reply) {
    step->has_rows = true;
    for (int64_t i = 0; i < reply->count; i++) {
        struct play_row row = {.row = player_row(player, reply->rows[i].key), .value = reply->rows[i].value};
        vector_push(&step->rows, row);
        if (player->is_looked_at[row.row]) {
            remember_read(&player->txns[number], row);
        }
    }
}

void player_step_over(struct player *player, uint32_t number, const struct reply *reply) {
    uint32_t index = player->txns[number].current;
    if (reply->status == REPLY_ERROR) {
        close_step(player, number, PLAY_ERROR)->reason = (uint8_t)reply->reason;
        return;
    }
    struct play_step *step = close_step(player, number, PLAY_OK);
    switch (kind_of(player, index)) {
    case SCHEDULE_READ:
    case SCHEDULE_QUERY:
    case SCHEDULE_UPDATE_LOCK:
    case SCHEDULE_SHARE_LOCK: take_rows(player, number, step, reply); break;
    case SCHEDULE_WRITE:
    case SCHEDULE_INSERT:
    case SCHEDULE_DELETE:
        step->has_count = true;
        step->count = reply->count;
        break;
    case SCHEDULE_SAVEPOINT: player->marks[index] = player->txns[number].actor->savepoints[0]; break;
    default: break;
    }
}

/* As if it had not been given; its value, if it chose one, stays. */
static void reset_step(struct player *player, uint32_t index) {
    struct play_step *step = &player->play->steps[index];
    step->outcome = PLAY_WAIT;
    step->reason = 0;
    step->waited = step->has_rows = step->has_count = false;
    step->waits_for.count = step->rows.count = 0;
    step->resumed_after = PLAY_NONE;
    step->ran_after = player->now;
    for (size_t i = 0; i < player->play->events.count; i++) {
        struct play_event *event = &player->play->events.items[i];
        if (event->step == index && event->kind != PLAY_BACK && event->kind != PLAY_PUT_OFF) {
            event->kind = PLAY_UNDONE;
        }
    }
}

static void put_off(struct player *player, uint32_t index) {
    vector_push(&player->put_off, index);
    uint32_t *items = player->put_off.items;
    for (size_t i = player->put_off.count - 1; i > 0 && items[i - 1] > index; i--) {
        items[i] = items[i - 1];
        items[i - 1] = index;
    }
}

void player_sent_back(struct player *player, uint32_t number, uint32_t index) {
    struct player_txn *txn = &player->txns[number];
    note(player, PLAY_BACK, index, number);
    for (uint32_t i = index; i <= txn->current; i++) {
        if (player->play->step_txns[i] == number) {
            reset_step(player, i);
            put_off(player, i);
        }
    }
    txn->current = PLAY_NONE;
    txn->last_reads.count = 0;
    for (uint32_t i = txn->first_step; i < index; i++) {
        const struct play_step *step = &player->play->steps[i];
        for (size_t k = 0; k < step->rows.count && player->play->step_txns[i] == number; k++) {
            if (player->is_looked_at[step->rows.items[k].row]) {
                remember_read(txn, step->rows.items[k]);
            }
        }
    }
}

static void end(struct player *player, uint32_t number, enum play_end_kind kind) {
    struct play_end ended = {.txn = number, .kind = kind};
    vector_push(&player->play->ends, ended);
}

void player_committed(struct player *player, uint32_t number) {
    close_step(player, number, PLAY_OK);
    end(player, number, PLAY_COMMIT);
    player->txns[number].state = PLAYER_OVER;
}

static void note_abort(struct player *player, uint32_t number) {
    struct player_txn *txn = &player->txns[number];
    enum reason reason = (enum reason)txn->actor->txn.reason;
    agenda_cancel(&player->world.agenda, txn->actor->txn.slot); /* it restarts when the schedule says so */
    if (txn->current != PLAY_NONE) {
        close_step(player, number, PLAY_ABORT)->reason = (uint8_t)reason;
    } else {
        struct play_kill kill = {.txn = number, .step = player->now, .reason = reason};
        vector_push(&player->play->killed, kill);
        note(player, PLAY_KILLED, PLAY_NONE, number);
        player->play->events.items[player->play->events.count - 1].reason = (uint32_t)reason;
    }
    end(player, number, PLAY_ABORTED);
    txn->state = PLAYER_DEAD;
    txn->given = PLAY_NONE;
    txn->last_reads.count = 0;
}

/* ---- Waits ---- */

static int by_number(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void note_wait(struct player *player, uint32_t number) {
    struct player_txn *txn = &player->txns[number];
    struct play_step *step = &player->play->steps[txn->current];
    if (step->waited) {
        return;
    }
    step->waited = true;
    step->outcome = PLAY_WAIT;
    const struct txn_list *list = player_blockers(player, &txn->actor->txn);
    for (size_t i = 0; i < list->count; i++) {
        uint32_t blocker = player_number(actor_of(list->items[i]));
        vector_push(&step->waits_for, (uint32_t)player->schedule->txns[blocker]);
    }
    if (step->waits_for.count > 0) {
        qsort(step->waits_for.items, step->waits_for.count, sizeof *step->waits_for.items, by_number);
    }
    note(player, step->ran_after != PLAY_NONE ? PLAY_LATE_WAITS : PLAY_WAITS, txn->current, number);
}

/* The walker has paused: where does the transaction stand now? */
static void look_at(struct player *player, uint32_t number) {
    struct player_txn *txn = &player->txns[number];
    struct actor *actor = txn->actor;
    if (txn->state != PLAYER_LIVE) {
        return;
    }
    if (actor->txn.state == TXN_WAITING) {
        if (!actor->txn.doomed) {
            note_wait(player, number);
        }
    } else if (actor->phase == PHASE_READMIT) {
        note_abort(player, number);
    } else if (!actor->live) {
        close_step(player, number, PLAY_OK);
        end(player, number, PLAY_ROLLBACK);
        txn->state = PLAYER_OVER;
    }
}

/* ---- Giving a step ---- */

static void begin(struct player *player, uint32_t number) {
    struct player_txn *txn = &player->txns[number];
    if (txn->state == PLAYER_UNBEGUN) {
        txn->actor = world_actor(&player->world);
        CHECK(txn->actor != NULL);
        txn->actor->number = number;
        txn->actor->terminal = 0;
        txn->actor->phase = PHASE_SUBMIT;
    }
    txn->state = PLAYER_LIVE;
    txn->first_step = txn->current;
}

static bool is_skipped(const struct player *player, uint32_t number, uint32_t index) {
    enum player_state state = player->txns[number].state;
    return state == PLAYER_OVER || (state == PLAYER_DEAD && kind_of(player, index) != SCHEDULE_BEGIN);
}

/* A `b` of one that has begun says nothing new. */
static bool is_idle_begin(const struct player *player, uint32_t number, uint32_t index) {
    return player->txns[number].state == PLAYER_LIVE && kind_of(player, index) == SCHEDULE_BEGIN;
}

static bool goes_back_nowhere(const struct player *player, uint32_t index) {
    return kind_of(player, index) == SCHEDULE_ROLLBACK_TO && player->marks[player->schedule->steps[index].target] == 0;
}

static void run_step(struct player *player, uint32_t index, bool late) {
    uint32_t number = player->play->step_txns[index];
    struct player_txn *txn = &player->txns[number];
    struct play_step *step = &player->play->steps[index];
    if (is_skipped(player, number, index) || goes_back_nowhere(player, index)) {
        step->outcome = PLAY_SKIP;
        note(player, PLAY_DONE, index, number);
        return;
    }
    step->ran_after = late ? player->now : PLAY_NONE;
    txn->current = index;
    if (is_idle_begin(player, number, index)) {
        close_step(player, number, PLAY_OK);
        return;
    }
    if (txn->state != PLAYER_LIVE) {
        begin(player, number);
    }
    txn->given = kind_of(player, index) == SCHEDULE_BEGIN ? PLAY_NONE : index;
    walker_run(&player->world, txn->actor);
    look_at(player, number);
}

/* ---- What a step sets free ---- */

static struct actor *first_woken(const struct player *player) {
    for (struct txn *txn = player->world.cc.waiting_first; txn != NULL; txn = txn->wait_next) {
        if (!txn->doomed && actor_of(txn)->wait_event == EVENT_WAKE) {
            return actor_of(txn);
        }
    }
    return NULL;
}

/* Whom a step frees may end in the same instant: those are told by number. */
static void sort_ends(struct player *player, size_t first, size_t count) {
    const int64_t *numbers = player->schedule->txns;
    struct play_end *ends = player->play->ends.items;
    for (size_t i = first + 1; i < count; i++) {
        for (size_t k = i; k > first && numbers[ends[k].txn] < numbers[ends[k - 1].txn]; k--) {
            struct play_end other = ends[k];
            ends[k] = ends[k - 1];
            ends[k - 1] = other;
        }
    }
}

/* Aborts are due at once; then the waiting calls that were woken, in the order they began to wait. */
static void resume_all(struct player *player) {
    size_t first_end = player->play->ends.count;
    for (size_t aborted = 0;;) {
        struct actor *actor;
        if (aborted < player->doomed.count) {
            actor = player->doomed.items[aborted++];
        } else {
            player->doomed.count = aborted = 0;
            actor = first_woken(player);
        }
        if (actor == NULL) {
            sort_ends(player, first_end, player->play->ends.count);
            return;
        }
        walker_run(&player->world, actor);
        look_at(player, player_number(actor));
    }
}

static bool is_waiting(const struct player *player, uint32_t number) {
    const struct player_txn *txn = &player->txns[number];
    return txn->state == PLAYER_LIVE && txn->current != PLAY_NONE;
}

/* Runs the first step put off whose transaction waits no more. */
static bool run_one_put_off(struct player *player) {
    for (size_t i = 0; i < player->put_off.count; i++) {
        uint32_t index = player->put_off.items[i], number = player->play->step_txns[index];
        if (!is_waiting(player, number)) {
            for (size_t k = i + 1; k < player->put_off.count; k++) {
                player->put_off.items[k - 1] = player->put_off.items[k];
            }
            player->put_off.count--;
            run_step(player, index, true);
            return true;
        }
    }
    return false;
}

/* So are aborts that follow each other, when the later one came of a step that was put off. */
static void sort_aborts(struct player *player, size_t first) {
    const struct play_end *ends = player->play->ends.items;
    size_t count = player->play->ends.count;
    for (size_t end; first < count; first = end + 1) {
        end = first;
        while (end < count && ends[end].kind == PLAY_ABORTED) {
            end++;
        }
        sort_ends(player, first, end);
    }
}

static void settle(struct player *player) {
    size_t first_end = player->play->ends.count;
    do {
        resume_all(player);
    } while (run_one_put_off(player));
    sort_aborts(player, first_end);
}

/* ---- Timers ---- */

/* Has anybody a step left that could be given now? */
static bool can_go_on(const struct player *player) {
    for (size_t i = 0; i < player->schedule->txn_count; i++) {
        const struct player_txn *txn = &player->txns[i];
        uint32_t last = txn->state == PLAYER_DEAD ? txn->last_begin : txn->last_step;
        if (last != PLAY_NONE && last > player->now && txn->state != PLAYER_OVER && !is_waiting(player, (uint32_t)i)) {
            return true;
        }
    }
    return false;
}

/* Lets time pass until the next timer; false if there is none that could change anything. */
static bool fire_timer(struct player *player) {
    struct world *world = &player->world;
    if (world->cc.waiting_first == NULL) {
        return false;
    }
    uint32_t slot = agenda_next(&world->agenda, INT64_MAX - 1);
    if (slot == AGENDA_NONE) {
        return false;
    }
    if (slot != SLOT_ALGORITHM) {
        walker_event(world, world->actors[slot - SLOT_ACTORS]);
        return true;
    }
    agenda_take_out(&world->agenda, slot);
    world_timer(world);
    bool only_itself = player->doomed.count == 0 && first_woken(player) == NULL;
    for (struct txn *txn = world->cc.waiting_first; txn != NULL && only_itself; txn = txn->wait_next) {
        only_itself = actor_of(txn)->wait_event != EVENT_TIMER;
    }
    return !only_itself; /* a periodic search that finds nothing will not find anything later either */
}

static void let_time_pass(struct player *player) {
    while (!can_go_on(player) && fire_timer(player)) {
        if (player->doomed.count > 0 || first_woken(player) != NULL) {
            note(player, PLAY_TIMER, PLAY_NONE, PLAY_NONE);
            settle(player);
        }
    }
}

/* ---- The whole schedule ---- */

static void give(struct player *player, uint32_t index) {
    uint32_t number = player->play->step_txns[index];
    player->now = index;
    if (is_waiting(player, number)) {
        vector_push(&player->put_off, index);
        player->play->steps[index].outcome = PLAY_WAIT;
        note(player, PLAY_PUT_OFF, index, number);
    } else {
        run_step(player, index, false);
    }
    settle(player);
    let_time_pass(player);
    if (player->play->has_locks) {
        player_moment(player);
    }
}

/* The certifier numbers attempts in the order of their begin: T1 becomes the transaction's own number. */
static void add_witness(const struct player *player, const char *at, struct text *out) {
    for (char *rest; *at != '\0'; at = rest) {
        rest = (char *)(uintptr_t)at + 1;
        if (at[0] == 'T' && at[1] >= '1' && at[1] <= '9') {
            uint64_t serial = strtoull(at + 1, &rest, 10);
            text_add(out, "T%" PRId64, player->schedule->txns[player->lives.items[serial - 1].txn]);
        } else {
            text_add_bytes(out, at, 1);
        }
    }
}

static void take_certificate(struct player *player) {
    report_close(&player->world);
    for (size_t i = 0; i < player->schedule->step_count; i++) {
        const struct schedule_step *step = &player->schedule->steps[i];
        player->play->mixed |= step->level != 0 && step->level - 1 != (int)player->ops.level;
    }
    player->play->promise_broken = player->result.promise_broken;
    player->play->levels_broken = player->result.levels_broken > 0;
    player->play->false_positives = player->result.false_positives;
    add_witness(player, text_string(&player->result.witness), &player->play->witness);
}

void play_schedule(struct play *play, const struct schedule *schedule, const struct cc_ops *algorithm,
                   const void *options, bool locks) {
    *play = (struct play){.schedule = schedule, .algorithm = algorithm};
    struct player *player = mem_new(1, sizeof *player);
    struct spec spec;
    player->schedule = schedule;
    player->play = play;
    player_open(player, &spec, options);
    play->has_locks = locks && player->ops.bounds_gap == lock_bounds_gap;
    for (uint32_t i = 0; i < play->step_count; i++) {
        give(player, i);
    }
    player_final(player);
    player_judge(player);
    take_certificate(player);
    player_close(player, &spec);
    mem_free(player);
}
