/* player_moment.c - who waits for whom at a moment, the lock table after a step, and the rows in the end. */
#include "sim/exec/player_parts.h"
#include "sim/kit/lock.h"

const struct txn_list *player_blockers(struct player *player, const struct txn *waiting) {
    struct txn_list *list = &player->world.cc.search;
    list->count = 0;
    player->world.ops->blockers(&player->world.cc, waiting, list, SIZE_MAX);
    return list;
}

/* ---- Locks and waits ---- */

struct lock_view {
    struct player *player;
    uint32_t row;
    int level;
    int64_t page;
};

static void show_lock(void *context, const struct lock *lock) {
    struct lock_view *view = context;
    struct play_lock shown = {.row = view->row,
                              .txn = player_number(actor_of(lock->owner)),
                              .mode = lock_mode_names[lock->mode],
                              .waits = lock->waits,
                              .gap = lock->gap,
                              .level = (uint8_t)view->level,
                              .page = view->page};
    vector_push(&view->player->play->locks, shown);
}

/* What contains the rows, coarsest first, each once. */
static void note_granules(struct player *player, struct lock_view *view) {
    for (view->level = 3; view->level > 0; view->level--) {
        const struct record *last = NULL;
        for (size_t i = 0; i < player->schedule->row_count; i++) {
            view->row = player->by_id[i];
            int64_t id = player->schedule->rows[view->row].id;
            const struct record *record =
                player->ops.granule(&player->world.cc, player->table, id, view->level, &view->page);
            if (record != NULL && record != last) {
                lock_each(record, show_lock, view);
            }
            last = record;
        }
    }
}

static void note_locks(struct player *player) {
    struct lock_view view = {.player = player};
    if (player->ops.granule != NULL) {
        note_granules(player, &view);
    }
    for (size_t i = 0; i < player->schedule->row_count; i++) {
        int64_t id = player->schedule->rows[player->by_id[i]].id;
        view.row = player->by_id[i];
        struct record *record = store_record(&player->world.store, player->table, id);
        lock_each(record, show_lock, &view);
        store_release(&player->world.store, player->table, id, record);
    }
    view.row = PLAY_NONE;
    lock_each(player->table->end, show_lock, &view);
}

void player_moment(struct player *player) {
    struct play *play = player->play;
    struct play_moment *moment = &play->moments[player->now];
    moment->first_lock = play->locks.count;
    note_locks(player);
    moment->lock_count = play->locks.count - moment->first_lock;
}

/* ---- The end ---- */

void player_final(struct player *player) {
    struct play *play = player->play;
    struct store *store = &player->world.store;
    play->final = mem_new(player->schedule->row_count, sizeof *play->final);
    for (size_t i = 0; i < player->schedule->row_count; i++) {
        int64_t id = player->schedule->rows[i].id;
        struct record *record = store_record(store, player->table, id);
        const struct version *version = store_committed(store, player->table, id, record);
        play->final[i] = (struct play_final){.present = !version->absent, .value = version->value};
        store_release(store, player->table, id, record);
    }
}
