#include "sim/kit/siread.h"

#include "sim/base/check.h"

enum { PAGE_ROWS = 128 }; /* keys of a page */

void siread_start(struct siread_table *table, struct cc *cc, int64_t max_marks, enum siread_rule rule) {
    *table = (struct siread_table){.cc = cc, .clock = 1, .max_marks = max_marks, .rule = rule};
    pool_init(&table->marks, sizeof(struct siread));
    pool_init(&table->area_pool, sizeof(struct siread_area));
    pool_init(&table->edges, sizeof(struct siread_edge));
}

static void free_serials(struct serial *first) {
    for (struct serial *next, *serial = first; serial != NULL; serial = next) {
        next = serial->next;
        vector_free(&serial->watches);
        vector_free(&serial->watchers);
        vector_free(&serial->pages);
        mem_free(serial);
    }
}

void siread_stop(struct siread_table *table) {
    free_serials(table->first);
    free_serials(table->free);
    pool_free(&table->marks);
    pool_free(&table->area_pool);
    pool_free(&table->edges);
}

/* ---- Lists ---- */

static void list_drop(struct serial_list *list, const struct serial *serial) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] != serial) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

/* ---- Marks ---- */

static struct siread_record *tail_of(struct record *record) { return record_tail(record); }

static struct siread *mark_of(struct siread_table *table, struct serial *serial, struct row *row) {
    if (row->mark != 0) {
        return (struct siread *)(uintptr_t)row->mark;
    }
    struct siread_record *tail = tail_of(row->record);
    struct siread *mark = pool_get(&table->marks);
    *mark = (struct siread){.next = tail->marks,
                            .own_next = serial->marks,
                            .owner = serial,
                            .table = row->table,
                            .record = store_record(table->cc->store, row->table, row->key),
                            .key = row->key};
    if (tail->marks != NULL) {
        tail->marks->previous = mark;
    }
    tail->marks = mark;
    serial->marks = mark;
    row->mark = (uint64_t)(uintptr_t)mark;
    return mark;
}

/* Those that write have a list of their own: of a crowd that has read the record hardly anyone has written it. */
static void note_write(struct siread *mark) {
    if (mark->writes) {
        return;
    }
    struct siread_record *tail = tail_of(mark->record);
    mark->writes = true;
    mark->write_next = tail->write_marks;
    if (tail->write_marks != NULL) {
        tail->write_marks->write_previous = mark;
    }
    tail->write_marks = mark;
}

static void unlink_write(struct siread *mark) {
    if (mark->write_previous != NULL) {
        mark->write_previous->write_next = mark->write_next;
    } else {
        tail_of(mark->record)->write_marks = mark->write_next;
    }
    if (mark->write_next != NULL) {
        mark->write_next->write_previous = mark->write_previous;
    }
}

/* Takes it off its record; the transaction's own list is the caller's business. */
static void drop_mark(struct siread_table *table, struct siread *mark) {
    if (mark->writes) {
        unlink_write(mark);
    }
    if (mark->previous != NULL) {
        mark->previous->next = mark->next;
    } else {
        tail_of(mark->record)->marks = mark->next;
    }
    if (mark->next != NULL) {
        mark->next->previous = mark->previous;
    }
    store_release(table->cc->store, mark->table, mark->key, mark->record);
    pool_put(&table->marks, mark);
}

static void add_area(struct siread_table *table, struct serial *serial, int of, int64_t first, int64_t last,
                     bool page) {
    struct siread_area *area = pool_get(&table->area_pool);
    *area = (struct siread_area){.next = table->areas[of],
                                 .own_next = serial->areas,
                                 .owner = serial,
                                 .first = first,
                                 .last = last,
                                 .table = of,
                                 .page = page};
    if (area->next != NULL) {
        area->next->previous = area;
    }
    table->areas[of] = area;
    if (area->own_next != NULL) {
        area->own_next->own_previous = area;
    }
    serial->areas = area;
}

