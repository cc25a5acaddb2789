/* history.h - a schedule taken apart into the reads and writes of single rows, as if it had run on one version of every
 * row in the order of its steps.
 *
 * A transaction that begins anew after it was rolled back is another *life* with the same number. Each step becomes
 * operations: what it reads, then what it writes; a predicate becomes a scan and a read of every row that matches. An
 * operation's index is its time. A write that a rollback takes back knows when; what stands in a row is its newest
 * write that has not been taken back. Values are followed as far as the schedule tells them: a value it does not tell
 * may match any predicate on values. */
#ifndef CCSIM_CHECK_HISTORY_H
#define CCSIM_CHECK_HISTORY_H

#include "sim/check/schedule.h"

#define HISTORY_NONE UINT32_MAX /* no operation: for reads the row as it was at the start; for ends: never */

enum history_kind {
    HISTORY_READ,  /* of a row */
    HISTORY_WRITE, /* of a row */
    HISTORY_SCAN,  /* of a predicate, behind it the reads of what matches */
    HISTORY_MISS,  /* a scan passed a row over that matches but for an unfinished transaction's write */
    HISTORY_UNDO,  /* back to a savepoint */
    HISTORY_END    /* commit or rollback */
};

struct history_image {
    int64_t value;
    bool present, known;
};

struct history_op {
    uint8_t kind; /* enum history_kind */
    uint32_t life;
    uint32_t row;       /* of read, write, miss */
    uint32_t predicate; /* of scan, miss, and of reads and writes that a predicate led to; or SCHEDULE_NONE */
    uint32_t step;
    uint32_t seen;  /* read, miss: the write it saw; write: the one beneath it; or HISTORY_NONE */
    uint32_t gone;  /* write: the operation that took it back, or HISTORY_NONE */
    uint32_t chain; /* write: the one of the same life before it; once gone the next one taken back; undo, end: first */
    uint32_t touch; /* read, write, scan: index into touches */
    struct history_image after; /* write */
};

enum history_state { HISTORY_ACTIVE, HISTORY_COMMITTED, HISTORY_ABORTED };

struct history_life {
    uint32_t txn;
    unsigned attempt; /* 1, 2, ... */
    enum history_state state;
    uint32_t first, last, end; /* operations; end is HISTORY_NONE while unfinished; first and last may be */
    uint32_t last_write;       /* newest write that is not gone */
    uint32_t touches;          /* the newest of its touches, chained by next_of_life */
    uint32_t last_step;
};

/* A life and a row, or a life and a predicate (object: rows, then predicates). */
struct history_touch {
    uint32_t life, object, next_of_life;
    struct history_image last_read; /* what r, u, s, q returned last; not known before that */
};

struct history {
    const struct schedule *schedule;
    struct history_op *ops;
    size_t op_count, op_capacity;
    struct history_life *lives;
    size_t life_count, life_capacity;
    struct history_touch *touches;
    size_t touch_count, touch_capacity;
    struct history_image *start; /* of each row */
    uint32_t *by_id;             /* the rows in order of their ids */
    bool commits_at_end;         /* no transaction has an end: all commit */
};

enum { HISTORY_OPS_MAX = 4000000 };

/* Is the order of begins and ends such that the schedule can be judged? Adds mistakes to the book if not. */
bool history_order(struct schedule_book *book, const char *source, const struct schedule *schedule);

/* Takes the schedule apart; false: it has more than HISTORY_OPS_MAX operations. */
bool history_build(struct history *history, const struct schedule *schedule);
void history_free(struct history *history);

enum history_match { HISTORY_NO, HISTORY_YES, HISTORY_MAYBE };
enum history_match history_match(const struct history *history, uint32_t predicate, uint32_t row,
                                 struct history_image image);
/* Does the change of a row make it join or leave the predicate's rows, as far as one can tell? */
bool history_changes(const struct history *history, uint32_t predicate, uint32_t row, struct history_image before,
                     struct history_image after);
/* What a write left in its row; of HISTORY_NONE what was there at the start. */
struct history_image history_image_of(const struct history *history, uint32_t row, uint32_t write);

/* Is the operation part of the committed projection? Its life committed and it was not taken back. */
static inline bool history_counts(const struct history *history, const struct history_op *op) {
    return history->lives[op->life].state == HISTORY_COMMITTED &&
           (op->kind != HISTORY_WRITE || op->gone == HISTORY_NONE);
}

#endif
