/* test_crowd.c - the hot row with a crowd: however many wait for a lock, or hold it beside each other, no decision lists them
 * all. The measure is the longest list of transactions that was made (cc.search), which counts work and not time. */
#include "sim/base/check.h"
#include "sim/cc/cc.h"
#include "sim/kit/lock.h"
#include "tests/support/runs.h"

enum { CROWD = 600, SHORT = 16 };

static void (*stop_of_algorithm)(struct cc *cc);
static size_t longest; /* with the room that a vector has beyond it */

static void stop_and_measure(struct cc *cc) {
    longest = cc->search.capacity;
    if (stop_of_algorithm != NULL) {
        stop_of_algorithm(cc);
    }
}

static size_t longest_list(const struct cc_ops *algorithm, const char *access) {
    struct spec spec;
    struct text error = {0};
    assert_true(spec_open(&spec, algorithm->name, "hot_row"));
    char settings[256];
    snprintf(settings, sizeof settings,
             "system.cpus=8 system.terminals=%d workload.hot_access=%s restart.delay=exp(10ms) warmup=0s duration=1s",
             CROWD, access);
    if (!spec_set(&spec, settings, &error)) {
        fail_msg("%s", text_string(&error));
    }
    struct cc_ops measured = *algorithm;
    stop_of_algorithm = algorithm->stop;
    measured.stop = stop_and_measure;
    spec.run.algorithm = &measured;
    struct run_result result;
    check_slow = false; /* they look at everything */
    run_simulate(&spec.run, &result);
    check_slow = true;
    assert_int_equal(result.status, RUN_OK);
    assert_true(result.events > 1000);
    run_result_free(&result);
    spec_close(&spec);
    text_free(&error);
    return longest;
}

static void expect_short(const struct cc_ops *algorithm, const char *access) {
    size_t length = longest_list(algorithm, access);
    if (length > SHORT) {
        fail_msg("%s, %s: room for %zu transactions in a list", algorithm->name, access, length);
    }
}

static void the_queue_is_not_listed(void **state) {
    (void)state;
    for (size_t i = 0; i < cc_registry_count; i++) {
        expect_short(cc_registry[i], "for_update");
    }
}

/* Those whom wound-wait and wait-depth doom are visited, each once, but not listed. */
static void the_readers_in_the_way_of_an_upgrade_are_not_listed(void **state) {
    (void)state;
    for (size_t i = 0; i < cc_registry_count; i++) {
        expect_short(cc_registry[i], "read_write");
    }
}

static enum cc_status (*claim_of_algorithm)(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                            enum patience patience, struct version **base);

static enum cc_status claim_and_list(struct cc *cc, struct txn *txn, struct row *row, enum change change,
                                     enum patience patience, struct version **base) {
    enum cc_status status = claim_of_algorithm(cc, txn, row, change, patience, base);
    if (status == CC_WAIT) {
        cc->search.count = 0;
        lock_holders(txn, &cc->search);
    }
    return status;
}

/* What all this rests on: an algorithm that lists the holders is found out. */
static void the_measure_does_measure(void **state) {
    (void)state;
    struct cc_ops planted = *cc_find("2pl");
    claim_of_algorithm = planted.claim;
    planted.claim = claim_and_list;
    assert_true(longest_list(&planted, "read_write") >= CROWD / 2);
}

TEST_GROUP(crowd, cmocka_unit_test(the_queue_is_not_listed),
           cmocka_unit_test(the_readers_in_the_way_of_an_upgrade_are_not_listed),
           cmocka_unit_test(the_measure_does_measure))
