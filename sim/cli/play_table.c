/* play_table.c - a played schedule as a class can follow it: one column a transaction, one line for everything that
 * happens. A colon stands in the column of whoever waits meanwhile. Steps are numbered from 1. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "sim/cli/play.h"

void play_add_op(const struct play *play, uint32_t step, struct text *out) {
    if (step >= play->written_count) {
        text_add(out, "c%" PRId64, play->schedule->txns[play->step_txns[step]]);
    } else {
        text_add_bytes(out, play->schedule->steps[step].text, play->schedule->steps[step].length);
    }
}

void play_add_final(const struct play *play, struct text *out) {
    bool any = false;
    for (size_t i = 0; i < play->schedule->row_count; i++) {
        if (play->final[i].present) {
            text_add(out, "%s%s=%" PRId64, any ? " " : "", play->schedule->rows[i].name, play->final[i].value);
            any = true;
        }
    }
    if (!any) {
        text_add(out, "no rows");
    }
}

/* ---- What a step says ---- */

static void add_rows(const struct play *play, const struct play_step *step, struct text *out) {
    for (size_t i = 0; i < step->rows.count; i++) {
        const struct play_row *row = &step->rows.items[i];
        text_add(out, "%s%s=%" PRId64, i > 0 ? " " : "", play->schedule->rows[row->row].name, row->value);
    }
    if (step->rows.count == 0) {
        text_add(out, "no row");
    }
}

static void add_done(const struct play *play, uint32_t index, struct text *out) {
    const struct play_step *step = &play->steps[index];
    enum schedule_kind kind = index < play->written_count ? play->schedule->steps[index].kind : SCHEDULE_COMMIT;
    if (step->has_rows) {
        add_rows(play, step, out);
    } else if (step->has_count) {
        text_add(out, "%" PRId64 " row%s", step->count, step->count == 1 ? "" : "s");
    } else if (kind == SCHEDULE_COMMIT) {
        text_add(out, "committed");
    } else if (kind == SCHEDULE_ROLLBACK) {
        text_add(out, "rolled back");
    } else {
        text_add(out, "ok");
    }
}

static void add_outcome(const struct play *play, uint32_t index, struct text *out) {
    const struct play_step *step = &play->steps[index];
    switch ((enum play_outcome)step->outcome) {
    case PLAY_OK: add_done(play, index, out); break;
    case PLAY_ABORT: text_add(out, "ABORTED (%s)", reason_texts[step->reason].name); break;
    case PLAY_ERROR: text_add(out, "fails (%s)", reason_texts[step->reason].name); break;
    case PLAY_SKIP: text_add(out, "skipped"); break;
    case PLAY_WAIT:
    case PLAY_OUTCOMES: break;
    }
}

static void add_waits_for(const struct play_step *step, struct text *out) {
    text_add(out, "waits for");
    for (size_t i = 0; i < step->waits_for.count; i++) {
        text_add(out, "%s T%" PRIu32, i > 0 ? "," : "", step->waits_for.items[i]);
    }
}

/* What stands in the transaction's column. */
static void add_cell(const struct play *play, const struct play_event *event, struct text *out) {
    if (event->kind == PLAY_KILLED) {
        text_add(out, "ABORTED (%s)", reason_texts[event->reason].name);
        return;
    }
    text_add(out, "%s", event->kind == PLAY_BACK ? "BACK to " : "");
    play_add_op(play, event->step, out);
    if (event->kind == PLAY_BACK || event->kind == PLAY_UNDONE) {
        text_add(out, "%s", event->kind == PLAY_UNDONE ? " (undone)" : "");
        return;
    }
    switch (event->kind) {
    case PLAY_RESUMED: text_add(out, " resumes"); break;
    case PLAY_LATE:
    case PLAY_LATE_WAITS: text_add(out, " now"); break;
    default: break;
    }
    text_add(out, " -> ");
    if (event->kind == PLAY_WAITS || event->kind == PLAY_LATE_WAITS) {
        add_waits_for(&play->steps[event->step], out);
    } else if (event->kind == PLAY_PUT_OFF) {
        text_add(out, "put off");
    } else {
        add_outcome(play, event->step, out);
    }
}

