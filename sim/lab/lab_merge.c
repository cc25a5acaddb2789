/* lab_merge.c - joins the shards of one experiment. The part files carry the config; it is read again as any config is,
 * so what comes out is what one run of all of it would have made, byte for byte. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/lab_parts.h"

/* All part files must be of one plan and one build. False with the sentence on stderr. */
static bool are_of_one_plan(const struct journals *parts) {
    CHECK(parts->count > 0 && parts->items != NULL);
    const struct journal *first = &parts->items[0];
    for (size_t i = 0; i < parts->count; i++) {
        const struct journal *part = &parts->items[i];
        if (part->header.build == 0) {
            fprintf(stderr, "ccsim: %s: it does not begin as a part file does\n", part->path);
            return false;
        }
        if (part->header.plan != first->header.plan) {
            fprintf(stderr, "ccsim: %s and %s are of two experiments: their configs differ\n", first->path, part->path);
            return false;
        }
        if (part->header.build != first->header.build) {
            fprintf(stderr,
                    "ccsim: %s and %s were computed by two builds of ccsim, of which nobody knows whether they do the "
                    "same: compute one of them again with the other's\n",
                    first->path, part->path);
            return false;
        }
    }
    return true;
}

/* Another build's parts are whole and good, but their runs have other keys here if options have come or gone. */
static bool is_our_build(const struct journals *parts) {
    if (parts->items[0].header.build == journal_build()) {
        return true;
    }
    fprintf(stderr, "ccsim: %s was computed by another build of ccsim: merge it with that one\n", parts->items[0].path);
    return false;
}

/* What a run of the whole experiment left there may be of another one: with shards about, it is not looked at. */
static void keep_shards(struct journals *parts) {
    size_t shards = 0;
    for (size_t i = 0; i < parts->count; i++) {
        shards += parts->items[i].header.shard.count > 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < parts->count; i++) {
        if (shards > 0 && parts->items[i].header.build != 0 && parts->items[i].header.shard.count == 0) {
            journal_close(&parts->items[i]);
        } else {
            parts->items[kept++] = parts->items[i];
        }
    }
    parts->count = kept;
}

static bool read_parts(const struct merge_request *request, struct journals *parts) {
    struct text error = {0};
    bool good = true;
    for (size_t i = 0; i < request->folder_count && good; i++) {
        size_t before = parts->count;
        good = journal_read_folder(request->folders[i], NULL, parts, &error);
        if (good && parts->count == before) {
            text_add(&error, "%s: there is no part file in it; `ccsim run --shard K/N` writes them",
                     request->folders[i]);
            good = false;
        }
    }
    if (!good) {
        fprintf(stderr, "ccsim: %s\n", text_string(&error));
    }
    text_free(&error);
    keep_shards(parts);
    return good && are_of_one_plan(parts) && is_our_build(parts);
}

static struct experiment *load(const struct journal_header *header) {
    struct text errors = {0};
    struct experiment_request request = {.files = &header->name, .file_count = 1, .text = header->config};
    struct experiment *experiment = experiment_load(&request, &errors);
    if (experiment == NULL) {
        fprintf(stderr, "ccsim: the config that the part files carry cannot be read:\n%s", text_string(&errors));
    }
    text_free(&errors);
    return experiment;
}

/* The part file of that shard, or NULL. */
static const struct journal *part_of_shard(const struct journals *parts, struct shard shard) {
    for (size_t i = 0; i < parts->count; i++) {
        const struct journal_header *header = &parts->items[i].header;
        if (header->shard.number == shard.number && header->shard.count == shard.count) {
            return &parts->items[i];
        }
    }
    return NULL;
}

/* Where a shard has to write: beside its part file, or in the first folder. */
static void add_shard_command(const struct merge_request *request, const struct journal *part, struct shard shard,
                              const char *command, struct text *out) {
    text_add(out, "%s", command);
    if (shard.count > 0) {
        text_add(out, " --shard %" PRIu32 "/%" PRIu32, shard.number, shard.count);
    }
    text_add(out, " -o ");
    char *folder = mem_string(part != NULL ? part->path : request->folders[0]);
    char *slash = part != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL) {
        *slash = '\0';
    }
    text_add_shell_word(out, folder);
    mem_free(folder);
}

