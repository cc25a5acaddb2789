/* test_mix.c - programs of a mix against a toy database: steps, values, branches, draws, footprints, invariants.
 * A transcript: r u s q w d i with table, ids (first..last of a scan) and value, `!` at the last lock, p0 f0 savepoints, t
 * application time, c commit, a rollback; behind each statement what it found: =count. */
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/exec/settings.h"
#include "tests/support/fit.h"
#include "tests/support/harness.h"
#include "tests/support/rehearsal.h"
#include "tests/support/sections.h"
#include "workloads/workload.h"

enum { ROWS_MAX = 64, STEPS_MAX = 200, SCAN_END = 1000000 };

struct toy_row {
    int table;
    int64_t key, value;
    bool there;
};

struct toy {
    const struct workload_ops *ops;
    void *options, *state, *arguments, *registers;
    struct store store;
    struct toy_row rows[ROWS_MAX], before[ROWS_MAX];
    size_t row_count, row_count_before;
    struct reply_row found[ROWS_MAX];
    struct text said;
    int fail_at; /* the step that is answered with an error; -1: none */
};

static void fill_rows(struct toy *toy) {
    for (int t = 0; t < toy->store.table_count; t++) {
        const struct table *table = &toy->store.tables[t];
        for (int64_t key = 1; key <= table->rows && toy->row_count < ROWS_MAX / 2; key++) {
            toy->rows[toy->row_count++] = (struct toy_row){t, key, table->initial_value, true};
        }
    }
}

static void toy_open(struct toy *toy, const char *text) {
    *toy = (struct toy){.ops = workload_find("mix"), .fail_at = -1};
    toy->options = mem_new(1, toy->ops->options->size);
    sections_compile(toy->ops, toy->options, text);
    toy->state = mem_new(1, toy->ops->state_size);
    toy->arguments = mem_new(1, toy->ops->arguments_size);
    toy->registers = mem_new(1, toy->ops->registers_size);
    store_init(&toy->store, 0, NULL);
    toy->ops->load(toy->state, toy->options, &toy->store, NULL);
    fill_rows(toy);
}

static void toy_close(struct toy *toy) {
    toy->ops->unload(toy->state);
    toy->ops->discard(toy->options);
    store_free(&toy->store);
    mem_free(toy->options);
    mem_free(toy->state);
    mem_free(toy->arguments);
    mem_free(toy->registers);
    text_free(&toy->said);
}

static struct toy_row *toy_row(struct toy *toy, int table, int64_t key) {
    for (size_t i = 0; i < toy->row_count; i++) {
        if (toy->rows[i].table == table && toy->rows[i].key == key) {
            return &toy->rows[i];
        }
    }
    return NULL;
}

static struct toy_row *toy_insert(struct toy *toy, int table, int64_t key) {
    struct toy_row *row = toy_row(toy, table, key);
    if (row == NULL) {
        assert_true(toy->row_count < ROWS_MAX);
        row = &toy->rows[toy->row_count++];
    }
    return row;
}

/* ---- What is said ---- */

static void say_condition(struct text *said, const struct condition *condition) {
    static const char *const signs[] = {[CONDITION_EQ] = "=",  [CONDITION_NE] = "!=", [CONDITION_LT] = "<",
                                        [CONDITION_LE] = "<=", [CONDITION_GT] = ">",  [CONDITION_GE] = ">="};
    if (condition->operator!= CONDITION_TRUE) {
        text_add(said, " %s", condition->of_id ? "id" : "v");
        if (condition->modulus > 0) {
            text_add(said, "%%%d", (int)condition->modulus);
        }
        text_add(said, "%s%d", signs[condition->operator], (int)condition->constant);
    }
}

static char letter_of(const struct step *step) {
    switch (step->kind) {
    case STEP_UPDATE: return 'w';
    case STEP_DELETE: return 'd';
    case STEP_INSERT: return 'i';
    default:
        return step->locking == LOCKING_UPDATE ? 'u' : step->locking == LOCKING_SHARE ? 's' : step->scan ? 'q' : 'r';
    }
}

