#include "sim/store/reason.h"

const struct reason_text reason_texts[REASON_COUNT] = {
    [REASON_NONE] = {"none", "the attempt was not aborted"},
    [REASON_DEADLOCK] = {"deadlock", "chosen as the victim of a cycle of waiting transactions"},
    [REASON_TIMEOUT] = {"timeout", "waited for a lock longer than lock_timeout"},
    [REASON_NOWAIT] = {"nowait", "met a conflicting lock where waiting is not allowed"},
    [REASON_WAIT_DIE] = {"wait_die", "would have waited for an older transaction (wait-die)"},
    [REASON_WOUNDED] = {"wounded", "was in the way of an older transaction (wound-wait)"},
    [REASON_TS_LATE] = {"ts_late", "came too late for its timestamp"},
    [REASON_VALIDATION] = {"validation", "what it had read was overwritten before it committed"},
    [REASON_WRITE_CONFLICT] = {"write_conflict", "a concurrent transaction changed the row first"},
    [REASON_SSI_PIVOT] = {"ssi_pivot", "stood in a dangerous structure of read-write conflicts"},
    [REASON_CASCADE] = {"cascade", "had read or overwritten what an aborted transaction wrote"},
    [REASON_BUSY] = {"busy", "the database was locked by another connection"},
    [REASON_DEPTH] = {"depth", "its wait would have made the chain of waiters too long"},
    [REASON_DUPLICATE] = {"duplicate", "inserted a key that exists"},
    [REASON_EXCLUSION] = {"exclusion",
                          "one that it must precede had ended before one that it must follow (serial safety net)"},
};
