/* mix_read.c - from the sections of a config to a mix: tables first, then the transactions with their variables before
 * their steps, then the invariants; whatever the order in the file. All mistakes are told. */
#include "workloads/mix.h"

#include <stdio.h>
#include <string.h>

enum { SUGGESTION_BYTES = 160 };

/* ---- The keys ---- */

struct table_settings {
    int64_t rows;
    double value;
};
struct type_settings {
    double weight, rollback;
    int isolation, declares;
    int64_t max_attempts;
    struct option_call delay;
};
struct invariant_settings {
    int level;
};

#define VALUE_MAX 1e15
static const struct option table_rows[] = {
    {"rows", OPTION_COUNT, offsetof(struct table_settings, rows), "1000", 0, PROGRAM_ROWS_MAX, NULL, OPTION_REQUIRED,
     "rows at the start, with the ids 1, 2, 3, ..."},
    {"value", OPTION_NUMBER, offsetof(struct table_settings, value), "0", -VALUE_MAX, VALUE_MAX, NULL, 0,
     "what each of them begins with; a whole number"},
};

static const char *const isolation_names[] = {"own", "ru", "rc", "rr", "si", "ser", NULL};
static const char *const declares_names[] = {"nothing", "read_only", "deferrable", NULL};
static const char *const delay_choices[] = {"distribution", "adaptive", "backoff(duration, number, duration)", NULL};
static const char *const level_choices[] = {"ru", "rc", "rr", "si", "ser", NULL};

static const struct option type_rows[] = {
    {"weight", OPTION_NUMBER, offsetof(struct type_settings, weight), "1", 0, 1e9, NULL, 0,
     "its share of the transactions, relative to the weights of the others"},
    {"rollback", OPTION_SHARE, offsetof(struct type_settings, rollback), "0", 0, 0, NULL, 0,
     "share of them that roll back at their end by their own wish instead of committing"},
    {"isolation", OPTION_CHOICE, offsetof(struct type_settings, isolation), "own", 0, 0, isolation_names, 0,
     "the level they ask for; own: whatever the algorithm gives"},
    {"declares", OPTION_CHOICE, offsetof(struct type_settings, declares), "nothing", 0, 0, declares_names, 0,
     "what they say of themselves at their begin; a deferrable one only reads and would rather wait than be refused"},
    {"max_attempts", OPTION_COUNT, offsetof(struct type_settings, max_attempts), "3", 1, 1e9, NULL,
     OPTION_OPTIONAL | OPTION_MAY_BE_UNLIMITED,
     "after so many attempts they give up; else as restart.max_attempts says"},
    {"delay", OPTION_CALL, offsetof(struct type_settings, delay), "10ms", 0, 0, delay_choices, OPTION_OPTIONAL,
     "how long their restarts wait; else as restart.delay says"},
    {"let NAME", OPTION_TEXT, 0, "uniform(account)", 0, 0, NULL, OPTION_OPTIONAL,
     "a variable: uniform(T), zipf(T, 0.9), hot(T, 90%, 1%), uniform(1, 10), chance(50%), sequence(T), last(T) or a number; "
     "`let NAME[3]` is a set of different rows; `not a` excludes the row of a, `sorted` sorts a set"},
    {"steps", OPTION_TEXT, 0, "r(account a) w(account a, $a+1)", 0, 0, NULL, OPTION_REQUIRED,
     "what they do, one step after another: see docs/MIX.md"},
};
static const struct option invariant_rows[] = {
    {"level", OPTION_CHOICE, offsetof(struct invariant_settings, level), "ser", 0, 0, level_choices, 0,
     "the weakest level that protects the invariants, and what the transactions expect"},
    {"NAME", OPTION_TEXT, 0, "sum(account) constant", 0, 0, NULL, OPTION_OPTIONAL,
     "what must hold at the end: sums and differences of sum(T), count(T), min(T), max(T) and commits(TRANSACTION), "
     "`constant` or compared with a number"},
};
static const struct option_table table_table = OPTION_TABLE(table_rows, struct table_settings);
static const struct option_table type_table = OPTION_TABLE(type_rows, struct type_settings);
static const struct option_table invariant_table = OPTION_TABLE(invariant_rows, struct invariant_settings);

const struct workload_section mix_sections[] = {
    {"table", true, &table_table, "a table of the workload mix"},
    {"transaction", true, &type_table, "a kind of transaction of the workload mix"},
    {"invariant", false, &invariant_table, "what must hold at the end of a run of the workload mix"},
    {NULL, false, NULL, NULL},
};

static bool is_let(const char *key) { return strncmp(key, "let ", 4) == 0; }

