/* test_certifier.c - the certifier against hand-made histories of every anomaly, and against the definitions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/base/random.h"
#include "sim/check/certifier.h"
#include "sim/check/recording.h"
#include "tests/support/harness.h"
#include "tests/support/naive_certifier.h"

enum { HISTORIES = 20000, HISTORIES_LONG = 400000 };

static void agrees_with_the_definitions(void **state) {
    (void)state;
    uint64_t histories = test_long() ? HISTORIES_LONG : HISTORIES, wrong = 0, needless = 0, lost = 0;
    uint64_t names[FLAW_COUNT] = {0}, broken[CERTIFIER_LEVELS] = {0};
    for (uint64_t seed = 1; seed <= histories; seed++) {
        enum certifier_level level = (enum certifier_level)(seed % CERTIFIER_LEVELS);
        enum naive_kind kind = (enum naive_kind)(seed / CERTIFIER_LEVELS % NAIVE_KINDS);
        int64_t now_ns = 0;
        struct certifier *certifier = certifier_new(level, &now_ns);
        struct certifier_counts truth;
        naive_play(certifier, level, kind, seed, &truth);
        const struct certifier_counts *counts = certifier_counts(certifier);
        bool same = counts->commits == truth.commits && counts->anomalies == truth.anomalies &&
                    counts->broken == truth.broken && counts->false_positives == truth.false_positives &&
                    counts->broken_levels == truth.broken_levels;
        lost += counts->broken_levels - counts->broken;
        needless += counts->false_positives;
        for (int i = FLAW_G0; i <= FLAW_G2; i++) {
            same = same && counts->by_name[i] == truth.by_name[i];
            names[i] += counts->by_name[i];
        }
        broken[level] += counts->broken;
        if (!same && wrong++ < 3) {
            print_error("seed %" PRIu64 ", %s, kind %d: %" PRIu64 " anomalies, %" PRIu64 " broken, %" PRIu64
                        " needless; by the definitions %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n%s\n",
                        seed, certifier_level_names[level], (int)kind, counts->anomalies, counts->broken,
                        counts->false_positives, truth.anomalies, truth.broken, truth.false_positives,
                        certifier_witness(certifier));
            for (int i = FLAW_G0; i <= FLAW_G2; i++) {
                print_error("  %s %" PRIu64 " %" PRIu64 "\n", flaw_texts[i].name, counts->by_name[i], truth.by_name[i]);
            }
        }
        certifier_free(certifier);
    }
    assert_int_equal(wrong, 0);
    assert_true(needless > histories / 10 && lost > histories / 1000);
    for (int i = FLAW_G0; i <= FLAW_G2; i++) {
        assert_true(names[i] > histories / 100); /* every kind occurred often enough to be missed */
    }
    for (int i = 0; i < CERTIFIER_LEVELS; i++) {
        assert_true(broken[i] > 0);
    }
}

/* ---- Hand-made histories ---- */

/* What a history (without its first lines) comes to at a level. */
static struct recording_verdict judge(enum certifier_level level, const char *events) {
    struct text text = {0}, error = {0};
    text_add(&text, "%s\nlevel %s\ntable 0 t\n", recording_magic, certifier_level_names[level]);
    for (const char *c = events; *c != '\0'; c++) {
        text_add_bytes(&text, *c == ';' ? "\n" : c, 1);
    }
    FILE *file = fmemopen(text.bytes, text.length, "r");
    assert_non_null(file);
    struct recording_verdict verdict;
    if (!certifier_judge_history(file, "history", CERTIFIER_LEVELS, &verdict, &error)) {
        fail_msg("%s\n%s", text_string(&error), events);
    }
    fclose(file);
    text_free(&text);
    text_free(&error);
    return verdict;
}

struct sample {
    const char *events;
    unsigned named;  /* bit set of enum flaw */
    unsigned breaks; /* bit set of levels that forbid it */
    const char *witness;
};

#define NAMED(flaw) (1u << (flaw))
enum {
    FROM_SER = 1u << CERTIFIER_SER,
    FROM_SI = FROM_SER | 1u << CERTIFIER_SI,
    FROM_RR = FROM_SI | 1u << CERTIFIER_RR,
    FROM_RC = FROM_RR | 1u << CERTIFIER_RC,
    FROM_RU = FROM_RC | 1u << CERTIFIER_RU,
};

