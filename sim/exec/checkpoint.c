/* checkpoint.c - going back: an attempt undoes its statements from one on and does them again.
 *
 * Where an algorithm asks for it (cc->keeps_programs), what a program is at each of its statements is kept: its
 * registers, the step it had just named, its savepoints. Going back restores that, so that the program itself notices
 * nothing; then that statement begins anew, under a new number. What it paid for since is wasted: rows it met since are
 * paid again. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/exec/report.h"
#include "sim/exec/world.h"

static char *registers_of(const struct world *world, const struct actor *actor, size_t index) {
    return actor->kept_registers + index * world->spec->workload->registers_size;
}

void checkpoint_take(struct world *world, struct actor *actor) {
    size_t index = actor->checkpoints.count, capacity = actor->checkpoints.capacity;
    struct checkpoint taken = {.statement = actor->txn.statement,
                               .rows = (uint32_t)actor->txn.rows.count,
                               .fold = actor->fold,
                               .step = actor->step};
    memcpy(taken.savepoints, actor->savepoints, sizeof taken.savepoints);
    vector_push(&actor->checkpoints, taken);
    if (actor->checkpoints.capacity != capacity) {
        size_t size = world->spec->workload->registers_size;
        actor->kept_registers = mem_resize(actor->kept_registers, actor->checkpoints.capacity, size);
    }
    memcpy(registers_of(world, actor, index), actor->registers, world->spec->workload->registers_size);
}

void checkpoint_free(struct actor *actor) {
    vector_free(&actor->checkpoints);
    mem_free(actor->kept_registers);
}

/* The reads, scans and first visits of statement `mark` and later ones have not been. */
static void forget(struct txn *txn, uint32_t mark, uint32_t rows) {
    for (size_t i = 0; i < txn->rows.count; i++) {
        struct row *row = &txn->rows.items[i];
        if (row->read_statement >= mark) {
            row->read_statement = 0;
            row->kept = false;
        }
        row->visited &= i < rows;
    }
    while (txn->scans.count > 0 && txn->scans.items[txn->scans.count - 1].statement >= mark) {
        txn->scans.count--;
    }
}

static void restore(struct world *world, struct actor *actor, size_t index) {
    const struct checkpoint *to = &actor->checkpoints.items[index];
    const struct workload_ops *workload = world->spec->workload;
    memcpy(actor->registers, registers_of(world, actor, index), workload->registers_size);
    memcpy(actor->savepoints, to->savepoints, sizeof actor->savepoints);
    actor->fold = to->fold;
    actor->step = to->step;
    actor->reply = (struct reply){0};
    actor->at_source = false;
    actor->checkpoints.count = index;
    if (workload->restored != NULL) {
        workload->restored(world->workload_state, actor->arguments, actor->registers, &actor->step);
    }
}

/* The marked statement stands among the checkpoints: it is one that the attempt has begun and not undone. */
bool phase_back(struct world *world, struct actor *actor) {
    struct txn *txn = &actor->txn;
    uint32_t mark = txn->back_to;
    size_t index = actor->checkpoints.count;
    while (index > 0 && actor->checkpoints.items[index - 1].statement >= mark) {
        index--;
    }
    CHECK(index < actor->checkpoints.count && actor->checkpoints.items[index].statement == mark);
    walker_end_wait(world, actor);
    world->ops->back(&world->cc, txn, mark);
    report_back(world, actor, mark);
    txn_undo(txn, &world->store, mark, world_is_private(world));
    forget(txn, mark, actor->checkpoints.items[index].rows);
    world->tally.partial_rollbacks++;
    world->tally.statements_kept += index;
    restore(world, actor, index);
    txn->doomed = false;
    txn->back_to = 0;
    txn->backs++;
    txn->reason = REASON_NONE;
    if (actor->step.kind == STEP_HOLD) {
        actor->phase = PHASE_NEXT;
        return false;
    }
    txn->statement++;
    checkpoint_take(world, actor);
    actor->phase = PHASE_STATEMENT;
    int64_t service_ns = price_work(world, actor) + price_draw(actor, &world->spec->cost.cpu_abort);
    if (price_cpu(world, actor, service_ns)) {
        /* free of charge, but an event of its own: those whom this woke go first */
        agenda_schedule(&world->agenda, txn->slot, world->agenda.now_ns);
    }
    return false;
}
