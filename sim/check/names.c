/* names.c - see names.h. FNV-1a, linear probing, at most half full. */
#include "sim/check/names.h"

#include <string.h>

#include "sim/base/memory.h"

enum { SLOTS_FIRST = 16 };

static size_t hash(const char *name, size_t length) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) {
        sum = (sum ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    }
    return (size_t)(sum ^ sum >> 32);
}

/* Where the name is, or would be. */
static size_t slot_of(const struct names *names, const char *name, size_t length) {
    size_t mask = names->slot_count - 1, at = hash(name, length) & mask;
    for (; names->slots[at] != 0; at = (at + 1) & mask) {
        const char *other = names->items[names->slots[at] - 1];
        if (strncmp(other, name, length) == 0 && other[length] == '\0') {
            break;
        }
    }
    return at;
}

static void grow(struct names *names) {
    names->slot_count = names->slot_count == 0 ? SLOTS_FIRST : names->slot_count * 2;
    mem_free(names->slots);
    names->slots = mem_new(names->slot_count, sizeof *names->slots);
    for (size_t i = 0; i < names->count; i++) {
        names->slots[slot_of(names, names->items[i], strlen(names->items[i]))] = (uint32_t)i + 1;
    }
}

uint32_t names_find(const struct names *names, const char *name, size_t length) {
    return names->slot_count == 0 ? NAMES_NONE : names->slots[slot_of(names, name, length)] - 1; /* 0 - 1: none */
}

uint32_t names_add(struct names *names, const char *name, size_t length) {
    uint32_t found = names_find(names, name, length);
    if (found != NAMES_NONE) {
        return found;
    }
    char *copy = mem_new(length + 1, 1);
    memcpy(copy, name, length);
    vector_push(names, copy);
    if (names->count * 2 > names->slot_count) {
        grow(names);
    }
    names->slots[slot_of(names, name, length)] = (uint32_t)names->count;
    return (uint32_t)names->count - 1;
}

void names_free(struct names *names) {
    for (size_t i = 0; i < names->count; i++) {
        mem_free(names->items[i]);
    }
    vector_free(names);
    mem_free(names->slots);
    names->slots = NULL;
    names->slot_count = 0;
}
