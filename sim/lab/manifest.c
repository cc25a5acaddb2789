/* manifest.c - see the header. */
#include "sim/lab/manifest.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/lab.h"
#include "sim/lab/label.h"
#include "sim/lab/outfile.h"
#include "sim/lab/results.h"
#include "sim/lab/workers.h"

/* JSON is UTF-8; bytes that are not become question marks. */
static json_t *json_words(const char *words) {
    json_t *value = json_string(words);
    if (value == NULL) {
        char *plain = mem_string(words);
        for (char *p = plain; *p != '\0'; p++) {
            *p = (unsigned char)*p < 0x80 ? *p : '?';
        }
        value = json_string(plain);
        mem_free(plain);
    }
    CHECK(value != NULL);
    return value;
}

static void put(json_t *object, const char *key, json_t *value) { CHECK(json_object_set_new(object, key, value) == 0); }

static void put_words(json_t *object, const char *key, const char *words) {
    put(object, key, words != NULL ? json_words(words) : json_null());
}

static void put_count(json_t *object, const char *key, uint64_t count) {
    if (count <= INT64_MAX) {
        put(object, key, json_integer((json_int_t)count));
    } else { /* JSON readers have signed numbers at best */
        char digits[32];
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
        put_words(object, key, digits);
    }
}

static json_t *labelled(const char *column, const char *given, const char *workload) {
    struct text label = {0};
    if (given != NULL) {
        text_add(&label, "%s", given);
    } else {
        label_add(column, workload, &label);
    }
    json_t *value = json_words(text_string(&label));
    text_free(&label);
    return value;
}

static json_t *axes_of(const struct manifest *manifest) {
    json_t *axes = json_array();
    for (size_t i = 0; i < experiment_facts(manifest->experiment)->axes; i++) {
        const char *column = experiment_axis(manifest->experiment, i);
        json_t *axis = json_object();
        put_words(axis, "column", column);
        put(axis, "label", labelled(column, NULL, manifest->workload));
        json_array_append_new(axes, axis);
    }
    return axes;
}

static json_t *figures_of(const struct manifest *manifest) {
    const struct experiment_facts *facts = experiment_facts(manifest->experiment);
    json_t *figures = json_array();
    for (size_t i = 0; i < facts->figure_count; i++) {
        const struct figure *figure = &facts->figures[i];
        json_t *object = json_object();
        put_words(object, "name", figure->name);
        put_words(object, "title", figure->title != NULL ? figure->title : facts->title);
        put_words(object, "source", figure_sources[figure->source]);
        put_words(object, "x", figure->x);
        put_words(object, "y", figure->y);
        put_words(object, "group", figure->group);
        if (figure->kind == FIGURE_MAP) {
            put_words(object, "value", figure->value);
            put(object, "lowest", json_boolean(figure->lowest));
        }
        put(object, "log_x", json_boolean(figure->log_x));
        put(object, "log_y", json_boolean(figure->log_y));
        put(object, "x_label", labelled(figure->x, figure->x_label, manifest->workload));
        put(object, "y_label", labelled(figure->y, figure->y_label, manifest->workload));
        json_array_append_new(figures, object);
    }
    return figures;
}

static json_t *files_of(const struct manifest *manifest) {
    const struct experiment_facts *facts = experiment_facts(manifest->experiment);
    json_t *files = json_pack("[ss]", "summary.csv", "manifest.json");
    for (int i = 0; i < OUTCOME_TABLES; i++) {
        if (manifest->tables[i]) {
            json_array_append_new(files, json_string(results_table_names[i]));
        }
    }
    if (manifest->compared) {
        json_array_append_new(files, json_string("compare.csv"));
    }
    for (size_t i = 0; manifest->figure_format != NULL && i < facts->figure_count; i++) {
        struct text name = {0};
        text_add(&name, "%s.gp", facts->figures[i].name);
        json_array_append_new(files, json_words(text_string(&name)));
        text_clear(&name);
        text_add(&name, "%s.%s", facts->figures[i].name, manifest->figure_format);
        json_array_append_new(files, json_words(text_string(&name)));
        text_free(&name);
    }
    return files;
}

static json_t *host_facts(int workers) {
    json_t *host = json_object();
    struct utsname system;
    if (uname(&system) == 0) {
        put_words(host, "system", system.sysname);
        put_words(host, "release", system.release);
        put_words(host, "machine", system.machine);
    }
    put(host, "processors", json_integer(workers_default()));
    put(host, "workers", json_integer(workers));
    put_words(host, "compiler", __VERSION__);
    return host;
}

static int add_written(const char *bytes, size_t count, void *out) {
    text_add_bytes(out, bytes, count);
    return 0;
}