static const struct sample samples[] = {
    /* x and y are rows 1 and 2. Two writes of each in opposite orders. */
    {"b 1;b 2;s 1 1;s 2 1;t 5000000;i 1 0 1 0 0 1 0 1;i 1 0 2 0 0 2 0 1;c 1;i 2 0 1 1 0 1 1 2;i 2 0 2 0 1 2 0 2;c 2",
     NAMED(FLAW_G0), FROM_RU,
     "G0: transactions overwrote each other in a circle; T2 closed it\n"
     "  T2 -ww-> T1: T1 wrote over its version of t 2\n"
     "  T1 -ww-> T2: T2 wrote over its version of t 1\n"
     "  T2 began at 0 ms and committed at 5 ms\n"
     "  T1 began at 0 ms and committed at 5 ms"},
    {"b 1;b 2;s 1 1;s 2 1;r 2 1 0 1 1 1;c 2;a 1", NAMED(FLAW_G1A), FROM_RC,
     "G1a: a committed transaction read what was rolled back\n"
     "  T2 met T1's version of t 1\n"
     "  T2 began at 0 ms and committed at 0 ms"},
    {"b 1;b 2;s 1 1;s 2 1;r 2 1 0 1 1 1;a 1;c 2", NAMED(FLAW_G1A), FROM_RC, NULL},
    {"b 1;b 2;s 1 1;s 2 1;r 2 1 0 1 1 1;s 1 2;i 1 0 1 0 0 2 0 5;c 1;c 2", NAMED(FLAW_G1B), FROM_RC,
     "G1b: a committed transaction read a version that its writer replaced\n"
     "  T2 met T1's version of t 1\n"
     "  T2 began at 0 ms and committed at 0 ms"},
    {"b 1;b 2;s 1 1;s 2 1;r 2 1 0 1 1 1;c 2;i 1 0 1 0 0 2 0 5;c 1", NAMED(FLAW_G1B), FROM_RC, NULL},
    {"b 1;b 2;s 1 1;s 2 1;r 2 1 0 1 1 1;r 1 1 0 2 2 1;i 1 0 1 0 0 1 0 5;c 1;i 2 0 2 0 0 1 0 5;c 2", NAMED(FLAW_G1C),
     FROM_RC,
     "G1c: transactions overwrote or read each other's writes in a circle; T2 closed it\n"
     "  T2 -wr-> T1: T1 read what it left of t 2\n"
     "  T1 -wr-> T2: T2 read what it left of t 1\n"
     "  T2 began at 0 ms and committed at 0 ms\n"
     "  T1 began at 0 ms and committed at 0 ms"},
    /* read skew: x before, y after */
    {"b 1;b 2;s 1 1;s 2 1;r 1 1 0 1 0 0;i 2 0 1 0 0 1 0 5;i 2 0 2 0 0 1 0 5;c 2;s 1 2;r 1 2 0 2 2 1;c 1",
     NAMED(FLAW_G_SINGLE), FROM_RR,
     "G-single: a circle in which one transaction read what the next one overwrote; T1 closed it\n"
     "  T1 -rw-> T2: T2 wrote over what it had read of t 1\n"
     "  T2 -wr-> T1: T1 read what it left of t 2\n"
     "  T1 began at 0 ms and committed at 0 ms\n"
     "  T2 began at 0 ms and committed at 0 ms"},
    {"b 1;b 2;s 1 1;s 2 1;r 1 1 0 1 0 0;r 2 1 0 1 0 0;i 2 0 1 0 0 1 0 1;c 2;i 1 0 1 2 0 1 1 1;c 1",
     NAMED(FLAW_G_SINGLE) | NAMED(FLAW_LOST_UPDATE), FROM_RR,
     "G-single: a circle in which one transaction read what the next one overwrote (lost_update); T1 closed it\n"
     "  T1 -rw-> T2: T2 wrote over what it had read of t 1\n"
     "  T2 -ww-> T1: T1 wrote over its version of t 1\n"
     "  T1 began at 0 ms and committed at 0 ms\n"
     "  T2 began at 0 ms and committed at 0 ms"},
    {"b 1;b 2;s 1 1;s 2 1;r 1 1 0 1 0 0;r 2 1 0 2 0 0;i 1 0 2 0 0 1 0 1;c 1;i 2 0 1 0 0 1 0 1;c 2",
     NAMED(FLAW_G2_ITEM) | NAMED(FLAW_WRITE_SKEW), FROM_SER | 1u << CERTIFIER_RR,
     "G2-item: a circle in which several transactions read rows that others overwrote (write_skew); T2 closed it\n"
     "  T2 -rw-> T1: T1 wrote over what it had read of t 2\n"
     "  T1 -rw-> T2: T2 wrote over what it had read of t 1\n"
     "  T2 began at 0 ms and committed at 0 ms\n"
     "  T1 began at 0 ms and committed at 0 ms"},
    /* both sum a range and insert into it: each misses the other's row */
    {"b 1;b 2;s 1 1;r 1 1 0 1 0 0;q 1 1 0 0 9 v true 0 0;s 2 1;r 2 1 0 1 0 0;q 2 1 0 0 9 v true 0 0;"
     "i 1 0 5 0 0 1 - 7;c 1;i 2 0 6 0 0 1 - 7;c 2",
     NAMED(FLAW_G2) | NAMED(FLAW_PHANTOM), FROM_SER,
     "G2: a circle in which several transactions read rows or ranges that others changed (phantom); T2 closed it\n"
     "  T2 -rw-> T1: T1 changed the range it had read, by t 5\n"
     "  T1 -rw-> T2: T2 changed the range it had read, by t 6\n"
     "  T2 began at 0 ms and committed at 0 ms\n"
     "  T1 began at 0 ms and committed at 0 ms"},
    /* a row that enters the range by its value, and one that it had no part in */
    {"b 1;b 2;s 1 1;p 1 1 0 1 0 0;q 1 1 0 0 9 v >= 0 5;i 2 0 1 0 0 1 3 7;i 2 0 2 0 0 1 3 4;c 2;s 1 2;r 1 2 0 2 2 1;c 1",
     NAMED(FLAW_G_SINGLE) | NAMED(FLAW_PHANTOM), FROM_SI, NULL},
    {"b 1;b 2;s 1 1;p 1 1 0 1 0 0;q 1 1 0 0 9 v >= 0 5;i 2 0 1 0 0 1 3 4;i 2 0 2 0 0 1 3 4;c 2;s 1 2;r 1 2 0 2 2 1;c 1",
     0, 1u << CERTIFIER_SI, NULL}, /* no cycle; but a snapshot would not have seen T2's row 2 */
    /* the read-only anomaly: T3 sees T2's y and not T1's x, which is before it */
    {"b 1;s 1 1;r 1 1 0 1 0 0;r 1 1 0 2 0 0;b 2;s 2 1;r 2 1 0 2 0 0;i 2 0 2 0 0 1 0 20;c 2;b 3;s 3 1;r 3 1 0 1 0 0;"
     "r 3 1 0 2 2 1;c 3;i 1 0 1 0 0 1 0 -11;c 1",
     NAMED(FLAW_G2_ITEM), FROM_SER | 1u << CERTIFIER_RR, NULL},
    {"b 1;s 1 1;r 1 1 0 1 0 0 dead;c 1", 0, FROM_RR,
     "it read a version that had been replaced before it began\n  T1 met T0's version of t 1\n"
     "  T1 began at 0 ms and committed at 0 ms"},
    /* not wrong at all */
    {"b 1;b 2;s 1 1;i 1 0 1 0 0 1 0 1;c 1;s 2 1;i 2 0 1 1 0 1 1 2;c 2;b 3;s 3 1;r 3 1 0 1 2 1;c 3", 0, 0, ""},
    {"b 1;b 2;s 1 1;r 1 1 0 2 0 0;s 2 1;r 2 1 0 1 1 1;a 1;a 2", 0, 0, ""},
    /* what a failed statement read does not count; a duplicate key does */
    {"b 1;b 2;s 1 1;r 1 1 0 1 0 0;f 1 1;s 2 1;r 2 1 0 2 0 0;i 1 0 2 0 0 1 0 1;c 1;i 2 0 1 0 0 1 0 1;c 2", 0, 0, ""},
    {"b 1;b 2;s 1 1;r 1 1 0 1 0 0 kept;f 1 1;s 2 1;r 2 1 0 2 0 0;i 1 0 2 0 0 1 0 1;c 1;i 2 0 1 0 0 1 0 1;c 2",
     NAMED(FLAW_G2_ITEM) | NAMED(FLAW_WRITE_SKEW), FROM_SER | 1u << CERTIFIER_RR, NULL},
    /* Thomas's rule: the younger has committed, the older's write is left out */
    {"b 1;b 2;s 1 1;s 2 1;i 2 0 1 0 0 1 0 2;c 2;k 1 0 1;c 1", 0, 0, ""},
    /* put beneath an uncommitted version, whose writer commits first */
    {"b 1;b 2;s 1 1;s 2 1;i 2 0 1 1 0 1 1 2;c 2;i 1 0 1 0 2 1 0 1;c 1", 0, 0, ""},
};

