/* player_open.c - sets the player up, with the harness it plays in, and takes it down. */
#include <stdlib.h>

#include "sim/base/check.h"
#include "sim/exec/player_parts.h"

/* ---- The harness: wakes and dooms are noted, and followed after the step ---- */

static void harness_wake(void *context, struct txn *txn) {
    struct player *player = context;
    struct actor *actor = actor_of(txn);
    if (txn->state != TXN_WAITING || txn->doomed || actor->wait_event == EVENT_WAKE) {
        return;
    }
    actor->wait_event = EVENT_WAKE;
    agenda_cancel(&player->world.agenda, txn->slot); /* its timer; a wait that goes on sets it again */
}

static bool harness_doom(void *context, struct txn *txn, int reason) {
    struct player *player = context;
    if (txn->state == TXN_IDLE || txn->state == TXN_SEALED) {
        return false;
    }
    if (!txn->doomed) {
        txn->doomed = true;
        txn->reason = (uint8_t)reason;
        actor_of(txn)->phase = PHASE_ABORT;
        agenda_cancel(&player->world.agenda, txn->slot);
        vector_push(&player->doomed, actor_of(txn));
    }
    return true;
}

static void harness_back(void *context, struct txn *txn, uint32_t mark) {
    struct player *player = context;
    txn->doomed = true;
    txn->back_to = mark;
    actor_of(txn)->phase = PHASE_BACK;
    agenda_cancel(&player->world.agenda, txn->slot);
    vector_push(&player->doomed, actor_of(txn));
}

static void harness_deadlock(void *context, struct txn *const *cycle, size_t count) {
    struct player *player = context;
    struct play *play = player->play;
    struct play_event event = {.kind = PLAY_DEADLOCK,
                               .during = player->now,
                               .step = PLAY_NONE,
                               .txn = PLAY_NONE,
                               .first = (uint32_t)play->cycles.count,
                               .count = (uint32_t)count};
    for (size_t i = count; i-- > 0;) { /* each waits for the next */
        vector_push(&play->cycles, player_number(actor_of(cycle[i])));
    }
    vector_push(&play->events, event);
}

/* ---- Rows ---- */

uint32_t player_row(const struct player *player, int64_t id) {
    size_t low = 0, high = player->schedule->row_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (player->schedule->rows[player->by_id[middle]].id <= id) {
            low = middle;
        } else {
            high = middle;
        }
    }
    CHECK(low < player->schedule->row_count && player->schedule->rows[player->by_id[low]].id == id);
    return player->by_id[low];
}

struct row_id {
    int64_t id;
    uint32_t row;
};

static int by_id(const void *a, const void *b) {
    int64_t left = ((const struct row_id *)a)->id, right = ((const struct row_id *)b)->id;
    return (left > right) - (left < right);
}

static void sort_rows(struct player *player) {
    size_t count = player->schedule->row_count;
    struct row_id *rows = mem_new(count, sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (struct row_id){.id = player->schedule->rows[i].id, .row = i};
    }
    qsort(rows, count, sizeof *rows, by_id);
    player->by_id = mem_new(count, sizeof *player->by_id);
    for (size_t i = 0; i < count; i++) {
        player->by_id[i] = rows[i].row;
    }
    mem_free(rows);
}

static void open_rows(struct player *player) {
    const struct schedule *schedule = player->schedule;
    sort_rows(player);
    player->is_looked_at = mem_new(schedule->row_count, sizeof *player->is_looked_at);
    size_t listed = 0;
    for (size_t i = 0; i < schedule->step_count; i++) {
        const struct schedule_step *step = &schedule->steps[i];
        listed = step->first_row + step->row_count > listed ? step->first_row + step->row_count : listed;
        if (step->value.form == SCHEDULE_LAST_READ) {
            player->is_looked_at[step->value.row] = true;
        }
    }
    player->keys = mem_new(listed, sizeof *player->keys);
    for (size_t i = 0; i < listed; i++) {
        player->keys[i] = schedule->rows[schedule->row_list[i]].id;
    }
}

