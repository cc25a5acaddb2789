/* report.c - see the header. The certifier knows attempts by their serial numbers: the slot in an id says nothing. */
#include "sim/exec/report.h"

_Static_assert((int)LEVEL_RU == (int)CERTIFIER_RU && (int)LEVEL_RC == (int)CERTIFIER_RC &&
                   (int)LEVEL_RR == (int)CERTIFIER_RR && (int)LEVEL_SI == (int)CERTIFIER_SI &&
                   (int)LEVEL_SER == (int)CERTIFIER_SER,
               "a promise is what the certifier holds the run to");

enum { SLOT_BITS = 24 };

static uint64_t serial_of(uint64_t id) { return id >> SLOT_BITS; }

static uint64_t committed_writer_above(const struct row *row, const struct version *version) {
    const struct version *above = store_committed_above(row->record, version);
    return above != NULL ? serial_of(above->writer) : 0;
}

/* An uncommitted one may stand beneath, put there late or overwritten: it is reported when it commits. */
static const struct version *version_behind(const struct world *world, const struct version *own) {
    const struct version *behind = own->older;
    bool ordered = (world->ops->flags & (CC_KEEPS_VERSIONS | CC_SKIPS_OBSOLETE | CC_SHOWS_DIRTY)) != 0;
    while (ordered && behind->stamp == 0) {
        behind = behind->older;
    }
    return behind;
}

/* What the attempt would put above the newest committed version. */
static void would_install(struct world *world, struct actor *actor, const struct row *row, const struct version *behind,
                          int64_t value, bool absent) {
    struct certifier_install install = {.key = row->key,
                                        .behind = serial_of(behind->writer),
                                        .before = behind->value,
                                        .after = value,
                                        .table = (uint16_t)row->table->index,
                                        .before_absent = behind->absent,
                                        .after_absent = absent};
    certifier_would_install(world->certifier, actor->reported, &install);
}

static __attribute__((noinline)) void install_slowly(struct world *world, struct txn *txn, const struct row *row) {
    const struct version *own = row->own, *behind = version_behind(world, own);
    struct certifier_install install = {.key = row->key,
                                        .behind = serial_of(behind->writer),
                                        .under = committed_writer_above(row, own),
                                        .before = behind->value,
                                        .after = own->value,
                                        .number = own->statement,
                                        .table = (uint16_t)row->table->index,
                                        .before_absent = behind->absent,
                                        .after_absent = own->absent};
    certifier_install(world->certifier, actor_of(txn)->reported, &install);
}

/* Mostly it is an update on top of the newest committed version. */
static void installing(void *context, struct txn *txn, const struct row *row) {
    struct world *world = context;
    const struct version *own = row->own, *behind = own->older;
    if (row->record->newest != own || behind->stamp == 0 || behind->absent || own->absent) {
        install_slowly(world, txn, row);
        return;
    }
    certifier_install_row(world->certifier, actor_of(txn)->reported, (uint16_t)row->table->index, row->key,
                          serial_of(behind->writer), behind->value, own->value, own->statement);
}

void report_open(struct world *world) {
    if (!world->spec->certify) {
        return;
    }
    world->certifier = certifier_new((enum certifier_level)world->ops->level, &world->agenda.now_ns);
    if (cc_is_unrecoverable(world->ops, world->spec->algorithm_options)) {
        certifier_excuse_aborted_reads(world->certifier);
    }
    for (int i = 0; i < world->store.table_count; i++) {
        certifier_table(world->certifier, i, world->store.tables[i].name);
    }
    if (world->spec->history != NULL) {
        certifier_record(world->certifier, world->spec->history);
    }
    world->harness.installing = installing;
}

void report_measure(struct world *world) {
    if (world->certifier != NULL) {
        world->before_window = *certifier_counts(world->certifier);
    }
}

void report_close(struct world *world) {
    struct run_result *result = world->result;
    if (world->certifier == NULL) {
        return;
    }
    const struct certifier_counts *counts = certifier_counts(world->certifier), *before = &world->before_window;
    result->certified = true;
    result->promise_broken = counts->broken > 0;
    result->unrecoverable = counts->unrecoverable - before->unrecoverable;
    result->anomalies = counts->anomalies - before->anomalies;
    result->levels_broken = counts->broken_levels - before->broken_levels;
    result->false_positives = counts->false_positives - before->false_positives;
    for (int i = 0; i < FLAW_COUNT; i++) {
        result->anomalies_by_name[i] = counts->by_name[i] - before->by_name[i];
    }
    text_add(&result->witness, "%s", certifier_witness(world->certifier));
    certifier_free(world->certifier);
    world->certifier = NULL;
}

void report_begin_now(struct world *world, struct actor *actor) {
    actor->reported = certifier_begin(world->certifier, serial_of(actor->txn.id));
    actor->begin_stamp = world->store.stamp;
    if (actor->txn.level != world->ops->level) {
        certifier_level(world->certifier, actor->reported, (enum certifier_level)actor->txn.level,
                        (enum certifier_level)world->ops->mixed);
    }
}

