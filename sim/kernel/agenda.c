/* agenda.c - the tournament over slots. See agenda.h for the idea and the invariants.
 *
 * The low half of a key is, from the top: one bit that is 0 for urgent events, 39 bits of the order of scheduling, 24
 * bits of slot. No two events share a key, and the winner's key tells its slot.
 *
 * A popped slot's key stays in its leaf as if it were pending, so that the tree is consistent at all times: the
 * next event scheduled, or the next pop, replaces it. */
#include "sim/kernel/agenda.h"

#include "sim/base/check.h"
#include "sim/base/memory.h"

#define EMPTY (~(agenda_key)0)

enum { SLOT_BITS = 24, ORDER_BITS = 39, WIDTH_MIN = 2, BLIND_LEVELS = 6 };

/* Who wins is as good as random, so this must not be a branch: gcc makes conditional moves of it. */
static inline agenda_key key_min(agenda_key a, agenda_key b) { return a < b ? a : b; }

/* Puts `key` into leaf `i`, the winner's, and replays its matches up to the root. */
static inline void replace_winner(struct agenda *agenda, uint32_t i, agenda_key key) {
    agenda_key *node = agenda->node;
    node[i] = key;
    while (i > 1) {
        key = key_min(key, node[i ^ 1]);
        i /= 2;
        node[i] = key;
    }
}

/* The same for a leaf that need not be the winner's: stops where a match ends as before. Half of all matches end as
 * before, so a test at each of the first levels would be mispredicted, which costs more than to climb them. */
static void replace_any(struct agenda *agenda, uint32_t i, agenda_key key) {
    agenda_key *node = agenda->node;
    uint32_t watched = i >> BLIND_LEVELS;
    node[i] = key;
    while (i > 1) {
        key = key_min(key, node[i ^ 1]);
        i /= 2;
        if (i <= watched && node[i] == key) {
            return;
        }
        node[i] = key;
    }
}

static void settle(struct agenda *agenda) {
    if (agenda->popped != AGENDA_NONE) {
        replace_winner(agenda, agenda->leaf[agenda->popped], EMPTY);
        agenda->popped = AGENDA_NONE;
    }
}

void agenda_init(struct agenda *agenda, uint32_t slots) {
    *agenda = (struct agenda){.popped = AGENDA_NONE};
    agenda_reserve(agenda, slots > WIDTH_MIN ? slots : WIDTH_MIN);
}

void agenda_free(struct agenda *agenda) {
    mem_free(agenda->node);
    mem_free(agenda->leaf);
    *agenda = (struct agenda){.popped = AGENDA_NONE};
}

void agenda_reserve(struct agenda *agenda, uint32_t slots) {
    CHECK(slots <= AGENDA_SLOTS_MAX);
    if (slots <= agenda->width) {
        return;
    }
    /* just what is asked for at first, then doubling */
    uint32_t width = slots > 2 * agenda->width ? slots : 2 * agenda->width;
    agenda_key *node = mem_new(2 * (size_t)width, sizeof *node);
    uint32_t *leaf = mem_new(width, sizeof *leaf);
    for (uint32_t slot = 0; slot < width; slot++) {
        bool is_old = slot < agenda->width;
        leaf[slot] = is_old ? agenda->leaf[slot] - agenda->width + width : width + slot;
        node[leaf[slot]] = is_old ? agenda->node[agenda->leaf[slot]] : EMPTY;
    }
    for (uint32_t i = width - 1; i >= 1; i--) {
        node[i] = key_min(node[2 * i], node[2 * i + 1]);
    }
    mem_free(agenda->node);
    mem_free(agenda->leaf);
    agenda->node = node;
    agenda->leaf = leaf;
    agenda->width = width;
}

static inline bool is_empty(const struct agenda *agenda, uint32_t slot) {
    return agenda->node[agenda->leaf[slot]] == EMPTY;
}

/* The slot's leaf, ready to be replaced: the popped one's if it can be had. True: it is the winner's. */
static inline bool choose_leaf(struct agenda *agenda, uint32_t slot) {
    uint32_t popped = agenda->popped;
    if (popped == AGENDA_NONE) {
        return false;
    }
    if (slot != popped) {
        if (!is_empty(agenda, slot)) {
            return false;
        }
        uint32_t leaf = agenda->leaf[slot];
        agenda->leaf[slot] = agenda->leaf[popped];
        agenda->leaf[popped] = leaf;
    }
    agenda->popped = AGENDA_NONE;
    return true;
}

static inline void schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns, uint64_t ordinary) {
    CHECK(time_ns >= agenda->now_ns);
    CHECK(agenda->order >> ORDER_BITS == 0);
    if (slot >= agenda->width) {
        CHECK(slot < AGENDA_SLOTS_MAX);
        agenda_reserve(agenda, slot + 1);
    }
    uint64_t low = ordinary << 63 | agenda->order++ << SLOT_BITS | slot;
    agenda_key key = (agenda_key)(uint64_t)time_ns << 64 | low;
    if (choose_leaf(agenda, slot)) {
        replace_winner(agenda, agenda->leaf[slot], key);
    } else {
        replace_any(agenda, agenda->leaf[slot], key);
    }
}

void agenda_schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns) { schedule(agenda, slot, time_ns, 1); }

void agenda_schedule_urgent(struct agenda *agenda, uint32_t slot) { schedule(agenda, slot, agenda->now_ns, 0); }

bool agenda_pending(const struct agenda *agenda, uint32_t slot) {
    return slot < agenda->width && slot != agenda->popped && !is_empty(agenda, slot);
}

void agenda_cancel(struct agenda *agenda, uint32_t slot) {
    if (agenda_pending(agenda, slot)) {
        replace_any(agenda, agenda->leaf[slot], EMPTY);
    }
}

uint32_t agenda_pop(struct agenda *agenda, int64_t limit_ns) {
    settle(agenda);
    agenda_key key = agenda->node[1];
    if ((uint64_t)(key >> 64) > (uint64_t)limit_ns) {
        if (key != EMPTY) {
            CHECK(limit_ns >= agenda->now_ns);
            agenda->now_ns = limit_ns;
        }
        return AGENDA_NONE;
    }
    uint32_t slot = (uint32_t)key & (AGENDA_SLOTS_MAX - 1);
    agenda->now_ns = (int64_t)(key >> 64);
    agenda->popped = slot;
    agenda->handled++;
    return slot;
}
