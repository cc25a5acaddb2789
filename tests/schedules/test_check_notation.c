/* test_check_notation.c - what the less plain steps read and write, by hand: each schedule with what must be found, and
 * why. The letters of the properties that do not hold: C recoverable, A cascadeless, S strict, R rigorous. */
#include <string.h>

#include "sim/check/judge.h"
#include "tests/support/harness.h"

static const struct {
    const char *schedule, *order, *properties, *found;
} cases[] = {
    /* SKIP LOCKED passes over x, which T1 holds: T2 has not read it. */
    {"u1(x) u2(x):skip w1(x) c1 c2", "1 2", "", ""},
    {"u1(x) u2(x) w1(x) c1 c2", "2 1", "R", "P2"},
    {"u1(x) u2(x):nowait w1(x) c1 c2", "1 2", "", ""},
    /* Two share locks go together: T2 reads x. */
    {"s1(x) s2(x):skip w1(x) c1 c2", "2 1", "R", "P2"},
    {"s1(x) u2(x):skip w1(x) c1 c2", "1 2", "", ""},
    /* With LIMIT or SKIP LOCKED there is no scan, only reads of the rows obtained: x, the one with the smallest id. */
    {"q1(P) i2(y,1) c2 r1(x) c1", "1 2", "", "P3"},
    {"q1(P):1 i2(y,1) c2 r1(x) c1", "1 2", "", ""},
    {"q1(P):1 w2(y) w3(x) c1 c2 c3", "1 2 3", "R", "P2"},
    {"u1(x) u2(P):skip:1 w3(y) c1 c2 c3", "1 2 3", "R", "P2"},
    /* += reads its row in the same instant: nothing can come between, so no update is lost. */
    {"w1(x,+=1) w2(x,+=1) c1 c2", "1 2", "ASR", "P0 P1 P2"},
    {"r1(x) r2(x) w1(x,$x+1) w2(x,$x+1) c1 c2", "cycle", "SR", "P0 P2 P4 G-single G2-item G2"},
    /* @y reads y when x is written, $y when it was read. */
    {"r2(x) w1(x,@y+1) w2(y) c1 c2", "cycle", "R", "P2 A5B G2-item G2"},
    {"r2(x) w1(x,$y+1) w2(y) c1 c2", "2 1", "R", "P2"},
    /* if= compares with what is known: x is 0, so nothing is written, yet x has been read. */
    {"w1(x,5,if=3) w2(x) c1 c2", "1 2", "R", "P2"},
    {"w1(x,5,if=0) w2(x) c1 c2", "1 2", "SR", "P0 P2"},
    {"w1(x,1,if=0) w2(x,1,if=0) c1 c2", "1 2", "ASR", "P1"},
    /* What a savepoint takes back makes no edge, what was read does. */
    {"p1(s) w1(x) f1(s) w2(x) c2 c1", "1 2", "", ""},
    {"p1(s) r1(x) f1(s) r2(y) w2(x,7) c2 w1(y,5) c1", "cycle", "R", "P2 A5B G2-item G2"},
    {"p1(s) w1(x,+=5) f1(s) r2(y) w2(x,7) c2 w1(y,5) c1", "cycle", "R", "P2 A5B G2-item G2"},
    {"p1(s) w1(x) r2(x) f1(s) c1 c2", "1 2", "CASR", "P1 G1a"},
    {"w1(x) p1(s) w1(x) f1(s) r2(x) c1 c2", "1 2", "ASR", "P1"},
    /* A scan that misses x because of a deletion that is not committed has read from it. */
    {"d1(x) q2(P) c2 a1", "2", "CASR", "P1 G1a"},
    {"i1(x) q2(P) c2 a1", "2", "CASR", "P1 G1a"}, /* its twin */
    {"d1(x) c1 q2(P) i3(x) c3 q2(P) c2", "cycle", "", "P3 G-single G2"},
    /* A predicate is told from values: 5 does not match, 15 does; a value that is not told may. */
    {"P: v>=10\nq1(P) i2(z,5) c2 q1(P) c1", "1 2", "", ""},
    {"P: v>=10\nq1(P) i2(z,15) c2 q1(P) c1", "cycle", "", "P3 G-single G2"},
    {"P: v>=10\nq1(P) i2(z) c2 q1(P) c1", "cycle", "", "P3 G-single G2"},
    {"P: v>=10\ninit x=12\nq1(P) w2(x,11) c2 c1", "1 2", "R", "P2 P3"},
    {"P: v>=10\ninit x=2\nq1(P) w2(x,3) c2 c1", "1 2", "", ""},
    {"P: id<=2\nq1(P) w2(z) c2 c1", "1 2", "", ""},
    /* An update by predicate reads and writes what matches. */
    {"P: v=0\nw1(P,5) c1 w2(P,6) r2(x) c2", "1 2", "", ""},
    {"P: v=0\ninit x=0 y=1\nw1(P,5) w2(y) c1 c2", "1 2", "", "P3"},
    /* Phantoms both ways: only predicates are in the cycle. */
    {"q1(P) q2(P) i1(y,1) i2(z,1) c1 c2", "cycle", "", "P3 G2"},
    /* Another attempt is another transaction; who has not ended is left out. */
    {"w1(x) a1 b1 w1(y) c1 r2(x) c2", "1 2", "", ""},
    {"r1(x) w2(x) c2 w1(x)", "2", "R", "P2"},
    {"w1(x) r2(x) c2", "2", "CASR", "P1 G1a"},
    {"w1(x) r2(x) r1(x) a2", "", "ASR", "P1"}, /* nobody committed */
};

static bool wanted(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static void expect(const char *schedule, const char *what, bool is, bool should) {
    if (is != should) {
        print_error("%s: %s %s\n", schedule, what, is ? "holds" : "does not hold");
        fail();
    }
}

static void expect_order(const char *schedule, const char *order, const struct verdict *verdict) {
    struct text spelled = {0};
    for (size_t i = 0; i < verdict->order_count; i++) {
        text_add(&spelled, "%s%d", i > 0 ? " " : "", (int)verdict->order[i]);
    }
    bool serializable = verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES;
    expect(schedule, "a cycle", !serializable, strcmp(order, "cycle") == 0);
    expect(schedule, text_string(&spelled), serializable, strcmp(order, text_string(&spelled)) == 0);
    text_free(&spelled);
}

static void steps_read_and_write_what_they_should(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = cases[i].schedule;
        struct schedule_book book = {0};
        struct verdict verdict;
        schedule_parse(&book, "case", text, strlen(text), NULL);
        assert_int_equal(book.mistake_count, 0);
        assert_true(judge(&verdict, &book.schedules[0]));
        expect_order(text, cases[i].order, &verdict);
        for (enum judge_property p = JUDGE_RECOVERABLE; p <= JUDGE_RIGOROUS; p++) {
            bool broken = strchr(cases[i].properties, "CASR"[p - JUDGE_RECOVERABLE]) != NULL;
            expect(text, property_texts[p].name, verdict.properties[p] == JUDGE_YES, !broken);
        }
        for (enum anomaly_name name = 0; name < ANOMALY_COUNT; name++) {
            expect(text, anomaly_texts[name].name, verdict.anomalies[name].found,
                   wanted(cases[i].found, anomaly_texts[name].name));
        }
        verdict_free(&verdict);
        schedule_book_free(&book);
    }
}

TEST_GROUP(check_notation, cmocka_unit_test(steps_read_and_write_what_they_should))
