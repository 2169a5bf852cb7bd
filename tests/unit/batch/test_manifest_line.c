/* Lines of records: reads what was written, and refuses all other text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "batch/manifest_line.h"

static const lap_manifest_line whole = {.is_done = true,
    .settings = 0xfedcba9876543210,
    .output = "sub/a.jpg",
    .device = INT64_MIN,
    .inode = INT64_MAX,
    .size = 5000000000,
    .mtime_s = -1,
    .mtime_ns = 999999999,
    .has_content = true,
    .content = 7,
    .input = "photos/sub/a.jpg",
    .input_size = 1,
    .input_mtime_s = 2,
    .input_mtime_ns = 3,
    .folder = "/home/photos",
    .folder_device = 4,
    .folder_inode = 5,
    .below = 9};

static void assert_same(const lap_manifest_line *a, const lap_manifest_line *b)
{
    assert_int_equal(a->is_done, b->is_done);
    assert_true(a->settings == b->settings && a->device == b->device && a->inode == b->inode);
    assert_true(a->size == b->size && a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns);
    assert_true(a->has_content == b->has_content && a->content == b->content);
    assert_string_equal(a->output, b->output);
    assert_true(a->input_size == b->input_size && a->input_mtime_s == b->input_mtime_s);
    assert_true(a->input_mtime_ns == b->input_mtime_ns && a->folder_device == b->folder_device);
    assert_true(a->folder_inode == b->folder_inode && a->below == b->below);
    assert_string_equal(a->input ? a->input : "none", b->input ? b->input : "none");
    assert_string_equal(a->folder ? a->folder : "none", b->folder ? b->folder : "none");
}

static void comes_back(const lap_manifest_line *line)
{
    lap_manifest_queue queue = {0};
    lap_manifest_line again;
    assert_int_equal(lap_manifest_line_write(&queue, line, NULL), LAP_OK);
    assert_true(queue.used <= LAP_MANIFEST_LINE && queue.bytes[queue.used - 1] == '\n');
    assert_null(memchr(queue.bytes, '\n', queue.used - 1));
    assert_true(lap_manifest_line_read(queue.bytes, queue.used - 1, &again));
    assert_same(&again, line);
    free(queue.bytes);
}

static void what_is_written_is_read(void **state)
{
    static const char *const names[] = {"a", "caf\xc3\xa9", "\xe2\x82\xac\xf0\x9f\x93\xb7",
        "quote\"back\\slash", "new\nline", "\x01\x1f\x7f", "\xff\xfe", "\xc3", "\xed\xa0\x80", "\xc0\x80",
        "\xf4\x90\x80\x80", "\x80", "\xf8\x88\x80\x80\x80", "100%41", "%", "%4", "%zz\xff", "a b\xff"};
    lap_manifest_line line = whole;
    (void)state;
    comes_back(&whole);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "/%s", names[i]);
        line.output = line.input = names[i];
        line.folder = folder;
        line.below = (int64_t)strlen(names[i]);
        comes_back(&line);
    }
    lap_manifest_line begun = whole;
    begun.is_done = false;
    begun.input = begun.folder = NULL;
    begun.input_size = begun.input_mtime_s = begun.input_mtime_ns = 0;
    begun.folder_device = begun.folder_inode = begun.below = 0;
    comes_back(&begun);
}

/* The longest paths, of the bytes that take most room. */
static void the_longest_line_fits(void **state)
{
    static char longest[PATH_MAX];
    lap_manifest_line line = whole;
    static const char bytes[] = {'\x01', '\xff', '"', 'a'};
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        memset(longest, bytes[i], sizeof longest - 1);
        longest[0] = '/';
        line.output = line.input = line.folder = longest;
        line.below = sizeof longest - 2;
        comes_back(&line);
    }
}

static bool reads(const char *text, lap_manifest_line *line)
{
    static char bytes[1024];
    snprintf(bytes, sizeof bytes, "%s", text);
    return lap_manifest_line_read(bytes, strlen(bytes), line);
}

#define FACTS "\"event\":\"done\",\"settings\":\"7\","

static void other_writers_are_understood(void **state)
{
    lap_manifest_line line;
    (void)state;
    assert_true(reads(" { " FACTS " \"output\" : \"caf\\u00e9\\/\\ud83d\\udcf7\\t\" } \r", &line));
    assert_string_equal(line.output, "caf\xc3\xa9/\xf0\x9f\x93\xb7\t");
    assert_false(line.has_content);
    assert_true(
        reads("{" FACTS "\"later\":{\"a\":[1,{\"]\":\"}\"},null]},\"x\":-1.5e3,\"y\":true,\"output\":\"a\"}",
            &line));
    assert_string_equal(line.output, "a");
    assert_true(reads("{" FACTS "\"output_raw\":\"%FF%zz%4\"}", &line));
    assert_string_equal(line.output, "\xff%zz%4");
    /* A field that is not a folder or not a length is ignored. */
    assert_true(reads(
        "{" FACTS "\"output\":\"a\",\"input\":\"in/a\",\"input_folder\":\"in\",\"input_below\":1}", &line));
    assert_null(line.folder);
    assert_true(reads(
        "{" FACTS "\"output\":\"a\",\"input\":\"in/a\",\"input_folder\":\"/in\",\"input_below\":5}", &line));
    assert_null(line.folder);
    assert_true(reads(
        "{" FACTS "\"output\":\"a\",\"input\":\"in/a\",\"input_folder\":\"/in\",\"input_below\":4}", &line));
    assert_non_null(line.folder);
}

static void what_is_no_line_is_none(void **state)
{
    static const char *const none[] = {"", "{}", "[]", "null", "{", "}", "{\"event\":\"done\"}",
        "{" FACTS "\"output\":5}", "{" FACTS "\"output\":\"\"}", "{" FACTS "\"output\":\"a\"",
        "{" FACTS "\"output\":\"a", "{" FACTS "\"output\":\"a\"}}", "{" FACTS "\"output\":\"a\"}x",
        "{" FACTS "\"output\":\"a\",}", "{" FACTS "\"output\":\"a\",\"output\":\"b\"}",
        "{" FACTS "\"output\":\"a\\x\"}", "{" FACTS "\"output\":\"a\\u0000\"}",
        "{" FACTS "\"output\":\"\\ud83d\"}", "{" FACTS "\"output\":\"\\udcf7\"}",
        "{" FACTS "\"output\":\"\\u12\"}", "{" FACTS "\"output\":\"\\u-123\"}",
        "{" FACTS "\"output\":\"a\x01\"}", "{" FACTS "\"output\":\"a\",\"output_size\":\"5\"}",
        "{" FACTS "\"output\":\"a\",\"output_size\":1.5}",
        "{" FACTS "\"output\":\"a\",\"output_size\":99999999999999999999}",
        "{" FACTS "\"output\":\"a\",\"x\":[1}", "{" FACTS "\"output\":\"a\",\"output_size\":}",
        "{" FACTS "\"output\":\"a\",\"x\":}", "{" FACTS "\"output\"}",
        "{\"event\":\"done\",\"output\":\"a\"}", "{\"settings\":\"7\",\"output\":\"a\"}"};
    lap_manifest_line line;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (reads(none[i], &line))
            fail_msg("read: %s", none[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(other_writers_are_understood),
        cmocka_unit_test(what_is_no_line_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
