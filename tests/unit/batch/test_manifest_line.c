/* Lines of records: reads what was written, and refuses all other text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/grow.h"
#include "batch/manifest_line.h"

/* ---- memory ---------------------------------------------------------------------------------------------
 */

static int grown_until = -1; /* the call after so many fails, once; -1: none */

void *__real_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    return grown_until >= 0 && grown_until-- == 0 ? NULL : __real_lap_grow(array, capacity, wanted, size);
}

/* Reads text that ends one byte before memory that may not be touched. */
static bool reads_bytes(const char *text, size_t length, lap_manifest_line *line)
{
    enum { PAGE = 65536, ROOM = 2 * PAGE };
    static char *memory;
    if (!memory) {
        memory = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        assert_int_equal(mprotect(memory + ROOM, PAGE, PROT_NONE), 0);
    }
    assert_true(length < ROOM);
    char *at = memory + ROOM - length - 1;
    memcpy(at, text, length);
    at[length] = ' '; /* no end of a string */
    errno = ERANGE;   /* of an earlier call */
    return lap_manifest_line_read(at, length, line);
}

static bool reads(const char *text, lap_manifest_line *line)
{
    return reads_bytes(text, strlen(text), line);
}

/* ---- writing, and reading again --------------------------------------------------------------------------
 */

static const lap_manifest_line whole = {.is_done = true,
    .maker = LAP_MAKER_RUN,
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
    .input_ctime_s = 10,
    .input_ctime_ns = 11,
    .has_input_content = true,
    .input_content = UINT64_MAX,
    .folder = "/home/photos",
    .folder_device = 4,
    .folder_inode = 5,
    .below = 9};

static void assert_same(const lap_manifest_line *a, const lap_manifest_line *b)
{
    assert_int_equal(a->is_done, b->is_done);
    assert_int_equal(a->maker, b->maker);
    assert_true(a->settings == b->settings && a->device == b->device && a->inode == b->inode);
    assert_true(a->size == b->size && a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns);
    assert_true(a->has_content == b->has_content && a->content == b->content);
    assert_string_equal(a->output, b->output);
    assert_true(a->input_size == b->input_size && a->input_mtime_s == b->input_mtime_s);
    assert_true(a->input_mtime_ns == b->input_mtime_ns && a->folder_device == b->folder_device);
    assert_true(a->folder_inode == b->folder_inode && a->below == b->below);
    assert_true(a->input_ctime_s == b->input_ctime_s && a->input_ctime_ns == b->input_ctime_ns);
    assert_true(a->has_input_content == b->has_input_content && a->input_content == b->input_content);
    assert_string_equal(a->input ? a->input : "none", b->input ? b->input : "none");
    assert_string_equal(a->folder ? a->folder : "none", b->folder ? b->folder : "none");
}

static void comes_back(const lap_manifest_line *line)
{
    lap_manifest_queue queue = {0};
    lap_manifest_line again;
    assert_int_equal(lap_manifest_line_write(&queue, line, NULL), LAP_OK);
    assert_true(queue.used <= LAP_MANIFEST_LINE && queue.bytes[queue.used - 1] == '\n');
    for (size_t i = 0; i + 1 < queue.used; i++) /* as JSON wants it */
        assert_true((unsigned char)queue.bytes[i] >= 0x20);
    assert_true(reads_bytes(queue.bytes, queue.used - 1, &again));
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
    const lap_manifest_line begun = {.settings = 1, .output = "a", .inode = 2, .has_content = true};
    comes_back(&begun);
    line = whole;
    line.maker = LAP_MAKER_TRANSFORM;
    line.has_input_content = false;
    line.input_content = 0;
    comes_back(&line);
    line.maker = LAP_MAKER_UNKNOWN;
    line.folder = NULL;
    line.folder_device = line.folder_inode = line.below = 0;
    comes_back(&line);
}

