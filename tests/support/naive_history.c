/* naive_history.c - plays a random history, to the certifier and to the definitions. */
#include "tests/support/naive_parts.h"

#include "sim/base/check.h"

static bool chance(struct naive *naive, double probability) { return stream_unit(&naive->stream) < probability; }
static int below(struct naive *naive, int bound) { return (int)stream_below(&naive->stream, (uint64_t)bound); }

/* ---- The play ---- */

static void begin(struct naive *naive) {
    int number = ++naive->begun;
    struct attempt *attempt = &naive->attempts[number];
    attempt->state = RUNNING;
    attempt->begin_seq = naive->seq;
    attempt->node = certifier_begin(naive->certifier, (uint64_t)number);
    attempt->level = naive->level;
    if (naive->mixed && chance(naive, 0.5)) {
        attempt->level = (enum certifier_level)below(naive, CERTIFIER_SER);
        certifier_level(naive->certifier, attempt->node, attempt->level, naive->holds);
        naive->any_mixed = true;
    }
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
    int own = naive_position(naive, row, number), top = naive->versions[row] - 1;
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
                        .sight = image->writer == number ? SIGHT_OWN_VERSION : sight,
                        .dirty = image->writer != number && !image->committed};
    naive->attempts[image->writer].seen_dirty |= seen.dirty;
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
            *seen =
                (struct seen){.row = row, .writer = image->writer, .number = image->number, .sight = SIGHT_NO_MATCH};
            continue;
        }
        bool matched = naive_member(attempt, row, image->value, image->absent);
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
    attempt->condition = (struct condition){.operator=(enum condition_operator) below(naive, CONDITION_GE + 1),
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
    int row = below(naive, ROWS), own = naive_position(naive, row, number);
    struct image image = {
        .writer = number, .number = ++attempt->number, .value = below(naive, VALUES), .absent = chance(naive, 0.3)};
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
        int at = naive_position(naive, row, number), left = 0;
        if (at < 0 || naive->rows[row][at].number != attempt->number) {
            continue;
        }
        remove_image(naive, row, at);
        certifier_rollback(naive->certifier, attempt->node, attempt->statement);
        bool drops = attempt->level < CERTIFIER_SI;
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
        int at = naive_position(naive, row, number);
        if (at < 0) {
            continue;
        }
        struct image *image = &naive->rows[row][at];
        int above = naive_committed_above(naive, row, at);
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

static void commit(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    uint64_t fresh = naive_before_commit(naive, number);
    install_all(naive, number);
    certifier_commit(naive->certifier, attempt->node);
    attempt->state = COMMITTED;
    attempt->seq = ++naive->seq;
    naive->counts.commits++;
    for (int row = 0; row < ROWS; row++) {
        int at = naive_position(naive, row, number);
        if (at >= 0) {
            naive->rows[row][at].committed = true;
        }
    }
    naive_after_commit(naive, number, fresh);
    naive_judge_refused(naive);
}

static void roll_back(struct naive *naive, int number) {
    struct attempt *attempt = &naive->attempts[number];
    if (chance(naive, 0.5)) {
        naive_refuse(naive, number);
        certifier_refuse(naive->certifier, attempt->node);
    } else {
        certifier_abort(naive->certifier, attempt->node);
    }
    attempt->state = ABORTED;
    for (int row = 0; row < ROWS; row++) {
        int at = naive_position(naive, row, number);
        if (at >= 0) {
            remove_image(naive, row, at);
        }
    }
    naive_after_abort(naive, number);
    naive_judge_refused(naive);
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
        naive->rows[row][0] =
            (struct image){.value = below(naive, VALUES), .absent = chance(naive, 0.3), .committed = true};
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
    naive.mixed = level == CERTIFIER_SER && chance(&naive, 0.6);
    naive.holds = chance(&naive, 0.5) ? CERTIFIER_SI : CERTIFIER_SER;
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
