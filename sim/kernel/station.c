/* station.c - k servers and one FIFO queue. See station.h for the idea and the invariants.
 *
 * An integral of a number present is the sum, over all who were present, of the time from start to end: with those
 * present counted up to now, number x now - (the sum of all starts - the sum of all ends). So a change costs one addition
 * and an instant at which one goes and another comes costs nothing. All is modulo 2^128 and the integral is less (a
 * number and an instant have 63 bits each), so it is exact. */
#include "sim/kernel/station.h"

#include "sim/base/check.h"

void station_init(struct station *station, struct agenda *agenda, int64_t servers) {
    CHECK(servers >= 1);
    *station = (struct station){.agenda = agenda, .servers = servers};
    station_reset(station);
}

static inline station_area now_of(const struct station *station) { return (uint64_t)station->agenda->now_ns; }

void station_settle(struct station *station) {
    station->busy_ns = (station_area)station->busy * now_of(station) - station->busy_start;
    station->queue_ns = (station_area)station->queued * now_of(station) - station->queue_start;
}

void station_reset(struct station *station) {
    station->busy_start = (station_area)station->busy * now_of(station);
    station->queue_start = (station_area)station->queued * now_of(station);
    station->busy_ns = station->queue_ns = 0;
    station->served_ns = 0;
    station->reset_ns = station->agenda->now_ns;
}

static inline void queue_append(struct station *station, struct station_job *job) {
    job->next = NULL;
    if (station->first != NULL) {
        job->previous = station->last;
        station->last->next = job;
    } else {
        station->first = job;
    }
    station->last = job;
    station->queued++;
    station->queue_start += now_of(station);
}

/* The one behind will be served next: where many queue, that is a cache miss, best begun now. */
static inline void queue_take_first(struct station *station) {
    station->first = station->first->next;
    __builtin_prefetch(station->first, 1);
    station->queued--;
    station->queue_start -= now_of(station);
}

static void queue_remove(struct station *station, const struct station_job *job) {
    if (job == station->first) {
        queue_take_first(station);
        return;
    }
    CHECK(job->previous->next == job);
    job->previous->next = job->next;
    *(job->next != NULL ? &job->next->previous : &station->last) = job->previous;
    station->queued--;
    station->queue_start -= now_of(station);
}

static inline void start(struct station *station, struct station_job *job) {
    job->served = true;
    job->start_ns = station->agenda->now_ns;
}

/* When a service that starts now ends. Past the end of time it wraps, and the agenda finds it in the past. */
static inline int64_t end_ns(const struct station *station, const struct station_job *job) {
    return (int64_t)((uint64_t)station->agenda->now_ns + (uint64_t)job->service_ns);
}

void station_join(struct station *station, struct station_job *job, int64_t service_ns) {
    CHECK(job->at == NULL);
    CHECK(service_ns >= 0);
    CHECK_SLOW(!agenda_pending(station->agenda, job->slot));
    job->at = station;
    job->service_ns = service_ns;
    if (station->busy >= station->servers) {
        job->served = false;
        queue_append(station, job);
        return;
    }
    CHECK(station->first == NULL);
    station->busy++;
    station->busy_start += now_of(station);
    start(station, job);
    agenda_schedule(station->agenda, job->slot, end_ns(station, job));
}

/* The job goes, finished or not, and the first of the queue follows it: then the number of the busy stays. Returns the
 * service that the job got since the last reset. */
static inline __attribute__((always_inline)) int64_t hand_over(struct station *station, struct station_job *job,
                                                               void (*schedule)(struct agenda *, uint32_t, int64_t)) {
    int64_t from_ns = job->start_ns > station->reset_ns ? job->start_ns : station->reset_ns;
    int64_t got_ns = station->agenda->now_ns - from_ns;
    station->served_ns += got_ns;
    job->at = NULL;
    struct station_job *next = station->first;
    if (next != NULL) {
        queue_take_first(station);
        start(station, next);
        schedule(station->agenda, next->slot, end_ns(station, next));
    } else {
        station->busy--;
        station->busy_start -= now_of(station);
    }
    return got_ns;
}

int64_t station_finish(struct station_job *job) {
    CHECK(job->at != NULL && job->served);
    struct station *station = job->at;
    CHECK(station->agenda->now_ns - job->start_ns == job->service_ns);
    return hand_over(station, job, agenda_take_over);
}

int64_t station_leave(struct station_job *job) {
    struct station *station = job->at;
    if (station == NULL) {
        return 0;
    }
    if (!job->served) {
        queue_remove(station, job);
        job->at = NULL;
        return 0;
    }
    agenda_cancel(station->agenda, job->slot);
    return hand_over(station, job, agenda_schedule);
}
