/* main.c - picks the command. Results go to stdout, everything else to stderr. */
#include "sim/cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/lab/lab.h"

static void print_version(FILE *stream, struct argp_state *state) {
    (void)state;
    fprintf(stream, "ccsim %s\n", lab_version);
}

static const char before_commands[] =
    "Which concurrency control holds up under this contention, where does it collapse, and what does that cost? A "
    "deterministic simulator of transactions over swappable concurrency-control algorithms."
    "\v";
static const char after_commands[] =
    "`ccsim COMMAND --help' describes a command, `ccsim help WORD' an option of a config, an algorithm, a workload or a "
    "metric.\n\n"
    "Exit codes: 0 done; 1 a run broke what its algorithm promises; 2 bad usage or config; 3 not complete (disk full, no "
    "gnuplot, a worker crashed), with the command that finishes it; 130 interrupted, finished runs are kept.";

static char *commands_text(void) {
    struct text out = {0};
    text_add(&out, "%sCommands:\n", before_commands);
    for (size_t i = 0; i < cli_command_count; i++) {
        text_add(&out, "  %-6s %s\n", cli_commands[i].name, cli_commands[i].summary);
    }
    text_add(&out, "\n%s", after_commands);
    return out.bytes;
}

static _Noreturn void unknown_command(const char *word) {
    enum { COMMANDS_MOST = 32 };
    const char *names[COMMANDS_MOST];
    CHECK(cli_command_count <= COMMANDS_MOST);
    for (size_t i = 0; i < cli_command_count; i++) {
        names[i] = cli_commands[i].name;
    }
    char suggestion[128];
    text_suggestion(suggestion, sizeof suggestion, word, names, cli_command_count);
    cli_bad_usage("ccsim", "there is no command `%s'%s", word, suggestion);
}

int main(int argc, char **argv) {
    static char name[] = "ccsim";
    argp_err_exit_status = LAB_USAGE;
    argp_program_version_hook = print_version;
    argv[0] = name;
    char *doc = commands_text();
    struct argp argp = {.args_doc = "COMMAND [ARGUMENT...]", .doc = doc};
    /* Only what stands before the command is ours: cut the rest off, lest its options be taken for the program's. */
    int own = 1;
    while (own < argc && argv[own][0] == '-' && argv[own][1] != '\0') {
        own++;
    }
    cli_parse(&argp, own, argv, NULL);
    mem_free(doc);
    if (own >= argc) {
        cli_bad_usage("ccsim", "no command given");
    }
    for (size_t i = 0; i < cli_command_count; i++) {
        if (strcmp(argv[own], cli_commands[i].name) == 0) {
            struct text title = {0};
            text_add(&title, "ccsim %s", cli_commands[i].name);
            argv[own] = title.bytes;
            return cli_commands[i].run(argc - own, argv + own);
        }
    }
    unknown_command(argv[own]);
}
