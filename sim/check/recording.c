/* recording.c - writes what is reported to the certifier as a history file, one event a line; the form is described in
 * docs/HISTORY.md. */
#include "sim/check/recording.h"

#include <inttypes.h>
#include <stdarg.h>

#include "sim/check/certifier_parts.h"

void recording_start(struct certifier *certifier) {
    fprintf(certifier->record, "%s\nlevel %s\n", recording_magic, certifier_level_names[certifier->promise]);
    if (certifier->excuses_aborted) {
        fputs("excused\n", certifier->record);
    }
    for (size_t i = 0; i < certifier->tables.count; i++) {
        recording_table(certifier, (int)i);
    }
    certifier->recorded_ns = 0;
}

void recording_table(struct certifier *certifier, int table) {
    if (certifier->tables.items[table] != NULL) {
        fprintf(certifier->record, "table %d %s\n", table, certifier->tables.items[table]);
    }
}

static void add_time(struct certifier *certifier) {
    if (*certifier->now_ns != certifier->recorded_ns) {
        certifier->recorded_ns = *certifier->now_ns;
        fprintf(certifier->record, "t %" PRId64 "\n", certifier->recorded_ns);
    }
}

void recording_line(struct certifier *certifier, const char *format, ...) {
    add_time(certifier);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(certifier->record, format, arguments);
    va_end(arguments);
    fputc('\n', certifier->record);
}

void recording_read(struct certifier *certifier, const struct node *txn, uint32_t statement,
                    const struct certifier_read *read) {
    add_time(certifier);
    fprintf(certifier->record, "%c %" PRIu64 " %" PRIu32 " %u %" PRId64 " %" PRIu64 " %" PRIu32 "%s%s%s",
            recording_sights[read->sight], txn->id, statement, (unsigned)read->table, read->key, read->writer,
            read->number, read->dirty ? " dirty" : "", read->dead ? " dead" : "", read->kept ? " kept" : "");
    if (read->anew) {
        fprintf(certifier->record, " anew %" PRIu64, read->under);
    }
    fputc('\n', certifier->record);
}

void recording_scan(struct certifier *certifier, const struct node *txn, uint32_t statement,
                    const struct certifier_scan *scan) {
    const struct condition *condition = &scan->condition;
    recording_line(certifier, "q %" PRIu64 " %" PRIu32 " %u %" PRId64 " %" PRId64 " %s %s %" PRId64 " %" PRId64, txn->id,
                   statement, (unsigned)scan->table, scan->first, scan->last, condition->of_id ? "id" : "v",
                   recording_operators[condition->operator], condition->modulus, condition->constant);
}

static void add_image(FILE *file, int64_t value, bool absent) {
    if (absent) {
        fputs(" -", file);
    } else {
        fprintf(file, " %" PRId64, value);
    }
}

void recording_install(struct certifier *certifier, const struct node *txn, const struct certifier_install *install) {
    add_time(certifier);
    fprintf(certifier->record, "i %" PRIu64 " %u %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu32, txn->id,
            (unsigned)install->table, install->key, install->behind, install->under, install->number);
    add_image(certifier->record, install->before, install->before_absent);
    add_image(certifier->record, install->after, install->after_absent);
    fputc('\n', certifier->record);
}