/* ---- Locks ---- */

void play_add_granule(const struct play_lock *lock, struct text *out) {
    static const char *const levels[] = {"row", "page", "table", "database"};
    text_add(out, "%s", levels[lock->level]);
    if (lock->level == 1) {
        text_add(out, " %" PRId64, lock->page);
    }
}

/* The holders of a row, who queues for it, who holds the gap before it, who waits to insert there. */
static void add_lock(const struct play *play, const struct play_lock *lock, const struct play_lock *last,
                     struct text *out) {
    bool same = last != NULL && last->row == lock->row && last->gap == lock->gap && last->level == lock->level;
    bool queue = lock->waits && (!same || !last->waits);
    if (last != NULL && last->waits && (!same || !lock->waits)) {
        text_add(out, ")");
    }
    if (!same) {
        text_add(out, "%s%s", last != NULL ? " | " : "", lock->gap ? "gap before " : "");
        if (lock->level > 0) {
            play_add_granule(lock, out);
        } else {
            text_add(out, "%s", lock->row != PLAY_NONE ? play->schedule->rows[lock->row].name : "the end");
        }
        text_add(out, ":");
    }
    text_add(out, "%s T%" PRId64, queue ? " (queue:" : same ? "," : "", play->schedule->txns[lock->txn]);
    if (!lock->gap) {
        text_add(out, " %s", lock->mode);
    }
}

void play_add_locks(const struct play *play, const struct play_moment *moment, struct text *out) {
    const struct play_lock *last = NULL;
    for (size_t i = moment->first_lock; i < moment->first_lock + moment->lock_count; i++) {
        add_lock(play, &play->locks.items[i], last, out);
        last = &play->locks.items[i];
    }
    text_add(out, "%s", last == NULL ? "no locks" : last->waits ? ")" : "");
}

/* ---- The table ---- */

enum { STEP_WIDTH = 4, GUTTER = 2 };

struct chart {
    const struct play *play;
    size_t *widths;
    bool *waiting;
    struct text *out;
};

static void measure(struct chart *chart) {
    const struct play *play = chart->play;
    for (size_t i = 0; i < play->schedule->txn_count; i++) {
        struct text title = {0};
        text_add(&title, "T%" PRId64, play->schedule->txns[i]);
        chart->widths[i] = title.length;
        text_free(&title);
    }
    for (size_t i = 0; i < play->events.count; i++) {
        const struct play_event *event = &play->events.items[i];
        if (event->txn != PLAY_NONE) {
            struct text cell = {0};
            add_cell(play, event, &cell);
            chart->widths[event->txn] =
                cell.length > chart->widths[event->txn] ? cell.length : chart->widths[event->txn];
            text_free(&cell);
        }
    }
}

/* Trailing blanks are left out. */
static void add_line(const struct chart *chart, const char *head, uint32_t txn, const char *cell) {
    struct text line = {0};
    text_add(&line, "%*s", STEP_WIDTH, head);
    size_t due = 0;
    for (uint32_t i = 0; i < chart->play->schedule->txn_count; i++) {
        const char *word = i == txn ? cell : chart->waiting[i] ? ":" : "";
        due += GUTTER;
        if (word[0] != '\0') {
            text_add(&line, "%*s%s", (int)due, "", word);
            due = chart->widths[i] - strlen(word);
        } else {
            due += chart->widths[i];
        }
    }
    text_add(chart->out, "%s\n", text_string(&line));
    text_free(&line);
}