static void say_rows(struct text *said, const struct step *step) {
    if (step->scan) {
        text_add(said, " %d..%d", (int)step->first, (int)(step->last > SCAN_END ? SCAN_END : step->last));
    } else if (step->extra != NULL && step->extra->keys != NULL) {
        for (int64_t i = 0; i < step->extra->key_count; i++) {
            text_add(said, "%s%d", i == 0 ? " " : ",", (int)step->extra->keys[i]);
        }
    } else {
        text_add(said, " %d", (int)step->first);
    }
}

static void say_statement(struct toy *toy, const struct step *step) {
    struct text *said = &toy->said;
    text_add(said, "%c(%s", letter_of(step), step->table->name);
    say_rows(said, step);
    if (step->kind == STEP_UPDATE || step->kind == STEP_INSERT) {
        text_add(said, " %s%d", step->value == VALUE_ADD ? "+=" : ":=", (int)step->operand);
        if (step->extra != NULL && step->extra->reads_source) {
            text_add(said, "+@%d", (int)step->extra->source);
        }
    }
    say_condition(said, &step->condition);
    if (step->extra != NULL) {
        say_condition(said, &step->extra->also);
    }
    static const char *const patiences[] = {[PATIENCE_NOWAIT] = ":nowait", [PATIENCE_SKIP_LOCKED] = ":skip"};
    text_add(said, ")%s", step->patience == PATIENCE_BLOCK ? "" : patiences[step->patience]);
    if (step->limit > 0) {
        text_add(said, ":%d", step->limit);
    }
    text_add(said, "%s", step->last_lock ? "!" : "");
}

/* ---- What is played ---- */

static bool toy_matches(const struct step *step, const struct toy_row *row) {
    return row != NULL && row->there && condition_holds(&step->condition, row->key, row->value) &&
           (step->extra == NULL || condition_holds(&step->extra->also, row->key, row->value));
}

static void play_row(struct toy *toy, const struct step *step, struct toy_row *row, int64_t operand,
                     struct reply *reply) {
    toy->found[reply->count++] = (struct reply_row){row->key, row->value};
    if (step->kind == STEP_UPDATE) {
        row->value = step->value == VALUE_ADD ? row->value + operand : operand;
    }
    row->there = step->kind != STEP_DELETE;
}

static void play(struct toy *toy, const struct step *step, struct reply *reply) {
    int table = step->table->index;
    int64_t operand = step->operand;
    if (step->extra != NULL && step->extra->reads_source) {
        const struct toy_row *source = toy_row(toy, table, step->extra->source);
        operand += source != NULL && source->there ? source->value : 0;
    }
    if (step->kind == STEP_INSERT) {
        struct toy_row *row = toy_insert(toy, table, step->first);
        *row = (struct toy_row){table, step->first, operand, true};
        reply->count = 1;
        return;
    }
    bool lists = step->extra != NULL && step->extra->keys != NULL;
    for (int64_t i = 0; lists && i < step->extra->key_count; i++) {
        struct toy_row *row = toy_row(toy, table, step->extra->keys[i]);
        if (toy_matches(step, row)) {
            play_row(toy, step, row, operand, reply);
        }
    }
    for (int64_t key = step->first; !lists && key <= step->last && key < ROWS_MAX; key++) {
        struct toy_row *row = toy_row(toy, table, key);
        if (toy_matches(step, row) && (step->limit == 0 || reply->count < step->limit)) {
            play_row(toy, step, row, operand, reply);
        }
    }
}

