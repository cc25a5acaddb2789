/* workload.h - the contract of a workload: what the simulated application does, and how to tell whether it came out
 * right.
 *
 * load    makes the tables.
 * draw    fills the arguments of a terminal's n-th transaction from a stream of its own, so that every algorithm
 * faces the
 *         same transactions, and restarts repeat the same one.
 * next    is a small state machine: given the reply to its last step it fills the next one. Its registers (all
 *         but the arguments) are zeroed at each attempt; `registers` of zero means: first step wanted. The reply is then
 *         an OK one of no rows.
 * audit   says whether the invariant holds (money conserved, no increment lost) and which level it needs.
 * Programs decide from what they read, as applications do. workloads know nothing of algorithms. */
#ifndef CCSIM_WORKLOADS_WORKLOAD_H
#define CCSIM_WORKLOADS_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/condition.h"
#include "sim/base/distribution.h"
#include "sim/base/option.h"
#include "sim/base/random.h"
#include "sim/base/text.h"
#include "sim/store/footprint.h"
#include "sim/store/store.h"

enum step_kind {
    STEP_SELECT, /* read rows, perhaps locking them */
    STEP_UPDATE,
    STEP_DELETE,
    STEP_INSERT,
    STEP_THINK,     /* the application's own time: no server is busy, locks stay */
    STEP_SAVEPOINT, /* `savepoint` is its number, 0 .. STEP_SAVEPOINTS_MAX - 1 */
    STEP_ROLLBACK_TO,
    STEP_COMMIT,
    STEP_ROLLBACK, /* the program's own wish */
    STEP_RETRY,    /* gives the attempt up for the reason of the error that was the last reply, and begins again */
    STEP_HOLD      /* nothing to do yet: the schedule player's pause */
} __attribute__((packed));
enum step_locking {
    LOCKING_NONE,
    LOCKING_SHARE,
    LOCKING_UPDATE
} __attribute__((packed)); /* SELECT .. FOR SHARE, FOR UPDATE */
enum step_patience { PATIENCE_BLOCK, PATIENCE_NOWAIT, PATIENCE_SKIP_LOCKED } __attribute__((packed));
enum step_value { VALUE_SET, VALUE_ADD } __attribute__((packed)); /* := operand, += operand */
enum { STEP_SAVEPOINTS_MAX = 8 };

/* What few statements ask for, most of them of written schedules. */
struct step_extra {
    const int64_t *keys; /* a statement over several keys, the first of which is step.first; or NULL */
    int64_t key_count;
    bool reads_source; /* the statement reads row `source` before it changes any, and adds its value (absent: 0) */
    int64_t source;
    struct condition also; /* a second test on the rows */
};

/* At most 80 bytes, so that writing one is a handful of stores. */
struct step {
    enum step_kind kind;
    enum step_locking locking;
    enum step_patience patience;
    enum step_value value; /* UPDATE, INSERT: what `operand` is */
    int savepoint;
    bool scan; /* a range: what is not there counts too */
    /* This statement takes the transaction's last new lock, upgrades included: later ones touch only rows that it holds
     * in the mode they need. No insert and no scan can follow. */
    bool last_lock;
    int32_t limit; /* rows obtained; 0: no limit */
    struct table *table;
    int64_t first, last;        /* keys; a step by key has first == last and scan false */
    struct condition condition; /* zero: any present row */
    int64_t operand;
    union {
        const struct distribution *think; /* THINK: drawn afresh by exec */
        const struct step_extra *extra;   /* a statement: NULL, nothing more; else it outlives the statement */
    };
};
_Static_assert(sizeof(struct step) <= 80, "a step is written and read at every access");

enum reply_status { REPLY_OK, REPLY_ERROR }; /* ERROR: the statement failed, the transaction lives */
struct reply_row {
    int64_t key, value;
};
struct reply {
    enum reply_status status;
    int reason;                   /* enum reason of an error */
    int64_t count;                /* rows read, changed or locked */
    const struct reply_row *rows; /* of a SELECT, and the rows an UPDATE saw before changing them: `count` of them */
};

/* Where a program's arguments come from. */
struct draw {
    struct stream *stream;
    uint64_t terminal; /* from 1; 0: arrivals of an open system */
    uint64_t number;   /* of the terminal's transaction, from 1 */
};

enum workload_verdict { AUDIT_NONE, AUDIT_OK, AUDIT_BROKEN };
struct workload_audit {
    enum workload_verdict verdict;
    int level; /* enum level that protects the invariant */
    bool lost_updates_known;
    uint64_t lost_updates;
    struct text message; /* why it is broken */
};

/* What a program says of itself at its begin; a deferrable one would rather wait for a snapshot than be refused. */
enum declaration { DECLARES_NOTHING, DECLARES_READ_ONLY, DECLARES_DEFERRABLE };

/* How a kind of transaction is tried again after an abort by the system, where that is not as [restart] says. */
struct retry {
    const struct option_call *delay; /* as restart.delay; NULL: as [restart] says */
    int64_t max_attempts;            /* 0: as [restart] says */
};

