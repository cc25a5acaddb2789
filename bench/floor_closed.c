/* floor_closed.c - the floor of the closed locking model: what a program costs that does nothing but this one model,
 * and measures nothing but one histogram. 64 terminals without think time; a transaction locks 10 distinct uniform rows
 * exclusively, in key order, and for each needs a CPU for exp(1 ms); waiters and CPUs are served first come, first
 * served; all locks go at the end. Only CPUs have events, so the event queue is a look at four times.
 * Usage: floor_closed ROWS [TRANSACTIONS]; prints simulated transactions per second of processor time, then, to hold
 * against the model's truth, per simulated second, the mean and the 99th percentile of the response in ms.
 * While no CPU idles, which holds for many rows, there are 4/(10 x 1 ms) = 400 transactions per simulated second. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/stopwatch.h"
#include "sim/base/memory.h"
#include "sim/base/random.h"

enum { TERMINALS = 64, ACCESSES = 10, CPUS = 4, MEAN_NS = 1000000, BIN_BITS = 7, BINS = 64 << BIN_BITS };

struct row {
    uint16_t owner, first, last; /* terminals, from 1; 0 is nobody */
};

struct terminal {
    uint32_t key[ACCESSES];
    int done;
    uint16_t next; /* waiter on the same row */
    int64_t start_ns;
};

static struct terminal terminal[TERMINALS + 1];
static struct row *row;
static struct stream stream;
static int64_t now_ns, cpu_end_ns[CPUS];
static uint16_t cpu_user[CPUS], ready[TERMINALS];
static unsigned ready_head, ready_tail;
static uint64_t response_bins[BINS], committed;
static int64_t response_ns;

static void cpu_start(int cpu, uint16_t t) {
    cpu_user[cpu] = t;
    cpu_end_ns[cpu] = now_ns + (int64_t)(MEAN_NS * stream_exponential(&stream) + 0.5);
}

static void cpu_join(uint16_t t) {
    for (int cpu = 0; cpu < CPUS; cpu++) {
        if (cpu_user[cpu] == 0) {
            cpu_start(cpu, t);
            return;
        }
    }
    ready[ready_tail++ % TERMINALS] = t;
}

static void lock_next(uint16_t t) {
    struct row *r = &row[terminal[t].key[terminal[t].done]];
    if (r->owner == 0) {
        r->owner = t;
        cpu_join(t);
        return;
    }
    *(r->first == 0 ? &r->first : &terminal[r->last].next) = t;
    r->last = t;
    terminal[t].next = 0;
}

static void draw_keys(uint32_t *key, uint64_t rows) {
    for (int n = 0; n < ACCESSES;) {
        uint32_t drawn = (uint32_t)stream_below(&stream, rows);
        int place = n;
        while (place > 0 && key[place - 1] > drawn) {
            place--;
        }
        if (place == 0 || key[place - 1] != drawn) {
            for (int i = n++; i > place; i--) {
                key[i] = key[i - 1];
            }
            key[place] = drawn;
            __builtin_prefetch(&row[drawn], 1);
        }
    }
}

static void begin(uint16_t t, uint64_t rows) {
    draw_keys(terminal[t].key, rows);
    terminal[t].done = 0;
    terminal[t].start_ns = now_ns;
    lock_next(t);
}

static void commit(uint16_t t) {
    for (int i = 0; i < ACCESSES; i++) {
        struct row *r = &row[terminal[t].key[i]];
        r->owner = r->first;
        if (r->owner != 0) {
            r->first = terminal[r->owner].next;
            cpu_join(r->owner);
        }
    }
    uint64_t took_ns = (uint64_t)(now_ns - terminal[t].start_ns) | 1;
    int shift = 63 - __builtin_clzll(took_ns) - BIN_BITS;
    uint64_t bin = shift <= 0 ? took_ns : ((uint64_t)shift << BIN_BITS) + (took_ns >> shift);
    response_bins[bin]++;
    response_ns += (int64_t)took_ns;
    committed++;
}

static void run(uint64_t rows, uint64_t transactions) {
    while (committed < transactions) {
        int cpu = 0;
        for (int i = 1; i < CPUS; i++) {
            cpu = cpu_end_ns[i] < cpu_end_ns[cpu] ? i : cpu;
        }
        now_ns = cpu_end_ns[cpu];
        uint16_t t = cpu_user[cpu];
        cpu_user[cpu] = 0;
        cpu_end_ns[cpu] = INT64_MAX;
        if (ready_head != ready_tail) {
            cpu_start(cpu, ready[ready_head++ % TERMINALS]);
        }
        if (++terminal[t].done < ACCESSES) {
            lock_next(t);
        } else {
            commit(t);
            begin(t, rows);
        }
    }
}

/* The lower end of the bin in which the quantile lies. */
static double quantile_ms(double quantile) {
    uint64_t bin = 0, below = 0;
    while ((below += response_bins[bin]) < (uint64_t)(quantile * (double)committed)) {
        bin++;
    }
    uint64_t shift = bin >> (BIN_BITS + 1) == 0 ? 0 : (bin >> BIN_BITS) - 1;
    return (double)((bin - (shift << BIN_BITS)) << shift) / MEAN_NS;
}

int main(int argc, char **argv) {
    uint64_t rows = argc >= 2 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t transactions = argc >= 3 ? strtoull(argv[2], NULL, 10) : 2000000;
    if (rows < ACCESSES || rows > UINT32_MAX || transactions == 0) {
        fprintf(stderr, "usage: floor_closed ROWS [TRANSACTIONS]\n");
        return 2;
    }
    stream_open(&stream, &(struct stream_key){.seed = 1, .purpose = STREAM_TEST});
    row = mem_new(rows, sizeof *row);
    for (uint64_t i = 0; i < rows; i++) {
        row[i] = (struct row){0, 0, 0}; /* pages are touched before the clock starts */
    }
    for (int cpu = 0; cpu < CPUS; cpu++) {
        cpu_end_ns[cpu] = INT64_MAX;
    }
    for (int t = 1; t <= TERMINALS; t++) {
        begin((uint16_t)t, rows);
    }
    double start = stopwatch_seconds();
    run(rows, transactions);
    double seconds = stopwatch_seconds() - start;
    printf("%.0f %.2f %.3f %.2f\n", (double)committed / seconds, (double)committed / ((double)now_ns * 1e-9),
           (double)response_ns / (double)committed / MEAN_NS, quantile_ms(0.99));
    mem_free(row);
    return 0;
}
