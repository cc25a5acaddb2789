/* recording_read.c - reads a history file line by line and reports it to a certifier, as the run itself did. That a read
 * is of a dead version is worked out here, from what was installed and committed before the reader began: the word in
 * the file can add to it, and its absence hides nothing. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/check/lineage.h"
#include "sim/check/recording.h"

#define uthash_malloc(size)      mem_new(1, size)
#define uthash_free(block, size) mem_free(block)
#include <uthash.h>

const char recording_magic[] = "ccsim-history 1";
const char recording_sights[] = "rnpo";
const char *const recording_operators[] = {
    [CONDITION_TRUE] = "true", [CONDITION_EQ] = "=", [CONDITION_NE] = "!=", [CONDITION_LT] = "<",
    [CONDITION_LE] = "<=",     [CONDITION_GT] = ">", [CONDITION_GE] = ">="};
enum { OPERATORS = CONDITION_GE + 1, LINE_MAX = 1024, TABLES_MAX = 65536 };

/* A version to be left at the commit. */
struct leaving {
    int64_t key;
    uint64_t under;
    uint16_t table;
};

/* An attempt: under way, or rolled back (node NULL). */
struct attempt {
    uint64_t id, begin_seq; /* commits before it began */
    VECTOR(struct leaving) leaves;
    struct node *node;
    uint32_t statement;
    int64_t last_key; /* of the reads of this statement */
    bool read_any, descends;
    UT_hash_handle hh;
};

struct reader_state {
    struct certifier *certifier;
    struct attempt *attempts; /* a hash */
    struct lineage *lineage;
    uint64_t commits;
    struct recording_verdict *verdict;
    bool level_asked; /* a level was asked for, and no excuse is taken */
    struct text *error;
    const char *source;
    uint64_t line, newest_id;
    bool held_to_other; /* level than its own */
    int64_t now_ns;
    char *rest; /* of the line */
};

static bool bad(struct reader_state *state, const char *sentence) {
    text_add(state->error, "%s:%" PRIu64 ": %s", state->source, state->line, sentence);
    return false;
}

/* ---- Words ---- */

static const char *next_word(struct reader_state *state) {
    char *word = state->rest + strspn(state->rest, " \t");
    size_t length = strcspn(word, " \t");
    state->rest = word + length + (word[length] != '\0');
    word[length] = '\0';
    return word;
}

static bool take_integer(struct reader_state *state, int64_t *value) {
    const char *word = next_word(state);
    return (text_parse_integer(word, value) && word[0] != '\0') || bad(state, "a whole number is missing or too large");
}

static bool take_number(struct reader_state *state, uint64_t *value, uint64_t most) {
    int64_t integer;
    if (!take_integer(state, &integer)) {
        return false;
    }
    *value = (uint64_t)integer;
    return (integer >= 0 && *value <= most) || bad(state, "a number is out of its bounds");
}

static bool take_small(struct reader_state *state, uint32_t *value) {
    uint64_t wide = 0;
    bool good = take_number(state, &wide, UINT32_MAX);
    *value = (uint32_t)wide;
    return good;
}

static bool take_table(struct reader_state *state, uint16_t *table) {
    uint64_t wide = 0;
    bool good = take_number(state, &wide, TABLES_MAX - 1);
    *table = (uint16_t)wide;
    return good;
}

static bool take_image(struct reader_state *state, int64_t *value, bool *absent) {
    const char *word = next_word(state);
    *absent = strcmp(word, "-") == 0;
    *value = 0;
    return *absent || (word[0] != '\0' && text_parse_integer(word, value)) ||
           bad(state, "a value is missing: a number, or -");
}

static bool take_end(struct reader_state *state) {
    return next_word(state)[0] == '\0' || bad(state, "the line goes on after its end");
}

/* ---- Attempts ---- */

static struct attempt *find_attempt(const struct reader_state *state, uint64_t id) {
    struct attempt *attempt;
    HASH_FIND(hh, state->attempts, &id, sizeof id, attempt);
    return attempt;
}

static struct attempt *take_attempt(struct reader_state *state) {
    uint64_t id = 0;
    if (!take_number(state, &id, INT64_MAX)) {
        return NULL;
    }
    struct attempt *attempt = find_attempt(state, id);
    if (attempt == NULL || attempt->node == NULL) {
        bad(state, "that transaction is not under way");
        return NULL;
    }
    return attempt;
}

static bool take_statement(struct reader_state *state, const struct attempt *attempt, uint32_t *statement) {
    if (!take_small(state, statement)) {
        return false;
    }
    return (*statement == attempt->statement && *statement > 0) ||
           bad(state, "that is not the transaction's current statement");
}

