/* registry.c - the list of all workloads: a new one is a file beside this one, a declaration and a line here. */
#include "workloads/workload.h"

#include <string.h>

extern const struct workload_ops workload_acl87;
extern const struct workload_ops workload_bank;
extern const struct workload_ops workload_doctors;
extern const struct workload_ops workload_edit_form;
extern const struct workload_ops workload_hot_row;
extern const struct workload_ops workload_idle;
extern const struct workload_ops workload_job_queue;
extern const struct workload_ops workload_mix;
extern const struct workload_ops workload_phantom;
extern const struct workload_ops workload_report;
extern const struct workload_ops workload_seats;
extern const struct workload_ops workload_smallbank;
extern const struct workload_ops workload_tpcc;
extern const struct workload_ops workload_wild;
extern const struct workload_ops workload_ycsb;

/* In the order `ccsim list` shows. */
/* clang-format off */
const struct workload_ops *const workload_registry[] = {
    &workload_hot_row,
    &workload_bank,
    &workload_acl87,
    &workload_ycsb,
    &workload_job_queue,
    &workload_edit_form,
    &workload_seats,
    &workload_doctors,
    &workload_smallbank,
    &workload_phantom,
    &workload_report,
    &workload_tpcc,
    &workload_mix,
    &workload_idle,
    &workload_wild,
};
/* clang-format on */
const size_t workload_registry_count = sizeof workload_registry / sizeof workload_registry[0];

const struct workload_ops *workload_find(const char *name) {
    for (size_t i = 0; i < workload_registry_count; i++) {
        if (strcmp(workload_registry[i]->name, name) == 0) {
            return workload_registry[i];
        }
    }
    return NULL;
}
