/* agenda.c - the tournament over slots. See agenda.h for the idea and the invariants.
 *
 * The low half of a key is, from the top: one bit that is 0 for urgent events, 39 bits of the order of scheduling, 24
 * bits of slot. No two events share a key, and the winner's key tells its slot.
 *
 * A popped slot's key stays in its leaf as if it were pending, so that the tree is consistent at all times: the
 * next event scheduled, or the next pop, replaces it. */
#include "sim/kernel/agenda.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

#define EMPTY (~(agenda_key)0)

enum { SLOT_BITS = 24, ORDER_BITS = 39, BLIND_LEVELS = 6 };

/* Who wins is as good as random, so this must not be a branch: gcc makes conditional moves of it. */
static inline agenda_key key_min(agenda_key a, agenda_key b) { return a < b ? a : b; }

/* Puts `key` into leaf `i`, the winner's, and replays its matches up to the root. */
static inline void replace_winner(struct agenda *agenda, uint32_t i, agenda_key key) {
    agenda_key *node = agenda->node;
    uint32_t root = agenda->root;
    node[i] = key;
    while (i != root) {
        key = key_min(key, node[i ^ 1]);
        i /= 2;
        node[i] = key;
    }
}

/* The same for a leaf that need not be the winner's: stops where a match ends as before. Half of all matches end as
 * before, so a test at each of the first levels would be mispredicted, which costs more than to climb them. */
static void replace_any(struct agenda *agenda, uint32_t i, agenda_key key) {
    agenda_key *node = agenda->node;
    uint32_t watched = i >> BLIND_LEVELS, root = agenda->root;
    node[i] = key;
    while (i != root) {
        key = key_min(key, node[i ^ 1]);
        i /= 2;
        if (i <= watched && node[i] == key) {
            return;
        }
        node[i] = key;
    }
}

static inline uint32_t slot_of(agenda_key key) { return (uint32_t)key & (AGENDA_SLOTS_MAX - 1); }

/* A new leaf on the right. Where the root moves up, what was beside it is empty but for this leaf. */
static void add_leaf(struct agenda *agenda, uint32_t slot, agenda_key key) {
    uint32_t leaf = agenda->width + agenda->used++;
    if (agenda->used > agenda->span) {
        agenda->root /= 2;
        agenda->span *= 2;
    }
    agenda->leaf[slot] = leaf;
    replace_winner(agenda, leaf, key);
}

/* The last leaf moves into the place of the one that goes. */
static void remove_leaf(struct agenda *agenda, uint32_t slot) {
    uint32_t hole = agenda->leaf[slot], last = agenda->width + --agenda->used;
    agenda_key moved = agenda->node[last];
    agenda->leaf[slot] = 0;
    replace_any(agenda, last, EMPTY);
    if (hole != last) {
        agenda->leaf[slot_of(moved)] = hole;
        replace_any(agenda, hole, moved);
    }
    if (agenda->used > 0 && agenda->used <= agenda->span / 2) {
        agenda->root *= 2;
        agenda->span /= 2;
    }
}

static inline void settle(struct agenda *agenda) {
    if (agenda->popped != AGENDA_NONE) {
        remove_leaf(agenda, agenda->popped);
        agenda->popped = AGENDA_NONE;
    }
}

void agenda_init(struct agenda *agenda, uint32_t slots) {
    *agenda = (struct agenda){.popped = AGENDA_NONE};
    agenda_reserve(agenda, slots > 1 ? slots : 1);
}

void agenda_free(struct agenda *agenda) {
    mem_free(agenda->node);
    mem_free(agenda->leaf);
    *agenda = (struct agenda){.popped = AGENDA_NONE};
}

/* Twice as wide, and so on: what was the tree is the left part of the new one, at the same distance from its leaves. */
static void widen(struct agenda *agenda, uint32_t width) {
    agenda_key *node = mem_new(2 * (size_t)width, sizeof *node);
    for (uint32_t i = 0; i < 2 * width; i++) {
        node[i] = EMPTY;
    }
    for (uint32_t i = 0; i < agenda->used; i++) {
        node[width + i] = agenda->node[agenda->width + i];
        agenda->leaf[slot_of(node[width + i])] = width + i;
    }
    for (uint32_t i = width - 1; i >= 1; i--) {
        node[i] = key_min(node[2 * i], node[2 * i + 1]);
    }
    mem_free(agenda->node);
    agenda->span = agenda->width == 0 ? 1 : agenda->span;
    agenda->root = width / agenda->span;
    agenda->node = node;
    agenda->width = width;
}

