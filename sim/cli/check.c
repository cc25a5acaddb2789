/* check.c - `ccsim check SCHEDULE|FILE|-`: judges schedules as written (sim/check/judge.h) and tells the verdict, for a
 * person, as JSON or as a graph for graphviz. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/check/history.h"
#include "sim/check/judge.h"
#include "sim/cli/check_history.h"
#include "sim/cli/cli.h"
#include "sim/lab/lab.h"

enum {
    KEY_JSON = 256,
    KEY_DOT,
    KEY_REQUIRE,
    KEY_INIT,
    KEY_PRED,
    SUGGESTION_BYTES = 64,
    WIDTH = 110,
    EDGES_SHOWN = 30,
    STEPS_SHOWN = 200
};

struct check {
    const char *command, *argument;
    bool as_json, as_dot;
    int required; /* enum judge_level, or -1 */
    VECTOR(const char *) inits;
    VECTOR(const char *) predicates;
};

/* --- for a person --- */

/* Adds words behind a margin of `indent` columns, `column` of which are used in the first line. */
static void add_wrapped(struct text *out, size_t column, size_t indent, const char *words) {
    for (bool first = true; *words != '\0'; first = false) {
        size_t length = strcspn(words, " ");
        if (!first && column + 1 + length > WIDTH) {
            text_add(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            text_add(out, " ");
            column++;
        } else if (column < indent) {
            text_add(out, "%*s", (int)(indent - column), "");
            column = indent;
        }
        text_add_bytes(out, words, length);
        column += length;
        words += length;
        words += strspn(words, " ");
    }
    text_add(out, "\n");
}

static void add_order(struct text *out, const struct verdict *verdict) {
    enum { SHOWN_MAX = 20 };
    bool cycle = verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_NO;
    for (size_t i = 0; i < verdict->order_count && i < SHOWN_MAX; i++) {
        text_add(out, "%sT%" PRId64, i == 0 ? "" : cycle ? " -> " : " ", verdict->order[i]);
    }
    if (verdict->order_count > SHOWN_MAX) {
        text_add(out, " ... (%zu in all)", verdict->order_count);
    } else if (cycle) {
        text_add(out, " -> T%" PRId64, verdict->order[0]);
    }
}

static void add_properties(struct text *out, const struct verdict *verdict, enum judge_property from,
                           enum judge_property to) {
    static const char *const answers[] = {"no", "yes", "open"};
    for (enum judge_property p = from; p <= to; p++) {
        struct text words = {0};
        if (p == JUDGE_CONFLICT_SERIALIZABLE && verdict->order_count > 0) {
            text_add(&words, verdict->properties[p] == JUDGE_YES ? "in the order " : "the cycle ");
            add_order(&words, verdict);
            text_add(&words, verdict->properties[p] == JUDGE_YES ? ": " : ". ");
        }
        text_add(&words, "%s", text_string(&verdict->reasons[p]));
        text_add(out, "  %-21s  %-4s", property_texts[p].name, answers[verdict->properties[p]]);
        add_wrapped(out, 29, 31, text_string(&words));
        text_free(&words);
    }
}

struct edges {
    struct text *out;
    size_t count;
};

static void add_edge(int64_t from, int64_t to, const char *steps, void *user) {
    struct edges *edges = user;
    if (edges->count++ < EDGES_SHOWN) {
        struct text arrow = {0};
        text_add(&arrow, "  T%" PRId64 " -> T%" PRId64, from, to);
        text_add(edges->out, "%s", text_string(&arrow));
        add_wrapped(edges->out, arrow.length, arrow.length < 13 ? 14 : arrow.length + 1, steps);
        text_free(&arrow);
    }
}

static void add_graph(struct text *out, const struct schedule *schedule) {
    struct edges edges = {.out = out};
    text_add(out, "\nConflict graph: who must come before whom%s\n",
             schedule->step_count > JUDGE_PAIRS_MAX ? " (neighbours in conflict; the rest follows)" : "");
    judge_each_conflict(schedule, add_edge, &edges);
    if (edges.count == 0) {
        text_add(out, "  no conflicts\n");
    } else if (edges.count > EDGES_SHOWN) {
        text_add(out, "  and %zu more; --dot tells all\n", edges.count - EDGES_SHOWN);
    }
}

static void add_anomalies(struct text *out, const struct verdict *verdict, const char *title, enum anomaly_name from,
                          enum anomaly_name to) {
    size_t count = 0;
    text_add(out, "\n%s\n", title);
    for (enum anomaly_name name = from; name <= to; name++) {
        const struct judge_finding *finding = &verdict->anomalies[name];
        const char *words = text_string(&finding->witness);
        struct text head = {0};
        if (!finding->found) {
            continue;
        }
        for (enum anomaly_name before = from; before < name; before++) {
            if (verdict->anomalies[before].found &&
                strcmp(text_string(&verdict->anomalies[before].witness), words) == 0) {
                words = "the same cycle";
            }
        }
        text_add(&head, "%s: %s", anomaly_texts[name].title, words);
        text_add(out, "  %-8s", anomaly_texts[name].name);
        add_wrapped(out, 10, 12, text_string(&head));
        text_free(&head);
        count++;
    }
    if (count == 0) {
        text_add(out, "  none\n");
    }
}

static void add_levels(struct text *out, const struct verdict *verdict, int required) {
    static const char *const names[JUDGE_LEVELS] = {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ",
                                                    "SNAPSHOT ISOLATION", "SERIALIZABLE"};
    size_t count = 0;
    text_add(out, "\nIsolation levels that allow it: ");
    for (enum judge_level level = 0; level < JUDGE_LEVELS; level++) {
        if (!verdict->broken[level].found) {
            text_add(out, "%s%s", count++ > 0 ? ", " : "", names[level]);
        }
    }
    text_add(out, count > 0 ? "\n" : "none\n");
    if (required >= 0 && verdict->broken[required].found) {
        struct text words = {0};
        text_add(&words, "%s, as required, does not allow it: %s", names[required],
                 text_string(&verdict->broken[required].witness));
        add_wrapped(out, 0, 0, text_string(&words));
        text_free(&words);
    }
}

static void add_count(struct text *out, size_t count, const char *what, bool *first) {
    if (count > 0) {
        text_add(out, "%s%zu %s", *first ? "" : ", ", count, what);
        *first = false;
    }
}

static void tell(const struct check *check, const struct schedule *schedule, const char *written,
                 const struct verdict *verdict, struct text *out) {
    bool first = true;
    add_wrapped(out, 0, 0, written);
    add_count(out, verdict->committed, "committed", &first);
    add_count(out, verdict->rolled_back, "rolled back", &first);
    add_count(out, verdict->unfinished, "unfinished (left out like those rolled back)", &first);
    text_add(out, "\n\nDoes it do the same as the transactions one after another?\n");
    add_properties(out, verdict, JUDGE_CONFLICT_SERIALIZABLE, JUDGE_VIEW_SERIALIZABLE);
    text_add(out, "\nDoes a rollback leave the others unharmed? (each implies the one above it)\n");
    add_properties(out, verdict, JUDGE_RECOVERABLE, JUDGE_RIGOROUS);
    add_graph(out, schedule);
    add_anomalies(out, verdict, "Phenomena (Berenson et al.): what happened that can do harm", ANOMALY_P0, ANOMALY_A5B);
    add_anomalies(out, verdict, "Anomalies (Adya): harm done to committed transactions", ANOMALY_G0, ANOMALY_G2);
    add_levels(out, verdict, check->required);
}

/* --- for programs --- */

static json_t *answer_json(enum judge_answer answer) {
    return answer == JUDGE_OPEN ? json_null() : json_boolean(answer == JUDGE_YES);
}

static json_t *numbers_json(const int64_t *numbers, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_integer(numbers[i]));
    }
    return list;
}