static void names_every_anomaly(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct sample *sample = &samples[i];
        for (int level = 0; level < CERTIFIER_LEVELS; level++) {
            struct recording_verdict verdict = judge((enum certifier_level)level, sample->events);
            for (int flaw = 0; flaw < FLAW_COUNT; flaw++) {
                if ((verdict.counts.by_name[flaw] > 0) != ((sample->named & 1u << flaw) != 0)) {
                    fail_msg("%s at %s: %s\n%s", sample->events, certifier_level_names[level], flaw_texts[flaw].name,
                             text_string(&verdict.witness));
                }
            }
            if ((verdict.counts.broken > 0) != ((sample->breaks & 1u << level) != 0)) {
                fail_msg("%s at %s: broken %" PRIu64, sample->events, certifier_level_names[level],
                         verdict.counts.broken);
            }
            if (level == CERTIFIER_SER && sample->witness != NULL) {
                assert_string_equal(text_string(&verdict.witness), sample->witness);
            }
            recording_verdict_free(&verdict);
        }
    }
}

/* What a rolled-back savepoint read counts from SI on; below, its protection went with it. */
static void rolled_back_reads_count_by_level(void **state) {
    (void)state;
    const char *events =
        "b 1;b 2;s 1 1;r 1 1 0 1 0 0;u 1 1;s 2 1;r 2 1 0 2 0 0;i 1 0 2 0 0 1 0 1;c 1;i 2 0 1 0 0 1 0 1;c 2";
    for (int level = 0; level < CERTIFIER_LEVELS; level++) {
        struct recording_verdict verdict = judge((enum certifier_level)level, events);
        assert_int_equal(verdict.counts.anomalies, level >= CERTIFIER_SI);
        recording_verdict_free(&verdict);
    }
}

