/* judge_sweep.c - what one pass over the operations finds: the phenomena P0 to P3, recoverable, cascadeless, strict and
 * rigorous, and reads of what was taken back or overwritten (Adya's G1a and G1b).
 *
 * For every row and predicate two lists are kept: the unfinished transactions that have written it (a write taken back
 * to a savepoint no longer counts) and those that have read it. A step conflicts with the first of the list that is not
 * its own: as each transaction is in a list once, that is one of the first two. */
#include "sim/check/judge_parts.h"

struct link {
    uint32_t before, after; /* touches */
    bool in;
};

struct mark {
    struct link reading, writing;
    uint32_t first_read, first_write; /* operations; first_write: of those that count */
    uint32_t writes;                  /* that count */
};

struct object {
    uint32_t readers, writers; /* touches */
};

struct sweep {
    const struct history *history;
    struct verdict *verdict;
    struct mark *marks;     /* of touches */
    struct object *objects; /* rows, then predicates */
    uint32_t *scanned;      /* predicates that some scan asks for */
    size_t scanned_count;
};

static void push(struct sweep *sweep, uint32_t *head, uint32_t touch, bool writing) {
    struct link *link = writing ? &sweep->marks[touch].writing : &sweep->marks[touch].reading;
    if (link->in) {
        return;
    }
    *link = (struct link){.before = HISTORY_NONE, .after = *head, .in = true};
    if (*head != HISTORY_NONE) {
        struct mark *next = &sweep->marks[*head];
        (writing ? &next->writing : &next->reading)->before = touch;
    }
    *head = touch;
}

static void drop(struct sweep *sweep, uint32_t *head, uint32_t touch, bool writing) {
    struct link *link = writing ? &sweep->marks[touch].writing : &sweep->marks[touch].reading;
    if (!link->in) {
        return;
    }
    link->in = false;
    if (link->after != HISTORY_NONE) {
        struct mark *next = &sweep->marks[link->after];
        (writing ? &next->writing : &next->reading)->before = link->before;
    }
    if (link->before == HISTORY_NONE) {
        *head = link->after;
    } else {
        struct mark *previous = &sweep->marks[link->before];
        (writing ? &previous->writing : &previous->reading)->after = link->after;
    }
}

/* A touch in the list that is not of this life, or HISTORY_NONE. */
static uint32_t other(const struct sweep *sweep, uint32_t head, uint32_t life, bool writing) {
    if (head == HISTORY_NONE || sweep->history->touches[head].life != life) {
        return head;
    }
    return writing ? sweep->marks[head].writing.after : sweep->marks[head].reading.after;
}

static void deny(struct sweep *sweep, enum judge_property property, const char *format, uint32_t a, uint32_t b,
                 uint32_t c, uint32_t d) {
    struct verdict *verdict = sweep->verdict;
    if (verdict->properties[property] != JUDGE_NO) {
        verdict->properties[property] = JUDGE_NO;
        judge_say(sweep->history, &verdict->reasons[property], format, a, b, c, d, a, b);
    }
}

/* --- reads --- */

/* What the read tells about the one whose write it saw. */
static void judge_source(struct sweep *sweep, uint32_t index) {
    const struct history *history = sweep->history;
    const struct history_op *op = &history->ops[index];
    if (op->seen == HISTORY_NONE || history->ops[op->seen].life == op->life) {
        return;
    }
    const struct history_op *write = &history->ops[op->seen];
    const struct history_life *reader = &history->lives[op->life], *writer = &history->lives[write->life];
    if (writer->end > index) {
        deny(sweep, JUDGE_CASCADELESS, "%T read %R from %T, which had not committed (%S)", index, index, op->seen,
             index);
    }
    if (reader->state != HISTORY_COMMITTED) {
        return;
    }
    if (write->gone != HISTORY_NONE) {
        bool whole = history->ops[write->gone].kind == HISTORY_END;
        deny(sweep, JUDGE_RECOVERABLE,
             whole ? "%T read %R from %T and committed, but %T was rolled back"
                   : "%T read %R from %T and committed, but %T took that write back",
             index, index, op->seen, op->seen);
        judge_found(history, sweep->verdict, ANOMALY_G1A,
                    "%T committed after reading %R (%S) as written by %T (%S), a write that was rolled back", index,
                    index, index, op->seen, op->seen);
    } else if (writer->state == HISTORY_ACTIVE) {
        deny(sweep, JUDGE_RECOVERABLE, "%T read %R from %T and committed, but %T never did", index, index, op->seen,
             op->seen);
        judge_found(history, sweep->verdict, ANOMALY_G1A,
                    "%T committed after reading %R (%S) as written by %T (%S), which never ended and is taken as "
                    "rolled back",
                    index, index, index, op->seen, op->seen);
    } else if (writer->end > reader->end) {
        deny(sweep, JUDGE_RECOVERABLE, "%T read %R from %T and committed before %T did", index, index, op->seen,
             op->seen);
    }
}

