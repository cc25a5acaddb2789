#include "tests/support/sections.h"

#include <string.h>

#include "sim/base/memory.h"
#include "tests/support/harness.h"

enum { ENTRIES_MAX = 60 };

static void no_fault(void *context, size_t entry, size_t at, const char *sentence) {
    fail_msg("entry %zu, byte %zu: %s\n%s", entry, at, sentence, (const char *)context);
}

/* Cuts the text in place. */
static size_t split_entries(char *text, struct workload_entry *entries) {
    size_t count = 0;
    const char *section = NULL;
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        char *equals = strstr(line, " = ");
        assert_true(count < ENTRIES_MAX);
        if (line[0] == '[') {
            line[strlen(line) - 1] = '\0';
            section = line + 1;
            entries[count++] = (struct workload_entry){section, NULL, NULL};
        } else if (equals != NULL) {
            *equals = '\0';
            entries[count++] = (struct workload_entry){section, line, equals + 3};
        }
    }
    return count;
}

void sections_compile(const struct workload_ops *ops, void *options, const char *text) {
    struct workload_entry entries[ENTRIES_MAX];
    char *copy = mem_string(text);
    size_t count = split_entries(copy, entries);
    struct workload_faults faults = {(void *)(uintptr_t)text, no_fault};
    assert_true(ops->compile(options, entries, count, &faults));
    mem_free(copy);
}
