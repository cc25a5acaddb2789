/* floor_tree.c - the floor of the hold model: a bare tournament tree of losers over N slots that always have an event,
 * with nothing checked, no ties, no cancelling, no empty slots. What the agenda is held against.
 * Usage: floor_tree N (a power of two); prints million events per second of processor time.
 * Knuth, The Art of Computer Programming 3, section 5.4.1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/stopwatch.h"
#include "sim/base/memory.h"
#include "sim/base/random.h"

enum { EVENTS = 8000000 };

struct entry {
    int64_t time_ns;
    uint64_t slot;
};

static int64_t draw_ns(struct stream *stream) { return (int64_t)(1e6 * stream_exponential(stream)); }

/* Replays the matches of a slot from its leaf to the root: losers stay, the winner is returned. */
static inline struct entry replay(struct entry *loser, uint64_t count, struct entry winner) {
    for (uint64_t i = (count + winner.slot) / 2; i >= 1; i /= 2) {
        struct entry other = loser[i];
        uint64_t swap = -(uint64_t)(other.time_ns < winner.time_ns);
        uint64_t time = ((uint64_t)other.time_ns ^ (uint64_t)winner.time_ns) & swap;
        uint64_t slot = (other.slot ^ winner.slot) & swap;
        loser[i] = (struct entry){(int64_t)((uint64_t)other.time_ns ^ time), other.slot ^ slot};
        winner = (struct entry){(int64_t)((uint64_t)winner.time_ns ^ time), winner.slot ^ slot};
    }
    return winner;
}

int main(int argc, char **argv) {
    uint64_t count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (count < 2 || (count & (count - 1)) != 0) {
        fprintf(stderr, "usage: floor_tree N, a power of two\n");
        return 2;
    }
    struct stream stream;
    stream_open(&stream, &(struct stream_key){.seed = 1, .purpose = STREAM_TEST});
    /* A node holds -1 until its second child reports; whoever comes first waits there. */
    struct entry *loser = mem_new(count, sizeof *loser), winner = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        loser[i].time_ns = -1;
    }
    for (uint64_t slot = 0; slot < count; slot++) {
        winner = replay(loser, count, (struct entry){draw_ns(&stream), slot});
    }
    double start = stopwatch_seconds();
    for (int64_t i = 0; i < EVENTS; i++) {
        winner.time_ns += draw_ns(&stream);
        winner = replay(loser, count, winner);
    }
    double seconds = stopwatch_seconds() - start;
    printf("%.3f %" PRId64 "\n", EVENTS / seconds / 1e6, winner.time_ns);
    mem_free(loser);
    return 0;
}