/* A workload may be written in the config itself, in sections of its own: `[table account]`. */
struct workload_section {
    const char *name; /* "table"; what ends the list has none */
    bool named;       /* a name of its own follows: [table NAME] */
    const struct option_table
        *options; /* its keys, for the manual too; rows whose name holds a blank, or is in capitals,
                                           stand for a kind of key */
    const char *help;
};
struct workload_entry {
    const char *section, *key, *value; /* "table account"; key NULL: the section's header */
};
/* Takes a mistake in an entry, at this byte of its value; WORKLOAD_WHOLE: the entry as a whole. */
struct workload_faults {
    void *context;
    void (*add)(void *context, size_t entry, size_t at, const char *sentence);
};
#define WORKLOAD_WHOLE    ((size_t)-1)
#define WORKLOAD_NO_ENTRY ((size_t)-1)

struct workload_ops {
    const char *name, *summary;
    const struct option_table *options;
    size_t state_size;                     /* zeroed by exec; what load and next share */
    size_t arguments_size, registers_size; /* of one program */
    /* False, with a sentence, if the options make no sense together. May be NULL. */
    bool (*check)(const void *options, struct text *error);
    void (*load)(void *state, const void *options, struct store *store, struct stream *stream);
    void (*draw)(void *state, const struct draw *draw, void *arguments);
    /* In a closed system: nanoseconds that a terminal takes before it submits this transaction, besides
     * system.think_time; NULL: none. */
    int64_t (*pause)(const void *state, const void *arguments, struct stream *think);
    void (*next)(void *state, const void *arguments, void *registers, const struct reply *reply, struct step *step);
    /* How many rows the program still means to access; NULL: it cannot tell. */
    uint64_t (*remaining)(const void *state, const void *arguments, const void *registers);
    /* Will a later statement of the program use that row again? Asked from the statement with `last_lock` on, until the end.
     * NULL: no statement follows that one. */
    bool (*uses_again)(const void *state, const void *arguments, const void *registers, const struct table *table,
                       int64_t key);
    /* Do its programs set `last_lock`? Else nobody knows before they commit. */
    bool tells_last_lock;
    /* Does the program declare, when it begins, that it will write nothing? May be NULL. */
    enum declaration (*declares)(const void *state, const void *arguments);
    /* The level the transaction asks for (enum level), or LEVEL_OWN: whatever the algorithm gives. NULL: always that. */
    int (*isolation)(const void *state, const void *arguments);
    /* How it is tried again; NULL, or a NULL result: as [restart] says. */
    const struct retry *(*retry)(const void *state, const void *arguments);
    /* Which levels its transactions may ask for, a bit set of 1u << enum level, so that it is known beforehand whether
     * the algorithm can run them. NULL: nothing is said. */
    unsigned (*levels)(const void *options);
    /* Where a workload has several kinds of transaction: how many, their names, and which one this is (from 0). All NULL:
     * there is one kind. */
    size_t (*type_count)(const void *options);
    const char *(*type_name)(const void *options, size_t type);
    size_t (*type_of)(const void *state, const void *arguments);
    /* The footprint: everything the transaction will access, in any order, rows perhaps more than once; at most `most`
     * items are written, the number there are is returned. NULL, or PLAN_UNKNOWN: the program cannot tell. */
    size_t (*plan)(const void *state, const void *arguments, struct planned *out, size_t most);
    /* With these options, can every transaction tell? NULL: if there is `plan`, yes. */
    bool (*plans)(const void *options);
    /* The registers are again what they were when this step was named, which is now done again; what else the program
     * remembers it sets right here. It may make the step a STEP_HOLD. May be NULL. */
    void (*restored)(void *state, const void *arguments, void *registers, struct step *step);
    /* At the commit point, in the instant in which the versions become visible. May be NULL. */
    void (*committed)(void *state, const void *arguments, const void *registers);
    /* A terminal's transaction is over for good: committed, or rolled back, or given up. What the terminal does on its own
     * until its next one, with no transaction open and besides system.think_time; NULL: nothing. May be NULL. */
    const struct distribution *(*ended)(void *state, const void *arguments, const void *registers, bool committed);
    void (*audit)(const void *state, const struct store *store, struct workload_audit *audit);
    void (*unload)(void *state); /* may be NULL */
    /* Of a workload that is written in the config; all NULL else. `sections` ends with one without a name. */
    const struct workload_section *sections;
    /* The option behind a key of a section (by its `name`); NULL: there is no such key. */
    const struct option *(*section_option)(const char *section, const char *key);
    /* Makes the options out of the entries; false if there were mistakes. The options are freed by `discard`. */
    bool (*compile)(void *options, const struct workload_entry *entries, size_t count,
                    const struct workload_faults *faults);
    void (*discard)(void *options);
};

extern const struct workload_ops *const workload_registry[];
extern const size_t workload_registry_count;
const struct workload_ops *workload_find(const char *name);

/* Can every transaction of the workload, with these options, tell its footprint? */
static inline bool workload_plans(const struct workload_ops *workload, const void *options) {
    return workload->plan != NULL && (workload->plans == NULL || workload->plans(options));
}

#endif
