/* shard.c - see the header. */
#include "sim/lab/shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/digest.h"
#include "sim/base/memory.h"

bool shard_parse(const char *words, struct shard *shard, struct text *error) {
    char *copy = mem_string(words), *slash = strchr(copy, '/');
    int64_t number = 0, count = 0;
    bool good = slash != NULL;
    if (good) {
        *slash = '\0';
        good = text_parse_integer(copy, &number) && text_parse_integer(slash + 1, &count) && number >= 1 &&
               number <= count && count <= SHARDS_MAX;
    }
    mem_free(copy);
    if (!good) {
        text_add(error, "`%s' is neither K/N, shard K of N (from 1/1 to %d/%d), nor auto", words, SHARDS_MAX,
                 SHARDS_MAX);
        return false;
    }
    *shard = (struct shard){(uint32_t)number, (uint32_t)count};
    return true;
}

/* What a launcher says: its variable for the number, the one that tells how many, and where numbers begin: at what `first`
 * holds, or at 0. */
struct launcher {
    const char *name, *number, *count, *first;
};

/* A job array before the tasks of a job: in a batch script of an array both are set. */
static const struct launcher launchers[] = {
    {"a Slurm job array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
    {"MPICH (PMI)", "PMI_RANK", "PMI_SIZE", NULL},
    {"Slurm tasks", "SLURM_PROCID", "SLURM_NTASKS", NULL},
    {"a Kubernetes indexed job", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", NULL},
};

static bool variable(const char *name, int64_t *value, struct text *error) {
    const char *words = getenv(name);
    if (words == NULL || !text_parse_integer(words, value)) {
        text_add(error, words == NULL ? "%s is not set" : "%s is `%s', which is no whole number", name, words);
        return false;
    }
    return true;
}

static bool take_launcher(const struct launcher *launcher, struct shard *shard, struct text *source,
                          struct text *error) {
    int64_t number, count, first = 0;
    text_add(error, "--shard auto: %s is at work, but ", launcher->name);
    if (!variable(launcher->number, &number, error) || !variable(launcher->count, &count, error) ||
        (launcher->first != NULL && !variable(launcher->first, &first, error))) {
        return false;
    }
    if (count < 1 || count > SHARDS_MAX || number < first || number - first >= count) {
        text_add(error, "%s = %" PRId64 " is not among the %" PRId64 " from %" PRId64 " on that %s names%s",
                 launcher->number, number, count, first, launcher->count,
                 launcher->first != NULL ? " (arrays must step by 1: --array=1-8)" : "");
        return false;
    }
    text_clear(error);
    *shard = (struct shard){(uint32_t)(number - first) + 1, (uint32_t)count};
    text_add(source, "%s: %s = %" PRId64 ", %s = %" PRId64, launcher->name, launcher->number, number, launcher->count,
             count);
    return true;
}

bool shard_from_environment(struct shard *shard, struct text *source, struct text *error) {
    enum { COUNT = sizeof launchers / sizeof launchers[0] };
    for (size_t i = 0; i < COUNT; i++) {
        if (getenv(launchers[i].number) != NULL) {
            return take_launcher(&launchers[i], shard, source, error);
        }
    }
    text_add(error, "--shard auto: no launcher has left its mark: none of");
    for (size_t i = 0; i < COUNT; i++) {
        text_add(error, "%s %s", i == 0 ? "" : ",", launchers[i].number);
    }
    text_add(error, " is set; say --shard K/N");
    return false;
}

struct card {
    uint64_t hash;
    size_t job;
};

static int by_hash(const void *left, const void *right) {
    const struct card *a = left, *b = right;
    return a->hash != b->hash ? (a->hash < b->hash ? -1 : 1) : (a->job > b->job) - (a->job < b->job);
}

uint32_t *shard_deal(size_t jobs, uint32_t count) {
    struct card *cards = mem_new(jobs, sizeof *cards);
    uint32_t *shards = mem_new(jobs, sizeof *shards);
    for (size_t job = 0; job < jobs; job++) {
        cards[job] = (struct card){digest_add(0, job + 1), job};
    }
    qsort(cards, jobs, sizeof *cards, by_hash);
    for (size_t i = 0; i < jobs; i++) {
        shards[cards[i].job] = (uint32_t)(i % count) + 1;
    }
    mem_free(cards);
    return shards;
}
