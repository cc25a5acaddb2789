#include "sim/cli/check_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/check/recording.h"
#include "sim/lab/lab.h"

bool check_is_history(const struct text *text) {
    return text->length > 0 && strncmp(text_string(text), recording_magic, strlen(recording_magic)) == 0;
}

static void tell(const struct recording_verdict *verdict) {
    const struct certifier_counts *counts = &verdict->counts;
    printf("%" PRIu64 " transactions committed, %" PRIu64 " attempts rolled back, %" PRIu64 " unfinished\n",
           counts->commits, verdict->aborts, verdict->unfinished);
    printf("%s %s: %" PRIu64 " commits broke it\n", certifier_level_names[verdict->level],
           counts->broken == 0 ? "holds" : "does not hold", counts->broken);
    printf("%" PRIu64 " commits with anomalies\n", counts->anomalies);
    for (int i = 0; i < FLAW_COUNT; i++) {
        if (counts->by_name[i] > 0) {
            printf("%8" PRIu64 "  %s\n", counts->by_name[i], flaw_texts[i].title);
        }
    }
    if (verdict->witness.length > 0) {
        printf("the first%s: %s\n", counts->broken > 0 ? " that broke it" : "", text_string(&verdict->witness));
    }
}

static void print_json(const char *source, const struct recording_verdict *verdict) {
    json_t *names = json_object(), *root = json_object();
    for (int i = 0; i < FLAW_COUNT; i++) {
        json_object_set_new(names, flaw_texts[i].name, json_integer((json_int_t)verdict->counts.by_name[i]));
    }
    json_object_set_new(root, "history", json_string(source));
    json_object_set_new(root, "level", json_string(certifier_level_names[verdict->level]));
    json_object_set_new(root, "holds", json_boolean(verdict->counts.broken == 0));
    json_object_set_new(root, "broken", json_integer((json_int_t)verdict->counts.broken));
    json_object_set_new(root, "commits", json_integer((json_int_t)verdict->counts.commits));
    json_object_set_new(root, "aborts", json_integer((json_int_t)verdict->aborts));
    json_object_set_new(root, "unfinished", json_integer((json_int_t)verdict->unfinished));
    json_object_set_new(root, "anomalies", json_integer((json_int_t)verdict->counts.anomalies));
    json_object_set_new(root, "names", names);
    json_object_set_new(root, "witness", json_string(text_string(&verdict->witness)));
    json_dumpf(root, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(root);
}

int check_history(const char *source, const struct text *text, int required, bool as_json) {
    FILE *file = fmemopen(text->bytes, text->length, "r");
    CHECK(file != NULL);
    struct recording_verdict verdict;
    struct text error = {0};
    enum certifier_level level = required >= 0 ? (enum certifier_level)required : CERTIFIER_LEVELS;
    bool good = certifier_judge_history(file, source, level, &verdict, &error);
    fclose(file);
    if (!good) {
        fprintf(stderr, "%s\n", text_string(&error));
    } else if (as_json) {
        print_json(source, &verdict);
    } else {
        tell(&verdict);
    }
    int end = !good ? LAB_USAGE : verdict.counts.broken > 0 ? LAB_BROKEN : LAB_DONE;
    recording_verdict_free(&verdict);
    text_free(&error);
    return end;
}
