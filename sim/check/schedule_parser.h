/* schedule_parser.h - what the files of the schedule parser share: the place being read, and the schedule in the
 * making. Private to schedule.c, schedule_header.c and schedule_step.c. */
#ifndef CCSIM_CHECK_SCHEDULE_PARSER_H
#define CCSIM_CHECK_SCHEDULE_PARSER_H

#include "sim/base/memory.h"
#include "sim/check/names.h"
#include "sim/check/schedule.h"

/* A value of a header line: `x=10` of init, `x=7` of id. */
struct schedule_setting {
    const char *name;
    int64_t value;
    uint32_t line, column;
};

/* A savepoint that can be gone back to, and all of one transaction, oldest first. */
struct schedule_mark {
    uint32_t name, step;
};
struct schedule_marks {
    struct schedule_mark *items;
    size_t count, capacity;
};

struct schedule_parser {
    struct schedule_book *book;
    const char *source;
    const char *line_start, *at, *end; /* of the current line */
    uint32_t line;

    /* the header so far */
    struct names setting_names; /* keeps the strings */
    VECTOR(struct schedule_setting) inits;
    VECTOR(struct schedule_setting) ids; /* by the number of the name; no name where none is given */
    VECTOR(struct schedule_predicate) declared;
    bool with_init, init_fixed; /* fixed: by the command line */
    size_t declared_fixed;      /* so many of `declared` are the command line's */

    /* the schedule in the making */
    bool open;
    uint32_t first_line;
    struct names rows, predicates, txns, savepoints;
    VECTOR(uint32_t) row_list;
    VECTOR(struct schedule_step) steps;
    VECTOR(struct schedule_marks) marks; /* of each transaction */
};

/* A mistake at a place of the current line. */
void schedule_note(struct schedule_parser *parser, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define schedule_fail(...) (schedule_note(__VA_ARGS__), false)

static inline bool schedule_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
void schedule_skip_blanks(struct schedule_parser *parser);
/* The length of the name at the place read: letters, digits and `_` that begin with a letter. */
size_t schedule_name_length(const struct schedule_parser *parser);
/* Reads [+-] digits; `what` names it in messages. */
bool schedule_integer(struct schedule_parser *parser, const char *what, int64_t *value);

/* The whole line is a header line. */
void schedule_init_line(struct schedule_parser *parser, bool add); /* add: to what there is, else in its place */
void schedule_id_line(struct schedule_parser *parser);
void schedule_predicate_line(struct schedule_parser *parser);

/* Reads one step; false after a mistake. */
bool schedule_read_step(struct schedule_parser *parser);

#endif
