/* naive_certifier.c - see the header. Attempts are bits of a word, a relation between them is a word for each attempt. */
#include "tests/support/naive_certifier.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/random.h"

enum { ATTEMPTS = 64, ROWS = 5, VERSIONS = 80, READS = 24, LIVE = 4, VALUES = 4 };

/* A version of a row; in the order of the row's versions. Attempt 0 is the loader. */
struct image {
    int writer;
    uint32_t number;
    int64_t value, before;
    bool absent, before_absent;
    bool committed;
};

struct seen {
    int row, writer;
    uint32_t number, statement;
    enum certifier_sight sight;
    bool gone; /* aborted or intermediate: no version of the history */
};

struct attempt {
    enum { UNBORN, RUNNING, COMMITTED, ABORTED } state;
    uint64_t begin_seq, snapshot_seq, seq;
    bool has_snapshot;
    uint32_t statement, number;
    struct seen reads[READS];
    int read_count;
    bool scans, scanning, scanned_all; /* of the whole table, once */
    int cursor;
    uint32_t scan_statement;
    struct condition condition;
    struct seen scanned[ROWS]; /* the version of each row that the scan saw, visited or not */
    struct node *node;
    uint32_t named;
    bool counted, broke;
    uint64_t waiting; /* committed attempts that read from it before it ended */
};

struct naive {
    struct certifier *certifier;
    enum certifier_level level;
    enum naive_kind kind;
    struct stream stream;
    struct attempt attempts[ATTEMPTS];
    struct image rows[ROWS][VERSIONS];
    int versions[ROWS];
    int begun;
    uint64_t seq;
    uint64_t ww[ATTEMPTS], wr[ATTEMPTS], rw[ATTEMPTS], predicate[ATTEMPTS];
    struct certifier_counts counts;
};

static bool chance(struct naive *naive, double probability) { return stream_unit(&naive->stream) < probability; }
static int below(struct naive *naive, int bound) { return (int)stream_below(&naive->stream, (uint64_t)bound); }

/* ---- The definitions: edges ---- */

static int position(const struct naive *naive, int row, int writer) {
    for (int i = 0; i < naive->versions[row]; i++) {
        if (naive->rows[row][i].writer == writer) {
            return i;
        }
    }
    return -1;
}

static bool member(const struct attempt *scanner, int row, int64_t value, bool absent) {
    return !absent && condition_holds(&scanner->condition, row, value);
}

static bool changes(const struct attempt *scanner, int row, const struct image *image) {
    return member(scanner, row, image->before, image->before_absent) !=
           member(scanner, row, image->value, image->absent);
}

/* The next committed version above a position, or -1. */
static int committed_above(const struct naive *naive, int row, int at) {
    for (at++; at < naive->versions[row]; at++) {
        if (naive->rows[row][at].committed) {
            return at;
        }
    }
    return -1;
}

static bool is_version(const struct naive *naive, const struct seen *seen) {
    int at = position(naive, seen->row, seen->writer);
    return !seen->gone && at >= 0 && naive->rows[seen->row][at].committed;
}

static void edges_of_read(struct naive *naive, int reader, const struct seen *seen) {
    if (!is_version(naive, seen)) {
        return;
    }
    int next = committed_above(naive, seen->row, position(naive, seen->row, seen->writer));
    naive->wr[seen->writer] |= UINT64_C(1) << reader;
    if (next >= 0 && naive->rows[seen->row][next].writer != reader) {
        uint64_t *relation = seen->sight == SIGHT_ROW ? naive->rw : naive->predicate;
        relation[reader] |= UINT64_C(1) << naive->rows[seen->row][next].writer;
    }
}