static void add_deadlock(const struct chart *chart, const struct play_event *event) {
    const struct play *play = chart->play;
    text_add(chart->out, "%*s  deadlock:", STEP_WIDTH, "");
    for (uint32_t i = 0; i < event->count; i++) {
        uint32_t from = play->cycles.items[event->first + i];
        uint32_t to = play->cycles.items[event->first + (i + 1) % event->count];
        text_add(chart->out, "%s T%" PRId64 " waits for T%" PRId64, i > 0 ? "," : "", play->schedule->txns[from],
                 play->schedule->txns[to]);
    }
    text_add(chart->out, "\n");
}

static void add_event(struct chart *chart, const struct play_event *event) {
    if (event->kind == PLAY_DEADLOCK) {
        add_deadlock(chart, event);
        return;
    }
    if (event->kind == PLAY_TIMER) {
        text_add(chart->out, "%*s  (no step can be given: time passes)\n", STEP_WIDTH, "");
        return;
    }
    char head[16] = "";
    bool given = event->kind == PLAY_DONE || event->kind == PLAY_WAITS || event->kind == PLAY_PUT_OFF ||
                 event->kind == PLAY_UNDONE;
    struct text cell = {0};
    if (given) {
        snprintf(head, sizeof head, "%" PRIu32, event->step + 1);
    } else if (event->kind == PLAY_BACK && chart->play->step_txns[event->during] == event->txn) {
        snprintf(head, sizeof head, "%" PRIu32, event->during + 1); /* by the step it was given */
    }
    if (event->kind == PLAY_RESUMED || event->kind == PLAY_KILLED || event->kind == PLAY_BACK) {
        chart->waiting[event->txn] = false;
    }
    add_cell(chart->play, event, &cell);
    add_line(chart, head, event->txn, text_string(&cell));
    text_free(&cell);
    if (event->kind == PLAY_WAITS || event->kind == PLAY_LATE_WAITS) {
        chart->waiting[event->txn] = true;
    }
}

static void add_titles(const struct chart *chart) {
    text_add(chart->out, "%*s", STEP_WIDTH, "step");
    for (size_t i = 0; i < chart->play->schedule->txn_count; i++) {
        bool last = i + 1 == chart->play->schedule->txn_count;
        struct text title = {0};
        text_add(&title, "T%" PRId64, chart->play->schedule->txns[i]);
        text_add(chart->out, "%*s%-*s", GUTTER, "", last ? 0 : (int)chart->widths[i], text_string(&title));
        text_free(&title);
    }
    text_add(chart->out, "\n");
}

static void add_moment(const struct chart *chart, uint32_t step) {
    const struct play *play = chart->play;
    if (!play->has_locks) {
        return;
    }
    text_add(chart->out, "%*s  [", STEP_WIDTH, "");
    play_add_locks(play, &play->moments[step], chart->out);
    text_add(chart->out, "]\n");
}

static void add_ends(const struct play *play, struct text *out) {
    text_add(out, "order of ending: ");
    for (size_t i = 0; i < play->ends.count; i++) {
        text_add(out, "%sT%" PRId64 " %s", i > 0 ? ", " : "", play->schedule->txns[play->ends.items[i].txn],
                 play_end_names[play->ends.items[i].kind]);
    }
    text_add(out, "%s\nfinal state:     ", play->ends.count == 0 ? "none ended" : "");
    play_add_final(play, out);
    text_add(out, "\n");
}

/* ---- The verdict ---- */

static void add_serial(const struct play *play, struct text *out) {
    const struct verdict *verdict = &play->verdict;
    if (!play->judged) {
        text_add(out, "not judged");
        return;
    }
    bool good = verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES;
    text_add(out, good ? "yes" : "no:");
    for (size_t i = 0; i < verdict->order_count; i++) {
        text_add(out, "%sT%" PRId64, i == 0 ? (good ? ", as " : " ") : (good ? " " : " -> "), verdict->order[i]);
    }
    if (!good) {
        text_add(out, " -> T%" PRId64, verdict->order[0]);
        text_add(out, verdict->properties[JUDGE_VIEW_SERIALIZABLE] == JUDGE_YES ? " (but view-serializable)" : "");
    }
}

