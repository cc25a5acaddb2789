/* play_json.c - a played schedule as one JSON object. Steps are numbered from 0, in the order written. */
#include "sim/cli/play.h"

#include "sim/cc/cc.h"

static json_t *number_of(const struct play *play, uint32_t txn) { return json_integer(play->schedule->txns[txn]); }

static json_t *reason_name(unsigned reason) { return json_string(reason_texts[reason].name); }

static json_t *json_rows(const struct play *play, const struct play_step *step) {
    json_t *list = json_array();
    for (size_t i = 0; i < step->rows.count; i++) {
        const struct play_row *row = &step->rows.items[i];
        json_t *pair = json_array();
        json_array_append_new(pair, json_string(play->schedule->rows[row->row].name));
        json_array_append_new(pair, json_integer(row->value));
        json_array_append_new(list, pair);
    }
    return list;
}

static json_t *json_locks(const struct play *play, const struct play_moment *moment) {
    json_t *list = json_array();
    for (size_t i = moment->first_lock; i < moment->first_lock + moment->lock_count; i++) {
        const struct play_lock *lock = &play->locks.items[i];
        json_t *object = json_object(), *row = json_null();
        if (lock->level > 0) {
            struct text granule = {0};
            play_add_granule(lock, &granule);
            json_object_set_new(object, "granule", json_string(text_string(&granule)));
            text_free(&granule);
        } else if (lock->row != PLAY_NONE) {
            row = json_string(play->schedule->rows[lock->row].name);
        }
        json_object_set_new(object, "row", row);
        json_object_set_new(object, "gap", json_boolean(lock->gap));
        json_object_set_new(object, "transaction", number_of(play, lock->txn));
        json_object_set_new(object, "mode", json_string(lock->mode));
        json_object_set_new(object, "granted", json_boolean(!lock->waits));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_step(const struct play *play, uint32_t index, bool locks) {
    const struct play_step *step = &play->steps[index];
    json_t *object = json_object();
    struct text op = {0};
    play_add_op(play, index, &op);
    json_object_set_new(object, "op", json_string(text_string(&op)));
    text_free(&op);
    json_object_set_new(object, "outcome", json_string(play_outcome_names[step->outcome]));
    if (step->waited) {
        json_t *list = json_array();
        for (size_t i = 0; i < step->waits_for.count; i++) {
            json_array_append_new(list, json_integer((json_int_t)step->waits_for.items[i]));
        }
        json_object_set_new(object, "waits_for", list);
    }
    if (step->resumed_after != PLAY_NONE) {
        json_object_set_new(object, "resumed_after", json_integer((json_int_t)step->resumed_after));
    }
    if (step->ran_after != PLAY_NONE) {
        json_object_set_new(object, "ran_after", json_integer((json_int_t)step->ran_after));
    }
    if (step->reason != REASON_NONE) {
        json_object_set_new(object, "reason", reason_name(step->reason));
    }
    if (step->has_rows) {
        json_object_set_new(object, "rows", json_rows(play, step));
    }
    if (step->has_count) {
        json_object_set_new(object, "count", json_integer(step->count));
    }
    if (locks) {
        json_object_set_new(object, "locks", json_locks(play, &play->moments[index]));
    }
    return object;
}

static json_t *json_ends(const struct play *play) {
    json_t *list = json_array();
    for (size_t i = 0; i < play->ends.count; i++) {
        json_t *pair = json_array();
        json_array_append_new(pair, number_of(play, play->ends.items[i].txn));
        json_array_append_new(pair, json_string(play_end_names[play->ends.items[i].kind]));
        json_array_append_new(list, pair);
    }
    return list;
}

static json_t *json_killed(const struct play *play) {
    json_t *list = json_array();
    for (size_t i = 0; i < play->killed.count; i++) {
        json_t *triple = json_array();
        json_array_append_new(triple, number_of(play, play->killed.items[i].txn));
        json_array_append_new(triple, json_integer((json_int_t)play->killed.items[i].step));
        json_array_append_new(triple, reason_name(play->killed.items[i].reason));
        json_array_append_new(list, triple);
    }
    return list;
}

static json_t *json_final(const struct play *play) {
    json_t *object = json_object();
    for (size_t i = 0; i < play->schedule->row_count; i++) {
        if (play->final[i].present) {
            json_object_set_new(object, play->schedule->rows[i].name, json_integer(play->final[i].value));
        }
    }
    return object;
}

static json_t *json_answer(enum judge_answer answer) {
    return answer == JUDGE_OPEN ? json_null() : json_boolean(answer == JUDGE_YES);
}

static json_t *json_found(const struct verdict *verdict, enum anomaly_name from, enum anomaly_name to,
                          json_t *witnesses) {
    json_t *list = json_array();
    for (enum anomaly_name name = from; name <= to; name++) {
        const struct judge_finding *finding = &verdict->anomalies[name];
        if (finding->found) {
            json_array_append_new(list, json_string(anomaly_texts[name].name));
            json_object_set_new(witnesses, anomaly_texts[name].name, json_string(text_string(&finding->witness)));
        }
    }
    return list;
}

static json_t *json_verdict(const struct play *play) {
    static const char *const keys[JUDGE_PROPERTIES] = {
        [JUDGE_CONFLICT_SERIALIZABLE] = "conflict_serializable",
        [JUDGE_VIEW_SERIALIZABLE] = "view_serializable",
        [JUDGE_RECOVERABLE] = "recoverable",
        [JUDGE_CASCADELESS] = "cascadeless",
        [JUDGE_STRICT] = "strict",
        [JUDGE_RIGOROUS] = "rigorous",
    };
    const struct verdict *verdict = &play->verdict;
    if (!play->judged) {
        return json_null();
    }
    json_t *object = json_object(), *witnesses = json_object(), *order = json_array();
    for (enum judge_property p = 0; p < JUDGE_PROPERTIES; p++) {
        json_object_set_new(object, keys[p], json_answer(verdict->properties[p]));
    }
    for (size_t i = 0; i < verdict->order_count; i++) {
        json_array_append_new(order, json_integer(verdict->order[i]));
    }
    bool good = verdict->properties[JUDGE_CONFLICT_SERIALIZABLE] == JUDGE_YES;
    json_object_set_new(object, good ? "serial_order" : "cycle", order);
    json_object_set_new(object, "phenomena", json_found(verdict, ANOMALY_P0, ANOMALY_A5B, witnesses));
    json_object_set_new(object, "anomalies", json_found(verdict, ANOMALY_G0, ANOMALY_G2, witnesses));
    json_object_set_new(object, "witnesses", witnesses);
    return object;
}

json_t *play_json(const struct play *play, bool locks) {
    json_t *object = json_object(), *steps = json_array();
    json_object_set_new(object, "algorithm", json_string(play->algorithm->name));
    for (uint32_t i = 0; i < play->written_count; i++) {
        json_array_append_new(steps, json_step(play, i, locks));
    }
    json_object_set_new(object, "steps", steps);
    json_object_set_new(object, "ends", json_ends(play));
    json_object_set_new(object, "killed", json_killed(play));
    json_object_set_new(object, "final", json_final(play));
    json_object_set_new(object, "ran", json_string(text_string(&play->ran)));
    json_object_set_new(object, "verdict", json_verdict(play));
    if (play->mixed) {
        json_object_set_new(object, "levels_broken", json_boolean(play->levels_broken));
    }
    return object;
}
