/* deadlock.h - the waits-for graph, its cycles, and who is sacrificed.
 *
 * The graph is never stored: its edges are what cc_ops.blockers answers. A search walks it breadth first from the
 * transaction whose wait may have closed a cycle, visits nobody twice, and so finds a shortest cycle; the victim is one
 * of that cycle. Searching goes on until no cycle through the new wait is left.
 * Options: when to search (detect), whom to sacrifice (victim), whom to spare (spare_after), how far (rollback).
 * A partial rollback ends at the lock that closes the cycle: the victim gives up what the next one of the cycle waits for
 * and all it did since, and does that again, behind the one that waited. Who was sent back several times, or would keep
 * nothing, is aborted: two that send each other back could do so for ever.
 * Fussell, Kedem, Silberschatz, "Deadlock removal using partial rollback in database systems" (1981).
 * Agrawal, Carey, McVoy, "The performance of alternative strategies for dealing with deadlocks" (1987). */
#ifndef CCSIM_KIT_DEADLOCK_H
#define CCSIM_KIT_DEADLOCK_H

#include "sim/base/option.h"
#include "sim/kit/instance.h"

enum detect { DETECT_WAIT, DETECT_PERIOD, DETECT_AFTER };
enum victim {
    VICTIM_YOUNGEST,
    VICTIM_OLDEST,
    VICTIM_REQUESTER,
    VICTIM_FEWEST_LOCKS,
    VICTIM_FEWEST_WRITES,
    VICTIM_LEAST_WORK,
    VICTIM_LEAST_REMAINING,
    VICTIM_RANDOM
};

enum victim_rollback { ROLLBACK_WHOLE, ROLLBACK_PARTIAL };

struct deadlock_options {
    struct option_call detect;
    int victim;
    int rollback;        /* whole, where it is no option */
    int64_t spare_after; /* OPTION_UNLIMITED: never */
};

extern const char *const deadlock_detect_choices[], *const deadlock_victim_choices[],
                                                        *const deadlock_rollback_choices[];

/* The rows of an option table for the `struct deadlock_options` `member` of `struct_type`. */
#define DEADLOCK_OPTIONS(struct_type, member, default_victim)                                                        \
    {.name = "detect",                                                                                               \
     .type = OPTION_CALL,                                                                                            \
     .offset = offsetof(struct_type, member.detect),                                                                 \
     .fallback = "wait",                                                                                             \
     .min = 1e-6,                                                                                                    \
     .choices = deadlock_detect_choices,                                                                             \
     .help = "when to search for deadlocks: on every wait, periodically, or when a wait has lasted so long"},        \
        {.name = "victim",                                                                                           \
         .type = OPTION_CHOICE,                                                                                      \
         .offset = offsetof(struct_type, member.victim),                                                             \
         .fallback = default_victim,                                                                                 \
         .choices = deadlock_victim_choices,                                                                         \
         .help = "which transaction of the cycle is aborted; youngest: the latest first begin, kept over restarts"}, \
    {                                                                                                                \
        .name = "spare_after", .type = OPTION_COUNT, .offset = offsetof(struct_type, member.spare_after),            \
        .fallback = "never", .min = 1, .max = 1e6, .flags = OPTION_MAY_BE_NEVER,                                     \
        .help = "spare a transaction that was a victim so many times, if another of the cycle was not"               \
    }

/* One more row, of schemes whose cc_ops have `back`; start() sets cc->keeps_programs if it is partial. */
#define DEADLOCK_OPTION_ROLLBACK(struct_type, member)                                                              \
    {                                                                                                              \
        .name = "rollback", .type = OPTION_CHOICE, .offset = offsetof(struct_type, member.rollback),               \
        .fallback = "whole", .choices = deadlock_rollback_choices,                                                 \
        .help = "how far a victim is rolled back: to its begin, or to the statement that took the lock which the " \
                "next one of the cycle waits for, to go on from there"                                             \
    }

/* `txn` is about to wait, or goes on waiting after a hint: searches now or sees to it that it is searched later.
 * CC_WAIT, or CC_ABORT if the victim is `txn` itself. */
enum cc_status deadlock_on_wait(struct cc *cc, const struct deadlock_options *options, struct txn *txn);

/* To be called by cc_ops.timer. */
void deadlock_on_timer(struct cc *cc, const struct deadlock_options *options, struct txn *txn);

/* A shortest cycle of waiting transactions through `txn`, into cc->search's tail from *begin on; its length, 0 if
 * there is none. */
size_t deadlock_find_cycle(struct cc *cc, struct txn *txn, size_t *begin);

#endif
