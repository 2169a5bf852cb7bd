/* Errors: parts, the line that they make, and that no text can steer a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "lapedge_program.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_a_line),
        cmocka_unit_test(a_subject_is_given_once),
        cmocka_unit_test(texts_are_cut_and_cannot_steer),
        cmocka_unit_test(no_text_turns_the_writing_round),
        cmocka_unit_test(figures_that_are_compared_differ),
        cmocka_unit_test(the_version_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