static void say_step(struct toy *toy, const struct step *step) {
    text_add(&toy->said, "%s", toy->said.length > 0 ? " " : "");
    switch (step->kind) {
    case STEP_THINK: text_add(&toy->said, "t"); break;
    case STEP_SAVEPOINT: text_add(&toy->said, "p%d", step->savepoint); break;
    case STEP_ROLLBACK_TO: text_add(&toy->said, "f%d", step->savepoint); break;
    case STEP_COMMIT: text_add(&toy->said, "c"); break;
    case STEP_ROLLBACK: text_add(&toy->said, "a"); break;
    default: say_statement(toy, step);
    }
}

/* One step, and its reply; false: it was the last. Savepoints are not played. */
static bool toy_step(struct toy *toy, int number, struct reply *reply) {
    struct step step;
    memset(&step, 0xa5, sizeof step); /* programs fill every field */
    toy->ops->next(toy->state, toy->arguments, toy->registers, number > 0 ? reply : NULL, &step);
    say_step(toy, &step);
    bool fails = number == toy->fail_at;
    *reply = (struct reply){.status = fails ? REPLY_ERROR : REPLY_OK, .rows = toy->found};
    if (step.kind <= STEP_INSERT) {
        if (!fails) {
            play(toy, &step, reply);
        }
        text_add(&toy->said, fails ? "=x" : "=%d", (int)reply->count);
    }
    if (step.kind == STEP_COMMIT && !fails) {
        toy->ops->committed(toy->state, toy->arguments, toy->registers);
    }
    return step.kind != STEP_ROLLBACK && (step.kind != STEP_COMMIT || fails);
}

static void toy_draw(struct toy *toy, uint64_t number) {
    struct stream stream;
    stream_open(&stream, &(struct stream_key){1, 1, STREAM_PROGRAM, 1, number});
    toy->ops->draw(toy->state, &(struct draw){&stream, 1, number}, toy->arguments);
}

/* A rollback takes back what was written. */
static const char *toy_run(struct toy *toy, uint64_t number) {
    struct reply reply = {0};
    text_clear(&toy->said);
    toy_draw(toy, number);
    memset(toy->registers, 0, toy->ops->registers_size);
    memcpy(toy->before, toy->rows, sizeof toy->rows);
    toy->row_count_before = toy->row_count;
    for (int i = 0; toy_step(toy, i, &reply); i++) {
        assert_true(i < STEPS_MAX);
    }
    if (toy->said.bytes[toy->said.length - 1] == 'a') {
        memcpy(toy->rows, toy->before, sizeof toy->rows);
        toy->row_count = toy->row_count_before;
    }
    return text_string(&toy->said);
}

/* ---- Steps ---- */

static const char steps_before[] = "[table account]\nrows = 5\nvalue = 10\n[table job]\nrows = 3\n[transaction t]\n"
                                   "let a = uniform(account id=2)\nlet b = uniform(account id=4)\nlet n = 7\n"
                                   "let c[3] = uniform(account id<=3) sorted\nlet d[3] = uniform(5, 5)\n"
                                   "let k = sequence(job)\nlet m = last(job)\nsteps = ";

struct trial {
    const char *steps, *said;
};

static void say_trials(const struct trial *trials, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct text text = {0};
        struct toy toy;
        text_add(&text, "%s%s", steps_before, trials[i].steps);
        toy_open(&toy, text_string(&text));
        assert_string_equal(toy_run(&toy, 9), trials[i].said);
        toy_close(&toy);
        text_free(&text);
    }
}
#define TRIALS(trials) say_trials((trials), sizeof(trials) / sizeof(trials)[0])

