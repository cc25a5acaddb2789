#include "sim/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"

enum { EXIT_INCOMPLETE = 3, SLAB_FIRST = 16, SLAB_LARGEST = 4096, VECTOR_FIRST = 8 };

static void *or_die(void *block, size_t bytes) {
    if (block == NULL) {
        fprintf(stderr, "ccsim: out of memory (%zu bytes wanted)\n", bytes);
        exit(EXIT_INCOMPLETE);
    }
    return block;
}

void *mem_new(size_t count, size_t size) {
    if (count == 0 || size == 0) {
        count = size = 1;
    }
    CHECK(count <= SIZE_MAX / size);
    return or_die(calloc(count, size), count * size);
}

void *mem_resize(void *block, size_t count, size_t size) {
    CHECK(size > 0 && count <= SIZE_MAX / size);
    size_t bytes = count * size > 0 ? count * size : 1;
    return or_die(realloc(block, bytes), bytes);
}

void mem_free(void *block) { free(block); }

char *mem_string(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(mem_new(bytes, 1), text, bytes);
}

void *mem_vector_grow(void *items, size_t *capacity, size_t size) {
    *capacity = *capacity == 0 ? VECTOR_FIRST : *capacity * 2;
    return mem_resize(items, *capacity, size);
}

void pool_init(struct pool *pool, size_t object_size) {
    *pool = (struct pool){.size = (object_size + 7) / 8 * 8, .slab_count = SLAB_FIRST};
    CHECK(pool->size >= sizeof(void *));
}

void *pool_grow(struct pool *pool) {
    if (pool->next == pool->end) {
        size_t header = 16; /* the link, padded so that objects keep malloc's alignment */
        char *slab = or_die(malloc(header + pool->slab_count * pool->size), pool->slab_count * pool->size);
        *(void **)(void *)slab = pool->slabs;
        pool->slabs = slab;
        pool->next = slab + header;
        pool->end = pool->next + pool->slab_count * pool->size;
        pool->slab_count = pool->slab_count * 2 < SLAB_LARGEST ? pool->slab_count * 2 : SLAB_LARGEST;
    }
    void *object = pool->next;
    pool->next += pool->size;
    return object;
}

void pool_free(struct pool *pool) {
    void *slab = pool->slabs;
    while (slab != NULL) {
        void *before = *(void **)slab;
        free(slab);
        slab = before;
    }
    *pool = (struct pool){.size = pool->size, .slab_count = SLAB_FIRST};
}
