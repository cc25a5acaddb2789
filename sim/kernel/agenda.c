/* agenda.c - the tournament over slots. See agenda.h for the idea and the invariants.
 *
 * The hole keeps its key as if it were pending, so that the tree is consistent at all times: the next event scheduled,
 * or the next that is asked for, replaces it. */
#include "sim/kernel/agenda.h"

#include <string.h>

#include "sim/base/inline.h"
#include "sim/base/memory.h"

enum { ARITY = AGENDA_ARITY, NODE = AGENDA_NODE, BLIND_BITS = 6, CACHE_LINE = 64 };
_Static_assert(ARITY *NODE == CACHE_LINE, "siblings fill a cache line");

/* The same for a leaf that need not be the winner's: stops where a match ends as before. Many matches end as before, so
 * a test at each of the first levels would be mispredicted, which costs more than to climb them. */
static void replace_any(struct agenda *agenda, uint32_t at, agenda_key key) {
    agenda_key *node = agenda->node;
    uint32_t watched = at >> BLIND_BITS, root = agenda->root;
    *agenda_at(node, at) = key;
    do {
        key = agenda_min(key, agenda_rival(node, at));
        at = agenda_parent(at);
        if (at <= watched && *agenda_at(node, at) == key) {
            return;
        }
        *agenda_at(node, at) = key;
    } while (at != root);
}

/* The place of the i-th leaf. */
static inline uint32_t leaf_at(const struct agenda *agenda, uint32_t i) { return (agenda->width + i) * NODE; }

/* A new leaf on the right. Where the root moves up, what was beside it is empty but for this leaf. */
static void add_leaf(struct agenda *agenda, uint32_t slot, agenda_key key) {
    uint32_t leaf = leaf_at(agenda, agenda->used++);
    if (agenda->used > agenda->span) {
        agenda->root = agenda_parent(agenda->root);
        agenda->span *= ARITY;
    }
    agenda->leaf[slot] = leaf;
    agenda_replay(agenda, leaf, key);
}

/* The last leaf moves into the place of the one that goes. */
static void remove_leaf(struct agenda *agenda, uint32_t leaf) {
    uint32_t last = leaf_at(agenda, --agenda->used);
    agenda_key moved = *agenda_at(agenda->node, last);
    replace_any(agenda, last, AGENDA_EMPTY);
    if (leaf != last) {
        agenda->leaf[agenda_slot_of(moved)] = leaf;
        replace_any(agenda, leaf, moved);
    }
    if (agenda->used <= agenda->span / ARITY && agenda->span > ARITY) {
        agenda->root *= ARITY;
        agenda->span /= ARITY;
    }
}

__attribute__((noinline)) void agenda_settle(struct agenda *agenda) {
    if (agenda->hole != 0) {
        remove_leaf(agenda, agenda->hole);
        agenda->hole = 0;
    }
}

void agenda_init(struct agenda *agenda, uint32_t slots) {
    *agenda = (struct agenda){.next = AGENDA_ORDINARY};
    agenda_reserve(agenda, slots > 1 ? slots : 1);
}

/* Whole families of siblings: what `count` neighbours on one level take. */
static uint32_t families(uint32_t count) { return (count + ARITY - 1) / ARITY; }

/* Nodes that are allocated; with what it takes to begin at a cache line. */
static size_t extent(uint32_t width, uint32_t room) { return (size_t)width + ARITY * families(room) + ARITY - 1; }

void agenda_free(struct agenda *agenda) {
    mem_unmap(agenda->block, extent(agenda->width, agenda->slots), NODE);
    mem_free(agenda->leaf);
    *agenda = (struct agenda){.next = AGENDA_ORDINARY};
}

/* The nodes anew, for `room` leaves of which `width` is the first: each level goes only as far to the right as there are
 * leaves below it. What was the tree stands at the left, at the same distance from its leaves. */
