/* test_ini.c - config files as sections and entries, and what libinih would pass over in silence. */
#include "sim/lab/ini.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"
#include "tests/support/harness.h"

/* What came of `bytes`: entries as `LINE [section] key=value`, then mistakes as `!LINE sentence`, a line each. */
static const char *read_bytes(const char *bytes, size_t length) {
    static struct text out;
    static const char *const names[] = {"!"};
    struct ini ini = {0};
    struct mistakes mistakes = {0};
    FILE *stream = length > 0 ? fmemopen((void *)(uintptr_t)bytes, length, "r") : tmpfile();
    assert_non_null(stream);
    ini_read_stream(&ini, stream, 0, &mistakes);
    fclose(stream);
    text_clear(&out);
    for (size_t i = 0; i < ini.entries.count; i++) {
        const struct ini_entry *entry = &ini.entries.items[i];
        text_add(&out, "%zu [%s] %s=%s\n", entry->line, ini.sections.items[entry->section].name, entry->key,
                 entry->value);
    }
    mistakes_print(&mistakes, names, &out);
    ini_free(&ini);
    mistakes_free(&mistakes);
    return text_string(&out);
}

static const char *read_text(const char *text) { return read_bytes(text, strlen(text)); }

static void entries_have_their_lines(void **state) {
    (void)state;
    assert_string_equal(read_text("# a comment\n[a]\n\nx = 1\n; another\ny=2 3\r\n[b b]\n  z = 4\n[a]\nw : 5"),
                        "4 [a] x=1\n6 [a] y=2 3\n8 [b b] z=4\n10 [a] w=5\n");
    assert_string_equal(read_text(""), "");
    assert_string_equal(read_text("\n\n"), "");
    assert_string_equal(read_text("\xef\xbb\xbf[a]\nx = 1\n"), "2 [a] x=1\n");
}

static void comments_begin_behind_a_blank(void **state) {
    (void)state;
    assert_string_equal(read_text("[a] ; b\nx = 1;2 ; three\ny = a # b\nz = ; nothing\n"),
                        "2 [a] x=1;2\n3 [a] y=a # b\n4 [a] z=\n");
}

static void indented_lines_go_on(void **state) {
    (void)state;
    assert_string_equal(read_text("[a]\nx = 1 ; one\n  2 3 ; two\n\n# not this\n\t; nor this\n  4\ny = 5\n"),
                        "2 [a] x=1 2 3 4\n8 [a] y=5\n");
    assert_string_equal(read_text("[a]\nx =\n  w(account a, -=10)\n  r(b)\n"), "2 [a] x=w(account a, -=10) r(b)\n");
    assert_string_equal(read_text("[a]\nx = w(a,\n  if=3)\n"), "2 [a] x=w(a, if=3)\n");
    assert_string_equal(
        read_text("[a]\n  x = 1\n  y = 2\n"),
        "2 [a] x=1\n!:3: an indented line goes on with the value above; a key must stand at the beginning of "
        "its line\n");
    assert_string_equal(read_text("[a]\nx = 1\n [b]\n"),
                        "2 [a] x=1\n!:3: a section header must stand at the beginning of its line\n");
}

/* Where the bytes of a value come from: LINE:COLUMN@OFFSET. */
static void values_know_their_columns(void **state) {
    (void)state;
    static const char text[] = "[a]\nx = 1 2 ; two\n    3\n\t4\ny=5\nz =\n  6\n";
    struct ini ini = {0};
    struct mistakes mistakes = {0};
    struct text out = {0};
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    ini_read_stream(&ini, stream, 0, &mistakes);
    fclose(stream);
    for (size_t i = 0; i < ini.entries.count; i++) {
        const struct ini_pieces *pieces = &ini.entries.items[i].pieces;
        for (size_t k = 0; k < pieces->count; k++) {
            text_add(&out, "%zu:%zu@%zu ", pieces->items[k].line, pieces->items[k].column, pieces->items[k].offset);
        }
    }
    assert_string_equal(text_string(&out), "2:5@0 3:5@4 4:2@6 5:3@0 6:4@0 7:3@0 ");
    text_free(&out);
    ini_free(&ini);
    mistakes_free(&mistakes);
}

static void repeated_keys_are_found(void **state) {
    (void)state;
    assert_string_equal(read_text("[a]\nx = 1\n[b]\nx = 2\n[a]\nx = 3\n  4\ny = 5\n"),
                        "2 [a] x=1\n4 [b] x=2\n8 [a] y=5\n!:6: `x` is given twice in [a], first in line 2\n");
}

