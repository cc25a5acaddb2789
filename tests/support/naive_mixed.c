/* naive_mixed.c - mixing-correctness by the definition (Adya 1999): which edges count is decided by the levels at their
 * ends, and the graph of those that count has a cycle through an attempt, or not. */
#include "tests/support/naive_parts.h"

static uint64_t at_least(const struct naive *naive, enum certifier_level level) {
    uint64_t set = 0;
    for (int i = 0; i <= naive->begun; i++) {
        set |= naive->attempts[i].level >= level ? UINT64_C(1) << i : 0;
    }
    return set;
}

static bool is_on_cycle(const uint64_t *edges, int start) {
    uint64_t reached = edges[start];
    for (int round = 0; round < ATTEMPTS; round++) {
        for (uint64_t rest = reached; rest != 0; rest &= rest - 1) {
            reached |= edges[__builtin_ctzll(rest)];
        }
    }
    return (reached >> start & 1) != 0;
}

bool naive_is_owed(const struct naive *naive, int start, bool *promised) {
    uint64_t serial = at_least(naive, CERTIFIER_SER), committed = at_least(naive, CERTIFIER_RC);
    uint64_t owed[ATTEMPTS], within[ATTEMPTS], flow[ATTEMPTS], rw[ATTEMPTS];
    for (int i = 0; i < ATTEMPTS; i++) {
        enum certifier_level level = naive->attempts[i].level;
        uint64_t anti = naive->rw[i] | naive->predicate[i];
        flow[i] = naive->ww[i] | naive->wr[i];
        rw[i] = level >= CERTIFIER_SI ? anti : 0;
        within[i] = level == CERTIFIER_SER ? (flow[i] | anti) & serial : 0;
        owed[i] = naive->ww[i] | (naive->wr[i] & committed);
        owed[i] |= level == CERTIFIER_SER ? anti : level == CERTIFIER_RR ? naive->rw[i] : 0;
    }
    bool any = is_on_cycle(owed, start);
    *promised = naive->holds == CERTIFIER_SI ? is_on_cycle(within, start) || naive_apart_cycle(flow, rw, start) : any;
    return any || *promised;
}