static void add_properties(const struct play *play, struct text *out) {
    static const char *const names[JUDGE_PROPERTIES] = {[JUDGE_RECOVERABLE] = "recoverable",
                                                        [JUDGE_CASCADELESS] = "cascadeless",
                                                        [JUDGE_STRICT] = "strict",
                                                        [JUDGE_RIGOROUS] = "rigorous"};
    const char *before = "";
    for (enum judge_property p = JUDGE_RECOVERABLE; p < JUDGE_PROPERTIES; p++) {
        if (play->verdict.properties[p] != JUDGE_OPEN) {
            text_add(out, "%s%s%s", before, play->verdict.properties[p] == JUDGE_NO ? "not " : "", names[p]);
            before = ", ";
        }
    }
}

/* Several names often tell the same story: it is told once. */
static void add_findings(const struct verdict *verdict, struct text *out) {
    bool any = false;
    for (enum anomaly_name name = 0; name < ANOMALY_COUNT; name++) {
        const char *words = text_string(&verdict->anomalies[name].witness), *shown = words;
        if (!verdict->anomalies[name].found) {
            continue;
        }
        for (enum anomaly_name before = 0; before < name; before++) {
            if (verdict->anomalies[before].found &&
                strcmp(text_string(&verdict->anomalies[before].witness), words) == 0) {
                shown = "the same";
            }
        }
        text_add(out, "%-17s%s (%s): %s\n", any ? "" : "found:", anomaly_texts[name].name, anomaly_texts[name].title,
                 shown);
        any = true;
    }
}

