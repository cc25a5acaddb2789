/* facts.c - see facts.h. */
#include "tests/support/facts.h"

#include <inttypes.h>
#include <string.h>

#include "sim/cli/play.h"

static void add_rows(const struct play *play, const struct play_step *step, struct text *out) {
    for (size_t i = 0; i < step->rows.count; i++) {
        const struct play_row *row = &step->rows.items[i];
        text_add(out, " %s=%" PRId64, play->schedule->rows[row->row].name, row->value);
    }
    text_add(out, step->rows.count == 0 ? " nothing\n" : "\n");
}

static void add_outcome(const struct play_step *step, uint32_t number, struct text *out) {
    const char *reason = reason_texts[step->reason].name;
    switch ((enum play_outcome)step->outcome) {
    case PLAY_ABORT: text_add(out, "%" PRIu32 " is aborted: %s\n", number, reason); break;
    case PLAY_ERROR: text_add(out, "%" PRIu32 " fails: %s\n", number, reason); break;
    case PLAY_WAIT: text_add(out, "%" PRIu32 " never %s\n", number, step->waited ? "resumes" : "runs"); break;
    case PLAY_SKIP: text_add(out, "%" PRIu32 " is skipped\n", number); break;
    case PLAY_OK:
    case PLAY_OUTCOMES: break;
    }
}

static void add_step(const struct play *play, uint32_t index, struct text *out) {
    const struct play_step *step = &play->steps[index];
    uint32_t number = index + 1;
    if (step->waited) {
        text_add(out, "%" PRIu32 " waits for", number);
        for (size_t i = 0; i < step->waits_for.count; i++) {
            text_add(out, "%s T%" PRIu32, i > 0 ? "," : "", step->waits_for.items[i]);
        }
        text_add(out, "\n");
    }
    if (step->resumed_after != PLAY_NONE) {
        text_add(out, "%" PRIu32 " resumes after %" PRIu32 "\n", number, step->resumed_after + 1);
    }
    if (step->ran_after != PLAY_NONE) {
        text_add(out, "%" PRIu32 " runs after %" PRIu32 "\n", number, step->ran_after + 1);
    }
    if (step->has_rows) {
        text_add(out, "%" PRIu32 " reads", number);
        add_rows(play, step, out);
    }
    if (step->has_count) {
        text_add(out, "%" PRIu32 " changes %" PRId64 "\n", number, step->count);
    }
    add_outcome(step, number, out);
    text_add(out, "after %" PRIu32 ": ", number);
    play_add_locks(play, &play->moments[index], out);
    text_add(out, "\n");
}

static void add_ends(const struct play *play, struct text *out) {
    static const char *const verbs[] = {
        [PLAY_COMMIT] = "commits", [PLAY_ROLLBACK] = "rolls back", [PLAY_ABORTED] = "is aborted"};
    const int64_t *txns = play->schedule->txns;
    for (uint32_t i = 0; i < play->schedule->txn_count; i++) {
        const char *verb = "is unfinished";
        for (size_t k = 0; k < play->ends.count; k++) {
            verb = play->ends.items[k].txn == i ? verbs[play->ends.items[k].kind] : verb;
        }
        text_add(out, "T%" PRId64 " %s\n", txns[i], verb);
    }
    text_add(out, "ends");
    for (size_t i = 0; i < play->ends.count; i++) {
        text_add(out, " T%" PRId64, txns[play->ends.items[i].txn]);
    }
    text_add(out, "\nfinal ");
    play_add_final(play, out);
    text_add(out, "\n");
    for (size_t i = 0; i < play->killed.count; i++) {
        const struct play_kill *kill = &play->killed.items[i];
        text_add(out, "T%" PRId64 " is killed by %" PRIu32 ": %s\n", txns[kill->txn], kill->step + 1,
                 reason_texts[kill->reason].name);
    }
    for (size_t i = 0; i < play->events.count; i++) {
        const struct play_event *event = &play->events.items[i];
        for (uint32_t k = 0; event->kind == PLAY_DEADLOCK && k < event->count; k++) {
            text_add(out, "%s T%" PRId64 "%s", k == 0 ? "deadlock" : "", txns[play->cycles.items[event->first + k]],
                     k + 1 == event->count ? "\n" : "");
        }
    }
}

static const struct {
    enum judge_property property;
    const char *word;
} rollback_words[] = {{JUDGE_RECOVERABLE, "recoverable"},
                      {JUDGE_CASCADELESS, "cascadeless"},
                      {JUDGE_STRICT, "strict"},
                      {JUDGE_RIGOROUS, "rigorous"}};

static void add_verdict(const struct play *play, struct text *out) {
    const struct verdict *verdict = &play->verdict;
    bool good = verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES;
    if (!play->judged) {
        text_add(out, "not judged\n");
        return;
    }
    text_add(out, good ? "serial order" : "not serializable:");
    for (size_t i = 0; i < verdict->order_count; i++) {
        text_add(out, " T%" PRId64, verdict->order[i]);
    }
    text_add(out, "\n");
    if (!good && verdict->properties[JUDGE_VIEW_SERIALIZABLE] == JUDGE_YES) {
        text_add(out, "not serializable but view-serializable\n");
    }
    for (size_t i = 0; i < sizeof rollback_words / sizeof rollback_words[0]; i++) {
        bool yes = verdict->properties[rollback_words[i].property] == JUDGE_YES;
        text_add(out, "%s%s\n", yes ? "" : "not ", rollback_words[i].word);
    }
    for (enum anomaly_name name = 0; name < ANOMALY_COUNT; name++) {
        text_add(out, "%s %s\n", verdict->anomalies[name].found ? "found" : "no", anomaly_texts[name].name);
    }
}

void facts_add(const struct play *play, struct text *out) {
    for (uint32_t i = 0; i < play->step_count; i++) {
        add_step(play, i, out);
    }
    add_ends(play, out);
    add_verdict(play, out);
}

bool facts_have(const struct text *facts, const char *fact) {
    size_t length = strlen(fact);
    for (const char *line = text_string(facts); *line != '\0'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, fact, length) == 0 && line[length] == '\n') {
            return true;
        }
    }
    return false;
}
