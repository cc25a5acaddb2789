/* test_schedule.c - the notation of schedules: every token, headers, several schedules in a text, and what is wrong
 * with malformed ones, to the byte. */
#include "sim/check/schedule.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "tests/support/harness.h"

static void parse(struct schedule_book *book, const char *text) {
    *book = (struct schedule_book){0};
    schedule_parse(book, "text", text, strlen(text), NULL);
}

/* The only schedule of a good text. */
static const struct schedule *parse_good(struct schedule_book *book, const char *text) {
    parse(book, text);
    if (book->mistake_count > 0) {
        print_error("%s: %s\n", text, book->mistakes[0].sentence);
    }
    assert_int_equal(book->mistake_count, 0);
    assert_int_equal(book->count, 1);
    return &book->schedules[0];
}

/* What was understood, written in one way. */
static void spell_step(const struct schedule *schedule, const struct schedule_step *step, struct text *out) {
    static const char letters[SCHEDULE_KINDS + 1] = "brwusqidpfca";
    text_add(out, "%c%d", letters[step->kind], (int)schedule->txns[step->txn]);
    for (uint32_t i = 0; i < step->row_count; i++) {
        text_add(out, " %s", schedule->rows[schedule->row_list[step->first_row + i]].name);
    }
    if (step->predicate != SCHEDULE_NONE) {
        text_add(out, " %s", schedule->predicates[step->predicate].name);
    }
    if (step->savepoint != SCHEDULE_NONE) {
        text_add(out, " %s", schedule->savepoints[step->savepoint]);
    }
    if (step->target != SCHEDULE_NONE) {
        text_add(out, "@%u", step->target);
    }
    static const char forms[] = {[SCHEDULE_ANY] = '?',
                                 [SCHEDULE_CONSTANT] = '=',
                                 [SCHEDULE_ADD] = '+',
                                 [SCHEDULE_LAST_READ] = '$',
                                 [SCHEDULE_INSIDE] = '@'};
    if (step->kind == SCHEDULE_WRITE || step->kind == SCHEDULE_INSERT) {
        text_add(out, " %c%s%d", forms[step->value.form],
                 step->value.row == SCHEDULE_NONE ? "" : schedule->rows[step->value.row].name,
                 (int)step->value.constant);
    }
    if (step->conditional) {
        text_add(out, " if%d", (int)step->expected);
    }
    text_add(out, "%s%s%s%s%s", step->nowait ? " nowait" : "", step->skip ? " skip" : "", step->read_only ? " ro" : "",
             step->deferrable ? " deferrable" : "", step->immediate ? " immediate" : "");
    if (step->limit > 0) {
        text_add(out, " limit%u", step->limit);
    }
}

static void every_token_is_read(void **state) {
    (void)state;
    static const struct {
        const char *token, *understood;
    } tokens[] = {
        {"b1", "b1"},
        {"b1:ro", "b1 ro"},
        {"b1:deferrable", "b1 ro deferrable"},
        {"b1:ro:deferrable", "b1 ro deferrable"},
        {"b1:immediate", "b1 immediate"},
        {"r1(x)", "r1 x"},
        {"r12(x)", "r12 x"},
        {"r0(x)", "r0 x"},
        {"r01(x)", "r1 x"},
        {"r999999999(x)", "r999999999 x"},
        {"r1(x,y)", "r1 x y"},
        {"r1( x , y,a_1 )", "r1 x y a_1"},
        {"w1(x)", "w1 x ?0"},
        {"w1(x,5)", "w1 x =5"},
        {"w1(x,-5)", "w1 x =-5"},
        {"w1(x,+5)", "w1 x =5"},
        {"w1(x,+=5)", "w1 x +5"},
        {"w1(x,-=5)", "w1 x +-5"},
        {"w1(x,$y+1)", "w1 x $y1"},
        {"w1(x,$y-2)", "w1 x $y-2"},
        {"w1(x,$y)", "w1 x $y0"},
        {"w1(x,@y+1)", "w1 x @y1"},
        {"w1(x,5,if=3)", "w1 x =5 if3"},
        {"w1(x,if=3)", "w1 x ?0 if3"},
        {"w1(x,+=1,if=-3)", "w1 x +1 if-3"},
        {"w1( x, 5 , if = 3 )", "w1 x =5 if3"},
        {"w1(P,5)", "w1 P =5"},
        {"w1(P)", "w1 P ?0"},
        {"w1(Pay,+=5,if=1)", "w1 Pay +5 if1"},
        {"u1(x)", "u1 x"},
        {"u1(x,y)", "u1 x y"},
        {"s1(x)", "s1 x"},
        {"u1(x):nowait", "u1 x nowait"},
        {"s1(x):skip", "s1 x skip"},
        {"u1(P)", "u1 P"},
        {"u1(P):skip:1", "u1 P skip limit1"},
        {"u1(P):1:skip", "u1 P skip limit1"},
        {"u1(P):20", "u1 P limit20"},
        {"s1(P):nowait", "s1 P nowait"},
        {"q1(P)", "q1 P"},
        {"q1(P):2", "q1 P limit2"},
        {"i1(z,5)", "i1 z =5"},
        {"i1(z)", "i1 z ?0"},
        {"i1(z,$y+1)", "i1 z $y1"},
        {"d1(x)", "d1 x"},
        {"d1(P)", "d1 P"},
        {"p1(s)", "p1 s"},
        {"c1", "c1"},
        {"a1", "a1"},
    };
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        struct schedule_book book;
        struct text out = {0};
        const struct schedule *schedule = parse_good(&book, tokens[i].token);
        assert_int_equal(schedule->step_count, 1);
        spell_step(schedule, &schedule->steps[0], &out);
        assert_string_equal(text_string(&out), tokens[i].understood);
        assert_int_equal(schedule->steps[0].length, strlen(tokens[i].token));
        text_free(&out);
        schedule_book_free(&book);
    }
}

