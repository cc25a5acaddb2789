#include "sim/kit/deadlock.h"

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "sim/kit/lock.h"
#include "sim/kit/predicate_lock.h"

const char *const deadlock_detect_choices[] = {"wait", "period(duration)", "after(duration)", NULL};
const char *const deadlock_victim_choices[] = {"youngest",        "oldest",        "requester",
                                               "fewest_locks",    "fewest_writes", "least_work",
                                               "least_remaining", "random",        NULL};

const char *const deadlock_rollback_choices[] = {"whole", "partial", NULL};

enum { BACKS_MAX = 10 }; /* of one attempt */

/* ---- Search ---- */

static bool can_wait(const struct txn *txn) { return txn->state == TXN_WAITING && !txn->doomed && !txn->condemned; }

/* Appends the path from `last` back to the start of the search: the cycle. */
static size_t unwind(struct cc *cc, struct txn *last, size_t *begin) {
    *begin = cc->search.count;
    for (struct txn *txn = last; txn != NULL; txn = txn->search_parent) {
        txn_list_add(&cc->search, txn);
    }
    return cc->search.count - *begin;
}

/* Appends the blockers that may be a part of a cycle, and perhaps others. */
static void follow(struct cc *cc, const struct txn *visited) {
    cc->follows_sleepers = cc->knows_sleepers;
    cc->blockers(cc, visited, &cc->search, SIZE_MAX);
    cc->follows_sleepers = false;
}

/* Are they, but for those who do not wait, all blockers in the same order? The list is left as it was. */
static bool follows_all(struct cc *cc, const struct txn *visited) {
    const struct txn_list *list = &cc->search;
    size_t begin = list->count;
    follow(cc, visited);
    size_t middle = list->count;
    cc->blockers(cc, visited, &cc->search, SIZE_MAX);
    bool same = true;
    for (size_t i = begin, j = middle; same && (i < middle || j < list->count); i++, j++) {
        while (i < middle && !can_wait(list->items[i])) {
            i++;
        }
        while (j < list->count && !can_wait(list->items[j])) {
            j++;
        }
        same = (i < middle) == (j < list->count) && (i == middle || list->items[i] == list->items[j]);
    }
    cc->search.count = begin;
    return same;
}

size_t deadlock_find_cycle(struct cc *cc, struct txn *txn, size_t *begin) {
    struct txn_list *list = &cc->search; /* visited in order; then the blockers of the one being visited */
    uint64_t mark = ++cc->search_count;
    list->count = 0;
    txn->search_mark = mark;
    txn->search_parent = NULL;
    txn_list_add(list, txn);
    for (size_t at = 0; at < list->count; at++) {
        struct txn *visited = list->items[at];
        txn->work.searched++;
        size_t first = list->count;
        CHECK_SLOW(follows_all(cc, visited));
        follow(cc, visited);
        size_t end = list->count;
        size_t kept = first;
        for (size_t i = first; i < end; i++) {
            struct txn *blocker = list->items[i];
            if (blocker == txn) {
                list->count = kept;
                return unwind(cc, visited, begin);
            }
            if (blocker->search_mark != mark && can_wait(blocker)) {
                blocker->search_mark = mark;
                blocker->search_parent = visited;
                list->items[kept++] = blocker;
            }
        }
        list->count = kept;
    }
    return 0;
}

/* ---- Search from everybody ----
 * Depth first over all waiting transactions, nobody entered twice: who is on the path carries the mark, who was left
 * carries the mark after it. Each one entered is counted as its own work. */

static void enter(struct cc *cc, struct txn *txn, uint64_t mark) {
    txn->search_mark = mark;
    txn->work.searched++;
    size_t next = cc->search.count;
    cc->blockers(cc, txn, &cc->search, SIZE_MAX);
    struct search_frame frame = {.txn = txn, .next = next, .end = cc->search.count};
    vector_push(&cc->frames, frame);
}

/* The cycle that the edge from the end of the path to `txn`, which is on it, closes. */
static size_t cut_path(struct cc *cc, const struct txn *txn, size_t *begin) {
    *begin = cc->search.count;
    size_t i = cc->frames.count;
    do {
        txn_list_add(&cc->search, cc->frames.items[--i].txn);
    } while (cc->frames.items[i].txn != txn);
    return cc->search.count - *begin;
}

static size_t cycle_from(struct cc *cc, struct txn *start, uint64_t mark, size_t *begin) {
    cc->search.count = cc->frames.count = 0;
    enter(cc, start, mark);
    while (cc->frames.count > 0) {
        struct search_frame *frame = &cc->frames.items[cc->frames.count - 1];
        if (frame->next == frame->end) {
            frame->txn->search_mark = mark + 1;
            cc->frames.count--;
            cc->search.count = cc->frames.count > 0 ? cc->frames.items[cc->frames.count - 1].end : 0;
            continue;
        }
        struct txn *blocker = cc->search.items[frame->next++];
        if (!can_wait(blocker) || blocker->search_mark == mark + 1) {
            continue;
        }
        if (blocker->search_mark == mark) {
            return cut_path(cc, blocker, begin);
        }
        enter(cc, blocker, mark);
    }
    return 0;
}

