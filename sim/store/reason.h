/* reason.h - why the system ends an attempt. Every reason has a name (a column aborts_<name>) and a sentence. */
#ifndef CCSIM_STORE_REASON_H
#define CCSIM_STORE_REASON_H

enum reason {
    REASON_NONE,
    REASON_DEADLOCK,
    REASON_TIMEOUT,
    REASON_NOWAIT,
    REASON_WAIT_DIE,
    REASON_WOUNDED,
    REASON_TS_LATE,
    REASON_VALIDATION,
    REASON_WRITE_CONFLICT,
    REASON_SSI_PIVOT,
    REASON_CASCADE,
    REASON_BUSY,
    REASON_DEPTH,     /* wait-depth limit */
    REASON_DUPLICATE, /* a statement met a key that exists, and its program tries again */
    REASON_EXCLUSION, /* serial safety net */
    REASON_COUNT
};

struct reason_text {
    const char *name, *sentence;
};

/* Indexed by enum reason; entry 0 is "none". */
extern const struct reason_text reason_texts[REASON_COUNT];

#endif