static void statements(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"r(account a)", "r(account 2)!=1 c"},
        {"r(account a, b) u(account 9)", "r(account 2,4)=2 u(account 9)!=0 c"},
        {"s(account a):nowait u(account a):skip", "s(account 2):nowait=1 u(account 2):skip!=1 c"},
        {"q(account *)", "q(account 1..5)!=5 c"},
        {"q(account v%3=1 & id<=b)", "q(account 1..4 v%3=1)!=4 c"},
        {"q(account v>=n & v<11 & id>=a & id<=b)", "q(account 2..4 v>=7 v<11)!=3 c"},
        {"u(account id%2=0):skip:1", "u(account 1..5 id%2=0):skip:1!=1 c"},
        {"w(account a, 5)", "w(account 2 :=5)!=1 c"},
        {"w(account a)", "w(account 2 :=9)!=1 c"},
        {"w(account a, +=n) w(account a, -=n+1)", "w(account 2 +=7)=1 w(account 2 +=-8)!=1 c"},
        {"w(account a, 5, if=3)", "w(account 2 :=5 v=3)!=0 c"},
        {"w(account a, -=n, if>=n)", "w(account 2 +=-7 v>=7)!=1 c"},
        {"w(account v=10, +=1) w(account id=b, 0)", "w(account 1..5 +=1 v=10)=5 w(account 4..4 :=0)!=1 c"},
        {"w(account a, @b+n)", "w(account 2 :=7+@4)!=1 c"},
        {"w(account v=10 & id%2=1, @b-1)", "w(account 1..5 :=-1+@4 v=10 id%2=1)!=3 c"},
        {"i(job k, n) d(job k)", "i(job 4 :=7)=1 d(job 4)!=1 c"},
        {"d(job v=0 & id<=2) q(job *) i(job m+2, 0)", "d(job 1..2 v=0)=2 q(job 1..1000000)=1 i(job 6 :=0)!=1 c"},
        {"p(s) w(account a, 1) p(t) f(s) f(t)", "p0 w(account 2 :=1)!=1 p1 f0 f1 c"},
        {"r(account a) think(2ms) think(0)", "r(account 2)!=1 t c"},
        {"r(account a - 2) r(account a-b, b)", "r(account 4)!=1 c"},
    };
    TRIALS(trials);
}

static void values(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"w(account a, 3) r(account a) w(account b, $a-n+1)",
         "w(account 2 :=3)=1 r(account 2)=1 w(account 4 :=-3)!=1 c"},
        {"r(account 9) r(account a, b) w(job 1, $a+$b)", "r(account 9)=0 r(account 2,4)=2 w(job 1 :=20)!=1 c"},
        {"r(account a) r(job a) w(job 1, $account.a + $job.a)", "r(account 2)=1 r(job 2)=1 w(job 1 :=10)!=1 c"},
        {"q(account id<=3) w(job 1, sum + count)", "q(account 1..3)=3 w(job 1 :=33)!=1 c"},
        {"q(account v=0) w(job 1, sum-count-n+number)", "q(account 1..5 v=0)=0 w(job 1 :=2)!=1 c"},
        {"u(job v=0):1 as j w(job j, $j+n) r(account $j+j)", "u(job 1..3 v=0):1=1 w(job 1 :=7)=1 r(account 1)!=1 c"},
        {"u(job v=5):1 as j w(job j, 1) w(job $j+1, 2)", "u(job 1..3 v=5):1=0 w(job 1 :=2)!=1 c"},
        {"r(account c[1]) r(account c[3]) w(job 1, $c[1]+c[3])", "r(account 1)=1 r(account 3)=1 w(job 1 :=13)!=1 c"},
    };
    TRIALS(trials);
}

