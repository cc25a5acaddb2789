/* durable.c - early publication: when may a transaction whose writes are visible before they are on the log answer?
 *
 * An algorithm flagged CC_EARLY_PUBLISH commits at the end of its prepare; the log is forced after that. Others may read
 * what a crash could still undo. So a transaction answers only when its own force is done and everyone it read from has
 * answered: those whose versions it saw, and those who wrote into a range that it scanned (a row that they deleted shows
 * by its absence). A reader that writes nothing has no force of its own, and waits like the others.
 *
 * The published that have not answered form a list; each knows who waits for it. One waits for one at a time.
 *
 * Invariants: one depends only on transactions that published before it did, so nobody waits in a circle; nobody answers
 * before those it depends on. What it saw in a statement that failed counts as well: that it failed is an answer. */
#include "sim/base/check.h"
#include "sim/exec/world.h"

/* Its id leads to it until it has answered. */
static struct actor *unanswered(struct world *world, uint64_t id) {
    struct txn *txn = id != 0 ? world->harness.find(world, id) : NULL;
    return txn != NULL ? actor_of(txn) : NULL;
}

void durable_read_now(struct world *world, struct actor *actor, const struct version *seen) {
    size_t count = actor->read_from.count;
    bool known = seen->writer == actor->txn.id || (count > 0 && actor->read_from.items[count - 1] == seen->writer);
    if (!known && unanswered(world, seen->writer) != NULL) {
        vector_push(&actor->read_from, seen->writer);
    }
}

static bool writes_into(const struct txn *txn, const struct step *scan) {
    for (size_t i = 0; i < txn->writes.count; i++) {
        const struct row *row = &txn->rows.items[txn->writes.items[i].row];
        if (row->table == scan->table && row->key >= scan->first && row->key <= scan->last) {
            return true;
        }
    }
    return false;
}

void durable_scan_now(struct world *world, struct actor *actor) {
    for (struct actor *other = world->published_first; other != NULL; other = other->published_next) {
        if (writes_into(&other->txn, &actor->step)) {
            vector_push(&actor->read_from, other->txn.id);
        }
    }
}

void durable_publish(struct world *world, struct actor *actor) {
    actor->published_next = NULL;
    actor->published_previous = world->published_last;
    if (world->published_last != NULL) {
        world->published_last->published_next = actor;
    } else {
        world->published_first = actor;
    }
    world->published_last = actor;
}

bool durable_wait(struct world *world, struct actor *actor) {
    while (actor->read_from.count > 0) {
        struct actor *other = unanswered(world, actor->read_from.items[actor->read_from.count - 1]);
        if (other != NULL) {
            CHECK(other != actor && other->txn.state == TXN_SEALED);
            actor->dependent_next = other->dependent_first;
            other->dependent_first = actor;
            return false;
        }
        actor->read_from.count--;
    }
    actor->phase = PHASE_DEFERRED;
    return true;
}

void durable_answer(struct world *world, struct actor *actor) {
    if (actor->published_previous != NULL) {
        actor->published_previous->published_next = actor->published_next;
    } else {
        world->published_first = actor->published_next;
    }
    if (actor->published_next != NULL) {
        actor->published_next->published_previous = actor->published_previous;
    } else {
        world->published_last = actor->published_previous;
    }
    while (actor->dependent_first != NULL) {
        struct actor *dependent = actor->dependent_first;
        actor->dependent_first = dependent->dependent_next;
        agenda_schedule(&world->agenda, dependent->txn.slot, world->agenda.now_ns);
    }
}