static void lines_that_say_nothing_are_found(void **state) {
    (void)state;
    assert_string_equal(read_text("x = 1\n[a]\nnothing\ny\n"),
                        "!:1: `x` stands before any [section]\n"
                        "!:3: the line has no `=`: expected `key = value` or `[section]`\n"
                        "!:4: the line has no `=`: expected `key = value` or `[section]`\n");
    assert_string_equal(read_text("[a]\nx = 1\n[b\ny = 2\n[c] d\n[ ]\n[a ;b]\n"),
                        "2 [a] x=1\n4 [] y=2\n!:3: the section header has no `]`\n"
                        "!:5: there is something behind the `]` of the section header\n"
                        "!:6: the name of a section has 1 to 49 bytes\n"
                        "!:7: the section header has no `]`\n");
}

/* `count` times the byte, behind `start`. */
static char *long_line(const char *start, size_t count, const char *end) {
    struct text text = {0};
    text_add(&text, "%s", start);
    for (size_t i = 0; i < count; i++) {
        text_add(&text, "v");
    }
    text_add(&text, "%s", end);
    return text.bytes;
}

static void long_lines_are_taken_whole_or_refused(void **state) {
    (void)state;
    char *whole = long_line("[a]\nx = ", INI_LINE_BYTES - 4, "\ny = 1\n");
    char *expected = long_line("2 [a] x=", INI_LINE_BYTES - 4, "\n3 [a] y=1\n");
    assert_string_equal(read_text(whole), expected);
    char *over = long_line("[a]\nx = ", INI_LINE_BYTES - 3, "\ny = 1\n");
    assert_string_equal(read_text(over),
                        "3 [a] y=1\n!:2: the line has 199 bytes, at most 198 are read; a long value goes on "
                        "in indented lines\n");
    char *far = long_line("[a]\nx = ", 100000, "");
    assert_contains(read_text(far), "!:2: the line has 100004 bytes");
    char *key = long_line("[a]\n", INI_NAME_BYTES + 1, " = 1\ny = 2\n");
    assert_string_equal(read_text(key), "3 [a] y=2\n!:2: a key has at most 49 bytes\n");
    char *name = long_line("[", INI_NAME_BYTES + 1, "]\ny = 2\n");
    assert_string_equal(read_text(name), "2 [] y=2\n!:1: the name of a section has 1 to 49 bytes\n");
    char *const blocks[] = {whole, expected, over, far, key, name};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        mem_free(blocks[i]);
    }
}

static void what_is_no_text_is_found(void **state) {
    (void)state;
    assert_string_equal(read_bytes("[a]\nx = 1\0 2\ny = 3\n", 19),
                        "!:2: this is no text: the line has the byte 0x00\n");
    assert_string_equal(read_text("[a]\nx = \x1b[31m\n"), "!:2: this is no text: the line has the byte 0x1b\n");
    assert_string_equal(read_text("[a]\nx = \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n"),
                        "2 [a] x=\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n");
    assert_string_equal(read_text("[a]\nx = \xc3\n"), "!:2: this is no text: the line has the byte 0xc3\n");
    assert_string_equal(read_text("[a]\nx = \xff\xfe\n"), "!:2: this is no text: the line has the byte 0xff\n");
}

static void files_that_cannot_be_read(void **state) {
    (void)state;
    static const char *const names[] = {"file"};
    struct ini ini = {0};
    struct mistakes mistakes = {0};
    struct text out = {0};
    ini_read(&ini, "/nowhere/at/all.ini", 0, &mistakes);
    ini_read(&ini, "/", 0, &mistakes);
    mistakes_print(&mistakes, names, &out);
    assert_string_equal(text_string(&out), "file: cannot be opened: No such file or directory\n"
                                           "file: cannot be read: Is a directory\n");
    ini_free(&ini);
    mistakes_free(&mistakes);
    text_free(&out);
}

static void mistakes_are_sorted(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "--set x", "--set y"};
    static const struct place places[] = {{2, 0, 0}, {1, 0, 0}, {1, 7, 5}, {0, 0, 0},
                                          {0, 9, 0}, {0, 3, 0}, {1, 7, 2}, {3, 0, 4}};
    struct mistakes mistakes = {0};
    struct text out = {0};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        mistakes_add(&mistakes, places[i], "%zu", i);
    }
    mistakes_print(&mistakes, names, &out);
    assert_string_equal(text_string(&out),
                        "a:3: 5\na:9: 4\na: 3\nb:7:2: 6\nb:7:5: 2\nb: 1\n--set x: 0\n--set y: byte 4: 7\n");
    mistakes_free(&mistakes);
    text_free(&out);
}

TEST_GROUP(ini, cmocka_unit_test(entries_have_their_lines), cmocka_unit_test(comments_begin_behind_a_blank),
           cmocka_unit_test(indented_lines_go_on), cmocka_unit_test(values_know_their_columns),
           cmocka_unit_test(repeated_keys_are_found), cmocka_unit_test(lines_that_say_nothing_are_found),
           cmocka_unit_test(long_lines_are_taken_whole_or_refused), cmocka_unit_test(what_is_no_text_is_found),
           cmocka_unit_test(files_that_cannot_be_read), cmocka_unit_test(mistakes_are_sorted))
