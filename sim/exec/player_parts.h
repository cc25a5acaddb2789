/* player_parts.h - what the files of the player share. Private to player*.c. */
#ifndef CCSIM_EXEC_PLAYER_PARTS_H
#define CCSIM_EXEC_PLAYER_PARTS_H

#include "sim/exec/player.h"
#include "sim/exec/world.h"

enum player_state {
    PLAYER_UNBEGUN,
    PLAYER_LIVE,
    PLAYER_DEAD, /* aborted: until it begins anew */
    PLAYER_OVER
};

struct player_txn {
    enum player_state state;
    struct actor *actor; /* while live or dead */
    uint32_t given;      /* the step to hand out next, or PLAY_NONE */
    uint32_t current;    /* the step under way, or PLAY_NONE */
    uint32_t last_step;  /* of the schedule */
    uint32_t last_begin; /* its last b, or PLAY_NONE */
    uint32_t put_off;    /* so many of its steps are */
    uint32_t any_writes; /* writes of any value so far */
    VECTOR(struct play_row) last_reads; /* of rows that some $ names */
};

struct player {
    struct world world; /* first: the harness hands the world back */
    struct run_result result;
    const struct schedule *schedule;
    struct play *play;
    struct player_txn *txns;
    uint32_t now; /* the step given last */
    VECTOR(uint32_t) put_off; /* steps, in written order */
    VECTOR(struct actor *) doomed; /* whose abort is due */
    uint32_t *by_id;     /* the schedule's rows in order of their ids */
    bool *is_looked_at;  /* of each row: some $ names it */
    uint32_t *marks;     /* of each savepoint step: the first statement undone by going back to it; 0: not set */
    struct table *table;
    /* the step being handed out */
    struct step_extra *extras; /* of each transaction */
    int64_t *keys;             /* of the schedule's row list */
};

/* The program of a transaction hands out the step that is given to it and holds otherwise. */
extern const struct workload_ops player_workload;

/* The row of that id. */
uint32_t player_row(const struct player *player, int64_t id);

/* The step that the transaction had in hand is over. */
void player_step_over(struct player *player, uint32_t txn, const struct reply *reply);
void player_committed(struct player *player, uint32_t txn);

#endif
