/* Errors: parts, the line that they make, and that no text can steer a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/status.h"
#include "lapedge_program.h"
#include "tests/support/temporary.h"

static const char *text_of(const lap_error *err)
{
    static char text[1024];
    lap_error_text(err, text, sizeof text);
    return text;
}

static void parts_make_a_line(void **state)
{
    (void)state;
    lap_error err;
    assert_int_equal(lap_fail(&err, LAP_E_USAGE, "threshold %d is not in 0..255", 256), LAP_E_USAGE);
    assert_int_equal(err.code, LAP_E_USAGE);
    assert_string_equal(err.subject, "");
    assert_string_equal(text_of(&err), "threshold 256 is not in 0..255");
    lap_fail_at(&err, LAP_E_MISSING, "a.jpg", "no such file");
    assert_string_equal(err.subject, "a.jpg");
    assert_string_equal(err.message, "no such file");
    assert_string_equal(text_of(&err), "a.jpg: no such file");
    lap_fail_at(&err, LAP_E_TRUNCATED, "a.jpg", "data ends early");
    assert_string_equal(text_of(&err), "a.jpg: truncated: data ends early");
    lap_fail_at(&err, LAP_E_DISK_FULL, "out", "No space left on device");
    assert_string_equal(text_of(&err), "out: disk full: No space left on device");
    assert_int_equal(lap_fail_at(NULL, LAP_E_WRITE, "a", "b"), LAP_E_WRITE);
}

static void a_subject_is_given_once(void **state)
{
    (void)state;
    lap_error err;
    lap_fail(&err, LAP_E_MEMORY, "out of memory");
    assert_int_equal(lap_error_about(&err, LAP_E_MEMORY, "a.jpg"), LAP_E_MEMORY);
    assert_int_equal(lap_error_about(&err, LAP_E_MEMORY, "b.jpg"), LAP_E_MEMORY);
    assert_string_equal(text_of(&err), "a.jpg: out of memory");
    lap_error untouched = {0};
    assert_int_equal(lap_error_about(&untouched, LAP_OK, "a.jpg"), LAP_OK);
    assert_string_equal(untouched.subject, "");
    lap_fail(&err, LAP_E_WRITE, "an error that replaces another has its own subject");
    assert_string_equal(err.subject, "");
}

static void texts_are_cut_and_cannot_steer(void **state)
{
    (void)state;
    lap_error err;
    char path[1001], text[12];
    memset(path, 'x', sizeof path);
    strcpy(path + 990, "/photo.jpg");
    lap_fail_at(&err, LAP_E_DAMAGED, path, "a\nb\033[2J");
    assert_int_equal(strlen(err.subject), sizeof err.subject - 1);
    assert_memory_equal(err.subject, "...x", 4);
    assert_string_equal(err.subject + strlen(err.subject) - 11, "x/photo.jpg");
    assert_string_equal(err.message, "a?b?[2J");
    lap_error_text(&err, text, sizeof text);
    assert_string_equal(text, "...xxxxxxxx");
    path[255] = '\0'; /* fits exactly */
    lap_fail_at(&err, LAP_E_DAMAGED, path, "%1000d", 1);
    assert_string_equal(err.subject, path);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_true(strlen(text_of(&err)) < 800); /* as lapedge.h promises */
    lap_shown_path(text, sizeof text, "aaaa\nb\n\n");
    assert_string_equal(text, "...\\x0a\\x0a");
    lap_shown_path(text, sizeof text, "a\nb\x7F.");
    assert_string_equal(text, "a\\x0ab\\x7f.");
    lap_shown_path(text, sizeof text, "aaaaa\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9");
    assert_string_equal(text, "...\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"); /* whole characters */
    lap_shown_path(text, sizeof text, "aaaaa\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9x");
    assert_string_equal(text, "...\xC3\xA9\xC3\xA9\xC3\xA9x"); /* not the half of one */
}