static bool take_writer(struct reader_state *state, uint64_t *writer) {
    if (!take_number(state, writer, INT64_MAX)) {
        return false;
    }
    return *writer <= state->newest_id || bad(state, "the writer has not begun");
}

/* ---- Events ---- */

static bool event_begin(struct reader_state *state) {
    uint64_t id = 0;
    if (!take_number(state, &id, INT64_MAX)) {
        return false;
    }
    if (id <= state->newest_id) {
        return bad(state, "transactions are numbered in the order of their beginning, from 1");
    }
    struct attempt *attempt = mem_new(1, sizeof *attempt);
    attempt->id = state->newest_id = id;
    attempt->begin_seq = state->commits;
    attempt->node = certifier_begin(state->certifier, id);
    HASH_ADD(hh, state->attempts, id, sizeof attempt->id, attempt);
    state->verdict->attempts++;
    return take_end(state);
}

static bool take_level_name(struct reader_state *state, enum certifier_level *level) {
    const char *word = next_word(state);
    for (int i = 0; i < CERTIFIER_LEVELS; i++) {
        if (strcmp(word, certifier_level_names[i]) == 0) {
            *level = (enum certifier_level)i;
            return true;
        }
    }
    return false;
}

/* A history that is held to another level than its own is held to that throughout. */
static bool event_level(struct reader_state *state) {
    struct attempt *attempt = take_attempt(state);
    enum certifier_level level = CERTIFIER_SER, holds = CERTIFIER_SER;
    if (attempt == NULL) {
        return false;
    }
    if (attempt->statement > 0 || !take_level_name(state, &level) || !take_level_name(state, &holds)) {
        return bad(state, "`l' comes before the first statement, with two of RU RC RR SI SER");
    }
    if (!state->held_to_other && level != state->verdict->level) {
        certifier_level(state->certifier, attempt->node, level, holds);
    }
    return take_end(state);
}

static bool event_statement(struct reader_state *state) {
    struct attempt *attempt = take_attempt(state);
    uint32_t statement = 0;
    if (attempt == NULL || !take_small(state, &statement)) {
        return false;
    }
    if (statement <= attempt->statement) {
        return bad(state, "a transaction's statements are numbered in their order, from 1");
    }
    attempt->statement = statement;
    attempt->read_any = attempt->descends = false;
    certifier_statement(state->certifier, attempt->node, statement);
    return take_end(state);
}

static bool take_flags(struct reader_state *state, struct certifier_read *read) {
    for (const char *word = next_word(state); word[0] != '\0'; word = next_word(state)) {
        if (strcmp(word, "anew") == 0 && read->writer == 0) {
            read->anew = true;
            if (!take_writer(state, &read->under)) {
                return false;
            }
        } else if (strcmp(word, "dirty") == 0) {
            read->dirty = true;
        } else if (strcmp(word, "dead") == 0) {
            read->dead = true;
        } else if (strcmp(word, "kept") == 0) {
            read->kept = true;
        } else {
            return bad(state, "a read is dirty, dead, kept or anew, or nothing of these");
        }
    }
    return true;
}

/* Superseded by one that had been committed when the attempt began? */
static bool is_dead(const struct reader_state *state, const struct attempt *attempt,
                    const struct certifier_read *read) {
    if (read->dirty || read->writer == attempt->id) {
        return false;
    }
    return read->anew
               ? lineage_superseded_beneath(state->lineage, read->table, read->key, read->under, attempt->begin_seq)
               : lineage_superseded(state->lineage, read->table, read->key, read->writer, attempt->begin_seq);
}

static bool event_read(struct reader_state *state, enum certifier_sight sight) {
    struct attempt *attempt = take_attempt(state);
    struct certifier_read read = {.sight = (uint8_t)sight};
    uint32_t statement;
    if (attempt == NULL || !take_statement(state, attempt, &statement) || !take_table(state, &read.table) ||
        !take_integer(state, &read.key) || !take_writer(state, &read.writer) || !take_small(state, &read.number) ||
        !take_flags(state, &read)) {
        return false;
    }
    const struct attempt *writer = find_attempt(state, read.writer);
    if (writer != NULL && writer->node == NULL) {
        return bad(state, "what it reads was rolled back before");
    }
    if (sight != SIGHT_OWN_VERSION && read.writer == attempt->id) {
        return bad(state, "reads of own versions are not part of a history");
    }
    read.dirty = writer != NULL && writer != attempt;
    read.dead |= is_dead(state, attempt, &read);
    attempt->descends |= attempt->read_any && read.key < attempt->last_key;
    attempt->read_any = true;
    attempt->last_key = read.key;
    certifier_read(state->certifier, attempt->node, statement, &read);
    return true;
}