static void add_pair_json(int64_t from, int64_t to, const char *steps, void *user) {
    (void)steps;
    int64_t pair[] = {from, to};
    json_array_append_new(user, numbers_json(pair, 2));
}

static json_t *found_json(const struct verdict *verdict, enum anomaly_name from, enum anomaly_name to,
                          json_t *witnesses) {
    json_t *list = json_array();
    for (enum anomaly_name name = from; name <= to; name++) {
        if (verdict->anomalies[name].found) {
            json_array_append_new(list, json_string(anomaly_texts[name].name));
            json_object_set_new(witnesses, anomaly_texts[name].name,
                                json_string(text_string(&verdict->anomalies[name].witness)));
        }
    }
    return list;
}

static json_t *levels_json(const struct verdict *verdict) {
    json_t *list = json_array();
    for (enum judge_level level = 0; level < JUDGE_LEVELS; level++) {
        if (!verdict->broken[level].found) {
            json_array_append_new(list, json_string(judge_level_names[level]));
        }
    }
    return list;
}

static void print_json(const struct check *check, const struct schedule *schedule, const char *written,
                       const struct verdict *verdict) {
    static const char *const keys[JUDGE_PROPERTIES] = {
        [JUDGE_CONFLICT_SERIALIZABLE] = "conflict_serializable",
        [JUDGE_VIEW_SERIALIZABLE] = "view_serializable",
        [JUDGE_RECOVERABLE] = "recoverable",
        [JUDGE_CASCADELESS] = "cascadeless",
        [JUDGE_STRICT] = "strict",
        [JUDGE_RIGOROUS] = "rigorous",
    };
    json_t *object = json_object(), *reasons = json_object(), *witnesses = json_object(), *conflicts = json_array();
    bool good = verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES;
    json_object_set_new(object, "schedule", json_string(written));
    for (enum judge_property p = 0; p < JUDGE_PROPERTIES; p++) {
        json_object_set_new(object, keys[p], answer_json(verdict->properties[p]));
        json_object_set_new(reasons, keys[p], json_string(text_string(&verdict->reasons[p])));
        if (p == JUDGE_CONFLICT_SERIALIZABLE) {
            json_object_set_new(object, good ? "serial_order" : "cycle",
                                numbers_json(verdict->order, verdict->order_count));
        }
    }
    json_object_set_new(object, "phenomena", found_json(verdict, ANOMALY_P0, ANOMALY_A5B, witnesses));
    json_object_set_new(object, "anomalies", found_json(verdict, ANOMALY_G0, ANOMALY_G2, witnesses));
    json_object_set_new(object, "levels", levels_json(verdict));
    if (check->required >= 0) {
        json_object_set_new(object, "required", json_string(judge_level_names[check->required]));
        json_object_set_new(object, "satisfied", json_boolean(!verdict->broken[check->required].found));
    }
    judge_each_conflict(schedule, add_pair_json, conflicts);
    json_object_set_new(object, "conflicts", conflicts);
    json_object_set_new(object, "reasons", reasons);
    json_object_set_new(object, "witnesses", witnesses);
    json_dumpf(object, stdout, 0);
    putchar('\n');
    json_decref(object);
}

