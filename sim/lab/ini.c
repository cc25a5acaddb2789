/* ini.c - see ini.h.
 *
 * Invariants: libinih calls the handler inside the library's loop, after our reader gave it the line and before it asks
 * for the next one; so `line` is always the number of the line that the handler is called for, and a line that should
 * have brought a call and did not is known for wrong when the next one is asked for. A line that is wrong in itself is
 * handed on as an empty one. */
#include "sim/lab/ini.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

struct reader {
    FILE *stream;
    struct ini *ini;
    struct mistakes *mistakes;
    size_t source, line;
    bool ended;        /* nothing more is read: end of file, or not a text at all */
    bool continues;    /* the line is indented below a key: it goes on with that key's value */
    bool has_key;      /* a key was met since the last section header */
    bool expects_call; /* the line must bring a call of the handler */
    bool drops;        /* the key was refused; so are the lines that go on with it */
    size_t column;     /* of the line's value */
};

static struct place here(const struct reader *reader) {
    return (struct place){.source = reader->source, .line = reader->line};
}

/* Reads a line of any length; keeps at most `room` bytes without the line feed. Returns its true length, or -1 at the
 * end of the file. */
static long read_raw_line(FILE *stream, char *line, size_t room) {
    long length = 0;
    int byte = getc(stream);
    if (byte == EOF) {
        return -1;
    }
    for (; byte != EOF && byte != '\n'; byte = getc(stream)) {
        if ((size_t)length < room) {
            line[length] = (char)byte;
        }
        length++;
    }
    return length;
}

static bool is_text_byte(unsigned char byte) { return byte == '\t' || byte == '\r' || (byte >= 0x20 && byte != 0x7f); }

/* How many bytes of UTF-8 start with `lead`; 0: none do. */
static size_t utf8_length(unsigned char lead) {
    return lead < 0x80                   ? 1
           : lead >= 0xc2 && lead < 0xe0 ? 2
           : (lead & 0xf0) == 0xe0       ? 3
           : lead >= 0xf0 && lead < 0xf5 ? 4
                                         : 0;
}

/* The first byte that no text has, or -1. A character cut at the end (`cut`) is given the benefit of the doubt. */
static int binary_byte(const char *line, size_t length, bool cut) {
    for (size_t i = 0; i < length;) {
        unsigned char lead = (unsigned char)line[i];
        size_t bytes = utf8_length(lead);
        if (!is_text_byte(lead) || bytes == 0) {
            return lead;
        }
        for (size_t k = 1; k < bytes; k++) {
            if (i + k == length && cut) {
                return -1;
            }
            if (i + k >= length || ((unsigned char)line[i + k] & 0xc0) != 0x80) {
                return lead;
            }
        }
        i += bytes;
    }
    return -1;
}

static bool is_blank(char c) { return isspace((unsigned char)c) != 0; }

/* Ends the text where a comment starts: at a `;` after a blank. */
static void cut_comment(char *text) {
    for (char *at = text; *at != '\0'; at++) {
        if (*at == ';' && at > text && is_blank(at[-1])) {
            *at = '\0';
            return;
        }
    }
}

/* `word =`, as in a key that was indented by habit. */
static bool looks_like_key(const char *text) {
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    const char *behind = text + length;
    while (is_blank(*behind)) {
        behind++;
    }
    return length > 0 && *behind == '=';
}

/* Is a bracket of the value above still open? Then what follows is in it, and no key. */
static bool is_in_bracket(const struct reader *reader) {
    const struct ini *ini = reader->ini;
    int depth = 0;
    if (reader->drops || ini->entries.count == 0) {
        return false;
    }
    for (const char *at = ini->entries.items[ini->entries.count - 1].value; *at != '\0'; at++) {
        depth += *at == '(';
        depth -= *at == ')';
    }
    return depth > 0;
}

/* Opens the section; what stands under a header that is wrong belongs to a section without a name. */
static bool open_section(struct reader *reader, const char *name, const char *mistake) {
    if (mistake != NULL) {
        mistakes_add(reader->mistakes, here(reader), "%s", mistake);
    }
    vector_push(&reader->ini->sections, ((struct ini_section){.name = mem_string(name), .line = reader->line}));
    reader->has_key = reader->drops = false;
    return mistake == NULL;
}

