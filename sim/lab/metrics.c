/* metrics.c - the table of metrics and their getters.
 *
 * A getter turns raw counts into the number that is shown; what is not defined for a run (a mean of nothing, the
 * utilization of unlimited CPUs) is not-a-number and becomes an empty cell. The anomaly columns are empty for runs that
 * were not certified. Plain arithmetic only, no libm: these values reach the result files. */
#include "sim/lab/metrics.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"

static double undefined(void) { return (double)NAN; }

static double ratio(double numerator, double denominator) {
    return denominator > 0 ? numerator / denominator : undefined();
}

static double ms(double nanoseconds) { return nanoseconds / 1e6; }

static double elapsed_ns(const struct run_result *result) { return result->sim_seconds * 1e9; }

static double aborts_of(const struct run_result *result) {
    uint64_t sum = 0;
    for (int reason = REASON_NONE + 1; reason < REASON_COUNT; reason++) {
        sum += result->aborts_by_reason[reason];
    }
    return (double)sum;
}

static double throughput(const struct run_result *result, int unused) {
    (void)unused;
    return ratio((double)result->commits, result->sim_seconds);
}

static double aborts(const struct run_result *result, int unused) {
    (void)unused;
    return aborts_of(result);
}

static double abort_rate(const struct run_result *result, int unused) {
    (void)unused;
    return ratio(aborts_of(result), (double)result->commits + aborts_of(result));
}

static double restarts_per_commit(const struct run_result *result, int unused) {
    (void)unused;
    return ratio(aborts_of(result), (double)result->commits);
}

static double warmup(const struct run_result *result, int unused) {
    (void)unused;
    return result->warmup_seconds;
}

static double drift(const struct run_result *result, int unused) {
    (void)unused;
    double first = (double)result->commits_first_half, second = (double)result->commits - first;
    return ratio(2 * (second - first), first + second);
}

static double backlog_growth(const struct run_result *result, int unused) {
    (void)unused;
    double growth = (double)(result->live_after - result->live_before);
    return result->terminals > 0 ? undefined() : ratio(growth, result->sim_seconds);
}

enum count_kind {
    COMMITS,
    ROLLBACKS,
    WAITS,
    GAVE_UP,
    PARTIAL_ROLLBACKS,
    STATEMENTS_KEPT,
    LOCK_UPGRADES,
    ESCALATIONS,
    VERSIONS_MAX,
    VERSIONS_DEAD_MAX,
    VERSIONS_WALKED,
    VERSIONS_REMOVED,
    VACUUMS
};

static double count(const struct run_result *result, int kind) {
    switch ((enum count_kind)kind) {
    case COMMITS: return (double)result->commits;
    case ROLLBACKS: return (double)result->rollbacks;
    case WAITS: return (double)result->waits;
    case GAVE_UP: return (double)result->gave_up;
    case PARTIAL_ROLLBACKS: return (double)result->partial_rollbacks;
    case STATEMENTS_KEPT: return (double)result->statements_kept;
    case LOCK_UPGRADES: return (double)result->lock_upgrades;
    case ESCALATIONS: return (double)result->escalations;
    case VERSIONS_MAX: return (double)result->versions_max;
    case VERSIONS_DEAD_MAX: return (double)result->versions_dead_max;
    case VERSIONS_WALKED: return (double)result->versions_walked;
    case VERSIONS_REMOVED: return (double)result->versions_removed;
    case VACUUMS: return (double)result->vacuums;
    }
    return undefined();
}

enum mean_kind { WAIT_MEAN, RESPONSE_MEAN, ADMISSION_MEAN };

static double mean_per_commit(const struct run_result *result, int kind) {
    double sum_ns = kind == WAIT_MEAN       ? result->wait_sum_ns
                    : kind == RESPONSE_MEAN ? result->response_sum_ns
                                            : result->admission_sum_ns;
    return ratio(ms(sum_ns), (double)result->commits);
}

static double quantile_ms(const struct histogram *histogram, int percent) {
    int64_t value_ns = histogram_quantile_ns(histogram, percent / 100.0);
    return value_ns < 0 ? undefined() : ms((double)value_ns);
}

static double wait_quantile(const struct run_result *result, int percent) {
    return quantile_ms(&result->wait, percent);
}

static double response_quantile(const struct run_result *result, int percent) {
    return quantile_ms(&result->response, percent);
}

