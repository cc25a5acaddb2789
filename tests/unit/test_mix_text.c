/* test_mix_text.c - what a user can get wrong in the sections of a mix: each mistake has its exact message, with line and
 * column, and all are told at once. */
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/experiment.h"
#include "tests/support/harness.h"

/* The config that the trials break; the lines of a trial begin at 8. */
static const char sound[] = "[experiment]\nalgorithm = 2pl\n[system]\nterminals = 4\n[workload]\nname = mix\n"
                            "[table account]\n";

/* The trial's text behind the sound beginning; what is told of it, without the name of the file. */
static void read_trial(const char *text, const char *const *sets, size_t set_count, struct text *told) {
    struct text path = {0}, errors = {0};
    text_add(&path, "%s/mix.ini", test_directory());
    FILE *file = fopen(text_string(&path), "w");
    assert_non_null(file);
    fprintf(file, "%s%s", sound, text);
    fclose(file);
    const char *files[] = {text_string(&path)};
    struct experiment_request request = {.files = files, .file_count = 1, .sets = sets, .set_count = set_count};
    struct experiment *experiment = experiment_load(&request, &errors);
    assert_true((experiment == NULL) == (errors.length > 0));
    experiment_free(experiment);
    text_clear(told);
    char *rest = errors.bytes, *line;
    while (rest != NULL && (line = strsep(&rest, "\n")) != NULL) {
        bool named = strncmp(line, text_string(&path), path.length) == 0;
        text_add(told, "%s%s", line + (named ? path.length + 1 : 0), *line != '\0' ? "\n" : "");
    }
    text_free(&path);
    text_free(&errors);
}

struct trial {
    const char *text, *told;
};

static void tell_trials(const struct trial *trials, size_t count, const char *before) {
    struct text text = {0}, told = {0};
    for (size_t i = 0; i < count; i++) {
        text_clear(&text);
        text_add(&text, "%s%s", before, trials[i].text);
        read_trial(text_string(&text), NULL, 0, &told);
        assert_string_equal(text_string(&told), trials[i].told);
    }
    text_free(&text);
    text_free(&told);
}
#define TRIALS(before, trials) tell_trials((trials), sizeof(trials) / sizeof(trials)[0], (before))

static const char steps_before[] = "rows = 10\n[table job]\nrows = 0\n[transaction t]\nlet a = uniform(account)\n"
                                   "let c[3] = uniform(account)\nlet n = sequence(job)\nsteps = ";

