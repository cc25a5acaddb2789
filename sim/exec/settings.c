/* settings.c - the option tables of [system], [cost] and [restart]: their names, defaults and bounds are the ones that
 * users see. */
#include "sim/exec/settings.h"

#include <stddef.h>

/* A station has a place for each of its servers. */
#define SERVERS_MAX 1e6

static const char *const disk_queue_choices[] = {"own", "shared", NULL};

#define AT(member) offsetof(struct system_settings, member)
static const struct option system_rows[] = {
    {"terminals", OPTION_COUNT, AT(terminals), "16", 1, SYSTEM_TERMINALS_MAX, NULL, OPTION_OPTIONAL,
     "a closed system: so many users, each with one transaction at a time"},
    {"arrival_rate", OPTION_PROFILE, AT(arrival_rate), "500/s", 0, 0, NULL, OPTION_OPTIONAL,
     "an open system: transactions arrive by themselves (Poisson); a rate, or rates with how long each lasts"},
    {"think_time", OPTION_DISTRIBUTION, AT(think_time), "0", 0, 0, NULL, 0,
     "how long a terminal thinks between two transactions"},
    {"start_within", OPTION_DURATION, AT(start_within_ns), "0", 0, 0, NULL, 0,
     "each terminal's first transaction begins uniformly within this time"},
    {"mpl", OPTION_COUNT, AT(mpl), "unlimited", 1, 1e6, NULL, OPTION_MAY_BE_UNLIMITED,
     "multiprogramming level: how many transactions may be admitted at once (a connection pool's size)"},
    {"cpus", OPTION_COUNT, AT(cpus), "unlimited", 1, SERVERS_MAX, NULL, OPTION_MAY_BE_UNLIMITED,
     "CPUs, with one FIFO queue"},
    {"disks", OPTION_COUNT, AT(disks), "unlimited", 1, SERVERS_MAX, NULL, OPTION_MAY_BE_UNLIMITED,
     "disks, chosen at random"},
    {"disk_queues", OPTION_CHOICE, AT(disk_queues), "own", 0, 0, disk_queue_choices, 0,
     "own: each disk has a queue of its own; shared: one queue for all"},
    {"io_miss", OPTION_SHARE, AT(io_miss), "100%", 0, 0, NULL, 0,
     "the share of the visited rows that must be fetched from disk"},
    {"log_devices", OPTION_COUNT, AT(log_devices), "unlimited", 1, SERVERS_MAX, NULL, OPTION_MAY_BE_UNLIMITED,
     "log devices that the forces queue for; unlimited: a force is a delay of its own"},
    {"log_group", OPTION_BOOL, AT(log_group), "no", 0, 0, NULL, 0, "one log force carries all that wait for it"},
    {"rows_per_page", OPTION_COUNT, AT(rows_per_page), "64", 1, 1e6, NULL, 0,
     "rows of a page, for page locks and marks"},
};
#undef AT

#define AT(member) offsetof(struct cost_settings, member)
static const struct option cost_rows[] = {
    {"cpu_access", OPTION_DISTRIBUTION, AT(cpu_access), "exp(1ms)", 0, 0, NULL, 0,
     "CPU per row that a statement visits for the first time in its attempt"},
    {"cpu_write", OPTION_DISTRIBUTION, AT(cpu_write), "0", 0, 0, NULL, 0, "CPU on top, when it writes the row"},
    {"cpu_lock", OPTION_DISTRIBUTION, AT(cpu_lock), "0", 0, 0, NULL, 0, "CPU per lock request"},
    {"cpu_detect", OPTION_DISTRIBUTION, AT(cpu_detect), "0", 0, 0, NULL, 0,
     "CPU per transaction that a deadlock search visits"},
    {"cpu_validate", OPTION_DISTRIBUTION, AT(cpu_validate), "0", 0, 0, NULL, 0, "CPU per item validated"},
    {"cpu_hop", OPTION_DISTRIBUTION, AT(cpu_hop), "0", 0, 0, NULL, 0, "CPU per version walked past"},
    {"cpu_abort", OPTION_DISTRIBUTION, AT(cpu_abort), "0", 0, 0, NULL, 0,
     "CPU per abort or rollback, after the locks are free"},
    {"latch", OPTION_BOOL, AT(latch), "no", 0, 0, NULL, 0,
     "lock requests and deadlock searches pass one latch, one at a time, for as long as they cost"},
    {"io_access", OPTION_DISTRIBUTION, AT(io_access), "0", 0, 0, NULL, 0,
     "disk per row visited, with the probability system.io_miss"},
    {"io_write", OPTION_DISTRIBUTION, AT(io_write), "0", 0, 0, NULL, 0,
     "disk per written row, deferred: after the commit point"},
    {"log_force", OPTION_DISTRIBUTION, AT(log_force), "0", 0, 0, NULL, 0,
     "per commit that wrote, between the last refusal and the commit point"},
    {"round_trip", OPTION_DISTRIBUTION, AT(round_trip), "0", 0, 0, NULL, 0,
     "client to server and back, per statement, commit and rollback"},
};
#undef AT

static const char *const delay_choices[] = {"distribution", "adaptive", "backoff(duration, number, duration)", NULL};

#define AT(member) offsetof(struct restart_settings, member)
static const struct option restart_rows[] = {
    {"delay", OPTION_CALL, AT(delay), "0", 0, 0, delay_choices, 0,
     "how long a restart waits: a duration; adaptive, exponential around the running mean response time (around 10ms until "
     "the first commit), the default of algorithms whose refusals come back at once; or backoff(base, factor, cap), "
     "uniform up to min(cap, base * factor^attempt)"},
    {"max_attempts", OPTION_COUNT, AT(max_attempts), "unlimited", 1, 1e9, NULL, OPTION_MAY_BE_UNLIMITED,
     "after so many attempts a transaction gives up"},
    {"keeps_slot", OPTION_BOOL, AT(keeps_slot), "yes", 0, 0, NULL, 0,
     "a restarting transaction keeps its admission slot"},
};
#undef AT

#define TABLE(rows, type) \
    { (rows), sizeof(rows) / sizeof(rows)[0], sizeof(type) }
const struct option_table system_options = TABLE(system_rows, struct system_settings);
const struct option_table cost_options = TABLE(cost_rows, struct cost_settings);
const struct option_table restart_options = TABLE(restart_rows, struct restart_settings);
