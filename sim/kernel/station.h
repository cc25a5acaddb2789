/* station.h - k servers and one FIFO queue: CPUs, a disk, a log device, a latch. Unlimited servers make a pure delay.
 *
 * A job is a slot of the agenda: while it is served the slot's event is the end of its service. A job is at one
 * station at a time; its place is a `struct station_job` inside whatever owns the slot.
 *
 * Invariants
 *  1. A server is idle only if nobody queues.
 *  2. busy_ns is the sum over time of the busy servers, exactly: so the utilization law holds exactly when the
 *     pieces of straddling services are counted. */
#ifndef CCSIM_KERNEL_STATION_H
#define CCSIM_KERNEL_STATION_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/inline.h"
#include "sim/kernel/agenda.h"

#define STATION_UNLIMITED INT64_MAX
#define STATION_QUEUED    INT64_C(-1)

__extension__ typedef unsigned __int128 station_area; /* number x nanoseconds, wide enough for any run */

/* The same modulo 2^128, in two halves: what adds to it needs only one addition with carry. */
struct station_sum {
    uint64_t low, high;
};

struct station_job {
    struct station_job *next;     /* in the queue */
    struct station_job *previous; /* in the queue, of all but the first */
    struct station *at;           /* the station where it queues or is served; NULL: none */
    uint32_t slot;
    int64_t service_ns; /* wanted */
    int64_t start_ns;   /* of service; while it queues: STATION_QUEUED */
};

struct station {
    struct agenda *agenda;
    int64_t servers;           /* or STATION_UNLIMITED */
    int64_t busy;              /* servers at work */
    struct station_job *first; /* who queues */
    struct station_job *last;  /* if anybody does */
    int64_t queued;
    struct station_sum busy_start;  /* busy_ns = busy x now - busy_start; see station.c */
    struct station_sum queue_start; /* queue_ns = queued x now - queue_start */
    station_area busy_ns;           /* integral of busy from the last reset to the last station_settle */
    station_area queue_ns;          /* integral of queued, likewise */
    int64_t served_ns;              /* service done for jobs that ended or left, their part since the last reset */
    int64_t reset_ns;
};

void station_init(struct station *station, struct agenda *agenda, int64_t servers);

/* Joins the queue, or starts at once. The agenda must have room for its slot. */
void station_join(struct station *station, struct station_job *job, int64_t service_ns);

/* The event of the job's slot has come (agenda_next) and was not taken out: its service is over. Frees its server, starts
 * the next. Returns the service it got since the last reset of the station. */
int64_t station_finish(struct station_job *job);

/* Leaves queue or server before the end (a doomed transaction); returns the service it got since the last reset.
 * A job that is nowhere is left alone, and 0 is returned. */
int64_t station_leave(struct station_job *job);

/* Starts the statistics anew at the present instant (the end of the warm-up). */
void station_reset(struct station *station);

/* Brings busy_ns and queue_ns up to the present instant. */
void station_settle(struct station *station);

/* Of a job at a station: is it served, or does it queue? */
static inline bool station_serves(const struct station_job *job) { return job->start_ns != STATION_QUEUED; }

/* ---- What every service does, inline: station_join and station_finish for who knows station and agenda ---- */

void station_start(struct station *station, struct station_job *job);

ALWAYS_INLINE void station_add(struct station_sum *sum, int64_t now_ns) {
    sum->high += __builtin_add_overflow(sum->low, (uint64_t)now_ns, &sum->low);
}
ALWAYS_INLINE void station_subtract(struct station_sum *sum, int64_t now_ns) {
    sum->high -= __builtin_sub_overflow(sum->low, (uint64_t)now_ns, &sum->low);
}

/* Who finds others in the queue need not look at the servers: they are busy. */
ALWAYS_INLINE void station_join_at(struct station *station, struct agenda *agenda, struct station_job *job,
                                   int64_t service_ns) {
    CHECK(job->at == NULL);
    CHECK_SLOW(!agenda_pending(agenda, job->slot));
    job->at = station;
    job->service_ns = service_ns;
    if (station->first != NULL) {
        job->previous = station->last;
        station->last->next = job;
    } else if (station->busy < station->servers) {
        station_start(station, job);
        return;
    } else {
        station->first = job;
    }
    job->next = NULL;
    job->start_ns = STATION_QUEUED;
    station->last = job;
    station->queued++;
    station_add(&station->queue_start, agenda->now_ns);
}

/* The one behind will be served next: where many queue, that is a cache miss, best begun now. */
ALWAYS_INLINE struct station_job *station_take_first(struct station *station, int64_t now_ns) {
    struct station_job *first = station->first;
    station->first = first->next;
    __builtin_prefetch(first->next, 1);
    station->queued--;
    station_subtract(&station->queue_start, now_ns);
    return first;
}

/* When a service that starts now ends. Past the end of time it wraps, and the agenda finds it in the past. */
static inline int64_t station_end_ns(const struct station_job *job, int64_t now_ns) {
    return (int64_t)((uint64_t)now_ns + (uint64_t)job->service_ns);
}

/* The job leaves its server, and the first of the queue follows it: then the number of the busy stays. Its event
 * becomes that of its follower; without one, `remove` removes it. Returns the service that it got since the last reset. */
ALWAYS_INLINE int64_t station_hand_over(struct station *station, struct agenda *agenda, struct station_job *job,
                                        void (*remove)(struct agenda *, uint32_t)) {
    int64_t now_ns = agenda->now_ns;
    int64_t got_ns = now_ns - (job->start_ns > station->reset_ns ? job->start_ns : station->reset_ns);
    station->served_ns += got_ns;
    job->at = NULL;
    if (station->first != NULL) {
        struct station_job *next = station_take_first(station, now_ns);
        next->start_ns = now_ns;
        agenda_hand_over(agenda, job->slot, next->slot, station_end_ns(next, now_ns));
    } else {
        station->busy--;
        station_subtract(&station->busy_start, now_ns);
        remove(agenda, job->slot);
    }
    return got_ns;
}

ALWAYS_INLINE int64_t station_finish_at(struct station *station, struct agenda *agenda, struct station_job *job) {
    CHECK(agenda->now_ns - job->start_ns == job->service_ns);
    return station_hand_over(station, agenda, job, agenda_take_out);
}

#endif