static void print_edge(int64_t from, int64_t to, const char *steps, void *user) {
    (void)user;
    printf("  T%" PRId64 " -> T%" PRId64 " [label=\"%s\"];\n", from, to, steps);
}

static void print_dot(const struct schedule *schedule, size_t number, const struct verdict *verdict) {
    printf("digraph schedule_%zu {\n  rankdir=LR;\n  node [shape=circle];\n", number + 1);
    for (size_t i = 0; i < verdict->committed; i++) {
        printf("  T%" PRId64 ";\n", verdict->members[i]);
    }
    judge_each_conflict(schedule, print_edge, NULL);
    puts("}");
}

/* --- reading --- */

/* The steps as written, a blank between them; the first `most` of them. */
static void add_written(const struct schedule *schedule, size_t most, struct text *out) {
    for (size_t i = 0; i < schedule->step_count && i < most; i++) {
        text_add_bytes(out, " ", i > 0);
        text_add_bytes(out, schedule->steps[i].text, schedule->steps[i].length);
    }
    if (schedule->step_count > most) {
        text_add(out, " ... (%zu steps)", schedule->step_count);
    }
}

static bool read_all(FILE *file, const char *name, struct text *out) {
    char block[65536];
    size_t count;
    while ((count = fread(block, 1, sizeof block, file)) > 0) {
        text_add_bytes(out, block, count);
    }
    if (ferror(file)) {
        fprintf(stderr, "%s: cannot be read: %s\n", name, strerror(errno));
        return false;
    }
    return true;
}

