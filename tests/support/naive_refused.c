/* naive_refused.c - which refusals no cycle demanded, by the definition: the refused attempt is put into the history of
 * those that committed, its versions above the newest committed when it was refused, and all edges are found anew. */
#include "tests/support/naive_parts.h"

static int newest_committed(const struct naive *naive, int row) {
    int at = naive->versions[row] - 1;
    while (!naive->rows[row][at].committed) {
        at--;
    }
    return at;
}

void naive_refuse(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    for (int row = 0; row < ROWS; row++) {
        int own = naive_position(naive, row, number);
        if (own < 0) {
            continue;
        }
        const struct image *base = &naive->rows[row][newest_committed(naive, row)];
        struct wish *wish = &attempt->wishes[row];
        *wish = (struct wish){.any = true, .image = naive->rows[row][own], .base = base->writer};
        wish->image.before = base->value;
        wish->image.before_absent = base->absent;
        struct certifier_install install = {.key = row,
                                            .behind = (uint64_t)wish->base,
                                            .before = base->value,
                                            .after = wish->image.value,
                                            .before_absent = base->absent,
                                            .after_absent = wish->image.absent};
        certifier_would_install(naive->certifier, attempt->node, &install);
    }
    attempt->seq = ++naive->seq;
    attempt->refused = !attempt->seen_dirty;
    attempt->begun_when_ended = naive->begun;
}

static bool counts(const struct naive *naive, int reader, const struct seen *seen) {
    return seen->writer != reader && !seen->dirty && naive_is_version(naive, seen);
}

/* ---- Edges out of it ---- */

static uint64_t after_read(const struct naive *naive, const struct seen *seen) {
    int next = naive_committed_above(naive, seen->row, naive_position(naive, seen->row, seen->writer));
    return next >= 0 ? UINT64_C(1) << naive->rows[seen->row][next].writer : 0;
}

static uint64_t after_scan(const struct naive *naive, const struct attempt *attempt, const struct seen *seen) {
    int at = naive_position(naive, seen->row, seen->writer);
    while ((at = naive_committed_above(naive, seen->row, at)) >= 0) {
        if (naive_changes(attempt, seen->row, &naive->rows[seen->row][at])) {
            return UINT64_C(1) << naive->rows[seen->row][at].writer;
        }
    }
    return 0;
}

static uint64_t out_of(const struct naive *naive, int number) {
    const struct attempt *attempt = &naive->attempts[number];
    uint64_t to = 0;
    for (int i = 0; i < attempt->read_count; i++) {
        const struct seen *seen = &attempt->reads[i];
        to |= counts(naive, number, seen) && !attempt->wishes[seen->row].any ? after_read(naive, seen) : 0;
    }
    for (int row = 0; attempt->scanned_all && row < ROWS; row++) {
        const struct seen *seen = &attempt->scanned[row];
        bool unmatched = seen->sight != SIGHT_ROW && counts(naive, number, seen);
        to |= unmatched && !attempt->wishes[row].any ? after_scan(naive, attempt, seen) : 0;
    }
    return to;
}

/* ---- Edges into it ---- */

/* From those whose versions it read or would have replaced. */
static uint64_t builds_on(const struct naive *naive, int number) {
    const struct attempt *attempt = &naive->attempts[number];
    uint64_t from = 0;
    for (int i = 0; i < attempt->read_count; i++) {
        from |= counts(naive, number, &attempt->reads[i]) ? UINT64_C(1) << attempt->reads[i].writer : 0;
    }
    for (int row = 0; row < ROWS; row++) {
        const struct seen *seen = &attempt->scanned[row];
        from |= attempt->wishes[row].any ? UINT64_C(1) << attempt->wishes[row].base : 0;
        if (attempt->scanned_all && seen->sight != SIGHT_ROW && counts(naive, number, seen) &&
            naive_changes(attempt, row, &naive->rows[row][naive_position(naive, row, seen->writer)])) {
            from |= UINT64_C(1) << seen->writer;
        }
    }
    return from;
}

/* Is the wish the first change of what the scan found, after what it saw? */
static bool would_change(const struct naive *naive, const struct attempt *scanner, const struct seen *seen,
                         const struct wish *wish) {
    int base = naive_position(naive, seen->row, wish->base), at = naive_position(naive, seen->row, seen->writer);
    if (at > base) {
        return false;
    }
    for (at++; at <= base; at++) {
        const struct image *image = &naive->rows[seen->row][at];
        if (image->committed && naive_changes(scanner, seen->row, image)) {
            return false;
        }
    }
    return naive_changes(scanner, seen->row, &wish->image);
}

/* Would it have overwritten what `other` had seen? */
static bool overwrites(const struct naive *naive, const struct attempt *attempt, int other) {
    const struct attempt *reader = &naive->attempts[other];
    for (int i = 0; i < reader->read_count; i++) {
        const struct seen *seen = &reader->reads[i];
        const struct wish *wish = &attempt->wishes[seen->row];
        if (wish->any && naive_is_version(naive, seen) && seen->writer == wish->base) {
            return true;
        }
    }
    for (int row = 0; reader->scanned_all && row < ROWS; row++) {
        const struct seen *seen = &reader->scanned[row];
        const struct wish *wish = &attempt->wishes[row];
        if (wish->any && seen->sight != SIGHT_ROW && seen->writer != other && naive_is_version(naive, seen) &&
            would_change(naive, reader, seen, wish)) {
            return true;
        }
    }
    return false;
}

static uint64_t into(const struct naive *naive, int number) {
    const struct attempt *attempt = &naive->attempts[number];
    uint64_t from = builds_on(naive, number);
    for (int i = 1; i <= naive->begun; i++) {
        const struct attempt *other = &naive->attempts[i];
        bool overlapped = other->state == COMMITTED && other->has_snapshot && other->snapshot_seq < attempt->seq;
        from |= overlapped && overwrites(naive, attempt, i) ? UINT64_C(1) << i : 0;
    }
    return from;
}

void naive_judge_refused(struct naive *naive) {
    int oldest = 1;
    while (oldest <= naive->begun && naive->attempts[oldest].state != RUNNING) {
        oldest++;
    }
    for (int i = 1; i <= naive->begun; i++) {
        struct attempt *attempt = &naive->attempts[i];
        if (attempt->refused && attempt->begun_when_ended < oldest) {
            naive_find_edges(naive);
            uint64_t out = out_of(naive, i);
            attempt->refused = false;
            naive->counts.false_positives += ((out | naive_reached(naive, out)) & into(naive, i)) == 0;
        }
    }
}
