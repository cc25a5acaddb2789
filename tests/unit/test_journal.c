/* test_journal.c - finished runs on disk: found again byte for byte, whatever was torn, spoilt or of another build. */
#include "sim/lab/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/harness.h"

static char folder[64], path[80];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/ccsim-journal-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/runs.part", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static const struct journal_header ours = {.build = 7,
                                           .plan = 9,
                                           .shard = {2, 3},
                                           .name = "a b",
                                           .command = "ccsim run a\\b.ini --set 'x=1 2'",
                                           .config = "[experiment]\nseed = 1\n"};

static void open_journal(struct journal *journal, const struct journal_header *header, bool fresh) {
    struct text error = {0};
    bool good = journal_open(journal, path, header, fresh, &error);
    assert_string_equal(text_string(&error), "");
    assert_true(good);
    text_free(&error);
}

static void assert_holds(const struct journal *journal, uint64_t key, const char *expected) {
    struct text outcome = {0};
    bool found = journal_find(journal, key, &outcome);
    assert_int_equal(found, expected != NULL);
    if (found) {
        assert_string_equal(text_string(&outcome), expected);
    }
    text_free(&outcome);
}

static void add(struct journal *journal, uint64_t key, const char *outcome) {
    assert_true(journal_add(journal, key, outcome, strlen(outcome)));
}

static const char awkward[] = "a b  c\\n\\_d\\\\\ne\n\n\"f\" \\";

static void what_was_added_is_found_by_the_next(void **state) {
    (void)state;
    struct journal journal;
    open_journal(&journal, &ours, false);
    assert_int_equal(journal.runs.count, 0);
    add(&journal, 30, awkward);
    add(&journal, 10, "");
    add(&journal, UINT64_MAX, "last");
    add(&journal, 10, "a second of the same key is not looked at");
    journal_close(&journal);
    open_journal(&journal, &ours, false);
    assert_int_equal(journal.runs.count, 3);
    assert_holds(&journal, 30, awkward);
    assert_holds(&journal, 10, "");
    assert_holds(&journal, UINT64_MAX, "last");
    assert_holds(&journal, 11, NULL);
    assert_int_equal(journal.header.plan, 9);
    assert_int_equal(journal.header.shard.number, 2);
    assert_int_equal(journal.header.shard.count, 3);
    assert_string_equal(journal.header.name, ours.name);
    assert_string_equal(journal.header.command, ours.command);
    assert_string_equal(journal.header.config, ours.config);
    journal_close(&journal);
}

/* Cut anywhere, it holds the runs whose lines are whole, and goes on from there. */
static void a_torn_end_is_cut_off(void **state) {
    (void)state;
    struct journal journal;
    open_journal(&journal, &ours, false);
    struct stat facts;
    off_t ends[5];
    for (uint64_t key = 1; key <= 4; key++) {
        add(&journal, key, awkward);
        assert_int_equal(stat(path, &facts), 0);
        ends[key] = facts.st_size;
    }
    journal_close(&journal);
    for (off_t cut = ends[4] - 1; cut > ends[1]; cut--) {
        assert_int_equal(truncate(path, cut), 0);
        open_journal(&journal, &ours, false);
        size_t whole = cut >= ends[3] ? 3 : cut >= ends[2] ? 2 : 1;
        assert_int_equal(journal.runs.count, whole);
        journal_close(&journal);
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(facts.st_size, ends[whole]);
    }
    open_journal(&journal, &ours, false);
    add(&journal, 5, "after the cut");
    journal_close(&journal);
    open_journal(&journal, &ours, false);
    assert_holds(&journal, 1, awkward);
    assert_holds(&journal, 5, "after the cut");
    journal_close(&journal);
}

/* Any byte of a line that is not what was written costs that line and no other. */
static void a_spoilt_line_is_passed_over(void **state) {
    (void)state;
    struct journal journal;
    open_journal(&journal, &ours, false);
    struct stat before, after;
    add(&journal, 1, "one");
    assert_int_equal(stat(path, &before), 0);
    add(&journal, 2, "two");
    assert_int_equal(stat(path, &after), 0);
    add(&journal, 3, "three");
    journal_close(&journal);
    for (off_t at = before.st_size; at < after.st_size - 1; at++) {
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 1, file);
        fclose(file);
        open_journal(&journal, &ours, false);
        assert_holds(&journal, 1, "one");
        assert_holds(&journal, 2, NULL);
        assert_holds(&journal, 3, "three");
        journal_close(&journal);
        file = fopen(path, "r+");
        assert_non_null(file);
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
        fclose(file);
    }
}

static void another_build_or_fresh_starts_anew(void **state) {
    (void)state;
    struct journal journal;
    struct journal_header other = ours;
    for (int fresh = 0; fresh <= 1; fresh++) {
        open_journal(&journal, &ours, false);
        add(&journal, 1, "one");
        journal_close(&journal);
        other.build = fresh ? ours.build : ours.build + 1;
        open_journal(&journal, &other, fresh);
        assert_holds(&journal, 1, NULL);
        journal_close(&journal);
        open_journal(&journal, &ours, false);
        assert_int_equal(journal.runs.count, 0);
        journal_close(&journal);
    }
    other = ours;
    other.plan++;
    open_journal(&journal, &ours, false);
    add(&journal, 1, "one");
    journal_close(&journal);
    open_journal(&journal, &other, false); /* another plan may have runs in common */
    assert_holds(&journal, 1, "one");
    journal_close(&journal);
    struct text error = {0};
    assert_true(journal_read(&journal, path, &error));
    assert_int_equal(journal.header.plan, other.plan);
    journal_close(&journal);
}

static void two_cannot_write_at_once(void **state) {
    (void)state;
    struct journal first, second;
    struct text error = {0};
    open_journal(&first, &ours, false);
    assert_false(journal_open(&second, path, &ours, false, &error));
    assert_contains(text_string(&error), "another ccsim is writing there");
    journal_close(&second);
    journal_close(&first);
    text_free(&error);
}

static void the_build_is_what_the_program_is(void **state) {
    (void)state;
    assert_int_not_equal(journal_build(), 0);
    assert_int_equal(journal_build(), journal_build());
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
TEST_GROUP(journal, WITH_FOLDER(what_was_added_is_found_by_the_next), WITH_FOLDER(a_torn_end_is_cut_off),
           WITH_FOLDER(a_spoilt_line_is_passed_over), WITH_FOLDER(another_build_or_fresh_starts_anew),
           WITH_FOLDER(two_cannot_write_at_once), cmocka_unit_test(the_build_is_what_the_program_is))
