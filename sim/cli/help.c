/* help.c - `ccsim help [WORD]`: the manual's entries (sim/lab/manual.h) and the pages made from them. */
#include "sim/cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/lab.h"
#include "sim/lab/manual.h"

enum { SUGGESTION_BYTES = 160, KEY_OPTIONS = 256, KEY_METRICS };

struct help {
    const char *word;
    void (*page)(struct text *out);
};

static const struct argp_option help_options[] = {
    {.name = "options-markdown", .key = KEY_OPTIONS, .doc = "print docs/OPTIONS.md"},
    {.name = "metrics-markdown", .key = KEY_METRICS, .doc = "print docs/METRICS.md"},
    {0},
};

static error_t take(int key, char *argument, struct argp_state *state) {
    struct help *help = state->input;
    switch (key) {
    case KEY_OPTIONS: help->page = manual_options_markdown; return 0;
    case KEY_METRICS: help->page = manual_metrics_markdown; return 0;
    case ARGP_KEY_ARG:
        if (help->word != NULL) {
            cli_bad_usage("ccsim help", "one word at a time: `%s' is one too many", argument);
        }
        help->word = argument;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = help_options,
    .parser = take,
    .args_doc = "[WORD]",
    .doc =
        "The manual entry of a command, a section or key of a config, an algorithm, a workload, a metric, a reason or an "
        "anomaly.",
};

static const struct cli_command *find_command(const char *word) {
    for (size_t i = 0; i < cli_command_count; i++) {
        if (strcmp(cli_commands[i].name, word) == 0) {
            return &cli_commands[i];
        }
    }
    return NULL;
}

/* A command describes itself. */
static int describe_command(const struct cli_command *command) {
    struct text name = {0};
    char help[] = "--help";
    text_add(&name, "ccsim %s", command->name);
    char *arguments[] = {name.bytes, help, NULL};
    int code = command->run(2, arguments);
    text_free(&name);
    return code;
}

static void print_overview(void) {
    puts("Commands (ccsim help COMMAND):");
    for (size_t i = 0; i < cli_command_count; i++) {
        printf("  %-12s %s\n", cli_commands[i].name, cli_commands[i].summary);
    }
    puts("\nSections of a config (ccsim help SECTION, KEY or SECTION.KEY):");
    for (size_t i = 0; i < catalog_section_count; i++) {
        printf("  %-12s %s\n", catalog_sections[i].name, catalog_sections[i].help);
    }
    puts("\nccsim list names the algorithms, workloads, metrics, options and reasons: each has an entry.");
}

static int unknown_word(const char *word) {
    struct catalog_names names = {0};
    char suggestion[SUGGESTION_BYTES];
    for (size_t i = 0; i < cli_command_count; i++) {
        vector_push(&names, cli_commands[i].name);
    }
    manual_names(&names);
    text_suggestion(suggestion, sizeof suggestion, word, names.items, names.count);
    fprintf(stderr, "ccsim help: there is no entry `%s'%s\n", word, suggestion);
    catalog_names_free(&names);
    return LAB_USAGE;
}

static int print_entry(const char *word) {
    const struct cli_command *command = find_command(word);
    struct text entry = {0};
    if (command != NULL) {
        return describe_command(command);
    }
    bool found = manual_entry(word, &entry);
    fputs(text_string(&entry), stdout);
    text_free(&entry);
    return found ? LAB_DONE : unknown_word(word);
}

int cli_help(int argc, char **argv) {
    struct help help = {0};
    cli_parse(&parser, argc, argv, &help);
    if (help.page != NULL) {
        struct text page = {0};
        help.page(&page);
        fputs(text_string(&page), stdout);
        text_free(&page);
        return LAB_DONE;
    }
    if (help.word != NULL) {
        return print_entry(help.word);
    }
    print_overview();
    return LAB_DONE;
}
