/* certifier.h - judges a run while it goes: is what its transactions saw and left behind what its level promises?
 *
 * The one who runs the transactions reports what happens, in order: begin, the start of each statement (the first is
 * the
 * transaction's snapshot), reads with the version they saw, complete scans, versions installed at the commit with what
 * they stand behind, then commit or abort. The certifier keeps the part of the serialization graph that can still be
 * in a
 * cycle (graph.h), looks for cycles at each commit, counts them under Adya's names and those of the lectures, and
 * holds them against the promise:
 *   RU   no G0
 *   RC   nor G1a, G1b, G1c
 *   RR   nor any cycle whose anti-dependencies are all on rows
 *   SI   none of G1, no cycle without two anti-dependencies next to each other, nothing from a transaction that had not
 *        committed when the snapshot was taken
 *   SER  no cycle, predicates included, and no G1
 * Levels may be mixed: then each transaction is owed what it asked for, no more (Adya 1999, mixing-correctness). In the
 * graph count writes over writes, reads by who asked for RC or more, and what others wrote over the reads of who asked
 * for RR (rows) or SER (predicates too): that graph has no cycle, or a level is broken. An algorithm may promise less
 * when levels are mixed: down to SI, that no cycle leads through SER transactions alone, and that cycles have two
 * anti-dependencies next to each other, those of who asked for less than SI left out.
 * From RR on a read of a version that was superseded before its reader began breaks the promise too: snapshots are
 * current.
 *
 * It knows nothing of algorithms and stores. Attempts have numbers, growing from 1; 0 is the loader. */
#ifndef CCSIM_CHECK_CERTIFIER_H
#define CCSIM_CHECK_CERTIFIER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/condition.h"
#include "sim/base/text.h"
#include "sim/check/flaw.h"

/* In the order of the levels everywhere. */
enum certifier_level { CERTIFIER_RU, CERTIFIER_RC, CERTIFIER_RR, CERTIFIER_SI, CERTIFIER_SER, CERTIFIER_LEVELS };
extern const char *const certifier_level_names[CERTIFIER_LEVELS];

struct certifier;
struct node; /* an attempt under way: what certifier_begin returns; good until its commit or abort */

/* How a read came about. */
enum certifier_sight {
    SIGHT_ROW,        /* by key, or matched by a scan */
    SIGHT_NO_ROW,     /* by key, and absent */
    SIGHT_NO_MATCH,   /* visited by a scan that did not want it */
    SIGHT_OWN_VERSION /* the reader's own, visited by a scan; by key nothing is reported */
};

struct certifier_read {
    int64_t key;
    uint64_t writer; /* of the version seen */
    /* A store may forget a row that was deleted, and begin it anew with an absent version of the loader (0). Then it
     * says
     * which version that stands for: the one beneath the committed version of `under`, or, if that is 0, the newest. */
    bool anew;
    uint64_t under;
    uint32_t number; /* which of its versions of the row, any growing numbers: the installed one tells the same */
    uint16_t table;
    uint8_t sight; /* enum certifier_sight */
    bool dirty;    /* the writer is another who has not committed */
    bool dead;     /* superseded by one that committed before the reader began */
    bool kept;     /* counts even if its statement fails: a duplicate key was met */
};

struct certifier_scan {
    int64_t first, last;
    struct condition condition;
    uint16_t table;
};

struct certifier_install {
    int64_t key;
    uint64_t behind; /* writer of the version that it stands behind */
    uint64_t under;  /* writer of the nearest committed version above it; 0: none, it is the newest */
    int64_t before, after;
    uint32_t number;
    uint16_t table;
    bool before_absent, after_absent;
};

struct certifier_counts {
    uint64_t commits;
    uint64_t anomalies; /* commits with any of these */
    uint64_t by_name[FLAW_COUNT];
    uint64_t broken;          /* commits that broke the promise */
    uint64_t broken_levels;   /* commits that broke the level of somebody: more only where mixing weakens the promise */
    uint64_t false_positives; /* refused attempts that would have closed no cycle (needless.c) */
    uint64_t unrecoverable;   /* commits with a read from one that was still under way */
};

