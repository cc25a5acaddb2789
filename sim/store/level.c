#include "sim/store/level.h"

#include <strings.h>

const char *const level_names[LEVEL_COUNT] = {"RU", "RC", "RR", "SI", "SER"};

void level_list(unsigned levels, struct text *out) {
    const char *separator = "";
    for (int level = 0; level < LEVEL_COUNT; level++) {
        if ((levels & 1u << level) != 0) {
            text_add(out, "%s%s", separator, level_names[level]);
            separator = ", ";
        }
    }
}

enum level level_find(const char *name) {
    int level = 0;
    while (level < LEVEL_COUNT && strcasecmp(name, level_names[level]) != 0) {
        level++;
    }
    return (enum level)level;
}