static void no_text_turns_the_writing_round(void **state)
{
    (void)state;
    lap_error err;
    char text[48];
    lap_shown_path(
        text, sizeof text, "\xe2\x80\xaegpj.\xc2\x9b\x9b\xe2\x81\xa6"); /* U+202E, U+009B, a byte, U+2066 */
    assert_string_equal(text, "\\xe2\\x80\\xaegpj.\\xc2\\x9b\\x9b\\xe2\\x81\\xa6");
    lap_shown_path(text, sizeof text, "\xd8\x9c\xe2\x80\xa8.jpg"); /* U+061C, U+2028 */
    assert_string_equal(text, "\\xd8\\x9c\\xe2\\x80\\xa8.jpg");
    lap_fail(&err, LAP_E_USAGE, "unknown \xe2\x80\xae, \xc2\x9b, \x9b, \xe2\x81\xa9, \xd7\x90, %s",
        "\xc3\xa9\xe2\x80");
    assert_string_equal(err.message, "unknown ?, ?, ?, ?, \xd7\x90, \xc3\xa9??");
    assert_true(lap_utf8_is_shown('a') && lap_utf8_is_shown(0xa0) && lap_utf8_is_shown(0x10ffff));
    for (unsigned code = 0x2066; code <= 0x2069; code++)
        assert_false(lap_utf8_is_shown(code));
}

static void figures_that_are_compared_differ(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes, limit;
        const char *message;
    } cases[] = {
        {3000000, 99999, "takes 3000 kB of memory, more than the limit of 99 kB"},
        {99999, 99998, "takes 100 kB of memory, more than the limit of 99 kB"},
        {1001, 1000, "takes 2 kB of memory, more than the limit of 1 kB"},
        {70001, 999, "takes 70001 bytes of memory, more than the limit of 999 bytes"},
        {200000, 100000, "takes 0.2 MB of memory, more than the limit of 0.1 MB"},
        {3000000, 2000000, "takes 3.0 MB of memory, more than the limit of 2.0 MB"},
        {2710000, 2690000, "takes 2.8 MB of memory, more than the limit of 2.7 MB"},
        {2650000, 2649999, "takes 2.7 MB of memory, more than the limit of 2.6 MB"},
        {2700001, 2699999, "takes 2.8 MB of memory, more than the limit of 2.7 MB"},
        {2799999, 2760001, "takes 2.80 MB of memory, more than the limit of 2.76 MB"},
        {3020000, 1000000, "takes 3.1 MB of memory, more than the limit of 1.0 MB"},
        {3000001, 1000000, "takes 3.1 MB of memory, more than the limit of 1.0 MB"},
        {3020001, 3000000, "takes 3.1 MB of memory, more than the limit of 3.0 MB"},
        {3000000, 2960000, "takes 3.00 MB of memory, more than the limit of 2.96 MB"},
        {2700001, 2700000, "takes 2.8 MB of memory, more than the limit of 2.7 MB"},
        {999960000, 999950001, "takes 999.96 MB of memory, more than the limit of 999.95 MB"},
        {UINT64_MAX, UINT64_MAX - 1,
            "takes 18446744073709.55162 MB of memory, more than the limit of 18446744073709.55161 MB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err;
        assert_int_equal(
            lap_fail_over_limit(&err, "takes", cases[i].bytes, cases[i].limit, LAP_REMEDY_NONE), LAP_E_LIMIT);
        assert_string_equal(err.message, cases[i].message);
    }
}

/* Once in numbers, once in letters, which the Makefile reads. */
static void the_version_is_one(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", LAP_VERSION_MAJOR, LAP_VERSION_MINOR, LAP_VERSION_PATCH);
    assert_string_equal(text, LAP_VERSION);
    assert_string_equal(text, lap_version());
    assert_int_equal(lap_version_number(), LAP_VERSION_NUMBER);
    assert_true(LAP_VERSION_MINOR < 100 && LAP_VERSION_PATCH < 100);
}

