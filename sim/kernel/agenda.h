/* agenda.h - the event queue: simulated time in integer nanoseconds, one pending event a slot.
 *
 * Everything that can have an event pending (a transaction, an arrival process, a periodic timer) owns a fixed *slot*,
 * and has at most one event at a time. So the queue is a tournament of four: a complete tree whose leaves are the keys
 * of the pending events and whose every inner node is the smallest of its four children; the root is the next event.
 * A key is (time, order, slot) in 128 bits, so the key is the event, ties included: events of one instant
 * happen in the order they were scheduled, urgent ones before all others.
 *
 * Four children are one cache line, and who is the best of three rivals does not depend on who comes from below: a
 * match of four is half as long a chain of comparisons as the two matches of two that it stands for, and touches half
 * the lines.
 *
 * Slots have no leaf of their own: pending events fill the leaves from the left without a gap, and the root is the
 * node just above all of them, so a climb is as long as the logarithm of what is pending, not of what there is.
 * The event that comes next stays in its leaf until it is handed over to another slot or taken out. The leaf of one that is
 * taken out, the *hole*, stays in place until something is scheduled or another event is asked for: the next slot that
 * has no event pending fills it. So the hold operation, one event for another, be it of the same slot or not, costs one
 * climb from leaf to root, without a branch that depends on the keys.
 *
 * A key's low half is, from the top: one bit that is 0 for urgent events, 39 bits of the order of scheduling, 24 bits of
 * slot. No two events share a key, and the winner's key tells its slot.
 *
 * Invariants
 *  1. The clock never goes back: schedule takes a time >= now.
 *  2. node[i] = min(node[4i] .. node[4i + 3]) for every inner node from the root down, where the hole still holds its
 *     old key.
 *  3. An unused leaf's key is all ones, which is later than any event; leaves `width` .. `width + used - 1` are used.
 *  4. Of the used leaves each but the hole holds the key of the slot whose `leaf` it is. */
#ifndef CCSIM_KERNEL_AGENDA_H
#define CCSIM_KERNEL_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/check.h"
#include "sim/base/inline.h"

__extension__ typedef unsigned __int128 agenda_key;

struct agenda {
    agenda_key *node; /* numbered from 1 at the top, level by level; siblings share a cache line */
    void *block;      /* that `node` lies in */
    uint32_t *leaf;   /* place of each slot's key in `node`, in bytes; 0: nothing pending */
    uint32_t slots;   /* that there is room for */
    uint32_t width;   /* number of the first leaf, a power of four */
    uint32_t used;    /* leaves, from the left */
    uint32_t span;    /* leaves below the root */
    uint32_t root;    /* place of the lowest inner node above all used leaves, in bytes: the next event */
    uint32_t hole;    /* place of the leaf of an event that was taken out, in bytes; 0: none, or it was filled */
    uint64_t next;    /* low half of the key of the next event scheduled, its slot aside */
    int64_t now_ns;
    uint64_t handled; /* events that came */
};

#define AGENDA_NONE      UINT32_MAX
#define AGENDA_SLOTS_MAX (1u << 24)

/* An agenda at time 0 with room for `slots` slots, all pending; it grows when a larger slot is used. */
void agenda_init(struct agenda *agenda, uint32_t slots);
void agenda_free(struct agenda *agenda);
void agenda_reserve(struct agenda *agenda, uint32_t slots);

/* Schedules the slot's event at `time_ns` >= now, in place of the one it may have pending. */
void agenda_schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns);
/* Like agenda_schedule at the present instant, before everything that is scheduled but not urgent. */
void agenda_schedule_urgent(struct agenda *agenda, uint32_t slot);
void agenda_cancel(struct agenda *agenda, uint32_t slot); /* no event pending: nothing happens */
bool agenda_pending(const struct agenda *agenda, uint32_t slot);

/* The earliest event's slot, and its time in now_ns. The event stays pending: it must be handed over or taken out, or its
 * slot scheduled anew. AGENDA_NONE if it lies after `limit_ns`: then the clock stands at the limit. AGENDA_NONE also if no
 * event is pending at all: then the clock stays where it is. */
static inline uint32_t agenda_next(struct agenda *agenda, int64_t limit_ns);
/* The event of `slot` that came goes: like agenda_cancel, but whoever is scheduled next takes its place. */
static inline void agenda_take_out(struct agenda *agenda, uint32_t slot);
/* The pending event of `from` goes, and `to`, with nothing pending and room reserved, has one at `time_ns` >= now. */
static inline void agenda_hand_over(struct agenda *agenda, uint32_t from, uint32_t to, int64_t time_ns);
/* agenda_next and agenda_take_out. */
uint32_t agenda_pop(struct agenda *agenda, int64_t limit_ns);

