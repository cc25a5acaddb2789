/* player_parts.h - what the files of the player share. Private to player*.c. */
#ifndef CCSIM_EXEC_PLAYER_PARTS_H
#define CCSIM_EXEC_PLAYER_PARTS_H

#include "sim/exec/player.h"
#include "sim/exec/spec.h"
#include "sim/exec/world.h"

/* What a row looked like to one who read it, or was left as by one who committed. TRACE_REREAD: to one who waited and
 * then read it again, which is the read that counts. */
enum trace_kind { TRACE_READ, TRACE_OWN, TRACE_WRITE, TRACE_INSTALL, TRACE_END, TRACE_REREAD };
struct trace_event {
    enum trace_kind kind;
    uint32_t life, step, row;
    uint32_t other; /* the life that wrote what was read, or what it stands behind; PLAY_NONE: the loader */
    uint32_t statement;
    bool scan, matched, dropped, absent, committed;
    int64_t value;
};
struct trace_life {
    uint32_t txn;
    unsigned attempt;
};

enum player_state {
    PLAYER_UNBEGUN,
    PLAYER_LIVE,
    PLAYER_DEAD, /* aborted: until it begins anew */
    PLAYER_OVER
};

struct player_txn {
    enum player_state state;
    struct actor *actor;                /* while live or dead */
    uint32_t given;                     /* the step to hand out next, or PLAY_NONE */
    uint32_t current;                   /* the step under way, or PLAY_NONE */
    uint32_t first_step;                /* with which its present attempt began */
    uint32_t last_step;                 /* of the schedule */
    uint32_t last_begin;                /* its last b, or PLAY_NONE */
    uint32_t any_writes;                /* writes of any value so far */
    VECTOR(struct play_row) last_reads; /* of rows that some $ names */
    unsigned attempts;
    size_t trace_from;  /* where its present statement begins in the trace */
    size_t writes_from; /* and in its list of writes */
};

struct player {
    struct world world; /* first: the harness hands the world back */
    struct run_result result;
    const struct schedule *schedule;
    struct play *play;
    struct player_txn *txns;
    uint32_t now;                  /* the step given last */
    VECTOR(uint32_t) put_off;      /* steps, in written order */
    VECTOR(struct actor *) doomed; /* whose abort is due */
    uint32_t *by_id;               /* the schedule's rows in order of their ids */
    bool *is_looked_at;            /* of each row: some $ names it */
    uint32_t *marks; /* of each savepoint step: the first statement undone by going back to it; 0: not set */
    struct table *table;
    /* for the verdict on algorithms that do not write in place */
    struct cc_ops ops;                                                         /* the algorithm's, watched */
    void (*installing)(void *context, struct txn *txn, const struct row *row); /* the certifier's */
    VECTOR(struct trace_event) trace;
    VECTOR(struct trace_life) lives; /* by the serial number of the attempt, from 1 */
    /* the step being handed out */
    struct step_extra *extras; /* of each transaction */
    int64_t *keys;             /* of the schedule's row list */
};

/* The program of a transaction hands out the step that is given to it and holds otherwise. */
extern const struct workload_ops player_workload;

/* player_open.c */
void player_open(struct player *player, struct spec *spec, const void *options);
void player_close(struct player *player, struct spec *spec);
/* The transaction of an actor. */
static inline uint32_t player_number(const struct actor *actor) { return (uint32_t)actor->number - 1; }
/* The row of that id. */
uint32_t player_row(const struct player *player, int64_t id);

/* player_moment.c: whom a waiting transaction waits for; what stands where now; the rows at the end. */
const struct txn_list *player_blockers(struct player *player, const struct txn *waiting);
void player_moment(struct player *player);
void player_final(struct player *player);

/* player_trace.c: the algorithm's functions with a watcher before each. */
void player_watch(struct player *player);
void player_installing(void *context, struct txn *txn, const struct row *row);
/* player_verdict.c: play->ran and play->verdict. */
void player_judge(struct player *player);

/* The step that the transaction had in hand is over. */
void player_step_over(struct player *player, uint32_t number, const struct reply *reply);
/* The steps of the transaction from `index` on are put off, to be done again. */
void player_sent_back(struct player *player, uint32_t number, uint32_t index);
void player_committed(struct player *player, uint32_t number);

#endif
