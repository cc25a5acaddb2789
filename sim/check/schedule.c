/* schedule.c - texts of schedules, line by line: comments, headers, steps; see schedule.h. The grammar of a header line
 * is in schedule_header.c, that of a step in schedule_step.c. A mistake costs one token: reading goes on at the next
 * blank, so that all of them are told at once. */
#include "sim/check/schedule.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/check/schedule_parser.h"

/* --- mistakes --- */

static void add_mistake(struct schedule_book *book, struct schedule_mistake mistake, const char *format,
                        va_list arguments) {
    if (book->mistake_count == SCHEDULE_MISTAKES_MAX) {
        return;
    }
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    CHECK(length >= 0);
    mistake.sentence = mem_new((size_t)length + 1, 1);
    vsnprintf(mistake.sentence, (size_t)length + 1, format, again);
    va_end(again);
    if (book->mistake_count == book->mistake_capacity) {
        book->mistakes = mem_vector_grow(book->mistakes, &book->mistake_capacity, sizeof *book->mistakes);
    }
    book->mistakes[book->mistake_count++] = mistake;
}

void schedule_mistake(struct schedule_book *book, const char *source, uint32_t line, uint32_t column,
                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_mistake(book, (struct schedule_mistake){.source = source, .line = line, .column = column}, format, arguments);
    va_end(arguments);
}

void schedule_note(struct schedule_parser *parser, const char *at, const char *format, ...) {
    struct schedule_mistake mistake = {
        .source = parser->source, .line = parser->line, .column = (uint32_t)(at - parser->line_start) + 1};
    va_list arguments;
    va_start(arguments, format);
    add_mistake(parser->book, mistake, format, arguments);
    va_end(arguments);
}

/* --- one schedule --- */

static void open_schedule(struct schedule_parser *parser) {
    parser->open = true;
    parser->first_line = parser->line;
    for (size_t i = 0; i < parser->inits.count; i++) { /* rows and inits have the same numbers */
        const char *name = parser->inits.items[i].name;
        names_add(&parser->rows, name, strlen(name));
    }
}

struct given_id {
    int64_t id;
    const struct schedule_setting *setting; /* NULL: x, y or z by default */
    const char *name;
};

static int by_id(const void *a, const void *b) {
    const struct given_id *left = a, *right = b;
    return left->id != right->id ? (left->id > right->id) - (left->id < right->id)
                                 : (left->setting != NULL) - (right->setting != NULL);
}

/* The id that a row has by an id line or, x y z, by default. */
static bool find_given(const struct schedule_parser *parser, const char *name, struct given_id *given) {
    uint32_t number = names_find(&parser->setting_names, name, strlen(name));
    *given = (struct given_id){.name = name};
    if (number < parser->ids.count && parser->ids.items[number].name != NULL) {
        given->setting = &parser->ids.items[number];
        given->id = given->setting->value;
        return true;
    }
    given->id = name[0] - 'w';
    return name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0';
}

/* x y z have 1 2 3, rows of an id line what it says, the others 4, 5, ... in order of appearance, as far as free. */
static void give_ids(struct schedule_parser *parser, struct schedule *schedule) {
    VECTOR(struct given_id) givens = {0};
    struct given_id given;
    for (size_t i = 0; i < schedule->row_count; i++) {
        if (find_given(parser, schedule->rows[i].name, &given)) {
            vector_push(&givens, given);
        }
    }
    if (givens.count > 0) {
        qsort(givens.items, givens.count, sizeof *givens.items, by_id);
    }
    for (size_t i = 1; i < givens.count; i++) {
        const struct given_id *first = &givens.items[i - 1], *second = &givens.items[i];
        if (first->id == second->id) {
            schedule_mistake(parser->book, parser->source, second->setting->line, second->setting->column,
                             "%s and %s have the same id", first->name, second->name);
        }
    }
    int64_t next = 4;
    size_t at = 0;
    for (size_t i = 0; i < schedule->row_count; i++) {
        struct schedule_row *row = &schedule->rows[i];
        if (find_given(parser, row->name, &given)) {
            row->id = given.id;
            continue;
        }
        for (; at < givens.count && givens.items[at].id <= next; at++) {
            next += givens.items[at].id == next;
        }
        row->id = next++;
    }
    vector_free(&givens);
}