static void branches_and_loops(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"w(account 9, 1) else rollback", "w(account 9 :=1)!=0 a"},
        {"w(account 9, 1) else commit", "w(account 9 :=1)!=0 c"},
        {"w(account 9, 1) else (i(job 8, 1)) r(job 8)", "w(account 9 :=1)=0 i(job 8 :=1)=1 r(job 8)!=1 c"},
        {"w(account a, 1) else (i(job 8, 1)) r(job 8)", "w(account 2 :=1)=1 r(job 8)!=0 c"},
        {"r(account a) if($a>=n) rollback r(job 1)", "r(account 2)=1 a"},
        {"r(account a) if($a>=n & n<7) rollback r(job 1)", "r(account 2)=1 r(job 1)!=1 c"},
        {"if(n=7) (r(job 1)) else (r(job 2))", "r(job 1)!=1 c"},
        {"if(n!=7) (r(job 1)) else (r(job 2)) think(1s)", "r(job 2)!=1 t c"},
        {"if(n>7) commit else (if(a<b) (r(job a)) else rollback)", "r(job 2)!=1 c"},
        {"each c (r(account c))", "r(account 1)=1 r(account 2)=1 r(account 3)!=1 c"},
        {"each c (u(account c) w(account c, $c+d)) r(job 1)",
         "u(account 1)=1 w(account 1 :=15)=1 u(account 2)=1 w(account 2 :=15)=1 u(account 3)=1 w(account 3 :=15)=1 "
         "r(job 1)!=1 c"},
        {"each c (r(account c)) each c (w(account c, $c+c))",
         "r(account 1)=1 r(account 2)=1 r(account 3)=1 w(account 1 :=11)=1 w(account 2 :=12)=1 w(account 3 :=13)!=1 c"},
        {"each c (if(round=2) (r(job round + 1)))", "r(job 3)=1 c"},
        {"each c (if(c=2) rollback r(account c))", "r(account 1)=1 a"},
    };
    TRIALS(trials);
}

/* A statement that fails takes its else, or rolls back; so does a commit that fails. */
static void failures(void **state) {
    (void)state;
    static const struct {
        const char *steps, *said;
        int fail_at;
    } trials[] = {
        {"u(account a):nowait r(job 1)", "u(account 2):nowait=x a", 0},
        {"u(account a):nowait else (r(job 1)) r(job 2)", "u(account 2):nowait=x r(job 1)=1 r(job 2)!=1 c", 0},
        {"r(job 1) i(job 2, 5) else commit", "r(job 1)=1 i(job 2 :=5)!=x c", 1},
        {"r(job 1)", "r(job 1)!=1 c a", 1},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct text text = {0};
        struct toy toy;
        text_add(&text, "%s%s", steps_before, trials[i].steps);
        toy_open(&toy, text_string(&text));
        toy.fail_at = trials[i].fail_at;
        assert_string_equal(toy_run(&toy, 1), trials[i].said);
        toy_close(&toy);
        text_free(&text);
    }
}

/* Before the first step, and after each. */
static void what_is_left(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"r(account a) w(account a, 1) r(account b)", "2 2 1 0 0"},
        {"q(account *) r(account a)", "6 1 0 0"},
        {"each c (u(account c) w(account c, 1)) r(account b)", "4 4 3 3 2 2 1 0 0"},
        {"r(account b) each c (r(account c))", "4 3 2 1 0 0"},
        {"r(account b) each c (r(account c) r(account b))", "4 4 3 2 2 1 1 0 0"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct text text = {0}, left = {0};
        struct toy toy;
        struct reply reply = {0};
        text_add(&text, "%s%s", steps_before, trials[i].steps);
        toy_open(&toy, text_string(&text));
        toy_draw(&toy, 1);
        bool more = true;
        for (int k = 0; more; k++) {
            text_add(&left, "%s%d", k > 0 ? " " : "", (int)toy.ops->remaining(toy.state, toy.arguments, toy.registers));
            more = toy_step(&toy, k, &reply);
        }
        text_add(&left, " %d", (int)toy.ops->remaining(toy.state, toy.arguments, toy.registers));
        assert_string_equal(text_string(&left), trials[i].said);
        toy_close(&toy);
        text_free(&text);
        text_free(&left);
    }
}