static void steps_know_their_places(void **state) {
    (void)state;
    struct schedule_book book;
    const struct schedule *schedule = parse_good(&book, "# a comment\n\n  \nr1(x)\tw2(y,5) # and more\n  c1   c2\n");
    static const uint32_t lines[] = {4, 4, 5, 5}, columns[] = {1, 7, 3, 8}, lengths[] = {5, 7, 2, 2};
    assert_int_equal(schedule->step_count, 4);
    assert_int_equal(schedule->line, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(schedule->steps[i].line, lines[i]);
        assert_int_equal(schedule->steps[i].column, columns[i]);
        assert_int_equal(schedule->steps[i].length, lengths[i]);
    }
    assert_memory_equal(schedule->steps[1].text, "w2(y,5)", 7);
    schedule_book_free(&book);
}

static const struct schedule_row *row_named(const struct schedule *schedule, const char *name) {
    for (size_t i = 0; i < schedule->row_count; i++) {
        if (strcmp(schedule->rows[i].name, name) == 0) {
            return &schedule->rows[i];
        }
    }
    fail_msg("no row %s", name);
    return NULL;
}

static void rows_have_ids_and_values(void **state) {
    (void)state;
    struct schedule_book book;
    const struct schedule *schedule = parse_good(&book, "r1(b) r1(y) r1(a) r1(x)");
    static const struct {
        const char *name;
        int64_t id;
    } plain[] = {{"x", 1}, {"y", 2}, {"b", 4}, {"a", 5}}, given[] = {{"b", 4}, {"a", 7}, {"c", 6}, {"x", 5}, {"d", 8}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(row_named(schedule, plain[i].name)->id, plain[i].id);
        assert_true(row_named(schedule, plain[i].name)->present);
        assert_int_equal(row_named(schedule, plain[i].name)->value, 0);
    }
    schedule_book_free(&book);
    schedule = parse_good(&book, "id x=5 a=7\ninit x=10, b=-3\nr1(b,a,c) w1(x,$d)");
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(row_named(schedule, given[i].name)->id, given[i].id);
    }
    assert_true(schedule->with_init && row_named(schedule, "x")->present && row_named(schedule, "b")->present);
    assert_int_equal(row_named(schedule, "x")->value, 10);
    assert_int_equal(row_named(schedule, "b")->value, -3);
    assert_false(row_named(schedule, "a")->present);
    assert_false(row_named(schedule, "d")->present);
    schedule_book_free(&book);
}

