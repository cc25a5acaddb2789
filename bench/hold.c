/* hold.c - the hold model on the agenda: pop the earliest of N events, schedule the same slot again after an
 * exponential time; and the same with another slot in its place (move), as when one job's end starts the next job.
 * Usage: hold hold|move N; prints million events per second of processor time. bench.sh runs it beside floor_tree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stopwatch.h"
#include "sim/base/check.h"
#include "sim/base/random.h"
#include "sim/kernel/agenda.h"

enum { EVENTS = 8000000 };

static int64_t draw_ns(struct stream *stream) { return (int64_t)(1e6 * stream_exponential(stream)); }

static void hold(struct agenda *agenda, struct stream *stream, int64_t events) {
    for (int64_t i = 0; i < events; i++) {
        uint32_t slot = agenda_pop(agenda, INT64_MAX);
        agenda_schedule(agenda, slot, agenda->now_ns + draw_ns(stream));
    }
}

/* Every other slot is empty at the start; the event moves from the popped slot to the one emptied before. */
static void move(struct agenda *agenda, struct stream *stream, int64_t events) {
    uint32_t vacant = 1;
    for (int64_t i = 0; i < events; i++) {
        uint32_t slot = agenda_pop(agenda, INT64_MAX);
        agenda_schedule(agenda, vacant, agenda->now_ns + draw_ns(stream));
        vacant = slot;
    }
}

int main(int argc, char **argv) {
    uint32_t count = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (count < 2 || count > AGENDA_SLOTS_MAX / 2) {
        fprintf(stderr, "usage: hold hold|move N\n");
        return 2;
    }
    bool moves = strcmp(argv[1], "move") == 0;
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = 1, .purpose = STREAM_TEST});
    struct agenda agenda;
    agenda_init(&agenda, count);
    for (uint32_t slot = 0; slot < count; slot += moves ? 2 : 1) {
        agenda_schedule(&agenda, slot, draw_ns(&stream));
    }
    double start = stopwatch_seconds();
    (moves ? move : hold)(&agenda, &stream, EVENTS);
    double seconds = stopwatch_seconds() - start;
    CHECK(agenda.handled == EVENTS);
    printf("%.3f %" PRId64 "\n", EVENTS / seconds / 1e6, agenda.now_ns);
    agenda_free(&agenda);
    return 0;
}