static double rollback_mean(const struct run_result *result, int unused) {
    (void)unused;
    return ratio(ms(result->rollback_response_sum_ns), (double)result->rollbacks);
}

static double rollback_quantile(const struct run_result *result, int percent) {
    return quantile_ms(&result->rollback_response, percent);
}

static double response_max(const struct run_result *result, int unused) {
    (void)unused;
    return result->response.count == 0 ? undefined() : ms((double)result->response.max_ns);
}

static double lost_updates(const struct run_result *result, int unused) {
    (void)unused;
    return result->lost_updates_known ? (double)result->lost_updates : undefined();
}

enum area_kind { BLOCKED_AREA, ACTIVE_AREA, VERSIONS_AREA, VERSIONS_DEAD_AREA };

static double time_average(const struct run_result *result, int kind) {
    double area = kind == BLOCKED_AREA    ? result->blocked_area_ns
                  : kind == ACTIVE_AREA   ? result->active_area_ns
                  : kind == VERSIONS_AREA ? result->versions_area_ns
                                          : result->versions_dead_area_ns;
    return ratio(area, elapsed_ns(result));
}

enum chain_kind { CHAIN_MEAN, CHAIN_MAX, SCAN_CHAIN_MEAN };

static double chain_length(const struct run_result *result, int kind) {
    bool scans = kind == SCAN_CHAIN_MEAN;
    double rows = (double)(scans ? result->scan_version_rows : result->version_rows);
    double passed = (double)(scans ? result->scan_versions_walked : result->versions_walked);
    return kind == CHAIN_MAX && rows > 0 ? (double)result->chain_length_max : ratio(rows + passed, rows);
}

enum share_kind { CPU_BUSY, CPU_USEFUL };

static double cpu_share(const struct run_result *result, int kind) {
    if (!result->cpus_limited) {
        return undefined();
    }
    return ratio(kind == CPU_BUSY ? result->cpu_busy_ns : result->cpu_useful_ns, result->cpu_capacity_ns);
}

/* Jain, Chiu, Hawe 1984: (sum x)^2 / (n sum x^2). */
static double fairness(const struct run_result *result, int unused) {
    (void)unused;
    return ratio(result->fairness_sum * result->fairness_sum,
                 (double)result->terminals * result->fairness_sum_of_squares);
}

static double aborts_because(const struct run_result *result, int reason) {
    return (double)result->aborts_by_reason[reason];
}

enum { ANY_ANOMALY = -1 };

static double anomalies(const struct run_result *result, int flaw) {
    if (!result->certified) {
        return undefined();
    }
    return (double)(flaw == ANY_ANOMALY ? result->anomalies : result->anomalies_by_name[flaw]);
}

static double unrecoverable(const struct run_result *result, int unused) {
    (void)unused;
    return result->certified ? (double)result->unrecoverable : undefined();
}

static double levels_broken(const struct run_result *result, int unused) {
    (void)unused;
    return result->certified ? (double)result->levels_broken : undefined();
}

static double false_positives(const struct run_result *result, int unused) {
    (void)unused;
    return result->certified ? (double)result->false_positives : undefined();
}

/* What types.csv has too, computed from the counts of one type. */
enum { BY_TYPE = 1 };

#define ABORTS(reason, column, sentence) \
    { "aborts_" column, "attempts", sentence, aborts_because, reason, BY_TYPE }
#define ANOMALY(flaw, column, sentence) \
    { "anomalies" column, "commits", sentence, anomalies, flaw, 0 }