static void edges_of_scan(struct naive *naive, int reader, const struct seen *seen) {
    const struct attempt *scanner = &naive->attempts[reader];
    if (seen->sight == SIGHT_ROW || seen->writer == reader || !is_version(naive, seen)) {
        return;
    }
    int at = position(naive, seen->row, seen->writer);
    if (changes(scanner, seen->row, &naive->rows[seen->row][at])) {
        naive->wr[seen->writer] |= UINT64_C(1) << reader;
    }
    for (int next = committed_above(naive, seen->row, at); next >= 0; next = committed_above(naive, seen->row, next)) {
        const struct image *image = &naive->rows[seen->row][next];
        if (image->writer != reader && changes(scanner, seen->row, image)) {
            naive->predicate[reader] |= UINT64_C(1) << image->writer;
            return;
        }
    }
}

static void find_edges(struct naive *naive) {
    memset(naive->ww, 0, sizeof naive->ww);
    memset(naive->wr, 0, sizeof naive->wr);
    memset(naive->rw, 0, sizeof naive->rw);
    memset(naive->predicate, 0, sizeof naive->predicate);
    for (int row = 0; row < ROWS; row++) {
        for (int at = 0, next; (next = committed_above(naive, row, at)) >= 0; at = next) {
            naive->ww[naive->rows[row][at].writer] |= UINT64_C(1) << naive->rows[row][next].writer;
        }
    }
    for (int i = 1; i <= naive->begun; i++) {
        const struct attempt *attempt = &naive->attempts[i];
        for (int j = 0; attempt->state == COMMITTED && j < attempt->read_count; j++) {
            edges_of_read(naive, i, &attempt->reads[j]);
        }
        for (int row = 0; attempt->state == COMMITTED && attempt->scanned_all && row < ROWS; row++) {
            edges_of_scan(naive, i, &attempt->scanned[row]);
        }
    }
}

/* ---- Cycles ---- */

static uint64_t successors(const uint64_t *relation, uint64_t from) {
    uint64_t to = 0;
    for (; from != 0; from &= from - 1) {
        to |= relation[__builtin_ctzll(from)];
    }
    return to;
}

/* All that is reached from the set by one or more steps of the relations given (NULL: none). */
static uint64_t closure(const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *d, uint64_t from) {
    const uint64_t *relations[] = {a, b, c, d};
    uint64_t reached = 0, front = from;
    while (front != 0) {
        uint64_t next = 0;
        for (int i = 0; i < 4; i++) {
            next |= relations[i] != NULL ? successors(relations[i], front) : 0;
        }
        front = next & ~reached;
        reached |= next;
    }
    return reached;
}

static bool any_cycle(const struct naive *naive, int start) {
    uint64_t bit = UINT64_C(1) << start;
    return (closure(naive->ww, naive->wr, naive->rw, naive->predicate, bit) & bit) != 0;
}

static bool single_cycle(const struct naive *naive, int start) {
    uint64_t bit = UINT64_C(1) << start;
    uint64_t before = bit | closure(naive->ww, naive->wr, NULL, NULL, bit);
    uint64_t between = successors(naive->rw, before) | successors(naive->predicate, before);
    return ((between | closure(naive->ww, naive->wr, NULL, NULL, between)) & bit) != 0;
}

static enum flaw classify(const struct naive *naive, int start) {
    uint64_t bit = UINT64_C(1) << start;
    if ((closure(naive->ww, NULL, NULL, NULL, bit) & bit) != 0) {
        return FLAW_G0;
    }
    if ((closure(naive->ww, naive->wr, NULL, NULL, bit) & bit) != 0) {
        return FLAW_G1C;
    }
    if (single_cycle(naive, start)) {
        return FLAW_G_SINGLE;
    }
    return (closure(naive->ww, naive->wr, naive->rw, NULL, bit) & bit) != 0 ? FLAW_G2_ITEM : FLAW_G2;
}

