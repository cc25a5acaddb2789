/* memory.h - the only place that calls malloc.
 *
 * Four ways to hold memory, and no other:
 *   blocks  mem_new, mem_resize, mem_free: for what lives as long as a run or a config; zeroed; never NULL.
 *   tables  mem_map, mem_unmap: large blocks that are met at random, on huge pages, so that a cache miss is not a walk
 *           of the page tables besides.
 *   pool    objects of one size with a free list: for what comes and goes with every transaction. Grows by slabs,
 *           reuses last in, first out (the warm object), gives nothing back before pool_free.
 *   vector  VECTOR(type): a growable array that keeps its capacity when emptied, so that it allocates only while a
 *           run is still meeting its largest transaction.
 * Objects of a pool and items of a vector that are whole cache lines begin at one.
 * Out of memory ends the process with a message and exit code 3: nothing in a simulator can go on without it. */
#ifndef CCSIM_BASE_MEMORY_H
#define CCSIM_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_LINE = 64 }; /* bytes of a cache line */

void *mem_new(size_t count, size_t size);                 /* zeroed; untouched pages of large blocks cost no memory */
void *mem_resize(void *block, size_t count, size_t size); /* like realloc: what is new is not zeroed */
void mem_free(void *block);                               /* NULL is allowed */
char *mem_string(const char *text);                       /* a copy, to be freed with mem_free */

void *mem_map(size_t count, size_t size); /* zeroed; untouched pages cost no memory */
void mem_unmap(void *block, size_t count, size_t size);

struct pool {
    size_t size;       /* bytes of one object, a multiple of 8, at least 8 */
    size_t slab_count; /* objects of the next slab */
    void *free_list;   /* first word of a free object: the next one */
    char *next, *end;  /* the part of the newest slab never handed out yet */
    void *slabs;       /* first word of a slab: the one before it */
};

void pool_init(struct pool *pool, size_t object_size);
void pool_free(struct pool *pool);
void *pool_grow(struct pool *pool); /* the slow path of pool_get */

/* An object with arbitrary content. */
static inline void *pool_get(struct pool *pool) {
    void *object = pool->free_list;
    if (object != NULL) {
        pool->free_list = *(void **)object;
        return object;
    }
    return pool_grow(pool);
}

/* Is there an object that was put back? */
static inline bool pool_has_used(const struct pool *pool) { return pool->free_list != NULL; }

static inline void pool_put(struct pool *pool, void *object) {
    *(void **)object = pool->free_list;
    pool->free_list = object;
}

/* Puts back several at once, linked by their first words from `first` to `last`. */
static inline void pool_put_chain(struct pool *pool, void *first, void *last) {
    *(void **)last = pool->free_list;
    pool->free_list = first;
}

/* struct { struct lock **items; size_t count, capacity; } waiting = {0};  VECTOR(struct lock *) waiting = {0}; */
#define VECTOR(type)            \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
    }

/* Appends `value`. */
#define vector_push(vector, value)                                                                            \
    do {                                                                                                      \
        if ((vector)->count == (vector)->capacity) {                                                          \
            (vector)->items = mem_vector_grow((vector)->items, &(vector)->capacity, sizeof *(vector)->items); \
        }                                                                                                     \
        (vector)->items[(vector)->count++] = (value);                                                         \
    } while (0)

/* Appends an item with arbitrary content and gives its address, to be filled in its place. */
#define vector_add(vector)                                                                                          \
    ((vector)->count == (vector)->capacity                                                                          \
         ? (void)((vector)->items = mem_vector_grow((vector)->items, &(vector)->capacity, sizeof *(vector)->items)) \
         : (void)0,                                                                                                 \
     &(vector)->items[(vector)->count++])

#define vector_free(vector)                       \
    do {                                          \
        mem_free((vector)->items);                \
        (vector)->items = NULL;                   \
        (vector)->count = (vector)->capacity = 0; \
    } while (0)

void *mem_vector_grow(void *items, size_t *capacity, size_t size);

#endif