/* Of mixed levels: was each transaction given what it asked for? */
static void add_levels(const struct play *play, struct text *out) {
    if (!play->mixed) {
        return;
    }
    text_add(out, "levels:          ");
    if (!play->levels_broken) {
        text_add(out, "each transaction got the level that it asked for\n");
        return;
    }
    const char *before = "broken: ";
    for (const char *line = text_string(&play->witness); *line != '\0'; before = "               ") {
        size_t length = strcspn(line, "\n");
        if (memmem(line, length, " began at ", strlen(" began at ")) == NULL) { /* time stands still */
            text_add(out, "%s%.*s\n", before, (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
}

static void add_verdict(const struct play *play, struct text *out) {
    const struct verdict *verdict = &play->verdict;
    text_add(out, "as it ran:       %s\nserializable:    ", text_string(&play->ran));
    add_serial(play, out);
    text_add(out, "\n");
    if (!play->judged) {
        return;
    }
    if (verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_NO) {
        text_add(out, "                 %s\n", text_string(&verdict->reasons[JUDGE_CONFLICT_SERIALIZABLE]));
    }
    text_add(out, "rollbacks:       ");
    add_properties(play, out);
    text_add(out, "\n");
    add_levels(play, out);
    add_findings(verdict, out);
}

static void add_start(const struct play *play, struct text *out) {
    bool any = false;
    text_add(out, "at the start: ");
    for (size_t i = 0; i < play->schedule->row_count; i++) {
        const struct schedule_row *row = &play->schedule->rows[i];
        if (row->present) {
            text_add(out, "%s%s=%" PRId64, any ? " " : "", row->name, row->value);
            any = true;
        }
    }
    text_add(out, "%s\n\n", any ? "" : "no rows");
}

void play_table(const struct play *play, bool locks, struct text *out) {
    size_t count = play->schedule->txn_count;
    struct chart chart = {.play = play,
                          .widths = mem_new(count, sizeof *chart.widths),
                          .waiting = mem_new(count, sizeof *chart.waiting),
                          .out = out};
    text_add(out, "%s: %s\n", play->algorithm->name, play->algorithm->summary);
    add_start(play, out);
    measure(&chart);
    add_titles(&chart);
    const struct play_event *held = NULL; /* a deadlock is found inside a step: it is told behind it */
    for (size_t i = 0; i < play->events.count; i++) {
        const struct play_event *event = &play->events.items[i];
        bool last = i + 1 == play->events.count || play->events.items[i + 1].during != event->during;
        if (event->kind == PLAY_DEADLOCK && held == NULL && !last) {
            held = event;
            continue;
        }
        add_event(&chart, event);
        if (held != NULL) {
            add_event(&chart, held);
            held = NULL;
        }
        if (locks && last) {
            add_moment(&chart, event->during);
        }
    }
    text_add(out, "\n");
    add_ends(play, out);
    add_verdict(play, out);
    mem_free(chart.widths);
    mem_free(chart.waiting);
}

/* ---- Side by side ---- */

static void add_ending(const struct play *play, uint32_t txn, struct text *out) {
    const char *word = "unfinished";
    for (size_t i = 0; i < play->ends.count; i++) {
        if (play->ends.items[i].txn == txn) {
            word = play_end_names[play->ends.items[i].kind];
        }
    }
    text_add(out, "%s", word);
    for (size_t i = play->step_count; i-- > 0;) { /* the newest reason */
        const struct play_step *step = &play->steps[i];
        if (play->step_txns[i] == txn && step->outcome == PLAY_ABORT && strcmp(word, "abort") == 0) {
            text_add(out, " (%s)", reason_texts[step->reason].name);
            return;
        }
    }
    for (size_t i = 0; i < play->killed.count; i++) {
        if (play->killed.items[i].txn == txn && strcmp(word, "abort") == 0) {
            text_add(out, " (%s)", reason_texts[play->killed.items[i].reason].name);
            return;
        }
    }
}

static void add_waits(const struct play *play, struct text *out) {
    size_t waits = 0;
    for (size_t i = 0; i < play->step_count; i++) {
        waits += play->steps[i].waited;
    }
    text_add(out, "%zu", waits);
}

/* Columns of words, each as wide as its widest; rows * columns of them, the first row the titles. */
static void add_grid(const struct text *cells, size_t rows, size_t columns, struct text *out) {
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns; column++) {
            size_t width = 0;
            for (size_t i = 0; i < rows && column + 1 < columns; i++) {
                size_t length = cells[i * columns + column].length;
                width = length > width ? length : width;
            }
            text_add(out, "%-*s%s", (int)width, text_string(&cells[row * columns + column]),
                     column + 1 < columns ? "  " : "\n");
        }
    }
}

void play_comparison(const struct play *plays, size_t count, struct text *out) {
    const struct schedule *schedule = plays[0].schedule;
    size_t columns = schedule->txn_count + 4, cell_count = columns * (count + 1);
    struct text *cells = mem_new(cell_count, sizeof *cells);
    text_add(&cells[0], "algorithm");
    for (size_t i = 0; i < schedule->txn_count; i++) {
        text_add(&cells[1 + i], "T%" PRId64, schedule->txns[i]);
    }
    text_add(&cells[columns - 3], "waits");
    text_add(&cells[columns - 2], "final state");
    text_add(&cells[columns - 1], "serializable");
    for (size_t i = 0; i < count; i++) {
        struct text *row = &cells[(i + 1) * columns];
        text_add(&row[0], "%s", plays[i].algorithm->name);
        for (uint32_t k = 0; k < schedule->txn_count; k++) {
            add_ending(&plays[i], k, &row[1 + k]);
        }
        add_waits(&plays[i], &row[columns - 3]);
        play_add_final(&plays[i], &row[columns - 2]);
        add_serial(&plays[i], &row[columns - 1]);
    }
    add_grid(cells, count + 1, columns, out);
    for (size_t i = 0; i < cell_count; i++) {
        text_free(&cells[i]);
    }
    mem_free(cells);
}
