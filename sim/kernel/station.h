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

#include "sim/kernel/agenda.h"

#define STATION_UNLIMITED INT64_MAX

__extension__ typedef unsigned __int128 station_area; /* number x nanoseconds, wide enough for any run */

struct station_job {
    struct station_job *next;     /* in the queue */
    struct station_job *previous; /* in the queue, of all but the first */
    struct station *at;           /* the station where it queues or is served; NULL: none */
    uint32_t slot;
    bool served;        /* while it is at a station: or does it queue? */
    int64_t service_ns; /* wanted */
    int64_t start_ns;   /* of service */
};

struct station {
    struct agenda *agenda;
    int64_t servers;           /* or STATION_UNLIMITED */
    int64_t busy;              /* servers at work */
    struct station_job *first; /* who queues */
    struct station_job *last;  /* if anybody does */
    int64_t queued;
    station_area busy_start;  /* busy_ns = busy x now - busy_start; see station.c */
    station_area queue_start; /* queue_ns = queued x now - queue_start */
    station_area busy_ns;     /* integral of busy from the last reset to the last station_settle */
    station_area queue_ns;    /* integral of queued, likewise */
    int64_t served_ns;        /* service done for jobs that ended or left, their part since the last reset */
    int64_t reset_ns;
};

void station_init(struct station *station, struct agenda *agenda, int64_t servers);

/* Joins the queue, or starts at once. When the slot's event comes, call station_finish before anything is scheduled. */
void station_join(struct station *station, struct station_job *job, int64_t service_ns);

/* The service of `job` is over: frees its server, starts the next. Returns the service it got since the last reset of
 * the station. */
int64_t station_finish(struct station_job *job);

/* Leaves queue or server before the end (a doomed transaction); returns the service it got since the last reset.
 * A job that is nowhere is left alone, and 0 is returned. */
int64_t station_leave(struct station_job *job);

/* Starts the statistics anew at the present instant (the end of the warm-up). */
void station_reset(struct station *station);

/* Brings busy_ns and queue_ns up to the present instant. */
void station_settle(struct station *station);

#endif