/* The steps stand in line 15, from column 9 on. */
static void mistakes_in_steps(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"x(account a)", "15:9: unknown step `x`; steps are r w u s q i d p f think if each expect rollback commit\n"},
        {"rollbak", "15:9: unknown step `rollbak`; did you mean rollback?\n"},
        {"r(acount a)", "15:11: unknown table `acount`; did you mean account?\n"},
        {"r(account b)", "15:19: unknown variable `b`\n"},
        {"r(account a", "15:20: expected `)`\n"},
        {"r account a", "15:11: expected `(`\n"},
        {"r(account v=0)", "15:19: expected a row, not a predicate\n"},
        {"q(account a)", "15:19: expected a predicate, such as *, v=0 or id<=2\n"},
        {"w(account a, )", "15:22: expected a number, a variable, or `$` and the variable of a row that was read\n"},
        {"w(account a, +=)", "15:24: expected a number, a variable, or `$` and the variable of a row that was read\n"},
        {"w(account a, $a+1)", "15:23: no step before this one reads `a`\n"},
        {"w(account a, 5, fi=3)", "15:24: expected a condition, such as if=3\n"},
        {"w(account a, 5, if~3)", "15:27: expected one of = != < <= > >=\n"},
        {"i(job n, +=1)", "15:18: a row that is inserted has no value to add to\n"},
        {"i(job n, 0, if=3)", "15:19: expected `)`\n"},
        {"r(account c)", "15:19: `c` is a set of 3: name one, `c[1]`, or go through all with `each c (..)`\n"},
        {"r(account c[4])", "15:21: `c` has the numbers 1 .. 3\n"},
        {"each a (r(account a))", "15:14: `a` is no set: `let a[3] = ..` would make it one\n"},
        {"each c (each c (r(account c)))", "15:22: there is no `each` within an `each`\n"},
        {"think(2)", "15:15: `2` has no unit (ns, us, ms, s, min, h)\n"},
        {"think(exp(2ms)", "15:23: expected `)`\n"},
        {"r(account a):nowait", "15:22: only u and s can be told not to wait\n"},
        {"u(account *):0", "15:22: a limit is 1 or more, and of a predicate that q, u or s read\n"},
        {"u(account a):1", "15:22: a limit is 1 or more, and of a predicate that q, u or s read\n"},
        {"u(account *):slip", "15:22: expected nowait, skip, or a limit of rows\n"},
        {"f(s)", "15:11: no savepoint `s` is set on every way that leads here\n"},
        {"if(count>0) (p(s)) f(s)", "15:30: no savepoint `s` is set on every way that leads here\n"},
        {"rollback r(account a)", "15:18: this step is never reached: the transaction has ended before it\n"},
        {"r(account a) else", "15:26: expected `rollback`, `commit`, or steps in brackets\n"},
        {"r(account a) as j", "15:25: only a row that q, u or s find by a predicate gets a name\n"},
        {"q(account *) as a", "15:25: `a` is there already\n"},
        {"q(account *) as sum", "15:25: `sum` is a word of the language; choose another name\n"},
        {"q(account id<3)", "15:19: ids are tested with = <= >=, or by their remainder (id%2=0)\n"},
        {"q(account id>=1 & id>=2)", "15:27: the ids are bounded on this side already\n"},
        {"q(account v%0=1)", "15:21: a divisor is 1 or more\n"},
        {"q(account v=1 & v=2 & v=3)", "15:31: a statement has at most two tests besides bounds of the id\n"},
        {"u(account v=a & b)", "15:25: expected a test on the value v or the id of a row\n"},
        {"if(a) rollback", "15:13: expected one of = != < <= > >=\n"},
        {"if(a>1)", "15:16: expected `rollback`, `commit`, or steps in brackets\n"},
        {"if(a>1) ()", "15:18: there is no step in the brackets\n"},
        {"r(account 1.5)", "15:19: expected a whole number\n"},
        {"w(account 99999999999999999, 1)", "15:19: numbers are within -10^15 .. 10^15\n"},
        {"r(account a, a, a, a, a, a, a, a, a)", "15:42: a statement has at most 8 rows\n"},
        {"r(account a) w(job n, $job.a)", "15:32: no step before this one reads `a` in job\n"},
        {"s(account a) s(job a) w(account a, $a)", "15:45: `a` was read in several tables: write `$job.a`\n"},
        {"expect(sum)", "15:19: expected one of = != < <= > >=\n"},
        {"r(account a) r(account b) think(2) commit w(job n, 0",
         "15:32: unknown variable `b`\n"
         "15:41: `2` has no unit (ns, us, ms, s, min, h)\n"
         "15:51: this step is never reached: the transaction has ended before it\n"},
        {"r(account a)\n  w(account a, $a+b)\n  w(acount a)", "16:19: unknown variable `b`\n"
                                                              "17:5: unknown table `acount`; did you mean account?\n"},
        {"r(acount a) w(account a, $a+1)", "15:11: unknown table `acount`; did you mean account?\n"},
        {"if(z>1) rollback r(account a)", "15:12: unknown variable `z`\n"},
        {"else rollback",
         "15:9: unknown step `else`; steps are r w u s q i d p f think if each expect rollback commit\n"},
        {"w(account a, 5)) r(account a)", "15:24: expected a step\n"},
        {"w(account a,\n  5, if=b)", "16:9: unknown variable `b`\n"},
    };
    TRIALS(steps_before, trials);
}

