/* play.c - ccsim play SCHEDULE|FILE: feeds written schedules to algorithms, step by step. */
#include "sim/cli/play.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/cli/cli.h"
#include "sim/lab/lab.h"

enum { KEY_ALGORITHM = 'a', KEY_INIT = 'i', KEY_PRED = 'p', KEY_SET = 's', KEY_JSON = 256, KEY_LOCKS, KEY_DOT };

struct request {
    const char *command, *source;
    VECTOR(const struct cc_ops *) algorithms;
    VECTOR(const char *) inits;
    VECTOR(const char *) predicates;
    VECTOR(const char *) settings;
    bool all; /* among the algorithms' names */
    bool json, locks, dot;
};

/* ---- Which algorithms ---- */

static const struct cc_ops *find_algorithm(const struct request *request, const char *name) {
    const struct cc_ops *algorithm = cc_find(name);
    if (algorithm == NULL) {
        const char **names = mem_new(cc_registry_count, sizeof *names);
        char suggestion[64];
        for (size_t i = 0; i < cc_registry_count; i++) {
            names[i] = cc_registry[i]->name;
        }
        text_suggestion(suggestion, sizeof suggestion, name, names, cc_registry_count);
        mem_free(names);
        cli_bad_usage(request->command, "there is no algorithm `%s'%s", name, suggestion);
    }
    return algorithm;
}

static void add_algorithm(struct request *request, const struct cc_ops *algorithm) {
    for (size_t i = 0; i < request->algorithms.count; i++) {
        if (request->algorithms.items[i] == algorithm) {
            return;
        }
    }
    vector_push(&request->algorithms, algorithm);
}

static void take_algorithms(struct request *request, const char *list) {
    char *copy = mem_string(list), *rest = copy, *word;
    while ((word = strsep(&rest, ", ")) != NULL) {
        if (strcmp(word, "all") == 0) {
            request->all = true;
            for (size_t i = 0; i < cc_registry_count; i++) {
                add_algorithm(request, cc_registry[i]);
            }
        } else if (word[0] != '\0') {
            add_algorithm(request, find_algorithm(request, word));
        }
    }
    mem_free(copy);
}

/* ---- Their options ---- */

/* `2pl.victim` names the algorithm, `victim` means every one that has such an option. */
static const char *key_for(const struct cc_ops *algorithm, const char *key) {
    size_t length = strlen(algorithm->name);
    if (strncmp(key, algorithm->name, length) == 0 && key[length] == '.') {
        return key + length + 1;
    }
    return strchr(key, '.') == NULL ? key : NULL;
}

/* Is there an algorithm played here that has this option? Then it is set in `values`. */
static bool set_option(const struct request *request, const struct cc_ops *algorithm, const char *setting,
                       void *values) {
    char *key = mem_string(setting);
    size_t length = strcspn(key, "=");
    if (key[length] == '\0') {
        cli_bad_usage(request->command, "--set: `%s' has no `='", setting);
    }
    key[length] = '\0';
    const char *name = key_for(algorithm, text_trim(key));
    const struct option *option = NULL;
    if (name != NULL && algorithm->options != NULL) {
        option = option_find(algorithm->options, name);
    }
    struct text error = {0};
    if (option != NULL && !option_parse(option, text_trim(&key[length + 1]), values, &error)) {
        cli_bad_usage(request->command, "--set %s: %s", setting, text_string(&error));
    }
    mem_free(key);
    return option != NULL;
}

static void *options_of(const struct request *request, const struct cc_ops *algorithm) {
    if (algorithm->options == NULL) {
        return NULL;
    }
    void *values = mem_new(1, algorithm->options->size);
    options_default(algorithm->options, values);
    for (size_t i = 0; i < request->settings.count; i++) {
        (void)set_option(request, algorithm, request->settings.items[i], values);
    }
    return values;
}

static void check_settings(const struct request *request) {
    for (size_t i = 0; i < request->settings.count; i++) {
        bool known = false;
        for (size_t k = 0; k < request->algorithms.count; k++) {
            const struct cc_ops *algorithm = request->algorithms.items[k];
            void *values = mem_new(1, algorithm->options != NULL ? algorithm->options->size : 1);
            known = set_option(request, algorithm, request->settings.items[i], values) || known;
            mem_free(values);
        }
        if (!known) {
            cli_bad_usage(request->command, "--set %s: none of the algorithms has such an option",
                          request->settings.items[i]);
        }
    }
}

