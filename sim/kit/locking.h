/* locking.h - what all schemes of rigorous two-phase locking share: which lock protects what, and until when. The
 * schemes
 * differ in one thing only, what happens when a request conflicts: their `conflict` function.
 *
 *   plain read, FOR SHARE   S on the record, to the end
 *   FOR UPDATE              U
 *   write                   X (from S or U: an upgrade)
 *   scan                    additionally the gap before each row it meets and before the first one behind it
 *                           (phantoms = predicate: instead what it asks for, predicate_lock.h; rows that do not match,
 *                           whatever becomes of what is pending, are not locked)
 *   insert                  X on the key; waits for others' locks on the gap it falls into; its own gap lock then
 *   covers
 *                           both halves
 * All locks are held until the deferred writes are done. Rolling back to a savepoint gives up the rights to write, not
 * the protection of what was read (contract, law 7).
 *
 * That is SERIALIZABLE. A transaction may ask for less: the levels below are a matter of how long locks are held
 * (Berenson et al. 1995, table 2).
 *
 *                     plain reads: rows        their ranges            writes: rows and ranges
 *   READ UNCOMMITTED  no lock, dirty reads     none                    long
 *   READ COMMITTED    short                    short                   long
 *   REPEATABLE READ   long                     short                   long
 *
 * Short is to the end of the statement, long to the end of the transaction. FOR SHARE and FOR UPDATE ask for the row
 * itself: long at every level; their ranges are those of a read. A write's range and every row it looked at stay locked,
 * matched or not: the paper's long predicate locks of writes. Rolling back to a savepoint gives up what was locked since,
 * the protection of reads included. Since all write alike, a transaction that asked for more gets it, whatever others asked
 * for: nobody reads or overwrites what it wrote or, as far as its own locks go, changes what it read (Adya 1999, the
 * mixing theorem).
 *
 * Invariant: between two statements no short lock is held. A plain read only takes locks that its transaction did not
 * have, so short locks are the newest it holds, and releasing them looks at no older one.
 *
 * The instance's state begins with `struct locking`, the record's tail with struct lock_head. */
#ifndef CCSIM_KIT_LOCKING_H
#define CCSIM_KIT_LOCKING_H

#include "sim/kit/instance.h"
#include "sim/kit/lock.h"
#include "sim/kit/predicate_lock.h"

enum phantoms { PHANTOMS_NEXT_KEY, PHANTOMS_NONE, PHANTOMS_PREDICATE };
extern const char *const locking_phantoms_choices[], *const locking_phantoms_by_key_choices[];

struct locking {
    int phantoms; /* enum phantoms */
    bool waits;   /* false: a conflict refuses at once, nothing is queued */
    /* The request of `txn` is queued (txn->queued) and cannot be granted: wait, or refuse? Called again, with
     * txn->state
     * WAITING, when a call is repeated that must go on waiting. */
    enum cc_status (*conflict)(struct cc *cc, struct txn *txn);
    enum reason reason; /* if it does not wait */
    /* May `txn` take the gap before `row`, which never waits? NULL: always. */
    enum cc_status (*gap)(struct cc *cc, struct txn *txn, struct row *row);
    struct predicate_locks predicates; /* phantoms = predicate */
};

#define LOCKING_OPTION_PHANTOMS_OF(struct_type, member, names, what)                                                \
    {                                                                                                               \
        .name = "phantoms", .type = OPTION_CHOICE, .offset = offsetof(struct_type, member), .fallback = "next_key", \
        .choices = names, .help = "how scans are protected: by locks on records and the gaps before them, " what    \
    }
#define LOCKING_OPTION_PHANTOMS(struct_type, member)                          \
    LOCKING_OPTION_PHANTOMS_OF(struct_type, member, locking_phantoms_choices, \
                               "not at all, or by locks on what they ask for")
/* Of schemes without predicate locks. */
#define LOCKING_OPTION_PHANTOMS_BY_KEY(struct_type, member) \
    LOCKING_OPTION_PHANTOMS_OF(struct_type, member, locking_phantoms_by_key_choices, "or not at all")

void locking_start(struct cc *cc, struct locking how);
void locking_stop(struct cc *cc);

enum cc_status locking_begin(struct cc *cc, struct txn *txn);
enum cc_status locking_range(struct cc *cc, struct txn *txn, const struct range *range, enum intent intent,
                             enum patience patience);
enum cc_status locking_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent, enum patience patience,
                            struct version **seen);
enum cc_status locking_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                             enum patience patience, struct version **base);
void locking_statement_end(struct cc *cc, struct txn *txn, bool failed);
void locking_rollback(struct cc *cc, struct txn *txn, uint32_t mark);
void locking_back(struct cc *cc, struct txn *txn, uint32_t mark);
enum cc_status locking_prepare(struct cc *cc, struct txn *txn);
void locking_commit(struct cc *cc, struct txn *txn);
void locking_release(struct cc *cc, struct txn *txn);
void locking_abort(struct cc *cc, struct txn *txn);
void locking_blockers(struct cc *cc, const struct txn *waiting, struct txn_list *out, size_t most);
/* Of those, who holds what the request conflicts with. */
void locking_holders(const struct txn *waiting, struct txn_list *out);
static inline bool locking_is_queued(const struct txn *txn) {
    return txn->queued != NULL || txn->predicate_queued != NULL;
}

/* What a transaction may ask for; who asks for more keeps it. */
#define LOCKING_LEVELS (1u << LEVEL_RU | 1u << LEVEL_RC | 1u << LEVEL_RR | 1u << LEVEL_SER)

/* The lock that a row needs to be seen with an intent, to be changed. */
extern const enum lock_mode locking_mode_to_see[], locking_mode_to_change[];
/* Takes a lock or waits for it, as the scheme and the statement's patience say: to be called again after a wake. */
enum cc_status locking_take(struct cc *cc, struct txn *txn, struct row *row, enum lock_mode mode,
                            enum patience patience);
/* An insert of `row`, which is locked: the gap its key falls into must be nobody else's; it is split, and its locks cover
 * both halves. */
enum cc_status locking_enter_gap(struct cc *cc, struct txn *txn, struct row *row);

/* All fields of a cc_ops that rigorous locking fills the same way. */
#define LOCKING_OPS                                                                                                   \
    .record_size = sizeof(struct lock_head), .stop = locking_stop, .begin = locking_begin, .range = locking_range,    \
    .read = locking_read, .claim = locking_claim, .statement_end = locking_statement_end,                             \
    .silent_levels = 1u << LEVEL_SER, .rollback = locking_rollback, .back = locking_back, .prepare = locking_prepare, \
    .commit = locking_commit, .release = locking_release, .abort = locking_abort, .blockers = locking_blockers,       \
    .bounds_gap = lock_bounds_gap

#endif
