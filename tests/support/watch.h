/* watch.h - an algorithm whose calls are watched: what exec calls when, and what the algorithm answers, must keep the
 * laws of the contract (sim/cc/cc.h). A law that is broken is a failed CHECK.
 *
 *   begin, then statements one after another, each ended once; rollback to the failed statement's start or to an older
 *   mark; one abort, or one OK of prepare, then commit, then release; nothing else after prepare's OK; read hands back
 *   own writes;
 *   NOWAIT and SKIP LOCKED never wait for a record; when abort and rollback come the versions are still there;
 *   no cycle of live waiters outlives the call that closed it, if the algorithm searches on every wait or never
 *   needs to. */
#ifndef CCSIM_TESTS_SUPPORT_WATCH_H
#define CCSIM_TESTS_SUPPORT_WATCH_H

#include "sim/cc/cc.h"

/* One at a time: the latest call's result is valid until the next one. */
const struct cc_ops *watch_algorithm(const struct cc_ops *algorithm, const void *options);

#endif
