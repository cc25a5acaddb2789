/* toll.c - see the header. */
#include "sim/exec/toll.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"

const char *const toll_station_names[TOLL_STATIONS] = {"CPUs", "disks", "log", "latch"};

static struct toll_row *find(struct toll *toll, const char *table, int64_t key) {
    for (int i = 0; i < toll->row_count; i++) {
        struct toll_row *row = &toll->rows[i];
        if (row->key == key && strncmp(row->table, table, TOLL_NAME_SIZE - 1) == 0) {
            return row;
        }
    }
    return NULL;
}

/* A new counter while there is room, else the smallest, whose count becomes the error. */
static struct toll_row *take_over(struct toll *toll, const char *table, int64_t key) {
    struct toll_row *taken = &toll->rows[0];
    if (toll->row_count < TOLL_ROWS) {
        taken = &toll->rows[toll->row_count++];
    }
    for (int i = 0; i < toll->row_count; i++) {
        taken = toll->rows[i].waited_ns < taken->waited_ns ? &toll->rows[i] : taken;
    }
    *taken = (struct toll_row){.key = key, .waited_ns = taken->waited_ns, .error_ns = taken->waited_ns};
    snprintf(taken->table, sizeof taken->table, "%s", table);
    return taken;
}

static struct toll_row *counter_of(struct toll *toll, const char *table, int64_t key) {
    struct toll_row *row = find(toll, table, key);
    return row != NULL ? row : take_over(toll, table, key);
}

void toll_add(struct toll *toll, const char *table, int64_t key, int64_t waited_ns) {
    CHECK(waited_ns >= 0);
    if (table == NULL) {
        toll->elsewhere++;
        toll->elsewhere_ns += waited_ns;
        return;
    }
    struct toll_row *row = counter_of(toll, table, key);
    row->waits++;
    row->waited_ns += waited_ns;
}

void toll_merge(struct toll *toll, const struct toll *other) {
    for (int i = 0; i < other->row_count; i++) {
        const struct toll_row *from = &other->rows[i];
        struct toll_row *row = counter_of(toll, from->table, from->key);
        row->waits += from->waits;
        row->waited_ns += from->waited_ns;
        row->error_ns += from->error_ns;
    }
    toll->elsewhere += other->elsewhere;
    toll->elsewhere_ns += other->elsewhere_ns;
    toll->aborted_ns += other->aborted_ns;
    toll->delay_ns += other->delay_ns;
    for (int i = 0; i < TOLL_STATIONS; i++) {
        struct toll_queue *queue = &toll->stations[i];
        const struct toll_queue *more = &other->stations[i];
        queue->limited = queue->limited || more->limited;
        queue->busy_ns += more->busy_ns;
        queue->queued_ns += more->queued_ns;
        queue->capacity_ns += more->capacity_ns;
    }
}

const struct toll_row *toll_worst_row(const struct toll *toll) {
    const struct toll_row *worst = NULL;
    for (int i = 0; i < toll->row_count; i++) {
        if (worst == NULL || toll->rows[i].waited_ns > worst->waited_ns) {
            worst = &toll->rows[i];
        }
    }
    return worst;
}