static bool take_condition(struct reader_state *state, struct condition *condition) {
    condition->of_id = strcmp(next_word(state), "id") == 0;
    const char *operator= next_word(state);
    size_t at = 0;
    while (at < OPERATORS && strcmp(recording_operators[at], operator) != 0) {
        at++;
    }
    if (at == OPERATORS) {
        return bad(state, "the condition is none of true = != < <= > >=");
    }
    condition->operator=(enum condition_operator) at;
    return take_integer(state, &condition->modulus) && take_integer(state, &condition->constant);
}

static bool event_scan(struct reader_state *state) {
    struct attempt *attempt = take_attempt(state);
    struct certifier_scan scan = {0};
    uint32_t statement;
    if (attempt == NULL || !take_statement(state, attempt, &statement) || !take_table(state, &scan.table) ||
        !take_integer(state, &scan.first) || !take_integer(state, &scan.last) ||
        !take_condition(state, &scan.condition)) {
        return false;
    }
    if (attempt->descends) {
        return bad(state, "a scan's reads must come in ascending order of their keys");
    }
    certifier_scan(state->certifier, attempt->node, statement, &scan);
    return take_end(state);
}

static bool event_skip(struct reader_state *state) {
    struct attempt *attempt = take_attempt(state);
    uint16_t table;
    int64_t key;
    if (attempt == NULL || !take_table(state, &table) || !take_integer(state, &key)) {
        return false;
    }
    certifier_skip(state->certifier, attempt->node, table, key);
    return take_end(state);
}

static bool event_fail(struct reader_state *state) {
    struct attempt *attempt = take_attempt(state);
    uint32_t statement;
    if (attempt == NULL || !take_statement(state, attempt, &statement)) {
        return false;
    }
    certifier_fail(state->certifier, attempt->node, statement);
    attempt->descends = true; /* it has no scan any more */
    return take_end(state);
}

static bool event_rollback(struct reader_state *state, bool back) {
    struct attempt *attempt = take_attempt(state);
    uint32_t mark = 0;
    if (attempt == NULL || !take_small(state, &mark)) {
        return false;
    }
    if (back) {
        certifier_back(state->certifier, attempt->node, mark);
    } else {
        certifier_rollback(state->certifier, attempt->node, mark);
    }
    attempt->descends = true;
    return take_end(state);
}

static bool event_install(struct reader_state *state) {
    struct attempt *attempt = take_attempt(state);
    struct certifier_install install = {0};
    if (attempt == NULL || !take_table(state, &install.table) || !take_integer(state, &install.key) ||
        !take_writer(state, &install.behind) || !take_writer(state, &install.under) ||
        !take_small(state, &install.number) || !take_image(state, &install.before, &install.before_absent) ||
        !take_image(state, &install.after, &install.after_absent)) {
        return false;
    }
    if (install.behind == attempt->id || install.under == attempt->id) {
        return bad(state, "a transaction leaves one version of a row, and not behind its own");
    }
    certifier_install(state->certifier, attempt->node, &install);
    vector_push(&attempt->leaves,
                ((struct leaving){.key = install.key, .under = install.under, .table = install.table}));
    return take_end(state);
}

static void free_attempt(struct reader_state *state, struct attempt *attempt) {
    HASH_DEL(state->attempts, attempt);
    vector_free(&attempt->leaves);
    mem_free(attempt);
}

static void leave_versions(struct reader_state *state, const struct attempt *attempt) {
    state->commits++;
    for (size_t i = 0; i < attempt->leaves.count; i++) {
        const struct leaving *leaving = &attempt->leaves.items[i];
        lineage_add(state->lineage, leaving->table, leaving->key, attempt->id, leaving->under, state->commits);
    }
}

static bool event_end(struct reader_state *state, bool commits) {
    struct attempt *attempt = take_attempt(state);
    if (attempt == NULL) {
        return false;
    }
    if (commits) {
        certifier_commit(state->certifier, attempt->node);
        leave_versions(state, attempt);
        free_attempt(state, attempt);
    } else {
        certifier_abort(state->certifier, attempt->node);
        attempt->node = NULL;
        state->verdict->aborts++;
    }
    return take_end(state);
}