/* The variable stands in line 12, its value from column 9 on. */
static void mistakes_in_variables(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"let a = unifrom(account)\nsteps = r(account 1)\n", "12:9: unknown draw `unifrom`; did you mean uniform?\n"},
        {"let a = uniform(acount)\nsteps = r(account 1)\n", "12:17: unknown table `acount`; did you mean account?\n"},
        {"let a = uniform(job)\nsteps = r(account 1)\n", "12:17: no row of job to draw from: it begins with 0 rows\n"},
        {"let a = uniform(account id>10)\nsteps = r(account 1)\n",
         "12:17: no row of account to draw from: it begins with 10 rows\n"},
        {"let a = uniform(account v=1)\nsteps = r(account 1)\n", "12:25: expected a test on the id, such as id<=10\n"},
        {"let a = uniform(5, 1)\nsteps = r(account 1)\n", "12:17: the first number is larger than the second\n"},
        {"let a = uniform(account)\nlet b = uniform(5, 1)\nsteps = r(account a) w(account a, $a+b)\n",
         "13:17: the first number is larger than the second\n"},
        {"let a = uniform(1, x)\nsteps = r(account 1)\n", "12:20: expected the largest number\n"},
        {"let a = zipf(account)\nsteps = r(account 1)\n", "12:21: expected `,`\n"},
        {"let a = zipf(account, 11)\nsteps = r(account 1)\n", "12:23: expected a skew, 0 .. 10\n"},
        {"let a = hot(account, 90%, 1%)\nsteps = r(account 1)\n",
         "12:27: of 10 rows that is 0: there must be hot rows and others\n"},
        {"let a = hot(account, 90, 10%)\nsteps = r(account 1)\n", "12:22: expected a share, 0% .. 100%\n"},
        {"let a = 1.5\nsteps = r(account 1)\n",
         "12:9: expected uniform(..), zipf(..), hot(..), chance(..), sequence(..), last(..), or a whole number\n"},
        {"let a = \nsteps = r(account 1)\n",
         "12:9: expected uniform(..), zipf(..), hot(..), chance(..), sequence(..), last(..), or a whole number\n"},
        {"let a = uniform(account) not b\nsteps = r(account 1)\n",
         "12:30: `b` is no row of the same table that was drawn before\n"},
        {"let a = uniform(account)\nlet b = uniform(1, 5) not a\nsteps = r(account 1)\n",
         "13:22: only a row can be told not to be another\n"},
        {"let a = uniform(account) sorted\nsteps = r(account 1)\n", "12:32: only a set can be sorted\n"},
        {"let a[11] = uniform(account)\nsteps = r(account 1)\n", "12:13: 11 different rows are wanted of 10\n"},
        {"let a[0] = uniform(account)\nsteps = r(account 1)\n",
         "12: `let a[0]`: expected `let NAME`, or `let NAME[COUNT]` with a count of 1 .. 128\n"},
        {"let a[3 = uniform(account)\nsteps = r(account 1)\n",
         "12: `let a[3`: expected `let NAME`, or `let NAME[COUNT]` with a count of 1 .. 128\n"},
        {"let a[2] = sequence(job)\nsteps = r(account 1)\n", "12:12: a set cannot be taken from a sequence\n"},
        {"let 1a = uniform(account)\nsteps = r(account 1)\n",
         "12: `let 1a`: expected `let NAME`, or `let NAME[COUNT]` with a count of 1 .. 128\n"},
        {"let count = uniform(account)\nsteps = r(account 1)\n",
         "12: `count` is a word of the language; choose another name\n"},
        {"let a = uniform(account) unlike b\nsteps = r(account 1)\n", "12:26: expected nothing more here\n"},
        {"let a[129] = uniform(1, 5)\nsteps = r(account 1)\n",
         "12: `let a[129]`: expected `let NAME`, or `let NAME[COUNT]` with a count of 1 .. 128\n"},
        {"let a = uniform(account)\nlet b[2] = zipf(job, 0.9)\nsteps = r(account 1)\n",
         "13:17: no row of job to draw from: it begins with 0 rows\n"},
    };
    TRIALS("rows = 10\n[table job]\nrows = 0\n[transaction t]\n", trials);
}

