/* memory.c - what a row costs in memory, measured by the resident set: a table all of whose pages are in memory but
 * none of
 * whose rows was used, and the same table when every row has a version.
 * Usage: memory ALGORITHM [ROWS]; prints bytes per untouched row, per touched row, and per row as it stands in a table
 * nobody has used, whose pages take no memory yet. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sim/cc/cc.h"
#include "sim/store/store.h"

static double resident_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

int main(int argc, char **argv) {
    const struct cc_ops *algorithm = argc >= 2 ? cc_find(argv[1]) : NULL;
    int64_t rows = argc >= 3 ? strtoll(argv[2], NULL, 10) : 10000000;
    if (algorithm == NULL || rows < 1) {
        fprintf(stderr, "usage: memory ALGORITHM [ROWS]\n");
        return 2;
    }
    struct store store;
    store_init(&store, algorithm->record_size, NULL);
    double before = resident_bytes();
    struct table *table = store_add_table(&store, "rows", 1, rows, 0, false);
    double fresh = resident_bytes() - before;
    memset(table->dense, 0, (size_t)rows * table->stride);
    double untouched = resident_bytes() - before;
    for (int64_t key = 1; key <= rows; key++) {
        store_touch(&store, table, key, store_record(&store, table, key));
    }
    double touched = resident_bytes() - before, share = 1 / (double)rows;
    printf("%.2f %.2f %.2f\n", untouched * share, touched * share, fresh * share);
    store_free(&store);
    return 0;
}