static void drop_area(struct siread_table *table, struct siread_area *area) {
    if (area->previous != NULL) {
        area->previous->next = area->next;
    } else {
        table->areas[area->table] = area->next;
    }
    if (area->next != NULL) {
        area->next->previous = area->previous;
    }
    if (area->own_previous != NULL) {
        area->own_previous->own_next = area->own_next;
    } else {
        area->owner->areas = area->own_next;
    }
    if (area->own_next != NULL) {
        area->own_next->own_previous = area->own_previous;
    }
    pool_put(&table->area_pool, area);
}

static void drop_all_marks(struct siread_table *table, struct serial *serial) {
    if (serial->txn != NULL) {
        for (size_t i = 0; i < serial->txn->rows.count; i++) {
            serial->txn->rows.items[i].mark = 0;
        }
    }
    for (struct siread *next, *mark = serial->marks; mark != NULL; mark = next) {
        next = mark->own_next;
        drop_mark(table, mark);
    }
    serial->marks = NULL;
    while (serial->areas != NULL) {
        drop_area(table, serial->areas);
    }
}

static bool is_covered(const struct serial *serial, int of, int64_t first, int64_t last) {
    for (const struct siread_area *area = serial->areas; area != NULL; area = area->own_next) {
        if (area->table == of && area->first <= first && last <= area->last) {
            return true;
        }
    }
    return false;
}

/* Marks on the keys first .. last became one area: those on records go. */
static void absorb(struct siread_table *table, struct serial *serial, const struct table *of, int64_t first,
                   int64_t last) {
    struct siread **link = &serial->marks;
    while (*link != NULL) {
        struct siread *mark = *link;
        bool inside = mark->table == of && mark->key >= first && mark->key <= last;
        mark->reads = mark->reads && !inside;
        if (mark->reads || mark->writes) {
            link = &mark->own_next;
            continue;
        }
        struct row *row = txn_find_row(serial->txn, of, mark->key);
        CHECK(row != NULL);
        row->mark = 0;
        *link = mark->own_next;
        drop_mark(table, mark);
    }
}

static void promote_to_table(struct siread_table *table, struct serial *serial, const struct table *of) {
    for (struct siread_area *next, *area = serial->areas; area != NULL; area = next) {
        next = area->own_next;
        if (area->table == of->index) {
            drop_area(table, area);
        }
    }
    add_area(table, serial, of->index, INT64_MIN, INT64_MAX, false);
    absorb(table, serial, of, INT64_MIN, INT64_MAX);
}

static void promote_to_page(struct siread_table *table, struct serial *serial, const struct table *of, int64_t page) {
    int64_t pages = 0;
    add_area(table, serial, of->index, page * PAGE_ROWS, page * PAGE_ROWS + PAGE_ROWS - 1, true);
    absorb(table, serial, of, page * PAGE_ROWS, page * PAGE_ROWS + PAGE_ROWS - 1);
    for (const struct siread_area *area = serial->areas; area != NULL; area = area->own_next) {
        pages += area->table == of->index && area->page;
    }
    if (pages > table->max_marks / 2) {
        promote_to_table(table, serial, of);
    }
}

/* One more row of that page is marked. */
static void count_mark(struct siread_table *table, struct serial *serial, const struct table *of, int64_t key) {
    int64_t page = key / PAGE_ROWS - (key % PAGE_ROWS < 0);
    size_t at = serial->pages.count;
    while (at > 0 && (serial->pages.items[at - 1].table != of->index || serial->pages.items[at - 1].number != page)) {
        at--;
    }
    if (at == 0) {
        struct siread_page first = {.table = of->index, .number = page, .rows = 1};
        vector_push(&serial->pages, first);
        at = serial->pages.count;
    } else {
        serial->pages.items[at - 1].rows++;
    }
    if (serial->pages.items[at - 1].rows > table->max_marks) {
        serial->pages.items[at - 1].rows = 0;
        promote_to_page(table, serial, of, page);
    }
}

