/* naive_certifier.c - the definitions: edges, cycles, and reads of what does not stay. */
#include "tests/support/naive_certifier.h"

#include <string.h>

#include "tests/support/naive_parts.h"

/* ---- The definitions: edges ---- */

int naive_position(const struct naive *naive, int row, int writer) {
    for (int i = 0; i < naive->versions[row]; i++) {
        if (naive->rows[row][i].writer == writer) {
            return i;
        }
    }
    return -1;
}

bool naive_member(const struct attempt *scanner, int row, int64_t value, bool absent) {
    return !absent && condition_holds(&scanner->condition, row, value);
}

bool naive_changes(const struct attempt *scanner, int row, const struct image *image) {
    return naive_member(scanner, row, image->before, image->before_absent) !=
           naive_member(scanner, row, image->value, image->absent);
}

/* The next committed version above a position, or -1. */
int naive_committed_above(const struct naive *naive, int row, int at) {
    for (at++; at < naive->versions[row]; at++) {
        if (naive->rows[row][at].committed) {
            return at;
        }
    }
    return -1;
}

bool naive_is_version(const struct naive *naive, const struct seen *seen) {
    int at = naive_position(naive, seen->row, seen->writer);
    return !seen->gone && at >= 0 && naive->rows[seen->row][at].committed;
}

static void edges_of_read(struct naive *naive, int reader, const struct seen *seen) {
    if (!naive_is_version(naive, seen)) {
        return;
    }
    int next = naive_committed_above(naive, seen->row, naive_position(naive, seen->row, seen->writer));
    naive->wr[seen->writer] |= UINT64_C(1) << reader;
    if (next >= 0 && naive->rows[seen->row][next].writer != reader) {
        uint64_t *relation = seen->sight == SIGHT_ROW ? naive->rw : naive->predicate;
        relation[reader] |= UINT64_C(1) << naive->rows[seen->row][next].writer;
    }
}

static void edges_of_scan(struct naive *naive, int reader, const struct seen *seen) {
    const struct attempt *scanner = &naive->attempts[reader];
    if (seen->sight == SIGHT_ROW || seen->writer == reader || !naive_is_version(naive, seen)) {
        return;
    }
    int at = naive_position(naive, seen->row, seen->writer);
    if (naive_changes(scanner, seen->row, &naive->rows[seen->row][at])) {
        naive->wr[seen->writer] |= UINT64_C(1) << reader;
    }
    for (int next = naive_committed_above(naive, seen->row, at); next >= 0;
         next = naive_committed_above(naive, seen->row, next)) {
        const struct image *image = &naive->rows[seen->row][next];
        if (image->writer != reader && naive_changes(scanner, seen->row, image)) {
            naive->predicate[reader] |= UINT64_C(1) << image->writer;
            return;
        }
    }
}