/* ---- Memory ---- */

/* One transaction of a long run: reads some rows of millions, increments one. The newest writer of each row is kept
 * by the
 * test. `from` of them are under way at a time. */
struct long_run {
    struct certifier *certifier;
    int64_t now_ns;
    struct stream stream;
    uint64_t begun;
    size_t most_kept;
};

enum { LONG_ROWS = 3000000, LONG_LIVE = 64, LONG_READS = 4 };

static void long_transaction(struct long_run *run, uint64_t *writers, struct node *txn, uint64_t id) {
    certifier_statement(run->certifier, txn, 1);
    for (int i = 0; i < LONG_READS; i++) {
        int64_t key = (int64_t)stream_below(&run->stream, LONG_ROWS);
        struct certifier_read read = {.key = key, .writer = writers[key]};
        certifier_read(run->certifier, txn, 1, &read);
        if (i < 2) {
            struct certifier_install install = {.key = key, .behind = writers[key]};
            certifier_install(run->certifier, txn, &install);
            writers[key] = id;
        }
    }
    certifier_commit(run->certifier, txn);
    size_t kept = certifier_kept(run->certifier);
    run->most_kept = kept > run->most_kept ? kept : run->most_kept;
}

static void memory_is_bounded_by_concurrency(void **state) {
    (void)state;
    uint64_t transactions = test_long() ? 10000000 : 500000;
    struct long_run run = {0};
    run.certifier = certifier_new(CERTIFIER_SER, &run.now_ns);
    struct stream_key key = {.seed = 4, .purpose = STREAM_TEST};
    stream_open(&run.stream, &key);
    uint64_t *writers = mem_new(LONG_ROWS, sizeof *writers);
    struct {
        struct node *txn;
        uint64_t id;
    } live[LONG_LIVE];
    for (int i = 0; i < LONG_LIVE; i++) {
        live[i].id = ++run.begun;
        live[i].txn = certifier_begin(run.certifier, live[i].id);
    }
    for (uint64_t done = 0; done < transactions; done++) {
        size_t i = stream_below(&run.stream, LONG_LIVE);
        run.now_ns++;
        long_transaction(&run, writers, live[i].txn, live[i].id);
        live[i].id = ++run.begun;
        live[i].txn = certifier_begin(run.certifier, live[i].id);
    }
    assert_int_equal(certifier_counts(run.certifier)->anomalies, 0);
    assert_true(run.most_kept < 30 * LONG_LIVE); /* the oldest of 64 lives about 64 ln 64 commits */
    /* and now a lost update, at the very end */
    struct node *a = live[0].txn, *b = live[1].txn;
    for (int i = 0; i < 2; i++) {
        struct certifier_read read = {.key = 7, .writer = writers[7]};
        certifier_statement(run.certifier, i == 0 ? a : b, 1);
        certifier_read(run.certifier, i == 0 ? a : b, 1, &read);
        struct certifier_install install = {.key = 7, .behind = i == 0 ? writers[7] : live[0].id};
        certifier_install(run.certifier, i == 0 ? a : b, &install);
    }
    certifier_commit(run.certifier, a);
    assert_int_equal(certifier_counts(run.certifier)->broken, 0);
    certifier_commit(run.certifier, b);
    assert_int_equal(certifier_counts(run.certifier)->broken, 1);
    assert_int_equal(certifier_counts(run.certifier)->by_name[FLAW_LOST_UPDATE], 1);
    certifier_free(run.certifier);
    mem_free(writers);
}

