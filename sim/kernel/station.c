/* station.c - k servers and one FIFO queue. See station.h for the idea and the invariants.
 *
 * The integrals grow by (busy or queued) x (time since the last change) just before every change; all is integer, so
 * nothing is lost. */
#include "sim/kernel/station.h"

#include "sim/base/check.h"

void station_init(struct station *station, struct agenda *agenda, int64_t servers) {
    CHECK(servers >= 1);
    *station = (struct station){.agenda = agenda, .servers = servers};
    station_reset(station);
}

void station_settle(struct station *station) {
    int64_t elapsed_ns = station->agenda->now_ns - station->changed_ns;
    if (elapsed_ns > 0) {
        station->busy_ns += (station_area)station->busy * (station_area)elapsed_ns;
        station->queue_ns += (station_area)station->queued * (station_area)elapsed_ns;
        station->changed_ns = station->agenda->now_ns;
    }
}

void station_reset(struct station *station) {
    station->busy_ns = station->queue_ns = 0;
    station->served_ns = 0;
    station->changed_ns = station->reset_ns = station->agenda->now_ns;
}

static void queue_append(struct station *station, struct station_job *job) {
    job->next = NULL;
    job->previous = station->last;
    if (station->last != NULL) {
        station->last->next = job;
    } else {
        station->first = job;
    }
    station->last = job;
    station->queued++;
}

static void queue_remove(struct station *station, struct station_job *job) {
    if (job->previous != NULL) {
        job->previous->next = job->next;
    } else {
        CHECK(station->first == job);
        station->first = job->next;
    }
    if (job->next != NULL) {
        job->next->previous = job->previous;
    } else {
        CHECK(station->last == job);
        station->last = job->previous;
    }
    job->next = job->previous = NULL;
    station->queued--;
}

static inline struct station_job *queue_take_first(struct station *station) {
    struct station_job *job = station->first;
    if (job != NULL) {
        station->first = job->next;
        *(job->next != NULL ? &job->next->previous : &station->last) = NULL;
        job->next = NULL;
        station->queued--;
    }
    return job;
}

/* The caller has settled the station. */
static void serve(struct station *station, struct station_job *job) {
    int64_t now_ns = station->agenda->now_ns;
    CHECK(job->service_ns <= INT64_MAX - now_ns);
    station->busy++;
    job->served = true;
    job->start_ns = now_ns;
    agenda_schedule(station->agenda, job->slot, now_ns + job->service_ns);
}

/* The job goes, finished or not; the server takes the next. Returns the service since the last reset. */
static int64_t free_server(struct station *station, struct station_job *job) {
    int64_t from_ns = job->start_ns > station->reset_ns ? job->start_ns : station->reset_ns;
    int64_t got_ns = station->agenda->now_ns - from_ns;
    station_settle(station);
    station->served_ns += got_ns;
    station->busy--;
    job->at = NULL;
    job->served = false;
    struct station_job *next = queue_take_first(station);
    if (next != NULL) {
        serve(station, next);
    }
    return got_ns;
}

void station_join(struct station *station, struct station_job *job, int64_t service_ns) {
    CHECK(job->at == NULL);
    CHECK(service_ns >= 0);
    CHECK_SLOW(!agenda_pending(station->agenda, job->slot));
    station_settle(station);
    job->at = station;
    job->service_ns = service_ns;
    if (station->busy < station->servers) {
        CHECK(station->first == NULL);
        serve(station, job);
    } else {
        job->served = false;
        queue_append(station, job);
    }
}

int64_t station_finish(struct station_job *job) {
    CHECK(job->at != NULL && job->served);
    CHECK(job->at->agenda->now_ns - job->start_ns == job->service_ns);
    CHECK_SLOW(!agenda_pending(job->at->agenda, job->slot));
    return free_server(job->at, job);
}

int64_t station_leave(struct station_job *job) {
    struct station *station = job->at;
    if (station == NULL) {
        return 0;
    }
    if (job->served) {
        agenda_cancel(station->agenda, job->slot);
        return free_server(station, job);
    }
    station_settle(station);
    queue_remove(station, job);
    job->at = NULL;
    return 0;
}