/* Each kind, its name, and the word before messages that do not name it. */
static void kinds_have_names_and_words(void **state)
{
    (void)state;
    static const struct {
        lap_code code;
        const char *name, *text;
    } kinds[] = {{LAP_OK, "ok", "a: m"}, {LAP_E_USAGE, "usage", "a: m"}, {LAP_E_MISSING, "missing", "a: m"},
        {LAP_E_UNREADABLE, "unreadable", "a: m"}, {LAP_E_NOT_IMAGE, "not_jpeg", "a: m"},
        {LAP_E_UNSUPPORTED, "unsupported", "a: unsupported: m"},
        {LAP_E_TRUNCATED, "truncated", "a: truncated: m"}, {LAP_E_DAMAGED, "damaged", "a: damaged: m"},
        {LAP_E_LIMIT, "limit", "a: limit: m"}, {LAP_E_MEMORY, "memory", "a: m"},
        {LAP_E_TIMEOUT, "timeout", "a: timeout: m"}, {LAP_E_EXISTS, "exists", "a: m"},
        {LAP_E_CHANGED, "changed", "a: m"}, {LAP_E_CLASH, "clash", "a: m"},
        {LAP_E_DISK_FULL, "disk_full", "a: disk full: m"}, {LAP_E_WRITE, "write", "a: m"},
        {LAP_E_BACKEND, "backend", "a: m"}, {LAP_E_DEVICE, "device", "a: m"},
        {LAP_E_CANCELLED, "cancelled", "a: m"}, {LAP_E_DIFFERENT, "different", "a: m"},
        {LAP_E_INTERNAL, "internal", "a: internal error: m"}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    for (int i = 0; i < KINDS; i++) {
        const lap_error err = {.code = kinds[i].code, .subject = "a", .message = "m"};
        assert_int_equal(kinds[i].code, i);
        assert_string_equal(lap_code_name(kinds[i].code), kinds[i].name);
        assert_string_equal(text_of(&err), kinds[i].text);
    }
    assert_string_equal(lap_code_name((lap_code)-1), "unknown");
    assert_string_equal(lap_code_name((lap_code)KINDS), "unknown");
    const lap_error alone = {.code = LAP_E_LIMIT, .message = "m"};
    assert_string_equal(text_of(&alone), "limit: m");
}

static void a_remedy_belongs_to_the_last_error(void **state)
{
    (void)state;
    lap_error err = {0}, copy;
    for (uint64_t limit = 99999; limit <= 100000; limit++) {
        assert_int_equal(
            lap_fail_over_limit(&err, "takes", 200000, limit, LAP_REMEDY_MAX_MEMORY), LAP_E_LIMIT);
        assert_int_equal(err.remedy, LAP_REMEDY_MAX_MEMORY);
    }
    assert_int_equal(lap_error_set(&copy, &err), LAP_E_LIMIT);
    assert_int_equal(lap_error_set(NULL, &err), LAP_E_LIMIT);
    assert_memory_equal(&copy, &err, sizeof err);
    lap_fail(&err, LAP_E_WRITE, "another");
    assert_int_equal(err.remedy, LAP_REMEDY_NONE);
    assert_int_equal(lap_error_remedy(NULL, LAP_E_WRITE, LAP_REMEDY_TRIM), LAP_E_WRITE);
    assert_int_equal(lap_fail_over_limit(NULL, "takes", 2, 1, LAP_REMEDY_TRIM), LAP_E_LIMIT);
    assert_int_equal(lap_error_about(NULL, LAP_E_WRITE, "a"), LAP_E_WRITE);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    char link[TEMPORARY_PATH], path[TEMPORARY_PATH + 8];
    static const char *const paths[][2] = {
        {"", "no such file"}, {"/no/such", "no such file"}, {"/no/such/", "no such folder"}};
    lap_error err;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(lap_fail_missing(&err, paths[i][0]), LAP_E_MISSING);
        assert_string_equal(err.message, paths[i][1]);
        assert_string_equal(err.subject, paths[i][0]);
    }
    assert_non_null(mkdtemp(temporary(link, "missing")));
    snprintf(path, sizeof path, "%s/link", link);
    assert_int_equal(symlink("nowhere", path), 0);
    lap_fail_missing(&err, path);
    assert_string_equal(err.message, "a broken symbolic link");
    unlink(path);
    rmdir(link);
}