/* A cycle through `start` without two rw edges next to each other: sets of nodes reached by (first rw?, last rw?). */
static bool apart_cycle(const struct naive *naive, int start) {
    uint64_t reached[2][2] = {{0}}, grown[2][2], bit = UINT64_C(1) << start;
    reached[0][0] = naive->ww[start] | naive->wr[start];
    reached[1][1] = naive->rw[start] | naive->predicate[start];
    for (int round = 0; round < 2 * ATTEMPTS; round++) {
        memcpy(grown, reached, sizeof grown);
        for (int first = 0; first < 2; first++) {
            uint64_t all = reached[first][0] | reached[first][1];
            grown[first][0] |= successors(naive->ww, all) | successors(naive->wr, all);
            grown[first][1] |= successors(naive->rw, reached[first][0]) | successors(naive->predicate, reached[first][0]);
        }
        memcpy(reached, grown, sizeof reached);
    }
    return ((reached[0][0] | reached[0][1] | reached[1][0]) & bit) != 0;
}

static void count(struct naive *naive, int number, enum flaw flaw, bool breaks) {
    struct attempt *attempt = &naive->attempts[number];
    if (flaw != FLAW_COUNT && (attempt->named & 1u << flaw) == 0) {
        attempt->named |= 1u << flaw;
        naive->counts.by_name[flaw]++;
    }
    naive->counts.anomalies += !attempt->counted;
    naive->counts.broken += breaks && !attempt->broke;
    attempt->counted = true;
    attempt->broke |= breaks;
}

static bool is_broken(const struct naive *naive, int start, enum flaw flaw) {
    uint64_t bit = UINT64_C(1) << start;
    switch (naive->level) {
    case CERTIFIER_RU: return flaw == FLAW_G0;
    case CERTIFIER_RC: return flaw == FLAW_G0 || flaw == FLAW_G1C;
    case CERTIFIER_RR: return (closure(naive->ww, naive->wr, naive->rw, NULL, bit) & bit) != 0;
    case CERTIFIER_SI: return apart_cycle(naive, start);
    default: return true;
    }
}

static bool judge_cycles(struct naive *naive, int closer, int start) {
    if (!any_cycle(naive, start)) {
        return false;
    }
    enum flaw flaw = classify(naive, start);
    count(naive, closer, flaw, is_broken(naive, start, flaw));
    return true;
}

/* ---- Reads of what does not stay ---- */

static void each_read(struct naive *naive, int reader, int writer, void (*act)(struct naive *, int, struct seen *)) {
    struct attempt *attempt = &naive->attempts[reader];
    for (int i = 0; i < attempt->read_count; i++) {
        if (attempt->reads[i].writer == writer) {
            act(naive, reader, &attempt->reads[i]);
        }
    }
    for (int row = 0; attempt->scanned_all && row < ROWS; row++) {
        if (attempt->scanned[row].writer == writer) {
            act(naive, reader, &attempt->scanned[row]);
        }
    }
}

static void settle(struct naive *naive, int reader, struct seen *seen) {
    int at = position(naive, seen->row, seen->writer);
    if (at < 0 || naive->rows[seen->row][at].number != seen->number) {
        seen->gone = true;
        count(naive, reader, at < 0 ? FLAW_G1A : FLAW_G1B, naive->level >= CERTIFIER_RC);
    }
}

static void abort_read(struct naive *naive, int reader, struct seen *seen) {
    seen->gone = true;
    count(naive, reader, FLAW_G1A, naive->level >= CERTIFIER_RC);
}

static void wait_for(struct naive *naive, int reader, struct seen *seen) {
    naive->attempts[seen->writer].waiting |= UINT64_C(1) << reader;
}

static void judge_reads(struct naive *naive, int reader) {
    static void (*const acts[])(struct naive *, int, struct seen *) = {
        [RUNNING] = wait_for, [COMMITTED] = settle, [ABORTED] = abort_read};
    for (int writer = 1; writer <= naive->begun; writer++) {
        if (writer != reader) {
            each_read(naive, reader, writer, acts[naive->attempts[writer].state]);
        }
    }
}