/* After agenda_next, whose slot it is: the slot whose event comes then unless an earlier one is scheduled, or AGENDA_NONE. */
uint32_t agenda_foresee(const struct agenda *agenda, uint32_t slot);

/* Is anything pending at all? To be asked after agenda_next found nothing. */
static inline bool agenda_any(const struct agenda *agenda);

/* ---- The tree; what every event does is inline ---- */

enum { AGENDA_ARITY = 4, AGENDA_SLOT_BITS = 24, AGENDA_NODE = sizeof(agenda_key) };
#define AGENDA_EMPTY     (~(agenda_key)0)
#define AGENDA_ORDINARY  (UINT64_C(1) << 63)
#define AGENDA_NEXT_STEP (UINT64_C(1) << AGENDA_SLOT_BITS)

/* Who wins is as good as random, so this must not be a branch: gcc makes conditional moves of it. */
static inline agenda_key agenda_min(agenda_key a, agenda_key b) { return a < b ? a : b; }

/* Places are in bytes, so that a sibling is one XOR away and needs no scaling. */
static inline agenda_key *agenda_at(agenda_key *node, uint32_t at) {
    void *place = (char *)node + at;
    return place;
}
static inline uint32_t agenda_parent(uint32_t at) { return at / AGENDA_ARITY & ~(uint32_t)(AGENDA_NODE - 1); }

/* The best of a node's siblings. */
static inline agenda_key agenda_rival(agenda_key *node, uint32_t at) {
    return agenda_min(agenda_min(*agenda_at(node, at ^ 1 * AGENDA_NODE), *agenda_at(node, at ^ 2 * AGENDA_NODE)),
                      *agenda_at(node, at ^ 3 * AGENDA_NODE));
}

/* Puts `key` into the leaf `at`, as a rule the winner's, and plays its matches again up to the root. */
ALWAYS_INLINE void agenda_replay(struct agenda *agenda, uint32_t at, agenda_key key) {
    agenda_key *node = agenda->node;
    uint32_t root = agenda->root;
    *agenda_at(node, at) = key;
    do {
        key = agenda_min(key, agenda_rival(node, at));
        at = agenda_parent(at);
        *agenda_at(node, at) = key;
    } while (at != root);
}

static inline uint32_t agenda_slot_of(agenda_key key) { return (uint32_t)key & (AGENDA_SLOTS_MAX - 1); }

ALWAYS_INLINE agenda_key agenda_key_of(int64_t time_ns, uint64_t low) {
    return (agenda_key)(uint64_t)time_ns << 64 | low;
}

/* The low half of the key of what is scheduled next. */
ALWAYS_INLINE uint64_t agenda_low(struct agenda *agenda, uint32_t slot) {
    uint64_t next = agenda->next;
    CHECK(next >= AGENDA_ORDINARY); /* else the order has overflowed */
    agenda->next = next + AGENDA_NEXT_STEP;
    return next | slot;
}

void agenda_settle(struct agenda *agenda);                     /* the hole goes: nobody filled it */
uint32_t agenda_rest(struct agenda *agenda, int64_t limit_ns); /* nothing comes up to the limit */

ALWAYS_INLINE uint32_t agenda_next(struct agenda *agenda, int64_t limit_ns) {
    if (agenda->hole != 0) {
        agenda_settle(agenda);
    }
    agenda_key key = *agenda_at(agenda->node, agenda->root);
    uint64_t time_ns = (uint64_t)(key >> 64);
    if (time_ns > (uint64_t)limit_ns) {
        return agenda_rest(agenda, limit_ns);
    }
    agenda->now_ns = (int64_t)time_ns;
    agenda->handled++;
    return agenda_slot_of(key);
}

ALWAYS_INLINE void agenda_take_out(struct agenda *agenda, uint32_t slot) {
    agenda->hole = agenda->leaf[slot];
    agenda->leaf[slot] = 0;
}

ALWAYS_INLINE void agenda_hand_over(struct agenda *agenda, uint32_t from, uint32_t to, int64_t time_ns) {
    CHECK_SLOW(to < agenda->slots);
    CHECK(time_ns >= agenda->now_ns);
    uint32_t *leaf = agenda->leaf, at = leaf[from];
    CHECK(at != 0 && leaf[to] == 0);
    leaf[from] = 0;
    leaf[to] = at;
    agenda_replay(agenda, at, agenda_key_of(time_ns, agenda_low(agenda, to)));
}

static inline bool agenda_any(const struct agenda *agenda) {
    return *agenda_at(agenda->node, agenda->root) != AGENDA_EMPTY;
}

#endif