/* Takes the header that starts at `text`. */
static bool take_section(struct reader *reader, const char *text) {
    char header[INI_LINE_BYTES + 2];
    snprintf(header, sizeof header, "%.*s", (int)sizeof header - 1, text);
    cut_comment(header);
    char *end = strchr(header, ']');
    if (end == NULL) {
        return open_section(reader, "", "the section header has no `]`");
    }
    *end = '\0';
    char *name = text_trim(header + 1);
    if (text_trim(end + 1)[0] != '\0') {
        return open_section(reader, "", "there is something behind the `]` of the section header");
    }
    if (name[0] == '\0' || strlen(name) > INI_NAME_BYTES) {
        return open_section(reader, "", "the name of a section has 1 to 49 bytes");
    }
    return open_section(reader, name, NULL);
}

/* A line that goes on with the value of the key above. */
static bool take_continuation(struct reader *reader, const char *text) {
    if (*text == '[') {
        mistakes_add(reader->mistakes, here(reader), "a section header must stand at the beginning of its line");
        return false;
    }
    if (!is_in_bracket(reader) && looks_like_key(text)) {
        mistakes_add(reader->mistakes, here(reader),
                     "an indented line goes on with the value above; a key must stand at the beginning of its line");
        return false;
    }
    reader->continues = true;
    return true;
}

/* Where the value behind the `=` (or `:`, for the library) begins. */
static size_t column_of_value(const char *line) {
    size_t at = strcspn(line, "=:");
    at += line[at] != '\0';
    return at + strspn(line + at, " \t") + 1;
}

/* Decides what the line is; false: it is wrong, and reported. */
static bool take_line(struct reader *reader, const char *line) {
    const char *text = line;
    while (is_blank(*text)) {
        text++;
    }
    reader->continues = reader->expects_call = false;
    if (*text == '\0' || *text == '#' || *text == ';') {
        return true;
    }
    if (text > line && reader->has_key) {
        reader->expects_call = true;
        reader->column = (size_t)(text - line) + 1;
        return take_continuation(reader, text);
    }
    if (*text == '[') {
        return take_section(reader, text);
    }
    reader->expects_call = true;
    reader->column = column_of_value(line);
    return true;
}

