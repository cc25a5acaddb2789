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
 * The popped event's leaf, the *hole*, stays in place until something is scheduled or another event is asked for: the
 * next slot that has no event pending takes it over. So the hold operation, pop one and schedule one, be it the same
 * slot or another, costs one climb from leaf to root, without a branch that depends on the keys.
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
    uint32_t hole;    /* place of the popped event's leaf, in bytes; 0: there is none, or it was taken over */
    uint64_t next;    /* low half of the key of the next event scheduled, its slot aside */
    int64_t now_ns;
    uint64_t handled; /* events popped */
};

#define AGENDA_NONE      UINT32_MAX
#define AGENDA_SLOTS_MAX (1u << 24)

/* An agenda at time 0 with room for `slots` slots, all pending; it grows when a larger slot is used. */
void agenda_init(struct agenda *agenda, uint32_t slots);
void agenda_free(struct agenda *agenda);
void agenda_reserve(struct agenda *agenda, uint32_t slots);

/* Schedules the slot's event at `time_ns` >= now, in place of the one it may have pending. */
void agenda_schedule(struct agenda *agenda, uint32_t slot, int64_t time_ns);
/* The same for a slot with nothing pending, right after a pop: it takes the place of the popped event. */
void agenda_take_over(struct agenda *agenda, uint32_t slot, int64_t time_ns);
/* Like agenda_schedule at the present instant, before everything that is scheduled but not urgent. */
void agenda_schedule_urgent(struct agenda *agenda, uint32_t slot);
void agenda_cancel(struct agenda *agenda, uint32_t slot); /* no event pending: nothing happens */
bool agenda_pending(const struct agenda *agenda, uint32_t slot);

/* The earliest event's slot, and its time in now_ns. AGENDA_NONE if it lies after `limit_ns`: then the clock stands at
 * the limit, the event stays. AGENDA_NONE also if no event is pending at all: then the clock stays where it is. */
uint32_t agenda_pop(struct agenda *agenda, int64_t limit_ns);

/* After a pop: the slot whose event comes next unless an earlier one is scheduled, or AGENDA_NONE. */
uint32_t agenda_foresee(const struct agenda *agenda);

/* Is anything pending at all? To be asked after agenda_pop found nothing. */
static inline bool agenda_any(const struct agenda *agenda) {
    return agenda->node[agenda->root / sizeof(agenda_key)] != ~(agenda_key)0;
}

#endif