void siread_scan(struct siread_table *table, struct serial *serial, const struct table *of, int64_t first,
                 int64_t last) {
    if (!serial->safe && !is_covered(serial, of->index, first, last)) {
        add_area(table, serial, of->index, first, last, false);
    }
}

/* ---- Edges ---- */

/* Of in -rw-> pivot -rw-> out, is the last the first to commit, as far as that can be said? */
static bool is_first(uint64_t prepared, uint64_t committed, const struct serial *in, const struct serial *pivot) {
    return prepared != 0 && (in->committed == 0 || prepared <= in->committed) &&
           (pivot->committed == 0 || prepared <= pivot->committed) &&
           (!in->read_only || (committed != 0 && committed <= in->begun));
}

static bool is_pivot(const struct serial *in, const struct serial *pivot) {
    if (is_first(pivot->gone_prepared, pivot->gone_committed, in, pivot)) {
        return true;
    }
    for (const struct siread_edge *edge = pivot->out_first; edge != NULL; edge = edge->out_next) {
        if (is_first(edge->writer->prepared, edge->writer->committed, in, pivot)) {
            return true;
        }
    }
    return false;
}

static bool makes_dangerous(const struct serial *reader, const struct serial *writer) {
    if (is_pivot(reader, writer)) {
        return true;
    }
    const struct siread_edge *edge = writer->prepared != 0 ? reader->in_first : NULL;
    for (; edge != NULL; edge = edge->in_next) {
        const struct serial *in = edge->reader;
        if (!in->doomed && is_first(writer->prepared, writer->committed, in, reader)) {
            return true;
        }
    }
    return false;
}

/* Two flags instead of edges. Of one that can still be refused they are looked at when it prepares. */
static bool add_flags(struct serial *reader, struct serial *writer) {
    if ((writer->prepared != 0 && writer->had_out) || (reader->prepared != 0 && reader->had_in)) {
        return false;
    }
    reader->had_out = writer->had_in = true;
    return true;
}

static bool has_edge(const struct serial *reader, const struct serial *writer) {
    const struct siread_edge *edge = reader->out_first;
    while (edge != NULL && edge->writer != writer) {
        edge = edge->out_next;
    }
    return edge != NULL;
}

static void link_edge(struct siread_table *table, struct serial *reader, struct serial *writer) {
    struct siread_edge *edge = pool_get(&table->edges);
    *edge = (struct siread_edge){
        .reader = reader, .writer = writer, .in_previous = writer->in_last, .out_previous = reader->out_last};
    *(writer->in_last != NULL ? &writer->in_last->in_next : &writer->in_first) = edge;
    *(reader->out_last != NULL ? &reader->out_last->out_next : &reader->out_first) = edge;
    writer->in_last = reader->out_last = edge;
}

/* Of a row that a crowd has read its writer has as many edges: each goes without a look at the others. */
static void unlink_edge(struct siread_table *table, struct siread_edge *edge) {
    struct serial *reader = edge->reader, *writer = edge->writer;
    *(edge->in_previous != NULL ? &edge->in_previous->in_next : &writer->in_first) = edge->in_next;
    *(edge->in_next != NULL ? &edge->in_next->in_previous : &writer->in_last) = edge->in_previous;
    *(edge->out_previous != NULL ? &edge->out_previous->out_next : &reader->out_first) = edge->out_next;
    *(edge->out_next != NULL ? &edge->out_next->out_previous : &reader->out_last) = edge->out_previous;
    pool_put(&table->edges, edge);
}

/* The edge reader -rw-> writer, found by `acting`, which is one of them; false: it must die. */
static bool add_edge(struct siread_table *table, struct serial *reader, struct serial *writer,
                     const struct serial *acting) {
    if (table->rule == SIREAD_BASIC) {
        return add_flags(reader, writer);
    }
    if (has_edge(reader, writer)) {
        return true;
    }
    if (makes_dangerous(reader, writer)) {
        if (acting == writer || writer->prepared != 0) {
            return false;
        }
        writer->doomed = true;
    }
    link_edge(table, reader, writer);
    return true;
}

