#include "sim/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/check.h"

enum { EXIT_INCOMPLETE = 3, SLAB_FIRST = 16, SLAB_HEADER = MEMORY_LINE, VECTOR_FIRST = 8 };
#define HUGE_PAGE ((size_t)2 << 20)

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
    size_t before = *capacity * size;
    *capacity = *capacity == 0 ? VECTOR_FIRST : *capacity * 2;
    if (size % MEMORY_LINE != 0) {
        return mem_resize(items, *capacity, size);
    }
    void *grown = or_die(aligned_alloc(MEMORY_LINE, *capacity * size), *capacity * size);
    if (before > 0) {
        memcpy(grown, items, before);
    }
    free(items);
    return grown;
}

/* ---- Huge pages ---- */

static size_t whole_pages(size_t bytes) { return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE; }

/* One huge page more than is needed is mapped, and what lies before and behind the whole ones goes back. The huge pages
 * are a wish only: where there are none, nothing changes. */
static void *map_pages(size_t bytes) {
    char *block = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    or_die(block == MAP_FAILED ? NULL : block, bytes);
    size_t before = (HUGE_PAGE - (uintptr_t)block % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0) {
        munmap(block, before);
    }
    munmap(block + before + bytes, HUGE_PAGE - before);
    madvise(block + before, bytes, MADV_HUGEPAGE);
    return block + before;
}

void *mem_map(size_t count, size_t size) {
    CHECK(size > 0 && count <= SIZE_MAX / 2 / size);
    return count * size < HUGE_PAGE ? mem_new(count, size) : map_pages(whole_pages(count * size));
}

void mem_unmap(void *block, size_t count, size_t size) {
    if (count * size < HUGE_PAGE) {
        mem_free(block);
    } else {
        munmap(block, whole_pages(count * size));
    }
}

/* ---- Pools ---- */

void pool_init(struct pool *pool, size_t object_size) {
    *pool = (struct pool){.size = (object_size + 7) / 8 * 8, .slab_count = SLAB_FIRST};
    CHECK(pool->size >= sizeof(void *) && pool->size * SLAB_FIRST < HUGE_PAGE - SLAB_HEADER);
}

/* Slabs double up to one huge page, header included, so that no object spills into a page of its own. The header is
 * the link, padded so that objects keep malloc's alignment. */
static char *new_slab(struct pool *pool) {
    size_t largest = (HUGE_PAGE - SLAB_HEADER) / pool->size;
    size_t bytes = SLAB_HEADER + pool->slab_count * pool->size;
    char *slab;
    if (pool->slab_count < largest) {
        slab = or_die(aligned_alloc(MEMORY_LINE, (bytes + MEMORY_LINE - 1) / MEMORY_LINE * MEMORY_LINE), bytes);
    } else {
        slab = or_die(aligned_alloc(HUGE_PAGE, HUGE_PAGE), HUGE_PAGE);
        madvise(slab, HUGE_PAGE, MADV_HUGEPAGE);
    }
    pool->next = slab + SLAB_HEADER;
    pool->end = pool->next + pool->slab_count * pool->size;
    pool->slab_count = pool->slab_count * 2 < largest ? pool->slab_count * 2 : largest;
    return slab;
}

void *pool_grow(struct pool *pool) {
    if (pool->next == pool->end) {
        char *slab = new_slab(pool);
        *(void **)(void *)slab = pool->slabs;
        pool->slabs = slab;
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