/* The written steps and, if no transaction has an end, a commit for each, in the order of their last steps. */
static void open_steps(struct player *player) {
    const struct schedule *schedule = player->schedule;
    struct play *play = player->play;
    size_t most = schedule->step_count + schedule->txn_count;
    bool ends = false;
    play->steps = mem_new(most, sizeof *play->steps);
    play->step_txns = mem_new(most, sizeof *play->step_txns);
    play->moments = mem_new(most, sizeof *play->moments);
    play->written_count = play->step_count = schedule->step_count;
    for (size_t i = 0; i < most; i++) {
        play->steps[i].resumed_after = play->steps[i].ran_after = PLAY_NONE;
    }
    for (uint32_t i = 0; i < schedule->step_count; i++) {
        enum schedule_kind kind = schedule->steps[i].kind;
        ends = ends || kind == SCHEDULE_COMMIT || kind == SCHEDULE_ROLLBACK;
        play->step_txns[i] = schedule->steps[i].txn;
        struct player_txn *txn = &player->txns[schedule->steps[i].txn];
        txn->last_step = i;
        txn->last_begin = kind == SCHEDULE_BEGIN ? i : txn->last_begin;
    }
    for (uint32_t i = 0; i < schedule->step_count && !ends; i++) {
        struct player_txn *txn = &player->txns[schedule->steps[i].txn];
        if (txn->last_step == i) {
            txn->last_step = (uint32_t)play->step_count;
            play->step_txns[play->step_count++] = schedule->steps[i].txn;
        }
    }
}

void player_open(struct player *player, struct spec *spec, const void *options) {
    struct text error = {0};
    const struct schedule *schedule = player->schedule;
    bool good = spec_open(spec, player->play->algorithm->name, "idle") &&
                spec_set(spec, "cost.cpu_access=0 restart.delay=1s", &error);
    CHECK(good);
    spec->run.workload = &player_workload;
    spec->run.certify = true; /* the verdict is passed besides, on the whole schedule */
    spec->run.workload_options = &player;
    spec->run.algorithm = &player->ops;
    spec->run.algorithm_options = options != NULL ? options : spec->algorithm_options;
    player->txns = mem_new(schedule->txn_count, sizeof *player->txns);
    player->extras = mem_new(schedule->txn_count, sizeof *player->extras);
    player->marks = mem_new(schedule->step_count, sizeof *player->marks);
    for (size_t i = 0; i < schedule->txn_count; i++) {
        struct player_txn *txn = &player->txns[i];
        txn->given = txn->current = txn->last_step = txn->last_begin = PLAY_NONE;
    }
    player->ops = *player->play->algorithm;
    player_watch(player);
    open_rows(player);
    open_steps(player);
    world_init(&player->world, &spec->run, &player->result);
    spec->run.workload_options = spec->workload_options;
    player->world.cc.vacuum_period_ns = 0; /* no time passes: no vacuum comes */
    player->world.harness.world = player;
    player->world.harness.wake = harness_wake;
    player->world.harness.doom = harness_doom;
    player->world.harness.back = harness_back;
    player->world.harness.deadlock = harness_deadlock;
    player->installing = player->world.harness.installing;
    if (play_is_multiversion(player->play->algorithm)) {
        player->world.harness.installing = player_installing;
    }
}

void player_close(struct player *player, struct spec *spec) {
    for (size_t i = 0; i < player->schedule->txn_count; i++) {
        vector_free(&player->txns[i].last_reads);
    }
    vector_free(&player->put_off);
    vector_free(&player->doomed);
    mem_free(player->txns);
    mem_free(player->extras);
    mem_free(player->marks);
    mem_free(player->by_id);
    mem_free(player->is_looked_at);
    mem_free(player->keys);
    vector_free(&player->trace);
    vector_free(&player->lives);
    world_free(&player->world);
    run_result_free(&player->result);
    spec_close(spec);
}

void play_free(struct play *play) {
    for (size_t i = 0; i < play->step_count; i++) {
        vector_free(&play->steps[i].waits_for);
        vector_free(&play->steps[i].rows);
    }
    mem_free(play->steps);
    mem_free(play->step_txns);
    mem_free(play->moments);
    mem_free(play->final);
    text_free(&play->ran);
    verdict_free(&play->verdict);
    text_free(&play->witness);
    vector_free(&play->ends);
    vector_free(&play->killed);
    vector_free(&play->events);
    vector_free(&play->cycles);
    vector_free(&play->locks);
    *play = (struct play){0};
}
