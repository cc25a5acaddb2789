/* player_trace.c - watches an algorithm at work, for the verdict: which version each read saw, which rows a scan
 * passed, which versions were installed and where.
 *
 * The player's world runs a copy of the algorithm's table in which these functions stand before the algorithm's own:
 * timed runs know nothing of it. Only algorithms that keep or order several versions, or write at the commit, are watched:
 * those that write in place can be judged by the order of their steps. */
#include "sim/base/check.h"
#include "sim/exec/player_parts.h"

static struct player *player_of(const struct cc *cc) { return cc->harness->world; }

static struct player_txn *txn_of(struct player *player, const struct txn *txn) {
    return &player->txns[((const struct actor *)(const void *)txn)->number - 1];
}

/* Attempts are numbered from 1 by the upper bits of their ids; 0 is the loader. */
static uint32_t life_of(uint64_t id) { return id == 0 ? PLAY_NONE : (uint32_t)(id >> 24) - 1; }

static bool is_by_key(const struct txn *txn) {
    const struct actor *actor = (const struct actor *)(const void *)txn;
    return actor->phase == PHASE_SOURCE || !actor->step.scan;
}

static void push(struct player *player, const struct txn *txn, struct trace_event event) {
    event.life = life_of(txn->id);
    event.step = txn_of(player, txn)->current;
    event.statement = txn->statement;
    vector_push(&player->trace, event);
}

/* ---- Whose version is it? ---- */

/* The life that installed the row's version just before that of `before` did, or its last one (PLAY_NONE). */
static uint32_t installed_before(const struct player *player, uint32_t row, uint32_t before) {
    bool reached = before == PLAY_NONE;
    for (size_t i = player->trace.count; i-- > 0;) {
        const struct trace_event *event = &player->trace.items[i];
        if (event->kind == TRACE_INSTALL && event->row == row) {
            if (reached) {
                return event->life;
            }
            reached = event->life == before;
        }
    }
    return PLAY_NONE;
}

/* The store forgets rows that are absent for everybody. When one of them is met again, what stands there is the
 * loader's, but means the state in which the row was forgotten: what the version above it, other than `but`, was put
 * on, or the last. */
static uint32_t writer_of(const struct player *player, uint32_t row, const struct record *record,
                          const struct version *version, const struct version *but) {
    if (version->writer != 0 || !version->absent) {
        return life_of(version->writer);
    }
    const struct version *above = store_committed_above(record, version);
    if (above != NULL && above == but) {
        above = store_committed_above(record, above);
    }
    uint32_t before = above != NULL ? life_of(above->writer) : but != NULL ? life_of(but->writer) : PLAY_NONE;
    return installed_before(player, row, before);
}

/* ---- Reads ---- */

static struct trace_event seen_as(const struct player *player, const struct txn *txn, const struct row *row,
                                  const struct version *version) {
    const struct condition *condition = &((const struct actor *)(const void *)txn)->step.condition;
    uint32_t number = player_row(player, row->key);
    return (struct trace_event){.kind = version->writer == txn->id ? TRACE_OWN : TRACE_READ,
                                .row = number,
                                .other = writer_of(player, number, row->record, version, NULL),
                                .scan = !is_by_key(txn),
                                .matched = !version->absent && condition_holds(condition, row->key, version->value),
                                .absent = version->absent,
                                .value = version->value};
}

/* What the present statement saw of the row, or NULL. */
static struct trace_event *find_seen(struct player *player, const struct txn *txn, uint32_t row) {
    for (size_t i = player->trace.count; i-- > txn_of(player, txn)->trace_from;) {
        struct trace_event *event = &player->trace.items[i];
        if (event->life == life_of(txn->id) && event->row == row && event->kind <= TRACE_OWN) {
            return event;
        }
    }
    return NULL;
}

static enum cc_status watch_read(struct cc *cc, struct txn *txn, struct row *row, enum intent intent,
                                 enum patience patience, struct version **seen) {
    struct player *player = player_of(cc);
    enum cc_status status = player->play->algorithm->read(cc, txn, row, intent, patience, seen);
    if (status == CC_OK) {
        push(player, txn, seen_as(player, txn, row, *seen));
    }
    return status;
}

