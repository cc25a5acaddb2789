/* config.c - what the commands that read configs have in common: CONFIG..., --set, --only, --seed and -o. */
#include <inttypes.h>

#include "sim/cli/cli.h"
#include "sim/lab/lab.h"

const char *cli_named(const char *command, const char *what, const char *text) {
    if (text[0] == '\0') {
        cli_bad_usage(command, "%s name is empty", what);
    }
    return text;
}

error_t cli_take_config(struct cli_config *config, int key, char *text) {
    switch (key) {
    case 'o': config->folder = cli_named(config->command, "-o: the folder's", text); break;
    case CLI_SET: vector_push(&config->sets, text); break;
    case CLI_ONLY: vector_push(&config->onlys, text); break;
    case CLI_SEED:
        config->seed = cli_whole(config->command, "--seed", text, 0, INT64_MAX);
        config->has_seed = true;
        break;
    case ARGP_KEY_ARG: vector_push(&config->files, text); break;
    case ARGP_KEY_NO_ARGS: cli_bad_usage(config->command, "no config given");
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

struct experiment_request cli_request(const struct cli_config *config) {
    return (struct experiment_request){.files = config->files.items,
                                       .file_count = config->files.count,
                                       .sets = config->sets.items,
                                       .set_count = config->sets.count,
                                       .onlys = config->onlys.items,
                                       .only_count = config->onlys.count,
                                       .has_seed = config->has_seed,
                                       .seed = (uint64_t)config->seed};
}

void cli_add_run(const struct cli_config *config, struct text *out) {
    text_add(out, "ccsim run");
    for (size_t i = 0; i < config->files.count; i++) {
        text_add(out, " ");
        text_add_shell_word(out, config->files.items[i]);
    }
    for (size_t i = 0; i < config->sets.count; i++) {
        text_add(out, " --set ");
        text_add_shell_word(out, config->sets.items[i]);
    }
    if (config->has_seed) {
        text_add(out, " --seed %" PRId64, config->seed);
    }
}

void cli_config_free(struct cli_config *config) {
    vector_free(&config->files);
    vector_free(&config->sets);
    vector_free(&config->onlys);
}
