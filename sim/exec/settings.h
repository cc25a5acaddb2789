/* settings.h - what a run is: the sections [system], [cost] and [restart] of a config as structs, and their option
 * tables. exec reads the structs; lab fills them from configs. */
#ifndef CCSIM_EXEC_SETTINGS_H
#define CCSIM_EXEC_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/distribution.h"
#include "sim/base/option.h"

struct system_settings {
    int64_t terminals;                  /* closed system: 1 .. SYSTEM_TERMINALS_MAX; 0: not given */
    struct option_profile arrival_rate; /* open system; exactly one of the two is given */
    struct distribution think_time;
    int64_t start_within_ns;
    int64_t mpl;         /* OPTION_UNLIMITED: no admission control */
    int64_t cpus, disks; /* OPTION_UNLIMITED: a delay, no queue */
    int disk_queues;     /* enum disk_queues */
    double io_miss;
    int64_t log_devices; /* OPTION_UNLIMITED: a delay */
    bool log_group;
    int64_t rows_per_page;
};
enum { SYSTEM_TERMINALS_MAX = 1000000 };
enum disk_queues { DISK_QUEUES_OWN, DISK_QUEUES_SHARED };

struct cost_settings {
    struct distribution cpu_access, cpu_write, cpu_lock, cpu_detect, cpu_validate, cpu_hop, cpu_abort;
    bool latch;
    struct distribution io_access, io_write, log_force, round_trip;
};

struct restart_settings {
    struct option_call delay; /* enum restart_delay */
    int64_t max_attempts;
    bool keeps_slot;
};
enum restart_delay { RESTART_DISTRIBUTION, RESTART_ADAPTIVE, RESTART_BACKOFF };

extern const struct option_table system_options, cost_options, restart_options;

#endif