static const struct metric metrics[] = {
    {"throughput_tps", "commits/s", "commits per simulated second", throughput, 0, BY_TYPE},
    {"commits", "transactions", "transactions committed", count, COMMITS, BY_TYPE},
    {"aborts", "attempts", "attempts aborted by the system", aborts, 0, BY_TYPE},
    {"rollbacks", "transactions", "transactions ended by the program's own wish; neither commits nor aborts", count,
     ROLLBACKS, BY_TYPE},
    {"abort_rate", "share", "aborts / (commits + aborts)", abort_rate, 0, BY_TYPE},
    {"restarts_per_commit", "", "aborts / commits", restarts_per_commit, 0, BY_TYPE},
    {"wait_mean_ms", "ms",
     "time blocked by concurrency control per committed transaction, all attempts together, waiting for validation "
     "included; not log, admission or restart delay",
     mean_per_commit, WAIT_MEAN, BY_TYPE},
    {"wait_p50_ms", "ms", "its median", wait_quantile, 50, BY_TYPE},
    {"wait_p95_ms", "ms", "its 95th percentile", wait_quantile, 95, BY_TYPE},
    {"wait_p99_ms", "ms", "its 99th percentile", wait_quantile, 99, BY_TYPE},
    {"response_mean_ms", "ms",
     "submission to the end of commit, restarts and admission queue included, per committed transaction",
     mean_per_commit, RESPONSE_MEAN, BY_TYPE},
    {"response_p50_ms", "ms", "its median", response_quantile, 50, BY_TYPE},
    {"response_p95_ms", "ms", "its 95th percentile", response_quantile, 95, BY_TYPE},
    {"response_p99_ms", "ms", "its 99th percentile", response_quantile, 99, BY_TYPE},
    {"response_max_ms", "ms", "its maximum", response_max, 0, BY_TYPE},
    {"admission_mean_ms", "ms", "of the response: queued for admission", mean_per_commit, ADMISSION_MEAN, BY_TYPE},
    {"waits", "times", "times a transaction began to wait for another", count, WAITS, BY_TYPE},
    {"lost_updates", "updates", "updates overwritten unseen, counted by the workload's audit where it can",
     lost_updates, 0, 0},
    {"blocked_mean", "transactions", "blocked transactions, averaged over time", time_average, BLOCKED_AREA, 0},
    {"active_mean", "transactions", "admitted transactions, averaged over time", time_average, ACTIVE_AREA, 0},
    {"cpu_utilization", "share", "busy share of the CPUs; empty with unlimited CPUs", cpu_share, CPU_BUSY, 0},
    {"cpu_useful", "share", "share of the CPUs' capacity spent on attempts that committed; empty with unlimited CPUs",
     cpu_share, CPU_USEFUL, 0},
    {"fairness_jain", "", "Jain's index of commits over terminals: 1 even, 1/N one takes all; empty in open systems",
     fairness, 0, 0},
    {"gave_up", "transactions", "transactions that reached max_attempts", count, GAVE_UP, BY_TYPE},
    ABORTS(REASON_DEADLOCK, "deadlock", "aborts: chosen as the victim of a cycle of waiting transactions"),
    ABORTS(REASON_TIMEOUT, "timeout", "aborts: waited for a lock longer than lock_timeout"),
    ABORTS(REASON_NOWAIT, "nowait", "aborts: met a conflicting lock where waiting is not allowed"),
    ABORTS(REASON_WAIT_DIE, "wait_die", "aborts: would have waited for an older transaction (wait-die)"),
    ABORTS(REASON_WOUNDED, "wounded", "aborts: was in the way of an older transaction (wound-wait)"),
    ABORTS(REASON_TS_LATE, "ts_late", "aborts: came too late for its timestamp"),
    ABORTS(REASON_VALIDATION, "validation", "aborts: what it had read was overwritten before it committed"),
    ABORTS(REASON_WRITE_CONFLICT, "write_conflict", "aborts: a concurrent transaction changed the row first"),
    ABORTS(REASON_SSI_PIVOT, "ssi_pivot", "aborts: stood in a dangerous structure of read-write conflicts"),
    ABORTS(REASON_CASCADE, "cascade", "aborts: had read or overwritten what an aborted transaction wrote"),
    ABORTS(REASON_BUSY, "busy", "aborts: the database was locked by another connection"),
    ABORTS(REASON_DEPTH, "depth", "aborts: its wait would have made the chain of waiters too long"),
    ABORTS(REASON_DUPLICATE, "duplicate", "aborts: inserted a key that exists"),
    ABORTS(REASON_EXCLUSION, "exclusion",
           "aborts: one that it must precede had ended before one that it must follow (serial safety net)"),
    {"false_positives", "attempts",
     "of aborts_ssi_pivot and aborts_exclusion: would have closed no cycle, as judged when all that overlapped had ended; empty where not "
     "certified",
     false_positives, 0, 0},
    {"rollback_mean_ms", "ms",
     "submission to the end, restarts included, per transaction that rolled back by its own wish", rollback_mean, 0,
     BY_TYPE},
    {"rollback_p50_ms", "ms", "its median", rollback_quantile, 50, BY_TYPE},
    {"rollback_p99_ms", "ms", "its 99th percentile", rollback_quantile, 99, BY_TYPE},
    {"deadlocks", "victims", "deadlock victims", aborts_because, REASON_DEADLOCK, BY_TYPE},
    {"partial_rollbacks", "victims",
     "deadlock victims rolled back only as far as the lock that closed the cycle; they are not among the aborts", count,
     PARTIAL_ROLLBACKS, 0},
    {"statements_kept", "statements", "statements of these that an abort would have undone", count, STATEMENTS_KEPT, 0},
    {"lock_upgrades", "locks", "locks upgraded to a stronger mode", count, LOCK_UPGRADES, 0},
    {"escalations", "locks", "row locks replaced by a table lock", count, ESCALATIONS, 0},
    {"versions_mean", "versions", "stored versions beyond one a row, averaged over time", time_average, VERSIONS_AREA,
     0},
    {"versions_max", "versions", "stored versions beyond one a row, at most", count, VERSIONS_MAX, 0},
    {"versions_dead_mean", "versions", "of them: needed by no open snapshot and not removed yet, averaged over time",
     time_average, VERSIONS_DEAD_AREA, 0},
    {"versions_dead_max", "versions", "of them: needed by no open snapshot and not removed yet, at most", count,
     VERSIONS_DEAD_MAX, 0},
    {"versions_walked", "versions", "stored versions passed on the way to the one that was looked for", count,
     VERSIONS_WALKED, 0},
    {"chain_length_mean", "versions",
     "versions met for each row that was looked up, the one that was found included; empty where old ones are not kept",
     chain_length, CHAIN_MEAN, 0},
    {"chain_length_max", "versions", "the same, at most", chain_length, CHAIN_MAX, 0},
    {"chain_length_scan_mean", "versions", "the same, for each row that a scan looked at", chain_length,
     SCAN_CHAIN_MEAN, 0},
    {"versions_removed", "versions", "old versions removed, by purge or vacuum", count, VERSIONS_REMOVED, 0},
    {"vacuums", "times", "vacuums of a heap", count, VACUUMS, 0},
    ANOMALY(ANY_ANOMALY, "", "commits that closed a cycle or read what they must not; empty where not certified"),
    {"levels_broken", "commits",
     "commits that broke the level which one of the transactions involved had asked for; empty where not certified",
     levels_broken, 0, 0},
    ANOMALY(FLAW_G0, "_g0", "of them: cycles of writes (G0)"),
    ANOMALY(FLAW_G1A, "_g1a", "of them: reads of an aborted write (G1a)"),
    ANOMALY(FLAW_G1B, "_g1b", "of them: reads of an intermediate version (G1b)"),
    ANOMALY(FLAW_G1C, "_g1c", "of them: cycles of writes and reads (G1c)"),
    ANOMALY(FLAW_G_SINGLE, "_g_single", "of them: cycles with exactly one anti-dependency (G-single)"),
    ANOMALY(FLAW_G2_ITEM, "_g2_item", "of them: cycles with anti-dependencies on items (G2-item)"),
    ANOMALY(FLAW_G2, "_g2", "of them: cycles with a predicate anti-dependency (G2)"),
    ANOMALY(FLAW_LOST_UPDATE, "_lost_update",
            "of them: an update overwritten by one that had read the version before it"),
    ANOMALY(FLAW_WRITE_SKEW, "_write_skew",
            "of them: two transactions that each read what the other wrote, on different items"),
    ANOMALY(FLAW_PHANTOM, "_phantom", "of them: a row that appeared in or left a range another transaction had read"),
    {"unrecoverable", "commits",
     "commits that had read from a transaction which had not committed; empty where not certified", unrecoverable, 0,
     0},
    {"warmup_s", "s", "simulated time before anything was counted: warmup, or what it came to where that is auto",
     warmup, 0, 0},
    {"drift", "share",
     "commits of the second half of the measured time less those of the first, as a share of the mean half: about 0 if "
     "the system had settled down",
     drift, 0, 0},
    {"backlog_growth_tps", "transactions/s",
     "by how much the number of transactions in the system grew per second of the measured time; about 0 if it keeps "
     "up with what arrives; empty in closed systems",
     backlog_growth, 0, 0},
};
enum { METRIC_COUNT = sizeof metrics / sizeof metrics[0] };

const struct metric *metrics_all(size_t *number) {
    *number = METRIC_COUNT;
    return metrics;
}

const struct metric *metric_find(const char *name) {
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return &metrics[i];
        }
    }
    return NULL;
}

size_t metric_number(const char *name) {
    const struct metric *metric = metric_find(name);
    CHECK_MSG(metric != NULL, "%s is no metric", name);
    return (size_t)(metric - metrics);
}
