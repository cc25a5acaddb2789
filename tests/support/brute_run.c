/* brute_run.c - see brute_parts.h. */
#include "tests/support/brute_parts.h"

#include <string.h>

#include "sim/base/check.h"

/* The newest write of the row that stands, or START. */
static int top(const struct run *run, int row) {
    for (int i = run->count - 1; i >= 0; i--) {
        if (run->ops[i].kind == 'w' && run->ops[i].row == row && run->ops[i].gone == NEVER) {
            return i;
        }
    }
    return START;
}

int brute_image(const struct run *run, int row, int write) {
    return write == START ? run->start[row] : run->ops[write].after;
}

/* 0 no, 1 yes, 2 cannot be told. */
int brute_match(const struct run *run, int value) {
    return value == ABSENT ? 0 : value == UNKNOWN ? 2 : value >= run->schedule->threshold;
}

static int add(struct run *run, char kind, int life, int row) {
    CHECK(run->count < BRUTE_OPS);
    run->step_of[run->count] = run->step;
    run->ops[run->count] =
        (struct op){.kind = kind, .life = life, .row = row, .seen = row < 0 ? START : top(run, row), .gone = NEVER};
    if (run->first[life] == NEVER) {
        run->first[life] = run->count;
    }
    return run->count++;
}

static int read_row(struct run *run, int life, int row, bool returned) {
    int value = brute_image(run, row, run->ops[add(run, 'r', life, row)].seen);
    if (returned) {
        run->last_read[life][row] = value;
    }
    return value;
}

static int plus(int value, int constant) { return value == UNKNOWN || value == ABSENT ? UNKNOWN : value + constant; }

static void write_row(struct run *run, int life, const struct brute_step *step, int row, bool scanned) {
    int now = brute_image(run, row, top(run, row)), after = UNKNOWN;
    if ((step->form == '+' || step->conditional) && step->kind == 'w' && !scanned) {
        read_row(run, life, row, false);
    }
    if (step->conditional && step->kind == 'w' && now != UNKNOWN && now != step->expected) {
        return;
    }
    if (step->kind == 'd') {
        after = ABSENT;
    } else if (step->form == '=') {
        after = step->constant;
    } else if (step->form == '+') {
        after = plus(now, step->constant);
    } else if (step->form == '$') {
        after = plus(run->last_read[life][step->source], step->constant);
    } else if (step->form == '@') {
        after = plus(read_row(run, life, step->source, false), step->constant);
    }
    int op = add(run, 'w', life, row);
    run->ops[op].after = after;
    run->ops[op].before = brute_image(run, row, run->ops[op].seen);
}

static void run_scan(struct run *run, int life, const struct brute_step *step) {
    add(run, 'q', life, -1);
    for (int row = 0; row < run->schedule->row_count; row++) {
        int above = top(run, row), below = START;
        if (brute_match(run, brute_image(run, row, above)) != 0) {
            bool changes = step->kind == 'w' || step->kind == 'd';
            read_row(run, life, row, !changes);
            if (changes) {
                write_row(run, life, step, row, true);
            }
            continue;
        }
        if (above == START || run->ops[above].life == life || run->end[run->ops[above].life] != NEVER) {
            continue;
        }
        for (int i = 0; i < above; i++) { /* what stood there when the writer began to write on it */
            const struct op *op = &run->ops[i];
            below = op->kind == 'w' && op->row == row && op->gone == NEVER ? i : below;
        }
        while (below != START && run->ops[below].life == run->ops[above].life) {
            int under = START;
            for (int i = 0; i < below; i++) {
                const struct op *op = &run->ops[i];
                under = op->kind == 'w' && op->row == row && op->gone == NEVER ? i : under;
            }
            below = under;
        }
        if (brute_match(run, brute_image(run, row, below)) != 0) {
            add(run, 'm', life, row);
        }
    }
}

static void end_life(struct run *run, int life, bool committed) {
    int op = add(run, 'e', life, -1);
    run->end[life] = op;
    run->committed[life] = committed;
    for (int i = 0; i < op && !committed; i++) {
        if (run->ops[i].life == life && run->ops[i].gone == NEVER) {
            run->ops[i].gone = op;
        }
    }
}

static void run_step(struct run *run, const struct brute_step *step) {
    int *now = &run->life_now[step->txn];
    if (*now < 0 || run->end[*now] != NEVER) {
        CHECK(run->lives < BRUTE_LIVES);
        *now = run->lives++;
        run->life_txn[*now] = step->txn;
        run->end[*now] = run->first[*now] = NEVER;
        for (int row = 0; row < BRUTE_ROWS; row++) {
            run->last_read[*now][row] = UNKNOWN;
        }
    }
    int op;
    switch (step->kind) {
    case 'b':
    case 'p': return;
    case 'c': end_life(run, *now, true); return;
    case 'a': end_life(run, *now, false); return;
    case 'f':
        op = add(run, 'f', *now, -1);
        for (int i = 0; i < op; i++) {
            if (run->ops[i].kind == 'w' && run->ops[i].life == *now && run->ops[i].gone == NEVER &&
                run->step_of[i] > step->target) {
                run->ops[i].gone = op;
                run->ops[i].by_rollback_to = true;
            }
        }
        return;
    default: break;
    }
    if (step->row < 0) {
        run_scan(run, *now, step);
    } else if (step->kind == 'w' || step->kind == 'd' || step->kind == 'i') {
        write_row(run, *now, step, step->row, false);
    } else {
        read_row(run, *now, step->row, true);
    }
}

void brute_run(struct run *run, const struct brute_schedule *schedule) {
    bool ends = false;
    memset(run, 0, sizeof *run);
    run->schedule = schedule;
    for (int t = 0; t <= BRUTE_TXNS; t++) {
        run->life_now[t] = -1;
    }
    for (int row = 0; row < schedule->row_count; row++) {
        run->start[row] = !schedule->with_init ? 0 : schedule->present[row] ? schedule->value[row] : ABSENT;
        for (int s = schedule->step_count - 1; s >= 0 && !schedule->with_init; s--) {
            const struct brute_step *step = &schedule->steps[s];
            if (step->row == row && (step->kind == 'i' || step->kind == 'w' || step->kind == 'd')) {
                run->start[row] = step->kind == 'i' ? ABSENT : 0; /* the first one decides */
            }
        }
    }
    for (run->step = 0; run->step < schedule->step_count; run->step++) {
        ends = ends || strchr("ca", schedule->steps[run->step].kind) != NULL;
        run_step(run, &schedule->steps[run->step]);
    }
    for (int s = 0; s < schedule->step_count && !ends; s++) { /* all commit, in the order of their last steps */
        bool last = true;
        for (int later = s + 1; later < schedule->step_count; later++) {
            last = last && schedule->steps[later].txn != schedule->steps[s].txn;
        }
        if (last) {
            end_life(run, run->life_now[schedule->steps[s].txn], true);
        }
    }
}
