/* journal.c - see the header. A line is `CHECKSUM header BUILD PLAN K/N NAME COMMAND CONFIG` or `CHECKSUM run KEY OUTCOME`:
 * numbers in 16 hexadecimal digits, one blank between fields, and in the last fields blanks, newlines and backslashes
 * escaped. */
#include "sim/lab/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/lab/outfile.h"

enum { DIGITS = 16, FILE_MODE = 0666 };

static uint64_t digest_of(const char *bytes, size_t count) {
    uint64_t digest = count;
    for (; count >= sizeof(uint64_t); bytes += sizeof(uint64_t), count -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        digest = digest_add(digest, word);
    }
    for (size_t i = 0; i < count; i++) {
        digest = digest_add(digest, (unsigned char)bytes[i]);
    }
    return digest;
}

static bool explain(const char *path, struct text *error) {
    text_add(error, "%s: %s", path, strerror(errno));
    return false;
}

static bool map_descriptor(struct journal *journal, int descriptor, struct text *error) {
    struct stat facts;
    if (fstat(descriptor, &facts) != 0) {
        return explain(journal->path, error);
    }
    journal->length = (size_t)facts.st_size;
    void *content = journal->length > 0 ? mmap(NULL, journal->length, PROT_READ, MAP_PRIVATE, descriptor, 0) : NULL;
    journal->content = content != MAP_FAILED ? content : NULL;
    return content != MAP_FAILED || explain(journal->path, error);
}

/* A file that is not there is an empty one. */
static bool map_file(struct journal *journal, const char *path, struct text *error) {
    *journal = (struct journal){.path = mem_string(path), .descriptor = -1};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return errno == ENOENT || explain(path, error);
    }
    bool good = map_descriptor(journal, descriptor, error);
    close(descriptor);
    return good;
}

void journal_name(struct shard shard, struct text *out) {
    if (shard.count == 0) {
        text_add(out, ".runs.part");
    } else {
        text_add(out, "runs-%" PRIu32 "-of-%" PRIu32 ".part", shard.number, shard.count);
    }
}

uint64_t journal_build(void) {
    static uint64_t build; /* the program does not change while it runs */
    struct journal program;
    struct text error = {0};
    if (build == 0) {
        build = map_file(&program, "/proc/self/exe", &error) ? digest_of(program.content, program.length) | 1 : 1;
        journal_close(&program);
    }
    text_free(&error);
    return build;
}

/* --- lines --- */

static void add_escaped(struct text *line, const char *bytes, size_t count) {
    size_t plain = 0;
    for (size_t i = 0; i <= count; i++) {
        const char *code = i == count         ? ""
                           : bytes[i] == '\n' ? "\\n"
                           : bytes[i] == ' '  ? "\\_"
                           : bytes[i] == '\\' ? "\\\\"
                                              : NULL;
        if (code != NULL) {
            text_add_bytes(line, bytes + plain, i - plain);
            text_add_bytes(line, code, strlen(code));
            plain = i + 1;
        }
    }
}

static void add_unescaped(struct text *out, const char *bytes, size_t count) {
    size_t plain = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        if (bytes[i] == '\\') {
            const char *meant = bytes[i + 1] == 'n' ? "\n" : bytes[i + 1] == '_' ? " " : "\\";
            text_add_bytes(out, bytes + plain, i - plain);
            text_add_bytes(out, meant, 1);
            plain = ++i + 1;
        }
    }
    text_add_bytes(out, bytes + plain, count - plain);
}