static bool overlaps(const struct serial *other, const struct serial *serial) {
    return other->committed == 0 || other->committed > serial->begun;
}

bool siread_read(struct siread_table *table, struct serial *serial, struct row *row, const struct version *seen) {
    if (serial->doomed && !seen->absent) {
        return false;
    }
    if (serial->safe || row->own != NULL) {
        return true;
    }
    const struct version *above = store_above(row->record, seen);
    const struct siread *by = above != NULL ? tail_of(row->record)->write_marks : NULL;
    for (; by != NULL; by = by->write_next) {
        if (by->owner->id == above->writer && !by->owner->doomed && !add_edge(table, serial, by->owner, serial)) {
            return false;
        }
    }
    bool marked = row->mark != 0 && ((struct siread *)(uintptr_t)row->mark)->reads;
    if (!marked && !is_covered(serial, row->table->index, row->key, row->key)) {
        struct siread *mark = mark_of(table, serial, row);
        mark->reads = true;
        mark->stamp = seen->stamp;
        count_mark(table, serial, row->table, row->key);
    }
    return true;
}

static bool meets(struct siread_table *table, struct serial *reader, struct serial *writer) {
    return reader == writer || reader->doomed || !overlaps(reader, writer) || add_edge(table, reader, writer, writer);
}

bool siread_write(struct siread_table *table, struct serial *serial, struct row *row, const struct version *base) {
    if (serial->doomed) {
        return false;
    }
    serial->wrote = true;
    note_write(mark_of(table, serial, row));
    if (row->own != NULL) {
        return true; /* who read it since has seen that there is a newer version */
    }
    for (struct siread *mark = tail_of(row->record)->marks; mark != NULL; mark = mark->next) {
        if (mark->reads && mark->stamp >= base->stamp && !meets(table, mark->owner, serial)) {
            return false;
        }
    }
    for (struct siread_area *area = table->areas[row->table->index]; area != NULL; area = area->next) {
        if (area->first <= row->key && row->key <= area->last && !meets(table, area->owner, serial)) {
            return false;
        }
    }
    return true;
}

/* ---- Life ---- */

struct serial *siread_begin(struct siread_table *table, struct txn *txn) {
    struct serial *serial = table->free != NULL ? table->free : mem_new(1, sizeof *serial);
    struct serial before = *serial;
    table->free = before.next;
    *serial = (struct serial){.next = table->first,
                              .id = txn->id,
                              .txn = txn,
                              .begun = table->clock,
                              .read_only = txn->read_only && table->rule == SIREAD_READ_ONLY,
                              .watches = before.watches,
                              .watchers = before.watchers,
                              .pages = before.pages};
    if (table->first != NULL) {
        table->first->previous = serial;
    }
    table->first = serial;
    return serial;
}

void siread_watch(struct serial *serial, struct serial *active) {
    if (active != serial && !active->read_only) {
        vector_push(&serial->watches, active);
        vector_push(&active->watchers, serial);
    }
}

static void cut(struct siread_table *table, struct serial *serial) {
    while (serial->in_first != NULL) {
        unlink_edge(table, serial->in_first);
    }
    while (serial->out_first != NULL) {
        unlink_edge(table, serial->out_first);
    }
    drop_all_marks(table, serial);
}

static void stop_watching(struct serial *serial) {
    for (size_t i = 0; i < serial->watches.count; i++) {
        list_drop(&serial->watches.items[i]->watchers, serial);
    }
    serial->watches.count = 0;
}

void siread_settle(struct siread_table *table, struct serial *serial) {
    if (serial->watches.count == 0 && !serial->unsafe) {
        serial->safe = true;
        cut(table, serial); /* it is as if it had been alone */
    }
}

