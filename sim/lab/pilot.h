/* pilot.h - how long a point needs to settle down: what `warmup = auto` asks a pilot run.
 *
 * The pilot is the point's replication 0, without a warm-up, watched in a thousand pieces. MSER-5 (statistics.h) says from
 * which piece on the throughput, and the number of transactions in the system, look like what follows; the later of the
 * two is the warm-up of all replications of the point. If that lies in the second half, the pilot was too short to
 * tell: another, twice as long, is asked. After PILOT_LENGTHS of them the point does not settle down, as a system
 * does not that is offered more than it can do: half of the longest pilot must serve, and the user is told. */
#ifndef CCSIM_LAB_PILOT_H
#define CCSIM_LAB_PILOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text.h"
#include "sim/exec/run.h"

enum { PILOT_PIECES = 1000, PILOT_BATCH = 5, PILOT_LENGTHS = 4 };

struct pilot {
    int64_t warmup_ns, length_ns; /* length: of the longest pilot that ran */
    bool settled;
};

/* `spec`: of any replication of the point; its warm-up does not matter. The first pilot is as long as its duration. */
void pilot_run(const struct run_spec *spec, struct pilot *pilot);

/* As text, for a journal. False if the bytes are no pilot. */
void pilot_add(const struct pilot *pilot, struct text *out);
bool pilot_read(const char *bytes, size_t length, struct pilot *pilot);

#endif