/* The line with its checksum and its end, by one call. */
static bool write_line(int descriptor, const struct text *fields) {
    struct text line = {0};
    text_add(&line, "%016" PRIx64 " ", digest_of(fields->bytes, fields->length));
    text_add_bytes(&line, fields->bytes, fields->length);
    text_add(&line, "\n");
    size_t done = 0;
    while (done < line.length) {
        ssize_t count = write(descriptor, line.bytes + done, line.length - done);
        if (count < 0 && errno != EINTR) {
            break;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    bool good = done == line.length;
    int failure = errno;
    text_free(&line);
    errno = failure;
    return good;
}

/* A part of a line that is still to be read. */
struct rest {
    const char *at, *end;
};

/* The next field, up to a blank or the end. */
static struct rest field(struct rest *rest) {
    const char *blank = memchr(rest->at, ' ', (size_t)(rest->end - rest->at));
    struct rest found = {rest->at, blank != NULL ? blank : rest->end};
    rest->at = blank != NULL ? blank + 1 : rest->end;
    return found;
}

static bool is_word(struct rest found, const char *word) {
    size_t length = (size_t)(found.end - found.at);
    return length == strlen(word) && memcmp(found.at, word, length) == 0;
}

static bool hexadecimal(struct rest digits, uint64_t *value) {
    *value = 0;
    for (const char *at = digits.at; at < digits.end; at++) {
        int digit = *at >= '0' && *at <= '9' ? *at - '0' : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;
        if (digit < 0) {
            return false;
        }
        *value = *value << 4 | (uint64_t)digit;
    }
    return digits.end - digits.at == DIGITS;
}

static bool shard_read(struct rest found, struct shard *shard) {
    char words[32] = {0};
    size_t length = (size_t)(found.end - found.at);
    memcpy(words, found.at, length < sizeof words ? length : sizeof words - 1);
    return sscanf(words, "%" SCNu32 "/%" SCNu32, &shard->number, &shard->count) == 2;
}

static void take_words(struct rest found, struct text *out) {
    text_clear(out);
    add_unescaped(out, found.at, (size_t)(found.end - found.at));
}

/* What another build has computed counts no more. */
static void take_header(struct journal *journal, struct rest rest) {
    struct journal_header header = {0};
    bool good = hexadecimal(field(&rest), &header.build) && hexadecimal(field(&rest), &header.plan) &&
                shard_read(field(&rest), &header.shard);
    struct rest name = field(&rest), command = field(&rest), config = field(&rest);
    if (!good) {
        return;
    }
    take_words(name, &journal->name);
    take_words(command, &journal->command);
    take_words(config, &journal->config);
    header.name = text_string(&journal->name);
    header.command = text_string(&journal->command);
    header.config = text_string(&journal->config);
    journal->runs.count = header.build == journal->header.build ? journal->runs.count : 0;
    journal->header = header;
}

static void take_line(struct journal *journal, const char *line, const char *end) {
    struct rest rest = {line, end};
    uint64_t checksum, key;
    if (!hexadecimal(field(&rest), &checksum) || checksum != digest_of(rest.at, (size_t)(rest.end - rest.at))) {
        return;
    }
    struct rest kind = field(&rest);
    if (is_word(kind, "header")) {
        take_header(journal, rest);
    } else if (is_word(kind, "run") && hexadecimal(field(&rest), &key)) {
        struct journal_run run = {key, (size_t)(rest.at - journal->content), (size_t)(rest.end - rest.at)};
        vector_push(&journal->runs, run);
    }
}

static int by_key(const void *left, const void *right) {
    const struct journal_run *a = left, *b = right;
    return a->key != b->key ? (a->key < b->key ? -1 : 1) : (a->offset > b->offset) - (a->offset < b->offset);
}

static void order_runs(struct journal *journal) {
    if (journal->runs.count == 0) {
        return;
    }
    qsort(journal->runs.items, journal->runs.count, sizeof *journal->runs.items, by_key);
    size_t kept = 1;
    for (size_t i = 1; i < journal->runs.count; i++) {
        if (journal->runs.items[i].key != journal->runs.items[kept - 1].key) {
            journal->runs.items[kept++] = journal->runs.items[i];
        }
    }
    journal->runs.count = kept;
}

/* Returns the length up to the end of the last whole line. */
static size_t take_lines(struct journal *journal) {
    size_t whole = 0;
    const char *end;
    while (whole < journal->length && (end = memchr(journal->content + whole, '\n', journal->length - whole)) != NULL) {
        take_line(journal, journal->content + whole, end);
        whole = (size_t)(end + 1 - journal->content);
    }
    order_runs(journal);
    return whole;
}

bool journal_read(struct journal *journal, const char *path, struct text *error) {
    bool good = map_file(journal, path, error);
    if (good) {
        take_lines(journal);
    }
    return good;
}

static bool is_part(const char *name) {
    static const char ending[] = ".part";
    size_t length = strlen(name);
    return length >= sizeof ending && strcmp(name + length - (sizeof ending - 1), ending) == 0;
}

static bool add_journal(const char *folder, const char *name, struct journals *journals, struct text *error) {
    struct text path = {0};
    struct journal journal;
    text_add(&path, "%s/%s", folder, name);
    bool good = journal_read(&journal, text_string(&path), error);
    text_free(&path);
    vector_push(journals, journal);
    return good;
}

static int by_name(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right); /* whatever the locale */
}

struct names {
    char **items;
    size_t count, capacity;
};

static bool list_parts(const char *folder, const char *except, struct names *names, struct text *error) {
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        return explain(folder, error);
    }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (is_part(entry->d_name) && (except == NULL || strcmp(entry->d_name, except) != 0)) {
            vector_push(names, mem_string(entry->d_name));
        }
    }
    closedir(directory);
    if (names->count > 0) {
        qsort(names->items, names->count, sizeof *names->items, by_name);
    }
    return true;
}

