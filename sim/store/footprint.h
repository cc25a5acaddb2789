/* footprint.h - a footprint: what a transaction will access, known before its first step.
 *
 * It has one item for each row that is named by its key, with the strongest thing that will be done there, and one for
 * each range that is scanned. Items stand in order of table and key; at the same key ranges stand first. Ranges
 * may overlap, and hold rows that are named besides. */
#ifndef CCSIM_STORE_FOOTPRINT_H
#define CCSIM_STORE_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/condition.h"

struct table;

/* From weak to strong. LOCK: FOR UPDATE; FOR SHARE is READ. WRITE: of a row that is there, INSERT: perhaps of a new
 * one. */
enum planned_use { PLANNED_READ, PLANNED_LOCK, PLANNED_WRITE, PLANNED_INSERT };

struct planned {
    struct table *table;
    int64_t key;
    enum planned_use use;
    bool scan;    /* a range from `key` on: what is not there counts too; the following hold of one only */
    int64_t last; /* key */
    struct condition condition; /* on which of its rows */
};

struct footprint {
    struct planned *items;
    size_t count, capacity;
};

/* In the place of a number of items: the program cannot tell. */
#define PLAN_UNKNOWN ((size_t)-1)

/* Adds an access, in any order; what finds no room is only counted. */
static inline void footprint_add(struct footprint *plan, struct planned item) {
    if (plan->count < plan->capacity) {
        plan->items[plan->count] = item;
    }
    plan->count++;
}
static inline void footprint_add_row(struct footprint *plan, struct table *table, int64_t key, enum planned_use use) {
    footprint_add(plan, (struct planned){.table = table, .key = key, .use = use});
}

/* Puts what was added in order, one item a row and a range. */
void footprint_arrange(struct footprint *plan);

#endif