/* Under snapshots and heavy contention edges point backward all the time: the graph must not grow for ever. */
static void contended_snapshots_are_bounded(void **state) {
    (void)state;
    enum { ROWS = 40, LIVE = 32, COMMITS = 60000 };
    struct {
        uint64_t writer[ROWS];
        uint64_t id;
        struct node *txn;
    } live[LIVE];
    uint64_t writers[ROWS] = {0}, begun = 0;
    int64_t now_ns = 0;
    struct certifier *certifier = certifier_new(CERTIFIER_RC, &now_ns);
    struct stream stream;
    struct stream_key key = {.seed = 9, .purpose = STREAM_TEST};
    stream_open(&stream, &key);
    size_t most = 0;
    for (int done = -LIVE; done < COMMITS; done++) {
        size_t i = done < 0 ? (size_t)(done + LIVE) : stream_below(&stream, LIVE);
        if (done >= 0) {
            int64_t read_row = (int64_t)stream_below(&stream, ROWS), written = (int64_t)stream_below(&stream, ROWS);
            struct certifier_read read = {.key = read_row, .writer = live[i].writer[read_row]};
            certifier_statement(certifier, live[i].txn, 1);
            certifier_read(certifier, live[i].txn, 1, &read);
            struct certifier_install install = {.key = written, .behind = writers[written]};
            certifier_install(certifier, live[i].txn, &install);
            writers[written] = live[i].id;
            certifier_commit(certifier, live[i].txn);
        }
        live[i].id = ++begun;
        memcpy(live[i].writer, writers, sizeof writers);
        live[i].txn = certifier_begin(certifier, begun);
        size_t kept = certifier_kept(certifier);
        most = kept > most ? kept : most;
    }
    assert_true(certifier_counts(certifier)->by_name[FLAW_G2_ITEM] > 0);
    assert_true(most < 5000);
    certifier_free(certifier);
}

/* ---- Reads of what was not committed ---- */