static void make_rows(struct schedule_parser *parser, struct schedule *schedule) {
    schedule->row_count = parser->rows.count;
    schedule->rows = mem_new(schedule->row_count, sizeof *schedule->rows);
    for (size_t i = 0; i < schedule->row_count; i++) {
        bool listed = i < parser->inits.count;
        schedule->rows[i] = (struct schedule_row){.name = parser->rows.items[i],
                                                  .present = listed || !parser->with_init,
                                                  .value = listed ? parser->inits.items[i].value : 0};
    }
    give_ids(parser, schedule);
}

static void make_predicates(struct schedule_parser *parser, struct schedule *schedule) {
    schedule->predicate_count = parser->predicates.count;
    schedule->predicates = mem_new(schedule->predicate_count, sizeof *schedule->predicates);
    for (size_t i = 0; i < schedule->predicate_count; i++) {
        struct schedule_predicate *predicate = &schedule->predicates[i];
        char *name = parser->predicates.items[i];
        *predicate = (struct schedule_predicate){.name = name, .condition.operator= CONDITION_TRUE };
        uint32_t number = names_find(&parser->setting_names, name, strlen(name));
        for (size_t k = 0; number != NAMES_NONE && k < parser->declared.count; k++) {
            if (parser->declared.items[k].name == parser->setting_names.items[number]) {
                predicate->declared = true;
                predicate->condition = parser->declared.items[k].condition;
            }
        }
    }
}

/* Takes the strings over from a table of names and leaves that empty. */
static char **take_names(struct names *names, size_t *count) {
    char **items = names->items;
    *count = names->count;
    names->items = NULL;
    names->count = names->capacity = 0;
    names_free(names);
    return items;
}

static void free_names(char **items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        mem_free(items[i]);
    }
    mem_free(items);
}

static void make_txns(struct schedule_parser *parser, struct schedule *schedule) {
    schedule->txn_count = parser->txns.count;
    schedule->txns = mem_new(schedule->txn_count, sizeof *schedule->txns);
    for (size_t i = 0; i < schedule->txn_count; i++) {
        bool number = text_parse_integer(parser->txns.items[i], &schedule->txns[i]);
        CHECK(number);
    }
    names_free(&parser->txns);
}

static void free_marks(struct schedule_parser *parser) {
    for (size_t i = 0; i < parser->marks.count; i++) {
        vector_free(&parser->marks.items[i]);
    }
    vector_free(&parser->marks);
}

static void close_schedule(struct schedule_parser *parser) {
    if (!parser->open) {
        return;
    }
    struct schedule_book *book = parser->book;
    struct schedule schedule = {.with_init = parser->with_init, .line = parser->first_line};
    size_t rows, predicates;
    make_rows(parser, &schedule);
    make_predicates(parser, &schedule);
    make_txns(parser, &schedule);
    mem_free(take_names(&parser->rows, &rows)); /* the strings belong to the rows now */
    mem_free(take_names(&parser->predicates, &predicates));
    schedule.savepoints = take_names(&parser->savepoints, &schedule.savepoint_count);
    schedule.row_list = parser->row_list.items;
    schedule.steps = parser->steps.items;
    schedule.step_count = parser->steps.count;
    parser->row_list.items = NULL;
    parser->row_list.count = parser->row_list.capacity = 0;
    parser->steps.items = NULL;
    parser->steps.count = parser->steps.capacity = 0;
    free_marks(parser);
    parser->open = false;
    if (book->count == book->capacity) {
        book->schedules = mem_vector_grow(book->schedules, &book->capacity, sizeof *book->schedules);
    }
    book->schedules[book->count++] = schedule;
}

/* --- savepoints --- */

static struct schedule_marks *marks_of(struct schedule_parser *parser, uint32_t txn) {
    while (parser->marks.count <= txn) {
        vector_push(&parser->marks, ((struct schedule_marks){0}));
    }
    return &parser->marks.items[txn];
}