/* After a wait the version that is changed or locked may be newer than the one seen: then it is what was read, now. */
static enum cc_status watch_claim(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                  enum patience patience, struct version **base) {
    struct player *player = player_of(cc);
    enum cc_status status = player->play->algorithm->claim(cc, txn, row, change, patience, base);
    if (status != CC_OK) {
        return status;
    }
    struct trace_event now = seen_as(player, txn, row, *base);
    struct trace_event *before = find_seen(player, txn, now.row);
    if (before != NULL && before->other != now.other) {
        before->kind = TRACE_REREAD;
        push(player, txn, now);
    }
    return status;
}

/* ---- Statements ---- */

static enum cc_status watch_statement(struct cc *cc, struct txn *txn, enum intent intent) {
    struct player *player = player_of(cc);
    const struct cc_ops *ops = player->play->algorithm;
    enum cc_status status = ops->statement != NULL ? ops->statement(cc, txn, intent) : CC_OK;
    struct player_txn *program = txn_of(player, txn);
    program->trace_from = player->trace.count;
    program->writes_from = txn->writes.count;
    return status;
}

static bool was_obtained(const struct actor *actor, int64_t key) {
    const struct reply_row *rows = actor_reply_rows(actor);
    for (int64_t i = 0; i < actor->reply.count; i++) {
        if (rows[i].key == key) {
            return true;
        }
    }
    return false;
}

/* What of the statement's reads counts: nothing of a failed one but a duplicate key that it met, of one that leaves
 * rows out only those obtained. An insert only writes. */
static void sift(struct player *player, struct txn *txn, bool failed) {
    const struct actor *actor = (const struct actor *)(const void *)txn;
    const struct step *step = &actor->step;
    bool partial = step->limit > 0 || step->patience == PATIENCE_SKIP_LOCKED;
    for (size_t i = txn_of(player, txn)->trace_from; i < player->trace.count; i++) {
        struct trace_event *event = &player->trace.items[i];
        if (event->life != life_of(txn->id) || event->kind != TRACE_READ) {
            continue;
        }
        int64_t key = player->schedule->rows[event->row].id;
        const struct row *row = txn_find_row(txn, player->table, key);
        if (failed) {
            event->dropped = !row->kept;
        } else if (step->kind == STEP_INSERT) {
            event->dropped = true;
        } else if (partial) {
            event->dropped = !was_obtained(actor, key);
            event->scan = false;
        }
    }
}

/* Rows that a scan did not visit were absent for everybody. */
static void add_unvisited(struct player *player, struct txn *txn) {
    const struct step *step = &((const struct actor *)(const void *)txn)->step;
    if (!step->scan || step->limit > 0 || step->patience == PATIENCE_SKIP_LOCKED) {
        return;
    }
    for (size_t i = 0; i < player->schedule->row_count; i++) {
        uint32_t number = player->by_id[i];
        int64_t id = player->schedule->rows[number].id;
        if (id < step->first || id > step->last || find_seen(player, txn, number) != NULL) {
            continue;
        }
        struct record *record = store_record(&player->world.store, player->table, id);
        const struct version *version = store_committed(&player->world.store, player->table, id, record);
        while (!version->absent) { /* it came after the scan had passed */
            version = version->older;
            CHECK(version != NULL);
        }
        struct trace_event event = {.kind = TRACE_READ,
                                    .row = number,
                                    .other = writer_of(player, number, record, version, NULL),
                                    .scan = true,
                                    .absent = true};
        store_release(&player->world.store, player->table, id, record);
        push(player, txn, event);
    }
}