/* T2 reads version 5 of what T1 wrote and commits; then T1 leaves version `left`, or aborts (0). */
static struct certifier_counts read_early(uint32_t left, bool excuses) {
    int64_t now_ns = 0;
    struct certifier *certifier = certifier_new(CERTIFIER_SER, &now_ns);
    if (excuses) {
        certifier_excuse_aborted_reads(certifier);
    }
    struct node *writer = certifier_begin(certifier, 1), *reader = certifier_begin(certifier, 2);
    struct certifier_read read = {.key = 1, .writer = 1, .number = 5, .dirty = true};
    struct certifier_install install = {.key = 1, .number = left};
    certifier_statement(certifier, writer, 1);
    certifier_statement(certifier, reader, 1);
    certifier_read(certifier, reader, 1, &read);
    certifier_commit(certifier, reader);
    if (left > 0) {
        certifier_install(certifier, writer, &install);
        certifier_commit(certifier, writer);
    } else {
        certifier_abort(certifier, writer);
    }
    struct certifier_counts counts = *certifier_counts(certifier);
    assert_int_equal(counts.unrecoverable, 1);
    certifier_free(certifier);
    return counts;
}

/* What was rolled back, to a savepoint too, can be excused, what its writer replaced cannot; it is counted all the same. */
static void aborted_reads_may_be_excused(void **state) {
    (void)state;
    assert_int_equal(read_early(0, false).broken, 1);
    assert_int_equal(read_early(4, false).broken, 1);
    assert_int_equal(read_early(6, false).broken, 1);
    assert_int_equal(read_early(5, false).anomalies, 0);
    assert_int_equal(read_early(0, true).broken, 0);
    assert_int_equal(read_early(4, true).broken, 0);
    assert_int_equal(read_early(6, true).broken, 1);
    assert_int_equal(read_early(0, true).by_name[FLAW_G1A], 1);
    assert_int_equal(read_early(4, true).anomalies, 1);
}

/* ---- History files ---- */

/* A recorded history is judged as it was while it happened. */
static void recordings_are_judged_alike(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        enum certifier_level level = (enum certifier_level)(seed % CERTIFIER_LEVELS);
        int64_t now_ns = 0;
        struct certifier *certifier = certifier_new(level, &now_ns);
        struct certifier_counts truth;
        FILE *file = tmpfile();
        assert_non_null(file);
        certifier_table(certifier, 0, "t");
        certifier_record(certifier, file);
        naive_play(certifier, level, (enum naive_kind)(seed % NAIVE_KINDS), seed, &truth);
        rewind(file);
        struct recording_verdict verdict;
        struct text error = {0};
        if (!certifier_judge_history(file, "file", CERTIFIER_LEVELS, &verdict, &error)) {
            fail_msg("%s", text_string(&error));
        }
        assert_int_equal(verdict.level, level);
        struct certifier_counts counts = *certifier_counts(certifier);
        counts.false_positives = 0; /* a history file does not tell a refusal from other aborts */
        assert_memory_equal(&verdict.counts, &counts, sizeof counts);
        assert_string_equal(text_string(&verdict.witness), certifier_witness(certifier));
        recording_verdict_free(&verdict);
        certifier_free(certifier);
        fclose(file);
    }
}

