/* naive_parts.h - what naive_certifier.c and naive_history.c share. Attempts are bits of a word, a relation between
 * them is
 * a word for each attempt. */
#ifndef CCSIM_TESTS_SUPPORT_NAIVE_PARTS_H
#define CCSIM_TESTS_SUPPORT_NAIVE_PARTS_H

#include "sim/base/random.h"
#include "tests/support/naive_certifier.h"

enum { ATTEMPTS = 64, ROWS = 5, VERSIONS = 80, READS = 24, LIVE = 4, VALUES = 4 };

/* A version of a row; in the order of the row's versions. Attempt 0 is the loader. */
struct image {
    int writer;
    uint32_t number;
    int64_t value, before;
    bool absent, before_absent;
    bool committed;
};

struct seen {
    int row, writer;
    uint32_t number, statement;
    enum certifier_sight sight;
    bool gone;  /* aborted or intermediate: no version of the history */
    bool dirty; /* the writer had not committed */
};

/* What a refused attempt would have installed in a row, and the newest version committed when it was refused. */
struct wish {
    bool any;
    struct image image;
    int base;
};

struct attempt {
    enum { UNBORN, RUNNING, COMMITTED, ABORTED } state;
    uint64_t begin_seq, snapshot_seq, seq;
    bool has_snapshot;
    uint32_t statement, number;
    struct seen reads[READS];
    int read_count;
    bool scans, scanning, scanned_all; /* of the whole table, once */
    int cursor;
    uint32_t scan_statement;
    struct condition condition;
    struct seen scanned[ROWS]; /* the version of each row that the scan saw, visited or not */
    struct node *node;
    uint32_t named;
    bool counted, owed, broke;
    enum certifier_level level;
    bool seen_dirty;      /* somebody read a version of it before it ended */
    bool refused;         /* and not judged yet */
    int begun_when_ended; /* latest attempt */
    struct wish wishes[ROWS];
    uint64_t waiting; /* committed attempts that read from it before it ended */
};

struct naive {
    struct certifier *certifier;
    enum certifier_level level;
    enum naive_kind kind;
    bool mixed, any_mixed;      /* may be, is so far */
    enum certifier_level holds; /* of the promise, when levels are mixed */
    struct stream stream;
    struct attempt attempts[ATTEMPTS];
    struct image rows[ROWS][VERSIONS];
    int versions[ROWS];
    int begun;
    uint64_t seq;
    uint64_t ww[ATTEMPTS], wr[ATTEMPTS], rw[ATTEMPTS], predicate[ATTEMPTS];
    struct certifier_counts counts;
};

/* The position of the attempt's version among the row's, or -1. */
int naive_position(const struct naive *naive, int row, int writer);
/* The next committed version above a position, or -1. */
int naive_committed_above(const struct naive *naive, int row, int at);
/* Is the row, with that value, one that the scan wants? */
bool naive_member(const struct attempt *scanner, int row, int64_t value, bool absent);

/* The edges between the attempts that have committed. */
void naive_find_edges(struct naive *naive);
/* All that is reached from the set along those edges, by one or more steps. */
uint64_t naive_reached(const struct naive *naive, uint64_t from);
/* Does the image change whether the row is one that the scan wants? */
bool naive_changes(const struct attempt *scanner, int row, const struct image *image);
/* Is what was seen a version of the history? */
bool naive_is_version(const struct naive *naive, const struct seen *seen);

/* naive_mixed.c: a cycle leads through `start`; levels are mixed. Is it forbidden to somebody, is that promised? */
bool naive_is_owed(const struct naive *naive, int start, bool *promised);
/* A cycle without two anti-dependencies (`rw`) next to each other through `start`; `flow`: the other edges. */
bool naive_apart_cycle(const uint64_t *flow, const uint64_t *rw, int start);

/* naive_refused.c: an attempt is refused, its versions still among the rows'; an attempt has ended. */
void naive_refuse(struct naive *naive, int number);
void naive_judge_refused(struct naive *naive);

/* The definitions at a commit: before the versions are marked committed, then after. */
uint64_t naive_before_commit(struct naive *naive, int number);
void naive_after_commit(struct naive *naive, int number, uint64_t fresh);
void naive_after_abort(struct naive *naive, int number);

#endif