void naive_find_edges(struct naive *naive) {
    memset(naive->ww, 0, sizeof naive->ww);
    memset(naive->wr, 0, sizeof naive->wr);
    memset(naive->rw, 0, sizeof naive->rw);
    memset(naive->predicate, 0, sizeof naive->predicate);
    for (int row = 0; row < ROWS; row++) {
        for (int at = 0, next; (next = naive_committed_above(naive, row, at)) >= 0; at = next) {
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

uint64_t naive_reached(const struct naive *naive, uint64_t from) {
    return closure(naive->ww, naive->wr, naive->rw, naive->predicate, from);
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

/* Sets of nodes reached by (first rw?, last rw?). */
bool naive_apart_cycle(const uint64_t *flow, const uint64_t *rw, int start) {
    uint64_t reached[2][2] = {{0}}, grown[2][2], bit = UINT64_C(1) << start;
    reached[0][0] = flow[start];
    reached[1][1] = rw[start];
    for (int round = 0; round < 2 * ATTEMPTS; round++) {
        memcpy(grown, reached, sizeof grown);
        for (int first = 0; first < 2; first++) {
            uint64_t all = reached[first][0] | reached[first][1];
            grown[first][0] |= successors(flow, all);
            grown[first][1] |= successors(rw, reached[first][0]);
        }
        memcpy(reached, grown, sizeof reached);
    }
    return ((reached[0][0] | reached[0][1] | reached[1][0]) & bit) != 0;
}

static bool apart_cycle(const struct naive *naive, int start) {
    uint64_t flow[ATTEMPTS], rw[ATTEMPTS];
    for (int i = 0; i < ATTEMPTS; i++) {
        flow[i] = naive->ww[i] | naive->wr[i];
        rw[i] = naive->rw[i] | naive->predicate[i];
    }
    return naive_apart_cycle(flow, rw, start);
}

static void count(struct naive *naive, int number, enum flaw flaw, bool owed, bool breaks) {
    struct attempt *attempt = &naive->attempts[number];
    if (flaw != FLAW_COUNT && (attempt->named & 1u << flaw) == 0) {
        attempt->named |= 1u << flaw;
        naive->counts.by_name[flaw]++;
    }
    naive->counts.anomalies += !attempt->counted;
    naive->counts.broken += breaks && !attempt->broke;
    naive->counts.broken_levels += owed && !attempt->owed;
    attempt->counted = true;
    attempt->owed |= owed;
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
    bool promised = false,
         owed = naive->any_mixed ? naive_is_owed(naive, start, &promised) : is_broken(naive, start, flaw);
    count(naive, closer, flaw, owed, naive->any_mixed ? promised : owed);
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
    int at = naive_position(naive, seen->row, seen->writer);
    if (at < 0 || naive->rows[seen->row][at].number != seen->number) {
        seen->gone = true;
        bool owed = naive->attempts[reader].level >= CERTIFIER_RC;
        count(naive, reader, at < 0 ? FLAW_G1A : FLAW_G1B, owed, owed);
    }
}

static void abort_read(struct naive *naive, int reader, struct seen *seen) {
    seen->gone = true;
    bool owed = naive->attempts[reader].level >= CERTIFIER_RC;
    count(naive, reader, FLAW_G1A, owed, owed);
}

static void wait_for(struct naive *naive, int reader, struct seen *seen) {
    naive->attempts[seen->writer].waiting |= UINT64_C(1) << reader;
}

static void judge_reads(struct naive *naive, int reader) {
    static void (*const acts[])(struct naive *, int,
                                struct seen *) = {[RUNNING] = wait_for, [COMMITTED] = settle, [ABORTED] = abort_read};
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
        int at = naive_position(naive, row, number);
        for (at--; at > 0 && !naive->rows[row][at].committed; at--) {}
        bad = bad || (at > 0 && naive->attempts[naive->rows[row][at].writer].seq > attempt->snapshot_seq);
    }
    if (bad && attempt->level == CERTIFIER_SI) {
        count(naive, number, FLAW_COUNT, true, true);
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

/* The readers that wait for this commit and are on no cycle yet. */
uint64_t naive_before_commit(struct naive *naive, int number) {
    uint64_t fresh = 0;
    naive_find_edges(naive);
    for (uint64_t rest = naive->attempts[number].waiting; rest != 0; rest &= rest - 1) {
        fresh |= any_cycle(naive, __builtin_ctzll(rest)) ? 0 : rest & (0 - rest);
    }
    return fresh;
}

void naive_after_commit(struct naive *naive, int number, uint64_t fresh) {
    judge_reads(naive, number);
    judge_snapshot(naive, number);
    for (uint64_t rest = naive->attempts[number].waiting; rest != 0; rest &= rest - 1) {
        each_read(naive, __builtin_ctzll(rest), number, settle);
    }
    naive_find_edges(naive);
    bool found = judge_cycles(naive, number, number);
    while (!found && fresh != 0) {
        int reader = first_of(naive, fresh);
        found = judge_cycles(naive, number, reader);
        fresh &= ~(UINT64_C(1) << reader);
    }
}

void naive_after_abort(struct naive *naive, int number) {
    for (uint64_t rest = naive->attempts[number].waiting; rest != 0; rest &= rest - 1) {
        each_read(naive, __builtin_ctzll(rest), number, abort_read);
    }
}