/* A begun output has no input yet. */
static void a_begin_line_says_only_the_output(void **state)
{
    lap_manifest_queue queue = {0};
    lap_manifest_line line = whole;
    (void)state;
    line.is_done = false;
    assert_int_equal(lap_manifest_line_write(&queue, &line, NULL), LAP_OK);
    assert_true(reads_bytes(queue.bytes, queue.used - 1, &line));
    free(queue.bytes);
    assert_false(line.is_done);
    assert_true(line.content == 7 && line.maker == LAP_MAKER_RUN);
    assert_true(!line.input && !line.folder && !line.has_input_content && line.input_size == 0);
}

/* Records last longer than a version: this one is read by earlier and later ones. */
static void the_form_of_a_line(void **state)
{
    static const char expected[] =
        "{\"schema\":\"lapedge.manifest/1\",\"event\":\"done\",\"command\":\"run\","
        "\"output\":\"sub/a.jpg\",\"settings\":\"fedcba9876543210\",\"output_device\":-9223372036854775808,"
        "\"output_inode\":9223372036854775807,\"output_size\":5000000000,\"output_mtime_s\":-1,"
        "\"output_mtime_ns\":999999999,\"output_hash\":\"0000000000000007\",\"input\":\"photos/sub/a.jpg\","
        "\"input_size\":1,\"input_mtime_s\":2,\"input_mtime_ns\":3,\"input_ctime_s\":10,\"input_ctime_ns\":"
        "11,"
        "\"input_hash\":\"ffffffffffffffff\",\"input_folder\":\"/home/photos\",\"input_folder_device\":4,"
        "\"input_folder_inode\":5,\"input_below\":9}\n";
    lap_manifest_queue queue = {0};
    (void)state;
    assert_int_equal(lap_manifest_line_write(&queue, &whole, NULL), LAP_OK);
    assert_int_equal(queue.used, sizeof expected - 1);
    assert_memory_equal(queue.bytes, expected, queue.used);
    free(queue.bytes);
}

/* Names that are UTF-8 can be read by any program; of others every byte is kept. */
static void names_are_text_where_they_can_be(void **state)
{
    static const char *const text[] = {" ", "~", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xc3\xa9z",
        "100%", "\\"};
    static const char *const raw[] = {"\x1f", "\n", "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3z",
        "\xc3\xc3", "\xc3\xff", "\xe0\x9f\xbf", "\xe2\x82", "\xe2\x82z", "\xe2z\x82", "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf7\xbf\xbf\xbf",
        "\xf8\x88\x80\x80\x80", "\xf8\x90\x80\x80", "\xff", "z\xff"};
    enum { TEXTS = sizeof text / sizeof *text, RAWS = sizeof raw / sizeof *raw };
    lap_manifest_line line = {.is_done = true, .input = "", .has_content = true};
    (void)state;
    for (size_t i = 0; i < TEXTS + RAWS; i++) {
        lap_manifest_queue queue = {0};
        line.output = i < TEXTS ? text[i] : raw[i - TEXTS];
        comes_back(&line);
        assert_int_equal(lap_manifest_line_write(&queue, &line, NULL), LAP_OK);
        queue.bytes[queue.used - 1] = '\0';
        if (!strstr(queue.bytes, i < TEXTS ? "\"output\":" : "\"output_raw\":"))
            fail_msg("%s", queue.bytes);
        for (const char *p = queue.bytes; i >= TEXTS && *p; p++)
            assert_in_range(*p, 0x21, 0x7e);
        free(queue.bytes);
    }
}

/* What need not be encoded can be read as it is. */
static void the_form_of_a_name(void **state)
{
    static const char *const names[][2] = {{"caf\xc3\xa9 \"%\\", ",\"output\":\"caf\xc3\xa9 \\\"%\\\\\","},
        {"!~ \x7f\xff%\"\\", ",\"output_raw\":\"!~%20%7F%FF%25%22%5C\","}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        lap_manifest_queue queue = {0};
        assert_int_equal(
            lap_manifest_line_write(&queue, &(lap_manifest_line){.output = names[i][0]}, NULL), LAP_OK);
        queue.bytes[queue.used - 1] = '\0';
        if (!strstr(queue.bytes, names[i][1]))
            fail_msg("%s", queue.bytes);
        free(queue.bytes);
    }
}

