/* registry.c - the list of all algorithms: a new one is a file beside this one, a declaration and a line here. */
#include <string.h>

#include "sim/cc/cc.h"

extern const struct cc_ops cc_none;
extern const struct cc_ops cc_2pl;
extern const struct cc_ops cc_2pl_strict;
extern const struct cc_ops cc_2pl_basic;
extern const struct cc_ops cc_2pl_conservative;
extern const struct cc_ops cc_2pl_timeout;
extern const struct cc_ops cc_no_wait;
extern const struct cc_ops cc_wait_die;
extern const struct cc_ops cc_wound_wait;
extern const struct cc_ops cc_wait_depth;
extern const struct cc_ops cc_mgl;
extern const struct cc_ops cc_lock_rr;
extern const struct cc_ops cc_lock_rc;
extern const struct cc_ops cc_lock_ru;
extern const struct cc_ops cc_occ;
extern const struct cc_ops cc_occ_parallel;
extern const struct cc_ops cc_occ_forward;
extern const struct cc_ops cc_silo;
extern const struct cc_ops cc_tictoc;
extern const struct cc_ops cc_version_column;
extern const struct cc_ops cc_si;
extern const struct cc_ops cc_si_fcw;
extern const struct cc_ops cc_ssi;
extern const struct cc_ops cc_ssn;
extern const struct cc_ops cc_mvcc_rc;
extern const struct cc_ops cc_to;
extern const struct cc_ops cc_to_thomas;
extern const struct cc_ops cc_mvto;

/* In the order `ccsim list` shows. */
/* clang-format off */
const struct cc_ops *const cc_registry[] = {
    &cc_none,
    &cc_2pl,
    &cc_2pl_strict,
    &cc_2pl_basic,
    &cc_2pl_conservative,
    &cc_2pl_timeout,
    &cc_no_wait,
    &cc_wait_die,
    &cc_wound_wait,
    &cc_wait_depth,
    &cc_mgl,
    &cc_lock_rr,
    &cc_lock_rc,
    &cc_lock_ru,
    &cc_occ,
    &cc_occ_parallel,
    &cc_occ_forward,
    &cc_silo,
    &cc_tictoc,
    &cc_version_column,
    &cc_si,
    &cc_si_fcw,
    &cc_ssi,
    &cc_ssn,
    &cc_mvcc_rc,
    &cc_to,
    &cc_to_thomas,
    &cc_mvto,
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