/* Goes back to the newest savepoint of that name; those after it are gone. */
static void go_back(struct schedule_parser *parser, struct schedule_marks *marks, struct schedule_step *step) {
    for (size_t i = marks->count; i-- > 0;) {
        if (marks->items[i].name == step->savepoint) {
            step->target = marks->items[i].step;
            marks->count = i + 1;
            return;
        }
    }
    VECTOR(const char *) candidates = {0};
    char suggestion[SCHEDULE_NAME_MAX + 32];
    const char *name = parser->savepoints.items[step->savepoint];
    for (size_t i = 0; i < marks->count; i++) {
        vector_push(&candidates, parser->savepoints.items[marks->items[i].name]);
    }
    text_suggestion(suggestion, sizeof suggestion, name, candidates.items, candidates.count);
    schedule_note(parser, step->text, "T%s has no savepoint %s here%s", parser->txns.items[step->txn], name,
                  suggestion);
    vector_free(&candidates);
}

/* Savepoints live until their transaction ends, or begins again. */
static void follow_savepoints(struct schedule_parser *parser, uint32_t index) {
    struct schedule_step *step = &parser->steps.items[index];
    struct schedule_marks *marks = marks_of(parser, step->txn);
    switch (step->kind) {
    case SCHEDULE_BEGIN:
    case SCHEDULE_COMMIT:
    case SCHEDULE_ROLLBACK: marks->count = 0; break;
    case SCHEDULE_SAVEPOINT:
        vector_push(marks, ((struct schedule_mark){.name = step->savepoint, .step = index}));
        break;
    case SCHEDULE_ROLLBACK_TO: go_back(parser, marks, step); break;
    default: break;
    }
}

/* --- lines --- */

static void read_steps(struct schedule_parser *parser) {
    schedule_skip_blanks(parser);
    while (parser->at < parser->end && *parser->at != '#') {
        if (parser->steps.count == SCHEDULE_STEPS_MAX) {
            schedule_note(parser, parser->at, "a schedule has at most %d steps", SCHEDULE_STEPS_MAX);
            return;
        }
        if (schedule_read_step(parser)) {
            follow_savepoints(parser, (uint32_t)parser->steps.count - 1);
        } else {
            while (parser->at < parser->end && !schedule_blank(*parser->at)) {
                parser->at++;
            }
        }
        schedule_skip_blanks(parser);
    }
}

/* Is the word at the place read a predicate's name and a colon? */
static bool at_short_predicate(const struct schedule_parser *parser) {
    size_t length = schedule_name_length(parser);
    const char *at = parser->at + length;
    while (at < parser->end && schedule_blank(*at)) {
        at++;
    }
    return length > 0 && *parser->at >= 'A' && *parser->at <= 'Z' && at < parser->end && *at == ':';
}

/* A header line is read to its end; false: it is none. A word of letters alone is meant as one. */
static bool read_header(struct schedule_parser *parser) {
    static const char *const keywords[] = {"init", "pred", "id"};
    const char *word = parser->at;
    size_t length = schedule_name_length(parser);
    bool alone = word + length == parser->end || schedule_blank(word[length]);
    for (size_t i = 0; i < length; i++) {
        alone = alone && word[i] != '_' && !(word[i] >= '0' && word[i] <= '9');
    }
    if (at_short_predicate(parser)) {
        close_schedule(parser);
        schedule_predicate_line(parser);
        return true;
    }
    if (!alone || length < 2) {
        return false;
    }
    close_schedule(parser);
    size_t which = 0;
    while (which < 3 && (strlen(keywords[which]) != length || memcmp(keywords[which], word, length) != 0)) {
        which++;
    }
    parser->at += length;
    switch (which) {
    case 0: schedule_init_line(parser, false); break;
    case 1: schedule_predicate_line(parser); break;
    case 2: schedule_id_line(parser); break;
    default: {
        char copy[SCHEDULE_NAME_MAX], suggestion[64];
        snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), word);
        text_suggestion(suggestion, sizeof suggestion, copy, keywords, 3);
        schedule_note(parser, word, "`%s' is neither a step nor a header line%s", copy, suggestion);
    }
    }
    return true;
}

