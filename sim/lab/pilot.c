/* pilot.c - see the header. `WARMUP LENGTH settled|unsettled`, in nanoseconds. */
#include "sim/lab/pilot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/lab/statistics.h"

/* Sums over the runs, by piece; as many pieces as the shortest has. */
struct flight {
    double commits[PILOT_PIECES], live[PILOT_PIECES];
    size_t pieces;
};

static void add_run(struct flight *flight, const struct run_samples *samples) {
    struct run_sample before = {0};
    flight->pieces = samples->count < flight->pieces ? samples->count : flight->pieces;
    for (size_t i = 0; i < flight->pieces; i++) {
        const struct run_sample *sample = &samples->items[i];
        flight->commits[i] += (double)(sample->commits - before.commits);
        flight->live[i] += sample->live_area_ns - before.live_area_ns;
        before = *sample;
    }
}

static size_t pieces_to_cut(const struct flight *flight) {
    size_t cut = statistics_mser(flight->commits, flight->pieces, PILOT_BATCH);
    size_t live_cut = statistics_mser(flight->live, flight->pieces, PILOT_BATCH);
    return cut > live_cut ? cut : live_cut;
}

/* Flies all runs of the pilot's length. False if the point refuses to run. */
static bool fly(const struct run_spec *spec, int64_t length_ns, int64_t piece_ns, struct flight *flight) {
    struct run_spec run = *spec;
    bool refused = false;
    run.warmup_ns = 0;
    run.duration_ns = length_ns;
    run.series_ns = piece_ns;
    run.batches = 0;
    run.certify = false;
    run.history = NULL;
    run.asks_toll = false;
    *flight = (struct flight){.pieces = PILOT_PIECES};
    for (int i = 0; i < PILOT_RUNS && !refused; i++) {
        struct run_result result;
        run.replication = i == 0 ? 0 : UINT64_MAX - (uint64_t)i;
        run_simulate(&run, &result);
        add_run(flight, &result.samples);
        refused = result.status != RUN_OK;
        run_result_free(&result);
    }
    return !refused;
}

void pilot_run(const struct run_spec *spec, struct pilot *pilot) {
    int64_t piece_ns = spec->duration_ns / PILOT_PIECES;
    struct flight *flight = mem_new(1, sizeof *flight);
    *pilot = (struct pilot){0};
    piece_ns = piece_ns > 0 ? piece_ns : 1;
    for (int length = 1; length <= PILOT_LENGTHS && !pilot->settled; length++, piece_ns *= 2) {
        pilot->length_ns = piece_ns * PILOT_PIECES;
        pilot->warmup_ns = pilot->length_ns / 2;
        if (!fly(spec, pilot->length_ns, piece_ns, flight)) {
            pilot->warmup_ns = 0; /* the runs will say why */
            break;
        }
        size_t cut = pieces_to_cut(flight);
        pilot->settled = cut <= flight->pieces / 2;
        pilot->warmup_ns = pilot->settled ? (int64_t)cut * piece_ns : pilot->warmup_ns;
    }
    mem_free(flight);
}

int64_t pilot_warmup_ns(const struct run_spec *spec) {
    struct pilot pilot = {.warmup_ns = spec->warmup_ns};
    if (spec->warmup_ns == OPTION_AUTO) {
        pilot_run(spec, &pilot);
    }
    return pilot.warmup_ns;
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
