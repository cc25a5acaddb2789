/* program.h - what the programs of several workloads share: the common steps, drawn chances and rows, packed accesses, and the
 * audit of counters.
 *
 * Every step is written whole, so nothing of the step before shows through. All the statements wait for their rows as
 * long as it takes (PATIENCE_BLOCK). A statement that fails all the same (a lock timeout, a busy database) makes these
 * programs roll back by their own wish: they are the plain application that has no handler for it. */
#ifndef CCSIM_WORKLOADS_PROGRAM_H
#define CCSIM_WORKLOADS_PROGRAM_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "sim/base/text.h"
#include "sim/base/zipf.h"
#include "sim/store/level.h"
#include "sim/store/store.h"
#include "workloads/workload.h"

/* Tables of the built-in workloads count their keys from 1, and a key with two flags must fit 32 bits: arguments are
 * kept once for each live transaction, so they are packed. */
#define PROGRAM_ROWS_MAX 1000000000
enum { PROGRAM_FIRST_KEY = 1 };
_Static_assert(PROGRAM_ROWS_MAX < UINT32_MAX >> 2, "a key and two flags fit 32 bits");

static inline void step_select(struct step *step, struct table *table, int64_t key, enum step_locking locking) {
    *step = (struct step){.kind = STEP_SELECT, .table = table, .first = key, .last = key, .locking = locking};
}

static inline void step_update(struct step *step, struct table *table, int64_t key, enum step_value value,
                               int64_t operand) {
    *step = (struct step){
        .kind = STEP_UPDATE, .table = table, .first = key, .last = key, .value = value, .operand = operand};
}

/* A read without lock, or an update that adds 1: which one is no jump that a processor could guess wrong. */
static inline void step_read_or_increment(struct step *step, struct table *table, int64_t key, bool increment) {
    *step = (struct step){.kind = increment ? STEP_UPDATE : STEP_SELECT,
                          .table = table,
                          .first = key,
                          .last = key,
                          .value = increment ? VALUE_ADD : VALUE_SET,
                          .operand = increment};
}

/* `think` must outlive the program: let it stand in the workload's state. */
static inline void step_think(struct step *step, const struct distribution *think) {
    *step = (struct step){.kind = STEP_THINK, .think = think};
}

static inline void step_end(struct step *step, bool rollback) {
    *step = (struct step){.kind = rollback ? STEP_ROLLBACK : STEP_COMMIT};
}

/* The value of the one row that a statement by key read. */
static inline int64_t reply_value(const struct reply *reply) {
    CHECK(reply->status == REPLY_OK && reply->count == 1);
    return reply->rows[0].value;
}

/* What the rows of a reply add up to. */
static inline int64_t reply_sum(const struct reply *reply) {
    int64_t sum = 0;
    for (int64_t i = 0; i < reply->count; i++) {
        sum += reply->rows[i].value;
    }
    return sum;
}

/* `count` different ranks, in the order drawn; `zipf` may be uniform. At most ZIPF_DISTINCT_MAX. */
static inline void draw_distinct(const struct zipf *zipf, struct stream *stream, uint64_t *ranks, size_t count) {
    if (zipf->theta > 0) {
        zipf_distinct(zipf, stream, ranks, count);
    } else {
        stream_distinct(stream, zipf->n, ranks, count);
    }
}

/* True with the given probability. Draws in any case: changing a share changes no other draw, so that the transactions
 * of two points of a sweep differ in nothing else. */
static inline bool stream_chance(struct stream *stream, double probability) {
    return stream_unit(stream) < probability;
}

/* For many draws with one probability p: stream_unit gives the multiple of 2^-53 that stream_whole counts, so
 * stream_chance(stream, p) is stream_whole(stream) < chance_limit(p). */
static inline uint64_t stream_whole(struct stream *stream) { return stream_bits(stream) >> 11; }
static inline uint64_t chance_limit(double probability) {
    double limit = probability * 0x1p53;
    int64_t whole = (int64_t)limit;
    return (uint64_t)(whole + ((double)whole < limit));
}

/* ---- What audits look at ---- */

static inline const struct record *dense_record(const struct table *table, int64_t key) {
    return (const struct record *)(const void *)(table->dense + (size_t)(key - table->first_key) * table->stride);
}

/* The value of the record's newest committed version; false if the row is not there. */
static inline bool committed_value(const struct table *table, const struct record *record, int64_t key,
                                   int64_t *value) {
    const struct version *version = record->newest;
    while (version != NULL && version->stamp == 0) {
        version = version->older;
    }
    bool dense = table_is_dense(table, key);
    *value = version != NULL ? version->value : table->initial_value;
    return version != NULL ? version->absent == 0 : dense && !table->initially_absent;
}

/* An account of increments: every row starts at zero and only ever has 1 added by committed transactions, so the sum of
 * the rows must be their number. `level` is the one that protects it. */
static inline void audit_increments(struct workload_audit *audit, const struct table *table, uint64_t increments,
                                    enum level level) {
    int64_t missing = (int64_t)increments - table->committed_sum;
    audit->level = (int)level;
    audit->lost_updates_known = true;
    audit->lost_updates = missing > 0 ? (uint64_t)missing : 0;
    audit->verdict = missing == 0 ? AUDIT_OK : AUDIT_BROKEN;
    if (missing > 0) {
        text_add(&audit->message,
                 "%" PRId64 " of %" PRIu64 " committed increments were lost: the rows of %s add up to %" PRId64,
                 missing, increments, table->name, table->committed_sum);
    } else if (missing < 0) {
        text_add(&audit->message,
                 "the rows of %s add up to %" PRId64 ", %" PRId64 " more than the %" PRIu64
                 " increments that were committed",
                 table->name, table->committed_sum, -missing, increments);
    }
}

#endif
