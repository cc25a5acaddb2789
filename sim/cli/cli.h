/* cli.h - the commands of the program: one file each. argv[0] of a command is "ccsim COMMAND"; the result is the exit
 * code. */
#ifndef CCSIM_CLI_CLI_H
#define CCSIM_CLI_CLI_H

/* argp.h brings getopt's `struct option`, of which there is one of our own: it gets another name here. */
#define option getopt_option
#include <argp.h>
#undef option

#include "sim/base/memory.h"
#include "sim/base/text.h"
#include "sim/lab/experiment.h"
#include <stdint.h>

int cli_run(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_plot(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_trace(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_play(int argc, char **argv);
int cli_storm(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_help(int argc, char **argv);

/* The commands, for `ccsim help` and suggestions. */
struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};
extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

/* argp_parse, but an unknown long option gets the nearest valid one suggested. Exits with 2 on bad usage. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The whole number from `low` to `high` that an option's argument is; else bad usage. */
int64_t cli_whole(const char *command, const char *option, const char *text, int64_t low, int64_t high);

/* An option's argument that must not be empty; `what` is whose name it is: "-o: the folder's". */
const char *cli_named(const char *command, const char *what, const char *text);

/* CONFIG..., and the options that the commands with configs share, under these keys and 'o'; a command's own table says
 * which of them it has. */
enum { CLI_SET = 1024, CLI_ONLY, CLI_SEED };
struct cli_config {
    const char *command;
    VECTOR(const char *) files, sets, onlys;
    const char *folder; /* NULL: not given */
    int64_t seed;
    bool has_seed;
};
/* For a parser to end with: takes the key, or answers ARGP_ERR_UNKNOWN. */
error_t cli_take_config(struct cli_config *config, int key, char *text);
struct experiment_request cli_request(const struct cli_config *config);
/* `ccsim run` with what decides about the outcome, as typed: the start of replay commands. */
void cli_add_run(const struct cli_config *config, struct text *out);
void cli_config_free(struct cli_config *config);

/* `ccsim: MESSAGE`, a pointer to --help, exit code 2. */
_Noreturn void cli_bad_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