/* ---- The schedules ---- */

/* A schedule on the command line; what is the name of a file is that file. */
static bool is_written(const char *source) { return access(source, F_OK) != 0 && schedule_looks_like(source); }

static bool read_stream(FILE *stream, struct text *out) {
    char buffer[4096];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, stream)) > 0) {
        text_add_bytes(out, buffer, count);
    }
    return ferror(stream) == 0;
}

static void read_source(const struct request *request, struct text *out) {
    const char *source = request->source;
    if (strcmp(source, "-") == 0) {
        if (!read_stream(stdin, out)) {
            cli_bad_usage(request->command, "cannot read standard input: %s", strerror(errno));
        }
        return;
    }
    FILE *file = is_written(source) ? NULL : fopen(source, "r");
    if (file != NULL) {
        bool good = read_stream(file, out);
        int problem = errno;
        fclose(file);
        if (!good) {
            cli_bad_usage(request->command, "cannot read %s: %s", source, strerror(problem));
        }
    } else if (is_written(source)) {
        text_add(out, "%s", source);
    } else {
        cli_bad_usage(request->command, "%s: %s (a schedule has steps such as r1(x))", source, strerror(errno));
    }
}

static const char *source_name(const struct request *request) {
    if (strcmp(request->source, "-") == 0) {
        return "standard input";
    }
    return is_written(request->source) ? "schedule" : request->source;
}

static bool parse_schedules(const struct request *request, struct schedule_book *book) {
    struct text text = {0};
    struct schedule_header header = {.inits = request->inits.items,
                                     .init_count = request->inits.count,
                                     .predicates = request->predicates.items,
                                     .predicate_count = request->predicates.count};
    read_source(request, &text);
    schedule_parse(book, source_name(request), text_string(&text), text.length, &header);
    text_free(&text);
    for (size_t i = 0; i < book->mistake_count; i++) {
        const struct schedule_mistake *mistake = &book->mistakes[i];
        fprintf(stderr, "%s:%" PRIu32 ":%" PRIu32 ": %s\n", mistake->source, mistake->line, mistake->column,
                mistake->sentence);
    }
    return book->mistake_count == 0;
}

/* ---- Levels ---- */

/* `all` means all that can run it; the others that are named must be able to. */
static bool check_levels(struct request *request, const struct schedule_book *book) {
    bool good = true;
    size_t kept = 0;
    for (size_t k = 0; k < request->algorithms.count; k++) {
        const struct cc_ops *algorithm = request->algorithms.items[k];
        const struct schedule_step *step = NULL;
        for (size_t i = 0; step == NULL && i < book->count; i++) {
            step = play_cannot_run(&book->schedules[i], algorithm);
        }
        if (step == NULL) {
            request->algorithms.items[kept++] = algorithm;
        } else if (!request->all) {
            struct text levels = {0};
            level_list(algorithm->levels, &levels);
            fprintf(stderr, "%s:%" PRIu32 ":%" PRIu32 ": %.*s asks for %s, which %s cannot run; it can run %s\n",
                    source_name(request), step->line, step->column, (int)step->length, step->text,
                    level_names[step->level - 1], algorithm->name, text_string(&levels));
            text_free(&levels);
            good = false;
        }
    }
    request->algorithms.count = kept;
    return good;
}

/* ---- Playing ---- */

static void show(const struct request *request, const struct play *play, bool first) {
    struct text out = {0};
    if (request->json) {
        json_t *object = play_json(play, request->locks);
        json_dumpf(object, stdout, 0);
        putchar('\n');
        json_decref(object);
    } else if (request->dot) {
        play_dot(play, &out);
    } else {
        text_add(&out, "%s", first ? "" : "\n");
        play_table(play, request->locks, &out);
    }
    fputs(text_string(&out), stdout);
    text_free(&out);
}