static void mistakes_in_sections(void **state) {
    (void)state;
    static const struct trial trials[] = {
        {"rows = 10\n", "6: the workload mix needs a section [transaction NAME]\n"},
        {"rows = 10\n[transaction t]\n", "9: [transaction t] needs `steps`\n"},
        {"rows = 10\nvalue = 1.5\n[transaction t]\nsteps = r(account 1)\n", "9:9: value: expected a whole number\n"},
        {"value = 1\n[transaction t]\nsteps = r(account 1)\n", "7: [table account] needs `rows`\n"},
        {"rows = many\nvalues = 5\n[transaction t]\nsteps = r(account 1)\n",
         "8:8: rows: `many` is not a whole number\n"
         "9: unknown key `values` in [table account]; did you mean value?\n"},
        {"rows = 10\n[transaction t]\nwait = 5\nisolation = serializable\nrollback = 150%\ndelay = backof(1ms)\nsteps = r(account 1)\n",
         "10: unknown key `wait` in [transaction t]\n"
         "11:13: isolation: `serializable` is none of own, ru, rc, rr, si, ser\n"
         "12:12: rollback: `150%` is out of bounds (0% .. 100%)\n"
         "13:9: delay: `backof(1ms)` is none of duration, distribution, adaptive, backoff(duration, number, duration); did you mean backoff?\n"},
        {"rows = 10\n[transaction t]\nweight = 0\nsteps = r(account 1)\n", "6: all transactions have the weight 0\n"},
        {"rows = 10\n[transaction t]\ndeclares = read_only\nsteps = w(account 1, 2)\n",
         "10:12: declares: the steps of `t` write or lock rows\n"},
        {"rows = 10\n[transaction t u]\nsteps = r(account 1)\n",
         "6: the workload mix needs a section [transaction NAME]\n"
         "9: [transaction t u]: a name has 1 to 32 letters, digits and `_`, a letter first\n"},
        {"rows = 10\n[table 2]\nrows = 1\n[transaction t]\nsteps = r(account 1)\n",
         "9: [table 2]: a name has 1 to 32 letters, digits and `_`, a letter first\n"},
        {"rows = 10\n[tabel x]\n[transaction t]\nsteps = r(account 1)\n",
         "9: unknown section [tabel x]; did you mean table NAME?\n"},
        {"rows = 10\n[transaction t]\nsteps =\n", "10:8: there is no step\n"},
        {"rows = 10\n[transaction t]\nsteps = r(account 1)\n[invariant]\na = sum(acount) constant\nb = total(account) constant\nc = sum(account)\nd = sum(account) >= x\ne = commits(u) = 3\nf = sum(account) constant or so\nlevel = serial\n",
         "12:9: unknown table `acount`; did you mean account?\n"
         "13:5: unknown measure `total`\n"
         "14:17: expected `constant`, or one of = != < <= > >= and a number\n"
         "15:21: expected a whole number\n"
         "16:13: unknown transaction `u`\n"
         "17:27: expected nothing more here\n"
         "18:9: level: `serial` is none of ru, rc, rr, si, ser\n"},
        {"rows = 10\n[transaction t]\nsteps = r(account 1)\n[sweep]\ntransaction.t.steps = a b\ntransaction.t.wieght = 1 2\ntable.account.rows = 5 x\ntransaction.t.weight = 1 2\n",
         "12: `transaction.t.steps` cannot be swept\n"
         "13: unknown key `transaction.t.wieght`; did you mean transaction.t.weight?\n"
         "14: table.account.rows: `x` is not a whole number\n"},
        {"rows = 10\n[transaction t]\nlet a = uniform(account id<=5)\nsteps = r(account a)\n[sweep]\ntable.account.rows = 0 5\n",
         "10:17: no row of account to draw from: it begins with 0 rows\n"},
    };
    TRIALS("", trials);
}

/* What is set on the command line has no line; its bytes are counted. */
static void mistakes_on_the_command_line(void **state) {
    (void)state;
    static const char *const sets[] = {"transaction.t.steps=r(account b)", "transaction.t.weight=-1",
                                       "transaction.u.weight=1", "table.account.row=1"};
    struct text told = {0};
    read_trial("rows = 10\n[transaction t]\nsteps = r(account 1)\n", sets, 4, &told);
    assert_string_equal(text_string(&told),
                        "--set transaction.t.steps=r(account b): byte 11: unknown variable `b`\n"
                        "--set transaction.t.weight=-1: byte 1: weight: `-1` is out of bounds (0 .. 1e+09)\n"
                        "--set transaction.u.weight=1: unknown key `transaction.u.weight`; did you mean "
                        "transaction.t.weight?\n"
                        "--set table.account.row=1: unknown key `table.account.row`; did you mean "
                        "table.account.rows?\n");
    text_free(&told);
}

/* The sections belong to the mix alone. */
static void other_workloads_have_no_such_sections(void **state) {
    (void)state;
    static const char *const sets[] = {"workload.name=bank"};
    struct text told = {0};
    read_trial("rows = 10\n", sets, 1, &told);
    assert_string_equal(text_string(&told), "7: [table account] is a section of the workload mix, and this is bank\n");
    text_free(&told);
}

TEST_GROUP(mix_text, cmocka_unit_test(mistakes_in_steps), cmocka_unit_test(mistakes_in_variables),
           cmocka_unit_test(mistakes_in_sections), cmocka_unit_test(mistakes_on_the_command_line),
           cmocka_unit_test(other_workloads_have_no_such_sections))
