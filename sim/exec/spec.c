#include "sim/exec/spec.h"

#include <string.h>

#include "sim/base/memory.h"
#include "sim/cc/cc.h"
#include "workloads/workload.h"

static void *new_options(const struct option_table *table) {
    if (table == NULL) {
        return NULL;
    }
    void *values = mem_new(1, table->size);
    options_default(table, values);
    return values;
}

bool spec_open(struct spec *spec, const char *algorithm, const char *workload) {
    *spec = (struct spec){.run = {.seed = 1, .replication = 1, .duration_ns = 1000000000}};
    spec->run.algorithm = cc_find(algorithm);
    spec->run.workload = workload_find(workload);
    if (spec->run.algorithm == NULL || spec->run.workload == NULL) {
        return false;
    }
    options_default(&system_options, &spec->run.system);
    options_default(&cost_options, &spec->run.cost);
    options_default(&restart_options, &spec->run.restart);
    spec->algorithm_options = new_options(spec->run.algorithm->options);
    spec->workload_options = new_options(spec->run.workload->options);
    spec->run.algorithm_options = spec->algorithm_options;
    spec->run.workload_options = spec->workload_options;
    return true;
}

void spec_close(struct spec *spec) {
    mem_free(spec->algorithm_options);
    mem_free(spec->workload_options);
}

static bool set_general(struct run_spec *run, const char *key, const char *value, bool *known) {
    int64_t number = 0;
    *known = true;
    if (strcmp(key, "warmup") == 0) {
        return text_parse_duration(value, &run->warmup_ns);
    }
    if (strcmp(key, "duration") == 0) {
        return text_parse_duration(value, &run->duration_ns);
    }
    if (strcmp(key, "certify") == 0) {
        run->certify = strcmp(value, "yes") == 0;
        return run->certify || strcmp(value, "no") == 0;
    }
    bool is_seed = strcmp(key, "seed") == 0;
    if (is_seed || strcmp(key, "replication") == 0) {
        bool good = text_parse_integer(value, &number) && number >= 0;
        *(is_seed ? &run->seed : &run->replication) = (uint64_t)number;
        return good;
    }
    *known = false;
    return false;
}

static bool set_option(struct spec *spec, const char *section, const char *name, const char *value,
                       struct text *error) {
    struct {
        const char *section;
        const struct option_table *table;
        void *values;
    } places[] = {
        {"system", &system_options, &spec->run.system},
        {"cost", &cost_options, &spec->run.cost},
        {"restart", &restart_options, &spec->run.restart},
        {"workload", spec->run.workload->options, spec->workload_options},
        {"algorithm", spec->run.algorithm->options, spec->algorithm_options},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strcmp(section, places[i].section) == 0 && places[i].table != NULL) {
            const struct option *option = option_find(places[i].table, name);
            if (option != NULL) {
                return option_parse(option, value, places[i].values, error);
            }
        }
    }
    text_add(error, "`%s.%s` is no option here", section, name);
    return false;
}

static bool set_one(struct spec *spec, char *assignment, struct text *error) {
    char *value = strchr(assignment, '=');
    if (value == NULL) {
        text_add(error, "`%s` has no `=`", assignment);
        return false;
    }
    *value++ = '\0';
    bool known;
    if (set_general(&spec->run, assignment, value, &known)) {
        return true;
    }
    char *dot = strchr(assignment, '.');
    if (known || dot == NULL) {
        text_add(error, "`%s=%s` makes no sense", assignment, value);
        return false;
    }
    *dot = '\0';
    return set_option(spec, assignment, dot + 1, value, error);
}

bool spec_set(struct spec *spec, const char *assignments, struct text *error) {
    char *copy = mem_string(assignments);
    bool good = true;
    char *rest = copy;
    while (good && *(rest += strspn(rest, " ")) != '\0') {
        char *end = rest + strcspn(rest, " ");
        char *next = *end != '\0' ? end + 1 : end;
        *end = '\0';
        good = set_one(spec, rest, error);
        rest = next;
    }
    mem_free(copy);
    return good;
}
