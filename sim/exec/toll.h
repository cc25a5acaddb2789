/* toll.h - where a run's transactions lost their time: at which station they queued, for which row they waited, what
 * aborted attempts had cost. For who looks for the limit of a system; counted only in runs that are asked for it.
 *
 * Rows are as many as a database has, and what is kept of them must not grow with it: the space-saving sketch
 * (Metwally, Agrawal, El Abbadi 2005), weighted by the time waited. It keeps TOLL_ROWS counters; a row that has none takes
 * over the smallest, with what that had counted as its possible error. A row that more than 1/TOLL_ROWS of all waiting
 * went to is always among them.
 *
 * Invariant: the counters and `elsewhere_ns` together are the time that transactions were blocked, to the nanosecond;
 * those still waiting at the end of the run included. */
#ifndef CCSIM_EXEC_TOLL_H
#define CCSIM_EXEC_TOLL_H

#include <stdbool.h>
#include <stdint.h>

enum { TOLL_ROWS = 32, TOLL_NAME_SIZE = 32 };

struct toll_row {
    char table[TOLL_NAME_SIZE];
    int64_t key;
    uint64_t waits;    /* that ended, or were going on at the end, since it has the counter */
    int64_t waited_ns; /* at most so long, and at least `error_ns` less */
    int64_t error_ns;
};

enum toll_station { TOLL_CPU, TOLL_DISK, TOLL_LOG, TOLL_LATCH, TOLL_STATIONS };

struct toll_queue {
    bool limited;                           /* has it a queue? Else all but `busy_ns` is 0 */
    double busy_ns, queued_ns, capacity_ns; /* number x time: at work, in the queue, servers */
};

struct toll {
    struct toll_queue stations[TOLL_STATIONS]; /* the disks together; a log with group forces has no queue here */
    struct toll_row rows[TOLL_ROWS];           /* in no order */
    int row_count;
    uint64_t elsewhere; /* waits that were for no row: for validation, a snapshot, a lock on the database */
    int64_t elsewhere_ns;
    int64_t aborted_ns; /* length of the attempts that were aborted, as far as it lies in the measured window */
    int64_t delay_ns;   /* restart delays drawn */
};

extern const char *const toll_station_names[TOLL_STATIONS];

/* Adds a wait to a row's counter; `table` NULL: it was for no row. */
void toll_add(struct toll *toll, const char *table, int64_t key, int64_t waited_ns);

/* Adds what another run counted: the bounds of the rows hold for the sums. */
void toll_merge(struct toll *toll, const struct toll *other);

/* The row that was waited for longest, the first of several; NULL: there is none. */
const struct toll_row *toll_worst_row(const struct toll *toll);

#endif