static void judge_snapshot(struct naive *naive, int number) {
    const struct attempt *attempt = &naive->attempts[number];
    bool bad = false;
    for (int i = 0; i < attempt->read_count; i++) {
        const struct seen *seen = &attempt->reads[i];
        const struct attempt *writer = &naive->attempts[seen->writer];
        bad = bad || (!seen->gone && writer->state == COMMITTED && writer->seq > attempt->snapshot_seq);
    }
    for (int row = 0; row < ROWS; row++) {
        int at = position(naive, row, number);
        for (at--; at > 0 && !naive->rows[row][at].committed; at--) {
        }
        bad = bad || (at > 0 && naive->attempts[naive->rows[row][at].writer].seq > attempt->snapshot_seq);
    }
    if (bad && naive->level == CERTIFIER_SI) {
        count(naive, number, FLAW_COUNT, true);
    }
}

/* ---- The play ---- */

static void begin(struct naive *naive) {
    int number = ++naive->begun;
    struct attempt *attempt = &naive->attempts[number];
    attempt->state = RUNNING;
    attempt->begin_seq = naive->seq;
    attempt->node = certifier_begin(naive->certifier, (uint64_t)number);
}

static void statement(struct naive *naive, struct attempt *attempt) {
    attempt->statement++;
    if (!attempt->has_snapshot) {
        attempt->has_snapshot = true;
        attempt->snapshot_seq = naive->seq;
    }
    certifier_statement(naive->certifier, attempt->node, attempt->statement);
}

/* The newest version committed by `seq`. */
static int committed_by(const struct naive *naive, int row, uint64_t seq) {
    int at = naive->versions[row] - 1;
    while (at > 0 && !(naive->rows[row][at].committed && naive->attempts[naive->rows[row][at].writer].seq <= seq)) {
        at--;
    }
    return at;
}

/* Which version the attempt sees. */
static int choose(struct naive *naive, int number, int row) {
    const struct attempt *attempt = &naive->attempts[number];
    int own = position(naive, row, number), top = naive->versions[row] - 1;
    if (own >= 0) {
        return own;
    }
    switch (naive->kind) {
    case NAIVE_SINGLE: return top;
    case NAIVE_COMMITTED: return committed_by(naive, row, naive->seq);
    case NAIVE_SNAPSHOT: return committed_by(naive, row, attempt->snapshot_seq);
    default: break;
    }
    int low = committed_by(naive, row, attempt->begin_seq);
    return low + below(naive, top - low + 1);
}

static struct seen report(struct naive *naive, int number, int row, int at, enum certifier_sight sight) {
    struct attempt *attempt = &naive->attempts[number];
    const struct image *image = &naive->rows[row][at];
    struct seen seen = {.row = row,
                        .writer = image->writer,
                        .number = image->number,
                        .statement = attempt->statement,
                        .sight = image->writer == number ? SIGHT_OWN_VERSION : sight};
    struct certifier_read read = {.key = row,
                                  .writer = (uint64_t)image->writer,
                                  .number = image->number,
                                  .sight = (uint8_t)seen.sight,
                                  .dirty = image->writer != number && !image->committed};
    certifier_read(naive->certifier, attempt->node, attempt->statement, &read);
    return seen;
}

static void read_key(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    statement(naive, attempt);
    int row = below(naive, ROWS), at = choose(naive, number, row);
    const struct image *image = &naive->rows[row][at];
    if (image->writer == number || attempt->read_count + ROWS >= READS) {
        return;
    }
    struct seen seen = report(naive, number, row, at, image->absent ? SIGHT_NO_ROW : SIGHT_ROW);
    if (chance(naive, 0.1)) { /* the statement fails */
        certifier_fail(naive->certifier, attempt->node, attempt->statement);
    } else {
        attempt->reads[attempt->read_count++] = seen;
    }
}

/* Is there nothing that anybody could see of the row? */
static bool absent_for_all(const struct naive *naive, int row) {
    for (int i = 0; i < naive->versions[row]; i++) {
        if (!naive->rows[row][i].committed) {
            return false;
        }
    }
    return naive->rows[row][naive->versions[row] - 1].absent;
}