static void refuses_what_is_no_history(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "h:0: this is no history"},
        {"r1(x) c1\n", "h:1: this is no history"},
        {"ccsim-history 1\n", "ends after its first line"},
        {"ccsim-history 1\nlevel SERIAL\n", "h:2: the second line"},
        {"ccsim-history 1\nlevel SER\nz 1\n", "h:3: no event"},
        {"ccsim-history 1\nlevel SER\nb 0\n", "h:3: transactions are numbered"},
        {"ccsim-history 1\nlevel SER\nb 2\nb 1\n", "h:4: transactions are numbered"},
        {"ccsim-history 1\nlevel SER\nc 1\n", "h:3: that transaction is not under way"},
        {"ccsim-history 1\nlevel SER\nb 1\nr 1 1 0 1 0 0\n", "h:4: that is not the transaction's current statement"},
        {"ccsim-history 1\nlevel SER\nb 1\ns 1 1\nr 1 1 0 1 5 0\n", "h:5: the writer has not begun"},
        {"ccsim-history 1\nlevel SER\nb 1\ns 1 1\nr 1 1 0 1 0 0 blue\n", "dirty, dead, kept or anew"},
        {"ccsim-history 1\nlevel SER\nb 1\ns 1 1\nr 1 1 99999 1 0 0\n", "out of its bounds"},
        {"ccsim-history 1\nlevel SER\nb 1\nb 2\na 1\ns 2 1\nr 2 1 0 1 1 0\n", "rolled back before"},
        {"ccsim-history 1\nlevel SER\nb 1\ns 1 1\nr 1 1 0 3 0 0\nr 1 1 0 2 0 0\nq 1 1 0 0 9 v true 0 0\n", "ascending"},
        {"ccsim-history 1\nlevel SER\nb 1\ns 1 1\nq 1 1 0 0 9 v ~ 0 0\n", "none of true"},
        {"ccsim-history 1\nlevel SER\nt 5\nt 4\n", "time runs backwards"},
        {"ccsim-history 1\nlevel SER\nb 1 1\n", "goes on after its end"},
        {"ccsim-history 1\nlevel SER\nb 99999999999999999999\n", "a whole number is missing or too large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = tmpfile();
        assert_non_null(file);
        fputs(cases[i].text, file);
        rewind(file);
        struct recording_verdict verdict;
        struct text error = {0};
        assert_false(certifier_judge_history(file, "h", CERTIFIER_LEVELS, &verdict, &error));
        assert_contains(text_string(&error), cases[i].message);
        recording_verdict_free(&verdict);
        text_free(&error);
        fclose(file);
    }
}

/* ---- Many rows ---- */

enum { ROWS_MANY = 3000 };

static struct node *begin(struct certifier *certifier, uint64_t *id) {
    struct node *txn = certifier_begin(certifier, ++*id);
    certifier_statement(certifier, txn, 1);
    return txn;
}

/* So many that rows share buckets: somebody who runs all the time keeps all versions. Every reader misses the version
 * above the one it reads, whose writer's other version it sees. */
static void finds_each_of_many_rows(void **state) {
    (void)state;
    const int64_t now_ns = 0;
    struct certifier *certifier = certifier_new(CERTIFIER_SER, &now_ns);
    uint64_t id = 0;
    struct node *keeper = begin(certifier, &id), *readers[ROWS_MANY];
    uint64_t before = id;
    for (int i = 0; i < ROWS_MANY; i++) {
        struct node *writer = begin(certifier, &id);
        certifier_install_row(certifier, writer, (uint16_t)(i % 2), i / 2, 0, 0, 1, 1);
        certifier_commit(certifier, writer);
    }
    for (int i = 0; i < ROWS_MANY; i++) {
        uint16_t table = (uint16_t)(i % 2);
        uint64_t first = before + 1 + (uint64_t)i;
        struct node *reader = begin(certifier, &id);
        certifier_read_row(certifier, reader, 1, table, i / 2, first, 1);
        struct node *writer = begin(certifier, &id);
        certifier_install_row(certifier, writer, table, i / 2, first, 1, 2, 1);
        certifier_install_row(certifier, writer, 2, i, 0, 0, 2, 1);
        certifier_commit(certifier, writer);
        certifier_read_row(certifier, reader, 1, 2, i, id, 1);
        readers[i] = reader;
    }
    for (int i = 0; i < ROWS_MANY; i++) {
        certifier_commit(certifier, readers[i]);
        assert_int_equal(certifier_counts(certifier)->anomalies, i + 1);
    }
    assert_int_equal(certifier_counts(certifier)->by_name[FLAW_G_SINGLE], ROWS_MANY);
    certifier_commit(certifier, keeper);
    certifier_free(certifier);
}

TEST_GROUP(certifier, cmocka_unit_test(finds_each_of_many_rows), cmocka_unit_test(aborted_reads_may_be_excused),
           cmocka_unit_test(names_every_anomaly), cmocka_unit_test(rolled_back_reads_count_by_level),
           cmocka_unit_test(agrees_with_the_definitions), cmocka_unit_test(memory_is_bounded_by_concurrency),
           cmocka_unit_test(contended_snapshots_are_bounded), cmocka_unit_test(recordings_are_judged_alike),
           cmocka_unit_test(refuses_what_is_no_history))
