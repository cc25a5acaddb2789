#include "sim/kit/versions.h"

#include "sim/base/check.h"

const char *const versions_choices[] = {"undo", "heap", NULL};
const char *const versions_vacuum_choices[] = {"every(duration)", "off", NULL};

void versions_start(struct cc *cc, const struct version_options *options) {
    if (options->versions == VERSIONS_HEAP) {
        store_become_heap(cc->store);
        cc->vacuum_period_ns = options->vacuum.choice == VACUUM_EVERY ? options->vacuum.integer[0] : 0;
    }
}

static void set_vacuum(struct cc *cc) {
    cc->vacuum_set = cc->vacuum_period_ns > 0 && store_has_old(cc->store);
    if (cc->vacuum_set) {
        int64_t since_last_ns = cc->harness->now(cc->harness->world) % cc->vacuum_period_ns;
        txn_timer(cc, NULL, cc->vacuum_period_ns - since_last_ns, TIMER_VACUUM);
    }
}

void versions_settle(struct cc *cc) {
    store_purge(cc->store, cc->snapshot_first != NULL ? cc->snapshot_first->snapshot : cc->store->stamp);
    if (!cc->vacuum_set) {
        set_vacuum(cc);
    }
}

void versions_vacuum(struct cc *cc) {
    CHECK(cc->vacuum_set);
    cc->vacuums++;
    store_vacuum(cc->store);
    set_vacuum(cc);
}