/* Reports the last line if the library found no `key = value` in it. */
static void settle(struct reader *reader) {
    if (reader->expects_call) {
        mistakes_add(reader->mistakes, here(reader), "the line has no `=`: expected `key = value` or `[section]`");
    }
    reader->expects_call = false;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
enum { MARK_BYTES = sizeof BYTE_ORDER_MARK - 1, LINE_ROOM = INI_LINE_BYTES + 1 + MARK_BYTES };

/* The line without a byte order mark, at most LINE_ROOM bytes of it; its true length, or -1: the file ends here. */
static long next_line(struct reader *reader, char line[LINE_ROOM + 1]) {
    long length = reader->ended ? -1 : read_raw_line(reader->stream, line, LINE_ROOM);
    if (length < 0) {
        reader->ended = true;
        return -1;
    }
    reader->line++;
    if (reader->line == 1 && length >= MARK_BYTES && memcmp(line, BYTE_ORDER_MARK, MARK_BYTES) == 0) {
        length -= MARK_BYTES;
        memmove(line, line + MARK_BYTES, LINE_ROOM - MARK_BYTES);
    }
    return length;
}

/* libinih's reader: a line with its line feed, like fgets. */
static char *read_line(char *buffer, int size, void *user) {
    struct reader *reader = user;
    char line[LINE_ROOM + 1] = {0};
    settle(reader);
    long length = next_line(reader, line);
    if (length < 0) {
        return NULL;
    }
    bool is_long = length > INI_LINE_BYTES;
    size_t kept = is_long ? INI_LINE_BYTES : (size_t)length;
    int binary = binary_byte(line, kept, is_long);
    bool is_endless = reader->line > INI_LINES_MAX;
    if (binary >= 0 || is_endless) {
        if (is_endless) {
            mistakes_add(reader->mistakes, here(reader), "a config has at most %d lines", INI_LINES_MAX);
        } else {
            mistakes_add(reader->mistakes, here(reader), "this is no text: the line has the byte 0x%02x", binary);
        }
        reader->ended = true;
        return NULL;
    }
    line[kept] = '\0';
    bool usable = !is_long && take_line(reader, line);
    if (is_long) {
        mistakes_add(reader->mistakes, here(reader),
                     "the line has %ld bytes, at most %d are read; a long value goes on in indented lines", length,
                     INI_LINE_BYTES);
    }
    if (!usable) {
        reader->expects_call = reader->continues = false;
    }
    CHECK((size_t)size > kept + 1);
    snprintf(buffer, (size_t)size, "%s\n", usable ? line : "");
    return buffer;
}

static const struct ini_entry *find_entry(const struct ini *ini, const char *section, const char *key) {
    for (size_t i = 0; i < ini->entries.count; i++) {
        const struct ini_entry *entry = &ini->entries.items[i];
        if (strcmp(entry->key, key) == 0 && strcmp(ini->sections.items[entry->section].name, section) == 0) {
            return entry;
        }
    }
    return NULL;
}

/* Is the key one to keep? If not, says why. */
static bool admit_key(struct reader *reader, const char *key) {
    struct ini *ini = reader->ini;
    if (key[0] == '\0') {
        mistakes_add(reader->mistakes, here(reader), "there is no key before the `=`");
        return false;
    }
    if (strlen(key) > INI_NAME_BYTES) {
        mistakes_add(reader->mistakes, here(reader), "a key has at most %d bytes", INI_NAME_BYTES);
        return false;
    }
    if (ini->sections.count == 0) {
        mistakes_add(reader->mistakes, here(reader), "`%s` stands before any [section]", key);
        return false;
    }
    const char *section = ini->sections.items[ini->sections.count - 1].name;
    const struct ini_entry *first = find_entry(ini, section, key);
    if (first != NULL) {
        mistakes_add(reader->mistakes, here(reader), "`%s` is given twice in [%s], first in line %zu", key, section,
                     first->line);
        return false;
    }
    return true;
}

static void extend(struct reader *reader, const char *more) {
    struct ini_entry *entry = &reader->ini->entries.items[reader->ini->entries.count - 1];
    char *text = mem_string(more);
    struct ini_piece piece = {strlen(entry->value) + (entry->value[0] != '\0'), reader->line, reader->column};
    vector_push(&entry->pieces, piece);
    cut_comment(text);
    struct text joined = {0};
    text_add(&joined, "%s%s%s", entry->value, entry->value[0] != '\0' ? " " : "", text_trim(text));
    mem_free(entry->value);
    entry->value = mem_string(text_string(&joined));
    text_free(&joined);
    mem_free(text);
}

/* libinih's handler; the section is ours, for the library cuts long names. */
static int take_entry(void *user, const char *section, const char *key, const char *value) {
    (void)section;
    struct reader *reader = user;
    struct ini *ini = reader->ini;
    reader->expects_call = false;
    if (reader->continues) {
        if (!reader->drops) {
            extend(reader, value);
        }
        return 1;
    }
    reader->has_key = true;
    reader->drops = !admit_key(reader, key);
    if (!reader->drops) {
        struct ini_entry entry = {.section = ini->sections.count - 1,
                                  .key = mem_string(key),
                                  .value = mem_string(value),
                                  .line = reader->line};
        vector_push(&entry.pieces, ((struct ini_piece){0, reader->line, reader->column}));
        vector_push(&ini->entries, entry);
    }
    return 1;
}

void ini_read_stream(struct ini *ini, FILE *stream, size_t source, struct mistakes *mistakes) {
    struct reader reader = {.stream = stream, .ini = ini, .mistakes = mistakes, .source = source};
    ini_parse_stream(read_line, &reader, take_entry, &reader);
    settle(&reader);
    if (ferror(stream)) {
        mistakes_add(mistakes, (struct place){.source = source}, "cannot be read: %s", strerror(errno));
    }
}

void ini_read(struct ini *ini, const char *path, size_t source, struct mistakes *mistakes) {
    if (strcmp(path, "-") == 0) {
        ini_read_stream(ini, stdin, source, mistakes);
        return;
    }
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        mistakes_add(mistakes, (struct place){.source = source}, "cannot be opened: %s", strerror(errno));
        return;
    }
    ini_read_stream(ini, stream, source, mistakes);
    fclose(stream);
}

void ini_read_text(struct ini *ini, const char *text, size_t source, struct mistakes *mistakes) {
    char *copy = mem_string(text);
    FILE *stream = fmemopen(copy, strlen(copy), "r");
    CHECK(stream != NULL);
    ini_read_stream(ini, stream, source, mistakes);
    fclose(stream);
    mem_free(copy);
}

void ini_free(struct ini *ini) {
    for (size_t i = 0; i < ini->sections.count; i++) {
        mem_free(ini->sections.items[i].name);
    }
    for (size_t i = 0; i < ini->entries.count; i++) {
        mem_free(ini->entries.items[i].key);
        mem_free(ini->entries.items[i].value);
        vector_free(&ini->entries.items[i].pieces);
    }
    vector_free(&ini->sections);
    vector_free(&ini->entries);
}