static void judge_read(struct sweep *sweep, uint32_t index) {
    const struct history_op *op = &sweep->history->ops[index];
    struct object *object = &sweep->objects[op->row];
    uint32_t writer = other(sweep, object->writers, op->life, true);
    if (writer != HISTORY_NONE) {
        uint32_t write = sweep->marks[writer].first_write;
        judge_found(sweep->history, sweep->verdict, ANOMALY_P1,
                    "%T read %R (%S) while %T, which had written it (%S), was unfinished", index, index, index, write,
                    write);
        deny(sweep, JUDGE_STRICT, "%T read %R, which %T had written and not yet committed (%S)", index, index, write,
             index);
    }
    if (!sweep->marks[op->touch].reading.in) {
        sweep->marks[op->touch].first_read = index;
    }
    push(sweep, &object->readers, op->touch, false);
    judge_source(sweep, index);
}

static void judge_miss(struct sweep *sweep, uint32_t index) {
    const struct history_op *op = &sweep->history->ops[index];
    judge_found(sweep->history, sweep->verdict, ANOMALY_P1,
                "%T did not find %R (%S) while %T, which had changed it (%S), was unfinished", index, index, index,
                op->seen, op->seen);
    deny(sweep, JUDGE_STRICT, "%T did not find %R because of what %T had not yet committed (%S)", index, index,
         op->seen, index);
    judge_source(sweep, index);
}

static void judge_scan(struct sweep *sweep, uint32_t index) {
    uint32_t touch = sweep->history->ops[index].touch;
    struct object *object = &sweep->objects[sweep->history->touches[touch].object];
    if (!sweep->marks[touch].reading.in) {
        sweep->marks[touch].first_read = index;
    }
    push(sweep, &object->readers, touch, false);
}

/* --- writes --- */

/* A row that matched, or that matches now, under a predicate that an unfinished transaction has looked for. */
static void judge_phantom(struct sweep *sweep, uint32_t index) {
    const struct history *history = sweep->history;
    const struct history_op *op = &history->ops[index];
    struct history_image before = history_image_of(history, op->row, op->seen);
    for (size_t i = 0; i < sweep->scanned_count && !sweep->verdict->anomalies[ANOMALY_P3].found; i++) {
        uint32_t predicate = sweep->scanned[i];
        uint32_t head = sweep->objects[history->schedule->row_count + predicate].readers;
        uint32_t scanner = other(sweep, head, op->life, false);
        if (scanner != HISTORY_NONE && (history_match(history, predicate, op->row, before) != HISTORY_NO ||
                                        history_match(history, predicate, op->row, op->after) != HISTORY_NO)) {
            uint32_t scan = sweep->marks[scanner].first_read;
            judge_found(
                history, sweep->verdict, ANOMALY_P3,
                "%T changed %R (%S), a row that matches %P, while %T, which had looked for %P (%S), was unfinished",
                index, index, index, scan, scan, scan, scan);
        }
    }
}

static void judge_write(struct sweep *sweep, uint32_t index) {
    const struct history_op *op = &sweep->history->ops[index];
    struct object *object = &sweep->objects[op->row];
    struct mark *mark = &sweep->marks[op->touch];
    uint32_t writer = other(sweep, object->writers, op->life, true);
    uint32_t reader = other(sweep, object->readers, op->life, false);
    if (writer != HISTORY_NONE) {
        uint32_t write = sweep->marks[writer].first_write;
        judge_found(sweep->history, sweep->verdict, ANOMALY_P0,
                    "%T wrote %R (%S) while %T, which had written it (%S), was unfinished", index, index, index, write,
                    write);
        deny(sweep, JUDGE_STRICT, "%T overwrote %R, which %T had written and not yet committed (%S)", index, index,
             write, index);
    }
    if (reader != HISTORY_NONE) {
        uint32_t read = sweep->marks[reader].first_read;
        judge_found(sweep->history, sweep->verdict, ANOMALY_P2,
                    "%T wrote %R (%S) while %T, which had read it (%S), was unfinished", index, index, index, read,
                    read);
        deny(sweep, JUDGE_RIGOROUS, "%T wrote %R, which %T had read and was unfinished (%S)", index, index, read,
             index);
    }
    judge_phantom(sweep, index);
    if (mark->writes++ == 0) {
        mark->first_write = index;
        push(sweep, &object->writers, op->touch, true);
    }
}

/* --- ends --- */

static void end_life(struct sweep *sweep, uint32_t life) {
    const struct history *history = sweep->history;
    for (uint32_t t = history->lives[life].touches; t != HISTORY_NONE; t = history->touches[t].next_of_life) {
        struct object *object = &sweep->objects[history->touches[t].object];
        drop(sweep, &object->readers, t, false);
        drop(sweep, &object->writers, t, true);
    }
}