static void conditions_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        struct condition condition;
    } conditions[] = {
        {"P: true",
         {
             .operator= CONDITION_TRUE } },
         {"pred P: v%3=0", {.operator= CONDITION_EQ, .modulus = 3}},
         {"pred P: v % 3 == 1", {.operator= CONDITION_EQ, .modulus = 3, .constant = 1}},
         {"P:v>=10", {.operator= CONDITION_GE, .constant = 10}},
         {"P: v > -1", {.operator= CONDITION_GT, .constant = -1}},
         {"P: id<=2", {.operator= CONDITION_LE, .of_id = true, .constant = 2}},
         {"P : id<2 # small", {.operator= CONDITION_LT, .of_id = true, .constant = 2}},
         {"P: v!=2", {.operator= CONDITION_NE, .constant = 2}}, {"P: v<>2", {.operator= CONDITION_NE, .constant = 2}},
        };
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        struct schedule_book book;
        struct text text = {0};
        text_add(&text, "%s\nq1(P) q1(Other)", conditions[i].text);
        const struct schedule *schedule = parse_good(&book, text_string(&text));
        const struct schedule_predicate *predicate = &schedule->predicates[0];
        assert_string_equal(predicate->name, "P");
        assert_true(predicate->declared);
        assert_int_equal(predicate->condition.operator, conditions[i].condition.operator);
        assert_int_equal(predicate->condition.of_id, conditions[i].condition.of_id);
        assert_int_equal(predicate->condition.modulus, conditions[i].condition.modulus);
        assert_int_equal(predicate->condition.constant, conditions[i].condition.constant);
        assert_false(schedule->predicates[1].declared);
        assert_int_equal(schedule->predicates[1].condition.operator, CONDITION_TRUE);
        text_free(&text);
        schedule_book_free(&book);
    }
}

static void a_text_holds_many_schedules(void **state) {
    (void)state;
    struct schedule_book book;
    parse(&book, "init x=1\npred P: v>1\nr1(x) q1(P)\n\nr2(x)\n  c2\ninit y=2\nP: v>2\nr3(x)\n q3(P)\n");
    assert_int_equal(book.mistake_count, 0);
    assert_int_equal(book.count, 3);
    assert_int_equal(book.schedules[1].step_count, 2);
    assert_int_equal(book.schedules[1].line, 5);
    assert_int_equal(book.schedules[0].predicates[0].condition.constant, 1);
    assert_int_equal(book.schedules[2].predicates[0].condition.constant, 2);
    assert_true(row_named(&book.schedules[1], "x")->present);
    assert_false(row_named(&book.schedules[2], "x")->present);
    assert_true(row_named(&book.schedules[2], "y")->present);
    schedule_book_free(&book);
}

static void arguments_replace_headers(void **state) {
    (void)state;
    static const char *const inits[] = {"x=5", "y=6"}, *const predicates[] = {"P: v=5"};
    static const char text[] = "init x=1 z=3\npred P: v>1\npred Q: v>2\nq1(P) q1(Q) r1(x,y,z)";
    struct schedule_header header = {.inits = inits, .init_count = 2, .predicates = predicates, .predicate_count = 1};
    struct schedule_book book = {0};
    schedule_parse(&book, "text", text, strlen(text), &header);
    assert_int_equal(book.mistake_count, 0);
    const struct schedule *schedule = &book.schedules[0];
    assert_int_equal(row_named(schedule, "x")->value, 5);
    assert_int_equal(row_named(schedule, "y")->value, 6);
    assert_false(row_named(schedule, "z")->present);
    assert_int_equal(schedule->predicates[0].condition.operator, CONDITION_EQ);
    assert_int_equal(schedule->predicates[1].condition.operator, CONDITION_GT);
    schedule_book_free(&book);
}

static void savepoints_are_found(void **state) {
    (void)state;
    struct schedule_book book;
    const struct schedule *schedule = parse_good(&book, "p1(s) p1(t) p2(s) p1(s) f1(s) f1(t) f1(s) f2(s)");
    static const uint32_t targets[] = {3, 1, 0, 2};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(schedule->steps[4 + i].target, targets[i]);
    }
    schedule_book_free(&book);
}

/* --- what is wrong --- */