/* Some cycle among all who wait; its length, 0 if there is none. */
static size_t find_any_cycle(struct cc *cc, size_t *begin) {
    uint64_t mark = cc->search_count + 1;
    cc->search_count += 2;
    for (struct txn *txn = cc->waiting_first; txn != NULL; txn = txn->wait_next) {
        size_t length = can_wait(txn) && txn->search_mark < mark ? cycle_from(cc, txn, mark, begin) : 0;
        if (length > 0) {
            return length;
        }
    }
    return 0;
}

/* ---- Victims ---- */

/* How much there is to be said against sacrificing it: the smallest goes, the youngest among equals. */
static uint64_t cost_of(struct cc *cc, const struct deadlock_options *options, const struct txn *txn,
                        const struct txn *requester) {
    switch ((enum victim)options->victim) {
    case VICTIM_YOUNGEST: return 0;
    case VICTIM_OLDEST: return txn->age;
    case VICTIM_REQUESTER: return txn == requester ? 0 : 1;
    case VICTIM_FEWEST_LOCKS: return txn->lock_count;
    case VICTIM_FEWEST_WRITES: return txn->writes.count;
    case VICTIM_LEAST_WORK: return txn->rows.count - txn->granule_count;
    case VICTIM_LEAST_REMAINING: return cc->harness->remaining(cc->harness->world, txn);
    case VICTIM_RANDOM: return random_mix(cc->seed ^ random_mix(txn->id));
    }
    return 0;
}

/* Is `a` rather sacrificed than `b`? Who was not a victim too often goes first, then by the rule, then the youngest. */
static bool goes_before(struct cc *cc, const struct deadlock_options *options, const struct txn *a, const struct txn *b,
                        const struct txn *requester) {
    bool a_spared = a->victim_count >= options->spare_after;
    bool b_spared = b->victim_count >= options->spare_after;
    if (a_spared != b_spared) {
        return b_spared;
    }
    uint64_t a_cost = cost_of(cc, options, a, requester);
    uint64_t b_cost = cost_of(cc, options, b, requester);
    return a_cost != b_cost ? a_cost < b_cost : a->age > b->age;
}

static struct txn *choose_victim(struct cc *cc, const struct deadlock_options *options, size_t begin, size_t length,
                                 const struct txn *requester) {
    struct txn *victim = cc->search.items[begin];
    for (size_t i = begin + 1; i < begin + length; i++) {
        if (goes_before(cc, options, cc->search.items[i], victim, requester)) {
            victim = cc->search.items[i];
        }
    }
    victim->victim_count++;
    return victim;
}

/* Who of the cycle waits for the member: each waits for the one before it, the first for the last. */
static const struct txn *waiter_of(const struct cc *cc, size_t begin, size_t length, const struct txn *member) {
    size_t i = 0;
    while (cc->search.items[begin + i] != member) {
        i++;
    }
    return cc->search.items[begin + (i + 1) % length];
}

/* The first statement to be undone so that `waiter` need not wait for the holder any more: the one that took what
 * is in its way or, if it only stands before it in the queue, the present one. */
static uint32_t first_in_the_way(const struct txn *holder, const struct txn *waiter) {
    const struct lock *request = waiter->queued;
    uint32_t mark = holder->statement;
    if (request == NULL) {
        return predicate_lock_mark(holder, waiter, mark);
    }
    for (const struct lock *lock = holder->held; lock != NULL; lock = lock->held_next) {
        for (int mode = MODE_NONE + 1; mode < LOCK_DIRECT && lock->head == request->head; mode++) {
            bool conflicts = request->gap || lock_conflict((enum lock_mode)request->mode, (enum lock_mode)mode);
            if (lock->gap == request->gap && conflicts && lock->since[mode] != 0 && lock->since[mode] < mark) {
                mark = lock->since[mode];
            }
        }
    }
    return mark;
}

/* How far the chosen one of the cycle goes back: a statement, or 0: it is aborted. */
static uint32_t mark_of(const struct cc *cc, const struct deadlock_options *options, size_t begin, size_t length,
                        const struct txn *victim) {
    if (options->rollback == ROLLBACK_WHOLE || victim->backs >= BACKS_MAX) {
        return 0;
    }
    uint32_t mark = first_in_the_way(victim, waiter_of(cc, begin, length, victim));
    return mark > 1 ? mark : 0;
}

