/* list.c - `ccsim list [KIND] [--json]`: what there is, one line each. Every kind is an array of JSON objects with a
 * name
 * and a summary; the plain lines are made from the same objects. */
#include "sim/cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/lab.h"
#include "sim/lab/manual.h"
#include "sim/lab/metrics.h"
#include "sim/store/level.h"
#include "sim/store/reason.h"

enum { SUGGESTION_BYTES = 160, KEY_JSON = 256, WIDTH_MAX = 40 };

/* --- the kinds --- */

static json_t *thing(const char *name, const char *summary) {
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(name));
    json_object_set_new(object, "summary", json_string(summary));
    return object;
}

static void list_algorithms(json_t *list) {
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *ops = cc_registry[i];
        json_t *object = thing(ops->name, ops->summary);
        json_object_set_new(object, "promises", json_string(level_names[ops->level]));
        json_object_set_new(object, "paper", ops->paper != NULL ? json_string(ops->paper) : json_null());
        json_array_append_new(list, object);
    }
}

static void list_workloads(json_t *list) {
    for (size_t i = 0; i < workload_registry_count; i++) {
        const struct workload_ops *ops = workload_registry[i];
        json_t *object = thing(ops->name, ops->summary);
        json_object_set_new(object, "lock_point", json_string(ops->tells_last_lock ? "told" : "prepare"));
        json_array_append_new(list, object);
    }
}

static void list_metrics(json_t *list) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    for (size_t i = 0; i < count; i++) {
        json_t *object = thing(metrics[i].name, metrics[i].help);
        json_object_set_new(object, "unit", json_string(metrics[i].unit));
        json_array_append_new(list, object);
    }
}

static void list_option(const struct manual_option *entry, void *user) {
    struct text key = {0}, type = {0};
    bool has_default = (entry->option->flags & (OPTION_REQUIRED | OPTION_OPTIONAL)) == 0;
    manual_key(entry, &key);
    option_type_name(entry->option, &type);
    json_t *object = thing(text_string(&key), entry->option->help);
    json_object_set_new(object, "type", json_string(text_string(&type)));
    json_object_set_new(object, "default", has_default ? json_string(entry->option->fallback) : json_null());
    json_object_set_new(object, "example", json_string(entry->option->fallback));
    json_object_set_new(object, "workload", entry->owner != NULL ? json_string(entry->owner) : json_null());
    json_array_append_new(user, object);
    text_free(&key);
    text_free(&type);
}

static void list_options(json_t *list) { manual_each_option(list_option, list); }

static void list_reasons(json_t *list) {
    for (size_t i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        json_array_append_new(list, thing(reason_texts[i].name, reason_texts[i].sentence));
    }
}

static const struct kind {
    const char *name;
    void (*list)(json_t *list);
} kinds[] = {
    {"algorithms", list_algorithms}, {"workloads", list_workloads}, {"metrics", list_metrics},
    {"options", list_options},       {"reasons", list_reasons},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* --- lines --- */

static const char *field(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

/* The name, and of an option that only one workload has, which. */
static void add_name(const json_t *object, struct text *out) {
    text_add(out, "%s", field(object, "name"));
    if (field(object, "workload")[0] != '\0') {
        text_add(out, " (%s)", field(object, "workload"));
    }
}

static int name_width(const json_t *list) {
    int width = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct text name = {0};
        add_name(json_array_get(list, i), &name);
        width = (int)name.length > width ? (int)name.length : width;
        text_free(&name);
    }
    return width < WIDTH_MAX ? width : WIDTH_MAX;
}

static void print_lines(const json_t *list, const char *indent) {
    int width = name_width(list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        struct text name = {0};
        add_name(object, &name);
        const char *promise = field(object, "promises"), *fallback = field(object, "default");
        const char *lock_point = field(object, "lock_point"); /* of a workload */
        printf("%s%-*s  ", indent, width, text_string(&name));
        if (promise[0] != '\0') {
            printf("%-3s  ", promise);
        }
        printf("%s", field(object, "summary"));
        if (fallback[0] != '\0') {
            printf(" [%s]", fallback);
        }
        if (lock_point[0] != '\0') {
            printf(" [lock point: %s]", lock_point);
        }
        printf("\n");
        text_free(&name);
    }
}

static void print_json(const json_t *value) {
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
}

static json_t *list_of(const struct kind *kind) {
    json_t *list = json_array();
    kind->list(list);
    return list;
}

static void print_kind(const struct kind *kind, bool as_json) {
    json_t *list = list_of(kind);
    if (as_json) {
        print_json(list);
    } else {
        print_lines(list, "");
    }
    json_decref(list);
}

static void print_all(bool as_json) {
    json_t *all = json_object();
    for (size_t i = 0; i < KINDS; i++) {
        json_t *list = list_of(&kinds[i]);
        if (!as_json) {
            printf("%s%s\n", i == 0 ? "" : "\n", kinds[i].name);
            print_lines(list, "  ");
        }
        json_object_set_new(all, kinds[i].name, list);
    }
    if (as_json) {
        print_json(all);
    }
    json_decref(all);
}

/* --- the command --- */

struct request {
    const struct kind *kind;
    bool as_json;
};

static const struct kind *find_kind(const char *word) {
    const char *names[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(names[i], word) == 0) {
            return &kinds[i];
        }
    }
    char suggestion[SUGGESTION_BYTES];
    text_suggestion(suggestion, sizeof suggestion, word, names, KINDS);
    cli_bad_usage("ccsim list", "there is no list of `%s'%s", word, suggestion);
}

static error_t take(int key, char *argument, struct argp_state *state) {
    struct request *request = state->input;
    switch (key) {
    case KEY_JSON: request->as_json = true; return 0;
    case ARGP_KEY_ARG:
        if (request->kind != NULL) {
            cli_bad_usage("ccsim list", "one list at a time: `%s' is one too many", argument);
        }
        request->kind = find_kind(argument);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option list_command_options[] = {
    {.name = "json", .key = KEY_JSON, .doc = "as JSON: an array of objects, or an object of arrays for all lists"},
    {0},
};
static const struct argp parser = {
    .options = list_command_options,
    .parser = take,
    .args_doc = "[algorithms|workloads|metrics|options|reasons]",
    .doc = "What there is, one line each. `ccsim help NAME' tells more.",
};

int cli_list(int argc, char **argv) {
    struct request request = {0};
    cli_parse(&parser, argc, argv, &request);
    if (request.kind != NULL) {
        print_kind(request.kind, request.as_json);
    } else {
        print_all(request.as_json);
    }
    return LAB_DONE;
}
