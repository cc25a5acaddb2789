/* test_certifier.c - the certifier against hand-made histories of every anomaly, and against the definitions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/check/certifier.h"
#include "sim/check/recording.h"
#include "tests/support/brute.h"
#include "tests/support/harness.h"

enum { HISTORIES = 20000, HISTORIES_LONG = 400000 };

static void agrees_with_the_definitions(void **state) {
    (void)state;
    uint64_t histories = test_long() ? HISTORIES_LONG : HISTORIES, wrong = 0;
    uint64_t names[FLAW_COUNT] = {0}, broken[CERTIFIER_LEVELS] = {0};
    for (uint64_t seed = 1; seed <= histories; seed++) {
        enum certifier_level level = (enum certifier_level)(seed % CERTIFIER_LEVELS);
        enum brute_kind kind = (enum brute_kind)(seed / CERTIFIER_LEVELS % BRUTE_KINDS);
        int64_t now_ns = 0;
        struct certifier *certifier = certifier_new(level, &now_ns);
        struct brute_outcome outcome;
        brute_play(certifier, level, kind, seed, &outcome);
        const struct certifier_counts *counts = certifier_counts(certifier);
        bool same = counts->commits == outcome.counts.commits && counts->anomalies == outcome.counts.anomalies &&
                    counts->broken == outcome.counts.broken;
        for (int i = FLAW_G0; i <= FLAW_G2; i++) {
            same = same && counts->by_name[i] == outcome.counts.by_name[i];
            names[i] += counts->by_name[i];
        }
        broken[level] += counts->broken;
        if (!same && wrong++ < 3) {
            print_error("seed %" PRIu64 ", %s, kind %d: %" PRIu64 " anomalies, %" PRIu64 " broken; by the definitions %" PRIu64
                        ", %" PRIu64 "\n%s\n",
                        seed, certifier_level_names[level], (int)kind, counts->anomalies, counts->broken,
                        outcome.counts.anomalies, outcome.counts.broken, certifier_witness(certifier));
            for (int i = FLAW_G0; i <= FLAW_G2; i++) {
                print_error("  %s %" PRIu64 " %" PRIu64 "\n", flaw_texts[i].name, counts->by_name[i],
                            outcome.counts.by_name[i]);
            }
        }
        certifier_free(certifier);
    }
    assert_int_equal(wrong, 0);
    for (int i = FLAW_G0; i <= FLAW_G2; i++) {
        assert_true(names[i] > histories / 100); /* every kind occurred often enough to be missed */
    }
    for (int i = 0; i < CERTIFIER_LEVELS; i++) {
        assert_true(broken[i] > 0);
    }
}

TEST_GROUP(certifier, cmocka_unit_test(agrees_with_the_definitions))