/* One more row of the scan under way, or its end. */
static void scan_on(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    for (int row = attempt->cursor; row < ROWS; row++) {
        int at = choose(naive, number, row);
        const struct image *image = &naive->rows[row][at];
        struct seen *seen = &attempt->scanned[row];
        if (at == naive->versions[row] - 1 && absent_for_all(naive, row)) { /* not visited */
            *seen = (struct seen){
                .row = row, .writer = image->writer, .number = image->number, .sight = SIGHT_NO_MATCH};
            continue;
        }
        bool matched = member(attempt, row, image->value, image->absent);
        *seen = report(naive, number, row, at, matched ? SIGHT_ROW : SIGHT_NO_MATCH);
        if (seen->sight == SIGHT_ROW) {
            attempt->reads[attempt->read_count++] = *seen;
        }
        attempt->cursor = row + 1;
        return;
    }
    struct certifier_scan scan = {.first = 0, .last = ROWS - 1, .condition = attempt->condition};
    certifier_scan(naive->certifier, attempt->node, attempt->statement, &scan);
    attempt->scanning = false;
    attempt->scanned_all = true;
}

static void scan_begin(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    if (attempt->scans || attempt->read_count + ROWS >= READS) {
        return;
    }
    statement(naive, attempt);
    attempt->scans = attempt->scanning = true;
    attempt->scan_statement = attempt->statement;
    attempt->condition = (struct condition){.operator = (enum condition_operator)below(naive, CONDITION_GE + 1),
                                            .modulus = below(naive, 3),
                                            .constant = below(naive, VALUES)};
    scan_on(naive, number);
}

static void insert_image(struct naive *naive, int row, int at, struct image image) {
    for (int i = naive->versions[row]; i > at; i--) {
        naive->rows[row][i] = naive->rows[row][i - 1];
    }
    naive->rows[row][at] = image;
    CHECK(++naive->versions[row] < VERSIONS);
}

static void remove_image(struct naive *naive, int row, int at) {
    naive->versions[row]--;
    for (int i = at; i < naive->versions[row]; i++) {
        naive->rows[row][i] = naive->rows[row][i + 1];
    }
}

static void write_key(struct naive *naive, int number, double beneath) {
    struct attempt *attempt = &naive->attempts[number];
    statement(naive, attempt);
    int row = below(naive, ROWS), own = position(naive, row, number);
    struct image image = {.writer = number,
                          .number = ++attempt->number,
                          .value = below(naive, VALUES),
                          .absent = chance(naive, 0.3)};
    if (own >= 0) {
        naive->rows[row][own] = image;
        return;
    }
    bool lower = naive->kind != NAIVE_SINGLE && chance(naive, beneath);
    insert_image(naive, row, (lower ? choose(naive, number, row) : naive->versions[row] - 1) + 1, image);
}

/* Rolls the last statement back, if it was the first write of a row. */
static void undo(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    for (int row = 0; row < ROWS; row++) {
        int at = position(naive, row, number), left = 0;
        if (at < 0 || naive->rows[row][at].number != attempt->number) {
            continue;
        }
        remove_image(naive, row, at);
        certifier_rollback(naive->certifier, attempt->node, attempt->statement);
        bool drops = naive->level < CERTIFIER_SI;
        for (int i = 0; i < attempt->read_count; i++) {
            attempt->reads[left] = attempt->reads[i];
            left += !drops || attempt->reads[i].statement < attempt->statement;
        }
        attempt->read_count = left;
        attempt->scanned_all = attempt->scanned_all && (!drops || attempt->scan_statement < attempt->statement);
        return;
    }
}

static void install_all(struct naive *naive, int number) {
    for (int row = 0; row < ROWS; row++) {
        int at = position(naive, row, number);
        if (at < 0) {
            continue;
        }
        struct image *image = &naive->rows[row][at];
        int above = committed_above(naive, row, at);
        image->before = image[-1].value;
        image->before_absent = image[-1].absent;
        struct certifier_install install = {.key = row,
                                            .behind = (uint64_t)image[-1].writer,
                                            .under = above >= 0 ? (uint64_t)naive->rows[row][above].writer : 0,
                                            .before = image->before,
                                            .after = image->value,
                                            .number = image->number,
                                            .before_absent = image->before_absent,
                                            .after_absent = image->absent};
        certifier_install(naive->certifier, naive->attempts[number].node, &install);
    }
}