static void footprints(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"r(account a) w(account b, $a+1) u(job 1)", "account 2 0 account 4 2 job 1 1"},
        {"each c (s(account c)) w(account a, @b)", "account 1 0 account 2 0 account 3 0 account 4 0 account 2 2"},
        {"q(account v=n & id>=2) i(job 9, 0)", "account 2..5 0 job 9 3"},
        {"r(account a-b)", ""},
        {"u(job *):1 as j w(job j, 1)", "unknown"},
        {"i(job k, 1)", "unknown"},
        {"r(account a) w(job $a, 1)", "unknown"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct text text = {0}, said = {0};
        struct toy toy;
        struct planned items[8];
        text_add(&text, "%s%s", steps_before, trials[i].steps);
        toy_open(&toy, text_string(&text));
        toy_draw(&toy, 1);
        size_t count = toy.ops->plan(toy.state, toy.arguments, items, 8);
        assert_int_equal(toy.ops->plans(toy.options), count != PLAN_UNKNOWN);
        for (size_t k = 0; count != PLAN_UNKNOWN && k < count; k++) {
            text_add(&said, "%s%s %d", k > 0 ? " " : "", items[k].table->name, (int)items[k].key);
            if (items[k].scan) {
                text_add(&said, "..%d", (int)items[k].last);
            }
            text_add(&said, " %d", (int)items[k].use);
        }
        assert_string_equal(count == PLAN_UNKNOWN ? "unknown" : text_string(&said), trials[i].said);
        toy_close(&toy);
        text_free(&text);
        text_free(&said);
    }
}

/* ---- Draws ---- */

static void draws_have_their_distributions(void **state) {
    (void)state;
    enum { TRIALS_COUNT = 40000 };
    struct toy toy;
    toy_open(&toy, "[table t]\nrows = 5\n[table big]\nrows = 1000\n[transaction x]\nweight = 3\nrollback = 25%\n"
                   "let a = uniform(t)\nlet b = zipf(t, 1) not a\nlet h = hot(big, 90%, 1%)\nlet n = uniform(1, 4)\n"
                   "let p = chance(30%)\nlet s[3] = uniform(t) sorted\nlet z[2] = zipf(t, 1) not a\n"
                   "steps = r(t a) r(t b) r(big h) r(t n) w(t 1, p) r(t s[1]) r(t s[2]) r(t s[3]) r(t z[1]) r(t z[2])\n"
                   "[transaction y]\nsteps = q(t *)\n");
    enum { BIG = 1000, HOT = 10 };
    uint64_t big[BIG] = {0};
    double big_expected[BIG];
    int64_t x = 0, rolled = 0, first = 0, hot = 0, one = 0, heads = 0, low = 0, b_first = 0, a_other = 0;
    for (uint64_t n = 1; n <= TRIALS_COUNT; n++) {
        const char *said = toy_run(&toy, n);
        int a, b, h, m, p, s[3], z[2];
        if (said[0] == 'q') {
            continue;
        }
        x++;
        assert_int_equal(sscanf(said,
                                "r(t %d)=1 r(t %d)=1 r(big %d)=%*d r(t %d)=1 w(t 1 :=%d)=1 r(t %d)=1 r(t %d)=1 r(t "
                                "%d)=1 r(t %d)=1 r(t %d)",
                                &a, &b, &h, &m, &p, &s[0], &s[1], &s[2], &z[0], &z[1]),
                         10);
        assert_true(a != b && z[0] != a && z[1] != a && z[0] != z[1]);
        assert_true(s[0] >= 1 && s[0] < s[1] && s[1] < s[2] && s[2] <= 5);
        rolled += rehearsal_ends_with(said, " a");
        first += a == 1;
        assert_in_range(h, 1, BIG);
        hot += h <= HOT;
        big[h - 1]++;
        one += m == 1;
        heads += p == 1;
        low += s[0] == 1;
        a_other += a != 1;
        b_first += a != 1 && b == 1;
    }
    rehearsal_assert_share(x, TRIALS_COUNT, 0.75);
    rehearsal_assert_share(rolled, x, 0.25);
    rehearsal_assert_share(first, x, 0.2);
    rehearsal_assert_share(hot, x, 0.9);
    rehearsal_assert_share(one, x, 0.25);
    rehearsal_assert_share(heads, x, 0.3);
    rehearsal_assert_share(low, x, 0.6); /* 3 of 5 rows */
    for (int i = 0; i < BIG; i++) {
        big_expected[i] = (double)x * (i < HOT ? 0.9 / HOT : 0.1 / (BIG - HOT));
    }
    assert_true(fit_chi_square(big, big_expected, BIG) > FIT_P);
    /* Given a = 2 .. 5 alike: 1 among those left weighs 1 / (137/60 - 1/a). */
    double share = 0;
    for (int a = 2; a <= 5; a++) {
        share += 0.25 / (137.0 / 60 - 1.0 / a);
    }
    rehearsal_assert_share(b_first, a_other, share);
    toy_close(&toy);
}

