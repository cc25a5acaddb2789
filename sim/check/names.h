/* names.h - numbers names in the order in which they first appear: an open-addressing hash over an array of strings. */
#ifndef CCSIM_CHECK_NAMES_H
#define CCSIM_CHECK_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct names {
    char **items; /* by number */
    size_t count, capacity;
    uint32_t *slots; /* number + 1, or 0: free; a power of two of them */
    size_t slot_count;
};

#define NAMES_NONE UINT32_MAX

/* The number of a name (`length` bytes), or NAMES_NONE. */
uint32_t names_find(const struct names *names, const char *name, size_t length);
/* The same; a new name gets the next number. */
uint32_t names_add(struct names *names, const char *name, size_t length);
void names_free(struct names *names);

#endif