static void play_one(const struct request *request, const struct schedule_book *book, size_t number) {
    const struct schedule *schedule = &book->schedules[number];
    size_t count = request->algorithms.count;
    bool table = !request->json && !request->dot;
    struct play *plays = mem_new(count, sizeof *plays);
    if (table && book->count > 1) {
        printf("%s== %s:%" PRIu32 "\n", number > 0 ? "\n" : "", source_name(request), schedule->line);
    }
    for (size_t i = 0; i < count; i++) {
        const struct cc_ops *algorithm = request->algorithms.items[i];
        void *options = options_of(request, algorithm);
        play_schedule(&plays[i], schedule, algorithm, options, request->locks);
        show(request, &plays[i], i == 0);
        mem_free(options);
    }
    if (count > 1 && table) {
        struct text out = {0};
        play_comparison(plays, count, &out);
        printf("\n%s", text_string(&out));
        text_free(&out);
    }
    for (size_t i = 0; i < count; i++) {
        play_free(&plays[i]);
    }
    mem_free(plays);
}

/* ---- The command ---- */

static error_t take(int key, char *argument, struct argp_state *state) {
    struct request *request = state->input;
    switch (key) {
    case KEY_ALGORITHM: take_algorithms(request, argument); return 0;
    case KEY_INIT: vector_push(&request->inits, argument); return 0;
    case KEY_PRED: vector_push(&request->predicates, argument); return 0;
    case KEY_SET: vector_push(&request->settings, argument); return 0;
    case KEY_JSON: request->json = true; return 0;
    case KEY_LOCKS: request->locks = true; return 0;
    case KEY_DOT: request->dot = true; return 0;
    case ARGP_KEY_ARG:
        if (request->source != NULL) {
            cli_bad_usage(request->command, "one schedule at a time, in quotes: `%s' is one too many", argument);
        }
        request->source = argument;
        return 0;
    case ARGP_KEY_NO_ARGS: cli_bad_usage(request->command, "no schedule given");
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option play_options[] = {
    {"algorithm", KEY_ALGORITHM, "NAME,...|all", 0, "the algorithms to play it to, one after another (default: 2pl)",
     0},
    {"init", KEY_INIT, "x=10,y=20", 0, "the rows that are there at the start; others are absent", 0},
    {"pred", KEY_PRED, "'P: v%3=0'", 0, "what the predicate P means", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "an option of the algorithms, victim=oldest, or of one, 2pl.victim=oldest", 0},
    {"json", KEY_JSON, NULL, 0, "one object a line for each algorithm", 0},
    {"locks", KEY_LOCKS, NULL, 0, "show the lock table after each step", 0},
    {"dot", KEY_DOT, NULL, 0, "the wait-for graph instead, for graphviz", 0},
    {0},
};
static const struct argp parser = {
    .options = play_options,
    .parser = take,
    .args_doc = "SCHEDULE|FILE|-",
    .doc =
        "Feeds a written schedule, such as 'r1(x) w2(x,5) c2 w1(x,$x+1) c1', to algorithms step by step: what is "
        "granted, who waits for whom and until when, who is aborted and why, what each read returned, and what is left "
        "in the end."
        "\v"
        "A step of a transaction that waits is put off until the wait is over. An aborted transaction skips its steps "
        "until a new b. A write without a value, w1(x), writes 101, the next of T1 102; those of T2 201, 202. Time "
        "stands still; timeouts fire when no step is left that could be given."};

int cli_play(int argc, char **argv) {
    struct request request = {.command = argv[0]};
    struct schedule_book book = {0};
    cli_parse(&parser, argc, argv, &request);
    if (request.algorithms.count == 0) {
        take_algorithms(&request, "2pl");
    }
    check_settings(&request);
    if (request.json && request.dot) {
        cli_bad_usage(request.command, "--json or --dot, not both");
    }
    bool good = parse_schedules(&request, &book) && check_levels(&request, &book);
    for (size_t i = 0; good && i < book.count; i++) {
        play_one(&request, &book, i);
    }
    schedule_book_free(&book);
    vector_free(&request.algorithms);
    vector_free(&request.inits);
    vector_free(&request.predicates);
    vector_free(&request.settings);
    if (good && fflush(stdout) != 0) {
        fprintf(stderr, "ccsim play: cannot write: %s\n", strerror(errno));
        return LAB_INCOMPLETE;
    }
    return good ? LAB_DONE : LAB_USAGE;
}
