/* lineage.h - which versions of each row had been superseded by when: what a history file implies and need not say. */
#ifndef CCSIM_CHECK_LINEAGE_H
#define CCSIM_CHECK_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>

struct lineage;

struct lineage *lineage_new(void);
void lineage_free(struct lineage *lineage);

/* The attempt committed as number `seq`, leaving a version beneath that of `under`, or, if that is 0, the newest. */
void lineage_add(struct lineage *lineage, uint16_t table, int64_t key, uint64_t writer, uint64_t under, uint64_t seq);

/* Was the version of `writer` (0: of the loader) superseded by one that had been committed with number `seq`? */
bool lineage_superseded(const struct lineage *lineage, uint16_t table, int64_t key, uint64_t writer, uint64_t seq);
/* The same of the version right beneath that of `under`. */
bool lineage_superseded_beneath(const struct lineage *lineage, uint16_t table, int64_t key, uint64_t under,
                                uint64_t seq);

#endif