const struct option *mix_section_option(const char *section, const char *key) {
    if (strcmp(section, "table") == 0) {
        return option_find(&table_table, key);
    }
    if (strcmp(section, "transaction") == 0) {
        return option_find(&type_table, is_let(key) ? "let NAME" : key);
    }
    return option_find(&invariant_table, strcmp(key, "level") == 0 ? "level" : "NAME");
}

/* ---- Reading one section's settings ---- */

struct reading {
    struct mix_reader reader;
    const struct workload_entry *entries;
    size_t count;
};

/* Ready to read the value of the entry. */
static struct mix_reader *open_entry(struct reading *reading, size_t entry) {
    reading->reader.entry = entry;
    reading->reader.text = reading->reader.at = reading->entries[entry].value;
    reading->reader.failed = false;
    return &reading->reader;
}

/* NAME of `table NAME`; NULL: it is no such section. */
static const char *section_name(const char *section, const char *word) {
    size_t length = strlen(word);
    if (strncmp(section, word, length) != 0 || section[length] != ' ') {
        return NULL;
    }
    return section + length + strspn(section + length, " ");
}

static size_t section_end(const struct reading *reading, size_t header) {
    size_t end = header + 1;
    while (end < reading->count && reading->entries[end].key != NULL) {
        end++;
    }
    return end;
}

static void unknown_key(struct reading *reading, size_t entry, const struct option_table *table) {
    char suggestion[SUGGESTION_BYTES];
    const char *names[16];
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        names[count++] = table->options[i].name;
    }
    const char *key = reading->entries[entry].key;
    text_suggestion(suggestion, sizeof suggestion, key, names, count);
    mix_fail(open_entry(reading, entry), NULL, "unknown key `%s` in [%s]%s", key, reading->entries[entry].section,
             suggestion);
}

/* The options of a section into `values`; what is text is left to others. */
static void read_options(struct reading *reading, size_t header, const char *word, const struct option_table *table,
                         void *values) {
    options_default(table, values);
    for (size_t i = header + 1; i < section_end(reading, header); i++) {
        const struct option *option = mix_section_option(word, reading->entries[i].key);
        struct text error = {0};
        if (option == NULL) {
            unknown_key(reading, i, table);
        } else if (option->type != OPTION_TEXT && !option_parse(option, reading->entries[i].value, values, &error)) {
            struct mix_reader *reader = open_entry(reading, i);
            mix_fail(reader, reader->text, "%s: %s", option->name, text_string(&error));
        }
        text_free(&error);
    }
}

/* The entry with that key; 0: there is none. */
static size_t find_key(const struct reading *reading, size_t header, const char *key) {
    for (size_t i = header + 1; i < section_end(reading, header); i++) {
        if (strcmp(reading->entries[i].key, key) == 0) {
            return i;
        }
    }
    return 0;
}

static bool name_is_good(struct reading *reading, size_t header, const char *name) {
    size_t length = mix_name_length(name);
    if (length == 0 || length > MIX_NAME_MAX || name[length] != '\0') {
        return mix_fail(open_entry(reading, header), NULL,
                        "[%s]: a name has 1 to %d letters, digits and `_`, a letter first",
                        reading->entries[header].section, MIX_NAME_MAX);
    }
    return true;
}

/* ---- Tables ---- */

static void read_table(struct reading *reading, size_t header, const char *name) {
    struct mix *mix = reading->reader.mix;
    struct table_settings settings = {.rows = 1000}; /* where they are missing: the rest is read all the same */
    read_options(reading, header, "table", &table_table, &settings);
    if (!name_is_good(reading, header, name)) {
        return;
    }
    if (mix->tables.count == STORE_TABLES_MAX) {
        mix_fail(open_entry(reading, header), NULL, "a mix has at most %d tables", STORE_TABLES_MAX);
        return;
    }
    size_t value = find_key(reading, header, "value");
    if (find_key(reading, header, "rows") == 0) {
        mix_fail(open_entry(reading, header), NULL, "[table %s] needs `rows`", name);
    }
    if (value > 0 && settings.value != (double)(int64_t)settings.value) {
        struct mix_reader *reader = open_entry(reading, value);
        mix_fail(reader, reader->text, "value: expected a whole number");
    }
    struct mix_table table = {.name = mem_string(name), .rows = settings.rows, .value = (int64_t)settings.value};
    vector_push(&mix->tables, table);
}

/* ---- Transactions ---- */