static void read_line(struct schedule_parser *parser) {
    bool indented = parser->at < parser->end && schedule_blank(*parser->at);
    schedule_skip_blanks(parser);
    if (parser->at == parser->end || *parser->at == '#') {
        return;
    }
    if (!(indented && parser->open)) {
        if (read_header(parser)) {
            return;
        }
        close_schedule(parser);
        open_schedule(parser);
    }
    read_steps(parser);
}

static void read_text(struct schedule_parser *parser, const char *text, size_t size) {
    const char *end = text + size;
    for (parser->line = 1; text < end; parser->line++) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end != NULL ? line_end : end;
        parser->line_start = parser->at = text;
        parser->end = line_end;
        read_line(parser);
        text = line_end + 1;
    }
}

/* What --init and --pred say; the texts cannot change it. */
static void read_arguments(struct schedule_parser *parser, const struct schedule_header *header) {
    const char *source = parser->source;
    parser->line = 1;
    for (size_t i = 0; i < header->init_count; i++) {
        parser->source = "--init";
        parser->line_start = parser->at = header->inits[i];
        parser->end = parser->at + strlen(parser->at);
        schedule_init_line(parser, true);
    }
    for (size_t i = 0; i < header->predicate_count; i++) {
        parser->source = "--pred";
        parser->line_start = parser->at = header->predicates[i];
        parser->end = parser->at + strlen(parser->at);
        schedule_predicate_line(parser);
    }
    parser->init_fixed = header->init_count > 0;
    parser->declared_fixed = parser->declared.count;
    parser->source = source;
}

void schedule_parse(struct schedule_book *book, const char *source, const char *text, size_t size,
                    const struct schedule_header *header) {
    struct schedule_parser parser = {.book = book, .source = source};
    char *copy = mem_new(size + 1, 1);
    memcpy(copy, text, size);
    if (book->text_count == book->text_capacity) {
        book->texts = mem_vector_grow(book->texts, &book->text_capacity, sizeof *book->texts);
    }
    book->texts[book->text_count++] = copy;
    size_t schedules_before = book->count, mistakes_before = book->mistake_count;
    if (header != NULL) {
        read_arguments(&parser, header);
    }
    read_text(&parser, copy, size);
    close_schedule(&parser);
    if (book->count == schedules_before && book->mistake_count == mistakes_before) {
        schedule_mistake(book, source, 1, 1, "there is no schedule here");
    }
    names_free(&parser.setting_names);
    vector_free(&parser.inits);
    vector_free(&parser.ids);
    vector_free(&parser.declared);
}

void schedule_book_free(struct schedule_book *book) {
    for (size_t i = 0; i < book->count; i++) {
        struct schedule *schedule = &book->schedules[i];
        for (size_t k = 0; k < schedule->row_count; k++) {
            mem_free(schedule->rows[k].name);
        }
        for (size_t k = 0; k < schedule->predicate_count; k++) {
            mem_free(schedule->predicates[k].name);
        }
        free_names(schedule->savepoints, schedule->savepoint_count);
        mem_free(schedule->rows);
        mem_free(schedule->predicates);
        mem_free(schedule->txns);
        mem_free(schedule->row_list);
        mem_free(schedule->steps);
    }
    for (size_t i = 0; i < book->mistake_count; i++) {
        mem_free(book->mistakes[i].sentence);
    }
    free_names(book->texts, book->text_count);
    mem_free(book->schedules);
    mem_free(book->mistakes);
    *book = (struct schedule_book){0};
}

bool schedule_looks_like(const char *text) {
    if (text[0] == '\0' || strpbrk(text, "( \t\n") != NULL) {
        return true;
    }
    size_t digits = strspn(text + 1, "0123456789");
    /* `:', as it has options, `[' as others write it, or the end */
    return strchr("bcarwusqidpf", text[0]) != NULL && digits > 0 && strchr(":[", text[1 + digits]) != NULL;
}
