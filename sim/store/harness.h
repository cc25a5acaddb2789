/* harness.h - the one way from the mechanisms back to what drives them: a table of callbacks that exec fills, for a run
 * with time and for the schedule player alike. They schedule or note; none of them calls back. */
#ifndef CCSIM_STORE_HARNESS_H
#define CCSIM_STORE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct txn;
struct row;
struct version;
struct footprint;

/* The timers that belong to no transaction. */
enum timer { TIMER_DEADLOCK, TIMER_VACUUM, TIMER_COUNT };

/* What a row is, or would be, to those who read it. */
struct image {
    int64_t value;
    bool absent;
};

struct harness {
    void *world; /* first argument of every callback */
    /* The transaction's wait is over: its call is repeated as an event of this instant. */
    void (*wake)(void *world, struct txn *txn);
    /* The transaction must end: it leaves its queue or server now and aborts as the next event of this instant.
     * False if it is sealed or ended: then nothing happens. `reason` is an enum reason. */
    bool (*doom)(void *world, struct txn *txn, int reason);
    /* The transaction, which waits or is about to, goes back to where it began statement `mark`: it leaves its queue as the
     * next event of this instant (cc_ops.back) and does that statement again. */
    void (*back)(void *world, struct txn *txn, uint32_t mark);
    /* Calls the algorithm's timer(txn, tag) after `delay_ns`, unless the wait that is about to begin ends before. With
     * txn NULL it is a timer of the algorithm's own, of which there is one for each tag (enum timer); setting it again
     * moves it. TIMER_VACUUM is a call of versions_vacuum instead. */
    void (*timer)(void *world, struct txn *txn, int64_t delay_ns, int tag);
    /* The live attempt of that id, or NULL if it has ended. */
    struct txn *(*find)(void *world, uint64_t id);
    /* How many rows the program still means to access; what it cannot tell counts as many. */
    uint64_t (*remaining)(void *world, const struct txn *txn);
    /* The footprint of the transaction, arranged (store/footprint.h); NULL: the program cannot tell. It holds until the
     * next call. */
    const struct footprint *(*plan_uses)(void *world, const struct txn *txn);
    /* Will it use the row again in a later statement? Asked only once it has taken its last new lock. */
    bool (*uses_again)(void *world, const struct txn *txn, const struct row *row);
    /* The image that the change the transaction is claiming would give the row, if it replaces `base`. */
    struct image (*change_result)(void *world, const struct txn *txn, const struct row *row,
                                  const struct version *base);
    /* The simulated time; where there is none, always 0. */
    int64_t (*now)(void *world);
    /* A deadlock was found: these wait for each other in a circle, each for the one before it. NULL: nobody wants to
     * know. */
    void (*deadlock)(void *world, struct txn *const *cycle, size_t count);
    /* row->own, linked in its place, is about to be committed. NULL: nobody wants to know. */
    void (*installing)(void *world, struct txn *txn, const struct row *row);
};

#endif