static bool read_file(const char *path, struct text *out) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be opened: %s\n", path, strerror(errno));
        return false;
    }
    bool good = read_all(file, path, out);
    fclose(file);
    return good;
}

/* The text to judge and the name of its source. */
static bool read_argument(const char *argument, const char **source, struct text *out) {
    struct stat status;
    *source = argument;
    if (strcmp(argument, "-") == 0) {
        return read_all(stdin, "-", out);
    }
    if (stat(argument, &status) != 0 && schedule_looks_like(argument)) {
        *source = "schedule";
        text_add(out, "%s", argument);
        return true;
    }
    return read_file(argument, out);
}

static int report_mistakes(const struct schedule_book *book) {
    for (size_t i = 0; i < book->mistake_count; i++) {
        const struct schedule_mistake *mistake = &book->mistakes[i];
        fprintf(stderr, "%s:%" PRIu32 ":%" PRIu32 ": %s\n", mistake->source, mistake->line, mistake->column,
                mistake->sentence);
    }
    if (book->mistake_count == SCHEDULE_MISTAKES_MAX) {
        fprintf(stderr, "and perhaps more: only the first %d are told\n", SCHEDULE_MISTAKES_MAX);
    }
    return LAB_USAGE;
}

/* --- the command --- */

static int judge_one(const struct check *check, const struct schedule_book *book, size_t number, const char *source) {
    const struct schedule *schedule = &book->schedules[number];
    struct verdict verdict;
    struct text written = {0}, out = {0};
    if (!judge(&verdict, schedule)) {
        fprintf(stderr, "%s:%" PRIu32 ":1: too much to judge: its steps touch more than %d rows\n", source,
                schedule->line, HISTORY_OPS_MAX);
        return LAB_USAGE;
    }
    add_written(schedule, check->as_json ? SIZE_MAX : STEPS_SHOWN, &written);
    if (check->as_json) {
        print_json(check, schedule, text_string(&written), &verdict);
    } else if (check->as_dot) {
        print_dot(schedule, number, &verdict);
    } else {
        if (book->count > 1) {
            printf("%s== %s:%" PRIu32 "\n", number > 0 ? "\n" : "", source, schedule->line);
        }
        tell(check, schedule, text_string(&written), &verdict, &out);
        fputs(text_string(&out), stdout);
    }
    bool broken = check->required >= 0 && verdict.broken[check->required].found;
    text_free(&written);
    text_free(&out);
    verdict_free(&verdict);
    return broken ? LAB_BROKEN : LAB_DONE;
}

static int judge_all(const struct check *check, const char *source, const struct text *text) {
    if (check_is_history(text)) {
        return check_history(source, text, check->required, check->as_json);
    }
    struct schedule_book book = {0};
    struct schedule_header header = {.inits = check->inits.items,
                                     .init_count = check->inits.count,
                                     .predicates = check->predicates.items,
                                     .predicate_count = check->predicates.count};
    int result = LAB_DONE;
    schedule_parse(&book, source, text_string(text), text->length, &header);
    for (size_t i = 0; i < book.count && book.mistake_count == 0; i++) {
        history_order(&book, source, &book.schedules[i]);
    }
    if (book.mistake_count > 0) {
        result = report_mistakes(&book);
    }
    for (size_t i = 0; i < book.count && book.mistake_count == 0; i++) {
        int one = judge_one(check, &book, i, source);
        result = one > result ? one : result;
    }
    if (result != LAB_USAGE && !check->as_json && !check->as_dot) {
        puts("\n`ccsim help WORD' explains a word, such as G-single, P2 or cascadeless.");
    }
    schedule_book_free(&book);
    return result;
}