static void set_type(struct reading *reading, size_t header, const struct type_settings *settings,
                     struct mix_type *type) {
    type->weight = settings->weight;
    type->rollback = settings->rollback;
    type->draws_rollback = find_key(reading, header, "rollback") > 0;
    type->isolation = settings->isolation == 0 ? LEVEL_OWN : settings->isolation - 1;
    type->declares = (enum declaration)settings->declares;
    type->delay = settings->delay;
    type->has_delay = find_key(reading, header, "delay") > 0;
    type->retry.max_attempts = settings->max_attempts;
}

static void check_declaration(struct reading *reading, size_t header, const struct mix_type *type) {
    size_t entry = find_key(reading, header, "declares");
    if (type->declares != DECLARES_NOTHING && type->writes && entry > 0) {
        struct mix_reader *reader = open_entry(reading, entry);
        mix_fail(reader, reader->text, "declares: the steps of `%s` write or lock rows", type->name);
    }
}

static void read_type(struct reading *reading, size_t header, const char *name) {
    struct mix *mix = reading->reader.mix;
    struct type_settings settings = {0};
    read_options(reading, header, "transaction", &type_table, &settings);
    if (!name_is_good(reading, header, name)) {
        return;
    }
    if (mix->types.count == MIX_TYPES_MAX) {
        mix_fail(open_entry(reading, header), NULL, "a mix has at most %d kinds of transaction", MIX_TYPES_MAX);
        return;
    }
    vector_push(&mix->types, ((struct mix_type){.name = mem_string(name)}));
    struct mix_type *type = &mix->types.items[mix->types.count - 1];
    set_type(reading, header, &settings, type);
    for (size_t i = header + 1; i < section_end(reading, header); i++) {
        if (is_let(reading->entries[i].key)) {
            mix_read_variable(open_entry(reading, i), type, reading->entries[i].key + 4);
        }
    }
    size_t steps = find_key(reading, header, "steps");
    if (steps > 0) {
        mix_read_steps(open_entry(reading, steps), type);
    } else {
        mix_fail(open_entry(reading, header), NULL, "[transaction %s] needs `steps`", name);
    }
    check_declaration(reading, header, type);
    mix->value_count += type->value_count;
    mix->weight += type->weight;
}

/* ---- Invariants ---- */

static bool type_name(struct mix_reader *reader, int *type) {
    char name[MIX_NAME_MAX + 1], suggestion[SUGGESTION_BYTES];
    const char *names[MIX_TYPES_MAX];
    size_t count = reader->mix->types.count;
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "a transaction", name)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = reader->mix->types.items[i].name;
        if (strcmp(names[i], name) == 0) {
            *type = (int)i;
            return true;
        }
    }
    return mix_fail(reader, at, "unknown transaction `%s`%s", name,
                    text_suggestion(suggestion, sizeof suggestion, name, names, count));
}

static bool read_measure(struct mix_reader *reader, struct mix_invariant_term *term) {
    static const char *const words[] = {"sum", "count", "min", "max", "commits"};
    enum { WORDS = sizeof words / sizeof words[0] };
    char word[MIX_NAME_MAX + 1], suggestion[SUGGESTION_BYTES];
    mix_blanks(reader);
    const char *at = reader->at;
    if (!mix_name(reader, "sum(T), count(T), min(T), max(T) or commits(TRANSACTION)", word)) {
        return false;
    }
    size_t measure = 0;
    while (measure < WORDS && strcmp(words[measure], word) != 0) {
        measure++;
    }
    if (measure == WORDS) {
        return mix_fail(reader, at, "unknown measure `%s`%s", word,
                        text_suggestion(suggestion, sizeof suggestion, word, words, WORDS));
    }
    term->measure = (enum mix_measure)measure;
    return mix_expect(reader, "(") &&
           (term->measure == MIX_COMMITS ? type_name(reader, &term->of) : mix_table_name(reader, &term->of)) &&
           mix_expect(reader, ")");
}

static int64_t at_start(const struct mix *mix, const struct mix_invariant *invariant) {
    int64_t total = 0;
    for (size_t i = 0; i < invariant->term_count; i++) {
        const struct mix_invariant_term *term = &invariant->terms[i];
        if (term->measure == MIX_COMMITS) {
            continue;
        }
        const struct mix_table *table = &mix->tables.items[term->of];
        total += term->sign * (term->measure == MIX_SUM     ? table->rows * table->value
                               : term->measure == MIX_COUNT ? table->rows
                                                            : table->value);
    }
    return total;
}

