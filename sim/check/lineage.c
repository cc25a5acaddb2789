/* lineage.c - see the header. Each row has its committed versions in version order; a version is superseded by all that
 * stand above it. Nothing is forgotten: it takes less than the text that tells it. */
#include "sim/check/lineage.h"

#include <string.h>

#include "sim/base/memory.h"

#define uthash_malloc(size)      mem_new(1, size)
#define uthash_free(block, size) mem_free(block)
#include <uthash.h>

struct bequest {
    uint64_t writer, seq;
};

struct row_name {
    int64_t key;
    uint64_t table; /* wide: no padding, it is compared byte by byte */
};

struct lineage_row {
    struct row_name name;
    struct bequest *items; /* in version order */
    size_t count, capacity;
    UT_hash_handle hh;
};

struct lineage {
    struct lineage_row *rows; /* a hash */
};

struct lineage *lineage_new(void) {
    return mem_new(1, sizeof(struct lineage));
}

void lineage_free(struct lineage *lineage) {
    while (lineage->rows != NULL) {
        struct lineage_row *row = lineage->rows;
        HASH_DEL(lineage->rows, row);
        mem_free(row->items);
        mem_free(row);
    }
    mem_free(lineage);
}

static struct lineage_row *find_row(const struct lineage *lineage, uint16_t table, int64_t key) {
    struct row_name name;
    memset(&name, 0, sizeof name); /* the padding is part of the hash */
    name.key = key;
    name.table = table;
    struct lineage_row *row = NULL;
    HASH_FIND(hh, lineage->rows, &name, sizeof name, row);
    return row;
}

/* The place above the version of `writer`: 0 if there is none. */
static size_t place_above(const struct lineage_row *row, uint64_t writer) {
    size_t at = row->count;
    while (at > 0 && row->items[at - 1].writer != writer) {
        at--;
    }
    return at;
}

void lineage_add(struct lineage *lineage, uint16_t table, int64_t key, uint64_t writer, uint64_t under, uint64_t seq) {
    struct lineage_row *row = find_row(lineage, table, key);
    if (row == NULL) {
        row = mem_new(1, sizeof *row);
        row->name.key = key; /* the rest is zero, padding too */
        row->name.table = table;
        HASH_ADD(hh, lineage->rows, name, sizeof row->name, row);
    }
    vector_push(row, ((struct bequest){0}));
    size_t above = under != 0 ? place_above(row, under) : 0;
    size_t at = above > 0 ? above - 1 : row->count - 1;
    memmove(row->items + at + 1, row->items + at, (row->count - 1 - at) * sizeof *row->items);
    row->items[at] = (struct bequest){.writer = writer, .seq = seq};
}

static bool committed_from(const struct lineage_row *row, size_t at, uint64_t seq) {
    for (; at < row->count; at++) {
        if (row->items[at].seq <= seq) {
            return true;
        }
    }
    return false;
}

bool lineage_superseded(const struct lineage *lineage, uint16_t table, int64_t key, uint64_t writer, uint64_t seq) {
    const struct lineage_row *row = find_row(lineage, table, key);
    return row != NULL && committed_from(row, writer != 0 ? place_above(row, writer) : 0, seq);
}

bool lineage_superseded_beneath(const struct lineage *lineage, uint16_t table, int64_t key, uint64_t under,
                                uint64_t seq) {
    const struct lineage_row *row = find_row(lineage, table, key);
    size_t above = row != NULL && under != 0 ? place_above(row, under) : 0;
    return above > 0 && committed_from(row, above - 1, seq);
}