static void undo(struct sweep *sweep, uint32_t index) {
    const struct history *history = sweep->history;
    for (uint32_t w = history->ops[index].chain; w != HISTORY_NONE; w = history->ops[w].chain) {
        uint32_t touch = history->ops[w].touch;
        if (--sweep->marks[touch].writes == 0) {
            drop(sweep, &sweep->objects[history->ops[w].row].writers, touch, true);
        }
    }
}

static void judge_op(struct sweep *sweep, uint32_t index) {
    const struct history_op *op = &sweep->history->ops[index];
    switch ((enum history_kind)op->kind) {
    case HISTORY_READ: judge_read(sweep, index); break;
    case HISTORY_WRITE: judge_write(sweep, index); break;
    case HISTORY_SCAN: judge_scan(sweep, index); break;
    case HISTORY_MISS: judge_miss(sweep, index); break;
    case HISTORY_UNDO: undo(sweep, index); break;
    case HISTORY_END: end_life(sweep, op->life); break;
    }
}

/* A committed transaction saw a version that its committed writer replaced later. */
static void judge_intermediate(struct sweep *sweep) {
    const struct history *history = sweep->history;
    uint32_t *last = mem_new(history->touch_count, sizeof *last);
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (history->ops[i].kind == HISTORY_WRITE && history_counts(history, &history->ops[i])) {
            last[history->ops[i].touch] = i;
        }
    }
    for (uint32_t i = 0; i < history->op_count && !sweep->verdict->anomalies[ANOMALY_G1B].found; i++) {
        const struct history_op *op = &history->ops[i];
        bool reads = op->kind == HISTORY_READ || op->kind == HISTORY_MISS;
        if (!reads || !history_counts(history, op) || op->seen == HISTORY_NONE) {
            continue;
        }
        const struct history_op *write = &history->ops[op->seen];
        if (write->life != op->life && history_counts(history, write) && last[write->touch] != op->seen) {
            judge_found(history, sweep->verdict, ANOMALY_G1B,
                        "%T read %R (%S) from %T (%S), which wrote it again later (%S)", i, i, i, op->seen, op->seen,
                        last[write->touch]);
        }
    }
    mem_free(last);
}

static void find_scanned(struct sweep *sweep) {
    const struct history *history = sweep->history;
    bool *seen = mem_new(history->schedule->predicate_count, sizeof *seen);
    sweep->scanned = mem_new(history->schedule->predicate_count, sizeof *sweep->scanned);
    for (size_t i = 0; i < history->op_count; i++) {
        const struct history_op *op = &history->ops[i];
        if (op->kind == HISTORY_SCAN && !seen[op->predicate]) {
            seen[op->predicate] = true;
            sweep->scanned[sweep->scanned_count++] = op->predicate;
        }
    }
    mem_free(seen);
}

static void imply(struct verdict *verdict) {
    struct text *reasons = verdict->reasons;
    if (verdict->properties[JUDGE_STRICT] == JUDGE_NO && verdict->properties[JUDGE_RIGOROUS] != JUDGE_NO) {
        verdict->properties[JUDGE_RIGOROUS] = JUDGE_NO;
        text_add(&reasons[JUDGE_RIGOROUS], "it is not even strict");
    }
    static const struct {
        enum judge_property property;
        const char *sentence;
    } kept[] = {
        {JUDGE_RECOVERABLE, "nobody committed before those whose writes it had read"},
        {JUDGE_CASCADELESS, "nobody read what was not committed"},
        {JUDGE_STRICT, "nobody read or overwrote what was not committed"},
        {JUDGE_RIGOROUS, "nobody read or overwrote what an unfinished transaction wrote, nor wrote what one had read"},
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (verdict->properties[kept[i].property] == JUDGE_YES) {
            text_add(&reasons[kept[i].property], "%s", kept[i].sentence);
        }
    }
}

void judge_sweep(const struct history *history, struct verdict *verdict) {
    size_t objects = history->schedule->row_count + history->schedule->predicate_count;
    struct sweep sweep = {.history = history, .verdict = verdict};
    sweep.marks = mem_new(history->touch_count, sizeof *sweep.marks);
    sweep.objects = mem_new(objects, sizeof *sweep.objects);
    for (size_t i = 0; i < objects; i++) {
        sweep.objects[i] = (struct object){.readers = HISTORY_NONE, .writers = HISTORY_NONE};
    }
    find_scanned(&sweep);
    for (enum judge_property p = JUDGE_RECOVERABLE; p <= JUDGE_RIGOROUS; p++) {
        verdict->properties[p] = JUDGE_YES;
    }
    for (uint32_t i = 0; i < history->op_count; i++) {
        judge_op(&sweep, i);
    }
    judge_intermediate(&sweep);
    imply(verdict);
    mem_free(sweep.marks);
    mem_free(sweep.objects);
    mem_free(sweep.scanned);
}
