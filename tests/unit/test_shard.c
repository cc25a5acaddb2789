/* test_shard.c - which run belongs to which shard, and what launchers leave in the environment. */
#include "sim/lab/shard.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "tests/support/harness.h"

static void shards_are_even_and_mixed(void **state) {
    (void)state;
    enum { JOBS = 1000, SHARDS = 7, ALGORITHMS = 4 };
    uint32_t *shards = shard_deal(JOBS, SHARDS), *again = shard_deal(JOBS, SHARDS);
    size_t sizes[SHARDS + 1] = {0}, first_quarter[SHARDS + 1] = {0};
    for (size_t job = 0; job < JOBS; job++) {
        assert_in_range(shards[job], 1, SHARDS);
        assert_int_equal(shards[job], again[job]);
        sizes[shards[job]]++;
        first_quarter[shards[job]] += job < JOBS / ALGORITHMS;
    }
    for (size_t shard = 1; shard <= SHARDS; shard++) {
        assert_in_range(sizes[shard], JOBS / SHARDS, JOBS / SHARDS + 1);
        assert_in_range(first_quarter[shard], 20, 52); /* 35.7 expected, three standard deviations of 5.5 */
    }
    mem_free(shards);
    mem_free(again);
}

/* As many shards as algorithms, the innermost axis: none gets one algorithm only. */
static void no_shard_has_the_slow_ones_to_itself(void **state) {
    (void)state;
    enum { JOBS = 400, SHARDS = 4 };
    uint32_t *shards = shard_deal(JOBS, SHARDS);
    size_t runs[SHARDS + 1][SHARDS] = {{0}};
    for (size_t job = 0; job < JOBS; job++) {
        runs[shards[job]][job % SHARDS]++;
    }
    for (size_t shard = 1; shard <= SHARDS; shard++) {
        for (size_t algorithm = 0; algorithm < SHARDS; algorithm++) {
            assert_in_range(runs[shard][algorithm], 12, 38); /* 25 expected, three standard deviations of 4.3 */
        }
    }
    mem_free(shards);
}

static void more_shards_than_runs(void **state) {
    (void)state;
    uint32_t *shards = shard_deal(3, 10);
    assert_int_equal(shards[0] + shards[1] + shards[2], 1 + 2 + 3);
    mem_free(shards);
}

static void shards_are_typed_as_k_of_n(void **state) {
    (void)state;
    struct shard shard;
    struct text error = {0};
    assert_true(shard_parse("3/8", &shard, &error));
    assert_int_equal(shard.number, 3);
    assert_int_equal(shard.count, 8);
    static const char *const wrong[] = {"",    "3",    "/",   "3/",    "/8",  "0/8",
                                        "9/8", "-1/8", "1/0", "1/2/3", "a/b", "1/1000000"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        text_clear(&error);
        assert_false(shard_parse(wrong[i], &shard, &error));
        assert_contains(text_string(&error), "is neither K/N");
    }
    text_free(&error);
}

static const char *const variables[] = {"SLURM_ARRAY_TASK_ID",
                                        "SLURM_ARRAY_TASK_COUNT",
                                        "SLURM_ARRAY_TASK_MIN",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "JOB_COMPLETION_INDEX",
                                        "JOB_COMPLETIONS"};

/* `settings`: "NAME=VALUE NAME=VALUE"; `expected`: "K/N", or a part of the sentence. */
static void assert_automatic(const char *settings, const char *expected) {
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
    }
    char *copy = mem_string(settings), *rest = copy;
    for (char *word; (word = strsep(&rest, " ")) != NULL && word[0] != '\0';) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        setenv(word, equals + 1, 1);
    }
    mem_free(copy);
    struct shard shard;
    struct text source = {0}, error = {0}, found = {0};
    if (shard_from_environment(&shard, &source, &error)) {
        assert_true(source.length > 0);
        text_add(&found, "%u/%u", shard.number, shard.count);
    } else {
        text_add(&found, "%s", text_string(&error));
    }
    assert_contains(text_string(&found), expected);
    text_free(&source);
    text_free(&error);
    text_free(&found);
}

static void launchers_say_which_shard(void **state) {
    (void)state;
    assert_automatic("SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1", "5/8");
    assert_automatic(
        "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=4 SLURM_PROCID=0 SLURM_NTASKS=1", "4/4");
    assert_automatic("SLURM_PROCID=0 SLURM_NTASKS=3", "1/3");
    assert_automatic("OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3", "3/3");
    assert_automatic("PMI_RANK=1 PMI_SIZE=2", "2/2");
    assert_automatic("JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=12", "1/12");
}

static void launchers_that_make_no_sense_are_refused(void **state) {
    (void)state;
    assert_automatic("", "no launcher has left its mark: none of SLURM_ARRAY_TASK_ID, ");
    assert_automatic("PMI_RANK=1", "MPICH (PMI) is at work, but PMI_SIZE is not set");
    assert_automatic("JOB_COMPLETION_INDEX=0", "JOB_COMPLETIONS is not set");
    assert_automatic("PMI_RANK=2 PMI_SIZE=2", "PMI_RANK = 2 is not among the 2 from 0 on that PMI_SIZE names");
    assert_automatic("PMI_RANK=x PMI_SIZE=2", "PMI_RANK is `x', which is no whole number");
    assert_automatic("SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=5 SLURM_ARRAY_TASK_MIN=1", "arrays must step by 1");
}

TEST_GROUP(shard, cmocka_unit_test(shards_are_even_and_mixed), cmocka_unit_test(no_shard_has_the_slow_ones_to_itself),
           cmocka_unit_test(more_shards_than_runs), cmocka_unit_test(shards_are_typed_as_k_of_n),
           cmocka_unit_test(launchers_say_which_shard), cmocka_unit_test(launchers_that_make_no_sense_are_refused))