/* `now_ns`: the clock of the run, for the witness; outlives the certifier. */
struct certifier *certifier_new(enum certifier_level promise, const int64_t *now_ns);
void certifier_free(struct certifier *certifier);

/* The name of a table, for messages: copied. Tables are numbered from 0, below 65,536. */
void certifier_table(struct certifier *certifier, int table, const char *name);
/* Writes everything that is reported to a history file (docs/HISTORY.md); NULL: nothing. The certifier does not
 * close it. */
void certifier_record(struct certifier *certifier, FILE *file);

/* From now on it breaks no promise to have read what was then rolled back: what was committed is judged alone. */
void certifier_excuse_aborted_reads(struct certifier *certifier);

struct node *certifier_begin(struct certifier *certifier, uint64_t id);
/* It asked for another level than the promise; mixed levels leave of the promise what `holds`. Before anything else. */
void certifier_level(struct certifier *certifier, struct node *txn, enum certifier_level level,
                     enum certifier_level holds);
void certifier_statement(struct certifier *certifier, struct node *txn, uint32_t statement);
void certifier_read(struct certifier *certifier, struct node *txn, uint32_t statement,
                    const struct certifier_read *read);
/* The usual read: SIGHT_ROW, and nothing else to be said of it. */
void certifier_read_row(struct certifier *certifier, struct node *txn, uint32_t statement, uint16_t table, int64_t key,
                        uint64_t writer, uint32_t number);
/* At the end of a scan that left nothing out; its reads have come in ascending order of keys since
 * certifier_statement. */
void certifier_scan(struct certifier *certifier, struct node *txn, uint32_t statement,
                    const struct certifier_scan *scan);
/* A write that was left out (Thomas's rule): no edge. */
void certifier_skip(struct certifier *certifier, struct node *txn, int table, int64_t key);
/* Statement `statement` failed; what it read does not count, but for `kept` reads. */
void certifier_fail(struct certifier *certifier, struct node *txn, uint32_t statement);
/* Statements from `mark` on were rolled back. What they read counts from SI on, below it does not: the level is the
 * transaction's. */
void certifier_rollback(struct certifier *certifier, struct node *txn, uint32_t mark);
/* Statements from `mark` on never were: their transaction goes on as it was before them, whatever its level. */
void certifier_back(struct certifier *certifier, struct node *txn, uint32_t mark);
/* The last version of each row it wrote, between the statement before and its commit. */
void certifier_install(struct certifier *certifier, struct node *txn, const struct certifier_install *install);
/* The usual one: the row is there before and after, and no version stands above it. */
void certifier_install_row(struct certifier *certifier, struct node *txn, uint16_t table, int64_t key, uint64_t behind,
                           int64_t before, int64_t after, uint32_t number);
void certifier_commit(struct certifier *certifier, struct node *txn);
void certifier_abort(struct certifier *certifier, struct node *txn);
/* An abort because a cycle was feared: when all whom it overlapped have ended it is judged whether there would have been
 * one. What it would have installed is told before, each row once: `behind` is the newest committed version. Not judged
 * is whose versions somebody has read. */
void certifier_would_install(struct certifier *certifier, struct node *txn, const struct certifier_install *install);
void certifier_refuse(struct certifier *certifier, struct node *txn);

const struct certifier_counts *certifier_counts(const struct certifier *certifier);
/* The first commit that broke the promise; if none did, the first anomaly; "" if there was none. Several lines. */
const char *certifier_witness(const struct certifier *certifier);
/* Transactions kept, running ones included; those dropped although they might have been in a longer cycle. */
size_t certifier_kept(const struct certifier *certifier);
uint64_t certifier_dropped(const struct certifier *certifier);

#endif