static void sacrifice(struct cc *cc, struct txn *victim) {
    uint32_t mark = victim->back_to;
    if (mark > 0) {
        txn_back(cc, victim, mark);
    } else {
        bool doomed = txn_doom(cc, victim, REASON_DEADLOCK);
        CHECK(doomed);
    }
}

/* Breaks every cycle through `txn`; true if `txn` itself is to be aborted (then it is not doomed yet). Victims are condemned
 * first and doomed when all cycles are known: if `txn` is among them, its end alone breaks every cycle through it, and the
 * others are spared. */
static bool break_cycles(struct cc *cc, const struct deadlock_options *options, struct txn *txn) {
    size_t begin;
    size_t length;
    bool refused = false;
    lock_sleep(cc, txn);
    cc->condemned.count = 0;
    while (!refused && (length = deadlock_find_cycle(cc, txn, &begin)) > 0) {
        if (cc->harness->deadlock != NULL) {
            cc->harness->deadlock(cc->harness->world, &cc->search.items[begin], length);
        }
        struct txn *victim = choose_victim(cc, options, begin, length, txn);
        refused = victim == txn;
        victim->condemned = !refused;
        victim->back_to = mark_of(cc, options, begin, length, victim);
        txn_list_add(&cc->condemned, victim);
    }
    for (size_t i = 0; i < cc->condemned.count; i++) {
        struct txn *victim = cc->condemned.items[i];
        victim->condemned = false;
        if (!refused) {
            sacrifice(cc, victim);
        } else if (victim != txn) {
            victim->victim_count--;
            victim->back_to = 0;
        }
    }
    if (refused && txn->back_to > 0) {
        sacrifice(cc, txn);
        return false;
    }
    return refused;
}

/* Nobody asked for the search: the one of a cycle that began to wait last counts as the one that closed it. */
static const struct txn *closer_of(const struct cc *cc, size_t begin, size_t length) {
    for (const struct txn *waiting = cc->waiting_last; waiting != NULL; waiting = waiting->wait_previous) {
        for (size_t i = begin; i < begin + length; i++) {
            if (cc->search.items[i] == waiting) {
                return waiting;
            }
        }
    }
    return NULL;
}

static void break_all_cycles(struct cc *cc, const struct deadlock_options *options) {
    size_t begin;
    size_t length;
    while ((length = find_any_cycle(cc, &begin)) > 0) {
        const struct txn *closer = options->victim == VICTIM_REQUESTER ? closer_of(cc, begin, length) : NULL;
        struct txn *victim = choose_victim(cc, options, begin, length, closer);
        victim->back_to = mark_of(cc, options, begin, length, victim);
        sacrifice(cc, victim);
    }
}

/* ---- When to search ---- */

/* A search in the call that is about to wait; true if the asker is the victim. Nobody waits for it: no cycle. */
static bool search_now(struct cc *cc, const struct deadlock_options *options, struct txn *txn) {
    if (!lock_is_waited_for(txn) && !predicate_lock_may_block(txn)) {
        return false;
    }
    uint8_t state = txn->state;
    txn->state = TXN_WAITING;
    bool refused = break_cycles(cc, options, txn);
    txn->state = state;
    return refused;
}

enum cc_status deadlock_on_wait(struct cc *cc, const struct deadlock_options *options, struct txn *txn) {
    bool fresh = txn->state != TXN_WAITING;
    switch ((enum detect)options->detect.choice) {
    case DETECT_WAIT:
        if (search_now(cc, options, txn)) {
            return txn_refuse(txn, REASON_DEADLOCK);
        }
        break;
    case DETECT_PERIOD:
        if (!cc->detection_set) {
            cc->detection_set = true;
            txn_timer(cc, NULL, options->detect.integer[0], TIMER_DEADLOCK);
        }
        break;
    case DETECT_AFTER:
        if (fresh) {
            txn->overdue = false;
            txn_timer(cc, txn, options->detect.integer[0], TIMER_DEADLOCK);
        } else if (txn->overdue && search_now(cc, options, txn)) { /* a hint: it may wait for others now */
            return txn_refuse(txn, REASON_DEADLOCK);
        }
        break;
    }
    return CC_WAIT;
}

void deadlock_on_timer(struct cc *cc, const struct deadlock_options *options, struct txn *txn) {
    if (txn != NULL) {
        txn->overdue = true;
        if (can_wait(txn) && break_cycles(cc, options, txn)) {
            txn_doom(cc, txn, REASON_DEADLOCK);
        }
        return;
    }
    cc->detection_set = false;
    break_all_cycles(cc, options);
    for (struct txn *waiting = cc->waiting_first; waiting != NULL; waiting = waiting->wait_next) {
        if (!waiting->doomed) {
            cc->detection_set = true;
        }
    }
    if (cc->detection_set) {
        txn_timer(cc, NULL, options->detect.integer[0], TIMER_DEADLOCK);
    }
}
