/* registry.c - every algorithm, one line each. */
#include <string.h>

#include "sim/cc/cc.h"

extern const struct cc_ops cc_none, cc_2pl, cc_no_wait, cc_wait_die, cc_wound_wait, cc_2pl_timeout, cc_occ, cc_si,
    cc_mvcc_rc, cc_si_fcw;

/* clang-format off: a line each */
const struct cc_ops *const cc_registry[] = {
    &cc_none, &cc_2pl, &cc_2pl_timeout, &cc_no_wait, &cc_wait_die, &cc_wound_wait, &cc_occ, &cc_si,
    &cc_mvcc_rc, &cc_si_fcw,
};
/* clang-format on */
const size_t cc_registry_count = sizeof cc_registry / sizeof cc_registry[0];

const struct cc_ops *cc_find(const char *name) {
    for (size_t i = 0; i < cc_registry_count; i++) {
        if (strcmp(cc_registry[i]->name, name) == 0) {
            return cc_registry[i];
        }
    }
    return NULL;
}
