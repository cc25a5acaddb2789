#include "sim/kit/cascade.h"

#include "sim/base/check.h"

struct cascade_link {
    struct txn *dependent, *writer;
    struct cascade_link *next_writer, *previous_writer;       /* among those its dependent depends on */
    struct cascade_link *next_dependent, *previous_dependent; /* among those that depend on its writer */
    uint32_t row;                                             /* number in dependent->rows */
    uint32_t since;                                           /* the dependent's statement */
    uint32_t of;                                              /* the writer's statement that made the version */
    bool read;                                                /* else it was only overwritten */
};

enum { STATEMENT_BITS = 0x7fffff }; /* that a version keeps of its statement's number */

static struct cascade_txn *tail_of(const struct cascade *cascade, const struct txn *txn) {
    return (struct cascade_txn *)(void *)((char *)txn->tail + cascade->tail_offset);
}

void cascade_start(struct cascade *cascade, bool recoverable, size_t tail_offset) {
    *cascade = (struct cascade){.recoverable = recoverable, .tail_offset = tail_offset};
    pool_init(&cascade->links, sizeof(struct cascade_link));
}

void cascade_stop(struct cascade *cascade) { pool_free(&cascade->links); }

/* ---- Links ---- */

static struct cascade_link *link_pair(struct cascade *cascade, struct txn *dependent, struct txn *writer) {
    struct cascade_link *link = pool_get(&cascade->links);
    struct cascade_list *writers = &tail_of(cascade, dependent)->writers;
    struct cascade_list *dependents = &tail_of(cascade, writer)->dependents;
    *link = (struct cascade_link){.dependent = dependent,
                                  .writer = writer,
                                  .previous_writer = writers->last,
                                  .previous_dependent = dependents->last};
    *(writers->last != NULL ? &writers->last->next_writer : &writers->first) = link;
    *(dependents->last != NULL ? &dependents->last->next_dependent : &dependents->first) = link;
    writers->last = dependents->last = link;
    return link;
}

static void unlink_pair(struct cascade *cascade, struct cascade_link *link) {
    struct cascade_txn *tail = tail_of(cascade, link->dependent);
    struct cascade_list *writers = &tail->writers;
    struct cascade_list *dependents = &tail_of(cascade, link->writer)->dependents;
    *(link->previous_writer != NULL ? &link->previous_writer->next_writer : &writers->first) = link->next_writer;
    *(link->next_writer != NULL ? &link->next_writer->previous_writer : &writers->last) = link->previous_writer;
    *(link->previous_dependent != NULL ? &link->previous_dependent->next_dependent : &dependents->first) =
        link->next_dependent;
    *(link->next_dependent != NULL ? &link->next_dependent->previous_dependent : &dependents->last) =
        link->previous_dependent;
    tail->awaited = tail->awaited == link ? NULL : tail->awaited;
    pool_put(&cascade->links, link);
}

static struct cascade_link *find_link(const struct cascade_txn *tail, uint32_t row, const struct txn *writer,
                                      uint32_t of) {
    struct cascade_link *link = tail->writers.last; /* the latest is the likeliest */
    while (link != NULL && (link->row != row || link->writer != writer || link->of != of)) {
        link = link->previous_writer;
    }
    return link;
}

/* ---- Meeting what is not committed ---- */

static enum cc_status await_end(struct cascade *cascade, struct txn *txn, struct txn *writer, enum patience patience) {
    struct cascade_txn *tail = tail_of(cascade, txn);
    if (patience != BLOCK) {
        return patience == NOWAIT ? txn_fail(txn, REASON_NOWAIT) : CC_SKIP;
    }
    if (tail->awaited == NULL) {
        tail->awaited = link_pair(cascade, txn, writer);
    }
    CHECK(tail->awaited->writer == writer);
    return CC_WAIT;
}

enum cc_status cascade_meet(struct cc *cc, struct cascade *cascade, struct txn *txn, const struct row *row,
                            const struct version *version, enum cascade_how how, enum patience patience) {
    if (version->stamp != 0 || version->writer == txn->id) {
        return CC_OK;
    }
    struct txn *writer = txn_find(cc, version->writer);
    CHECK(writer != NULL);
    if (writer->doomed) {
        return await_end(cascade, txn, writer, patience);
    }
    uint32_t number = txn_row_number(txn, row);
    struct cascade_link *link = find_link(tail_of(cascade, txn), number, writer, (uint32_t)version->statement);
    if (link == NULL) {
        link = link_pair(cascade, txn, writer);
        link->row = number;
        link->since = txn->statement;
        link->of = (uint32_t)version->statement;
    }
    link->read |= how == CASCADE_READ;
    return CC_OK;
}