static void rebuild(struct agenda *agenda, uint32_t width, uint32_t room) {
    void *block = mem_map(extent(width, room), NODE);
    agenda_key *node = (agenda_key *)(((uintptr_t)block + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    for (uint32_t first = width, wide = families(room); first >= 1; first /= ARITY, wide = families(wide)) {
        for (uint32_t i = 0; i < ARITY * wide; i++) {
            node[first + i] = AGENDA_EMPTY;
        }
    }
    for (uint32_t i = 0; i < agenda->used; i++) {
        node[width + i] = agenda->node[agenda->width + i];
    }
    for (uint32_t first = width / ARITY, wide = families(agenda->used); first >= 1;
         first /= ARITY, wide = families(wide)) {
        for (uint32_t i = first; i < first + wide; i++) {
            node[i] = agenda_min(node[ARITY * i], agenda_rival(node, ARITY * i * NODE));
        }
    }
    for (uint32_t slot = 0; slot < agenda->slots; slot++) {
        agenda->leaf[slot] += agenda->leaf[slot] != 0 ? (width - agenda->width) * NODE : 0;
    }
    agenda->hole += agenda->hole != 0 ? (width - agenda->width) * NODE : 0;
    mem_unmap(agenda->block, extent(agenda->width, agenda->slots), NODE);
    agenda->block = block;
    agenda->node = node;
    agenda->width = width;
    agenda->span = agenda->span == 0 ? ARITY : agenda->span;
    agenda->root = width / agenda->span * NODE;
}

void agenda_reserve(struct agenda *agenda, uint32_t slots) {
    CHECK(slots <= AGENDA_SLOTS_MAX);
    if (slots <= agenda->slots) {
        return;
    }
    uint32_t room = slots > 2 * agenda->slots ? slots : 2 * agenda->slots; /* just what is asked for, then doubling */
    uint32_t width = agenda->width > 0 ? agenda->width : ARITY;
    while (width < room) {
        width *= ARITY;
    }
    rebuild(agenda, width, room);
    agenda->leaf = mem_resize(agenda->leaf, room, sizeof *agenda->leaf);
    memset(agenda->leaf + agenda->slots, 0, (room - agenda->slots) * sizeof *agenda->leaf);
    agenda->slots = room;
}

/* The hole is the winner's leaf. */
static inline void fill_hole(struct agenda *agenda, uint32_t slot, agenda_key key) {
    uint32_t hole = agenda->hole;
    agenda->leaf[slot] = hole;
    agenda->hole = 0;
    agenda_replay(agenda, hole, key);
}

ALWAYS_INLINE void put(struct agenda *agenda, uint32_t slot, agenda_key key) {
    uint32_t leaf = agenda->leaf[slot];
    if (leaf != 0) {
        replace_any(agenda, leaf, key);
    } else if (agenda->hole != 0) {
        fill_hole(agenda, slot, key);
    } else {
        add_leaf(agenda, slot, key);
    }
}

static void grow(struct agenda *agenda, uint32_t slot) {
    CHECK(slot < AGENDA_SLOTS_MAX);
    agenda_reserve(agenda, slot + 1);
}

/* Out of the way, so that those for whom there is room need not save a register for it. */
static __attribute__((noinline)) void grow_and_schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns) {
    grow(agenda, slot);
    agenda_schedule(agenda, slot, time_ns);
}

void agenda_schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns) {
    if (slot >= agenda->slots) {
        grow_and_schedule(agenda, slot, time_ns);
        return;
    }
    CHECK(time_ns >= agenda->now_ns);
    put(agenda, slot, agenda_key_of(time_ns, agenda_low(agenda, slot)));
}

void agenda_schedule_urgent(struct agenda *agenda, uint32_t slot) {
    if (slot >= agenda->slots) {
        grow(agenda, slot);
    }
    put(agenda, slot, agenda_key_of(agenda->now_ns, agenda_low(agenda, slot) - AGENDA_ORDINARY));
}

bool agenda_pending(const struct agenda *agenda, uint32_t slot) {
    return slot < agenda->slots && agenda->leaf[slot] != 0;
}

void agenda_cancel(struct agenda *agenda, uint32_t slot) {
    agenda_settle(agenda); /* the hole must not be the leaf that moves: its slot has none */
    if (agenda_pending(agenda, slot)) {
        remove_leaf(agenda, agenda->leaf[slot]);
        agenda->leaf[slot] = 0;
    }
}

uint32_t agenda_rest(struct agenda *agenda, int64_t limit_ns) {
    if (agenda_any(agenda)) {
        CHECK(limit_ns >= agenda->now_ns);
        agenda->now_ns = limit_ns;
    }
    return AGENDA_NONE;
}

uint32_t agenda_pop(struct agenda *agenda, int64_t limit_ns) {
    uint32_t slot = agenda_next(agenda, limit_ns);
    if (slot != AGENDA_NONE) {
        agenda_take_out(agenda, slot);
    }
    return slot;
}

/* The best of those whom the winner beat. */
uint32_t agenda_foresee(const struct agenda *agenda, uint32_t slot) {
    CHECK(agenda_pending(agenda, slot));
    agenda_key next = AGENDA_EMPTY;
    for (uint32_t at = agenda->leaf[slot]; at != agenda->root; at = agenda_parent(at)) {
        next = agenda_min(next, agenda_rival(agenda->node, at));
    }
    return next != AGENDA_EMPTY ? agenda_slot_of(next) : AGENDA_NONE;
}