static void take_level(struct check *check, const char *word) {
    for (int level = 0; level < JUDGE_LEVELS; level++) {
        if (strcmp(judge_level_names[level], word) == 0) {
            check->required = level;
            return;
        }
    }
    char suggestion[SUGGESTION_BYTES];
    cli_bad_usage(check->command, "--require: `%s' is none of ru, rc, rr, si, ser%s", word,
                  text_suggestion(suggestion, sizeof suggestion, word, judge_level_names, JUDGE_LEVELS));
}

static error_t take(int key, char *argument, struct argp_state *state) {
    struct check *check = state->input;
    switch (key) {
    case KEY_JSON: check->as_json = true; return 0;
    case KEY_DOT: check->as_dot = true; return 0;
    case KEY_REQUIRE: take_level(check, argument); return 0;
    case KEY_INIT: vector_push(&check->inits, argument); return 0;
    case KEY_PRED: vector_push(&check->predicates, argument); return 0;
    case ARGP_KEY_ARG:
        if (check->argument != NULL) {
            cli_bad_usage(check->command, "one schedule or file at a time: put the steps of a schedule into quotes");
        }
        check->argument = argument;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option check_options[] = {
    {.name = "json", .key = KEY_JSON, .doc = "one JSON object a line for each schedule"},
    {.name = "dot", .key = KEY_DOT, .doc = "the conflict graph, for graphviz: | dot -Tsvg > graph.svg"},
    {.name = "require",
     .key = KEY_REQUIRE,
     .arg = "ru|rc|rr|si|ser",
     .doc = "exit with 1 unless this isolation level allows every schedule"},
    {.name = "init",
     .key = KEY_INIT,
     .arg = "x=10,y=20",
     .doc = "the rows there are at the start and their values (default: every row named, with 0)"},
    {.name = "pred", .key = KEY_PRED, .arg = "P:v%3=0", .doc = "what predicate P matches (default: every row)"},
    {0},
};
static const struct argp parser = {
    .options = check_options,
    .parser = take,
    .args_doc = "SCHEDULE|FILE|-",
    .doc =
        "Judges a schedule as written: serializable, recoverable, strict, and what went wrong, each with its reason. "
        "`-' reads standard input; a file may hold many schedules, one a line."
        "\v"
        "Steps: r1(x) read, w1(x) w1(x,5) w1(x,+=5) write, c1 commit, a1 roll back, q1(P) read where predicate P "
        "holds, "
        "i1(z,5) d1(x) insert, delete, u1(x) s1(x) read for update, for share, p1(s) f1(s) savepoint and back to it; "
        "the digits are the transaction. Without any c or a all commit at the end.\n\n"
        "ccsim check 'r1(x) r2(x) w1(x) w2(x) c1 c2'",
};

int cli_check(int argc, char **argv) {
    struct check check = {.command = argv[0], .required = -1};
    struct text text = {0};
    const char *source = NULL;
    cli_parse(&parser, argc, argv, &check);
    if (check.argument == NULL) {
        cli_bad_usage(check.command, "no schedule given");
    }
    if (check.as_json && check.as_dot) {
        cli_bad_usage(check.command, "--json or --dot, not both");
    }
    int result = read_argument(check.argument, &source, &text) ? judge_all(&check, source, &text) : LAB_USAGE;
    text_free(&text);
    vector_free(&check.inits);
    vector_free(&check.predicates);
    return result;
}
