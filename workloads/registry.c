/* registry.c - the list of all workloads: a new one is a file beside this one and a line here. */
#include "workloads/workload.h"

#include <string.h>

/* In the order `ccsim list` shows. */
#define WORKLOADS(entry) entry(hot_row) entry(bank) entry(acl87) entry(idle)

#define WORKLOAD_DECLARE(name) extern const struct workload_ops workload_##name;
#define WORKLOAD_LIST(name)    &workload_##name,

WORKLOADS(WORKLOAD_DECLARE)

const struct workload_ops *const workload_registry[] = {WORKLOADS(WORKLOAD_LIST)};
const size_t workload_registry_count = sizeof workload_registry / sizeof workload_registry[0];

const struct workload_ops *workload_find(const char *name) {
    for (size_t i = 0; i < workload_registry_count; i++) {
        if (strcmp(workload_registry[i]->name, name) == 0) {
            return workload_registry[i];
        }
    }
    return NULL;
}