/* A queue that cannot grow holds what it held, and no part of the line. */
static void a_line_without_memory(void **state)
{
    bool is_written = false;
    (void)state;
    for (int at = 0; !is_written; at++) {
        lap_manifest_queue queue = {0};
        lap_manifest_line line = whole;
        lap_error err;
        assert_int_equal(lap_manifest_line_write(&queue, &whole, NULL), LAP_OK);
        const size_t used = queue.used;
        line.output = "second";
        grown_until = at;
        const lap_code code = lap_manifest_line_write(&queue, &line, &err);
        is_written = code == LAP_OK;
        if (!is_written) {
            assert_int_equal(code, LAP_E_MEMORY);
            assert_int_equal(err.code, LAP_E_MEMORY);
            assert_int_equal(queue.used, used);
            assert_int_equal(lap_manifest_line_write(&queue, &line, NULL), LAP_OK);
        }
        lap_manifest_line again;
        assert_true(queue.used > used);
        assert_true(reads_bytes(queue.bytes, used - 1, &again));
        assert_same(&again, &whole);
        assert_true(reads_bytes(queue.bytes + used, queue.used - used - 1, &again));
        assert_same(&again, &line);
        free(queue.bytes);
        assert_true(at < 1000);
    }
    grown_until = -1;
}

static void the_facts_of_an_output(void **state)
{
    const struct stat made = {.st_dev = 1, .st_ino = 2, .st_size = 3, .st_mtim = {4, 5}};
    const lap_manifest_line line = lap_manifest_line_of(6, "out", &made, 8);
    (void)state;
    assert_same(&line, &(lap_manifest_line){.settings = 6,
                           .output = "out",
                           .device = 1,
                           .inode = 2,
                           .size = 3,
                           .mtime_s = 4,
                           .mtime_ns = 5,
                           .has_content = true,
                           .content = 8});
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
    line.settings = line.content = line.input_content = UINT64_MAX;
    line.device = line.inode = line.size = line.mtime_s = line.mtime_ns = INT64_MIN;
    line.input_size = line.input_mtime_s = line.input_mtime_ns = INT64_MIN;
    line.input_ctime_s = line.input_ctime_ns = line.folder_device = line.folder_inode = INT64_MIN;
    comes_back(&line);
}

/* ---- reading ---------------------------------------------------------------------------------------------
 */

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
}

static void strings_are_those_of_json(void **state)
{
    static const char *const strings[][2] = {{"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {" \x7f", " \x7f"}, {"\\u0001\\u007f", "\x01\x7f"}, {"\\u0080\\u07FF", "\xc2\x80\xdf\xbf"},
        {"\\u00e9a", "\xc3\xa9"
                     "a"},
        {"\\u0800\\ud7ff", "\xe0\xa0\x80\xed\x9f\xbf"}, {"\\ue000\\uffff", "\xee\x80\x80\xef\xbf\xbf"},
        {"\\ud800\\udc00", "\xf0\x90\x80\x80"}, {"\\uDBFF\\uDFFF", "\xf4\x8f\xbf\xbf"},
        {"\\ud800\\udfff", "\xf0\x90\x8f\xbf"}, {"\\udbff\\udc00z", "\xf4\x8f\xb0\x80z"}};
    lap_manifest_line line;
    char text[200];
    (void)state;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        snprintf(text, sizeof text, "{" FACTS "\"output\":\"%s\"}", strings[i][0]);
        assert_true(reads(text, &line));
        assert_string_equal(line.output, strings[i][1]);
    }
}

static void integers_are_those_of_json(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } integers[] = {{"0", 0}, {"-5", -5}, {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN}, {" 7 ", 7}, {"\t8\t", 8}, {"9\r", 9}};
    lap_manifest_line line;
    char text[200];
    (void)state;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        for (int is_last = 0; is_last < 2; is_last++) {
            snprintf(text, sizeof text, "{\"output\":\"a\",\"settings\":\"7\",%s\"output_size\":%s%s}",
                is_last ? "\"event\":\"done\"," : "", integers[i].text, is_last ? "" : ",\"event\":\"done\"");
            assert_true(reads(text, &line));
            assert_true(line.size == integers[i].value);
        }
}

