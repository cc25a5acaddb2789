/* pilot.h - how long a point needs to settle down: what `warmup = auto` asks pilot runs.
 *
 * The pilot is PILOT_RUNS runs of the point without a warm-up, under replication numbers that no experiment has, watched in a
 * thousand pieces each and averaged piece by piece, as Welch does: of a single run chance would hide the beginning. MSER-5
 * (statistics.h) says from which piece on the throughput, and the number of transactions in the system, look like what
 * follows; the later of the two is the warm-up of all replications of the point. A pilot is as long as the duration: a
 * shorter one may see a rise only and take it for all there is. If the answer lies in its second half it was too short to
 * tell: another, twice as long, is asked. After PILOT_LENGTHS of them the point does not settle down, as a system does not
 * that is offered more than it can do: half of the longest pilot must serve, and the user is told.
 *
 * MSER weighs bias against spread: what it leaves of the beginning is small beside the spread of a run as long as the pilot.
 * Where a system forgets as slowly as it wanders anyway (a queue at 90%), nothing tells its beginning from chance; many
 * replications of short runs then show a bias that none of them shows, and only a longer duration helps. */
#ifndef CCSIM_LAB_PILOT_H
#define CCSIM_LAB_PILOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text.h"
#include "sim/exec/run.h"

enum { PILOT_PIECES = 1000, PILOT_BATCH = 5, PILOT_RUNS = 3, PILOT_LENGTHS = 3 };

struct pilot {
    int64_t warmup_ns, length_ns; /* length: of the longest pilot that ran */
    bool settled;
};

/* `spec`: of any replication of the point; its warm-up does not matter. */
void pilot_run(const struct run_spec *spec, struct pilot *pilot);

/* The warm-up of a specification; where that is OPTION_AUTO, as a pilot finds it. */
int64_t pilot_warmup_ns(const struct run_spec *spec);

/* As text, for a journal. False if the bytes are no pilot. */
void pilot_add(const struct pilot *pilot, struct text *out);
bool pilot_read(const char *bytes, size_t length, struct pilot *pilot);

#endif
