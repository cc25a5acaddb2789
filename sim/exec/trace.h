/* trace.h - the timeline of a short run: what every transaction did when, and who waited for whom at one instant.
 *
 * A run whose specification has a trace fills it; it is observed only: same digest with and without. An actor's time is
 * cut into spans, each in one state; the end of an attempt is a mark, a span without length. A lane is a terminal, or in
 * an open system one of the places that the transactions under way take up, reused as they end.
 *
 * Invariants
 *  1. The spans of a lane are in order and do not overlap; in a closed system they have no gap from the beginning of the
 *     window to its end.
 *  2. Times are those of the run, from its beginning; spans are cut at the window's ends. */
#ifndef CCSIM_EXEC_TRACE_H
#define CCSIM_EXEC_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory.h"

enum trace_what {
    TRACE_THINK,     /* a terminal between two transactions */
    TRACE_ADMISSION, /* queued for an admission slot */
    TRACE_RUN,       /* at a CPU or a disk */
    TRACE_QUEUE,     /* queued for one */
    TRACE_WAIT,      /* waits for another transaction */
    TRACE_CLIENT,    /* the application's own time, or on the way between it and the server */
    TRACE_LOG,       /* sealed, its log on the way to disk */
    TRACE_DELAY,     /* until it restarts */
    TRACE_COMMIT,    /* marks: the ends of attempts */
    TRACE_ROLLBACK,
    TRACE_ABORT,
    TRACE_WHAT_COUNT
};

/* So many of those whom a wait is for are kept. */
enum { TRACE_BLOCKERS_MOST = 64 };

/* What a span is called in files. */
extern const char *const trace_words[TRACE_WHAT_COUNT];

/* A transaction of a run. */
struct trace_name {
    uint64_t terminal, number; /* terminal 0: the number-th arrival of an open system */
    uint32_t lane;             /* from 1 */
};

struct trace_span {
    struct trace_name who;
    enum trace_what what;
    uint64_t attempt; /* from 1; 0: between two transactions */
    int64_t from_ns, to_ns;
    const char *reason; /* of an abort: its name; else NULL */
    const char *table;  /* of a wait for a row, which `key` is; else NULL */
    int64_t key;
    size_t first, count; /* of a wait: for whom as it began, in `names` */
};

/* Who waits for whom at the instant asked for: an edge for each pair. */
struct trace_edge {
    struct trace_name from, to;
    const char *table;
    int64_t key;
};

/* Of each lane, what has begun and not ended. Private to trace.c. */
struct trace_open {
    struct trace_span span;
    int64_t start_before_ns; /* of the service before, as long as it queues for the next */
    bool open, queued;
};

struct trace {
    int64_t at_ns;    /* asked for: the instant of `edges`; negative: none */
    size_t spans_max; /* asked for: what comes behind is dropped, and `full` says so */
    bool full;
    int64_t from_ns, to_ns; /* the window, as it was */
    uint32_t lanes;
    VECTOR(struct trace_span) spans; /* in order of their ends */
    VECTOR(struct trace_name) names;
    VECTOR(struct trace_edge) edges; /* in order of the beginnings of the waits */
    VECTOR(char *) tables;           /* names that outlive the run */
    VECTOR(struct trace_open) open;  /* by lane */
};

void trace_free(struct trace *trace);

struct world;
struct actor;

/* The window begins. Private to exec, as what follows. */
void trace_start(struct world *world);
/* An actor is about to go on; it pauses. */
void trace_goes_on(struct world *world, struct actor *actor);
void trace_pauses(struct world *world, struct actor *actor);
/* Its attempt ends: COMMIT, ROLLBACK, or ABORT with the reason's name. */
void trace_ends(struct world *world, const struct actor *actor, enum trace_what what, const char *reason);
/* The instant asked for: what is due at it has been done. */
void trace_graph(struct world *world);
/* The window ends. */
void trace_finish(struct world *world);

#endif