static const struct {
    const char *text, *message;
} malformed[] = {
    {"k1(x)", "1:1: `k' begins no step: a step begins with one of b r w u s q i d p f c a"},
    {"R1(x)", "1:1: `R' begins no step; did you mean r?"},
    {"r1(x) \xc3\xa9", "1:7: no step begins with this byte, 0xc3"},
    {"r(x)", "1:2: expected the number of a transaction after `r'"},
    {"r9999999999(x)", "1:2: a transaction's number is at most 999999999"},
    {"r1", "1:3: expected `(' after r1"},
    {"r1x", "1:3: expected `(' after r1"},
    {"r1[x]", "1:3: expected `(' after r1"},
    {"r1(", "1:4: expected a row"},
    {"r1()", "1:4: expected a row"},
    {"r1(x", "1:5: expected `,' or `)'"},
    {"r1(x,)", "1:6: expected a row"},
    {"r1(x;y)", "1:5: expected `,' or `)'"},
    {"r1(x y)", "1:6: expected `,' or `)'"},
    {"r1(x,x)", "1:6: x stands here twice"},
    {"r1(P)", "1:4: P is a predicate, and r reads rows by name; did you mean q1(P)?"},
    {"r1(x,P)", "1:6: expected a row, in lower case"},
    {"q1(x)", "1:4: x is a row, and q asks with a predicate; did you mean r1(x)?"},
    {"q1()", "1:4: expected a predicate, in upper case"},
    {"i1(P,5)", "1:4: P is a predicate, and i inserts a row by name"},
    {"w1(x,y)", "1:6: expected a value; what was last read of y is $y, what it has now @y"},
    {"w1(x,$)", "1:7: expected a row"},
    {"w1(x,@Q)", "1:7: expected a row, in lower case"},
    {"w1(x,5,6)", "1:8: expected if= and a value, or `)'"},
    {"w1(x,5,if=)", "1:11: expected the value that if= compares with, a whole number"},
    {"w1(x,+5x)", "1:8: expected `)'"},
    {"w1(x,5)r2(x)", "1:8: expected a blank after w1(x,5)"},
    {"w1(x,9999999999999)", "1:6: a value lies between -1000000000000 and 1000000000000"},
    {"w1(x,+=)", "1:8: expected what is added, a whole number"},
    {"w1(x,$y+)", "1:8: expected what is added, a whole number"},
    {"i1(x,+=1)", "1:6: a row that is inserted has no value to add to"},
    {"i1(x,5,if=3)", "1:8: only writes, `w', have a condition"},
    {"d1(x,5)", "1:5: expected `)'"},
    {"u1(x):nowiat", "1:7: `nowiat' is none of nowait, skip or a limit; did you mean nowait?"},
    {"u1(x):1", "1:7: a limit needs a predicate: which rows are asked for by name is plain"},
    {"u1(P):0", "1:7: a limit is a number from 1 to 999999999"},
    {"u1(P):1:2", "1:9: there is a limit already"},
    {"u1(P):skip:skip", "1:12: skip stands here already"},
    {"u1(P):skip:nowait", "1:12: nowait and skip exclude each other"},
    {"q1(P):skip", "1:7: `skip' is no limit, a number"},
    {"b1:or", "1:4: `or' is none of ro, deferrable, immediate, ru, rc, rr, si, ser; did you mean ro?"},
    {"b1:ro:immediate", "1:7: immediate is for a transaction that writes, ro and deferrable for one that does not"},
    {"c1(x)", "1:3: expected a blank after c1"},
    {"p1()", "1:4: expected the savepoint's name"},
    {"f1(s)", "1:1: T1 has no savepoint s here"},
    {"p1(save) f1(sawe)", "1:10: T1 has no savepoint sawe here; did you mean save?"},
    {"p1(s) c1 b1 f1(s)", "1:13: T1 has no savepoint s here"},
    {"p1(s) p1(t) f1(s) f1(t)", "1:19: T1 has no savepoint t here"},
    {"inti x=10", "1:1: `inti' is neither a step nor a header line; did you mean init?"},
    {"init x", "1:7: expected `=' and the value of x"},
    {"init x=", "1:8: expected a value, a whole number"},
    {"init x=1 x=2", "1:10: x has a value already"},
    {"init X=1", "1:6: expected a row and its value, such as x=10"},
    {"init x=1;y=2", "1:9: expected a blank or `,' after the value of x"},
    {"pred p: v>1", "1:6: expected a predicate's name in upper case, such as P: v>=10"},
    {"pred P v>1", "1:8: expected `:' after the predicate's name"},
    {"P: w>1", "1:4: expected v (the value), id or true"},
    {"P: tru", "1:4: expected v (the value), id or true; did you mean true?"},
    {"P: v", "1:5: expected a comparison: = != < <= > >="},
    {"P: v%0=1", "1:6: the divisor is at least 1"},
    {"P: v>x", "1:6: expected the constant to compare with, a whole number"},
    {"P: v>1 and v<3", "1:8: nothing may follow the condition of P"},
    {"id x", "1:5: expected `=' and the id of x"},
    {"id y=1\nr1(x,y)", "1:4: x and y have the same id"},
    {"", "1:1: there is no schedule here"},
    {"# nothing", "1:1: there is no schedule here"},
};