void report_statement_now(struct world *world, struct actor *actor) {
    actor->scan_incomplete = false;
    certifier_statement(world->certifier, actor->reported, actor->txn.statement);
}

/* Was the version superseded by one that had been committed when the attempt began? */
static bool is_dead(const struct actor *actor, const struct row *row, const struct version *seen) {
    const struct version *above = store_committed_above(row->record, seen);
    return above != NULL && above->stamp <= actor->begin_stamp;
}

static void report_version(struct world *world, struct actor *actor, const struct row *row, const struct version *seen,
                           enum certifier_sight sight) {
    bool own = seen->writer == actor->txn.id;
    if (own && !actor->step.scan) {
        return;
    }
    struct certifier_read read = {.key = row->key,
                                  .writer = serial_of(seen->writer),
                                  .number = (uint32_t)seen->statement,
                                  .table = (uint16_t)row->table->index,
                                  .sight = (uint8_t)(own ? SIGHT_OWN_VERSION : sight),
                                  .dirty = !own && seen->stamp == 0,
                                  .dead = !own && is_dead(actor, row, seen),
                                  .kept = actor->step.kind == STEP_INSERT && !seen->absent};
    if (seen->writer == 0 && seen->absent) {
        read.anew = true;
        read.under = committed_writer_above(row, seen);
    }
    certifier_read(world->certifier, actor->reported, actor->txn.statement, &read);
}

static __attribute__((noinline)) void read_slowly(struct world *world, struct actor *actor, const struct row *row,
                                                  const struct version *seen, bool wanted) {
    bool there = actor->step.scan ? wanted : !seen->absent;
    report_version(world, actor, row, seen, there ? SIGHT_ROW : actor->step.scan ? SIGHT_NO_MATCH : SIGHT_NO_ROW);
}

/* Mostly a wanted row is there in its newest version, which is committed, hence another's: then it is but that. */
void report_read_now(struct world *world, struct actor *actor, const struct row *row, const struct version *seen,
                     bool wanted) {
    if (row->record->newest != seen || seen->stamp == 0 || seen->absent || !wanted) {
        read_slowly(world, actor, row, seen, wanted);
        return;
    }
    certifier_read_row(world->certifier, actor->reported, actor->txn.statement, (uint16_t)row->table->index, row->key,
                       serial_of(seen->writer), seen->statement);
}

void report_refused_read_now(struct world *world, struct actor *actor, const struct row *row,
                             const struct version *seen) {
    report_version(world, actor, row, seen, seen->absent ? SIGHT_NO_ROW : SIGHT_ROW);
}

/* One that it had written before is told of at its end. */
void report_refused_change_now(struct world *world, struct actor *actor, const struct row *row,
                               const struct version *base, int64_t value, bool absent) {
    if (row->own == NULL) {
        would_install(world, actor, row, base, value, absent);
    }
}

void report_source_now(struct world *world, struct actor *actor, const struct row *row, const struct version *seen) {
    if (seen->writer != actor->txn.id) {
        report_version(world, actor, row, seen, seen->absent ? SIGHT_NO_ROW : SIGHT_ROW);
    }
}

void report_skip_now(struct world *world, struct actor *actor, const struct row *row) {
    actor->scan_incomplete = true;
    if (actor->step.kind != STEP_SELECT && actor->step.patience != PATIENCE_SKIP_LOCKED) {
        certifier_skip(world->certifier, actor->reported, row->table->index, row->key);
    }
}

void report_scan_now(struct world *world, struct actor *actor) {
    const struct step *step = &actor->step;
    bool limited = step->limit > 0 && actor->reply.count >= step->limit;
    if (!limited && !actor->scan_incomplete) {
        struct certifier_scan scan = {.first = step->first,
                                      .last = step->last,
                                      .condition = step->condition,
                                      .table = (uint16_t)step->table->index};
        certifier_scan(world->certifier, actor->reported, actor->txn.statement, &scan);
    }
}

void report_fail_now(struct world *world, struct actor *actor) {
    certifier_fail(world->certifier, actor->reported, actor->txn.statement);
}

void report_rollback_now(struct world *world, struct actor *actor, uint32_t mark) {
    certifier_rollback(world->certifier, actor->reported, mark);
}

void report_back_now(struct world *world, struct actor *actor, uint32_t mark) {
    certifier_back(world->certifier, actor->reported, mark);
}

void report_commit_now(struct world *world, struct actor *actor) {
    certifier_commit(world->certifier, actor->reported);
    actor->reported = NULL;
}

void report_abort_now(struct world *world, struct actor *actor) {
    const struct txn *txn = &actor->txn;
    for (size_t i = 0; report_judges(world, actor) && i < txn->rows.count; i++) {
        struct row *row = &txn->rows.items[i];
        if (row->own != NULL) {
            const struct version *behind = store_committed(&world->store, row->table, row->key, row->record);
            would_install(world, actor, row, behind, row->own->value, row->own->absent);
        }
    }
    (report_judges(world, actor) ? certifier_refuse : certifier_abort)(world->certifier, actor->reported);
    actor->reported = NULL;
}