/* Of several committed readers that had to wait for this commit, the one that committed first. */
static int first_of(const struct naive *naive, uint64_t readers) {
    int first = __builtin_ctzll(readers);
    for (; readers != 0; readers &= readers - 1) {
        int reader = __builtin_ctzll(readers);
        first = naive->attempts[reader].seq < naive->attempts[first].seq ? reader : first;
    }
    return first;
}

static void commit(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    uint64_t readers = attempt->waiting, fresh = 0;
    find_edges(naive);
    for (uint64_t rest = readers; rest != 0; rest &= rest - 1) {
        fresh |= any_cycle(naive, __builtin_ctzll(rest)) ? 0 : rest & (0 - rest);
    }
    install_all(naive, number);
    certifier_commit(naive->certifier, attempt->node);
    attempt->state = COMMITTED;
    attempt->seq = ++naive->seq;
    naive->counts.commits++;
    for (int row = 0; row < ROWS; row++) {
        int at = position(naive, row, number);
        if (at >= 0) {
            naive->rows[row][at].committed = true;
        }
    }
    judge_reads(naive, number);
    judge_snapshot(naive, number);
    for (uint64_t rest = readers; rest != 0; rest &= rest - 1) {
        each_read(naive, __builtin_ctzll(rest), number, settle);
    }
    find_edges(naive);
    bool found = judge_cycles(naive, number, number);
    while (!found && fresh != 0) {
        int reader = first_of(naive, fresh);
        found = judge_cycles(naive, number, reader);
        fresh &= ~(UINT64_C(1) << reader);
    }
}

static void roll_back(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    certifier_abort(naive->certifier, attempt->node);
    attempt->state = ABORTED;
    for (int row = 0; row < ROWS; row++) {
        int at = position(naive, row, number);
        if (at >= 0) {
            remove_image(naive, row, at);
        }
    }
    for (uint64_t rest = attempt->waiting; rest != 0; rest &= rest - 1) {
        each_read(naive, __builtin_ctzll(rest), number, abort_read);
    }
}

static void act(struct naive *naive, int number, double beneath) {
    int what = below(naive, 20);
    if (naive->attempts[number].scanning) {
        scan_on(naive, number);
    } else if (what < 7) {
        read_key(naive, number);
    } else if (what < 12) {
        write_key(naive, number, beneath);
    } else if (what < 14) {
        scan_begin(naive, number);
    } else if (what < 15) {
        undo(naive, number);
    } else if (what < 17) {
        roll_back(naive, number);
    } else {
        commit(naive, number);
    }
}

static void load(struct naive *naive) {
    naive->attempts[0].state = COMMITTED;
    for (int row = 0; row < ROWS; row++) {
        naive->rows[row][0] = (struct image){.value = below(naive, VALUES), .absent = chance(naive, 0.3), .committed = true};
        naive->versions[row] = 1;
    }
}

void naive_play(struct certifier *certifier, enum certifier_level level, enum naive_kind kind, uint64_t seed,
                struct certifier_counts *counts) {
    static struct naive naive;
    naive = (struct naive){.certifier = certifier, .level = level, .kind = kind};
    struct stream_key key = {.seed = seed, .purpose = STREAM_TEST};
    stream_open(&naive.stream, &key);
    load(&naive);
    int live_most = 1 + below(&naive, LIVE), attempts = 2 + below(&naive, ATTEMPTS - 3);
    double beneath = chance(&naive, 0.5) ? 0 : stream_unit(&naive.stream);
    for (;;) {
        int live[ATTEMPTS], live_count = 0;
        for (int i = 1; i <= naive.begun; i++) {
            live[live_count] = i;
            live_count += naive.attempts[i].state == RUNNING;
        }
        if (live_count < live_most && naive.begun < attempts) {
            begin(&naive);
        } else if (live_count > 0) {
            act(&naive, live[below(&naive, live_count)], beneath);
        } else {
            break;
        }
    }
    *counts = naive.counts;
}
