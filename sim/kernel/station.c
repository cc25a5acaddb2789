/* station.c - k servers and one FIFO queue. See station.h for the idea and the invariants.
 *
 * An integral of a number present is the sum, over all who were present, of the time from start to end: with those
 * present counted up to now, number x now - (the sum of all starts - the sum of all ends). So a change costs one addition
 * and an instant at which one goes and another comes costs nothing. All is modulo 2^128 and the integral is less (a
 * number and an instant have 63 bits each), so it is exact. */
#include "sim/kernel/station.h"

void station_init(struct station *station, struct agenda *agenda, int64_t servers) {
    CHECK(servers >= 1);
    *station = (struct station){.agenda = agenda, .servers = servers};
    station_reset(station);
}

/* As if `number` had been present from time 0 to now. */
static station_area present(const struct station *station, int64_t number) {
    return (station_area)number * (uint64_t)station->agenda->now_ns;
}

static station_area area_of(struct station_sum sum) { return (station_area)sum.high << 64 | sum.low; }
static struct station_sum sum_of(station_area area) {
    return (struct station_sum){.low = (uint64_t)area, .high = (uint64_t)(area >> 64)};
}

void station_settle(struct station *station) {
    station->busy_ns = present(station, station->busy) - area_of(station->busy_start);
    station->queue_ns = present(station, station->queued) - area_of(station->queue_start);
}

void station_reset(struct station *station) {
    station->busy_start = sum_of(present(station, station->busy));
    station->queue_start = sum_of(present(station, station->queued));
    station->busy_ns = station->queue_ns = 0;
    station->served_ns = 0;
    station->reset_ns = station->agenda->now_ns;
}

static void queue_remove(struct station *station, const struct station_job *job) {
    if (job == station->first) {
        station_take_first(station, station->agenda->now_ns);
        return;
    }
    CHECK(job->previous->next == job);
    job->previous->next = job->next;
    *(job->next != NULL ? &job->next->previous : &station->last) = job->previous;
    station->queued--;
    station_subtract(&station->queue_start, station->agenda->now_ns);
}

void station_start(struct station *station, struct station_job *job) {
    int64_t now_ns = station->agenda->now_ns;
    station->busy++;
    station_add(&station->busy_start, now_ns);
    job->start_ns = now_ns;
    agenda_schedule(station->agenda, job->slot, station_end_ns(job, now_ns));
}

void station_join(struct station *station, struct station_job *job, int64_t service_ns) {
    station_join_at(station, station->agenda, job, service_ns);
}

int64_t station_finish(struct station_job *job) {
    CHECK(job->at != NULL);
    return station_finish_at(job->at, job->at->agenda, job);
}

int64_t station_leave(struct station_job *job) {
    struct station *station = job->at;
    if (station == NULL) {
        return 0;
    }
    if (!station_serves(job)) {
        queue_remove(station, job);
        job->at = NULL;
        return 0;
    }
    return station_hand_over(station, station->agenda, job, agenda_cancel);
}