static void watch_statement_end(struct cc *cc, struct txn *txn, bool failed) {
    struct player *player = player_of(cc);
    sift(player, txn, failed);
    if (!failed) {
        add_unvisited(player, txn);
        for (size_t i = txn_of(player, txn)->writes_from; i < txn->writes.count; i++) {
            const struct row *row = &txn->rows.items[txn->writes.items[i].row];
            push(player, txn, (struct trace_event){.kind = TRACE_WRITE, .row = player_row(player, row->key)});
        }
    }
    if (player->play->algorithm->statement_end != NULL) {
        player->play->algorithm->statement_end(cc, txn, failed);
    }
}

/* ---- Ends ---- */

/* The step that wrote the version of the row that is installed. */
static uint32_t writing_step(const struct player *player, uint32_t life, uint32_t row, uint32_t statement) {
    for (size_t i = player->trace.count; i-- > 0;) {
        const struct trace_event *event = &player->trace.items[i];
        if (event->kind == TRACE_WRITE && event->life == life && event->row == row && event->statement == statement) {
            return event->step;
        }
    }
    return PLAY_NONE;
}

static void watch_commit(struct cc *cc, struct txn *txn) {
    struct player *player = player_of(cc);
    bool in_place = (player->ops.flags & (CC_KEEPS_VERSIONS | CC_PRIVATE_WRITES | CC_SKIPS_OBSOLETE)) == 0;
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct write *write = &txn->writes.items[i];
        const struct row *row = &txn->rows.items[write->row];
        if (write->version != row->own || store_is_obsolete(&player->world.store, row->record, row->own)) {
            continue;
        }
        uint32_t number = player_row(player, row->key);
        push(player, txn,
             (struct trace_event){.kind = TRACE_INSTALL,
                                  .row = number,
                                  .other = in_place ? installed_before(player, number, PLAY_NONE) : PLAY_NONE,
                                  .absent = write->version->absent,
                                  .value = write->version->value});
        struct trace_event *event = &player->trace.items[player->trace.count - 1];
        event->step = writing_step(player, event->life, number, write->version->statement);
    }
    player->play->algorithm->commit(cc, txn);
    push(player, txn, (struct trace_event){.kind = TRACE_END, .committed = true});
}

/* Comes inside the algorithm's commit: says behind which version the new one stands. */
void player_installing(void *context, struct txn *txn, const struct row *row) {
    struct player *player = context;
    player->installing(context, txn, row);
    const struct version *behind = row->own->older;
    while (behind->stamp == 0) { /* one put beneath that may yet be rolled back */
        behind = behind->older;
    }
    uint32_t number = player_row(player, row->key);
    for (size_t i = player->trace.count; i-- > 0 && player->trace.items[i].kind == TRACE_INSTALL;) {
        struct trace_event *event = &player->trace.items[i];
        if (event->life == life_of(txn->id) && event->row == number) {
            event->other = writer_of(player, number, row->record, behind, row->own);
            return;
        }
    }
}

static void watch_abort(struct cc *cc, struct txn *txn) {
    player_of(cc)->play->algorithm->abort(cc, txn);
    push(player_of(cc), txn, (struct trace_event){.kind = TRACE_END});
}

static enum cc_status watch_begin(struct cc *cc, struct txn *txn) {
    struct player *player = player_of(cc);
    struct player_txn *program = txn_of(player, txn);
    if (life_of(txn->id) == player->lives.count) { /* else it waited to begin */
        struct trace_life life = {.txn = (uint32_t)(program - player->txns), .attempt = ++program->attempts};
        vector_push(&player->lives, life);
    }
    return player->play->algorithm->begin(cc, txn);
}

void player_watch(struct player *player) {
    player->ops.begin = watch_begin;
    unsigned watched = CC_KEEPS_VERSIONS | CC_PRIVATE_WRITES | CC_SKIPS_OBSOLETE | CC_LOOKS_AGAIN;
    if ((player->ops.flags & watched) == 0) {
        return;
    }
    player->ops.statement = watch_statement;
    player->ops.read = watch_read;
    player->ops.claim = watch_claim;
    player->ops.statement_end = watch_statement_end;
    player->ops.silent_levels = 0;
    player->ops.commit = watch_commit;
    player->ops.abort = watch_abort;
}