static void sizes_and_millions_are_rounded(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 bytes"}, {1, "1 byte"}, {2, "2 bytes"}, {999, "999 bytes"}, {1000, "1 kB"},
        {1001, "2 kB"}, {99000, "99 kB"}, {99001, "100 kB"}, {99999, "100 kB"}, {100000, "0.1 MB"},
        {149999, "0.1 MB"}, {150000, "0.2 MB"}, {949999, "0.9 MB"}, {950000, "1.0 MB"},
        {UINT64_MAX, "18446744073709.6 MB"}};
    static const struct {
        uint64_t n;
        int decimals;
        const char *text;
    } millions[] = {{1499999, 0, "1"}, {1500000, 0, "2"}, {1234567, 1, "1.2"}, {1250000, 1, "1.3"},
        {1234567, 2, "1.23"}, {1235000, 2, "1.24"}, {1234567, 3, "1.235"}, {1234567, 4, "1.2346"},
        {1234565, 5, "1.23457"}, {1234564, 5, "1.23456"}, {1234567, 6, "1.234567"}, {1, 6, "0.000001"},
        {0, 0, "0"}, {0, 6, "0.000000"}, {999999, 5, "1.00000"}};
    char text[LAP_SIZE_TEXT];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_string_equal(lap_size_text(sizes[i].bytes, text), sizes[i].text);
    for (size_t i = 0; i < sizeof millions / sizeof *millions; i++) {
        lap_millions(millions[i].n, millions[i].decimals, text);
        assert_string_equal(text, millions[i].text);
    }
}

static void the_end_of_a_run_is_told_once_and_alike(void **state)
{
    (void)state;
    static const struct {
        lap_code code;
        int warnings;
        const char *in, *subject;
        lap_status status;
    } ends[] = {{LAP_OK, 0, "a", "", LAP_DONE}, {LAP_OK, 1, "a", "", LAP_WARNED},
        {LAP_E_EXISTS, 0, "a", "a", LAP_SKIPPED}, {LAP_E_WRITE, 1, "a", "a", LAP_FAILED},
        {LAP_E_WRITE, 0, "-", "standard input", LAP_FAILED}, {LAP_E_WRITE, 0, NULL, "", LAP_FAILED},
        {LAP_E_USAGE, 0, "a", "", LAP_FAILED}, {LAP_E_BACKEND, 0, "a", "", LAP_FAILED}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (int has = 0; has < 4; has++) { /* a report, an error, or both */
            lap_report report = {.warnings = ends[i].warnings, .error.code = LAP_E_CLASH};
            lap_error why = {.code = ends[i].code, .message = "m"}, err = {.code = LAP_E_CLASH};
            const lap_code code = lap_report_conclude(ends[i].code, &why, ends[i].in, lap_now_ms() - 1000,
                has & 1 ? &report : NULL, has & 2 ? &err : NULL);
            assert_int_equal(code, ends[i].code);
            if (has & 1) {
                assert_int_equal(report.status, ends[i].status);
                assert_int_equal(report.error.code, ends[i].code);
                assert_string_equal(report.error.subject, ends[i].subject);
                assert_true(report.ms.total >= 1000);
            }
            assert_int_equal(err.code, has & 2 && code != LAP_OK ? code : LAP_E_CLASH);
            if (has & 2 && code != LAP_OK)
                assert_string_equal(err.subject, ends[i].subject);
        }
        lap_report report = {0};
        lap_error why = {.code = ends[i].code, .message = "m"};
        (void)lap_report_conclude(ends[i].code, &why, ends[i].in, 0, &report, &report.error);
        assert_string_equal(report.error.message, ends[i].code ? "m" : "");
    }
}

static void the_clock_counts_milliseconds(void **state)
{
    (void)state;
    struct timespec before, after;
    for (int i = 0; i < 100; i++) {
        clock_gettime(CLOCK_MONOTONIC, &before);
        const double now = lap_now_ms();
        clock_gettime(CLOCK_MONOTONIC, &after);
        assert_true(now >= (double)before.tv_sec * 1e3 + (double)before.tv_nsec / 1e6);
        assert_true(now <= (double)after.tv_sec * 1e3 + (double)after.tv_nsec / 1e6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_a_line),
        cmocka_unit_test(a_subject_is_given_once),
        cmocka_unit_test(texts_are_cut_and_cannot_steer),
        cmocka_unit_test(no_text_turns_the_writing_round),
        cmocka_unit_test(figures_that_are_compared_differ),
        cmocka_unit_test(the_version_is_one),
        cmocka_unit_test(kinds_have_names_and_words),
        cmocka_unit_test(a_remedy_belongs_to_the_last_error),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(sizes_and_millions_are_rounded),
        cmocka_unit_test(the_end_of_a_run_is_told_once_and_alike),
        cmocka_unit_test(the_clock_counts_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