static bool event_time(struct reader_state *state) {
    int64_t now_ns;
    if (!take_integer(state, &now_ns)) {
        return false;
    }
    if (now_ns < state->now_ns) {
        return bad(state, "time runs backwards");
    }
    state->now_ns = now_ns;
    return take_end(state);
}

static bool event_table(struct reader_state *state) {
    uint16_t table;
    if (!take_table(state, &table)) {
        return false;
    }
    certifier_table(state->certifier, table, next_word(state));
    return take_end(state);
}

/* Held to another level than its own it has no excuse. */
static bool event_excused(struct reader_state *state) {
    if (!state->level_asked) {
        certifier_excuse_aborted_reads(state->certifier);
    }
    return take_end(state);
}

static bool take_event(struct reader_state *state, const char *word) {
    if (strcmp(word, "table") == 0) {
        return event_table(state);
    }
    if (strcmp(word, "excused") == 0) {
        return event_excused(state);
    }
    const char *sight = word[0] != '\0' ? strchr(recording_sights, word[0]) : NULL;
    if (word[0] != '\0' && word[1] == '\0') {
        switch (word[0]) {
        case 't': return event_time(state);
        case 'b': return event_begin(state);
        case 'l': return event_level(state);
        case 's': return event_statement(state);
        case 'q': return event_scan(state);
        case 'k': return event_skip(state);
        case 'f': return event_fail(state);
        case 'u': return event_rollback(state, false);
        case 'g': return event_rollback(state, true);
        case 'i': return event_install(state);
        case 'c': return event_end(state, true);
        case 'a': return event_end(state, false);
        default: break;
        }
        if (sight != NULL) {
            return event_read(state, (enum certifier_sight)(sight - recording_sights));
        }
    }
    return bad(state, "no event of a history begins so (docs/HISTORY.md)");
}

/* ---- The file ---- */

/* The next line without its end, blank ones and comments left out; false at the end of the file or if it is too
 * long. */
static bool next_line(struct reader_state *state, FILE *file, char *line) {
    while (fgets(line, LINE_MAX, file) != NULL) {
        state->line++;
        size_t length = strlen(line);
        if (length + 1 == LINE_MAX && line[length - 1] != '\n') {
            return bad(state, "the line is too long");
        }
        line[strcspn(line, "\r\n")] = '\0';
        size_t blanks = strspn(line, " \t");
        if (line[blanks] != '\0' && line[blanks] != '#') {
            state->rest = line;
            return true;
        }
    }
    return false;
}

static bool take_level(struct reader_state *state, enum certifier_level *level) {
    bool named = strcmp(next_word(state), "level") == 0;
    return named && take_level_name(state, level) ? take_end(state)
                                                  : bad(state, "the second line is `level' and one of RU RC RR SI SER");
}

static bool take_header(struct reader_state *state, FILE *file, char *line, enum certifier_level *level) {
    if (!next_line(state, file, line) || strcmp(line, recording_magic) != 0) {
        return state->error->length == 0 ? bad(state, "this is no history: it does not begin with `ccsim-history 1'")
                                         : false;
    }
    if (!next_line(state, file, line)) {
        return state->error->length == 0 ? bad(state, "the history ends after its first line") : false;
    }
    return take_level(state, level);
}

static void free_attempts(struct reader_state *state) {
    while (state->attempts != NULL) {
        struct attempt *attempt = state->attempts;
        state->verdict->unfinished += attempt->node != NULL;
        free_attempt(state, attempt);
    }
}

bool certifier_judge_history(FILE *file, const char *source, enum certifier_level level,
                             struct recording_verdict *verdict, struct text *error) {
    *verdict = (struct recording_verdict){0};
    struct reader_state state = {.verdict = verdict, .error = error, .source = source};
    char line[LINE_MAX];
    if (!take_header(&state, file, line, &verdict->level)) {
        return false;
    }
    state.level_asked = level < CERTIFIER_LEVELS;
    state.held_to_other = level < CERTIFIER_LEVELS && level != verdict->level;
    verdict->level = level < CERTIFIER_LEVELS ? level : verdict->level;
    state.certifier = certifier_new(verdict->level, &state.now_ns);
    state.lineage = lineage_new();
    bool good = true;
    while (good && next_line(&state, file, line)) {
        good = take_event(&state, next_word(&state));
    }
    good = good && error->length == 0;
    verdict->counts = *certifier_counts(state.certifier);
    text_add(&verdict->witness, "%s", certifier_witness(state.certifier));
    free_attempts(&state);
    lineage_free(state.lineage);
    certifier_free(state.certifier);
    return good;
}

void recording_verdict_free(struct recording_verdict *verdict) { text_free(&verdict->witness); }
