/* lock_parts.h - what the files of the lock table share. Private to them. */
#ifndef CCSIM_KIT_LOCK_PARTS_H
#define CCSIM_KIT_LOCK_PARTS_H

#include "sim/kit/lock.h"

/* Goes once all but `granted` is NULL. */
struct lock_queue {
    struct lock *granted;                        /* first here: lock_granted */
    struct lock *first, *last;                   /* requests for the record */
    size_t strong;                               /* of them, those that want more than to read */
    struct lock *upgrades_last;                  /* of the upgrades, which stand first among the requests */
    struct lock *aside_last;                     /* of those that left the line, which stand behind the upgrades */
    struct lock *gaps;                           /* granted gap locks */
    struct lock *oldest;                         /* the granted lock of the oldest owner; NULL: to be looked for */
    struct lock *inserts_first, *inserts_last;   /* inserts that wait for them */
    struct lock *sleepers_first, *sleepers_last; /* granted locks whose owner waits: lock_sleepers.c */
};

/* Of a request or a lock: can all who only read be beside each other? */
static inline bool lock_only_reads(int mode) { return mode == MODE_S || mode == MODE_IS; }

/* The owner of the granted lock waits: enters it, if its record has a queue and others can stand beside it. */
void lock_add_sleeper(struct cc *cc, struct lock *lock);
void lock_remove_sleeper(struct lock *lock);
/* The record has just got a queue, or loses it. */
void lock_find_sleepers(struct cc *cc, struct lock_head *head);
void lock_forget_sleepers(struct lock_queue *more);

#endif