static void tell_shard(const struct lab *lab, const struct merge_request *request, struct shard shard, size_t missing,
                       size_t size) {
    const struct journal *part = part_of_shard(&lab->others, shard);
    struct text command = {0};
    add_shard_command(request, part, shard, lab->others.items[0].header.command, &command);
    if (shard.count == 0) {
        fprintf(stderr, "ccsim: %zu of %zu runs are missing: %s\n", missing, size, text_string(&command));
    } else if (part == NULL) {
        fprintf(stderr, "ccsim: shard %" PRIu32 " of %" PRIu32 " is missing, %zu runs: %s\n", shard.number, shard.count,
                missing, text_string(&command));
    } else {
        fprintf(stderr,
                "ccsim: shard %" PRIu32 " of %" PRIu32 " is not complete, %zu of its %zu runs are missing: %s\n",
                shard.number, shard.count, missing, size, text_string(&command));
    }
    text_free(&command);
}

/* Names the shards that have not done their part. */
static void tell_missing(const struct lab *lab, const struct merge_request *request) {
    uint32_t count = lab->others.items[0].header.shard.count;
    if (count == 0) {
        tell_shard(lab, request, (struct shard){0}, lab->todo.count, lab->known + lab->todo.count);
        return;
    }
    uint32_t *shards = lab_deal(lab, count);
    size_t *sizes = mem_new(count + (size_t)1, sizeof *sizes), *missing = mem_new(count + (size_t)1, sizeof *missing);
    for (size_t job = 0; job < lab->jobs; job++) {
        bool is_wanted = job / lab->facts->points < lab->points[lab_point_of(lab, job)].wanted;
        sizes[lab_shard_of(lab, shards, job)] += is_wanted;
    }
    for (size_t i = 0; i < lab->todo.count; i++) {
        missing[lab_shard_of(lab, shards, lab->todo.items[i])]++;
    }
    for (uint32_t number = 1; number <= count; number++) {
        if (missing[number] > 0) {
            tell_shard(lab, request, (struct shard){number, count}, missing[number], sizes[number]);
        }
    }
    mem_free(shards);
    mem_free(sizes);
    mem_free(missing);
}

static enum lab_exit join(struct lab *lab, const struct merge_request *request) {
    if (!results_open(&lab->results, lab->experiment, lab->folder, 0, &lab->error) || !lab_look_up(lab, NULL)) {
        fprintf(stderr, "ccsim: %s; nothing was written\n", text_string(&lab->error));
        return LAB_INCOMPLETE;
    }
    if (lab->todo.count > 0) {
        tell_missing(lab, request);
        return LAB_INCOMPLETE;
    }
    return lab_conclude(lab);
}

static void add_merge_command(const struct merge_request *request, struct text *out) {
    text_add(out, "ccsim merge");
    for (size_t i = 0; i < request->folder_count; i++) {
        text_add(out, " ");
        text_add_shell_word(out, request->folders[i]);
    }
    if (request->folder != NULL) {
        text_add(out, " -o ");
        text_add_shell_word(out, request->folder);
    }
}

static enum lab_exit merge_parts(const struct merge_request *request, struct journals *parts) {
    const struct journal_header *header = &parts->items[0].header;
    struct experiment *experiment = load(header);
    if (experiment == NULL) {
        return LAB_INCOMPLETE;
    }
    const char *only_folder = request->folder_count == 1 ? request->folders[0] : NULL;
    struct lab_request run = {.folder = request->folder != NULL ? request->folder : only_folder,
                              .quiet = request->quiet,
                              .plot = request->plot,
                              .command = header->command,
                              .selection = ""};
    struct text folder = {0}, again = {0};
    add_merge_command(request, &again);
    run.again = text_string(&again);
    lab_folder(experiment, &run, &folder);
    struct lab lab;
    lab_begin(&lab, experiment, &run);
    lab.folder = text_string(&folder);
    lab.others = *parts;
    *parts = (struct journals){0};
    enum lab_exit end = lab_draw(&lab, join(&lab, request));
    lab_end(&lab);
    text_free(&folder);
    text_free(&again);
    experiment_free(experiment);
    return end;
}

enum lab_exit lab_merge(const struct merge_request *request) {
    struct journals parts = {0};
    enum lab_exit end = read_parts(request, &parts) ? merge_parts(request, &parts) : LAB_USAGE;
    for (size_t i = 0; i < parts.count; i++) {
        journal_close(&parts.items[i]);
    }
    vector_free(&parts);
    return end;
}
