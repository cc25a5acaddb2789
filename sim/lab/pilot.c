/* pilot.c - see the header. `WARMUP LENGTH settled|unsettled`, in nanoseconds. */
#include "sim/lab/pilot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/lab/statistics.h"

/* The number of pieces to cut off. */
static size_t pieces_to_cut(const struct run_samples *samples) {
    double *commits = mem_new(samples->count, sizeof *commits), *live = mem_new(samples->count, sizeof *live);
    struct run_sample before = {0};
    for (size_t i = 0; i < samples->count; i++) {
        const struct run_sample *sample = &samples->items[i];
        commits[i] = (double)(sample->commits - before.commits);
        live[i] = sample->live_area_ns - before.live_area_ns;
        before = *sample;
    }
    size_t cut = statistics_mser(commits, samples->count, PILOT_BATCH);
    size_t live_cut = statistics_mser(live, samples->count, PILOT_BATCH);
    mem_free(commits);
    mem_free(live);
    return cut > live_cut ? cut : live_cut;
}

/* False if it has to be longer, or cannot run at all. */
static bool fly(const struct run_spec *spec, struct pilot *pilot, bool *refused) {
    struct run_spec run = *spec;
    struct run_result result;
    run.replication = 0;
    run.warmup_ns = 0;
    run.duration_ns = pilot->length_ns;
    run.series_ns = pilot->length_ns / PILOT_PIECES > 0 ? pilot->length_ns / PILOT_PIECES : 1;
    run.batches = 0;
    run.certify = false;
    run.history = NULL;
    run_simulate(&run, &result);
    *refused = result.status != RUN_OK;
    size_t cut = *refused ? 0 : pieces_to_cut(&result.samples);
    bool settled = !*refused && cut <= result.samples.count / 2;
    pilot->warmup_ns = settled ? (int64_t)cut * run.series_ns : *refused ? 0 : pilot->length_ns / 2;
    run_result_free(&result);
    return settled;
}

void pilot_run(const struct run_spec *spec, struct pilot *pilot) {
    bool refused = false;
    *pilot = (struct pilot){.length_ns = spec->duration_ns};
    for (int length = 1; length <= PILOT_LENGTHS && !refused && !pilot->settled; length++) {
        pilot->length_ns *= length > 1 ? 2 : 1;
        pilot->settled = fly(spec, pilot, &refused);
    }
}

void pilot_add(const struct pilot *pilot, struct text *out) {
    text_add(out, "%" PRId64 " %" PRId64 " %s", pilot->warmup_ns, pilot->length_ns,
             pilot->settled ? "settled" : "unsettled");
}

bool pilot_read(const char *bytes, size_t length, struct pilot *pilot) {
    struct text copy = {0};
    char word[16];
    text_add_bytes(&copy, bytes, length);
    *pilot = (struct pilot){0};
    bool good =
        sscanf(text_string(&copy), "%" SCNd64 " %" SCNd64 " %15s", &pilot->warmup_ns, &pilot->length_ns, word) == 3;
    pilot->settled = good && strcmp(word, "settled") == 0;
    text_free(&copy);
    return good && (pilot->settled || strcmp(word, "unsettled") == 0) && pilot->warmup_ns >= 0 &&
           pilot->warmup_ns <= pilot->length_ns;
}
