/* The formats that names and first bytes stand for. */
#include <string.h>

#include "lapedge_program.h"
#include "run/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void names(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *format;
    } cases[] = {{"jpg", "jpg"}, {"JPEG", "jpg"}, {"jpe", "jpg"}, {"Jfif", "jpg"}, {"png", "png"},
        {"BMP", "bmp"}, {"tga", "tga"}, {"ppm", "ppm"}, {"pgm", "pgm"}, {"tsv", "tsv"}, {"none", NULL},
        {"unknown", NULL}, {"gif", NULL}, {"jp", NULL}, {"", NULL}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *format = lap_format_named(cases[i].name);
        assert_int_equal(format == NULL, cases[i].format == NULL);
        if (format)
            assert_string_equal(format, cases[i].format);
    }
}

/* An extension of a path is a name, and a path of a name's extension has its format. */
static void names_and_paths_agree(void **unused)
{
    (void)unused;
    static const char *const words[] = {"jpg", "JPEG", "png", "tsv", "none", "gif"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char path[32];
        snprintf(path, sizeof path, "a.b/c.%s", words[i]);
        const lap_format format = lap_format_of_path(path);
        const char *name = lap_format_named(words[i]);
        assert_string_equal(name ? name : "unknown", lap_format_name(format));
    }
}

static void first_bytes(void **unused)
{
    (void)unused;
    static const struct {
        const char *bytes;
        size_t size;
        const char *format;
    } cases[] = {{"\xFF\xD8\xFF\xE0", 4, "jpeg"}, {"\xFF\xD8", 2, "jpeg"}, {"\xFF", 1, NULL},
        {"\x89PNG\r\n\x1a\n", 8, "png"}, {"\x89PNG\r\n\x1a", 7, NULL}, {"P6\n1 1", 6, "pnm"},
        {"P2 1 1", 6, "pnm"}, {"P6", 2, NULL}, {"P8\n1 1", 6, NULL}, {"Paris", 5, NULL}, {"GIF89a", 6, NULL},
        {"", 0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *format = lap_format_of_bytes(cases[i].bytes, cases[i].size);
        assert_int_equal(format == NULL, cases[i].format == NULL);
        if (format)
            assert_string_equal(format, cases[i].format);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(names_and_paths_agree),
        cmocka_unit_test(first_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