/* Has it an edge to one that committed before `moment`? */
static bool has_out_before(const struct serial *serial, uint64_t moment) {
    bool found = serial->gone_committed != 0 && serial->gone_committed <= moment;
    for (const struct siread_edge *edge = serial->out_first; edge != NULL && !found; edge = edge->out_next) {
        found = edge->writer->committed != 0 && edge->writer->committed <= moment;
    }
    return found;
}

/* `serial` has ended: what does that mean for those that watch it? */
static void tell_watchers(struct siread_table *table, struct serial *serial) {
    while (serial->watchers.count > 0) {
        struct serial *watcher = serial->watchers.items[0];
        list_drop(&serial->watchers, watcher);
        list_drop(&watcher->watches, serial);
        if (serial->committed != 0 && serial->wrote && has_out_before(serial, watcher->begun)) {
            watcher->unsafe = true;
            stop_watching(watcher);
        }
        siread_settle(table, watcher);
        if (watcher->waits && (watcher->safe || watcher->unsafe)) {
            watcher->waits = false;
            txn_wake(table->cc, watcher->txn);
        }
    }
}

bool siread_prepare(struct siread_table *table, struct serial *serial) {
    if (serial->doomed || (serial->had_in && serial->had_out)) {
        return false;
    }
    for (const struct siread_edge *edge = serial->in_first; edge != NULL; edge = edge->in_next) {
        struct serial *pivot = edge->reader;
        bool dangerous = false;
        const struct siread_edge *to_pivot = pivot->committed == 0 && !pivot->doomed ? pivot->in_first : NULL;
        for (; to_pivot != NULL && !dangerous; to_pivot = to_pivot->in_next) {
            const struct serial *in = to_pivot->reader;
            dangerous = in == serial || (in->committed == 0 && !in->read_only && !in->doomed);
        }
        if (dangerous && pivot->prepared != 0) {
            return false;
        }
        pivot->doomed = pivot->doomed || dangerous;
    }
    serial->prepared = ++table->clock;
    return true;
}

void siread_commit(struct siread_table *table, struct serial *serial) {
    serial->committed = ++table->clock;
    serial->read_only = serial->read_only || (table->rule == SIREAD_READ_ONLY && !serial->wrote);
    stop_watching(serial);
    tell_watchers(table, serial);
    serial->txn = NULL;
    if (table->committed_last != NULL) {
        table->committed_last->committed_next = serial;
    } else {
        table->committed_first = serial;
    }
    table->committed_last = serial;
}

static void erase(struct siread_table *table, struct serial *serial) {
    cut(table, serial);
    if (serial->previous != NULL) {
        serial->previous->next = serial->next;
    } else {
        table->first = serial->next;
    }
    if (serial->next != NULL) {
        serial->next->previous = serial->previous;
    }
    CHECK(serial->in_first == NULL && serial->out_first == NULL && serial->watches.count + serial->watchers.count == 0);
    serial->pages.count = 0;
    serial->next = table->free;
    table->free = serial;
}

void siread_abort(struct siread_table *table, struct serial *serial) {
    stop_watching(serial);
    tell_watchers(table, serial);
    erase(table, serial);
}

static uint64_t earlier(uint64_t known, uint64_t moment) { return known == 0 || moment < known ? moment : known; }

void siread_forget(struct siread_table *table, uint64_t oldest) {
    while (table->committed_first != NULL && table->committed_first->committed <= oldest) {
        struct serial *serial = table->committed_first;
        table->committed_first = serial->committed_next;
        if (table->committed_first == NULL) {
            table->committed_last = NULL;
        }
        for (const struct siread_edge *edge = serial->in_first; edge != NULL; edge = edge->in_next) {
            struct serial *pivot = edge->reader;
            pivot->gone_prepared = earlier(pivot->gone_prepared, serial->prepared);
            pivot->gone_committed = earlier(pivot->gone_committed, serial->committed);
        }
        erase(table, serial);
    }
}