void agenda_reserve(struct agenda *agenda, uint32_t slots) {
    CHECK(slots <= AGENDA_SLOTS_MAX);
    if (slots <= agenda->slots) {
        return;
    }
    uint32_t room = slots > 2 * agenda->slots ? slots : 2 * agenda->slots; /* just what is asked for, then doubling */
    agenda->leaf = mem_resize(agenda->leaf, room, sizeof *agenda->leaf);
    memset(agenda->leaf + agenda->slots, 0, (room - agenda->slots) * sizeof *agenda->leaf);
    agenda->slots = room;
    uint32_t width = agenda->width > 0 ? agenda->width : 1;
    while (width < room) {
        width *= 2;
    }
    if (width > agenda->width) {
        widen(agenda, width);
    }
}

/* The popped slot's leaf is the winner's: it is its own again, or taken over by a slot that has none. */
static inline __attribute__((always_inline)) void put(struct agenda *agenda, uint32_t slot, agenda_key key) {
    uint32_t popped = agenda->popped, leaf = agenda->leaf[slot];
    if (slot == popped) {
        agenda->popped = AGENDA_NONE;
        replace_winner(agenda, leaf, key);
    } else if (leaf != 0) {
        replace_any(agenda, leaf, key);
    } else if (popped != AGENDA_NONE) {
        leaf = agenda->leaf[slot] = agenda->leaf[popped];
        agenda->leaf[popped] = 0;
        agenda->popped = AGENDA_NONE;
        replace_winner(agenda, leaf, key);
    } else {
        add_leaf(agenda, slot, key);
    }
}

static inline __attribute__((always_inline)) void schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns,
                                                           uint64_t ordinary) {
    CHECK(time_ns >= agenda->now_ns);
    CHECK(agenda->order >> ORDER_BITS == 0);
    if (slot >= agenda->slots) {
        CHECK(slot < AGENDA_SLOTS_MAX);
        agenda_reserve(agenda, slot + 1);
    }
    uint64_t low = ordinary << 63 | agenda->order++ << SLOT_BITS | slot;
    put(agenda, slot, (agenda_key)(uint64_t)time_ns << 64 | low);
}

void agenda_schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns) { schedule(agenda, slot, time_ns, 1); }

void agenda_schedule_urgent(struct agenda *agenda, uint32_t slot) { schedule(agenda, slot, agenda->now_ns, 0); }

bool agenda_pending(const struct agenda *agenda, uint32_t slot) {
    return slot < agenda->slots && slot != agenda->popped && agenda->leaf[slot] != 0;
}

void agenda_cancel(struct agenda *agenda, uint32_t slot) {
    if (agenda_pending(agenda, slot)) {
        remove_leaf(agenda, slot);
    }
}

uint32_t agenda_pop(struct agenda *agenda, int64_t limit_ns) {
    settle(agenda);
    agenda_key key = agenda->node[agenda->root];
    if ((uint64_t)(key >> 64) > (uint64_t)limit_ns) {
        if (key != EMPTY) {
            CHECK(limit_ns >= agenda->now_ns);
            agenda->now_ns = limit_ns;
        }
        return AGENDA_NONE;
    }
    uint32_t slot = slot_of(key);
    agenda->now_ns = (int64_t)(key >> 64);
    agenda->popped = slot;
    agenda->handled++;
    return slot;
}

/* The best of those whom the popped one beat. */
uint32_t agenda_foresee(const struct agenda *agenda) {
    CHECK(agenda->popped != AGENDA_NONE);
    agenda_key next = EMPTY;
    for (uint32_t i = agenda->leaf[agenda->popped]; i != agenda->root; i /= 2) {
        next = key_min(next, agenda->node[i ^ 1]);
    }
    return next != EMPTY ? slot_of(next) : AGENDA_NONE;
}
