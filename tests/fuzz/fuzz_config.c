/* fuzz_config.c - any bytes as a config: it is refused with a reason, or it is a plan whose echo is the same plan.
 *
 * Bytes that begin with 0 or 1 are an argument of --set or --only, its length in the second byte, and then the
 * config. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/lab/experiment.h"

enum { ARGUMENT_BYTES = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *path_of_config(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/ccsim_fuzz_%d.ini", (int)getpid());
    return path;
}

static void write_config(const void *bytes, size_t size) {
    FILE *file = fopen(path_of_config(), "w");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static struct experiment *load(const char *set, const char *only, struct text *errors) {
    const char *path = path_of_config();
    struct experiment_request request = {.files = &path,
                                         .file_count = 1,
                                         .sets = &set,
                                         .set_count = set != NULL,
                                         .onlys = &only,
                                         .only_count = only != NULL};
    struct experiment *experiment = experiment_load(&request, errors);
    CHECK((experiment == NULL) == (errors->length > 0));
    return experiment;
}

static void look_at_points(const struct experiment *experiment) {
    size_t points = experiment_facts(experiment)->points;
    struct point point;
    struct text selection = {0};
    experiment_point(experiment, points - 1, &point);
    experiment_select(experiment, points / 2, &selection);
    point_free(&point);
    text_free(&selection);
}

static void check_echo(const struct experiment *experiment) {
    struct text errors = {0}, first = {0}, second = {0};
    experiment_echo(experiment, &first);
    write_config(text_string(&first), first.length);
    struct experiment *again = load(NULL, NULL, &errors);
    CHECK_MSG(again != NULL, "%s\n%s", text_string(&errors), text_string(&first));
    experiment_echo(again, &second);
    CHECK(experiment_facts(again)->points == experiment_facts(experiment)->points);
    CHECK_MSG(strcmp(text_string(&first), text_string(&second)) == 0, "%s\n%s", text_string(&first),
              text_string(&second));
    experiment_free(again);
    text_free(&errors);
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char argument[ARGUMENT_BYTES];
    const char *set = NULL, *only = NULL;
    if (size > 2 && data[0] <= 1) {
        size_t length = data[1] < size - 2 ? data[1] : size - 2;
        length = length < sizeof argument ? length : sizeof argument - 1;
        memcpy(argument, data + 2, length);
        argument[length] = '\0';
        *(data[0] == 0 ? &set : &only) = argument;
        data += 2 + length;
        size -= 2 + length;
    }
    struct text errors = {0};
    write_config(data, size);
    struct experiment *experiment = load(set, only, &errors);
    if (experiment != NULL) {
        look_at_points(experiment);
        check_echo(experiment);
    }
    experiment_free(experiment);
    text_free(&errors);
    return 0;
}