static void mistakes_are_told_to_the_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct schedule_book book;
        char message[256];
        parse(&book, malformed[i].text);
        assert_true(book.mistake_count > 0);
        const struct schedule_mistake *mistake = &book.mistakes[0];
        snprintf(message, sizeof message, "%u:%u: %s", mistake->line, mistake->column, mistake->sentence);
        assert_string_equal(mistake->source, "text");
        assert_string_equal(message, malformed[i].message);
        assert_int_equal(book.mistake_count, 1);
        schedule_book_free(&book);
    }
}

static void all_mistakes_are_told_at_once(void **state) {
    (void)state;
    struct schedule_book book;
    static const uint32_t lines[] = {1, 2, 2, 4}, columns[] = {8, 2, 16, 10};
    parse(&book, "init x=a\nr(x) w1(x,5) c1x\n# fine\nr2(x) q2(y)\n");
    assert_int_equal(book.mistake_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(book.mistakes[i].line, lines[i]);
        assert_int_equal(book.mistakes[i].column, columns[i]);
    }
    schedule_book_free(&book);
}

static void what_is_too_much_is_said(void **state) {
    (void)state;
    struct schedule_book book;
    struct text text = {0};
    text_add(&text, "r1(");
    for (int i = 0; i < 101; i++) {
        text_add(&text, "%sx%d", i > 0 ? "," : "", i);
    }
    text_add(&text, ") r2(");
    for (int i = 0; i < 65; i++) {
        text_add(&text, "x");
    }
    text_add(&text, ")\n");
    parse(&book, text_string(&text));
    assert_int_equal(book.mistake_count, 2);
    assert_string_equal(book.mistakes[0].sentence, "a step has at most 100 rows");
    assert_string_equal(book.mistakes[1].sentence, "names have at most 64 letters");
    schedule_book_free(&book);
    text_clear(&text);
    for (int i = 0; i < SCHEDULE_STEPS_MAX + 2; i++) {
        text_add_bytes(&text, "c1 ", 3);
    }
    parse(&book, text_string(&text));
    assert_int_equal(book.mistake_count, 1);
    assert_string_equal(book.mistakes[0].sentence, "a schedule has at most 1000000 steps");
    assert_int_equal(book.mistakes[0].column, 3 * SCHEDULE_STEPS_MAX + 1);
    schedule_book_free(&book);
    text_clear(&text);
    for (int i = 0; i < 2 * SCHEDULE_MISTAKES_MAX; i++) {
        text_add_bytes(&text, "k ", 2);
    }
    parse(&book, text_string(&text));
    assert_int_equal(book.mistake_count, SCHEDULE_MISTAKES_MAX);
    schedule_book_free(&book);
    text_free(&text);
}

static void schedules_are_told_from_files(void **state) {
    (void)state;
    static const char *const schedules[] = {"r1(x)", "c1", "b1 c1", "P: true\nq1(P)", "a12", "b1:foo", ""};
    static const char *const files[] = {"a.txt", "configs/schedules/seat.txt", "c", "bank", "c1.txt"};
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
        assert_true(schedule_looks_like(schedules[i]));
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_false(schedule_looks_like(files[i]));
    }
}

TEST_GROUP(schedule, cmocka_unit_test(every_token_is_read), cmocka_unit_test(steps_know_their_places),
           cmocka_unit_test(rows_have_ids_and_values), cmocka_unit_test(conditions_are_read),
           cmocka_unit_test(a_text_holds_many_schedules), cmocka_unit_test(arguments_replace_headers),
           cmocka_unit_test(savepoints_are_found), cmocka_unit_test(mistakes_are_told_to_the_byte),
           cmocka_unit_test(all_mistakes_are_told_at_once), cmocka_unit_test(what_is_too_much_is_said),
           cmocka_unit_test(schedules_are_told_from_files))