/* ---- Taking back ---- */

void cascade_forget_statement(struct cascade *cascade, struct txn *txn) {
    struct cascade_link *previous, *link = tail_of(cascade, txn)->writers.last;
    for (; link != NULL && link->since == txn->statement; link = previous) {
        previous = link->previous_writer;
        if (!txn->rows.items[link->row].kept) {
            unlink_pair(cascade, link);
        }
    }
}

/* What was read counts although it is undone. */
static void forget_overwritten(struct cascade *cascade, struct txn *txn, uint32_t mark) {
    struct cascade_link *previous, *link = tail_of(cascade, txn)->writers.last;
    for (; link != NULL && link->since >= mark; link = previous) {
        previous = link->previous_writer;
        if (!link->read) {
            unlink_pair(cascade, link);
        }
    }
}

void cascade_rollback(struct cc *cc, struct cascade *cascade, struct txn *txn, uint32_t mark) {
    forget_overwritten(cascade, txn, mark);
    for (struct cascade_link *link = tail_of(cascade, txn)->dependents.first; link != NULL;
         link = link->next_dependent) {
        if (link->of >= (mark & STATEMENT_BITS)) {
            txn_doom(cc, link->dependent, REASON_CASCADE);
        }
    }
}

/* ---- The end ---- */

enum cc_status cascade_prepare(const struct cascade *cascade, const struct txn *txn) {
    return cascade->recoverable && tail_of(cascade, txn)->writers.first != NULL ? CC_WAIT : CC_OK;
}

static void drop_writers(struct cascade *cascade, struct txn *txn) {
    struct cascade_txn *tail = tail_of(cascade, txn);
    while (tail->writers.first != NULL) {
        unlink_pair(cascade, tail->writers.first);
    }
}

/* Nobody depends on it any more: who waited for that, or for its end, looks again. A wake is a hint. */
static void drop_dependents(struct cc *cc, struct cascade *cascade, struct txn *txn) {
    struct cascade_txn *tail = tail_of(cascade, txn);
    while (tail->dependents.first != NULL) {
        struct txn *dependent = tail->dependents.first->dependent;
        bool awaited = tail_of(cascade, dependent)->awaited == tail->dependents.first;
        unlink_pair(cascade, tail->dependents.first);
        if (awaited || (dependent->queued == NULL && tail_of(cascade, dependent)->writers.first == NULL)) {
            txn_wake(cc, dependent);
        }
    }
}

void cascade_commit(struct cc *cc, struct cascade *cascade, struct txn *txn) {
    CHECK(!cascade->recoverable || tail_of(cascade, txn)->writers.first == NULL);
    drop_writers(cascade, txn);
    drop_dependents(cc, cascade, txn);
}

void cascade_abort(struct cc *cc, struct cascade *cascade, struct txn *txn) {
    drop_writers(cascade, txn);
    for (struct cascade_link *link = tail_of(cascade, txn)->dependents.first; link != NULL;
         link = link->next_dependent) {
        if (tail_of(cascade, link->dependent)->awaited != link) {
            txn_doom(cc, link->dependent, REASON_CASCADE); /* too late for one that is sealed */
        }
    }
    drop_dependents(cc, cascade, txn);
}

void cascade_blockers(const struct cascade *cascade, const struct txn *waiting, struct txn_list *out, size_t most) {
    const struct cascade_txn *tail = tail_of(cascade, waiting);
    if (tail->awaited != NULL) {
        if (most > 0) {
            vector_push(out, tail->awaited->writer);
        }
        return;
    }
    size_t begin = out->count;
    for (const struct cascade_link *link = tail->writers.first; link != NULL && out->count - begin < most;
         link = link->next_writer) {
        size_t at = begin;
        while (at < out->count && out->items[at] != link->writer) {
            at++;
        }
        if (at == out->count) {
            vector_push(out, link->writer);
        }
    }
}