/* A folder is believed if it is one, and if the end of the input's name can be in it. */
static void where_an_input_was_found(void **state)
{
    static const struct {
        const char *facts;
        bool is_there;
    } cases[] = {{"\"input\":\"in/a\",\"input_folder\":\"in\",\"input_below\":1", false},
        {"\"input\":\"in/a\",\"input_folder\":\"\",\"input_below\":1", false},
        {"\"input\":\"in/a\",\"input_folder\":\"/in\",\"input_below\":5", false},
        {"\"input\":\"in/a\",\"input_folder\":\"/in\",\"input_below\":4", true},
        {"\"input\":\"in/a\",\"input_folder\":\"/in\",\"input_below\":1", true},
        {"\"input\":\"in/a\",\"input_folder\":\"/in\",\"input_below\":0", false},
        {"\"input\":\"in/a\",\"input_folder\":\"/in\",\"input_below\":-1", false},
        {"\"input\":\"in/a\",\"input_folder\":\"/in\"", false},
        {"\"input\":\"in/a\",\"input_below\":1", false},
        {"\"input_folder\":\"/in\",\"input_below\":1", false},
        {"\"input_raw\":\"in/%FF\",\"input_folder_raw\":\"%2Fin\",\"input_below\":4", true},
        {"\"input_raw\":\"in/%FF\",\"input_folder_raw\":\"%2Fin\",\"input_below\":5", false}};
    lap_manifest_line line;
    char text[200];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{" FACTS "\"output\":\"a\",%s}", cases[i].facts);
        assert_true(reads(text, &line));
        assert_string_equal(line.folder ? line.folder : "", cases[i].is_there ? "/in" : "");
    }
}

static void escaped_names(void **state)
{
    static const char *const names[][2] = {{"%41%2f%fF", "A/\xff"}, {"%zz%4", "%zz%4"}, {"%4z", "%4z"},
        {"%z4", "%z4"}, {"% 4", "% 4"}, {"%+4", "%+4"}, {"a%", "a%"}, {"%25", "%"}, {"%2541", "%41"},
        {"a%00b", "a%00b"}};
    lap_manifest_line line;
    char text[200];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text, "{" FACTS "\"output_raw\":\"%s\"}", names[i][0]);
        assert_true(reads(text, &line));
        assert_string_equal(line.output, names[i][1]);
    }
    assert_true(reads("{" FACTS "\"output_raw\":\"a\",\"output\":\"b\"}", &line));
    assert_string_equal(line.output, "b");
}

/* What a line does not say, or says in words that are not known. */
static void facts_that_are_missing(void **state)
{
    lap_manifest_line line;
    (void)state;
    assert_true(reads("{\"event\":\"later\",\"settings\":\"fedcba9876543210\",\"output\":\"a\"}", &line));
    assert_same(&line, &(lap_manifest_line){.settings = 0xfedcba9876543210, .output = "a"});
    assert_true(reads("{" FACTS "\"output\":\"a\",\"command\":\"later\"}", &line));
    assert_same(&line, &(lap_manifest_line){.is_done = true, .settings = 7, .output = "a"});
    assert_true(reads("{" FACTS "\"output\":\"a\",\"input_hash\":\"10\",\"output_hash\":\"f0\"}", &line));
    assert_true(
        line.has_input_content && line.input_content == 16 && line.has_content && line.content == 240);
}