/* A weight, or a share that rolls back, changes nothing else. */
static void weights_change_no_draw(void **state) {
    (void)state;
    static const char *const weights[] = {"1", "3"};
    struct toy toys[2];
    int64_t counts[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct text text = {0};
        text_add(&text,
                 "[table t]\nrows = 1000\n[transaction x]\nweight = %s\nrollback = %s0%%\nlet a = uniform(t)\n"
                 "steps = r(t a)\n[transaction y]\nlet a = zipf(t, 0.5)\nsteps = w(t a, 1)\n",
                 weights[i], weights[i]);
        toy_open(&toys[i], text_string(&text));
        text_free(&text);
    }
    for (uint64_t n = 1; n <= 4000; n++) {
        const char *said[2] = {toy_run(&toys[0], n), toy_run(&toys[1], n)};
        size_t same = strcspn(said[0], ")");
        counts[0] += said[0][0] == 'r';
        counts[1] += said[1][0] == 'r';
        assert_true(said[0][0] != 'r' || said[1][0] == 'r');
        assert_true(said[0][0] != said[1][0] || strncmp(said[0], said[1], same) == 0);
        assert_true(said[0][0] != 'r' || !rehearsal_ends_with(said[0], " a") || rehearsal_ends_with(said[1], " a"));
    }
    rehearsal_assert_share(counts[0], 4000, 0.5);
    rehearsal_assert_share(counts[1], 4000, 0.75);
    toy_close(&toys[0]);
    toy_close(&toys[1]);
}

static void sequences_go_on(void **state) {
    (void)state;
    struct toy toy;
    toy_open(&toy, "[table t]\nrows = 3\n[transaction x]\nlet m = last(t)\nlet n = sequence(t)\nsteps = i(t n, m)");
    assert_string_equal(toy_run(&toy, 1), "i(t 4 :=3)!=1 c");
    assert_string_equal(toy_run(&toy, 1), "i(t 5 :=4)!=1 c");
    toy_close(&toy);
}

/* ---- Types and invariants ---- */

static void types_have_names_levels_and_policies(void **state) {
    (void)state;
    struct toy toy;
    toy_open(&toy, "[table t]\nrows = 3\n[transaction x]\nsteps = r(t 1)\n[transaction y]\nweight = 0\nsteps = r(t 1)\n"
                   "[transaction z]\nweight = 0\nsteps = r(t 1)");
    assert_int_equal(toy.ops->type_count(toy.options), 3);
    assert_string_equal(toy.ops->type_name(toy.options, 2), "z");
    for (uint64_t n = 1; n <= 100; n++) {
        toy_draw(&toy, n);
        assert_int_equal(toy.ops->type_of(toy.state, toy.arguments), 0);
    }
    assert_int_equal(toy.ops->isolation(toy.state, toy.arguments), LEVEL_OWN);
    assert_int_equal(toy.ops->declares(toy.state, toy.arguments), DECLARES_NOTHING);
    assert_null(toy.ops->retry(toy.state, toy.arguments)->delay);
    assert_int_equal(toy.ops->retry(toy.state, toy.arguments)->max_attempts, 0);
    toy_close(&toy);
    toy_open(&toy, "[table t]\nrows = 3\n[transaction x]\nisolation = si\ndeclares = deferrable\nmax_attempts = 4\n"
                   "delay = backoff(1ms, 2, 8ms)\nsteps = r(t 1)");
    toy_draw(&toy, 1);
    assert_int_equal(toy.ops->isolation(toy.state, toy.arguments), LEVEL_SI);
    assert_int_equal(toy.ops->declares(toy.state, toy.arguments), DECLARES_DEFERRABLE);
    assert_int_equal(toy.ops->retry(toy.state, toy.arguments)->max_attempts, 4);
    assert_int_equal(toy.ops->retry(toy.state, toy.arguments)->delay->choice, RESTART_BACKOFF);
    assert_int_equal(toy.ops->retry(toy.state, toy.arguments)->delay->integer[2], 8000000);
    toy_close(&toy);
}

