/* label.c - see the header. */
#include "sim/lab/label.h"

#include <string.h>

#include "sim/base/option.h"
#include "sim/lab/catalog.h"
#include "sim/lab/metrics.h"

static const struct option_table *table_of(const char *section, const char *workload) {
    const char *name;
    return catalog_options(catalog_area(section, &name), cc_find(section), workload_find(workload));
}

/* As option_column writes the values. */
static const char *option_unit(const struct option *option) {
    switch (option->type) {
    case OPTION_DURATION:
    case OPTION_DISTRIBUTION: return "ms";
    case OPTION_SIZE: return "bytes";
    case OPTION_SHARE: return "share";
    default: return "";
    }
}

const char *label_short(const char *column) {
    const char *dot = strrchr(column, '.');
    return dot != NULL ? dot + 1 : column;
}

const char *label_unit(const char *column, const char *workload) {
    const struct metric *metric = metric_find(column);
    if (metric != NULL) {
        return metric->unit;
    }
    const char *key = label_short(column);
    if (key == column) {
        return "";
    }
    struct text section = {0};
    text_add_bytes(&section, column, (size_t)(key - 1 - column));
    const struct option_table *table = table_of(text_string(&section), workload);
    text_free(&section);
    const struct option *option = table != NULL ? option_find(table, key) : NULL;
    return option != NULL ? option_unit(option) : "";
}

/* The unit that a metric's name ends with says nothing beside the unit itself. */
static size_t length_without_unit(const char *name) {
    static const char *const endings[] = {"_tps", "_ms"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            return length - ending;
        }
    }
    return length;
}

void label_add(const char *column, const char *workload, struct text *out) {
    const char *name = label_short(column), *unit = label_unit(column, workload);
    size_t length = metric_find(column) != NULL ? length_without_unit(name) : strlen(name);
    for (size_t i = 0; i < length; i++) {
        text_add_bytes(out, name[i] == '_' ? " " : &name[i], 1);
    }
    if (unit[0] != '\0' && (strlen(unit) != length || strncmp(unit, name, length) != 0)) {
        text_add(out, " (%s)", unit);
    }
}