/* A crash may leave any beginning of a line: none is a line. */
static void half_a_line_is_no_line(void **state)
{
    lap_manifest_line lines[] = {whole, whole}, line;
    (void)state;
    lines[1].output = lines[1].input = lines[1].folder = "/\xff\"\\";
    lines[1].below = 1;
    for (int i = 0; i < 2; i++) {
        lap_manifest_queue queue = {0};
        assert_int_equal(lap_manifest_line_write(&queue, &lines[i], NULL), LAP_OK);
        for (size_t length = 0; length < queue.used - 1; length++)
            if (reads_bytes(queue.bytes, length, &line))
                fail_msg("%.*s", (int)length, queue.bytes);
        free(queue.bytes);
    }
    static const char others[] =
        "{" FACTS "\"x\":[{\"\\u0041\\ud83d\\udcf7\":-1.5e3}, true],\"output\":\"a\"}";
    for (size_t length = 0; length < sizeof others - 1; length++)
        assert_false(reads_bytes(others, length, &line));
    for (size_t at = 0; at < sizeof others - 1; at++) { /* nor is one with a block of zeros */
        char text[sizeof others];
        memcpy(text, others, sizeof others);
        text[at] = '\0';
        assert_false(reads_bytes(text, sizeof others - 1, &line));
    }
    assert_true(reads(others, &line));
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
        "{" FACTS "\"output\":\"a\",\"x\":}", "{" FACTS "\"output\"}", "{" FACTS "\"output\":\"\\udc00\"}",
        "{" FACTS "\"output\":\"\\udc00\\udc00\"}", "{" FACTS "\"output\":\"\\udfff\"}",
        "{" FACTS "\"output\":\"\\ud800\\ud800\"}", "{" FACTS "\"output\":\"\\ud800\\udbff\"}",
        "{" FACTS "\"output\":\"\\ud800\\ue000\"}", "{" FACTS "\"output\":\"\\ud800udc00\"}",
        "{" FACTS "\"output\":\"\\ud800\\ndc00\"}", "{" FACTS "\"output\":\"\\ud800zudc00\"}",
        "{" FACTS "\"output\":\"\\ud800\\u\"}", "{" FACTS "\"output\":\"\\u+123\"}",
        "{" FACTS "\"output\":\"\\u 123\"}", "{" FACTS "\"output\":\"\\u0x12\"}",
        "{" FACTS "\"output\":\"\\u123g\"}", "{" FACTS "\"output\":\"a\x1f\"}",
        "{" FACTS "\"output\":\"a\t\"}", "{" FACTS "\"output\":\"a\",\"output_size\":-}",
        "{" FACTS "\"output\":\"a\",\"output_size\":+5}", "{" FACTS "\"output\":\"a\",\"output_size\":5]}",
        "{" FACTS "\"output\":\"a\",\"output_size\":5 5}",
        "{" FACTS "\"output\":\"a\",\"output_size\":-,\"x\":1}",
        "{" FACTS "\"output\":\"a\",\"output_size\":-99999999999999999999}",
        "{" FACTS "\"output\":\"a\",\"x\":,\"y\":1}", "{" FACTS "\"output\":\"a\",\"x\":]}",
        "{" FACTS "\"output\":\"a\",\"x\":1 2}", "{" FACTS "\"output\":\"a\",\"x\":[1]2}",
        "{" FACTS "\"output\":\"a\" \"x\":1}", "{" FACTS "\"output\" \"a\"}", "{" FACTS "output:\"a\"}",
        "{" FACTS "\"output\":\"a\",\"later\":{\"a\":1}", "[" FACTS "\"output\":\"a\"}",
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
        cmocka_unit_test(a_begin_line_says_only_the_output),
        cmocka_unit_test(the_form_of_a_line),
        cmocka_unit_test(names_are_text_where_they_can_be),
        cmocka_unit_test(the_form_of_a_name),
        cmocka_unit_test(a_line_without_memory),
        cmocka_unit_test(the_facts_of_an_output),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(other_writers_are_understood),
        cmocka_unit_test(strings_are_those_of_json),
        cmocka_unit_test(integers_are_those_of_json),
        cmocka_unit_test(where_an_input_was_found),
        cmocka_unit_test(escaped_names),
        cmocka_unit_test(facts_that_are_missing),
        cmocka_unit_test(half_a_line_is_no_line),
        cmocka_unit_test(what_is_no_line_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