static void expect_audit(struct toy *toy, enum workload_verdict verdict, const char *message) {
    struct workload_audit audit = {0};
    toy->ops->audit(toy->state, &toy->store, &audit);
    assert_string_equal(text_string(&audit.message), message);
    assert_int_equal(audit.verdict, verdict);
    text_free(&audit.message);
}

/* One version, committed or not, on top of a row of the table. */
static void put_version(struct toy *toy, int64_t key, int64_t value, bool absent, uint64_t stamp) {
    struct table *table = &toy->store.tables[0];
    struct record *record = store_record(&toy->store, table, key);
    struct version *base = store_newest(&toy->store, table, key, record);
    struct version *version = store_new_version(&toy->store, 1, 1, value, absent);
    store_link(&toy->store, record, version, base);
    if (stamp > 0) {
        store_install(&toy->store, table, key, record, version, stamp);
    }
}

static void invariants(void **state) {
    (void)state;
    struct toy toy;
    toy_open(&toy,
             "[table t]\nrows = 4\nvalue = 10\n[transaction x]\nsteps = w(t 1, +=1) q(t *) expect(sum=number+40)\n"
             "[invariant]\nlevel = rc\na = sum(t) constant\nb = min(t) >= 0\nc = max(t) < 11\n"
             "d = sum(t) - count(t) + commits(x) <= 37\n");
    expect_audit(&toy, AUDIT_OK, "");
    toy_run(&toy, 1);
    expect_audit(&toy, AUDIT_OK, "");
    toy_run(&toy, 5);
    toy_run(&toy, 6);
    expect_audit(&toy, AUDIT_BROKEN,
                 "d: sum(t) - count(t) + commits(x) is 39, not <= 37; 2 of 3 commits did not see what they expected, "
                 "the first one 42 against 45");
    toy_close(&toy);
    toy_open(&toy, "[table t]\nrows = 4\nvalue = 10\n[transaction x]\nsteps = r(t 1)\n[invariant]\n"
                   "a = sum(t) constant\nb = min(t) >= 0\nc = max(t) < 11\nd = count(t) = 4\n");
    put_version(&toy, 2, -5, false, 0); /* uncommitted: of no account */
    expect_audit(&toy, AUDIT_OK, "");
    put_version(&toy, 3, -1, false, 2);
    put_version(&toy, 9, 12, false, 3);
    put_version(&toy, 4, 0, true, 4);
    expect_audit(&toy, AUDIT_BROKEN, "a: sum(t) is 31, not = 40; b: min(t) is -1, not >= 0; c: max(t) is 12, not < 11");
    toy_close(&toy);
}

TEST_GROUP(mix, cmocka_unit_test(statements), cmocka_unit_test(values), cmocka_unit_test(branches_and_loops),
           cmocka_unit_test(failures), cmocka_unit_test(what_is_left), cmocka_unit_test(footprints),
           cmocka_unit_test(draws_have_their_distributions), cmocka_unit_test(weights_change_no_draw),
           cmocka_unit_test(sequences_go_on), cmocka_unit_test(types_have_names_levels_and_policies),
           cmocka_unit_test(invariants))