static bool read_relation(struct mix_reader *reader, struct mix_invariant *invariant) {
    if (mix_take_word(reader, "constant")) {
        invariant->operator= CONDITION_EQ;
        invariant->constant = at_start(reader->mix, invariant);
        return true;
    }
    mix_blanks(reader);
    if (strchr("=<>!", *reader->at) == NULL || *reader->at == '\0') {
        return mix_fail(reader, reader->at, "expected `constant`, or one of = != < <= > >= and a number");
    }
    return mix_operator(reader, &invariant->operator) && mix_integer(reader, "a whole number", &invariant->constant);
}

static bool read_invariant(struct mix_reader *reader, struct mix_invariant *invariant) {
    int sign = 1;
    do {
        if (invariant->term_count == MIX_TESTS_MAX) {
            return mix_fail(reader, reader->at, "an invariant has at most %d terms", MIX_TESTS_MAX);
        }
        struct mix_invariant_term *term = &invariant->terms[invariant->term_count++];
        term->sign = sign;
        if (!read_measure(reader, term)) {
            return false;
        }
        sign = mix_sees(reader, "-") ? -1 : 1;
    } while (mix_take(reader, "+") || mix_take(reader, "-"));
    struct text text = {0};
    text_add_bytes(&text, reader->text, (size_t)(reader->at - reader->text));
    invariant->text = mem_string(text_trim(text.bytes));
    text_free(&text);
    return read_relation(reader, invariant) && mix_at_end(reader);
}

static void read_invariants(struct reading *reading, size_t header) {
    struct mix *mix = reading->reader.mix;
    struct invariant_settings settings = {0};
    read_options(reading, header, "invariant", &invariant_table, &settings);
    mix->level = settings.level;
    for (size_t i = header + 1; i < section_end(reading, header); i++) {
        if (strcmp(reading->entries[i].key, "level") != 0) {
            struct mix_invariant invariant = {.name = mem_string(reading->entries[i].key)};
            read_invariant(open_entry(reading, i), &invariant);
            vector_push(&mix->invariants, invariant);
        }
    }
}

/* ---- All of it ---- */

static void each_section(struct reading *reading, const char *word,
                         void (*read)(struct reading *reading, size_t header, const char *name)) {
    for (size_t i = 0; i < reading->count; i = section_end(reading, i)) {
        const char *name = section_name(reading->entries[i].section, word);
        if (name != NULL) {
            read(reading, i, name);
        }
    }
}

static void complain(struct reading *reading, const char *sentence) {
    reading->reader.complained = true;
    reading->reader.faults->add(reading->reader.faults->context, WORKLOAD_NO_ENTRY, WORKLOAD_WHOLE, sentence);
}

struct mix *mix_read(const struct workload_entry *entries, size_t count, const struct workload_faults *faults) {
    struct mix *mix = mem_new(1, sizeof *mix);
    struct reading reading = {.reader = {.faults = faults, .mix = mix}, .entries = entries, .count = count};
    mix->level = LEVEL_SER;
    each_section(&reading, "table", read_table);
    each_section(&reading, "transaction", read_type);
    for (size_t i = 0; i < count; i = section_end(&reading, i)) {
        if (strcmp(entries[i].section, "invariant") == 0) {
            read_invariants(&reading, i);
        }
    }
    if (mix->types.count == 0) {
        complain(&reading, "the workload mix needs a section [transaction NAME]");
    } else if (mix->weight <= 0 && !reading.reader.complained) {
        complain(&reading, "all transactions have the weight 0");
    }
    for (size_t i = 0; i < mix->types.count && !reading.reader.complained; i++) {
        struct mix_type *type = &mix->types.items[i];
        type->retry.delay = type->has_delay ? &type->delay : NULL;
        mix_complete(mix, type);
        type->tells = mix_tells(type);
    }
    if (reading.reader.complained) {
        mix_free(mix);
        return NULL;
    }
    return mix;
}

void mix_free(struct mix *mix) {
    if (mix == NULL) {
        return;
    }
    for (size_t i = 0; i < mix->tables.count; i++) {
        mem_free(mix->tables.items[i].name);
    }
    for (size_t i = 0; i < mix->types.count; i++) {
        struct mix_type *type = &mix->types.items[i];
        for (size_t k = 0; k < type->variables.count; k++) {
            mem_free(type->variables.items[k].name);
        }
        mem_free(type->name);
        vector_free(&type->variables);
        vector_free(&type->terms);
        vector_free(&type->program);
    }
    for (size_t i = 0; i < mix->invariants.count; i++) {
        mem_free(mix->invariants.items[i].name);
        mem_free(mix->invariants.items[i].text);
    }
    vector_free(&mix->tables);
    vector_free(&mix->types);
    vector_free(&mix->invariants);
    mem_free(mix);
}