bool journal_read_folder(const char *folder, const char *except, struct journals *journals, struct text *error) {
    struct names names = {0};
    bool good = list_parts(folder, except, &names, error);
    for (size_t i = 0; i < names.count; i++) {
        good = good && add_journal(folder, names.items[i], journals, error);
        mem_free(names.items[i]);
    }
    vector_free(&names);
    return good;
}

static bool write_header(struct journal *journal, const struct journal_header *header) {
    struct text line = {0};
    text_add(&line, "header %016" PRIx64 " %016" PRIx64 " %" PRIu32 "/%" PRIu32 " ", header->build, header->plan,
             header->shard.number, header->shard.count);
    const char *const words[] = {header->name, header->command, header->config};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        text_add(&line, "%s", i > 0 ? " " : "");
        add_escaped(&line, words[i], strlen(words[i]));
    }
    bool good = write_line(journal->descriptor, &line);
    text_free(&line);
    return good;
}

bool journal_open(struct journal *journal, const char *path, const struct journal_header *header, bool fresh,
                  struct text *error) {
    *journal = (struct journal){.path = mem_string(path), .descriptor = -1};
    journal->descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, FILE_MODE);
    if (journal->descriptor < 0) {
        return explain(path, error);
    }
    if (!outfile_lock(journal->descriptor)) {
        text_add(error, "%s: another ccsim is writing there", path);
        return false;
    }
    if (!map_descriptor(journal, journal->descriptor, error)) {
        return false;
    }
    size_t whole = take_lines(journal);
    if (fresh || journal->header.build != header->build) {
        journal->runs.count = whole = 0;
        journal->header = (struct journal_header){0};
    }
    const struct journal_header *last = &journal->header;
    bool same = last->command != NULL && last->build == header->build && last->plan == header->plan &&
                last->shard.number == header->shard.number && last->shard.count == header->shard.count &&
                strcmp(last->command, header->command) == 0;
    if (ftruncate(journal->descriptor, (off_t)whole) != 0 || (!same && !write_header(journal, header))) {
        return explain(path, error);
    }
    return true;
}

bool journal_find(const struct journal *journal, uint64_t key, struct text *outcome) {
    size_t low = 0, high = journal->runs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (journal->runs.items[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    text_clear(outcome);
    if (low == journal->runs.count || journal->runs.items[low].key != key) {
        return false;
    }
    add_unescaped(outcome, journal->content + journal->runs.items[low].offset, journal->runs.items[low].length);
    return true;
}

bool journal_add(struct journal *journal, uint64_t key, const char *outcome, size_t length) {
    CHECK(journal->descriptor >= 0);
    struct text line = {0};
    text_add(&line, "run %016" PRIx64 " ", key);
    add_escaped(&line, outcome, length);
    bool good = write_line(journal->descriptor, &line);
    int failure = errno;
    text_free(&line);
    errno = failure;
    return good;
}

void journal_discard(struct journal *journal) {
    if (journal->descriptor >= 0 && journal->runs.count == 0) {
        unlink(journal->path);
    }
}

void journal_close(struct journal *journal) {
    if (journal->descriptor >= 0) {
        close(journal->descriptor);
    }
    if (journal->content != NULL) {
        munmap((void *)(uintptr_t)journal->content, journal->length);
    }
    text_free(&journal->name);
    text_free(&journal->command);
    text_free(&journal->config);
    vector_free(&journal->runs);
    mem_free(journal->path);
    *journal = (struct journal){.descriptor = -1};
}