void manifest_add(const struct manifest *manifest, struct text *out) {
    const struct experiment_facts *facts = experiment_facts(manifest->experiment);
    struct text config = {0};
    experiment_echo(manifest->experiment, &config);
    char started[64];
    struct tm utc;
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&manifest->started, &utc));
    json_t *root = json_object();
    put_words(root, "program", "ccsim");
    put_words(root, "version", lab_version);
    put_words(root, "title", facts->title);
    put_words(root, "command", manifest->command);
    put_count(root, "seed", facts->seed);
    put_count(root, "points", facts->points);
    put_count(root, "replications", (uint64_t)facts->replications);
    put_count(root, "runs", manifest->runs);
    put_count(root, "runs_finished", manifest->runs_finished);
    put_count(root, "runs_refused", manifest->runs_refused);
    put(root, "complete", json_boolean(manifest->runs == manifest->runs_finished + manifest->runs_refused));
    put(root, "certified", json_boolean(facts->certify));
    put_words(root, "workload", manifest->workload);
    put(root, "axes", axes_of(manifest));
    put(root, "figures", figures_of(manifest));
    put(root, "files", files_of(manifest));
    put_words(root, "config", text_string(&config));
    put_words(root, "started", started);
    put(root, "wall_seconds", json_real((double)(int64_t)(manifest->wall_seconds * 1000) / 1000));
    put(root, "host", host_facts(manifest->workers));
    CHECK(json_dump_callback(root, add_written, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0);
    text_add(out, "\n");
    json_decref(root);
    text_free(&config);
}

static json_t *manifest_load(const char *folder, struct text *error) {
    struct text path = {0};
    text_add(&path, "%s/manifest.json", folder);
    char *content = outfile_load(text_string(&path));
    json_error_t where;
    json_t *root = NULL;
    if (content == NULL) {
        text_add(error, "%s: %s; `ccsim run` writes it", text_string(&path), strerror(errno));
    } else {
        root = json_loads(content, JSON_REJECT_DUPLICATES, &where);
        if (root == NULL) {
            text_add(error, "%s:%d: %s", text_string(&path), where.line, where.text);
        }
    }
    mem_free(content);
    text_free(&path);
    return root;
}

bool manifest_folder_is_complete(const char *folder) {
    struct text error = {0};
    json_t *root = manifest_load(folder, &error);
    bool complete = root != NULL && json_is_true(json_object_get(root, "complete"));
    json_decref(root);
    text_free(&error);
    return complete;
}

static char *words_of(const json_t *object, const char *key) {
    const char *words = json_string_value(json_object_get(object, key));
    return words != NULL ? mem_string(words) : NULL;
}

/* A manifest of earlier times says nothing of it. */
static enum figure_source source_of(const json_t *object) {
    const char *name = json_string_value(json_object_get(object, "source"));
    int source = FIGURE_HISTOGRAMS;
    while (source > FIGURE_SUMMARY && (name == NULL || strcmp(name, figure_sources[source]) != 0)) {
        source--;
    }
    return (enum figure_source)source;
}

static bool figure_read(const json_t *object, struct figure *figure) {
    *figure = (struct figure){.name = words_of(object, "name"),
                              .title = words_of(object, "title"),
                              .source = source_of(object),
                              .x = words_of(object, "x"),
                              .y = words_of(object, "y"),
                              .group = words_of(object, "group"),
                              .value = words_of(object, "value"),
                              .lowest = json_is_true(json_object_get(object, "lowest")),
                              .log_x = json_is_true(json_object_get(object, "log_x")),
                              .log_y = json_is_true(json_object_get(object, "log_y")),
                              .x_label = words_of(object, "x_label"),
                              .y_label = words_of(object, "y_label")};
    figure->kind = figure->value != NULL ? FIGURE_MAP : FIGURE_CURVES;
    return figure->name != NULL && strchr(figure->name, '/') == NULL && figure->title != NULL && figure->x != NULL &&
           figure->y != NULL && figure->x_label != NULL && figure->y_label != NULL;
}

bool manifest_read_figures(const char *folder, struct manifest_figures *out, struct text *error) {
    *out = (struct manifest_figures){0};
    json_t *root = manifest_load(folder, error);
    if (root == NULL) {
        return false;
    }
    const json_t *figures = json_object_get(root, "figures");
    bool is_good = json_is_array(figures);
    out->figures = mem_new(json_array_size(figures), sizeof *out->figures);
    out->count = json_array_size(figures);
    for (size_t i = 0; i < out->count; i++) {
        is_good = figure_read(json_array_get(figures, i), &out->figures[i]) && is_good;
    }
    out->runs = (size_t)json_integer_value(json_object_get(root, "runs"));
    out->runs_finished = (size_t)json_integer_value(json_object_get(root, "runs_finished"));
    out->runs_refused = (size_t)json_integer_value(json_object_get(root, "runs_refused"));
    out->command = words_of(root, "command");
    json_decref(root);
    if (!is_good) {
        text_add(error, "%s/manifest.json: its `figures` are not what `ccsim run` writes", folder);
    }
    return is_good;
}

void manifest_figures_free(struct manifest_figures *figures) {
    for (size_t i = 0; i < figures->count; i++) {
        struct figure *figure = &figures->figures[i];
        char *words[] = {figure->name,  figure->title, figure->x,       figure->y,
                         figure->group, figure->value, figure->x_label, figure->y_label};
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
            mem_free(words[w]);
        }
    }
    mem_free(figures->figures);
    mem_free(figures->command);
    *figures = (struct manifest_figures){0};
}
